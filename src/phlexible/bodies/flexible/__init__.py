"""Bodies from meshes, plates and matrices."""
