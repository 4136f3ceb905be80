"""The page of a report: a template, the viewer, scenes as compressed numbers."""

import base64
import json
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray, file_path
from phlexible.bodies.skin import Skin, side_triangles
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.display import table
from phlexible.errors import ParameterError, writing
from phlexible.pictures.scene import PALETTE, Anchor, DrawnBody, NodeField, Scene
from phlexible.pictures.scenes import KIND as SURFACE
from phlexible.pictures.summaries import Part, model_parts
from phlexible.shapes.solids import Sphere
from phlexible.shapes.surfaces import frame_along
from phlexible.version import __version__

# Arrays of a report as one compressed block of text with a table of contents.

STEPS = 65_000
"""Of a column of numbers that is stored in 16 bits, between its least and its greatest value."""


@dataclass(eq=False)
class Packing:
    """A collection of arrays, each of which is stored once and named by its number.

    Attributes:
        entries: kind, shape, place and, of 16 bits, scale and shift of each column.
    """

    entries: list[dict[str, Any]] = field(default_factory=list)
    _parts: list[bytes] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)
    _length: int = 0

    def store_exact(self, values: Any) -> int:
        """Store the array ``values`` of a report page without loss, in single precision or as whole numbers
        of 32 bits. Return its number, by which the page refers to it."""
        array = np.asarray(values)
        kind = "f4" if array.dtype.kind == "f" else "u4"
        return self._add(array.astype(f"<{kind}"), kind, [], [])

    def store_coarse(self, values: Array) -> int:
        """Store an array of a report page in 16 bits a value and return its number. Each value is one of 65
        000 steps between the least and the greatest value of its column over time (first axis).

        Numbers of one instant have no range and are stored in single precision.
        """
        if len(values) == 1:
            return self.store_exact(np.asarray(values, dtype=np.float32))
        flat = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        low, high = flat.min(axis=0), flat.max(axis=0)
        scale = np.where(high > low, (high - low) / STEPS, 1.0)
        steps = np.round((flat - low) / scale).astype("<i4") - STEPS // 2
        shift = low + scale * (STEPS // 2)
        return self._add(steps.astype("<i2").reshape(np.shape(values)), "i2", scale.tolist(), shift.tolist())

    def store_shades(self, values: Array, low: float, high: float) -> int:
        """Store an array of a report page as 256 levels between the values ``low`` and ``high``, for colours.
        Return its number."""
        share = (np.asarray(values) - low) / (high - low or 1.0)
        return self._add(np.round(255 * np.clip(share, 0.0, 1.0)).astype(np.uint8), "u1", [], [])

    def store_bytes(self, content: bytes) -> int:
        """Store the bytes ``content`` of a report page without conversion. Return the number by which the
        page refers to them."""
        return self._add(np.frombuffer(content, dtype=np.uint8), "u1", [], [])

    def arrays(self) -> list[Array]:
        """Return all arrays of a report page that were stored without loss, flattened, in the order in which they
        were stored."""
        kinds = [each["kind"] for each in self.entries]
        return [
            np.frombuffer(part, dtype=f"<{kind}").astype(np.float64)
            for part, kind in zip(self._parts, kinds, strict=True)
            if kind in ("f4", "u4")
        ]

    def text(self) -> str:
        """Return all stored arrays of a report page as one compressed text in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")

    def _add(self, array: NDArray[Any], kind: str, scale: list[float], shift: list[float]) -> int:
        content = np.ascontiguousarray(array).tobytes()
        key = repr((kind, array.shape, scale, shift)).encode() + content
        if key in self._known:
            return self._known[key]
        padding = b"\0" * (-len(content) % 4)
        self.entries.append(
            {"kind": kind, "shape": list(array.shape), "start": self._length, "scale": scale, "shift": shift}
        )
        self._parts.append(content + padding)
        self._length += len(content) + len(padding)
        self._known[key] = len(self.entries) - 1
        return self._known[key]


def compressed(content: bytes) -> str:
    """Return the bytes ``content`` as compressed text in base64, the form in which a report page stores them."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


# Skins for the 3D view: every body has a surface, thick enough to be seen.

THINNEST, FLATTEST = 0.008, 0.003
"""Of the scene: line bodies are drawn at least as thick in one direction, strips at least as flat in the other."""
ROD, BALL = 0.007, 0.016
"""Of the scene: radius of what has no thickness of its own."""
SIDES = 8


def visible_skin(skin: Skin, reach: float) -> Skin:
    """Return the skin of a body (its drawn shape) with a surface thick enough to be seen in a scene of size
    ``reach`` [m]. Lines become tubes, points balls; beams and rods become at least 0.008 of ``reach`` wide."""
    if not skin.has_surface:
        return _tubes_and_balls(skin, reach)
    if skin.lines and skin.width[0] > 0:
        extent = np.ptp(skin.offsets, axis=0)
        scale = max(1.0, THINNEST * reach / skin.width[0])
        thicker = FLATTEST * reach / np.where(extent > 0, extent, np.inf)  # of a strip, seen from its edge
        return replace(skin, offsets=skin.offsets * np.maximum(scale, thicker))
    return skin


def _tubes_and_balls(skin: Skin, reach: float) -> Skin:
    """Return the drawn shape of a body without surface (``skin``) with a surface: tubes around its lines and
    balls around its points, which stay. A tube has half the width of the body as radius, but at least 0.007 of
    ``reach``, the size of the scene [m]; a ball has 0.016 of it."""
    nodes: list[IntArray] = []
    offsets: list[Array] = []
    normals: list[Array] = []
    triangles: list[IntArray] = []
    count = 0
    for line in skin.lines:
        ring = _tube_rings(skin.positions[line], 1.0)
        radius = max(skin.width[0] / 2, ROD * reach)
        nodes.append(np.repeat(line, SIDES))
        offsets.append(radius * ring)
        normals.append(ring)
        triangles.append(side_triangles(len(line), SIDES, is_round=True) + count)
        count += len(line) * SIDES
    ball = Sphere(1.0).centred()
    for node in skin.balls:
        nodes.append(np.full(len(ball.vertices), node))
        offsets.append(BALL * reach * ball.vertices)
        normals.append(ball.vertices)
        triangles.append(ball.triangles + count)
        count += len(ball.vertices)
    return replace(
        skin,
        vertex_nodes=np.concatenate(nodes),
        offsets=np.concatenate(offsets),
        normals=np.concatenate(normals),
        triangles=np.concatenate(triangles),
    )


def _tube_rings(line: Array, radius: float) -> Array:
    """Return circles of the given ``radius`` around the k points of a ``line`` (k, 3) as vertices of a tube,
    shape (k * SIDES, 3). They are perpendicular to the line and do not twist."""
    along = np.gradient(line, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    side, angle = frame_along(along[0])[:, 1], np.linspace(0.0, 2 * np.pi, SIDES, endpoint=False)
    rings = []
    for direction in along:
        side = side - (side @ direction) * direction
        side /= np.linalg.norm(side)
        up = np.cross(direction, side)
        rings.append(radius * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up))
    return np.concatenate(rings)


# A scene as the viewer reads it: numbers of arrays in place of arrays.

STRING_RADIUS = 0.003  # of the scene
MOST_POINTS = 40
Tree = dict[str, Any]


def scene_data(scene: Scene, fields: Mapping[int, Sequence[NodeField]], pack: Packing) -> Tree:
    """Return a scene (drawable mechanism) as nested dictionaries that the 3D viewer of a report reads. Arrays are
    stored in ``pack``; ``fields`` are stresses and forces for colours by index of the body."""
    moved = moved_data(scene, pack)
    skins: list[Tree] = []
    known: dict[int, int] = {}
    ranges = _ranges(fields)
    bodies = []
    for number, body in enumerate((*scene.bodies, *scene.surfaces)):
        is_soft = body.is_nodal and body.skin.coordinates is not None
        entry: Tree = {"name": body.name, "whole": body.whole, "kind": body.kind, "color": body.color}
        entry |= moved["bodies"][number]
        entry["triangles"] = pack.store_exact(body.skin.triangles) if is_soft else None
        entry["fields"] = [
            {"name": each.name, "values": pack.store_shades(each.values, *ranges[each.name][:2])}
            for each in fields.get(number, ())
        ]
        entry["skin"] = None if body.is_nodal else _skin_number(scene, body, skins, known, pack)
        bodies.append(entry)
    low, high = scene.corners
    return moved | {
        "dimension": scene.dimension,
        "up": _up(scene).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "size": scene.size,
        "reach": scene.reach,
        "string_radius": STRING_RADIUS * scene.reach,
        "bodies": bodies,
        "skins": skins,
        "paths": pack.store_exact(scene.paths) if len(scene.paths) > 1 and scene.paths.size else None,
        "frame_count": int(scene.frames.shape[1]),
        "symbols": [
            {
                "kind": symbol.kind.value,
                "label": symbol.label,
                "axis": symbol.axis.tolist(),
                "anchor": anchor_data(scene, symbol.anchor, pack),
                "other": None if symbol.other is None else anchor_data(scene, symbol.other, pack),
            }
            for symbol in scene.symbols
        ],
        "arrows": [
            {
                "label": arrow.label,
                "is_torque": arrow.is_torque,
                "anchor": anchor_data(scene, arrow.anchor, pack),
                "values": values,
            }
            for arrow, values in zip(scene.arrows, moved["arrows"], strict=True)
        ],
        "greatest_load": [load or 1.0 for load in scene.greatest_load],
        "fields": [
            {"name": name, "low": low, "high": high, "unit": unit, "map": "diverging" if low < 0 else "sequential"}
            for name, (low, high, unit) in ranges.items()
        ],
        "opens_at": 0,
        "opens_with": None,
        "clips": [{"name": "", "first": 0, "count": len(scene.time), "loop": False}],
        "loop": False,
        "panels": [],
        "palette": PALETTE,
        "points": _points(scene),
        "can_amplify": any(body.eta.shape[1] and not body.is_nodal for body in scene.bodies),
    }


def moved_data(scene: Scene, pack: Packing) -> Tree:
    """Return those data of a scene (drawable mechanism) for the 3D viewer of a report that change with time.
    They are poses of bodies and surfaces, moving frames and arrows; arrays are stored in ``pack``. Moving
    frames are points of the ground with prescribed motion."""
    shown = (*scene.bodies, *scene.surfaces)
    turns = _quaternions(np.stack([body.rotations for body in shown], axis=1)) if shown else np.zeros((0, 0, 4))
    return {
        "time": pack.store_exact(scene.time),
        "bodies": [_moved_body(body, turns[:, number], pack) for number, body in enumerate(shown)],
        "frames": pack.store_coarse(scene.frames) if scene.frames.size else None,
        "frame_turns": pack.store_coarse(_quaternions(scene.frame_turns)) if scene.frames.size else None,
        "arrows": [pack.store_coarse(arrow.values) for arrow in scene.arrows],
    }


def _moved_body(body: DrawnBody, turns: Array, pack: Packing) -> Tree:
    if body.is_nodal:
        return {"places": pack.store_coarse(body.nodes()), "origins": None, "turns": None, "eta": None}
    return {
        "places": None,
        "origins": pack.store_coarse(body.origins),
        "turns": pack.store_coarse(turns),
        "eta": pack.store_coarse(body.eta) if body.eta.shape[1] else None,
    }


def _skin_number(scene: Scene, body: DrawnBody, skins: list[Tree], known: dict[int, int], pack: Packing) -> int:
    """Return the index of a body's skin (its drawn shape) in the list ``skins`` of a report. A new skin is
    added to the list; bodies that look the same share one. ``known`` holds the indices found so far by
    identity of the skin, ``pack`` the arrays of the report, ``scene`` all that is drawn."""
    if id(body.skin) in known:
        return known[id(body.skin)]
    skin = visible_skin(body.skin, scene.reach)
    entry = {
        "table": pack.store_exact(_table(skin)),
        "nodes": len(skin.positions),
        "n": int(skin.shapes.shape[2]),
        "vertex_nodes": pack.store_exact(skin.vertex_nodes),
        "offsets": pack.store_exact(skin.offsets),
        "normals": pack.store_exact(skin.normals),
        "triangles": pack.store_exact(skin.triangles),
        "edges": None if skin.lines or skin.balls.size or body.kind == SURFACE else pack.store_exact(skin.edges()),
    }
    if entry not in skins:
        skins.append(entry)
    known[id(body.skin)] = skins.index(entry)
    return known[id(body.skin)]


def _table(skin: Skin) -> Array:
    """Return the shape functions of a skin's nodes as a table for the 3D viewer, shape (N (2 n + 1), 3). The
    rows of a node are, for each of n coordinates, displacement then rotation, and last its position."""
    nodes, _, count = skin.shapes.shape
    table = np.zeros((nodes, 2 * count + 1, 3))
    table[:, 0 : 2 * count : 2] = np.moveaxis(skin.shapes, 2, 1)
    table[:, 1 : 2 * count : 2] = np.moveaxis(skin.rotations, 2, 1)
    table[:, -1] = skin.positions
    return table.reshape(-1, 3)


def _quaternions(rotations: Array) -> Array:
    """Convert rotation matrices (..., 3, 3) over time (first axis) to quaternions (..., 4) in the order x, y, z, w.
    Signs are chosen so that each is near the one before."""
    found = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat().reshape(*rotations.shape[:-2], 4)
    jumps = np.einsum("t...k,t...k->t...", found[1:], found[:-1]) < 0
    signs = np.cumprod(np.concatenate([np.ones((1, *found.shape[1:-1])), np.where(jumps, -1.0, 1.0)]), axis=0)
    return np.asarray(found * signs[..., None])


def anchor_data(scene: Scene, anchor: Anchor, pack: Packing) -> Tree:
    """Return a point that a body, a moving frame or the world carries (``anchor``) as a dictionary for the 3D
    viewer of a report. ``scene`` holds the bodies and frames, ``pack`` takes the arrays. Moving frames are
    points of the ground with prescribed motion."""
    entry: Tree = {
        "body": anchor.body,
        "frame": anchor.frame,
        "point": anchor.position.tolist(),
        "shapes": None,
        "nodes": None,
    }
    if anchor.body is not None:
        body = scene.bodies[anchor.body]
        if body.is_nodal:
            away = np.linalg.norm(body.nodes()[0] - scene.positions(anchor)[0], axis=1)
            entry["nodes"] = [[int(away.argmin()), 1.0]]
        elif body.eta.shape[1]:
            entry["shapes"] = pack.store_exact(np.concatenate([anchor.shapes, anchor.turns]).T)
    return entry


def _up(scene: Scene) -> Array:
    """Return the unit vector that is upwards in the 3D viewer of a ``scene``, shape (3,): against gravity
    along the nearest axis; without gravity z in space, y in the plane."""
    if scene.dimension == 2:
        return np.array([0.0, 1.0, 0.0])
    if not scene.gravity.any():
        return np.array([0.0, 0.0, 1.0])
    up = np.zeros(3)
    axis = int(np.argmax(np.abs(scene.gravity)))
    up[axis] = -np.sign(scene.gravity[axis])
    return up


def _points(scene: Scene) -> list[Tree]:
    """Return the end points of the bodies of a ``scene`` whose paths the 3D viewer of a report can show. They
    are dictionaries of label, body and node; at most 40."""
    found = []
    for number, body in enumerate(scene.bodies):
        last = len(body.skin.positions) - 1
        stations = [("end", last)] if last else [("", 0)]
        if not body.skin.has_surface or body.skin.lines:
            stations = [("start", 0), *stations] if last else stations
        found += [{"label": f"{body.name} {name}".strip(), "body": number, "node": node} for name, node in stations]
    return found[:MOST_POINTS]


def _ranges(fields: Mapping[int, Sequence[NodeField]]) -> dict[str, tuple[float, float, str]]:
    """Return the least and greatest value and the unit of each coloured quantity over all bodies, by name.
    ``fields`` has the quantities of each body at its nodes. Ranges are symmetric about zero where the
    quantity changes its sign."""
    found: dict[str, tuple[float, float, str]] = {}
    for each in (each for of_body in fields.values() for each in of_body):
        low, high = float(each.values.min()), float(each.values.max())
        before = found.get(each.name, (low, high, each.unit))
        found[each.name] = (min(low, before[0]), max(high, before[1]), each.unit)
    for name, (low, high, unit) in found.items():
        largest = max(-low, high)
        found[name] = (-largest, largest, unit) if low < -1e-3 * largest else (0.0, largest, unit)
    return found


# The page of a report: a template, the viewer, the numbers, the tables.

PLACE = re.compile("@([A-Z]+)@")
"""In the template; what is put there may have such words, too."""


@dataclass(frozen=True)
class InlinePage:
    """A page that a notebook shows in the output of a cell.

    Attributes:
        page: HTML.
        height: [pixels].
    """

    page: str
    height: int

    def _repr_html_(self) -> str:
        frame = 'width="100%" style="border:0" title="report of phlexible"'
        return f'<iframe srcdoc="{escape(self.page, quote=True)}" height="{self.height}" {frame}></iframe>'

    def __repr__(self) -> str:
        return f"InlinePage({len(self.page) / 1e3:.0f} kB, shown by notebooks)"


def asset(name: str) -> str:
    """Return the text of the file ``name`` of the report template (folder ``assets``), such as "style.css"."""
    return files("phlexible.pictures").joinpath("assets", name).read_text(encoding="utf-8")


def page(
    title: str, subtitle: str, head: Mapping[str, Any], pack: Packing, sections: Sequence[str], script: str = ""
) -> str:
    """Return a complete HTML report page with 3D viewer, data and sections; it needs no network. ``title``
    and ``subtitle`` are its headings, ``head`` is data for the viewer, ``pack`` the arrays, ``script`` code
    that follows the viewer."""
    numbers = json.dumps({**head, "arrays": pack.entries}, separators=(",", ":"))
    fields = {
        "TITLE": escape(title),
        "SUBTITLE": escape(subtitle),
        "STYLE": asset("style.css"),
        "HEAD": numbers.replace("<", "\\u003c"),  # "<!--<script>" would swallow the rest of the page
        "BLOCK": pack.text(),
        "LOADER": asset("loader.js"),
        "SCRIPT": script,
        "VIEWER": compressed(asset("viewer.js").encode()),
        "SECTIONS": "\n".join(sections),
        "ABOUT": escape(f"Made by phlexible {__version__}. The 3D view uses three.js (MIT licence)."),
    }
    return PLACE.sub(lambda match: fields[match[1]], asset("page.html"))


def page_without_view(title: str, subtitle: str, sections: Sequence[str]) -> str:
    """Return an HTML page with ``title``, ``subtitle`` and ``sections`` (HTML) in the style of a report,
    without the 3D view."""
    fields = {"TITLE": escape(title), "SUBTITLE": escape(subtitle), "STYLE": asset("style.css")}
    fields["SECTIONS"] = "\n".join(sections)
    return PLACE.sub(lambda match: fields[match[1]], asset("tables.html"))


def html_path(path: str | PathLike[str]) -> str:
    """Return the path as a string; raise ``ParameterError`` unless it ends in ``.html`` or ``.htm``.

    Raises:
        ParameterError: names it.
    """
    target = file_path("path", path)
    if not target.lower().endswith((".html", ".htm")):
        raise ParameterError(f"path must end in .html, got {target!r}")
    return target


def write_page(path: str | PathLike[str], text: str) -> None:
    """Write the ``text`` of an HTML page to the file ``path``; raise ``ResultFileError`` if that is
    impossible.

    Raises:
        ResultFileError: the file cannot be written.
    """
    with writing(path), open(path, "w", encoding="utf-8") as file:
        file.write(text)


def section(title: str, content: str, is_open: bool = False) -> str:
    """Return a section of an HTML report with ``content`` (HTML) that opens and closes on a click on its
    ``title``; ``is_open`` is its first state."""
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def findings(texts: Sequence[str]) -> str:
    """Return an HTML list of ``texts``, the problems found in a run that a reader should look at, or a
    sentence that there are none."""
    if not texts:
        return "<p>No problems found.</p>"
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in texts)}</ul>"


def model_tree(families: Mapping[str, Sequence[Part]], intro: str) -> str:
    """Return HTML that lists the parts of a model by family, such as joints or loads, each with its parameters in a
    table. ``intro`` is a first sentence."""
    lines = [f"<p>{escape(intro)}</p>"]
    for name, parts in families.items():
        inner = "".join(section(part.heading, table(part.rows)) for part in parts)
        lines.append(f"<h3>{escape(name)} ({len(parts)})</h3>{inner}")
    return "".join(lines)


def model_sections(mechanism: Mechanism, remark: str = "") -> list[str]:
    """Return the last sections of an HTML report: the parts of a model with its dimension, its gravity and a
    ``remark``, and the versions of the programs."""
    gravity = ", ".join(f"{each:g}" for each in mechanism.gravity)
    intro = f"dimension {mechanism.dimension}, gravity ({gravity}) m/s²{remark}"
    return [section("Model", model_tree(model_parts(mechanism), intro)), section("Versions", versions())]


def versions() -> str:
    """Return an HTML table of the versions of phlexible, Python, NumPy and SciPy."""
    import scipy

    python = ".".join(map(str, sys.version_info[:3]))
    return table(
        [("phlexible", __version__), ("Python", python), ("NumPy", np.__version__), ("SciPy", scipy.__version__)]
    )
