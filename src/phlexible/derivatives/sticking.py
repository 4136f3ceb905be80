"""Steps with friction that sticks: derivatives by differences of the equations (docs/theory.md, 8; (8.44)).

What a bristle keeps from step to step, z and the normal of its surface, are states beside the pose and nu, as is
the speed that a contact with restitution remembers:

    F(q_n, nu_n, nu_n+1, lambda; z_n) = 0,    z_n+1 = Z(q_n, nu_n, nu_n+1, lambda; z_n)

Neither is linear in any of them, and a step from the new state to the old one is another one: what sticks is bent
from where it was. Whether a bristle slipped in the step before, by which static friction acts, stays as it was.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.derivatives.dense_steps import constraint_rows, residuals_of_pairs, turning
from phlexible.derivatives.fading import strain_places, strains_after
from phlexible.derivatives.steps import TakenSteps
from phlexible.derivatives.variations import moved_one, pose_sizes
from phlexible.step.tables.declarations import ANGLE, BRISTLE

MOVED = 1e-7
"""Of the largest length, in central differences."""

BENT = 1e-4
"""Of the way, or the angle, that bristles are bent by in a run, where that is less."""

TOGETHER = 32
"""Steps that are differentiated at a time."""

TURNED = 1e-6
"""By what normals, of length 1, are moved."""


@dataclass(frozen=True, eq=False)
class StickingStep:
    """Derivatives of the equations of one step, and of the strains at its end.

    Attributes:
        rows: of the equations that are no definitions of auxiliary vectors, (r,).
        equations: to the velocities at the end and multipliers, (r, r), to the pose and to the velocities at the
            start, (r, velocities) each, and to the strains there, (r, strains).
        strains: to the same, of the strains at the end.
        turning: K (9.2), (velocities,) * 2.
    """

    rows: IntArray
    equations: tuple[Array, ...]
    strains: tuple[Array, ...]
    turning: Array

    def pull(self, pose: Array, velocity: Array, kept: Array, unknowns: int) -> tuple[Array, Array, Array, Array]:
        """What is felt of pose, velocities and strains before the step, and mu (unknowns,), of that after it."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        back = pose @ self.turning
        felt = kept @ end
        felt[: len(pose)] += velocity + back
        own = -np.linalg.lstsq(of_end.T, felt, rcond=None)[0]
        mu = np.zeros(unknowns)
        mu[self.rows] = own
        return (
            pose + own @ of_pose + kept @ by_pose,
            back + own @ of_start + kept @ by_start,
            own @ of_strains + kept @ by_strains,
            mu,
        )

    def push(self, pose: Array, velocity: Array, kept: Array, equations: Array) -> tuple[Array, Array, Array]:
        """Changes after the step of those before it, (parameters, .) each, and of its equations."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        missed = equations[:, self.rows] + pose @ of_pose.T + velocity @ of_start.T + kept @ of_strains.T
        moved = -np.asarray(np.linalg.lstsq(of_end, missed.T, rcond=None)[0].T, dtype=np.float64)
        after: Array = moved[:, : pose.shape[1]]
        strains = moved @ end.T + pose @ by_pose.T + velocity @ by_start.T + kept @ by_strains.T
        return pose + (velocity + after) @ self.turning.T, after, strains


def sticks(taken: TakenSteps) -> bool:
    """Whether there is friction that sticks, or a contact that remembers how fast bodies met."""
    return taken.assembly.memory.counts["bristles"] + taken.assembly.memory.counts["impacts"] > 0


class StickingSteps:
    """Steps with friction that sticks, some of which are differentiated at a time.

    Args:
        taken: the steps.
    """

    def __init__(self, taken: TakenSteps) -> None:
        self._taken = taken
        self._first = 0
        self._found: list[StickingStep] = []

    def __getitem__(self, k: int) -> StickingStep:
        """Step k; steps one after the other, either way, are found together."""
        if not self._first <= k < self._first + len(self._found):
            self._first = TOGETHER * (k // TOGETHER)
            self._found = sticking_steps(self._taken, self._first, min(self._first + TOGETHER, self._taken.count))
        return self._found[k - self._first]


def sticking_steps(taken: TakenSteps, first: int, last: int) -> list[StickingStep]:
    """Of the steps between two rows."""
    memory, system = taken.assembly.memory, taken.system
    count, places = int(memory.counts["velocities"]), strain_places(taken.assembly)
    move = _small(taken) * pose_sizes(system.layout, system.largest_length, memory["velocity_weight"])
    largest = float(np.abs(taken.rows["multiplier"]).max(initial=0.0)) or 1.0
    forces = np.full(memory.counts["rows"], MOVED * largest)
    speed = 2 * move / float(np.abs(taken.sizes[first:last]).max())
    sizes = np.concatenate([speed, forces, move, speed, _small_strains(taken)])
    ends = np.cumsum([count, len(forces), count, count])
    steps, width = last - first, 2 * len(sizes)
    both = np.stack([taken.states[first:last], taken.states[first + 1 : last + 1]], axis=1)
    pairs = np.repeat(both[:, None], width, axis=1)
    for j, size in enumerate(sizes.tolist()):
        kind = int(np.searchsorted(ends, j, "right"))
        place = j - int(ends[kind - 1]) if kind else j
        for side, change in enumerate((size, -size)):
            starts, stops = (pairs[:, 2 * j + side, end] for end in (0, 1))
            if kind < 2:
                memory.rows(stops)["multiplier" if kind else "velocity"][:, place] += change
            elif kind == 2:
                own = {name: table[:, None] for name, table in memory.rows(starts).items()}
                moved_one(system.layout, own, place, np.array([change]))
            elif kind == 3:
                memory.rows(starts)["velocity"][:, place] += change
            else:
                starts[:, places[place]] += change
    pairs, numbers = pairs.reshape(steps * width, 2, -1), np.repeat(np.arange(first, last), width)
    missed = residuals_of_pairs(taken, numbers, pairs)
    rows = np.concatenate([np.arange(count), constraint_rows(taken.assembly)])
    parts = []
    for values in (missed[:, rows], _strains_of_pairs(taken, numbers, pairs)):
        sides = values.reshape(steps, len(sizes), 2, -1)
        slopes = ((sides[:, :, 0] - sides[:, :, 1]) / (2 * sizes[:, None])).transpose(0, 2, 1)
        parts.append(np.split(slopes, ends[1:], axis=2))
    return [
        StickingStep(rows, tuple(p[k] for p in parts[0]), tuple(p[k] for p in parts[1]), turning(taken, first + k))
        for k in range(steps)
    ]


def _strains_of_pairs(taken: TakenSteps, steps: IntArray, pairs: Array) -> Array:
    """Strains after steps between other states, (pairs, 2, numbers); shape (pairs, strains)."""
    ends = np.stack([steps, steps + 1], axis=1).ravel()
    sizes, states = np.repeat(taken.sizes[steps], 2)[:-1], pairs.reshape(len(ends), -1)
    return strains_after(taken.assembly, states, sizes, taken.functions.moving[ends])[::2]


def _bent(taken: TakenSteps) -> Array:
    """How far each bristle is bent in the run, at most, (bristles,)."""
    numbers = taken.rows["bristle"].reshape(len(taken.states), -1, BRISTLE)
    return np.asarray(np.linalg.norm(numbers[:, :, :3], axis=2).max(axis=0))


def _bendable(taken: TakenSteps) -> Array:
    """How far each bristle could be bent: by a radian where it turns, else by a length, (bristles,)."""
    memory = taken.assembly.memory
    found = np.full(memory.counts["bristles"], taken.system.largest_length)
    turns = np.asarray(memory["coordinate_of"])[memory.counts["constraints"] :] == ANGLE
    own = np.concatenate(
        [np.asarray(memory["bristle_of"])[turns], memory["rolling_of"], memory["drilling_of"]]
    ).astype(np.int64)
    found[own[own >= 0]] = 1.0
    return found


def _small(taken: TakenSteps) -> float:
    """By what poses are moved, relative to lengths, and to a radian where they turn."""
    shares = _bent(taken) / _bendable(taken)
    return min(MOVED, BENT * float(shares[shares > 0].min(initial=np.inf)))


def _small_strains(taken: TakenSteps) -> Array:
    """By what strains are moved, those of branches by what they come to, (strains,)."""
    places = strain_places(taken.assembly)
    sizes = np.zeros(taken.states.shape[1])
    reached = np.abs(taken.states).max(axis=0)
    sizes[places] = MOVED * np.where(reached[places] > 0, reached[places], 1.0)
    own = taken.assembly.memory.rows(sizes[None])["bristle"].reshape(-1, BRISTLE)
    own[:, :3] = BENT * np.where(_bent(taken) > 0, _bent(taken), _bendable(taken))[:, None]
    own[:, 3:] = TURNED
    return sizes[places]
