"""Functions of one invariant of C that stored energies are sums of (docs/theory.md, 5)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array

MOST_ITERATIONS = 60


class ScalarFunction(ABC):
    """A function h(x) for x > 0 with two derivatives; all take and return arrays [J/m3]."""

    @abstractmethod
    def value(self, x: Array) -> Array:
        """h."""

    @abstractmethod
    def slope(self, x: Array) -> Array:
        """dh/dx."""

    @abstractmethod
    def curvature(self, x: Array) -> Array:
        """d2h/dx2."""


@dataclass(frozen=True)
class Nothing(ScalarFunction):
    """h = 0."""

    def value(self, x: Array) -> Array:
        return np.zeros_like(x)

    def slope(self, x: Array) -> Array:
        return np.zeros_like(x)

    def curvature(self, x: Array) -> Array:
        return np.zeros_like(x)


@dataclass(frozen=True)
class Proportional(ScalarFunction):
    """h = a (x - 3)."""

    a: float

    def value(self, x: Array) -> Array:
        return self.a * (x - 3)

    def slope(self, x: Array) -> Array:
        return np.full_like(x, self.a)

    def curvature(self, x: Array) -> Array:
        return np.zeros_like(x)


@dataclass(frozen=True)
class Logarithms(ScalarFunction):
    """h = a ln x + b (ln x)^2: of the neo-Hookean law."""

    a: float
    b: float

    def value(self, x: Array) -> Array:
        return (self.a + self.b * np.log(x)) * np.log(x)

    def slope(self, x: Array) -> Array:
        return (self.a + 2 * self.b * np.log(x)) / x

    def curvature(self, x: Array) -> Array:
        return (2 * self.b - self.a - 2 * self.b * np.log(x)) / x**2


@dataclass(frozen=True)
class Reciprocal(ScalarFunction):
    """h = a (1 / x - 1): what an incompressible neo-Hookean membrane stores across itself."""

    a: float

    def value(self, x: Array) -> Array:
        return self.a * (1 / x - 1)

    def slope(self, x: Array) -> Array:
        return -self.a / x**2

    def curvature(self, x: Array) -> Array:
        return 2 * self.a / x**3


@dataclass(frozen=True)
class Thinning(ScalarFunction):
    """h = min over c of mu/2 (c - 1 - ln(x c)) + lame/8 ln(x c)^2: a membrane whose thickness sqrt(c) follows.

    Attributes:
        lame, shear: Lame's constants [Pa].
    """

    lame: float
    shear: float

    def squared_thickness(self, x: Array) -> Array:
        """c with mu (c - 1) + lame/2 ln(x c) = 0, of the shape of x; not a number where x is not positive."""
        ratio = self.lame / (2 * self.shear)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_x = np.log(x)
            log_c = -log_x * ratio / (1 + ratio)
            for _ in range(MOST_ITERATIONS):
                c = np.exp(log_c)
                change = (c - 1 + ratio * (log_x + log_c)) / (c + ratio)
                log_c = log_c - change
                if not (np.abs(change) > 1e-15 * (1 + np.abs(log_c))).any():
                    break
        return np.asarray(np.exp(log_c))

    def value(self, x: Array) -> Array:
        c = self.squared_thickness(x)
        log = np.log(x * c)
        return np.asarray(self.shear / 2 * (c - 1 - log) + self.lame / 8 * log**2)

    def slope(self, x: Array) -> Array:
        return -self.shear / 2 * self.squared_thickness(x) / x

    def curvature(self, x: Array) -> Array:
        c = self.squared_thickness(x)
        growth = -self.lame / (2 * x) / (self.shear + self.lame / (2 * c))
        return np.asarray(-self.shear / 2 * (growth / x - c / x**2))


@dataclass(frozen=True)
class OfUser(ScalarFunction):
    """A function of the user and its derivative, asked number by number; see ``InvariantLaw``."""

    function: Any
    derivative: Any

    def value(self, x: Array) -> Array:
        return _each(self.function, x)

    def slope(self, x: Array) -> Array:
        return _each(self.derivative, x)

    def curvature(self, x: Array) -> Array:
        """Central differences of the derivative."""
        change = 1e-5 * np.abs(x)
        return np.asarray((self.slope(x + change) - self.slope(x - change)) / (2 * change))


def _each(function: Any, x: Array) -> Array:
    values = np.asarray(x, dtype=np.float64)
    return np.array([float(function(float(each))) for each in values.ravel()]).reshape(values.shape)
