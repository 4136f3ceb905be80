"""Drives, servos and force elements: what they do at the start, at jumps and kinks, and what is refused."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import boom, grounded


def pendulum(dimension=2):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    inertia = 0.3 if dimension == 2 else (0.2, 0.3, 0.3)
    body = model.add(ph.RigidBody(1.0, inertia, center=(1, 0, 0)), "bob")
    return model, body, model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))


def run(model):
    return model.simulate(1.0, 1e-2, progress=False)


@pytest.mark.parametrize("start", [0.3, np.pi, 2 * np.pi])
def test_a_drive_starts_where_the_coordinate_is(start):
    model, _, pin = pendulum()
    model.apply(pin.drive(angle=lambda t: start + t))
    with pytest.raises(ph.JointGapError, match=r"starts at .* rad, while the angle at the initial pose is 0"):
        run(model)


def test_drives_that_jump_or_return_no_number_are_refused_with_the_time():
    model, _, pin = pendulum()
    model.apply(pin.drive(angle=lambda t: 0.1 * (t > 0.504)))
    with pytest.raises(ph.ParameterError, match=r"jumps from 0 to 0.1 at t = 0.504 s"):
        run(model)
    model, _, pin = pendulum()
    model.apply(pin.drive(angle=lambda t: np.nan if t > 0.5 else t))
    with pytest.raises(ph.ParameterError, match=r"must be one finite number, got nan at t = 0.51 s") as caught:
        run(model)
    assert caught.value.motion.time[-1] > 0


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
@pytest.mark.parametrize(("dimension", "sharpness", "turn"), [(3, 50, 2.4), (2, 1000, 2.4), (2, 100, 12.0)])
def test_a_drive_far_faster_than_the_step_ends_at_its_path_and_not_turns_away(dimension, sharpness, turn):
    """Its function vanishes half a turn away as well, and rates at the ends of a step do not tell its turns."""
    model, _, pin = pendulum(dimension)

    def path(t):
        return 0.5 * turn * (np.tanh(sharpness * (t - 0.5)) + np.tanh(0.5 * sharpness))

    model.apply(pin.drive(angle=path))
    motion = model.simulate(1.0, 3e-3 if sharpness == 1000 else 5e-2, progress=False)
    assert motion.angle(pin) == pytest.approx([path(t) for t in motion.time], abs=1e-9)


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_what_a_frame_holds_that_turns_far_in_a_step_ends_where_the_frame_does():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)

    def turn(t):
        return 3 * np.tanh(100 * (t - 0.5)) + 3 * np.tanh(50)

    body = model.add(ph.RigidBody(1.0, 0.3, center=(1, 0, 0)), "bob")
    model.connect(ph.Fixed(model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=turn), body.origin))
    motion = model.simulate(1.0, 5e-2, progress=False)
    assert motion.rotation(body)[:, 0, 0] == pytest.approx(np.cos([turn(t) for t in motion.time]), abs=1e-9)


def test_a_coordinate_takes_one_drive_and_a_joint_must_be_connected():
    model, body, pin = pendulum()
    model.apply(pin.drive(angle=lambda t: t))
    with pytest.raises(ph.ModelError, match="already driven by drive of angle"):
        model.apply(pin.drive(angle=lambda t: 2 * t))
    loose = ph.Revolute(body.origin, model.ground.at((1, 0, 0)))
    with pytest.raises(ph.ModelError, match="is not connected in this model"):
        model.apply(loose.spring(1.0))


def test_controllers_that_return_nan_are_refused_with_the_time():
    model, _, pin = pendulum()
    model.apply(pin.motor(lambda t, measured: np.nan if t > 0.295 else 1.0, name="servo"))
    with pytest.raises(ph.ParameterError, match=r"controller of servo .* got nan at t = 0.3 s") as caught:
        run(model)
    assert len(caught.value.motion.time) == 31


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda pin: pin.drive(), "takes angle= or position="),
        (lambda pin: pin.drive(position=lambda t: t), "no coordinate 'position'; it has: 'angle'"),
        (lambda pin: pin.damper(1.0, of="x"), "no coordinate 'x'"),
        (lambda pin: pin.motor(lambda t: 3.0), r"of \(t, measured\).*joint.torque and joint.force take"),
        (lambda pin: ph.Potential(lambda x: x**2, lambda x: x), "not the derivative of its energy"),
        (lambda pin: ph.SpringDamper(pin.second, pin.first), "neither stiffness, damping, potential nor"),
    ],
)
def test_numbers_and_names_are_refused_where_they_are_given(make, message):
    with pytest.raises(ph.PhlexibleError, match=message):
        make(pendulum()[2])


def test_rates_that_are_not_the_functions_are_refused():
    model, _, pin = pendulum()
    words = r"rate of angle driven at .* it is 30, the function itself changes by 3 "
    with pytest.raises(ph.ParameterError, match=words):
        pin.drive(angle=lambda t: 3 * t, rate=lambda t: 30.0)
    model.apply(pin.drive(angle=lambda t: 3 * t, rate=lambda t: 3.0 if t < 0.7 else 4.0))
    words = r"rate of angle driven at .* it is 4, the function itself changes by 3 "
    with pytest.raises(ph.ParameterError, match=words):
        run(model)
    assert not any(body.waiting for body in model.bodies[1:])


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (
            {"path": lambda t: (0.1 * (t > 0.504), 0, 0)},
            r"path of .* jumps from \(0, 0, 0\) to \(0.1, 0, 0\) at t = 0.504 s",
        ),
        ({"rotation": lambda t: 0.1 * (t > 0.504)}, r"rotation of moving frame \d jumps at t = 0.504 s"),
    ],
)
def test_moving_frames_that_jump_are_refused_with_the_time(motion, message):
    model = ph.Model()
    frame = model.ground.moving(**{"path": lambda t: (0, 0, 0), **motion})
    body = model.add(ph.RigidBody(1.0, (0.2, 0.3, 0.3)), "bob")
    model.connect(ph.Fixed(frame, body.origin))
    with pytest.raises(ph.ParameterError, match=message) as caught:
        run(model)
    assert caught.value.motion.time[-1] == pytest.approx(0.5)  # all steps before


@pytest.mark.parametrize(
    ("energy", "slope"),
    [
        (lambda x: 50 * min(0.0, x + 0.4037) ** 2, lambda x: 100 * min(0.0, x + 0.4037)),  # a stop
        (lambda x: 0.5 * abs(x + 0.4037), lambda x: 0.5 * np.sign(x + 0.4037)),
    ],
)
def test_a_potential_may_have_kinks_and_the_ledger_closes_across_them(energy, slope):
    model, _, pin = pendulum()
    model.apply(pin.spring(4.0, potential=ph.Potential(energy, slope)))
    motion = model.simulate(5.0, 5e-3, progress=False)
    assert np.sum(np.diff(np.sign(motion.angle(pin) + 0.4037)) != 0) >= 2
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * np.abs(motion.energy.gravity).max()
    with pytest.raises(ph.ParameterError, match="slope of the Potential is not the derivative"):
        ph.Potential(energy, lambda x: 1.01 * slope(x))


@pytest.mark.filterwarnings("ignore::phlexible.errors.RedundancyWarning")
def test_drives_and_joints_share_a_redundant_moment_as_the_smallest_forces_do():
    """A door held by a pin with a drive that rests, and by a slide: the moment is in the drive and in the slide."""
    body = ph.RigidBody(2.0, 0.4, center=(0.5, 0, 0))
    model, door, pin = grounded(body, ph.Revolute, gravity=(0, -9.81, 0), dimension=2, name="door")
    slide = model.connect(ph.Prismatic(model.ground.at((0.2, 0, 0)), door.point((0.2, 0, 0))))
    drive = model.apply(pin.drive(angle=lambda t: 0.0 * t))
    motion = model.simulate(0.1, 1e-2, progress=False)
    force, moment = motion.reaction(slide), motion.reaction_moment(slide)
    shared = motion.element_force(drive) + moment[:, 2] + 0.2 * force[:, 1]
    assert shared == pytest.approx(2.0 * 9.81 * 0.5, rel=1e-7)
    assert motion.element_force(drive) == pytest.approx(moment[:, 2], rel=1e-6)


KP, KD, STEP = 80.0, 4.0, 1e-3


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("target", [0.3, lambda t: 0.3])
def test_a_target_that_stays_makes_a_spring_and_damper(target, dimension):
    """The same motion in as many iterations; what these store and lose is what the servo supplies."""
    model, hinge = boom(lambda joint: joint.servo(KP, KD, angle=target, name="servo"), dimension)
    springs, joint = boom(lambda joint: joint.spring(KP, rest=0.3, damping=KD), dimension)
    motion = model.simulate(0.1, STEP, progress=False)
    expected = springs.simulate(0.1, STEP, progress=False)
    assert motion.angle(hinge) == pytest.approx(expected.angle(joint), abs=1e-11)
    assert motion.recording.iterations[-1] <= expected.recording.iterations[-1] + 10
    other = expected.energy
    supplied = -(other.spring - other.spring[0]) - other.dissipated
    assert motion.energy.work["servo"] == pytest.approx(supplied, abs=1e-12)
    assert (motion.energy.spring == 0).all() and (motion.energy.dissipated == 0).all()
    linear, same = (each.linearize(at="unloaded").modes(4) for each in (model, springs))
    assert linear.frequencies == pytest.approx(same.frequencies, rel=1e-12)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (3.0, -2.0, 0.0)])
def test_a_target_that_moves_takes_a_few_iterations_a_step_and_keeps_the_ledger(place):
    """Its order is that of test_state_force.py."""
    model, hinge = boom(
        lambda joint: joint.servo(KP, KD, angle=lambda t: 0.5 * np.sin(3 * t), name="servo"), place=place
    )
    for h in (1e-2, 1e-3, 1e-4):
        motion = model.simulate(0.2, h, progress=False)
        assert np.abs(motion.energy.balance_error).max() <= 1e-12
        assert motion.recording.iterations[-1] <= 8 * (len(motion.time) - 1) and motion.halvings[-1] == 0
        assert abs(motion.angle(hinge)[-1] - 0.5 * np.sin(0.6)) < 0.1


def test_at_rest_at_its_target_it_does_nothing():
    model, hinge = boom(lambda joint: joint.servo(KP, KD, angle=0.0, name="servo"), gravity=0.0)
    motion = model.simulate(0.05, 1e-2, progress=False)
    assert (motion.angle(hinge) == 0).all() and (motion.energy.work["servo"] == 0).all()


def test_a_jump_of_the_target_is_an_impulse_unless_its_rate_is_given():
    """I delta(w) = kd jump, to first order in the step; without the rate the jump is felt by the spring alone."""

    def wheel(**rate):
        model, _, hinge = grounded(ph.RigidBody(1.0, 0.2), ph.Revolute, dimension=2, name="disc")
        target = np.vectorize(lambda t: 0.8 if t >= 0.01 else 0.0)
        model.apply(hinge.servo(8.0, 0.5, angle=target, breakpoints=[0.01], **rate))
        return model.simulate(0.02, 1e-5, progress=False).rate(hinge)

    assert wheel()[1010] == pytest.approx(0.5 * 0.8 / 0.2, rel=1e-2)
    assert abs(wheel(rate=lambda t: 0.0 * t)[1010]) < 0.01


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"angle": 0.2, "rate": lambda t: 0.0}, "a target that is a function"),
        ({"angle": lambda t: t, "rate": 2.0}, "rate of a servo of angle must be a function"),
    ],
)
def test_what_is_no_target_is_refused(given, words):
    with pytest.raises(ph.ParameterError, match=words):
        boom(lambda joint: joint.servo(KP, KD, **given))


def test_a_bushing_carries_a_point_mass_by_springs_along_axes_that_turn_with_the_body():
    """sqrt(k / m) and c / 2m along each axis; a hub that turns by a right angle takes the place of rest with it."""
    stiffness, damping = np.array([200.0, 800.0, 1800.0]), np.array([0.0, 2.0, 4.0])
    model = ph.Model()
    hub = model.add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)), "hub")
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin, axis=(0, 0, 1)))
    model.apply(pin.drive(angle=lambda t: np.pi / 2 * t**2))
    mass = model.add(ph.PointMass(2.0), "mass", position=(0.3, 0, 0)).origin
    model.apply(ph.Bushing(hub.origin, mass, stiffness, damping))
    found = model.linearize(at="static").modes(3).eigenvalues
    decay = damping / 4
    expected = -decay + 1j * np.sqrt(stiffness / 2 - decay**2)
    assert found[np.argsort(found.imag)][-3:] == pytest.approx(expected, rel=1e-6)
    assert model.equilibrium(time=1.0).position(mass) == pytest.approx((0.0, 0.3, 0.0), abs=1e-9)
    with pytest.raises(ph.ModelError, match=r"mass.origin has no orientation .*; give the other port first"):
        model.apply(ph.Bushing(mass, hub.origin, stiffness))
    with pytest.raises(ph.ModelError, match=r"mass.origin has no orientation .*; leave out what is rotational"):
        model.apply(ph.Bushing(hub.origin, mass, stiffness, rotational_damping=1.0))
    other = model.add(ph.PointMass(1.0), "other").origin
    with pytest.raises(ph.ModelError, match=r"other.origin has no orientation .*; use SpringDamper"):
        model.apply(ph.Bushing(other, mass, stiffness))
