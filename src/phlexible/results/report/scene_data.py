"""A scene as the viewer reads it: numbers of arrays in place of arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.bodies.skin import Skin
from phlexible.results.report.packing import Packing
from phlexible.results.report.skins import visible_skin
from phlexible.scene.scene import Anchor, DrawnBody, NodeField, Scene
from phlexible.scene.touched import KIND as SURFACE

STRING_RADIUS = 0.003  # of the scene
MOST_POINTS = 40
Tree = dict[str, Any]


def scene_data(scene: Scene, fields: Mapping[int, Sequence[NodeField]], pack: Packing) -> Tree:
    """The head of a report about the scene; ``fields`` by the number of their body."""
    skins: list[Tree] = []
    known: dict[int, int] = {}
    ranges = _ranges(fields)
    bodies = []
    shown = (*scene.bodies, *scene.surfaces)
    turns = _quaternions(np.stack([body.rotations for body in shown], axis=1)) if shown else np.zeros((0, 0, 4))
    for number, body in enumerate(shown):
        entry = _body(body, turns[:, number], pack)
        entry["fields"] = [
            {"name": each.name, "values": pack.shades(each.values, *ranges[each.name][:2])}
            for each in fields.get(number, ())
        ]
        entry["skin"] = None if body.is_nodal else _skin_number(scene, body, skins, known, pack)
        bodies.append(entry)
    low, high = scene.corners
    return {
        "dimension": scene.dimension,
        "up": _up(scene).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "size": scene.size,
        "reach": scene.reach,
        "string_radius": STRING_RADIUS * scene.reach,
        "time": pack.exact(scene.time),
        "bodies": bodies,
        "skins": skins,
        "frames": pack.coarse(scene.frames) if scene.frames.size else None,
        "frame_turns": pack.coarse(_quaternions(scene.frame_turns)) if scene.frames.size else None,
        "paths": pack.exact(scene.paths.astype(np.float32)) if len(scene.paths) > 1 and scene.frames.size else None,
        "frame_count": int(scene.frames.shape[1]),
        "symbols": [
            {
                "kind": symbol.kind.value,
                "label": symbol.label,
                "axis": symbol.axis.tolist(),
                "anchor": _anchor(scene, symbol.anchor, pack),
                "other": None if symbol.other is None else _anchor(scene, symbol.other, pack),
            }
            for symbol in scene.symbols
        ],
        "arrows": [
            {
                "label": arrow.label,
                "is_torque": arrow.is_torque,
                "anchor": _anchor(scene, arrow.anchor, pack),
                "values": pack.coarse(arrow.values),
            }
            for arrow in scene.arrows
        ],
        "greatest_load": [load or 1.0 for load in scene.greatest_load],
        "fields": [
            {"name": name, "low": low, "high": high, "unit": unit, "map": "diverging" if low < 0 else "sequential"}
            for name, (low, high, unit) in ranges.items()
        ],
        "opens_at": 0,
        "opens_with": None,
        "points": _points(scene),
        "can_amplify": any(body.eta.shape[1] and not body.is_nodal for body in scene.bodies),
    }


def _body(body: DrawnBody, turns: Array, pack: Packing) -> Tree:
    common: Tree = {"name": body.name, "whole": body.whole, "kind": body.kind, "color": body.color}
    if body.is_nodal:
        triangles = pack.exact(body.skin.triangles) if body.skin.coordinates is not None else None
        own: Tree = {"places": pack.coarse(body.nodes()), "triangles": triangles}
        return common | own | {"origins": None, "turns": None, "eta": None}
    return common | {
        "places": None,
        "triangles": None,
        "origins": pack.coarse(body.origins),
        "turns": pack.coarse(turns),
        "eta": pack.coarse(body.eta) if body.eta.shape[1] else None,
    }


def _skin_number(scene: Scene, body: DrawnBody, skins: list[Tree], known: dict[int, int], pack: Packing) -> int:
    """Bodies that look the same share a skin: the arrays of equal ones are one in the packing."""
    if id(body.skin) in known:
        return known[id(body.skin)]
    skin = visible_skin(body.skin, scene.reach)
    entry = {
        "table": pack.exact(_table(skin)),
        "nodes": len(skin.positions),
        "n": int(skin.shapes.shape[2]),
        "vertex_nodes": pack.exact(skin.vertex_nodes),
        "offsets": pack.exact(skin.offsets),
        "normals": pack.exact(skin.normals),
        "triangles": pack.exact(skin.triangles),
        "edges": None if skin.lines or skin.balls.size or body.kind == SURFACE else pack.exact(skin.edges()),
    }
    if entry not in skins:
        skins.append(entry)
    known[id(body.skin)] = skins.index(entry)
    return known[id(body.skin)]


def _table(skin: Skin) -> Array:
    """For each node displacement and turn of each coordinate, then its place, shape (N (2 n + 1), 3)."""
    nodes, _, count = skin.shapes.shape
    table = np.zeros((nodes, 2 * count + 1, 3))
    table[:, 0 : 2 * count : 2] = np.moveaxis(skin.shapes, 2, 1)
    table[:, 1 : 2 * count : 2] = np.moveaxis(skin.turns, 2, 1)
    table[:, -1] = skin.positions
    return table.reshape(-1, 3)


def _quaternions(rotations: Array) -> Array:
    """(..., 3, 3) to (..., 4), x y z w, each near the one before in time."""
    found = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat().reshape(*rotations.shape[:-2], 4)
    jumps = np.einsum("t...k,t...k->t...", found[1:], found[:-1]) < 0
    signs = np.cumprod(np.concatenate([np.ones((1, *found.shape[1:-1])), np.where(jumps, -1.0, 1.0)]), axis=0)
    return np.asarray(found * signs[..., None])


def _anchor(scene: Scene, anchor: Anchor, pack: Packing) -> Tree:
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
            away = np.linalg.norm(body.nodes()[0] - scene.places(anchor)[0], axis=1)
            entry["nodes"] = [[int(away.argmin()), 1.0]]
        elif body.eta.shape[1]:
            entry["shapes"] = pack.exact(np.concatenate([anchor.shapes, anchor.turns]).T)
    return entry


def _up(scene: Scene) -> Array:
    """Against gravity, along the nearest axis; without gravity z in space and y in the plane."""
    if scene.dimension == 2:
        return np.array([0.0, 1.0, 0.0])
    if not scene.gravity.any():
        return np.array([0.0, 0.0, 1.0])
    up = np.zeros(3)
    axis = int(np.argmax(np.abs(scene.gravity)))
    up[axis] = -np.sign(scene.gravity[axis])
    return up


def _points(scene: Scene) -> list[Tree]:
    """Ends of bodies whose path can be shown."""
    found = []
    for number, body in enumerate(scene.bodies):
        last = len(body.skin.positions) - 1
        places = [("end", last)] if last else [("", 0)]
        if not body.skin.has_surface or body.skin.lines:
            places = [("start", 0), *places] if last else places
        found += [{"label": f"{body.name} {name}".strip(), "body": number, "node": node} for name, node in places]
    return found[:MOST_POINTS]


def _ranges(fields: Mapping[int, Sequence[NodeField]]) -> dict[str, tuple[float, float, str]]:
    """Least and greatest value of each quantity over all bodies, symmetric about zero where it changes sign."""
    found: dict[str, tuple[float, float, str]] = {}
    for each in (field for own in fields.values() for field in own):
        low, high = float(each.values.min()), float(each.values.max())
        before = found.get(each.name, (low, high, each.unit))
        found[each.name] = (min(low, before[0]), max(high, before[1]), each.unit)
    for name, (low, high, unit) in found.items():
        largest = max(-low, high)
        found[name] = (-largest, largest, unit) if low < -1e-3 * largest else (0.0, largest, unit)
    return found
