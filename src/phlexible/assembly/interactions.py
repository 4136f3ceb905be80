"""Everything between bodies as tables of the kernels (docs/theory.md, 8).

Vectors, chords, functions, constraints, laws, loads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.bands import Tables
from phlexible.assembly.functions import Function, Interaction, Term
from phlexible.assembly.places import Places
from phlexible.assembly.types import support
from phlexible.interactions.functions import DirectionOf, PointOf, Row
from phlexible.interactions.loads import Axes, Force, PointLoad
from phlexible.interactions.surface_pressure import SurfacePressure
from phlexible.interactions.time_paths import Timed, TimePath
from phlexible.system.functions import VectorCollector, total_weight
from phlexible.system.layout import Layout, offsets
from phlexible.system.vectors import CarriedVector, VectorResolver
from phlexible.tables.declarations import (
    FOLLOWER_FORCE,
    FOLLOWER_TORQUE,
    FORCE,
    MOVING,
    PRESSURE,
    TORQUE,
)

MovingPart = CarriedVector | TimePath


@dataclass(eq=False)
class InteractionTables:
    """Collects interactions; constraints first.

    Args:
        layout: of the carriers.
        resolver: finds the numbers of vectors.

    Attributes:
        collector: numbers vectors and chords.
        moving: what is a function of time, in the order of the moving vectors.
        interactions: in their order.
        loads: kind, vector of the point and first vector of the triad of each.
    """

    layout: Layout
    resolver: VectorResolver
    collector: VectorCollector = field(init=False)
    moving: list[MovingPart] = field(default_factory=list)
    interactions: list[Interaction] = field(default_factory=list)
    loads: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.collector = VectorCollector(self.resolver)

    def function(self, row: Row) -> Function:
        """The numbers of a function."""
        terms = tuple(
            Term(
                t.coefficient,
                self.collector.chord(t.first),
                self.collector.chord(t.second),
                self._time(t.factor),
            )
            for t in row.terms
        )
        return Function(terms, row.constant, self._time(row.offset))

    def square(self, first: Sequence[tuple[float, int]], second: Sequence[tuple[float, int]]) -> Function:
        """The product of two chords of numbered vectors."""
        chords = (self.collector.chord_of(tuple(first)), self.collector.chord_of(tuple(second)))
        return Function((Term(1.0, *chords),))

    def add_load(self, load: PointLoad) -> None:
        """One more load."""
        if isinstance(load, SurfacePressure):
            self.loads.append((PRESSURE, -1, -1))
            return
        follows, port = load.axes is Axes.BODY, load.attachment
        is_force = isinstance(load, Force)
        kind = (FORCE, FOLLOWER_FORCE)[follows] if is_force else (TORQUE, FOLLOWER_TORQUE)[follows]
        point = self.collector.vector(self.resolver.resolve(PointOf(port))) if is_force else -1
        self.loads.append((kind, point, -1 if kind == FORCE else self._triad(load)))

    def _triad(self, load: PointLoad) -> int:
        """The first of three new vectors: the body axes at the attachment."""
        port, first = load.attachment, len(self.collector.vectors)
        for axis in port.placed.rotation.T:
            self.collector.vectors.append(self.resolver.resolve(DirectionOf(port, axis)))
        return first

    def _time(self, timed: Timed | None) -> int:
        """Number of a function of time among the components of the moving vectors; -1: none."""
        if timed is None:
            return -1
        if timed.path not in self.moving:
            self.moving.append(timed.path)
        return 3 * self.moving.index(timed.path) + timed.factor.value

    def finished(self, long_carriers: frozenset[int]) -> "CoupledTables":
        """The structure of all interactions: what couples what."""
        for vector in self.collector.vectors:
            if vector.carrier == MOVING:
                self.moving.append(vector)
        return CoupledTables(self.layout, self, long_carriers)


class CoupledTables:
    """Which vectors meet, which changes of vectors are unknowns of their own, which nodes are coupled.

    Second derivatives of functions, and laws, couple carriers with each other. Between rigid carriers these blocks
    stay; the change of a vector on an elastic body that meets another body becomes an auxiliary unknown, so
    that blocks between two elastic bodies never arise (8.6). So does that of any vector on a long body.

    Args:
        layout: of the carriers.
        given: all interactions.
        long_carriers: those with segments, in whose block any two coordinates do not meet.
    """

    def __init__(self, layout: Layout, given: InteractionTables, long_carriers: frozenset[int]) -> None:
        self._given, self._layout, self._long = given, layout, long_carriers
        self.vectors = given.collector.vectors
        self.chords = given.collector.chords
        self.functions = [f for each in given.interactions for f in each.functions]
        self.interactions = given.interactions
        self._widths = np.diff(layout.carrier_velocity)
        rigid = [
            layout.bodies[b].data.rigid_count if b < layout.frames else int(self._widths[b])
            for b in range(len(self._widths))
        ]
        self.rigid = np.array(rigid, dtype=np.int64)
        self.parts = [self._parts(function) for function in self.functions]
        self.pairs = [list(self._pairs(function)) for function in self.functions]
        self._starts = offsets([len(each.functions) for each in self.interactions])
        self.auxiliary: dict[int, int] = {}
        self._find_auxiliaries()

    @cached_property
    def constraint_count(self) -> int:
        """How many interactions are constraints."""
        return sum(each.force is None for each in self.interactions)

    def node_sizes(self) -> list[int]:
        """Rows of all nodes: clusters of carriers, auxiliaries, constraints."""
        constraints = self.interactions[: self.constraint_count]
        d = self._layout.linear.shape[1]
        return [
            *np.bincount(self._layout.cluster, self._widths).astype(np.int64).tolist(),
            *([d] * len(self.auxiliary)),
            *(len(c.functions) for c in constraints),
        ]

    def waits(self) -> list[list[int]]:
        """Nodes that have to be eliminated before each: joints after their bodies, auxiliaries after theirs."""
        node = self._layout.node
        waits: list[list[int]] = [[] for _ in range(self._layout.cluster_count)]
        waits += [[node(self.vectors[vector].carrier)] for vector in self.auxiliary]
        for number in range(self.constraint_count):
            waits.append(sorted({node(carrier) for carrier in self._held(number)}))
        return waits

    @property
    def _laws(self) -> Sequence[Interaction]:
        return self.interactions[self.constraint_count :]

    @cached_property
    def _related(self) -> dict[int, list[int]]:
        """The interactions whose coordinates a relation has, by the number of its constraint."""
        constraint = {int(start): number for number, start in enumerate(self._starts[: self.constraint_count])}
        found: dict[int, list[int]] = {}
        for number, each in enumerate(self.interactions):
            if each.force is not None and each.force.row >= 0:
                found.setdefault(constraint[each.force.row], []).append(number)
        return found

    def _held(self, constraint: int) -> set[int]:
        """Carriers that a constraint holds, by its functions or by coordinates that it relates."""
        return {c for n in (constraint, *self._related.get(constraint, ())) for c in self._carriers(n)}

    def coupled_translations(self) -> set[int]:
        """Carriers whose V is in forces that depend on the motion: other forces leave m delta(V) alone."""
        found = {c for n in range(self.constraint_count, len(self.interactions)) for c in self._carriers(n)}
        for pairs in self.pairs:
            found |= {self.vectors[vector].carrier for _, k, l, _ in pairs for vector in (k, l)}
        for kind, point, _ in self._given.loads:
            if kind == FOLLOWER_FORCE:
                found.add(self.vectors[point].carrier)
        return found

    def edges(self) -> set[tuple[int, int]]:
        """Pairs of nodes that interactions couple."""
        found: set[tuple[int, int]] = set()
        for vector, number in self.auxiliary.items():
            found.add((self.vectors[vector].carrier, len(self._widths) + number))
        for number in range(len(self.interactions)):
            carriers = self._carriers(number)
            if number < self.constraint_count:
                found |= {(carrier, self._constraint_node(number)) for carrier in self._held(number)}
            else:
                found |= {(a, node) for a in carriers for node, _ in self._columns(number, a)}
            for _, k, l, _ in self._pairs_of(number):
                found.add((self.vectors[k].carrier, self._column(k, l)))
                found.add((self.vectors[l].carrier, self._column(l, k)))
        for kind, point, triad in self._given.loads:
            if kind == FOLLOWER_FORCE:
                found |= {(self.vectors[point].carrier, self._column(point, triad + i)) for i in range(3)}
        nodes = {(self._layout.node(a), self._layout.node(b)) for a, b in found}
        return {(a, b) for a, b in nodes if a != b}

    def tables(self, places: Places) -> tuple[dict[str, int], Tables]:
        """Counts and tables, with the places of the blocks."""
        counts, tables = self._vector_tables()
        more_counts, more = self._function_tables(places)
        law_counts, laws = self._law_tables(places)
        constraints = np.arange(self.constraint_count) + self._layout.cluster_count + len(self.auxiliary)
        keys = list(self.auxiliary)
        auxiliary = {
            "auxiliary_vector": _integers(keys),
            "auxiliary_lower": _integers(
                [places[len(self._widths) + k, self.vectors[vector].carrier] for k, vector in enumerate(keys)]
            ),
            "constraint_node": constraints,
        }
        loads = np.array(self._given.loads, dtype=np.int64).reshape(-1, 3)
        load_tables: Tables = {
            name: loads[:, k] for k, name in enumerate(("load_kind", "load_point", "load_triad"))
        }
        load_tables["load_block"] = _integers(
            [
                places[self.vectors[point].carrier, self._column(point, triad + i)]
                if kind == FOLLOWER_FORCE
                else -1
                for kind, point, triad in self._given.loads
                for i in range(3)
            ]
        )
        totals = {"auxiliaries": len(keys), "moving": len(self._given.moving), "loads": len(loads)}
        return {**counts, **more_counts, **law_counts, **totals}, {
            **tables,
            **more,
            **laws,
            **auxiliary,
            **load_tables,
        }

    def _parts(self, function: Function) -> list[int]:
        """Distinct vectors on carriers in a function."""
        found: dict[int, None] = {}
        for term in function.terms:
            for _, vector in (*self.chords[term.first], *self.chords[term.second]):
                if self.vectors[vector].carrier >= 0:
                    found.setdefault(vector)
        return list(found)

    def _pairs(self, function: Function) -> Iterator[tuple[int, int, int, float]]:
        """Term (within the function), two vectors on carriers that meet in it, the product of their weights."""
        for p, term in enumerate(function.terms):
            weights: dict[tuple[int, int], float] = {}
            for wa, k in self.chords[term.first]:
                for wb, l in self.chords[term.second]:
                    if self.vectors[k].carrier >= 0 and self.vectors[l].carrier >= 0:
                        key = (min(k, l), max(k, l))
                        weights[key] = weights.get(key, 0.0) + wa * wb
            yield from ((p, k, l, weight) for (k, l), weight in weights.items())

    def _pairs_of(self, number: int) -> Iterator[tuple[int, int, int, float]]:
        for m in range(self._starts[number], self._starts[number + 1]):
            yield from self.pairs[m]

    def _carriers(self, number: int) -> list[int]:
        """Carriers of an interaction, in the order of their vectors."""
        found: dict[int, None] = {}
        for m in range(self._starts[number], self._starts[number + 1]):
            for vector in self.parts[m]:
                found.setdefault(self.vectors[vector].carrier)
        return list(found)

    def _is_elastic(self, carrier: int) -> bool:
        return bool(self._widths[carrier] > self.rigid[carrier])

    def _find_auxiliaries(self) -> None:
        for number in range(len(self.interactions)):
            for _, k, l, _ in self._pairs_of(number):
                for own, other in ((k, l), (l, k)):
                    if self._are_apart(self.vectors[other].carrier, self.vectors[own].carrier):
                        self._need(own)
            if number >= self.constraint_count and self._has_auxiliaries(number):
                for m in range(self._starts[number], self._starts[number + 1]):
                    for vector in self.parts[m]:
                        self._need(vector)

        for kind, point, triad in self._given.loads:
            if kind == FOLLOWER_FORCE and self.vectors[point].carrier in self._long:
                for vector in range(triad, triad + 3):
                    self._need(vector)

    def _are_apart(self, a: int, b: int) -> bool:
        """Whether the balance of carrier a does not see the velocities of carrier b itself."""
        return a != b or b in self._long

    def _has_auxiliaries(self, number: int) -> bool:
        carriers = self._carriers(number)
        return len(carriers) > 1 or any(carrier in self._long for carrier in carriers)

    def _need(self, vector: int) -> None:
        if self._is_elastic(self.vectors[vector].carrier):
            self.auxiliary.setdefault(vector, len(self.auxiliary))

    def _constraint_node(self, number: int) -> int:
        return len(self._widths) + len(self.auxiliary) + number

    def _column(self, k: int, l: int) -> int:
        """Node by which the change of vector l is seen from the balance of vector k's carrier."""
        a, b = self.vectors[k].carrier, self.vectors[l].carrier
        return len(self._widths) + self.auxiliary[l] if self._are_apart(a, b) and self._is_elastic(b) else b

    def _columns(self, number: int, carrier: int) -> list[tuple[int, int]]:
        """Nodes of a law's groups as its carrier sees them, each with the number of its group."""
        groups = self._groups(number)
        found = []
        for place, node in enumerate(groups):
            is_auxiliary = node >= len(self._widths)
            if is_auxiliary:
                vector = list(self.auxiliary)[node - len(self._widths)]
                if self._are_apart(carrier, self.vectors[vector].carrier):
                    found.append((node, place))
            elif not self._is_elastic(node) or not self._are_apart(carrier, node):
                found.append((node, place))
        return found

    def _groups(self, number: int) -> list[int]:
        """Nodes of a law's groups: carriers, then the auxiliaries of their vectors where there are several."""
        carriers = self._carriers(number)
        if not self._has_auxiliaries(number):
            return carriers
        found: dict[int, None] = {}
        for m in range(self._starts[number], self._starts[number + 1]):
            for vector in self.parts[m]:
                if vector in self.auxiliary:
                    found.setdefault(len(self._widths) + self.auxiliary[vector])
        return [*carriers, *found]

    def _vector_tables(self) -> tuple[dict[str, int], Tables]:
        rows, shapes, bases, lever, moving = [], [np.zeros((0, 3))], [], 0, 0
        first_moving = len(self._given.moving) - sum(v.carrier == MOVING for v in self.vectors)
        count = 0
        for vector in self.vectors:
            first, last = support(vector.shapes)
            rows.append((vector.carrier, int(vector.is_point), count, first, last, lever, first_moving + moving))
            shapes.append(vector.shapes[:, first:last].T)
            bases.append(vector.base)
            count += last - first
            moving += vector.carrier == MOVING
            if vector.carrier >= 0:
                lever += int(self.rigid[vector.carrier]) + last - first
        table = np.array(rows, dtype=np.int64).reshape(-1, 7)
        names = ("carrier", "is_point", "shape", "first", "last", "lever", "moving")
        tables: Tables = {f"vector_{name}": table[:, k] for k, name in enumerate(names)}
        parts = [part for chord in self.chords for part in chord]
        starts = offsets([len(chord) for chord in self.chords])
        tables |= {
            "vector_base": np.array(bases, dtype=np.float64).reshape(-1, 3),
            "shape": np.concatenate(shapes),
            "chord_start": starts[:-1],
            "chord_count": np.diff(starts),
            "chord_vector": np.array([vector for _, vector in parts], dtype=np.int64),
            "chord_weight": np.array([weight for weight, _ in parts], dtype=np.float64),
            "chord_total": np.array([total_weight(chord) for chord in self.chords], dtype=np.float64),
        }
        totals = {
            "vectors": len(self.vectors),
            "shape_vectors": count,
            "lever_vectors": lever,
            "chords": len(self.chords),
            "chord_parts": len(parts),
        }
        return totals, tables

    def _function_tables(self, places: Places) -> tuple[dict[str, int], Tables]:
        terms = [term for function in self.functions for term in function.terms]
        term_start = offsets([len(function.terms) for function in self.functions])
        part_rows, pair_rows, pair_weights = [], [], []
        for number in range(len(self.interactions)):
            groups = self._groups(number) if number >= self.constraint_count else []
            for m in range(self._starts[number], self._starts[number + 1]):
                for vector in self.parts[m]:
                    carrier = self.vectors[vector].carrier
                    if number < self.constraint_count:
                        node = self._constraint_node(number)
                        upper, lower = places[carrier, node], places[node, carrier]
                    else:
                        upper, lower = groups.index(carrier), -1
                        if self._has_auxiliaries(number) and vector in self.auxiliary:
                            lower = groups.index(len(self._widths) + self.auxiliary[vector])
                    part_rows.append((vector, upper, lower))
                for p, k, l, weight in self.pairs[m]:
                    upper = places[self.vectors[k].carrier, self._column(k, l)]
                    lower = places[self.vectors[l].carrier, self._column(l, k)]
                    pair_rows.append((int(term_start[m]) + p, k, l, upper, lower))
                    pair_weights.append(weight)
        parts = np.array(part_rows, dtype=np.int64).reshape(-1, 3)
        pairs = np.array(pair_rows, dtype=np.int64).reshape(-1, 5)
        part_start = offsets([len(own) for own in self.parts])
        pair_start = offsets([len(own) for own in self.pairs])
        tables: Tables = {
            "term_first": _integers([term.first for term in terms]),
            "term_second": _integers([term.second for term in terms]),
            "term_time": _integers([term.time for term in terms]),
            "term_coefficient": _reals([term.coefficient for term in terms]),
            "function_term": term_start[:-1],
            "term_count": np.diff(term_start),
            "function_time": _integers([function.time for function in self.functions]),
            "function_zone": _reals([function.zone for function in self.functions]),
            "function_constant": _reals([function.constant for function in self.functions]),
            "function_part": part_start[:-1],
            "part_count": np.diff(part_start),
            "function_pair": pair_start[:-1],
            "pair_count": np.diff(pair_start),
            "pair_weight": _reals(pair_weights),
            "interaction_start": self._starts[:-1],
            "function_count": np.diff(self._starts),
            "gap_count": _integers([each.gap_count for each in self.interactions]),
        }
        tables |= {f"part_{name}": parts[:, k] for k, name in enumerate(("vector", "upper", "lower"))}
        tables |= {f"pair_{n}": pairs[:, k] for k, n in enumerate(("term", "first", "second", "upper", "lower"))}
        totals = {
            "terms": len(terms),
            "functions": len(self.functions),
            "function_parts": len(parts),
            "pairs": len(pairs),
            "rows": int(self._starts[self.constraint_count]),
            "interactions": len(self.interactions),
            "constraints": self.constraint_count,
            "forces": len(self.interactions) - self.constraint_count,
        }
        return totals, tables

    def _law_tables(self, places: Places) -> tuple[dict[str, int], Tables]:
        groups: list[tuple[int, int, int, int, int]] = []  # node, width, place and blocks of each
        pulled_by = {number: own for own, numbers in self._related.items() for number in numbers}
        numbered = enumerate(self._laws, start=self.constraint_count)
        pulled_by |= {k: law.force.bearing[0] for k, law in numbered if law.force and law.force.bearing}
        entries, blocks, most = [], list[int](), 0
        d = self._layout.linear.shape[1]
        for number in range(self.constraint_count, len(self.interactions)):
            nodes, carriers, place = self._groups(number), self._carriers(number), 0
            entries.append((len(groups), len(nodes), len(carriers), len(blocks)))
            for node in nodes:
                width = d if node >= len(self._widths) else int(self._widths[node])
                upper = lower = -1
                if number in pulled_by and node < len(self._widths):
                    held = self._constraint_node(pulled_by[number])
                    upper, lower = places[node, held], places[held, node]
                groups.append((node, width, place, upper, lower))
                place += width
            for carrier in carriers:
                seen = {node for node, _ in self._columns(number, carrier)}
                blocks += [places[carrier, node] if node in seen else -1 for node in nodes]
            most = max(most, place * len(self.interactions[number].functions))
        strides = places.strides.tolist()
        table = np.array(entries, dtype=np.int64).reshape(-1, 4)
        pairs = np.array(groups, dtype=np.int64).reshape(-1, 5)
        names = ("group_start", "group_count", "carrier_count", "group_block_start")
        tables: Tables = {name: table[:, k] for k, name in enumerate(names)}
        tables |= {
            "group_node": pairs[:, 0],
            "group_width": pairs[:, 1],
            "group_place": pairs[:, 2],
            "group_stride": np.array(
                [strides[node] if node < len(strides) else d for node in pairs[:, 0].tolist()], dtype=np.int64
            ),
            "group_upper": pairs[:, 3],
            "group_lower": pairs[:, 4],
            "group_block": np.array(blocks, dtype=np.int64),
        }
        chords = [each.functions[each.gap_count].terms[0].first if each.slides else -1 for each in self._laws]
        slips = offsets([len(self.chords[chord]) if chord >= 0 else 0 for chord in chords])
        tables["slip_start"] = slips[:-1]
        rows = int(self._starts[self.constraint_count])
        first, count = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        for constraint, own in self._related.items():
            row = self._starts[constraint]
            first[row], count[row] = own[0] - self.constraint_count, len(own)
        tables |= {"row_force": first, "row_force_count": count}
        totals = {"groups": len(pairs), "group_blocks": len(blocks), "group_numbers": most}
        return {**totals, "slip_parts": int(slips[-1])}, tables


def _integers(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _reals(values: Sequence[float]) -> Array:
    return np.array(values, dtype=np.float64)
