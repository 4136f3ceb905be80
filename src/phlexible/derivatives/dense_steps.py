"""Steps around contacts whose tangent Newton's method does without: derivatives by differences of the equations.

What leaves these out says so: how the place where bodies rub moves (docs/theory.md, 8; (8.28)), and contacts among
many (8.32).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.derivatives.steps import TakenSteps, constraint_rows
from phlexible.derivatives.variations import Variation, moved, moved_one, pose_sizes

MOVED = 1e-7
"""Of the largest length, in central differences of the equations of a step."""

SLIPPED = 1e-4
"""Of what slides in a step at the speed below which friction falls, where that is less."""

EXACT = 1e-6
"""Relative: how well Newton's matrix gives a difference of the equations where it is their derivative."""


UNSEEN = 1e-3
"""Of the fastest answer: slower ones are compared with it, or round-off of stiff forces would tell."""


@dataclass(frozen=True, eq=False)
class DenseStep:
    """Derivatives of the equations of one step, where the pose at its end follows from that at its start.

    Attributes:
        rows: of the equations that are no definitions of auxiliary vectors, (r,).
        unknowns: to the velocities at the end, then to multipliers, (r, r).
        pose, velocity: to those at the start, (r, velocities) each.
        turning: K (9.2), (velocities,) * 2.
    """

    rows: IntArray
    unknowns: Array
    pose: Array
    velocity: Array
    turning: Array

    def pull(self, pose: Array, velocity: Array, unknowns: int) -> tuple[Array, Array, Array]:
        """Slopes before the step, (numbers, velocities), and mu, (numbers, unknowns), of slopes after it."""
        back = pose @ self.turning
        right = np.zeros((len(self.rows), len(pose)))
        right[: pose.shape[1]] = -(velocity + back).T
        own = np.linalg.lstsq(self.unknowns.T, right, rcond=None)[0].T
        felt = np.zeros((len(pose), unknowns))
        felt[:, self.rows] = own
        return pose + own @ self.pose, back + own @ self.velocity, felt

    def push(self, pose: Array, velocity: Array, equations: Array) -> tuple[Array, Array]:
        """Changes after the step of those before it, (parameters, velocities), and of its equations."""
        missed = equations[:, self.rows] + pose @ self.pose.T + velocity @ self.velocity.T
        after = -np.linalg.lstsq(self.unknowns, missed.T, rcond=None)[0].T[:, : pose.shape[1]]
        return pose + (velocity + after) @ self.turning.T, np.asarray(after)


def dense_step(taken: TakenSteps, k: int) -> DenseStep:
    """Of step k."""
    memory, system, h = taken.assembly.memory, taken.system, float(taken.sizes[k])
    count = int(memory.counts["velocities"])
    move = _small(taken, k) * pose_sizes(system.layout, system.largest_length, memory["velocity_weight"])
    speed = 2 * move / abs(h)
    both = np.repeat(taken.states[k : k + 2][None], 6 * count + memory.counts["rows"] + 1, axis=0)
    for j in range(count):
        for s, sign in enumerate((1.0, -1.0)):
            ends, starts, poses = (memory.rows(both[2 * (place * count + j) + s]) for place in range(3))
            ends["velocity"][1, j] += sign * speed[j]
            starts["velocity"][0, j] += sign * speed[j]
            moved_one(system.layout, {n: a[:1, None] for n, a in poses.items()}, j, np.array([sign * move[j]]))
    size = float(np.abs(memory.rows(taken.states[k : k + 2])["multiplier"]).max(initial=0.0)) or 1.0
    for j in range(memory.counts["rows"]):
        memory.rows(both[6 * count + 1 + j])["multiplier"][1, j] += size
    missed = residuals_of_pairs(taken, np.full(len(both), k), both)
    sides = missed[: 6 * count].reshape(3, count, 2, -1)
    found = sides[:, :, 0] - sides[:, :, 1]
    of_forces = (missed[6 * count + 1 :] - missed[6 * count]) / size
    rows = np.concatenate([np.arange(count), constraint_rows(taken.assembly)])
    of_ends, of_starts = ((each / (2 * speed[:, None]))[:, rows].T for each in found[:2])
    of_poses = (found[2] / (2 * move[:, None]))[:, rows].T
    unknowns = np.concatenate([of_ends, of_forces[:, rows].T], axis=1)
    return DenseStep(rows, unknowns, of_poses, of_starts, turning(taken, k))


def _small(taken: TakenSteps, k: int) -> float:
    """By what poses are moved in differences in step k, relative to lengths."""
    memory = taken.assembly.memory
    rubs = np.asarray(memory["slip_points"]) > 0
    if not rubs.any():
        return MOVED
    slips = float(np.asarray(memory["friction_speed"])[rubs].min()) * abs(float(taken.sizes[k]))
    return min(MOVED, SLIPPED * slips / taken.system.largest_length)


def residuals_of_pairs(taken: TakenSteps, steps: IntArray, states: Array) -> Array:
    """What steps miss between other pairs of states, (pairs, 2, numbers); shape (pairs, unknowns)."""
    given, ends = taken.functions, np.stack([steps, steps + 1], axis=1).ravel()
    sizes, loads = np.repeat(taken.sizes[steps], 2)[:-1], np.repeat(given.loads[steps], 2, axis=0)[:-1]
    return taken.between(states.reshape(2 * len(steps), -1), sizes, given.moving[ends], loads)[::2]


def inexact_steps(taken: TakenSteps) -> set[int]:
    """Steps in which Newton's matrix misses a part of the derivative: those that rub, and where many push."""
    memory = taken.assembly.memory
    rubs = np.flatnonzero(np.asarray(memory["slip_points"]) > 0)
    found = set(np.flatnonzero(taken.rows["force"][1:, rubs].any(axis=1)).tolist())
    if memory.counts["members"]:
        found |= {k for k in range(taken.count) if k not in found and not _is_exact(taken, k)}
    return found


def _is_exact(taken: TakenSteps, k: int) -> bool:
    """Whether Newton's matrix says what differences of the equations along some way say: of velocities at the end,
    then of the pose at the start, on which directions of contacts among many depend alone."""
    memory, system = taken.assembly.memory, taken.system
    count, unknowns = int(memory.counts["velocities"]), int(memory.counts["unknowns"])
    length = pose_sizes(system.layout, system.largest_length, memory["velocity_weight"])
    way, move = np.random.default_rng(1).choice([-1.0, 1.0], count) * length, _small(taken, k)
    size = 2 * move / abs(float(taken.sizes[k]))

    def answer(pose: Array, equations: Array) -> Array:
        """Velocities at the end, by the matrix."""
        both = np.zeros((2, 2, 1, count))
        both[0, 0, 0] = pose
        taken.push_by_matrix(k, k + 1, both[0], both[1], equations[None, None])
        return np.asarray(both[1, 1, 0])

    def missed(pose: Array, velocity: Array, share: float) -> Array:
        """What the equations change by with these at the start and at the end, (unknowns,)."""
        pairs = np.repeat(taken.states[k : k + 2][None], 2, axis=0)
        for pair, sign in zip(pairs, (share, -share), strict=True):
            rows = memory.rows(pair)
            rows["velocity"][1] += sign * velocity
            first = {name: table[:1] for name, table in rows.items()}
            moved(system.layout, first, Variation(sign * pose[None], np.zeros((1, count))))
        sides = residuals_of_pairs(taken, np.array([k, k]), pairs)
        return np.asarray((sides[0] - sides[1]) / (2 * share))

    nothing = np.zeros(count)
    after = answer(nothing, missed(nothing, way, size))
    if np.abs((after + way) / length).max() > EXACT:
        return False
    after = answer(way, np.zeros(unknowns))
    left = answer(nothing, missed(way, after, move))
    most = float(np.abs(after / length).max())
    return bool((np.abs(left) <= EXACT * (np.abs(after) + UNSEEN * most * length)).all())


def turning(taken: TakenSteps, k: int) -> Array:
    """K of step k (9.2), shape (velocities,) * 2."""
    layout, h = taken.system.layout, float(taken.sizes[k])
    frame, axis, place = layout.spin
    count = int(taken.assembly.memory.counts["velocities"])
    found = 0.5 * h * np.eye(count)
    velocities, rotations = taken.rows["velocity"][k : k + 2], taken.rows["rotation"][k]
    for b in range(layout.frames):
        own = frame == b
        spin = np.zeros(3)
        spin[axis[own]] = velocities[:, place[own]].mean(axis=0)
        a = 0.5 * h * spin
        whole = 0.5 * h * rotations[b] @ (np.eye(3) + cross_matrix(a)) / (1 + a @ a)
        found[np.ix_(place[own], place[own])] = whole[np.ix_(axis[own], axis[own])]
    return found


@dataclass(frozen=True, eq=False)
class DifferentiableSteps(TakenSteps):
    """Steps with their derivatives: by Newton's matrix where that is exact, else by differences."""

    def pull(self, first: int, last: int, pose: Array, velocity: Array) -> Array:
        """Backwards from row ``last`` to ``first``: what several numbers feel of the equations (9.6).

        Args:
            first, last: rows.
            pose, velocity: slopes of the numbers at the rows, which become those of all that follows,
                (last - first + 1, numbers, velocities).

        Returns:
            mu: dJ = mu . dF where the equations F of a step change, (last - first, numbers, unknowns).

        Raises:
            ModelError: a step whose matrix is singular.
        """
        unknowns = self.assembly.memory.counts["unknowns"]
        equations = np.zeros((last - first, pose.shape[1], unknowns))
        for begin, end in reversed(self._parts(first, last)):
            a, b = begin - first, end - first
            if begin in self._dense:
                q, v, equations[a] = self._dense[begin].pull(pose[b], velocity[b], unknowns)
                pose[a] += q
                velocity[a] += v
                continue
            own = slice(a, b + 1)
            self.pull_by_matrix(begin, end, pose[own], velocity[own], equations[a:b])
        return equations

    def push(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Forwards from row ``first``, in place: how states change with several parameters (9.4).

        Args:
            first, last: rows.
            pose, velocity: the first is given, the others are found, (last - first + 1, parameters, velocities).
            equations: dF/dp at the states, (last - first, parameters, unknowns).

        Raises:
            ModelError: a step whose matrix is singular.
        """
        for begin, end in self._parts(first, last):
            a, b = begin - first, end - first
            if begin in self._dense:
                pose[b], velocity[b] = self._dense[begin].push(pose[a], velocity[a], equations[a])
            else:
                self.push_by_matrix(begin, end, pose[a : b + 1], velocity[a : b + 1], equations[a:b])

    @cached_property
    def _dense(self) -> dict[int, DenseStep]:
        """Steps whose derivative is not in Newton's matrix."""
        return {k: dense_step(self, k) for k in inexact_steps(self)}

    def _parts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Rows from ``first`` to ``last``, cut at both ends of these steps."""
        own = [k for k in self._dense if first <= k < last]
        return list(pairwise(sorted({first, last, *own, *(k + 1 for k in own)})))
