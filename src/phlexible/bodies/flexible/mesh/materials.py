"""Elastic constants of the elements of a mesh (docs/theory.md, 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.material import Material
from phlexible.errors import ParameterError


class Plane(StrEnum):
    """What a plane mesh leaves free across its plane: STRESS, a thin part; STRAIN, a part that cannot widen."""

    STRESS = "stress"
    STRAIN = "strain"


@dataclass(frozen=True, eq=False)
class ElementMaterials:
    """Constants of each element: stress = lame tr(e) I + 2 shear e, per length of thickness in the plane.

    Attributes:
        lame: shape (e,) [Pa, in the plane times thickness].
        shear: shape (e,), the same unit.
        density: shape (e,) [kg/m3, in the plane times thickness].
        viscosity: Kelvin-Voigt time of all of them [s].
        thickness: of a plane mesh, 1 of a solid one [m].
        is_plane_strain: whether a plane mesh cannot widen, so that there is stress across it.
    """

    lame: Array
    shear: Array
    density: Array
    viscosity: float
    thickness: float
    is_plane_strain: bool

    def stress(self, elements: IntArray, gradients: Array) -> Array:
        """Linear stress of displacement gradients (p, c, a) at points of elements (p,), shape (p, c, a)."""
        strain = (gradients + gradients.transpose(0, 2, 1)) / 2
        trace = np.trace(strain, axis1=1, axis2=2)
        identity = np.eye(strain.shape[1])
        lame, shear = self.lame[elements], self.shear[elements]
        result: Array = (lame * trace)[:, None, None] * identity + 2 * shear[:, None, None] * strain
        return result


def element_materials(
    material: Material | Mapping[str, Material],
    groups: Mapping[str, IntArray],
    count: int,
    dimension: int,
    plane: Plane,
    thickness: float,
) -> ElementMaterials:
    """One material for all elements, or one for each named group of them.

    Raises:
        ParameterError: no material, a group that the mesh lacks, an element in no or in two groups,
            materials of different viscosity, or Poisson's ratio 1/2 where volume cannot change.
    """
    given = {"": material} if isinstance(material, Material) else material
    if not isinstance(given, Mapping) or not all(isinstance(each, Material) for each in given.values()):
        raise ParameterError(f"material must be a Material, or one for each group of elements, got {material!r}")
    owner = np.full(count, -1)
    for number, name in enumerate(given):
        if isinstance(material, Material):
            owner[:] = 0
            continue
        if name not in groups:
            known = ", ".join(map(repr, groups)) or "none"
            raise ParameterError(f"material: the mesh has no group of elements {name!r}; it has {known}")
        if (taken := owner[groups[name]] >= 0).any():
            raise ParameterError(f"material: {int(taken.sum())} elements of group {name!r} are in another one too")
        owner[groups[name]] = number
    if (owner < 0).any():
        raise ParameterError(
            f"material: {int((owner < 0).sum())} elements are in none of the groups {', '.join(map(repr, given))}"
        )
    materials = list(given.values())
    viscosities = {each.viscosity for each in materials}
    if len(viscosities) > 1:
        raise ParameterError(f"materials of one body must have the same viscosity, got {sorted(viscosities)}")
    is_strained = dimension == 2 and plane is Plane.STRAIN
    constants = np.array([_constants(each, dimension, plane) for each in materials])[owner] * thickness
    return ElementMaterials(
        constants[:, 0], constants[:, 1], constants[:, 2], viscosities.pop(), thickness, is_strained
    )


def _constants(material: Material, dimension: int, plane: Plane) -> tuple[float, float, float]:
    modulus, ratio = material.youngs_modulus, material.poissons_ratio
    shear = material.shear_modulus
    if dimension == 2 and plane is Plane.STRESS:
        return modulus * ratio / (1 - ratio**2), shear, material.density
    if ratio > 0.4999:
        raise ParameterError(
            f"poissons_ratio must be below 0.4999 in a mesh whose volume can change, got {ratio!r}"
        )
    return modulus * ratio / ((1 + ratio) * (1 - 2 * ratio)), shear, material.density
