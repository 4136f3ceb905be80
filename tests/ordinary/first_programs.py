"""Programs of first users: obvious lines, defaults, and a number that a formula gives.

Each program returns what it found and what it should be; the text of its entry is the source of that number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import phlexible as ph

G = 9.81
DOWN = (0, 0, -G)
FLAT = dict(gravity=(0, -G, 0), dimension=2)


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
    def add(run: Callable[[], tuple[object, object]]) -> None:
        PROGRAMS[run.__name__] = Program(run, source, tolerance)

    return add


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


@program("h = e^2 H", 2e-2)
def bouncing_ball():
    model = ph.Model(gravity=DOWN)
    ball = model.add(ph.PointMass(1.0), position=(0, 0, 1.0))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), restitution=0.8))
    return model.simulate(duration=1.0, step=1e-3).position(ball.origin)[:, 2][500:].max(), 0.64


@program("5/7 g sin a: a solid ball rolls", 5e-3)
def ball_rolls_down():
    model = ph.Model(gravity=(G * np.sin(0.2), 0, -G * np.cos(0.2)))
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), position=(0, 0, 0.1))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1)), radius=0.1, friction=0.5))
    return model.simulate(duration=1.0, step=1e-3).position(ball.origin)[-1, 0], 5 / 7 * G * np.sin(0.2) / 2


@program("free fall, then m g (l + d) = k d^2 / 2", 1e-3)
def rope_catches():
    model = ph.Model(gravity=DOWN)
    load = model.add(ph.PointMass(2.0), position=(0, 0, -1))
    model.apply(ph.Distance(model.ground.at((0, 0, 0)), load.origin, length=2.0).spring(1e4, tension_only=True))
    weight = 2 * G
    deepest = -2 - (weight + np.sqrt(weight**2 + 2e4 * weight)) / 1e4
    return model.simulate(duration=0.6, step=1e-3).position(load.origin)[:, 2].min(), deepest
