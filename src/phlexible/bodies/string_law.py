"""Stored energies of strings: densities W(C), built-in ones and those of users."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, Positive, called, check_callable, convert_fields, finite
from phlexible.algebra.number_tape import exceeds
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_derivatives import disagreement, mean_value
from phlexible.errors import ParameterError

# Base class: a density W(C) of C = ``|dr/ds|^2`` with stress and tension.
#
# Numbers in brackets are equations of Kinon et al. (2023). The compiled step has the same laws in
# ``step/kernels/laws.py``.


class StringLaw(ABC):
    """Base class of the elastic laws of strings: a stored energy W(C) per undeformed length [J/m = N] of the strain
    C = ``|dr/ds|^2`` (3). C is 1 undeformed.
    """

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    @abstractmethod
    def modulus(self) -> float:
        """Axial stiffness EA = 4 W''(1) of a string with this elastic law at zero strain [N]. Abstract: each law
        implements it."""

    @abstractmethod
    def energy(self, C: ArrayLike) -> Array:
        """Return the stored energy W of this elastic law of a string per undeformed length, at strains C =
        ``|dr/ds|^2`` (squared stretch). It has the shape of C [N]. Abstract: each law implements it."""

    def derivative(self, C: ArrayLike) -> Array:
        """Return the first derivative dW/dC of the stored energy of this elastic law of a string, at strains C
        (squared stretch). It has the shape of C [N]."""
        return self.discrete_derivative(C, C)

    @abstractmethod
    def curvature(self, C: ArrayLike) -> Array:
        """Return the second derivative d2W/dC2 of the stored energy of this elastic law of a string, at strains C
        (squared stretch). It has the shape of C [N]. Abstract: each law implements it."""

    @abstractmethod
    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient (W(C1) - W(C0)) / (C1 - C0) of the stored energy of a string [N],
        accurate also for close strains. For equal strains it is dW/dC. With it, a time step conserves energy.
        Abstract: each law implements it."""

    def viscous_modulus(self, C: ArrayLike) -> Array:
        """Return the viscous coefficient EA / 4 of this elastic law of a string, constant, of the shape of C [N].
        Multiplied by Kelvin-Voigt time and dC/dt it is added to dW/dC."""
        return np.full(np.shape(C), self.modulus / 4)

    def stress(self, C: ArrayLike) -> Array:
        """Return the stress S = 2 dW/dC of this elastic law of a string at strains C = ``|dr/ds|^2`` (squared
        stretch); of the shape of C [N]."""
        return 2 * self.derivative(C)

    def tension(self, C: ArrayLike) -> Array:
        """Return the tension force N = S sqrt(C) of a string with this elastic law at strains C (squared stretch);
        of the shape of C [N]. It is negative where the string is compressed."""
        return np.asarray(self.stress(C) * np.sqrt(C))


@dataclass(frozen=True)
class StiffLaw(StringLaw):
    """Base class of stored energies of strings with a single parameter, the axial stiffness EA [N]."""

    axial_stiffness: Positive

    @property
    def modulus(self) -> float:
        return self.axial_stiffness


@dataclass(frozen=True)
class LogarithmicLaw(StiffLaw):
    """Elastic law of strings with the stored energy W = EA/4 (C - ln C - 1) (7). It is infinite where a string
    shrinks to a point.

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.

    Example:
        >>> law = ph.LogarithmicLaw(axial_stiffness=20.0)
        >>> rope = ph.String(length=1.0, line_density=0.1, elements=10, law=law)
        >>> rope.mass
        0.1
    """

    def energy(self, C: ArrayLike) -> Array:
        strain = np.asarray(C, dtype=np.float64) - 1
        return np.asarray(self.axial_stiffness / 4 * (strain - np.log1p(strain)))

    def derivative(self, C: ArrayLike) -> Array:
        """Return the first derivative dW/dC = EA/4 (1 - 1/C) of the logarithmic stored energy of a string at
        strains C (squared stretch); of the shape of C [N]."""
        C = np.asarray(C)
        return np.asarray(self.axial_stiffness / 4 * (C - 1) / C)

    def curvature(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 4 / np.square(C, dtype=np.float64))

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient of the logarithmic stored energy of a string between strains C0 and C1
        (squared stretches) [N], without cancellation: EA/4 (1 - log1p(d) / d / C0) with d = (C1 - C0) / C0."""
        C0 = np.asarray(C0, dtype=np.float64)
        d = np.asarray((C1 - C0) / C0)
        slope = np.divide(np.log1p(d), d, out=np.ones_like(d), where=d != 0)
        return np.asarray(self.axial_stiffness / 4 * (1 - slope / C0))


@dataclass(frozen=True)
class LinearLaw(StiffLaw):
    """Elastic law of strings with the stored energy W = EA/2 (sqrt(C) - 1)^2 (11), whose tension is EA times the
    elongation.

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.

    Example:
        >>> law = ph.LinearLaw(axial_stiffness=2e3)  # tension: 2 kN times the elongation
        >>> law.modulus
        2000.0
    """

    def energy(self, C: ArrayLike) -> Array:
        C = np.asarray(C, dtype=np.float64)
        return np.asarray(self.axial_stiffness / 2 * ((C - 1) / (np.sqrt(C) + 1)) ** 2)

    def curvature(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 4 * np.asarray(C, dtype=np.float64) ** -1.5)

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient of the stored energy of a linearly elastic string between strains C0 and
        C1 (squared stretches) [N]: EA/2 (1 - 2 / (sqrt(C0) + sqrt(C1)))."""
        return np.asarray(self.axial_stiffness / 2 * (1 - 2 / (np.sqrt(C0) + np.sqrt(C1))))


@dataclass(frozen=True)
class StVenantKirchhoffLaw(StiffLaw):
    """Elastic law of strings with the stored energy W = EA/8 (C - 1)^2 (12), whose stress is EA/2 (C - 1) (13).

    Attributes:
        axial_stiffness: EA [N].

    Raises:
        ParameterError: EA is not finite and positive.
    """

    def energy(self, C: ArrayLike) -> Array:
        return np.asarray(self.axial_stiffness / 8 * (np.asarray(C, dtype=np.float64) - 1) ** 2)

    def curvature(self, C: ArrayLike) -> Array:
        return np.full(np.shape(C), self.axial_stiffness / 4)

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient of the stored energy EA/8 (C - 1)^2 of a string between strains C0 and C1
        (squared stretches) [N]: EA/4 ((C0 + C1) / 2 - 1)."""
        mean = (np.asarray(C0) + np.asarray(C1)) / 2
        return np.asarray(self.axial_stiffness / 4 * (mean - 1))


@dataclass(frozen=True)
class TensionOnly(StringLaw):
    """Elastic law W(max(C, 1)) of a rope that goes slack, made from another law W (``String(tension_only=True)``).

    Attributes:
        law: stored energy where C > 1.

    Raises:
        ParameterError: no stored energy.
    """

    law: StringLaw

    def __post_init__(self) -> None:
        if not isinstance(self.law, StringLaw):
            raise ParameterError(f"law must be a stored energy such as LinearLaw(2e3), got {self.law!r}")

    @property
    def modulus(self) -> float:
        return self.law.modulus

    def energy(self, C: ArrayLike) -> Array:
        return self.law.energy(np.maximum(C, 1.0))

    def derivative(self, C: ArrayLike) -> Array:
        C = np.asarray(C)
        is_taut = exceeds(C, 1.0)
        return np.asarray(is_taut * self.law.derivative(is_taut * C + (1.0 - is_taut)))

    def curvature(self, C: ArrayLike) -> Array:
        return np.where(np.asarray(C) > 1, self.law.curvature(np.maximum(C, 1.0)), 0.0)

    def viscous_modulus(self, C: ArrayLike) -> Array:
        """Return the viscous coefficient of a rope that goes slack, of the shape of C [N]: EA / 4 where it is taut
        (C > 1, the squared stretch), zero elsewhere."""
        return np.asarray(self.modulus / 4 * exceeds(np.asarray(C), 1.0))

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient of the stored energy W(max(C, 1)) of a rope without compression between
        squared stretches C0 and C1 [N]. It is the product of the difference quotients of W and of max(C, 1). If
        both are equal it is dW/dC, or 0 where the rope is slack (C at most 1)."""
        C0, C1 = np.asarray(C0, dtype=np.float64), np.asarray(C1, dtype=np.float64)
        low, high = np.maximum(C0, 1.0), np.maximum(C1, 1.0)
        share = np.divide(high - low, C1 - C0, out=np.zeros(np.broadcast(C0, C1).shape), where=C0 != C1)
        share = np.where((C0 > 1) & (C1 > 1), 1.0, share)
        return np.asarray(share * self.law.discrete_derivative(low, high))


# A stored energy of the user: two functions of one number, checked against each other.

Function = Callable[[float], float]

CHECKED = np.geomspace(0.25, 4.0, 17)  # C, from half to double the length
TOLERANCE = 1e-6
NEAR = 0.1  # relative changes of C below which the mean of dW replaces the quotient


@dataclass(frozen=True)
class Law(Portable, StringLaw):
    """Elastic law of strings by a user's stored energy W(C) and its derivative, with C = ``|dr/ds|^2``; smooth but
    for a finite number of kinks.

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
        for name, value in (("W", self._energy_at), ("dW", self._slope_at)):
            check_callable(name, getattr(self, name), "C")
            for C in CHECKED.tolist():
                finite(f"{name}({C:.3g})", value(C))
        scale = float(np.abs(self.derivative(CHECKED)).max())
        if error := disagreement(self._energy_at, self._slope_at, CHECKED, TOLERANCE * scale):
            raise ParameterError(
                f"dW must be the derivative of W: between C = {error.begin:.3g} and {error.end:.3g} W grows by "
                f"{error.growth:.6g} per unit of C, the mean of dW is {error.mean:.6g}; use dW = dW/dC with "
                "C = |dr/ds|^2 (not the stretch, and not the stress S = 2 dW/dC)"
            )

    @property
    def modulus(self) -> float:
        """Axial stiffness EA = 4 W''(1) of a string with this user's stored energy W, at zero strain [N]."""
        return 4 * float(self.curvature(1.0))

    def energy(self, C: ArrayLike) -> Array:
        return entrywise(self._energy_at, C)

    def derivative(self, C: ArrayLike) -> Array:
        return entrywise(self._slope_at, C)

    def curvature(self, C: ArrayLike) -> Array:
        """Return the second derivative d2W/dC2 of a user's stored energy of a string at strains C (squared
        stretch), by central differences of dW; of the shape of C [N]."""
        C = np.asarray(C, dtype=np.float64)
        change = 1e-5 * C
        return np.asarray((self.derivative(C + change) - self.derivative(C - change)) / (2 * change))

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> Array:
        """Return the difference quotient (W(C1) - W(C0)) / (C1 - C0) of a user's stored energy W of a string [N].
        C0 and C1 are strains (squared stretches) that broadcast together. For close strains it is the mean of dW
        between them (8 Gauss points), if both agree to round-off.

        Where the two differ by more than the round-off of the quotient, dW has a kink in between and
        the quotient is right.
        """
        pairs = np.broadcast(np.asarray(C0, dtype=np.float64), np.asarray(C1, dtype=np.float64))
        values = [self._discrete_derivative(float(a), float(b)) for a, b in pairs]
        return np.array(values).reshape(pairs.shape)

    def _discrete_derivative(self, C0: float, C1: float) -> float:
        """Return the difference quotient (W(C1) - W(C0)) / (C1 - C0) of a user's stored energy W [N] between
        squared stretches C0 and C1. If both are equal, return dW/dC there. If they differ by less than a tenth of
        C0, return the integral mean of dW/dC instead, which has less round-off. The quotient is kept if that mean
        differs from it by more than its round-off."""
        change = C1 - C0
        if change == 0:
            return float(self._slope_at(C0))
        before, after = float(self._energy_at(C0)), float(self._energy_at(C1))
        quotient = (after - before) / change
        if abs(change) >= NEAR * C0:
            return quotient
        mean = mean_value(self._slope_at, C0, C1)
        round_off = 64 * np.finfo(float).eps * (abs(before) + abs(after) + abs(self.modulus)) / abs(change)
        return mean if abs(mean - quotient) <= round_off else quotient

    def _energy_at(self, C: float) -> float:
        """Return the value of the user's stored energy W at one strain C (squared stretch) [N]. An exception in
        it is raised again as ``FunctionError`` with the value of C."""
        value: float = called(self.W, "W", C, at=f"at C = {C:.6g}")
        return value

    def _slope_at(self, C: float) -> float:
        """Return the value of the user's derivative dW/dC at one strain C (squared stretch) [N]. An exception in
        it is raised again as ``FunctionError`` with the value of C."""
        value: float = called(self.dW, "dW", C, at=f"at C = {C:.6g}")
        return value


def entrywise(function: Function, C: ArrayLike) -> Array:
    """Return the values of a user's function of one number at each entry of the array C, by one call for each
    entry; the result has the shape of C."""
    values = np.asarray(C, dtype=np.float64)
    return np.array([float(function(float(c))) for c in values.ravel()]).reshape(values.shape)
