"""What every stored energy of a string is: a density W(C) of C = ``|dr/ds|^2`` and what follows from it.

Numbers in brackets are equations of Kinon et al. (2023). The compiled step has the same laws in
``kernels/forces/laws.py``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, positive


class StringLaw(ABC):
    """A stored energy W(C) per unit of undeformed length [J/m = N]; C = ``|dr/ds|^2`` (3), C = 1 undeformed."""

    @property
    @abstractmethod
    def modulus(self) -> float:
        """Axial stiffness EA of the undeformed string, 4 W''(1) [N]."""

    @abstractmethod
    def energy(self, C: ArrayLike) -> Array:
        """W(C) [N], of the shape of C."""

    @abstractmethod
    def derivative(self, C: ArrayLike) -> Array:
        """dW/dC [N]."""

    @abstractmethod
    def curvature(self, C: ArrayLike) -> Array:
        """d2W/dC2 [N]."""

    @abstractmethod
    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """(W(C1) - W(C0)) / (C1 - C0) (36), also where C1 is close to C0, without cancellation [N]."""

    def stress(self, C: ArrayLike) -> Array:
        """S = 2 dW/dC (4) [N]."""
        return 2 * self.derivative(C)

    def tension(self, C: ArrayLike) -> Array:
        """N = S sqrt(C) (2, 10) [N]; negative where a slack string is pressed together."""
        return np.asarray(self.stress(C) * np.sqrt(C))


@dataclass(frozen=True)
class LogarithmicLaw(StringLaw):
    """W = EA/4 (C - ln C - 1) (7): no finite energy shrinks the string to a point.

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.
    """

    axial_stiffness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axial_stiffness", positive("axial_stiffness", self.axial_stiffness))

    @property
    def modulus(self) -> float:
        return self.axial_stiffness

    def energy(self, C: ArrayLike) -> Array:
        strain = np.asarray(C, dtype=np.float64) - 1
        return np.asarray(self.axial_stiffness / 4 * (strain - np.log1p(strain)))

    def derivative(self, C: ArrayLike) -> Array:
        """S / 2 of (8)."""
        C = np.asarray(C, dtype=np.float64)
        return np.asarray(self.axial_stiffness / 4 * (C - 1) / C)

    def curvature(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 4 / np.square(C, dtype=np.float64))

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """EA/4 (1 - log1p(d) / d / C0) with d = (C1 - C0) / C0."""
        C0 = np.asarray(C0, dtype=np.float64)
        d = np.asarray((C1 - C0) / C0)
        slope = np.divide(np.log1p(d), d, out=np.ones_like(d), where=d != 0)
        return np.asarray(self.axial_stiffness / 4 * (1 - slope / C0))


@dataclass(frozen=True)
class LinearLaw(StringLaw):
    """W = EA/2 (sqrt(C) - 1)^2 (11): the tension is EA times the elongation.

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.
    """

    axial_stiffness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axial_stiffness", positive("axial_stiffness", self.axial_stiffness))

    @property
    def modulus(self) -> float:
        return self.axial_stiffness

    def energy(self, C: ArrayLike) -> Array:
        C = np.asarray(C, dtype=np.float64)
        return np.asarray(self.axial_stiffness / 2 * ((C - 1) / (np.sqrt(C) + 1)) ** 2)

    def derivative(self, C: ArrayLike) -> Array:
        return self.discrete_derivative(C, C)

    def curvature(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 4 * np.asarray(C, dtype=np.float64) ** -1.5)

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """EA/2 (1 - 2 / (sqrt(C0) + sqrt(C1)))."""
        return np.asarray(self.axial_stiffness / 2 * (1 - 2 / (np.sqrt(C0) + np.sqrt(C1))))


@dataclass(frozen=True)
class StVenantKirchhoffLaw(StringLaw):
    """W = EA/8 (C - 1)^2 (12): the stress is EA/2 (C - 1) (13).

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.
    """

    axial_stiffness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axial_stiffness", positive("axial_stiffness", self.axial_stiffness))

    @property
    def modulus(self) -> float:
        return self.axial_stiffness

    def energy(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 8 * (np.asarray(C, dtype=np.float64) - 1) ** 2)

    def derivative(self, C: ArrayLike) -> Array:
        return self.discrete_derivative(C, C)

    def curvature(self, C: ArrayLike) -> Array:
        return np.full(np.shape(C), self.axial_stiffness / 4)

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """EA/4 ((C0 + C1) / 2 - 1)."""
        mean = (np.asarray(C0, dtype=np.float64) + np.asarray(C1, dtype=np.float64)) / 2
        return np.asarray(self.axial_stiffness / 4 * (mean - 1))
