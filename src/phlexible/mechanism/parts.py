"""What a mechanism consists of: bodies, joints, loads and the rest, by their kinds and by their names."""

from collections import Counter
from collections.abc import Mapping

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.options import line_plane_or_space
from phlexible.errors import ModelError
from phlexible.interactions.drives import Drive
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load
from phlexible.joints.joint import Joint
from phlexible.joints.relations import JointRelation
from phlexible.mechanism.changes import Named, named_parts, one_of
from phlexible.mechanism.events import Constraint, Event, Switch
from phlexible.mechanism.naming import counted
from phlexible.mechanism.rods import RodInModel
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.ground import Ground, planar_point
from phlexible.ports.placed_split_beam import PlacedSplitBeam
from phlexible.ports.placed_whole import PlacedWhole


class Parts:
    """Bodies, the joints between them and the loads on them, to be read; arguments as of ``Mechanism``."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        self._dimension = dimension = line_plane_or_space(dimension)
        self._gravity = planar_point("gravity", vector("gravity", gravity), dimension)
        self.ground = Ground(dimension)
        self._bodies: dict[str, PlacedBody] = {}
        self._latest: dict[int, PlacedBody] = {}  # handle of each description, by its identity
        self._split_beams: dict[str, PlacedSplitBeam] = {}
        self._rods: dict[str, RodInModel] = {}
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
        self._given: list[tuple[object, tuple[Named, ...]]] = []  # what was taken apart, and its parts

    def __setstate__(self, state: dict[str, object]) -> None:
        """From a pickle: joints are known by what they are now."""
        self.__dict__.update(state)
        self._joints = {id(joint): joint for joint in self._joints.values()}
        self._latest = {id(placed.body): placed for placed in self._latest.values()}

    @property
    def dimension(self) -> int:
        """2 in the xy plane, 3 in space."""
        return self._dimension

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity, shape (3,) [m/s^2]."""
        return self._gravity

    @property
    def bodies(self) -> tuple[PlacedBody, ...]:
        """The placed bodies: those with a frame, then strings, each in the order they were added."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self._bodies.values(), key=lambda placed: placed.nodes is not None))
        return self._ordered

    @property
    def split_beams(self) -> tuple[PlacedSplitBeam, ...]:
        """Handles of beams that were added in parts; the parts are among the bodies."""
        return tuple(self._split_beams.values())

    @property
    def rods(self) -> tuple[RodInModel, ...]:
        """Handles and elements of the rods; their sections are among the bodies."""
        return tuple(self._rods.values())

    @property
    def wholes(self) -> Mapping[str, PlacedWhole]:
        """Handles of beams in parts and of rods by their names."""
        return {**self._split_beams, **{name: rod.handle for name, rod in self._rods.items()}}

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order they were connected."""
        return tuple(self._joints.values())

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads, in the order they were applied."""
        return tuple(self._loads)

    @property
    def elements(self) -> tuple[ForceElement, ...]:
        """Springs, dampers, motors and forces in joints, in the order they were applied, then those of rods."""
        return (*self._elements, *(each for rod in self._rods.values() for each in rod.elements))

    @property
    def applied_elements(self) -> tuple[ForceElement, ...]:
        """Those that were applied."""
        return tuple(self._elements)

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The drives, in the order they were applied."""
        return tuple(self._drives)

    @property
    def relations(self) -> tuple[JointRelation, ...]:
        """Gears and other relations, in the order they were connected."""
        return tuple(self._relations)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Whatever has functions that vanish: the joints, then the drives, then the relations."""
        return (*self._joints.values(), *self._drives, *self._relations)

    @property
    def events(self) -> tuple[Event, ...]:
        """What happens in a run, in the order of ``at``."""
        return tuple(self._events)

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Constraints that events hold or release, of a mechanism ``with_locks``."""
        return self._switches

    def __getitem__(self, name: str) -> PlacedBody | PlacedWhole:
        """The body with a name, or the handle of a rod or of a beam that was added in parts.

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

    def joint(self, name: str) -> Joint:
        """The joint of a name, ``Revolute(..., name="elbow")``.

        Raises:
            ModelError: there is none; lists the names.
        """
        return one_of("joint", name, self.joints)

    def part(self, name: str) -> Named:
        """The joint, relation, load, force element or drive of a name, given or made ("force on beam.end").

        Raises:
            ModelError: there is none, or there are several; lists the names.
        """
        return one_of("part", name, named_parts(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dimension={self._dimension}, {counted(self)})"

    def _ipython_key_completions_(self) -> list[str]:
        """Names that notebooks offer after ``model["``."""
        return [*self._split_beams, *self._bodies]
