"""Mass matrices and momenta of a floating body at many instants (formulation, section 2)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody


def cross_matrices(vectors: Array) -> Array:
    """[a] with [a] b = a x b, from vectors of shape (..., 3); shape (..., 3, 3)."""
    result = np.zeros((*vectors.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., j, i] = vectors[..., k]
        result[..., i, j] = -vectors[..., k]
    return result


def first_moment(data: FloatingBody, elastic: Array) -> Array:
    """S xi = int rho (x + u_f) in body axes, from eta of shape (T, n); shape (T, 3) [kg m]."""
    return data.first_moments[:, 0] + elastic @ data.first_moments[:, 1:].T


def rigid_rows(data: FloatingBody, elastic: Array) -> Array:
    """The rows of M(eta) that give pi_t and pi_r, shape (T, 6, 6 + n): pi = M (v, w, deta/dt)."""
    instants, n = elastic.shape
    center = cross_matrices(first_moment(data, elastic))
    xi = np.concatenate([np.ones((instants, 1)), elastic], axis=1)
    products = np.tensordot(xi, data.second_moments, axes=(1, 3))  # [t, a, b, i] = (W[a, b] xi)_i
    second = np.einsum("tabi,ti->tab", products, xi)
    rows = np.zeros((instants, 6, 6 + n))
    rows[:, :3, :3] = data.mass * np.eye(3)
    rows[:, :3, 3:6] = -center
    rows[:, 3:, :3] = center
    rows[:, 3:, 3:6] = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    rows[:, :3, 6:] = data.first_moments[:, 1:]
    for k, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):  # xi^T Z_k, Z_k = W[a, b] - W[b, a]
        rows[:, 3 + k, 6:] = (products[:, b, a] - products[:, a, b])[:, 1:]
    return rows


def elastic_mass(data: FloatingBody) -> Array:
    """sum_a W[a, a] of the elastic coordinates, shape (n, n)."""
    return np.asarray(np.einsum("aaij->ij", data.second_moments)[1:, 1:])


def kept_velocities(data: FloatingBody) -> list[int]:
    """Places of the velocities that the body keeps among (v, w, deta/dt) with all six rigid ones."""
    rigid = [*data.linear_axes, *(3 + axis for axis in data.rotation_axes)]
    return [*rigid, *range(6, 6 + data.elastic_count)]


def mass_matrices(data: FloatingBody, elastic: Array) -> Array:
    """M(eta) for the velocities that the body keeps, from eta of shape (T, n); shape (T, k, k)."""
    kept, rigid = kept_velocities(data), data.rigid_count
    result = np.empty((len(elastic), len(kept), len(kept)))
    result[:, :rigid] = rigid_rows(data, elastic)[:, kept[:rigid]][:, :, kept]
    result[:, rigid:, :rigid] = result[:, :rigid, rigid:].transpose(0, 2, 1)
    result[:, rigid:, rigid:] = elastic_mass(data)
    return result
