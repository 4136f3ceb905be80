"""Mathematics without mechanics: arrays, rotations, sparse matrices, orders of elimination."""
