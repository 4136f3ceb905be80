"""Subnormal numbers are zero inside of compiled loops, and nowhere else."""

import platform
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

import phlexible as ph
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control, user_value
from phlexible.step.compilation.user_function import user_function

SMALL = 1e-310
KNOWN = platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")


@njit
def _halves(numbers, address):
    register = flush_subnormals()
    flushed = 0.5 * numbers[0]
    outside = user_value(address, numbers[1])
    again = 0.5 * numbers[0]
    restore_control(register)
    return flushed, outside, again, 0.5 * numbers[0]


@pytest.mark.skipif(not KNOWN, reason="the control register of this processor is not known")
def test_small_numbers_are_zero_between_and_not_for_functions_of_users():
    half = user_function(lambda x: 0.5 * x * SMALL)
    assert half.is_compiled
    flushed, outside, again, after = _halves(np.array([SMALL, 1.0]), half.address)
    assert flushed == again == 0.0
    assert outside == after == 0.5 * SMALL > 0.0


def test_runs_leave_the_processor_as_it_was_even_where_a_step_fails():
    model = ph.gallery.chain(2)
    model.simulate(duration=2e-3, step=1e-3)
    assert np.float64(SMALL) * 0.5 > 0.0
    model.apply(ph.Force(model["link 2"].end, lambda t: (1e30 if t > 5e-3 else 0.0, 0.0, 0.0), breakpoints=[5e-3]))
    with pytest.raises(ph.ConvergenceError):
        model.simulate(duration=1e-2, step=1e-3)
    assert np.float64(SMALL) * 0.5 > 0.0


def test_two_models_in_two_threads_move_as_alone():
    models = [ph.gallery.chain(3, youngs_modulus=modulus) for modulus in (7e10, 2e11)]

    def ends(model):
        return model.simulate(duration=0.1, step=1e-3).position(model["link 3"].end)

    alone = [ends(model) for model in models]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(ends, models))
    np.testing.assert_array_equal(together, alone)
