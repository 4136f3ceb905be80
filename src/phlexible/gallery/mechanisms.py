"""Models of the gallery: mechanisms with closed loops."""

import numpy as np

from phlexible.algebra.arrays import finite, positive, whole
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.description.interactions.force_elements import SpringDamper
from phlexible.description.joints.joints import Fixed, Prismatic, Revolute, Slider, Spherical, Universal
from phlexible.elements.sections import CircularSection, Section
from phlexible.errors import ParameterError
from phlexible.gallery.entries import BeamPoint, Reference, around_circle, ready_model
from phlexible.model import Model
from phlexible.shapes.solids import Box

# Seven rigid links in the plane, the classical test of solvers for constrained motion.

A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
"""Pivots on the ground, and where the spring is held [m]."""

INITIAL = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)
"""beta, Theta, gamma, Phi, delta, Omega, epsilon at rest [rad]."""


@ready_model(duration=0.03, step=1e-5)
def andrews_squeezer(torque: float = 0.033) -> Model:
    """Andrews' mechanism of seven links, three closed loops, a spring and a motor.
    Build and return this ready model of the gallery, to be simulated or linearized. ``torque`` is that of the
    motor on the first link [N m].

    Source: W. Schiehlen (ed.), *Multibody Systems Handbook*, 1990; data as in the Test Set for IVP Solvers
    (F. Mazzia, C. Magherini) and E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, VII.7.

    Reference: the angles of the links after 0.03 s, of the test set: beta = 15.81077119629904,
    Theta = -15.75637105984298, gamma = 0.04082224013073101, Phi = -0.5347301163226948,
    delta = 0.5244099658805304, Omega = 0.5347301163226948, epsilon = 1.048080741042263 rad.

    Shown by: ``phlexible run andrews-squeezer``.

    Args:
        torque: of the motor on the first link [N m].
    """
    beta, theta, gamma, phi, delta, omega, epsilon = INITIAL
    first = RigidBody(0.04325, 2.194e-6, center=(9.2e-4, 0.0, 0.0))
    second = RigidBody(0.00365, 4.410e-7, center=(-0.0115, 0.0, 0.0))
    third = RigidBody(0.02373, 5.255e-6, center=(0.01043, -0.01874, 0.0))
    fourth = RigidBody(0.00706, 5.667e-7, center=(0.0, -(0.02 - 0.01421), 0.0))
    fifth = RigidBody(0.07050, 1.169e-5, center=(0.02308, 0.00916, 0.0))
    sixth = RigidBody(0.00706, 5.667e-7, center=(0.02 - 0.01421, 0.0, 0.0))
    seventh = RigidBody(0.05498, 1.912e-5, center=(-0.00449, -0.01228, 0.0))

    model = Model(dimension=2)
    one = model.add(first, "link 1", rotation=beta)
    tip = one.point((0.007, 0.0, 0.0))
    two = model.add(second, "link 2", tip.initial_position(), beta + theta)
    middle = two.point((-0.028, 0.0, 0.0))  # where links 2, 3, 4 and 6 meet
    three = model.add(third, "link 3", B, gamma)
    five = model.add(fifth, "link 5", A, delta)
    knee = five.point((0.04, 0.0, 0.0))
    four = model.add(fourth, "link 4", knee.initial_position(), phi + delta)
    seven = model.add(seventh, "link 7", A, epsilon)
    elbow = seven.point((0.0, -0.04, 0.0))
    six = model.add(sixth, "link 6", elbow.initial_position(), omega + epsilon)

    crank = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), one.origin))
    model.connect(Revolute(tip, two.origin))
    model.connect(Revolute(model.ground.at(B), three.origin))
    model.connect(Revolute(middle, three.point((0.0, -0.035, 0.0))))
    model.connect(Revolute(model.ground.at(A), five.origin))
    model.connect(Revolute(knee, four.origin))
    model.connect(Revolute(middle, four.point((0.0, -0.02, 0.0))))
    model.connect(Revolute(model.ground.at(A), seven.origin))
    model.connect(Revolute(elbow, six.origin))
    model.connect(Revolute(middle, six.point((0.02, 0.0, 0.0))))
    model.apply(SpringDamper(model.ground.at(C), three.point((0.02, -0.018, 0.0)), 4530.0, 0.0, 0.07785))
    model.apply(crank.torque(torque, name="motor"))
    return model


# Six hinges in a ring: a mechanism that moves although it should not.

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=np.float64)
"""Of a cube, along its edges; the edge from the last one to the first is the ground."""


@ready_model(duration=10.0, step=1e-3, operating_point="static")
def bricard(length: float = 1.0, mass: float = 1.0, width: float = 0.1, gravity: float = 9.81) -> Model:
    """Five rigid rods and the ground along six edges of a cube, hinged to a ring, released at rest.
    Build and return this ready model of the gallery, to be simulated or linearized. Each rod has a ``length``
    [m], a ``mass`` [kg] and a square section of the given ``width`` [m]; ``gravity`` is along -y [m/s2].

    The axis of each hinge is perpendicular to both of its rods. Thirty constraints on five bodies leave
    one motion, since one of them repeats the others in every position: a redundant one.

    Source: multibody benchmark of IFToMM's technical committee, problem A04 (Bricard's mechanism).
    Gravity along -y, rods of square section.

    Reference: energy is constant. From the kinetic energy as a function of the one coordinate, found by
    following the closed ring, the corner that starts at (1, -1, 1) is at (0.968284, -1.224625, 0.750147)
    after 0.5 s and at (0.510502, -1.649168, 0.140123) after 1 s.

    Shown by: ``phlexible run bricard``.

    Args:
        length: of each rod [m].
        mass: of each rod [kg].
        width: of the section [m].
        gravity: [m/s2].
    """
    length, width = positive("length", length), positive("width", width)
    across = mass * (length**2 + width**2) / 12
    looks = Box((length, width, width))
    rod = RigidBody(mass, (mass * width**2 / 6, across, across), center=(length / 2, 0.0, 0.0), shape=looks)
    corners = length * CORNERS
    tip = (length, 0.0, 0.0)

    model = Model(gravity=(0.0, -gravity, 0.0))
    edges = np.diff(CORNERS, axis=0)
    turns = [np.column_stack([edge, np.roll(edge, 1), np.cross(edge, np.roll(edge, 1))]) for edge in edges]
    rods = [model.add(rod, f"rod {k + 1}", corners[k], turn) for k, turn in enumerate(turns)]
    ground = CORNERS[0] - CORNERS[-1]
    model.connect(Revolute(model.ground.at(corners[0]), rods[0].origin, axis=np.cross(ground, edges[0])))
    for k in range(4):
        axis = np.cross(edges[k], edges[k + 1])
        model.connect(Revolute(rods[k].point(tip), rods[k + 1].origin, axis=axis))
    model.connect(Revolute(rods[4].point(tip), model.ground.at(corners[5]), axis=np.cross(edges[4], ground)))
    return model


# A fast crank-slider with a flexible coupler.

MIDDLE_OF_COUPLER = BeamPoint("coupler", 0.5)


@ready_model(
    duration=0.1,
    step=2e-5,
    points=(MIDDLE_OF_COUPLER,),
    references=(
        Reference(
            "von Karman strain",
            MIDDLE_OF_COUPLER,
            duration=0.1,
            greatest=0.01541951,
            smallest=-0.01554659,
            allowed={"elements": None, "modes": None},
        ),
        Reference(
            "geometrically exact beam",
            MIDDLE_OF_COUPLER,
            duration=0.1,
            greatest=0.01538815,
            smallest=-0.01552910,
            allowed={"elements": None, "modes": None, "slider_mass": (0.033, 0.033378)},
        ),
        Reference(
            "linear strain",
            MIDDLE_OF_COUPLER,
            duration=0.1,
            greatest=0.01877925,
            smallest=-0.01868704,
            allowed={"elements": None, "modes": None},
            required={"strain": "linear"},
        ),
    ),
)
def crank_slider(
    crank_length: float = 0.15,
    crank_speed: float = 150.0,
    coupler_length: float = 0.3,
    diameter: float = 6e-3,
    youngs_modulus: float = 0.2e12,
    density: float = 7870.0,
    slider_mass: float = 0.033,
    elements: int = 8,
    strain: str = "von_karman",
    modes: int | None = None,
) -> Model:
    """A crank turned at constant speed, a flexible steel coupler and a slider on the x axis.
    Build and return this ready model of the gallery, to be simulated or linearized. ``strain`` is the measure of
    strain of the coupler, ``modes`` the number of its bending modes.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible
    multibody dynamics*, 2020, section 6.2; the numbers are those of their example. The crank points
    along +x at t = 0, the coupler starts undeformed; no gravity; no rotary inertia of bending.

    Reference: transverse displacement u_y / L of the coupler's middle over the first 0.1 s, from
    classical displacement finite elements in a floating frame: greatest 0.015420, smallest -0.015547
    with von Karman strain, 0.018779 and -0.018687 with linear strain (which does not stiffen).
    Geometrically exact shear-free beams with a slider of 0.033378 kg: 0.015388 and -0.015529.

    Shown by: ``phlexible run crank-slider``.

    Args:
        crank_length: [m].
        crank_speed: constant, about z [rad/s].
        coupler_length: [m].
        diameter: of the coupler's round section [m].
        youngs_modulus: of the coupler [Pa].
        density: of the coupler [kg/m3].
        slider_mass: [kg].
        elements: of the coupler.
        strain: "von_karman" or "linear".
        modes: bending modes of the coupler that are kept; None: all finite element coordinates.
    """
    radius, omega = positive("crank_length", crank_length), finite("crank_speed", crank_speed)
    beam = Beam(
        length=coupler_length,
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        strain=strain,  # type: ignore[arg-type]  # checked by Beam
        rotary_inertia=False,
        modes=modes,
    )

    model = Model(dimension=2)
    coupler = model.add(beam, "coupler", position=(radius, 0.0, 0.0))
    slider = model.add(PointMass(slider_mass), "slider", position=(radius + coupler_length, 0.0, 0.0))
    crank_pin, crank_pin_velocity = around_circle(radius, omega)
    pin = model.ground.moving(crank_pin, velocity=crank_pin_velocity)
    model.connect(Revolute(pin, coupler.start))
    model.connect(Revolute(coupler.end, slider.origin))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), slider.origin, axis=(1.0, 0.0, 0.0)))
    return model


# A four-bar linkage of flexible links, the linear example of the source.

YOUNGS_MODULUS, DENSITY = 7.1e10, 2714.0
PIN_MASS = 0.042
GROUND_LENGTH = 0.254


@ready_model(duration=0.1, step=1e-4, points=(BeamPoint("coupler", 0.5),))
def four_bar(crank_angle: float = 0.0, elements: int = 10, crank_speed: float = 0.0) -> Model:
    """Three flexible aluminium links and the ground, pinned to a loop; the crank is clamped.
    Build and return this ready model of the gallery, to be simulated or linearized. ``crank_angle`` is that
    of the crank from the line to the follower's pivot [rad], ``elements`` the number of elements of each
    link. ``crank_speed`` [rad/s] other than 0 drives the crank instead of clamping it.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible
    multibody dynamics*, 2020, section 6.1 and table 1. The crank is clamped at its pivot, the other
    joints are pins, 0.042 kg sit at the two moving pins; no rotary inertia. Of the two ways to close the
    loop, the pin of coupler and follower is to the left of the line from the crank's tip to the ground.

    Reference: pulsations of exact dynamic stiffness matrices, for the crank angle 0: 269.618257,
    305.716366, 383.352515, 1207.762, 1292.677 and 2693.645 rad/s; for 90 degrees: 292.767644,
    314.907766, 508.593456 rad/s.

    Shown by: ``phlexible modes four-bar``; in motion by ``phlexible run four-bar --set crank_speed=10``.

    Args:
        crank_angle: from the line to the follower's pivot, about z [rad].
        elements: of each link.
        crank_speed: 0: the crank is clamped, as in the source; otherwise it is driven at its pivot [rad/s].
    """
    angle, speed = finite("crank_angle", crank_angle), finite("crank_speed", crank_speed)
    crank_body = _link(0.108, 1.0774e-4, 11.472, elements)
    coupler_body = _link(0.2794, 4.0645e-5, 0.616, elements)
    follower_body = _link(0.2705, 4.0645e-5, 0.616, elements)
    tip = crank_body.length * np.array([np.cos(angle), np.sin(angle), 0.0])
    pivot = np.array([GROUND_LENGTH, 0.0, 0.0])
    coupler_angle = _coupler_angle(tip, pivot, coupler_body.length, follower_body.length)
    knee = tip + coupler_body.length * np.array([np.cos(coupler_angle), np.sin(coupler_angle), 0.0])
    to_pivot = pivot - knee
    follower_angle = float(np.arctan2(to_pivot[1], to_pivot[0]))

    model = Model(dimension=2)
    crank = model.add(crank_body, "crank", rotation=angle)
    coupler = model.add(coupler_body, "coupler", position=tip, rotation=coupler_angle)
    follower = model.add(follower_body, "follower", position=knee, rotation=follower_angle)
    first_mass = model.add(PointMass(PIN_MASS), "mass at the crank", position=tip)
    second_mass = model.add(PointMass(PIN_MASS), "mass at the follower", position=knee)
    pillar = model.ground.at((0.0, 0.0, 0.0))
    if speed == 0:
        model.connect(Fixed(pillar, crank.start))
    else:
        pin = model.connect(Revolute(pillar, crank.start))
        model.apply(pin.drive(angle=lambda t: speed * t, name="crank drive"))
    model.connect(Revolute(crank.end, coupler.start))
    model.connect(Revolute(coupler.end, follower.start))
    model.connect(Revolute(follower.end, model.ground.at(pivot)))
    model.connect(Revolute(coupler.start, first_mass.origin))
    model.connect(Revolute(follower.start, second_mass.origin))
    return model


def _link(length: float, area: float, flexural_rigidity: float, elements: int) -> Beam:
    return Beam(
        length=length,
        section=Section(area, flexural_rigidity / YOUNGS_MODULUS),
        material=Material(YOUNGS_MODULUS, DENSITY),
        elements=elements,
        rotary_inertia=False,
    )


def _coupler_angle(tip: np.ndarray, pivot: np.ndarray, coupler: float, follower: float) -> float:
    """Return the angle of a four-bar linkage's coupler from the x axis [rad], by the law of cosines. ``tip`` is
    the end of the crank, ``pivot`` the follower's ground point; ``coupler`` and ``follower`` are lengths [m]. The
    coupler is rotated to the left of the line from tip to pivot. ParameterError if the loop does not close."""
    line = pivot - tip
    distance = float(np.linalg.norm(line))
    cosine = (distance**2 + coupler**2 - follower**2) / (2 * distance * coupler)
    if not abs(cosine) <= 1:
        raise ParameterError(f"the loop does not close with the crank's tip {distance:g} m from the pivot")
    return float(np.arctan2(line[1], line[0]) + np.arccos(cosine))


# A row of parallelograms that passes positions where its links lie in one line.

THICKNESS = 0.01
"""Of the rods over their length; it gives them an inertia about their own axis, which nothing excites."""


@ready_model(duration=10.0, step=1e-3)
def n_four_bar(
    loops: int = 2,
    length: float = 1.0,
    mass: float = 1.0,
    speed: float = 1.0,
    gravity: float = 9.81,
    dimension: int = 2,
) -> Model:
    """Upright cranks on the ground, pinned to a row of coupler rods: all rods equal, thin and rigid.
    Build and return this ready model of the gallery, to be simulated or linearized. It has a number of ``loops``;
    the tips of the cranks start with the ``speed``.

    Source: multibody benchmark of IFToMM's technical committee, problem A02 (N-four-bar mechanism). Gravity
    along -y; at t = 0 the cranks stand upright and their tips move along x. Twice a turn all rods lie in
    one line, where each loop could also go on as an antiparallelogram.

    Reference: a parallelogram's couplers do not turn, so that with N loops the angle of the cranks from the
    x axis obeys ``((N + 1) / 3 + N) l a'' = -((N + 1) / 2 + N) g cos a``. Solved to 1e-12 with the default
    numbers, the tip of the first crank is at (0.695287, 0.718733) after 0.5 s and at (-0.195021, -0.980799)
    after 1 s. The forces that keep cranks with unequal loads together grow without bound where all rods
    come into one line: one over the angle that is left.

    In space (``dimension=3``) the hinges of each loop hold three motions twice; their forces are then the
    smallest ones.

    Shown by: ``phlexible run n-four-bar``.

    Args:
        loops: N; 2 N + 1 rods move.
        length: of each rod [m].
        mass: of each rod [kg].
        speed: of the tips of the cranks at t = 0, along x [m/s].
        gravity: [m/s2].
        dimension: 2: pins in the plane; 3: the same hinges in space, which are redundant.

    Raises:
        ParameterError: no loop, or lengths and masses out of range.
    """
    loops = whole("loops", loops)
    length, mass, speed = positive("length", length), positive("mass", mass), finite("speed", speed)
    across = mass * length**2 / 12
    along = across * 2 * THICKNESS**2
    looks = Box((length, 0.03 * length, 0.03 * length))
    rod = RigidBody(mass, (along, across * (1 + THICKNESS**2), across), center=(length / 2, 0.0, 0.0), shape=looks)
    tip = (length, 0.0, 0.0)
    upright = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    model = Model(gravity=(0.0, -gravity, 0.0), dimension=dimension)
    cranks = [
        model.add(
            rod,
            f"crank {k + 1}",
            (k * length, 0.0, 0.0),
            np.pi / 2 if dimension == 2 else upright,
            velocity=(0.0, 0.0, 0.0),
            angular_velocity=(0.0, 0.0, -speed / length),
        )
        for k in range(loops + 1)
    ]
    couplers = [
        model.add(rod, f"coupler {k + 1}", (k * length, length, 0.0), velocity=(speed, 0.0, 0.0))
        for k in range(loops)
    ]
    for k, crank in enumerate(cranks):
        model.connect(Revolute(model.ground.at((k * length, 0.0, 0.0)), crank.origin))
    for k, coupler in enumerate(couplers):
        model.connect(Revolute(cranks[k].point(tip), coupler.origin))
    for k, coupler in enumerate(couplers):
        model.connect(Revolute(coupler.point(tip), cranks[k + 1].point(tip)))
    return model


# A crank that turns in one plane and a slider that moves across it, joined by a rod in space.

CRANK_LENGTH, ROD_LENGTH = 0.08, 0.3
PIVOT = np.array([0.0, 0.1, 0.12])


@ready_model(duration=5.0, step=5e-4)
def spatial_slider_crank(crank_speed: float = 6.0, gravity: float = 9.81) -> Model:
    """The rigid spatial slider-crank: revolute, spherical, universal and prismatic joint, one motion.
    Build and return this ready model of the gallery, to be simulated or linearized. ``crank_speed`` is that
    of the crank about x at t = 0 [rad/s], ``gravity`` along -z [m/s2].

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
