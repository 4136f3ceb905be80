"""Finds runs whose steps were too long, or too short, for what moved in them (docs/theory.md, 4)."""

import numpy as np

from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.observables.quality.contact_steps import long_contact_steps
from phlexible.observables.run import RecordedRun

GREATEST_ERROR = 1e-2  # of a step, (4.22)
ALTERNATING = 0.05  # of the energy
NOTICEABLE = 1e-9  # errors of a step below it are noise
MANY_ITERATIONS = 15  # a step
AT_REST = 1e-6  # energies below this share of the round-off of a step are those of nothing that moves
LOST = 1e-10  # of the energy, in round-off of positions


def long_steps(run: RecordedRun, steps: int | None = None) -> list[str]:
    """What says that the steps were too long, or too short, in words.

    Args:
        steps: how many there were, or parts of composed steps, between the first and the last instant; None:
            not known.
    """
    record, found = run.recording, []
    worst = int(np.argmax(record.step_error))
    error = float(record.step_error[worst])
    if error > GREATEST_ERROR:
        found.append(
            f"the steps are too long: near t = {record.time[worst]:.4g} s a step errs by about {error:.2g} of the "
            "longest body (motion.step_error), whatever energy and momenta say; take a smaller step, or tolerance="
        )
    is_complete = steps is not None and steps + 1 == len(record.time)
    if is_complete and error > NOTICEABLE and (share := alternating_share(run)) > ALTERNATING:
        found.append(
            f"{100 * share:.0f} % of the energy is in elastic rates that change their sign in every step: "
            'vibrations much faster than the step. Start with initial="quasi_static", give viscosity or '
            "numerical_damping, or take a smaller step"
        )
    taken = (steps or 0) + int(record.contact_steps[-1] - record.contact_steps[0])
    if steps and (mean := (record.iterations[-1] - record.iterations[0]) / taken) > MANY_ITERATIONS:
        found.append(
            f"Newton's method needs {mean:.0f} iterations a step: the steps are too long for the motion, or the "
            "bodies too soft for the loads; take a smaller step"
        )
    if steps:
        found += long_contact_steps(run, float(record.time[-1] - record.time[0]) / steps)
    if steps and (lost := lost_in_round_off(run, steps)) > LOST:
        found.append(
            f"the motion is too slow for such short steps: round-off of positions changes about {lost:.1g} of "
            "its energy; take longer steps, or place the model closer to the origin"
        )
    return found


def lost_in_round_off(run: RecordedRun, steps: int) -> float:
    """Share of the energy, about, that closing joints to the last digit of positions adds in all steps (4.24)."""
    record, system = run.recording, run.system
    duration = float(record.time[-1] - record.time[0])
    if not system.owners or not duration:
        return 0.0
    mass = sum(placed.data.mass for placed in system.bodies)
    digit = float(np.finfo(float).eps * np.abs(record.position).max())
    noise = mass * (digit * steps / duration) ** 2  # of one step
    stored = record.kinetic + np.abs(record.strain) + np.abs(record.spring)
    weight = mass * float(np.linalg.norm(system.mechanism.gravity)) * system.body_length
    given = weight + float(np.abs(record.work).max(axis=0).sum())
    wandered = 4.0 * digit * steps**1.5  # four deviations of what such digits in every step add up to
    stays = float(np.ptp(record.position, axis=0).max(initial=0.0)) <= wandered
    if stored[0] + given <= AT_REST * noise or (record.kinetic[0] <= noise and not given and stays):
        return 0.0
    return steps * noise / (float(stored.max()) + given)


def alternating_share(run: RecordedRun) -> float:
    """Share of the energy, over all stored instants, in the part of deta/dt that changes its sign."""
    record = run.recording
    if len(record.time) < 3 or not record.kinetic.any():
        return 0.0
    energy = 0.0
    for index, placed in enumerate(run.system.bodies[: run.system.layout.frames]):
        if not isinstance(placed.data, FloatingBody) or not placed.data.elastic_count:
            continue
        own = record.velocity[:, run.system.layout.place(index)][:, -placed.data.elastic_count :]
        part = (own[:-2] - 2 * own[1:-1] + own[2:]) / 4
        energy += 0.5 * float(np.einsum("ti,ij,tj->", part, elastic_mass(placed.data), part))
    stored = record.kinetic + np.abs(record.strain) + np.abs(record.spring)
    return energy / float(stored[1:-1].sum())
