"""What a rigid body of unknown shape may look like: a box of its inertia, or rods to where joints hold it."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.skin import Skin, line_skin, solid_skin
from phlexible.shapes.solids import Box
from phlexible.shapes.surface import Surface

COMPACT = 0.45
"""Of a rod held at its ends the largest moment is m r^2 / 3 with r from its middle to a port; of a cube held at
two opposite sides 2 m r^2 / 3. Above this number a body is drawn as a box."""
EVEN = 0.6
"""The nearest port of a box is not much nearer than the farthest."""
FITTING = 1.3
"""A box may reach so much further than the ports do; beyond that the inertia is that of a gear, not of a shape."""


def unshaped_skin(mass: float, inertia: Array, center: Array, ports: Array) -> Skin:
    """The box with this inertia where the ports fit on it, or rods from the center of mass to the ports.

    Args:
        mass: [kg].
        inertia: about the center of mass, I_zz or shape (3, 3) [kg m2].
        center: of mass, shape (3,) [m].
        ports: where joints hold the body, shape (k, 3) [m].
    """
    away = np.linalg.norm(ports - center, axis=1)
    reach, nearest = float(away.max(initial=0.0)), float(away.min(initial=np.inf))
    size, axes = _equal_box(mass, inertia)
    if reach == 0 and not len(ports):
        return solid_skin(_box(size, axes, center))
    is_compact = reach > 0 and nearest > EVEN * reach
    if is_compact and _largest_moment(inertia) > COMPACT * mass * reach**2 and _half(size) < FITTING * reach:
        return solid_skin(_box(size, axes, center))
    ends = np.unique(np.round(ports, 12), axis=0)
    ends = ends[np.linalg.norm(ends - center, axis=1) > 1e-9 * max(reach, 1e-300)]
    nodes = np.concatenate([center[None], ends])
    lines = tuple(np.array([0, k + 1]) for k in range(len(ends)))
    return line_skin(nodes, np.zeros((len(nodes), 3, 0)), lines, np.zeros(1, dtype=np.int64))


def _largest_moment(inertia: Array) -> float:
    return float(inertia if inertia.ndim == 0 else np.linalg.eigvalsh(inertia)[-1])


def _equal_box(mass: float, inertia: Array) -> tuple[Array, Array]:
    """Edges (3,) and axes (3, 3) of the box with this inertia; of I_zz a flat square plate."""
    if inertia.ndim == 0:
        edge = float(np.sqrt(6 * inertia / mass))
        return np.array([edge, edge, edge / 4]), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes = -axes
    squares = 6 / mass * (moments.sum() - 2 * moments)
    edges = np.sqrt(np.maximum(squares, 0.0))
    return np.maximum(edges, 0.05 * edges.max()), axes


def _half(size: Array) -> float:
    return float(np.sort(size)[-1]) / 2


def _box(size: Array, axes: Array, center: Array) -> Surface:
    box = Box(size).centred()
    return Surface(center + box.vertices @ axes.T, box.triangles)
