"""Without multipliers: the standard port-Hamiltonian form in coordinates of the null space ([B] 5.3)."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import without_algebraic_states
from phlexible.linear_analysis.constraint_elimination.null_space import null_space
from phlexible.linear_analysis.linearize import Form
from phlexible.linear_analysis.observed import ObservedPHDAE, mechanical_model, observed
from phlexible.linear_analysis.saddle_point import natural_scale
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import StateBlock

LARGEST = 4000
CONJUGATE_UNITS = {"m/s": "kg m/s", "rad/s": "kg m^2/s", "N": "m", "N m": "rad", "m": "m", "rad": "rad", "1": "1"}


def without_constraints(model: ObservedPHDAE) -> ObservedPHDAE:
    """The model in free coordinates, with a regular E: states (q, v), Q = diag(K, I), or (v, stress), Q = I.

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
    output_rows = np.asarray(model.output_matrix @ P)
    return observed(
        free,
        model.outputs,
        output_rows,
        model.differentiations,
        small,
        units=model.output_units,
        form=Form.STRESS,
    )


def with_momenta(model: ObservedPHDAE) -> ObservedPHDAE:
    """``dx/dt = (J - R) Q x + B u`` with E = I: states E x of a model without constraints, Q E^-1 in place of Q.

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
        for k, block in enumerate(_single(model))
    )
    return replace(
        model,
        descriptor=sparse.eye_array(model.order),
        effort_map=(Q + Q.T) / 2,
        states=states,
        output_matrix=np.asarray(model.output_matrix @ inverse),
        mechanics=None,
        linearization=None,
        form=None,
    )


def _single(model: ObservedPHDAE) -> tuple[StateBlock, ...]:
    """One block for each entry."""
    units = [block.unit for block in model.states for _ in range(block.size)]
    return tuple(StateBlock(name, unit, 1) for name, unit in zip(model.state_names, units, strict=True))


def _conjugate(block: StateBlock) -> StateBlock:
    """The momentum of a velocity, the strain of a stress."""
    word = "momentum" if block.unit.endswith("/s") else "strain"
    return StateBlock(f"{word} of {block.name}", CONJUGATE_UNITS.get(block.unit, ""), 1)
