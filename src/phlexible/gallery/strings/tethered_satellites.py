"""Two satellites on a tether."""

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string.law import StringLaw, StVenantKirchhoffLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.solids import Sphere


@ready_model
def tethered_satellites(
    first_mass: float = 400.0,
    second_mass: float = 150.0,
    radius: float = 0.8,
    tether_length: float = 60.0,
    line_density: float = 0.05,
    axial_stiffness: float = 2.0e4,
    spin: float = 0.2,
    roll: float = 0.05,
    elements: int = 24,
    law: StringLaw | None = None,
) -> Model:
    """Two rigid satellites turn about each other in free flight, held together by an elastic tether.

    The tether starts straight and evenly stretched, all turns about z; each satellite also rolls about
    another axis, so that the motion is spatial.

    Source: the rotating tethered system of any textbook on tethers in space; the numbers are ours.

    Reference: linear and angular momentum and energy are constant. In steady rotation the tether carries
    about ``m_1 m_2 / (m_1 + m_2) (l + 2 r) w^2`` = 268.8 N (rigid, massless tether).

    Shown by: ``phlexible run tethered-satellites``.

    Args:
        first_mass, second_mass: homogeneous balls [kg].
        radius: of both [m]; the tether is fixed to their surfaces.
        tether_length: undeformed [m].
        line_density: of the tether [kg/m].
        axial_stiffness: EA [N].
        spin: about z [rad/s].
        roll: of each satellite about x and y [rad/s].
        elements: of the tether.
        law: of the tether; None: St. Venant-Kirchhoff.
    """
    first_mass, second_mass = positive("first_mass", first_mass), positive("second_mass", second_mass)
    tether_length = positive("tether_length", tether_length)
    axial_stiffness = positive("axial_stiffness", axial_stiffness)
    total = first_mass + second_mass
    pull = first_mass * second_mass / total * (tether_length + 2 * radius) * spin**2
    stretched = tether_length * (1 + pull / axial_stiffness)
    distance = stretched + 2 * radius
    tether = String(
        tether_length, line_density, elements, StVenantKirchhoffLaw(axial_stiffness) if law is None else law
    )
    model = Model(dimension=3)
    left = -second_mass / total * distance

    def turning(place: Array) -> Array:
        return np.cross([0.0, 0.0, spin], place)

    ports = []
    for name, mass, x, side in (
        ("first", first_mass, left, 1.0),
        ("second", second_mass, left + distance, -1.0),
    ):
        ball = RigidBody(mass, [0.4 * mass * radius**2] * 3, shape=Sphere(radius))
        center = np.array([x, 0.0, 0.0])
        satellite = model.add(
            ball, name, position=center, velocity=turning(center), angular_velocity=(side * roll, 0.0, spin)
        )
        ports.append(satellite.point((side * radius, 0.0, 0.0)))
    ends = [port.initial_position() for port in ports]

    def speed(s: float) -> Array:
        """Of the rotation, and a swing out of its plane, zero at both ends."""
        place = ends[0] + (ends[1] - ends[0]) * s / tether_length
        swing = roll * tether_length / 10 * np.sin(np.pi * s / tether_length)
        return np.asarray(turning(place) + np.array([0.0, 0.0, swing]))

    line = model.add(tether, "tether", shape=ends, velocity=speed)
    model.connect(Spherical(ports[0], line.start))
    model.connect(Spherical(line.end, ports[1]))
    return model
