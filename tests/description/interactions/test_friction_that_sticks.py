"""Bristles: no creep below the angle of friction, closed forms, invariants, stick-slip, what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

G, MU, STIFF = 9.81, 0.5, 1e5
BALL = ph.RigidBody(1.0, (0.004, 0.004, 0.004))  # of 0.1 m and 1 kg


def box_on_a_slope(way, share, exponent):
    """A box on a plane, which touches as it may be written, or on a rail that rubs, by default."""
    slope = np.arctan(share * MU)
    model = ph.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    block = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), "block", position=(0, 0, 0.05))
    if way == "rail":
        rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0.05)), block.origin))
        model.apply(rail.friction(coefficient=MU) if exponent == 1 else rail.friction(0.9 * MU * 2.0 * G))
        return model, block
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    corners = [block.point((x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    sides = {"list of corners": (corners, floor), "body": (block, floor), "list": ([block], [floor])}
    for each in [sides[way]] if way in sides else [(corner, floor) for corner in corners]:
        model.apply(ph.Contact(*each, friction=MU, exponent=exponent))
    return model, block


@pytest.mark.parametrize(
    ("way", "exponent"),
    [
        *((way, 1.0) for way in ("corners", "list of corners", "body", "list", "rail")),
        ("corners", 1.5),
        ("rail", 1.5),
    ],
)
def test_a_block_below_the_angle_of_friction_stays_however_it_is_written(way, exponent):
    model, block = box_on_a_slope(way, 0.9, exponent)
    x = model.simulate(0.8, 5e-3, progress=False).position(block.origin)[:, 0]
    assert np.ptp(x[100:]) <= 1e-9 and x[-1] <= 2e-4  # 0.3 mm with friction that creeps
    model, block = box_on_a_slope(way, 0.7, exponent)  # none of its corners slips by the moment of its weight
    rest = model.equilibrium()
    assert rest.slipped == () and 0 < rest.position(block.origin)[0] <= 2e-4
    assert model.linearize(about=rest).modes().frequencies.min() > 100.0


@pytest.mark.thorough
def test_a_block_below_the_angle_of_friction_stays_for_a_million_steps():
    slope = np.arctan(0.95 * MU)
    model = ph.Model(gravity=(G * np.sin(slope), -G * np.cos(slope), 0), dimension=2)
    block = model.add(ph.PointMass(1.0), "block", position=(0, -G * np.cos(slope) / STIFF, 0))
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 1, 0))
    model.apply(ph.Contact(block.origin, floor, stiffness=STIFF, friction=MU, bristle=8e4))
    motion = model.simulate(1e3, 1e-3, every=1000, progress=False)
    assert len(motion.time) == 1001
    assert np.ptp(motion.position(block.origin)[1:, 0]) <= 1e-9  # 0.95 m with creep


@pytest.mark.parametrize("friction", [0.5, 2.0])
@pytest.mark.parametrize("sticks", [{"bristle": 0}, {"bristle": 8e5}])
def test_the_rod_of_painleve_jams_and_jumps_where_no_rigid_one_can_go_on(friction, sticks):
    """Where 1 + 3 cos a (cos a - mu sin a) < 0 there is no solution in which a rigid rod slides on."""
    angle, half = 0.9, 0.5
    way = half * np.array([np.cos(angle), np.sin(angle), 0])
    model = ph.Model(gravity=(0, -G, 0), dimension=2)
    rod = model.add(ph.RigidBody(1.0, half**2 / 3), "rod", position=way, velocity=(-2, 0, 0))
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    foot, _ = (
        model.apply(ph.Contact(rod.point(end), floor, 1e6, friction=friction, **sticks, restitution=1))
        for end in (-way, way)
    )
    motion = model.simulate(0.4, 1e-4, progress=False)
    jams = bool(1 + 3 * np.cos(angle) * (np.cos(angle) - friction * np.sin(angle)) < 0)
    early = motion.time < 0.02
    assert motion.is_complete and jams == (friction == 2.0)
    assert bool(motion.element_force(foot)[early].max() > 20 * G) is jams  # it slides on at some weights
    assert bool((motion.velocity(rod.point(-way))[early, 0] >= 0).any()) is jams
    assert np.diff(motion.energy.dissipated).min() >= 0


def ball_on_a_plane(slope=0.0, velocity=(1, 0, 0), spin=(0, 0, 0), **parameters):
    model = ph.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    height = 0.1 - G * np.cos(slope) / STIFF
    ball = model.add(BALL, "ball", position=(0, 0, height), velocity=velocity, angular_velocity=spin)
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
    model.apply(
        ph.Contact(ball.origin, floor, stiffness=STIFF, radius=0.1, friction=0.3, restitution=1, **parameters)
    )
    return model, ball


def test_rolling_resistance_brings_a_ball_to_rest_on_its_way():
    model, ball = ball_on_a_plane(spin=(0, 10, 0), bristle=8e4, rolling=0.02)
    motion = model.simulate(1.2, 1e-3, progress=False)
    x, v = motion.position(ball.origin)[:, 0], motion.velocity(ball.origin)[:, 0]
    assert np.diff(v[350:650]) / 1e-3 == pytest.approx(-5 / 7 * G * 0.02 / 0.1, rel=1e-9)
    # 7 v^2 r / 10 g b, with the start of its bristle
    assert x[-1] == pytest.approx(0.7 * 0.1 / (G * 0.02), rel=1e-3)
    assert np.ptp(x[-100:]) <= 1e-4 and motion.energy.dissipated[-1] == pytest.approx(0.7, rel=1e-6)


@pytest.mark.parametrize("is_searched", [False, True])
@pytest.mark.parametrize(("exponent", "share"), [(1.0, 2 / 3), (1.5, 3 * np.pi / 16)])
def test_drilling_resistance_brings_a_spinning_ball_to_rest_in_its_time(exponent, share, is_searched):
    model = ph.Model(gravity=(0, 0, -G))
    deep = (G / STIFF) ** (1 / exponent)
    ball = model.add(BALL, "ball", position=(0, 0, 0.1 - deep), angular_velocity=(0, 0, 10))
    law = {"stiffness": STIFF, "exponent": exponent, "radius": 0.1, "friction": 0.3, "drilling": 0.02}
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact([ball.origin], [floor], **law) if is_searched else ph.Contact(ball.origin, floor, **law))
    motion = model.simulate(1.2, 1e-3, progress=False)
    rate, slower = motion.angular_velocity(ball)[:, 2], share * 0.3 * G * 0.02 / 0.004
    assert np.diff(rate[100:900]) / 1e-3 == pytest.approx(-slower, rel=1e-9)
    assert motion.time[np.argmax(rate <= 0)] == pytest.approx(10 / slower, rel=2e-3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_ball_on_a_slope_below_its_rolling_resistance_stays_and_rests(dimension):
    for share in (0.95, 1.05):
        slope = np.arctan(share * 0.02 / 0.1)
        up = np.eye(3)[dimension - 1]
        model = ph.Model(gravity=G * (np.sin(slope) * np.eye(3)[0] - np.cos(slope) * up), dimension=dimension)
        body = ph.RigidBody(1.0, 0.004) if dimension == 2 else BALL
        ball = model.add(body, "ball", position=(0.1 - G * np.cos(slope) / STIFF) * up)
        floor = ph.Plane(model.ground.at((0, 0, 0)), normal=up)
        law = {"stiffness": STIFF, "friction": MU, "bristle": 8e4, "rolling": 0.02, "restitution": 1}
        model.apply(ph.Contact(ball.origin, floor, radius=0.1, **law))
        motion = model.simulate(1.0, 1e-3, progress=False)
        speed = motion.velocity(ball.origin)[:, 0]
        if share > 1:
            assert np.diff(speed[500:]) / 1e-3 == pytest.approx(
                5 / 7 * G * (np.sin(slope) - 0.2 * np.cos(slope)), rel=1e-9
            )
            continue
        assert np.ptp(motion.position(ball.origin)[800:], axis=0).max() <= 1e-7
        rest = model.equilibrium()
        far = G * np.sin(slope) * (1 / 8e4 + 0.1**2 / (8e4 * 0.4 * 0.1**2))  # both bristles, the ball turns with it
        assert rest.position(ball.origin)[0] == pytest.approx(far, rel=1e-6) and rest.slipped == ()
        again = model.simulate(0.02, 1e-3, initial=rest, progress=False)
        assert np.ptp(again.position(ball.origin), axis=0).max() <= 1e-15
        roots = by_hand(dimension)
        assert model.linearize(about=rest).modes(6).frequencies[-len(roots) :] == pytest.approx(roots, rel=1e-5)


def by_hand(dimension):
    """Roots of sliding and rolling of the ball, about both axes of the plane, and of the height."""
    k, about = 8e4, 8e4 * 0.4 * 0.1**2
    masses = np.sqrt(np.outer((1.0, 0.004), (1.0, 0.004)))
    stiffness = np.array([[k, -k * 0.1], [-k * 0.1, k * 0.1**2 + about]]) / masses
    return np.sort(np.sqrt([*np.repeat(np.linalg.eigvalsh(stiffness), dimension - 1), STIFF]))


ALL_LOSSES = {"static_friction": 0.6, "bristle_damping": 4.0, "rolling": 0.02, "drilling": 0.05}


def free_pair(surface, **parameters):
    """A ball that a spring draws to a free plate or ball that turns; ``tests/fuzz`` holds them to all laws."""
    model = ph.Model()
    plate = model.add(ph.RigidBody(3.0, (0.1, 0.1, 0.2)), "plate", angular_velocity=(0.3, -0.2, 2.0))
    height = 0.1 if surface == "plane" else 0.3
    moving = {"velocity": (0.2, 0.2, -0.3), "angular_velocity": (1, 2, 3)}
    ball = model.add(BALL, "ball", position=(0.1, 0.05, height), **moving)
    touched = ph.Plane(plate.origin) if surface == "plane" else ph.Surface(plate.origin, ph.Sphere(0.2))
    law = {"stiffness": 1e4, "radius": 0.1, "friction": 0.4, "restitution": 1}
    model.apply(ph.Contact(ball.origin, touched, **law, **parameters))
    model.apply(ph.SpringDamper(plate.origin, ball.origin, stiffness=400, length=0.02))
    return model


def test_the_friction_of_a_ball_that_sticks_turns_with_the_plate():
    """A point on a turntable: the bristle follows, so that it stays where it is in the axes of the table."""
    model = ph.Model(gravity=(0, 0, -G))
    table = model.ground.moving(
        lambda t: (0 * t, 0 * t, 0 * t), rotation=lambda t: Rotation.from_rotvec((0, 0, 2 * t))
    )
    point = model.add(ph.PointMass(1.0), "point", position=(0.5, 0, -G / 1e3), velocity=(0, 1, 0))
    plane = ph.Plane(table, normal=(0, 0, 1))
    model.apply(ph.Contact(point.origin, plane, stiffness=1e3, friction=0.4, bristle=1e3, bristle_damping=40.0))
    motion = model.simulate(1.5, 5e-3, progress=False)
    place = Rotation.from_rotvec(np.outer(-2 * motion.time, (0, 0, 1))).apply(motion.position(point.origin))
    assert np.ptp(place[200:, :2], axis=0).max() <= 1e-7
    assert place[-1, 0] - 0.5 == pytest.approx(4 * 0.5 / 1e3, rel=1e-2)  # m r omega^2 / k


def belt_under_a_point(kinetic, static, speed):
    model = ph.Model(gravity=(0, -G, 0), dimension=2)
    block = model.add(ph.PointMass(1.0), "block", position=(0, -G / STIFF, 0), velocity=(speed, 0, 0))
    belt = ph.Plane(model.ground.moving(lambda t: (speed * t, 0 * t, 0 * t)), normal=(0, 1, 0))
    law = {"stiffness": STIFF, "friction": kinetic, "static_friction": static, "bristle": 1e5, "restitution": 1}
    model.apply(ph.Contact(block.origin, belt, **law))
    return model, block


def belt_with_a_rail(kinetic, static, speed):
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(1.0, 1.0), "belt", velocity=(speed, 0, 0))
    drive = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, name="drive"))
    model.apply(drive.drive(position=lambda t: speed * t))
    block = model.add(ph.RigidBody(1.0, 1.0), "block", velocity=(speed, 0, 0))
    rail = model.connect(ph.Prismatic(cart.origin, block.origin, name="rail"))
    model.apply(rail.friction(coulomb=kinetic * G, static=static * G, bristle=1e5))
    return model, block


@pytest.mark.parametrize("held_by", ["plane", "rail"])
def test_stick_slip_on_a_belt_has_the_analytic_period(held_by):
    """Period of 0.8069 s from the break-away at the spring's 6 N and the slide back over it by 4 N."""
    kinetic, static, spring, speed = 4 / G, 6 / G, 100.0, 0.1
    model, block = (belt_under_a_point if held_by == "plane" else belt_with_a_rail)(kinetic, static, speed)
    model.apply(ph.SpringDamper(model.ground.at((-10, 0, 0)), block.origin, stiffness=spring, length=10.0))
    motion = model.simulate(3.3, 2e-4, progress=False)
    bristle = motion.recording.branches
    slips = bristle[:, 0] < 0 if held_by == "plane" else bristle[:, 1] > 0
    begins = motion.time[1:][np.diff(slips.astype(int)) > 0]
    periods = np.diff(begins)[np.diff(begins) > 0.3]
    stretch, omega = 2.0 / spring, np.sqrt(spring)
    exact = 2 * stretch / speed + 2 * (np.pi - np.arctan(stretch * omega / speed)) / omega
    assert len(periods) >= 2 and periods[1:] == pytest.approx(exact, rel=1e-3)


def pendulum(angle, **parameters):
    model, end = ph.Model(gravity=(0, -G, 0), dimension=2), 0.5 * np.array([np.sin(angle), -np.cos(angle), 0])
    body = model.add(ph.RigidBody(1.0, 0.02), "body", position=end)
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.point(-end)))
    model.apply(pin.friction(coefficient=0.3, radius=0.02, **parameters))
    return model, pin


def test_a_bearing_holds_a_pendulum():
    model, pin = pendulum(0.5 * 0.3 * 0.02 / 0.5, bristle=2e3, bristle_damping=4.0)
    motion = model.simulate(3.0, 1e-3, progress=False)
    assert np.ptp(motion.angle(pin)[2000:]) <= 1e-8  # 6e-4 rad a second with creep


def test_bristles_of_joints_are_damped_by_what_their_joint_moves():
    model = ph.Model()
    one, two = (
        model.add(ph.RigidBody(mass, (0.02, 0.03, 0.04)), position=(x, 0, 0)) for mass, x in ((1, 0.5), (3, 2))
    )
    arm = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), one.point((-0.5, 0, 0)), axis=(0, 1, 0)))
    free = model.connect(ph.Prismatic(one.origin, two.origin, axis=(1, 0, 0)))
    for joint, moved in ((arm, 0.03 + 1.0 * 0.5**2), (free, 3 / 4)):
        friction = model.apply(joint.friction(coulomb=1.0, bristle=100.0))
        assert friction.forces(3)[0].friction.bristle.damping == pytest.approx(0.2 * np.sqrt(100.0 * moved))


def test_a_run_that_begins_with_bent_bristles_goes_on_with_them():
    model = free_pair("sphere", bristle=8e3)
    whole = model.simulate(0.1, 1e-3, progress=False)
    begun = model.simulate(0.05, 1e-3, progress=False, initial=whole.recording.state(50))
    assert begun.recording.branches == pytest.approx(whole.recording.branches[50:], abs=1e-9)
    assert begun.recording.branches[:, :3].any()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"bristle": 1e3, "friction": 0.0}, "bristle needs friction; give friction=, too"),
        ({"static_friction": 0.6, "bristle": 0}, "static_friction needs a bristle; leave it"),
        ({"bristle_damping": 0.6, "bristle": 0}, "bristle_damping needs a bristle; leave it"),
        ({"bristle_damping": 0.6, "friction": 0.0}, "bristle_damping needs friction"),
        ({"friction_speed": 1e-3}, "friction_speed needs friction without bristle; give bristle=0"),
        ({"bristle": 1e3, "static_friction": 0.1}, "static_friction must be at least friction=0.5, got 0.1"),
        ({"rolling": 0.1, "friction": 0.0}, "rolling needs friction; give friction=, too"),
        ({"drilling": 0.1}, "drilling needs a sphere that can rotate; give radius=, a port of a body"),
        ({"rolling": 0.1, "radius": 0.1, "of": "point"}, "rolling needs a sphere that can rotate"),
        ({"rolling": 0.1, "radius": 0.1, "on": "capsule"}, "rolling needs a surface on a body that can rotate"),
        ({"rolling": 0.1, "radius": 0.1, "on": "point"}, "rolling needs a surface on a body that can rotate"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(parameters, words):
    model = ph.Model()
    ball = model.add(ph.PointMass(1.0) if parameters.pop("of", "ball") == "point" else BALL)
    floor, on = ph.Plane(model.ground.at((0, 0, 0))), parameters.pop("on", "plane")
    if on == "capsule":
        floor = ph.Capsule(model.ground.at((1, 0, 0)), model.ground.at((2, 0, 0)), 0.1)
    elif on == "point":
        floor = ph.Surface(model.add(ph.PointMass(1.0), position=(1, 0, 0)).origin, ph.Sphere(0.1))
    with pytest.raises(ph.ParameterError, match=words):
        ph.Contact(ball.origin, floor, **{"stiffness": 1.0, "friction": 0.5} | parameters)


def test_bristles_that_the_papers_equations_do_not_have_are_refused_by_name():
    for more, words in (
        ({"static": 0.4}, "has static friction, for which"),
        ({"bristle_damping": 0.0}, "no rate of"),
    ):
        with pytest.raises(ph.ModelError, match=words):
            ph.MechanismModel(pendulum(0.1, bristle=1e3, **more)[0])
    model = ph.Model()
    shaken = model.ground.moving(lambda t: (0.1 * np.sin(t), 0.0, 0.0))
    rail = model.connect(ph.Prismatic(shaken, model.add(ph.RigidBody(1.0, (0.01,) * 3)).origin))
    model.apply(rail.friction(1.0, bristle=1e3))
    with pytest.raises(ph.ModelError, match="bristle on a surface that moves as a function of time"):
        ph.MechanismModel(model)
