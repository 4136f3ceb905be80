"""Seven rigid links in the plane, the classical test of solvers for constrained motion."""

from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.force_elements import SpringDamper
from phlexible.joints.revolute import Revolute
from phlexible.model import Model

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


@ready_model
def andrews_squeezer(torque: float = 0.033) -> Model:
    """Andrews' squeezing mechanism: seven links, three closed loops, a spring, a motor.

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
