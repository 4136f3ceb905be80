"""Compiled loops over the elements of soft bodies."""
