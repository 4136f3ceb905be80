"""Krylov basis of states, from E, J, R, B and Q alone: answers ``(i w E - (J - R) Q)^-1 B`` at some frequencies.

One sparse LU a frequency, with all multipliers. Where nobody gave frequencies, they are the resonances that inputs
and outputs see, and then those where the error is greatest, as for mechanical models. Where velocities are told
from stresses, an answer gives a column of each: mixed ones would make low frequencies that the model has not.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.errors import PoleError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import algebraic_states
from phlexible.linear_analysis.first_order.energy_form import EnergyForm
from phlexible.linear_analysis.first_order.velocities_and_stresses import Kind, kinds_of_states
from phlexible.linear_analysis.modes.model_modes import lowest_model_modes
from phlexible.linear_analysis.observed import ObservedPHDAE
from phlexible.reduction.bases import joined
from phlexible.reduction.galerkin import StateBasis, state_galerkin
from phlexible.reduction.krylov import ASIDE, RESONANCES, frequency_grid, real_columns
from phlexible.reduction.normal_form import NormalForm

ComplexArray = NDArray[np.complex128]

UNSEEN = 1e-6
ROUND_OFF = 1e-9  # parts that lossless models do not have


def matched_columns(model: ObservedPHDAE, basis: Array, order: int, frequencies: Sequence[float]) -> Array:
    """The columns of ``basis`` and answers, orthonormal in the energy, shape (order of the model, <= order).

    Raises:
        PoleError: a given frequency is an undamped pole.
    """
    answers = _Answers(model)
    for omega in frequencies:
        basis = joined(model.energy_matrix, basis, answers.columns(answers.at(omega)), order)
    return basis


def chosen_columns(model: ObservedPHDAE, basis: Array, order: int, poles: Array) -> Array:
    """The same at frequencies chosen from the poles (k,) that inputs reach and outputs see [rad/s]."""
    answers = _Answers(model)
    poles = poles[: int(np.ceil(RESONANCES * (order - basis.shape[1]) / 2))]
    for pole in poles:
        largest = _largest(model, answers.at(pole * (1 + ASIDE)))
        basis = joined(model.energy_matrix, basis, answers.columns(largest)[:, :2], order)
    grid = frequency_grid(poles)
    found = [answers.at(omega) for omega in grid]
    unused = np.ones(len(grid), dtype=bool)
    while basis.shape[1] < order and unused.any():
        small = _Answers(state_galerkin(model, StateBasis(basis, "krylov"))) if basis.shape[1] else None
        error = [_error(model, small, omega, x) for omega, x in zip(grid, found, strict=True)]
        worst = int(np.argmax(np.where(unused, error, -1.0)))
        unused[worst] = False
        basis = joined(model.energy_matrix, basis, answers.columns(found[worst]), order)
    return basis


def seen_poles(model: ObservedPHDAE, form: EnergyForm, normal: NormalForm) -> Array:
    """Frequencies of the modes that inputs reach and outputs see, ascending [rad/s]."""
    modes = lowest_model_modes(model, model.order)
    free = form.free.T @ form.to_energy @ modes.shapes[:, modes.rigid_modes :]
    reached, seen = np.abs(free.conj().T @ normal.ports).T, np.abs(normal.outputs @ free)
    taken = [(part > UNSEEN * part.max(axis=1, keepdims=True, initial=0.0)).any(axis=0) for part in (reached, seen)]
    return np.asarray(modes.frequencies[modes.rigid_modes :][taken[0] & taken[1]])


class _Answers:
    """States x, multipliers at zero, of unit inputs ``exp(i w t)``."""

    def __init__(self, model: ObservedPHDAE) -> None:
        self._model = model
        self._system = model.system_matrix
        self._forces = model.port_map.toarray().astype(np.complex128)
        self._multipliers = algebraic_states(model)
        kinds = kinds_of_states(model)
        kinds[self._multipliers] = Kind.STRESS
        known = not (kinds == Kind.UNKNOWN).any()
        self._parts = [kinds == Kind.VELOCITY, kinds == Kind.STRESS] if known else [kinds == kinds]

    def at(self, omega: float) -> ComplexArray:
        """Shape (order of the model, inputs)."""
        x = self._solved(omega)
        x[self._multipliers] = 0.0
        return x

    def columns(self, answers: ComplexArray) -> Array:
        """Real columns that span answers, the larger parts of each first."""
        parts = [real_columns(answers * part[:, None]) for part in self._parts]
        found = np.stack(parts, axis=2).reshape(len(answers), -1)
        size = np.sqrt(np.abs(np.einsum("ij,ij->j", found, self._model.energy_matrix @ found)))
        return np.asarray(found[:, size > ROUND_OFF * size.max(initial=0.0)])

    def outputs(self, omega: float) -> ComplexArray:
        """Of the dynamic states, shape (outputs, inputs)."""
        return np.asarray(self._model.output_matrix @ self.at(omega))

    def _solved(self, omega: float) -> ComplexArray:
        matrix = sparse.csc_matrix(1j * omega * self._model.descriptor - self._system)
        try:
            x = np.asarray(splu(matrix).solve(self._forces))
        except RuntimeError:
            x = np.full(self._forces.shape, np.nan + 0j)
        if not np.isfinite(x).all():
            raise PoleError(f"no moments are matched at {omega:.10g} rad/s, an undamped pole; move it aside")
        return x


def _largest(model: ObservedPHDAE, answers: ComplexArray) -> ComplexArray:
    """The answer to the mix of inputs that gives most energy, shape (order of the model, 1): the mode."""
    energies = answers.conj().T @ (model.energy_matrix @ answers)
    _, mixes = np.linalg.eigh(energies)
    return np.asarray(answers @ mixes[:, -1:])


def _error(model: ObservedPHDAE, small: _Answers | None, omega: float, x: ComplexArray) -> float:
    """Greatest relative error over the outputs at one frequency."""
    exact = model.output_matrix @ x
    size = np.abs(exact)
    gap = size if small is None else np.abs(small.outputs(omega) - exact)
    return float((gap / np.where(size > 0, size, 1.0)).max(initial=0.0))
