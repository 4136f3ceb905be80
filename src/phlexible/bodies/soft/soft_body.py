"""Soft bodies: membranes and solids of large deformation in absolute coordinates (docs/theory.md, 5)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, non_negative, positive, vector
from phlexible.algebra.options import option, plane_or_space, whole
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData, NodalBody
from phlexible.bodies.flexible.mesh.given_mesh import element_mesh, given_mesh
from phlexible.bodies.flexible.mesh.materials import Plane
from phlexible.bodies.flexible.mesh.mesh_checks import check_elements, check_given
from phlexible.bodies.forms.soft import SoftForm
from phlexible.bodies.initial_nodes import Field, InitialNodes
from phlexible.bodies.locations import Interface, Location
from phlexible.bodies.skin import Skin
from phlexible.bodies.soft.initial_field import moved_places, node_velocities
from phlexible.bodies.soft.interfaces import chosen_points, node_groups
from phlexible.bodies.soft.law import SoftLaw
from phlexible.bodies.soft.mesh import SoftMesh
from phlexible.bodies.soft.points import SoftPoints
from phlexible.bodies.soft.skin import soft_skin
from phlexible.display.written import short_repr
from phlexible.errors import ParameterError
from phlexible.shapes.colors import optional_color


@dataclass(frozen=True, eq=False)
class SoftBody(NodalBody):
    """A membrane or a solid that deforms as much as it likes: the positions of its nodes are its coordinates.

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
        plane: "stress": the thickness of a sheet follows; "strain": it is held.
        viscosity: Kelvin-Voigt time tau [s]: S grows by tau D dE/dt, D of small strains.
        interfaces: groups of nodes by name, whose mean carries joints and springs: numbers of nodes, a function of
            places (x[0], x[1], x[2] are arrays) or the name of a group of the mesh.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a mesh that is no body, a law that it cannot have, or a number out of its range.
    """

    mesh: Any
    law: SoftLaw
    density: float
    thickness: float | None = None
    order: int = 2
    plane: Plane | str = Plane.STRESS
    viscosity: float = 0.0
    interfaces: Any = None
    color: str | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", whole("order", self.order))
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (linear) or 2 (quadratic), got {self.order!r}")
        given = None
        if not isinstance(self.mesh, SoftMesh):
            given = given_mesh(self.mesh, is_flat=False)
            check_given(given)
            if given.kind.dimension == 3:
                check_elements(element_mesh(given, self.order))
            object.__setattr__(self, "mesh", SoftMesh.of(given, self.order))
        object.__setattr__(self, "density", positive("density", self.density))
        object.__setattr__(self, "viscosity", non_negative("viscosity", self.viscosity))
        object.__setattr__(self, "plane", option("plane", self.plane, Plane).value)
        object.__setattr__(self, "color", optional_color(self.color))
        if not isinstance(self.law, SoftLaw):
            raise ParameterError(
                "law must be a stored energy such as NeoHookean(youngs_modulus=1e6, poissons_ratio=0.45), got "
                f"{self.law!r}"
            )
        self._check_thickness()
        self.law.constitution(self._plane)
        self.soft_mesh.quadrature(self.soft_mesh.strain_degree)
        object.__setattr__(self, "interfaces", node_groups(self.interfaces, self.mesh, given))

    @property
    def nodes(self) -> Array:
        """Places of the nodes in the undeformed body, in the order of its coordinates, shape (N, 3) [m]."""
        return self.soft_mesh.places

    @property
    def soft_mesh(self) -> SoftMesh:
        """The mesh with all nodes."""
        assert isinstance(self.mesh, SoftMesh)
        return self.mesh

    def points_where(self, nodes: Any) -> IntArray:
        """Numbers of nodes for ``placed.node(number)``.

        Args:
            nodes: a function of places (x[0], x[1], x[2] are arrays) that is True where nodes are meant.

        Raises:
            ParameterError: it chooses none.
        """
        return chosen_points("nodes", nodes, self.soft_mesh)

    def discretize(self, dimension: int) -> AbsoluteBody:
        """Nodes, mass and strains in the plane (dimension 2) or in space (3)."""
        plane_or_space(dimension)
        mesh, thickness = self.soft_mesh, 1.0 if self.thickness is None else self.thickness
        if dimension == 2 and not mesh.is_sheet:
            raise ParameterError(f"a SoftBody of {mesh.kind.value}s needs a model in space (dimension=3)")
        if dimension == 2 and mesh.places[:, 2].any():
            raise ParameterError("mesh: of a SoftBody in a planar model it must lie in the plane z = 0")
        law = self.law.constitution(self._plane)
        mass = mesh.mass(self.density, thickness)
        groups = {each.name: each.weights(mesh) for each in self.interfaces}
        return AbsoluteBody(
            dimension=dimension,
            mass=float(mass.sum()),
            nodal_mass=mass,
            strains=(),
            points=SoftPoints(mesh, dimension, groups),
            size=float(np.ptp(mesh.places, axis=0).max()),
            elements=(mesh.strains(law, thickness, self.viscosity),),
            clusters=mesh.clusters,
        )

    def port_locations(self) -> dict[str, Location]:
        """The interfaces by name."""
        return {each.name: Interface(each.name) for each in self.interfaces}

    def port_hamiltonian(  # type: ignore[override]  # a soft body has no frame, variants and stress spaces
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
    ) -> SoftForm:
        """This body alone as a port-Hamiltonian model in positions and velocities of its nodes, see ``SoftForm``.

        Args:
            dimension: 2 or 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity: at t = 0, as in ``model.add``; None: undeformed, at rest.

        Raises:
            ParameterError: numbers of a wrong shape, or out of the plane.
        """
        data, fall = self.discretize(dimension), vector("gravity", gravity)
        if fall[dimension:].any():
            raise ParameterError(f"gravity must stay in the plane of a planar model, got {fall.tolist()}")
        nodes = self.initial_nodes(dimension, shape, velocity, np.zeros(3), np.eye(3))
        rates = np.zeros_like(nodes.positions) if nodes.velocities is None else nodes.velocities
        start = np.concatenate([each[:, :dimension].ravel() for each in (nodes.positions, rates)])
        weights = {each.name: each.weights(self.soft_mesh) for each in self.interfaces}
        return SoftForm(data, fall[:dimension], weights, start)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """The surface."""
        return soft_skin(self.soft_mesh, data.dimension)

    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """The nodes at t = 0: ``shape`` and ``velocity`` are functions of the undeformed place, or (N, 3)."""
        places = self.soft_mesh.places
        positions = moved_places(shape, places, dimension, position, rotation)
        return InitialNodes(positions, node_velocities(velocity, places, dimension), shape, velocity)

    def spun(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        """The nodes turning with an angular velocity (3,) about a point on top of their velocities."""
        turning = np.cross(vector("angular_velocity", spin), nodes.positions - origin)
        velocities = turning if nodes.velocities is None else nodes.velocities + turning
        return replace(nodes, velocities=velocities, speed=velocities)

    @property
    def _plane(self) -> Plane | None:
        return Plane(self.plane) if self.soft_mesh.is_sheet else None

    def _check_thickness(self) -> None:
        if self.soft_mesh.is_sheet:
            if self.thickness is None:
                raise ParameterError(f"thickness must be given for a sheet of {self.soft_mesh.kind.value}s [m]")
            object.__setattr__(self, "thickness", positive("thickness", self.thickness))
        elif self.thickness is not None:
            raise ParameterError(f"thickness is for sheets, and a mesh of {self.soft_mesh.kind.value}s is solid")
