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
        """Return a list of real columns that span the responses of the linear model to unit inputs at angular
        frequency ``omega`` [rad/s], most energy first.

        Each of shape (n, 1), or (n, 2) with its partner, without which it would drift.
        """

    @abstractmethod
    def static_columns(self) -> list[Array]:
        """Return a list of real columns that span the responses of the linear model to constant unit inputs, in
        balance with rigid acceleration."""

    @abstractmethod
    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the relative error of the frequency response of the linear model, reduced with ``basis``, shape
        (n, k), at each frequency of ``grid`` [rad/s]."""


def moment_basis(answers: Answers, basis: Array, most: int, frequencies: Sequence[float]) -> Array:
    """Extend an orthonormal reduction ``basis`` (n, k) by responses of the model (``answers``) at
    ``frequencies`` [rad/s], up to ``most`` columns: first the response of most energy at each frequency, then
    the second of each, and so on."""
    found = [answers.columns(omega) for omega in frequencies]
    for rank in range(max(map(len, found), default=0)):
        for columns in found:
            basis = _with_whole(answers, basis, columns[rank : rank + 1], most)
    return basis


def extended_basis(answers: Answers, basis: Array, most: int, poles: Array) -> Array:
    """Extend an orthonormal reduction ``basis``, shape (n, k), by static responses of the model (``answers``),
    then by responses at its ``poles``, lowest first. Now and then one at the frequency where the error is largest
    follows. The result has at most ``most`` columns.

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
    """Return ``basis`` (n, k) extended by the entries of the list ``columns``, at most ``most`` columns in
    all. An entry is one vector, or a vector and its partner; it is added whole, or not if its vector is
    dependent. The first that does not fit ends the extension. ``answers`` has the metric."""
    for each in columns:
        if basis.shape[1] + each.shape[1] > most:
            break
        first = extended(answers.metric, basis, each[:, :1], most)
        if first.shape[1] > basis.shape[1]:
            basis = extended(answers.metric, first, each[:, 1:], most)
    return basis


def extended(metric: sparse.csr_array, basis: Array, columns: Array, most: float) -> Array:
    """Return ``basis`` (n, k) with further columns from ``columns``, orthonormal in ``metric`` by
    Gram-Schmidt, in their order. Columns that are zero or nearly in the span of the others are left out; the
    result has at most ``most`` columns."""
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
    """Split complex columns ``answers`` (n, k) into real ones, shape (n, 2 k). The first k are real or
    imaginary part of each column, whichever is longer; the last k are the other parts in the same order."""
    real, imaginary = np.real(answers), np.imag(answers)
    larger = np.linalg.norm(real, axis=0) >= np.linalg.norm(imaginary, axis=0)
    return np.hstack([np.where(larger, real, imaginary), np.where(larger, imaginary, real)])


def by_energy(metric: sparse.csr_array, answers: ComplexArray | Array) -> ComplexArray | Array:
    """Return the eigenvectors ``answers`` @ z of their energy matrix ``answers``^H metric ``answers`` with
    energies above round-off, most energy first. ``answers`` (n, k) are responses to unit inputs. If some
    energies are round-off, all ``answers`` follow as further columns. Near a resonance the first column is
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
    """Return a grid of angular frequencies [rad/s], shape (frequencies,), from 0.05 times the first pole to 1.1
    times the last one. There are 12 between any two poles."""
    if not len(poles):
        return np.array([1.0])
    ends = np.concatenate([[0.05 * poles[0]], poles, [1.1 * poles[-1]]])
    steps = (np.arange(GRID) + 0.5) / GRID
    return np.concatenate([a + (b - a) * steps for a, b in pairwise(ends)])


def greatest_error(response: ComplexArray, exact: ComplexArray) -> float:
    """Return the largest |``response`` - ``exact``| / |``exact``| of all entries of two frequency responses,
    shape (outputs, inputs). Where the exact entry is zero, the absolute error counts."""
    size = np.abs(exact)
    return float((np.abs(response - exact) / np.where(size > 0, size, 1.0)).max(initial=0.0))
