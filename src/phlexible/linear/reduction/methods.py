"""Choice of the bases that a model is reduced with, and the quality of the reduced model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from phlexible.algebra.arrays import Array, whole
from phlexible.display import short_repr
from phlexible.errors import ModelError, ParameterError, ReductionWarning, warn_user
from phlexible.linear.constraint_elimination import without_constraints
from phlexible.linear.first_order import energy_form
from phlexible.linear.frequency_response import checked_frequencies, frequency_response
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.observed import ObservedPHDAE, mechanical_model
from phlexible.linear.reduction.bases import SPARE, with_few_ports
from phlexible.linear.reduction.normal_forms import LARGEST, STILL
from phlexible.linear.reduction.state_bases import (
    ReductionMethod,
    flexible_reduction,
    motion_basis,
    rigid_size,
    state_basis,
    state_reduction,
)
from phlexible.linear.signals import UNIT_MASS, same_unit

# How good a reduced model is: its error over frequencies and a certificate of passivity.

ROUND_OFF = 1e-10


@dataclass(frozen=True)
class PassivityCertificate:
    """Evidence that a linear model is passive (gives no more energy than it received); each figure is relative to
    the largest entry.

    Attributes:
        skewness: largest entry of J + J^T, which is zero for a skew J.
        dissipation: how far R is from positive semi-definite.
        storage: how far the energy matrix E^T Q is from symmetric and positive semi-definite.
        zero_modes: number of motions and stresses that stay as they are, as rigid motions of a free body do. A
            reduced model should have no more than the full one. None: not known, of more than 1500 states or
            of a model whose energy is not positive.
    """

    skewness: float
    dissipation: float
    storage: float
    zero_modes: int | None = None

    @property
    def is_passive(self) -> bool:
        """Whether the model is passive (cannot give more energy than it received): all errors of this certificate
        are round-off."""
        return max(self.skewness, self.dissipation, self.storage) <= ROUND_OFF


def passivity(model: ObservedPHDAE) -> PassivityCertificate:
    """Measure how far a linear model violates passivity, and return the relative errors as a certificate; nothing
    is raised. It has the skew-symmetry error of J, and for dissipation and energy matrix the larger of the errors
    of symmetry and definiteness. The number of states that stay constant is also given. For more than 1500 states,
    only symmetry is tested."""
    errors = model.structure_errors()
    return PassivityCertificate(
        errors["skewness"],
        max(errors["dissipation symmetry"], errors.get("dissipation", 0.0)),
        max(errors["storage symmetry"], errors.get("storage", 0.0)),
        _zero_modes(model),
    )


def _zero_modes(model: ObservedPHDAE) -> int | None:
    """Return the number of independent states of a linear model that stay constant in free motion (rigid motions,
    self-stresses). It is the number of singular values of its system matrix in energy coordinates that are near
    zero, relative to the largest. Return None if the model has more than 1500 states or no energy coordinates
    (``ModelError``)."""
    if model.order > LARGEST:
        return None
    try:
        form = energy_form(model)
    except ModelError:
        return None
    sizes = linalg.svdvals(form.on_free_states(form.structure - form.dissipation))
    return int((sizes <= STILL * sizes.max(initial=0.0)).sum())


@dataclass(frozen=True, eq=False)
class ReductionError:
    """Errors of the frequency response of a reduced model compared with that of the full model.

    Attributes:
        frequencies: shape (k,) [rad/s].
        pointwise: |H_r - H| / |H| of each output and input, shape (k, outputs, inputs).
        peak: largest |H_r - H| over the frequencies over the largest |H|, shape (outputs, inputs).
    """

    frequencies: Array
    pointwise: Array
    peak: Array

    __repr__ = short_repr


def reduction_error(full: ObservedPHDAE, reduced: ObservedPHDAE, frequencies: ArrayLike) -> ReductionError:
    """Compute the frequency responses of a ``full`` and a ``reduced`` model at ``frequencies`` (k,) [rad/s] and
    return the errors of the reduced model. Errors are absolute differences divided by the full response: at each
    frequency, and the largest divided by the peak. Each pair of output and input has its own. Where a response is
    zero, errors are absolute.

    Raises:
        PoleError: an undamped pole of either model among them.
    """
    exact, found = (frequency_response(model, frequencies) for model in (full, reduced))
    gap, size = np.abs(found.values - exact.values), np.abs(exact.values)
    largest = size.max(axis=0)
    return ReductionError(
        exact.frequencies,
        gap / np.where(size > 0, size, 1.0),
        gap.max(axis=0) / np.where(largest > 0, largest, 1.0),
    )


# Which bases a model is reduced with, and the one function that does it.


@dataclass(frozen=True, eq=False)
class Reduction:
    """Result of a model order reduction: the reduced model and the basis that was used.

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
    static_correction: bool = False,
) -> Reduction:
    """Reduce a linear model to at most ``order`` states by ``method``, and return a small port-Hamiltonian model
    with the basis used. Inputs and outputs are the same. With ``keep_rigid``, only flexible states are reduced;
    else constraints are eliminated. Krylov bases match responses at ``frequencies`` [rad/s]; with
    ``static_correction``, static responses replace the last modes. Warn (``ReductionWarning``) if fewer states are
    found.

    With fewer states, and a ``ReductionWarning``, where inputs reach and outputs see no more of them.

    Modal, Craig-Bampton and Krylov bases V project the second-order form, ``V^T M V`` and so on, directly
    on the model with joints ([B] (46)); order counts displacements and rates, two for each column of V.
    Balanced and IRKA bases project the first-order form without constraints. A model without second-order
    form is reduced in its states, whatever the method.

    Args:
        model: any linear model.
        order: number of states of the reduced model; even for the first three methods where there is a second-order
            form. With ``keep_rigid`` the number of flexible states.
        method: method that makes the basis.
        frequencies: for Krylov: where moments are matched, shape (k,) [rad/s]; None: chosen one after
            the other where the error is greatest.
        keep_rigid: [B] (46): rigid velocities and multipliers stay, flexible velocities and stresses are
            projected.
        static_correction: for modal bases: static responses at inputs and outputs take the place of the last modes.

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
    if static_correction and method is not ReductionMethod.MODAL:
        raise ParameterError(f'static_correction= belongs to method="modal", not to "{method}"')
    matched = None if frequencies is None else checked_frequencies(frequencies).tolist()
    if matched == []:
        raise ParameterError("frequencies must hold at least one number, got none")
    if keep_rigid:
        if model.mechanics is not None and model.mechanics.inner:
            raise ModelError(
                "keep_rigid=True does not support viscoelastic laws (relaxation=); reduce with keep_rigid=False"
            )
        found = Reduction(flexible_reduction(model, order, method, matched, static_correction), None)
        reached = found.model.order - rigid_size(model)
    else:
        mechanics = model.mechanics
        if mechanics is not None and order >= (states := 2 * mechanics.freedom + mechanics.inner_count):
            raise ParameterError(f"order must be below the {states} states of the model, got {order}")
        if mechanics is None or method in (ReductionMethod.BALANCED, ReductionMethod.IRKA):
            free = model if mechanics is None else without_constraints(model)
            basis = state_basis(free, order, method, matched, static_correction)
            found = Reduction(state_reduction(free, basis), None)
            reached = basis.columns.shape[1] - basis.prescribed
        else:
            found = _mechanical_reduction(model, mechanics, order, method, matched, static_correction)
            reached = found.model.order
        if not reached:
            raise ModelError("no state is both controllable and observable; choose other inputs or outputs")
    if reached < order:
        where = "" if frequencies is None else " at the given frequencies"
        if method is not ReductionMethod.IRKA:
            where += ", in whole " + _sets(model)
        warn_user(
            f'the reduced model has order {reached}, not {order}: method="{method}" finds no more '
            f"independent states that inputs reach and outputs see{where}",
            ReductionWarning,
        )
    return found


def _sets(model: ObservedPHDAE) -> str:
    """Return a phrase for messages that names which states of a linear model are only reduced together: for
    example "pairs of velocity and displacement"."""
    if model.mechanics is None:
        return "pairs of velocity and stress"
    if model.mechanics.inner:
        return "sets of velocity, displacement and strains that fade"
    return "pairs of velocity and displacement"


def _mechanical_reduction(
    model: ObservedPHDAE,
    mechanics: LinearMechanics,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
    static_correction: bool,
) -> Reduction:
    if order % 2 and not mechanics.inner:
        raise ParameterError(f'order must be even for method="{method}" (positions and rates), got {order}')
    count = max(1, order // (2 + len(mechanics.inner)))
    find = motion_basis(method, frequencies, static_correction)
    basis = find(with_few_ports(mechanics, count + SPARE), count)
    small = mechanics.projected(basis).with_fewest_strains()
    while mechanics.inner and basis.shape[1] == count:  # motions that strain nothing have fewer states than others
        more = find(with_few_ports(mechanics, count + 1 + SPARE), count + 1)
        larger = mechanics.projected(more).with_fewest_strains()
        if 2 * larger.size + larger.inner_count > order:
            break
        count, basis, small = count + 1, more, larger
    names = same_unit((f"{method} coordinate {k}" for k in range(basis.shape[1])), UNIT_MASS)
    reduced = mechanical_model(small, names, model.ports, model.outputs, model.output_units)
    return Reduction(reduced, basis)
