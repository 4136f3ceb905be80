"""A model that is stepped, in a browser: its inputs are numbers on the page."""

import time as clock
from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.observables.run import RecordedRun
from phlexible.results.live_view.server import Served
from phlexible.results.live_view.shown_scene import ShownScene
from phlexible.scene.build import moved_scene, scene_of

PICTURES = 30.0  # in a second


class Instant(Protocol):
    """One instant of a run."""

    @property
    def run(self) -> RecordedRun: ...


class Stepped(Protocol):
    """What is asked of a run that is stepped by hand."""

    @property
    def time(self) -> float: ...
    @property
    def inputs(self) -> MutableMapping[str, Array]: ...
    @property
    def instant(self) -> Instant: ...
    def advance(self, to: float) -> None: ...


class RunView(Served):
    """A live run in a browser, made by ``LiveRun.live``: a number for each input, and a button that stops it."""

    def __init__(self, stepped: Stepped, port: int) -> None:
        super().__init__(port, "phlexible")
        self._stepped = stepped
        self._scene = replace(scene_of(stepped.instant.run, np.array([0])), arrows=())
        self._shown = ShownScene(self.server, self._scene)
        self.look_at(self._scene)
        gui = self.server.gui
        self._time = gui.add_text("time [s]", f"{stepped.time:.3f}", disabled=True)
        self._runs = gui.add_checkbox("runs", initial_value=True)
        self._has_end = False
        gui.add_button("end").on_click(lambda event: self._finish())
        self._numbers = {name: _number(gui, name, value) for name, value in stepped.inputs.items()}
        for name, number in self._numbers.items():
            number.on_update(lambda event, name=name: self._give(name))
        self._given: set[str] = set()

    @property
    def bodies(self) -> dict[str, object]:
        """Handles of viser by the names of bodies."""
        return dict(self._shown.bodies)

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of the inputs on the page, handles of viser, by their names."""
        return dict(self._numbers)

    @property
    def is_running(self) -> bool:
        """Whether nobody has pressed "end" or stopped the page."""
        return self.is_open and not self._has_end

    def update(self) -> None:
        """Draws where the run is now; for those who step it themselves."""
        self._shown.show(moved_scene(self._scene, self._stepped.instant.run, np.array([0])), 0)
        self._time.value = f"{self._stepped.time:.3f}"

    def run(self, duration: float | None = None, speed: float = 1.0) -> None:
        """Steps the run and draws it until the duration is over or somebody presses "end"; it rests without "runs".

        Args:
            duration: in the time of the run [s]; None: without end.
            speed: seconds of the run in one; what takes longer to compute is slower.

        Raises:
            ParameterError: numbers that are not positive.
            ConvergenceError: a step fails.
        """
        end = np.inf if duration is None else self._stepped.time + positive("duration", duration)
        speed, last = positive("speed", speed), clock.monotonic()
        while self.is_running and self._stepped.time < end:
            if self._runs.value:
                self._take_inputs()
                self._stepped.advance(min(self._stepped.time + speed / PICTURES, end))
                self.update()
            now = clock.monotonic()
            clock.sleep(max(0.0, last + 1 / PICTURES - now))
            last = clock.monotonic()

    def _finish(self) -> None:
        self._has_end = True

    def _give(self, name: str) -> None:
        """Inputs are set between steps, in the thread that steps."""
        self._given.add(name)

    def _take_inputs(self) -> None:
        while self._given:
            name = self._given.pop()
            self._stepped.inputs[name] = np.atleast_1d(self._numbers[name].value)


def _number(gui: Any, name: str, value: Array) -> Any:
    if len(value) == 1:
        return gui.add_number(name, initial_value=float(value[0]))
    x, y, z = (float(each) for each in value)
    return gui.add_vector3(name, initial_value=(x, y, z), step=1e-3)
