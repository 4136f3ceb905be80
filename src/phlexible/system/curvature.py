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
from phlexible.interactions.bilinear import Row, Vector
from phlexible.system.constraints import current_coefficient
from phlexible.system.kinematics import Kinematics, kept_columns
from phlexible.system.state import Layout


class BodyBlocks:
    """A sum of blocks over pairs of bodies."""

    def __init__(self, layout: Layout) -> None:
        self._offsets = layout.velocity
        self._blocks: list[tuple[int, int, sparse.coo_array]] = []

    def add(self, row: int, column: int, block: Array | sparse.sparray) -> None:
        """Adds a block at a pair of bodies."""
        self._blocks.append((row, column, sparse.coo_array(block)))

    def matrix(self) -> sparse.csr_array:
        """The sum, shape (sum of velocity counts,) * 2."""
        size = int(self._offsets[-1])
        if not self._blocks:
            return sparse.csr_array((size, size))
        values = np.concatenate([block.data for _, _, block in self._blocks])
        rows = np.concatenate([block.row + self._offsets[row] for row, _, block in self._blocks])
        columns = np.concatenate([block.col + self._offsets[column] for _, column, block in self._blocks])
        return sparse.coo_array((values, (rows, columns)), (size, size)).tocsr()


def add_row_curvature(total: BodyBlocks, kinematics: Kinematics, row: Row, multiplier: float) -> None:
    """Adds multiplier * d2g/dq2 of one function."""
    for term in row.terms:
        force = current_coefficient(term, kinematics.time) * multiplier
        a, b = kinematics.motion(term.first), kinematics.motion(term.second)
        add_lever(total, kinematics, term.first, force * b.value)
        add_lever(total, kinematics, term.second, force * a.value)
        if a.body is not None and b.body is not None:
            coupling = force * (sparse.csr_array(a.jacobian).T @ sparse.csr_array(b.jacobian))
            total.add(a.body, b.body, coupling)
            total.add(b.body, a.body, coupling.T)


def add_lever(total: BodyBlocks, kinematics: Kinematics, vector: Vector, force: Array) -> None:
    """Adds how ``J^T force`` of one vector turns with its body."""
    carried = kinematics.carried(vector)
    if carried is not None:
        index, weight, place, shapes = carried
        body, rotation = kinematics.body(index)
        if isinstance(body, AbsoluteBody):
            return
        total.add(index, index, lever_slope(body, weight, place, shapes, rotation.T @ force))


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
