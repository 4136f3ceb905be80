"""Optimal inputs: against closed forms, shots that meet, and what cannot be reached."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import phlexible as ph
from phlexible.derivatives.shots import InputRuns
from refusals import refused

MASS, WAY, LASTS, STIFFNESS = 2.0, 1.0, 1.5, 40.0


def cart(p):
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(MASS, 0.1), "cart")
    model.apply(model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), body.origin, name="rail")).force(p["push"]))
    return model


def of_rail(model):
    rail = model.joint("rail")
    return {
        "place": ph.JointPosition(rail),
        "speed": ph.JointRate(rail),
        "aside": ph.Displacement(model["cart"].origin, (0, 1, 0)),
    }


ARRIVED = {"place": WAY, "speed": 0.0}


def pushed(between="constant", samples=10, steps=20, **options):
    times = np.linspace(0.0, LASTS, samples + 1)[: samples + (between == "linear")]
    given = {"sensors": of_rail, "final": ARRIVED, "weights": {"push": 1.0}, "progress": False, **options}
    signal = ph.Signal(times, np.zeros(len(times)), between)
    return ph.optimal_inputs(cart, given.pop("cost", None), {"push": signal}, LASTS, LASTS / steps, **given)


@pytest.mark.parametrize("between", ["constant", "linear"])
def test_the_least_effort_from_rest_to_rest_is_that_of_a_cubic_path(between):
    best = pushed(between)
    assert best.cost == pytest.approx(12 * MASS**2 * WAY**2 / LASTS**3, rel=2e-2)
    assert best.deviations == pytest.approx({"place": 0.0, "speed": 0.0}, abs=1e-12)
    if between == "constant":  # sums of h u and of h (T - t) u are given: u is linear in t at the middles of steps
        h, middles = LASTS / 10, (np.arange(10) + 0.5) * LASTS / 10
        ways = h / MASS * np.stack([np.ones(10), LASTS - middles])
        assert best["push"].values == pytest.approx(np.linalg.lstsq(ways, [0.0, WAY])[0], abs=1e-6)


def test_the_least_time_has_one_switch():
    free = {"push": (-3.0, 3.0), "duration": (0.5, 4.0)}
    best = pushed(weights={"duration": 1.0}, bounds=free)
    assert best.duration == best.cost == pytest.approx(2 * np.sqrt(MASS * WAY / 3.0), rel=1e-7)
    assert best["push"].values == pytest.approx(np.repeat([3.0, -3.0], 5), abs=1e-5)


def coupled(p):
    """A second body on the rail, behind a spring."""
    model = cart(p)
    second = model.add(ph.RigidBody(1.0, 0.1), "second", position=(5, 0, 0))
    model.connect(ph.Prismatic(model.ground.at((5, 0, 0)), second.origin, name="way"))
    model.apply(ph.SpringDamper(model["cart"].origin, second.origin, STIFFNESS))
    return model


def test_the_least_time_of_two_bodies_and_a_spring_has_three_switches():
    def ends(model):
        way = model.joint("way")
        return {**of_rail(model), "second place": ph.JointPosition(way), "second speed": ph.JointRate(way)}

    push = ph.Signal(np.arange(40) * 0.05, np.zeros(40), "constant")
    given = {"weights": {"duration": 1.0}, "bounds": {"push": (-3.0, 3.0), "duration": (0.5, 4.0)}}
    given |= {"sensors": ends, "final": {**ARRIVED, "second place": WAY, "second speed": 0.0}}
    best = ph.optimal_inputs(coupled, None, {"push": push}, 2.0, 0.0125, progress=False, **given)
    rate = np.sqrt(STIFFNESS * (1 / MASS + 1))  # of the vibration

    def after_three_switches(times):
        """What is missed with a switch in the middle, and one a time before and after it."""
        between, duration = times
        vibration = 2 * np.cos(rate * between) - np.cos(rate * duration / 2) - 1
        return [vibration, 3.0 / (MASS + 1) * (duration**2 / 4 - 2 * between**2) - WAY]

    least = fsolve(after_three_switches, [0.1, 2.05])[1]
    assert best.duration == pytest.approx(least, rel=3e-4)  # a switch within a sample is a value between bounds
    assert np.sum(np.abs(best["push"].values) < 3.0 - 1e-6) <= 3
    assert best.runs < 60  # quadratic programs, which learn no curvature here, take hundreds
    assert max(map(abs, best.deviations.values())) < 1e-9


def falling(p):
    """A cart with an elastic pole that stands upright, and would fall over."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    cart = model.add(ph.RigidBody(1.0, 0.01), "cart")
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, name="rail"))
    strip, material = ph.RectangularSection(0.02, 5e-3), ph.Material(7e10, 2700.0, viscosity=5e-3)
    placed = model.add(ph.Beam(0.6, strip, material, elements=1, frame="cantilever"), "pole", rotation=np.pi / 2)
    model.connect(ph.Revolute(cart.origin, placed.start, name="pin"))
    model.apply(rail.force(p["push"]))
    return model


def of_pole(model):
    rail, pin = model.joint("rail"), model.joint("pin")
    places = {"place": ph.JointPosition(rail), "angle": ph.JointPosition(pin)}
    return places | {"speed": ph.JointRate(rail), "rate": ph.JointRate(pin)}


def test_an_unstable_pole_is_moved_by_shots_that_meet():
    lasts, times = 5.0, np.linspace(0.0, 5.0, 21)
    given = {
        "sensors": of_pole,
        "final": {"place": 1.0, "angle": 0.0, "speed": 0.0, "rate": 0.0},
        "weights": {"push": 1.0},
        "bounds": {"push": (-5.0, 5.0)},
        "progress": False,
    }
    first = {"push": ph.Signal(times, 0.0 * times)}
    with pytest.raises(ph.ConvergenceError, match="place is missed by .* give shots="):
        ph.optimal_inputs(falling, None, first, lasts, 0.05, iterations=30, **given)
    best = ph.optimal_inputs(falling, None, first, lasts, 0.05, shots=8, **given)
    assert max(map(abs, best.deviations.values())) < 1e-4  # of a run in one, where 1e-16 grows to 1e-5
    assert best.steepness < 1e-4


def test_shots_end_at_rest_before_a_limit():
    """Where the pole stood by round-off at first it is to stand again, beside which any miss is large."""

    def limit(model):
        place = ph.JointPosition(model.joint("rail"))
        return ph.Cost.integral(place, lambda x: 3e4 * np.maximum(-x - 0.005, 0) ** 2)

    push = ph.Signal(np.linspace(0.0, 2.0, 11), np.zeros(11))
    given = {"final": {"place": 0.3, "angle": 0.0}, "weights": {"push": 1.0}, "bounds": {"push": (-8.0, 1.0)}}
    given |= {"sensors": of_pole, "at_rest": True, "shots": 4, "progress": False}
    best = ph.optimal_inputs(falling, limit, {"push": push}, 2.0, 0.05, **given)
    model = falling(best.inputs)
    place = model.simulate(2.0, 0.05, progress=False)[ph.JointPosition(model.joint("rail"))]
    assert max(map(abs, best.deviations.values())) < 1e-3  # of a run in one
    assert np.ptp(place[-2:]) < 1e-3
    assert place.min() > -0.0132  # 0.0136 behind without the limit
    assert best["push"].values.max() == pytest.approx(1.0, abs=1e-9)


def in_space(p):
    """A table that a force moves along x, with a pole on it that spins and leans, and would fall over."""
    model = ph.Model(gravity=(0, 0, -9.81))
    table = model.add(ph.RigidBody(1.0, np.diag([0.01] * 3)), "table")
    model.connect(ph.Planar(model.ground.at((0, 0, 0)), table.origin, axis=(0, 0, 1)))
    body = ph.RigidBody(0.3, np.diag([0.01, 0.01, 0.002]))
    pole = model.add(body, "pole", position=(0, 0, 0.3), angular_velocity=(0.3, -0.1, 0.5))
    model.connect(ph.Spherical(table.origin, pole.point((0, 0, -0.3))))
    push = p["push"]
    model.apply(ph.Force(table.origin, lambda t: (push(t), 0.5 * push(t), 0 * t)))
    return model


@pytest.mark.parametrize("build", [falling, in_space])
def test_slopes_of_shots_are_those_of_differences(build):
    push = ph.Signal(np.linspace(0.0, 0.4, 4), [2.0, -1.0, 3.0, 0.0])
    gaps = [0]

    def all_costs(model):
        tip = ph.Position(model["pole"].end if build is falling else model["pole"].point((0.1, 0.2, 0.3)))
        return [ph.Cost.integral(tip, lambda x: x[:, 1] ** 2) + ph.Cost.peak(tip), *[ph.Cost()] * gaps[0]]

    runs = InputRuns(build, all_costs, 40, "undeformed", {"push": 1.0})
    shots = runs.run({"push": push}, 0.4).shots(3)
    gaps[0] = shots.count
    at = np.concatenate([push.values, np.concatenate(shots.coordinates), [0.4]])
    at[4:-1] += 1e-3 * np.random.default_rng(1).normal(size=gaps[0]) * shots.sizes(0.4) / 100

    def run(x):
        signal = ph.Signal(push.times * x[-1] / 0.4, x[:4])
        return runs.run({"push": signal}, x[-1], shots.with_coordinates(x[4:-1]))

    here = run(at)
    found = np.column_stack([here.slopes, here.slopes_of_starts, here.of_duration(0.4)])
    assert found.shape == (1 + gaps[0], 4 + gaps[0] + 1)
    sizes = np.concatenate([np.ones(4), shots.sizes(0.4) / 100, [0.4]])
    for seed in range(3):
        way = sizes * np.random.default_rng(seed).normal(size=len(at))
        more, less = (run(at + sign * 1e-5 * way).values for sign in (1, -1))
        change = (more - less) / 2e-5
        assert found @ way == pytest.approx(change, rel=1e-6, abs=1e-7 * np.abs(change).max())


def test_what_cannot_be_reached_is_said_with_what_to_do():
    words = "place is missed by .* wider bounds, a longer duration"
    with pytest.raises(ph.ConvergenceError, match=words) as caught:
        pushed(bounds={"push": (-1.0, 1.0)}, iterations=5)
    assert caught.value.motion.time[-1] == LASTS
    with pytest.raises(ph.ConvergenceError, match="no minimum was found in 1 iterations"):
        pushed("linear", iterations=1, samples=5)
    words = "final aside misses its target 0.1 by 0.1, and no input changes it"
    refused(ph.ParameterError, words, lambda: pushed(final={"aside": 0.1}))
    with pytest.raises(ph.ParameterError, match="3 conditions for 2 samples"):
        pushed(
            samples=2,
            final={**ARRIVED, "again": WAY},
            sensors=lambda model: {**of_rail(model), "again": ph.JointPosition(model.joint("rail"))},
        )
    refused(ph.ParameterError, "nothing is minimized", lambda: pushed(weights=None))


def test_what_was_found_is_drawn_and_found_by_name():
    best = pushed(bounds={"push": (-6.0, 6.0)}, cost=lambda model: ph.Cost.final(ph.JointRate(model.joint("rail"))))
    figure = best.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["push", "place", "speed"]
    refused(ph.ParameterError, "no input is named 'pull'; there are 'push'", lambda: best["pull"])
