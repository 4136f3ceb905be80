"""A top that turns itself over: friction of a sphere whose centre of mass is off its centre."""

from math import cos, sin

import numpy as np

from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Plane
from phlexible.model import Model
from phlexible.shapes.solids import Sphere

GRAVITY = 9.81


@ready_model
def tippe_top(spin: float = 150.0, friction: float = 0.3, tilt: float = 0.1, eccentricity: float = 0.3) -> Model:
    """A sphere of 6 g and 20 mm radius with its centre of mass below its centre spins on a table and turns over.

    Source: R. J. Cohen, The tippe top revisited, American Journal of Physics 45 (1977), 12.

    Reference: sliding friction turns the axis from nearly upright to nearly upside down. The integral of Jellett,
    the angular momentum along the line from the centre of mass to the point that touches, stays.

    Shown by: ``phlexible run tippe-top``.

    Args:
        spin: about the axis at t = 0 [rad/s].
        friction: coefficient.
        tilt: of the axis at t = 0 [rad].
        eccentricity: of the centre of mass, a share of the radius.
    """
    mass, radius, stiffness = 0.006, 0.02, 1e3
    inertia = mass * radius**2 * np.array([0.45, 0.45, 0.5])
    turn = np.array([[cos(tilt), 0.0, sin(tilt)], [0.0, 1.0, 0.0], [-sin(tilt), 0.0, cos(tilt)]])
    model = Model(gravity=(0.0, 0.0, -GRAVITY))
    top = RigidBody(
        mass, inertia, center=(0.0, 0.0, -eccentricity * radius), shape=Sphere(radius, center=(0, 0, 0))
    )
    placed = model.add(
        top,
        "top",
        position=(0.0, 0.0, radius - mass * GRAVITY / stiffness),
        rotation=turn,
        velocity=(0.0, 0.0, 0.0),
        angular_velocity=turn @ (0.0, 0.0, spin),
    )
    table = Plane(model.ground.at((0.0, 0.0, 0.0)))
    law = {"stiffness": stiffness, "damping": 0.3 * stiffness, "friction": friction, "friction_speed": 1e-2}
    model.apply(Contact(placed.origin, table, radius=radius, name="table", **law))
    return model
