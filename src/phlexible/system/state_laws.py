"""Forces that are functions of the state at an instant, and their slopes by differences (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.force_elements import CoordinateForce
from phlexible.interactions.loads import PointLoad
from phlexible.interactions.state_force import ShareOfState, StateLaw
from phlexible.ports.attachments import Attachment
from phlexible.system.instants import Instants
from phlexible.system.system import System

DIFFERENCE = 1e-3  # of angles [rad] and rates, and of places over the length of the model
PARTS = 1.0, 0.5, 0.1  # of it; the last tells a kink
SMOOTH = 1e-3  # of the largest derivative: what other differences may miss


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """Numbers that a law is given, and the rows that move them.

    Attributes:
        values: places and rates, shape (k,).
        place_rows: d place/dq, zero where a number is a rate, shape (k, velocities).
        rate_rows: d rate/d nu, zero where a number is a place.
        sizes: of differences of each number, shape (k,).
    """

    values: Array
    place_rows: sparse.csr_array
    rate_rows: sparse.csr_array
    sizes: Array


@dataclass(frozen=True, eq=False)
class LawSlopes:
    """What one function of the state adds to the linear model: forces change by -K dq - D dnu.

    Attributes:
        name: of the forces.
        stiffness, damping: K and D, shape (velocities,) * 2.
        is_smooth: whether differences of other sizes agree.
    """

    name: str
    stiffness: sparse.csr_array
    damping: sparse.csr_array
    is_smooth: bool


def coordinate_row(system: System, at: Instants, coordinate: Coordinate) -> tuple[Array, float]:
    """d theta/d nu of one coordinate, shape (velocities,), and what moving frames add to its rate."""
    functions = system.coordinate_functions(coordinate)
    gradient = coordinate.gradient(functions.values(at)[0])
    return np.asarray(functions.matrix(at).T @ gradient), float(gradient @ functions.drift(at)[0])


def law_value(system: System, at: Instants, law: StateLaw) -> Array:
    """What a law gives at an instant, shape (size,)."""
    numbers = _measured(system, at, law).values
    return np.atleast_1d(np.asarray(law.controller(float(at.time[0]), numbers), dtype=np.float64)).ravel()


def law_slopes(system: System, at: Instants) -> list[LawSlopes]:
    """Of all functions of the state, those on several ports together."""
    groups: dict[int, list[tuple[StateLaw, sparse.csr_array, str]]] = {}
    for law, row, name in _laws(system, at):
        own = law.controller
        groups.setdefault(id(own.function) if isinstance(own, ShareOfState) else id(law), []).append(
            (law, row, name)
        )
    return [_slopes(system, at, group) for group in groups.values()]


def _slopes(system: System, at: Instants, group: Sequence[tuple[StateLaw, sparse.csr_array, str]]) -> LawSlopes:
    size = int(system.layout.velocity[-1])
    stiffness, damping, is_smooth = sparse.csr_array((size, size)), sparse.csr_array((size, size)), True
    for law, row, _ in group:
        measured = _measured(system, at, law)
        slope, one_is_smooth = _slope(law, float(at.time[0]), measured)
        stiffness = stiffness - row.T @ sparse.csr_array(slope) @ measured.place_rows
        damping = damping - row.T @ sparse.csr_array(slope) @ measured.rate_rows
        is_smooth = is_smooth and one_is_smooth
    return LawSlopes(group[0][2], sparse.csr_array(stiffness), sparse.csr_array(damping), is_smooth)


def _slope(law: StateLaw, time: float, measured: MeasuredRows) -> tuple[Array, bool]:
    """d value/d numbers by central differences of two sizes, and whether it is one: smaller ones agree."""

    def value(numbers: Array) -> Array:
        return np.atleast_1d(np.asarray(law.controller(time, numbers), dtype=np.float64)).ravel()

    middle, columns, others = value(measured.values), [], []
    for k, size in enumerate(measured.sizes):
        change = np.zeros(len(measured.sizes))
        change[k] = size
        pairs = [(value(measured.values + part * change), value(measured.values - part * change)) for part in PARTS]
        wide, half, near = ((one - two) / (2 * part * size) for (one, two), part in zip(pairs, PARTS, strict=True))
        columns.append((4 * half - wide) / 3)  # exact for polynomials of degree 4
        others += [near - columns[-1], (sum(pairs[2]) - 2 * middle) / (PARTS[2] * size)]
    slope = np.array(columns).T
    largest = np.abs(slope).max(initial=0.0)
    return slope, bool(np.abs(others).max(initial=0.0) <= max(SMOOTH * largest, 1e-9 * np.abs(middle).max() / 1e-4))


def _laws(system: System, at: Instants) -> list[tuple[StateLaw, sparse.csr_array, str]]:
    """Each law with d(what it acts along)/dnu and a name."""
    found = []
    for load in system.loads:
        if isinstance(load.value, StateLaw):
            found.append((load.value, _point_rows(system, at, load.attachment)[1], str(load)))
    for element, force in system.forces:
        if isinstance(force.value, StateLaw):
            row = coordinate_row(system, at, force.coordinate)[0]
            found.append((force.value, sparse.csr_array(row[None]), str(element)))
    return found


def _point_rows(system: System, at: Instants, port: Attachment) -> tuple[tuple[Array, Array], sparse.csr_array]:
    """Place and velocity of a point, and its velocity by nu, shape (3, velocities)."""
    weights, vectors = system.point(port)
    pick = sparse.csr_array(np.kron(weights, np.eye(3)))
    rates = vectors.rates(at, at.velocity)[0]
    return (weights @ vectors.places(at)[0], weights @ rates), sparse.csr_array(pick @ vectors.jacobian(at))


def _measured(system: System, at: Instants, law: StateLaw) -> MeasuredRows:
    size, length = int(system.layout.velocity[-1]), system.largest_length
    values: list[float] = []
    sizes: list[float] = []
    places: list[sparse.csr_array] = []
    rates: list[sparse.csr_array] = []
    for item in law.measured:
        if isinstance(item, Attachment):
            own, rows = _point_rows(system, at, item)
            values += [*own[0], *own[1]]
            nothing = sparse.csr_array((3, size))
            places, rates = [*places, rows, nothing], [*rates, nothing, rows]
            sizes += [DIFFERENCE * length] * 6
            continue
        for coordinate in item.coordinates(system.dimension):  # type: ignore[union-attr]  # laws measure no sensors
            row, drift = coordinate_row(system, at, coordinate)
            value = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
            values += [value, row @ at.velocity[0] + drift]
            one, none = sparse.csr_array(row[None]), sparse.csr_array((1, size))
            places, rates = [*places, one, none], [*rates, none, one]
            sizes += [DIFFERENCE * (1.0 if coordinate.is_angle else length)] * 2
    stacked = [sparse.csr_array(sparse.vstack(rows, "csr")) for rows in (places, rates)]
    return MeasuredRows(np.array(values), stacked[0], stacked[1], np.array(sizes))


def load_value(system: System, at: Instants, load: PointLoad) -> Array:
    """Of a load at an instant, shape (3,); zero of controllers, which have none before they run."""
    if isinstance(load.value, StateLaw):
        value = law_value(system, at, load.value)
        load.check_inside(value, system.dimension, at.time)
        return value
    return load.at_time(float(at.time[0]))


def law_part(system: System, at: Instants, force: CoordinateForce) -> float:
    """The force along a coordinate that is a function of the state; zero of others."""
    return float(law_value(system, at, force.value)[0]) if isinstance(force.value, StateLaw) else 0.0


def law_stiffness(system: System, at: Instants) -> sparse.csr_array:
    """d(forces of laws)/dq along fixed directions, shape (velocities,) * 2."""
    size = int(system.layout.velocity[-1])
    total = sparse.csr_array((size, size))
    for slopes in law_slopes(system, at):
        total = total - slopes.stiffness
    return sparse.csr_array(total)


def has_laws(system: System) -> bool:
    """Whether any force is a function of the state."""
    values = [load.value for load in system.loads] + [force.value for _, force in system.forces]
    return any(isinstance(value, StateLaw) for value in values)
