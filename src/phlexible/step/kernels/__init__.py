"""The compiled formulas of the step."""
