"""Undeformed starts of mechanisms of one structure, computed together (docs/theory.md, 6).

Formulas are those of ``initial_velocity`` and ``redundancy``, with a first axis of mechanisms. What needs a closer
look there is left to them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import WeightedSums, is_small
from phlexible.state.functions import FunctionSet
from phlexible.state.initial_velocity import (
    ROUND_OFF_GAP,
    TOLERANCE,
    only_solutions,
    reference_transform,
    times,
    undeformed,
    user_velocity,
)
from phlexible.state.instants import OF_STATE, OF_TIME, Instants, PrescribedFunctions, RecordedMotions
from phlexible.state.layout import State
from phlexible.state.redundancy import are_clearly_independent
from phlexible.state.system import System

Start = tuple[State, Instants, bool]
"""State at t = 0, the same as an instant, and whether constraints are redundant."""


def batched_starts(systems: Sequence[System]) -> list[Start | None]:
    """Return the undeformed start (state, instant, flag) of each system, computed together for all systems of the
    same structure as the first plain one. It is None for a system that must be started alone: of another
    structure, with drives or rods, or with open or redundant joints. All are None if the computation fails."""
    result: list[Start | None] = [None] * len(systems)
    structures = [_structure(system) for system in systems]
    first = next(filter(None, structures), None)
    alike = [number for number, own in enumerate(structures) if own is not None and own == first]
    if len(alike) > 1:
        # of a user's function or a singular matrix, which shows where it is looked at alone:
        with suppress(Exception):
            for number, start in zip(alike, _starts([systems[k] for k in alike]), strict=True):
                result[number] = start
    return result


def _structure(system: System) -> tuple[object, ...] | None:
    """Return a hashable key that is equal for plain systems that can be computed together. It consists of the
    identities of their cached layout and constraint index structure, and of the sparsity pattern of the constraint
    matrix. None for a system that is not plain."""
    rows, mechanism = system.rows, system.mechanism
    if not isinstance(rows, FunctionSet) or not system.owners or system.paths or mechanism.drives or mechanism.rods:
        return None
    turns = any(frame.rotation is not None for frame in system.moving_frames)
    if turns or not is_small(int(system.layout.velocity[-1])):
        return None
    return id(system.layout), id(rows.wiring), *(each.tobytes() for each in rows.pattern)


@dataclass(frozen=True, eq=False)
class _ManySums(WeightedSums):
    """Weighted sums of selected columns, whose weights differ between mechanisms: for each mechanism one row of
    weights, shape (mechanisms, entries).
    """

    def of(self, values: Array) -> Array:
        """Return weighted sums of ``values``, shape (mechanisms, size), for many mechanisms together; the result
        has shape (mechanisms, count). Each sum adds selected columns times weights that may differ between
        mechanisms. Sums without any term are zero."""
        result = np.zeros((len(values), self.count))
        result[:, self._owners] = np.add.reduceat(self.weights * values[:, self.sources], self._starts, axis=1)
        return result


def _stacked_rows(systems: Sequence[System]) -> FunctionSet:
    """Return one ``FunctionSet`` (all constraint functions of a system) for many systems of equal structure. It
    evaluates the constraints with one instant for each system. Numerical data (undeformed vectors, constants,
    coefficients, weights) of all systems are stacked along the first axis; indices are those of the first system.
    Equal structure is not checked."""
    sets = [system.rows for system in systems if isinstance(system.rows, FunctionSet)]
    scatter, sums = sets[0]._scattered
    weights = np.array([own._scattered[1].weights for own in sets])
    vectors = replace(sets[0].set)
    vars(vectors)["base"] = np.array([own.set.base for own in sets])
    rows = replace(sets[0], set=vectors, constants=np.array([own.constants for own in sets]))
    many = _ManySums(weights, sums.sources, sums.owners, sums.count, sums.size)
    coefficients = np.array([own._coefficients for own in sets])
    vars(rows).update(wiring=sets[0].wiring, _scattered=(scatter, many), _coefficients=coefficients)
    return rows


def _starts(systems: Sequence[System]) -> list[Start | None]:
    """Return the undeformed initial states of many systems of one structure, computed together by arrays with one
    more axis. An entry is a tuple (state, instant, False), or None if the state has to be computed alone. None is
    returned if joints are open or redundant, or if velocities are not unique or violate the constraints. Errors of
    user functions are not caught.

    Raises:
        Exception: of a user's function of time.
        LinAlgError: one of the matrices is singular.
    """
    layout, rows = systems[0].layout, _stacked_rows(systems)
    poses = [undeformed(system) for system in systems]
    functions = [PrescribedFunctions(system.moving_frames, (), np.zeros(1)) for system in systems]
    own = [system.at(pose, prescribed=at) for system, pose, at in zip(systems, poses, functions, strict=True)]
    motions = RecordedMotions(*(np.concatenate([getattr(at, name) for at in functions]) for name in OF_TIME))
    time, position, rotation, eta, velocity = (
        np.concatenate([getattr(each, name) for each in own]) for name in OF_STATE
    )
    at = Instants(time, position, rotation, eta, velocity, motions)
    gaps = [system.relative_gaps(own) for system, own in zip(systems, rows.values(at), strict=True)]
    is_right = np.max(gaps, axis=1, initial=0.0) <= ROUND_OFF_GAP
    matrix, drift = np.zeros((len(systems), rows.count, at.velocity.shape[1])), rows.drift(at)
    matrix[:, *rows.pattern] = rows.matrix_entries(at)
    shift = np.array([reference_transform(system, pose) for system, pose in zip(systems, poses, strict=True)])
    given = [user_velocity(system, pose) for system, pose in zip(systems, poses, strict=True)]
    reference, is_given = (np.array(each) for each in zip(*given, strict=True))
    is_right &= (is_given == is_given[0]).all(axis=1)
    turned, free = matrix @ shift, layout.is_rigid & ~is_given[0]
    aim = -drift - times(turned, reference)
    if aim.any() and np.count_nonzero(free) == rows.count:
        reference[:, free], is_sure = only_solutions(turned[:, :, free], aim)
        is_right &= is_sure
    else:
        is_right &= ~aim.any(axis=1)
    velocity = times(shift, reference)
    sums = times(np.abs(matrix), np.abs(velocity)) + np.abs(drift)
    rates = np.abs(times(matrix, velocity) + drift)
    is_right &= rates.max(axis=1) <= TOLERANCE * sums.max(axis=1)
    masses = [system.small_mass(pose, each) for system, pose, each in zip(systems, poses, own, strict=True)]
    is_right &= are_clearly_independent(np.array(masses), matrix)
    return [
        (replace(pose, velocity=nu), each.moving(nu[None]), False) if right else None
        for pose, each, nu, right in zip(poses, own, velocity, is_right.tolist(), strict=True)
    ]
