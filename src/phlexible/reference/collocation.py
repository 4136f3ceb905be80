"""Collocation for port-Hamiltonian descriptor models of index 1 and 2: the reference way.

A stage i has the state X_i = x_0 + h sum_j a_ij K_j and obeys E(X_i) K_i = (J - R) z(X_i) + B u.
States whose rows and columns of E are zero are multipliers; their stage values are unknowns themselves,
so that they need no initial value, and their end value is that of the polynomial through the stages.
Gauss schemes are projected at the end of a step along the constraint forces: E dx = J mu.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array, positive
from phlexible.errors import ConvergenceError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel
from phlexible.reference.tableaux import Tableau

BoolArray = NDArray[np.bool_]
Inputs = Callable[[float, Array], Array]

ITERATIONS = 30
SLOW = 0.15
CLOSE = 1e-9
DONE = 1e-14


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States at N + 1 instants.

    Attributes:
        time: shape (N + 1,) [s].
        states: shape (N + 1, n).
    """

    time: Array
    states: Array


def collocate(
    model: PortHamiltonianModel,
    tableau: Tableau,
    initial: Array,
    duration: float,
    steps: int,
    inputs: Inputs | None = None,
    is_projected: bool = True,
) -> Trajectory:
    """Integrates from t = 0 in equal steps.

    Args:
        initial: consistent x at t = 0, shape (n,); entries of multipliers do not matter.
        inputs: u(t, x), shape (m,); None: zero.
        is_projected: False leaves out the projection of Gauss schemes (to see what it is good for).

    Raises:
        ConvergenceError: Newton's method fails in a step; take a smaller one.
    """
    step = positive("duration", duration) / steps
    u = (lambda time, x: np.zeros(model.port_size)) if inputs is None else inputs
    stage_loop = _StageLoop(model, tableau, step, u, np.asarray(initial, dtype=np.float64))
    states = [np.asarray(initial, dtype=np.float64)]
    for k in range(steps):
        end = stage_loop.advance(k * step, states[-1])
        if is_projected and not tableau.is_stiffly_accurate:
            end = stage_loop.projected((k + 1) * step, end)
        states.append(end)
    return Trajectory(step * np.arange(steps + 1, dtype=np.float64), np.array(states))


class _StageLoop:
    """One step at a time; keeps the factors of Newton's matrix as long as they are good."""

    def __init__(
        self, model: PortHamiltonianModel, tableau: Tableau, step: float, inputs: Inputs, initial: Array
    ) -> None:
        self.model, self.tableau, self.step, self.inputs = model, tableau, step, inputs
        self.is_algebraic = _empty_rows(model.descriptor_matrix(initial))
        self.solve: Callable[[Array], Array] | None = None
        self.largest = np.zeros(len(model.states))
        start = np.zeros((tableau.stages, len(initial)))
        start[:, self.is_algebraic] = initial[self.is_algebraic]
        self.unknowns = start

    def advance(self, time: float, x: Array) -> Array:
        """The state a step later, shape (n,)."""
        k = self.unknowns.copy()  # rates of the last step: the start of Newton's method
        history: list[float] = []
        for _ in range(ITERATIONS):
            is_fresh = self.solve is None
            if self.solve is None:
                self.solve = self._factors(time, x, k)
            change = self.solve(-self._residual(time, x, k).ravel()).reshape(k.shape)
            k += change
            history.append(self._size(x, k, change))
            if history[-1] <= DONE:
                break
            if len(history) > 1 and history[-1] > SLOW * history[-2]:
                if history[-1] < CLOSE:
                    break
                if not is_fresh:
                    self.solve = None
        else:
            raise ConvergenceError(
                f"{self.tableau.name} does not converge at t = {time:g} s with step {self.step:g} s; "
                "take a smaller step",
                time,
                np.array(history),
            )
        self.unknowns = k
        differential = x + self.step * self.tableau.weights @ k
        return np.asarray(np.where(self.is_algebraic, self.tableau.end_weights() @ k, differential))

    def projected(self, time: float, x: Array) -> Array:
        """The state moved along the constraint forces until the algebraic equations hold."""
        if not self.is_algebraic.any():
            return x
        moving = ~self.is_algebraic
        descriptor = _dense(self.model.descriptor_matrix(x))[np.ix_(moving, moving)]
        structure = _dense(self.model.structure_matrix(x))
        ways = np.zeros((len(x), int(self.is_algebraic.sum())))
        ways[moving] = np.linalg.solve(descriptor, structure[np.ix_(moving, self.is_algebraic)])

        def gap(shift: Array) -> Array:
            return self._forces(time, x + ways @ shift)[self.is_algebraic]

        start = gap(np.zeros(ways.shape[1]))
        slope: Array = np.column_stack([gap(unit) - start for unit in np.eye(ways.shape[1])])
        shift: Array = np.asarray(np.linalg.solve(slope, -start), dtype=np.float64)
        shift = shift - np.linalg.solve(slope, gap(shift))
        return np.asarray(x + ways @ shift)

    def _stage_states(self, x: Array, k: Array) -> Array:
        return np.asarray(np.where(self.is_algebraic, k, x + self.step * self.tableau.matrix @ k))

    def _forces(self, time: float, x: Array) -> Array:
        return self.model.forces(x, self.inputs(time, x))

    def _defect(self, time: float, x: Array, rate: Array) -> Array:
        """E dx/dt - (J - R) z - B u, shape (n,)."""
        moving = np.where(self.is_algebraic, 0.0, rate)
        return np.asarray(self.model.descriptor_matrix(x) @ moving - self._forces(time, x))

    def _residual(self, time: float, x: Array, k: Array) -> Array:
        times = time + self.step * self.tableau.nodes
        stages = zip(times, self._stage_states(x, k), k, strict=True)
        return np.array([self._defect(t, state, rate) for t, state, rate in stages])

    def _factors(self, time: float, x: Array, k: Array) -> Callable[[Array], Array]:
        """Solver of Newton's matrix at the stage states."""
        differential = sparse.diags_array((~self.is_algebraic).astype(np.float64), format="csr")
        algebraic = sparse.diags_array(self.is_algebraic.astype(np.float64), format="csr")
        times, coefficients = time + self.step * self.tableau.nodes, self.step * self.tableau.matrix
        blocks: list[list[Matrix]] = []
        states = self._stage_states(x, k)
        middle = len(k) // 2  # the slope of one stage will do for all, and costs most
        slope = self._slope(times[middle], states[middle], k[middle])
        for i, state in enumerate(states):
            row = [coefficients[i, j] * slope @ differential for j in range(len(k))]
            row[i] = row[i] + sparse.csr_array(self.model.descriptor_matrix(state)) @ differential
            row[i] = row[i] + slope @ algebraic
            blocks.append(row)
        matrix = sparse.block_array(blocks)
        if isinstance(self.model, LinearPHDAE):
            sparse_factors = splu(matrix.tocsc())
            return lambda right: np.asarray(sparse_factors.solve(right))
        dense = matrix.toarray()
        rows = 1 / np.abs(dense).max(axis=1)
        factors = lu_factor(rows[:, None] * dense)
        return lambda right: np.asarray(lu_solve(factors, rows * right))

    def _slope(self, time: float, x: Array, rate: Array) -> Matrix:
        """d(defect)/dx, shape (n, n): exact for linear models, else by differences."""
        if isinstance(self.model, LinearPHDAE):
            return -(self.model.structure - self.model.dissipation) @ self.model.effort_map
        if (exact := self.model.force_slope(x)) is not None:
            return -sparse.csr_array(exact)
        columns, here = np.zeros((len(x), len(x))), self._defect(time, x, rate)
        for block in self.model.states:
            part = self.model.state_slice(block.name)
            step = 1e-6 * max(float(np.abs(x[part]).max(initial=0.0)), 1e-3)
            for i in range(part.start, part.stop):
                shift = np.zeros(len(x))
                shift[i] = step
                columns[:, i] = (self._defect(time, x + shift, rate) - here) / step
        return sparse.csr_array(columns)

    def _size(self, x: Array, k: Array, change: Array) -> float:
        """Greatest change of the stage states, relative to the largest entry so far of its block."""
        states = self._stage_states(x, k)
        moved = self._stage_states(np.zeros_like(x), change)
        worst = 0.0
        for number, block in enumerate(self.model.states):
            part = self.model.state_slice(block.name)
            scale = max(self.largest[number], float(np.abs(states[:, part]).max(initial=0.0)))
            self.largest[number] = scale
            size = float(np.abs(moved[:, part]).max(initial=0.0))
            worst = max(worst, size / scale if scale > 0 and size > 1e-16 else 0.0)
        return worst


def _empty_rows(matrix: Matrix) -> BoolArray:
    """True where row and column are zero."""
    size = abs(matrix)
    empty: BoolArray = (np.asarray(size.sum(axis=0)) + np.asarray(size.sum(axis=1))).ravel() == 0
    return empty


def _dense(matrix: Matrix) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
