"""Stored energy of a spring as a user's function of one coordinate."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, finite, numbers
from phlexible.algebra.portable import Portable
from phlexible.algebra.slopes import disagreement
from phlexible.algebra.user_functions import called, check_callable
from phlexible.errors import ParameterError

STRETCHES = 16
AGREEMENT = 1e-5
ROUND_OFF = 1e-9
CURVATURE_STEP = 6e-6


@dataclass(frozen=True, eq=False)
class Potential(Portable):
    """U(theta) and its slope dU/dtheta, checked against each other where the user says; kinks are fine.

    Write both with ordinary arithmetic and NumPy functions of one number: then they are compiled and
    cost next to nothing in the time step; other functions work too, slower.

    Attributes:
        energy: theta -> U [J].
        slope: theta -> dU/dtheta [N m/rad or N/m].
        around: a range of theta in which both are defined, for the check.

    Raises:
        ParameterError: no function, one that returns no finite number, or the slope is not that of the energy.
        FunctionError: a function raises within the range.
    """

    energy: Callable[[float], float]
    slope: Callable[[float], float]
    around: tuple[float, float] = (-0.5, 0.5)

    def __post_init__(self) -> None:
        for name in ("energy", "slope"):
            check_callable(f"{name} of a Potential", getattr(self, name), "theta")
        around = numbers("around", self.around, "two numbers (low, high)")
        if around.shape != (2,) or not (np.isfinite(around).all() and around[0] < around[1]):
            raise ParameterError(f"around must be two numbers (low, high), got {self.around!r}")
        object.__setattr__(self, "around", tuple(around.tolist()))
        places = np.linspace(around[0], around[1], STRETCHES + 1)
        slopes, energies = (np.array([f(x) for x in places]) for f in (self.slope_at, self.energy_at))
        width = float(around[1] - around[0])
        tolerance = AGREEMENT * np.abs(slopes).max() + ROUND_OFF * np.abs(energies).max() / width
        if found := disagreement(self.energy_at, self.slope_at, places, float(tolerance)):
            raise ParameterError(
                f"slope of the Potential is not the derivative of its energy: between {found.begin:.6g} and"
                f" {found.end:.6g} it is {found.mean:.6g} on average, the energy grows by {found.growth:.6g}"
            )

    def energy_at(self, theta: float) -> float:
        """U(theta).

        Raises:
            ParameterError: no finite number; names theta.
        """
        return self._value("energy", self.energy, theta)

    def slope_at(self, theta: float) -> float:
        """dU/dtheta.

        Raises:
            ParameterError: no finite number; names theta.
        """
        return self._value("slope", self.slope, theta)

    def curvature(self, theta: float) -> float:
        """d2U/dtheta2 from differences of the slope."""
        step = CURVATURE_STEP * max(1.0, abs(theta))
        return (self.slope_at(theta + step) - self.slope_at(theta - step)) / (2 * step)

    def _value(self, name: str, function: Callable[[float], float], theta: float) -> float:
        theta = float(theta)
        at = f"at {theta:.6g} (checked within around={self.around})"
        whose = f"{name} of a Potential"
        return finite(f"{whose} {at}", called(function, whose, theta, at=at), ANY_SIZE)
