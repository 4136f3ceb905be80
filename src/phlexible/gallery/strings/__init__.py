"""Hyperelastic strings, alone and with bodies."""
