"""A run that is stepped from outside: inputs that change between steps, states that are kept and put back."""

import time as clock
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, nan
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, numbers, positive, read_only, whole
from phlexible.description.interactions.sensor import Sensor, Share
from phlexible.display import how_many, short_repr
from phlexible.errors import ParameterError, warn_user
from phlexible.pictures.live_view import Served, checked_port
from phlexible.pictures.report_page import Packing, asset, moved_data, page, scene_data
from phlexible.pictures.scene import PALETTE
from phlexible.pictures.scenes import moved_scene, scene_of
from phlexible.results.motion import Motion
from phlexible.state.layout import State
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.recording import RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.halving import MOST_HALVINGS, PATIENCE, Pieces, step_failure
from phlexible.step.integration.recorder import recording_of
from phlexible.step.integration.schemes import KeptNumbers, StepOptions
from phlexible.step.integration.step_words import StepWords
from phlexible.step.integration.stored_rows import Advance, Storage, StoredRows
from phlexible.step.tables.memory import StateRows

if TYPE_CHECKING:
    from phlexible.results.live_readings import QuickReading
    from phlexible.step.integration.company import StepCall
    from phlexible.step.integration.conserving import ConservingStepper
    from phlexible.step.tables.memory import Memory

MOST_PIECES = 1024
"""That a step may be halved into: a live run waits for no more."""
MOST_STEPS = 100
"""That are taken at a time where many are to come: Ctrl-C waits for them."""
MOST_READINGS = 256
SAME = 1e-9  # of a step
STORAGE = {(goes_on, asks): Storage(1, 0, goes_on, asks) for goes_on in (False, True) for asks in (False, True)}


class Inputs(MutableMapping[str, Array]):
    """Values of constant loads, torques and forces by their names; a new value holds from the next step on."""

    def __init__(self, stepper: "ConservingStepper", dimension: int) -> None:
        self._known, self._dimension = stepper.inputs, dimension
        self._values = {name: known.value.copy() for name, known in self._known.items()}
        self.is_new = False

    def __getitem__(self, name: str) -> Array:
        """Shape (1,) of a force or torque in a joint, (3,) of a load; read-only."""
        self._check(name)
        return read_only(self._values[name])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """A number, or three of a load.

        Raises:
            ParameterError: no input of that name, not its count of finite numbers, or a force out of the plane of
                a planar model.
        """
        self._check(name)
        wanted = self._values[name].shape
        found = np.atleast_1d(numbers(f"input {name!r}", value))
        if found.shape != wanted or not np.isfinite(found).all():
            raise ParameterError(f"input {name!r} takes {how_many(wanted[0], 'finite number')}, got {value!r}")
        if (load := self._known[name].load) is not None:
            load.check_inside(found, self._dimension)
        self._values[name], self.is_new = found, True

    def __delitem__(self, name: str) -> None:
        """Inputs stay."""
        raise ParameterError(f"input {name!r} cannot be removed; set it to zero")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Inputs({', '.join(f'{name!r}: {value.tolist()}' for name, value in self._values.items())})"

    def changes(self, size: int) -> Array:
        """What they add to the loads of the model, shape (size,)."""
        total = np.zeros(size)
        for name, (begin, value, _) in self._known.items():
            total[begin : begin + len(value)] = self._values[name] - value
        return total

    def checked_rows(self, name: str, given: ArrayLike, count: int) -> Array:
        """Values of one input for so many mechanisms, shape (count, its numbers); one for all is taken too.

        Raises:
            ParameterError: no input of that name, another shape, numbers that are not finite or not in the plane.
        """
        self._check(name)
        size, values = len(self._values[name]), numbers(f"input {name!r}", given)
        shape = (count, size) if size > 1 else (count,)
        if values.shape not in (shape, shape[1:], (count, size)) or not np.isfinite(values).all():
            raise ParameterError(f"input {name!r} takes finite numbers of shape {shape}, got {given!r}")
        rows = np.broadcast_to(values.reshape(-1, size) if values.ndim else values, (count, size))
        if (load := self._known[name].load) is not None:
            load.check_inside(rows, self._dimension)
        return rows

    def change_of(self, name: str, rows: Array) -> tuple[slice, Array]:
        """Which loads such values change, and by how much, shape (rows, its numbers)."""
        begin, value, _ = self._known[name]
        return slice(begin, begin + len(value)), rows - value

    def put(self, values: dict[str, Array]) -> None:
        """All values at once."""
        self._values, self.is_new = {name: value.copy() for name, value in values.items()}, True

    def copy(self) -> dict[str, Array]:
        """All values."""
        return {name: value.copy() for name, value in self._values.items()}

    def _check(self, name: str) -> None:
        if not isinstance(name, str) or name not in self._known:
            known = ", ".join(repr(each) for each in self._known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {known}"
            )


@dataclass(frozen=True, eq=False)
class SavedInstant:
    """Where a live run was, for ``LiveRun.restore``.

    Attributes:
        time: [s].
        steps: since the start.
        numbers: that steps go on from.
        inputs: by their names.
        run: which one it was of; empty where it is not known.
        sizes: of the steps up to here; None: all had the one of the run.
    """

    time: float
    steps: int
    numbers: Array
    inputs: dict[str, Array]
    run: str = ""
    sizes: "_Sizes | None" = None

    __repr__ = short_repr


class _Sizes(NamedTuple):
    """Sizes of the last steps, which the next ones depend on, as in ``Simulation``.

    Attributes:
        depth: steps are halved so often before they are tried.
        successes: pieces that succeeded since the depth changed.
        last: size of the last piece [s]; NaN before the first.
        continues: the next step starts where one of its size ended.
    """

    depth: int = 0
    successes: int = 0
    last: float = nan
    continues: bool = False


@dataclass(frozen=True, eq=False)
class _Block:
    """Instants that were stored together.

    Attributes:
        times: of them, shape (k,) [s].
        rows: as a stepper stores them; multipliers and forces of the last one are those of its own step.
        first: multipliers and forces of the first step; none of the start.
    """

    times: Array
    rows: Mapping[str, Array]
    first: Array = field(default_factory=lambda: np.zeros(0))

    def until(self, count: int) -> "_Block":
        """The first so many."""
        if count == len(self.times):
            return self
        return _Block(self.times[:count], {name: each[:count] for name, each in self.rows.items()}, self.first)

    @property
    def last(self) -> "_Block":
        """The last instant alone."""
        return _Block(self.times[-1:], {name: each[-1:] for name, each in self.rows.items()})


class _Asked(NamedTuple):
    """Steps of a run that are taken together with those of others.

    Attributes:
        ends: where the first begins and where each ends, shape (count + 1,) [s].
        rows: receive where the last one ends.
        call: of the compiled loop.
    """

    ends: Array
    rows: StoredRows
    call: "StepCall"


class LiveRun:
    """A model that is stepped by hand; made by ``Model.start``.

    Attributes:
        inputs: of the steps to come, by name.
        step_size: [s].
    """

    def __init__(
        self,
        system: System,
        options: StepOptions,
        state: State,
        step: float,
        is_redundant: bool,
        numbers: KeptNumbers,
        warnings: Sequence[str] = (),
    ) -> None:
        self._system, self.step_size = system, step
        self._stepper = stepper = numbers.stepper(system, options, step, is_redundant)
        self._start, self._options = state, options
        self._is_redundant, self._identity = is_redundant, uuid4().hex
        self._run: tuple[_Block, RecordedRun] | None = None  # of the last instant that was read
        self.inputs = Inputs(stepper, system.dimension)
        stepper.begin(state)
        self._origin, self._steps, self._halvings = state.time, 0, 0
        self._sizes, self._regular = _Sizes(), _Sizes(last=step, continues=True)
        self._blocks = [_Block(np.array([state.time]), stepper.now(state.time))]
        self._readings: dict[Sensor, tuple[Share | None, QuickReading | None]] = {}
        self._velocities: Array | None = None  # on the joints, of the last instant once it was asked for
        self._words, self._warnings = StepWords(stepper), [*warnings]
        self._pieces = Pieces(stepper, MOST_PIECES)  # of the last step

    def __reduce__(self) -> tuple[object, ...]:
        """For pickles and copies, which have memory of their own."""
        arguments = (
            self._system,
            self._options,
            self._start,
            self.step_size,
            self._is_redundant,
            KeptNumbers(),
            self._warnings,
        )
        blocks = [_Block(each.times, dict(each.rows), each.first) for each in self._blocks]
        return type(self)._again, (arguments, self.save(), blocks, self._halvings)

    @classmethod
    def _again(
        cls, arguments: tuple[Any, ...], saved: SavedInstant, blocks: list[_Block], halvings: int
    ) -> "LiveRun":
        run = cls(*arguments)
        run.put(saved)
        run._blocks, run._halvings = blocks, halvings
        return run

    @property
    def time(self) -> float:
        """Time reached so far [s]."""
        return float(self._blocks[-1].times[-1])

    def step(self, count: int = 1) -> None:
        """Steps with the inputs as they are; one that fails is halved as often as in ``simulate``.

        But into at most 1024 pieces, since a user waits for it.

        Args:
            count: of the steps; many at once take less time than one after the other.

        Raises:
            ConvergenceError: one fails even so; the run stays where that step began.
            ParameterError: no count.
        """
        self._take(whole("count", count))
        self._warn()

    def _take(self, left: int) -> None:
        stepper = self._stepper
        self._give()
        while left:
            if stepper.is_controlled:
                stepper.control(self.time)
            left -= 0 if self._sizes.depth else self._several(left)
            if left:
                self._one()
                left -= 1

    def _warn(self) -> None:
        """Of what the steps so far met, each kind once."""
        if not self._words.look(self.time):
            return
        for words, category in self._words.untold():
            warn_user(words, category)
            self._warnings.append(words)

    def _several(self, count: int) -> int:
        """As many steps as are taken without halving; how many."""
        stepper, instants = self._stepper, self._instants(count)
        self._change_size(self.time, self.step_size)
        kept = STORAGE[self._sizes.continues, stepper.is_controlled]
        taken = stepper.advance(instants, self.step_size, kept)
        self._sizes = self._regular if taken.steps == count else self._regular._replace(continues=False)
        if taken.steps:
            self._add(_Block(instants[1:], taken.rows, taken.reactions).until(taken.steps))
        stepper.let_interrupt()
        return taken.steps

    def _instants(self, count: int) -> Array:
        """Instants between which the next steps lie, shape (count + 1,) [s]."""
        steps = np.arange(self._steps, self._steps + count + 1)
        instants: Array = np.asarray(self._origin + steps * self.step_size, dtype=np.float64)
        instants[0] = self.time
        return instants

    @property
    def is_steady(self) -> bool:
        """Whether nothing in its steps depends on time but the inputs."""
        return self._stepper.is_steady

    @property
    def steps(self) -> int:
        """Since the start."""
        return self._steps

    @property
    def continues(self) -> bool:
        """Whether the step before had the same size, and ended at this state."""
        return self._sizes.continues

    @property
    def is_halving(self) -> bool:
        """Whether the next step is taken in parts from the first on."""
        return self._sizes.depth > 0

    @property
    def origin(self) -> float:
        """Where steps are counted from [s]."""
        return self._origin

    @property
    def system(self) -> System:
        """What it moves."""
        return self._system

    @property
    def loads(self) -> Array:
        """All loads of the steps to come, of a run that is steady, shape (3 loads,)."""
        self._give()
        return self._stepper.steady_loads

    @property
    def loads_of_model(self) -> Array:
        """The same with the inputs as they are in the model."""
        return self._stepper.steady_loads_of_model

    def _give(self) -> None:
        if self.inputs.is_new:
            self._stepper.give(self.inputs.changes(3 * self._stepper.load_values))
            self.inputs.is_new = False

    def ask(self, count: int) -> "_Asked | None":
        """So many steps, to be taken together with those of other runs (``LiveRows``); None: it goes alone."""
        stepper = self._stepper
        self._give()
        if stepper.is_controlled:
            return None
        ends = self._instants(count)
        found = stepper.ask(ends, self.step_size, Storage(count, 0, self._sizes.continues))
        return None if found is None else _Asked(ends, *found)

    def answer(self, asked: "_Asked") -> int:
        """How many of these steps were taken; only where they end is known."""
        taken, rows = self._stepper.answered(asked.rows, asked.call)
        if taken:
            end = asked.ends[taken : taken + 1]
            if taken < len(asked.ends) - 1:
                rows = self._stepper.now(float(end[0]))
            self._sizes, self._velocities = self._regular, None
            self._steps += taken
            self._blocks = [_Block(end, rows)]
            self._warn()
        return taken

    def came(self, steps: int, state: Array, numbers: Array | None) -> None:
        """So many steps since the start were taken while its state was held elsewhere.

        Args:
            steps: since the start.
            state: where they end, shape (state numbers,).
            numbers: of the stored row there, of the same shape; None: it has to be written once more.
        """
        self.memory.state[:] = state
        self._steps, self._velocities = steps, None
        self._sizes = self._regular if steps else _Sizes()
        end = self._origin + steps * self.step_size
        rows = self._stepper.now(end) if numbers is None else self.memory.rows(numbers[None].copy())
        self._blocks = [_Block(np.array([end]), rows)]
        self._warn()

    def _one(self) -> None:
        end = self._origin + (self._steps + 1) * self.step_size
        self._pieces = Pieces(self._stepper, MOST_PIECES)
        before, sizes, self._sizes = self._stepper.snapshot(), self._sizes, self._sizes._replace(continues=False)
        try:
            rows, first = self._halved(self.time, end, 0)
        except BaseException:
            self._stepper.restore(before)
            self._sizes = sizes
            raise
        self._add(_Block(np.array([end]), rows, first))

    def _add(self, block: "_Block") -> None:
        self._steps += len(block.times)
        self._blocks.append(block)
        self._velocities = None

    def advance(self, to: float) -> None:
        """Steps until the time ``to`` [s] is reached; the last step may reach beyond it.

        Raises:
            ParameterError: a time that is over.
            ConvergenceError: a step fails.
        """
        if finite("to", to) < self.time - SAME * self.step_size:
            raise ParameterError(f"to must not be before now, {self.time:g} s, got {to!r}")
        self._reach(to)
        self._warn()

    def _reach(self, to: float) -> None:
        while self.time < to - SAME * self.step_size:
            self._take(min(MOST_STEPS, ceil((to - self.time) / self.step_size - SAME)))

    def run(self, duration: float) -> None:
        """Steps for a duration [s]."""
        self._reach(self.time + positive("duration", duration))
        self._warn()

    def read(self, sensor: Sensor) -> Array:
        """What a sensor measures now, without the axis of time; accelerations need ``motion``.

        Raises:
            ParameterError: no sensor.
        """
        if not isinstance(sensor, Sensor):
            raise ParameterError(f"read takes a sensor such as Position(beam.end), got {sensor!r}")
        share, reading = self._reading(sensor)
        if share is not None and reading is not None:
            rows = self._blocks[-1].rows
            velocity = rows["velocity"][-1] if reading.is_of_places(share) else self._on_joints()
            if velocity is not None:
                found = reading.read(rows, velocity, share)
                return found if len(found) > 1 else found.reshape(())
        if self._run is None or self._run[0] is not self._blocks[-1]:
            self._run = self._blocks[-1], self._instant()
        return np.asarray(sensor.read(self._run[1])[0])

    def _reading(self, sensor: Sensor) -> tuple[Share | None, "QuickReading | None"]:
        """How a sensor is read from the numbers of the state, where it can; found once."""
        if sensor not in self._readings:
            from phlexible.results.live_readings import quick_reading  # which needs the compiler

            if len(self._readings) >= MOST_READINGS:  # of sensors that were made anew for each reading
                self._readings.clear()
            share = sensor.share
            found = None if share is None else quick_reading(self._instant(), share[0])
            self._readings[sensor] = share, found
        return self._readings[sensor]

    @property
    def row(self) -> Array:
        """The numbers of the last instant, shape (1, numbers): what ``memory.rows`` takes apart."""
        rows = self._blocks[-1].rows
        if not isinstance(rows, StateRows):
            rows = self._stepper.now(self.time)
        assert isinstance(rows, StateRows), "what steppers give"
        return rows.numbers[-1:]

    @property
    def memory(self) -> "Memory":
        """Of the state."""
        return self._stepper.memory

    def reading(self, sensor: Sensor) -> "tuple[Share, QuickReading] | None":
        """How compiled code reads a sensor from the numbers of the state; None: ``read`` has another way."""
        share, found = self._reading(sensor)
        return None if share is None or found is None else (share, found)

    @property
    def projects_at_once(self) -> bool:
        """Whether velocities on joints can be found in lanes."""
        return self._stepper.projects_at_once

    def velocities(self) -> Array | None:
        """Velocities that satisfy the joints."""
        return self._on_joints()

    def _on_joints(self) -> Array | None:
        """Velocities that satisfy the joints, found once an instant."""
        if self._velocities is None:
            self._velocities = self._stepper.joint_velocities(self.time)
        return self._velocities

    @property
    def stepper(self) -> "ConservingStepper":
        """What takes its steps; compiled models are made of its tables."""
        return self._stepper

    @property
    def state(self) -> State:
        """Of all bodies, for ``simulate(initial=...)`` and ``linearize(state=...)``."""
        return self._now().state(0)

    def save(self) -> SavedInstant:
        """Where the run is, with its inputs and what steps remember: after ``restore`` the digits are the same."""
        numbers, inputs = self._stepper.snapshot(), self.inputs.copy()
        return SavedInstant(self.time, self._steps, numbers, inputs, self._identity, self._sizes)

    def restore(self, saved: SavedInstant) -> None:
        """Go back; what came after is forgotten.

        Raises:
            ParameterError: what was not saved by this run, or lies ahead.
        """
        is_own = isinstance(saved, SavedInstant) and saved.run == self._identity
        blocks = self._until(saved) if is_own else []
        if not blocks:
            raise ParameterError(f"saved must be what save() of this run gave, up to now, got {saved!r}")
        self._stepper.restore(saved.numbers)
        self.inputs.put(saved.inputs)
        self._steps, self._blocks, self._velocities = saved.steps, blocks, None
        self._sizes = self._sizes_of(saved)

    def _until(self, saved: SavedInstant) -> list["_Block"]:
        """What was stored up to an instant; none where it is not among them."""
        first = self._steps + 1  # of those after the last block
        for k in range(len(self._blocks) - 1, -1, -1):
            block = self._blocks[k]
            first -= len(block.times)
            if first <= saved.steps:
                count = saved.steps - first + 1
                is_here = count <= len(block.times) and block.times[count - 1] == saved.time
                return [*self._blocks[:k], block.until(count)] if is_here else []
        return []

    def put(self, saved: SavedInstant) -> None:
        """Go on from where another run of the same model and step was; what this one did is forgotten.

        Raises:
            ParameterError: a run of a model with other numbers or inputs; this run stays as it was.
        """
        known = {name: value.shape for name, value in self.inputs.copy().items()}
        given = {name: value.shape for name, value in saved.inputs.items()}
        size = self._stepper.snapshot().shape
        if saved.numbers.shape != size or given != known:
            raise ParameterError(
                f"this is the state of another model: it has {saved.numbers.size} numbers and the inputs"
                f" {', '.join(given) or 'none'}, this model {size[0]} and {', '.join(known) or 'none'}"
            )
        self._stepper.restore(saved.numbers)
        self.inputs.put(saved.inputs)
        self._words.begin()
        self._steps, self._velocities = saved.steps, None
        self._blocks = [_Block(np.array([saved.time]), self._stepper.now(saved.time))]
        self._sizes = self._sizes_of(saved)

    def _sizes_of(self, saved: SavedInstant) -> _Sizes:
        known = self._regular if saved.steps else _Sizes()
        return known if saved.sizes is None else saved.sizes

    def forget(self) -> None:
        """Keep the last instant only, in very long runs; ``motion`` begins there."""
        if len(self._blocks) > 1 or len(self._blocks[-1].times) > 1:
            self._blocks = [self._blocks[-1].last]

    def live(self, *, port: int = 0) -> "RunView":
        """Shows the run in a browser on this machine, with a field for each input.

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
        """The last instant alone, for what is measured."""
        return self._instant()

    @property
    def instant(self) -> Motion:
        """The last instant alone, to be drawn."""
        return Motion(self._system, self._now())

    @property
    def motion(self) -> Motion:
        """All steps so far."""
        return Motion(self._system, self._recording(), warnings=[*self._warnings])

    def __repr__(self) -> str:
        steps = how_many(self._steps, "step")
        return f"LiveRun(t = {self.time:g} s, {steps} of {self.step_size:g} s, {self.inputs!r})"

    def _instant(self) -> RecordedRun:
        return RecordedRun(self._system, self._now(), self._is_redundant)

    def _now(self) -> RecordedStates:
        """The last instant alone."""
        last = self._blocks[-1].last
        return recording_of(self._system, self._stepper.work_sources, last.times, last.rows)

    def _recording(self) -> RecordedStates:
        blocks = self._blocks
        rows = {name: np.concatenate([block.rows[name] for block in blocks]) for name in blocks[0].rows}
        times = np.concatenate([block.times for block in blocks])
        found = recording_of(self._system, self._stepper.work_sources, times, rows, self._halvings)
        count, place = found.multipliers.shape[1], 0
        for block in blocks[1:]:  # at the end of the one before: the mean of the steps beside it
            for own, first in ((found.multipliers, block.first[:count]), (found.forces, block.first[count:])):
                own[place] = first if place == 0 else (own[place] + first) / 2
            place += len(block.times)
        return found

    def _halved(self, begin: float, end: float, depth: int) -> tuple[Mapping[str, Array], Array]:
        """The row at the end, and the reactions of the first piece, of one step or two halves of it.

        As ``Simulation`` takes them, with its digits.
        """
        if depth >= self._sizes.depth and (taken := self._tried(begin, end, depth)) is not None:
            return taken.rows, taken.reactions
        self._halvings += 1
        middle = (begin + end) / 2
        _, first = self._halved(begin, middle, depth + 1)
        return self._halved(middle, end, depth + 1)[0], first

    def _tried(self, begin: float, end: float, depth: int) -> Advance | None:
        """One step from begin to end; None: it is to be halved."""
        stepper = self._stepper
        before = stepper.snapshot()
        self._change_size(begin, end - begin)
        taken = stepper.advance(np.array([begin, end]), end - begin, STORAGE[False, stepper.is_controlled])
        stepper.let_interrupt()
        if depth or not taken.steps:
            self._pieces.add(taken, begin)
        depth_now, successes, last, _ = self._sizes
        if taken.steps:
            is_enough = depth_now > 0 and successes + 1 == PATIENCE
            self._sizes = _Sizes(depth_now - is_enough, 0 if is_enough else successes + 1, last)
            return taken
        stepper.restore(before)
        if depth == MOST_HALVINGS:
            raise step_failure(stepper, begin, end, taken)
        self._sizes = _Sizes(depth + 1, 0, last)
        return None

    def _change_size(self, time: float, size: float) -> None:
        """Velocities are brought back onto the joints where steps get another length."""
        last = self._sizes.last
        if abs(size - last) > SAME * size:
            self._stepper.project(time)
        if size != last:
            self._sizes = self._sizes._replace(last=size)


# A run that is stepped, in a browser: its inputs are numbers on the page.

PICTURES = 30.0  # in a second


class RunView(Served):
    """A live run in a browser, made by ``LiveRun.live``: a number for each input, and a button that ends it."""

    def __init__(self, stepped: LiveRun, port: int) -> None:
        port = checked_port(port)
        self._stepped, self._scene = stepped, replace(scene_of(stepped.instant.run, np.array([0])), arrows=())
        self._runs, self._has_end = True, False
        self._given: dict[str, Array] = {}
        pack = Packing()
        head = scene_data(self._scene, {}, pack) | {
            "clips": [{"name": "", "first": 0, "count": 1, "loop": False}],
            "loop": False,
            "panels": [],
            "palette": PALETTE,
            "inputs": {name: value.tolist() for name, value in stepped.inputs.items()},
        }
        super().__init__(port, page("live run", "a model that is stepped", head, pack, [], script=asset("live.js")))

    @property
    def is_running(self) -> bool:
        """Whether neither "end" was pressed nor the page stopped."""
        return self.is_open and not self._has_end

    def update(self) -> None:
        """Draws where the run is now; for those who step it themselves."""
        pack = Packing()
        moved = moved_data(moved_scene(self._scene, self._stepped.instant.run, np.array([0])), pack)
        self._tell(moved={**moved, "arrays": pack.entries}, block=pack.text())

    def run(self, duration: float | None = None, speed: float = 1.0) -> None:
        """Steps the run and draws it until the duration is over or "end" is pressed; it rests when paused.

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

    def hear(self, told: dict[str, Any]) -> None:
        """New values of inputs, whether the run goes on, or that it ends."""
        for name, value in dict(told.get("inputs", {})).items():
            numbers = np.array(value, dtype=np.float64)
            if numbers.shape != self._stepped.inputs[name].shape or not np.isfinite(numbers).all():
                raise ValueError
            self._given[name] = numbers
        self._runs = bool(told.get("runs", self._runs))
        self._has_end = self._has_end or bool(told.get("end"))

    def _take_inputs(self) -> None:
        """Inputs are set between steps, in the thread that steps."""
        while self._given:
            name, value = self._given.popitem()
            self._stepped.inputs[name] = value
