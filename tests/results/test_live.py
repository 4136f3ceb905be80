"""Live runs: the digits of ``simulate``, inputs that change, states that are kept and put back."""

import pickle
import warnings

import numpy as np
import pytest

import phlexible as ph
from laws.test_halving import hit_beam, torn_rod
from measure.test_state_force import bead
from mechanisms import grounded
from phlexible.step.integration.step_words import StepWarnings
from refusals import refused
from whole_models.test_redundant_motion import parallelogram


def test_steps_by_hand_have_the_digits_of_a_run():
    """Also with a moving pin, and with reactions from the steps on both sides."""
    model = ph.gallery.crank_slider(modes=2)
    whole = model.simulate(2e-3, 5e-5, progress=False)
    live = model.start(5e-5)
    live.run(2e-3)
    motion = live.motion
    for name in ("time", "position", "rotation", "eta", "velocity", "kinetic", "work"):
        assert np.array_equal(getattr(motion.recording, name), getattr(whole.recording, name)), name
    assert np.array_equal(motion.multipliers[1:-1], whole.multipliers[1:-1])
    tip = model["coupler"].at(0.15)
    assert live.read(ph.Position(tip)) == pytest.approx(whole.position(tip)[-1], abs=1e-14)


QUICK = {
    "a moving pin": lambda: (ph.gallery.crank_slider(modes=2), 5e-5),
    "an elastic pole": lambda: (ph.gallery.flexible_pole(), 1e-3),
    "space": lambda: (ph.gallery.spatial_slider_crank(), 1e-3),
    "strings": lambda: (ph.gallery.string_pendulum(elements=4), 1e-3),
    "gears": lambda: (ph.gallery.gear_train(), 1e-3),
    "joints that hold a motion twice": lambda: (ph.gallery.bricard(), 1e-3),
    "controllers": lambda: (ph.gallery.robot_arm(elements=1), 1e-3),
}


@pytest.mark.parametrize("name", QUICK)
def test_what_is_read_between_steps_is_what_the_motion_says(name):
    """Joint coordinates, places and rates, which are brought onto the joints; steps go on as if nothing was."""
    model, step = QUICK[name]()
    joints = [each for each in model.joints if each.coordinate_names and "slider.origin" not in str(each)]
    sensors = [sensor(joint) for joint in joints for sensor in (ph.JointPosition, ph.JointRate)]
    for body in model.bodies:
        port = body.end if isinstance(body.resolved, ph.Beam | ph.String) else body.origin
        sensors += [ph.Position(port), ph.Velocity(port, (0.6, 0.8, 0.0)), ph.Displacement(port, (0, 1, 0))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.RedundancyWarning)
        live, other = model.start(step), model.start(step)
    live.step(3)
    assert live.stepper.joint_velocities(live.time) is not None  # by compiled code
    for _ in range(4):
        other.step()
    read = [live.read(sensor) for sensor in sensors]
    motion = live.motion
    for sensor, found in zip(sensors, read, strict=True):
        known = motion[sensor][-1]
        assert found.shape == known.shape, sensor
        if isinstance(sensor, ph.JointPosition):  # a single instant does not know of full turns
            found = known + np.remainder(found - known + np.pi, 2 * np.pi) - np.pi
        assert found == pytest.approx(known, rel=1e-10, abs=1e-12), sensor
    live.step()
    assert np.array_equal(live.motion.multipliers, other.motion.multipliers)
    assert np.array_equal(live.motion.recording.velocity, other.motion.recording.velocity)


def test_forces_before_the_first_step_are_those_of_the_start():
    """A preloaded spring pulls with k (l - l0) at once; so a controller reads its clamp, and so does a restart."""
    model = ph.Model(gravity=(0, 0, -9.81))
    weight = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1)), position=(0, 0, -1))
    spring = model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), weight.origin, 100.0, length=0.5))
    held = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), position=(0, 5, 0))
    clamp = model.connect(ph.Fixed(model.ground.at((0, 5, 0)), held.origin))
    live, known = model.start(1e-3), model.simulate(0.01, 1e-3, progress=False)
    begin = live.save()
    for _ in range(2):
        assert live.read(ph.ElementForce(spring)) == pytest.approx(-50.0, rel=1e-12)
        assert live.read(ph.Reaction(clamp)) == pytest.approx([0, 0, 9.81], rel=1e-12)
        assert live.motion[ph.ElementForce(spring)] == known[ph.ElementForce(spring)][:1]
        live.step(3)
        live.restore(begin)
    live.step(4)
    live.step(6)
    for run in (live, pickle.loads(pickle.dumps(live))):
        recording = run.motion.recording
        for found, expected in (("forces", known.recording.forces), ("multipliers", known.recording.multipliers)):
            assert getattr(recording, found)[:-1] == pytest.approx(expected[:-1], rel=1e-12, abs=1e-12)
    live.restore(begin)
    live.step(4)
    live.discard_earlier()
    live.step(6)
    assert live.motion[ph.ElementForce(spring)] == pytest.approx(
        np.append(known[ph.ElementForce(spring)][4:-1], live.read(ph.ElementForce(spring))), rel=1e-12
    )
    seen = []
    model.apply(ph.Feedback(lambda t, y: seen.append(y) or np.zeros(3), [ph.Reaction(clamp)], on=[weight.origin]))
    model.simulate(0.01, 1e-3, progress=False)
    assert seen[0] == pytest.approx([0, 0, 9.81], rel=1e-12)


def test_live_steps_are_composed_as_those_of_simulate():
    model, pin = wheel()
    model.apply(pin.spring(3.0, rest=0.5))
    live = model.start(1e-2, order=4)
    live.step(20)
    whole = model.simulate(0.2, 1e-2, order=4, progress=False)
    assert np.array_equal(live.motion.recording.velocity, whole.recording.velocity)
    model.apply(pin.damper(0.1))
    refused(ph.ModelError, "orders beyond 2 are for lossless models", lambda: model.start(1e-2, order=4))


def test_steps_that_are_taken_together_can_be_put_back_in_between():
    model, _ = wheel()
    live, other = model.start(1e-3), model.start(1e-3)
    other.inputs["motor"] = live.inputs["motor"] = 2.0
    live.step(4)
    kept = live.save()
    live.inputs["motor"] = 3.0
    live.step(7)
    live.restore(kept)
    assert live.time == kept.time and live.inputs["motor"] == 2.0
    live.step(2)
    for _ in range(6):
        other.step()
    assert live.time == other.time
    for name in ("time", "velocity", "multipliers"):
        assert np.array_equal(getattr(live.motion.recording, name), getattr(other.motion.recording, name)), name
    refused(ph.ParameterError, "count must be a whole number", lambda: live.step(0))


def wheel():
    model, body, pin = grounded(ph.RigidBody(1.0, 0.1), ph.Revolute, dimension=2, name="wheel")
    model.apply(pin.torque(0.0, name="motor"))
    model.apply(ph.Force(body.point((0.2, 0.0, 0.0)), (0.0, 0.0, 0.0), name="push"))
    return model, pin


def test_inputs_change_between_steps():
    model, pin = wheel()
    live = model.start(1e-3)
    live.inputs["motor"] = 2.0
    live.advance(to=0.25)
    assert live.time == pytest.approx(0.25)
    assert live.read(ph.JointRate(pin)) == pytest.approx(2.0 / 0.1 * 0.25, rel=1e-5)
    live.inputs["motor"] = -2.0
    live.run(0.25)
    assert live.read(ph.JointRate(pin)) == pytest.approx(0.0, abs=1e-9)
    ledger = live.motion.energy
    assert np.abs(ledger.balance_error).max() <= 1e-12
    assert ledger.work["motor"].max() == pytest.approx(0.5 * 0.1 * 5.0**2, rel=1e-4)
    live.inputs["push"] = (0.0, 3.0, 0.0)
    lever = 0.2 * np.cos(live.read(ph.JointPosition(pin)))
    live.step()
    assert live.read(ph.JointRate(pin)) == pytest.approx((3.0 * lever - 2.0) / 0.1 * 1e-3, rel=1e-3)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
def test_a_step_that_fails_is_halved_and_one_that_fails_for_good_moves_nothing():
    model = hit_beam()
    live = model.start(0.02)
    for _ in range(5):
        live.step()
        impulse = 300.0 * live.time
        assert live.motion.momentum.linear[-1] == pytest.approx([0.0, impulse, 0.0], abs=1e-11 * impulse)
    assert live.motion.halvings[-1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulated = model.simulate(0.2, 0.02, progress=False).run.recording
    saved = live.save()
    live.step(5)
    for _ in range(2):
        assert np.array_equal(live.motion.run.recording.velocity, simulated.velocity)
        live.restore(saved)
        live.step(5)
    torn = torn_rod()[0].start(0.01)
    refused(ph.ConvergenceError, "the step from t = 0", lambda: torn.advance(to=1.0))
    kept = torn.state
    with pytest.raises(ph.ConvergenceError):
        torn.step()
    assert torn.time == kept.time and np.array_equal(torn.state.position, kept.position)
    assert np.array_equal(torn.state.velocity, kept.velocity) and np.array_equal(torn.state.rotation, kept.rotation)


def test_runs_of_one_model_do_not_disturb_each_other():
    model, _ = wheel()
    first, second = model.start(1e-3), model.start(1e-3)
    first.inputs["motor"] = 1.0
    first.run(0.01)
    second.run(0.01)
    model.simulate(0.05, 1e-3, progress=False)
    first.run(0.01)
    alone = model.start(1e-3)
    alone.inputs["motor"] = 1.0
    alone.run(0.02)
    assert np.array_equal(first.state.velocity, alone.state.velocity)
    assert not second.state.velocity.any()


def test_what_does_not_fit_is_refused():
    model, _ = wheel()
    live = model.start(1e-3)
    for name, value, words in (("brake", 1.0, "no input is named 'brake'; .* 'motor'"), ("push", 1.0, "takes 3")):
        with pytest.raises(ph.ParameterError, match=words):
            live.inputs[name] = value
    live.step()
    refused(ph.ParameterError, "must not be before now", lambda: live.advance(to=0.0))
    with pytest.raises(ValueError, match="read-only"):  # a part of an input would be lost
        live.inputs["push"][1] = 3.0


def test_states_of_other_runs_are_refused_before_anything_is_written():
    (model, pin), other = wheel(), ph.gallery.crank_slider(modes=2)
    live = model.start(1e-3)
    live.inputs["motor"] = 1.0
    live.run(0.01)
    before, twin = live.save(), model.start(1e-3)
    twin.inputs["motor"] = 2.0
    twin.run(0.01)
    for saved in (other.start(5e-5).save(), twin.save()):
        with pytest.raises(ph.ParameterError, match="a state that save.* of this run returned"):
            live.restore(saved)
    with pytest.raises(ph.ParameterError, match="the state of another model, .* inputs none, this model .* motor"):
        live.continue_from(other.start(5e-5).save())
    sprung, driven = (wheel() for _ in range(2))  # three numbers more: of a spring, of three works
    sprung[0].apply(sprung[1].spring(1.0))
    for part in range(3):
        driven[0].apply(ph.Torque(driven[0]["wheel"].origin, lambda t: (0, 0, t), name=f"load {part}"))
    sprung, driven = (each.start(1e-3) for each, _ in (sprung, driven))
    assert sprung.save().values.size == driven.save().values.size
    with pytest.raises(ph.ParameterError, match="the state of another model, .* it has .*theta: 2.*theta: 1"):
        driven.continue_from(pickle.loads(pickle.dumps(sprung.save())))
    after = live.save()
    assert np.array_equal(after.values, before.values)
    assert {name: each.tolist() for name, each in after.inputs.items()} == {"motor": [1.0], "push": [0.0] * 3}
    live.continue_from(twin.save())
    assert live.read(ph.JointRate(pin)) == twin.read(ph.JointRate(pin)) != 0.0


def test_accelerations_are_told_where_there_are_none():
    model, pin = wheel()
    body, live = model["wheel"], model.start(1e-3)
    live.run(0.01)
    sensors = [ph.JointAcceleration(pin), ph.Acceleration(body.origin), ph.AngularAcceleration(body.origin)]
    short, rest = model.simulate(1e-3, 1e-3), model.equilibrium()
    for sensor in sensors:
        for read in (live.read, short.__getitem__):
            with pytest.raises(
                ph.ParameterError, match="accelerations are differences of at least 3 stored instants"
            ):
                read(sensor)
        with pytest.raises(ph.ParameterError, match="When cannot wait for .*acceleration"):
            ph.When(sensor, above=1.0)
        assert np.isfinite(live.motion[sensor]).all() and rest[sensor] == 0.0


def told(do):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    assert all(each.filename == __file__ for each in caught)
    return [(each.category, str(each.message)) for each in caught]


def test_live_runs_say_what_simulate_says_once():
    """Laws that jump, singular positions, strings that are too stiff, parts that were forgotten."""
    run = bead(lambda t, x, v: -3.0 * np.sign(v), velocity=(0.5, 0, 0))[0].start(0.02)
    assert not told(lambda: run.step(5))
    ((category, text),) = told(lambda: run.advance(0.4))
    assert category is ph.StepWarning and "law jumps: in " in text
    assert not told(run.step)

    singular = parallelogram(2 * 2 * np.arctan(0.05 / 2)).start(0.05)
    ((category, text),) = told(lambda: singular.run(0.25))
    assert category is ph.RedundancyWarning and "in 1 step their forces are not unique" in text

    rope, string, _ = grounded(ph.String(0.6, 4.4e-3, 5, ph.LogarithmicLaw(3.9e4)), ph.Spherical)
    assert [category for category, _ in told(lambda: rope.start(2.5))] == [ph.StepWarning]
    forgotten = ph.Spherical(rope.ground.at((1, 0, 0)), string.end)
    ((category, text),) = told(lambda: rope.start(1e-3))
    assert category is ph.UnusedPartWarning and str(forgotten) in text


class Counts:
    dependent_steps, open_steps, has_jumps, jumps = 2, 7, False, {}


def test_steps_whose_energies_do_not_add_up_are_told_from_the_first_one_on():
    """Those that another run had counted are not."""
    counts = Counts()
    words = StepWarnings(counts)
    assert not words.look(0.1) and not list(words.unreported())
    counts.open_steps = 8
    assert words.look(0.2)
    counts.open_steps = 9
    assert words.look(0.3)
    ((text, category),) = words.unreported()
    assert category is ph.StepWarning
    assert text.startswith("in 9 steps, the first one before t = 0.2 s, energies miss")
    assert words.look(0.4) and not list(words.unreported())


@pytest.mark.parametrize("count", [1, 40])
def test_steps_by_hand_end_where_loads_jump(count):
    """As in ``simulate``, one after the other and together, for loads, prescribed torques and constant values."""
    model, pin = wheel()
    model.apply(pin.torque(lambda t: 3.0 if t < 0.0237 else -1.0, name="late", breakpoints=[0.0237]))
    model.apply(ph.Force(model["wheel"].origin, (0.0, 0.0, 0.0), name="still", breakpoints=[0.0512, 0.0518]))
    live, whole = model.start(1e-2), model.simulate(0.4, 1e-2, progress=False).run.recording
    for _ in range(40 // count):
        live.step(count)
    found = live.motion.recording
    for name in ("time", "rotation", "velocity", "work", "step_error"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    assert live.read(ph.JointRate(pin)) == pytest.approx(30.0 * 0.0237 - 10.0 * (0.4 - 0.0237), rel=1e-4)
