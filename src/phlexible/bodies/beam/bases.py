"""Reduced bases of a beam: Craig-Bampton shapes, axial coordinates for them, and the check for locking.

A basis of bending shapes alone stretches the beam whenever it bends: with von Karman strain it is far too
stiff (membrane locking, (3.8); docs/theory.md, 3). The remedy is axial displacement that follows
the bending: all axial coordinates, or their static condensation. Without axial inertia the normal force is
constant along the beam, ``u' + (v'^2 + w'^2)/2 = const``, so that u' lies in the span of a constant and of
the products ``v_i' v_j' + w_i' w_j'`` of the bending shapes (static modal derivatives).
"""

from enum import StrEnum
from itertools import combinations_with_replacement

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.frames import BeamBasis
from phlexible.bodies.beam.mesh import BeamMesh, Family
from phlexible.bodies.beam.modes import modal_basis
from phlexible.bodies.beam.reduced_basis import independent
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.floating_body import StrainEnergy
from phlexible.errors import ParameterError

DEPENDENT = 1e-10
ALIKE = 1e-9  # of unit energy: what is left of axial shapes that others follow already
LOCKED = 1e-2  # of the mean squared slopes that no axial displacement of the basis can follow


class Axial(StrEnum):
    """ALL: every axial coordinate. CONDENSED: only what follows bending and one constant tension."""

    ALL = "all"
    CONDENSED = "condensed"


def check_basis(columns: Array, strain: StrainEnergy) -> None:
    """Refuses a basis that depends on itself, or that locks with quadratic strains.

    Args:
        columns: shape (n, k).
        strain: of all n coordinates.

    Raises:
        ParameterError: naming the remedy.
    """
    stiffness = linear_stiffness(strain)
    lower = np.linalg.cholesky(stiffness)
    sizes = np.linalg.norm(lower.T @ columns, axis=0)
    if not (sizes > 0).all():
        raise ParameterError(f"column {int(np.argmin(sizes))} of the basis in modes is zero; leave it out")
    spread = np.linalg.svd(lower.T @ columns / sizes, compute_uv=False)
    if spread[-1] <= DEPENDENT * spread[0]:
        raise ParameterError("the columns of the basis in modes depend on each other; leave some out")
    stretch, products = strain.rows @ columns, _slope_products(columns / sizes, strain)
    if not products.size:
        return
    left, values, _ = np.linalg.svd(stretch, full_matrices=False)
    followed = left[:, values > DEPENDENT * values.max(initial=0.0)]
    missed = float(np.linalg.norm(products - followed @ (followed.T @ products), axis=0).max())
    if missed > LOCKED:
        raise ParameterError(
            f"the basis in modes would lock: its axial displacements miss {100 * missed:.3g} % of what "
            "bending shortens. Complete it with modes=beam.with_axial(basis, dimension), "
            'or take strain="linear"'
        )


def with_axial_columns(columns: Array, strain: StrainEnergy, axial: IntArray, kind: Axial) -> Array:
    """The columns, completed so that bending does not stretch the beam, (n, m).

    Args:
        columns: shape (n, k); their axial parts are kept for ``CONDENSED`` and covered for ``ALL``.
        strain: of all n coordinates, von Karman.
        axial: which of the coordinates are axial, shape (a,).
        kind: which axial coordinates to add.
    """
    n, stiffness = len(columns), linear_stiffness(strain)
    if kind is Axial.ALL:
        across = columns.copy()
        across[axial] = 0.0
        return independent(np.eye(n)[:, axial], across, stiffness)
    sizes = np.sqrt(np.einsum("ij,ij->j", columns, stiffness @ columns))
    tension = strain.weights.mean() / strain.weights  # strains of one tension along the beam
    targets = np.column_stack([tension, _slope_products(columns / sizes, strain)])
    following = np.zeros((n, targets.shape[1]))
    following[axial] = np.linalg.solve(strain.rows[:, axial], targets)
    return independent(_spanning(following, stiffness), columns, stiffness)


def _spanning(columns: Array, stiffness: Array) -> Array:
    """The first column and as few as span the others, of its energy and orthogonal in it, (n, m)."""
    lower = np.linalg.cholesky(stiffness)
    sizes = np.linalg.norm(lower.T @ columns, axis=0)
    unit = columns[:, sizes > 0] / sizes[sizes > 0]
    rest = unit[:, 1:] - np.outer(unit[:, 0], (lower.T @ unit[:, 0]) @ (lower.T @ unit[:, 1:]))
    _, values, mixed = np.linalg.svd(lower.T @ rest, full_matrices=False)
    found = values > ALIKE
    return np.asarray(sizes[0] * np.hstack([unit[:, :1], rest @ mixed[found].T / values[found]]))


def craig_bampton_columns(mesh: BeamMesh, frame: BeamBasis, mass: Array, stiffness: Array, modes: int) -> Array:
    """Bending and torsion caused by motions of the ends, and modes between held ends, (n, k).

    R. R. Craig, M. C. C. Bampton, *Coupling of substructures for dynamic analyses*, AIAA Journal 6, 1968.
    Both are found for the free beam and then seen from the frame, so their span is that of every frame.

    Args:
        frame: the n coordinates that the columns are over.
        mass, stiffness: of the free beam, shape (mesh.size, mesh.size).
        modes: number of modes with both ends held.

    Raises:
        ParameterError: more modes than the elements have.
    """
    families = mesh.families()
    across = np.flatnonzero(families != Family.AXIAL)
    ends = np.array([i for i in across if i < mesh.node_size or i >= mesh.size - mesh.node_size])
    inner = np.setdiff1d(across, ends)
    if modes > len(inner):
        raise ParameterError(
            f"modes must be at most {len(inner)}, the bending and torsion coordinates between the ends, "
            f"got {modes}; take fewer modes or more elements"
        )
    static = np.zeros((mesh.size, len(ends)))
    static[ends] = np.eye(len(ends))
    if len(inner):
        static[inner] = -np.linalg.solve(stiffness[np.ix_(inner, inner)], stiffness[np.ix_(inner, ends)])
    block = np.ix_(inner, inner)
    held = modal_basis(
        BeamBasis(np.eye(mesh.size)[:, inner], families[inner]), mass[block], stiffness[block], modes
    ).columns
    seen = np.linalg.solve(np.hstack([frame.columns, mesh.rigid_motions()]), np.hstack([static, held]))
    n = frame.columns.shape[1]
    own = frame.columns.T @ stiffness @ frame.columns
    return independent(np.zeros((n, 0)), seen[:n], own)


def _slope_products(columns: Array, strain: StrainEnergy) -> Array:
    """Mean of slope_i slope_j over each element for all pairs of columns, relative, shape (s, pairs)."""
    slopes = strain.squares @ columns
    count = len(strain.weights)

    def mean(product: Array) -> Array:
        sums = np.bincount(strain.square_strain, weights=strain.factors * product, minlength=count)
        return np.asarray(sums, dtype=np.float64)

    squares = np.array([np.linalg.norm(mean(slopes[:, i] ** 2)) for i in range(columns.shape[1])])
    bent = np.flatnonzero(squares > DEPENDENT**2 * squares.max(initial=0.0))
    pairs = [
        mean(slopes[:, i] * slopes[:, j]) / np.sqrt(squares[i] * squares[j])
        for i, j in combinations_with_replacement(bent, 2)
    ]
    found = np.array(pairs).reshape(len(pairs), count).T
    return np.asarray(found[:, np.linalg.norm(found, axis=0) > DEPENDENT])  # bending in y and in z: none
