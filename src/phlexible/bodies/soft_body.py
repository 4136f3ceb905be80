"""Bodies of large deformation in absolute coordinates: membranes and solids (docs/theory.md, 5)."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Count,
    IntArray,
    Positive,
    RelaxationTime,
    option,
    plane_or_space,
    set_fields,
    vector,
)
from phlexible.bodies.absolute_body import AbsoluteBody, Field, InitialNodes, initial_nodes
from phlexible.bodies.body import BodyData, NodalBody
from phlexible.bodies.flexible.mesh_matrices import PlaneState
from phlexible.bodies.flexible.user_mesh import check_elements, check_mesh, element_mesh, user_mesh
from phlexible.bodies.locations import Interface, Location
from phlexible.bodies.sizes import warn_of_size
from phlexible.bodies.skin import Skin, split_faces
from phlexible.bodies.soft_law import SoftLaw
from phlexible.bodies.soft_mesh import (
    SoftMesh,
    SoftPoints,
    node_groups,
    selected_nodes,
    soft_surface,
    surface_mass,
)
from phlexible.display import short_repr
from phlexible.elements.maxwell import Relaxation
from phlexible.errors import ModelError, ParameterError
from phlexible.leaves import leaf_function
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.shapes.surfaces import Color

if TYPE_CHECKING:
    from scipy import sparse

# Skin of a soft body: its surface, or all elements of a sheet.


def soft_skin(mesh: SoftMesh, dimension: int) -> Skin:
    """Return the surface that pictures draw for a soft body (a ``Skin``): triangles whose vertices are nodes of
    its mesh. Their positions are read from the vector of coordinates. ``dimension`` is the number of space
    dimensions of the model (2 or 3)."""
    triangles = surface_triangles(mesh)
    used, numbered = np.unique(triangles, return_inverse=True)
    triangles, positions = numbered.reshape(-1, 3).astype(np.int64), mesh.positions[used]
    nothing = np.zeros((len(used), 3, 0))
    axes = np.arange(3)
    coordinates = np.where(axes < dimension, used[:, None] * dimension + axes, -1)
    return Skin(
        positions=np.zeros((len(used), 3)),
        shapes=nothing,
        rotations=nothing,
        vertex_nodes=np.arange(len(used)),
        offsets=np.zeros((len(used), 3)),
        normals=vertex_normals(positions, triangles),
        triangles=triangles,
        coordinates=coordinates,
    )


def surface_triangles(mesh: SoftMesh) -> IntArray:
    """Return triangles, as node indices (t, 3), that cover the boundary of a solid mesh, counter-clockwise seen
    from outside, or all elements of a sheet. Quadrilaterals are split in two triangles. Only vertices of elements
    are used, no nodes in the middle of edges."""
    if mesh.is_sheet:
        return split_faces(mesh.corners)
    surface, corners = soft_surface(mesh, None), 3 if mesh.kind.is_simplex else 4
    assert surface is not None, "a solid has one"
    return split_faces(surface.nodes[surface.faces][:, :corners])[:, ::-1]  # whose faces are seen from inside


def vertex_normals(positions: Array, triangles: IntArray) -> Array:
    """Return unit normals at the N vertices of a triangulated surface, shape (N, 3): means of the normals of
    adjacent triangles, weighted by area. Zero at vertices without triangles. ``positions`` (N, 3) are the
    positions of the vertices."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    normals = np.zeros_like(positions)
    np.add.at(normals, triangles.ravel(), np.repeat(np.cross(b - a, c - a), 3, axis=0))
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _checked_plane(name: str, value: object) -> str:
    """Convert ``value``, the user's option ``plane`` of a sheet, to the text "stress" or "strain"; raise
    ``ParameterError`` for others. ``name`` is the name of the argument, for messages."""
    return option(name, value, PlaneState).value


class MeshedNodalBody(NodalBody):
    """Base class of bodies whose nodes are those of a finite element mesh, with interfaces on its surface."""

    interfaces: Any

    @property
    @abstractmethod
    def soft_mesh(self) -> SoftMesh:
        """Finite element mesh of this body with all its nodes, also those in the middle of edges. Abstract: each
        kind of body defines it."""

    def points_where(self, nodes: Any) -> IntArray:
        """Return the numbers of the nodes of this body at which a user's function of position is True, for use in
        ``placed.node(number)``.

        Args:
            nodes: a function of position (x[0], x[1], x[2] are arrays) that is True at the chosen nodes.

        Raises:
            ParameterError: it chooses none.
        """
        return selected_nodes("nodes", nodes, self.soft_mesh)

    def port_locations(self) -> dict[str, Location]:
        """Return the named interfaces of this body as a dictionary from names to locations. They are the boundary
        ports of its port-Hamiltonian model."""
        return {group.name: Interface(group.name) for group in self.interfaces}

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface that pictures draw for this body; it moves with the nodes. ``data`` are the arrays of
        the body, ``ports`` the positions of joints, shape (k, 3) [m]."""
        return soft_skin(self.soft_mesh, data.dimension)

    def _form(
        self, dimension: int, gravity: ArrayLike, shape: Field | None, velocity: Field | None, *options: Any
    ) -> PortHamiltonianModel:
        """Build the port-Hamiltonian model of this body in 2 or 3 dimensions under ``gravity``, starting from the
        nodal positions ``shape`` and velocities ``velocity``. Both are arrays of nodal values or functions, which
        are evaluated at the undeformed nodes; for None the body is undeformed or at rest. ``options`` are handed to
        the model unchanged: surfaces with tractions, and whether stresses or which strains are states. Raise
        ``ParameterError`` if ``gravity`` points out of the plane of a planar model.
        """
        data, fall = self.discretize(dimension), vector("gravity", gravity)
        if fall[dimension:].any():
            raise ParameterError(f"gravity must stay in the plane of a planar model, got {fall.tolist()}")
        nodes = self.initial_nodes(dimension, shape, velocity, np.zeros(3), np.eye(3))
        rates = np.zeros_like(nodes.positions) if nodes.velocities is None else nodes.velocities
        start = np.concatenate([values[:, :dimension].ravel() for values in (nodes.positions, rates)])
        weights = {group.name: group.weights(self.soft_mesh) for group in self.interfaces}
        form: PortHamiltonianModel = leaf_function("soft_body_form")(
            data, fall[:dimension], weights, start, *options
        )
        return form


@dataclass(frozen=True, eq=False)
class SoftBody(MeshedNodalBody):
    """A membrane or a solid of arbitrarily large deformation, whose coordinates are the world positions of its
    nodes.

    Solids are meshes of tetrahedra or hexahedra, in models in space. Sheets are meshes of triangles or
    quadrilaterals: membranes in space, which do not resist bending, and bodies in the plane of planar models.
    ``node(number)``, ``point(position)`` where a node is, and ``body["name"]`` of an interface are its points; they
    have no orientation.

    Attributes:
        mesh: of scikit-fem or meshio, the path of a file that meshio reads, or points (p, 3) and cells (e, 3 or 4)
            of triangles or tetrahedra [m].
        law: ``NeoHookean(E, nu)``, ``StVenantKirchhoff(E, nu)`` or ``InvariantLaw``.
        density: in the undeformed body [kg/m3].
        thickness: of a sheet [m].
        order: of the displacement elements, 2 (quadratic, also on straight cells) or 1, which bend too stiffly.
        plane: "stress": the thickness of a sheet changes freely; "strain": it is constant.
        viscosity: Kelvin-Voigt time tau [s]: S grows by tau D dE/dt, D of small strains.
        relaxation: branches of spring (Young's modulus [Pa], whose share of that of small strains multiplies D) and
            dashpot, which follow E; None: none.
        interfaces: groups of nodes by name, whose mean over their area carries joints and springs: numbers of
            nodes, a function of position (x[0], x[1], x[2] are arrays) or the name of a group of the mesh.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a mesh that is no body, a law that it cannot have, or a number out of its range.

    Example:
        >>> points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        >>> body = ph.SoftBody((points, [(0, 1, 2, 3)]), law=ph.NeoHookean(1e6, 0.45), density=1100.0)
        >>> placed = ph.Model().add(body, "body")
        >>> placed.node(1).initial_position()
        array([1., 0., 0.])
    """

    mesh: Any
    law: SoftLaw
    density: Positive
    thickness: Positive | None = None
    order: Count = 2
    plane: Annotated[PlaneState | str, _checked_plane] = PlaneState.STRESS
    viscosity: RelaxationTime = 0.0
    relaxation: Relaxation = field(default=None, kw_only=True)
    interfaces: Any = None
    color: Color = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (linear) or 2 (quadratic), got {self.order!r}")
        source = None
        if not isinstance(self.mesh, SoftMesh):
            source = user_mesh(self.mesh, is_flat=False)
            check_mesh(source)
            if source.kind.dimension == 3:
                check_elements(element_mesh(source, self.order))
            set_fields(self, mesh=SoftMesh.from_user_mesh(source, self.order))
        if not isinstance(self.law, SoftLaw):
            raise ParameterError(
                "law must be a stored energy such as NeoHookean(youngs_modulus=1e6, poissons_ratio=0.45), got "
                f"{self.law!r}"
            )
        self._check_thickness()
        self.law.constitution(self._plane)
        self.soft_mesh.quadrature(self.soft_mesh.strain_degree)
        set_fields(self, interfaces=node_groups(self.interfaces, self.mesh, source))
        if source is not None:
            warn_of_size(self.mass, self.soft_mesh.positions)

    @property
    def nodes(self) -> Array:
        """Positions of the N nodes of this soft body, undeformed, in the order of its coordinates, shape (N, 3)
        [m]."""
        return self.soft_mesh.positions

    @property
    def soft_mesh(self) -> SoftMesh:
        """Finite element mesh of this soft body with all its nodes, also those in the middle of edges."""
        assert isinstance(self.mesh, SoftMesh)
        return self.mesh

    @property
    def mass(self) -> float:
        """Total mass of this soft body [kg], the sum of all entries of its nodal mass matrix."""
        return float(self._nodal_mass().sum())

    def discretize(self, dimension: int) -> AbsoluteBody:
        """Return this soft body as an ``AbsoluteBody``, whose unknowns are node positions: nodal mass matrix,
        element strains with their law, material points. ``dimension`` is 2 (plane) or 3; raise ``ParameterError``
        for other values. In the plane, solids and sheets out of z = 0 raise it too."""
        plane_or_space(dimension)
        mesh, thickness, mass = self.soft_mesh, self._depth, self._nodal_mass()
        if dimension == 2 and not mesh.is_sheet:
            raise ParameterError(f"a SoftBody of {mesh.kind.value}s needs a model in space (dimension=3)")
        if dimension == 2 and mesh.positions[:, 2].any():
            raise ParameterError("mesh: of a SoftBody in a planar model it must lie in the plane z = 0")
        law = self.law.constitution(self._plane)
        creep = self.relaxation and self.relaxation.scaled(1 / self.law.modulus)
        return AbsoluteBody(
            dimension=dimension,
            mass=float(mass.sum()),
            nodal_mass=mass,
            strains=(),
            points=SoftPoints(mesh, dimension, {group.name: group for group in self.interfaces}),
            size=float(np.ptp(mesh.positions, axis=0).max()),
            elements=(mesh.strains(law, thickness, self.viscosity, creep),),
            clusters=mesh.clusters,
        )

    def port_hamiltonian(  # type: ignore[override]  # a soft body has no frame, variants and stress spaces
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
        stresses: bool = False,
        strains: str | None = None,
    ) -> PortHamiltonianModel:
        """Return the port-Hamiltonian state-space model of this soft body alone. Its states are positions and
        velocities of the nodes, on request also ``stresses`` or ``strains``. ``gravity`` is the acceleration
        [m/s^2] in world axes; ``shape`` and ``velocity`` are the initial positions and velocities. ``dimension``
        is 2 or 3. Raise ``ModelError`` for a body with relaxation (creep).

        Args:
            dimension: 2 or 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity: at t = 0, as in ``model.add``; None: undeformed, at rest.
            stresses: whether stresses are states too (for the law of St. Venant and Kirchhoff), see
                ``phlexible.papers.QuadraticStrainModel``.
            strains: strains that are states too, see ``SoftStrainForm``: "green_lagrange": E at the quadrature
                points; "polyconvex": E, cof C and det C there; "mean_volume": the mean of det C in each element
                too, for neo-Hookean solids that hardly change their volume; None: none.

        Raises:
            ParameterError: numbers of a wrong shape or out of the plane, no such strains or not of this law, or
                stresses and strains at once.
            ModelError: stresses of another law, or a body that creeps.
        """
        if self.relaxation:
            raise ModelError(
                "the port-Hamiltonian form of a SoftBody has no creep; leave relaxation= out, or take viscosity"
            )
        loaded = () if strains is None else self.interfaces
        masses = {group.name: surface_mass(self.soft_mesh, group.points, self._depth) for group in loaded}
        surfaces = {name: mass for name, mass in masses.items() if mass is not None}
        return self._form(dimension, gravity, shape, velocity, surfaces, stresses, strains)

    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """Return world positions and velocities of the nodes of this soft body at t = 0. ``shape`` and
        ``velocity`` of the user are functions of the undeformed position, or arrays (N, 3); None means undeformed,
        at rest. The shape is rotated by ``rotation`` and moved by ``position``. ``dimension`` is the number of
        space dimensions of the model (2 or 3)."""
        return initial_nodes(self.soft_mesh.positions, dimension, shape, velocity, position, rotation)

    def with_rotation(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        """Return the initial state ``nodes`` of this soft body with the velocities of a rigid rotation added. The
        angular velocity is ``spin`` (3,) [rad/s] about the point ``origin`` [m]."""
        turning = np.cross(vector("angular_velocity", spin), nodes.positions - origin)
        velocities = turning if nodes.velocities is None else nodes.velocities + turning
        return replace(nodes, velocities=velocities, speed=velocities)

    @property
    def _depth(self) -> float:
        """Factor by which areas of a sheet are multiplied to give volumes, its thickness [m]; 1.0 for a solid."""
        return 1.0 if self.thickness is None else self.thickness

    def _nodal_mass(self) -> "sparse.csr_array":
        """Return the consistent mass matrix of the N nodes of this soft body, for each component of the positions,
        shape (N, N) [kg]."""
        return self.soft_mesh.mass(self.density, self._depth)

    @property
    def _plane(self) -> PlaneState | None:
        """State across this soft body if it is a sheet, plane stress or plane strain; None if it is solid."""
        return PlaneState(self.plane) if self.soft_mesh.is_sheet else None

    def _check_thickness(self) -> None:
        """Raise ``ParameterError`` if this soft body is a sheet and has no thickness, or is solid and has a
        thickness."""
        if self.soft_mesh.is_sheet:
            if self.thickness is None:
                raise ParameterError(f"thickness must be given for a sheet of {self.soft_mesh.kind.value}s [m]")
        elif self.thickness is not None:
            raise ParameterError(f"thickness is for sheets, and a mesh of {self.soft_mesh.kind.value}s is solid")
