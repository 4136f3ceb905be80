"""Does a smaller step go on smoothly from velocities that a longer one left (docs/theory.md, 4)?"""

import warnings

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.nearest_solution import smallest_solution
from phlexible.errors import StepWarning
from phlexible.system.layout import State
from phlexible.system.system import System

NOTICEABLE = 0.5


def warn_of_velocity_gap(system: System, state: State, multipliers: Array, step: float) -> None:
    """Warns where multipliers would swing by more than half of their size from step to step.

    The step demands g = 0, so that nu misses G nu = -g_t by O(h^2) with a sign that changes each step
    (4.15). The change takes forces of 2 M delta(nu) / h: small for the step that left
    the gap, not for a much smaller one.

    Args:
        system: what moves.
        state: where the run goes on.
        multipliers: there, of joints and drives and possibly more behind them, shape (rows or more,).
        step: h of the steps to come [s].
    """
    at, mass = system.at(state), system.mass(state)
    matrix = system.rows.matrix(at)
    gap = matrix @ state.velocity + system.rows.drift(at)[0]
    weight = 1 / np.sqrt(mass.diagonal())
    swing = weight * (2 / step * (mass @ smallest_solution(mass, matrix, gap)))
    usual = float(np.linalg.norm(weight * (matrix.T @ multipliers[: matrix.shape[0]])))
    if np.linalg.norm(swing) > NOTICEABLE * usual:
        warnings.warn(
            f"the stored steps were much longer than {step:g} s, and their velocities miss the joints' by "
            "more than such a step smooths: joint forces of single steps swing about their mean by "
            f"{np.linalg.norm(swing) / max(usual, 1e-300):.2g} times their size. Reactions, means of two "
            "steps, are right but for the last instant; so are positions, energy and momenta. Take a longer "
            "step, or simulate from t = 0 with the shorter one",
            StepWarning,
            stacklevel=4,
        )
