"""The kernels' residual and Newton matrix of a model as dense arrays, for tests."""

import numpy as np
from numba import njit
from phlexible.kernels.pointers import pointer_to
from phlexible.system.assembly import assemble
from phlexible.system.constraints import mechanism_layout
from phlexible.system.element_forces import element_coordinates
from phlexible.system.state import State
from phlexible.time_integration.packing import PackedSystem, pack

from phlexible.kernels import tables as at
from phlexible.kernels.step import begin_step, jacobian, residuals


@njit
def _evaluate(int_array, real_array, h, damping, with_matrix):
    ints, reals = pointer_to(int_array), pointer_to(real_array)
    begin_step(ints, reals)
    residuals(ints, reals, h, damping)
    if with_matrix:
        jacobian(ints, reals, h, damping)


class Newton:
    """Residual and matrix of one step of a mechanism from a state, at any nu_{n+1} and lambda."""

    def __init__(self, mechanism, state: State, h: float, damping: float = 0.0) -> None:
        assembly = assemble(mechanism)
        self.system: PackedSystem = pack(assembly)
        layout = mechanism_layout(mechanism)
        self.system.begin_at(state, element_coordinates(mechanism, layout, state))
        self.h, self.damping = h, damping
        ends = np.array([state.time, state.time + h])
        moving, loads = assembly.moving_values(ends), assembly.load_values(ends[:1] + h / 2)
        self.system.table(at.MOVING0, moving.shape[1])[:] = moving[0]
        self.system.table(at.MOVING1, moving.shape[1])[:] = moving[1]
        self.system.table(at.LOAD_VALUE, loads.shape[1])[:] = loads[0]
        ints = self.system.ints
        self.velocities, self.rows = int(ints[at.VELOCITIES]), int(ints[at.ROWS])
        self.unknowns, self.partners = self._split()

    def residual(self, unknowns):
        """Balances and joint functions, shape (velocities + rows,)."""
        self._evaluate(unknowns, False)
        return self.system.table(at.RESIDUAL, int(self.system.ints[at.UNKNOWNS]))[self.unknowns].copy()

    def matrix(self, unknowns):
        """Newton's matrix with the partners' means eliminated."""
        self._evaluate(unknowns, True)
        full = self._dense()
        u, p = self.unknowns, self.partners
        inner = np.linalg.solve(full[np.ix_(p, p)], full[np.ix_(p, u)])
        return full[np.ix_(u, u)] - full[np.ix_(u, p)] @ inner

    def _evaluate(self, unknowns, with_matrix):
        self.system.table(at.VELOCITY, self.velocities)[:] = unknowns[: self.velocities]
        self.system.table(at.MULTIPLIER, self.rows)[:] = unknowns[self.velocities :]
        _evaluate(self.system.ints, self.system.reals, self.h, self.damping, with_matrix)

    def _entry(self, table, k):
        ints = self.system.ints
        return int(ints[ints[table] + k])

    def _split(self):
        """Rows of velocities and multipliers, and rows of the partners' means."""
        ints = self.system.ints
        keep, partners = list(range(self.velocities)), []
        for j in range(ints[at.JOINTS]):
            row = self._entry(at.JOINT_NODE_ROW, j)
            count = self._entry(at.JOINT_ROW_START, j + 1) - self._entry(at.JOINT_ROW_START, j)
            size = self._entry(at.NODE_SIZE, int(ints[at.BODIES]) + j)
            keep += range(row, row + count)
            partners += range(row + count, row + size)
        return keep, partners

    def _dense(self):
        count = int(self.system.ints[at.UNKNOWNS])
        full = np.zeros((count, count))
        for a in range(self.system.ints[at.NODES]):
            row, n = self._entry(at.NODE_ROW, a), self._entry(at.NODE_SIZE, a)
            full[row : row + n, row : row + n] = self._block(self._entry(at.NODE_DIAGONAL, a), n, n)
            begin, end = (self._entry(at.NODE_NEIGHBOUR_START, a + i) for i in (0, 1))
            for k in range(begin, end):
                b = self._entry(at.NODE_NEIGHBOUR, k)
                column, m = self._entry(at.NODE_ROW, b), self._entry(at.NODE_SIZE, b)
                full[row : row + n, column : column + m] = self._block(self._entry(at.NODE_UPPER, k), n, m)
                full[column : column + m, row : row + n] = self._block(self._entry(at.NODE_LOWER, k), m, n)
        return full

    def _block(self, start, rows, columns):
        return self.system.reals[start : start + rows * columns].reshape(rows, columns)
