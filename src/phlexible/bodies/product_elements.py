"""Elements whose strain energy is a constant quadratic form of dot products of nodal vectors (docs/theory.md, 5).

Any element of a St. Venant-Kirchhoff material is of this kind: strings (1 product), membrane triangles (3),
tetrahedra (6), shells with assumed strains and stresses (22), folds between two directors (1). The step integrates
nothing and does not know which element it is.
"""

from dataclasses import dataclass

from phlexible.algebra.arrays import Array, IntArray
from phlexible.display import short_repr


@dataclass(frozen=True, eq=False)
class ProductElements:
    """Group of e elements with the strain energy ``U = sum (p - p0).H (p - p0) / 2`` of n products of vectors.

    The products are ``p = y_a . y_b``. The k nodes of an element are places, then directors. The vectors y are the
    differences of all places but the first to the first one, then the directors themselves, so that positions far
    from the origin cost no digits.

    Attributes:
        nodes: nodes of each element, shape (e, k).
        position_count: number of the first nodes that are places; 0 for elements of directors alone.
        pairs: numbers (a, b) of both vectors of each product, a <= b, shape (n, 2).
        blocks: sizes of the diagonal blocks of H, whose products follow each other; their sum is n.
        stiffness: blocks of H, row by row, one after the other, shape (e, sum of the squares of ``blocks``); each
            is symmetric [J per square of the products].
        rest: products p0 without strain, shape (e, n).
        viscosity: Kelvin-Voigt time tau [s]: H dp/dt adds tau times itself to the stress H (p - p0).
    """

    nodes: IntArray
    position_count: int
    pairs: IntArray
    blocks: tuple[int, ...]
    stiffness: Array
    rest: Array
    viscosity: float = 0.0

    __repr__ = short_repr
