"""Steps of the conserving method by calls of compiled kernels on the tables of an assembly (docs/theory.md, 4)."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import nan
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.loads import Input
from phlexible.state.recorded_run import LateReactions, RecordedStates, with_late_reactions
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.composition import SUBSTEPS, substep_times
from phlexible.step.integration.controllers import Controllers, PythonLaws
from phlexible.step.integration.implicit_laws import ImplicitLaws, Trial
from phlexible.step.integration.mechanism_state import MechanismState
from phlexible.step.integration.recorder import recording_of
from phlexible.step.integration.step_calls import Calls, Loop, StepCall
from phlexible.step.integration.stored_rows import Advance, Course, Storage, StoredRows
from phlexible.step.programs import advance, most_iterations
from phlexible.step.tables.memory import Memory, StateRows
from phlexible.step.tables.requests import CONVERGED, NOT_CONVERGED, SINGULAR, TOUCHING, StepRequest, empty_request

NOTHING = np.zeros((0, 0))
LEAST_MOTION = 1e-6
"""Of the reach, in a step. Newton's updates may stop at 1e-8 of it, where the round-off of positions is."""


class Purpose(NamedTuple):
    """Purpose of a call of the compiled loop, the last fields but one of a ``StepRequest``."""

    measures: bool = False
    is_around_contacts: bool = False
    is_tried: bool = False


REGULAR, MEASURING, TRIED = Purpose(), Purpose(measures=True), Purpose(is_tried=True)
AROUND_CONTACTS = Purpose(is_around_contacts=True)


MOST_NUMBERS = 512
"""Largest number of a mechanism's state up to which a motion holds its tables, of less than 200 kB."""


class Stepper(MechanismState):
    """Computes steps from its stored state: exact in energy, momenta, joints and the path of the centre of mass.

    Args:
        assembly: assembly of the mechanism, whose memory contains the state.
        order: one of ``SUBSTEPS``.
        damping: numerical, gamma_num of (3.4).
        is_redundant: whether constraints are redundant; their forces of least size are taken.
        loop: returns the loop that computes the steps of a memory; None: the compiled loop.
        coarsening: factor on the length of the substeps around contacts.

    Attributes:
        damping: numerical damping gamma_num.
        shares: lengths of the substeps as fractions of a step, shape (substeps,).
        has_laws: whether forces are functions of the state that Python evaluates in the step.
        is_controlled: whether there are controllers, which are evaluated before each step.
        least_motion: smallest motion in a step, over the reach, that Newton's updates are compared with.
        layout: description of the numbers of a snapshot; snapshots of other layouts cannot be restored.
        load_values: number of loads and then prescribed forces, three values each.
    """

    def __init__(
        self,
        assembly: Assembly,
        order: int = 2,
        damping: float = 0.0,
        is_redundant: bool = False,
        loop: Callable[[Memory], Loop] | None = None,
        coarsening: int = 1,
    ) -> None:
        super().__init__(assembly, is_redundant)
        memory, self.damping = self.memory, damping
        self._loop: Loop = advance if loop is None else loop(memory)
        self._step_error: Array = memory["step_error"]
        self.least_motion = LEAST_MOTION
        self.shares, self._coarsening = np.array(SUBSTEPS[order], dtype=np.float64), coarsening
        self._controllers = Controllers(assembly)
        self._reach, self._error_length = assembly.system.reach, assembly.system.largest_length
        mass = float(memory["mass"].sum())
        self._implicit = ImplicitLaws(self._controllers.law_lengths(self._reach), mass, self._reach)
        self.has_laws, self.is_controlled = self._implicit.are_needed, self._controllers.are_needed
        self._gradient_iterations = 0 if is_redundant or memory.counts["frames"] else most_iterations(memory)
        self._trials = 0  # of steps, in the last ``advance``
        self._law_error: Exception | None = None  # what one of them raised in the last step
        self._laws = PythonLaws(assembly)
        self.load_values = int(memory.counts["load_values"])
        self._controller_values = np.zeros(3 * self.load_values if self.is_controlled else 0)  # in a step
        kept = {
            "memory of controllers": self._controllers.memory,
            "memory of laws": self._implicit.memory,
            "values held by controllers": self._controller_values,
        }
        sizes = {**memory.state_sizes, "angles of controllers": len(self._controllers.angles)}
        sizes |= {name: len(array) for name, array in kept.items() if len(array)}
        self.layout = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        self._added_loads = np.zeros(0)  # values that are added to loads from outside
        self._steady = assembly.load_values(np.zeros(1)) if assembly.loads_are_steady else None
        self._still: Course | None = None  # of a single step where nothing depends on time
        if self._steady is not None and not assembly.moving and len(self.shares) == 1:
            self._still = Course(self.shares, np.zeros((2, 0)), self._steady)
        self._request = empty_request(StepRequest)
        self._requested: object = None  # what is written there, for substeps of these sizes [s]:
        self._sizes = NOTHING
        self._stop: BaseException | None = None  # what a controller raised, or a law for the first values of a step

    def advance(self, instants: Array, step: float, storage: Storage) -> Calls[Advance]:
        """Compute time steps of one size ``step`` [s] between ``instants``, shape (count + 1,) [s], up to the
        first that fails. It is a generator: it yields calls of the compiled loop, which the caller makes, and
        returns an ``Advance`` with stored instants, reactions of the first step, and the number of completed
        steps. A step in which contacts are too stiff is computed in substeps. ``storage`` says which instants are
        stored and whether controllers are evaluated before each step.

        Controllers are evaluated before each step but the first, as ``control`` did. Steps around contacts are
        computed in substeps (8.23).
        """
        if storage.watches:
            every = storage._replace(every=1, phase=0, watches=False)
            return self._requested_rows((yield from self.advance(instants, step, every)), storage)
        self._trials = 0
        count, with_controllers, has_laws = len(instants) - 1, storage.with_controllers, self.has_laws
        course = self._course(instants, step, self.shares)
        rates = self._controllers.moving_rates(instants[:-1]) if with_controllers else NOTHING
        rows = StoredRows(self.memory, count, storage)
        at_once, purpose = 1 if with_controllers or has_laws else count, MEASURING if with_controllers else REGULAR
        done, status = 0, CONVERGED
        while True:
            if with_controllers and done and not self._evaluate_controllers(float(instants[done]), rates[done]):
                break
            ahead = course if at_once == count and not done else course.steps(done, min(done + at_once, count))
            if has_laws:
                taken, status = self._step_with_laws(rows, instants[done : done + 2], step, ahead)
            else:
                yield (call := self._call(rows, step, ahead, purpose))
                taken, status = self._record_answer(rows, call)
            done += taken
            if status == TOUCHING:
                around = self._contact_substeps(instants[done : done + 2], step)
                taken, status = self._step(rows, step, around, AROUND_CONTACTS._replace(measures=with_controllers))
                done += taken
            if status != CONVERGED or done == count:
                break
        self.measured_at = float(instants[done]) if with_controllers and done else nan
        found, error = self.memory.rows(rows.whole, 1), float(self._step_error[0])
        is_stopped = self._stop is not None
        return Advance(done, status == SINGULAR, found, rows.first, error, is_stopped, self._trials)

    def attempt(self, time: float, step: float) -> bool:
        """Compute one time step of length ``step`` [s] with loads and prescribed motions constant as at a ``time``
        [s], and return whether it converged. If it did, the stepper has the state at its end, otherwise the state
        at its start. Contacts do not divide the step into substeps."""
        instants = np.array([time, time])
        moving, loads = self.assembly.moving_values(instants), self.assembly.load_values(instants[:1])
        course, rows = Course(np.ones(1), moving, loads), StoredRows(self.memory, 1, Storage())
        if self.has_laws:
            return self._step_with_laws(rows, instants, step, course)[0] == 1
        return self._step(rows, step, course, AROUND_CONTACTS)[0] == 1

    def now(self, time: float) -> StateRows:
        """Return the present state at a time [s] as one stored instant: arrays by the names of the state tables
        (position, rotation, velocity, ...), each with a first axis of length 1."""
        rows, error = StoredRows(self.memory, 0, Storage()), float(self._step_error[0])
        self._step(rows, 1.0, self._course(np.array([time]), 1.0, self.shares))
        self.measured_at, self._step_error[0] = nan, error
        return self.memory.rows(rows.rows)

    def _requested_rows(self, taken: Advance, storage: Storage) -> Advance:
        """Return the result ``taken`` of time steps that stored every state, reduced to the instants that
        ``storage`` requests (every n-th). All states remain in its field ``watched``, for conditions of events.
        Each requested instant gets the largest step error since the one before it; the error of later steps is
        stored for the next call.
        """
        watched = taken.rows.copied(slice(taken.steps))
        kept = np.arange(storage.every - storage.phase, taken.steps + 1, storage.every) - 1
        rows = watched.copied(kept)
        errors, begins = watched["step_error"], [0, *(kept + 1).tolist()]
        for row, (begin, end) in enumerate(pairwise(begins)):
            rows["step_error"][row] = errors[begin:end].max()
        if len(rest := errors[begins[-1] :]):
            self._step_error[0] = rest.max()
        return taken._replace(rows=rows, watched=watched, last_error=float(self._step_error[0]))

    def _evaluate_controllers(self, time: float, rates: Array) -> bool:
        """Call all controllers of the model at a ``time`` [s] and store the load values that they return in this
        stepper. If a controller raises, its exception is stored, to be raised once the time steps before it are
        finished. Return True as long as no exception is stored, else False. ``rates`` are the velocities of points
        and directions on moving frames of the ground, shape (vectors, 3)."""
        try:
            self._controllers.hold(time, rates, self._controller_values, partial(self.instant, time))
        except BaseException as raised:
            self._stop = raised
        return self._stop is None

    def _step_with_laws(self, rows: StoredRows, instants: Array, step: float, course: Course) -> tuple[int, int]:
        """Compute one time step with user functions of the state, which give forces at the mean state of the step.
        The step is attempted repeatedly until the forces and the motion agree. It begins at ``instants[0]``, has
        the length ``step`` [s] and the inputs ``course`` (prescribed vectors and other loads), and is stored in
        ``rows``. Return the number of completed steps (0 or 1) and the status; after a failure the state is
        restored. See docs/theory.md, 8, (8.22).
        """
        memory, controllers, law_values = self.memory, self._controllers, np.zeros_like(course.loads)
        start, trial = memory.state.copy(), rows.scratch_rows()
        self._law_error, status, is_tried = None, NOT_CONVERGED, False
        most, is_first = memory["counter"][0], True  # Newton iterations, with those of the longest trial

        def take(values: Array) -> Trial | None:
            nonlocal status, is_tried, trial, most, is_first
            if self._stop is not None:
                return None
            self._trials += 1
            memory.state[:] = start
            controllers.write_law_values(values, law_values)
            trial = rows.scratch_rows()
            _, status = self._step(trial, step, course.with_loads(law_values), TRIED if is_tried else REGULAR)
            begin, change = controllers.vectors_in_step()
            is_tried = status == CONVERGED
            if status == TOUCHING:
                around = self._contact_substeps(instants, step).with_loads(law_values)
                _, status = self._step(trial, step, around, AROUND_CONTACTS)
                change = sum(controllers.vectors_in_step()) - begin
            most = max(most, memory["counter"][0])
            if status != CONVERGED:
                return None
            try:
                return Trial(controllers.mean_laws(float(instants[0] + 0.5 * step), step, begin, change), change)
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
        self._step(rows if rows.keeps_next else rows.scratch_rows(1), step, course.steps(1, 1))
        if not rows.keeps_next:
            self._step_error[0] = error
        self._law_error = None
        rows.record_steps(1, trial.first)
        return 1, CONVERGED

    def _course(self, instants: Array, step: float, shares: Array) -> Course:
        """Return the inputs of time steps between ``instants`` [s]: prescribed vectors at the ends and loads at
        the middles of all substeps. ``shares`` are the lengths of the substeps as fractions of the time step of
        length ``step`` [s]. Inputs that do not depend on time are not evaluated again."""
        if self._still is not None and len(instants) == 2 and shares is self.shares and not self._added_loads.size:
            return self._still
        if self._steady is not None and not self.assembly.moving:
            count = (len(instants) - 1) * len(shares)
            loads = self._values(instants[:1])
            return Course(shares, np.zeros((count + 1, 0)), np.broadcast_to(loads, (count, loads.shape[1])).copy())
        ends, middles = substep_times(instants, step, shares)
        return Course(shares, self.assembly.moving_values(ends), self._values(middles, ends))

    def _contact_substeps(self, instants: Array, step: float) -> Course:
        """Return the inputs (prescribed vectors and loads) of one time step between two ``instants`` [s], divided
        into equal substeps around contacts. Their number is that which contacts requested in the last attempt, less
        if substeps are coarsened. ``step`` is the length of the time step [s].
        """
        parts = max(1, int(self.memory["parts"][0]) // self._coarsening)
        return self._course(instants, step, np.tile(self.shares / parts, parts))

    def _step(self, rows: StoredRows, step: float, course: Course, purpose: Purpose = REGULAR) -> tuple[int, int]:
        """Call the compiled loop at once for the time steps of length ``step`` [s] with these inputs (course). The
        results are stored in ``rows``; ``purpose`` selects the variant of the time step. Returns the number of
        completed time steps and the status of the last one."""
        call = self._call(rows, step, course, purpose)
        call.take()
        return self._record_answer(rows, call)

    def _record_answer(self, rows: StoredRows, call: StepCall) -> tuple[int, int]:
        """Add the time steps that a finished ``call`` of the compiled loop has completed to ``rows``, and return
        their number and the last status. The status says whether the last step converged, and if not, why. If the
        call raised an exception, it is raised here. A call that was not made counts as 0 steps without convergence.
        """
        if call.error is not None:
            raise call.error
        taken, status = call.taken or (0, NOT_CONVERGED)
        rows.record_steps(taken, call.reactions)
        return int(taken), int(status)

    def _call(self, rows: StoredRows, step: float, course: Course, purpose: Purpose) -> StepCall:
        """Return a call of the compiled loop, not yet made, for the time steps of length ``step`` [s] with these
        inputs (course). The call will store results in ``rows``; ``purpose`` selects the variant of the time step.

        Args:
            rows: receive stored instants and the reactions of the first step.
            step: size of the steps [s].
            course: inputs of their substeps; without any the present state is stored.
            purpose: purpose of the call.
        """
        options = rows.every, rows.since_stored, rows.continues, purpose
        requested = step, self.least_motion, len(course.loads), options
        if requested != self._requested or purpose.is_around_contacts:  # writing it takes longer than looking
            self._requested, self._sizes = requested, step * course.shares
            longest = float(np.abs(self._sizes).max()) if purpose.is_around_contacts else step
            self._request[0] = self.request(len(course.loads) // len(self._sizes), longest, *options)
        loads = course.loads + self._controller_values if self._controller_values.size else course.loads
        reactions = np.zeros(len(rows.first))
        given = self._sizes, self._request, course.moving, loads, reactions, rows.rows[rows.filled :]
        return StepCall(self.memory, *given, self._loop, self._laws.guard)

    def request(
        self,
        steps: int,
        longest: float,
        every: int,
        since_stored: int = 0,
        continues: bool = False,
        purpose: Purpose = REGULAR,
    ) -> StepRequest:
        """Return the options of a call of the compiled loop as a tuple: number of ``steps``, damping, tolerances
        and the options below. Each ``every``-th time step is stored, ``since_stored`` steps were computed since
        the last stored one. The tolerance of velocities is a small length over ``longest``, the largest of the
        substeps [s]. ``continues`` says that the run goes on from the last call. ``purpose`` selects the variant
        of the time step."""
        return StepRequest(
            steps,
            self.damping,
            self.least_motion * self._reach / longest,
            self.is_redundant,
            self._error_length,
            every,
            since_stored,
            continues,
            *purpose,
            self._gradient_iterations,
        )

    @property
    def is_steady(self) -> bool:
        """Whether loads and prescribed motions do not depend on time, and neither controllers nor user functions of
        the state set loads. Inputs that the caller sets between steps (``add_loads``) may still change the loads.
        """
        is_still = self._steady is not None and not self.assembly.moving
        return is_still and not (self.has_laws or self.is_controlled)

    @property
    def steady_loads_of_model(self) -> Array:
        """Constant values of all loads of a model whose loads do not depend on time, without values added from
        outside. Shape (3 * loads,) [N or N m]."""
        assert self._steady is not None, "it is steady"
        return np.asarray(self._steady[0])

    @property
    def steady_loads(self) -> Array:
        """Constant values of all loads of a model whose loads do not depend on time, with the values added from
        outside. Shape (3 * loads,) [N or N m]."""
        loads = self.steady_loads_of_model
        return np.asarray(loads + self._added_loads) if self._added_loads.size else loads

    def reactions(self, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """Return a function without arguments that computes constraint multipliers and element forces at the
        present state and a time [s]. They follow from the accelerations under the loads at this time. Functions of
        time are called up to ``end`` [s], those of the user now. Unless ``is_projected``, velocities are projected
        first so that they satisfy the joints."""
        values = self._values(np.array([time]))[0]
        if self._controller_values.size:
            values = values + self._controller_values
        if self.has_laws:
            self.now(time)
            values = self._controllers.with_law_values(time, values)
        return self.reactions_under(values, time, end, is_projected)

    @property
    def inputs(self) -> Mapping[str, Input]:
        """Constant loads and prescribed forces of the model that a user may change during a run, by name. Each has
        its first index among all load values."""
        return self.assembly.inputs

    def add_loads(self, values: Array) -> None:
        """Store ``values`` in the stepper, which the next time steps add to all loads, until the next call. Shape
        (load values,) [N or N m]; an empty array ends it."""
        self._added_loads = values

    def _values(self, times: Array, ends: Array | None = None) -> Array:
        kept = self._steady if len(times) == 1 else None
        values = self.assembly.load_values(times, ends) if kept is None else kept
        return values + self._added_loads if self._added_loads.size else values

    def control(self, time: float) -> None:
        """Evaluate all controllers of the model with the present state at a time [s], and store the load values
        that they return in the stepper. These loads act unchanged in all time steps until the next call
        (zero-order hold). Sensor values are computed first unless they belong to this time already."""
        if time != self.measured_at:
            self.now(time)
        held = np.zeros_like(self._controller_values)
        rates = self._controllers.moving_rates(np.array([time]))[0]
        self._controllers.hold(time, rates, held, partial(self.instant, time))
        self._controller_values = held

    def instant(self, time: float, rows: Mapping[str, Array] | None = None) -> RecordedStates:
        """Return the present state at a time [s] as recorded states of a run with one instant, the input of
        sensors. Multipliers and forces are those of the last step; before the first step they follow from the
        accelerations. ``rows`` is the present state as ``now`` returns it (None: it is stored now)."""
        rows = self.now(time) if rows is None else rows
        found = recording_of(self.assembly.system, self.work_sources, np.array([time]), rows)
        has_forces = self.memory["step_taken"][0] != 0.0
        return found if has_forces else with_late_reactions(found, {0: self.reactions(time, time)})

    @property
    def values_per_step(self) -> int:
        """Number of floats that one time step needs in memory, which limits the number of time steps in one call.
        It counts the stored state, three for each prescribed vector, and the load values.
        """
        return self.memory.counts["row_size"] + 3 * (self.memory.counts["moving"] + self.load_values)

    def snapshot(self) -> Array:
        """Return a copy of all values on which later time steps depend (state, controllers, laws), shape
        (values,), for ``restore``.

        After ``restore`` of it the same steps have the same digits.
        """
        return np.concatenate([*self._remembered, self._controller_values])

    def restore(self, snapshot: Array) -> None:
        """Set the state, controllers and laws of the stepper to the values of a ``snapshot``, shape (values,),
        made by ``snapshot``. Measurements of controllers at the present state are marked as out of date."""
        begin = 0
        for array in self._remembered:
            array[:] = snapshot[begin : begin + len(array)]
            begin += len(array)
        self._controller_values = snapshot[begin:].copy()
        self.measured_at = nan

    @property
    def _remembered(self) -> tuple[Array, ...]:
        own = self._controllers
        return self.memory.state, own.angles, own.memory, self._implicit.memory

    def raise_deferred(self) -> None:
        """Raise a Ctrl-C, or an exception of a controller or law, that was deferred until the compiled time
        steps were done."""
        self._laws.raise_deferred()
        if self._stop is not None:
            error, self._stop = self._stop, None
            raise error

    @property
    def cause(self) -> BaseException | None:
        """Exception that a law function of the user raised in the last time step, or None."""
        return self._law_error or self._laws.error

    @property
    def can_wait(self) -> bool:
        """Whether reactions can be computed after the run instead of during it. The model must have no laws or
        controllers of the user, and a state small enough to be copied and stored with the motion."""
        is_plain = not (self.assembly.has_functions or self.has_laws or self.is_controlled)
        return is_plain and len(self.memory.state) <= MOST_NUMBERS

    @property
    def has_jumps(self) -> bool:
        """Whether a user function of the state has jumped so far: in some time step, none of its values agreed with
        the motion that they cause.
        """
        return self.has_laws and bool(self._implicit.jumps.any())

    @property
    def jumps(self) -> Mapping[str, int]:
        """Number of time steps so far in which a law of the state jumped, by the name of the law. No value of
        it then agreed with the motion in the time step."""
        return self._controllers.largest_counts_by_law(self._implicit.jumps)
