"""Everything between bodies as tables of the kernels: functions, laws, what is prescribed (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.algebra.elimination import BlockSchedule
from phlexible.bodies.absolute_body import QuadraticStrains
from phlexible.bodies.string_law import Law, LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw
from phlexible.description.interactions.force_elements import Bristle, CoordinateForce, Coulomb, OneSided
from phlexible.description.interactions.functions import (
    AngleCoordinate,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    PointOf,
    Row,
)
from phlexible.description.interactions.loads import Axes, Force, PointLoad, SurfacePressure
from phlexible.description.interactions.surfaces import RoundedCoordinate, RubbingCoordinate, SegmentCoordinate
from phlexible.description.joints.rolling import RollingCoordinate
from phlexible.description.time_functions import Timed, TimePath
from phlexible.elements.maxwell import Maxwell
from phlexible.state.functions import VectorCollector, total_weight
from phlexible.state.layout import Layout, offsets
from phlexible.state.vectors import CarriedVector, VectorResolver
from phlexible.step.assembly.bodies import Tables, columns, support
from phlexible.step.compilation.user_function import UserFunction, user_function
from phlexible.step.tables.declarations import (
    ANGLE,
    CONSTRAINT,
    CONTACT,
    DISTANCE,
    ELASTIC,
    FOLLOWER_FORCE,
    FOLLOWER_TORQUE,
    FORCE,
    LINEAR,
    LOGARITHMIC,
    MOVING,
    POSITION,
    PRESSURE,
    ROLLING,
    ROUNDED,
    SEGMENT,
    SERVO,
    SPRING,
    ST_VENANT_KIRCHHOFF,
    TORQUE,
    USER_LAW,
)

# Where the blocks of carriers, auxiliaries and constraints are in Newton's matrix.
#
# Nodes of soft bodies are eliminated in clusters: a block of two clusters holds those of their nodes, row by row.
# The others are nodes of the elimination of their own.


@dataclass(frozen=True, eq=False)
class Places:
    """Places by parts: carriers, then auxiliaries, then constraints, by their numbers.

    Attributes:
        layout: of the carriers.
        schedule: of the nodes of the elimination: clusters, then auxiliaries, then constraints.
    """

    layout: Layout
    schedule: BlockSchedule

    def __getitem__(self, pair: tuple[int, int]) -> int:
        """First number of the block (row part, column part)."""
        row, column = pair
        own, other = self.layout.node(row), self.layout.node(column)
        start = self.schedule.places[own, other]
        return (
            start + self.layout.row_in_node(row) * int(self.schedule.size[other]) + self.layout.row_in_node(column)
        )

    def of_carriers(self, rows: IntArray, columns: IntArray) -> IntArray:
        """The same of many pairs of carriers, each of shape (k,)."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        cluster, inside, count = self.layout.cluster, self.layout.row_in_cluster, self.layout.cluster_count
        pairs, number = np.unique(cluster[rows] * count + cluster[columns], return_inverse=True)
        starts = np.array([self.schedule.places[divmod(pair, count)] for pair in pairs.tolist()], dtype=np.int64)
        return starts[number] + inside[rows] * self.schedule.size[cluster[columns]] + inside[columns]

    @property
    def strides(self) -> IntArray:
        """From row to row of blocks in the columns of each carrier, shape (carriers,)."""
        return self.schedule.size[self.layout.cluster]


# Laws of forces as numbers: coordinates, stored energies, dampers, prescribed parts.

ENERGIES: dict[type[StringLaw], int] = {
    LogarithmicLaw: LOGARITHMIC,
    LinearLaw: LINEAR,
    StVenantKirchhoffLaw: ST_VENANT_KIRCHHOFF,
    Law: USER_LAW,
}
"""Stored energies of strings by the number that the kernels know them by."""

PLACES = 17


@dataclass(frozen=True)
class ForceData:
    """A law along one coordinate.

    Attributes:
        coordinate: POSITION .. SEGMENT.
        energy: SPRING .. ELASTIC, which is a spring's and counts as strain, or SERVO.
        stiffness, damping, rest: of spring and damper; of a string EA and tau EA / 4.
        modulus: what numerical damping multiplies.
        weight: measure of a string's strain.
        energy_size: of a user's energy, for its round-off.
        functions: users' energy and its slope.
        value: number among the prescribed forces, or -1.
        contact: of a one-sided force.
        friction: along the coordinate, or across the contact.
        row: whose multiplier pulls on the coordinate, or -1.
        factor: of the coordinate in that row.
        radius: of a wheel that rolls.
        slip: how the touching places of a contact slide, where there is friction of this kind.
        bearing: the constraint whose force makes friction, and how many of its rows are of this force; or None.
        relaxation: branches of spring and dashpot, with stiffnesses along the coordinate.
    """

    coordinate: int
    energy: int
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    modulus: float = 0.0
    weight: float = 1.0
    energy_size: float = 0.0
    functions: tuple[UserFunction, UserFunction] | None = None
    value: int = -1
    contact: OneSided | None = None
    friction: Coulomb | None = None
    row: int = -1
    factor: float = 0.0
    slip: RubbingCoordinate | None = None
    radius: float = 0.0
    bearing: tuple[int, int] | None = None
    relaxation: Maxwell | None = None


def coordinate_kind(coordinate: Coordinate) -> int:
    """How the kernels read a coordinate from its functions."""
    match coordinate:
        case RubbingCoordinate():
            return coordinate_kind(coordinate.gap)
        case RoundedCoordinate():
            return ROUNDED
        case SegmentCoordinate():
            return SEGMENT
        case RollingCoordinate():
            return ROLLING
        case AngleCoordinate():
            return ANGLE
        case DistanceCoordinate():
            return DISTANCE
        case _:
            return POSITION


def zones_of(coordinate: Coordinate) -> dict[int, float]:
    """Of the functions of a rounded coordinate, by their numbers [m]."""
    own = coordinate.gap if isinstance(coordinate, RubbingCoordinate) else coordinate
    return dict(enumerate(own.zones)) if isinstance(own, RoundedCoordinate) else {}


def element_law(force: CoordinateForce, value: int, bearing: tuple[int, int] | None = None) -> ForceData:
    """The law of an element's force; ``value``: number of its prescribed part, or -1."""
    functions, size = None, 0.0
    if force.potential is not None:
        places = np.linspace(*force.potential.around, PLACES)
        size = max(abs(force.potential.energy_at(float(place))) for place in places)
        sample = float(np.mean(force.potential.around))
        functions = (
            user_function(force.potential.energy, sample),
            user_function(force.potential.slope, sample),
        )
    return ForceData(
        coordinate_kind(force.coordinate),
        _energy_kind(force),
        force.stiffness if force.contact is None else force.contact.stiffness,
        force.damping,
        force.rest,
        modulus=force.stiffness if force.is_strain else 0.0,
        energy_size=size,
        functions=functions,
        value=value,
        contact=force.contact,
        friction=force.friction,
        slip=force.coordinate if isinstance(force.coordinate, RubbingCoordinate) else None,
        bearing=bearing,
        relaxation=force.relaxation,
    )


def _energy_kind(force: CoordinateForce) -> int:
    if force.contact is not None:
        return CONTACT
    return SERVO if force.is_servo else ELASTIC if force.is_strain else SPRING


class StrainLaws:
    """Laws of strings, each with its users' functions once."""

    def __init__(self) -> None:
        self._known: dict[StringLaw, tuple[UserFunction, UserFunction]] = {}

    def of(self, group: QuadraticStrains, weight: float) -> ForceData:
        """The law of one strain of a group."""
        law, functions = group.law, None
        if isinstance(law, Law):
            if law not in self._known:
                self._known[law] = (user_function(law.W), user_function(law.dW))
            functions = self._known[law]
        quarter = law.modulus / 4 * weight
        return ForceData(
            POSITION,
            ENERGIES[type(law)],
            law.modulus,
            group.viscosity * quarter,
            modulus=quarter,
            weight=weight,
            energy_size=law.modulus,
            functions=functions,
            relaxation=group.relaxation and group.relaxation.scaled(weight / 4),
        )


def law_tables(laws: Sequence[ForceData], constraints: int, loads: int) -> Tables:
    """The tables of all forces; prescribed parts follow the values of ``loads`` loads."""
    coordinates = [CONSTRAINT] * constraints + [law.coordinate for law in laws]
    addresses = [(0, 0) if f is None else (f[0].address, f[1].address) for f in (law.functions for law in laws)]
    return {
        "coordinate_of": coordinates,
        "energy_of": [law.energy for law in laws],
        **columns(("energy_address", "slope_address"), addresses),
        "force_value": [law.value + loads if law.value >= 0 else -1 for law in laws],
        "force_stiffness": [law.stiffness for law in laws],
        "force_damping": [law.damping for law in laws],
        "force_rest": [law.rest for law in laws],
        "force_modulus": [law.modulus for law in laws],
        "force_weight": [law.weight for law in laws],
        "push_side": [law.contact.side if law.contact else 0.0 for law in laws],
        "push_exponent": [law.contact.exponent if law.contact else 1.0 for law in laws],
        "push_damping": [law.contact.damping if law.contact else 0.0 for law in laws],
        "push_loss": [law.contact.loss_of_impacts if law.contact else 0.0 for law in laws],
        "push_slowest": [law.contact.slowest if law.contact else 1.0 for law in laws],
        "push_share": [law.contact.part_share if law.contact else 1.0 for law in laws],
        "friction": [law.friction.level if law.friction else 0.0 for law in laws],
        "friction_speed": [law.friction.speed if law.friction else 1.0 for law in laws],
        "bearing": [law.bearing[0] if law.bearing else -1 for law in laws],
        "bearing_rows": [law.bearing[1] if law.bearing else 0 for law in laws],
        "bearing_share": [law.friction.share if law.friction else 0.0 for law in laws],
        "slip_points": [law.slip.points if law.slip else 0 for law in laws],
        "slip_turning": [law.slip.turning if law.slip else 0 for law in laws],
        "slip_radius": [law.slip.radius if law.slip else law.radius for law in laws],
        "force_row": [law.row for law in laws],
        "force_factor": [law.factor for law in laws],
        "force_energy": [law.energy_size for law in laws],
    }


def impact_tables(laws: Sequence[ForceData]) -> tuple[dict[str, int], Tables]:
    """Which contacts remember how fast bodies met."""
    remember = [law.contact is not None and law.contact.restitution is not None for law in laws]
    return {"impacts": sum(remember)}, {
        "impact_of": [sum(remember[:k]) if each else -1 for k, each in enumerate(remember)]
    }


def bristle_tables(laws: Sequence[ForceData]) -> tuple[dict[str, int], Tables]:
    """Those of the friction of all forces, each force's together: of sliding, of rolling, of drilling."""
    bristles: list[Bristle] = []
    numbers = []
    for law in laws:
        own = law.friction.every_bristle if law.friction else (None, None, None)
        numbers.append(
            [-1 if each is None else len(bristles) + k for each, k in zip(own, _places(own), strict=True)]
        )
        bristles += [bristle for bristle in own if bristle]
    return {"bristles": len(bristles)}, {
        **columns(("bristle_of", "rolling_of", "drilling_of"), numbers),
        "bristle_stiffness": [bristle.stiffness for bristle in bristles],
        "bristle_damping": [bristle.damping for bristle in bristles],
        "bristle_grip": [bristle.grip for bristle in bristles],
        "bristle_lever": [bristle.lever for bristle in bristles],
    }


def _places(own: Sequence[Bristle | None]) -> list[int]:
    """How many there are before each."""
    return [sum(each is not None for each in own[:k]) for k in range(len(own))]


def branch_tables(
    laws: Sequence[ForceData], soft: Sequence[Maxwell | None], types: Sequence[Maxwell | None]
) -> tuple[dict[str, int], Tables]:
    """Branches of all forces, groups of soft elements and types of frames; relaxation times, each once."""
    own = [law.relaxation.pairs if law.relaxation else () for law in laws]
    groups, inner = ([law.pairs if law else () for law in each] for each in (soft, types))
    starts, group_starts, inner_starts = (offsets([len(pairs) for pairs in each]) for each in (own, groups, inner))
    stiffness, times = np.array([pair for pairs in (*own, *groups, *inner) for pair in pairs]).reshape(-1, 2).T
    known, place = np.unique(times, return_inverse=True)
    count = int(starts[-1])
    last = count + int(group_starts[-1])
    counts = {"soft_branches": int(group_starts[-1]), "inner_branches": int(inner_starts[-1])}
    return {"branches": count, "fadings": len(known), **counts}, {
        "branch_start": starts[:-1],
        "branch_count": np.diff(starts),
        "branch_stiffness": stiffness[:count],
        "branch_fading": place[:count],
        "fading_time": known,
        "soft_branch_start": group_starts[:-1],
        "soft_branch_count": np.diff(group_starts),
        "soft_branch_share": stiffness[count:last],
        "soft_branch_fading": place[count:last],
        "inner_branch_start": inner_starts[:-1],
        "inner_branch_count": np.diff(inner_starts),
        "inner_share": stiffness[last:],
        "inner_fading": place[last:],
    }


# Functions of numbered chords, and what is demanded of them or acts along them (docs/theory.md, 8).


@dataclass(frozen=True, eq=False)
class Term:
    """coefficient * chord . chord, times a component of the moving vectors where ``time`` is not -1."""

    coefficient: float
    first: int
    second: int
    time: int = -1


@dataclass(frozen=True, eq=False)
class Function:
    """A sum of terms, less a constant and, where ``time`` is not -1, a component of the moving vectors.

    Of a rounded coordinate -``zone`` .. ``zone`` counts as zero.
    """

    terms: tuple[Term, ...]
    constant: float = 0.0
    time: int = -1
    zone: float = 0.0


@dataclass(frozen=True, eq=False)
class Interaction:
    """A constraint (``force`` is None) or a law of functions."""

    functions: tuple[Function, ...]
    force: ForceData | None = None

    @property
    def slides(self) -> bool:
        """Whether its last functions are components of sliding."""
        return self.force is not None and self.force.slip is not None

    @property
    def gap_count(self) -> int:
        """Functions of the coordinate."""
        return self.force.slip.gap_count if self.force and self.force.slip else len(self.functions)


# Everything between bodies as tables of the kernels (docs/theory.md, 8).
#
# Vectors, chords, functions, constraints, laws, loads.

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
    def constraint_starts(self) -> IntArray:
        """First row of each constraint."""
        return np.array(self._starts[: self.constraint_count], dtype=np.int64)

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
        keys, loads = list(self.auxiliary), self._given.loads
        counts = {"auxiliaries": len(keys), "moving": len(self._given.moving), "loads": len(loads)}
        tables: Tables = {
            "auxiliary_vector": keys,
            "auxiliary_lower": [
                places[len(self._widths) + k, self.vectors[vector].carrier] for k, vector in enumerate(keys)
            ],
            "constraint_node": np.arange(self.constraint_count) + self._layout.cluster_count + len(keys),
            **columns(("load_kind", "load_point", "load_triad"), loads),
            "load_block": [
                places[self.vectors[point].carrier, self._column(point, triad + i)]
                if kind == FOLLOWER_FORCE
                else -1
                for kind, point, triad in loads
                for i in range(3)
            ],
        }
        for more in (self._vector_tables(), self._function_tables(places), self._law_tables(places)):
            counts, tables = counts | more[0], tables | more[1]
        return counts, tables

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
        names = ("carrier", "is_point", "shape", "first", "last", "lever", "moving")
        tables = columns([f"vector_{name}" for name in names], rows)
        parts = [part for chord in self.chords for part in chord]
        starts = offsets([len(chord) for chord in self.chords])
        tables |= {
            "vector_base": bases,
            "shape": np.concatenate(shapes),
            "chord_start": starts[:-1],
            "chord_count": np.diff(starts),
            "chord_vector": [vector for _, vector in parts],
            "chord_weight": [weight for weight, _ in parts],
            "chord_total": [total_weight(chord) for chord in self.chords],
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
        part_start = offsets([len(own) for own in self.parts])
        pair_start = offsets([len(own) for own in self.pairs])
        tables: Tables = {
            "term_first": [term.first for term in terms],
            "term_second": [term.second for term in terms],
            "term_time": [term.time for term in terms],
            "term_coefficient": [term.coefficient for term in terms],
            "function_term": term_start[:-1],
            "term_count": np.diff(term_start),
            "function_time": [function.time for function in self.functions],
            "function_zone": [function.zone for function in self.functions],
            "function_constant": [function.constant for function in self.functions],
            "function_part": part_start[:-1],
            "part_count": np.diff(part_start),
            "function_pair": pair_start[:-1],
            "pair_count": np.diff(pair_start),
            "pair_weight": pair_weights,
            "interaction_start": self._starts[:-1],
            "function_count": np.diff(self._starts),
            "gap_count": [each.gap_count for each in self.interactions],
        }
        tables |= columns(("part_vector", "part_upper", "part_lower"), part_rows)
        tables |= columns(("pair_term", "pair_first", "pair_second", "pair_upper", "pair_lower"), pair_rows)
        totals = {
            "terms": len(terms),
            "functions": len(self.functions),
            "function_parts": len(part_rows),
            "pairs": len(pair_rows),
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
        tables = columns(("group_start", "group_count", "carrier_count", "group_block_start"), entries)
        tables |= columns(("group_node", "group_width", "group_place", "group_upper", "group_lower"), groups)
        tables |= {
            "group_stride": [strides[node] if node < len(strides) else d for node, *_ in groups],
            "group_block": blocks,
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
        totals = {"groups": len(groups), "group_blocks": len(blocks), "group_numbers": most}
        return {**totals, "slip_parts": int(slips[-1])}, tables
