"""World vectors at T instants: values, rates, derivatives; points x_c + R rho and directions R rho (2.1, 4.9).

Reference form in NumPy of what the compiled loops compute (docs/theory.md, 2 and 4), for many vectors and
many instants at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross
from phlexible.algebra.sparse import Matrix, Pattern, WeightedSums, weighted_sums
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.description.interactions.functions import (
    AXES,
    DirectionOf,
    PointOf,
    Vector,
    WorldAxis,
    frame_of_vector,
    initial_vector,
)
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody
from phlexible.state.instants import Instants, MeasuredInstant, PrescribedFunctions
from phlexible.state.layout import Layout
from phlexible.step.tables.declarations import GIVEN, MOVING


@dataclass(frozen=True, eq=False)
class CarriedVector:
    """World vector (point or direction) as numbers: the floating body or node that carries it, its undeformed value
    and its shape functions.

    Attributes:
        carrier: index of the carrier that moves it, or GIVEN (fixed in the world) or MOVING (in a moving frame).
        is_point: True of a point, False of a direction.
        base: rho without deformation, or the vector itself where nothing moves it, shape (3,); of a direction of
            a moving frame that of t = 0.
        shapes: d rho/d eta of its body, shape (3, n).
        frame: index of the moving frame; -1: none.
    """

    carrier: int
    is_point: bool
    base: Array
    shapes: Array
    frame: int = -1

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Return a hashable key of this point or direction on a body; vectors with equal keys have the same value
        at all times. It contains the carrying body or node, the kind, and the bytes of base value and shape
        functions."""
        return (self.carrier, self.is_point, self.frame, self.base.tobytes(), self.shapes.tobytes())


@dataclass(frozen=True, eq=False)
class VectorResolver:
    """Converter of symbolic world vectors to numbers: body or node, undeformed value and shape functions.

    Attributes:
        layout: layout of the arrays of the system.
        frames: index of each moving frame.
        bodies: index of each body.
        centres: place of the centre of mass of each floating body, S / m (2.6), each (3, n + 1).
    """

    layout: Layout
    frames: Mapping[MovingFrame, int]
    bodies: Mapping[PlacedBody, int]
    centres: Sequence[Array]
    _known: WeakKeyDictionary[Vector, list[tuple[float, CarriedVector]]] = field(
        default_factory=WeakKeyDictionary,
        init=False,  # a copy about other centres has others
    )

    def parts(self, vector: Vector) -> list[tuple[float, CarriedVector]]:
        """Return pairs (weight, numerical vector) whose weighted sum is a symbolic point or direction. A point
        between two nodes of a string and a direction of a shell are sums over nodes; any other vector has one pair
        of weight 1. The result is cached."""
        known = self._known.get(vector)
        if known is None:
            known = self._known[vector] = self._weighted_vectors(vector)
        return known

    def _weighted_vectors(self, vector: Vector) -> list[tuple[float, CarriedVector]]:
        if isinstance(vector, WorldAxis) or not isinstance(vector.port, Attachment):
            return [(1.0, self.resolve(vector))]
        port = vector.port
        is_point = isinstance(vector, PointOf)
        if not isinstance(port.placed.data, AbsoluteBody) or (is_point and port.point.node is not None):
            return [(1.0, self.resolve(vector))]
        first = int(self.layout.carrier[self.bodies[port.placed]])
        weights = port.point.shapes[0, :: port.placed.data.dimension]
        if isinstance(vector, DirectionOf):
            weights = port.direction_weights(vector.axis)
        nothing = np.zeros((3, 0))
        return [
            (float(weights[node]), CarriedVector(first + int(node), True, np.zeros(3), nothing))
            for node in np.flatnonzero(weights)
        ]

    def resolve(self, vector: Vector) -> CarriedVector:
        """Return a symbolic ``vector`` (point or direction) as a numerical ``CarriedVector``. It has the index of
        the body or node that moves it (or a mark: fixed to the ground, moving frame), its undeformed components in
        body axes (points: from the centre of mass), and shape functions. A point between two nodes fails an
        assertion."""
        nothing = np.zeros((3, 0))
        if isinstance(vector, WorldAxis) or not isinstance(vector.port, Attachment):
            is_point, frame = isinstance(vector, PointOf), frame_of_vector(vector)
            if frame is None:
                return CarriedVector(GIVEN, is_point, initial_vector(vector), nothing)
            base = vector.axis if isinstance(vector, DirectionOf) else np.zeros(3)
            return CarriedVector(MOVING, is_point, base, nothing, self.frames[frame])
        port = vector.port
        body, point = self.bodies[port.placed], port.point
        carrier = int(self.layout.carrier[body])
        if isinstance(port.placed.data, AbsoluteBody):
            assert point.node is not None, "a mechanism refuses joints and loads between nodes"
            return CarriedVector(carrier + point.node, True, np.zeros(3), nothing)
        if isinstance(vector, PointOf):
            centre = self.centres[body]
            return CarriedVector(carrier, True, point.position - centre[:, 0], point.shapes - centre[:, 1:])
        assert point.rotations is not None, "joints refuse ports without orientation"
        base = port.placed.rotation.T @ vector.axis
        return CarriedVector(carrier, False, base, point.direction_shapes(base))


@dataclass(frozen=True, eq=False)
class Motions:
    """Velocity components that rotate and deform bodies, listed for each vector that is attached to a floating
    body.

    Attributes:
        owner: number of the vector among those on floating bodies, shape (motions,).
        column: place in nu, shape (motions,).
        spin: axis of w, zero where it is deta/dt, shape (motions, 3).
        shape: d rho/d eta, zero where it is w, shape (motions, 3).
        first, second: motions of one vector that change each other's lever, shape (pairs,).
        pattern: places of the pairs in a matrix, shape (velocities,) * 2.
    """

    owner: IntArray
    column: IntArray
    spin: Array
    shape: Array
    first: IntArray
    second: IntArray
    pattern: Pattern


@dataclass(frozen=True, eq=False)
class VectorSet:
    """Set of k world vectors that are evaluated together, with their rates and derivatives.

    Attributes:
        vectors: the k vectors.
        layout: layout of the arrays of their system.
    """

    vectors: tuple[CarriedVector, ...]
    layout: Layout

    @cached_property
    def carrier(self) -> IntArray:
        """Return, for each of the k vectors of this set, the index of the floating body or node that moves it,
        shape (k,). Nodes are counted after the floating bodies. It is the negative constant GIVEN for a vector of
        the fixed ground, and MOVING for one of the moving ground."""
        return np.array([vector.carrier for vector in self.vectors], dtype=np.int64)

    @cached_property
    def base(self) -> Array:
        """Return the undeformed value of each of the k points and directions of this set, shape (k, 3). It is in
        the axes of the body or ground frame that moves the vector; zero for nodes."""
        return np.array([vector.base for vector in self.vectors]).reshape(-1, 3)

    @cached_property
    def is_point(self) -> Array:
        """Return an array of floats, shape (k,), that is 1.0 for each point of this set and 0.0 for each
        direction."""
        return np.array([float(vector.is_point) for vector in self.vectors])

    def values(self, at: Instants) -> Array:
        """Return the values of all k points [m] and unit directions of this set in world axes at the given
        instants, shape (instants, k, 3). They are computed once for each ``Instants`` object and cached there; a
        ``MeasuredInstant`` returns its measured values instead."""
        if isinstance(at, MeasuredInstant):
            return np.asarray(at.measured(self)[0])
        return at.once(self, "values", lambda: self._values(at))

    def _values(self, at: Instants) -> Array:
        x = np.broadcast_to(self.base, (at.count, *self.base.shape[-2:])).copy()
        given = at.prescribed
        self._set_on_moving(x, lambda k: given.frames[:, k], lambda k, base: given.frame_rotations[:, k] @ base)
        x[:, self._on_frames] = self._turned(at, self.local(at))
        x[:, self._points] += at.position[:, self.carrier[self._points]]
        return x

    def _set_on_moving(
        self, out: Array, points: Callable[[int], Array], directions: Callable[[int, Array], Array]
    ) -> None:
        """Write the values, or rates, of all vectors on moving ground frames into ``out``, shape (instants,
        vectors, 3). They come from two functions that are called with the index of a frame. ``points(frame)``
        returns those of the frame's origin, ``directions(frame, base)`` those of the direction that is ``base`` at
        t = 0; both have the shape (instants, 3).
        """
        for k in self._on_moving:
            frame = self.vectors[k].frame
            out[:, k] = points(frame) if self.vectors[k].is_point else directions(frame, self.base[k])

    def local(self, at: Instants) -> Array:
        """Return the points and directions of this set on floating bodies in body axes, elastic displacement
        included, shape (instants, vectors, 3). Points are relative to the centre of mass of the undeformed body.
        The result is computed once and cached in ``at``, the state at one or more instants."""
        return at.once(self, "local", lambda: self._local(at))

    def _local(self, at: Instants) -> Array:
        if at.count == 1 and not at.eta.any():
            return self._undeformed
        return np.asarray(self._undeformed + self._shapes.of(at.eta).reshape(at.count, -1, 3))

    def rates(self, at: Instants, velocity: Array) -> Array:
        """Return the time derivatives of the k vectors (points and directions) of this set in world axes, shape
        (instants, k, 3). They are computed from the ``velocity`` of the system, shape (instants, velocities), and
        the motion of ground frames. For a ``MeasuredInstant`` (state with measured vectors) its measured rates are
        returned and ``velocity`` is ignored."""
        if isinstance(at, MeasuredInstant):
            return np.asarray(at.measured(self)[1])
        result = self.prescribed_rates(at)
        linear, spin = split_rigid(self.layout, velocity)
        turning = cross(spin[:, self._frame], self.local(at)) + self._elastic_rates(velocity)
        result[:, self._on_frames] = self._turned(at, turning)
        result[:, self._points] += linear[:, self.carrier[self._points]]
        return result

    def generalized_forces(self, at: Instants, forces: Array) -> Array:
        """Return the generalized forces of world ``forces`` (instants, k, 3) on the k vectors (points,
        directions) of this set, shape (instants, velocities). Their product with the velocities is the power.
        They are computed by sums over the vectors, without the matrix of derivatives; forces on the ground have
        no effect."""
        layout, own = self.layout, forces[:, self._on_frames]
        linear, spin = np.zeros((at.count, len(layout.linear), 3)), np.zeros((at.count, layout.frames, 3))
        turned = np.einsum("tkji,tkj->tki", at.rotation[:, self._frame], own)
        np.add.at(linear.swapaxes(0, 1), self.carrier[self._points], forces[:, self._points].swapaxes(0, 1))
        np.add.at(spin.swapaxes(0, 1), self._frame, cross(self.local(at), turned).swapaxes(0, 1))
        frame, axis, index = layout.spin
        result = np.zeros((at.count, int(layout.velocity[-1])))
        result[:, layout.linear] = linear[:, :, : layout.linear.shape[1]]
        result[:, index] = spin[:, frame, axis]
        result[:, layout.elastic_rate] = self._shapes.transposed.of(turned.reshape(at.count, -1))
        return result

    def prescribed_rates(self, at: Instants) -> Array:
        """Return the time derivatives that the k world vectors of this set have because ground frames move
        while all bodies stand still: shape (instants, k, 3). They are zero for vectors of bodies. World
        vectors are points of bodies, or directions fixed to them, in world axes. ``at`` contains the state at
        one or more instants."""
        given, result = at.prescribed, np.zeros((at.count, len(self.vectors), 3))

        def direction_rates(k: int, base: Array) -> Array:
            return cross(given.frame_angular_velocities[:, k], given.frame_rotations[:, k] @ base)

        self._set_on_moving(result, lambda k: given.frame_velocities[:, k], direction_rates)
        return result

    def accelerations(self, at: Instants) -> Array:
        """Return the second time derivatives of the k vectors of this set at zero acceleration of the system,
        in world axes, shape (instants, k, 3). They are centripetal and Coriolis terms of the velocities in
        ``at``, and accelerations of ground frames. ``at`` must have prescribed functions, not recorded motions
        (asserted)."""
        given = at.prescribed
        assert isinstance(given, PrescribedFunctions), "recordings hold no accelerations of frames"
        result = np.zeros((at.count, len(self.vectors), 3))
        turning, moving = given.frame_rotation_curvatures, given.frame_accelerations
        self._set_on_moving(result, lambda k: moving[:, k], lambda k, base: turning[:, k] @ base)
        spin = split_rigid(self.layout, at.velocity)[1][:, self._frame]
        inner = cross(spin, self.local(at)) + 2 * self._elastic_rates(at.velocity)
        result[:, self._on_frames] = self._turned(at, cross(spin, inner))
        return result

    def jacobian(self, at: Instants) -> Matrix:
        """Return the Jacobian of the k points and directions of this set with respect to the velocities at one
        instant, shape (3 k, velocities). It is a NumPy array if the system is small, else a sparse matrix. ``at``
        must have exactly one instant (asserted)."""
        assert at.count == 1, "one instant at a time"
        motions = self._motions
        moved = cross(motions.spin, self.local(at)[0][motions.owner]) + motions.shape
        turned = at.rotation[0][self._frame[motions.owner]] @ moved[:, :, None]
        return self._pattern.matrix(np.concatenate([np.ones(self._linear[0].size), turned.ravel()]))

    def lever_stiffness(self, at: Instants, forces: Array) -> Matrix:
        """Return the derivative of the generalized forces of constant world ``forces`` with respect to the pose,
        shape (velocities, velocities). The forces, shape (k, 3), act on the k points and directions of this set.
        The derivative comes from the change of moment arms by rotation and deformation of floating bodies;
        translation has no effect. Rotations are in body axes. ``at`` is the state as an instant.

        For dq = (dx, dtheta, deta) with R exp(dtheta), in the places of nu: rows of w and eta of each frame,
        ``rho x phi`` and ``P^T phi`` with phi = R^T f (7.3). An array where it is small.
        """
        motions = self._motions
        first, second = motions.first, motions.second
        phi = (forces[self._on_frames, None] @ at.rotation[0][self._frame])[motions.owner, 0]
        bent, along = cross(phi, np.stack([motions.spin, motions.shape]))
        levers = cross(self.local(at)[0][motions.owner], bent) - along
        values = (motions.spin[first] * levers[second] + motions.shape[first] * bent[second]).sum(axis=1)
        return motions.pattern.matrix(values)

    @cached_property
    def _linear(self) -> tuple[IntArray, IntArray]:
        """Return the rows and columns, two index arrays, of the entries of the Jacobian of this set of world
        vectors that belong to translational velocities. Each vector that is a point on a body or node has one per
        axis, and all are 1; free directions have none."""
        d = self.layout.linear.shape[1]
        rows = 3 * self._points[:, None] + np.arange(d)
        return rows.ravel(), self.layout.linear[self.carrier[self._points]].ravel()

    @cached_property
    def _pattern(self) -> Pattern:
        """Return the sparsity pattern (row and column indices) of the derivatives of k vectors with respect to all
        velocities, shape (3 k, velocities). The vectors are points and directions on bodies. Entries by
        translations come first, then entries by rotations and elastic rates of floating bodies."""
        (rows, columns), motions = self._linear, self._motions
        indices = 3 * self._on_frames[motions.owner][:, None] + np.arange(3)
        return Pattern(
            np.concatenate([rows, indices.ravel()]),
            np.concatenate([columns, motions.column.repeat(3)]),
            (3 * len(self.vectors), int(self.layout.velocity[-1])),
        )

    @cached_property
    def _motions(self) -> "Motions":
        frame, axis, index = self.layout.spin
        none = np.zeros((0, 3))
        bodies: dict[int, tuple[IntArray, Array]] = {}  # places in nu of those of a body, and axes of w
        columns, spins, shapes, sizes = [none[:, 0].astype(np.int64)], [none], [none], []
        for number, body in zip(self._on_frames.tolist(), self._frame.tolist(), strict=True):
            own = self.vectors[number].shapes
            if body not in bodies:
                mine, end = frame == body, int(self.layout.velocity[body + 1])
                bodies[body] = np.r_[index[mine], end - own.shape[1] : end], AXES[axis[mine]]
            column, spin = bodies[body]
            columns.append(column)
            spins += [spin, np.zeros_like(own.T)]
            shapes += [np.zeros_like(spin), own.T]
            sizes.append((len(spin), len(column)))
        owner = np.repeat(np.arange(len(sizes)), [size for _, size in sizes])
        pairs, begin = [np.zeros((0, 2), dtype=np.int64)], 0
        patterns = {size: _coupled_pairs(*size) for size in set(sizes)}
        for one in sizes:
            pairs.append(patterns[one] + begin)
            begin += one[1]
        first, second = np.concatenate(pairs).T
        column, size = np.concatenate(columns), (int(self.layout.velocity[-1]),) * 2
        pattern = Pattern(column[first], column[second], size)
        return Motions(owner, column, np.concatenate(spins), np.concatenate(shapes), first, second, pattern)

    @cached_property
    def _on_moving(self) -> IntArray:
        return np.flatnonzero(self.carrier == MOVING)

    @cached_property
    def _points(self) -> IntArray:
        """Return the indices of those vectors of this set that are points of a body or node. Directions and points
        of the ground are left out."""
        return np.flatnonzero((self.carrier >= 0) & (self.is_point > 0))

    @cached_property
    def _undeformed(self) -> Array:
        """Return the undeformed components, in body axes, of those points and directions of this set that are on
        floating bodies. The shape is (1, vectors, 3), or (mechanisms, vectors, 3) if each of many mechanisms has
        its own."""
        values = self.base[..., self._on_frames, :]  # of many mechanisms, or of this one
        return values if values.ndim == 3 else values[None]

    @cached_property
    def _on_frames(self) -> IntArray:
        return np.flatnonzero((self.carrier >= 0) & (self.carrier < self.layout.frames))

    @cached_property
    def _frame(self) -> IntArray:
        return self.carrier[self._on_frames]

    @cached_property
    def _shapes(self) -> WeightedSums:
        """Return an operator (sparse matrix of shape functions) that computes the elastic displacements of all
        vectors on floating bodies, in body axes. It is applied to all elastic coordinates of the system. The
        result is one array with three components for each vector (a point's displacement or a direction's change),
        one after the other."""
        entries: list[tuple[float, int, int]] = []
        for k, (vector, frame) in enumerate(zip(self._on_frames, self._frame, strict=True)):
            shapes, first = self.vectors[vector].shapes, int(self.layout.eta[frame])
            rows, columns = np.nonzero(shapes)
            triples = (shapes[rows, columns], rows + 3 * k, columns + first)
            entries += zip(*(each.tolist() for each in triples), strict=True)
        return weighted_sums(entries, 3 * len(self._frame), int(self.layout.eta[-1]))

    def _turned(self, at: Instants, vectors: Array) -> Array:
        return np.asarray(np.einsum("tkij,tkj->tki", at.rotation[:, self._frame], vectors))

    def _elastic_rates(self, velocity: Array) -> Array:
        return self._shapes.of(velocity[:, self.layout.elastic_rate]).reshape(len(velocity), -1, 3)


def _coupled_pairs(spins: int, motions: int) -> IntArray:
    """Return the pairs of velocities of a body that have entries in the stiffness by moment arms, as indices, shape
    (pairs, 2). The indices count the ``motions`` velocities that move one vector: first ``spins`` rotations, then
    elastic rates. Pairs of two elastic rates are left out.
    """
    touching = np.ones((motions, motions), dtype=bool)
    touching[spins:, spins:] = False
    return np.argwhere(touching)


def split_rigid(layout: Layout, velocity: Array) -> tuple[Array, Array]:
    """Return the translational and the angular velocities of the bodies in flat velocities of a system, shape
    (..., velocities). The result has shape (..., c, 3) for all c floating bodies and nodes, and (..., f, 3) for
    the f floating bodies; components missing in the plane are zero. Small motions are split in the same way."""
    linear = np.zeros((*velocity.shape[:-1], len(layout.linear), 3))
    linear[..., : layout.linear.shape[1]] = velocity[..., layout.linear]
    spin = np.zeros((*velocity.shape[:-1], layout.frames, 3))
    frame, axis, index = layout.spin
    spin[..., frame, axis] = velocity[..., index]
    return linear, spin


def rotation_blocks(layout: Layout, turns: Iterable[Array]) -> Array:
    """Return an identity matrix, shape (velocities, velocities), in which the block of each floating body's
    angular velocity is replaced by a 3 x 3 matrix. ``turns`` has one matrix for each floating body; of bodies in
    the plane only the entry about z is used. ``layout`` has the indices of the velocities.

    With rotation matrices, (frames, 3, 3), it takes rotations in body axes to world axes.
    """
    frame, axis, index = layout.spin
    found = np.eye(int(layout.velocity[-1]))
    for b, turn in enumerate(turns):
        own = frame == b
        found[np.ix_(index[own], index[own])] = turn[np.ix_(axis[own], axis[own])]
    return found
