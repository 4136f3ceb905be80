"""Energies, forces and matrices of one body, written as in the theory."""
