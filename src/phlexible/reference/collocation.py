"""Collocation for port-Hamiltonian descriptor models of index 1 and 2: the papers' equations as they stand.

A stage i has the state X_i = x_0 + h sum_j a_ij K_j and obeys E(X_i) K_i = (J - R) z(X_i) + B u.
States whose rows and columns of E are zero are multipliers; their stage values are unknowns themselves,
so that they need no initial value, and their end value is that of the polynomial through the stages.
Gauss schemes can be projected at the end of a step along the constraint forces: E dx = J mu.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ConvergenceError
from phlexible.reference.equations import Equations
from phlexible.reference.newton_factors import NewtonFactors
from phlexible.reference.tableaux import Tableau

ITERATIONS = 30
SLOW = 0.2
CLOSE = 1e-7
STUCK = 0.3
FLOOR = 1e-12
DONE = 1e-14
EXPECTED = 1e-13
TRUSTED = 1e-3
ROUND_OFF = 1e-16
ABSURD = 1e30


@dataclass(frozen=True, eq=False)
class Step:
    """One step that has been taken, with its s stages.

    Attributes:
        length: h [s].
        end: the state at its end, shape (n,).
        times: of the stages, shape (s,) [s].
        stages: states, shape (s, n).
        rates: dx/dt of the stages, multipliers in place of their rates, shape (s, n).
        efforts: z of the stages, shape (s, n).
        first_multipliers: at the start of the step, from the polynomial through the stages, shape (multipliers,).
    """

    length: float
    end: Array
    times: Array
    stages: Array
    rates: Array
    efforts: Array
    first_multipliers: Array


class StageLoop:
    """One step at a time; keeps the factors of Newton's matrix as long as they are good.

    Args:
        equations: of the model.
        tableau: of the scheme.
        initial: a state, shape (n,).
        is_projected: whether the ends of the steps are moved onto the constraints.
    """

    expected = EXPECTED
    """The next change of Newton's method below which a step is done, relative."""

    def __init__(self, equations: Equations, tableau: Tableau, initial: Array, is_projected: bool) -> None:
        self.equations, self.tableau = equations, tableau
        self.is_projected = is_projected and equations.has_constraints
        self.largest = np.zeros(len(equations.block_begins))
        self.rates = np.zeros((tableau.stages, len(initial)))
        self.rates[:, equations.is_algebraic] = initial[equations.is_algebraic]
        self._factors: NewtonFactors | None = None
        self._start_weights, self._end_weights = tableau.weights_at(0.0), tableau.weights_at(1.0)

    def advance(self, time: float, step: float, x: Array) -> Step:
        """One step from the state x (n,) at a time [s]."""
        k, times = self.rates.copy(), time + step * self.tableau.nodes  # the last rates: Newton's first guess
        history: list[float] = []
        for _ in range(ITERATIONS):
            states = self._stage_states(x, step, k)
            is_fresh = self._factors is None or self._factors.step != step
            if self._factors is None or is_fresh:
                self._factors = self._factored(times, step, states, k)
            change = self._factors.solve(
                -self.equations.defects(times, states, k, self._efforts(x, step, k, states))
            )
            k = k + change
            history.append(self._size(states, step, change, is_first=not history))
            if not np.abs(k).max() < ABSURD:
                break
            if _is_done(history, self.expected):
                return self._finished(time, step, x, k, times)
            if len(history) > 1 and history[-1] > SLOW * history[-2]:
                is_small = history[-1] < (CLOSE if is_fresh else FLOOR)
                if is_small and history[-1] > STUCK * history[-2]:  # round-off
                    return self._finished(time, step, x, k, times)
                if not is_fresh and not is_small:
                    self._factors = None
        self._factors = None
        raise ConvergenceError(
            f"{self.tableau.name} does not converge at t = {time:g} s with step {step:g} s; take a smaller step",
            time,
            np.array(history),
        )

    def _efforts(self, x: Array, step: float, k: Array, states: Array) -> Array:
        """z of the stages, shape (s, n)."""
        return self.equations.model.efforts(states)

    def _stage_states(self, x: Array, step: float, k: Array) -> Array:
        return np.asarray(np.where(self.equations.is_algebraic, k, x + step * self.tableau.matrix @ k))

    def _finished(self, time: float, step: float, x: Array, k: Array, times: Array) -> Step:
        self.rates, algebraic = k, self.equations.is_algebraic
        states = self._stage_states(x, step, k)
        differential = x + step * self.tableau.weights @ k
        end = np.where(algebraic, self._end_weights @ k, differential)
        if self.is_projected:
            end = self.equations.projected(time + step, end)
        first = self._start_weights @ k[:, algebraic]
        return Step(step, np.asarray(end), times, states, k, self._efforts(x, step, k, states), np.asarray(first))

    def _factored(self, times: Array, step: float, states: Array, k: Array) -> NewtonFactors:
        middle = len(k) // 2  # the slope of one stage will do for all, and costs most
        slope, descriptor = self.equations.slope(float(times[middle]), states[middle], k[middle])
        return NewtonFactors(step, self.tableau.matrix, slope, descriptor, self.equations.is_algebraic)

    def _size(self, states: Array, step: float, change: Array, is_first: bool) -> float:
        """Greatest change of the stage states, relative to the largest entry so far of its block."""
        moved = np.where(self.equations.is_algebraic, change, step * self.tableau.matrix @ change)
        begins = self.equations.block_begins
        changes = np.maximum.reduceat(np.abs(moved).max(axis=0), begins)
        if is_first:  # later changes are small
            sizes = np.maximum.reduceat(np.abs(states + moved).max(axis=0), begins)
            self.largest = np.maximum(self.largest, sizes)
        counted = (self.largest > 0) & (changes > ROUND_OFF)
        return float(np.max(changes[counted] / self.largest[counted], initial=0.0))


def _is_done(history: list[float], expected: float) -> bool:
    """The last change is round-off, or the next one would be small at the speed of the last two."""
    if history[-1] <= DONE or len(history) < 2:
        return history[-1] <= DONE
    speed = history[-1] / history[-2]
    return speed < SLOW and history[-1] < TRUSTED and history[-1] * speed <= expected
