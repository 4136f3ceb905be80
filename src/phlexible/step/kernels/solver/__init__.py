"""Solvers of one step: Newton's method, elimination, conjugate gradients."""
