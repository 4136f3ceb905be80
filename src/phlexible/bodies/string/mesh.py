"""The mesh of a string: nodes, shape functions, mass and strains of linear or quadratic elements.

Phi of order p is continuous, Psi of order p - 1 discontinuous (Kinon et al., section 3.1): the strains
are C = |dr/ds|^2 at the p Gauss points of each element, between which Psi interpolates.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import QuadraticStrains
from phlexible.bodies.string.law import StringLaw

MASS = {  # of an element, over its length
    1: np.array([[2.0, 1.0], [1.0, 2.0]]) / 6,
    2: np.array([[4.0, 2.0, -1.0], [2.0, 16.0, 2.0], [-1.0, 2.0, 4.0]]) / 30,
}

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True)
class StringMesh:
    """Equal elements along the undeformed arc length s.

    Attributes:
        length: undeformed [m].
        elements: number of them.
        order: 1 or 2, of the shape functions.
    """

    length: float
    elements: int
    order: int

    @property
    def nodes(self) -> Array:
        """s of the nodes, shape (N,) [m]."""
        return np.linspace(0.0, self.length, self.order * self.elements + 1)

    @property
    def element_length(self) -> float:
        """[m]"""
        return self.length / self.elements

    def element_nodes(self) -> IntArray:
        """Nodes of each element, shape (elements, order + 1)."""
        return np.arange(self.elements)[:, None] * self.order + np.arange(self.order + 1)

    def mass(self, line_density: float) -> "sparse.csr_array":
        """int rho A Phi_i Phi_j ds (25a), shape (N, N) [kg]."""
        from scipy import sparse

        nodes, count = self.element_nodes(), len(self.nodes)
        block = line_density * self.element_length * MASS[self.order]
        rows = np.repeat(nodes, self.order + 1, axis=1).ravel()
        columns = np.tile(nodes, (1, self.order + 1)).ravel()
        entries = np.tile(block.ravel(), self.elements)
        return sparse.coo_array((entries, (rows, columns)), (count, count)).tocsr()

    def strains(self, law: StringLaw, viscosity: float) -> QuadraticStrains:
        """C = |sum_i Phi_i' q_i|^2 at the Gauss points (3)."""
        points, weights = self.gauss()
        rows, count = np.tile(self.slopes(points), (self.elements, 1)), len(points)
        return QuadraticStrains(
            nodes=np.repeat(self.element_nodes(), count, axis=0),
            first=rows,
            second=rows,
            weights=np.tile(weights, self.elements),
            law=law,
            viscosity=viscosity,
            elements=np.repeat(np.arange(self.elements), count),
        )

    def gauss(self) -> tuple[Array, Array]:
        """Points on (-1, 1) and weights [m] of an element, each of shape (order,)."""
        points, weights = np.polynomial.legendre.leggauss(self.order)
        return points, weights * self.element_length / 2

    def slopes(self, points: Array) -> Array:
        """dPhi/ds of an element's nodes at points on (-1, 1), shape (points, order + 1) [1/m]."""
        x = np.asarray(points, dtype=np.float64)
        if self.order == 1:
            slopes = np.stack([-0.5 + 0 * x, 0.5 + 0 * x], axis=1)
        else:
            slopes = np.stack([x - 0.5, -2 * x, x + 0.5], axis=1)
        slopes *= 2 / self.element_length
        slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
        return slopes

    def shape_functions(self, s: float) -> tuple[IntArray, Array]:
        """Nodes of the element around s and their Phi(s), each of shape (order + 1,)."""
        element = min(int(s / self.element_length), self.elements - 1)
        x = 2 * (s / self.element_length - element) - 1
        if self.order == 1:
            values = np.array([1 - x, 1 + x]) / 2
        else:
            values = np.array([x * (x - 1) / 2, 1 - x**2, x * (x + 1) / 2])
        return self.element_nodes()[element], values
