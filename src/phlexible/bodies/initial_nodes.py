"""Where the nodes of a string are at t = 0 and how fast they move, from what the user gave."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, called, check_callable, numbers, owned
from phlexible.algebra.portable import Portable
from phlexible.errors import ParameterError

Field = ArrayLike | Callable[[float], ArrayLike]
"""Values along a string: a function of s [m], or an array."""

FIELD = "a function of s or an array of numbers"


@dataclass(frozen=True, eq=False)
class InitialNodes(Portable):
    """The nodes of a string at t = 0, world axes.

    Attributes:
        positions: shape (N, 3) [m].
        velocities: shape (N, 3) [m/s]; None: solved from the joints.
        shape: what the user gave for the positions, before position and rotation; None: straight.
        speed: what the user gave for the velocities.
    """

    positions: Array
    velocities: Array | None
    shape: Field | None
    speed: Field | None


def initial_nodes(
    nodes: Array,
    dimension: int,
    shape: Field | None,
    speed: Field | None,
    position: Array,
    rotation: Array,
) -> InitialNodes:
    """The nodes of a string with nodes at s, shape (N,).

    Args:
        nodes: s of the nodes, shape (N,) [m].
        dimension: 1, 2 or 3.
        shape: a function of s that returns a position (3 numbers; in the plane 2 do, on a line 1), two ends (2, 3)
            of a straight and evenly stretched string, or the nodes (N, 3); None: along x from the
            origin, not stretched.
        speed: a velocity (3,) of all nodes, a function of s, or one for each node; world axes.
        position: added to the shape, shape (3,) [m].
        rotation: of the shape, shape (3, 3).

    Raises:
        ParameterError: wrong shapes, numbers that are not finite, or a nodes that leaves the plane.
    """
    if shape is None:
        local = np.outer(nodes, [1.0, 0.0, 0.0])
    elif callable(shape):
        local = _values("shape", shape, nodes, dimension)
    else:
        given = _table("shape", shape, (2, len(nodes)), dimension)
        local = given
        if len(given) == 2:
            part = nodes[:, None] / nodes[-1]
            local = given[0] * (1 - part) + given[1] * part
    positions = position + local @ rotation.T
    velocities = None if speed is None else _velocities(speed, nodes, dimension)
    for name, values in (("shape", positions), ("velocity", velocities)):
        if values is not None and values[:, dimension:].any():
            worst = values[np.abs(values[:, dimension:]).max(axis=1).argmax()]
            where = "in the plane of a planar model" if dimension == 2 else "on the x axis (dimension=1)"
            raise ParameterError(f"{name} must stay {where}, got {worst.tolist()}")
    return InitialNodes(positions, velocities, owned(shape), owned(speed))


def _velocities(speed: Field, nodes: Array, dimension: int) -> Array:
    if callable(speed):
        return _values("velocity", speed, nodes, dimension)
    given = numbers("velocity", speed, FIELD)
    if given.ndim <= 1:
        return np.tile(_components("velocity", "be", given, dimension), (len(nodes), 1))
    return _table("velocity", given, (len(nodes),), dimension)


def _components(name: str, verb: str, value: Array, dimension: int, at: str = "") -> Array:
    """Three finite numbers, of which those that leave the plane or the line may be missing, shape (3,)."""
    value = value.reshape(1) if dimension == 1 and value.ndim == 0 else value
    if value.shape not in _widths(dimension) or not np.isfinite(value).all():
        wanted = {1: "one or three", 2: "two or three", 3: "three"}[dimension]
        raise ParameterError(f"{name} must {verb} {wanted} finite numbers, got {value.tolist()}{at}")
    return np.array([*value, 0.0, 0.0][:3])


def _widths(dimension: int) -> tuple[tuple[int], ...]:
    return ((3,),) if dimension == 3 else ((dimension,), (3,))


def _values(name: str, function: Callable[[float], ArrayLike], nodes: Array, dimension: int) -> Array:
    check_callable(name, function, "s")
    values = []
    for s in nodes:
        at = f"at s = {s:g} m"
        value = numbers(f"{name} {at}", called(function, name, float(s), at=at), "three numbers")
        values.append(_components(name, "return", value, dimension, f" {at}"))
    return np.array(values)


def _table(name: str, value: ArrayLike, lengths: tuple[int, ...], dimension: int) -> Array:
    given = numbers(name, value, FIELD)
    if given.ndim != 2 or len(given) not in lengths or given.shape[1:] not in _widths(dimension):
        counts = " or ".join(str(length) for length in lengths)
        raise ParameterError(
            f"{name} must be a function of s or an array of shape ({counts}, 3), got shape {given.shape}"
        )
    if not np.isfinite(given).all():
        raise ParameterError(f"{name} must be finite")
    return np.hstack([given, np.zeros((len(given), 3 - given.shape[1]))])
