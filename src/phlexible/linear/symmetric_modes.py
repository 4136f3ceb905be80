"""Lowest modes of ``K x = omega^2 M x`` with ``G x = 0``, without damping and gyroscopic terms.

Lanczos iteration (ARPACK) with the operator ``(K - s M)^-1 M`` on the constrained motions, s < 0: one
sparse LU, eigenvalues real by construction. Exact rigid motions, which would be a zero of any
multiplicity, are found by algebra first and taken out.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from phlexible.algebra.arrays import Array
from phlexible.algebra.saddle import SaddlePoint, natural_scale
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.null_space import null_space_basis

DENSE = 60
ZERO = 1e-9
SHIFT_ROUNDS = 6
LEAST = 8  # modes, so that those of a free body without strain are counted
NEIGHBOURS = 12  # beyond rigid modes: whose size says what round-off is


@dataclass(frozen=True, eq=False)
class SymmetricModes:
    """The lowest modes, ascending.

    Attributes:
        squares: omega^2, shape (count,) [rad^2/s^2]; exact zeros for rigid modes, negative if unstable.
        shapes: columns with x.M x = 1, shape (n, count).
        rigid: number of rigid modes of the model, also of those beyond count.
    """

    squares: Array
    shapes: Array
    rigid: int


def lowest_symmetric_modes(mechanics: LinearMechanics, count: int) -> SymmetricModes:
    """At most ``count`` modes; fewer where the model has fewer."""
    rows = mechanics.constraint_matrix.shape[0]
    freedom = mechanics.size - rows
    count = min(count, freedom)
    if count <= 0:
        return SymmetricModes(np.zeros(0), np.zeros((mechanics.size, 0)), 0)
    rigid = _rigid_motions(mechanics)
    elastic = freedom - rigid.count
    wanted = min(max(count - rigid.count, LEAST), elastic)
    if freedom <= DENSE or 4 * wanted + 20 > elastic:
        return _dense_modes(mechanics, count, rigid)
    squares, shapes = _lanczos(mechanics, wanted, rigid)
    if rigid.count:
        squares = np.concatenate([np.zeros(rigid.count), squares])
        shapes = np.hstack([rigid.shapes(count), shapes]) if rigid.count < count else rigid.shapes(count)
        squares = squares[: shapes.shape[1]]
        return SymmetricModes(squares[:count], shapes[:, :count], rigid.count)
    zero = np.abs(squares) <= _zero_level(mechanics, squares, shapes)
    squares = np.where(zero, 0.0, squares)
    return SymmetricModes(squares[:count], shapes[:, :count], int(zero.sum()))


def undamped_modes(mechanics: LinearMechanics, count: int) -> SymmetricModes:
    """The lowest modes without damping and gyroscopic terms, rigid ones first."""
    nothing = sparse.csr_array(mechanics.mass.shape)
    return lowest_symmetric_modes(replace(mechanics, velocity=nothing, damping=nothing), count)


def all_symmetric_modes(mechanics: LinearMechanics) -> SymmetricModes:
    """All modes of a small model, M-orthonormal to round-off; the lowest are as accurate as the highest."""
    freedom = mechanics.size - mechanics.constraint_matrix.shape[0]
    modes = _dense_modes(mechanics, freedom, _rigid_motions(mechanics))
    upper = linalg.cholesky(modes.shapes.T @ (mechanics.mass @ modes.shapes))
    shapes = linalg.solve_triangular(upper, modes.shapes.T, trans="T").T  # leaves the lowest as they are
    return SymmetricModes(modes.squares, shapes, modes.rigid)


class _RigidMotions:
    """Motions that joints allow and that strain nothing, as columns of a sparse basis Z."""

    def __init__(self, basis: sparse.csr_array, mass: sparse.csr_array) -> None:
        self._basis, self._mass = basis, mass
        self.count = int(basis.shape[1])
        if self.count:
            self._metric = linalg.cholesky((basis.T @ (mass @ basis)).toarray(), lower=True)

    def removed_from(self, x: Array) -> Array:
        """x without its part in the rigid motions, in the metric M."""
        if not self.count:
            return x
        right = self._basis.T @ (self._mass @ x)
        parts = linalg.cho_solve((self._metric, True), right, check_finite=False)  # to look would take longer
        return np.asarray(x - self._basis @ parts)

    def shapes(self, count: int) -> Array:
        """The first of them, M-orthonormal, shape (n, at most count)."""
        first = np.eye(self.count)[:, : min(count, self.count)]
        return np.asarray(self._basis @ linalg.solve_triangular(self._metric, first, lower=True, trans="T"))


def _rigid_motions(mechanics: LinearMechanics) -> _RigidMotions:
    """Those in the coordinates that no entry of K touches."""
    stiffness, n = mechanics.stiffness, mechanics.size
    free = np.flatnonzero(np.diff(stiffness.indptr) == 0)
    pick = sparse.csr_array((np.ones(len(free)), (free, np.arange(len(free)))), (n, len(free)))
    if not len(free):
        return _RigidMotions(pick, mechanics.mass)
    held = sparse.csr_array(mechanics.constraint_matrix @ pick)
    basis = pick @ null_space_basis(held, natural_scale(mechanics.mass)[free], allow_dependent=True)
    return _RigidMotions(sparse.csr_array(basis), mechanics.mass)


def _dense_modes(mechanics: LinearMechanics, count: int, rigid: _RigidMotions) -> SymmetricModes:
    basis = null_space_basis(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    small = mechanics.projected(basis)
    K, M = small.stiffness.toarray(), small.mass.toarray()
    high, high_shapes = linalg.eigh(K, M)
    scale = float(np.abs(high).max())
    if not K.any():
        return SymmetricModes(np.zeros(count), np.asarray(basis @ high_shapes[:, :count]), len(high))
    shift = 1e-6 * scale if scale else 1.0
    low, low_shapes = high, high_shapes
    if high[0] > -shift / 2:  # accurate low ones by the inverse problem
        inverse, low_shapes = linalg.eigh(M, K + shift * M)
        low = 1 / inverse - shift
        order = np.argsort(low)
        low, low_shapes = low[order], low_shapes[:, order]
    is_low = low < np.sqrt(shift * scale)
    squares = np.where(is_low, low, high)
    shapes = np.where(is_low, low_shapes, high_shapes)
    shapes = shapes / np.sqrt(np.einsum("ij,ij->j", shapes, M @ shapes))
    full = np.asarray(basis @ shapes)
    neighbours = squares[: min(count + 4, rigid.count + NEIGHBOURS)]
    zero = np.abs(squares) <= _zero_level(mechanics, neighbours, full)
    smallest = np.argsort(np.abs(squares))[: rigid.count]  # unstable motions come before rigid ones
    zero[smallest] |= np.abs(squares[smallest]) < ZERO * scale
    return SymmetricModes(np.where(zero, 0.0, squares)[:count], full[:, :count], int(zero.sum()))


def _zero_level(mechanics: LinearMechanics, squares: Array, shapes: Array) -> Array:
    """Below which omega^2 is round-off, for each shape: of the neighbours, or of the entries of K."""
    size = np.abs(shapes)
    noise = np.einsum("ij,ij->j", size, abs(mechanics.stiffness) @ size) * np.finfo(float).eps
    return np.asarray(1e-11 * np.abs(squares).max(initial=0.0) + 16 * noise)


def _lanczos(mechanics: LinearMechanics, count: int, rigid: _RigidMotions) -> tuple[Array, Array]:
    n, mass = mechanics.size, mechanics.mass
    rng = np.random.default_rng(0)
    scale = natural_scale(mass)
    shift, solver = _shifted_solver(mechanics, count, rigid, rng)

    def inverse(b: Array) -> Array:
        return rigid.removed_from(solver.solve(b)[0])

    operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    start = inverse(mass @ (scale * rng.normal(size=n)))
    squares, shapes = eigsh(
        mechanics.stiffness,
        count,
        mass,
        sigma=-shift,
        OPinv=operator,
        v0=start,
        tol=0,
        ncv=_vectors(mechanics, count),
    )
    order = np.argsort(squares)
    return squares[order], shapes[:, order]


def _vectors(mechanics: LinearMechanics, count: int) -> int:
    freedom = mechanics.size - mechanics.constraint_matrix.shape[0]
    return int(min(freedom - 1, max(2 * count + 10, 24)))


def _shifted_solver(
    mechanics: LinearMechanics, count: int, rigid: _RigidMotions, rng: np.random.Generator
) -> tuple[float, SaddlePoint]:
    """A shift of the size of the wanted omega^2, by a few rounds of subspace iteration, and its solver."""
    mass, stiffness, scale = mechanics.mass, mechanics.stiffness, natural_scale(mechanics.mass)
    largest = float(np.max(np.abs(stiffness.diagonal()) * scale**2)) or 1.0
    shift = 1e-4 * largest
    block = scale[:, None] * rng.normal(size=(mechanics.size, count + 4))
    for _ in range(SHIFT_ROUNDS):
        solver = SaddlePoint(stiffness + shift * mass, mechanics.constraint_matrix, scale=scale)
        for _ in range(2):
            block = rigid.removed_from(solver.solve(mass @ block)[0])
            block = _orthonormal(block, mass)
        values = np.abs(linalg.eigvalsh(block.T @ (stiffness @ block)))
        goal = float(np.sort(values)[count - 1]) / 2
        if goal > 0.2 * shift or shift <= 1e-13 * largest:
            break
        shift = max(goal, 1e-13 * largest)
    return shift, solver


def _orthonormal(block: Array, mass: sparse.csr_array) -> Array:
    """The same span, M-orthonormal; by eigenvectors, since the columns may nearly depend."""
    block = block / np.sqrt(np.einsum("ij,ij->j", block, mass @ block))
    values, vectors = linalg.eigh(block.T @ (mass @ block))
    return np.asarray(block @ (vectors / np.sqrt(np.maximum(values, 1e-15))))
