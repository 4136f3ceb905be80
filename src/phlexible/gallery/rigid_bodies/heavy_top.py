"""A heavy symmetric top in steady precession, whose motion has a closed form."""

import numpy as np

from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.revolution import revolved
from phlexible.shapes.solids import TriangleMesh

INERTIA, AXIAL_INERTIA = 0.05, 0.01  # about the fixed point, across and along the axis [kg m2]


@ready_model
def heavy_top(precession: float = 3.0, nutation: float = 30.0, gravity: float = 9.81) -> Model:
    """A symmetric top on a fixed point that precesses about the vertical.

    Mass 1 kg, 0.2 m from the fixed point; its spin is the one with which the nutation stays constant.

    Source: the steady precession of Lagrange's top, a closed form of every textbook of mechanics:
    (A precession^2 cos(nutation) + m g l) = C precession omega_3.

    Reference: the axis turns about the vertical at the precession, here (0.498748, -0.035369, 0.866025)
    after 0.5 s, with the height of the center 0.173205 m.

    Shown by: ``phlexible run heavy-top``.

    Args:
        precession: about the vertical [rad/s].
        nutation: of the axis from the vertical, between 0 and 90 [degrees].
        gravity: [m/s2].
    """
    mass, distance, tilt = 1.0, 0.2, np.radians(nutation)
    spin = (INERTIA * precession**2 * np.cos(tilt) + mass * gravity * distance) / (AXIAL_INERTIA * precession)
    across = INERTIA - mass * distance**2
    # It looks like a disc on a spike; the inertia is the one above.
    profile = [[0, 0], [0.9, 0.04], [0.9, 0.45], [1.1, 0.45], [1.1, 0.04], [1.4, 0.04], [1.4, 0]]
    looks = revolved(distance * np.array(profile), np.array([0.0, 0.0, 1.0]), 24)
    shape = TriangleMesh(looks.vertices, looks.triangles)
    top = RigidBody(mass, (across, across, AXIAL_INERTIA), center=(0.0, 0.0, distance), shape=shape)
    axis = np.array([0.0, -np.sin(tilt), np.cos(tilt)])
    rotation = np.column_stack([(1.0, 0.0, 0.0), np.cross(axis, (1.0, 0.0, 0.0)), axis])
    spin_of_body = spin - precession * np.cos(tilt)

    model = Model(gravity=(0.0, 0.0, -gravity))
    turning = np.array([0.0, 0.0, precession]) + spin_of_body * axis
    body = model.add(top, "body", rotation=rotation, angular_velocity=turning)
    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), body.origin))
    return model
