"""What users give as the section and material of a beam or a rod."""

from phlexible.bodies.material import Material
from phlexible.elements.general_section import GeneralSection
from phlexible.elements.varying_section import AnySection, UniformSection, VaryingSection, sampled
from phlexible.errors import ParameterError

ROUND_OFF = 1e-9


def section_along(section: object, length: float, elements: int) -> AnySection:
    """The section, a function of the place along the body as a table.

    Raises:
        ParameterError: no section, or one that is not known everywhere.
    """
    if isinstance(section, VaryingSection):
        if section.start > ROUND_OFF * length or section.end < (1 - ROUND_OFF) * length:
            raise ParameterError(
                f"section must be known from 0 to {length:g} (the length), its places go from"
                f" {section.start:g} to {section.end:g}"
            )
        return section
    if isinstance(section, AnySection):
        return section
    if callable(section) and not isinstance(section, type):
        return sampled(section, length, elements)
    raise ParameterError(
        "section must be a Section, CircularSection or RectangularSection, a GeneralSection, a VaryingSection or a"
        f" function of the place, got {section!r}"
    )


def check_material(section: AnySection, material: object) -> None:
    """Only a ``GeneralSection`` has a material of its own.

    Raises:
        ParameterError: two materials, or none.
    """
    if isinstance(all_sections(section)[0], GeneralSection):
        if material is not None:
            raise ParameterError(
                "material must be left out: a GeneralSection has stiffness, mass and viscosity of its own,"
                f" got {material!r}"
            )
    elif not isinstance(material, Material):
        raise ParameterError(f"material must be a Material, got {material!r}")


def all_sections(section: AnySection) -> tuple[UniformSection, ...]:
    """Those of a table, or the one."""
    return section.sections if isinstance(section, VaryingSection) else (section,)
