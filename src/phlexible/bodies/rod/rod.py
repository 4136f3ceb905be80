"""A geometrically exact rod: rigid sections with elastic elements between them (docs/theory.md, 8)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.algebra.options import option, whole
from phlexible.bodies.beam.constitution import stiffness_at
from phlexible.bodies.beam.mesh import Theory
from phlexible.bodies.given_section import all_sections, check_material, section_along
from phlexible.bodies.material import Material
from phlexible.bodies.rod.node import RodNode
from phlexible.elements.general_section import GeneralSection
from phlexible.elements.lagrange import lagrange_slopes, lagrange_values, quadratic_slopes, quadratic_values
from phlexible.elements.quadrature import gauss
from phlexible.elements.sections import Section
from phlexible.elements.varying_section import AnySection, UniformSection, VaryingSection, sections_at
from phlexible.errors import ParameterError
from phlexible.shapes.colors import optional_color

ROUND_OFF = 1e-9
END_WEIGHTS = np.array([-1 / 8, 1 / 6, -1 / 24])
"""What Gregory's rule adds to the trapezoidal one at each end, so that it is right for cubic polynomials."""


class StressFree(StrEnum):
    """The shape in which a rod stores no energy."""

    SHAPE = "shape"
    STRAIGHT = "straight"


@dataclass(frozen=True)
class ElementShape:
    """An element of a rod: its nodes and what strains are at its quadrature points.

    Attributes:
        nodes: numbers of its two or three nodes.
        places: of the quadrature points along the rod, shape (g,) [m].
        measures: lengths that they stand for, shape (g,) [m].
        values: shape functions there, shape (g, nodes).
        slopes: their derivatives along the rod, shape (g, nodes) [1/m].
    """

    nodes: tuple[int, ...]
    places: Array
    measures: Array
    values: Array
    slopes: Array


@dataclass(frozen=True)
class Rod:
    """A slender body that stretches, shears, bends and twists as far as it likes (Simo and Reissner).

    ``model.add(rod, "rod", shape=curve)`` places it straight along x or along a curve. Strains are exact for any
    displacement and rotation; neighbouring sections should turn by less than 0.5 rad against each other.

    Attributes:
        length: along the stress-free axis [m].
        section: as of ``Beam``: axes along local y and z. A ``Section`` without shear areas shears with its whole
            area: a slender rod then bends as if it did not shear at all.
        material: elasticity, density, viscosity; of a ``GeneralSection``, which has its own, None.
        elements: equal finite elements, at least 1.
        order: 1: two nodes an element; 2: three nodes, for smooth motions the more accurate choice.
        stress_free: ``"shape"``: the rod stores no energy in the shape in which it is placed; ``"straight"``: it
            would be straight, and is bent when it is placed along a curve.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a parameter is outside its range or no option, or parameters that contradict each other.
    """

    length: float
    section: AnySection | Callable[[float], UniformSection]
    material: Material | None = None
    elements: int = 16
    order: int = 1
    stress_free: StressFree | Literal["shape", "straight"] = StressFree.SHAPE
    color: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, value in (
            ("length", positive("length", self.length)),
            ("elements", whole("elements", self.elements)),
            ("order", whole("order", self.order)),
            ("stress_free", option("stress_free", self.stress_free, StressFree)),
            ("color", optional_color(self.color)),
        ):
            object.__setattr__(self, name, value)
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (two nodes an element) or 2 (three nodes), got {self.order!r}")
        object.__setattr__(self, "section", section_along(self.section, self.length, self.elements))
        check_material(self._section, self.material)

    @property
    def viscosity(self) -> float:
        """Kelvin-Voigt time tau of the material or of the sections [s]."""
        if self.material is not None:
            return self.material.viscosity
        return max(each.viscosity for each in all_sections(self._section) if isinstance(each, GeneralSection))

    @property
    def node_places(self) -> Array:
        """Where the nodes are along the rod, shape (N,) [m]."""
        return np.linspace(0.0, self.length, self.elements * self.order + 1)

    def nodes(self) -> tuple[RodNode, ...]:
        """The rigid sections, from start to end."""
        places, weights = self.node_places, self._node_weights
        half = 0.5 * np.diff(places)
        before, after = np.concatenate([[0.0], half]), np.concatenate([half, [0.0]])
        found = zip(self.sections_at(places), weights, before, after, strict=True)
        return tuple(
            RodNode(section, self.material, float(w), float(b), float(a), color=self.color)
            for section, w, b, a in found
        )

    def element_shapes(self) -> tuple[ElementShape, ...]:
        """The elements, from start to end."""
        size, order = self.length / self.elements, self.order
        points, weights = gauss(order)
        if order == 1:
            values, slopes = lagrange_values(points), lagrange_slopes(points, size)
        else:
            values, slopes = quadratic_values(points), quadratic_slopes(points, size)
        return tuple(
            ElementShape(
                tuple(range(order * e, order * (e + 1) + 1)),
                size * (e + points),
                size * weights,
                values,
                slopes,
            )
            for e in range(self.elements)
        )

    def sections_at(self, x: Array) -> list[UniformSection]:
        """The cross-sections at x (k,) [m]."""
        return sections_at(self._section, x)

    def stiffness_at(self, x: Array) -> Array:
        """Section forces (N, Q_y, Q_z, M_x, M_y, M_z) per strain at x (k,) [m], shape (k, 6, 6)."""
        return stiffness_at(_sheared(self._section), self.material, Theory.TIMOSHENKO, x)

    @property
    def _section(self) -> AnySection:
        assert isinstance(self.section, AnySection)
        return self.section

    @property
    def _node_weights(self) -> Array:
        """Lengths whose mass the nodes carry, shape (N,) [m].

        Half masses at free ends would make the moment of inertia of a rod too large by 2 / elements^2.
        """
        if self.order == 2:
            share = self.length / self.elements / 6
            return share * np.concatenate([[1.0], np.tile([4.0, 2.0], self.elements)[:-1], [1.0]])
        weights = np.ones(self.elements + 1)
        weights[[0, -1]] = 0.5
        if self.elements > 1:
            weights[:3] += END_WEIGHTS
            weights[-3:] += END_WEIGHTS[::-1]
        return weights * self.length / self.elements


def _sheared(section: AnySection) -> AnySection:
    """With the whole area to shear where a section does not say."""
    if isinstance(section, VaryingSection):
        sheared = tuple(_with_shear_areas(each) for each in section.sections)
        return VaryingSection(section.places, sheared, section.breaks)
    return _with_shear_areas(section)


def _with_shear_areas(section: UniformSection) -> UniformSection:
    if not isinstance(section, Section) or section.shear_area_y is not None:
        return section
    return Section(
        section.area,
        section.second_moment_y,
        section.second_moment_z,
        section.torsion_constant,
        section.area,
        section.shear_area_z,
        section.shear_center,
        section.mass_center,
    )
