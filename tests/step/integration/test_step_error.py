"""The estimated error of a step is the true one, and a tolerance for it is kept (docs/theory.md, 4)."""

import numpy as np
import pytest

import phlexible as ph
from step.integration.step_truth import CASES, Truth, with_tolerance


def turned_wheel():
    """Of rate 2 cos(2 t): both parts of the error (4.22), of w'' and of w^3, have one size at first."""
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(3.0, 0.4, shape=ph.Cylinder(0.5, 0.1)), angular_velocity=(0, 0, 2.0))
    model.apply(ph.Torque(wheel.origin, lambda t: (0.0, 0.0, -0.4 * 4.0 * np.sin(2.0 * t))))
    return model


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        pytest.param(ph.gallery.heavy_top, 0.7, 1.4, id="heavy top"),
        pytest.param(turned_wheel, 0.95, 1.05, id="wheel"),
        # the part of nu along the joints, which changes its sign in each step, counts too
        pytest.param(ph.gallery.double_pendulum, 0.7, 4.0, id="double pendulum"),
    ],
)
def test_the_estimate_is_the_error_of_a_step(make, least, most):
    """Where the error is not just passing through zero; of third order."""
    model = make()
    greatest = []
    for step in (8e-3, 4e-3):
        motion, truth = model.simulate(0.4, step), Truth(model)
        rows = range(2, len(motion.time) - 1, 7)
        true = np.array([truth.error(motion.recording.state(k), step) for k in rows])
        estimated = motion.step_error[[k + 1 for k in rows]]
        large = true > 0.3 * true.max()
        assert ((least * true[large] <= estimated[large]) & (estimated[large] <= most * true[large])).all()
        greatest.append(estimated.max())
    assert np.log2(greatest[0] / greatest[1]) == pytest.approx(3, abs=0.2)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5])
@pytest.mark.parametrize("case", CASES)
def test_a_tolerance_is_kept(case, tolerance):
    """True errors of steps are at most three times the tolerance; energy and joints are exact all the same."""
    motion, error, _ = with_tolerance(case, tolerance)
    assert error <= 3 * tolerance
    assert motion.step_error.max() <= tolerance
    check = motion.check()
    assert check.balance_error < 1e-12 and check.joint_gap < 1e-12
    assert motion.time == pytest.approx(CASES[case][2] * np.arange(len(motion.time)), rel=1e-14)


def test_a_tolerance_has_to_be_positive_and_goes_with_order_two():
    model = ph.gallery.double_pendulum()
    for options, message in (({"tolerance": -1e-3}, "tolerance must be"), ({"order": 4}, "needs order=2")):
        with pytest.raises(ph.ParameterError, match=message):
            model.simulate(1.0, 0.1, **{"tolerance": 1e-3, **options})


def test_the_interval_of_the_output_is_said_by_its_name():
    model = ph.gallery.double_pendulum()
    by_step = model.simulate(0.2, 0.05, tolerance=1e-4, progress=False)
    by_name = model.simulate(0.2, tolerance=1e-4, output_step=0.05, progress=False)
    assert np.array_equal(by_step.recording.rotation, by_name.recording.rotation)
    every_fifth = model.simulate(0.2, 0.01, output_step=0.05, progress=False)
    expected = model.simulate(0.2, 0.01, every=5, progress=False)
    assert np.array_equal(every_fifth.recording.rotation, expected.recording.rotation)
    for options, message in (
        ({}, "simulate needs step="),
        ({"step": 0.01, "output_step": 0.05, "tolerance": 1e-4}, "leave step= out"),
        ({"step": 0.01, "output_step": 0.05, "every": 2}, "takes the place of every="),
        ({"step": 0.01, "output_step": 0.025}, "must be a multiple of step"),
    ):
        with pytest.raises(ph.ParameterError, match=message):
            model.simulate(0.2, progress=False, **options)
