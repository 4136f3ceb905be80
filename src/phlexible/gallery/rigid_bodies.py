"""Models of the gallery: rigid bodies."""

from math import cos, sin

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.surfaces import Plane
from phlexible.description.joints.joints import Revolute, Spherical
from phlexible.gallery.entries import ready_model
from phlexible.model import Model
from phlexible.shapes.solids import Box, Sphere, TriangleMesh
from phlexible.shapes.surfaces import revolved

# A ball that falls on the ground and bounces: contact without loss, or with impact damping.


@ready_model(duration=4.0, step=2e-4)
def bouncing_ball(drop_height: float = 0.5, stiffness: float = 1e5, damping: float = 0.0) -> Model:
    """A ball of 1 kg and 0.1 m radius that falls on the ground, z upwards.
    Build and return this ready model of the gallery, to be simulated or linearized. ``drop_height`` is that
    of the ball's lowest point at t = 0 [m], ``stiffness`` that of the ground [N/m], ``damping`` that of the
    impact, after Hunt and Crossley [N s/m^2].

    Source: free fall, and a spring of the ground while it touches, x'' = g - omega^2 x.

    Reference: without damping it comes back to its height every ``2 v / g + 2 (pi - atan(v omega / g)) / omega``
    with ``v^2 = 2 g drop_height``: with the defaults every 0.64855 s. The ground gives way by at most 1.0003 cm.

    Shown by: ``phlexible run bouncing-ball``.

    Args:
        drop_height: of the lowest point at t = 0 [m].
        stiffness: of the ground [N/m]; steps that touch it are taken in as many parts as it needs.
        damping: of the impact, after Hunt and Crossley [N s/m^2].
    """
    model = Model(gravity=(0.0, 0.0, -9.81))
    ball = RigidBody(1.0, (4e-3, 4e-3, 4e-3), shape=Sphere(0.1))
    placed = model.add(ball, "ball", position=(0.0, 0.0, 0.1 + drop_height))
    floor = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 0.0, 1.0))
    model.apply(Contact(placed.origin, floor, stiffness, radius=0.1, damping=damping, name="floor"))
    return model


# Two rigid rods that swing in the plane.


@ready_model(duration=3.0, step=1e-3, operating_point="static")
def double_pendulum(
    length: float = 1.0,
    mass: float = 1.0,
    upper_angle: float = 2.0,
    lower_angle: float = 2.5,
    gravity: float = 9.81,
) -> Model:
    """Two equal uniform rigid rods, pinned to the ground and to each other, released at rest.
    Build and return this ready model of the gallery, to be simulated or linearized. Each rod has a ``length``
    [m] and a ``mass`` [kg]. ``upper_angle`` and ``lower_angle`` are those of the rods at t = 0, from the
    downward vertical towards +x [rad], ``gravity`` [m/s2].

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


# A free body that turns over again and again: rotation about the middle axis of inertia.


@ready_model(duration=20.0, step=1e-2)
def dzhanibekov(disturbance: float = 0.05) -> Model:
    """A free rigid body that spins about its middle axis, which is unstable: it flips periodically.
    Build and return this ready model of the gallery, to be simulated or linearized. ``disturbance`` is the
    angular velocity about the axis of the smallest inertia at t = 0 [rad/s].

    Principal inertias 1, 2 and 3 kg m2, 2 rad/s about the middle axis.

    Source: Euler's equations, solved by Jacobi's elliptic functions in every textbook of mechanics.

    Reference: with the default disturbance the energy is 4.00125 J, the angular momentum 4.00031249 kg m2/s,
    and omega_2 changes its sign for the first time after 4.39 s.

    Shown by: ``phlexible run dzhanibekov``.

    Args:
        disturbance: spin about the axis of the smallest inertia at t = 0 [rad/s].
    """
    model = Model()
    model.add(RigidBody(1.0, (1.0, 2.0, 3.0)), "body", angular_velocity=(disturbance, 2.0, 0.0))
    return model


# A heavy symmetric top in steady precession, whose motion has a closed form.

INERTIA, AXIAL_INERTIA = 0.05, 0.01  # about the fixed point, across and along the axis [kg m2]


@ready_model(duration=5.0, step=1e-3)
def heavy_top(precession: float = 3.0, nutation: float = 30.0, gravity: float = 9.81) -> Model:
    """A symmetric top on a fixed point that precesses about the vertical.
    Build and return this ready model of the gallery, to be simulated or linearized. ``precession`` is the
    angular velocity about the vertical [rad/s], ``nutation`` the angle of the axis from the vertical
    [degrees], ``gravity`` [m/s2].

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


# A top that turns itself over: friction of a sphere whose centre of mass is off its centre.

GRAVITY = 9.81


@ready_model(duration=3.0, step=1e-3)
def tippe_top(spin: float = 150.0, friction: float = 0.3, tilt: float = 0.1, eccentricity: float = 0.3) -> Model:
    """A sphere of 6 g and 20 mm radius with its centre of mass below its centre spins on a table and turns over.
    Build and return this ready model of the gallery, to be simulated or linearized. It starts with the angular
    velocity ``spin`` about an axis at the angle ``tilt``.

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
    law = {"stiffness": stiffness, "damping": 0.3 * stiffness, "friction": friction}
    law |= {"bristle": 0, "friction_speed": 1e-2}  # rises in the time of viscous friction
    model.apply(Contact(placed.origin, table, radius=radius, name="table", **law))
    return model
