"""Thin bodies of arbitrarily large rotation (shells), whose coordinates are positions and directors of nodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Finite,
    IntArray,
    Positive,
    check_callable,
    plane_or_space,
    positive,
    set_fields,
    vector,
    whole,
)
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.absolute_body import AbsoluteBody, Field, InitialNodes, initial_nodes
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.inertia import MEAN_AXIS
from phlexible.bodies.flexible.interfaces import InterfaceSpec, named_specs
from phlexible.bodies.flexible.plate import checked_elements
from phlexible.bodies.flexible.retained import ShapeOptions
from phlexible.bodies.flexible.stiffening import MeshStrain
from phlexible.bodies.material import Material
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.shell.elements import MIDDLE, PAIRS, PLACES, ShellElements, products
from phlexible.bodies.shell.floating import body_of_shell
from phlexible.bodies.shell.mesh import Grid, ShellMesh, shell_mesh, sphere_grid, warn_of_thickness
from phlexible.bodies.shell.ports import EdgeKind, ShellInterface, ShellPoints
from phlexible.bodies.shell.section import Laminate, ShellSection
from phlexible.bodies.sizes import warn_of_size
from phlexible.bodies.skin import BodyStress
from phlexible.bodies.soft_body import MeshedNodalBody
from phlexible.bodies.soft_mesh import selected_nodes
from phlexible.display import short_repr
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.shapes.surfaces import Color

BENT = 0.05
"""Change of the angle between directors of neighbouring nodes from which on a shell bends [rad]."""


@dataclass(frozen=True, eq=False)
class Shell(MeshedNodalBody):
    """A thin curved or flat body of arbitrarily large rotation, which stretches, shears and bends.

    Its nodes have a position and a director, a vector along the thickness; strains are small. ``Shell.plate``,
    ``Shell.cylinder``, ``Shell.sphere`` and ``Shell.of`` make its mesh. Where neighbouring elements meet at more
    than 30 degrees it has a fold, which keeps its angle. ``shell["name"]`` of an interface is a port with an
    orientation, ``shell.node(number)`` one without.

    Attributes:
        mesh: of quadrilaterals, triangles or both: of scikit-fem or meshio, the path of a file that meshio reads,
            or points (p, 3) [m] and cells (e, 4) or (e, 3); among (e, 4) a triangle names its last node twice.
        thickness: [m]; of a laminate the sum of its layers.
        material: of the shell, or its layers, a ``Laminate``.
        interfaces: edges and patches by name: nodes (numbers, a function of position or the name of a group of the
            mesh), or a pair of these and "average", "rigid", "hinged" or "symmetric". Joints hold the mean of an
            average one, with its orientation; ``Fixed`` holds each node and director of a rigid one, a clamp, each
            node of a hinged one, and those of a symmetric one in their plane.
        directors: exact normals of the surface, for each point (p, 3) or as a function of position; None: means of
            the normals of elements.
        offset: of the middle of the thickness from the mesh, along the directors [m].
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a mesh that is no shell, or a number out of its range.

    Example:
        >>> steel = ph.Material(210e9, 7850.0)
        >>> sheet = ph.Shell.plate(1.0, 0.1, 0.001, steel, elements=(8, 1), interfaces={"start": "rigid"})
        >>> round(sheet.mass, 9)
        0.785
        >>> ph.Model().add(sheet, "sheet")["end"].initial_position()
        array([1., 0., 0.])
    """

    mesh: Any
    thickness: Positive
    material: Material | Laminate
    interfaces: Any = None
    directors: Any = field(default=None, kw_only=True)
    offset: Finite = field(default=0.0, kw_only=True)
    color: Color = field(default=None, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.material, Material | Laminate):
            raise ParameterError(f"material must be a Material or a Laminate, got {self.material!r}")
        if not np.isclose(self.thickness, total := self._laminate.thickness, rtol=1e-9, atol=0.0):
            raise ParameterError(f"thickness must be that of the Laminate, {total:g} m, got {self.thickness:g}")
        if not abs(self.offset) <= self.thickness:
            raise ParameterError(f"offset must be at most the thickness ({self.thickness:g}), got {self.offset!r}")
        if isinstance(self.mesh, ShellMesh):
            return
        mesh, source = shell_mesh(self.mesh, self.directors, self._section.gyration)
        groups = tuple(
            ShellInterface(name, selected_nodes(f"interface {name!r}", nodes, mesh, source), kind)
            for name, nodes, kind in named_specs(self.interfaces, EdgeKind)
        )
        for group in groups:
            group.weights(mesh)
            group.refuse_leaning(mesh)
        set_fields(self, mesh=mesh, interfaces=groups, directors=None)
        self._elements.axes(MIDDLE)
        warn_of_size(self.mass, mesh.points[mesh.used])
        warn_of_thickness(self.thickness, mesh.elements.areas.sum(axis=1))

    # Meshes of simple surfaces.

    @classmethod
    def plate(
        cls,
        length: float,
        width: float,
        thickness: float,
        material: Material | Laminate,
        elements: Sequence[int] = (16, 2),
        interfaces: Mapping[str, Any] | None = None,
        *,
        offset: float = 0.0,
        color: str | None = None,
    ) -> Self:
        """Return a flat rectangular shell, 0 <= x <= ``length``, -width/2 <= y <= width/2, with directors along z.
        Its mesh is a grid of ``elements`` along x and y. Its edges "start" (x = 0), "end", "right" (y = -width/2)
        and "left" become interfaces, averages unless ``interfaces`` gives their kind.

        Args:
            length, width, thickness: [m].
            material: of the shell.
            elements: along x and y.
            interfaces: kinds of edges, such as {"start": "rigid"}, and further ones as of ``Shell``.
            offset, color: as of ``Shell``.

        Raises:
            ParameterError: numbers out of range.
        """
        long, wide = positive("length", length), positive("width", width)
        names = ("start", "end", "right", "left")

        def place(u: float, v: float) -> Array:
            return np.array([long * u, wide * (v - 0.5), 0.0])

        return cls._of_grid(place, elements, names, thickness, material, interfaces, offset=offset, color=color)

    @classmethod
    def of(
        cls,
        surface: Callable[[float, float], ArrayLike],
        thickness: float,
        material: Material | Laminate,
        elements: Sequence[int] = (16, 16),
        interfaces: Mapping[str, Any] | None = None,
        *,
        directors: Any = None,
        offset: float = 0.0,
        color: str | None = None,
    ) -> Self:
        """Return the shell on a ``surface``, a function of two numbers u and v from 0 to 1 that returns a position
        (3,) [m]. It is called for each point of a grid of ``elements`` along u and v; coinciding points are merged.
        Edges "u0" (u = 0), "u1", "v0" and "v1" that do not coincide become interfaces.

        Its edges "u0" (u = 0), "u1", "v0" and "v1" are interfaces, unless they meet, as at the seam of a cylinder.

        Args:
            surface: (u, v), each from 0 to 1, -> position, shape (3,) [m]. Directors are along its derivatives to u
                times those to v.
            thickness: [m].
            material: of the shell.
            elements: along u and v.
            interfaces: kinds of edges, such as {"u0": "rigid"}, and further ones as of ``Shell``.
            directors, offset, color: as of ``Shell``.

        Raises:
            ParameterError: numbers out of range.
        """
        check_callable("surface", surface, "u", "v")
        names, options = ("u0", "u1", "v0", "v1"), {"directors": directors, "offset": offset, "color": color}
        return cls._of_grid(surface, elements, names, thickness, material, interfaces, **options)

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        thickness: float,
        material: Material | Laminate,
        elements: Sequence[int] = (8, 32),
        interfaces: Mapping[str, Any] | None = None,
        *,
        offset: float = 0.0,
        color: str | None = None,
    ) -> Self:
        """Return an open cylindrical shell about x, 0 <= x <= ``length`` [m], with the given ``radius`` [m] and
        directors outwards. Its mesh has ``elements`` along x and around. Its rims "start" (x = 0) and "end" become
        interfaces. ``offset`` is the height of the middle of the thickness above the mesh [m].

        Args:
            radius, length, thickness: [m].
            material: of the shell.
            elements: along x and around.
            interfaces: kinds of rims, such as {"start": "rigid"}, and further ones as of ``Shell``.
            offset, color: as of ``Shell``.

        Raises:
            ParameterError: numbers out of range.
        """
        R, long = positive("radius", radius), positive("length", length)

        def place(u: float, v: float) -> Array:
            return np.array([long * u, R * np.cos(2 * np.pi * v), -R * np.sin(2 * np.pi * v)])

        names, outwards = ("start", "end", "", ""), lambda x: (0.0, x[1], x[2])
        options = {"directors": outwards, "offset": offset, "color": color}
        return cls._of_grid(place, elements, names, thickness, material, interfaces, **options)

    @classmethod
    def sphere(
        cls,
        radius: float,
        thickness: float,
        material: Material | Laminate,
        elements: int = 8,
        interfaces: Mapping[str, InterfaceSpec] | None = None,
        *,
        offset: float = 0.0,
        color: str | None = None,
    ) -> Self:
        """Return a closed spherical shell of a ``radius`` [m] about the origin, with directors outwards. Its mesh
        is the mesh of a cube's six faces, with ``elements`` along each edge, on the sphere. Where three elements
        meet, at the eight corners of the cube, they are smaller, and nodes lie beside the sphere, by 0.2 % of the
        radius with 8 elements: these elements then bear a pressure by uniform stress. ``interfaces`` are the
        user's; ``offset`` is the height of the middle of the thickness above the mesh [m].

        Args:
            radius, thickness: [m].
            material: of the shell.
            elements: along the edges of each of the six faces.
            interfaces: as of ``Shell``.
            offset, color: as of ``Shell``.

        Raises:
            ParameterError: numbers out of range.
        """
        R, (count, _) = positive("radius", radius), checked_elements((elements, elements))
        points, cells = sphere_grid(count)
        options: dict[str, Any] = {"directors": lambda x: x, "offset": offset, "color": color}
        return cls((R * points, cells), thickness, material, interfaces, **options)

    @classmethod
    def _of_grid(
        cls,
        surface: Callable[[float, float], ArrayLike],
        elements: Sequence[int],
        names: Sequence[str],
        thickness: float,
        material: Material | Laminate,
        interfaces: Mapping[str, Any] | None,
        **options: Any,
    ) -> Self:
        """Return the shell on a ``surface``, a function of u and v (0 to 1) that returns a position (3,). Its mesh
        is a grid of ``elements`` along both. ``names`` of the edges u = 0, u = 1, v = 0, v = 1 become interfaces;
        empty names and opposite edges that coincide are skipped. Raise ``ParameterError`` for fewer than 4
        points."""
        grid = Grid.over(surface, checked_elements(elements))
        return cls(grid, thickness, material, _with_edges(interfaces, grid.edges(names)), **options)

    # What the system needs of a shell.

    @property
    def soft_mesh(self) -> ShellMesh:
        """Mesh of this shell, with its directors."""
        assert isinstance(self.mesh, ShellMesh)
        return self.mesh

    @property
    def nodes(self) -> Array:
        """Undeformed positions of the N nodes of this shell, those points of its mesh that belong to elements, in
        ascending order of their indices; shape (N, 3) [m]."""
        return np.asarray(self.soft_mesh.points[self.soft_mesh.used])

    @cached_property
    def _laminate(self) -> Laminate:
        """Layers of this shell as a ``Laminate``: the user's, or one layer of its material and thickness at angle
        0."""
        return (
            self.material if isinstance(self.material, Laminate) else Laminate([(self.material, self.thickness, 0)])
        )

    @cached_property
    def _section(self) -> ShellSection:
        """Stiffness and mass of this shell per area, of its layers at its ``offset``."""
        return self._laminate.section(self.offset)

    @cached_property
    def _elements(self) -> ShellElements:
        """Undeformed elements of this shell, cached. Elements of a laminate also have the direction of its first
        axis."""
        mesh = self.soft_mesh
        if not isinstance(self.material, Laminate):
            return mesh.elements
        return replace(mesh.elements, along=mesh.first_axes(self.material.axis))

    @property
    def mass(self) -> float:
        """Total mass of this shell [kg], mass per area times the area of its undeformed elements."""
        return float(self._section.mass * self.soft_mesh.elements.areas.sum())

    def discretize(self, dimension: int) -> AbsoluteBody:
        """Return this shell as an ``AbsoluteBody``, whose unknowns are positions and directors at nodes: mass
        matrix, elements, folds and material points. Elements and folds have energies quadratic in dot products of
        these vectors. Raise ``ParameterError`` unless ``dimension`` is 3.

        Raises:
            ParameterError: a model in the plane.
        """
        if plane_or_space(dimension) != 3:
            raise ParameterError("a Shell needs a model in space (dimension=3)")
        mesh, section, g = self.soft_mesh, self._section, self.soft_mesh.gyration
        elements = self._elements
        shares, positions, directors = elements.mass_shares, mesh.element_nodes, mesh.element_directors
        lever, both = section.lever / g, np.hstack([positions, directors])
        blocks = section.mass * np.block([[shares, lever * shares], [lever * shares, shares]])
        mass = summed_blocks(both, both, blocks, (len(mesh.nodes),) * 2)
        mass.eliminate_zeros()
        sizes, stiffness = elements.blocks(section)
        scale = g ** -(PAIRS >= PLACES - 1).sum(axis=1).astype(np.float64)
        stiffness = stiffness * _spread(scale, sizes)
        rest = products(elements.X, elements.D) / scale
        tau = self._laminate.viscosity
        own = ProductElements(both, PLACES, PAIRS, sizes, stiffness, rest, tau)
        return AbsoluteBody(
            dimension=3,
            mass=self.mass,
            nodal_mass=mass,
            strains=(),
            points=ShellPoints(mesh, 3, {group.name: group for group in self.interfaces}),
            size=float(np.ptp(mesh.positions, axis=0).max()),
            clusters=mesh.clusters,
            products=(own, self._folds(elements.node_areas)) if len(mesh.folds) else (own,),
            moves=mesh.moves,
        )

    def _folds(self, areas: Array) -> ProductElements:
        """Return the folds of this shell as elements that keep the angle of two directors of a node by a stiff
        energy. It is quadratic in the change of their dot product from its initial value. The stiffness of each
        fold is that across the thickness times the area of the element corners at both directors, from ``areas``
        (e, 4) [m2]. It is divided by the squared sine of the angle."""
        mesh, g = self.soft_mesh, self.soft_mesh.gyration
        own = np.bincount(mesh.corner_directors.ravel(), areas.ravel())
        one, two = mesh.folds.T
        cosines = np.einsum("fi,fi->f", mesh.directors[one], mesh.directors[two])
        stiffness = self._section.across * (own[one] + own[two]) / (1 - cosines**2)
        nodes, pair = mesh.director_at[mesh.folds], np.array([[0, 1]])
        return ProductElements(
            nodes, 0, pair, (1,), stiffness[:, None] / g**4, g**2 * cosines[:, None], self._laminate.viscosity
        )

    @property
    def surface_positions(self) -> Array:
        """Undeformed positions at which stress is reported, shape (3 N, 3) [m]. They are offset from the N nodes
        along the mean director: first at the top of the thickness, then in the middle, then at the bottom. For a
        laminate of n layers they are at top and bottom of each layer from the top down, shape (2 n N, 3)."""
        mesh, heights = self.soft_mesh, self._section.heights
        means = np.zeros((len(mesh.points), 3))
        np.add.at(means, mesh.director_nodes, mesh.directors)
        count = np.bincount(mesh.director_nodes, minlength=len(means))[mesh.used, None]
        return np.concatenate([self.nodes + height * means[mesh.used] / count for height in heights])

    def stress_field(self) -> BodyStress:
        """Return an object that computes the stress of this shell at its ``surface_positions`` from its
        coordinates (``BodyStress``). In pictures, each node shows the stresses at all heights of the thickness."""
        positions, mesh = self.surface_positions, self.soft_mesh
        layers = len(mesh.used) * np.arange(len(self._section.heights))
        numbers = np.argsort(mesh.node_at[mesh.used])[:, None] + layers

        def components(coordinates: Array, selected: IntArray) -> Array:
            return self.surface_stress(coordinates.reshape(len(coordinates), -1, 3))[:, selected]

        return BodyStress(positions, np.arange(len(positions)), components, lambda skin: numbers)

    def surface_stress(self, vectors: Array) -> Array:
        """Return the second Piola-Kirchhoff stress at the k ``surface_positions`` of this shell, shape (T, k, 6)
        [Pa]. Components are xx, yy, zz, yz, xz, xy in axes of the undeformed body. It is evaluated at element
        centres, from strains linear over the thickness, and averaged over a node's elements. ``vectors`` are
        positions and directors at T instants, in the order of the unknowns.

        Args:
            vectors: positions and directors in the order of the unknowns, shape (T, N + k, 3) [m].
        """
        mesh = self.soft_mesh
        positions, directors = vectors[:, mesh.element_nodes], vectors[:, mesh.element_directors] / mesh.gyration
        stresses = self._elements.stresses(self._section, positions, directors)
        at = np.searchsorted(mesh.used, mesh.cells)
        total = np.zeros((len(mesh.used), *stresses.shape[1:]))
        np.add.at(total, at, mesh.corner_shares[..., None, None, None] * stresses[:, None])
        means = total / np.bincount(at.ravel(), mesh.corner_shares.ravel())[:, None, None, None]
        return np.asarray(means.transpose(2, 1, 0, 3).reshape(len(vectors), -1, 6))

    def largest_excess_bending(self, vectors: Array) -> tuple[float, float]:
        """Return the largest relative error of the bending by a given moment in this shell, and the angle [rad]
        between directors of neighbouring nodes there. With the angle phi, and phi_0 without stress,
        elements are too soft by phi^2 / 6 + phi phi_0 / 24. Places where it changes by less than 0.05 rad do not
        count. ``vectors`` (N + k, 3) are positions and directors in the order of the unknowns."""
        mesh = self.soft_mesh
        angles, stress_free = mesh.bending_angles(vectors), mesh.stress_free_angles
        excess = np.where(np.abs(angles - stress_free) > BENT, angles * (4 * angles + stress_free) / 24, 0.0)
        worst = np.unravel_index(excess.argmax(), excess.shape)
        return float(excess[worst]), float(abs(angles[worst]))

    def flexible_body(
        self,
        modes: int = 20,
        frame: str | Sequence[str] = MEAN_AXIS,
        strain: MeshStrain | str = MeshStrain.GREEN_LAGRANGE,
        *,
        damping_ratio: float | Sequence[float] = 0.0,
        moments: bool = True,
        inertial_shapes: bool = True,
    ) -> FlexibleBody:
        """Return this shell as a ``FlexibleBody``: a moving frame with small deformation relative to it. The
        deformation is reduced to static responses to loads on the interfaces and the lowest ``modes`` vibration
        modes, far fewer unknowns than at the nodes. Raise ``ParameterError`` for interfaces that are not average
        or rigid.

        Args:
            modes, frame, strain, damping_ratio, moments, inertial_shapes: as of ``FlexibleBody.from_mesh``.

        Raises:
            ParameterError: interfaces that are not average or rigid, or numbers out of range.

        Example:
            >>> steel = ph.Material(210e9, 7850.0)
            >>> shell = ph.Shell.cylinder(0.5, 1.0, 0.002, steel, (4, 16), {"start": "rigid", "end": "rigid"})
            >>> panel = shell.flexible_body(modes=6)
            >>> round(panel.mass, 3), panel.interfaces
            (49.007, ('start', 'end'))
        """
        modes = whole("modes", modes, 0)
        choice = ShapeOptions.checked(modes, frame, strain, damping_ratio, moments, inertial_shapes)
        data, body = body_of_shell(
            self.discretize(3), self.soft_mesh, self.interfaces, choice, self._laminate.viscosity
        )
        made = data, body.basis.frequencies, body.effective_mass, body.basis.counts, None
        return FlexibleBody(*made, self.color, body.solver, choice.damping_ratio)

    def port_hamiltonian(  # type: ignore[override]  # a shell has no frame, variants and stress spaces
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
    ) -> PortHamiltonianModel:
        """Return the port-Hamiltonian state-space model of this shell alone. Its states are positions and
        velocities of the nodes and directors, its ports the means of its interfaces. ``gravity`` is the
        acceleration [m/s^2]; ``shape`` and ``velocity`` are initial values. ``dimension`` has to be 3.

        Args:
            dimension: 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity: at t = 0, as in ``model.add``; None: undeformed, at rest.
        """
        return self._form(dimension, gravity, shape, velocity, {}, False, None)

    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """Return world positions and velocities of the nodes and directors of this shell at t = 0. ``shape`` and
        ``velocity`` are functions of the undeformed position, arrays (N, 3), or arrays (N + k, 3) that include the
        k directors. Otherwise directors follow the normals. The shape is rotated by ``rotation`` and moved by
        ``position``; velocities, in world axes, are not. Raise ``ParameterError`` if an element becomes flat."""
        mesh = self.soft_mesh
        fields: tuple[Any, Any] = shape, velocity
        whole = [np.shape(np.asarray(each, dtype=object))[:1] == mesh.positions.shape[:1] for each in fields]
        own = mesh.node_at[mesh.used]  # those of a state come with directors
        given = [np.asarray(each)[own] if is_whole else each for each, is_whole in zip(fields, whole, strict=True)]
        nodes = initial_nodes(self.nodes, dimension, given[0], given[1], position, rotation)
        x, v = nodes.positions, nodes.velocities
        with np.errstate(invalid="ignore"):
            directors = mesh.directors @ rotation.T if shape is None else mesh.turned_directors(x)
        if not np.isfinite(directors).all():
            raise ParameterError("shape must not make an element flat: its corners lie on one line")
        if whole[0]:
            directors = np.asarray(fields[0])[mesh.director_at] @ rotation.T / mesh.gyration
        if v is not None:
            rates = fields[1] if whole[1] else mesh.vectors(v, mesh.gyration * mesh.director_rates(x, v))
            v = np.asarray(rates, dtype=np.float64)
        return replace(nodes, positions=mesh.vectors(x, mesh.gyration * directors), velocities=v)

    def with_rotation(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        """Return the initial state ``nodes`` of this shell with the velocities of a rigid rotation added, for
        nodes and directors. The angular velocity is ``spin`` (3,) [rad/s] about the point ``origin`` [m]."""
        arms = nodes.positions - self.soft_mesh.moves[:, None] * origin
        turning = np.cross(vector("angular_velocity", spin), arms)
        velocities = turning if nodes.velocities is None else nodes.velocities + turning
        speed = velocities[self.soft_mesh.node_at[self.soft_mesh.used]]
        return replace(nodes, velocities=velocities, speed=speed)


def _with_edges(interfaces: Mapping[str, Any] | None, edges: Mapping[str, IntArray]) -> Mapping[str, Any]:
    """Return a user's ``interfaces`` of a shell (name: nodes and kind) together with all its ``edges`` (node
    indices by name), of kind average. A text such as "rigid" as value chooses the kind of the edge of that name.
    Raise ``ParameterError`` for a text if there is no edge of the name. None gives the edges alone; values that
    are no mapping are returned unchanged."""
    if interfaces is not None and not isinstance(interfaces, Mapping):
        return interfaces
    result: dict[str, Any] = {name: (nodes, "average") for name, nodes in edges.items()}
    for name, spec in (interfaces or {}).items():
        if isinstance(spec, str) and name not in edges:
            raise ParameterError(
                f"interfaces: the edges are {', '.join(map(repr, edges)) or 'none'}, no {name!r}; give others as "
                'nodes, or as a function of places x with the kind, (lambda x: x[0] < 0.1, "average")'
            )
        result[name] = (edges[name], spec) if isinstance(spec, str) else spec
    return result


def _spread(scale: Array, blocks: Sequence[int]) -> Array:
    """Return the factors scale_p scale_q of all entries (p, q) of the diagonal blocks of a matrix, row by row,
    shape (sum of squares,). ``scale`` (n,) has one factor for each row, ``blocks`` the sizes of the blocks."""
    ends = np.cumsum(blocks)
    parts = [scale[end - size : end] for size, end in zip(blocks, ends, strict=True)]
    return np.concatenate([np.outer(part, part).ravel() for part in parts])
