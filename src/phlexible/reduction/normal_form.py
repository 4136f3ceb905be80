"""First-order form with energy ``|x|^2 / 2``: ``dx/dt = (J - R) x + B u``, for bases of states.

x = (L^T q, C^T v) with K = L L^T and M = C C^T. An orthonormal basis V keeps the form, with V^T J V, V^T R V,
V^T B. Constant rigid motions, which nothing damps, are split off and kept as they are.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.linear_analysis.first_order.energy_form import EnergyForm
from phlexible.linear_analysis.observed import ObservedPHDAE, dense_model

LARGEST = 1500
ROUND_OFF = 1e-13
REACHED = 1e-10


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The matrices, dense.

    Attributes:
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), positive semi-definite.
        ports: B, shape (n, inputs).
        outputs: C of the outputs, shape (outputs, n).
        rigid: orthonormal states with J x = R x = 0 that the inputs reach, shape (n, k).
        moving: an orthonormal basis of the complement of all such states, shape (n, m).
    """

    structure: Array
    dissipation: Array
    ports: Array
    outputs: Array
    rigid: Array
    moving: Array


def normal_form(model: ObservedPHDAE) -> NormalForm:
    """The form of a model without constraints.

    Raises:
        ModelError: too many states for dense matrices, displacements as outputs, or an energy that is
            not positive.
    """
    mechanics = model.mechanics
    if mechanics is None or mechanics.constraint_matrix.shape[0]:
        raise ModelError("the normal form needs a mechanical model without constraints")
    if 2 * mechanics.size > LARGEST:
        raise ModelError(
            f"{2 * mechanics.size} states are too many for dense matrices (at most {LARGEST}); reduce with "
            'method="krylov" first'
        )
    if 0 in mechanics.differentiations:
        raise ModelError("displacements and angles are no outputs of this reduction; take velocities")
    lower = linalg.cholesky(mechanics.mass.toarray(), lower=True)

    def halved(matrix: Array) -> Array:
        return np.asarray(linalg.solve_triangular(lower, matrix, lower=True))

    K = halved(halved(mechanics.stiffness.toarray()).T)
    values, vectors = linalg.eigh((K + K.T) / 2)
    level = ROUND_OFF * len(K) * values.max(initial=0.0)
    if (values < -level).any():
        raise ModelError("the energy of this model is not positive; balanced and IRKA reductions need that")
    kept = values > level
    L = vectors[:, kept] * np.sqrt(values[kept])
    n, r = len(K), L.shape[1]
    D = halved(halved(mechanics.velocity.toarray()).T).T
    C = halved(halved(mechanics.damping.toarray()).T)
    structure = np.block([[np.zeros((r, r)), L.T], [-L, -(D - D.T) / 2]])
    dissipation = np.zeros((r + n, r + n))
    dissipation[r:, r:] = (C + C.T) / 2
    ports = np.vstack([np.zeros((r, mechanics.forces.shape[1])), halved(mechanics.forces)])
    outputs = np.hstack([np.zeros((len(mechanics.rows), r)), halved(mechanics.rows.T).T])
    return _with_constants(structure, dissipation, ports, outputs)


def normal_form_of_states(form: EnergyForm) -> NormalForm:
    """That of the states that constraints leave free; inputs that prescribe velocities act by inertia.

    With y = P a + N T u the constraints hold for any u, and ``P^T dy/dt`` leaves ``da/dt``: inputs act on a by
    ``P^T ((J - R) N T + B)``, and multipliers see it by ``-N^T (J - R) P``.
    """
    rates = form.structure - form.dissipation
    ports = form.free.T @ (rates @ form.ties @ form.tie_ports + form.ports)
    outputs = (form.outputs - form.tie_outputs @ form.ties.T @ rates) @ form.free
    return _with_constants(form.among_free(form.structure), form.among_free(form.dissipation), ports, outputs)


def _with_constants(structure: Array, dissipation: Array, ports: Array, outputs: Array) -> NormalForm:
    """J x = R x = 0: velocities that strain nothing and that nothing damps, and self-stresses."""
    size = np.abs(structure).max(initial=0.0) or 1.0
    still = linalg.null_space(np.vstack([structure, dissipation]) / size, rcond=1e-9)
    moving = linalg.null_space(still.T) if still.shape[1] else np.eye(len(structure))
    parts = still.T @ ports
    left, sizes, _ = linalg.svd(parts, full_matrices=False) if parts.size else (np.zeros((0, 0)), np.zeros(0), 0)
    rigid = still @ left[:, sizes > REACHED * np.linalg.norm(ports)] if parts.size else still[:, :0]
    return NormalForm(structure, dissipation, ports, outputs, rigid, moving)


def galerkin_model(form: NormalForm, basis: Array, source: ObservedPHDAE) -> ObservedPHDAE:
    """The model of an orthonormal basis, shape (n, m): the same form again."""
    J, R = basis.T @ form.structure @ basis, basis.T @ form.dissipation @ basis
    one = np.eye(basis.shape[1])
    matrices = (one, (J - J.T) / 2, (R + R.T) / 2, basis.T @ form.ports, one)
    names = tuple(f"state {k}" for k in range(basis.shape[1]))
    return dense_model(source, matrices, form.outputs @ basis, names)
