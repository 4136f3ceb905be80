"""A cantilever that a moment at its end rolls up to a circle."""

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.bodies.material import Material
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Torque
from phlexible.joints.fixed import Fixed
from phlexible.model import Model


@ready_model
def roll_up(turns: float = 1.0, elements: int = 16, order: int = 2) -> Model:
    """A strip of rubber of 1 m, clamped at one end; the moment at the other would bend it by so many turns.

    The static shape (``model.equilibrium()``) is a circular arc; with one
    turn it closes. A run starts from the straight strip, and friction of the material brings it to rest.

    Source: closed form; the tip moves to (L sin(t) / t, L (1 - cos(t)) / t) with t = M L / EI.

    Reference: the tip of a full turn is at the clamp.

    Shown by: ``phlexible run roll-up``.

    Args:
        turns: M L / (2 pi EI), at most about a twelfth of the sections.
        elements: of the rod.
        order: of the elements, 1 or 2.
    """
    section = RectangularSection(width=10e-3, height=20e-3)
    rubber = Material(youngs_modulus=1e7, density=1100.0, poissons_ratio=0.0, viscosity=0.05)
    model = Model(dimension=2)
    strip = model.add(Rod(1.0, section, rubber, elements=elements, order=order), "strip")
    model.connect(Fixed(model.ground.at((0, 0, 0)), strip.start))
    stiffness = rubber.youngs_modulus * section.second_moment_z
    moment = 2 * np.pi * finite("turns", turns) * stiffness / 1.0
    model.apply(Torque(strip.end, (0.0, 0.0, float(moment))))
    return model
