"""Runs with controllers in blocks of any length have the digits and forces of single steps."""

import numpy as np

import phlexible as ph


def measured_run(steps, every=1):
    """Recording of a pendulum that turns over, and how often its controller was asked."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0))
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", (0.5, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.sin(3 * t), 0 * t, 0 * t))
    joint = model.connect(ph.Revolute(pin, rod.point((-0.5, 0.0, 0.0)), axis=(0, 0, 1)))
    asked = []

    def controller(time, numbers):
        asked.append(time)
        return 6.0 - 0.1 * numbers[1]

    model.apply(joint.torque(ph.Feedback(controller, [joint, rod.origin]), name="motor"))
    return model.simulate(steps * 1e-2, 1e-2, every=every).run.recording, len(asked)


def test_blocks_of_steps_have_the_digits_and_forces_of_single_ones():
    long, _ = measured_run(40)
    for every in (1, 3):
        record, _ = measured_run(40, every)
        rows = np.searchsorted(long.time, record.time - 1e-9)
        assert np.array_equal(record.velocity, long.velocity[rows])
        assert np.array_equal(record.multipliers, long.multipliers[rows])
    short, asked = measured_run(5)
    assert np.array_equal(short.multipliers[:5], long.multipliers[:5]) and asked == 5
