"""Momentum balances of one floating body in continuous time (docs/theory.md, 2).

    dpi_t/dt = pi_t x w + R^T f,  dpi_r/dt = pi_r x w + pi_t x v + m,
    dpi_eta/dt = d/deta (nu.M(eta).nu)/2 - dV/deta - C deta/dt + port forces

with ``pi = M(eta) nu`` (2.9), read as ``M dnu/dt = h(eta, nu) + forces`` (2.10). Everything is in the body frame.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import kept_velocities, mass_matrix, split_velocity


def quadratic_velocity_forces(body: FloatingBody, eta: Array, nu: Array) -> Array:
    """h(eta, nu): centrifugal, Coriolis and gyroscopic forces, shape (velocity_count,) [N, N m, ...].

    Each row is the right-hand side above at zero forces less (dM/dt) nu.
    """
    v, w, rate = split_velocity(body, nu)
    first, second = body.first_moments, body.second_moments
    xi, dxi = np.concatenate([[1.0], eta]), np.concatenate([[0.0], rate])
    spread = np.einsum("i,abij,j->ab", xi, second, xi)
    mixed = np.einsum("i,abij,j->ab", dxi, second, xi)
    trace = np.einsum("aaij->ij", second)
    gyro = np.array([second[a, b] - second[b, a] for a, b in ((1, 2), (2, 0), (0, 1))])

    linear = body.mass * v + np.cross(w, first @ xi) + first @ dxi
    angular = (
        np.cross(first @ xi, v)
        + (np.trace(spread) * np.eye(3) - spread) @ w
        + np.einsum("i,kij,j->k", xi, gyro, dxi)
    )
    growth = mixed + mixed.T  # d(spread)/dt
    linear_change = np.cross(w, first @ dxi)
    angular_change = np.cross(first @ dxi, v) + (np.trace(growth) * np.eye(3) - growth) @ w
    elastic_change = np.einsum("i,kij,k->j", dxi, gyro, w)

    kinetic_slope = (
        first.T @ np.cross(v, w)
        + (w @ w) * (trace @ xi)
        - np.einsum("a,abij,b,j->i", w, second, w, xi)
        + np.einsum("kij,k,j->i", gyro, w, dxi)
    )
    full = np.concatenate(
        [
            np.cross(linear, w) - linear_change,
            np.cross(angular, w) + np.cross(linear, v) - angular_change,
            (kinetic_slope - elastic_change)[1:],
        ]
    )
    return full[kept_velocities(body)]


def inertia_forces(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """M(eta) dnu/dt - h(eta, nu): what forces must balance, shape (velocity_count,)."""
    return mass_matrix(body, eta) @ acceleration - quadratic_velocity_forces(body, eta, nu)


def inertia_slope(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """d(inertia_forces)/deta, shape (velocity_count, n).

    They are quadratic in eta, so that central differences are exact for any step.
    """
    columns = np.zeros((body.elastic_count, body.velocity_count))
    for column, unit in zip(columns, np.eye(body.elastic_count), strict=True):
        column += inertia_forces(body, eta + unit, nu, acceleration) / 2
        column -= inertia_forces(body, eta - unit, nu, acceleration) / 2
    return columns.T
