"""Krylov bases from responses of the full model at some frequencies, where the reduced model agrees with it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.errors import PoleError, ReductionWarning, warn_user

# What Krylov bases of motions and of states share: which answers, and in which order.
#
# Where frequencies are left out, the static answers to all inputs come first, so that each order has the right
# compliance. Of the others three of four columns are answers at the resonances that inputs and outputs see, in
# ascending order; each fourth one is found greedily: where the error is greatest up to the last of these
# resonances. No choice depends on the order that is asked for, so that the basis of a higher order holds those of
# lower ones: up to a resonance that all of them have, the error does not grow with the order.

ComplexArray = NDArray[np.complex128]

GRID = 12  # frequencies between two modes
GREEDY = 4  # each fourth column
ASIDE = 1e-4  # of a pole, where an undamped model is looked at instead
DEPENDENT = 1e-6
ROUND_OFF = 1e-13


class Answers(ABC):
    """Abstract source of Krylov bases: the responses of a linear model to its inputs at given frequencies.

    Attributes:
        metric: energy matrix, symmetric and positive semi-definite, shape (n, n).
        phases: number of columns of one response that matter: 2 where forces across the velocity turn motions.
    """

    metric: sparse.csr_array
    phases: int = 1

    @abstractmethod
    def columns(self, omega: float) -> list[Array]:
        """Return real columns that span the responses at a frequency [rad/s], those of most energy first.

        Each of shape (n, 1), or (n, 2) with its partner, without which it would drift.
        """

    @abstractmethod
    def static_columns(self) -> list[Array]:
        """Return real columns that span the responses to constant inputs, in balance with rigid acceleration."""

    @abstractmethod
    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the relative error of the model reduced with a basis, shape (n, k), at each frequency of ``grid``
        [rad/s].
        """


def matched_basis(answers: Answers, basis: Array, most: int, frequencies: Sequence[float]) -> Array:
    """Extend an orthonormal basis by responses at the given frequencies, an equal share for each, up to ``most``
    columns.
    """
    found = [answers.columns(omega) for omega in frequencies]
    for rank in range(max(map(len, found), default=0)):
        for columns in found:
            basis = _with_whole(answers, basis, columns[rank : rank + 1], most)
    return basis


def chosen_basis(answers: Answers, basis: Array, most: int, poles: Array) -> Array:
    """Extend an orthonormal basis by static responses and by responses at automatically chosen frequencies (poles
    and points of largest error), up to ``most`` columns.

    Args:
        poles: poles that inputs reach and outputs see, shape (k,) [rad/s].
    """
    whole = _with_whole(answers, basis, answers.static_columns(), np.inf)
    if whole.shape[1] <= most:
        basis = whole
    else:
        warn_user(
            f"static answers to all inputs need {whole.shape[1]} vectors or more, and at this order there are "
            f"{most}: the compliance of the reduced model is approximate; take a higher order, or fewer "
            "inputs: reduce(order, inputs=[...])",
            ReductionWarning,
        )
    grid = frequency_grid(poles)
    unused = np.ones(len(grid), dtype=bool)
    served = added = 0
    while basis.shape[1] < most:
        added += 1
        if served < len(poles) and added % GREEDY:
            omega = poles[served] * (1 + ASIDE)
            served += 1
        else:
            near = np.flatnonzero(unused if served == len(poles) else unused & (grid < poles[served - 1]))
            if not len(near):
                break
            worst = near[np.argmax(answers.errors(basis, grid[near]))]
            unused[worst] = False
            omega = grid[worst]
        with suppress(PoleError):
            columns = answers.columns(omega)[: answers.phases]
            if columns and basis.shape[1] + columns[0].shape[1] > most:
                break
            basis = _with_whole(answers, basis, columns, most)
    return basis


def _with_whole(answers: Answers, basis: Array, columns: list[Array], most: float) -> Array:
    """Extend an orthonormal basis by those columns that are new to it, each together with its partner, up to
    ``most`` columns.
    """
    for each in columns:
        if basis.shape[1] + each.shape[1] > most:
            break
        first = joined(answers.metric, basis, each[:, :1], most)
        if first.shape[1] > basis.shape[1]:
            basis = joined(answers.metric, first, each[:, 1:], most)
    return basis


def joined(metric: sparse.csr_array, basis: Array, columns: Array, most: float) -> Array:
    """Extend a basis by those columns that are linearly independent of it, orthonormalized in the metric, up to
    ``most`` columns.
    """
    for column in columns.T:
        if basis.shape[1] >= most:
            break
        size = float(np.sqrt(max(column @ (metric @ column), 0.0)))
        if size == 0:
            continue
        rest = column / size
        for _ in range(2):
            rest = rest - basis @ (basis.T @ (metric @ rest))
        left = float(np.sqrt(max(rest @ (metric @ rest), 0.0)))
        if left > DEPENDENT:
            basis = np.hstack([basis, (rest / left)[:, None]])
    return basis


def real_columns(answers: ComplexArray | Array) -> Array:
    """Split complex columns into real ones: first the larger of the real and imaginary part of each column, then
    the other parts.
    """
    real, imaginary = np.real(answers), np.imag(answers)
    larger = np.linalg.norm(real, axis=0) >= np.linalg.norm(imaginary, axis=0)
    return np.hstack([np.where(larger, real, imaginary), np.where(larger, imaginary, real)])


def largest_first(metric: sparse.csr_array, answers: ComplexArray | Array) -> ComplexArray | Array:
    """Return the responses to mixtures of the inputs, ordered by decreasing energy. Near a pole the first one is
    the mode.

    Args:
        metric: energy matrix, shape (n, n).
        answers: responses to unit inputs, shape (n, inputs).
    """
    energies, mixes = np.linalg.eigh(answers.conj().T @ (metric @ answers))
    told = energies > ROUND_OFF * energies.max(initial=0.0)
    found = answers @ mixes[:, told][:, ::-1]
    return found if told.all() else np.hstack([found, answers])  # small ones among others are exact


def frequency_grid(poles: Array) -> Array:
    """Return frequencies [rad/s] from well below the first pole to a little above the last, 12 between any two
    poles, shape (frequencies,).
    """
    if not len(poles):
        return np.array([1.0])
    ends = np.concatenate([[0.05 * poles[0]], poles, [1.1 * poles[-1]]])
    steps = (np.arange(GRID) + 0.5) / GRID
    between = [a + (b - a) * steps for a, b in pairwise(ends)]
    return np.concatenate(between)


def greatest_error(response: ComplexArray, exact: ComplexArray) -> float:
    """Return the largest error of a frequency response relative to the exact one, entry by entry, both of shape
    (outputs, inputs).
    """
    size = np.abs(exact)
    return float((np.abs(response - exact) / np.where(size > 0, size, 1.0)).max(initial=0.0))
