"""Tops and pendulums without elastic parts."""
