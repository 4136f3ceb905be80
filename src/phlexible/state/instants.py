"""States at T instants, and prescribed motions then: frames of the ground and paths of drives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.ground import (
    frame_acceleration,
    frame_angular_velocities,
    frame_positions,
    frame_rotation_rates,
    frame_rotations,
    frame_velocities,
)
from phlexible.description.ports import MovingFrame
from phlexible.description.time_functions import TimePath
from phlexible.state.layout import State

Points = slice | IntArray


@dataclass(frozen=True, eq=False)
class RecordedMotions:
    """Recorded values and rates of prescribed motions over time: moving frames of the ground and paths of drives.

    Attributes:
        frames: origins, world axes, shape (T, f, 3) [m].
        frame_rotations: rotations since t = 0, shape (T, f, 3, 3).
        frame_velocities: velocities of the origins, world axes, shape (T, f, 3) [m/s].
        frame_angular_velocities: world axes, shape (T, f, 3) [rad/s].
        paths: p(t) of the drives, shape (T, p) [rad or m].
        path_rates: dp/dt, shape (T, p).
    """

    frames: Array
    frame_rotations: Array
    frame_velocities: Array
    frame_angular_velocities: Array
    paths: Array
    path_rates: Array

    @classmethod
    def of(cls, source: object) -> Self:
        """Return a new ``RecordedMotions`` with the arrays of motions of ground frames and drives that ``source``
        has as attributes of the same names. The source may be recorded states, or functions of time, which are
        then evaluated at their times."""
        return cls(*(getattr(source, each.name) for each in fields(cls)))

    def at(self, instants: Points) -> Self:
        """Return a new object with the recorded motions of ground frames and drives at the chosen instants only.
        ``instants`` is an index, slice or mask of the first axis of all arrays."""
        return type(self)(*(getattr(self, field.name)[instants] for field in fields(self)))


OF_TIME = tuple(field.name for field in fields(RecordedMotions))
"""Names of the prescribed motions of a recording."""


@dataclass(frozen=True, eq=False)
class PrescribedFunctions:
    """Prescribed motions (moving frames and paths of drives) at given times, evaluated from users' functions on
    demand and cached.

    Attributes:
        moving: the f moving frames of the ground.
        driven: the p paths of hoists and drives.
        times: the T instants, shape (T,) [s].
        end: accelerations are differences of values up to this time [s].
        are_still: whether frames, drives and targets of servos stand still.
    """

    moving: Sequence[MovingFrame]
    driven: Sequence[TimePath]
    times: Array
    end: float = np.inf
    are_still: bool = False

    @cached_property
    def frames(self) -> Array:
        """Return the world positions of the origins of all moving ground frames at all times, shape (instants,
        frames, 3) [m]. They are evaluated from the user's functions at the first access and stored."""
        return self._stacked([frame_positions(frame, self.times) for frame in self.moving], 3)

    @cached_property
    def frame_rotations(self) -> Array:
        """Rotation matrices of all moving ground frames relative to their orientation at t = 0, at all times, shape
        (instants, frames, 3, 3)."""
        return self._stacked([frame_rotations(frame, self.times) for frame in self.moving], 3, 3)

    @cached_property
    def frame_velocities(self) -> Array:
        """Velocities of the origins of all moving ground frames at all times in world axes, shape (instants,
        frames, 3) [m/s]."""
        return self._stacked([frame_velocities(frame, self.times) for frame in self.moving], 3)

    @cached_property
    def frame_angular_velocities(self) -> Array:
        """Angular velocities of all moving ground frames at all times in world axes, shape (instants, frames, 3)
        [rad/s]."""
        return self._stacked([frame_angular_velocities(frame, self.times) for frame in self.moving], 3)

    @cached_property
    def paths(self) -> Array:
        """Values of the prescribed paths (functions of time of all drives and hoists) at all times, shape
        (instants, paths) [rad or m]."""
        return self._stacked([path.at_times(self.times) for path in self.driven])

    @cached_property
    def path_rates(self) -> Array:
        """First time derivatives of the prescribed paths of all drives and hoists at all times, shape (instants,
        paths) [rad/s or m/s]."""
        return self._stacked([path.rates_at(self.times) for path in self.driven])

    @cached_property
    def frame_accelerations(self) -> Array:
        """Accelerations of the origins of all moving ground frames at all times in world axes, shape (instants,
        frames, 3) [m/s^2]."""
        return self._differentiated(frame_acceleration, self.moving, 3)

    @cached_property
    def frame_rotation_curvatures(self) -> Array:
        """Second time derivatives of the rotation matrices of all moving ground frames at all times, shape
        (instants, frames, 3, 3) [1/s^2]."""
        return self._differentiated(lambda *at: frame_rotation_rates(*at)[1], self.moving, 3, 3)

    @cached_property
    def path_accelerations(self) -> Array:
        """Second time derivatives of the prescribed paths of all drives and hoists at all times, shape (instants,
        paths) [rad/s^2 or m/s^2]."""
        return self._differentiated(lambda path, *at: path.rates(*at)[1], self.driven)

    def first_order(self) -> tuple[Array, ...]:
        """Return prescribed positions and velocities at all times as a tuple of arrays, first those of moving
        ground frames: origins, their velocities, rotation matrices, angular velocities. Values and rates of drives
        follow, shape (instants, paths). Frames or drives are left out if the model has none."""
        found: list[Array] = []
        if self.moving:
            found += [self.frames, self.frame_velocities, self.frame_rotations, self.frame_angular_velocities]
        if self.driven:
            found += [self.paths, self.path_rates]
        return tuple(found)

    def second_order(self) -> tuple[Array, ...]:
        """Return prescribed positions, velocities and their second time derivatives at all times, as one tuple of
        arrays. First come all arrays of ``first_order``, for moving ground frames and drives. Accelerations of
        frame origins and second derivatives of rotation matrices follow, last those of drives. Arrays of frames or
        drives are left out if the model has none."""
        found = list(self.first_order())
        if self.moving:
            found += [self.frame_accelerations, self.frame_rotation_curvatures]
        if self.driven:
            found.append(self.path_accelerations)
        return tuple(found)

    def at(self, instants: Points) -> Self:
        """Return the prescribed motions of ground frames and drives at the chosen instants only, as a new object.
        Values that were evaluated before are copied to it; all others are evaluated from the user's functions at
        the first access."""
        chosen = type(self)(self.moving, self.driven, self.times[instants], self.end, self.are_still)
        known = {name: each[instants] for name, each in vars(self).items() if name in OF_TIME}
        vars(chosen).update(known)
        return chosen

    def stopped(self) -> Self:
        """Return a copy of these motions whose rates and accelerations are all zero, so that frames and drives
        stand still at their present positions. In the copy ``are_still`` is True, by which targets of servos are
        constant too."""
        still = replace(self, are_still=True)
        points = ("frame_velocities", "frame_angular_velocities", "frame_accelerations")
        vars(still).update(dict.fromkeys(points, np.zeros_like(self.frames)))
        vars(still).update(dict.fromkeys(("path_rates", "path_accelerations"), np.zeros_like(self.paths)))
        vars(still)["frame_rotation_curvatures"] = np.zeros_like(self.frame_rotations)
        return still

    def _differentiated(self, derivative: Callable[..., Array], parts: Sequence[Any], *shape: int) -> Array:
        """Return a derivative of every ground frame or path in ``parts`` at all times, shape (instants, parts,
        ...), where ``shape`` is that of one derivative. The function ``derivative`` is called once for each part
        and time, with the last time ``end`` [s] that it may use."""
        each = [np.array([derivative(part, float(t), self.end) for t in self.times]) for part in parts]
        return self._stacked(each, *shape)

    def _stacked(self, arrays: list[Array], *shape: int) -> Array:
        if len(arrays) == 1:
            return arrays[0][:, None].copy()
        return np.stack(arrays, axis=1) if arrays else np.zeros((len(self.times), 0, *shape))


OF_STATE = "time", "position", "rotation", "eta", "velocity"
"""Names of the arrays of ``Instants``, and of a ``State``."""

PrescribedMotions = RecordedMotions | PrescribedFunctions
"""Prescribed motions at some instants, as numbers or as functions."""


@dataclass(frozen=True, eq=False)
class Instants:
    """States of a mechanism at many instants with the prescribed motions then. The arrays are those of ``State``
    with an axis for time in front.
    """

    time: Array
    position: Array
    rotation: Array
    eta: Array
    velocity: Array
    prescribed: PrescribedMotions
    _known: dict[tuple[object, str], Array] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """Return the number of instants (states of the mechanism) in this object."""
        return len(self.time)

    def once(self, owner: object, name: str, make: Callable[[], Array]) -> Array:
        """Return the array that ``make()`` computes from this state, from a cache if possible. With a single
        instant, ``make`` is called only once for each ``owner`` and ``name``; the array is cached in this object
        and made read-only. With several instants it is called each time. The array must not depend on velocities,
        which is not checked.
        """
        if self.count != 1:
            return make()
        if (owner, name) not in self._known:
            self._known[owner, name] = made = make()
            made.flags.writeable = False
        return self._known[owner, name]

    def moving(self, velocity: Array) -> Self:
        """Return a copy of these states with the given velocities instead of their own, shape (instants,
        velocities). Poses and cached results are shared, not copied."""
        return replace(self, velocity=velocity)

    def with_prescribed(self, prescribed: PrescribedMotions) -> Self:
        """Return a copy of these states with another object for the prescribed motions of ground frames and
        drives. Cached results are shared, so it must have the same values and rates; this is not checked."""
        return replace(self, prescribed=prescribed)

    def at(self, instants: Points) -> Self:
        """Return the states of the mechanism at the chosen ``instants`` only, a slice or an array of indices. A
        slice makes views of the arrays, not copies. Arrays cached in this object are not passed on."""
        arrays = {name: getattr(self, name)[instants] for name in OF_STATE}
        return type(self)(prescribed=self.prescribed.at(instants), **arrays)


@dataclass(frozen=True, eq=False)
class MeasuredInstant(Instants):
    """Single instant for which compiled code has measured the world vectors, which are looked up instead of
    computed.

    Attributes:
        measured: function that returns values and rates of the k vectors of a set, shape (2, 1, k, 3).
    """

    measured: Callable[[Any], Array] = field(kw_only=True)


def instant_of(state: State, prescribed: PrescribedMotions) -> Instants:
    """Return the ``state`` of a mechanism as ``Instants`` with a single instant: each array gets a first axis
    of length one. The arrays are not copied. ``prescribed`` has the motions of ground frames and drives at that
    time."""
    arrays = {name: getattr(state, name)[None] for name in OF_STATE[1:]}
    return Instants(np.array([state.time]), prescribed=prescribed, **arrays)
