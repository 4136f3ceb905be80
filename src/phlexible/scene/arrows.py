"""Forces and torques of loads as arrows."""

from collections.abc import Iterator

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.loads import Axes, Load, PointLoad, Torque
from phlexible.interactions.surface_pressure import SurfacePressure
from phlexible.mechanism.mechanism import Mechanism
from phlexible.scene.anchors import Places
from phlexible.scene.scene import Anchor, Arrow, Scene

MOST_ARROWS = 13
"""Of a load that acts at many points."""


def arrows(mechanism: Mechanism, places: Places, scene: Scene) -> Iterator[Arrow]:
    """Those of all loads whose values are known: not of controllers, nor of functions that a file left out."""
    for load in mechanism.loads:
        for entry in _some(load):
            values = _values(entry, scene.time)
            if values is None or not values.any():
                continue
            anchor = places.anchor(entry.attachment)
            if entry.axes is Axes.BODY:
                values = _turned(scene, anchor, values)
            yield Arrow(str(load), anchor, isinstance(entry, Torque), values)


def _some(load: Load) -> list[PointLoad]:
    entries = load.entries()
    if len(entries) <= MOST_ARROWS:
        return list(entries)
    picked = np.linspace(0, len(entries) - 1, MOST_ARROWS).round().astype(int)
    return [entries[k] for k in picked]


def _values(entry: PointLoad, time: Array) -> Array | None:
    """Shape (k, 3), or None where they are not known."""
    if isinstance(entry.value, Feedback) or isinstance(entry, SurfacePressure):
        return None
    try:
        return np.array([entry.at_time(float(t)) for t in time]).reshape(-1, 3)
    except ModelError:
        return None


def _turned(scene: Scene, anchor: Anchor, values: Array) -> Array:
    """Body axes to world axes, shape (k, 3)."""
    axes = np.stack([scene.directions(anchor, axis) for axis in np.eye(3)], axis=2)
    return np.asarray(np.einsum("tij,tj->ti", axes, values))
