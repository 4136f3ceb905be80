"""What a cross-section of a beam resists with and carries along (docs/theory.md, 3)."""

from enum import IntEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.mesh import BeamFields, Theory
from phlexible.bodies.material import Material
from phlexible.elements.general_section import GeneralSection
from phlexible.elements.varying_section import AnySection, UniformSection, VaryingSection, sections_at
from phlexible.errors import ParameterError

COUPLED = 1e-9


class Measure(IntEnum):
    """A strain of the cross-section, with the section force N, Q_y, Q_z, M_x, M_y, M_z that it belongs to."""

    STRETCH = 0
    SHEAR_Y = 1
    SHEAR_Z = 2
    TWIST = 3
    BEND_Y = 4
    BEND_Z = 5


def measures(theory: Theory, dimension: int) -> list[Measure]:
    """The strains that a beam has, stretch first."""
    plane = {Measure.STRETCH, Measure.SHEAR_Y, Measure.BEND_Z}
    return [
        each
        for each in Measure
        if (dimension == 3 or each in plane)
        and (theory is Theory.TIMOSHENKO or each not in (Measure.SHEAR_Y, Measure.SHEAR_Z))
    ]


def strain_fields(at: BeamFields) -> dict[Measure, Array]:
    """The strains as functions of the coordinates, each (k, n)."""
    return {
        Measure.STRETCH: at.stretch,
        Measure.SHEAR_Y: at.shear_y,
        Measure.SHEAR_Z: at.shear_z,
        Measure.TWIST: at.twist_rate,
        Measure.BEND_Y: -at.curvature_z,
        Measure.BEND_Z: at.curvature_y,
    }


def stiffness_at(section: AnySection, material: Material | None, theory: Theory, x: Array) -> Array:
    """Section forces per strain at places x (k,), shape (k, 6, 6); shear zero without shear."""
    if not isinstance(section, VaryingSection):
        return np.broadcast_to(_stiffness(section, material, theory), (len(x), 6, 6))
    return np.array([_stiffness(each, material, theory) for each in sections_at(section, x)])


def moments_at(section: AnySection, material: Material | None, x: Array) -> Array:
    """Integrals of rho (1, y, z) (1, y, z)^T over the sections at x (k,), shape (k, 3, 3)."""
    return np.array([_moments(each, material) for each in sections_at(section, x)])


def gyration_at(section: AnySection, x: Array) -> tuple[Array, Array]:
    """Radii of gyration across y and across z at x (k,), each (k,) [m]; of stiffness where that is given."""
    if not isinstance(section, VaryingSection):
        across_y, across_z = section.radii_of_gyration
        return np.full(len(x), across_y), np.full(len(x), across_z)
    radii = np.array([each.radii_of_gyration for each in sections_at(section, x)])
    return radii[:, 0], radii[:, 1]


def check_section(section: UniformSection, material: Material | None, theory: Theory, rotary_inertia: bool) -> None:
    """Refuses a section that the theory cannot carry.

    Raises:
        ParameterError: shear is coupled or has no area, or mass is off the axis without rotary inertia.
    """
    if theory is Theory.EULER_BERNOULLI:
        sheared = _stiffness(section, material, Theory.TIMOSHENKO) if isinstance(section, GeneralSection) else None
        eccentric = getattr(section, "shear_center", (0.0, 0.0)) != (0.0, 0.0)
        if eccentric or (sheared is not None and _is_coupled(sheared)):
            raise ParameterError(
                "shear is coupled with twist, bending or stretch in this section (its shear centre is off the"
                ' axis): take theory="timoshenko"'
            )
    else:
        _stiffness(section, material, theory)
    moments = _moments(section, material)
    if not rotary_inertia and np.abs(moments[0, 1:]).max() > COUPLED * moments[0, 0] * sum(
        section.radii_of_gyration
    ):
        raise ParameterError(
            "a mass centre off the axis moves along the beam when sections turn: take rotary_inertia=True"
        )


def _is_coupled(stiffness: Array) -> bool:
    scale = np.sqrt(np.diag(stiffness))
    coupling = np.abs(stiffness / np.outer(scale, scale))[1:3][:, [0, 3, 4, 5]]
    return bool(coupling.max() > COUPLED)


def _stiffness(section: UniformSection, material: Material | None, theory: Theory) -> Array:
    if isinstance(section, GeneralSection):
        return section.stiffness_matrix
    assert material is not None, "checked by the beam"
    bending, shearing = material.youngs_modulus, material.shear_modulus
    result = np.diag(
        [
            bending * section.area,
            0.0,
            0.0,
            shearing * section.torsion_constant,
            bending * section.second_moment_y,
            bending * section.second_moment_z,
        ]
    )
    if theory is Theory.TIMOSHENKO:
        areas, (y, z) = section.shear_areas(material.poissons_ratio), getattr(section, "shear_center", (0.0, 0.0))
        at_center = np.zeros((2, 6))  # v' - theta_z and w' + theta_y of the shear centre
        at_center[0, [Measure.SHEAR_Y, Measure.TWIST]] = 1.0, -z
        at_center[1, [Measure.SHEAR_Z, Measure.TWIST]] = 1.0, y
        result += shearing * at_center.T @ (np.array(areas)[:, None] * at_center)
    return result


def _moments(section: UniformSection, material: Material | None) -> Array:
    if isinstance(section, GeneralSection):
        return section.moments
    assert material is not None, "checked by the beam"
    place = np.array([1.0, *getattr(section, "mass_center", (0.0, 0.0))])
    own = np.diag([0.0, section.second_moment_z, section.second_moment_y])
    return np.asarray(material.density * (section.area * np.outer(place, place) + own))
