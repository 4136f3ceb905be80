"""Isotropic linear elastic material with Kelvin-Voigt viscosity."""

from dataclasses import dataclass
from warnings import warn

from phlexible.algebra.arrays import finite, non_negative, positive
from phlexible.display.written import short_repr
from phlexible.errors import ParameterError, UnitWarning

SOFTEST, LIGHTEST = 1e4, 100.0
"""What no solid is softer [Pa] and few are lighter than [kg/m3]; in units of mm, t and s densities are tiny."""


@dataclass(frozen=True)
class Material:
    """What a body is made of.

    Attributes:
        youngs_modulus: E [Pa].
        density: rho [kg/m3].
        poissons_ratio: in (-1, 0.5] [-].
        viscosity: Kelvin-Voigt time tau [s]: stress is D (eps + tau deps/dt).

    Raises:
        ParameterError: a number is not finite or outside its range.
    """

    youngs_modulus: float
    density: float
    poissons_ratio: float = 0.3
    viscosity: float = 0.0

    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "youngs_modulus", positive("youngs_modulus", self.youngs_modulus))
        object.__setattr__(self, "density", positive("density", self.density))
        object.__setattr__(self, "poissons_ratio", finite("poissons_ratio", self.poissons_ratio))
        object.__setattr__(self, "viscosity", non_negative("viscosity", self.viscosity))
        if not -1 < self.poissons_ratio <= 0.5:
            raise ParameterError(f"poissons_ratio must lie in (-1, 0.5], got {self.poissons_ratio!r}")
        if self.youngs_modulus < SOFTEST and self.density > LIGHTEST:
            warn(
                f"youngs_modulus = {self.youngs_modulus:g} Pa at {self.density:g} kg/m3 is softer than any jelly;"
                " is it in MPa or GPa? steel has 210e9 Pa",
                UnitWarning,
                stacklevel=4,
            )

    @property
    def shear_modulus(self) -> float:
        """G = E / (2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2 * (1 + self.poissons_ratio))
