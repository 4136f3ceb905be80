"""Skins for the 3D view: every body has a surface, thick enough to be seen."""

from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.skin import Skin
from phlexible.shapes.revolution import frame_along
from phlexible.shapes.solids import Sphere

THINNEST, FLATTEST = 0.008, 0.003
"""Of the scene: line bodies are drawn at least as thick in one direction, strips at least as flat in the other."""
ROD, BALL = 0.007, 0.016
"""Of the scene: radius of what has no thickness of its own."""
SIDES = 8


def visible_skin(skin: Skin, reach: float) -> Skin:
    """The skin with a surface, for a scene of that reach [m]."""
    if not skin.has_surface:
        return _clad(skin, reach)
    if skin.lines and skin.width[0] > 0:
        extent = np.ptp(skin.offsets, axis=0)
        scale = max(1.0, THINNEST * reach / skin.width[0])
        thicker = FLATTEST * reach / np.where(extent > 0, extent, np.inf)  # of a strip, seen from its edge
        return replace(skin, offsets=skin.offsets * np.maximum(scale, thicker))
    return skin


def _clad(skin: Skin, reach: float) -> Skin:
    """Tubes around lines, balls around balls."""
    nodes: list[IntArray] = []
    offsets: list[Array] = []
    normals: list[Array] = []
    triangles: list[IntArray] = []
    count = 0
    for line in skin.lines:
        ring = _rings(skin.positions[line], 1.0)
        radius = max(skin.width[0] / 2, ROD * reach)
        nodes.append(np.repeat(line, SIDES))
        offsets.append(radius * ring)
        normals.append(ring)
        triangles.append(_sides(len(line)) + count)
        count += len(line) * SIDES
    ball = Sphere(1.0).centred()
    for node in skin.balls:
        nodes.append(np.full(len(ball.vertices), node))
        offsets.append(BALL * reach * ball.vertices)
        normals.append(ball.vertices)
        triangles.append(ball.triangles + count)
        count += len(ball.vertices)
    return replace(
        skin,
        vertex_nodes=np.concatenate(nodes),
        offsets=np.concatenate(offsets),
        normals=np.concatenate(normals),
        triangles=np.concatenate(triangles),
    )


def _rings(line: Array, radius: float) -> Array:
    """Circles around the points of a line (k, 3) that turn with it and do not twist, shape (k * SIDES, 3)."""
    along = np.gradient(line, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    side, angle = frame_along(along[0])[:, 1], np.linspace(0.0, 2 * np.pi, SIDES, endpoint=False)
    rings = []
    for direction in along:
        side = side - (side @ direction) * direction
        side /= np.linalg.norm(side)
        up = np.cross(direction, side)
        rings.append(radius * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up))
    return np.concatenate(rings)


def _sides(stations: int) -> IntArray:
    here = np.arange(SIDES)
    after, quads = (here + 1) % SIDES, []
    for k in range(stations - 1):
        a, b = k * SIDES, (k + 1) * SIDES
        quads.append(np.stack([a + here, a + after, b + after], axis=1))
        quads.append(np.stack([a + here, b + after, b + here], axis=1))
    return np.concatenate(quads).astype(np.int64)
