"""Port-Hamiltonian models as matrices."""
