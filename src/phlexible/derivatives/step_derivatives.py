"""What steps do to small changes: backwards for all that a cost feels, forwards for a few parameters."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.derivatives.taken_steps import TakenSteps
from phlexible.derivatives.variations import Variation
from phlexible.errors import ModelError
from phlexible.kernels.differentiation import ADJOINT, DIRECT, differentiate
from phlexible.tables.declarations import COUNT, DIAGONAL, NEIGHBOURS, ROW, SIZE, VISIT


@dataclass(frozen=True, eq=False)
class Adjoint:
    """What a cost feels.

    Attributes:
        start: its derivative to the initial state, shape (velocities,) each.
        steps: mu of each step: dJ = mu . dF where the equations F of the step change, shape (N, unknowns).
    """

    start: Variation
    steps: Array


def adjoint(run: TakenSteps, slopes: Variation) -> Adjoint:
    """Of a cost with derivatives ``slopes`` to the states of all instants, (N + 1, velocities) each."""
    pose, velocity = slopes.pose[:, None].copy(), slopes.velocity[:, None].copy()
    steps = np.zeros((run.count, 1, run.assembly.memory.counts["unknowns"]))
    _differentiated(run, ADJOINT, pose, velocity, steps)
    return Adjoint(Variation(pose[0, 0], velocity[0, 0]), steps[:, 0])


def state_derivatives(run: TakenSteps, start: Variation, equations: Array) -> Variation:
    """d(state)/dp of all instants, each (N + 1, parameters, velocities).

    Args:
        run: the steps.
        start: of the first state, each (parameters, velocities).
        equations: dF/dp of each step at its states, shape (N, parameters, unknowns).
    """
    pose, velocity = np.zeros((2, run.count + 1, *start.pose.shape))
    pose[0], velocity[0] = start.pose, start.velocity
    _differentiated(run, DIRECT, pose, velocity, equations)
    return Variation(pose, velocity)


def _differentiated(run: TakenSteps, wanted: int, pose: Array, velocity: Array, equations: Array) -> None:
    places, counts = entries(run.assembly)
    done = differentiate(
        run.assembly.memory.header,
        np.array([run.step, run.damping, run.relaxation]),
        np.array([run.count, wanted, pose.shape[1], *counts], dtype=np.int64),
        places,
        run.states,
        run.functions.moving,
        run.functions.loads,
        pose,
        velocity,
        equations,
        np.zeros(4 * run.assembly.memory.counts["unknowns"] + 2 * len(places)),
    )
    if done < run.count:
        at = run.times[done if wanted == DIRECT else run.count - 1 - done]
        raise ModelError(
            f"the step from t = {at:.9g} s cannot be differentiated: its matrix is singular there (a joint at a"
            " dead point); end the motion before"
        )


def entries(assembly: Assembly) -> tuple[IntArray, tuple[int, int]]:
    """Places of entries of Newton's matrix as ``differentiate`` takes them, and how many each kind has."""
    memory = assembly.memory
    nv = memory.counts["velocities"]
    parts = [np.zeros((0, 3), dtype=np.int64)]
    for at in np.asarray(memory["visit"]).reshape(-1, VISIT):
        row, size = at[ROW], at[SIZE]
        parts.append(_block(at[DIAGONAL], row, row, size, size))
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            other, width = memory["neighbour_row"][i], memory["neighbour_size"][i]
            parts.append(_block(memory["upper"][i], row, other, size, width))
            parts.append(_block(memory["lower"][i], other, row, width, size))
    places = np.concatenate(parts)
    used = nv + memory.counts["dimension"] * memory.counts["auxiliaries"]
    row_is_velocity, column_is_velocity = places[:, 1] < nv, places[:, 2] < nv
    own = places[row_is_velocity & column_is_velocity]
    across = places[row_is_velocity & ~column_is_velocity & (places[:, 2] < used)]
    down = places[~row_is_velocity & (places[:, 1] < used) & column_is_velocity]
    return np.ascontiguousarray(np.concatenate([own, across, down])), (len(own), len(across))


def _block(place: int, row: int, column: int, rows: int, columns: int) -> IntArray:
    i, j = np.divmod(np.arange(rows * columns), columns)
    return np.stack([place + np.arange(rows * columns), row + i, column + j], axis=1)
