"""Implicit solution for the values of laws of the state, which depend on the step that they act in (docs/theory.md,
8)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

GOAL = 1e-13  # of the largest value: changes that are left out
ROUND_OFF = 1e-9  # of it: changes below that do not fall are those of the law's own digits
NEGLIGIBLE = 1e-15  # values that move all mass by this share of the reach in a step
PROBE = 1e-6  # the same: of differences
PROBE_RANGE = 1e-9, 1e-4  # of the reach, in which what moves by them shall be
FALLS = 0.3  # of changes from trial to trial; slower: the slope is found by differences
LENGTHS = tuple(0.5**k for k in range(6))  # of changes with a matrix that was just made
MOST_CHANGES = 20
MOST_PROBES = 4  # sizes of a difference
MOST_SHARES = 150  # trials with shares of what laws say
LEAST_SHARE = 1e-3  # below it a value has crossed its law often: where that jumps


class Trial(NamedTuple):
    """Result of a time step that was attempted with some values of the state-dependent user functions: what these
    functions return at its mean state, and how the bodies moved.

    Attributes:
        law_values: values of the laws at its mean state, shape (values,).
        moved: changes of all positions that forces act on or laws measure, flat [m].
    """

    law_values: Array
    moved: Array


Take = Callable[[Array], Trial | None]
"""Takes the step with given values, always from the same state; None where that fails."""


class ImplicitLaws:
    """Quasi-Newton solver for the values f of state-dependent user functions in a time step. They must satisfy f =
    g(f), where g returns the values of the functions at the mean state of the step that f causes.

    The matrix (1 - dg/df)^-1 is improved from trial to trial by Broyden's formula, also from step to step; if that
    fails to converge it is formed by difference quotients. Values that are not yet exact act as prescribed forces:
    they do not disturb the energy balance of a step.

    Args:
        arms: length [m] that makes each value a force: 1, or more for a torque, shape (values,).
        mass: mass of all bodies [kg].
        reach: size of the model [m].

    A law that jumps (friction without a slope, a switch, noise) may have no such values. A step then uses values
    between the sides of the jump, as dry friction does while it sticks.

    Attributes:
        memory: values stored from step to step, shape (values,).
        jumps: steps so far in which a value did not equal its law, shape (values,).
    """

    def __init__(self, arms: Array, mass: float, reach: float) -> None:
        n = len(arms)
        self._unit, self._reach = arms * mass * reach, reach
        self.memory = np.zeros(n * n + 2 * n + 1 if n else 0)
        self.jumps: IntArray = np.zeros(n, dtype=np.int64)
        self._inverse = self.memory[: n * n].reshape(n, n)  # less one
        self._last, self._slope = self.memory[n * n : n * n + n], self.memory[n * n + n : n * n + 2 * n]

    @property
    def are_needed(self) -> bool:
        """Whether the mechanism has laws of the state (user functions that give forces) whose values must be
        solved for in each time step."""
        return len(self._unit) > 0

    def solve(self, h: float, take: Take) -> bool:
        """Solve for the values of all state-dependent user functions in a time step of length h [s], and return
        whether that succeeded. ``take`` attempts the step with given values and returns a ``Trial``, or None if it
        fails; its last call is the solution. A quasi-Newton iteration is used, and if it fails, as at jumps of a
        function, a fixed-point iteration. Values and matrix are stored as guesses for the next step.
        """
        inverse, last_step = np.eye(len(self._unit)) + self._inverse, self.memory[-1]
        values = self._last + self._slope * (h + last_step) / 2
        found = self._quasi_newton(h, values, inverse, take)
        if found is None:
            between = self._values_at_jumps(values, inverse, take)
            if between is None:
                return False
            found = between, inverse
        values, inverse = found
        self._slope[:] = 2 * (values - self._last) / (h + last_step) if last_step else 0.0
        self._last[:], self._inverse[:] = values, inverse - np.eye(len(values))
        self.memory[-1] = h
        return True

    def _quasi_newton(self, h: float, values: Array, inverse: Array, take: Take) -> tuple[Array, Array] | None:
        """Solve f = g(f) by Broyden's method for the values f of state-dependent user functions in a time step of
        length h [s]. Return f, shape (values,), and the matrix (1 - dg/df)^-1; None without convergence. ``values``
        and ``inverse`` are first guesses of both. If the error does not decrease, the matrix is computed once anew
        by differences. ``take`` attempts the step with given values.
        """
        unit, is_fresh, is_here = self._unit / h**2, False, True
        here = take(values)
        if here is None:
            return None
        for _ in range(MOST_CHANGES):
            update = inverse @ (here.law_values - values)
            if np.abs(update).max() <= GOAL * np.abs(values).max():
                return (values, inverse) if is_here or take(values) is not None else None
            for length in LENGTHS if is_fresh else LENGTHS[:1]:
                change = length * update
                there = take(values + change)
                if there is None:
                    continue
                gap = there.law_values - values - change
                following = np.abs(inverse @ gap)
                if following.max() <= (1.0 - 0.25 * length if is_fresh else FALLS) * np.abs(update).max():
                    inverse = _broyden_update(inverse, change, gap - (here.law_values - values))
                    values, here, is_here = values + change, there, True
                    is_fresh = is_fresh and length == 1.0
                    break
                if following.max() <= ROUND_OFF * np.abs(values).max() or (following <= NEGLIGIBLE * unit).all():
                    return values + change, inverse
            else:
                made = None if is_fresh else self._by_differences(values, here, unit, take)
                if made is None:
                    return None
                inverse, is_fresh, is_here = made, True, False
        return None

    def _values_at_jumps(self, values: Array, inverse: Array, take: Take) -> Array | None:
        """Return values of state-dependent user functions that may jump, between both sides of a jump, shape
        (values,). They come from a fixed-point iteration that starts at ``values`` and uses ``inverse``, an
        estimate of (1 - dg/df)^-1 for the functions g; the step of a value is halved each time its residual changes
        its sign. A value that still has a residual at the least step counts as jumping, in ``jumps``. None if
        ``take``, which attempts the time step with given values, fails, or without convergence.

        A residual may remain only where the fraction of it by which a value moves has become small: there the law
        jumps. Laws without jumps, in steps that are too long, do not converge so.
        """
        shares, before = np.ones(len(values)), np.zeros(len(values))
        for _ in range(MOST_SHARES):
            here = take(values)
            if here is None:
                return None
            missed = inverse @ (here.law_values - values)
            limit = ROUND_OFF * max(np.abs(values).max(), np.abs(here.law_values).max())
            if (np.abs(shares * missed) <= limit).all():
                is_jump = np.abs(missed) > limit
                if (shares[is_jump] > LEAST_SHARE).any():
                    return None
                self.jumps += is_jump
                return values
            shares = np.where(missed * before < 0.0, 0.5 * shares, shares)
            before, values = missed, values + shares * missed
        return None

    def _by_differences(self, values: Array, here: Trial, unit: Array, take: Take) -> Array | None:
        """Return the matrix (1 - dg/df)^-1 of state-dependent user functions g, shape (values, values), by
        difference quotients. Each value is changed by itself, by multiples of ``unit``, until the motion of an
        attempted time step changes by an amount that suits the accuracy. ``here`` is the attempt with ``values``;
        ``take`` attempts the step with others. None if attempts fail repeatedly or the matrix is singular.
        """
        slopes = np.zeros((len(values), len(values)))
        least, most = (share * self._reach for share in PROBE_RANGE)
        for k in range(len(values)):
            change = np.zeros(len(values))
            change[k] = PROBE * unit[k]
            for _ in range(MOST_PROBES):
                there = take(values + change)
                if there is None:
                    change *= PROBE
                    continue
                moved = float(np.abs(there.moved - here.moved).max(initial=0.0))
                if moved == 0.0 or least <= moved <= most:
                    break
                change *= PROBE * self._reach / moved
            if there is None:
                return None
            slopes[:, k] = (there.law_values - here.law_values) / change[k]
        try:
            return np.asarray(np.linalg.inv(np.eye(len(values)) - slopes))
        except np.linalg.LinAlgError:
            return None


def _broyden_update(inverse: Array, update: Array, change: Array) -> Array:
    """Return the ``inverse`` Jacobian of f - g(f) after an update by Broyden's formula, shape (values, values).
    ``update`` is the change of f, ``change`` the change of g(f) - f that it caused. ``inverse`` is returned
    unchanged if the formula would divide by nearly zero."""
    along = update @ inverse
    size = float(along @ change)
    if abs(size) <= 1e-12 * float(np.linalg.norm(along) * np.linalg.norm(change)):
        return inverse
    return np.asarray(inverse - np.outer(update + inverse @ change, along) / size)
