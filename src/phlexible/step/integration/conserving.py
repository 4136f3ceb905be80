"""The conserving step (docs/theory.md, 4): compiled kernels on the tables of an assembly."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.loads import Input
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.events import check_not_released
from phlexible.state.instants import GivenFunctions, Instants
from phlexible.state.layout import State, same_pose
from phlexible.state.recording import LateReactions, RecordedStates
from phlexible.state.redundancy import independent_rows, near_dead_centre
from phlexible.state.system import Phase, System
from phlexible.step.assembly.assembly import Assembly, constraint_columns, work_sources
from phlexible.step.assembly.controlled import ControlledValue
from phlexible.step.integration.company import Loop, StepCall
from phlexible.step.integration.composition import SUBSTEPS, substep_times
from phlexible.step.integration.controllers import Controllers, PythonLaws
from phlexible.step.integration.implicit_laws import ImplicitLaws, Trial
from phlexible.step.integration.reactions import check_fit, projection, reactions_in_phase
from phlexible.step.integration.recorder import recording_of
from phlexible.step.integration.stored_rows import Advance, Course, Storage, StoredRows, branches_of, set_branches
from phlexible.step.programs import advance, joint_velocities, pair_forces
from phlexible.step.tables.iterations import most_iterations
from phlexible.step.tables.memory import Memory
from phlexible.step.tables.requests import (
    CONVERGED,
    NOT_CONVERGED,
    RELAXATION,
    SINGULAR,
    TOUCHING,
    StepRequest,
    record,
)

# What Newton's method did in a step that failed, and the likely cause.


def failure_words(
    assembly: Assembly, system: System, state: State, is_singular: bool, cause: BaseException | None
) -> tuple[str, Array]:
    """Words, and the scaled updates of the last try, shape (iterations,).

    Args:
        assembly: with the memory of that try.
        system: with the joints that hold.
        state: at its start.
        is_singular: whether Newton's matrix was.
        cause: what a function of the user raised, or None.
    """
    memory = assembly.memory
    history = np.asarray(memory["history"], dtype=np.float64)
    ends = np.flatnonzero(history == 0.0)
    history = history[: max(1, int(ends[0])) if len(ends) else None].copy()
    words = f"the scaled Newton update was still {history[-1]:.2g} after {len(history)} iterations"
    missed, explained = memory["ledger"]
    if missed > explained:
        words = (
            f"where updates of Newton's method are small the energy misses {missed:.2g} J of the work"
            f" of the forces, and round-off explains {explained:.2g} J: no solution, as in steps far longer"
            " than a period"
        )
    if is_singular:
        words = "Newton's matrix is singular (a joint at a dead point, or redundant joints)"
    if cause is not None:
        words += f"; a function of a law raised {cause!r}"
    centre = near_dead_centre(system, state, np.asarray(memory["velocity_weight"]))
    return words + _most_compressed(assembly) + centre + trouble(assembly, np.inf)[1], history


def trouble(assembly: Assembly, limit: float) -> tuple[str, str]:
    """Words of a body deformed by more than so many sizes of it, and of controllers and laws; or empty."""
    name, share = _most_deformed(assembly)
    deformed = f"{name} is deformed by {share:.3g} times its size" if not share <= limit else ""
    laws = _names(each for each in assembly.controlled if isinstance(each.feedback, StateLaw))
    controllers = _names(each for each in assembly.controlled if not isinstance(each.feedback, StateLaw))
    of_feedback = ""
    if controllers:
        of_feedback = (
            f"; {controllers}: a controller whose gains are too large for the step, or for the inertia that it"
            " moves, makes motions grow without bound; joint.servo and StateForce act inside of the step"
        )
    if laws:
        of_feedback += (
            f"; {laws}: a function of the state that jumps on stiff parts, or feeds energy to them, may have no"
            " value that agrees with a step; write a slope in place of a jump, such as tanh(v / v0), and linear"
            " laws as springs, dampers or joint.servo"
        )
    return deformed, of_feedback


def _names(values: Iterable[ControlledValue]) -> str:
    """Each once, for a message."""
    return ", ".join(dict.fromkeys(each.name for each in values))


def _most_deformed(assembly: Assembly) -> tuple[str, float]:
    """Name of a floating body, and the greatest elastic displacement of a port now over its size."""
    system, eta = assembly.system, np.asarray(assembly.memory["eta"])
    floating = [placed for placed in system.bodies if isinstance(placed.data, FloatingBody)]
    worst = "", 0.0
    for vector in assembly.vectors:
        b = vector.carrier
        if 0 <= b < system.layout.frames and vector.is_point and vector.shapes.shape[1]:
            moved = vector.shapes @ eta[int(system.layout.eta[b]) : int(system.layout.eta[b + 1])]
            share = float(np.linalg.norm(moved)) / (floating[b].data.size or np.inf)
            if not share <= worst[1]:
                worst = floating[b].name, share
    return worst


def _most_compressed(assembly: Assembly) -> str:
    """A clause for an error message; empty where there are no strings."""
    elements = [
        (placed.name, int(element))
        for placed in assembly.system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    own = slice(assembly.element_forces, assembly.element_forces + len(elements))
    if not elements:
        return ""
    before: Array = assembly.memory["theta0"][own]
    change: Array = assembly.memory["theta_change"][own]
    C: Array = np.where(np.isfinite(change), before + change, 0.0)
    worst = int(C.argmin())
    name, element = elements[worst]
    return (
        f"; of all strings element {element} of {name} was compressed most,"
        f" to C = |dr/ds|^2 = {max(float(C[worst]), 0.0):.3g} in the last try"
    )


NOTHING_MOVES = np.zeros((2, 0))
NOTHING = np.zeros((0, 0))
LEAST_MOTION = 1e-6
"""Of the reach, in a step. Newton's updates may stop at 1e-8 of it, where the round-off of positions is."""

LITTLE = 1e-8
"""Of the reach: how far bodies move in the time for which forces of contacts among many are asked at an instant."""


class ConservingStepper:
    """Takes steps from a state that it holds: exact in energy, momenta, joints and the path of the centre of mass.

    Args:
        assembly: what moves; its memory holds the state.
        order: 2, 4 or 6.
        numerical_damping: gamma_num of (3.4).
        is_redundant: joints hold a motion twice; their forces of least size are taken.
        loop: memory -> what takes its steps, with those of others; None: the compiled loop.
        coarsening: how many times longer the parts of steps around contacts are than contacts ask for.

    Attributes:
        work_sources: names of what can supply work, each with its columns in the table ``work``.
        layout: what the numbers of a snapshot are; snapshots of other layouts cannot be restored.
    """

    _loop: Any = staticmethod(advance)  # compiled: takes steps of one size

    def __init__(
        self,
        assembly: Assembly,
        order: int = 2,
        numerical_damping: float = 0.0,
        is_redundant: bool = False,
        loop: Callable[[Memory], Loop] | None = None,
        coarsening: int = 1,
    ) -> None:
        if loop is not None:
            self._loop = loop(assembly.memory)
        self.work_sources = work_sources(assembly)
        self._constraint_columns = constraint_columns(assembly)
        self._assembly, self._memory = assembly, assembly.memory
        self._counter: Array = self._memory["counter"]
        self._step_error: Array = self._memory["step_error"]
        self._substeps = np.array(SUBSTEPS[order], dtype=np.float64)
        self._damping, self._is_redundant, self._coarsening = numerical_damping, is_redundant, coarsening
        self._controllers = Controllers(assembly)
        self._reach, self._error_length = assembly.system.reach, assembly.system.largest_length
        reach, mass = self._reach, float(self._memory["mass"].sum())
        self._implicit = ImplicitLaws(self._controllers.law_arms(reach), mass, reach)
        has_frames = assembly.memory.counts["frames"] > 0
        self._gradient_iterations = 0 if is_redundant or has_frames else most_iterations(assembly.memory)
        self._trials = 0  # of steps, in the last ``advance``
        self._law_error: Exception | None = None  # what one of them raised in the last step
        self._laws = PythonLaws(assembly)
        sizes = {**self._memory.state_sizes, "angles of controllers": len(self._controllers.angles)}
        if len(self._controllers.memory):
            sizes["memory of controllers"] = len(self._controllers.memory)
        if self._implicit.are_needed:
            sizes["memory of laws"] = len(self._implicit.memory)
        held = 3 * self._memory.counts["load_values"] if self.is_controlled else 0
        self._held = np.zeros(held)  # values of the controllers during a step
        if held:
            sizes["values held by controllers"] = held
        self.layout = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        self._given = np.zeros(0)  # values that are added to loads from outside
        self._steady = assembly.load_values(np.zeros(1)) if assembly.loads_are_steady else None
        self._still: Course | None = None  # of a single step where nothing depends on time
        if self._steady is not None and not assembly.moving and len(self._substeps) == 1:
            self._still = Course(self._substeps, np.zeros((2, 0)), self._steady)
        self._request = record(StepRequest)
        self._requested: StepRequest | None = None  # what is written there
        self._measured_at = nan  # where compiled code left places and rates of all vectors
        self._rows: IntArray | None = None  # that do not depend on others, of those that held then:
        self._rows_of: Phase | None = None
        self._stop: BaseException | None = None  # what a controller raised, or a law for the first values of a step
        self._pose: tuple[State, Instants, float] | None = None  # where something was computed last

    def begin(self, state: State, at: Instants | None = None) -> None:
        """Start from a state; ``at``: the same as an instant, where the caller has it."""
        self._measured_at = nan
        self._pose = (state, at, np.inf) if at is not None else None
        memory, thetas = self._memory, self._assembly.initial_thetas(state)
        if state.theta is not None:
            thetas = state.theta[: len(thetas)]
        memory["position"][:], memory["rotation"][:] = state.position, state.rotation
        memory["eta"][:], memory["velocity"][:] = state.eta, state.velocity
        memory["theta"][:] = thetas
        set_branches(memory, state.branches)
        switches = self._assembly.system.mechanism.switches
        memory["held"][:] = [0.0 if switch.is_held else np.nan for switch in switches]
        memory["event_time"][:], memory["event_loss"][:] = np.nan, 0.0

    def advance(self, instants: Array, step: float, storage: Storage) -> Advance:
        """Steps between instants (count + 1,), all of one size, up to the first that fails; of one instant its row.

        Controllers are asked before each step but the first, as ``control`` did. Steps around contacts are taken in
        parts (8.23).
        """
        if storage.watches:
            every = replace(storage, every=1, phase=0, watches=False)
            return self._thinned(self.advance(instants, step, every), storage)
        self._trials = 0
        count, asks, has_laws = len(instants) - 1, storage.asks, self._implicit.are_needed
        course = self._course(instants, step, self._substeps)
        rates = self._controllers.moving_rates(instants[:-1]) if asks else NOTHING
        rows = StoredRows(self._memory, count, storage)
        at_once, done, status = 1 if asks or has_laws else count, 0, CONVERGED
        while True:
            if asks and done and not self._asked(float(instants[done]), rates[done]):
                break
            ahead = course if at_once == count and not done else course.steps(done, min(done + at_once, count))
            if has_laws and count:
                taken, status = self._obeying(rows, instants[done : done + 2], step, ahead)
            else:
                taken, status = self._enter(rows, step, ahead, measures=asks)
            done += taken
            if status == TOUCHING:
                around = self._around_contacts(instants[done : done + 2], step)
                taken, status = self._enter(rows, step, around, asks, is_around_contacts=True)
                done += taken
            if status != CONVERGED or done == count:
                break
        self._measured_at = float(instants[done]) if asks and done else nan
        found = self._memory.rows(rows.numbers)
        error = max(found["step_error"].ravel().tolist() + self._step_error.tolist())
        return Advance(done, status == SINGULAR, found, rows.first, error, self._stop is not None, self._trials)

    def _thinned(self, taken: Advance, storage: Storage) -> Advance:
        """All instants as watched; those that are to be stored as rows, with the greatest error between."""
        watched = {name: array[: taken.steps] for name, array in taken.rows.items()}
        kept = np.arange(storage.every - storage.phase, taken.steps + 1, storage.every) - 1
        rows = {name: array[kept] for name, array in watched.items()}
        errors, begins = watched["step_error"], [0, *(kept + 1).tolist()]
        for row, (begin, end) in enumerate(pairwise(begins)):
            rows["step_error"][row] = errors[begin:end].max()
        if len(rest := errors[begins[-1] :]):
            self._step_error[0] = rest.max()
        return taken._replace(rows=rows, watched=watched)

    def _asked(self, time: float, rates: Array) -> bool:
        """Whether controllers answered; what one raised comes once the steps before are stored."""
        try:
            self._controllers.hold(time, rates, self._held, partial(self._recorded, time))
        except BaseException as raised:
            self._stop = raised
        return self._stop is None

    def _obeying(self, rows: StoredRows, instants: Array, step: float, course: Course) -> tuple[int, int]:
        """One step with values of the laws that are those of its mean state (8.22); steps taken, and the status."""
        memory, controllers, law_values = self._memory, self._controllers, np.zeros_like(course.loads)
        start, trial = memory.state.copy(), rows.aside()
        self._law_error, status, is_tried = None, NOT_CONVERGED, False
        most, is_first = memory["counter"][0], True  # Newton iterations, with those of the longest trial

        def take(found: Array) -> Trial | None:
            nonlocal status, is_tried, trial, most, is_first
            if self._stop is not None:
                return None
            self._trials += 1
            memory.state[:] = start
            controllers.put_laws(found, law_values)
            trial = rows.aside()
            _, status = self._enter(trial, step, course.with_loads(law_values), is_tried=is_tried)
            begin, change = controllers.places_in_step()
            is_tried = status == CONVERGED
            if status == TOUCHING:
                around = self._around_contacts(instants, step).with_loads(law_values)
                _, status = self._enter(trial, step, around, is_around_contacts=True)
                change = sum(controllers.places_in_step()) - begin
            most = max(most, memory["counter"][0])
            if status != CONVERGED:
                return None
            try:
                return Trial(controllers.laws_in_step(float(instants[0] + 0.5 * step), step, begin, change), change)
            except Exception as error:
                self._law_error, status = error, NOT_CONVERGED
                if is_first:  # later ones may be far from the solution, where shorter changes or steps help
                    self._stop = error
                return None
            finally:
                is_first = False

        if not self._implicit.solve(step, take):
            memory.state[:] = start
            return 0, status if status == SINGULAR else NOT_CONVERGED
        error = float(self._step_error[0])
        memory["counter"][0] = most
        self._enter(rows if rows.keeps_next else rows.aside(1), step, course.steps(1, 1))
        if not rows.keeps_next:
            self._step_error[0] = error
        self._law_error = None
        rows.took(1, trial.first)
        return 1, CONVERGED

    def _course(self, instants: Array, step: float, shares: Array) -> Course:
        """What moves and loads between instants, with steps in such shares."""
        if self._still is not None and len(instants) == 2 and shares is self._substeps and not self._given.size:
            return self._still
        if self._steady is not None and not self._assembly.moving:
            count = (len(instants) - 1) * len(shares)
            loads = self._values(instants[:1])
            return Course(shares, np.zeros((count + 1, 0)), np.broadcast_to(loads, (count, loads.shape[1])).copy())
        ends, middles = substep_times(instants, step, shares)
        return Course(shares, self._assembly.moving_values(ends), self._values(middles, ends))

    def _around_contacts(self, instants: Array, step: float) -> Course:
        """One step in the parts that contacts asked for."""
        parts = max(1, int(self._memory["parts"][0]) // self._coarsening)
        return self._course(instants, step, np.tile(self._substeps / parts, parts))

    def _enter(
        self,
        rows: StoredRows,
        step: float,
        course: Course,
        measures: bool = False,
        is_around_contacts: bool = False,
        is_tried: bool = False,
    ) -> tuple[int, int]:
        """Compiled code takes the steps of a course; how many it took, and the status of the last.

        Args:
            rows: receive stored instants and the reactions of the first step.
            step: size of the steps [s].
            course: their substeps; without any the state as it is becomes a row.
            measures, is_around_contacts, is_tried: as in a ``StepRequest``.
        """
        call = self._call(rows, step, course, measures, is_around_contacts, is_tried)
        with self._laws.called():
            call.taken = self._loop(
                self._memory.header, call.sizes, call.request, call.moving, call.loads, call.reactions, call.rows
            )
        return self._answer(rows, call)

    def ask(self, instants: Array, step: float, storage: Storage) -> tuple[StoredRows, StepCall] | None:
        """Steps as ``advance`` takes them, to be taken together with those of others; None: it has to be asked."""
        if storage.asks or storage.watches or self._implicit.are_needed or self.cause is not None:
            return None
        rows = StoredRows(self._memory, len(instants) - 1, storage)
        return rows, self._call(rows, step, self._course(instants, step, self._substeps))

    def answered(self, rows: StoredRows, call: StepCall) -> tuple[int, Mapping[str, Array]]:
        """How many of these steps were taken, and the rows that are stored."""
        return self._answer(rows, call)[0], self._memory.rows(rows.numbers)

    def _answer(self, rows: StoredRows, call: StepCall) -> tuple[int, int]:
        taken, status = call.taken or (0, NOT_CONVERGED)
        rows.took(taken, call.reactions)
        return int(taken), int(status)

    def _call(
        self,
        rows: StoredRows,
        step: float,
        course: Course,
        measures: bool = False,
        is_around_contacts: bool = False,
        is_tried: bool = False,
    ) -> StepCall:
        """Steps of a course, as ``_enter`` has them taken."""
        sizes = step * course.shares
        request = self.request(
            len(course.loads) // len(sizes),
            float(np.abs(sizes).max()) if is_around_contacts else step,
            rows.every,
            rows.since_stored,
            rows.continues,
            measures,
            is_around_contacts,
            is_tried,
        )
        if request != self._requested:  # writing it takes longer than looking
            self._request[0] = self._requested = request
        loads = course.loads + self._held if self._held.size else course.loads
        reactions = np.zeros(len(rows.first))
        return StepCall(self._memory, sizes, self._request, course.moving, loads, reactions, rows.rest)

    def request(
        self,
        steps: int,
        longest: float,
        every: int,
        since_stored: int = 0,
        continues: bool = False,
        measures: bool = False,
        is_around_contacts: bool = False,
        is_tried: bool = False,
    ) -> StepRequest:
        """What compiled code is asked for; ``longest``: of the parts of a step that it takes at once [s]."""
        return StepRequest(
            steps,
            self._damping,
            LEAST_MOTION * self._reach / longest,
            self._is_redundant,
            self._error_length,
            every,
            since_stored,
            continues,
            measures,
            is_around_contacts,
            is_tried,
            self._gradient_iterations,
        )

    @property
    def assembly(self) -> Assembly:
        """What moves."""
        return self._assembly

    @property
    def shares(self) -> Array:
        """Of a step, those of the substeps that it is composed of."""
        return self._substeps

    @property
    def is_redundant(self) -> bool:
        """Whether joints hold a motion twice."""
        return self._is_redundant

    @property
    def has_laws_of_python(self) -> bool:
        """Whether forces are functions of the state that Python evaluates in the step."""
        return self._implicit.are_needed

    def now(self, time: float) -> Mapping[str, Array]:
        """The state that it holds, as one stored instant."""
        return self.advance(np.array([time]), 1.0, Storage()).rows

    @property
    def memory(self) -> Memory:
        """Of the state."""
        return self._memory

    @property
    def is_steady(self) -> bool:
        """Whether nothing depends on time but what is given to the loads."""
        is_still = self._steady is not None and not self._assembly.moving
        return is_still and not (self._implicit.are_needed or self._controllers.are_needed)

    @property
    def steady_loads_of_model(self) -> Array:
        """All loads of a stepper that is steady without what is given, shape (3 loads,)."""
        assert self._steady is not None, "it is steady"
        return np.asarray(self._steady[0])

    @property
    def steady_loads(self) -> Array:
        """The same as they are now."""
        loads = self.steady_loads_of_model
        return np.asarray(loads + self._given) if self._given.size else loads

    @property
    def projects_at_once(self) -> bool:
        """Whether ``joint_velocities`` depends on the state alone, so that it can be found in lanes."""
        return not (self._is_redundant or self._assembly.system.related or self._assembly.moving)

    def joint_velocities(self, time: float) -> Array | None:
        """The velocities brought onto the joints, shape (velocities,); the state stays as it is.

        As ``projected_velocities`` finds them in a motion, by the elimination of a step. None where joints depend
        on each other that did not at the start.
        """
        assembly, system, memory = self._assembly, self._assembly.system, self._memory
        if assembly.moving and system.mechanism.switches:
            return None
        found, drift = memory["velocity"].copy(), np.zeros(memory.counts["rows"])
        if not len(drift):
            return found
        moving = NOTHING_MOVES
        if assembly.moving:
            moving = assembly.moving_values(np.array([time]))
            drift = system.rows.drift(system.at(self._state(time)))[0]
        self._measured_at = nan
        relaxation = RELAXATION if self._is_redundant else 0.0
        return found if joint_velocities(memory.header, moving, drift, found, relaxation) else None

    def project(self, time: float) -> None:
        """Bring velocities back onto the joints, before steps of another length.

        What moving frames and drives supply is booked as their work, what goes as dissipated.
        """
        memory = self._memory
        state = self._state(time)
        found = projection(self._phase, state, self._instant(state, np.inf))
        memory["velocity"][:] = found.velocity
        np.add.at(memory["work"], self._constraint_columns, found.work)
        self._measured_at = nan
        memory["dissipated"][0] += found.lost
        memory["known_velocities"][0] = 0.0

    @property
    def _phase(self) -> Phase:
        """The constraints that hold now."""
        return self._assembly.system.phase(self._memory["held"])

    @property
    def event_times(self) -> Array:
        """When each event happened, NaN: not yet, shape (events,) [s]."""
        return np.asarray(self._memory["event_time"])

    def happen(self, event: int, time: float) -> None:
        """Hold and release what an event does; velocities are brought onto what holds then.

        The energy that the impulse takes is booked as dissipated.

        Raises:
            VelocityError: what holds from then on contradicts each other.
            ModelError: a lock of a joint that was released.
        """
        memory, system = self._memory, self._assembly.system
        happens, before = system.mechanism.events[event], float(memory["dissipated"][0])
        held, switches = memory["held"], system.mechanism.switches
        gone = [each.constraint for k, each in enumerate(switches) if np.isnan(held[k])]
        check_not_released(happens, [each for each in gone if isinstance(each, Joint)], "before")
        gaps = system.gaps(self._state(time), memory["theta"])
        for k, switch in enumerate(switches):
            rows = np.flatnonzero(system.row_switches == k)
            if any(switch.constraint is each for each in happens.released):
                held[k] = np.nan
                memory["multiplier"][rows] = 0.0
            elif any(switch.constraint is each for each in happens.held):
                held[k] = gaps[rows[0]]
        velocity = memory["velocity"].copy()
        self.project(time)
        if happens.held:
            check_fit(self._phase, self._state(time), velocity, f"{happens.text} at t = {time:.9g} s")
        memory["event_time"][event] = time
        memory["event_loss"][event] = memory["dissipated"][0] - before

    @property
    def last_reactions(self) -> tuple[Array, Array]:
        """Multipliers and forces of the last step, shape (rows,) and (forces,)."""
        return np.array(self._memory["multiplier"]), np.array(self._memory["force"])

    def reactions(self, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """What finds multipliers and forces at the state that it holds now, from accelerations (4.23).

        Of strings, whose forces are no reactions, it has those of the last step. Users' functions are asked now, so
        that the rest can wait until somebody wants to know.

        Args:
            time: of the state [s].
            end: functions of time are asked up to here [s].
            is_projected: velocities satisfy the joints (``project``); if not they are brought back onto them.

        Raises:
            ValueError: a function that cannot be asked there.
        """
        assembly, state = self._assembly, self._state(time)
        phase = self._phase
        if self._rows is None or self._rows_of is not phase:
            rows = np.arange(len(phase.rows))
            self._rows = independent_rows(phase.system, state) if self._is_redundant else rows
            self._rows_of = phase
        values = self._values(np.array([time]))[0]
        if self._held.size:
            values = values + self._held
        if self._implicit.are_needed:
            self._measure(time)
            values = self._controllers.obeyed(time, values)
        theta = self._memory["theta"][: assembly.element_forces].copy()
        if isinstance((at := self._instant(state, end)).given, GivenFunctions):
            at.given.second_order()
        find = partial(
            reactions_in_phase,
            phase,
            state,
            theta,
            values.reshape(-1, 3),
            self._pushed(time),
            self._rows,
            at,
            *self.last_reactions,
            is_projected,
        )
        if not assembly.has_functions:
            return find
        found = find()  # users' laws are asked now
        return lambda: found

    def _pushed(self, time: float) -> Array:
        """Forces of contacts among many at the state that it holds, shape (velocities,).

        Means of a tiny step there and one back: their errors are of second order.
        """
        memory = self._memory
        pushed = np.zeros(len(memory["velocity"]))
        if not memory.counts["members"]:
            return pushed
        fastest = float(np.abs(memory["velocity_weight"] * memory["velocity"]).max(initial=0.0))
        h = LITTLE * (self._reach / fastest if fastest else 1.0)
        moving = self._assembly.moving_values(np.array([time]))  # what meets among many does not
        for step in (h, -h):
            pair_forces(memory.header, step, moving, pushed)
        self._measured_at = nan
        return 0.5 * pushed

    def _instant(self, state: State, end: float) -> Instants:
        """The state as an instant, whose accelerations are asked for up to ``end``; a pose is computed once."""
        known = self._pose
        if known is None or not same_pose(known[0], state):
            at = self._assembly.system.at(state, end)
        else:
            given = known[1].given if known[2] == end else self._assembly.system.at(state, end).given
            at = replace(known[1], velocity=state.velocity[None], given=given)
        self._pose = (state, at, end)
        return at

    @property
    def inputs(self) -> Mapping[str, Input]:
        """Constant loads and prescribed forces by name, with their places in ``give``."""
        return self._assembly.inputs

    @property
    def load_values(self) -> int:
        """Number of loads and then prescribed forces, three values each."""
        return int(self._memory.counts["load_values"])

    def give(self, values: Array) -> None:
        """Add values to all loads in the steps to come, shape (load values,)."""
        self._given = values

    def _values(self, times: Array, ends: Array | None = None) -> Array:
        kept = self._steady if len(times) == 1 else None
        values = self._assembly.load_values(times, ends) if kept is None else kept
        return values + self._given if self._given.size else values

    def _state(self, time: float) -> State:
        own = {name: self._memory[name].copy() for name in ("position", "rotation", "eta", "velocity")}
        return State(time, **own, branches=branches_of(self._memory.rows(self._memory.state[None]))[0])

    def control(self, time: float) -> None:
        """Ask the controllers for the values that they hold in the steps to come."""
        if time != self._measured_at:
            self._measure(time)
        held = np.zeros_like(self._held)
        rates = self._controllers.moving_rates(np.array([time]))[0]
        self._controllers.hold(time, rates, held, partial(self._recorded, time))
        self._held = held

    def _measure(self, time: float) -> None:
        """Places and rates of all vectors now; the greatest error since the last stored instant stays."""
        error = float(self._step_error[0])
        self.now(time)
        self._step_error[0] = error

    def _recorded(self, time: float) -> RecordedStates:
        """The state at this instant, for sensors."""
        error = float(self._step_error[0])
        found = recording_of(self._assembly.system, self.work_sources, np.array([time]), self.now(time))
        self._step_error[0] = error
        return found

    @property
    def is_controlled(self) -> bool:
        """Whether there are controllers, which are asked before each step."""
        return self._controllers.are_needed

    @property
    def numbers_a_step(self) -> int:
        """Of a stored row and of the functions of time: they bound how many steps are taken at a time."""
        return len(self._memory.state) + 3 * (self._memory.counts["moving"] + self._memory.counts["load_values"])

    def snapshot(self) -> Array:
        """A copy of the state with its ledger, then of angles, memory and values of controllers, shape (numbers,).

        After ``restore`` of it the same steps have the same digits.
        """
        own = self._controllers
        return np.concatenate([self._memory.state, own.angles, own.memory, self._implicit.memory, self._held])

    def restore(self, snapshot: Array) -> None:
        """Put a snapshot back."""
        count = len(self._memory.state)
        angles = count + len(self._controllers.angles)
        self._memory.state[:], self._controllers.angles[:] = snapshot[:count], snapshot[count:angles]
        laws = angles + len(self._controllers.memory)
        held = laws + len(self._implicit.memory)
        self._controllers.memory[:], self._implicit.memory[:] = snapshot[angles:laws], snapshot[laws:held]
        self._held = snapshot[held:].copy()
        self._measured_at = nan

    def failure(self, time: float, is_singular: bool) -> tuple[str, Array]:
        """What Newton's method did in the step that failed at a time [s], and its scaled updates."""
        return failure_words(self._assembly, self._phase.system, self._state(time), is_singular, self.cause)

    def trouble(self, limit: float) -> tuple[str, str]:
        """Words of a body deformed by more than so many times its size, and of the controllers; or empty ones."""
        return trouble(self._assembly, limit)

    def let_interrupt(self) -> None:
        """Ctrl-C in functions that compiled code calls, and what ends a run, was held back."""
        self._laws.let_interrupt()
        if self._stop is not None:
            error, self._stop = self._stop, None
            raise error

    @property
    def cause(self) -> BaseException | None:
        """What a function of a law raised in the last step; None: nothing."""
        return self._law_error or self._laws.error

    @property
    def dependent_steps(self) -> int:
        """Steps so far in which joints depended on each other that were independent at the start."""
        return 0 if self._is_redundant else int(self._counter[1])

    @property
    def open_steps(self) -> int:
        """Steps so far that were solved, and whose energies miss the work by more than round-off explains."""
        return int(self._counter[3])

    @property
    def has_jumps(self) -> bool:
        """Whether ``jumps`` has any."""
        return self._implicit.are_needed and bool(self._implicit.jumps.any())

    @property
    def jumps(self) -> Mapping[str, int]:
        """Steps so far in which values of a law were none of it, where it jumps, by the name of the law."""
        return self._controllers.by_law(self._implicit.jumps)
