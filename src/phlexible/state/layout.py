"""Layout of the arrays of all bodies and joints, and the state of the whole system."""

from dataclasses import dataclass
from functools import cached_property

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
    """Return whether two states have exactly the same time, positions, rotations and elastic coordinates."""
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
        """Number of floating bodies."""
        return sum(isinstance(placed.data, FloatingBody) for placed in self.bodies)

    @cached_property
    def carrier(self) -> IntArray:
        """Index of the first carrier (floating body or node) of each body, followed by the number of all carriers,
        shape (bodies + 1,).
        """
        bodies = (placed.data for placed in self.bodies)
        return offsets([data.node_count if isinstance(data, AbsoluteBody) else 1 for data in bodies])

    @cached_property
    def eta(self) -> IntArray:
        """Index of the first elastic coordinate of each floating body, followed by the number of all, shape (frames
        + 1,).
        """
        return offsets([placed.data.elastic_count for placed in self.bodies[: self.frames]])

    @cached_property
    def velocity(self) -> IntArray:
        """Index of the first velocity of each body in the flat velocities, followed by the number of all, shape
        (bodies + 1,).
        """
        return offsets([placed.data.velocity_count for placed in self.bodies])

    @cached_property
    def multiplier(self) -> IntArray:
        """Index of the first multiplier of each constraint, followed by the number of all, shape (constraints +
        1,).
        """
        return offsets(list(self.rows))

    @cached_property
    def carrier_velocity(self) -> IntArray:
        """Index of the first velocity of each carrier (floating body or node), followed by the number of all, shape
        (carriers + 1,).
        """
        counts = []
        for placed in self.bodies:
            if isinstance(placed.data, AbsoluteBody):
                counts += [placed.data.dimension] * placed.data.node_count
            else:
                counts.append(placed.data.velocity_count)
        return offsets(counts)

    @cached_property
    def cluster(self) -> IntArray:
        """Index of the matrix block of the elimination that holds the velocities of each carrier (body or node),
        shape (carriers,). Only nodes of a soft body share blocks.
        """
        found, first = [], 0
        for placed, count in zip(self.bodies, np.diff(self.carrier), strict=True):
            sizes = placed.data.clusters if isinstance(placed.data, AbsoluteBody) else ()
            sizes = sizes or (1,) * int(count)
            found.append(first + np.repeat(np.arange(len(sizes)), sizes))
            first += len(sizes)
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    @cached_property
    def cluster_count(self) -> int:
        """Number of matrix blocks of the elimination that hold the velocities of carriers (bodies or nodes)."""
        return self.clusters.count

    @cached_property
    def row_in_cluster(self) -> IntArray:
        """Index of the first row of each carrier (body or node) in its matrix block of the elimination, shape
        (carriers,).
        """
        first = np.searchsorted(self.cluster, self.cluster)
        return np.asarray(self.carrier_velocity[:-1] - self.carrier_velocity[first])

    @cached_property
    def clusters(self) -> "Clusters":
        """Assignment of carriers (bodies or nodes) to matrix blocks of the elimination, as an object that can be
        compared.
        """
        return Clusters(tuple(self.cluster.tolist()))

    def node(self, part: int) -> int:
        """Return the index of the matrix block (node of the block elimination) that holds the unknowns of a part.
        Parts are carriers (bodies or nodes), then auxiliary vectors and constraints.
        """
        return self.clusters.node(part)

    def row_in_node(self, part: int) -> int:
        """Return the index of the first row of a part (carrier, auxiliary vector or constraint) in its matrix
        block, the node of the block elimination.
        """
        return int(self.row_in_cluster[part]) if part < len(self.cluster) else 0

    @cached_property
    def linear(self) -> IntArray:
        """Indices of the translational velocity of each carrier (floating body or node) in the flat velocities,
        shape (carriers, dimension).
        """
        d = self.bodies[0].data.dimension if self.bodies else 3
        return np.asarray(self.carrier_velocity[:-1, None] + np.arange(d))

    @cached_property
    def spin(self) -> tuple[IntArray, IntArray, IntArray]:
        """Frame, axis and index in the flat velocities of every component of the angular velocities, three arrays
        of the same length.
        """
        triples = [
            (index, axis, int(self.velocity[index]) + placed.data.dimension + k)
            for index, placed in enumerate(self.bodies[: self.frames])
            for k, axis in enumerate(placed.data.rotation_axes)
        ]
        table = np.array(triples, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    @cached_property
    def elastic_rate(self) -> IntArray:
        """Indices of the elastic rates of all floating bodies in the flat velocities, shape (elastic
        coordinates,).
        """
        parts = [
            np.arange(self.velocity[index] + placed.data.rigid_count, self.velocity[index + 1])
            for index, placed in enumerate(self.bodies[: self.frames])
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    @cached_property
    def is_rigid(self) -> "np.typing.NDArray[np.bool_]":
        """Mask of the flat velocities that is true for translations, rotations and nodes and false for elastic
        rates, shape (velocities,).
        """
        result = np.ones(int(self.velocity[-1]), dtype=bool)
        result[self.elastic_rate] = False
        return result

    def place(self, index: int) -> slice:
        """Return the slice of the flat velocities that belongs to the body with this index."""
        return slice(int(self.velocity[index]), int(self.velocity[index + 1]))

    def elastic(self, index: int, position: Array, eta: Array) -> Array:
        """Return the elastic coordinates of one body, from the positions of all carriers, shape (..., c, 3), and
        all elastic coordinates, shape (..., n). For a body in absolute coordinates they are its nodal positions.
        """
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
        """Number of matrix blocks of the elimination that hold velocities of carriers (bodies or nodes)."""
        return self.of[-1] + 1 if self.of else 0

    def node(self, part: int) -> int:
        """Return the index of the matrix block (node of the block elimination) that holds the unknowns of a part.
        Parts are carriers (bodies or nodes), then auxiliary vectors and constraints.
        """
        return self.of[part] if part < len(self.of) else part - len(self.of) + self.count


def offsets(counts: list[int]) -> IntArray:
    """Return the cumulative sums of counts, beginning with 0, shape (counts + 1,)."""
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, dtype=np.int64, out=found[1:])
    return found
