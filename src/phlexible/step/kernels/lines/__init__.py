"""Points that slide along lines, and tendons that slide over their guides."""
