"""Dampers and servos that are too strong for the step: the rate that they shall stop swings about zero instead.

A damper d takes a rate down by exp(-d c h) in a step h, where c is the rate that a unit impulse along its
coordinate gives. Midpoint steps leave (2 - d c h) / (2 + d c h) of it: beyond d c h = 2 with the other sign, far
beyond for long.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.saddle import nearest_point
from phlexible.measure.energy import energy_of
from phlexible.state.forces import coordinate_row
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.system import ScalarForce, System

WINDOW = 33  # instants that follow each other, at the start, in the middle and at the end of a run
LEAST_WINDOW = 6
MOST_FORCES = 300  # with dampers; of more none is looked at
TURNS = 2.0  # d c h from which on a rate changes its sign in each step
CLEARLY = 2.0  # times that
SHARE = 0.25  # of the squares of a rate, in what changes its sign from instant to instant
ENERGY = 1e-2  # of the greatest kinetic energy, in that part: less is seen in rates of light parts only
NEGLIGIBLE = 1e-9  # of all energies, and of what weight does over the size of a body


def ringing_dampers(run: RecordedRun) -> list[str]:
    """Return a warning message for each damper or servo of a run that is too strong for the time step: the
    rate that it damps changes its sign at every recorded instant."""
    laws = [each for each in run.system.forces if each.force.damping > 0 and not each.force.is_strain]
    damped = [each for each in laws if not each.force.coordinate.history_variable_count]  # of several rates
    if not damped or len(damped) > MOST_FORCES:
        return []
    record, energy = run.recording, energy_of(run.recording)
    stored = record.kinetic + np.abs(energy.strain) + np.abs(energy.gravity) + np.abs(energy.spring)
    mass = sum(placed.data.mass for placed in run.system.bodies)
    weight = mass * float(np.linalg.norm(run.mechanism.gravity)) * run.system.body_length
    least = max(ENERGY * float(record.kinetic.max()), NEGLIGIBLE * (float(stored.max()) + weight))
    found: dict[str, str] = {}
    for rows in _instant_windows(record.time):
        part = run.at(rows)
        interval = float(part.recording.time[1] - part.recording.time[0])
        for each, rates in zip(damped, _rates(part, damped).T, strict=True):
            swing = (rates[2:] - 2 * rates[1:-1] + rates[:-2]) / 4
            name = str(each.element)
            if name in found or not _alternates(swing, rates[1:-1]):
                continue
            worst = int(np.argmax(np.abs(swing))) + 1
            compliance, body = _impulse_response(run.system, part, worst, each)
            strength = each.force.damping * compliance
            if strength * interval > CLEARLY * TURNS and swing[worst - 1] ** 2 / (2 * compliance) > least:
                found[name] = _message(each, body, strength, interval, float(part.recording.time[worst]))
    return list(found.values())


def _message(force: ScalarForce, body: str, strength: float, interval: float, time: float) -> str:
    return (
        f"{force.element} damps too strongly for the step: damping over the inertia that it moves, mostly that of"
        f" {body}, is {strength:.3g} 1/s, {strength * interval:.3g} in the {interval:.3g} s between instants;"
        f" beyond {TURNS:g} a decaying rate changes its sign in each step, as near t = {time:.4g} s. Take"
        f" steps of {TURNS / strength:.2g} s or less damping; use a drive, a lock or Fixed to prevent a motion"
    )


def _instant_windows(time: Array) -> Iterator[slice]:
    """Yield slices of 33 consecutive, evenly spaced instants at the start, in the middle and at the end of a
    run. ``time`` are its times [s]."""
    last = len(time)
    for begin in sorted({0, max(0, (last - WINDOW) // 2), max(0, last - WINDOW)}):
        intervals = np.diff(time[begin : begin + WINDOW])
        if len(intervals) >= LEAST_WINDOW and np.ptp(intervals) < 1e-6 * intervals[0]:
            yield slice(begin, begin + WINDOW)


def _rates(run: RecordedRun, forces: Sequence[ScalarForce]) -> Array:
    """Return the rates of the joint coordinates along which the given force elements act, at all instants of a run:
    shape (instants, forces) [rad/s or m/s]."""
    coordinates = [force.force.coordinate for force in forces]
    rows = [coordinate.functions() for coordinate in coordinates]
    functions = run.system.functions([row for span in rows for row in span])
    y, dy = functions.values(run.instants), functions.rates(run.instants, run.recording.velocity)
    begins: IntArray = np.cumsum([0, *(len(span) for span in rows)])
    result = np.zeros((run.count, len(forces)))
    for k, coordinate in enumerate(coordinates):
        span = slice(int(begins[k]), int(begins[k + 1]))
        gradients = np.array([coordinate.gradient(values) for values in y[:, span]])
        result[:, k] = (gradients * dy[:, span]).sum(axis=1)
    return result


def _alternates(swing: Array, rates: Array) -> bool:
    """Return whether a rate changes its sign from each instant to the next. It does if the squares of its
    alternating part ``swing`` are more than a quarter of those of ``rates``, and the products of neighbouring
    ``swing`` values are below minus a quarter of its squares, in sum over the instants."""
    square = float((swing**2).sum())
    changes = float((swing[1:] * swing[:-1]).sum())
    return square > SHARE * float((rates**2).sum()) > 0 and changes < -SHARE * square


def _impulse_response(system: System, run: RecordedRun, instant: int, force: ScalarForce) -> tuple[float, str]:
    """Return the rate that a unit impulse along the coordinate of a force element (``force``) of a system
    causes with all joints closed. It is the inverse effective mass at ``instant`` of a run. Return also the
    name of the body that moves most."""
    own = slice(instant, instant + 1)
    at, state = run.instants.at(own), run.recording.state(instant)
    system = system.phase(run.recording.locked_at[instant]).system
    row = coordinate_row(system, at, force.force.coordinate)[0]
    mass, joints = system.mass(state), sparse.csr_array(system.rows.matrix(at))
    velocities, _ = nearest_point(mass, joints).solve(row)
    momentum = mass @ velocities
    indices = [system.layout.span(index) for index in range(len(system.bodies))]
    shares = [float(velocities[offset] @ momentum[offset]) for offset in indices]
    return float(row @ velocities), system.bodies[int(np.argmax(shares))].name
