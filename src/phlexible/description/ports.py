"""Ports at which joints and loads act: on a placed body, on the ground or on a moving frame."""

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
"""Data of a description in its frame, and its points that were located."""

_shared: ContextVar[tuple[tuple[Body, Numbers], ...]] = ContextVar("_shared", default=())


@contextmanager
def numbers_shared(shared: Iterable[tuple[Body, Numbers]]) -> Iterator[None]:
    """Context in which bodies of equal descriptions, with the same frame, use these data."""
    token = _shared.set(tuple(shared))
    try:
        yield
    finally:
        _shared.reset(token)


def shared_numbers(body: Body, dimension: int) -> Numbers | None:
    """Shared data of an equal description; None: there are none."""
    for other, numbers in _shared.get():
        if numbers[0].dimension == dimension and type(other) is type(body) and _is_equal(other, body):
            return numbers
    return None


def _is_equal(first: Body, second: Body) -> bool:
    try:
        return first is second or bool(first == second)
    except ValueError:  # user arrays, whose comparison is not a single truth value
        return False


# Display of placed bodies in notebooks: a small picture and their parameters.

COLOR = "#0b5394"
Drawn = tuple[Triangulation, list[Array]]
"""Surface and lines of a body."""


def drawn(body: Body, data: BodyData, elastic: Array | None, position: Array, rotation: Array) -> Drawn:
    """Surface and lines of a body at its start, world axes.

    Args:
        body: description of the body.
        data: result of ``discretize``.
        elastic: of a body in absolute coordinates its elastic coordinates (n,); None: it has a frame.
        position, rotation: of the frame, shapes (3,) [m] and (3, 3).
    """
    skin = body.skin(data, np.zeros((0, 3)))
    places = skin.positions if elastic is None else skin.node_positions(elastic[None])[0]
    vertices = position + (places[skin.vertex_nodes] + skin.offsets) @ rotation.T
    lines = [] if skin.has_surface else [position + places[line] @ rotation.T for line in skin.lines]
    return Triangulation(vertices, skin.triangles), lines


def shown(title: str, rows: Iterable[tuple[str, str]], parts: Sequence[Drawn], color: str | None) -> str:
    """Table under a title, next to a picture of the parts."""
    lines = [line for _, part_lines in parts for line in part_lines]
    counts = np.cumsum([0, *(len(surface.vertices) for surface, _ in parts)])
    vertices = np.concatenate([surface.vertices for surface, _ in parts])
    triangles = [surface.triangles + first for (surface, _), first in zip(parts, counts[:-1], strict=True)]
    surface_, text = Triangulation(vertices, np.concatenate(triangles)), table(rows, title=title)
    if not (len(surface_.triangles) or lines):
        return text
    return beside(small_picture(surface_, lines, color or COLOR, f"picture of {title.partition(':')[0]}"), text)


class ModelPart:
    """A part of a model to which others refer (``references``): placed bodies, frames, joints, loads. Compared by
    identity.
    """


Path = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class PlacedBody(ModelPart):
    """A body in a model: its description, its data and its initial pose. Compared by identity.

    Attributes:
        name: unique in its model.
        body: the immutable description.
        held: the description with options such as ``frame="auto"`` resolved by the joints of the model.
        data: invariants of ``held`` in the model's dimension.
        position: origin of the body frame at t = 0, world axes, shape (3,) [m].
        rotation: body to world at t = 0, shape (3, 3).
        velocity: of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from the joints, zero without.
        angular_velocity: at t = 0, world axes, shape (3,) [rad/s]; None: solved from the joints, zero without.
        nodes: nodes of an absolute body at t = 0, already moved by ``position`` and ``rotation``.
        points: of ``data`` that were located, shared by bodies of one description.
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
        """Update the frame after a joint clamps the start, or no longer does; not once data of the body are in
        use.
        """
        body = self.body.resolved(is_clamped=is_clamped)
        if not self._is_settled and body != self.held:
            data, points = shared_numbers(body, self.data.dimension) or (body.discretize(self.data.dimension), {})
            object.__setattr__(self, "held", body)
            object.__setattr__(self, "data", data)
            object.__setattr__(self, "points", points)

    def settle(self) -> None:
        """Fix ``data``, because they are in use, whatever joints come later."""
        object.__setattr__(self, "_is_settled", True)

    @property
    def waiting(self) -> tuple[object, ...]:
        """Joints, elements, drives and loads that were made on the body and are not in a model yet."""
        return tuple(self._waiting)

    def expect(self, part: object) -> None:
        """Add a part that was made on this body, and that has no effect before it is in a model."""
        self._waiting.append(part)

    def receive(self, part: object) -> None:
        """Remove a part that is now in a model, or was refused with a message or replaced."""
        self._waiting[:] = [waiting for waiting in self._waiting if waiting is not part]

    @property
    def is_string(self) -> bool:
        """Whether the body is a string, which has a tension."""
        return isinstance(self.data, AbsoluteBody) and bool(self.data.strains)

    @property
    def kind(self) -> str:
        """Kind of the body for messages."""
        if self.nodes is None:
            return "body with a frame" if self.data.rotates else "point mass"
        return "string" if self.is_string else "soft body"

    @property
    def place(self) -> Array:
        """World position of a point of the body at t = 0: its origin, or its first node, shape (3,) [m]."""
        return self.position if self.nodes is None else self.nodes.positions[0]

    @property
    def elastic(self) -> Array:
        """Elastic coordinates at t = 0, shape (n,): zero, or the positions of the nodes."""
        if self.nodes is None:
            return np.zeros(self.data.elastic_count)
        return self.nodes.positions[:, : self.data.dimension].ravel()

    @property
    def start(self) -> "Attachment":
        """End of a line body at x = 0."""
        return Attachment(self, Start())

    @property
    def end(self) -> "Attachment":
        """End of a line body at x = length."""
        return Attachment(self, End())

    @property
    def origin(self) -> "Attachment":
        """Origin of the body frame."""
        return Attachment(self, Origin())

    def at(self, x: float) -> "Attachment":
        """Point on the axis of a line body at distance x [m] from its start."""
        return Attachment(self, Along(finite("x", x)))

    def __getitem__(self, name: str) -> "Attachment":
        """Interface of a flexible body with a name, ``part["tip"]``.

        Raises:
            AttachmentError: the body has no such interface; the message lists those it has.
        """
        return Attachment(self, Interface(text("name of an interface", name)))

    def __iter__(self) -> None:  # or Python would call [0], [1], ...
        raise TypeError("a body is not a sequence")

    def cut(self, at_end: bool) -> "Attachment":
        """End of a part of a split beam, for the joint that connects it to the next part."""
        return Attachment(self, Cut(at_end))

    def point(self, position: ArrayLike) -> "Attachment":
        """Material point at undeformed body coordinates, shape (3,) [m]."""
        x, y, z = vector("position", position).tolist()
        return Attachment(self, MaterialPosition((x, y, z)))

    def node(self, number: int) -> "Attachment":
        """Node of a soft body by the number of its point in the mesh."""
        return Attachment(self, Node(whole("number", number, 0)))

    def locate(self, location: Location) -> MaterialPoint:
        """Material point at a location, with its shape functions.

        Raises:
            AttachmentError: the body has no such location.
        """
        point = self.points.get(location)
        if point is None:
            point = self.points[location] = self.data.points.locate(location)
        return point

    def __repr__(self) -> str:
        return f"PlacedBody({self.name!r}, {type(self.body).__name__})"

    def _repr_html_(self) -> str:
        """HTML for notebooks, with a picture and the parameters of the body."""
        title = f"{self.name}: {type(self.body).__name__}"
        rows = [("mass", f"{self.data.mass:.6g} kg"), ("elastic coordinates", str(self.data.elastic_count))]
        rows += [("position", written(self.place)), *described(self.held)]
        return shown(title, rows, [self.drawn(np.zeros(3), np.eye(3))], self.body.paint)

    def drawn(self, position: Array, rotation: Array) -> Drawn:
        """Surface and lines of the body at t = 0, undeformed, with its frame at a pose of shapes (3,) [m] and (3,
        3).
        """
        return drawn(self.held, self.data, None if self.nodes is None else self.elastic, position, rotation)


@dataclass(frozen=True, eq=False, repr=False)
class Attachment:
    """A material point of a placed body, with the material's orientation around it.

    Raises:
        AttachmentError: the body has no such location.
    """

    placed: PlacedBody
    location: Location

    def __post_init__(self) -> None:
        self.placed.locate(self.location)

    @property
    def point(self) -> MaterialPoint:
        """Material point of the undeformed body, with its shape functions."""
        return self.placed.locate(self.location)

    @property
    def has_orientation(self) -> bool:
        """Whether the material around the point has an orientation: not on point masses and strings."""
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
        rotation: rotation of the frame since t = 0, t -> (3, 3); None: it does not rotate.
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
        """Whether the frame has axes, which it always has."""
        return True

    def initial_position(self) -> Array:
        """World position at t = 0, shape (3,) [m]."""
        return np.asarray(self.path(0.0), dtype=np.float64)

    def __repr__(self) -> str:
        return self.label


Port = Attachment | MovingFrame
