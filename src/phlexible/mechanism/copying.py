"""Copies of a mechanism with other bodies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from numpy.typing import ArrayLike

from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.mechanism.relocation import relocated
from phlexible.mechanism.substructures import parts_by_name

if TYPE_CHECKING:
    from phlexible.mechanism.mechanism import Mechanism

Copied = TypeVar("Copied", bound="Mechanism")


def replaced(mechanism: Copied, gravity: ArrayLike, given: Mapping[str, Body | SplitBeam]) -> Copied:
    """A copy with another gravity and other bodies, by the names of those that they stand for.

    Raises:
        ModelError: an unknown name, or whatever the copy's ``add``, ``connect`` or ``apply`` refuse.
        AttachmentError: a new body without the place where a joint or load acts.
    """
    for name in given:
        mechanism[name]
    new = parts_by_name(given, {split.name: split for split in mechanism.split_beams})
    copy = type(mechanism)(gravity=gravity, dimension=mechanism.dimension)
    copy.ground = mechanism.ground
    for placed in mechanism.bodies:
        nodes = placed.nodes
        copy.add(
            new.get(placed.name, placed.body),
            placed.name,
            placed.position,
            placed.rotation,
            placed.velocity if nodes is None else nodes.speed,
            placed.angular_velocity,
            None if nodes is None else nodes.shape,
        )
    bodies = {placed.name: placed for placed in copy.bodies}
    parts: dict[object, object] = {}
    for split in mechanism.split_beams:
        parts[split] = copy.group(split.name, [placed.name for placed in split.parts])
    for joint in mechanism.joints:
        parts[joint] = copy.connect(relocated(joint, bodies, parts))
    for load in mechanism.loads:
        copy.apply(relocated(load, bodies, parts))
    for element in mechanism.elements:
        copy.apply(relocated(element, bodies, parts))
    for drive in mechanism.drives:
        copy.apply(relocated(drive, bodies, parts))
    return copy
