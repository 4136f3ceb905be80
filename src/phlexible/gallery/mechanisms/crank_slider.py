"""A fast crank-slider with a flexible coupler."""

import numpy as np

from phlexible.algebra.arrays import finite, positive
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.elements.sections import CircularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.model import Model


@ready_model
def crank_slider(
    crank_length: float = 0.15,
    crank_speed: float = 150.0,
    coupler_length: float = 0.3,
    diameter: float = 6e-3,
    youngs_modulus: float = 0.2e12,
    density: float = 7870.0,
    slider_mass: float = 0.033,
    elements: int = 8,
    strain: str = "von_karman",
    modes: int | None = None,
) -> Model:
    """A crank turned at constant speed, a flexible steel coupler and a slider on the x axis.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible
    multibody dynamics*, 2020, section 6.2; the numbers are those of their example. The crank points
    along +x at t = 0, the coupler starts undeformed; no gravity; no rotary inertia of bending.

    Reference: transverse displacement u_y / L of the coupler's middle over the first 0.1 s, from
    classical displacement finite elements in a floating frame: greatest 0.015420, smallest -0.015547
    with von Karman strain, 0.018779 and -0.018687 with linear strain (which does not stiffen).
    Geometrically exact shear-free beams with a slider of 0.033378 kg: 0.015388 and -0.015529.

    Shown by: ``phlexible run crank-slider``.

    Args:
        crank_length: [m].
        crank_speed: constant, about z [rad/s].
        coupler_length: [m].
        diameter: of the coupler's round section [m].
        youngs_modulus: of the coupler [Pa].
        density: of the coupler [kg/m3].
        slider_mass: [kg].
        elements: of the coupler.
        strain: "von_karman" or "linear".
        modes: bending modes of the coupler that are kept; None: all finite element coordinates.
    """
    radius, omega = positive("crank_length", crank_length), finite("crank_speed", crank_speed)
    beam = Beam(
        length=coupler_length,
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        strain=strain,  # type: ignore[arg-type]  # checked by Beam
        rotary_inertia=False,
        modes=modes,
    )

    def crank_pin(t: float) -> tuple[float, float, float]:
        return radius * np.cos(omega * t), radius * np.sin(omega * t), 0.0

    def crank_pin_velocity(t: float) -> tuple[float, float, float]:
        return -radius * omega * np.sin(omega * t), radius * omega * np.cos(omega * t), 0.0

    model = Model(dimension=2)
    coupler = model.add(beam, "coupler", position=(radius, 0.0, 0.0))
    slider = model.add(PointMass(slider_mass), "slider", position=(radius + coupler_length, 0.0, 0.0))
    pin = model.ground.moving(crank_pin, velocity=crank_pin_velocity)
    model.connect(Revolute(pin, coupler.start))
    model.connect(Revolute(coupler.end, slider.origin))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), slider.origin, axis=(1.0, 0.0, 0.0)))
    return model
