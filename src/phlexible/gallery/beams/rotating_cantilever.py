"""A cantilever on a rotating hub."""

from phlexible.algebra.arrays import finite, positive
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import Section
from phlexible.gallery.parameters import ready_model
from phlexible.joints.fixed import Fixed
from phlexible.model import Model


@ready_model
def rotating_cantilever(speed: float = 6.0, slenderness: float = 1e3, elements: int = 20) -> Model:
    """A beam clamped to a hub of radius zero that turns about z; the rotation stiffens its bending.

    Source: A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, *Vibration modes of centrifugally
    stiffened beams*, Journal of Applied Mechanics 49, 1982. Length, rho A and EI are 1, so that speeds and
    frequencies are those of the source, in units of sqrt(EI / (rho A l^4)).

    Reference: out of the plane of rotation (flap) 7.3604, 26.8091 and 66.6839 at speed 6, and 11.2023,
    33.6404 and 74.6493 at speed 10; in the plane (chord) the squares are less by the speed's square.

    Shown by: ``phlexible modes rotating-cantilever``, and
    ``phlexible run rotating-cantilever`` for the ringing of an undeformed start.

    Args:
        speed: of the hub, about z [rad/s].
        slenderness: length over radius of gyration; large: the beam is as good as inextensible.
        elements: of the beam.
    """
    omega, ratio = finite("speed", speed), positive("slenderness", slenderness)
    blade = Beam(
        length=1.0,
        section=Section(area=1.0, second_moment_y=ratio**-2),
        material=Material(youngs_modulus=ratio**2, density=1.0),
        elements=elements,
        rotary_inertia=False,
    )

    model = Model()
    beam = model.add(blade, "beam")
    hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=lambda t: omega * t)
    model.connect(Fixed(hub, beam.start))
    return model
