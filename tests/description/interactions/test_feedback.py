"""Controllers: sensors, linear laws with states, several forces, samples and delays; runs that go on."""

import control
import numpy as np
import pytest

import phlexible as ph

MASS = 2.0


def cart(at=0.1):
    """A mass on a rail, which a held force moves exactly: x' = v, v' = f / m."""
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(MASS, 0.1), "cart", (at, 0.0, 0.0))
    return model, model.connect(ph.Prismatic(model.ground.at((0.0, 0.0, 0.0)), body.origin, axis=(1, 0, 0)))


def every_sensor(body, joint):
    point = body.point((0.2, 0.0, 0.0))
    return [
        *(ph.JointPosition(joint), ph.JointRate(joint)),
        *(ph.Angle(body.origin, (0, 0, 1)), ph.AngularVelocity(body.origin, (0, 0, 1))),
        *(ph.Position(point), ph.Velocity(point, (0, 1, 0)), ph.Displacement(point, (1, 0, 0))),
        *(ph.Rotation(body), ph.Quaternion(body), ph.EnergyOf("kinetic")),
    ]


def test_controllers_measure_what_motions_tell():
    """Over full turns and without jumps of sign; also in a copy, whose sensors moved along."""
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(1.0, 0.1), "wheel", angular_velocity=(0, 0, 8.0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    seen = []

    def brake(t, measured):
        seen.append(measured)
        return -0.01 * measured[1]

    model.apply(pin.torque(ph.Feedback(brake, every_sensor(body, pin)), name="brake"))
    for each in (model, model.replace()):
        seen.clear()
        motion = each.simulate(1.0, 1e-2, progress=False)
        wheel, joint = each["wheel"], each.joints[0]
        columns = [motion[sensor][:-1].reshape(100, -1) for sensor in every_sensor(wheel, joint)]
        assert np.array(seen) == pytest.approx(np.hstack(columns), abs=1e-12)
    assert np.ptp(np.array(seen)[:, 2]) > 2 * np.pi
    for sensor in (ph.JointAcceleration(pin), ph.Acceleration(body.origin)):
        with pytest.raises(ph.ParameterError, match="cannot be measured by a controller"):
            ph.Feedback(brake, [sensor])


@pytest.mark.parametrize("period", [None, 0.05])
def test_a_continuous_controller_advances_exactly_with_held_input(period):
    """A lead filter around a mass, against python-control's own sampled loop."""
    law = control.ss([[-8.0, 1.0], [0.0, -3.0]], [[1.0], [2.0]], [[5.0, -2.0]], [[-6.0]])
    model, rail = cart()
    model.apply(rail.force(ph.Feedback(law, [ph.JointPosition(rail)], period=period), name="motor"))
    motion = model.simulate(2.0, 0.01, progress=False)
    h = 0.01 if period is None else period
    plant = control.ss([[0, 1], [0, 0]], [[0], [1 / MASS]], [[1, 0]], [[0]]).sample(h)
    loop = control.feedback(plant, law.sample(h), sign=1)
    times = np.arange(round(2.0 / h) + 1) * h
    expected = control.initial_response(loop, times, [0.1, 0.0, 0.0, 0.0]).outputs
    assert motion.translation(rail)[:: round(h / 0.01)] == pytest.approx(expected, abs=1e-13)
    assert np.abs(expected).max() > 0.1


def test_one_discrete_controller_sets_several_forces_late():
    """Two carts, two outputs, a delay of two periods; a target; the digits of a run that stopped half-way."""
    law = control.ss([[0.9]], [[0.1, -0.2]], [[1.0], [0.5]], [[0.4, 0.0], [0.1, -0.3]], dt=0.02)

    def carts(controller=law, **how):
        model = ph.Model(dimension=2)
        ends = []
        for k in range(2):
            body = model.add(ph.RigidBody(MASS, 0.1), f"cart {k}", (0.1, k, 0.0))
            ends.append(model.connect(ph.Prismatic(model.ground.at((0.0, k, 0.0)), body.origin, axis=(1, 0, 0))))
        given = {"delay": 0.04, "target": lambda t: [0.2, 0.1 * t], "name": "pair", **how}
        model.apply(ph.Feedback(controller, [ph.JointPosition(each) for each in ends], on=ends, **given))
        return model, ends

    model, ends = carts()
    motion = model.simulate(1.0, 0.01, progress=False)
    state, place, speed, queue = np.zeros(1), np.array([0.1, 0.1]), np.zeros(2), [np.zeros(2)] * 2
    for k in range(50):
        error = np.array([0.2, 0.1 * 0.02 * k]) - place
        queue.append(law.C @ state + law.D @ error)
        state = law.A @ state + law.B @ error
        pull = queue.pop(0) / MASS
        place, speed = place + 0.02 * speed + 0.02**2 / 2 * pull, speed + 0.02 * pull
        found = [motion.translation(end)[2 * k + 2] for end in ends]
        assert found == pytest.approx(place, abs=1e-14)
    assert np.ptp(motion.translation(ends[1])) > 0.01
    live = model.start(0.01)
    live.run(0.35)
    kept = live.save()
    live.run(0.65)
    live.restore(kept)
    live.run(0.65)
    assert np.array_equal(live.motion.recording.position, motion.recording.position)
    with pytest.raises(ph.ParameterError, match="sampled each 0.02 s.*step=0.02"):
        model.simulate(1.0, 0.03, progress=False)
    for how, words in (
        ({"delay": 0.03}, "multiple of period"),
        ({"period": 0.03}, "that of the controller"),
        ({"target": [1.0, 2.0, 3.0]}, "target must be"),
        ({"controller": control.ss(1, 1, 1, 1), "period": 0.02}, "1 inputs, and 2 numbers"),
        ({"controller": control.ss([], [], [], [[1.0, 2.0]]), "period": 0.02}, "must have 2 outputs"),
        ({"controller": control.tf([1, 2, 1], [1, 1])}, "differentiates its input"),
    ):
        with pytest.raises(ph.ParameterError, match=words):
            carts(**how)


def test_runs_with_controllers_that_remember_go_on_with_the_same_digits(tmp_path):
    model, rail = cart()
    integral = control.tf([-4.0, -3.0], [1.0, 0.0])
    model.apply(rail.force(ph.Feedback(integral, [ph.JointPosition(rail)], period=0.02, delay=0.02)))
    model.apply(rail.damper(3.0))
    whole = model.simulate(1.0, 0.01, progress=False)
    path = tmp_path / "run.h5"
    model.simulate(0.51, 0.01, output=path, progress=False)
    again = model.resume(path, 1.0, 0.01, progress=False)
    assert np.array_equal(again.recording.position, whole.recording.position)
    assert ph.Motion.load(path).translation(again.mechanism.joints[0]).shape == (101,)


def test_force_sensors_tell_of_the_step_before():
    """A weight on a rail: the reaction of the rail is measured, at first that of the start."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    body = model.add(ph.RigidBody(MASS, 0.1), "cart")
    rail = model.connect(ph.Prismatic(model.ground.at((0.0, 0.0, 0.0)), body.origin, axis=(1, 0, 0)))
    seen = []
    model.apply(rail.force(ph.Feedback(lambda t, f: seen.append(f[1]) or 0.0, [ph.Reaction(rail)])))
    model.simulate(0.05, 0.01, progress=False)
    assert seen == pytest.approx([9.81 * MASS] * 5)


def test_controllers_measure_forces_of_elements_and_tensions():
    """Of one spring, of a bushing along all coordinates, of drives, of strings and of tendons with friction."""
    model = ph.Model(gravity=(0, 0, -9.81))
    ground, inertia = model.ground.at, (0.1, 0.1, 0.1)
    body = model.add(ph.RigidBody(MASS, inertia), "weight", position=(0, 0, -1))
    spring = model.apply(ph.SpringDamper(ground((0, 0, 0)), body.origin, 100.0, length=0.5))
    bushing = model.apply(ph.Bushing(ground((0, 0, -1)), body.origin, (9.0,) * 3, rotational_stiffness=(1.0,) * 3))
    other = model.add(ph.RigidBody(1.0, inertia), "other", position=(1, 0, -1))
    guides = [ground((0.5, 0, 0)), ground((1, 0, 0)), other.origin]
    tendon = model.apply(ph.Tendon(guides, 50.0, rest_length=1.2, friction=0.1))
    wheel = model.add(ph.RigidBody(1.0, inertia), "wheel", position=(5, 0, 0))
    axle = model.connect(ph.Revolute(ground((5, 0, 0)), wheel.origin))
    drive = model.apply(axle.drive(angle=lambda t: t**2))
    rope = ph.String(length=0.5, line_density=0.1, elements=3, law=ph.LinearLaw(50.0))
    placed = model.add(rope, "rope", shape=[(9, 0, 0), (9, 0, -0.6)])
    for end, z in ((placed.start, 0.0), (placed.end, -0.6)):
        model.connect(ph.Spherical(ground((9, 0, z)), end))
    sensors = [ph.ElementForce(each) for each in (spring, bushing, drive)]
    sensors += [ph.Tension(each) for each in (tendon, placed)]
    known, seen = model.simulate(0.02, 0.01, progress=False), []
    model.apply(ph.Feedback(lambda t, y: seen.append(y) or np.zeros(3), sensors, on=[body.origin]))
    motion = model.simulate(0.02, 0.01, progress=False)
    expected = [np.ravel(known[sensor][0]) for sensor in sensors]
    assert [sensor.count for sensor in sensors] == [len(each) for each in expected] == [1, 6, 1, 2, 3]
    assert seen[0] == pytest.approx(np.concatenate(expected), rel=1e-12, abs=1e-12)
    assert seen[0][0] == pytest.approx(-50.0) and np.array_equal(motion.time, known.time)
