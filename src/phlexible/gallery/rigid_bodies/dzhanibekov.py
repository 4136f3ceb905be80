"""A free body that turns over again and again: rotation about the middle axis of inertia."""

from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.model import Model


@ready_model
def dzhanibekov(disturbance: float = 0.05) -> Model:
    """A free rigid body that spins about its middle axis, which is unstable: it flips periodically.

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
