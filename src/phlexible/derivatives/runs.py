"""Runs with a log of all steps, velocity projections, events and evaluations of controllers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.derivatives.readings import Reader, state_jacobian
from phlexible.derivatives.steps import Functions, LoggedSteps
from phlexible.derivatives.variations import strain_indices
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.functions import PiecesCoordinate
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ConvergenceError, ModelError, StepWarning, warn_user
from phlexible.measure.quality import long_steps, stiff_strings
from phlexible.measure.when import watched_conditions
from phlexible.state.branches import branch_names, contacts_of
from phlexible.state.forces import has_laws
from phlexible.state.layout import State
from phlexible.state.recorded_run import RecordedRun, RecordedStates, concatenated
from phlexible.state.redundancy import redundancies
from phlexible.state.system import System
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.integration.clock import Checkpoint, Clock, breakpoints_of, clock
from phlexible.step.integration.composition import check_lossless, substep_times
from phlexible.step.integration.schemes import StepOptions
from phlexible.step.integration.simulation import Simulation
from phlexible.step.integration.start import check_rates
from phlexible.step.integration.step_calls import Calls, StepCall, completed
from phlexible.step.integration.step_failures import failure_message
from phlexible.step.integration.stepper import AROUND_CONTACTS, Purpose, Stepper
from phlexible.step.integration.stored_rows import Advance, Course, Storage, StoredRows
from phlexible.step.tables.requests import CONVERGED, RELAXATION

# What a stepper did, one after the other.


@dataclass(frozen=True, eq=False)
class Stepped:
    """Log entry of a run: steps of one size, or the substeps of one step, with the states at their ends.

    Attributes:
        times: shape (n + 1,) [s].
        sizes: shape (n,) [s].
        states: stored states, shape (n + 1, state size).
        moving, loads: prescribed vectors and loads, shape (n + 1, 3 * vectors) and (n, 3 * values).
        is_implicit: whether laws of the state are evaluated at the mean state of all of these steps.
    """

    times: Array
    sizes: Array
    states: Array
    moving: Array
    loads: Array
    is_implicit: bool = False


@dataclass(frozen=True, eq=False)
class VelocityJump:
    """Log entry of a run: projection of the velocities onto the constraints, where the step size changes or an
    event occurs.

    Attributes:
        time: [s].
        before, after: stored states, shape (state size,); ``before`` has the locks active
            afterwards.
        event: number of the event; -1: none.
        locks: switches that lock at this instant, at the present position.
        at_event: state at the event with the locks active before it; None: no event.
        span: number of steps that end, and that begin, at the instant of an event inside of a step; None: no
            event, or one at the end of a step.
        is_redundant: whether the locks after the event are redundant constraints, such as two locks of one joint.
    """

    time: float
    before: Array
    after: Array
    event: int = -1
    locks: tuple[int, ...] = ()
    at_event: Array | None = None
    span: tuple[int, int] | None = None
    is_redundant: bool = False


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Log entry of a run: instant and state at which the controllers were evaluated.

    Attributes:
        time: [s].
        state: stored state then, shape (state size,).
    """

    time: float
    state: Array


class RecordingStepper(Stepper):
    """Time stepper that logs all steps, velocity projections, events and controller evaluations, so that the run
    can be differentiated.

    Attributes:
        log: in order, without steps that were rejected.
    """

    def __init__(self, assembly: Assembly, order: int, damping: float, is_redundant: bool) -> None:
        super().__init__(assembly, order, damping, is_redundant)
        self.log: list[Stepped | VelocityJump | Evaluated] = []
        self._instants: Array = np.zeros(1)
        self._done = 0  # steps between the instants
        self._event = -1
        self._trial: tuple[int, int] | None = None  # log and steps before a step that laws are tried in
        self._called: tuple[Array, float, Course, bool]  # state before the last call, its arguments

    def advance(self, instants: Array, step: float, storage: Storage) -> Calls[Advance]:
        """Compute time steps of length ``step`` [s] between the given ``instants`` [s] and append each of them to
        the log for derivatives. All steps are computed with storage of every state; only instants and sensor
        values that ``storage`` requests are returned, as without the log."""
        self._instants, self._done = instants, 0
        taken = yield from super().advance(instants, step, storage._replace(every=1, phase=0, watches=False))
        if storage.every == 1 and not storage.watches:
            return taken
        thinned = self._requested_rows(taken, storage)
        return thinned if storage.watches else thinned._replace(watched=MappingProxyType({}))

    def _step_with_laws(self, rows: StoredRows, instants: Array, step: float, course: Course) -> tuple[int, int]:
        self._trial = len(self.log), self._done
        found = super()._step_with_laws(rows, instants, step, course)
        if found[0]:
            last = self.log[-1]
            assert isinstance(last, Stepped), "the step that was taken"
            self.log[-1] = replace(last, is_implicit=True)
        else:
            self._discard_trial()
        self._trial = None
        return found

    def _discard_trial(self) -> None:
        if self._trial is not None:
            begin, self._done = self._trial
            del self.log[begin:]

    def _call(self, rows: StoredRows, step: float, course: Course, purpose: Purpose) -> StepCall:
        call = super()._call(rows, step, course, purpose)
        self._called = self.memory.state.copy(), step, course, purpose.measures
        return call

    def _record_answer(self, rows: StoredRows, call: StepCall) -> tuple[int, int]:
        begin, step, course, measures = self._called
        taken, status = super()._record_answer(rows, call)
        if not taken:
            return taken, status
        self._discard_trial()
        parts, ends = len(course.shares), self._instants[self._done : self._done + taken + 1]
        states: Sequence[Array] | Array
        if parts > 1:
            states = self._substeps_again(begin, rows, step, course.steps(0, taken), measures)
        elif taken == 1:
            states = [self.memory.state.copy()]
        else:
            stored = _without_means(call.rows[:taken].copy(), len(rows.first))
            states = np.pad(stored, ((0, 0), (0, len(begin) - stored.shape[1])))  # guesses do not count
        times = substep_times(ends, step, course.shares)[0]
        moving, loads = call.moving[: taken * parts + 1], call.loads[: taken * parts]
        states = np.concatenate([begin[None], states])
        self.log.append(Stepped(times, np.tile(call.sizes, taken), states, moving, loads))
        self._done += taken
        return taken, status

    def _substeps_again(
        self, begin: Array, rows: StoredRows, step: float, course: Course, measures: bool
    ) -> list[Array]:
        """Compute the substeps of the last time step again, one by one, and return a list of the states at their
        ends. ``begin`` is the state before the step of length ``step`` [s]; ``course`` has the lengths of the
        substeps as fractions of it, loads and prescribed vectors. The last substep measures the controllers' inputs
        if ``measures``. The stepper's own state is restored afterwards. Raise ``ModelError`` if a substep does not
        converge by itself.
        """
        end, states = self.memory.state.copy(), []
        self.memory.state[:] = begin
        for part in range(len(course.loads)):
            one = Course(np.ones(1), course.moving[part : part + 2], course.loads[part : part + 1])
            size = step * float(course.shares[part % len(course.shares)])
            is_last, aside = part + 1 == len(course.loads), rows.scratch_rows()
            call = super()._call(aside, size, one, AROUND_CONTACTS._replace(measures=measures and is_last))
            call.take()
            if super()._record_answer(aside, call)[1] != CONVERGED:
                raise ModelError(
                    f"derivatives need the parts of the step from t = {self._instants[self._done]:.9g} s, one of"
                    f" which, of {size:.3g} s, does not converge alone; take a smaller step"
                )
            states.append(self.memory.state.copy())
        self.memory.state[:] = end
        return states

    def control(self, time: float) -> None:
        """Call the controllers at a time [s], which sets their values for the next time steps, and log the
        instant with its state for derivatives."""
        super().control(time)
        self.log.append(Evaluated(time, self.memory.state.copy()))

    def _evaluate_controllers(self, time: float, rates: Array) -> bool:
        answered = super()._evaluate_controllers(time, rates)
        if answered:
            self.log.append(Evaluated(time, self.memory.state.copy()))
        return answered

    def project(self, time: float) -> None:
        """Project the velocities onto the joint constraints at a time [s]. If the model has constraints, a
        velocity jump with the states before and after is appended to the log for derivatives."""
        before = self.memory.state.copy()
        super().project(time)
        if self.memory.counts["rows"]:
            self.log.append(VelocityJump(time, before, self.memory.state.copy(), self._event))

    def apply_event(self, event: int, time: float) -> None:
        """Apply the event with index ``event`` at a ``time`` [s]: close and open its joint locks and project the
        velocities onto the joints. If that logs a velocity jump, the log entry is completed with the indices of
        the locks that the event closes, the state before it, and whether constraints are redundant afterwards."""
        mechanism, begin, met = self.assembly.system.mechanism, len(self.log), self.memory.state.copy()
        self._event = event
        super().apply_event(event, time)
        self._event = -1
        happens = mechanism.events[event]
        locks = [
            k for k, each in enumerate(mechanism.switches) if any(each.constraint is one for one in happens.locked)
        ]
        last = self.log[-1] if len(self.log) > begin else None
        if isinstance(last, VelocityJump):
            phase = self.assembly.system.phase(self.memory["locked_at"].copy())
            twice = bool(redundancies(phase.system, self.state(time)))
            self.log[-1] = replace(last, locks=tuple(locks), at_event=met, is_redundant=twice)

    def snapshot(self) -> Array:
        """Return the state of this time stepper as an array, from which it can be restored; the last number counts
        the log entries."""
        return np.append(super().snapshot(), len(self.log))

    def restore(self, snapshot: Array) -> None:
        """Set this time stepper back to a snapshot and remove the log entries that were made since."""
        super().restore(snapshot[:-1])
        del self.log[int(snapshot[-1]) :]


def _without_means(rows: Array, reactions: int) -> Array:
    """Convert the last ``reactions`` columns of stored ``rows``, multipliers and forces averaged over two adjacent
    time steps, to values of single time steps. The last row must contain values of a single step already. The
    array is changed in place and returned."""
    own = rows[:, rows.shape[1] - reactions :]
    signs = 1.0 - 2.0 * (np.arange(len(rows)) % 2)[:, None]  # x_k = 2 m_k - x_k+1: sums with alternating signs
    own[:-1] *= 2.0
    own[:] = signs * np.cumsum((signs * own)[::-1], axis=0)[::-1]
    return rows


# A run that can be differentiated.


@dataclass(frozen=True, eq=False)
class RunInterval:
    """Entry in the course of a run for consecutive steps, all of them in one sequence of steps without velocity
    jumps.

    Attributes:
        stretch: its number.
        first, last: indices of the instants at their ends.
        is_implicit: values of laws of the state are those at the mean state of all of it.
    """

    stretch: int
    first: int
    last: int
    is_implicit: bool = False


@dataclass(frozen=True, eq=False)
class LoggedRun:
    """Run of a mechanism with a log of all its steps, velocity jumps and controller evaluations, from which
    derivatives are computed.

    Attributes:
        assembly: of the model; long bodies are not in segments.
        stretches: steps without jumps between.
        course: pieces, jumps and indices of ``evaluations``, in order.
        evaluations: of controllers.
        times: stored instants, shape (T,) [s].
        states: stored states there, shape (T, state size).
        indices: index of the stretch and of the instant in it, shape (T - 1, 2), without the first instant.
    """

    assembly: Assembly
    stretches: tuple[LoggedSteps, ...]
    course: tuple[RunInterval | VelocityJump | int, ...]
    evaluations: tuple[Evaluated, ...]
    times: Array
    states: Array
    indices: IntArray

    @property
    def system(self) -> System:
        """Mechanism whose simulation this run is, in numerical form."""
        return self.assembly.system

    @property
    def velocities(self) -> int:
        """Number of velocities (linear, angular, elastic) of the mechanism of this simulated run."""
        return int(self.assembly.memory.counts["velocities"])

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """Recorded states of this simulated run at the stored instants: a dictionary from the name of a state
        quantity (position, rotation, eta, velocity, ...) to its values, shape (instants, ...) each."""
        return self.assembly.memory.rows(self.states)

    @cached_property
    def implicit(self) -> int:
        """Number of time steps of this run in which forces are Python functions of the state."""
        return sum(isinstance(each, RunInterval) and each.is_implicit for each in self.course)

    @property
    def has_laws(self) -> bool:
        """Whether forces that are Python functions of the state act in this run."""
        return self.implicit > 0

    @property
    def is_controlled(self) -> bool:
        """Whether the mechanism of this run has controllers or forces that are Python functions of the state."""
        return bool(self.assembly.controlled)

    @property
    def jumps(self) -> int:
        """Number of velocity jumps in this run, where velocities are projected onto the constraints (events,
        changes of the time step size)."""
        return sum(isinstance(each, VelocityJump) for each in self.course)


def differentiable(system: System) -> Assembly:
    """Return the model's arrays of a mechanism for time steps that can be differentiated. Raise ``ModelError``,
    naming the element, for history variables together with functions of the state or conditional events, and for a
    winch whose tendon has friction. History variables belong to viscoelastic laws, friction springs, friction at
    guides, and impacts with restitution.

    Raises:
        ModelError: laws that creep or stick with functions of the state or conditions, named.
    """
    rubbing = [
        (element, force.coordinate)
        for element, force in system.forces
        if isinstance(force.coordinate, PiecesCoordinate)
    ]
    for element, coordinate in rubbing:
        if coordinate.winch is not None:
            raise ModelError(
                f"{element} is paid out and rubs on its guides, and cannot be differentiated yet; give friction=0"
            )
    conditions = [event for event in system.mechanism.events if not isinstance(event.when, float)]
    remember = [f"{name.rsplit(':', 1)[0]} is viscoelastic (ph.Maxwell)" for name in branch_names(system)]
    remember += [f"{element} rubs on its guides (with friction=0 it does not)" for element, _ in rubbing]
    remember += [
        f"{element} has friction with a bristle (with bristle=0 it does not)"
        for element, force in system.forces
        if force.friction and force.friction.has_bristle
    ]
    remember += [
        f"{element} depends on the speed at which bodies met (with restitution=1 it does not)"
        for element, force in system.forces
        if force.contact and force.contact.restitution is not None
    ]
    for contact in contacts_of(system):
        if contact.friction:
            remember.append(f"{contact} has friction with a bristle for each pair")
        elif contact.normal_law().restitution is not None:
            remember.append(f"{contact} depends on the speed at which pairs met (with restitution=1 it does not)")
    if remember and (conditions or has_laws(system)):
        what = "events that conditions begin" if conditions else "functions of the state"
        raise ModelError(f"{remember[0]}, and cannot be differentiated together with {what}")
    return assemble(system, with_segments=False)


def simulate_logged(
    assembly: Assembly, start: State, duration: float, step: float, options: StepOptions, warns: bool = False
) -> LoggedRun:
    """Simulate a model from an initial state over ``duration`` [s] in time steps of ``step`` [s]. Return the run
    with the log of all time steps and jumps that its derivatives need. ``assembly`` contains the model's arrays.
    ``start`` is the state, ``options`` are those of the time steps; warnings are given if ``warns``.

    Args:
        assembly, start, duration, step, options: the run.
        warns: of its steps, as ``simulate`` does.

    Raises:
        ParameterError: a duration or step out of range.
        ConvergenceError: a step did not converge, however short.
    """
    instants = instants_of(assembly, start, duration, step, options)
    stepper = RecordingStepper(assembly, options.order, options.numerical_damping, has_redundancy(assembly, start))
    first, times = integrate_logged(stepper, assembly, start, instants, options, warns=warns)
    return run_from_log(assembly, stepper, stepper.log, first, times)


def instants_of(assembly: Assembly, start: State, duration: float, step: float, options: StepOptions) -> Clock:
    """Return the clock of a run, that is all instants [s] at which its time steps begin and end. They start at the
    time of ``start``, follow from ``duration`` and ``step`` [s], and include the breakpoints of the model. Orders
    above 2 in ``options`` raise ``ModelError`` for models with damping. ``assembly`` has the model's arrays.

    Raises:
        ParameterError: a duration or step out of range.
    """
    system, mechanism = assembly.system, assembly.system.mechanism
    if options.order > 2:
        check_lossless(mechanism, options.numerical_damping)
    found = clock(start.time, duration, step, breakpoints_of(mechanism))
    check_rates(system, found.start, found.end)
    return found


def has_redundancy(assembly: Assembly, start: State) -> bool:
    """Return whether the constraints of a mechanism are linearly dependent in its initial state ``start``, with
    the joint locks that are closed at the start. ``assembly`` contains the model's arrays. A lock keeps a joint
    coordinate constant from an event of the run on."""
    locks = [0.0 if switch.is_active else np.nan for switch in assembly.system.mechanism.switches]
    return bool(redundancies(assembly.system.phase(np.array(locks)).system, start))


def integrate_logged(
    stepper: RecordingStepper,
    assembly: Assembly,
    start: State,
    instants: Clock,
    options: StepOptions,
    warns: bool = False,
) -> tuple[Array, Array]:
    """Simulate a run with a time stepper that logs every step, and return the flat state at the start (states,)
    and the stored instants [s]. ``assembly`` has the model's arrays; ``options`` are those of the scheme. If
    ``warns``, a ``StepWarning`` reports time steps too long for stiff strings or fast motions. ConvergenceError is
    raised if a step fails.

    Args:
        stepper, assembly, start, instants, options: the run.
        warns: of long steps, as ``simulate`` does.

    Raises:
        ConvergenceError: a step did not converge, however short.
    """
    system, stored, tolerance = assembly.system, _Instants(warns), options.tolerance
    conditions = watched_conditions(system, None, None)
    run = Simulation(
        system, stepper, start, instants, options.every, stored.take, tolerance, is_late=True, conditions=conditions
    )
    begin = stepper.memory.state.copy()
    completed(run.run(_no_progress))
    if warns:
        steps = options.stored_steps(instants.full) or None
        told = stiff_strings(system, instants.step) if tolerance is None else []
        for text in [*told, *long_steps(RecordedRun(system, stored.recording), steps)]:
            warn_user(text, StepWarning)
    return begin, stored.times


def _no_progress(done: int, count: int) -> None:
    """Progress callback of a simulation that does nothing with ``done`` of ``count`` time steps; it is given
    where no progress is shown."""


class _Instants:
    """Consumer of the recorded blocks of a run that collects their instants and, if ``stores_chunks``, the blocks
    themselves.
    """

    def __init__(self, stores_chunks: bool) -> None:
        self._times: dict[float, None] = {}
        self._stores_chunks = stores_chunks
        self._blocks: list[RecordedStates] = []

    @property
    def times(self) -> Array:
        """Recorded instants of a run without repetition, in the order of time, shape (instants,) [s]."""
        return np.array(list(self._times))

    @property
    def recording(self) -> RecordedStates:
        return concatenated(self._blocks)

    def take(self, recording: RecordedStates, checkpoint: Checkpoint) -> None:
        """Add the instants of a block of a run (``recording``) to the instants of this object, each once. If
        ``stores_chunks`` is set, append the block too, without its first instant, which ends the block
        before. ``checkpoint`` is not used."""
        self._times.update(dict.fromkeys(recording.time.tolist()))
        if self._stores_chunks:
            self._blocks.append(recording.rows(slice(1 if self._blocks else 0, None)))


def run_from_log(
    assembly: Assembly,
    stepper: RecordingStepper,
    log: Sequence[Stepped | VelocityJump | Evaluated],
    first: Array,
    times: Array,
) -> LoggedRun:
    """Return a run that can be differentiated, made of the ``log`` of a time stepper. Consecutive time steps are
    joined to one sequence, which a velocity jump ends. Steps whose forces are functions of the end state stay
    single intervals. ``first`` is the flat state at the first instant, ``times`` [s] are the stored instants.
    ``assembly`` has the model's arrays.

    Args:
        assembly: whose memory derivatives may write into.
        stepper: that took the steps.
        log: of them.
        first: stored state, (state size,), at the first instant.
        times: of the instants that are stored, (T,) [s].
    """
    relaxation = RELAXATION if stepper.is_redundant else 0.0
    damping = stepper.damping
    stretches: list[LoggedSteps] = []
    course: list[RunInterval | VelocityJump | int] = []
    asked: list[Evaluated] = []
    own: list[Stepped] = []

    def close() -> None:
        if own:
            states = np.concatenate([own[0].states[:1], *(each.states[1:] for each in own)])
            moving = np.concatenate([own[0].moving[:1], *(each.moving[1:] for each in own)])
            ends = np.concatenate([own[0].times[:1], *(each.times[1:] for each in own)])
            sizes, loads = (np.concatenate([getattr(each, name) for each in own]) for name in ("sizes", "loads"))
            functions = Functions(moving, loads)
            stretches.append(LoggedSteps(assembly, ends, sizes, damping, relaxation, states, functions))
            own.clear()

    row, grid = 0, set(times.tolist())
    for number, each in enumerate(log):
        if isinstance(each, Stepped):
            last = course[-1] if course else None
            begin = row if own else 0
            row = begin + len(each.sizes)
            joins = isinstance(last, RunInterval) and own and not (last.is_implicit or each.is_implicit)
            own.append(each)
            if joins:
                assert isinstance(last, RunInterval), "asked"
                course[-1] = replace(last, last=row)
            else:
                course.append(RunInterval(len(stretches), begin, row, each.is_implicit))
        elif isinstance(each, VelocityJump):
            close()
            if each.event >= 0:
                relaxation = RELAXATION if stepper.is_redundant or each.is_redundant else 0.0
            course.append(replace(each, span=_span(log, number, grid, assembly)))
        else:
            course.append(len(asked))
            asked.append(each)
    close()
    return LoggedRun(
        assembly, tuple(stretches), tuple(course), tuple(asked), times, *_stored_states(stretches, first, times)
    )


def _span(
    log: Sequence[Stepped | VelocityJump | Evaluated], number: int, grid: set[float], assembly: Assembly
) -> tuple[int, int] | None:
    """Return the numbers of time steps before and after an event whose lengths change if its instant changes. For a
    conditional event they are the substeps of the adjacent time steps; for a prescribed time, those to the nearest
    fixed instants. Return None if the event is at a stored instant or the case is not supported. ``number`` is the
    event's index in the ``log``, ``grid`` the stored instants.

    For a condition these are all steps from the instant before the event to the one after it; for a prescribed time
    they follow from the instants of the run. None: the event is at one of these, between steps chosen by a
    tolerance, or in a model with history variables or functions of the state.
    """
    jump = log[number]
    assert isinstance(jump, VelocityJump), "that may be the first one at its instant"
    if jump.event < 0 or jump.time in grid:
        return None
    before = log[number - 1] if number else None
    after = next((each for each in log[number + 1 :] if isinstance(each, Stepped)), None)
    if not isinstance(before, Stepped) or after is None or before.times[-1] != jump.time:
        return None
    if not isinstance(assembly.system.mechanism.events[jump.event].when, float):
        return len(before.sizes), len(after.sizes)
    if len(strain_indices(assembly)) or has_laws(assembly.system):
        return None
    fixed = grid | {each.time for each in log if isinstance(each, VelocityJump) and each.event >= 0}
    begin = next((k for k in range(len(before.sizes) - 1, -1, -1) if before.times[k] in fixed), -1)
    end = next((k for k in range(1, len(after.times)) if after.times[k] in fixed), -1)
    return (len(before.sizes) - begin, end) if begin >= 0 and end > 0 else None


def _stored_states(stretches: Sequence[LoggedSteps], first: Array, times: Array) -> tuple[Array, IntArray]:
    """Return the states of a run at its stored instants, and where each of them stands in the computed time steps.
    ``stretches`` are the sequences of time steps between velocity jumps, ``times`` [s] the stored instants,
    ``first`` the state at the first of them. The states have the shape (instants, states). The integers (instants -
    1, 2) are, for each later instant, the index of the sequence and the row of the state in it. Times must be
    exactly equal; at a jump the end of the earlier sequence is used."""
    if len(stretches) == 1 and np.array_equal(stretches[0].times, times):
        rows = np.arange(1, len(times))
        return np.concatenate([first[None], stretches[0].states[1:]]), np.stack([0 * rows, rows], axis=1)
    where: dict[float, tuple[int, int]] = {}
    for number, stretch in enumerate(stretches):
        for row, time in enumerate(stretch.times[1:].tolist(), start=1):
            where.setdefault(time, (number, row))
    indices = [where[time] for time in times[1:].tolist()]
    states = np.array([first, *(stretches[number].states[row] for number, row in indices)])
    return states, np.array(indices, dtype=np.int64).reshape(-1, 2)


# Matrices of small changes from step to step: of states, of inputs, of readings (docs/theory.md, 9).


@dataclass(frozen=True, eq=False)
class StepMatrices:
    """Linearized steps of a run: state, input and output matrices A, B, C of ``dx_n+1 = A_n dx_n + B_n du_n`` and
    ``dy_n = C_n dx_n``.

    A change dx has the numbers of the pose, then those of the velocities.

    Attributes:
        states: A, shape (N, 2 velocities, 2 velocities).
        inputs: B, shape (N, 2 velocities, inputs).
        outputs: C of all instants, shape (N + 1, outputs, 2 velocities).
    """

    states: Array
    inputs: Array
    outputs: Array


def step_matrices(run: LoggedSteps, forces: Array, sensors: Sequence[Sensor]) -> StepMatrices:
    """Return the linearized time steps of a run as matrices A, B, C of ``dx_n+1 = A_n dx_n + B_n du_n``, ``dy_n =
    C_n dx_n``. x are changes of the pose, then of the velocities, at the recorded states; u are inputs, y values of
    ``sensors``. ``forces`` (steps, inputs, unknowns) are the derivatives of the residuals of the steps with respect
    to the inputs.

    Args:
        run: the steps.
        forces: dF/du of the equations of each step, shape (N, inputs, unknowns), as of ``LoggedSteps.load_slopes``.
        sensors: of one or several numbers each.

    Raises:
        ModelError: a step whose matrix is singular, or sensors that read more than a state.
    """
    size, inputs = run.assembly.memory.counts["velocities"], forces.shape[1]
    A, B = np.zeros((run.count, 2 * size, 2 * size)), np.zeros((run.count, 2 * size, inputs))
    each = np.zeros((2, 2 * size + inputs, size))  # of pose and velocity, each number alone
    each[0, :size], each[1, size : 2 * size] = np.eye(size), np.eye(size)
    equations = np.zeros((2 * size + inputs, forces.shape[2]))
    for k in range(run.count):
        equations[2 * size :] = forces[k]
        pose, velocity = np.zeros((2, 2, *each.shape[1:]))
        pose[0], velocity[0] = each
        run.jvp(k, k + 1, pose, velocity, equations[None].copy())
        both = np.concatenate([pose[1], velocity[1]], axis=1).T
        A[k], B[k] = both[:, : 2 * size], both[:, 2 * size :]
    return StepMatrices(A, B, output_slopes(run, sensors))


def output_slopes(run: LoggedSteps, sensors: Sequence[Sensor]) -> Array:
    """Return the derivatives of the values of all ``sensors`` with respect to pose and velocities, at all instants
    of a ``run``. The shape is (instants, sensor values, 2 * velocities), with sensors one after the other, and
    columns of the pose before those of the velocities. Components on which a sensor does not depend are zero."""
    numbers, reader = 2 * run.assembly.memory.counts["velocities"], Reader(run.assembly, run.times)
    found = [np.zeros((run.count + 1, 0, numbers))]
    for sensor in sensors:
        jacobian = state_jacobian(reader, run.rows, sensor)
        rows = np.zeros((*jacobian.values.shape[:2], numbers))
        rows[..., jacobian.directions] = jacobian.values
        found.append(rows)
    return np.concatenate(found, axis=1)


NOT_SMOOTH = (
    "{} is a contact or stop that touches, around which steps are taken in parts: a run with it is not made of"
    " equal steps; take a smooth spring instead"
)
CLOSED = 1e-9
"""Depth below which a contact counts as open, relative to the longest body or to a radian."""


def equal_steps_alone(system: System, start: State) -> Assembly:
    """Return the arrays of a system for time steps whose equations depend on pose and velocities alone, so that
    they can be linearized. Contacts and stops that are open in the state ``start`` are left out. Raise
    ``ModelError``, naming the element, for closed ones, events, controllers and functions of the state,
    viscoelastic laws, friction springs and contact groups.

    Args:
        start: the state whose stops and contacts count.

    Raises:
        ModelError: events, controllers, functions of the state, rolling, contacts and stops that touch, laws that
            creep or stick, named.
    """
    at = system.at(start)
    smooth = []
    for each in system.forces:
        if contact := each.force.contact:
            coordinate = each.force.coordinate
            value = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
            length = 1.0 if coordinate.is_angle else system.body_length
            if contact.side * (each.force.rest - value) > CLOSED * length:
                raise ModelError(NOT_SMOOTH.format(each.element))
        else:
            smooth.append(each)
    system = replace(system, forces=tuple(smooth))
    for name in branch_names(system):
        raise ModelError(
            f"{name.rsplit(':', 1)[0]} is viscoelastic (ph.Maxwell): its history variables are not supported here;"
            " leave relaxation= out, or take viscosity or a damper"
        )
    for element, force in system.forces:
        if force.friction and force.friction.has_bristle:
            raise ModelError(
                f"{element} has friction with a bristle, whose history variables are not supported here; give"
                " bristle=0, without rolling= and drilling="
            )
    if system.mechanism.events:
        raise ModelError(
            "events (model.at) are not supported here, since they change the equations of the steps; leave them out"
        )
    for element in system.mechanism.elements:
        if isinstance(element, Contact) and element.is_contact_group:
            raise ModelError(NOT_SMOOTH.format(element))
    assembly = differentiable(system)
    for controlled in assembly.controlled:
        raise ModelError(
            f"{controlled.name} calls a Python function of the state; write the controller as joint.spring,"
            " joint.damper and joint.torque(function of time)"
        )
    return assembly


def simulate_steps(assembly: Assembly, state: State, step: float, count: int, added: Array | None) -> LoggedSteps:
    """Simulate ``count`` equal time steps of ``step`` [s] from a ``state`` and return them as ``LoggedSteps``,
    which can be differentiated. ``added`` are additional load values for each time step. ``assembly`` contains the
    model's arrays. Raise ``ConvergenceError`` if a time step fails; none is halved.

    Args:
        assembly: of ``equal_steps_alone``.
        state: to begin with.
        step: [s].
        count: of the steps.
        added: to the load values of each step, shape (count, 3 values); None: nothing.

    Raises:
        ConvergenceError: a step of this size did not converge.
    """
    is_redundant = bool(redundancies(assembly.system, state))
    times: Array = np.asarray(state.time + step * np.arange(count + 1), dtype=np.float64)
    stepper = RecordingStepper(assembly, 2, 0.0, is_redundant)
    stepper.begin(state)
    if added is not None:
        stepper.add_loads(added)
    taken = completed(stepper.advance(times, step, Storage()))
    if taken.steps < count:
        at = float(times[taken.steps])
        words, history = failure_message(stepper, at, taken.is_singular)
        raise ConvergenceError(f"the step from t = {at:.9g} s failed: {words}; take a smaller step", at, history)
    (all_steps,) = stepper.log
    assert isinstance(all_steps, Stepped), "nothing else was done"
    relaxation, given = RELAXATION if is_redundant else 0.0, Functions(all_steps.moving, all_steps.loads)
    sizes = np.full(count, step)
    return LoggedSteps(assembly, times, sizes, 0.0, relaxation, all_steps.states, given)
