"""Quadratic velocity forces against the laws of a free body, by differences of the canonical momenta."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mechanisms import beam
from phlexible.bodies.mechanics import floating
from phlexible.bodies.rigid_body import RigidBody

BODIES = {
    "planar beam": beam().discretize(2),
    "beam": beam().discretize(3),
    "cantilever": beam(frame="cantilever").discretize(3),
    "rigid body": RigidBody(2.0, (1.0, 2.0, 2.5), center=(0.1, 0.2, 0.3)).discretize(3),
}
CASES = [(name, seed) for name in BODIES for seed in (0, 1)]


def arbitrary(name, seed):
    body, rng = BODIES[name], np.random.default_rng(seed)
    eta, nu = 0.1 * rng.normal(size=body.elastic_count), rng.normal(size=body.velocity_count)
    acceleration = np.linalg.solve(
        floating.mass_matrix(body, eta), floating.quadratic_velocity_forces(body, eta, nu)
    )
    return body, eta, nu, acceleration


def moments(body, eta, nu, turn, place):
    """Linear and angular momentum in world axes (about the world origin), and pi of eta."""
    full = np.zeros(6 + body.elastic_count)
    full[floating.velocity_components(body)] = floating.mass_matrix(body, eta) @ nu
    linear = turn @ full[:3]
    return linear, turn @ full[3:6] + np.cross(place, linear), full[6:]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_free_body_keeps_its_momenta_and_obeys_lagrange(name, seed):
    body, eta, nu, acceleration = arbitrary(name, seed)
    _, w, rate = floating.split_velocity(body, nu)
    eps, ends = 1e-5, []
    for t in (-eps, eps):
        half, _, _ = floating.split_velocity(body, nu + t / 2 * acceleration)
        turn = Rotation.from_rotvec(t * w).as_matrix()
        ends.append(moments(body, eta + t * rate, nu + t * acceleration, turn, t * half))
    linear, angular, elastic = ((b - a) / (2 * eps) for a, b in zip(*ends, strict=True))
    tolerance = 1e-7 * np.linalg.norm(floating.mass_matrix(body, eta) @ nu)
    kept = list(range(3)) if body.dimension == 3 else [2]
    assert linear[: body.dimension] == pytest.approx(np.zeros(body.dimension), abs=tolerance)
    assert angular[kept] == pytest.approx(np.zeros(len(kept)), abs=tolerance)
    energy = [
        [nu @ floating.mass_matrix(body, eta + t * unit) @ nu / 2 for t in (-0.5, 0.5)] for unit in np.eye(len(eta))
    ]
    assert elastic == pytest.approx(np.array([b - a for a, b in energy]), abs=tolerance)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_forces_of_a_body_that_turns_without_bending_are_those_of_its_balance(name, seed):
    body, eta, nu, acceleration = arbitrary(name, seed)
    body = floating.centred(body)[0]
    nu[body.rigid_count :], acceleration[body.rigid_count :] = 0, 0
    turning = np.where(np.arange(len(nu)) < body.dimension, 0, nu)
    forces = floating.mass_matrix(body, eta) @ acceleration - floating.quadratic_velocity_forces(body, eta, turning)
    assert floating.rigid_motion_forces(body, eta, nu, acceleration) == pytest.approx(
        forces, abs=1e-13 * np.abs(forces).max()
    )
    direction, eps = np.random.default_rng(7).normal(size=len(eta)), 1e-4
    ends = [floating.rigid_motion_forces(body, eta + t * direction, nu, acceleration) for t in (-eps, eps)]
    found = floating.rigid_motion_tangent(body, eta, nu, acceleration) @ direction
    assert found == pytest.approx((ends[1] - ends[0]) / (2 * eps), abs=1e-9 * (1 + np.abs(found).max(initial=0)))
