"""Rotations as 3x3 matrices (body to world) from user input, and cross products as matrices."""

from typing import TYPE_CHECKING, TypeAlias, TypeGuard, Union

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, reals
from phlexible.algebra.number_tape import sine_quotient, versine_quotient
from phlexible.errors import ParameterError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

RotationLike: TypeAlias = Union["Rotation", ArrayLike]
"""A SciPy Rotation, a 3x3 matrix, or an angle about z [rad]."""

ORTHOGONALITY = 1e-9
EXPECTED = "a SciPy Rotation, a 3x3 matrix or an angle"


def rotation_about_z(angle: float) -> Array:
    """Return the matrix of a rotation by an angle [rad] about z, shape (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotations_about_z(angles: Array) -> Array:
    """Return the matrices of rotations by angles (k,) [rad] about z, shape (k, 3, 3)."""
    result = np.zeros((len(angles), 3, 3))
    result[:, 0, 0] = result[:, 1, 1] = np.cos(angles)
    result[:, 1, 0] = np.sin(angles)
    result[:, 0, 1] = -result[:, 1, 0]
    result[:, 2, 2] = 1.0
    return result


def nearest_turns(angles: Array, near: Array | float) -> Array:
    """Return ``angles`` shifted by full turns so that each is within half a turn of ``near``, elementwise [rad]."""
    return np.asarray(angles + 2 * np.pi * np.round((near - angles) / (2 * np.pi)))


def cross(a: Array, b: Array) -> Array:
    """Return the vector cross products a x b over the last axis of arrays of vectors (..., 3) that broadcast
    together, as ``numpy.cross`` does. For few vectors this is ten times faster."""
    if a.shape == b.shape == (3,):
        (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
        return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), dtype=np.float64)
    ax, ay, az, bx, by, bz = (v[..., k] for v in (a, b) for k in range(3))
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=np.result_type(a, b))
    result[..., 0] = ay * bz - az * by
    result[..., 1] = az * bx - ax * bz
    result[..., 2] = ax * by - ay * bx
    return result


def rotation_vector_matrices(vectors: Array) -> Array:
    """Return the rotation matrices exp([theta]) of rotation vectors theta (k, 3) [rad], shape (k, 3, 3)."""
    square = (vectors * vectors).sum(axis=1)
    a, b = sine_quotient(square)[:, None] * vectors, versine_quotient(square)
    result = b[:, None, None] * vectors[:, :, None] * vectors[:, None]
    x, y, z = 0, 1, 2
    result[:, [x, y, z], [x, y, z]] += (1.0 - b * square)[:, None]
    result[:, [z, x, y], [y, z, x]] += a
    result[:, [y, z, x], [z, x, y]] -= a
    return np.asarray(result)


def is_rotation_object(value: RotationLike) -> "TypeGuard[Rotation]":
    """Return whether a value is an instance of SciPy's ``Rotation``. It is recognized by its method ``as_matrix``,
    so that SciPy, which is slow to import, need not be imported."""
    return callable(getattr(value, "as_matrix", None)) and not isinstance(value, type)


def rotation_matrix(value: RotationLike | None, dimension: int, name: str = "rotation") -> Array:
    """Convert a user's rotation (``value``) to an exactly orthogonal matrix, shape (3, 3). It is a 3 x 3
    matrix, orthogonal to 1e-9, a ``Rotation`` of SciPy, in the plane (dimension 2) also an angle about z
    [rad]; None is the identity. ``dimension`` is that of the model (1, 2 or 3). ``name`` is that of the
    argument, for messages.

    An angle is accepted in the plane (dimension 2) only; in space its axis would be a guess.

    Raises:
        ParameterError: not one proper rotation to 1e-9, or one that leaves the plane.
    """
    if value is None:
        return np.eye(3)
    matrix = value.as_matrix() if is_rotation_object(value) else reals(name, value, EXPECTED)
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name} must be finite, got {value!r}")
    if dimension == 1 and not np.array_equal(matrix, np.eye(3)):
        raise ParameterError(f"{name} must be left out: nothing rotates on a line (dimension=1), got {value!r}")
    if matrix.ndim == 0:
        if dimension != 2:
            raise ParameterError(
                f"{name} in space must be a SciPy Rotation or a 3x3 matrix, got the angle {value!r};"
                ' write Rotation.from_euler("z", angle)'
            )
        return rotation_about_z(float(matrix))
    nearest = nearest_rotation(matrix, name)
    if dimension == 2:
        return _in_plane(nearest, name)
    return nearest


def nearest_rotation(matrix: Array, name: str = "rotation") -> Array:
    """Return the rotation matrix nearest to a ``matrix`` that is orthogonal to 1e-9, shape (3, 3), by a singular
    value decomposition. An exactly orthogonal matrix is returned unchanged. Raise ``ParameterError`` for other
    shapes, matrices that are not orthogonal, and reflections. ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: a wrong shape, a matrix that is not orthogonal, or a reflection.
    """
    if matrix.shape != (3, 3):
        hints = {
            (3,): "; write Rotation.from_rotvec(...) of SciPy",
            (4,): "; write Rotation.from_quat(...) of SciPy",
        }
        raise ParameterError(
            f"{name} must be one rotation of shape (3, 3), got shape {matrix.shape}{hints.get(matrix.shape, '')}"
        )
    error = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if not error <= ORTHOGONALITY:
        raise ParameterError(f"{name} must be orthogonal, but R^T R differs from the identity by {error:.3g}")
    if np.linalg.det(matrix) < 0:
        raise ParameterError(f"{name} must have determinant 1, got a reflection (determinant -1)")
    if error == 0:
        return matrix
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)


def _in_plane(matrix: Array, name: str) -> Array:
    """Return the exact rotation about z that is closest to a rotation matrix (3, 3) of a planar model; raise
    ``ParameterError`` if that matrix rotates about another axis. ``name`` is that of the argument, for
    messages."""
    if not matrix[2, 2] >= 1 - ORTHOGONALITY or np.abs(matrix[2, :2]).max() > ORTHOGONALITY:
        raise ParameterError(f"{name} must rotate about z in a planar model, got\n{matrix}")
    return rotation_about_z(float(np.arctan2(matrix[1, 0], matrix[0, 0])))


CROSS_ENTRIES, CROSS_SIGNS = np.array([[0, 2, 1, 2, 0, 0, 1, 0, 0], [0, -1, 1, 1, 0, -1, -1, 1, 0]])
"""Components of a vector, and their signs, in the rows of its cross-product matrix."""


def cross_matrix(vectors: Array) -> Array:
    """Return the skew-symmetric matrices [a] of vectors a (..., 3), for which [a] b is the cross product a x b,
    shape (..., 3, 3)."""
    return np.asarray(vectors.take(CROSS_ENTRIES, -1) * CROSS_SIGNS).reshape(*vectors.shape, 3)
