"""Memory of the tables of ``declarations.py``: sizes from counts, arrays for Python, addresses for the kernels.

It holds one mechanism, with floats or dual numbers, or several of one structure, a lane each
(``step/compilation/number_kinds.py``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from mmap import mmap
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.step.tables.declarations import TABLES, Kind, Table, Writer
from phlexible.step.tables.functions import FAMILIES, FUNCTIONS

SHAPES = {Kind.REAL: (), Kind.INTEGER: (), Kind.VECTOR: (3,), Kind.MATRIX: (3, 3)}
"""Shape of an entry."""

SIZES = {kind: int(np.prod(shape)) for kind, shape in SHAPES.items()}

TYPES = {kind: np.dtype(np.int64 if kind is Kind.INTEGER else np.float64) for kind in SHAPES}

NO_ENTRIES = {kind: np.zeros((0, *shape), dtype=TYPES[kind]) for kind, shape in SHAPES.items()}

PLACES = {table.name: place for place, table in enumerate(TABLES)}
"""Of tables in a header."""

HEADER = 2 * len(TABLES) + len(FUNCTIONS)
"""Integers in a header: counts or addresses of tables, their lengths, addresses of functions."""

ALIGNED = 8  # numbers: tables begin where cache lines do

LANES = "lanes"
"""A header of lanes is an array of records with one field: of this name, and how many lanes; ``SAME_TYPES`` where
these share the numbers of types of bodies; the digest of a ``Structure`` where a program is for that one alone."""

SAME_TYPES, SAME_SYSTEM = "same", "system"

TEAM_LANES = 8
"""Equal bodies of one mechanism that step in lanes at once."""

DUAL = "dual"
"""The name of the field of a header of dual numbers begins so; then comes the number of their directions."""

DIRECTIONS = 4
"""Along which a dual number has derivatives: four take no longer than one."""

DUAL_HEADER = np.dtype([(f"{DUAL}{DIRECTIONS}", np.int64)])
"""Type of the entries of such a header."""

OF_TYPES = ("types", "patches", "segments", "strains", "squares", "inner_branches", "type_values")
"""Sizes of tables of what equal bodies have in common."""

_OF_TYPES = tuple(each.name for each in TABLES if TYPES.get(each.kind) == np.float64 and each.size in OF_TYPES)

OF_FEW = {"stored_entries": (1, "block_entries"), "kept_rows": (1, "unknowns"), "kept_pivots": (2, "unknowns")}
"""Counts that only tables of several mechanisms in lanes have, and what they are: a factor, another count."""


# The list as arrays, for all sizes at once: places of tables in it, by what they are, and the factors and counts
# whose products are their entries.


def _table_indices(*writers: Writer) -> IntArray:
    """Return the indices, in the list of all tables, of the tables that the given ``writers`` write, shape
    (tables,). Writers are sections of the program (system, step, ...). Counts are left out."""
    found = [k for k, table in enumerate(TABLES) if table.kind is not Kind.COUNT and table.writer in writers]
    return np.array(found, dtype=np.int64)


_GIVEN, _STORED, _VIEWS = _table_indices(Writer.SYSTEM), _table_indices(Writer.STATE), _table_indices(Writer.VIEW)
_STATE = np.concatenate([_STORED, _table_indices(Writer.GUESS)])
_WRITTEN, _CHANGING = _table_indices(Writer.CLOCK, Writer.STEP), _table_indices(*set(Writer) - {Writer.SYSTEM})
_TABLES = _table_indices(*Writer)
_COUNTS = np.setdiff1d(np.arange(len(TABLES)), _TABLES)
_COUNT_NAMES = {TABLES[place].name: k for k, place in enumerate(_COUNTS)}
_FACTORS, _SIZED_BY, _MORE = np.array(
    [(factor, _COUNT_NAMES[name], more) for factor, name, more in (TABLES[k].sized_by for k in _TABLES)]
).T
_PACKING = {
    TABLES[k].name: (TYPES[TABLES[k].kind], len(SHAPES[TABLES[k].kind]), *TABLES[k].sized_by) for k in _TABLES
}
_EMPTY = {kind: np.zeros(0, dtype=kind) for kind in TYPES.values()}
_WIDTHS = np.array([SIZES[TABLES[place].kind] for place in _TABLES])


Place = tuple[int, int, tuple[int, ...] | None]
"""First and last + 1 number of a table that changes during a run, and its shape; None: integers."""


class StateRows(Mapping[str, Array]):
    """Stored tables as views of stored states, each of shape (states, entries of the table), made on access.

    Args:
        rows: stored states, shape (instants, state size).
        indices: first and last + 1 number, and shape, of each table.
        spare: number of the first rows that are no states yet, 0 or 1.

    Attributes:
        rows: the stored states, shape (instants, state size).
    """

    def __init__(self, rows: Array, indices: Mapping[str, Place], spare: int = 0) -> None:
        self.rows, self._ranges, self._whole = rows[spare:], indices, rows

    def __getitem__(self, name: str) -> Array:
        """Return one state table (position, velocity, ...), by its name, of all stored states as a view, shape
        (states, entries of the table)."""
        begin, end, shape = self._ranges[name]
        return self.rows[:, begin:end].reshape(len(self.rows), *(shape or ()))

    def after(self, before: "StateRows") -> "StateRows":
        """Return the single state ``before`` and these states, which follow it. The state is copied to the spare
        row in front of these, where there is one; otherwise all are copied."""
        if len(self._whole) == len(self.rows):
            return StateRows(np.concatenate([before.rows, self.rows]), self._ranges)
        self._whole[:1] = before.rows
        return StateRows(self._whole, self._ranges)

    def copied(self, rows: int | IntArray | slice) -> "StateRows":
        """Return a copy of selected states. ``rows`` is a slice, an array of indices, or one index; for one index
        the first axis remains, with length 1."""
        return StateRows(np.atleast_2d(self.rows[rows]).copy(), self._ranges)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)


class Memory:
    """Memory of all tables of a model.

    Args:
        data: every table that the system writes, by name, arrays or lists (``packed``); lengths of ragged lists;
            counts that do not follow from lengths of tables.

    Attributes:
        counts: all of them.
        header: counts, addresses and lengths of tables and addresses of functions, as the kernels read them
            (``notation.tables_at``).
        state_sizes: how many numbers each stored table has, by its name.
        state: all stored tables, one after the other; ``memory[name]`` is a view of it for these.
        steps_alone: number of steps that were computed so far by a call for this memory alone, with repeated ones.
    """

    def __init__(self, data: Mapping[str, ArrayLike]) -> None:
        found, tables = packed(data)
        self.counts = {**dict.fromkeys(OF_FEW, 0), "one": 1, "recurrences": 1, **found}
        self._structure: list[bytes] = []  # of all that share these tables, once one of them was asked
        self._types: list[bytes] = []
        self._template: IntArray = np.zeros(HEADER, dtype=np.int64)
        self._lay_out()
        self._tables = {TABLES[k].name: self._checked(TABLES[k], tables.get(TABLES[k].name)) for k in _GIVEN}
        self._template[_GIVEN] = [array.__array_interface__["data"][0] for array in self._tables.values()]
        self._allocate()

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse to pickle or deep-copy the memory of a time step's tables, by raising ``ModelError``. Its header
        contains addresses of memory."""
        raise ModelError("tables of steps hold addresses; pickle or copy the model, its motion or its live run")

    def _lay_out(self) -> None:
        """Compute where each array of this memory is, from ``self.counts``. Arrays of the state come first, then
        arrays that time steps write; arrays of the system have no offset. Counts and lengths are stored in the
        header's template, offsets and ranges in this object. The length of the state, which is itself a count, is
        added to ``self.counts``.
        """
        self.counts.update(state_size=0, row_size=0)
        entries, sizes = np.zeros((2, len(TABLES)), dtype=np.int64)
        for _ in range(2):  # what is as long as the state is known once its tables are
            counts = np.array([self.counts[name] for name in _COUNT_NAMES])
            entries[_TABLES] = _FACTORS * counts[_SIZED_BY] + _MORE
            sizes[_TABLES] = _WIDTHS * entries[_TABLES]
            self.counts["row_size"] = row = int(sizes[_STORED].sum())
            self.counts["state_size"] = state = int(sizes[_STATE].sum())
        self._template[_COUNTS] = counts
        self._template[len(TABLES) : 2 * len(TABLES)] = entries
        begins, lengths = np.zeros_like(sizes), -(-sizes[_WRITTEN] // ALIGNED) * ALIGNED
        begins[_STATE] = _starts(sizes[_STATE])
        begins[_VIEWS] = np.maximum(row - sizes[_VIEWS], 0)  # the state, and the last numbers of a stored row
        begins[_WRITTEN] = _aligned(state) + _starts(lengths)
        self._length = _aligned(state) + int(lengths.sum())
        own = begins[_CHANGING]
        self._offsets: IntArray = np.stack([_CHANGING, own], axis=1)  # in the header, and of the numbers
        changing = zip(_CHANGING.tolist(), own.tolist(), (own + sizes[_CHANGING]).tolist(), strict=True)
        self._ranges: dict[str, Place] = {
            TABLES[k].name: (begin, end, _shape(TABLES[k], end - begin)) for k, begin, end in changing
        }
        self._columns = {TABLES[k].name: self._ranges[TABLES[k].name] for k in _STORED}
        self.state_sizes = {TABLES[k].name: int(sizes[k]) for k in _STATE}

    def fresh(self) -> Self:
        """Return a copy of this memory for another run of the same model. It shares the arrays of the model that
        do not change; all arrays that change during a run are new and zero."""
        other = copy(self)
        other._allocate()
        return other

    def for_substeps(self, parts: int) -> "Memory":
        """Return new memory with the same tables of the system for time steps that are composed of ``parts``
        substeps. Each substep has its own record of prediction errors; all tables that change during a run are
        zero."""
        other = copy(self)
        other.counts, other._structure = {**self.counts, "recurrences": parts}, []
        other._template = self._template.copy()
        other._lay_out()
        other._allocate()
        return other

    def with_changed_tables(self, tables: Mapping[str, Array]) -> Self:
        """Return new memory in which the ``tables``, arrays by the names of tables of the system, have other
        values. They must have the same shapes, which is not checked; all other tables of the system are shared.
        All tables that change during a run are zero in it."""
        other = copy(self)
        data = {name: np.ascontiguousarray(array) for name, array in tables.items()}
        other._tables, other._template = {**self._tables, **data}, self._template.copy()
        other._types = [] if data.keys() & {*_OF_TYPES} else self._types
        addresses = [array.__array_interface__["data"][0] for array in data.values()]
        other._template[[PLACES[name] for name in data]] = addresses
        other._allocate()
        return other

    def with_tables(self, counts: Mapping[str, int], tables: Mapping[str, NDArray[Any]]) -> Self | None:
        """Return new memory for a mechanism of the same structure with other floating-point arrays ``tables``.
        ``counts`` and ``tables`` are results of ``packed``; arrays that are missing or equal are shared with this
        memory. None if counts, shapes or integer arrays differ.

        Args:
            counts, tables: of the other mechanism, as ``packed`` returns them.
        """
        if any(self.counts[name] != count for name, count in counts.items()):
            return None
        changed: dict[str, Array] = {}
        for name, array in tables.items():
            own = self._tables[name]
            if array.tobytes() == own.tobytes():
                continue
            if array.shape != own.shape or own.dtype == np.int64:
                return None
            changed[name] = array
        return self.with_changed_tables(changed)

    def connect(self, programs: Iterable[Callable[[IntArray], object]]) -> None:
        """Make each compiled program write the addresses of its functions into the header of this memory. Through
        the header the kernels of one program call those of others."""
        for program in programs:
            program(self._template)
        self.header[2 * len(TABLES) :] = self._template[2 * len(TABLES) :]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one table of this memory by its name as a view: shape (entries,) for scalars, (entries, 3) for
        vectors, (entries, 3, 3) for matrices. Names that end in ``_count`` give a new array.

        For a ragged list ``parts_begin`` has the offsets and the end, ``parts_count`` the lengths.
        """
        if name in self._tables:
            return self._tables[name]
        if name not in self._ranges:
            return np.diff(self._tables[f"{name.removesuffix('_count')}_begin"])
        begin, end, shape = self._ranges[name]
        array = self._values[begin:end]
        return array.view(np.int64) if shape is None else array.reshape(shape)

    @property
    def system_tables(self) -> Mapping[str, NDArray[np.generic]]:
        """Return the tables that are written once, from the model, and do not change during a run, by their
        names."""
        return self._tables

    @property
    def structure(self) -> bytes:
        """Return a digest (SHA-256) of all counts and integer arrays of this memory, computed once and cached. It
        is equal for mechanisms of one structure, which can advance at the same time in SIMD lanes; floating-point
        values do not count."""
        if not self._structure:
            found = sha256(repr(sorted(self.counts.items())).encode())
            for name, table in sorted(self._tables.items()):
                if table.dtype.kind == "i":
                    found.update(f"{name} {table.shape}".encode() + table.tobytes())
            self._structure.append(found.digest())
        return self._structure[0]

    @property
    def type_digest(self) -> bytes:
        """Return a digest (SHA-256) of the data of all body types (mass and stiffness matrices), cached.
        Mechanisms in SIMD lanes share these data if their digests are equal."""
        if not self._types:
            found = sha256()
            for name in _OF_TYPES:
                found.update(self._tables[name].tobytes())
            self._types.append(found.digest())
        return self._types[0]

    def offset_of(self, name: str) -> int:
        """Return the index of the first entry of a table, by its name, in the array of all tables that change
        during a run. The array begins with the state."""
        return self._ranges[name][0]

    @property
    def header_layout(self) -> tuple[IntArray, dict[int, int], int]:
        """Return three values from which code without Python can place the arrays that change during a run. They
        are a header with only the counts filled in, a dictionary from the index of each such array in the header
        to its offset, and the total number of floats. A header is the integer array of a model's counts and
        addresses of arrays."""
        header = np.zeros_like(self._template)
        counts = [index for index, table in enumerate(TABLES) if table.kind is Kind.COUNT]
        header[counts] = self._template[counts]
        return header, dict(self._offsets.tolist()), self._length

    def rows(self, states: Array, spare: int = 0) -> StateRows:
        """Return the tables of several stored states as views: arrays by the names of the state tables (position,
        rotation, velocity, ...), each with a first axis (states,). ``states`` have the shape (states, state size),
        as a run stores them; ``spare`` is the number of rows in front, 0 or 1, that are no states yet."""
        return StateRows(states, self._columns, spare)

    def _allocate(self) -> None:
        self._values: Array = _aligned_zeros(self._length, 1).ravel()
        self.state = self._values[: self.counts["state_size"]]
        self.header, self.steps_alone = self._header_of(self._values, 1), 0
        if self.counts["teams"]:  # in lanes where the first body of each is: only pages of these are ever used
            self._team_values = np.frombuffer(mmap(-1, TEAM_LANES * self._values.nbytes))
            self._team_header = self._header_of(self._team_values, TEAM_LANES)
            self["team"][0] = self._team_header.ctypes.data

    def _header_of(self, values: Array, width: int) -> IntArray:
        """Return a header with the addresses of all arrays that change during a run, if ``values`` is the array
        used as their memory. Each number takes ``width`` entries there: one for each SIMD lane, or value and
        derivatives of a dual number. A header is the integer array of a model's counts and addresses of arrays.
        """
        header = self._template.copy()
        header[self._offsets[:, 0]] = values.ctypes.data + values.itemsize * width * self._offsets[:, 1]
        return header

    def _checked(self, table: Table, array: NDArray[Any] | None) -> NDArray[np.generic]:
        shape = (table.entries(self.counts), *SHAPES[table.kind])
        if array is None or not array.size:
            array = NO_ENTRIES[table.kind]
        assert array.shape == shape, f"{table.name} has shape {array.shape}, expected {shape}"
        return array


def packed(data: Mapping[str, ArrayLike]) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
    """Return all counts of a mechanism by name, and all arrays of ``data`` as contiguous arrays by name. ``data``
    has entries by the names of the model's arrays. Counts that follow from lengths of arrays are added. A list of
    arrays is concatenated, and the lengths of a ragged list become offsets with the end.

    Lists of arrays of several entries become one array. The lengths of a ragged list, which have its name, become
    the offsets at which the entries of its owners begin, and the end.
    """
    counts, tables = dict[str, int](), dict[str, NDArray[Any]]()
    for name, table in data.items():
        if name in _COUNT_NAMES:
            if isinstance(table, int | np.integer):
                counts[name] = int(table)
                continue
            name, table = f"{name}_begin", [0, *accumulate(np.asarray(table).tolist())]
        kind, axes, factor, count, more = _PACKING[name]
        if isinstance(table, list) and table and not isinstance(table[0], int | float):
            table = np.concatenate(table) if np.ndim(table[0]) > axes else table
        is_empty = isinstance(table, list) and not table
        array = tables[name] = _EMPTY[kind] if is_empty else np.ascontiguousarray(table, dtype=kind)
        if count not in counts:
            counts[count] = (len(array) - more) // factor
        if more:
            counts.setdefault(name.removesuffix("_begin"), int(array[-1]))
    return counts, tables


# Structures of mechanisms, as constants of a program that is compiled for one structure alone.
#
# Counts and tables of integers determine all loops and couplings. Where they are constants LLVM drops what a model
# does not have, unrolls short loops, and keeps tables in registers. A header names its structure by a digest in its
# type, which is the key of the cached programs.


@dataclass(frozen=True, eq=False)
class Structure:
    """Counts, integers and functions that mechanisms of one structure have in common, as constants of a program.

    Attributes:
        digest: of all of it.
        counts: by the names of the tables.
        integers: tables of integers that the system writes, by name, shape (entries,).
        functions: names of the exported functions that exist.
    """

    digest: str
    counts: Mapping[str, int]
    integers: Mapping[str, IntArray]
    functions: frozenset[str]

    def register(self) -> str:
        """Store this structure under its digest in a dictionary of the process, so that programs can be compiled
        for it, and return the digest. A structure contains counts and integer tables as constants of a program."""
        _REGISTERED[self.digest] = self
        return self.digest


_REGISTERED: dict[str, Structure] = {}


def get_structure(digest: str) -> Structure:
    """Return the structure (counts and integer tables as constants of a program) that was registered with this
    digest; a digest that is unknown raises ``KeyError``."""
    return _REGISTERED[digest]


def specialized_structure(plan: Memory, connected: Memory) -> Structure:
    """Return the constants of a program that is compiled for one model structure alone: counts, integer arrays and
    available functions. Counts and integers are those of ``plan``, functions those whose programs are loaded in
    ``connected``. A digest of all is the name of the structure."""
    integers = {
        table.name: plan._tables[table.name].ravel().view(np.int64)
        for table in TABLES
        if table.kind is Kind.INTEGER and table.writer is Writer.SYSTEM
    }
    addresses = connected._template[2 * len(TABLES) :]
    known = {name for name, address in zip(FUNCTIONS, addresses, strict=True) if address}
    functions = frozenset(known.difference(*(each.functions for each in FAMILIES if each.lanes == "unused")))
    digest = sha256(plan.structure + " ".join(sorted(functions)).encode()).hexdigest()[:32]
    return Structure(digest, plan.counts, integers, functions)


class LaneMemory:
    """Tables of several mechanisms of one structure, whose numbers alternate in memory, a lane each.

    Args:
        example: memory of one of them.
        width: number of lanes.
        is_specialized: they are stepped by a program in which counts and integers are constants.
        have_types: all mechanisms in it have the same ``types``, which lanes share: a number is read
            once for all of them.

    Attributes:
        header: as in ``Memory``, of a type that names the number of lanes.
        state: stored tables, shape (state size, width).
        status: of the last step that was not taken, shape (width,).
        width: number of lanes.
        is_specialized, have_types: as given.
    """

    def __init__(self, example: Memory, width: int, is_specialized: bool = False, have_types: bool = False) -> None:
        counts = example.counts
        kept = {name: factor * counts[count] for name, (factor, count) in OF_FEW.items()}
        plan = Memory({**counts, **kept, **example._tables})
        self.width, self.is_specialized, self.have_types, self._example = width, is_specialized, have_types, example
        self._values = _aligned_zeros(plan._length, width)
        self.state = self._values[: counts["state_size"]]
        self.status = self._values[plan._ranges["status"][0]]
        header = plan._header_of(self._values, width)
        self._stacked: dict[str, Array] = {}
        for index, table in enumerate(TABLES):
            if have_types and table.name in _OF_TYPES:
                continue
            if table.name in example._tables and table.kind is not Kind.INTEGER:
                stacked = _aligned_zeros(example._tables[table.name].size, width)
                self._stacked[table.name], header[index] = stacked, stacked.ctypes.data
        name = f"{LANES}{width} {SAME_TYPES}" if have_types else f"{LANES}{width}"
        if is_specialized:
            name += f" {specialized_structure(plan, example).register()}"
        self._addresses_of, self.header = header, header.view([(name, np.int64)])
        self._known: list[Mapping[str, NDArray[np.generic]] | None] = [None] * width

    def fits(self, memory: Memory) -> bool:
        """Return whether a mechanism with the tables ``memory`` can be computed in one of these lanes: it has
        the same structure (counts and integer tables)."""
        return memory.structure == self._example.structure

    def set_memories(self, memories: Sequence[Memory]) -> None:
        """Copy the constant arrays and states of several mechanisms (``memories``) into the SIMD lanes, one
        mechanism each. Lanes that are left over receive copies of the first. Constants that are there already are
        not copied again."""
        spread = [*memories, *[memories[0]] * (self.width - len(memories))]
        self.set_tables(spread)
        for lane, memory in enumerate(spread):
            self.state[:, lane] = memory.state

    def set_tables(self, memories: Sequence[Memory]) -> None:
        """Copy the constant arrays of mechanism i of ``memories`` to column i (SIMD lane i) of this memory. All
        values of the lane that change in a run become zero. Arrays that depend only on types of bodies are not
        copied: their addresses from the first mechanism are stored. A mechanism whose arrays are there already
        (the same object) is skipped."""
        for lane, memory in enumerate(memories):
            if self._known[lane] is memory._tables:
                continue
            self._known[lane] = memory._tables
            self._values[:, lane] = 0.0
            for name in _OF_TYPES if self.have_types and lane == 0 else ():
                self._addresses_of[PLACES[name]] = memory._tables[name].__array_interface__["data"][0]
            for name, stacked in self._stacked.items():
                stacked[:, lane] = memory._tables[name].ravel()


class DualMemory:
    """Tables of one mechanism in dual numbers; those that the system writes are shared and have no derivatives.

    Args:
        example: memory of the mechanism, with its numbers.

    Attributes:
        header: as in ``Memory``, of a type that names the number of directions.
    """

    def __init__(self, example: Memory) -> None:
        width = 2 * DIRECTIONS
        self._example = example  # kept alive
        self._values = _aligned_zeros(example._length, width)
        self._values[:, 0] = example._values
        for begin, end, shape in example._ranges.values():
            if shape is None:  # of the values, one after the other
                own = self._values[begin:end].reshape(-1)
                own[:] = 0.0
                own[: end - begin] = example._values[begin:end]
        self._addresses = example._header_of(self._values, width)
        self._addresses[2 * len(TABLES) :] = 0
        self.header = self._addresses.view(DUAL_HEADER)


def _aligned_zeros(count: int, width: int) -> Array:
    """Return an array of zeros of shape (count, width) whose memory begins at a cache line (64 bytes)."""
    raw = np.zeros(count * width + ALIGNED)
    first = -(raw.ctypes.data // raw.itemsize) % ALIGNED
    return raw[first : first + count * width].reshape(count, width)


def _shape(table: Table, size: int) -> tuple[int, ...] | None:
    """Return the shape of a table of ``size`` floats that changes during a run: entries, then the axes of one
    entry. None for integers."""
    return None if table.kind is Kind.INTEGER else (size // SIZES[table.kind], *SHAPES[table.kind])


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _starts(lengths: IntArray) -> IntArray:
    """Return the offsets of consecutive blocks with these lengths, shape (blocks,), beginning with 0."""
    return np.asarray(np.cumsum(lengths) - lengths)
