"""A recorded motion in a browser: a slider of time moves the bodies."""

import threading
import time as clock
from typing import Protocol

from phlexible.algebra.arrays import Array, finite, positive
from phlexible.algebra.options import whole
from phlexible.observables.run import RecordedRun
from phlexible.results.live_view.server import Served
from phlexible.results.live_view.shown_scene import ShownScene
from phlexible.results.pictures.mechanism_plot import picked_instants
from phlexible.scene.build import scene_of

MOST_FRAMES = 600
PAUSE = 1 / 30  # [s], between two pictures
SECONDS = 8.0  # of a whole motion at first


class Recorded(Protocol):
    """What is shown of a motion."""

    @property
    def run(self) -> RecordedRun: ...
    @property
    def time(self) -> Array: ...


class MotionView(Served):
    """A motion in a browser, made by ``Motion.live``.

    Attributes:
        url: to open in a browser.
        is_playing: whether time runs, ``speed`` seconds of the motion in one.
    """

    def __init__(self, motion: Recorded, port: int, frames: int | None) -> None:
        self._frames = MOST_FRAMES if frames is None else whole("frames", frames, least=2)
        super().__init__(port, "phlexible")
        self._scene = scene_of(motion.run, picked_instants(motion.time, self._frames))
        self._shown = ShownScene(self.server, self._scene)
        self.look_at(self._scene)
        begin, end = float(self._scene.time[0]), float(self._scene.time[-1])
        gui, span = self.server.gui, (end - begin) or 1.0
        self._slider = gui.add_slider("time [s]", min=begin, max=end, step=span / 1000, initial_value=begin)
        self._play = gui.add_checkbox("play", initial_value=False)
        self._speed = gui.add_number("speed", initial_value=round(span / SECONDS, 6), min=1e-6, step=1e-6)
        self._slider.on_update(lambda event: self._moved())
        self._clock = threading.Thread(target=self._run, daemon=True)
        self._clock.start()

    @property
    def bodies(self) -> dict[str, object]:
        """Handles of viser by the names of bodies."""
        return dict(self._shown.bodies)

    @property
    def time(self) -> float:
        """Shown now [s]; to be set, between the first and the last instant."""
        return float(self._slider.value)

    @time.setter
    def time(self, value: float) -> None:
        low, high = float(self._scene.time[0]), float(self._scene.time[-1])
        self._slider.value = min(max(finite("time", value), low), high)

    @property
    def is_playing(self) -> bool:
        """Whether time runs."""
        return bool(self._play.value)

    def play(self, speed: float | None = None) -> None:
        """Time runs, again from the start after the end.

        Args:
            speed: seconds of the motion in one; None: as before, at first the whole motion in 8 s.
        """
        if speed is not None:
            self._speed.value = positive("speed", speed)
        self._play.value = True

    def pause(self) -> None:
        """Time stands."""
        self._play.value = False

    def replace(self, motion: Recorded) -> None:
        """Shows another motion of the same model, such as a run that went on."""
        self._scene = scene_of(motion.run, picked_instants(motion.time, self._frames))
        begin, end = float(self._scene.time[0]), float(self._scene.time[-1])
        self._slider.min, self._slider.max, self._slider.step = begin, end, ((end - begin) or 1.0) / 1000
        self._moved()

    def _moved(self) -> None:
        nearest = int(picked_instants(self._scene.time, [self.time])[0]) if len(self._scene.time) > 1 else 0
        self._shown.show(self._scene, nearest)

    def _run(self) -> None:
        last = clock.monotonic()
        while self.is_open:
            clock.sleep(PAUSE)
            now = clock.monotonic()
            passed, last = now - last, now
            if self.is_open and self.is_playing:
                begin, end = float(self._scene.time[0]), float(self._scene.time[-1])
                after = self.time + passed * float(self._speed.value)
                self.time = begin if after > end else after
