"""Balanced basis: the states that inputs reach and outputs see best, by Gramians.

The dominant directions of balanced truncation, made orthonormal in the energy and used from both sides,
so that the reduced model is port-Hamiltonian (balanced truncation itself would not be).
"""

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.reduction.normal_form import NormalForm

LEAST_DAMPING = 1e-12
ROUND_OFF = np.finfo(float).eps


def balanced_basis(form: NormalForm, order: int) -> Array:
    """Orthonormal columns, shape (n, k); rigid motions that inputs cause come first.

    k = order, or less where fewer states are both reached by inputs and seen by outputs: Gramians are known up
    to round-off, products of their factors (the Hankel values) up to its root.

    Raises:
        ModelError: a mode without damping, whose Gramians do not exist.
        ParameterError: an order below the number of rigid motions.
    """
    count = order - form.rigid.shape[1]
    if count < 1:
        raise ParameterError(f"order must be above the {form.rigid.shape[1]} rigid motions, got {order}")
    V = form.moving
    if not V.shape[1]:
        return form.rigid
    A = V.T @ (form.structure - form.dissipation) @ V
    values = linalg.eigvals(A)
    if values.real.max() > -LEAST_DAMPING * np.abs(values).max():
        raise ModelError(
            "a balanced reduction needs damping in every mode (Beam(damping_ratio=...)); "
            'take method="krylov" or "modal" for a lossless model'
        )
    B, C = V.T @ form.ports, form.outputs @ V
    C = C / np.maximum(np.linalg.norm(C, axis=1), 1e-300)[:, None]
    reached, seen = (
        _factor(linalg.solve_continuous_lyapunov(A, -B @ B.T)),
        _factor(linalg.solve_continuous_lyapunov(A.T, -C.T @ C)),
    )
    _, hankel, right = linalg.svd(seen.T @ reached)
    floor = np.sqrt(len(A) * ROUND_OFF) * np.linalg.norm(reached, 2) * np.linalg.norm(seen, 2)
    count = min(count, int((hankel > floor).sum()))
    if not count:
        return form.rigid
    directions = reached @ right[:count].T
    columns, _ = linalg.qr(V @ directions / np.linalg.norm(directions, axis=0), mode="economic")
    return np.hstack([form.rigid, columns])


def _factor(gramian: Array) -> Array:
    """L with L L^T = the Gramian."""
    values, vectors = linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
