"""Elastic coordinates of a beam: its frame, modes and reduced bases (docs/theory.md, 2 and 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import (
    Array,
    DampingRatio,
    IntArray,
    damping_ratios,
    read_only,
    reals,
    set_fields,
    signed_columns,
)
from phlexible.algebra.sparse import Matrix, as_array
from phlexible.bodies.beam.mesh import BeamInertia, BeamMesh, Family, NodeComponent, momentum_rows
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.floating_body import StrainEnergy
from phlexible.display import how_many
from phlexible.errors import ParameterError

# Frames: conditions at the beam that define the body frame, and so which motion is elastic (docs/theory.md, 2, 3).


class Frame(StrEnum):
    """Choice of the conditions that tie the body frame to a flexible beam and thereby define which part of its
    motion is elastic. In every frame the undeformed beam lies on 0 <= x <= length.

    CANTILEVER: frame clamped to the start. SIMPLY_SUPPORTED: origin at the start, x axis through
    the end, no twist at the start. MEAN_AXIS: elastic motion carries neither linear nor angular
    momentum of the straight beam. AUTO: CANTILEVER where a ``Fixed`` joint holds the start, else
    SIMPLY_SUPPORTED; outside of a model, and of beams with a basis, CANTILEVER.
    """

    AUTO = "auto"
    CANTILEVER = "cantilever"
    SIMPLY_SUPPORTED = "simply_supported"
    MEAN_AXIS = "mean_axis"


@dataclass(frozen=True, eq=False)
class BeamBasis:
    """Basis of the elastic coordinates eta of a beam: ``columns @ eta`` are the finite element coordinates of the
    free beam, shape (mesh.size,).

    Attributes:
        columns: shape (mesh.size, n).
        families: family of each elastic coordinate, shape (n,).
    """

    columns: Matrix
    families: IntArray


LONG = 256
"""Number of coordinates above which nodal bases are sparse; below, dense arrays are as fast."""


def frame_basis(frame: Frame, mesh: BeamMesh, inertia: Callable[..., BeamInertia], is_sparse: bool) -> BeamBasis:
    """Return a beam's basis, a matrix (mesh.size, n) from elastic to mesh coordinates. Coordinates that the
    ``frame`` sets to zero have zero rows: all of the first node (cantilever, "auto"), or simple supports. Each
    other coordinate has a unit column. For the mean axis, the supports' rows follow instead from zero momentum,
    with ``inertia(mesh)``. Above 256 columns the basis is sparse if ``is_sparse``, except for the mean axis.

    Args:
        inertia: function that returns the inertia of the beam, which defines the mean axis.
        is_sparse: whether the basis of a long beam is a sparse matrix (never for the mean axis, whose columns are
            full).
    """
    clamped = [mesh.index(0, component) for component in mesh.components()]
    removed = clamped if frame in (Frame.CANTILEVER, Frame.AUTO) else _simple_supports(mesh)
    kept = np.delete(np.arange(mesh.size), removed)
    if is_sparse and frame is not Frame.MEAN_AXIS and len(kept) > LONG:
        ones = (np.ones(len(kept)), (kept, np.arange(len(kept))))
        return BeamBasis(sparse.coo_array(ones, (mesh.size, len(kept))).tocsr(), mesh.families()[kept])
    columns = np.eye(mesh.size)[:, kept]
    if frame is Frame.MEAN_AXIS:
        conditions = momentum_rows(mesh, inertia(mesh))
        columns[removed] = -np.linalg.solve(conditions[:, removed], conditions[:, kept])
    return BeamBasis(columns, mesh.families()[kept])


def clamped_coordinates(columns: Array, basis: BeamBasis, mesh: BeamMesh) -> Array:
    """Convert k deformations of a beam to coordinates of the frame clamped at its start, shape (n, k). They are
    given as ``columns`` (m, k) of elastic coordinates of ``basis``. From each deformation, the rigid motion with
    its displacement and rotation at the start is subtracted. Then the entries of the start, which are zero, are
    dropped. ``mesh`` is the finite element mesh."""
    deformed = basis.columns @ columns
    clamped = [mesh.index(0, component) for component in mesh.components()]
    kept = np.setdiff1d(np.arange(mesh.size), clamped)
    return np.asarray((deformed - mesh.rigid_motions() @ deformed[clamped])[kept])


def coordinate_units(mesh: BeamMesh, columns: Matrix, other_unit: str) -> tuple[str, ...]:
    """Return the unit of each elastic coordinate of a beam as text. It is "m" or "rad" if the coordinate is itself
    a mesh coordinate (a displacement or an angle), else ``other_unit``. ``columns`` (mesh.size, n) times elastic
    coordinates are mesh coordinates; a coordinate is recognized by a row with 1 as its only entry."""
    rows, used = columns.nonzero()
    values = columns[rows, used] if isinstance(columns, np.ndarray) else columns.data
    alone = (np.bincount(rows, minlength=mesh.size)[rows] == 1) & (values == 1)
    result, is_angle = [other_unit] * columns.shape[1], mesh.is_angle()
    for row, column in zip(rows[alone].tolist(), used[alone].tolist(), strict=True):
        if result[column] == other_unit:  # of its first row
            result[column] = "rad" if is_angle[row] else "m"
    return tuple(result)


def _simple_supports(mesh: BeamMesh) -> list[int]:
    """Return the indices of the mesh coordinates of a beam that a simply supported frame sets to zero:
    displacements and twist at the start, deflections at the end."""
    start = [NodeComponent.AXIAL, NodeComponent.DEFLECTION_Y, NodeComponent.DEFLECTION_Z, NodeComponent.TWIST]
    end = [NodeComponent.DEFLECTION_Y, NodeComponent.DEFLECTION_Z]
    present = mesh.components()
    return [mesh.index(0, component) for component in start if component in present] + [
        mesh.index(-1, component) for component in end if component in present
    ]


# A basis of elastic coordinates that a user passes to a body, with equality by value.

SPANNED = 1e-6  # a smaller remainder of a column, relative in the energy metric, is round-off


@dataclass(frozen=True, eq=False)
class ReducedBasis:
    """Basis of reduced elastic coordinates eta of a body: ``columns @ eta``, shape (n,), are all its elastic
    coordinates. Two bases are equal if their numbers are.

    Attributes:
        columns: shape (n, k), 1 <= k <= n, linearly independent; stored read-only.

    Raises:
        ParameterError: another shape, numbers that are not finite, or columns that depend on each other.
    """

    columns: ArrayLike

    def __post_init__(self) -> None:
        columns = reals("modes as a basis", self.columns, "an array of numbers")
        if columns.ndim != 2 or not 1 <= columns.shape[1] <= columns.shape[0]:
            raise ParameterError(
                "modes as a basis must have shape (n, k), one column for each of 1 <= k <= n coordinates, "
                f"got shape {columns.shape}"
            )
        if not np.isfinite(columns).all():
            raise ParameterError("modes as a basis must be finite")
        set_fields(self, columns=read_only(columns))

    @property
    def array(self) -> Array:
        """Columns of this basis of reduced elastic coordinates as an array, shape (n, k)."""
        return np.asarray(self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReducedBasis) and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.array.shape, self.array.tobytes()))

    def __repr__(self) -> str:
        return f"ReducedBasis({self.array.shape[0]} coordinates, {how_many(self.array.shape[1], 'column')})"


def independent_columns(basis: Array, columns: Array, stiffness: Array) -> Array:
    """Return ``basis`` (n, k), followed by the ``columns`` that are linearly independent of all columns before
    them, unchanged, shape (n, m). Independence is tested by Gram-Schmidt orthogonalization, twice, in the inner
    product of ``stiffness`` (n, n). A column scaled to norm 1 is independent if its part orthogonal to the columns
    before has a norm above 1e-6. Zero columns are dropped."""
    lower = np.linalg.cholesky(stiffness)
    spanned = np.linalg.qr(lower.T @ basis)[0]
    kept = [basis]
    for column in columns.T:
        size = float(np.linalg.norm(lower.T @ column))
        if size == 0:
            continue
        rest = lower.T @ column / size
        for _ in range(2):
            rest = rest - spanned @ (spanned.T @ rest)
        left = float(np.linalg.norm(rest))
        if left > SPANNED:
            spanned = np.hstack([spanned, rest[:, None] / left])
            kept.append(column[:, None])
    return np.hstack(kept)


# Modes of a beam constrained by its frame: reduction to the lowest ones, and modal damping (docs/theory.md, 3).

TIE = 1e-6  # of squared frequencies; round-off of the lowest of a fine mesh stays well below
COUPLED = 1e-9  # of the geometric mean of the diagonal
ROUND_OFF = 1e-12  # of an entry of a mode of unit mass, times the root of the mass of its coordinate


def modal_basis(basis: BeamBasis, mass: Array, stiffness: Array, modes: int) -> BeamBasis:
    """Return a beam's reduced basis: all axial coordinates unchanged, then the ``modes`` lowest vibration modes of
    bending and torsion, with unit modal mass. ``mass`` and ``stiffness`` are dense matrices in the coordinates of
    ``basis``. If stretch is coupled with bending, axial coordinates follow the modes statically. Modes are sorted
    by main kind (bending in y, in z, torsion), then frequency. Raise ``ParameterError`` for more modes than
    coordinates.

    Axial coordinates stay because bending modes alone have no axial displacement and would lock (3.8). Modes are
    mass-normalised, their largest component is positive; where sections do not couple them, each is pure bending in
    y, in z or torsion. They are sorted in this order, and within a kind by frequency, which also decides between
    equal frequencies. Where stretch is coupled with bending or torsion, the axial coordinates follow statically.

    Args:
        mass, stiffness: of the coordinates of ``basis``, shape (n, n).

    Raises:
        ParameterError: there are fewer modes than asked for.
    """
    axial = np.flatnonzero(basis.families == Family.AXIAL)
    across = np.flatnonzero(basis.families != Family.AXIAL)
    coupling, block = stiffness[np.ix_(axial, across)], np.ix_(across, across)
    reduced_mass, reduced_stiffness = mass[block], stiffness[block]
    if coupling.any():
        following = np.zeros((len(basis.families), len(across)))
        following[across] = np.eye(len(across))
        following[axial] = -np.linalg.solve(stiffness[np.ix_(axial, axial)], coupling)
        reduced_mass, reduced_stiffness = (following.T @ matrix @ following for matrix in (mass, stiffness))
    weights = np.sqrt(np.diag(mass))
    candidates: list[tuple[float, int, Array]] = []
    for members in _decoupled_groups(basis.families[across], reduced_mass, reduced_stiffness):
        block = np.ix_(members, members)
        squares, vectors = _vibration_modes(reduced_stiffness[block], reduced_mass[block])
        shapes = np.zeros((len(basis.families), len(squares)))
        shapes[across[members]] = signed_columns(vectors)
        shapes[np.abs(shapes) * weights[:, None] < ROUND_OFF] = 0.0  # nodes of a mode in elements' nodes
        kinds = basis.families[across[members][np.abs(vectors).argmax(axis=0)]]
        candidates += zip(squares.tolist(), kinds.tolist(), shapes.T, strict=True)
    if modes > len(candidates):
        raise ParameterError(
            f"modes must be at most {len(candidates)}, the bending and torsion coordinates of these elements, "
            f"got {modes}; take fewer modes or more elements"
        )
    candidates.sort(key=lambda mode: mode[0])
    _sort_equal_frequencies(candidates)
    retained = sorted(candidates[:modes], key=lambda mode: mode[1])
    selection = np.column_stack([np.eye(len(basis.families))[:, axial], *(shape for _, _, shape in retained)])
    families = np.concatenate([basis.families[axial], [family for _, family, _ in retained]]).astype(np.int64)
    return BeamBasis(basis.columns @ selection, families)


def _decoupled_groups(families: IntArray, mass: Array, stiffness: Array) -> list[IntArray]:
    """Return index arrays of the elastic coordinates of a beam, in groups that neither mass nor stiffness couple.
    Each group consists of whole families (bending in y, bending in z, torsion); ``families`` has the family of
    each coordinate. Two families are coupled if an entry between them exceeds 1e-9 of the geometric mean of the
    two diagonal entries, or through a third family."""
    kinds = sorted(set(families.tolist()))
    belongs, coupled = families == np.array(kinds)[:, None], np.eye(len(kinds), dtype=bool)
    for matrix in (mass, stiffness) if len(kinds) > 1 else ():
        scale = 1 / np.sqrt(matrix.diagonal())
        coupled |= belongs @ (np.abs(matrix) * scale[:, None] * scale > COUPLED) @ belongs.T
    groups = {tuple(row) for row in (coupled @ coupled).tolist()}  # also through the third family
    return [np.flatnonzero(belongs[list(row)].any(axis=0)) for row in sorted(groups, reverse=True)]


def _vibration_modes(stiffness: Array, mass: Array) -> tuple[Array, Array]:
    """Solve the eigenproblem K phi = omega^2 M phi of two dense symmetric matrices by LAPACK's dsygvd. Return the
    squared angular frequencies [rad2/s2], ascending, shape (n,), and the modes of unit modal mass as columns,
    shape (n, n). Raise ``LinAlgError`` if M is not positive definite or the solution does not converge."""
    from scipy.linalg import lapack

    # scipy.linalg.eigh calls it too, and takes three times as long for matrices of a beam:
    squares, vectors, failure = lapack.dsygvd(stiffness, mass)
    if failure:
        raise np.linalg.LinAlgError("the mass matrix of a beam is not positive definite")
    return squares, vectors


def modal_damping(mass: Matrix, stiffness: Matrix, ratio: DampingRatio, axial: int = 0) -> Matrix:
    """Return the damping matrix C = 2 sum_i ratio_i omega_i (M phi_i)(M phi_i)^T, shape (n, n). phi_i are all
    vibration modes of ``mass`` M and ``stiffness``, from a dense eigenproblem. A sequence of ratios is for modes
    in ascending order of frequency. The ``axial`` modes with the least kinetic energy in bending and torsion are
    not counted and get the last ratio. Zero if all ratios are zero.

    The matrix is full, unless all ratios are zero and M is sparse.
    """
    ratios = damping_ratios(ratio, mass.shape[0] - axial)
    if not ratios.any() or not mass.shape[0]:
        return 0.0 * mass if isinstance(mass, np.ndarray) else sparse.csr_array(mass.shape)
    squares, vectors = _vibration_modes(as_array(stiffness), as_array(mass))
    across = np.einsum("ik,ij,jk->k", vectors[axial:], mass[axial:, axial:], vectors[axial:])
    modal_ratios = np.full(len(squares), ratios[-1])
    modal_ratios[np.sort(np.argsort(across)[axial:])] = ratios
    momenta = mass @ vectors * (2 * modal_ratios) ** 0.5 * np.maximum(squares, 0.0) ** 0.25
    return np.asarray(momenta @ momenta.T)


def _sort_equal_frequencies(modes: list[tuple[float, int, Array]]) -> None:
    """Sort, in place, vibration modes with equal frequency (squares within a relative 1e-6) by their kind: bending
    in y, in z, torsion. A mode is a tuple of squared frequency, kind and shape. Modes have to be in ascending
    order, which is not checked."""
    start = 0
    for i in range(1, len(modes) + 1):
        if i == len(modes) or modes[i][0] > modes[start][0] * (1 + TIE):
            modes[start:i] = sorted(modes[start:i], key=lambda mode: mode[1])
            start = i


# Reduced bases of a beam: Craig-Bampton shapes, axial coordinates for them, and the check for locking.
#
# A basis of bending shapes alone stretches the beam whenever it bends: with von Karman strain it is far too
# stiff (membrane locking, (3.8); docs/theory.md, 3). The remedy is axial displacement that follows
# the bending: all axial coordinates, or their static condensation. Without axial inertia the normal force is
# constant along the beam, ``u' + (v'^2 + w'^2)/2 = const``, so that u' lies in the span of a constant and of
# the products ``v_i' v_j' + w_i' w_j'`` of the bending shapes (static modal derivatives).

DEPENDENT = 1e-10
SPANNED_ENERGY = 1e-9  # a smaller rest of an axial shape of unit energy lies in the span of the others
LOCKED = 1e-2  # largest part of the mean squared slopes that the axial displacements of the basis may leave


class Axial(StrEnum):
    """Choice of the axial displacements that complete a basis of bending shapes, so that bending does not stretch
    the beam.

    ALL: every axial coordinate. CONDENSED: only the axial displacements that follow bending, and one constant
    tension.
    """

    ALL = "all"
    CONDENSED = "condensed"


def check_basis(columns: Array, strain: StrainEnergy) -> None:
    """Raise ``ParameterError`` if columns (n, k) of a user's reduced basis of a beam are zero, linearly dependent,
    or would lock. ``strain`` is the strain energy in all n coordinates; its norm is used. To test locking,
    products of two columns' deflection derivatives are averaged over each element. Each must be represented by the
    columns' axial strains within 1 % of its norm.

    Args:
        columns: shape (n, k).
        strain: of all n coordinates.

    Raises:
        ParameterError: naming the remedy.
    """
    lower = np.linalg.cholesky(linear_stiffness(strain))
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
    unbalanced = float(np.linalg.norm(products - followed @ (followed.T @ products), axis=0).max())
    if unbalanced > LOCKED:
        raise ParameterError(
            f"the basis in modes would lock: its axial displacements leave out {100 * unbalanced:.3g} % of the "
            "shortening by bending. Complete it with modes=beam.with_axial(basis, dimension), "
            'or take strain="linear"'
        )


def with_axial_columns(columns: Array, strain: StrainEnergy, axial: IntArray, kind: Axial) -> Array:
    """Return axial displacement shapes, followed by ``columns`` of a reduced beam basis, shape (n, m), so that
    bending does not lock. If ``kind`` is ``Axial.ALL``, the axial shapes are unit vectors of all axial coordinates
    (indices ``axial``). Otherwise they balance a constant tension and the products of deflection derivatives of
    two columns. Linearly dependent columns are dropped. ``strain`` is the von Karman strain energy.

    Args:
        columns: shape (n, k); their axial parts stay for ``CONDENSED``, and lie in the added span for ``ALL``.
        strain: of all n coordinates, von Karman.
        axial: which of the coordinates are axial, shape (a,).
        kind: which axial coordinates to add.
    """
    n, stiffness = len(columns), linear_stiffness(strain)
    if kind is Axial.ALL:
        across = columns.copy()
        across[axial] = 0.0
        return independent_columns(np.eye(n)[:, axial], across, stiffness)
    sizes = np.sqrt(np.einsum("ij,ij->j", columns, stiffness @ columns))
    tension = strain.weights.mean() / strain.weights  # strains of one tension along the beam
    targets = np.column_stack([tension, _slope_products(columns / sizes, strain)])
    following = np.zeros((n, targets.shape[1]))
    following[axial] = np.linalg.solve(strain.rows[:, axial], targets)
    return independent_columns(_orthogonal_basis(following, stiffness), columns, stiffness)


def _orthogonal_basis(columns: Array, stiffness: Array) -> Array:
    """Return an orthogonal basis of the span of ``columns`` (n, k) in the inner product of the matrix
    ``stiffness``, shape (n, m), m <= k. The first column, which must not be zero, is returned unchanged. The
    others come from a singular value decomposition of the parts orthogonal to it, and get its energy norm.
    Singular values below 1e-9, for columns scaled to norm 1, are dropped."""
    lower = np.linalg.cholesky(stiffness)
    sizes = np.linalg.norm(lower.T @ columns, axis=0)
    unit = columns[:, sizes > 0] / sizes[sizes > 0]
    rest = unit[:, 1:] - np.outer(unit[:, 0], (lower.T @ unit[:, 0]) @ (lower.T @ unit[:, 1:]))
    _, values, mixed = np.linalg.svd(lower.T @ rest, full_matrices=False)
    is_independent = values > SPANNED_ENERGY
    return np.asarray(sizes[0] * np.hstack([unit[:, :1], rest @ mixed[is_independent].T / values[is_independent]]))


def craig_bampton_columns(mesh: BeamMesh, frame: BeamBasis, mass: Array, stiffness: Array, modes: int) -> Array:
    """Return the Craig-Bampton basis of a beam for bending and torsion in the n coordinates of its ``frame``,
    shape (n, k). Columns are static shapes for unit motions of both ends, then ``modes`` vibration modes with both
    ends clamped. ``mass`` and ``stiffness`` are the matrices of the free beam. Linearly dependent columns are
    dropped. Raise ``ParameterError`` for too many modes.

    R. R. Craig, M. C. C. Bampton, *Coupling of substructures for dynamic analyses*, AIAA Journal 6, 1968.
    Both are computed for the free beam and then transformed to the frame, so that the span is the same in every
    frame.

    Args:
        frame: the n coordinates that the columns are over.
        mass, stiffness: of the free beam, shape (mesh.size, mesh.size).
        modes: number of modes with both ends clamped.

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
    inner_modes = modal_basis(
        BeamBasis(np.eye(mesh.size)[:, inner], families[inner]), mass[block], stiffness[block], modes
    ).columns
    elastic = np.linalg.solve(np.hstack([frame.columns, mesh.rigid_motions()]), np.hstack([static, inner_modes]))
    n = frame.columns.shape[1]
    return independent_columns(np.zeros((n, 0)), elastic[:n], frame.columns.T @ stiffness @ frame.columns)


def _slope_products(columns: Array, strain: StrainEnergy) -> Array:
    """Return the products of the deflection derivatives w' of each pair of bending shapes of a beam, averaged over
    each element, shape (elements, pairs). Pairs of a column of ``columns`` with itself are included; columns
    without bending are left out. Products are divided by the norms of both mean squares; columns with norm below
    1e-10 are left out. ``strain`` has the matrix of w' and its quadrature weights."""
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
    products = np.array(pairs).reshape(len(pairs), count).T
    return np.asarray(products[:, np.linalg.norm(products, axis=0) > DEPENDENT])  # zero: of y with z
