"""What elements of soft bodies store: an energy of C at their quadrature points (docs/theory.md, 5)."""

from dataclasses import dataclass

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.soft.constitution import Constitution
from phlexible.display.written import short_repr


@dataclass(frozen=True, eq=False)
class ElementStrains:
    """C_ab = F_a . F_b with F_a = sum_i gradients[e, q, i, a] x_i over the nodes of element e, at its points q.

    The energy is ``sum_eq weights[e, q] W(C)``. Of a membrane a = 1, 2 are directions in it, gradients along the
    third are zero, and C_33 = 1.

    Attributes:
        nodes: shape (e, k).
        gradients: of the shape functions in undeformed axes, shape (e, q, k, 3) [1/m]; they add up to zero.
        weights: undeformed volume of each point, shape (e, q) [m3].
        law: W(C).
        is_sheet: C_33 = 1, and nothing else along the third direction.
        viscosity: Kelvin-Voigt time tau [s]: S grows by tau D dE/dt with the tangent D of small strains.
    """

    nodes: IntArray
    gradients: Array
    weights: Array
    law: Constitution
    is_sheet: bool
    viscosity: float

    __repr__ = short_repr
