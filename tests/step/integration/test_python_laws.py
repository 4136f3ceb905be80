"""Laws that compiled code calls through Python: Ctrl-C ends the run, what they raise is in the error."""

import _thread
import signal
import threading

import numpy as np
import pytest

import phlexible as ph

PLACES = {"middle": 0.0}  # Numba does not compile a look-up in it


def pendulum(energy, slope):
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(1.0, 0.3, center=(1, 0, 0)), "bob", angular_velocity=(0, 0, 1))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    model.apply(pin.spring(potential=ph.Potential(energy, slope)))
    return model


def slope(x):
    return 4 * (x - PLACES["middle"])


def test_ctrl_c_in_a_function_ends_the_run_and_keeps_what_was_computed():
    """The signal comes while compiled code runs or in the function: an interruption there would be lost."""
    calls = []

    def energy(x):
        calls.append(x)
        if len(calls) == 3000:
            signal.raise_signal(signal.SIGINT)
        return 2 * (x - PLACES["middle"]) ** 2

    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(ph.errors.StepWarning, match="interrupted at t = "):
        motion = pendulum(energy, slope).simulate(1e4, 1e-2, progress=False)
    assert not motion.is_complete and 10 < len(motion.time) < 20_000
    assert np.abs(motion.energy.balance_error).max() < 1e-12
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_from_outside_ends_the_run():
    threading.Timer(1.0, _thread.interrupt_main).start()
    with pytest.warns(ph.errors.StepWarning, match="interrupted at t = "):
        motion = pendulum(lambda x: 2 * (x - PLACES["middle"]) ** 2, slope).simulate(1e6, 1e-2, progress=False)
    assert not motion.is_complete and np.abs(motion.energy.balance_error).max() < 1e-9


def test_a_second_ctrl_c_ends_a_function_that_hangs():
    calls = []

    def energy(x):
        calls.append(x)
        if len(calls) == 3000:
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
            raise AssertionError("the second one was lost")
        return 2 * (x - PLACES["middle"]) ** 2

    with pytest.warns(ph.errors.StepWarning, match="interrupted at t = "):
        motion = pendulum(energy, slope).simulate(1e4, 1e-2, progress=False)
    assert not motion.is_complete and np.isfinite(motion.energy.total).all()


def test_what_a_function_raises_is_the_cause_of_the_failure():
    def energy(x):
        if x > 0.55:
            raise KeyError("no such angle")
        return 2 * (x - PLACES["middle"]) ** 2

    with pytest.raises(ph.ConvergenceError, match="a function of a law raised KeyError") as caught:
        pendulum(energy, slope).simulate(10.0, 1e-2, progress=False)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and "for the argument 0.55" in cause.__notes__[0]
    assert cause.__traceback__ is not None and 0.1 < caught.value.motion.time[-1] < 1
