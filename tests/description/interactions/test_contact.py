"""Contact, friction and stops: closed forms, exact energy, what is refused."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import phlexible as ph
from mechanisms import grounded

G = 9.81
BALL = ph.RigidBody(1.0, (0.004, 0.004, 0.004))  # of 0.1 m


def bouncing(stiffness=1e5, drop=0.02, other="plane"):
    model = ph.Model(gravity=(0, 0, -G))
    ball = model.add(BALL, "ball", position=(0, 0, 0.1 + drop))
    ground = model.ground.at((0, 0, 0 if other == "plane" else -1.0))
    second, radius = (ph.Plane(ground), 0.1) if other == "plane" else (ground, 1.1)
    model.apply(ph.Contact(ball.origin, second, radius=radius, stiffness=stiffness, restitution=1))
    return model, ball


def apexes(motion, ball):
    """Heights and instants of the highest places: of the parabolas through three instants."""
    z, h = motion.position(ball.origin)[:, 2], motion.time[1]
    top = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) + 1
    slope, bend = (z[top + 1] - z[top - 1]) / 2, z[top + 1] - 2 * z[top] + z[top - 1]
    return z[top] - slope**2 / (2 * bend), motion.time[top] - h * slope / bend


@pytest.mark.parametrize(("other", "step"), [("plane", 1e-2), ("sphere", 2e-3)])
def test_a_thousand_bounces_keep_height_and_time(other, step):
    """With steps far longer than a contact, which lasts 11 ms and is taken in parts of its own."""
    model, ball = bouncing(other=other)
    motion = model.simulate(139.0, step, progress=False)
    height, when = apexes(motion, ball)
    assert len(height) >= 1000
    assert np.abs(height - 0.12).max() <= 1e-9 * 0.02
    omega, speed = np.sqrt(1e5), np.sqrt(2 * G * 0.02)
    contact = 2 / omega * (np.pi - np.arctan(speed * omega / G))  # x'' = G - omega^2 x from 0 back to 0
    assert when[999] == pytest.approx(1000 * (2 * speed / G + contact), abs=1e-3 * contact * 1000)
    assert motion.energy.balance_error == pytest.approx(0, abs=1e-11 * G * 0.02 * 50)
    assert not motion.energy.dissipated.any()
    parts = np.unique(np.diff(motion.contact_steps))
    assert len(parts) == 2 and parts[0] == 0 and 0.05 <= step * omega / parts[1] <= 0.1


@pytest.mark.parametrize(("order", "error"), [(2, 3e-6), (4, 3e-9), (6, 3e-9)])
def test_the_hardest_contact_of_a_composed_step_counts_its_parts(order, error):
    """A soft contact acts from the first substep on, a hard one is hit in a later one."""
    model = ph.Model(gravity=(0, 0, 0), dimension=2)
    plane = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    fall = {"velocity": (0, -1.0, 0)}
    soft = model.add(ph.PointMass(1.0), "soft", position=(0, 0, 0), **fall)
    hard = model.add(ph.PointMass(1.0), "hard", position=(1, 0.052, 0), **fall)
    for bob, omega in ((soft, 25.0), (hard, 1e3)):
        model.apply(ph.Contact(bob.origin, plane, stiffness=omega**2, restitution=1))
    motion = model.simulate(0.1, 0.02, order=order)
    rebound = motion.time[-1] - 0.052 - np.pi / 1e3
    assert motion.position(hard.origin)[-1, 1] == pytest.approx(rebound, abs=error)
    parts = np.diff(motion.contact_steps)
    assert parts[2] > 30 * parts.min() > 0


def test_parts_follow_the_mobility():
    """A pinned rod that falls on its tip: as if free it has omega^2 = k (1/m + r^2/J) = 4 k/m, h omega = 2.2."""
    model = ph.Model(dimension=2, gravity=(0, -G, 0))
    rod = model.add(ph.RigidBody(0.8, 0.8 * 0.25 / 12), "rod", position=(0.25, 0.02, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0.02, 0)), rod.point((-0.25, 0, 0))))
    tip = rod.point((0.25, 0, 0))
    model.apply(ph.Contact(tip, ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0)), stiffness=1e6, restitution=1))
    motion = model.simulate(0.2, 1e-3, progress=False)
    fine = model.simulate(0.2, 1e-5, progress=False)
    assert set(np.diff(motion.contact_steps)) == {0, 32}
    assert motion.position(tip)[:, 1] == pytest.approx(fine.position(tip)[::100, 1], abs=2e-6)
    assert np.ptp(motion.energy.total) <= 1e-13


def pressed_arm(length, mass, time):
    """An arm that a torque presses against its stop and a plane, in units of so many m, kg and s; where it ends."""
    force = mass * length / time**2
    torque, model = 2.4 * force * length, ph.Model(dimension=2)
    arm = model.add(ph.RigidBody(mass, 0.02 * mass * length**2), "arm", position=(0.25 * length, 0, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.point((-0.25 * length, 0, 0))))
    model.apply(pin.stop(lower=0.0, upper=1.0, stiffness=300 * force * length, restitution=1))
    model.apply(ph.Torque(arm.origin, lambda t: (0, 0, -torque * (1.05 if t > 0 else 1.0))))
    plane = ph.Plane(model.ground.at((0, -0.3 * 0.0079 * length, 0)), (0, 1, 0))
    model.apply(ph.Contact(arm.point((0.05 * length, 0, 0)), plane, stiffness=5e3 * force / length, restitution=1))
    motion = model.simulate(0.1 * time, 0.01 * time, initial="quasi_static", progress=False)
    return motion.position(arm.origin)[-1] / length, np.diff(motion.contact_steps).tolist()


def test_parts_around_contacts_do_not_depend_on_units():
    """The load of a stop is a moment, that of a contact on the same body a force."""
    place, parts = pressed_arm(1.0, 1.0, 1.0)
    assert min(parts) > 1 and len(set(parts)) > 1
    for units in ((1024, 1, 1), (2**-10, 1, 1), (1, 1024, 1), (1, 1, 1024), (1, 1, 2**-10)):
        other, counts = pressed_arm(*map(float, units))
        assert counts == parts, units
        assert other == pytest.approx(place, abs=1e-14)


@pytest.mark.parametrize("is_contact_group", [False, True])
def test_parts_around_hertz_contacts_follow_the_depth_that_the_speed_leads_to(is_contact_group):
    """omega^2 = N'/m at m v^2 / 2 = k x^(p + 1) / (p + 1): parts double where h omega = 1.6."""
    mass, stiffness, speed, p = 2.0, 1e7, 0.8, 1.5
    deepest = ((p + 1) * mass * speed**2 / (2 * stiffness)) ** (1 / (p + 1))
    longest = 1.6 / np.sqrt(stiffness * p * deepest ** (p - 1) / mass)
    model = ph.Model()
    ball = model.add(ph.PointMass(mass), "ball", position=(0, 0, 0.1), velocity=(0, 0, -speed))
    if is_contact_group:
        pair = [ball.origin, model.ground.at((0, 0, 0))]
        model.apply(ph.Contact(pair, radius=0.05, stiffness=stiffness, exponent=p, restitution=1))
    else:
        plane = ph.Plane(model.ground.at((0, 0, 0)))
        model.apply(ph.Contact(ball.origin, plane, stiffness=stiffness, radius=0.1, exponent=p, restitution=1))
    for share, parts in ((0.98, 16), (1.02, 32)):
        assert model.simulate(share * longest, share * longest, progress=False).contact_steps[-1] == parts


@pytest.mark.parametrize("more", [-1e-16, 0.0, 1e-16])
@pytest.mark.parametrize("kind", ["rope", "rope in a pair", "list", "two", "stop"])
def test_what_leaves_a_contact_at_the_start_needs_no_parts(kind, more):
    """Round-off says whether it is in it there: a rope of its length, a ball that lies on another, a stop."""
    model, far = ph.Model(dimension=2), 0.2 + more
    base = model.add(ph.PointMass(1.0), "base", position=(0.1, 0.2, 0))
    away = {"rope": -0.1, "rope in a pair": 0.0}.get(kind, 0.1)
    body = model.add(ph.PointMass(1.0), "body", position=(0.3, 0.2, 0), velocity=(away, 0.05, 0))
    if kind == "list":
        model.apply(ph.Contact([base.origin, body.origin], radius=far / 2, stiffness=1e8, restitution=1))
    elif kind == "two":
        model.apply(ph.Contact(base.origin, body.origin, radius=far, stiffness=1e8, restitution=1))
    elif kind == "stop":
        wheel = model.add(BALL, "wheel", angular_velocity=(0, 0, 0.1))
        pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
        model.apply(pin.stop(lower=more, stiffness=1e8, restitution=1))
    else:
        model.apply(ph.SpringDamper(base.origin, body.origin, stiffness=1e8, length=far, tension_only=True))
        if kind == "rope in a pair":
            model.connect(ph.Distance(base.origin, body.origin))
    assert model.simulate(0.1, 0.01, progress=False).contact_steps[-1] == 0


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_restitution_of_impact_damping_is_the_closed_form(alpha):
    """m v dv/dx = -k x (1 + alpha v) integrates to alpha v - log(1 + alpha v) at both ends."""
    model = ph.Model(dimension=2)
    ball = model.add(ph.PointMass(1.0), "ball", position=(0, 0.05, 0), velocity=(0.3, -2.0, 0))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0)), 1e4, damping=alpha * 1e4))
    motion = model.simulate(0.2, 1e-4, progress=False)
    exact = brentq(
        lambda v: 2 * alpha + np.log1p(-alpha * v) - np.log1p(2 * alpha) + alpha * v,
        1e-6,
        min(2.0, (1 - 1e-12) / alpha),
    )
    assert motion.velocity(ball.origin)[-1] == pytest.approx([0.3, exact, 0], rel=1e-3)
    assert motion.energy.dissipated[-1] == pytest.approx(0.5 * (4 - exact**2), rel=1e-3)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5, 0.95, 1.0])
def test_restitution_is_what_was_asked_for_at_any_speed(exponent, restitution):
    for speed in (0.1, 10.0):
        model = ph.Model(dimension=2)
        ball = model.add(ph.PointMass(1.0), "ball", position=(0, 0.0134 * speed, 0), velocity=(0.3, -speed, 0))
        floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
        model.apply(ph.Contact(ball.origin, floor, 1e5, exponent=exponent, restitution=restitution))
        motion = model.simulate(0.1, 1e-3, progress=False)
        found = motion.velocity(ball.origin)[-1] / (1, speed, 1)
        assert found == pytest.approx([0.3, max(restitution, 0.01), 0], abs=4e-4)


def falls_on(what, **law):
    """A ball or an arm that falls on something with the losses of ``law``, and a port of it."""
    model = ph.Model(gravity=(0, 0, -G))
    ground = model.ground.at((0, 0, 0))
    if what == "stop":
        arm = model.add(ph.RigidBody(1.0, (0.1,) * 3, center=(0.5, 0, 0)))
        pin = model.connect(ph.Revolute(ground, arm.origin, axis=(0, -1, 0)))
        model.apply(pin.stop(lower=-0.1, upper=0.1, **law))
        return model, arm.origin
    body = ph.RigidBody.sphere(0.1, 500.0)
    ball = model.add(body, "ball", position=(0.3, 0.1, 0.4))
    if what == "ball":
        rail = {"axis": (0, 0, 1)}
        low = model.add(body, "low", position=(0.3, 0.1, 0.1))
        for each in (ball, low):
            model.connect(ph.Prismatic(model.ground.at(each.origin.initial_position()), each.origin, **rail))
        model.apply(ph.Contact([ball, low, ph.Plane(ground)], **law))
    else:
        box = ph.Box((1, 1, 1)).centred()
        mesh = ph.Surface(model.ground.at((0, 0, -0.5)), ph.TriangleMesh(box.vertices, box.triangles))
        model.apply(ph.Contact(ball, ph.Plane(ground) if what == "plane" else mesh, **law))
    return model, ball.origin


@pytest.mark.parametrize("what", ["plane", "ball", "mesh", "stop"])
def test_what_touches_comes_to_rest_unless_it_is_lossless(what):
    """From 0.3 m with a restitution of 0.3: after 2 (1 + 0.6 + ...) times of the fall, 0.5 s."""
    model, port = falls_on(what)
    motion = model.simulate(1.5, 2e-3, progress=False)
    assert np.abs(motion.velocity(port)[-1]).max() + np.abs(motion.angular_velocity(port.placed)[-1]).max() <= 1e-9
    assert motion.energy.dissipated[-1] > 0.1
    begin = model.equilibrium(state=motion.recording.state(len(motion.time) - 1))
    rest = model.simulate(0.1, 2e-3, initial=begin.state, progress=False)
    assert np.ptp(rest.position(port.placed.point((0.1, 0.0, 0.0))), axis=0) == pytest.approx(0, abs=1e-12)
    lossless, undamped = (
        falls_on(what, **law)[0].simulate(0.5, 2e-3, progress=False) for law in ({"restitution": 1}, {"damping": 0})
    )
    assert np.ptp(lossless.energy.total) <= 1e-12 and not lossless.energy.dissipated.any()
    assert np.array_equal(lossless.recording.position, undamped.recording.position)


@pytest.mark.parametrize(("share", "slides"), [(0.95, False), (1.05, True)])
def test_a_block_on_an_incline_sticks_or_slides_at_the_angle_of_friction(share, slides):
    mu, weight = 0.4, 4 * G
    slope = share * np.arctan(mu)
    model = ph.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    depth = weight * np.cos(slope) / 4e5
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 1000.0), "box", position=(0, 0, 0.05 - depth))
    plane = ph.Plane(model.ground.at((0, 0, 0)))
    for x, y in ((-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)):
        law = {"stiffness": 1e5, "damping": 1e6, "bristle": None if slides else 0}
        model.apply(ph.Contact(box.point((x, y, -0.05)), plane, friction=mu, **law))
    motion = model.simulate(0.5, 5e-4, progress=False)
    speed = motion.velocity(box.origin)[:, 0]
    if slides:
        expected = G * (np.sin(slope) - mu * np.cos(slope))
        assert np.diff(speed)[-50:] / 5e-4 == pytest.approx(expected, rel=1e-6)
    else:  # without a bristle it creeps at the share of the friction speed that carries it
        assert speed[-1] == pytest.approx(1e-3 * np.tan(slope) / mu, rel=1e-3)
    assert motion.energy.dissipated[-1] > 0


def test_sliding_friction_has_its_direction_and_takes_the_energy():
    """A point that slides askew on a plane that a body carries: distance v^2 / 2 mu g along its velocity."""
    model, table, _ = grounded(ph.RigidBody(50.0, (9.0, 9.0, 9.0)), gravity=(0, 0, -G), name="table")
    stone = model.add(ph.PointMass(2.0), "stone", position=(0, 0, -2 * G / 1e5), velocity=(0.6, 0.8, 0))
    model.apply(ph.Contact(stone.origin, ph.Plane(table.origin), stiffness=1e5, friction=0.5))
    motion = model.simulate(0.6, 1e-3, progress=False)
    assert motion.position(stone.origin)[-1, :2] == pytest.approx(np.array([0.6, 0.8]) / (2 * 0.5 * G), rel=2e-3)
    assert motion.energy.dissipated[-1] == pytest.approx(1.0, rel=1e-6)
    assert np.abs(motion.energy.balance_error).max() <= 1e-12
    middle = motion.reaction(model.joints[0])[100]  # the force on the table: its weight, the stone's, friction
    assert middle == pytest.approx([-0.6 * G, -0.8 * G, 52 * G], rel=1e-6)


def test_a_slider_between_stops():
    """To and fro without loss, half a period of the stop's spring at each end."""
    model, _, rail = grounded(ph.RigidBody(2.0, (1, 1, 1)), ph.Prismatic, velocity=(3.0, 0, 0))
    model.apply(rail.stop(lower=-0.2, upper=0.3, stiffness=2e4, restitution=1))
    motion = model.simulate(40.0, 5e-4, progress=False)
    x = motion.translation(rail)
    crossings = motion.time[1:][(x[:-1] < 0) & (x[1:] >= 0)]
    period = 2 * 0.5 / 3 + 2 * np.pi / np.sqrt(1e4)
    assert np.diff(crossings).mean() == pytest.approx(period, rel=2e-4)
    assert (x.min(), x.max()) == pytest.approx((-0.23, 0.33), rel=1e-3)
    assert np.ptp(motion.energy.total) <= 1e-11


@pytest.mark.parametrize("kind", ["rail", "hinge"])
def test_a_stop_gives_back_its_restitution(kind):
    """Of a rate of metres and of radians; what it takes is in the ledger."""
    model = ph.Model()
    placed = model.ground.at((0, 0, 0))
    if kind == "rail":
        block = model.add(ph.RigidBody(2.0, (1, 1, 1)), velocity=(3.0, 0, 0))
        joint = model.connect(ph.Prismatic(placed, block.origin))
    else:
        block = model.add(ph.RigidBody(2.0, (1, 1, 1)), angular_velocity=(0, 0, 3.0))
        joint = model.connect(ph.Revolute(placed, block.origin))
    model.apply(joint.stop(upper=0.3, stiffness=2e4, restitution=0.6))
    motion = model.simulate(0.2, 1e-3, progress=False)
    assert motion.recording.velocity[-1].sum() == pytest.approx(-0.6 * 3.0, abs=4e-4 * 3.0)
    assert motion.energy.dissipated[-1] == pytest.approx(0.64 * motion.energy.kinetic[0], rel=1e-3)


@pytest.mark.parametrize("is_searched", [False, True])
def test_longer_parts_are_fewer_and_keep_the_energy(is_searched):
    """The rebound is late by what is written, 0.25 / omega at step omega = 1, and no later."""
    ends, stiffness = [], 1e6
    for longest in (0.1, 1.0):
        model = ph.Model(dimension=2)
        ball = model.add(ph.PointMass(1.0), "ball", position=(0, 0.0134, 0), velocity=(0, -1.0, 0))
        floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
        sides = ([ball.origin], floor) if is_searched else (ball.origin, floor)
        model.apply(ph.Contact(*sides, stiffness=stiffness, longest_part=longest, restitution=1))
        motion = model.simulate(0.05, 1e-3, progress=False)
        assert np.abs(motion.energy.balance_error).max() <= 1e-14
        ends.append((motion.position(ball.origin)[-1, 1], motion.contact_steps[-1]))
    late = (ends[0][0] - ends[1][0]) * np.sqrt(stiffness)
    assert 0.05 <= late <= 0.3 and 8 * max(ends[1][1], 1) <= ends[0][1]


def test_contacts_are_copied_stored_and_warned_of(tmp_path):
    model, ball = bouncing(stiffness=1e12, drop=-1e-7)
    with pytest.warns(ph.StepWarning, match=r"1/omega of Contact"):
        model.simulate(0.1, 1e-2, progress=False)
    model, ball = bouncing()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = model.replace().simulate(0.3, 1e-2, progress=False)
    assert motion.contact_steps[-1] > 0
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert loaded.run.mechanism.elements[0].second.normal == pytest.approx([0, 0, 1])
    assert loaded.run.mechanism.elements[0].radius == 0.1
    with pytest.raises(ph.ModelError, match="lossless"):
        model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, -1))), stiffness=1.0, damping=1.0))
        model.simulate(0.1, 1e-3, order=4)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda g, ball, pin: ph.Contact(ball, g, 1.0), ph.ParameterError, "are points without a size"),
        (lambda g, ball, pin: ph.Contact(ball, ph.Plane(g), exponent=2.0), ph.ParameterError, "must be 1.0 or 1.5"),
        (lambda g, ball, pin: ph.Contact(ball, ph.Plane(g, (0, 0, -1)), 1.0, 0.2), ph.ModelError, "starts 0.32 m"),
        (lambda g, ball, pin: pin.stop(lower=0.5, stiffness=1.0), ph.ModelError, "beyond the stop at 0.5"),
        (lambda g, ball, pin: pin.stop(lower=0.5, upper=0.1), ph.ParameterError, "lower must be less than upper"),
        (lambda g, ball, pin: pin.stop(stiffness=1.0), ph.ParameterError, "give lower= or upper="),
        (lambda g, ball, pin: pin.friction(), ph.ParameterError, "neither coulomb nor viscous"),
        (
            lambda g, ball, pin: pin.stop(upper=1.0, restitution=0.6, damping=1.0),
            ph.ParameterError,
            "place of damping",
        ),
        (lambda g, ball, pin: ph.Contact(ball, ph.Plane(g), restitution=1.1), ph.ParameterError, "between 0 and 1"),
        (
            lambda g, ball, pin: ph.Contact(ball, ph.Plane(g), restitution=0.5, damping=1.0),
            ph.ParameterError,
            "restitution takes the place of damping.*one of",
        ),
    ],
)
def test_what_is_no_contact_is_refused_by_name(make, error, words):
    model, ball = bouncing()
    ground = model.ground.at((0, 0, 0))
    pin = model.connect(ph.Revolute(ground, model.add(BALL, "wheel").origin))
    with pytest.raises(error, match=words):
        model.apply(make(ground, ball.origin, pin))


def test_what_remembers_how_fast_bodies_met_is_no_mechanism_model():
    model = ph.Model(gravity=(0, 0, -G))
    ball = model.add(BALL, "ball", position=(0, 0, 0.2))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0))), 1e5, 0.1, restitution=0.5))
    with pytest.raises(ph.ModelError, match="depends on the speed of an impact"):
        ph.MechanismModel(model)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_what_has_no_stiffness_goes_a_thousandth_of_its_size_deep(exponent):
    model = ph.Model(gravity=(0, 0, -G))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    ball = model.add(BALL, "ball", position=(0, 0, 0.1))
    point = model.add(ph.PointMass(2.0), "point", position=(1, 0, 0))
    box = model.add(ph.RigidBody.box((0.2, 0.3, 0.1), 500.0), "box", position=(2, 0, 0.05))
    touch = model.apply(ph.Contact(ball.origin, floor, radius=0.1, exponent=exponent))
    model.apply(ph.Contact(point.origin, floor, exponent=exponent))
    for x, y in ((-0.1, -0.15), (-0.1, 0.15), (0.1, -0.15), (0.1, 0.15)):
        model.apply(ph.Contact(box.point((x, y, -0.05)), floor, exponent=exponent))
    rest = model.equilibrium()
    assert rest.position(ball.origin)[2] == pytest.approx(0.1 - 1e-4, rel=1e-12)
    assert rest.position(point.origin)[2] == pytest.approx(-1e-4, rel=1e-9)
    four = 4 ** (-1 / exponent)  # corners that stand on a quarter of the weight each
    assert rest.position(box.origin)[2] == pytest.approx(0.05 - box.data.size * 1e-3 * four, rel=1e-9)
    assert repr(touch) == f"Contact(ball.origin, ground.at(0, 0, 0); stiffness {G / 1e-4**exponent:.3g}, guessed)"
    other = model.add(BALL, "other", position=(0, 0, 0.3))
    pair = ph.Contact(ball.origin, other.origin, radius=0.2, exponent=exponent)
    assert pair.stiffness == pytest.approx(0.5 * G / 2e-4**exponent)
    rope = model.add(
        ph.String(1.0, 0.1, 4, ph.LinearLaw(axial_stiffness=1e4)), "rope", shape=[(4, 0, 1), (5, 0, 1)]
    )
    assert ph.Contact(rope, floor).stiffness == pytest.approx(0.1 / 5 * G / 1e-3)


def test_balls_of_a_material_touch_for_as_long_and_push_as_hard_as_hertz_says():
    """T = 2.868 (m^2 / (R E*^2 v))^(1/5), F = 1.284 (m v^2 ...)^(3/5): Johnson, Contact mechanics, 11.4."""
    steel, glass, radius, speed = ph.Material(210e9, 7850.0, 0.3), ph.Material(70e9, 2500.0, 0.2), 0.01, 0.5
    bodies = [ph.RigidBody.sphere(r, each.density) for r, each in ((radius, steel), (2 * radius, glass))]
    model = ph.Model()
    balls = [
        model.add(body, position=(x, 0, 0), velocity=(v, 0, 0))
        for body, x, v in zip(bodies, (-1e-6, 3 * radius), (speed, 0), strict=True)
    ]
    stiffness = ph.hertz_stiffness(radius, steel, 2 * radius, glass)
    touch = model.apply(
        ph.Contact(*(ball.origin for ball in balls), stiffness, 3 * radius, exponent=1.5, restitution=1)
    )
    motion = model.simulate(1.5e-4, 2e-7, progress=False)
    mass = 1 / sum(1 / body.mass for body in bodies)
    effective, round_ = 1 / (0.91 / 210e9 + 0.96 / 70e9), 1 / (1 / radius + 0.5 / radius)
    lasts = 2.868 * (mass**2 / (round_ * effective**2 * speed)) ** 0.2
    force = motion.element_force(touch)
    away, faster = (
        np.subtract(*(each(ball.origin)[-1, 0] for ball in balls[::-1]))
        for each in (motion.position, motion.velocity)
    )
    assert motion.time[-1] - (away - 3 * radius) / faster - 1e-6 / speed == pytest.approx(lasts, rel=1e-3)
    deepest = (15 * mass * speed**2 / (16 * np.sqrt(round_) * effective)) ** 0.4
    assert force.max() == pytest.approx(4 / 3 * effective * np.sqrt(round_) * deepest**1.5, rel=1e-3)
    assert ph.hertz_stiffness(0.1, steel, -0.2) == pytest.approx(4 / 3 * 210e9 / 0.91 * 0.2**0.5)
    for wrong, words in (
        ({"radius": -1.0}, "radius"),
        ({"other_radius": -0.05}, "hollow"),
        ({"material": 1}, "Mat"),
    ):
        with pytest.raises(ph.ParameterError, match=words):
            ph.hertz_stiffness(**{"radius": 0.1, "material": steel} | wrong)


@pytest.mark.parametrize("dimension", [2, 3])
def test_dry_friction_in_a_joint_stops_a_wheel(dimension):
    """J w^2 / 2 = torque angle; without viscous friction the rate falls evenly."""
    body = ph.RigidBody(1.0, 0.5 if dimension == 2 else (0.5, 0.5, 0.5))
    model, _, pin = grounded(body, ph.Revolute, dimension=dimension, angular_velocity=(0, 0, 8.0))
    model.apply(pin.friction(coulomb=2.0))
    motion = model.simulate(5.0, 1e-3, progress=False)
    assert motion.angle(pin)[-1] == pytest.approx(0.5 * 8**2 / 2 / 2.0, rel=1e-3)
    assert motion.rate(pin)[1000] == pytest.approx(4.0, rel=1e-4)
    assert abs(motion.rate(pin)[-1]) < 1e-12
    assert motion.energy.dissipated[-1] == pytest.approx(16.0, rel=1e-12)
