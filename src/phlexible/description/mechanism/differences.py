"""Differences in the parts of two mechanisms, for messages about parameters that change more than numbers."""

from collections.abc import Callable, Sequence

from phlexible.description.mechanism.mechanism import Mechanism

PARTS: dict[str, Callable[[Mechanism], Sequence[object]]] = {
    "body": lambda mechanism: mechanism.bodies,
    "joint": lambda mechanism: mechanism.joints,
    "drive": lambda mechanism: mechanism.drives,
    "load": lambda mechanism: mechanism.loads,
    "element": lambda mechanism: mechanism.elements,
    "relation": lambda mechanism: mechanism.relations,
}
"""Parts of a mechanism by the name of their kind."""


def first_difference(usual: Mechanism, other: Mechanism) -> str | None:
    """Return a clause for an error message about the first difference found between two mechanisms, or None
    without difference. Compared are the names of parts, the classes of parts and bodies, and the numbers of
    elastic coordinates of bodies. Values of parameters are not compared."""
    for kind, parts in PARTS.items():
        before, after = _by_name(parts(usual)), _by_name(parts(other))
        for name in [*after.keys() - before.keys(), *before.keys() - after.keys()]:
            return f"the model has {'a' if name in after else 'no'} {kind} {name!r}"
        for name, part in before.items():
            if type(part) is not type(after[name]):
                return f"the {kind} {name!r} is a {type(after[name]).__name__}, not a {type(part).__name__}"
    for body, changed in zip(usual.bodies, other.bodies, strict=True):
        if type(body.body) is not type(changed.body):
            return f"the body {body.name!r} is a {type(changed.body).__name__}, not a {type(body.body).__name__}"
        count, changed_count = body.data.elastic_count, changed.data.elastic_count
        if count != changed_count:
            difference = f"has {changed_count} elastic coordinates (by elements or modes), not {count}"
            return f"the body {body.name!r} {difference}"
    return None


def _by_name(parts: Sequence[object]) -> dict[str, object]:
    return {getattr(part, "name", None) or str(part): part for part in parts}
