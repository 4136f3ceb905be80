"""Runs that can be differentiated, from motions that are there: nothing is simulated again."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.fading import strain_places
from phlexible.derivatives.parameters import Built
from phlexible.derivatives.runs import RunPiece, TakenRun, instants_of, take_run
from phlexible.derivatives.step_derivatives import DifferentiableSteps
from phlexible.derivatives.steps import entries, functions_of
from phlexible.state.recording import RecordedStates
from phlexible.step.integration.schemes import StepOptions

KEPT = ("position", "rotation", "eta", "velocity", "theta", "held")
"""Stored tables that recordings hold as they are."""


MISSED = {"multiplier": 1e-8, "velocity": 5e-14}
"""Of what equations would miss without these: how well recorded steps must answer them, the latter by round-off."""

SOME = 50
"""Steps in which that is asked."""


def recorded_run(recording: RecordedStates, own: Built[Any], options: StepOptions) -> tuple[TakenRun, Array] | None:
    """The run of a recorded motion of nothing but equal steps, and what its equations miss, (N, unknowns).

    None: of another motion, or one of which multipliers are not known: its steps have to be taken again. Whether
    the steps of this model give these states is not asked: what is missed tells it.

    Args:
        recording: all instants of the motion, which have one distance.
        own: the model that is said to have moved.
        options: of its steps.
    """
    assembly, system, count = own.assembly, own.assembly.system, len(recording.time) - 1
    if system.mechanism.switches or assembly.controlled or len(strain_places(assembly)):
        return None
    if int(recording.halvings[-1]) or int(recording.contact_steps[-1]):
        return None
    step = float(recording.time[-1] - recording.time[0]) / count
    clock = instants_of(assembly, own.start, count * step, step, options)
    if clock.remainder or clock.breakpoints:
        return None
    (begin,) = take_run(assembly, own.start, step, step, options).stretches
    states = np.zeros((count + 1, begin.states.shape[1]))
    rows, first = assembly.memory.rows(states), begin.rows
    for name in KEPT:
        rows[name][:] = getattr(recording, name)
    rows["multiplier"][1:] = _of_steps(recording.multipliers, first["multiplier"][1])
    rows["force"][1:] = _of_steps(recording.forces, first["force"][1])
    times, sizes = clock.instants(0, count), np.full(count, step)
    steps = DifferentiableSteps(
        assembly,
        times,
        sizes,
        begin.damping,
        begin.relaxation,
        states,
        functions_of(assembly, times),
        entries(assembly),
    )
    places = np.stack([np.zeros(count, dtype=np.int64), np.arange(1, count + 1)], axis=1)
    missed, velocities = steps.residuals_of(assembly.memory, steps.functions), assembly.memory.counts["velocities"]
    if np.abs(missed[:, :velocities]).max(initial=0.0) > _allowed(steps, velocities):
        return None
    return TakenRun(assembly, (steps,), (RunPiece(0, 0, count),), (), times, states, places), missed


def _allowed(steps: DifferentiableSteps, velocities: int) -> float:
    """What equations of motion may miss in recorded steps."""
    some, found = np.unique(np.linspace(0, steps.count - 1, SOME).astype(np.int64)), 0.0
    for name, share in MISSED.items():
        pairs = np.stack([steps.states[some], steps.states[some + 1]], axis=1)
        steps.assembly.memory.rows(pairs.reshape(2 * len(some), -1))[name][1::2] = 0.0
        moving = steps.functions.moving[np.stack([some, some + 1], axis=1)]
        missed = steps.between(pairs, steps.sizes[some], moving, steps.functions.loads[some])
        left = np.abs(missed[:, :velocities]).max(initial=0.0)
        found += share * float(left)
    return found


def _of_steps(means: Array, first: Array) -> Array:
    """Forces of each step, (N, forces), from means of the steps beside each inner instant: x_k+1 = 2 m_k - x_k.

    Args:
        means: at all instants, (N + 1, forces); those at both ends are no means.
        first: of the first step, (forces,).
    """
    signs = 1.0 - 2.0 * (np.arange(len(means) - 1) % 2)[:, None]
    terms = np.concatenate([first[None], -2.0 * signs[:-1] * means[1:-1]])
    return np.asarray(signs * np.cumsum(terms, axis=0))
