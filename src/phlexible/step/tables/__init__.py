"""What kernels read and write."""
