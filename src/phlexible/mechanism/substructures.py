"""A beam in parts, one body and one ``Fixed`` joint each ([B], conclusion): their places and names."""

from collections.abc import Collection, Mapping, Sequence

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.errors import ModelError
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_split_beam import PlacedSplitBeam


def part_places(
    split: SplitBeam,
    name: str,
    position: ArrayLike,
    rotation: RotationLike | None,
    dimension: int,
    taken: Collection[str],
) -> list[tuple[str, Array, Array]]:
    """Name, position and rotation of each part, in a row; arguments as ``Mechanism.add``.

    Raises:
        ModelError: a part's name is taken.
        ParameterError: a position or rotation of a wrong shape.
    """
    names = part_names(name, split.count)
    if used := [each for each in names if each in taken]:
        raise ModelError(f"a body named {used[0]!r} is already in the model; give {name!r} another name")
    start, turn = vector("position", position), rotation_matrix(rotation, dimension)
    along = turn[:, 0] * split.part.length
    return [(each, start + number * along, turn) for number, each in enumerate(names)]


def grouped(name: str, parts: Sequence[PlacedBody]) -> PlacedSplitBeam:
    """The handle of bodies that are the parts of one beam, from start to end.

    Raises:
        ModelError: they are not beams of one length.
    """
    beams = tuple(placed.body for placed in parts if isinstance(placed.body, Beam))
    if len(beams) != len(parts) or len({beam.length for beam in beams}) != 1:
        raise ModelError(
            f"the parts of {name!r} must be beams of one length, got {[placed.body for placed in parts]}"
        )
    return PlacedSplitBeam(name, SplitBeam(beams), tuple(parts))


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
            result |= dict(zip(part_names(name, body.count), body.parts, strict=True))
        else:
            expected = "one body" if split is None else f"split({split.body.count})"
            raise ModelError(f"{name!r} was added as {expected} and can only be replaced by such, got {body!r}")
    return result
