"""Two rigid rods that swing in the plane."""

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.shapes.solids import Box


@ready_model
def double_pendulum(
    length: float = 1.0,
    mass: float = 1.0,
    upper_angle: float = 2.0,
    lower_angle: float = 2.5,
    gravity: float = 9.81,
) -> Model:
    """Two equal uniform rigid rods, pinned to the ground and to each other, released at rest.

    Source: textbook (Lagrange's equations of two compound pendulums). Gravity along -y, the pivot in
    the origin.

    Reference: angles a, b of the rods from the downward vertical obey, for rods of length l,
    ``(8 a'' + 3 b'' cos(a - b) + 3 b'^2 sin(a - b)) l + 9 g sin a = 0`` and
    ``(2 b'' + 3 a'' cos(a - b) - 3 a'^2 sin(a - b)) l + 3 g sin b = 0``. Solved to 1e-12 with the
    default numbers, the free end is at (-1.750529, -0.961285) after 1 s.

    Shown by: ``phlexible run double-pendulum``.

    Args:
        length: of each rod [m].
        mass: of each rod [kg].
        upper_angle: of the upper rod at t = 0, from the downward vertical towards +x [rad].
        lower_angle: of the lower rod at t = 0, likewise [rad].
        gravity: [m/s2].
    """
    length = positive("length", length)
    looks = Box((length, 0.05 * length, 0.05 * length))
    rod = RigidBody(mass, inertia=mass * length**2 / 12, center=(length / 2, 0.0, 0.0), shape=looks)
    hinge = (length * np.sin(upper_angle), -length * np.cos(upper_angle), 0.0)
    end_of_rod = (length, 0.0, 0.0)

    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    upper = model.add(rod, "upper", rotation=upper_angle - np.pi / 2)
    lower = model.add(rod, "lower", position=hinge, rotation=lower_angle - np.pi / 2)
    model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), upper.origin))
    model.connect(Revolute(upper.point(end_of_rod), lower.origin))
    return model
