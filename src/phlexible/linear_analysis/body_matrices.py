"""Linear momentum balances of one floating body about a steady motion (docs/theory.md, 2 and 7).

The balance ``M(eta) dnu/dt - h(eta, nu) + dV/deta + C deta/dt = forces`` is expanded about a constant
``nu = (v, w, 0)``. Small motions are ``x = (dr, dtheta, deta)`` in body axes: the frame is at
``r + R dr``, ``R exp(dtheta)``. Then ``delta(nu) = dx/dt + A x`` with ``A`` of ``transport_matrix`` (7.6).
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.small_matrices import Matrix
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics import absolute as absolute_mechanics
from phlexible.bodies.mechanics.floating import (
    elastic_tangent,
    kept_velocities,
    mass_matrix,
    split_velocity,
    viscous_matrix,
)
from phlexible.errors import EquilibriumError, SlackStringWarning

SLACK = 1e-2  # of the largest stress
ROUND_OFF = 1e-10  # of EA


@dataclass(frozen=True, eq=False)
class BodyMatrices:
    """``M d2x/dt2 + (D + C) dx/dt + K x = forces``, each of shape (velocity_count,) * 2.

    Attributes:
        mass: M.
        velocity: D, of the steady motion; skew.
        damping: C, of the material and of ``FloatingBody.damping``.
        stiffness: K of inertia and elasticity; joints and loads add theirs.
    """

    mass: Matrix
    velocity: Matrix
    damping: Matrix
    stiffness: Matrix


def body_matrices(body: FloatingBody, eta: Array, nu: Array) -> BodyMatrices:
    """The matrices at eta (n,) and a steady nu (velocity_count,) in body axes without elastic rates.

    Of a body about its centre of mass (``centred``) take v = 0: its translation is apart from the rest.
    """
    mass, rigid = mass_matrix(body, eta), body.rigid_count
    stiffness, damping = np.zeros_like(mass), np.zeros_like(mass)
    stiffness[rigid:, rigid:] = elastic_tangent(body, eta)
    damping[rigid:, rigid:] = viscous_matrix(body, eta)
    if not nu.any():
        return BodyMatrices(mass, np.zeros_like(mass), damping, stiffness)
    transport = transport_matrix(body, nu)
    by_velocity, by_shape = velocity_force_slopes(body, eta, nu)
    stiffness -= by_velocity @ transport
    stiffness[:, rigid:] -= by_shape
    return BodyMatrices(mass, mass @ transport - by_velocity, damping, stiffness)


def absolute_matrices(body: AbsoluteBody, q: Array, rates: Array) -> BodyMatrices:
    """Of a body in absolute coordinates at rest; the prestress is in its tangent.

    Raises:
        EquilibriumError: one that moves.
    """
    if rates.any():
        raise EquilibriumError(
            "a string or soft body is linearized at rest only: in rotation its nodes have no frame that turns with "
            'them; take at="given" or at="static"'
        )
    if body.dimension > 1 and any(_is_slack(body, group, q) for group in body.strains):
        warnings.warn(
            "a string is linearized about a shape in which parts of it are pressed together: "
            "their motions grow, and grow faster the finer the mesh",
            SlackStringWarning,
            stacklevel=2,
        )
    nothing = sparse.csr_array((body.velocity_count,) * 2)
    tangent, viscous = absolute_mechanics.elastic_tangent(body, q), absolute_mechanics.viscous_matrix(body, q)
    return BodyMatrices(absolute_mechanics.mass_matrix(body), nothing, viscous, tangent)


def _is_slack(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> bool:
    stress = group.law.stress(absolute_mechanics.strains(body, group, q))
    least = max(SLACK * float(np.abs(stress).max()), ROUND_OFF * group.law.modulus)
    return bool(stress.min() < -least)


def transport_matrix(body: FloatingBody, nu: Array) -> Array:
    """A in ``delta(nu) = dx/dt + A x``: ``delta(v) = w x dr + v x dtheta``, ``delta(w) = w x dtheta``."""
    v, w, _ = split_velocity(body, nu)
    full = np.zeros((6 + body.elastic_count,) * 2)
    full[:3, :3] = full[3:6, 3:6] = cross_matrix(w)
    full[:3, 3:6] = cross_matrix(v)
    kept = kept_velocities(body)
    return full[np.ix_(kept, kept)]


def velocity_force_slopes(body: FloatingBody, eta: Array, nu: Array) -> tuple[Array, Array]:
    """dh/dnu (N, N) and dh/deta (N, n) of the quadratic velocity forces at deta/dt = 0."""
    v, w, _ = split_velocity(body, nu)
    first, second, n = body.first_moments, body.second_moments, body.elastic_count
    xi = np.concatenate([[1.0], eta])
    spin, carry, shapes = cross_matrix(w), cross_matrix(v), first[:, 1:]
    gyro = np.array([(second[a, b] - second[b, a]) for a, b in ((1, 2), (2, 0), (0, 1))])
    trace = np.einsum("aaij->ij", second)
    spread = np.einsum("i,abij,j->ab", xi, second, xi)
    half_growth = np.einsum("abij,j->abi", second, xi)
    growth = (half_growth + half_growth.transpose(1, 0, 2))[:, :, 1:]  # d(spread)/deta
    # (d/deta of the rotary inertia) w, one column a coordinate
    turning = np.outer(w, np.einsum("aai->i", growth)) - np.einsum("abi,b->ai", growth, w)
    center = cross_matrix(first @ xi)

    linear = np.hstack([body.mass * np.eye(3), -center, shapes])  # pi_t of (v, w, deta/dt)
    angular = np.hstack([center, np.trace(spread) * np.eye(3) - spread, (xi @ gyro)[:, 1:]])
    steady = np.concatenate([v, w, np.zeros(n)])
    linear_cross, angular_cross = cross_matrix(linear @ steady), cross_matrix(angular @ steady)

    by_velocity = np.zeros((6 + n, 6 + n))
    by_velocity[:3] = -spin @ linear
    by_velocity[:3, 3:6] += linear_cross
    by_velocity[:3, 6:] -= spin @ shapes
    by_velocity[3:6] = -spin @ angular - carry @ linear
    by_velocity[3:6, 3:6] += angular_cross
    by_velocity[3:6, :3] += linear_cross
    by_velocity[3:6, 6:] += carry @ shapes - turning
    by_velocity[6:, :3] = -shapes.T @ spin
    symmetric = second + second.transpose(1, 0, 2, 3)
    by_velocity[6:, 3:6] = (
        first.T @ carry + 2 * np.outer(trace @ xi, w) - np.einsum("b,abij,j->ia", w, symmetric, xi)
    )[1:]
    by_velocity[6:, 6:] = 2 * np.einsum("k,kij->ij", w, gyro)[1:, 1:]

    by_shape = np.zeros((6 + n, n))
    by_shape[:3] = -spin @ spin @ shapes
    by_shape[3:6] = -spin @ (turning - carry @ shapes) - carry @ spin @ shapes
    by_shape[6:] = ((w @ w) * trace - np.einsum("a,abij,b->ij", w, second, w))[1:, 1:]
    kept = kept_velocities(body)
    return by_velocity[np.ix_(kept, kept)], by_shape[kept]
