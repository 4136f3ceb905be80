"""Adding a beam in parts: one body and one ``Fixed`` joint a part ([B], conclusion)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.errors import ModelError
from phlexible.joints.fixed import Fixed
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_split_beam import PlacedSplitBeam

if TYPE_CHECKING:
    from phlexible.mechanism.mechanism import Mechanism


def add_parts(
    mechanism: "Mechanism",
    split: SplitBeam,
    name: str,
    position: ArrayLike,
    rotation: RotationLike | None,
    velocity: ArrayLike | None,
    angular_velocity: ArrayLike | None,
) -> list[PlacedBody]:
    """Places the parts in a row and fixes each to the one before; arguments as ``Mechanism.add``.

    Velocities are given to the first part; those of the others follow from the joints.

    Raises:
        ModelError: a part's name is taken.
    """
    names = part_names(name, split.count)
    if taken := [each for each in names if any(placed.name == each for placed in mechanism.bodies)]:
        raise ModelError(f"a body named {taken[0]!r} is already in the model; give {name!r} another name")
    start = vector("position", position)
    along = rotation_matrix(rotation, mechanism.dimension)[:, 0] * split.part.length
    first = mechanism.add(split.part, names[0], start, rotation, velocity, angular_velocity)
    parts = [first]
    for number, each in enumerate(names[1:], start=1):
        placed = mechanism.add(split.part, each, start + number * along, first.rotation)
        mechanism.connect(Fixed(parts[-1].cut(at_end=True), placed.cut(at_end=False)))
        parts.append(placed)
    return parts


def grouped(name: str, parts: Sequence[PlacedBody]) -> PlacedSplitBeam:
    """The handle of bodies that are the parts of one beam, from start to end.

    Raises:
        ModelError: they are not equal beams.
    """
    part = parts[0].body
    if not isinstance(part, Beam) or any(placed.body != part for placed in parts):
        raise ModelError(f"the parts of {name!r} must be equal beams, got {[placed.body for placed in parts]}")
    return PlacedSplitBeam(name, SplitBeam(part, len(parts)), tuple(parts))


def part_names(name: str, count: int) -> list[str]:
    """Names of the parts of a beam of that name."""
    return [f"{name} part {number}" for number in range(1, count + 1)]


def parts_by_name(new: Mapping[str, Body | SplitBeam], known: Mapping[str, PlacedSplitBeam]) -> dict[str, Body]:
    """Descriptions by the names of bodies, where those of a split beam stand for its parts.

    Raises:
        ModelError: another number of parts, or a split beam for a single body.
    """
    result: dict[str, Body] = {}
    for name, body in new.items():
        split = known.get(name)
        if split is None and isinstance(body, Body):
            result[name] = body
        elif split is not None and isinstance(body, SplitBeam) and body.count == split.body.count:
            result |= dict.fromkeys(part_names(name, body.count), body.part)
        else:
            expected = "one body" if split is None else f"split({split.body.count})"
            raise ModelError(f"{name!r} was added as {expected} and can only be replaced by such, got {body!r}")
    return result
