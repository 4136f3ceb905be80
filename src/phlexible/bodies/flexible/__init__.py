"""Flexible bodies from meshes, plates and matrices of other programs."""
