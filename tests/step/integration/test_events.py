"""Locks, releases and conditions: momenta, losses in closed form, instants, and runs that go on bit by bit."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.errors import VelocityError

INERTIAS, SPEEDS = (0.3, 0.5), (7.0, -2.0)  # of two discs on one axis, the second turns on the first
LOSS = INERTIAS[0] * INERTIAS[1] / sum(INERTIAS) * (SPEEDS[0] - SPEEDS[1]) ** 2 / 2
COMMON = np.dot(INERTIAS, SPEEDS) / sum(INERTIAS)


def discs() -> tuple[ph.Model, ph.Revolute, ph.Revolute]:
    model = ph.Model()
    one, two = (
        model.add(ph.RigidBody(1.0, (1.0, 1.0, inertia)), name, angular_velocity=(0, 0, speed))
        for name, inertia, speed in zip(("one", "two"), INERTIAS, SPEEDS, strict=True)
    )
    on_ground = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), one.origin))
    return model, on_ground, model.connect(ph.Revolute(one.origin, two.origin))


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("when", ["on the grid", "between", "angle"])
def test_two_discs_lock_with_the_loss_of_an_inelastic_impact(when: str, order: int) -> None:
    model, on_ground, between = discs()
    turned = ph.When(ph.JointPosition(between), below=-4.0)  # more than half a turn
    model.at({"on the grid": 0.4, "between": 0.4007, "angle": turned}[when], lock=between)
    motion = model.simulate(1.0, 1e-3, order=order)
    (event,) = motion.events
    expected = {"on the grid": 0.4, "between": 0.4007, "angle": 4.0 / (SPEEDS[0] - SPEEDS[1])}[when]
    phase = 5e-6 if order == 2 else 1e-10  # turns of a step are 2 atan(h w / 2)
    assert event.time == pytest.approx(expected, rel=phase if when == "angle" else 1e-12)
    assert event.dissipated == pytest.approx(LOSS, rel=1e-13)
    assert motion.energy.dissipated[-1] == pytest.approx(LOSS, rel=1e-13)
    assert np.abs(motion.energy.balance_error).max() < 1e-13 * motion.energy.total[0]
    assert np.ptp(motion.momentum.angular[:, 2]) < 1e-14
    after = motion.time > event.time
    assert np.ptp(motion.angle(between)[after]) < 2e-15 * 4
    np.testing.assert_allclose(motion.rate(on_ground)[after], COMMON, rtol=1e-12)
    assert motion.angle(between)[-1] == pytest.approx(-(SPEEDS[0] - SPEEDS[1]) * event.time, rel=phase)
    assert motion.check().joint_gap < 1e-13


def test_a_lock_on_a_moving_frame_takes_the_work_that_brings_its_body_along() -> None:
    mass, speed, frame_speed = 2.0, 3.0, -1.5
    model = ph.Model()
    body = model.add(ph.PointMass(mass), velocity=(speed, 0, 0))
    frame = model.ground.moving(lambda time: (frame_speed * time, 0.0, 0.0))
    model.at(0.35, lock=model.connect(ph.Slider(frame, body.origin, axis=(1, 0, 0))))
    motion = model.simulate(1.0, 0.1)
    assert motion.events[0].dissipated == pytest.approx(mass * (speed - frame_speed) ** 2 / 2, rel=1e-9)
    work = sum(motion.energy.work.values())
    assert work[-1] == pytest.approx(mass * frame_speed * (frame_speed - speed), rel=1e-8)
    assert np.abs(motion.energy.balance_error).max() < 1e-12


def test_a_lock_that_a_moving_frame_tears_is_refused_when_it_happens() -> None:
    model = ph.Model()
    body = model.add(ph.PointMass(1.0))
    frame = model.ground.moving(lambda time: (0.0, np.sin(time), 0.0))
    slider = model.connect(ph.Slider(frame, body.origin, axis=(0, 1, 0)))
    model.connect(ph.Distance(model.ground.at((0, -1, 0)), body.origin))
    model.at(0.35, lock=slider)
    with pytest.raises(VelocityError, match="lock of Slider.* at t = 0.35 s.*contradict.*release one") as caught:
        model.simulate(1.0, 0.1)
    assert caught.value.motion.time[-1] == pytest.approx(0.3)


@pytest.mark.parametrize("what", ["lock", "drive"])
def test_a_thin_section_between_two_joints_takes_locks_and_rates_at_the_start(what: str) -> None:
    """Its inertia is tiny beside the box's: in the metric of the masses both joints hold nearly the same."""
    model = ph.Model(gravity=(0, 0, -9.81))
    wire = model.add(ph.Rod(1.0, ph.CircularSection(1e-3), ph.Material(2e11, 7800.0), elements=2), "wire")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wire.start, axis=(0, 1, 0)))
    box = model.add(ph.RigidBody.box((0.1, 0.07, 0.05), 2857.0), "box", position=(-0.12, -0.7, 0.2))
    slide = model.connect(ph.Prismatic(wire.start, box.point((0.12, 0.7, -0.2)), axis=(1, 0, 0.3)))
    if what == "lock":
        model.at(2.3e-3, lock=slide)
    else:
        start = slide.initial_coordinate(3)
        model.apply(slide.drive(position=lambda t: start + 0.3 * t))
    motion = model.simulate(4e-3, 1e-3)
    assert np.abs(motion.energy.balance_error).max() < 1e-14
    rate = motion[ph.JointRate(slide)]
    assert rate[-1] == pytest.approx(0.0, abs=1e-12) if what == "lock" else rate == pytest.approx(0.3, rel=1e-9)


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 2, 0)])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("body", ["disc", "arm"])
def test_a_brake_brings_everything_to_rest(body: str, dimension: int, place: tuple[float, ...]) -> None:
    """What is left is round-off of the velocities before."""
    inertia = 0.3 if dimension == 2 else (1.0, 1.0, 0.3)
    made = ph.RigidBody(1.0, inertia, center=(0.4 * (body == "arm"), 0, 0))
    model = ph.Model(dimension=dimension)
    placed = model.add(made, body, place, angular_velocity=(0, 0, 3.0))
    pin = model.connect(ph.Revolute(model.ground.at(place), placed.origin))
    model.at(0.0505, lock=pin)
    motion = model.simulate(0.1, 0.01)
    (event,) = motion.events
    assert event.dissipated == pytest.approx(motion.energy.total[0], rel=1e-13)
    assert np.abs(motion.rate(pin)[motion.time > event.time]).max() < 1e-14


def test_a_clutch_brings_two_wheels_to_the_speeds_of_its_ratio_and_lets_them_go() -> None:
    model = ph.Model(dimension=2)
    wheels = [
        model.add(ph.RigidBody(1.0, inertia), position=(k, 0, 0), angular_velocity=(0, 0, speed))
        for k, (inertia, speed) in enumerate(zip(INERTIAS, SPEEDS, strict=True))
    ]
    pins = [model.connect(ph.Revolute(model.ground.at((k, 0, 0)), wheel.origin)) for k, wheel in enumerate(wheels)]
    clutch = ph.Gear(pins[0], pins[1], ratio=-2.0)
    model.at(0.2, lock=clutch)
    model.at(0.6, release=clutch)
    brake = model.at(0.8, lock=pins[1])
    motion = model.simulate(1.0, 1e-3)
    turned = (-2.0 * INERTIAS[0] * SPEEDS[0] + INERTIAS[1] * SPEEDS[1]) / (4 * INERTIAS[0] + INERTIAS[1])
    rates = np.transpose([motion.rate(pin) for pin in pins])
    np.testing.assert_allclose(rates[motion.time < 0.1995], np.tile(SPEEDS, (200, 1)), rtol=1e-12)
    meshed = (motion.time > 0.2005) & (motion.time < 0.7995)
    np.testing.assert_allclose(rates[meshed], np.tile((-2 * turned, turned), (meshed.sum(), 1)), rtol=1e-10)
    assert rates[-1] == pytest.approx([-2 * turned, 0.0], abs=1e-9)
    assert [event.time for event in motion.events] == [0.2, 0.6, 0.8]
    assert motion.events[2].dissipated == pytest.approx(INERTIAS[1] * turned**2 / 2, rel=1e-9)
    assert motion.events[1].dissipated < 1e-9
    assert brake.locked  # what could be released in turn
    assert (motion.element_force(clutch)[motion.time > 0.6005] == 0).all()
    assert np.abs(motion.energy.balance_error).max() < 1e-12


def test_bodies_that_are_let_go_fly_on_with_the_velocities_that_they_had() -> None:
    model, spin, arm, duration = ph.Model(), 3.0, 0.5, 1.3
    one = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "one", velocity=(0, 0, 0), angular_velocity=(0, 0, spin))
    two = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "two", position=(2 * arm, 0, 0))
    weld = model.connect(ph.Fixed(one.point((2 * arm, 0, 0)), two.origin))
    model.at(0.7, release=weld)
    motion = model.simulate(duration, 1e-3)
    about, turned = np.array([arm, arm * spin * 0.7, 0]), spin * 0.7  # the pair, whose first origin stood still
    for body, side in ((one, -arm), (two, arm)):
        place = about + side * np.array([np.cos(turned), np.sin(turned), 0])
        speed = np.array([0, arm * spin, 0]) + side * spin * np.array([-np.sin(turned), np.cos(turned), 0])
        expected = place + (duration - 0.7) * speed
        np.testing.assert_allclose(motion.position(body.origin)[-1], expected, atol=3e-6)
    momentum = motion.momentum
    for each in (momentum.angular, momentum.linear):
        assert np.ptp(each, axis=0).max() < 1e-13 * np.abs(each).max()
    assert motion.energy.dissipated[-1] < 1e-12 * motion.energy.total[0]
    assert (motion.reaction(weld)[motion.time > 0.7005] == 0).all()
    assert np.ptp(motion.velocity(two.origin)[motion.time > 0.7005], axis=0).max() < 1e-13


def test_a_stone_stops_when_it_reaches_the_ground_and_can_go_on() -> None:
    height = 2.0
    model = ph.Model(gravity=(0, 0, -9.81))
    stone = model.add(ph.PointMass(0.5), position=(0, 0, height))
    ground = ph.When(lambda t, x: x[2], below=0.0, of=[ph.Position(stone.origin)])
    motion = model.simulate(5.0, 0.01, stop=ground, every=3)
    assert motion.time[-1] == pytest.approx(np.sqrt(2 * height / 9.81), rel=1e-12)
    assert motion.is_complete and -1e-11 < motion.position(stone.origin)[-1, 2] <= 0
    assert np.abs(motion.energy.balance_error).max() < 1e-14 * 10
    further = model.simulate(1.0, 0.01, initial=motion.at(motion.time[-1]), stop=ground)
    assert further.time[-1] == pytest.approx(motion.time[-1] + 1.0)  # below already: it waits until it is not


def test_a_condition_on_a_force_that_is_met_at_the_start_waits() -> None:
    """m z'' = -m g - k z: the spring pulls with more than 20 N at first, and again when the mass comes down."""
    model = ph.Model(gravity=(0, 0, -9.81))
    mass = model.add(ph.PointMass(2.0), position=(0, 0, -1))
    spring = model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, 100.0, length=0.5))
    motion = model.simulate(2.0, 1e-3, stop=ph.When(ph.ElementForce(spring), below=-20.0))
    speed, middle = np.sqrt(50.0), -0.5 - 2 * 9.81 / 100
    again = (2 * np.pi - np.arccos((-0.7 - middle) / (-1.0 - middle))) / speed
    assert motion.time[-1] == pytest.approx(again, abs=1e-3)  # forces are means over steps


def arm(calls: list[float] | None = None) -> ph.Model:
    """A pendulum with a flexible link, which locks at an angle, is unlocked and falls off."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    link = model.add(ph.RigidBody(1.0, 0.1, center=(0.25, 0, 0)), "link")
    steel = ph.Material(youngs_modulus=2e11, density=7800)
    beam = model.add(ph.Beam(0.5, ph.CircularSection(0.01), steel, elements=2), "beam", position=(0.5, 0, 0))
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), link.origin))
    elbow = model.connect(ph.Revolute(link.point((0.5, 0, 0)), beam.start))
    model.apply(elbow.damper(0.05))
    if calls is not None:
        model.apply(shoulder.motor(lambda t, measured: calls.append(t) or -0.1 * measured[1]))
    model.at(0.2003, release=model.at(ph.When(ph.JointPosition(elbow), above=0.02), lock=elbow))
    model.at(0.25, release=shoulder)
    return model


def test_controllers_are_asked_once_a_step_though_an_event_falls_into_it() -> None:
    calls: list[float] = []
    motion = arm(calls).simulate(0.1, 1e-3)
    assert len(motion.events) == 1
    np.testing.assert_array_equal(calls, motion.time[:-1])


def test_a_copy_of_a_model_has_its_events() -> None:
    model = arm()
    copy = model.replace(gravity=model.gravity)
    found, expected = (each.simulate(0.3, 1e-3) for each in (copy, model))
    assert [str(event) for event in found.events] == [str(event) for event in expected.events]
