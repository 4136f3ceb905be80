"""Stress over a cross-section from its section forces.

Normal stress is sigma = N/A + M_y z/I_y - M_z y/I_z. Shear stress is that of Jourawski, 4/3 of the mean in a circle
and 3/2 in a rectangle at their neutral axes, and of Saint-Venant's torsion.
"""

from math import cosh, pi

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.elements.general_section import GeneralSection
from phlexible.elements.sections import CircularSection, CrossSection, RectangularSection
from phlexible.elements.varying_section import UniformSection
from phlexible.errors import ParameterError

FAR = 700.0  # cosh of more overflows


def fibre_stress(
    section: UniformSection, normal: Array, moment_y: Array, moment_z: Array, y: Array, z: Array
) -> Array:
    """Stress at fibres (y, z), each (f,) [m], of section forces of one shape (...); shape (..., f) [Pa]."""
    known = _with_geometry(section)
    return np.asarray(
        normal[..., None] / known.area
        + moment_y[..., None] * z / known.second_moment_y
        - moment_z[..., None] * y / known.second_moment_z
    )


def stress_range(section: UniformSection, normal: Array, moment_y: Array, moment_z: Array) -> tuple[Array, Array]:
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
                f"a {type(_with_geometry(section)).__name__} given by its numbers has no outline; say where to"
                " look, in its axes: fibres=((y1, z1), (y2, z2), ...) [m]"
            )
    mean = normal / section.area
    return mean + bending, mean - bending


def greatest_shear(section: UniformSection, shear_y: Array, shear_z: Array, torsion: Array) -> Array:
    """Greatest shear stress of shear forces and torsion, added where each is greatest, of their shape [Pa].

    Exact for a circle, an upper bound for a rectangle; not a number where a section has no outline.
    """
    match section:
        case CircularSection(diameter=diameter):
            of_force, arm = 4 / 3, diameter / 2
        case RectangularSection(width=width, height=height):
            long, short = max(width, height), min(width, height)
            terms = (1 / n**2 / cosh(min(n * pi * long / (2 * short), FAR)) for n in range(1, 16, 2))
            of_force, arm = 3 / 2, short * (1 - 8 / pi**2 * sum(terms))
        case _:
            return np.full_like(torsion, np.nan)
    return np.asarray(
        of_force * np.hypot(shear_y, shear_z) / section.area + np.abs(torsion) * arm / section.torsion_constant
    )


def _with_geometry(section: UniformSection) -> CrossSection:
    if isinstance(section, GeneralSection):
        raise ParameterError(
            "a GeneralSection is known by its stiffness alone and has no stress; take motion.section_forces"
        )
    return section


def fibre_places(fibres: ArrayLike) -> tuple[Array, Array]:
    """y and z of fibres ((y, z), ...), each of shape (f,) [m].

    Raises:
        ParameterError: no pairs of finite numbers.
    """
    places = numbers("fibres", fibres, "pairs (y, z) [m]")
    if places.ndim != 2 or places.shape[1] != 2 or not len(places) or not np.isfinite(places).all():
        raise ParameterError(f"fibres must be pairs (y, z) [m] of shape (f, 2), got {fibres!r}")
    return places[:, 0], places[:, 1]
