"""First and second moments S and W of a beam, integrated over cross-section and axis (docs/theory.md, 2).

The displacement of a cross-section that stays plane and turns by (theta_x, theta_y, theta_z)::

    u_f = (u - y theta_z + z theta_y,  v - z theta_x,  w + y theta_x)

so each row of Psi = [X, u_f] is a function on the axis plus y and z times such functions; masses that sit on the
beam have a thickness along x too, with v + x theta_z and w - x theta_y.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.constitution import moments_at
from phlexible.bodies.beam.lumped_mass import LumpedMass
from phlexible.bodies.beam.mesh import BeamMesh
from phlexible.bodies.material import Material
from phlexible.elements.varying_section import AnySection

POINTS = 4


@dataclass(frozen=True, eq=False)
class BeamInertia:
    """Mass at points of the axis, spread across and along it.

    Attributes:
        x: of the points, shape (k,) [m].
        moments: int (1, x, y, z) (1, x, y, z)^T dm of the mass at each, shape (k, 4, 4).
        tilts: 1 where the mass tilts with its cross-section, 0 where it does not (no rotary inertia), shape (k,).
        spin: what the y and z moments that stand for spin about the axis alone add to J_yy and to J_zz [kg m2].
    """

    x: Array
    moments: Array
    tilts: Array
    spin: float

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.moments[:, 0, 0].sum())


def beam_inertia(
    mesh: BeamMesh,
    section: AnySection,
    material: Material | None,
    masses: Sequence[LumpedMass],
    rotary_inertia: bool,
) -> BeamInertia:
    """Of the sections, and of the masses that sit on the beam.

    Without rotary inertia sections in the plane have none, and in space only spin about x.
    """
    x, weights = mesh.gauss_points(POINTS)
    moments = np.zeros((len(x) + len(masses), 4, 4))
    own = moments[: len(x)]
    own[np.ix_(range(len(x)), (0, 2, 3), (0, 2, 3))] = weights[:, None, None] * moments_at(section, material, x)
    spin = 0.0
    if not rotary_inertia:
        half = (own[:, 2, 2] + own[:, 3, 3]) / 2 if mesh.dimension == 3 else np.zeros(len(x))
        own[:, 1:, 1:] = 0.0
        own[:, 2, 2] = own[:, 3, 3] = half
        spin = float(half.sum())
    for each, moment in zip(masses, moments[len(x) :], strict=True):
        moment[:] = each.moments
    if mesh.dimension == 2:
        moments[:, 3, :] = moments[:, :, 3] = 0.0
    tilts = np.concatenate([np.full(len(x), float(rotary_inertia)), np.ones(len(masses))])
    return BeamInertia(np.append(x, [each.x for each in masses]), moments, tilts, spin)


def beam_moments(mesh: BeamMesh, basis: Array, inertia: BeamInertia) -> tuple[Array, Array]:
    """S, shape (3, n + 1), and W, shape (3, 3, n + 1, n + 1), exact, W[a, b] = W[b, a]^T exactly.

    Without tilting cross-sections the y and z moments stand for the spin about the axis alone:
    what they add to J_yy and J_zz of the straight beam is taken out of W[0, 0][0, 0].
    """
    psi, size = _functions(mesh, basis, inertia), basis.shape[1] + 1
    first = np.array([sum(inertia.moments[:, 0, j] @ psi[j][a] for j in range(4)) for a in range(3)])
    second = np.zeros((3, 3, size, size))
    for a in range(3):
        for b in range(a, 3):
            second[a, b] = sum(_products(psi, inertia.moments, a, b, i, j) for i, j in _pairs(inertia))
            if a == b:
                second[a, a] = (second[a, a] + second[a, a].T) / 2
            second[b, a] = second[a, b].T
    second[0, 0, 0, 0] -= inertia.spin
    return first, second


def momentum_rows(mesh: BeamMesh, inertia: BeamInertia) -> Array:
    """Linear and angular momentum of the straight beam of its free coordinates, shape (3 or 6, mesh.size).

    S[:, 1:] of (2.2) and Z_k[0, 1:] of (2.4), without the components that a planar beam does not have.
    """
    psi = _functions(mesh, np.eye(mesh.size), inertia)
    straight = [[each[:, :1] for each in parts] for parts in psi]
    linear = [sum(inertia.moments[:, 0, j] @ psi[j][a] for j in range(4)) for a in range(mesh.dimension)]
    angular = []
    for a, b in ((1, 2), (2, 0), (0, 1)) if mesh.dimension == 3 else ((0, 1),):
        row = np.zeros(mesh.size + 1)
        for i, j in _pairs(inertia):
            weights = inertia.moments[:, i, j]
            row += (straight[i][a][:, 0] * weights) @ psi[j][b] - (straight[i][b][:, 0] * weights) @ psi[j][a]
        angular.append(row)
    return np.array([*linear, *angular])[:, 1:]


def _functions(mesh: BeamMesh, basis: Array, inertia: BeamInertia) -> list[list[Array]]:
    """For 1, x, y and z the functions that multiply them in each direction of Psi, shape (k, n + 1)."""
    at = mesh.fields(inertia.x, basis)
    tilt = inertia.tilts[:, None]
    at = replace(at, tilt_y=tilt * at.tilt_y, tilt_z=tilt * at.tilt_z)
    zero, one = np.zeros((len(inertia.x), 1)), np.ones((len(inertia.x), 1))
    none = np.zeros_like(at.axial)

    def joined(constant: Array, elastic: Array) -> Array:
        return np.hstack([constant, elastic])

    return [
        [joined(inertia.x[:, None], at.axial), joined(zero, at.deflection_y), joined(zero, at.deflection_z)],
        [joined(one, none), joined(zero, at.tilt_y), joined(zero, at.tilt_z)],
        [joined(zero, -at.tilt_y), joined(one, none), joined(zero, at.twist)],
        [joined(zero, -at.tilt_z), joined(zero, -at.twist), joined(one, none)],
    ]


def _pairs(inertia: BeamInertia) -> list[tuple[int, int]]:
    """The products of 1, x, y, z that some mass has."""
    return [(int(i), int(j)) for i, j in np.argwhere(inertia.moments.any(axis=0))]


def _products(psi: list[list[Array]], moments: Array, a: int, b: int, i: int, j: int) -> Array:
    return np.asarray((psi[i][a] * moments[:, i, j, None]).T @ psi[j][b])
