"""Krylov basis: answers of the full model at some frequencies, so that the reduced model has the same there.

The vectors ``(K + i w (D + C) - w^2 M)^-1 F`` with ``G x = 0`` need no elimination of the joints
([B] 5.3). Where nobody gave frequencies, most of the columns are answers at the resonances that inputs and
outputs see, the others are found greedily: the next one is where the error is greatest.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError, PoleError
from phlexible.linear_analysis.frequency_response import harmonic_answers
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.symmetric_modes import SymmetricModes
from phlexible.reduction.bases import joined, ports, reachable_rigid_motions, static_answers, undamped_modes
from phlexible.reduction.modal import SPARE, seen_modes

ComplexArray = NDArray[np.complex128]

GRID = 12  # frequencies between two modes
RESONANCES = 0.75  # share of the columns
ASIDE = 1e-4  # of a pole, where an undamped model is looked at instead


def krylov_basis(mechanics: LinearMechanics, count: int, frequencies: Sequence[float] | None) -> Array:
    """M-orthonormal columns, shape (n, count); fewer where given frequencies do not span as many.

    Raises:
        ParameterError: fewer columns than rigid motions.
        PoleError: a given frequency is an undamped pole.
    """
    rigid = undamped_modes(mechanics, 1).rigid
    modes = undamped_modes(mechanics, rigid + SPARE * count + 2)
    basis = reachable_rigid_motions(mechanics, modes)
    if basis.shape[1] > count:
        raise ParameterError(f"order must be at least {2 * basis.shape[1]}: the inputs cause as many rigid motions")
    if frequencies is not None:
        for omega in frequencies:
            basis = joined(mechanics.mass, basis, _answers(mechanics, modes, omega), count)
        return basis
    poles = np.sqrt(modes.squares[seen_modes(mechanics, modes)])
    poles = poles[: int(np.ceil(RESONANCES * (count - basis.shape[1])))]
    for pole in poles:
        answer = real_columns(harmonic_answers(mechanics, pole * (1 + ASIDE)))
        basis = joined(mechanics.mass, basis, answer[:, : mechanics.forces.shape[1]], count)
    grid = frequency_grid(poles)
    answers = [harmonic_answers(mechanics, omega) for omega in grid]
    exact = np.array([mechanics.rows @ x for x in answers])
    unused = np.ones(len(grid), dtype=bool)
    while basis.shape[1] < count and unused.any():
        error = _errors(mechanics, basis, grid, exact)
        worst = int(np.argmax(np.where(unused, error, -1.0)))
        unused[worst] = False
        basis = joined(mechanics.mass, basis, real_columns(answers[worst]), count)
    return basis


def _answers(mechanics: LinearMechanics, modes: SymmetricModes, omega: float) -> Array:
    if omega == 0:
        return static_answers(mechanics, modes, ports(mechanics))
    try:
        return real_columns(harmonic_answers(mechanics, omega))
    except PoleError:
        raise PoleError(f"no moments are matched at {omega:.10g} rad/s, an undamped pole; move it aside") from None


def real_columns(answers: ComplexArray | Array) -> Array:
    """The larger one of real and imaginary part of each column first, then the others."""
    real, imaginary = np.real(answers), np.imag(answers)
    larger = np.linalg.norm(real, axis=0) >= np.linalg.norm(imaginary, axis=0)
    return np.hstack([np.where(larger, real, imaginary), np.where(larger, imaginary, real)])


def frequency_grid(poles: Array) -> Array:
    """Frequencies from well below the first resonance to a little above the last."""
    if not len(poles):
        return np.array([1.0])
    ends = np.concatenate([[0.05 * poles[0]], poles, [1.1 * poles[-1]]])
    steps = (np.arange(GRID) + 0.5) / GRID
    between = [a + (b - a) * steps for a, b in pairwise(ends)]
    return np.concatenate(between)


def _errors(mechanics: LinearMechanics, basis: Array, grid: Array, exact: ComplexArray) -> Array:
    """Largest relative error over the outputs at each frequency."""
    if not basis.shape[1]:
        return np.asarray(np.linalg.norm(exact, axis=(1, 2)))
    small = mechanics.projected(basis)
    M, K = small.mass.toarray(), small.stiffness.toarray()
    rates = (small.velocity + small.damping).toarray()
    errors = []
    for omega, answer in zip(grid, exact, strict=True):
        x = np.linalg.solve(K + 1j * omega * rates - omega**2 * M, small.forces)
        size = np.abs(answer)
        errors.append((np.abs(small.rows @ x - answer) / np.where(size > 0, size, 1.0)).max())
    return np.array(errors)
