"""Transverse shear strain of plate elements, interpolated so that thin plates do not lock (docs/theory.md, 3)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.element_mesh import CellKind

GAUSS = (0.5 - 0.5 / np.sqrt(3.0), 0.5 + 0.5 / np.sqrt(3.0))


@dataclass(frozen=True, eq=False)
class ShearInterpolation:
    """The space of Nedelec's elements of second order on the reference cell, and what determines its fields.

    The gradients of the deflections of second order lie in it, so that a plate without shear strain may bend.

    Attributes:
        points: where fields are looked at, shape (2, P).
        functionals: t numbers sum_pa functionals[t, p, a] field_a(points_p) determine a field, shape (T, P, 2).
        is_simplex: whether the cell is the triangle.
        inverse: coefficients of the basis from these numbers, shape (T, T).
    """

    points: Array
    functionals: Array
    is_simplex: bool
    inverse: Array

    def fields(self, points: Array) -> Array:
        """The field of each number at points (2, q), components along the reference axes, shape (q, 2, T)."""
        basis = _simplex_basis(points) if self.is_simplex else _quadrilateral_basis(points)
        return np.asarray(basis @ self.inverse)


def shear_interpolation(kind: CellKind) -> ShearInterpolation:
    """Of triangles or quadrilaterals."""
    points, functionals = _triangle() if kind.is_simplex else _quadrilateral()
    basis = _simplex_basis(points) if kind.is_simplex else _quadrilateral_basis(points)
    inverse = np.linalg.inv(np.einsum("tpa,pam->tm", functionals, basis))
    return ShearInterpolation(points, functionals, kind.is_simplex, inverse)


def _triangle() -> tuple[Array, Array]:
    """Components along the edges at their Gauss points, and the mean of both components."""
    from skfem.quadrature import get_quadrature
    from skfem.refdom import RefTri

    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    edges = [(corners[a], corners[b] - corners[a]) for a, b in ((0, 1), (1, 2), (0, 2))]
    on_edges = np.array([first + g * along for first, along in edges for g in GAUSS])
    inner, weights = get_quadrature(RefTri, 3)
    functionals = np.zeros((8, 6 + len(weights), 2))
    for edge, (_, along) in enumerate(edges):
        functionals[2 * edge, 2 * edge] = functionals[2 * edge + 1, 2 * edge + 1] = along
    functionals[6, 6:, 0] = functionals[7, 6:, 1] = weights
    return np.hstack([on_edges.T, inner]), functionals


def _quadrilateral() -> tuple[Array, Array]:
    """The component along each axis at its two Gauss points, on both sides and in the middle across."""
    places, directions = [], []
    for g in GAUSS:
        for across in (0.0, 0.5, 1.0):
            places += [(g, across), (across, g)]
            directions += [(1.0, 0.0), (0.0, 1.0)]
    functionals = np.zeros((12, 12, 2))
    functionals[np.arange(12), np.arange(12)] = directions
    return np.array(places).T, functionals


def _simplex_basis(points: Array) -> Array:
    """Linear fields and (-s, r) times linear functions, shape (q, 2, 8)."""
    r, s = points
    one, none = np.ones_like(r), np.zeros_like(r)
    first = [one, r, s, none, none, none, -r * s, -s * s]
    second = [none, none, none, one, r, s, r * r, r * s]
    return np.stack([np.stack(first, axis=1), np.stack(second, axis=1)], axis=1)


def _quadrilateral_basis(points: Array) -> Array:
    """Linear along the component, quadratic across, shape (q, 2, 12)."""
    r, s = points
    none = [np.zeros_like(r)] * 6
    first = [r**i * s**j for i in range(2) for j in range(3)]
    second = [r**j * s**i for i in range(2) for j in range(3)]
    return np.stack([np.stack(first + none, axis=1), np.stack(none + second, axis=1)], axis=1)
