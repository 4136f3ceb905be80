"""Mechanism as arrays of numbers, made once and cached until the mechanism changes (docs/theory.md, 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray, PickledFields
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.sparse import Matrix, block_diagonal, is_small
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Interface
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.mechanics.floating import centred, is_vectorized, mass_matrix, undeformed_mass
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import AlongJoint, CoordinateForce, ForceElement
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
    """Return the largest initial gap [m] of a joint that is tolerated: 0, unless the joint is at an interface
    (hole, face) of a mesh. There it is 1e-5 of the size of the largest such body, since files are not more
    accurate."""
    ports = (joint.first, joint.second) if isinstance(joint, Joint) else ()
    sizes = [port.placed.data.size for port in ports if isinstance(port, Attachment) and _is_interface(port)]
    return INTERFACE_PRECISION * max(sizes, default=0.0)


def rows_moved_to_interface(joint: object, rows: Sequence[Bilinear]) -> Sequence[Bilinear]:
    """Return the scalar constraints ``rows`` of a joint at a mesh interface, moved to the material point that
    closes the initial gap. An interface is a hole or face of a mesh. The offset from its point is found by least
    squares. The constraints are returned unchanged for other joints, for gaps above ``allowed_gap`` and for gaps
    of round-off.

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
    """Return whether a scalar constraint (``row``) states that the distance of ``port`` from another point along a
    direction is zero. Such a constraint is one scalar product without constant and function of time, in which the
    port occurs once."""
    if row.is_angle or row.constant != 0.0 or row.offset is not None or len(row.terms) != 1:
        return False
    term = row.terms[0]
    return term.factor is None and term.second.is_direction and len(_weights(row, port)) == 1


def _weights(row: Bilinear, port: Attachment) -> list[float]:
    parts = row.terms[0].first.parts
    return [weight for weight, part in parts if isinstance(part, PointOf) and part.port is port]


def _shifted_row(row: Bilinear, port: Attachment, offset: Array) -> Bilinear:
    """Return a copy of a scalar constraint (``row``) that acts on the material point at ``offset`` from the body's
    point ``port`` instead of the port. The offset is in world axes at the initial pose [m], shape (3,)."""
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
        """Return whether this force along a joint coordinate can have a prescribed part. It can if its element is
        an actuator, or if its value is anything but the number zero, such as a function of time."""
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
        constraints: joints, then drives, then relations; a joint that fixes nodes once for each.
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
        """Return the dimension of the mechanism: 1 for motion along the x axis, 2 for motion in the xy plane, 3 in
        space."""
        return self.mechanism.dimension

    @cached_property
    def floating(self) -> tuple[FloatingBody, ...]:
        """Return the data objects of all bodies of this system that have a moving body frame (rigid bodies,
        flexible bodies). They are in the order of the bodies; bodies described by nodes alone are left out. Their
        mass properties refer to the origin of the body frame, not to the centre of mass."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, FloatingBody))

    @cached_property
    def nodal(self) -> tuple[AbsoluteBody, ...]:
        """Return the data objects of all bodies whose unknowns are nodal positions in the world (strings, soft
        bodies), in the order of ``bodies``. Bodies with a moving body frame are left out."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, AbsoluteBody))

    @cached_property
    def carrier_translations(self) -> Array:
        """Return the displacement of each floating body, then of each node of the other bodies, for a unit
        translation of the mechanism, shape (carriers,). It is 1 for bodies and positions, and 0 for directors of
        shells."""
        return np.concatenate([np.ones(len(self.frames)), *(body.translations for body in self.nodal)])

    @cached_property
    def prescribed(self) -> dict[Joint | Drive | ForceElement, TimePath]:
        """Return a dictionary of all prescribed functions of time, whose keys are the joints (hoists), drives and
        force elements (winches) that follow them. Objects without such a function are left out. Joints come first,
        then drives, then force elements."""
        elements = (each.element for each in self.forces)
        parts: tuple[Joint | Drive | ForceElement, ...]
        parts = (*self.mechanism.joints, *self.mechanism.drives, *elements)
        return {part: part.path for part in parts if part.path is not None}

    @property
    def paths(self) -> tuple[TimePath, ...]:
        """Return all prescribed functions of time of the mechanism as a tuple: first those of joints (hoists),
        then of drives, then of force elements (winches). It has the values of ``prescribed``."""
        return tuple(self.prescribed.values())

    @cached_property
    def turn_counters(self) -> dict[tuple[object, str], int]:
        """Return the index of the first force along each angle of a joint, by the joint and the name of the
        coordinate. The state has the coordinates of forces, angles over full turns, also of a spring that is wound
        up, which poses do not show."""
        angles = [(k, each.element) for k, each in enumerate(self.forces) if each.force.coordinate.is_angle]
        return {(x.joint, x.coordinate): k for k, x in reversed(angles) if isinstance(x, AlongJoint)}

    @cached_property
    def index(self) -> dict[PlacedBody, int]:
        """Return a dictionary from each body of the mechanism to its index in this system, counted from 0 in the
        order of ``bodies``."""
        return {placed: index for index, placed in enumerate(self.bodies)}

    @cached_property
    def resolver(self) -> VectorResolver:
        """Return the object that converts symbolic points and directions of bodies and ground to numerical vectors
        and indices of this system. It knows the indices of bodies and moving ground frames and the centres of
        mass."""
        frames = {frame: number for number, frame in enumerate(self.moving_frames)}
        return VectorResolver(self.layout, frames, self.index, self.centres)

    @cached_property
    def known_redundancies(self) -> list[tuple[State, list[Any]]]:
        """Return a list of at most one pair: the last state for which ``redundancies`` were computed, and these."""
        return []

    @cached_property
    def rod_strains(self) -> FunctionSet:
        """Return a ``FunctionSet`` of the scalar functions of section positions and directions from which the
        strains and curvatures of all rods follow. They are constant in rigid motions of a rod; one after another
        for each element and each of its points."""
        dimension = self.dimension
        elements = [element for rod in self.mechanism.rods for element in rod.elements]
        return self.functions([row for each in elements for point in each.functions(dimension) for row in point])

    @cached_property
    def rows(self) -> FunctionSet | ConstraintSet:
        """Return one object that evaluates the scalar constraint functions of all joints, drives and relations
        (gears, belts) together. Its methods return, at given instants, the values of all functions, their
        constraint matrix (one row for each function, one column for each velocity) and their rates. It is a
        ``ConstraintSet`` if there are relations, which combine several functions to one constraint, else a
        ``FunctionSet`` with the same methods."""
        return self.constraint_functions([owner.row for owner in self.owners])

    def constraint_functions(self, rows: Sequence[Bilinear]) -> FunctionSet | ConstraintSet:
        """Convert symbolic constraint functions ``rows`` to an object that evaluates them together with the bodies
        of this system. It is a ``ConstraintSet`` if any of them is a relation of joint coordinates (gear, belt),
        else a ``FunctionSet``."""
        if not any(isinstance(row, RelationFunction) for row in rows):
            return self.functions(rows)
        return constraint_set(rows, self.functions)

    @cached_property
    def related(self) -> tuple[CoordinateFunctions, ...]:
        """Return one record for each joint coordinate in relations between coordinates (gears, belts), in the
        order of the constraints. It has the index of the constraint, the coordinate, its factor and the slice of
        its vector functions."""
        return tuple(related_coordinates([owner.row for owner in self.owners]))

    @cached_property
    def row_switches(self) -> IntArray:
        """Return, for each scalar constraint, the index of the switch (lock or event) that activates or releases
        it during a run, shape (constraints,). It is -1 for a constraint that is always active."""
        number = {id(switch.constraint): k for k, switch in enumerate(self.mechanism.switches)}
        return np.array([number.get(id(owner.joint), -1) for owner in self.owners], dtype=np.int64)

    def phase(self, locks: Array) -> "Phase":
        """Return this system with only those constraints that are active for given lock positions, shape
        (switches,), where NaN marks an open lock. The result is a ``Phase``: the system with these constraints,
        and their indices. It is created once for each set of closed locks and cached. With all locks closed it is
        the system with all constraints."""
        is_locked = ~np.isnan(locks)
        return self.whole_phase if is_locked.all() else self._phase_of(is_locked.tobytes())

    @cached_on_owner
    def _phase_of(self, is_locked: bytes) -> "Phase":
        closed = np.frombuffer(is_locked, dtype=bool)
        return self.with_rows(np.array([own < 0 or closed[own] for own in self.row_switches], dtype=bool))

    @property
    def whole_phase(self) -> "Phase":
        """Return a ``Phase`` (system and indices of its constraints) with this system itself and all of its
        constraints active. It includes the constraints that locks and events can release."""
        count = len(self.constraints)
        return Phase(self, np.arange(len(self.owners)), np.arange(count), count)

    def row_values(self, at: Instants, theta: Array | None) -> Array:
        """Return the values of all scalar constraint functions at given instants, shape (instants, constraints)
        [m, or cosines and angles]; zero where joints close. Angles in relations are shifted by full turns to be
        nearest to ``theta``, the coordinates of forces and then of relations, shape (instants, coordinates). If it
        is None, they are principal values."""
        rows = self.rows
        if isinstance(rows, ConstraintSet) and theta is not None:
            return rows.values(at, theta[:, theta.shape[1] - len(rows.related) :])
        return rows.values(at)

    def with_rows(self, holds: BoolArray) -> "Phase":
        """Return this system with only those scalar constraints that the mask ``holds``, shape (constraints,),
        selects. The result is a ``Phase``: the reduced system, the indices of these constraints and of their
        joints, and the number of all joints. All constraints of a joint must be selected or none, which is not
        checked. If all are selected, it is ``whole_phase``.
        """
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
        """Return a ``ConstraintSet`` that evaluates the given coordinates of joints or forces together, one
        function for each. Each function is the coordinate itself: a relation with factor 1 and constant 0."""
        rows = [RelationFunction((), 0.0, each.name, None, ((each, 1.0),)) for each in coordinates]
        return constraint_set(rows, self.functions)

    @cached_property
    def force_coordinates(self) -> ConstraintSet:
        """Return a ``ConstraintSet`` that evaluates the coordinates (length or angle) of all scalar force
        elements, one function for each. Such elements are springs, dampers and motors. The result is cached."""
        return self.coordinate_rows([each.force.coordinate for each in self.forces])

    @property
    def force_functions(self) -> FunctionSet:
        """Return the set of scalar functions of points and directions of bodies from which the coordinates
        (angles, lengths) of all scalar force elements are computed. They are listed element after element; an
        angle needs two functions."""
        return self.force_coordinates.functions

    def functions(self, rows: Sequence[Bilinear]) -> FunctionSet:
        """Convert symbolic scalar functions ``rows`` of points and directions (constraints, joint
        coordinates) to a ``FunctionSet``, which evaluates them with the bodies of this system."""
        return function_set(rows, self.layout, self.resolver, self.paths)

    def vectors(self, vectors: Sequence[Vector]) -> VectorSet:
        """Convert symbolic ``vectors`` (points and directions of bodies and ground) to a ``VectorSet``, which
        evaluates them with the bodies of this system. Points between two nodes of a string, which are sums of two
        vectors, fail an assertion."""
        return VectorSet(tuple(self.resolver.resolve(vector) for vector in vectors), self.layout)

    def point(self, port: Port) -> "tuple[Array, VectorSet]":
        """Return weights, shape (k,), and a set of k vectors whose weighted sum is the position of a port. A port
        is a point of a body or of the ground. There is one vector with weight 1, except between two nodes of a
        string, where there are several."""
        parts = self.resolver.parts(PointOf(port))
        return np.array([weight for weight, _ in parts]), VectorSet(tuple(v for _, v in parts), self.layout)

    def at(self, state: State, end: float = np.inf, prescribed: PrescribedMotions | None = None) -> Instants:
        """Return ``state`` of this system as an ``Instants`` object with one instant, at which functions and
        forces can be evaluated. It includes the motions of moving ground frames and drives at the time of the
        state: ``prescribed`` if given, else evaluated from the user's functions. Their accelerations are finite
        differences up to the time ``end`` [s]."""
        functions = PrescribedFunctions(self.moving_frames, self.paths, np.array([state.time]), end)
        return instant_of(state, functions if prescribed is None else prescribed)

    def at_rest(self, state: State) -> Instants:
        """Return ``state`` of this system as an ``Instants`` object with one instant, at which moving ground
        frames and drives have their positions but no velocity. Dampers between them and bodies at rest then exert
        no force."""
        functions = PrescribedFunctions(self.moving_frames, self.paths, np.array([state.time]))
        return instant_of(state, functions.stopped())

    def elastic(self, state: State, index: int) -> Array:
        """Return the elastic coordinates of one floating body in a state, or the nodal positions of another body
        (string, soft body), as a flat array. ``index`` is the number of the body."""
        return self.layout.elastic(index, state.position, state.eta)

    @cached_property
    def identical(self) -> tuple[tuple[BodyData, list[int]], ...]:
        """Return groups of bodies that share one data object, which can be evaluated in one vectorized call: pairs
        of the data and a list of body indices. A group is full when its matrices (bodies times coordinates
        squared) reach 2^18 entries; a new one then begins. Bodies that cannot be vectorized form groups of one."""
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
        """Return the mass matrix of one body in a state with respect to its velocities, shape (n, n) for n
        velocities. It is an array for a floating body and a sparse constant matrix for a string or soft body.
        ``index`` is the number of the body."""
        return self._body_mass(index, self.elastic(state, index))

    def _body_mass(self, index: int, eta: Array) -> Matrix:
        data = self.bodies[index].data
        if isinstance(data, AbsoluteBody):
            return absolute.mass_matrix(data)
        data = self.frames[index]
        return mass_matrix(data, eta) if eta.ndim > 1 or eta.any() else undeformed_mass(data)

    def body_masses(self, state: State) -> list[Matrix]:
        """Return the mass matrices of all bodies in a state, see ``body_mass``."""
        return self.evaluate_bodies(state, lambda own, eta: self._body_mass(own[0], eta))

    def mass(self, state: State) -> sparse.csr_array:
        """Return the mass matrix of all bodies in a state as a sparse block-diagonal matrix, shape (velocities,
        velocities)."""
        blocks = self.body_masses(state)
        return sparse.csr_array(sparse.block_diag(blocks, "csr")) if blocks else sparse.csr_array((0, 0))

    def evaluate_bodies(self, state: State, of: Callable[[list[int], Array], Any]) -> list[Any]:
        """Return the values of a function ``of`` body indices and elastic coordinates for all bodies in a state.
        For each group of two or more ``identical`` bodies it is called once with elastic coordinates of shape
        (bodies, n). For one body it is called with shape (n,)."""
        found: dict[int, Any] = {}
        for data, own in self.identical:
            if len(own) < 2:
                values = [of(own, self.elastic(state, own[0]))]
            else:
                columns = self.layout.eta[own][:, None] + np.arange(data.elastic_count)
                values = of(own, state.eta[columns])
            found.update(zip(own, values, strict=True))
        return [found[index] for index in range(len(self.bodies))]

    def small_mass(self, state: State, at: Instants) -> Matrix:
        """Return the mass matrix of all bodies in a state, shape (velocities, velocities), block diagonal. For a
        small system it is a NumPy array that is cached in the instant ``at``, else a sparse matrix that is
        computed at each call."""
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
        """Return the size of the largest body of the mechanism [m], as a reference length for gaps. If all bodies
        are points, it is the characteristic length of the mechanism instead (``largest_length``)."""
        return max((placed.data.size for placed in self.bodies), default=0.0) or self.largest_length

    @cached_property
    def largest_length(self) -> float:
        """Return the characteristic length of the mechanism [m]: the size of the largest body or the initial
        extent of all bodies and joint points, if larger. The extent is the diagonal of their bounding box. If all
        coincide, it is their largest distance from the origin along an axis, at most 1, or 1 if that is 0.

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
        """Return the positions at t = 0 of all body origins, then of both points of each joint, in world axes,
        shape (points, 3) [m]. Length scales are computed from them."""
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
        """Return a mask of the scalar constraints that restrict directions or angles rather than lengths, shape
        (constraints,)."""
        return np.array([owner.row.is_angle for owner in self.owners], dtype=np.bool_)

    @cached_property
    def gap_lengths(self) -> Array:
        """Return the reference value by which the gap of each scalar constraint is divided, shape (constraints,).
        It is the size of the largest body [m], or 1 for constraints on directions and angles."""
        return np.where(self.angle_rows, 1.0, self.body_length)

    def relative_gaps(self, gaps: Array) -> Array:
        """Return dimensionless gaps of the scalar constraints, shape (constraints,). They are the absolute values
        of ``gaps`` minus the round-off of positions, at least 0, divided by the size of the largest body (by 1 for
        angles)."""
        round_off = np.where(self.angle_rows, ROUND_OFF, self.round_off)
        return np.asarray(np.maximum(np.abs(gaps) - round_off, 0.0) / self.gap_lengths)


@dataclass(frozen=True, eq=False)
class Phase:
    """System with only those constraints that are active during some part of a run.

    Attributes:
        system: system that has only the active constraints.
        rows: indices of its rows among those of the complete system, shape (rows,).
        active: indices of the active constraints among all, shape (active,).
        constraints: number of constraints of the complete system.
    """

    system: System
    rows: IntArray
    active: IntArray
    constraints: int


def system_of(mechanism: Mechanism) -> System:
    """Return the ``System`` of a mechanism as it is now: the arrays, indices and constraint functions of bodies,
    joints and interactions that all computations use. The data of its bodies are marked final first, in place.
    Initial gaps at mesh interfaces are closed, and force elements that another element drives are left out.

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
    owned = [(part, rows_moved_to_interface(part, part.constraints(dimension))) for part in mechanism.constraints]
    lots = [(part, [list(own) for _, own in groupby(rows, _fixed_nodes(part))] or [[]]) for part, rows in owned]
    apart = [(part, own) for part, each in lots for own in each]
    driven = {element.driven for element in mechanism.elements}
    elements = [element for element in mechanism.elements if element not in driven]
    forces = [ScalarForce(element, force) for element in elements for force in element.forces(dimension)]
    return System(
        mechanism,
        bodies,
        tuple(data for data, _ in pairs),
        tuple(position for _, position in pairs),
        tuple(part for part, _ in apart),
        tuple(RowOwner(part, row) for part, own in apart for row in own),
        tuple(forces),
        tuple(entry for load in mechanism.loads for entry in load.entries()),
        moving_frames(mechanism),
        layout_of(bodies, tuple(len(own) for _, own in apart)),
    )


def _fixed_nodes(joint: object) -> Callable[[Bilinear], set[int]]:
    """Return a function that maps a scalar constraint of ``joint`` to the set of points on which it acts, by their
    identities (``id``). Constraints with equal sets are eliminated together, so that each node of a clamped edge is
    eliminated separately. For a joint that does not fix nodes all sets are empty.
    """
    fixes = isinstance(joint, Joint) and joint.fixes_nodes
    return lambda row: {
        id(vector.port)
        for term in (row.terms if fixes else ())
        for vector in term.vectors()
        if isinstance(vector, (PointOf, DirectionOf))
    }


def moving_frames(mechanism: Mechanism) -> tuple[MovingFrame, ...]:
    """Return the moving frames of the ground that joints, force elements and relations of a mechanism use, each
    once, in the order of first appearance."""
    parts = (*mechanism.joints, *mechanism.applied_elements, *mechanism.relations)
    ports = (port for part in parts for port in ports_of(part))
    moving = [port for port in ports if isinstance(port, MovingFrame) and not port.is_fixed]
    return tuple({id(frame): frame for frame in moving}.values())


def require_bodies(system: System) -> None:
    """Raise a ``ModelError`` if a system has no bodies; do nothing otherwise.

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
        """Return the ``System`` (arrays and indices) of a mechanism as it is now. The cached system is returned if
        the mechanism has the same bodies, joints, loads and elements as at the last call and its ground frames
        start at the same positions. Otherwise a new one is computed and stored, and a warning names unusual
        damping ratios.

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
    """Return all bodies with their data, constraints, loads, force elements, locks and events of a mechanism as
    one tuple, in which None separates lists. The caller compares the tuples' items by identity to decide whether a
    cached system (equations of motion) is still valid."""
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
