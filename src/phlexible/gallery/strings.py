"""Models of the gallery: strings and cables."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string import String
from phlexible.bodies.string_law import LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw
from phlexible.description.interactions.loads import Force
from phlexible.description.interactions.tendon import Tendon
from phlexible.description.joints.joints import Prismatic, Slider, Spherical
from phlexible.description.ports import Port
from phlexible.errors import ParameterError
from phlexible.gallery.entries import ready_model, smoother_step
from phlexible.model import Model
from phlexible.shapes.solids import Box, Sphere

# A platform on four cables that winches pull.

CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


@ready_model(duration=4.0, step=2e-3, operating_point="static")
def cable_robot(
    width: float = 3.0,
    height: float = 2.0,
    platform_width: float = 0.4,
    platform_height: float = 0.2,
    mass: float = 6.0,
    line_density: float = 0.02,
    axial_stiffness: float = 3.0e4,
    tension: float = 150.0,
    viscosity: float = 2.0e-3,
    radius: float = 0.3,
    period: float = 2.0,
    gravity: float = 9.81,
    elements: int = 10,
) -> Model:
    """A rigid platform in a frame, on four tensioned cables whose winches lead it around a circle.
    Build and return this ready model of the gallery, to be simulated or linearized. The circle has a ``radius``
    and takes one ``period``.

    A winch is a drive that pulls its end of the cable out of the frame on a line, as far as a cable of
    constant length asks for. The cables go to the opposite side of the platform (crossed), which holds it
    upright. The platform gets under way within half a period.

    Source: the planar cable robot of textbooks; the numbers are ours.

    Reference: at rest, without gravity, all cables carry the given tension of 150 N; with gravity the sum
    of the vertical forces of the winches is the weight of platform and cables.

    Shown by: ``phlexible run cable-robot``.

    Args:
        width: of the frame [m].
        height: of the frame [m].
        platform_width: [m].
        platform_height: [m].
        mass: of the platform, a homogeneous block [kg].
        line_density: of the cables [kg/m].
        axial_stiffness: EA of the cables [N].
        tension: at the start [N].
        viscosity: Kelvin-Voigt time of the cables [s].
        radius: of the circle [m].
        period: of a turn [s].
        gravity: along -y [m/s2].
        elements: of each cable.
    """
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    axial_stiffness, period = positive("axial_stiffness", axial_stiffness), positive("period", period)
    moment = mass * (platform_width**2 + platform_height**2) / 12
    platform = model.add(
        RigidBody(mass, moment, shape=Box((platform_width, platform_height, platform_height))), "platform"
    )
    for number, (x, y) in enumerate(CORNERS, start=1):
        corner = np.array([x * width / 2, y * height / 2, 0.0])
        held = np.array([x * platform_width / 2, -y * platform_height / 2, 0.0])
        stretched = float(np.linalg.norm(corner - held))
        cable = String(
            stretched / (1 + tension / axial_stiffness),
            line_density,
            elements,
            LinearLaw(axial_stiffness),
            viscosity=viscosity,
        )
        outwards = (corner - held) / stretched
        rope = model.add(cable, f"cable {number}", shape=(corner, held))
        rail = model.connect(Slider(model.ground.at(corner), rope.start, axis=outwards))
        model.connect(Spherical(rope.end, platform.point(held)))
        path = _winch(corner, held, outwards, radius, period)
        model.apply(rail.drive(position=path, name=f"winch {number}"))
    return model


def _winch(corner: Array, tip: Array, outwards: Array, radius: float, period: float) -> Callable[[float], float]:
    """Return the displacement of a winch [m] as a function of time that moves the tip of its cable on a circle. It
    is along the unit vector ``outwards``. The straight cable keeps the distance from ``corner`` to ``tip``, so
    that the displacement solves a quadratic equation. The radius grows smoothly from zero to ``radius`` [m] in the
    first half of the ``period`` [s]."""
    length = float(np.linalg.norm(corner - tip))

    def path(time: float) -> float:
        angle = 2 * np.pi * time / period
        size = radius * smoother_step(min(2 * time / period, 1.0))
        target = tip + size * np.array([np.cos(angle), np.sin(angle), 0.0])
        offset = corner - target  # |offset + outwards path| = length
        along = float(outwards @ offset)
        return float(np.sqrt(along**2 - offset @ offset + length**2)) - along

    return path


# A steel cable between two supports.

PUSH_END = 0.5  # [s]


@ready_model(duration=10.0, step=5e-3, operating_point="static")
def hanging_cable(
    span: float = 50.0,
    length: float = 50.5,
    line_density: float = 2.0,
    axial_stiffness: float = 1.0e7,
    gravity: float = 9.81,
    push: float = 100.0,
    elements: int = 64,
    order: int = 1,
) -> Model:
    """Build a cable that hangs at rest between supports of equal height, a ``span`` apart, and is lifted in its
    middle. The lifting force rises and falls like ``push`` sin^2(pi t / 0.5 s) until t = 0.5 s; it is left out if
    ``push`` is 0. Return this ready model of the gallery, to be simulated or linearized.

    Source: the catenary of any textbook; H. M. Irvine, *Cable Structures*, MIT Press 1981, for the
    frequencies of shallow cables.

    Reference: the elastic catenary has a horizontal force of 1985.11 N and sags by 3.10374 m; without the
    push it keeps so. Of the small motions in the plane those that are antisymmetric have about
    ``w = 2 pi n sqrt(H / (rho A)) / span``, a little less because the cable sags.

    Shown by: ``phlexible run hanging-cable`` and ``phlexible modes hanging-cable``.

    Args:
        span: between the supports [m].
        length: of the cable, undeformed [m].
        line_density: [kg/m].
        axial_stiffness: EA [N].
        gravity: along -y [m/s2].
        push: upward force in the middle until t = 0.5 s [N].
        elements: an even number.
        order: of the shape functions, 1 or 2.
    """
    cable = String(length, line_density, elements, LinearLaw(axial_stiffness), order=order)
    weight = (0.0, -gravity, 0.0)
    model = Model(gravity=weight, dimension=2)
    ends = (0.0, 0.0, 0.0), (span, 0.0, 0.0)
    placed = model.add(cable, "cable", shape=cable.hanging(*ends, weight))
    model.connect(Spherical(model.ground.at(ends[0]), placed.start))
    model.connect(Spherical(model.ground.at(ends[1]), placed.end))
    if push:

        def lift(time: float) -> Array:
            size = np.sin(np.pi * time / PUSH_END) ** 2 if 0 < time < PUSH_END else 0.0
            return np.array([0.0, push * size, 0.0])

        model.apply(Force(placed.at(length / 2), lift, breakpoints=(PUSH_END,), name="push"))
    return model


# The string pendulum of Kinon et al. (2023), section 4.

LOADING = 0.2  # [s]


@ready_model(duration=1.0, step=1e-2, operating_point="static")
def string_pendulum(
    elements: int = 30,
    axial_stiffness: float = 20.0,
    length: float = 1.0,
    line_density: float = 1.0,
    gravity: float = 9.81,
    order: int = 1,
    viscosity: float = 0.0,
) -> Model:
    """A rubber string that is held at its start, pulled at its end for 0.2 s and swings.
    Build and return this ready model of the gallery, to be simulated or linearized, gravity along -y.

    Source: Kinon, Thoma, Betsch, Kotyczka (2023), section 4, Table 1 and (39)-(42): released at rest at
    45 degrees below the horizontal, tip force rho A (1, 1) sin(pi t / 0.2) until t = 0.2 s.

    Reference: with 30 elements and h = 0.01 s the energy is -3.403761620753 J from t = 0.2 s on and changes
    by less than 3e-12 J a step; implicit midpoint changes it by 4.6e-4 J a step. The string goes slack at
    t = 0.22 s, so that its motion has no limit under refinement after about 0.5 s; the energy has.

    Shown by: ``phlexible run string-pendulum`` and ``examples/04_string_pendulum.py`` (figures 2 to 5).

    Args:
        elements: of the string.
        axial_stiffness: EA of the logarithmic law (7) [N].
        length: undeformed [m].
        line_density: rho A [kg/m].
        gravity: along -y [m/s2].
        order: 1: linear elements, as in the paper; 2: quadratic.
        viscosity: Kelvin-Voigt time of the string [s].
    """
    string = String(
        length, line_density, elements, LogarithmicLaw(axial_stiffness), order=order, viscosity=viscosity
    )
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    down = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    placed = model.add(string, "string", shape=lambda s: s * down)

    def tip_force(time: float) -> Array:
        size = line_density * np.sin(np.pi * time / LOADING) if time < LOADING else 0.0
        return size * np.array([1.0, 1.0, 0.0])

    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), placed.start))
    model.apply(Force(placed.end, tip_force, breakpoints=(LOADING,), name="tip force"))
    return model


# Two satellites on a tether.


@ready_model(duration=60.0, step=1e-2, operating_point="unloaded")
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
    Build and return this ready model of the gallery, to be simulated or linearized. All turn about z with the
    angular velocity ``spin``; each satellite also rolls.

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

    def turning(position: Array) -> Array:
        return np.cross([0.0, 0.0, spin], position)

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
        """Return the initial velocity of the tether at the arc length s: the common rotation plus a sine-shaped
        velocity along z that is zero at both ends [m/s]."""
        position = ends[0] + (ends[1] - ends[0]) * s / tether_length
        swing = roll * tether_length / 10 * np.sin(np.pi * s / tether_length)
        return np.asarray(turning(position) + np.array([0.0, 0.0, swing]))

    line = model.add(tether, "tether", shape=ends, velocity=speed)
    model.connect(Spherical(ports[0], line.start))
    model.connect(Spherical(line.end, ports[1]))
    return model


# A tower crane with a reeved rope.


@ready_model(duration=14.0, step=5e-3, operating_point="static")
def tower_crane(
    falls: int = 4,
    load_mass: float = 2000.0,
    axial_stiffness: float = 1.0e7,
    viscosity: float = 5.0e-3,
    depth: float = 15.0,
    hauled: float = 20.0,
    travel: float = 6.0,
    duration: float = 10.0,
    gravity: float = 9.81,
) -> Model:
    """A tower crane lifts a load by a rope with several falls, while its trolley travels along the jib.
    Build and return this ready model of the gallery, to be simulated or linearized. Within the ``duration`` the
    winch hauls in a length ``hauled`` of rope and the trolley goes by ``travel``.

    The rope runs from the winch at the tower to the trolley, in an even number of ``falls`` down to the load and
    back, and on to the tip of the jib.

    The rope is a tendon without mass. A sheave has two guides, where the rope runs on and off.

    Source: the reeving of tower cranes, as textbooks of hoists describe it; the numbers are ours.

    Reference: at rest the rope carries the weight over the number of falls, 4905 N. Then the load has risen by
    the length that was hauled in over the number of falls, 5 m. The winch has done the work m g h = 98.1 kJ. The
    travel of the trolley alone does not lift the load.

    Shown by: ``phlexible run tower-crane``.

    Args:
        falls: an even number.
        load_mass: of a homogeneous block [kg].
        axial_stiffness: EA of the rope [N].
        viscosity: Kelvin-Voigt time of the rope [s].
        depth: of the load under the trolley at the start [m].
        hauled: length of rope that the winch hauls in [m].
        travel: of the trolley [m].
        duration: of both, which begin and end smoothly [s].
        gravity: along -y [m/s2].
    """
    if falls < 2 or falls % 2:
        raise ParameterError(f"falls must be an even number, got {falls!r}")
    if not hauled < falls * depth:
        raise ParameterError(f"hauled must be less than falls * depth = {falls * depth:g} m, got {hauled!r}")
    axial_stiffness, duration = positive("axial_stiffness", axial_stiffness), positive("duration", duration)
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    begin, tip, gap, size = 8.0, 30.0, 0.3, 1.5
    sides = gap * (np.arange(falls) - (falls - 1) / 2)
    trolley = model.add(RigidBody(200.0, 20.0, shape=Box((2.0, 0.4, 1.0))), "trolley", position=(begin, 0.0, 0.0))
    block = RigidBody(load_mass, load_mass * size**2 / 6, center=(0.0, -size, 0.0), shape=Box([size] * 3))
    load = model.add(block, "load", position=(begin, -depth, 0.0))
    rail = model.connect(Prismatic(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))

    def phase(time: float) -> float:
        """Return the completed share of the motion at a time. It rises from 0 to 1 within the duration by a
        polynomial of degree 5, without jumps of acceleration."""
        return float(smoother_step(min(time / duration, 1.0)))

    model.apply(rail.drive(position=lambda time: begin + travel * phase(time), name="trolley drive"))
    guides: list[Port] = [model.ground.at((0.0, 0.0, 0.0))]
    for k, x in enumerate(sides):
        pair = [trolley.point((x, 0.0, 0.0)), load.point((x, 0.0, 0.0))]
        guides += pair if k % 2 == 0 else pair[::-1]
    guides.append(model.ground.at((tip, 0.0, 0.0)))
    length = sum(float(np.linalg.norm(b.initial_position() - a.initial_position())) for a, b in pairwise(guides))
    rest = length / (1 + load_mass * gravity / falls / axial_stiffness)
    stiffness = axial_stiffness / rest
    damping = stiffness * viscosity
    model.apply(Tendon(guides, stiffness, lambda time: rest - hauled * phase(time), damping=damping, name="winch"))
    return model
