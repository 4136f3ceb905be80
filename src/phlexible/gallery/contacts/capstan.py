"""A rope over a turning drum: friction carries the load."""

import numpy as np

from phlexible.algebra.arrays import non_negative, positive
from phlexible.algebra.options import whole
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string.law import LinearLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Surface
from phlexible.joints.revolute import Revolute
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.solids import Cylinder

WEIGHT, STIFFNESS, STRAIGHT, RISE = 10.0, 2e4, 0.1, 0.05  # [N], [N], [m], [s]
NODE = 1e4  # [N/m]


@ready_model
def capstan(
    friction: float = 0.3,
    wrap: float = 3.141592653589793,
    radius: float = 0.1,
    drum_speed: float = 20.0,
    elements: int = 24,
) -> Model:
    """A load of 10 N on a rope over a drum that turns against it; the other end is held by little force.

    The drum starts, rubs along the rope and takes most of the weight: the joint that holds the rope gets less and
    less, while the load stays where it is. Without friction it would hold all of it.

    Source: L. Euler, *Remarques sur l'effet du frottement dans l'equilibre*, Memoires de l'academie des sciences de
    Berlin 18 (1769).

    Reference: the tensions of both ends are as exp(friction wrap), here 2.57; 3.90 N are left, within 1 %.

    Shown by: ``phlexible run capstan``; ``motion.reaction(model.joint("held end"))`` is the force that is left.

    Args:
        friction: coefficient of rope and drum.
        wrap: angle along which the rope lies on the drum [rad].
        radius: of the drum [m].
        drum_speed: after 0.05 s [rad/s].
        elements: of the rope.
    """
    angle, around, count = positive("wrap", wrap), positive("radius", radius), whole("elements", elements, least=8)
    lies = around - WEIGHT * angle / (count * NODE)  # so deep in the groove it carries its tension
    bent = (angle * lies + 2 * STRAIGHT) / (count * lies)
    wound = lies * angle / (1 + bent**2 / 24)  # by chords, which are shorter than their arcs

    def shape(s: float) -> tuple[float, float, float]:
        """From the held end on the left over the top, s along the rope."""
        turned = angle * float(np.clip((s - STRAIGHT) / wound, 0.0, 1.0))
        before, after = max(STRAIGHT - s, 0.0), max(s - STRAIGHT - wound, 0.0)
        x = -lies * np.cos(turned) + after * np.sin(turned)
        return float(x), float(lies * np.sin(turned) + after * np.cos(turned) - before), 0.0

    model = Model(gravity=(0.0, -10.0, 0.0), dimension=2)
    length, law = wound + 2 * STRAIGHT, LinearLaw(STIFFNESS)
    taut = 1.0 + WEIGHT / STIFFNESS
    rope = model.add(
        String(length / taut, 0.01, count, law, viscosity=2e-3, diameter=0.008),
        "rope",
        shape=lambda s: shape(taut * s),
    )
    load = model.add(PointMass(WEIGHT / 10.0), "load", position=shape(length))
    model.connect(Spherical(model.ground.at(shape(0.0)), rope.start, name="held end"))
    model.connect(Spherical(rope.end, load.origin))
    drum = model.add(RigidBody(1.0, 0.01, shape=Cylinder(around, 0.05)), "drum")
    bearing = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), drum.origin))
    speed = non_negative("drum_speed", drum_speed)

    def turn(time: float) -> float:
        rising = min(time, RISE)
        return speed * (0.5 * rising * rising / RISE + max(time - RISE, 0.0))

    model.apply(bearing.drive(angle=turn))
    groove = Surface(drum.origin, Cylinder(around, 0.05))
    law_of_groove = {"stiffness": NODE, "damping": 1e6, "friction": non_negative("friction", friction)}
    model.apply(Contact(rope, groove, friction_speed=1e-2, name="groove", **law_of_groove))
    return model
