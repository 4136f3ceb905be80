"""Derivatives of few vectors as arrays: sparse ones take longer to make than to use (docs/theory.md, 7; (7.3))."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.system.functions import FunctionSet
from phlexible.system.instants import Instants
from phlexible.system.vectors import VectorSet


@dataclass(frozen=True, eq=False)
class SmallJacobians:
    """Of k vectors of a system with N velocities, where both are few.

    Attributes:
        set: the vectors.
    """

    set: VectorSet

    def jacobian(self, at: Instants) -> Array:
        """dx/dnu of all vectors at one instant, shape (3 k, N)."""
        return at.once(self, "jacobian", lambda: self._jacobian(at))

    def lever_stiffness(self, at: Instants, forces: Array) -> Array:
        """How J^T f of constant forces (k, 3) turns with its bodies, as ``functions.lever_stiffness``, (N, N)."""
        on, size = self.set._on_frames, self._elastic.shape[2]
        turned = np.einsum("kji,kj->ki", at.rotation[0][self.set._frame], forces[on])
        phi = cross_matrix(turned)
        local, spin, elastic = cross_matrix(self.set.local(at)[0]), self._spin, self._elastic
        turning = (local @ phi @ spin - phi @ elastic).reshape(-1, size)
        bending = (phi @ spin).reshape(-1, size)
        return np.asarray(spin.reshape(-1, size).T @ turning + elastic.reshape(-1, size).T @ bending)

    def _jacobian(self, at: Instants) -> Array:
        result = self._linear.copy()
        arms = cross_matrix(self.set.local(at)[0])
        result[self.set._on_frames] += at.rotation[0][self.set._frame] @ (self._elastic - arms @ self._spin)
        return result.reshape(-1, result.shape[2])

    @cached_property
    def _linear(self) -> Array:
        """What V adds to the vectors, shape (k, 3, N)."""
        layout, points = self.set.layout, self.set._points
        result = np.zeros((len(self.set.vectors), 3, int(layout.velocity[-1])))
        for axis in range(layout.linear.shape[1]):
            result[points, axis, layout.linear[self.set.carrier[points], axis]] = 1.0
        return result

    @cached_property
    def _spin(self) -> Array:
        """w of the body of each vector on a floating body, shape (on frames, 3, N)."""
        result = np.zeros((len(self.set._frame), 3, int(self.set.layout.velocity[-1])))
        frame, axis, place = self.set.layout.spin
        for k, own in enumerate(self.set._frame):
            mine = np.flatnonzero(frame == own)
            result[k, axis[mine], place[mine]] = 1.0
        return result

    @cached_property
    def _elastic(self) -> Array:
        """P of each vector on a floating body, at the places of deta/dt, shape (on frames, 3, N)."""
        result = np.zeros_like(self._spin)
        for k, (number, own) in enumerate(zip(self.set._on_frames, self.set._frame, strict=True)):
            shapes, end = self.set.vectors[number].shapes, int(self.set.layout.velocity[own + 1])
            result[k, :, end - shapes.shape[1] : end] = shapes
        return result


def small_function_stiffness(
    functions: FunctionSet, jacobians: SmallJacobians, at: Instants, multipliers: Array
) -> Array:
    """d(sum of multiplier dw/dq)/dq at constant multipliers, shape (N, N)."""
    jacobian = jacobians.jacobian(at)
    apart = jacobian.reshape(len(functions.set.vectors), 3 * jacobian.shape[1])
    curvature = jacobian.T @ (functions.vector_curvature(at, multipliers) @ apart).reshape(jacobian.shape)
    return curvature + jacobians.lever_stiffness(at, functions.forces(at, multipliers[None])[0])
