"""First and second moments S and W of a beam, integrated over cross-section and axis.

The displacement of a cross-section that stays plane and normal to the axis::

    u_f = (u - y v' - z w',  v - z theta,  w + y theta)

so each row of Psi = [X, u_f] is a function on the axis plus y and z times such functions.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.mesh import BeamMesh
from phlexible.elements.sections import CrossSection


@dataclass(frozen=True)
class SectionInertia:
    """Moments of the cross-section that take part in the inertia.

    Attributes:
        area: int 1 [m2].
        moment_y: int z^2 [m4].
        moment_z: int y^2 [m4].
        tilts: True: cross-sections turn with the slopes v', w' (rotary inertia of bending).
    """

    area: float
    moment_y: float
    moment_z: float
    tilts: bool

    @property
    def gyration_y(self) -> float:
        """Squared radius of gyration of bending in the xz plane [m2]."""
        return self.moment_y / self.area if self.tilts else 0.0

    @property
    def gyration_z(self) -> float:
        """Squared radius of gyration of bending in the xy plane [m2]."""
        return self.moment_z / self.area if self.tilts else 0.0


def section_inertia(section: CrossSection, dimension: int, rotary_inertia: bool) -> SectionInertia:
    """With rotary inertia all of it; without it none in the plane and only spin about x in space."""
    if dimension == 2:
        return SectionInertia(
            section.area, 0.0, section.second_moment_z if rotary_inertia else 0.0, tilts=rotary_inertia
        )
    if rotary_inertia:
        return SectionInertia(section.area, section.second_moment_y, section.second_moment_z, tilts=True)
    half = section.polar_moment / 2
    return SectionInertia(section.area, half, half, tilts=False)


def beam_moments(mesh: BeamMesh, basis: Array, inertia: SectionInertia, density: float) -> tuple[Array, Array]:
    """S, shape (3, n + 1), and W, shape (3, 3, n + 1, n + 1), exact, W[a, b] = W[b, a]^T exactly.

    Without tilting cross-sections the y and z moments stand for the spin about the axis alone:
    what they add to J_yy and J_zz of the straight beam is taken out of W[0, 0][0, 0].
    """
    x, weights = mesh.gauss_points(4)
    at = mesh.fields(x, basis)
    zero, one = np.zeros((len(x), 1)), np.ones((len(x), 1))
    tilt = 1.0 if inertia.tilts else 0.0
    none = np.zeros_like(at.axial)
    psi = [  # for each direction the functions that multiply 1, y and z
        [
            np.hstack([x[:, None], at.axial]),
            np.hstack([zero, -tilt * at.slope_y]),
            np.hstack([zero, -tilt * at.slope_z]),
        ],
        [np.hstack([zero, at.deflection_y]), np.hstack([one, none]), np.hstack([zero, -at.twist])],
        [np.hstack([zero, at.deflection_z]), np.hstack([zero, at.twist]), np.hstack([one, none])],
    ]
    section = (inertia.area, inertia.moment_z, inertia.moment_y)
    measure = density * weights
    first = np.array([inertia.area * measure @ row[0] for row in psi])
    size = basis.shape[1] + 1
    second = np.zeros((3, 3, size, size))
    for a in range(3):
        for b in range(a, 3):
            parts = zip(section, psi[a], psi[b], strict=True)
            second[a, b] = sum(moment * (f * measure[:, None]).T @ g for moment, f, g in parts)
            if a == b:
                second[a, a] = (second[a, a] + second[a, a].T) / 2
            second[b, a] = second[a, b].T
    if not inertia.tilts:
        second[0, 0, 0, 0] -= density * inertia.moment_y * mesh.length
    return first, second
