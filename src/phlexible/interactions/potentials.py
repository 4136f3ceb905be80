"""Stored energy of a spring as a user's function of one coordinate."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.errors import ParameterError

PROBES = 9
AGREEMENT = 1e-5
CURVATURE_STEP = 6e-6


@dataclass(frozen=True, eq=False)
class Potential:
    """U(theta) and its slope dU/dtheta, checked against each other where the user says.

    Write both with ordinary arithmetic and NumPy functions of one number: then they are compiled and
    cost next to nothing in the time step; other functions work too, slower.

    Attributes:
        energy: theta -> U [J].
        slope: theta -> dU/dtheta [N m/rad or N/m].
        around: a range of theta in which both are defined, for the check.

    Raises:
        ParameterError: a function returns no finite number, or the slope is not that of the energy.
    """

    energy: Callable[[float], float]
    slope: Callable[[float], float]
    around: tuple[float, float] = (-0.5, 0.5)

    def __post_init__(self) -> None:
        low, high = (float(end) for end in self.around)
        width = high - low
        if not (np.isfinite(width) and width > 0):
            raise ParameterError(f"around must be two numbers (low, high), got {self.around!r}")
        places = np.linspace(low + 0.05 * width, high - 0.05 * width, PROBES)
        step = 1e-4 * width
        slopes = np.array([float(self.slope(x)) for x in places])
        weights = np.array([1, -8, 8, -1]) / (12 * step)
        energies = np.array([[float(self.energy(x + k * step)) for k in (-2, -1, 1, 2)] for x in places])
        if not (np.isfinite(slopes).all() and np.isfinite(energies).all()):
            raise ParameterError(
                f"energy and slope of a Potential must be finite numbers between {low:g} and {high:g};"
                " give around=(low, high) where they are defined"
            )
        gap = np.abs(energies @ weights - slopes)
        scale = max(np.abs(slopes).max(), np.abs(energies @ weights).max())
        if gap.max() > AGREEMENT * scale + 1e-9 * np.abs(energies).max() / width:
            worst = int(gap.argmax())
            raise ParameterError(
                f"slope of the Potential is not the derivative of its energy: at {places[worst]:.6g} it is"
                f" {slopes[worst]:.6g}, the energy says {(energies @ weights)[worst]:.6g}"
            )

    def curvature(self, theta: float) -> float:
        """d2U/dtheta2 from differences of the slope."""
        step = CURVATURE_STEP * max(1.0, abs(theta))
        return (float(self.slope(theta + step)) - float(self.slope(theta - step))) / (2 * step)
