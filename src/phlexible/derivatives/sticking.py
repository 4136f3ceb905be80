"""Steps with friction that sticks: derivatives by differences of the equations (docs/theory.md, 8; (8.44)).

What a bristle keeps from step to step, z and the normal of its surface, are states beside the pose and nu, as is
the speed that a contact with restitution remembers:

    F(q_n, nu_n, nu_n+1, lambda; z_n) = 0,    z_n+1 = Z(q_n, nu_n, nu_n+1, lambda; z_n)

Neither is linear in any of them, and a step from the new state to the old one is another one: what sticks is bent
from where it was. Whether a bristle slipped in the step before, by which static friction acts, stays as it was.
Of pairs among many z has the rows of those that touch: which pair is in which row, at both ends, is the step's own.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.derivatives.dense_steps import residuals_of_pairs, turning
from phlexible.derivatives.fading import pair_numbers, strain_places, strains_after
from phlexible.derivatives.steps import TakenSteps, constraint_rows
from phlexible.derivatives.variations import moved_one, pose_sizes
from phlexible.step.tables.declarations import ANGLE, BRISTLE, DRILLED, PAIR, TURN

MOVED = 1e-7
"""Of the largest length, in central differences."""

BENT = 3e-4
"""Of the way, or the angle, that bristles are bent by in a run, where that is less."""

SLIGHT = 1e-4
"""Of a length or a radian: what is bent by less is moved as if it were bent so far, or round-off would tell."""

SHORTER = {0.1: 1e-6, 0.01: 1e-6, 1e-3: 1e-2}
"""Parts of differences with a kink between their sides that are taken again; where they differ by more than such a
share they count: the shorter, the more round-off they have."""

KINKED = 1e-3
"""Of a difference: how much even part it has without a kink."""

TOLD = 1e-6
"""Of the greatest difference: smaller ones are not told from round-off."""

TOGETHER = 32
"""Steps that are differentiated at a time, at most."""

MOST_NUMBERS = 4_000_000
"""Of the states of which they are made differences at a time."""

TURNED = 1e-6
"""By what normals, of length 1, are moved."""


@dataclass(frozen=True, eq=False)
class StickingStep:
    """Derivatives of the equations of one step, and of the strains at its end.

    Attributes:
        rows: of the equations that are no definitions of auxiliary vectors, (r,).
        known: among all strains, those that are something at one of its ends, (strains,); pairs come and go.
        equations: to the velocities at the end and multipliers, (r, r), to the pose and to the velocities at the
            start, (r, velocities) each, and to the strains there, (r, strains).
        strains: to the same, of the strains at the end.
        turning: K (9.2), (velocities,) * 2.
    """

    rows: IntArray
    known: IntArray
    equations: tuple[Array, ...]
    strains: tuple[Array, ...]
    turning: Array

    def pull(self, pose: Array, velocity: Array, kept: Array, unknowns: int) -> tuple[Array, Array, Array, Array]:
        """What is felt of pose, velocities and strains before the step, and mu (unknowns,), of that after it."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        back = pose @ self.turning
        after = kept[self.known]
        felt = after @ end
        felt[: len(pose)] += velocity + back
        own = -np.linalg.lstsq(of_end.T, felt, rcond=None)[0]
        mu = np.zeros(unknowns)
        mu[self.rows] = own
        before = np.zeros_like(kept)
        before[self.known] = own @ of_strains + after @ by_strains
        return pose + own @ of_pose + after @ by_pose, back + own @ of_start + after @ by_start, before, mu

    def push(self, pose: Array, velocity: Array, kept: Array, equations: Array) -> tuple[Array, Array, Array]:
        """Changes after the step of those before it, (parameters, .) each, and of its equations."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        before, strains = kept[:, self.known], np.zeros_like(kept)
        missed = equations[:, self.rows] + pose @ of_pose.T + velocity @ of_start.T + before @ of_strains.T
        moved = -np.asarray(np.linalg.lstsq(of_end, missed.T, rcond=None)[0].T, dtype=np.float64)
        after: Array = moved[:, : pose.shape[1]]
        strains[:, self.known] = moved @ end.T + pose @ by_pose.T + velocity @ by_start.T + before @ by_strains.T
        return pose + (velocity + after) @ self.turning.T, after, strains


def sticks(taken: TakenSteps) -> bool:
    """Whether there is friction that sticks, or a contact that remembers how fast bodies met."""
    counts = taken.assembly.memory.counts
    return counts["bristles"] + counts["impacts"] + counts["kept_pairs"] > 0


class StickingSteps:
    """Steps with friction that sticks, some of which are differentiated at a time.

    Args:
        taken: the steps.
    """

    def __init__(self, taken: TakenSteps) -> None:
        self._taken = taken
        self._together = _together(taken)
        self._first = 0
        self._found: list[StickingStep] = []

    def __getitem__(self, k: int) -> StickingStep:
        """Step k; steps one after the other, either way, are found together."""
        if not self._first <= k < self._first + len(self._found):
            self._first = self._together * (k // self._together)
            last = min(self._first + self._together, self._taken.count)
            self._found = sticking_steps(self._taken, self._first, last)
        return self._found[k - self._first]


def sticking_steps(taken: TakenSteps, first: int, last: int) -> list[StickingStep]:
    """Of the steps between two rows."""
    changes = _Changes(taken, first, last)
    equations, strains = changes.slopes()
    rows, known, ends = changes.rows, changes.bent.known, changes.ends[1:]
    parts = [np.split(each, ends, axis=2) for each in (equations, strains)]
    return [
        StickingStep(
            rows, known, tuple(p[k] for p in parts[0]), tuple(p[k] for p in parts[1]), turning(taken, first + k)
        )
        for k in range(last - first)
    ]


class _Changes:
    """What equations of some steps, and the strains at their ends, become when one number of a state changes.

    Args:
        taken, first, last: the steps between two rows.

    Attributes:
        bent: by what states are moved.
        rows: of the equations, (r,).
        ends: of velocities at the end, multipliers, pose, velocities at the start, among all numbers.
    """

    def __init__(self, taken: TakenSteps, first: int, last: int) -> None:
        memory, system = taken.assembly.memory, taken.system
        self._taken, self._first, self._steps = taken, first, last - first
        self.bent = bent = _Bent(taken, first, last)
        count = int(memory.counts["velocities"])
        self._places = strain_places(taken.assembly)[bent.known]
        move = bent.share * pose_sizes(system.layout, system.largest_length, memory["velocity_weight"])
        largest = float(np.abs(taken.rows["multiplier"]).max(initial=0.0)) or 1.0
        forces = np.full(memory.counts["rows"], MOVED * largest)
        speed = 2 * move / float(np.abs(taken.sizes[first:last]).max())
        all_alike = np.concatenate([speed, forces, move, speed])
        self._sizes = np.concatenate([np.tile(all_alike, (self._steps, 1)), bent.sizes], axis=1)
        self.ends = np.cumsum([count, len(forces), count, count])
        self.rows = np.concatenate([np.arange(count), constraint_rows(taken.assembly)])

    def slopes(self) -> tuple[Array, Array]:
        """Derivatives of the equations and of strains at the ends, (steps, r or strains, numbers).

        Forces kink where what sticks begins to slide. A difference that is not odd has a kink between its sides:
        it is taken again, shorter, and counts if it is another one.
        """
        steps, numbers = np.nonzero(self._sizes > 0)
        states = self._taken.states[self._first : self._first + self._steps + 1]
        ways = np.arange(self._first, self._first + self._steps)
        still = self._evaluated(ways, np.stack([states[:-1], states[1:]], axis=1))
        found = [np.zeros((*self._sizes.shape, each.shape[1])) for each in still]
        for number, (part, share) in enumerate({1.0: 0.0, **SHORTER}.items()):
            if not len(steps):
                break
            sizes = part * self._sizes[steps, numbers]
            both = self._evaluated(np.repeat(ways[steps], 2), self._moved(steps, numbers, sizes))
            differs, kinks = np.zeros((2, len(steps)), dtype=bool)
            for values, rest, slopes in zip(both, still, found, strict=True):
                sides = values.reshape(len(steps), 2, -1)
                odd, even = sides[:, 0] - sides[:, 1], sides.sum(axis=1) - 2 * rest[steps]
                most = np.abs(odd).max(axis=1, initial=0.0, keepdims=True)
                own = odd / (2 * sizes[:, None])
                kinks |= (np.abs(even) > KINKED * np.abs(odd) + TOLD * most).any(axis=1)
                change = np.abs(own - slopes[steps, numbers])
                differs |= (change > share * np.abs(own).max(axis=1, initial=0.0, keepdims=True)).any(axis=1)
                both_ways = own if number == 0 else np.where(differs[:, None], own, slopes[steps, numbers])
                slopes[steps, numbers] = both_ways
            chosen = kinks & differs
            steps, numbers = steps[chosen], numbers[chosen]
        return found[0].transpose(0, 2, 1), found[1].transpose(0, 2, 1)

    def _moved(self, steps: IntArray, numbers: IntArray, sizes: Array) -> Array:
        """States at both ends of these steps with these numbers moved both ways, (2 steps, 2, numbers)."""
        memory, layout, states = self._taken.assembly.memory, self._taken.system.layout, self._taken.states
        both = np.stack([states[self._first + steps], states[self._first + steps + 1]], axis=1)
        pairs = np.repeat(both, 2, axis=0)
        for j in np.unique(numbers):
            own = np.flatnonzero(numbers == j)
            kind = int(np.searchsorted(self.ends, j, "right"))
            place = j - int(self.ends[kind - 1]) if kind else j
            for side, sign in enumerate((1.0, -1.0)):
                at, change = 2 * own + side, sign * sizes[own]
                starts, stops = pairs[at, 0], pairs[at, 1]
                if kind < 2:
                    memory.rows(stops)["multiplier" if kind else "velocity"][:, place] += change
                elif kind == 2:
                    tables = {name: table[:, None] for name, table in memory.rows(starts).items()}
                    moved_one(layout, tables, place, change[:1])  # the same in all steps
                elif kind == 3:
                    memory.rows(starts)["velocity"][:, place] += change
                else:
                    starts[:, self._places[place]] += change
                pairs[at, 0], pairs[at, 1] = starts, stops
        return pairs

    def _evaluated(self, steps: IntArray, pairs: Array) -> tuple[Array, Array]:
        """What equations miss, and strains at the ends, of pairs of states of steps."""
        missed = residuals_of_pairs(self._taken, steps, pairs)[:, self.rows]
        return missed, _strains_of_pairs(self._taken, steps, pairs)[:, self.bent.known]


def _together(taken: TakenSteps) -> int:
    """How many steps are differentiated at a time."""
    memory = taken.assembly.memory
    changed = 3 * memory.counts["velocities"] + memory.counts["rows"] + len(strain_places(taken.assembly))
    return max(1, min(TOGETHER, MOST_NUMBERS // int(4 * changed * taken.states.shape[1])))


def _strains_of_pairs(taken: TakenSteps, steps: IntArray, pairs: Array) -> Array:
    """Strains after steps between other states, (pairs, 2, numbers); shape (pairs, strains)."""
    ends = np.stack([steps, steps + 1], axis=1).ravel()
    sizes, states = np.repeat(taken.sizes[steps], 2)[:-1], pairs.reshape(len(ends), -1)
    return strains_after(taken.assembly, states, sizes, taken.functions.moving[ends])[::2]


class _Bent:
    """How far bristles are bent around some steps, and by what states are moved in differences.

    Args:
        taken, first, last: the steps between two rows.

    Attributes:
        known: strains that are something at one of their ends, (strains,).
        sizes: by what these are moved at the start of each step, (steps, strains); zero: nothing is there.
        share: by what poses are moved, relative to lengths, and to a radian where they turn.
    """

    def __init__(self, taken: TakenSteps, first: int, last: int) -> None:
        self._memory, self._length = taken.assembly.memory, taken.system.largest_length
        states = taken.states[first : last + 1]
        bent, bendable = self._of_bristles(taken), self._bendable(taken)
        pairs, numbers = self._of_pairs(states)
        each = np.array([self._length, 1.0, 1.0])  # slides, rolls, drills
        shares = np.concatenate([bent / bendable, (pairs / each).ravel()])
        least = max(SLIGHT, float(shares[shares > 0].min(initial=np.inf)))
        self.share = min(MOVED, BENT * least)
        sizes = np.zeros_like(states)
        places = strain_places(taken.assembly)
        reached = np.abs(taken.states).max(axis=0)
        sizes[:, places] = MOVED * np.where(reached[places] > 0, reached[places], 1.0)
        tables = self._memory.rows(sizes)
        own = tables["bristle"].reshape(len(states), -1, BRISTLE)
        own[:, :, :3] = BENT * _not_slight(bent, bendable)[:, None]
        own[:, :, 3:] = TURNED
        bends = BENT * _not_slight(pairs, each)
        slides = tables["pair_bristle"].reshape(len(states), -1, PAIR)
        slides[:, :, 1:] = np.where(numbers > 0, bends[:, :, 0], 0.0)[:, :, None]
        if (turns := tables["pair_turn"].reshape(len(states), -1, TURN)).size:
            turns[:, :, :DRILLED], turns[:, :, DRILLED] = bends[:, :, 1, None], bends[:, :, 2]
            turns[:] = np.where(numbers[:, :, None] > 0, turns, 0.0)
        self.known = np.flatnonzero(sizes[:, places].any(axis=0))
        self.sizes = sizes[:-1, places[self.known]]

    def _of_bristles(self, taken: TakenSteps) -> Array:
        """How far each bristle is bent in the run, at most, (bristles,)."""
        numbers = taken.rows["bristle"].reshape(len(taken.states), -1, BRISTLE)
        return np.asarray(np.linalg.norm(numbers[:, :, :3], axis=2).max(axis=0))

    def _bendable(self, taken: TakenSteps) -> Array:
        """How far each bristle could be bent: by a radian where it turns, else by a length, (bristles,)."""
        memory = self._memory
        found = np.full(memory.counts["bristles"], self._length)
        turns = np.asarray(memory["coordinate_of"])[memory.counts["constraints"] :] == ANGLE
        own = np.concatenate(
            [np.asarray(memory["bristle_of"])[turns], memory["rolling_of"], memory["drilling_of"]]
        ).astype(np.int64)
        found[own[own >= 0]] = 1.0
        return found

    def _of_pairs(self, states: Array) -> tuple[Array, IntArray]:
        """Of the pairs among many in the rows of states (N, numbers): each pair's most in these states, slid,
        rolled and drilled, (N, rows, 3); and which pair it is, (N, rows), zero: none."""
        tables = self._memory.rows(states)
        numbers = pair_numbers(self._memory, states).astype(np.int64)
        own = np.zeros((*numbers.shape, 3))
        own[:, :, 0] = np.linalg.norm(tables["pair_bristle"].reshape(len(states), -1, PAIR)[:, :, 1:], axis=2)
        if (turns := tables["pair_turn"].reshape(len(states), -1, TURN)).size:
            own[:, :, 1] = np.linalg.norm(turns[:, :, :DRILLED], axis=2)
            own[:, :, 2] = np.abs(turns[:, :, DRILLED])
        pairs, which = np.unique(numbers, return_inverse=True)
        most = np.zeros((len(pairs), 3))
        np.maximum.at(most, which.ravel(), own.reshape(-1, 3))
        return most[which.reshape(numbers.shape)], numbers


def _not_slight(bent: Array, bendable: Array) -> Array:
    return np.asarray(np.maximum(bent, SLIGHT * bendable))
