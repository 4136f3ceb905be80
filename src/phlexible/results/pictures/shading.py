"""Colours of surfaces: of a body or of its stress, faded towards the paper, lighter where they face the light."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross
from phlexible.scene.scene import DrawnBody, NodeField, Scene

LIGHT = np.array([0.35, -0.6, 0.72]) / np.linalg.norm([0.35, -0.6, 0.72])


@dataclass(frozen=True, eq=False)
class StressColors:
    """Stress of some bodies as colours, from zero to the greatest one at the last instant.

    Attributes:
        fields: by the name of the body.
    """

    fields: Mapping[str, NodeField]

    @property
    def greatest(self) -> float:
        """Of all bodies at the last instant, the one that is drawn in colours [Pa]."""
        return max((float(field.values[-1].max()) for field in self.fields.values()), default=0.0) or 1.0

    def base(self, body: DrawnBody, instant: int) -> Array:
        """Of the triangles of a body, shape (t, 3), or its own colour, shape (3,)."""
        if body.name not in self.fields:
            return rgb(body.color)
        from matplotlib import colormaps

        at_nodes = self.fields[body.name].values[instant]
        share = at_nodes[body.skin.vertex_nodes][body.skin.triangles].mean(axis=1) / self.greatest
        return np.asarray(colormaps[MAP](share)[:, :3])


MAP = "cividis"
"""Also for readers who do not tell red from green."""
NO_STRESS = StressColors({})


def rgb(color: str) -> Array:
    """Of "#rrggbb", shape (3,), 0 to 1."""
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255


def faded(color: str, strength: float) -> tuple[float, float, float]:
    """The colour mixed with white."""
    red, green, blue = (1 - strength) + strength * rgb(color)
    return float(red), float(green), float(blue)


def shaded(base: Array, corners: Array, strength: float = 1.0) -> Array:
    """Colours (t, 3) of triangles with corners (t, 3, 3) and their own colours (3,) or (t, 3), lit from above."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    facing = (normals @ LIGHT) / np.where(length > 0, length, 1.0)
    bright = (0.68 + 0.32 * facing)[:, None]
    lit = np.where(bright > 1, base, base * bright) + np.maximum(facing, 0.0)[:, None] * 0.18 * (1 - base)
    return np.asarray(np.clip((1 - strength) + strength * lit, 0.0, 1.0))


def faces_away(corners: Array, viewer: Array) -> Array:
    """Which triangles with corners (t, 3, 3) show a viewer in that direction their inner side, shape (t,)."""
    a, b, c = np.moveaxis(corners, 1, 0)
    return np.asarray(cross(b - a, c - a) @ viewer < 0)


def silhouette(vertices: Array, triangles: IntArray) -> IntArray:
    """Edges (e, 2) between what faces a viewer above the xy plane and what does not.

    Corners at one place count as one vertex, so that flat-shaded triangles are joined.
    """
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    same = np.unique(np.round(vertices / (1e-7 * size)), axis=0, return_inverse=True)[1].reshape(-1)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    is_front = normals[:, 2] > 1e-9 * np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    keys = np.sort(same[edges], axis=1)
    front = np.tile(is_front, 3)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    count = np.bincount(group, minlength=len(first))
    facing = np.bincount(group, weights=front, minlength=len(first))
    return np.asarray(edges[first[(facing > 0) & ((facing < count) | (count == 1))]])


ELEVATION, AZIMUTH = 22.0, -58.0
"""Of who looks at a mechanism in space [degrees]."""


def upwards(scene: Scene) -> int:
    """The axis along gravity; z without."""
    return int(np.argmax(np.abs(scene.gravity))) if scene.gravity.any() else 2


def towards_viewer(scene: Scene) -> Array:
    """Unit vector, world axes, shape (3,)."""
    elevation, azimuth = np.radians([ELEVATION, AZIMUTH])
    flat = np.cos(elevation) * np.array([np.cos(azimuth), np.sin(azimuth)])
    return np.roll([*flat, np.sin(elevation)], upwards(scene) - 2)
