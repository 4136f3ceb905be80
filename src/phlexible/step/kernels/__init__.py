"""Formulas of the time step as compiled functions on tables."""
