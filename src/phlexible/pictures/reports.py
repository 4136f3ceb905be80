"""Reports of motions and modes: curves, figures, and the page with the viewer."""

import base64
import json
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.resources import files
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, IntArray, file_path, optional_text, reals, whole
from phlexible.algebra.number_tape import continuous_quaternions
from phlexible.bodies.skin import Skin, side_triangles
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.parts import part_counts
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.display import how_many, table
from phlexible.errors import ParameterError, writing
from phlexible.linear.linearize import Linearization
from phlexible.linear.modes import Modes
from phlexible.measure.energy import Energy, energy_of, most_deformed_instant
from phlexible.measure.quality import motion_check
from phlexible.measure.sensors import checked_sensors, reading_columns
from phlexible.pictures.panels import Panel, default_panels
from phlexible.pictures.plots import energy_curves
from phlexible.pictures.scene import (
    KIND as SURFACE,
    MISES,
    PALETTE,
    PHASES,
    Anchor,
    DrawnBody,
    NodeField,
    Scene,
    node_fields,
    scene_of,
    scene_of_modes,
)
from phlexible.pictures.summaries import Part, figures, model_parts
from phlexible.shapes.solids import Sphere
from phlexible.shapes.surfaces import frame_along
from phlexible.state.recorded_run import RecordedRun
from phlexible.version import __version__

# Arrays of a report as one compressed block of text with a table of contents.

STEPS = 65_000
"""Number of steps between the least and the greatest value of a column of numbers that is stored in 16 bits."""


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
        """Store the array ``values`` of a report page, floats in single precision and other numbers as unsigned
        32-bit integers. Return the number by which the page refers to it."""
        array = np.asarray(values)
        kind = "f4" if array.dtype.kind == "f" else "u4"
        return self._add(array.astype(f"<{kind}"), kind, [], [])

    def store_coarse(self, values: Array) -> int:
        """Store an array of a report page as 16-bit integers and return its number. Each column over time (first
        axis) is rounded to one of 65 000 levels between its least and greatest value, which are stored as scale
        and shift. An array of one instant is stored in single precision instead.

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
        """Return all arrays of a report page that were stored in single precision or as unsigned 32-bit integers,
        as one-dimensional arrays of float64. Their order is the order in which they were stored; arrays stored
        with fewer bits are left out."""
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
"""Least thickness of line bodies in one direction, and of strips in the other, as shares of the scene."""
ROD, BALL = 0.007, 0.016
"""Radius of lines and points that have no thickness of their own, as shares of the scene."""
SIDES = 8


def visible_skin(skin: Skin, reach: float) -> Skin:
    """Return the skin (drawn shape) of a body, thick enough to be seen in a scene of size ``reach`` [m]. A skin
    without surface gets tubes around its lines and balls at its points. Beams and rods are widened to at least
    0.008 ``reach``, thin strips in their thin direction too. Other skins are returned unchanged."""
    if not skin.has_surface:
        return _tubes_and_balls(skin, reach)
    if skin.lines and skin.width[0] > 0:
        extent = np.ptp(skin.offsets, axis=0)
        scale = max(1.0, THINNEST * reach / skin.width[0])
        thicker = FLATTEST * reach / np.where(extent > 0, extent, np.inf)  # of a strip, seen from its edge
        return replace(skin, offsets=skin.offsets * np.maximum(scale, thicker))
    return skin


def _tubes_and_balls(skin: Skin, reach: float) -> Skin:
    """Return a copy of ``skin`` (drawing of a body that has no surface) with a triangulated surface: tubes around
    its lines, balls at its marked points. A tube's radius is half the body's width, at least 0.007 ``reach``; a
    ball's radius is 0.016 ``reach``, where ``reach`` is the size of the scene [m]. Lines and points are kept."""
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
    """Return circles around the k points of a ``line`` (k, 3) [m] as the vertices of a tube with the given
    ``radius`` [m]. The shape is (k n, 3) for n vertices on each circle. Circles are perpendicular to the line. The
    first vertex of a circle is the projection of the previous one, so that the tube does not twist."""
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
MOST_CHOICES = 40
Tree = dict[str, Any]


def scene_data(scene: Scene, fields: Mapping[int, Sequence[NodeField]], pack: Packing) -> Tree:
    """Return a scene (drawn mechanism) as nested dictionaries that the 3D viewer of a report reads. Arrays are
    stored in ``pack`` and replaced by their numbers. ``fields`` maps the index of a body to its stresses and
    forces at the nodes, which are stored as colours."""
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
    """Return a dictionary of all data of a scene (drawn mechanism) that change with time, for the 3D viewer of a
    report. It has the times, the poses of bodies and surfaces (rotations as continuous quaternions), moving
    frames, and the values of force arrows. Arrays are stored in ``pack`` and given by their number; frames are
    None if there are none."""
    shown = (*scene.bodies, *scene.surfaces)
    rotations = [body.rotations for body in shown]
    turns = continuous_quaternions(np.stack(rotations, axis=1)) if shown else np.zeros((0, 0, 4))
    return {
        "time": pack.store_exact(scene.time),
        "bodies": [_moved_body(body, turns[:, number], pack) for number, body in enumerate(shown)],
        "frames": pack.store_coarse(scene.frames) if scene.frames.size else None,
        "frame_turns": pack.store_coarse(continuous_quaternions(scene.frame_turns)) if scene.frames.size else None,
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
    """Return the index in the list ``skins`` of the drawn shape (skin) of ``body`` in a report. A new shape is
    appended to the list and its arrays are stored in ``pack``; bodies that look the same have the same index.
    ``known`` caches indices by identity of the skin object; the size of ``scene`` sets the radius of drawn
    lines."""
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
    """Return the shape functions of a skin (surface drawn for a body) as an array for the 3D viewer. Its shape is
    (N (2 n + 1), 3) for N nodes and n elastic coordinates. For each node it has 2 n + 1 rows: displacement and
    rotation per unit of each coordinate in turn, then the undeformed position [m]."""
    nodes, _, count = skin.shapes.shape
    table = np.zeros((nodes, 2 * count + 1, 3))
    table[:, 0 : 2 * count : 2] = np.moveaxis(skin.shapes, 2, 1)
    table[:, 1 : 2 * count : 2] = np.moveaxis(skin.rotations, 2, 1)
    table[:, -1] = skin.positions
    return table.reshape(-1, 3)


def anchor_data(scene: Scene, anchor: Anchor, pack: Packing) -> Tree:
    """Return a dictionary for the 3D viewer of a report that describes a point (``anchor``) of a body, a moving
    frame or the world. It has the index of the body or frame, and the position in its axes. For a flexible body
    the shape functions, stored in ``pack``, are added; for a string or soft body the nearest node."""
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
    """Return the points of a ``scene`` whose paths the 3D viewer of a report offers, at most the first 40. Each is
    a dictionary of label, number of the body and number of the node. A body with one node has one point; others
    have their last node, and also the first one if lines are drawn or there is no surface."""
    found = []
    for number, body in enumerate(scene.bodies):
        last = len(body.skin.positions) - 1
        stations = [("end", last)] if last else [("", 0)]
        if not body.skin.has_surface or body.skin.lines:
            stations = [("start", 0), *stations] if last else stations
        found += [{"label": f"{body.name} {name}".strip(), "body": number, "node": node} for name, node in stations]
    return found[:MOST_CHOICES]


def _ranges(fields: Mapping[int, Sequence[NodeField]]) -> dict[str, tuple[float, float, str]]:
    """Return a dictionary from the name of each coloured quantity to (lower limit, upper limit, unit) of its
    colour scale over all bodies. The limits are zero and the largest absolute value; they are symmetric about zero
    if the minimum is below -1e-3 of this value. ``fields`` maps body numbers to their quantities at the nodes."""
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
    """Return a complete HTML page of a report with 3D viewer, data and sections, which needs no network. ``title``
    and ``subtitle`` are its headings, escaped. ``head`` is data for the viewer, ``pack`` the stored arrays,
    ``sections`` HTML texts, and ``script`` JavaScript that runs after the viewer."""
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
    """Return an HTML list of ``texts``, the problems found in a run, or a sentence that there are none if
    ``texts`` is empty."""
    if not texts:
        return "<p>No problems found.</p>"
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in texts)}</ul>"


def model_tree(families: Mapping[str, Sequence[Part]], intro: str) -> str:
    """Return HTML that lists the components of a model by family, such as joints or loads, each with its
    parameters in a table. ``intro`` is a first sentence."""
    lines = [f"<p>{escape(intro)}</p>"]
    for name, parts in families.items():
        inner = "".join(section(part.heading, table(part.rows)) for part in parts)
        lines.append(f"<h3>{escape(name)} ({len(parts)})</h3>{inner}")
    return "".join(lines)


def model_sections(mechanism: Mechanism, remark: str = "") -> list[str]:
    """Return the last two sections of an HTML report: the components of a model with its dimension, its gravity
    and a ``remark``, and the versions of the programs."""
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


# Curves of a report: fewer points than steps, with all peaks.

MOST_POINTS = 1200
"""Of a curve."""
FLAT = 1e-6
"""Of the greatest energy: the least range of an axis of energies, so that round-off is not drawn large."""
FORMULA = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$")
"""In a text for Matplotlib."""


def plotted_instants(curves: Sequence[Array], count: int = MOST_POINTS) -> Any:
    """Return the sorted indices of about ``count`` instants at which curves over time are plotted. The ends, and
    the least and greatest value of every curve in each of equal intervals, are included, so that no peak is lost.
    All instants if there are no more."""
    size = len(curves[0])
    if size <= count:
        return np.arange(size)
    stretches = max(1, count // (2 * len(curves)))
    edges = np.linspace(0, size, stretches + 1).astype(int)
    kept = {0, size - 1}
    for values in curves:
        for begin, end in pairwise(edges):
            part = values[begin:end]
            kept.update((begin + int(part.argmin()), begin + int(part.argmax())))
    return np.array(sorted(kept))


def panels_of(
    run: RecordedRun, points: Sequence[Any], curves: Mapping[str, ArrayLike], pack: Packing, shown: IntArray
) -> list[dict[str, Any]]:
    """Return the plots of a report on the recorded motion ``run`` as dictionaries: energies, ``curves`` of
    the user (values by name), and the most informative curves of the motion, such as deflections of
    ``points``. Arrays are stored in ``pack``; all curves contain the instants with the indices ``shown``."""
    chosen = [Panel(name, tuple(_components(name, values, run.count))) for name, values in curves.items()]
    found = [_energies(energy_of(run.recording), run.time, pack, shown)]
    found += [_packed(panel, run.time, pack, shown) for panel in [*chosen, *default_panels(run, points, most=3)]]
    return found


def _components(name: str, values: ArrayLike, count: int) -> list[tuple[str, Array]]:
    array = reals(f"curve {name!r}", values)
    if array.shape not in ((count,), (count, 3)) or not np.isfinite(array).all():
        raise ParameterError(
            f"curve {name!r} must be finite numbers of shape ({count},) or ({count}, 3), one for each stored"
            f" instant, got shape {array.shape}"
        )
    return [(name, array)] if array.ndim == 1 else [(axis, array[:, k]) for k, axis in enumerate("xyz")]


def _energies(energy: Energy, time: Array, pack: Packing, shown: IntArray) -> dict[str, Any]:
    found, curves = energy_curves(energy), []
    largest = max(float(np.abs(values).max()) for values in found.values())
    for name, values in found.items():
        start = float(values[0])
        named = name if abs(start) <= FLAT * largest else f"{name} ({start:.4g} J at start)"
        curves.append((named, values - start))
    panel = _packed(Panel("energy since the start [J]", tuple(curves)), time, pack, shown)
    panel["least"] = 2 * FLAT * largest
    for curve in panel["curves"]:
        curve["dash"] = curve["name"].startswith(("supplied", "dissipated"))
    return panel


def _packed(panel: Panel, time: Array, pack: Packing, shown: IntArray) -> dict[str, Any]:
    kept = np.union1d(plotted_instants([values for _, values in panel.curves]), shown)
    lowest = min(float(values.min()) for _, values in panel.curves)
    highest = max(float(values.max()) for _, values in panel.curves)
    return {
        "label": _without_formulas(panel.label),
        "summary": f"All values lie between {lowest:.4g} and {highest:.4g}.",
        "time": pack.store_exact(time[kept]),
        "curves": [
            {
                "name": _without_formulas(name),
                "dash": False,
                "values": pack.store_exact(values[kept]),
                "range": [float(values.min()), float(values.max())],
            }
            for name, values in panel.curves
        ],
    }


def _without_formulas(text: str) -> str:
    """Return a ``text`` for Matplotlib without the mark-up of formulas ($, subscripts), so that HTML can show
    it."""
    found = FORMULA.sub(lambda match: match[1].replace("\\omega_", "ω").replace("_", ""), text)
    return found.replace(r"\$", "$")


# The report of a motion.

MOST_FRAMES, FEWEST_FRAMES = 600, 60
FRAME_BYTES = 6_000_000
"""Of all frames before they are compressed; a larger model has fewer of them."""


def motion_page(
    run: RecordedRun,
    is_complete: bool,
    frames: int | None = None,
    points: Sequence[Attachment] = (),
    curves: Mapping[str, ArrayLike] | None = None,
    title: str | None = None,
    script: str = "",
) -> str:
    """Return the HTML report of the recorded motion ``run`` as text: 3D view, plots, checks and the model.
    ``is_complete`` says whether the run reached its end, ``frames`` is the number of instants in the view,
    ``title`` the heading. Deflections of ``points`` and further ``curves`` over time are plotted. ``script`` is
    JavaScript that runs after the viewer. Raise ``ParameterError`` for curves of another length.

    Raises:
        ParameterError: a count below 2, or curves of another length.
    """
    heading = optional_text("title", title) or "motion"
    pack = Packing()
    instants = _instants(run, None if frames is None else whole("frames", frames, least=2))
    scene = scene_of(run, instants)
    head: dict[str, Any] = scene_data(scene, node_fields(run, scene.bodies, instants), pack)
    head["opens_at"] = int(np.abs(instants - most_deformed_instant(run.recording)).argmin())
    head["opens_with"] = next((k for k, each in enumerate(head["fields"]) if each["name"] == MISES), None)
    head["panels"] = panels_of(run, points, curves or {}, pack, instants)
    check = motion_check(run)
    state = "" if is_complete else ", which ended early"
    subtitle = (
        f"{part_counts(run.mechanism)}; {run.count} stored instants to t = {run.time[-1]:g} s{state};"
        f" energy balance off by {check.balance_error:.0e} of the energies"
    )
    shown = f"{len(instants)} of {run.count} stored instants are in the 3D view; plots keep every peak."
    sections = [*motion_sections(run, shown), *model_sections(run.mechanism)]
    return page(heading, subtitle, head, pack, sections, script)


def motion_sections(run: RecordedRun, remarks: str) -> list[str]:
    """Return two HTML sections about a run, checks (energy balance, joint gaps, time step errors) and
    summary, with further ``remarks``."""
    check, facts = motion_check(run), figures(run)
    checks = [(name, f"{value}, {words}") for name, value, words in check.rows]
    numbers = [(name, f"{value:.6g}" if isinstance(value, float) else str(value)) for name, value in facts.items()]
    return [
        section("Check", table(checks) + findings(check.findings), is_open=not check.is_clean),
        section("Summary", table(numbers) + f"<p>{escape(remarks)}</p>"),
    ]


def readings(
    sensors: Sequence[Sensor], run: RecordedRun, curves: Mapping[str, ArrayLike] | None
) -> dict[str, ArrayLike]:
    """Return the values of ``sensors`` over a ``run``, for the plots of a report, as a dictionary from "name
    [unit]" to the values. A sensor with other than one or three components gives one entry for each column.
    Further ``curves`` (values by name) are added unchanged. ParameterError is raised if ``curves`` is no mapping
    or ``sensors`` no sensors.

    Raises:
        ParameterError: no sensors, or curves without names.
    """
    if not isinstance(curves, Mapping | None):
        raise ParameterError(f"curves must be values by names, got {curves!r}")
    values_by_name: dict[str, ArrayLike] = {}
    for sensor in checked_sensors("sensors", sensors):
        values = sensor.read(run)
        if values.ndim == 1 or values.shape[1:] == (3,):
            values_by_name[f"{sensor} [{sensor.unit}]"] = values
        else:
            values_by_name |= reading_columns([sensor], run)
    return values_by_name | dict(curves or {})


def _values_per_instant(placed: PlacedBody) -> int:
    """Return about how many values one instant of the body ``placed`` needs in a report file, from which the
    number of stored instants is chosen."""
    if placed.nodes is None:
        return 2 * (7 + placed.data.elastic_count)
    return 6 * 300 if placed.is_string else 3 * len(placed.nodes.positions)


def _instants(run: RecordedRun, wanted: int | None) -> IntArray:
    """Return the indices of instants of the recorded motion ``run``, evenly spaced in time, for the 3D view of
    a report. Their number is at most ``wanted``; None means as many as fit into about 6 MB, between 60 and 600.
    For each wanted time the next stored instant is selected, once. All instants are returned if the run has no
    more."""
    numbers = sum(_values_per_instant(placed) for placed in run.system.bodies)
    count = int(np.clip(FRAME_BYTES / (numbers + 1), FEWEST_FRAMES, MOST_FRAMES)) if wanted is None else wanted
    time = run.recording.time
    if len(time) <= count:
        return np.arange(len(time))
    indices = np.searchsorted(time, np.linspace(time[0], time[-1], count) * (1 - 1e-12))
    return np.unique(np.clip(indices, 0, len(time) - 1))


# The report of mode shapes.


MODE_HEADS = ("mode", "frequency [rad/s]", "[Hz]", "damping ratio")


def mode_rows(modes: Modes) -> list[tuple[str, ...]]:
    """Return table rows of texts with number, frequency [rad/s], frequency [Hz] and damping ratio of each mode."""
    pairs = enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True), start=1)
    return [(f"{k}", f"{w:.6g}", f"{w / (2 * np.pi):.6g}", f"{zeta:.3g}") for k, (w, zeta) in pairs]


def report_modes(modes: Modes, linear: Linearization, path: str | PathLike[str], title: str | None = None) -> None:
    """Write an HTML report to the file ``path`` with a 3D view in which the ``modes`` of the model ``linear``
    move. The reader selects one mode at a time. Tables of the frequencies and of the model follow. ``title`` is
    the heading, by default "modes"."""
    target, heading = html_path(path), optional_text("title", title) or "modes"
    pack, count = Packing(), len(modes.eigenvalues)
    scene = scene_of_modes(linear, [modes.shapes[:, number] for number in range(count)])
    head: dict[str, Any] = scene_data(scene, {}, pack)
    names = [f"mode {k + 1}: {omega:.5g} rad/s" for k, omega in enumerate(modes.frequencies)]
    head["clips"] = [
        {"name": name, "first": k * (PHASES + 1), "count": PHASES + 1, "loop": True} for k, name in enumerate(names)
    ]
    head |= {"loop": True, "can_amplify": False, "arrows": []}
    mechanism = linear.system.mechanism
    frequencies = section("Frequencies", table(mode_rows(modes), MODE_HEADS), is_open=True)
    sections = [frequencies, *model_sections(mechanism)]
    subtitle = f"{part_counts(mechanism)}; {how_many(count, 'mode')}, {modes.rigid_modes} of them rigid"
    write_page(target, page(heading, subtitle, head, pack, sections))
