"""Port-Hamiltonian models as matrices: their contract, interconnection, checks."""
