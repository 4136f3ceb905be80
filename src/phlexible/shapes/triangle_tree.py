"""Search tree of closed surfaces of triangles for contacts, with normals of faces, edges and vertices."""

from dataclasses import dataclass, replace
from math import pi

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.sparse import linked_groups
from phlexible.shapes.surfaces import SMOOTH, Triangulation, merged_vertices

LEAF = 4
"""Largest number of triangles in a box without smaller boxes."""
ON = 1e-12
"""Distance outside of a triangle, relative to its edges, up to which a point counts as on it."""
NEAR = 0.05
"""Distance from the bounding box, relative to the size, beyond which it replaces the distance from the surface."""
INSET = 0.02
"""Distance of inner sample points from sharp vertices, relative to that of the middle of the triangle."""
FLAT = 1e-5
"""Largest angle between neighbours that form one plane face [rad]."""
CHUNK = 1 << 18
"""Number of pairs of a point and a triangle that are evaluated at once."""


@dataclass(frozen=True, eq=False)
class TriangleTree:
    """Search tree of the triangles of a closed surface for contacts: nested boxes in the order of a depth-first
    walk.

    Attributes:
        low, high: corners of the boxes, shape (b, 3) [m].
        after: index of the next box of the walk that is not in this one, shape (b,).
        first, count: first triangle and number of triangles of a leaf, -1 and 0 of other boxes, shape (b,).
        corners: vertices of the triangles, shape (t, 3, 3) [m].
        normals: outward unit normals, shape (t, 3).
        edge_normals: of the edges that begin at the corners: means of both faces, not of unit length, shape
            (t, 3, 3).
        corner_normals: weighted by the angles of the triangles there, shape (t, 3, 3).
        edges, points: indices of edges and vertices, equal where these are shared, shape (t, 3).
        sides: indices of plane faces, equal for neighbours in one plane; -1: no neighbour, shape (t,).
    """

    low: Array
    high: Array
    after: IntArray
    first: IntArray
    count: IntArray
    corners: Array
    normals: Array
    edge_normals: Array
    corner_normals: Array
    edges: IntArray
    points: IntArray
    sides: IntArray

    @classmethod
    def from_surface(cls, surface: Triangulation) -> "TriangleTree":
        """Build the tree of nested bounding boxes of a closed triangle mesh ``surface``, for contact detection. It
        includes normals of faces, of edges (sum over both faces) and of vertices (sum over faces weighted by
        angle). Vertices at the same position become one, and triangles without area are left out. That the mesh is
        closed is not checked."""
        vertices, triangles = merged_vertices(surface.vertices, surface.triangles)
        triangles = triangles[np.any(Triangulation(vertices, triangles).normals() != 0, axis=1)]
        low, high, after, first, count, order = _nested_boxes(vertices[triangles])
        triangles = triangles[order]
        flat = Triangulation(vertices, triangles)
        corners, normals = flat.corners(), flat.normals()
        ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
        edges = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        thrice = np.repeat(normals, 3, axis=0)
        of_edges = np.zeros((int(edges.max()) + 1, 3))
        np.add.at(of_edges, edges, thrice)
        ahead = np.roll(corners, -1, axis=1) - corners
        ahead /= np.linalg.norm(ahead, axis=2, keepdims=True)
        cosine = np.einsum("tki,tki->tk", ahead, np.roll(ahead, 1, axis=1))
        angles = pi - np.arccos(np.clip(cosine, -1.0, 1.0))
        of_points = np.zeros((len(vertices), 3))
        np.add.at(of_points, triangles.reshape(-1), angles.reshape(-1, 1) * thrice)
        return cls(
            low=low,
            high=high,
            after=after,
            first=first,
            count=count,
            corners=corners,
            normals=normals,
            edge_normals=of_edges[edges].reshape(-1, 3, 3),
            corner_normals=of_points[triangles],
            edges=edges.reshape(-1, 3).astype(np.int64),
            points=triangles,
            sides=_plane_faces(normals, edges),
        )

    @property
    def box_center(self) -> Array:
        """Center of the bounding box of the triangle mesh in this search tree, shape (3,) [m]."""
        return np.asarray((self.low[0] + self.high[0]) / 2)

    @property
    def size(self) -> float:
        """Length of the diagonal of the bounding box of the triangle mesh in this search tree [m]."""
        return float(np.linalg.norm(self.high[0] - self.low[0]))

    @property
    def largest_radius(self) -> float:
        """Largest distance of a vertex of the triangle mesh in this search tree from the origin [m]."""
        return float(np.linalg.norm(self.corners, axis=2).max())

    def moved(self, offset: Array) -> "TriangleTree":
        """Return a copy of this search tree of a triangle mesh, translated by an offset (3,) [m]."""
        return replace(self, low=self.low + offset, high=self.high + offset, corners=self.corners + offset)

    def contact_points(self) -> tuple[Array, Array, Array]:
        """Return the points of this triangle mesh at which contact with other solids is tested, as three arrays (k,
        3) [m]. They are vertices on smooth parts, vertices of sharp edges, and points in the faces. The latter are
        2 per cent of the way from a sharp vertex to the middle of its triangle.

        Vertices of sharp edges would slip past those of a shape of the same size, which touches the inner points.
        """
        is_sharp, numbers, positions = self._sharp_points()
        inner = self._inset_points()
        return positions[~is_sharp], positions[is_sharp], inner[is_sharp[numbers]]

    def inset_edges(self) -> Array:
        """Return line segments along the convex sharp edges of this triangle mesh, at which contact with other
        solids is tested, shape (k, 2, 3) [m]. Each edge gives one segment in each adjacent triangle, whose ends are
        moved by 2 per cent towards the middle of the triangle."""
        inward = np.cross(self.normals[:, None, :], np.roll(self.corners, -1, axis=1) - self.corners)
        is_ridge = np.einsum("tki,tki->tk", inward, self.edge_normals) < 0
        inner = self._inset_points()
        return np.asarray(np.stack([inner, np.roll(inner, -1, axis=1)], axis=2)[self._sharp_edges() & is_ridge])

    def _inset_points(self) -> Array:
        """Return a point near each vertex of each triangle of this mesh, inside the triangle: it is 2 % of the way
        from the vertex to the middle of the triangle, shape (t, 3, 3) [m]."""
        middles = self.corners.mean(axis=1, keepdims=True)
        return np.asarray(self.corners + INSET * (middles - self.corners))

    def _sharp_edges(self) -> BoolArray:
        """Return, for each of the t triangles of this mesh and each of its three sides, whether it is a sharp edge,
        shape (t, 3). At sharp edges the normals of both faces differ by more than 35 degrees. Side k begins at
        vertex k."""
        both = self.edge_normals / np.linalg.norm(self.edge_normals, axis=2, keepdims=True).clip(1e-300)
        half = np.sqrt((1 + SMOOTH) / 2)  # between a side and the mean of both
        return np.asarray(np.einsum("tki,ti->tk", both, self.normals) < half)

    def _sharp_points(self) -> tuple[BoolArray, IntArray, Array]:
        """Return three arrays for the p different vertices of this mesh of t triangles. The first, boolean, says
        whether a sharp edge ends at the vertex (p,). The second has the vertex indices of each triangle (t, 3),
        the third the vertex positions (p, 3) [m]."""
        _, where = np.unique(self.points, return_index=True)
        index_of = np.full(int(self.points.max()) + 1, -1)
        index_of[self.points.reshape(-1)[where]] = np.arange(len(where))
        positions = self.corners.reshape(-1, 3)[where]
        sharp_edges, is_sharp = self._sharp_edges(), np.zeros(len(positions), dtype=bool)
        numbers = index_of[self.points]
        is_sharp[numbers[sharp_edges]] = True
        is_sharp[np.roll(numbers, -1, axis=1)[sharp_edges]] = True
        return is_sharp, numbers, positions

    def signed_distances(self, w: Array) -> Array:
        """Return the signed distances [m] of k points w (k, 3) from the closed triangle mesh of this search tree,
        shape (k,). They are negative inside the solid. Near the bounding box they are exact, by comparison with
        all triangles. Points farther from the box than 5 % of its diagonal get the distance from the box, a lower
        bound."""
        out = np.linalg.norm(np.maximum(np.maximum(self.low[0] - w, w - self.high[0]), 0.0), axis=1)
        is_near = out <= NEAR * self.size
        if is_near.any():
            some, size = np.flatnonzero(is_near), max(CHUNK // len(self.normals), 1)
            for k in range(0, len(some), size):
                out[some[k : k + size]] = self._exact_distances(w[some[k : k + size]])
        return np.asarray(out)

    def _exact_distances(self, w: Array) -> Array:
        """Return the signed distances [m] of k points w (k, 3) from the surface of this closed triangle mesh,
        shape (k,), negative inside. Every point is compared with every triangle; the nearest one counts. Above a
        face, the distance is along its normal. Otherwise the sign is that of the offset from the nearest edge or
        vertex along the mean normal there."""
        a, n = self.corners, self.normals
        r = w[:, None, None, :] - a  # of each place from each corner
        along = np.roll(a, -1, axis=1) - a
        square = np.einsum("tki,tki->tk", along, along)
        inward = np.cross(n[:, None, :], along)
        above = np.einsum("ptki,tki->ptk", r, inward)
        is_on = (above >= -ON * square).all(axis=2)
        high = np.einsum("pti,ti->pt", r[:, :, 0], n)
        share = np.clip(np.einsum("ptki,tki->ptk", r, along) / square, 0.0, 1.0)
        rest = r - share[..., None] * along
        squares = np.einsum("ptki,ptki->ptk", rest, rest)
        edge = squares.argmin(axis=2)
        least = np.where(is_on, high**2, squares.min(axis=2))
        row, nearest = np.arange(len(w)), least.argmin(axis=1)
        k = edge[row, nearest]
        at, offset = share[row, nearest, k], rest[row, nearest, k]
        corner = np.where(at >= 1.0, (k + 1) % 3, k)
        normal = np.where(
            ((at > 0.0) & (at < 1.0))[:, None], self.edge_normals[nearest, k], self.corner_normals[nearest, corner]
        )
        sign = np.where(np.einsum("pi,pi->p", offset, normal) < 0.0, -1.0, 1.0)
        return np.asarray(np.where(is_on[row, nearest], high[row, nearest], sign * np.sqrt(least[row, nearest])))


def _plane_faces(normals: Array, edges: IntArray) -> IntArray:
    """Return the index of the plane face of each of t triangles, or -1 if no neighbour lies in its plane, shape
    (t,). A face is a connected set of triangles; neighbours share an edge and have equal unit normals up to a
    tolerance. ``normals`` (t, 3) are unit normals; ``edges`` (3 t,) is the edge index of each side of each
    triangle."""
    order = np.argsort(edges, kind="stable")
    is_same = edges[order][1:] == edges[order][:-1]
    one, two = order[:-1][is_same] // 3, order[1:][is_same] // 3
    is_flat = np.linalg.norm(normals[one] - normals[two], axis=1) < FLAT
    labels = linked_groups((one[is_flat], two[is_flat]), len(normals))
    return np.asarray(np.where(np.bincount(labels)[labels] > 1, labels, -1))


def _nested_boxes(corners: Array) -> tuple[Array, Array, IntArray, IntArray, IntArray, IntArray]:
    """Build a binary tree of bounding boxes of t triangles with the vertices ``corners`` (t, 3, 3). Triangles of a
    box are halved along the axis in which their middles spread most. Return, for b boxes in depth-first order,
    lower and upper corners (b, 3) and the index of the box after the subtree. First triangle and count follow (-1
    and 0 unless a leaf), then the order of triangles to which they refer."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    middles = (low + high) / 2
    boxes: list[tuple[Array, Array]] = []
    after: list[int] = []
    first: list[int] = []
    count: list[int] = []
    order: list[IntArray] = []
    done = 0

    def walk(some: IntArray) -> None:
        nonlocal done
        box = len(boxes)
        boxes.append((low[some].min(axis=0), high[some].max(axis=0)))
        after.append(0)
        is_leaf = len(some) <= LEAF
        first.append(done if is_leaf else -1)
        count.append(len(some) if is_leaf else 0)
        if is_leaf:
            order.append(some)
            done += len(some)
        else:
            axis = int(np.argmax(np.ptp(middles[some], axis=0)))
            ordered = some[np.argsort(middles[some, axis], kind="stable")]
            half = len(some) // 2
            walk(ordered[:half])
            walk(ordered[half:])
        after[box] = len(boxes)

    walk(np.arange(len(corners)))
    lows, highs = (np.array([box[k] for box in boxes]) for k in (0, 1))
    numbers = (np.array(column, dtype=np.int64) for column in (after, first, count))
    return (lows, highs, *numbers, np.concatenate(order))  # type: ignore[return-value]
