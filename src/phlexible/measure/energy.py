"""Energies, momenta and events of a run, and the sensor of energies."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import numpy as np

from phlexible.algebra.arrays import Array, convert_fields, make_arrays_read_only, option, option_of
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import rigid_rows, velocity_components
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.display import Html, short_repr, sparkline, table
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.vectors import split_rigid

# The energy ledger: what is stored, what loads and drives supplied, what was lost.


@dataclass(frozen=True, eq=False)
class Energy:
    """Energy balance of a run: stored energies, work of loads and drives, and losses at the stored instants, shape
    (instants,) each [J].

    Attributes:
        kinetic: kinetic energy of all bodies.
        strain: elastic energy of all bodies.
        spring: energy of springs between bodies.
        gravity: potential energy of weight, zero for masses at the world origin.
        work: done since t = 0 by each load and drive, by its name.
        dissipated: lost since t = 0 in damping.
    """

    kinetic: Array
    strain: Array
    spring: Array
    gravity: Array
    work: dict[str, Array]
    dissipated: Array

    def __post_init__(self) -> None:
        make_arrays_read_only(self)

    def __repr__(self) -> str:
        least, most = float(self.total.min()), float(self.total.max())
        return f"Energy({len(self.kinetic)} instants, total {least:.6g} to {most:.6g} J)"

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks of this energy balance, one row for each energy or work [J]. The
        columns are the values at the start and at the end of the run, the minimum, the maximum, and a small curve
        over time. Energies that are always zero are left out, except the total."""
        parts = {name: getattr(self, name) for name in ("kinetic", "strain", "spring", "gravity", "total")}
        parts |= {f"work of {name}": work for name, work in self.work.items()}
        parts |= {"dissipated": self.dissipated, "balance error": self.balance_error}
        rows: list[tuple[str | Html, ...]] = [
            (name, *(f"{x:.5g}" for x in (e[0], e[-1], e.min(), e.max())), sparkline(e, f"{name} over time"))
            for name, e in parts.items()
            if e.any() or name == "total"
        ]
        return table(rows, ("[J]", "start", "end", "least", "greatest", ""))

    @property
    def total(self) -> Array:
        """Total stored energy of the mechanism at all recorded instants, shape (instants,) [J]: kinetic, elastic,
        spring and gravitational energy."""
        return np.asarray(self.kinetic + self.strain + self.spring + self.gravity)

    @property
    def absolute(self) -> Array:
        """Kinetic energy plus absolute values of all potential energies of a run at all recorded instants, shape
        (instants,) [J]. Errors of energies are compared with it."""
        return np.asarray(self.kinetic + np.abs(self.strain) + np.abs(self.spring) + np.abs(self.gravity))

    @property
    def supplied(self) -> Array:
        """Work that all loads and drives together have done on the mechanism since t = 0, shape (instants,) [J]."""
        return np.asarray(np.sum([np.zeros_like(self.kinetic), *self.work.values()], axis=0))

    @property
    def balance_error(self) -> Array:
        """Error of the energy balance of a run at all recorded instants, shape (instants,) [J]: change of the
        stored energy since t = 0, minus supplied work, plus dissipated energy. It is zero up to the tolerance of
        the solver."""
        return np.asarray(self.total - self.total[0] - self.supplied + self.dissipated)


def energy_of(recording: RecordedStates) -> Energy:
    """Return the recorded stored energies, works and losses of a run as an ``Energy`` object, which computes
    totals and the balance error from them. ``recording`` are the recorded states of the run."""
    return Energy(
        recording.kinetic,
        recording.strain,
        recording.spring,
        recording.gravity,
        dict(zip(recording.work_names, recording.work.T, strict=True)),
        recording.dissipated,
    )


class EnergyKind(Enum):
    """Kinds of energy that can be measured: stored energies, their total, supplied work and losses."""

    KINETIC = "kinetic"
    STRAIN = "strain"
    SPRING = "spring"
    GRAVITY = "gravity"
    TOTAL = "total"
    SUPPLIED = "supplied"
    DISSIPATED = "dissipated"


@dataclass(frozen=True, eq=False)
class EnergyOf(Sensor):
    """Sensor of one of the energies of the whole model, such as its kinetic energy; readings have shape (instants,)
    [J].

    Attributes:
        kind: "kinetic", "strain", "spring", "gravity", "total", "supplied" or "dissipated".

    Raises:
        ParameterError: another word.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(2.0), "stone")
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.EnergyOf("kinetic")][-1]), 6)  # m g^2 t^2 / 2 [J]
        96.2361
    """

    kind: Annotated[EnergyKind | str, option_of(EnergyKind)] = EnergyKind.TOTAL

    label, unit = "energy", "J"
    is_energy = True

    def __post_init__(self) -> None:
        convert_fields(self)

    def __str__(self) -> str:
        return f"{self._name} {self.label}"

    def read(self, run: RecordedRun) -> Array:
        """Return the chosen kind of energy (kinetic, strain, total, ...) of the whole model at all instants of a
        run, shape (instants,) [J]."""
        return np.asarray(getattr(energy_of(run.recording), self._name))

    @property
    def _name(self) -> str:
        return option("kind", self.kind, EnergyKind).value


NEGLIGIBLE = 1e-6
"""Of the greatest energy: a strain energy that changes less says nothing about when a run is worth looking at."""


def most_deformed_instant(recording: RecordedStates) -> int:
    """Return the index of the recorded instant with the largest strain energy, to be drawn. If the strain energy
    changes by at most 1e-6 of the larger of both energies, return the index with the largest kinetic energy
    instead. ``recording`` are the recorded states of a run."""
    strain, kinetic = recording.strain, recording.kinetic
    largest = max(float(np.abs(strain).max()), float(kinetic.max()))
    return int(np.argmax(strain if np.ptp(strain) > NEGLIGIBLE * largest else kinetic))


# Linear and angular momentum of the whole system, and its centre of mass (docs/theory.md, 2).

CHUNK_VALUES = 4_000_000
"""About this many numbers are held at a time."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """Linear and angular momentum and centre of mass of the whole mechanism over time, in world axes.

    Attributes:
        linear: shape (N + 1, 3) [kg m/s].
        angular: about the world origin, shape (N + 1, 3) [kg m2/s].
        center_of_mass: of the whole mechanism, shape (N + 1, 3) [m].
    """

    linear: Array
    angular: Array
    center_of_mass: Array

    __repr__ = short_repr

    def __post_init__(self) -> None:
        make_arrays_read_only(self)


def momentum(run: RecordedRun) -> Momentum:
    """Return the linear momentum [kg m/s], the angular momentum about the world origin [kg m^2/s] and the centre
    of mass [m] of the whole mechanism. They are in world axes at all recorded instants of a run, shape (instants,
    3) each. Bodies, strings and soft bodies count; without mass the centre is zero."""
    layout, rec = run.system.layout, run.recording
    linear, angular, moment = (np.zeros((run.count, 3)) for _ in range(3))
    V = split_rigid(layout, rec.velocity)[0]
    for index, data in enumerate(run.system.frames):
        p = data.mass * V[:, index]
        linear += p
        angular += np.cross(rec.position[:, index], p) + _body_angular_momentum(run, index, data)
        moment += data.mass * rec.position[:, index]
    for index, body in enumerate(run.system.nodal, start=layout.frames):
        own = slice(int(layout.carrier[index]), int(layout.carrier[index + 1]))
        nodes, p = rec.position[:, own], _nodal_momentum(body, V[:, own])
        linear += body.translations @ p
        angular += np.cross(nodes, p).sum(axis=1)
        moment += np.einsum("k,tki->ti", body.translational_mass, nodes)
    return Momentum(linear, angular, moment / (sum(placed.data.mass for placed in run.system.bodies) or 1.0))


def _body_angular_momentum(run: RecordedRun, index: int, data: FloatingBody) -> Array:
    """Return the angular momentum [kg m^2/s] of a floating body about its own reference point at all recorded
    instants, in world axes, shape (instants, 3). It includes the elastic deformation at each instant, and all
    velocities of the body: of the reference point, angular and elastic ones. It is zero for a body that does not
    rotate. ``data`` is the body with its mass properties, ``index`` its number in the recorded ``run``."""
    if not data.rotates:
        return np.zeros((run.count, 3))
    result = np.zeros((run.count, 3))
    step = max(1, CHUNK_VALUES // (12 * (data.elastic_count + 6)))
    for first in range(0, run.count, step):
        part = slice(first, first + step)
        rows = rigid_rows(data, run.elastic(index)[part])[:, 3:, velocity_components(data)]
        pi = np.einsum("tij,tj->ti", rows, run.recording.velocity[part, run.system.layout.span(index)])
        result[part] = np.einsum("tij,tj->ti", run.recording.rotation[part, index], pi)
    return result


def _nodal_momentum(body: AbsoluteBody, V: Array) -> Array:
    """Return the linear momentum of each node of a string or soft body, shape (instants, nodes, 3) [kg m/s]. It
    follows from the nodal velocities ``V``, shape (instants, nodes, 3) [m/s]."""
    flat = V.transpose(1, 0, 2).reshape(body.node_count, -1)
    return np.asarray((body.nodal_mass @ flat).reshape(body.node_count, len(V), 3).transpose(1, 0, 2))


# What events did in a run.


@dataclass(frozen=True)
class Happened:
    """Event that occurred in a run: its time, a description, and the energy that it dissipated.

    Attributes:
        time: time at which the event occurred [s].
        what: description of the event in words.
        dissipated: energy that it took, in ``energy.dissipated`` from the next stored instant on [J].
    """

    time: float
    what: str
    dissipated: float

    def __str__(self) -> str:
        return f"t = {self.time:.6g} s: {self.what}, {self.dissipated:.6g} J dissipated"


def occurred_events(recording: RecordedStates, mechanism: Mechanism) -> tuple[Happened, ...]:
    """Return the events of the ``mechanism`` that have occurred at the last instant of a run, in the order of
    their times. Such an event releases a joint, for example; each comes with the energy that it dissipated.
    ``recording`` are the recorded states of the run."""
    times, losses = recording.event_times[-1], recording.event_losses[-1]
    order = sorted(np.flatnonzero(~np.isnan(times)).tolist(), key=lambda k: float(times[k]))
    return tuple(Happened(float(times[k]), str(mechanism.events[k]), float(losses[k])) for k in order)
