"""Steps that are too large are halved, counted and reported; what cannot move on says where and why."""

import warnings

import numpy as np
import pytest

import phlexible as ph
from laws.figures import energy_error, joint_gaps
from mechanisms import boom
from phlexible.errors import ConvergenceError


def hit_beam():
    """A slender free beam, hit by a force that would bend it double in one step."""
    model = ph.Model(dimension=2)
    material = ph.Material(youngs_modulus=2e11, density=7870.0)
    body = model.add(ph.Beam(1.0, ph.CircularSection(2e-3), material, elements=4), "beam")
    model.apply(ph.Force(body.end, (0.0, 300.0, 0.0)))
    return model


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_steps_that_are_too_large_are_halved_with_all_of_the_force_and_counted():
    motion = hit_beam().simulate(0.1, 0.02, progress=False)
    assert motion.is_complete and motion.time == pytest.approx(np.linspace(0, 0.1, 6))
    assert motion.halvings[0] == 0 and motion.halvings[-1] > 0
    assert (np.diff(motion.halvings) >= 0).all()
    assert motion.summary()["halved steps"] == motion.halvings[-1]
    assert energy_error(motion) <= 1e-11
    impulse = np.array([0.0, 300.0, 0.0]) * motion.time[:, None]  # the pieces of a step add up to it
    assert motion.momentum.linear == pytest.approx(impulse, abs=1e-11 * impulse.max())
    assert hit_beam().simulate(1e-3, 1e-4, progress=False).halvings[-1] == 0


def torn_rod():
    """A rod on a pin and on a link whose other end moves away at 1 m/s: out of reach after 0.5 s."""
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "rod", rotation=1.0)
    end = rod.point((1.0, 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.origin))
    place, link = end.initial_position(), 0.5
    start = place + link * np.array([np.sin(1.0), np.cos(1.0), 0])
    away = start / np.linalg.norm(start)
    model.connect(ph.Distance(model.ground.moving(lambda t: start + away * t), end, length=link))
    return model, 1.0 + link - float(np.linalg.norm(start))


def test_a_step_that_fails_for_good_tells_time_and_history_and_keeps_the_motion():
    model, reach = torn_rod()
    with pytest.raises(ConvergenceError, match="halvings") as caught:
        model.simulate(1.0, 0.01, progress=False)
    error = caught.value
    assert error.time == pytest.approx(reach, abs=0.01)
    assert np.ndim(error.residual_history) == 1
    assert isinstance(error.motion, ph.Motion) and not error.motion.is_complete
    assert error.time - 0.01 <= error.motion.time[-1] <= error.time
    assert max(joint_gaps(error.motion)) <= 1e-11


def rope_with_a_load(step, mass):
    """A steel rope of 1.5 mm with a mass at its end, let go from the horizontal: three steps."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rope = model.add(ph.String(0.6, 4.4e-3, 5, ph.LogarithmicLaw(3.9e4)), "rope")
    load = model.add(ph.PointMass(mass), "load", position=(0.6, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), rope.start))
    model.connect(ph.Spherical(rope.end, load.origin))
    return model.simulate(3 * step, step, progress=False)


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning", "ignore::phlexible.SlackStringWarning")
@pytest.mark.parametrize("mass", [pytest.param(0.15, marks=pytest.mark.thorough), 0.3])
def test_steps_of_many_thousand_wave_times_are_halved_until_they_follow_the_waves(mass):
    """Twelve halvings of 2.5 s leave a dozen wave times, in which Newton's method found no solution."""
    motion = rope_with_a_load(2.5, mass)
    assert motion.halvings[-1] > 0
    assert motion.check().balance_error < 1e-10


def test_steps_far_longer_than_the_waves_of_a_string_are_told_at_the_start():
    """A wave takes 0.12 m / sqrt(EA / rho A) = 40.307 us along an element."""
    told = {}
    for step in (0.13, 1e-2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rope_with_a_load(step, 0.3)
        told[step] = [str(each.message) for each in caught if "a wave takes" in str(each.message)]
    (text,) = told[0.13]
    assert text.startswith("a step is 3225 times as long as a wave takes along an element of rope (4e-05 s)")
    assert not told[1e-2]


def wild_motor(hinge):
    """Its damper over the step is far more than the inertia of the beam's end."""
    return hinge.motor(lambda t, seen: 80.0 * (0.3 - seen[0]) - 4.0 * seen[1], name="wild")


@pytest.mark.parametrize("tolerance", [None, 1e-4, pytest.param(1e-6, marks=pytest.mark.thorough)])
def test_an_unstable_controller_ends_the_run_by_name(tolerance):
    """What came before is kept."""
    words = "boom is deformed by .* times its size; .*; wild: a controller"
    with pytest.raises(ConvergenceError, match=words) as caught:
        boom(wild_motor)[0].simulate(1.0, 1e-3, tolerance=tolerance, progress=False)
    motion = caught.value.motion
    assert 5 < len(motion.time) < 100 and motion.time[-1] <= caught.value.time < 0.1


def test_live_runs_say_so_too():
    live = boom(wild_motor)[0].start(1e-3)
    with pytest.raises(ConvergenceError, match="boom is deformed by .* times its size; .*; wild: a controller"):
        live.run(1.0)
    assert 0.005 < live.time < 0.1


def test_live_runs_wait_for_a_thousand_pieces_of_a_step_at_most(monkeypatch):
    monkeypatch.setattr("phlexible.results.live.MOST_PIECES", 8)
    monkeypatch.setattr("phlexible.step.integration.step_failures.ABSURD", np.inf)
    live = boom(wild_motor)[0].start(1e-3)
    with pytest.raises(ConvergenceError, match="a step is halved into more than 8 pieces; .*; wild: a controller"):
        live.run(1.0)


def rough(t, x, v):
    """Steep and without a value at any mean state, as what is noise beside a stiff part."""
    return -1e6 * x - 30.0 * np.sign(np.sin(1e9 * v))


def test_laws_that_no_step_obeys_end_the_run_by_name(monkeypatch):
    """With fewer pieces than are allowed, to be quick: trials of the law count."""
    monkeypatch.setattr("phlexible.step.integration.step_failures.MOST_PIECES", 256)
    monkeypatch.setattr("phlexible.step.integration.step_failures.PIECES_OF_A_STEP", 8)
    model = boom(lambda hinge: ph.StateForce(rough, of=[hinge], on=[hinge], name="rough"))[0]
    with pytest.raises(ConvergenceError, match="more than 8 pieces again and again; .*; rough: a function of the"):
        model.simulate(0.1, 1e-3, progress=False)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
def test_halving_without_end_is_stopped(monkeypatch):
    """With fewer pieces than are allowed, to be quick."""
    monkeypatch.setattr("phlexible.step.integration.step_failures.MOST_PIECES", 8)
    monkeypatch.setattr("phlexible.step.integration.step_failures.PIECES_OF_A_STEP", 1)
    with pytest.raises(ConvergenceError, match="more than 1 pieces again and again; take a smaller step"):
        hit_beam().simulate(0.2, 0.02, progress=False)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
def test_runs_off_a_terminal_tell_how_far_they_are(monkeypatch, capsys):
    monkeypatch.setattr("phlexible.results.progress.INTERVAL", 0.0)
    hit_beam().simulate(1e-3, 1e-4)
    assert "phlexible: simulating: 10 of 10 after 0 s" in capsys.readouterr().err
    hit_beam().simulate(1e-3, 1e-4, progress=False)
    assert not capsys.readouterr().err
