"""Joint that slides along a flexible line: a rod, a beam or a string (docs/theory.md, 8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, set_fields
from phlexible.algebra.caching import cached_on_owner
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod import Rod
from phlexible.bodies.string import String
from phlexible.description.interactions.functions import (
    AXES,
    Bilinear,
    BilinearTerm,
    Coordinate,
    DirectionOf,
    PointOf,
    Vector,
    WorldAxis,
    as_sum,
    between,
    check_ports,
    perpendicular_axes,
)
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import RelationFunction
from phlexible.description.placed_wholes import PlacedRod, PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.description.time_functions import Timed, TimeFactor, TimePath
from phlexible.errors import ModelError
from phlexible.step.tables.declarations import PIECE_VECTORS, STEEP

# A line X(s) = sum_k N_k(s) v_k of points and directions v_k, with cubic polynomials N_k in each of equal pieces.

SAMPLES, CANDIDATES = 3, 4  # places of a piece at which the nearest point is looked for; how many are followed
ITERATIONS, AT_END = 12, 1e-9
HERMITE = np.array([[1.0, 0.0, -3.0, 2.0], [0.0, 1.0, -2.0, 1.0], [0.0, 0.0, 3.0, -2.0], [0.0, 0.0, -1.0, 1.0]])
"""Powers of u in [0, 1] of the weights of position and derivative at 0, then at 1."""


@dataclass(frozen=True, eq=False)
class Line:
    """Smooth line along the nodes of a rod, beam or string, of equal cubic pieces between neighbouring nodes.

    Attributes:
        vectors: K points and directions whose weighted sum a point of the line is.
        length: of one piece, undeformed [m].
        first: index of the first of the four vectors of each piece, shape (pieces,).
        weights: coefficients of 1, u, u^2, u^3 of each of the four weights, where u grows from 0 to 1 along the
            piece, shape (pieces, 4, 4).
    """

    vectors: tuple[Vector, ...]
    length: float
    first: IntArray
    weights: Array

    @property
    def pieces(self) -> int:
        """Return the number of pieces of a line along a beam, rod or string; each piece is a cubic between two
        neighbouring nodes of the body."""
        return len(self.first)

    @property
    def whole(self) -> float:
        """Return the length of the undeformed line from its first to its last node [m]: the length of a piece
        times the number of pieces."""
        return self.length * self.pieces

    @cached_property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Return for each piece of a line a range of vectors, as a pair of the first index and the last index + 1.
        It contains the vectors (node positions and tangents) of the piece and its neighbours, which alone act at
        the same time. The tuple is cached."""
        last = self.pieces - 1
        ends = [(max(e - 1, 0), min(e + 1, last)) for e in range(self.pieces)]
        return tuple((int(self.first[a]), int(self.first[b]) + PIECE_VECTORS) for a, b in ends)

    def weights_at(self, position: float) -> Array:
        """Return the weights of the K vectors (node positions, tangents) of this line at a ``position`` along it
        [m], shape (4, K). Their weighted sum is the point of the line (row 0) and its first to third derivatives
        with respect to the position (rows 1 to 3). Weights outside the piece at ``position`` are zero; the end
        pieces extend beyond the ends."""
        piece = int(min(max(position // self.length, 0), self.pieces - 1))
        u, found = position / self.length - piece, np.zeros((4, len(self.vectors)))
        own = slice(self.first[piece], self.first[piece] + PIECE_VECTORS)
        powers = np.array([1.0, u, u * u, u**3])
        for order in range(4):
            found[order, own] = self.weights[piece] @ powers / self.length**order
            powers = np.array([0.0, *(k * powers[k - 1] for k in range(1, 4))])
        return found

    def nearest(self, vectors: Array) -> float:
        """Return the position along a line [m] of its point nearest to the origin. ``vectors`` are the K vectors
        (nodes, tangents) of the line relative to that origin, shape (K, d). Distances are sampled; the lowest
        local minima are refined by Newton's method and the best is returned. Beyond its ends the line is extended
        by its end pieces."""
        own = vectors[self.first[:, None] + np.arange(PIECE_VECTORS)]
        u = (np.arange(SAMPLES) + 0.5) / SAMPLES
        samples = np.einsum("pkc,cu,pkd->pud", self.weights, u ** np.arange(4)[:, None], own).reshape(
            -1, own.shape[2]
        )
        distance = np.concatenate([[np.inf], (samples**2).sum(axis=1), [np.inf]])
        lowest = np.flatnonzero((distance[1:-1] <= distance[:-2]) & (distance[1:-1] <= distance[2:]))
        lowest = lowest[np.argsort(distance[1 + lowest])[:CANDIDATES]]
        positions = [self._descend((k + 0.5) * self.length / SAMPLES, vectors) for k in lowest.tolist()]
        return min(positions, key=lambda position: float(((self.weights_at(position)[0] @ vectors) ** 2).sum()))

    def _descend(self, position: float, vectors: Array) -> float:
        """Return the position along a piecewise interpolated line [m] where the squared distance from the origin
        has a local minimum. It is computed by Newton's method with a fixed number of steps from ``position`` [m].
        Each step is at most one piece (element) long; gradient steps replace Newton steps at negative curvature.
        ``vectors`` has K nodal positions and derivatives relative to the point, shape (K, d) in d dimensions."""
        for _ in range(ITERATIONS):
            here, slope, bend, _ = self.weights_at(position) @ vectors
            curvature = slope @ slope + here @ bend
            step = (here @ slope) / (curvature if curvature > 0 else slope @ slope)
            position -= float(np.clip(step, -self.length, self.length))
        return position


def line_of(placed: PlacedWhole | PlacedBody) -> Line:
    """Return the line of cubic Hermite pieces through the nodes of a rod, beam or string (``placed`` in a model).
    The tangents of a rod or beam are the axial directions of its cross-sections, times the element length. At a
    node of a string, the tangent is half the difference of its neighbours, one-sided at the ends."""
    if not isinstance(placed.body, String):
        nodes, length = _sections(placed)
        axes = [DirectionOf(node, node.placed.rotation[:, 0]) for node in nodes]
        vectors = [each for node, axis in zip(nodes, axes, strict=True) for each in (PointOf(node), axis)]
        pieces = len(nodes) - 1
        weights = HERMITE * np.array([1.0, length, 1.0, length])[:, None]
        return Line(tuple(vectors), length, 2 * np.arange(pieces), np.tile(weights, (pieces, 1, 1)))
    positions = placed.body.mesh.nodes
    points, pieces = tuple(PointOf(placed.at(float(s))) for s in positions), len(positions) - 1
    tangents = np.asarray(
        np.gradient(np.eye(len(positions)), axis=0)
    )  # of a piece: half the way between the neighbours
    first = np.clip(np.arange(pieces) - 1, 0, pieces + 1 - PIECE_VECTORS)
    weights = np.zeros((pieces, PIECE_VECTORS, 4))
    for e in range(pieces):
        own = slice(first[e], first[e] + PIECE_VECTORS)
        ends = np.eye(len(positions))[e : e + 2, own], tangents[e : e + 2, own]
        weights[e] = np.einsum("ik,ic->kc", ends[0], HERMITE[::2]) + np.einsum("ik,ic->kc", ends[1], HERMITE[1::2])
    return Line(points, float(positions[1]), first, weights)


def _sections(placed: PlacedWhole | PlacedBody) -> tuple[Sequence[Attachment], float]:
    """Return the cross-sections (points with an orientation) at the nodes of a rod or beam, from start to end. The
    second result is the undeformed length of one element [m]. A beam of several parts gives a node shared by two
    parts once."""
    if isinstance(placed, PlacedRod):
        return placed.nodes(), float(placed.body.node_positions[1])
    parts = placed.parts if isinstance(placed, PlacedWhole) else (placed,)
    beam = parts[0].body
    assert isinstance(beam, Beam), "the joint has checked it"
    length = beam.length / beam.elements
    return [*(part.at(length * k) for part in parts for k in range(beam.elements)), parts[-1].end], length


# Functions of the joint: components y of all vectors of the line, as seen from what slides (docs/theory.md, 8).


@dataclass(frozen=True, eq=False)
class LineCoordinate(Coordinate):
    """Quantity of a joint that slides along a line: the place along it, or an offset from it.

    Its functions are the components of all vectors of the line, as seen from the sliding point, along directions
    that belong to one body or to the world.

    Attributes:
        line: along which it slides.
        slider: port that slides.
        directions: d directions of length one that are perpendicular to each other.
        component: 0: the place along the line; 1, 2: offsets across it.
    """

    line: Line
    slider: Port
    directions: tuple[Vector, ...]
    component: int

    @cached_on_owner
    def functions(self) -> tuple[Bilinear, ...]:
        """Return the scalar functions of the pose from which the position along the line is computed, cached. They
        are the d components of each of the K nodal vectors of the line (positions, tangents), a tuple of d K
        functions in d dimensions. Node positions are relative to the sliding point. The components are along the
        axes ``self.directions``."""
        axes = [as_sum(direction) for direction in self.directions]
        sums = [
            between(self.slider, each.port) if isinstance(each, PointOf) else as_sum(each)
            for each in self.line.vectors
        ]
        return tuple(Bilinear((BilinearTerm(1.0, one, axis),), 0.0, self.name) for one in sums for axis in axes)

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Return for each piece of a line a range of its functions, as a pair of the first index and the last
        index + 1. Only functions of the piece and of its neighbours, which this range contains, act at the same
        time."""
        d = len(self.directions)
        return tuple((d * first, d * last) for first, last in self.line.windows)

    def value(self, y: Array) -> Array | float:
        """Return the value of this coordinate [m] from the values ``y`` of its functions: the position along the
        line nearest to the sliding point, or one component of the point's offset across the line. For ``y`` of
        shape (functions,) it is a number, for (functions, T) an array of shape (T,)."""
        return self._at_instants(self._value, y)

    def gradient(self, y: Array) -> Array:
        """Return the derivatives of this coordinate, the nearest position along a line or an offset across it. They
        are with respect to the functions of the pose from which it is computed, at their values ``y``. The result
        has the shape of ``y``, (functions,) or (functions, T)."""
        return np.asarray(self._at_instants(self._gradient, y))

    def _at_instants(self, function: Callable[[Array], Array | float], y: Array) -> Array | float:
        if y.ndim == 1:
            return function(y)
        return np.stack([np.asarray(function(own)) for own in y.T], axis=-1)

    def _value(self, y: Array) -> float:
        vectors = self._vectors(y)
        position = self.line.nearest(vectors)
        if self.component == 0:
            return position
        here, slope, *_ = self.line.weights_at(position) @ vectors
        return float(across(slope)[self.component - 1] @ here)

    def _gradient(self, y: Array) -> Array:
        weights, (here, slope, bend, _) = self._at(y)
        if self.component > 0:
            return np.outer(weights[0], across(slope)[self.component - 1]).ravel()
        found = np.outer(weights[0], slope) + np.outer(weights[1], here)
        return -found.ravel() / float(slope @ slope + here @ bend)

    def hessian(self, y: Array) -> Array:
        """Return the second derivatives of this coordinate, the nearest position along a line or an offset across
        it, shape (functions, functions). They are with respect to the functions of the pose from which it is
        computed, at their values ``y``. For an offset they are exact only where the offset is zero, as on a
        constraint."""
        weights, (here, slope, bend, twist) = self._at(y)
        unit, d = np.eye(len(slope)), len(slope)
        size = float(slope @ slope + here @ bend)
        derivative = -(np.outer(weights[0], slope) + np.outer(weights[1], here)).ravel() / size
        rows = [np.kron(own, unit) for own in weights]  # d r, d r', d r'' at a place that is held, (d, functions)
        change, turn, curl = (rows[k] + np.outer(each, derivative) for k, each in enumerate((slope, bend, twist)))
        if self.component > 0:
            rotated = across_rates(slope, turn)[self.component - 1]
            a = across(slope)[self.component - 1]
            second = np.outer(a @ rows[1], derivative)
            found = second + second.T + float(a @ bend) * np.outer(derivative, derivative)
            return np.asarray(found + change.T @ rotated + rotated.T @ change)
        assert d == len(here), "as seen along all directions"
        numerator = slope @ rows[0] + here @ rows[1]
        steeper = np.outer(slope @ rows[1] + here @ rows[2], derivative) + rows[0].T @ turn + rows[1].T @ change
        widened = 2 * slope @ turn + bend @ change + here @ curl
        return np.asarray(-steeper / size + np.outer(numerator, widened) / size**2)

    def _at(self, y: Array) -> tuple[Array, Array]:
        """Return the weights of a line's K vectors at its point nearest to the sliding point, and the vector to
        that point. Their shapes are (4, K) and (4, d): row 0 has the values, rows 1 to 3 the derivatives with
        respect to the position along the line. ``y`` are the values of the coordinate's functions."""
        vectors = self._vectors(y)
        weights = self.line.weights_at(self.line.nearest(vectors))
        return weights, weights @ vectors

    def _vectors(self, y: Array) -> Array:
        return y.reshape(len(self.line.vectors), len(self.directions))

    def driven_constraint(self, path: TimePath) -> Bilinear:
        """Return the constraint function of a drive along a line [m]. It is the position of the sliding point
        along the line minus the prescribed function of time ``path``."""
        return RelationFunction((), 0.0, f"driven {self.name}", Timed(path, TimeFactor.VALUE), ((self, 1.0),))


def across(tangent: Array) -> Array:
    """Return the unit vectors perpendicular to the vector ``tangent`` of shape (d,), as rows of shape (d - 1, d):
    one in the plane, two in space. The tangent need not have unit length."""
    t = tangent / np.linalg.norm(tangent)
    if len(t) == 2:
        return np.array([[-t[1], t[0]]])
    return np.array(perpendicular_axes(t))


def across_rates(tangent: Array, rates: Array) -> list[Array]:
    """Return the derivatives of the d - 1 unit vectors perpendicular to a line in d dimensions, as a list of
    arrays (d, n). They are for n changes of the line's ``tangent`` (d,), whose derivatives are the columns of
    ``rates`` (d, n). The vectors are those of ``across``."""
    size = np.linalg.norm(tangent)
    t = tangent / size
    turn = (rates - np.outer(t, t @ rates)) / size
    if len(t) == 2:
        return [np.array([-turn[1], turn[0]])]
    helper = AXES[2] if abs(t[2]) < STEEP else AXES[0]
    first = np.cross(helper, t)
    length = np.linalg.norm(first)
    first /= length
    rate = np.cross(helper, turn.T).T / length
    rate -= np.outer(first, first @ rate)
    return [rate, np.cross(turn.T, first).T + np.cross(t, rate.T).T]


BEAD = 0.01  # size of what slides and has none, and of an eyelet [m]


@dataclass(frozen=True, eq=False, repr=False)
class Sliding(Joint):
    """Joint by which a point of any body slides along a flexible line: along a rod, a beam or a string.

    All rotations of the body are free, and its position along the line is a coordinate, with springs, dampers,
    friction, stops and drives as of other joints. A point of the ground is an eyelet through which the line moves.
    The line is smooth: it passes the nodes of a rod or beam along their sections' x axes, and those of a string
    with tangents from their neighbours. Neighbouring sections should rotate by less than 0.2 rad each.

    Positions are lengths along the undeformed line [m], from 0 at its start. At an end the point rebounds with
    ``slide.stop(lower=0.0, upper=length)``, and falls off with ``model.at(ph.When(ph.JointPosition(slide),
    above=length), release=slide)``; without either, a run in which it leaves the line ends with an error. Springs,
    friction, stops and motors along the position end with the released joint. A drive, relation or lock has to be
    released before it.

    Attributes:
        slider: port that slides.
        line: the rod, beam, beam in parts or string, as ``model.add`` returned it.

    Raises:
        ModelError: no port, a line that is none of these, a string of fewer than four nodes, or a port on the
            line itself.

    Example:
        >>> model = ph.Model(gravity=(0, 0, 0))
        >>> spoke = ph.Rod(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7800.0), elements=4)
        >>> rod = model.add(spoke, "rod")
        >>> hub = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
        >>> bead = model.add(ph.PointMass(0.1), "bead", position=(0.2, 0, 0), velocity=(0.5, 0, 0))
        >>> slide = model.connect(ph.Sliding(bead.origin, rod))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> print(round(float(motion[ph.JointPosition(slide)][-1]), 6))
        0.7
    """

    first: Port = field(init=False)
    second: Port = field(init=False)
    slider: Port
    line: PlacedWhole | PlacedBody

    coordinate_names = ("position",)

    def __post_init__(self) -> None:
        line = self.line
        body = line.body if isinstance(line, PlacedRod | PlacedWhole | PlacedBody) else None
        if body is not None and not isinstance(body, Beam | SplitBeam | Rod | String):
            raise ModelError(
                f"Sliding: a {type(body).__name__} has no line to slide along, {line.name} is one; take a ph.Rod, a"
                " ph.Beam or a ph.String, or for a straight rigid guide the joint ph.Slider"
            )
        if body is None:
            raise ModelError(f"Sliding: line must be a rod, beam or string that model.add returned, got {line!r}")
        if isinstance(body, String) and len(body.mesh.nodes) < PIECE_VECTORS:
            raise ModelError(
                f"Sliding: {line.name} has {len(body.mesh.nodes)} nodes, and a line along a string needs"
                f" {PIECE_VECTORS} at least; take more elements"
            )
        check_ports(self, slider=self.slider, line=line.start)
        parts = line.parts if isinstance(line, PlacedWhole) else (line,)
        if isinstance(self.slider, Attachment) and self.slider.placed in parts:
            raise ModelError(f"Sliding: {self.slider} is on {line.name} itself; another body must slide along it")
        set_fields(self, first=line.start, second=self.slider)
        super().__post_init__()

    @property
    def moved(self) -> tuple[float, float]:
        """Mass [kg] and size [m] of the body that slides, or of a line through an eyelet of the ground."""
        if isinstance(self.slider, Attachment):
            return self.slider.placed.data.mass, self.slider.placed.data.size or BEAD
        body = self.line.body
        assert isinstance(body, Beam | SplitBeam | Rod | String)
        return body.mass, BEAD

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the scalar constraints of this sliding joint: the offset of a point from the line along a beam,
        rod or string is zero across the line. There is one constraint in the plane and two in space. ``dimension``
        is the number of space dimensions of the model. The position along the line, where the point is nearest,
        stays free.

        Raises:
            ModelError: a model on a line.
        """
        position, *offsets = self._quantities(dimension)
        guide: tuple[tuple[Coordinate, float], ...] = ((position, 0.0),)
        rows = []
        for offset in offsets:
            parts = (*guide, (offset, 1.0))
            rows.append(RelationFunction((), 0.0, f"point across the line, {offset.name}", None, parts))
            guide = ()
        return tuple(rows)

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Return the coordinate of a joint whose point slides along a line, as a tuple of one: its position along
        the undeformed line [m]. ``dimension`` of the model is 2 or 3. Raise ``ModelError`` for 1, and for a point
        that is initially beyond an end of the line."""
        return self._quantities(dimension)[:1]

    @cached_on_owner
    def _quantities(self, dimension: int) -> tuple[LineCoordinate, ...]:
        if dimension == 1:
            raise ModelError(f"{self} needs the plane or space; on a line nothing is across it")
        line, directions = line_of(self.line), self._directions(dimension)
        names = ("position", "direction 1", "direction 2")[:dimension]
        made = tuple(LineCoordinate(name, line, self.slider, directions, k) for k, name in enumerate(names))
        position, length = made[0].initial_value(), line.whole
        if not -AT_END * length <= position <= (1 + AT_END) * length:
            raise ModelError(
                f"{self}: {self.slider} is beyond an end of {self.line.name} at the initial pose, at"
                f" {position:.6g} m of 0 .. {length:g} m along it"
            )
        return made

    def _directions(self, dimension: int) -> tuple[Vector, ...]:
        """Return the axes in which a sliding joint computes the components of its line, one for each of the
        ``dimension`` directions (2 or 3). They are fixed to the body of the sliding point, else to the rod or beam
        at the line's start, else (both without orientation) to the world."""
        held = next((port for port in (self.slider, self.line.start) if port.has_orientation), None)
        axes = AXES[:dimension]
        return tuple(WorldAxis(axis) if held is None else DirectionOf(held, axis) for axis in axes)

    def __repr__(self) -> str:
        return self.name or f"Sliding({self.slider}, {self.line.name})"
