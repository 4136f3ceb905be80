"""Ports at which joints and loads act: on a placed body, on the ground or on a moving frame."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, text, vector, whole
from phlexible.bodies.absolute_body import AbsoluteBody, InitialNodes
from phlexible.bodies.body import Body, BodyData
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
    SurfaceParameters,
    label_of,
)
from phlexible.display import described, in_row, table, written
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.surfaces import Triangulation, small_picture

BodyAndPoints = tuple[BodyData, dict[Location, MaterialPoint]]
"""Data of a description in its frame, and its points that were located."""

_shared: ContextVar[tuple[tuple[Body, BodyAndPoints], ...]] = ContextVar("_shared", default=())


@contextmanager
def sharing_data(shared: Iterable[tuple[Body, BodyAndPoints]]) -> Iterator[None]:
    """Context manager in which new bodies whose description equals a description in ``shared`` use the data given
    there instead of computing them. Data are the body's arrays, such as mass matrix and stiffness, with its cached
    points. The previous setting is restored at the end."""
    token = _shared.set(tuple(shared))
    try:
        yield
    finally:
        _shared.reset(token)


def shared_data(body: Body, dimension: int) -> BodyAndPoints | None:
    """Return the data already computed for a body description equal to ``body`` and for the same model
    ``dimension`` (2 or 3). Equal descriptions have the same type and values. They are found in the enclosing
    context ``sharing_data``. Return None if there are none; nothing is computed."""
    for other, data in _shared.get():
        if data[0].dimension == dimension and type(other) is type(body) and _is_equal(other, body):
            return data
    return None


def _is_equal(first: Body, second: Body) -> bool:
    try:
        return first is second or bool(first == second)
    except ValueError:  # user arrays, whose comparison is not a single truth value
        return False


# Display of placed bodies in notebooks: a small picture and their parameters.

COLOR = "#0b5394"
SAME = 1e-9  # difference of unit vectors
Drawn = tuple[Triangulation, list[Array]]
"""Surface and lines of a body."""


def drawn(body: Body, data: BodyData, elastic: Array | None, position: Array, rotation: Array) -> Drawn:
    """Return the surface (triangles) and the lines of a body at the start of a run, in world axes, as they
    are drawn in pictures. ``data`` is the discretized body, with its frame at ``position``, shape (3,) [m],
    and ``rotation``, shape (3, 3). ``elastic`` are the coordinates of a string or soft body, which has no
    frame.

    Args:
        body: description of the body.
        data: result of ``discretize``.
        elastic: elastic coordinates of a body in absolute coordinates, shape (n,); None: the body has a frame.
        position, rotation: position of the frame, shape (3,) [m], and its rotation, shape (3, 3).
    """
    skin = body.skin(data, np.zeros((0, 3)))
    positions = skin.positions if elastic is None else skin.node_positions(elastic[None])[0]
    vertices = position + (positions[skin.vertex_nodes] + skin.offsets) @ rotation.T
    lines = [] if skin.has_surface else [position + positions[line] @ rotation.T for line in skin.lines]
    return Triangulation(vertices, skin.triangles), lines


def html_summary(title: str, rows: Iterable[tuple[str, str]], parts: Sequence[Drawn], color: str | None) -> str:
    """Return HTML of a table of names and values (``rows``) with a ``title``, next to a small picture. The picture
    shows triangulated surfaces and lines (``parts``) in ``color``; None is the default blue. Without triangles and
    lines only the table is returned."""
    lines = [line for _, part_lines in parts for line in part_lines]
    counts = np.cumsum([0, *(len(surface.vertices) for surface, _ in parts)])
    vertices = np.concatenate([surface.vertices for surface, _ in parts])
    triangles = [surface.triangles + first for (surface, _), first in zip(parts, counts[:-1], strict=True)]
    surface_, text = Triangulation(vertices, np.concatenate(triangles)), table(rows, title=title)
    if not (len(surface_.triangles) or lines):
        return text
    return in_row(small_picture(surface_, lines, color or COLOR, f"picture of {title.partition(':')[0]}"), text)


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
        resolved: the description with options such as ``frame="auto"`` resolved by the joints of the model.
        data: invariants of ``resolved`` in the model's dimension.
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
    resolved: Body
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
        """Recompute the mass and stiffness data of this body, in place, for a start that a joint clamps, or a
        free one if not ``is_clamped``. The start decides on the floating frame of the body. Nothing is done if
        the description stays the same or ``settle`` was called. Data that an equal body shares are used if
        available."""
        body = self.body.resolved(is_clamped=is_clamped)
        if not self._is_settled and body != self.resolved:
            data, points = shared_data(body, self.data.dimension) or (body.discretize(self.data.dimension), {})
            object.__setattr__(self, "resolved", body)
            object.__setattr__(self, "data", data)
            object.__setattr__(self, "points", points)

    def settle(self) -> None:
        """Mark the computed arrays of this body as final because they are in use. Later calls of ``clamp`` then no
        longer change the body's floating frame."""
        object.__setattr__(self, "_is_settled", True)

    @property
    def waiting(self) -> tuple[object, ...]:
        """Return the joints, springs, drives and loads that the user made on this body and has not added to a model
        yet."""
        return tuple(self._waiting)

    def expect(self, part: object) -> None:
        """Append a joint, spring or load that refers to this body to the body's list of parts that are not in a
        model yet. A warning can later name the parts that are still in this list, which have no effect. ``part`` is
        not checked."""
        self._waiting.append(part)

    def receive(self, part: object) -> None:
        """Remove a joint, spring or load from the list of parts that were made on this body and not added to a
        model yet. Nothing is done if it is not in the list."""
        self._waiting[:] = [waiting for waiting in self._waiting if waiting is not part]

    @property
    def is_string(self) -> bool:
        """Return whether the body is a string: it has nodal unknowns and axial strains."""
        return isinstance(self.data, AbsoluteBody) and bool(self.data.strains)

    @property
    def kind(self) -> str:
        """Return the kind of the body as text for messages: "body with a frame", "point mass", "string", "soft
        body" or "shell"."""
        if not isinstance(self.data, AbsoluteBody):
            return "body with a frame" if self.data.rotates else "point mass"
        return "string" if self.is_string else "soft body" if self.data.moves is None else "shell"

    @property
    def origin_position(self) -> Array:
        """Return the world position of the origin of this body at t = 0, shape (3,) [m]. For a body with nodal
        unknowns it is the position of its first node."""
        return self.position if self.nodes is None else self.nodes.positions[0]

    @property
    def elastic(self) -> Array:
        """Return the elastic coordinates of this body at t = 0, shape (n,): zeros for a body with a floating
        frame, or the nodal vectors of other bodies in world axes (positions [m], of shells also directors)."""
        if self.nodes is None:
            return np.zeros(self.data.elastic_count)
        return self.nodes.positions[:, : self.data.dimension].ravel()

    @property
    def start(self) -> "Attachment":
        """Return the point at the start (x = 0) of a beam, rod or string, for joints and loads. AttachmentError is
        raised if the body has no such end."""
        return Attachment(self, Start())

    @property
    def end(self) -> "Attachment":
        """Return the point at the end (x = length) of a beam, rod or string, for joints and loads. AttachmentError
        is raised if the body has no such end."""
        return Attachment(self, End())

    @property
    def origin(self) -> "Attachment":
        """Return the point at the origin of this body's frame, for joints, loads and sensors."""
        return Attachment(self, Origin())

    def at(self, x: float, v: float | None = None) -> "Attachment":
        """Return the point on the axis of this beam, rod or string at the distance ``x`` [m] from its start. With
        ``v`` it is the point of a shell at the parameters u = x and v of its surface, each from 0 to 1.
        ParameterError is raised for a tuple or list, or numbers that are not finite."""
        if isinstance(x, tuple | list):
            raise ParameterError(
                f"x must be one number, the distance along this body, got {x!r};"
                f" body.point({x!r}) is a place in body axes"
            )
        first = finite("x", x)
        return Attachment(self, Along(first) if v is None else SurfaceParameters(first, finite("v", v)))

    def __getitem__(self, name: str) -> "Attachment":
        """Return the point of the interface ``name`` of a flexible body, for joints and loads, as in
        ``part["tip"]``. AttachmentError is raised if the body has no such interface.

        Raises:
            AttachmentError: the body has no such interface; the message lists those it has.
        """
        return Attachment(self, Interface(text("name of an interface", name)))

    def __iter__(self) -> None:  # or Python would call [0], [1], ...
        raise TypeError("a body is not a sequence")

    def end_cut(self, at_end: bool) -> "Attachment":
        """Return the point at which a fixed joint connects one part of a split beam to the neighbouring part: at
        the part's end (``at_end``) or start."""
        return Attachment(self, Cut(at_end))

    def point(self, position: ArrayLike) -> "Attachment":
        """Return a material point of this body, given by its position in the undeformed body in body axes, shape
        (3,) [m]."""
        x, y, z = vector("position", position).tolist()
        return Attachment(self, MaterialPosition((x, y, z)))

    def node(self, number: int) -> "Attachment":
        """Return the point at a node of this soft body or shell, for joints and loads. ``number`` is the index of
        the node in the body's mesh."""
        return Attachment(self, Node(whole("number", number, 0)))

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point at a location of this body (start, end, interface, coordinates), with its
        shape functions. It is computed by the body's data at the first call and then cached in ``points``.
        AttachmentError is raised if the body has no such location.

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
        """Return HTML that notebooks show for a body: a picture of it and a table of its parameters."""
        title = f"{self.name}: {type(self.body).__name__}"
        rows = [("mass", f"{self.data.mass:.6g} kg"), ("elastic coordinates", str(self.data.elastic_count))]
        rows += [("position", written(self.origin_position)), *described(self.resolved)]
        return html_summary(title, rows, [self.drawn(np.zeros(3), np.eye(3))], self.body.paint)

    def drawn(self, position: Array, rotation: Array) -> Drawn:
        """Return the surface (triangles) and the lines of this undeformed body at t = 0 for a picture. Its frame is
        placed at a position, shape (3,) [m], with a rotation, shape (3, 3)."""
        return drawn(self.resolved, self.data, None if self.nodes is None else self.elastic, position, rotation)


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
        """Return the material point of the undeformed body at this point of a placed body, with its shape
        functions. It is computed at the first use and cached."""
        return self.placed.locate(self.location)

    @property
    def has_orientation(self) -> bool:
        """Return whether this point of a body has an orientation, because the material around it can rotate; not
        so on point masses and strings."""
        return self.point.rotations is not None

    @property
    def has_directions(self) -> bool:
        """Return whether joints can fix three directions at this point of a body: it has an orientation, or it is
        on an edge or patch of a shell (not on a single node)."""
        directions = self.point.directions
        return self.has_orientation or (directions is not None and len(directions) == 3 and self.point.node is None)

    def require_orientation(self, user: str, remedy: str) -> None:
        """Raise ModelError if this point of a body has no orientation, which ``user`` (text) needs. The message
        ends with the ``remedy``; on a shell another remedy replaces it."""
        if self.has_orientation:
            return
        if self.point.directions is not None:  # nodes do not turn about directors
            remedy = "fix a RigidBody to an edge or a patch of the shell, and take that"
        raise ModelError(f"{user}: {self} has no orientation (a point mass, a string, a node); {remedy}")

    def initial_directors(self) -> Array:
        """Return the directors of a node of a shell at t = 0, unit vectors in world axes, shape (k, 3)."""
        assert self.point.directions is not None and self.placed.nodes is not None, "on a shell"
        now = self.point.directions @ self.placed.nodes.positions
        return np.asarray(now / np.linalg.norm(now, axis=1, keepdims=True))

    def direction_weights(self, axis: Array) -> Array:
        """Return weights (N,) of the nodal vectors of a shell whose weighted sum is a direction at this point. The
        direction is the unit vector ``axis``, shape (3,), in world axes at t = 0. If it equals one of the three
        directors of the node, only this director has weights. Otherwise all three are combined by solving a linear
        system."""
        assert self.point.directions is not None and self.placed.nodes is not None, "on a shell"
        now = self.point.directions @ self.placed.nodes.positions
        away = np.linalg.norm(self.initial_directors() - axis, axis=1)
        if away.min() < SAME:  # one of several that may be dependent, as at a fold
            return np.asarray(self.point.directions[away.argmin()] / np.linalg.norm(now[away.argmin()]))
        return np.asarray(np.linalg.solve(now.T, axis) @ self.point.directions)

    def initial_position(self) -> Array:
        """Return the world position of this point of a body at the initial pose of the undeformed body, shape (3,)
        [m]."""
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
        """Return True, because a fixed or moving frame on the ground always has an orientation, as some joints
        require."""
        return True

    has_directions = has_orientation

    def initial_position(self) -> Array:
        """Return the world position of the frame's origin at t = 0, shape (3,) [m]."""
        return np.asarray(self.path(0.0), dtype=np.float64)

    def __repr__(self) -> str:
        return self.label


Port = Attachment | MovingFrame
