"""A scene in the browser: handles of viser that are moved from instant to instant."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.results.pictures.shading import rgb
from phlexible.results.report.skins import visible_skin
from phlexible.scene.scene import Arrow, DrawnBody, Scene, Symbol, SymbolKind

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
