"""Motions of port-Hamiltonian models in the papers' matrix form."""
