"""Mechanism as arrays of numbers, made once and cached until the mechanism changes (docs/theory.md, 2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_
from typing import NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray, PickledFields
from phlexible.algebra.sparse import Matrix, block_diagonal, is_small
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Interface
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.mechanics.floating import centred, is_vectorized, mass_matrix, undeformed_mass
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import (
    Bilinear,
    Coordinate,
    DirectionOf,
    PointOf,
    Vector,
    initial_sum,
)
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation, RelationFunction
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.mechanism.modal_damping import warn_of_damping_ratios
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError
from phlexible.state.functions import (
    ConstraintSet,
    CoordinateFunctions,
    FunctionSet,
    constraint_set,
    function_set,
    related_coordinates,
)
from phlexible.state.instants import Instants, PrescribedFunctions, PrescribedMotions, instant_of
from phlexible.state.layout import Layout, State, layout_of
from phlexible.state.vectors import VectorResolver, VectorSet

# Joints at interfaces of parts from files, whose positions are as accurate as files are (docs/meshes.md).

INTERFACE_PRECISION = 1e-5
"""Tolerance relative to the size of a part; files of geometry have some six digits, holes are polygons in a
mesh.
"""

INTERFACE_ROUND_OFF = 16 * float(np.finfo(float).eps)
"""Gaps below this share of positions are round-off."""


def allowed_gap(joint: object) -> float:
    """Return the largest initial gap [m] of a joint that is tolerated because the joint is at an interface (hole,
    face) of a mesh: 1e-5 of the size of the body, since files are not more accurate. It is 0 for all other
    joints."""
    ports = (joint.first, joint.second) if isinstance(joint, Joint) else ()
    sizes = [port.placed.data.size for port in ports if isinstance(port, Attachment) and _is_interface(port)]
    return INTERFACE_PRECISION * max(sizes, default=0.0)


def rows_moved_to_interface(joint: object, rows: Sequence[Bilinear]) -> Sequence[Bilinear]:
    """Return the scalar constraints ``rows`` of a joint at an interface (hole, face) of a mesh, moved to the
    material point that lies exactly there. So the small initial gap vanishes. Constraints with larger gaps,
    and of other joints, are returned unchanged.

    That point moves with the interface: a gap that closed in the first step would be a jolt, and forces at two
    points next to each other would turn what is free.
    """
    limit = allowed_gap(joint)
    if limit == 0.0:
        return rows
    assert isinstance(joint, Joint), "only these have a limit"
    port = joint.second if _is_interface(joint.second) else joint.first
    assert isinstance(port, Attachment), "an interface"
    placed = [k for k, row in enumerate(rows) if _positions_port(row, port)]
    if not placed:
        return rows
    gaps = [rows[k].initial_value() / rows[k].terms[0].coefficient for k in placed]
    axes = [initial_sum(rows[k].terms[0].second) for k in placed]
    offset = np.linalg.lstsq(np.array(axes), np.array(gaps), rcond=None)[0]
    round_off = INTERFACE_ROUND_OFF * (port.placed.data.size + np.abs(port.initial_position()).max())
    if not round_off < np.linalg.norm(offset) <= limit:
        return rows
    return [_shifted_row(row, port, offset) if k in placed else row for k, row in enumerate(rows)]


def _positions_port(row: Bilinear, port: Attachment) -> bool:
    """Return whether a scalar constraint (``row``) demands that the distance of an attachment point
    (``port``) from another point, measured along a direction, is zero."""
    if row.is_angle or row.constant != 0.0 or row.offset is not None or len(row.terms) != 1:
        return False
    term = row.terms[0]
    return term.factor is None and term.second.is_direction and len(_weights(row, port)) == 1


def _weights(row: Bilinear, port: Attachment) -> list[float]:
    parts = row.terms[0].first.parts
    return [weight for weight, part in parts if isinstance(part, PointOf) and part.port is port]


def _shifted_row(row: Bilinear, port: Attachment, offset: Array) -> Bilinear:
    """Return a copy of a scalar constraint (``row``) that acts on the material point at ``offset`` from the
    attachment ``port`` instead of the port. The offset is in world axes at the initial pose [m], shape (3,)."""
    term, weight = row.terms[0], _weights(row, port)[0]
    parts = (*term.first.parts, (-weight, DirectionOf(port, offset / weight)))
    return replace(row, terms=(replace(term, first=replace(term.first, parts=parts)),))


def _is_interface(port: Port) -> bool:
    return isinstance(port, Attachment) and isinstance(port.location, Interface) and port.has_orientation


# A mechanism resolved into numbers, once (docs/theory.md, 2).
#
# What assembly, observables, linear analysis and rank decisions read.

COINCIDENT = 1e-9
TOGETHER = 2**18  # numbers in the matrices of bodies that are evaluated together
ROUND_OFF = 8 * float(np.finfo(float).eps)


class RowOwner(NamedTuple):
    """One scalar constraint function together with the joint, drive or relation that it belongs to."""

    joint: Joint | Drive | JointRelation
    row: Bilinear


class ScalarForce(NamedTuple):
    """Force along one coordinate together with the force element that it belongs to."""

    element: ForceElement
    force: CoordinateForce

    @property
    def is_prescribed(self) -> bool:
        """Whether this force along a joint coordinate has a prescribed part: its element is an actuator, or its
        value is not simply the number zero."""
        is_zero = isinstance(self.force.value, int | float) and self.force.value == 0
        return self.element.is_actuator or not is_zero


@dataclass(frozen=True, eq=False)
class System(PickledFields):
    """Mechanism as arrays of numbers, which all computations read; made by ``system_of`` and never changed.

    Attributes:
        mechanism: the mechanism as it was when the arrays were made.
        bodies: bodies with a floating frame, then those in absolute coordinates.
        frames: data of the bodies with a frame, about their centres of mass (2.6).
        centres: S / m of each, (3, n + 1): where that is in body axes.
        constraints: joints, then drives, then relations.
        owners: joint and function of every multiplier.
        forces: scalar forces of all elements.
        loads: forces and moments on single attachments, load after load.
        moving_frames: frames that joints and elements use, by first appearance.
    """

    mechanism: Mechanism
    bodies: tuple[PlacedBody, ...]
    frames: tuple[FloatingBody, ...]
    centres: tuple[Array, ...]
    constraints: tuple[Joint | Drive | JointRelation, ...]
    owners: tuple[RowOwner, ...]
    forces: tuple[ScalarForce, ...]
    loads: tuple[PointLoad, ...]
    moving_frames: tuple[MovingFrame, ...]
    layout: Layout

    def __repr__(self) -> str:
        return f"System({self.mechanism!r})"

    @property
    def dimension(self) -> int:
        """Dimension of the mechanism: 2 for motion in the xy plane, 3 in space."""
        return self.mechanism.dimension

    @cached_property
    def floating(self) -> tuple[FloatingBody, ...]:
        """Data of all floating bodies (rigid bodies, beams, flexible parts with a moving frame). They are relative
        to the origins of their body frames rather than to their centres of mass."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, FloatingBody))

    @cached_property
    def nodal(self) -> tuple[AbsoluteBody, ...]:
        """Data of all bodies whose unknowns are nodal positions in the world (strings, soft bodies), in the order
        of ``bodies``."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, AbsoluteBody))

    @cached_property
    def carrier_translations(self) -> Array:
        """Displacement of each carrier (floating body, or node of another body) for a unit translation of all
        bodies, shape (carriers,): 1, and 0 for directors of shells."""
        return np.concatenate([np.ones(len(self.frames)), *(body.translations for body in self.nodal)])

    @cached_property
    def prescribed(self) -> dict[Joint | Drive | ForceElement, TimePath]:
        """Dictionary from each joint (hoist), drive or force element (winch) that has a prescribed function of
        time to this function; joints come first."""
        elements = (each.element for each in self.forces)
        parts: tuple[Joint | Drive | ForceElement, ...]
        parts = (*self.mechanism.joints, *self.mechanism.drives, *elements)
        return {part: part.path for part in parts if part.path is not None}

    @property
    def paths(self) -> tuple[TimePath, ...]:
        """Prescribed functions of time of the mechanism, first those of joints (hoists), then those of drives and
        those of winches."""
        return tuple(self.prescribed.values())

    @cached_property
    def index(self) -> dict[PlacedBody, int]:
        """Dictionary from each body of the mechanism to its index in this system."""
        return {placed: index for index, placed in enumerate(self.bodies)}

    @cached_property
    def resolver(self) -> VectorResolver:
        """Converter of symbolic world vectors (points and directions of bodies and ground) to indices and numbers
        of this system."""
        frames = {frame: number for number, frame in enumerate(self.moving_frames)}
        return VectorResolver(self.layout, frames, self.index, self.centres)

    @cached_property
    def rod_strains(self) -> FunctionSet:
        """Scalar functions of the section positions and directions of all rods that are constant in rigid motions
        of a rod: its strains and curvatures."""
        dimension = self.dimension
        elements = [element for rod in self.mechanism.rods for element in rod.elements]
        return self.functions([row for each in elements for point in each.functions(dimension) for row in point])

    @cached_property
    def rows(self) -> FunctionSet | ConstraintSet:
        """Set of the scalar constraint functions of all joints, drives and relations (gears, belts) of the
        mechanism. Its methods return values, constraint matrix and rates of all functions at the instants that
        they are called with. It is a ``ConstraintSet`` if the mechanism has relations, else a ``FunctionSet``,
        which has the same methods."""
        return self.constraint_functions([owner.row for owner in self.owners])

    def constraint_functions(self, rows: Sequence[Bilinear]) -> FunctionSet | ConstraintSet:
        """Convert symbolic constraint functions ``rows`` to a set that evaluates them with the bodies of this
        system. Some of them may be relations of joint coordinates."""
        if not any(isinstance(row, RelationFunction) for row in rows):
            return self.functions(rows)
        return constraint_set(rows, self.functions)

    @cached_property
    def related(self) -> tuple[CoordinateFunctions, ...]:
        """Joint coordinates that occur in relations between coordinates (gears, belts), in the order of the
        constraints. Each comes with its factor and the indices of its functions."""
        return tuple(related_coordinates([owner.row for owner in self.owners]))

    @cached_property
    def row_switches(self) -> IntArray:
        """Index of the lock or event that activates or releases each scalar constraint during a run, shape (rows,);
        -1 for one that is always active."""
        number = {id(switch.constraint): k for k, switch in enumerate(self.mechanism.switches)}
        return np.array([number.get(id(owner.joint), -1) for owner in self.owners], dtype=np.int64)

    @cached_property
    def phases(self) -> "dict[bytes, Phase]":
        """Cache of the copies of this system in which only some constraints are active. Its keys are the sets of
        closed locks as bytes; see ``phase``."""
        return {}

    def phase(self, locks: Array) -> "Phase":
        """Return this system with only those constraints that are active while locks have the given positions,
        shape (switches,); NaN marks an open lock. Results are cached."""
        is_locked = ~np.isnan(locks)
        if is_locked.all():
            return self.whole_phase
        if (key := is_locked.tobytes()) not in self.phases:
            holds = [own < 0 or is_locked[own] for own in self.row_switches]
            self.phases[key] = self.with_rows(np.array(holds, dtype=bool))
        return self.phases[key]

    @property
    def whole_phase(self) -> "Phase":
        """System with all of its constraints active, also those that locks and events can release. It is the
        counterpart of ``phase``."""
        count = len(self.constraints)
        return Phase(self, np.arange(len(self.owners)), np.arange(count), count)

    def row_values(self, at: Instants, theta: Array | None) -> Array:
        """Return the values of all scalar constraint functions of a system at given instants, shape (instants,
        rows) [m, or cosines and angles]; zero where joints close. Angles in relations are counted over the full
        turns of ``theta``, the coordinates of forces and then of relations, shape (instants, coordinates), or are
        within half a turn if it is None."""
        rows = self.rows
        if isinstance(rows, ConstraintSet) and theta is not None:
            return rows.values(at, theta[:, theta.shape[1] - len(rows.related) :])
        return rows.values(at)

    def with_rows(self, holds: BoolArray) -> "Phase":
        """Return a copy of this system that has only the scalar constraints chosen by the mask ``holds``,
        shape (rows,). The scalar constraints of one joint must be chosen together."""
        if holds.all():
            return self.whole_phase
        starts = self.layout.multiplier
        active = [k for k in range(len(self.constraints)) if starts[k] == starts[k + 1] or holds[starts[k]]]
        rows = np.flatnonzero(holds)
        system = replace(
            self,
            constraints=tuple(self.constraints[k] for k in active),
            owners=tuple(self.owners[row] for row in rows),
            layout=layout_of(self.bodies, tuple(self.layout.rows[k] for k in active)),
        )
        return Phase(system, rows, np.array(active, dtype=np.int64), len(self.constraints))

    def coordinate_rows(self, coordinates: Sequence[Coordinate]) -> ConstraintSet:
        """Return coordinates of joints or forces as functions of world vectors, evaluated together, a row for
        each."""
        rows = [RelationFunction((), 0.0, each.name, None, ((each, 1.0),)) for each in coordinates]
        return constraint_set(rows, self.functions)

    @cached_property
    def force_coordinates(self) -> ConstraintSet:
        """Coordinates of all scalar force elements (springs, dampers, motors) as functions of world vectors, a row
        for each."""
        return self.coordinate_rows([each.force.coordinate for each in self.forces])

    @property
    def force_functions(self) -> FunctionSet:
        """Scalar functions of world vectors that define the coordinates (angles, lengths) of all scalar force
        elements, element after element. World vectors are points of bodies, or directions fixed to them, in world
        axes."""
        return self.force_coordinates.functions

    def functions(self, rows: Sequence[Bilinear]) -> FunctionSet:
        """Convert symbolic scalar functions ``rows`` of points and directions (constraints, joint
        coordinates) to a ``FunctionSet``, which evaluates them with the bodies of this system."""
        return function_set(rows, self.layout, self.resolver, self.paths)

    def vectors(self, vectors: Sequence[Vector]) -> VectorSet:
        """Convert symbolic ``vectors`` (points and directions) of bodies and ground to a ``VectorSet``, which
        evaluates them with the bodies of this system. Points between two nodes of a string are not allowed."""
        return VectorSet(tuple(self.resolver.resolve(vector) for vector in vectors), self.layout)

    def point(self, port: Port) -> "tuple[Array, VectorSet]":
        """Return weights, shape (k,), and a set of k world vectors whose weighted sum is the position of a port; a
        port is an attachment of a body or a point of the ground. There is more than one vector only between two
        nodes of a string."""
        parts = self.resolver.parts(PointOf(port))
        return np.array([weight for weight, _ in parts]), VectorSet(tuple(v for _, v in parts), self.layout)

    def at(self, state: State, end: float = np.inf, prescribed: PrescribedMotions | None = None) -> Instants:
        """Return a state of this system as ``Instants`` with a single instant. It includes the motions of ground
        frames and drives at its time, which are ``prescribed`` or evaluated from the user's functions. Their
        accelerations are differences of values up to the time ``end`` [s]."""
        functions = PrescribedFunctions(self.moving_frames, self.paths, np.array([state.time]), end)
        return instant_of(state, functions if prescribed is None else prescribed)

    def at_rest(self, state: State) -> Instants:
        """Return a state of this system as ``Instants`` with a single instant, at which ground frames and drives
        stand still. Dampers between them and bodies at rest are without force then."""
        functions = PrescribedFunctions(self.moving_frames, self.paths, np.array([state.time]))
        return instant_of(state, functions.stopped())

    def elastic(self, state: State, index: int) -> Array:
        """Return the elastic coordinates of a floating body in a state, or the nodal positions of another body
        (string, soft body), as a flat array. ``index`` is the number of the body."""
        return self.layout.elastic(index, state.position, state.eta)

    @cached_property
    def identical(self) -> tuple[tuple[BodyData, list[int]], ...]:
        """Bodies grouped by identical data, so that the bodies of a group can be evaluated in one vectorized call:
        pairs of the data and a list of body indices. Groups are limited in size; bodies that are not vectorized
        form groups of one."""
        lots: list[tuple[BodyData, list[int]]] = []
        open_lots: dict[int, list[int]] = {}
        for index, placed in enumerate(self.bodies):
            data, lot = placed.data, open_lots.get(id(placed.data))
            if lot is not None and len(lot) * max(data.elastic_count, 1) ** 2 < TOGETHER:
                lot.append(index)
                continue
            lots.append((data, [index]))
            if isinstance(data, FloatingBody) and is_vectorized(data):
                open_lots[id(data)] = lots[-1][1]
        return tuple(lots)

    def body_mass(self, state: State, index: int) -> Matrix:
        """Return the mass matrix of one body in a state with respect to its velocities, shape (n, n): an array for
        a floating body, a sparse matrix for a string or soft body. ``index`` is the number of the body."""
        data = self.bodies[index].data
        if isinstance(data, AbsoluteBody):
            return absolute.mass_matrix(data)
        eta = self.elastic(state, index)
        data = self.frames[index]
        return mass_matrix(data, eta) if eta.any() else undeformed_mass(data)

    def mass(self, state: State) -> sparse.csr_array:
        """Return the mass matrix of all bodies in a state as a sparse block-diagonal matrix, shape (velocities,
        velocities)."""
        blocks = [self.body_mass(state, index) for index in range(len(self.bodies))]
        return sparse.csr_array(sparse.block_diag(blocks, "csr")) if blocks else sparse.csr_array((0, 0))

    def small_mass(self, state: State, at: Instants) -> Matrix:
        """Return the mass matrix of all bodies in a state, shape (velocities, velocities). It is a NumPy array that
        is cached in the instant ``at`` if the system is small, else a sparse matrix."""
        size = int(self.layout.velocity[-1])
        if not is_small(size):
            return self.mass(state)
        blocks = (self.body_mass(state, index) for index in range(len(self.bodies)))
        return at.once(self, "mass", lambda: block_diagonal(blocks, size))

    def coordinate_functions(self, coordinate: Coordinate) -> FunctionSet:
        """Return the set of scalar functions of points and directions from which one joint coordinate (angle or
        length) is computed."""
        return self.functions(coordinate.functions())

    @cached_property
    def body_length(self) -> float:
        """Size of the largest body of the mechanism [m], or of the whole mechanism if all bodies are points. Used
        as a scale of gaps."""
        return max((placed.data.size for placed in self.bodies), default=0.0) or self.largest_length

    @cached_property
    def largest_length(self) -> float:
        """Characteristic length of the mechanism [m]: the larger of the size of the largest body and the initial
        extent of all bodies and joint points. It does not depend on where the mechanism stands in the world.

        Points that coincide have no extent but their gaps: theirs is the distance from the origin, at most 1.
        """
        far = float(np.abs(self._positions).max(initial=0.0))
        extent = float(np.linalg.norm(np.ptp(self._positions, axis=0))) if len(self._positions) else 0.0
        largest = max([*(placed.data.size for placed in self.bodies), extent])
        return largest if largest > COINCIDENT * far else min(far, 1.0) or 1.0

    @cached_property
    def round_off(self) -> float:
        """Numerical round-off of the difference of two positions that are as far from the world origin as this
        mechanism [m]."""
        return float(ROUND_OFF * np.abs(self._positions).max(initial=0.0))

    @cached_property
    def _positions(self) -> Array:
        """Positions of all bodies and of all joint points at t = 0 in world axes, shape (points, 3) [m]. Length
        scales are computed from them."""
        ports = [port for joint in self.mechanism.joints for port in (joint.first, joint.second)]
        positions = [placed.origin_position for placed in self.bodies] + [port.initial_position() for port in ports]
        return np.array(positions).reshape(-1, 3)

    @cached_property
    def reach(self) -> float:
        """Length scale of the mechanism [m]: the largest sum of a body's distance from the world origin and its
        size; 1 if it is zero."""
        reach = [float(np.linalg.norm(placed.origin_position)) + placed.data.size for placed in self.bodies]
        return max(reach, default=0.0) or 1.0

    @cached_property
    def angle_rows(self) -> BoolArray:
        """Whether each scalar constraint is one on directions or angles rather than a length, shape (rows,)."""
        return np.array([owner.row.is_angle for owner in self.owners], dtype=np.bool_)

    @cached_property
    def gap_lengths(self) -> Array:
        """Reference value by which the gap of each scalar constraint is divided, shape (rows,): the size of the
        largest body [m], or 1 for constraints on directions and angles."""
        return np.where(self.angle_rows, 1.0, self.body_length)

    def relative_gaps(self, gaps: Array) -> Array:
        """Return dimensionless gaps of the scalar constraints, shape (rows,): absolute values of ``gaps``, less the
        round-off of positions, over the size of the largest body (or over 1 for angles)."""
        round_off = np.where(self.angle_rows, ROUND_OFF, self.round_off)
        return np.asarray(np.maximum(np.abs(gaps) - round_off, 0.0) / self.gap_lengths)


@dataclass(frozen=True, eq=False)
class Phase:
    """System with only those constraints that are active during some part of a run.

    Attributes:
        system: system that has only the active constraints.
        rows: indices of its rows among those of the whole system, shape (rows,).
        active: indices of the active constraints among all, shape (active,).
        constraints: number of constraints of the whole system.
    """

    system: System
    rows: IntArray
    active: IntArray
    constraints: int


def system_of(mechanism: Mechanism) -> System:
    """Convert a mechanism (bodies, joints and interactions), as it is now, to a ``System``: arrays, indices and
    symbolic constraint functions that all computations read.

    Raises:
        ModelError: joints or elements that its dimension or their ports do not allow.
    """
    bodies, dimension = mechanism.bodies, mechanism.dimension
    for placed in bodies:
        placed.settle()
    known: dict[int, tuple[FloatingBody, Array]] = {}  # bodies of one description share their numbers
    pairs = []
    for placed in bodies:
        if isinstance(placed.data, FloatingBody):
            if id(placed.data) not in known:
                known[id(placed.data)] = centred(placed.data)
            pairs.append(known[id(placed.data)])
    constraints = mechanism.constraints
    rows = [rows_moved_to_interface(part, part.constraints(dimension)) for part in constraints]
    owners = [RowOwner(part, row) for part, own in zip(constraints, rows, strict=True) for row in own]
    driven = {element.driven for element in mechanism.elements}
    elements = [element for element in mechanism.elements if element not in driven]
    forces = [ScalarForce(element, force) for element in elements for force in element.forces(dimension)]
    return System(
        mechanism,
        bodies,
        tuple(data for data, _ in pairs),
        tuple(position for _, position in pairs),
        constraints,
        tuple(owners),
        tuple(forces),
        tuple(entry for load in mechanism.loads for entry in load.entries()),
        moving_frames(mechanism),
        layout_of(bodies, tuple(len(own) for own in rows)),
    )


def moving_frames(mechanism: Mechanism) -> tuple[MovingFrame, ...]:
    """Return the moving frames of the ground that joints, force elements and relations of a mechanism use, each
    once, in the order of first appearance."""
    parts = (*mechanism.joints, *mechanism.applied_elements, *mechanism.relations)
    ports = (port for part in parts for port in ports_of(part))
    moving = [port for port in ports if isinstance(port, MovingFrame) and not port.is_fixed]
    return tuple({id(frame): frame for frame in moving}.values())


def require_bodies(system: System) -> None:
    """Raise a ``ModelError`` if a system has no bodies.

    Raises:
        ModelError: always then.
    """
    if not system.bodies:
        raise ModelError("the model has no bodies; add one with model.add(...)")


# The numbers of a mechanism, made once and kept until the mechanism changes.


class SystemCache:
    """Cache of the ``System`` of a mechanism, valid as long as the mechanism has the same parts.

    Parts are immutable. What a system takes from functions of time are the places of moving frames at t = 0: they
    are asked for each time, so that a function that reads a changed variable makes a new system.
    """

    def __init__(self) -> None:
        self._parts: tuple[object, ...] = ()
        self._position_bytes: tuple[bytes, ...] = ()
        self._system: System | None = None

    def of(self, mechanism: Mechanism) -> System:
        """Return the ``System`` (arrays of numbers) of a mechanism as it is now. It is taken from the cache if the
        mechanism has the same parts as at the last call, else computed and stored.

        Raises:
            ModelError: as ``system_of``.
        """
        known, parts = self._system, _parts(mechanism)
        if known is None or not _are_same(parts, self._parts) or _position_bytes(known) != self._position_bytes:
            known = system_of(mechanism.shallow_copy())  # without its cache, which holds this system
            warn_of_damping_ratios(mechanism)
            self._parts, self._position_bytes, self._system = _parts(mechanism), _position_bytes(known), known
        return known


def _position_bytes(system: System) -> tuple[bytes, ...]:
    """Return the positions at t = 0 of all moving ground frames of a system as a tuple of bytes. It is compared to
    see whether the cached system is still valid."""
    return tuple(frame.initial_position().tobytes() for frame in system.moving_frames)


def _parts(mechanism: Mechanism) -> tuple[object, ...]:
    """Return all bodies, constraints, loads, elements, locks and events of a mechanism as one tuple. It is compared
    by identity to see whether the cached system is still valid."""
    bodies = mechanism.bodies
    data = [placed.data for placed in bodies]
    switches = [switch.constraint for switch in mechanism.switches]
    return (
        *bodies,
        *data,
        *mechanism.constraints,
        *mechanism.loads,
        None,
        *mechanism.elements,
        *switches,
        None,
        *mechanism.events,
    )


def _are_same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(map(is_, first, second))
