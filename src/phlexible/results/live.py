"""A run that is stepped from outside: inputs that change between steps, states that are kept and put back."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, numbers, positive
from phlexible.display.written import short_repr
from phlexible.errors import ConvergenceError, ParameterError
from phlexible.observables.reader import Reader
from phlexible.observables.run import RecordedRun
from phlexible.results.live_view.run_view import RunView
from phlexible.results.motion import Motion
from phlexible.sensors.sensor import Sensor
from phlexible.system.layout import State
from phlexible.system.recording import Recording
from phlexible.system.system import System
from phlexible.time_integration.recorder import recording_of
from phlexible.time_integration.stepper import Stepper, Storage

MOST_HALVINGS = 10
SAME = 1e-9  # of a step
STORAGE = {(goes_on, asks): Storage(1, 0, goes_on, asks) for goes_on in (False, True) for asks in (False, True)}


class Inputs(MutableMapping[str, Array]):
    """Values of constant loads, torques and forces by their names; a new value holds from the next step on."""

    def __init__(self, stepper: Stepper, dimension: int) -> None:
        self._known, self._dimension = stepper.inputs, dimension
        self._values = {name: known.value.copy() for name, known in self._known.items()}
        self.is_new = False

    def __getitem__(self, name: str) -> Array:
        """Shape (1,) of a force or torque in a joint, (3,) of a load."""
        self._check(name)
        return self._values[name]

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
            raise ParameterError(f"input {name!r} takes {wanted[0]} finite numbers, got {value!r}")
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

    def put(self, values: dict[str, Array]) -> None:
        """All values at once."""
        self._values, self.is_new = {name: value.copy() for name, value in values.items()}, True

    def copy(self) -> dict[str, Array]:
        """All values."""
        return {name: value.copy() for name, value in self._values.items()}

    def _check(self, name: str) -> None:
        if name not in self._known:
            known = ", ".join(repr(each) for each in self._known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {known}"
            )


@dataclass(frozen=True, eq=False)
class SavedInstant:
    """Where a live run was, for ``LiveRun.restore``."""

    time: float
    steps: int
    numbers: Array
    inputs: dict[str, Array]

    __repr__ = short_repr


class LiveRun:
    """A model that is stepped by hand; made by ``Model.start``.

    Attributes:
        inputs: of the steps to come, by name.
        step_size: [s].
    """

    def __init__(self, system: System, stepper: Stepper, state: State, step: float, is_redundant: bool) -> None:
        self._system, self._stepper, self.step_size = system, stepper, step
        self._is_redundant = is_redundant
        self._reader: tuple[Mapping[str, Array], Reader] | None = None  # of the last row that was read
        self.inputs = Inputs(stepper, system.dimension)
        stepper.begin(state)
        self._origin, self._steps, self._halvings = state.time, 0, 0
        self._continues, self._forgotten = False, 0
        self._times: list[float] = [state.time]
        self._rows = [stepper.now(state.time)]
        self._reactions: list[Array] = []

    @property
    def time(self) -> float:
        """Now [s]."""
        return self._times[-1]

    def step(self) -> None:
        """One step with the inputs as they are; one that fails is halved, again and again.

        Raises:
            ConvergenceError: it fails even so; the run stays where it was.
        """
        begin, stepper = self.time, self._stepper
        if self.inputs.is_new:
            stepper.give(self.inputs.changes(3 * stepper.load_values))
            self.inputs.is_new = False
        if stepper.is_controlled:
            stepper.control(begin)
        end = self._origin + (self._steps + 1) * self.step_size
        row, reactions = self._taken(begin, end, self.step_size, 0)
        self._steps += 1
        self._times.append(end)
        self._rows.append(row)
        self._reactions.append(reactions)

    def advance(self, to: float) -> None:
        """Steps until the time ``to`` [s] is reached; the last step may reach beyond it.

        Raises:
            ParameterError: a time that is over.
            ConvergenceError: a step fails.
        """
        if finite("to", to) < self.time - SAME * self.step_size:
            raise ParameterError(f"to must not be before now, {self.time:g} s, got {to!r}")
        while self.time < to - SAME * self.step_size:
            self.step()

    def run(self, duration: float) -> None:
        """Steps for a duration [s]."""
        self.advance(self.time + positive("duration", duration))

    def read(self, sensor: Sensor) -> Array:
        """What a sensor measures now, without the axis of time; accelerations need a motion.

        Raises:
            ParameterError: no sensor.
        """
        if not isinstance(sensor, Sensor):
            raise ParameterError(f"read takes a sensor such as Position(beam.end), got {sensor!r}")
        if self._reader is None or self._reader[0] is not self._rows[-1]:
            now = RecordedRun(self._system, self._now(), self._is_redundant)
            self._reader = self._rows[-1], Reader(now)
        return np.asarray(sensor.read(self._reader[1])[0])

    @property
    def state(self) -> State:
        """Of all bodies, for ``simulate(initial=...)`` and ``linearize(state=...)``."""
        return self._now().state(0)

    def save(self) -> SavedInstant:
        """Where the run is, with its inputs and what steps remember: after ``restore`` the digits are the same."""
        return SavedInstant(self.time, self._steps, self._stepper.snapshot(), self.inputs.copy())

    def restore(self, saved: SavedInstant) -> None:
        """Go back; what came after is forgotten.

        Raises:
            ParameterError: what was not saved by this run, or lies ahead.
        """
        kept = saved.steps - self._forgotten if isinstance(saved, SavedInstant) else -1
        if not 0 <= kept < len(self._times) or self._times[kept] != saved.time:
            raise ParameterError(f"restore takes what save() of this run gave, up to now; got {saved!r}")
        self._stepper.restore(saved.numbers)
        self.inputs.put(saved.inputs)
        self._steps = saved.steps
        del self._times[kept + 1 :], self._rows[kept + 1 :], self._reactions[kept:]
        self._continues = self._steps > 0

    def put(self, saved: SavedInstant) -> None:
        """Go on from where another run of the same model and step was; what this one did is forgotten."""
        self._stepper.restore(saved.numbers)
        self.inputs.put(saved.inputs)
        self._steps, self._times = saved.steps, [saved.time]
        self._rows = [self._stepper.now(saved.time)]
        self._continues = self._steps > 0
        self.forget()

    def forget(self) -> None:
        """Keep the last instant only, in very long runs; ``motion`` begins there."""
        self._forgotten = self._steps
        del self._times[:-1], self._rows[:-1], self._reactions[:]

    def live(self, *, port: int = 0) -> RunView:
        """Shows the run in a browser on this machine, with a field for each input; needs ``phlexible[live]``.

        ``view = sim.live()``, then open ``view.url``; ``view.run(10.0)`` steps it in the time of a clock,
        ``view.update()`` draws it after steps of your own, ``view.stop()`` ends the page.

        Args:
            port: of the server, or the next one that is free; 0: any.

        Raises:
            MissingExtraError: viser is not installed.
            ParameterError: no such port.
        """
        return RunView(self, port)

    @property
    def instant(self) -> Motion:
        """The last instant alone, to be drawn."""
        return Motion(self._system, self._now())

    @property
    def motion(self) -> Motion:
        """All steps so far."""
        return Motion(self._system, self._recording())

    def __repr__(self) -> str:
        return f"LiveRun(t = {self.time:g} s, {self._steps} steps of {self.step_size:g} s, {self.inputs!r})"

    def _now(self) -> Recording:
        """The last instant alone."""
        return recording_of(self._system, self._stepper.work_sources, np.array([self.time]), self._rows[-1])

    def _recording(self) -> Recording:
        rows = {name: np.concatenate([row[name] for row in self._rows]) for name in self._rows[0]}
        found = recording_of(self._system, self._stepper.work_sources, np.array(self._times), rows, self._halvings)
        if self._reactions:  # of an instant the mean of the steps beside it
            own = np.array(self._reactions)
            mean = np.concatenate([own[:1], (own[1:] + own[:-1]) / 2, own[-1:]])
            count = found.multipliers.shape[1]
            found.multipliers[:], found.forces[:] = mean[:, :count], mean[:, count:]
        return found

    def _taken(self, begin: float, end: float, size: float, depth: int) -> tuple[Mapping[str, Array], Array]:
        """The row at the end and the reactions of the last part; parts are halves of halves."""
        stepper = self._stepper
        kept = STORAGE[self._continues, stepper.is_controlled]
        taken = stepper.advance(np.array([begin, end]), size, kept)
        stepper.let_interrupt()
        if taken.steps:
            self._continues = True
            return taken.rows, taken.reactions
        if depth == MOST_HALVINGS:
            why, history = stepper.failure(begin, taken.is_singular)
            raise ConvergenceError(f"the step from t = {begin:.9g} s failed: {why}", begin, history)
        before = stepper.snapshot()  # a step that fails leaves the state as it was
        self._halvings, self._continues = self._halvings + 1, False
        middle = 0.5 * (begin + end)
        stepper.project(begin)
        try:
            self._taken(begin, middle, size / 2, depth + 1)
            row, reactions = self._taken(middle, end, size / 2, depth + 1)
        except ConvergenceError:
            stepper.restore(before)
            raise
        stepper.project(end)
        self._continues = False
        return {**row, **stepper.now(end)}, reactions
