"""Points of a mesh that users choose: by number, by a function of position, by the name of a group."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray
from phlexible.display import written
from phlexible.errors import ParameterError


def selected_points(name: str, nodes: Any, positions: Array, groups: Mapping[str, IntArray]) -> IntArray:
    """Return the indices of the mesh points that a user chose (``nodes``), in the order of the choice: by
    numbers, by the name of a group, or by a function that is called once with all positions x (3, k) and returns
    True or False for each point. ``positions`` are those of the points, ``groups`` their indices by name.

    Args:
        name: name of the choice in error messages.
        nodes: numbers, a function of position, or the name of a group.
        positions: of all points, shape (k, 3) [m].
        groups: points by name.

    Raises:
        ParameterError: none of these.
    """
    if callable(nodes):
        return points_where(name, nodes, positions)
    return listed_points(name, nodes, len(positions), groups)


def points_where(name: str, function: Callable[[Array], ArrayLike], positions: Array) -> IntArray:
    """Return the indices of those of the ``positions`` (k, 3) [m] at which a user's ``function`` is True. It
    takes all positions at once, as an array x (3, k). ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: the function fails, or returns anything but a truth value for each place.
    """
    try:
        answer = np.asarray(function(positions.T.copy()))
    except Exception as error:
        raise ParameterError(
            f"{name}: its function of places x (x[0], x[1], x[2] are arrays) raised {error!r}"
        ) from error
    if answer.shape != (len(positions),) or answer.dtype != np.bool_:
        raise ParameterError(
            f"{name}: its function of positions x (x[0], x[1], x[2] are arrays, {(len(positions),)}) must return "
            f"True or False for each place, such as lambda x: x[0] < 1e-6, got {answer!r}"
        )
    return np.flatnonzero(answer)


def listed_points(name: str, nodes: Any, count: int, groups: Mapping[str, IntArray]) -> IntArray:
    """Return the indices of mesh points that a user listed, or named by a group (``nodes``), as an array.
    Raise ``ParameterError`` if there are none, or one that is not below ``count``. ``name`` is that of the
    argument, for messages. ``groups`` are indices by name.

    Raises:
        ParameterError: no list of whole numbers, a number that is none of a point, or no such group.
    """
    if isinstance(nodes, str):
        if nodes in groups:
            return groups[nodes]
        known = ", ".join(map(repr, groups)) or "none"
        raise ParameterError(f"{name}: there is no group {nodes!r} of facets or nodes, only {known}")
    try:
        numbers = np.asarray(nodes)
    except (TypeError, ValueError):  # of different kinds, or of different lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers) or bool in map(type, nodes):
        raise ParameterError(
            f"{name} must be numbers of nodes, a function of places or a group's name, got {written(nodes)}"
        )
    numbers = numbers.astype(np.int64)
    outside = numbers[(numbers < 0) | (numbers >= count)]
    if len(outside):
        raise ParameterError(f"{name}: the nodes are 0 to {count - 1}, got {outside[0]}")
    return numbers
