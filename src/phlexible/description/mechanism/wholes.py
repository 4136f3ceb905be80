"""Rods and beams in parts: several bodies that a model treats as one."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.absolute_body import Field, initial_nodes
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod, RodNode, derivatives_along, rod_pose
from phlexible.description.ground import planar_point
from phlexible.description.interactions.rod_element import RodElement, rod_elements
from phlexible.description.placed_wholes import PlacedRod, PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError

# A rod in a model: rigid sections, each a body, and the elements between them (docs/theory.md, 8).


class SectionToAdd(NamedTuple):
    """Arguments of ``Mechanism.add`` for one section of a rod."""

    body: RodNode
    name: str
    position: Array
    rotation: Array
    velocity: Array | None
    angular_velocity: Array | None


class RodInModel(NamedTuple):
    """Rod in a model: its handle and its elastic elements."""

    handle: PlacedRod
    elements: tuple[RodElement, ...]

    @property
    def stress_free(self) -> Array:
        """Return the strains at which a rod in a model has no stress, at its quadrature points, shape (elements,
        points, 6). The six are stretch and two shears, then twist and two curvatures."""
        return np.array([element.rest_strains for element in self.elements])


def handle_of(whole: PlacedSplitBeam | RodInModel) -> PlacedWhole:
    """Return the object by which the user refers to ``whole``: for a rod its ``handle``, for a beam in several
    parts ``whole`` itself."""
    return whole.handle if isinstance(whole, RodInModel) else whole


def rod_sections(
    rod: Rod,
    name: str,
    dimension: int,
    taken: Collection[str],
    position: ArrayLike,
    rotation: RotationLike | None,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
    shape: Field | None,
) -> list[SectionToAdd]:
    """Return the arguments of ``Mechanism.add`` for each rigid section of a ``rod``, from start to end. They are
    computed from the arguments with which the user adds the rod: name, pose, velocities and shape. ModelError is
    raised if the name of a section is in ``taken``. ``dimension`` is the number of space dimensions of the model
    (1, 2 or 3).

    With a velocity alone only the first section has one, and the others follow like those of a rigid body, which
    does not rotate unless a joint makes it; a velocity field determines the velocity and spin of all sections.

    Raises:
        ModelError: a section's name is taken.
        ParameterError: a shape that the rod cannot have, or numbers of a wrong shape.
    """
    names = part_names(name, "node", len(rod.node_positions), taken)
    origin = planar_point("position", vector("position", position), dimension)
    pose = rod_pose(rod, name, dimension, shape, origin, rotation_matrix(rotation, dimension))
    speeds, spins = _section_velocities(rod, dimension, pose.positions, origin, velocity, angular_velocity)
    arguments = zip(rod.nodes(), names, pose.positions, pose.rotations, speeds, spins, strict=True)
    return [SectionToAdd(*section) for section in arguments]


def assemble_rod(name: str, rod: Rod, nodes: Sequence[PlacedBody], stress_free: Array | None) -> RodInModel:
    """Return the object that stands for a rod in a model: its rigid sections ``nodes``, already placed, and new
    elastic elements between them. ``stress_free`` are the strains without stress; if None, they follow from the
    description ``rod`` and are computed now and stored. ModelError is raised if ``nodes`` are not as many sections
    as ``rod`` has.

    Raises:
        ModelError: they are not the sections of this rod.
    """
    expected = rod.nodes()
    if len(expected) != len(nodes) or not all(isinstance(node.body, RodNode) for node in nodes):
        raise ModelError(f"the rod {name!r} has {len(expected)} sections, got {[node.body for node in nodes]}")
    elements = rod_elements(rod, nodes, stress_free)
    if stress_free is None:
        elements = tuple(element.with_stored_strains() for element in elements)
    return RodInModel(PlacedRod(name, tuple(nodes), rod), elements)


def part_names(name: str, kind: str, count: int, taken: Collection[str]) -> list[str]:
    """Return the names of the ``count`` parts of a rod or split beam, such as "name node 1", "name node 2" with
    the ``kind`` "node". ModelError is raised if one of the names is in ``taken``.

    Raises:
        ModelError: one of them is among the names ``taken`` in the model.
    """
    names = [f"{name} {kind} {number}" for number in range(1, count + 1)]
    if used := [part for part in names if part in taken]:
        raise ModelError(f"a body named {used[0]!r} is already in the model; give {name!r} another name")
    return names


def _section_velocities(
    rod: Rod,
    dimension: int,
    positions: Array,
    origin: Array,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
) -> tuple[list[Array | None], list[Array | None]]:
    """Return the initial velocities [m/s] and angular velocities [rad/s] of the rigid sections of a ``rod``, two
    lists of arrays (3,). ``velocity`` is that of the origin, or a field along the rod, whose spins follow from its
    derivative; ``angular_velocity`` is about ``origin``. An entry is None where it shall follow from the joints.
    ``positions`` are the sections' positions [m]."""
    count = len(positions)
    spin = None if angular_velocity is None else vector("angular_velocity", angular_velocity)
    if velocity is None:
        return [None] * count, [spin] * count if spin is not None else [None] * count
    if not callable(velocity) and np.ndim(velocity) < 2:
        speed = vector("velocity", velocity)
        if spin is None:
            return [speed, *[None] * (count - 1)], [None] * count
        return [speed + np.cross(spin, position - origin) for position in positions], [spin] * count
    points = rod.node_positions
    speeds = initial_nodes(points, dimension, None, velocity, np.zeros(3), np.eye(3)).velocities
    assert speeds is not None
    if spin is not None:
        return list(speeds), [spin] * count
    tangents, rates = derivatives_along(points, positions), derivatives_along(points, speeds)
    spins = np.cross(tangents, rates) / (tangents**2).sum(axis=1)[:, None]
    return list(speeds), list(spins)


# A beam in parts, one body and one ``Fixed`` joint each ([B], conclusion): their poses and names.


def part_poses(
    split: SplitBeam,
    name: str,
    position: ArrayLike,
    rotation: RotationLike | None,
    dimension: int,
    taken: Collection[str],
) -> list[tuple[str, Array, Array]]:
    """Return name, initial position and rotation matrix of each part of a split beam, computed from the arguments
    with which the user added the beam. ModelError is raised if the name of a part is in ``taken``. ``dimension``
    is the number of space dimensions of the model (1, 2 or 3).

    Raises:
        ModelError: a part's name is taken.
        ParameterError: a position or rotation of a wrong shape.
    """
    names = part_names(name, "part", split.count, taken)
    start, axes = vector("position", position), rotation_matrix(rotation, dimension)
    along = axes[:, 0] * split.part.length
    return [(part, start + number * along, axes) for number, part in enumerate(names)]


def assemble_split_beam(name: str, parts: Sequence[PlacedBody]) -> PlacedSplitBeam:
    """Return the object that stands for the beam ``name`` in several parts, which are the placed bodies ``parts``
    from start to end. ModelError is raised unless all are beams of one length; whether they are connected is not
    checked.

    Raises:
        ModelError: they are not beams of one length.
    """
    beams = tuple(placed.body for placed in parts if isinstance(placed.body, Beam))
    if len(beams) != len(parts) or len({beam.length for beam in beams}) != 1:
        raise ModelError(
            f"the parts of {name!r} must be beams of one length, got {[placed.body for placed in parts]}"
        )
    return PlacedSplitBeam(name, tuple(parts), SplitBeam(beams))


def parts_by_name(new: Mapping[str, Body | SplitBeam | Rod], known: Mapping[str, PlacedWhole]) -> dict[str, Body]:
    """Return a dictionary from names of single bodies to new body descriptions. A new description of a rod, or of
    a beam of several parts, in ``known`` is divided into descriptions of its parts. Raise ``ModelError`` if it is
    of another kind, has another number of parts, or other node positions (rod).

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
            case PlacedRod(body=rod), Rod() if np.array_equal(rod.node_positions, body.node_positions):
                result |= {placed.name: node for placed, node in zip(whole.parts, body.nodes(), strict=True)}
            case _:
                raise ModelError(
                    f"{name!r} was added as {_kind(whole)} and can only be replaced by the same kind, got {body!r};"
                    " build the model anew with it"
                )
    return result


def _kind(whole: PlacedWhole | None) -> str:
    match whole:
        case PlacedSplitBeam(body=split):
            return f"split({split.count})"
        case PlacedRod(body=rod):
            return f"a Rod of {rod.length:g} m with {rod.elements} elements of order {rod.order}"
    return "one body"
