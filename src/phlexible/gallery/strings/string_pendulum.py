"""The string pendulum of Kinon et al. (2023), section 4."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.string.law import LogarithmicLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force
from phlexible.joints.spherical import Spherical
from phlexible.model import Model

LOADING = 0.2  # [s]


@ready_model
def string_pendulum(
    elements: int = 30,
    axial_stiffness: float = 20.0,
    length: float = 1.0,
    line_density: float = 1.0,
    gravity: float = 9.81,
    order: int = 1,
    viscosity: float = 0.0,
) -> Model:
    """A rubber string that is held at its start, pulled at its end for 0.2 s and swings.

    Source: Kinon, Thoma, Betsch, Kotyczka (2023), section 4, Table 1 and (39)-(42): released at rest at
    45 degrees below the horizontal, tip force rho A (1, 1) sin(pi t / 0.2) until t = 0.2 s.

    Reference: with 30 elements and h = 0.01 s the energy is -3.403761620753 J from t = 0.2 s on and changes
    by less than 3e-12 J a step; implicit midpoint changes it by 4.6e-4 J a step. The string goes slack at
    t = 0.22 s, so that its motion has no limit under refinement after about 0.5 s; the energy has.

    Shown by: ``phlexible run string-pendulum`` and ``examples/04_string_pendulum.py`` (figures 2 to 5).

    Args:
        elements: of the string.
        axial_stiffness: EA of the logarithmic law (7) [N].
        length: undeformed [m].
        line_density: rho A [kg/m].
        gravity: along -y [m/s2].
        order: 1: linear elements, as in the paper; 2: quadratic.
        viscosity: Kelvin-Voigt time of the string [s].
    """
    string = String(
        length, line_density, elements, LogarithmicLaw(axial_stiffness), order=order, viscosity=viscosity
    )
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    down = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    placed = model.add(string, "string", shape=lambda s: s * down)

    def tip_force(time: float) -> Array:
        size = line_density * np.sin(np.pi * time / LOADING) if time < LOADING else 0.0
        return size * np.array([1.0, 1.0, 0.0])

    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), placed.start))
    model.apply(Force(placed.end, tip_force, breakpoints=(LOADING,), name="tip force"))
    return model
