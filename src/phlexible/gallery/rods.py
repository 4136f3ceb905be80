"""Models of the gallery: geometrically exact rods."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import finite, non_negative, positive
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.rod import Rod
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.loads import Force, Torque
from phlexible.description.interactions.tendon import Tendon
from phlexible.description.joints.joints import Fixed, Revolute
from phlexible.description.joints.sliding import Sliding
from phlexible.elements.sections import CircularSection, GeneralSection, RectangularSection
from phlexible.gallery.entries import ready_model, smooth_step
from phlexible.model import Model
from phlexible.shapes.solids import Sphere

# A free rod that a force and a torque throw and fold: large rotations and strains in flight.

RELEASE = 2.5  # [s]


@ready_model(duration=15.0, step=1e-2, operating_point="unloaded")
def flying_spaghetti(elements: int = 40, order: int = 2, bending_stiffness: float = 100.0) -> Model:
    """A free rod of 10 m with a force and a torque on its lower end, which act for 2.5 s.
    Build and return this ready model of the gallery, to be simulated or linearized. ``elements`` is the
    number of elements of the rod, ``order`` that of their shape functions (1 or 2), ``bending_stiffness`` is
    EI [N m2].

    The force is 8 N, the torque -80 N m. Then the rod has a linear momentum of 20 kg m/s along x, rotates and folds
    without any support.

    Source: J. C. Simo, L. Vu-Quoc, *On the dynamics of flexible beams under large overall motions, the plane
    case*, Journal of Applied Mechanics 53, 1986, part 2.

    Reference: momentum (20, 0) and a speed of the centre of mass of 2 m/s after 2.5 s, exactly. AeroBeams.jl
    (``flyingSpaghetti2D``, 20 elements, steps of 0.01 s) has the loaded end displaced by (10.19, -0.39) m at
    7.5 s and by at most (11.09, 8.93) m until then; 40 elements of order 2 here by (10.26, -0.28), (11.12, 8.94).

    Shown by: ``phlexible run flying-spaghetti``.

    Args:
        elements: of the rod.
        order: of the elements, 1 or 2.
        bending_stiffness: EI [N m2]; 500 is the stiffer rod of the source.
    """
    bending = positive("bending_stiffness", bending_stiffness)
    section = GeneralSection(
        stiffness=np.diag([1e4, 1e4, 1e4, bending, bending, bending]),
        mass=np.diag([1.0, 1.0, 1.0, 20.0, 10.0, 10.0]),
    )
    model = Model(dimension=2)
    rod = model.add(Rod(10.0, section, elements=elements, order=order), "rod", shape=[(6, 0, 0), (0, 8, 0)])

    def pulse(size: float) -> Any:
        return lambda t: size if t <= RELEASE else 0.0

    force, torque = pulse(8.0), pulse(-80.0)
    model.apply(Force(rod.start, lambda t: (force(t), 0.0, 0.0), breakpoints=[RELEASE]))
    model.apply(Torque(rod.start, lambda t: (0.0, 0.0, torque(t)), breakpoints=[RELEASE]))
    return model


# A slender cantilever under a tip weight at an angle: bending in two planes and torsion, coupled by their size.


@ready_model(duration=1.0, step=1e-3, operating_point="static")
def princeton_beam(
    angle: float = 0.7853981633974483, force: float = 8.896, elements: int = 8, order: int = 2
) -> Model:
    """The Princeton beam experiment: an aluminium strip 0.508 m long, 12.3777 mm by 3.2024 mm, loaded at the tip.
    Build and return this ready model of the gallery, to be simulated or linearized. The ``force`` acts at an
    ``angle`` from the wide side of the section.

    Source: E. H. Dowell, J. J. Traybar, *An experimental study of the nonlinear stiffness of a rotor blade
    undergoing flap, lag and twist deformations*, Princeton University, AMS report 1257, 1975.

    Reference: the static tip (``model.equilibrium()``) of beam elements of ANSYS (L. Obrezkov,
    P. Eliasson, A. B. Harish, M. K. Matikainen, 2022, as EXUDYN compares with them) under 8.896 N at 45 degrees:
    0.10899 m across the thin side and 0.00884 m across the wide side; here 0.10904 m and 0.00889 m.

    Shown by: ``phlexible run princeton-beam``, a vibration about that shape.

    Args:
        angle: of the force from the wide side of the section, 0 to pi/2 [rad].
        force: [N].
        elements: of the rod.
        order: of the elements, 1 or 2.
    """
    turn, size = finite("angle", angle), finite("force", force)
    aluminium = Material(youngs_modulus=71.7e9, density=2700.0, poissons_ratio=0.31)
    section = RectangularSection(width=12.3777e-3, height=3.2024e-3)
    model = Model()
    beam = model.add(Rod(0.508, section, aluminium, elements=elements, order=order), "beam")
    model.connect(Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.apply(Force(beam.end, (0.0, size * float(np.cos(turn)), size * float(np.sin(turn)))))
    return model


# A cantilever that a moment at its end rolls up to a circle.


@ready_model(duration=8.0, step=5e-3, operating_point="static")
def roll_up(turns: float = 1.0, elements: int = 16, order: int = 2) -> Model:
    """A strip of rubber of 1 m, clamped at one end; the moment at the other would bend it by so many turns.
    Build and return this ready model of the gallery, to be simulated or linearized. ``turns`` is their
    number, M L / (2 pi EI), ``elements`` the number of elements of the rod, ``order`` that of their shape
    functions (1 or 2).

    The static shape (``model.equilibrium()``) is a circular arc; with one
    turn it closes. A run starts from the straight strip, and friction of the material brings it to rest.

    Source: closed form; the tip moves to (L sin(t) / t, L (1 - cos(t)) / t) with t = M L / EI.

    Reference: the tip of a full turn is at the clamp.

    Shown by: ``phlexible run roll-up``.

    Args:
        turns: M L / (2 pi EI), at most about a twelfth of the sections.
        elements: of the rod.
        order: of the elements, 1 or 2.
    """
    section = RectangularSection(width=10e-3, height=20e-3)
    rubber = Material(youngs_modulus=1e7, density=1100.0, poissons_ratio=0.0, viscosity=0.05)
    model = Model(dimension=2)
    strip = model.add(Rod(1.0, section, rubber, elements=elements, order=order), "strip")
    model.connect(Fixed(model.ground.at((0, 0, 0)), strip.start))
    stiffness = rubber.youngs_modulus * section.second_moment_z
    moment = 2 * np.pi * finite("turns", turns) * stiffness / 1.0
    model.apply(Torque(strip.end, (0.0, 0.0, float(moment))))
    return model


# A ring that is twisted until it leaves its plane and winds up on itself.

RING, RING_DIAMETER, POISSON, TWISTED = 0.1, 4e-3, 0.3, 1.0  # [m], [m], [-], [s]
MICHELL = 2 * np.pi * np.sqrt(3) * (1 + POISSON)  # 2 pi sqrt(3) EI / GI_p [rad]


@ready_model(duration=1.6, step=1e-3)
def twisted_ring(twist: float = 1.25, friction: float = 0.1, elements: int = 45) -> Model:
    """A straight rod of rubber is bent to a ring, closed, and twisted within a second where it is held.
    Build and return this ready model of the gallery, to be simulated or linearized. ``twist`` is the final
    one as a multiple of Michell's, ``friction`` the coefficient of the ring on itself, ``elements`` the
    number of its elements.

    Beyond Michell's twist it leaves its plane, becomes an eight, touches itself, and winds up: a plectoneme.

    Source: J. H. Michell, On the stability of a bent and twisted wire, Messenger of Mathematics 11 (1889); A.
    Goriely, Twisted elastic rings and the rediscoveries of Michell's instability, Journal of Elasticity 84 (2006).

    Reference: the ring in its plane is stable up to a twist of 2 pi sqrt(3) EI / (G I_p), 14.15 rad, where the
    frequency of its lowest bending goes to zero; by modes at 0.9 and 0.97 of it, 20 elements of order 2, to 0.2 %.

    Shown by: ``phlexible run twisted-ring``.

    Args:
        twist: of Michell's.
        friction: coefficient of the ring on itself.
        elements: of order 2, of the ring.
    """
    full, share = 2 * np.pi * RING, non_negative("twist", twist)
    rubber = Material(5e7, 1200.0, POISSON, viscosity=2e-3)
    rod = Rod(full, CircularSection(RING_DIAMETER), rubber, elements, order=2, stress_free="straight")

    def circle(s: float) -> tuple[float, float, float]:
        return float(RING * np.sin(s / RING)), float(RING * (1 - np.cos(s / RING))), 0.0

    model = Model()
    ring = model.add(rod, "ring", shape=circle)
    model.connect(Fixed(model.ground.at((0.0, 0.0, 0.0)), ring.start))
    closing = model.connect(
        Revolute(model.ground.at((0.0, 0.0, 0.0)), ring.end, axis=(1.0, 0.0, 0.0), name="closing")
    )
    model.apply(closing.drive(angle=lambda time: share * MICHELL * smooth_step(time, 0.0, TWISTED)))
    model.apply(Force(ring.nodes()[len(ring.nodes()) // 2], (0.0, 0.0, 2e-4), name="disturbance"))
    touch = {"stiffness": 1e3, "damping": 2e3, "friction": non_negative("friction", friction)}
    model.apply(Contact(ring, ring, radius=RING_DIAMETER / 2, name="ring on itself", **touch))
    return model


# A collar that slides along a rod which turns.


@ready_model(duration=2.5, step=2e-3, operating_point="unloaded")
def collar_on_rod(
    speed: float = 2.0,
    start: float = 0.1,
    collar_mass: float = 0.2,
    length: float = 1.0,
    diameter: float = 0.012,
    youngs_modulus: float = 7e10,
    elements: int = 8,
) -> Model:
    """A collar slides outwards along a flexible rod that turns at a constant rate, and rebounds at its end.
    Build and return this ready model of the gallery, to be simulated or linearized.

    The hub turns the rod in the horizontal plane. The collar bends the rod backwards as it gets faster (Coriolis),
    meets the stop at the end and comes to rest there.

    Source: a textbook problem of relative motion; the numbers are ours.

    Reference: on a rigid rod the collar is at start cosh(speed t) until it meets the stop: at 0.376 m after 1 s.

    Shown by: ``phlexible run collar-on-rod``.

    Args:
        speed: rate of the hub [rad/s].
        start: place of the collar at t = 0, from the hub [m].
        collar_mass: of a ball of 4 cm diameter [kg].
        length, diameter: of the rod [m].
        youngs_modulus: of the rod, whose density is 2700 kg/m3 [Pa].
        elements: number of elements of the rod.
    """
    speed, length = finite("speed", speed), positive("length", length)
    model = Model(dimension=2)
    material = Material(positive("youngs_modulus", youngs_modulus), 2700.0)
    rod = model.add(Rod(length, CircularSection(diameter), material, elements=elements), "rod")
    ball = RigidBody(collar_mass, 0.4 * collar_mass * 0.02**2, shape=Sphere(0.02), color="red")
    collar = model.add(ball, "collar", position=(start, 0.0, 0.0))
    hub = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), rod.start))
    model.apply(hub.drive(angle=lambda time: speed * time, rate=lambda time: speed, name="hub"))
    slide = model.connect(Sliding(collar.origin, rod))
    model.apply(slide.stop(lower=0.0, upper=0.98 * length))
    return model


# A soft arm that two tendons pull out of an upright position, which is not stable.

RIGID_IN_SHEAR = 100.0  # shear coefficient of a rod whose shear does not count


@ready_model(duration=3.0, step=1e-2, operating_point="unloaded")
def tendon_arm(
    tension: float = 1.0,
    second_tension: float = 1.0,
    offset: float = 0.02,
    length: float = 0.6,
    radius: float = 0.03,
    youngs_modulus: float = 1e6,
    viscosity: float = 0.03,
    elements: int = 12,
    gravity: float = 9.81,
) -> Model:
    """An upright arm of silicone with a tendon on each of two sides of it, which pull it over within seconds.
    Build and return this ready model of the gallery, to be simulated or linearized.

    It is a little longer than the longest column that stands under its own weight. The tendons run at a constant
    distance from the axis, through a guide every element, and end at the tip; motors set their tensions. The rod
    does not shear, as in the source.

    Source: SoRoMoX, *paper_results/secIVa_benchmarking_sequential_cpu* (tud-phi/soromox on GitHub, 2026), the
    tendon-driven arm of its comparison with SoRoSim.

    Reference: files of the position of the tip there, x = -y and z after 1, 2 and 3 s: by SoRoMoX -0.0654, 0.5893;
    -0.3238, 0.3117; -0.2941, 0.3827 m, by SoRoSim -0.0631, 0.5899; -0.3207, 0.3205; -0.2966, 0.3778 m. Both have
    linear curvatures in two segments. Here, -0.0633, 0.5898; -0.3229, 0.3137; -0.2949, 0.3808 m.

    Shown by: ``phlexible run tendon-arm``.

    Args:
        tension, second_tension: of the tendons beside the axis along the section's z and y [N].
        offset: of the tendons from the axis [m].
        length, radius: of the arm [m].
        youngs_modulus: of the arm, which is incompressible and has a density of 1000 kg/m3 [Pa].
        viscosity: Kelvin-Voigt time [s]; 3 eta / E with the eta of the source.
        elements: of order 2, of the arm.
        gravity: along -z [m/s2].
    """
    silicone = Material(positive("youngs_modulus", youngs_modulus), 1000.0, 0.5, viscosity=viscosity)
    section = CircularSection(2 * positive("radius", radius), shear_coefficient=RIGID_IN_SHEAR)
    model = Model(gravity=(0.0, 0.0, -gravity))
    top = (0.0, 0.0, positive("length", length))
    arm = model.add(Rod(length, section, silicone, elements=elements, order=2), "arm", shape=[(0, 0, 0), top])
    model.connect(Fixed(model.ground.at((0.0, 0.0, 0.0)), arm.start))
    for name, force, (y, z) in (("first", tension, (0.0, offset)), ("second", second_tension, (offset, 0.0))):
        guides = [arm.point((x, y, z)) for x in np.linspace(0.0, length, elements + 1)]
        tendon = model.apply(Tendon(guides, stiffness=1e4, name=f"{name} tendon"))
        model.apply(tendon.motor(force, name=f"{name} motor"))
    return model
