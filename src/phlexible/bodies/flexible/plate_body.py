"""The floating body of a plate: interfaces, points, skin, stress (docs/theory.md, 2 and 3)."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.disk_cache import Folder, StoredShapes
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.inertia import mesh_moments
from phlexible.bodies.flexible.interfaces import (
    InterfaceKind,
    MeshInterface,
    MeshRegion,
    mean_rows,
    outward_area,
    quadrature_basis,
    region_of,
)
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials, mass_matrix, stiffness_matrix
from phlexible.bodies.flexible.moment_elements import PlateMatrices, mixed_bending
from phlexible.bodies.flexible.plate_elements import (
    UNKNOWNS,
    PlateElement,
    PlateSection,
    plate_geometric_stiffness,
    plate_mass,
    plate_stiffness,
    plate_unknowns,
    strain_matrices,
    surface_strains,
)
from phlexible.bodies.flexible.points import OUTSIDE, FlexiblePoints, cell_at
from phlexible.bodies.flexible.retained import ShapeOptions, condense, interface_motion, retained_body
from phlexible.bodies.flexible.skin import plane_triangles
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, linear_strain
from phlexible.bodies.flexible.structure import Unknowns
from phlexible.bodies.flexible.user_mesh import UserMesh
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import MaterialPoint
from phlexible.bodies.skin import Skin
from phlexible.errors import ParameterError

# Interfaces of a plate: edges and areas, through the whole thickness (docs/theory.md, 3).

ON_A_LINE = 1e-9


def plate_interface(
    name: str, nodes: Any, kind: InterfaceKind, source: UserMesh, mesh: ElementMesh, thickness: float
) -> MeshInterface:
    """Return one interface (region on which joints and loads act) of a plate from a user's choice of ``nodes``.
    Its mean motion is averaged over the chosen elements, or, if there are none, over the chosen edges. Raise
    ``ParameterError`` if neither elements nor edges are chosen. The same error is raised if an averaged interface
    leaves out chosen nodes, or all nodes of a hinged interface lie on one line."""
    if isinstance(nodes, str) and nodes in source.element_groups:
        region = MeshRegion(source.element_groups[nodes], np.zeros(0, np.int64), np.zeros(0, np.bool_))
    else:
        region = region_of(name, nodes, source, mesh, with_sides=False)
    cells, facets, members = region.cells, region.facets, region.nodes(mesh)
    if len(cells):
        basis, averaged = quadrature_basis(mesh, cells, None), mesh.cells[cells]
        area = np.array([0.0, 0.0, np.asarray(basis.dx).sum()])
    elif len(facets):
        basis, averaged = quadrature_basis(mesh, None, facets), mesh.mesh.facets.T[facets]
        area = thickness * outward_area(basis)
    else:
        raise region.size_error(name, mesh)
    if kind is InterfaceKind.AVERAGE:
        region.refuse_rest(name, mesh, averaged)
        members = np.unique(mesh.element_nodes[cells]) if len(cells) else mesh.facet_nodes(facets)
    position, rows = mean_rows(name, basis, mesh, UNKNOWNS, thickness)
    if kind is InterfaceKind.HINGED and _is_line(mesh.nodes[members]):
        raise ParameterError(
            f"interface {name!r} lies on one line and is hinged, so that it has no rotation; take a Revolute on a "
            '"rigid" one, or hinge more edges together'
        )
    return MeshInterface(name, kind, position, members, area, rows)


def _is_line(positions: Array) -> bool:
    """Return whether ``positions`` (k, 3) all lie on one straight line, up to round-off, by their singular
    values."""
    arms = positions - positions.mean(axis=0)
    singular = np.linalg.svd(arms, compute_uv=False)
    return bool(singular[1] <= ON_A_LINE * singular[0])


# Material points of a plate: both surfaces, and any position in it.


@dataclass(frozen=True, eq=False)
class PlatePoints(FlexiblePoints):
    """Material points of a plate. Its 2 N nodes are those of the mesh on the upper surface (z = h/2 for thickness
    h), then those on the lower.

    Attributes:
        mesh: of the middle surface, z = 0.
        thickness: h [m].
        moments: xx, yy, xy at the nodes of the mesh, where elements have them as unknowns, shape (N, 3, n) [N];
            None: they follow from the rotations.
    """

    mesh: ElementMesh
    thickness: float
    moments: Array | None = None

    def in_smaller_basis(self, basis: Array) -> Self:
        """Return a copy of these material points of a plate for k elastic coordinates in place of n.
        Displacements, rotations and moments per unit coordinate are multiplied by ``basis`` (n, k). The old
        coordinates are ``basis`` times the new coordinates."""
        moments = None if self.moments is None else self.moments @ basis
        return replace(super().in_smaller_basis(basis), moments=moments)

    @property
    def nodes(self) -> Array:
        """Undeformed positions of the nodes on the upper, then on the lower surface of this plate, shape (2 N, 3)
        [m]."""
        up = np.array([0.0, 0.0, self.thickness / 2])
        return np.vstack([self.mesh.nodes + up, self.mesh.nodes - up])

    @property
    def surface_nodes(self) -> IntArray:
        """Indices of those nodes on both surfaces of this plate that are vertices of elements; contact forces may
        act at them."""
        corners = self.mesh.vertex_nodes
        return np.concatenate([corners, corners + len(self.mesh.nodes)])

    @property
    def middle_shapes(self) -> Array:
        """Displacements of the N nodes of this plate's middle surface per unit of each of n elastic coordinates,
        shape (N, 3, n)."""
        upper, lower = np.split(self.shapes, 2)
        return np.asarray((upper + lower) / 2)

    @property
    def rotations(self) -> Array:
        """Small rotations of this plate's normal at its N nodes per unit of each of n elastic coordinates, shape
        (N, 3, n). Components about x and y are the difference of the displacements of both faces over the
        thickness; that about z is zero."""
        upper, lower = np.split(self.shapes, 2)
        director = (upper - lower) / self.thickness
        return np.stack([-director[:, 1], director[:, 0], np.zeros_like(director[:, 0])], axis=1)

    def point_inside(self, position: Array, described: str) -> MaterialPoint:
        """Return the material point at an undeformed position (3,) [m] in this plate, with displacement and
        rotation (3, n) per unit of each elastic coordinate. Both are interpolated in the element there; height z
        adds rotation times z. The rotation about z is half the in-plane curl. The point is usable by sensors only.
        Raise ``AttachmentError`` outside of the plate; ``described`` names the position.

        Raises:
            AttachmentError: outside the plate.
        """
        if not abs(position[2]) <= (0.5 + OUTSIDE) * self.thickness:
            raise self.outside_error(described, position)
        cell = cell_at(self.mesh, position[:2])
        if cell is None:
            raise self.outside_error(described, position)
        values, gradients = cell.functions()
        nodes = self.mesh.element_nodes[cell.element]
        middle, rotations = self.middle_shapes[nodes], np.einsum("k,kcn->cn", values, self.rotations[nodes])
        slopes = np.einsum("ka,kcn->can", gradients, middle)
        rotations[2] = (slopes[1, 0] - slopes[0, 1]) / 2
        shapes = np.einsum("k,kcn->cn", values, middle)
        shapes += position[2] * np.stack([rotations[1], -rotations[0], np.zeros_like(rotations[0])])
        return MaterialPoint(position, shapes, rotations, is_watched_only=True)


def surface_shapes(unknowns: Unknowns, columns: Array, count: int, height: float) -> Array:
    """Return the displacements of the points at +height and -height [m] of the N nodes of a plate in n shapes. The
    shape is (2 N, 3, n), upper points first. They are the nodal displacement plus or minus height times the rotated
    normal. ``columns`` (5 N, n) are nodal unknowns, ``count`` is N."""
    middle, rotations = unknowns.vectors(columns, count), unknowns.rotations(columns, count)
    director = np.stack([rotations[:, 1], -rotations[:, 0], np.zeros_like(rotations[:, 0])], axis=1)
    return np.concatenate([middle + height * director, middle - height * director])


# Skin of a plate: both surfaces and the rim between them.

UP = np.array([0.0, 0.0, 1.0])


def plate_skin(points: PlatePoints) -> Skin:
    """Return the surface that pictures draw for a plate (``points``): triangles of its upper and lower surface and
    of the rim between them. Vertices are attached to the nodes of the middle surface at a distance of half the
    thickness. They move with the displacements and rotations of the nodes."""
    mesh, up = points.mesh, points.thickness / 2 * UP
    nodes = mesh.vertex_nodes
    count, shapes = len(nodes), points.middle_shapes[nodes]
    positions = mesh.nodes[nodes]
    triangles = plane_triangles(mesh)
    rim, outward = _rim_edges(points)
    quads = 2 * count + np.arange(4 * len(rim)).reshape(-1, 4)
    around = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Skin(
        positions=positions,
        shapes=shapes,
        rotations=points.rotations[nodes],
        vertex_nodes=np.concatenate([np.arange(count), np.arange(count), rim[:, [0, 1, 1, 0]].ravel()]),
        offsets=np.concatenate(
            [np.tile(up, (count, 1)), np.tile(-up, (count, 1)), np.tile([-up, -up, up, up], (len(rim), 1))]
        ),
        normals=np.concatenate([np.tile(UP, (count, 1)), np.tile(-UP, (count, 1)), np.repeat(outward, 4, axis=0)]),
        triangles=np.concatenate([triangles, count + triangles[:, ::-1], around]).astype(np.int64),
    )


def _rim_edges(points: PlatePoints) -> tuple[IntArray, Array]:
    """Return the boundary edges of a plate's mesh as pairs of vertex indices, shape (b, 2), and their outward unit
    normals, shape (b, 3). The plate is on the left of each edge, so that outer edges run counter-clockwise.
    Outward is in the plane, away from the middle of the adjacent element. ``points`` has the mesh."""
    mesh = points.mesh.mesh
    facets = mesh.boundary_facets()
    corners = np.asarray(mesh.facets.T[facets], dtype=np.int64)
    positions = points.mesh.geometry
    inside = positions[points.mesh.cells[mesh.f2t[0, facets]]].mean(axis=1)
    along = positions[corners[:, 1]] - positions[corners[:, 0]]
    normal = np.column_stack([along[:, 1], -along[:, 0]])
    turned = np.einsum("bi,bi->b", normal, positions[corners[:, 0]] - inside) < 0
    normal[turned] *= -1
    corners[turned] = corners[turned, ::-1]
    outward = np.zeros((len(corners), 3))
    outward[:, :2] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return corners, outward


# Stress on both surfaces of a plate (docs/theory.md, 3).

CHUNK = 256  # elements that are evaluated at once


def plate_stress_shapes(points: PlatePoints, section: PlateSection, nodes: IntArray) -> Array:
    """Return the linear stress at k nodes on a plate's surfaces per unit of each of n elastic coordinates, shape
    (k, 6, n) [Pa]. Components are xx, yy, zz, yz, xz, xy; those with z are zero. Membrane and bending stress are
    averaged over adjacent elements; bending follows from nodal moments in mixed elements. ``nodes`` count first
    the upper, then the lower surface.

    Components xx, yy, zz, yz, xz, xy, of which those with z vanish on a free surface.
    """
    mesh, h = points.mesh, section.thickness
    n = points.shapes.shape[2]
    unknowns = np.zeros((mesh.node_count, UNKNOWNS, n))
    unknowns[:, :3], unknowns[:, 3:] = points.middle_shapes, points.rotations[:, :2]
    wanted = np.zeros(mesh.node_count, dtype=bool)
    wanted[nodes % mesh.node_count] = True
    total, count = np.zeros((mesh.node_count, 2, 3, n)), np.zeros(mesh.node_count)
    touched = np.flatnonzero(wanted[mesh.element_nodes].any(axis=1))
    local = np.asarray(mesh.element.doflocs).T
    for first in range(0, len(touched), CHUNK):
        elements = touched[first : first + CHUNK]
        numbers = mesh.element_nodes[elements]
        unknowns_of_elements = unknowns[numbers].reshape(len(elements), -1, n)
        strains = strain_matrices(mesh, section, elements, local) @ unknowns_of_elements[:, None]
        for side, height in enumerate((h / 2, -h / 2)):
            there = strains[:, :, :3] + (height * strains[:, :, 3:6] if points.moments is None else 0.0)
            stress = section.membrane[elements, None] @ there / h
            np.add.at(total[:, side], numbers, stress)
        np.add.at(count, numbers, 1)
    result = np.zeros((len(nodes), 6, n))
    at = nodes % mesh.node_count
    result[:, [0, 1, 5]] = total[at, nodes // mesh.node_count] / count[at, None, None]
    if points.moments is not None:
        upward = np.where(nodes < mesh.node_count, 1.0, -1.0)[:, None, None]
        result[:, [0, 1, 5]] += upward * 6 / h**2 * points.moments[at]
    return result


# The floating body of a plate (docs/theory.md, 2 and 3).


def _plate_model(
    mesh: ElementMesh, materials: ElementMaterials, section: PlateSection, nodal_mass: sparse.csr_array
) -> tuple[sparse.csr_array, PlateMatrices]:
    """Return mass matrix, stiffness matrix and unknowns of a plate. Elements with shear have nodal
    displacements and rotations as unknowns. For mixed elements (Hellan, Herrmann, Johnson), membrane stiffness is
    added to their bending stiffness, and the nodal mass matrix is transformed to their unknowns. ``nodal_mass`` is
    the mass matrix of one displacement component; ``section`` has thickness and stiffness."""
    mass = plate_mass(nodal_mass, section)
    if section.element is PlateElement.SHEAR:
        nodal = sparse.eye_array(mass.shape[0], format="csr")
        return mass, PlateMatrices(plate_stiffness(mesh, section), plate_unknowns(mesh), nodal)
    bent = mixed_bending(mesh, section)
    in_plane = np.flatnonzero((bent.unknowns.component == 0) | (bent.unknowns.component == 1))
    spread = sparse.eye_array(bent.stiffness.shape[0], format="csr")[:, in_plane]
    stiffness = sparse.csr_array(bent.stiffness + spread @ stiffness_matrix(mesh, materials) @ spread.T)
    return sparse.csr_array(bent.nodal.T @ mass @ bent.nodal), replace(bent, stiffness=stiffness)


def body_of_plate(
    mesh: ElementMesh,
    materials: ElementMaterials,
    section: PlateSection,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    folder: Folder,
) -> tuple[FloatingBody, StoredShapes]:
    """Return the arrays of the floating body (moving frame plus displacement shapes) of a plate, and its shapes
    with their data. The shapes are read from the cache ``folder`` if the arguments are the same, or computed by
    ``condense`` and stored there. ``section`` has thickness and stiffness of the plate, ``interfaces`` are the
    loaded regions, ``choice`` the user's options.

    Raises:
        ParameterError: a frame that does not constrain the body, more modes than it has, or a mechanism.
    """
    nodal_mass, unknowns, h = mass_matrix(mesh, materials), plate_unknowns(mesh), section.thickness
    is_linear = choice.strain is MeshStrain.LINEAR

    def make() -> StoredShapes:
        mass, model = _plate_model(mesh, materials, section, nodal_mass)
        ports = tuple(replace(port, rows=np.asarray(model.nodal.T @ port.rows.T).T) for port in interfaces)
        result = condense(mass, model.stiffness, model.unknowns, ports, choice)
        shapes = np.asarray(model.nodal @ result.shapes)
        nodal_moments = np.zeros((0, 3, shapes.shape[1]))
        if model.moments is not None:
            nodal_moments = np.asarray(model.moments @ result.shapes).reshape(mesh.node_count, 3, -1)
        if is_linear:
            return replace(StoredShapes.of(result), shapes=shapes, moments=nodal_moments)

        def relaxed(loads: Array) -> Array:
            return np.asarray(model.nodal @ result.static_response(np.asarray(model.nodal.T @ loads)))

        stretched = surface_strains(mesh, section, shapes, result.basis.frequencies, relaxed)
        new_shapes = StoredShapes.of(result, plate_geometric_stiffness(mesh, section, shapes), stretched)
        return replace(new_shapes, shapes=shapes, moments=nodal_moments)

    stored = folder.load_or_make((mesh, section, interfaces, choice), make)
    frequencies = stored.frequencies
    if is_linear:
        strain = linear_strain(frequencies)
    else:
        strain = condensed_strain(frequencies, stored.geometric, unrelaxed=stored.unrelaxed)
    height = h / np.sqrt(12.0)  # two sheets of half the mass have the inertia of the plate
    sheets = sparse.csr_array(sparse.block_diag([nodal_mass / 2, nodal_mass / 2]))
    positions = np.vstack([mesh.nodes + (0, 0, height), mesh.nodes - (0, 0, height)])
    moments = mesh_moments(sheets, positions, surface_shapes(unknowns, stored.shapes, mesh.node_count, height))
    points = PlatePoints(
        surface_shapes(unknowns, stored.shapes, mesh.node_count, h / 2),
        interface_motion(interfaces, stored.displacements, stored.rotations),
        mesh,
        h,
        stored.moments if len(stored.moments) else None,
    )
    damping = choice.damping(frequencies)
    viscoelasticity = section.viscosity, section.relaxation
    return retained_body(3, mesh.nodes, moments, strain, damping, *viscoelasticity, points), stored
