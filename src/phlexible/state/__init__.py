"""Mechanisms as arrays of numbers: system, redundant constraints, initial state."""
