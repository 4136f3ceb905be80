"""Floating bodies as tables of the kernels (docs/theory.md, 2 and 4); equal bodies share one type."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import patches
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.elements.maxwell import Maxwell
from phlexible.state.layout import offsets

# Long bodies: coordinates in segments that couple with the next ones only (docs/theory.md, 4).

Tables = dict[str, ArrayLike]
"""By name; ``Memory`` makes arrays of them, of the types that their declarations say."""


def columns(names: Sequence[str], rows: Sequence[Sequence[int]]) -> Tables:
    """Tables of whole numbers, one entry of each in a row."""
    table = np.array(rows, dtype=np.int64).reshape(-1, len(names))
    return {name: table[:, k] for k, name in enumerate(names)}


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
    """Where the block of a frame has its parts, see ``step/kernels/elimination.py``.

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
    lines = [own.lines + start for own, start in zip(places, starts, strict=True)]
    return {}, {
        **columns(("corner_stride", "side_stride", "bottom_stride"), [own.strides for own in places]),
        "side": [own.side + start for own, start in zip(places, starts, strict=True)],
        "bottom": [own.bottom + start for own, start in zip(places, starts, strict=True)],
        "line": np.concatenate(lines) if lines else [],
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


# Floating bodies as tables of the kernels (docs/theory.md, 2); equal bodies share one type.

MANY = 4.0
"""Entries of all squares of a strain, over those of a matrix in their place, from which on it is cheaper."""
PATCH = tuple(f"patch_{name}" for name in ("first", "second", "row", "rows", "column", "columns", "number"))
OF_TYPE = (
    *("elastic_count", "viscosity", "first_moment", "segment_count", "strain_start", "strain_count"),
    *(f"{name}_{number}" for name in ("patch", "stiffness", "damping") for number in ("start", "count")),
)
STRAIN = (*(f"strain_{name}" for name in ("row", "first", "last", "has_matrix")), "square_start", "square_count")


class TypeTables:
    """Collects the types of bodies with a frame.

    Args:
        frames: about their centres of mass.
        bodies: the same about the points of their frames.
        with_segments: whether long bodies are in segments.

    Attributes:
        type_of: number of the type of each body.
        bands: of each type, None where eta is dense.
    """

    def __init__(
        self, frames: Sequence[FloatingBody], bodies: Sequence[FloatingBody], with_segments: bool = True
    ) -> None:
        self._types: list[FloatingBody] = []
        self.bands: list[Band | None] = []
        known: dict[tuple[object, ...], int] = {}
        same: dict[int, int] = {}  # bodies of one description share their numbers
        self.type_of: list[int] = []
        for data, body in zip(frames, bodies, strict=True):
            if id(data) in same:
                self.type_of.append(same[id(data)])
                continue
            key = _fingerprint(data)
            if key not in known:
                known[key] = len(self._types)
                self._types.append(data)
                self.bands.append(band_of(body) if with_segments else None)
            same[id(data)] = known[key]
            self.type_of.append(known[key])
        self._numbers: list[Array] = []
        self._length = 0
        self._patches: list[tuple[int, ...]] = []
        self._strains: list[tuple[int, int, int, int, int, int]] = []
        self._weights: list[float] = []
        self._squares: list[tuple[int, int, int]] = []
        self._factors: list[float] = []

    def places(self) -> list[BlockPlaces]:
        """Where the parts of the block of each body are in it."""
        found = []
        for kind in self.type_of:
            body, band = self._types[kind], self.bands[kind]
            rigid, n = body.rigid_count, body.elastic_count
            found.append(dense_places(rigid, n) if band is None else band.places(body.dimension, rigid))
        return found

    def relaxations(self) -> list[Maxwell | None]:
        """Branches of each type."""
        return [body.relaxation for body in self._types]

    def tables(self) -> tuple[dict[str, int], Tables]:
        """Counts and tables."""
        rows: dict[str, list[float]] = {name: [] for name in OF_TYPE}
        inertia = []
        for body, band in zip(self._types, self.bands, strict=True):
            for name, value in self._row(body, band).items():
                rows[name].append(value)
            rigid = np.zeros((3, 3))
            if body.elastic_count == 0 and body.rotates:
                axes = list(body.rotation_axes)
                rigid[np.ix_(axes, axes)] = mass_matrix(body, np.zeros(0))[body.dimension :, body.dimension :]
            inertia.append(rigid)
        first, counts = ([int(k) for k in rows[name]] for name in ("strain_start", "strain_count"))
        of_type = [self._strains[start : start + count] for start, count in zip(first, counts, strict=True)]
        first_square = [strains[0][4] if strains else 0 for strains in of_type]
        squares = [sum(strain[5] for strain in strains) for strains in of_type]
        strain_starts = offsets([counts[kind] for kind in self.type_of])
        square_starts = offsets([squares[kind] for kind in self.type_of])
        inner_starts = offsets([self._types[kind].inner_count for kind in self.type_of])
        tables: Tables = {
            **rows,
            **_segment_tables(self.bands),
            **columns(PATCH, self._patches),
            **columns(STRAIN, self._strains),
            **columns(("square_row", "square_first", "square_last"), self._squares),
            "type_of": self.type_of,
            "rigid_inertia": inertia,
            "strain_weight": self._weights,
            "square_factor": self._factors,
            "type_number": np.concatenate(self._numbers) if self._numbers else [],
            "frame_strain": [start - first[kind] for start, kind in zip(strain_starts, self.type_of, strict=False)],
            "frame_square": [
                start - first_square[kind] for start, kind in zip(square_starts, self.type_of, strict=False)
            ],
            "frame_inner": inner_starts[:-1],
        }
        totals = {
            "types": len(self._types),
            "planes": 2 if all(body.dimension == 2 for body in self._types) else 9,
            "patches": len(self._patches),
            "segments": sum(len(band.ends) for band in self.bands if band is not None),
            "strains": len(self._strains),
            "squares": len(self._squares),
            "frame_strains": int(strain_starts[-1]),
            "frame_squares": int(square_starts[-1]),
            "type_numbers": self._length,
            "inner_strains": int(inner_starts[-1]),
        }
        return totals, tables

    def _row(self, body: FloatingBody, band: "Band | None") -> dict[str, float]:
        row: dict[str, float] = {"elastic_count": body.elastic_count, "viscosity": body.viscosity}
        moments = body.second_moments if band is None else band.second_moments
        for name, planes in (
            ("patch", _planes(moments, body.dimension) if body.elastic_count else {}),
            ("stiffness", {(0, 0): body.strain.stiffness}),
            ("damping", {(0, 0): body.damping}),
        ):
            first = len(self._patches)
            self._add_patches(planes, 1 if name == "patch" and band is not None else 0)
            row |= {f"{name}_start": first, f"{name}_count": len(self._patches) - first}
        row |= {
            "first_moment": -1 if band is None else self._add(band.first_moments[: body.dimension]),
            "segment_count": 0 if band is None else len(band.ends),
            "strain_start": len(self._strains),
        }
        self._add_strains(body)
        return {**row, "strain_count": len(self._strains) - row["strain_start"]}

    def _add_patches(self, planes: dict[tuple[int, int], Array], apart: int) -> None:
        """What is not zero of matrices (p, q); the first ``apart`` rows, full in a band, by themselves."""
        for (p, q), plane in planes.items():
            found = [(slice(0, apart), columns) for _, columns in patches(plane[:apart])]
            below = patches(plane[apart:])
            found += [(slice(rows.start + apart, rows.stop + apart), columns) for rows, columns in below]
            for rows, columns in found:
                number = self._add(plane[rows, columns].T)
                sizes = (rows.start, rows.stop - rows.start, columns.start, columns.stop - columns.start)
                self._patches.append((p, q, *sizes, number))

    def _add_strains(self, body: FloatingBody) -> None:
        """The strains of one type, each with its squares, or where these are many with the matrix of their sum."""
        strain = body.strain
        slopes, touched = strain.squares != 0, strain.rows != 0
        np.logical_or.at(touched, strain.square_strain, slopes)
        of_strain: list[list[int]] = [[] for _ in strain.rows]
        for g, s in enumerate(strain.square_strain.tolist()):
            of_strain[s].append(g)
        supports, square_supports = _supports(touched), _supports(slopes)
        for s, mine in enumerate(of_strain):
            first, last = supports[s]
            rows, own, factors = strain.squares[mine], [square_supports[g] for g in mine], strain.factors[mine]
            has_matrix = sum((end - begin) ** 2 for begin, end in own) > MANY * (last - first) ** 2
            if has_matrix:
                matrix = (rows.T * factors) @ rows
                rows = (matrix + matrix.T)[first:last] / 2
                own, factors = _supports(rows != 0), np.ones(last - first)
            place = self._add_support(strain.rows[s], (first, last))
            self._strains.append((*place, int(has_matrix), len(self._squares), len(rows)))
            self._weights.append(float(strain.weights[s]))
            for row, support_of_row, factor in zip(rows, own, factors.tolist(), strict=True):
                self._squares.append(self._add_support(row, support_of_row))
                self._factors.append(factor)

    def _add_support(self, row: Array, columns: tuple[int, int]) -> tuple[int, int, int]:
        """Append some columns of a row; where its entry 0 would be, and first and last + 1 of them."""
        first, last = columns
        return self._add(row[first:last]) - first, first, last

    def _add(self, block: Array) -> int:
        """Append a block row by row; its start."""
        start = self._length
        self._numbers.append(np.ascontiguousarray(block, dtype=np.float64).ravel())
        self._length += block.size
        return start


def _planes(w: Array, dimension: int) -> dict[tuple[int, int], Array]:
    """The planes of ``step/kernels/floating_bodies.py`` of second moments (3, 3, n + 1, n + 1)."""
    if dimension == 2:
        return {(0, 0): w[0, 0] + w[1, 1], (1, 0): w[1, 0] - w[0, 1]}
    return {(p, q): w[p, q] for q in range(3) for p in range(3)}


def _segment_tables(bands: Sequence[Band | None]) -> Tables:
    counts = [0 if band is None else len(band.ends) for band in bands]
    known = [band for band in bands if band is not None]
    rows = [row for band in known for row in zip(band.begins, band.sizes, band.strides, strict=True)]
    tables = columns(("segment_first", "segment_rows", "segment_stride"), rows)
    return tables | {"segment_start": offsets(counts)[:-1]}


def _supports(touched: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and one past the last column that each row of (k, n) touches; (0, 0) where there is none."""
    if not touched.size:
        return [(0, 0)] * len(touched)
    first, last = touched.argmax(axis=1), touched.shape[1] - touched[:, ::-1].argmax(axis=1)
    none = ~touched.any(axis=1)
    first[none], last[none] = 0, 0
    return list(zip(first.tolist(), last.tolist(), strict=True))


def support(row: Array) -> tuple[int, int]:
    """First and one past the last column that is not zero, for shape (n,) or (k, n)."""
    columns = np.flatnonzero(np.atleast_2d(row).any(axis=0))
    return (int(columns[0]), int(columns[-1]) + 1) if columns.size else (0, 0)


def velocity_weights(body: FloatingBody, mass: Array) -> Array:
    """sqrt(M_ii / m) of M(0): what a velocity component moves, compared with the body's translation."""
    return np.asarray(np.sqrt(mass.diagonal() / body.mass))


def _fingerprint(body: FloatingBody) -> tuple[object, ...]:
    strain = body.strain
    arrays = (
        body.second_moments,
        body.damping,
        strain.stiffness,
        strain.rows,
        strain.weights,
        strain.squares,
        strain.factors,
    )
    return (body.rotates, body.mass, body.viscosity, body.relaxation, *((a.shape, a.tobytes()) for a in arrays))
