"""Meshes of shells are quadrilaterals and triangles that face one way, and directors, several of folded nodes.

A triangle is a quadrilateral whose last two corners are one node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import lsqr

from phlexible.algebra.arrays import Array, BoolArray, IntArray, called, reals, vector
from phlexible.algebra.elimination import clusters
from phlexible.algebra.sparse import linked_groups
from phlexible.bodies.flexible.element_mesh import CellKind
from phlexible.bodies.flexible.user_mesh import UserMesh, check_mesh, refuse_elements, user_mesh
from phlexible.bodies.shell.elements import CORNERS, MIDDLE, ShellElements, bilinear_slopes, bilinear_values
from phlexible.bodies.soft_mesh import SoftMesh
from phlexible.display import short_repr
from phlexible.errors import AttachmentError, MeshWarning, ParameterError, warn_user

SMOOTH = np.cos(np.radians(30.0))
"""Cosine of the angle between normals of neighbours from which on the shell has a fold there."""
SHARP = np.cos(np.radians(60.0))
FOLDED_BACK = np.cos(np.radians(150.0))
TILTED = 0.9
NORMAL = 0.98
"""Component along a normal from which on the axis of a laminate has no direction in the surface."""
CLOSE, ROUND_OFF = 1e-9, 1e-15
FEWEST_VECTORS = 6
"""Positions and directors of a part of a mesh that is not halved any more for the elimination."""
Directors = ArrayLike | Callable[[Any], ArrayLike] | None


@dataclass(frozen=True, eq=False)
class Grid:
    """Quadrilaterals of a surface over the parameters u and v.

    Attributes:
        points: positions, shape (p, 3) [m].
        cells: points of each element, with its second corner along u and its last one along v, shape (columns,
            rows, 4); columns count elements along u.
    """

    points: Array
    cells: IntArray

    @classmethod
    def over(cls, surface: Callable[[float, float], ArrayLike], elements: tuple[int, int]) -> Self:
        """Return a grid of ``elements`` (number along u, number along v) over a user's ``surface``. The function
        is called for each point with u and v, equally spaced from 0 to 1, and returns a position (3,) [m]. Points
        at the same position are merged. Raise ``ParameterError`` if fewer than four different points remain.

        Raises:
            ParameterError: a surface that covers no area, or returns no position.
        """
        columns, rows = elements
        positions = [
            vector("surface", called(lambda at: surface(*at), "surface", (u, v), at=f"at u, v = {u:g}, {v:g}"))
            for u in np.linspace(0, 1, columns + 1).tolist()
            for v in np.linspace(0, 1, rows + 1).tolist()
        ]
        points, cells = merged(np.array(positions), grid_cells(columns, rows))
        if len(points) < 4:
            raise ParameterError(f"surface must return places that cover an area, got {points.tolist()} everywhere")
        return cls(points, cells.reshape(columns, rows, 4))

    def edges(self, names: Sequence[str]) -> dict[str, IntArray]:
        """Return the point indices of the four edges of this grid as a dictionary by their ``names``. The names
        are given in the order u = 0, u = 1, v = 0, v = 1. Edges with an empty name are left out. Opposite edges
        with the same points, as of a closed cylinder, are both left out."""
        grid = self.cells
        ends = grid[0][:, [0, 3]], grid[-1][:, [1, 2]], grid[:, 0][:, [0, 1]], grid[:, -1][:, [3, 2]]
        nodes = [np.unique(end) for end in ends]
        met = [np.array_equal(nodes[k], nodes[k + 1]) for k in (0, 2)]
        return {name: nodes[k] for k, name in enumerate(names) if name and not met[k // 2]}


@dataclass(frozen=True, eq=False)
class ShellMesh(SoftMesh):
    """Mesh of a shell, whose unknowns are the positions of its nodes and its directors, times the radius of
    gyration of its thickness.

    ``nodes``, ``places`` and so on count both: a director is at the position of its node.

    Attributes:
        directors: undeformed unit directors, shape (k, 3).
        director_nodes: point of each director, ascending, shape (k,).
        corner_directors: director at each corner of each element, shape (e, 4).
        gyration: radius of gyration of the thickness, by which directors are multiplied as unknowns [m].
        grid: points of each element as in ``Grid``, which may face the other way, shape (columns, rows, 4); None: a
            mesh without parameters u and v.
    """

    directors: Array
    director_nodes: IntArray
    corner_directors: IntArray
    gyration: float
    grid: IntArray | None = None

    __repr__ = short_repr

    def weights_at(self, u: float, v: float) -> tuple[Array, Array]:
        """Return two arrays (N + k,) of weights of all position and director vectors of a shell for a point of its
        grid. The point has the parameters ``u`` and ``v``. The first array gives its position, the second its
        director. Weights are bilinear in the corners of the element there, zero elsewhere. Raise
        ``AttachmentError`` for a mesh without grid or parameters outside of 0 to 1.

        Raises:
            AttachmentError: a mesh that is no grid, or a parameter that is not from 0 to 1.
        """
        if self.grid is None:
            raise AttachmentError(
                f"at({u:g}, {v:g}): only a shell of Shell.plate, Shell.cylinder or Shell.of has parameters u and v;"
                " take node(number), with the numbers of points_where, or an interface"
            )
        if not (0 <= u <= 1 and 0 <= v <= 1):
            raise AttachmentError(f"at({u:g}, {v:g}): the parameters u and v of a shell are from 0 to 1")
        columns, rows = self.grid.shape[:2]
        column, row = min(int(u * columns), columns - 1), min(int(v * rows), rows - 1)
        local = 2 * np.array([[u * columns - column, v * rows - row]]) - 1
        corners, element = self.grid[column, row], column * rows + row
        shares = (self.cells[element][:, None] == corners) @ bilinear_values(local)[0]
        position, director = np.zeros((2, len(self.nodes)))
        position[self.node_at[self.cells[element]]] = shares
        director[self.element_directors[element]] = shares / self.gyration
        return position, director

    @cached_property
    def used(self) -> IntArray:
        """Ascending indices of those points of the user's mesh that are nodes of elements, shape (N,)."""
        return np.unique(self.cells)

    @cached_property
    def _order(self) -> list[IntArray]:
        """Indices of the unknown vectors (positions of N nodes, then directors) in elimination order; computed
        once. The list has one ascending array for each cluster of neighbouring vectors."""
        points = np.concatenate([self.used, self.director_nodes])
        cells = np.hstack([np.searchsorted(self.used, self.cells), len(self.used) + self.corner_directors])
        return [np.sort(cluster) for cluster in clusters(cells, self.points[points], FEWEST_VECTORS)]

    @cached_property
    def _clusters(self) -> list[IntArray]:
        points = np.concatenate([self.used, self.director_nodes])
        return [points[cluster] for cluster in self._order]

    @cached_property
    def unknown(self) -> IntArray:
        """Index in the vector of unknowns of the position of each node, then of each director, shape (N + k,).
        Unknowns are in the order in which the solution of the equations eliminates them; the array is cached."""
        return np.argsort(np.concatenate(self._order))

    @property
    def moves(self) -> Array:
        """Array of 1 for each unknown vector that is a position and 0 for each director, in the order of unknowns,
        shape (N + k,)."""
        return (np.concatenate(self._order) < len(self.used)).astype(np.float64)

    @cached_property
    def node_at(self) -> IntArray:
        """Index of the position unknown of each of the p points of the user's mesh, shape (p,); -1 for points that
        belong to no element."""
        number = np.full(len(self.points), -1)
        number[self.used] = self.unknown[: len(self.used)]
        return number

    @property
    def director_at(self) -> IntArray:
        """Index in the vector of unknowns of each of the k directors, shape (k,)."""
        return np.asarray(self.unknown[len(self.used) :])

    @property
    def element_directors(self) -> IntArray:
        """Indices in the vector of unknowns of the directors at the corners of each of e elements, shape (e, 4)."""
        return np.asarray(self.director_at[self.corner_directors])

    def first_axes(self, axis: ArrayLike | None) -> Array:
        """Return a vector for each of e elements whose projection on the element is the direction of angle 0 of a
        laminate, shape (e, 3). It is ``axis`` (3,), the same for all. If that is None, it is the direction of the
        parameter u of a grid. Raise ``ParameterError`` without axis and grid, or for an axis nearly normal to an
        element.

        Raises:
            ParameterError: no axis and no grid, or an axis that is normal to an element.
        """
        if axis is None:
            if self.grid is None:
                raise ParameterError(
                    "axis of a Laminate must be given for this mesh, which has no parameters u and v"
                )
            x = self.points[self.grid.reshape(-1, 4)]
            return np.asarray(x[:, 1] - x[:, 0] + x[:, 2] - x[:, 3])
        across = np.abs(_normals(self.points[self.cells], MIDDLE)[:, 0] @ np.asarray(axis))
        if across.max() > NORMAL:
            raise ParameterError(
                f"axis of the Laminate is normal to element {across.argmax()} of the shell; choose another one"
            )
        return np.broadcast_to(axis, (len(self.cells), 3))

    @cached_property
    def elements(self) -> ShellElements:
        """Undeformed elements of this shell as ``ShellElements``: positions and directors of their four nodes."""
        return ShellElements(self.points[self.cells], self.directors[self.corner_directors])

    @property
    def corner_shares(self) -> Array:
        """Weights of the corners of each of e elements, shape (e, 4): 1, but 0 for the last corner of a triangle,
        which repeats a node."""
        return _corner_shares(self.cells)

    def vectors(self, positions: Array, directors: Array) -> Array:
        """Return ``positions`` (N, 3) of the nodes and ``directors`` (k, 3) as one array in the order of the
        unknowns, shape (N + k, 3)."""
        return np.asarray(np.concatenate([positions, directors])[np.concatenate(self._order)])

    def bending_angles(self, vectors: Array) -> Array:
        """Return the angle between the directors at both ends of each side of e elements, shape (e, 4) [rad]. It is
        about an axis across the side and positive if the directors diverge; 0 within a triangle. ``vectors`` (N +
        k, 3) are the positions and directors in the order of the unknowns."""
        corners = vectors[self.element_nodes], vectors[self.element_directors] / self.gyration
        side, change = (np.roll(each, -1, axis=1) - each for each in corners)
        length = np.linalg.norm(side, axis=2) + np.finfo(float).tiny
        return np.asarray(2 * np.arcsin(np.clip(np.einsum("eki,eki->ek", side, change) / (2 * length), -1.0, 1.0)))

    @cached_property
    def stress_free_angles(self) -> Array:
        """Angles between directors (``bending_angles``) of the undeformed shell, shape (e, 4) [rad]."""
        return self.bending_angles(self.vectors(self.points[self.used], self.gyration * self.directors))

    def turned_directors(self, positions: Array) -> Array:
        """Return the k unit directors of a deformed shell without transverse shear, shape (k, 3). Each element
        rotates its directors with the inverse transpose of its deformation gradient, and the sums at nodes are
        normalized. Then a least-squares change restores the dot product of each side with the directors at its two
        ends, and all are normalized. ``positions`` (N, 3) are the N nodes'.

        Args:
            positions: of the N nodes, shape (N, 3) [m].
        """
        gradient = self._gradients(positions, None)
        turned = np.linalg.solve(gradient.swapaxes(2, 3), self.directors[self.corner_directors][..., None])[..., 0]
        means = _unit(self._director_sums(np.asarray(turned)))
        ends = np.stack([self.corner_directors, np.roll(self.corner_directors, -1, axis=1)], axis=2).reshape(-1, 2)
        placed = positions[np.searchsorted(self.used, self.cells)]
        sides = [(np.roll(x, -1, axis=1) - x).reshape(-1, 3) for x in (self.points[self.cells], placed)]
        length = np.linalg.norm(sides[0], axis=1) + np.finfo(float).tiny  # 0 within triangles
        pairs = zip(sides, (self.directors, means), strict=True)
        before, now = (np.einsum("si,sei->s", x, d[ends]) for x, d in pairs)
        columns = (3 * ends[..., None] + np.arange(3)).reshape(-1, 6)
        entries = np.tile(sides[1] / length[:, None], 2), (np.repeat(np.arange(len(ends)), 6), columns.ravel())
        rows = sparse.csr_array((entries[0].ravel(), entries[1]), shape=(len(ends), means.size))
        change = lsqr(rows, (before - now) / length, atol=ROUND_OFF, btol=ROUND_OFF)[0]
        return _unit(means + change.reshape(-1, 3))

    def director_rates(self, positions: Array, velocities: Array) -> Array:
        """Return the rates of change of the k directors of a shell without transverse shear when its nodes move,
        shape (k, 3) [1/s]. Directors then follow the normals. Rates of adjacent elements, from their velocity
        gradients, are averaged, and the component along the director is removed to keep unit length. ``positions``
        and ``velocities`` (N, 3) are those of the nodes.

        Args:
            positions, velocities: of the N nodes, shape (N, 3) [m], [m/s].
        """
        directors = self.turned_directors(positions)
        rates = self._gradients(positions, velocities)  # of a deformation from the present shape
        own = directors[self.corner_directors]
        count = np.bincount(self.corner_directors.ravel(), self.corner_shares.ravel(), len(directors))[:, None]
        means = self._director_sums(-np.einsum("eqji,eqj->eqi", rates, own)) / count
        along = np.einsum("ki,ki->k", means, directors)[:, None]
        return np.asarray(means - along * directors)

    def _gradients(self, positions: Array, velocities: Array | None) -> Array:
        """Return the deformation gradients, from the undeformed mesh, at the corners of each of e shell elements,
        shape (e, 4, 3, 3). They map two mid-surface tangents and the unit normal to those with nodes at
        ``positions`` (N, 3), in the axes of these positions. If ``velocities`` (N, 3) are given, return instead
        the spatial velocity gradients there [1/s], in which the normal stays a unit normal."""
        at = np.searchsorted(self.used, self.cells)
        now = _frames(positions[at], self.cells)
        if velocities is None:
            return np.asarray(now @ np.linalg.inv(_frames(self.points[self.cells], self.cells)))
        slopes = _corner_tangents(velocities[at], self.cells)
        dual = np.linalg.inv(now)  # rows x^r, x^s, n
        rate = -np.einsum("eqai,eqi,eqaj->eqj", slopes, now[..., 2], dual[..., :2, :])
        return np.asarray(
            np.einsum("eqai,eqaj->eqij", np.stack([*slopes.transpose(2, 0, 1, 3), rate], axis=2), dual)
        )

    def _director_sums(self, at_corners: Array) -> Array:
        """Return for each of k directors the sum of the vectors ``at_corners`` (e, 4, 3) of the element corners
        that share it, shape (k, 3). The repeated corner of a triangle counts once."""
        result = np.zeros_like(self.directors)
        np.add.at(result, self.corner_directors, self.corner_shares[..., None] * at_corners)
        return result

    @cached_property
    def folds(self) -> IntArray:
        """Pairs of different directors of one node that belong to adjacent elements, shape (f, 2); computed once.
        There the elements meet at a fold, and the shell keeps the angle between both directors."""
        pairs = _corner_pairs(self.cells)
        first, second = (self.corner_directors.ravel()[pairs[:, k]] for k in range(2))
        return np.unique(np.sort(np.column_stack([first, second])[first != second], axis=1), axis=0)


def shell_mesh(mesh: Any, directors: Directors, gyration: float) -> tuple[ShellMesh, UserMesh]:
    """Return the mesh of a shell made from a user's ``mesh``, and the user's mesh with its groups. With
    ``directors`` (function or array), elements whose normal opposes them are reversed. Without, elements are
    oriented as the first one, and directors are mean normals. ``gyration`` is the radius of gyration of the
    thickness [m]. Raise ``ParameterError`` for elements that are folded, or no linear triangles or quadrilaterals.

    Args:
        mesh: of scikit-fem or meshio, a path, a ``Grid``, or points (p, 3) and elements (e, 3) or (e, 4).
        gyration: radius of gyration of the thickness [m].
        directors: exact normals of the user, for each point (p, 3) or as a function of position; None: means of the
            normals of elements, several where these differ by more than 30 degrees.

    Raises:
        ParameterError: other elements than quadrilaterals of four nodes and triangles, folded ones, a surface with
            one side, or directors of wrong shape.
    """
    grid = None
    if isinstance(mesh, Grid):
        grid, mesh = mesh.cells, (mesh.points, mesh.cells.reshape(-1, 4))
    is_read = isinstance(mesh, UserMesh)
    source: UserMesh = mesh if is_read else user_mesh(mesh, is_flat=False, of_four=CellKind.QUADRILATERAL)
    check_mesh(source)
    if source.kind not in (CellKind.QUADRILATERAL, CellKind.TRIANGLE) or source.geometry_order != 1:
        raise ParameterError(
            "mesh: a Shell is made of quadrilaterals of four nodes and triangles of three, got "
            f"{source.kind.value}s of order {source.geometry_order}"
        )
    cells = _triangles_last(source.cells if source.cells.shape[1] == 4 else source.cells[:, [0, 1, 2, 2]])
    _refuse_folded(source.points[cells], cells)
    _check_sides(source.points, cells)
    if directors is None:
        cells = _consistently_oriented(source.points, cells)
        owner, D, at = _mean_directors(source.points, cells)
    else:
        given = _user_directors(directors, source.points)
        middle = _normals(source.points[cells], MIDDLE)[:, 0]
        is_turned = np.einsum("ei,eki->e", middle, given[cells]) < 0
        cells = _triangles_last(np.where(is_turned[:, None], cells[:, [0, 3, 2, 1]], cells))
        at, number = np.unique(cells, return_inverse=True)
        owner, D = number.reshape(cells.shape), given[at]
    found = ShellMesh(CellKind.QUADRILATERAL, 1, source.points, cells, D, at, owner, gyration, grid)
    _check_directors(found)
    return found, source


def _are_triangles(cells: IntArray) -> BoolArray:
    """Return whether each of e elements with the four nodes ``cells`` (e, 4) is a triangle, shape (e,): whether its
    last two nodes are the same."""
    return np.asarray(cells[:, 2] == cells[:, 3])


def _corner_shares(cells: IntArray) -> Array:
    """Return weights of the corners of the elements ``cells`` (e, 4), shape (e, 4): 1, but 0 for the last corner of
    a triangle, which repeats a node."""
    shares = np.ones(cells.shape)
    shares[_are_triangles(cells), 3] = 0.0
    return shares


def _triangles_last(cells: IntArray) -> IntArray:
    """Return the elements ``cells`` (e, 4) with their nodes shifted cyclically such that, in triangles, the
    repeated node is at the last two corners."""
    for _ in range(3):
        is_last = _are_triangles(cells) | (cells != np.roll(cells, 1, axis=1)).all(axis=1)
        cells = np.where(is_last[:, None], cells, np.roll(cells, 1, axis=1))
    return cells


def _corner_tangents(x: Array, cells: IntArray) -> Array:
    """Return the derivatives of a field with respect to r and s at the corners of e elements, shape (e, 4, 2, 3).
    r and s are the coordinates of the reference square; in triangles all four are those at its centre. x (e, 4, 3)
    are the values of the field at the nodes ``cells`` (e, 4)."""
    is_triangle = _are_triangles(cells)[:, None, None, None]
    slopes = np.where(is_triangle, bilinear_slopes(MIDDLE), bilinear_slopes(CORNERS))
    return np.asarray(np.einsum("eqak,eki->eqai", slopes, x - x[:, :1]))


def _frames(x: Array, cells: IntArray) -> Array:
    """Return matrices with the columns dx/dr, dx/ds and unit normal at the corners of e elements, shape (e, 4, 3,
    3). The nodes ``cells`` (e, 4) are at the positions x (e, 4, 3)."""
    one, two = np.moveaxis(_corner_tangents(x, cells), 2, 0)
    return np.stack([one, two, _unit(np.cross(one, two))], axis=3)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _normals(x: Array, at: Array) -> Array:
    """Return the unit normals of e elements at q points ``at`` (q, 2) of the reference square, shape (e, q, 3).
    Their nodes are at the positions x (e, 4, 3)."""
    return _unit(ShellElements(x, x).normals(at))


def _refuse_folded(x: Array, cells: IntArray) -> None:
    """Raise ``ParameterError`` if a shell element has two different nodes at the same position, is folded, or has
    no area. Folded means that the normal at a corner opposes the normal at the middle. x (e, 4, 3) are the
    positions of the nodes ``cells`` (e, 4) of e elements. Distances are compared with 1e-9 times the longest side,
    products of normals with 1e-9 times its fourth power."""
    sides = np.linalg.norm(x - np.roll(x, -1, axis=1), axis=2)
    size = sides.max(axis=1)
    sides[cells == np.roll(cells, -1, axis=1)] = np.inf  # of triangles
    normals = np.cross(*np.moveaxis(_corner_tangents(x, cells), 2, 0))
    areas = np.einsum("eqi,ei->eq", normals, ShellElements(x, x).normals(MIDDLE)[:, 0])
    for wrong, what in (
        (sides.min(axis=1) <= CLOSE * size, "have two nodes in one place; triangles name one node twice"),
        (areas.min(axis=1) <= -CLOSE * size**4, "are folded: their corners lie on both sides"),
        (areas.max(axis=1) <= CLOSE * size**4, "are flat, they have no area"),
    ):
        refuse_elements(wrong, f"{what}; mesh the shell with convex quadrilaterals")


def _check_sides(points: Array, cells: IntArray) -> None:
    """Raise ``ParameterError`` if a shell mesh falls into parts that share no sides of elements, only nodes or
    nothing. Parts are the connected components of the graph of elements with common sides. Warn (``MeshWarning``)
    if different nodes are at the same position, which makes a slit. ``points`` (p, 3) are positions, ``cells`` (e,
    4) the nodes of the elements."""
    one, two = _side_pairs(cells)
    if (count := linked_groups((one // 4, two // 4), len(cells)).max() + 1) > 1:
        raise ParameterError(
            f"mesh: it falls into {count} parts that share no sides of elements, only nodes, about which they turn "
            "as in a ball joint; make a body of each part and join these"
        )
    used = np.unique(cells)
    if (slit := len(used) - len(merged(points[used], used[:0])[0])) > 0:
        warn_user(
            f"mesh: {slit} nodes are where others are, so that the shell has a slit there; if it has none, give "
            "the elements on both sides the same nodes",
            MeshWarning,
        )


def warn_of_thickness(thickness: float, areas: Array) -> None:
    """Warn the user (``MeshWarning``) if a shell is thicker than its elements are long. ``thickness`` [m] is
    compared with the square root of the median of the element ``areas`` (e,) [m2]."""
    side = float(np.sqrt(np.median(areas)))
    if thickness > side:
        warn_user(
            f"thickness = {thickness:g} m is more than the {side:.3g} m of the sides of the elements; is it in "
            "millimetres? Otherwise take fewer elements: a shell does not resolve what varies within its thickness",
            MeshWarning,
        )


def _corner_pairs(cells: IntArray) -> IntArray:
    """Return pairs of element corners that are the same node at one end of a side shared by two elements, shape
    (pairs, 2). Corner k of element e has the index 4 e + k. Each shared side gives two pairs, one at each end. The
    last two corners of a triangle, which are the same node, are a pair too. ``cells`` (e, 4) are the nodes of the
    elements."""
    one, two = _side_pairs(cells)
    same = cells.ravel()[one] == cells.ravel()[two]
    ends = [_next(one), _next(two)]
    here = np.column_stack([one, np.where(same, two, ends[1])])
    there = np.column_stack([ends[0], np.where(same, ends[1], two)])
    last = 4 * np.flatnonzero(_are_triangles(cells))[:, None] + [2, 3]  # one node of triangles
    return np.concatenate([here, there, last])


def _next(corner: IntArray) -> IntArray:
    """Return the next corner of the same element, shape of ``corner``: corner k of element e has the number 4
    e + k, and 4 e + 3 is followed by 4 e."""
    return np.asarray(corner - corner % 4 + (corner + 1) % 4)


def _side_pairs(cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return all pairs of element sides with the same two nodes, as two index arrays (pairs,). The side from
    corner k of element e to its next corner has the index 4 e + k. Where more than two elements meet at a side,
    each two of them give a pair. Sides without length of triangles are left out. ``cells`` (e, 4) are the nodes of
    the elements."""
    ends = np.sort(np.stack([cells.ravel(), np.roll(cells, -1, axis=1).ravel()], axis=1), axis=1)
    order = np.lexsort(ends.T)
    ends, most = ends[order], int(np.unique(ends, axis=0, return_counts=True)[1].max())
    found = [np.zeros((0, 2), dtype=np.int64)]
    for shift in range(1, most):  # 2 but at branches
        is_side = ends[shift:, 0] != ends[shift:, 1]  # of triangles one has no length
        at = np.flatnonzero(is_side & (ends[shift:] == ends[:-shift]).all(axis=1))
        found.append(np.column_stack([order[at], order[at + shift]]))
    return np.concatenate(found)[:, 0], np.concatenate(found)[:, 1]


def _consistently_oriented(points: Array, cells: IntArray) -> IntArray:
    """Return the elements (e, 4) with the node order of some reversed, so that normals of neighbours point to the
    same side. In each connected part, the first element keeps its order. Where more than two elements share a
    side, only elements at less than 30 degrees count as neighbours. Triangles keep their repeated node last.
    ``points`` (p, 3) are positions. Raise ``ParameterError`` for a surface with only one side (Moebius).

    Raises:
        ParameterError: a surface with one side, as of Moebius.
    """
    one, two = _side_pairs(cells)
    count = len(cells)
    middles = _normals(points[cells], MIDDLE)[:, 0]
    a, b = one // 4, two // 4
    corners, times = np.unique(np.concatenate([one, two]), return_counts=True)
    alone = np.isin(one, corners[times == 1]) & np.isin(two, corners[times == 1])
    is_smooth = np.abs(np.einsum("pi,pi->p", middles[a], middles[b])) > SMOOTH
    kept = alone | is_smooth
    a, b, against = a[kept], b[kept], (cells.ravel()[one] == cells.ravel()[two])[kept]
    linked = np.concatenate([np.where(against, b + count, b), np.where(against, b, b + count)])
    upper, lower = linked_groups((np.concatenate([a, a + count]), linked), 2 * count).reshape(2, count)
    if (upper == lower).any():
        raise ParameterError(
            "mesh: the surface has one side, as that of Moebius, so that its normals have no direction; cut it at a"
            " line, and fix the two edges to each other"
        )
    return _triangles_last(np.where((lower < upper)[:, None], cells[:, [0, 3, 2, 1]], cells))


def _mean_directors(points: Array, cells: IntArray) -> tuple[IntArray, Array, IntArray]:
    """Return unit directors of a shell, the normalized sums of the normals of adjacent elements. Results are the
    director index at each corner of each element (e, 4), the k directors (k, 3) and their nodes (k,). A node gets
    several directors where elements that share a side meet there at more than 30 degrees. ``points`` (p, 3) are
    positions, ``cells`` (e, 4) the nodes of the elements."""
    normals = _frames(points[cells], cells)[..., 2].reshape(-1, 3)
    pairs = _corner_pairs(cells)
    smooth = np.einsum("pi,pi->p", normals[pairs[:, 0]], normals[pairs[:, 1]]) > SMOOTH
    part = linked_groups(pairs[smooth].T, cells.size)
    first = np.unique(part, return_index=True)[1]
    order = np.argsort(cells.ravel()[first], kind="stable")
    number = np.argsort(order)[part]
    means = np.zeros((len(first), 3))
    np.add.at(means, number, _corner_shares(cells).reshape(-1, 1) * normals)
    return number.reshape(cells.shape), _unit(means), cells.ravel()[first][order]


def _user_directors(directors: Any, points: Array) -> Array:
    """Return a user's ``directors`` (normals of a shell) at all ``points`` (p, 3) of a mesh, scaled to unit
    length, shape (p, 3). The user passes an array (p, 3), or a function that is called with the position (3,) of
    each point. Raise ``ParameterError`` for other shapes and zero vectors."""
    if callable(directors):
        values = [called(directors, "directors", x.copy(), at=f"at x = {x.tolist()}") for x in points]
    else:
        given = reals("directors", directors, "a function of position or vectors")
        values = list(np.atleast_1d(given))
        if given.shape != points.shape:
            raise ParameterError(
                "directors must be a function of position or one vector for each point of the mesh, shape "
                f"{points.shape}, got shape {given.shape}"
            )
    found = np.array([vector("directors", value) for value in values])
    if not np.linalg.norm(found, axis=1).min() > 0:
        raise ParameterError("directors must not be zero: they are normals of the shell")
    return _unit(found)


def _check_directors(mesh: ShellMesh) -> None:
    """Raise ``ParameterError`` if the shell of this ``mesh`` has folds of more than 150 degrees. Warn
    (``MeshWarning``) of directors more than 26 degrees off an element's normal, and of folds of less than 60
    degrees, which may be coarse curves. A fold is where a node has two directors."""
    normals = _frames(mesh.points[mesh.cells], mesh.cells)[..., 2]
    cosines = np.einsum("eki,eki->ek", normals, mesh.directors[mesh.corner_directors])
    if (worst := cosines.min()) < TILTED:
        warn_user(
            f"mesh: a director is {np.degrees(np.arccos(worst)):.0f} degrees off the normal of an element of its "
            "node; refine the mesh there, or give directors=",
            MeshWarning,
        )
    first, second = (mesh.directors[mesh.folds[:, k]] for k in range(2))
    angles = np.einsum("fi,fi->f", first, second)
    if not len(angles):
        return
    if angles.min() < FOLDED_BACK:
        raise ParameterError(
            f"mesh: the shell is folded back by {np.degrees(np.arccos(angles.min())):.0f} degrees; folds of more "
            "than 150 degrees are not kept: make two shells and fix them to each other"
        )
    if angles.max() > SHARP:
        warn_user(
            f"mesh: elements meet at {np.degrees(np.arccos(angles.max())):.0f} degrees or more at "
            f"{len(np.unique(mesh.director_nodes[mesh.folds]))} nodes, where the shell has folds; if it is smooth, "
            "refine the mesh or give directors=",
            MeshWarning,
        )


def grid_cells(columns: int, rows: int) -> IntArray:
    """Return the quadrilaterals (e, 4) of a grid of ``columns`` times ``rows`` cells as point indices. Points are
    numbered column by column: point (c, r) is c (rows + 1) + r. The corners of a cell are (c, r), (c + 1, r), (c +
    1, r + 1), (c, r + 1)."""
    numbers = np.arange((columns + 1) * (rows + 1)).reshape(columns + 1, rows + 1)
    cells = np.stack([numbers[:-1, :-1], numbers[1:, :-1], numbers[1:, 1:], numbers[:-1, 1:]], axis=-1)
    return cells.reshape(-1, 4)


def sphere_grid(count: int) -> tuple[Array, IntArray]:
    """Return points (p, 3) about the unit sphere and quadrilaterals (e, 4) between them: the grids of a cube's six
    faces, with ``count`` cells along each edge. The points near the eight corners of the cube are beside the
    sphere, by less than 0.3 % from 8 cells on and up to 3.3 % with 2. Uniform stress thus balances pressure there
    as it does elsewhere: with all points on the sphere, the pressure on a corner would be 18 % less than the forces
    of the stress, however fine the grid."""
    angles = np.linspace(-np.pi / 4, np.pi / 4, count + 1)
    a, b = (each.ravel() for each in np.meshgrid(np.tan(angles), np.tan(angles), indexing="ij"))
    face = _unit(np.stack([a, b, np.ones_like(a)], axis=1))
    sides = [sign * np.roll(face, k, axis=1) for sign in (1.0, -1.0) for k in range(3)]
    cells = np.concatenate([grid_cells(count, count) + a.size * k for k in range(6)])
    cells[len(cells) // 2 :] = cells[len(cells) // 2 :, ::-1]  # the mirrored sides face outwards too
    x, cells = merged(np.concatenate(sides), cells)

    def at_points(values: Array, where: IntArray) -> Array:
        """Return sums over corners: of the ``values`` (n, k, 3) at the points ``where`` (n, k)."""
        return np.stack([np.bincount(where.ravel(), each.ravel()) for each in np.moveaxis(values, 2, 0)], axis=1)

    for _ in range(20):  # towards a conformal grid, whose cells get smaller at the corners
        x = _unit(at_points(np.repeat(x[cells].mean(axis=1, keepdims=True), 4, axis=1), cells))
    # A quadrilateral is half of its four triangles of three corners.
    triangles = np.concatenate([np.roll(cells, k, axis=1)[:, :3] for k in range(4)])
    radial = x
    is_near = np.isin(np.arange(len(x)), cells[(np.bincount(cells.ravel()) == 3)[cells].any(axis=1)])
    for _ in range(60):
        corners = x[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, None]
        opposite = np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1)
        area, volume = (  # their derivatives as a point moves outwards
            np.einsum("pi,pi->p", at_points(each, triangles), radial)
            for each in (np.cross(_unit(normals), opposite) / 4, np.repeat(normals, 3, axis=1) / 12)
        )
        x = x - np.where(is_near, (area - np.median(area / volume) * volume) / 6, 0.0)[:, None] * radial
    return x, cells


def merged(points: Array, cells: IntArray) -> tuple[Array, IntArray]:
    """Merge ``points`` (p, 3) whose coordinates, rounded to 1e-9 of the mesh's size, are equal. Return the first
    point of each set, in their order, and ``cells`` (e, k) with the new point indices."""
    size = np.ptp(points, axis=0).max() or 1.0
    _, first, inverse = np.unique(np.round(points / (size * CLOSE)), axis=0, return_index=True, return_inverse=True)
    return points[np.sort(first)], np.argsort(np.argsort(first))[inverse.ravel()][cells]
