"""The error of a whole run, against runs with much shorter steps; twenty runs are in benchmarks/run_error.py."""

import pickle

import numpy as np
import pytest

import phlexible as ph
from phlexible.results.run_error import _error_per_difference, all_positions
from refusals import refused

CRANK = {"duration": 0.02, "initial": "quasi_static"}


def swinging(law=None):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bob = model.add(ph.RigidBody(1.0, 0.01), "bob", position=(1.0, 0.0, 0.0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.point((-1.0, 0.0, 0.0))))
    if law is not None:
        model.apply(hinge.torque(ph.Feedback(law, measured=[hinge])))
    return model, ph.Position(bob.origin)


@pytest.mark.parametrize("order", [2, 4])
def test_the_estimate_is_the_error(order):
    model, sensor = swinging()
    step = 0.02 if order == 2 else 0.05
    motion = model.simulate(2.0, step, order=order, every=2)
    exact = model.simulate(2.0, step / 16, order=order, every=32)[sensor]
    error = motion.run_error(sensor)
    true = np.maximum.accumulate(np.abs(motion[sensor] - exact).max(axis=1))
    assert error.greatest == pytest.approx(true[-1], rel=0.1)
    assert error.curve[10:] == pytest.approx(np.interp(error.time, motion.time, true)[10:], rel=0.3)
    assert (np.diff(error.curve) >= 0).all()
    assert error.ratio == pytest.approx(2**order, rel=0.1)
    assert not error.advice
    assert str(error).startswith(f"error up to {error.greatest:.2g} m over 2 s, ratio")


@pytest.mark.parametrize(("ratio", "share"), [(4.0, 1 / 3), (9.0, 1 / 3), (2.5, 2 / 3), (1.9, 1.0)])
def test_the_share_of_a_difference_that_is_error(ratio, share):
    """A geometric series at the ratio of the differences; all of it where they do not shrink by two."""
    assert _error_per_difference(ratio, order=2) == pytest.approx(share)


def test_ringing_that_steps_do_not_resolve_is_told():
    model = ph.gallery.crank_slider()
    sensor = ph.Position(model["slider"].origin)
    motion = model.simulate(0.02, 1e-4)
    error = motion.run_error(sensor)
    true = np.abs(motion[sensor] - model.simulate(0.02, 3.125e-6, every=32)[sensor]).max()
    assert 0.6 < error.greatest / true < 1.5
    assert error.ratio < 2
    assert "do not resolve" in str(error)


def test_a_run_keeps_its_tolerance():
    model = ph.gallery.crank_slider()
    motion = model.simulate(tolerance=1e-4, of="run", output_step=1e-3, **CRANK)
    exact = model.simulate(step=1e-3 / 512, every=512, **CRANK)
    assert motion.time.shape == (21,)
    step = motion.summary()["step [s]"]
    assert step == motion.run_error(ph.JointPosition(model.joints[0])).step < 1e-3
    assert f"in steps of {step:.4g} s" in repr(motion)
    assert 1e-5 < np.abs(all_positions(motion.run) - all_positions(exact.run)).max() / 0.3 < 1.2e-4


def test_a_run_that_no_step_resolves_warns():
    with pytest.warns(
        ph.StepWarning, match=r"error of the run is estimated at .* not 3e-07 m as asked.*do not resolve"
    ):
        ph.gallery.crank_slider().simulate(4e-3, tolerance=1e-6, of="run", output_step=4e-4)


def test_laws_that_remember_are_refused_by_name():
    past = []

    def remembering(time, measured):
        past.append(measured[0])
        return -0.1 * sum(past)

    model, sensor = swinging(remembering)
    motion = model.simulate(0.4, 0.01)
    refused(ph.ModelError, r"cannot be repeated: .*keeps values of earlier calls", lambda: motion.run_error(sensor))
    model, sensor = swinging(lambda time, measured: -0.1 * measured[0])
    assert model.simulate(0.4, 0.01).run_error(sensor).greatest > 0


def test_what_cannot_be_repeated_is_refused():
    model, sensor = swinging()
    motion = model.simulate(0.4, 0.01)
    refused(ph.ParameterError, "takes sensors", motion.run_error)
    refused(ph.ParameterError, "one unit, got m, m/s", lambda: motion.run_error(sensor, ph.Velocity(sensor.port)))
    refused(ph.ParameterError, "share 2 instants", lambda: model.simulate(0.4, 0.1).run_error(sensor))
    refused(ph.ModelError, "from a file, a pickle", lambda: pickle.loads(pickle.dumps(motion)).run_error(sensor))
    with pytest.raises(ph.ModelError, match="tolerance= changes steps"):
        model.simulate(0.4, 0.1, tolerance=1e-3).run_error(sensor)
    refused(ph.ParameterError, 'of="run" goes with tolerance=', lambda: model.simulate(0.4, 0.1, of="run"))
    model.add(ph.PointMass(1.0), "more")
    refused(ph.ModelError, "model was changed after the run", lambda: motion.run_error(sensor))


@pytest.mark.parametrize("step", [1e-3, 2.5e-4])
def test_the_error_at_a_stop_is_that_of_its_substeps_too(step):
    """Substeps around a contact have a length of their own, whatever the step: in longer runs they are longer."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "arm")
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(pin.stop(lower=-0.5, stiffness=1e5, restitution=1))
    sensor, every = ph.Position(arm.point((1, 0, 0))), round(1e-3 / step)
    motion = model.simulate(0.5, step, every=every, progress=False)
    true = np.abs(motion[sensor] - model.simulate(0.5, 1e-5, every=100, progress=False)[sensor]).max()
    assert true > 1e-7 and true / 3 < motion.run_error(sensor).greatest < 5 * true
