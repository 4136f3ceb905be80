"""What branches of spring and dashpot remember, in derivatives of motions (docs/theory.md, 8; (8.39))."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import columns_apart
from phlexible.derivatives.variations import pose_sizes
from phlexible.state.layout import State
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.integration.stored_rows import set_branches
from phlexible.step.tables.declarations import BRISTLE, PAIR, SLIPS, TURN
from phlexible.step.tables.memory import Memory

# The strains e of branches are states beside the pose and nu: with theta of the pose,
#
#     F(q_n, nu_n, q_n+1, nu_n+1, lambda; e_n) = 0,    e_n+1 = a e_n + A (theta(q_n+1) - theta(q_n))
#
# F is linear in e_n, so that a difference of any size is its derivative; A dtheta/dq is taken from what strains
# become in steps that move one number of a pose that stands. Numbers that touch nothing in common move at once.

SLIPPED = 6
"""What of a bristle says so: the numbers before it are smooth."""

STRAINS = ("branch_strain", "soft_strain", "inner_strain", "impact")
PAIRS = ("pair_bristle", PAIR), ("pair_turn", TURN)
MOVED = 3e-6
"""Of lengths and angles: central differences err by its square."""
ASIDE = 1e-3
"""Of lengths and angles, by which a pose is moved to see what touches what: along axes much is zero by chance."""

Residuals = Callable[[Array, Array, Array], Array]
"""What equations miss, (k, unknowns), of rows (k + 1, numbers), sizes of steps (k,), given vectors at the rows."""


def strain_places(assembly: Assembly) -> IntArray:
    """Of what laws remember among the numbers of a state; of bristles but whether they slipped.

    Those of pairs among many come last, in the rows that the pairs have at the instant.
    """
    memory = assembly.memory
    sizes = memory.state_sizes
    if not any(sizes[name] for name in (*STRAINS, "bristle", *(pair for pair, _ in PAIRS))):
        return np.zeros(0, dtype=np.int64)
    numbers = memory.rows(np.arange(memory.counts["state_numbers"], dtype=np.float64)[None])
    bristles = numbers["bristle"].reshape(-1, BRISTLE)[:, :SLIPPED]
    pairs = numbers["pair_bristle"].reshape(-1, PAIR)[:, 1:]
    turns = np.delete(numbers["pair_turn"].reshape(-1, TURN), SLIPS, axis=1)
    found = [*(numbers[name] for name in STRAINS), bristles, pairs, turns]
    return np.concatenate([each.ravel() for each in found]).astype(np.int64)


def strains_after(assembly: Assembly, states: Array, sizes: Array, moving: Array) -> Array:
    """Strains that branches have at the ends of steps between states (N + 1, numbers), shape (N, branches).

    Those of pairs among many stand where the states have the pair: what one pair has lost no other one gets.
    """
    count, places, memory = len(sizes), strain_places(assembly), assembly.memory
    if not len(places):
        return np.zeros((count, 0))
    loads = np.zeros((count, 3 * memory.counts["load_values"]))
    found = StepEquations(memory).residual(states, sizes, moving, loads, with_ends=True)[1]
    return _where_pairs_are(memory, found, states[1:])[:, places]


def strains_of(assembly: Assembly, state: State, like: State | None = None) -> Array:
    """Strains that a state has, (branches,), those of pairs among many where another state has the pair."""
    places, rows = strain_places(assembly), []
    if not len(places):
        return np.zeros(0)
    memory = assembly.memory.fresh()
    for each in (state, state if like is None else like):
        set_branches(memory, each.branches)
        rows.append(memory.state[None].copy())
    return np.asarray(_where_pairs_are(memory, *rows)[0, places])


def pair_numbers(memory: Memory, states: Array) -> Array:
    """Of the pairs among many in the rows of states (N, numbers), shape (N, pairs); zero: of none."""
    return np.asarray(np.abs(memory.rows(states)["pair_bristle"].reshape(len(states), -1, PAIR)[:, :, 0]))


def pair_order(memory: Memory, found: Array, states: Array) -> IntArray:
    """Index in other states of each number of the states, shape (N, numbers); -1: nowhere."""
    order = np.tile(np.arange(found.shape[1], dtype=np.float64), (len(found), 1))
    own, wanted = pair_numbers(memory, found), pair_numbers(memory, states)
    tables = [memory.rows(order)[name].reshape(len(found), -1, size) for name, size in PAIRS]
    for k in np.flatnonzero((own != wanted).any(axis=1)):
        where = {number: row for row, number in enumerate(own[k].tolist()) if number}
        rows = np.array([where.get(number, -1) for number in wanted[k].tolist()])
        for table in tables:
            if table.size:
                table[k] = np.where(rows[:, None] >= 0, table[k][rows], -1)
    return order.astype(np.int64)


def _where_pairs_are(memory: Memory, found: Array, states: Array) -> Array:
    """The numbers with rows of pairs as states (N, numbers) have them."""
    if not memory.counts["kept_pairs"]:
        return found
    order = pair_order(memory, found, states)
    return np.where(order >= 0, np.take_along_axis(found, order, axis=1), 0.0)


@dataclass(frozen=True, eq=False)
class Fading:
    """Steps of a mechanism with laws that creep.

    Attributes:
        assembly: what moved.
        sizes: of the steps, shape (N,) [s].
        states: stored rows, shape (N + 1, numbers).
        moving: given vectors at the instants, shape (N + 1, 3 vectors).
        residuals: of the equations of the assembly.
    """

    assembly: Assembly
    sizes: Array
    states: Array
    moving: Array
    residuals: Residuals

    @cached_property
    def places(self) -> IntArray:
        """Of the strains among the numbers of a state."""
        return strain_places(self.assembly)

    @cached_property
    def left(self) -> dict[float, Array]:
        """a of each size of steps: what is left of each strain, shape (branches,)."""
        rows, found = self._standing(self.states[:1]), {}
        rows[:, self.places] = 1.0
        for size in np.unique(self.sizes).tolist():
            found[size] = strains_after(self.assembly, rows, np.array([size]), self.moving[[0, 0]])[0]
        return found

    @cached_property
    def shares(self) -> dict[float, Array]:
        """A of each size of steps over that of the first one, shape (branches,)."""
        grown, move = {}, self._sizes * np.random.default_rng(2).uniform(0.5, 1.0, len(self._sizes))
        for size in {float(self.sizes[0]), *np.unique(self.sizes).tolist()}:
            rows = self._aside
            self.assembly.memory.rows(rows[1:])["velocity"][:] = 2 * move / size
            grown[size] = strains_after(self.assembly, rows, np.array([size]), self.moving[[0, 0]])[0]
        first = grown[float(self.sizes[0])]
        still = first == 0
        return {size: np.where(still, 0.0, own / np.where(still, 1.0, first)) for size, own in grown.items()}

    def slopes_in(self, step: int, instant: int) -> sparse.csr_array:
        """A dtheta/dq of a step at an instant, (branches, velocities)."""
        return sparse.csr_array(sparse.diags_array(self.shares[float(self.sizes[step])]) @ self.slopes[instant])

    def pull(self, step: int, ends: Array, pose: Array) -> Array:
        """Add what poses at both ends (2, velocities) feel of strains at the end, (branches,)."""
        pose[1] += self.slopes_in(step, step + 1).T @ ends
        pose[0] -= self.slopes_in(step, step).T @ ends
        return pose

    def before(self, step: int, ends: Array, felt: Array) -> Array:
        """What is felt of strains at the start: by those at the end (branches,), and by mu (unknowns,)."""
        return np.asarray(self.left[float(self.sizes[step])] * ends + self.pulls[step].T @ felt)

    def after(self, step: int, strains: Array, pose: Array) -> Array:
        """Changes of strains at the end, of those at the start (parameters, branches) and of poses (2, ., .)."""
        moved = self.slopes_in(step, step + 1) @ pose[1].T - self.slopes_in(step, step) @ pose[0].T
        return np.asarray(self.left[float(self.sizes[step])] * strains + moved.T)

    @cached_property
    def pulls(self) -> list[sparse.csc_array]:
        """dF/de_n of each step, (unknowns, branches)."""
        pattern, before = self._touched, self.residuals(self.states, self.sizes, self.moving)
        found = np.zeros((len(before), pattern.nnz))
        for group in columns_apart(pattern):
            rows = self.states.copy()
            rows[:, self.places[group]] += 1.0
            change = self.residuals(rows, self.sizes, self.moving) - before
            for b in group:
                own = slice(pattern.indptr[b], pattern.indptr[b + 1])
                found[:, own] = change[:, pattern.indices[own]]
        return [sparse.csc_array((each, pattern.indices, pattern.indptr), shape=pattern.shape) for each in found]

    @cached_property
    def slopes(self) -> list[sparse.csr_array]:
        """A dtheta/dq at each instant, A of the first step, changes as in ``Variation``, (branches, velocities)."""
        pattern, sizes, standing = self._felt, self._sizes, self._standing(self.states)
        found = np.zeros((len(self.states), pattern.nnz))
        for group in columns_apart(pattern):
            for sign in (1.0, -1.0):
                rows = standing.copy()
                self._moved(rows[1::2], group, sign * sizes[group])
                grown = self._grown(rows, self.moving)
                for number in group:
                    own = slice(pattern.indptr[number], pattern.indptr[number + 1])
                    found[:, own] += sign * grown[:, pattern.indices[own]] / (2 * sizes[number])
        turns = self._turns
        slopes = [sparse.csc_array((each, pattern.indices, pattern.indptr), shape=pattern.shape) for each in found]
        return [sparse.csr_array(each @ turn) for each, turn in zip(slopes, turns, strict=True)]

    @cached_property
    def _turns(self) -> list[sparse.csr_array]:
        """Of each instant, from turns in world axes to those in body axes, (velocities,) * 2."""
        frame, axis, place = self.assembly.system.layout.spin
        size = len(self._sizes)
        others = np.setdiff1d(np.arange(size), place)
        if not len(place) or self.assembly.system.dimension < 3:
            return [sparse.csr_array(sparse.eye_array(size))] * len(self.states)
        first, second = np.nonzero(frame[:, None] == frame[None])
        found = []
        for turn in self.assembly.memory.rows(self.states)["rotation"]:
            entries = turn[frame[first], axis[second], axis[first]]  # R^T
            values = np.concatenate([np.ones(len(others)), entries])
            rows, columns = np.concatenate([others, place[first]]), np.concatenate([others, place[second]])
            found.append(sparse.csr_array((values, (rows, columns)), shape=(size, size)))
        return found

    @cached_property
    def _sizes(self) -> Array:
        """Small changes of each number of the pose."""
        system = self.assembly.system
        weight = np.asarray(self.assembly.memory["velocity_weight"])
        return MOVED * pose_sizes(system.layout, system.largest_length, weight)

    def _standing(self, states: Array) -> Array:
        """Each state twice, at rest and relaxed."""
        rows = np.repeat(states, 2, axis=0)
        self.assembly.memory.rows(rows)["velocity"][:] = 0.0
        rows[:, self.places] = 0.0
        return rows

    def _moved(self, rows: Array, numbers: list[int], changes: Array) -> None:
        """Velocities at the ends of steps from rest that move numbers of the pose by so much, in place."""
        velocity = self.assembly.memory.rows(rows)["velocity"]
        velocity[:, numbers] = 2 * changes / float(self.sizes[0])

    def _grown(self, rows: Array, moving: Array) -> Array:
        """Strains after the steps from each even row to the next one, (rows / 2, branches)."""
        sizes = np.full(len(rows) - 1, float(self.sizes[0]))
        return strains_after(self.assembly, rows, sizes, np.repeat(moving, 2, axis=0))[::2]

    @property
    def _aside(self) -> Array:
        """A pose at rest beside the first one, in which nothing is zero by chance, twice."""
        rng, system = np.random.default_rng(1), self.assembly.system
        layout, length = system.layout, system.largest_length
        rows = self._standing(self.states[:1])
        own = self.assembly.memory.rows(rows)
        d = layout.linear.shape[1]
        own["position"][..., :d] += ASIDE * length * rng.uniform(0.5, 1.0, own["position"][0, ..., :d].shape)
        bent = self._sizes[layout.elastic_rate] * (ASIDE / MOVED)
        own["eta"][:] += bent * rng.uniform(0.5, 1.0, own["eta"][0].shape)
        if len(layout.spin[0]):
            vectors = np.zeros((layout.frames, 3))
            vectors[layout.spin[0], layout.spin[1]] = ASIDE * rng.uniform(0.5, 1.0, len(layout.spin[0]))
            own["rotation"][:] = Rotation.from_rotvec(vectors).as_matrix() @ own["rotation"]
        return rows

    @cached_property
    def _touched(self) -> sparse.csc_array:
        """Which equations each strain is in, (unknowns, branches)."""
        count = len(self.places)
        rows = np.tile(self._aside, (count + 1, 1))
        rows[2 + 2 * np.arange(count), self.places] = 1.0
        sizes, moving = np.full(len(rows) - 1, self.sizes[0]), np.repeat(self.moving[:1], len(rows), axis=0)
        missed = self.residuals(rows, sizes, moving)[::2]
        return sparse.csc_array((missed[1:] != missed[0]).T.astype(np.int8))

    @cached_property
    def _felt(self) -> sparse.csc_array:
        """Which numbers of a pose each strain follows, those of a turn together, (branches, velocities)."""
        size, sizes = len(self._sizes), self._sizes * (ASIDE / MOVED)
        rows = np.tile(self._aside, (size, 1))
        self.assembly.memory.rows(rows[1::2])["velocity"][np.arange(size), np.arange(size)] = (
            2 * sizes / float(self.sizes[0])
        )
        grown = self._grown(rows, np.repeat(self.moving[:1], size, axis=0)) != 0
        frame, _, place = self.assembly.system.layout.spin
        for number in np.unique(frame):
            own = place[frame == number]
            grown[own] = grown[own].any(axis=0)
        return sparse.csc_array(grown.T.astype(np.int8))
