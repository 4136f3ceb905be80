"""Elasticity of a rod between neighbouring sections (docs/theory.md, 8).

With directions d_x along the rod, d_y and d_z across, and sums N_k over the nodes of an element (8.20)::

    Gamma_i = d_i . x',    K_x = (d_z . d_y' - d_y . d_z') / 2 and cyclic,    y = sum N_k y_k,  y' = sum dN_k/ds y_k

which no rigid motion changes. Strains are their differences to the stress-free shape; a stiffness matrix C = L D
L^T makes the energy a sum of squares of (L^T strain)_i, one scalar law each (8.21).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.caching import cached_on_owner
from phlexible.bodies.rod import ElementShape, Rod, StressFree
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import (
    Bilinear,
    BilinearTerm,
    DirectionOf,
    PointOf,
    StrainCoordinate,
    VectorSum,
    as_sum,
)
from phlexible.description.ports import PlacedBody, Port

STRAINS = ("stretch", "shear y", "shear z", "twist", "curvature y", "curvature z")
KEPT = {1: (0,), 2: (0, 1, 5), 3: (0, 1, 2, 3, 4, 5)}
"""Strains on a line: stretch; in the xy plane: shear along y and curvature about z too; in space."""
STRAIGHT = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
"""Gamma and K of a straight rod."""


@dataclass(frozen=True, eq=False, repr=False)
class RodElement(ForceElement):
    """One element of a rod in a model, with a force law for each strain at its quadrature points.

    Attributes:
        rod: description of the rod.
        number: index of the element in the rod.
        nodes: the two or three sections that it connects.
        stress_free: Gamma and K without stress at each quadrature point, shape (g, 6); None: those of ``rod``.
    """

    rod: Rod
    number: int
    nodes: tuple[PlacedBody, ...]
    stress_free: Array | None = None

    @property
    def ports(self) -> tuple[Port, Port]:
        """Return the ports at the origins of the first and the last node (rigid section) of a rod's finite
        element. A port is a point of a body, or of the ground."""
        return self.nodes[0].origin, self.nodes[-1].origin

    @cached_property
    def shape(self) -> ElementShape:
        """Return the quadrature points of a rod's finite element, with the values of the shape functions, their
        derivatives and the measures (weights times length). It is cached."""
        return self.rod.element_shape(self.number)

    @cached_property
    def stiffness(self) -> Array:
        """Return the 6 x 6 section stiffness matrix C of a rod's finite element at each of its g quadrature points,
        shape (g, 6, 6)."""
        return self.rod.stiffness_at(self.shape.positions)

    @cached_property
    def rest_strains(self) -> Array:
        """Return the strains at which this rod element has no stress, at each of its g quadrature points, shape
        (g, 6), cached. They are the user's strains, else the strains of a straight rod or of the initial pose, by
        the rod's option. The columns are stretch, two shears, twist and two curvatures [1/m]."""
        if self.stress_free is not None:
            return self.stress_free
        if self.rod.stress_free is StressFree.STRAIGHT:
            return np.tile(STRAIGHT, (len(self.shape.positions), 1))
        rows = self.functions(3)
        return np.array([[row.initial_value() for row in point] for point in rows])

    def with_stored_strains(self) -> "RodElement":
        """Return a copy of a rod's finite element that stores its present stress-free strains as an array. These
        strains then do not change when the nodes are moved."""
        result = replace(self, stress_free=self.rest_strains)
        result.__dict__["_functions"] = self._functions  # those of the same nodes
        return result

    def functions(self, dimension: int) -> list[list[Bilinear]]:
        """Return the strains of a rod's finite element as sums of dot products of vectors, a list for each
        quadrature point. Only strains that exist in a model of this ``dimension`` are included: the stretch on a
        line; stretch, shear y and curvature z in the plane; all six in space."""
        return [[point[k] for k in KEPT[dimension]] for point in self._functions]

    @cached_property
    def _functions(self) -> list[list[Bilinear]]:
        """Return the bilinear functions (sums of dot products of vectors) of the strains of a rod's finite
        element. The result has a list for each quadrature point with six functions: stretch, shear y, shear
        z, twist, curvature y, curvature z."""
        return [
            [Bilinear(self._terms(values, slopes, k), 0.0, f"{name} of {self}") for k, name in enumerate(STRAINS)]
            for values, slopes in zip(self.shape.values, self.shape.slopes, strict=True)
        ]

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the elastic force laws of this rod element, one spring for each quadrature point and strain
        component. With the factors C = L D L^T of the section stiffness C, spring i acts on component i of L^T
        times strain. Its stiffness is D_i times the length of the point [m], its rest value that of the
        stress-free rod. ``dimension`` is that of the model (1, 2 or 3)."""
        kept = list(KEPT[dimension])
        found, functions, relaxation = [], self.functions(dimension), self.rod.relaxation
        roots = [np.diag(lower) for lower in self._cholesky_factors(dimension)]
        for rows, natural, shares, own, measure in zip(
            functions, self.rest_strains, self.unit_factors(dimension), roots, self.shape.measures, strict=True
        ):
            for i, k in enumerate(kept):
                terms = tuple(
                    BilinearTerm(share * term.coefficient, term.first, term.second)
                    for share, row in zip(shares[i:, i], rows[i:], strict=True)
                    if share != 0
                    for term in row.terms
                )
                weight = float(measure * own[i] ** 2)
                coordinate = StrainCoordinate(STRAINS[k], terms, "1" if k < 3 else "1/m")
                rest = float(shares[:, i] @ natural[kept])
                damping = self.rod.viscosity * weight
                law = (coordinate, weight, damping, rest)
                creep = relaxation and relaxation.scaled(weight)
                found.append(CoordinateForce(*law, is_strain=True, relaxation=creep))
        return tuple(found)

    def unit_factors(self, dimension: int) -> list[Array]:
        """Return the unit lower triangular factors L of the section stiffness C = L D L^T, for each quadrature
        point of a rod's finite element. Each is an array (k, k); the k strains are the stretch on a line; stretch,
        shear y and curvature z in the plane; all six in space. ``dimension`` is the number of space dimensions of
        the model."""
        return [lower / np.diag(lower) for lower in self._cholesky_factors(dimension)]

    @cached_on_owner
    def _cholesky_factors(self, dimension: int) -> list[Array]:
        """Return the lower triangular Cholesky factors of the section stiffness, an array (k, k) for each
        quadrature point of a rod's finite element, cached. The k strains are the stretch on a line; stretch, shear
        y and curvature z in the plane; all six in space. ``dimension`` is the number of space dimensions of the
        model."""
        kept = np.ix_(KEPT[dimension], KEPT[dimension])
        return [np.linalg.cholesky(stiffness[kept]) for stiffness in self.stiffness]

    def _terms(self, values: Array, slopes: Array, k: int) -> tuple[BilinearTerm, ...]:
        """Return the strain with index ``k`` of this rod element at a quadrature point as a sum of weighted dot
        products of nodal vectors. Indices 0 to 2 are stretch and two shears: director times derivative of the
        axis. Indices 3 to 5 are twist and two curvatures: products of directors of two nodes. ``values`` and
        ``slopes`` are the shape functions and their derivatives [1/m] at the point."""
        if k < 3:
            along = VectorSum(tuple((float(w), point) for w, point in zip(slopes, self._points, strict=True)))
            return (BilinearTerm(1.0, VectorSum(tuple(self._mean(values, k))), along),)
        i, j = (k - 2) % 3, (k - 1) % 3
        terms = []
        for a, first in enumerate(self._axis_vectors):  # d_i . d_j of one node is zero
            for b in range(a + 1, len(self.nodes)):
                second, share = self._axis_vectors[b], 0.5 * float(values[a] * slopes[b] - values[b] * slopes[a])
                terms.append(BilinearTerm(share, first[j], second[i]))
                terms.append(BilinearTerm(-share, first[i], second[j]))
        return tuple(terms)

    @cached_property
    def _points(self) -> list[PointOf]:
        return [PointOf(node.origin) for node in self.nodes]

    @cached_property
    def _node_axes(self) -> list[list[DirectionOf]]:
        """Return the section axes d_x, d_y, d_z of each node of a rod's finite element, as directions that rotate
        with the node."""
        return [[DirectionOf(node.origin, node.rotation[:, k]) for k in range(3)] for node in self.nodes]

    @cached_property
    def _axis_vectors(self) -> list[list[VectorSum]]:
        """Return the section axes d_x, d_y, d_z of this rod element, one list for each node, each axis as a
        ``VectorSum`` of one vector. A ``VectorSum`` is a weighted sum of symbolic vectors; the element's bilinear
        terms are dot products of two of these.
        """
        return [[as_sum(axis) for axis in axes] for axes in self._node_axes]

    def _mean(self, values: Array, k: int) -> Sequence[tuple[float, DirectionOf]]:
        return [(float(share), axes[k]) for share, axes in zip(values, self._node_axes, strict=True)]

    def __repr__(self) -> str:
        return f"element {self.number + 1} from {self.nodes[0].name} to {self.nodes[-1].name}"


def rod_elements(rod: Rod, nodes: Sequence[PlacedBody], stress_free: Array | None = None) -> tuple[RodElement, ...]:
    """Return the finite elements between the placed nodes (rigid sections) of a rod, from start to end.
    ``stress_free`` are strains without stress; None: the strains of the description ``rod``.

    Args:
        rod: description of the rod.
        nodes: placed nodes from start to end.
        stress_free: Gamma and K of all quadrature points, shape (elements, g, 6); None: as ``rod`` says.
    """
    return tuple(
        RodElement(
            rod, number, tuple(nodes[k] for k in shape.nodes), None if stress_free is None else stress_free[number]
        )
        for number, shape in enumerate(rod.element_shapes())
    )
