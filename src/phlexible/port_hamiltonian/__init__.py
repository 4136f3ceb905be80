"""Port-Hamiltonian models as matrices, with their contract, interconnection and checks."""
