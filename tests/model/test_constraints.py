"""The matrix of the joints, their rates and the forces on them against differences."""

import numpy as np
import pytest
from phlexible.system.constraints import (
    constraint_acceleration,
    constraint_matrix,
    constraint_time_derivative,
    constraint_values,
    mass_matrix,
)
from phlexible.system.geometric_stiffness import constraint_stiffness, load_stiffness
from phlexible.system.kinematics import Kinematics
from phlexible.system.load_forces import applied_forces, body_triad

from model.mechanisms import arbitrary_state, crank_slider, moved_along, tangle
from phlexible.bodies.mechanics.floating import mass_matrix as body_mass_matrix
from phlexible.bodies.rigid_body import RigidBody
from phlexible.interactions.functions import PointOf
from phlexible.interactions.loads import Torque
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.displacement import displaced

MODELS = [tangle(2), tangle(3), crank_slider(angle=0.6)]
EPS = 1e-5


def slope(function, model, layout, state):
    """Derivative of a function of the state to (dr, dtheta, deta), by central differences."""
    steps = EPS * np.eye(len(state.velocity))
    ends = [[function(displaced(model, layout, state, s * step)) for s in (1, -1)] for step in steps]
    return np.array([(a - b) / (2 * EPS) for a, b in ends]).T


@pytest.mark.parametrize("model", MODELS)
def test_constraint_matrix_is_the_slope_of_the_joint_functions(model):
    layout, state = arbitrary_state(model)
    expected = slope(lambda s: constraint_values(model, layout, s), model, layout, state)
    matrix = constraint_matrix(model, layout, state).toarray()
    assert matrix == pytest.approx(expected, abs=1e-8)
    assert np.abs(matrix).max() > 0.5


@pytest.mark.parametrize("model", MODELS)
def test_joint_functions_change_as_matrix_and_frames_say(model):
    layout, state = arbitrary_state(model)
    before, after = (moved_along(model, layout, state, t) for t in (-EPS, EPS))
    change = constraint_values(model, layout, after) - constraint_values(model, layout, before)
    rate = constraint_matrix(model, layout, state) @ state.velocity
    explicit = constraint_time_derivative(model, layout, state)
    assert change / (2 * EPS) == pytest.approx(rate + explicit, abs=1e-6 * np.abs(explicit).max())
    assert np.abs(explicit).max() > 0.1


@pytest.mark.parametrize("model", MODELS)
def test_acceleration_of_the_joint_functions_at_constant_velocities(model):
    layout, state = arbitrary_state(model)

    def rate(s):
        return constraint_matrix(model, layout, s) @ s.velocity + constraint_time_derivative(model, layout, s)

    before, after = (rate(moved_along(model, layout, state, t)) for t in (-EPS, EPS))
    found = constraint_acceleration(model, layout, state)
    assert found == pytest.approx((after - before) / (2 * EPS), abs=1e-5 * np.abs(found).max())


@pytest.mark.parametrize("model", MODELS)
def test_slope_of_the_joint_forces(model):
    layout, state = arbitrary_state(model)
    pull = np.random.default_rng(5).normal(size=layout.multiplier[-1])
    expected = slope(lambda s: constraint_matrix(model, layout, s).T @ pull, model, layout, state)
    assert constraint_stiffness(model, layout, state, pull).toarray() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("dimension", [2, 3])
def test_slope_of_gravity_and_forces(dimension):
    model = tangle(dimension)
    del model._loads[2:]  # of moments, only the levers' turn is taken
    layout, state = arbitrary_state(model)
    expected = slope(lambda s: applied_forces(model, layout, s), model, layout, state)
    assert load_stiffness(model, layout, state).toarray() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("dimension", [2, 3])
def test_loads_do_the_work_of_force_times_way(dimension):
    """Gravity and forces, world and follower: power = f . dx/dt."""
    model = tangle(dimension)
    layout, state = arbitrary_state(model)
    before, after = (moved_along(model, layout, state, t) for t in (-EPS, EPS))

    def ways(s):
        kinematics = Kinematics(model.bodies, layout, s)
        weights = [
            placed.data.mass * s.position[i] @ model.gravity
            + s.rotation[i] @ placed.data.first_moments @ np.r_[1, kinematics.elastic(i)] @ model.gravity
            for i, placed in enumerate(model.bodies)
        ]
        ends = [load.attachment for load in model.loads[:2]]
        points = [place(kinematics, end) for end in ends]
        return sum(weights), points

    kinematics = Kinematics(model.bodies, layout, state)
    triad = [kinematics.motion(d).value for d in body_triad(model.loads[1].attachment)]
    forces = [np.array([1, 2, 0]), 1 * triad[0] + 2 * triad[1]]
    (w0, p0), (w1, p1) = ways(before), ways(after)
    work = (w1 - w0) + sum(f @ (b - a) for f, a, b in zip(forces, p0, p1, strict=True))
    del model._loads[2:]
    power = applied_forces(model, layout, state) @ state.velocity
    assert power == pytest.approx(work / (2 * EPS), abs=1e-6)


def place(kinematics, attachment):
    return kinematics.motion(PointOf(attachment)).value


def test_a_torque_on_a_rigid_material_turns_it_and_nothing_else():
    model = Mechanism()
    body = model.add(RigidBody(1.0, (1, 2, 2.5)))
    model.apply(Torque(body.origin, (1, 2, 3)))
    model.apply(Torque(body.origin, (3, 2, 1), axes="body"))
    layout, state = arbitrary_state(model)
    force = applied_forces(model, layout, state)
    assert force[:3] == pytest.approx([0, 0, 0], abs=1e-14)
    assert force[3:] == pytest.approx(state.rotation[0].T @ [1, 2, 3] + [3, 2, 1], abs=1e-14)


@pytest.mark.parametrize("dimension", [2, 3])
def test_directions_turn_with_the_material(dimension):
    """A direction along the axis is the tangent of the bent axis, one across turns with it."""
    model = tangle(dimension)
    layout, state = arbitrary_state(model)
    state.elastic[:] *= 1e-3
    kinematics, body, x, h = Kinematics(model.bodies, layout, state), model["a"], 0.1, 1e-4
    along, across, _ = (kinematics.motion(d).value for d in body_triad(body.at(x)))
    tangent = (place(kinematics, body.at(x + h)) - place(kinematics, body.at(x - h))) / (2 * h)
    assert along == pytest.approx(tangent / np.linalg.norm(tangent), abs=1e-5)
    assert np.abs(along - state.rotation[0][:, 0]).max() > 1e-4
    assert across @ along == pytest.approx(0, abs=1e-6)


def test_mass_matrix_is_block_diagonal():
    model = tangle(3)
    layout, state = arbitrary_state(model)
    matrix = mass_matrix(model, state).toarray()
    for index, placed in enumerate(model.bodies):
        own = slice(*layout.velocity[index : index + 2])
        eta = state.elastic[slice(*layout.elastic[index : index + 2])]
        assert (matrix[own, own] == body_mass_matrix(placed.data, eta)).all()
        matrix[own, own] = 0
    assert not matrix.any()
