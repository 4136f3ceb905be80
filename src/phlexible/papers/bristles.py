"""Friction that sticks in the papers' equations: bristles as storages, joined by transformers to what slides.

The law (docs/theory.md, 8; (8.49)) is what steps of (8.41) and (8.42) become as they grow shorter, with

    J = [[0, -j V^T], [j V, S]],  R = [[a d V^T V, r V^T], [r V, (1 - a p)/d]],  j = a (1 + p)/2,  r = a (p - 1)/2

of the velocities and z with v = V nu and the effort k z; S turns z with its normal and body.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.force_elements import Bristle, CoordinateForce
from phlexible.description.interactions.surfaces import RubbingCoordinate, SegmentCoordinate, SlidingCoordinate
from phlexible.papers.joined_functions import JoinedFunctions, Poses


class BristleKind(Enum):
    """Motions that a bristle resists: sliding, rolling along a surface, rotation about its normal."""

    SLIDING = "bristle"
    ROLLING = "rolling"
    DRILLING = "drilling"


@dataclass(frozen=True, eq=False)
class Touching:
    """Two surfaces in contact with friction: the functions of their gap and the vectors whose combination slides.

    Attributes:
        joined: has them.
        force: with its coordinate.
        coordinate: that one.
        gap: functions of the gap.
        parts: vectors of the sum that slides: what touches, what carries, directions of both.
    """

    joined: JoinedFunctions
    force: CoordinateForce
    coordinate: RubbingCoordinate
    gap: slice
    parts: IntArray

    @classmethod
    def of(cls, joined: JoinedFunctions, force: CoordinateForce, begin: int) -> "Touching":
        """Make the contact of a force between surfaces that rub. ``begin`` is the index of the force's first
        function among all functions.
        """
        coordinate = force.coordinate
        assert isinstance(coordinate, RubbingCoordinate), "chosen so"
        end = begin + coordinate.gap_count
        return cls(joined, force, coordinate, slice(begin, end), joined.difference_vectors(end))

    @property
    def dimension(self) -> int:
        """Dimension of the mechanism that the contact belongs to, 2 or 3."""
        return self.coordinate.dimension

    @property
    def _turning(self) -> tuple[IntArray, IntArray]:
        """Indices of the direction vectors of the touching and of the carrying body."""
        points = self.coordinate.points
        first = points + self.coordinate.turning
        return self.parts[points:first], self.parts[first:]

    def at(self, at: Poses) -> tuple[Array, Array]:
        """Return the coefficients of the vectors in the sliding displacement for T states, shape (T, parts), and
        the contact normals, shape (T, 3).
        """
        X, coordinate, d = at.vectors[:, self.parts], self.coordinate, self.dimension
        normal, _ = self._normal(at)
        assert self.force.contact is not None, "it rubs"
        side, own = self.force.contact.side, X[:, 1]
        theta = np.array([coordinate.value(y) for y in at.values[:, self.gap]])
        arm = -side * coordinate.reach(theta, self.force.rest, side)[..., None] * normal
        weights = np.zeros((len(X), len(self.parts)))
        weights[:, 0], weights[:, 1] = 1.0, -1.0
        if isinstance(coordinate.gap, SegmentCoordinate):
            place = np.clip(at.values[:, self.gap][:, 1] / at.values[:, self.gap][:, 2], 0.0, 1.0)
            weights[:, 1], weights[:, 2] = place - 1.0, -place
            own = own + place[:, None] * (X[:, 2] - own)
            if coordinate.is_on_axis:
                arm = own - X[:, 0]
        points, first = coordinate.points, coordinate.points + coordinate.turning
        if coordinate.turning:
            weights[:, points:first] = _arm_coefficients(X[:, points:first], arm, d)
        if len(self.parts) > first:
            weights[:, first:] = -_arm_coefficients(X[:, first:], X[:, 0] + arm - own, d)
        return weights, normal

    def _normal(self, at: Poses) -> tuple[Array, Array]:
        """Return the direction (T, 3) and the size (T, 1) of the gradient of the gap with respect to the touching
        point.
        """
        on_vectors = np.zeros_like(at.vectors)
        self.joined.add_gradient(at, self.gap, on_vectors)
        gradient = on_vectors[:, self.parts[0]]
        size = np.linalg.norm(gradient, axis=1)[:, None]
        return gradient / np.where(size > 0, size, 1.0), size

    def turning(self, at: Poses, normal: Array, rates: Array, dX: Array) -> Array:
        """Return the angular velocity with which a stored slip vector rotates, with the normal and, about it, with
        the body, shape (T, 3) [rad/s].
        """
        own, slopes = at.values[:, self.gap], np.zeros_like(at.slopes)
        for t, y in enumerate(own):
            slopes[t, self.gap] = self.coordinate.gap.hessian(y) @ rates[t, self.gap]
        change = np.zeros_like(at.vectors)
        for moved in (replace(at, slopes=slopes), self.joined.with_gradient_rates(at, dX)):
            self.joined.add_gradient(moved, self.gap, change)
        _, size = self._normal(at)
        turned = np.cross(normal, change[:, self.parts[0]] / np.where(size > 0, size, 1.0))
        touches, carries = self._turning
        carrier = carries if len(carries) or self.coordinate.is_grounded else touches
        return np.asarray(turned + along(_angular_velocity(at, dX, carrier), normal) * normal)

    def slip(self, weights: Array, dX: Array) -> Array:
        """Return the sliding velocity of the two surfaces where they touch, shape (T, 3) [m/s]."""
        return np.asarray((weights[..., None] * dX[:, self.parts]).sum(axis=1))

    def push(self, weights: Array, force: Array, on_vectors: Array) -> None:
        """Add the forces on the vectors of the contact that a friction force (T, 3) [N] causes to ``on_vectors``.
        ``weights`` are their coefficients in the sliding displacement.
        """
        for part, weight in zip(self.parts.tolist(), weights.T, strict=True):
            on_vectors[:, part] += weight[:, None] * force

    def turn(self, at: Poses, dX: Array) -> Array:
        """Return the relative angular velocity of the touching and the carrying body (8.46), shape (T, 3)
        [rad/s].
        """
        touches, carries = self._turning
        return _angular_velocity(at, dX, touches) - _angular_velocity(at, dX, carries)

    def twist(self, at: Poses, moment: Array, on_vectors: Array) -> None:
        """Add forces on the direction vectors of both bodies to ``on_vectors``. They make a moment (T, 3) [N m] on
        the touching body and its reaction on the other.
        """
        for sign, parts in zip((1.0, -1.0), self._turning, strict=True):
            if len(parts):
                on_vectors[:, parts] += sign * couple(at.vectors[:, parts], moment)


def along(v: Array, n: Array) -> Array:
    """Return the scalar products v . n of vectors (T, 3), shape (T, 1)."""
    return np.asarray((v * n).sum(axis=1)[:, None])


def across(v: Array, n: Array) -> Array:
    """Return the components of vectors v (T, 3) perpendicular to unit vectors n (T, 3)."""
    return np.asarray(v - along(v, n) * n)


def _angular_velocity(at: Poses, dX: Array, parts: IntArray) -> Array:
    """Return the angular velocity of a body from the rates dX of its direction vectors, shape (T, 3) [rad/s]; zero
    without directions.
    """
    if not len(parts):
        return np.zeros((len(dX), 3))
    m = at.vectors[:, parts]
    return _solve_moments(m, np.cross(m, dX[:, parts]).sum(axis=1))


def couple(m: Array, moment: Array) -> Array:
    """Return the forces on the direction vectors m (T, d, 3) of a body that together make a moment (T, 3) [N m]
    (docs/theory.md, 4; (4.16)).
    """
    return np.asarray(np.cross(_solve_moments(m, moment)[:, None], m))


def _solve_moments(m: Array, moment: Array) -> Array:
    """Return B^-1 times moments (T, 3), with B = sum |m|^2 I - m m^T over a body's direction vectors m (T, d,
    3).
    """
    B = (m**2).sum(axis=(1, 2))[:, None, None] * np.eye(3) - np.swapaxes(m, 1, 2) @ m
    return np.asarray(np.linalg.solve(B, moment[..., None])[..., 0])


def _arm_coefficients(directions: Array, arm: Array, dimension: int) -> Array:
    """Return the coefficients (T, d) of a body's d direction vectors (T, d, 3) with which they add up to the moment
    arm (T, 3).
    """
    basis = directions[:, :, :dimension].transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(basis, arm[:, :dimension, None])[..., 0])


@dataclass(frozen=True, eq=False)
class AttachedBristle:
    """One friction spring (bristle) of a force, with the functions or surfaces that it resists and its entries z in
    the state.

    Attributes:
        force: number of its force.
        bristle: its numbers.
        kind: what it holds.
        components: slice of its z among those of all friction springs.
        axes: of a vector, those that z has.
        functions: that slide; none along a coordinate and where surfaces rub.
        touching: of surfaces that rub.
    """

    force: int
    bristle: Bristle
    kind: BristleKind
    components: slice
    axes: tuple[int, ...]
    functions: slice | None
    touching: Touching | None


@dataclass(frozen=True, eq=False)
class BristleState:
    """Friction spring in T states: the factors of its law (8.49) and the geometry of its contact.

    Attributes:
        share, spring_share: a and p of (8.49), shapes (T,).
        weights: c_k where surfaces rub, shape (T, parts).
        normal, turning: there, and the angular velocity of z, shapes (T, 3).
    """

    share: Array
    spring_share: Array
    weights: Array
    normal: Array
    turning: Array


def bristle_numbers(forces: Sequence[CoordinateForce]) -> int:
    """Return the total number of deflection components of the friction springs (bristles) of some forces."""
    return sum(len(_axes(forces[k], kind)) for k, kind, _ in _all_bristles(forces))


def _all_bristles(forces: Sequence[CoordinateForce]) -> Iterator[tuple[int, BristleKind, Bristle]]:
    """Yield the index of the force, the kind and the parameters of each friction spring of some forces."""
    for k, force in enumerate(forces):
        for kind, bristle in zip(BristleKind, force.friction.every_bristle if force.friction else (), strict=False):
            if bristle:
                yield k, kind, bristle


def _axes(force: CoordinateForce, kind: BristleKind) -> tuple[int, ...]:
    """Return the indices of the components of a friction spring's deflection z: only 0 along a coordinate,
    otherwise axes of a vector.
    """
    coordinate = force.coordinate
    if kind is BristleKind.DRILLING or not force.contact:
        return (0,)
    if isinstance(coordinate, SlidingCoordinate):
        return tuple(range(len(coordinate.across)))
    assert isinstance(coordinate, RubbingCoordinate), "two bodies that touch"
    if coordinate.dimension == 3:
        return (0, 1, 2)
    return (2,) if kind is BristleKind.ROLLING else (0, 1)


class Bristles:
    """Friction springs (bristles) of all forces of a mechanism, as storages of a port-Hamiltonian model.

    Args:
        forces: all of them.
        joined: lines of constraints, then of forces.
        first: the line of the first force.
        touching: of forces between surfaces that rub.
    """

    def __init__(
        self,
        forces: Sequence[CoordinateForce],
        joined: JoinedFunctions,
        first: int,
        touching: Mapping[int, Touching],
    ) -> None:
        self._joined, self._first = joined, first
        self.bonds = list[AttachedBristle]()
        for k, kind, bristle in _all_bristles(forces):
            begin, axes, functions = self.size, _axes(forces[k], kind), None
            if forces[k].contact and k not in touching:
                functions = slice(int(joined.first[first + k]) + 1, int(joined.first[first + k + 1]))
            own = slice(begin, begin + len(axes))
            self.bonds.append(AttachedBristle(k, bristle, kind, own, axes, functions, touching.get(k)))
        self._stiffness = np.repeat([b.bristle.stiffness for b in self.bonds], [len(b.axes) for b in self.bonds])

    @property
    def size(self) -> int:
        """Number of components of the deflections of all friction springs."""
        return self.bonds[-1].components.stop if self.bonds else 0

    def places(self, force: int) -> IntArray:
        """Return the indices of the friction springs of one force among the components of all deflections."""
        own = [np.arange(b.components.start, b.components.stop) for b in self.bonds if b.force == force]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    def efforts(self, z: Array) -> Array:
        """Return the spring forces k z of deflections z, of the shape of z."""
        return np.asarray(self._stiffness * z)

    def energies(self, z: Array) -> Array:
        """Return the energy stored in all friction springs for deflections z (T, size), shape (T,) [J]."""
        return np.asarray((self._stiffness * z**2).sum(axis=1) / 2)

    def at(
        self, at: Poses, z: Array, pressed: Mapping[int, tuple[Array, Array]], rates: Array, dX: Array
    ) -> list[BristleState]:
        """Return for each friction spring the factors of its law and the geometry of its contact in T states.

        Args:
            z: of the states, shape (T, size).
            pressed: of each force with bristles the limit of sliding and the normal force, shapes (T,).
            rates, dX: of functions and vectors.
        """
        found = list[BristleState]()
        for bond in self.bonds:
            level, normal = pressed[bond.force]
            limit = level if bond.kind is BristleKind.SLIDING else bond.bristle.lever * normal
            own, longest = z[:, bond.components], limit / bond.bristle.stiffness
            kept = _share_within(longest, own)
            weights, normals, turning = np.zeros((len(z), 0)), np.zeros((len(z), 3)), np.zeros((len(z), 3))
            if bond.touching:
                weights, normals = bond.touching.at(at)
                turning = bond.touching.turning(at, normals, rates, dX)
            state = BristleState(kept, kept, weights, normals, turning)
            v = self.slip_rate(bond, state, at, rates, dX)
            g = kept[:, None] * own + bond.bristle.damping / bond.bristle.stiffness * v
            found.append(replace(state, share=_share_within(longest, g)))
        return found

    def slip_rate(self, bond: AttachedBristle, state: BristleState, at: Poses, rates: Array, dX: Array) -> Array:
        """Return the relative velocity that deflects one friction spring, shape (T, axes): of a coordinate, of
        functions or of surfaces.
        """
        if bond.functions:
            return np.asarray(rates[:, bond.functions])
        if not bond.touching:
            return np.asarray(self._joined.line_rates(at, rates)[:, [self._first + bond.force]])
        n = state.normal
        if bond.kind is BristleKind.SLIDING:
            return across(bond.touching.slip(state.weights, dX), n)[:, bond.axes]
        psi = bond.touching.turn(at, dX)
        if bond.kind is BristleKind.ROLLING:
            return across(psi, n)[:, bond.axes]
        return along(psi, n)

    def _add_force(
        self, bond: AttachedBristle, state: BristleState, at: Poses, f: Array, out: tuple[Array, Array, Array]
    ) -> None:
        """Add the friction forces of one friction spring to the three arrays ``out``: along coordinates, on
        functions, on vectors. ``f`` (T, axes) is the opposite force.
        """
        along, functions, vectors = out
        if bond.functions:
            functions[:, bond.functions] -= f
            return
        if not bond.touching:
            along[:, bond.force] -= f[:, 0]
            return
        if bond.kind is BristleKind.DRILLING:
            bond.touching.twist(at, -f * state.normal, vectors)
            return
        whole = np.zeros((len(f), 3))
        whole[:, bond.axes] = f
        whole = -across(whole, state.normal)
        if bond.kind is BristleKind.SLIDING:
            bond.touching.push(state.weights, whole, vectors)
        else:
            bond.touching.twist(at, whole, vectors)

    def flows(
        self,
        springs: Sequence[BristleState],
        at: Poses,
        effort: Array,
        motion: tuple[Array, Array],
        out: tuple[Array, Array, Array],
    ) -> Array:
        """Return the rates dz/dt of all deflections, shape (T, size), and add the friction forces to the three
        arrays ``out``.

        Args:
            effort: k z, shape (T, size).
            motion: rates of functions and vectors.
        """
        rates = np.zeros_like(effort)
        for bond, state in zip(self.bonds, springs, strict=True):
            v, e = self.slip_rate(bond, state, at, *motion), effort[:, bond.components]
            a, p = state.share, state.spring_share
            self._add_force(bond, state, at, a[:, None] * (p[:, None] * e + bond.bristle.damping * v), out)
            rates[:, bond.components] = a[:, None] * v - ((1 - a * p) / bond.bristle.damping)[:, None] * e
            rates[:, bond.components] += self.turned(bond, state, e)
        return rates

    def turned(self, bond: AttachedBristle, state: BristleState, effort: Array) -> Array:
        """Return the rate of one friction spring's deflection that is due to the rotation of its contact, shape (T,
        axes).
        """
        if not bond.touching or bond.kind is BristleKind.DRILLING:
            return np.zeros_like(effort)
        whole = np.zeros((len(effort), 3))
        whole[:, bond.axes] = effort / bond.bristle.stiffness
        return np.asarray(np.cross(state.turning, whole)[:, bond.axes])


def _share_within(longest: Array, v: Array) -> Array:
    """Return the factors that limit vectors v (T, m) to the lengths ``longest`` (T,), shape (T,); 0 where that is
    0.
    """
    size = np.linalg.norm(v, axis=1)
    is_long = size > longest
    return np.asarray(np.where(is_long, longest / np.where(is_long, size, 1.0), np.where(longest > 0, 1.0, 0.0)))
