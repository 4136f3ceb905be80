"""The joints, by the motions that each leaves free (docs/theory.md, 8)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, called, check_callable, positive, set_fields, unit_vector
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.portable import Portable
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.force_elements import SpringDamper
from phlexible.description.interactions.functions import (
    AXES,
    WORLD_AXES,
    AngleCoordinate,
    Bilinear,
    BilinearTerm,
    Coordinate,
    DirectionOf,
    PointOf,
    Vector,
    VectorSum,
    angle_about,
    as_sum,
    between,
    coincident_points,
    constant_distance,
    dot_term,
    locked_rotation,
    offset_along_axis,
    perpendicular,
    perpendicular_axes,
    position_along,
    receive,
)
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, Port
from phlexible.description.time_functions import ScalarFunction, Timed, TimeFactor, TimePath
from phlexible.errors import DirectionWarning, ModelError, ParameterError, warn_user

IN_PLANE = 1e-6
ON_EDGE = 1e-9  # of the size of the edge
"""Share by which nodes and directors of a symmetric edge may leave their plane."""


# Base class of joints with an axis: the axis and the two directions across it.


@dataclass(frozen=True, eq=False, repr=False)
class AxialJoint(Joint):
    """Base class of joints with an axis that is fixed in the body of the first port.

    Attributes:
        axis: world axes at the initial pose, fixed in the first port's body, shape (3,).
    """

    axis: ArrayLike = field(default=(1.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        self.unit_axis()
        super().__post_init__()

    @cached_on_owner
    def unit_axis(self) -> Array:
        """Return the axis of a joint divided by its length, a unit vector in world axes at the initial pose, shape
        (3,). It is cached."""
        return unit_vector("axis", self.axis)

    @cached_on_owner
    def triad(self) -> tuple[Array, Array]:
        """Return two unit vectors perpendicular to a joint's axis and to each other, shape (3,) each, in world
        axes at the initial pose. They are computed by ``perpendicular_axes`` and cached."""
        return perpendicular_axes(self.unit_axis())

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the single coordinate of a joint that slides along its axis, as a tuple of one: the position of
        the second point relative to the first, along the axis [m]. Joints with other coordinates override this
        default. ``dimension`` is not used."""
        return (position_along(self.first, self.second, self.unit_axis()),)

    def perpendicular_directions(self, dimension: int) -> tuple[Array, ...]:
        """Return the unit directions perpendicular to a joint's axis, in world axes at the initial pose, shape
        (3,) each: two in space, one in the plane, none on a line. ``dimension`` is the number of space dimensions
        of the model (1, 2 or 3). ParameterError is raised for an axis with components outside of the plane or
        line.

        Raises:
            ParameterError: an axis that leaves the plane of a planar model, or is not along the line.
        """
        axis = self.unit_axis()
        if axis[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"axis of {self} must {where}, got {self.axis!r}")
        return self.triad()[: dimension - 1]


# Cylindrical joint: translation along an axis and rotation about it (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Cylindrical(AxialJoint):
    """Joint in which the second port slides along an axis and rotates about it.

    Raises:
        ModelError: a port without orientation, or a model in the plane.

    Example:
        >>> model = ph.Model()
        >>> body = ph.RigidBody(1.0, (0.1, 0.1, 0.1))
        >>> sleeve = model.add(body, "sleeve", velocity=(0.2, 0, 0), angular_velocity=(3, 0, 0))
        >>> slide = model.connect(ph.Cylindrical(model.ground.at((0, 0, 0)), sleeve.origin, axis=(1, 0, 0)))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> [round(float(motion[ph.JointPosition(slide, k)][-1]), 3) for k in (0, 1)]  # position [m], angle [rad]
        [0.2, 3.0]
    """

    coordinate_names = ("position", "angle")

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the four constraint functions of a cylindrical joint: two keep the second point on the axis
        through the first, two keep the axes parallel (docs/theory.md, 8, (8.8), (8.9)). ModelError is raised for
        ``dimension`` 2 (a planar model) and for points without an orientation."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Prismatic or Slider")
        self._need_orientation()
        return cylindrical_rows(self, self.perpendicular_directions(dimension))

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the two coordinates of a cylindrical joint: the position of the second point relative to the
        first along the axis [m], and the angle about the axis [rad]. ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3)."""
        axis = self.unit_axis()
        return (
            position_along(self.first, self.second, axis),
            angle_about(self.first, self.second, *self.triad(), dimension),
        )


def cylindrical_rows(joint: AxialJoint, across: tuple[Array, ...]) -> tuple[Bilinear, ...]:
    """Return the constraint functions of a joint whose second point slides along an axis: one for each direction
    in ``across`` that keeps the point on the axis, then one for each that keeps the axes of both bodies parallel.
    ``across`` are the unit directions perpendicular to the axis."""
    return points_on_axis(joint, across) + axes_parallel(joint, across)


def points_on_axis(joint: AxialJoint, across: tuple[Array, ...]) -> tuple[Bilinear, ...]:
    """Return the constraint functions that keep the second point of a joint on the axis through the first point.
    There is one for each direction in ``across``, perpendicular to the axis (docs/theory.md, 8, (8.9))."""
    return tuple(
        offset_along_axis(joint.first, joint.second, n, f"point across the axis, direction {k}")
        for k, n in enumerate(across, start=1)
    )


def axes_parallel(joint: AxialJoint, across: tuple[Array, ...], name: str = "axis") -> tuple[Bilinear, ...]:
    """Return the constraint functions that keep the joint axis, fixed in both bodies, parallel: the axis in the
    first body stays perpendicular to each direction of ``across``, fixed in the second (docs/theory.md, 8, (8.8)).
    ``name`` names the axis in labels of the constraints."""
    axis = joint.unit_axis()
    return tuple(
        perpendicular(joint.first, axis, joint.second, n, f"{name}, direction {k}")
        for k, n in enumerate(across, start=1)
    )


# Prismatic joint: one translation along an axis (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Prismatic(AxialJoint):
    """Joint in which the second port slides along an axis and keeps its orientation relative to the first.

    Raises:
        ModelError: a port without orientation.

    Example:
        >>> model = ph.Model()
        >>> cart = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1)), "cart")
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
        >>> drive = model.apply(rail.force(4.0))
        >>> round(float(model.simulate(1.0, step=1e-2)[ph.JointPosition(rail)][-1]), 9)  # F t^2 / (2 m)
        1.0
    """

    coordinate_names = ("position",)

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of this prismatic joint (sliding without rotation): offsets across the
        axis, and scalar products of axes for the rotations. They are five in space and two in the plane.
        ``dimension`` is the number of space dimensions of the model (1, 2 or 3). ModelError is raised for points
        without an orientation."""
        self._need_orientation()
        across = self.perpendicular_directions(dimension)
        if dimension == 2:
            return (
                offset_along_axis(self.first, self.second, across[0], "point across the axis"),
                perpendicular(self.first, AXES[0], self.second, AXES[1], "rotation z"),
            )
        locked = locked_rotation(self.first, self.second, across, "rotation about the axis")
        return (*cylindrical_rows(self, across), locked)


# Planar joint: a point in a plane, with the plane's normal in common (docs/theory.md, 8).

RIGHT_ANGLE = 1e-9  # cosine


@dataclass(frozen=True, eq=False, repr=False)
class Planar(AxialJoint):
    """Joint in which the second port stays in a plane through the first one; both share the normal of the plane
    (``axis``).

    Attributes:
        along: direction of the first position, at right angles to ``axis``, world axes at the initial pose, fixed
            in the first port's body, shape (3,); the second position is along ``axis`` x ``along``. None: any
            direction, which is then stored.

    Raises:
        ParameterError: ``along`` is not at right angles to ``axis``.
        ModelError: a port without orientation, or a model in the plane.

    Example:
        >>> model = ph.Model()
        >>> puck = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "puck", velocity=(1.0, 2.0, 0.0))
        >>> table = model.connect(ph.Planar(model.ground.at((0, 0, 0)), puck.origin, axis=(0, 0, 1)))
        >>> model.simulate(1.0, step=1e-1).position(puck.origin)[-1].round(9) + 0.0
        array([1., 2., 0.])
    """

    axis: ArrayLike = field(default=(0.0, 0.0, 1.0))
    along: ArrayLike | None = field(default=None)

    coordinate_names = ("position", "second position", "angle")

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = self.unit_axis()
        along = perpendicular_axes(normal)[0] if self.along is None else unit_vector("along", self.along)
        if abs(along @ normal) > RIGHT_ANGLE:
            raise ParameterError(
                f"along of {self} must be at right angles to its axis {self.axis!r}, got {self.along!r}"
                f" (cosine {along @ normal:.3g})"
            )
        set_fields(self, along=along)

    def perpendicular_directions(self, dimension: int) -> tuple[Array, ...]:
        """Return the two unit directions in the plane of a planar joint along which its positions are measured.
        They are in world axes at the initial pose, shape (3,) each. ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3)."""
        normal, along = self.unit_axis(), np.asarray(self.along, dtype=np.float64)
        second = np.cross(normal, along)
        second /= np.linalg.norm(second)
        return np.cross(second, normal), second

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the three constraint functions of a planar joint: one keeps the second point in the plane through
        the first, two keep the normals parallel (docs/theory.md, 8, (8.8), (8.9)). ModelError is raised for
        ``dimension`` 2 (a planar model) and for points without an orientation."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; a planar model is already in its plane")
        self._need_orientation()
        point = offset_along_axis(self.first, self.second, self.unit_axis(), "point along the normal")
        return (point, *axes_parallel(self, self.perpendicular_directions(dimension), "normal"))

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the three free coordinates of this planar joint as coordinate objects. Two are positions of the
        second point relative to the first along two axes of the plane, fixed to the first body [m]. The third is
        the angle of the second body about the normal [rad]. ``dimension`` is the number of space dimensions of the
        model (1, 2 or 3)."""
        one, two = self.perpendicular_directions(dimension)
        return (
            position_along(self.first, self.second, one),
            position_along(self.first, self.second, two, "second position"),
            angle_about(self.first, self.second, one, two, dimension),
        )


# Revolute joint: a common point and a common axis (docs/theory.md, 8).


ALONG_Z = (0.0, 0.0, 1.0)
"""Default axis."""
OFF_AXIS = 1e-6  # of the size of a body: distance of its centre of mass


@dataclass(frozen=True, eq=False, repr=False)
class Revolute(AxialJoint):
    """Joint with a common point and a common axis, which leaves one rotation free; in the plane a pin.

    Attributes:
        axis: world axes at the initial pose, fixed in the first port's body, shape (3,).

    Raises:
        ModelError: in space, a port without orientation.
        ParameterError: in the plane, an axis that is not along z.

    Example:
        >>> model = ph.Model(gravity=(0, -9.81, 0))
        >>> arm = model.add(ph.RigidBody(1.0, (0.01, 0.1, 0.1), center=(0.5, 0, 0)), "arm")
        >>> hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin, axis=(0, 0, 1)))
        >>> motor = model.apply(hinge.torque(0.5 * 9.81))  # balances the arm
        >>> round(float(np.ptp(model.simulate(1.0, step=1e-2)[ph.JointPosition(hinge)])), 9)
        0.0
    """

    axis: ArrayLike = field(default=ALONG_Z)

    coordinate_names = ("angle",)

    def warn_of_gravity(self, gravity: Array, dimension: int) -> None:
        """Warn (``DirectionWarning``) if the default axis z of a revolute joint in space is along ``gravity``,
        so that a body cannot fall. Nothing is warned of if the user gave the axis, or if both bodies have their
        centre of mass on the axis. At most one warning is given. ``dimension`` is the number of space
        dimensions."""
        if self.axis is not ALONG_Z or dimension < 3 or gravity[:2].any() or not gravity[2]:
            return
        point = self.first.initial_position()
        for port in (self.first, self.second):
            if isinstance(port, Attachment) and isinstance(port.placed.data, FloatingBody):
                placed, data = port.placed, port.placed.data
                center = placed.position + placed.rotation @ data.first_moments[:, 0] / data.mass
                if np.linalg.norm((center - point)[:2]) > OFF_AXIS * data.size:
                    warn_user(
                        f"{self} rotates about z, its default axis, which is the direction of gravity, so that"
                        f" {placed.name} does not fall; pass axis=(0, 1, 0), or axis=(0, 0, 1) if this is intended",
                        DirectionWarning,
                    )
                    return

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a revolute joint (docs/theory.md, 8, (8.7), (8.8)): three that keep
        both points coincident and two that keep the axes parallel in space, two for the points in the plane, one
        on a line. ``dimension`` is the number of space dimensions of the model (1, 2 or 3). In the plane
        ParameterError is raised unless the axis is along z."""
        points, axis = coincident_points(self.first, self.second, dimension), self.unit_axis()
        if dimension == 1:
            return points
        if dimension == 2:
            if axis[:2].any():
                raise ParameterError(f"axis of {self} must be along z in a planar model, got {self.axis!r}")
            return points
        self._need_orientation()
        return points + axes_parallel(self, self.triad())

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the single coordinate of a revolute joint, as a tuple of one: the angle of the second body
        relative to the first about the axis [rad]. In the plane the angle is about z, or about -z if the axis
        points downwards. ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        self._need_orientation()
        return (angle_about(self.first, self.second, *self.triad(), dimension),)


# Slider: a point on a line (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Slider(AxialJoint):
    """Joint in which the second port stays on a line through the first one along an axis; all rotations are free.

    Raises:
        ModelError: the first port has no orientation.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bead = model.add(ph.PointMass(1.0), "bead")
        >>> wire = model.connect(ph.Slider(model.ground.at((0, 0, 0)), bead.origin, axis=(1, 0, -1)))
        >>> print(round(model.simulate(1.0, step=1e-2).position(bead.origin)[-1, 2], 9))  # -g t^2 / 4
        -2.4525
    """

    coordinate_names = ("position",)

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a slider joint, which keep the second point on the axis through the
        first point: two in space, one in the plane (docs/theory.md, 8, (8.9)). The axis rotates with the first
        body; rotation is free. ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        self._need_orientation(self.first)
        return points_on_axis(self, self.perpendicular_directions(dimension))


# Spherical joint: a common point (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Spherical(Joint):
    """Joint with a common point, which leaves all rotations free; in the plane like ``Revolute``.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bob = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0, 0, -0.5)), "bob")
        >>> pivot = model.connect(ph.Spherical(model.ground.at((0, 0, 0)), bob.origin))
        >>> model.equilibrium().reaction(pivot).round(9) + 0.0
        array([0.  , 0.  , 9.81])
    """

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a spherical joint, which keep both points coincident: three in space,
        two in the plane, one on a line (docs/theory.md, 8, (8.7)). ``dimension`` is the number of space dimensions
        of the model (1, 2 or 3)."""
        return coincident_points(self.first, self.second, dimension)


# Universal joint: a common point and two axes that stay perpendicular (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Universal(Joint):
    """Joint with a common point in which an axis of each port stays perpendicular to that of the other.

    Attributes:
        axis: fixed in the first port's body, world axes at the initial pose, shape (3,).
        second_axis: fixed in the second port's body, perpendicular to ``axis``, shape (3,).

    Raises:
        ParameterError: axes that are not perpendicular.
        ModelError: a port without orientation, or a model in the plane.

    Example:
        >>> model = ph.Model()
        >>> one, other = (model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), name) for name in ("one", "other"))
        >>> axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), one.origin, axis=(1, 0, 0)))
        >>> cross = model.connect(ph.Universal(one.origin, other.origin, axis=(0, 1, 0), second_axis=(0, 0, 1)))
        >>> cross
        Universal(one.origin, other.origin)
    """

    axis: ArrayLike = field(default=(1.0, 0.0, 0.0))
    second_axis: ArrayLike = field(default=(0.0, 1.0, 0.0))

    coordinate_names = ("angle", "second angle")

    def __post_init__(self) -> None:
        self.unit_axes()
        super().__post_init__()

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the four constraint functions of this universal joint. Three are the components of the distance
        of both points; the fourth is the scalar product of its two axes, one fixed to each body, so that these
        stay perpendicular. ModelError is raised for ``dimension`` 2 (a planar model) and for points without an
        orientation."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Revolute")
        self._need_orientation()
        first, second = self.unit_axes()
        points = coincident_points(self.first, self.second, dimension)
        return (*points, perpendicular(self.first, first, self.second, second, "angle between the axes"))

    def unit_axes(self) -> tuple[Array, Array]:
        """Return both axes of this universal joint as perpendicular unit vectors in world axes at the initial
        pose, shape (3,) each. ParameterError is raised if the absolute cosine of their angle exceeds 1e-12. A
        smaller component along the first axis is removed from the second."""
        first = unit_vector("axis", self.axis)
        second = unit_vector("second_axis", self.second_axis)
        if abs(first @ second) > 1e-12:
            raise ParameterError(
                f"axis and second_axis of a Universal must be perpendicular, got {self.axis!r}"
                f" and {self.second_axis!r} (cosine {first @ second:.3g})"
            )
        return first, second - (first @ second) * first

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the two coordinates of a universal joint [rad]: the angle of the second axis about the first
        axis, and the angle of the second body about the second axis. ``dimension`` is not used.

        With e1, e2 the axes at the initial pose and e3 = e1 x e2: first cosine a2 . b2 and sine a3 . b2,
        second cosine a1 . b1 and sine a1 . b3.
        """
        one, two = self.unit_axes()
        three = np.cross(one, two)
        cosine = dot_term(DirectionOf(self.first, one), DirectionOf(self.second, one))
        sine = dot_term(DirectionOf(self.first, one), DirectionOf(self.second, three))
        b2 = DirectionOf(self.second, two)
        return (
            AngleCoordinate(
                "angle",
                (dot_term(DirectionOf(self.first, two), b2),),
                (dot_term(DirectionOf(self.first, three), b2),),
            ),
            AngleCoordinate("second angle", (cosine,), (sine,)),
        )


# Fixed joint: a common point and a common orientation (docs/theory.md, 8).


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Joint):
    """Joint with a common point in which both ports keep the relative orientation of the initial pose.

    On a rigid edge of a shell it holds each node and director, a clamp; on a hinged one each node; both have to be
    where the other port is. On a symmetric edge it holds each node and director in their plane, wherever the other
    port is.

    Raises:
        ModelError: a port without orientation, or a symmetric edge that lies in no plane.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bob = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0.5, 0, 0)), "bob")
        >>> clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), bob.origin))
        >>> model.equilibrium().reaction_moment(clamp).round(9) + 0.0
        array([ 0.   , -4.905,  0.   ])
    """

    fixes_nodes = True

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a fixed joint: three for coincident points and three for the relative
        rotation in space, two and one in the plane, one on a line. They are (8.7) and (8.8) in docs/theory.md, 8.
        If one side is a rigid, hinged or symmetric edge of a shell, constraints of each of its nodes are returned
        instead. ``dimension`` is that of the model (1, 2 or 3)."""
        for edge, other in ((self.first, self.second), (self.second, self.first)):
            if isinstance(edge, Attachment) and edge.point.fixed_nodes:
                self._need_orientation(other)
                nodewise = symmetry_constraints if edge.point.stays_in_plane else fixed_node_constraints
                return tuple(nodewise(edge, other))
        points = coincident_points(self.first, self.second, dimension)
        if dimension == 1:
            return points
        self._need_orientation()
        if dimension == 2:
            return (*points, perpendicular(self.first, AXES[0], self.second, AXES[1], "rotation z"))
        return points + tuple(
            locked_rotation(self.first, self.second, (AXES[i], AXES[j]), f"rotation {'xyz'[3 - i - j]}")
            for i, j in ((0, 1), (1, 2), (2, 0))
        )


def fixed_node_constraints(edge: Attachment, other: Port) -> Iterator[Bilinear]:
    """Yield the constraint functions that fix the nodes of a shell's ``edge`` relative to the point ``other``,
    three for each node. On a rigid edge each director (vector along the thickness) also keeps its direction, by
    two more for each director; on a hinged edge not. ``other`` has to be in the convex hull of the edge's nodes,
    else the functions are not zero initially."""
    from scipy.optimize import nnls  # here: it takes long to import

    nodes = [edge.placed.node(number) for number in edge.point.fixed_nodes]
    positions, center = np.array([node.initial_position() for node in nodes]), other.initial_position()
    weighed = np.vstack([(positions - center).T / (np.ptp(positions) or 1.0), np.ones(len(nodes))])
    if nnls(weighed, np.array([0.0, 0.0, 0.0, 1.0]))[1] > ON_EDGE:  # no mean of nodes is there
        center = edge.initial_position()  # so that the joint is open, by the same gap at each node
    for number, node, arm in zip(edge.point.fixed_nodes, nodes, positions - center, strict=True):
        length = float(np.linalg.norm(arm))
        parts: list[tuple[float, Vector]] = [(1.0, PointOf(node)), (-1.0, PointOf(other))]
        if length:
            parts.append((-length, DirectionOf(other, arm / length)))
        chord = VectorSum(tuple(parts))
        for along, name in zip(WORLD_AXES, "xyz", strict=True):
            yield Bilinear((BilinearTerm(1.0, chord, along),), 0.0, f"node {number} along {name}")
        for axis in node.initial_directors() if edge.point.fixes_directors else ():
            for k, across in enumerate(perpendicular_axes(axis), start=1):
                yield perpendicular(node, axis, other, across, f"director of node {number}, direction {k}")


def symmetry_constraints(edge: Attachment, other: Port) -> Iterator[Bilinear]:
    """Yield the constraint functions that keep a symmetric edge of a shell in its initial plane: one for each node
    and one for each director (vector along the thickness). The plane is found by least squares and rotates with
    ``other``, a point of a body or of the ground. Raise ``ModelError`` if nodes and directors determine no plane.

    Raises:
        ModelError: they lie in no plane.
    """
    nodes = [edge.placed.node(number) for number in edge.point.fixed_nodes]
    positions = np.array([node.initial_position() for node in nodes])
    directors = [node.initial_directors() for node in nodes]
    positions = positions - positions.mean(axis=0)
    rows = np.concatenate([positions, *(np.abs(positions).max() * each for each in directors)])
    squares, axes = np.linalg.eigh(rows.T @ rows)
    if squares[0] > IN_PLANE**2 * squares[2] or squares[1] <= IN_PLANE**2 * squares[2]:
        raise ModelError(
            f"{edge} is symmetric, but its nodes and directors lie in no plane; choose nodes of an edge, and give"
            " the exact normals of a curved surface, directors="
        )
    normal = axes[:, 0]
    for number, node, own in zip(edge.point.fixed_nodes, nodes, directors, strict=True):
        term = BilinearTerm(1.0, between(other, node), as_sum(DirectionOf(other, normal)))
        offset = Bilinear((term,), 0.0, "").initial_value()
        yield Bilinear((term,), offset, f"node {number} across the plane")
        for axis in own:
            yield perpendicular(node, axis, other, normal, f"director of node {number} across the plane")


# Distance joint: a massless rigid link between two points (docs/theory.md, 8).


def _length(name: str, value: float | ScalarFunction) -> float | ScalarFunction:
    if not callable(value):
        return positive(name, value)
    check_callable(name, value, "time")
    return value


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Joint, Portable):
    """Massless rigid link between two points, of constant length or of a length that is a prescribed function of
    time (a hoist).

    The work of a hoist is in ``motion.energy.work`` under the name of the joint. The link transmits tension and
    compression; a rope that transmits only tension is ``spring(stiffness, tension_only=True)``.

    Attributes:
        length: the distance, or a function of time [m]; None: that of the initial pose.

    Raises:
        ModelError: no length given and the points coincide.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bob = model.add(ph.PointMass(2.0), "bob", position=(0, 0, -1))
        >>> link = model.connect(ph.Distance(model.ground.at((0, 0, 0)), bob.origin))
        >>> model.equilibrium().position(bob.origin) + 0.0
        array([ 0.,  0., -1.])
    """

    length: Annotated[float | ScalarFunction, _length] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if callable(self.length):
            self.initial_length()  # so that a wrong length is refused here

    def initial_length(self) -> float:
        """Return the length [m] of this distance link between two points at t = 0. It is the user's number, or the
        user's function of time at t = 0, or by default the distance of the points at the initial pose.
        ParameterError is raised for a function value that is not positive, ModelError if the points coincide and
        no length is given."""
        if callable(self.length):
            name = f"length of {self}"
            return positive(f"{name} at t = 0", called(self.length, name, 0.0, at="at t = 0 s"))
        if self.length is not None:
            return self.length
        gap = float(np.linalg.norm(self.second.initial_position() - self.first.initial_position()))
        if gap == 0:
            raise ModelError(f"{self}: the points coincide; pass length= or use Spherical")
        return gap

    @cached_on_owner
    def _path(self) -> TimePath | None:
        length = self.length
        if not callable(length):
            return None
        name, factor = f"length of {self}", 0.5 / self.initial_length()

        def scaled_square(time: float) -> float:
            value = length(time)
            if np.any(np.asarray(value) <= 0):
                raise ParameterError(f"{name} must be positive, got {value!r} at t = {time:.12g} s")
            return factor * value**2

        return TimePath(scaled_square, None, name)

    def spring(  # type: ignore[override]  # along the link, which leaves no coordinate
        self,
        stiffness: float,
        *,
        damping: float = 0.0,
        tension_only: bool = False,
        name: str | None = None,
    ) -> SpringDamper:
        """Return a spring and damper between the points of this distance link, to be added by ``model.apply`` in
        place of the rigid link. ``stiffness`` [N/m] and ``damping`` [N s/m] are constant; the rest length is the
        length of the link. With ``tension_only`` the spring exerts no force when shorter. Raise ``ParameterError``
        if the length is a function of time.

        Args:
            stiffness: [N/m].
            damping: of a parallel damper [N s/m].
            tension_only: whether it is a rope, which goes slack if it is shorter than ``length``.
            name: for messages; None: made from the ports.

        Raises:
            ParameterError: a length that is a function of time.
        """
        if callable(self.length):
            raise ParameterError(
                f"{self}: a spring has a constant length; connect the link, or take for a winch"
                " ph.Tendon([first, second], stiffness, rest_length=length)"
            )
        receive(self, self.first, self.second)
        arguments = self.first, self.second, stiffness, damping, self.length
        return SpringDamper(*arguments, name=name, tension_only=tension_only)

    @property
    def path(self) -> TimePath | None:
        """Return the squared length of a link of prescribed length divided by twice its initial length [m], as a
        function of time; None for a link of constant length. It is the time-dependent part of the link's
        constraint."""
        return self._path()

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the single constraint function of a distance link, as a tuple of one: the squared distance of its
        points minus the squared length, divided by twice the initial length (docs/theory.md, 8, (8.10)). A length
        prescribed as a function of time enters through ``path``. ``dimension`` is the number of space dimensions
        of the model (1, 2 or 3)."""
        row = constant_distance(self.first, self.second, self.initial_length(), "distance")
        if self.path is None:
            return (row,)
        return (Bilinear(row.terms, 0.0, row.label, Timed(self.path, TimeFactor.VALUE)),)
