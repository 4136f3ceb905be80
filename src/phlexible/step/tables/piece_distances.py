"""Constants of the distances of line segments, which steps and equilibria share (docs/theory.md, 8)."""

SHARE = 5e-3
"""Of the length of a piece on a solid, by which the middle of what is parallel is chosen."""

SHARE_OF_LINES = 1e-4
"""The same of two pieces of lines, of squares of lengths."""

BESIDE = 1e-6  # of the length, by which it touches later: flat sides that are as deep as their ends do not
PARTS = 16  # a piece on what is not convex is looked at in
TURNS = 60
EXACT = 1e-14  # of the length
BENT = 1e-6  # slope along the piece by which two sides of a solid differ at an edge
RIM_ROUNDING = 0.01
"""Sine of the tilt within which a rim that lies on a plane is round, so that it stands."""
RIM_HEIGHT = (1.0 + RIM_ROUNDING**2) ** 0.5 - RIM_ROUNDING
"""Share of the radius by which a rim is divided, so that on its edge it is as high as the radius."""
