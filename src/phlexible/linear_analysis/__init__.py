"""Linearization, modes, frequency responses and state spaces."""
