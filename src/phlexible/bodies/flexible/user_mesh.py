"""Meshes of users in one format, with checks that refuse or warn of unusable meshes."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray, file_path, reals
from phlexible.algebra.sparse import linked_groups
from phlexible.bodies.flexible.abaqus_decks import read_abaqus_mesh
from phlexible.bodies.flexible.element_mesh import SKFEM_CELLS, CellKind, ElementMesh
from phlexible.bodies.flexible.nastran_decks import read_nastran
from phlexible.bodies.material import Material
from phlexible.errors import MeshWarning, MissingExtraError, ParameterError, warn_user

# Conversion of user meshes to one format: meshes of scikit-fem, of meshio, or files.

FILE_CELLS = {
    "triangle": (CellKind.TRIANGLE, 1),
    "triangle6": (CellKind.TRIANGLE, 2),
    "quad": (CellKind.QUADRILATERAL, 1),
    "quad8": (CellKind.QUADRILATERAL, 2),
    "quad9": (CellKind.QUADRILATERAL, 2),
    "tetra": (CellKind.TETRAHEDRON, 1),
    "tetra10": (CellKind.TETRAHEDRON, 2),
    "hexahedron": (CellKind.HEXAHEDRON, 1),
    "hexahedron20": (CellKind.HEXAHEDRON, 2),
    "hexahedron27": (CellKind.HEXAHEDRON, 2),
}
CORNERS = {CellKind.TRIANGLE: 3, CellKind.QUADRILATERAL: 4, CellKind.TETRAHEDRON: 4, CellKind.HEXAHEDRON: 8}
VTK_CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
# Faces of VTK's hexahedron (which meshio uses) by their corners and its edges, nodes 20 to 25 and 8 to 19.
VTK_FACES = (
    *((0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4)),
    *((3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)),
)
VTK_EDGES = (
    *((0, 1), (1, 2), (2, 3), (3, 0)),
    *((4, 5), (5, 6), (6, 7), (7, 4)),
    *((0, 4), (1, 5), (2, 6), (3, 7)),
)


@dataclass(frozen=True, eq=False)
class UserMesh:
    """Mesh of a user in one format, with named groups of elements, nodes and facets.

    Attributes:
        kind: of the cells.
        geometry_order: 1 or 2.
        points: all nodes that the mesh lists, shape (k, 3) [m].
        cells: nodes of each element: vertices, then (order 2) the others in scikit-fem's order, shape (e, .).
        element_groups: elements by name.
        node_groups: numbers of points by name, from groups of nodes or of boundary elements.
        facet_groups: vertices of boundary facets by name, shape (f, vertices).
        left_out: parts of a file that the body does not have, as messages name them.
    """

    kind: CellKind
    geometry_order: int
    points: Array
    cells: IntArray
    element_groups: dict[str, IntArray]
    node_groups: dict[str, IntArray]
    facet_groups: dict[str, IntArray]
    left_out: tuple[str, ...] = ()

    @property
    def corners(self) -> IntArray:
        """Indices of the points at the vertices of each element of this mesh, shape (e, vertices)."""
        return self.cells[:, : CORNERS[self.kind]]

    @property
    def points_by_name(self) -> dict[str, IntArray]:
        """Dictionary of ascending point indices by group name. For a group of elements or facets of this mesh they
        are its vertices, for a group of nodes its nodes. Nodes replace facets of the same name, and facets replace
        elements."""
        corners = {name: self.corners[group] for name, group in self.element_groups.items()} | self.facet_groups
        return {name: np.unique(group) for name, group in corners.items()} | self.node_groups


def user_mesh(
    mesh: Any, is_flat: bool | None = True, scale: float = 1.0, of_four: CellKind = CellKind.TETRAHEDRON
) -> UserMesh:
    """Convert a user's mesh to a ``UserMesh`` with points times ``scale`` [m]. The mesh is an object of scikit-fem
    or meshio, the path of a mesh file, or, if ``is_flat`` is False, a tuple (points, cells). If ``is_flat`` is
    True, plane cells must lie in one plane z = const. ``of_four`` is the kind of cells with four points in a
    tuple. Raise ``ParameterError`` for other values.

    Args:
        mesh: also points and cells of triangles, or of the kind ``of_four``.
        is_flat: meshes of triangles and quadrilaterals lie in a plane z = const; False: arrays are taken too.
        scale: metres for a unit of length of the mesh.
        of_four: kind of cells of four points in a pair of arrays; among quadrilaterals of a file may then be
            triangles, whose last point is named twice.

    Raises:
        ParameterError: another object, or no cells of a supported kind.
        MissingExtraError: a file, and meshio is not installed.
    """
    if scale != 1.0:
        unscaled = user_mesh(mesh, is_flat, of_four=of_four)
        return replace(unscaled, points=unscaled.points * scale)
    names = [kind.__name__ for kind in type(mesh).__mro__]
    if name := next((name for name in names if name in SKFEM_CELLS), None):
        return _from_skfem(mesh, *SKFEM_CELLS[name], is_flat)
    if isinstance(mesh, str | os.PathLike):
        mesh = _read_file(file_path("mesh", mesh))
    if hasattr(mesh, "cells") and hasattr(mesh, "points"):
        return _from_meshio(mesh, is_flat, of_four)
    if isinstance(mesh, tuple) and len(mesh) == 2 and is_flat is False:
        return _from_arrays(*mesh, of_four)
    raise ParameterError(
        "mesh must be a mesh of triangles, quadrilaterals, tetrahedra or hexahedra of scikit-fem or meshio, or the "
        f"path of a file, got {type(mesh).__name__}"
    )


def element_mesh(mesh: UserMesh, order: int) -> ElementMesh:
    """Return the finite element mesh of a user's mesh, with displacement elements of ``order`` 1 or 2. Points that
    belong to no element are dropped, and the vertices are numbered from 0 in their old order. Raise
    ``ParameterError`` for order 1 on cells of second order, whose elements would strain in a rigid rotation.

    Raises:
        ParameterError: elements of order 1 on curved cells, which could not move rigidly.
    """
    if order < mesh.geometry_order:
        raise ParameterError(
            "order must be 2 on a mesh of second order: elements of order 1 on curved cells strain when they rotate"
        )
    d = mesh.kind.dimension
    used, cells = np.unique(mesh.corners, return_inverse=True)
    cells = cells.reshape(mesh.corners.shape)
    straight = ElementMesh(mesh.kind, 1, mesh.points[used, :d], cells, order)
    if mesh.geometry_order == 1:
        return straight
    positions = np.zeros((straight.node_count, d))
    positions[straight.element_nodes] = mesh.points[mesh.cells, :d]
    return ElementMesh(mesh.kind, 2, positions, cells, order)


def _read_file(path: str) -> Any:
    """Read a mesh file with the reader for the ending of its ``path`` and return the mesh. Raise
    ``ParameterError`` if the file does not exist, cannot be read, or has no points or elements."""
    if not os.path.exists(path):
        raise ParameterError(f"mesh: there is no file {path}")
    try:
        mesh = _reader(path)(path)
    except (ParameterError, MissingExtraError):
        raise
    except (Exception, SystemExit) as error:  # readers raise errors of any kind, some exit
        raise ParameterError(
            f"mesh: {path} cannot be read; is it complete, and of the format that its name says? ({error!r})"
        ) from error
    if np.ndim(mesh.points) != 2 or not mesh.cells:
        raise ParameterError(f"mesh: {path} holds no points or no elements; is it complete?")
    return mesh


def _reader(path: str) -> Callable[[str], Any]:
    """Return the function that reads a mesh file, chosen by the ending of its path: Abaqus (.inp), Nastran (.bdf,
    .nas, .fem), else ``meshio.read``. Raise ``MissingExtraError`` if meshio is needed and not installed."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".inp":
        return read_abaqus_mesh
    if ending in (".bdf", ".nas", ".fem"):
        return read_nastran
    try:
        import meshio
    except ImportError as error:
        raise MissingExtraError(
            "meshio is needed to read meshes; install it with: pip install phlexible[mesh]"
        ) from error
    return meshio.read  # type: ignore[no-any-return]


def _from_skfem(mesh: Any, kind: CellKind, order: int, is_flat: bool | None) -> UserMesh:
    """Convert a mesh of scikit-fem to a ``UserMesh``. Its named subdomains become groups of elements, its named
    boundaries groups of facets, given by their vertices. ``kind`` is the kind of its cells, ``order`` (1 or 2) the
    order of their geometry. Plane meshes get z = 0. ``is_flat`` asks for a check of plane cells;
    ``ParameterError`` is raised unless they lie in a plane z = const."""
    positions = np.zeros((mesh.doflocs.shape[1], 3))
    positions[:, : len(mesh.doflocs)] = mesh.doflocs.T
    _check_flat(positions, kind.dimension, is_flat)
    cells = mesh.dofs.element_dofs.T if order == 2 else mesh.t.T
    facets = {name: np.asarray(mesh.facets[:, np.asarray(group)].T) for name, group in _groups(mesh.boundaries)}
    elements = {name: np.asarray(group, dtype=np.int64) for name, group in _groups(mesh.subdomains)}
    return UserMesh(kind, order, positions, np.asarray(cells, dtype=np.int64), elements, {}, facets)


def _check_flat(points: Array, dimension: int, is_flat: bool | None) -> None:
    """Raise ``ParameterError`` if ``is_flat`` demands a plane mesh and its ``points`` are not in one plane z =
    const, up to round-off. ``dimension`` is the dimension of the cells; solids (3) are not checked."""
    if is_flat and is_curved(points, dimension):
        raise ParameterError("mesh: a plane mesh must lie in one plane z = const")


IN_PLANE = 1e-9
"""Distance from a plane over the size of a mesh that is round-off."""


def is_curved(points: Array, dimension: int) -> bool:
    """Return whether a mesh of triangles or quadrilaterals (``dimension`` of cells 2) leaves the plane z = const:
    whether the z of its ``points`` (p, 3) differ by more than round-off. Always False for solids."""
    return dimension == 2 and bool(np.ptp(points[:, 2]) > IN_PLANE * np.ptp(points, axis=0).max())


def _groups(groups: Any) -> Any:
    """Return a list of pairs (name, indices) of the user's groups of a scikit-fem mesh. Groups that scikit-fem
    adds itself are left out."""
    return [] if groups is None else [(n, g) for n, g in groups.items() if not n.startswith("skfem:")]


def _from_arrays(points: Any, cells: Any, of_four: CellKind) -> UserMesh:
    """Return a linear mesh made from points (p, 3) [m] and cells, which are point indices of each element.
    Cells are triangles (e, 3), or (e, 4) of the kind ``of_four``: tetrahedra or quadrilaterals. Raise
    ``ParameterError`` for other shapes, indices that are no integers, or indices of missing points. Points
    without cells are allowed."""
    positions, corners = reals("points of the mesh", points), np.asarray(cells)
    if positions.ndim != 2 or positions.shape[1] != 3:
        raise ParameterError(f"mesh: its points must have shape (p, 3), got {positions.shape}")
    if corners.ndim != 2 or corners.shape[1] not in (3, 4) or corners.dtype.kind not in "iu":
        raise ParameterError(
            "mesh: its cells must be numbers of points, shape (e, 3) of triangles or (e, 4) of "
            f"{of_four.value}s, got {corners.dtype} of shape {corners.shape}"
        )
    if len(corners) and not (0 <= corners.min() and corners.max() < len(positions)):
        raise ParameterError(f"mesh: its cells must name points 0 .. {len(positions) - 1}, got {corners.max()}")
    kind = CellKind.TRIANGLE if corners.shape[1] == 3 else of_four
    return UserMesh(kind, 1, positions, corners.astype(np.int64), {}, {}, {})


def _from_meshio(mesh: Any, is_flat: bool | None, of_four: CellKind) -> UserMesh:
    """Convert a meshio mesh to a ``UserMesh`` with its named groups and a list of cells left out. Cells of highest
    dimension become elements, quadratic ones with all middle nodes. Raise ``ParameterError`` unless they are of
    one known kind. Triangles and quadrilaterals may be mixed on a curved surface if ``of_four`` is quadrilateral.
    If ``is_flat``, plane cells must lie in a plane z = const, and z becomes 0."""
    points = np.zeros((len(mesh.points), 3))
    points[:, : np.shape(mesh.points)[1]] = mesh.points
    by_dimension = {_cell_dimension(block.type): block.type for block in mesh.cells if len(block.data)}
    highest = max(by_dimension, default=0)
    counts = Counter[str]()
    for block in mesh.cells:
        if _cell_dimension(block.type) == highest:
            counts[block.type] += len(block.data)
    listed = ", ".join(f"{name} ({count})" for name, count in counts.items()) or "none"
    if highest < 2 or not counts.keys() & FILE_CELLS.keys():
        raise ParameterError(f"mesh: there are no cells of a known kind ({', '.join(FILE_CELLS)}), but {listed}")
    are_mixed = of_four is CellKind.QUADRILATERAL and counts.keys() == {"triangle", "quad"}
    are_mixed &= is_flat is False or is_curved(points, highest)
    if len(counts) > 1 and not are_mixed:
        raise ParameterError(f"mesh: its elements must be of one kind, got {listed}; mesh it with one of them")
    solid = [number for number, block in enumerate(mesh.cells) if block.type in counts and len(block.data)]
    (kind, order), blocks = FILE_CELLS["quad" if are_mixed else next(iter(counts))], solid
    _check_flat(points, highest, is_flat)
    points[:, 2] *= highest == 3 or not is_flat
    parts = [np.asarray(mesh.cells[number].data, dtype=np.int64) for number in blocks]
    cells = np.concatenate([part[:, [0, 1, 2, -1]] for part in parts] if are_mixed else parts)
    if order == 2:
        points, cells = _complete_nodes(points, cells, kind)
    elif kind is CellKind.HEXAHEDRON:
        cells = cells[:, hexahedron_order()[:8]]
    elements, facets, nodes = _collect_groups(mesh, blocks, highest)
    left = Counter[str]()
    for block in (cells for number, cells in enumerate(mesh.cells) if number not in blocks and len(cells.data)):
        if (name := getattr(block, "label", "")) or not np.isin(block.data, cells).all():
            left[f"elements {name or block.type}"] += len(block.data)
    left_out = [f"{name} ({count})" for name, count in left.items()] + getattr(mesh, "left_out", [])
    return UserMesh(kind, order, points, cells, elements, nodes, facets, tuple(left_out))


def _cell_dimension(name: str) -> int:
    """Return the dimension, 0 to 3, of a kind of cells from its name in meshio, such as 2 for "triangle6"; 3 for
    any name that is no vertex, line, triangle, quadrilateral or polygon."""
    plain = name.lower()
    for dimension, prefixes in enumerate((("vertex",), ("line", "curve"), ("tri", "quad", "polygon"))):
        if any(prefix in plain for prefix in prefixes):
            return dimension
    return 3


def _complete_nodes(points: Array, cells: IntArray, kind: CellKind) -> tuple[Array, IntArray]:
    """Return points, and cells of second order of the given ``kind`` in scikit-fem's order of nodes.
    Quadrilaterals of 8 nodes get a node in their middle, hexahedra of 20 nodes in the middle of faces and cells.
    Their positions are found by serendipity interpolation and added at the end of the points. Triangles,
    tetrahedra and quadrilaterals of 9 nodes are returned unchanged."""
    if kind in (CellKind.TETRAHEDRON, CellKind.TRIANGLE):
        return points, cells  # edges 01 12 20 03 13 23 in both
    if kind is CellKind.QUADRILATERAL and cells.shape[1] == 8:
        middle = points[cells[:, 4:]].sum(axis=1) / 2 - points[cells[:, :4]].sum(axis=1) / 4
        added = len(points) + np.arange(len(cells))
        return np.vstack([points, middle]), np.column_stack([cells, added])
    if kind is CellKind.HEXAHEDRON:
        if cells.shape[1] == 20:
            points, cells = _with_faces(points, cells)
        return points, cells[:, hexahedron_order()]
    return points, cells


def _with_faces(points: Array, cells: IntArray) -> tuple[Array, IntArray]:
    """Convert serendipity hexahedra of 20 nodes to hexahedra of 27 nodes by adding nodes in the middle of faces
    and cells. Their positions are those of the serendipity interpolation. Neighbours share the node of a common
    face, found by its four corners. Return all points (P, 3), with added points at the end, and the node indices
    of e cells (e, 27)."""
    edge_of = {frozenset(edge): 8 + k for k, edge in enumerate(VTK_EDGES)}
    columns = []
    for face in VTK_FACES:
        edges = [edge_of[frozenset((face[k], face[(k + 1) % 4]))] for k in range(4)]
        positions = points[cells[:, edges]].sum(axis=1) / 2 - points[cells[:, list(face)]].sum(axis=1) / 4
        corners = np.sort(cells[:, list(face)], axis=1)
        columns.append((corners, positions))
    corners = np.concatenate([vertices for vertices, _ in columns])
    positions = np.concatenate([middle for _, middle in columns])
    _, first, inverse = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    faces = len(points) + inverse.reshape(len(VTK_FACES), len(cells)).T
    middles = points[cells[:, 8:]].sum(axis=1) / 4 - points[cells[:, :8]].sum(axis=1) / 4
    inner = len(points) + len(first) + np.arange(len(cells))
    return np.vstack([points, positions[first], middles]), np.column_stack([cells, faces, inner])


def hexahedron_order() -> IntArray:
    """Return the index in VTK's order of each of the 27 nodes of a hexahedron of second order in scikit-fem's
    order, shape (27,). Nodes are matched by their positions in the reference cell."""
    from skfem import ElementHex2

    corners = np.array(VTK_CORNERS, dtype=np.float64)
    sides = [corners[list(side)].mean(axis=0) for side in (*VTK_EDGES, *VTK_FACES)]
    positions = np.vstack([corners, *sides, [[0.5, 0.5, 0.5]]])
    distances = np.abs(positions[None] - np.asarray(ElementHex2.doflocs)[:, None]).max(axis=2)
    return np.asarray(distances.argmin(axis=1), dtype=np.int64)


def _collect_groups(
    mesh: Any, blocks: list[int], dimension: int
) -> tuple[dict[str, IntArray], dict[str, IntArray], dict[str, IntArray]]:
    """Return the named groups of a meshio mesh as three dictionaries by name: indices of elements, vertices of
    facets (one row each), and indices of nodes. Cell sets of the ``blocks`` with elements become element groups.
    Sets of cells with one ``dimension`` less become facet groups; point sets and vertex cells become node groups.
    Other cells are ignored."""
    starts = dict(zip(blocks, np.cumsum([0, *(len(mesh.cells[n].data) for n in blocks)])[:-1], strict=True))
    elements: dict[str, list[IntArray]] = {}
    facets: dict[str, list[IntArray]] = {}
    nodes = {name: np.asarray(group, dtype=np.int64) for name, group in (mesh.point_sets or {}).items()}
    for name, number, members in _cell_groups(mesh):
        block = mesh.cells[number]
        if number in starts:
            elements.setdefault(name, []).append(starts[number] + members)
        elif block.type in FILE_CELLS and FILE_CELLS[block.type][0].dimension == dimension - 1:
            corners = CORNERS[FILE_CELLS[block.type][0]]
            facets.setdefault(name, []).append(np.asarray(block.data[members, :corners], dtype=np.int64))
        elif block.type in ("line", "line3") and dimension == 2:
            facets.setdefault(name, []).append(np.asarray(block.data[members, :2], dtype=np.int64))
        elif block.type == "vertex":
            more = np.asarray(block.data[members].ravel(), dtype=np.int64)
            nodes[name] = np.union1d(nodes.get(name, more), more)
    joined = {name: np.concatenate(group) for name, group in facets.items()}
    return {name: np.concatenate(group) for name, group in elements.items()}, joined, nodes


def _cell_groups(mesh: Any) -> Any:
    """Yield (name, index of the cell block, cell indices) of each named group of a meshio mesh, once for each block
    with cells in it. Groups are its cell sets and gmsh's physical groups that are no cell sets."""
    for name, per_block in (mesh.cell_sets or {}).items():
        if not name.startswith("gmsh:"):
            for number, members in enumerate(per_block):
                if members is not None and len(members):
                    yield name, number, np.asarray(members, dtype=np.int64)
    physical = (getattr(mesh, "cell_data", None) or {}).get("gmsh:physical")
    if physical is None:
        return
    for name, (tag, dimension) in ((n, map(int, v)) for n, v in (mesh.field_data or {}).items()):
        if name in (mesh.cell_sets or {}):
            continue
        for number, tags in enumerate(physical):
            members = np.flatnonzero(np.asarray(tags) == tag)
            if _cell_dimension(mesh.cells[number].type) == dimension and len(members):
                yield name, number, members.astype(np.int64)


# Checks that refuse unusable meshes or warn of doubtful ones.

FLAT = 1e-9
"""Volume of an element, relative to that of a cube of its extent, below which it is degenerate."""
SLOWEST, FASTEST = 1.0, 5e4
"""Speeds of sound sqrt(E / rho) of materials [m/s]: soft rubber 30, diamond 18000."""
LIGHTEST, HEAVIEST = 0.5, 3e4
"""Densities of materials [kg/m3]: aerogels and metals."""


def check_mesh(mesh: UserMesh) -> None:
    """Raise ``ParameterError`` if a user's mesh cannot be a body: no elements, coordinates that are not finite,
    elements with the same vertices, or parts that share no nodes. Warn (``MeshWarning``) of points that belong to
    no element, and of entries of the file that were not used.

    Raises:
        ParameterError: no elements, coordinates that are not finite, elements that are listed twice, or parts that
            share no nodes.
    """
    if not len(mesh.cells):
        raise ParameterError("mesh: it has no elements")
    if not np.isfinite(mesh.points).all():
        raise ParameterError("mesh: coordinates of nodes must be finite")
    left = list(mesh.left_out)
    if spare := np.setdiff1d(np.arange(len(mesh.points)), mesh.cells).tolist():
        left.append(f"{len(spare)} nodes that belong to no element ({some_of(spare)})")
    if left:
        _warn_of_mesh(
            f"mesh: the body does not have {', '.join(left)}; masses, springs, loads and supports are parts of the "
            "model, at interfaces of the body"
        )
    _, first = np.unique(np.sort(mesh.corners, axis=1), axis=0, return_index=True)
    refuse_elements(~np.isin(np.arange(len(mesh.cells)), first), "are listed more than once: list each once")
    e, corners = mesh.corners.shape
    nodes, numbers = np.unique(mesh.corners, return_inverse=True)
    links = np.repeat(np.arange(e), corners), e + numbers.ravel()
    sizes = np.bincount(linked_groups(links, e + len(nodes))[:e])
    if (count := len(sizes)) > 1:
        raise ParameterError(
            f"mesh: it falls into {count} parts that share no nodes (of {some_of(np.sort(sizes)[::-1])} elements): "
            "merge nodes at the same position, or make a body of each part"
        )


def check_elements(mesh: ElementMesh) -> None:
    """Raise ``ParameterError`` if elements of a mesh are flat, folded, inverted, or touch the rest in nodes or
    edges only (a hinge). The message lists them. Flat and folded (changing sign) are judged by Jacobian
    determinants at quadrature points and nodes. Inverted triangles or tetrahedra overlap neighbours; other
    elements have the sign of the minority.

    Raises:
        ParameterError: there are some; the message lists them.
    """
    neighbours = mesh.mesh.f2t[:, mesh.mesh.f2t[1] >= 0]
    part = linked_groups(neighbours, mesh.cell_count)
    if part.any():
        what = "touch the others in nodes or edges only, as a hinge does: parts of one body share sides of elements"
        refuse_elements(part == np.bincount(part).argmin(), what)
    mapping = mesh.mesh.mapping()
    points = _reference_points(mesh)
    with np.errstate(all="ignore"):  # of flat elements
        determinants = np.asarray(mapping.detDF(points))
    determinants = np.broadcast_to(determinants, (mesh.cell_count, points.shape[1]))
    corners = mesh.geometry[mesh.cells]
    extent = np.ptp(corners, axis=1).max(axis=1) ** mesh.dimension
    least, greatest = determinants.min(axis=1), determinants.max(axis=1)
    refuse_elements(np.abs(determinants).min(axis=1) <= FLAT * extent, "are flat, they have no volume")
    what = "are inverted (folded: their volume is negative in places); move their nodes, above all those in the"
    refuse_elements(least * greatest < 0, f"{what} middle of edges")
    if mesh.kind.is_simplex:
        are_inverted = _are_overlapping(mesh)
    else:
        is_negative = least < 0
        are_inverted = is_negative if 2 * is_negative.sum() <= len(is_negative) else ~is_negative
    what = "are inverted: they lie on top of their neighbours, or list their nodes the other way round"
    refuse_elements(are_inverted, what)


def check_units(materials: list[Material]) -> None:
    """Warn the user (``MeshWarning``) of each material whose density or speed of sound suggests other units than
    kilograms, metres and seconds. Usual are densities between 0.5 and 30 000 kg/m3 and speeds sqrt(E / density)
    between 1 and 50 000 m/s."""
    for material in materials:
        speed = float(np.sqrt(material.youngs_modulus / material.density))
        if not LIGHTEST < material.density < HEAVIEST or not SLOWEST < speed < FASTEST:
            _warn_of_mesh(
                f"material: none has a density of {material.density:g} kg/m3 and a speed of sound of {speed:.3g}"
                " m/s; are its units (or those of the mesh) millimetres and tonnes? All are SI here: kg, m, s"
            )


def warn_of_stiff_elements(mesh: ElementMesh) -> None:
    """Warn the user (``MeshWarning``) if the elements of a mesh are of order 1, since they are too stiff in
    bending."""
    if mesh.order == 1:
        stiff = "about twice as stiffly as they should" if mesh.kind.is_simplex else "1.4 times too stiffly"
        _warn_of_mesh(
            f"order=1: {mesh.kind.value}s of order 1 lock, they bend {stiff} unless there are many across the "
            "thickness; take order=2"
        )


def _are_overlapping(mesh: ElementMesh) -> BoolArray:
    """Return whether each triangle or tetrahedron of a mesh overlaps the largest number of neighbours, shape (e,).
    All are False if no two overlap. Two neighbours overlap if their centroids are on the same side of the
    common facet."""
    facets, neighbours = mesh.mesh.facets.T, mesh.mesh.f2t.T
    inner = np.flatnonzero(neighbours[:, 1] >= 0)
    positions = mesh.geometry
    corners = positions[facets[inner]]
    if mesh.kind is CellKind.TRIANGLE:
        edge = corners[:, 1] - corners[:, 0]
        normals: Array = np.column_stack([-edge[:, 1], edge[:, 0]])
    else:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    centers = positions[mesh.cells].mean(axis=1)
    sides = [np.einsum("fi,fi->f", centers[neighbours[inner, k]] - corners[:, 0], normals) for k in (0, 1)]
    wrong = inner[sides[0] * sides[1] > 0]
    counts = np.bincount(neighbours[wrong].ravel(), minlength=mesh.cell_count)
    return np.asarray((counts == counts.max()) & (counts > 0))


def _reference_points(mesh: ElementMesh) -> Array:
    """Return the points of the reference cell, shape (d, q), at which the elements of a mesh are checked for a
    positive volume. They are the quadrature points of the mass matrix. Unless elements are triangles or tetrahedra
    with straight sides, the geometry nodes are added."""
    from skfem.quadrature import get_quadrature

    points = np.asarray(get_quadrature(mesh.mesh.elem.refdom, mesh.mass_degree)[0])
    if mesh.kind.is_simplex and mesh.geometry_order == 1:
        return points
    return np.hstack([points, np.asarray(mesh.mesh.elem.doflocs).T])


def _warn_of_mesh(text: str) -> None:
    """Warn the user of a property of a mesh, with the given text (``MeshWarning``)."""
    warn_user(text, MeshWarning)


def refuse_elements(are_wrong: BoolArray, what: str) -> None:
    """Raise ``ParameterError`` if any element of a mesh is marked in the array ``are_wrong`` (e,). The message
    lists these elements and says ``what`` is wrong with them.

    Raises:
        ParameterError: there are some.
    """
    if are_wrong.any():
        listed = some_of(np.flatnonzero(are_wrong))
        raise ParameterError(f"mesh: elements {listed} {what} (elements count from 0, in the order of the mesh)")


def some_of(indices: IntArray | list[int]) -> str:
    """Return the first eight of a list of integers as text, separated by commas; if there are more, "..." and the
    total count follow."""
    return ", ".join(map(str, indices[:8])) + (f", ... ({len(indices)})" if len(indices) > 8 else "")


# Elements with all their displacement nodes in the order of VTK.

NAMES = {cell: name for name, cell in FILE_CELLS.items()}
"""Name of cells of each kind and order; those of the most nodes, which come last."""


def vtk_cells(mesh: ElementMesh) -> list[tuple[str, IntArray]]:
    """Return the cells of a mesh in the form of meshio: a list of one pair, the name of their kind and their node
    indices in VTK's order."""
    nodes = mesh.element_nodes
    if mesh.kind is CellKind.HEXAHEDRON:
        order = hexahedron_order()[: nodes.shape[1]]
        nodes = nodes[:, np.argsort(order)]
    return [(NAMES[mesh.kind, mesh.order], nodes)]
