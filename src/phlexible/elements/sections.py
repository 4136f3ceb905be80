"""Cross-sections of line bodies: y and z are principal axes through the centroid, x is the beam axis.

Every section has ``area`` [m2], ``second_moment_y`` = int z^2 dA (bending in the xz plane),
``second_moment_z`` = int y^2 dA (bending in the xy plane), ``torsion_constant`` (Saint-Venant's,
in G J theta'^2) and ``polar_moment`` = int (y^2 + z^2) dA (in the inertia), all [m4].
"""

from dataclasses import dataclass
from math import exp, pi, sqrt

from phlexible.algebra.arrays import positive


@dataclass(frozen=True, init=False)
class Section:
    """A section given by its numbers.

    Attributes:
        area: [m2].
        second_moment_y: int z^2 dA [m4].
        second_moment_z: int y^2 dA [m4]; left out: equal to second_moment_y.
        torsion_constant: Saint-Venant's [m4]; left out: the polar moment, right for a circle only.

    Raises:
        ParameterError: a number is not finite and positive.
    """

    area: float
    second_moment_y: float
    second_moment_z: float
    torsion_constant: float

    def __init__(
        self,
        area: float,
        second_moment_y: float,
        second_moment_z: float | None = None,
        torsion_constant: float | None = None,
    ) -> None:
        about_y = positive("second_moment_y", second_moment_y)
        about_z = about_y if second_moment_z is None else positive("second_moment_z", second_moment_z)
        polar = about_y + about_z
        twist = polar if torsion_constant is None else positive("torsion_constant", torsion_constant)
        object.__setattr__(self, "area", positive("area", area))
        object.__setattr__(self, "second_moment_y", about_y)
        object.__setattr__(self, "second_moment_z", about_z)
        object.__setattr__(self, "torsion_constant", twist)

    @property
    def polar_moment(self) -> float:
        """int (y^2 + z^2) dA [m4]."""
        return self.second_moment_y + self.second_moment_z


@dataclass(frozen=True)
class CircularSection:
    """A full circle of that diameter [m].

    Raises:
        ParameterError: the diameter is not finite and positive.
    """

    diameter: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "diameter", positive("diameter", self.diameter))

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
    def polar_moment(self) -> float:
        """int (y^2 + z^2) dA [m4]."""
        return 2 * self.second_moment_y

    @property
    def torsion_constant(self) -> float:
        """Of a circle the polar moment [m4]."""
        return self.polar_moment


@dataclass(frozen=True)
class RectangularSection:
    """A full rectangle: width along y [m], height along z [m].

    Raises:
        ParameterError: a side is not finite and positive.
    """

    width: float
    height: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", positive("width", self.width))
        object.__setattr__(self, "height", positive("height", self.height))

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


def thickness(section: CrossSection) -> float:
    """The least width of a section, of one given by its numbers that of a rectangle with the same [m]."""
    match section:
        case CircularSection(diameter=diameter):
            return diameter
        case RectangularSection(width=width, height=height):
            return min(width, height)
    return sqrt(12 * min(section.second_moment_y, section.second_moment_z) / section.area)
