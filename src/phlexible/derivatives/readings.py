"""Readings of sensors at the states of steps, and their derivatives with respect to the states."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.derivatives.variations import Variation, move, pose_sizes, strain_indices
from phlexible.errors import ModelError
from phlexible.measure.kinematics import point_derivatives, weighted_point
from phlexible.state.instants import PrescribedFunctions, RecordedMotions
from phlexible.state.recorded_run import RecordedRun
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.recorder import recording_of
from phlexible.step.programs import energies_at

DIFFERENCE = 3e-6
"""Step of central differences, relative to characteristic lengths, angles and velocities; the error is of its
square.
"""

MOST_INSTANTS = 20_000
"""Number of instants that are read together."""

CENTRAL = ((1.0, 0.5), (-1.0, -0.5))
"""Steps of a difference and their weights; exact for readings that are quadratic in the state."""

OF_ENERGIES = ((1.0, 2 / 3), (-1.0, -2 / 3), (2.0, -1 / 12), (-2.0, 1 / 12))
"""Steps and weights that are exact for degree four, such as energies of quadratic strains with stiff parts."""

OF_STATES = ("position", "rotation", "eta", "velocity", "theta", "locked_at")
"""Stored tables that sensors may read; the others are no functions of the state."""


class RunOfStates(RecordedRun):
    """Recorded run whose instants are unrelated states. Sensors can read it, but quantities that are no functions
    of a single state are refused.
    """

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers (forces) of the joints of this run. Access always raises ``ModelError``, since joint forces
        are no functions of a single state and cannot be differentiated.

        Raises:
            ModelError: always.
        """
        raise ModelError("forces of joints cannot be differentiated yet; take sensors of positions and velocities")

    def rate(self, values: Array) -> Array:
        """Raise ``ModelError`` at every call, since this run consists of unrelated states, whose ``values`` have
        no time derivatives.

        Raises:
            ModelError: always.
        """
        raise ModelError("accelerations cannot be differentiated; take velocities, or the forces that cause them")


class Readable(Protocol):
    """Protocol of a sensor: an object that reads values from a recorded run."""

    @property
    def is_energy(self) -> bool:
        """Whether this sensor measures energies, whose derivatives need a difference formula of higher order."""

    def read(self, run: Any) -> Array:
        """Return the values of this sensor at all instants of a recorded simulation (``run``), shape (instants,)
        or (instants, components)."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Quantity of a run that is read like a sensor.

    Attributes:
        read: function of a recorded run; it returns the sensor values at all instants, shape (instants, ...).
        is_energy: whether it reads energies, as of ``Readable``.
    """

    read: Callable[[RecordedRun], Array]
    is_energy: bool = False


PROJECTED = Reading(lambda run: run.velocities)
"""All velocities of a mechanism after their projection onto the joint constraints (docs/theory.md, 4; (4.15))."""


@dataclass(frozen=True, eq=False)
class Reader:
    """Reader that evaluates sensors of one assembly at given times and states. The states may come from another
    assembly with the same unknowns.

    Attributes:
        assembly: whose sensors are read.
        times: of the states, shape (T,) [s].
        is_projected: whether velocities are projected onto the joints first, as in motions.
    """

    assembly: Assembly
    times: Array
    is_projected: bool = True

    @cached_property
    def prescribed(self) -> RecordedMotions:
        """Prescribed motions of the model at all times of this object: positions, rotations and velocities of
        moving frames, and paths with their rates."""
        system = self.assembly.system
        return RecordedMotions.of(PrescribedFunctions(system.moving_frames, system.paths, self.times))

    @cached_property
    def moving(self) -> Array:
        """Prescribed vectors of the mechanism at all times of this object, shape (times, 3 * vectors). They come
        from moving frames and paths, which are functions of time."""
        return self.assembly.moving_values(self.times)

    def read(self, sensors: Sequence[Readable], states: Mapping[str, Array], instants: IntArray) -> list[Array]:
        """Return a list with the values of each of the ``sensors`` at the given ``states``, shape (states,) or
        (states, components). States are arrays by name (position, rotation, velocity, ...) with a first axis
        (states,). ``instants`` are indices into the run's times. Raise ``ModelError`` for a sensor whose value
        does not follow from a single state, such as joint forces or work (NaN).

        Raises:
            ModelError: a sensor that reads more than a state: forces of joints, works, accelerations.
        """
        run = self.run(states, instants, any(sensor.is_energy for sensor in sensors))
        found = [sensor.read(run) for sensor in sensors]
        for sensor, values in zip(sensors, found, strict=True):
            if np.isnan(values).any():
                raise ModelError(
                    f"{sensor} is no function of the state alone (forces of joints and elements, works), and cannot"
                    " be differentiated yet"
                )
        return found

    def run(self, states: Mapping[str, Array], instants: IntArray, has_energies: bool = False) -> RunOfStates:
        """Return given states as a recorded run, so that sensors can be evaluated at them. ``states`` has an array
        (states, ...) for each name of a state array; ``instants`` are the indices of their times. Quantities that
        do not follow from a single state, such as joint forces, are NaN. Energies are computed only if
        ``has_energies``; with history variables that raises ``ModelError``.

        Args:
            states: tables of the states.
            instants: index of the time of each state.
            has_energies: whether energies are read.

        Raises:
            ModelError: energies of laws with history.
        """
        rows: dict[str, Array] = {}
        for name, table in self.assembly.memory.rows(self.assembly.memory.state[None]).items():
            unknown = 0.0 if name == "counter" else np.nan
            shape = (len(instants), *table.shape[1:])
            rows[name] = states[name] if name in OF_STATES else np.broadcast_to(unknown, shape)
        rows["work"] = np.broadcast_to(np.nan, (len(instants), 1))
        if has_energies:
            if len(strain_indices(self.assembly)):
                raise ModelError(
                    "energies of viscoelastic laws and bristles have no derivatives yet; take positions"
                )
            rows["energy"] = self._energies(states, instants)
        given = self.prescribed.at(instants)
        recording = recording_of(self.assembly.system, {"all": [0]}, self.times[instants], rows, prescribed=given)
        return RunOfStates(self.assembly.system, recording, is_projected=self.is_projected)

    def read_all(self, sensors: Sequence[Readable], states: Mapping[str, Array]) -> list[Array]:
        """Return a list with the values of each of the ``sensors`` at ``states``, one for each time of this
        object, shape (times,) or (times, components). States are arrays by the names in ``OF_STATES`` (position,
        rotation, velocity, ...), with a first axis (times,).

        Raises:
            ModelError: as ``read``.
        """
        return self.read(sensors, states, np.arange(len(self.times)))

    def _energies(self, states: Mapping[str, Array], instants: IntArray) -> Array:
        """Return the kinetic, strain, gravity and spring energy of each of the given ``states``, shape (states, 4)
        [J], by the compiled time-stepping code. ``states`` maps names of state arrays (position, rotation,
        velocity, ...) to arrays with a first axis (states,). ``instants`` are the indices of their times, at which
        moving frames are evaluated."""
        memory, found = self.assembly.memory, np.zeros((len(instants), 4))
        flat = np.zeros((len(instants), memory.counts["state_size"]))
        for name in OF_STATES:
            memory.rows(flat)[name][:] = states[name]
        energies_at(memory.header, len(flat), flat, self.moving[instants], found)
        return found


@dataclass(frozen=True, eq=False)
class Jacobian:
    """Derivatives of the values of one sensor with respect to pose and velocities at each instant of a run. Only
    those components of pose and velocities are stored on which the sensor depends.

    Attributes:
        directions: components of the pose, followed by those of the velocity, that the reading depends on, shape
            (d,).
        values: shape (T, components, d).
        velocities: number of velocities.
    """

    directions: IntArray
    values: Array
    velocities: int

    def vjp(self, instant: int, weights: Array, pose: Array, velocity: Array) -> None:
        """Add the product of an adjoint of the sensor value at an ``instant`` with this derivative to ``pose`` and
        ``velocity``, in place. ``weights`` is the adjoint, shape (..., components); ``pose`` and ``velocity`` have
        the shape (..., velocities)."""
        both = np.zeros((*weights.shape[:-1], 2 * self.velocities))
        both[..., self.directions] = weights @ self.values[instant]
        pose += both[..., : self.velocities]
        velocity += both[..., self.velocities :]

    def jvp(self, instant: int, pose: Array, velocity: Array) -> Array:
        """Return the change of the sensor value at an instant, shape (..., components), for changes of pose and
        velocity, shape (..., velocities) each."""
        both = np.concatenate([pose, velocity], axis=-1)[..., self.directions]
        return np.asarray(both @ self.values[instant].T)

    def jvp_all(self, states: Variation) -> Array:
        """Return the changes of the sensor values at all instants, shape (parameters, instants, components).
        ``states`` are changes of pose and velocities, shape (instants, parameters, velocities) each."""
        both = np.concatenate([states.pose, states.velocity], axis=-1)[..., self.directions]
        return np.asarray(np.einsum("tpd,tcd->ptc", both, self.values, optimize=True))


def states_at(rows: Mapping[str, Array], instants: IntArray) -> dict[str, Array]:
    """Return copies of those arrays of recorded states that sensors may read, at some ``instants`` (indices).
    ``rows`` has the arrays of all instants by name, the result those named in ``OF_STATES`` (position, rotation,
    eta, velocity, ...), each with a first axis (instants,).
    """
    return {name: rows[name][instants] for name in OF_STATES}


def state_jacobian(reader: Reader, rows: Mapping[str, Array], sensor: Readable) -> Jacobian:
    """Return the derivatives of a sensor's values with respect to pose and velocities in all states, one state for
    each time of the ``reader``. The states ``rows`` are arrays by name (position, rotation, velocity, ...), with a
    first axis (times,)."""
    instants = np.arange(len(reader.times))
    directions, parts = _slopes(reader, rows, sensor, instants)
    velocities = int(reader.assembly.memory.counts["velocities"])
    return Jacobian(directions, np.concatenate([each for _, each in parts]), velocities)


def slopes_of_costs(
    reader: Reader, rows: Mapping[str, Array], weighted: Sequence[Sequence[tuple[Readable, Array]]]
) -> list[Variation]:
    """Return, for each of several costs, its derivatives with respect to pose and velocities at all instants, as a
    list of ``Variation``. In ``weighted``, a cost is a list of pairs: a sensor and weights of its values
    (instants, ...). Each sensor is differentiated once for all costs, at instants with nonzero weight. ``rows``
    are the recorded states, arrays by name (position, rotation, velocity, ...) over the reader's times.

    Args:
        reader: reads the sensors.
        rows: the states.
        weighted: sensors of each cost and weights shaped as their sensor values; a sensor of several costs is read
            once.
    """
    size, count = int(reader.assembly.memory.counts["velocities"]), len(reader.times)
    pose, velocity = np.zeros((2, len(weighted), count, size))
    by_sensor: dict[int, tuple[Readable, list[tuple[int, Array]]]] = {}
    for number, pairs in enumerate(weighted):
        for sensor, weight in pairs:
            flat = weight.reshape(count, -1)
            if flat.any():
                by_sensor.setdefault(id(sensor), (sensor, []))[1].append((number, flat))
    for sensor, weighed in by_sensor.values():
        used = np.flatnonzero(np.any([(flat != 0).any(axis=1) for _, flat in weighed], axis=0))
        directions, parts = _slopes(reader, rows, sensor, used)
        for own, values in parts:
            for number, flat in weighed:
                slopes = np.zeros((len(own), 2 * size))
                slopes[:, directions] = np.einsum("tc,tcd->td", flat[own], values)
                pose[number, own] += slopes[:, :size]
                velocity[number, own] += slopes[:, size:]
    return [Variation(*each) for each in zip(pose, velocity, strict=True)]


def difference_steps(reader: Reader, rows: Mapping[str, Array]) -> Array:
    """Return the increments of central differences for all components of pose and velocity, shape (2 *
    velocities,). They are fixed fractions of the mechanism's length, of 1 rad and of the largest recorded speed
    (if that is zero, length over duration). ``reader`` has the model's arrays. Of the recorded states ``rows``,
    only "velocity" (times, velocities) is used."""
    system, weight = reader.assembly.system, np.asarray(reader.assembly.memory["velocity_weight"])
    length = system.largest_length
    speed = float(np.abs(rows["velocity"] * weight).max(initial=0.0)) or length / (
        float(np.ptp(reader.times)) or 1.0
    )
    pose = DIFFERENCE * pose_sizes(system, length, weight)
    return np.concatenate([pose, DIFFERENCE * speed / weight])


def _slopes(
    reader: Reader, rows: Mapping[str, Array], sensor: Readable, instants: IntArray
) -> tuple[IntArray, Iterator[tuple[IntArray, Array]]]:
    """Return the indices (d,) of the components of pose and velocity on which a ``sensor`` depends, and its
    derivatives with respect to them. An index from n on means a velocity, for n velocities. The derivatives are an
    iterator over pairs: some of the ``instants``, and an array (these instants, sensor components, d). They are
    exact for weighted positions of body points, else central differences. ``reader`` computes sensor values from
    recorded states; ``rows`` are these, arrays by name.

    Returns:
        The components; and chunks of instants with derivatives there, shape (instants, components, d).
    """
    if (weighed := weighted_point(sensor)) is not None:
        point, weights = weighed
        directions, values = point_derivatives(reader.run(states_at(rows, instants), instants), point)
        return directions, iter([(instants, np.asarray(np.einsum("ci,tid->tcd", weights, values)))])
    steps = difference_steps(reader, rows)
    # Velocities are brought onto the joints before they are read: on those that hold, which events change.
    holding = np.isfinite(states_at(rows, instants)["locked_at"]).reshape(len(instants), -1)
    _, indices = np.unique(holding[::-1], axis=0, return_index=True)
    found = [_relevant(reader, rows, sensor, int(instants[::-1][index]), steps) for index in indices]
    directions = np.unique(np.concatenate(found))
    chunk = max(1, MOST_INSTANTS // (len(_stencil(sensor)) * len(directions)))
    chunks = (instants[begin : begin + chunk] for begin in range(0, len(instants), chunk))
    return directions, ((own, _differences(reader, rows, sensor, own, directions, steps)) for own in chunks)


def _differences(
    reader: Reader,
    rows: Mapping[str, Array],
    sensor: Readable,
    instants: IntArray,
    directions: IntArray,
    steps: Array,
) -> Array:
    """Return the derivatives of a sensor's values along chosen components (``directions``) of pose and velocity at
    some ``instants``, shape (instants, components, directions). Central differences with increments ``steps`` are
    used. ``reader`` evaluates sensors; ``rows`` are the recorded states, arrays by name (position, rotation,
    velocity, ...)."""
    count, (shares, weight) = len(directions), np.array(_stencil(sensor)).T
    changes = np.zeros((count, len(shares), len(steps)))
    changes[np.arange(count), :, directions] = steps[directions, None] * shares
    read = _perturbed_readings(reader, rows, sensor, instants, changes.reshape(-1, len(steps)))
    read = read.reshape(len(instants), count, len(shares), -1)
    return np.asarray(np.einsum("tdsc,s->tcd", read, weight) / steps[directions])


def _perturbed_readings(
    reader: Reader, rows: Mapping[str, Array], sensor: Readable, instants: IntArray, changes: Array
) -> Array:
    """Return the values of a ``sensor`` in recorded states, at each of some ``instants``, after each of k
    ``changes`` of pose and velocity. The shape is (instants * k, ...); the k values of one instant are adjacent,
    since angles are unwrapped. ``changes`` (k, 2 n) are small motions of the pose in the order of the n velocities,
    then changes of these velocities. ``rows`` are the recorded arrays by name (position, rotation, velocity, ...),
    ``reader`` evaluates sensors.
    """
    where = np.repeat(instants, len(changes))
    states, pairs = states_at(rows, where), np.tile(changes, (len(instants), 1))
    move(reader.assembly.system.layout, states, Variation(*np.split(pairs, 2, axis=1)))
    return reader.read([sensor], states, where)[0]


def _stencil(sensor: Readable) -> tuple[tuple[float, float], ...]:
    return OF_ENERGIES if sensor.is_energy else CENTRAL


def _relevant(reader: Reader, rows: Mapping[str, Array], sensor: Readable, instant: int, steps: Array) -> IntArray:
    """Return the indices of all components of pose and velocity of those bodies on which the value of a ``sensor``
    depends. For each body, first the pose, then the velocities are changed by random fractions of ``steps``, near
    the recorded state at ``instant``; any change of the value that ``reader`` computes counts. If nothing changes
    it, only the first index is returned. ``rows`` are the recorded states, arrays by name.
    """
    layout = reader.assembly.system.layout
    size, bodies = len(steps) // 2, range(len(layout.bodies))
    somewhere, sizes = np.random.default_rng(1).uniform(0.5, 1.0, (2, 2 * size)) * steps
    groups = [np.arange(layout.velocity[k], layout.velocity[k + 1]) + part for part in (0, size) for k in bodies]
    changes = np.tile(somewhere, (len(groups) + 1, 1))
    for change, group in zip(changes[1:], groups, strict=True):
        change[group] += sizes[group]
    before, *after = _perturbed_readings(reader, rows, sensor, np.array([instant]), changes)
    found = [group for group, values in zip(groups, after, strict=True) if not np.array_equal(values, before)]
    return np.concatenate(found or [groups[0][:1]])  # of what nothing changes, a component with derivative zero
