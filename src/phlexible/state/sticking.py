"""Friction that sticks where nothing moves: bristles as springs of equilibria and of small motions.

A bristle holds the way u from the pose that it counts from, f = k u as far as the friction at the end of the way
allows (docs/theory.md, 8; (8.45)). It is bent along a coordinate of a joint, along the directions of a plane, or in
world axes where surfaces touch whose normal turns.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.description.interactions.force_elements import Bristle, Coulomb
from phlexible.description.interactions.functions import (
    AXES,
    BilinearTerm,
    Chord,
    DirectionOf,
    PointOf,
    Row,
    WorldAxis,
    single,
)
from phlexible.description.interactions.surfaces import (
    RubbingCoordinate,
    SegmentCoordinate,
    SlidingCoordinate,
)
from phlexible.state.branches import BRISTLE, BristleKind, bristles_of, remembered_count
from phlexible.state.forces import ElementState, element_state
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.system import System


@dataclass(frozen=True, eq=False)
class Hold:
    """One bristle at one pose.

    Attributes:
        z: how it is bent, shape (m,).
        force: on what it holds, along its rows, shape (m,).
        rows: d(slide)/dq, shape (m, velocities).
        tangent: d(force)/d(slide), shape (m, m).
        to_gap: d(force)/d(gap), shape (m,).
        limit: of the force [N or N m].
        slips: whether it would be bent further than that holds it.
        remembered: as ``State.branches`` has it.
    """

    z: Array
    force: Array
    rows: Array
    tangent: Array
    to_gap: Array
    limit: float
    slips: bool
    remembered: Array


@dataclass(frozen=True, eq=False)
class StickingFriction:
    """All bristles of a system, each bent by the way from a pose.

    Attributes:
        system: with the elements.
        start: from where the ways count, with how far bristles are bent there.
        has_slipped: which let go before, and are held by kinetic friction only, shape (bristles,).
    """

    system: System
    start: State
    has_slipped: BoolArray

    @classmethod
    def of(cls, system: System, start: State) -> "StickingFriction":
        """From a state, in which those that slip are known."""
        slipped = _remembered(start, len(bristles_of(system)))[:, 6] > 0
        return cls(system, start, slipped)

    def letting_go(self, slips: BoolArray) -> "StickingFriction":
        """The same where these, too, let go."""
        return replace(self, has_slipped=self.has_slipped | slips)

    @property
    def count(self) -> int:
        """Number of bristles."""
        return len(self.has_slipped)

    @cached_property
    def grips(self) -> BoolArray:
        """Which hold more before they let go than after that, shape (bristles,)."""
        return np.array([bristle.grip != 1.0 for *_, bristle in self._bristles], dtype=bool)

    @cached_property
    def follows_joints(self) -> bool:
        """Whether the limit of a bristle follows the force that a joint transmits."""
        frictions = [self.system.forces[k].force.friction for k, *_ in self._bristles]
        return any(friction is not None and friction.joint is not None for friction in frictions)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the elements that they are of."""
        return tuple(str(self.system.forces[k].element) for k, *_ in self._bristles)

    @cached_property
    def _began(self) -> tuple[Instants, Array, Array]:
        at = self.system.at(self.start)
        return at, element_state(self.system, at).theta, self.system.force_functions.values(at)[0]

    def at(self, state: State, multipliers: Array) -> list[Hold]:
        """What they do at a pose where joints transmit these multipliers."""
        if not self.count:
            return []
        poses = self._poses(state)
        return [self._hold(own, poses, multipliers, False) for own in range(self.count)]

    def stiffness_if_stuck(self, state: State, numbers: Set[int]) -> sparse.csr_array:
        """What those of some forces, by their numbers, would resist with, if all of them stuck."""
        size = int(self.system.layout.velocity[-1])
        total, none = sparse.csr_array((size, size)), np.zeros(0)
        own = [place for place, (k, *_) in enumerate(self._bristles) if k in numbers]
        poses = self._poses(state) if own else None
        for place in own:
            assert poses is not None, "there are some"
            hold = self._hold(place, poses, none, True)
            rows = sparse.csr_array(hold.rows)
            total = total - rows.T @ sparse.csr_array(hold.tangent) @ rows
        return sparse.csr_array(total)

    @cached_property
    def _bristles(self) -> list[tuple[int, BristleKind, Bristle]]:
        return list(bristles_of(self.system))

    def _poses(self, state: State) -> "_Poses":
        at = self.system.at(state)
        elements = element_state(self.system, at)
        starts = np.cumsum([0, *(len(each) for each in elements.gradients)])
        return _Poses(at, elements, self.system.force_functions.values(at)[0], starts)

    def _hold(self, own: int, poses: "_Poses", multipliers: Array, is_stuck: bool) -> Hold:
        """Of one bristle; ``is_stuck``: whatever presses."""
        (k, kind, bristle), (at, elements, values, starts) = self._bristles[own], poses
        remembered = _remembered(self.start, self.count)[own]
        force = self.system.forces[k].force
        assert force.friction is not None, "it has a bristle"
        normal, slope = 1.0, 0.0
        if force.contact:
            side = force.contact.side
            normal = side * force.contact.force(float(elements.theta[k]), force.rest)
            slope = side * force.contact.slope(float(elements.theta[k]), force.rest)
        if is_stuck:
            normal, slope = np.inf, 0.0
        if normal == 0.0:
            count = len(force.coordinate.across) if isinstance(force.coordinate, SlidingCoordinate) else 3
            return _loose(1 if kind is BristleKind.DRILLING else count, elements.matrix.shape[1])
        level = self._level(force.friction, multipliers)
        if kind is not BristleKind.SLIDING:
            level = bristle.lever
        level *= 1.0 if self.has_slipped[own] else bristle.grip
        sizes = (level * normal, level * slope)
        if isinstance(force.coordinate, RubbingCoordinate):
            side = force.contact.side if force.contact else 1.0
            way = self._way(at, force.coordinate, side, kind)
            return _held_where_they_touch(way, bristle, sizes, remembered)
        if force.contact:
            along = slice(starts[k] + 1, starts[k + 1])
            u, rows = values[along] - self._began[2][along], elements.matrix[along].toarray()
        else:
            u, rows = elements.theta[k : k + 1] - self._began[1][k], elements.rows[[k]].toarray()
            if force.coordinate.is_angle:
                u = (u + np.pi) % (2 * np.pi) - np.pi
        return _held(bristle, remembered[: len(u)], u, rows, sizes, np.zeros(3))

    def sticks(self, holds: Sequence[Hold], is_balanced: bool) -> BoolArray:
        """Which hold small motions, shape (bristles,).

        Args:
            holds: at the pose.
            is_balanced: whether joints transmit there what loads ask for; those that follow it hold otherwise too.
        """
        forces = [self.system.forces[k].force for k, *_ in self._bristles]
        found = []
        for force, hold in zip(forces, holds, strict=True):
            follows = force.friction is not None and force.friction.joint is not None
            found.append(not hold.slips and (hold.limit > 0 or (follows and not is_balanced)))
        return np.array(found, dtype=bool)

    def forces(self, holds: Sequence[Hold]) -> Array:
        """Of all bristles against nu, shape (velocities,)."""
        total = np.zeros(int(self.system.layout.velocity[-1]))
        for hold in holds:
            total += hold.rows.T @ hold.force
        return total

    def stiffness(
        self,
        state: State,
        holds: Sequence[Hold],
        sticks: BoolArray | None = None,
        with_curvature: bool = True,
    ) -> sparse.csr_array:
        """d(forces)/dq, shape (velocities,) * 2; of places that touch on curved surfaces without their turning.

        Args:
            state: where.
            holds: there.
            sticks: the stiffness of these only, and not what follows the gap, shape (bristles,).
            with_curvature: what forces at the pose do where their directions turn.
        """
        size = int(self.system.layout.velocity[-1])
        total = sparse.csr_array((size, size))
        if not self.count:
            return total
        at = self.system.at(state)
        elements = element_state(self.system, at)
        pulls, bends = np.zeros(self.system.force_functions.count), []
        starts = np.cumsum([0, *(len(each) for each in elements.gradients)])
        for own, ((k, kind, _), hold) in enumerate(zip(self._bristles, holds, strict=True)):
            rows = sparse.csr_array(hold.rows)
            if sticks is None or sticks[own]:
                total = total + rows.T @ sparse.csr_array(hold.tangent) @ rows
            force = self.system.forces[k].force
            if force.contact and sticks is None:
                total = total + rows.T @ sparse.csr_array(np.outer(hold.to_gap, elements.rows[[k]].toarray()))
            if isinstance(force.coordinate, RubbingCoordinate):
                if with_curvature and hold.force.any():
                    side = force.contact.side if force.contact else 1.0
                    total = total + _turning(self.system, at, force.coordinate, side, kind, hold.force)
                continue
            if force.contact:
                pulls[starts[k] + 1 : starts[k + 1]] += hold.force
            else:
                pulls[starts[k] : starts[k + 1]] += hold.force[0] * elements.gradients[k]
                bends.append((k, hold.force[0]))
        if with_curvature:
            total = total + _curvature(elements, bends, starts) + elements.functions.stiffness(at, pulls)
        return sparse.csr_array(total)

    def damping(self, holds: Sequence[Hold], sticks: BoolArray) -> sparse.csr_array:
        """Of the dampers beside those that stick, shape (velocities,) * 2."""
        size = int(self.system.layout.velocity[-1])
        total = sparse.csr_array((size, size))
        for (*_, bristle), hold, is_held in zip(self._bristles, holds, sticks, strict=True):
            if is_held and bristle.damping:
                rows = sparse.csr_array(hold.rows)
                total = total + bristle.damping * (rows.T @ rows)
        return sparse.csr_array(total)

    def independent_rows(self, holds: Sequence[Hold], sticks: BoolArray) -> list[tuple[int, float, Array]]:
        """Of each that sticks the number of its force, its stiffness k, and d(slide)/dq without repeated rows."""
        found = []
        for (k, _, bristle), hold, is_held in zip(self._bristles, holds, sticks, strict=True):
            if is_held:
                shares, directions = np.linalg.eigh(-hold.tangent / bristle.stiffness)
                rows = directions[:, shares > 0.5].T @ hold.rows
                found.append((k, bristle.stiffness, rows[np.abs(rows).max(axis=1) > 0]))
        return found

    def remembering(self, state: State, holds: Sequence[Hold]) -> State:
        """The state with bristles bent so."""
        if not self.count:
            return state
        branches = np.zeros(remembered_count(self.system))
        branches[len(branches) - len(BRISTLE) * self.count :] = np.concatenate([each.remembered for each in holds])
        return replace(state, branches=branches)

    def _level(self, friction: Coulomb, multipliers: Array) -> float:
        if friction.joint is None:
            return friction.level
        owners = self.system.owners
        own = [m for m, each in enumerate(owners) if each.joint is friction.joint and not each.row.is_angle]
        return friction.level + friction.share * float(np.linalg.norm(multipliers[own]))

    def _way(self, at: Instants, coordinate: RubbingCoordinate, side: float, kind: BristleKind) -> "Way":
        """Of places that touch (8.28), or of turns (8.46): of the mean for the way, of the end for the force."""
        system, before = self.system, self._began[0]
        chord = coordinate.functions()[coordinate.gap_count].terms[0].first
        vectors = system.vectors([vector for _, vector in chord.parts])
        x0, x1 = vectors.places(before)[0], vectors.places(at)[0]
        n0, n1 = (_normal(system, each, coordinate) for each in (before, at))
        middle = _unit(n0 + n1)
        if kind is BristleKind.SLIDING:
            mean, end = (
                np.kron(_weights(coordinate, x, Touch.of(coordinate, side, x, n)), np.eye(3))
                for x, n in (((x0 + x1) / 2, middle), (x1, n1))
            )
        else:
            mean, end = _turns(coordinate, (x0 + x1) / 2), _turns(coordinate, x1)
        u = mean @ (x1 - x0).ravel()
        rows = (sparse.csr_array(end) @ sparse.csr_array(vectors.jacobian(at))).toarray()
        if kind is BristleKind.DRILLING:
            return Way(np.array([u @ middle]), n1[None] @ rows, n1, None)
        u = _turned(u - (u @ middle) * middle, middle, n1)
        flat = kind is BristleKind.ROLLING and coordinate.dimension == 2
        axes = np.eye(3) if flat else _axes(coordinate, x1)
        return Way(u, (np.eye(3) - np.outer(n1, n1)) @ rows, n1, axes)


class _Poses(NamedTuple):
    """A pose as bristles see it.

    Attributes:
        at: the instant.
        elements: all force elements.
        values: of their functions.
        starts: of each among these.
    """

    at: Instants
    elements: ElementState
    values: Array
    starts: Array


@dataclass(frozen=True, eq=False)
class Way:
    """How far surfaces that touch slid or turned.

    Attributes:
        u: shape (3,), or of turns about the normal (1,).
        rows: its derivative, shape (3, velocities) or (1, velocities).
        normal: of the surface, shape (3,).
        axes: that carry the bristle, shape (3, 3); None: of a turn about the normal.
    """

    u: Array
    rows: Array
    normal: Array
    axes: Array | None


def _loose(count: int, velocities: int) -> Hold:
    """Of a bristle where nothing touches."""
    z, rows, tangent = np.zeros(count), np.zeros((count, velocities)), np.zeros((count, count))
    return Hold(z, z, rows, tangent, z, 0.0, False, np.zeros(len(BRISTLE)))


def _held_where_they_touch(way: Way, bristle: Bristle, sizes: tuple[float, float], own: Array) -> Hold:
    """Of a bristle that was ``own``, shape (7,)."""
    if way.axes is None:
        return _held(bristle, own[:1], way.u, way.rows, sizes, np.zeros(3))
    z = _turned(own[:3] @ way.axes, own[3:6] @ way.axes, way.normal)
    hold = _held(bristle, z, way.u, way.rows, sizes, way.normal)
    inverse = np.linalg.inv(way.axes)
    remembered = np.concatenate([hold.z @ inverse, way.normal @ inverse, hold.remembered[6:]])
    return replace(hold, remembered=remembered)


def _remembered(state: State, count: int) -> Array:
    """What bristles are at a state, shape (bristles, 7)."""
    if state.branches is None or not count:
        return np.zeros((count, len(BRISTLE)))
    return state.branches[len(state.branches) - len(BRISTLE) * count :].reshape(count, len(BRISTLE))


def _held(bristle: Bristle, z: Array, u: Array, rows: Array, sizes: tuple[float, float], normal: Array) -> Hold:
    """(8.45): as far as the limit, ``sizes[0]``, whose derivative to the gap is ``sizes[1]``, allows."""
    k, (limit, slope) = bristle.stiffness, sizes
    longest, kept = limit / k, np.linalg.norm(z)
    trial = z * min(1.0, longest / kept if kept else 1.0) + u
    size = float(np.linalg.norm(trial))
    slips = size > longest
    across = np.eye(len(u)) - np.outer(normal, normal)[: len(u), : len(u)]
    if slips:
        e = trial / size
        bent, tangent, to_gap = longest * e, -(limit / size) * (across - np.outer(e, e)), -slope * e
    else:
        bent, tangent, to_gap = trial, -k * across, np.zeros(len(u))
    remembered = np.concatenate([bent, np.zeros(6 - len(u)), [float(slips)]])
    return Hold(bent, -k * bent, rows, tangent, to_gap, limit, slips, remembered)


def _curvature(elements: ElementState, bends: list[tuple[int, float]], starts: Array) -> sparse.csr_array:
    """Of coordinates that are no linear functions, times the forces along them."""
    count = elements.matrix.shape[0]
    inner = sparse.lil_array((count, count))
    for k, force in bends:
        own = slice(int(starts[k]), int(starts[k + 1]))
        inner[own, own] += force * elements.hessians[k]
    return sparse.csr_array(elements.matrix.T @ sparse.csr_array(inner) @ elements.matrix)


def _unit(v: Array) -> Array:
    size = float(np.linalg.norm(v))
    return v / size if size else v


def _turned(z: Array, normal: Array, onto: Array) -> Array:
    """z turned by the smallest rotation from one normal to another, with its length; zero without a normal."""
    m, size = _unit(normal), float(np.linalg.norm(z))
    both = m + onto
    square = float(both @ both)
    if not size or not m.any() or square <= 1.0:
        return z
    turned = z - 2 * (both @ z) / square * both + 2 * (m @ z) * onto
    turned = turned - (turned @ onto) * onto
    return size * _unit(turned)


def _normal(system: System, at: Instants, coordinate: RubbingCoordinate) -> Array:
    """dtheta/dx of the point that touches, as a unit vector."""
    functions = system.coordinate_functions(coordinate.gap)
    gradient = coordinate.gap.gradient(functions.values(at)[0])
    key = system.resolver.resolve(PointOf(coordinate.toucher)).key
    owner, numbers = functions.parts
    own = np.array([functions.set.vectors[k].key == key for k in numbers])
    return _unit(np.asarray((gradient[owner[own], None] * functions.gradients(at)[0, own]).sum(axis=0)))


@dataclass(frozen=True)
class Touch:
    """Where two bodies touch.

    Attributes:
        others: shares of the points of the second side in the position on its axis.
        apart: from that of the second to that of the first, shape (3,) [m].
        arm: from that of the first to where they touch, shape (3,) [m].
    """

    others: Array
    apart: Array
    arm: Array

    @classmethod
    def of(cls, coordinate: RubbingCoordinate, side: float, x: Array, normal: Array) -> "Touch":
        """By the vectors x (k, 3) of what slides."""
        gap, others = coordinate.gap, np.ones(len(coordinate.carriers))
        if isinstance(gap, SegmentCoordinate):
            along = x[2] - x[1]
            share = float(np.clip((x[0] - x[1]) @ along / (along @ along), 0.0, 1.0))
            others = np.array([1.0 - share, share])
        apart = x[0] - others @ x[1 : coordinate.points]
        arm = -side * coordinate.radius * normal
        if isinstance(gap, SegmentCoordinate):
            arm = -apart
        return cls(others, apart, arm)

    def on_directions(self, coordinate: RubbingCoordinate, x: Array, beyond: Array) -> Array:
        """Weights of the directions in x: of the first those of ``arm``, of the second those of ``beyond``."""
        weights, d = np.zeros(len(x)), coordinate.dimension
        middle = coordinate.points + coordinate.turning
        for begin, end, shares, arm in (
            (coordinate.points, middle, np.ones(1), self.arm),
            (middle, len(x), -self.others, beyond),
        ):
            for k, share in zip(range(begin, end, d), shares, strict=False):
                weights[k : k + d] = share * _shares(x[k : k + d], arm, d)
        return weights


def _weights(coordinate: RubbingCoordinate, x: Array, touch: Touch) -> Array:
    """c_k of (8.28) for the vectors x (k, 3) of what slides."""
    weights = touch.on_directions(coordinate, x, touch.apart + touch.arm)
    weights[: coordinate.points] = np.concatenate([[1.0], -touch.others])
    return weights


def _turns(coordinate: RubbingCoordinate, x: Array) -> Array:
    """psi of (8.46) by the changes of the vectors x (k, 3) of what slides, shape (3, 3 k)."""
    result = np.zeros((3, 3 * len(x)))
    points, end = coordinate.points, coordinate.points + coordinate.turning
    for own, sign in ((slice(points, end), 1.0), (slice(end, len(x)), -1.0)):
        if len(d := x[own]):
            spread = (d**2).sum() * np.eye(3) - d.T @ d
            crosses = np.concatenate([cross_matrix(each) for each in d], axis=1)
            result[:, 3 * own.start : 3 * own.stop] = sign * np.linalg.solve(spread, crosses)
    return result


def _turning(
    system: System, at: Instants, coordinate: RubbingCoordinate, side: float, kind: BristleKind, force: Array
) -> sparse.csr_array:
    """How a force where surfaces touch, held by the surface's body, turns with the bodies: what has a potential.

    It goes with the centre of what touches, (x_b - x_a) . f. Its moments about centre and surface, by the radius,
    are circulatory where they turn, and so are couples; the symmetric part of that is zero, as of semitangential
    moments.
    """
    carrier, points, turning = coordinate.carriers[0], coordinate.points, coordinate.turning
    chord = coordinate.functions()[coordinate.gap_count].terms[0].first
    vectors = system.vectors([vector for _, vector in chord.parts])
    x, d = vectors.places(at)[0], coordinate.dimension
    n = _normal(system, at, coordinate)
    if kind is not BristleKind.SLIDING:
        couple = force if kind is BristleKind.ROLLING else force[0] * n
        pulls = (_turns(coordinate, x).T @ couple).reshape(-1, 3)
        bent = sparse.csr_array(vectors.lever_stiffness(at, pulls))
        return sparse.csr_array((bent - bent.T) / 2)
    touch = Touch.of(coordinate, side, x, n)
    weights = _weights(coordinate, x, touch)
    held = tuple((float(w), v) for w, (_, v) in zip(weights[:points], chord.parts, strict=False))
    turns = len(x) > points + turning
    axes = [DirectionOf(carrier, axis) if turns else WorldAxis(axis) for axis in AXES[:d]]
    rows = [Row((BilinearTerm(1.0, Chord(held), single(axis)),), 0.0, "sliding") for axis in axes]
    functions, pulls = system.functions(rows), force[:d]
    if turns:
        pulls = _shares(x[points + turning : points + turning + d], force, d)
    total = sparse.csr_array(functions.stiffness(at, pulls))
    on = touch.on_directions(coordinate, x, touch.arm)
    bent = sparse.csr_array(vectors.lever_stiffness(at, on[:, None] * force))
    return sparse.csr_array(total + (bent - bent.T) / 2)


def _shares(directions: Array, arm: Array, dimension: int) -> Array:
    """Coefficients of directions (d, 3) of a body that make up an arm."""
    return np.asarray(np.linalg.solve(directions[:, :dimension].T, arm[:dimension]))


def _axes(coordinate: RubbingCoordinate, x: Array) -> Array:
    """Directions that carry the bristle: of the surface, else of what touches, else of the world; (3, 3)."""
    first = coordinate.points + coordinate.turning
    if len(x) <= first:
        if not coordinate.turning:
            return np.eye(3)
        first = coordinate.points
    axes = np.eye(3)
    axes[: coordinate.dimension] = x[first : first + coordinate.dimension]
    return axes
