"""A shaft that spins about its axis."""

from phlexible.algebra.arrays import positive
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import CircularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.model import Model


@ready_model
def spinning_shaft(
    speed: float = 100.0,
    length: float = 1.0,
    diameter: float = 20e-3,
    youngs_modulus: float = 2.1e11,
    density: float = 7850.0,
    elements: int = 20,
) -> Model:
    """A round shaft between two bearings that hold points only, spinning about its axis x.

    Source: rotor dynamics of any textbook: a beam of round section without rotary inertia bends in any
    plane with the frequencies of the shaft at rest, omega_n = (n pi / l)^2 sqrt(EI / (rho A)). An observer
    who turns with the shaft sees each of them twice.

    Reference: in axes that turn with the shaft the frequencies are omega_n +- speed; with the default
    numbers omega_1 = 255.24 rad/s, seen as 155.24 and 355.24 rad/s.

    Shown by: ``phlexible modes spinning-shaft``, and ``phlexible run spinning-shaft``,
    where it spins undeformed.

    Args:
        speed: about x [rad/s].
        length: [m].
        diameter: [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        elements: of the shaft.
    """
    shaft_body = Beam(
        length=positive("length", length),
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        rotary_inertia=False,
    )
    model = Model()
    shaft = model.add(shaft_body, "shaft", velocity=(0.0, 0.0, 0.0), angular_velocity=(speed, 0.0, 0.0))
    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), shaft.start))
    model.connect(Slider(model.ground.at((length, 0.0, 0.0)), shaft.end, axis=(1.0, 0.0, 0.0)))
    return model
