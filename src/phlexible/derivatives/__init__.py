"""Derivatives of motions and of linear models with respect to parameters."""
