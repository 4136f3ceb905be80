"""Surfaces of revolution about an axis."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.shapes.surface import Surface


def frame_along(axis: Array) -> Array:
    """A right-handed triad whose first column is the unit axis, shape (3, 3)."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    second = np.cross(axis, helper)
    second /= np.linalg.norm(second)
    return np.stack([axis, second, np.cross(axis, second)], axis=1)


def revolved(profile: Array, axis: Array, corners: int) -> Surface:
    """A profile (k, 2) of places along the axis and radii, turned about the unit axis (3,).

    It begins and ends on the axis and goes along it, so that the normals point outwards.
    """
    angle = np.linspace(0.0, 2 * np.pi, corners, endpoint=False)
    circle = np.stack([np.zeros(corners), np.cos(angle), np.sin(angle)], axis=1)
    along = np.array([1.0, 0.0, 0.0])
    rings = profile[:, :1, None] * along + profile[:, 1:, None] * circle
    vertices = rings.reshape(-1, 3) @ frame_along(axis).T
    here = np.arange(corners)
    after, triangles = (here + 1) % corners, []
    for k in range(len(profile) - 1):
        a, b = k * corners, (k + 1) * corners
        if profile[k, 1] > 0:
            triangles.append(np.stack([a + here, a + after, b + after], axis=1))
        if profile[k + 1, 1] > 0:
            triangles.append(np.stack([a + here, b + after, b + here], axis=1))
    return Surface(vertices, np.concatenate(triangles).astype(np.int64))
