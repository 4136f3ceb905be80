"""Joint functions g of a state, their matrix G and time derivatives: dg/dt = G nu + g_t."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.mechanics.any_body import mass_matrix as body_mass_matrix
from phlexible.interactions.bilinear import PointOf, Row, Term, Vector
from phlexible.interactions.drives import Drive
from phlexible.interactions.time_paths import Timed
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.kinematics import Kinematics, VectorMotion
from phlexible.system.state import Layout, State, layout_of


class RowOwner(NamedTuple):
    """A joint or drive and one of its rows."""

    joint: Joint | Drive
    row: Row


def mechanism_layout(mechanism: Mechanism) -> Layout:
    """Offsets of the bodies' velocities and elastic coordinates and of the joints' rows."""
    rows = [len(joint.rows(mechanism.dimension)) for joint in mechanism.constraints]
    return layout_of(list(mechanism.bodies), rows)


def row_owners(mechanism: Mechanism) -> list[RowOwner]:
    """Joint and row of every multiplier, in the order of the layout."""
    return [
        RowOwner(joint, row) for joint in mechanism.constraints for row in joint.rows(mechanism.dimension)
    ]


def constraint_values(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """g, shape (rows,): metres where points are held, cosines where directions are."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    return np.array([_value(kinematics, row) for _, row in row_owners(mechanism)])


def constraint_matrix(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """G, shape (rows, sum of velocity counts), with dg/dt = G nu + g_t."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    values: list[Array] = []
    rows: list[Array] = []
    columns: list[Array] = []
    for number, (_, row) in enumerate(row_owners(mechanism)):
        for gradient, motion in _gradients(kinematics, row):
            if motion.body is not None:
                entries = gradient @ motion.jacobian
                places = np.arange(len(entries))
                if mechanism.bodies[motion.body].curve is not None:  # one node of many
                    places = np.flatnonzero(entries)
                values.append(entries[places])
                columns.append(places + layout.velocity[motion.body])
                rows.append(np.full(len(places), number))
    shape = (int(layout.multiplier[-1]), int(layout.velocity[-1]))
    if not values:
        return sparse.csr_array(shape)
    triples = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_array(triples, shape).tocsr()


def constraint_time_derivative(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """g_t, the explicit time derivative of g that moving frames make, shape (rows,)."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    owners, time = row_owners(mechanism), state.time
    return np.array(
        [
            sum(g @ m.rate for g, m in _gradients(kinematics, row)) + _driven_rate(kinematics, row, time)
            for _, row in owners
        ]
    )


def constraint_acceleration(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """d2g/dt2 where all dnu/dt vanish, so that d2g/dt2 = G dnu/dt + this; shape (rows,)."""
    kinematics = Kinematics(mechanism.bodies, layout, state)

    def velocity(motion: VectorMotion) -> Array:
        if motion.body is None:
            return motion.rate
        begin, end = layout.velocity[motion.body : motion.body + 2]
        return np.asarray(motion.jacobian @ state.velocity[begin:end])

    def second(row: Row) -> float:
        total, origin = 0.0, _origin(kinematics, row)
        for term in row.terms:
            a, b = kinematics.motion(term.first), kinematics.motion(term.second)
            factor, rate, acceleration = _timed(term.factor, state.time)
            first, second = (_measured(kinematics, vector, origin) for vector in (term.first, term.second))
            change = velocity(a) @ second + first @ velocity(b)
            curve = (
                kinematics.acceleration(term.first) @ second
                + 2 * velocity(a) @ velocity(b)
                + first @ kinematics.acceleration(term.second)
            )
            product = acceleration * (a.value @ b.value) + 2 * rate * change + factor * curve
            total += term.coefficient * float(product)
        return total - (row.offset.at(state.time)[2] if row.offset else 0.0)

    return np.array([second(row) for _, row in row_owners(mechanism)])


def mass_matrix(mechanism: Mechanism, state: State) -> sparse.csr_array:
    """M of all bodies, block diagonal, shape (sum of velocity counts,) * 2."""
    layout = layout_of(list(mechanism.bodies), [])
    blocks = [
        body_mass_matrix(placed.data, state.elastic[layout.elastic[i] : layout.elastic[i + 1]])
        for i, placed in enumerate(mechanism.bodies)
    ]
    if not blocks:
        return sparse.csr_array((0, 0))
    return sparse.csr_array(sparse.block_diag(blocks, "csr"))


def _value(kinematics: Kinematics, row: Row) -> float:
    origin, time = _origin(kinematics, row), kinematics.time
    dots = (
        current_coefficient(term, time)
        * (_measured(kinematics, term.first, origin) @ _measured(kinematics, term.second, origin))
        for term in row.terms
    )
    return float(sum(dots) - row.constant - (row.offset.now(time) if row.offset else 0.0))


def _gradients(kinematics: Kinematics, row: Row) -> Iterator[tuple[Array, VectorMotion]]:
    """dg/dx of every vector of a row (twice for a square), with the vector."""
    origin = _origin(kinematics, row)
    for term in row.terms:
        for vector, other in ((term.first, term.second), (term.second, term.first)):
            coefficient = current_coefficient(term, kinematics.time)
            yield coefficient * _measured(kinematics, other, origin), kinematics.motion(vector)


def current_coefficient(term: Term, time: float) -> float:
    """The coefficient of a term, times its function of time."""
    return term.coefficient * (term.factor.now(time) if term.factor else 1.0)


def _driven_rate(kinematics: Kinematics, row: Row, time: float) -> float:
    """dg/dt of the factors and the offset of a driven row."""
    total = -row.offset.at(time)[1] if row.offset else 0.0
    for term in row.terms:
        if term.factor:
            value = kinematics.motion(term.first).value @ kinematics.motion(term.second).value
            total += term.coefficient * term.factor.at(time)[1] * float(value)
    return total


def _timed(factor: Timed | None, time: float) -> tuple[float, float, float]:
    return factor.at(time) if factor else (1.0, 0.0, 0.0)


def _origin(kinematics: Kinematics, row: Row) -> Array:
    """Where a row with products of points measures them from: squares cancel far from the world's origin."""
    for term in row.terms:
        if isinstance(term.first, PointOf) and isinstance(term.second, PointOf):
            return kinematics.motion(term.first).value
    return np.zeros(3)


def _measured(kinematics: Kinematics, vector: Vector, origin: Array) -> Array:
    value = kinematics.motion(vector).value
    return value - origin if isinstance(vector, PointOf) else value
