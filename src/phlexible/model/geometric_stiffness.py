"""How the generalized forces J^T f of constant world forces change as bodies move.

``dq = (dr, dtheta, deta)`` moves a body by (r + R dr, R exp(dtheta), eta + deta), in the components
of nu. With ``phi = R^T f`` and ``J = R [I, -[rho], P]``::

    d(R^T f) = [phi] dtheta,   d(rho x R^T f) = [rho][phi] dtheta - [phi] P deta,
    d(P^T R^T f) = P^T [phi] dtheta
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.joints.bilinear import Vector
from phlexible.joints.loads import Axes, Force
from phlexible.model.constraints import row_owners
from phlexible.model.kinematics import Kinematics, kept_columns
from phlexible.model.load_forces import body_triad, vector_forces
from phlexible.model.mechanism import Mechanism
from phlexible.model.state import Layout, State


def constraint_stiffness(
    mechanism: Mechanism, layout: Layout, state: State, multipliers: Array
) -> sparse.csr_array:
    """d(G^T lambda)/dq at constant multipliers, shape (sum of velocity counts,) * 2."""
    kinematics, total = Kinematics(mechanism.bodies, layout, state), _Blocks(layout)
    for multiplier, (_, row) in zip(multipliers, row_owners(mechanism), strict=True):
        for term in row.terms:
            force = term.coefficient * multiplier
            a, b = kinematics.motion(term.first), kinematics.motion(term.second)
            _add_lever(total, kinematics, term.first, force * b.value)
            _add_lever(total, kinematics, term.second, force * a.value)
            if a.body is not None and b.body is not None:
                coupling = force * (sparse.csr_array(a.jacobian).T @ sparse.csr_array(b.jacobian))
                total.add(a.body, b.body, coupling)
                total.add(b.body, a.body, coupling.T)
    return total.matrix()


def load_stiffness(mechanism: Mechanism, layout: Layout, state: State) -> sparse.csr_array:
    """d(applied forces)/dq, shape (sum of velocity counts,) * 2.

    Exact for gravity and forces; of moments only the turn of their levers is taken.
    """
    kinematics, total = Kinematics(mechanism.bodies, layout, state), _Blocks(layout)
    for index, placed in enumerate(mechanism.bodies):
        if isinstance(placed.data, AbsoluteBody):
            continue  # weight of nodes has no lever
        moments, pull = placed.data.first_moments, state.rotation[index].T @ mechanism.gravity
        center = moments @ np.concatenate([[1.0], kinematics.elastic(index)])
        total.add(index, index, lever_slope(placed.data, placed.data.mass, center, moments[:, 1:], pull))
    for load in mechanism.loads:
        for vector, force in vector_forces(load, kinematics, state.time):
            _add_lever(total, kinematics, vector, force)
            if isinstance(load, Force) and load.axes is Axes.BODY:
                point = kinematics.motion(vector)
                assert point.body is not None, "loads act on bodies"
                parts = load.at_time(state.time)
                for direction, part in zip(body_triad(load.attachment), parts, strict=True):
                    turning = kinematics.motion(direction).jacobian
                    total.add(point.body, point.body, part * point.jacobian.T @ turning)
    return total.matrix()


def lever_slope(body: FloatingBody, weight: float, place: Array, shapes: Array, force_body: Array) -> Array:
    """d(J^T f)/dq of one force, given in body axes; ``weight`` times its resultant acts on v.

    Returns shape (velocity_count,) * 2; place rho (3,), shapes P (3, n).
    """
    turned = cross_matrix(force_body)
    full = np.zeros((6 + body.elastic_count,) * 2)
    full[:3, 3:6] = weight * turned
    full[3:6, 3:6] = cross_matrix(place) @ turned
    full[3:6, 6:] = -turned @ shapes
    full[6:, 3:6] = shapes.T @ turned
    kept = kept_columns(body)
    return full[np.ix_(kept, kept)]


class _Blocks:
    """A sum of blocks over pairs of bodies."""

    def __init__(self, layout: Layout) -> None:
        self._offsets = layout.velocity
        self._blocks: list[tuple[int, int, sparse.coo_array]] = []

    def add(self, row: int, column: int, block: Array | sparse.sparray) -> None:
        self._blocks.append((row, column, sparse.coo_array(block)))

    def matrix(self) -> sparse.csr_array:
        size = int(self._offsets[-1])
        if not self._blocks:
            return sparse.csr_array((size, size))
        values = np.concatenate([block.data for _, _, block in self._blocks])
        rows = np.concatenate([block.row + self._offsets[row] for row, _, block in self._blocks])
        columns = np.concatenate([block.col + self._offsets[column] for _, column, block in self._blocks])
        return sparse.coo_array((values, (rows, columns)), (size, size)).tocsr()


def _add_lever(total: _Blocks, kinematics: Kinematics, vector: Vector, force: Array) -> None:
    carried = kinematics.carried(vector)
    if carried is not None:
        index, weight, place, shapes = carried
        body, rotation = kinematics.body(index)
        if isinstance(body, AbsoluteBody):
            return
        total.add(index, index, lever_slope(body, weight, place, shapes, rotation.T @ force))
