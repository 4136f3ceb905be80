"""A geometrically exact rod: rigid sections with elastic elements between them (docs/theory.md, 8)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Count,
    Positive,
    convert_fields,
    line_plane_or_space,
    option_of,
    set_fields,
    vector,
)
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.absolute_body import Field, initial_nodes
from phlexible.bodies.beam.mesh import Theory, moments_at, stiffness_at
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import (
    Along,
    Cut,
    End,
    Location,
    MaterialPoint,
    MaterialPoints,
    MaterialPosition,
    Origin,
    Start,
)
from phlexible.bodies.material import Material, WithSections, check_material, relative_relaxation, section_along
from phlexible.bodies.skin import Skin, tube_skin
from phlexible.elements.line_functions import (
    gauss,
    line_slopes,
    line_values,
)
from phlexible.elements.maxwell import Maxwell
from phlexible.elements.sections import (
    AnySection,
    Section,
    UniformSection,
    VaryingSection,
)
from phlexible.errors import AttachmentError, ParameterError
from phlexible.leaves import leaf_function
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.shapes.surfaces import Color, outline_of

# A rigid cross-section of a rod, with the mass of the length around it.

LAP = 0.1
"""Overlap of drawn pieces with their neighbours, relative to the thickness, which closes bends up to 0.4 rad."""


@dataclass(frozen=True)
class RodNode(Body):
    """A rigid cross-section of a ``Rod``, which carries the mass of the rod around it. Local x is along the rod, y
    and z are the section's axes.

    Attributes:
        section, material: as of the rod.
        weight: length of the rod whose mass it carries [m].
        before, after: extent along -x and x of the piece of the rod that moves with it [m].
        color: in pictures.
    """

    section: UniformSection
    material: Material | None
    weight: float
    before: float
    after: float
    color: str | None = field(default=None, kw_only=True)

    @property
    def length(self) -> float:
        """Length of the part of the rod that moves rigidly with this cross-section, the lengths before and after it
        [m]."""
        return self.before + self.after

    @property
    def elements(self) -> int:
        """Number of elements of the rigid part of the rod around this cross-section: always 1."""
        return 1

    def discretize(self, dimension: int) -> FloatingBody:
        """Return one rigid part of a rod as a ``FloatingBody`` (arrays of a body with a moving frame) without
        elastic coordinates. Its mass and moments are those of the cross-section per length, times the length that
        this node represents. Moments with axes outside of the model's ``dimension`` (1, 2 or 3) are zero. On a
        line the body does not rotate."""
        line_plane_or_space(dimension)
        moments = self.weight * moments_at(self.section, self.material, np.zeros(1))[0]
        moments[dimension:], moments[:, dimension:] = 0.0, 0.0
        second_moments = np.zeros((3, 3))
        second_moments[1:, 1:] = moments[1:, 1:]
        return FloatingBody(
            dimension=dimension,
            mass=float(moments[0, 0]),
            first_moments=np.array([0.0, *moments[0, 1:]])[:, None],
            second_moments=second_moments[:, :, None, None],
            rotates=dimension > 1,
            points=RodPoints(self.before, self.after, dimension),
            size=self.length,
        )

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface that pictures draw for one rigid part of a rod: a straight tube with the outline of
        its cross-section. At ends where a neighbour continues, the tube is longer by a tenth of the section's
        width, so that bends have no gaps. ``data`` and ``ports`` are not used."""
        outline = outline_of(self.section)
        lap = LAP * float(np.ptp(outline.corners, axis=0).max())
        ends = [-self.before - lap * (self.before > 0), self.after + lap * (self.after > 0)]
        positions = np.array([[x, 0.0, 0.0] for x in ends])
        return tube_skin(positions, np.zeros((2, 3, 0)), np.zeros((2, 3, 0)), [outline, outline])


@dataclass(frozen=True, eq=False)
class RodPoints(MaterialPoints):
    """Material points of the rigid piece of a rod around one section, from ``-before`` to ``after`` along local x
    [m].
    """

    before: float
    after: float
    dimension: int

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of one rigid part of a rod at a ``location``. This is its node (origin),
        start, end, a distance from its start, or coordinates from the node. Start and end are half an element away
        from the node; at an end of the rod one coincides with it. Positions outside of the part are accepted.
        Raise ``AttachmentError`` for z other than 0 in the plane."""
        match location:
            case Origin():
                position = np.zeros(3)
            case Start() | Cut(at_end=False):
                position = np.array([-self.before, 0.0, 0.0])
            case End() | Cut():
                position = np.array([self.after, 0.0, 0.0])
            case Along(x):
                position = np.array([x - self.before, 0.0, 0.0])
            case MaterialPosition(coordinates):
                position = vector("position", coordinates)
        if self.dimension == 2 and position[2] != 0:
            raise AttachmentError(f"position must have z = 0 in dimension 2, got {position.tolist()}")
        return MaterialPoint(position, np.zeros((3, 0)), np.zeros((3, 0)))

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return the line that pictures draw for this rigid part of a rod, from one of its ends to the other,
        shape (2, 3) [m]. Its displacements per elastic coordinate, the second result, are empty. ``count`` is
        not used."""
        return np.array([[-self.before, 0.0, 0.0], [self.after, 0.0, 0.0]]), np.zeros((2, 3, 0))


ROUND_OFF = 1e-9
ELEMENT_MEMORY = 100e3
"""Memory of one element in a run [bytes]."""
END_WEIGHTS = np.array([-1 / 8, 1 / 6, -1 / 24])
"""Corrections of the trapezoidal rule at each end (Gregory's rule), exact for cubic polynomials."""


class StressFree(StrEnum):
    """Choice of the configuration in which a rod stores no energy: the shape in which it is placed, or straight."""

    SHAPE = "shape"
    STRAIGHT = "straight"


@dataclass(frozen=True)
class ElementShape:
    """Nodes of one finite element of a rod, and its shape functions at g quadrature points.

    Attributes:
        nodes: indices of its two or three nodes.
        positions: positions of the quadrature points along the rod, shape (g,) [m].
        measures: their quadrature weights, shape (g,) [m].
        values: shape functions there, shape (g, nodes).
        slopes: their derivatives along the rod, shape (g, nodes) [1/m].
    """

    nodes: tuple[int, ...]
    positions: Array
    measures: Array
    values: Array
    slopes: Array


@dataclass(frozen=True)
class Rod(WithSections):
    """A slender body with arbitrarily large stretch, shear, bending and twist (Simo and Reissner), made of rigid
    cross-sections with elastic elements between them.

    ``model.add(rod, "rod", shape=curve)`` places it straight along x or along a curve. Strains are exact for any
    displacement and rotation; neighbouring sections should rotate by less than 0.2 rad against each other (0.5 rad
    with ``order=2``), since elements grow soft in bending: by 2.7 % there (1.2 %).

    Attributes:
        length: along the stress-free axis [m].
        section: as of ``Beam``: axes along local y and z. A ``Section`` without shear areas shears with its whole
            area: a slender rod then bends as if it did not shear at all.
        material: elasticity, density, viscosity; of a ``GeneralSection``, which has its own, None.
        elements: equal finite elements, at least 1.
        order: 1: two nodes an element; 2: three nodes, for smooth motions the more accurate choice.
        stress_free: ``"shape"``: the rod stores no energy in the shape in which it is placed; ``"straight"``: it
            would be straight, and is bent when it is placed along a curve.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a parameter is outside its range or no option, or parameters that contradict each other.

    Example:
        >>> spoke = ph.Rod(1.0, ph.CircularSection(0.01), ph.Material(2e9, 1200.0), elements=8)
        >>> model = ph.Model()
        >>> placed = model.add(spoke, "spoke", position=(0, 0, 1))
        >>> placed.end.initial_position().round(9) + 0.0
        array([1., 0., 1.])
    """

    length: Positive
    section: AnySection | Callable[[float], UniformSection]
    material: Material | None = None
    elements: Count = 16
    order: Count = 1
    stress_free: Annotated[StressFree | Literal["shape", "straight"], option_of(StressFree)] = StressFree.SHAPE
    color: Color = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (two nodes an element) or 2 (three nodes), got {self.order!r}")
        set_fields(self, section=section_along(self.section, self.length, self.elements))
        check_material(self._section, self.material, self.length)

    @property
    def relaxation(self) -> Maxwell | None:
        """Maxwell branches (spring and dashpot in series) of this rod's material or sections, with stiffnesses
        relative to the elastic stiffness; None without relaxation."""
        return relative_relaxation(self.material, self._sections)

    @property
    def node_positions(self) -> Array:
        """Undeformed positions of the N nodes along this rod, from 0 to its length, equally spaced, shape (N,)
        [m]."""
        return np.linspace(0.0, self.length, self.elements * self.order + 1)

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of finite elements of this rod and the estimated memory [bytes] of a simulation with
        it, proportional to elements times order. ``dimension`` is not used."""
        return self.elements, ELEMENT_MEMORY * self.elements * self.order

    def nodes(self) -> tuple[RodNode, ...]:
        """Rigid cross-sections (bodies) of which this rod consists, one for each node from start to end. The
        length between two nodes is divided between their cross-sections in halves. Equal cross-sections are one
        object. Elastic elements connect them."""
        positions, weights = self.node_positions, self._node_weights
        half = np.full(len(positions) - 1, 0.5 * self.length / (len(positions) - 1))
        before, after = np.concatenate([[0.0], half]), np.concatenate([half, [0.0]])
        cached: dict[tuple[int, float, float, float], RodNode] = {}  # equal ones share their numbers
        nodes = []
        numbers = zip(weights.tolist(), before.tolist(), after.tolist(), strict=True)
        for section, lengths in zip(self.sections_at(positions), numbers, strict=True):
            key = (id(section), *lengths)
            if key not in cached:
                cached[key] = RodNode(section, self.material, *lengths, color=self.color)
            nodes.append(cached[key])
        return tuple(nodes)

    def element_shape(self, number: int) -> ElementShape:
        """Return nodes, quadrature points, weights and shape functions of one finite element of this rod, with the
        index ``number`` from 0 at the start. The quadrature points are positions along the rod [m]."""
        size, order = self.length / self.elements, self.order
        points, weights, values, slopes = self._quadrature
        nodes = tuple(range(order * number, order * (number + 1) + 1))
        return ElementShape(nodes, size * (number + points), size * weights, values, slopes)

    @cached_property
    def _quadrature(self) -> tuple[Array, Array, Array, Array]:
        """Gauss points (g,) between 0 and 1 and weights (g,) with sum 1 of an element of this rod, with its shape
        functions there. These are values (g, order + 1) and derivatives with respect to arc length (g, order + 1)
        [1/m]. There are g = 1 or 2 points, equal to the order."""
        size, (points, weights) = self.length / self.elements, gauss(self.order)
        return points, weights, line_values(self.order, points), line_slopes(self.order, points, size)

    def element_shapes(self) -> tuple[ElementShape, ...]:
        """Return nodes, quadrature points and shape functions of all finite elements of this rod, from start to
        end."""
        return tuple(self.element_shape(number) for number in range(self.elements))

    @property
    def mass(self) -> float:
        """Total mass of this rod [kg]: the sum over its nodes of the length that each represents times the mass per
        length there."""
        return float(self._node_weights @ moments_at(self._section, self.material, self.node_positions)[:, 0, 0])

    def port_hamiltonian(
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
        angular_velocity: ArrayLike | None = None,
        start: str = "force",
        end: str = "force",
    ) -> PortHamiltonianModel:
        """Return the port-Hamiltonian state-space model of this rod alone, without a mechanism, with strains as
        states. ``start`` and ``end`` are each "force" (prescribed force and moment) or "fixed" (clamped).
        ``shape``, ``velocity`` and ``angular_velocity`` are the initial values; without them the rod is straight
        along x and at rest. ``gravity`` (3,) is the acceleration [m/s^2] in world axes, ``dimension`` the number of
        space dimensions: 1 (along x), 2 or 3.

        Args:
            dimension: 1 (along x), 2 or 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity, angular_velocity: at t = 0, as in ``model.add``; None: straight along x, at rest.
            start, end: "force": prescribed force and moment; "fixed": clamped.

        Raises:
            ParameterError: no such option, a shape that the rod cannot have, or numbers out of the line or plane.
        """
        motion = shape, velocity, angular_velocity
        form: PortHamiltonianModel = leaf_function("rod_form")(self, dimension, gravity, *motion, (start, end))
        return form

    def stiffness_at(self, x: Array) -> Array:
        """Return the stiffness matrices of the cross-sections of this rod, with shear (Timoshenko), at positions x
        (k,) [m], shape (k, 6, 6). They map strains to section forces (N, Q_y, Q_z, M_x, M_y, M_z). Without shear
        areas of the user, the whole area is used."""
        return stiffness_at(_shear_sections(self._section), self.material, Theory.TIMOSHENKO, x)

    @property
    def _node_weights(self) -> Array:
        """Integration weights [m] of the N nodes of this rod along its length, shape (N,); their sum is the
        length. For order 2 they are the weights of Simpson's rule, with two nodes for each element. For order 1
        they are those of the trapezoidal rule, with end corrections at three nodes of each end if there are
        several elements.

        Half masses at free ends would make the moment of inertia of a rod too large by 2 / elements^2.
        """
        if self.order == 2:
            share = self.length / self.elements / 6
            return share * np.concatenate([[1.0], np.tile([4.0, 2.0], self.elements)[:-1], [1.0]])
        weights = np.ones(self.elements + 1)
        weights[[0, -1]] = 0.5
        if self.elements > 1:
            weights[:3] += END_WEIGHTS
            weights[-3:] += END_WEIGHTS[::-1]
        return weights * self.length / self.elements


def _shear_sections(section: AnySection) -> AnySection:
    """Return a cross-section, uniform or varying, for a rod, which always has elastic shear. Each section without
    a shear area along y gets its whole area as that shear area, in a copy; others are unchanged."""
    if isinstance(section, VaryingSection):
        sheared = tuple(_with_shear_areas(part) for part in section.sections)
        return VaryingSection(section.stations, sheared, section.breaks)
    return _with_shear_areas(section)


def _with_shear_areas(section: UniformSection) -> UniformSection:
    """Return a uniform cross-section with a shear area along y for a rod, in which shear is always elastic. If the
    user gave none, return a copy in which it is the whole area; the shear area along z is not changed. Sections
    with it, and sections given by matrices, are returned unchanged."""
    if not isinstance(section, Section) or section.shear_area_y is not None:
        return section
    return replace(section, shear_area_y=section.area)


# Positions and orientations of the sections of a rod along a curve.

STEP = 1e-5  # of the length, for differences along a curve
LENGTH_TOLERANCE = 2e-3
LARGEST_ROTATION, LARGEST_ACCURATE_ROTATION = 0.75, {1: 0.2, 2: 0.5}  # between neighbours [rad], of each order


@dataclass(frozen=True, eq=False)
class RodPose:
    """Positions (N, 3) [m] and body-to-world rotations (N, 3, 3) of the N sections of a rod at t = 0."""

    positions: Array
    rotations: Array


def rod_pose(rod: Rod, name: str, dimension: int, shape: Field | None, position: Array, rotation: Array) -> RodPose:
    """Return the world positions (N, 3) and rotation matrices (N, 3, 3) of the N cross-sections of a rod along a
    user's curve ``shape`` (None: along x). Local x axes are tangents of the curve; y and z rotate as little as
    possible, from the x axis to the first tangent and from node to node. All are then rotated by ``rotation`` and
    moved by ``position``. Raise ``ParameterError`` for a wrong length, zero tangents or too much bending between
    nodes.

    Args:
        rod: the description.
        name: for messages.
        dimension: 2 or 3.
        shape: a function of s that returns a position, two end points, or nodes (N, 3); None: along x.
        position, rotation: of the whole; where the curve is along x, y and z are those of ``rotation``.

    Raises:
        ParameterError: a shape of a wrong form, out of the plane, of another length than the rod, or that rotates
            by more than 0.75 rad between two neighbouring sections.
    """
    positions = rod.node_positions
    local = initial_nodes(positions, dimension, shape, None, np.zeros(3), np.eye(3)).positions
    tangents = _curve_tangents(positions, shape, local, dimension)
    stretch = np.linalg.norm(tangents, axis=1)
    if stretch.min() < 1e-3:
        raise ParameterError(f"{name}: shape must not stop along s; near s = {positions[stretch.argmin()]:g} m")
    tangents /= stretch[:, None]
    rotations = np.arccos(np.clip((tangents[:-1] * tangents[1:]).sum(axis=1), -1.0, 1.0))
    _check_rotations(name, rod.order, float(rotations.max()))
    if rod.stress_free is StressFree.SHAPE:
        distances = np.linalg.norm(np.diff(local, axis=0), axis=1)
        length = float((distances / np.sinc(rotations / (2 * np.pi))).sum())  # sinc(t / pi) = sin(t) / t
        if abs(length - rod.length) > LENGTH_TOLERANCE * rod.length:
            raise ParameterError(
                f"{name}: shape is {length:.6g} m long and the rod {rod.length:.6g} m; give"
                f" Rod(length={length:.6g}), or a shape as a function of the length s along it"
            )
    triads = np.empty((len(positions), 3, 3))
    triads[0] = _least_rotation(np.array([1.0, 0.0, 0.0]), tangents[0])
    for k in range(1, len(positions)):
        triads[k] = _least_rotation(tangents[k - 1], tangents[k]) @ triads[k - 1]
        triads[k, :, 0] = tangents[k]
        triads[k, :, 1] -= tangents[k] * (tangents[k] @ triads[k, :, 1])
        triads[k, :, 1] /= np.linalg.norm(triads[k, :, 1])
        triads[k, :, 2] = np.cross(triads[k, :, 0], triads[k, :, 1])
    return RodPose(position + local @ rotation.T, rotation @ triads)


def derivatives_along(positions: Array, values: Array) -> Array:
    """Return the derivatives d/ds of values (N, 3) that are known at ``positions`` s (N,), by second-order finite
    differences, shape (N, 3). For two positions, their difference quotient is returned twice."""
    slopes = np.gradient(values, positions, axis=0, edge_order=2) if len(positions) > 2 else None
    return np.asarray(np.tile(np.diff(values, axis=0) / np.diff(positions), (2, 1)) if slopes is None else slopes)


def excess_bending(order: int, rotation: float, is_curved: bool) -> float:
    """Return the relative error of the bending or torsion of a rod by a given moment (docs/theory.md, 8). Elements
    of this ``order`` are too soft where neighbouring sections are at an angle ``rotation`` [rad], and softer where
    the angle is without stress, in a rod that ``is_curved``."""
    return rotation**2 * (1 if is_curved else 2 / 3) if order == 1 else rotation**4 / (3 if is_curved else 5)


def _check_rotations(name: str, order: int, rotation: float) -> None:
    """Raise ``ParameterError`` if ``rotation``, the largest angle [rad] between neighbouring cross-sections of the
    rod called ``name`` with elements of this ``order``, is above 0.75 rad."""
    if rotation > LARGEST_ROTATION:
        raise ParameterError(
            f"{name}: neighbouring sections of this shape rotate by {rotation:.3g} rad against each other, where"
            f" elements work up to {LARGEST_ROTATION:g} and are accurate up to"
            f" {LARGEST_ACCURATE_ROTATION[order]:g}; take more elements, and join two rods with Fixed at a corner"
        )


def _curve_tangents(positions: Array, shape: Field | None, local: Array, dimension: int) -> Array:
    """Return the tangents dx/ds of a rod's curve at its N nodes, shape (N, 3). For a user's function ``shape`` of
    arc length s [m], they are second-order finite differences of the function, one-sided at the ends. Otherwise
    they are finite differences of the node positions ``local`` (N, 3). ``positions`` (N,) are the arc lengths of
    the nodes [m]."""
    if not callable(shape):
        return derivatives_along(positions, local)
    step = STEP * positions[-1]
    middle = np.clip(positions, step, positions[-1] - step)

    def at(offset: float) -> Array:
        return initial_nodes(middle + offset, dimension, shape, None, np.zeros(3), np.eye(3)).positions

    before, here, after = at(-step), at(0.0), at(step)
    slope, bend = (after - before) / (2 * step), (after - 2 * here + before) / step**2
    return np.asarray(slope + bend * (positions - middle)[:, None])


def _least_rotation(a: Array, b: Array) -> Array:
    """Return the rotation matrix (3, 3) of the smallest angle that rotates the unit vector a into the unit vector
    b, by Rodrigues' formula. For opposite vectors it rotates by pi about an axis normal to both."""
    axis, cosine = np.cross(a, b), float(np.dot(a, b))
    if cosine < -1 + 1e-12:
        helper = np.array([0.0, 0.0, 1.0]) if abs(a[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        normal = helper - np.dot(helper, a) * a
        normal /= np.linalg.norm(normal)
        return np.asarray(2 * np.outer(normal, normal) - np.eye(3))
    skew = cross_matrix(axis)
    return np.asarray(np.eye(3) + skew + skew @ skew / (1 + cosine))
