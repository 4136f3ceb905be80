"""Recorded numbers of a run, which results files hold and from which every observable is computed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, read_only
from phlexible.state.instants import Instants, Points, RecordedMotions
from phlexible.state.layout import State


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """Recorded states and energies at the stored instants 0 .. N of a system of f floating bodies and c carriers.

    Attributes:
        time: shape (N + 1,) [s].
        position: centres of mass of the floating bodies, then nodes of the others, shape (N + 1, c, 3) [m].
        rotation: body to world, shape (N + 1, f, 3, 3).
        eta: elastic coordinates of all floating bodies, shape (N + 1, sum n).
        velocity: nu of all carriers (unprojected): V in world axes, w in body axes, deta/dt,
            shape (N + 1, sum of velocity counts).
        multipliers: of joints and drives, mean of the adjacent steps where these have one length, otherwise
            from accelerations (docs/theory.md, 4; (4.23)), shape (N + 1, rows) [N or N m].
        forces: along the coordinates of force elements, alike, then of the strains of strings, always the mean,
            shape (N + 1, forces).
        theta: coordinates of the forces, angles over full turns, shape (N + 1, forces).
        branches: strains of the springs of laws that creep (8.35) and bristles (8.41), shape (N + 1, branches).
        locked_at: coordinate at which each switch holds its constraint, NaN: it does not, shape (N + 1, switches).
        event_times: time at which each event happened, NaN: not yet, shape (N + 1, events) [s].
        event_losses: energy that it took, shape (N + 1, events) [J].
        paths: p(t) of the drives, shape (N + 1, drives) [rad or m].
        path_rates: dp/dt, shape (N + 1, drives).
        frames: origins of the m moving frames (``ground.moving``), shape (N + 1, m, 3) [m].
        frame_rotations: rotations of the moving frames since t = 0, shape (N + 1, m, 3, 3).
        frame_velocities: velocities of the origins, shape (N + 1, m, 3) [m/s].
        frame_angular_velocities: angular velocities in world axes, shape (N + 1, m, 3) [rad/s].
        kinetic, strain, gravity, spring: energies, each of shape (N + 1,) [J].
        work: work done since t = 0 by each source of ``work_names``, shape (N + 1, sources) [J].
        dissipated: energy lost since t = 0, shape (N + 1,) [J].
        iterations: Newton iterations since t = 0, shape (N + 1,).
        halvings: halved steps since t = 0, shape (N + 1,).
        contact_steps: parts of steps that were taken around contacts since t = 0, shape (N + 1,).
        step_error: greatest estimated error of a step since the instant before, shape (N + 1,).
        work_names: loads, then joints that are driven by moving frames, drives, force elements.
    """

    time: Array
    position: Array
    rotation: Array
    eta: Array
    velocity: Array
    multipliers: Array
    forces: Array
    theta: Array
    branches: Array
    locked_at: Array
    event_times: Array
    event_losses: Array
    paths: Array
    path_rates: Array
    frames: Array
    frame_rotations: Array
    frame_velocities: Array
    frame_angular_velocities: Array
    kinetic: Array
    strain: Array
    gravity: Array
    spring: Array
    work: Array
    dissipated: Array
    iterations: IntArray
    halvings: IntArray
    contact_steps: IntArray
    step_error: Array
    work_names: tuple[str, ...]

    def __repr__(self) -> str:
        ends = f", t = {self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else ""
        return f"{type(self).__name__}({len(self.time)} instants{ends})"

    def read_only(self) -> "RecordedStates":
        """Return a copy of this recording of states and energies that shares its arrays, which are made
        read-only."""
        return on_demand(lambda name: read_only(getattr(self, name)), self.work_names, vars(self).get("_known"))

    def instants(self) -> Instants:
        """Return the recorded states at all instants as ``Instants``, with the recorded motions of ground frames
        and drives."""
        given = _MotionsOfRecording(self)
        return Instants(self.time, self.position, self.rotation, self.eta, self.velocity, given)

    @property
    def inner(self) -> "RecordedStates":
        """All instants but the first and the last, or all where there are no others.

        Multipliers and forces of both ends are not computed for it.
        """
        known: RecordedStates = vars(self).get("_known") or self
        return known.rows(slice(1, -1)).read_only() if len(self.time) > 2 else self

    def rows(self, rows: slice | IntArray) -> "RecordedStates":
        """Return this recording of states and energies at the chosen instants (``rows``) only. A slice makes
        views of the arrays, not copies."""
        return on_demand(lambda name: getattr(self, name)[rows], self.work_names)

    def state(self, instant: int) -> State:
        """Return the recorded state of the mechanism (pose, velocities, history variables) at the instant with this
        index. History variables are strains of Maxwell branches, deflections of friction springs and impact
        speeds."""
        return State(
            float(self.time[instant]),
            self.position[instant],
            self.rotation[instant],
            self.eta[instant],
            self.velocity[instant],
            self.theta[instant],
            self.branches[instant],
        )


class _MotionsOfRecording(RecordedMotions):
    """Prescribed motions of a recording, whose arrays are made when they are read."""

    def __init__(self, recording: RecordedStates) -> None:
        self.__dict__["_recording"] = recording

    def __getattr__(self, name: str) -> Any:
        """Read the array with this ``name`` of the recording when the attribute is first read, and keep it."""
        if "_recording" not in self.__dict__ or name not in ARRAYS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = made = getattr(self.__dict__["_recording"], name)
        return made

    def at(self, instants: Points) -> Self:
        """Return the recorded motions of moving ground frames and the paths of drives at the chosen instants
        only."""
        return type(self)(self.__dict__["_recording"].rows(instants))


ARRAYS = dict.fromkeys(field.name for field in fields(RecordedStates) if field.name != "work_names")
"""Names of the attributes that have a row for each instant, as keys."""


Reactions = tuple[Array, Array]
"""Multipliers and forces of an instant, shape (rows,) and (forces,)."""

LateReactions = Callable[[], Reactions | None]
"""Function that computes reactions on demand; None where joints contradict each other, in singular positions."""


class RecordingOnDemand(RecordedStates):
    """Recording each of whose arrays is made when it is first read, since most readings need few of them."""

    _make: Callable[[str], Array]

    def __getattr__(self, name: str) -> Array:
        """Make the array with this ``name`` when the attribute is first read, and keep it."""
        if name not in ARRAYS or "_make" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = made = self._make(name)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return all arrays of this recording by name for pickling; those that are still missing are made first."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def on_demand(
    make: Callable[[str], Array], work_names: tuple[str, ...], known: RecordedStates | None = None
) -> RecordedStates:
    """Return a recording of states and energies whose arrays are made when they are read. The function ``make``
    is then called with the name of the attribute and returns the array. ``work_names`` are the sources of work,
    ``known`` is the same recording without late multipliers and forces.

    Args:
        make: makes an array, by the name of the attribute; what it reads must not change any more.
        work_names: names of the sources of work.
        known: the same recording without late multipliers and forces, if there are any.
    """
    result = RecordingOnDemand.__new__(RecordingOnDemand)
    result.__dict__.update(work_names=work_names, _make=make, _known=known)
    return result


LATE = ("multipliers", "forces")


def with_late_reactions(recording: RecordedStates, late: Mapping[int, LateReactions]) -> RecordedStates:
    """Return a recording of the same states whose multipliers and element forces at some instants are computed only
    when they are first read. ``late`` maps indices of instants to functions that compute them."""
    missing = dict(late)

    def made(name: str) -> Array:
        while name in LATE and missing:
            row, find = missing.popitem()
            if (found := find()) is not None:
                recording.multipliers[row], recording.forces[row] = found
        return np.asarray(getattr(recording, name))

    return on_demand(made, recording.work_names, recording)


def joined(recordings: Sequence[RecordedStates]) -> RecordedStates:
    """Return one recording made of consecutive ``recordings`` of the same system, whose arrays are joined when
    they are read."""
    parts = tuple(recordings)
    return on_demand(lambda name: np.concatenate([getattr(each, name) for each in parts]), parts[0].work_names)


def concatenated(recordings: Sequence[RecordedStates]) -> RecordedStates:
    """Return one recording of states and energies made of consecutive recordings of the same system, with copies of
    their arrays."""
    whole = joined(recordings)
    return RecordedStates(**{name: getattr(whole, name) for name in ARRAYS}, work_names=whole.work_names)
