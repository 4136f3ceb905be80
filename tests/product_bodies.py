"""Bodies whose elements are products of nodal vectors: soft bodies in this form, and a strip with directors."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

import phlexible as ph
from phlexible.bodies.absolute_body import AbsoluteBody, InitialNodes
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.skin import SIX
from phlexible.bodies.soft_law import ElementStrains
from phlexible.bodies.soft_mesh import SoftPoints

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


LEVER = 0.1
"""Length of the directors [m]."""


@dataclass(frozen=True, eq=False)
class SheetPoints(SoftPoints):
    """Places of the nodes of a sheet, whose directors come after them."""

    def _matrix(self, weights: Array) -> Array:
        return super()._matrix(np.concatenate([weights, np.zeros(len(weights))]))


@dataclass(frozen=True, eq=False)
class DirectorSheet(SoftProducts):
    """A membrane with a director at each node, which random stiffnesses hold to the sides of its elements and to
    its length, and a fold between the first two. The mass matrix couples places and directors."""

    def discretize(self, dimension: int) -> AbsoluteBody:
        data = super().discretize(dimension)
        (membrane,), mesh, count = data.products, self.soft_mesh, data.node_count
        rng, (e, k) = np.random.default_rng(3), membrane.nodes.shape
        directors = k - 1 + np.arange(k)
        shear = np.stack(np.meshgrid(np.arange(k - 1), directors, indexing="ij"), axis=-1).reshape(-1, 2)
        pairs = np.concatenate([membrane.pairs, shear, np.stack([directors, directors], axis=1)])
        scale = np.abs(membrane.stiffness).max()
        roots = rng.normal(size=(e, len(shear), len(shear)))
        own = scale * rng.uniform(0.5, 1.0, (e, k))
        stiffness = np.concatenate(
            [membrane.stiffness, scale / len(shear) * (roots @ roots.swapaxes(1, 2)).reshape(e, -1), own], axis=1
        )
        rest = np.concatenate([membrane.rest, np.zeros((e, len(shear))), np.full((e, k), LEVER**2)], axis=1)
        nodes = np.concatenate([membrane.nodes, membrane.nodes + count], axis=1)
        blocks = (*membrane.blocks, len(shear), *[1] * k)
        sheet = ProductElements(nodes, k, pairs, blocks, stiffness, rest, self.viscosity)
        pair = np.array([[0, 1]])
        fold = ProductElements(count + pair, 0, pair, (1,), scale * np.ones((1, 1)), rest[:1, -1:])
        return replace(
            data,
            nodal_mass=sparse.csr_array(sparse.kron([[1.0, 0.2], [0.2, 1.0]], data.nodal_mass)),
            points=SheetPoints(mesh, dimension, data.points.interfaces),
            clusters=(),
            products=(sheet, fold),
            moves=np.repeat([1.0, 0.0], count),
        )

    def initial_nodes(
        self, dimension: int, shape: Any, velocity: Any, position: Array, rotation: Array
    ) -> InitialNodes:
        """Directors are as undeformed, in the axes of ``rotation``."""
        nodes = super().initial_nodes(dimension, shape, velocity, position, rotation)
        directors = np.tile(LEVER * rotation[:, 2], (len(nodes.positions), 1))
        rates = None if nodes.velocities is None else np.concatenate([nodes.velocities, 0 * directors])
        return replace(nodes, positions=np.concatenate([nodes.positions, directors]), velocities=rates)

    def with_rotation(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        arms = nodes.positions - np.outer(np.repeat([1.0, 0.0], len(nodes.positions) // 2), origin)
        rates = np.zeros_like(arms) if nodes.velocities is None else nodes.velocities
        return replace(nodes, velocities=rates + np.cross(spin, arms))


@dataclass(frozen=True)
class StringProducts(ph.String):
    """A string of linear elements of St. Venant-Kirchhoff material, each with one product."""

    def discretize(self, dimension: int) -> AbsoluteBody:
        data = super().discretize(dimension)
        e, size = self.elements, self.length / self.elements
        nodes = np.stack([np.arange(e), np.arange(1, e + 1)], axis=1)
        stiffness = np.full((e, 1), self.law.axial_stiffness / (4 * size**3))
        rest, pairs = np.full((e, 1), size**2), np.array([[0, 0]])
        return replace(
            data, strains=(), products=(ProductElements(nodes, 2, pairs, (1,), stiffness, rest, self.viscosity),)
        )
