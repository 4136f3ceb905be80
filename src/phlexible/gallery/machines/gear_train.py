"""A planetary gear: a sun, planets on an arm, a ring that is held."""

import numpy as np

from phlexible.algebra.options import whole
from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.joints.relations import Relation
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.shapes.solids import Cylinder

SUN, PLANET, RING = 0.02, 0.02, 0.06


@ready_model
def gear_train(planets: int = 3, torque: float = 0.1) -> Model:
    """A sun of 20 mm radius turns planets of 20 mm within a ring of 60 mm, and these an arm four times slower.

    In the plane. The planets turn on the arm; each meshes with the sun and with the ring, which is held.

    Source: Willis' equation: (sun - arm) / (ring - arm) = -ring radius / sun radius.

    Reference: sun = 4 arm, planet = -3 arm (relative to the arm), exactly; with the defaults the torque turns the
    sun with ``torque / (J_sun + J_arm / 16 + planets (m a^2 + 4 J_planet) / 16)`` = 930.23 rad/s2.

    Shown by: ``phlexible run gear-train``.

    Args:
        planets: their number.
        torque: on the sun, constant [N m].
    """
    count = whole("planets", planets, least=1)
    model = Model(dimension=2)
    ground = model.ground.at((0.0, 0.0, 0.0))
    wheel = Cylinder(SUN, 0.01, axis=(0.0, 0.0, 1.0), center=(0.0, 0.0, -0.006))  # behind the arm
    sun = model.connect(Revolute(ground, model.add(RigidBody(0.25, 5e-5, shape=wheel), "sun").origin))
    arm_body = model.add(RigidBody(0.2, 2e-4), "arm")
    arm = model.connect(Revolute(ground, arm_body.origin))
    for number in range(count):
        turn = 2 * np.pi * number / count
        place = (SUN + PLANET) * np.array([np.cos(turn), np.sin(turn), 0.0])
        planet = model.add(RigidBody(0.1, 2e-5, shape=wheel), f"planet {number + 1}", position=place)
        pin = model.connect(Revolute(arm_body.point(place), planet.origin))
        in_ring = [(arm, "angle", RING), (pin, "angle", PLANET)]
        model.connect(Relation(in_ring, name=f"ring and planet {number + 1}"))
        if number == 0:  # the others would say the same again
            on_sun = [(sun, "angle", SUN), (arm, "angle", -SUN), (pin, "angle", PLANET)]
            model.connect(Relation(on_sun, name="sun and planet 1"))
    model.apply(sun.torque(torque))
    return model
