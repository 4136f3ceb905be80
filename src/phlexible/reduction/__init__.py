"""Model reduction that stays port-Hamiltonian: the same basis from both sides."""
