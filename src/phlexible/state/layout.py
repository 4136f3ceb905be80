"""Layout of the arrays of all bodies and joints, and the state of the whole system."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import NamedTuple, Self

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, make_arrays_read_only
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.description.ports import PlacedBody
from phlexible.display import short_repr


@dataclass(frozen=True, eq=False)
class State:
    """State of a mechanism at one instant: pose, velocities and history variables of f floating bodies and c
    carriers. Carriers are the floating bodies, then the nodes of other bodies.

    Attributes:
        time: [s].
        position: centres of mass of the floating bodies, then nodes, world axes, shape (c, 3) [m].
        rotation: body to world, shape (f, 3, 3).
        eta: elastic coordinates of all floating bodies, flat.
        velocity: nu of all carriers, flat: V in world axes [m/s], w in body axes [rad/s], then deta/dt; only the
            components that a body keeps (``FloatingBody.dimension`` and ``rotation_axes``).
        theta: coordinates of the forces, angles over full turns, shape (forces,); None: within a half turn.
        branches: strains of the springs of laws that creep (docs/theory.md, 8; (8.35)) and bristles (8.41), shape
            (branches,); None: relaxed.
    """

    time: float
    position: Array
    rotation: Array
    eta: Array
    velocity: Array
    theta: Array | None = None
    branches: Array | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        make_arrays_read_only(self)


def same_pose(first: State, second: State) -> bool:
    """Return whether two states of a mechanism, ``first`` and ``second``, have exactly the same time,
    positions, rotations and elastic coordinates. Velocities may differ."""
    pairs = ((getattr(state, name) for state in (first, second)) for name in ("position", "rotation", "eta"))
    return first.time == second.time and all(np.array_equal(*pair) for pair in pairs)


class BodyCounts(NamedTuple):
    """Counts of the numbers of a body in a state, see ``FloatingBody`` and ``AbsoluteBody``. ``node_count`` is 0
    for a floating body."""

    dimension: int
    rotation_axes: tuple[int, ...]
    rigid_count: int
    elastic_count: int
    velocity_count: int
    node_count: int
    clusters: tuple[int, ...]

    @classmethod
    def of(cls, data: BodyData) -> Self:
        """Return the counts of coordinates, velocities, rotation axes and nodes of one body, copied from its
        ``data``. Bodies with a moving frame have 0 nodes."""
        own = (data.node_count, data.clusters) if isinstance(data, AbsoluteBody) else (0, ())
        axes, counts = data.rotation_axes, (data.rigid_count, data.elastic_count, data.velocity_count)
        return cls(data.dimension, axes, *counts, *own)


def layout_of(bodies: Sequence[PlacedBody], rows: tuple[int, ...]) -> "Layout":
    """Return the ``Layout`` (indices of bodies and constraints in flat arrays) of a system of ``bodies``. ``rows``
    are the numbers of scalar constraints of each joint. Bodies with a moving frame must come first. Small systems
    of equal structure get the same cached layout; large ones get a new one."""
    counts = tuple(BodyCounts.of(placed.data) for placed in bodies)
    return Layout(counts, rows) if len(bodies) + len(rows) > LARGEST else _known_layout(counts, rows)


@dataclass(frozen=True)
class Layout:
    """Offsets of bodies, joints and their components in the flat arrays of states. Bodies with a floating frame
    come first.

    Attributes:
        bodies: counts of the bodies of the system, those with a frame first.
        rows: number of joint functions of each constraint.
    """

    bodies: tuple[BodyCounts, ...]
    rows: tuple[int, ...]

    @cached_property
    def frames(self) -> int:
        """Return the number of floating bodies, whose deformation is small in a frame that moves with them. They
        come first among the bodies, and are those without nodes."""
        return sum(not body.node_count for body in self.bodies)

    @cached_property
    def carrier(self) -> IntArray:
        """Return the index of the first position of each body among all floating bodies and nodes, followed by
        their total number, shape (bodies + 1,). A floating body has one position, any other body one for each
        node."""
        return offsets([body.node_count or 1 for body in self.bodies])

    @cached_property
    def eta(self) -> IntArray:
        """Return the index of the first elastic coordinate of each floating body in the flat elastic coordinates,
        followed by their total number. The shape is (floating bodies + 1,)."""
        return offsets([body.elastic_count for body in self.bodies[: self.frames]])

    @cached_property
    def velocity(self) -> IntArray:
        """Return the index of the first velocity component of each body in the flat velocities of the system,
        shape (bodies + 1,). The last entry is the total number of velocities."""
        return offsets([body.velocity_count for body in self.bodies])

    @cached_property
    def multiplier(self) -> IntArray:
        """Return the index of the first multiplier (constraint force) of each joint, drive or relation in the flat
        multipliers. The last entry is their total number; the shape is (constraints + 1,)."""
        return offsets(list(self.rows))

    @cached_property
    def carrier_velocity(self) -> IntArray:
        """Return the index of the first velocity component of each floating body and of each node of the other
        bodies in the flat velocities. The last entry is their total number; the shape is (carriers + 1,)."""
        return offsets(list(self.widths))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Return the number of velocities of each floating body, then of each node of the other bodies. A node has
        as many as the model has dimensions."""
        counts = ([body.dimension] * body.node_count or [body.velocity_count] for body in self.bodies)
        return tuple(chain.from_iterable(counts))

    @cached_property
    def rigid_counts(self) -> tuple[int, ...]:
        """Return the number of velocities of each floating body or node that are not rates of elastic coordinates.
        Floating bodies come first; all velocities of a node count."""
        return (*(body.rigid_count for body in self.bodies[: self.frames]), *self.widths[self.frames :])

    @cached_property
    def cluster(self) -> IntArray:
        """Return the index of the matrix block that contains the velocities of each floating body or node, shape
        (bodies and nodes,). The blocks are the diagonal blocks of the block elimination that solves a time step.
        Each floating body or node has a block of its own; only nodes of soft bodies share blocks."""
        found, first = [], 0
        for body in self.bodies:
            sizes = body.clusters or (1,) * (body.node_count or 1)
            found.append(first + np.repeat(np.arange(len(sizes)), sizes))
            first += len(sizes)
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    @cached_property
    def cluster_count(self) -> int:
        """Return the number of diagonal matrix blocks with velocities of bodies and nodes in the block elimination
        of a time step. Blocks of auxiliary unknowns and constraints are not counted."""
        return self._nodes[-1] + 1 if self._nodes else 0

    @cached_property
    def row_in_cluster(self) -> IntArray:
        """Return the index of the first row of each floating body or node within its matrix block, shape
        (carriers,). The blocks are the diagonal blocks of the block elimination of a time step. The index is zero
        except for nodes of soft bodies, several of which are in one block."""
        first = np.searchsorted(self.cluster, self.cluster)
        return np.asarray(self.carrier_velocity[:-1] - self.carrier_velocity[first])

    @cached_property
    def _nodes(self) -> list[int]:
        return self.cluster.tolist()  # type: ignore[no-any-return]  # of integers

    def node(self, part: int) -> int:
        """Return the index of the diagonal block, in the elimination of Newton's matrix, that contains a group
        ``part`` of unknowns. Groups are floating bodies, then nodes of other bodies, auxiliary vectors and
        constraints. Each has a block of its own, except for nodes of soft bodies, several of which share one.
        """
        return self._nodes[part] if part < len(self._nodes) else part - len(self._nodes) + self.cluster_count

    def row_in_node(self, part: int) -> int:
        """Return the index of the first row of a group ``part`` of unknowns within its matrix block of the
        block elimination of a time step. Groups are numbered with floating bodies and nodes first, then
        auxiliary vectors and constraints. The index is zero except for soft bodies, several of whose nodes are
        in one block."""
        return int(self.row_in_cluster[part]) if part < len(self.cluster) else 0

    @cached_property
    def linear(self) -> IntArray:
        """Return the indices of the translational velocity components in the flat velocities, shape (carriers,
        dimension). There is one row for each floating body, then one for each node of the other bodies."""
        d = self.bodies[0].dimension if self.bodies else 3
        return np.asarray(self.carrier_velocity[:-1, None] + np.arange(d))

    @cached_property
    def spin(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return body index, body axis (0, 1 or 2) and index in the flat velocities of every angular velocity
        component of the floating bodies. They are three arrays of one length, ordered by body."""
        triples = [
            (index, axis, int(self.velocity[index]) + body.dimension + k)
            for index, body in enumerate(self.bodies[: self.frames])
            for k, axis in enumerate(body.rotation_axes)
        ]
        table = np.array(triples, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    @cached_property
    def elastic_rate(self) -> IntArray:
        """Return the indices of the rates of all elastic coordinates of floating bodies in the flat velocities of
        the system, shape (elastic coordinates,)."""
        parts = [
            np.arange(self.velocity[index] + body.rigid_count, self.velocity[index + 1])
            for index, body in enumerate(self.bodies[: self.frames])
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    @cached_property
    def is_rigid(self) -> "np.typing.NDArray[np.bool_]":
        """Return a mask of the flat velocities that is False for rates of elastic coordinates and True for all
        others, shape (velocities,). True are translations, rotations and nodal velocities."""
        result = np.ones(int(self.velocity[-1]), dtype=bool)
        result[self.elastic_rate] = False
        return result

    def span(self, index: int) -> slice:
        """Return the slice of the flat velocities of the system that belongs to the body with this index."""
        return slice(int(self.velocity[index]), int(self.velocity[index + 1]))

    def elastic(self, index: int, position: Array, eta: Array) -> Array:
        """Return the elastic coordinates of the body with this index, shape (..., n). For a floating body they are
        its slice of the flat coordinates ``eta``, shape (..., coordinates). For strings and soft bodies they are
        the nodal positions, copied from ``position``, shape (..., carriers, 3), without z in the plane."""
        if index < self.frames:
            return eta[..., self.eta[index] : self.eta[index + 1]]
        nodes = position[..., self.carrier[index] : self.carrier[index + 1], :]
        d = self.bodies[index].dimension
        return nodes[..., :d].reshape(*nodes.shape[:-2], -1)


LARGEST = 500
"""Number of bodies and constraints up to which systems of one structure share their layout."""

_known_layout = lru_cache(32)(Layout)


def offsets(counts: list[int]) -> IntArray:
    """Return the cumulative sums of a list of lengths, beginning with 0, shape (counts + 1,). They are the indices
    at which the pieces of a concatenated array begin, followed by its total length."""
    return np.array([0, *accumulate(counts)], dtype=np.int64)
