"""Inputs for which outputs follow paths: against drives, closed forms, known zeros, runs with what was found."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.optimize import brentq

import phlexible as ph
from mechanisms import grounded
from phlexible.derivatives.runs import StepMatrices
from phlexible.tools.inverse_dynamics import least_change

SMOOTH = Polynomial([0] * 8 + [6435, -40040, 108108, -163800, 150150, -83160, 25740, -3432])
G, BEND = 9.81, np.sqrt(7e10 * 0.004**2 / 12 / 2700.0)  # sqrt(EI / rho A) of the arm


def smooth(t, duration=1.0, derivative=0):
    """From 0 to 1 with seven smooth derivatives at both ends."""
    s = np.clip(t / duration, 0.0, 1.0)
    return (SMOOTH.deriv(derivative) if derivative else SMOOTH)(s) / duration**derivative


def arm(torque=0.0, drive=None, elements=2):
    """A hub and a flexible arm of 1 m in the plane; model, hinge, tip."""
    model = ph.Model(dimension=2)
    hub = model.add(ph.RigidBody(0.5, 2e-3), "hub")
    section, aluminium = ph.RectangularSection(0.004, 0.03), ph.Material(7e10, 2700.0)
    beam = model.add(ph.Beam(1.0, section, aluminium, elements, rotary_inertia=False), "arm")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
    model.connect(ph.Fixed(hub.origin, beam.start))
    model.apply(hinge.torque(torque, name="motor") if drive is None else hinge.drive(angle=drive))
    return model, hinge, beam.end


def test_where_the_input_acts_it_is_what_a_drive_needs():
    """Over more than half a turn; and zeros are frequencies of the clamped arm, 1.8751^2 sqrt(EI / rho A)."""

    def turn(t):
        return 4 * smooth(t, 2.0)

    model, hinge, _ = arm()
    found = ph.inverse_dynamics(model, {ph.JointPosition(hinge): turn}, ["motor"], 2.0, 1e-2)
    driven, joint, _ = arm(drive=turn)
    motion = driven.simulate(2.0, 1e-2, progress=False)
    needed = motion.required(joint)
    assert found.largest_deviation < 1e-11 and found.lead == 0.0
    assert found["motor"].values[1:-1] == pytest.approx(needed[1:-1], abs=1e-3 * needed.max())
    tips = [each.position(each["arm"].end) for each in (found.motion, motion)]
    assert tips[0] == pytest.approx(tips[1], abs=1e-8)
    energy = found.motion.energy
    assert energy.balance_error == pytest.approx(0.0, abs=1e-12 * energy.total.max())
    assert found.zeros[:2] == pytest.approx([1.8751**2 * BEND * 1j, -(1.8751**2) * BEND * 1j], rel=2e-3)


def robot(drives=None):
    """Two rigid links of 1 and 0.8 m under gravity, the second at a right angle; model, hand, both hinges."""
    model = ph.Model(gravity=(0, -G, 0), dimension=2)
    upper = model.add(ph.RigidBody(2.0, 0.1, center=(0.5, 0, 0)), "upper")
    lower = model.add(ph.RigidBody(1.0, 0.05, center=(0.4, 0, 0)), "lower", position=(1, 0, 0), rotation=np.pi / 2)
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), upper.origin))
    elbow = model.connect(ph.Revolute(upper.point((1, 0, 0)), lower.origin))
    for k, (hinge, name) in enumerate(((shoulder, "shoulder"), (elbow, "elbow"))):
        model.apply(hinge.torque(0.0, name=name) if drives is None else hinge.drive(angle=drives[k]))
    return model, lower.point((0.8, 0, 0)), (shoulder, elbow)


def test_a_hand_follows_by_the_torques_that_drives_of_its_joints_need():
    """Two inputs that act on both outputs at once; the drives move as inverse kinematics say."""

    def hand_at(t):
        return 1.0 - 0.5 * smooth(t), 0.8 - 0.3 * smooth(t)

    def bent(t):
        x, y = hand_at(t)
        return np.arccos((x**2 + y**2 - 1.64) / 1.6)

    def raised(t):
        x, y = hand_at(t)
        return np.arctan2(y, x) - np.arctan2(0.8 * np.sin(bent(t)), 1 + 0.8 * np.cos(bent(t)))

    model, hand, _ = robot()
    paths = {
        ph.Displacement(hand, (1, 0, 0)): lambda t: -0.5 * smooth(t),
        ph.Displacement(hand, (0, 1, 0)): lambda t: -0.3 * smooth(t),
    }
    found = ph.inverse_dynamics(model, paths, ["shoulder", "elbow"], 1.0, 1e-2)
    assert found.largest_deviation < 1e-11 and not len(found.zeros)
    driven, _, hinges = robot((raised, lambda t: bent(t) - np.pi / 2))
    motion = driven.simulate(1.0, 1e-2, progress=False)
    for name, hinge in zip(("shoulder", "elbow"), hinges, strict=True):
        needed = motion.required(hinge)
        assert found[name].values[2:-2] == pytest.approx(needed[2:-2], abs=1e-3 * np.abs(needed).max())


def test_a_tip_is_refused_with_its_zeros_and_followed_from_both_sides():
    """Zeros 2 x^2 sqrt(EI / rho A) with tan x = -tanh x; runs with the torque stray to second order."""
    model, _, tip = arm()
    paths = {ph.Displacement(tip, (0, 1, 0)): lambda t: np.sin(0.5 * smooth(t, 0.6))}
    x = brentq(lambda x: np.tan(x) + np.tanh(x), 2.0, 2.6)
    with pytest.raises(ph.ModelError, match=r"non-minimum phase.* zeros 65\.\d+, ") as refused:
        ph.inverse_dynamics(model, paths, ["motor"], 0.6, 4e-3)
    assert "lead=, such as 0.077 s" in str(refused.value)
    strayed = []
    for step in (8e-3, 4e-3):
        found = ph.inverse_dynamics(model, paths, ["motor"], 0.6, step, lead=0.16)
        early = found["motor"].values[(found.motion.time > 0.08) & (found.motion.time < found.lead - 0.02)]
        assert np.diff(np.log(early)) / step == pytest.approx(2 * x**2 * BEND, rel=0.03)  # before the tip begins
        assert found.zeros[:2] == pytest.approx([2 * x**2 * BEND, -2 * x**2 * BEND], rel=1e-2)
        free, _, end = arm(found["motor"])
        run = free.simulate(0.6 + 2 * found.lead, step, progress=False)
        wanted = np.sin(0.5 * smooth(run.time - found.lead, 0.6))
        strayed.append(np.abs(run.position(end)[:, 1] - wanted).max())
    assert found.largest_deviation < 1e-6 and np.abs(found.motion.velocity(tip)[-1]).max() < 1e-4
    assert found.motion.energy.balance_error == pytest.approx(0.0, abs=1e-12)
    assert strayed[1] < 1e-4 and strayed[1] < 0.35 * strayed[0]


def hoist(drive=0.0, winch=0.0):
    """A trolley of 20 kg and a winch that carry 50 kg four metres below; model, trolley, load."""
    model = ph.Model(gravity=(0, -G, 0), dimension=2)
    trolley = model.add(ph.PointMass(20.0), "trolley")
    cable = model.add(ph.RigidBody(1e-4, 1e-4), "cable")
    load = model.add(ph.RigidBody(50.0, 1e-4), "load", position=(0, -4, 0))
    rail = model.connect(ph.Slider(model.ground.at((0, 0, 0)), trolley.origin, axis=(1, 0, 0)))
    model.connect(ph.Revolute(trolley.origin, cable.origin))
    drum = model.connect(ph.Prismatic(cable.origin, load.origin, axis=(0, -1, 0)))
    model.apply(rail.force(drive, name="drive"))
    model.apply(drum.force(winch, name="winch"))
    return model, trolley, load


def test_a_load_on_a_crane_follows_as_its_flat_outputs_say():
    """Four metres aside and two up within 3 s: the cable points along a - g, and meets the rail at the trolley."""
    duration, off, strayed = 3.0, [], []
    for step in (3e-2, 1.5e-2):
        model, trolley, load = hoist(winch=-50 * G)
        paths = {
            ph.Displacement(load.origin, (1, 0, 0)): lambda t: 4 * smooth(t, duration),
            ph.Displacement(load.origin, (0, 1, 0)): lambda t: 2 * smooth(t, duration),
        }
        found = ph.inverse_dynamics(model, paths, ["drive", "winch"], duration, step, lead=0.3)
        time = found.motion.time - found.lead
        inside = (time > 0) & (time < duration)
        s, a = smooth(time, duration), smooth(time, duration, 2) * inside
        top = 4 * s + 4 * a / (G + 2 * a) * (4 - 2 * s)
        pull = 50 * np.hypot(4 * a, G + 2 * a)
        misses = found.motion.position(trolley.origin)[:, 0] - top, found["winch"].values + pull
        off.append([np.abs(missed).max() / size for missed, size in zip(misses, (4, pull.max()), strict=True)])
        free, _, load = hoist(found["drive"], found["winch"])
        run = free.simulate(duration + 2 * found.lead, step, progress=False)
        way = np.array([0, -4, 0]) + np.outer(s, [4, 2, 0])
        strayed.append(np.abs(run.position(load.origin) - way).max())
    assert (np.array(off[1]) < (1e-3, 1e-3)).all() and (np.array(off[1]) < 0.35 * np.array(off[0])).all()
    assert strayed[1] < 5e-3 and strayed[1] < 0.35 * strayed[0]
    with pytest.raises(ph.ModelError, match="do not accelerate the outputs at once"):
        ph.inverse_dynamics(model, paths, ["drive", "winch"], duration, step)


def cart(upright, push=0.0):
    """A cart with a bob one metre above or below it on a massless rod; model, rail."""
    model = ph.Model(gravity=(0, -G, 0), dimension=2)
    carriage = model.add(ph.PointMass(2.0), "cart")
    bob = model.add(ph.PointMass(1.0), "bob", position=(0, 1.0 if upright else -1.0, 0))
    rail = model.connect(ph.Slider(model.ground.at((0, 0, 0)), carriage.origin, axis=(1, 0, 0)))
    model.connect(ph.Distance(carriage.origin, bob.origin))
    model.apply(rail.force(push, name="push"))
    return model, rail


def test_gravity_makes_zeros():
    """sqrt(g / l) of a pendulum that stands on a cart, i sqrt(g / l) of one that hangs, where the cart follows."""
    model, rail = cart(upright=False)
    found = ph.inverse_dynamics(model, {ph.JointPosition(rail): lambda t: smooth(t, 2.0)}, ["push"], 2.0, 2e-2)
    assert found.zeros[:2] == pytest.approx([1j * np.sqrt(G), -1j * np.sqrt(G)], rel=1e-6)
    model, rail = cart(upright=True)
    paths = {ph.JointPosition(rail): lambda t: smooth(t, 2.0)}
    with pytest.raises(ph.ModelError, match="zeros 3.132 1/s"):
        ph.inverse_dynamics(model, paths, ["push"], 2.0, 2e-2)


def test_the_least_inputs_are_those_of_dense_least_squares():
    """As one matrix of all inputs (docs/theory.md, 9; (9.13)): outputs, inputs, velocities at the end."""
    count, n, m, outputs = 6, 4, 2, 1
    rng = np.random.default_rng(3)
    steps = StepMatrices(*(rng.normal(size=(count, n, each)) for each in (n, m)), rng.normal(size=(7, outputs, n)))
    left, used, velocity = rng.normal(size=(7, outputs)), rng.normal(size=(count, m)), rng.normal(size=2)
    weight, rest = np.array([0.3, 2.0]), np.array([0.7, 1.9])
    states = [np.zeros((n, count * m))]  # of all inputs
    for k in range(count):
        own = np.zeros((n, count * m))
        own[:, k * m : (k + 1) * m] = steps.inputs[k]
        states.append(steps.states[k] @ states[-1] + own)
    rows = [steps.outputs[k] @ states[k] for k in range(7)]
    rows += [np.diag(np.tile(weight, count)), np.diag(rest) @ states[-1][2:]]
    wanted = np.concatenate([left.ravel(), -(weight * used).ravel(), -rest * velocity])
    dense = np.linalg.lstsq(np.vstack(rows), wanted)[0].reshape(count, m)
    assert least_change(steps, left, used, weight, velocity, rest) == pytest.approx(dense, rel=1e-10)


def test_refusals():
    model, hinge, tip = arm()
    angle, side = ph.JointPosition(hinge), ph.Displacement(tip, (0, 1, 0))

    def asked(paths, inputs=("motor",), duration=1.0, step=0.1, **options):
        return ph.inverse_dynamics(model, paths, list(inputs), duration, step, **options)

    with pytest.raises(ph.ParameterError, match="no input is named 'engine'; .*: 'motor'"):
        asked({angle: smooth}, ["engine"])
    with pytest.raises(ph.ParameterError, match="1 inputs hold as many outputs, got paths of 2 numbers"):
        asked({angle: smooth, side: smooth})
    with pytest.raises(ph.ParameterError, match=r"begins 1 away from where the model stands; path\(0\) must be 0"):
        asked({angle: lambda t: 1.0 + smooth(t)})
    with pytest.raises(ph.ParameterError, match="begins with a speed of 1, and the model with"):
        asked({angle: lambda t: t})
    with pytest.raises(ph.ParameterError, match="sensors of places and angles"):
        asked({ph.JointRate(hinge): smooth})
    with pytest.raises(ph.ParameterError, match="must be a multiple of step"):
        asked({angle: smooth}, duration=1.05)
    with pytest.raises(ph.ParameterError, match="still miss their paths"):
        asked({side: smooth}, lead=0.05, step=0.05, accuracy=1e-12)
    with pytest.raises(ph.ParameterError, match="no input is named 'm'; there are 'motor'"):
        asked({angle: smooth})["m"]


def test_stops_count_where_they_are_met():
    """A wheel at its lower stop turns by J a, whatever stops there are that it does not reach."""
    model, _, shaft = grounded(ph.RigidBody(1.0, 0.5), ph.Revolute, dimension=2, name="wheel")
    model.apply(shaft.torque(0.0, name="motor"))
    stop = model.apply(shaft.stop(lower=0.0, upper=0.25))
    assert stop.stiffness == pytest.approx(0.5 * 9.81 / (1e-3 * np.sqrt(0.5)))
    paths = {ph.JointPosition(shaft): lambda t: 0.2 * smooth(t)}
    found = ph.inverse_dynamics(model, paths, ["motor"], 1.0, 0.02)
    assert found["motor"](0.3) == pytest.approx(0.5 * 0.2 * smooth(0.3, derivative=2), rel=2e-2)
    with pytest.raises(ph.ModelError, match="a contact or stop is met on the way"):
        ph.inverse_dynamics(model, {ph.JointPosition(shaft): smooth}, ["motor"], 1.0, 0.02, lead=0.1)
