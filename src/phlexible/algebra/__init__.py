"""Mathematics without mechanics, such as arrays, rotations, sparse matrices and orders of elimination."""
