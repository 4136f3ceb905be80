"""Friction of tendons at their guides: Euler's ratio, sticking, ledger, momenta, slack pieces, Newton's matrix."""

import numpy as np
import pytest

import phlexible as ph
from derivatives.whole_runs import by_differences
from description.interactions import test_tendons as tendons
from laws.figures import energy_error
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error

GRAVITY, MU = 9.81, 0.3
EULER = np.exp(MU * np.pi)


def atwood(ratio, **options):
    """Masses of 1 kg and ``ratio`` kg at the ends of a rope that turns by pi / 2 at each of two guides."""
    options = {"stiffness": 1e5, "damping": 200.0, "friction": MU, **options}
    return tendons.atwood(masses=(1.0, ratio), depth=1.0, **options)


def free_bodies(rest_length=2.4, friction=MU, damping=0.0, seed=None):
    return tendons.free_bodies(rest_length, damping, friction=friction, seed=seed)


def test_beyond_eulers_ratio_the_rope_slides_as_a_drum_brakes():
    """m_2 a = m_2 g - T_2, m_1 a = T_1 - m_1 g, T_2 = exp(mu pi) T_1."""
    ratio = 1.5 * EULER
    model, rope = atwood(ratio)
    motion = model.simulate(0.4, step=1e-3)
    speed, tension = motion.velocity(model["heavy"].origin)[:, 1], motion[ph.Tension(rope)]
    assert tension[100:, 2] / tension[100:, 0] == pytest.approx(EULER, rel=1e-3)
    found = (speed[100] - speed[-1]) / (motion.time[-1] - motion.time[100])
    assert found == pytest.approx(GRAVITY * (ratio - EULER) / (ratio + EULER), rel=1e-3)
    assert energy_error(motion) <= 1e-11 and np.diff(motion.energy.dissipated).min() >= 0


def test_below_eulers_ratio_it_sticks_without_creep():
    model, rope = atwood(0.9 * EULER)
    motion = model.simulate(5.0, step=1e-3)
    assert np.ptp(motion.position(model["heavy"].origin)[:, 1][3000:]) <= 1e-12
    assert motion[ph.Tension(rope)][-1][[0, 2]] == pytest.approx((GRAVITY, 0.9 * EULER * GRAVITY), rel=1e-9)


def test_violent_motions_of_many_tendons_neither_fail_nor_gain_energy():
    for seed in range(10):
        model, _ = free_bodies(2.0 + 0.15 * seed, 0.05 * seed + 1e-3, seed=seed)
        motion = model.simulate(4.0, step=1e-2 if seed % 2 else 2e-3)
        assert energy_error(motion) <= 1e-12 and np.diff(motion.energy.dissipated).min() >= 0


@pytest.mark.parametrize("friction", [0.0, MU])
def test_the_order_is_two(friction):
    def end(step):
        model, _ = free_bodies(4.0, friction)
        motion = model.simulate(0.08, step=step)
        assert (motion.energy.dissipated[-1] > 1) == (friction > 0)
        return np.concatenate([motion.position(body.origin)[-1] for body in model.bodies])

    ends = [end(step) for step in (4e-4, 2e-4, 1e-4)]
    assert 3.7 < np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max() < 4.3


@pytest.mark.parametrize("friction", [1e-3, 0.3])
@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_newtons_matrix_is_the_derivative_of_the_step(friction, damping):
    for seed in range(4):
        model, _ = free_bodies(2.8, friction, damping, seed)
        state = undeformed(system_of(model))
        newton = Newton(model, state, 2e-3)
        after = state.velocity + np.random.default_rng(seed).normal(size=len(state.velocity))
        assert largest_slope_error(newton, after) <= 1e-12
        assert (newton.memory["piece_state"] != 0).any() == (friction < 0.1)


@pytest.mark.parametrize("friction", [0.0, MU])
@pytest.mark.parametrize("rest_length", [2.4, lambda t: 2.4 - t, 9.0])
def test_curvatures_are_derivatives_of_slopes_also_by_the_winch(rest_length, friction):
    """Second derivatives of the stretch of a tendon with respect to all of its functions, one of which is the rest
    length; zero where a tendon that rubs is slack.
    """
    _, rope = free_bodies(rest_length, friction)
    (force,) = rope.forces(3)
    y, step = np.array([each.initial_value() for each in force.coordinate.functions()]), 1e-5
    y[-1] = -2.4 if callable(rest_length) else y[-1]
    curves = [
        force.coordinate.gradient(y + step * e) - force.coordinate.gradient(y - step * e) for e in np.eye(len(y))
    ]
    assert force.coordinate.hessian(y) == pytest.approx(np.array(curves).T / (2 * step), abs=1e-8)


def test_small_motions_and_equilibrium_stick():
    """Each mass swings on its own piece, whose stiffness is EA over its length."""
    model, rope = atwood(1.5, stiffness=1e4 / 3, damping=0.0, rest_length=3.0 / (1 + 1.2 * GRAVITY / 1e4))
    assert model.equilibrium()[ph.Tension(rope)][[0, 2]] == pytest.approx((GRAVITY, 1.5 * GRAVITY), rel=1e-9)
    found = np.sort(model.linearize(at="static").modes(4).frequencies)[2:]
    assert found == pytest.approx((np.sqrt(1e4 / 1.5), np.sqrt(1e4)), rel=1e-2)
    model, rope = atwood(4.0)
    with pytest.raises(ph.EquilibriumError):
        model.equilibrium()


def test_equilibria_keep_what_slid_through_the_guides():
    """A pull makes the rope slide; the mass rests lower afterwards, also in an equilibrium from there."""
    model, rope = atwood(1.5, stiffness=1e4 / 3, rest_length=3.0 / (1 + 1.2 * GRAVITY / 1e4))
    heavy, before = model["heavy"].origin, model.equilibrium().position(model["heavy"].origin)[1]
    model.apply(ph.Force(heavy, lambda t: (0.0, -60.0 * np.sin(np.pi * min(t, 0.4) / 0.4) ** 2, 0.0)))
    motion = model.simulate(2.0, step=1e-3)
    end, rest = motion.position(heavy)[-1], model.equilibrium(motion.recording.state(-1))
    assert end[1] < before - 1e-3
    assert rest.position(heavy) == pytest.approx(end, abs=1e-9)
    assert rest[ph.Tension(rope)] == pytest.approx(motion[ph.Tension(rope)][-1], rel=1e-7)


def test_a_piece_between_two_fixed_guides_needs_a_run_before_the_equilibrium():
    """It is without tension as placed, so that no friction holds; the message says where to start instead."""
    model = ph.Model(gravity=(0, -GRAVITY, 0), dimension=2)
    first, second = (model.add(ph.PointMass(m), position=(x, -1.0, 0)) for m, x in ((1.0, 0.0), (1.1, 2.0)))
    guides = [first.origin, model.ground.at((0, 0, 0)), model.ground.at((2, 0, 0)), second.origin]
    rope = model.apply(ph.Tendon(guides, stiffness=1e4, friction=MU, damping=100.0))
    with pytest.raises(ph.EquilibriumError, match=r"until it rests, and start from motion.recording.state\(-1\)"):
        model.equilibrium()
    motion = model.simulate(1.0, step=1e-3)
    tension = model.equilibrium(motion.recording.state(-1))[ph.Tension(rope)]
    assert tension[[0, 2]] == pytest.approx((GRAVITY, 1.1 * GRAVITY), rel=1e-9)
    assert np.abs(np.log(tension[1:] / tension[:-1])).max() <= MU * np.pi / 2 * (1 + 1e-9)


def place_of_the_first(model):
    return ph.Cost.final(ph.Position(model.bodies[0].origin), lambda y: y.sum(axis=1))


@pytest.mark.parametrize(("rest", "damping", "seed"), [(3.0, 0.5, None), (3.0, 0.0, 1), (2.7, 1.0, 2)])
def test_gradients_are_those_of_whole_runs_while_pieces_go_slack(rest, damping, seed):
    """A piece that was slack begins a step just taut, where forces have a kink in the rest length."""

    def build(p):
        return free_bodies(p["rest"], p["friction"], damping, seed)[0]

    values = {"rest": rest, "friction": 0.3}
    _, found = ph.gradient(build, place_of_the_first, values, duration=0.5, step=2e-3)
    expected = by_differences(build, place_of_the_first, values, 0.5, 2e-3, share=1e-6)
    assert list(found.values()) == pytest.approx(expected, rel=2e-6)


def test_what_friction_does_not_allow_is_refused():
    model, rope = free_bodies()
    with pytest.raises(ph.ModelError, match="one tension"):
        rope.motor(1.0)
    with pytest.raises(ph.ModelError, match="at most 13 guides"):
        ph.Tendon([model.ground.at((k, 0, 0)) for k in range(13)] + [model.bodies[0].origin], 1.0, friction=0.1)
    with pytest.raises(ph.ParameterError, match="friction"):
        ph.Tendon([model.ground.at((5, 0, 0)), model.bodies[0].origin], 1.0, friction=-0.1)

    def driven(p):
        model, rope = free_bodies(friction=p["friction"])
        model.apply(rope.drive(lambda t: 3.0 - np.sin(2 * t)))
        return model

    with pytest.raises(ph.ModelError, match="is paid out and rubs on its guides, and cannot be differentiated"):
        ph.gradient(driven, place_of_the_first, {"friction": 0.2}, duration=0.01, step=1e-3)
