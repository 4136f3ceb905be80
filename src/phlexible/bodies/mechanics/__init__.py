"""Energies, forces and matrices of one body, written out."""
