"""Prescribed motions that several models of the gallery share."""

from collections.abc import Callable
from typing import Any

import numpy as np

Place = tuple[float, float, float]


def smooth_step(time: float, begin: float, end: float) -> float:
    """Return the value of a smooth step function of time, from 0 at ``begin`` to 1 at ``end``, constant
    before and after. It is x^2 (3 - 2 x) with x = (time - begin) / (end - begin)."""
    x = min(max((time - begin) / (end - begin), 0.0), 1.0)
    return x * x * (3 - 2 * x)


def smoother_step(x: Any) -> Any:
    """Return a polynomial of degree 5 of ``x`` (a number or an array, between 0 and 1) that rises from 0 to 1. Its
    slope and its curvature are zero at both ends."""
    return x**3 * (10 - 15 * x + 6 * x**2)


def run_up(speed: float, rise: float) -> Callable[[float], float]:
    """Return the angle of a motor as a function of time [rad]. Its angular velocity grows evenly from rest to
    ``speed`` [rad/s] at the time ``rise`` [s] and stays."""

    def angle(time: float) -> float:
        rising = min(time, rise)
        return speed * (0.5 * rising * rising / rise + time - rising)

    return angle


def smooth_run_up(speed: float, rise: float) -> Callable[[Any], Any]:
    """Return the angle of a hub as a function of time (a number or an array) [rad]. Its angular velocity grows from
    rest to ``speed`` [rad/s] at the time ``rise`` [s] without a jump of its angular acceleration, and stays."""

    def angle(time: Any) -> Any:
        s = np.minimum(time, rise)
        turned = s**2 / 2 + (rise / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * s / rise) - 1)
        return speed / rise * turned + speed * (time - s)

    return angle


def around_circle(radius: float, omega: float) -> tuple[Callable[[float], Place], Callable[[float], Place]]:
    """Return position [m] and velocity [m/s] of a point that goes evenly around a circle, as functions of time. The
    circle is about the origin in the xy plane, its start on the x axis, ``omega`` the angular velocity [rad/s]."""

    def position(time: float) -> Place:
        return radius * np.cos(omega * time), radius * np.sin(omega * time), 0.0

    def velocity(time: float) -> Place:
        return -radius * omega * np.sin(omega * time), radius * omega * np.cos(omega * time), 0.0

    return position, velocity
