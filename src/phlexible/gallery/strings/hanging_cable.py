"""A steel cable between two supports."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.string.law import LinearLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force
from phlexible.joints.spherical import Spherical
from phlexible.model import Model

PUSH_END = 0.5  # [s]


@ready_model
def hanging_cable(
    span: float = 50.0,
    length: float = 50.5,
    line_density: float = 2.0,
    axial_stiffness: float = 1.0e7,
    gravity: float = 9.81,
    push: float = 100.0,
    elements: int = 64,
    order: int = 1,
) -> Model:
    """A cable that hangs at rest between supports of equal height and is lifted in its middle for 0.5 s.

    Source: the catenary of any textbook; H. M. Irvine, *Cable Structures*, MIT Press 1981, for the
    frequencies of shallow cables.

    Reference: the elastic catenary has a horizontal force of 1985.11 N and sags by 3.10374 m; without the
    push it keeps so. Of the small motions in the plane those that are antisymmetric have about
    ``w = 2 pi n sqrt(H / (rho A)) / span``, a little less because the cable sags.

    Shown by: ``phlexible run hanging-cable`` and ``phlexible modes hanging-cable``.

    Args:
        span: between the supports [m].
        length: of the cable, undeformed [m].
        line_density: [kg/m].
        axial_stiffness: EA [N].
        gravity: along -y [m/s2].
        push: upward force in the middle until t = 0.5 s [N].
        elements: an even number.
        order: of the shape functions, 1 or 2.
    """
    cable = String(length, line_density, elements, LinearLaw(axial_stiffness), order=order)
    weight = (0.0, -gravity, 0.0)
    model = Model(gravity=weight, dimension=2)
    ends = (0.0, 0.0, 0.0), (span, 0.0, 0.0)
    placed = model.add(cable, "cable", shape=cable.hanging(*ends, weight))
    model.connect(Spherical(model.ground.at(ends[0]), placed.start))
    model.connect(Spherical(model.ground.at(ends[1]), placed.end))
    if push:

        def lift(time: float) -> Array:
            size = np.sin(np.pi * time / PUSH_END) ** 2 if 0 < time < PUSH_END else 0.0
            return np.array([0.0, push * size, 0.0])

        model.apply(Force(placed.at(length / 2), lift, breakpoints=(PUSH_END,), name="push"))
    return model
