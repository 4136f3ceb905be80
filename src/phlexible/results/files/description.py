"""Description of a mechanism as JSON, its inverse, and differences between two descriptions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.body import fingerprint
from phlexible.description.ground import fixed_point
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load
from phlexible.description.mechanism.events import Event, Switch, UnstoredCondition
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import Part, ports_of
from phlexible.description.ports import MovingFrame
from phlexible.errors import ResultFileError
from phlexible.results.files.encoding import (
    Context,
    Tree,
    UnstoredFunction,
    array_from_json,
    decode,
    encode_part,
    is_array_json,
)

LOOKS = frozenset({"color", "diameter", "shape", "solver"})
"""Fields of bodies that no number of a motion depends on."""

TOLERANCE = 1e-9
"""Numbers that agree to this are the same: discretizations differ by round-off between machines."""


def describe_mechanism(mechanism: Mechanism) -> dict[str, Tree]:
    """Return a description of a mechanism as JSON-compatible dictionaries: bodies, joints, loads, events and
    everything else that is needed to compute sensor values from recorded states. Functions of time are replaced by
    their values at t = 0.

    Raises:
        ResultFileError: a part of a class that files may not name.
    """
    frames = _frames(mechanism)
    applied = [*mechanism.loads, *mechanism.applied_elements, *mechanism.drives]
    context = Context({}, frames, list(mechanism.joints), applied=applied)
    bodies = [
        {
            "name": placed.name,
            "body": encode_part(placed.resolved, context),
            "position": (placed.position * (placed.nodes is None)).tolist(),
            "rotation": (placed.rotation if placed.nodes is None else np.eye(3)).tolist(),
            "velocity": _entries(placed.velocity if placed.nodes is None else placed.nodes.velocities),
            "angular_velocity": _entries(placed.angular_velocity),
            "fingerprint": fingerprint(placed.data).tolist(),
            "curve": None if placed.nodes is None else placed.nodes.positions.tolist(),
        }
        for placed in mechanism.bodies
    ]
    split = {each.name: [placed.name for placed in each.parts] for each in mechanism.split_beams}
    relations = [encode_part(relation, context) for relation in mechanism.relations]
    events = [_described_event(event, mechanism) for event in mechanism.events if mechanism.switches]
    rods = {
        rod.handle.name: {
            "rod": encode_part(rod.handle.body, context),
            "sections": [placed.name for placed in rod.handle.parts],
            "stress_free": rod.stress_free.tolist(),
        }
        for rod in mechanism.rods
    }
    return {
        "split_beams": split,
        "rods": rods,
        "dimension": mechanism.dimension,
        "gravity": mechanism.gravity.tolist(),
        "bodies": bodies,
        "frames": [_described_frame(frame) for frame in frames],
        "joints": [encode_part(joint, context) for joint in mechanism.joints],
        "relations": relations,
        "events": events,
        "loads": [encode_part(part, context) for part in applied],
    }


def rebuild_mechanism(tree: dict[str, Tree]) -> Mechanism:
    """Return a new mechanism made from the JSON description ``tree`` that ``describe_mechanism`` returned.
    Functions of time in it can be evaluated at t = 0 only. ResultFileError is raised for a description that cannot
    be read.

    Raises:
        ResultFileError: a description that cannot be read, or a body that this version
            discretizes otherwise, so that the stored elastic coordinates would mean something else.
    """
    try:
        return _rebuilt(tree)
    except ResultFileError:
        raise
    except Exception as error:  # of bodies that refuse their numbers, too little memory, anything that is no tree
        raise ResultFileError(f"the description in the file cannot be read: {error!r}") from error


def compare_trees(file: Tree, model: Tree, path: str = "") -> list[str]:
    """Return the differences between two JSON descriptions of mechanisms (``file`` and ``model``) as lines of
    text, such as "bodies/coupler/length: ...". Numbers may differ by a relative tolerance; colours and the like
    are not compared. ``path`` is the path of keys to both values; the list is empty for equal descriptions."""
    if is_array_json(file) and is_array_json(model):
        here, there = array_from_json(file), array_from_json(model)
        return [] if here.shape == there.shape and _close(here, there) else [f"{path[1:]}: the arrays differ"]
    if isinstance(file, dict) and isinstance(model, dict) and file.keys() == model.keys():
        keys = [key for key in file if key not in LOOKS]
        return [line for key in keys for line in compare_trees(file[key], model[key], f"{path}/{key}")]
    if isinstance(file, list) and isinstance(model, list):
        return _list_differences(file, model, path)
    if _is_number(file) and _is_number(model):
        return [] if np.isclose(file, model, rtol=TOLERANCE, atol=0) else [_line(path, file, model)]
    return [] if file == model else [_line(path, file, model)]


def _rebuilt(tree: dict[str, Tree]) -> Mechanism:
    mechanism = Mechanism(gravity=tree["gravity"], dimension=tree["dimension"])
    frames = [_rebuilt_frame(frame) for frame in tree["frames"]]
    empty = Context({}, frames, [])
    for entry in tree["bodies"]:
        _refuse_unlisted_parts(entry)
        placed = mechanism.add(
            decode(entry["body"], empty),
            entry["name"],
            entry["position"],
            np.array(entry["rotation"]),
            entry["velocity"],
            entry["angular_velocity"],
            entry["curve"],
            large=True,
        )
        stored, here = np.array(entry["fingerprint"]), fingerprint(placed.data)
        if stored.shape != here.shape or not _close(stored, here):
            raise ResultFileError(
                f"this version of phlexible discretizes {placed.name!r} otherwise than the one that wrote "
                "the file, so its elastic coordinates cannot be read; use the version named in the file"
            )
    for name, parts in tree["split_beams"].items():
        mechanism.group(name, parts)
    for name, entry in tree["rods"].items():
        mechanism.group_rod(name, decode(entry["rod"], empty), entry["sections"], entry["stress_free"])
    context = Context({placed.name: placed for placed in mechanism.bodies}, frames, [], mechanism.wholes)
    for entry in tree["joints"]:
        context.joints.append(mechanism.connect(decode(entry, context)))
    for entry in tree["relations"]:
        mechanism.connect(decode(entry, context))
    for entry in tree["loads"]:
        part = decode(entry, context)
        if not isinstance(part, Load | ForceElement | Drive):
            raise ResultFileError(f"the description in the file has {part!r} as a load")
        context.applied.append(mechanism.apply(part))
    found = [_rebuilt_event(each, mechanism) for each in tree["events"]]
    switches = {id(each.constraint): each for _, own in found for each in own}
    return mechanism.set_events([event for event, _ in found], tuple(switches.values()))


def _refuse_unlisted_parts(entry: dict[str, Tree]) -> None:
    """Raise ``ResultFileError`` if an integer field of a body exceeds the number of values that a results file
    lists for it. Such integers are numbers of elements or modes; ``entry`` is the file's description of the body.
    A damaged file of a few bytes could otherwise make the program allocate any amount of memory. Classes of users
    are not checked."""
    listed = sum(1 for _ in _leaves(entry))
    for name, value in entry["body"]["fields"].items():
        if ":" not in entry["body"]["class"] and isinstance(value, int) and value > listed:
            raise ResultFileError(
                f"the description in the file gives {entry['name']!r} {name} = {value}, but holds {listed} numbers "
                "of it: it is damaged"
            )


def _leaves(tree: Tree) -> Iterator[Tree]:
    """Yield all numbers and texts in a ``tree`` of nested dictionaries and lists of JSON."""
    if isinstance(tree, dict | list):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(each)
    else:
        yield tree


def _described_event(event: Event, mechanism: Mechanism) -> dict[str, Tree]:
    """Return an event of the mechanism (its condition and the constraints that it locks or releases) as a JSON
    dictionary. The keys are "when" (time or condition as text), "text", "held" and "released". The last two are
    lists of pairs: index of the constraint in the mechanism, and whether it is active at the start."""
    number = {id(constraint): k for k, constraint in enumerate(mechanism.constraints)}
    is_held = {id(switch.constraint): switch.is_active for switch in mechanism.switches}
    parts = {"held": event.locked, "released": event.released}
    return {
        "when": event.when if isinstance(event.when, float) else str(event.when),
        "text": event.text,
        **{name: [[number[id(each)], is_held[id(each)]] for each in own] for name, own in parts.items()},
    }


def _rebuilt_event(tree: dict[str, Any], mechanism: Mechanism) -> tuple[Event, list[Switch]]:
    known = mechanism.constraints
    held, released = (tuple(known[k] for k, _ in tree[name]) for name in ("held", "released"))
    when = tree["when"] if isinstance(tree["when"], float) else UnstoredCondition(tree["when"])
    switches = [Switch(known[k], bool(was)) for name in ("held", "released") for k, was in tree[name]]
    return Event(when, held, released, str(tree["text"])), switches


def _frames(mechanism: Mechanism) -> list[MovingFrame]:
    parts: list[Part] = [*mechanism.joints, *mechanism.loads, *mechanism.elements, *mechanism.relations]
    ports = [port for part in parts for port in ports_of(part) if isinstance(port, MovingFrame)]
    return list({id(port): port for port in ports}.values())


def _described_frame(frame: MovingFrame) -> dict[str, Tree]:
    return {
        "label": frame.label,
        "is_fixed": frame.is_fixed,
        "turns": frame.rotation is not None,
        "position": frame.initial_position().tolist(),
    }


def _rebuilt_frame(tree: dict[str, Any]) -> MovingFrame:
    position = np.array(tree["position"], dtype=np.float64)
    if tree["is_fixed"]:
        return fixed_point(position, tree["label"])
    rotation = UnstoredFunction(np.eye(3)) if tree["turns"] else None
    return MovingFrame(UnstoredFunction(position), rotation, label=tree["label"])


def _list_differences(file: list[Tree], model: list[Tree], path: str) -> list[str]:
    if len(file) != len(model):
        return [f"{path[1:]}: {len(file)} entries in the file, {len(model)} in the model"]
    if all(map(_is_number, [*file, *model])):
        return [] if _close(np.array(file), np.array(model)) else [_line(path, file, model)]
    lines = []
    for k, (a, b) in enumerate(zip(file, model, strict=True)):
        name = a["name"] if isinstance(a, dict) and "name" in a else str(k + 1)
        lines += compare_trees(a, b, f"{path}/{name}")
    return lines


def _line(path: str, file: Tree, model: Tree) -> str:
    if path.endswith("/fingerprint"):
        return f"{path[1:]}: the discretizations differ"
    return f"{path[1:]}: {file!r} in the file, {model!r} in the model"


def _close(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=TOLERANCE * np.abs(b).max(initial=0.0)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _entries(value: Array | None) -> Tree:
    return None if value is None else value.tolist()
