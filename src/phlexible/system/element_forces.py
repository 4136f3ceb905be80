"""Force elements in one state: their coordinates and the forces on velocities.

Reference form in NumPy of what ``kernels/forces.py`` does over a step. A force F along theta(y(q)) acts
as ``J^T F`` with ``J = d theta/dq = sum_r theta_r dy_r/dq``.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.interactions.bilinear import Row
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import CoordinateForce
from phlexible.interactions.time_paths import finite_number
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.kinematics import Kinematics
from phlexible.system.state import Layout, State


@dataclass(frozen=True, eq=False)
class SparseRow:
    """A row over the flat velocities; columns may repeat and add up. ``drift`` is the explicit rate."""

    columns: IntArray
    values: Array
    drift: float


def scalar_forces(mechanism: Mechanism) -> list[CoordinateForce]:
    """Of all elements, in their order."""
    return [force for element in mechanism.elements for force in element.forces(mechanism.dimension)]


def element_coordinates(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """theta of every scalar force, angles between -pi and pi, shape (forces,)."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    forces = scalar_forces(mechanism)
    values = [each.coordinate.value(function_values(kinematics, each.coordinate)) for each in forces]
    return np.array(values, dtype=np.float64)


def element_forces(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """Forces of all elements at the state's time, power-conjugate to the flat velocities.

    Controllers, which have no value before they run, give none.
    """
    kinematics = Kinematics(mechanism.bodies, layout, state)
    result = np.zeros(int(layout.velocity[-1]))
    for force in scalar_forces(mechanism):
        theta = force.coordinate.value(function_values(kinematics, force.coordinate))
        row = coordinate_row(layout, kinematics, force.coordinate)
        rate = row.values @ state.velocity[row.columns] + row.drift
        total = force.conservative(theta) - force.damping * rate + prescribed_part(force, state.time)
        np.add.at(result, row.columns, total * row.values)
    return result


def coordinate_row(layout: Layout, kinematics: Kinematics, coordinate: Coordinate) -> SparseRow:
    """J and what moving frames add: d theta/dt = J nu + drift."""
    gradient = coordinate.gradient(function_values(kinematics, coordinate))
    return combined([function_row(layout, kinematics, each) for each in coordinate.functions()], gradient)


def combined(rows: list[SparseRow], weights: Array) -> SparseRow:
    """The weighted sum of rows."""
    return SparseRow(
        np.concatenate([row.columns for row in rows]),
        np.concatenate([weight * row.values for weight, row in zip(weights, rows, strict=True)]),
        float(sum(weight * row.drift for weight, row in zip(weights, rows, strict=True))),
    )


def function_values(kinematics: Kinematics, coordinate: Coordinate) -> Array:
    """y of a coordinate."""
    values = [
        sum(
            t.coefficient * float(kinematics.motion(t.first).value @ kinematics.motion(t.second).value)
            for t in function.terms
        )
        for function in coordinate.functions()
    ]
    return np.array(values, dtype=np.float64)


def function_row(layout: Layout, kinematics: Kinematics, function: Row) -> SparseRow:
    """dy/dnu and the explicit rate of one bilinear function."""
    columns, values, drift = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], 0.0
    for term in function.terms:
        a, b = kinematics.motion(term.first), kinematics.motion(term.second)
        for moving, partner in ((a, b), (b, a)):
            pull = term.coefficient * partner.value
            drift += float(pull @ moving.rate)
            if moving.body is not None:
                columns.append(np.arange(*layout.velocity[moving.body : moving.body + 2]))
                values.append(pull @ moving.jacobian)
    return SparseRow(np.concatenate(columns), np.concatenate(values), drift)


def prescribed_part(force: CoordinateForce, time: float) -> float:
    """The prescribed part of a force at a time; zero of a controller."""
    if isinstance(force.value, Feedback):
        return 0.0
    if callable(force.value):
        return finite_number(force.value(time), "force of an element", time)
    return float(force.value)
