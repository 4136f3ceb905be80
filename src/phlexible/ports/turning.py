"""How a moving frame turns: a user's function of time, checked, at one time or at many."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.differences import first_derivatives
from phlexible.algebra.portable import Portable
from phlexible.algebra.rotations import (
    EXPECTED,
    ORTHOGONALITY,
    RotationLike,
    is_rotation_object,
    nearest_rotation,
    rotation_matrix,
    turns_about_z,
)
from phlexible.algebra.user_functions import called
from phlexible.ports.time_functions import AGREEMENT, probes, several


@dataclass(frozen=True)
class TurnSinceStart(Portable):
    """The turn of a frame since t = 0; its values are refused where they are no rotations of the model.

    Attributes:
        function: t [s] -> a SciPy Rotation, a 3x3 matrix or an angle about z [rad].
        label: of the frame, for messages.
        dimension: 2: rotations must be about z.
    """

    function: Callable[[float], RotationLike]
    label: str
    dimension: int

    def __call__(self, time: float) -> Array:
        """The turn at a time, shape (3, 3)."""
        return nearest_rotation(self._matrix(time) @ self._initial.T)

    def at_times(self, times: Array) -> Array:
        """The turns at many times, shape (times, 3, 3).

        Angles and SciPy Rotations are asked for in one call where the function allows it, and checked
        together; a value that is refused is asked for again alone, so that the message names its time.
        """
        turns = self._all_at_once(times)
        if turns is None:
            turns = self._one_by_one(times)
        if turns is None:
            return np.array([self(float(time)) for time in times]).reshape(-1, 3, 3)
        return _orthogonal(turns @ self._initial.T)

    def angular_velocities(self, times: Array) -> Array:
        """World axes, from differences of the turns, shape (times, 3) [rad/s]."""
        flat = first_derivatives(lambda t: self.at_times(t).reshape(-1, 9), times)
        spin = flat.reshape(-1, 3, 3) @ self.at_times(times).transpose(0, 2, 1)
        return (
            np.stack(
                [
                    spin[:, 2, 1] - spin[:, 1, 2],
                    spin[:, 0, 2] - spin[:, 2, 0],
                    spin[:, 1, 0] - spin[:, 0, 1],
                ],
                axis=1,
            )
            / 2
        )

    @cached_property
    def _initial(self) -> Array:
        return self._matrix(0.0)

    def _matrix(self, time: float) -> Array:
        at = f"at t = {time:.12g} s"
        value = called(self.function, f"rotation of {self.label}", time, at=at)
        name = f"rotation of {self.label} {at}"
        if is_rotation_object(value):
            return rotation_matrix(value, self.dimension, name)
        matrix = numbers(name, value, EXPECTED)
        return rotation_matrix(matrix, 2 if matrix.ndim == 0 else self.dimension, name)

    def _all_at_once(self, times: Array) -> Array | None:
        """From one call with all times; None where the function does not take arrays."""
        if not len(times):
            return None
        asked, some = several(times), probes(times)
        try:
            value = self.function(asked)  # type: ignore[arg-type]
            if is_rotation_object(value):
                turns = np.asarray(value.as_matrix())
            else:
                turns = turns_about_z(np.broadcast_to(numbers("angle", value), asked.shape))
            single = np.array([self._matrix(float(times[k])) for k in some])
        except Exception:  # a function for single times may fail in any way here; see below
            return None
        if turns.shape != (len(asked), 3, 3) or not self._are_rotations(turns):
            return None
        return turns[: len(times)] if np.abs(turns[some] - single).max() <= 10 * AGREEMENT else None

    def _one_by_one(self, times: Array) -> Array | None:
        """From a call for each time; None where a value has to be refused."""
        try:
            values = [self.function(float(time)) for time in times]
            if all(is_rotation_object(value) for value in values):
                turns = np.array([value.as_matrix() for value in values])  # type: ignore[union-attr]
            else:
                found = numbers("angle", values)  # type: ignore[arg-type]  # what holds no numbers is refused
                turns = turns_about_z(found) if found.ndim == 1 else found
        except Exception:  # as above: called again for each time, it says which one it refuses
            return None
        return turns if turns.shape == (len(times), 3, 3) and self._are_rotations(turns) else None

    def _are_rotations(self, turns: Array) -> bool:
        """Whether all are proper rotations of the model, to 1e-9."""
        gap = np.abs(turns.transpose(0, 2, 1) @ turns - np.eye(3)).max(initial=0.0)
        if not gap <= ORTHOGONALITY or (np.linalg.det(turns) < 0).any():
            return False
        return self.dimension == 3 or bool(np.abs(turns[:, 2, :2]).max(initial=0.0) == 0)


def _orthogonal(turns: Array) -> Array:
    """R (3 I - R^T R) / 2: the nearest rotations of matrices that are rotations to 1e-9."""
    return turns @ (3 * np.eye(3) - turns.transpose(0, 2, 1) @ turns) / 2
