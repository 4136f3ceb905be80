"""A body of retained shapes in a smaller basis over them (docs/theory.md, 3)."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.bodies.flexible.points import FlexiblePoints, InterfaceMotion, NodePoints
from phlexible.bodies.flexible.stiffening import condensed_strain, linear_strain
from phlexible.bodies.floating_body import FloatingBody, StrainEnergy
from phlexible.errors import ParameterError

DEPENDENT = 1e-12


def reduced_data(data: FloatingBody, frequencies: Array, basis: ArrayLike) -> tuple[FloatingBody, Array]:
    """The data in coordinates of unit mass that span the basis, and their frequencies [rad/s].

    Quadratic strains are condensed again, so that what is left out relaxes them as what was never retained does.

    Args:
        frequencies: of the retained shapes, shape (n,).
        basis: shape (n, k).

    Raises:
        ParameterError: a basis of another length, or of dependent columns.
    """
    from scipy.linalg import eigh

    columns, n = numbers("basis", basis, "a matrix (n, k)"), len(frequencies)
    if columns.ndim != 2 or columns.shape[0] != n or not columns.shape[1] or not np.isfinite(columns).all():
        raise ParameterError(
            f"basis must be finite with {n} rows, one for each coordinate, got shape {columns.shape}"
        )
    mass = columns.T @ columns
    scale = 1 / np.sqrt(np.diag(mass))
    if np.linalg.eigvalsh(mass * np.outer(scale, scale))[0] < DEPENDENT:
        raise ParameterError("basis must have independent columns")
    stiffness = columns.T @ (frequencies[:, None] ** 2 * columns)
    squares, vectors = eigh(stiffness, mass)
    small, chosen = np.sqrt(squares), columns @ vectors
    first = data.first_moments
    wide = np.zeros((n + 1, len(small) + 1))
    wide[0, 0], wide[1:, 1:] = 1.0, chosen
    own = replace(
        data,
        first_moments=first @ wide,
        second_moments=np.einsum("abij,ik,jl->abkl", data.second_moments, wide, wide, optimize=True),
        strain=_strain(data.strain, frequencies, small, chosen),
        damping=chosen.T @ data.damping @ chosen,
        points=_points(data.points, chosen),
        elastic_units=data.elastic_units[: len(small)],
    )
    return own, small


def _strain(strain: StrainEnergy, frequencies: Array, small: Array, chosen: Array) -> StrainEnergy:
    if not len(strain.factors):
        return linear_strain(small)
    k = len(small)
    geometric = np.zeros((k, k, k))
    unrelaxed = []
    for row, linear in enumerate(strain.rows):
        if not linear.any():
            slopes = strain.squares[strain.square_strain == row] @ chosen
            unrelaxed.append((slopes.T * strain.factors[strain.square_strain == row]) @ slopes)
            continue
        shape = int(np.abs(linear).argmax())
        mine = strain.square_strain == row
        slopes = strain.squares[mine] @ chosen
        matrix = frequencies[shape] * (slopes.T * strain.factors[mine]) @ slopes
        geometric += chosen[shape][:, None, None] * matrix
    return condensed_strain(small, geometric, unrelaxed=np.array(unrelaxed).reshape(-1, k, k))


def _points(points: object, chosen: Array) -> FlexiblePoints:
    assert isinstance(points, FlexiblePoints)
    faces = points.interfaces
    moved = InterfaceMotion(
        faces.names, faces.positions, faces.shapes @ chosen, faces.rotations @ chosen, faces.areas
    )
    if isinstance(points, NodePoints) and points.rotations is not None:
        points = replace(points, rotations=points.rotations @ chosen)
    return replace(points, shapes=points.shapes @ chosen, interfaces=moved)


def effective_mass(data: FloatingBody) -> Array:
    """Part of the mass and of the inertia about the origin that each coordinate carries, shape (n, 3 or 6)."""
    S, W = data.first_moments, data.second_moments
    cyclic = [((axis + 1) % 3, (axis + 2) % 3) for axis in data.rotation_axes]
    spins = np.array([W[a, b, 0, 1:] - W[b, a, 0, 1:] for a, b in cyclic])
    inertia = np.array([W[a, a, 0, 0] + W[b, b, 0, 0] for a, b in cyclic])
    moved = S[list(data.linear_axes), 1:]
    result: Array = np.vstack([moved**2 / data.mass, spins**2 / inertia[:, None]]).T
    return result
