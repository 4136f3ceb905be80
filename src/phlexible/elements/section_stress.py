"""Normal stress over a cross-section from its section forces: sigma = N/A + M_y z/I_y - M_z y/I_z."""

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.elements.sections import CircularSection, CrossSection, RectangularSection
from phlexible.errors import ParameterError


def fibre_stress(
    section: CrossSection, normal: Array, moment_y: Array, moment_z: Array, y: Array, z: Array
) -> Array:
    """Stress at fibres (y, z), each (f,) [m], of section forces of one shape (...); shape (..., f) [Pa]."""
    return np.asarray(
        normal[..., None] / section.area
        + moment_y[..., None] * z / section.second_moment_y
        - moment_z[..., None] * y / section.second_moment_z
    )


def stress_range(section: CrossSection, normal: Array, moment_y: Array, moment_z: Array) -> tuple[Array, Array]:
    """Greatest and smallest stress over the section, each of the shape of the forces [Pa].

    Raises:
        ParameterError: a section that is given by numbers and has no outline.
    """
    match section:
        case CircularSection(diameter=diameter):
            bending = np.hypot(moment_y, moment_z) * diameter / 2 / section.second_moment_y
        case RectangularSection(width=width, height=height):
            bending = (
                np.abs(moment_y) * height / 2 / section.second_moment_y
                + np.abs(moment_z) * width / 2 / section.second_moment_z
            )
        case _:
            raise ParameterError(
                "a Section given by its numbers has no outline; say where to look, in its axes:"
                " fibres=((y1, z1), (y2, z2), ...) [m]"
            )
    mean = normal / section.area
    return mean + bending, mean - bending


def fibre_places(fibres: ArrayLike) -> tuple[Array, Array]:
    """y and z of fibres ((y, z), ...), each of shape (f,) [m].

    Raises:
        ParameterError: no pairs of finite numbers.
    """
    places = numbers("fibres", fibres, "pairs (y, z) [m]")
    if places.ndim != 2 or places.shape[1] != 2 or not len(places) or not np.isfinite(places).all():
        raise ParameterError(f"fibres must be pairs (y, z) [m] of shape (f, 2), got {fibres!r}")
    return places[:, 0], places[:, 1]
