"""Pieces of lines and edges that solids and other pieces touch, as gaps of contacts of two (docs/theory.md, 8).

The distances of ``step/kernels/many/pieces.py`` and ``contacts_among_many.py``, with their second derivatives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.contact_members import Member, MemberKind
from phlexible.description.interactions.functions import (
    BilinearTerm,
    DirectionOf,
    Row,
    WorldAxis,
    between,
    single,
)
from phlexible.description.interactions.surfaces import Gap, GapCoordinate, PieceCoordinate, Touchable
from phlexible.description.ports import Port
from phlexible.errors import ModelError
from phlexible.step.tables.piece_distances import (
    BENT,
    BESIDE,
    EXACT,
    PARTS,
    SHARE,
    SHARE_OF_LINES,
    TURNS,
)

KEPT = 2
"""Feet that a pair remembers: where it began, and where it is."""


class Slope(NamedTuple):
    """Distance of a place from a solid [m], how it rises there, shape (3,), and how that turns, (3, 3) [1/m]."""

    height: float
    normal: Array
    bend: Array


class Foot(NamedTuple):
    """Where a piece on a solid touches.

    Attributes:
        value: F [m].
        place: s, 0 to 1.
        low, high: the solid on both sides of the place along the piece; equal where these are one smooth part.
        weight: share of the lower one.
        is_end: whether it is an end of the piece.
        ends: the solid at both ends.
    """

    value: float
    place: float
    low: Slope
    high: Slope
    weight: float = 1.0
    is_end: bool = False
    ends: tuple[Slope, ...] = ()


def slope_over(solid: Member, w: Array) -> Slope:
    """Of a place in the axes of a solid.

    Raises:
        ModelError: a solid that no piece touches.
    """
    a, b, c = solid.size
    if solid.mesh is not None:
        return Slope(*solid.mesh.slope(w))
    if solid.kind is MemberKind.BLOCK:
        height, slope, bend = _beyond(np.abs(w) - solid.size)
        sign = np.sign(w)
        return Slope(height, sign * slope, np.outer(sign, sign) * bend)
    soft = c**2 if solid.kind is MemberKind.RING else 0.0
    out = float(np.sqrt(w[0] ** 2 + w[1] ** 2 + soft))
    along = np.array([w[0], w[1], 0.0]) / out if out else np.zeros(3)
    radial, share = np.outer(along, along), soft / out**2 if out else 0.0
    around = (1 + share) * (np.diag([1.0, 1.0, 0.0]) - radial) - 2 * share * radial
    along = (1 + share) * along
    if solid.kind is MemberKind.TUBE:
        height, slope, bend = out - a, np.array([1.0, 0.0]), np.zeros((2, 2))
    elif solid.kind is MemberKind.RING:
        height, slope, bend = _from_middle(np.array([out - soft / out - a, w[2]]))
        height -= b
    elif solid.kind is MemberKind.DRUM:
        height, slope, bend = _beyond(np.array([out - a, abs(w[2]) - b]))
        sign = np.array([1.0, np.sign(w[2])])
        slope, bend = sign * slope, np.outer(sign, sign) * bend
    else:
        raise ModelError(f"pieces do not touch what {solid.start} carries between their ends")
    to_world = np.array([along, [0.0, 0.0, 1.0]])
    turned = to_world.T @ bend @ to_world
    return Slope(height, slope @ to_world, turned + (slope[0] / out if out else 0.0) * around)


def _beyond(q: Array) -> tuple[float, Array, Array]:
    """Distance from a corner whose sides q is beyond, or, where none is, the largest; its slope and bend."""
    beyond = np.maximum(q, 0.0)
    if beyond.any():
        height, slope, bend = _from_middle(beyond)
        return height, slope, bend * np.outer(q > 0, q > 0)
    k = int(q.argmax())
    return float(q[k]), np.eye(len(q))[k], np.zeros((len(q), len(q)))


def _from_middle(q: Array) -> tuple[float, Array, Array]:
    """|q|, its slope and bend."""
    size = float(np.linalg.norm(q))
    slope = q / size if size else np.zeros(len(q))
    return size, slope, (np.eye(len(q)) - np.outer(slope, slope)) / size if size else np.zeros((len(q), len(q)))


@dataclass(frozen=True, eq=False)
class PieceOnSolid(PieceCoordinate):
    """F of a piece and a solid.

    Attributes:
        piece, solid: members.
        axes: of the solid.
    """

    piece: Member
    solid: Member
    axes: tuple[DirectionOf | WorldAxis, ...]

    def functions(self) -> tuple[Row, ...]:
        """Both ends in the axes of the solid."""
        chords = [between(self.solid.start, end) for end in self.touchers]
        return tuple(
            Row((BilinearTerm(1.0, chord, single(axis)),), 0.0, "gap") for chord in chords for axis in self.axes
        )

    def places(self, y: Array) -> tuple[float, float]:
        """s, and none along the solid."""
        return self.foot(y).place, 0.0

    def value(self, y: Array) -> float:
        """F."""
        return self.foot(y).value + BESIDE * self.piece.size[0]

    def gradient(self, y: Array) -> Array:
        """Along both ends."""
        foot = self.foot(y)
        ends = self._held(foot)
        n = foot.weight * foot.low.normal + (1.0 - foot.weight) * foot.high.normal
        s = foot.place
        return np.concatenate([(1.0 - s) * (n - ends[0].normal), s * (n - ends[1].normal)])

    def hessian(self, y: Array) -> Array:
        """With s that stays where F is least along the piece, and on the edge where two sides of the solid meet."""
        foot, u = self.foot(y), y[3:] - y[:3]
        ends = self._held(foot)
        s, weight = foot.place, foot.weight
        n = weight * foot.low.normal + (1.0 - weight) * foot.high.normal
        K = weight * foot.low.bend + (1.0 - weight) * foot.high.bend
        shares = np.array([1.0 - s, s])
        result = np.kron(np.outer(shares, shares), K)
        result[:3, :3] -= (1.0 - s) * ends[0].bend
        result[3:, 3:] -= s * ends[1].bend
        if foot.is_end:
            return np.asarray(result)
        slides = np.kron(shares, K @ u) + np.concatenate([ends[0].normal - n, n - ends[1].normal])
        edge = foot.low.normal - foot.high.normal
        corner = float(edge @ u)
        bent = float(u @ K @ u) + 2.0 * SHARE * self.piece.size[0]
        if foot.low is foot.high or not corner:
            return np.asarray(result - np.outer(slides, slides) / bent)
        both = np.stack([slides, np.kron(shares, edge)])
        inverse = np.linalg.inv(np.array([[bent, corner], [corner, 0.0]]))
        return np.asarray(result - both.T @ inverse @ both)

    def foot(self, y: Array) -> Foot:
        """Where it touches."""
        key = y.tobytes()
        if key not in self._known:
            for old in list(self._known)[: 1 - KEPT]:
                del self._known[old]
            ends = slope_over(self.solid, y[:3]), slope_over(self.solid, y[3:])
            self._known[key] = self._nearest(y[:3], y[3:], *ends)._replace(ends=ends)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, Foot]:
        """Feet at the last functions."""
        return {}

    def _held(self, foot: Foot) -> tuple[Slope, ...]:
        """The solid at the ends that are deep in it by themselves; nothing of others."""
        none = Slope(0.0, np.zeros(3), np.zeros((3, 3)))
        is_held = self.piece.size[2] == 0.0
        return tuple(end if is_held and end.height < self.piece.radius else none for end in foot.ends)

    def _nearest(self, a: Array, b: Array, first: Slope, last: Slope) -> Foot:
        radius, length, u = self.piece.radius, self.piece.size[0], b - a
        share, is_held = SHARE * length, self.piece.size[2] == 0.0
        A, B = (max(radius - end.height, 0.0) if is_held else 0.0 for end in (first, last))

        def at(s: float) -> tuple[float, float, Slope]:
            """F at s, its slope along s, and the solid there."""
            here = slope_over(self.solid, a + s * u)
            value = here.height + (1.0 - s) * A + s * B + share * (s - 0.5) ** 2
            return value, float(here.normal @ u) + B - A + 2.0 * share * (s - 0.5), here

        begin, end = (0.0, *at(0.0)), (1.0, *at(1.0))
        best = min(
            (Foot(each[1], each[0], each[3], each[3], 1.0, True) for each in (begin, end)), key=lambda f: f.value
        )
        is_convex = self.solid.kind in (MemberKind.BLOCK, MemberKind.DRUM, MemberKind.TUBE)
        if is_convex and (begin[2] >= 0.0 or end[2] <= 0.0):
            return best
        if is_convex and (last.normal - first.normal) @ u <= EXACT * length:
            s = -0.5 * begin[2] / share
            return Foot(begin[1] + 0.5 * begin[2] * s, s, first, first)
        low = begin
        for s in np.arange(1, 1 if is_convex else PARTS) / PARTS:
            high = (float(s), *at(s))
            best, low = _better(best, at, low, high, radius, length, u), high
        return _better(best, at, low, end, radius, length, u)


@dataclass(frozen=True, eq=False)
class PlaceOnSolid(GapCoordinate):
    """The distance of a place, or of the middle of a sphere, from a solid.

    Attributes:
        place: the port.
        solid: a member.
        axes: of the solid.
    """

    place: Port
    solid: Member
    axes: tuple[DirectionOf | WorldAxis, ...]

    def functions(self) -> tuple[Row, ...]:
        """The place in the axes of the solid."""
        chord = between(self.solid.start, self.place)
        return tuple(Row((BilinearTerm(1.0, chord, single(axis)),), 0.0, "gap") for axis in self.axes)

    def value(self, y: Array) -> float:
        """Negative inside."""
        return slope_over(self.solid, y).height

    def gradient(self, y: Array) -> Array:
        """The normal there."""
        return slope_over(self.solid, y).normal

    def hessian(self, y: Array) -> Array:
        """How that turns."""
        return slope_over(self.solid, y).bend


@dataclass(frozen=True, eq=False)
class TouchedSolid(Touchable):
    """What places and spheres touch, as the second of a contact of two.

    Attributes:
        solid: a member.
    """

    solid: Member

    def __post_init__(self) -> None:
        """Members are as they are."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Its own."""
        return (self.solid.start,)

    @property
    def thickness(self) -> float:
        """Its least extent [m]."""
        return self.solid.thickness

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The distance from it."""
        return (Gap(PlaceOnSolid("gap", other, self.solid, self.solid.directions(dimension)[:3]), 0.0),)


Place = tuple[float, float, float, Slope]
"""Of a piece: s, F, its slope along s, and the solid there."""
Along = Callable[[float], tuple[float, float, Slope]]


def _better(best: Foot, at: Along, low: Place, high: Place, radius: float, length: float, u: Array) -> Foot:
    """The foot between two places, where F falls and then rises, if it is nearer than the best that is known."""
    (x, f, g, here), k = low, high[2]
    if g == 0.0 and 0.0 < x and f < best.value:
        return Foot(f, x, here, here)
    if not g < 0.0 < k or f + g * (_cut(low, high) - x) >= min(best.value, radius):
        return best
    return min(_least(at, low, high, length, u), best, key=lambda foot: foot.value)


def _cut(low: Place, high: Place) -> float:
    """Where tangents of slopes g < 0 < k meet."""
    (x, f, g, _), (y, e, k, _) = low, high
    return (e - f + g * x - k * y) / (g - k)


def _least(at: Along, low: Place, high: Place, length: float, u: Array) -> Foot:
    """The foot between a place where F falls and one where it rises."""
    for turn in range(TURNS):
        (x, f, g, _), (y, e, k, _) = low, high
        cut = _cut(low, high)
        bound, s = f + g * (cut - x), cut
        if turn % 2 == 1:
            s = (x * k - y * g) / (k - g)
        if not x < s < y:
            s = 0.5 * (x + y)
        value, rising, here = at(s)
        if abs(rising) <= EXACT * length:
            return Foot(value, s, here, here)
        is_edge = (high[3].normal - low[3].normal) @ u > BENT * length
        if (turn % 2 == 0 and is_edge and value - bound <= EXACT * length) or y - x <= EXACT:
            return Foot(value, s, low[3], high[3], k / (k - g))
        low, high = ((s, value, rising, here), high) if rising < 0.0 else (low, (s, value, rising, here))
    (x, f, g, n), (y, e, k, m) = low, high
    return Foot(min(f, e), x if f < e else y, n, m, k / (k - g))


@dataclass(frozen=True, eq=False)
class PieceOnPiece(PieceCoordinate):
    """F of two pieces with round ends; one may be a sphere.

    Attributes:
        other: ends of the second one.
        radius: of the second one [m].
    """

    other: tuple[Port, Port]
    radius: float

    def functions(self) -> tuple[Row, ...]:
        """r.r, r.u, r.v, u.u, u.v, v.v with r between the starts and u, v along both."""
        r, u, v = (between(*ends) for ends in ((self.other[0], self.touchers[0]), self.touchers, self.other))
        pairs = ((r, r), (r, u), (r, v), (u, u), (u, v), (v, v))
        return tuple(Row((BilinearTerm(1.0, a, b),), 0.0, "gap") for a, b in pairs)

    def places(self, y: Array) -> tuple[float, float]:
        """s and t."""
        s, t, _ = self._least(y)
        return s, t

    def value(self, y: Array) -> float:
        """F."""
        s, t, _ = self._least(y)
        return float(np.sqrt(max(float(self._weights(s, t) @ y), 0.0)))

    def gradient(self, y: Array) -> Array:
        """That of F^2, which s and t make least, over 2 F."""
        s, t, _ = self._least(y)
        value = self.value(y)
        return self._weights(s, t) / (2.0 * value) if value else np.zeros(6)

    def hessian(self, y: Array) -> Array:
        """With s and t that follow where they are between the ends."""
        (s, t, free), value = self._least(y), self.value(y)
        if not value:
            return np.zeros((6, 6))
        (*_, uu, uv, vv), own = y, 2.0 * SHARE_OF_LINES
        moves = np.array(
            [
                [0.0, 2.0, 0.0, 2.0 * s + own * (s - 0.5), -2.0 * t, 0.0],
                [0.0, 0.0, -2.0, 0.0, -2.0 * s, 2.0 * t + own * (t - 0.5)],
            ]
        )
        bends = np.array([[(2.0 + own) * uu, -2.0 * uv], [-2.0 * uv, (2.0 + own) * vv]])
        bent = np.zeros((6, 6))
        if free:
            moves, bends = moves[free], bends[np.ix_(free, free)]
            bent = -moves.T @ np.linalg.inv(bends) @ moves
        g = self.gradient(y)
        return np.asarray((bent / 2.0 - np.outer(g, g)) / value)

    @staticmethod
    def _weights(s: float, t: float) -> Array:
        own = SHARE_OF_LINES * (np.array([s, t]) - 0.5) ** 2
        return np.array([1.0, 2.0 * s, -2.0 * t, s * s + own[0], -2.0 * s * t, t * t + own[1]])

    def _least(self, y: Array) -> tuple[float, float, list[int]]:
        """s, t, and which of them are between the ends."""
        _, ru, rv, uu, uv, vv = y
        A, C = (1.0 + SHARE_OF_LINES) * uu, (1.0 + SHARE_OF_LINES) * vv
        p, q = 0.5 * SHARE_OF_LINES * uu - ru, 0.5 * SHARE_OF_LINES * vv + rv
        found = []
        if uu and vv:
            s, t = np.linalg.solve(np.array([[A, -uv], [-uv, C]]), np.array([p, q]))
            if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
                return float(s), float(t), [0, 1]
        for end in (0.0, 1.0):
            t, s = ((q + uv * end) / C if vv else 0.5), ((p + uv * end) / A if uu else 0.5)
            found += [(end, float(np.clip(t, 0, 1)), [1] if vv and 0 < t < 1 else [])]
            found += [(float(np.clip(s, 0, 1)), end, [0] if uu and 0 < s < 1 else [])]
        return min(found, key=lambda each: float(self._weights(each[0], each[1]) @ y))


@dataclass(frozen=True, eq=False)
class PieceOnBall(PieceOnPiece):
    """Gap whose depth is that of a ball and a piece of a line with neighbours (``kernels/many/shared_nodes.py``).

    Attributes:
        far: far ends of the pieces before and after; None: an end of the line.
        reach: sum of both radii [m].
        exponent: of the normal force.
    """

    far: tuple[Port | None, Port | None]
    reach: float
    exponent: float

    def functions(self) -> tuple[Row, ...]:
        """AA, AB, BB, PP, PA, QQ and QB of the vectors from the ball to the ends and the far ends."""
        (a, b), (o, w) = self.touchers, self.far
        A, B, P, Q = (between(self.other[0], each) for each in (a, b, o or a, w or b))
        pairs = ((A, A), (A, B), (B, B), (P, P), (P, A), (Q, Q), (Q, B))
        return tuple(Row((BilinearTerm(1.0, *pair),), 0.0, "gap") for pair in pairs)

    def places(self, y: Array) -> tuple[float, float]:
        """s along the piece; the ball has no length."""
        return float(self._foot(y)), 0.5

    def value(self, y: Array) -> float:
        """Sum of the radii less the depth."""
        return float(self.reach - self._depth(y)[0])

    def gradient(self, y: Array) -> Array:
        """Derivatives with respect to the products."""
        return np.asarray(-self._depth(y)[1])

    def hessian(self, y: Array) -> Array:
        """Derivatives of the gradient, by a step along the imaginary axis, which has no round-off."""
        step = IMAGINARY * float(np.abs(y).max())
        rows = [-self._depth(y + 1j * step * unit)[1].imag / step for unit in np.eye(len(y))]
        return np.asarray((np.array(rows) + np.transpose(rows)) / 2)

    def _foot(self, y: Array) -> Array:
        AA, AB, BB, *_ = y
        s = (AA - AB) / (AA - 2 * AB + BB)
        return np.asarray(s if 0.0 < s.real < 1.0 else np.clip(s.real, 0.0, 1.0))

    def _depth(self, y: Array) -> tuple[Array, Array]:
        """Depth and its derivatives; outside the piece what is missing to it, negative."""
        AA, AB, BB, PP, PA, QQ, QB = y
        e, s = self.exponent + 1.0, self._foot(y)
        x, own = self._within(y, s)
        if x.real <= 0.0:
            return x, own
        W, slopes = x**e, e * x**self.exponent * own
        ends = (
            (self.far[0], 0.0, (PP, PA, AA, AB, BB), [3, 4, 0, 1, 2]),
            (self.far[1], 1.0, (QQ, QB, BB, AB, AA), [5, 6, 2, 1, 0]),
        )
        for far, end, products, places in ends:
            x, own = self._within(y, np.asarray(end))
            if far is None or x.real <= 0.0:
                continue
            c, bends = _valley(*products)
            W, slopes = W - c * x**e / 2, slopes - c * e * x**self.exponent * own / 2
            slopes[places] -= x**e * bends / 2
        if W.real <= 0.0:
            return np.zeros(()), np.zeros(len(y))
        return W ** (1 / e), slopes * W ** (1 / e - 1) / e

    def _within(self, y: Array, s: Array) -> tuple[Array, Array]:
        """Depth at s along the piece and its derivatives."""
        weights = np.array([(1 - s) ** 2, 2 * s * (1 - s), s**2, *np.zeros(4)])
        distance = np.sqrt(weights @ y)
        return self.reach - distance, -weights / (2 * distance)


IMAGINARY = 1e-30
"""Of the largest product: step of derivatives along the imaginary axis."""


def _valley(far: Array, across: Array, own: Array, inner: Array, other: Array) -> tuple[Array | float, Array]:
    """c of a node and its derivatives with respect to the products ff, fn, nn, ne and ee."""
    first, second = far - 2 * across + own, own - 2 * inner + other
    if (own - across).real <= 0.0 or (own - inner).real <= 0.0:
        return np.ones(()), np.zeros(5)
    alpha, beta = (own - across) / first, (own - inner) / second
    a, b = (2 * each if each.real < 0.5 else 1.0 for each in (alpha, beta))
    g, k = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
    on_alpha, on_beta = -12 * a * (1 - a) * k / first, -12 * b * (1 - b) * g / second
    on_own = (1 - alpha) * on_alpha + (1 - beta) * on_beta
    on_far, on_inner = (2 * alpha - 1) * on_alpha, (2 * beta - 1) * on_beta
    return 1 - g * k, np.array([-alpha * on_alpha, on_far, on_own, on_inner, -beta * on_beta])


@dataclass(frozen=True, eq=False)
class TouchedPiece(Touchable):
    """What a piece touches, as the second of a contact of two.

    Attributes:
        piece, other: members; the second may be a solid.
        far: far ends of the pieces of the line before and after; None: an end of the line.
        exponent: of the normal force.
    """

    piece: Member
    other: Member
    far: tuple[Port | None, Port | None] = (None, None)
    exponent: float = 1.0

    def __post_init__(self) -> None:
        """Members are as they are."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Those of the second."""
        return tuple(dict.fromkeys((self.other.start, self.other.end)))

    @property
    def thickness(self) -> float:
        """Of the second [m]."""
        return self.other.thickness if self.other.kind.is_solid else self.other.radius

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """F, whatever the port."""
        return (Gap(self.coordinate(dimension), self.other.radius),)

    def coordinate(self, dimension: int) -> PieceCoordinate:
        """F."""
        ends = (self.piece.start, self.piece.end)
        if self.other.kind.is_solid:
            return PieceOnSolid("gap", ends, self.piece, self.other, self.other.directions(dimension)[:3])
        if any(self.far) and self.other.start is self.other.end:
            return PieceOnBall(
                "gap",
                ends,
                (self.other.start, self.other.start),
                self.other.radius,
                self.far,
                self.piece.radius + self.other.radius,
                self.exponent,
            )
        return PieceOnPiece("gap", ends, (self.other.start, self.other.end), self.other.radius)
