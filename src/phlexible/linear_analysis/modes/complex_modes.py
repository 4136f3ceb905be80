"""Modes with damping or gyroscopic terms: eigenvalues s of ``s^2 M + s (D + C) + K`` with ``G x = 0``.

Small models: first-order form (L^T x, v) of [B] (45) in coordinates of unit mass, K = L L^T, whose matrix
is skew without damping: one Hermitian eigenvalue problem, eigenvalues exactly imaginary. Large
models: shift-invert Arnoldi (ARPACK) around a real shift, with the sparse LU of the second-order form.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigs

from phlexible.algebra.arrays import Array
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.symmetric_modes import all_symmetric_modes, lowest_symmetric_modes
from phlexible.linear_analysis.saddle_point import ConstrainedSolver, natural_scale

ComplexArray = NDArray[np.complex128]

DENSE = 700
ZERO = 1e-10


def lowest_complex_modes(mechanics: LinearMechanics, count: int) -> tuple[ComplexArray, ComplexArray, int]:
    """At most ``count`` eigenvalues with Im >= 0, ascending, shapes (n, count), number of rigid modes."""
    freedom = mechanics.size - mechanics.constraint_matrix.shape[0]
    if freedom <= DENSE or 4 * count + 20 > freedom:
        values, shapes = _dense(mechanics)
    else:
        values, shapes = _arnoldi(mechanics, 2 * count + 6)
    upper = values.imag > -ZERO * np.abs(values).max(initial=0.0)
    values, shapes = values[upper], shapes[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    values, shapes = values[order], shapes[:, order]
    level = np.abs(values[min(count + 6, len(values)) - 1]) if len(values) else 0.0
    zero = np.abs(values) <= 1e-7 * level
    values = np.where(zero, 0.0, values)
    rigid = int(zero.sum())
    shapes = shapes / np.maximum(
        np.sqrt(np.einsum("ij,ij->j", shapes.conj(), mechanics.mass @ shapes).real), 1e-300
    )
    return values[:count], shapes[:, :count], rigid


def _dense(mechanics: LinearMechanics) -> tuple[ComplexArray, ComplexArray]:
    """All eigenvalues. Undamped modes are the coordinates: they keep the lowest accurate in a stiff model."""
    undamped = all_symmetric_modes(mechanics)
    shapes, squares = undamped.shapes, undamped.squares
    small = mechanics.projected(shapes)
    D, C = small.velocity.toarray(), small.damping.toarray()
    kept = squares != 0  # positions of rigid motions are no states: a double zero counts once
    one, r = np.eye(len(squares)), int(kept.sum())
    if (squares < 0).any():  # no sum of squares: a static instability that rotation may hold
        first_order = np.block([[np.zeros((r, r)), one[kept]], [-np.diag(squares)[:, kept], -D - C]])
        found, states = linalg.eig(first_order)
    else:
        L = np.diag(np.sqrt(squares))[:, kept]
        first_order = np.block([[np.zeros((r, r)), L.T], [-L, -(D - D.T) / 2 - C]])
        if mechanics.is_damped:
            found, states = linalg.eig(first_order)
        else:
            omega, states = linalg.eigh(-1j * first_order)
            found = 1j * omega
    motion = states[r:]
    return np.asarray(found, dtype=np.complex128), np.asarray(shapes @ motion, dtype=np.complex128)


def _arnoldi(mechanics: LinearMechanics, count: int) -> tuple[ComplexArray, ComplexArray]:
    n, mass, rates = mechanics.size, mechanics.mass, mechanics.velocity + mechanics.damping
    scale, rng = natural_scale(mass), np.random.default_rng(0)
    shift = _shift(mechanics, scale)
    dynamic = sparse.csr_array(mechanics.stiffness + shift * rates + shift**2 * mass)
    solver = ConstrainedSolver(dynamic, mechanics.constraint_matrix, scale)

    def inverse(b: Array) -> Array:
        """(A - shift E)^-1 E b for the states (x, v)."""
        x, v = b[:n], b[n:]
        moved = solver.solve(-(mass @ v) - rates @ x - shift * (mass @ x))
        return np.concatenate([moved, shift * moved + x])

    start = scale * rng.normal(size=n)
    start = solver.solve(mass @ start)
    first = inverse(inverse(np.concatenate([start, np.zeros(n)])))
    operator = LinearOperator((2 * n, 2 * n), matvec=inverse, dtype=np.float64)
    found, states = eigs(operator, count, which="LM", v0=first, ncv=min(2 * count + 20, 2 * n - 1), tol=0)
    return shift + 1 / found, states[n:] if np.abs(found).max() > 0 else states[:n]


def _shift(mechanics: LinearMechanics, scale: Array) -> float:
    """A rate of the size of the lowest modes [1/s]."""
    squares = np.abs(lowest_symmetric_modes(mechanics, 6).squares)
    positive = squares[squares > 0]
    return float(np.sqrt(positive.min() if len(positive) else 1.0)) / 2
