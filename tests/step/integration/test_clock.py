"""Instants of a run: grid, shorter last step, breakpoints inside steps."""

import numpy as np
import pytest

from phlexible.errors import ParameterError
from phlexible.step.integration.clock import clock


def test_a_whole_number_of_steps_has_no_remainder():
    times = clock(0.0, 0.1, 2e-5, [])
    assert (times.full, times.remainder, times.count) == (5000, 0.0, 5000)
    assert times.end == pytest.approx(0.1, abs=1e-15)


def test_the_last_step_is_shorter():
    times = clock(1.0, 0.25, 0.1, [])
    assert (times.full, times.count) == (2, 3)
    assert times.end == pytest.approx(1.25, abs=1e-15)
    assert not times.is_regular(2)
    assert times.intervals(2) == [(pytest.approx(1.2), pytest.approx(1.25))]


def test_instants_do_not_add_up_round_off():
    assert clock(0.0, 1000.0, 0.1, []).instants(9998, 2) == pytest.approx([999.8, 999.9, 1000.0], abs=1e-12)


def test_breakpoints_cut_the_step_that_they_lie_in():
    times = clock(0.0, 1.0, 0.1, [0.25, 0.22, 0.3, 5.0, -1.0])
    assert set(times.breakpoints) == {2}
    assert times.intervals(2) == pytest.approx(np.array([(0.2, 0.22), (0.22, 0.25), (0.25, 0.3)]))
    assert times.regular_run(0, 100) == 2
    assert times.regular_run(3, 100) == 7
    assert times.regular_run(3, 4) == 4


@pytest.mark.parametrize("breakpoint", [0.3, 0.30000000000001, 0.0, 1.0])
def test_breakpoints_on_the_grid_cut_nothing(breakpoint):
    assert clock(0.0, 1.0, 0.1, [breakpoint]).breakpoints == {}


def test_steps_that_are_lost_beside_the_time_are_refused():
    with pytest.raises(ParameterError, match="lost beside the time"):
        clock(1e6, 1e-9, 1e-12, [])
