"""Stiffness and damping of force elements: ``J^T F' J + F d2 theta/dq2`` and ``d J^T J``."""

import numpy as np
from scipy import sparse

from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.curvature import BodyBlocks, add_row_curvature
from phlexible.system.element_forces import (
    SparseRow,
    combined,
    coordinate_row,
    function_row,
    function_values,
    prescribed_part,
    scalar_forces,
)
from phlexible.system.kinematics import Kinematics
from phlexible.system.state import Layout, State


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
        pull = force.conservative(theta) + prescribed_part(force, state.time)
        if not with_curvature or pull == 0:
            continue
        gradient, hessian = force.coordinate.gradient(y), force.coordinate.hessian(y)
        functions = force.coordinate.functions()
        for weight, function in zip(pull * gradient, functions, strict=True):
            add_row_curvature(total, kinematics, function, float(weight))
        slopes = [function_row(layout, kinematics, function) for function in functions]
        for value, direction in zip(*np.linalg.eigh(hessian), strict=True):
            rows.append(combined(slopes, direction))
            tangents.append(float(pull * value))
    return sparse.csr_array(total.matrix() + _weighted(layout, rows, tangents))


def element_damping(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """The damping matrix of all dampers, shape (sum of velocity counts,) * 2."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    damped = [force for force in scalar_forces(mechanism) if force.damping]
    rows = [coordinate_row(layout, kinematics, force.coordinate) for force in damped]
    return _weighted(layout, rows, [force.damping for force in damped])


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
