"""Cross-sections that change along a beam: a table, or a function sampled once."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.user_functions import called, check_callable
from phlexible.elements.general_section import GeneralSection
from phlexible.elements.quadrature import gauss
from phlexible.elements.sections import CircularSection, CrossSection, RectangularSection, Section, thickness
from phlexible.errors import ParameterError

UniformSection = CrossSection | GeneralSection
SAMPLES = 4  # of a function, in each element
INSIDE = 1e-9  # of a piece: a sharp tip has no section at its very end


@dataclass(frozen=True)
class VaryingSection:
    """Sections of one class at places along the beam; between them their numbers are polynomials of x.

    A table: linear between neighbours, so that two circles are a cone; two sections at one place are a step.

    Attributes:
        places: where the sections are, ascending, shape (k,) [m].
        sections: one at each place, all of the same class.
        breaks: None: at the places. Else where one polynomial ends and the next begins, with as many places
            between each two; the table of a function that a beam has sampled has them.

    Raises:
        ParameterError: places that do not ascend, sections of different classes, or not as many as places.
    """

    places: ArrayLike | tuple[float, ...]
    sections: tuple[UniformSection, ...]
    breaks: ArrayLike | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        places = _ascending("places", self.places)
        object.__setattr__(self, "places", tuple(places.tolist()))
        given = self.sections
        if not isinstance(given, list | tuple) or not all(isinstance(each, UniformSection) for each in given):
            raise ParameterError(f"sections must be a list of sections, one for each place, got {given!r}")
        if len({type(each) for each in given}) != 1 or len(given) != len(places):
            kinds = sorted({type(each).__name__ for each in given})
            raise ParameterError(
                f"sections must be of one class, one for each of the {len(places)} places, got {len(given)} of"
                f" {', '.join(kinds)}; give a Section by its numbers where kinds change"
            )
        object.__setattr__(self, "sections", tuple(given))
        if self.breaks is not None:
            breaks = _ascending("breaks", self.breaks)
            object.__setattr__(self, "breaks", tuple(breaks.tolist()))
            pieces = len(breaks) - 1
            between = places.reshape(pieces, -1) if len(places) % pieces == 0 else np.full((pieces, 1), inf)
            if (between < breaks[:-1, None]).any() or (between > breaks[1:, None]).any():
                raise ParameterError(
                    f"breaks must have the same number of the {len(places)} places between each two, got"
                    f" {self.breaks!r}"
                )

    @property
    def start(self) -> float:
        """Where the table begins [m]."""
        return float(self._breaks[0])

    @property
    def end(self) -> float:
        """Where the table ends [m]."""
        return float(self._breaks[-1])

    @property
    def thickness(self) -> float:
        """The greatest least width [m]."""
        return max(least_width(each) for each in self.sections)

    def at(self, x: Array) -> list[UniformSection]:
        """The sections at places x (k,); at a step that to its right."""
        breaks = self._breaks
        piece = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)
        piece = np.where(x >= breaks[-1], self._last, piece)
        return [self._within(int(k), float(each)) for k, each in zip(piece, x, strict=True)]

    def part(self, start: float, end: float) -> "VaryingSection":
        """The sections of start <= x <= end, with x counted from start."""
        breaks, places, sections, cuts = self._breaks, [], [], [0.0]
        shares = np.array([0.0, 1.0]) if self.breaks is None else gauss(self._order)[0]
        for k, (left, right) in enumerate(pairwise(breaks)):
            begin, stop = max(left, start), min(right, end)
            if stop - begin <= INSIDE * (end - start):
                continue
            for share in shares:
                x = begin + share * (stop - begin)
                places.append(x - start)
                sections.append(self._within(k, x))
            cuts.append(stop - start)
        return VaryingSection(tuple(places), tuple(sections), None if self.breaks is None else tuple(cuts))

    @property
    def _breaks(self) -> Array:
        return np.array(self.places if self.breaks is None else self.breaks)

    @property
    def _last(self) -> int:
        """The last piece that has a length."""
        return int(np.flatnonzero(np.diff(self._breaks) > 0)[-1])

    @property
    def _order(self) -> int:
        """How many places a polynomial goes through."""
        return 2 if self.breaks is None else len(self.sections) // (len(self._breaks) - 1)

    def _within(self, piece: int, x: float) -> UniformSection:
        first = piece if self.breaks is None else piece * self._order
        own = slice(first, first + self._order)
        places, (left, right) = np.array(self.places)[own], self._breaks[piece : piece + 2]
        inside = min(max(x, left + INSIDE * (right - left)), right - INSIDE * (right - left))
        shares = [
            float(np.prod([(inside - b) / (a - b) for j, b in enumerate(places) if j != i]))
            for i, a in enumerate(places)
        ]
        return _mixed(self.sections[own], shares)


def sampled(section: Callable[[float], UniformSection], length: float, elements: int) -> VaryingSection:
    """A function of x [m] as the table of its values at four Gauss points of each element.

    Raises:
        ParameterError: no function of one number, or one that returns no section.
        FunctionError: it raised.
    """
    points, _ = gauss(SAMPLES)
    breaks = np.linspace(0.0, length, elements + 1)
    places = (breaks[:-1, None] + points * np.diff(breaks)[:, None]).ravel()
    found = []
    check_callable("section", section, "x")
    for x in places.tolist():
        each = called(section, "section", x, at=f"at x = {x:g} m")
        if not isinstance(each, UniformSection):
            raise ParameterError(f"section must be a function of x [m] that returns a section, got {each!r}")
        found.append(each)
    return VaryingSection(tuple(places.tolist()), tuple(found), tuple(breaks.tolist()))


AnySection = UniformSection | VaryingSection


def sections_at(section: AnySection, x: Array) -> list[UniformSection]:
    """The sections at places x (k,)."""
    return section.at(x) if isinstance(section, VaryingSection) else [section] * len(x)


def least_width(section: AnySection) -> float:
    """The least width of a section [m]; of one that varies the greatest."""
    if isinstance(section, Section | CircularSection | RectangularSection):
        return thickness(section)
    return section.thickness


def _mixed(sections: tuple[UniformSection, ...], shares: list[float]) -> UniformSection:
    """The section whose numbers are a weighted sum of those of others."""
    kind: Any = type(sections[0])
    if all(each == sections[0] for each in sections):
        return sections[0]
    return kind(**{each.name: _sum([getattr(s, each.name) for s in sections], shares) for each in fields(kind)})  # type: ignore[no-any-return]


def _sum(values: list[Any], shares: list[float]) -> Any:
    if any(value is None for value in values):
        if all(value is None for value in values):
            return None
        raise ParameterError("a number that one section of a table gives must be given by all of them")
    total = np.tensordot(np.array(shares), np.array(values, dtype=np.float64), axes=1)
    return total if total.ndim else float(total)


def _ascending(name: str, value: ArrayLike) -> Array:
    found = numbers(name, value, "ascending numbers [m]")
    is_row = found.ndim == 1 and len(found) >= 2 and np.isfinite(found).all()
    if not is_row or (np.diff(found, prepend=-inf) < 0).any() or not found[-1] > found[0]:
        raise ParameterError(f"{name} must be at least two ascending numbers [m], got {value!r}")
    return found
