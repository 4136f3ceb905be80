"""Bodies whose elements are products of nodal vectors: soft bodies in this form, and a strip with directors."""

from dataclasses import dataclass, replace

import numpy as np

import phlexible as ph
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.skin import SIX
from phlexible.bodies.soft_law import ElementStrains

Array = np.ndarray


def products_of(group: ElementStrains, places: Array) -> ProductElements:
    """Elements of St. Venant-Kirchhoff material with the same energy: E_ab is half of sum_ij g_ia g_jb y_i . y_j,
    less what it is at the undeformed positions ``places`` (N, 3)."""
    g = group.gradients[:, :, 1:]
    pairs = np.stack(np.triu_indices(g.shape[2]), axis=1)
    i, j = pairs.T
    both = np.where(i == j, 0.5, 1.0)
    rows = [both * (g[..., i, a] * g[..., j, b] + (g[..., j, a] * g[..., i, b] if a != b else 0)) for a, b in SIX]
    L = np.stack(rows, axis=2)
    stiffness = np.einsum("eq,eqsm,st,eqtn->emn", group.weights, L, group.law.tangent(np.eye(3)), L, optimize=True)
    y = places[group.nodes[:, 1:]] - places[group.nodes[:, :1]]
    rest = (y[:, i] * y[:, j]).sum(axis=-1)
    flat = stiffness.reshape(len(rest), -1)
    return ProductElements(group.nodes, group.nodes.shape[1], pairs, (len(pairs),), flat, rest, group.viscosity)


@dataclass(frozen=True, eq=False)
class SoftProducts(ph.SoftBody):
    """A soft body of St. Venant-Kirchhoff material that the step knows as products."""

    def discretize(self, dimension: int) -> AbsoluteBody:
        data = super().discretize(dimension)
        return replace(data, elements=(), products=tuple(products_of(each, self.nodes) for each in data.elements))
