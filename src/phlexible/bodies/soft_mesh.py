"""The mesh of a soft body: nodes, shape functions, points, groups of nodes, surfaces under pressure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray, text
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.elimination import clusters
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.flexible.element_mesh import CellKind, standard_element
from phlexible.bodies.flexible.interfaces import refuse_left_out
from phlexible.bodies.flexible.points import listed_points, points_where
from phlexible.bodies.flexible.user_mesh import CORNERS, UserMesh, refuse_elements
from phlexible.bodies.locations import (
    Interface,
    Location,
    MaterialPoint,
    MaterialPoints,
    MaterialPosition,
    Node,
    label_of,
)
from phlexible.bodies.soft_law import Constitution, ElementStrains
from phlexible.display import short_repr, written
from phlexible.elements.line_functions import gauss, line_slopes, line_values
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import AttachmentError, ParameterError

if TYPE_CHECKING:
    from scipy import sparse


# The mesh of a soft body: nodes that all have mass, and shape functions at quadrature points of its elements.

FLAT = 1e-9
"""Volume or area of an element, relative to that of its extent, below which it is degenerate."""
REMEDY = "; move their nodes, or mesh the body again"
ROUND_OFF = 1e-13
"""Weight of a node in a mean below which it is zero."""


@dataclass(frozen=True, eq=False)
class SoftMesh:
    """Mesh of a soft body with N nodes and e elements of one kind, whose geometry and displacements have the same
    shape functions.

    Attributes:
        kind: of all elements.
        order: of their shape functions, 1 or 2.
        points: all points of the user's mesh, then nodes between them, shape (p, 3) [m].
        cells: points of each element in scikit-fem's order, vertices first, shape (e, k).
    """

    kind: CellKind
    order: int
    points: Array
    cells: IntArray

    __repr__ = short_repr

    @classmethod
    def from_user_mesh(cls, source: UserMesh, order: int) -> Self:
        """Return the mesh of a soft body from a user's mesh (``source``) with elements of ``order`` 1 or 2. If the
        cells have that order, points and cells are unchanged. Otherwise nodes in the middle of edges, faces and
        cells are added after all points; neighbours share them. Raise ``ParameterError`` for order 1 on cells of
        second order.

        Raises:
            ParameterError: elements of order 1 on curved cells.
        """
        if order < source.geometry_order:
            raise ParameterError(
                "order must be 2 on a mesh of second order: elements of order 1 strain when curved cells rotate"
            )
        if order == source.geometry_order:
            return cls(source.kind, order, source.points, source.cells)
        local = np.asarray(standard_element(source.kind, 2).doflocs, dtype=np.float64)
        count = CORNERS[source.kind]
        shares, _ = shape_functions(standard_element(source.kind, 1), local[count:].T)  # of corners in added nodes
        owners, positions = [], []
        for share in shares:
            used = share > 1e-9
            owner = np.full((len(source.cells), count), -1)
            owner[:, : used.sum()] = np.sort(source.corners[:, used], axis=1)
            owners.append(owner)
            positions.append(np.einsum("c,eci->ei", share[used], source.points[source.corners[:, used]]))
        _, first, number = np.unique(np.concatenate(owners), axis=0, return_index=True, return_inverse=True)
        added = np.concatenate(positions)[first]
        numbers = len(source.points) + number.reshape(len(shares), -1).T
        return cls(source.kind, 2, np.vstack([source.points, added]), np.hstack([source.corners, numbers]))

    @property
    def is_sheet(self) -> bool:
        """Whether the elements of this mesh are triangles or quadrilaterals, so that the soft body is a sheet with
        a thickness."""
        return self.kind.dimension == 2

    @cached_property
    def nodes(self) -> IntArray:
        """Indices of the mesh points that are nodes of elements, in the order of the body's coordinates, shape
        (N,). Nodes of one cluster (eliminated as one block) follow one another, ascending."""
        return np.concatenate(self._clusters)

    @cached_property
    def clusters(self) -> tuple[int, ...]:
        """Numbers of nodes in the clusters of this mesh. A cluster is a set of consecutive nodes that the solution
        of the equations eliminates as one block."""
        return tuple(len(cluster) for cluster in self._clusters)

    @cached_property
    def _clusters(self) -> list[IntArray]:
        """Indices of the mesh points in each cluster of nodes of this mesh, ascending. A cluster is a group of
        neighbouring nodes that is eliminated as one block when the equations are solved."""
        used, cells = np.unique(self.cells, return_inverse=True)
        groups = clusters(cells.reshape(self.cells.shape), self.points[used])
        return [used[np.sort(cluster)] for cluster in groups]

    @cached_property
    def node_at(self) -> IntArray:
        """Index of the node at each point of the user's mesh, -1 for points that belong to no element, shape
        (p,)."""
        number = np.full(len(self.points), -1)
        number[self.nodes] = np.arange(len(self.nodes))
        return number

    @property
    def positions(self) -> Array:
        """Undeformed positions of the N nodes of this mesh, shape (N, 3) [m]."""
        return self.points[self.nodes]

    @property
    def element_nodes(self) -> IntArray:
        """Indices of the k nodes of each element of this mesh, vertices first, shape (e, k)."""
        return self.node_at[self.cells]

    @property
    def corners(self) -> IntArray:
        """Indices of the nodes at the c vertices of each element of this mesh, shape (e, c)."""
        return self.element_nodes[:, : CORNERS[self.kind]]

    @property
    def strain_degree(self) -> int:
        """Polynomial degree that the quadrature of the stored energy integrates exactly on the elements of
        this mesh. It is 2 (order - 1), at least 1, for triangles and tetrahedra, and 2 order for other
        elements."""
        return max(2 * (self.order - 1), 1) if self.kind.is_simplex else 2 * self.order

    def quadrature(self, degree: int) -> tuple[Array, Array, Array]:
        """Return shape functions (q, k), gradients (e, q, k, 3) [1/m], and volumes (e, q) at the quadrature points
        of this mesh. There are q points in each of e elements; polynomials of ``degree`` are integrated exactly. In
        a sheet, volumes are areas. Raise ``ParameterError`` for flat or folded elements.

        Gradients in a sheet are along two orthonormal directions of it, which differ from point to point; the third
        is zero.

        Raises:
            ParameterError: names elements that are flat or folded.
        """
        from skfem.quadrature import get_quadrature

        element = standard_element(self.kind, self.order)
        at, weights = get_quadrature(element.refdom, degree)
        values, slopes = shape_functions(element, np.asarray(at))
        x = self.points[self.cells]
        base = x - x[:, :1]
        J = np.einsum("qka,eki->eqia", slopes, base)
        extent = np.ptp(x, axis=1).max(axis=1) ** self.kind.dimension
        gradients = np.zeros((*J.shape[:2], values.shape[1], 3))
        if self.is_sheet:
            R = np.asarray(np.linalg.qr(J, mode="r"))
            size = np.abs(R[..., 0, 0] * R[..., 1, 1])
            refuse_elements(size.min(axis=1) <= FLAT * extent, "are flat, they have no area" + REMEDY)
            gradients[..., :2] = np.einsum("eqba,qkb->eqka", np.linalg.inv(R), slopes)
            normal = np.cross(J[..., 0], J[..., 1])
            folded = (np.einsum("eqi,ei->eq", normal, normal[:, 0]) <= 0).any(axis=1)
            refuse_elements(folded, "are folded over" + REMEDY)
        else:
            determinant = np.linalg.det(J)
            refuse_elements(
                np.abs(determinant).min(axis=1) <= FLAT * extent, "are flat, they have no volume" + REMEDY
            )
            folded = determinant.min(axis=1) * determinant.max(axis=1) < 0
            refuse_elements(folded, "are folded: their volume is negative in places" + REMEDY)
            size = np.abs(determinant)
            gradients[:] = np.einsum("eqba,qkb->eqka", np.linalg.inv(J), slopes)
        gradients[:, :, 0] = -gradients[:, :, 1:].sum(axis=2)  # so that no rigid motion strains
        return values, gradients, size * weights

    def mass(self, density: float, thickness: float) -> "sparse.csr_array":
        """Return the consistent mass matrix of the N nodes, int rho N_i N_j dV with shape functions N_i,
        shape (N, N) [kg]. rho is the ``density`` [kg/m3]; sheets have a ``thickness`` [m]. It applies to each
        component of the positions."""
        values, _, volumes = self.quadrature(2 * self.order)
        blocks = density * thickness * np.einsum("eq,qi,qj->eij", volumes, values, values)
        return summed_blocks(self.element_nodes, self.element_nodes, blocks, (len(self.nodes),) * 2)

    def strains(
        self, law: Constitution, thickness: float, viscosity: float, relaxation: Maxwell | None
    ) -> ElementStrains:
        """Return the strains of all elements of this mesh (``ElementStrains``): gradients and weights (times
        ``thickness``) at their quadrature points. The elastic ``law``, ``viscosity`` [s] and Maxwell branches
        (``relaxation``: springs and dashpots in series) are stored with them."""
        _, gradients, volumes = self.quadrature(self.strain_degree)
        volumes = thickness * volumes
        return ElementStrains(self.element_nodes, gradients, volumes, law, self.is_sheet, viscosity, relaxation)


def shape_functions(element: Any, at: Array) -> tuple[Array, Array]:
    """Return the k shape functions of a scikit-fem element at points ``at`` (d, q) of the reference cell, shape (q,
    k), and their derivatives there; shape (q, k, d)."""
    values, slopes = [], []
    for k in range(len(element.doflocs)):
        value, slope = element.lbasis(at, k)
        values.append(np.broadcast_to(np.asarray(value, dtype=np.float64), at.shape[1]))
        slopes.append(np.broadcast_to(np.asarray(slope, dtype=np.float64), at.shape))
    return np.stack(values, axis=1), np.stack(slopes).transpose(2, 0, 1)


# Groups of nodes of a soft body that joints and loads act on by the mean over their area.


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Named group of nodes of a soft body, on whose mean over their common area joints and loads act.

    Attributes:
        name: of the interface in the part.
        points: numbers in the mesh, ascending, shape (k,).
    """

    name: str
    points: IntArray

    @cached_on_owner
    def weights(self, mesh: SoftMesh) -> Array:
        """Return the weight of each unknown vector of a mesh in the mean over this group of nodes, shape (N,), with
        sum 1. It is the share of its shape function in the volume, area or length of the region (``regions``) that
        covers most of the chosen nodes. Nodes without a common side have equal weights. Raise ``ParameterError`` if
        the region leaves out chosen nodes other than those of elements next to it."""
        chosen, result = mesh.node_at[self.points], np.zeros(len(mesh.nodes))
        covers = [(nodes, shares) for nodes, shares in regions(mesh, chosen) if len(nodes)]
        if not covers:
            result[chosen] = 1 / len(chosen)
            return result
        nodes, shares = max(covers, key=lambda cover: len(np.intersect1d(chosen, cover[0])))
        mean, remedy = f"interface {self.name!r}: the mean is over one region", "make an interface of each"
        refuse_left_out(mean, chosen, nodes, mesh.element_nodes, remedy)
        np.add.at(result, nodes, shares / shares.sum())
        result[np.abs(result) < ROUND_OFF] = 0.0  # of vertices of quadratic triangles
        return result


def node_groups(interfaces: object, mesh: SoftMesh, source: UserMesh | None) -> tuple[NodeGroup, ...]:
    """Return the named groups of nodes (interfaces) of a soft body that a user chose. Each is chosen by point
    indices, by a function of position, or by the name of a group of the user's mesh ``source``. A tuple of
    ``NodeGroup`` is returned unchanged, None gives an empty tuple. Raise ``ParameterError`` if ``interfaces`` is
    no dictionary, a choice is empty, or its mean leaves out nodes.

    Args:
        interfaces: by name numbers of points, a function of position or the name of a group of the mesh.
        mesh: of the body.
        source: with the named groups; None: there are none.

    Raises:
        ParameterError: no dictionary, no such nodes or none at all, or nodes that the mean leaves out.
    """
    if isinstance(interfaces, tuple) and all(isinstance(group, NodeGroup) for group in interfaces):
        return interfaces
    if interfaces is None:
        return ()
    if not isinstance(interfaces, Mapping):
        raise ParameterError(f'interfaces must be a dictionary such as {{"tip": nodes}}, got {interfaces!r}')
    groups = tuple(
        NodeGroup(text("name of an interface", name), selected_nodes(f"interface {name!r}", nodes, mesh, source))
        for name, nodes in interfaces.items()
    )
    for group in groups:
        group.weights(mesh)
    return groups


def selected_nodes(name: str, nodes: Any, mesh: SoftMesh, source: UserMesh | None = None) -> IntArray:
    """Return the ascending indices of the mesh points that a user chose by ``nodes``: indices, a group's name in
    the mesh ``source``, or a function. The function is called once with the positions x (3, N) of the nodes and
    returns N booleans. Points of no element are left out; raise ``ParameterError`` if none is left.

    Args:
        name: name of the choice in error messages.
        nodes: numbers of points, a function of position or the name of a group of the source mesh.

    Raises:
        ParameterError: none of these, or it chooses none.
    """
    if callable(nodes):
        points = mesh.nodes[points_where(name, nodes, mesh.positions)]
    else:
        if isinstance(nodes, tuple) and len(nodes) == 2 and isinstance(nodes[1], str):
            raise ParameterError(
                f"{name} must be numbers of nodes, a function of places or a group's name, got {written(nodes)}; "
                "groups of soft bodies are means of nodes, never rigid"
            )
        points = listed_points(name, nodes, len(mesh.node_at), source.points_by_name if source else {})
    points = points[mesh.node_at[points] >= 0]
    if not len(points):
        raise ParameterError(f"{name}: there is no node in it; the function or the list must choose at least one")
    return np.unique(points).astype(np.int64)  # directors of shells have the places of their nodes


# The points of a soft body: nodes, where joints and loads can act, and means over interfaces.

CLOSE = 1e-9  # of the size of the body


@dataclass(frozen=True, eq=False)
class SoftPoints(MaterialPoints):
    """Material points of a soft body in d dimensions: its nodes and the means over its interfaces.

    Attributes:
        mesh: with the undeformed positions of the nodes.
        dimension: d.
        groups: interfaces by name.
    """

    mesh: SoftMesh
    dimension: int
    groups: Mapping[str, NodeGroup] = field(default_factory=dict)

    __repr__ = short_repr

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this soft body at a ``location``: a node, an interface (mean over its area),
        or an undeformed position where a node is. Its position is a weighted sum of node positions. Raise
        ``AttachmentError`` for other locations, unknown interfaces, and positions without node.

        Raises:
            AttachmentError: no node there, or a location that soft bodies do not have.
        """
        match location:
            case Node(number):
                return self._node_point(self._checked_node(number))
            case Interface(name) if name in self.groups:
                return MaterialPoint.of_nodes(self.groups[name].weights(self.mesh), self.dimension)
            case Interface(name):
                known = ", ".join(map(repr, self.groups)) or "none"
                raise AttachmentError(f"the body has no interface {name!r}; it has {known}")
            case MaterialPosition(position):
                return self._node_point(self._node_at(np.array(position)))
        raise AttachmentError(
            f"the body has no {label_of(location)}; it offers node(number), point(position) where a node is, "
            'and its interfaces, body["name"]'
        )

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return k nodes of this soft body that pictures draw, as zero positions (k, 3) and shape functions (k, 3,
        d N). There are at most ``count``, evenly selected from the N nodes. Shape functions times the vector of
        coordinates are the world positions of the nodes; d is the dimension."""
        total = len(self.mesh.nodes)
        chosen = np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(np.int64))
        points = [self._node_point(int(node)) for node in chosen]
        return np.zeros((len(points), 3)), np.stack([point.shapes for point in points])

    def _checked_node(self, number: int) -> int:
        """Return the node index, in this soft body, of the point with index ``number`` in the user's mesh. Numbers
        differ because points without elements are no nodes of the body. Raise ``AttachmentError`` if the mesh has
        no such point, or if the point belongs to no element."""
        points = len(self.mesh.node_at)
        if not 0 <= number < points or self.mesh.node_at[number] < 0:
            raise AttachmentError(
                f"node({number}): the mesh has points 0 .. {points - 1}, and this one is not a node of an element"
                if 0 <= number < points
                else f"node({number}): the mesh has points 0 .. {points - 1}"
            )
        return int(self.mesh.node_at[number])

    def _node_at(self, position: Array) -> int:
        """Return the index of the node of this soft body nearest to an undeformed position (3,) [m]. Raise
        ``AttachmentError`` that names the nearest node if it is farther away than a small fraction of the largest
        extent of the mesh."""
        positions = self.mesh.positions
        distances = np.linalg.norm(positions - position, axis=1)
        nearest = int(distances.argmin())
        if distances[nearest] > CLOSE * float(np.ptp(positions, axis=0).max()):
            raise AttachmentError(
                f"point({position.tolist()}) is no node of the SoftBody; the nearest is node("
                f"{int(self.mesh.nodes[nearest])}) at {positions[nearest].tolist()}"
            )
        return nearest

    def _node_point(self, node: int) -> MaterialPoint:
        """Return the material point at the node of this soft body with the index ``node``: a weighted sum of
        node positions whose weight is 1 there."""
        return MaterialPoint.of_nodes(np.eye(1, len(self.mesh.nodes), node)[0], self.dimension)


# Surfaces of soft bodies that a pressure acts on, and its forces on their nodes (docs/theory.md, 5).

FACES = {  # of scikit-fem's reference cells, by corners
    CellKind.TETRAHEDRON: ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
    CellKind.HEXAHEDRON: ((0, 1, 4, 2), (0, 2, 6, 3), (0, 1, 5, 3), (2, 4, 7, 6), (1, 4, 7, 5), (3, 5, 7, 6)),
}
SIDES = {CellKind.TETRAHEDRON: CellKind.TRIANGLE, CellKind.HEXAHEDRON: CellKind.QUADRILATERAL}


@dataclass(frozen=True, eq=False)
class SoftSurface:
    """Faces of a soft body on which a pressure acts, along x,1 x x,2, the cross product of their tangents.

    Attributes:
        nodes: of the body that are on the surface, ascending, shape (k,).
        faces: indices of the nodes of each face in ``nodes``, shape (f, m).
        shapes: weight times N, N,1 and N,2 in reference coordinates at the quadrature points, shape (q, m, 3).
    """

    nodes: IntArray
    faces: IntArray
    shapes: Array

    __repr__ = short_repr

    def forces(self, pressure: float, x: Array) -> Array:
        """Return the nodal forces of a pressure [Pa] on this surface of a soft body, shape (k, 3) [N]. A positive
        pressure acts along the normals of the faces, inwards on a solid. It is integrated with the shape functions
        over the deformed faces. x (k, 3) [m] are the positions of the k nodes of this surface."""
        a, b = self._tangents(x)
        nodal_forces = pressure * np.einsum("qm,fqi->fmi", self.shapes[..., 0], np.cross(a, b))
        result = np.zeros_like(x)
        np.add.at(result, self.faces, nodal_forces)
        return result

    def stiffness(self, pressure: float, x: Array) -> "sparse.csr_array":
        """Return the derivative of the nodal forces of a pressure [Pa] on this surface with respect to its node
        positions x (k, 3). It is sparse, shape (3 k, 3 k) [N/m], in general not symmetric. It comes from rotation
        and growth of the faces, since the pressure follows their normals."""

        a, b = self._tangents(x)
        N, u, v = (self.shapes[..., k] for k in range(3))
        across = np.einsum("qm,fqi->fqmi", u, b) - np.einsum("qm,fqi->fqmi", v, a)  # d(a x b) = dx_m x this
        rotated = np.cross(np.eye(3), across[..., None, :])  # (f, q, m, c, i)
        blocks = pressure * np.einsum("qn,fqmci->fnimc", N, rotated)
        indices = self.faces[:, :, None] * 3 + np.arange(3)
        return summed_blocks(indices, indices, blocks, (x.size, x.size))

    def volume(self, x: Array) -> Array:
        """Return the integral of x . n / 3 over this surface of a soft body for node positions x (..., k, 3) [m],
        shape (...) [m3]. On a closed surface this is the enclosed volume, positive if the normals n point
        outwards. Normals of solids point inwards, so that it is negative."""
        a, b = self._tangents(x)
        middle = np.einsum("qm,...fmi->...fqi", self.shapes[..., 0], x[..., self.faces, :])
        return np.asarray(np.einsum("...fqi,...fqi->...", middle, np.cross(a, b)) / 3)

    def _tangents(self, x: Array) -> tuple[Array, Array]:
        """Return two tangent vectors of each of the f faces of this surface at their q quadrature points, each of
        shape (..., f, q, 3). They are the derivatives of the position with respect to the two reference
        coordinates. x (..., k, 3) are the positions of the k nodes of the surface. Neither is normalized."""
        nodal = x[..., self.faces, :]
        nodal = nodal - nodal[..., :1, :]
        u, v = self.shapes[..., 1], self.shapes[..., 2]
        return np.einsum("qm,...fmi->...fqi", u, nodal), np.einsum("qm,...fmi->...fqi", v, nodal)


def soft_surface(mesh: SoftMesh, points: IntArray | None) -> SoftSurface | None:
    """Return the faces of a soft body on which a pressure may act: elements of a sheet as they are, or boundary
    faces of a solid, oriented inwards. Only faces all of whose vertices are in ``points`` count (None: all). The
    result has the nodes used, faces by index of them, and quadrature; None if there are no faces.

    Faces of a solid are oriented inwards, so that a positive pressure compresses it.
    """
    kind, sides = mesh.kind if mesh.is_sheet else SIDES[mesh.kind], element_sides(mesh, 2)
    is_in = sides.is_outer & np.isin(sides.vertices, mesh.node_at[slice(None) if points is None else points]).all(
        axis=1
    )
    if not is_in.any():
        return None
    chosen = sides.nodes[is_in]
    if not mesh.is_sheet:
        chosen = _inward_faces(mesh, sides.elements[is_in], chosen, sides.vertices.shape[1])
    nodes, faces = np.unique(chosen, return_inverse=True)
    degree = max(3 * mesh.order - 2, 1) if kind is CellKind.TRIANGLE else 3 * mesh.order
    return SoftSurface(nodes, faces.reshape(chosen.shape), _weighted_shapes(kind, mesh.order, degree))


def surface_nodes(mesh: SoftMesh, dimension: int) -> IntArray:
    """Return the ascending indices of the nodes of a soft body that may touch other bodies. They are on the
    surface of a solid, all nodes of a sheet in space, or on the outline of a sheet in the plane. ``dimension`` is
    the number of space dimensions of the model (2 or 3)."""
    if mesh.is_sheet:
        edges = element_sides(mesh, 1)
        return np.unique(edges.nodes[edges.is_outer] if dimension < 3 else mesh.element_nodes)
    surface = soft_surface(mesh, None)
    assert surface is not None, "a solid has one"
    return surface.nodes


def surface_mass(mesh: SoftMesh, points: IntArray, thickness: float) -> "sparse.csr_array | None":
    """Return the matrix int N_i N_j dA of shape functions N_i over undeformed boundary faces of a soft body,
    sparse, shape (N, N) [m2]. N is the number of nodes. Only faces all of whose vertices are in ``points``
    (indices of the user's mesh) count; None if there are none. Faces of a sheet are its edges times the
    ``thickness`` [m]."""
    sides = element_sides(mesh, mesh.kind.dimension - 1)
    nodes = sides.nodes[sides.is_outer & np.isin(sides.vertices, mesh.node_at[points]).all(axis=1)]
    if not len(nodes):
        return None
    values, areas = _quadrature_over(mesh, nodes, mesh.kind.dimension - 1, 4 * mesh.order)
    blocks = thickness * np.einsum("fq,qi,qj->fij", areas, values, values)
    return summed_blocks(nodes, nodes, blocks, (len(mesh.nodes),) * 2)


@dataclass(frozen=True, eq=False)
class ElementSides:
    """The s faces or edges of the elements of a mesh, each once, or the elements of a sheet as its faces.

    Attributes:
        elements: index of an element that has the side, shape (s,).
        nodes: in the order of the reference side, vertices first, shape (s, m).
        vertices: nodes at its vertices, shape (s, c).
        is_outer: whether one element alone has the side, shape (s,); True for elements of a sheet.
    """

    elements: IntArray
    nodes: IntArray
    vertices: IntArray
    is_outer: BoolArray


def element_sides(mesh: SoftMesh, dimension: int) -> ElementSides:
    """Return the faces (``dimension`` 2) or the edges (1) of the elements of a mesh. The faces of a sheet are its
    elements."""
    cell, count = np.asarray(standard_element(mesh.kind, mesh.order).doflocs, dtype=float), len(mesh.cells)
    rings = FACES.get(mesh.kind, (tuple(range(CORNERS[mesh.kind])),))
    if dimension == 2 and mesh.is_sheet:
        return ElementSides(np.arange(count), mesh.element_nodes, mesh.corners, np.ones(count, dtype=np.bool_))
    spans: set[tuple[int, ...]]
    if dimension == 2:
        spans = {(ring[0], ring[1], ring[-1]) for ring in rings}
        reference = np.asarray(standard_element(SIDES[mesh.kind], mesh.order).doflocs, dtype=float)
    else:
        spans = {tuple(sorted(pair)) for ring in rings for pair in zip(ring, (*ring[1:], ring[0]), strict=True)}
        reference = np.array([[0.0], [1.0], [0.5]])[: mesh.order + 1]
    local = []
    for origin, *ends in sorted(spans):
        positions = cell[origin] + reference @ (cell[ends] - cell[origin])
        local.append(np.abs(positions[:, None] - cell[None]).max(axis=2).argmin(axis=1))
    nodes = mesh.element_nodes[:, local].reshape(-1, len(reference))
    elements, is_proper = np.repeat(np.arange(count), len(spans)), nodes[:, 0] != nodes[:, 1]  # triangles of shells
    elements, nodes = elements[is_proper], nodes[is_proper]
    corners = len(rings[0]) if dimension == 2 else 2
    vertices = np.sort(nodes[:, :corners], axis=1)
    _, first, times = np.unique(vertices, axis=0, return_index=True, return_counts=True)
    return ElementSides(elements[first], nodes[first], nodes[first, :corners], times == 1)


def regions(mesh: SoftMesh, chosen: IntArray) -> Iterator[tuple[IntArray, Array]]:
    """Yield the regions of a mesh, of elements, faces or edges, whose vertices are all ``chosen`` nodes. Each has
    the nodes (f, m) of its f faces and the integrals of their shape functions (f, m) [m2]; of elements of a solid
    they are in [m3], of edges in [m]. Regions of a solid are its elements, its surface, all faces, and without
    faces its edges. Those of a sheet are its elements and its outline, and without elements all edges."""
    has_area = False
    if not mesh.is_sheet:
        values, _, volumes = mesh.quadrature(mesh.strain_degree)
        is_whole = np.isin(mesh.corners, chosen).all(axis=1)
        yield mesh.element_nodes[is_whole], volumes[is_whole] @ values
    for dimension in (2, 1):
        sides = element_sides(mesh, dimension)
        is_chosen = np.isin(sides.vertices, chosen).all(axis=1)
        degree = 4 * mesh.order if dimension == 2 else 3 * mesh.order - 2
        for is_in in (is_chosen & sides.is_outer, is_chosen)[: 1 if has_area else 2]:
            values, sizes = _quadrature_over(mesh, sides.nodes[is_in], dimension, degree)
            yield sides.nodes[is_in], sizes @ values
        has_area = bool(is_chosen.any())
        if has_area and not mesh.is_sheet:
            return


def _quadrature_over(mesh: SoftMesh, nodes: IntArray, dimension: int, degree: int) -> tuple[Array, Array]:
    """Return shape functions (q, m) and areas (f, q) [m2] at the q quadrature points of f undeformed faces
    (``dimension`` 2) of a mesh; of edges (1) lengths [m]. Polynomials of ``degree`` are integrated exactly.
    ``nodes`` (f, m) are those of the faces or edges, vertices first."""
    x = mesh.positions[nodes]
    if dimension == 1:
        at, weights = gauss(degree // 2 + 1)
        ends_first = [0, *range(mesh.order, 0, -1)]
        values, slopes = (
            own[:, ends_first] for own in (line_values(mesh.order, at), line_slopes(mesh.order, at, 1.0))
        )
        return values, weights * np.linalg.norm(np.einsum("qm,fmi->fqi", slopes, x), axis=2)
    shapes = _weighted_shapes(mesh.kind if mesh.is_sheet else SIDES[mesh.kind], mesh.order, degree)
    weights = shapes[..., 0].sum(axis=1)
    a, b = (np.einsum("qm,fmi->fqi", shapes[..., k], x) for k in (1, 2))
    return shapes[..., 0] / weights[:, None], weights * np.linalg.norm(np.cross(a, b), axis=2)


def _weighted_shapes(kind: CellKind, order: int, degree: int) -> Array:
    """Return three values for each of m nodes at q quadrature points of a reference face, shape (q, m, 3):
    quadrature weight times shape function, then its two derivatives (not weighted). ``kind`` is the kind of the
    face, ``order`` the order of its shape functions, ``degree`` the degree of the quadrature."""
    from skfem.quadrature import get_quadrature

    element = standard_element(kind, order)
    at, weights = get_quadrature(element.refdom, degree)
    values, slopes = shape_functions(element, np.asarray(at))
    return np.concatenate([(weights[:, None] * values)[..., None], slopes], axis=2)


def _inward_faces(mesh: SoftMesh, elements: IntArray, nodes: IntArray, corners: int) -> IntArray:
    """Return the m nodes of each boundary face of a solid, in an order for which the normal points into the solid,
    shape (faces, m). The normal follows from three vertices by the right-hand rule; a face whose normal points
    away from the middle of its element is mirrored. ``elements`` (faces,) and ``nodes`` (faces, m) are those of
    each face; ``corners`` is the number of vertices of a face."""
    positions = mesh.positions
    middle = positions[mesh.corners[elements]].mean(axis=1)
    a, b, c = (positions[nodes[:, k]] for k in (0, 1, corners - 1))
    outward = np.einsum("fi,fi->f", np.cross(b - a, c - a), a - middle) > 0
    at = np.asarray(standard_element(SIDES[mesh.kind], mesh.order).doflocs, dtype=float)
    mirrored = np.abs(at[:, ::-1][:, None] - at[None]).max(axis=2).argmin(axis=1)  # exchanges both directions
    return np.where(outward[:, None], nodes[:, mirrored], nodes)
