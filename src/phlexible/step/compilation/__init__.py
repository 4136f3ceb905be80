"""How kernels are compiled, and the notation that they are written in."""
