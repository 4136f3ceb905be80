"""Derivatives of motions and linear models to parameters."""
