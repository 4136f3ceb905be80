"""Compilation of the kernels, and the notation that they are written in."""
