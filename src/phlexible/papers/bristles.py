"""Friction that sticks in the papers' equations: bristles as storages, joined by transformers to what slides.

The law (docs/theory.md, 8; (8.49)) is what steps of (8.41) and (8.42) become as they grow shorter, with

    J = [[0, -j V^T], [j V, S]],  R = [[a d V^T V, r V^T], [r V, (1 - a p)/d]],  j = a (1 + p)/2,  r = a (p - 1)/2

of the velocities and z with v = V nu and the effort k z; S turns z with its normal and body.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.force_elements import Bristle, CoordinateForce
from phlexible.description.interactions.surfaces import RubbingCoordinate, SegmentCoordinate, SlidingCoordinate
from phlexible.papers.joined_functions import JoinedFunctions, Poses
from phlexible.state.branches import BristleKind


@dataclass(frozen=True, eq=False)
class Touching:
    """A force that rubs, with numbers of its functions and vectors.

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
        """Surfaces in contact of a force whose functions begin at an index."""
        coordinate = force.coordinate
        assert isinstance(coordinate, RubbingCoordinate), "chosen so"
        end = begin + coordinate.gap_count
        return cls(joined, force, coordinate, slice(begin, end), np.array(joined.chord_parts(end), dtype=np.int64))

    @property
    def dimension(self) -> int:
        """Dimension of the mechanism, 2 or 3."""
        return self.coordinate.dimension

    @property
    def _turning(self) -> tuple[IntArray, IntArray]:
        """Directions of what touches and of what carries."""
        points = self.coordinate.points
        first = points + self.coordinate.turning
        return self.parts[points:first], self.parts[first:]

    def at(self, at: Poses) -> tuple[Array, Array]:
        """c_k of T states, shape (T, parts), and normals (T, 3)."""
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
            weights[:, points:first] = _shares(X[:, points:first], arm, d)
        if len(self.parts) > first:
            weights[:, first:] = -_shares(X[:, first:], X[:, 0] + arm - own, d)
        return weights, normal

    def _normal(self, at: Poses) -> tuple[Array, Array]:
        """The gradient of the gap to the place of what touches: its direction (T, 3) and size (T, 1)."""
        on_vectors = np.zeros_like(at.vectors)
        self.joined.spread(at, self.gap, on_vectors)
        gradient = on_vectors[:, self.parts[0]]
        size = np.linalg.norm(gradient, axis=1)[:, None]
        return gradient / np.where(size > 0, size, 1.0), size

    def turning(self, at: Poses, normal: Array, rates: Array, dX: Array) -> Array:
        """Angular velocity with which a stored slip vector turns: with the normal, and with the body about it,
        shape (T, 3).
        """
        own, slopes = at.values[:, self.gap], np.zeros_like(at.slopes)
        for t, y in enumerate(own):
            slopes[t, self.gap] = self.coordinate.gap.hessian(y) @ rates[t, self.gap]
        change = np.zeros_like(at.vectors)
        for moved in (replace(at, slopes=slopes), self.joined.turned(at, dX)):
            self.joined.spread(moved, self.gap, change)
        _, size = self._normal(at)
        turned = np.cross(normal, change[:, self.parts[0]] / np.where(size > 0, size, 1.0))
        touches, carries = self._turning
        carrier = carries if len(carries) or self.coordinate.is_grounded else touches
        return np.asarray(turned + along(_turn(at, dX, carrier), normal) * normal)

    def slip(self, weights: Array, dX: Array) -> Array:
        """Slip velocity of the points where both surfaces touch, shape (T, 3)."""
        return np.asarray((weights[..., None] * dX[:, self.parts]).sum(axis=1))

    def push(self, weights: Array, force: Array, on_vectors: Array) -> None:
        """Adds what forces (T, 3) along the slip are on vectors."""
        for part, weight in zip(self.parts.tolist(), weights.T, strict=True):
            on_vectors[:, part] += weight[:, None] * force

    def turn(self, at: Poses, dX: Array) -> Array:
        """Relative angular velocity of the touching and the carrying body (8.46), shape (T, 3)."""
        touches, carries = self._turning
        return _turn(at, dX, touches) - _turn(at, dX, carries)

    def twist(self, at: Poses, moment: Array, on_vectors: Array) -> None:
        """Adds couples (T, 3) on what touches, and against it."""
        for sign, parts in zip((1.0, -1.0), self._turning, strict=True):
            if len(parts):
                on_vectors[:, parts] += sign * couple(at.vectors[:, parts], moment)


def along(v: Array, n: Array) -> Array:
    """Scalar products v . n of vectors (T, 3), shape (T, 1)."""
    return np.asarray((v * n).sum(axis=1)[:, None])


def across(v: Array, n: Array) -> Array:
    """Components of vectors v (T, 3) at right angles to n."""
    return np.asarray(v - along(v, n) * n)


def _turn(at: Poses, dX: Array, parts: IntArray) -> Array:
    """Angular velocity of a body with these directions, shape (T, 3)."""
    if not len(parts):
        return np.zeros((len(dX), 3))
    m = at.vectors[:, parts]
    return _spread(m, np.cross(m, dX[:, parts]).sum(axis=1))


def couple(m: Array, moment: Array) -> Array:
    """Forces on directions m (T, d, 3) of a body that make a moment (T, 3) (docs/theory.md, 4; (4.16))."""
    return np.asarray(np.cross(_spread(m, moment)[:, None], m))


def _spread(m: Array, moment: Array) -> Array:
    """B^-1 of moments (T, 3), B = sum |m|^2 I - m m^T of directions m (T, d, 3)."""
    B = (m**2).sum(axis=(1, 2))[:, None, None] * np.eye(3) - np.swapaxes(m, 1, 2) @ m
    return np.asarray(np.linalg.solve(B, moment[..., None])[..., 0])


def _shares(directions: Array, arm: Array, dimension: int) -> Array:
    """Coefficients of the directions (T, d, 3) of a body that make up an arm (T, 3), shape (T, d)."""
    basis = directions[:, :, :dimension].transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(basis, arm[:, :dimension, None])[..., 0])


@dataclass(frozen=True, eq=False)
class Bond:
    """A bristle and what it is joined to.

    Attributes:
        force: number of its force.
        bristle: its numbers.
        kind: what it holds.
        own: where its z is among all.
        axes: of a vector, those that z has.
        functions: that slide; none along a coordinate and where surfaces rub.
        touching: of surfaces that rub.
    """

    force: int
    bristle: Bristle
    kind: BristleKind
    own: slice
    axes: tuple[int, ...]
    functions: slice | None
    touching: Touching | None


@dataclass(frozen=True, eq=False)
class Bent:
    """A bristle in T states.

    Attributes:
        share, kept: a and p of (8.49), shapes (T,).
        weights: c_k where surfaces rub, shape (T, parts).
        normal, turning: there, and the angular velocity of z, shapes (T, 3).
    """

    share: Array
    kept: Array
    weights: Array
    normal: Array
    turning: Array


def bristle_numbers(forces: Sequence[CoordinateForce]) -> int:
    """Number of components of all bristles of some forces."""
    return sum(len(_axes(forces[k], kind)) for k, kind, _ in _all(forces))


def _all(forces: Sequence[CoordinateForce]) -> Iterator[tuple[int, BristleKind, Bristle]]:
    for k, force in enumerate(forces):
        for kind, bristle in zip(BristleKind, force.friction.every_bristle if force.friction else (), strict=False):
            if bristle:
                yield k, kind, bristle


def _axes(force: CoordinateForce, kind: BristleKind) -> tuple[int, ...]:
    """Components of a vector that z of a bristle has."""
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
    """Bristles of all forces of a mechanism.

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
        self.bonds = list[Bond]()
        for k, kind, bristle in _all(forces):
            begin, axes, functions = self.size, _axes(forces[k], kind), None
            if forces[k].contact and k not in touching:
                functions = slice(int(joined.first[first + k]) + 1, int(joined.first[first + k + 1]))
            own = slice(begin, begin + len(axes))
            self.bonds.append(Bond(k, bristle, kind, own, axes, functions, touching.get(k)))
        self._stiffness = np.repeat([b.bristle.stiffness for b in self.bonds], [len(b.axes) for b in self.bonds])

    @property
    def size(self) -> int:
        """Numbers in all z."""
        return self.bonds[-1].own.stop if self.bonds else 0

    def places(self, force: int) -> IntArray:
        """Indices of the bristles of a force among all z."""
        own = [np.arange(b.own.start, b.own.stop) for b in self.bonds if b.force == force]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    def efforts(self, z: Array) -> Array:
        """Forces k z of the bristles, shaped as z."""
        return np.asarray(self._stiffness * z)

    def energies(self, z: Array) -> Array:
        """Energies of the bristles in T states, shape (T,) [J]."""
        return np.asarray((self._stiffness * z**2).sum(axis=1) / 2)

    def at(
        self, at: Poses, z: Array, pressed: Mapping[int, tuple[Array, Array]], rates: Array, dX: Array
    ) -> list[Bent]:
        """Deflections of the bristles in T states with their own velocities.

        Args:
            z: of the states, shape (T, size).
            pressed: of each force with bristles the limit of sliding and the normal force, shapes (T,).
            rates, dX: of functions and vectors.
        """
        found = list[Bent]()
        for bond in self.bonds:
            level, normal = pressed[bond.force]
            limit = level if bond.kind is BristleKind.SLIDING else bond.bristle.lever * normal
            own, longest = z[:, bond.own], limit / bond.bristle.stiffness
            kept = _share_within(longest, own)
            weights, normals, turning = np.zeros((len(z), 0)), np.zeros((len(z), 3)), np.zeros((len(z), 3))
            if bond.touching:
                weights, normals = bond.touching.at(at)
                turning = bond.touching.turning(at, normals, rates, dX)
            held = Bent(kept, kept, weights, normals, turning)
            v = self.slide(bond, held, at, rates, dX)
            g = kept[:, None] * own + bond.bristle.damping / bond.bristle.stiffness * v
            found.append(replace(held, share=_share_within(longest, g)))
        return found

    def slide(self, bond: Bond, held: Bent, at: Poses, rates: Array, dX: Array) -> Array:
        """v of one, shape (T, axes)."""
        if bond.functions:
            return np.asarray(rates[:, bond.functions])
        if not bond.touching:
            return np.asarray(self._joined.line_rates(at, rates)[:, [self._first + bond.force]])
        n = held.normal
        if bond.kind is BristleKind.SLIDING:
            return across(bond.touching.slip(held.weights, dX), n)[:, bond.axes]
        psi = bond.touching.turn(at, dX)
        if bond.kind is BristleKind.ROLLING:
            return across(psi, n)[:, bond.axes]
        return along(psi, n)

    def _push(
        self, bond: Bond, held: Bent, at: Poses, f: Array, along: Array, functions: Array, vectors: Array
    ) -> None:
        """Adds -f (T, axes) of one."""
        if bond.functions:
            functions[:, bond.functions] -= f
            return
        if not bond.touching:
            along[:, bond.force] -= f[:, 0]
            return
        if bond.kind is BristleKind.DRILLING:
            bond.touching.twist(at, -f * held.normal, vectors)
            return
        whole = np.zeros((len(f), 3))
        whole[:, bond.axes] = f
        whole = -across(whole, held.normal)
        if bond.kind is BristleKind.SLIDING:
            bond.touching.push(held.weights, whole, vectors)
        else:
            bond.touching.twist(at, whole, vectors)

    def flows(
        self,
        found: Sequence[Bent],
        at: Poses,
        effort: Array,
        motion: tuple[Array, Array],
        out: tuple[Array, Array, Array],
    ) -> Array:
        """Rates dz/dt, (T, size); adds the forces along forces, functions and vectors to ``out``.

        Args:
            effort: k z, shape (T, size).
            motion: rates of functions and vectors.
        """
        rates = np.zeros_like(effort)
        for bond, held in zip(self.bonds, found, strict=True):
            v, e, a, p = self.slide(bond, held, at, *motion), effort[:, bond.own], held.share, held.kept
            self._push(bond, held, at, a[:, None] * (p[:, None] * e + bond.bristle.damping * v), *out)
            rates[:, bond.own] = a[:, None] * v - ((1 - a * p) / bond.bristle.damping)[:, None] * e
            rates[:, bond.own] += self.turned(bond, held, e)
        return rates

    def turned(self, bond: Bond, held: Bent, effort: Array) -> Array:
        """S k z of one, shape (T, axes)."""
        if not bond.touching or bond.kind is BristleKind.DRILLING:
            return np.zeros_like(effort)
        whole = np.zeros((len(effort), 3))
        whole[:, bond.axes] = effort / bond.bristle.stiffness
        return np.asarray(np.cross(held.turning, whole)[:, bond.axes])


def _share_within(longest: Array, v: Array) -> Array:
    """Factors that limit vectors v (T, m) to a length, shape (T,); 0 where the length is 0."""
    size = np.linalg.norm(v, axis=1)
    is_long = size > longest
    return np.asarray(np.where(is_long, longest / np.where(is_long, size, 1.0), np.where(longest > 0, 1.0, 0.0)))
