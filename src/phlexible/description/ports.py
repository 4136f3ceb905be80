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
def sharing_data(shared: Iterable[tuple[Body, Numbers]]) -> Iterator[None]:
    """Context manager in which new bodies with a description equal to one of ``shared`` use the given data instead
    of computing them again.
    """
    token = _shared.set(tuple(shared))
    try:
        yield
    finally:
        _shared.reset(token)


def shared_data(body: Body, dimension: int) -> Numbers | None:
    """Return the shared data of a description that equals ``body``, or None if there are none. See
    ``sharing_data``.
    """
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
    """Return the surface (triangles) and the lines of a body at the start of a run, in world axes, for pictures.

    Args:
        body: description of the body.
        data: result of ``discretize``.
        elastic: elastic coordinates of a body in absolute coordinates, shape (n,); None: the body has a frame.
        position, rotation: position of the frame, shape (3,) [m], and its rotation, shape (3, 3).
    """
    skin = body.skin(data, np.zeros((0, 3)))
    places = skin.positions if elastic is None else skin.node_positions(elastic[None])[0]
    vertices = position + (places[skin.vertex_nodes] + skin.offsets) @ rotation.T
    lines = [] if skin.has_surface else [position + places[line] @ rotation.T for line in skin.lines]
    return Triangulation(vertices, skin.triangles), lines


def shown(title: str, rows: Iterable[tuple[str, str]], parts: Sequence[Drawn], color: str | None) -> str:
    """Return HTML of a table under a title, next to a small picture of the given surfaces and lines."""
    lines = [line for _, part_lines in parts for line in part_lines]
    counts = np.cumsum([0, *(len(surface.vertices) for surface, _ in parts)])
    vertices = np.concatenate([surface.vertices for surface, _ in parts])
    triangles = [surface.triangles + first for (surface, _), first in zip(parts, counts[:-1], strict=True)]
    surface_, text = Triangulation(vertices, np.concatenate(triangles)), table(rows, title=title)
    if not (len(surface_.triangles) or lines):
        return text
    return beside(small_picture(surface_, lines, color or COLOR, f"picture of {title.partition(':')[0]}"), text)


class ModelPart:
    """Base class of parts of a model to which other parts refer: placed bodies, frames, joints, loads. Compared by
    identity.
    """


Path = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class PlacedBody(ModelPart):
    """Handle of a body in a model: its description, its data and its initial pose. Compared by identity.

    Attributes:
        name: name, which is unique in its model.
        body: the immutable description.
        held: the description with options such as ``frame="auto"`` resolved by the joints of the model.
        data: invariants of ``held`` in the model's dimension.
        position: origin of the body frame at t = 0, world axes, shape (3,) [m].
        rotation: body to world at t = 0, shape (3, 3).
        velocity: velocity of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from the joints, zero
            without.
        angular_velocity: angular velocity at t = 0, world axes, shape (3,) [rad/s]; None: solved from the joints,
            zero without.
        nodes: nodes of an absolute body at t = 0, already moved by ``position`` and ``rotation``.
        points: located points of ``data``, shared by bodies of one description.
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
        """Choose the floating frame again after a joint clamps the start of this body, or no longer does. It has no
        effect once the data of the body are in use.
        """
        body = self.body.resolved(is_clamped=is_clamped)
        if not self._is_settled and body != self.held:
            data, points = shared_data(body, self.data.dimension) or (body.discretize(self.data.dimension), {})
            object.__setattr__(self, "held", body)
            object.__setattr__(self, "data", data)
            object.__setattr__(self, "points", points)

    def settle(self) -> None:
        """Fix the data of this body because they are in use; joints that are added later no longer change its
        frame.
        """
        object.__setattr__(self, "_is_settled", True)

    @property
    def waiting(self) -> tuple[object, ...]:
        """Joints, elements, drives and loads that were made on this body and have not been added to a model yet."""
        return tuple(self._waiting)

    def expect(self, part: object) -> None:
        """Record a part that was made on this body and not added to a model yet, so that a warning can name unused
        parts.
        """
        self._waiting.append(part)

    def receive(self, part: object) -> None:
        """Remove a part from those that wait to be added, since it is in a model, was refused or was replaced."""
        self._waiting[:] = [waiting for waiting in self._waiting if waiting is not part]

    @property
    def is_string(self) -> bool:
        """Whether the body is a string, which has a tension."""
        return isinstance(self.data, AbsoluteBody) and bool(self.data.strains)

    @property
    def kind(self) -> str:
        """Kind of the body for messages, such as "string" or "point mass"."""
        if self.nodes is None:
            return "body with a frame" if self.data.rotates else "point mass"
        return "string" if self.is_string else "soft body"

    @property
    def place(self) -> Array:
        """World position of the origin of this body, or of its first node, at t = 0, shape (3,) [m]."""
        return self.position if self.nodes is None else self.nodes.positions[0]

    @property
    def elastic(self) -> Array:
        """Elastic coordinates of this body at t = 0, shape (n,): zeros, or the positions of its nodes [m]."""
        if self.nodes is None:
            return np.zeros(self.data.elastic_count)
        return self.nodes.positions[:, : self.data.dimension].ravel()

    @property
    def start(self) -> "Attachment":
        """Attachment at the end of a beam, rod or string with x = 0."""
        return Attachment(self, Start())

    @property
    def end(self) -> "Attachment":
        """Attachment at the end of a beam, rod or string with x = length."""
        return Attachment(self, End())

    @property
    def origin(self) -> "Attachment":
        """Attachment at the origin of the body frame."""
        return Attachment(self, Origin())

    def at(self, x: float) -> "Attachment":
        """Return the attachment on the axis of a beam, rod or string at distance x [m] from its start."""
        return Attachment(self, Along(finite("x", x)))

    def __getitem__(self, name: str) -> "Attachment":
        """Return the attachment at the interface of a flexible body with this name, as in ``part["tip"]``.

        Raises:
            AttachmentError: the body has no such interface; the message lists those it has.
        """
        return Attachment(self, Interface(text("name of an interface", name)))

    def __iter__(self) -> None:  # or Python would call [0], [1], ...
        raise TypeError("a body is not a sequence")

    def cut(self, at_end: bool) -> "Attachment":
        """Return the attachment at an end of a part of a split beam, for the joint that connects it to its
        neighbour.
        """
        return Attachment(self, Cut(at_end))

    def point(self, position: ArrayLike) -> "Attachment":
        """Return the attachment at a material point, given by undeformed body coordinates, shape (3,) [m]."""
        x, y, z = vector("position", position).tolist()
        return Attachment(self, MaterialPosition((x, y, z)))

    def node(self, number: int) -> "Attachment":
        """Return the attachment at a node of a soft body, given by the number of its point in the mesh."""
        return Attachment(self, Node(whole("number", number, 0)))

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point at a location of this body, with its shape functions.

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
        """Return HTML for notebooks, with a picture and the parameters of the body."""
        title = f"{self.name}: {type(self.body).__name__}"
        rows = [("mass", f"{self.data.mass:.6g} kg"), ("elastic coordinates", str(self.data.elastic_count))]
        rows += [("position", written(self.place)), *described(self.held)]
        return shown(title, rows, [self.drawn(np.zeros(3), np.eye(3))], self.body.paint)

    def drawn(self, position: Array, rotation: Array) -> Drawn:
        """Return the surface and the lines of the undeformed body at t = 0 for a picture. Its frame is placed at a
        position, shape (3,) [m], with a rotation, shape (3, 3).
        """
        return drawn(self.held, self.data, None if self.nodes is None else self.elastic, position, rotation)


@dataclass(frozen=True, eq=False, repr=False)
class Attachment:
    """Material point of a placed body, with the orientation of the material around it, at which joints and loads
    act.

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
        """Whether the material around the point has an orientation, which is not so on point masses and strings."""
        return self.point.rotations is not None

    def initial_position(self) -> Array:
        """Return the world position of the point in the initial pose of the undeformed body, shape (3,) [m]."""
        if self.placed.nodes is not None:
            return np.asarray(self.point.shapes @ self.placed.elastic)
        return self.placed.position + self.placed.rotation @ self.point.position

    def __repr__(self) -> str:
        return f"{self.placed.name}.{label_of(self.location)}"


@dataclass(frozen=True, eq=False, repr=False)
class MovingFrame(ModelPart):
    """Point of the ground with an orientation, fixed or moving as a prescribed function of time.

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
        """Whether the frame has an orientation, which is always so."""
        return True

    def initial_position(self) -> Array:
        """Return the world position of the frame's origin at t = 0, shape (3,) [m]."""
        return np.asarray(self.path(0.0), dtype=np.float64)

    def __repr__(self) -> str:
        return self.label


Port = Attachment | MovingFrame
