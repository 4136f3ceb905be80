"""A beam in parts, one body and one ``Fixed`` joint each ([B], conclusion): their places and names."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod.rod import Rod
from phlexible.errors import ModelError
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_rod import PlacedRod
from phlexible.ports.placed_split_beam import PlacedSplitBeam
from phlexible.ports.placed_whole import PlacedWhole


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
    return PlacedSplitBeam(name, tuple(parts), SplitBeam(beams))


def part_names(name: str, count: int) -> list[str]:
    """Names of the parts of a beam of that name."""
    return [f"{name} part {number}" for number in range(1, count + 1)]


def parts_by_name(new: Mapping[str, Body | SplitBeam | Rod], known: Mapping[str, PlacedWhole]) -> dict[str, Body]:
    """Descriptions by the names of bodies, where those of a split beam or a rod stand for its parts.

    Raises:
        ModelError: another number of parts, another kind of body, or a rod of another length.
    """
    result: dict[str, Body] = {}
    for name, body in new.items():
        whole = known.get(name)
        match whole, body:
            case None, Body():
                result[name] = body
            case PlacedSplitBeam(body=split), SplitBeam() if body.count == split.count:
                result |= {placed.name: part for placed, part in zip(whole.parts, body.parts, strict=True)}
            case PlacedRod(body=rod), Rod() if np.array_equal(rod.node_places, body.node_places):
                result |= {placed.name: node for placed, node in zip(whole.parts, body.nodes(), strict=True)}
            case _:
                raise ModelError(
                    f"{name!r} was added as {_kind(whole)} and can only be replaced by such, got {body!r}"
                )
    return result


def _kind(whole: PlacedWhole | None) -> str:
    match whole:
        case PlacedSplitBeam(body=split):
            return f"split({split.count})"
        case PlacedRod(body=rod):
            return f"a Rod of {rod.length:g} m with {rod.elements} elements of order {rod.order}"
    return "one body"
