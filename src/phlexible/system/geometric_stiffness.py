"""How constraint forces, loads and forces of elements change as bodies move: the geometric stiffness."""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.interactions.loads import Axes, Force
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.constraints import row_owners
from phlexible.system.curvature import BodyBlocks, add_lever, add_row_curvature, lever_slope
from phlexible.system.element_stiffness import element_stiffness
from phlexible.system.kinematics import Kinematics
from phlexible.system.load_forces import body_triad, load_entries, vector_forces
from phlexible.system.state import Layout, State


def constraint_stiffness(
    mechanism: Mechanism, layout: Layout, state: State, multipliers: Array
) -> sparse.csr_array:
    """d(G^T lambda)/dq at constant multipliers, shape (sum of velocity counts,) * 2."""
    kinematics, total = Kinematics(mechanism.bodies, layout, state), BodyBlocks(layout)
    for multiplier, (_, row) in zip(multipliers, row_owners(mechanism), strict=True):
        add_row_curvature(total, kinematics, row, float(multiplier))
    return total.matrix()


def load_stiffness(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """d(applied forces)/dq, shape (sum of velocity counts,) * 2.

    Exact for gravity, forces and force elements; of moments only the turn of their levers is taken.
    """
    kinematics, total = Kinematics(mechanism.bodies, layout, state), BodyBlocks(layout)
    for index, placed in enumerate(mechanism.bodies):
        if isinstance(placed.data, AbsoluteBody):
            continue  # weight of nodes has no lever
        moments, pull = placed.data.first_moments, state.rotation[index].T @ mechanism.gravity
        center = moments @ np.concatenate([[1.0], kinematics.elastic(index)])
        total.add(index, index, lever_slope(placed.data, placed.data.mass, center, moments[:, 1:], pull))
    for load in load_entries(mechanism):
        for vector, force in vector_forces(load, kinematics, state.time):
            add_lever(total, kinematics, vector, force)
            if isinstance(load, Force) and load.axes is Axes.BODY:
                point = kinematics.motion(vector)
                assert point.body is not None, "loads act on bodies"
                parts = load.at_time(state.time)
                for direction, part in zip(body_triad(load.attachment), parts, strict=True):
                    turning = kinematics.motion(direction).jacobian
                    total.add(point.body, point.body, part * point.jacobian.T @ turning)
    return sparse.csr_array(total.matrix() + element_stiffness(mechanism, layout, state))
