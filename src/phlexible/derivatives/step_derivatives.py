"""Derivatives of steps that Newton's matrix does not contain, by dual numbers (docs/theory.md, 8; (8.28), (8.44)).

Newton's method does without how the place where bodies rub moves (8.28), and without parts of contacts among many
(8.32). What a bristle keeps from step to step, z and the normal of its surface, are states beside the pose and nu,
as is the speed that a contact with restitution remembers:

    F(q_n, nu_n, nu_n+1, lambda; z_n) = 0,    z_n+1 = Z(q_n, nu_n, nu_n+1, lambda; z_n)

Whether a bristle slipped in the step before, by which static friction acts, stays as it was. Of pairs among many z
has the rows of those that touch: which pair is in which row, at both ends, is the step's own.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.derivatives.steps import TakenSteps, constraint_rows
from phlexible.derivatives.strains import pair_order, stored_pairs, strain_indices
from phlexible.derivatives.variations import pose_sizes, pose_tangents

EXACT = 1e-6
"""Relative tolerance within which Newton's matrix counts as the exact derivative of the equations."""

UNSEEN = 1e-3
"""Least change that is compared, relative to the greatest; below it round-off of stiff forces dominates."""

ASIDE = 1e-9
"""Relative change of bristles to both sides; a bristle that has slipped is at the friction limit, where forces have
a kink.

The mean of both branches is right for changes of the bristle and of its limit together.
"""


@dataclass(frozen=True, eq=False)
class StepDerivative:
    """Derivatives of the equations of one step, and of the history variables at its end, with respect to unknowns
    and initial state.

    Attributes:
        rows: of the equations that are no definitions of auxiliary vectors, shape (r,).
        known: indices of the strains that exist at one of its ends, shape (strains,); contact pairs come and go.
        equations: derivatives with respect to velocities at the end and multipliers, (r, r), to pose and velocities
        at
            the start, (r, velocities) each, and to the strains there, (r, strains).
        strains: the same derivatives of the strains at the end.
        pose_map: K (9.2), shape (velocities, velocities).
    """

    rows: IntArray
    known: IntArray
    equations: tuple[Array, ...]
    strains: tuple[Array, ...]
    pose_map: Array

    def vjp(self, pose: Array, velocity: Array, history: Array, unknowns: int) -> tuple[Array, Array, Array, Array]:
        """Propagate adjoints of ``pose``, ``velocity`` and ``history`` variables (one row a cost) from the
        end of this time step to its start. Return the three at the start and the adjoints of the residual,
        shape (costs, ``unknowns``). History variables are strains of Maxwell branches, deflections of
        friction springs and impact speeds.

        Args:
            pose, velocity, history: adjoints of pose, velocities and strains after the step.
            unknowns: number of unknowns.

        Returns:
            Adjoints of pose, velocities and strains before the step, and mu, shape (costs, unknowns).
        """
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        back, after = pose @ self.pose_map, history[:, self.known]
        felt = after @ end
        felt[:, : pose.shape[1]] += velocity + back
        own = -np.linalg.lstsq(of_end.T, felt.T, rcond=None)[0].T
        mu, before = np.zeros((len(pose), unknowns)), np.zeros_like(history)
        mu[:, self.rows] = own
        before[:, self.known] = own @ of_strains + after @ by_strains
        return pose + own @ of_pose + after @ by_pose, back + own @ of_start + after @ by_start, before, mu

    def jvp(self, pose: Array, velocity: Array, history: Array, equations: Array) -> tuple[Array, Array, Array]:
        """Return the changes of pose, velocities and history variables after this time step, a row for each
        parameter. Arguments are their changes before it (``pose``, ``velocity``, ``history``) and that of its
        residual, ``equations``. History variables are strains of Maxwell branches, deflections of friction
        springs and impact speeds."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        before = history[:, self.known]
        missed = equations[:, self.rows] + pose @ of_pose.T + velocity @ of_start.T + before @ of_strains.T
        moved = -np.linalg.lstsq(of_end, missed.T, rcond=None)[0].T
        after = np.asarray(moved[:, : pose.shape[1]])
        strains = np.zeros_like(history)
        strains[:, self.known] = moved @ end.T + pose @ by_pose.T + velocity @ by_start.T + before @ by_strains.T
        return pose + (velocity + after) @ self.pose_map.T, after, strains


def has_contact_history(steps: TakenSteps) -> bool:
    """Return whether the model of these time steps has contacts or friction with history variables that
    outlive a time step. These are friction springs (friction that sticks), contacts with restitution and
    contact groups."""
    counts = steps.assembly.memory.counts
    return counts["bristles"] + counts["impacts"] + counts["pieces"] + counts["kept_pairs"] > 0


def step_derivative(steps: TakenSteps, k: int) -> StepDerivative:
    """Return the derivatives of the equations and history variables of time step ``k`` of the run ``steps``,
    computed with dual numbers. At friction limits they are the mean over both sides of the kink. History
    variables are strains of Maxwell branches, deflections of friction springs and impact speeds."""
    memory, layout, pair = steps.assembly.memory, steps.system.layout, steps.states[k : k + 2]
    count, rows, indices = int(memory.counts["velocities"]), memory.counts["rows"], strain_indices(steps.assembly)
    touched = np.ones((1, memory.counts["state_size"]))
    own = memory.rows(touched)
    for table in (own["pair_bristle"], own["pair_turn"]):
        if table.size:
            table.reshape(memory.counts["kept_pairs"], -1)[:] = stored_pairs(memory, pair).max(axis=0)[:, None]
    known = np.flatnonzero(touched[0, indices])
    ends = np.cumsum([count, rows, count, count, len(known)])
    directions = np.zeros((ends[-1], *pair.shape))
    starts, stops = memory.rows(directions[:, 0]), memory.rows(directions[:, 1])
    stops["velocity"][: ends[0]] = np.eye(count)
    stops["multiplier"][ends[0] : ends[1]] = np.eye(rows)
    poses = {name: starts[name][ends[1] : ends[2]] for name in ("position", "rotation", "eta")}
    pose_tangents(layout, memory.rows(pair[:1]), poses)
    starts["velocity"][ends[2] : ends[3]] = np.eye(count)
    directions[np.arange(ends[3], ends[4]), 0, indices[known]] = 1.0
    order, sides = pair_order(memory, steps.state_with_new_history(k), pair[1:])[0], []
    for share in (1 - ASIDE, 1 + ASIDE) if has_contact_history(steps) else (1.0,):
        aside = pair.copy()
        aside[0, indices] *= share
        missed, after = steps.derivative(k, aside, directions)
        equations = np.concatenate([np.arange(count), constraint_rows(steps.assembly)])
        sides.append((missed[:, equations], np.where(order >= 0, after[:, order], 0.0)[:, indices[known]]))
    own, strains = (np.mean(each, axis=0).T for each in zip(*sides, strict=True))
    cuts = ends[1:-1]
    return StepDerivative(
        equations, known, tuple(np.split(own, cuts, 1)), tuple(np.split(strains, cuts, 1)), pose_map(steps, k)
    )


def inexact_steps(steps: TakenSteps) -> set[int]:
    """Return the indices of those time steps of a run for which Newton's matrix is not the exact derivative
    of the equations; these time steps have contacts."""
    has_contacts = steps.assembly.memory.counts["members"] > 0
    return {k for k in range(steps.count) if has_contacts and not _is_exact(steps, k)}


def _is_exact(steps: TakenSteps, k: int) -> bool:
    """Return whether Newton's matrix is the exact derivative of the equations of time step ``k`` of
    ``steps``, found by comparing both along random directions."""
    memory, system, pair = steps.assembly.memory, steps.system, steps.states[k : k + 2]
    count, unknowns = int(memory.counts["velocities"]), int(memory.counts["unknowns"])
    length = pose_sizes(system.layout, system.largest_length, memory["velocity_weight"])
    way = np.random.default_rng(1).choice([-1.0, 1.0], count) * length

    def answer(pose: Array, equations: Array) -> Array:
        """Return the change of the velocities at the end of the time step according to Newton's matrix, shape
        (velocities,). Arguments are changes of the pose at the start and of the residual (``equations``)."""
        both = np.zeros((2, 2, 1, count))
        both[0, 0, 0] = pose
        steps.jvp_by_matrix(k, k + 1, both[0], both[1], equations[None, None])
        return np.asarray(both[1, 1, 0])

    def exact(pose: Array, velocity: Array) -> Array:
        """Return the exact change of the residual, shape (unknowns,). Given are changes of the pose at the
        start and of the velocities at the end of the time step."""
        tangents = np.zeros((count, pair.shape[1]))
        pose_tangents(system.layout, memory.rows(pair[:1]), memory.rows(tangents))
        direction = np.zeros((1, *pair.shape))
        direction[0, 0] = pose @ tangents
        memory.rows(direction[:, 1])["velocity"][0] = velocity
        return np.asarray(steps.derivative(k, pair, direction)[0][0])

    nothing = np.zeros(count)
    after = answer(nothing, exact(nothing, way))
    if np.abs((after + way) / length).max() > EXACT:
        return False
    after = answer(way, np.zeros(unknowns))
    left = answer(nothing, exact(way, after))
    most = float(np.abs(after / length).max())
    return bool((np.abs(left) <= EXACT * (np.abs(after) + UNSEEN * most * length)).all())


def pose_map(steps: TakenSteps, k: int) -> Array:
    """Return the matrix K of time step ``k`` of the run ``steps`` that gives the change of the pose over the
    step, shape (velocities, velocities). The change of the pose is K times the sum of the velocity changes at
    both ends (9.2)."""
    layout, h = steps.system.layout, float(steps.sizes[k])
    frame, axis, index = layout.spin
    count = int(steps.assembly.memory.counts["velocities"])
    found = 0.5 * h * np.eye(count)
    velocities, rotations = steps.rows["velocity"][k : k + 2], steps.rows["rotation"][k]
    for b in range(layout.frames):
        own = frame == b
        spin = np.zeros(3)
        spin[axis[own]] = velocities[:, index[own]].mean(axis=0)
        a = 0.5 * h * spin
        whole = 0.5 * h * rotations[b] @ (np.eye(3) + cross_matrix(a)) / (1 + a @ a)
        found[np.ix_(index[own], index[own])] = whole[np.ix_(axis[own], axis[own])]
    return found


@dataclass(frozen=True, eq=False)
class DifferentiableSteps(TakenSteps):
    """Steps of a run with their derivatives in forward and reverse mode, by Newton's matrix where that is exact and
    by dual numbers elsewhere.
    """

    def vjp(self, first: int, last: int, pose: Array, velocity: Array) -> Array:
        """Propagate adjoints of ``pose`` and ``velocity``, shape (last - first + 1, costs, velocities),
        backwards from instant ``last`` to ``first`` of these time steps. Each row gets what later rows cause
        added, in place. Return the adjoints of the step residuals, shape (last - first, costs, unknowns).

        Args:
            first, last: rows.
            pose, velocity: derivatives of the costs with respect to the rows alone, which become total derivatives,
            shape
                (last - first + 1, costs, velocities).

        Returns:
            mu: dJ = mu . dF for changes of the equations F of a step, shape (last - first, costs, unknowns).

        Raises:
            ModelError: a step whose matrix is singular.
        """
        unknowns = self.assembly.memory.counts["unknowns"]
        equations, none = np.zeros((last - first, pose.shape[1], unknowns)), np.zeros((pose.shape[1], 0))
        for begin, end in reversed(self._parts(first, last)):
            a, b = begin - first, end - first
            if begin in self._inexact:
                q, v, _, equations[a] = self._inexact[begin].vjp(pose[b], velocity[b], none, unknowns)
                pose[a] += q
                velocity[a] += v
                continue
            own = slice(a, b + 1)
            self.vjp_by_matrix(begin, end, pose[own], velocity[own], equations[a:b])
        return equations

    def jvp(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Propagate changes of the state (forward mode) from instant ``first`` to ``last`` of these time
        steps. Row 0 of ``pose`` and ``velocity``, shape (last - first + 1, parameters, velocities), is given;
        the rows of later instants are overwritten. ``equations`` are changes of the step residuals, shape
        (steps, parameters, unknowns)."""
        none = np.zeros((pose.shape[1], 0))
        for begin, end in self._parts(first, last):
            a, b = begin - first, end - first
            if begin in self._inexact:
                step = self._inexact[begin]
                pose[b], velocity[b], _ = step.jvp(pose[a], velocity[a], none, equations[a])
            else:
                self.jvp_by_matrix(begin, end, pose[a : b + 1], velocity[a : b + 1], equations[a:b])

    @cached_property
    def _inexact(self) -> dict[int, StepDerivative]:
        """Exact derivatives, by index, of all time steps for which Newton's matrix is not the derivative of
        the equations (some time steps with contacts)."""
        return {k: step_derivative(self, k) for k in inexact_steps(self)}

    def _parts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return ranges (begin, end) that divide the time steps from ``first`` to ``last`` - 1, in ascending
        order. Each time step for which Newton's matrix is not the exact derivative (some with contacts) is a
        range by itself."""
        own = [k for k in self._inexact if first <= k < last]
        return list(pairwise(sorted({first, last, *own, *(k + 1 for k in own)})))
