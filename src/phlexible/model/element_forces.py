"""Force elements in one state: their coordinates, forces on velocities, stiffness and damping.

Reference form in NumPy of what ``kernels/forces.py`` does over a step. A force F along theta(y(q)) acts
as ``J^T F`` with ``J = d theta/dq = sum_r theta_r dy_r/dq``; its derivative by q is
``J^T F' J + F d2 theta/dq2``.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.joints.bilinear import Row
from phlexible.joints.coordinates import Coordinate
from phlexible.joints.feedback import Feedback
from phlexible.joints.force_elements import CoordinateForce
from phlexible.joints.time_paths import finite_number
from phlexible.model.curvature import BodyBlocks, add_row_curvature
from phlexible.model.kinematics import Kinematics
from phlexible.model.mechanism import Mechanism
from phlexible.model.state import Layout, State


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
        total = force.conservative(theta) - force.damping * rate + _prescribed(force, state.time)
        np.add.at(result, row.columns, total * row.values)
    return result


def element_stiffness(
    mechanism: Mechanism, layout: Layout, state: State, with_curvature: bool = True
) -> sparse.csr_array:
    """d(element forces)/dq at constant velocities; without curvature only ``J^T F' J``."""
    kinematics, total = Kinematics(mechanism.bodies, layout, state), BodyBlocks(layout)
    rows: list[SparseRow] = []
    tangents: list[float] = []
    for force in scalar_forces(mechanism):
        y = function_values(kinematics, force.coordinate)
        theta = force.coordinate.value(y)
        rows.append(coordinate_row(layout, kinematics, force.coordinate))
        tangents.append(force.tangent(theta))
        pull = force.conservative(theta) + _prescribed(force, state.time)
        if not with_curvature or pull == 0:
            continue
        gradient, hessian = force.coordinate.gradient(y), force.coordinate.hessian(y)
        functions = force.coordinate.functions()
        for weight, function in zip(pull * gradient, functions, strict=True):
            add_row_curvature(total, kinematics, function, float(weight))
        slopes = [function_row(layout, kinematics, function) for function in functions]
        for value, direction in zip(*np.linalg.eigh(hessian), strict=True):
            rows.append(_combined(slopes, direction))
            tangents.append(float(pull * value))
    return sparse.csr_array(total.matrix() + _weighted(layout, rows, tangents))


def element_damping(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """The damping matrix of all dampers, shape (sum of velocity counts,) * 2."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    damped = [force for force in scalar_forces(mechanism) if force.damping]
    rows = [coordinate_row(layout, kinematics, force.coordinate) for force in damped]
    return _weighted(layout, rows, [force.damping for force in damped])


def coordinate_row(layout: Layout, kinematics: Kinematics, coordinate: Coordinate) -> SparseRow:
    """J and what moving frames add: d theta/dt = J nu + drift."""
    gradient = coordinate.gradient(function_values(kinematics, coordinate))
    return _combined([function_row(layout, kinematics, each) for each in coordinate.functions()], gradient)


def _combined(rows: list[SparseRow], weights: Array) -> SparseRow:
    return SparseRow(
        np.concatenate([row.columns for row in rows]),
        np.concatenate([weight * row.values for weight, row in zip(weights, rows, strict=True)]),
        float(sum(weight * row.drift for weight, row in zip(weights, rows, strict=True))),
    )


def _weighted(layout: Layout, rows: list[SparseRow], weights: list[float]) -> sparse.csr_array:
    """Sum of weight * row^T row."""
    size = int(layout.velocity[-1])
    if not rows:
        return sparse.csr_array((size, size))
    numbers = np.concatenate([np.full(len(row.columns), k) for k, row in enumerate(rows)])
    values = np.concatenate([row.values for row in rows])
    columns = np.concatenate([row.columns for row in rows])
    matrix = sparse.coo_array((values, (numbers, columns)), (len(rows), size)).tocsr()
    return sparse.csr_array(matrix.T @ sparse.diags_array(weights) @ matrix)


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


def _prescribed(force: CoordinateForce, time: float) -> float:
    if isinstance(force.value, Feedback):
        return 0.0
    if callable(force.value):
        return finite_number(force.value(time), "force of an element", time)
    return float(force.value)
