"""Linear models without multipliers: the standard port-Hamiltonian form ([B] 5.3)."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination import null_space
from phlexible.algebra.sparse import natural_scale
from phlexible.errors import ModelError
from phlexible.linear.linearize import Form
from phlexible.linear.observed import ObservedPHDAE, mechanical_model, observed
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import StateGroup

# First-order models with multipliers brought to the standard form, structure kept ([B] 5.3).
#
# With algebraic states lambda, ``E1 dx/dt = (J - R) z + N lambda + B u`` and ``N^T z = 0``, z = Q x. Columns V
# span null(N^T), W null(N^T Q): x = W a and z = V z' give the port-Hamiltonian model::
#
#     V^T E1 W da/dt = V^T (J - R) V z' + V^T B u,    z' = V^+ Q W a


def algebraic_states(model: ObservedPHDAE) -> IntArray:
    """Return the indices of the states of a linear model that have no dynamics, such as multipliers of constraints.
    Their rows of E in ``E dx/dt = ...`` are zero."""
    return np.flatnonzero(abs(model.descriptor).sum(axis=1) == 0).astype(np.int64)


def dynamic_and_multipliers(model: ObservedPHDAE) -> tuple[IntArray, IntArray]:
    """Split the states of a linear model into dynamic states and constraint multipliers (zero rows of E), and
    return the indices of both. The equations are E dx/dt = (J - R) Q x + B u. Raise ``ModelError`` if multipliers
    are coupled with each other in J, appear in R, or are coupled with dynamic states in E or Q.

    Raises:
        ModelError: E is singular at states that are no multipliers.
    """
    algebraic = algebraic_states(model)
    kept = np.setdiff1d(np.arange(model.order), algebraic)
    J, R, Q, E = model.structure, model.dissipation, model.effort_matrix, model.descriptor
    if abs(J[algebraic][:, algebraic]).sum() and not abs(R[algebraic]).sum():
        raise ModelError(
            f"the multipliers {_names_of(model, algebraic)} are coupled, as where both ports of a pair are "
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
            f"E is singular at {_names_of(model, algebraic)}, which are no multipliers of constraints; "
            "this form cannot be eliminated"
        )
    return kept, algebraic


def without_algebraic_states(model: ObservedPHDAE) -> ObservedPHDAE:
    """Return a linear model without multipliers, with the same inputs and outputs. States and efforts are
    expressed by free coordinates in sparse null spaces of the constraints, and all matrices are projected.
    Redundant constraints are allowed. A model without multipliers is returned unchanged. Raise ``ModelError`` if
    inputs or outputs act on multipliers directly.

    Displacements stay states even where a constraint holds their rate: they then keep their initial
    value, and the model has a zero eigenvalue for each.

    Raises:
        ModelError: E is singular in another way, or inputs or outputs need the multipliers.
    """
    kept, algebraic = dynamic_and_multipliers(model)
    if not algebraic.size:
        return model
    J, R, Q, E = model.structure, model.dissipation, model.effort_matrix, model.descriptor
    if model.port_map[algebraic].nnz or model.output_matrix[:, algebraic].nnz:
        raise ModelError(
            f"E is singular: inputs or outputs act on {_names_of(model, algebraic)} (an improper model); connect "
            "them to something proper first"
        )
    N, inner = J[kept][:, algebraic], Q[kept][:, kept]
    efforts = null_space(_scaled_rows(N.T), allow_dependent=True)
    states = null_space(_scaled_rows(N.T @ inner), allow_dependent=True)
    V, W, groups = efforts.basis, states.basis, single_states(model)
    free = LinearPHDAE(
        V.T @ E[kept][:, kept] @ W,
        V.T @ J[kept][:, kept] @ V,
        V.T @ R[kept][:, kept] @ V,
        V.T @ model.port_map[kept],
        tuple(groups[k] for k in kept[states.free]),
        model.ports,
        (inner @ W)[efforts.free],  # V has an identity in these rows
    )
    rows = model.output_matrix[:, kept] @ W
    return observed(free, model.outputs, rows, model.differentiations, units=model.output_units)


def _names_of(model: ObservedPHDAE, states: IntArray) -> str:
    """Return a text for messages with the names of the first five of the given states of a model, and how many more
    there are."""
    names = [model.state_names[k] for k in states[:5]]
    return ", ".join(names) + (f" and {len(states) - 5} others" if len(states) > 5 else "")


def _scaled_rows(matrix: sparse.sparray) -> sparse.csr_array:
    """Return a copy of a sparse matrix in which each row is divided by its largest absolute entry."""
    rows = sparse.csr_array(matrix)
    size: Array = abs(rows).max(axis=1).toarray().ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.where(size > 0, size, 1.0)) @ rows)


# Without multipliers: the standard port-Hamiltonian form in coordinates of the null space ([B] 5.3).

LARGEST = 4000
CONJUGATE_UNITS = {"m/s": "kg m/s", "rad/s": "kg m^2/s", "N": "m", "N m": "rad", "m": "m", "rad": "rad", "1": "1"}


def without_constraints(model: ObservedPHDAE) -> ObservedPHDAE:
    """Return a linear model in free coordinates, without constraints and their multipliers, with the same inputs
    and outputs. A model with second-order matrices is projected on the null space of its constraints:
    displacements and velocities, or in stress form velocities; stresses remain. Other models go through
    ``without_algebraic_states``.

    The free coordinates are some of the model's own, whose names they keep; the others follow from them.

    A model without second-order form goes by ``without_algebraic_states``.

    Raises:
        ModelError: algebraic states that are no multipliers of constraints.
    """
    mechanics = model.mechanics
    if mechanics is None:
        return without_algebraic_states(model)
    if not mechanics.constraint_matrix.shape[0] and model.linearization is None:
        return model
    found = null_space(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    small = mechanics.projected(found.basis)
    if model.form is not Form.STRESS:
        own = model.states if model.linearization is None else model.linearization.coordinates
        names = tuple(own[k] for k in found.free)
        return mechanical_model(small, names, model.ports, model.outputs, model.output_units)
    n, rows = mechanics.size, mechanics.constraint_matrix.shape[0]
    stresses = model.order - n - rows
    P = sparse.csr_array(
        sparse.vstack(
            [
                sparse.block_diag([found.basis, sparse.eye_array(stresses)]),
                sparse.csr_array((rows, found.basis.shape[1] + stresses)),
            ]
        )
    )
    E, J, R = (P.T @ matrix @ P for matrix in (model.descriptor, model.structure, model.dissipation))
    states = (*(model.states[k] for k in found.free), *model.states[n : n + stresses])
    free = LinearPHDAE(E, J, R, P.T @ model.port_map, states, model.ports)
    output_rows = model.output_matrix @ P
    return observed(
        free, model.outputs, output_rows, model.differentiations, small, units=model.output_units, form=Form.STRESS
    )


def with_momenta(model: ObservedPHDAE) -> ObservedPHDAE:
    """Return a linear model without constraints in the states E x, so that its E is the identity. New states are
    momenta in place of velocities and strains in place of stresses: d(Ex)/dt = (J - R) Q E^-1 (E x) + B u. Q E^-1
    is made symmetric; the output matrix is multiplied by E^-1. Raise ``ModelError`` if E is singular or there are
    more than 4000 states.

    (47) of Brugnoli et al. (2020), read x_hat = M_hat p_hat, Q_hat = M_hat^-1.

    Raises:
        ModelError: a singular E, or more than 4000 states, whose Q is dense.
    """
    if model.order > LARGEST:
        raise ModelError(f"the inverse of E is dense, refused for {model.order} states (at most {LARGEST})")
    E = model.descriptor.toarray()
    try:
        inverse = np.linalg.inv(E)
    except np.linalg.LinAlgError:
        raise ModelError("E is singular: some states have no inertia, and this form needs a regular E") from None
    Q = np.asarray(model.effort_matrix @ inverse)
    states = tuple(
        block if E[k, k] == 1 and not np.delete(E[k], k).any() else _conjugate(block)
        for k, block in enumerate(single_states(model))
    )
    return replace(
        model,
        descriptor=sparse.eye_array(model.order),
        effort_map=(Q + Q.T) / 2,
        states=states,
        output_matrix=model.output_matrix @ inverse,
        mechanics=None,
        linearization=None,
        form=None,
    )


def single_states(model: ObservedPHDAE) -> tuple[StateGroup, ...]:
    """Return the states of a linear model as blocks of size 1 with name and unit, one for each entry of the state
    vector."""
    units = [block.unit for block in model.states for _ in range(block.size)]
    return tuple(StateGroup(name, unit, 1) for name, unit in zip(model.state_names, units, strict=True))


def _conjugate(group: StateGroup) -> StateGroup:
    """Return a state block with name and unit of the conjugate variable of a state: the momentum of a velocity, the
    strain of a stress."""
    word = "momentum" if group.unit.endswith("/s") else "strain"
    return StateGroup(f"{word} of {group.name}", CONJUGATE_UNITS.get(group.unit, ""), 1)
