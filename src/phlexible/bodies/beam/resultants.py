"""Section forces of each element and the strains that they are tested with (docs/theory.md, 3).

On an element without shear the normal force N and the torque M_x are constant and the bending moments linear; with
shear Q_y, Q_z and M_x are linear too. Strains of the coordinates have the same degrees (but for the squares of the
slopes), so that with functions phi of the forces r = phi c::

    e = int phi^T (strains of the coordinates),  c = S e,  S = G^-1 (int phi^T D(x) phi) G^-1,  G = int phi^T phi

c is the projection of D times the strains, and e.S e / 2 the energy of the displacements, also where the stiffness
D of the sections changes along the element.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.constitution import Measure, measures, stiffness_at, strain_fields
from phlexible.bodies.beam.mesh import BeamMesh
from phlexible.bodies.material import Material
from phlexible.elements.quadrature import gauss
from phlexible.elements.varying_section import AnySection

POINTS = 4  # of the strains and of the stiffness of the sections
SLOPE_POINTS = 3  # v'^2 is of degree 4


@dataclass(frozen=True, eq=False)
class ElementForces:
    """Section forces of the elements of one beam; the normal force, constant, is the first coefficient.

    Attributes:
        mesh: of e elements.
        kinds: which section force each of the s coefficients of an element is of, shape (s,).
        points: where in the element the coefficient is the value of the force: -1: everywhere, else 0 or 1,
            the first or the second of two Gauss points, shape (s,).
        stiffness: S of the elements, shape (e, s, s), symmetric, positive definite.
        strains: tested linear strains, shape (e, s, n).
        slopes: v' and in space w' at Gauss points of the elements, shape (e, g, n).
        factors: weights of their squares / 2 in the tested stretch, shape (g,) [m].
    """

    mesh: BeamMesh
    kinds: tuple[Measure, ...]
    points: tuple[int, ...]
    stiffness: Array
    strains: Array
    slopes: Array
    factors: Array

    @property
    def compliance(self) -> Array:
        """S^-1, shape (e, s, s)."""
        inverse = np.linalg.inv(self.stiffness)
        return np.asarray((inverse + inverse.transpose(0, 2, 1)) / 2)

    def functions(self, share: Array) -> Array:
        """phi at places 0 to 1 in an element, (k,): values of the coefficients' functions, shape (k, s)."""
        return _functions(self.points, share)

    def forces(self, x: Array, eta: Array, rates: Array | None, viscosity: float, is_quadratic: bool) -> Array:
        """(N, Q_y, Q_z, M_x, M_y, M_z) of eta (T, n) at places x (k,), shape (T, k, 6); Q = 0 without shear.

        Args:
            rates: deta/dt, shape (T, n), for the viscous part of the stress; None: without.
        """
        element, share = self.mesh.located(x * (1 + 1e-12))
        used, own = np.unique(element, return_inverse=True)
        moved = eta if rates is None else eta + viscosity * rates
        tested = _times(moved, self.strains[used])
        if is_quadratic:
            slopes = _times(eta, self.slopes[used])
            squares = slopes**2 / 2
            if rates is not None:
                squares = squares + viscosity * slopes * _times(rates, self.slopes[used])
            tested[:, :, 0] += squares @ self.factors
        coefficients = np.einsum("esr,ter->tes", self.stiffness[used], tested, optimize=True)
        values = coefficients[:, own] * self.functions(share)
        result = np.zeros((len(eta), len(x), 6))
        for k, kind in enumerate(self.kinds):
            result[:, :, kind] += values[:, :, k]
        return result

    def coefficients_of(self, kind: Measure) -> IntArray:
        """Which coefficients of an element are of a section force."""
        return np.flatnonzero(np.array(self.kinds) == kind)


def element_forces(mesh: BeamMesh, basis: Array, section: AnySection, material: Material | None) -> ElementForces:
    """Of coordinates eta, where ``basis @ eta``, basis (mesh.size, n), are those of the mesh."""
    kept = measures(mesh.theory, mesh.dimension)
    constant = (Measure.STRETCH,) if mesh.shears else (Measure.STRETCH, Measure.TWIST)
    pairs = [(kind, point) for kind in kept for point in ((-1,) if kind in constant else (0, 1))]
    kinds, points = tuple(kind for kind, _ in pairs), tuple(point for _, point in pairs)
    x, weights = mesh.gauss_points(POINTS)
    phi = _functions(points, np.tile(gauss(POINTS)[0], mesh.elements))
    weighted = phi * weights[:, None]

    stiffness = _stiffness(mesh, stiffness_at(section, material, mesh.theory, x)[:, kept][:, :, kept], kinds, phi)
    n, fields = basis.shape[1], strain_fields(mesh.fields(x, basis))
    strains = np.empty((mesh.elements, len(kinds), n))
    for k, kind in enumerate(kinds):
        tested = (weighted[:, k, None] * fields[kind]).reshape(mesh.elements, POINTS, n)
        strains[:, k] = tested.sum(axis=1)
    at = mesh.fields(mesh.gauss_points(SLOPE_POINTS)[0], basis)
    planes = [at.slope_y] if mesh.dimension == 2 else [at.slope_y, at.slope_z]
    slopes = np.concatenate([each.reshape(mesh.elements, SLOPE_POINTS, n) for each in planes], axis=1)
    factors = mesh.element_length * np.tile(gauss(SLOPE_POINTS)[1], len(planes))
    return ElementForces(
        mesh, kinds, points, (stiffness + stiffness.transpose(0, 2, 1)) / 2, strains, slopes, factors
    )


def _stiffness(mesh: BeamMesh, sections: Array, kinds: tuple[Measure, ...], phi: Array) -> Array:
    """S of the elements, (e, s, s), of stiffness (k, d, d) and functions (k, s) at the points, stretch first.

    The stretch has a part that is linear in the element, too, which the constant normal force leaves free (3.12):
    where bending or twist go with stretch, a constant one would be too stiff.
    """
    share, weights = gauss(POINTS)
    own = [list(dict.fromkeys(kinds)).index(kind) for kind in kinds]
    own, count = [*own, 0], len(kinds)
    functions = np.hstack([phi, np.tile(share - 0.5, mesh.elements)[:, None]])
    weighted = functions * np.tile(weights * mesh.element_length, mesh.elements)[:, None]
    entries = sections[:, own][:, :, own] * weighted[:, :, None] * functions[:, None, :]
    inverse = np.linalg.inv(np.equal.outer(own, own) * (weighted[:POINTS].T @ functions[:POINTS]))
    whole = inverse @ entries.reshape(mesh.elements, POINTS, count + 1, count + 1).sum(axis=1) @ inverse
    free = whole[:, :count, count:]
    return np.asarray(whole[:, :count, :count] - free @ free.transpose(0, 2, 1) / whole[:, count:, count:])


def _times(coordinates: Array, rows: Array) -> Array:
    """Rows (e, s, n) of the elements times coordinates (T, n), shape (T, e, s)."""
    flat = coordinates @ rows.reshape(-1, rows.shape[2]).T
    return np.asarray(flat.reshape(len(coordinates), *rows.shape[:2]))


def _functions(points: tuple[int, ...], share: Array) -> Array:
    """1, or the linear functions that are 1 at one of two Gauss points and 0 at the other, shape (k, s)."""
    first, second = gauss(2)[0]
    values = {
        -1: np.ones_like(share),
        0: (second - share) / (second - first),
        1: (share - first) / (second - first),
    }
    return np.stack([values[point] for point in points], axis=1)
