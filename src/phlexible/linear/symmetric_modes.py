"""Lowest modes of ``K x = omega^2 M x`` with ``G x = 0``, without damping and gyroscopic terms.

Lanczos iteration (ARPACK) with the operator ``(K - s M)^-1 M`` on the constrained motions, s < 0: one
sparse LU, eigenvalues real by construction. Exact rigid motions, which would be a zero of any
multiplicity, are found by algebra first and taken out.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs, eigsh

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination import NullSpace, null_space, null_space_basis
from phlexible.algebra.sparse import SaddlePoint, natural_scale
from phlexible.errors import EquilibriumError, ModelError
from phlexible.linear.mechanics import LinearMechanics

DENSE = 60
LOW = 1e-3  # of the largest of some squares: those below are solved again
NOISE, SHAPE_NOISE = 16, 32  # times the round-off of x . K x, and of a unit mode x
SHIFT_ROUNDS = 12
RITZ, UNSTABLE = 1e-12, 30.0  # round-off of a negative omega^2 in a few vectors; how far below it the lowest may be
LEAST = 8  # modes, so that those of a free body without strain are counted
MANY = 500  # rigid motions: more of them are kept out of dense matrices
STABLE = 1e-7  # of omega^2 + s: how well the lowest is known where it is enough that it is positive
RESTARTS, WIDER = 100, (1, 4)  # of the iteration, in vain where very many modes are equal; with more vectors then


@dataclass(frozen=True, eq=False)
class SymmetricModes:
    """Lowest undamped modes of a mechanical model in the order of ascending squared frequencies.

    Attributes:
        squares: omega^2, shape (count,) [rad^2/s^2]; exact zeros for rigid modes, negative if unstable.
        shapes: columns with x.M x = 1, shape (n, count).
        rigid: number of rigid modes of the model, also of those beyond count.
    """

    squares: Array
    shapes: Array
    rigid: int


def lowest_symmetric_modes(mechanics: LinearMechanics, count: int) -> SymmetricModes:
    """Return at most ``count`` lowest undamped modes K x = w^2 M x of a model under its constraints. Results are
    the squared frequencies w^2 [1/s^2], shapes of unit modal mass and the number of rigid modes, which have exact
    zeros. Negative squares (unstable motions) come first. Small models use dense matrices, large ones Lanczos
    iteration. Damping and gyroscopic terms are ignored."""
    count = min(count, mechanics.freedom)
    if count <= 0:
        return SymmetricModes(np.zeros(0), np.zeros((mechanics.size, 0)), 0)
    rigid = _rigid_motions(mechanics)
    elastic = mechanics.freedom - rigid.count
    wanted = min(max(count - rigid.count, LEAST), elastic)
    are_few = 4 * wanted + 20 > elastic
    if mechanics.freedom <= DENSE or (are_few and rigid.count <= MANY):
        return _dense_modes(mechanics, count, rigid)
    if not elastic:
        return SymmetricModes(np.zeros(count), rigid.shapes(count), rigid.count)
    if are_few:
        squares, shapes = _few_elastic_modes(mechanics, elastic, rigid)
    else:
        squares, shapes = _lanczos(mechanics, wanted, rigid, unstable_only=count <= rigid.count)
    squares, shapes = _with_zeros(mechanics, squares, shapes)
    squares = np.concatenate([np.zeros(rigid.count), squares])  # unstable come first
    order = np.argsort(squares, kind="stable")[:count]
    known = rigid.shapes(int((order < rigid.count).sum()))
    first = np.hstack([known, shapes])[
        :, np.where(order < rigid.count, order, order - rigid.count + known.shape[1])
    ]
    return SymmetricModes(squares[order], first, int((squares == 0).sum()))


def undamped_modes(mechanics: LinearMechanics, count: int) -> SymmetricModes:
    """Return the ``count`` lowest modes of a second-order model (``mechanics``) without its damping and gyroscopic
    terms. There are fewer if the model has fewer degrees of freedom."""
    nothing = sparse.csr_array(mechanics.mass.shape)
    return lowest_symmetric_modes(replace(mechanics, velocity=nothing, damping=nothing), count)


def all_symmetric_modes(mechanics: LinearMechanics) -> SymmetricModes:
    """Return all undamped modes of a small second-order model (``mechanics``) by dense matrices, orthonormal
    in the mass matrix; low frequencies are as accurate as high ones."""
    modes = _dense_modes(mechanics, mechanics.freedom, _rigid_motions(mechanics))
    upper = linalg.cholesky(modes.shapes.T @ (mechanics.mass @ modes.shapes))
    shapes = linalg.solve_triangular(upper, modes.shapes.T, trans="T").T  # leaves the lowest as they are
    return SymmetricModes(modes.squares, shapes, modes.rigid)


def static_responses(
    mechanics: LinearMechanics, modes: SymmetricModes, directions: Array, values: Array | None = None
) -> Array:
    """Return the elastic deformations (n, k) of a second-order model under constant forces, the columns of
    ``directions`` (n, k). Constraint functions have the ``values`` (constraints, k), None for zero. On a free
    model, rigid accelerations balance the forces (inertia relief), and a shifted stiffness is used in six
    iterations that remove the shift. Results are mass-orthogonal to all rigid modes, which ``modes`` must
    contain."""
    rigid = modes.shapes[:, modes.squares == 0]
    others = np.abs(modes.squares[modes.squares != 0]) if modes.squares.any() else np.ones(1)
    balanced = directions - mechanics.mass @ (rigid @ (rigid.T @ directions))
    shift = 1e-3 * float(others.min()) if rigid.shape[1] else 0.0
    stiffness, scale = mechanics.stiffness + shift * mechanics.mass, natural_scale(mechanics.mass)
    solver, answers = SaddlePoint(stiffness, mechanics.constraint_matrix, scale=scale), np.zeros(directions.shape)
    for _ in range(6 if shift else 1):  # the shift does not move the answers
        answers = solver.solve(balanced + shift * (mechanics.mass @ answers), values)[0]
        answers = answers - rigid @ (rigid.T @ (mechanics.mass @ answers))
    return np.asarray(answers)


class _RigidMotions:
    """Rigid motions of a model, which its joints allow and which strain nothing, as columns of a sparse basis Z.

    Args:
        mechanics: second-order model with the rigid motions.
        free: indices of the coordinates in which the rigid motions are.
        motions: basis Z in these coordinates, and indices of rows of G that span all of its rows there.
    """

    def __init__(self, mechanics: LinearMechanics, free: IntArray, motions: NullSpace) -> None:
        self._mechanics, self._free, self._motions = mechanics, free, motions
        self.count = int(motions.basis.shape[1])

    @cached_property
    def _mass(self) -> sparse.csr_array:
        """Rows of the mass matrix of the second-order model that belong to the coordinates in which rigid motions
        are not zero."""
        return sparse.csr_array(self._mechanics.mass[self._free])

    @cached_property
    def _nearest(self) -> SaddlePoint:
        """Solver (saddle-point problem) that projects motions of the second-order model onto its rigid motions in
        the metric of the mass matrix."""
        mass = sparse.csr_array(self._mass[:, self._free])
        ties = sparse.csr_array(self._mechanics.constraint_matrix[self._motions.rows][:, self._free])
        return SaddlePoint(mass, ties, scale=natural_scale(mass))

    def removed_from(self, x: Array) -> Array:
        """Remove the rigid-body part from the columns of x, shape (n, columns), by projection in the metric of the
        mass matrix. x is changed in place and returned."""
        if self.count:
            x[self._free] -= self._nearest.solve(self._mass @ x)[0]
        return x

    def shapes(self, count: int) -> Array:
        """Return the first ``count`` rigid motions of the second-order model as columns that are orthonormal in
        the mass matrix, shape (n, columns). There are fewer columns if the model has fewer rigid motions."""
        n = self._mechanics.size
        first = np.zeros((n, min(count, self.count)))
        first[self._free] = self._motions.basis[:, : first.shape[1]].toarray()
        metric = linalg.cholesky(first.T @ (self._mechanics.mass @ first), lower=True)
        return np.asarray(linalg.solve_triangular(metric, first.T, lower=True).T)


def _rigid_motions(mechanics: LinearMechanics) -> _RigidMotions:
    """Return the rigid motions of a second-order model. They are motions allowed by the constraints, a null space,
    among those coordinates that have no entry in the stiffness matrix. Rigid motions of other coordinates are not
    found here."""
    free = np.flatnonzero(np.diff(mechanics.stiffness.indptr) == 0)
    held = sparse.csr_array(mechanics.constraint_matrix[:, free])
    motions = null_space(held, natural_scale(mechanics.mass)[free], allow_dependent=True)
    return _RigidMotions(mechanics, free, motions)


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
    squares, full = _with_zeros(mechanics, squares, full)
    squares[np.argsort(np.abs(squares))[: rigid.count]] = 0.0
    order = np.argsort(squares, kind="stable")[:count]  # unstable motions come before rigid ones
    return SymmetricModes(squares[order], full[:, order], int((squares == 0).sum()))


def _with_zeros(mechanics: LinearMechanics, squares: Array, shapes: Array) -> tuple[Array, Array]:
    """Return squared frequencies [1/s^2], shape (modes,), and shapes (n, modes) of modes such that low frequencies
    are as accurate as high ones. The given ``squares`` of a solver have errors relative to the largest; modes far
    below it are computed again by Rayleigh-Ritz in the span of their ``shapes``, repeatedly. Squares below the
    round-off of x . K x, with the shape x and the stiffness K of ``mechanics``, become zero.
    """
    K, M, squares, shapes = mechanics.stiffness, mechanics.mass, squares.copy(), shapes.copy()
    low = np.arange(len(squares))
    while len(low := low[np.abs(squares[low]) < LOW * np.abs(squares[low]).max(initial=0.0)]):
        x = shapes[:, low]
        squares[low], turned = linalg.eigh(x.T @ (K @ x), x.T @ (M @ x))
        shapes[:, low] = x @ turned
    eps = np.finfo(float).eps
    size = np.sqrt(eps) * np.abs(shapes) + SHAPE_NOISE * eps * natural_scale(M)[:, None]
    level = NOISE * np.einsum("ij,ij->j", size, abs(K) @ size)
    return np.where(np.abs(squares) <= level, 0.0, squares), shapes


def _few_elastic_modes(mechanics: LinearMechanics, count: int, rigid: _RigidMotions) -> tuple[Array, Array]:
    """Return squared frequencies [1/s^2], ascending, and shapes (n, count) of all elastic modes of a model that has
    few of them and many ``rigid`` motions. ``count`` is their exact number. They are spanned by as many random
    vectors, projected onto motions that joints allow and that are orthogonal to rigid ones. A dense eigenvalue
    problem in this basis follows; low frequencies come from its inverse, which is more accurate.
    """
    mass, scale, rng = mechanics.mass, natural_scale(mechanics.mass), np.random.default_rng(0)
    allowed = SaddlePoint(mass, mechanics.constraint_matrix, scale=scale)
    basis = scale[:, None] * rng.normal(size=(mechanics.size, count))
    for _ in range(2):
        basis = _orthonormal(rigid.removed_from(allowed.solve(mass @ basis)[0]), mass)
    squares, turned = linalg.eigh(basis.T @ (mechanics.stiffness @ basis))
    largest = float(np.abs(squares).max())
    shift = 1e-6 * largest
    if squares[0] > -shift / 2:  # accurate low ones by the inverse problem
        solver = SaddlePoint(mechanics.stiffness + shift * mass, mechanics.constraint_matrix, scale=scale)
        inverse, low_turned = linalg.eigh(basis.T @ (mass @ solver.solve(mass @ basis)[0]))
        low, low_turned = (1 / inverse - shift)[::-1], low_turned[:, ::-1]
        is_low = low < np.sqrt(shift * largest)
        squares, turned = np.where(is_low, low, squares), np.where(is_low, low_turned, turned)
    return squares, np.asarray(basis @ turned)


def _lanczos(
    mechanics: LinearMechanics, count: int, rigid: _RigidMotions, unstable_only: bool
) -> tuple[Array, Array]:
    """Return squared frequencies [1/s^2], ascending, and shapes (n, count) of the ``count`` lowest elastic modes
    of a model, by shift-invert Lanczos iteration (ARPACK). ``rigid`` motions of the model are projected out. With
    ``unstable_only``, empty arrays are returned if the lowest mode is stable. Without convergence it is repeated
    with four times the vectors; if that fails too, ``ModelError`` is raised."""
    n, mass, rng = mechanics.size, mechanics.mass, np.random.default_rng(0)
    shift, solver = _shifted_solver(mechanics, count, rigid, rng)

    def inverse(b: Array) -> Array:
        return rigid.removed_from(solver.solve(b)[0])

    operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    start = inverse(mass @ (natural_scale(mass) * rng.normal(size=n)))

    def lowest(k: int, tolerance: float) -> tuple[Array, Array]:
        for wider in WIDER:
            vectors = int(min(mechanics.freedom - 1, wider * max(2 * count + 10, 24)))
            options = {"v0": start, "tol": tolerance, "ncv": vectors, "maxiter": RESTARTS}
            with suppress(ArpackError):
                squares, shapes = eigsh(mechanics.stiffness, k, mass, sigma=-shift, OPinv=operator, **options)
                order = np.argsort(squares)
                return squares[order], shapes[:, order]
        raise ModelError(
            f"{k} modes: no convergence; many are nearly equal, ask for another count or reduce the model"
        )

    if unstable_only and lowest(1, STABLE)[0][0] > 10 * STABLE * shift:
        return np.zeros(0), np.zeros((n, 0))
    return lowest(count, 0.0)


def _shifted_solver(
    mechanics: LinearMechanics, count: int, rigid: _RigidMotions, rng: np.random.Generator
) -> tuple[float, SaddlePoint]:
    """Return a positive shift s [1/s^2] and a factored solver for K + s M under the constraints of ``mechanics``
    (stiffness K, mass M). Subspace iteration lowers s, in a few factorizations, towards half of the ``count``-th
    lowest squared frequency or less. s stays above instabilities, so that K + s M is positive. ``rigid`` motions
    are projected out; ``rng`` makes the start vectors."""
    mass, stiffness, scale = mechanics.mass, mechanics.stiffness, natural_scale(mechanics.mass)
    diagonal = stiffness.diagonal() * scale**2
    largest = float(np.abs(diagonal).max()) or 1.0
    shift, least = max(1e-4 * largest, -2 * float(diagonal.min())), 1e-13 * largest
    block = scale[:, None] * rng.normal(size=(mechanics.size, count + 4))
    for _ in range(SHIFT_ROUNDS):
        solver = SaddlePoint(stiffness + shift * mass, mechanics.constraint_matrix, scale=scale)
        for _ in range(2):
            block = rigid.removed_from(solver.solve(mass @ block)[0])
            block = _orthonormal(block, mass)
        found = linalg.eigvalsh(block.T @ (stiffness @ block))
        goal = float(np.sort(np.abs(found))[count - 1]) / 2
        if found[0] < -RITZ * np.abs(found).max():  # it has to be above -s, and nearest to it
            least = max(least, -UNSTABLE * float(found[0]))
        if shift >= least and (goal > 0.2 * shift or shift == least):
            return shift, solver
        shift = max(goal / 10, least)  # among so many motions the lowest are far from found
    return shift, SaddlePoint(stiffness + shift * mass, mechanics.constraint_matrix, scale=scale)


def _orthonormal(columns: Array, mass: sparse.csr_array) -> Array:
    """Return a basis of the span of ``columns``, shape (n, k), that is orthonormal in the mass matrix.
    The columns may be nearly linearly dependent."""
    columns = columns / np.sqrt(np.einsum("ij,ij->j", columns, mass @ columns))
    values, vectors = linalg.eigh(columns.T @ (mass @ columns))
    return np.asarray(columns @ (vectors / np.sqrt(np.maximum(values, 1e-15))))


# The stiffness of a stable equilibrium is not negative on the motions that joints allow.

NEGATIVE = 1e-9
ROUND_OFF = 1e-13  # of the largest omega^2, as a negative one of a motion without stiffness
LOOKED_AT, LARGEST_DENSE = 6, 700
SWINGS = 1e-6  # real part of a rate over its size that is round-off


def growth_rate(mechanics: LinearMechanics) -> float:
    """Return the largest rate [1/s] at which a small undamped motion about an equilibrium grows exponentially;
    zero if it is stable. It is the square root of the most negative squared frequency. With forces without
    potential (follower loads), all eigenvalues of a small model count, and the lowest of a large one. Squares
    within round-off of zero count as zero."""
    rate = float(np.sqrt(np.abs(lowest_symmetric_modes(mechanics, 1).squares.min(initial=0.0))))
    if mechanics.without_potential is None or not (rate or mechanics.is_circulatory):
        return rate
    lowest = np.abs(lowest_symmetric_modes(mechanics, 2 * LOOKED_AT).squares)  # the first may be all rigid
    size = float(lowest.max(initial=0.0)) or 1.0
    for _ in range(2):  # once more nearer to the fastest
        inverse = _shifted_inverses(mechanics, 1.37 * size)
        squares = 1.37 * size - 1 / inverse[np.abs(inverse) > ROUND_OFF * np.abs(inverse).max(initial=0.0)]
        rates = np.sqrt(squares.astype(np.complex128))
        grows = (rates.real > SWINGS * np.abs(rates)) & (np.abs(squares) > NEGATIVE * size)
        rate = max(rates[grows], key=np.real, default=0.0)
        size = abs(rate) ** 2 or size
    return float(np.real(rate))


def _shifted_inverses(mechanics: LinearMechanics, shift: float) -> NDArray[np.complex128]:
    """Return 1 / (s + ``shift``) for squared frequencies s of undamped motions [rad^2/s^2], including forces
    without potential (circulatory ones). A small model gives all by a dense eigenvalue problem, a large one the
    greatest, for the lowest s, by Arnoldi iteration (ARPACK). If that does not converge, the dense problem is
    solved. In this inverse form low s have small relative errors."""
    mass, scale = mechanics.mass, natural_scale(mechanics.mass)
    stiffness = sparse.csr_array(mechanics.stiffness + mechanics.circulatory + shift * mass)
    if mechanics.freedom > LARGEST_DENSE:
        solver, draw = SaddlePoint(stiffness, mechanics.constraint_matrix, scale=scale), np.random.default_rng(0)
        operator = LinearOperator(mass.shape, matvec=lambda x: solver.solve(mass @ x)[0], dtype=np.float64)
        with suppress(ArpackError):
            first = operator @ (scale * draw.normal(size=mechanics.size))
            found = eigs(operator, 4 * LOOKED_AT, v0=first, maxiter=RESTARTS, return_eigenvectors=False)
            return np.asarray(found)
    basis = null_space_basis(mechanics.constraint_matrix, scale)
    whole = replace(mechanics, stiffness=stiffness).projected(basis)
    factors = linalg.lu_factor(whole.stiffness.toarray())  # its condition is that of fast beside slow motions
    return np.asarray(linalg.eigvals(linalg.lu_solve(factors, whole.mass.toarray())))


def check_stability(mechanics: LinearMechanics) -> None:
    """Raise an ``EquilibriumError`` if a static equilibrium is unstable, that is, if any small motion about
    it grows exponentially. ``mechanics`` is the second-order model about the equilibrium.

    Raises:
        EquilibriumError: gives the rate at which the motion would grow.
    """
    if rate := growth_rate(mechanics):
        raise EquilibriumError(
            f"the static equilibrium is unstable: an undamped motion grows with exp({rate:.4g} t); move the initial"
            " pose towards the stable one, or give state=; linearize(state=equilibrium().state) is about this one"
        )
