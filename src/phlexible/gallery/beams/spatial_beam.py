"""A beam on a spherical joint that is spun up and then struck at its tip."""

from typing import Any

import numpy as np

from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import Section
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force, Torque
from phlexible.joints.spherical import Spherical
from phlexible.model import Model

SPIN_UP = (0.0, 2e-4, 1e-2, 1.02e-2)
BLOW = (1.5e-2, 1.52e-2, 1.54e-2)


@ready_model
def spatial_beam(elements: int = 8, strain: str = "von_karman", modes: int | None = None) -> Model:
    """A beam that a torque spins up about z and a blow along z lifts out of the plane.

    It is held at its start by a spherical joint. A torque about the body's z axis rises to 0.2 N m in
    0.2 ms, stays until 10 ms and is gone at 10.2 ms; at 15 ms the tip is struck along the world's z axis
    by a triangle of 100 N and 0.4 ms.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible multibody
    dynamics*, 2020, section 6.3, Table 2. The units printed there cannot be meant (the density is in
    kg/mm3, and 200 N/mm for 10.2 s would spin the beam to 30 000 rad/s); milliseconds and N m give the
    motion of the figures. Table 2 prints a length of 141.45 mm; 141.42 mm, taken here as in the reference, turn
    0.06 % faster.

    Reference: after the torque the angular momentum about z is its impulse, 2e-3 kg m2/s. The total energy
    is constant between the torque and the blow, and 0.12572 J after it; at 50 ms the tip is at
    (-0.0570, 0.0652, 0.1118) m, by classical finite elements.

    Shown by: ``phlexible run spatial-beam``.

    Args:
        elements: of the beam.
        strain: "von_karman" or "linear".
        modes: None or the number of bending and torsion modes of the beam.
    """
    beam = Beam(
        length=0.14142,
        section=Section(area=9e-6, second_moment_y=6.75e-12),
        material=Material(youngs_modulus=2.1e12, density=7800.0),
        elements=elements,
        strain=strain,  # type: ignore[arg-type]
        rotary_inertia=False,
        modes=modes,
    )
    model = Model()
    arm = model.add(beam, "beam")
    model.connect(Spherical(model.ground.at((0.0, 0.0, 0.0)), arm.start))
    torque, blow = _along_z(SPIN_UP, (0.0, 0.2, 0.2, 0.0)), _along_z(BLOW, (0.0, 100.0, 0.0))
    model.apply(Torque(arm.start, torque, "body", breakpoints=SPIN_UP, name="torque"))
    model.apply(Force(arm.end, blow, breakpoints=BLOW, name="blow"))
    return model


def _along_z(times: tuple[float, ...], values: tuple[float, ...]) -> Any:
    """A vector along z whose size is linear between the times and zero outside."""
    return lambda t: (0.0, 0.0, np.interp(t, times, values))
