"""Which bases a model is reduced with, and the one function that does it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.options import whole
from phlexible.errors import ModelError, ParameterError, ReductionWarning
from phlexible.linear_analysis.constraint_elimination.standard_form import without_constraints
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.observed import ObservedPHDAE, mechanical_model
from phlexible.linear_analysis.signals.state_names import UNIT_MASS, same_unit
from phlexible.reduction.craig_bampton import craig_bampton_basis
from phlexible.reduction.flexible_part import flexible_reduction, kept_size
from phlexible.reduction.galerkin import state_galerkin
from phlexible.reduction.krylov import krylov_basis
from phlexible.reduction.modal import modal_basis
from phlexible.reduction.normal_form import galerkin_model, normal_form
from phlexible.reduction.state_bases import ReductionMethod, energy_basis, state_basis


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced model and the basis that it is made with.

    Attributes:
        model: the small one.
        basis: columns V of x = V x_small over the motions x of the full model, shape (n, k); None: the
            method reduces states, not coordinates.
    """

    model: ObservedPHDAE
    basis: Array | None


def reduced_model(
    model: ObservedPHDAE,
    order: int,
    method: ReductionMethod,
    frequencies: ArrayLike | None = None,
    keep_rigid: bool = False,
) -> Reduction:
    """A model with ``order`` states and the same inputs and outputs, without multipliers.

    With fewer states, and a ``ReductionWarning``, where inputs reach and outputs see no more of them.

    Modal, Craig-Bampton and Krylov bases V project the second-order form, ``V^T M V`` and so on, directly
    on the model with joints ([B] (46)); order counts displacements and rates, two for each column of V.
    Balanced and IRKA bases project the first-order form without constraints. A model without second-order
    form is reduced in its states, whatever the method.

    Args:
        model: any linear model.
        order: of the reduced model; with second-order form even for the first three methods. With
            ``keep_rigid`` the number of flexible states.
        method: how the basis is made.
        frequencies: for Krylov: where moments are matched, shape (k,) [rad/s]; None: chosen one after
            the other where the error is greatest.
        keep_rigid: [B] (46): rigid velocities and multipliers stay, flexible velocities and stresses are
            projected.

    Raises:
        ParameterError: an order that is not below the model's, odd, or too small; frequencies for
            another method.
        ModelError: no inputs or outputs; inputs that reach nothing that outputs see; undamped modes where damping
            is needed; a model that does not have what a method needs.
        MissingExtraError: IRKA without pyMOR.
    """
    order = whole("order", order)
    if not model.inputs or not model.outputs:
        raise ModelError("a reduction needs inputs and outputs: linearize(inputs=[...])")
    if frequencies is not None and method is not ReductionMethod.KRYLOV:
        raise ParameterError(f'frequencies= belongs to method="krylov", not to "{method}"')
    matched = _frequencies(frequencies)
    if keep_rigid:
        found = Reduction(flexible_reduction(model, order, method, matched), None)
        reached = found.model.order - kept_size(model)
    else:
        if model.mechanics is None:
            basis = state_basis(model, order, method, matched)
            found = Reduction(state_galerkin(model, basis), None)
            reached = basis.columns.shape[1] - basis.prescribed
        else:
            found = _mechanical_reduction(model, model.mechanics, order, method, matched)
            reached = found.model.order
        if not reached:
            raise ModelError("no input reaches a motion that an output sees, so there is nothing to reduce to")
    if reached < order:
        where = "" if frequencies is None else " at the given frequencies"
        warnings.warn(
            f'the reduced model has order {reached}, not {order}: method="{method}" finds no more '
            f"independent states that inputs reach and outputs see{where}",
            ReductionWarning,
            stacklevel=3,
        )
    return found


def _mechanical_reduction(
    model: ObservedPHDAE,
    mechanics: LinearMechanics,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
) -> Reduction:
    freedom = mechanics.size - mechanics.constraint_matrix.shape[0]
    if order >= 2 * freedom:
        raise ParameterError(f"order must be below the {2 * freedom} states of the model, got {order}")
    if method in (ReductionMethod.BALANCED, ReductionMethod.IRKA):
        form = normal_form(without_constraints(model))
        basis = energy_basis(form, order, method)
        return Reduction(galerkin_model(form, basis, model), None)
    if order % 2:
        raise ParameterError(f'order must be even for method="{method}" (positions and rates), got {order}')
    match method:
        case ReductionMethod.MODAL:
            basis = modal_basis(mechanics, order // 2)
        case ReductionMethod.CRAIG_BAMPTON:
            basis = craig_bampton_basis(mechanics, order // 2)
        case _:
            basis = krylov_basis(mechanics, order // 2, frequencies)
    small = mechanics.projected(basis)
    names = same_unit((f"{method} coordinate {k}" for k in range(basis.shape[1])), UNIT_MASS)
    reduced = mechanical_model(small, names, model.ports, model.outputs, model.output_units)
    return Reduction(reduced, basis)


def _frequencies(values: ArrayLike | None) -> Sequence[float] | None:
    if values is None:
        return None
    array: Array = np.atleast_1d(numbers("frequencies", values))
    if array.ndim != 1 or not array.size or not np.isfinite(array).all() or (array < 0).any():
        raise ParameterError(f"frequencies must be finite and not negative, shape (k,), got {values!r}")
    return [float(value) for value in array]
