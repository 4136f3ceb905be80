"""Models for other programs and from other descriptions: FMU, URDF."""
