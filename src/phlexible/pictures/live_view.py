"""Motions and running models in a browser, drawn by viser."""

import threading
import time as clock
from collections.abc import Callable, MutableMapping
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, finite, positive, whole
from phlexible.errors import ParameterError
from phlexible.extras import optional
from phlexible.pictures.mechanism_plot import picked_instants
from phlexible.pictures.report_page import visible_skin
from phlexible.pictures.scene import Arrow, DrawnBody, Scene, Symbol, SymbolKind
from phlexible.pictures.scenes import moved_scene, scene_of
from phlexible.pictures.style import rgb
from phlexible.state.recorded_run import RecordedRun

# A server of viser on this machine: where it is, where its camera stands, how it ends.

HERE, LAST_PORT = "127.0.0.1", 65535
FROM = np.array([0.55, -1.0, 0.45])
"""Where a camera in space stands of what is drawn, for z upwards."""
AWAY = 0.95  # of the size of the scene


class Served:
    """A page that a server of this machine shows to browsers of this machine only; ends with ``stop`` or ``with``.

    Attributes:
        url: to open in a browser.
    """

    def __init__(self, port: int, title: str) -> None:
        if (port := whole("port", port, least=0)) > LAST_PORT:
            raise ParameterError(f"port must be at most {LAST_PORT}, got {port}")
        viser = optional("viser", "live")
        with redirect_stdout(StringIO()):  # it greets
            self.server: Any = viser.ViserServer(host=HERE, port=port, label=title)
        self.url = f"http://{HERE}:{self.server.get_port()}"
        self.is_open = True

    def look_at(self, scene: Scene) -> None:
        """The whole scene in view, from the front in the plane, from above and the side in space."""
        low, high = scene.corners
        center = (low + high) / 2
        away = np.array([0.0, 0.0, 1.0]) if scene.dimension == 2 else FROM / np.linalg.norm(FROM)
        if scene.dimension == 3 and scene.gravity.any() and np.argmax(np.abs(scene.gravity)) == 1:
            away = away[[0, 2, 1]] * np.array([1.0, 1.0, -1.0])
        camera = self.server.initial_camera
        camera.look_at, camera.position = center, center + AWAY * scene.size * away

    def stop(self) -> None:
        """The page ends."""
        if self.is_open:
            self.is_open = False
            with redirect_stdout(StringIO()):
                self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url if self.is_open else 'stopped'})"


# A scene in the browser: handles of viser that are moved from instant to instant.

JOINT, LINE, ARROW = 0.008, 0.004, 0.16
"""Of the scene: radius of a joint, thickness of strings and springs, length of the largest force."""
RAIL = 0.2
"""Of the scene, half of what is shown of a rail."""
SEE_THROUGH = 0.3
INK, QUIET, RED = (60, 60, 60), (140, 140, 140), (176, 58, 91)
STRETCHED = frozenset({SymbolKind.LINK, SymbolKind.SPRING, SymbolKind.DAMPER})

Draw = Callable[[Scene, int], None]


class ShownScene:
    """What is drawn in a server of viser, by names such as "/bodies/coupler".

    Args:
        server: of viser.
        scene: the first to be shown; those that follow are of the same model.
    """

    def __init__(self, server: Any, scene: Scene) -> None:
        self._server, self._reach = server, scene.reach
        server.scene.set_up_direction(_up(scene))
        self._draws: list[Draw] = []
        self.bodies: dict[str, Any] = {}
        """Handles of viser by the names of bodies; the surfaces that they touch have names of their own."""
        for number, body in enumerate(scene.bodies):
            self._add(body, lambda shown, number=number: shown.bodies[number])  # type: ignore[misc]
        for number, body in enumerate(scene.surfaces):
            self._add(body, lambda shown, number=number: shown.surfaces[number], SEE_THROUGH)  # type: ignore[misc]
        for number, symbol in enumerate(scene.symbols):
            self._draws.append(self._symbol(symbol, f"/symbols/{number} {symbol.label}"))
        for number, arrow in enumerate(scene.arrows):
            self._draws.append(self._arrow(number, arrow, scene))
        self.show(scene, 0)

    def show(self, scene: Scene, instant: int) -> None:
        """Moves everything to an instant of a scene."""
        with self._server.atomic():
            for draw in self._draws:
                draw(scene, instant)

    def _add(self, body: DrawnBody, found: Callable[[Scene], DrawnBody], opacity: float | None = None) -> None:
        kind = "surfaces" if opacity else "bodies"
        name, color = f"/{kind}/{body.name}", _color(body.color)
        if body.is_nodal and not body.skin.has_surface:
            self._add_string(name, body, found, color)
            return
        dressed = body.skin if body.is_nodal else visible_skin(body.skin, self._reach)
        is_stiff = body.is_rigid and not body.is_nodal
        first = replace(body, skin=dressed)
        handle = self._server.scene.add_mesh_simple(
            name,
            (dressed.positions[dressed.vertex_nodes] + dressed.offsets) if is_stiff else first.vertices()[0],
            dressed.triangles,
            color=color,
            side="double",
            opacity=opacity,
            flat_shading=is_stiff,
        )
        self.bodies[body.name] = handle

        def draw(scene: Scene, instant: int) -> None:
            now = _at(found(scene), instant)
            if is_stiff:
                handle.position, handle.wxyz = now.origins[0], _wxyz(now.rotations[0])
            else:
                handle.vertices = replace(now, skin=dressed).vertices()[0].astype(np.float32)

        self._draws.append(draw)

    def _add_string(self, name: str, body: DrawnBody, found: Callable[[Scene], DrawnBody], color: Any) -> None:
        line = body.skin.lines[0]
        handle = self._segments(name, _pairs(body.nodes()[0, line]), color, 2 * LINE)
        self.bodies[body.name] = handle

        def draw(scene: Scene, instant: int) -> None:
            handle.points = _pairs(_at(found(scene), instant).nodes()[0, line])

        self._draws.append(draw)

    def _symbol(self, symbol: Symbol, name: str) -> Draw:
        if symbol.kind is SymbolKind.RAIL:
            return self._rail(symbol, name)
        if symbol.kind in STRETCHED:
            handle = self._segments(name, np.zeros((1, 2, 3)), QUIET, LINE)

            def stretch(scene: Scene, instant: int) -> None:
                assert symbol.other is not None, "such symbols have two ends"
                ends = [scene.places(anchor)[instant] for anchor in (symbol.anchor, symbol.other)]
                handle.points = np.array([ends], dtype=np.float32)

            return stretch
        size = JOINT * self._reach
        if symbol.kind in (SymbolKind.GROUND, SymbolKind.MOVING_FRAME):
            mark = self._server.scene.add_box(name, color=QUIET, dimensions=(3 * size, 3 * size, 3 * size))
        else:
            mark = self._server.scene.add_icosphere(name, radius=1.4 * size, color=INK, subdivisions=2)

        def move(scene: Scene, instant: int) -> None:
            mark.position = scene.places(symbol.anchor)[instant]

        return move

    def _rail(self, symbol: Symbol, name: str) -> Draw:
        handle = self._segments(name, np.zeros((1, 2, 3)), QUIET, LINE)

        def move(scene: Scene, instant: int) -> None:
            assert symbol.other is not None, "something slides on it"
            place = scene.places(symbol.anchor)[instant]
            along = scene.directions(symbol.anchor, symbol.axis)[instant]
            middle = place + along * ((scene.places(symbol.other)[instant] - place) @ along)
            ends = middle + RAIL * self._reach * np.outer([-1.0, 1.0], along)
            handle.points = ends[None].astype(np.float32)

        return move

    def _arrow(self, number: int, arrow: Arrow, scene: Scene) -> Draw:
        handle = self._segments(f"/loads/{number} {arrow.label}", np.zeros((1, 2, 3)), RED, 1.5 * LINE)
        length = ARROW * self._reach / (scene.greatest_load[arrow.is_torque] or 1.0)

        def draw(scene: Scene, instant: int) -> None:
            now = scene.arrows[number]
            tip = scene.places(now.anchor)[instant]
            handle.points = np.array([[tip - length * now.values[instant], tip]], dtype=np.float32)

        return draw

    def _segments(self, name: str, points: Array, color: Any, thickness: float) -> Any:
        return self._server.scene.add_line_segments(
            name, points.astype(np.float32), color, thickness=thickness * self._reach, thickness_units="world"
        )


def _at(body: DrawnBody, instant: int) -> DrawnBody:
    one = slice(instant, instant + 1)
    return replace(body, origins=body.origins[one], rotations=body.rotations[one], eta=body.eta[one])


def _pairs(line: Array) -> Array:
    """Points (m, 3) as segments (m - 1, 2, 3)."""
    return np.stack([line[:-1], line[1:]], axis=1).astype(np.float32)


def _wxyz(rotation: Array) -> Array:
    return np.asarray(np.roll(Rotation.from_matrix(rotation).as_quat(), 1))


def _color(color: str) -> tuple[int, int, int]:
    red, green, blue = (255 * rgb(color)).round().astype(int).tolist()
    return red, green, blue


def _up(scene: Scene) -> Array:
    """Against gravity; without it y in the plane and z in space."""
    if scene.gravity.any():
        return np.asarray(-scene.gravity / np.linalg.norm(scene.gravity))
    return np.array([0.0, 1.0, 0.0]) if scene.dimension == 2 else np.array([0.0, 0.0, 1.0])


# A recorded motion in a browser: a slider of time moves the bodies.

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
        """Whether the view plays the motion."""
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


# A model that is stepped, in a browser: its inputs are numbers on the page.

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
        """Whether the user has not pressed "end" or stopped the page."""
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
