"""Outlines of cross-sections."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.elements.sections import CircularSection, RectangularSection
from phlexible.elements.varying_section import UniformSection

ROUND = 24
"""Corners of a circle."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Corners of a section.

    Attributes:
        corners: (y, z), counter-clockwise seen from +x, shape (k, 2) [m].
        is_round: whether neighbouring sides pass into each other smoothly.
    """

    corners: Array
    is_round: bool


def circle(radius: float) -> Outline:
    """Of that radius [m]."""
    angle = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    return Outline(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), True)


def outline_of(section: UniformSection) -> Outline:
    """The section; of one given by its numbers the rectangle with the same radii of gyration."""
    match section:
        case CircularSection(diameter=diameter):
            return circle(diameter / 2)
        case RectangularSection(width=width, height=height):
            return _rectangle(width, height)
    radii = section.radii_of_gyration
    return _rectangle(sqrt(12) * radii[0], sqrt(12) * radii[1])


def _rectangle(width: float, height: float) -> Outline:
    y, z = width / 2, height / 2
    return Outline(np.array([[-y, -z], [y, -z], [y, z], [-y, z]]), False)
