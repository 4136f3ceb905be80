"""Forces that are functions of the state: order, energy, the same motion as springs, failures that say why."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phlexible as ph
from mechanisms import boom, grounded
from refusals import refused

STIFFNESS, MASS = 50.0, 2.0


def bead(law, at=(1.0, 0.0, 0.0), **start):
    model = ph.Model(dimension=2)
    body = model.add(ph.PointMass(MASS), "bead", at, **start)
    model.apply(ph.StateForce(law, of=[ph.Position(body.origin)], on=[body.origin], name="law"))
    return model, body.origin


def test_a_spring_as_a_function_is_of_second_order_and_keeps_its_energy():
    """x = cos(w t) at h^2 (w t) (w h)^2 / 24; a controller that holds the same force gains energy."""
    model, place = bead(lambda t, x, v: -STIFFNESS * x)
    omega, errors = np.sqrt(STIFFNESS / MASS), []
    for step in (0.02, 0.01):
        motion = model.simulate(2.0, step, progress=False)
        x = motion.position(place)[:, 0]
        errors.append(x[-1] - np.cos(omega * 2.0))
        energy = motion.energy.kinetic + 0.5 * STIFFNESS * x**2
        assert np.ptp(energy) <= 1e-12 * energy[0]
        assert motion.energy.work["law"] == pytest.approx(0.5 * STIFFNESS * (1 - x**2), abs=1e-11)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    held = ph.Model(dimension=2)
    body = held.add(ph.PointMass(MASS), "bead", (1.0, 0.0, 0.0))
    held.apply(ph.Force(body.origin, ph.Feedback(lambda t, measured: -STIFFNESS * measured[:3], [body.origin])))
    late = held.simulate(2.0, 0.02, progress=False)
    total = late.energy.kinetic + 0.5 * STIFFNESS * late.position(body.origin)[:, 0] ** 2
    assert total[-1] > 1.5 * total[0]


def test_functions_of_several_ports_act_on_several():
    """A spring between two beads as one function; momentum stays, energy too. Copies and other poses keep it."""
    model = ph.Model(dimension=2)
    first = model.add(ph.PointMass(1.0), "first", (0.0, 0.0, 0.0), velocity=(0.0, 1.0, 0.0)).origin
    second = model.add(ph.PointMass(3.0), "second", (1.5, 0.0, 0.0)).origin

    def law(t, x, v):
        pull = 20.0 * (x[3:] - x[:3])
        return np.concatenate([pull, -pull])

    model.apply(ph.StateForce(law, of=[first, second], on=[first, second]))
    motion = model.replace(first=ph.PointMass(2.0)).simulate(1.0, 1e-2, progress=False)
    assert np.abs(motion.momentum.linear - (0.0, 2.0, 0.0)).max() <= 1e-12
    assert np.abs(motion.momentum.angular - motion.momentum.angular[0]).max() <= 1e-12
    ends = [motion.position(motion[name].origin)[:, :2] for name in ("first", "second")]
    stretch = ends[1] - ends[0]
    energy = motion.energy.kinetic + 10.0 * (stretch**2).sum(axis=1)
    assert np.ptp(energy) <= 1e-12 * energy[0]


def test_a_servo_follows_its_target():
    """I a'' = kp (f - a) + kd (f' - a'), by SciPy."""

    def target(t):
        return 0.5 * np.sin(3.0 * t)

    model, _, hinge = grounded(ph.RigidBody(1.0, 0.2), ph.Revolute, dimension=2, name="wheel")
    model.apply(hinge.servo(8.0, 0.6, angle=target, name="servo"))

    def rates(t, y):
        return [y[1], (8.0 * (target(t) - y[0]) + 0.6 * (1.5 * np.cos(3.0 * t) - y[1])) / 0.2]

    expected = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    errors = [model.simulate(2.0, h, progress=False).angle(hinge)[-1] - expected for h in (2e-2, 1e-2)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05) and abs(errors[1]) < 1e-3
    refused(ph.ParameterError, "one target", lambda: hinge.servo(1.0, 0.0))


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_laws_far_stiffer_than_the_step_are_not_halved():
    """h^2 k / 4 m = 12.5: a spring as a function, from rest and from speed, keeps its energy."""
    model, place = bead(lambda t, x, v: -1e6 * x)
    motion = model.simulate(0.05, 0.01, progress=False)
    assert motion.halvings[-1] == 0
    energy = motion.energy.kinetic + 0.5e6 * motion.position(place)[:, 0] ** 2
    assert np.ptp(energy) <= 1e-11 * energy[0]
    cubic, place = bead(lambda t, x, v: -1e5 * x * (x @ x) - 200.0 * v)
    motion = cubic.simulate(0.2, 1e-3, progress=False)
    assert motion.halvings[-1] == 0 and motion.recording.iterations[-1] <= 12 * 200
    assert motion.position(place)[-1, 0] < 0.2


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_law_in_a_light_joint_is_a_servo(dimension):
    """No halvings, and a ledger to round-off, as of the law that is compiled, whose mean angle differs by h^2."""

    def law(t, x, v):
        return 80.0 * (0.5 * np.sin(3 * t) - x) + 4.0 * (1.5 * np.cos(3 * t) - v)

    laws, joint = boom(lambda hinge: ph.StateForce(law, of=[hinge], on=[hinge], name="law"), dimension)
    target = {"angle": lambda t: 0.5 * np.sin(3 * t), "rate": lambda t: 1.5 * np.cos(3 * t), "name": "law"}
    servo, hinge = boom(lambda hinge: hinge.servo(80.0, 4.0, **target), dimension)
    motion, expected = (model.simulate(0.1, 1e-3, progress=False) for model in (laws, servo))
    assert motion.angle(joint) == pytest.approx(expected.angle(hinge), abs=1e-8)
    assert motion.energy.work["law"] == pytest.approx(expected.energy.work["law"], abs=1e-6)
    assert motion.halvings[-1] == 0 and motion.recording.iterations[-1] <= 10 * 100


def test_laws_at_rest_do_nothing_and_bounces_have_them_too():
    model, place = bead(lambda t, x, v: -1e8 * (x - (1.0, 0.0, 0.0)) - 10.0 * v)
    motion = model.simulate(0.1, 1e-2, progress=False)
    assert np.abs(motion.position(place) - (1.0, 0.0, 0.0)).max() <= 1e-15 and motion.halvings[-1] == 0
    ball = ph.Model(dimension=2)
    body = ball.add(ph.PointMass(1.0), "ball", (0.0, 0.5, 0.0))
    weight = lambda t, x, v: np.array([0.0, -9.81, 0.0])  # noqa: E731
    ball.apply(ph.StateForce(weight, of=[body.origin], on=[body.origin], name="law"))
    floor = ph.Plane(ball.ground.at((0.0, 0.0, 0.0)), (0.0, 1.0, 0.0))
    ball.apply(ph.Contact(body.origin, floor, stiffness=1e5, radius=0.1, restitution=1))
    motion = ball.simulate(0.6, 1e-2, progress=False)
    height = motion.position(body.origin)[:, 1]
    assert height.min() < 0.1 and motion.contact_steps[-1] > 0
    energy = motion.energy.kinetic + motion.energy.spring + 9.81 * height
    assert np.ptp(energy) <= 1e-11 * energy[0]


def thrown(law):
    """A bead at 1 m/s, and how often its law was asked."""
    calls = [0]

    def counted(t, x, v):
        calls[0] += 1
        return law(t, x, v)

    model, place = bead(counted, velocity=(1.0, 0.5, 0.0))
    return model, place, calls


def test_friction_without_a_slope_stops_the_bead_where_it_shall():
    """m v^2 / 2 F after m v / F, in both directions; then it holds; each step has a bounded number of trials."""
    errors = []
    for step in (0.04, 0.02):
        model, place, calls = thrown(lambda t, x, v: -3.0 * np.sign(v))
        with pytest.warns(ph.StepWarning, match="law jumps: in .* steps"):
            motion = model.simulate(1.0, step, progress=False)
        assert motion.halvings[-1] == 0 and calls[0] <= 200 * (len(motion.time) - 1)
        x = motion.position(place)
        errors.append(np.abs(x[-1] - (1.0 + 1.0 / 3.0, 0.25 / 3.0, 0.0)).max())
        assert np.abs(x[motion.time >= 0.75] - x[-1]).max() <= 1e-9
    assert errors[1] <= errors[0] / 2 + 1e-6 <= 1e-3


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_switches_and_noise_take_a_bounded_number_of_trials():
    random = np.random.default_rng(0)
    for law in (
        lambda t, x, v: np.array([-1e3 * (x[0] > 1.2), 0.0, 0.0]),
        lambda t, x, v: np.array([random.normal(), 0.0, 0.0]),
    ):
        model, _, calls = thrown(law)
        motion = model.simulate(0.5, 1e-2, progress=False)
        assert motion.halvings[-1] == 0 and calls[0] <= 200 * 50


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_what_a_function_does_wrong_is_said():
    def fails_later(t, x, v):
        if t > 0.05:
            raise ZeroDivisionError("no force here")
        return -x

    model, _ = bead(fails_later)
    with pytest.raises(ph.FunctionError, match="at t = 0.055 s: no force here") as caught:
        model.simulate(0.1, 1e-2, progress=False)
    assert caught.value.motion.time[-1] == pytest.approx(0.05) and caught.value.motion.halvings[-1] <= 1
    model, _ = bead(lambda t, x, v: -x[:2])
    refused(ph.ParameterError, "must return 3 finite numbers", lambda: model.simulate(0.1, 1e-2, progress=False))
    model, place = bead(lambda t, x, v: -x)
    fixed = model.connect(ph.Spherical(model.ground.at((1.0, 0.0, 0.0)), place))
    refused(ph.ModelError, "a joint with one", lambda: ph.StateForce(lambda t, x, v: x, of=[place], on=[fixed]))
