"""Servos: a spring whose rest moves and a damper, as cheap as these, all of their work supplied."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import boom

KP, KD, STEP = 80.0, 4.0, 1e-3


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("target", [0.3, lambda t: 0.3])
def test_a_target_that_stays_makes_a_spring_and_damper(target, dimension):
    """The same motion in as many iterations; what these store and lose is what the servo supplies."""
    model, hinge = boom(lambda joint: joint.servo(KP, KD, angle=target, name="servo"), dimension)
    springs, joint = boom(lambda joint: joint.spring(KP, rest=0.3, damping=KD), dimension)
    motion = model.simulate(0.1, STEP, progress=False)
    expected = springs.simulate(0.1, STEP, progress=False)
    assert motion.angle(hinge) == pytest.approx(expected.angle(joint), abs=1e-11)
    assert motion.recording.iterations[-1] <= expected.recording.iterations[-1] + 10
    other = expected.energy
    supplied = -(other.spring - other.spring[0]) - other.dissipated
    assert motion.energy.work["servo"] == pytest.approx(supplied, abs=1e-12)
    assert (motion.energy.spring == 0).all() and (motion.energy.dissipated == 0).all()
    assert np.abs(motion.energy.balance_error).max() <= 1e-13
    linear, same = (each.linearize(at="unloaded").modes(4) for each in (model, springs))
    assert linear.frequencies == pytest.approx(same.frequencies, rel=1e-12)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (3.0, -2.0, 0.0)])
def test_a_target_that_moves_takes_a_few_iterations_a_step_and_keeps_the_ledger(place):
    """Its order is that of test_state_force.py."""
    model, hinge = boom(
        lambda joint: joint.servo(KP, KD, angle=lambda t: 0.5 * np.sin(3 * t), name="servo"), place=place
    )
    for h in (1e-2, 1e-3, 1e-4):
        motion = model.simulate(0.2, h, progress=False)
        assert np.abs(motion.energy.balance_error).max() <= 1e-12
        assert motion.recording.iterations[-1] <= 8 * (len(motion.time) - 1) and motion.halvings[-1] == 0
        assert abs(motion.angle(hinge)[-1] - 0.5 * np.sin(0.6)) < 0.1


def test_at_rest_at_its_target_it_does_nothing():
    model, hinge = boom(lambda joint: joint.servo(KP, KD, angle=0.0, name="servo"), gravity=0.0)
    motion = model.simulate(0.05, 1e-2, progress=False)
    assert (motion.angle(hinge) == 0).all() and (motion.energy.work["servo"] == 0).all()


def test_a_jump_of_the_target_is_an_impulse_unless_its_rate_is_given():
    """I delta(w) = kd jump, to first order in the step; without the rate the jump is felt by the spring alone."""

    def wheel(**rate):
        model = ph.Model(dimension=2)
        disc = model.add(ph.RigidBody(1.0, 0.2), "disc")
        hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), disc.origin))
        target = np.vectorize(lambda t: 0.8 if t >= 0.01 else 0.0)
        model.apply(hinge.servo(8.0, 0.5, angle=target, breakpoints=[0.01], **rate))
        return model.simulate(0.02, 1e-5, progress=False).rate(hinge)

    assert wheel()[1010] == pytest.approx(0.5 * 0.8 / 0.2, rel=1e-2)
    assert abs(wheel(rate=lambda t: 0.0 * t)[1010]) < 0.01


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"angle": 0.2, "rate": lambda t: 0.0}, "a target that is a function"),
        ({"angle": lambda t: t, "rate": 2.0}, "rate of a servo of angle must be a function"),
    ],
)
def test_what_is_no_target_is_refused(given, words):
    with pytest.raises(ph.ParameterError, match=words):
        boom(lambda joint: joint.servo(KP, KD, **given))
