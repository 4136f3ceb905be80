"""Sixty programs of first users: obvious lines, defaults, and a number that a formula gives.

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


@program("energy is conserved: it stays what it is at the start", 1e-12)
def double_pendulum_energy():
    model = ph.Model(**FLAT)
    arms = [model.add(ph.RigidBody(1.0, 0.01, center=(0.5, 0, 0)), position=(k, 0, 0)) for k in (0, 1)]
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arms[0].origin))
    model.connect(ph.Revolute(arms[0].point((1, 0, 0)), arms[1].origin))
    energy = model.simulate(duration=2.0, step=1e-2).energy
    return 10 + energy.total - energy.total[0], np.full(201, 10.0)


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


@program("Euler: a free body about its axis of greatest inertia turns steadily", 1e-9)
def spin_about_a_principal_axis():
    model = ph.Model()
    body = model.add(ph.RigidBody(1.0, (1.0, 2.0, 3.0)), angular_velocity=(0, 0, 2.0))
    motion = model.simulate(duration=1.0, step=1e-2)
    return motion.angular_velocity(body)[-1], (0, 0, 2.0)


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


@program("kinetic energy of the drive: I w^2 / 2", 1e-3)
def work_of_a_drive():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.5))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    model.apply(shaft.drive(angle=lambda t: t**2))
    return model.simulate(duration=2.0, step=1e-2).energy.supplied[-1], 0.5 * 0.5 * 4.0**2


@program("ratio 3", 1e-9)
def gear():
    model = ph.Model(dimension=2)
    one, two = (model.add(ph.RigidBody(1.0, 0.5), position=(x, 0, 0)) for x in (0.0, 1.0))
    first = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), one.origin))
    second = model.connect(ph.Revolute(model.ground.at((1, 0, 0)), two.origin))
    model.connect(ph.Gear(first, second, 3.0))
    model.apply(first.torque(1.0))
    motion = model.simulate(duration=1.0, step=1e-2)
    return abs(motion.angle(first)[-1] / motion.angle(second)[-1]), 3.0


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


@program("a parallelogram: the coupler does not turn", 1e-9)
def four_bar():
    model = ph.Model(dimension=2)
    left, right = (model.add(ph.RigidBody(1.0, 0.1), position=(x, 0, 0), rotation=np.pi / 2) for x in (0, 2))
    coupler = model.add(ph.RigidBody(1.0, 0.1), position=(0, 1, 0))
    motor = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), left.origin))
    model.connect(ph.Revolute(model.ground.at((2, 0, 0)), right.origin))
    model.connect(ph.Revolute(left.point((1, 0, 0)), coupler.origin))
    model.connect(ph.Revolute(right.point((1, 0, 0)), coupler.point((2, 0, 0))))
    model.apply(motor.drive(angle=lambda t: -t))
    end = model.simulate(duration=0.5, step=1e-2).position(coupler.point((2, 0, 0)))[-1]
    return end, (2 + np.sin(0.5), np.cos(0.5), 0)


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


@program("v / (mu g)", 5e-3)
def friction_stops_a_block():
    model = ph.Model(gravity=DOWN)
    block = model.add(ph.PointMass(1.0), velocity=(2.0, 0, 0))
    model.apply(ph.Contact(block.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), friction=0.4))
    return model.simulate(duration=1.0, step=1e-3).position(block.origin)[-1, 0], 4 / (2 * 0.4 * G)


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


@program("F l^3 / 3 E I", 2e-3)
def beam_deflects():
    model, beam = cantilever()
    model.apply(ph.Force(beam.end, (0, 0, -1.0)))
    return model.equilibrium().position(beam.end)[2], -1.0 / (3 * 2.1e11 * SECOND_MOMENT)


@program("rho A g l^4 / 8 E I", 3e-3)
def beam_sags_by_its_weight():
    model, beam = cantilever(DOWN)
    return model.equilibrium().position(beam.end)[2], -7850 * 2e-4 * G / (8 * 2.1e11 * SECOND_MOMENT)


@program("3.5160 sqrt(E I / rho A) / l^2", 2e-3)
def cantilever_frequency():
    model, _ = cantilever()
    return model.linearize().modes(1).frequencies[0], 3.516015 * np.sqrt(2.1e11 * SECOND_MOMENT / (7850 * 2e-4))


@program("F l / E A", 1e-3)
def beam_stretches():
    model, beam = cantilever()
    model.apply(ph.Force(beam.end, (1e4, 0, 0)))
    return model.equilibrium().position(beam.end)[0] - 1, 1e4 / (2.1e11 * 2e-4)


@program("M l / E I: a quarter of a circle", 1e-2)
def rod_bends_to_a_circle():
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(1.0, ph.RectangularSection(0.01, 0.02), STEEL, elements=16), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    stiffness = 2.1e11 * 0.02 * 0.01**3 / 12
    model.apply(ph.Torque(rod.end, (0, 0, stiffness * np.pi / 2)))
    return model.equilibrium().position(rod.end), (2 / np.pi, 2 / np.pi, 0)


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


@program("catenary: w (cosh(l / 2a) - 1) a with the length 2 a sinh(l / 2a)", 2e-3)
def hanging_rope_sags():
    from scipy.optimize import brentq

    rope = ph.String(2.0, 0.5, elements=40, law=ph.LinearLaw(1e7))
    model = ph.Model(gravity=DOWN)
    placed = model.add(rope, shape=rope.hanging((0, 0, 0), (1.5, 0, 0), DOWN))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(model.ground.at((1.5, 0, 0)), placed.end))
    a = brentq(lambda a: 2 * a * np.sinh(0.75 / a) - 2.0, 0.1, 5.0)
    return model.equilibrium().position(placed.at(1.0))[2], -a * (np.cosh(0.75 / a) - 1)


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


@program("a file holds what was simulated", 1e-12)
def save_and_load():
    import tempfile
    from pathlib import Path

    model = ph.Model(gravity=DOWN)
    ball = model.add(ph.PointMass(1.0), "ball", velocity=(1, 0, 0))
    motion = model.simulate(duration=1.0, step=1e-1)
    with tempfile.TemporaryDirectory() as folder:
        motion.save(Path(folder) / "fall.h5")
        loaded = ph.Motion.load(Path(folder) / "fall.h5")
    return loaded.position(loaded["ball"].origin), motion.position(ball.origin)


@program("sqrt(k / m) of each row")
def study():
    def build(stiffness):
        model = ph.Model(dimension=2)
        cart = model.add(ph.RigidBody(2.0, 1.0))
        model.apply(model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin)).spring(stiffness))
        return model

    def measure(model):
        return {"omega": model.linearize().modes(1).frequencies[0]}

    return ph.study(build, {"stiffness": [50.0, 200.0]}, measure)["omega"], (5.0, 10.0)


@program("the stiffness of the recorded motion, but for (w h)^2 / 6 of the step")
def identify():
    def build(given):
        model = ph.Model(dimension=2)
        cart = model.add(ph.RigidBody(2.0, 1.0), "cart", position=(0.1, 0, 0))
        rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        model.apply(rail.spring(given["stiffness"], rest=0.0))
        return model

    def sensors(model):
        return {"x": ph.Position(model["cart"].origin)}

    time = np.linspace(0.0, 1.0, 101)
    x = 0.1 * np.cos(5 * time)
    recording = ph.Recording(time, {"x": np.stack([x, 0 * x, 0 * x], axis=1)})
    return ph.identify(build, {"stiffness": 40.0}, recording, sensors=sensors, step=1e-2).values["stiffness"], 50.0


@program("a live run is the run", 1e-12)
def live_run():
    model = ph.Model(gravity=DOWN)
    ball = model.add(ph.PointMass(1.0))
    run = model.start(step=1e-2)
    run.step(100)
    return run.read(ph.Position(ball.origin))[2], -G / 2


@program("M = I a + m g l cos(a): the torque of a motion that is prescribed", 1e-3)
def inverse_dynamics():
    model = ph.Model(**FLAT)
    arm = model.add(ph.RigidBody(2.0, 0.1, center=(0.5, 0, 0)))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(joint.drive(angle=lambda t: 0.5 * t**2))
    return model.simulate(duration=1.0, step=1e-2).required(joint)[50], 0.6 + 2 * G * 0.5 * np.cos(0.125)


@program("the period of every mechanism of a batch, 2 pi sqrt(m / k)", 2e-3)
def batch():
    def build(stiffness):
        model = ph.Model()
        mass = model.add(ph.PointMass(1.0), "mass", position=(1.1, 0, 0))
        model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, stiffness, length=1.0))
        return model

    stiffness = np.array([50.0, 100.0, 200.0, 400.0])
    runs = ph.batch(build, {"stiffness": stiffness}).simulate(
        2.0, 5e-3, lambda model: {"place": ph.Position(model["mass"].origin)}
    )
    found = [period(runs.time, place[:, 0] - 1) for place in runs["place"]]
    return found, 2 * np.pi / np.sqrt(stiffness)


@program("two equal masses swap their speeds", 2e-2)
def elastic_collision():
    model = ph.Model()
    one = model.add(ph.PointMass(1.0), position=(0, 0, 0), velocity=(1.0, 0, 0))
    two = model.add(ph.PointMass(1.0), position=(0.5, 0, 0))
    model.apply(ph.Contact(one.origin, two.origin, radius=0.2, restitution=1.0))
    return model.simulate(duration=0.6, step=1e-3).velocity(two.origin)[-1], (1.0, 0, 0)


@program("sum of m v", 1e-9)
def total_momentum():
    model = ph.Model()
    model.add(ph.PointMass(1.0), velocity=(2.0, 0, 0))
    model.add(ph.PointMass(3.0), position=(0, 1, 0), velocity=(0, 1.0, 0))
    return model.simulate(duration=0.1, step=1e-2).momentum.linear[-1], (2, 3, 0)


@program("m g l / I w: a fast top precesses", 2e-2)
def top_precesses():
    model = ph.Model(gravity=DOWN)
    top = model.add(ph.RigidBody(1.0, (0.02, 0.01, 0.01), center=(0.2, 0, 0)), angular_velocity=(300.0, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), top.origin))
    motion = model.simulate(duration=0.5, step=5e-4)
    tip = motion.position(top.point((0.2, 0, 0)))
    return abs(np.unwrap(np.arctan2(tip[:, 1], tip[:, 0]))[-1]) / 0.5, 0.2 * G / (0.02 * 300.0)


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


@program("rack and wheel: x = r a", 1e-9)
def rack():
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.1))
    slide = model.add(ph.RigidBody(1.0, 0.1), position=(0, 1, 0))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 1, 0)), slide.origin))
    model.connect(ph.Rack(shaft, rail, 0.2))
    model.apply(shaft.torque(1.0))
    motion = model.simulate(duration=1.0, step=1e-2)
    return abs(motion.translation(rail)[-1] / motion.angle(shaft)[-1]), 0.2


@program("what is dissipated and stored is what was supplied", 1e-10)
def energy_balance():
    model = ph.Model(gravity=DOWN)
    mass = model.add(ph.PointMass(2.0), position=(0, 0, -1))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, 100.0, 3.0, length=0.8))
    energy = model.simulate(duration=2.0, step=1e-2).energy
    return 1 + energy.balance_error[-1], 1.0


@program("sqrt(m g l / (I + m l^2)): an arm of a file of a robot", 1e-6)
def robot_from_a_file():
    import tempfile
    from pathlib import Path

    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    text = f"""<robot name="arm"><link name="base"/><link name="bar"><inertial><origin xyz="0 0 -0.5"/>
    <mass value="2"/>{inertia}</inertial></link><joint name="hinge" type="continuous"><parent link="base"/>
    <child link="bar"/><axis xyz="0 1 0"/></joint></robot>"""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "arm.urdf").write_text(text)
        model = ph.from_urdf(Path(folder) / "arm.urdf", gravity=DOWN)
    return model.linearize(at="static").modes(1).frequencies[0], np.sqrt(G / 0.6)


@program("m g / 2 at each end of a taut line with a weight in its middle", 1e-6)
def two_ropes():
    model = ph.Model(gravity=DOWN)
    lamp = model.add(ph.PointMass(2.0), position=(1, 0, -1))
    left, right = (model.connect(ph.Distance(model.ground.at((x, 0, 0)), lamp.origin)) for x in (0, 2))
    rest = model.equilibrium()
    return rest.reaction(left) + rest.reaction(right), (0, 0, 2 * G)


@program("E A / l: a bar that is pulled", 1e-6)
def stiffness_of_a_bar():
    model = ph.Model()
    rod = model.add(ph.Rod(2.0, BAR, STEEL, elements=4))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    model.apply(ph.Force(rod.end, (1000.0, 0, 0)))
    return 1e5 * (model.equilibrium().position(rod.end)[0] - 2), 1e5 * 1000 * 2 / (2.1e11 * 2e-4)
