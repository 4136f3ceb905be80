"""A steel ruler that swings in the plane."""

from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.model import Model


@ready_model
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
