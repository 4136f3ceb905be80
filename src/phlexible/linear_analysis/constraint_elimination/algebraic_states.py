"""First-order models with multipliers brought to the standard form, structure kept ([B] 5.3).

With algebraic states lambda, ``E1 dx/dt = (J - R) z + N lambda + B u`` and ``N^T z = 0``, z = Q x. Columns V
span null(N^T), W null(N^T Q): x = W a and z = V z' give the port-Hamiltonian model::

    V^T E1 W da/dt = V^T (J - R) V z' + V^T B u,    z' = V^+ Q W a
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.null_space import NullSpace, null_space
from phlexible.linear_analysis.observed import ObservedPHDAE
from phlexible.port_hamiltonian.model import StateBlock


def algebraic_states(model: ObservedPHDAE) -> IntArray:
    """Where the rows of E are zero."""
    return np.flatnonzero(abs(model.descriptor).sum(axis=1) == 0).astype(np.int64)


def dynamic_and_multipliers(model: ObservedPHDAE) -> tuple[IntArray, IntArray]:
    """The states that move and the multipliers of constraints on them.

    Raises:
        ModelError: E is singular at states that are no multipliers.
    """
    algebraic = algebraic_states(model)
    kept = np.setdiff1d(np.arange(model.order), algebraic)
    J, R, Q, E = model.structure, model.dissipation, model.effort_matrix, model.descriptor
    if abs(J[algebraic][:, algebraic]).sum() and not abs(R[algebraic]).sum():
        raise ModelError(
            f"the multipliers {_listed(model, algebraic)} act on each other, as where both ports of a pair are "
            "inverted, or one port twice; invert one of the two, or none"
        )
    coupled = (
        abs(J[algebraic][:, algebraic]).sum()
        + abs(R[algebraic]).sum()
        + abs(E[:, algebraic]).sum()
        + abs(Q[kept][:, algebraic]).sum()
        + abs(Q[algebraic][:, kept]).sum()
    )
    if coupled:
        raise ModelError(
            f"E is singular at {_listed(model, algebraic)}, which are no multipliers of constraints; "
            "this form cannot be eliminated"
        )
    return kept, algebraic


def without_algebraic_states(model: ObservedPHDAE) -> ObservedPHDAE:
    """The model without multipliers; itself where it has none.

    Displacements stay states even where a constraint holds their rate: they then keep their initial
    value, and the model has a zero eigenvalue for each.

    Raises:
        ModelError: E is singular in another way, or inputs or outputs need the multipliers.
    """
    kept, algebraic = dynamic_and_multipliers(model)
    if not algebraic.size:
        return model
    J, R, Q, E = model.structure, model.dissipation, model.effort_matrix, model.descriptor
    if model.port_map[algebraic].nnz or np.abs(model.output_matrix[:, algebraic]).any():
        raise ModelError(
            f"E is singular: inputs or outputs act on {_listed(model, algebraic)} (an improper model); connect "
            "them to something proper first"
        )
    N, inner = J[kept][:, algebraic], Q[kept][:, kept]
    efforts = null_space(_scaled_rows(N.T), allow_dependent=True)
    states = null_space(_scaled_rows(N.T @ inner), allow_dependent=True)
    V, W = efforts.basis, states.basis
    return ObservedPHDAE(
        V.T @ E[kept][:, kept] @ W,
        V.T @ J[kept][:, kept] @ V,
        V.T @ R[kept][:, kept] @ V,
        V.T @ model.port_map[kept],
        _named(model, kept, states),
        model.ports,
        (inner @ W)[efforts.free],  # V has an identity in these rows
        outputs=model.outputs,
        output_matrix=np.asarray(model.output_matrix[:, kept] @ W),
        differentiations=model.differentiations,
        output_units=model.output_units,
    )


def _listed(model: ObservedPHDAE, states: IntArray) -> str:
    """The names of the first of them."""
    names = [model.state_names[k] for k in states[:5]]
    return ", ".join(names) + (f" and {len(states) - 5} others" if len(states) > 5 else "")


def _scaled_rows(matrix: sparse.sparray) -> sparse.csr_array:
    """Rows divided by their largest entry."""
    rows = sparse.csr_array(matrix)
    size: Array = abs(rows).max(axis=1).toarray().ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.where(size > 0, size, 1.0)) @ rows)


def _named(model: ObservedPHDAE, kept: IntArray, space: NullSpace) -> tuple[StateBlock, ...]:
    """The free states under their own names."""
    units = [block.unit for block in model.states for _ in range(block.size)]
    return tuple(StateBlock(model.state_names[k], units[k], 1) for k in kept[space.free])
