"""Bodies from finite element meshes (docs/theory.md, 2 and 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial import KDTree

from phlexible.algebra.arrays import (
    Array,
    IntArray,
    checked_relaxation_time,
    file_path,
    option,
    plane_or_space,
    positive,
    whole,
)
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.flexible.disk_cache import Folder, StoredShapes
from phlexible.bodies.flexible.element_mesh import CellKind, ElementMesh
from phlexible.bodies.flexible.from_matrices import (
    GeometricStiffness,
    MatrixLike,
    body_of_matrices,
    nodal_interfaces,
    nodal_model,
)
from phlexible.bodies.flexible.inertia import MEAN_AXIS, mesh_moments
from phlexible.bodies.flexible.interfaces import InterfaceSpec, MeshInterface, mesh_interface, user_interfaces
from phlexible.bodies.flexible.mesh_matrices import (
    ElementMaterials,
    PlaneState,
    element_materials,
    geometric_stiffness,
    mass_matrix,
    stiffness_matrix,
)
from phlexible.bodies.flexible.plate_body import (
    PlatePoints,
    body_of_plate,
    plate_interface,
    plate_skin,
    plate_stress_shapes,
)
from phlexible.bodies.flexible.plate_elements import PlateElement, PlateSection, PlateTheory, plate_section
from phlexible.bodies.flexible.points import FlexiblePoints, MeshPoints
from phlexible.bodies.flexible.retained import (
    ShapeOptions,
    condense,
    effective_mass,
    interface_motion,
    reduced_data,
    retained_body,
)
from phlexible.bodies.flexible.skin import mesh_skin, stress_coordinates, stress_shapes
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, derivative_loads, linear_strain
from phlexible.bodies.flexible.structure import mesh_unknowns
from phlexible.bodies.flexible.user_mesh import (
    IN_PLANE,
    UserMesh,
    check_elements,
    check_mesh,
    check_units,
    element_mesh,
    is_curved,
    user_mesh,
    warn_of_stiff_elements,
)
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Interface, Location
from phlexible.bodies.material import Material
from phlexible.bodies.sizes import SCALED, warn_of_size
from phlexible.bodies.skin import BodyStress, Skin
from phlexible.elements.maxwell import Maxwell, maxwell_or_none
from phlexible.errors import ParameterError
from phlexible.leaves import leaf_function
from phlexible.shapes.surfaces import optional_color

MeshedPoints = MeshPoints | PlatePoints
"""Located points of a body that is made of a mesh, of a solid or of a plate."""
SHOWN = 5e-4
"""Smallest effective mass, relative to the mass, for which the summary lists effective masses."""


@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """An elastic body of any form, described by a few retained displacement shapes of a finite element model in a
    floating frame.

    Made by ``from_mesh``. Body axes and origin are those of the mesh.

    Attributes:
        data: invariants, strains and points of the retained coordinates.
        frequencies: of the retained shapes, constrained by the frame, shape (n,) [rad/s].
        effective_mass: part of the body's mass (x, y, z) and of its inertia about the mesh's origin (about x, y, z)
            that each coordinate carries, shape (n, 6), in the plane (n, 3); zero in the mean-axis frame.
        shape_counts: numbers of retained shapes from unit loads on interfaces, from inertial loads, from modes, and
            of modal derivatives.
        materials: of the elements of the mesh, of a plate its section; None: made from matrices.
        color: in pictures, "#rrggbb".
        solver: name of the library that factored the stiffness matrix.
        damping_ratio: of all retained shapes, constrained by the frame, or of each [-].
    """

    data: FloatingBody
    frequencies: Array
    effective_mass: Array
    shape_counts: tuple[int, int, int, int]
    materials: ElementMaterials | PlateSection | None = None
    color: str | None = None
    solver: str = ""
    damping_ratio: float | tuple[float, ...] = 0.0

    @classmethod
    def from_mesh(
        cls,
        mesh: Any,
        material: Material | Mapping[str, Material],
        interfaces: Mapping[str, InterfaceSpec] | None = None,
        modes: int = 20,
        frame: str | Sequence[str] = MEAN_AXIS,
        strain: MeshStrain | str = MeshStrain.GREEN_LAGRANGE,
        *,
        order: int = 2,
        thickness: float | None = None,
        plane: PlaneState | str = PlaneState.STRESS,
        theory: PlateTheory | str | None = None,
        element: PlateElement | str = PlateElement.SHEAR,
        damping_ratio: float | Sequence[float] = 0.0,
        moments: bool = True,
        inertial_shapes: bool = True,
        modal_derivatives: bool = False,
        scale: float = 1.0,
        color: str | None = None,
        cache: str | PathLike[str] | None = None,
    ) -> Self:
        """Return an elastic body made from a finite element ``mesh``: triangles or quadrilaterals for a plane
        body, plate or shell, tetrahedra or hexahedra for a solid. It is reduced to a few displacement shapes.
        These are static responses to loads on the ``interfaces`` and to inertial loads, and the lowest ``modes``
        vibration modes. With ``modal_derivatives``, second-order responses are added. Raise ``ParameterError`` for
        a mesh that is no body.

        The shapes are the static responses to unit forces and ``moments`` on the interfaces, those to the
        inertial loads of an accelerated and spinning frame (``inertial_shapes``), with ``modal_derivatives``
        those of second order, and the lowest modes.

        Args:
            mesh: of scikit-fem or meshio, or the path of a file that meshio reads [m].
            material: of all elements, or one for each group of elements by name.
            interfaces: where joints and loads act, by name: numbers of nodes, a function of places x (x[0], x[1],
                x[2] are arrays) or the name of a group of the mesh; these move by the mean over the area, as one
                with ``(nodes, "rigid")``.
            modes: number of the lowest modes, constrained by the frame.
            frame: "mean_axis", the name of an interface, or two names for the line between them.
            strain: "green_lagrange" (stiffens under tension, also in spin), or "linear".
            order: of the displacement elements, 1 or 2, also on straight cells.
            thickness: of a plane mesh, or of a surface in space, of which it makes and reduces a ``Shell``, with
                elements of order 1 [m].
            plane: "stress" or "strain" of a plane mesh.
            theory: None: a plane mesh is a body in the plane. "kirchhoff" (no shear, thin) or "mindlin" (with
                shear): it is a plate in space; interfaces are then edges, or the area of elements all of whose
                corners are given, and may be "hinged": only their displacements move as one. Both lie at z = 0 of
                the body axes: a warning says where a plane body is in its file, a plate is refused elsewhere.
            element: of a plate, "shear" (rotations, with shear strain) or "hhj" (Hellan, Herrmann, Johnson), thin
                plates of triangles with moments as unknowns of their own.
            damping_ratio: of all retained shapes of the body constrained by its frame, on top of the viscosity of
                the material [-], or a sequence, one for each in the order of ``part.frequencies``; modes of models
                with other supports have other ratios: for a body that an interface clamps, name that as ``frame``
                (in the mean-axis frame its first mode may keep less than a tenth).
            moments: False: no responses to moments are retained; for interfaces that only pins support.
            inertial_shapes: False: no responses to inertial loads; only for bodies that do not rotate fast.
            modal_derivatives: True: also the displacements that relax the quadratic strain of the responses to
                loads, two to five more in the plane: for deflections beyond 5 % of its length.
            scale: metres for a unit of length of the mesh: 1e-3 for millimetres. Functions of position take metres.
            color: in pictures, a name or "#rrggbb"; None: the default of the picture.
            cache: folder in which retained shapes are stored, to be read again for the same mesh and options.

        Raises:
            ParameterError: a mesh that is no body, names that it lacks, or numbers out of range.

        Example:
            >>> from skfem import MeshQuad
            >>> mesh = MeshQuad.init_tensor(np.linspace(0, 0.3, 13), np.linspace(0, 0.02, 3))
            >>> hub = {"hub": (lambda x: x[0] < 1e-9, "rigid")}
            >>> steel = ph.Material(210e9, 7850.0)
            >>> part = ph.FlexibleBody.from_mesh(mesh, steel, hub, modes=2, thickness=0.01)
            >>> round(part.mass, 6)
            0.471
        """
        modes = whole("modes", modes, 0)
        choice = ShapeOptions.checked(
            modes, frame, strain, damping_ratio, moments, inertial_shapes, modal_derivatives
        )
        folder = Folder(None if cache is None else Path(file_path("cache", cache)))
        looks = optional_color("color", color)
        source = user_mesh(mesh, None, positive("scale", scale), CellKind.QUADRILATERAL)
        is_plate, kind = theory is not None, option("element", element, PlateElement)
        if is_curved(source.points, source.kind.dimension):
            others = {
                "theory": theory not in (None, PlateTheory.MINDLIN),
                "element": kind is not PlateElement.SHEAR,
                "modal_derivatives": modal_derivatives,
                "cache": cache,
            }
            for name, is_given in others.items():
                if is_given:
                    raise ParameterError(f"{name}= is not for a surface in space, a shell with shear; leave it out")
            shell = leaf_function("Shell")(source, thickness, material, interfaces, color=looks)
            reduced: Self = shell.flexible_body(
                modes, frame, strain, damping_ratio=damping_ratio, moments=moments, inertial_shapes=inertial_shapes
            )
            return reduced
        height = float(source.points[:, 2].mean())
        is_off = source.kind.dimension == 2 and bool(abs(height) > IN_PLANE * np.ptp(source.points, axis=0).max())
        if is_plate and is_off:
            raise ParameterError(
                f"theory={theory!r}: a plate lies in the plane z = 0 of its axes, this mesh is at z = {height:g};"
                " move its points there, and the body by position="
            )
        left = (f"the height z = {height:g} m (it is at z = 0 of its axes; place it by position=)",) * is_off
        points = source.points * (1.0, 1.0, source.kind.dimension == 3)
        source = replace(source, points=points, left_out=source.left_out + left)
        check_mesh(source)
        if is_plate and source.kind.dimension == 3:
            raise ParameterError(f"theory={theory!r}: a plate is made of a plane mesh, this one is solid")
        if is_plate and order != 2:
            raise ParameterError(f"order must be 2 for the elements of a plate, got {order!r}")
        if is_plate and modal_derivatives:
            raise ParameterError("modal_derivatives= is for solid and plane bodies; leave it out for a plate")
        if kind is PlateElement.HHJ:
            _check_thin_triangles(source, theory)
        elements = element_mesh(source, _checked_order(order))
        check_elements(elements)
        materials = element_materials(
            material,
            source.element_groups,
            elements.cell_count,
            elements.dimension,
            option("plane", plane, PlaneState),
            _checked_thickness(thickness, elements.dimension),
        )
        check_units([material] if isinstance(material, Material) else list(material.values()))
        warn_of_stiff_elements(elements)
        made_of: ElementMaterials | PlateSection = materials
        of_mesh = source, elements, materials.thickness
        if not is_plate:
            ports = user_interfaces(interfaces, mesh_interface, *of_mesh)
            data, body = _body_of_mesh(elements, materials, ports, choice, folder)
        else:
            made_of = plate_section(elements, materials, option("theory", theory, PlateTheory), kind)
            ports = user_interfaces(interfaces, plate_interface, *of_mesh)
            data, body = body_of_plate(elements, materials, made_of, ports, choice, folder)
        warn_of_size(data.mass, elements.geometry, SCALED)
        numbers = data, body.frequencies, body.effective_mass, body.shape_counts
        return cls(*numbers, made_of, looks, str(body.solver), choice.damping_ratio)

    @classmethod
    def from_matrices(
        cls,
        mass: MatrixLike,
        stiffness: MatrixLike,
        nodes: ArrayLike,
        interfaces: Mapping[str, InterfaceSpec] | None = None,
        modes: int | None = 20,
        frame: str | Sequence[str] = MEAN_AXIS,
        *,
        damping: MatrixLike | None = None,
        geometric_stiffness: GeometricStiffness | None = None,
        modal: int = 0,
        damping_ratio: float | Sequence[float] = 0.0,
        viscosity: float = 0.0,
        relaxation: Maxwell | None = None,
        moments: bool = True,
        inertial_shapes: bool = True,
        color: str | None = None,
    ) -> Self:
        """Return an elastic body made from the ``mass`` and ``stiffness`` matrices of another finite element
        program, without supports. It is reduced to a few displacement shapes: static responses to loads on the
        ``interfaces`` and to inertial loads, and the lowest ``modes`` (None: all shapes). Its strain is linear
        unless ``geometric_stiffness`` is given.

        Args:
            mass, stiffness: SciPy sparse or dense, shape (N, N), unknowns node after node in global axes [SI].
            nodes: their positions, shape (k, 3), in the plane (k, 2) [m]; each has its displacements, or also its
                rotations (in the plane that about z).
            interfaces: as of ``from_mesh``, with equal weights of nodes; a single node needs rotations.
            modes: number of modes; None: all shapes, for models that are reduced already.
            frame: as of ``from_mesh``.
            damping: shape (N, N); its part that resists rigid motions (alpha M) acts on motions relative to the
                frame.
            geometric_stiffness: a function of a displacement (N,) that returns the geometric (differential)
                stiffness matrix of its linear stress, or lists of these matrices: for each interface by name those
                of its unit forces (and moments), for "inertial" those of accelerations e_k, e_k x x and
                e_k x (e_l x x), k <= l, about the mean of the nodes, in equilibrium with the frame; None where one
                does not matter.
            modal: number of modal coordinates behind the unknowns of the nodes (Craig-Bampton models); what
                inertia changes with them is known only from the nodes and the mass matrix.
            damping_ratio, moments, inertial_shapes, color: as of ``from_mesh``.
            viscosity: Kelvin-Voigt time of the material [s].
            relaxation: branches of spring and dashpot in series, with shares of the stiffness matrix in place of
                stiffnesses; None: none.

        Raises:
            ParameterError: shapes that do not fit, matrices that are not symmetric or of no free body, a mass
                matrix that moves a rigid body wrongly, or names and numbers out of range.
        """
        looks = optional_color("color", color)
        model = nodal_model(mass, stiffness, nodes, damping, whole("modal", modal, 0))
        modes = None if modes is None else whole("modes", modes, 0)
        strain = MeshStrain.LINEAR if geometric_stiffness is None else MeshStrain.GREEN_LAGRANGE
        choice = ShapeOptions.checked(modes, frame, strain, damping_ratio, moments, inertial_shapes)
        ports = nodal_interfaces(interfaces, model)
        viscoelasticity = checked_relaxation_time("viscosity", viscosity), maxwell_or_none("relaxation", relaxation)
        data, body = body_of_matrices(model, ports, choice, geometric_stiffness, viscoelasticity)
        numbers = data, body.basis.frequencies, body.effective_mass, body.basis.counts
        return cls(*numbers, None, looks, body.solver, choice.damping_ratio)

    @property
    def dimension(self) -> int:
        """Dimension of the models that this body is for: 2 if its mesh is plane, otherwise 3."""
        return self.data.dimension

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Names of the interfaces of this body, at which joints and loads act, as in ``part["name"]``."""
        return self.points.interfaces.names

    @property
    def points(self) -> FlexiblePoints:
        """Object with the nodes, interfaces and retained displacement shapes of this body, from which its material
        points are located. Retained shapes are those that replace the nodal unknowns."""
        assert isinstance(self.data.points, FlexiblePoints)
        return self.data.points

    @property
    def mass(self) -> float:
        """Total mass of this body [kg]."""
        return self.data.mass

    @property
    def center(self) -> Array:
        """Centre of mass of this body, undeformed, in body axes from the origin of the mesh, shape (3,) [m]."""
        return self.data.first_moments[:, 0] / self.data.mass

    @property
    def inertia(self) -> Array:
        """Inertia tensor of this undeformed body about its centre of mass in body axes, shape (3, 3) [kg m2]. For
        a plane body only the entry zz has a meaning."""
        spread = self.data.undeformed_spread - self.mass * np.outer(self.center, self.center)
        return np.asarray(np.trace(spread) * np.eye(3) - spread)

    def discretize(self, dimension: int) -> FloatingBody:
        """Return the stored arrays of this body (mass integrals, strain energy, damping, points). Raise
        ``ParameterError`` unless the model has the ``dimension`` of the mesh, 2 or 3.

        Raises:
            ParameterError: another dimension.
        """
        if plane_or_space(dimension) != self.dimension:
            mesh, model = ("plane", "space") if self.dimension == 2 else ("spatial", "the plane (dimension=2)")
            raise ParameterError(f"a body from a {mesh} mesh cannot move in a model in {model}")
        return self.data

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface that pictures draw for this body (a ``Skin``): that of its mesh, the two faces of a
        plate, or, if it was made from matrices, a line through its interfaces. It moves with the elastic
        coordinates. ``data`` are the arrays of the body, ``ports`` the positions of joints, shape (k, 3) [m]."""
        points = data.points
        if isinstance(points, MeshPoints):
            return mesh_skin(points.mesh, points.shapes)
        return plate_skin(points) if isinstance(points, PlatePoints) else super().skin(data, ports)

    def stress_field(self) -> BodyStress | None:
        """Return an object that computes the stress at the mesh nodes of this body, linear in its elastic
        coordinates and averaged over adjacent elements. Return None if the body was made from matrices. Nodes
        listed in reports are on the surface of a solid or plate, or the vertices of a plane mesh. Each vertex of a
        picture shows the value of its nearest node."""
        points, materials = self.points, self.materials
        if isinstance(points, PlatePoints) and isinstance(materials, PlateSection):
            shapes_at, surface = partial(plate_stress_shapes, points, materials), points.surface_nodes
        elif isinstance(points, MeshPoints) and isinstance(materials, ElementMaterials):
            shapes = points.shapes[:, : points.mesh.dimension]
            shapes_at = partial(stress_shapes, points.mesh, materials, shapes)
            surface = points.mesh.vertex_nodes if points.mesh.dimension == 2 else points.surface_nodes
        else:
            return None

        def components(eta: Array, nodes: IntArray) -> Array:
            coordinates = stress_coordinates(self.data, self.frequencies, eta)
            return np.asarray(np.einsum("kcn,tn->tkc", shapes_at(nodes), coordinates, optimize=True))

        def drawn(skin: Skin) -> IntArray:
            return np.asarray(KDTree(points.nodes).query(skin.positions)[1])[:, None]

        return BodyStress(points.nodes, surface, components, drawn)

    def reduced(self, basis: ArrayLike) -> "FlexibleBody":
        """Return a copy of this body with k elastic coordinates in place of n, by projection onto the columns of
        ``basis`` (n, k). The basis may come from a reduction of the linear model. Raise ``ParameterError`` for
        another number of rows or dependent columns.

        Args:
            basis: shape (n, k), over the coordinates of this body.

        Raises:
            ParameterError: a basis of another length, or of dependent columns.
        """
        data, frequencies = reduced_data(self.data, self.frequencies, basis)
        same = self.shape_counts, self.materials, self.color, self.solver, self.damping_ratio
        return FlexibleBody(data, frequencies, effective_mass(data), *same)

    def port_locations(self) -> dict[str, Location]:
        """Return the locations of the boundary ports of this body's port-Hamiltonian model by name: all its named
        interfaces."""
        return {name: Interface(name) for name in self.interfaces}

    def summary(self) -> str:
        """Return a text with mass, centre and inertia of this body, and the numbers of its displacement shapes by
        origin (loads, inertia, modes). Each frequency [Hz] follows with its effective mass in per cent. If no
        shape has effective mass, only the frequencies are listed."""
        answers, inertial, modes, derivatives = self.shape_counts
        axes = "x y rz".split() if self.dimension == 2 else "x y z rx ry rz".split()
        lines = [
            f"mass {self.mass:.6g} kg, centre {_vector_text(self.center)} m",
            f"inertia {_vector_text(np.diag(self.inertia))} kg m2 about it",
            f"{self.data.elastic_count} coordinates: {answers} of loads, {inertial} inertial, {modes} modes, "
            + (f"{derivatives} modal derivatives, " if derivatives else "")
            + f"by {self.solver}",
            "frequency [Hz]   part of mass and inertia along " + " ".join(axes),
        ]
        if not self.effective_mass.max(initial=0.0) > SHOWN:
            lines[-1] = "frequencies [Hz], which carry neither mass nor inertia in this frame"
            rows = self.frequencies / (2 * np.pi)
            lines += ["".join(f"{each:14.6g}" for each in rows[k : k + 6]) for k in range(0, len(rows), 6)]
            return "\n".join(lines)
        for frequency, parts in zip(self.frequencies / (2 * np.pi), self.effective_mass, strict=True):
            lines.append(f"{frequency:14.6g}   " + " ".join(f"{100 * part:5.1f}%" for part in parts))
        return "\n".join(lines)

    def __repr__(self) -> str:
        names = ", ".join(self.interfaces) or "none"
        return f"{type(self).__name__}({self.data.elastic_count} coordinates, interfaces {names})"


def _body_of_mesh(
    mesh: ElementMesh,
    materials: ElementMaterials,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    folder: Folder,
) -> tuple[FloatingBody, StoredShapes]:
    """Return the arrays of a floating body (moving frame plus displacement shapes) made from a plane or solid
    ``mesh``, and its shapes with their data. The shapes are read from the cache ``folder`` if the arguments are
    the same, or computed by ``condense`` and stored there. ``materials`` are the elements' elastic constants,
    ``interfaces`` the loaded regions, ``choice`` the user's options."""
    d = mesh.dimension
    nodal_mass, unknowns = mass_matrix(mesh, materials), mesh_unknowns(mesh.nodes, d, d)
    is_linear = choice.strain is MeshStrain.LINEAR

    def make() -> StoredShapes:
        mass = sparse.csr_array(sparse.kron(nodal_mass, sparse.eye_array(d)))
        second_order = partial(derivative_loads, mesh, materials, unknowns, interfaces)
        model = condense(mass, stiffness_matrix(mesh, materials), unknowns, interfaces, choice, second_order)
        if is_linear:
            return StoredShapes.of(model)
        fields = unknowns.vectors(model.shapes, mesh.node_count)[:, :d]
        return StoredShapes.of(model, geometric_stiffness(mesh, materials, fields))

    stored = folder.load_or_make((mesh, materials, interfaces, choice), make)
    frequencies, shapes = stored.frequencies, unknowns.vectors(stored.shapes, mesh.node_count)
    strain = linear_strain(frequencies) if is_linear else condensed_strain(frequencies, stored.geometric)
    moments, damping = mesh_moments(nodal_mass, mesh.nodes, shapes), choice.damping(frequencies)
    points = MeshPoints(shapes, interface_motion(interfaces, stored.displacements, stored.rotations), mesh)
    viscoelasticity = materials.viscosity, materials.relaxation
    return retained_body(d, mesh.nodes, moments, strain, damping, *viscoelasticity, points), stored


def _check_thin_triangles(mesh: UserMesh, theory: PlateTheory | str | None) -> None:
    """Raise ``ParameterError`` unless a plate with the option ``element="hhj"`` has the Kirchhoff ``theory`` and a
    ``mesh`` of straight triangles."""
    chosen = None if theory is None else option("theory", theory, PlateTheory)
    if chosen is not PlateTheory.KIRCHHOFF:
        shown = None if chosen is None else chosen.value
        raise ParameterError(f'element="hhj" is for thin plates: theory must be "kirchhoff", got {shown!r}')
    if mesh.kind is not CellKind.TRIANGLE or mesh.geometry_order > 1:
        raise ParameterError(
            'element="hhj" needs straight triangles, this mesh has '
            + ("curved ones" if mesh.kind is CellKind.TRIANGLE else f"{mesh.kind.value}s")
        )


def _checked_order(order: int) -> int:
    """Return the polynomial order of displacement elements that a user passed, unchanged; raise ``ParameterError``
    unless it is 1 or 2."""
    if whole("order", order) > 2:
        raise ParameterError(f"order must be 1 or 2, got {order!r}")
    return order


def _checked_thickness(thickness: float | None, dimension: int) -> float:
    """Return the ``thickness`` [m] that a user passed for a plane mesh, or 1.0 for a solid mesh. Raise
    ``ParameterError`` if it is missing or not positive for a plane mesh (``dimension`` 2), or given for a solid
    (3)."""
    if dimension == 3:
        if thickness is not None:
            raise ParameterError(f"thickness is that of a plane mesh; this mesh is solid, got {thickness!r}")
        return 1.0
    if thickness is None:
        raise ParameterError("thickness of a plane mesh is needed [m]")
    return positive("thickness", thickness)


def _vector_text(values: Array) -> str:
    """Return a vector (``values``) as text with five significant digits, such as "(1, 0.5, 0)", for the
    summary of a body."""
    return "(" + ", ".join(f"{value:.5g}" for value in values) + ")"
