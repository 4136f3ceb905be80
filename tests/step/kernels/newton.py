"""Residual and Newton's matrix of one step as dense arrays, straight from the kernels, for tests."""

import numpy as np

from phlexible.state.layout import State
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.integration.stored_rows import set_branches
from phlexible.step.kernels.ledger import energies_balance
from phlexible.step.kernels.many.pairs_in_matrix import correct_for_pairs
from phlexible.step.kernels.solver.elimination import eliminate, substitute, transpose_matrix
from phlexible.step.kernels.step import begin_step, jacobian, residuals

RESIDUAL, MATRIX, SOLUTION, LEDGER, TRANSPOSED, RELAXED = range(6)
RELAXATION = 1e-9


@entry_point
def evaluate(header, h, damping, wanted):
    """The tables at velocity1 and multiplier1; False where a node is singular or the ledger does not close."""
    t = tables_at(header)
    begin_step(t)
    residuals(t, h, damping)
    if wanted == LEDGER:
        return energies_balance(t, h, damping, 0.0, False, 1.0)
    if wanted != RESIDUAL:
        jacobian(t, h, damping)
    if wanted == RELAXED:
        return eliminate(t, RELAXATION)
    if wanted in (SOLUTION, TRANSPOSED):
        if wanted == TRANSPOSED:
            transpose_matrix(t)
        if not eliminate(t, 0.0):
            return False
        substitute(t, t.residual, 1)
        if wanted == SOLUTION:
            correct_for_pairs(t, t.residual)
    return True


class Newton:
    """One step of a mechanism from a state, at any nu_{n+1} and multipliers."""

    def __init__(self, mechanism, state: State, h: float, damping: float = 0.0) -> None:
        self.assembly: Assembly = assemble(system_of(mechanism))
        self.h, self.damping, self.memory = h, damping, self.assembly.memory
        self.begin(state)
        ends = np.array([state.time, state.time + h])
        moving, loads = self.assembly.moving_values(ends), self.assembly.load_values(ends[:1] + h / 2)
        self.memory["moving0"][:], self.memory["moving1"][:] = moving.reshape(2, -1, 3)
        self.memory["load_value"][:] = loads.reshape(-1, 3)
        counts = self.memory.counts
        self.velocities, self.rows = counts["velocities"], counts["rows"]
        first = counts["unknowns"] - self.rows
        self.unknowns = np.r_[: self.velocities, first : counts["unknowns"]]
        self.auxiliaries = np.arange(self.velocities, first)

    def begin(self, state: State) -> None:
        memory, thetas = self.memory, self.assembly.initial_thetas(state)
        memory["position"][:], memory["rotation"][:] = state.position, state.rotation
        memory["eta"][:], memory["velocity"][:] = state.eta, state.velocity
        memory["theta"][: len(thetas)] = thetas
        set_branches(memory, state.branches)

    def residual(self, unknowns):
        """Balances and gaps over h, shape (velocities + rows,)."""
        self._evaluate(unknowns, RESIDUAL)
        return self.memory["residual"][self.unknowns].copy()

    def matrix(self, unknowns):
        """Newton's matrix with the auxiliaries eliminated."""
        self._evaluate(unknowns, MATRIX)
        full = self._dense()
        u, p = self.unknowns, self.auxiliaries
        inner = np.linalg.solve(full[np.ix_(p, p)], full[np.ix_(p, u)])
        return full[np.ix_(u, u)] - full[np.ix_(u, p)] @ inner

    def solution(self, unknowns, is_transposed=False):
        """matrix^-1 residual, or matrix^-T residual, by the block elimination; of pairs among many too."""
        assert self._evaluate(unknowns, TRANSPOSED if is_transposed else SOLUTION)
        return self.memory["residual"][self.unknowns].copy()

    def relaxations(self, unknowns):
        """What elimination adds to the diagonals of constraints, of each row."""
        assert self._evaluate(unknowns, RELAXED)
        return self.memory["row_relaxation"][self.memory["row_unknown"]]

    def energies_balance(self, unknowns) -> bool:
        return self._evaluate(unknowns, LEDGER)

    def _evaluate(self, unknowns, wanted) -> bool:
        self.memory["velocity1"][:], self.memory["multiplier1"][:] = np.split(unknowns, [self.velocities])
        return bool(evaluate(self.memory.header, self.h, self.damping, wanted))

    def _dense(self):
        m = self.memory
        full = np.zeros((m.counts["unknowns"],) * 2)
        for visit, a in enumerate(m["visit_node"]):
            begin, end = m["neighbours_begin"][visit : visit + 2]
            own = slice(m["visit_row"][visit], m["visit_row"][visit] + m["visit_size"][visit])
            is_frame = a < m.counts["frames"]
            full[own, own] = self._frame(a) if is_frame else self._block(m["visit_diagonal"][visit], own, own)
            for k in range(begin, end):
                other = slice(m["neighbour_row"][k], m["neighbour_row"][k] + m["neighbour_size"][k])
                full[own, other] = self._block(m["upper"][k], own, other)
                full[other, own] = self._block(m["lower"][k], other, own)
        return full

    def _frame(self, b):
        """The block of a frame, with y of its border eliminated where it has segments."""
        m, kind = self.memory, int(self.memory["type_of"][b])
        rigid, n, blocks = int(m["rigid_of"][b]), int(m["elastic_count"][kind]), m["blocks"]
        first, count = int(m["segments_begin"][kind]), int(m["segments_count"][kind])
        border = rigid + (self.assembly.system.dimension if count else 0)
        full = np.zeros((n + border, n + border))  # eta, then V, w and y
        for k in range(border):
            corner = m["node_diagonal"][b] + k * m["corner_stride"][b]
            bottom = m["bottom"][b] + k * m["bottom_stride"][b]
            full[n + k, n:] = blocks[corner : corner + border]
            full[n + k, :n] = blocks[bottom : bottom + n]
        ends = np.cumsum(m["segment_rows"][first : first + count]) if count else np.array([n])
        for i in range(n):
            own = int(np.searchsorted(ends, i, side="right"))
            low, high = ends[own - 2] if own > 1 else 0, ends[min(own + 1, len(ends) - 1)]
            line, side = m["line"][m["elastic_begin"][b] + i], m["side"][b] + i * m["side_stride"][b]
            full[i, low:high] = blocks[line + low : line + high]
            full[i, n:] = blocks[side : side + border]
        order = np.r_[n : n + rigid, :n]
        y = slice(n + rigid, n + border)
        inner = np.linalg.solve(full[y, y], full[y][:, order])
        return full[np.ix_(order, order)] - full[order, y] @ inner

    def _block(self, start, rows, columns):
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        return self.memory["blocks"][start : start + shape[0] * shape[1]].reshape(shape)


def largest_slope_error(newton: Newton, unknowns) -> float:
    """Difference of the matrix from the derivative of the residual by dual numbers, relative to each column."""
    memory, count = newton.memory, newton.velocities
    pair = np.stack([memory.state] * 2)
    directions = np.zeros((len(unknowns), *pair.shape))
    ends, along = memory.rows(pair[1:]), memory.rows(directions[:, 1])
    ends["velocity"][0], ends["multiplier"][0] = np.split(unknowns, [count])
    along["velocity"][:count], along["multiplier"][count:] = np.eye(count), np.eye(newton.rows)
    moving, loads = np.stack([memory["moving0"], memory["moving1"]]), memory["load_value"]
    equations = StepEquations(memory, newton.damping)
    exact = equations.derivative(pair, newton.h, moving, loads, directions)[0][:, newton.unknowns].T
    scale = np.abs(exact).max(axis=0) + 1e-6 * np.abs(exact).max()
    return float((np.abs(exact - newton.matrix(unknowns)) / scale).max())
