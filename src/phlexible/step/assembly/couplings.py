"""Structure of the couplings between bodies: offsets in Newton's matrix, and tables of integers (docs/theory.md,
8)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.elimination import BlockSchedule
from phlexible.state.functions import total_weight
from phlexible.state.layout import Layout, offsets
from phlexible.step.assembly.bodies import Tables, columns
from phlexible.step.tables.declarations import FOLLOWER_FORCE, GIVEN, LAW_WIDTH, MOVING
from phlexible.step.tables.memory import packed

# Where the blocks of carriers, auxiliaries and constraints are in Newton's matrix.
#
# Nodes of soft bodies are eliminated in clusters: a block of two clusters holds those of their nodes, row by row.
# The others are nodes of the elimination of their own.


@dataclass(frozen=True, eq=False)
class Offsets:
    """Offsets of blocks in Newton's matrix, by the indices of carriers, then auxiliaries, then constraints.

    Attributes:
        layout: of the carriers.
        schedule: of the nodes of the elimination: clusters, then auxiliaries, then constraints.
    """

    layout: Layout
    schedule: BlockSchedule

    def __getitem__(self, pair: tuple[int, int]) -> int:
        """Return the offset of the first entry of a block in the array of Newton's matrix, for a ``pair`` of
        indices (row, column). Indices count carriers (floating bodies or mesh nodes), then auxiliary unknowns,
        then constraints."""
        row, column = pair
        own, other = self.layout.node(row), self.layout.node(column)
        start = self.schedule.indices[own, other]
        return (
            start + self.layout.row_in_node(row) * int(self.schedule.size[other]) + self.layout.row_in_node(column)
        )

    def of_carriers(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the offsets in Newton's matrix of the first entries of the blocks of several pairs of carriers
        (floating bodies or nodes), shape (pairs,). The carriers of each pair are ``rows`` and ``columns``, two
        arrays of indices."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        cluster, inside, indices = self.layout.cluster, self.layout.row_in_cluster, self.schedule.indices
        pairs = zip(cluster[rows].tolist(), cluster[columns].tolist(), strict=True)
        starts = np.array([indices[pair] for pair in pairs], dtype=np.int64)
        return starts + inside[rows] * self.schedule.size[cluster[columns]] + inside[columns]

    @property
    def strides(self) -> IntArray:
        """Distance between successive rows of blocks of Newton's matrix in the columns of each carrier (floating
        body or node), counted in entries, shape (carriers,)."""
        return self.schedule.size[self.layout.cluster]


# Everything between bodies without its numbers.


class VectorKind(NamedTuple):
    """Structure of a vector, without its values: carrier, or GIVEN or MOVING, and range of the elastic coordinates
    that shift it."""

    carrier: int
    is_point: bool
    first: int
    last: int


class FunctionKind(NamedTuple):
    """Structure of a function, without its values: both chords and the moving component, or -1, of each term, and
    of itself."""

    terms: tuple[tuple[int, int, int], ...]
    time: int


class InteractionKind(NamedTuple):
    """Structure of a constraint or a law, without its values.

    ``row`` is the constraint row whose multiplier acts on it, ``bearing`` the constraint whose force causes its
    friction; -1: none. ``windows`` are ranges of functions, first and last + 1, of which those of one act at the
    same time; empty: all do.
    """

    functions: tuple[FunctionKind, ...]
    is_law: bool
    row: int
    bearing: int
    windows: tuple[tuple[int, int], ...] = ()


KEPT, LARGEST = 32, 2000
"""So many couplings are remembered, of up to so many chords each."""


@dataclass(frozen=True)
class Couplings:
    """Structure of all interactions: vectors, functions, auxiliary unknowns and coupled nodes of Newton's matrix.

    Second derivatives of functions, and laws, couple carriers with each other. Between rigid carriers these blocks
    stay; the change of a vector on an elastic body that is coupled to another body becomes an auxiliary unknown, so
    that blocks between two elastic bodies never arise (8.6). So does that of any vector on a long body.

    It contains no values of the mechanism but weights of chords, so that models with perturbed values share it,
    with all that follows from it.

    Attributes:
        layout: of the carriers.
        long_carriers: carriers with segments, whose block does not couple all pairs of coordinates.
        vectors: all of them.
        chords: weights and vectors of each.
        interactions: constraints first.
        loads: kind, vector of the point and first vector of the triad of each.
        moving: number of the vectors, and paths, that are functions of time.
    """

    layout: Layout
    long_carriers: frozenset[int]
    vectors: tuple[VectorKind, ...]
    chords: tuple[tuple[tuple[float, int], ...], ...]
    interactions: tuple[InteractionKind, ...]
    loads: tuple[tuple[int, int, int], ...]
    moving: int

    @cached_property
    def functions(self) -> list[FunctionKind]:
        """Structures of the scalar functions (sums of products of difference vectors) of all constraints and force
        laws, in their order."""
        return [function for each in self.interactions for function in each.functions]

    @cached_property
    def parts(self) -> list[list[int]]:
        """Indices of the distinct points and directions that occur in each scalar function of the constraints and
        force laws, one list for each function. Only vectors on carriers (floating bodies or nodes) are listed."""
        return [self._parts(function) for function in self.functions]

    @cached_property
    def pairs(self) -> list[list[tuple[int, int, int, float]]]:
        """Pairs of vectors that are multiplied in each scalar function of the constraints and force laws, one list
        for each function. A pair is a tuple of the index of the term, the indices of both points or directions,
        and the product of their weights."""
        return [list(self._pairs(function)) for function in self.functions]

    @cached_property
    def _starts(self) -> IntArray:
        return offsets([len(each.functions) for each in self.interactions])

    @cached_property
    def auxiliary(self) -> dict[int, int]:
        """Dictionary from the index of a vector on an elastic body to the index of the auxiliary unknown of
        Newton's matrix that equals its change. Vectors are points and directions; only those that couple different
        bodies, or lie on bodies with segments, are in it."""
        needed: list[int] = []
        for number in range(len(self.interactions)):
            for _, k, l, _ in self._pairs_of(number):
                for own, other in ((k, l), (l, k)):
                    if self._need_auxiliaries(self.vectors[other].carrier, self.vectors[own].carrier):
                        needed.append(own)
            if number >= self.constraint_count and self._has_auxiliaries(number):
                needed += [vector for m in self._functions_of(number) for vector in self.parts[m]]
        for kind, point, triad in self.loads:
            if kind == FOLLOWER_FORCE and self.vectors[point].carrier in self.long_carriers:
                needed += range(triad, triad + 3)
        elastic = dict.fromkeys(vector for vector in needed if self._is_elastic(self.vectors[vector].carrier))
        return {vector: number for number, vector in enumerate(elastic)}

    @cached_property
    def _auxiliary_vectors(self) -> list[int]:
        """Indices of the vectors (points and directions on elastic bodies) whose changes are auxiliary unknowns of
        Newton's matrix, in the order of these unknowns."""
        return list(self.auxiliary)

    @cached_property
    def _cached_tables(self) -> list[tuple[BlockSchedule, Tables]]:
        """Cache of the last elimination schedule and the tables that were made for it: an empty list or one
        entry."""
        return []

    @cached_property
    def constraint_count(self) -> int:
        """Number of constraints among the interactions; all others are force laws."""
        return sum(not each.is_law for each in self.interactions)

    @cached_property
    def node_sizes(self) -> list[int]:
        """Return the number of rows of each block of Newton's matrix, as a list. The blocks are clusters of bodies
        (their velocities), then auxiliary unknowns (``dimension`` rows each), then constraints (their scalar
        equations)."""
        constraints = self.interactions[: self.constraint_count]
        return [
            *np.bincount(self.layout.cluster, self.layout.widths).astype(np.int64).tolist(),
            *([self.layout.linear.shape[1]] * len(self.auxiliary)),
            *(len(c.functions) for c in constraints),
        ]

    @cached_property
    def waits(self) -> list[list[int]]:
        """Nodes (blocks of Newton's matrix) that must be eliminated before each node, one list for each.
        Constraints wait for the bodies that they act on, auxiliary unknowns for the body that they belong to."""
        node = self.layout.node
        waits: list[list[int]] = [[] for _ in range(self.layout.cluster_count)]
        waits += [[node(self.vectors[vector].carrier)] for vector in self.auxiliary]
        for number in range(self.constraint_count):
            waits.append(sorted({node(carrier) for carrier in self._bound_carriers(number)}))
        return waits

    @property
    def _laws(self) -> Sequence[InteractionKind]:
        return self.interactions[self.constraint_count :]

    @cached_property
    def _related(self) -> dict[int, list[int]]:
        """Dictionary from the index of a constraint to the indices of the interactions whose joint coordinates it
        relates, as a gear does. Only constraints that relate coordinates are in it."""
        found: dict[int, list[int]] = {}
        for number, each in enumerate(self.interactions):
            if each.row >= 0:
                constraint = np.searchsorted(self._starts[: self.constraint_count + 1], each.row, side="right") - 1
                found.setdefault(int(constraint), []).append(number)
        return found

    def _bound_carriers(self, constraint: int) -> set[int]:
        """Return the carriers (floating bodies or nodes) on which a constraint acts, directly or through joint
        coordinates that it relates."""
        return {c for n in (constraint, *self._related.get(constraint, ())) for c in self._carriers(n)}

    @cached_property
    def coupled_translations(self) -> set[int]:
        """Return the set of floating bodies and nodes on whose linear velocity some force depends: force laws,
        products of vectors, follower forces. The translation of all others can be computed without solving
        equations, since their forces do not depend on the motion.

        For other carriers the balance of the translation is m delta(V) = F with such forces F.
        """
        found = {c for n in range(self.constraint_count, len(self.interactions)) for c in self._carriers(n)}
        for pairs in self.pairs:
            found |= {self.vectors[vector].carrier for _, k, l, _ in pairs for vector in (k, l)}
        for kind, point, _ in self.loads:
            if kind == FOLLOWER_FORCE:
                found.add(self.vectors[point].carrier)
        return found

    @cached_property
    def edges(self) -> frozenset[tuple[int, int]]:
        """Return the pairs of different block indices of Newton's matrix that interactions couple: constraints,
        force laws, auxiliary unknowns and follower forces. Blocks are bodies or groups of bodies, auxiliary
        unknowns and constraints. Each pair is a block that may be nonzero."""
        found: set[tuple[int, int]] = set()
        for vector, number in self.auxiliary.items():
            found.add((self.vectors[vector].carrier, len(self.layout.widths) + number))
        for number in range(len(self.interactions)):
            carriers = self._carriers(number)
            if number < self.constraint_count:
                found |= {(carrier, self._constraint_node(number)) for carrier in self._bound_carriers(number)}
            else:
                found |= {(a, node) for a in carriers for node, _ in self._law_columns(number, a)}
            for _, k, l, _ in self._pairs_of(number):
                found.add((self.vectors[k].carrier, self._column(k, l)))
                found.add((self.vectors[l].carrier, self._column(l, k)))
        for kind, point, triad in self.loads:
            if kind == FOLLOWER_FORCE:
                found |= {(self.vectors[point].carrier, self._column(point, triad + i)) for i in range(3)}
        node = self.layout.node
        nodes = {(node(a), node(b)) for a, b in found}
        return frozenset((a, b) for a, b in nodes if a != b)

    def tables(self, offsets: Offsets) -> Tables:
        """Return the counts and integer arrays that describe vectors, scalar functions and force laws to the
        compiled time step, in a dictionary by name. They contain offsets of blocks in Newton's matrix, looked up
        in ``offsets``. The arrays for the last plan of the elimination are cached, as read-only arrays."""
        known = self._cached_tables[0] if self._cached_tables else None
        if known is None or known[0] is not offsets.schedule:
            counts, arrays = packed(_tables(self, offsets))
            for array in arrays.values():
                array.flags.writeable = False
            known = (offsets.schedule, {**counts, **arrays})
            self._cached_tables[:] = [known]
        return dict(known[1])

    def _parts(self, function: FunctionKind) -> list[int]:
        found: dict[int, None] = {}
        for one, two, _ in function.terms:
            for _, vector in (*self.chords[one], *self.chords[two]):
                if self.vectors[vector].carrier >= 0:
                    found.setdefault(vector)
        return list(found)

    def _pairs(self, function: FunctionKind) -> Iterator[tuple[int, int, int, float]]:
        """Yield the pairs of vectors on bodies that are multiplied in a scalar ``function``, which is a sum of
        scalar products of vector differences. Each result is (index of the product, index of one vector, index of
        the other, weight). Pairs that occur several times in a product are merged by adding their weights;
        prescribed vectors are left out."""
        for p, (one, two, _) in enumerate(function.terms):
            weights: dict[tuple[int, int], float] = {}
            for wa, k in self.chords[one]:
                for wb, l in self.chords[two]:
                    if self.vectors[k].carrier >= 0 and self.vectors[l].carrier >= 0:
                        key = (min(k, l), max(k, l))
                        weights[key] = weights.get(key, 0.0) + wa * wb
            yield from ((p, k, l, weight) for (k, l), weight in weights.items())

    def _functions_of(self, number: int) -> range:
        return range(self._starts[number], self._starts[number + 1])

    def _pairs_of(self, number: int) -> Iterator[tuple[int, int, int, float]]:
        for m in self._functions_of(number):
            yield from self.pairs[m]

    def _carriers(self, number: int) -> list[int]:
        """Return the carriers (floating bodies or nodes) on which interaction ``number`` acts, each once, in
        the order of their vectors."""
        found: dict[int, None] = {}
        for m in self._functions_of(number):
            for vector in self.parts[m]:
                found.setdefault(self.vectors[vector].carrier)
        return list(found)

    def _is_elastic(self, carrier: int) -> bool:
        return carrier < self.layout.frames and self.layout.bodies[carrier].elastic_count > 0

    def _need_auxiliaries(self, a: int, b: int) -> bool:
        """Return whether the rows of carrier a in Newton's matrix need auxiliary unknowns for vectors on
        carrier b: a and b differ, or b is a long body stored in segments. A carrier is a floating body or a
        node."""
        return a != b or b in self.long_carriers

    def _has_auxiliaries(self, number: int) -> bool:
        carriers = self._carriers(number)
        return len(carriers) > 1 or any(carrier in self.long_carriers for carrier in carriers)

    def _constraint_node(self, number: int) -> int:
        return len(self.layout.widths) + len(self.auxiliary) + number

    def _column(self, k: int, l: int) -> int:
        """Return in which block column of Newton's matrix the change of vector l appears, in the rows of the body
        of vector k. It is the column of the body of l, or the auxiliary unknown of l if that body is elastic and
        differs from the body of k, or is stored in segments.
        """
        a, b = self.vectors[k].carrier, self.vectors[l].carrier
        is_changed = self._need_auxiliaries(a, b) and self._is_elastic(b)
        return len(self.layout.widths) + self.auxiliary[l] if is_changed else b

    def _law_columns(self, number: int, carrier: int) -> list[tuple[int, int]]:
        """Return the block columns of Newton's matrix that force law ``number`` fills in the block rows of body
        ``carrier``. Each is a pair: the column's index, and its position in ``_law_nodes``. A column is a body, or
        the auxiliary unknowns of one of the law's vectors, if that is on an elastic body other than ``carrier`` or
        on a body that is stored in segments.
        """
        groups, near = self._law_nodes(number), self._acting_with(number, carrier)
        found = []
        for index, node in enumerate(groups):
            if near is not None and node not in near:
                continue
            is_auxiliary = node >= len(self.layout.widths)
            if is_auxiliary:
                vector = self._auxiliary_vectors[node - len(self.layout.widths)]
                if self._need_auxiliaries(carrier, self.vectors[vector].carrier):
                    found.append((node, index))
            elif not self._is_elastic(node) or not self._need_auxiliaries(carrier, node):
                found.append((node, index))
        return found

    def _acting_with(self, number: int, carrier: int) -> set[int] | None:
        """Return which block rows of Newton's matrix force law ``number`` may couple with a ``carrier`` (body or
        mesh node), as a set. Laws of a joint that slides along a line have windows: ranges of scalar functions that
        act together. For them it is all nodes of the windows in which the carrier occurs; for any other law None,
        which means no restriction.
        """
        if not self.interactions[number].windows:
            return None
        return set().union(*(nodes for nodes in self._nodes_of_windows(number) if carrier in nodes))

    @cached_on_owner
    def _nodes_of_windows(self, number: int) -> list[set[int]]:
        begin = self._starts[number]
        return [
            self._nodes_of(vector for m in range(first, last) for vector in self.parts[begin + m])
            for first, last in self.interactions[number].windows
        ]

    def _nodes_of(self, vectors: Iterable[int]) -> set[int]:
        found = set[int]()
        for vector in vectors:
            found.add(self.vectors[vector].carrier)
            if vector in self.auxiliary:
                found.add(len(self.layout.widths) + self.auxiliary[vector])
        return found

    def _law_nodes(self, number: int) -> list[int]:
        """Return the indices of the block rows of Newton's matrix which force law ``number`` couples. The bodies
        and mesh nodes on which the law acts come first. If the law has auxiliary unknowns, the indices of those
        that belong to its vectors follow, each once; they are numbered after all bodies and nodes."""
        carriers = self._carriers(number)
        if not self._has_auxiliaries(number):
            return carriers
        found: dict[int, None] = {}
        for m in self._functions_of(number):
            for vector in self.parts[m]:
                if vector in self.auxiliary:
                    found.setdefault(len(self.layout.widths) + self.auxiliary[vector])
        return [*carriers, *found]


# Tables of integers that the compiled step reads.


def _tables(coupled: Couplings, offsets: Offsets) -> Tables:
    keys, loads = coupled._auxiliary_vectors, coupled.loads
    tables: Tables = {
        "moving": coupled.moving,
        "auxiliary_vector": keys,
        "auxiliary_lower": [
            offsets[len(coupled.layout.widths) + k, coupled.vectors[vector].carrier]
            for k, vector in enumerate(keys)
        ],
        "constraint_node": np.arange(coupled.constraint_count) + coupled.layout.cluster_count + len(keys),
        **columns(("load_kind", "load_point", "load_triad"), loads),
        "load_block": [
            offsets[coupled.vectors[point].carrier, coupled._column(point, triad + i)]
            if kind == FOLLOWER_FORCE
            else -1
            for kind, point, triad in loads
            for i in range(3)
        ],
    }
    return tables | _vector_tables(coupled) | _function_tables(coupled, offsets) | _law_tables(coupled, offsets)


def _vector_tables(coupled: Couplings) -> Tables:
    moving = coupled.moving - sum(v.carrier == MOVING for v in coupled.vectors)
    rows = []
    for carrier, is_point, first, last in coupled.vectors:
        count = last - first
        levers = coupled.layout.rigid_counts[carrier] + count if carrier >= 0 else 0
        rows.append((carrier, int(is_point), first, last, moving, count, levers))
        moving += carrier == MOVING
    names = [f"vector_{name}" for name in ("carrier", "is_point", "first", "last", "moving")]
    tables = columns((*names, "shape_vectors", "lever_vectors"), rows)
    parts = [part for chord in coupled.chords for part in chord]
    return tables | {
        "chord_parts": [len(chord) for chord in coupled.chords],
        "chord_moves": [
            any(coupled.vectors[vector].carrier != GIVEN for _, vector in each) for each in coupled.chords
        ],
        "chord_vector": [vector for _, vector in parts],
        "chord_weight": [weight for weight, _ in parts],
        "chord_total": [total_weight(chord) for chord in coupled.chords],
    }


def _function_tables(coupled: Couplings, indices: Offsets) -> Tables:
    terms = np.array([term for function in coupled.functions for term in function.terms]).reshape(-1, 3)
    term_start = offsets([len(function.terms) for function in coupled.functions])
    part_rows, pair_rows, pair_weights = [], [], []
    for number in range(len(coupled.interactions)):
        groups = coupled._law_nodes(number) if number >= coupled.constraint_count else []
        for m in coupled._functions_of(number):
            for vector in coupled.parts[m]:
                carrier = coupled.vectors[vector].carrier
                if number < coupled.constraint_count:
                    node = coupled._constraint_node(number)
                    upper, lower = indices[carrier, node], indices[node, carrier]
                else:
                    upper, lower = groups.index(carrier), -1
                    if coupled._has_auxiliaries(number) and vector in coupled.auxiliary:
                        lower = groups.index(len(coupled.layout.widths) + coupled.auxiliary[vector])
                part_rows.append((vector, upper, lower))
            for p, k, l, weight in coupled.pairs[m]:
                upper = indices[coupled.vectors[k].carrier, coupled._column(k, l)]
                lower = indices[coupled.vectors[l].carrier, coupled._column(l, k)]
                pair_rows.append((int(term_start[m]) + p, k, l, upper, lower))
                pair_weights.append(weight)
    tables: Tables = {
        "term_first": terms[:, 0],
        "term_second": terms[:, 1],
        "term_time": terms[:, 2],
        "terms": np.diff(term_start),
        "function_time": [function.time for function in coupled.functions],
        "function_parts": [len(own) for own in coupled.parts],
        "pairs": [len(own) for own in coupled.pairs],
        "pair_weight": pair_weights,
        "functions": np.diff(coupled._starts),
    }
    tables |= columns(("part_vector", "part_upper", "part_lower"), part_rows)
    return tables | columns(("pair_term", "pair_first", "pair_second", "pair_upper", "pair_lower"), pair_rows)


def _law_tables(coupled: Couplings, offsets: Offsets) -> Tables:
    groups: list[tuple[int, int, int, int, int]] = []  # node, width, place and blocks of each
    pulled_by = {number: own for own, numbers in coupled._related.items() for number in numbers}
    numbered = enumerate(coupled._laws, start=coupled.constraint_count)
    pulled_by |= {k: law.bearing for k, law in numbered if law.bearing >= 0}
    entries, blocks, related, most = [], list[int](), list[int](), 0
    d, strides = coupled.layout.linear.shape[1], offsets.strides.tolist()
    for number in range(coupled.constraint_count, len(coupled.interactions)):
        nodes, carriers, offset = coupled._law_nodes(number), coupled._carriers(number), 0
        row = coupled.interactions[number].row
        related.append(len(coupled.interactions[pulled_by[number]].functions) if row >= 0 else 0)
        entries.append((len(nodes), len(carriers), len(nodes) * len(carriers)))
        for node in nodes:
            width = d if node >= len(coupled.layout.widths) else coupled.layout.widths[node]
            upper = lower = -1
            if number in pulled_by and node < len(coupled.layout.widths):
                held = coupled._constraint_node(pulled_by[number])
                upper, lower = offsets[node, held], offsets[held, node]
                if row >= 0:
                    inside = row - int(coupled._starts[pulled_by[number]])
                    upper, lower = upper + inside, lower + inside * strides[node]
            groups.append((node, width, offset, upper, lower))
            offset += width
        for carrier in carriers:
            seen = {node for node, _ in coupled._law_columns(number, carrier)}
            blocks += [offsets[carrier, node] if node in seen else -1 for node in nodes]
        most = max(most, offset * min(len(coupled.interactions[number].functions), LAW_WIDTH))
    tables = columns(("groups", "carrier_count", "group_blocks"), entries)
    tables |= columns(("group_node", "group_width", "group_offset", "group_upper", "group_lower"), groups)
    tables |= {
        "group_stride": [strides[node] if node < len(strides) else d for node, *_ in groups],
        "group_block": blocks,
    }
    rows = int(coupled._starts[coupled.constraint_count])
    first, count = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for number, each in enumerate(coupled._laws):
        if each.row >= 0:
            first[each.row], count[each.row] = number - count[each.row], count[each.row] + 1
    tables |= {"row_force": first, "row_force_count": count, "gradient_entries": most}
    return tables | {"relation_rows": related}


couplings_of = lru_cache(KEPT)(Couplings)
"""Structure of interactions, one object for calls with equal arguments."""
