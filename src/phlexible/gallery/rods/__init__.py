"""Rods with large deformations."""
