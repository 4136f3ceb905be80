"""Gradients through controllers, laws of the state, contact, events, and random mechanisms: against whole runs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import phlexible as ph
from derivatives.whole_runs import by_differences
from laws.cases import BODY_CASES, LAW_CASES
from laws.elements import ELEMENT_CASES, with_elements
from laws.models import Wishes, random_mechanism
from phlexible.derivatives.runs import differentiable, simulate_logged
from phlexible.derivatives.sweeps import adjoints
from phlexible.derivatives.variations import Variation, strains_of, variation_between
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from phlexible.step.integration.schemes import StepOptions

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CONTROL = {"gain": 5.0, "height": 0.005}


def check(build, cost, parameters, duration, step, share=1e-4, **options):
    _, slopes = ph.gradient(build, cost, parameters, duration=duration, step=step, **options)
    expected = by_differences(build, cost, parameters, duration, step, share, **options)
    sizes = np.array(list(parameters.values()))
    found = np.array(list(slopes.values())) * sizes  # what a change of one per cent does, of all of them
    assert found == pytest.approx(expected * sizes, rel=1e-6, abs=1e-6 * np.abs(expected * sizes).max())


def check_forwards(build, parameters, sensor, duration, step, rel=1e-6, share=0.0):
    """The sensitivity of the last reading is its gradient backwards."""
    found = build(parameters).simulate(duration, step).sensitivity(build, parameters, sensor).derivatives[0]
    _, back = ph.gradient(
        build, lambda model: ph.Cost.final(sensor(model)), parameters, duration=duration, step=step
    )
    for name, slope in back.items():
        assert found[name][-1] == pytest.approx(slope, rel=rel, abs=share * abs(back["mass"]) if share else None)


def arm(p):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    section = ph.RectangularSection(0.02, p.get("height", 0.005))
    placed = model.add(ph.Beam(1.0, section, ph.Material(7e10, 2700.0), elements=2, frame="cantilever"), "beam")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start, name="joint"))
    return model


def cart(p):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    body = model.add(ph.RigidBody(1.0, 0.1), "cart")
    model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), body.origin, name="joint"))
    section = ph.RectangularSection(0.02, p.get("height", 0.005))
    beam = ph.Beam(0.5, section, ph.Material(7e10, 2700.0), elements=2, frame="cantilever")
    placed = model.add(beam, "beam", rotation=1.4)
    model.connect(ph.Revolute(body.origin, placed.start, name="hinge"))
    return model


def tip(model):
    place, rate = ph.Position(model["beam"].end), ph.JointRate(model.joint("joint"))
    return ph.Cost.integral(place, lambda x: (x[:, 1] - 0.2) ** 2 + x[:, 0]) + ph.Cost.final(rate, lambda v: v**2)


def motor(model, p):
    model.apply(model.joint("joint").motor(lambda t, y: p["gain"] * np.sin(0.3 - y[0]) - 0.1 * p["gain"] * y[1]))


def sampled(model, p):
    joint, end = model.joint("joint"), model["beam"].end

    def law(t, y):
        return [p["gain"] * y[0] - 0.3 * y[1], 0.1 * y[2] ** 2, 0.05 * p["gain"] * y[1], 0.0]

    measured = [ph.JointPosition(joint), ph.JointRate(joint), ph.Displacement(end, (0, 1, 0))]
    late = {"period": 6e-3, "delay": 6e-3, "target": lambda t: [0.3, 3 * t, 0]}
    model.apply(ph.Feedback(law, measured=measured, on=[joint, end], **late))


def linear(model, p):
    control = pytest.importorskip("control")
    law = control.StateSpace([[-5.0, 1.0], [0, -20.0]], [[0, 0], [p["gain"], 1.0]], [[30.0, 2.0]], [[2.0, 0.5]])
    joint = model.joint("joint")
    model.apply(ph.Feedback(law, measured=[joint], on=[joint], target=lambda t: np.array([0.3 * np.sin(5 * t), 0])))


def law_of_state(model, p):
    joint, end = model.joint("joint"), model["beam"].end
    model.apply(ph.StateForce(lambda t, x, v: -p["gain"] * np.sin(x - 0.3) - v**3, of=[joint], on=[joint]))
    drag = lambda t, x, v: -0.1 * p["gain"] * v * np.linalg.norm(v + [0, 0, 0.1])  # noqa: E731
    model.apply(ph.StateForce(drag, of=[end], on=[end]))
    model.apply(joint.motor(lambda t, y: -0.1 * y[1]))


def friction(model, p):
    joint = model.joint("joint")
    radius = None if len(model.bodies) > 1 else 0.02
    model.apply(joint.friction(0.02 * p["gain"], coefficient=0.1, radius=radius, bristle=0))


def stop(model, p):
    model.apply(model.joint("joint").stop(lower=-0.002, upper=0.002, stiffness=50.0 * p["gain"], damping=10.0))


USUAL = {(arm, motor), (cart, linear), (arm, friction), (cart, stop)}


@pytest.mark.parametrize(
    ("mechanism", "part"),
    [
        pytest.param(*pair, marks=() if pair in USUAL else pytest.mark.thorough)
        for pair in product((arm, cart), (motor, sampled, linear, law_of_state, friction, stop))
    ],
)
def test_what_acts_in_joints(mechanism, part):
    def build(p):
        model = mechanism(p)
        part(model, p)
        return model

    check(build, tip, CONTROL, 0.1, 2e-3, share=5e-4)  # friction on the cart leaves round-off in differences


def pushed(p):
    model, push = arm(p), lambda t: (0 * t, p["gain"] * (t > 0.0333), 0 * t)
    model.apply(ph.Force(model["beam"].end, push, breakpoints=[0.0333]))
    return model


@pytest.mark.parametrize("options", [{"order": 4}, {"order": 6}, {"tolerance": 1e-6}, {}], ids=str)
def test_other_steps(options):
    share = 5e-5 if "tolerance" in options else 1e-4  # more steps are taken elsewhere where parameters change much
    check(pushed, tip, CONTROL, 0.0509, 2e-3, share, **options)


def shoved(p):
    """A block that sticks to a slope and slides on it, by turns; it begins bent."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    block = model.add(ph.RigidBody(p["mass"], 0.01), "block", position=(0, 0.0004, 0))
    slope = ph.Plane(model.ground.at((0, 0, 0)), (-0.2, 1, 0))
    law = {"stiffness": 1e5, "damping": 1e3, "friction": p["friction"], "bristle": p["bristle"]}
    for x in (-0.1, 0.1):
        model.apply(ph.Contact(block.point((x, 0.2 * x, 0)), slope, **law))
    push = p["push"]
    model.apply(ph.Force(block.origin, lambda t: (push * np.sin(60 * t), 0 * t, 0 * t)))
    return model


def held_wheel(p):
    """A wheel off its middle, in a bearing that sticks by its own force."""
    model = ph.Model(gravity=(0, -9.81, 0))
    wheel = model.add(ph.RigidBody(p["mass"], np.diag([0.1, 0.1, 0.02])), "block")
    pin = model.connect(ph.Revolute(model.ground.at((-0.1, 0, 0)), wheel.point((-0.1, 0, 0)), name="pin"))
    model.apply(pin.friction(0.1, coefficient=p["friction"], radius=0.1, bristle=p["bristle"], static=1.5))
    model.apply(pin.torque(lambda t: p["push"] * np.sin(40 * t)))
    return model


def speed(model):
    return ph.Velocity(model["block"].origin, (1, 0, 0))


def way(model):
    place = ph.Position(model["block"].origin)
    return ph.Cost.integral(place, lambda x: x[:, 0] - 2 * x[:, 1]) + 1e-3 * ph.Cost.final(speed(model))


STICKING = {"mass": 1.0, "friction": 0.5, "bristle": 2e4, "push": 6.0}


def bouncing(p):
    """A ball that bounces, spins and slides, with an axis of its own."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    moving = {"velocity": (0.5, -1.0, 0), "angular_velocity": (0, 0, 3)}
    ball = model.add(ph.RigidBody(p["mass"], 0.004), "block", position=(0, 0.12, 0), **moving)
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    model.apply(ph.Contact(ball.origin, floor, radius=0.1, stiffness=p["bristle"], restitution=p["friction"]))
    model.apply(ph.Force(ball.origin, (0, -p["push"], 0)))
    return model


def crowd(p):
    """Discs on a floor, found by a search: pairs come and go, and with them the rows of their bristles."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    law = {"stiffness": p["bristle"], "damping": 1e2, "friction": p["friction"], "bristle": 0.5 * p["bristle"]}
    discs = []
    for k, name in enumerate(("block", "other")):
        moving = {"velocity": (1.5 - 1.4 * k, 0, 0), "angular_velocity": (0, 0, 3.0 - 3 * k)}
        body, place = ph.RigidBody((1 + 0.1 * k) * p["mass"], 0.004), (0.21 * k, 0.0999 + 0.002 * k, 0)
        discs.append(model.add(body, name, position=place, **moving))
    model.apply(ph.Contact([*(disc.origin for disc in discs), floor], radius=0.1, **law))
    model.apply(ph.Force(discs[1].origin, (-p["push"], 0, 0)))
    return model


def resting(p):
    """A block that sticks with one foot alone and with one that is found by a search."""
    model = ph.Model(gravity=(0.25 * p["push"], -9.81, 0), dimension=2)
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    law = {"radius": 0.1, "stiffness": 1e4, "damping": 1e2, "friction": 0.6, "bristle": 1e4}
    block = model.add(ph.RigidBody(1.0, 0.01), "block", position=(0, 0.0999, 0))
    model.apply(ph.Contact(block.point((-0.1, 0, 0)), floor, **law))
    model.apply(ph.Contact([block.point((0.1, 0, 0)), floor], **law))
    model.apply(ph.Force(block.origin, lambda t: (3 * np.sin(20 * t), 0 * t, 0 * t)))
    return model


@pytest.mark.parametrize(("build", "steps"), [(shoved, 100), (held_wheel, 100), (bouncing, 100), (crowd, 20)])
def test_what_sticks(build, steps):
    duration, step = 0.1 if steps == 100 else 2e-3 * steps, 1e-3 if steps == 100 else 2e-3
    check(build, way, STICKING, duration, step, share=1e-6)
    check_forwards(build, STICKING, speed, duration, step, share=1e-9)


@pytest.mark.parametrize(
    ("has_stop", "duration"), [(True, 0.6), pytest.param(False, 1.5, marks=pytest.mark.thorough)]
)
def test_joints_that_turn_back_after_a_slip(has_stop, duration):
    """Their bristles then stand exactly at the limit, where forces kink with its level."""

    def build(p):
        model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "arm")
        pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
        if has_stop:
            model.apply(pin.stop(lower=-0.5, stiffness=1e4, restitution=1))
        model.apply(pin.friction(coulomb=p["level"], bristle=1e3))
        return model

    def squares(model):
        return ph.Cost.integral(ph.JointPosition(model.joints[0]), lambda y: y**2)

    check(build, squares, {"level": 0.5}, duration, 1e-3, share=1e-6)


def test_a_ball_that_stops_slipping_just_in_a_step():
    """The step begins 1e-7 m beside the limit of its bristle, nearer than differences of the radius reach."""

    def build(p):
        model = ph.Model(gravity=(0, 0, -9.81))
        mass = 2.0943951
        ball = model.add(ph.RigidBody(mass, (4e-3 * mass,) * 3), "ball", position=(0, 0, 0.3), velocity=(1.0, 0, 0))
        floor = ph.Plane(model.ground.at((0, 0, 0)))
        model.apply(ph.Contact(ball.origin, floor, stiffness=1e4, friction=0.2, radius=p["radius"]))
        return model

    def speed(model):
        return ph.Cost.final(ph.Velocity(model["ball"].origin, (1, 0, 0)))

    check(build, speed, {"radius": 0.1}, 0.2225, 5e-4, share=1e-6)


@pytest.mark.parametrize(
    ("shape", "parameters", "duration"),
    [
        pytest.param(lambda p: ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), {"slope": 0.03}, 0.2, id="box"),
        pytest.param(
            lambda p: ph.RigidBody.cylinder(p["radius"], 0.1, density=500.0, axis=(0, 1, 0)),
            {"radius": 0.1},
            0.17,
            id="cylinder",
        ),
    ],
)
def test_bodies_that_fall_and_slip_on_a_plane(shape, parameters, duration):
    """Friction limits pass bristles, and contacts begin and end, nearer than differences reach, in many steps."""

    def build(p):
        model = ph.Model(gravity=(0, 0, -9.81))
        height, speed = (0.06, 0.5) if "slope" in p else (0.11, 1.0)
        body = model.add(shape(p), "body", position=(0, 0, height), velocity=(speed, 0, 0))
        plane = ph.Plane(model.ground.at((0, 0, 0)), normal=(p.get("slope", 0.0), 0, 1))
        model.apply(ph.Contact(body, plane, friction=0.3, stiffness=1e5))
        return model

    def way(model):
        return ph.Cost.final(ph.Position(model["body"].origin), lambda x: x[:, 0])

    check(build, way, parameters, duration, 1e-3, share=1e-6)


def test_a_joint_that_slips_longer_and_longer_towards_its_limit():
    """Its bristle comes nearer to the limit step by step, until it is beside it by round-off; then it sticks."""

    def build(p):
        model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "arm")
        pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
        model.apply(pin.stop(lower=-0.5, stiffness=1e4))
        model.apply(pin.friction(coulomb=p["level"], bristle=1e3))
        return model

    def squares(model):
        return ph.Cost.integral(ph.JointPosition(model.joints[0]), lambda y: y**2)

    check(build, squares, {"level": 0.5}, 0.6, 1e-3, share=1e-5)


def test_damped_ropes_that_slide_steadily_over_guides():
    """Their dampers stay near a kink, where the tension turns around, at many instants."""

    def build(p):
        model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        light = model.add(ph.PointMass(p["mass"]), "light", position=(0, -1, 0))
        heavy = model.add(ph.PointMass(3.0), "heavy", position=(1, -1, 0))
        guides = [light.origin, model.ground.at((0, 0, 0)), model.ground.at((1, 0, 0)), heavy.origin]
        model.apply(ph.Tendon(guides, p["stiffness"], damping=p["damping"], friction=0.3))
        return model

    def depth(model):
        return ph.Cost.final(ph.Position(model["heavy"].origin), lambda x: x[:, 1])

    check(build, depth, {"mass": 1.0, "stiffness": 1e5, "damping": 500.0}, 0.1, 1e-3, share=1e-5)


def test_directions_of_contacts_among_many_in_very_short_steps():
    """They follow the pose at the start of a step, which no velocity at its end feels."""

    def build(p):
        model = ph.Model(dimension=2)
        places = {"one": 0.0, "two": 0.19}
        balls = [model.add(ph.RigidBody(1.0, 0.004), name, (x, p * x, 0)) for name, x in places.items()]
        model.apply(ph.Contact([ball.origin for ball in balls], radius=0.1, stiffness=1e4, restitution=1))
        return model

    def sideways(model):
        return ph.Cost.final(ph.Velocity(model["two"].origin, (0, 1, 0)))

    _, slope = ph.gradient(build, sideways, 0.1, duration=5e-6, step=1e-6)
    pushed = 1e4 * (0.2 / np.sqrt(1.01) ** 3 - 0.19) * 5e-6  # of k (2 r - d) sin(a), p = tan(a)
    assert slope == pytest.approx(pushed, rel=1e-5)


def test_a_start_on_bent_bristles():
    check(resting, way, {"push": 6.0}, 0.02, 2e-3, initial=lambda model: model.simulate(0.02, 2e-3).at(0.02))


def test_what_a_pair_remembers_stays_its_own():
    """Rows of pairs among many, put where another state has these pairs."""
    model = crowd(STICKING)
    assembly, state = differentiable(system_of(model)), model.simulate(0.01, 2e-3).at(0.0)
    own, other = (np.zeros_like(state.branches) for _ in range(2))
    own[:8] = 5, 0.1, 0.2, 0, 7, 0.3, 0, 0
    other[:12] = -3, 9, 9, 9, 5, 9, 9, 9, 8, 9, 9, 9
    found = strains_of(assembly, replace(state, branches=own), replace(state, branches=other))
    assert found[:9].tolist() == [0, 0, 0, 0.1, 0.2, 0, 0, 0, 0] and not found[9:].any()


def wheel(p):
    """It leans and turns while it rolls."""
    model = ph.Model(gravity=(0.5, 0.3, -9.81))
    turning = {"velocity": (0.3, -0.02, 0), "angular_velocity": (0.2, 3.0, 0.4)}
    disc = model.add(ph.RigidBody(p["mass"], (0.01, 0.02, 0.011)), "block", position=(0, 0, 0.1), **turning)
    model.connect(ph.Rolling(disc.origin, ph.Plane(model.ground.at((0, 0, 0))), 0.1, axis=(0, 1, 0)))
    model.apply(ph.Force(disc.point((0, 0, 0.05)), (p["push"], 0, 0)))
    return model


def wheel_on_a_beam(p):
    """An elastic arm holds a wheel on a table that turns: directions of the arm's end are no unknowns."""
    model = ph.Model(gravity=(0.5, 0.3, -9.81))
    table = model.add(ph.RigidBody(3.0, np.diag([0.3, 0.2, 0.4])), "table", angular_velocity=(0.1, 0.2, 1.0))
    model.connect(ph.Spherical(model.ground.at((0, 0, -0.2)), table.point((0, 0, -0.2))))
    body = ph.Beam(0.3, ph.RectangularSection(0.01, 0.01), ph.Material(7e8, 2700.0), elements=1, frame="cantilever")
    arm = model.add(body, "beam", position=(0.05, 0.02, 0.1), rotation=[[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    wheel = model.add(ph.RigidBody(p["mass"], np.diag([0.004] * 3)), "block", position=(0.29, 0.2, 0.1))
    model.connect(ph.Fixed(arm.end, wheel.origin))
    model.connect(ph.Rolling(arm.end, ph.Plane(table.origin), 0.1, axis=(0.8, 0.6, 0)))
    model.apply(ph.Force(arm.start, lambda t: (np.sin(9 * t), 0 * t, 0.3 * p["push"] * np.cos(3 * t))))
    return model


@pytest.mark.parametrize("build", [wheel, wheel_on_a_beam])
def test_rolling_without_slip(build):
    """Rows of both ends of a step; readings over time go the other way."""
    parameters = {"mass": 1.3, "push": 6.0}
    check(build, way, parameters, 0.06, 3e-3)
    check_forwards(build, parameters, speed, 0.06, 3e-3, rel=1e-8)


def thin(p, length, mass, part):
    """A thin beam in space that bends and turns about its line, with lengths and masses in other units."""
    force, pressure = mass * length, mass / length
    model = ph.Model(gravity=(0, 0, -9.81 * length))
    relaxation = ph.Maxwell([(0.3 * p["modulus"] * 2e9 * pressure, 0.02)]) if part == "creep" else None
    material = ph.Material(2e9 * pressure * p["modulus"], 1e3 * mass / length**3, relaxation=relaxation)
    section = ph.RectangularSection(8e-3 * length, 2e-3 * length)
    placed = model.add(ph.Beam(0.4 * length, section, material, elements=2, frame="cantilever"), "beam")
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start, axis=(0, 1, 0.2), name="pin"))
    model.apply(ph.Force(placed.end, (0, 0.02 * force, 0)))
    twist = 1e-4 * p["twist"] * force * length
    model.apply(ph.Torque(placed.end, lambda t: (twist * np.sin(30 * t), 0 * t, 0 * t)))
    if part == "bristle":
        model.apply(pin.friction(1e-3 * force * length, bristle=20.0 * force * length))
    if part == "rub":
        floor = ph.Plane(model.ground.at((0, 0, -0.001 * length)), (0, 0, 1))
        law = {"stiffness": 2e3 * force / length, "damping": 1e3 * force / length**2, "bristle": 0}
        model.apply(ph.Contact(placed.end, floor, friction=0.4, friction_speed=1e-3 * length, **law))
    return model


@pytest.mark.parametrize("part", ["creep", "bristle", "rub"])
def test_in_millimetres_and_tonnes_as_in_metres_and_kilograms(part):
    """What turns is not moved by parts of a length."""
    found = []
    for length, mass in ((1.0, 1.0), (1e3, 1e-3)):

        def build(p, length=length, mass=mass):
            return thin(p, length, mass, part)

        def cost(model, length=length):
            spin = ph.Cost.final(ph.AngularVelocity(model["beam"].end, (1, 0, 0)))
            return ph.Cost.final(ph.Position(model["beam"].end), lambda x: x[:, 1] / length) + spin

        value, slopes = ph.gradient(build, cost, {"modulus": 1.0, "twist": 1.0}, duration=0.05, step=1e-3)
        found.append([value, *slopes.values()])
    assert found[1] == pytest.approx(found[0], rel=5e-6)


def linkage(p):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bar = model.add(ph.RigidBody(p["mass"], 0.02), "bar", position=(0.5, 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.point((-0.5, 0, 0)), name="joint"))
    section, aluminium = ph.RectangularSection(0.02, 0.01), ph.Material(7e10, 2700.0)
    beam = ph.Beam(0.5, section, aluminium, elements=2, frame="cantilever")
    placed = model.add(beam, "beam", position=(0.5, 0, 0))
    model.apply(model.connect(ph.Revolute(bar.origin, placed.start, name="elbow")).spring(p["stiffness"], rest=0.4))
    return model


def given_times(p):
    """One of them inside of a step, which a parameter moves."""
    model = linkage(p)
    model.at(0.0195 * p["mass"], release=model.at(0.01, lock=model.joint("elbow")))
    model.at(0.05, lock=model.joint("joint"))
    return model


def locked_twice(p):
    """The second lock holds what the first one holds already, until both are gone."""
    model = linkage(p)
    locks = [model.at(time, lock=model.joint("elbow")) for time in (0.02, 0.05)]
    for lock in locks:
        model.at(0.08, release=lock)
    return model


def conditions(p):
    model = linkage(p)
    fast = ph.When(ph.Velocity(model["beam"].end, (0, 1, 0)), below=-0.5 - 0.1 * p["stiffness"])
    low = ph.When(lambda t, y: y + 0.1 * t, below=-0.03, of=[ph.Displacement(model["bar"].origin, (0, 1, 0))])
    model.apply(ph.Force(model["beam"].end, lambda t: (3 * np.sin(9 * t), 0 * t, 0 * t)))
    model.at(fast, lock=model.joint("elbow"))
    model.at(low, lock=model.joint("joint"))
    return model


def driven_cart(p):
    """Released from a moving rail once it leans enough: velocities before and after depend on the time."""
    model = cart({})
    base = model.ground.moving(lambda t: (0 * t, 0.01 * p["mass"] * np.sin(30 * t), 0 * t))
    body = model.add(ph.RigidBody(p["mass"], 0.1), "rider", position=(-1, 0, 0))
    model.connect(ph.Revolute(base, body.point((1, 0, 0)), name="base"))
    model.apply(model.joint("hinge").spring(p["stiffness"]))
    model.at(ph.When(ph.JointPosition(model.joint("hinge")), below=-0.005), lock=model.joint("joint"))
    model.at(ph.When(ph.JointRate(model.joint("base")), below=-0.5), release=model.joint("base"))
    return model


@pytest.mark.parametrize(
    ("build", "order"),
    [
        (given_times, 2),
        pytest.param(given_times, 4, marks=pytest.mark.thorough),
        (locked_twice, 2),
        pytest.param(conditions, 2, marks=pytest.mark.thorough),
        (conditions, 4),
        pytest.param(driven_cart, 2, marks=pytest.mark.thorough),
    ],
)
def test_events_with_their_times(build, order):
    check(build, tip, {"mass": 1.1, "stiffness": 3.0}, 0.1, 4e-3, order=order)


def test_readings_that_depend_on_another_body_until_it_lets_go():
    """Velocities are brought onto the joints that hold: the beam's feel the bar until the elbow is gone."""

    def let_go(p):
        model = linkage(p)
        model.at(0.031, release=model.joint("elbow"))
        return model

    def course(model):
        return ph.Cost.integral(ph.Velocity(model["beam"].start, (0, 1, 0)))

    check(let_go, course, {"mass": 1.1, "stiffness": 3.0}, 0.04, 4e-3)


def telescope(p):
    """Thin beams, whose twist carries hardly any mass; velocities are brought onto the path of the drive."""
    model = ph.Model(gravity=(0, 0, -9.81))
    material = ph.Material(8e10, 4800.0)
    turned = ph.Beam(1.2, ph.RectangularSection(0.014, 0.013), material, elements=2, frame="simply_supported")
    first = model.add(turned, "first", rotation=[[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    pushed = ph.Beam(1.0, ph.CircularSection(0.013), material, elements=2, frame="cantilever")
    second = model.add(pushed, "second", position=(0.96 + 0.06, 0.72 + 0.08, 0.0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), first.start))
    slide = model.connect(ph.Prismatic(first.end, second.start, axis=(0.6, 0.8, 0.0)))
    model.apply(slide.drive(position=lambda t: 0.1 + 2.0 * t**2))
    model.apply(ph.Torque(second.end, (p["torque"], 0.3, 0.2)))
    return model


def pushed_out(model):
    return ph.Cost.final(ph.Velocity(model["second"].start, (1, 0, 0)))


def test_velocities_on_joints_of_bodies_whose_twist_has_hardly_any_inertia():
    check(telescope, pushed_out, {"torque": 0.5}, 2e-3, 2e-4, share=3e-2)  # the cost is nearly linear


def test_readings_over_time_go_the_other_way_through_the_same():
    """Forwards, of each parameter, what the adjoint finds backwards."""

    def everything(p):
        model = conditions({"mass": p["mass"], "stiffness": 3.0})
        sampled(model, p)
        return model

    def lawful(p):
        model = arm({})
        law_of_state(model, p)
        friction(model, p)
        return model

    def height(model):
        return ph.Displacement(model["beam"].end, (0, 1, 0))

    for build, parameters in ((everything, {"mass": 1.1, "gain": 0.5}), (lawful, {"gain": 5.0})):
        check_forwards(build, parameters, height, 0.06, 2e-3)


@pytest.mark.parametrize("way", ["vjp", "jvp"])
def test_a_law_may_bring_its_derivative(way):
    """A network of one layer: its own derivative gives what differences of it give, and is asked for."""
    calls = []

    def build(p, brings=True):
        model = arm({})
        inner = np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, 0.2]])

        def law(t, y):
            return p["gain"] * np.tanh(inner @ y).sum()

        def derivative(t, y):
            return p["gain"] * (1 - np.tanh(inner @ y) ** 2) @ inner

        def vjp(t, y, w):
            calls.append(t)
            return w[0] * derivative(t, y)

        def jvp(t, y, d):
            calls.append(t)
            return derivative(t, y) @ d

        own = {way: vjp if way == "vjp" else jvp} if brings else {}
        joint = model.joint("joint")
        model.apply(ph.Feedback(law, measured=[joint], on=[joint], target=0.0, **own))
        return model

    options = {"duration": 0.1, "step": 2e-3}
    _, brought = ph.gradient(build, tip, {"gain": 5.0}, **options)
    assert len(calls) == 50 * (1 if way == "vjp" else 2)
    _, differences = ph.gradient(lambda p: build(p, False), tip, {"gain": 5.0}, **options)
    assert brought["gain"] == pytest.approx(differences["gain"], rel=1e-8)


def test_derivatives_of_laws_are_checked():
    joint = arm({}).joint("joint")
    with pytest.raises(ph.ParameterError, match="takes vjp= or jvp=, got both"):
        ph.Feedback(lambda t, y: 0.0, [joint], vjp=lambda t, y, w: y, jvp=lambda t, y, d: 0.0)

    def build(p):
        model = arm(p)
        joint = model.joint("joint")
        model.apply(joint.torque(ph.Feedback(lambda t, y: -p["height"] * y[0], [joint], vjp=lambda t, y, w: [1.0])))
        return model

    with pytest.raises(ph.ParameterError, match="vjp= of a Feedback must return 2 finite numbers"):
        ph.gradient(build, tip, {"height": 0.005}, duration=0.01, step=2e-3)


STEPS = 4


def relative_error(model, step, seed, damping=0.0):
    """Of the derivative of a random number of the last state along a random change of the first velocities."""
    rng, system = np.random.default_rng(seed), system_of(model)
    assembly, start = differentiable(system), initial_state(system)
    options = StepOptions(numerical_damping=damping)
    run = simulate_logged(assembly, start, STEPS * step, step, options)
    weight = np.asarray(assembly.memory["velocity_weight"])
    slopes = Variation(*np.zeros((2, len(run.times), len(weight))))
    slopes.pose[-1], slopes.velocity[-1] = rng.normal(size=(2, len(weight))) * weight
    slopes.velocity[-1] *= step
    change = rng.normal(size=len(weight)) / weight
    rows = system.rows.matrix(system.at(start)).toarray()
    if len(rows):
        change -= np.linalg.lstsq(rows / weight, rows @ change, rcond=1e-10)[0] / weight
    size = 1e-7 * system.largest_length / step / STEPS / np.abs(change * weight).max()
    ends = []
    for sign in (1, -1):
        moved = replace(start, velocity=start.velocity + sign * size * change)
        ends.append(simulate_logged(assembly, moved, STEPS * step, step, options).rows)
    found = variation_between(system.layout, *({n: ends[k][n][-1] for n in ends[k]} for k in (1, 0)))
    expected = (slopes.pose[-1] @ found.pose + slopes.velocity[-1] @ found.velocity) / (2 * size)
    scale = np.abs(slopes.pose[-1] * found.pose).sum() + np.abs(slopes.velocity[-1] * found.velocity).sum()
    return abs(adjoints(run, [slopes], None)[0].start.velocity @ change - expected) / (scale / (2 * size))


@pytest.mark.parametrize("body", BODY_CASES, ids=lambda body: body.__name__)
def test_bodies_on_moving_ground_with_loads_and_weight(body):
    sample = random_mechanism(2, Wishes(3, 1.0, "moving", gravity=True, loads=1, body=body, bodies=3))
    assert relative_error(sample.model, sample.step, seed=2, damping=0.1) < 1e-7


@pytest.mark.parametrize("kind", ELEMENT_CASES)
def test_elements_between_bodies(kind):
    sample = random_mechanism(1, Wishes(3, 1.0, bodies=3))
    assert with_elements(1, sample, [kind], True, remembers=False)
    assert relative_error(sample.model, sample.step, seed=1) < 1e-7


def test_strings():
    for law in LAW_CASES:
        sample = random_mechanism(3, Wishes(2, 1.0, "fixed", gravity=True, law=law))
        assert relative_error(sample.model, sample.step, seed=3) < 1e-7
