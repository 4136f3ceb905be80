"""Programs of first users: obvious lines, defaults, and a number that a formula gives and no other test has.

Each program returns what it found and what it should be; the text of its entry is the source of that number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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


@program("sqrt(g / l), no request for gravity", 1e-6)
def linearized_hanging_pendulum():
    model = ph.Model(gravity=DOWN)
    bar = model.add(ph.RigidBody(1.0, (1e-9, 1e-9, 1e-9), center=(0, 0, -1)))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, axis=(0, 1, 0)))
    return model.linearize().modes(1).frequencies[0], np.sqrt(G)


@program("T = 2 pi sqrt(m / k)")
def spring_and_mass():
    model = ph.Model()
    mass = model.add(ph.PointMass(2.0), position=(1.1, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, stiffness=50.0, length=1.0))
    motion = model.simulate(duration=6.0, step=1e-2)
    return period(motion.time, motion.position(mass.origin)[:, 0] - 1), 2 * np.pi / 5


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


@program("m g / k", 1e-9)
def weight_on_a_spring():
    model = ph.Model(gravity=DOWN)
    mass = model.add(ph.PointMass(2.0), position=(0, 0, -1))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, stiffness=1000.0))
    return model.equilibrium().position(mass.origin)[2], -1 - 2 * G / 1000


@program("w = M t / I")
def motor_spins_up():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.5))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    model.apply(shaft.torque(2.0))
    return model.simulate(duration=3.0, step=1e-2).rate(shaft)[-1], 12.0


@program("kinetic energy of the drive: I w^2 / 2", 1e-3)
def work_of_a_drive():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.5))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    model.apply(shaft.drive(angle=lambda t: t**2))
    return model.simulate(duration=2.0, step=1e-2).energy.supplied[-1], 0.5 * 0.5 * 4.0**2


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


@program("kp x / (kp + k): a spring and a servo in balance", 1e-6)
def servo_settles():
    model = ph.Model(dimension=2)
    arm = model.add(ph.RigidBody(1.0, 0.5))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(joint.spring(10.0))
    model.apply(joint.servo(90.0, 12.0, angle=0.5))
    return model.simulate(duration=4.0, step=1e-2).angle(joint)[-1], 0.45


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


@program("v / (mu g)", 5e-3)
def friction_stops_a_block():
    model = ph.Model(gravity=DOWN)
    block = model.add(ph.PointMass(1.0), velocity=(2.0, 0, 0))
    model.apply(ph.Contact(block.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), friction=0.4))
    return model.simulate(duration=1.0, step=1e-3).position(block.origin)[-1, 0], 4 / (2 * 0.4 * G)


# Beams, rods, plates, solids, strings.


def cantilever(gravity=(0, 0, 0), elements=8, **known):
    """Clamped at the origin along x."""
    model = ph.Model(gravity=gravity, **known)
    beam = model.add(ph.Beam(1.0, BAR, STEEL, elements=elements), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    return model, beam


@program("F l / E A", 1e-3)
def beam_stretches():
    model, beam = cantilever()
    model.apply(ph.Force(beam.end, (1e4, 0, 0)))
    return model.equilibrium().position(beam.end)[0] - 1, 1e4 / (2.1e11 * 2e-4)


@program("pi^2 E I / 4 l^2: the square of the first frequency vanishes there", 5e-3)
def column_buckles():
    critical = 2.1e11 * SECOND_MOMENT * np.pi**2 / 4

    def square(force):
        model, beam = cantilever(elements=10)
        model.apply(ph.Force(beam.end, (-force, 0, 0)))
        return model.linearize(at="static").modes(1).frequencies[0] ** 2

    low, high = square(0.9 * critical), square(0.97 * critical)
    return 0.97 * critical + 0.07 * critical * high / (low - high), critical


@program("n pi / l sqrt(T / rho A)", 2e-3)
def string_frequency():
    model = ph.Model()
    string = model.add(ph.String(1.0, 0.01, elements=40, law=ph.LinearLaw(1e5)), shape=((0, 0, 0), (1.001, 0, 0)))
    for x, port in ((0.0, string.start), (1.001, string.end)):
        model.connect(ph.Spherical(model.ground.at((x, 0, 0)), port))
    return model.linearize().modes(1).frequencies[0], np.pi / 1.001 * np.sqrt(100 * 1.001 / 0.01)


@program("35.99 / a^2 sqrt(D / rho h), all edges clamped (Leissa)", 3e-2)
def clamped_plate():
    model = ph.Model()
    plate = model.add(ph.Plate(1.0, 1.0, 0.01, STEEL, interfaces={"boundary": "rigid"}))
    model.connect(ph.Fixed(model.ground.at(plate["boundary"].initial_position()), plate["boundary"]))
    bend = 2.1e11 * 0.01**3 / (12 * (1 - 0.3**2))
    return model.linearize().modes(1).frequencies[0], 35.99 * np.sqrt(bend / (7850 * 0.01))


# Analysis and tools.


@program("1 / k", 1e-6)
def static_gain():
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(2.0, 1.0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
    model.apply(rail.spring(50.0, damping=2.0))
    linear = model.linearize([ph.Force(cart.origin, (1, 0, 0))], [ph.Displacement(cart.origin, (1, 0, 0))])
    return abs(linear.frequency_response(1e-6).values[0, 0, 0]), 0.02


@program("l^3 / 3 E I of a reduced model", 2e-3)
def reduced_static_gain():
    model, beam = cantilever(elements=12)
    linear = model.linearize([ph.Force(beam.end, (0, 0, 1))], [ph.Displacement(beam.end, (0, 0, 1))])
    return abs(linear.reduce(4).frequency_response(1e-3).values[0, 0, 0]), 1 / (3 * 2.1e11 * SECOND_MOMENT)


@program("d(m g / k)/dk = -m g / k^2 by the adjoint of a run that starts at rest", 1e-3)
def gradient():
    def build(given):
        model = ph.Model(gravity=DOWN)
        mass = model.add(ph.PointMass(2.0), "mass", position=(0, 0, -1))
        model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, given["k"], length=1.0))
        return model

    _, slope = ph.gradient(
        build,
        lambda model: ph.Cost.final(ph.Position(model["mass"].origin), lambda place: place[:, 2]),
        {"k": 1000.0},
        duration=0.02,
        step=1e-2,
        initial=lambda model: model.equilibrium(),
    )
    return slope["k"], 2 * G / 1000**2


@program("M = I a + m g l cos(a): the torque of a motion that is prescribed", 1e-3)
def inverse_dynamics():
    model = ph.Model(**FLAT)
    arm = model.add(ph.RigidBody(2.0, 0.1, center=(0.5, 0, 0)))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(joint.drive(angle=lambda t: 0.5 * t**2))
    return model.simulate(duration=1.0, step=1e-2).required(joint)[50], 0.6 + 2 * G * 0.5 * np.cos(0.125)


@program("two equal masses swap their speeds", 2e-2)
def elastic_collision():
    model = ph.Model()
    one = model.add(ph.PointMass(1.0), position=(0, 0, 0), velocity=(1.0, 0, 0))
    two = model.add(ph.PointMass(1.0), position=(0.5, 0, 0))
    model.apply(ph.Contact(one.origin, two.origin, radius=0.2, restitution=1.0))
    return model.simulate(duration=0.6, step=1e-3).velocity(two.origin)[-1], (1.0, 0, 0)


@program("(k + k_1 exp(-t / tau)) x: a stretch that stays", 1e-2)
def relaxation():
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(1.0, 1.0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
    spring = model.apply(rail.spring(100.0, relaxation=ph.Maxwell((100.0, 0.1))))
    model.apply(rail.drive(position=lambda t: 0.01 * np.minimum(t / 0.001, 1.0)))
    force = model.simulate(duration=0.101, step=1e-3).element_force(spring)[-1]
    return abs(force), 1.0 + np.exp(-1)


@program("F / k (1 - cos w t)", 1e-3)
def step_of_force():
    model = ph.Model()
    mass = model.add(ph.PointMass(2.0), position=(1, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, stiffness=50.0))
    model.apply(ph.Force(mass.origin, (5.0, 0, 0)))
    x = model.simulate(duration=1.0, step=5e-3).position(mass.origin)[-1, 0]
    return x - 1, 0.1 * (1 - np.cos(5))


@program("F / (k - m w^2): the answer to a harmonic force", 1e-6)
def frequency_response():
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(2.0, 1.0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
    model.apply(rail.spring(50.0))
    linear = model.linearize([ph.Force(cart.origin, (1, 0, 0))], [ph.Displacement(cart.origin, (1, 0, 0))])
    return linear.frequency_response(3.0).values[0, 0, 0].real, 1 / (50 - 2 * 9)


@program("(3 - sqrt 5)/2 and (3 + sqrt 5)/2 of k / m: two masses in a row", 1e-6)
def two_masses():
    model = ph.Model(dimension=1)
    one, two = (model.add(ph.PointMass(1.0), position=(x, 0, 0)) for x in (1.0, 2.0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), one.origin, stiffness=100.0))
    model.apply(ph.SpringDamper(one.origin, two.origin, stiffness=100.0))
    return model.linearize().modes(2).frequencies, 10 * np.sqrt((3 + np.array([-1, 1]) * np.sqrt(5)) / 2)


@program("w^2 r: a mass on a turntable", 1e-6)
def centrifugal_force():
    model = ph.Model(dimension=2)
    table = model.add(ph.RigidBody(1.0, 1.0))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), table.origin))
    stone = model.add(ph.PointMass(2.0), position=(0.5, 0, 0))
    glue = model.connect(ph.Spherical(table.point((0.5, 0, 0)), stone.origin))
    model.apply(shaft.drive(angle=lambda t: 3 * t))
    force = model.simulate(duration=0.5, step=1e-3).reaction(glue)[-1]
    return np.linalg.norm(force), 2 * 9 * 0.5


@program("a mass of a box: rho a b c, and (b^2 + c^2) m / 12", 1e-9)
def box_by_its_density():
    box = ph.RigidBody.box((1.0, 0.2, 0.1), 1000.0)
    return (box.mass, box.inertia[0][0] if np.ndim(box.inertia) == 2 else box.inertia[0]), (20.0, 20 * 0.05 / 12)


@program("g: the acceleration of what falls", 1e-9)
def free_fall():
    model = ph.Model(gravity=DOWN)
    stone = model.add(ph.PointMass(1.0), position=(0, 0, 5.0))
    return model.simulate(duration=1.0, step=1e-2).position(stone.origin)[-1, 2], 5 - G / 2


@program("m g / d")
def viscous_damper_ends_in_a_steady_speed():
    model = ph.Model(gravity=DOWN)
    stone = model.add(ph.PointMass(1.0))
    rail = model.connect(ph.Slider(model.ground.at((0, 0, 0)), stone.origin, axis=(0, 0, 1)))
    model.apply(rail.damper(5.0))
    return model.simulate(duration=3.0, step=1e-2).velocity(stone.origin)[-1, 2], -G / 5


@program("w^2 = 3 g / 2 l: a rod on a pin", 1e-3)
def physical_pendulum():
    model = ph.Model(**FLAT)
    rod = model.add(ph.Beam(1.0, BAR, STEEL, elements=2), rotation=-np.pi / 2)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start))
    return model.linearize(at="static").modes(1).frequencies[0], np.sqrt(1.5 * G)


@program("m g / 2 at each end of a taut line with a weight in its middle", 1e-6)
def two_ropes():
    model = ph.Model(gravity=DOWN)
    lamp = model.add(ph.PointMass(2.0), position=(1, 0, -1))
    left, right = (model.connect(ph.Distance(model.ground.at((x, 0, 0)), lamp.origin)) for x in (0, 2))
    rest = model.equilibrium()
    return rest.reaction(left) + rest.reaction(right), (0, 0, 2 * G)
