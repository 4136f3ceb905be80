"""Dampers and servos that make midpoint steps swing are named, with their strength; others are not."""

import warnings

import pytest

import phlexible as ph

STEP = 1e-3


def arm(act, rate=1.0, gravity=0.0, dimension=2, beam=False):
    """An arm of 1 kg m2 about its hinge at the origin, that turns at a rate."""
    model = ph.Model(gravity=(0, -gravity, 0), dimension=dimension)
    turning = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, rate)} if rate else {}
    if beam:
        steel = ph.Material(2e11, 7870.0)
        body = model.add(ph.Beam(1.0, ph.RectangularSection(0.02, 0.02), steel, elements=2), "arm", **turning)
        hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start, name="hinge"))
    else:
        inertia = 0.75 if dimension == 2 else (0.75, 0.75, 0.75)
        body = model.add(ph.RigidBody(1.0, inertia, center=(0.5, 0, 0)), "arm", **turning)
        hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin, name="hinge"))
    model.apply(act(hinge))
    return model


def told(model, step=STEP, count=40, **options):
    """What the warnings and the check say of dampers, and the motion."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = model.simulate(count * step, step, progress=False, **options)
    warned = [str(each.message) for each in caught if "damps too" in str(each.message)]
    assert list(warned) == [text for text in motion.check().findings if "damps too" in text]
    return warned, motion


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("damping", [2e4, 1e6])
def test_a_strong_damper_is_told_with_its_strength(dimension, damping):
    """Each step leaves (2 - d h / J) / (2 + d h / J) of the rate."""
    (text,), motion = told(arm(lambda hinge: hinge.damper(damping), dimension=dimension))
    share = (2 - damping * STEP) / (2 + damping * STEP)
    rates = motion.rate(motion.mechanism.joint("hinge"))
    assert rates[1:] == pytest.approx(share * rates[:-1], rel=1e-6)
    assert f"mostly that of arm, is {damping:.3g} 1/s, {damping * STEP:.3g} in the 0.001 s" in text
    assert f"Take steps of {2 / damping:.2g} s" in text


def test_the_lighter_side_of_a_joint_counts():
    model = ph.Model(dimension=2)
    heavy = model.add(ph.RigidBody(100.0, 100.0), "heavy")
    light = model.add(ph.RigidBody(0.01, 0.01), "light", velocity=(0, 0, 0), angular_velocity=(0, 0, 5.0))
    model.apply(model.connect(ph.Revolute(heavy.origin, light.origin, name="hinge")).damper(1e3, name="brake"))
    (text,), _ = told(model)
    assert text.startswith("brake damps too strongly") and "mostly that of light, is 1e+05 1/s" in text


def test_servos_and_dampers_between_points_are_told():
    (text,), _ = told(arm(lambda hinge: hinge.servo(10.0, 1e5, angle=0.5)))
    assert text.startswith("servo in hinge")
    model = ph.Model(dimension=2)
    mass = model.add(ph.PointMass(2.0), "mass", (1, 0, 0), velocity=(1, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, 1.0, 1e5, name="strut"))
    (text,), _ = told(model)
    assert text.startswith("strut damps") and "is 5e+04 1/s" in text


QUIET = {
    "a weak one": lambda: arm(lambda hinge: hinge.damper(5.0)),
    "one that stops within some steps": lambda: arm(lambda hinge: hinge.damper(1e3)),
    "at rest": lambda: arm(lambda hinge: hinge.damper(1e6), rate=0.0),
    "at rest under its weight": lambda: arm(lambda hinge: hinge.damper(1e6), rate=0.0, gravity=9.81),
    "a servo that holds": lambda: arm(lambda hinge: hinge.servo(1e6, 1e4, angle=0.0), rate=0.0),
    "a beam at rest": lambda: arm(lambda hinge: hinge.damper(1e6), rate=0.0, beam=True),
    "a beam that hangs on a servo": lambda: arm(
        lambda hinge: hinge.servo(1e3, 10.0, angle=0.0), rate=0.0, beam=True
    ),
    "a stiff spring with little damping": lambda: arm(lambda hinge: hinge.spring(1e9, damping=1.0)),
}


@pytest.mark.parametrize("name", QUIET)
def test_dampers_that_do_not_swing_are_not(name):
    assert told(QUIET[name]())[0] == []


def test_steps_as_short_as_told_do_not_swing():
    damping = 1e4
    (text,), _ = told(arm(lambda hinge: hinge.damper(damping)))
    step = float(text.split("Take steps of ")[1].split(" s")[0])
    assert told(arm(lambda hinge: hinge.damper(damping)), step)[0] == []


def test_joints_that_repeat_others_count_once():
    """Two hinges of a door on one line, and a damper."""
    model = ph.Model()
    door = model.add(ph.RigidBody(1.0, (1, 1, 1)), "door", velocity=(0, 0, 0), angular_velocity=(0, 0, 1.0))
    for k in range(2):
        place = (0, 0, float(k))
        hinge = model.connect(ph.Revolute(model.ground.at(place), door.point(place), axis=(0, 0, 1)))
    model.apply(hinge.damper(1e5))
    (text,), _ = told(model)
    assert "is 1e+05 1/s" in text


def test_the_start_from_an_equilibrium_is_quiet():
    model = arm(lambda hinge: hinge.spring(50.0, damping=1e6), rate=0.0, gravity=9.81)
    assert told(model, initial=model.equilibrium())[0] == []
