"""Where the nodes of a soft body are at t = 0 and how fast they move, from what the user gave."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.user_functions import called, check_callable
from phlexible.errors import ParameterError


def moved_places(shape: Any, places: Array, dimension: int, position: Array, rotation: Array) -> Array:
    """Positions of the nodes (N, 3) of places (N, 3): as they are, a function of a place, or given one by one.

    Raises:
        ParameterError: wrong shapes, numbers that are not finite, or nodes that leave the plane.
    """
    local = places if shape is None else _values("shape", shape, places)
    return _in_plane("shape", position + local @ rotation.T, dimension)


def node_velocities(velocity: Any, places: Array, dimension: int) -> Array | None:
    """Velocities of the nodes (N, 3): one for all, a function of the undeformed place, or one by one."""
    if velocity is None:
        return None
    return _in_plane("velocity", _values("velocity", velocity, places), dimension)


def _values(name: str, given: Any, places: Array) -> Array:
    if callable(given):
        check_callable(name, given, "x")
        found = []
        for place in places:
            at = f"at x = {place.tolist()}"
            value = numbers(f"{name} {at}", called(given, name, place.copy(), at=at), "three numbers")
            found.append(_three(name, value, f" {at}"))
        return np.array(found)
    values = numbers(name, given, "a function of x or an array of numbers")
    if name == "velocity" and values.ndim == 1:
        return np.tile(_three(name, values, ""), (len(places), 1))
    if values.ndim != 2 or len(values) != len(places) or values.shape[1] not in (2, 3):
        raise ParameterError(
            f"{name} must be a function of x or an array of shape ({len(places)}, 3), one row a node of the body "
            f"(body.nodes), got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ParameterError(f"{name} must be finite")
    return np.hstack([values, np.zeros((len(values), 3 - values.shape[1]))])


def _three(name: str, value: ArrayLike, at: str) -> Array:
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((2,), (3,)) or not np.isfinite(values).all():
        raise ParameterError(f"{name} must be three finite numbers, got {values.tolist()}{at}")
    return np.array([*values, 0.0][:3])


def _in_plane(name: str, values: Array, dimension: int) -> Array:
    if values[:, dimension:].any():
        worst = values[np.abs(values[:, dimension:]).max(axis=1).argmax()]
        raise ParameterError(f"{name} must stay in the plane of a planar model, got {worst.tolist()}")
    return values
