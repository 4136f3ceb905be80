"""A system as memory of the kernels, together with its functions of time and measurements."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.elimination import BlockSchedule, block_schedule, in_lines
from phlexible.algebra.rotations import nearest_turns
from phlexible.description.ground import frame_positions, frame_rotations
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.drives import ServoPush
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import CoordinateForce, ForceValue
from phlexible.description.interactions.loads import Input
from phlexible.description.joints.relations import JointRelation
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.time_functions import TimePath, values_at, vector_values_at
from phlexible.state.layout import Layout, State
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector
from phlexible.step.assembly.bodies import (
    BlockOffsets,
    Tables,
    TypeTables,
    offset_tables,
    team_tables,
    velocity_weights,
)
from phlexible.step.assembly.couplings import KEPT, LARGEST, Couplings, Offsets
from phlexible.step.assembly.families import ContactGroupTables, RodTables, SoftTables
from phlexible.step.assembly.interactions import (
    ControlledValue,
    ForceData,
    Function,
    Interaction,
    InteractionTables,
    MovingPart,
    StrainLaws,
    branch_tables,
    bristle_tables,
    contact_pair_law,
    controlled_values,
    element_law,
    impact_tables,
    law_tables,
    related_law,
    sliding_tables,
)
from phlexible.step.programs import connect
from phlexible.step.tables.declarations import GATHERED, SEGMENTED, TOGETHER
from phlexible.step.tables.memory import Memory, packed
from phlexible.step.tables.requests import COLUMNS

HISTORY = 64


@dataclass(frozen=True, eq=False)
class Assembly:
    """A system in the form that the kernels read.

    Attributes:
        system: what was assembled.
        memory: the tables; kernels change them.
        moving: what is a function of time, in the order of the moving vectors.
        prescribed: prescribed parts of forces with the names of their elements, after the loads.
        controlled: load values that controllers set.
        vectors, chords: in the order of their indices in the tables; chords are weighted sums of vectors.
        laws: of all forces; they keep the users' functions alive.
        soft: elements of soft bodies; it keeps users' functions alive too.
    """

    system: System
    memory: Memory
    moving: tuple[MovingPart, ...]
    prescribed: tuple[tuple[ForceValue, str], ...]
    controlled: tuple[ControlledValue, ...]
    vectors: tuple[CarriedVector, ...]
    chords: tuple[tuple[tuple[float, int], ...], ...]
    laws: tuple[ForceData, ...]
    soft: SoftTables

    def initial_thetas(self, state: State) -> Array:
        """Return the coordinates (lengths and angles) along which all force elements act at a ``state``, shape
        (forces,) [m or rad]. They are zero for strains of strings and soft bodies. Angles are continued over full
        turns from ``state.theta``, or lie between -pi and pi if it is None."""
        first, found = 0, np.zeros(self.memory.counts["forces"])
        if not len(found):
            return found
        system, at = self.system, self.system.at(state)
        values = system.force_functions.values(at)[0]
        angles = np.zeros(len(found), dtype=bool)
        for number, each in enumerate(system.forces):
            coordinate = each.force.coordinate
            count = len(coordinate.functions())
            found[number] = coordinate.value(values[first : first + count])
            angles[number] = coordinate.is_angle
            first += count
        for number, related in enumerate(system.related, start=len(found) - len(system.related)):
            found[number] = related.coordinate.value(system.coordinate_functions(related.coordinate).values(at)[0])
            angles[number] = related.coordinate.is_angle
        if state.theta is not None:
            known = np.flatnonzero(angles[: len(state.theta)])  # of locks, the last ones, it may have none
            found[known] = nearest_turns(found[known], state.theta[known])
        return found

    def moving_values(self, times: Array) -> Array:
        """Return all vectors that are prescribed functions of time at ``times`` [s], shape (times, 3 *
        vectors): world positions of points and directions of moving frames, and (cos p, sin p, p) for the
        path p of each driven coordinate. Shape (times, 0) if there are none."""
        if not self.moving:
            return np.zeros((len(times), 0))
        values = np.zeros((len(times), len(self.moving), 3))
        turns: dict[int, Array] = {}
        for column, part in enumerate(self.moving):
            if isinstance(part, TimePath):
                path = part.at_times(times)
                values[:, column] = np.stack([np.cos(path), np.sin(path), path], axis=1)
                continue
            frame = self.system.moving_frames[part.frame]
            if part.is_point:
                values[:, column] = frame_positions(frame, times)
            else:
                if part.frame not in turns:
                    turns[part.frame] = frame_rotations(frame, times)
                values[:, column] = turns[part.frame] @ part.base
        return values.reshape(len(times), 3 * values.shape[1])

    @property
    def inputs(self) -> dict[str, Input]:
        """Constant loads and prescribed forces of the mechanism, which may be changed during a run, as a
        dictionary by name. Each is an ``Input`` with its first index among the load values and its initial value.
        Functions of time and controlled values are left out."""
        found: dict[str, Input] = {}
        for k, load in enumerate(self.system.loads):
            if not (callable(load.value) or isinstance(load.value, Feedback)):
                found[str(load)] = Input(3 * k, load.at_time(0.0), load)
        for k, (value, name) in enumerate(self.prescribed, start=len(self.system.loads)):
            if not (callable(value) or isinstance(value, Feedback)):
                found[name] = Input(3 * k, np.array([value], dtype=np.float64), None)
        return found

    @property
    def has_functions(self) -> bool:
        """Whether any force law of the mechanism calls a function that the user wrote."""
        return any(law.functions for law in self.laws)

    @property
    def loads_are_steady(self) -> bool:
        """Whether no load and no prescribed force of the mechanism is a function of time; controllers are not
        counted."""
        values = [load.value for load in self.system.loads] + [value for value, _ in self.prescribed]
        return not any(callable(value) and not isinstance(value, Feedback) for value in values)

    def load_values(self, times: Array, ends: Array | None = None) -> Array:
        """Return the values of all loads and prescribed element forces at the ``times`` [s], shape (times, 3 *
        values) [N or N m]. Each value has three components. With ``ends``, shape (times + 1,), the times are the
        middles of time steps between ``ends``, and servos return values for whole steps. Values that a controller
        sets are zero."""
        loads = self.system.loads
        values = np.zeros((len(times), len(loads) + len(self.prescribed), 3))
        for k, (value, label) in enumerate(self.prescribed, start=len(loads)):
            if isinstance(value, ServoPush) and ends is not None:
                values[:, k, 0] = value.values_over_steps(times, ends)
            elif not isinstance(value, Feedback):
                values[:, k, 0] = values_at(value, times, f"force of {label}") if callable(value) else value
        for column, load in enumerate(loads):
            if isinstance(load.value, Feedback):
                continue
            if not callable(load.value):
                values[:, column] = load.at_time(0.0)
            elif (all_at_once := vector_values_at(load.value, times)) is not None:
                values[:, column] = all_at_once
            else:
                values[:, column] = np.array([load.at_time(float(t)) for t in times]).reshape(-1, 3)
            if callable(load.value):
                load.check_components(values[:, column], self.system.dimension, times)
        return values.reshape(len(times), 3 * values.shape[1])


def assemble(system: System, with_segments: bool = True) -> Assembly:
    """Return the ``Assembly`` of a ``system``: the memory with all arrays that the compiled time step reads, a
    state of zeros, and the lists of vectors, laws and controllers behind them. It includes the plan by which
    Newton's matrix is eliminated. Long bodies are stored in segments if ``with_segments``, otherwise as dense
    blocks.

    First everything that acts is listed, which numbers its vectors, chords and functions in the order of their
    first use. Then bodies and couplings become nodes and edges of a graph, whose elimination gives each pair of
    nodes its block in Newton's matrix. Then tables are filled, which refer to these numbers and blocks. What
    follows from the structure alone is shared with mechanisms that were assembled before, see ``Plan``.

    Args:
        system: what moves.
        with_segments: store long bodies in segments; without them all their blocks are dense.
    """
    parts = _collect_parts(system, with_segments)
    graph = _graph(system, parts)
    plan = _known_plan(graph) if len(graph[0]) <= LARGEST else Plan(graph)
    return Assembly(
        system,
        plan.memory(_all_tables(system, parts, plan)),
        tuple(parts.tables.moving),
        tuple(parts.prescribed),
        parts.controlled,
        tuple(parts.tables.collector.vectors),
        parts.coupled.chords,
        parts.laws,
        parts.soft,
    )


Graph = tuple[Any, ...]
"""Arguments of ``block_schedule`` as a key of a cache; lengths are pairs of a node and its length."""


class Plan:
    """Data that mechanisms of one structure share: the order in which Newton's matrix is eliminated, and the last
    memory, of which equal arrays are used again.

    Args:
        graph: bodies and their couplings.

    Attributes:
        schedule: elimination of the nodes of the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.schedule = block_schedule(graph[0], graph[1], graph[2], dict(graph[3]), graph[4])
        self._last: tuple[Tables, Memory] | None = None
        self._known: dict[tuple[object, ...], Tables] = {}

    def once(self, key: tuple[object, ...], make: Callable[[], Tables]) -> Tables:
        """Return the counts and arrays that ``make()`` returns, packed in one dictionary; they are made once for
        each ``key`` and cached here. They may depend on the key and on this plan only.
        """
        if key not in self._known:
            counts, arrays = packed(make())
            self._known[key] = {**counts, **arrays}
        return self._known[key]

    def memory(self, tables: Tables) -> Memory:
        """Return a ``Memory`` with the arrays ``tables`` of a mechanism, connected to the compiled functions that
        it needs. If the last mechanism had the same structure, its arrays are used again where they are equal.
        Input and memory are cached for the next call, unless they are very large.

        Caching is one assignment: threads may do it at the same time. Memory of very large models is not cached.
        """
        if self._last is not None and self._last[0].keys() == tables.keys():
            known, last = self._last
            others = {
                name: own for name, own in tables.items() if own is not known[name] and not _same(own, known[name])
            }
            if (memory := last.with_tables(*packed(others))) is not None:
                self._last = tables, memory
                return memory
        counts, arrays = packed(tables)
        more, teams = packed(team_tables(arrays))
        memory = Memory({**counts, **more, **arrays, **teams})
        connect(memory)
        size = sum(each.nbytes for each in memory.system_tables.values())
        self._last = (tables, memory) if size <= LARGEST_TABLES else None
        return memory


def _same(first: Any, second: Any) -> bool:
    """Return True if two arrays or lists of a model are seen to be equal without much work. They are if both are
    empty and of one Python type, or equal lists of numbers. False does not mean that they differ: arrays are
    compared later.
    """
    if type(first) is list and type(second) is list and first:
        return type(first[0]) in (int, float) and first == second
    return (
        isinstance(first, list | np.ndarray) and not len(first) and type(first) is type(second) and not len(second)
    )


LARGEST_TABLES = 2**21
"""Bytes of tables up to which the memory of the last mechanism of a structure is cached."""

_known_plan = lru_cache(KEPT)(Plan)


@dataclass(frozen=True, eq=False)
class Parts:
    """Bodies and what acts on them, with all vectors, chords and functions numbered.

    Attributes:
        tables: constraints and laws in the order of their multipliers and forces, and loads.
        prescribed, controlled, soft: as in an ``Assembly``.
        rods, contact_groups: families with separate tables.
        types: of floating bodies; the blocks of their coordinates are dense or have segments.
        indices: offsets of the sections of each floating body's block.
        masses: of each pair of carriers.
        coupled: couplings by the functions.
    """

    tables: InteractionTables
    prescribed: list[tuple[ForceValue, str]]
    controlled: tuple[ControlledValue, ...]
    soft: SoftTables
    rods: RodTables
    contact_groups: ContactGroupTables
    types: TypeTables
    indices: list[BlockOffsets]
    masses: list[tuple[int, int, float]]
    coupled: Couplings

    @property
    def laws(self) -> tuple[ForceData, ...]:
        """Force laws of the mechanism (stiffness, damping, friction, ...), in the order of the forces in the
        tables."""
        return tuple(each.force for each in self.tables.interactions if each.force is not None)


def _collect_parts(system: System, with_segments: bool) -> Parts:
    """Collect constraints, force elements, strains, gear relations, loads, contact groups and controllers of a
    ``system``, and return them as ``Parts``. The vectors (points and directions on bodies) and scalar functions
    that they use are numbered in this order. If ``with_segments``, matrices of long bodies are stored in
    segments."""
    tables, rods = InteractionTables(system), RodTables(system)
    tables.interactions += [
        tables.constraint(begin, end) for begin, end in itertools.pairwise(system.layout.multiplier.tolist())
    ]
    prescribed: list[tuple[ForceValue, str]] = []
    for index, each in enumerate(system.forces):
        element, force = each
        number = -1
        if each.is_prescribed:
            number = len(prescribed)
            prescribed.append((force.value, str(element)))
        if isinstance(element, Contact):
            tables.interactions.append(Interaction((), contact_pair_law(force)))
            continue
        rows = () if index in rods.forces else force.coordinate.functions()
        functions = tuple(map(tables.function, rows))
        tables.interactions.append(Interaction(functions, element_law(force, number, _joint_of(system, force))))
    tables.interactions += list(_strains(system, tables))
    for related in system.related:
        functions = tuple(tables.function(row) for row in related.coordinate.functions())
        law = related_law(related.coordinate, related.row, related.factor)
        tables.interactions.append(Interaction(functions, law))
    for load in system.loads:
        tables.add_load(load)
    contact_groups = ContactGroupTables(system, tables.collector)
    controlled = controlled_values(system, prescribed, tables)
    types = TypeTables(system.frames, system.floating, with_segments)
    coupled = tables.finished(frozenset(b for b, kind in enumerate(types.type_of) if types.bands[kind]))
    return Parts(
        tables,
        prescribed,
        controlled,
        SoftTables(system),
        rods,
        contact_groups,
        types,
        types.offsets(),
        _masses(system),
        coupled,
    )


def _graph(system: System, parts: Parts) -> Graph:
    """Return the graph of a ``system`` from which ``block_schedule`` plans the elimination of Newton's matrix.
    Nodes are groups of bodies, auxiliary unknowns and constraints; edges are couplings between them. The result is
    the tuple of its arguments: numbers of unknowns of all nodes, edges, the nodes for which each constraint waits,
    segment lengths of long bodies, and the number of nodes before the constraints. ``parts`` are the collected
    constraints, forces and loads."""
    node, coupled = system.layout.cluster.tolist(), parts.coupled
    edges = {(node[a], node[b]) for a, b, _ in parts.masses if node[a] != node[b]} | coupled.edges
    edges |= parts.soft.edges(system.layout) | parts.rods.edges()
    lengths = tuple((b, own.length) for b, own in enumerate(parts.indices))
    sizes = tuple(coupled.node_sizes)
    return sizes, frozenset(edges), tuple(map(tuple, coupled.waits)), lengths, len(sizes) - coupled.constraint_count


def _all_tables(system: System, parts: Parts, plan: Plan) -> Tables:
    """Return all tables of the compiled time step of a ``system``: a dictionary from the names in
    ``step/tables/declarations.py`` to arrays. Integers describe the structure and the offsets of blocks in
    Newton's matrix, floating-point values the mechanism. ``parts`` are the collected constraints, forces and loads
    of the system; ``plan`` is the plan of the elimination with the blocks."""
    schedule = plan.schedule
    layout, blocks = system.layout, Offsets(system.layout, schedule)
    indices, types, coupled = parts.indices, parts.types, parts.coupled
    apart, is_long = np.zeros((2, len(schedule.size)), dtype=np.int64)
    apart[: layout.frames] = system.dimension
    vectors = parts.tables.collector.vectors
    touching = {vectors[k].carrier for k in parts.contact_groups.vectors(vectors)}
    found = coupled.coupled_translations | touching | {b for point in parts.rods.points for b in point.sections}
    apart[[b for b in found if b < layout.frames]] = 0
    is_long[: layout.frames] = [types.bands[kind] is not None for kind in types.type_of]
    acting = *parts.laws, *parts.soft.groups, *filter(None, types.relaxations())
    loads_and_types = len(system.loads), len(types.relaxations())
    widest, sizes = max(layout.widths, default=1), (system.dimension, len(system.loads))
    return {
        **types.tables(),
        **coupled.tables(blocks),
        **parts.tables.real_tables(coupled),
        **_carrier_tables(system, parts.masses, blocks, plan),
        **plan.once(
            ("nodes", apart.tobytes(), is_long.tobytes(), coupled.constraint_count),
            lambda: _node_tables(schedule, apart, is_long, coupled.constraint_count, layout.frames),
        ),
        **offset_tables(indices, [schedule.indices[b, b] for b in range(layout.frames)]),
        **_family(plan, parts.soft, sizes, lambda: parts.soft.tables(blocks)),
        **_family(plan, parts.rods, sizes, lambda: parts.rods.tables(schedule.indices)),
        **_family(plan, parts.contact_groups, sizes, lambda: parts.contact_groups.tables(schedule.rows, widest)),
        **_family(plan, acting, (coupled.constraint_count, *loads_and_types), lambda: _law_tables(system, parts)),
        "row_length": system.gap_lengths,
        "row_switch": system.row_switches,
        "widest": widest,
        "dimension": system.dimension,
        "load_values": len(system.loads) + len(parts.prescribed),
        "switches": len(system.mechanism.switches),
        "events": len(system.mechanism.events) if system.mechanism.switches else 0,
        "sources": len(system.loads) + len(coupled.interactions),
        "history_length": HISTORY,
        "border_entries": max((own.strides[0] for own in indices), default=0) * max(coupled.node_sizes, default=1),
        "reactions": len(system.gap_lengths) + len(parts.laws),
    }


def _law_tables(system: System, parts: Parts) -> Tables:
    """Return the arrays that describe the force laws along coordinates to the compiled time step, in a dictionary
    by name. They include friction springs, impacts, joints that slide along lines, and the Maxwell branches of
    soft and floating bodies. ``parts`` are the collected constraints, forces and loads of the ``system``."""
    laws = parts.laws
    return {
        **branch_tables(laws, [group.relaxation for group, _ in parts.soft.groups], parts.types.relaxations()),
        **bristle_tables(laws),
        **impact_tables(laws),
        **sliding_tables(laws),
        **law_tables(laws, parts.coupled.constraint_count, len(system.loads)),
    }


def _family(
    plan: Plan,
    family: SoftTables | RodTables | ContactGroupTables | tuple[object, ...],
    sizes: tuple[int, ...],
    make: Callable[[], Tables],
) -> Tables:
    """Return the arrays of a ``family`` of interactions (rods, soft bodies, contacts) for the compiled time step,
    which ``make()`` computes. If the mechanism has none of the family, they depend only on ``sizes``, numbers such
    as the dimension; then they are made once and cached in ``plan``.
    """
    return make() if family else plan.once((type(family), *sizes), make)


def _joint_of(system: System, force: CoordinateForce) -> tuple[int, int] | None:
    """Return (index among the constraints, number of force equations) of the joint whose reaction causes the
    friction of ``force``; None if no joint does. Force equations are its scalar constraints other than those on
    angles. ``system`` is the mechanism in numerical form."""
    if not (force.friction and force.friction.joint):
        return None
    number = next(k for k, constraint in enumerate(system.constraints) if constraint is force.friction.joint)
    begin, end = system.layout.multiplier[number : number + 2]
    return number, sum(not owner.row.is_angle for owner in system.owners[begin:end])


def _strains(system: System, tables: InteractionTables) -> Iterable[Interaction]:
    """Yield the strains of strings and other bodies in absolute coordinates as force laws. The coordinate of a law
    is the scalar product of two weighted sums of node positions. Node vectors and products are added to
    ``tables``. ``system`` is the mechanism in numerical form."""
    laws, nothing = StrainLaws(), np.zeros((3, 0))
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        first = int(system.layout.carrier[index])
        numbers = [
            tables.collector.add_vector(CarriedVector(first + node, True, np.zeros(3), nothing))
            for node in range(body.node_count)
        ]
        for group in body.strains:
            for nodes, a, b, weight in zip(
                group.nodes.tolist(),
                group.first.tolist(),
                group.second.tolist(),
                group.weights.tolist(),
                strict=True,
            ):
                own = [numbers[node] for node in nodes]
                function: Function = tables.dot(list(zip(a, own, strict=True)), list(zip(b, own, strict=True)))
                yield Interaction((function,), laws.of(group, weight))


def _masses(system: System) -> list[tuple[int, int, float]]:
    """Return the entries of the mass matrix of a ``system`` between carriers, as a list of (carrier, carrier, mass
    [kg]). A carrier is a floating body, whose only entry is its total mass, or a mesh node, which also has entries
    with its neighbours. Rotational and elastic entries are not included."""
    found = [(b, b, data.mass) for b, data in enumerate(system.frames)]
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        first, mass = int(system.layout.carrier[index]), sparse.coo_array(body.nodal_mass)
        found += zip((mass.row + first).tolist(), (mass.col + first).tolist(), mass.data.tolist(), strict=True)
    return found


def _carrier_tables(system: System, masses: list[tuple[int, int, float]], blocks: Offsets, plan: Plan) -> Tables:
    layout, gravity, frames = system.layout, system.mechanism.gravity, system.frames
    pairs = tuple((a, b) for a, b, _ in masses)
    weights = [velocity_weights(data) for data in frames]
    inverses = [1.0 / (data.mass * own**2) for data, own in zip(frames, weights, strict=True)]
    weights.append(np.ones(sum(layout.widths[len(frames) :])))
    weight = np.zeros((len(layout.widths), 3))
    for a, b, mass in masses:
        weight[a] += mass * system.carrier_translations[b] * gravity
    return {
        **plan.once(("carriers", layout, pairs), lambda: _carrier_counts(layout, pairs, blocks)),
        "mass": [mass for _, _, mass in masses],
        "velocity_weight": np.concatenate(weights),
        "inverse_inertia": np.concatenate([*inverses, weights[-1]]),
        "weight": weight,
    }


def _carrier_counts(layout: Layout, pairs: Sequence[tuple[int, int]], blocks: Offsets) -> Tables:
    """Return a dictionary of the integers that describe all carriers (floating bodies and mesh nodes) of a
    ``layout`` to the compiled time step. It has the numbers of velocities, elastic and rotation coordinates of
    each carrier, the ``pairs`` of carriers that the mass matrix couples, and the offsets and row lengths of their
    blocks in Newton's matrix. Offsets are looked up in ``blocks``; keys are names of arrays of the model."""
    carriers, bodies = len(layout.widths), layout.bodies[: layout.frames]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return {
        "clusters": layout.cluster_count,
        "velocities": list(layout.widths),
        "elastic": [body.elastic_count for body in bodies],
        "coordinates": [body.elastic_count + 1 for body in bodies],
        "rigid_of": list(layout.rigid_counts),
        "axes_of": [*(len(body.rotation_axes) for body in bodies), *[0] * (carriers - len(bodies))],
        "mass_first": first,
        "mass_second": second,
        "mass_block": blocks.of_carriers(first, second),
        "carrier_block": blocks.of_carriers(np.arange(carriers), np.arange(carriers)),
        "carrier_stride": blocks.strides,
    }


def _node_tables(
    schedule: BlockSchedule, uncoupled: IntArray, is_long: IntArray, constraints: int, frames: int
) -> Tables:
    """Return the tables of the compiled time step that describe the order and the blocks of the elimination of
    Newton's matrix: a dictionary of arrays by the names of the tables. ``schedule`` is the plan of the
    elimination. For each node, ``uncoupled`` counts first unknowns that are not coupled to the rest, and
    ``is_long`` says whether its block has segments.

    Args:
        schedule: of the nodes.
        uncoupled: for each node, the count of its first rows that are not coupled to the rest.
        is_long: whether the block of each node has segments.
        constraints: number of the last nodes, which are constraints.
        frames: number of the first nodes that are floating bodies.
    """
    size, row_start = schedule.size, schedule.row_start
    diagonal = np.array([schedule.indices[k, k] for k in range(len(size))], dtype=np.int64)
    node, begin = np.array([own[-1] for own in schedule.groups]), [own[0] for own in schedule.groups]
    counts = np.diff(schedule.run_start)
    of_visits = np.where(is_long, SEGMENTED, uncoupled)[node]
    of_visits[schedule.in_runs] = TOGETHER
    of_visits[schedule.is_wide & (node >= frames) & ~schedule.in_runs] = GATHERED
    held = range(len(size) - constraints, len(size))
    unknowns = [row_start[:0], *(row_start[own] + np.arange(size[own]) for own in held)]
    return {
        "unknowns": schedule.rows,
        "block_entries": schedule.length,
        "elimination_entries": _elimination_entries(schedule, np.flatnonzero(of_visits <= TOGETHER)),
        "visit_node": node,
        "visit_size": schedule.strides[node],
        "visit_diagonal": diagonal[begin],
        "visit_row": row_start[begin],
        "visit_apart": of_visits,
        "neighbours": counts,
        "targets": counts**2,
        "node_size": size,
        "node_row": row_start,
        "node_diagonal": diagonal,
        "node_stride": schedule.strides,
        "node_apart": uncoupled,
        "row_unknown": np.concatenate(unknowns),
        "neighbour": schedule.run_node,
        "neighbour_size": schedule.run_size,
        "neighbour_row": row_start[schedule.run_node],
        "upper": schedule.upper,
        "lower": schedule.lower,
        "target": schedule.targets[:, 0],
        "target_stride": schedule.targets[:, 1],
    }


def _elimination_entries(schedule: BlockSchedule, groups: IntArray) -> int:
    """Return the number of floating-point values of the largest wide block, or product of blocks, among the
    elimination ``groups``. Wide blocks join all off-diagonal blocks of a group; 0 without groups. ``schedule`` is
    the plan of the elimination."""
    begin, size = schedule.run_start, schedule.run_size
    runs = [(size[begin[k] : begin[k + 1]], schedule.strides[schedule.groups[k][0]]) for k in groups.tolist()]
    return max((max(rows.max(initial=COLUMNS), own) * in_lines(rows.sum()) for rows, own in runs), default=0)


# Who does work: names of loads, driven joints, drives and force elements, and where their work is counted.


@cached_on_owner
def work_sources(system: System, interactions: int) -> dict[str, list[int]]:
    """Return the columns of the array ``work`` for all elements of a ``system`` that supply energy, as lists by
    name. They are loads, driven or moving joints, prescribed forces, servos and elements on moving frames (ground
    frames with prescribed motion). The array sums up the work of each load and interaction over a run;
    ``interactions`` is the number of interactions."""
    moving = set(system.moving_frames)
    sources: dict[str, list[int]] = {}
    columns = itertools.count()
    for load in system.mechanism.loads:
        sources.setdefault(str(load), []).extend(next(columns) for _ in load.entries())
    for k, part in enumerate(system.constraints, start=len(system.loads)):
        if isinstance(part, JointRelation):
            continue
        if part.path is not None or {part.first, part.second} & moving:
            sources.setdefault(str(part), []).append(k)
    for k, each in enumerate(system.forces, start=len(system.loads) + len(system.constraints)):
        is_source = each.is_prescribed or each.force.is_servo or each.element.path is not None
        if is_source or (moving and set(ports_of(each.element)) & moving):
            sources.setdefault(str(each.element), []).append(k)
    for k, index in enumerate(system.related, start=len(system.loads) + interactions - len(system.related)):
        part = system.owners[index.row].joint
        if set(ports_of(part)) & moving:
            sources.setdefault(str(part), []).append(k)
    return sources


@cached_on_owner
def constraint_columns(system: System, interactions: int) -> IntArray:
    """Return for each constraint the index of its column in the array ``work``, shape (constraints,). That array
    sums up the work of each source of the ``system`` over a run: first loads, then interactions. A relation
    between joints, such as a gear, has the column of its last coordinate. ``interactions`` is the number of
    interactions, of which coordinates of relations come last."""
    columns, first = len(system.loads) + np.arange(len(system.constraints)), interactions - len(system.related)
    owner_columns = {
        system.owners[index.row].joint: k for k, index in enumerate(system.related, start=len(system.loads) + first)
    }
    for k, part in enumerate(system.constraints):
        columns[k] = owner_columns[part] if isinstance(part, JointRelation) else columns[k]
    return columns
