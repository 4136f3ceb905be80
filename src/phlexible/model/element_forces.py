"""Force elements in one state: their coordinates, forces on velocities, stiffness and damping.

Reference form in NumPy of what ``kernels/forces.py`` does over a step. A force F along theta(y(q)) acts as
``J^T F`` with ``J = d theta/dq = sum_r theta_r dy_r/dq``; its derivative by q is ``J^T F' J + F d2 theta/dq2``.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.joints.bilinear import Row
from phlexible.joints.coordinates import Coordinate
from phlexible.joints.feedback import Feedback
from phlexible.joints.force_elements import CoordinateForce
from phlexible.joints.time_paths import finite_number
from phlexible.model.curvature import BodyBlocks, add_row_curvature
from phlexible.model.kinematics import Kinematics
from phlexible.model.mechanism import Mechanism
from phlexible.model.state import Layout, State


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
        row, drift = coordinate_row(layout, kinematics, force.coordinate)
        rate = row @ state.velocity + drift
        total = force.conservative(theta) - force.damping * rate + _prescribed(force, state.time)
        result += row * total
    return result


def element_stiffness(
    mechanism: Mechanism, layout: Layout, state: State, with_curvature: bool = True
) -> sparse.csr_array:
    """d(element forces)/dq at constant velocities; without curvature only ``J^T F' J``."""
    kinematics, total = Kinematics(mechanism.bodies, layout, state), BodyBlocks(layout)
    rows, tangents = [], []
    for force in scalar_forces(mechanism):
        y = function_values(kinematics, force.coordinate)
        theta = force.coordinate.value(y)
        rows.append(coordinate_row(layout, kinematics, force.coordinate)[0])
        tangents.append(force.tangent(theta))
        pull = force.conservative(theta) + _prescribed(force, state.time)
        if not with_curvature or pull == 0:
            continue
        gradient, hessian = force.coordinate.gradient(y), force.coordinate.hessian(y)
        functions = force.coordinate.functions()
        for weight, function in zip(pull * gradient, functions, strict=True):
            add_row_curvature(total, kinematics, function, float(weight))
        if hessian.any():
            slopes = [function_row(layout, kinematics, function)[0] for function in functions]
            for r, s in np.ndindex(*hessian.shape):
                rows += [slopes[r] + slopes[s], slopes[r] - slopes[s]]
                tangents += [0.25 * pull * hessian[r, s], -0.25 * pull * hessian[r, s]]
    if not rows:
        return total.matrix()
    slopes_matrix = sparse.csr_array(np.array(rows))
    return sparse.csr_array(total.matrix() + slopes_matrix.T @ sparse.diags_array(tangents) @ slopes_matrix)


def element_damping(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """The damping matrix of all dampers, shape (sum of velocity counts,) * 2."""
    kinematics = Kinematics(mechanism.bodies, layout, state)
    damped = [force for force in scalar_forces(mechanism) if force.damping]
    size = int(layout.velocity[-1])
    if not damped:
        return sparse.csr_array((size, size))
    rows = sparse.csr_array(
        np.array([coordinate_row(layout, kinematics, force.coordinate)[0] for force in damped])
    )
    return sparse.csr_array(rows.T @ sparse.diags_array([force.damping for force in damped]) @ rows)


def coordinate_row(layout: Layout, kinematics: Kinematics, coordinate: Coordinate) -> tuple[Array, float]:
    """J and what moving frames add: d theta/dt = J nu + drift."""
    gradient = coordinate.gradient(function_values(kinematics, coordinate))
    parts = [function_row(layout, kinematics, function) for function in coordinate.functions()]
    row = sum(
        (weight * part[0] for weight, part in zip(gradient, parts, strict=True)),
        np.zeros(int(layout.velocity[-1])),
    )
    return row, float(sum(weight * part[1] for weight, part in zip(gradient, parts, strict=True)))


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


def function_row(layout: Layout, kinematics: Kinematics, function: Row) -> tuple[Array, float]:
    """dy/dnu and the explicit rate of one bilinear function."""
    row, drift = np.zeros(int(layout.velocity[-1])), 0.0
    for term in function.terms:
        a, b = kinematics.motion(term.first), kinematics.motion(term.second)
        for moving, partner in ((a, b), (b, a)):
            pull = term.coefficient * partner.value
            drift += float(pull @ moving.rate)
            if moving.body is not None:
                begin, end = layout.velocity[moving.body : moving.body + 2]
                row[begin:end] += pull @ moving.jacobian
    return row, drift


def _prescribed(force: CoordinateForce, time: float) -> float:
    if isinstance(force.value, Feedback):
        return 0.0
    if callable(force.value):
        return finite_number(force.value(time), "force of an element", time)
    return float(force.value)
