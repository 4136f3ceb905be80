"""Where two bodies touch and rub, in the papers' equations: what slides and turns there (docs/theory.md, 8)."""

from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.force_elements import CoordinateForce
from phlexible.description.interactions.surfaces import RubbingCoordinate, SegmentCoordinate
from phlexible.papers.joined_functions import JoinedFunctions, Poses


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
        """Of a force whose functions begin there."""
        coordinate = force.coordinate
        assert isinstance(coordinate, RubbingCoordinate), "chosen so"
        end = begin + coordinate.gap_count
        return cls(joined, force, coordinate, slice(begin, end), np.array(joined.chord_parts(end), dtype=np.int64))

    @property
    def dimension(self) -> int:
        """2 or 3."""
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
        arm = -self.force.contact.side * coordinate.radius * normal
        weights = np.zeros((len(X), len(self.parts)))
        weights[:, 0], weights[:, 1] = 1.0, -1.0
        if isinstance(coordinate.gap, SegmentCoordinate):
            place = np.clip(at.values[:, self.gap][:, 1] / at.values[:, self.gap][:, 2], 0.0, 1.0)
            weights[:, 1], weights[:, 2] = place - 1.0, -place
            arm = X[:, 1] + place[:, None] * (X[:, 2] - X[:, 1]) - X[:, 0]
        points, first = coordinate.points, coordinate.points + coordinate.turning
        if coordinate.turning:
            weights[:, points:first] = _shares(X[:, points:first], arm, d)
        if len(self.parts) > first:
            weights[:, first:] = -_shares(X[:, first:], X[:, 0] + arm - X[:, 1], d)
        return weights, normal

    def _normal(self, at: Poses) -> tuple[Array, Array]:
        """The gradient of the gap to the place of what touches: its direction (T, 3) and size (T, 1)."""
        on_vectors = np.zeros_like(at.vectors)
        self.joined.spread(at, self.gap, on_vectors)
        gradient = on_vectors[:, self.parts[0]]
        size = np.linalg.norm(gradient, axis=1)[:, None]
        return gradient / np.where(size > 0, size, 1.0), size

    def turning(self, at: Poses, normal: Array, rates: Array, dX: Array) -> Array:
        """How what is kept along the surface turns: as little as the normal, and with the body about it, (T, 3)."""
        own, slopes = at.values[:, self.gap], np.zeros_like(at.slopes)
        for t, y in enumerate(own):
            slopes[t, self.gap] = self.coordinate.gap.hessian(y) @ rates[t, self.gap]
        change = np.zeros_like(at.vectors)
        for moved in (replace(at, slopes=slopes), self.joined.turned(at, dX)):
            self.joined.spread(moved, self.gap, change)
        _, size = self._normal(at)
        turned = np.cross(normal, change[:, self.parts[0]] / np.where(size > 0, size, 1.0))
        touches, carries = self._turning
        carrier = carries if len(carries) else touches
        return np.asarray(turned + along(_turn(at, dX, carrier), normal) * normal)

    def slip(self, weights: Array, dX: Array) -> Array:
        """Of the places where both touch, shape (T, 3)."""
        return np.asarray((weights[..., None] * dX[:, self.parts]).sum(axis=1))

    def push(self, weights: Array, force: Array, on_vectors: Array) -> None:
        """Adds what forces (T, 3) along the slip are on vectors."""
        for part, weight in zip(self.parts.tolist(), weights.T, strict=True):
            on_vectors[:, part] += weight[:, None] * force

    def turn(self, at: Poses, dX: Array) -> Array:
        """How what touches turns past what carries (8.46), shape (T, 3)."""
        touches, carries = self._turning
        return _turn(at, dX, touches) - _turn(at, dX, carries)

    def twist(self, at: Poses, moment: Array, on_vectors: Array) -> None:
        """Adds couples (T, 3) on what touches, and against it."""
        for sign, parts in zip((1.0, -1.0), self._turning, strict=True):
            if len(parts):
                m = at.vectors[:, parts]
                on_vectors[:, parts] += sign * np.cross(_spread(m, moment)[:, None], m)


def along(v: Array, n: Array) -> Array:
    """v . n of (T, 3), shape (T, 1)."""
    return np.asarray((v * n).sum(axis=1)[:, None])


def across(v: Array, n: Array) -> Array:
    """What of v (T, 3) is at right angles to n."""
    return np.asarray(v - along(v, n) * n)


def _turn(at: Poses, dX: Array, parts: IntArray) -> Array:
    """Angular velocity of a body with these directions, shape (T, 3)."""
    if not len(parts):
        return np.zeros((len(dX), 3))
    m = at.vectors[:, parts]
    return _spread(m, np.cross(m, dX[:, parts]).sum(axis=1))


def _spread(m: Array, moment: Array) -> Array:
    """B^-1 of moments (T, 3), B = sum |m|^2 I - m m^T of directions m (T, d, 3)."""
    B = (m**2).sum(axis=(1, 2))[:, None, None] * np.eye(3) - np.swapaxes(m, 1, 2) @ m
    return np.asarray(np.linalg.solve(B, moment[..., None])[..., 0])


def _shares(directions: Array, arm: Array, dimension: int) -> Array:
    """Coefficients of the directions (T, d, 3) of a body that make up an arm (T, 3), shape (T, d)."""
    basis = directions[:, :, :dimension].transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(basis, arm[:, :dimension, None])[..., 0])
