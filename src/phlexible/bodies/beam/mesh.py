"""Finite elements along a beam: which coordinates there are and the fields they interpolate.

Axial displacement and twist are linear on each element (Lagrange), deflections cubic (Hermite).
Each node has u, v, v' in the plane and u, v, v', w, w', theta in space, node after node.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.elements.hermite import hermite_curvatures, hermite_slopes, hermite_values
from phlexible.elements.lagrange import lagrange_slopes, lagrange_values
from phlexible.elements.quadrature import gauss


class Component(IntEnum):
    """Place of a coordinate within its node."""

    AXIAL = 0
    DEFLECTION_Y = 1
    SLOPE_Y = 2
    DEFLECTION_Z = 3
    SLOPE_Z = 4
    TWIST = 5


class Family(IntEnum):
    """Motions of a straight beam that neither mass nor linear stiffness couples."""

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


@dataclass(frozen=True, eq=False)
class BeamFields:
    """Shape functions of n coordinates at k points of the axis, each of shape (k, n).

    ``axial`` u, ``stretch`` u', ``deflection_y`` v, ``slope_y`` v', ``curvature_y`` v'',
    ``deflection_z`` w, ``slope_z`` w', ``curvature_z`` w'', ``twist`` theta, ``twist_rate``
    theta'; a prime is d/dx. In the plane those of w and theta are zero.
    """

    axial: Array
    stretch: Array
    deflection_y: Array
    slope_y: Array
    curvature_y: Array
    deflection_z: Array
    slope_z: Array
    curvature_z: Array
    twist: Array
    twist_rate: Array


@dataclass(frozen=True)
class BeamMesh:
    """Equal elements on 0 <= x <= length [m], in the plane (dimension 2) or in space (3)."""

    length: float
    elements: int
    dimension: int

    @property
    def element_length(self) -> float:
        """[m]."""
        return self.length / self.elements

    @property
    def node_size(self) -> int:
        """Coordinates of one node: 3 in the plane, 6 in space."""
        return 3 if self.dimension == 2 else 6

    @property
    def size(self) -> int:
        """Coordinates of the free beam."""
        return self.node_size * (self.elements + 1)

    def index(self, node: int, component: Component) -> int:
        """Number of one coordinate; node -1 is the last."""
        return self.node_size * (node % (self.elements + 1)) + component

    def families(self) -> IntArray:
        """Family of each coordinate, shape (size,)."""
        return np.tile(np.array(FAMILIES[: self.node_size], dtype=np.int64), self.elements + 1)

    def gauss_points(self, count: int) -> tuple[Array, Array]:
        """Points x and weights [m] of ``count`` Gauss points an element, each (elements * count,)."""
        points, weights = gauss(count)
        left = np.arange(self.elements)[:, None]
        return (self.element_length * (left + points)).ravel(), np.tile(
            self.element_length * weights, self.elements
        )

    def fields(self, x: Array, basis: Array) -> BeamFields:
        """Shape functions at x (k,) of coordinates eta, where ``basis @ eta`` are those of the mesh.

        basis (size, n). Stretch, curvature and twist rate at a node are those to its right.
        """
        place = x / self.element_length
        element = np.clip(np.floor(place).astype(np.int64), 0, self.elements - 1)
        s, length = place - element, self.element_length

        def spread(local: Array, *components: Component) -> Array:
            return self._spread(element, local, components, basis)

        linear, linear_rate = lagrange_values(s), lagrange_slopes(s, length)
        cubic, slope = hermite_values(s, length), hermite_slopes(s, length)
        curvature = hermite_curvatures(s, length)
        return BeamFields(
            axial=spread(linear, Component.AXIAL),
            stretch=spread(linear_rate, Component.AXIAL),
            deflection_y=spread(cubic, Component.DEFLECTION_Y, Component.SLOPE_Y),
            slope_y=spread(slope, Component.DEFLECTION_Y, Component.SLOPE_Y),
            curvature_y=spread(curvature, Component.DEFLECTION_Y, Component.SLOPE_Y),
            deflection_z=spread(cubic, Component.DEFLECTION_Z, Component.SLOPE_Z),
            slope_z=spread(slope, Component.DEFLECTION_Z, Component.SLOPE_Z),
            curvature_z=spread(curvature, Component.DEFLECTION_Z, Component.SLOPE_Z),
            twist=spread(linear, Component.TWIST),
            twist_rate=spread(linear_rate, Component.TWIST),
        )

    def _spread(self, element: IntArray, local: Array, components: tuple[Component, ...], basis: Array) -> Array:
        """Local functions (k, 2 components) of the two nodes, for the coordinates of the basis, (k, n).

        Zero where the nodes have no such components (deflection z and twist in the plane).
        """
        if components[-1] >= self.node_size:
            return np.zeros((len(element), basis.shape[1]))
        within = np.array([self.node_size * end + each for end in (0, 1) for each in components])
        columns = self.node_size * element[:, None] + within
        result = np.zeros((len(element), basis.shape[1]))
        for function, column in zip(local.T, columns.T, strict=True):
            result += function[:, None] * basis[column]
        return result
