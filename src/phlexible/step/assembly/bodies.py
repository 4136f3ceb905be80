"""Floating bodies as tables of the kernels (docs/theory.md, 2 and 4); equal bodies share one type."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.sparse import Matrix, bytes_of, dense_patches, row_spans, window
from phlexible.bodies.floating_body import FloatingBody, LocalMoments, StrainEnergy
from phlexible.bodies.mechanics.floating import mass_diagonal, undeformed_mass, without_round_off
from phlexible.elements.maxwell import Maxwell
from phlexible.state.layout import offsets
from phlexible.step.tables.declarations import CONTACT
from phlexible.step.tables.memory import TEAM_LANES

# Long bodies: coordinates in segments that couple with the next ones only (docs/theory.md, 4).

Tables = dict[str, ArrayLike]
"""By name; ``Memory`` makes arrays of them, of the types that their declarations say."""


KEPT_ROWS = 1000
"""Rows up to which tables of integers are kept: mechanisms of one structure have the same ones."""


def columns(names: Sequence[str], rows: Sequence[Sequence[int]]) -> Tables:
    """Return a dictionary with one read-only array of integers (rows,) for each of the ``names``: for name k,
    entry k of each of the ``rows``. Small tables are cached."""
    own, count = tuple(map(tuple, rows)), len(names)
    table = _known_columns(own, count) if len(own) <= KEPT_ROWS else _columns(own, count)
    return dict(zip(names, table, strict=True))


def _columns(rows: tuple[tuple[int, ...], ...], count: int) -> tuple[IntArray, ...]:
    """Return the ``count`` columns of a table of integers with these ``rows``, each of shape (rows,)."""
    table = np.ascontiguousarray(np.array(rows, dtype=np.int64).reshape(-1, count).T)
    table.flags.writeable = False
    return tuple(table)


_known_columns = lru_cache(256)(_columns)


FEWEST = 40  # elastic coordinates; dense blocks of fewer are as fast
SMALLEST = 6  # coordinates of a segment


@dataclass(frozen=True, eq=False)
class Band:
    """Division of a long body's elastic coordinates into segments, each of which couples with the next only. Its
    mass moments are about the undeformed centre of mass, since those about the centre of mass would couple all
    coordinates.

    Attributes:
        ends: one past the last coordinate of each segment.
        first_moments: S / sqrt(m) about the undeformed centre of mass, shape (3, n + 1).
        planes: W about the undeformed centre of mass, W[a, b] as planes[a][b], each (n + 1, n + 1).
    """

    ends: tuple[int, ...]
    first_moments: Array
    planes: "Planes"

    @property
    def begins(self) -> tuple[int, ...]:
        """Index of the first elastic coordinate of each segment of a long body, whose coordinates couple only with
        neighbouring segments."""
        return (0, *self.ends[:-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of elastic coordinates of each segment of a long body."""
        return tuple(end - begin for begin, end in zip(self.begins, self.ends, strict=True))

    @property
    def lows(self) -> tuple[int, ...]:
        """First elastic coordinate with which each segment of a long body couples: the first coordinate of the
        segment before, for the first segment its own."""
        return (0, *self.begins[:-1])

    @property
    def strides(self) -> tuple[int, ...]:
        """Number of columns that each segment of a long body occupies in the banded matrix: its coordinates and
        those of both neighbours."""
        highs = (*self.ends[1:], self.ends[-1])
        return tuple(high - low for low, high in zip(self.lows, highs, strict=True))

    def offsets(self, dimension: int, rigid_count: int) -> "BlockOffsets":
        """Return the offsets of the rigid and elastic blocks of a long body in Newton's matrix. The elastic
        coordinates are stored as a band of segments. The model has ``dimension`` axes, and the body
        ``rigid_count`` rigid velocities."""
        n, border = self.ends[-1], rigid_count + dimension
        side = border * border
        bottom = side + n * border
        band, lines = bottom + n * border, []
        for size, low, stride in zip(self.sizes, self.lows, self.strides, strict=True):
            lines += [band + row * stride - low for row in range(size)]
            band += size * stride
        return BlockOffsets((border, border, n), side, bottom, np.array(lines, dtype=np.int64), band)


@dataclass(frozen=True, eq=False)
class BlockOffsets:
    """Offsets of the parts of the block of a frame, see ``step/kernels/blocks.py``.

    Attributes:
        strides: entries from row to row of the corner, the side and the bottom.
        side: first number of (eta, V and w and y).
        bottom: first number of (V and w and y, eta).
        lines: offset of each row of (eta, eta), shape (n,).
        length: entries in the block.
    """

    strides: tuple[int, int, int]
    side: int
    bottom: int
    lines: IntArray
    length: int


def dense_offsets(rigid_count: int, elastic_count: int) -> BlockOffsets:
    """Return the offsets of the rigid and elastic blocks within a floating body's dense block of Newton's matrix.
    The dense block has the shape (width, width) with width ``rigid_count`` + ``elastic_count``."""
    width = rigid_count + elastic_count
    lines = (rigid_count + np.arange(elastic_count)) * width + rigid_count
    return BlockOffsets((width,) * 3, rigid_count * width, rigid_count, lines, width * width)


def offset_tables(offsets: Sequence[BlockOffsets], starts: Sequence[int]) -> Tables:
    """Return the arrays of offsets in Newton's matrix of the rigid and elastic blocks of all floating bodies, in a
    dictionary ("side", "bottom", "line", ...). ``offsets`` are relative to the diagonal block of each body; these
    blocks begin at the indices ``starts`` of Newton's matrix, which are added. Row lengths of the blocks are
    included."""
    return {
        **columns(("corner_stride", "side_stride", "bottom_stride"), [own.strides for own in offsets]),
        "side": [own.side + start for own, start in zip(offsets, starts, strict=True)],
        "bottom": [own.bottom + start for own, start in zip(offsets, starts, strict=True)],
        "line": [own.lines + start for own, start in zip(offsets, starts, strict=True)],
    }


def band_of(body: FloatingBody) -> Band | None:
    """Return the ``Band`` that divides the elastic coordinates of a long ``body`` into segments, each coupled with
    the next only. It stores mass moments about the undeformed centre of mass, without what the first moments
    contribute. None for few coordinates or fewer than three segments: such a body has a dense block."""
    if body.elastic_count < FEWEST:
        return None
    ends = _segments(_reaches(body))
    if len(ends) < 3:
        return None
    first = body.first_moments.copy()
    centre = first[:, 0] / body.mass  # undeformed, a point of the body: from it little is left to subtract
    first[:, 0] = 0.0
    planes: list[list[Matrix]] = []
    for a, row in enumerate(_planes_of(body)):
        planes.append([])
        for b, plane in enumerate(row):
            border = np.zeros((2, len(first[0])))  # what row 0 and column 0 lose
            border[0] = centre[a] * first[b]
            border[0, 0] += body.mass * centre[a] * centre[b]
            border[1] = centre[b] * first[a]
            planes[a].append(_without_border(plane, border))
    return Band(ends, first / np.sqrt(body.mass), planes)


Planes = Sequence[Sequence[Matrix]]


def _planes_of(body: FloatingBody) -> Planes:
    """Return the second mass moments W[a, b] of a floating ``body`` as nested sequences [a][b] of matrices, for
    body axes a and b. Each matrix has the shape (n + 1, n + 1) for n elastic coordinates. It is sparse if the body
    stores its moments so."""
    moments = body.second_moments
    if not isinstance(moments, LocalMoments):
        return list(moments)
    return moments.planes if moments.is_sparse else list(moments.toarray())


def _without_border(plane: Matrix, border: Array) -> Matrix:
    """Return a copy of the matrix ``plane``, dense or sparse, from whose first row border[0] and from whose first
    column border[1] is subtracted. Both are subtracted from the corner entry; ``border`` has the shape (2,
    columns)."""
    if isinstance(plane, np.ndarray):
        plane = plane.copy()
        plane[0] -= border[0]
        plane[:, 0] -= border[1]
        return plane
    row, column = (sparse.csr_array(each[None]) for each in border)
    row.resize(plane.shape)
    column.resize(plane.shape)
    result = sparse.csr_array(plane - row - column.T)
    result.sort_indices()
    return result


def _reaches(body: FloatingBody) -> IntArray:
    """Return for each elastic coordinate k of a ``body`` the index after the last coordinate that couples with any
    of 0 to k. The shape is (n,), and the indices ascend. Coordinates couple in mass moments, stiffness, damping or
    a common strain.
    """
    strain, n = body.strain, body.elastic_count
    reach = np.arange(1, n + 1)
    elastic = [plane[1:, 1:] for row in _planes_of(body) for plane in row]
    for matrix in (*elastic, strain.stiffness, body.damping):
        for each in (matrix, matrix.T):
            reach = np.maximum(reach, [last for _, last in row_spans(each)])
    for begin, end in _strain_supports(strain):
        if end:
            reach[begin] = max(reach[begin], end)
    return np.maximum.accumulate(reach)


def _strain_supports(strain: StrainEnergy) -> list[tuple[int, int]]:
    """Return for each strain of a body the range of elastic coordinates on which it depends, with its quadratic
    terms, as (first, last + 1)."""
    found = [[begin, end] for begin, end in row_spans(strain.rows)]
    for s, (begin, end) in zip(strain.square_strain.tolist(), row_spans(strain.squares), strict=True):
        if end:
            own = found[s]
            own[:] = (min(own[0], begin), max(own[1], end)) if own[1] else (begin, end)
    return [(begin, end) for begin, end in found]


def _segments(reach: IntArray) -> tuple[int, ...]:
    """Return the ends (last index + 1) of segments of the elastic coordinates such that each segment couples with
    the next one only. They are as short as possible above a least size. ``reach`` (n,) is one past the last
    coordinate with which each coordinate, or an earlier one, couples."""
    ends, n = [min(SMALLEST, len(reach))], len(reach)
    while ends[-1] < n:
        begin = ends[-1]
        end = max(begin + SMALLEST, int(reach[begin - 1]))
        ends.append(n if n - end < SMALLEST // 2 else end)
    return tuple(ends)


WIDER = 1.25
"""Entries of squares with the support of all of them, over those with their own, up to which they get it."""
AT_ONCE = 4
"""Squares of one strain that go together."""
MANY = 4.0
"""Entries of all squares of a strain, over those of a matrix in their place, from which on it is cheaper."""
PATCH = tuple(
    f"patch_{name}" for name in ("first", "second", "row", "rows", "column", "columns", "number", "alike")
)
OF_TYPE = "elastic_count", "patches", "stiffness_patch", "damping_patch", "first_moment", "segments", "strains"
STRAIN = (*(f"strain_{name}" for name in ("row", "first", "last", "has_matrix")), "squares")


class TypeTables:
    """Collects the types of floating bodies, one for all bodies with equal numbers.

    Args:
        frames: bodies with data about their centres of mass.
        bodies: the same bodies with data about the points of their frames.
        with_segments: whether long bodies are stored in segments.

    Attributes:
        type_of: number of the type of each body.
        bands: band of each type, None where the block of eta is dense.
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
                self._types.append(without_round_off(data))
                self.bands.append(band_of(body) if with_segments else None)
            same[id(data)] = known[key]
            self.type_of.append(known[key])

    def offsets(self) -> list[BlockOffsets]:
        """Return for each floating body the offsets of its rigid and elastic blocks within its block of Newton's
        matrix, dense or in segments."""
        found = []
        for kind in self.type_of:
            body, band = self._types[kind], self.bands[kind]
            rigid, n = body.rigid_count, body.elastic_count
            found.append(dense_offsets(rigid, n) if band is None else band.offsets(body.dimension, rigid))
        return found

    def relaxations(self) -> list[Maxwell | None]:
        """Return for each type of floating body (bodies with equal data) its Maxwell elements (springs and
        dashpots in series), or None."""
        return [body.relaxation for body in self._types]

    def tables(self) -> Tables:
        """Return the arrays that the compiled time step reads for each distinct floating body, by name. They
        contain mass moments, stiffness, damping and strains; bodies with equal data have one common entry (a
        type)."""
        found = [_type_rows(body, band) for body, band in zip(self._types, self.bands, strict=True)]
        inertia, begin = list[Array](), 0
        rows, patches, strains, squares = (list[tuple[int, ...]]() for _ in range(4))
        for body, (own, values, _) in zip(self._types, found, strict=True):
            rigid = np.zeros((3, 3))
            if body.elastic_count == 0 and body.rotates:
                axes = list(body.rotation_axes)
                rigid[np.ix_(axes, axes)] = undeformed_mass(body)[body.dimension :, body.dimension :]
            inertia.append(rigid)
            rows.append(own.row(len(patches), begin))
            patches += [(*each[:6], each[6] + begin, each[7]) for each in own.patches]
            strains += [(each[0] + begin, *each[1:]) for each in own.strains]
            squares += [(each[0] + begin, *each[1:]) for each in own.squares]
            begin += len(values)
        counts = [row[-1] for row in rows]
        first, starts = offsets(counts), offsets([strain[-1] for strain in strains])
        first_square, square_counts = starts[first[:-1]], np.diff(starts[first])
        strain_starts = offsets([counts[kind] for kind in self.type_of])
        square_starts = offsets([square_counts[kind] for kind in self.type_of])
        return {
            **columns(OF_TYPE, rows),
            "viscosity": [body.viscosity for body in self._types],
            **_segment_tables(self.bands),
            **columns(PATCH, patches),
            **columns(STRAIN, strains),
            **columns(("square_row", "square_first", "square_last", "square_alike"), squares),
            "type_of": self.type_of,
            "rigid_inertia": inertia,
            "strain_weight": [body.strain.weights for body in self._types],
            "square_factor": [factors for _, _, factors in found],
            "type_value": [values for _, values, _ in found],
            "frame_strain": strain_starts[:-1] - first[self.type_of],
            "frame_square": square_starts[:-1] - first_square[self.type_of],
            "inner_strains": [self._types[kind].inner_count for kind in self.type_of],
            "planes": 2 if all(body.dimension == 2 for body in self._types) else 9,
            "frame_strains": int(strain_starts[-1]),
            "frame_squares": int(square_starts[-1]),
        }


@dataclass(frozen=True, eq=False)
class _TypeRows:
    """Integers that describe one type of floating body. Offsets count from its first rectangle and its first value
    in the tables of all types.

    Attributes:
        elastic_count: number of its elastic coordinates.
        ends: number of rectangles of its moments, of these and the stiffness, and of all with the damping.
        first_moment: offset of its first moments, -1: none.
        segments: number of its segments.
        patches, strains, squares: rows of the tables ``PATCH``, ``STRAIN`` and of squares.
    """

    elastic_count: int = 0
    ends: tuple[int, ...] = (0, 0, 0)
    first_moment: int = -1
    segments: int = 0
    patches: Sequence[tuple[int, ...]] = ()
    strains: Sequence[tuple[int, ...]] = ()
    squares: Sequence[tuple[int, ...]] = ()

    def row(self, patch: int, value: int) -> tuple[int, ...]:
        """Return the integers that describe this type of floating body, in the order of ``OF_TYPE``. Offsets in
        them count from the beginning of the tables of all types, where the rectangles of this type begin at
        ``patch`` and its values at ``value``.
        """
        first_moment = self.first_moment if self.first_moment < 0 else self.first_moment + value
        begins = self.ends[2], patch + self.ends[0], patch + self.ends[1]
        return self.elastic_count, *begins, first_moment, self.segments, len(self.strains)


LARGEST_KNOWN = 2**13
"""Entries of the matrices of a type up to which its rows are kept for others with the same nonzero entries."""


def _type_rows(body: FloatingBody, band: Band | None) -> tuple[_TypeRows, Array, Array]:
    """Return integers, matrix values, shape (values,), and square factors by which the compiled time step computes
    a floating ``body``. The integers locate nonzero rectangles of its matrices, the factors weight squares of
    linear functions in its strains. Results for small dense bodies are looked up in a cache by their pattern of
    nonzero entries. ``band`` divides a long body into segments, None: dense. All are empty without elastic
    coordinates.

    Integers, and where each value comes from, follow from which entries are zero.
    """
    if not body.elastic_count:
        return _TypeRows(), np.zeros(0), np.zeros(0)
    strain = body.strain
    planes = _planes(_planes_of(body) if band is None else band.planes, body.dimension)
    matrices = *planes.values(), strain.stiffness, body.damping, strain.rows, strain.squares
    shapes = tuple(matrix.shape for matrix in matrices)
    are_dense = band is None and all(isinstance(matrix, np.ndarray) for matrix in matrices)
    if are_dense and sum(count * n for count, n in shapes) <= LARGEST_KNOWN:
        entries = np.concatenate([[0.0], *(matrix.ravel() for matrix in matrices)])
        known = _known_rows(tuple(planes), shapes, strain.square_strain.tobytes(), (entries != 0).tobytes())
        if known is not None:
            return known[0], entries[known[1]], strain.factors
    return _scanned_rows(planes, strain, body.damping, band, body.dimension)


@lru_cache(256)
def _known_rows(
    axes: tuple[tuple[int, int], ...], shapes: tuple[tuple[int, int], ...], square_strain: bytes, pattern: bytes
) -> tuple[_TypeRows, IntArray] | None:
    """Return the integers that describe dense floating bodies with equal patterns of nonzero entries to the
    compiled time step, and where to find their values. The latter are indices, shape (values,), into the
    concatenated entries of all matrices. They depend on the ``axes`` of the mass moments, the ``shapes`` of the
    matrices, the strain of each square (int64 as bytes) and the bytes ``pattern``, which mark nonzero entries. None
    if the squares of a strain are stored as one matrix.
    """
    is_entry = np.frombuffer(pattern, dtype=np.bool_)
    indices, ends = np.where(is_entry, np.arange(len(is_entry)), 0.0), np.cumsum([count * n for count, n in shapes])
    parts = [part.reshape(shape) for part, shape in zip(np.split(indices[1:], ends[:-1]), shapes, strict=True)]
    stiffness, damping, rows, squares = parts[len(axes) :]
    owners = np.frombuffer(square_strain, dtype=np.int64)
    strain = StrainEnergy(stiffness, rows, np.ones(len(rows)), squares, np.ones(len(squares)), owners)
    found, values, _ = _scanned_rows(dict(zip(axes, parts, strict=False)), strain, damping, None, 0)
    return None if any(has_matrix for *_, has_matrix, _ in found.strains) else (found, values.astype(np.int64))


def _scanned_rows(
    planes: Mapping[tuple[int, int], Matrix],
    strain: StrainEnergy,
    damping: Matrix,
    band: Band | None,
    dimension: int,
) -> tuple[_TypeRows, Array, Array]:
    """Return integers, values and factors by which the compiled time step computes floating bodies with equal data.
    The integers locate the nonzero rectangles of its matrices, the values, in one array, are their entries. The
    factors weight squares of linear functions in the strains; many squares are merged to one symmetric matrix with
    factors 1. The matrices are mass moments ``planes``, stiffness, ``damping`` and rows of ``strain``. ``band``
    divides a long body into segments, in space of ``dimension`` 2 or 3; None: dense.
    """
    values, patches, ends, size = [np.zeros(0)], list[tuple[int, ...]](), list[int](), 0

    def add(block: Array) -> int:
        nonlocal size
        values.append(np.ascontiguousarray(block, dtype=np.float64).ravel())
        size += block.size
        return size - block.size

    for matrices, full in (
        (planes, int(band is not None)),
        ({(0, 0): strain.stiffness}, 0),
        ({(0, 0): damping}, 0),
    ):
        patches += _patches(matrices, full, add)
        ends.append(len(patches))
    first_moment, segments = -1, 0
    if band is not None:
        first_moment, segments = add(band.first_moments[:dimension]), len(band.ends)
    strains, squares, factors = _strain_rows(strain, add)
    own = strain.stiffness.shape[0], tuple(ends), first_moment, segments, patches, strains, squares
    return _TypeRows(*own), np.concatenate(values), factors


def _patches(
    planes: Mapping[tuple[int, int], Matrix], full: int, add: Callable[[Array], int]
) -> list[tuple[int, ...]]:
    """Return dense rectangles that contain all nonzero entries of the matrices ``planes``, which have pairs of axes
    (p, q) as keys. Each is a tuple (p, q, first row, rows, first column, columns, offset, repetitions). ``add``
    stores the transposed entries of a rectangle and returns their offset. No rectangle contains rows both before
    and after row ``full``. Repetitions count how many consecutive rectangles from this one on have equal rows and
    columns.
    """
    added: list[tuple[int, ...]] = []
    for (p, q), plane in planes.items():
        found = [(slice(0, full), columns) for _, columns in dense_patches(plane[:full])]
        below = dense_patches(plane[full:])
        found += [(slice(rows.start + full, rows.stop + full), columns) for rows, columns in below]
        for rows, columns in found:
            offset = add(window(plane, rows, columns).T)
            sizes = (rows.start, rows.stop - rows.start, columns.start, columns.stop - columns.start)
            added.append((p, q, *sizes, offset))
    alike = _equal_runs([patch[2:6] for patch in added], len(planes))
    return [(*patch, count) for patch, count in zip(added, alike, strict=True)]


def _strain_rows(
    strain: StrainEnergy, add: Callable[[Array], int]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], Array]:
    """Return integers for the scalar strains of a floating body, integers for the squares in them, and factors of
    the squares. A strain is a linear function of the elastic coordinates plus a weighted sum of squares of linear
    functions. ``add`` stores the coefficients of a function and returns their offset; the integers contain it, and
    the range of coordinates. If a strain has many squares, their sum is stored as one symmetric matrix with factors
    1.
    """
    strains, squares, factors = list[tuple[int, ...]](), list[tuple[int, ...]](), [np.zeros(0)]
    ends = np.searchsorted(strain.square_strain, np.arange(len(strain.weights) + 1)).tolist()
    square_supports = row_spans(strain.squares)
    for s, (first, last) in enumerate(_strain_supports(strain)):
        mine, columns = slice(ends[s], ends[s + 1]), slice(first, last)
        rows, own = window(strain.squares, mine, columns), square_supports[mine]
        factors.append(strain.factors[mine])
        has_matrix = sum((end - begin) ** 2 for begin, end in own) > MANY * (last - first) ** 2
        if has_matrix:
            matrix = (rows.T * factors[-1]) @ rows
            rows, factors[-1] = (matrix + matrix.T) / 2, np.ones(last - first)
            own = [(first + begin, first + end) if end else (0, 0) for begin, end in row_spans(rows)]
        else:
            own = _common_supports(own)
        offset = add(window(strain.rows, slice(s, s + 1), columns))
        strains.append((offset - first, first, last, int(has_matrix), len(rows)))
        for row, (begin, end), count in zip(rows, own, _equal_runs(own, AT_ONCE), strict=True):
            part = row[begin - first : end - first] if end else row[:0]
            squares.append((add(part) - begin, begin, end, count))
    return strains, squares, np.concatenate(factors)


def _equal_runs(indices: Sequence[tuple[int, ...]], most: int) -> list[int]:
    """Return for each entry of ``indices`` how many consecutive entries from this one on are equal to it, itself
    included, at most ``most``."""
    found = [1] * len(indices)
    for k in range(len(indices) - 2, -1, -1):
        if indices[k] == indices[k + 1]:
            found[k] = found[k + 1] + 1
    return [min(count, most) for count in found]


def _common_supports(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return index ranges (first, last + 1), one for each of ``spans``, of which successive ones are made equal if
    they are similar. They are replaced by their common hull as long as this enlarges the total number of entries by
    at most a quarter. Empty ranges (0, 0) do not change.
    """
    found: list[tuple[int, int]] = []
    begin, end, entries, count = 0, 0, 0, 0
    for first, last in spans:
        wide = min(begin, first), max(end, last)
        is_near = count > 0 and last > 0 and (wide[1] - wide[0]) * (count + 1) <= WIDER * (entries + last - first)
        if not is_near:
            found += [(begin, end)] * count
            wide, entries, count = (first, last), 0, 0
        (begin, end), entries, count = wide, entries + last - first, count + 1
    return found + [(begin, end)] * count


def _planes(w: "Planes", dimension: int) -> dict[tuple[int, int], Matrix]:
    """Return the second mass moments by axes (p, q) that the compiled step needs, from the matrices w[p][q]
    of a body. In space (``dimension`` 3) these are all nine; in the plane key (0, 0) has w[0][0] + w[1][1],
    key (1, 0) has w[1][0] - w[0][1]."""
    if dimension == 2:
        return {(0, 0): w[0][0] + w[1][1], (1, 0): w[1][0] - w[0][1]}
    return {(p, q): w[p][q] for q in range(3) for p in range(3)}


def _segment_tables(bands: Sequence[Band | None]) -> Tables:
    known = [band for band in bands if band is not None]
    rows = [row for band in known for row in zip(band.begins, band.sizes, band.strides, strict=True)]
    return columns(("segment_first", "segment_rows", "segment_stride"), rows)


@cached_on_owner
def velocity_weights(body: FloatingBody) -> Array:
    """Return weights that make rotational and elastic rates of a floating body comparable with a translation,
    shape (velocities,). Each is the root of the diagonal entry of its undeformed mass matrix divided by its
    mass."""
    return np.asarray(np.sqrt(mass_diagonal(body) / body.mass))


def _fingerprint(body: FloatingBody) -> tuple[object, ...]:
    strain, moments = body.strain, body.second_moments
    planes: tuple[Matrix, ...] = (moments,) if isinstance(moments, np.ndarray) else moments.matrices
    arrays = (*planes, body.damping, strain.stiffness, strain.rows, strain.weights, strain.squares, strain.factors)
    return (body.rotates, body.mass, body.viscosity, body.relaxation, *map(bytes_of, arrays))


# Equal bodies of a mechanism that step in lanes (``step/kernels/teams.py``).

FEWEST_TOGETHER = TEAM_LANES // 2
"""Bodies of a team: lanes that are left over take as long."""


def team_tables(tables: Mapping[str, NDArray[Any]]) -> Tables:
    """Return the tables "team_count", "team_visit" and "is_in_team" of groups of equal flexible bodies (teams).
    The compiled time step evaluates the bodies of a team at the same time in SIMD lanes. They are made from the
    other tables of the mechanism, arrays by the names of the ``tables``.

    Bodies of a team are flexible and of one type, have no segments and are not viscoelastic. They are eliminated
    before all nodes that they are coupled to, whose number and sizes agree. Substeps around contacts need matrices
    of single bodies: a model with contacts has no teams.
    """
    kinds, begin, rows = tables["type_of"], tables["neighbours_begin"], tables["node_row"]
    is_in_team = np.zeros(len(rows), dtype=np.int64)
    if len(kinds) < FEWEST_TOGETHER:
        return {"team_count": [], "team_visit": [], "is_in_team": is_in_team}
    is_dense = np.diff(tables["segments_begin"]) + np.diff(tables["inner_branches_begin"]) == 0
    can_step = ((tables["elastic_count"] > 0) & is_dense)[kinds]
    can_step &= not ((tables["energy_of"] == CONTACT).any() or len(tables["member_kind"]))
    known: dict[tuple[int, ...], list[int]] = {}
    is_coupled = np.zeros(tables["node_size"].sum(), dtype=np.bool_)
    for visit, b in enumerate(tables["visit_node"].tolist() if can_step.sum() >= FEWEST_TOGETHER else ()):
        later = slice(begin[visit], begin[visit + 1])
        sizes = tables["neighbour_size"][later].tolist()
        is_first = b < len(kinds) and can_step[b] and not is_coupled[rows[b]]
        if is_first and max(sizes, default=0) ** 2 <= 9 * tables["node_size"][b]:  # room of ``scratch``
            key = kinds[b], tables["node_apart"][b], tables["rigid_of"][b], *sizes
            known.setdefault(key, []).append(visit)
        for row, size in zip(tables["neighbour_row"][later].tolist(), sizes, strict=True):
            is_coupled[row : row + size] = True
    # First bodies of teams, where numbers of all lanes are stored, are consecutive: few pages of memory are used.
    groups = [(own, (len(own) + TEAM_LANES - FEWEST_TOGETHER) // TEAM_LANES) for own in known.values()]
    teams = [own[k : TEAM_LANES * count : count] for own, count in groups for k in range(count)]
    is_in_team[[tables["visit_node"][visit] for own in teams for visit in own]] = 1
    return {
        "team_count": [len(own) for own in teams],
        "team_visit": [[*own, *[own[-1]] * (TEAM_LANES - len(own))] for own in teams],
        "is_in_team": is_in_team,
    }
