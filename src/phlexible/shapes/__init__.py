"""Shapes of rigid bodies, and surfaces of triangles."""
