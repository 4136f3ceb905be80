"""What sensors read from the states of steps, and how that changes with the states."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.derivatives.taken_steps import Functions, TakenSteps
from phlexible.derivatives.variations import Variation, moved
from phlexible.errors import ModelError
from phlexible.kernels.differentiation import energies_at
from phlexible.observables.reader import Reader
from phlexible.observables.run import RecordedRun
from phlexible.sensors.bodies import EnergyOf
from phlexible.sensors.sensor import Sensor
from phlexible.system.instants import GivenFunctions, RecordedGiven
from phlexible.time_integration.recorder import recording_of

DIFFERENCE = 3e-6
"""Of lengths, angles and velocities that stand for the motion: central differences err by its square."""

MOST_INSTANTS = 20_000
"""Instants that are read at a time."""

CENTRAL = ((1.0, 0.5), (-1.0, -0.5))
"""Steps of a difference and their weights: exact for readings that are quadratic in the state."""

OF_ENERGIES = ((1.0, 2 / 3), (-1.0, -2 / 3), (2.0, -1 / 12), (-2.0, 1 / 12))
"""Exact for those of degree four, such as energies of quadratic strains, whose stiff parts are far from linear."""

PATH_DEPENDENT = ("multiplier", "force", "work", "dissipated")
"""Stored tables that are no functions of the state."""


class StateReader(Reader):
    """A reader that refuses what is no function of a single state."""

    @cached_property
    def multipliers(self) -> Array:
        """None.

        Raises:
            ModelError: always.
        """
        raise ModelError("forces of joints cannot be differentiated yet; take sensors of positions and velocities")

    def rate(self, values: Array) -> Array:
        """None.

        Raises:
            ModelError: always.
        """
        raise ModelError("accelerations cannot be differentiated; take velocities, or the forces that cause them")


@dataclass(frozen=True, eq=False)
class Sight:
    """Reads sensors of one assembly from rows of states that another one with the same unknowns may have made.

    Attributes:
        assembly: whose sensors are read.
        times: of the rows, shape (T,) [s].
        functions: what is given then.
    """

    assembly: Assembly
    times: Array
    functions: Functions

    @cached_property
    def given(self) -> RecordedGiven:
        """Moving frames and paths at all times."""
        system = self.assembly.system
        own = GivenFunctions(system.moving_frames, system.paths, self.times)
        return RecordedGiven(
            own.frames,
            own.frame_rotations,
            own.frame_velocities,
            own.frame_angular_velocities,
            own.paths,
            own.path_rates,
        )

    def read(self, sensors: Sequence[Sensor], states: Array, instants: IntArray) -> list[Array]:
        """Of the states, each at one of the times by its number, shape (states,) or (states, components).

        Raises:
            ModelError: a sensor that reads more than a state: forces of joints, works, accelerations.
        """
        memory = self.assembly.memory
        rows = dict(memory.rows(states))
        rows |= {name: np.full_like(rows[name], np.nan) for name in PATH_DEPENDENT}
        rows["work"] = np.full((len(states), 1), np.nan)
        rows["energy"] = np.full((len(states), 4), np.nan)
        if any(isinstance(sensor, EnergyOf) for sensor in sensors):
            energies_at(memory.header, len(states), states, self.functions.moving[instants], rows["energy"])
        given = self.given.at(instants)
        recording = recording_of(self.assembly.system, {"all": [0]}, self.times[instants], rows, given=given)
        reader = StateReader(RecordedRun(self.assembly.system, recording))
        found = [sensor.read(reader) for sensor in sensors]
        for sensor, values in zip(sensors, found, strict=True):
            if np.isnan(values).any():
                raise ModelError(
                    f"{sensor} is no function of the state alone (forces of joints and elements, works), and cannot"
                    " be differentiated yet"
                )
        return found


def sight_of(run: TakenSteps) -> Sight:
    """Of the run's own assembly."""
    return Sight(run.assembly, run.times, run.functions)


def state_slopes(run: TakenSteps, sensors: Sequence[Sensor], weights: Sequence[Array]) -> Variation:
    """d/d(states) of sum over instants of weights . readings, each (N + 1, velocities).

    Args:
        run: the states.
        sensors: that are read.
        weights: shaped as their readings.
    """
    size = run.assembly.memory.counts["velocities"]
    pose, velocity = np.zeros((2, run.count + 1, size))
    sight, steps = sight_of(run), difference_steps(run)
    for sensor, weight in zip(sensors, weights, strict=True):
        flat = weight.reshape(run.count + 1, -1)
        used = np.flatnonzero(np.any(flat != 0, axis=1))
        if not len(used):
            continue
        directions = _touching(sight, run, sensor, used)
        chunk = max(1, MOST_INSTANTS // (len(_stencil(sensor)) * max(1, len(directions))))
        for begin in range(0, len(used), chunk):
            own = used[begin : begin + chunk]
            slopes = np.zeros((len(own), 2 * size))
            slopes[:, directions] = _slopes(sight, run, sensor, flat[own], own, directions, steps)
            pose[own] += slopes[:, :size]
            velocity[own] += slopes[:, size:]
    return Variation(pose, velocity)


def difference_steps(run: TakenSteps) -> Array:
    """A small change of each number of pose and velocity, shape (2 velocities,)."""
    system, weight = run.system, np.asarray(run.assembly.memory["velocity_weight"])
    length = system.largest_length
    speed = float(np.abs(run.rows["velocity"] * weight).max(initial=0.0)) or length / (run.step * run.count)
    pose = DIFFERENCE * length / weight
    pose[system.layout.spin[2]] = DIFFERENCE
    return np.concatenate([pose, DIFFERENCE * speed / weight])


def _slopes(
    sight: Sight,
    run: TakenSteps,
    sensor: Sensor,
    weights: Array,
    instants: IntArray,
    directions: IntArray,
    steps: Array,
) -> Array:
    """Differences along directions at instants, shape (instants, directions)."""
    size, count, stencil = len(steps) // 2, len(directions), _stencil(sensor)
    changes = np.zeros(
        (len(instants), count, len(stencil), 2 * size)
    )  # of one instant together: angles are unwrapped
    for k, (share, _) in enumerate(stencil):
        changes[:, np.arange(count), k, directions] = share * steps[directions]
    each = changes.reshape(-1, 2 * size)
    where = np.repeat(instants, len(stencil) * count)
    states = run.states[where]
    moved(run.system.layout, run.assembly.memory.rows(states), Variation(each[:, :size], each[:, size:]))
    values = sight.read([sensor], states, where)[0].reshape(len(instants), count, len(stencil), -1)
    shares = np.array([share for _, share in stencil])
    return np.asarray(np.einsum("tdsc,s,tc->td", values, shares, weights) / steps[directions])


def _stencil(sensor: Sensor) -> tuple[tuple[float, float], ...]:
    return OF_ENERGIES if isinstance(sensor, EnergyOf) else CENTRAL


def _touching(sight: Sight, run: TakenSteps, sensor: Sensor, used: IntArray) -> IntArray:
    """Directions of poses and velocities in which the reading changes.

    Whole bodies are tried, beside a state that is not at rest and where nothing is zero.
    """
    layout, steps = run.system.layout, difference_steps(run)
    size = len(steps) // 2
    random = np.random.default_rng(1)
    place = used[-1:]
    somewhere, sizes = random.uniform(0.5, 1.0, (2, 2 * size)) * steps

    def read(change: Array) -> Array:
        states = run.states[place]
        moved(layout, run.assembly.memory.rows(states), Variation(change[None, :size], change[None, size:]))
        return sight.read([sensor], states, place)[0]

    before, found = read(somewhere), []
    for offset in (0, size):
        for index in range(len(layout.bodies)):
            own = np.arange(layout.place(index).start, layout.place(index).stop) + offset
            change = somewhere.copy()
            change[own] += sizes[own]
            if not np.array_equal(before, read(change)):
                found.append(own)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
