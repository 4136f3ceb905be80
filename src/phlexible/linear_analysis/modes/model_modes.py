"""Modes of any linear model: by its second-order form where it has one, else by its energy coordinates.

Without damping ``dy/dt = J y`` has a skew matrix, and -i J is Hermitian: eigenvalues are imaginary exactly.
The kernel of J - R holds what never changes, rigid motions and self-stresses (docs/theory.md, 7); it is
orthogonal to all other modes, with damping, too, and is split off first.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import whole
from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import without_algebraic_states
from phlexible.linear_analysis.first_order.energy_form import EnergyForm, IndefiniteEnergyError, energy_form
from phlexible.linear_analysis.linearize import Form
from phlexible.linear_analysis.modes.natural_modes import Modes, lowest_modes
from phlexible.linear_analysis.observed import ObservedPHDAE

ComplexArray = NDArray[np.complex128]

LARGEST = 4000
ZERO = 1e-12  # of the largest eigenvalue
ZERO_BY_LU = 1e-9
STILL = 1e-6  # share of the energy of a constant state that is kinetic


def lowest_model_modes(model: ObservedPHDAE, count: int) -> Modes:
    """The lowest modes of a linear model; inputs are zero, also those that prescribe a velocity.

    Raises:
        ParameterError: a count below 1.
        ModelError: more than 4000 states without second-order form, or an E that is singular beyond
            multipliers of constraints.
    """
    if model.mechanics is not None:
        modes = lowest_modes(model.mechanics, count, model.linearization)
        return replace(modes, self_stresses=_self_stresses(model, modes.rigid_modes))
    count = whole("count", count)
    if model.order > LARGEST:
        raise ModelError(
            f"modes of {model.order} states without mechanical form need dense matrices (at most {LARGEST}); "
            "take those of the model that linearize returned"
        )
    try:
        form = energy_form(model)
    except IndefiniteEnergyError:
        return _modes_without_energy(model, count)
    found = _modes_of_pairs(form) or _modes_of_states(form)
    upper = found.values.imag > -ZERO * np.abs(found.values).max(initial=0.0)
    values, states = found.values[upper], found.states[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    rigid = found.motions.shape[1]
    values = np.concatenate([np.zeros(rigid), values[order]])
    shapes = form.from_energy @ np.hstack([found.motions, states[:, order]])
    return Modes(values[:count], shapes[:, :count], rigid, None, found.self_stresses)


@dataclass(frozen=True, eq=False)
class _AllModes:
    """Of an energy form with n coordinates, states of energy 1/2.

    Attributes:
        motions: constant ones with kinetic energy, shape (n, rigid motions).
        self_stresses: number of the other constant ones.
        values: eigenvalues other than those of the constants, shape (k,).
        states: theirs, shape (n, k).
    """

    motions: Array
    self_stresses: int
    values: ComplexArray
    states: ComplexArray


def _modes_of_pairs(form: EnergyForm) -> _AllModes | None:
    """Of ``dv/dt = -L s, ds/dt = L^T v`` by the singular values of L; None where there is more to it."""
    coupling = form.coupling
    if coupling is None or form.among_free(form.dissipation).any():
        return None
    v, n = len(coupling), form.free.shape[1]
    gyroscopic = form.among_free(form.structure)[:v, :v]
    if np.abs(gyroscopic).max(initial=0.0) > ZERO * np.abs(coupling).max(initial=0.0):
        return None
    left, omega, right = linalg.svd(coupling) if coupling.size else (np.eye(v), np.zeros(0), np.eye(n - v))
    rank = int((omega > _round_off(form)).sum())
    moving, strained = form.free[:, :v] @ left, form.free[:, v:] @ right[:rank].T
    pairs = np.asarray((moving[:, :rank] - 1j * strained) / np.sqrt(2), dtype=np.complex128)
    values = np.asarray(1j * omega[:rank], dtype=np.complex128)
    return _AllModes(moving[:, rank:], n - v - rank, values, pairs)


def _modes_of_states(form: EnergyForm) -> _AllModes:
    """Of any J and R. Constants whose kind is not known count as motions."""
    kernel = _kernel(form.among_free(form.structure - form.dissipation), _round_off(form))
    constants = form.free @ kernel
    v = len(constants) if form.velocities is None else form.velocities
    _, shares, rotation = linalg.svd(constants[:v]) if constants.size else (0, np.zeros(0), np.eye(0))
    motions = constants @ rotation[: int((shares**2 > STILL).sum())].T
    basis = form.free
    if kernel.shape[1]:
        basis = form.free @ linalg.qr(kernel)[0][:, kernel.shape[1] :]
    J = basis.T @ form.structure @ basis
    if form.dissipation.any():
        values, states = linalg.eig(J - basis.T @ form.dissipation @ basis)
    else:
        omega, states = linalg.eigh(-0.5j * (J - J.T))
        values = 1j * omega
    number = constants.shape[1] - motions.shape[1]
    return _AllModes(motions, number, *(np.asarray(each, dtype=np.complex128) for each in (values, basis @ states)))


def _round_off(form: EnergyForm) -> float:
    """Of a rate, by the size of what constraints cut it from."""
    largest = max(np.abs(matrix).max(initial=0.0) for matrix in (form.structure, form.dissipation))
    return float(ZERO * len(form.structure) * largest)


def _kernel(matrix: Array, round_off: float) -> Array:
    """Orthonormal basis of the kernel of J - R."""
    if not matrix.size:
        return np.zeros((len(matrix), 0))
    _, values, right = linalg.svd(matrix)
    return np.asarray(right[values <= round_off].T)


def _self_stresses(model: ObservedPHDAE, rigid: int) -> int:
    """Stress states less the ranks of what strains them."""
    mechanics = model.mechanics
    if mechanics is None or model.form is not Form.STRESS:
        return 0  # displacements that obey the joints
    rows = mechanics.constraint_matrix.shape[0]
    stresses = model.order - mechanics.size - rows
    return int(stresses - (mechanics.size - rows - rigid))


def _modes_without_energy(model: ObservedPHDAE, count: int) -> Modes:
    """All finite eigenvalues of a model whose energy is not positive; what is constant counts as rigid."""
    model = without_algebraic_states(model)
    E, A = model.descriptor.toarray(), model.system_matrix.toarray()
    values, states = linalg.eig(A, E)
    largest = float(np.abs(values).max(initial=0.0))
    upper = values.imag > -ZERO_BY_LU * largest
    values, states = values[upper], states[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    values = np.where(np.abs(values) <= ZERO_BY_LU * largest, 0.0, values)[order]
    return Modes(values[:count], states[:, order][:, :count], int((values == 0).sum()))
