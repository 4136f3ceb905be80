"""A flexible pole that is to be balanced on a cart."""

from math import pi

from phlexible.algebra.arrays import finite
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.revolute import Revolute
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.solids import Box


@ready_model
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
