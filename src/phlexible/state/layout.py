"""Layout of the arrays of all bodies and joints, and the state of the whole system."""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, make_arrays_read_only
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
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


@dataclass(frozen=True, eq=False)
class Layout:
    """Offsets of bodies, joints and their components in the flat arrays of states. Bodies with a floating frame
    come first.

    Attributes:
        bodies: bodies of the system, those with a frame first.
        rows: number of joint functions of each constraint.
    """

    bodies: tuple[PlacedBody, ...]
    rows: tuple[int, ...]

    @cached_property
    def frames(self) -> int:
        """Number of floating bodies (bodies whose deformation is small in a frame that moves with them). They come
        first among the bodies."""
        return sum(isinstance(placed.data, FloatingBody) for placed in self.bodies)

    @cached_property
    def carrier(self) -> IntArray:
        """Index of the first carrier (floating body, or node of another body) of each body; followed by the number
        of all carriers, shape (bodies + 1,)."""
        bodies = (placed.data for placed in self.bodies)
        return offsets([data.node_count if isinstance(data, AbsoluteBody) else 1 for data in bodies])

    @cached_property
    def eta(self) -> IntArray:
        """Index of the first elastic coordinate of each floating body in the flat elastic coordinates of the
        system; followed by their total number, shape (floating bodies + 1,)."""
        return offsets([placed.data.elastic_count for placed in self.bodies[: self.frames]])

    @cached_property
    def velocity(self) -> IntArray:
        """Index of the first velocity component of each body in the flat velocities of the system, followed by
        their total number, shape (bodies + 1,)."""
        return offsets([placed.data.velocity_count for placed in self.bodies])

    @cached_property
    def multiplier(self) -> IntArray:
        """Index of the first multiplier (constraint force) of each constraint (joint, drive or relation) in the
        flat multipliers; followed by their total number, shape (constraints + 1,)."""
        return offsets(list(self.rows))

    @cached_property
    def carrier_velocity(self) -> IntArray:
        """Index of the first velocity component of each carrier (floating body, or node of another body) in the
        flat velocities; followed by their total number, shape (carriers + 1,)."""
        counts = []
        for placed in self.bodies:
            if isinstance(placed.data, AbsoluteBody):
                counts += [placed.data.dimension] * placed.data.node_count
            else:
                counts.append(placed.data.velocity_count)
        return offsets(counts)

    @cached_property
    def cluster(self) -> IntArray:
        """Index of the diagonal matrix block that holds the velocities of each carrier (floating body, or
        node of another body), shape (carriers,). The blocks are those of the block elimination that solves
        the equations of a time step. Only nodes of a soft body share blocks."""
        found, first = [], 0
        for placed, count in zip(self.bodies, np.diff(self.carrier), strict=True):
            sizes = placed.data.clusters if isinstance(placed.data, AbsoluteBody) else ()
            sizes = sizes or (1,) * int(count)
            found.append(first + np.repeat(np.arange(len(sizes)), sizes))
            first += len(sizes)
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    @cached_property
    def cluster_count(self) -> int:
        """Number of diagonal matrix blocks that hold velocities of bodies and nodes in the block elimination
        of the equations of a time step."""
        return self.clusters.count

    @cached_property
    def row_in_cluster(self) -> IntArray:
        """Index of the first row of each carrier (floating body, or node of another body) within its matrix
        block, shape (carriers,). The blocks are those of the block elimination of a time step. It is zero for
        all but soft bodies, whose nodes share blocks."""
        first = np.searchsorted(self.cluster, self.cluster)
        return np.asarray(self.carrier_velocity[:-1] - self.carrier_velocity[first])

    @cached_property
    def clusters(self) -> "Clusters":
        """Assignment of carriers (floating bodies, or nodes of other bodies) to matrix blocks of the block
        elimination: an immutable object that can be compared and hashed."""
        return Clusters(tuple(self.cluster.tolist()))

    def node(self, part: int) -> int:
        """Return the index of the matrix block that holds group ``part`` of unknowns in the block elimination
        of a time step. Groups are numbered: carriers first (floating bodies, or nodes of other bodies), then
        auxiliary vectors and constraints. Nodes of a soft body may share a block."""
        return self.clusters.node(part)

    def row_in_node(self, part: int) -> int:
        """Return the index of the first row of the unknowns with the number ``part`` within their matrix block of
        the block elimination. Unknowns are numbered: carriers (floating bodies, nodes) first, then auxiliary
        vectors and constraints. It is zero for all but soft bodies, whose nodes share blocks."""
        return int(self.row_in_cluster[part]) if part < len(self.cluster) else 0

    @cached_property
    def linear(self) -> IntArray:
        """Indices of the translational velocity components of each carrier (floating body, or node of another body)
        in the flat velocities, shape (carriers, dimension)."""
        d = self.bodies[0].data.dimension if self.bodies else 3
        return np.asarray(self.carrier_velocity[:-1, None] + np.arange(d))

    @cached_property
    def spin(self) -> tuple[IntArray, IntArray, IntArray]:
        """Body index, body axis (0, 1, 2) and index in the flat velocities of every component of the angular
        velocities of all floating bodies: three arrays of the same length."""
        triples = [
            (index, axis, int(self.velocity[index]) + placed.data.dimension + k)
            for index, placed in enumerate(self.bodies[: self.frames])
            for k, axis in enumerate(placed.data.rotation_axes)
        ]
        table = np.array(triples, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    @cached_property
    def elastic_rate(self) -> IntArray:
        """Indices of the time derivatives of all elastic coordinates (of all floating bodies) in the flat
        velocities of the system, shape (elastic coordinates,)."""
        parts = [
            np.arange(self.velocity[index] + placed.data.rigid_count, self.velocity[index + 1])
            for index, placed in enumerate(self.bodies[: self.frames])
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    @cached_property
    def is_rigid(self) -> "np.typing.NDArray[np.bool_]":
        """Mask of the flat velocities of the system, shape (velocities,): False for rates of elastic coordinates,
        True for all others (translations, rotations and nodal velocities)."""
        result = np.ones(int(self.velocity[-1]), dtype=bool)
        result[self.elastic_rate] = False
        return result

    def span(self, index: int) -> slice:
        """Return the slice of the flat velocities of the system that belongs to the body with this index."""
        return slice(int(self.velocity[index]), int(self.velocity[index + 1]))

    def elastic(self, index: int, position: Array, eta: Array) -> Array:
        """Return the elastic coordinates of the body with this index, shape (..., n). They are taken from the
        positions of all carriers (floating bodies, or nodes of other bodies), shape (..., c, 3), and the flat
        elastic coordinates ``eta`` of all floating bodies, shape (..., coordinates). For strings and soft
        bodies they are the nodal positions."""
        if index < self.frames:
            return eta[..., self.eta[index] : self.eta[index + 1]]
        nodes = position[..., self.carrier[index] : self.carrier[index + 1], :]
        d = self.bodies[index].data.dimension
        return nodes[..., :d].reshape(*nodes.shape[:-2], -1)


@dataclass(frozen=True)
class Clusters:
    """Assignment of carriers (bodies or nodes) to matrix blocks of the elimination. The velocities of carriers in
    one block are eliminated together.

    Attributes:
        of: number of the node of each carrier, ascending.
    """

    of: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of matrix blocks of the block elimination that hold velocities of carriers (floating bodies, or
        nodes of other bodies)."""
        return self.of[-1] + 1 if self.of else 0

    def node(self, part: int) -> int:
        """Return the index of the matrix block that holds the unknowns with the number ``part`` in the block
        elimination of a time step. Unknowns are numbered: carriers (floating bodies, or nodes of other
        bodies) first, then auxiliary vectors and constraints."""
        return self.of[part] if part < len(self.of) else part - len(self.of) + self.count


def offsets(counts: list[int]) -> IntArray:
    """Return the cumulative sums of a list of lengths, beginning with 0, shape (counts + 1,): where each part of a
    concatenated array begins, and its total length."""
    return np.array([0, *accumulate(counts)], dtype=np.int64)
