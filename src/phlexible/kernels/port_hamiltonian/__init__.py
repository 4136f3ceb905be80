"""Products of port-Hamiltonian forms."""
