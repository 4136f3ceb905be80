"""Derivatives of events, with positions of locks and instants at which conditions are met (docs/theory.md, 9)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.readings import PROJECTED, Jacobian, Readable, Reader, Reading, state_jacobian
from phlexible.derivatives.runs import RunInterval, TakenRun, VelocityJump
from phlexible.derivatives.step_derivatives import pose_map
from phlexible.derivatives.steps import TakenSteps, constraint_rows
from phlexible.errors import ModelError
from phlexible.measure.when import When
from phlexible.step.assembly.assembly import Assembly

SHORT = 1e-4
"""Relative step of central differences in time, compared with the steps at an event."""


def read_at(time: float, state: Array, assembly: Assembly, sensor: Readable) -> Array:
    """Return the reading of a sensor in one state of a model at a time [s]. ``state`` is one row of the state
    tables, ``assembly`` the tables of numbers of the model."""
    found = Reader(assembly, np.array([time])).read_all([sensor], assembly.memory.rows(state[None]))
    return np.asarray(found[0][0])


def slopes_at(time: float, state: Array, assembly: Assembly, sensor: Readable) -> Jacobian:
    """Return the derivative of a sensor reading with respect to pose and velocities in a single state of a model at
    a time [s]. ``state`` is a flat state, ``assembly`` the tables of numbers of the model."""
    return state_jacobian(Reader(assembly, np.array([time])), assembly.memory.rows(state[None]), sensor)


def _lock_reading(jump: VelocityJump, assembly: Assembly) -> Reading:
    """Return the reading of the constraint functions that measure the joint coordinates which an event (``jump``)
    locks, shape (instants, locks). ``assembly`` holds the tables of the model."""
    switches = assembly.system.row_switches
    rows = np.array([np.flatnonzero(switches == k)[0] for k in jump.locks], dtype=np.int64)
    return Reading(lambda run: run.system.row_values(run.instants, run.recording.theta)[:, rows])


def lock_positions(jump: VelocityJump, assembly: Assembly) -> Array:
    """Return the joint coordinates at which an event (``jump``) locks joints, shape (locks,) [m or rad]:
    their values in the state before the event. ``assembly`` holds the tables of the model."""
    if not jump.locks:
        return np.zeros(0)
    return read_at(jump.time, jump.before, assembly, _lock_reading(jump, assembly))


def lock_slopes(jump: VelocityJump, assembly: Assembly) -> Jacobian:
    """Return the derivative of the joint coordinates at which an event (``jump``) locks joints with respect
    to pose and velocities before the event. The state before the event fixes these coordinates. ``assembly``
    holds the tables of the model. A lock keeps a joint coordinate constant from an event of the run on."""
    return slopes_at(jump.time, jump.before, assembly, _lock_reading(jump, assembly))


def velocities_after(jump: VelocityJump, assembly: Assembly) -> Array:
    """Return the velocities after a jump of the velocities (projection onto the constraints, as at events), shape
    (velocities,). They are computed from the recorded state before it with the data of ``assembly``, a (perturbed)
    model."""
    return read_at(jump.time, jump.before, assembly, PROJECTED)


def excess_at(jump: VelocityJump, assembly: Assembly) -> float:
    """Return by how much the condition of an event (``jump``) exceeds its threshold in the recorded state of the
    event: positive where it is met, also for a condition ``below``. For an event at a prescribed time it is the
    time since then [s]. Data are those of a (perturbed) ``assembly``."""
    assert jump.at_event is not None, "of an event"
    return float(read_at(jump.time, jump.at_event, assembly, _condition(jump, assembly)))


def _condition(jump: VelocityJump, assembly: Assembly) -> Reading:
    """Return the reading of by how much the condition of an event (``jump``) exceeds its threshold, zero at the
    event: of an event at a prescribed time the time since then [s]."""
    when = assembly.system.mechanism.events[jump.event].when
    if isinstance(when, float):
        return Reading(lambda run: run.time - when)
    assert isinstance(when, When), "of a model that runs"
    is_energy = any(sensor.is_energy for sensor in when.sensors)
    return Reading(lambda run: when.excess(run.time, [sensor.read(run) for sensor in when.sensors]), is_energy)


def slopes_of_locks(stretch: TakenSteps, first: int, last: int) -> Array:
    """Return the derivative of time step residuals with respect to the joint coordinates at which locks hold
    joints, shape (steps, switches, unknowns). The time steps are those between the instants ``first`` and
    ``last`` of a stretch of time steps. A lock keeps a joint coordinate constant from an event of the run on."""
    assembly = stretch.assembly
    switches, rows = assembly.system.row_switches, constraint_rows(assembly)
    held = stretch.rows["locked_at"][first]
    found = np.zeros((last - first, len(held), assembly.memory.counts["unknowns"]))
    for row in np.flatnonzero(switches >= 0):
        if not np.isnan(held[switches[row]]):
            found[:, switches[row], rows[row]] = -1.0 / stretch.sizes[first:last]
    return found


@dataclass(frozen=True, eq=False)
class Crossing:
    """Event that occurs inside of a step, with the derivatives of the motion with respect to its instant. The step
    ends at the event and the next one begins there.

    Attributes:
        run: in which the event occurs.
        jump: of the velocities at the event.
        before, after: stretch, first and last row of the steps that end and that begin there.
    """

    run: TakenRun
    jump: VelocityJump
    before: tuple[int, int, int]
    after: tuple[int, int, int]

    @cached_property
    def in_steps(self) -> tuple[Array, Array]:
        """Derivatives of step residuals with respect to the instant of this event: a pair of arrays (steps,
        unknowns), for the time steps before and after it. Instants between move in proportion, the first
        before and the last after the event stay."""
        (own, a, b), (other, c, d) = self.before, self.after
        stretches = self.run.stretches
        first, second = stretches[own].times[a : b + 1], stretches[other].times[c : d + 1]
        rise, fall = (first - first[0]) / (first[-1] - first[0]), (second[-1] - second) / (second[-1] - second[0])
        return stretches[own].time_slopes(a, b, rise, SHORT), stretches[other].time_slopes(c, d, fall, SHORT)

    @cached_property
    def moved(self) -> tuple[Array, Array]:
        """Derivatives of the pose change in each time step around this event with respect to its instant, at
        constant velocities. Two arrays (steps, velocities): before the event each step grows in proportion to
        its length, after it each shrinks."""
        found = []
        for sign, (number, first, last) in ((1, self.before), (-1, self.after)):
            stretch = self.run.stretches[number]
            velocities = stretch.rows["velocity"]
            ways = [pose_map(stretch, k) @ (velocities[k] + velocities[k + 1]) for k in range(first, last)]
            found.append(sign * np.array(ways) / stretch.sizes[first:last].sum())
        return found[0], found[1]

    @cached_property
    def state(self) -> tuple[Array, Array]:
        """Derivatives of pose and velocities at this event with respect to its instant, two arrays
        (velocities,): what the time steps before it give if they are stretched to end later. The state at
        their start is constant."""
        number, first, last = self.before
        both = np.zeros((2, 1, self.run.velocities))
        for k in range(first, last):
            ends = np.zeros((2, 2, 1, self.run.velocities))
            ends[:, 0] = both
            equations = np.ascontiguousarray(self.in_steps[0][k - first][None, None])
            self.run.stretches[number].jvp(k, k + 1, ends[0], ends[1], equations)
            both = ends[:, 1].copy()
            both[0, 0] += self.moved[0][k - first]
        return both[0, 0], both[1, 0]

    @cached_property
    def condition(self) -> Jacobian:
        """Derivative of the condition of this event (its quantity minus threshold) with respect to pose and
        velocities at the event."""
        assert self.jump.at_event is not None, "of an event"
        sensor = _condition(self.jump, self.run.assembly)
        return slopes_at(self.jump.time, self.jump.at_event, self.run.assembly, sensor)

    @cached_property
    def rate(self) -> float:
        """Total time derivative of the condition of this event along the computed motion, at the event [unit of the
        condition per second]. Changes of the condition divided by it shift the instant."""
        assert self.jump.at_event is not None, "of an event"
        q, v = self.state
        in_time = self._in_time(_condition(self.jump, self.run.assembly), self.jump.at_event)
        return float(self.condition.jvp(0, q, v)[0] + in_time)

    @cached_property
    def velocity_slope(self) -> Array:
        """Derivative of the velocities after this event with respect to its instant, at a constant state before it,
        shape (velocities,). It is zero unless motions are prescribed."""
        if not self.run.assembly.moving:
            return np.zeros(self.run.velocities)
        return self._in_time(PROJECTED, self.jump.before)

    def _in_time(self, sensor: Readable, state: Array) -> Array:
        number, first, last = self.before
        times, assembly, time = self.run.stretches[number].times, self.run.assembly, self.jump.time
        size = SHORT * abs(float(times[last] - times[first]))
        return np.asarray(
            (read_at(time + size, state, assembly, sensor) - read_at(time - size, state, assembly, sensor))
            / (2 * size)
        )


def crossings_of(run: TakenRun) -> dict[int, Crossing]:
    """Return the events of a run that occur inside of a time step, with what their derivatives need. The
    result is a dictionary by their index in ``run.course``.

    Raises:
        ModelError: laws of the state act in the steps that end there.
    """
    found: dict[int, Crossing] = {}
    for k, each in enumerate(run.course):
        if not isinstance(each, VelocityJump) or each.span is None:
            continue
        if run.has_laws:
            raise ModelError(
                "a condition that ends a step (model.at(When(...))) and StateForce in one model cannot be"
                " differentiated yet; take springs, dampers or joint.servo instead of the function"
            )
        before = next(own for own in reversed(run.course[:k]) if isinstance(own, RunInterval))
        after = next(own for own in run.course[k:] if isinstance(own, RunInterval))
        ends, begins = each.span
        found[k] = Crossing(
            run,
            each,
            (before.stretch, before.last - ends, before.last),
            (after.stretch, after.first, after.first + begins),
        )
    return found
