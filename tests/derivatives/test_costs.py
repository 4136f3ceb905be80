"""Costs: their values of known readings, their derivatives by differences."""

import numpy as np
import pytest

import phlexible as ph

TIME = np.linspace(0.0, 2.0, 401)
BODY = ph.Model(dimension=2).add(ph.PointMass(1.0), "ball")
ALONG, PLACE = ph.Displacement(BODY.origin), ph.Position(BODY.origin)
WAVE = np.sin(3 * TIME)


def test_integral_final_and_peak_of_a_wave():
    assert ph.Cost.integral(ALONG).value(TIME, [WAVE]) == pytest.approx((1 - np.cos(6)) / 3, rel=1e-4)
    squared = ph.Cost.integral(ALONG, lambda y: y**2, weight=lambda t: 2.0)
    assert squared.value(TIME, [WAVE]) == pytest.approx(2 - np.sin(12) / 6, rel=1e-4)
    assert ph.Cost.final(ALONG, np.abs).value(TIME, [WAVE]) == pytest.approx(abs(np.sin(6)))
    assert ph.Cost.peak(ALONG, p=200).value(TIME, [-3 * WAVE]) == pytest.approx(3.0, rel=0.03)
    assert ph.Cost.peak(PLACE, p=2).value(TIME, [np.full((401, 3), 2.0)]) == pytest.approx(np.sqrt(12))


def test_costs_add_up_and_scale():
    cost = 2 * ph.Cost.final(ALONG) + ph.Cost.integral(ALONG) * np.float64(0.5) + 3.0
    expected = 2 * WAVE[-1] + 0.5 * np.trapezoid(WAVE, TIME) + 3.0
    assert cost.value(TIME, [WAVE, WAVE]) == pytest.approx(expected)
    assert sum([cost, cost]).value(TIME, [WAVE] * 4) == pytest.approx(2 * expected)
    assert (np.float64(1.0) + cost).constant == 4.0


@pytest.mark.parametrize(
    "cost",
    [
        ph.Cost.integral(PLACE, lambda x: x[:, 0] * x[:, 1] ** 2, weight=lambda t: 1 + t),
        ph.Cost.final(PLACE, lambda x: np.exp(x[:, 2])),
        ph.Cost.peak(PLACE, p=6),
        3 * ph.Cost.peak(PLACE, p=2),
    ],
)
def test_slopes_are_differences_of_the_value(cost):
    random = np.random.default_rng(3)
    time, readings, change = TIME[:20], random.normal(size=(20, 3)), random.normal(size=(20, 3))
    more, less = (cost.value(time, [readings + sign * 1e-6 * change]) for sign in (1, -1))
    assert (cost.slopes(time, [readings])[0] * change).sum() == pytest.approx((more - less) / 2e-6, rel=1e-7)


def test_signals_are_linear_or_constant_between_samples_and_constant_beyond():
    signal = ph.Signal([0.0, 1.0, 3.0], [1.0, 3.0, -1.0])
    assert [signal(t) for t in (-1.0, 0.5, 2.0, 9.0)] == [1.0, 2.0, 1.0, -1.0]
    assert signal(np.array([0.5, 2.0])) == pytest.approx([2.0, 1.0])
    held = ph.Signal([0.0, 1.0, 3.0], [1.0, 3.0, -1.0], "constant").with_values([2.0, 4.0, 0.0])
    assert held(np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 9.0])) == pytest.approx([2.0, 2.0, 2.0, 4.0, 4.0, 0.0])
    for times, values in (([0, 0], [1, 2]), ([0], [1]), ([0, 1], [1]), ([0, 1], [1, np.nan])):
        with pytest.raises(ph.ParameterError):
            ph.Signal(times, values)
