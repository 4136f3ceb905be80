"""Programs of first users: obvious lines, defaults, and a number that a formula gives.

Each program returns what it found and what it should be; the text of its entry is the source of that number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

import phlexible as ph

G = 9.81
DOWN = (0, 0, -G)
FLAT = dict(gravity=(0, -G, 0), dimension=2)
STEEL = ph.Material(youngs_modulus=2.1e11, density=7850.0)
BAR = ph.RectangularSection(0.02, 0.01)
SECOND_MOMENT = 0.02 * 0.01**3 / 12  # about the axis of the width


@dataclass(frozen=True)
class Program:
    """What a first user writes.

    Attributes:
        run: returns the value found and the one expected.
        source: of the expected value.
        tolerance: relative.
    """

    run: Callable[[], tuple[object, object]]
    source: str
    tolerance: float


PROGRAMS: dict[str, Program] = {}


def program(source: str, tolerance: float = 1e-3) -> Callable[[Callable[[], tuple[object, object]]], None]:
    """Adds the function to the table under its name."""

    def add(run: Callable[[], tuple[object, object]]) -> None:
        PROGRAMS[run.__name__] = Program(run, source, tolerance)

    return add


def period(time, values):
    """Twice the mean time between zeros."""
    k = np.flatnonzero(values[1:] * values[:-1] < 0)
    zeros = time[k] - values[k] * (time[k + 1] - time[k]) / (values[k + 1] - values[k])
    return 2 * np.diff(zeros).mean()


# Points and rigid bodies.


@program("parabola: v^2 sin(2 a) / g")
def projectile():
    model = ph.Model(gravity=DOWN)
    ball = model.add(ph.PointMass(1.0), velocity=(10, 0, 10))
    motion = model.simulate(duration=20 / G, step=1e-2)
    return motion.position(ball.origin)[-1], (200 / G, 0, 0)


@program("T = 2 pi sqrt(l / g) for small angles")
def pendulum_period():
    model = ph.Model(gravity=DOWN)
    bob = model.add(ph.PointMass(1.0), position=(0.02, 0, -1))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), bob.origin))
    motion = model.simulate(duration=6.0, step=1e-2)
    return period(motion.time, motion.position(bob.origin)[:, 0]), 2 * np.pi / np.sqrt(G)


@program("sqrt(g / l), no request for gravity", 1e-6)
def linearized_hanging_pendulum():
    model = ph.Model(gravity=DOWN)
    bar = model.add(ph.RigidBody(1.0, (1e-9, 1e-9, 1e-9), center=(0, 0, -1)))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, axis=(0, 1, 0)))
    return model.linearize().modes(1).frequencies[0], np.sqrt(G)


@program("exp(-c t / 2m) after a whole period of sqrt(k/m - (c/2m)^2)")
def damped_oscillator():
    model = ph.Model()
    mass = model.add(ph.PointMass(2.0), position=(1.1, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, 50.0, 2.0, length=1.0))
    turn = 2 * np.pi / np.sqrt(25 - 0.25)
    motion = model.simulate(duration=turn, step=turn / 400)
    return motion.position(mass.origin)[-1, 0] - 1, 0.1 * np.exp(-turn / 2)


@program("c / (2 sqrt(k m))", 1e-6)
def damping_ratio():
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(2.0, 1.0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
    model.apply(rail.spring(50.0, damping=2.0))
    return model.linearize().modes(1).damping_ratios[0], 0.1


@program("a thrown bar that nobody spins keeps its velocity", 1e-9)
def thrown_bar():
    model = ph.Model()
    beam = model.add(ph.Beam(1.0, BAR, STEEL, elements=4), velocity=(0, 3, 0))
    return model.simulate(duration=0.1, step=1e-3).position(beam.end)[-1], (1, 0.3, 0)


@program("w = M t / I")
def motor_spins_up():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.5))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    model.apply(shaft.torque(2.0))
    return model.simulate(duration=3.0, step=1e-2).rate(shaft)[-1], 12.0


@program("x = r cos a + sqrt(l^2 - r^2 sin^2 a)", 1e-9)
def crank_and_slider():
    model = ph.Model(dimension=2)
    crank = model.add(ph.RigidBody(1.0, 0.1))
    rod = model.add(ph.RigidBody(1.0, 0.1), position=(0.2, 0, 0))
    block = model.add(ph.RigidBody(1.0, 0.1), position=(0.8, 0, 0))
    motor = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    model.connect(ph.Revolute(crank.point((0.2, 0, 0)), rod.origin))
    model.connect(ph.Revolute(rod.point((0.6, 0, 0)), block.origin))
    model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), block.origin))
    model.apply(motor.drive(angle=lambda t: 2 * t))
    x = model.simulate(duration=0.5, step=1e-2).position(block.origin)[-1, 0]
    return x, 0.2 * np.cos(1) + np.sqrt(0.36 - 0.04 * np.sin(1) ** 2)


@program("kp + ki / s + kd s holds the weight without an error", 2e-3)
def pid_motor():
    model = ph.Model(**FLAT)
    arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    total = [0.0]

    def pid(t, measured):
        total[0] += 1e-2 * (0.3 - measured[0])
        return 60 * (0.3 - measured[0]) + 100 * total[0] - 12 * measured[1]

    model.apply(joint.motor(pid))
    return model.simulate(duration=6.0, step=1e-2).angle(joint)[-1], 0.3


@program("m g h", 1e-9)
def hoist():
    model = ph.Model(gravity=DOWN)
    load = model.add(ph.PointMass(2.0), position=(0, 0, -3))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), load.origin, length=lambda t: 3.0 - 0.5 * t))
    return model.simulate(duration=2.0, step=1e-2).energy.supplied[-1], 2 * G


@program("reaction of a clamp: m g and m g a", 1e-9)
def reactions():
    model = ph.Model(gravity=DOWN)
    bar = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1), center=(0.5, 0, 0)))
    clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), bar.origin))
    rest = model.equilibrium()
    return np.append(rest.reaction(clamp), rest.reaction_moment(clamp)), (0, 0, 2 * G, 0, -G, 0)


# Contact.


@program("h = e^2 H", 2e-2)
def bouncing_ball():
    model = ph.Model(gravity=DOWN)
    ball = model.add(ph.PointMass(1.0), position=(0, 0, 1.0))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), restitution=0.8))
    z = model.simulate(duration=1.0, step=1e-3).position(ball.origin)[:, 2]
    return z[500:].max(), 0.64


@program("tan a < mu: it stays, up to a twentieth of a millimetre by which the contact gives way", 5e-5)
def block_at_rest_on_a_slope():
    model = ph.Model(gravity=(G * np.sin(0.2), 0, -G * np.cos(0.2)))
    block = model.add(ph.RigidBody.box((0.1, 0.1, 0.1), 1000.0), position=(0, 0, 0.05))
    model.apply(ph.Contact(block, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), friction=0.3, restitution=0.3))
    return 1 + model.simulate(duration=1.0, step=1e-3).position(block.origin)[-1, 0], 1.0


@program("g (sin a - mu cos a) t^2 / 2", 5e-3)
def block_slides_down():
    model = ph.Model(gravity=(G * np.sin(0.5), 0, -G * np.cos(0.5)))
    block = model.add(ph.PointMass(1.0), position=(0, 0, 0))
    model.apply(ph.Contact(block.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), friction=0.3))
    x = model.simulate(duration=1.0, step=1e-3).position(block.origin)[-1, 0]
    return x, G * (np.sin(0.5) - 0.3 * np.cos(0.5)) / 2


@program("5/7 g sin a: a solid ball rolls", 5e-3)
def ball_rolls_down():
    model = ph.Model(gravity=(G * np.sin(0.2), 0, -G * np.cos(0.2)))
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), position=(0, 0, 0.1))
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1))
    model.apply(ph.Contact(ball.origin, floor, radius=0.1, friction=0.5))
    x = model.simulate(duration=1.0, step=1e-3).position(ball.origin)[-1, 0]
    return x, 5 / 7 * G * np.sin(0.2) / 2


@program("free fall, then m g (l + d) = k d^2 / 2", 1e-3)
def rope_catches():
    model = ph.Model(gravity=DOWN)
    load = model.add(ph.PointMass(2.0), position=(0, 0, -1))
    rope = ph.Distance(model.ground.at((0, 0, 0)), load.origin, length=2.0)
    model.apply(rope.spring(1e4, tension_only=True))
    weight = 2 * G
    deepest = -2 - (weight + np.sqrt(weight**2 + 2e4 * weight)) / 1e4
    return model.simulate(duration=0.6, step=1e-3).position(load.origin)[:, 2].min(), deepest


# Beams, rods, plates, solids, strings.


def cantilever(gravity=(0, 0, 0), elements=8, **known):
    """Clamped at the origin along x."""
    model = ph.Model(gravity=gravity, **known)
    beam = model.add(ph.Beam(1.0, BAR, STEEL, elements=elements), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    return model, beam


# Analysis and tools.


@program("l^3 / 3 E I of a reduced model", 2e-3)
def reduced_static_gain():
    model, beam = cantilever(elements=12)
    linear = model.linearize([ph.Force(beam.end, (0, 0, 1))], [ph.Displacement(beam.end, (0, 0, 1))])
    return abs(linear.reduce(4).frequency_response(1e-3).values[0, 0, 0]), 1 / (3 * 2.1e11 * SECOND_MOMENT)


# Tasks of the how-to index.


def arm_in_the_plane(mass=1.0):
    """A rigid arm along x on a hinge, its centre half a metre away."""
    model = ph.Model(**FLAT)
    arm = model.add(ph.RigidBody(mass, 0.1, center=(0.5, 0, 0)), "arm")
    return model, arm, model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin, name="pin"))


@program("m g a holds an arm at rest", 1e-9)
def torque_that_holds_an_arm():
    model, _, pin = arm_in_the_plane()
    model.apply(pin.drive(angle=lambda t: 0.0))
    return model.equilibrium().required(pin), G / 2


@program("I a + m g c cos(phi) of a prescribed motion", 1e-4)
def torque_of_a_driven_joint():
    model, _, pin = arm_in_the_plane()
    model.apply(pin.drive(angle=lambda t: 0.5 * t**2))
    motion = model.simulate(duration=1.0, step=1e-2)
    return motion.required(pin)[50], 0.35 + G / 2 * np.cos(0.125)


@program("wheels of ratio 3 share M t / (I1 + I2 / 9)", 1e-5)
def pair_of_gears():
    model = ph.Model(dimension=2)
    small, large = (
        model.add(ph.RigidBody(1.0, inertia), position=(x, 0, 0)) for x, inertia in ((0, 0.1), (1, 0.9))
    )
    pins = [
        model.connect(ph.Revolute(model.ground.at((x, 0, 0)), each.origin)) for x, each in ((0, small), (1, large))
    ]
    model.connect(ph.Gear(*pins, ratio=-3.0))
    model.apply(pins[0].torque(2.0))
    motion = model.simulate(duration=1.0, step=1e-3)
    return motion.angle(pins[0])[-1], 2.0 / (0.1 + 0.9 / 9) / 2


@program("sqrt(2 h / g)", 1e-9)
def run_that_stops_at_the_ground():
    model = ph.Model(gravity=DOWN)
    stone = model.add(ph.PointMass(1.0), position=(0, 0, 2))
    landed = ph.When(lambda t, x: x[2], below=0.0, of=[ph.Position(stone.origin)])
    return model.simulate(duration=2.0, step=1e-2, stop=landed).time[-1], np.sqrt(4 / G)


@program("-w^2 / 2 m of a friction torque of 2 N m", 1e-3)
def brake_stops_a_wheel():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.5), angular_velocity=(0, 0, 8))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    model.apply(pin.friction(coulomb=2.0))
    return model.simulate(duration=3.0, step=5e-3).angle(pin)[-1], 8.0


@program("c (cosh(l / 2 c) - 1) of the catenary", 1e-3)
def rope_between_two_points():
    model = ph.Model(**FLAT)
    rope = ph.String(2.0, 0.3, 40, ph.LinearLaw(2e5))
    placed = model.add(rope, shape=rope.hanging((0, 0, 0), (1.9, 0, 0), (0, -G, 0)))
    for end, place in ((placed.start, (0, 0, 0)), (placed.end, (1.9, 0, 0))):
        model.connect(ph.Spherical(model.ground.at(place), end))
    c = brentq(lambda c: 2 * c * np.sinh(0.95 / c) - 2.0, 0.3, 10.0)
    return model.equilibrium().position(placed.at(1.0))[1], -c * (np.cosh(0.95 / c) - 1)


@program("w L^4 / 8 E I of a start at rest", 1e-5)
def run_that_starts_bent():
    model, beam = cantilever(DOWN)
    motion = model.simulate(duration=0.01, step=1e-3, initial="quasi_static")
    return motion.position(beam.end)[[0, -1], 2], np.full(2, -7850 * 2e-4 * G / (8 * 2.1e11 * SECOND_MOMENT))


@program("F (L - x)", 1e-9)
def bending_moment():
    model, beam = cantilever()
    model.apply(ph.Force(beam.end, (0, 0, -3.0)))
    return model.equilibrium().section_forces(beam, x=[0.0, 0.5]).moment_y, 3.0 * np.array([[1.0, 0.5]])


@program("pi^2 E I / 4 L^2 by the root of a frequency squared", 1e-3)
def buckling_of_a_column():
    loads, squares = np.array([840.0, 850.0]), []
    for load in loads:
        model, beam = cantilever()
        model.apply(ph.Force(beam.end, (-load, 0, 0)))
        squares.append(model.linearize(at="static").modes(1).frequencies[0] ** 2)
    slope, at_zero = np.polyfit(loads, squares, 1)
    return -at_zero / slope, np.pi**2 * 2.1e11 * SECOND_MOMENT / 4


@program("pi^2 sqrt(E I / m) -+ spin, in axes that turn with the shaft", 1e-3)
def whirl_of_a_shaft():
    model = ph.Model()
    shaft = model.add(ph.Beam(1.0, ph.CircularSection(0.02), STEEL), angular_velocity=(50, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), shaft.start))
    model.connect(ph.Slider(model.ground.at((1, 0, 0)), shaft.end, axis=(1, 0, 0)))
    found = model.linearize(at="steady_rotation").modes(3).elastic_frequencies[:2]
    return found, np.pi**2 * np.sqrt(2.1e11 / 7850) * 0.005 + np.array([-50, 50])


@program("a run that goes on from a state ends as one run", 1e-9)
def run_that_is_continued():
    model, _, pin = arm_in_the_plane()
    first = model.simulate(duration=0.5, step=1e-2)
    further = model.simulate(duration=0.5, step=1e-2, initial=first.at(0.5))
    return further.angle(pin)[-1], model.simulate(duration=1.0, step=1e-2).angle(pin)[-1]


@program("sqrt(k / m) of each mass", 1e-9)
def study_of_masses():
    def build(mass):
        model = ph.Model(dimension=2)
        rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), model.add(ph.RigidBody(mass, 1.0)).origin))
        model.apply(rail.spring(100.0))
        return model

    study = ph.study(build, {"mass": [1.0, 4.0]}, lambda model: model.linearize().modes(1).frequencies[0], 1)
    return study["value"], (10.0, 5.0)
