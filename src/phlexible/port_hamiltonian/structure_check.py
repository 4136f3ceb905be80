"""Checks of the port-Hamiltonian structure of a model, which return errors and name the first violating block."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from phlexible.algebra.arrays import Array, reals, whole
from phlexible.algebra.sparse import lu_factors
from phlexible.errors import ParameterError, StructureError
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel, StateGroup, check_model

# Errors of the constant matrices of a linear model in the laws of the port-Hamiltonian form.

SMALL = 1500  # up to this many states, semi-definiteness is checked with dense eigenvalues
LEAST_DIAGONAL = 1e-6
"""Smallest diagonal entry that scales, relative to the largest: round-off of smaller ones exceeds 1e-10 of them."""


def structure_errors(
    structure: sparse.csr_array, dissipation: sparse.csr_array, energy: sparse.csr_array
) -> dict[str, float]:
    """Return relative errors of the matrices J (``structure``), R (``dissipation``) and E^T Q (``energy``) of a
    linear model, as a dictionary. "skewness", "dissipation symmetry" and "storage symmetry" are relative to the
    largest entry. Up to 1500 states, "dissipation" and "storage" are added. These are minus the smallest
    eigenvalue of R or E^T Q, scaled to unit diagonal, or 0 if it is not negative."""
    errors = {
        "skewness": _relative(structure + structure.T, structure),
        "dissipation symmetry": _relative(dissipation - dissipation.T, dissipation),
        "storage symmetry": _relative(energy - energy.T, energy),
    }
    if energy.shape[0] <= SMALL:
        errors["dissipation"] = _negativity(dissipation)
        errors["storage"] = _negativity(energy)
    return errors


def _relative(error: sparse.sparray, matrix: sparse.sparray) -> float:
    """Return the largest absolute entry of the matrix ``error`` divided by that of ``matrix``; 0 if ``error`` or
    ``matrix`` is zero."""
    largest = float(abs(matrix).max()) if matrix.nnz else 0.0
    return float(abs(error).max()) / largest if error.nnz and largest else 0.0


def _negativity(matrix: sparse.csr_array) -> float:
    """Return the size of the smallest eigenvalue of the symmetric part of a sparse matrix, scaled to a unit
    diagonal, if it is negative; else 0. Rows and columns are divided by the root of the diagonal entry, but at
    least of 1e-6 times the largest. Eigenvalues are computed by a dense solver. 0 for a matrix without entries."""
    if not matrix.nnz:
        return 0.0
    dense = matrix.toarray()
    diagonal = np.abs(np.diag(dense))
    scale = 1 / np.sqrt(np.maximum(diagonal, LEAST_DIAGONAL * diagonal.max() or 1.0))
    return float(max(0.0, -np.linalg.eigvalsh(scale[:, None] * (dense + dense.T) / 2 * scale)[0]))


DENSE = 1500
"""Largest size for which eigenvalues and rates are computed with dense matrices."""

ROUND_OFF = 1e-11
GRADIENT = 1e-7
SMOOTH = 1e-8
CLOSER = np.array([1.0, 1e-2, 1e-4, 1e-6])


@dataclass(frozen=True)
class StructureFigures:
    """Errors of a port-Hamiltonian model against its laws at one state; all relative, 0 is perfect.

    Attributes:
        skewness: largest entry of J + J^T.
        symmetry: largest entry of R - R^T.
        definiteness: negative part of the least eigenvalue of R.
        gradient: largest difference of E^T z and the gradient of the storage.
        power: dH/dt along E dx/dt = (J - R) z + B u, minus u.y - z^T R z, for random u.
    """

    skewness: float
    symmetry: float
    definiteness: float
    gradient: float
    power: float


def check_structure(model: PortHamiltonianModel, x: Array, seed: int = 0) -> StructureFigures:
    """Raise ``StructureError`` if a port-Hamiltonian model violates its laws at the state x beyond round-off,
    otherwise return the relative errors (``StructureFigures``). The laws are J skew, R symmetric and positive
    semi-definite, and E^T z the gradient of H, by finite differences. The power balance dH/dt = u.y - z^T R z is
    tested for random inputs u of the ``seed``. Limits are 1e-11, for the gradient 1e-7.

    If E is singular its algebraic rows need not vanish at x: their missing power, z times the residual, is
    taken into account, so that any x will do.

    Args:
        model: any model.
        x: a state, shape (n,).
        seed: of the random inputs.

    Raises:
        ModelError, ParameterError: not a model, or not a state of it.
        StructureError: a law is violated; the message names the blocks of states, with the figure.

    Example:
        >>> form = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(210e9, 7850.0)).port_hamiltonian()
        >>> errors = ph.check_structure(form, form.rest_state)
        >>> errors.skewness
        0.0
    """
    check_model("model", model)
    x = reals("x", x, f"a state of shape ({model.state_size},)")
    if x.shape != (model.state_size,) or not np.isfinite(x).all():
        raise ParameterError(f"x must be {model.state_size} finite numbers, got shape {x.shape}")
    seed = whole("seed", seed, least=0)
    try:
        return _figures(model, x, seed)
    except StructureError as error:
        if not model.flaw:
            raise
        raise StructureError(f"{error}: {model.flaw}") from None


def _figures(model: PortHamiltonianModel, x: Array, seed: int) -> StructureFigures:
    """Return the relative errors of a model against the port-Hamiltonian laws at the state x, shape (n,). The laws
    are J skew, R symmetric and positive semi-definite, E^T z the gradient of H, and dH/dt = u.y - z^T R z. The
    inputs u in the last one are normal random numbers of the ``seed``. Raise ``StructureError`` for the first
    error above 1e-11 (gradient: 1e-7)."""
    structure, dissipation = model.structure_matrix(x), model.dissipation_matrix(x)
    skewness = _check_entries(model, structure + structure.T, structure, "J is not skew")
    symmetry = _check_entries(model, dissipation - dissipation.T, dissipation, "R is not symmetric")
    definiteness = _check_definiteness(model, dissipation)
    slope, gradient = _check_gradient(model, x)
    return StructureFigures(skewness, symmetry, definiteness, gradient, _check_power(model, x, slope, seed))


def storage_slope(model: PortHamiltonianModel, x: Array) -> tuple[Array, Array, Array]:
    """Return the gradient of the stored energy of a model at the state x, its round-off error, and the size of
    derivatives nearby, each (n,). The gradient is a central difference of six points, whose step is reduced up to
    1e6-fold until a four-point difference agrees. The size is the largest mean slope over three steps.

    At rest, where dH/dx vanishes, errors are compared with the slopes some steps away. If five points give another
    value, as close to the opening of a contact, the distance of the points is reduced.
    """
    slope, noise, nearby = np.zeros(len(x)), np.zeros(len(x)), np.zeros(len(x))
    level = model.storage(x)
    for block in model.states:
        part = model.state_slice(block.name)
        size = float(np.abs(x[part]).max(initial=0.0))
        step = 3e-3 * (size if size > 0 else 1.0)
        for i in range(part.start, part.stop):
            shift = np.zeros(len(x))
            for length in step * CLOSER:
                shift[i] = length
                before, after = ([model.storage(x + sign * k * shift) for k in (1, 2, 3)] for sign in (-1, 1))
                slope[i] = np.dot((45, -9, 1), change := np.subtract(after, before)) / (60 * length)
                noise[i] = 20 * np.finfo(float).eps * max(map(abs, [level, *before, *after])) / length
                nearby[i] = max(
                    nearby[i], abs(before[2] - level) / (3 * length), abs(after[2] - level) / (3 * length)
                )
                if abs(slope[i] - (8 * change[0] - change[1]) / (12 * length)) <= noise[i] + SMOOTH * nearby[i]:
                    break
    return slope, noise, nearby


def _check_entries(model: PortHamiltonianModel, gap: Matrix, matrix: Matrix, law: str) -> float:
    """Return the largest entry by magnitude of the matrix ``gap``, which should vanish. Each entry is divided by
    the largest entry of the block of ``matrix`` at the same place, or at the transposed place. Blocks are the rows
    and columns of two state blocks of the ``model``. If the result exceeds 1e-11, raise ``StructureError`` with
    the name of the violated ``law`` and of the two state blocks."""
    entries = sparse.coo_array(gap)
    row = column = 0
    figure = 0.0
    for a, b, value in _block_gaps(model, entries):
        scale = _block_size(model, matrix, a, b)
        if value / scale > figure:
            figure, (row, column) = value / scale, (a, b)
    if figure > ROUND_OFF:
        first, second = model.states[row].name, model.states[column].name
        raise StructureError(f"{law} in block ({first}, {second}): relative gap {figure:.3g}")
    return figure


def _block_gaps(model: PortHamiltonianModel, entries: sparse.coo_array) -> list[tuple[int, int, float]]:
    """Return the largest absolute entry of a sparse matrix in each block of it. A block has the rows of one state
    block of the ``model`` and the columns of another or the same. The result is a list of tuples (row block,
    column block, entry). Blocks whose entries are all zero are left out."""
    owner = np.repeat(np.arange(len(model.states)), [block.size for block in model.states])
    table = np.zeros((len(model.states), len(model.states)))
    np.maximum.at(table, (owner[entries.coords[0]], owner[entries.coords[1]]), np.abs(entries.data))
    return [(int(a), int(b), float(table[a, b])) for a, b in np.argwhere(table > 0)]


def _block_size(model: PortHamiltonianModel, matrix: Matrix, a: int, b: int) -> float:
    """Return the largest absolute entry of a matrix in the block (a, b) and in its mirror block (b, a), at least
    1e-300. The indices are those of two state blocks of a model."""
    first, second = (model.state_slice(model.states[k].name) for k in (a, b))
    here, there = abs(matrix[first, second]), abs(matrix[second, first])
    return max(float(here.max()), float(there.max()), 1e-300)


def _check_definiteness(model: PortHamiltonianModel, matrix: Matrix) -> float:
    """Return the size of the smallest eigenvalue of the symmetric part of the dissipation ``matrix`` R if it is
    negative, else 0. It is relative to the largest absolute eigenvalue; above 1500 states, to the largest entry,
    and by Lanczos iteration. If the result exceeds 1e-11, raise ``StructureError`` with the worst state block of
    the ``model``."""
    n = matrix.shape[0]
    if n == 0 or abs(matrix).max() == 0:
        return 0.0
    symmetric = sparse.csr_array((matrix + matrix.T) / 2)
    if n <= DENSE:
        values, vectors = np.linalg.eigh(symmetric.toarray())
        least, vector, largest = values[0], vectors[:, 0], np.abs(values).max()
    else:
        values, vectors = eigsh(symmetric, k=1, which="SA", tol=1e-6)
        least, vector, largest = values[0], vectors[:, 0], abs(symmetric).max()
    figure = max(0.0, -float(least) / float(largest))
    if figure > ROUND_OFF:
        raise StructureError(
            f"R is not positive semi-definite in block {_block_at(model, np.abs(vector)).name}: "
            f"an eigenvalue is {figure:.3g} of the largest, and negative"
        )
    return figure


def _check_gradient(model: PortHamiltonianModel, x: Array) -> tuple[Array, float]:
    """Return E^T z of a model at the state x, shape (n,), and its largest relative error against the gradient of
    the stored energy H. z are the efforts and E is the descriptor matrix. The gradient is computed by finite
    differences, whose round-off is subtracted from the error. Errors are relative to the largest derivative nearby
    in the same state block. Above 1e-7, raise ``StructureError`` with the block."""
    efforts = np.asarray(model.descriptor_matrix(x).T @ model.effort(x))
    slope, noise, nearby = storage_slope(model, x)
    largest = 0.0
    for block in model.states:
        part = model.state_slice(block.name)
        gap = np.maximum(np.abs(efforts[part] - slope[part]) - noise[part], 0.0)
        scale = float(nearby[part].max(initial=0.0)) + float(noise[part].max(initial=0.0))
        figure = float(gap.max(initial=0.0)) / scale if scale > 0 else float(np.abs(efforts[part]).max(initial=0))
        if figure > GRADIENT:
            raise StructureError(f"E^T z is not the gradient of H in block {block.name}: relative gap {figure:.3g}")
        largest = max(largest, figure)
    return efforts, largest


def _check_power(model: PortHamiltonianModel, x: Array, slope: Array, seed: int) -> float:
    """Check the power balance of a port-Hamiltonian ``model`` at the state ``x`` with normal random inputs u of
    ``seed``, and return its relative error. The power dH/dt is ``slope`` (gradient of H) times the rates dx/dt that
    solve E dx/dt = f(x, u) best. It must equal u.y - z^T R z minus z.(f - E dx/dt), the power of what these rates
    leave over; z are the efforts. The error is divided by the sum of all absolute powers. Above 1e-11, raise
    ``StructureError`` that names the state block with the greatest power.
    """
    z, u = model.effort(x), np.random.default_rng(seed).normal(size=model.port_size)
    forces, descriptor = model.forces(x, u), model.descriptor_matrix(x)
    rate = _least_rate(descriptor, forces)
    residual_power = float(z @ (forces - descriptor @ rate))
    supplied = float(u @ model.output(x))
    dissipated = float(z @ (model.dissipation_matrix(x) @ z))
    parts = np.abs(slope * rate).sum() + np.abs(z * forces).sum() + abs(supplied) + abs(dissipated)
    gap = abs(float(slope @ rate) - (supplied - dissipated - residual_power))
    figure = gap / float(parts) if parts > 0 else 0.0
    if figure > ROUND_OFF:
        by_row = np.abs(z * forces)
        raise StructureError(
            f"power is not balanced, greatest share in block {_block_at(model, by_row).name}: "
            f"dH/dt differs from u.y - z^T R z by {figure:.3g} of the power that flows"
        )
    return figure


def _least_rate(descriptor: Matrix, forces: Array) -> Array:
    """Return rates dx/dt, shape (n,), that solve E dx/dt = ``forces`` for a descriptor matrix E that may be
    singular. Up to 1500 states they are the least-squares solution of minimum norm in scaled variables. For more
    states sparse LU factors are used, with rate 0 for empty rows of E."""
    if descriptor.shape[0] > DENSE:
        matrix = sparse.csr_array(descriptor)
        empty = np.asarray(abs(matrix).sum(axis=1)).ravel() == 0
        filled = matrix + sparse.diags_array(empty.astype(np.float64))
        return np.asarray(lu_factors(filled).solve(np.where(empty, 0.0, forces)))
    dense = descriptor.toarray() if sparse.issparse(descriptor) else np.asarray(descriptor)
    size = np.sqrt(np.abs(dense).max(axis=1, initial=0.0) * np.abs(dense).max(axis=0, initial=0.0))
    scale = 1 / np.sqrt(np.where(size == 0, 1.0, size))
    solution = np.linalg.lstsq(scale[:, None] * dense * scale, scale * forces, rcond=1e-13)[0]
    return np.asarray(scale * solution)


def _block_at(model: PortHamiltonianModel, values: Array) -> StateGroup:
    """Return the state block of a model that contains the largest of the ``values``, shape (n,), one for each entry
    of the state."""
    worst = int(np.argmax(values))
    ends = np.cumsum([block.size for block in model.states])
    return model.states[int(np.searchsorted(ends, worst, side="right"))]
