"""Energy, stress and tangent of elastic laws W(C), as functions of arrays of C (docs/theory.md, 5).

C is the metric of the deformed body in undeformed axes, shape (..., 3, 3); of a membrane C_33 = 1, whether the
law holds the thickness (plane strain) or leaves it free (plane stress, where W has it eliminated). Stress and
strain are written as six numbers in the order 11, 22, 33, 23, 13, 12, shear strains twice.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.soft.scalar_functions import ScalarFunction

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
IDENTITY = np.eye(3)


class Constitution(ABC):
    """W(C) per undeformed volume, with what follows from it.

    Attributes:
        lame, shear: Lame's constants for small strains [Pa].
    """

    lame: float
    shear: float

    @abstractmethod
    def energy(self, C: Array) -> Array:
        """W, shape (...) [J/m3]."""

    @abstractmethod
    def stress(self, C: Array) -> Array:
        """S = 2 dW/dC, symmetric, shape (..., 3, 3) [Pa]."""

    @abstractmethod
    def change(self, C: Array, dE: Array) -> Array:
        """dS at C for a change dE of E = (C - I) / 2, both (..., 3, 3) [Pa]."""

    def tangent(self, C: Array) -> Array:
        """dS/dE as a symmetric matrix (..., 6, 6) [Pa]."""
        columns = []
        for a, b in PAIRS:
            dE = np.zeros((3, 3))
            dE[a, b] = dE[b, a] = 1.0 if a == b else 0.5
            columns.append(as_six(self.change(C, np.broadcast_to(dE, C.shape))))
        return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class QuadraticConstitution(Constitution):
    """W = lame/2 (tr E)^2 + mu E:E, St. Venant-Kirchhoff."""

    lame: float
    shear: float

    def energy(self, C: Array) -> Array:
        E = (C - IDENTITY) / 2
        return np.asarray(self.lame / 2 * trace(E) ** 2 + self.shear * (E * E).sum(axis=(-2, -1)))

    def stress(self, C: Array) -> Array:
        return self.change(C, (C - IDENTITY) / 2)

    def change(self, C: Array, dE: Array) -> Array:
        return np.asarray(self.lame * trace(dE)[..., None, None] * IDENTITY + 2 * self.shear * dE)


@dataclass(frozen=True)
class InvariantConstitution(Constitution):
    """W = f(tr C) + g(tr cof C) + h(det C)."""

    first: ScalarFunction
    second: ScalarFunction
    third: ScalarFunction
    lame: float
    shear: float

    def energy(self, C: Array) -> Array:
        A = cofactor(C, C)
        return np.asarray(
            self.first.value(trace(C)) + self.second.value(trace(A)) + self.third.value(np.linalg.det(C))
        )

    def stress(self, C: Array) -> Array:
        A = cofactor(C, C)
        f, g, h = self.first.slope(trace(C)), self.second.slope(trace(A)), self.third.slope(np.linalg.det(C))
        rest = trace(C)[..., None, None] * IDENTITY - C
        return np.asarray(2 * (f[..., None, None] * IDENTITY + g[..., None, None] * rest + h[..., None, None] * A))

    def change(self, C: Array, dE: Array) -> Array:
        X, A, volume = 2 * dE, cofactor(C, C), np.linalg.det(C)
        rest, more = trace(C)[..., None, None] * IDENTITY - C, trace(X)[..., None, None] * IDENTITY - X
        f = self.first.curvature(trace(C)) * trace(X)
        g = self.second.curvature(trace(A)) * (rest * X).sum(axis=(-2, -1))
        h = self.third.curvature(volume) * (A * X).sum(axis=(-2, -1))
        g0, h0 = self.second.slope(trace(A)), self.third.slope(volume)
        result = f[..., None, None] * IDENTITY + g[..., None, None] * rest + h[..., None, None] * A
        return np.asarray(2 * (result + g0[..., None, None] * more + 2 * h0[..., None, None] * cofactor(C, X)))


def trace(A: Array) -> Array:
    """Shape (...)."""
    return np.asarray(np.trace(A, axis1=-2, axis2=-1))


def cofactor(A: Array, B: Array) -> Array:
    """The symmetric bilinear form of symmetric A, B whose value at (A, A) is the cofactor matrix of A."""
    AB, BA = A @ B, B @ A
    a, b = trace(A)[..., None, None], trace(B)[..., None, None]
    return np.asarray(((AB + BA) - a * B - b * A + (a * b - trace(AB)[..., None, None]) * IDENTITY) / 2)


def as_six(A: Array) -> Array:
    """Entries 11, 22, 33, 23, 13, 12 of symmetric matrices, shape (..., 6)."""
    return np.stack([A[..., a, b] for a, b in PAIRS], axis=-1)
