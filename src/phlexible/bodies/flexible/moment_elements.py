"""Triangles of thin plates with moments as unknowns: Hellan, Herrmann and Johnson."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

# Moments of order k are a polynomial times one of the three tensors S_e of a triangle, whose normal component is 1
# on its edge e and 0 on the others: sym(t t') of the other edges t, t'. On the edge from vertex a to vertex b > a
# the polynomials are l_a^(k - j) l_b^j; those that vanish there, the opposite l times order k - 1, are inside.
# Curvature is tested in parts, for deflections that are continuous and of order k + 1::
#
#     D: int psi : grad grad phi - int psi_nn dphi/dn over the edges of each triangle
#
# Edges are 01, 12, 02 of a triangle, whose vertices ascend (as scikit-fem has them).

EDGES = ((0, 1), (1, 2), (0, 2))


@dataclass(frozen=True, eq=False)
class MomentElements:
    """T triangles with m moments and p deflections each; moments of edge 0, 1, 2 first, k + 1 of each.

    Attributes:
        order: k.
        facets: of the edges, shape (T, 3).
        outward: 1 where the normal of the facet points out of the triangle, else -1, shape (T, 3).
        lengths: of all facets of the mesh [m].
        normals: of all facets, out of their first triangle, shape (F, 2).
        products: int psi : psi, shape (T, m, m) [m^2].
        traces: int tr psi tr psi, shape (T, m, m) [m^2].
        rates: D, shape (T, m, p).
        on_edge: int of the products of the polynomials of an edge of length 1, shape (k + 1, k + 1).
    """

    order: int
    facets: IntArray
    outward: IntArray
    lengths: Array
    normals: Array
    products: Array
    traces: Array
    rates: Array
    on_edge: Array

    @property
    def numbers(self) -> IntArray:
        """Of the moments of each triangle: those of facets, which two share, then those inside, shape (T, m)."""
        each, count = self.order + 1, len(self.facets)
        shared = each * self.facets[:, :, None] + np.arange(each)
        inner = self.products.shape[1] - 3 * each
        own = each * len(self.lengths) + np.arange(inner * count).reshape(count, inner)
        return np.hstack([shared.reshape(count, -1), own])

    def compliance(self, poissons_ratio: float) -> Array:
        """int psi : ((1 + nu) psi - nu tr(psi) I), for a unit of flexibility, shape (T, m, m)."""
        return (1 + poissons_ratio) * self.products - poissons_ratio * self.traces


def moment_elements(mesh: Any, deflection: Any, order: int) -> MomentElements:
    """Of a ``MeshTri`` of straight triangles.

    Args:
        deflection: element of scikit-fem of order ``order + 1``.
        order: of the moments.
    """
    from skfem.quadrature import get_quadrature
    from skfem.refdom import RefLine, RefTri

    corners = mesh.p.T[mesh.t.T]  # (T, 3, 2)
    jacobians = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)  # dx_i/dX_a
    inverse, areas = np.linalg.inv(jacobians), np.abs(np.linalg.det(jacobians)) / 2
    facets = np.asarray(mesh.t2f.T, dtype=np.int64)
    along = np.stack([corners[:, b] - corners[:, a] for a, b in EDGES], axis=1)  # (T, 3, 2)
    ends = mesh.p.T[mesh.facets.T]
    sides = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(sides, axis=1)
    normals = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / lengths[:, None]
    inside = corners.mean(axis=1)
    away = np.sign(np.einsum("tei,tei->te", normals[facets], corners[:, [0, 1, 0]] - inside[:, None]))
    first = away[mesh.f2t[0], (facets[mesh.f2t[0]] == np.arange(len(lengths))[:, None]).argmax(axis=1)]
    normals, outward = normals * first[:, None], (away * first[facets]).astype(np.int64)
    tensors = []
    for edge in range(3):
        one, other = (along[:, k] for k in range(3) if k != edge)
        tensor = (one[:, :, None] * other[:, None] + other[:, :, None] * one[:, None]) / 2
        normal = normals[facets[:, edge]]
        tensors.append(tensor / np.einsum("ti,tij,tj->t", normal, tensor, normal)[:, None, None])
    of_edge, powers = _polynomials(order)
    S = np.stack(tensors, axis=1)[:, of_edge]  # (T, m, 2, 2)
    points, weights = get_quadrature(RefTri, 2 * order + 2)
    values = _values(powers, points)
    weights = 2 * np.asarray(weights)  # of a triangle of area 1
    shares = np.einsum("mq,nq,q->mn", values, values, weights)
    slopes, curvatures = _derivatives(deflection, order + 1)
    bent = np.einsum("tca,pcdq,tdb->tabpq", inverse, curvatures(points), inverse, optimize=True)
    rates = np.einsum("t,q,mq,tmab,tabpq->tmp", areas, weights, values, S, bent, optimize=True)
    place, share = (np.asarray(each) for each in get_quadrature(RefLine, 2 * order + 2))
    for edge, (a, b) in enumerate(EDGES):
        at = np.zeros((3, place.shape[1]))
        at[a], at[b] = 1 - place[0], place[0]
        own = slice((order + 1) * edge, (order + 1) * (edge + 1))
        normal_moments = _values(powers[own], at[1:])
        outer = normals[facets[:, edge]] * outward[:, edge, None]
        turns = np.einsum("pcq,tci,ti->tpq", slopes(at[1:]), inverse, outer, optimize=True)
        rates[:, own] -= np.einsum("t,q,jq,tpq->tjp", lengths[facets[:, edge]], share, normal_moments, turns)
    on_edge = np.einsum("iq,jq,q->ij", normal_moments, normal_moments, share)
    return MomentElements(
        order=order,
        facets=facets,
        outward=outward,
        lengths=lengths,
        normals=normals,
        products=areas[:, None, None] * shares * np.einsum("tmab,tnab->tmn", S, S),
        traces=areas[:, None, None] * shares * np.einsum("tmaa,tnbb->tmn", S, S),
        rates=rates,
        on_edge=on_edge,
    )


def _polynomials(order: int) -> tuple[IntArray, IntArray]:
    """Edge whose tensor each has, and its powers of barycentric coordinates (m, 3): on the edges, then inside."""
    of_edge, powers = [], []
    for edge, ends in enumerate(EDGES):
        for j in range(order + 1):
            of_edge.append(edge)
            powers.append(np.zeros(3, dtype=np.int64))
            powers[-1][list(ends)] = order - j, j
    for edge, ends in enumerate(EDGES):
        for i in range(order):
            for j in range(order - i):
                of_edge.append(edge)
                powers.append(np.array([i, j, order - 1 - i - j]))
                powers[-1][3 - sum(ends)] += 1
    return np.array(of_edge), np.array(powers)


def _values(powers: IntArray, points: Array) -> Array:
    """Of the polynomials at points (2, q) of the reference triangle, shape (m, q)."""
    barycentric = np.vstack([1 - points[0] - points[1], points])
    return np.asarray(np.prod(barycentric ** powers[:, :, None], axis=1))


def _derivatives(element: Any, degree: int) -> tuple[Any, Any]:
    """First (p, 2, q) and second derivatives (p, 2, 2, q) on the reference triangle, functions of points (2, q)."""
    powers = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    lattice = np.array(powers).T / max(degree, 1)
    count = len(powers)
    values = np.array([np.broadcast_to(element.lbasis(lattice, k)[0], count) for k in range(count)])
    coefficients = np.linalg.solve(_monomials(lattice, powers, (0, 0)).T, values.T).T

    def slopes(points: Array) -> Array:
        each = [_monomials(points, powers, orders) for orders in ((1, 0), (0, 1))]
        return np.stack([coefficients @ one for one in each], axis=1)

    def curvatures(points: Array) -> Array:
        xx, xy, yy = (coefficients @ _monomials(points, powers, orders) for orders in ((2, 0), (1, 1), (0, 2)))
        return np.stack([np.stack([xx, xy], axis=1), np.stack([xy, yy], axis=1)], axis=1)

    return slopes, curvatures


def _monomials(points: Array, powers: list[tuple[int, int]], orders: tuple[int, int]) -> Array:
    """Derivatives of r^i s^j at points (2, q), shape (powers, q)."""
    rows = []
    for power in powers:
        row = np.ones(points.shape[1])
        for x, n, d in zip(points, power, orders, strict=True):
            factor = np.prod([n - k for k in range(d)])  # 0 where n < d
            row = row * factor * x ** max(n - d, 0)
        rows.append(row)
    return np.array(rows)
