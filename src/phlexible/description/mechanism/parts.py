"""Parts of a mechanism by kind and by name: bodies, joints, loads and others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, line_plane_or_space, text, vector
from phlexible.description.ground import Ground, planar_point
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.mechanism.events import Constraint, Event, Switch
from phlexible.description.mechanism.wholes import RodInModel, handle_of
from phlexible.description.placed_wholes import PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import PlacedBody
from phlexible.display import how_many, shortened
from phlexible.errors import ModelError, UnitWarning, warn_user

# Parts by their names.

Named = Joint | JointRelation | Load | ForceElement | Drive
NAMED = (Joint, JointRelation, Load, ForceElement, Drive)
MOST_NAMED = 6

PartType = TypeVar("PartType")


def is_named_part(value: object) -> bool:
    """Return whether a value is a joint, a relation between joints, a load, a force element or a drive, which have
    names in a model."""
    return isinstance(value, NAMED)


def find_by_name(kind: str, name: str, parts: Sequence[PartType]) -> PartType:
    """Return the single part in ``parts`` whose name (``str`` of the part) is ``name``. ModelError is raised if
    there is none, with the known names, or more than one. ``kind``, such as "joint", is used in messages;
    ParameterError is raised if ``name`` is no text.

    Raises:
        ModelError: there is none, or there are several; lists the names.
    """
    matches = [part for part in parts if str(part) == text(f"name of a {kind}", name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ModelError(f"{len(matches)} parts are named {name!r}; give them different names with name=")
    known = shortened([str(part) for part in parts], MOST_NAMED) if parts else f"no {kind} yet"
    raise ModelError(f"no {kind} is named {name!r}; the model has: {known}")


# Read-only access to a mechanism.


class MechanismParts:
    """Read access to the parts of a mechanism: bodies, joints between them and loads on them. Arguments are those
    of ``Mechanism``.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        self._dimension = dimension = line_plane_or_space(dimension)
        self._gravity = planar_point("gravity", vector("gravity", gravity), dimension)
        if 9.7e3 < (size := float(np.linalg.norm(self._gravity))) < 9.9e3:
            warn_user(f"gravity = {size:g} m/s2: is it in mm/s2? That of the Earth is 9.81 m/s2", UnitWarning)
        self.ground = Ground(dimension)
        self._bodies: dict[str, PlacedBody] = {}
        self._latest: dict[int, PlacedBody] = {}  # handle of each description, by its identity
        self._wholes: dict[str, PlacedSplitBeam | RodInModel] = {}
        self._ordered: tuple[PlacedBody, ...] | None = ()
        self._kinds: Counter[type] = Counter()
        self._applied: dict[str, Load | ForceElement | Drive] = {}
        self._joints: dict[int, Joint] = {}
        self._loads: list[Load] = []
        self._elements: list[ForceElement] = []
        self._drives: list[Drive] = []
        self._relations: list[JointRelation] = []
        self._events: list[Event] = []
        self._switches: tuple[Switch, ...] = ()
        self._compounds: list[tuple[object, tuple[Named, ...]]] = []  # parts that consist of others, with these

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a mechanism from a pickle (``state``), with its joints and bodies indexed by the identities
        of the new objects."""
        self.__dict__.update(state)
        self._joints = {id(joint): joint for joint in self._joints.values()}
        self._latest = {id(placed.body): placed for placed in self._latest.values()}

    @property
    def dimension(self) -> int:
        """Return the dimension of the model: 1 along x, 2 in the xy plane, 3 in space."""
        return self._dimension

    @property
    def gravity(self) -> Array:
        """Return the acceleration of gravity in world axes, shape (3,) [m/s^2]."""
        return self._gravity

    @property
    def bodies(self) -> tuple[PlacedBody, ...]:
        """Return the bodies of the model as placed in it: those with a moving frame first, then those with nodal
        unknowns. Each kind is in the order of addition. The tuple is cached until a body is added."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self._bodies.values(), key=lambda placed: placed.nodes is not None))
        return self._ordered

    @property
    def split_beams(self) -> tuple[PlacedSplitBeam, ...]:
        """Return the objects by which the user refers to the beams that were added in several parts, as a tuple.
        The parts themselves are in ``bodies``."""
        return tuple(whole for whole in self._wholes.values() if isinstance(whole, PlacedSplitBeam))

    @property
    def rods(self) -> tuple[RodInModel, ...]:
        """Return the rods of the model as a tuple, each with the object by which the user refers to it and its
        elastic elements. The rigid sections of the rods are in ``bodies``."""
        return tuple(whole for whole in self._wholes.values() if isinstance(whole, RodInModel))

    @property
    def wholes(self) -> Mapping[str, PlacedWhole]:
        """Return the objects by which the user refers to the model's rods and to its beams in several parts, as a
        dictionary by name."""
        return {name: handle_of(whole) for name, whole in self._wholes.items()}

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Return all joints of the model as a tuple, in the order in which they were connected."""
        return tuple(self._joints.values())

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return all loads of the model as a tuple, in the order in which they were applied."""
        return tuple(self._loads)

    @property
    def elements(self) -> tuple[ForceElement, ...]:
        """Return the force elements of the model (springs, dampers, motors, contacts) in the order in which they
        were applied. The elastic elements of its rods follow."""
        return (*self._elements, *(element for rod in self.rods for element in rod.elements))

    @property
    def applied_elements(self) -> tuple[ForceElement, ...]:
        """Return the force elements (springs, dampers, motors, contacts) that were applied to the model, without
        the elastic elements of rods."""
        return tuple(self._elements)

    @property
    def drives(self) -> tuple[Drive, ...]:
        """Return all drives of the model as a tuple, in the order in which they were applied."""
        return tuple(self._drives)

    @property
    def relations(self) -> tuple[JointRelation, ...]:
        """Return all relations between joint coordinates, such as gears, as a tuple in the order in which they
        were connected."""
        return tuple(self._relations)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Return all constraints of the model as a tuple: the joints, then the drives, then the relations
        (gears)."""
        return (*self._joints.values(), *self._drives, *self._relations)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events (locks and releases of joints) that ``Model.at`` scheduled for runs of the model, in
        the order of the calls."""
        return tuple(self._events)

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Return the constraints of the model that events lock or release in a run, each with whether it is active
        at the start. The tuple is empty except in the copy that ``with_locks`` returns."""
        return self._switches

    def __getitem__(self, name: str) -> PlacedBody | PlacedWhole:
        """Return the placed body with this name, or the object that stands for a whole rod or for a beam that was
        added in parts. ModelError with the known names is raised if there is none.

        Raises:
            ModelError: there is none; the message lists the names.
        """
        wholes = self.wholes
        if isinstance(name, str) and name in wholes:
            return wholes[name]
        if isinstance(name, str) and name in self._bodies:
            return self._bodies[name]
        known = ", ".join([*wholes, *self._bodies]) or "no body yet"
        raise ModelError(f"no body is named {name!r}; the model has: {known}")

    def __iter__(self) -> None:  # or Python would call [0], [1], ...
        raise TypeError("a model is not a sequence; its bodies are model.bodies")

    def joint(self, name: str) -> Joint:
        """Return the joint with this name, as given in ``Revolute(..., name="elbow")``. ModelError is raised if no
        joint or several joints have the name.

        Raises:
            ModelError: there is none; lists the names.
        """
        return find_by_name("joint", name, self.joints)

    def part(self, name: str) -> Named:
        """Return the joint, relation, load, force element or drive with this name, which the user set or which is
        automatic ("force on beam.end"). ModelError is raised if no part or several parts have the name.

        Raises:
            ModelError: there is none, or there are several; lists the names.
        """
        return find_by_name("part", name, named_parts(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dimension={self._dimension}, {part_counts(self)})"

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of bodies that notebooks suggest as completions after ``model["``."""
        return [*self._wholes, *self._bodies]


def named_parts(mechanism: MechanismParts) -> tuple[Named, ...]:
    """Return all parts of a mechanism that have names besides bodies: joints, relations, loads, force elements and
    drives."""
    kinds = (mechanism.joints, mechanism.relations, mechanism.loads, mechanism.applied_elements, mechanism.drives)
    return tuple(part for parts in kinds for part in parts)


def part_counts(mechanism: MechanismParts) -> str:
    """Return the numbers of parts of a mechanism as text, such as "3 bodies, 4 joints, 1 load". Bodies, joints,
    loads, force elements, drives, relations and events are counted; a rod counts as one body. Kinds without parts
    are left out; an empty mechanism gives "no bodies"."""
    nodes = sum(len(rod.handle.parts) - 1 for rod in mechanism.rods)
    counts = (
        (len(mechanism.bodies) - nodes, "body", "bodies"),
        (len(mechanism.joints), "joint"),
        (len(mechanism.loads), "load"),
        (len(mechanism.applied_elements), "force element"),
        (len(mechanism.drives), "drive"),
        (len(mechanism.relations), "relation"),
        (len(mechanism.events), "event"),
    )
    return ", ".join(how_many(*count) for count in counts if count[0]) or "no bodies"
