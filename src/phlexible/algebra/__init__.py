"""Arrays only: rotations, checks of numbers and shapes, sparse blocks. No bodies, no time."""
