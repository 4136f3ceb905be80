"""Ports on the ground, as fixed points or frames that move and rotate as functions of time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, called, check_callable, reals, vector
from phlexible.algebra.portable import Portable
from phlexible.algebra.rotations import (
    EXPECTED,
    ORTHOGONALITY,
    RotationLike,
    is_rotation_object,
    nearest_rotation,
    rotation_matrix,
    rotations_about_z,
)
from phlexible.algebra.user_derivatives import SOON, derivatives, first_derivatives, refuse_wrong_rate, run_once
from phlexible.description.ports import MovingFrame, Path
from phlexible.description.time_functions import AGREEMENT, TimePath, at_least_two, probe_indices, vector_values_at
from phlexible.errors import ParameterError

# Rotation of a moving frame: a user's function of time, checked, at one time or at many.


@dataclass(frozen=True)
class TurnSinceStart(Portable):
    """Rotation of a moving frame since t = 0 as a function of time, from a user's function whose values are
    checked.

    Attributes:
        function: t [s] -> a SciPy Rotation, a 3x3 matrix or an angle about z [rad].
        label: of the frame, for messages.
        dimension: 2: rotations must be about z.
    """

    function: Callable[[float], RotationLike]
    label: str
    dimension: int

    def __call__(self, time: float) -> Array:
        """Return the rotation matrix R(t) R(0)^T of a prescribed moving frame at a time [s], shape (3, 3): its
        rotation since t = 0. The user's function is called once. Its value is checked to be a rotation (else an
        error names the time), and the product is projected to the nearest rotation matrix."""
        return nearest_rotation(self._matrix(time) @ self._initial.T)

    def at_times(self, times: Array) -> Array:
        """Return the rotation matrices R(t) R(0)^T of this moving frame at many ``times`` [s], shape (times, 3,
        3). The user's function R is called with the whole array if it accepts that, else once for each time. Its
        values must be rotations (else an error names the time); the products are projected to the nearest
        rotations.

        Angles and SciPy Rotations are evaluated in one call if the function allows it, and checked together; a
        value that is refused is evaluated again alone, so that the message names its time.
        """
        turns = self._vectorized(times)
        if turns is None:
            turns = self._sequential(times)
        if turns is None:
            return np.array([self(float(time)) for time in times]).reshape(-1, 3, 3)
        return _orthogonal(turns @ self._initial.T)

    @cached_property
    def _initial(self) -> Array:
        return self._matrix(0.0)

    def _matrix(self, time: float) -> Array:
        at = f"at t = {time:.12g} s"
        value = called(self.function, f"rotation of {self.label}", time, at=at)
        name = f"rotation of {self.label} {at}"
        if is_rotation_object(value):
            return rotation_matrix(value, self.dimension, name)
        matrix = reals(name, value, EXPECTED)
        return rotation_matrix(matrix, 2 if matrix.ndim == 0 else self.dimension, name)

    def _vectorized(self, times: Array) -> Array | None:
        """Return the rotation matrices of a moving frame at many ``times`` [s], shape (times, 3, 3), by one call
        with the array of times. The user's function gives rotations, or angles about z; results are not yet
        relative to t = 0. Return None without times, if that call fails, if a value is no rotation, or if a few
        sampled times disagree with single calls."""
        if not len(times):
            return None
        evaluated, some = at_least_two(times), probe_indices(len(times))
        try:
            value = self.function(evaluated)  # type: ignore[arg-type]
            if is_rotation_object(value):
                turns = np.asarray(value.as_matrix())
            else:
                turns = rotations_about_z(np.broadcast_to(reals("angle", value), evaluated.shape))
            single = np.array([self._matrix(float(times[k])) for k in some])
        except Exception:  # a function for single times may fail in any way here; see below
            return None
        if turns.shape != (len(evaluated), 3, 3) or not self._are_rotations(turns):
            return None
        return turns[: len(times)] if np.abs(turns[some] - single).max() <= 10 * AGREEMENT else None

    def _sequential(self, times: Array) -> Array | None:
        """Return the rotation matrices of a moving frame at many ``times`` [s], shape (times, 3, 3), by one call
        for each time. The user's function gives rotations, or angles about z; results are not yet relative to t =
        0. Return None if a call fails or any value is no rotation; the caller then raises an error that names the
        time."""
        try:
            values = [self.function(float(time)) for time in times]
            if all(is_rotation_object(value) for value in values):
                turns = np.array([value.as_matrix() for value in values])  # type: ignore[union-attr]
            else:
                angles = reals("angle", values)  # type: ignore[arg-type]  # other values are refused
                turns = rotations_about_z(angles) if angles.ndim == 1 else angles
        except Exception:  # as above: called again for each time, so that the message names it
            return None
        return turns if turns.shape == (len(times), 3, 3) and self._are_rotations(turns) else None

    def _are_rotations(self, turns: Array) -> bool:
        """Return whether all given matrices ``turns``, shape (times, 3, 3), are proper rotations: orthogonal
        to 1e-9, determinant 1, and about z if the model is planar."""
        gap = np.abs(turns.transpose(0, 2, 1) @ turns - np.eye(3)).max(initial=0.0)
        if not gap <= ORTHOGONALITY or (np.linalg.det(turns) < 0).any():
            return False
        return self.dimension == 3 or bool(np.abs(turns[:, 2, :2]).max(initial=0.0) == 0)


def _orthogonal(turns: Array) -> Array:
    """Return the orthogonal matrices nearest to the matrices ``turns``, shape (times, 3, 3), up to the square of
    their error. ``turns`` must be rotations to about 1e-9; one Newton iteration for the polar decomposition is
    done."""
    return turns @ (3 * np.eye(3) - turns.transpose(0, 2, 1) @ turns) / 2


_UNTURNED = np.eye(3)[None]


class Ground:
    """Factory of ports on the ground, fixed points and moving frames, in world axes.

    Args:
        dimension: 2: points must lie in the xy plane; 1: on the x axis.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._moving_frames = 0

    def __repr__(self) -> str:
        return "ground"

    def at(self, position: ArrayLike) -> MovingFrame:
        """Return a fixed point of the ground, as a port for joints and springs, at a world ``position``, shape
        (3,) [m]. ParameterError is raised if the position is outside the plane or line of the model.

        Raises:
            ParameterError: not three finite numbers, or a point outside the plane of a planar model.
        """
        point = planar_point("position", vector("position", position), self._dimension)
        label = f"ground.at({point[0]:g}, {point[1]:g}, {point[2]:g})"
        return fixed_point(point, label)

    def moving(
        self, path: Path, rotation: Callable[[float], RotationLike] | None = None, velocity: Path | None = None
    ) -> MovingFrame:
        """Return a frame on the ground, to which joints and springs can be connected, whose motion is prescribed.
        Its origin follows ``path`` [m] and it rotates by ``rotation`` (relative to t = 0), both functions of the
        time [s]. ``velocity`` is the derivative of ``path``, if known. All are evaluated at t = 0; ``velocity`` is
        compared with differences of ``path``. Raise ``ParameterError`` for unsuitable functions.

        Args:
            path: world position, t [s] -> shape (3,) [m].
            rotation: t -> a SciPy Rotation, a 3x3 matrix or an angle about z [rad]; only the rotation
                since t = 0 counts. None: it does not rotate.
            velocity: dx/dt, t -> shape (3,) [m/s]; None: differences of the path, where needed.

        Raises:
            ParameterError: a function returns a wrong value, which is checked at t = 0 and later with the time in
                the message; or a velocity that is not that of the path.
        """
        for name, function in (("path", path), ("rotation", rotation), ("velocity", velocity)):
            if function is not None or name == "path":
                check_callable(name, function, "time")
        if rotation is not None and self._dimension == 1:
            raise ParameterError("rotation must be left out: nothing rotates on a line (dimension=1)")
        label = f"moving frame {self._moving_frames + 1}"
        frame = MovingFrame(
            CheckedPath(path, f"path of {label}", self._dimension),
            None if rotation is None else TurnSinceStart(rotation, label, self._dimension),
            None if velocity is None else CheckedPath(velocity, f"velocity of {label}", self._dimension),
            label=label,
        )
        for function in (frame.path, frame.rotation, frame.velocity):
            if function is not None:
                function(0.0)
        check_velocity(frame, SOON)
        if rotation is not None and np.ndim(angle := rotation(0.0)) == 0 and not is_rotation_object(angle):
            angle_path = TimePath(rotation, None, f"rotation of {label}")  # type: ignore[arg-type]
            angle_path.warn_of_degrees()
        self._moving_frames += 1
        return frame


def check_velocity(frame: MovingFrame, times: Array) -> None:
    """Raise ParameterError if the velocity function of a moving ``frame`` is not the derivative of its position
    function. Finite differences at the given ``times`` [s] are compared. Nothing is checked if the user gave no
    velocity. The same pair of functions and times is checked only once.

    Raises:
        ParameterError: the message has the time and the difference.
    """
    if isinstance(path := frame.path, CheckedPath) and isinstance(rate := frame.velocity, CheckedPath):
        run_once(
            (path.function, rate.function),
            (path.dimension, times.tobytes()),
            lambda: refuse_wrong_rate(rate.name, path.at_times, rate.at_times, times),
        )


def frame_positions(frame: MovingFrame, times: Array) -> Array:
    """Return the world positions of the origin of a fixed or moving frame at all ``times`` [s], shape (times, 3)
    [m]."""
    return _values_at(frame.path, times, 3)


def frame_velocities(frame: MovingFrame, times: Array) -> Array:
    """Return the world velocities of the origin of a fixed or moving frame at all ``times`` [s], shape (times, 3)
    [m/s]. They are the values of the user's velocity function if the user gave it, zero for a fixed frame, and
    else numerical derivatives of the path."""
    if frame.velocity is not None:
        return _values_at(frame.velocity, times, 3)
    if frame.is_fixed:
        return np.zeros((len(times), 3))
    return first_derivatives(lambda t: frame_positions(frame, t), times)


def frame_rotations(frame: MovingFrame, times: Array) -> Array:
    """Return the rotation matrices of a fixed or moving frame relative to t = 0 at all ``times`` [s], shape
    (times, 3, 3). Each is the identity for a frame that does not rotate."""
    if frame.rotation is None:
        return _UNTURNED.repeat(len(times), axis=0)
    return _values_at(frame.rotation, times, 3, 3)


def frame_angular_velocities(frame: MovingFrame, times: Array) -> Array:
    """Return the angular velocities of a fixed or moving frame at all ``times`` [s] in world axes, shape (times,
    3) [rad/s]. They are the skew part of dR/dt R^T, with numerical derivatives of the rotation matrix R; zero for
    a frame that does not rotate."""
    if frame.rotation is None:
        return np.zeros((len(times), 3))
    flat = first_derivatives(lambda t: frame_rotations(frame, t).reshape(-1, 9), times)
    spin = flat.reshape(-1, 3, 3) @ frame_rotations(frame, times).transpose(0, 2, 1)
    return np.asarray((spin - spin.transpose(0, 2, 1))[:, [2, 0, 1], [1, 2, 0]] / 2)


def _values_at(function: Callable[[float], ArrayLike], times: Array, *shape: int) -> Array:
    """Return the values of the path, velocity or rotation function of a frame at all ``times`` [s], shape
    (times, *shape). Functions of the user are evaluated and checked by ``at_times``, others are called once for
    each time."""
    if isinstance(function, CheckedPath | TurnSinceStart):
        return function.at_times(times)
    return np.array([function(float(time)) for time in times]).reshape(-1, *shape)


def frame_acceleration(frame: MovingFrame, time: float, end: float = np.inf) -> Array:
    """Return the world acceleration of the origin of a fixed or moving frame at ``time`` [s], shape (3,) [m/s^2].
    It is computed by finite differences: the first derivative of the user's velocity if the user gave it, else the
    second derivative of the path. No time after ``end`` is used. It is zero for a fixed frame."""
    if frame.is_fixed:
        return np.zeros(3)
    known, order = (frame.path, 1) if frame.velocity is None else (frame.velocity, 0)
    return derivatives(lambda times: _values_at(known, times, 3), time, end)[order]


def frame_rotation_rates(frame: MovingFrame, time: float, end: float = np.inf) -> tuple[Array, Array]:
    """Return the first and the second time derivative of a moving frame's rotation matrix at a time [s], two
    arrays of shape (3, 3). They are finite differences of the user's rotation function, without times after
    ``end`` [s]; both are zero for a frame that does not rotate."""
    if frame.rotation is None:
        return np.zeros((3, 3)), np.zeros((3, 3))
    return derivatives(lambda times: frame_rotations(frame, times), time, end)


def planar_point(name: str, value: Array, dimension: int) -> Array:
    """Return ``value``, a point of shape (3,), unchanged after checking it: in a planar model (dimension 2) z must
    be 0, in a model on a line (dimension 1) y and z. Raise ParameterError otherwise, with ``name`` in the
    message."""
    if dimension == 1 and value[1:].any():
        raise ParameterError(f"{name} must lie on the x axis (dimension=1), got {value.tolist()}")
    if dimension == 2 and value[2] != 0:
        raise ParameterError(f"{name} must have z = 0 in a planar model (dimension=2), got {value.tolist()}")
    return value


def may_leave(frame: MovingFrame, dimension: int) -> bool:
    """Return whether a prescribed moving frame may leave the plane (``dimension`` 2) or line (1) of a model. It
    may if its path was created for a model of a higher dimension; the path is not evaluated."""
    return isinstance(frame.path, CheckedPath) and frame.path.dimension > dimension


@dataclass(frozen=True, eq=False)
class _Constant:
    """Function of time with a constant value."""

    value: Array

    def __call__(self, time: float) -> Array:
        return self.value


def fixed_point(position: Array, label: str) -> MovingFrame:
    """Return a fixed point of the ground, to which joints and springs can be connected, at a world position of
    shape (3,) [m]. ``label`` names it in messages."""
    return MovingFrame(_Constant(position), is_fixed=True, label=label)


@dataclass(frozen=True)
class CheckedPath(Portable):
    """Prescribed path of a point, from a user's function of time whose values are checked.

    Attributes:
        function: t [s] -> shape (3,).
        name: for messages.
        dimension: 2: points must lie in the xy plane; 1: on the x axis.
    """

    function: Path
    name: str
    dimension: int

    def __call__(self, time: float) -> Array:
        """Return the world position (or velocity) that the user's function of a moving frame has at a time [s],
        shape (3,). ParameterError with the time is raised unless it is three finite numbers that stay in the plane
        or on the line of the model."""
        at = f"at t = {time:.12g} s"
        value = vector(f"{self.name} {at}", called(self.function, self.name, time, at=at), ANY_SIZE)
        return planar_point(f"{self.name} {at}", value, self.dimension)

    def at_times(self, times: Array) -> Array:
        """Return the world positions (or velocities) that the user's function of a moving frame has at many times
        [s], shape (times, 3). The function is called once with the array if it accepts that. Otherwise, or if a
        value leaves the plane of the model, each time is evaluated and checked alone."""
        values = vector_values_at(self.function, times)
        if values is None or np.count_nonzero(values[:, self.dimension :]):
            return np.array([self(float(time)) for time in times]).reshape(-1, 3)
        return values
