"""What controllers are given, against coordinates of the finished motion, over full turns and in any blocks."""

import numpy as np
import pytest

import phlexible as ph


def measured_run(steps, every=1):
    """A pendulum that turns over: what its controllers saw, and the motion."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0))
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", (0.5, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.sin(3 * t), 0 * t, 0 * t))
    joint = model.connect(ph.Revolute(pin, rod.point((-0.5, 0.0, 0.0)), axis=(0, 0, 1)))
    seen = []

    def controller(time, numbers):
        seen.append((time, *numbers))
        return 6.0 - 0.1 * numbers[1]

    model.apply(joint.torque(ph.Feedback(controller, [joint, rod.origin, joint]), name="motor"))
    motion = model.simulate(steps * 1e-2, 1e-2, every=every)
    return np.array(seen), motion, model, joint, rod


def test_controllers_measure_coordinates_points_and_rates():
    seen, motion, _, joint, rod = measured_run(300)
    time, theta, rate, place, velocity = seen[:, 0], seen[:, 1], seen[:, 2], seen[:, 3:6], seen[:, 6:9]
    assert np.array_equal(seen[:, 9:], seen[:, 1:3])
    assert time == pytest.approx(motion.time[:-1], abs=1e-15)
    assert theta == pytest.approx(motion.angle(joint)[:-1], abs=1e-12)
    assert np.ptp(theta) > 3 * np.pi
    assert place == pytest.approx(motion.position(rod.origin)[:-1], abs=1e-12)
    slope = (theta[2:] - theta[:-2]) / 2e-2
    assert rate[1:-1] == pytest.approx(slope, abs=0.01 * np.abs(slope).max())
    slope = (place[2:] - place[:-2]) / 2e-2
    assert velocity[1:-1] == pytest.approx(slope, abs=0.03 * np.abs(slope).max())


def test_blocks_of_steps_have_the_digits_and_forces_of_single_ones():
    _, long, *_ = measured_run(40)
    for every in (1, 3):
        record = measured_run(40, every)[1].run.recording
        rows = np.searchsorted(long.time, record.time - 1e-9)
        assert np.array_equal(record.velocity, long.run.recording.velocity[rows])
        assert np.array_equal(record.multipliers, long.run.recording.multipliers[rows])
    seen, short, *_ = measured_run(5)
    assert np.array_equal(short.run.recording.multipliers[:5], long.run.recording.multipliers[:5])
    assert len(seen) == 5
