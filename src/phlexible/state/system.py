"""Mechanism as arrays of numbers, made once and cached until the mechanism changes (docs/theory.md, 2)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import is_
from typing import NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.sparse import Matrix, block_diagonal, is_small
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.mechanics.floating import centred, is_vectorized, mass_matrix
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import Bilinear, Coordinate, PointOf, Vector
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.ports import MovingFrame, PlacedBody, Port
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError
from phlexible.state.functions import (
    ConstraintSet,
    CoordinatePlace,
    FunctionSet,
    constraint_set,
    coordinate_places,
    function_set,
)
from phlexible.state.instants import Given, GivenFunctions, Instants, instant_of
from phlexible.state.layout import Layout, State
from phlexible.state.parts_as_made import as_made
from phlexible.state.vectors import VectorResolver, VectorSet

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
        """Whether the force has a prescribed part, that is, a value other than the number zero or an actuator as
        its element.
        """
        is_zero = isinstance(self.force.value, int | float) and self.force.value == 0
        return self.element.is_actuator or not is_zero


@dataclass(frozen=True, eq=False)
class System:
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

    def __getstate__(self) -> dict[str, object]:
        """Return the fields for pickling, without cached derived data."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        return f"System({self.mechanism!r})"

    @property
    def dimension(self) -> int:
        """Dimension of the model: 2 in the xy plane, 3 in space."""
        return self.mechanism.dimension

    @cached_property
    def floating(self) -> tuple[FloatingBody, ...]:
        """Data of the bodies with a floating frame, relative to the points of their frames."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, FloatingBody))

    @cached_property
    def nodal(self) -> tuple[AbsoluteBody, ...]:
        """Data of the bodies in absolute coordinates (strings, soft bodies), in the order of ``bodies``."""
        return tuple(placed.data for placed in self.bodies if isinstance(placed.data, AbsoluteBody))

    @cached_property
    def prescribed(self) -> dict[Joint | Drive, TimePath]:
        """Prescribed function of time of each joint or drive that has one, joints (hoists) first."""
        parts: tuple[Joint | Drive, ...] = (*self.mechanism.joints, *self.mechanism.drives)
        return {part: part.path for part in parts if part.path is not None}

    @property
    def paths(self) -> tuple[TimePath, ...]:
        """Prescribed functions of time, first those of joints (hoists), then those of drives."""
        return tuple(self.prescribed.values())

    @cached_property
    def index(self) -> dict[PlacedBody, int]:
        """Dictionary from the handle of each body to its index."""
        return {placed: index for index, placed in enumerate(self.bodies)}

    @cached_property
    def resolver(self) -> VectorResolver:
        """Converter of symbolic world vectors to numbers of this system."""
        frames = {frame: number for number, frame in enumerate(self.moving_frames)}
        return VectorResolver(self.layout, frames, self.index, self.centres)

    @cached_property
    def rod_strains(self) -> FunctionSet:
        """Strain functions of all rods, which do not change in rigid motions of a rod."""
        dimension = self.dimension
        elements = [element for rod in self.mechanism.rods for element in rod.elements]
        return self.functions([row for each in elements for point in each.functions(dimension) for row in point])

    @cached_property
    def rows(self) -> FunctionSet | ConstraintSet:
        """Constraint functions of all joints, drives and relations."""
        rows = [owner.row for owner in self.owners]
        if not self.related:
            return self.functions(rows)
        return constraint_set(rows, self.functions)

    @cached_property
    def related(self) -> tuple[CoordinatePlace, ...]:
        """Joint coordinates that occur in relations between coordinates, in order."""
        return tuple(coordinate_places([owner.row for owner in self.owners]))

    @cached_property
    def row_switches(self) -> IntArray:
        """Index of the switch (lock) that activates or releases each constraint row, or -1 if none does, shape
        (rows,).
        """
        number = {id(switch.constraint): k for k, switch in enumerate(self.mechanism.switches)}
        return np.array([number.get(id(owner.joint), -1) for owner in self.owners], dtype=np.int64)

    @cached_property
    def phases(self) -> "dict[bytes, Phase]":
        """Cache of the systems with some of the constraints active, by the set of closed locks; see ``phase``."""
        return {}

    def phase(self, locks: Array) -> "Phase":
        """Return the system with the constraints that are active while locks are at the given positions, shape
        (switches,); NaN marks an open lock.
        """
        is_held = ~np.isnan(locks)
        known = self.phases.get(is_held.tobytes())
        if known is None:
            known = self.phases[is_held.tobytes()] = self._phase(is_held)
        return known

    @cached_property
    def whole_phase(self) -> "Phase":
        """The system with all its constraints active, also those of all locks."""
        count = len(self.constraints)
        return Phase(self, np.arange(len(self.owners)), np.arange(count), count)

    def gaps(self, state: State, theta: Array) -> Array:
        """Return the constraint functions in a state, shape (rows,). Coordinates of forces over full turns,
        ``theta``, shape (forces,), fix the turns of angles in relations.
        """
        rows, at = self.rows, self.at(state)
        if isinstance(rows, ConstraintSet):
            found = rows.values(at, theta[None, len(theta) - len(rows.places) :])
        else:
            found = rows.values(at)
        return np.asarray(found[0])

    def _phase(self, is_held: "np.typing.NDArray[np.bool_]") -> "Phase":
        return self.part(np.array([own < 0 or is_held[own] for own in self.row_switches], dtype=bool))

    def part(self, holds: BoolArray) -> "Phase":
        """Return the system with the constraints of chosen rows only, shape (rows,). The rows of a constraint must
        be chosen together.
        """
        if holds.all():
            return self.whole_phase
        starts = self.layout.multiplier
        kept = [k for k in range(len(self.constraints)) if starts[k] == starts[k + 1] or holds[starts[k]]]
        rows = np.flatnonzero(holds)
        system = replace(
            self,
            constraints=tuple(self.constraints[k] for k in kept),
            owners=tuple(self.owners[row] for row in rows),
            layout=Layout(self.bodies, tuple(self.layout.rows[k] for k in kept)),
        )
        return Phase(system, rows, np.array(kept, dtype=np.int64), len(self.constraints))

    @cached_property
    def force_functions(self) -> FunctionSet:
        """Functions of vectors that define the coordinates of all scalar forces, force after force."""
        return self.functions([row for each in self.forces for row in each.force.coordinate.functions()])

    def functions(self, rows: Sequence[Bilinear]) -> FunctionSet:
        """Convert symbolic functions of world vectors to a ``FunctionSet`` of this system."""
        return function_set(rows, self.layout, self.resolver, self.paths)

    def vectors(self, vectors: Sequence[Vector]) -> VectorSet:
        """Convert symbolic world vectors to a ``VectorSet`` of this system. Points between two nodes of a string
        are not allowed.
        """
        return VectorSet(tuple(self.resolver.resolve(vector) for vector in vectors), self.layout)

    def point(self, port: Port) -> "tuple[Array, VectorSet]":
        """Return weights and world vectors whose weighted sum is the position of a port (attachment point or point
        of the ground).
        """
        parts = self.resolver.parts(PointOf(port))
        return np.array([weight for weight, _ in parts]), VectorSet(tuple(v for _, v in parts), self.layout)

    def at(self, state: State, end: float = np.inf, given: Given | None = None) -> Instants:
        """Return a state as a single instant, with the moving frames and paths at its time, or with the prescribed
        motions ``given``. Accelerations of frames and paths are differences of values up to ``end`` [s].
        """
        functions = GivenFunctions(self.moving_frames, self.paths, np.array([state.time]), end)
        return instant_of(state, functions if given is None else given)

    def elastic(self, state: State, index: int) -> Array:
        """Return the elastic coordinates of a floating body, or the nodal positions of another body, as a flat
        array.
        """
        return self.layout.elastic(index, state.position, state.eta)

    @cached_property
    def identical(self) -> tuple[tuple[BodyData, list[int]], ...]:
        """Bodies grouped so that those with identical data are evaluated together: pairs of data and body indices.
        Groups are limited in size; all other bodies are groups of one.
        """
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
        """Return the mass matrix of one body with respect to its velocities; sparse for bodies in absolute
        coordinates.
        """
        data = self.bodies[index].data
        if isinstance(data, AbsoluteBody):
            return absolute.mass_matrix(data)
        eta = self.elastic(state, index)
        return mass_matrix(self.frames[index], eta) if eta.any() else self.undeformed_masses[index]

    def mass(self, state: State) -> sparse.csr_array:
        """Return the block-diagonal sparse mass matrix of all bodies in a state, shape (velocities, velocities)."""
        blocks = [self.body_mass(state, index) for index in range(len(self.bodies))]
        return sparse.csr_array(sparse.block_diag(blocks, "csr")) if blocks else sparse.csr_array((0, 0))

    def small_mass(self, state: State, at: Instants) -> Matrix:
        """Return the mass matrix of all bodies in a state, shape (velocities, velocities), as an array if it is
        small, else sparse. The instant ``at`` caches it.
        """
        size = int(self.layout.velocity[-1])
        if not is_small(size):
            return self.mass(state)
        blocks = (self.body_mass(state, index) for index in range(len(self.bodies)))
        return at.once(self, "mass", lambda: block_diagonal(blocks, size))

    def coordinate_functions(self, coordinate: Coordinate) -> FunctionSet:
        """Return the functions of vectors that define one coordinate."""
        return self.functions(coordinate.functions())

    @cached_property
    def body_length(self) -> float:
        """Size of the largest body [m], or of the mechanism if all bodies are points."""
        return max((placed.data.size for placed in self.bodies), default=0.0) or self.largest_length

    @cached_property
    def largest_length(self) -> float:
        """Characteristic length of the mechanism [m], the larger of the largest body size and the extent of bodies
        and ports. It does not depend on where the mechanism stands in the world.

        Points that coincide have no extent but their gaps: theirs is the distance from the origin, at most 1.
        """
        far = float(np.abs(self._places).max(initial=0.0))
        extent = float(np.linalg.norm(np.ptp(self._places, axis=0))) if len(self._places) else 0.0
        largest = max([*(placed.data.size for placed in self.bodies), extent])
        return largest if largest > COINCIDENT * far else min(far, 1.0) or 1.0

    @cached_property
    def round_off(self) -> float:
        """Round-off of the difference of two positions that are as far from the origin as this mechanism [m]."""
        return float(ROUND_OFF * np.abs(self._places).max(initial=0.0))

    @cached_property
    def undeformed_masses(self) -> tuple[Array, ...]:
        """Mass matrix of each floating body in its undeformed shape; bodies with the same data share one array."""
        known: dict[int, Array] = {}
        for data in self.frames:
            if id(data) not in known:
                known[id(data)] = mass = mass_matrix(data, np.zeros(data.elastic_count))
                mass.flags.writeable = False
        return tuple(known[id(data)] for data in self.frames)

    @cached_property
    def _places(self) -> Array:
        """Positions of the bodies and of the ports of joints at t = 0 in world axes, shape (points, 3) [m]."""
        ports = [port for joint in self.mechanism.joints for port in (joint.first, joint.second)]
        places = [placed.place for placed in self.bodies] + [port.initial_position() for port in ports]
        return np.array(places).reshape(-1, 3)

    @cached_property
    def reach(self) -> float:
        """Largest distance of a body from the world origin plus the body's size [m], a length scale of the
        mechanism; 1 if it is zero.
        """
        reach = [float(np.linalg.norm(placed.place)) + placed.data.size for placed in self.bodies]
        return max(reach, default=0.0) or 1.0

    @cached_property
    def gap_lengths(self) -> Array:
        """Reference value of each constraint function, shape (rows,): the size of the largest body [m], or 1 for
        functions of angles.
        """
        return np.array([1.0 if owner.row.is_angle else self.body_length for owner in self.owners])

    def relative_gaps(self, gaps: Array) -> Array:
        """Return the absolute values of constraint gaps, less the round-off of positions, relative to
        ``gap_lengths``, shape (rows,).
        """
        return np.asarray(np.maximum(np.abs(gaps) - self._gap_round_off, 0.0) / self.gap_lengths)

    @cached_property
    def _gap_round_off(self) -> Array:
        """Round-off of each constraint function, shape (rows,)."""
        return np.array([ROUND_OFF if owner.row.is_angle else self.round_off for owner in self.owners])


@dataclass(frozen=True, eq=False)
class Phase:
    """System with only those constraints that are active during some part of a run.

    Attributes:
        system: system that has only the active constraints.
        rows: indices of its rows among those of the whole system, shape (rows,).
        kept: indices of the active constraints among all, shape (active,).
        constraints: number of constraints of the whole system.
    """

    system: System
    rows: IntArray
    kept: IntArray
    constraints: int


def system_of(mechanism: Mechanism) -> System:
    """Convert a mechanism, as it is now, to arrays of numbers.

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
    rows = [as_made(part, part.constraints(dimension)) for part in constraints]
    owners = [RowOwner(part, row) for part, own in zip(constraints, rows, strict=True) for row in own]
    forces = [ScalarForce(e, force) for e in mechanism.elements for force in e.forces(dimension)]
    return System(
        mechanism,
        bodies,
        tuple(data for data, _ in pairs),
        tuple(place for _, place in pairs),
        constraints,
        tuple(owners),
        tuple(forces),
        tuple(entry for load in mechanism.loads for entry in load.entries()),
        moving_frames(mechanism),
        Layout(bodies, tuple(len(own) for own in rows)),
    )


def moving_frames(mechanism: Mechanism) -> tuple[MovingFrame, ...]:
    """Return the moving frames of the ground that joints, force elements and relations use, in the order of first
    appearance.
    """
    parts = (*mechanism.joints, *mechanism.applied_elements, *mechanism.relations)
    ports = (port for part in parts for port in ports_of(part))
    moving = [port for port in ports if isinstance(port, MovingFrame) and not port.is_fixed]
    return tuple({id(frame): frame for frame in moving}.values())


def need_bodies(system: System) -> None:
    """Check that a model has at least one body, and raise an error otherwise.

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
        self._places: tuple[bytes, ...] = ()
        self._system: System | None = None

    def of(self, mechanism: Mechanism) -> System:
        """Return the system of the mechanism as it is now, from the cache if the mechanism has the same parts as
        before.

        Raises:
            ModelError: as ``system_of``.
        """
        known, parts = self._system, _parts(mechanism)
        if known is None or not _are_same(parts, self._parts) or _places(known) != self._places:
            known = system_of(mechanism)
            self._parts, self._places, self._system = _parts(mechanism), _places(known), known
        return known


def _places(system: System) -> tuple[bytes, ...]:
    """Return the positions of all moving frames at t = 0 as bytes, for comparison."""
    return tuple(frame.initial_position().tobytes() for frame in system.moving_frames)


def _parts(mechanism: Mechanism) -> tuple[object, ...]:
    """Return the bodies, constraints, loads, elements, locks and events from which the system of a mechanism is
    computed, for comparison.
    """
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
