"""Cross-sections of line bodies: y and z are principal axes through the centroid, x is the beam axis.

Every section has ``area`` [m2], ``second_moment_y`` = int z^2 dA (bending in the xz plane),
``second_moment_z`` = int y^2 dA (bending in the xy plane), ``torsion_constant`` (Saint-Venant's,
in G J theta'^2) and ``polar_moment`` = int (y^2 + z^2) dA (in the inertia), all [m4]. Shear, for
``Beam(theory="timoshenko")``, is G A_s gamma^2 with ``shear_areas(poissons_ratio)`` [m2], on the shear centre.
"""

from dataclasses import dataclass
from math import exp, pi, sqrt

from phlexible.algebra.arrays import finite, numbers, positive
from phlexible.errors import ParameterError

Place = tuple[float, float]
CENTROID: Place = (0.0, 0.0)


@dataclass(frozen=True, init=False)
class Section:
    """A section given by its numbers.

    Attributes:
        area: [m2].
        second_moment_y: int z^2 dA [m4].
        second_moment_z: int y^2 dA [m4]; left out: equal to second_moment_y.
        torsion_constant: Saint-Venant's [m4]; left out: the polar moment, right for a circle only.
        shear_area_y: A_s of shear along y, the shear coefficient times the area [m2]; only shear needs it.
        shear_area_z: of shear along z [m2]; left out: equal to shear_area_y.
        shear_center: (y, z) from the centroid [m]: where a shear force does not twist. Elsewhere than at the
            centroid it needs ``theory="timoshenko"``.
        mass_center: (y, z) from the centroid [m] of mass that is spread otherwise than stiffness; the second
            moments in the inertia are then about it.

    Raises:
        ParameterError: a number is not finite and positive, or a place is no pair of numbers.
    """

    area: float
    second_moment_y: float
    second_moment_z: float
    torsion_constant: float
    shear_area_y: float | None
    shear_area_z: float | None
    shear_center: Place
    mass_center: Place

    def __init__(
        self,
        area: float,
        second_moment_y: float,
        second_moment_z: float | None = None,
        torsion_constant: float | None = None,
        shear_area_y: float | None = None,
        shear_area_z: float | None = None,
        shear_center: Place = CENTROID,
        mass_center: Place = CENTROID,
    ) -> None:
        about_y = positive("second_moment_y", second_moment_y)
        about_z = about_y if second_moment_z is None else positive("second_moment_z", second_moment_z)
        polar = about_y + about_z
        twist = polar if torsion_constant is None else positive("torsion_constant", torsion_constant)
        object.__setattr__(self, "area", positive("area", area))
        object.__setattr__(self, "second_moment_y", about_y)
        object.__setattr__(self, "second_moment_z", about_z)
        object.__setattr__(self, "torsion_constant", twist)
        along_y = _optional("shear_area_y", shear_area_y)
        along_z = _optional("shear_area_z", shear_area_z)
        object.__setattr__(self, "shear_area_y", along_y)
        object.__setattr__(self, "shear_area_z", along_y if along_z is None else along_z)
        object.__setattr__(self, "shear_center", _place("shear_center", shear_center))
        object.__setattr__(self, "mass_center", _place("mass_center", mass_center))

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """A_s along y and along z [m2].

        Raises:
            ParameterError: the section has none.
        """
        if self.shear_area_y is None or self.shear_area_z is None:
            raise ParameterError(
                'a Section given by its numbers needs shear_area_y= [m2] for theory="timoshenko" (5/6 of the area'
                " of a rectangle, about 9/10 of a full circle)"
            )
        return self.shear_area_y, self.shear_area_z

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Across y and across z [m]."""
        return sqrt(self.second_moment_z / self.area), sqrt(self.second_moment_y / self.area)

    @property
    def polar_moment(self) -> float:
        """int (y^2 + z^2) dA [m4]."""
        return self.second_moment_y + self.second_moment_z


@dataclass(frozen=True)
class CircularSection:
    """A full circle of that diameter [m].

    Attributes:
        diameter: [m].
        shear_coefficient: A_s / A; None: 6 (1 + nu) / (7 + 6 nu), G. R. Cowper, *The shear coefficient in
            Timoshenko's beam theory*, Journal of Applied Mechanics 33, 1966.

    Raises:
        ParameterError: a number is not finite and positive.
    """

    diameter: float
    shear_coefficient: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "diameter", positive("diameter", self.diameter))
        object.__setattr__(self, "shear_coefficient", _optional("shear_coefficient", self.shear_coefficient))

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """A_s along y and along z [m2]."""
        k = 6 * (1 + poissons_ratio) / (7 + 6 * poissons_ratio)
        area = self.area * (k if self.shear_coefficient is None else self.shear_coefficient)
        return area, area

    @property
    def area(self) -> float:
        """[m2]."""
        return pi * self.diameter**2 / 4

    @property
    def second_moment_y(self) -> float:
        """int z^2 dA [m4]."""
        return pi * self.diameter**4 / 64

    @property
    def second_moment_z(self) -> float:
        """int y^2 dA [m4]."""
        return self.second_moment_y

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Across y and across z [m]."""
        return sqrt(self.second_moment_z / self.area), sqrt(self.second_moment_y / self.area)

    @property
    def polar_moment(self) -> float:
        """int (y^2 + z^2) dA [m4]."""
        return 2 * self.second_moment_y

    @property
    def torsion_constant(self) -> float:
        """Of a circle the polar moment [m4]."""
        return self.polar_moment


@dataclass(frozen=True)
class RectangularSection:
    """A full rectangle.

    Attributes:
        width: along y [m].
        height: along z [m].
        shear_coefficient: A_s / A along both sides; None: 10 (1 + nu) / (12 + 11 nu), Cowper 1966.

    Raises:
        ParameterError: a number is not finite and positive.
    """

    width: float
    height: float
    shear_coefficient: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", positive("width", self.width))
        object.__setattr__(self, "height", positive("height", self.height))
        object.__setattr__(self, "shear_coefficient", _optional("shear_coefficient", self.shear_coefficient))

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """A_s along y and along z [m2]."""
        k = 10 * (1 + poissons_ratio) / (12 + 11 * poissons_ratio)
        area = self.area * (k if self.shear_coefficient is None else self.shear_coefficient)
        return area, area

    @property
    def area(self) -> float:
        """[m2]."""
        return self.width * self.height

    @property
    def second_moment_y(self) -> float:
        """int z^2 dA [m4]: resists bending in the xz plane."""
        return self.width * self.height**3 / 12

    @property
    def second_moment_z(self) -> float:
        """int y^2 dA [m4]: resists bending in the xy plane."""
        return self.height * self.width**3 / 12

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Across y and across z [m]."""
        return sqrt(self.second_moment_z / self.area), sqrt(self.second_moment_y / self.area)

    @property
    def polar_moment(self) -> float:
        """int (y^2 + z^2) dA [m4]."""
        return self.second_moment_y + self.second_moment_z

    @property
    def torsion_constant(self) -> float:
        """Saint-Venant's constant of a rectangle a >= b [m4], to round-off.

        J = a b^3 (1/3 - 64/pi^5 b/a sum over odd n of tanh(n pi a / 2b) / n^5). The sum is split
        into sum 1/n^5 = 31/32 zeta(5) and sum (1 - tanh)/n^5, which is done after a few terms.
        """
        a, b = max(self.width, self.height), min(self.width, self.height)
        zeta_5 = 1.0369277551433699263
        rest = sum(2 / (exp(min(n * pi * a / b, 700.0)) + 1) / n**5 for n in range(1, 16, 2))
        series = 31 / 32 * zeta_5 - rest
        return a * b**3 * (1 / 3 - 64 / pi**5 * b / a * series)


CrossSection = Section | CircularSection | RectangularSection
"""A section of one material that gives its geometry."""


def thickness(section: CrossSection) -> float:
    """The least width of a section, of one given by its numbers that of a rectangle with the same [m]."""
    match section:
        case CircularSection(diameter=diameter):
            return diameter
        case RectangularSection(width=width, height=height):
            return min(width, height)
    return sqrt(12 * min(section.second_moment_y, section.second_moment_z) / section.area)


def _optional(name: str, value: float | None) -> float | None:
    return None if value is None else positive(name, value)


def _place(name: str, value: Place) -> Place:
    found = numbers(name, value, "two numbers (y, z) [m]")
    if found.shape != (2,):
        raise ParameterError(f"{name} must be two numbers (y, z) [m], got {value!r}")
    return finite(name, found[0]), finite(name, found[1])
