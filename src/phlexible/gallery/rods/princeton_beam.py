"""A slender cantilever under a tip weight at an angle: bending in two planes and torsion, coupled by their size."""

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.bodies.material import Material
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force
from phlexible.joints.fixed import Fixed
from phlexible.model import Model


@ready_model
def princeton_beam(
    angle: float = 0.7853981633974483, force: float = 8.896, elements: int = 8, order: int = 2
) -> Model:
    """The Princeton beam experiment: an aluminium strip 0.508 m long, 12.3777 mm by 3.2024 mm, loaded at the tip.

    Source: E. H. Dowell, J. J. Traybar, *An experimental study of the nonlinear stiffness of a rotor blade
    undergoing flap, lag and twist deformations*, Princeton University, AMS report 1257, 1975.

    Reference: the static tip (``model.equilibrium()``) of beam elements of ANSYS (L. Obrezkov,
    P. Eliasson, A. B. Harish, M. K. Matikainen, 2022, as EXUDYN compares with them) under 8.896 N at 45 degrees:
    0.10899 m across the thin side and 0.00884 m across the wide side; here 0.10904 m and 0.00889 m.

    Shown by: ``phlexible run princeton-beam``, a vibration about that shape.

    Args:
        angle: of the force from the wide side of the section, 0 to pi/2 [rad].
        force: [N].
        elements: of the rod.
        order: of the elements, 1 or 2.
    """
    turn, size = finite("angle", angle), finite("force", force)
    aluminium = Material(youngs_modulus=71.7e9, density=2700.0, poissons_ratio=0.31)
    section = RectangularSection(width=12.3777e-3, height=3.2024e-3)
    model = Model()
    beam = model.add(Rod(0.508, section, aluminium, elements=elements, order=order), "beam")
    model.connect(Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.apply(Force(beam.end, (0.0, size * float(np.cos(turn)), size * float(np.sin(turn)))))
    return model
