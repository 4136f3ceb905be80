"""Linear laws over a time in which their input is held (docs/theory.md, 8)."""

from dataclasses import replace

import numpy as np
from scipy.linalg import expm

from phlexible.algebra.arrays import Array
from phlexible.interactions.control.linear_law import LinearController


def held_input(A: Array, B: Array, duration: float) -> tuple[Array, Array]:
    """exp(A h) and its integral times B, by one exponential."""
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = A, B
    moved = expm(whole * duration)
    return np.asarray(moved[:n, :n]), np.asarray(moved[:n, n:])


def moves(law: LinearController, duration: float) -> tuple[Array, Array]:
    """x -> A x + B u over a time with constant u; of a discrete law from sample to sample."""
    return (law.A, law.B) if law.is_discrete else held_input(law.A, law.B, duration)


def sampled(law: LinearController, period: float) -> LinearController:
    """The discrete law of a continuous one whose input is held for a period [s]."""
    A, B = moves(law, period)
    return replace(law, A=A, B=B, is_discrete=True, period=period)
