"""What a step does to small changes of its start (docs/theory.md, 9).

The kernels give for each step (9.3)

    N   dF/dnu_n+1 with q_n+1 moved along, the matrix of Newton's method, with columns of the multipliers
    N'  the same of the step taken backwards
    I, I'  both for the momenta alone at constant pose

and all derivatives of the step are sums of these, with K of dq_n+1 = dq_n + K (dnu_n + dnu_n+1) (9.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.derivatives.taken_steps import TakenSteps
from phlexible.kernels.differentiation import differentiate
from phlexible.system.layout import Layout
from phlexible.tables.declarations import COUNT, DIAGONAL, NEIGHBOURS, ROW, SIZE, VISIT

CHUNK_NUMBERS = 4_000_000
"""About this many numbers of matrices are held at a time."""


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """Matrices of k steps of one run.

    Attributes:
        first: number of the first step.
        newton: N, factored.
        reverse: N' without multipliers and rows of joints, and I + I' taken off, shape (k, velocities, velocities).
        inertia: I + I', shape (k, velocities, velocities).
        kinematics: K.
    """

    first: int
    newton: "Factors"
    reverse: Array
    inertia: Array
    kinematics: "Kinematics"

    @property
    def count(self) -> int:
        """Number k of steps."""
        return len(self.newton)


class Kinematics:
    """K = h/2 of V and deta/dt, h/2 R_n (1 + [a]) / (1 + a.a) of w in body axes, for k steps (9.2).

    Args:
        layout: of the velocities.
        rotations: R_n, shape (k, frames, 3, 3).
        half_turns: a, shape (k, frames, 3).
        step: h [s].
    """

    def __init__(self, layout: Layout, rotations: Array, half_turns: Array, step: float) -> None:
        self._half = step / 2
        frames, _, places = layout.spin
        whole = np.flatnonzero(np.bincount(frames, minlength=layout.frames) == 3)
        self._places: IntArray = np.array([places[frames == b] for b in whole], dtype=np.int64).reshape(-1, 3)
        in_plane = np.isin(frames, whole, invert=True)
        self._flat = places[in_plane]
        size = 1 + np.einsum("kfi,kfi->kf", half_turns, half_turns)
        self._share = 1 / size[:, frames[in_plane]]
        a, turned = half_turns[:, whole], rotations[:, whole]
        cross = np.zeros((*a.shape, 3))
        for i, j, l in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            cross[..., i, j], cross[..., j, i] = -a[..., l], a[..., l]
        self._turn = turned @ (np.eye(3) + cross) / size[:, whole, None, None]
        back = np.eye(3) - cross + a[..., :, None] * a[..., None, :]
        self._back = back @ np.swapaxes(turned, -1, -2)

    def forward(self, k: int, rates: Array) -> Array:
        """K x of step k, x (velocities, ...)."""
        return self._applied(self._turn[k], self._share[k], self._half, rates)

    def backward(self, k: int, pose: Array) -> Array:
        """K^-1 x."""
        return self._applied(self._back[k], 1 / self._share[k], 1 / self._half, pose)

    def forward_transposed(self, k: int, pose: Array) -> Array:
        """K^T x."""
        return self._applied(np.swapaxes(self._turn[k], -1, -2), self._share[k], self._half, pose)

    def backward_transposed(self, k: int, rates: Array) -> Array:
        """K^-T x."""
        return self._applied(np.swapaxes(self._back[k], -1, -2), 1 / self._share[k], 1 / self._half, rates)

    def _applied(self, turns: Array, shares: Array, factor: float, x: Array) -> Array:
        result = factor * x
        if len(self._places):
            own = result[self._places]
            turned = turns @ (own[..., None] if x.ndim == 1 else own)
            result[self._places] = turned[..., 0] if x.ndim == 1 else turned
        if len(self._flat):
            result[self._flat] *= shares if x.ndim == 1 else shares[:, None]
        return np.asarray(result)


class StepMatrices:
    """Makes the matrices of steps, many at a time.

    Args:
        run: the steps.
    """

    def __init__(self, run: TakenSteps) -> None:
        self._run = run
        memory = run.assembly.memory
        self._unknowns = memory.counts["unknowns"]
        self._velocities = memory.counts["velocities"]
        self._auxiliary = 3 if memory.counts["dimension"] == 3 else memory.counts["dimension"]
        self._auxiliary *= memory.counts["auxiliaries"]
        self._entries = entries(run.assembly)

    def chunks(self) -> list[slice]:
        """Steps in parts of about CHUNK_NUMBERS numbers each."""
        size = max(1, CHUNK_NUMBERS // (6 * self._unknowns**2))
        return [slice(k, min(k + size, self._run.count)) for k in range(0, self._run.count, size)]

    def forwards(self) -> Iterator[StepDerivatives]:
        """All steps, the first part first."""
        return (self.of(part) for part in self.chunks())

    def backwards(self) -> Iterator[StepDerivatives]:
        """All steps, the last part first."""
        return (self.of(part) for part in reversed(self.chunks()))

    def of(self, steps: slice) -> StepDerivatives:
        """Of some steps that follow each other."""
        nv, used = self._velocities, slice(self._velocities, self._velocities + self._auxiliary)
        newton, inertia = self._matrices(steps, False)
        reverse, own = self._matrices(steps, True)
        total = inertia + own
        back = reverse[:, :nv, :nv]
        if self._auxiliary:
            back = back - reverse[:, :nv, used] @ reverse[:, used, :nv]
        return StepDerivatives(steps.start, Factors(newton), back - total, total, self._kinematics(steps))

    def _matrices(self, steps: slice, is_reversed: bool) -> tuple[Array, Array]:
        """N (k, unknowns, unknowns) and I (k, velocities, velocities)."""
        run, n, nv = self._run, self._unknowns, self._velocities
        count, sign = steps.stop - steps.start, -1.0 if is_reversed else 1.0
        newton, inertia = np.zeros((count, n * n)), np.zeros((count, nv * nv))
        differentiate(
            run.assembly.memory.header,
            np.array([sign * run.step, sign * run.damping]),
            np.array([count, is_reversed], dtype=np.int64),
            self._entries,
            run.states[steps.start : steps.stop + 1],
            run.functions.moving[steps.start : steps.stop + 1],
            run.functions.loads[steps],
            np.zeros((count, n)),
            newton,
            inertia,
        )
        return newton.reshape(count, n, n), inertia.reshape(count, nv, nv)

    def _kinematics(self, steps: slice) -> Kinematics:
        run, layout = self._run, self._run.system.layout
        velocity = run.rows["velocity"]
        frame, axis, place = layout.spin
        half_turns = np.zeros((steps.stop - steps.start, layout.frames, 3))
        ends = slice(steps.start + 1, steps.stop + 1)
        half_turns[:, frame, axis] = run.step / 4 * (velocity[steps][:, place] + velocity[ends][:, place])
        return Kinematics(layout, run.rows["rotation"][steps], half_turns, run.step)


def entries(assembly: Assembly) -> IntArray:
    """Of each entry of Newton's matrix its places in the blocks, in the matrix, and among velocities or -1."""
    memory = assembly.memory
    n, nv = memory.counts["unknowns"], memory.counts["velocities"]
    parts = [np.zeros((3, 0), dtype=np.int64)]
    for at in np.asarray(memory["visit"]).reshape(-1, VISIT):
        row, size = at[ROW], at[SIZE]
        parts.append(_block(row, row, size, size, at[DIAGONAL]))
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            other, width = memory["neighbour_row"][i], memory["neighbour_size"][i]
            parts.append(_block(row, other, size, width, memory["upper"][i]))
            parts.append(_block(other, row, width, size, memory["lower"][i]))
    rows, columns, places = np.concatenate(parts, axis=1)
    own = np.where((rows < nv) & (columns < nv), rows * nv + columns, -1)
    return np.stack([places, rows * n + columns, own], axis=1)


def _block(row: int, column: int, rows: int, columns: int, place: int) -> IntArray:
    i, j = np.divmod(np.arange(rows * columns), columns)
    return np.stack([row + i, column + j, place + np.arange(rows * columns)])


class Factors:
    """LU of matrices whose rows and columns have different units.

    Args:
        matrices: shape (k, n, n).
    """

    def __init__(self, matrices: Array) -> None:
        self._rows = 1 / np.abs(matrices).max(axis=2)
        scaled = matrices * self._rows[:, :, None]
        self._columns = 1 / np.abs(scaled).max(axis=1)
        scaled *= self._columns[:, None, :]
        self._factors = [dgetrf(matrix.T, overwrite_a=True)[:2] for matrix in scaled]  # of the transposed

    def __len__(self) -> int:
        return len(self._factors)

    def solve(self, k: int, right: Array) -> Array:
        """x with matrix k times x = right, shape (n,) or (n, columns)."""
        rows, columns = self._rows[k], self._columns[k]
        if right.ndim == 2:
            rows, columns = rows[:, None], columns[:, None]
        return np.asarray(columns * dgetrs(*self._factors[k], rows * right, trans=1)[0])

    def solve_transposed(self, k: int, right: Array) -> Array:
        """x with the transposed matrix k times x = right, shape (n,)."""
        return np.asarray(self._rows[k] * dgetrs(*self._factors[k], self._columns[k] * right)[0])
