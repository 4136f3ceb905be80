"""Cross-sections of line bodies, where y and z are principal axes through the centroid and x is the beam axis."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from itertools import pairwise
from math import cosh, exp, inf, pi, sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Positive,
    RelaxationTime,
    called,
    check_callable,
    convert_fields,
    finite,
    positive,
    reals,
    set_fields,
)
from phlexible.elements.line_functions import gauss
from phlexible.elements.maxwell import Relaxation
from phlexible.errors import ParameterError

# Every section has ``area`` [m2], ``second_moment_y`` = int z^2 dA (bending in the xz plane),
# ``second_moment_z`` = int y^2 dA (bending in the xy plane), ``torsion_constant`` (Saint-Venant's,
# in G J theta'^2) and ``polar_moment`` = int (y^2 + z^2) dA (in the inertia), all [m4]. Shear, for
# ``Beam(theory="timoshenko")``, is G A_s gamma^2 with ``shear_areas(poissons_ratio)`` [m2], on the shear centre.

Place = tuple[float, float]
CENTROID: Place = (0.0, 0.0)


class _OneMaterial:
    """Base class of cross-sections of one material, with the properties that follow from area and second
    moments.
    """

    area: Any
    second_moment_y: Any
    second_moment_z: Any

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Radii of gyration of the cross-section of a beam [m]: sqrt(I_z / A) for the extent along local y and
        sqrt(I_y / A) for that along local z."""
        return sqrt(self.second_moment_z / self.area), sqrt(self.second_moment_y / self.area)

    @property
    def polar_moment(self) -> float:
        """Polar second moment of area of the cross-section of a beam, int (y^2 + z^2) dA [m4]."""
        return float(self.second_moment_y + self.second_moment_z)


@dataclass(frozen=True, init=False)
class Section(_OneMaterial):
    """A cross-section of a beam or rod, defined by its area and second moments.

    Attributes:
        area: [m2].
        second_moment_y: int z^2 dA [m4].
        second_moment_z: int y^2 dA [m4]; left out: equal to second_moment_y.
        torsion_constant: Saint-Venant's [m4]; left out: the polar moment, right for a circle only.
        shear_area_y: A_s of shear along y, the shear coefficient times the area [m2]; only shear needs it.
        shear_area_z: of shear along z [m2]; left out: equal to shear_area_y.
        shear_center: (y, z) from the centroid [m]: where a shear force does not twist. Elsewhere than at the
            centroid it needs ``theory="timoshenko"``.
        mass_center: (y, z) from the centroid [m] of mass with another distribution than stiffness; the second
            moments in the inertia are then about it.

    Raises:
        ParameterError: a number is not finite and positive, or a position is not a pair of numbers.

    Example:
        >>> section = ph.Section(area=4e-3, second_moment_y=3e-6, second_moment_z=2e-6, torsion_constant=1e-7)
        >>> beam = ph.Beam(2.0, section, ph.Material(70e9, 2700.0))
        >>> round(beam.mass, 6)
        21.6
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
        along_y = None if shear_area_y is None else positive("shear_area_y", shear_area_y)
        along_z = along_y if shear_area_z is None else positive("shear_area_z", shear_area_z)
        set_fields(
            self,
            area=positive("area", area),
            second_moment_y=about_y,
            second_moment_z=about_z,
            torsion_constant=twist,
            shear_area_y=along_y,
            shear_area_z=along_z,
            shear_center=yz_position("shear_center", shear_center),
            mass_center=yz_position("mass_center", mass_center),
        )

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """Return the shear areas (shear coefficient times area) of this beam cross-section for shear along local y
        and z [m2]. They are the user's ``shear_area_y`` and ``shear_area_z``; raise ``ParameterError`` if one is
        missing. Poisson's ratio is not used, but by other kinds of sections.

        Raises:
            ParameterError: the section has none.
        """
        if self.shear_area_y is None or self.shear_area_z is None:
            raise ParameterError(
                'a Section needs shear_area_y= [m2] for theory="timoshenko" (5/6 of the area'
                " of a rectangle, about 9/10 of a full circle)"
            )
        return self.shear_area_y, self.shear_area_z


@dataclass(frozen=True)
class CircularSection(_OneMaterial):
    """A full circular cross-section of a beam or rod, defined by its diameter [m].

    Attributes:
        diameter: [m].
        shear_coefficient: A_s / A; None: 6 (1 + nu) / (7 + 6 nu), G. R. Cowper, *The shear coefficient in
            Timoshenko's beam theory*, Journal of Applied Mechanics 33, 1966.

    Raises:
        ParameterError: a number is not finite and positive.

    Example:
        >>> section = ph.CircularSection(0.02)
        >>> round(section.area, 8), round(section.second_moment_z, 12)
        (0.00031416, 7.854e-09)
    """

    diameter: Positive
    shear_coefficient: Positive | None = None

    def __post_init__(self) -> None:
        convert_fields(self)

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """Return the shear areas (shear coefficient times area) for shear along local y and along local z of a
        circular cross-section of a beam [m2]; both are equal. The coefficient is the user's, else Cowper's value
        for Poisson's ratio."""
        k = 6 * (1 + poissons_ratio) / (7 + 6 * poissons_ratio)
        area = self.area * (k if self.shear_coefficient is None else self.shear_coefficient)
        return area, area

    @property
    def area(self) -> float:
        """Area of this circular cross-section of a beam [m2]."""
        return pi * self.diameter**2 / 4

    @property
    def second_moment_y(self) -> float:
        """Second moment of area about y, int z^2 dA, of this circular cross-section of a beam [m4]."""
        return pi * self.diameter**4 / 64

    @property
    def second_moment_z(self) -> float:
        """Second moment of area about z, int y^2 dA, of this circular cross-section of a beam [m4]; equal to the
        one about y."""
        return self.second_moment_y

    @property
    def torsion_constant(self) -> float:
        """Saint-Venant's torsion constant of this circular cross-section of a beam, equal to its polar second
        moment of area [m4]."""
        return self.polar_moment


@dataclass(frozen=True)
class RectangularSection(_OneMaterial):
    """A full rectangular cross-section of a beam or rod, with sides along local y and z.

    A model in the xy plane bends a beam about z, so the width is the thickness in the plane of bending.

    Attributes:
        width: along y [m].
        height: along z [m].
        shear_coefficient: A_s / A along both sides; None: 10 (1 + nu) / (12 + 11 nu), Cowper 1966.

    Raises:
        ParameterError: a number is not finite and positive.

    Example:
        >>> section = ph.RectangularSection(width=0.1, height=0.02)  # along y and z
        >>> round(section.second_moment_z / section.second_moment_y, 9)
        25.0
    """

    width: Positive
    height: Positive
    shear_coefficient: Positive | None = None

    def __post_init__(self) -> None:
        convert_fields(self)

    def shear_areas(self, poissons_ratio: float) -> tuple[float, float]:
        """Return the shear areas (shear coefficient times area) for shear along local y and along local z of a
        rectangular cross-section of a beam [m2]; both are equal. The coefficient is the user's, else Cowper's value
        for Poisson's ratio."""
        k = 10 * (1 + poissons_ratio) / (12 + 11 * poissons_ratio)
        area = self.area * (k if self.shear_coefficient is None else self.shear_coefficient)
        return area, area

    @property
    def area(self) -> float:
        """Area of this rectangular cross-section of a beam, width times height [m2]."""
        return self.width * self.height

    @property
    def second_moment_y(self) -> float:
        """Second moment of area about y, int z^2 dA, of this rectangular cross-section of a beam, for bending in
        the xz plane [m4]."""
        return self.width * self.height**3 / 12

    @property
    def second_moment_z(self) -> float:
        """Second moment of area about z, int y^2 dA, of this rectangular cross-section of a beam, for bending in
        the xy plane [m4]."""
        return self.height * self.width**3 / 12

    @property
    def torsion_constant(self) -> float:
        """Saint-Venant's torsion constant of this rectangular cross-section of a beam [m4], by a series that is
        summed to round-off.

        J = a b^3 (1/3 - 64/pi^5 b/a sum over odd n of tanh(n pi a / 2b) / n^5). The sum is split
        into sum 1/n^5 = 31/32 zeta(5) and sum (1 - tanh)/n^5, which converges after a few terms.
        """
        a, b = max(self.width, self.height), min(self.width, self.height)
        zeta_5 = 1.0369277551433699263
        rest = sum(2 / (exp(min(n * pi * a / b, 700.0)) + 1) / n**5 for n in range(1, 16, 2))
        series = 31 / 32 * zeta_5 - rest
        return a * b**3 * (1 / 3 - 64 / pi**5 * b / a * series)


CrossSection = Section | CircularSection | RectangularSection
"""A section of one material that gives its geometry."""


def thickness(section: CrossSection) -> float:
    """Return the smallest width of a beam's cross-section [m]: the diameter of a circle, the shorter side of a
    rectangle. For a section defined by area and second moments alone, return the smaller width of a rectangle with
    the same radii of gyration."""
    match section:
        case CircularSection(diameter=diameter):
            return diameter
        case RectangularSection(width=width, height=height):
            return min(width, height)
    return sqrt(12 * min(section.second_moment_y, section.second_moment_z) / section.area)


def yz_position(name: str, value: ArrayLike) -> Place:
    """Convert a position (y, z) [m] in a beam's cross-section, passed by the user, to a tuple of two finite
    floats; raise ``ParameterError`` for other values. ``name`` is that of the argument, for messages."""
    position = reals(name, value, "two numbers (y, z) [m]")
    if position.shape != (2,):
        raise ParameterError(f"{name} must be two numbers (y, z) [m], got {value!r}")
    return finite(name, position[0]), finite(name, position[1])


# A cross-section given by its 6 x 6 stiffness and mass matrices, as section analysis programs give them.

Matrix = tuple[tuple[float, ...], ...]
PRINTED = 1e-4
"""Largest error of a relation between numbers of five digits, each of which is rounded by 5e-5 of itself."""
ROUND_OFF = 1e-9


def _checked_symmetric(name: str, value: ArrayLike) -> Matrix:
    """Convert a user's 6 x 6 matrix ``value`` (stiffness or mass of a cross-section) to an exactly symmetric one,
    as a tuple of rows. Raise ``ParameterError`` for another shape, entries that are not finite, or mirrored entries
    that differ by more than a relative 1e-4. ``name`` is that of the argument, for messages."""
    matrix = reals(name, value, "a 6 x 6 array of numbers")
    if matrix.shape != (6, 6):
        raise ParameterError(f"{name} must have shape (6, 6), got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name} must be finite")
    scale = np.sqrt(np.abs(np.diag(matrix)))
    gaps = np.abs(matrix - matrix.T)
    if (gaps > PRINTED * np.maximum(np.abs(matrix), np.abs(matrix.T)) + ROUND_OFF * np.outer(scale, scale)).any():
        row, column = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        raise ParameterError(
            f"{name} must be symmetric, got {matrix[row, column]!r} at ({row}, {column}) and"
            f" {matrix[column, row]!r} at ({column}, {row})"
        )
    return tuple(tuple(row) for row in ((matrix + matrix.T) / 2).tolist())


@dataclass(frozen=True)
class GeneralSection:
    """A cross-section defined by its 6 x 6 matrices of stiffness and mass, with any couplings of stretch, shear,
    twist and bending.

    Components are along and about the local axes (x along the beam, y, z), about the point of the axis: forces
    (N, Q_y, Q_z) and moments (M_x, M_y, M_z) for the stiffness, which belong to the strains (u', v' - theta_z,
    w' + theta_y) and (theta_x', theta_y', theta_z'); linear and angular momentum per length for the mass. The
    centroid, the shear centre and the centre of mass may be anywhere.

    Attributes:
        stiffness: shape (6, 6), symmetric, positive definite [N, N m, N m2].
        mass: shape (6, 6), that of a flat cross-section: m, the two moments m y and m z, and int rho y^2, int
            rho z^2, int rho y z [kg/m, kg, kg m]. Five printed digits are enough: the section is then the flat
            one with the entries for m, the moments, and J_yy, J_zz, J_yz.
        viscosity: Kelvin-Voigt time tau [s], as of ``Material``.
        relaxation: branches of spring and dashpot in series, a generalized Maxwell law, with shares of the
            stiffness matrix for stiffnesses: ``Maxwell([(0.5, 2.0)])`` is half of it, which relaxes in 2 s.

    Raises:
        ParameterError: other shapes, numbers that are not finite, a stiffness that is not symmetric and positive
            definite, or a mass that no flat section has.

    Example:
        >>> stiffness, mass = np.diag([8e8, 3e8, 3e8, 8e5, 7e5, 7e5]), np.diag([31.0, 31.0, 31.0, 0.05, 0.02, 0.03])
        >>> section = ph.GeneralSection(stiffness, mass)
        >>> blade = ph.Beam(10.0, section, theory="timoshenko")
        >>> blade.mass
        310.0
    """

    stiffness: Annotated[ArrayLike | Matrix, _checked_symmetric]
    mass: Annotated[ArrayLike | Matrix, _checked_symmetric]
    viscosity: RelaxationTime = 0.0
    relaxation: Relaxation = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)
        if not _is_positive(self.stiffness_matrix):
            raise ParameterError("stiffness must be positive definite: some strain of the section has no energy")
        self._check_mass()
        set_fields(self, mass=tuple(tuple(row) for row in flat_mass(self.moments).tolist()))

    @property
    def stiffness_matrix(self) -> Array:
        """Return a copy of the stiffness matrix that the user gave for this cross-section, shape (6, 6): rows
        N, Q_y, Q_z [N], M_x, M_y, M_z [N m]; columns stretch, shears along y and z, twist, curvatures about y
        and z."""
        return np.array(self.stiffness)

    @property
    def mass_matrix(self) -> Array:
        """Mass matrix per length of this beam cross-section as an array (6, 6) [kg/m, kg, kg m]: linear and angular
        momentum per length, for velocity and angular velocity along and about local x, y, z."""
        return np.array(self.mass)

    @property
    def moments(self) -> Array:
        """Mass moments of this beam cross-section, shape (3, 3) [kg/m, kg, kg m]. They are the integrals of
        density times (1, y, z) (1, y, z)^T over its area, copied with their signs from entries of its mass
        matrix."""
        m = self.mass_matrix
        return np.array(
            [[m[0, 0], m[0, 5] * -1, m[0, 4]], [-m[0, 5], m[5, 5], -m[4, 5]], [m[0, 4], -m[4, 5], m[4, 4]]]
        )

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Elastic radii of gyration of this beam cross-section, sqrt(bending stiffness / axial stiffness): for the
        extent along local y (bending about z), then along local z [m]."""
        stiffness = self.stiffness_matrix
        return sqrt(stiffness[5, 5] / stiffness[0, 0]), sqrt(stiffness[4, 4] / stiffness[0, 0])

    @property
    def thickness(self) -> float:
        """Equivalent thickness of this beam cross-section [m]: sqrt(12 times smaller bending stiffness / axial
        stiffness), the width of a homogeneous rectangle with this ratio."""
        stiffness = self.stiffness_matrix
        return sqrt(12 * min(stiffness[4, 4], stiffness[5, 5]) / stiffness[0, 0])

    def _check_mass(self) -> None:
        """Raise ``ParameterError`` unless the mass matrix of this beam cross-section is that of a flat section and
        positive definite. A flat section has J_xx = J_yy + J_zz, equal masses, and coupling by the centre of mass
        only. Entries may differ by 1e-4, relative to the root of the product of their diagonal entries."""
        mass, moments = self.mass_matrix, self.moments
        expected = flat_mass(moments)
        scale = np.sqrt(np.maximum(np.diag(expected), np.finfo(float).tiny))
        errors = np.abs(mass - expected) / np.outer(scale, scale)
        if errors.max() > PRINTED:
            row, column = np.unravel_index(int(np.argmax(errors)), errors.shape)
            raise ParameterError(
                "mass must be that of a flat section: [[m 1, -m [c]], [m [c], J]] with J_xx = J_yy + J_zz; entry"
                f" ({row}, {column}) is {mass[row, column]:g} where the others require {expected[row, column]:g}"
            )
        if not _is_positive(moments):
            raise ParameterError("mass must be positive definite: some motion of the section has no kinetic energy")


def flat_mass(moments: Array) -> Array:
    """Return the mass matrix per length (6, 6) of a flat cross-section of a beam, for velocities and angular
    velocities about x, y, z. It is made of the mass ``moments`` (3, 3), the integrals of density times (1, y, z)
    (1, y, z)^T over the area."""
    m, my, mz = moments[0]
    yy, yz, zz = moments[1, 1], moments[1, 2], moments[2, 2]
    result = np.diag([m, m, m, yy + zz, zz, yy])
    result[0, 4], result[0, 5], result[1, 3], result[2, 3], result[4, 5] = mz, -my, -mz, my, -yz
    return np.asarray(result + np.triu(result, 1).T)


def _is_positive(matrix: Array) -> bool:
    """Return whether a symmetric matrix is positive definite, with some margin for round-off: the smallest
    eigenvalue, after scaling to a unit diagonal, is above 1e-12."""
    diagonal = np.diag(matrix)
    if not (diagonal > 0).all():
        return False
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > 1e-12)


# Cross-sections that change along a beam: a table, or a function sampled once.

UniformSection = CrossSection | GeneralSection
SAMPLES = 4  # number of samples of a function in each element
INSIDE = 1e-9  # relative distance from the end of a piece: a sharp tip has no section at its end


@dataclass(frozen=True)
class VaryingSection:
    """A cross-section that varies along a beam: sections of one class at positions x, between which their numbers
    are polynomials of x.

    A table is linear between neighbours, so that two circles are a cone; two sections at one position are a step.

    Attributes:
        stations: positions of the sections, ascending, shape (k,) [m].
        sections: one at each position, all of the same class.
        breaks: ends of the polynomials, with the same number of positions between each two; None: the positions.
            The table of a function that a beam has sampled has them.

    Raises:
        ParameterError: positions that do not ascend, sections of different classes, or another number of them.

    Example:
        >>> thick, thin = ph.CircularSection(0.04), ph.CircularSection(0.02)
        >>> cone = ph.Beam(1.0, ph.VaryingSection([0.0, 1.0], [thick, thin]), ph.Material(210e9, 7850.0))
        >>> cone.mass < ph.Beam(1.0, thick, ph.Material(210e9, 7850.0)).mass
        True
    """

    stations: ArrayLike | tuple[float, ...]
    sections: tuple[UniformSection, ...]
    breaks: ArrayLike | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        positions = _checked_ascending("stations", self.stations)
        given = self.sections
        if not isinstance(given, list | tuple) or not all(isinstance(each, UniformSection) for each in given):
            raise ParameterError(f"sections must be a list of sections, one for each place, got {given!r}")
        if len({type(each) for each in given}) != 1 or len(given) != len(positions):
            kinds = sorted({type(each).__name__ for each in given})
            raise ParameterError(
                f"sections must be of one class, one for each of the {len(positions)} stations, got {len(given)}"
                f" of {', '.join(kinds)}; use a Section where kinds change"
            )
        set_fields(self, stations=tuple(positions.tolist()), sections=tuple(given))
        if self.breaks is not None:
            breaks = _checked_ascending("breaks", self.breaks)
            set_fields(self, breaks=tuple(breaks.tolist()))
            pieces = len(breaks) - 1
            between = positions.reshape(pieces, -1) if len(positions) % pieces == 0 else np.full((pieces, 1), inf)
            if (between < breaks[:-1, None]).any() or (between > breaks[1:, None]).any():
                raise ParameterError(
                    f"breaks must have the same number of the {len(positions)} stations between each two, got"
                    f" {self.breaks!r}"
                )

    @property
    def start(self) -> float:
        """Position x along the beam at which this table of cross-sections begins [m]."""
        return float(self._piece_ends[0])

    @property
    def end(self) -> float:
        """Position x along the beam at which this table of cross-sections ends [m]."""
        return float(self._piece_ends[-1])

    @property
    def thickness(self) -> float:
        """Largest of the smallest widths of the cross-sections listed in this table [m]: the thickness of the beam
        where it is thickest."""
        return max(least_width(each) for each in self.sections)

    def at(self, x: Array) -> list[UniformSection]:
        """Return the cross-sections of the beam at the positions x (k,) along it [m] as a list, interpolated in
        this table of sections. Where the section jumps, return the section on the right. Outside of the table,
        return the section at its nearest end."""
        breaks = self._piece_ends
        piece = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)
        last = int(np.flatnonzero(np.diff(breaks) > 0)[-1])  # piece whose length is not zero
        piece = np.where(x >= breaks[-1], last, piece)
        return [self._interpolated_section(int(k), float(each)) for k, each in zip(piece, x, strict=True)]

    def part(self, start: float, end: float) -> "VaryingSection":
        """Return the varying cross-section of a part of the beam, from ``start`` to ``end`` along it [m]. It is
        sampled from this one by Lagrange interpolation in each interval between breaks that overlaps the part.
        Samples are at the ends of the overlap or, with breaks, at Gauss points. In the result, x is counted from
        ``start``."""
        breaks, positions, sections, cuts = self._piece_ends, [], [], [0.0]
        shares = np.array([0.0, 1.0]) if self.breaks is None else gauss(self._samples_per_piece)[0]
        for k, (left, right) in enumerate(pairwise(breaks)):
            begin, stop = max(left, start), min(right, end)
            if stop - begin <= INSIDE * (end - start):
                continue
            for share in shares:
                x = begin + share * (stop - begin)
                positions.append(x - start)
                sections.append(self._interpolated_section(k, x))
            cuts.append(stop - start)
        return VaryingSection(tuple(positions), tuple(sections), None if self.breaks is None else tuple(cuts))

    @property
    def _piece_ends(self) -> Array:
        """Positions x along the beam that divide it into pieces, ascending [m]: the break positions, or the
        stations if there are no breaks. In each piece, the dimensions of the cross-section are one polynomial
        of x."""
        return np.array(self.stations if self.breaks is None else self.breaks)

    @property
    def _samples_per_piece(self) -> int:
        """Number of tabulated cross-sections in each piece of the beam, through which the interpolating polynomial
        of that piece passes: 2 for a linear table without breaks."""
        return 2 if self.breaks is None else len(self.sections) // (len(self._piece_ends) - 1)

    def _interpolated_section(self, piece: int, x: float) -> UniformSection:
        """Return the cross-section at position x [m] along the beam, by Lagrange interpolation of the tabulated
        sections of one piece. ``piece`` is the index of the interval between two break positions; x is first
        clipped to just inside that interval."""
        first = piece if self.breaks is None else piece * self._samples_per_piece
        own = slice(first, first + self._samples_per_piece)
        positions, (left, right) = np.array(self.stations)[own], self._piece_ends[piece : piece + 2]
        inside = min(max(x, left + INSIDE * (right - left)), right - INSIDE * (right - left))
        shares = [
            float(np.prod([(inside - b) / (a - b) for j, b in enumerate(positions) if j != i]))
            for i, a in enumerate(positions)
        ]
        return _weighted_section(self.sections[own], shares)


def sampled_section(section: Callable[[float], UniformSection], length: float, elements: int) -> VaryingSection:
    """Return a table (``VaryingSection``) of the cross-sections of a beam of the given length [m]. The user's
    function ``section`` is called with one position x [m] at a time, four Gauss points in each of ``elements``
    equal elements, and has to return a section. Otherwise raise ``ParameterError``.

    Raises:
        ParameterError: no function of one number, or one that returns no section.
        FunctionError: it raised.
    """
    points, _ = gauss(SAMPLES)
    breaks = np.linspace(0.0, length, elements + 1)
    positions = (breaks[:-1, None] + points * np.diff(breaks)[:, None]).ravel()
    found = []
    check_callable("section", section, "x")
    for x in positions.tolist():
        each = called(section, "section", x, at=f"at x = {x:g} m")
        if not isinstance(each, UniformSection):
            raise ParameterError(f"section must be a function of x [m] that returns a section, got {each!r}")
        found.append(each)
    return VaryingSection(tuple(positions.tolist()), tuple(found), tuple(breaks.tolist()))


AnySection = UniformSection | VaryingSection


def sections_at(section: AnySection, x: Array) -> list[UniformSection]:
    """Return the cross-section of a beam at each of the positions x (k,) along it [m], as a list. A uniform section
    is repeated; a varying section is interpolated."""
    return section.at(x) if isinstance(section, VaryingSection) else [section] * len(x)


def least_width(section: AnySection) -> float:
    """Return the smallest width of a beam's cross-section [m]; for a section that varies along the beam, that of
    its thickest section."""
    if isinstance(section, Section | CircularSection | RectangularSection):
        return thickness(section)
    return section.thickness


def _weighted_section(sections: tuple[UniformSection, ...], weights: list[float]) -> UniformSection:
    """Return a cross-section of the same class as all ``sections``, whose properties (diameter, area, ...) are
    sums of theirs with the ``weights``. If all sections are equal, return the first one. Raise ``ParameterError``
    if only some have an optional property."""
    kind: Any = type(sections[0])
    if all(each == sections[0] for each in sections):
        return sections[0]
    return kind(**{f.name: _blended([getattr(s, f.name) for s in sections], weights) for f in fields(kind)})  # type: ignore[no-any-return]


def _blended(values: list[Any], weights: list[float]) -> Any:
    """Return the weighted sum of one property of a cross-section (diameter, area, stiffness matrix, ...) over
    several sections. ``values`` has the property of each section, a number or array; ``weights`` has one weight
    for each. The result is a float or an array. It is None if the property is None in all sections; raise
    ``ParameterError`` if it is None in only some of them."""
    if any(value is None for value in values):
        if all(value is None for value in values):
            return None
        raise ParameterError("a number that one section of a table gives must be given by all of them")
    total = np.tensordot(np.array(weights), np.array(values, dtype=np.float64), axes=1)
    return total if total.ndim else float(total)


def _checked_ascending(name: str, value: ArrayLike) -> Array:
    """Convert a user's list of positions to an array (k,) of at least two finite numbers in ascending order [m];
    neighbours may be equal, but not first and last. Raise ``ParameterError`` for other values. ``name`` is that of
    the argument, for messages."""
    found = reals(name, value, "ascending numbers [m]")
    is_row = found.ndim == 1 and len(found) >= 2 and np.isfinite(found).all()
    if not is_row or (np.diff(found, prepend=-inf) < 0).any() or not found[-1] > found[0]:
        raise ParameterError(f"{name} must be at least two ascending numbers [m], got {value!r}")
    return found


# Stress over a cross-section from its section forces.
#
# Normal stress is sigma = N/A + M_y z/I_y - M_z y/I_z. Shear stress is that of Jourawski, 4/3 of the mean in a
# circle and 3/2 in a rectangle at their neutral axes, and of Saint-Venant's torsion.

FAR = 700.0  # cosh of more overflows


def fibre_stress(
    section: UniformSection, normal: Array, moment_y: Array, moment_z: Array, y: Array, z: Array
) -> Array:
    """Return the normal stress N/A + M_y z/I_y - M_z y/I_z at f fibres of a beam's cross-section [Pa], shape
    (..., f). Fibres have the positions y and z, each (f,) [m]. Normal force N [N] and bending moments M_y, M_z
    [N m] are arrays of any common shape (...). Raise ``ParameterError`` for a ``GeneralSection``, whose stress
    is unknown."""
    known = _geometric_section(section)
    return np.asarray(
        normal[..., None] / known.area
        + moment_y[..., None] * z / known.second_moment_y
        - moment_z[..., None] * y / known.second_moment_z
    )


def stress_range(section: UniformSection, normal: Array, moment_y: Array, moment_z: Array) -> tuple[Array, Array]:
    """Return the greatest and the smallest normal stress over a beam's circular or rectangular cross-section [Pa].
    Arguments are arrays of the normal force [N] and of the bending moments about y and z [N m]; both results have
    their shape. Raise ``ParameterError`` for a section without outline.

    Raises:
        ParameterError: a section that is given by numbers and has no outline.
    """
    match section:
        case CircularSection(diameter=diameter):
            bending = np.hypot(moment_y, moment_z) * diameter / 2 / section.second_moment_y
        case RectangularSection(width=width, height=height):
            bending = (
                np.abs(moment_y) * height / 2 / section.second_moment_y
                + np.abs(moment_z) * width / 2 / section.second_moment_z
            )
        case _:
            raise ParameterError(
                f"a {type(_geometric_section(section)).__name__} given by its numbers has no outline; say where to"
                " look, in its axes: fibres=((y1, z1), (y2, z2), ...) [m]"
            )
    mean = normal / section.area
    return mean + bending, mean - bending


def greatest_shear(section: UniformSection, shear_y: Array, shear_z: Array, torsion: Array) -> Array:
    """Return an upper bound of the shear stress in a beam's cross-section [Pa]: the maximum from shear forces plus
    the maximum from torsion. For a circle it is exact. The result is NaN unless the section is a circle or
    rectangle. Arguments are arrays of shear forces along y and z [N] and of torsional moments [N m]; the result
    has their shape.

    Exact for a circle, an upper bound for a rectangle; not a number where a section has no outline.
    """
    match section:
        case CircularSection(diameter=diameter):
            of_force, arm = 4 / 3, diameter / 2
        case RectangularSection(width=width, height=height):
            long, short = max(width, height), min(width, height)
            terms = (1 / n**2 / cosh(min(n * pi * long / (2 * short), FAR)) for n in range(1, 16, 2))
            of_force, arm = 3 / 2, short * (1 - 8 / pi**2 * sum(terms))
        case _:
            return np.full_like(torsion, np.nan)
    return np.asarray(
        of_force * np.hypot(shear_y, shear_z) / section.area + np.abs(torsion) * arm / section.torsion_constant
    )


def _geometric_section(section: UniformSection) -> CrossSection:
    """Return a beam's cross-section unchanged if it is of one material, with known area and second moments.
    Raise ``ParameterError`` for a ``GeneralSection``, which has a stiffness matrix only, so that its stress is
    unknown."""
    if isinstance(section, GeneralSection):
        raise ParameterError(
            "a GeneralSection is known by its stiffness alone and has no stress; take motion.section_forces"
        )
    return section


def fibre_positions(fibres: ArrayLike) -> tuple[Array, Array]:
    """Convert fibres of a beam's cross-section, passed by the user as pairs ((y, z), ...), to two arrays: y and z,
    each of shape (f,) [m]. Raise ``ParameterError`` for other values.

    Raises:
        ParameterError: no pairs of finite numbers.
    """
    positions = reals("fibres", fibres, "pairs (y, z) [m]")
    if positions.ndim != 2 or positions.shape[1] != 2 or not len(positions) or not np.isfinite(positions).all():
        raise ParameterError(f"fibres must be pairs (y, z) [m] of shape (f, 2), got {fibres!r}")
    return positions[:, 0], positions[:, 1]
