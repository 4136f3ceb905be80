"""A strip of rubber that is pressed on a surface and dragged along it, to and fro."""

import numpy as np

from phlexible.algebra.arrays import Array, non_negative, positive
from phlexible.bodies.material import Material
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Plane
from phlexible.joints.fixed import Fixed
from phlexible.model import Model

LOWERED, THICK = 0.1, 4e-3  # [s], [m]


@ready_model
def wiper(
    friction: float = 0.6,
    press: float = 6e-3,
    sweep: float = 0.06,
    period: float = 1.0,
    elements: int = 8,
) -> Model:
    """A wiper blade of rubber, 40 mm long, whose holder is lowered to a pane and moves to and fro along it.

    The blade bends behind its holder and its lip rubs along; where the holder turns back the lip sticks until the
    blade has turned over to the other side, and snaps.

    Source: own model; friction is regularised, the rod geometrically exact.

    Reference: what the holder works against is lost in friction and in the rubber, and nowhere else: the balance of
    energy closes to 1e-12 of it.

    Shown by: ``phlexible run wiper``.

    Args:
        friction: coefficient of lip and pane.
        press: by which the holder is lower than the blade is long [m].
        sweep: to each side [m].
        period: of to and fro [s].
        elements: of the blade.
    """
    length, radius = 0.04, THICK / 2
    low, wide, whole_turn = positive("press", press), non_negative("sweep", sweep), positive("period", period)
    start = length + radius + 1e-4

    def holder(time: float) -> Array:
        lowered = min(time / LOWERED, 1.0)
        drop = (low + 1e-4) * lowered**2 * (3 - 2 * lowered)
        return np.array([wide * np.sin(2 * np.pi * time / whole_turn), start - drop, 0.0])

    model = Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rubber = Material(youngs_modulus=5e6, density=1200.0, poissons_ratio=0.49, viscosity=2e-3)
    blade = model.add(
        Rod(length, RectangularSection(width=THICK, height=0.01), rubber, elements=elements),
        "blade",
        position=(0.0, start, 0.0),
        rotation=-np.pi / 2,
    )
    model.connect(Fixed(model.ground.moving(holder), blade.start))
    pane = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    law = {
        "stiffness": 1200.0,
        "damping": 5e3,
        "friction": non_negative("friction", friction),
        "friction_speed": 5e-3,
    }
    model.apply(Contact(blade, pane, radius=radius, name="pane", **law))
    return model
