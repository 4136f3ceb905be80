"""Isotropic linear elastic material with Kelvin-Voigt viscosity, and sections made of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from phlexible.algebra.arrays import Array, Finite, Positive, RelaxationTime, convert_fields
from phlexible.bodies.sizes import HEAVY
from phlexible.display import short_repr
from phlexible.elements.maxwell import Maxwell, Relaxation
from phlexible.elements.sections import (
    AnySection,
    GeneralSection,
    UniformSection,
    VaryingSection,
    sampled_section,
    sections_at,
)
from phlexible.errors import ParameterError, UnitWarning, warn_user

# Isotropic linear elastic material with Kelvin-Voigt viscosity.

SOFTEST, LIGHTEST = 1e4, 100.0
"""Lower bounds of Young's modulus [Pa] and density [kg/m3] of solids."""
DENSE, LEAST_RATIO = 1500.0, 30.0
"""Density of metals and stones [kg/m3] and the least ratio of Young's modulus to it [m2/s2]; steel in MPa: 27."""
STIFF, DENSITIES = 1e8, (0.5, 25.0)
"""Young's modulus [Pa] above which no solid has a density in this interval [kg/m3], which suggests g/cm3."""
DENSITY_UNITS = {"g/cm3": 1.0, "kg/mm3": 1e-6, "t/mm3": 1e-9}
"""Units in which densities of solids lie in that interval, each as its number in the correct SI unit over 1000."""
WITHOUT_UNITS = 1.0  # a density of models whose quantities have no units


@dataclass(frozen=True)
class Material:
    """An isotropic linear elastic material with density, and viscosity of Kelvin-Voigt type or relaxation.

    Attributes:
        youngs_modulus: E [Pa].
        density: rho [kg/m3].
        poissons_ratio: in (-1, 0.5] [-].
        viscosity: Kelvin-Voigt time tau [s]: stress is D (eps + tau deps/dt).
        relaxation: branches of spring (Young's modulus [Pa], Poisson's ratio the same) and dashpot in series, of a
            ``Rod``; None: none.

    Raises:
        ParameterError: a number is not finite or outside its range.

    Example:
        >>> steel = ph.Material(youngs_modulus=210e9, density=7850.0, poissons_ratio=0.3)
        >>> round(steel.shear_modulus / 1e9, 2)
        80.77
    """

    youngs_modulus: Positive
    density: Positive
    poissons_ratio: Finite = 0.3
    viscosity: RelaxationTime = 0.0
    relaxation: Relaxation = field(default=None, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        convert_fields(self)
        if not -1 < self.poissons_ratio <= 0.5:
            raise ParameterError(f"poissons_ratio must lie in (-1, 0.5], got {self.poissons_ratio!r}")
        warn_of_units(self.youngs_modulus, self.density)

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G = E / (2 (1 + nu)) of this isotropic material [Pa]."""
        return self.youngs_modulus / (2 * (1 + self.poissons_ratio))


def warn_of_units(youngs_modulus: float, density: float) -> None:
    """Warn the user (``UnitWarning``) if Young's modulus [Pa] or density [kg/m3] of a material are probably in
    other units. A modulus may be in MPa or GPa if it is below 1e4 Pa at a density above 100 kg/m3, or below 30
    m2/s2 times a density above 1500 kg/m3. A density of 0.5 to 25 kg/m3 at a modulus above 1e8 Pa may be in g/cm3;
    1e-6 or 1e-9 times that may be in kg/mm3 or t/mm3 at any modulus. Densities of 1, 1e-6 and 1e-9 are accepted."""
    is_metal_or_stone = density > DENSE and youngs_modulus < LEAST_RATIO * density
    if (youngs_modulus < SOFTEST and density > LIGHTEST) or is_metal_or_stone:
        warn_user(
            f"youngs_modulus = {youngs_modulus:g} Pa at {density:g} kg/m3 is softer than any jelly;"
            " is it in MPa or GPa? steel has 210e9 Pa",
            UnitWarning,
        )
    for unit, size in DENSITY_UNITS.items():
        is_in_unit = DENSITIES[0] <= density / size <= DENSITIES[1] and density != size * WITHOUT_UNITS
        if is_in_unit and (youngs_modulus > STIFF or size < 1):
            warn_user(
                f"density = {density:g} kg/m3 is lighter than any solid of youngs_modulus ="
                f" {youngs_modulus:g} Pa; is it in {unit}? Then it is {1e3 * density / size:g} kg/m3"
                + (f"; a modulus in MPa is {1e6 * youngs_modulus:.3g} Pa" if size < 1 else ""),
                UnitWarning,
            )


# Sections and materials of beams and rods, as users pass them.

ROUND_OFF = 1e-9


def section_along(section: object, length: float, elements: int) -> AnySection:
    """Return the cross-section of a beam or rod from a user's argument ``section``. A uniform or varying section
    is returned unchanged. A function of the position along the ``length`` [m] is sampled in each of the
    ``elements`` and becomes a varying section. Raise ``ParameterError`` for other types, and for varying sections
    that do not cover the length.

    Raises:
        ParameterError: no section, or one that is not defined everywhere.
    """
    if isinstance(section, VaryingSection):
        if section.start > ROUND_OFF * length or section.end < (1 - ROUND_OFF) * length:
            raise ParameterError(
                f"section must be defined from 0 to {length:g} (the length), its positions go from"
                f" {section.start:g} to {section.end:g}"
            )
        return section
    if isinstance(section, AnySection):
        return section
    if callable(section) and not isinstance(section, type):
        return sampled_section(section, length, elements)
    raise ParameterError(
        "section must be a Section, CircularSection or RectangularSection, a GeneralSection, a VaryingSection or a"
        f" function of the position, got {section!r}"
    )


def check_material(section: AnySection, material: object, length: float) -> None:
    """Raise ``ParameterError`` unless a beam or rod has a ``material``, or a ``GeneralSection`` (a section with
    its own stiffness and mass), and not both. Warn (``UnitWarning``) if the mass, density times ``length`` times
    the area of the first section, exceeds 1e7 kg; lengths are then probably in millimetres.

    Raises:
        ParameterError: two materials, or none.
    """
    first = all_sections(section)[0]
    if isinstance(first, GeneralSection):
        if material is not None:
            raise ParameterError(
                "material must be left out: a GeneralSection already has stiffness, mass and viscosity,"
                f" got {material!r}"
            )
    elif not isinstance(material, Material):
        raise ParameterError(f"material must be a Material, got {material!r}")
    elif (mass := material.density * length * first.area) > HEAVY:
        warn_user(
            f"length = {length:g} m and a section of {first.area:g} m2 have a mass of"
            f" {mass:.3g} kg; are they in millimetres? Give metres",
            UnitWarning,
        )


def relative_relaxation(material: Material | None, sections: Iterable[object]) -> Maxwell | None:
    """Return the Maxwell branches (springs and dashpots in series) of a beam or rod, with stiffnesses divided by
    Young's modulus; None without relaxation. They are those of ``material`` or, if that is None, of its
    ``sections``, which store ratios already. Raise ``ParameterError`` if sections have different branches.

    Raises:
        ParameterError: sections with different ones.
    """
    if material is not None:
        return material.relaxation and material.relaxation.scaled(1 / material.youngs_modulus)
    relaxations = {section.relaxation for section in sections if isinstance(section, GeneralSection)}
    if len(relaxations) > 1:
        raise ParameterError(f"sections of one body must have the same relaxation, got {relaxations}")
    return relaxations.pop()


def refuse_relaxation(relaxation: Maxwell | None, form: str) -> None:
    """Raise ``ParameterError`` if a body has viscoelastic ``relaxation`` (Maxwell branches) because the equations
    named ``form`` in the message have no states for it. Nothing is done for None.

    Raises:
        ParameterError: there is one.
    """
    if relaxation is not None:
        raise ParameterError(f"{form} has no creep; leave relaxation= out, or take viscosity=, got {relaxation!r}")


def all_sections(section: AnySection) -> tuple[UniformSection, ...]:
    """Return all cross-sections of a table that varies along a beam, or the single uniform section, as a tuple."""
    return section.sections if isinstance(section, VaryingSection) else (section,)


class WithSections:
    """Base class of beams and rods, which have cross-sections along their length, of one material or of their own.

    Attributes:
        section: uniform, or varying along the length.
        material: None: sections have stiffness and mass of their own.
    """

    section: Any
    material: Material | None

    @property
    def viscosity(self) -> float:
        """Kelvin-Voigt time of this beam or rod [s], the ratio of viscous to elastic stress per strain rate. It is
        the value of its material or, without material, the largest value of its sections."""
        if self.material is not None:
            return self.material.viscosity
        return max(each.viscosity for each in self._sections if isinstance(each, GeneralSection))

    def sections_at(self, x: Array) -> list[UniformSection]:
        """Return the cross-section of this beam or rod at each of the positions x (k,) along it [m], as a list."""
        return sections_at(self._section, x)

    @property
    def _section(self) -> AnySection:
        assert isinstance(self.section, AnySection)
        return self.section

    @property
    def _sections(self) -> tuple[UniformSection, ...]:
        return all_sections(self._section)
