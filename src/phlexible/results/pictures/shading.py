"""Colours of surfaces: faded towards the paper, lighter where they face the light; outlines of solids."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

LIGHT = np.array([0.35, -0.6, 0.72]) / np.linalg.norm([0.35, -0.6, 0.72])


def rgb(color: str) -> Array:
    """Of "#rrggbb", shape (3,), 0 to 1."""
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255


def faded(color: str, strength: float) -> tuple[float, float, float]:
    """The colour mixed with white."""
    red, green, blue = (1 - strength) + strength * rgb(color)
    return float(red), float(green), float(blue)


def shaded(color: str, corners: Array, strength: float = 1.0) -> Array:
    """Colours (t, 3) of triangles with corners (t, 3, 3) under a light from above."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    facing = (normals @ LIGHT) / np.where(length > 0, length, 1.0)
    bright = (0.72 + 0.28 * facing)[:, None]
    base = rgb(color)
    lit = np.where(bright > 1, base, base * bright) + np.maximum(facing, 0.0)[:, None] * 0.18 * (1 - base)
    return np.asarray(np.clip((1 - strength) + strength * lit, 0.0, 1.0))


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
