"""A free rod that a force and a torque throw and fold: large rotations and strains in flight."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.general_section import GeneralSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force, Torque
from phlexible.model import Model

RELEASE = 2.5  # [s]


@ready_model
def flying_spaghetti(elements: int = 40, order: int = 2, bending_stiffness: float = 100.0) -> Model:
    """A rod of 10 m at rest, thrown by a force of 8 N and a torque of -80 N m at its lower end for 2.5 s.

    It leaves with a linear momentum of 20 kg m/s along x, turning and folding; nothing holds it.

    Source: J. C. Simo, L. Vu-Quoc, *On the dynamics of flexible beams under large overall motions, the plane
    case*, Journal of Applied Mechanics 53, 1986, part 2.

    Reference: momentum (20, 0) and a speed of the centre of mass of 2 m/s after 2.5 s, exactly. AeroBeams.jl
    (``flyingSpaghetti2D``, 20 elements, steps of 0.01 s) has the loaded end displaced by (10.19, -0.39) m at
    7.5 s and by at most (11.09, 8.93) m until then; 40 elements of order 2 here by (10.26, -0.28), (11.12, 8.94).

    Shown by: ``phlexible run flying-spaghetti``.

    Args:
        elements: of the rod.
        order: of the elements, 1 or 2.
        bending_stiffness: EI [N m2]; 500 is the stiffer rod of the source.
    """
    bending = positive("bending_stiffness", bending_stiffness)
    section = GeneralSection(
        stiffness=np.diag([1e4, 1e4, 1e4, bending, bending, bending]),
        mass=np.diag([1.0, 1.0, 1.0, 20.0, 10.0, 10.0]),
    )
    model = Model(dimension=2)
    rod = model.add(Rod(10.0, section, elements=elements, order=order), "rod", shape=[(6, 0, 0), (0, 8, 0)])

    def pulse(size: float) -> Any:
        return lambda t: size if t <= RELEASE else 0.0

    force, torque = pulse(8.0), pulse(-80.0)
    model.apply(Force(rod.start, lambda t: (force(t), 0.0, 0.0), breakpoints=[RELEASE]))
    model.apply(Torque(rod.start, lambda t: (0.0, 0.0, torque(t)), breakpoints=[RELEASE]))
    return model
