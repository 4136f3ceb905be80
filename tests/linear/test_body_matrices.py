"""The analytic matrices of one body against differences of its momentum balances."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mechanisms import beam
from phlexible.bodies.mechanics.floating import (
    elastic_force,
    mass_matrix,
    quadratic_velocity_forces,
    split_velocity,
    velocity_components,
)
from phlexible.bodies.rigid_body import RigidBody
from phlexible.linear.mechanics import body_matrices, transport_matrix, velocity_force_slopes

BODIES = {
    "planar beam": beam().discretize(2),
    "beam": beam().discretize(3),
    "cantilever": beam(frame="cantilever", damping_ratio=0.1).discretize(3),
    "rigid body": RigidBody(2.0, (1.0, 2.0, 2.5), center=(0.1, 0.2, 0.3)).discretize(3),
}


def steady(name, seed):
    body, rng = BODIES[name], np.random.default_rng(seed)
    nu = rng.normal(size=body.velocity_count)
    nu[body.rigid_count :] = 0
    return body, 0.1 * rng.normal(size=body.elastic_count), nu, rng


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("seed", range(3))
def test_slopes_of_the_velocity_forces_are_exact(name, seed):
    """They are quadratic in nu and in eta: central differences of any step are exact."""
    body, eta, nu, rng = steady(name, seed)
    by_velocity, by_shape = velocity_force_slopes(body, eta, nu)
    faster, bent = rng.normal(size=len(nu)), rng.normal(size=len(eta))
    ends = [quadratic_velocity_forces(body, eta, nu + sign * faster) for sign in (-1, 1)]
    assert by_velocity @ faster == pytest.approx((ends[1] - ends[0]) / 2, abs=1e-13)
    ends = [quadratic_velocity_forces(body, eta + sign * bent, nu) for sign in (-1, 1)]
    assert by_shape @ bent == pytest.approx((ends[1] - ends[0]) / 2, abs=1e-13)


@pytest.mark.parametrize("name", BODIES)
def test_transport_is_what_the_velocities_of_a_displaced_frame_change_by(name):
    """A frame at r + R dr, R exp(dtheta) of a body that moves by (v, w)."""
    body, _, nu, rng = steady(name, 6)
    x = 1e-4 * rng.normal(size=len(nu)) * (np.arange(len(nu)) < body.rigid_count)
    (v, w, _), (shift, turn, _) = split_velocity(body, nu), split_velocity(body, x)

    def velocities(sign):
        back = Rotation.from_rotvec(-sign * turn)
        return np.concatenate(
            [back.apply(v + sign * np.cross(w, shift)), back.apply(w), 0 * nu[body.rigid_count :]]
        )[velocity_components(body)]

    change = (velocities(1) - velocities(-1)) / 2
    assert transport_matrix(body, nu) @ x == pytest.approx(change, abs=1e-9)
    assert np.abs(change).max() > 1e-5


@pytest.mark.parametrize("name", BODIES)
def test_small_motions_obey_the_balance(name):
    """x(t) about a steady nu: the balance at delta(nu) = dx/dt + A x, to first order."""
    body, eta, nu, rng = steady(name, 5)
    x, rate, second = (1e-6 * rng.normal(size=len(nu)) for _ in range(3))
    parts, rigid = body_matrices(body, eta, nu), body.rigid_count
    transport = transport_matrix(body, nu)

    def balance(sign):
        shape = eta + sign * x[rigid:]
        moving = nu + sign * (rate + transport @ x)
        moving[rigid:] = sign * rate[rigid:]
        force = mass_matrix(body, shape) @ (sign * (second + transport @ rate))
        force -= quadratic_velocity_forces(body, shape, moving)
        force[rigid:] += elastic_force(body, shape) + body.damping @ (sign * rate[rigid:])
        return force

    change = (balance(1) - balance(-1)) / 2
    linear = parts.mass @ second + (parts.velocity + parts.damping) @ rate + parts.stiffness @ x
    assert linear == pytest.approx(change, abs=1e-9 * np.abs(change).max())
