"""Regions of a mesh that joints and loads act on (interfaces), averaged or rigid (docs/theory.md, 3)."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray, option, text
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.points import points_where, selected_points
from phlexible.bodies.flexible.structure import ElasticStructure, Unknowns
from phlexible.bodies.flexible.user_mesh import UserMesh
from phlexible.errors import ParameterError

Nodes = str | Sequence[int] | Callable[[Array], ArrayLike]
InterfaceSpec = Nodes | tuple[Nodes, str]
Kind = TypeVar("Kind", bound=StrEnum)
ON_A_LINE = 1e-9
FLAT = 1 - 1e-6
"""Length of the mean normal of a flat face."""


class InterfaceKind(StrEnum):
    """Choice of how the nodes of an interface follow its motion: they stay free to deform and only their mean moves
    with it, or they move with it rigidly.

    AVERAGE: by the mean displacement and rotation of its area, which stays free to deform. RIGID: all its nodes
    move as one. HINGED: so do the displacements of the nodes of a plate, which turn freely.
    """

    AVERAGE = "average"
    RIGID = "rigid"
    HINGED = "hinged"


@dataclass(frozen=True, eq=False)
class MeshInterface:
    """Named region of a mesh on which joints and loads act, with the matrix that gives its displacement and
    rotation from the N nodal displacements.

    Attributes:
        name: of the interface in the part.
        kind: averaged or rigid.
        position: centroid of its area, shape (3,) [m].
        nodes: displacement nodes on it, ascending.
        area: int n dA outward where it is flat, times the thickness of a plane mesh; else zero, shape (3,) [m2].
        rows: mean displacement and rotation of nodal displacements, component after component at each node:
            shape (3, N d) in the plane (x, y, about z), (6, N d) in space.
    """

    name: str
    kind: InterfaceKind
    position: Array
    nodes: IntArray
    area: Array
    rows: Array


def user_interfaces(
    interfaces: Mapping[str, InterfaceSpec] | None, make: Callable[..., MeshInterface], *of_mesh: object
) -> tuple[MeshInterface, ...]:
    """Return the interfaces (regions on which joints and loads act) of a solid, plane mesh or plate that a user
    described by name. Each has nodes, centroid, a matrix for its mean motion, and an area vector. ``make``, for
    example ``mesh_interface``, makes one from its name, choice of nodes, kind and the arguments ``of_mesh``. None
    gives an empty tuple. Raise ``ParameterError`` for regions without area, or two rigid or hinged interfaces that
    share nodes.

    Raises:
        ParameterError: no such group or nodes, fewer nodes than have an area, or two rigid ones that share nodes.
    """
    result = tuple(make(*spec, *of_mesh) for spec in named_specs(interfaces, InterfaceKind))
    refuse_shared_nodes(result)
    return result


def named_specs(interfaces: Mapping[str, InterfaceSpec] | None, kinds: type[Kind]) -> list[tuple[str, Any, Kind]]:
    """Return a list of (name, choice of nodes, kind) for the interfaces in a user's dictionary, in its order; an
    empty list for None. A value is a choice of nodes, or a pair (nodes, kind) with the name of one of ``kinds``;
    the default is the first kind.

    Raises:
        ParameterError: no dictionary, no such kind.
    """
    if interfaces is not None and not isinstance(interfaces, Mapping):
        raise ParameterError(f'interfaces must be a dictionary such as {{"tip": nodes}}, got {interfaces!r}')
    result = []
    for key, spec in (interfaces or {}).items():
        name, nodes, kind = text("name of an interface", key), spec, next(iter(kinds))
        if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[1], str):
            nodes, kind = spec[0], option(f"kind of interface {name!r}", spec[1], kinds)
        result.append((name, nodes, kind))
    return result


def refuse_shared_nodes(interfaces: tuple[MeshInterface, ...]) -> None:
    """Raise ``ParameterError`` if two rigid or hinged interfaces of a body share nodes, since a node cannot follow
    the rigid motions of both. Averaged interfaces may share nodes with any other. The message names the two
    interfaces."""
    rigid = [interface for interface in interfaces if interface.kind is not InterfaceKind.AVERAGE]
    for k, first in enumerate(rigid):
        for second in rigid[k + 1 :]:
            if common := len(np.intersect1d(first.nodes, second.nodes)):
                raise ParameterError(
                    f"interfaces {first.name!r} and {second.name!r} are both rigid and share {common} nodes; "
                    "make one interface of them"
                )


def mesh_interface(
    name: str, nodes: Any, kind: InterfaceKind, source: UserMesh, mesh: ElementMesh, thickness: float
) -> MeshInterface:
    """Return one interface (region on which joints and loads act) of a solid or plane mesh from a user's choice of
    ``nodes``. It has the centroid, a matrix for mean motion by least squares, the nodes, and the outward area
    vector [m2]. Raise ``ParameterError`` if the nodes cover no side of an element. An averaged region that leaves
    out chosen nodes and the ``kind`` "hinged" raise it too."""
    if kind is InterfaceKind.HINGED:
        raise ParameterError(f'interface {name!r}: "hinged" is for plates, others are "average" or "rigid"')
    region = region_of(name, nodes, source, mesh)
    if not len(region.facets):
        raise region.size_error(name, mesh)
    if kind is InterfaceKind.AVERAGE:
        region.refuse_rest(name, mesh, mesh.mesh.facets.T[region.facets])
    basis = quadrature_basis(mesh, None, region.facets)
    position, rows = mean_rows(name, basis, mesh, mesh.dimension)
    members = mesh.facet_nodes(region.facets) if kind is InterfaceKind.AVERAGE else region.nodes(mesh)
    return MeshInterface(name, kind, position, members, thickness * outward_area(basis), rows)


@dataclass(frozen=True, eq=False)
class MeshRegion:
    """Elements, facets and vertices of a mesh that a user chose for an interface.

    Attributes:
        cells: elements all of whose vertices are chosen, shape (c,).
        facets: facets all of whose vertices are chosen: on the boundary, and inside where only they reach a chosen
            corner, shape (f,).
        selected: whether a corner of elements is chosen, shape (corners,).
    """

    cells: IntArray
    facets: IntArray
    selected: BoolArray

    def uncovered_vertices(self, mesh: ElementMesh) -> IntArray:
        """Return the ascending indices of the chosen vertices of the mesh that belong neither to the elements
        nor to the facets of this region."""
        covered = [mesh.cells[self.cells].ravel(), mesh.mesh.facets[:, self.facets].ravel()]
        return np.setdiff1d(np.flatnonzero(self.selected), np.concatenate(covered))

    def nodes(self, mesh: ElementMesh) -> IntArray:
        """Return the ascending indices of all displacement nodes in this region of a mesh. They are the nodes on
        its elements and facets, and at its chosen vertices outside of both. In space, nodes on edges from such a
        vertex to another chosen vertex are included."""
        rest = self.uncovered_vertices(mesh)
        nodes = [mesh.element_nodes[self.cells].ravel(), mesh.facet_nodes(self.facets), mesh.vertex_nodes[rest]]
        if mesh.dimension == 3 and len(rest):
            ends = np.asarray(mesh.mesh.edges)
            nodes.append(mesh.edge_nodes(np.flatnonzero(self.selected[ends].all(0) & np.isin(ends, rest).any(0))))
        return np.unique(np.concatenate(nodes))

    def refuse_rest(self, name: str, mesh: ElementMesh, averaged: IntArray) -> None:
        """Raise ``ParameterError`` if the mean motion over this region of a mesh leaves out vertices that the user
        chose. ``averaged`` are the vertices over which the mean is taken. Vertices of elements next to the
        averaged vertices may be left out, as at a rim. ``name`` is the name of the interface, for the message.

        Args:
            averaged: vertices of each element or side that is averaged over, shape (k, c).
        """
        covered = np.union1d(averaged, mesh.cells[self.cells])
        mean = f"interface {name!r}: the mean is over {'an edge' if averaged.shape[1] == 2 else 'an area'}"
        remedy = 'make it "rigid", which takes all of them, or an interface of each'
        refuse_left_out(mean, np.flatnonzero(self.selected), covered, mesh.cells, remedy)

    def size_error(self, name: str, mesh: ElementMesh) -> ParameterError:
        """Return (not raise) an exception with the message that the nodes chosen for this region of a mesh cover
        no side of an element. ``name`` is the name of the interface."""
        area = "an area" if mesh.dimension == 3 else "a length"
        return ParameterError(
            f"interface {name!r} has {int(self.selected.sum())} node(s) that cover no side of an element: it needs "
            f"{area}, or it has no rotation and what it carries depends on the mesh; take all nodes of a face"
        )


def refuse_left_out(mean: str, chosen: IntArray, covered: IntArray, cells: IntArray, remedy: str) -> None:
    """Raise ``ParameterError`` if the mean over an interface leaves out ``chosen`` nodes, since it is over the
    ``covered`` ones alone. Nodes of elements next to these may be left out, as at a rim. ``cells`` (e, c) are the
    nodes of all elements. The message begins with ``mean``, which names the interface and what the mean is over,
    counts what is left out, and ends with the ``remedy``."""
    rest = np.setdiff1d(chosen, covered)
    if len(np.setdiff1d(rest, cells[np.isin(cells, covered).any(axis=1)])):
        count = f"{len(rest)} of {len(chosen)} chosen nodes"
        raise ParameterError(f"{mean}, which leaves out {count}, on lines and points outside it; {remedy}")


def region_of(name: str, nodes: Any, source: UserMesh, mesh: ElementMesh, with_sides: bool = True) -> MeshRegion:
    """Return the region of a mesh (elements, facets, mask of vertices) that a user chose by nodes, a function of
    position, or a group's name. Elements and boundary facets belong to it if all their vertices are chosen,
    without elements that ``_intended_cells`` drops. Inner facets count where nothing else covers their vertices.
    Without ``with_sides``, facets of chosen elements are left out. Raise ``ParameterError`` if nothing is chosen.

    Args:
        with_sides: whether facets of chosen elements on the boundary count (of solids, not of plates).

    Raises:
        ParameterError: nothing of the mesh is chosen, or facets of a group are none of the mesh.
    """
    used = np.unique(source.corners)
    if isinstance(nodes, str) and nodes in source.facet_groups:
        facets = facets_of_group(nodes, source, mesh)
        is_chosen = np.zeros(len(used), dtype=np.bool_)
        is_chosen[mesh.mesh.facets[:, facets]] = True
        return MeshRegion(np.zeros(0, dtype=np.int64), facets, is_chosen)
    called = f"interface {name!r}"
    is_chosen = np.isin(used, selected_points(called, nodes, source.points, source.points_by_name))
    if not is_chosen.any():
        raise ParameterError(f"{called} has no nodes of the mesh: {_extent_hint(nodes, source)}")
    cells = np.flatnonzero(is_chosen[mesh.cells].all(axis=1))
    corners, boundary = np.asarray(mesh.mesh.facets), mesh.mesh.boundary_facets()
    is_facet = is_chosen[corners].all(axis=0)
    is_outside = np.zeros(len(is_facet), dtype=np.bool_)
    is_outside[boundary] = True
    cells = _intended_cells(nodes, cells, is_chosen, mesh)
    sides = is_facet & is_outside
    if not with_sides:
        sides[mesh.mesh.t2f[:, cells]] = False
    covered = np.union1d(mesh.cells[cells], corners[:, sides])
    inner = is_facet & ~is_outside & ~np.isin(corners, covered).all(axis=0)
    if with_sides and not (sides | inner).any():
        inner = is_facet  # of elements inside the body
    return MeshRegion(cells, np.flatnonzero(sides | inner), is_chosen)


def _intended_cells(nodes: Any, cells: IntArray, selected: BoolArray, mesh: ElementMesh) -> IntArray:
    """Return the chosen elements (indices ``cells``) without elements whose vertices were all chosen by accident,
    as at a rim. Suspect are triangles and tetrahedra without a chosen neighbour. If ``nodes`` is a function, also
    elements with all vertices on the boundary are suspect; suspects where it is True at their middle are kept. For
    a list, all are returned if their vertices are exactly the ``selected`` ones (mask).

    A function decides by its value at the middle of the element, a list by whether a neighbour is chosen.
    """
    sides = mesh.mesh.t2f[:, cells]
    is_lone = ~(np.bincount(sides.ravel(), minlength=mesh.mesh.facets.shape[1]) > 1)[sides].any(axis=0)
    is_suspect = is_lone & mesh.kind.is_simplex
    if callable(nodes):
        is_suspect |= np.isin(mesh.cells[cells], mesh.mesh.boundary_nodes()).all(axis=1)
        middles = np.zeros((len(cells), 3))
        middles[:, : mesh.dimension] = mesh.geometry[mesh.cells[cells]].mean(axis=1)
        with contextlib.suppress(ParameterError):  # of a function that is defined at the nodes only
            is_suspect[points_where("", nodes, middles)] = False
    elif selected.sum() == len(np.unique(mesh.cells[cells])):
        return cells
    return np.asarray(cells[~is_suspect])


def facets_of_group(name: str, source: UserMesh, mesh: ElementMesh) -> IntArray:
    """Return the ascending indices of the facets of a mesh that belong to the group ``name`` of the user's mesh
    ``source``. Raise ``ParameterError`` if some are no sides of elements of the mesh.

    Raises:
        ParameterError: some are no facets of the mesh.
    """
    used = np.unique(source.corners)
    vertex_of = np.full(len(source.points), -1)
    vertex_of[used] = np.arange(len(used))
    group = np.sort(vertex_of[source.facet_groups[name]], axis=1)
    corners = np.sort(np.asarray(mesh.mesh.facets.T), axis=1)
    known = {tuple(row): k for k, row in enumerate(corners.tolist())}
    facets = [known.get(tuple(row), -1) for row in group.tolist()]
    if missing := facets.count(-1):
        raise ParameterError(
            f"group {name!r}: {missing} of its {len(facets)} facets are no sides of elements of the body"
        )
    return np.unique(np.array(facets, dtype=np.int64))


def _extent_hint(nodes: Any, source: UserMesh) -> str:
    """Return a text for error messages with the range of the coordinates of the user's mesh ``source``. If
    ``nodes`` is a function, advise in it to compare with a tolerance."""
    low, high = source.points.min(axis=0), source.points.max(axis=0)
    box = ", ".join(f"{a:g} <= {c} <= {b:g}" for a, b, c in zip(low, high, "xyz", strict=True))
    return f"the mesh lies in {box}" + ("; compare with a tolerance, not with ==" if callable(nodes) else "")


def quadrature_basis(mesh: ElementMesh, cells: IntArray | None, facets: IntArray | None) -> Any:
    """Return a scikit-fem basis with quadrature points on the given ``facets`` of a mesh, or on the given
    ``cells`` if ``facets`` is None. Its quadrature has the degree 2 * order + 2."""
    import skfem

    degree = 2 * mesh.order + 2
    if facets is None:
        return skfem.CellBasis(mesh.mesh, mesh.element, elements=cells, intorder=degree, disable_doflocs=True)
    return skfem.FacetBasis(mesh.mesh, mesh.element, facets=facets.astype(np.int32), intorder=degree)


def outward_area(basis: Any) -> Array:
    """Return the integral of the outward normal over the facets of a scikit-fem basis, shape (3,). It is an area
    [m2] or, in the plane, a length [m]. It is exactly zero if its size is below a small fraction of the area of
    the facets, as over a closed surface."""
    weights, outward = np.asarray(basis.dx), np.zeros(3)
    normals = np.asarray(basis.normals)
    outward[: len(normals)] = np.einsum("deq,eq->d", normals, weights)
    return np.asarray(outward * (np.linalg.norm(outward) > FLAT * weights.sum()))


def mean_rows(
    name: str, basis: Any, mesh: ElementMesh, unknowns: int, thickness: float = 0.0
) -> tuple[Array, Array]:
    """Return the centroid of a mesh region, shape (3,) [m], and the matrix of its mean displacement and
    least-squares rotation. The matrix has the shape (6, ``unknowns`` N) for N nodes, in the plane (``unknowns`` 2)
    (3, 2 N). Means are integrals with the quadrature of ``basis``; a plate's ``thickness`` adds nodal rotations.
    Raise ``ParameterError`` if a region without thickness lies on one line.

    The mean is over the edge or area, of plates times the thickness: points at height z move by u + z d.
    """
    weights = np.asarray(basis.dx)
    x = np.zeros((3, *weights.shape))
    x[: mesh.dimension] = np.asarray(basis.global_coordinates())
    total = weights.sum()
    center = (x * weights).sum(axis=(1, 2)) / total
    arms = x - center[:, None, None]
    values = np.array([np.broadcast_to(np.asarray(each[0]), weights.shape) for each in basis.basis])
    means, moments = np.zeros(mesh.node_count), np.zeros((3, mesh.node_count))
    dofs = np.asarray(basis.element_dofs)
    np.add.at(means, dofs, np.einsum("aeq,eq->ae", values, weights))
    for axis in range(3):
        np.add.at(moments[axis], dofs, np.einsum("aeq,eq,eq->ae", values, weights, arms[axis]))
    euler = np.einsum("ceq,feq,eq->cf", arms, arms, weights)
    euler[2, 2] += total * thickness**2 / 12
    d, axes = min(unknowns, 3), [2] if unknowns == 2 else [0, 1, 2]
    inertia = np.trace(euler) * np.eye(3) - euler
    about = inertia[np.ix_(axes, axes)]
    if not thickness and np.linalg.eigvalsh(about)[0] <= ON_A_LINE * np.trace(inertia):
        raise ParameterError(f"interface {name!r} lies on one line: it has no rotation about it")
    turning = np.zeros((3, mesh.node_count, 6))  # int (x - x_m) x u
    turning[:, :, :3] = cross_matrix(moments.T).transpose(1, 0, 2)
    turning[0, :, 3] = turning[1, :, 4] = means * thickness**2 / 12
    rows = np.zeros((d + len(axes), mesh.node_count, unknowns))
    rows[range(d), :, range(d)] = means / total
    rows[d:] = np.einsum("ab,bNc->aNc", np.linalg.inv(about), turning[axes, :, :unknowns])
    return center, rows.reshape(len(rows), -1)


# Rigid interfaces: their nodes follow a few unknowns of the interface (docs/theory.md, 3).


@dataclass(frozen=True, eq=False)
class TiedStructure:
    """Finite element structure in which the nodes of rigid interfaces follow a few unknowns of the interface. All
    unknowns of the model are ``columns @ q`` with fewer unknowns q.

    Attributes:
        structure: with unknowns q.
        columns: the unknowns of the finite element model are ``columns @ q``.
        rows: displacement and rotation of each interface by name, of q.
        positions: of the interfaces by name, each shape (3,) [m].
        untied: the structure with all unknowns.
    """

    structure: ElasticStructure
    columns: sparse.csr_array
    rows: dict[str, Array]
    positions: dict[str, Array]
    untied: ElasticStructure

    def loads(self, accelerations: Array) -> Array:
        """Return the inertial loads of accelerations (N, k), multiplied by the mass matrix and projected to the q
        unknowns of this structure, shape (q, k). N counts the unknowns before the nodes of rigid interfaces were
        replaced by one motion each."""
        return np.asarray(self.columns.T @ (self.untied.mass @ accelerations))


def tied_structure(
    full: ElasticStructure, unknowns: Unknowns, interfaces: tuple[MeshInterface, ...]
) -> TiedStructure:
    """Return a finite element structure, made from ``full``, in which the nodes of each rigid interface follow one
    displacement and one linearized rotation. These six unknowns (three in the plane) come last and replace
    unknowns of the nodes; at hinged interfaces only displacements are replaced. The result includes the sparse
    matrix from its unknowns to all, and matrices for the interfaces' motions. ``unknowns`` describes those of
    ``full``."""
    r, size = full.rigid.shape[1], len(full.rigid)
    rigid_interfaces = [each for each in interfaces if each.kind is not InterfaceKind.AVERAGE]
    followers = [_tied_unknowns(each, unknowns) for each in rigid_interfaces]
    free = np.setdiff1d(np.arange(size), np.concatenate([*followers, np.zeros(0, dtype=np.int64)]))
    count = len(free) + r * len(rigid_interfaces)
    blocks = [sparse.coo_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(size, count))]
    rigid, rows, points = [full.rigid[free]], {}, [full.positions[free]]
    for number, (each, members) in enumerate(zip(rigid_interfaces, followers, strict=True)):
        motion = unknowns.selected(members).rigid_fields(each.position)
        columns_of = len(free) + r * number + np.arange(r)
        pairs = (np.repeat(members, r), np.tile(columns_of, len(members)))
        blocks.append(sparse.coo_array((motion.ravel(), pairs), shape=(size, count)))
        rigid.append(_rigid_motion_at(each.position, unknowns))
        rows[each.name] = np.eye(r, count, columns_of[0])
        points.append(np.tile(each.position, (r, 1)))
    columns = sparse.csr_array(sum(block.tocsr() for block in blocks))
    for each in interfaces:
        if each.kind is InterfaceKind.AVERAGE:
            rows[each.name] = np.asarray(columns.T @ each.rows.T).T
    ordered = {each.name: rows[each.name] for each in interfaces}
    positions = {each.name: each.position for each in interfaces}
    return TiedStructure(
        full.reduced(columns, np.vstack(rigid), np.vstack(points)), columns, ordered, positions, full
    )


def rotation_work(
    interfaces: tuple[MeshInterface, ...], unknowns: Unknowns, forces: Array, rotations: Array, with_averaged: bool
) -> Array:
    """Return the work of nodal ``forces`` (N, n) of shape k on second-order displacements of interface nodes,
    shape (n, n, n). Indices are k and the two shapes i and j of rotation. A rotation theta (from ``rotations``)
    displaces a node by theta x (theta x xi) / 2, with xi its vector from the interface's centre. Averaged
    ``interfaces`` count only if ``with_averaged``.

    Linear ties omit this displacement: without it the nodes of an interface that rotates in its frame move apart,
    and the forces between them do work.

    Args:
        forces: K phi_k on all unknowns, shape (N, n).
        rotations: of the interfaces, shape (k, 3, n).
        with_averaged: whether averaged interfaces count, as if they were rigid.
    """
    n = forces.shape[1]
    result = np.zeros((n, n, n))
    for each, turns in zip(interfaces, rotations, strict=True):
        if each.kind is InterfaceKind.AVERAGE and not with_averaged:
            continue
        members = unknowns.of_nodes(each.nodes)
        members = members[unknowns.component[members] < 3]
        arms = unknowns.positions[members] - each.position
        spread = np.zeros((3, 3, n))  # sum of force times arm
        np.add.at(spread, unknowns.component[members], forces[members, None] * arms[:, :, None])
        for k in range(n):
            symmetric = (spread[..., k] + spread[..., k].T) / 2
            result[k] += turns.T @ (symmetric - np.trace(symmetric) * np.eye(3)) @ turns
    return result


def rotation_displacements(interfaces: tuple[MeshInterface, ...], unknowns: Unknowns, rotations: Array) -> Array:
    """Return the second-order displacements of the nodes of interfaces that rotate in shapes i <= j, shape (N,
    pairs), at all N unknowns. They are (theta_i x (theta_j x xi) + theta_j x (theta_i x xi)) / 2, with xi the
    vector from the interface's centre; zero for other unknowns. ``rotations`` (k, 3, n) are the rotations theta of
    k interfaces in n shapes.

    Averaged interfaces are treated as if they were rigid.

    Args:
        rotations: of the interfaces, shape (k, 3, n); pairs are i <= j.
    """
    first, second = np.triu_indices(rotations.shape[2])
    result = np.zeros((len(unknowns.positions), len(first)))
    for each, turns in zip(interfaces, rotations, strict=True):
        members = unknowns.of_nodes(each.nodes)
        members = members[unknowns.component[members] < 3]
        arms, component = unknowns.positions[members] - each.position, unknowns.component[members]
        one, other = turns[:, first], turns[:, second]
        along = arms @ one, arms @ other
        result[members] = (one[component] * along[1] + other[component] * along[0]) / 2
        result[members] -= (one * other).sum(axis=0) * arms[np.arange(len(members)), component][:, None]
    return result


def _tied_unknowns(interface: MeshInterface, unknowns: Unknowns) -> IntArray:
    """Return the ascending indices of those ``unknowns`` that a rigid ``interface`` moves: all unknowns of its
    nodes, or only their displacements if it is hinged."""
    members = unknowns.of_nodes(interface.nodes)
    return members if interface.kind is InterfaceKind.RIGID else members[unknowns.component[members] < 3]


def _rigid_motion_at(position: Array, unknowns: Unknowns) -> Array:
    """Return displacement and rotation at a point (``position``) for each unit rigid motion about the origin as
    columns. The shape is (6, 6), in the plane (3, 3). Of ``unknowns`` only the dimension is used."""
    components = np.array([*unknowns.translation_axes, *(3 + axis for axis in unknowns.spin_axes)])
    positions = np.tile(position, (len(components), 1))
    return Unknowns(unknowns.dimension, np.zeros_like(components), components, positions).rigid_fields()
