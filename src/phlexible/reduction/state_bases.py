"""Bases of states for models without second-order form, and the methods that there are."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.linear_analysis.first_order.energy_form import EnergyForm, energy_form
from phlexible.linear_analysis.observed import ObservedPHDAE
from phlexible.reduction.bases import joined
from phlexible.reduction.craig_bampton import craig_bampton_basis
from phlexible.reduction.galerkin import StateBasis
from phlexible.reduction.modal import modal_basis
from phlexible.reduction.normal_form import LARGEST, NormalForm, normal_form_of_states
from phlexible.reduction.pairs import pair_basis
from phlexible.reduction.state_krylov import chosen_columns, matched_columns, seen_poles

ROUND_OFF = 1e-10


class ReductionMethod(StrEnum):
    """MODAL: the lowest modes that inputs and outputs see. CRAIG_BAMPTON: static answers to forces at inputs
    and outputs, and modes with these held. KRYLOV: answers at chosen frequencies (moment matching).
    BALANCED: the states that are reached and seen best. IRKA: frequencies that are optimal in the H2 norm.

    Modal and Craig-Bampton bases need velocities and stresses told apart (by mechanical form, units or ports),
    balanced ones damping in every mode; the others E, J, R, B and Q only.
    """

    MODAL = "modal"
    CRAIG_BAMPTON = "craig_bampton"
    KRYLOV = "krylov"
    BALANCED = "balanced"
    IRKA = "irka"


def energy_basis(form: NormalForm, order: int, method: ReductionMethod) -> Array:
    """Orthonormal columns over the states of a normal form, shape (n, order or fewer)."""
    if method is ReductionMethod.BALANCED:
        from phlexible.reduction.balanced import balanced_basis

        return balanced_basis(form, order)
    from phlexible.reduction.irka import irka_basis

    return irka_basis(form, order)


def state_basis(
    model: ObservedPHDAE,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
    beside_rigid: bool = False,
) -> StateBasis:
    """The basis of a method. Inputs that prescribe velocities, and joint forces as outputs, add to the order.

    Args:
        beside_rigid: the order does not count rigid motions.

    Raises:
        ParameterError: an order that is not below the model's, or that does not fit its rigid motions.
        ModelError: too many states for dense matrices, or a model that does not have what a method needs.
    """
    if model.order > LARGEST:
        if method is not ReductionMethod.KRYLOV or frequencies is None:
            raise ModelError(
                f"{model.order} states are too many for dense matrices (at most {LARGEST}); reduce with "
                'method="krylov" and frequencies= first'
            )
        nothing = np.zeros((model.order, 0))
        return StateBasis(matched_columns(model, nothing, order, frequencies), method)
    form = energy_form(model)
    normal = normal_form_of_states(form)
    order += normal.rigid.shape[1] if beside_rigid else 0
    if order > len(normal.structure):
        raise ParameterError(f"order must be at most the {len(normal.structure)} states of the model, got {order}")
    prescribed = form.from_energy @ _prescribed_columns(form, normal)
    extra = prescribed.shape[1]
    if method is ReductionMethod.KRYLOV:
        rigid = form.from_energy @ form.free @ normal.rigid
        if rigid.shape[1] >= order:
            raise ParameterError(f"order must be above the {rigid.shape[1]} rigid motions, got {order}")
        first, most = np.hstack([prescribed, rigid]), order + extra
        if frequencies is not None:
            return StateBasis(matched_columns(model, first, most, frequencies), method, extra)
        return StateBasis(chosen_columns(model, first, most, seen_poles(model, form, normal)), method, extra)
    match method:
        case ReductionMethod.MODAL:
            columns = pair_basis(form, normal, order, method, modal_basis)
        case ReductionMethod.CRAIG_BAMPTON:
            columns = pair_basis(form, normal, order, method, craig_bampton_basis, with_prescribed=False)
        case _:
            columns = energy_basis(normal, order, method)
    whole = joined(model.energy_matrix, prescribed, form.from_energy @ form.free @ columns, order + extra)
    return StateBasis(whole, method, extra)


def _prescribed_columns(form: EnergyForm, normal: NormalForm) -> Array:
    """Motions that prescribed velocities cause without strain, as far as there are such, and what joint forces
    that are outputs act on; orthonormal, shape (n, k).

    With y = P a + N T u the static motion has the a that strains least: of a base that moves, the rigid motion.
    """
    T, prescribed = form.tie_ports, np.abs(form.tie_ports).any(axis=0)
    motions = form.ties @ T
    coupling = form.coupling
    if coupling is not None and prescribed.any():
        v = len(coupling)
        motions -= form.free[:, :v] @ np.linalg.lstsq(coupling.T, normal.ports[v:], rcond=1e-12)[0]
    others = form.tie_outputs.T - T @ np.linalg.lstsq(T, form.tie_outputs.T, rcond=1e-10)[0]
    parts = np.hstack([motions[:, prescribed], form.ties @ others])
    size = np.linalg.norm(parts, axis=0)
    parts = parts[:, size > ROUND_OFF * size.max(initial=0.0)]
    if not parts.size:
        return np.zeros((len(form.structure), 0))
    left, values, _ = linalg.svd(parts / np.linalg.norm(parts, axis=0), full_matrices=False)
    return np.asarray(left[:, values > ROUND_OFF])
