"""Finite elements along a beam: which coordinates there are and the fields they interpolate.

Axial displacement is linear on each element (Lagrange), deflections cubic (Hermite). Each node has u, v,
theta_z in the plane and u, v, theta_z, w, -theta_y, theta_x in space, node after node, where theta is the
turn of the cross-section. Without shear theta_z = v' and -theta_y = w', and theta_x is linear. With shear each
element has inner coordinates too: the shear strains v' - theta_z and w' + theta_y at both of its ends, linear
between and free to jump from element to element, and a quadratic part of theta_x (docs/theory.md, 3).
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.elements.hermite import hermite_curvatures, hermite_slopes, hermite_values
from phlexible.elements.lagrange import lagrange_slopes, lagrange_values
from phlexible.elements.quadrature import gauss


class Theory(StrEnum):
    """EULER_BERNOULLI: sections stay normal to the axis. TIMOSHENKO: they shear."""

    EULER_BERNOULLI = "euler_bernoulli"
    TIMOSHENKO = "timoshenko"


class Component(IntEnum):
    """Place of a coordinate within its node; the slope is that of the cross-section."""

    AXIAL = 0
    DEFLECTION_Y = 1
    SLOPE_Y = 2
    DEFLECTION_Z = 3
    SLOPE_Z = 4
    TWIST = 5


class Inner(IntEnum):
    """Place of a coordinate within its element, with shear."""

    SHEAR_Y = 0
    SHEAR_Y_END = 1
    SHEAR_Z = 2
    SHEAR_Z_END = 3
    TWIST = 4


class Family(IntEnum):
    """Motions of a straight beam that neither mass nor linear stiffness couples, if sections are symmetric."""

    AXIAL = 0
    BENDING_Y = 1
    BENDING_Z = 2
    TORSION = 3


FAMILIES = (
    Family.AXIAL,
    Family.BENDING_Y,
    Family.BENDING_Y,
    Family.BENDING_Z,
    Family.BENDING_Z,
    Family.TORSION,
)
INNER_FAMILIES = (
    Family.BENDING_Y,
    Family.BENDING_Y,
    Family.BENDING_Z,
    Family.BENDING_Z,
    Family.TORSION,
)


@dataclass(frozen=True, eq=False)
class BeamFields:
    """Shape functions of n coordinates at k points of the axis, each of shape (k, n).

    ``axial`` u, ``stretch`` u', ``deflection_y`` v, ``slope_y`` v', ``tilt_y`` theta_z, ``curvature_y``
    theta_z', ``shear_y`` v' - theta_z, ``deflection_z`` w, ``slope_z`` w', ``tilt_z`` -theta_y,
    ``curvature_z`` -theta_y', ``shear_z`` w' + theta_y, ``twist`` theta_x, ``twist_rate`` theta_x'; a prime
    is d/dx. In the plane those of w and theta_x are zero, without shear tilts are slopes.
    """

    axial: Array
    stretch: Array
    deflection_y: Array
    slope_y: Array
    tilt_y: Array
    curvature_y: Array
    shear_y: Array
    deflection_z: Array
    slope_z: Array
    tilt_z: Array
    curvature_z: Array
    shear_z: Array
    twist: Array
    twist_rate: Array


@dataclass(frozen=True)
class BeamMesh:
    """Equal elements on 0 <= x <= length [m], in the plane (dimension 2) or in space (3)."""

    length: float
    elements: int
    dimension: int
    theory: Theory = Theory.EULER_BERNOULLI

    @property
    def shears(self) -> bool:
        """Whether cross-sections can shear."""
        return self.theory is Theory.TIMOSHENKO

    @property
    def element_length(self) -> float:
        """[m]."""
        return self.length / self.elements

    @property
    def node_size(self) -> int:
        """Coordinates of one node: 3 in the plane, 6 in space."""
        return 3 if self.dimension == 2 else 6

    @property
    def stride(self) -> int:
        """Coordinates of one node and of the element after it."""
        inner = 2 if self.dimension == 2 else 5
        return self.node_size + (inner if self.shears else 0)

    @property
    def size(self) -> int:
        """Coordinates of the free beam."""
        return self.stride * self.elements + self.node_size

    def index(self, node: int, component: Component) -> int:
        """Number of one coordinate; node -1 is the last."""
        return self.stride * (node % (self.elements + 1)) + component

    def at_nodes(self, component: Component) -> IntArray:
        """Numbers of one component at all nodes; empty if the nodes do not have it."""
        count = self.elements + 1 if component < self.node_size else 0
        return self.stride * np.arange(count, dtype=np.int64) + component

    def components(self) -> list[Component]:
        """What the nodes have."""
        return list(Component)[: self.node_size]

    def families(self) -> IntArray:
        """Family of each coordinate, shape (size,)."""
        period = [*FAMILIES[: self.node_size], *INNER_FAMILIES][: self.stride]
        return np.tile(np.array(period, dtype=np.int64), self.elements + 1)[: self.size]

    def turns(self) -> Array:
        """Which coordinates are angles, shape (size,); the others are displacements."""
        turning = (Component.SLOPE_Y, Component.SLOPE_Z, Component.TWIST)
        period = [each in turning for each in self.components()] + [True] * (self.stride - self.node_size)
        return np.tile(np.array(period), self.elements + 1)[: self.size]

    def rigid_motions(self) -> Array:
        """Coordinates of the mesh when the start moves by one of its coordinates, shape (size, node_size)."""
        x, motions = np.linspace(0.0, self.length, self.elements + 1), np.zeros((self.size, self.node_size))
        for component in self.components():
            motions[self.at_nodes(component), component] = 1.0
        for deflection, slope in (
            (Component.DEFLECTION_Y, Component.SLOPE_Y),
            (Component.DEFLECTION_Z, Component.SLOPE_Z),
        ):
            if slope < self.node_size:
                motions[self.at_nodes(deflection), slope] = x
        return motions

    def gauss_points(self, count: int) -> tuple[Array, Array]:
        """Points x and weights [m] of ``count`` Gauss points an element, each (elements * count,)."""
        points, weights = gauss(count)
        left = np.arange(self.elements)[:, None]
        return (self.element_length * (left + points)).ravel(), np.tile(
            self.element_length * weights, self.elements
        )

    def located(self, x: Array) -> tuple[IntArray, Array]:
        """The element of each place x (k,), at a node that to its right, and where in it, 0 to 1."""
        place = x / self.element_length
        element = np.clip(np.floor(place).astype(np.int64), 0, self.elements - 1)
        return element, place - element

    def fields(self, x: Array, basis: Array) -> BeamFields:
        """Shape functions at x (k,) of coordinates eta, where ``basis @ eta`` are those of the mesh.

        basis (size, n). Stretch, curvature and twist rate at a node are those to its right.
        """
        element, s = self.located(x)
        length = self.element_length
        linear, linear_rate = lagrange_values(s), lagrange_slopes(s, length)
        axial, stretch = (self._nodal(element, local, (Component.AXIAL,), basis) for local in (linear, linear_rate))
        twist, twist_rate = (
            self._nodal(element, local, (Component.TWIST,), basis) for local in (linear, linear_rate)
        )
        if self.shears and self.dimension == 3:
            twist += self._inner(element, (4 * s * (1 - s))[:, None], (Inner.TWIST,), basis)
            twist_rate += self._inner(element, (4 - 8 * s)[:, None] / length, (Inner.TWIST,), basis)
        in_y = self._bending(element, s, (Component.DEFLECTION_Y, Component.SLOPE_Y), Inner.SHEAR_Y, basis)
        in_z = self._bending(element, s, (Component.DEFLECTION_Z, Component.SLOPE_Z), Inner.SHEAR_Z, basis)
        return BeamFields(axial, stretch, *in_y, *in_z, twist, twist_rate)

    def _bending(
        self, element: IntArray, s: Array, components: tuple[Component, ...], shear: Inner, basis: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Deflection, slope, tilt, curvature and shear strain in one plane, each (k, n)."""
        length = self.element_length
        cubics = [function(s, length) for function in (hermite_values, hermite_slopes, hermite_curvatures)]
        deflection, slope, bend = (self._nodal(element, local, components, basis) for local in cubics)
        if not self.shears or components[-1] >= self.node_size:
            return deflection, slope, slope, bend, np.zeros_like(slope)
        inner = (shear, Inner(shear + 1))
        for field, cubic in zip((deflection, slope, bend), cubics, strict=True):
            field += self._inner(element, cubic[:, [1, 3]], inner, basis)  # v' at the ends is tilt + shear
        strain = self._inner(element, lagrange_values(s), inner, basis)
        rate = self._inner(element, lagrange_slopes(s, length), inner, basis)
        return deflection, slope, slope - strain, bend - rate, strain

    def _nodal(self, element: IntArray, local: Array, components: tuple[Component, ...], basis: Array) -> Array:
        """Local functions (k, 2 components) of the two nodes, for the coordinates of the basis, (k, n).

        Zero where the nodes have no such components (deflection z and twist in the plane).
        """
        if components[-1] >= self.node_size:
            return np.zeros((len(element), basis.shape[1]))
        within = [self.stride * end + each for end in (0, 1) for each in components]
        return self._spread(element, local, within, basis)

    def _inner(self, element: IntArray, local: Array, inner: tuple[Inner, ...], basis: Array) -> Array:
        """Local functions (k, coordinates) of inner coordinates, for those of the basis, (k, n)."""
        return self._spread(element, local, [self.node_size + each for each in inner], basis)

    def _spread(self, element: IntArray, local: Array, within: list[int], basis: Array) -> Array:
        columns = self.stride * element[:, None] + np.array(within)
        result = np.zeros((len(element), basis.shape[1]))
        for function, column in zip(local.T, columns.T, strict=True):
            result += function[:, None] * basis[column]
        return result
