"""Models of the gallery: beams and chains of beams."""

from itertools import pairwise
from typing import Any

import numpy as np

from phlexible.algebra.arrays import finite, positive, whole
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.description.interactions.loads import Force, Torque
from phlexible.description.joints.joints import Fixed, Revolute, Slider, Spherical
from phlexible.elements.sections import CircularSection, RectangularSection, Section
from phlexible.gallery.entries import BeamPoint, Reference, ready_model, smooth_run_up
from phlexible.model import Model

# A chain of flexible links, in the plane or in space.


@ready_model(duration=1.0, step=5e-4, points=(BeamPoint("link 1", 0.5),), operating_point="static")
def chain(
    links: int = 5,
    dimension: int = 2,
    elements: int = 4,
    modes: int | None = None,
    link_length: float = 0.2,
    diameter: float = 2e-3,
    youngs_modulus: float = 7.0e10,
    density: float = 2700.0,
    gravity: float = 9.81,
) -> Model:
    """Equal flexible links that hang from the origin, released at rest along +x, gravity along -y.
    Build and return this ready model of the gallery, to be simulated or linearized, with a number of ``links`` in
    the plane or in space (``dimension``).

    The bodies are "link 1" (at the ground) to "link n". Joints are ``Revolute`` in the plane and
    ``Spherical`` in space, where the motion is the same: nothing leaves the plane.

    Source: the falling chain, a usual test of solvers, because the cost a step should grow in
    proportion to the number of links.

    Reference: the energy stays what it was, zero; until elastic waves matter the first reaction of the
    ground on one rigid rod would be m g / 4 upwards, and the plane and the spatial chain agree.

    Shown by: ``phlexible run chain --set links=20``.

    Args:
        links: number of links.
        dimension: 2 or 3.
        elements: of each link.
        modes: bending and torsion modes of each link that are kept; None: all finite element coordinates.
        link_length: of each link [m].
        diameter: of the round section [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        gravity: [m/s2].
    """
    links = whole("links", links)
    link = Beam(
        length=link_length,
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        modes=modes,
    )
    joint = Revolute if dimension == 2 else Spherical
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=dimension)
    bodies = [model.add(link, f"link {k + 1}", position=(k * link.length, 0.0, 0.0)) for k in range(links)]
    model.connect(joint(model.ground.at((0.0, 0.0, 0.0)), bodies[0].start))
    for before, after in pairwise(bodies):
        model.connect(joint(before.end, after.start))
    return model


# A steel ruler that swings in the plane.


@ready_model(duration=2.0, step=5e-4, points=(BeamPoint("beam", 0.5),), operating_point="static")
def flexible_pendulum(
    length: float = 1.0,
    thickness: float = 2e-3,
    height: float = 30e-3,
    youngs_modulus: float = 2.0e11,
    density: float = 7850.0,
    viscosity: float = 0.0,
    gravity: float = 9.81,
    elements: int = 6,
    modes: int | None = None,
) -> Model:
    """A flexible beam hinged to the ground at its start, released at rest along +x, gravity along -y.
    Build and return this ready model of the gallery, to be simulated or linearized.

    Source: the compound pendulum of any textbook, with a beam in place of the rod.

    Reference: a rigid uniform rod released from the horizontal passes the vertical after
    ``K(1/2) sqrt(2 l / (3 g)) = 0.48332 s`` (K: complete elliptic integral, parameter m = 1/2) with the
    rate ``sqrt(3 g / l) = 5.4249 rad/s``; the beam stays close to it, and its end trembles around the
    rigid motion with a pinned-free period of ``2 pi l^2 / (15.418 sqrt(EI / (rho A)))`` = 0.14 s.

    Shown by: ``phlexible run flexible-pendulum``.

    Args:
        length: [m].
        thickness: of the section, in the plane of motion [m].
        height: of the section, across the plane of motion [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        viscosity: Kelvin-Voigt time of the material [s].
        gravity: [m/s2].
        elements: of the beam.
        modes: bending modes that are kept; None: all finite element coordinates.
    """
    ruler = Beam(
        length=length,
        section=RectangularSection(width=thickness, height=height),
        material=Material(youngs_modulus, density, viscosity=viscosity),
        elements=elements,
        frame="simply_supported",
        modes=modes,
    )
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    beam = model.add(ruler, "beam")
    model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), beam.start))
    return model


# Two flexible beams that tumble freely in space.

BEND = (0.0, -0.3, 1.0)  # rotation vector of the second beam against the first one, at t = 0


@ready_model(duration=2.0, step=1e-3, points=(BeamPoint("first", 0.5), BeamPoint("second", 0.5)))
def free_pair(
    length: float = 1.0,
    width: float = 6e-3,
    height: float = 3e-3,
    youngs_modulus: float = 7.0e10,
    density: float = 2700.0,
    velocity: tuple[float, float, float] = (-0.7, -3.2, -1.3),
    first_spin: tuple[float, float, float] = (3.0, -4.0, 5.0),
    second_spin: tuple[float, float, float] = (-6.0, 2.0, -5.0),
    elements: int = 4,
    modes: int | None = None,
) -> Model:
    """Two equal flexible beams joined by a spherical joint, in free flight with large rotations.
    Build and return this ready model of the gallery, to be simulated or linearized. ``velocity`` is that of the
    first beam's free end at t = 0, ``first_spin`` and ``second_spin`` are the angular velocities of the beams.

    The first beam lies along +x from the origin, the second starts at its end. Both are undeformed and
    the joint's velocity is common at t = 0. There is no load and no support.

    Source: the law that every force and moment inside a system cancels.

    Reference: energy, linear and angular momentum keep their first values, which follow from two rigid
    rods: with the defaults 0.342635 J and (0.0446317, 0.0285930, 0.0200872) kg m/s.

    Shown by: ``phlexible run free-pair``.

    Args:
        length: of each beam [m].
        width: of the section along the beam's y axis [m].
        height: of the section along the beam's z axis [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        velocity: of the free end of the first beam at t = 0, world axes [m/s].
        first_spin: angular velocity of the first beam at t = 0, world axes [rad/s].
        second_spin: likewise of the second one [rad/s].
        elements: of each beam.
        modes: bending and torsion modes of each beam that are kept; None: all finite element coordinates.
    """
    from scipy.spatial.transform import Rotation

    beam = Beam(
        length=length,
        section=RectangularSection(width=width, height=height),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        modes=modes,
    )
    joint = np.array([beam.length, 0.0, 0.0])
    joint_velocity = np.asarray(velocity, dtype=np.float64) + np.cross(first_spin, joint)

    model = Model()
    first = model.add(beam, "first", velocity=velocity, angular_velocity=first_spin)
    bend = Rotation.from_rotvec(BEND)
    second = model.add(beam, "second", joint, bend, joint_velocity, second_spin)
    model.connect(Spherical(first.end, second.start))
    return model


# A cantilever on a rotating hub.


@ready_model(duration=2.0, step=1e-2, points=(BeamPoint("beam", 1.0),), operating_point="steady_rotation")
def rotating_cantilever(speed: float = 6.0, slenderness: float = 1e3, elements: int = 20) -> Model:
    """A beam clamped to a hub of radius zero that turns about z; the rotation stiffens its bending.
    Build and return this ready model of the gallery, to be simulated or linearized. ``speed`` is that of the
    hub about z [rad/s], ``slenderness`` the length over the radius of gyration of the section, ``elements``
    the number of elements of the beam.

    Source: A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, *Vibration modes of centrifugally
    stiffened beams*, Journal of Applied Mechanics 49, 1982. Length, rho A and EI are 1, so that speeds and
    frequencies are those of the source, in units of sqrt(EI / (rho A l^4)).

    Reference: out of the plane of rotation (flap) 7.3604, 26.8091 and 66.6839 at speed 6, and 11.2023,
    33.6404 and 74.6493 at speed 10; in the plane (chord) the squares are less by the speed's square.

    Shown by: ``phlexible modes rotating-cantilever``, and
    ``phlexible run rotating-cantilever`` for the ringing of an undeformed start.

    Args:
        speed: of the hub, about z [rad/s].
        slenderness: length over radius of gyration; large: the beam is as good as inextensible.
        elements: of the beam.
    """
    omega, ratio = finite("speed", speed), positive("slenderness", slenderness)
    blade = Beam(
        length=1.0,
        section=Section(area=1.0, second_moment_y=ratio**-2),
        material=Material(youngs_modulus=ratio**2, density=1.0),
        elements=elements,
        rotary_inertia=False,
    )

    model = Model()
    beam = model.add(blade, "beam")
    hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=lambda t: omega * t)
    model.connect(Fixed(hub, beam.start))
    return model


# A beam on a spherical joint that is spun up and then struck at its tip.

SPIN_UP = (0.0, 2e-4, 1e-2, 1.02e-2)
BLOW = (1.5e-2, 1.52e-2, 1.54e-2)


@ready_model(duration=0.05, step=1e-5, points=(BeamPoint("beam", 0.5),))
def spatial_beam(elements: int = 8, strain: str = "von_karman", modes: int | None = None) -> Model:
    """A beam that a torque spins up about z and a blow along z lifts out of the plane.
    Build and return this ready model of the gallery, to be simulated or linearized. ``elements`` is the
    number of elements of the beam, ``strain`` its measure of strain ("von_karman" or "linear"), ``modes`` the
    number of bending and torsion modes that are kept (None: all coordinates).

    It is held at its start by a spherical joint. A torque about the body's z axis rises to 0.2 N m in
    0.2 ms, stays until 10 ms and is gone at 10.2 ms; at 15 ms the tip is struck along the world's z axis
    by a triangle of 100 N and 0.4 ms.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible multibody
    dynamics*, 2020, section 6.3, Table 2. The units printed there cannot be meant (the density is in
    kg/mm3, and 200 N/mm for 10.2 s would spin the beam to 30 000 rad/s); milliseconds and N m give the
    motion of the figures. Table 2 prints a length of 141.45 mm; 141.42 mm, taken here as in the reference, turn
    0.06 % faster.

    Reference: after the torque the angular momentum about z is its impulse, 2e-3 kg m2/s. The total energy
    is constant between the torque and the blow, and 0.12572 J after it; at 50 ms the tip is at
    (-0.0570, 0.0652, 0.1118) m, by classical finite elements.

    Shown by: ``phlexible run spatial-beam``.

    Args:
        elements: of the beam.
        strain: "von_karman" or "linear".
        modes: None or the number of bending and torsion modes of the beam.
    """
    beam = Beam(
        length=0.14142,
        section=Section(area=9e-6, second_moment_y=6.75e-12),
        material=Material(youngs_modulus=2.1e12, density=7800.0),
        elements=elements,
        strain=strain,  # type: ignore[arg-type]
        rotary_inertia=False,
        modes=modes,
    )
    model = Model()
    arm = model.add(beam, "beam")
    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), arm.start))
    torque, blow = _vector_along_z(SPIN_UP, (0.0, 0.2, 0.2, 0.0)), _vector_along_z(BLOW, (0.0, 100.0, 0.0))
    model.apply(Torque(arm.start, torque, "body", breakpoints=SPIN_UP, name="torque"))
    model.apply(Force(arm.end, blow, breakpoints=BLOW, name="blow"))
    return model


def _vector_along_z(times: tuple[float, ...], values: tuple[float, ...]) -> Any:
    """Return a function of time whose value is a vector along z. Its size is interpolated linearly between the
    given times [s] and values, and constant outside."""
    return lambda t: (0.0, 0.0, np.interp(t, times, values))


# A beam on a hub that is spun up: the test of geometric stiffening.


@ready_model(
    duration=20.0,
    step=1e-2,
    points=(BeamPoint("beam", 1.0),),
    references=(
        Reference(
            "von Karman strain",
            BeamPoint("beam", 1.0),
            duration=20.0,
            greatest=0.00105616,
            smallest=-0.09482091,
            allowed={"elements": None, "modes": None},
        ),
    ),
)
def spinning_beam(
    speed: float = 6.0,
    rise_time: float = 15.0,
    elements: int = 8,
    strain: str = "von_karman",
    modes: int | None = None,
) -> Model:
    """A cantilever of 8 m on a hub that turns about z, from rest to a constant speed.
    Build and return this ready model of the gallery, to be simulated or linearized. The ``speed`` is reached after
    the ``rise_time``.

    The angle is ``speed / rise_time (t^2/2 + (rise_time/2 pi)^2 (cos(2 pi t/rise_time) - 1))`` up to the
    rise time. The beam first lags behind by a tenth of its length, then the centrifugal force straightens
    it. With ``strain="linear"`` nothing stiffens it: its first clamped frequency, 2.91 rad/s, is below the
    speed, and it grows without bound.

    Source: T. R. Kane, R. R. Ryan, A. K. Banerjee, *Dynamics of a cantilever beam attached to a moving
    base*, Journal of Guidance, Control and Dynamics 10, 1987, whose beam of 10 m is 8 m long here.

    Reference: the tip is farthest from its place in the frame of the hub at 6.55 s, v = -0.7586 m, by
    classical finite elements with von Karman strain and full inertia.

    Shown by: ``phlexible run spinning-beam``, and ``--set strain=linear --duration 10`` for the warning.

    Args:
        speed: in the end [rad/s].
        rise_time: until it is reached [s].
        elements: of the beam.
        strain: "von_karman" or "linear".
        modes: None or the number of bending modes of the beam.
    """
    omega, rise = finite("speed", speed), positive("rise_time", rise_time)
    beam = Beam(
        length=8.0,
        section=Section(area=7.2968e-5, second_moment_y=8.2181e-9),
        material=Material(youngs_modulus=6.895e10, density=2766.67),
        elements=elements,
        strain=strain,  # type: ignore[arg-type]
        rotary_inertia=False,
        modes=modes,
    )

    model = Model(dimension=2)
    arm = model.add(beam, "beam")
    hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=smooth_run_up(omega, rise))
    model.connect(Fixed(hub, arm.start))
    return model


# A shaft that spins about its axis.


@ready_model(duration=0.1, step=5e-4, points=(BeamPoint("shaft", 0.5),), operating_point="steady_rotation")
def spinning_shaft(
    speed: float = 100.0,
    length: float = 1.0,
    diameter: float = 20e-3,
    youngs_modulus: float = 2.1e11,
    density: float = 7850.0,
    elements: int = 20,
) -> Model:
    """A round shaft between two bearings that hold points only, spinning about its axis x.
    Build and return this ready model of the gallery, to be simulated or linearized. ``speed`` is its angular
    velocity about x [rad/s], ``length`` and ``diameter`` are its sizes [m], ``youngs_modulus`` [Pa] and
    ``density`` [kg/m3] those of the material, ``elements`` is the number of its elements.

    Source: rotor dynamics of any textbook: a beam of round section without rotary inertia bends in any
    plane with the frequencies of the shaft at rest, omega_n = (n pi / l)^2 sqrt(EI / (rho A)). An observer
    who turns with the shaft sees each of them twice.

    Reference: in axes that turn with the shaft the frequencies are omega_n +- speed; with the default
    numbers omega_1 = 255.24 rad/s, seen as 155.24 and 355.24 rad/s.

    Shown by: ``phlexible modes spinning-shaft``, and ``phlexible run spinning-shaft``,
    where it spins undeformed.

    Args:
        speed: about x [rad/s].
        length: [m].
        diameter: [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        elements: of the shaft.
    """
    shaft_body = Beam(
        length=positive("length", length),
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        rotary_inertia=False,
    )
    model = Model()
    shaft = model.add(shaft_body, "shaft", velocity=(0.0, 0.0, 0.0), angular_velocity=(speed, 0.0, 0.0))
    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), shaft.start))
    model.connect(Slider(model.ground.at((length, 0.0, 0.0)), shaft.end, axis=(1.0, 0.0, 0.0)))
    return model
