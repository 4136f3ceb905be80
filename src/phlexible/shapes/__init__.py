"""Surfaces and solids."""
