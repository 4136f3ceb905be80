"""Models of the gallery: machines and spacecraft."""

import math
from collections.abc import Callable
from enum import StrEnum
from itertools import pairwise
from math import pi, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray, finite, flag, non_negative, option, positive, whole
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.plate import Plate
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.bodies.string import String
from phlexible.bodies.string_law import LinearLaw
from phlexible.description.interactions.force_elements import Potential
from phlexible.description.interactions.loads import Force, Pressure, Torque
from phlexible.description.joints.joints import Fixed, Prismatic, Revolute, Slider, Spherical
from phlexible.description.joints.relations import Relation
from phlexible.description.ports import Port
from phlexible.elements.sections import RectangularSection, Section
from phlexible.errors import ParameterError
from phlexible.extras import optional
from phlexible.gallery.entries import BeamPoint, around_circle, ready_model, smoother_step
from phlexible.model import Model
from phlexible.shapes.solids import Box, Cylinder, Sphere

if TYPE_CHECKING:
    from skfem import MeshHex


# A gantry crane that carries a load on a cable.


@ready_model(duration=12.0, step=5e-3, operating_point="static")
def crane(
    trolley_mass: float = 100.0,
    load_mass: float = 250.0,
    load_height: float = 0.8,
    cable_length: float = 6.0,
    line_density: float = 1.2,
    axial_stiffness: float = 2.0e6,
    viscosity: float = 2.0e-3,
    force: float = 150.0,
    push_time: float = 2.0,
    coast_time: float = 3.0,
    gravity: float = 9.81,
    elements: int = 20,
) -> Model:
    """A trolley on rails is pushed, coasts and is braked; a rigid load swings under it on a cable.
    Build and return this ready model of the gallery, to be simulated or linearized. A ``force`` pushes for
    ``push_time`` and brakes as long after ``coast_time``.

    The cable starts straight, stretched by the load and by its own weight.

    Source: the gantry crane of control textbooks, with a cable that has mass and stretches.

    Reference: at rest the cable carries (m_load + rho A l) g = 2523.1 N at its upper and 2452.5 N at its
    lower end. With a massless rod and a point load it swings with ``sqrt(g / l (1 + m_load / m_trolley))``.

    Shown by: ``phlexible run crane``.

    Args:
        trolley_mass: [kg].
        load_mass: of a homogeneous square block [kg].
        load_height: edge of the block, which hangs on the middle of its upper side [m].
        cable_length: undeformed [m].
        line_density: of the cable [kg/m].
        axial_stiffness: EA of the cable [N].
        viscosity: Kelvin-Voigt time of the cable [s].
        force: on the trolley along x while it is pushed, and against it while it is braked [N].
        push_time: of pushing, and of braking [s].
        coast_time: in between [s].
        gravity: along -y [m/s2].
        elements: of the cable.
    """
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    cable = String(cable_length, line_density, elements, LinearLaw(axial_stiffness), viscosity=viscosity)

    def depth(s: float) -> float:
        """Return the depth [m] below the trolley of the cable point at unstretched arc length s. The load and the
        weight of the cable below stretch it."""
        pulled = load_mass * s + line_density * (cable_length * s - s**2 / 2)
        return s + gravity * pulled / axial_stiffness

    moment = load_mass * load_height**2 / 6
    block = RigidBody(load_mass, moment, center=(0.0, -load_height / 2, 0.0), shape=Box([load_height] * 3))
    trolley = model.add(PointMass(trolley_mass), "trolley")
    load = model.add(block, "load", position=(0.0, -depth(cable_length), 0.0))
    rope = model.add(cable, "cable", shape=lambda s: (0.0, -depth(s)))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(Spherical(trolley.origin, rope.start))
    model.connect(Spherical(rope.end, load.origin))
    switches = (push_time, push_time + coast_time, 2 * push_time + coast_time)

    def push(time: float | Array) -> Array:
        pushed, braked = (0 < time) & (time < switches[0]), (switches[1] <= time) & (time < switches[2])
        return np.array([force * pushed - force * braked, 0.0 * time, 0.0 * time])

    model.apply(Force(trolley.origin, push, breakpoints=switches, name="trolley force"))
    return model


# Folded panels of a satellite that springs unfold until they lock.

LOCK_WIDTH = 0.02  # of the well that holds a hinge in place [rad]


@ready_model(duration=30.0, step=2e-3, points=(BeamPoint("panel 1", 1.0),))
def deployable_panels(panels: int = 3, lock_energy: float = 3.0, elements: int = 4) -> Model:
    """A free satellite in the plane with a stack of flexible panels, folded to and fro.
    Build and return this ready model of the gallery, to be simulated or linearized. ``panels`` is their
    number, ``lock_energy`` the depth of the well of a lock [J], ``elements`` the number of elements of each
    panel.

    Every hinge has a weak spring that unfolds it, a damper, and a lock: a narrow well of potential energy
    at the unfolded position, deep enough to catch the hinge, so that energy stays exact while it locks.

    Source: own; sizes of a small satellite with sandwich panels of 1.5 m.

    Reference: angular momentum stays zero and the center of mass where it is; in the end all hinges rest
    in their locks, the panels in one line.

    Shown by: ``phlexible run deployable-panels``.

    Args:
        panels: number of panels.
        lock_energy: depth of the well of a lock [J].
        elements: of each panel.
    """
    depth = positive("lock_energy", lock_energy)
    length = 1.5
    sheet = Material(youngs_modulus=7e10, density=400.0, viscosity=2e-4)
    panel = Beam(
        length, RectangularSection(width=0.02, height=0.5), sheet, elements=elements, frame="cantilever", modes=2
    )

    model = Model(dimension=2)
    hub = model.add(RigidBody(200.0, 60.0, shape=Box((1.0, 1.0, 1.0)), color="silver"), "hub")
    port = hub.point((0.5, 0.0, 0.0))
    position, direction = np.array([0.5, 0.0, 0.0]), np.pi / 2
    for k in range(panels):
        body = model.add(panel, f"panel {k + 1}", position, direction)
        hinge = model.connect(Revolute(port, body.start))
        turn = -np.pi / 2 if k == 0 else (np.pi if k % 2 else -np.pi)
        model.apply(hinge.spring(0.5, rest=turn, damping=0.6, potential=_lock_potential(turn, depth)))
        port = body.end
        position = position + length * np.array([np.cos(direction), np.sin(direction), 0.0])
        direction += np.pi if k % 2 == 0 else -np.pi
    return model


def _lock_potential(position: float, depth: float) -> Potential:
    """Return the potential energy of a hinge's lock and its derivative as functions of the hinge angle
    (``Potential``). It is a Gaussian well of width 0.02 rad and the given depth [J] around the angle ``position``
    [rad]."""

    def energy(x: float) -> float:
        return -depth * math.exp(-(((x - position) / LOCK_WIDTH) ** 2))

    def slope(x: float) -> float:
        return 2 * depth * (x - position) / LOCK_WIDTH**2 * math.exp(-(((x - position) / LOCK_WIDTH) ** 2))

    return Potential(energy, slope, (position - 2 * LOCK_WIDTH, position + 2 * LOCK_WIDTH))


# A flexible pole that is to be balanced on a cart.


@ready_model(duration=1.0, step=1e-3, points=(BeamPoint("pole", 1.0),), operating_point="unloaded")
def flexible_pole(
    angle: float = 0.05,
    cart_mass: float = 1.0,
    length: float = 1.0,
    width: float = 0.02,
    thickness: float = 3e-3,
    youngs_modulus: float = 7.0e10,
    density: float = 2700.0,
    tip_mass: float = 0.1,
    elements: int = 4,
) -> Model:
    """A cart on rails carries a thin pole on a hinge; a force on the cart, the input "push", could balance it.
    Build and return this ready model of the gallery, to be simulated or linearized. The pole starts at an
    ``angle`` from upright, with ``tip_mass`` at its free end.

    The joints are the rail with the cart's position, the hinge with the angle of the pole from where it starts, and
    the tip. With ``ph.gym.Env`` it is the pole of reinforcement learning, with a pole that bends.

    Source: A. G. Barto, R. S. Sutton, C. W. Anderson, *Neuronlike adaptive elements that can solve difficult
    learning control problems*, IEEE Transactions on Systems, Man, and Cybernetics 13 (1983); the flexible pole
    and its numbers are ours.

    Reference: where the pole is stiff it falls as cosh(k t) with k^2 = g s (M + m) / ((M + m) I - s^2), where m, s
    and I are mass, first and second moment of pole and tip about the hinge.

    Shown by: ``phlexible run flexible-pole``.

    Args:
        angle: of the pole from upright at t = 0 [rad].
        cart_mass: M [kg].
        length: of the pole [m].
        width: of its section, across the plane of motion [m].
        thickness: of its section, in the plane of motion [m].
        youngs_modulus: of the pole [Pa].
        density: of the pole [kg/m3].
        tip_mass: at its free end [kg].
        elements: of the pole.
    """
    upright = pi / 2 - finite("angle", angle)
    section = RectangularSection(width=thickness, height=width)
    beam = Beam(length, section, Material(youngs_modulus, density), elements=elements, frame="cantilever", modes=2)
    model = Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    cart = model.add(RigidBody(cart_mass, 0.01, shape=Box((0.3, 0.12, 0.2)), color="gray"), "cart")
    pole = model.add(beam, "pole", rotation=upright)
    tip = model.add(PointMass(tip_mass), "tip", position=pole.end.initial_position())
    rail = model.connect(Prismatic(model.ground.at((0.0, 0.0, 0.0)), cart.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(Revolute(cart.origin, pole.start))
    model.connect(Spherical(pole.end, tip.origin))
    model.apply(rail.force(0.0, name="push"))
    return model


# A planetary gear: a sun, planets on an arm, a ring that is held.

SUN, PLANET, RING = 0.02, 0.02, 0.06


@ready_model(duration=0.1, step=2e-4)
def gear_train(planets: int = 3, torque: float = 0.1) -> Model:
    """A sun of 20 mm radius turns planets of 20 mm within a ring of 60 mm, and these an arm four times slower.
    Build and return this ready model of the gallery, to be simulated or linearized. ``planets`` is the number
    of planets, ``torque`` the constant torque on the sun [N m].

    In the plane. The planets turn on the arm; each meshes with the sun and with the ring, which is held.

    Source: Willis' equation: (sun - arm) / (ring - arm) = -ring radius / sun radius.

    Reference: sun = 4 arm, planet = -3 arm (relative to the arm), exactly; with the defaults the torque turns the
    sun with ``torque / (J_sun + J_arm / 16 + planets (m a^2 + 4 J_planet) / 16)`` = 930.23 rad/s2.

    Shown by: ``phlexible run gear-train``.

    Args:
        planets: their number.
        torque: on the sun, constant [N m].
    """
    count = whole("planets", planets, least=1)
    model = Model(dimension=2)
    ground = model.ground.at((0.0, 0.0, 0.0))
    wheel = Cylinder(SUN, 0.01, axis=(0.0, 0.0, 1.0), center=(0.0, 0.0, -0.006))  # behind the arm
    sun = model.connect(Revolute(ground, model.add(RigidBody(0.25, 5e-5, shape=wheel), "sun").origin))
    arm_body = model.add(RigidBody(0.2, 2e-4), "arm")
    arm = model.connect(Revolute(ground, arm_body.origin))
    for number in range(count):
        turn = 2 * np.pi * number / count
        position = (SUN + PLANET) * np.array([np.cos(turn), np.sin(turn), 0.0])
        planet = model.add(RigidBody(0.1, 2e-5, shape=wheel), f"planet {number + 1}", position=position)
        pin = model.connect(Revolute(arm_body.point(position), planet.origin))
        in_ring = [(arm, "angle", RING), (pin, "angle", PLANET)]
        model.connect(Relation(in_ring, name=f"ring and planet {number + 1}"))
        if number == 0:  # the others would say the same again
            on_sun = [(sun, "angle", SUN), (arm, "angle", -SUN), (pin, "angle", PLANET)]
            model.connect(Relation(on_sun, name="sun and planet 1"))
    model.apply(sun.torque(torque))
    return model


# A robot arm with two flexible links and a controlled motor in each of its six joints.

Y, Z, X = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
AXES = (Z, Y, Y, X, Y, X)
TARGETS = (1.2, -0.5, 0.7, 0.6, -0.8, 0.5)
"""Of the joint angles [rad]."""

STIFFNESS = (400.0, 1500.0, 600.0, 20.0, 30.0, 5.0)
DAMPING = (40.0, 120.0, 50.0, 0.8, 1.2, 0.2)
"""Gains of the motors [N m/rad, N m s/rad]."""


@ready_model(duration=2.0, step=1e-3, points=(BeamPoint("forearm", 1.0),))
def robot_arm(
    rise_time: float = 1.0, elements: int = 4, payload: float = 2.0, gains: float = 1.0, sampled: bool = True
) -> Model:
    """Six revolute joints, aluminium tubes as upper arm and forearm, proportional-derivative control.
    Build and return this ready model of the gallery, to be simulated or linearized. The arm carries a ``payload``
    to target angles within the ``rise_time``.

    Each motor pulls its joint towards an angle that rises smoothly to its target and holds it there.
    The controllers are called once a step; with steps of 1 ms they are stable, since both sides of each
    motor have the inertia of a geared rotor or of a housing and not only that of the end of a tube.

    Source: own; sizes of a small industrial robot.

    Reference: at rest the controllers carry the weight of arm and payload: with all targets reached the
    errors times the gains are the static torques, about 79 N m in the second joint and 24 N m in the third.

    Shown by: ``phlexible run robot-arm``.

    Args:
        rise_time: until the angles are to be reached [s].
        elements: of each of the two tubes.
        payload: at the hand [kg].
        gains: of all motors, as a factor.
        sampled: whether controllers are called once a step; without, the same control is continuous, by springs,
            dampers and torques, of which ``ph.gradient`` knows the derivatives.
    """
    gain, is_sampled = positive("gains", gains), flag("sampled", sampled)
    rise_time = positive("rise_time", rise_time)
    tube = RectangularSection(width=0.04, height=0.04)
    aluminium = Material(youngs_modulus=7e10, density=2700.0, poissons_ratio=0.33, viscosity=2e-5)
    upper = Beam(0.5, tube, aluminium, elements=elements, frame="cantilever", modes=2)
    fore = Beam(0.4, tube, aluminium, elements=elements, frame="cantilever", modes=2)
    across = Cylinder(0.05, 0.12, axis=Y)
    housing = RigidBody(3.0, (0.3, 0.3, 0.3), shape=across)  # with the rotor, seen through the gear
    stator = RigidBody(1.5, (0.1, 0.1, 0.1), shape=Cylinder(0.04, 0.08, axis=X), color="gray")
    wrist = RigidBody(0.6, (2e-3, 2e-3, 2e-3), shape=Sphere(0.035))

    column, jaws = Cylinder(0.07, 0.2, center=(0.0, 0.0, 0.1)), Box((0.08, 0.06, 0.06))
    foot = RigidBody(8.0, (0.1, 0.1, 0.1), shape=column, color="gray")
    gripper = RigidBody(0.5 + payload, (5e-3, 5e-3, 5e-3), center=(0.05, 0.0, 0.0), shape=jaws, color="yellow")

    model = Model(gravity=(0.0, 0.0, -9.81))
    base = model.add(foot, "base", (0.0, 0.0, 0.2))
    shoulder = model.add(housing, "shoulder", (0.0, 0.0, 0.4))
    upper_arm = model.add(upper, "upper arm", (0.0, 0.0, 0.4))
    upper_end = model.add(stator, "upper arm motor", (0.5, 0.0, 0.4))
    elbow = model.add(housing, "elbow", (0.5, 0.0, 0.4))
    forearm = model.add(fore, "forearm", (0.5, 0.0, 0.4))
    fore_end = model.add(stator, "forearm motor", (0.9, 0.0, 0.4))
    first = model.add(wrist, "wrist 1", (0.9, 0.0, 0.4))
    second = model.add(wrist, "wrist 2", (0.9, 0.0, 0.4))
    hand = model.add(gripper, "hand", (0.9, 0.0, 0.4))

    model.connect(Fixed(shoulder.origin, upper_arm.start))
    model.connect(Fixed(upper_arm.end, upper_end.origin))
    model.connect(Fixed(elbow.origin, forearm.start))
    model.connect(Fixed(forearm.end, fore_end.origin))
    pairs: tuple[tuple[Port, Port], ...] = (
        (model.ground.at((0.0, 0.0, 0.2)), base.origin),
        (base.point((0.0, 0.0, 0.2)), shoulder.origin),
        (upper_end.origin, elbow.origin),
        (fore_end.origin, first.origin),
        (first.origin, second.origin),
        (second.origin, hand.origin),
    )
    for k, (inner, outer) in enumerate(pairs):
        joint = model.connect(Revolute(inner, outer, axis=AXES[k]))
        if is_sampled:
            model.apply(joint.motor(_servo(k, rise_time, gain), name=f"motor {k + 1}"))
            continue
        model.apply(joint.spring(gain * STIFFNESS[k], name=f"stiffness of motor {k + 1}"))
        model.apply(joint.damper(gain * DAMPING[k], name=f"damping of motor {k + 1}"))
        model.apply(joint.torque(_motor_torque(k, rise_time, gain), name=f"motor {k + 1}"))
    return model


def target(joint: int, time: float, rise_time: float) -> tuple[float, float]:
    """Return the angle [rad] and the rate [rad/s] that the motor of a robot's ``joint`` (index) aims at, at a
    ``time`` [s]. It is a smooth rise by a polynomial of degree five until ``rise_time`` [s], then constant."""
    s = min(max(time / rise_time, 0.0), 1.0)
    slope = 30 * s**2 * (1 - s) ** 2 / rise_time
    return TARGETS[joint] * smoother_step(s), TARGETS[joint] * slope


def _motor_torque(joint: int, rise_time: float, gain: float) -> Callable[[float], float]:
    def torque(time: float) -> float:
        angle, rate = target(joint, time, rise_time)
        return gain * (STIFFNESS[joint] * angle + DAMPING[joint] * rate)

    return torque


def _servo(joint: int, rise_time: float, gain: float) -> Callable[[float, Array], float]:
    def controller(time: float, measured: Array) -> float:
        angle, rate = target(joint, time, rise_time)
        return float(gain * (STIFFNESS[joint] * (angle - measured[0]) + DAMPING[joint] * (rate - measured[1])))

    return controller


# A satellite with two long flexible panels.

PERIOD = 2.0
"""Of the torque [s]."""


class Panels(StrEnum):
    """Kinds of solar panels."""

    BEAM = "beam"
    PLATE = "plate"


@ready_model(duration=2.0, step=2e-3, points=(BeamPoint("left panel", 1.0),))
def satellite(
    hub_mass: float = 200.0,
    hub_inertia: float = 60.0,
    hub_radius: float = 0.75,
    panel_length: float = 6.0,
    panel_width: float = 1.2,
    panel_thickness: float = 25e-3,
    youngs_modulus: float = 2.0e9,
    density: float = 120.0,
    damping_ratio: float = 0.005,
    elements: int = 12,
    panels: str = "beam",
    torque: float = 0.0,
) -> Model:
    """A rigid hub with two equal panels, free in the plane; the panels bend in the plane of motion.
    Build and return this ready model of the gallery, to be simulated or linearized. ``panels`` makes them beams,
    or plates in space; ``torque`` turns the hub.

    With ``panels="plate"`` it moves in space, and the panels bend and twist as plates, clamped along their roots.

    The hub's torque ("hub".origin, about z) moves the panels against each other only: modes in which both
    move to the same side answer to a force on the hub. The panels are sandwich plates, taken as beams
    with an equivalent modulus and density.

    Source: the usual model of attitude control with flexible appendages, for example D. Alazard, C.
    Cumer, K. Tantawi, *Linear dynamic modeling of spacecraft with various flexible appendages*, IFAC
    World Congress 2008; the numbers are ours.

    Reference: a hub on a pin with a clamped beam has the frequencies of the transcendental equation of
    a beam with an inertia at its root; here each panel sees half of the hub's inertia, at the radius of
    the hub. The rigid modes are three.

    Shown by: ``phlexible modes satellite --count 10``, and ``phlexible run satellite --set torque=40``; without a
    torque it rests.

    Args:
        hub_mass: [kg].
        hub_inertia: about z [kg m2].
        hub_radius: from the hub's center to the root of a panel [m].
        panel_length: [m].
        panel_width: of each panel, across the plane of motion [m].
        panel_thickness: of each panel, in the plane of motion [m].
        youngs_modulus: of the panels [Pa].
        density: of the panels [kg/m3].
        damping_ratio: of the modes of a clamped panel.
        elements: of each panel, along it.
        panels: "beam", in the plane, or "plate", in space.
        torque: greatest one about z on the hub, a sine that turns it from rest to rest within 2 s, by 4 s2 torque /
            (2 pi times the inertia of all) [N m].
    """
    radius = positive("hub_radius", hub_radius)
    box = Box([2 * radius] * 3)
    if option("panels", panels, Panels) is Panels.PLATE:
        plate = Plate(
            length=panel_length,
            width=panel_width,
            thickness=panel_thickness,
            material=Material(youngs_modulus, density, 0.3),
            elements=(elements, 3),
            interfaces={"start": "rigid", "end": "average"},
            modes=6,
            frame="start",
            damping_ratio=damping_ratio,
            color="#1f3a6b",
        )
        inertia = [positive("hub_inertia", hub_inertia)] * 3
        return _add_slew(_in_space(RigidBody(hub_mass, inertia, shape=box, color="silver"), plate, radius), torque)
    panel = Beam(
        length=panel_length,
        section=RectangularSection(width=panel_thickness, height=panel_width),
        material=Material(youngs_modulus, density),
        elements=elements,
        damping_ratio=damping_ratio,
    )
    model = Model(dimension=2)
    hub = model.add(RigidBody(hub_mass, hub_inertia, shape=box, color="silver"), "hub")
    right = model.add(panel, "right panel", position=(radius, 0.0, 0.0))
    left = model.add(panel, "left panel", position=(-radius, 0.0, 0.0), rotation=pi)
    model.connect(Fixed(hub.point((radius, 0.0, 0.0)), right.start))
    model.connect(Fixed(hub.point((-radius, 0.0, 0.0)), left.start))
    return _add_slew(model, torque)


def _add_slew(model: Model, torque: float) -> Model:
    """Add a torque about z to the hub of a satellite model and return the same model. The torque is one period (2
    s) of a sine of the amplitude ``torque`` [N m], then zero; for 0 nothing is added."""
    greatest = finite("torque", torque)
    if greatest:

        def torque_of(t: float) -> tuple[float, float, float]:
            return 0.0, 0.0, greatest * sin(2 * pi * t / PERIOD) if t < PERIOD else 0.0

        model.apply(Torque(model["hub"].origin, torque_of, breakpoints=(PERIOD,)))
    return model


def _in_space(hub_body: RigidBody, plate: Plate, radius: float) -> Model:
    """Return a model in space of a satellite: a rigid hub (``hub_body``) with two plates (``plate``) as
    panels, clamped at ``radius`` [m]. Their width is along z, so that they bend in the xy plane."""
    model = Model()
    hub = model.add(hub_body, "hub")
    upright = Rotation.from_euler("x", pi / 2)
    right = model.add(plate, "right panel", position=(radius, 0.0, 0.0), rotation=upright)
    turned = Rotation.from_euler("z", pi) * upright
    left = model.add(plate, "left panel", position=(-radius, 0.0, 0.0), rotation=turned)
    model.connect(Fixed(hub.point((radius, 0.0, 0.0)), right["start"]))
    model.connect(Fixed(hub.point((-radius, 0.0, 0.0)), left["start"]))
    return model


# The mesh of a connecting rod: a shank between two heads with holes, one of them with a boss.

SIDE, RINGS, LAYERS = 4, 2, 1  # elements along a side of a head, around a hole, through the thickness


def connecting_rod(
    length: float, width: float, thickness: float, hole: float, boss: float, elements: int
) -> "MeshHex":
    """Return a scikit-fem mesh of hexahedra of a connecting rod, a shank between two square heads with holes of
    radius ``hole``. The holes are centred at the origin and at (``length``, 0, 0) [m]. ``width`` is along y,
    ``thickness`` along z. The first head stands out by ``boss`` on both sides (0: none). ``elements`` is the
    number of cells along the shank.

    Args:
        length: between the holes [m].
        width: of shank and square heads along y [m].
        thickness: of shank and heads along z [m].
        hole: radius [m].
        boss: how far the first head stands out on each side [m].
        elements: along the shank.
    """
    from skfem import MeshHex

    head = _square_with_hole(width / 2, hole)
    x = np.linspace(width / 2, length - width / 2, elements + 1)
    y = np.linspace(-width / 2, width / 2, SIDE + 1)
    shank = np.array([_cell(x[i : i + 2], y[j : j + 2]) for i in range(elements) for j in range(SIDE)])
    plane = np.concatenate([head, shank, head + (length, 0.0)])
    levels = np.linspace(-thickness / 2, thickness / 2, LAYERS + 1)
    parts = [_extruded(plane, low, high) for low, high in pairwise(levels)]
    if boss:
        parts += [
            _extruded(head, -thickness / 2 - boss, -thickness / 2),
            _extruded(head, thickness / 2, thickness / 2 + boss),
        ]
    corners = np.concatenate(parts)
    return MeshHex(*_joined_nodes(corners, 1e-6 * width))


def _cell(x: Array, y: Array) -> Array:
    """Return the four corners of a rectangle counter-clockwise, shape (4, 2), from its two x and two y
    coordinates."""
    return np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])])


def _square_with_hole(half: float, radius: float) -> Array:
    """Return a mesh of quadrilaterals of a square with a round hole around the origin, as corner coordinates (q,
    4, 2) of q cells [m]. Rings of cells interpolate linearly between the circle and the square along rays from the
    origin. ``half`` is half the edge of the square, ``radius`` is the radius of the hole [m]."""
    along = np.linspace(-1, 1, SIDE + 1)
    edge = np.concatenate(
        [np.column_stack([along, -np.ones(SIDE + 1)])[:-1], np.column_stack([np.ones(SIDE + 1), along])[:-1]]
    )
    square = half * np.concatenate([edge, -edge, edge[:1]])
    circle = radius * square / np.linalg.norm(square, axis=1, keepdims=True)
    rings = [circle + (square - circle) * k / RINGS for k in range(RINGS + 1)]
    cells = [
        (rings[k][i], rings[k + 1][i], rings[k + 1][i + 1], rings[k][i + 1])
        for k in range(RINGS)
        for i in range(4 * SIDE)
    ]
    return np.array(cells)


def _extruded(plane: Array, low: float, high: float) -> Array:
    """Return hexahedra over the quadrilaterals ``plane`` (q, 4, 2) between the heights ``low`` and ``high``, as
    corner coordinates (q, 8, 3). Lower corners come first."""
    below, above = (np.concatenate([plane, np.full((*plane.shape[:2], 1), z)], axis=2) for z in (low, high))
    return np.concatenate([below, above], axis=1)


def _joined_nodes(corners: Array, close: float) -> tuple[Array, IntArray]:
    """Return node coordinates (3, k) and hexahedra (8, e) in scikit-fem's order from the corners of e separate
    cells, shape (e, 8, 3). Coordinates are rounded to multiples of ``close``, and corners with equal rounded ones
    become one node."""
    points = corners.reshape(-1, 3)
    _, first, inverse = np.unique(np.round(points / close), axis=0, return_index=True, return_inverse=True)
    cells = inverse.reshape(-1, 8)[:, [0, 4, 3, 1, 7, 5, 2, 6]]
    return np.ascontiguousarray(points[first].T), np.ascontiguousarray(cells.T)


# A crank-slider whose coupler is a solid part from a mesh.

WIDTH = 6e-3 * np.sqrt(3) / 2  # of the rectangle with area and second moment of a round section of 6 mm
THICKNESS = np.pi * 6e-3**2 / 4 / WIDTH


@ready_model(duration=0.1, step=2e-5)
def solid_crank_slider(
    crank_length: float = 0.15,
    crank_speed: float = 150.0,
    coupler_length: float = 0.3,
    hole: float = 1.5e-3,
    boss: float = 3e-3,
    plain: bool = False,
    slider_mass: float = 0.033378,
    elements: int = 24,
    modes: int = 4,
) -> Model:
    """A crank-slider in space whose coupler is a steel rod of hexahedra with two holes and a boss.
    Build and return this ready model of the gallery, to be simulated or linearized. ``plain`` replaces the rod by
    a block.

    The fast crank-slider (``crank_slider``) with a solid coupler: pins in the walls of its holes move the mean
    of these walls. Quadratic hexahedra, geometric stiffening in about 20 coordinates.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible multibody
    dynamics*, 2020, section 6.2 for lengths, speed and the section of the shank.

    Reference: with ``plain=True``, a block without holes and boss of the area and second moment of the round
    section, the transverse displacement u_y / L of the middle from the chord is at most 0.015388 and at least
    -0.015529 in the first 0.1 s, by geometrically exact shear-free beams.

    Shown by: ``phlexible run solid-crank-slider``.

    Args:
        crank_length: [m].
        crank_speed: constant, about z [rad/s].
        coupler_length: between the pins [m].
        hole: radius of the holes, at most a third of the width of 5.2 mm [m].
        boss: how far the head at the crank stands out on each side [m].
        plain: a block of elements x 1 x 1 instead, from pin to pin.
        slider_mass: [kg].
        elements: along the shank.
        modes: lowest modes that are kept beside the answers to the pins' forces and to spin.
    """
    radius, omega = positive("crank_length", crank_length), finite("crank_speed", crank_speed)
    length, count = positive("coupler_length", coupler_length), whole("elements", elements)
    load, kept = positive("slider_mass", slider_mass), whole("modes", modes, 0)
    bore, head = positive("hole", hole), non_negative("boss", boss)
    if bore > WIDTH / 3:
        raise ParameterError(f"hole must be at most a third of the width, {WIDTH / 3:g} m, got {hole!r}")
    if flag("plain", plain):
        from skfem import MeshHex

        across = [np.array([-WIDTH / 2, WIDTH / 2]), np.array([-THICKNESS / 2, THICKNESS / 2])]
        mesh = MeshHex.init_tensor(np.linspace(0.0, length, count + 1), *across)
        interfaces = {"crank pin": lambda x: x[0] < 1e-9, "slider pin": lambda x: x[0] > length - 1e-9}
    else:
        mesh = connecting_rod(length, WIDTH, THICKNESS, bore, head, count)
        interfaces = {
            "crank pin": lambda x: np.hypot(x[0], x[1]) < 1.001 * bore,
            "slider pin": lambda x: np.hypot(x[0] - length, x[1]) < 1.001 * bore,
        }
    body = FlexibleBody.from_mesh(mesh, Material(0.2e12, 7870.0, 0.0 if plain else 0.3), interfaces, modes=kept)

    model = Model()
    coupler = model.add(body, "coupler", position=(radius, 0.0, 0.0))
    slider = model.add(PointMass(load), "slider", position=(radius + length, 0.0, 0.0))
    crank_pin, crank_pin_velocity = around_circle(radius, omega)
    pin = model.ground.moving(crank_pin, velocity=crank_pin_velocity)
    model.connect(Revolute(pin, coupler["crank pin"], axis=(0.0, 0.0, 1.0)))
    model.connect(Spherical(coupler["slider pin"], slider.origin))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), slider.origin, axis=(1.0, 0.0, 0.0)))
    return model


# A wind turbine whose blades are plates from a mesh file.

OVERHANG = 3.0  # of the rotor in front of the tower [m]
TRIANGLES, LINES = 2, 1  # dimensions of gmsh's groups


@ready_model(duration=10.0, step=5e-3)
def wind_turbine(
    tower_height: float = 60.0,
    tower_diameter: float = 3.2,
    tower_wall: float = 0.025,
    blade_length: float = 28.0,
    root_width: float = 2.4,
    tip_width: float = 0.8,
    blade_thickness: float = 0.22,
    blade_modulus: float = 1.6e10,
    blade_density: float = 420.0,
    speed: float = 2.0,
    gust: float = 150.0,
    gust_time: float = 4.0,
    gravity: float = 9.81,
    elements: int = 10,
) -> Model:
    """A rotor of three tapered blades turns at constant speed on a flexible tower, and a gust meets it.
    Build and return this ready model of the gallery, to be simulated or linearized. The tower is a steel tube;
    the blades are plates, on which the ``gust`` presses for the ``gust_time``.

    The blades are plates of triangles: the gallery writes the mesh of one of them to a gmsh file with named
    groups and reads it back, as a user would do with a mesh from elsewhere. They stiffen in spin.

    Source: a machine of about 500 kW with plates in place of blade sections; the numbers are ours.

    Reference: a blade weighs (root_width + tip_width) / 2 blade_length blade_thickness blade_density; without gust
    the tower bears the weight of all above.

    Shown by: ``phlexible run wind-turbine``.

    Args:
        tower_height: of a steel tube [m].
        tower_diameter, tower_wall: mean diameter and thickness of the tube [m].
        blade_length, root_width, tip_width, blade_thickness: of each blade [m].
        blade_modulus, blade_density: of a sandwich, as one material [Pa], [kg/m3].
        speed: of the rotor, about x [rad/s].
        gust: greatest pressure on the blades, along x [Pa].
        gust_time: of the gust, from the start [s].
        gravity: along -z [m/s2].
        elements: along a blade.
    """
    omega, peak, lasts = finite("speed", speed), finite("gust", gust), positive("gust_time", gust_time)
    height, radius = positive("tower_height", tower_height), positive("tower_diameter", tower_diameter) / 2
    wall, model = positive("tower_wall", tower_wall), Model(gravity=(0.0, 0.0, -finite("gravity", gravity)))
    area = 2 * np.pi * radius * wall
    tube = Section(area, area * radius**2 / 2, area * radius**2 / 2, area * radius**2)
    tower = Beam(height, tube, Material(2.1e11, 7850.0, 0.3), elements=6, damping_ratio=0.01, color="silver")
    blade = _blade(
        positive("blade_length", blade_length),
        (positive("root_width", root_width), positive("tip_width", tip_width)),
        positive("blade_thickness", blade_thickness),
        Material(blade_modulus, blade_density, 0.3),
        whole("elements", elements),
    )

    def pressure(t: float) -> float:
        return peak * float(np.sin(np.pi * min(t, lasts) / lasts)) ** 2

    up = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    mast = model.add(tower, "tower", rotation=up)
    nacelle_body = RigidBody(15000.0, (2e4, 4e4, 4e4), shape=Box([7.0, 2.6, 2.6]), color="silver")
    nacelle = model.add(nacelle_body, "nacelle", position=(0.0, 0.0, height))
    middle = np.array([-OVERHANG - 1.5, 0.0, height])
    rotor_body = RigidBody(3000.0, (2e3, 2e3, 2e3), shape=Cylinder(1.2, 2.0, axis=(1.0, 0.0, 0.0)), color="gray")
    rotor = model.add(rotor_body, "rotor", position=middle)
    model.connect(Fixed(model.ground.at((0.0, 0.0, 0.0)), mast.start))
    model.connect(Fixed(mast.end, nacelle.origin))
    bearing = model.connect(
        Revolute(nacelle.point((-OVERHANG - 1.5, 0.0, 0.0)), rotor.origin, axis=(1.0, 0.0, 0.0))
    )
    model.apply(bearing.drive(angle=lambda t: omega * t))
    for number in range(3):
        angle = 2 * np.pi * number / 3
        radial = np.array([0.0, -np.sin(angle), np.cos(angle)])
        axes = np.column_stack([radial, np.cross((-1.0, 0.0, 0.0), radial), (-1.0, 0.0, 0.0)])
        arm = 1.2 * radial
        placed = model.add(blade, f"blade {number + 1}", position=middle + arm, rotation=axes)
        model.connect(Fixed(rotor.point(tuple(arm.tolist())), placed["root"]))
        model.apply(Pressure(placed["sail"], pressure, name=f"gust {number + 1}", breakpoints=(lasts,)))
    return model


def _blade(
    length: float, chords: tuple[float, float], thickness: float, material: Material, count: int
) -> FlexibleBody:
    """Return a tapered wind turbine blade as a flexible Kirchhoff plate with 4 modes and 2 % damping, made from a
    temporary mesh file. x is along the blade, z is normal to it and against the wind. Interfaces are the rigid
    "root" edge and the face "sail". ``length``, ``thickness`` and the widths ``chords`` at root and tip are in m;
    ``count`` is the number of elements along it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blade.msh"
        _write_mesh(path, length, chords, count)
        return FlexibleBody.from_mesh(
            path,
            material,
            {"root": ("root edge", "rigid"), "sail": "sail"},
            thickness=thickness,
            theory="kirchhoff",
            frame="root",
            modes=4,
            moments=False,
            damping_ratio=0.02,
            color="blue",
        )


def _write_mesh(path: Path, length: float, chords: tuple[float, float], count: int) -> None:
    """Write the mesh of a tapered wind turbine blade in the xy plane to the gmsh file ``path``. The blade has 3
    rows of nodes across. Physical groups are "sail" (triangles) and "root edge" (lines at x = 0). ``length`` is
    the blade's length and ``chords`` its widths at root and tip [m]; ``count`` is the number of elements along
    it."""
    meshio = optional("meshio", "mesh")
    across = 3
    x, share = np.linspace(0, length, count + 1), np.linspace(-0.5, 0.5, across)
    chord = chords[0] + (chords[1] - chords[0]) * x / length
    points: Array = np.zeros((count + 1, across, 3))
    points[..., 0], points[..., 1] = x[:, None], chord[:, None] * share
    number = np.arange(points.size // 3).reshape(count + 1, across)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    sail = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)
    root = np.column_stack([number[0, :-1], number[0, 1:]])
    tags = [np.full(len(sail), 1), np.full(len(root), 2)]
    mesh = meshio.Mesh(
        points.reshape(-1, 3),
        [("triangle", sail), ("line", root)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"sail": np.array([1, TRIANGLES]), "root edge": np.array([2, LINES])},
    )
    meshio.write(path, mesh, file_format="gmsh22", binary=False)
