"""A server of viser on this machine: where it is, where its camera stands, how it ends."""

from contextlib import redirect_stdout
from io import StringIO
from types import TracebackType
from typing import Any, Self

import numpy as np

from phlexible.algebra.options import whole
from phlexible.errors import ParameterError
from phlexible.results.extras import optional
from phlexible.scene.scene import Scene

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
