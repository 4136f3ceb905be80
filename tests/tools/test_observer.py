"""Observers of passive models: separate poles, loops that are passive with all modes that a reduction left out."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

AXIS = (0, 0, 1)


def test_an_observer_of_the_whole_model_has_the_poles_of_two_oscillators():
    """A mass on a spring: m s^2 + (d + K) s + k of what is fed back, with injection K of the error."""
    m, k, d, K, share = 2.0, 50.0, 0.6, 3.0, 4.0
    model, _, rail = grounded(ph.RigidBody(m, 1.0), ph.Prismatic, axis=(1, 0, 0), dimension=2, name="mass")
    model.apply(rail.spring(k, damping=d))
    linear = model.linearize([rail])
    observer = ph.passive_observer(linear, K, share)
    expected = np.concatenate([np.roots([m, d + gain, k]) for gain in (K, share * K)])
    loop = linear.interconnect(observer.model).to_state_space()
    held = np.linalg.eigvals(loop.A)  # with two zeros of what the rail holds
    for found in (linear.interconnect(observer.law).poles, held[np.abs(held) > 1e-6]):
        assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-9)


def satellite():
    model = ph.gallery.satellite(elements=6, damping_ratio=0.0)
    hub = model["hub"].origin
    return model, ph.Torque(hub, AXIS, name="wheel"), ph.AngularVelocity(hub, AXIS)


def test_what_the_reduction_left_out_is_damped_too():
    """Any gain, an observer of 4 states for 74: the loop has a certificate and no pole to the right."""
    model, wheel, _ = satellite()
    model.apply(model.connect(ph.Revolute(model.ground.at((0, 0, 0)), model["hub"].origin)).spring(200.0))
    linear = model.linearize([wheel])
    small = linear.reduce(4, method="modal")
    for damping, injection in ((5.0, 1.0), (500.0, 1.0), (50.0, 20.0)):
        observer = ph.passive_observer(small, damping, injection)
        assert observer.model.passivity().is_passive
        assert linear.interconnect(observer.model).passivity().is_passive
        poles = linear.interconnect(observer.law).poles
        assert poles.real.max() <= 1e-6 * np.abs(poles).max()
    assert np.sum(poles.real < -1e-5) >= 16  # 4 + 4 states that are modelled, and 4 modes that were left out


def test_it_stops_the_nonlinear_satellite():
    model, wheel, rate = satellite()
    observer = ph.passive_observer(model.linearize([wheel]).reduce(4, method="modal"), 500.0)
    model.apply(ph.Torque(wheel.attachment, lambda t: (0, 0, 4.0 * (t < 1.0)), breakpoints=[1.0], name="kick"))
    free = model.simulate(12.0, 0.02, output_step=0.1, progress=False).energy.total[-1]
    model.apply(ph.Feedback(observer.law, [rate], on=[wheel], name="observer"))
    motion = model.simulate(12.0, 0.02, output_step=0.1, progress=False)
    assert motion.energy.total[-1] < 0.1 * free


def test_what_has_no_observer_is_refused():
    model, wheel, _ = satellite()
    linear = model.linearize([wheel])
    with pytest.raises(ph.ModelError, match="no inputs"):
        ph.passive_observer(model.linearize(), 1.0)
    with pytest.raises(ph.ModelError, match="linear must be what model.linearize"):
        ph.passive_observer(model, 1.0)
    with pytest.raises(ph.ParameterError, match="damping must be a positive number, or 1 of them"):
        ph.passive_observer(linear, [1.0, 2.0])
