"""A stored energy of the user: two functions of one number, checked against each other."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.bodies.string.law import StringLaw
from phlexible.errors import ParameterError

Function = Callable[[float], float]

CHECKED = np.geomspace(0.25, 4.0, 17)  # C, from half to double the length
TOLERANCE = 1e-6
PIECES = 64
NEAR = 0.1  # relative changes of C below which the mean of dW takes the place of the quotient
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True)
class Law(StringLaw):
    """A stored energy W(C) with its derivative, C = |dr/ds|^2; smooth but for a finite number of kinks.

    Both are compiled with the time step where Numba can compile them, and called as Python functions
    where it cannot (correct, some hundred times slower).

    Attributes:
        W: energy per unit of undeformed length [J/m = N], a function of one number.
        dW: its derivative dW/dC [N].

    Raises:
        ParameterError: functions that do not return one finite number between C = 1/4 and 4, or a dW
            that is not the derivative of W there.
    """

    W: Function
    dW: Function  # noqa: N815 (its name in the equations)

    def __post_init__(self) -> None:
        for name in ("W", "dW"):
            function = getattr(self, name)
            if not callable(function):
                raise ParameterError(f"{name} must be a function of C, got {function!r}")
            for C in CHECKED:
                _number(name, function, float(C))
        scale = float(np.abs(self.derivative(CHECKED)).max())
        for C0, C1 in itertools.pairwise(CHECKED):
            growth, mean = self._growth(C0, C1), _mean(self.dW, C0, C1)
            if not abs(growth - mean) <= TOLERANCE * scale and not self._only_kinks(C0, C1, scale):
                raise ParameterError(
                    f"dW must be the derivative of W: between C = {C0:.3g} and {C1:.3g} W grows by "
                    f"{growth:.6g} per unit of C, the mean of dW is {mean:.6g}; use dW = dW/dC with "
                    "C = |dr/ds|^2 (not the stretch, and not the stress S = 2 dW/dC)"
                )

    @property
    def modulus(self) -> float:
        """4 W''(1) [N]."""
        return 4 * float(self.curvature(1.0))

    def energy(self, C: ArrayLike) -> Array:
        return _each(self.W, C)

    def derivative(self, C: ArrayLike) -> Array:
        return _each(self.dW, C)

    def curvature(self, C: ArrayLike) -> Array:
        """Central differences of dW."""
        C = np.asarray(C, dtype=np.float64)
        change = 1e-5 * C
        return np.asarray((self.derivative(C + change) - self.derivative(C - change)) / (2 * change))

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """The mean of dW (8 Gauss points) where C1 is close to C0, the quotient otherwise.

        Where the two differ by more than the round-off of the quotient, dW has a kink in between and
        the quotient is right.
        """
        pairs = np.broadcast(np.asarray(C0, dtype=np.float64), np.asarray(C1, dtype=np.float64))
        values = [_discrete_derivative(self.W, self.dW, float(a), float(b), self.modulus) for a, b in pairs]
        return np.array(values).reshape(pairs.shape)

    def _growth(self, C0: float, C1: float) -> float:
        return float(self.energy(C1) - self.energy(C0)) / (C1 - C0)

    def _only_kinks(self, C0: float, C1: float, scale: float) -> bool:
        """Whether W and dW disagree in no more than two of many pieces, as they do where dW has a kink."""
        ends = np.linspace(C0, C1, PIECES + 1)
        pieces = itertools.pairwise(ends)
        wrong = [abs(self._growth(a, b) - _mean(self.dW, a, b)) > TOLERANCE * scale for a, b in pieces]
        return sum(wrong) <= 2


def _discrete_derivative(W: Function, dW: Function, C0: float, C1: float, modulus: float) -> float:
    change = C1 - C0
    if change == 0:
        return float(dW(C0))
    before, after = float(W(C0)), float(W(C1))
    quotient = (after - before) / change
    if abs(change) >= NEAR * C0:
        return quotient
    mean = _mean(dW, C0, C1)
    round_off = 64 * np.finfo(float).eps * (abs(before) + abs(after) + abs(modulus)) / abs(change)
    return mean if abs(mean - quotient) <= round_off else quotient


def _mean(dW: Function, C0: float, C1: float) -> float:
    places = (C0 + C1) / 2 + (C1 - C0) / 2 * POINTS
    return float(sum(w * float(dW(float(C))) for w, C in zip(WEIGHTS, places, strict=True))) / 2


def _each(function: Function, C: ArrayLike) -> Array:
    values = np.asarray(C, dtype=np.float64)
    return np.array([float(function(float(c))) for c in values.ravel()]).reshape(values.shape)


def _number(name: str, function: Function, C: float) -> None:
    try:
        value = float(function(C))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ParameterError(f"{name} must return one number for C = {C:.3g}, got {error!r}") from error
    if not np.isfinite(value):
        raise ParameterError(f"{name} must be finite for C between 1/4 and 4, got {value} at C = {C:.3g}")
