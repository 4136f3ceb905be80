"""Two flexible fingers that take a ball by friction and lift it."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, non_negative, positive
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Capsule, Plane
from phlexible.joints.fixed import Fixed
from phlexible.joints.prismatic import Prismatic
from phlexible.model import Model
from phlexible.shapes.solids import Box, Sphere

GRAVITY, RADIUS, MASS, LENGTH, THICK = 9.81, 0.03, 0.1, 0.12, 4e-3
CLOSED, LIFTED = 0.3, 0.8  # [s]


def smooth(time: float, begin: float, end: float) -> float:
    """From 0 to 1 without a jump of velocity."""
    x = min(max((time - begin) / (end - begin), 0.0), 1.0)
    return x * x * (3 - 2 * x)


def moved(start: float, way: float) -> Callable[[float], float]:
    """The path of a jaw until the fingers are closed."""
    return lambda time: start + way * smooth(time, 0.0, CLOSED)


@ready_model
def gripper(
    friction: float = 0.5, squeeze: float = 8e-3, lift: float = 0.1, youngs_modulus: float = 2e9, elements: int = 5
) -> Model:
    """Two jaws press bending fingers on a ball of 0.1 kg that lies on a table, and lift it.

    The fingers close within 0.3 s, bend around the ball and lift it by friction until 0.8 s. Friction creeps
    below its speed, so that the ball sinks by half a millimetre a second; with less friction it stays behind.

    Source: own model.

    Reference: it is held where twice friction times the force of a finger is more than its weight of 0.98 N. Of a
    cantilever of the length to the ball that force is 3 E I squeeze / length^3, 5.1 N; two pieces of each
    push with 5.2 N.

    Shown by: ``phlexible run gripper``, ``phlexible run gripper --set friction=0.1``.

    Args:
        friction: coefficient of fingers and ball.
        squeeze: of each finger [m].
        lift: of the hand [m].
        youngs_modulus: of the fingers [Pa].
        elements: of each finger.
    """
    top = RADIUS + LENGTH - 0.02  # of the jaws; fingers end 2 cm below the middle of the ball
    open_gap = RADIUS + THICK / 2 + 5e-3
    height, close = non_negative("lift", lift), non_negative("squeeze", squeeze)
    model = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    law: dict[str, Any] = {
        "stiffness": 5e3,
        "damping": 2e4,
        "friction": non_negative("friction", friction),
        "friction_speed": 2e-3,
    }

    def hand(time: float) -> Array:
        return np.array([0.0, top + height * smooth(time, CLOSED, LIFTED), 0.0])

    frame = model.ground.moving(hand)
    inertia = 0.4 * MASS * RADIUS**2
    ball = model.add(
        RigidBody(MASS, inertia, shape=Sphere(RADIUS)),
        "ball",
        position=(0.0, RADIUS - MASS * GRAVITY / law["stiffness"], 0.0),
    )
    table = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    model.apply(Contact(ball.origin, table, radius=RADIUS, name="table", **law))
    plastic = Material(positive("youngs_modulus", youngs_modulus), 1200.0, viscosity=1e-3)
    section = RectangularSection(width=THICK, height=0.02)
    for side, name in ((-1.0, "left"), (1.0, "right")):
        place = (side * open_gap, top, 0.0)
        jaw = model.add(RigidBody(0.2, 1e-4, shape=Box((0.02, 0.02, 0.02))), f"{name} jaw", position=place)
        rail = model.connect(Prismatic(frame, jaw.origin, axis=(1.0, 0.0, 0.0)))
        model.apply(rail.drive(position=moved(place[0], -side * (close + 5e-3))))
        finger = model.add(
            Rod(LENGTH, section, plastic, elements=elements), f"{name} finger", position=place, rotation=-np.pi / 2
        )
        model.connect(Fixed(jaw.origin, finger.start))
        for a, b in list(pairwise(finger.nodes()))[-2:]:
            model.apply(Contact(ball.origin, Capsule(a, b, THICK / 2), radius=RADIUS, **law))
    return model
