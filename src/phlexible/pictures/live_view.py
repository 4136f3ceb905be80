"""Motions and running models in a browser: the page of a report, told by a server of this machine what to show."""

import errno
import json
import threading
import time as clock
from collections.abc import MutableMapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import isfinite
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from phlexible.algebra.arrays import Array, finite, positive, whole
from phlexible.errors import ParameterError
from phlexible.pictures.report_page import Packing, asset, moved_data, page, scene_data
from phlexible.pictures.reports import ReportedMotion, motion_page
from phlexible.pictures.scene import PALETTE
from phlexible.pictures.scenes import moved_scene, scene_of
from phlexible.state.recorded_run import RecordedRun

# A page of this machine: browsers ask what is new (GET /news?after=3) and tell what was set on it (POST /set).

HERE, LAST_PORT = "127.0.0.1", 65535
PATIENCE = 10.0
"""How long a browser waits for news before it asks again [s]."""
MOST_BYTES = 100_000
"""Of what a browser tells."""


class _Server(ThreadingHTTPServer):
    """Answers browsers of this machine, one thread each."""

    daemon_threads, allow_reuse_address = True, False

    def __init__(self, port: int, view: "Served") -> None:
        super().__init__((HERE, port), _Answer)
        self.view = view

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers that leave while they are answered are no fault."""


class _Answer(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """The page, or what is new."""
        path, _, query = self.path.partition("?after=")
        if not self._is_of_this_machine():
            self._send(403, "text/plain", "this page is for browsers of its own machine")
        elif path == "/":
            self._send(200, "text/html; charset=utf-8", self.server.view.page)
        elif path == "/news" and query.lstrip("-").isdigit():
            self._send(200, "application/json", json.dumps(self.server.view.news(int(query))))
        else:
            self._send(404, "text/plain", "no such page")

    def do_POST(self) -> None:
        """What was set on the page."""
        length = self.headers.get("Content-Length", "")
        try:
            if not (self._is_of_this_machine() and length.isdigit() and int(length) <= MOST_BYTES):
                raise ValueError
            self.server.view.hear(dict(json.loads(self.rfile.read(int(length)))))
        except (ValueError, TypeError, KeyError):
            self._send(400, "text/plain", "not understood")
        else:
            self._send(200, "application/json", "{}")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is written to the terminal."""

    def _is_of_this_machine(self) -> bool:
        """Other sites that a browser shows can neither read the page nor set anything on it."""
        hosts = {f"{name}:{self.server.server_port}" for name in (HERE, "localhost")}
        origin = self.headers.get("Origin", "http://" + self.headers.get("Host", ""))
        return self.headers.get("Host") in hosts and origin.removeprefix("http://") in hosts

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)


class Served:
    """A page that a server of this machine shows to browsers of this machine only; ends with ``stop`` or ``with``.

    Attributes:
        url: to open in a browser.
        is_open: until it is stopped.
        page: HTML.
    """

    def __init__(self, port: int, page: str, **news: Any) -> None:
        self.page, self.is_open = page, True
        self._changed = threading.Condition()
        self._news: dict[str, Any] = {**news, "number": 0}
        self._server = self._begun(port)
        self.url = f"http://{HERE}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def news(self, after: int) -> dict[str, Any]:
        """What pages show, with its number; waits some seconds for a number above ``after``."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_open or self._news["number"] > after, PATIENCE)
            return {**self._news, "is_open": self.is_open}

    def hear(self, told: dict[str, Any]) -> None:
        """What was set on a page, called in a thread of the server.

        Raises:
            ValueError, TypeError, KeyError: nothing that pages tell.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """The page ends."""
        if self.is_open:
            with self._changed:
                self.is_open = False
                self._changed.notify_all()
            self._server.shutdown()
            self._server.server_close()

    def _tell(self, **news: Any) -> None:
        """What pages show from now on, beside what they were told before."""
        with self._changed:
            self._news |= {**news, "number": self._news["number"] + 1}
            self._changed.notify_all()

    def _begun(self, port: int) -> _Server:
        """A server at the port or the next one that is free; 0: at any."""
        while True:
            try:
                return _Server(port, self)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or port == LAST_PORT:
                    raise ParameterError(f"no page can be shown at port {port}: {error}") from error
                port += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url if self.is_open else 'stopped'})"


def _checked(port: int) -> int:
    if (port := whole("port", port, least=0)) > LAST_PORT:
        raise ParameterError(f"port must be at most {LAST_PORT}, got {port}")
    return port


# A recorded motion in a browser: its report, whose slider of time can be moved from Python.


class MotionView(Served):
    """A motion in a browser, made by ``Motion.live``.

    Attributes:
        url: to open in a browser.
    """

    def __init__(self, motion: ReportedMotion, port: int, frames: int | None) -> None:
        self._frames = None if frames is None else whole("frames", frames, least=2)
        port = _checked(port)
        page = self._page_of(motion)
        super().__init__(port, page, time=self._span[0], playing=False, version=0)

    @property
    def time(self) -> float:
        """Shown now [s]; to be set, between the first and the last instant."""
        return float(self._news["time"])

    @time.setter
    def time(self, value: float) -> None:
        low, high = self._span
        self._tell(time=min(max(finite("time", value), low), high))

    @property
    def is_playing(self) -> bool:
        """Whether the view plays the motion."""
        return bool(self._news["playing"])

    def play(self, speed: float | None = None) -> None:
        """Time runs, again from the start after the end.

        Args:
            speed: seconds of the motion in one; None: as before, at first the whole motion in about 8 s.
        """
        self._tell(playing=True, **({} if speed is None else {"speed": positive("speed", speed)}))

    def pause(self) -> None:
        """Time stands."""
        self._tell(playing=False)

    def replace(self, motion: ReportedMotion) -> None:
        """Shows another motion of the same model, such as a run that went on."""
        self.page = self._page_of(motion)
        self._tell(version=self._news["version"] + 1)

    def hear(self, told: dict[str, Any]) -> None:
        """Time, whether it runs, and its speed, by a page that knows the latest news."""
        time, playing, speed = float(told["time"]), bool(told["playing"]), float(told["speed"])
        if not (isfinite(time) and isfinite(speed)):
            raise ValueError
        with self._changed:
            if told["number"] == self._news["number"]:
                self._news |= {"time": time, "playing": playing, "speed": speed}

    def _page_of(self, motion: ReportedMotion) -> str:
        self._span = float(motion.time[0]), float(motion.time[-1])
        return motion_page(motion, self._frames, script=asset("live.js"))


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
    """A live run in a browser, made by ``LiveRun.live``: a number for each input, and a button that ends it."""

    def __init__(self, stepped: Stepped, port: int) -> None:
        port = _checked(port)
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
        """Steps the run and draws it until the duration is over or somebody presses "end"; it rests when paused.

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
