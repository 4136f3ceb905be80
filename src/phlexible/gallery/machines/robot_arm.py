"""A robot arm with two flexible links and a controlled motor in each of its six joints."""

from collections.abc import Callable

from phlexible.algebra.arrays import Array, positive
from phlexible.algebra.options import flag
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.fixed import Fixed
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.ports.attachments import Port
from phlexible.shapes.solids import Box, Cylinder, Sphere

Y, Z, X = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
AXES = (Z, Y, Y, X, Y, X)
TARGETS = (1.2, -0.5, 0.7, 0.6, -0.8, 0.5)
"""Of the joint angles [rad]."""

STIFFNESS = (400.0, 1500.0, 600.0, 20.0, 30.0, 5.0)
DAMPING = (40.0, 120.0, 50.0, 0.8, 1.2, 0.2)
"""Gains of the motors [N m/rad, N m s/rad]."""


@ready_model
def robot_arm(
    rise_time: float = 1.0, elements: int = 4, payload: float = 2.0, gains: float = 1.0, sampled: bool = True
) -> Model:
    """Six revolute joints, aluminium tubes as upper arm and forearm, proportional-derivative control.

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
        model.apply(joint.torque(_pull(k, rise_time, gain), name=f"motor {k + 1}"))
    return model


def target(joint: int, time: float, rise_time: float) -> tuple[float, float]:
    """Angle and rate that a motor aims at: a polynomial of degree five, then constant."""
    s = min(max(time / rise_time, 0.0), 1.0)
    shape = s**3 * (10 - 15 * s + 6 * s**2)
    slope = 30 * s**2 * (1 - s) ** 2 / rise_time
    return TARGETS[joint] * shape, TARGETS[joint] * slope


def _pull(joint: int, rise_time: float, gain: float) -> Callable[[float], float]:
    def torque(time: float) -> float:
        angle, rate = target(joint, time, rise_time)
        return gain * (STIFFNESS[joint] * angle + DAMPING[joint] * rate)

    return torque


def _servo(joint: int, rise_time: float, gain: float) -> Callable[[float, Array], float]:
    def controller(time: float, measured: Array) -> float:
        angle, rate = target(joint, time, rise_time)
        return float(gain * (STIFFNESS[joint] * (angle - measured[0]) + DAMPING[joint] * (rate - measured[1])))

    return controller
