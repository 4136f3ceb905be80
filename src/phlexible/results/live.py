"""Run that is stepped from outside: inputs that change between steps, stored instants, states to return to."""

import time as clock
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, positive, read_only, reals, whole
from phlexible.description.interactions.sensor import LinearReading, Sensor
from phlexible.display import how_many, short_repr
from phlexible.errors import ParameterError, warn_user
from phlexible.pictures.live_view import Served, checked_port
from phlexible.pictures.reports import Packing, asset, moved_data, page, scene_data
from phlexible.pictures.scene import moved_scene, scene_of
from phlexible.results.motion import Motion
from phlexible.state.layout import State
from phlexible.state.recorded_run import LateReactions, RecordedRun, RecordedStates, with_late_reactions
from phlexible.state.system import System
from phlexible.step.integration.clock import breakpoints_of, endless_clock
from phlexible.step.integration.recorder import recording_of
from phlexible.step.integration.run import Run, RunSnapshot, StepSizes
from phlexible.step.integration.schemes import ModelCache, StepOptions
from phlexible.step.integration.step_calls import Calls, completed
from phlexible.step.integration.stored_rows import Storage
from phlexible.step.tables.memory import StateRows

NOTHING = np.zeros(0)


class StoredChunk(NamedTuple):
    """Instants that were stored together.

    Attributes:
        times: of them, shape (k,) [s].
        rows: as a stepper stores them; multipliers and forces of the last one are those of its own step.
        first: multipliers and forces of the first step; none of the start.
        find_forces: computes multipliers and forces of the start; None: of other instants.
    """

    times: Array
    rows: Mapping[str, Array]
    first: Array = NOTHING
    find_forces: LateReactions | None = None

    def first_instants(self, count: int) -> "StoredChunk":
        """Return the first ``count`` instants of this block of stored states as a new block; the block itself if
        it has no more."""
        if count == len(self.times):
            return self
        return StoredChunk(self.times[:count], {name: each[:count] for name, each in self.rows.items()}, self.first)

    @property
    def last(self) -> "StoredChunk":
        """Return the last instant of this block of stored instants, as a block of one instant."""
        return StoredChunk(self.times[-1:], {name: each[-1:] for name, each in self.rows.items()})


class StoredSteps:
    """All instants of a live run, in blocks.

    Attributes:
        time: of the last instant [s].
        chunks: blocks in the order of time.
    """

    def __init__(self, *chunks: StoredChunk) -> None:
        self.time, self.chunks = float(chunks[-1].times[-1]), [*chunks]

    @property
    def rows(self) -> Mapping[str, Array]:
        """Return the stored arrays of the last block of instants of the live run, by name (position, rotation,
        velocity, ...). Their first axis is (instants,); the last row belongs to the present instant."""
        return self.chunks[-1].rows

    def copy(self) -> "StoredSteps":
        """Return a copy of the stored instants of a live run, with plain arrays by name that can be pickled."""
        first, *others = (each._replace(rows=dict(each.rows)) for each in self.chunks)
        if first.find_forces is not None:
            first = first._replace(find_forces=partial(copy, first.find_forces()))
        return StoredSteps(first, *others)

    def add(self, chunk: StoredChunk) -> None:
        """Append a block of instants that follow the instants stored so far in the live run, and set ``time`` to
        its end."""
        self.chunks.append(chunk)
        self.time = float(chunk.times[-1])

    def discard_earlier(self) -> None:
        """Discard all stored instants of the live run but the last."""
        if len(self.chunks) > 1 or len(self.chunks[-1].times) > 1:
            self.chunks = [self.chunks[-1].last]

    def up_to(self, steps: int, time: float) -> "StoredSteps | None":
        """Return a copy of these stored instants of a live run without the last ``-steps`` time steps; ``steps``
        is zero or negative. Return None if the instant that would be the last is not stored, or if its time is not
        exactly ``time`` [s]."""
        behind = -steps
        for k in range(len(self.chunks) - 1, -1, -1):
            block = self.chunks[k]
            count = len(block.times) - behind
            if 0 < count <= len(block.times) and block.times[count - 1] == time:
                return StoredSteps(*self.chunks[:k], block.first_instants(count))
            behind -= len(block.times)
        return None

    def recording(self, system: System, sources: Mapping[str, list[int]], halvings: int) -> RecordedStates:
        """Return all stored instants of a live run of ``system`` as recorded states, from which a ``Motion`` is
        made. Joint forces at the ends of blocks are means of the values of both neighbouring time steps; those of
        the start are computed when they are read. ``sources`` lists the indices of each named source of work,
        ``halvings`` is the number of halved time steps."""
        blocks = self.chunks
        rows = {name: np.concatenate([block.rows[name] for block in blocks]) for name in blocks[0].rows}
        times = np.concatenate([block.times for block in blocks])
        found = recording_of(system, sources, times, rows, halvings)
        count, index, find = found.multipliers.shape[1], 0, blocks[0].find_forces
        for block in blocks[1:]:  # at the end of the one before: the mean of the steps beside it
            for own, first in ((found.multipliers, block.first[:count]), (found.forces, block.first[count:])):
                own[index] = first if index == 0 and find is not None else (own[index] + first) / 2
            index += len(block.times)
        return found if find is None else with_late_reactions(found, {0: find})


if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper


class Inputs(MutableMapping[str, Array]):
    """Values of constant loads, torques and forces by their names; a new value holds from the next step on."""

    def __init__(self, stepper: "Stepper", dimension: int) -> None:
        self._known, self._dimension = stepper.inputs, dimension
        self._values = {name: known.value.copy() for name, known in self._known.items()}
        self.is_new = False

    def __getitem__(self, name: str) -> Array:
        """Return the present value of the input ``name`` (a constant load, torque or joint force) as a read-only
        array [N or N m]. Its shape is (1,) for a force or torque in a joint, (3,) for a load. ParameterError is
        raised for unknown names."""
        self._check(name)
        return read_only(self._values[name])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Set the input ``name`` of the live run to a ``value``: one number (force or torque in a joint) or
        three (load vector) [N or N m]. It acts from the next time step on.

        Raises:
            ParameterError: no input of that name, not its count of finite numbers, or a force out of the plane of
                a planar model.
        """
        self._check(name)
        wanted = self._values[name].shape
        found = np.atleast_1d(reals(f"input {name!r}", value))
        if found.shape != wanted or not np.isfinite(found).all():
            raise ParameterError(f"input {name!r} takes {how_many(wanted[0], 'finite number')}, got {value!r}")
        if (load := self._known[name].load) is not None:
            load.check_components(found, self._dimension)
        self._values[name], self.is_new = found, True

    def __delitem__(self, name: str) -> None:
        """Raise a ``ParameterError``, since an input (``name``) of a live run cannot be removed but only set
        to zero."""
        raise ParameterError(f"input {name!r} cannot be removed; set it to zero")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Inputs({', '.join(f'{name!r}: {value.tolist()}' for name, value in self._values.items())})"

    def changes(self, size: int) -> Array:
        """Return the changes of all load values by the present inputs, relative to the constant values of the
        model, shape (``size``,) [N or N m]. Loads that are no inputs have zero change."""
        total = np.zeros(size)
        for name, (begin, value, _) in self._known.items():
            total[begin : begin + len(value)] = self._values[name] - value
        return total

    def checked_rows(self, name: str, data: ArrayLike, count: int) -> Array:
        """Return the values ``data`` of the input ``name`` for ``count`` mechanisms as an array of shape (count,
        components of the input). A single value is repeated for all. ParameterError is raised for other shapes,
        values that are not finite, and components out of the plane.

        Raises:
            ParameterError: no input of that name, another shape, numbers that are not finite or not in the plane.
        """
        self._check(name)
        size, values = len(self._values[name]), reals(f"input {name!r}", data)
        shape = (count, size) if size > 1 else (count,)
        if values.shape not in (shape, shape[1:], (count, size)) or not np.isfinite(values).all():
            raise ParameterError(f"input {name!r} takes finite numbers of shape {shape}, got {data!r}")
        rows = np.broadcast_to(values.reshape(-1, size) if values.ndim else values, (count, size))
        if (load := self._known[name].load) is not None:
            load.check_components(rows, self._dimension)
        return rows

    def change_of(self, name: str, rows: Array) -> tuple[slice, Array]:
        """Return a pair for the input ``name``: its slice in the array of all load values, and ``rows`` minus the
        constant value of the model. ``rows`` are values of the input for several mechanisms, shape (mechanisms,
        components) [N or N m]. Nothing is stored."""
        begin, value, _ = self._known[name]
        return slice(begin, begin + len(value)), rows - value

    def set_all(self, values: dict[str, Array]) -> None:
        """Replace all inputs of the live run by copies of these ``values``, given by name. They act from the next
        time step on and are not checked."""
        self._values, self.is_new = {name: value.copy() for name, value in values.items()}, True

    def copy(self) -> dict[str, Array]:
        """Return copies of the present values of all inputs of the live run, by name."""
        return {name: value.copy() for name, value in self._values.items()}

    def _check(self, name: str) -> None:
        if not isinstance(name, str) or name not in self._known:
            known = ", ".join(repr(each) for each in self._known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {known}"
            )


if TYPE_CHECKING:
    from phlexible.results.live_readings import QuickReading
    from phlexible.step.integration.step_calls import StepCall

MOST_PIECES = 1024
"""Largest number of pieces that a step is halved into, since a user waits for it."""
MOST_STEPS = 100
"""Number of steps between two checks for Ctrl-C."""
MOST_READINGS = 256
SAME = 1e-9  # of a step


@dataclass(frozen=True, eq=False)
class SavedInstant:
    """State of a live run, for ``LiveRun.restore``.

    Attributes:
        time: [s].
        steps: since the start.
        values: that steps go on from.
        inputs: by their names.
        run: which one it was of; empty where it is not known.
        sizes: of the steps up to here; None: all had the one of the run.
        layout: how many of the values each table of the state has, by its name.
    """

    time: float
    steps: int
    values: Array
    inputs: dict[str, Array]
    run: str = ""
    sizes: "StepSizes | None" = None
    layout: str = ""

    __repr__ = short_repr


class LiveRun:
    """Model that is stepped by hand; made by ``Model.start``.

    Attributes:
        inputs: of the steps to come, by name.
        step_size: [s].
        steps: since the start.
        system: what it moves.
        stepper: what takes its steps; compiled models are made of its tables.
    """

    def __init__(
        self,
        system: System,
        options: StepOptions,
        state: State,
        step: float,
        is_redundant: bool,
        cache: ModelCache,
        warnings: Sequence[str] = (),
    ) -> None:
        self.system, self.step_size = system, step
        self.stepper = stepper = cache.stepper(system, options, is_redundant)
        self._start, self._options = state, options
        self._is_redundant, self._identity = is_redundant, uuid4().hex
        self._instant_run: tuple[StoredChunk, RecordedRun] | None = None  # of the last instant that was read
        self.inputs = Inputs(stepper, system.dimension)
        stepper.begin(state)
        self._clock, self.steps = endless_clock(state.time, step, breakpoints_of(system.mechanism)), 0
        self._stored = StoredSteps(StoredChunk(np.array([state.time]), stepper.now(state.time)))
        self._readings: dict[Sensor, tuple[LinearReading, QuickReading] | None] = {}
        self._velocities: Array | None = None  # on the joints, of the last instant once it was asked for
        self._run, self._warnings = Run(stepper, MOST_PIECES), [*warnings]
        self._regular = StepSizes(last=step, continues=True)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the constructor and arguments from which ``pickle`` and ``copy`` recreate this live run: its
        system, options, start, a copy of its current state and inputs, and its stored time steps. The cache of
        compiled models is not copied."""
        arguments = (
            self.system,
            self._options,
            self._start,
            self.step_size,
            self._is_redundant,
            ModelCache(),
            self._warnings,
        )
        return type(self)._again, (arguments, self.save(), self._stored.copy(), self._run.halvings)

    @classmethod
    def _again(
        cls, arguments: tuple[Any, ...], saved: SavedInstant, stored: StoredSteps, halvings: int
    ) -> "LiveRun":
        run = cls(*arguments)
        run.continue_from(saved)
        run._stored, run._run.halvings = stored, halvings
        return run

    @property
    def time(self) -> float:
        """Return the simulated time that this live run has reached [s]."""
        return self._stored.time

    def step(self, count: int = 1) -> None:
        """Advance the live run by ``count`` time steps of its step size with the present inputs. A time step that
        does not converge is halved repeatedly, into at most 1024 substeps; then ConvergenceError is raised.

        Args:
            count: number of steps; many together take less time than single ones.

        Raises:
            ConvergenceError: one fails even so; the run stays where that step began.
            ParameterError: no count.
        """
        completed(self.step_generator(whole("count", count)))

    def step_generator(self, left: int, keeps_all: bool = True) -> Calls[None]:
        """Advance the live run by ``left`` time steps, as a generator that yields requests to the compiled time
        integrator and is sent the answers. A caller may so serve several runs at once. With ``keeps_all`` every
        instant is stored, otherwise only the last."""
        run, stepper, size = self._run, self.stepper, self.step_size
        self._give()
        while left:
            if stepper.is_controlled:
                stepper.control(self.time)
            if not self.steps:
                find = stepper.reactions(self.time, self.time)
                self._stored = StoredSteps(self._stored.chunks[0]._replace(find_forces=find))
            taken, count = 0, 0 if run.sizes.depth else self._clock.regular_run(self.steps, left)
            if count:
                instants = self._clock.instants(self.steps, count)
                instants[0] = self.time
                storage = Storage(1 if keeps_all else count, 0, run.sizes.continues, stepper.is_controlled)
                answer = yield from run.steps(instants, size, storage)
                taken = answer.steps
                if taken and keeps_all:
                    self._add(StoredChunk(instants[1:], answer.rows, answer.reactions).first_instants(taken), taken)
                elif taken:
                    end = instants[taken : taken + 1]
                    rows = answer.rows if taken == count else stepper.now(float(end[0]))
                    self._add(StoredChunk(end, rows), taken)
                stepper.raise_deferred()
            if taken < count or not count:
                self._step_in_chunks()
            left -= taken + (taken < count or not count)
        self._warn()

    def _step_in_chunks(self) -> None:
        """Advance this live run by one time step in substeps and store the state at its end. Substeps end at
        breakpoints of loads; a substep that does not converge is halved. After any error the run is restored to
        the start of the time step, and the error is raised again."""
        run, first = self._run, np.zeros(0)
        rows: Mapping[str, Array] = {}
        spans, before = self._clock.intervals(self.steps), run.snapshot()
        spans[0] = self.time, spans[0][1]
        run.count.step_done()
        try:
            for span in spans:
                for piece in run.halved(*span, Storage(1 if span == spans[-1] else 2)):
                    first, rows = first if len(first) else piece.taken.reactions, piece.taken.rows
            self.stepper.raise_deferred()
        except BaseException:
            run.restore(before)
            raise
        self._add(StoredChunk(np.array([spans[-1][1]]), rows, first), 1)

    def _warn(self) -> None:
        """Warn the user of problems in the time steps so far, as Python warnings, each kind of problem once in
        this live run. The texts are also appended to the warnings that the finished motion has. Without problems
        nothing is done."""
        words = self._run.step_warnings
        if not words.has_any:
            return
        for text, category in words.unreported():
            warn_user(text, category)
            self._warnings.append(text)

    @property
    def is_steady(self) -> bool:
        """Return whether the equations of this live run depend on time only through its inputs: no controllers,
        functions of time, laws of the state or breakpoints."""
        return self.stepper.is_steady and not self._clock.breakpoints

    @property
    def continues(self) -> bool:
        """Return whether the next full time step follows a time step of the same size that ended at the present
        state. If so, its initial guess is extrapolated from the previous time step."""
        return self._run.sizes.continues

    @property
    def is_halving(self) -> bool:
        """Return whether the next time step of this live run is divided into substeps from the start, because
        recent time steps failed at full size."""
        return self._run.sizes.depth > 0

    @property
    def origin(self) -> float:
        """Return the time of the start of this live run, from which its time steps are counted [s]."""
        return self._clock.start

    @property
    def loads(self) -> Array:
        """Return the values of all loads with the present inputs, which act in the next time steps of a steady
        live run. Shape (3 * loads,) [N or N m]."""
        self._give()
        return self.stepper.steady_loads

    def _give(self) -> None:
        if self.inputs.is_new:
            self.stepper.add_loads(self.inputs.changes(3 * self.stepper.load_values))
            self.inputs.is_new = False

    def next_call(self, count: int) -> "StepCall":
        """Return the request to the compiled time integrator for ``count`` time steps of this steady live run,
        without taking the time steps. SIMD lanes and GPU threads copy its arguments."""
        steps = self.step_generator(count, keeps_all=False)
        call = next(steps)
        steps.close()
        return call

    def adopt(self, steps: int, state: Array, stored: Array | None) -> None:
        """Set this live run to a ``state``, shape (state entries,), that SIMD lanes or the GPU computed, after
        ``steps`` time steps from the start. Earlier stored instants are discarded, and new warnings are emitted.
        ``stored`` is the row of results at that state; None computes it. Step sizes continue as after regular
        steps.

        Args:
            steps: since the start.
            state: where they end, shape (state numbers,).
            stored: of the stored row there, of the same shape; None: it has to be written once more.
        """
        self.stepper.memory.state[:] = state
        self.steps, self._velocities = steps, None
        self._run.sizes = self._regular if steps else StepSizes()
        end = self._clock.instant(steps)
        rows = self.stepper.now(end) if stored is None else self.stepper.memory.rows(stored[None].copy())
        self._stored = StoredSteps(StoredChunk(np.array([end]), rows))
        self._run.step_warnings.look(end)
        self._warn()

    def _add(self, chunk: StoredChunk, steps: int) -> None:
        self.steps += steps
        self._stored.add(chunk)
        self._velocities = None

    def advance(self, to: float) -> None:
        """Advance the live run in full time steps until it has reached the time ``to`` [s]; the last time
        step may end beyond it.

        Raises:
            ParameterError: a time that is over.
            ConvergenceError: a step fails.
        """
        if finite("to", to) < self.time - SAME * self.step_size:
            raise ParameterError(f"to must not be before now, {self.time:g} s, got {to!r}")
        self._reach(to)

    def _reach(self, to: float) -> None:
        while self.time < to - SAME * self.step_size:
            completed(self.step_generator(min(MOST_STEPS, ceil((to - self.time) / self.step_size - SAME))))

    def run(self, duration: float) -> None:
        """Advance the live run by a ``duration`` [s] in full time steps; the last time step may end beyond it."""
        self._reach(self.time + positive("duration", duration))

    def read(self, sensor: Sensor) -> Array:
        """Return the value of a ``sensor`` at the present instant of this live run, without an axis of time.
        Compiled code is used where it can evaluate the sensor. Accelerations need several instants, from
        ``motion``.

        Raises:
            ParameterError: no sensor.
        """
        if not isinstance(sensor, Sensor):
            raise ParameterError(f"read takes a sensor such as Position(beam.end), got {sensor!r}")
        if (linear := self.reading(sensor)) is not None:
            share, reading = linear
            rows = self._stored.rows
            velocity = rows["velocity"][-1] if reading.needs_positions_only(share) else self.velocities()
            if velocity is not None:
                found = reading.read(rows, velocity, share)
                return found if len(found) > 1 else found.reshape(())
        known, last = self._instant_run, self._stored.chunks[-1]
        if known is None or known[0] is not last:
            known = self._instant_run = last, self.now
        return np.asarray(sensor.read(known[1])[0])

    def reading(self, sensor: Sensor) -> "tuple[LinearReading, QuickReading] | None":
        """Return a pair for fast evaluation of a ``sensor`` by compiled code, cached by sensor. The first is the
        sensor value as a linear function of measured coordinates (of a joint or a point, with rates). The second
        evaluates these coordinates. None if one of them is missing, so that only the slower ``read`` works. The
        full cache is emptied."""
        if sensor not in self._readings:
            from phlexible.results.live_readings import quick_reading  # which needs the compiler

            if len(self._readings) >= MOST_READINGS:  # of sensors that were made anew for each reading
                self._readings.clear()
            share = sensor.linear_reading
            found = None if share is None else quick_reading(self.now, share[0])
            self._readings[sensor] = None if share is None or found is None else (share, found)
        return self._readings[sensor]

    @property
    def row(self) -> Array:
        """Return the results at the present instant of this live run as one row, shape (1, columns). Columns are
        in the layout of the compiled code's output; the row is computed if it is not stored."""
        rows = self._stored.rows
        if not isinstance(rows, StateRows):
            rows = self.stepper.now(self.time)
        assert isinstance(rows, StateRows), "what steppers give"
        return rows.rows[-1:]

    def velocities(self) -> Array | None:
        """Return the velocities of all bodies at the present instant, projected so that they satisfy the joints,
        shape (velocities,). They are computed once for each instant and cached; None if compiled code cannot
        project them."""
        if self._velocities is None:
            self._velocities = self.stepper.joint_velocities(self.time)
        return self._velocities

    @property
    def state(self) -> State:
        """Return the present state (poses, elastic coordinates, velocities) of all bodies of this live run, for
        ``simulate(initial=...)`` and ``linearize(state=...)``."""
        return self.now.recording.state(0)

    def save(self) -> SavedInstant:
        """Return a copy of the present state of this live run with its inputs and the history of the time
        integration. From it ``restore`` continues with identical digits."""
        (values, sizes), own, layout = self._run.snapshot(), self._identity, self.stepper.layout
        return SavedInstant(self.time, self.steps, values, self.inputs.copy(), own, sizes, layout)

    def restore(self, saved: SavedInstant) -> None:
        """Set this live run back to the instant ``saved`` that its ``save`` returned, with the inputs of that
        instant, and discard all later instants. ParameterError is raised if it comes from another run or is no
        longer stored.

        Raises:
            ParameterError: what was not saved by this run, or lies ahead.
        """
        is_own = isinstance(saved, SavedInstant) and saved.run == self._identity
        stored = self._stored.up_to(saved.steps - self.steps, saved.time) if is_own else None
        if stored is None:
            raise ParameterError(f"saved must be a state that save() of this run returned, got {saved!r}")
        self._go_on_from(saved, stored)

    def continue_from(self, saved: SavedInstant) -> None:
        """Continue this live run from the state ``saved`` of another run of the same model with the same step
        size. Its inputs are copied, and the stored instants of this run are discarded. ParameterError is raised if
        the lengths of state tables or the inputs differ; other differences of the models are not noticed.

        Raises:
            ParameterError: a run of a model with other numbers or inputs; this run stays as it was.
        """
        known = {name: value.shape for name, value in self.inputs.copy().items()}
        given = {name: value.shape for name, value in saved.inputs.items()}
        if saved.layout != self.stepper.layout or given != known:
            raise ParameterError(
                "this is the state of another model, or was saved by another version: it has"
                f" {saved.layout or 'an old layout'} and the inputs"
                f" {', '.join(given) or 'none'}, this model {self.stepper.layout} and {', '.join(known) or 'none'}"
            )
        self._go_on_from(saved)
        self._run.step_warnings.begin()

    def _go_on_from(self, saved: SavedInstant, stored: StoredSteps | None = None) -> None:
        known = self._regular if saved.steps else StepSizes()
        self._run.restore(RunSnapshot(saved.values, known if saved.sizes is None else saved.sizes))
        self.inputs.set_all(saved.inputs)
        self.steps, self._velocities = saved.steps, None
        self._stored = stored or StoredSteps(StoredChunk(np.array([saved.time]), self.stepper.now(saved.time)))

    def discard_earlier(self) -> None:
        """Discard all stored instants of this live run but the last, to save memory in very long runs; ``motion``
        begins there."""
        self._stored.discard_earlier()

    def live(self, *, port: int = 0) -> "RunView":
        """Return a view of this live run in a browser on this machine, with a field for each input. ``port`` is
        the port of the server (0: any).

        ``view = sim.live()``, then open ``view.url``; ``view.run(10.0)`` steps it in the time of a clock,
        ``view.update()`` draws it after steps of your own, ``view.stop()`` ends the page.

        Args:
            port: of the server, or the next one that is free; 0: any.

        Raises:
            ParameterError: no such port.
        """
        return RunView(self, port)

    @property
    def now(self) -> RecordedRun:
        """Return the present instant of this live run as a recorded run of one instant, from which sensors are
        evaluated."""
        rows = self._stored.chunks[-1].last.rows
        return RecordedRun(self.system, self.stepper.instant(self.time, rows), self._is_redundant)

    @property
    def instant(self) -> Motion:
        """Return the motion that consists of the present instant of this live run alone, for drawing."""
        return Motion(self.system, self.now.recording)

    @property
    def motion(self) -> Motion:
        """Return the motion of all stored time steps of this live run so far."""
        recording = self.now.recording
        if self.steps:
            recording = self._stored.recording(self.system, self.stepper.work_sources, self._run.halvings)
        return Motion(self.system, recording, warnings=[*self._warnings])

    def __repr__(self) -> str:
        steps = how_many(self.steps, "step")
        return f"LiveRun(t = {self.time:g} s, {steps} of {self.step_size:g} s, {self.inputs!r})"


# A run that is stepped, in a browser: its inputs are numbers on the page.

PICTURES = 30.0  # in a second


class RunView(Served):
    """Live run in a browser, made by ``LiveRun.live``: a number for each input, and a button that ends it."""

    def __init__(self, stepped: LiveRun, port: int) -> None:
        port = checked_port(port)
        self._stepped, self._scene = stepped, replace(scene_of(stepped.instant.run, np.array([0])), arrows=())
        self._runs, self._has_end = True, False
        self._sent: dict[str, Array] = {}
        pack = Packing()
        head = scene_data(self._scene, {}, pack)
        head["inputs"] = {name: value.tolist() for name, value in stepped.inputs.items()}
        super().__init__(port, page("live run", "a model that is stepped", head, pack, [], script=asset("live.js")))

    @property
    def is_running(self) -> bool:
        """Return whether the browser view of the live run still goes on: neither "end" was pressed on the page nor
        the server was stopped."""
        return self.is_open and not self._has_end

    def update(self) -> None:
        """Redraw the browser page with the present state of the live run, after time steps that the user
        took."""
        pack = Packing()
        moved = moved_data(moved_scene(self._scene, self._stepped.instant.run, np.array([0])), pack)
        self._publish(moved={**moved, "arrays": pack.entries}, block=pack.text())

    def run(self, duration: float | None = None, speed: float = 1.0) -> None:
        """Advance the live run at the pace of a clock and redraw its browser page, until the ``duration`` [s] is
        over (None: no limit) or "end" is pressed. It waits while the page is paused. ``speed`` is the simulated
        time for each second of real time.

        Args:
            duration: in the time of the run [s]; None: without end.
            speed: seconds of the run in one; what takes longer to compute is slower.

        Raises:
            ParameterError: numbers that are not positive.
            ConvergenceError: a step fails.
        """
        now = self._stepped.time
        end = np.inf if duration is None else now + positive("duration", duration)
        speed, last = positive("speed", speed), clock.monotonic()
        while self.is_running and now < end:
            if self._runs:
                self._take_inputs()
                now = min(self._stepped.time + speed / PICTURES, end)  # round-off may leave the run just below it
                self._stepped.advance(now)
                self.update()
            clock.sleep(max(0.0, last + 1 / PICTURES - clock.monotonic()))
            last = clock.monotonic()

    def receive_message(self, message: dict[str, Any]) -> None:
        """Apply a message of the browser page to this view of a live run: store new values of inputs, pause or
        continue, or end. ValueError is raised for values of another shape or not finite. Inputs act before the
        next time step."""
        for name, value in dict(message.get("inputs", {})).items():
            numbers = np.array(value, dtype=np.float64)
            if numbers.shape != self._stepped.inputs[name].shape or not np.isfinite(numbers).all():
                raise ValueError
            self._sent[name] = numbers
        self._runs = bool(message.get("runs", self._runs))
        self._has_end = self._has_end or bool(message.get("end"))

    def _take_inputs(self) -> None:
        """Set the inputs of the live run to the values that the browser page has sent since the last call. It is
        called in the thread that takes the time steps."""
        while self._sent:
            name, value = self._sent.popitem()
            self._stepped.inputs[name] = value
