"""Data of a body in absolute coordinates: nodes, mass matrix and quadratic strains.

A string or a soft body has no frame: its coordinates are the world positions of its nodes, its mass matrix is
constant and every strain is a sum of dot products of nodal vectors, so that a rigid rotation does not strain it
(docs/theory.md, 5).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.locations import MaterialPoints
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.soft_law import ElementStrains
from phlexible.bodies.string_law import StringLaw
from phlexible.display import short_repr
from phlexible.elements.maxwell import Maxwell

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class QuadraticStrains:
    """Scalar strains of a nodal body, each the dot product of two linear combinations of its node positions q_i
    [m]: ``C_g = (sum_i first[g, i] q_i) . (sum_j second[g, j] q_j)`` over the nodes in ``nodes[g]``.

    The stored energy is ``sum_g weights[g] W(C_g)``. For a string both rows give dr/ds at a quadrature
    point, C = |dr/ds|^2. In symbols C_g = q^T A_g q with the symmetric part A_g of ``first second^T``, and
    dC/dq_i = first_i v + second_i u for the two vectors u and v.

    Attributes:
        nodes: shape (g, k).
        first, second: shape (g, k); where a row sums to zero the vector is made of differences of nodes,
            so that positions far from the origin cost no digits.
        weights: quadrature weights [m], shape (g,).
        law: W and its derivatives.
        viscosity: Kelvin-Voigt time tau [s]: W' grows by tau modulus / 4 dC/dt.
        elements: number of the element of each strain, for messages, shape (g,).
        relaxation: W' grows by ``sum EA e / 4`` of its branches, whose strains follow C; None: no creep.
    """

    nodes: IntArray
    first: Array
    second: Array
    weights: Array
    law: StringLaw
    viscosity: float
    elements: IntArray
    relaxation: Maxwell | None = None

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class AbsoluteBody:
    """Arrays of a string or soft body of N nodes, whose unknowns are the world positions of the nodes, without a
    body frame. The d N elastic coordinates are these positions node by node in dimension d.

    Attributes:
        dimension: dimension d of the model: 1 (strings only), 2 or 3.
        mass: mass of the whole body [kg].
        nodal_mass: int rho A Phi_i Phi_j ds, shape (N, N), symmetric, positive definite [kg].
        strains: groups of strains, each with its law.
        points: finds material points.
        size: a length that stands for the body in tolerances and pictures [m].
        elements: groups of elements of soft bodies, each with its law.
        clusters: numbers of consecutive nodes that are eliminated as one block; empty: each node is its own block.
        products: groups of elements whose energy is a quadratic form of products of nodal vectors.
        moves: 1 for each node that a translation of the body moves, 0 for each director (a nodal vector that is no
            position), shape (N,); None: all nodes are positions.
    """

    dimension: int
    mass: float
    nodal_mass: "sparse.csr_array"
    strains: tuple[QuadraticStrains, ...]
    points: MaterialPoints
    size: float
    elements: tuple[ElementStrains, ...] = ()
    clusters: tuple[int, ...] = ()
    products: tuple[ProductElements, ...] = ()
    moves: Array | None = None

    __repr__ = short_repr

    @property
    def node_count(self) -> int:
        """Number N of nodes of this string or soft body, whose unknowns are nodal positions."""
        return int(self.nodal_mass.shape[0])

    @property
    def translations(self) -> Array:
        """Displacement of each node for a unit translation of the body, shape (N,): 1 for positions, 0 for
        directors."""
        return np.ones(self.node_count) if self.moves is None else self.moves

    @property
    def node_names(self) -> list[str]:
        """Names of the nodes in texts, positions and directors numbered by themselves: "node 0", "director 0"."""
        moves = self.translations > 0
        numbers = np.where(moves, np.cumsum(moves), np.cumsum(~moves)) - 1
        return [f"{'node' if is_place else 'director'} {k}" for is_place, k in zip(moves, numbers, strict=True)]

    @property
    def translational_mass(self) -> Array:
        """Momentum of each node for a unit velocity of the whole body, shape (N,) [kg]: the nodal masses times
        ``moves``. Times gravity they are the weights of the nodes; those of positions add up to the mass of the
        body."""
        return np.asarray(self.nodal_mass @ self.translations)

    @property
    def elastic_count(self) -> int:
        """Number d N of position coordinates of this string or soft body with N nodes in a model of dimension d."""
        return self.dimension * self.node_count

    @property
    def velocity_count(self) -> int:
        """Number d N of velocity coordinates of this string or soft body with N nodes in dimension d; it equals the
        number of position coordinates."""
        return self.elastic_count

    @property
    def rotates(self) -> bool:
        """Whether this body has a rotation and an angular velocity: always False, since a string or soft body is
        described by nodal positions alone."""
        return False

    @property
    def linear_axes(self) -> tuple[int, ...]:
        """Axes along which the body frame can move: an empty tuple, since a string or soft body has no body
        frame."""
        return ()

    @property
    def rotation_axes(self) -> tuple[int, ...]:
        """Axes about which the body frame can rotate: an empty tuple, since a string or soft body has no body
        frame."""
        return ()

    @property
    def rigid_count(self) -> int:
        """Number of velocities of the body frame: 0, since a string or soft body has no body frame."""
        return 0
