"""Ports: where joints and loads act on a placed body, on the ground or on a moving frame."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, text, vector, whole
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.initial_nodes import InitialNodes
from phlexible.bodies.locations import (
    Along,
    Cut,
    End,
    Interface,
    Location,
    MaterialPoint,
    MaterialPosition,
    Node,
    Origin,
    Start,
    label_of,
)
from phlexible.display import beside, described, table, written
from phlexible.shapes.surfaces import Triangulation, small_picture

Numbers = tuple[BodyData, dict[Location, MaterialPoint]]
"""Data of a description in its frame, and points of it that were asked for."""

_known: ContextVar[tuple[tuple[Body, Numbers], ...]] = ContextVar("known", default=())


@contextmanager
def numbers_shared(known: Iterable[tuple[Body, Numbers]]) -> Iterator[None]:
    """Bodies of equal descriptions, in the frame that they have, take these numbers while this lasts."""
    token = _known.set(tuple(known))
    try:
        yield
    finally:
        _known.reset(token)


def shared_numbers(held: Body, dimension: int) -> Numbers | None:
    """Of a description; None: no body that is known has the same."""
    for body, numbers in _known.get():
        if numbers[0].dimension == dimension and type(body) is type(held) and _is_equal(body, held):
            return numbers
    return None


def _is_equal(first: Body, second: Body) -> bool:
    try:
        return first is second or bool(first == second)
    except ValueError:  # arrays of users, which have no one answer
        return False


# How placed bodies show themselves in notebooks: a small picture and their parameters.

COLOR = "#0b5394"
Drawn = tuple[Triangulation, list[Array]]
"""Surface and lines of a body."""


def drawn(body: Body, data: BodyData, elastic: Array | None, position: Array, rotation: Array) -> Drawn:
    """What a body looks like at its start, world axes.

    Args:
        body: that is drawn.
        data: what it was discretized to.
        elastic: of a body in absolute coordinates its elastic coordinates (n,); None: it has a frame.
        position, rotation: of the frame, shapes (3,) [m] and (3, 3).
    """
    skin = body.skin(data, np.zeros((0, 3)))
    places = skin.positions if elastic is None else skin.places(elastic[None])[0]
    vertices = position + (places[skin.vertex_nodes] + skin.offsets) @ rotation.T
    lines = [] if skin.has_surface else [position + places[line] @ rotation.T for line in skin.lines]
    return Triangulation(vertices, skin.triangles), lines


def shown(title: str, rows: Iterable[tuple[str, str]], parts: Sequence[Drawn], color: str | None) -> str:
    """A table under a title, beside a picture of the parts."""
    lines = [line for _, own in parts for line in own]
    counts = np.cumsum([0, *(len(surface.vertices) for surface, _ in parts)])
    vertices = np.concatenate([surface.vertices for surface, _ in parts])
    triangles = [surface.triangles + first for (surface, _), first in zip(parts, counts[:-1], strict=True)]
    whole, text = Triangulation(vertices, np.concatenate(triangles)), table(rows, title=title)
    if not (len(whole.triangles) or lines):
        return text
    return beside(small_picture(whole, lines, color or COLOR, f"picture of {title.partition(':')[0]}"), text)


class ModelPart:
    """What others refer to: placed bodies, frames, joints, loads, ... (``references``). Compared by identity."""


Path = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class PlacedBody(ModelPart):
    """A body in a model: its description, its data and its initial pose. Compared by identity.

    Attributes:
        name: unique in its model.
        body: the immutable description.
        held: the same for the way in which the model holds it.
        data: invariants of ``held`` in the model's dimension.
        position: origin of the body frame at t = 0, world axes, shape (3,) [m].
        rotation: body to world at t = 0, shape (3, 3).
        velocity: of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from the joints, zero without.
        angular_velocity: at t = 0, world axes, shape (3,) [rad/s]; None: solved from the joints, zero without.
        nodes: nodes of an absolute body at t = 0, already moved by ``position`` and ``rotation``.
        points: of ``data`` that were asked for, shared by bodies of one description.
    """

    name: str
    body: Body
    held: Body
    data: BodyData
    position: Array
    rotation: Array
    velocity: Array | None = None
    angular_velocity: Array | None = None
    nodes: InitialNodes | None = None
    _is_settled: bool = False
    points: dict[Location, MaterialPoint] = field(default_factory=dict)
    _waiting: list[object] = field(default_factory=list)

    def clamp(self, is_clamped: bool = True) -> None:
        """A joint holds place and orientation of the start, or no longer; nothing changes once numbers were made of
        the body.
        """
        held = self.body.held(is_clamped=is_clamped)
        if not self._is_settled and held != self.held:
            data, points = shared_numbers(held, self.data.dimension) or (held.discretize(self.data.dimension), {})
            object.__setattr__(self, "held", held)
            object.__setattr__(self, "data", data)
            object.__setattr__(self, "points", points)

    def settle(self) -> None:
        """Numbers are made of the body: ``data`` stays what it is, whatever joints come later."""
        object.__setattr__(self, "_is_settled", True)

    @property
    def waiting(self) -> tuple[object, ...]:
        """Joints, elements, drives and loads that were made on the body and given to no model yet."""
        return tuple(self._waiting)

    def expect(self, part: object) -> None:
        """A part was made on this body; it does nothing before a model gets it."""
        self._waiting.append(part)

    def receive(self, part: object) -> None:
        """A model got the part, or refused it with a message, or another takes its place."""
        self._waiting[:] = [each for each in self._waiting if each is not part]

    @property
    def is_string(self) -> bool:
        """Whether it has a tension."""
        return isinstance(self.data, AbsoluteBody) and bool(self.data.strains)

    @property
    def kind(self) -> str:
        """What messages call it."""
        if self.nodes is None:
            return "body with a frame" if self.data.rotates else "point mass"
        return "string" if self.is_string else "soft body"

    @property
    def place(self) -> Array:
        """A world point of the body at t = 0: its origin, or its first node, shape (3,) [m]."""
        return self.position if self.nodes is None else self.nodes.positions[0]

    @property
    def elastic(self) -> Array:
        """Elastic coordinates at t = 0, shape (n,): zero, or the positions of the nodes."""
        if self.nodes is None:
            return np.zeros(self.data.elastic_count)
        return self.nodes.positions[:, : self.data.dimension].ravel()

    @property
    def start(self) -> "Attachment":
        """The end of a line body at x = 0."""
        return Attachment(self, Start())

    @property
    def end(self) -> "Attachment":
        """The end of a line body at x = length."""
        return Attachment(self, End())

    @property
    def origin(self) -> "Attachment":
        """The origin of the body frame."""
        return Attachment(self, Origin())

    def at(self, x: float) -> "Attachment":
        """The axis point of a line body at distance x [m] from its start."""
        return Attachment(self, Along(finite("x", x)))

    def __getitem__(self, name: str) -> "Attachment":
        """The interface of a flexible body with a name, ``part["tip"]``.

        Raises:
            AttachmentError: the body has no such interface; the message lists those it has.
        """
        return Attachment(self, Interface(text("name of an interface", name)))

    def __iter__(self) -> None:  # or Python would call [0], [1], ...
        raise TypeError("a body is no sequence")

    def cut(self, at_end: bool) -> "Attachment":
        """An end of a part of a split beam, for the joint that holds it to the next one."""
        return Attachment(self, Cut(at_end))

    def point(self, position: ArrayLike) -> "Attachment":
        """A material point given by its undeformed body coordinates, shape (3,) [m]."""
        x, y, z = vector("position", position).tolist()
        return Attachment(self, MaterialPosition((x, y, z)))

    def node(self, number: int) -> "Attachment":
        """A node of a soft body by the number of its point in the mesh."""
        return Attachment(self, Node(whole("number", number, 0)))

    def locate(self, location: Location) -> MaterialPoint:
        """The point there, in the undeformed body, and how elastic coordinates move it.

        Raises:
            AttachmentError: the body has no such place.
        """
        found = self.points.get(location)
        if found is None:
            found = self.points[location] = self.data.points.locate(location)
        return found

    def __repr__(self) -> str:
        return f"PlacedBody({self.name!r}, {type(self.body).__name__})"

    def _repr_html_(self) -> str:
        """For notebooks: what the body looks like, and its parameters."""
        title = f"{self.name}: {type(self.body).__name__}"
        rows = [("mass", f"{self.data.mass:.6g} kg"), ("elastic coordinates", str(self.data.elastic_count))]
        rows += [("position", written(self.place)), *described(self.held)]
        return shown(title, rows, [self.drawn(np.zeros(3), np.eye(3))], self.body.paint)

    def drawn(self, position: Array, rotation: Array) -> Drawn:
        """Its surface and lines at t = 0, undeformed, with its frame in a pose of shapes (3,) [m] and (3, 3)."""
        return drawn(self.held, self.data, None if self.nodes is None else self.elastic, position, rotation)


@dataclass(frozen=True, eq=False, repr=False)
class Attachment:
    """A material point of a placed body, with the material's orientation around it.

    Raises:
        AttachmentError: the body has no such place.
    """

    placed: PlacedBody
    location: Location

    def __post_init__(self) -> None:
        self.placed.locate(self.location)

    @property
    def point(self) -> MaterialPoint:
        """Where it is in the undeformed body, and how elastic coordinates move it."""
        return self.placed.locate(self.location)

    @property
    def has_orientation(self) -> bool:
        """False on a point mass."""
        return self.point.rotations is not None

    def initial_position(self) -> Array:
        """World position at the initial pose, undeformed, shape (3,) [m]."""
        if self.placed.nodes is not None:
            return np.asarray(self.point.shapes @ self.placed.elastic)
        return self.placed.position + self.placed.rotation @ self.point.position

    def __repr__(self) -> str:
        return f"{self.placed.name}.{label_of(self.location)}"


@dataclass(frozen=True, eq=False, repr=False)
class MovingFrame(ModelPart):
    """A point of the ground, or one that moves as a function of time, with an orientation.

    Attributes:
        path: world position x(t), shape (3,) [m]; of fixed points a constant function.
        rotation: turn of the frame since t = 0, t -> (3, 3); None: it does not turn.
        velocity: dx/dt, shape (3,) [m/s]; None: differences of the path where it is needed.
        is_fixed: True for ``ground.at``.
        label: name for messages.
    """

    path: Path
    rotation: Callable[[float], Array] | None = None
    velocity: Path | None = None
    is_fixed: bool = False
    label: str = field(default="ground")

    @property
    def has_orientation(self) -> bool:
        """The ground can hold any axis."""
        return True

    def initial_position(self) -> Array:
        """World position at t = 0, shape (3,) [m]."""
        return np.asarray(self.path(0.0), dtype=np.float64)

    def __repr__(self) -> str:
        return self.label


Port = Attachment | MovingFrame
