"""(46) of Brugnoli et al. (2020): flexible velocities and stresses projected, the rest kept.

In (45) rigid velocities are those that J couples to multipliers only. A basis V of any method is taken apart: its
flexible rows, made orthonormal in M_ff, are V_f, and every motion in the span of V is one of the reduced model.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import IntArray
from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import dynamic_and_multipliers
from phlexible.linear_analysis.observed import ObservedPHDAE, observed
from phlexible.linear_analysis.signals.state_names import UNIT_ENERGY
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import StateBlock
from phlexible.reduction.bases import joined
from phlexible.reduction.state_bases import ReductionMethod, state_basis

RIGID = 1e-7  # share of the root of the energy that is flexible


def rigid_states(model: ObservedPHDAE) -> IntArray:
    """Where the states are that J and R couple to multipliers only.

    Raises:
        ModelError: a model in other variables than velocities and stresses.
    """
    moving, _ = dynamic_and_multipliers(model)
    gap = model.effort_matrix - sparse.eye_array(model.order)
    if gap.nnz and abs(gap).max() > 0:
        raise ModelError(
            'keep_rigid speaks of velocities and stresses as states, [B] (45); take linearize(form="stress")'
        )
    coupled = abs(model.structure[moving][:, moving]) + abs(model.dissipation[moving][:, moving])
    return np.asarray(moving[np.asarray(coupled.sum(axis=1)).ravel() == 0])


def kept_size(model: ObservedPHDAE) -> int:
    """Number of rigid velocities and multipliers."""
    return len(rigid_states(model)) + len(dynamic_and_multipliers(model)[1])


def flexible_reduction(
    model: ObservedPHDAE, order: int, method: ReductionMethod, frequencies: Sequence[float] | None
) -> ObservedPHDAE:
    """The model (46) with ``order`` flexible states, or fewer.

    Raises:
        ModelError: other variables than velocities and stresses, or what the method refuses.
    """
    rigid = rigid_states(model)
    moving, tied = dynamic_and_multipliers(model)
    flexible = np.setdiff1d(moving, rigid)
    model = replace(model, mechanics=None, linearization=None)
    V = _flexible_columns(model, flexible, order, method, frequencies)
    places = (_picked(rigid, model.order), V, _picked(tied, model.order))
    whole = sparse.csr_array(sparse.hstack(places))
    own = [StateBlock(name, unit, 1) for name, unit in zip(model.state_names, _units(model), strict=True)]
    states = (
        *(own[k] for k in rigid),
        *(StateBlock(f"{method} flexible state {k}", UNIT_ENERGY, 1) for k in range(V.shape[1])),
        *(own[k] for k in tied),
    )
    E, J, R = (whole.T @ matrix @ whole for matrix in (model.descriptor, model.structure, model.dissipation))
    small = LinearPHDAE(E, J, R, whole.T @ model.port_map, states, model.ports)
    rows = np.asarray(model.output_matrix @ whole)
    return observed(small, model.outputs, rows, model.differentiations, units=model.output_units)


def _flexible_columns(
    model: ObservedPHDAE,
    flexible: IntArray,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
) -> sparse.csr_array:
    """V_f over all states, shape (order of the model, at most ``order``)."""
    basis = state_basis(model, order, method, frequencies, beside_rigid=True)
    columns, metric = basis.columns[flexible], model.descriptor[flexible][:, flexible]
    size = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, metric @ columns)))
    found = joined(metric, np.zeros((len(flexible), 0)), columns[:, size > RIGID], order + basis.prescribed)
    return sparse.csr_array(_picked(flexible, model.order) @ found)


def _picked(states: IntArray, order: int) -> sparse.csr_array:
    """Columns of the identity."""
    places = (states, np.arange(len(states)))
    return sparse.csr_array((np.ones(len(states)), places), (order, len(states)))


def _units(model: ObservedPHDAE) -> list[str]:
    return [block.unit for block in model.states for _ in range(block.size)]
