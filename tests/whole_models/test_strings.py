"""Strings alone and in mechanisms: invariants over long runs, order, closed forms, files, failures."""

import numpy as np
import pytest
from scipy.optimize import brentq

import phlexible as ph
from mechanisms import grounded
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from refusals import refused

USER_LAW = ph.Law(lambda C: 5 * (C - np.log(C) - 1), lambda C: 5 * (1 - 1 / C))
LAWS = [ph.LogarithmicLaw(20.0), ph.LinearLaw(20.0), ph.StVenantKirchhoffLaw(20.0), USER_LAW]
SLACK = pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")


def relative_spread(values):
    return np.abs(values - values[0]).max() / np.abs(values).max()


def free_string(law, dimension=3, order=1, elements=6, **options):
    string = ph.String(1.0, 0.7, elements, law, order=order, **options)
    model = ph.Model(dimension=dimension)
    space = float(dimension == 3)

    def speed(s):
        return np.array([0.3, 4 * (s - 0.5) + np.sin(3 * s), space * (0.4 + np.cos(2 * s))])

    model.add(string, "string", shape=lambda s: (1.4 * s, 0.1 * s**2, 0.05 * space * s), velocity=speed)
    return model


@SLACK
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_string_with_viscosity_loses_what_its_strain_rates_say(law):
    motion = free_string(law, viscosity=0.02).simulate(0.5, 0.01, numerical_damping=0.05, progress=False)
    energy = motion.energy
    C = motion.stretch(motion["string"]) ** 2
    lost = (0.02 / 0.01 + 0.05) * law.modulus / 4 * (np.diff(C, axis=0) ** 2).sum(axis=1) / 6
    assert np.diff(energy.dissipated) == pytest.approx(lost, rel=1e-6)
    assert energy.dissipated[-1] > 0.1 * energy.total[0]
    assert relative_spread(motion.momentum.angular) <= 1e-11


def mixed_model(dimension):
    model = ph.Model(gravity=(0.5, -9.81, 0), dimension=dimension)
    beam = ph.Beam(0.5, ph.CircularSection(0.01), ph.Material(2e9, 1000.0), elements=2)
    arm = model.add(beam, "beam")
    band = ph.String(0.3, 0.4, 3, USER_LAW, order=2)
    rope = ph.String(0.6, 0.4, 6, ph.LogarithmicLaw(60.0), viscosity=0.01)
    first = model.add(rope, "first", shape=((0.5, 0, 0), (0.5, -0.7, 0)))
    body = model.add(ph.RigidBody(0.8, (2e-3,) * 3), "body", position=(0.5, -0.8, 0))
    second = model.add(band, "second", shape=((0.6, -0.8, 0), (1.0, -0.8, 0)))
    bob = model.add(ph.PointMass(0.3), "bob", position=(1.0, -0.8, 0))
    ball = model.add(ph.PointMass(0.2), "ball", position=(0.8, -0.35, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), arm.start))
    model.connect(ph.Spherical(arm.end, first.start))
    model.connect(ph.Spherical(first.end, body.point((0, 0.1, 0))))
    model.connect(ph.Spherical(body.point((0.1, 0, 0)), second.start))
    model.connect(ph.Spherical(second.end, bob.origin))
    model.connect(ph.Distance(first.at(0.3), ball.origin))
    model.connect(ph.Slider(model.ground.at((1.0, 0, 0)), bob.origin, axis=(0, 1, 0)))
    model.apply(ph.Force(first.at(0.3), lambda t: (2 * np.sin(5 * t), 0, 0), name="wind"))
    return model


@pytest.mark.parametrize("order", [1, 2])
def test_hanging_between_two_points_is_the_elastic_catenary(order):
    """Span and sag of a cable with the linear law in closed form, to the order of the elements."""

    length, density, stiffness, span, gravity = 3.0, 1.5, 400.0, 2.6, 9.81
    weight = density * gravity

    def reach(force):
        half = weight * length / (2 * force)
        return force * length / stiffness + 2 * force / weight * np.arcsinh(half) - span

    force = brentq(reach, 1.0, 1000.0)
    half = weight * length / (2 * force)
    sag = weight * length**2 / (8 * stiffness) + force / weight * (np.hypot(1, half) - 1)
    errors = []
    for elements in (8, 16, 32):
        string = ph.String(length, density, elements, ph.LinearLaw(stiffness), order=order)
        ends = (1.0, 2.0, 0.5), (1.0, 2.0, 0.5 + span)
        nodes = string.hanging(*ends, (0, -gravity, 0))
        assert nodes[0] == pytest.approx(ends[0]) and nodes[-1] == pytest.approx(ends[1])
        errors.append(abs(2.0 - nodes[:, 1].min() - sag))
        model, placed, pin = grounded(string, ph.Spherical, at=ends[0], gravity=(0, -gravity, 0), shape=nodes)
        model.connect(ph.Spherical(model.ground.at(ends[1]), placed.end))
        motion = model.simulate(0.1, 0.01, progress=False)
        assert np.abs(motion.position(placed.at(length / 2)) - nodes[len(nodes) // 2]).max() < 1e-10
        assert motion.reaction(pin)[:, 1] == pytest.approx(np.full(11, weight * length / 2), rel=1e-9)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * order, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2 * order, abs=0.2)


@SLACK
def test_a_file_brings_the_motion_back(tmp_path):
    model = mixed_model(2)
    whole = model.simulate(0.2, 2e-3, output=tmp_path / "half.h5", progress=False)
    back = ph.Motion.load(tmp_path / "half.h5")
    rope = back["first"]
    assert np.array_equal(back.tension(rope), whole.tension(model["first"]))
    assert np.array_equal(back.position(rope.at(0.17)), whole.position(model["first"].at(0.17)))
    assert back.momentum.angular == pytest.approx(whole.momentum.angular)
    refused(ph.ModelError, "do not hold the functions of a Law", lambda: back.tension(back["second"]))
    back.save(tmp_path / "again.h5")
    other = mixed_model(2).replace(first=ph.String(0.6, 0.4, 6, ph.LogarithmicLaw(61.0), viscosity=0.01))
    with pytest.raises(ph.ResultFileError, match="first/body/fields/law"):
        other.resume(tmp_path / "half.h5", 0.6, 2e-3, progress=False)


def test_a_copy_takes_the_shape_along():
    model = free_string(LAWS[0], elements=6)
    finer = model.replace(string=ph.String(1.0, 0.7, 12, LAWS[1]))
    nodes = finer["string"].nodes.positions
    assert nodes.shape == (13, 3)
    assert nodes[::2] == pytest.approx(model["string"].nodes.positions)
    assert finer["string"].nodes.velocities[::2] == pytest.approx(model["string"].nodes.velocities)


def test_the_start_may_be_turned_and_moved():
    model = ph.Model(dimension=2)
    placed = model.add(ph.String(2.0, 1.0, 4, LAWS[0]), position=(1, 2, 0), rotation=np.pi / 2)
    assert placed.end.initial_position() == pytest.approx([1, 4, 0])
    moved = model.add(ph.String(2.0, 1.0, 4, LAWS[0]), shape=((0, 0), (2.2, 0)), velocity=(1, 2, 0))
    state = initial_state(system_of(model))
    assert state.velocity[-10:].reshape(-1, 2) == pytest.approx(np.tile([1, 2], (5, 1)))
    assert moved.end.initial_position() == pytest.approx([2.2, 0, 0])


def test_velocities_that_are_left_out_follow_the_joints():
    model = ph.Model(dimension=2)
    placed = model.add(ph.String(1.0, 1.0, 4, LAWS[0]))
    model.connect(ph.Spherical(model.ground.moving(lambda t: (2 * t, t, 0)), placed.start))
    assert initial_state(system_of(model)).velocity[:2] == pytest.approx([2, 1])
    body = ph.String(1.0, 1.0, 4, LAWS[0])
    given, *_ = grounded(body, ph.Spherical, dimension=2, name="rope", velocity=(1, 0, 0))
    refused(ph.VelocityError, "violated by 1 m/s", lambda: initial_state(system_of(given)))


NEAREST = r"the nearest are at\(0.25\) and at\(0.5\)"
MODEL, PLACE, VALUE = ph.ModelError, ph.AttachmentError, ph.ParameterError


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda m, s: m.connect(ph.Fixed(m.ground.at((0, 0, 0)), s.start)), MODEL, "no orientation"),
        (lambda m, s: m.apply(ph.Torque(s.end, (0, 0, 1))), MODEL, "end has no orientation"),
        (lambda m, s: m.apply(ph.Force(s.end, (1, 0, 0), axes="body")), MODEL, "no orientation"),
        (lambda m, s: m.connect(ph.Spherical(m.ground.at((1, 0, 0)), s.at(0.3))), PLACE, NEAREST),
        (lambda m, s: m.apply(ph.Force(s.at(0.3), (1, 0, 0))), PLACE, "act on nodes"),
        (lambda m, s: m.add(s.body, shape=lambda x: (min(x, 0.5), 0)), VALUE, "compress element 2 to zero length"),
        # nodes that an assembly brings to one point lie apart by round-off
        (
            lambda m, s: m.add(s.body, shape=lambda x: (3 + x / 3e14, 0)),
            VALUE,
            "compress element 0 to zero length",
        ),
        (lambda m, s: m.add(s.body, shape=[[0, 0], [1, 0], [2, 0]]), VALUE, r"shape \(2 or 5, 3\)"),
        (lambda m, s: m.add(s.body, shape=lambda x: x), VALUE, "two or three finite numbers"),
        (lambda m, s: m.add(s.body, shape=lambda x: (x, 0, x)), VALUE, "stay in the plane"),
        (lambda m, s: m.add(s.body, angular_velocity=(0, 0, 1)), MODEL, "velocity as a function of s"),
        (lambda m, s: m.add(ph.PointMass(1.0), shape=((0, 0), (1, 0))), MODEL, "is not a string"),
        (lambda m, s: m.add(ph.PointMass(1.0), velocity=lambda x: x), MODEL, "three numbers"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_given(change, kind, words):
    model = ph.Model(dimension=2)
    placed = model.add(ph.String(1.0, 1.0, 4, LAWS[0]), "rope")
    refused(kind, words, lambda: change(model, placed))


@SLACK
def test_a_string_that_is_pressed_to_nothing_stops_the_run_with_its_element_and_the_time():
    """Both ends are led through one point at t = 0.5 s; the law has no force there."""
    model, placed, _ = grounded(ph.String(1.0, 1.0, 1, LAWS[0]), ph.Spherical, dimension=2, name="rope")
    model.connect(ph.Spherical(model.ground.moving(lambda t: (1 - 2 * t, 0, 0)), placed.end))
    with pytest.raises(ph.ConvergenceError, match="element 0 of rope was compressed most") as caught:
        model.simulate(1.0, 0.1, progress=False)
    assert caught.value.time == pytest.approx(0.5, abs=0.1)
    assert "from t = 0.4" in str(caught.value)
    assert caught.value.motion.time[-1] == pytest.approx(0.4)


@SLACK
def test_slack_strings_keep_running_and_their_energy_is_exact():
    """Let go at one end, a stretched string snaps together; many steps are halved."""
    string = ph.String(1.0, 1.0, 60, ph.LogarithmicLaw(200.0))
    model, *_ = grounded(string, ph.Spherical, gravity=(0, -9.81, 0), dimension=2, shape=((0, 0), (1.05, 0)))
    motion = model.simulate(0.5, 2e-3, progress=False)
    assert motion.slack_parts()
    assert np.abs(motion.energy.balance_error).max() <= 1e-11 * np.abs(motion.energy.kinetic).max()


@SLACK
def test_what_a_law_raises_is_in_the_error():
    """A law that Python evaluates and that does not know large stretches."""
    known = {"limit": 4.0}

    def energy(C):
        if C > known["limit"]:
            raise OverflowError("torn")
        return 5 * (C - 1) ** 2

    law = ph.Law(lambda C: energy(C), lambda C: 10 * (C - 1))
    model, placed, _ = grounded(ph.String(1.0, 1.0, 1, law), ph.Spherical, dimension=2, name="rope")
    model.connect(ph.Spherical(model.ground.moving(lambda t: (1 + 2 * t, 0, 0)), placed.end))
    with pytest.raises(ph.ConvergenceError, match=r"a function of a law raised OverflowError\('torn'\)"):
        model.simulate(1.0, 0.1, progress=False)


@SLACK
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_quasi_static_start_leaves_strings_as_they_are(dimension):
    """Beams bend under what pulls at them; nodes of strings keep their places and start to move."""
    model = mixed_model(dimension)
    motion = model.simulate(0.02, 2e-3, initial="quasi_static", progress=False)
    beam, rope = model["beam"], model["first"]
    assert np.abs(motion.elastic_displacement(beam.end)[0]).max() > 1e-6
    moved = motion.position(rope.start)[0] - rope.start.initial_position()
    assert np.abs(motion.position(rope.at(0.5))[0] - rope.at(0.5).initial_position()).max() <= np.abs(moved).max()


def test_a_pin_in_the_plane_holds_a_string_and_orientations_are_refused():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    placed = model.add(ph.String(1.0, 1.0, 4, LAWS[0]), "rope", shape=((0, 0), (0, -1.3)))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start))
    motion = model.simulate(0.02, 0.01, progress=False)
    assert np.abs(motion.position(placed.start)).max() <= 1e-14
    for wrong in (motion.rotation, motion.angular_velocity):
        with pytest.raises(ph.ModelError, match="rope is a string and has no orientation"):
            wrong(placed)
    with pytest.raises(ph.ModelError, match="is not a string and has no tension"):
        both = ph.Model(dimension=2)
        ball = both.add(ph.PointMass(1.0), "ball")
        both.simulate(0.01, 0.01, progress=False).tension(ball)


def test_joints_that_hold_a_node_twice_are_found_among_many_on_a_string():
    from phlexible.state.redundancy import redundancies

    def redundant(model):
        system = system_of(model)
        return redundancies(system, initial_state(system))

    model = ph.Model(dimension=2)
    placed = model.add(ph.String(1.0, 1.0, 8, LAWS[0]), "rope")
    joints = []
    for k, s in enumerate(placed.body.mesh.nodes[1:]):
        bead = model.add(ph.PointMass(0.1), f"bead {k}", position=(s, 0, 0))
        joints.append(model.connect(ph.Spherical(placed.at(s), bead.origin)))
    assert redundant(model) == []
    again = model.connect(ph.Spherical(placed.at(0.5), model["bead 3"].origin))
    found = redundant(model)
    assert len(found) == 2
    numbers = {model.joints.index(joints[3]), model.joints.index(again)}
    assert all(set(each.joints) == numbers for each in found)


@pytest.mark.parametrize("tension_only", [False, True])
def test_the_tension_of_a_viscous_string_is_what_its_joint_carries(tension_only):
    """A load that is thrown down on one element without mass to speak of."""
    model = ph.Model(dimension=2)
    rope = ph.String(1.0, 1e-9, 1, ph.LinearLaw(1e4), viscosity=0.02, tension_only=tension_only)
    placed = model.add(rope, "rope", shape=[(0, 0, 0), (0, -1.001, 0)])
    pin = model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    load = model.add(ph.PointMass(10.0), "load", position=(0, -1.001, 0), velocity=(0, -0.2, 0))
    model.connect(ph.Spherical(placed.end, load.origin))
    motion = model.simulate(2e-3, 1e-5, progress=False)
    elastic = 1e4 * (motion.stretch(placed)[:, 0] - 1)
    tension, carried = motion.tension(placed)[:, 0], np.abs(motion.reaction(pin)[:, 1])
    assert tension[50:-50] == pytest.approx(carried[50:-50], rel=1e-3)
    assert (tension > 1.5 * elastic)[:50].all()


@pytest.mark.parametrize("elements", [10, 300])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_stiff_strings_hang_anywhere_with_many_elements(elements, offset):
    """The tension at the lowest place of a light, stiff cable is that of a catenary, and its shape goes with it."""
    string = ph.String(2.2, 0.01, elements, ph.LinearLaw(1e7))
    nodes = string.hanging((offset, 0, 0), (offset + 2, 0, 0), (0, -10.0, 0))
    height = brentq(lambda a: 2 * a * np.sinh(1 / a) - 2.2, 0.5, 5.0)  # tension over weight a length
    sag = height * (np.cosh(1 / height) - 1)
    assert -nodes[:, 1].min() == pytest.approx(sag, rel=1e-2 if elements == 10 else 1e-5)
    assert nodes[:, 0] + nodes[::-1, 0] == pytest.approx(2 * offset + 2, abs=1e-8)
