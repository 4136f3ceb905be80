"""A ball that falls on the ground and bounces: contact without loss, or with impact damping."""

from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Plane
from phlexible.model import Model
from phlexible.shapes.solids import Sphere


@ready_model
def bouncing_ball(drop_height: float = 0.5, stiffness: float = 1e5, damping: float = 0.0) -> Model:
    """A ball of 1 kg and 0.1 m radius that falls on the ground, z upwards.

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
