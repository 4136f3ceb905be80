"""Functions of world vectors between bodies, and coordinates of joints (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.rotations import cross
from phlexible.algebra.user_derivatives import exact_slope
from phlexible.description.ports import Attachment, ModelPart, MovingFrame, Port
from phlexible.description.time_functions import Timed, TimeFactor, TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.step.tables.declarations import STEEP

# Functions of world vectors that everything between bodies is made of (docs/theory.md, 8).
#
# A function is w = sum_t c_t y_a . y_b - constant. A difference y is a sum of vectors: one direction, or the
# difference of two points. Points are ``x_c + R rho``, directions ``R delta``, or fixed or prescribed. Joints
# demand that such functions vanish, forces act along them. A new joint or force is a new list of functions, not
# new code.

AXES = np.eye(3)
SLIDING = 1e-9  # relative, by which the forces at a guide may be beyond the limit


@dataclass(frozen=True, eq=False)
class PointOf:
    """The world position of a port."""

    port: Port


@dataclass(frozen=True, eq=False)
class DirectionOf:
    """A direction that is ``axis`` in the world at the initial pose and then rotates with the port.

    On a flexible body it rotates with the slopes at the port, on a moving frame with the frame.
    """

    port: Port
    axis: Array


@dataclass(frozen=True, eq=False)
class WorldAxis:
    """A direction that is constant in the world."""

    axis: Array


Vector = PointOf | DirectionOf | WorldAxis


@dataclass(frozen=True, eq=False)
class VectorSum:
    """A sum of vectors, each with its weight: y = sum_i weight_i x_i."""

    parts: tuple[tuple[float, Vector], ...]

    @property
    def is_direction(self) -> bool:
        """Return whether a weighted sum of vectors consists of unit directions only, without positions of points.
        Its length is then dimensionless."""
        return not any(isinstance(vector, PointOf) for _, vector in self.parts)


def between(a: Port, b: Port) -> VectorSum:
    """Return the difference vector x_b - x_a of the positions of ports ``a`` and ``b``, as a weighted sum of two
    vectors. It is not evaluated. A port is a point of a body, or of the ground."""
    return VectorSum(((1.0, PointOf(b)), (-1.0, PointOf(a))))


def as_sum(vector: Vector) -> VectorSum:
    """Return a single vector (position or direction) as a weighted sum of vectors with one term of weight 1."""
    return VectorSum(((1.0, vector),))


@dataclass(frozen=True, eq=False)
class BilinearTerm:
    """A term coefficient * (first . second) of two chords, times a function of time in rows of drives."""

    coefficient: float
    first: VectorSum
    second: VectorSum
    factor: Timed | None = None

    def vectors(self) -> Iterator[Vector]:
        """Yield all vectors (positions and directions) of both factors of a bilinear term coefficient * (first .
        second), where each factor is a weighted sum of vectors."""
        for difference in (self.first, self.second):
            yield from (vector for _, vector in difference.parts)


@dataclass(frozen=True, eq=False)
class Bilinear:
    """A function g = sum of terms - constant - offset(t), which a constraint keeps at zero.

    Attributes:
        terms: products of difference vectors that are added.
        constant: subtracted from it.
        label: description for messages.
        offset: function of time of a driven position, subtracted too.
    """

    terms: tuple[BilinearTerm, ...]
    constant: float
    label: str
    offset: Timed | None = None

    @cached_property
    def is_angle(self) -> bool:
        """Return whether all vectors in the dot products of a constraint function are unit directions. The
        function is then dimensionless (a sine or cosine) and not a length. The result is cached."""
        return all(term.first.is_direction and term.second.is_direction for term in self.terms)

    def initial_value(self) -> float:
        """Return the sum of c_i a_i . b_i of a ``Bilinear`` function at the initial pose of undeformed bodies. The
        c_i are its coefficients; a_i and b_i are weighted sums of positions and directions. Its constant is not
        subtracted, and prescribed factors of time are ignored."""
        return float(sum(t.coefficient * (initial_sum(t.first) @ initial_sum(t.second)) for t in self.terms))


def initial_sum(difference: VectorSum) -> Array:
    """Return the value of ``difference``, a weighted sum of positions and directions, at the initial pose
    with undeformed bodies, shape (3,). It is in world axes."""
    (weight, vector), *others = difference.parts
    total = initial_vector(vector) if weight == 1.0 else weight * initial_vector(vector)
    for weight, vector in others:
        total = total + weight * initial_vector(vector)
    return total


def initial_vector(vector: Vector) -> Array:
    """Return a ``vector`` (position or direction) at the initial pose with undeformed bodies, in world axes,
    shape (3,)."""
    match vector:
        case PointOf(port=port):
            return port.initial_position()
        case DirectionOf(axis=axis) | WorldAxis(axis=axis):
            return axis


WORLD_AXES = tuple(as_sum(WorldAxis(axis)) for axis in AXES)


def coincident_points(a: Port, b: Port, dimension: int) -> tuple[Bilinear, ...]:
    """Return the constraint functions x_b - x_a = 0 by which two ports coincide, one for each world axis of
    the model's dimension. A port is a point of a body, or of the ground."""
    y = between(a, b)
    along = zip(WORLD_AXES[:dimension], "xyz"[:dimension], strict=True)
    return tuple(Bilinear((BilinearTerm(1.0, y, axis),), 0.0, f"point along {name}") for axis, name in along)


def offset_along_axis(a: Port, b: Port, axis: Array, label: str) -> Bilinear:
    """Return the constraint function (x_b - x_a) . d_a = 0, by which port b has no offset from port a along
    the direction ``axis``, which rotates with the body of a. ``label`` names it in messages. A port is a
    point of a body, or of the ground."""
    return Bilinear((BilinearTerm(1.0, between(a, b), as_sum(DirectionOf(a, axis))),), 0.0, label)


def perpendicular(a: Port, axis_a: Array, b: Port, axis_b: Array, label: str) -> Bilinear:
    """Return the constraint function d_a . d_b = 0, by which two directions on two bodies are perpendicular. The
    direction ``axis_a`` is fixed to the body of port a, ``axis_b`` to the body of port b. ``label`` names it in
    messages. A port is a point of a body, or of the ground."""
    return Bilinear((dot_term(DirectionOf(a, axis_a), DirectionOf(b, axis_b)),), 0.0, label)


def locked_rotation(a: Port, b: Port, axes: Sequence[Array], label: str) -> Bilinear:
    """Return the constraint that locks the relative rotation of two bodies in the plane of two unit vectors
    ``axes``. It is (d_a1 . d_b2 - d_a2 . d_b1) / 2 = 0, the sine of the angle. d_a1 is the first vector fixed to
    the body of point ``a``, d_b2 the second fixed to the body of ``b``, and so on. ``label`` names the constraint
    in messages.

    The axes of the plane are two unit vectors. Directions that rotate with slopes stay unit vectors to first order
    only. To second order d_a1 . d_b2 alone depends on the choice of the two vectors in the plane, and this does
    not.
    """
    a1, a2, b1, b2 = (DirectionOf(port, axis) for port in (a, b) for axis in axes)
    return Bilinear((dot_term(a1, b2, 0.5), dot_term(a2, b1, -0.5)), 0.0, label)


def dot_term(first: Vector, second: Vector, coefficient: float = 1.0) -> BilinearTerm:
    """Return a ``BilinearTerm`` that stores ``coefficient`` and two weighted sums of vectors. Its value is
    ``coefficient`` * (``first`` . ``second``); constraint functions and coordinates are made of such terms."""
    return BilinearTerm(coefficient, as_sum(first), as_sum(second))


def constant_distance(a: Port, b: Port, length: float, label: str) -> Bilinear:
    """Return the constraint function that keeps two ports a and b at a constant distance: (|x_b - x_a|^2 -
    length^2) / (2 length) = 0, which has the unit of a length [m]. ``label`` names it in messages. A port is
    a point of a body, or of the ground."""
    difference, factor = between(a, b), 1 / (2 * length)
    return Bilinear((BilinearTerm(factor, difference, difference),), factor * length**2, label)


def perpendicular_axes(axis: Array) -> tuple[Array, Array]:
    """Return two unit vectors, shape (3,) each, that form a right-handed orthonormal triad (first, second, axis)
    with the given unit axis.

    In the plane (axis in the xy plane) the second one is -z or z, the first one lies in the plane.
    """
    helper = AXES[2] if abs(axis[2]) < STEEP else AXES[0]
    first = cross(helper, axis)
    first /= np.linalg.norm(first)
    return first, cross(axis, first)


def frame_of_vector(vector: Vector) -> MovingFrame | None:
    """Return the prescribed moving frame that a vector (position or direction) belongs to; None if the vector is on
    a body, fixed to the ground or constant."""
    if isinstance(vector, WorldAxis) or not isinstance(vector.port, MovingFrame) or vector.port.is_fixed:
        return None
    if isinstance(vector, DirectionOf) and vector.port.rotation is None:
        return None
    return vector.port


# Coordinates of joints: one number of bilinear functions, and how it depends on them.
#
# A coordinate theta(y) is a function of one or two bilinear functions y of world vectors, like the rows
# of joints: a position is y itself, a distance sqrt(y), an angle atan2(s, c) counted over full turns.
# Drives hold them, force elements act on them, motions report them (docs/theory.md, 8).


@dataclass(frozen=True, eq=False)
class Coordinate(ABC):
    """A scalar coordinate of a joint, or of a force, as a function theta(y) of bilinear functions y.

    Attributes:
        name: name in calls of users: "angle", "position", "distance", ...
    """

    name: str
    why_not_driven: ClassVar[str] = ""
    """Error message of coordinates that no drive prescribes."""

    @abstractmethod
    def functions(self) -> tuple[Bilinear, ...]:
        """Return the functions y of a joint or gap coordinate, from whose values the coordinate theta(y) is
        computed. Each is a sum of dot products of points and directions of the bodies in world axes. It is
        abstract: each kind of coordinate defines it."""

    @abstractmethod
    def value(self, y: Array) -> Any:
        """Return the value theta(y) of a coordinate from the values ``y`` of its functions (sums of dot products
        of vectors on bodies). It is an angle between -pi and pi [rad] or a length [m]. For joints ``y`` may have
        shape (functions, T), with a result of shape (T,). It is abstract: each kind of coordinate defines it."""

    @abstractmethod
    def gradient(self, y: Array) -> Array:
        """Return the gradient d theta/dy of a coordinate theta with respect to the values ``y`` of its functions,
        of the shape of ``y``. The functions are sums of dot products of vectors on bodies. It is abstract: each
        kind of coordinate defines it."""

    def hessian(self, y: Array) -> Array:
        """Return the second derivatives d2 theta/dy2 of a coordinate with respect to the values ``y`` of its
        functions, shape (functions, functions). They are derivatives of ``gradient`` by complex numbers, exact to
        round-off. The functions are sums of dot products of vectors on bodies."""
        return np.stack([exact_slope(self.gradient, y, unit) for unit in np.eye(len(y))], axis=1)

    def driven_constraint(self, path: TimePath) -> Bilinear:
        """Return the constraint function that is zero where a coordinate theta equals the prescribed ``path`` at
        each time, as used by drives. This default raises ParameterError with the reason why the coordinate cannot
        be driven; other coordinates override it.

        Raises:
            ParameterError: the coordinate cannot be driven.
        """
        raise ParameterError(f"{path.name}: {self.why_not_driven}")

    def initial_value(self) -> float:
        """Return the value of a coordinate (joint angle, position or gap) at the initial pose with undeformed
        bodies [rad or m]."""
        return float(self.value(np.array([function.initial_value() for function in self.functions()])))

    def damper_rows(self, y: Array, damping: float) -> Array:
        """Return a matrix B for which B^T B is the damping matrix of a viscous damper along this coordinate. The
        coordinate depends on several functions of the pose, with values ``y``, shape (functions,); the damping
        matrix refers to their rates. ``damping`` is the damper's constant. Here B has one row, shape (1,
        functions): sqrt(``damping``) times the gradient of the coordinate with respect to the functions."""
        return np.asarray(np.sqrt(damping) * self.gradient(y)[None])

    @property
    def history_variable_count(self) -> int:
        """Return the number of history variables on which a coordinate depends, 0 by default. Tendons with
        friction have history variables: the flows over their guides."""
        return 0

    def at_history(self, variables: Array) -> "Coordinate":
        """Return this coordinate for given values of its history ``variables``, shape (history variables,). This
        default, for coordinates without history variables, returns the coordinate itself."""
        return self

    @property
    def unit(self) -> str:
        """Return the unit of a coordinate as text, "m" unless a subclass has another."""
        return "m"

    @property
    def is_angle(self) -> bool:
        """Return whether a coordinate is an angle in rad, which recorded motions count over full turns."""
        return self.unit == "rad"


@dataclass(frozen=True, eq=False)
class LinearCoordinate(Coordinate):
    """A coordinate that equals one bilinear function."""

    def value(self, y: Array) -> Any:
        """Return the first of the values ``y`` of the coordinate's functions, which is the value of a coordinate
        that equals its first function. The functions are sums of dot products of vectors on bodies."""
        return y[0]

    def gradient(self, y: Array) -> Array:
        """Return the gradient (1, 0, ...) of a coordinate that equals its first function y, of the shape of y. The
        functions are sums of dot products of vectors."""
        found = np.zeros(y.shape)
        found[0] = 1.0
        return found

    def hessian(self, y: Array) -> Array:
        """Return the second derivatives of a coordinate that equals its first function y: zeros, shape (functions,
        functions)."""
        return np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class PositionCoordinate(LinearCoordinate):
    """Position (x_b - x_a) . d of the second point along a direction of the first body [m]."""

    first: Port
    second: Port
    direction: DirectionOf

    @cached_on_owner
    def functions(self) -> tuple[Bilinear, ...]:
        """Return the bilinear function y = (x_b - x_a) . d of a position coordinate, as a tuple of one: the
        offset of the second port along a direction of the first body. A port is a point of a body, or of the
        ground. A bilinear function is a sum of dot products of points and directions of the bodies."""
        return (Bilinear(self._terms(), 0.0, self.name),)

    def _terms(self) -> tuple[BilinearTerm, ...]:
        return (BilinearTerm(1.0, between(self.first, self.second), as_sum(self.direction)),)

    def driven_constraint(self, path: TimePath) -> Bilinear:
        """Return the constraint function (x_b - x_a) . d - p(t), which is zero where a position coordinate equals
        its prescribed path p(t)."""
        return Bilinear(self._terms(), 0.0, f"driven {self.name}", Timed(path, TimeFactor.VALUE))


@dataclass(frozen=True, eq=False)
class SineCoordinate(PositionCoordinate):
    """Sine of a rotation of the second port about an axis of the first, (e_a . d_b - d_a . e_b) / 2 with the next
    axes d and e of both.

    For bushings, whose rotations are small; it does not count turns.

    Attributes:
        axes: d_a, e_a, d_b, e_b.
        weights: of both products; one alone: the tilt of the one axis of the second port that is in it.
    """

    axes: tuple[DirectionOf, DirectionOf, DirectionOf, DirectionOf]
    weights: tuple[float, float] = (0.5, 0.5)

    def _terms(self) -> tuple[BilinearTerm, ...]:
        a1, a2, b1, b2 = self.axes
        terms = dot_term(a2, b1, self.weights[0]), dot_term(a1, b2, -self.weights[1])
        return tuple(term for term, share in zip(terms, self.weights, strict=True) if share)

    @property
    def unit(self) -> str:
        """Return the unit "1" of a coordinate that is the sine of an angle."""
        return "1"


@dataclass(frozen=True, eq=False)
class StrainCoordinate(LinearCoordinate):
    """A strain of a rod, one sum of products of vectors, which no joint has and no drive prescribes.

    Attributes:
        terms: products of vectors that are added.
        unit_of_strain: "1", or "1/m" of a curvature.
    """

    why_not_driven = "the strain of a rod cannot be driven"
    terms: tuple[BilinearTerm, ...]
    unit_of_strain: str

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the bilinear function of a rod's strain coordinate (a sum of dot products of section vectors), as
        a tuple of one."""
        return (Bilinear(self.terms, 0.0, self.name),)

    @property
    def unit(self) -> str:
        """Return the unit of a rod's strain: "1" for stretch and shear, "1/m" for curvatures."""
        return self.unit_of_strain


def _root(y: Array) -> Any:
    """Return the square roots of squared lengths ``y``, which may be negative by round-off, or complex for
    derivatives."""
    return np.sqrt(y if np.iscomplexobj(y) else np.abs(y))


@dataclass(frozen=True, eq=False)
class DistanceCoordinate(Coordinate):
    """Distance |x_b - x_a| of two points [m]."""

    first: Port
    second: Port
    why_not_driven = "the distance of two points cannot be driven; use Prismatic"

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the squared distance |x_b - x_a|^2 of the ``second`` from the ``first`` port, in a tuple of
        one ``Bilinear``: a sum of scalar products of vectors of the bodies. A port is a point of a body or of
        the ground."""
        difference = between(self.first, self.second)
        return (Bilinear((BilinearTerm(1.0, difference, difference),), 0.0, self.name),)

    def value(self, y: Array) -> Any:
        """Return the distance sqrt(y) of two points [m] from their squared distance y, shape (1,) or (1, T)."""
        return _root(y[0])

    def gradient(self, y: Array) -> Array:
        """Return the derivative 1 / (2 sqrt(y)) of the distance of two points with respect to their squared
        distance y, of the shape of y."""
        return np.array([0.5 / self._length(y)])

    def _length(self, y: Array) -> Any:
        length = self.value(y)
        if not np.all(length):
            raise ModelError(
                f"{self.first} and {self.second} coincide: a force along the line between them has no"
                " direction there"
            )
        return length


@dataclass(frozen=True, eq=False)
class LengthCoordinate(Coordinate):
    """Length of a tendon, the sum of the distances between its guides one after the other [m] (8.50).

    Attributes:
        guides: ports that the tendon passes, two or more.
        winch: prescribed rest length p(t). The coordinate is then the stretch (length - p) sqrt(p(0) / p), whose
            square times the stiffness at t = 0 is twice the energy. None: it is the length.
        sign: -1: minus the length, along which a tension is a positive force.
    """

    guides: tuple[Port, ...]
    winch: TimePath | None = None
    sign: float = 1.0
    why_not_driven = "the length of a tendon cannot be driven; drive its rest length"

    @cached_on_owner
    def functions(self) -> tuple[Bilinear, ...]:
        """Return the functions of the pose from which a tendon's length is computed: the squared distance of each
        guide from the next guide. If the rest length is prescribed, minus the rest length is the last function.
        The tuple is cached."""
        segments = [between(a, b) for a, b in pairwise(self.guides)]
        rows = [Bilinear((BilinearTerm(1.0, segment, segment),), 0.0, self.name) for segment in segments]
        if self.winch is not None:
            rows.append(Bilinear((), 0.0, self.name, Timed(self.winch, TimeFactor.VALUE)))
        return tuple(rows)

    @property
    def scale(self) -> float:
        """Return the prescribed rest length of a tendon at t = 0 [m]; if the rest length is not prescribed, return
        the sign (1 or -1) of the coordinate."""
        return self.sign if self.winch is None else self.winch(0.0)

    def length_derivative(self, y: Array) -> Any:
        """Return the derivative of the coordinate with respect to a tendon's length: its sign, or sqrt(p(0) /
        p(t)) with a prescribed rest length p. ``y`` are the values of its functions, shape (functions,) or
        (functions, T)."""
        return self.sign if self.winch is None else np.sqrt(self.scale / -y[-1])

    def value(self, y: Array) -> Any:
        """Return the length L of a tendon times its sign [m]; with a prescribed rest length p the scaled
        elongation (L - p(t)) sqrt(p(0) / p(t)). ``y`` are the values of its functions, shape (functions,) or
        (functions, T)."""
        if self.winch is None:
            return self.sign * _root(y).sum(axis=0)
        return (_root(y[:-1]).sum(axis=0) + y[-1]) * self.length_derivative(y)

    def gradient(self, y: Array) -> Array:
        """Return the gradient of a tendon's length, or of its scaled elongation, with respect to the values ``y``
        of its functions. It has the shape of ``y``, (functions,) or (functions, T)."""
        found = self.length_derivative(y) * 0.5 / _root(y)
        if self.winch is not None:
            length, p = _root(y[:-1]).sum(axis=0), -y[-1]
            found[-1] = self.length_derivative(y) * (length + p) / (2 * p)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class PiecesCoordinate(LengthCoordinate):
    """Coordinate sqrt(sum_k (S / s_k) e_k^2) of a tendon that rubs, with the stretches e_k of its pieces (8.53).

    Half of its square times the stiffness is the energy while nothing flows through the guides.

    Attributes:
        pieces: rest lengths s_k of the pieces at t = 0, of sum S [m].
        friction: coefficient of friction at the guides.
    """

    pieces: tuple[float, ...] = ()
    friction: float = 0.0

    @cached_on_owner
    def functions(self) -> tuple[Bilinear, ...]:
        """Return the functions of the pose for a tendon with friction at its guides. They are the squared lengths
        of its pieces, the dot products of neighbouring pieces at each guide, and minus the prescribed rest length
        where there is one. The tuple is cached."""
        chords = [between(a, b) for a, b in pairwise(self.guides)]
        turns = [Bilinear((BilinearTerm(1.0, a, b),), 0.0, self.name) for a, b in pairwise(chords)]
        lengths = super().functions()
        return (*lengths[: len(chords)], *turns, *lengths[len(chords) :])

    @property
    def scale(self) -> float:
        """Return the rest length of a tendon with friction at t = 0 [m], the sum of the rest lengths of its
        pieces."""
        return float(sum(self.pieces))

    @property
    def history_variable_count(self) -> int:
        """Return the number of history variables of this tendon coordinate, whose class is used only with
        friction: one flow for each piece between guides."""
        return len(self.pieces)

    def at_history(self, variables: Array) -> "PiecesCoordinate":
        """Return a copy of this coordinate of a tendon with friction, with other rest lengths of its pieces. The
        history ``variables``, shape (pieces,) [m], are the lengths that have flowed out of each piece into the
        next piece."""
        moved = np.array(self.pieces) - variables + np.concatenate([[0.0], variables[:-1]])
        return replace(self, pieces=tuple(moved.tolist()))

    def stretches(self, y: Array) -> tuple[Array, Array]:
        """Return the elongations of the pieces of a tendon [m], 0 where a piece is slack, and their rest lengths
        [m]. A prescribed rest length changes the first piece. ``y`` are values of the coordinate's functions,
        shape (functions,) or (functions, T); both results have shape (pieces,) or (pieces, T)."""
        m = len(self.pieces)
        rest = np.reshape(self.pieces, (m,) + (1,) * (y.ndim - 1)) + 0.0 * y[:m]
        if self.winch is not None:
            rest[0] -= y[-1] + self.winch(0.0)
        return np.maximum(_root(y[:m]) - rest, 0.0), rest

    def slides(self, y: Array) -> bool:
        """Return whether this tendon with friction slides over any of its guides. It does if the ratio of the
        tensions on both sides of a guide exceeds exp(mu phi) by a small tolerance, in either direction. mu is the
        friction coefficient, phi the wrap angle. ``y`` are the values of its scalar functions of the pose, shape
        (functions,)."""
        (stretch, rest), m = self.stretches(y), len(self.pieces)
        pulls = (1 + stretch / rest) ** 2 - 1
        lengths = _root(y[:m])
        cosines = y[m : 2 * m - 1] / (lengths[1:] * lengths[:-1])
        grips = np.exp(self.friction * np.arccos(np.clip(cosines, -1.0, 1.0))) * (1 + SLIDING)
        return bool((np.maximum(pulls[1:] - grips * pulls[:-1], pulls[:-1] - grips * pulls[1:]) > 0).any())

    def damper_rows(self, y: Array, damping: float) -> Array:
        """Return a factor B (pieces, functions) of the damping matrix B^T B of a tendon with friction. Its
        functions are the squared lengths of the pieces, then others, whose columns are zero. A piece of rest
        length s_k has sqrt(``damping`` S / s_k) times the derivative of its length, with S the sum of the s_k at t
        = 0 and ``damping`` that of the whole tendon. Rows of slack pieces are zero. ``y`` (functions,) are values
        of the functions."""
        (stretch, rest), m = self.stretches(y), len(self.pieces)
        found = np.zeros((m, len(y)))
        found[:, :m] = np.diag(np.sqrt(damping * self.scale / rest * (stretch > 0)) * 0.5 / _root(y[:m]))
        return found

    def value(self, y: Array) -> Any:
        """Return the coordinate theta of a tendon with friction [m], such that its elastic energy is proportional
        to theta^2. It is the root of the sum of squared elongations of the pieces, each times the whole rest
        length over the piece's. ``y`` are values of its functions, shape (functions,) or (functions, T)."""
        stretch, rest = self.stretches(y)
        return np.sqrt((self.scale / rest * stretch**2).sum(axis=0))

    def gradient(self, y: Array) -> Array:
        """Return the gradient of the stretch of this tendon with friction (one weighted coordinate) with respect
        to ``y``. ``y`` are the values of its scalar functions of the pose; the result has the same shape. The
        coordinate is the root of a weighted sum of squared elongations of the tendon's segments. If all segments
        are slack, the gradient is zero."""
        (stretch, rest), m, theta = self.stretches(y), len(self.pieces), self.value(y)
        own, found = self.scale * stretch / rest, np.zeros_like(y)
        found[:m] = 0.5 * own / _root(y[:m])
        if self.winch is not None:
            found[-1] = own[0] + 0.5 * own[0] * stretch[0] / rest[0]
        return np.asarray(found / np.where(theta > 0, theta, 1.0))


@dataclass(frozen=True, eq=False)
class AngleCoordinate(Coordinate):
    """Angle atan2(s, c) with c and s sums of dot products of directions; zero at the initial pose [rad]."""

    cosine: tuple[BilinearTerm, ...]
    sine: tuple[BilinearTerm, ...]

    @cached_on_owner
    def initial_value(self) -> float:
        """Return the angle of a joint at the initial pose [rad], computed once and cached; it is zero but for
        round-off."""
        return super().initial_value()

    @cached_on_owner
    def functions(self) -> tuple[Bilinear, ...]:
        """Return two functions of the pose, (c, s): cosine and sine of this angle, each a sum of dot products of
        two directions (hence bilinear) without constant. The angle is atan2(s, c)."""
        return Bilinear(self.cosine, 0.0, f"cos {self.name}"), Bilinear(self.sine, 0.0, f"sin {self.name}")

    def value(self, y: Array) -> Any:
        """Return the angle atan2(s, c) between -pi and pi [rad] from its cosine and sine y = (c, s)."""
        return np.arctan2(y[1], y[0])

    def gradient(self, y: Array) -> Array:
        """Return the gradient (-s, c) / (c^2 + s^2) of the angle atan2(s, c) with respect to y = (c, s). It has the
        shape of y."""
        return np.asarray(np.array([-y[1], y[0]]) / (y * y).sum(axis=0))

    def driven_constraint(self, path: TimePath) -> Bilinear:
        """Return the constraint function s cos p(t) - c sin p(t) that drives an angle with cosine c and sine s. It
        is the sine of the angle's difference from its prescribed ``path`` p(t) (docs/theory.md, 8, (8.15))."""
        cosine, sine = Timed(path, TimeFactor.COSINE), Timed(path, TimeFactor.SINE)
        terms = (
            *(BilinearTerm(s.coefficient, s.first, s.second, cosine) for s in self.sine),
            *(BilinearTerm(-c.coefficient, c.first, c.second, sine) for c in self.cosine),
        )
        return Bilinear(terms, 0.0, f"driven {self.name}")

    @property
    def unit(self) -> str:
        """Return the unit "rad" of an angle coordinate."""
        return "rad"


def angle_about(first: Port, second: Port, across: Array, along: Array, dimension: int) -> Coordinate:
    """Return the angle of the second port relative to the first port, as a coordinate. The axis is the cross
    product ``across`` x ``along`` of two perpendicular unit vectors, in world axes at the initial pose, which
    rotate with the first port. ``dimension`` is the number of space dimensions of the model (1, 2 or 3). A port is
    a point of a body, or of the ground.

    With a1 = across and a2 = along, which rotate with the first port, and b1 and b2, which equal them at the
    initial pose and rotate with the second: c = (a1 . b1 + a2 . b2) / 2 and s = (a2 . b1 - a1 . b2) / 2, which do
    not depend on the choice of the two vectors, see ``locked_rotation``. In the plane both halves are the same.
    """
    a1, a2, b1, b2 = (DirectionOf(port, axis) for port in (first, second) for axis in (across, along))
    if dimension == 2:
        return AngleCoordinate("angle", (dot_term(a1, b1),), (dot_term(a2, b1),))
    cosine = dot_term(a1, b1, 0.5), dot_term(a2, b2, 0.5)
    return AngleCoordinate("angle", cosine, (dot_term(a2, b1, 0.5), dot_term(a1, b2, -0.5)))


def position_along(first: Port, second: Port, axis: Array, name: str = "position") -> Coordinate:
    """Return the coordinate (x_second - x_first) . d: the position of the second port along an axis that
    rotates with the first port [m]. ``name`` is the name of the coordinate. A port is a point of a body, or of
    the ground."""
    return PositionCoordinate(name, first, second, DirectionOf(first, axis))


# What forces, drives and controllers need to know of a joint: two ports and coordinates between them.


@dataclass(frozen=True, eq=False, repr=False)
class KinematicPair(ModelPart, ABC):
    """Two ports that a joint connects, and the coordinates that it leaves free. Compared by identity.

    Attributes:
        first: the port whose body carries the joint's axes.
        second: the port on which reactions are reported.

    Raises:
        ModelError: no ports, both on the ground, or both on one body.
    """

    first: Port
    second: Port

    coordinate_names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_ports(self, first=self.first, second=self.second)
        expect(self, self.first, self.second)

    @property
    def moved(self) -> tuple[float, float] | None:
        """Mass [kg] and size [m] (0: unknown) of what moves along a line, which choose the stiffness of stops and
        friction springs; None: the effective mass along the coordinate, and the size of the smaller body."""
        return None

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the coordinates (angles and positions) that a joint leaves free, in the order of
        ``coordinate_names``; none by default. ``dimension`` is the number of space dimensions of the model (1, 2
        or 3).

        Raises:
            ModelError: an angle of a port without orientation.
        """
        return ()

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a joint, which are zero while it is closed, in a model of a dimension
        1, 2 or 3; none by default.

        Raises:
            ModelError, ParameterError: not in this dimension.
        """
        return ()

    def coordinate(self, dimension: int, name: str | None = None) -> Coordinate:
        """Return the coordinate ``name`` of this joint in a model of ``dimension`` 2 or 3. With name None the
        joint must have exactly one coordinate, which is returned. Each call with the same arguments returns
        the same object.

        Raises:
            ModelError: there is none of that name, or more than one without a name; lists them.
        """
        return self._named_coordinates(dimension)[self.coordinate_name(name)]

    @cached_on_owner
    def _named_coordinates(self, dimension: int) -> dict[str, Coordinate]:
        return {each.name: each for each in self.coordinates(dimension)}

    def initial_coordinate(self, dimension: int, name: str | None = None) -> float:
        """Return the value of a joint coordinate at the initial pose [rad or m]. With ``name`` None the joint must
        have exactly one coordinate. ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        return self.coordinate(dimension, name).initial_value()

    def coordinate_name(self, of: str | None) -> str:
        """Return the name of the coordinate of this joint that the user's argument ``of`` selects. If ``of`` is
        None, return the name of the only coordinate. Raise ModelError if the joint has no coordinate of that name,
        or if ``of`` is None and it has several or none.

        Raises:
            ModelError: there is none of that name, or no name and not exactly one coordinate.
        """
        names = self.coordinate_names
        if of is None and len(names) == 1:
            return names[0]
        if of is None and names:
            listed = ", ".join(map(repr, names))
            raise ModelError(f"{self} has several coordinates; say which with of=: {listed}")
        return self.named_coordinate(of, "of")

    def named_coordinate(self, name: object, argument: str) -> str:
        """Return ``name`` unchanged if this joint has a coordinate of that name. Otherwise raise ModelError, which
        lists the names and begins with the user's ``argument``.

        Raises:
            ModelError: no coordinate has it.
        """
        if isinstance(name, str) and name in self.coordinate_names:
            return name
        listed = ", ".join(map(repr, self.coordinate_names))
        known = (
            f" {name!r}; it has: {listed}"
            if listed
            else "; for forces and moments in all directions take a Bushing"
        )
        raise ModelError(f"{argument}: {self} has no coordinate{known}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.first}, {self.second})"


def check_ports(part: object, **ports: object) -> None:
    """Raise ``ModelError`` if two arguments of a joint or element (``part``) are both on the ground or both on one
    body. It is raised too if an argument is not a point of a body or of the ground. ``ports`` are the arguments as
    keywords, whose names the message uses.

    Raises:
        ModelError: says which.
    """
    for name, port in ports.items():
        if not isinstance(port, Port):
            raise ModelError(
                f"{type(part).__name__}: {name} must be a port such as beam.end or ground.at(...), got {port!r}"
            )
    bodies = [port.placed for port in ports.values() if isinstance(port, Attachment)]
    if not bodies:
        raise ModelError(f"{part} connects the ground with itself; {' or '.join(ports)} must be on a body")
    if len(bodies) == 2 and bodies[0] is bodies[1]:
        raise ModelError(
            f"{part} connects {bodies[0].name} with itself; {' or '.join(ports)} must be on another body"
        )


def expect(part: object, *ports: Port | KinematicPair) -> None:
    """Append ``part``, a joint, load, element or controller, to the lists of unused parts on the bodies of its
    ``ports`` and joints. A warning can then name ``part`` if it is never added to a model. Ports on the ground are
    skipped."""
    for port in ports:
        if isinstance(port, KinematicPair):
            expect(part, port.first, port.second)
        if isinstance(port, Attachment):
            port.placed.expect(part)


def receive(part: object, *ports: Port) -> None:
    """Remove ``part``, a joint, load or element, from the lists of unused parts on the bodies of its ``ports``,
    where ``expect`` has added it. This is called when the part was added to a model, refused, or replaced."""
    for port in ports:
        if isinstance(port, Attachment):
            port.placed.receive(part)
