"""Long bodies: coordinates in segments that couple with the next ones only (docs/theory.md, 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.floating_body import FloatingBody

Tables = dict[str, Array | IntArray]
FEWEST = 40  # elastic coordinates; dense blocks of fewer are as fast
SMALLEST = 6  # coordinates of a segment


@dataclass(frozen=True, eq=False)
class Band:
    """What a body with segments has in its tables in place of moments about its centre of mass.

    Attributes:
        ends: one past the last coordinate of each segment.
        first_moments: S / sqrt(m) about the undeformed centre of mass, shape (3, n + 1).
        second_moments: W about the undeformed centre of mass, shape (3, 3, n + 1, n + 1).
    """

    ends: tuple[int, ...]
    first_moments: Array
    second_moments: Array

    @property
    def begins(self) -> tuple[int, ...]:
        """First coordinate of each segment."""
        return (0, *self.ends[:-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Coordinates of each segment."""
        return tuple(end - begin for begin, end in zip(self.begins, self.ends, strict=True))

    @property
    def lows(self) -> tuple[int, ...]:
        """First coordinate that each segment couples with: that of the segment before."""
        return (0, *self.begins[:-1])

    @property
    def strides(self) -> tuple[int, ...]:
        """Columns of each segment: those of its neighbours and its own."""
        highs = (*self.ends[1:], self.ends[-1])
        return tuple(high - low for low, high in zip(self.lows, highs, strict=True))

    def places(self, dimension: int, rigid_count: int) -> "BlockPlaces":
        """Where the parts of the body's block are in it."""
        n, border = self.ends[-1], rigid_count + dimension
        side = border * border
        bottom = side + n * border
        band, lines = bottom + n * border, []
        for size, low, stride in zip(self.sizes, self.lows, self.strides, strict=True):
            lines += [band + row * stride - low for row in range(size)]
            band += size * stride
        return BlockPlaces((border, border, n), side, bottom, np.array(lines, dtype=np.int64), band)


@dataclass(frozen=True, eq=False)
class BlockPlaces:
    """Where the block of a frame has its parts, see ``kernels/segments.py``.

    Attributes:
        strides: from row to row of corner, side and bottom.
        side: first number of (eta, V and w and y).
        bottom: first number of (V and w and y, eta).
        lines: of each row of (eta, eta), shape (n,).
        length: numbers in the block.
    """

    strides: tuple[int, int, int]
    side: int
    bottom: int
    lines: IntArray
    length: int


def dense_places(rigid_count: int, elastic_count: int) -> BlockPlaces:
    """Those in a dense block (width, width)."""
    width = rigid_count + elastic_count
    lines = (rigid_count + np.arange(elastic_count)) * width + rigid_count
    return BlockPlaces((width,) * 3, rigid_count * width, rigid_count, lines, width * width)


def place_tables(places: Sequence[BlockPlaces], starts: Sequence[int]) -> tuple[dict[str, int], Tables]:
    """Counts (none) and tables of frames whose blocks begin at ``starts``."""
    strides = np.array([own.strides for own in places], dtype=np.int64).reshape(-1, 3)
    lines = [own.lines + start for own, start in zip(places, starts, strict=True)]
    return {}, {
        "corner_stride": strides[:, 0],
        "side_stride": strides[:, 1],
        "bottom_stride": strides[:, 2],
        "side": np.array([own.side + start for own, start in zip(places, starts, strict=True)], dtype=np.int64),
        "bottom": np.array([own.bottom + start for own, start in zip(places, starts, strict=True)], dtype=np.int64),
        "line": np.concatenate(lines) if lines else np.zeros(0, dtype=np.int64),
    }


def band_of(body: FloatingBody) -> Band | None:
    """Segments of a body about the point of its frame; None where coordinates are few or do not couple in a row."""
    if body.elastic_count < FEWEST:
        return None
    ends = _segments(_reaches(body))
    if len(ends) < 3:
        return None
    first, second = body.first_moments.copy(), body.second_moments.copy()
    centre = first[:, 0] / body.mass  # undeformed, a point of the body: from it little is left to subtract
    first[:, 0] = 0.0
    second[..., 0, :] -= np.einsum("a,bj->abj", centre, first)
    second[..., :, 0] -= np.einsum("ai,b->abi", first, centre)
    second[..., 0, 0] -= body.mass * np.outer(centre, centre)
    return Band(ends, first / np.sqrt(body.mass), second)


def _reaches(body: FloatingBody) -> IntArray:
    """One past the last coordinate that each one couples with, ascending."""
    strain, n = body.strain, body.elastic_count
    coupled = (body.second_moments[:, :, 1:, 1:] != 0).any(axis=(0, 1))
    coupled |= (strain.stiffness != 0) | (body.damping != 0)
    reach = np.arange(1, n + 1)
    for i, row in enumerate(coupled | coupled.T):
        reach[i] = max(i, np.flatnonzero(row).max(initial=i)) + 1
    for s, row in enumerate(strain.rows):
        touched = np.flatnonzero(np.vstack([row, *strain.squares[strain.square_strain == s]]).any(axis=0))
        if touched.size:
            reach[touched[0]] = max(reach[touched[0]], touched[-1] + 1)
    return np.maximum.accumulate(reach)


def _segments(reach: IntArray) -> tuple[int, ...]:
    """Ends of the shortest segments such that each couples with the next one only."""
    ends, n = [min(SMALLEST, len(reach))], len(reach)
    while ends[-1] < n:
        begin = ends[-1]
        end = max(begin + SMALLEST, int(reach[begin - 1]))
        ends.append(n if n - end < SMALLEST // 2 else end)
    return tuple(ends)
