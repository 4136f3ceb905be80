"""Stiffness and mass of a plate for each of its area (docs/theory.md, 3)."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.materials import ElementMaterials

SHEAR_FACTOR = 5 / 6
NO_SHEAR = 1e5
"""Stiffness of the shear that a Kirchhoff plate does not have, over that of bending an element."""


class PlateTheory(StrEnum):
    """KIRCHHOFF: normals stay normal to the middle surface. MINDLIN: shear turns them."""

    KIRCHHOFF = "kirchhoff"
    MINDLIN = "mindlin"


@dataclass(frozen=True, eq=False)
class PlateSection:
    """What the elements of a plate are made of.

    Attributes:
        thickness: h [m].
        membrane: forces (xx, yy, xy) of strains (shear doubled) in plane stress, shape (e, 3, 3) [N/m].
        shear: shear forces of shear strains, shape (e,) [N/m].
        density: mass per area, shape (e,) [kg/m2].
        viscosity: Kelvin-Voigt time [s].
    """

    thickness: float
    membrane: Array
    shear: Array
    density: Array
    viscosity: float

    @property
    def bending(self) -> Array:
        """Moments (xx, yy, xy) of curvatures, shape (e, 3, 3) [N m]."""
        return self.membrane * (self.thickness**2 / 12)

    @property
    def stiffness(self) -> Array:
        """Of membrane strains, curvatures and shear strains, shape (e, 8, 8)."""
        result = np.zeros((len(self.shear), 8, 8))
        result[:, :3, :3] = self.membrane
        result[:, 3:6, 3:6] = self.bending
        result[:, 6, 6] = result[:, 7, 7] = self.shear
        return result


def plate_section(mesh: ElementMesh, materials: ElementMaterials, theory: PlateTheory) -> PlateSection:
    """Of elements with the constants of plane stress, which are times the thickness."""
    lame, shear, h = materials.lame, materials.shear, materials.thickness
    membrane = np.zeros((len(lame), 3, 3))
    membrane[:, 0, 0] = membrane[:, 1, 1] = lame + 2 * shear
    membrane[:, 0, 1] = membrane[:, 1, 0] = lame
    membrane[:, 2, 2] = shear
    if theory is PlateTheory.MINDLIN:
        across = SHEAR_FACTOR * shear
    else:
        across = NO_SHEAR * membrane[:, 0, 0] * h**2 / 12 / _areas(mesh)
    return PlateSection(h, membrane, across, materials.density, materials.viscosity)


def _areas(mesh: ElementMesh) -> Array:
    areas = np.zeros(mesh.cell_count)
    for part in mesh.quadrature(2):
        areas[part.elements] = part.weights.sum(axis=1)
    return areas
