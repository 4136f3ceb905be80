"""Names of bodies and loads, given or made, and how messages call what a user handed in."""

import re
from collections.abc import Container

from phlexible.algebra.options import text
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod.rod import Rod
from phlexible.display.written import numbered
from phlexible.errors import ModelError
from phlexible.interactions.loads import Load
from phlexible.joints.joint import Joint
from phlexible.mechanism.relocation import Held
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_whole import PlacedWhole


def free_name(body: Body | SplitBeam | Rod, name: str | None, taken: Container[str], alike: int) -> str:
    """The name for a new body; None: "beam 1", "beam 2", ... after those that are ``alike``.

    Raises:
        ParameterError: no text.
        ModelError: a name that is taken.
    """
    if name is None:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(body).__name__).lower()
        return numbered(kind, taken, start=alike + 1)
    if text("name of a body", name) in taken:
        raise ModelError(f"a body named {name!r} is already in the model; give another name")
    return name


def described(value: object) -> str:
    """What a message calls a value."""
    if isinstance(value, PlacedBody | PlacedWhole):
        return value.name
    if isinstance(value, Attachment | Joint | Load):
        return f"{type(value).__name__} {value}"
    return repr(value)


def counted(mechanism: Held) -> str:
    """ "3 bodies, 4 joints, 1 load", without what there is none of; a rod is one body."""
    nodes = sum(len(rod.handle.parts) - 1 for rod in mechanism.rods)
    counts = (
        (len(mechanism.bodies) - nodes, "body", "bodies"),
        (len(mechanism.joints), "joint", "joints"),
        (len(mechanism.loads), "load", "loads"),
        (len(mechanism.applied_elements), "force element", "force elements"),
        (len(mechanism.drives), "drive", "drives"),
        (len(mechanism.relations), "relation", "relations"),
        (len(mechanism.events), "event", "events"),
    )
    found = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return ", ".join(found) or "no bodies"
