"""Momentum balances of one floating body in continuous time (docs/theory.md, 2).

    dpi_t/dt = pi_t x w + R^T f,  dpi_r/dt = pi_r x w + pi_t x v + m,
    dpi_eta/dt = d/deta (nu.M(eta).nu)/2 - dV/deta - C deta/dt + port forces

with ``pi = M(eta) nu`` (2.9), read as ``M dnu/dt = h(eta, nu) + forces`` (2.10). Everything is in the body frame.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import kept_velocities, mass_matrix, moment_products, split_velocity


def quadratic_velocity_forces(body: FloatingBody, eta: Array, nu: Array) -> Array:
    """h(eta, nu): centrifugal, Coriolis and gyroscopic forces, shape (..., velocity_count) [N, N m, ...].

    For eta (..., n) and one nu.

    Each row is the right-hand side above at zero forces less (dM/dt) nu.
    """
    v, w, rate = split_velocity(body, nu)
    first = body.first_moments
    one, zero = np.ones((*eta.shape[:-1], 1)), np.zeros((*rate.shape[:-1], 1))
    xi, dxi = np.concatenate([one, eta], axis=-1), np.concatenate([zero, rate], axis=-1)
    products, d_products = moment_products(body, xi), moment_products(body, dxi)  # W xi and W dxi/dt
    spread = np.einsum("...abi,...i->...ab", products, xi)
    mixed = np.einsum("...abi,...i->...ab", products, dxi)
    gyro = np.stack([d_products[..., a, b, :] - d_products[..., b, a, :] for a, b in ((1, 2), (2, 0), (0, 1))], -2)
    place, d_place = xi @ first.T, dxi @ first.T

    linear = body.mass * v + cross(w, place) + d_place
    angular = cross(place, v) + _about(spread, w) + (gyro @ xi[..., None])[..., 0]
    linear_change = cross(w, d_place)
    angular_change = cross(d_place, v) + _about(mixed + np.swapaxes(mixed, -1, -2), w)
    kinetic_slope = (
        cross(v, w) @ first
        + (w @ w) * np.einsum("...aai->...i", products)
        - np.einsum("a,b,...abi->...i", w, w, products)
        + 2 * np.einsum("k,...ki->...i", w, gyro)  # with what dM/dt takes away
    )
    full = np.concatenate(
        [
            cross(linear, w) - linear_change,
            cross(angular, w) + cross(linear, v) - angular_change,
            kinetic_slope[..., 1:],
        ],
        axis=-1,
    )
    return np.asarray(full[..., kept_velocities(body)])


def _about(spread: Array, w: Array) -> Array:
    """(tr(A) I - A) w."""
    return np.asarray(np.einsum("...aa->...", spread)[..., None] * w - spread @ w)


def inertia_forces(
    body: FloatingBody, eta: Array, nu: Array, acceleration: Array, mass: Array | None = None
) -> Array:
    """M(eta) dnu/dt - h(eta, nu) for eta (..., n): what forces must balance, shape (..., velocity_count).

    Args:
        body: that moves.
        eta: shape (..., n).
        nu: its velocities, shape (velocity_count,).
        acceleration: dnu/dt, shape (velocity_count,).
        mass: M(eta), where the caller has it.
    """
    forces = (mass_matrix(body, eta) if mass is None else mass) @ acceleration
    return forces - quadratic_velocity_forces(body, eta, nu) if nu.any() else forces


def inertia_slope(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """d(inertia_forces)/deta, shape (velocity_count, n).

    They are quadratic in eta, so that central differences are exact for any step.
    """
    steps = np.eye(body.elastic_count)
    ends = inertia_forces(body, eta + np.concatenate([steps, -steps]), nu, acceleration)
    return (ends[: len(steps)] - ends[len(steps) :]).T / 2
