"""Linear models and controllers: functions of the state, what is left out, closed loops as simulated."""

import warnings

import control
import numpy as np
import pytest

import phlexible as ph


def arm(*parts, gravity=9.81):
    """A pendulum on a flexible beam, with elements in its hinge."""
    model = ph.Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    steel = ph.Material(2e11, 7800.0)
    link = model.add(ph.Beam(1.0, ph.CircularSection(20e-3), steel, elements=3, frame="cantilever"), "link")
    hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), link.start))
    for part in parts:
        model.apply(part(hinge, link))
    return model, hinge, link


def test_functions_of_the_state_are_springs_and_dampers_of_the_linear_model():
    """About a static equilibrium, which they hold too: to the digits of differences."""

    def law(t, x, v):
        return np.array([0.0, 10.0, 0.0]) - 40.0 * x - v

    first, hinge, link = arm(
        lambda hinge, link: hinge.servo(200.0, 3.0, angle=lambda t: 0.1),
        lambda hinge, link: ph.StateForce(law, of=[link.end], on=[link.end], name="tip"),
    )
    second, _, other = arm(
        lambda hinge, link: hinge.spring(200.0, rest=0.1, damping=3.0),
        lambda hinge, link: ph.StateForce(law, of=[ph.Position(link.end)], on=[link.end]),
    )
    rest = first.equilibrium()
    same = second.equilibrium()
    assert rest.position(link.end) == pytest.approx(same.position(other.end), abs=1e-9)
    moments = 200.0 * (0.1 - rest.angle(hinge))
    x, y, _ = rest.position(link.end)
    weight = 9.81 * np.pi * 0.01**2 * 7800.0
    middle = rest.position(link.at(0.5))[0]
    assert moments == pytest.approx(weight * middle - x * (10 - 40 * y) + y * (-40 * x), rel=2e-4)
    linear = first.linearize([hinge], about=rest)
    assert linear.modes(4).frequencies == pytest.approx(second.linearize(about=same).modes(4).frequencies, rel=1e-9)
    assert linear.left_out == () and linear.passivity().is_passive
    motion = first.simulate(0.05, 1e-2, initial=rest, progress=False)
    assert np.abs(motion.position(link.end) - rest.position(link.end)).max() <= 1e-9


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (lambda t, x, v: -np.sign(v), "no derivative"),
        (lambda t, x, v: -np.abs(x), "no derivative"),
        (lambda t, x, v: np.array([-x[1], x[0], 0.0]), "not symmetric"),
        (lambda t, x, v: v, "feeds energy"),
    ],
)
def test_what_a_linear_model_cannot_have_is_told(law, why):
    model, _, _ = arm(lambda hinge, link: ph.StateForce(law, of=[link.end], on=[link.end], name="odd"), gravity=0.0)
    with pytest.warns(ph.LeftOutWarning, match=f"odd, .*{why}"):
        linear = model.linearize([model.joints[0]], at="unloaded")
    assert len(linear.left_out) == 1 and linear.reduce(4).left_out == linear.left_out
    plain = arm(gravity=0.0)[0].linearize().modes(3).frequencies
    assert linear.modes(3).frequencies == pytest.approx(plain, rel=1e-9)


def test_forces_across_the_velocity_turn_modes_and_do_no_work():
    """A charge in a magnetic field: f = B (v_y, -v_x), the cyclotron frequency B / m, and which way it turns."""
    model = ph.Model(dimension=2)
    body = model.add(ph.PointMass(0.5), "charge")
    law = ph.StateForce(lambda t, x, v: 3.0 * np.array([v[1], -v[0], 0.0]), of=[body.origin], on=[body.origin])
    model.apply(law)
    axes = np.eye(3)[:2]
    signals = ([kind(body.origin, axis) for axis in axes] for kind in (ph.Force, ph.Velocity))
    linear = model.linearize(*signals)
    assert np.abs(np.linalg.eigvals(linear.to_state_space().A)).max() == pytest.approx(3.0 / 0.5)
    expected = np.linalg.inv([[0.5 * 2j, -3.0], [3.0, 0.5 * 2j]])  # m i w v - f at w = 2
    assert linear.frequency_response([2.0]).values[0] == pytest.approx(expected, rel=1e-8)
    assert linear.passivity().is_passive


AXIS = (0, 0, 1)


def satellite():
    """The model, with what turns its hub and what measures that."""
    model = ph.gallery.satellite(elements=4)
    hub = model["hub"].origin
    return model, ph.Torque(hub, AXIS, name="wheel"), [ph.Angle(hub, AXIS), ph.AngularVelocity(hub, AXIS)]


def difference(motion, sensors, expected):
    """Largest error of angle and rate over the largest value."""
    found = np.array([motion[sensor] for sensor in sensors])
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


def test_the_closed_loop_is_what_the_satellite_does():
    """A law with a filter, sampled and a sample late, turns the hub by a milliradian; errors fall with the step."""
    model, torque, sensors = satellite()
    linear = model.linearize([torque], sensors)
    law = control.ss([[-4.0]], [[0.0, 1.0]], [[10.0]], [[20.0, 60.0]])
    target, errors = [1e-3, 0.0], []
    turn = ph.Feedback(law, sensors, on=[torque], target=target, period=0.04, delay=0.04)
    loop = linear.interconnect(turn)
    assert loop.is_stable is False and np.sum(np.abs(loop.poles) > 1 + 1e-9) == 0  # it is free to fly away
    times = np.arange(101) * 0.04
    inputs = np.zeros((3, len(times)))
    inputs[1] = target[0]
    expected = control.forced_response(loop.to_state_space(), times, inputs).outputs
    model.apply(turn)
    for step in (4e-3, 2e-3):
        errors.append(difference(model.simulate(4.0, step, output_step=0.04, progress=False), sensors, expected))
    assert errors[1] < 2e-3 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def test_continuous_loops_have_the_poles_of_python_control():
    model, torque, sensors = satellite()
    linear = model.linearize([torque], sensors)
    law = control.ss([[-4.0]], [[0.0, 1.0]], [[10.0]], [[20.0, 60.0]])
    loop = linear.interconnect(law, follows=True)
    expected = control.feedback(linear.to_state_space(), law).poles()
    for frequency in np.abs(expected)[np.abs(expected) > 1e-3]:
        assert np.abs(loop.frequencies - frequency).min() <= 1e-8 * frequency
    space = control.feedback(linear.to_state_space() * law, np.eye(2))
    assert loop.to_state_space()(0.7j)[:, 1:] == pytest.approx(space(0.7j), rel=1e-8)
    assert (loop.damping_ratios[loop.frequencies > 1.0] > 0.004).all()
    for how, words in (
        ({"measured": ["angle"]}, "measured has 'angle'"),
        ({"measured": [linear.outputs[0]]}, "choose with measured"),
    ):
        with pytest.raises(ph.ParameterError, match=words):
            linear.interconnect(law, **how)
    with pytest.raises(ph.ParameterError, match="no matrices"):
        linear.interconnect(ph.Feedback(lambda t, m: 0.0, sensors))


def test_a_loop_says_what_drifts():
    """A free hub flies away in the plane, and turns on where its angle is not fed back; a bar on a spring rests."""
    model, wheel, sensors = satellite()
    linear = model.linearize([wheel], sensors)
    for period in (None, 0.1):
        turned, slowed = (
            linear.interconnect(control.ss([], [], [], [[gain, -180.0]]), period=period) for gain in (-20.0, 0.0)
        )
        assert turned.drifting == ("hub x", "hub y") and not turned.is_stable
        assert slowed.drifting == ("hub x", "hub y", "hub turn z")
        assert turned.is_stable_except_drift and slowed.is_stable_except_drift
        wrong = linear.interconnect(control.ss([], [], [], [[20.0, -180.0]]), period=period)
        assert wrong.drifting == ("hub x", "hub y") and not wrong.is_stable_except_drift
    bar = ph.Model(dimension=2)
    body = bar.add(ph.RigidBody(1.0, 0.1), "bar")
    hinge = bar.connect(ph.Revolute(bar.ground.at((0, 0, 0)), body.origin))
    bar.apply(hinge.spring(1e-3, damping=1e-4))
    held = bar.linearize([hinge]).interconnect(control.ss([], [], [], [[-1.0]]))
    assert held.drifting == () and held.is_stable


@pytest.mark.parametrize("elements", [1, 8, 20])
def test_a_slow_pole_beside_a_stiff_beam_is_no_drift(elements):
    """A body on a short beam, upside down on a hinge whose controller is too soft or stiff enough."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    steel = ph.Material(2.1e11, 7850.0, viscosity=1e-6)
    pole = model.add(ph.Beam(0.1, ph.CircularSection(0.02), steel, elements=elements), rotation=np.pi / 2)
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), pole.start))
    head = model.add(ph.RigidBody(1.0, 0.1, center=(0, 0.5, 0)), position=(0, 0.1, 0))
    model.connect(ph.Fixed(pole.end, head.origin))
    with pytest.warns(ph.UnstableEquilibriumWarning):
        state = model.equilibrium().state
    linear = model.linearize([hinge], [ph.JointPosition(hinge), ph.JointRate(hinge)], state=state)
    for gain, is_stable in ((5.0, False), (6.6, True)):
        loop = linear.interconnect(control.ss([], [], [], [[-gain, -0.5]]))
        assert loop.drifting == ()
        assert loop.is_stable is loop.is_stable_except_drift is is_stable


@pytest.mark.parametrize(("period", "is_told"), [(0.02, False), (2.0, True)])
def test_a_run_says_that_the_sampled_loop_is_unstable(period, is_told):
    """In one warning, in place of shorter steps; a good loop has none."""
    model = ph.Model(dimension=2)
    hub = model.add(ph.RigidBody(1.0, 0.5), "hub")
    body = ph.Beam(1.0, ph.RectangularSection(0.01, 0.03), ph.Material(7e10, 2700.0), elements=2)
    model.connect(ph.Fixed(hub.origin, model.add(body, "arm").start))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
    law = ph.Feedback(lambda t, y: -4.0 * (y[0] - 0.2) - 1.2 * y[1], measured=[hinge], period=period)
    model.apply(hinge.torque(law, name="servo"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = model.simulate(24.0, 2e-2, progress=False)
    said = [str(each.message) for each in caught]
    assert sum("servo, sampled every 2 s, is unstable" in each for each in said) == is_told
    assert len(said) == 1 or not is_told
    assert (np.abs(motion.angle(hinge)).max() < 0.4) is not is_told
