"""Operations on surfaces of triangles: smooth parts and sharp edges, colours, and the mass that they enclose."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt
from typing import Annotated

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross
from phlexible.algebra.sparse import linked_groups
from phlexible.elements.sections import CircularSection, RectangularSection, UniformSection
from phlexible.errors import ParameterError

# Colours of bodies.

NAMED = {
    "black": "#222222",
    "white": "#f5f5f5",
    "gray": "#8a8a8a",
    "grey": "#8a8a8a",
    "silver": "#bdbdbd",
    "blue": "#0b5394",
    "orange": "#d1541b",
    "green": "#2f8f5b",
    "purple": "#8e4a9e",
    "yellow": "#c9a227",
    "cyan": "#3aa5b8",
    "red": "#b03a5b",
    "brown": "#7a5230",
}
"""Named colours of the pictures' palette, which readers with red-green blindness can distinguish."""


def optional_color(name: str, value: object) -> str | None:
    """Convert a colour ``value`` passed by the user, "#rrggbb" or a name such as "blue", to "#rrggbb" in
    lower case; None stays None. Raise ``ParameterError`` for others. ``name`` is that of the argument, for
    messages.

    Raises:
        ParameterError: neither a known name nor "#rrggbb".
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value.lower() in NAMED:
            return NAMED[value.lower()]
        if re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            return value.lower()
    raise ParameterError(f'{name} must be "#rrggbb" or one of {", ".join(NAMED)}, got {value!r}')


Color = Annotated[str | None, optional_color]


# Surfaces of triangles, and the mass that a closed one encloses.


MOST_SHELLS = 100
"""Largest number of shells of a surface that are checked for lying in each other."""


@dataclass(frozen=True, eq=False)
class Triangulation:
    """Surface of triangles whose vertices are counter-clockwise, seen from outside.

    Attributes:
        vertices: shape (v, 3) [m].
        triangles: numbers of vertices, shape (t, 3).
    """

    vertices: Array
    triangles: IntArray

    def corners(self) -> Array:
        """Return the positions of the three vertices of each triangle of this mesh, shape (t, 3, 3) [m]."""
        return self.vertices[self.triangles]

    def normals(self) -> Array:
        """Return the unit normals of the triangles of this mesh, shape (t, 3), outward if their vertices are
        counter-clockwise seen from outside. Zero for triangles without area."""
        a, b, c = np.moveaxis(self.corners(), 1, 0)
        normals = np.cross(b - a, c - a)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(normals / np.where(length > 0, length, 1.0))

    def moved(self, offset: Array) -> "Triangulation":
        """Return a copy of this triangle mesh translated by an offset (3,) [m]."""
        return Triangulation(self.vertices + offset, self.triangles)


@dataclass(frozen=True, eq=False)
class SolidMoments:
    """Volume, centroid and inertia of a homogeneous solid with density 1 kg/m3.

    Attributes:
        volume: [m3].
        center: centroid, shape (3,) [m].
        inertia: about the centroid, shape (3, 3) [m5].
    """

    volume: float
    center: Array
    inertia: Array


ROUND_OFF = 1e-14  # of a sum


def enclosed_moments(surface: Triangulation) -> SolidMoments:
    """Return volume [m3], centroid [m] and inertia about the centroid [m5] of the solid inside a closed triangle
    mesh, filled with density 1. The integrals are sums over tetrahedra from the mean vertex to each triangle. The
    volume is negative if triangles are oriented inwards. If it is round-off only, volume and inertia are zero.
    That the mesh is closed is not checked."""
    corners = surface.corners()
    reference = corners.reshape(-1, 3).mean(axis=0)  # near the solid: differences of small numbers
    a, b, c = np.moveaxis(corners - reference, 1, 0)
    sixfold = np.einsum("ti,ti->t", a, np.cross(b, c))
    volume = float(sixfold.sum() / 6)
    if abs(volume) <= ROUND_OFF * float(np.abs(sixfold).sum()):
        return SolidMoments(0.0, reference, np.zeros((3, 3)))
    total = a + b + c
    center = np.asarray(np.einsum("t,ti->i", sixfold, total) / 24 / volume)
    squares = sum(np.einsum("t,ti,tj->ij", sixfold, p, p) for p in (a, b, c, total)) / 120
    squares = squares - volume * np.outer(center, center)
    return SolidMoments(volume, reference + center, np.trace(squares) * np.eye(3) - squares)


def open_edges(surface: Triangulation) -> int:
    """Return the number of open edges of a triangle mesh. An edge is open if it occurs more often in one direction
    than in the other, over the sides of all triangles. The result is 0 for a closed, consistently oriented
    surface. Vertices equal up to round-off count as one; edges of zero length are left out."""
    corners = _joined_corners(surface)
    ahead = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    ahead = ahead[ahead[:, 0] != ahead[:, 1]]
    count = int(corners.max()) + 1
    forward, back = (ahead @ np.array([count, 1]) for ahead in (ahead, ahead[:, ::-1]))
    edges = np.unique(np.concatenate([forward, back]))
    at_front = np.bincount(np.searchsorted(edges, forward), minlength=len(edges))
    at_back = np.bincount(np.searchsorted(edges, back), minlength=len(edges))
    return int(np.count_nonzero(at_front != at_back)) // 2  # each edge is there in both directions


def _joined_corners(surface: Triangulation) -> IntArray:
    """Return the triangles of a mesh ``surface``, shape (t, 3), with new vertex indices. All vertices at the same
    position, up to 1e-7 of the extent, get one index."""
    size = float(np.ptp(surface.vertices, axis=0).max(initial=0.0)) or 1.0
    same = np.unique(np.round(surface.vertices / (1e-7 * size)), axis=0, return_inverse=True)[1].reshape(-1)
    return np.asarray(same[surface.triangles], dtype=np.int64)


def first_triangles(surface: Triangulation) -> IntArray:
    """Return the ascending indices of the triangles of a mesh ``surface`` that do not repeat an earlier one. A
    repeated triangle has the same vertex positions in the same orientation."""
    corners = _joined_corners(surface)
    start = corners.argmin(axis=1)[:, None]
    ordered = np.take_along_axis(corners, (start + np.arange(3)) % 3, axis=1)
    return np.sort(np.unique(ordered, axis=0, return_index=True)[1])


def shells_in_matter(surface: Triangulation) -> int:
    """Count connected closed parts of a triangle mesh ``surface`` that make its mass wrong. These are outer
    surfaces inside the matter of another part, and cavities outside of any matter. One vertex of each part is
    tested by its winding number, computed from solid angles of the other triangles. The result is 0 for one part,
    and for more than 100 parts without a test.

    The winding number of the other shells is between 0 and 1 at a point where shells touch; inside matter it is 1.
    """
    corners = _joined_corners(surface)
    count, t = int(corners.max()) + 1, len(corners)
    shell = linked_groups((np.repeat(np.arange(t), 3), t + corners.ravel()), t + count)
    numbers = np.unique(shell[:t])
    wrong = 0
    for number in numbers if 1 < len(numbers) <= MOST_SHELLS else ():
        in_shell = shell[:t] == number
        shell_surface, rest = (Triangulation(surface.vertices, surface.triangles[k]) for k in (in_shell, ~in_shell))
        a, b, c = np.moveaxis(rest.corners() - shell_surface.corners()[0, 0], 1, 0)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        winding = np.arctan2((a * np.cross(b, c)).sum(1), below).sum() / (2 * np.pi)
        wrong += abs(winding - (enclosed_moments(shell_surface).volume < 0)) > 0.75
    return int(wrong)


# Outlines of cross-sections.

ROUND = 24
"""Number of vertices of a circle."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Outline of a beam's cross-section as a polygon, for pictures.

    Attributes:
        corners: (y, z), counter-clockwise seen from +x, shape (k, 2) [m].
        is_round: whether the outline is smooth at the vertices.
    """

    corners: Array
    is_round: bool


def circle(radius: float) -> Outline:
    """Return the outline of a circular cross-section of the given radius [m], as a polygon of 24 vertices (y, z),
    for pictures of beams."""
    angle = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    return Outline(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), True)


def outline_of(section: UniformSection) -> Outline:
    """Return the outline of a beam's cross-section in local (y, z) [m], for pictures: a polygon of 24 vertices for
    a circle, a rectangle for a rectangle. For any other section, a rectangle with the same radii of gyration."""
    match section:
        case CircularSection(diameter=diameter):
            return circle(diameter / 2)
        case RectangularSection(width=width, height=height):
            return _rectangle(width, height)
    radii = section.radii_of_gyration
    return _rectangle(sqrt(12) * radii[0], sqrt(12) * radii[1])


def _rectangle(width: float, height: float) -> Outline:
    """Return the outline of a rectangular cross-section as a polygon of four vertices (y, z), with ``width`` along
    y and ``height`` along z [m]."""
    y, z = width / 2, height / 2
    return Outline(np.array([[-y, -z], [y, -z], [y, z], [-y, z]]), False)


# Surfaces of revolution about an axis.


def frame_along(axis: Array) -> Array:
    """Return a right-handed orthonormal frame as a rotation matrix (3, 3) whose first column is the unit vector
    ``axis``. The second column is normal to the axis and to the coordinate axis most across it; the third is the
    cross product of both."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    second = np.cross(axis, helper)
    second /= np.linalg.norm(second)
    return np.stack([axis, second, np.cross(axis, second)], axis=1)


def revolved(profile: Array, axis: Array, corners: int) -> Triangulation:
    """Return the triangle mesh of a surface of revolution about the unit vector ``axis`` through the origin. The
    rows of ``profile`` (k, 2) are positions along the axis and radii [m]. Circles are polygons of ``corners``
    vertices; no triangles are made where the radius is zero.

    The profile begins and ends on the axis and follows its direction, so that the normals point outwards.
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
    return Triangulation(vertices, np.concatenate(triangles).astype(np.int64))


# Surfaces and lines as a small picture in SVG.

SIZE = 180  # pixels
MOST_TRIANGLES = 3000


def small_picture(surface: Triangulation, lines: Sequence[Array], color: str, label: str) -> str:
    """Return an SVG image, as text, of a triangle mesh ``surface`` and of polylines ``lines``, each (k, 3). They
    are projected along the coordinate axis of least extent. Of large meshes only some triangles are drawn.
    ``color`` is the fill, ``label`` the alternative text."""
    positions = np.concatenate([surface.vertices, *lines]) if len(lines) else surface.vertices
    low, high = positions.min(axis=0), positions.max(axis=0)
    across = np.sort(np.argsort(low - high, kind="stable")[:2])
    extent = (high - low)[across]
    scale = (SIZE - 12) / (float(extent.max()) or 1.0)
    height = max(14.0, scale * float(extent[1]) + 12)

    def drawn(points: Array) -> str:
        flat = 6 + scale * (points[:, across] - low[across])
        return " ".join(f"{x:.1f},{height - y:.1f}" for x, y in flat)

    corners = surface.corners()[:: 1 + len(surface.triangles) // MOST_TRIANGLES]
    fill = "".join(f'<polygon points="{drawn(triangle)}"/>' for triangle in corners)
    strokes = "".join(f'<polyline points="{drawn(line)}"/>' for line in lines)
    return (
        f'<svg width="{SIZE}" height="{height:.0f}" role="img" aria-label="{escape(label, quote=True)}">'
        f'<g fill="{color}" stroke="{color}" stroke-width="0.5">{fill}</g>'
        f'<g fill="none" stroke="{color}" stroke-width="2">{strokes}</g></svg>'
    )


SMOOTH = np.cos(np.radians(35.0))
"""Cosine of the angle between the normals of neighbours above which their edge is smooth."""
SAME = 1e-7
"""Distance, relative to the size of the surface, below which vertices are identical."""


def merged_vertices(vertices: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """Merge ``vertices`` of a triangle mesh that are at the same position, up to 1e-7 of the extent. Return the
    remaining w vertices, shape (w, 3), sorted by position, and the triangles (t, 3) as indices into them."""
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    positions = np.round(vertices / (SAME * size))
    _, first, number = np.unique(positions, axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.reshape(-1)[triangles]


def shading_vertices(vertices: Array, triangles: IntArray) -> tuple[IntArray, Array, IntArray]:
    """Split the ``vertices`` of a triangle mesh at its sharp edges (above 35 degrees), for smooth shading. Each
    position gets one vertex for each smooth part of the surface around it. Return the old index of each new vertex
    (w,), its area-weighted unit normal (w, 3) and the triangles (t, 3) with new indices.

    Args:
        vertices: shape (v, 3), at different positions.
        triangles: shape (t, 3), counter-clockwise seen from outside.

    Returns:
        Index of the vertex at the position of each new vertex (w,), outward unit normals (w, 3), triangles (t, 3).
    """
    areas, units = _triangle_normals(vertices, triangles)
    one, two = _shared_edges(triangles)
    is_smooth = np.einsum("ei,ei->e", units[one // 3], units[two // 3]) > SMOOTH
    one, two = one[is_smooth], two[is_smooth]
    corners = triangles.ravel()
    is_turned = corners[one] != corners[two]  # as in neighbours of the same orientation
    ends = _next_corners(two)
    first, second = np.where(is_turned, ends, two), np.where(is_turned, two, ends)
    links = np.concatenate([one, _next_corners(one)]), np.concatenate([first, second])
    labels = linked_groups(links, len(corners))
    count = int(labels.max(initial=-1)) + 1
    indices = np.zeros(count, dtype=np.int64)
    indices[labels] = corners
    sums = np.zeros((count, 3))
    np.add.at(sums, labels, np.repeat(areas, 3, axis=0))
    return indices, _unit_vectors(sums), labels.reshape(-1, 3).astype(np.int64)


def sharp_edges(vertices: Array, triangles: IntArray) -> IntArray:
    """Return the sharp edges of a triangle mesh, then its boundary edges, as pairs of vertex indices, shape (e, 2).
    At a sharp edge, the normals of both triangles differ by more than 35 degrees; a boundary edge has only one
    triangle. Triangles without area make no sharp edges."""
    units = _triangle_normals(vertices, triangles)[1]
    one, two = _shared_edges(triangles)
    is_sharp = np.einsum("ei,ei->e", units[one // 3], units[two // 3]) <= SMOOTH
    is_sharp &= units[one // 3].any(axis=1) & units[two // 3].any(axis=1)  # not of triangles without area
    is_boundary = np.ones(triangles.size, dtype=bool)
    is_boundary[one] = is_boundary[two] = False
    begins = np.concatenate([one[is_sharp], np.flatnonzero(is_boundary)])
    corners = triangles.ravel()
    return np.stack([corners[begins], corners[_next_corners(begins)]], axis=1)


def _triangle_normals(vertices: Array, triangles: IntArray) -> tuple[Array, Array]:
    """Return the outward normals of the ``triangles`` of a mesh twice, each (t, 3): with twice the triangle's area
    as length, and as unit vectors (zero for triangles without area). ``vertices`` (n, 3) are positions."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = cross(b - a, c - a)
    return areas, _unit_vectors(areas)


def _unit_vectors(vectors: Array) -> Array:
    """Return vectors (k, 3) divided by their lengths, shape (k, 3); zero vectors stay zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def _next_corners(corners: IntArray) -> IntArray:
    """Return the index of the next corner in the same triangle for each of the given triangle corners of a mesh,
    cyclically. Corners are numbered 3 i + k for corner k (0, 1, 2) of triangle i."""
    return np.asarray(np.where(corners % 3 == 2, corners - 2, corners + 1))


def _shared_edges(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of triangle sides of a mesh that are the same edge, as two arrays of equal length. A side is
    given by the corner (3 i + k for corner k of triangle i) at which it begins. At an edge with more than two
    sides, sides are paired in succession."""
    begins = np.arange(triangles.size)
    ends = np.sort(np.stack([triangles.ravel(), triangles.ravel()[_next_corners(begins)]], axis=1), axis=1)
    order = np.lexsort(ends.T)
    is_same = (ends[order][1:] == ends[order][:-1]).all(axis=1)
    return order[:-1][is_same], order[1:][is_same]
