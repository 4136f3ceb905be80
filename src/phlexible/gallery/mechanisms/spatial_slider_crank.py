"""A crank that turns in one plane and a slider that moves across it, joined by a rod in space."""

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.revolute import Revolute
from phlexible.joints.spherical import Spherical
from phlexible.joints.universal import Universal
from phlexible.model import Model
from phlexible.shapes.solids import Box

CRANK_LENGTH, ROD_LENGTH = 0.08, 0.3
PIVOT = np.array([0.0, 0.1, 0.12])


@ready_model
def spatial_slider_crank(crank_speed: float = 6.0, gravity: float = 9.81) -> Model:
    """The rigid spatial slider-crank: revolute, spherical, universal and prismatic joint, one motion.

    Source: multibody benchmark of IFToMM's technical committee (spatial rigid slider-crank mechanism);
    data after E. J. Haug, *Computer aided kinematics and dynamics of mechanical systems*, 1989. The crank
    (0.12 kg, 0.08 m) turns about the x axis in (0, 0.1, 0.12) and starts upright; a rod (0.5 kg, 0.3 m) leads
    to a slider (2 kg) on the x axis. Gravity along -z.

    Reference: with the energies as functions of the crank angle, the crank has turned by 5.583763 rad after
    0.5 s and the slider is at x = 0.184953 m; 10.913591 rad and 0.211722 m after 1 s. At t = 0 the rod
    turns at (1.92, -0.96, 0.48) rad/s, as published with the benchmark. The curves published there differ
    by up to half a radian in the crank angle within 1 s (5.28 rad after 0.5017 s); the crank's inertia is
    taken about its middle here, and taken about the pivot it does not reproduce them either.

    Shown by: ``phlexible run spatial-slider-crank``.

    Args:
        crank_speed: of the crank at t = 0, about x [rad/s].
        gravity: [m/s2].
    """
    crank_speed = finite("crank_speed", crank_speed)
    tip = PIVOT + np.array([0.0, 0.0, CRANK_LENGTH])
    slide = np.array([np.sqrt(ROD_LENGTH**2 - tip @ tip), 0.0, 0.0])
    along = (slide - tip) / ROD_LENGTH
    across = np.cross((1.0, 0.0, 0.0), along)  # the axis of the universal joint that stays in the rod
    across /= np.linalg.norm(across)
    rotation = np.column_stack([along, across, np.cross(along, across)])

    model = Model(gravity=(0.0, 0.0, -gravity))
    crank = model.add(
        RigidBody(
            0.12, (1e-4, 1e-4, 1e-5), center=(0.0, 0.0, CRANK_LENGTH / 2), shape=Box((0.012, 0.012, CRANK_LENGTH))
        ),
        "crank",
        PIVOT,
        velocity=(0.0, 0.0, 0.0),
        angular_velocity=(crank_speed, 0.0, 0.0),
    )
    rod_inertia, half = (4e-4, 4e-3, 4e-3), (ROD_LENGTH / 2, 0.0, 0.0)
    rod = model.add(
        RigidBody(0.5, rod_inertia, center=half, shape=Box((ROD_LENGTH, 0.008, 0.008))), "rod", tip, rotation
    )
    slider = model.add(RigidBody(2.0, (1e-4, 1e-4, 1e-4), shape=Box((0.04, 0.03, 0.03))), "slider", slide)
    x_axis = (1.0, 0.0, 0.0)
    model.connect(Revolute(model.ground.at(PIVOT), crank.origin, axis=x_axis))
    model.connect(Spherical(crank.point((0.0, 0.0, CRANK_LENGTH)), rod.origin))
    rod_end = rod.point((ROD_LENGTH, 0.0, 0.0))
    model.connect(Universal(slider.origin, rod_end, axis=x_axis, second_axis=across))
    model.connect(Prismatic(model.ground.at((0.0, 0.0, 0.0)), slider.origin, axis=x_axis))
    return model
