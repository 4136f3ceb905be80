"""Recorded states, and the run by bodies and joints with consistent velocities (docs/theory.md, 2)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, PickledFields, read_only
from phlexible.algebra.rotations import nearest_turns
from phlexible.algebra.sparse import lu_factors
from phlexible.bodies.body import fingerprint
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.mechanics.floating import mass_solutions, split_velocity
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.display import short_repr
from phlexible.errors import ModelError, ParameterError, SingularMatrixError
from phlexible.state.instants import OF_STATE, Instants, Points, RecordedMotions
from phlexible.state.layout import State
from phlexible.state.redundancy import redundancies, smallest_multipliers_at
from phlexible.state.system import System
from phlexible.state.vectors import VectorSet

# Recorded numbers of a run, which results files hold and from which every observable is computed.


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """Recorded states and energies at the stored instants 0 .. N of a system of f floating bodies and c carriers.

    Attributes:
        time: shape (N + 1,) [s].
        position: centres of mass of the floating bodies, then nodes of the others, shape (N + 1, c, 3) [m].
        rotation: body to world, shape (N + 1, f, 3, 3).
        eta: elastic coordinates of all floating bodies, shape (N + 1, sum n).
        velocity: nu of all carriers (unprojected): V in world axes, w in body axes, deta/dt,
            shape (N + 1, sum of velocity counts).
        multipliers: of joints and drives, mean of the adjacent steps where these have one length, otherwise
            from accelerations (docs/theory.md, 4; (4.23)), shape (N + 1, constraints) [N or N m].
        forces: along the coordinates of force elements, alike, then of the strains of strings, always the mean,
            shape (N + 1, forces).
        theta: coordinates of the forces, angles over full turns, shape (N + 1, forces).
        branches: strains of the springs of laws that creep (8.35) and bristles (8.41), shape (N + 1, branches).
        locked_at: coordinate at which each switch holds its constraint, NaN: it does not, shape (N + 1, switches).
        event_times: time at which each event happened, NaN: not yet, shape (N + 1, events) [s].
        event_losses: energy that it took, shape (N + 1, events) [J].
        paths: p(t) of the drives, shape (N + 1, drives) [rad or m].
        path_rates: dp/dt, shape (N + 1, drives).
        frames: origins of the m moving frames (``ground.moving``), shape (N + 1, m, 3) [m].
        frame_rotations: rotations of the moving frames since t = 0, shape (N + 1, m, 3, 3).
        frame_velocities: velocities of the origins, shape (N + 1, m, 3) [m/s].
        frame_angular_velocities: angular velocities in world axes, shape (N + 1, m, 3) [rad/s].
        kinetic, strain, gravity, spring: energies, each of shape (N + 1,) [J].
        work: work done since t = 0 by each source of ``work_names``, shape (N + 1, sources) [J].
        dissipated: energy lost since t = 0, shape (N + 1,) [J].
        iterations: Newton iterations since t = 0, shape (N + 1,).
        halvings: halved steps since t = 0, shape (N + 1,).
        contact_steps: substeps around contacts since t = 0, shape (N + 1,).
        step_error: greatest estimated error of a step since the instant before, shape (N + 1,).
        work_names: loads, then joints that are driven by moving frames, drives, force elements.
    """

    time: Array
    position: Array
    rotation: Array
    eta: Array
    velocity: Array
    multipliers: Array
    forces: Array
    theta: Array
    branches: Array
    locked_at: Array
    event_times: Array
    event_losses: Array
    paths: Array
    path_rates: Array
    frames: Array
    frame_rotations: Array
    frame_velocities: Array
    frame_angular_velocities: Array
    kinetic: Array
    strain: Array
    gravity: Array
    spring: Array
    work: Array
    dissipated: Array
    iterations: IntArray
    halvings: IntArray
    contact_steps: IntArray
    step_error: Array
    work_names: tuple[str, ...]

    def __repr__(self) -> str:
        ends = f", t = {self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else ""
        return f"{type(self).__name__}({len(self.time)} instants{ends})"

    def read_only(self) -> "RecordedStates":
        """Return a record of the same states and energies whose arrays are read-only views, made at the first
        access. A record with multipliers and forces that are still to be computed has read-only arrays already and
        is returned itself."""
        if vars(self).get("_known") is not None:
            return self
        return on_demand(lambda name: read_only(getattr(self, name)), self.work_names)

    def instants(self) -> Instants:
        """Return the recorded states at all instants as one ``Instants`` object, at which functions can be
        evaluated. Motions of ground frames and drives come from this record at the first access, not from the
        user's functions."""
        given = _MotionsOfRecording(self)
        return Instants(self.time, self.position, self.rotation, self.eta, self.velocity, given)

    @property
    def inner(self) -> "RecordedStates":
        """Return a read-only record of all instants but the first and the last; with at most two instants, of
        these. Where multipliers and forces at the ends are still to be computed, it has those of the steps beside
        them, so that reading it does not start that computation.
        """
        known: RecordedStates = vars(self).get("_known") or self
        return (known.rows(slice(1, -1)) if len(self.time) > 2 else known).read_only()

    def rows(self, rows: slice | IntArray) -> "RecordedStates":
        """Return a record of the states and energies at the chosen instants (``rows``) only. Its arrays are made
        at the first access: views for a slice, copies for indices."""
        return on_demand(lambda name: getattr(self, name)[rows], self.work_names)

    def state(self, instant: int) -> State:
        """Return the recorded state of the mechanism at the stored instant with this index, without copies of the
        arrays. A state has time, poses, velocities, active force coordinates and history variables. History
        variables are strains of Maxwell elements, deflections of friction springs and impact speeds."""
        arrays = (getattr(self, name)[instant] for name in (*OF_STATE[1:], "theta", "branches"))
        return State(float(self.time[instant]), *arrays)


class _MotionsOfRecording(RecordedMotions):
    """Prescribed motions of a recorded run, whose arrays are made when they are read."""

    def __init__(self, recording: RecordedStates) -> None:
        self.__dict__["_recording"] = recording

    def __getattr__(self, name: str) -> Any:
        """Return the array of the recorded states with this ``name``, and store it as an attribute for later
        accesses. Names that are no recorded arrays raise ``AttributeError``."""
        if "_recording" not in self.__dict__ or name not in ARRAYS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = made = getattr(self.__dict__["_recording"], name)
        return made

    def at(self, instants: Points) -> Self:
        """Return the recorded motions of moving ground frames and the paths of drives at the chosen instants
        only."""
        return type(self)(self.__dict__["_recording"].rows(instants))


ARRAYS = dict.fromkeys(field.name for field in fields(RecordedStates) if field.name != "work_names")
"""Names of the attributes that have a row for each instant, as keys."""


Reactions = tuple[Array, Array]
"""Multipliers and forces of an instant, shape (rows,) and (forces,)."""

LateReactions = Callable[[], Reactions | None]
"""Function that computes reactions on demand; None where joints contradict each other, in singular positions."""


class RecordingOnDemand(PickledFields, RecordedStates):
    """Recording each of whose arrays is made when it is first read, since most readings need few of them."""

    _make: Callable[[str], Array]

    def __getattr__(self, name: str) -> Array:
        """Return the array of the recorded states with this ``name``, computed by the stored function at the first
        access and then stored. Names that are no recorded arrays raise ``AttributeError``."""
        if name not in ARRAYS or "_make" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = made = self._make(name)
        return made


def on_demand(
    make: Callable[[str], Array], work_names: tuple[str, ...], known: RecordedStates | None = None
) -> RecordedStates:
    """Return recorded states and energies whose arrays are made at the first access, and then stored. The function
    ``make`` is called with the name of an array and returns it. ``work_names`` are the sources of work; ``known``
    is the same record in which late multipliers and forces are still missing.

    Args:
        make: makes an array, by the name of the attribute; what it reads must not change any more.
        work_names: names of the sources of work.
        known: the same recorded states without late multipliers and forces, if there are any.
    """
    result = RecordingOnDemand.__new__(RecordingOnDemand)
    result.__dict__.update(work_names=work_names, _make=make, _known=known)
    return result


LATE = ("multipliers", "forces")


def with_late_reactions(recording: RecordedStates, late: Mapping[int, LateReactions]) -> RecordedStates:
    """Return read-only recorded states whose multipliers and element forces at some instants are computed at the
    first access to either. ``late`` maps indices of instants to functions that compute them. All are then computed
    for a copy, except where a function returns None; ``recording`` keeps those of the steps beside."""
    missing, complete = dict(late), dict[str, Array]()

    def made(name: str) -> Array:
        while name in LATE and missing:
            row, find = missing.popitem()
            if (found := find()) is not None:
                for own, values in zip(LATE, found, strict=True):
                    complete.setdefault(own, getattr(recording, own).copy())[row] = values
        return read_only(complete.get(name, getattr(recording, name)))

    return on_demand(made, recording.work_names, recording)


def joined(recordings: Sequence[RecordedStates]) -> RecordedStates:
    """Return one object of recorded states and energies made of consecutive ``recordings`` of the same system. Its
    arrays are concatenated at the first access."""
    parts = tuple(recordings)
    return on_demand(lambda name: np.concatenate([getattr(each, name) for each in parts]), parts[0].work_names)


def concatenated(recordings: Sequence[RecordedStates]) -> RecordedStates:
    """Return one object of recorded states and energies made of consecutive ``recordings`` of the same system,
    with concatenated copies of their arrays."""
    whole = joined(recordings)
    return RecordedStates(**{name: getattr(whole, name) for name in ARRAYS}, work_names=whole.work_names)


# Recorded run by bodies and joints, with consistent velocities and multipliers (docs/theory.md, 2).

LEAST = 3
"""Instants that a difference of second order takes."""


@dataclass(frozen=True, eq=False)
class RecordedRun(PickledFields):
    """Recorded run of a system; quantities derived from the recorded states are computed once on demand.

    Attributes:
        is_redundant: whether constraints are redundant at the start; None: not computed yet.
        is_projected: whether ``velocities`` are corrected to satisfy the joints, or are those of the steps.
        is_at_rest: whether the run is an equilibrium, where all rates are zero.
        warnings: texts of all warnings that the run gives, which grow until its end.
    """

    system: System
    recording: RecordedStates
    is_redundant: bool | None = None
    is_projected: bool = True
    is_at_rest: bool = False
    warnings: list[str] = field(default_factory=list)

    __repr__ = short_repr

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism (bodies, joints and interactions as the user described them) whose motion was
        recorded."""
        return self.system.mechanism

    @property
    def count(self) -> int:
        """Number of instants at which the run was recorded."""
        return len(self.recording.time)

    @cached_property
    def instants(self) -> Instants:
        """States of the mechanism at all recorded instants, with the recorded motions of ground frames and
        drives."""
        return self.recording.instants()

    @property
    def time(self) -> Array:
        """Times at which the run was recorded, shape (instants,) [s]."""
        return self.recording.time

    @cached_property
    def velocities(self) -> Array:
        """Return the velocities of all bodies at all recorded instants, read-only, shape (instants, velocities).
        If ``is_projected``, they are the nearest ones in the mass metric that satisfy the joint constraints;
        otherwise they are as recorded."""
        return read_only(_projected_velocities(self) if self.is_projected else self.recording.velocity)

    @cached_property
    def multipliers(self) -> Array:
        """Return the multipliers (constraint forces and moments) of all joints, drives and relations, read-only,
        shape (instants, constraints) [N or N m]. If constraints are redundant, the smallest multipliers with the
        same generalized forces are computed."""
        return read_only(_smallest_multipliers(self))

    def continued_values(self, coordinate: Coordinate) -> Array | None:
        """Return the values of a joint ``coordinate`` that are known without its formula; None, as here, where the
        formula gives them."""
        return None

    def angle_over_turns(self, angle: Array, counted: Array) -> Array:
        """Return an ``angle`` of a joint over the full turns of ``counted``, shape (instants,) each [rad]. The
        angle is between -pi and pi; ``counted`` is the same one as the state has it for a force element.
        """
        return nearest_turns(angle, counted)

    def rate(self, values: Array) -> Array:
        """Return the time derivative of ``values``, shape (instants, ...), by finite differences of second order
        over the recorded instants. Differences are central inside and one-sided at both ends; spacing may be
        unequal. A run that represents an equilibrium gives zeros. ``ParameterError`` is raised for fewer than
        three instants.

        Raises:
            ParameterError: fewer than three instants.
        """
        if self.is_at_rest:
            return np.zeros_like(values)
        if self.count < LEAST:
            raise ParameterError(
                f"accelerations are differences of at least {LEAST} stored instants, and here "
                f"{'is only one' if self.count == 1 else f'are {self.count}'}; measure velocities or forces, or"
                " read motion[sensor] of a longer motion (of a live run: run.motion)"
            )
        return np.asarray(np.gradient(values, self.time, axis=0, edge_order=2))

    def at(self, instants: slice | IntArray) -> "RecordedRun":
        """Return a run recorded at the chosen instants only, of the same system. Its arrays are views for a slice
        and copies for indices."""
        return replace(self, recording=self.recording.rows(instants))

    @cached_property
    def has_redundant_joints(self) -> bool:
        """Return whether the joint constraints are linearly dependent at the first recorded instant, so that joint
        forces are not unique. It is computed from the constraint matrix unless ``is_redundant`` is known."""
        if self.is_redundant is not None:
            return self.is_redundant
        return bool(redundancies(self.system, self.recording.state(0), self.instants.at(slice(0, 1))))

    @cached_property
    def phases(self) -> "list[tuple[RecordedRun, IntArray]]":
        """Return the consecutive sections of this run in which the same constraints are active, as pairs (run,
        constraint indices); cached. Events lock and release constraints. The run of a section has a system with
        only its active constraints, whose indices in the complete system are the second entry. Without such events
        this run itself is the only section.

        An instant at which something happens belongs to what was before.
        """
        held = self.recording.locked_at
        if not held.size:
            return [(self, np.arange(len(self.system.owners)))]
        changes = np.flatnonzero((np.isnan(held[1:]) != np.isnan(held[:-1])).any(axis=1)) + 1
        found = []
        for begin, end in pairwise([0, *changes.tolist(), self.count]):
            phase, recording = self.system.phase(held[begin]), self.recording.rows(slice(begin, end))
            own = replace(
                recording, multipliers=recording.multipliers[:, phase.rows], locked_at=held[begin:end, :0]
            )
            found.append((RecordedRun(phase.system, own), phase.rows))
        return found

    def gaps(self) -> Array:
        """Return the values of all scalar constraint functions at all recorded instants, shape (instants,
        constraints) [m, or cosines and angles]. They are zero where joints close, so that they measure the error
        of the run. Constraints of open locks are zero.

        Angles in relations are counted over full turns. Rows of constraints that events hold or release are
        measured from where these hold, and zero while they do not.
        """
        found = self.system.row_values(self.instants, self.recording.theta)
        switches = self.system.row_switches
        switched = np.flatnonzero(switches >= 0)
        found[:, switched] = np.nan_to_num(found[:, switched] - self.recording.locked_at[:, switches[switched]])
        return found

    def body_index(self, target: PlacedBody | Attachment, argument: str = "body") -> int:
        """Return the index in the system of ``target``: a body, or a point of a body (``Attachment``). A body of
        another copy of the model is accepted if it equals one here; otherwise ``ModelError`` is raised.
        ``argument`` is the name of the user's argument in messages.

        A handle of another model is accepted where name and data agree, so that a script that
        builds its model again can read a loaded file.

        Raises:
            ModelError: the body is not in the model.
        """
        if not isinstance(target, PlacedBody | Attachment):
            raise ModelError(
                f"{argument} must be a body of the model or an attachment such as beam.end, got {target!r}"
            )
        placed = target.placed if isinstance(target, Attachment) else target
        if (known := self.system.index.get(placed)) is not None:
            return known
        for index, body in enumerate(self.system.bodies):
            if _looks_same(body, placed):
                return index
        names = ", ".join(body.name for body in self.system.bodies)
        raise ModelError(f"{argument}: {placed.name!r} is not a body of this model; it has: {names}")

    def port_in_run(self, port: Port, argument: str = "attachment") -> Port:
        """Return the point of a body or of the ground that corresponds to ``port`` in this recorded run. A point
        on a body of a copy of the model is replaced by the point at the same location on the equal body here.
        Other objects, and moving frames that were not recorded, raise ``ModelError`` with ``argument`` in the
        message.

        Raises:
            ModelError: the body is not in the model, or no joint of the model uses the frame.
        """
        if not isinstance(port, Port):
            raise ModelError(f"{argument} must be a point such as beam.end or ground.at(...), got {port!r}")
        if isinstance(port, MovingFrame):
            if not port.is_fixed:
                self.frame_index(port, argument)
            return port
        placed = self.system.bodies[self.body_index(port, argument)]
        if placed is port.placed:
            return port
        return Attachment(placed, port.location)

    def frame_index(self, frame: MovingFrame, argument: str = "target") -> int:
        """Return the index of a moving frame of the ground among those that were recorded. ``argument`` is the name
        of the user's argument in error messages.

        Raises:
            ModelError: no joint of the model uses the frame.
        """
        for index, candidate in enumerate(self.system.moving_frames):
            if candidate is frame:
                return index
        raise ModelError(f"{argument}: {frame} is not used by a joint of this model, so it was not recorded")

    def joint_index(self, joint: Joint) -> int:
        """Return the index of a ``joint`` among the joints of the recorded model. A joint of a copy of the model
        is found by its description if exactly one joint here has the same. ModelError, with the names of all
        joints, is raised otherwise.

        Raises:
            ModelError: the joint is not in the model.
        """
        joints = self.mechanism.joints
        for index, candidate in enumerate(joints):
            if candidate is joint:
                return index
        alike = [k for k, candidate in enumerate(joints) if str(candidate) == str(joint)]
        if isinstance(joint, Joint) and len(alike) == 1:
            return alike[0]
        names = ", ".join(str(candidate) for candidate in joints) or "none"
        raise ModelError(f"{joint} is not a joint of this model; it has: {names}")

    def elastic(self, index: int) -> Array:
        """Return the elastic coordinates of a floating body, or the nodal positions of another body, at all
        recorded instants, shape (instants, n). ``index`` is the number of the body."""
        rec = self.recording
        return self.system.layout.elastic(index, rec.position, rec.eta)

    def reference_point(self, index: int) -> Array:
        """Return the position of the origin of the frame of a floating body at all recorded instants in world axes,
        shape (instants, 3) [m]. ``index`` is the number of the body."""
        centre, eta = self.system.centres[index], self.elastic(index)
        local = centre[:, 0] + eta @ centre[:, 1:].T
        turned = np.einsum("tij,tj->ti", self.recording.rotation[:, index], local)
        return np.asarray(self.recording.position[:, index] - turned)

    def spin(self, index: int) -> tuple[Array, Array]:
        """Return the angular velocity of a floating body in body axes, shape (instants, 3) [rad/s], and the rates
        of its elastic coordinates, shape (instants, n). ``index`` is the number of the body."""
        own = self.velocities[:, self.system.layout.span(index)]
        return split_velocity(self.system.frames[index], own)[1:]

    def point(self, port: Port) -> tuple[Array, VectorSet]:
        """Return weights, shape (k,), and a set of k world vectors whose weighted sum is the position of ``port``.
        A port is a point of a body or of the ground. There is more than one vector only between two nodes of a
        string."""
        return self.system.point(self.port_in_run(port))


def _looks_same(a: PlacedBody, b: PlacedBody) -> bool:
    return (
        a.name == b.name and a.data.mass == b.data.mass and np.array_equal(fingerprint(a.data), fingerprint(b.data))
    )


# Velocities that satisfy the joints: nu - M^-1 G^T (G M^-1 G^T)^-1 (G nu + g_t) (4.15).
#
# The step enforces g = 0 and not its derivative (docs/theory.md, 4), so the stored nu misses it by O(h^2). The
# nearest consistent velocities in the mass metric are reported, never fed back.

DENSE_ROWS = 200
"""Up to this many joint functions G M^-1 G^T is a dense matrix for each instant."""

CHUNK_VALUES = 4_000_000
"""About this many numbers are held at a time."""

DEPENDENT = 1e-12
"""Eigenvalues of G M^-1 G^T, its diagonal scaled to 1, below this fraction of the largest are zero."""

PROJECTION_RELAXATION, REFINEMENTS = 1e-10, 5


@dataclass(frozen=True, eq=False)
class BodyRows:
    """Part of the constraint matrix in the columns of one body's velocities, at all instants of a run. The
    velocities that unit impulses on the constraints give to the body are stored too.

    Attributes:
        columns: indices in nu of the velocities of the body that occur in the constraints, shape (columns,).
        velocities: slice of all velocities of the body in nu.
        rows: indices of the scalar constraints that act on the body, shape (constraints,).
        constraint: entries of G in these rows and columns, shape (T, constraints, columns).
        response: M^-1 of their transpose, shape (T, velocity count, constraints).
    """

    columns: IntArray
    velocities: slice
    rows: IntArray
    constraint: Array
    response: Array

    @property
    def schur(self) -> Array:
        """Return the contribution of one body to the inverse effective mass matrix G M^-1 G^T at all instants,
        shape (instants, k, k). Its k rows are the scalar constraints that act on the body; G is the constraint
        matrix, M the mass matrix."""
        own = self.columns - self.velocities.start
        return np.asarray(self.constraint @ self.response[:, own])


def _projected_velocities(run: RecordedRun) -> Array:
    """Return the recorded velocities projected onto the joint constraints (nearest velocities in the mass metric
    that satisfy them), shape (instants, velocities). Each section of the run between events is projected with the
    constraints that are active in it."""
    if not run.recording.locked_at.size:
        return _projection_of_phase(run)
    return np.concatenate([_projection_of_phase(phase) for phase, _ in run.phases])


def _projection_of_phase(run: RecordedRun) -> Array:
    if not run.system.owners:
        return run.recording.velocity
    is_redundant = run.has_redundant_joints
    return np.concatenate([_projected(run.at(part), is_redundant) for part in chunks(run)])


def chunks(run: RecordedRun) -> list[slice]:
    """Return consecutive slices that cover all instants of a recorded ``run``, equally long, at least one instant
    each. Computations go slice by slice to limit memory: dense matrices of all instants of a slice have about
    CHUNK_VALUES entries. The last slice may end after the run."""
    rows = len(run.system.owners)
    widths = [placed.data.velocity_count for placed in run.system.bodies]
    frames = run.system.layout.frames
    squares = sum(w**2 if k < frames else 3 * w for k, w in enumerate(widths))
    step = max(1, CHUNK_VALUES // (4 * squares + min(rows, DENSE_ROWS) ** 2 + 60 * rows))
    return [slice(k, k + step) for k in range(0, run.count, step)]


def body_rows(run: RecordedRun) -> list[BodyRows]:
    """Return the constraint matrix of a recorded run, at all instants, as one dense block for each body that
    constraints act on. Each is a ``BodyRows``: indices of velocities and constraints, block (instants,
    constraints, velocities), and inverse mass matrix times the transposed block."""
    functions, layout = run.system.rows, run.system.layout
    entries = functions.matrix_entries(run.instants)
    rows, columns = functions.pattern
    owner = np.searchsorted(layout.velocity, columns, side="right") - 1
    found = []
    for body in np.unique(owner):
        mine = np.flatnonzero(owner == body)
        own_rows, row_place = np.unique(rows[mine], return_inverse=True)
        own_columns, column_place = np.unique(columns[mine], return_inverse=True)
        constraint = np.zeros((run.count, len(own_rows), len(own_columns)))
        constraint[:, row_place, column_place] = entries[:, mine]
        index = layout.span(int(body))
        response = _response(run, int(body), constraint, own_columns - index.start)
        found.append(BodyRows(own_columns, index, own_rows, constraint, response))
    return found


def _response(run: RecordedRun, body: int, constraint: Array, columns: IntArray) -> Array:
    """Return the velocities that unit impulses on k constraints give to body number ``body`` of a run, shape
    (instants, velocities of the body, k). They solve the mass matrix at each instant with the transposed
    constraint matrix ``constraint``, shape (instants, k, columns). ``columns`` are the velocities of the body to
    which the columns of ``constraint`` belong."""
    width = run.system.bodies[body].data.velocity_count
    if body < run.system.layout.frames:
        right = np.zeros((run.count, width, constraint.shape[1]))
        right[:, columns] = constraint.transpose(0, 2, 1)
        return mass_solutions(run.system.frames[body], run.elastic(body), right)
    units = np.zeros((width, len(columns)))
    units[columns, np.arange(len(columns))] = 1.0
    mass = absolute.mass_matrix(run.system.nodal[body - run.system.layout.frames])
    answers = lu_factors(mass).solve(units)
    return np.asarray(np.einsum("jw,trw->tjr", answers, constraint))


def dense_schur(parts: list[BodyRows], instants: int, rows: int) -> Array:
    """Return the inverse effective mass matrix G M^-1 G^T of all constraints at all ``instants`` as an array,
    shape (instants, constraints, constraints). With constraint matrix G and mass matrix M, it is the sum of the
    contributions of the bodies (``parts``). ``rows`` is the number of constraints."""
    total = np.zeros((instants, rows, rows))
    for part in parts:
        total[:, part.rows[:, None], part.rows] += part.schur
    return total


def sparse_schur(parts: list[BodyRows], rows: int, instant: int) -> sparse.csc_array:
    """Return the inverse effective mass matrix G M^-1 G^T of all constraints at one instant as a sparse matrix,
    shape (constraints, constraints). With constraint matrix G and mass matrix M, it is the sum of the
    contributions of the bodies (``parts``). ``rows`` is the number of constraints."""
    indices = [np.array(np.meshgrid(p.rows, p.rows, indexing="ij")).reshape(2, -1) for p in parts]
    values = np.concatenate([part.schur[instant].ravel() for part in parts])
    row, column = np.concatenate(indices, axis=1)
    return sparse.coo_array((values, (row, column)), shape=(rows, rows)).tocsc()


def _projected(run: RecordedRun, is_redundant: bool) -> Array:
    result = run.recording.velocity.copy()
    gap = run.system.rows.rates(run.instants, result)
    parts = body_rows(run)
    impulses = _impulses(parts, gap, is_redundant)
    for part in parts:
        result[:, part.velocities] -= np.einsum("tjr,tr->tj", part.response, impulses[:, part.rows])
    return result


def _impulses(parts: list[BodyRows], gap: Array, is_redundant: bool) -> Array:
    """Return the impulses on the constraints, shape (instants, constraints), whose effect changes the constraint
    rates of recorded velocities by ``gap``. They solve (constraint matrix, inverse mass matrix, its transpose)
    times impulses = ``gap``: dense by elimination for few constraints, sparse for many. If ``is_redundant`` or
    singular, a scaled pseudo-inverse returns the smallest of many solutions."""
    instants, rows = gap.shape
    if rows > DENSE_ROWS:
        return np.stack([_sparse_impulses(parts, gap, t, is_redundant) for t in range(instants)])
    total = dense_schur(parts, instants, rows)
    if not is_redundant:
        try:
            return np.asarray(np.linalg.solve(total, gap[..., None])[..., 0])
        except np.linalg.LinAlgError:  # a singular position
            pass
    size = np.sqrt(np.einsum("trr->tr", total))
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(total / (size[:, :, None] * size[:, None, :]), rcond=DEPENDENT, hermitian=True)
    return np.asarray((inverse @ (gap / size)[..., None])[..., 0] / size)


def _sparse_impulses(parts: list[BodyRows], gap: Array, instant: int, is_redundant: bool) -> Array:
    matrix, right = sparse_schur(parts, gap.shape[1], instant), gap[instant]
    if not is_redundant:
        with suppress(SingularMatrixError):  # at a singular position
            return np.asarray(lu_factors(matrix).solve(right))
    factors = lu_factors(matrix + PROJECTION_RELAXATION * sparse.diags_array(matrix.diagonal()))
    solution = np.zeros_like(right)
    for _ in range(REFINEMENTS):
        solution += factors.solve(right - matrix @ solution)
    return np.asarray(solution)


# Multipliers of redundant joints: of all that do the same to the bodies, the smallest ones.
#
# The step leaves the part of the multipliers open that moves nothing, ``G^T lambda = 0``. Like the
# velocities they are settled where they are reported and not fed back: at each instant the part in the
# null space of G^T goes, orthogonal in the metric of ``state/redundancy.py``.


def _smallest_multipliers(run: RecordedRun) -> Array:
    """Return the constraint forces (Lagrange multipliers) of a recorded run at all instants, shape (instants,
    constraints). They are the recorded ones; if constraints are redundant, they are the smallest ones with the
    same effect on the bodies. Intervals between locking events are computed separately; inactive constraints have
    zero."""
    if not run.recording.locked_at.size:
        return _of_phase(run)
    result, begin = np.zeros_like(run.recording.multipliers), 0
    for phase, rows in run.phases:
        result[begin : begin + phase.count, rows] = _of_phase(phase)
        begin += phase.count
    return result


def _of_phase(run: RecordedRun) -> Array:
    recorded = run.recording.multipliers
    if not recorded.shape[1] or not run.has_redundant_joints:
        return recorded
    if recorded.shape[1] > DENSE_ROWS:
        instants = [run.instants.at(slice(t, t + 1)) for t in range(run.count)]
        pairs = zip(instants, recorded, strict=True)
        return np.array([smallest_multipliers_at(run.system, at, own) for at, own in pairs])
    lengths = run.system.gap_lengths
    parts = [_without_null_space(run.at(part), recorded[part] * lengths, lengths) for part in chunks(run)]
    return np.concatenate(parts) / lengths


def _without_null_space(run: RecordedRun, forces: Array, lengths: Array) -> Array:
    """Return weighted constraint multipliers of a run, shape (instants, constraints), without their component that
    causes no acceleration. Redundant constraints have such a component. It is removed by the eigenvectors of the
    weighted matrix (constraint matrix, inverse mass, its transpose) with eigenvalues below 1e-12 of the largest.
    ``lengths`` are the weights, shape (constraints,)."""
    parts = body_rows(run)
    total = dense_schur(parts, run.count, len(lengths)) / np.outer(lengths, lengths)
    values, vectors = np.linalg.eigh(total)
    along = np.einsum("trk,tr->tk", vectors, forces)
    along[values < DEPENDENT * values[:, -1:]] = 0
    return np.asarray(np.einsum("trk,tk->tr", vectors, along))
