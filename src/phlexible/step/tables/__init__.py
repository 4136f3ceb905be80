"""Tables that kernels read and write: their declarations, memory and requests."""
