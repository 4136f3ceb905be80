"""Triangles of thin plates with moments as unknowns, by Hellan, Herrmann and Johnson."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh_matrices import assembled
from phlexible.bodies.flexible.plate_elements import UNKNOWNS, PlateSection
from phlexible.bodies.flexible.structure import LOCAL_ROTATION, Unknowns

# Moments of order k are a polynomial times one of the three tensors S_e of a triangle, whose normal component is 1
# on its edge e and 0 on the others: sym(t t') of the other edges t, t'. On the edge from vertex a to vertex b
# the polynomials are l_a^(k - j) l_b^j; those that vanish there, the opposite l times order k - 1, are inside.
# Curvature is tested in parts, for deflections that are continuous and of order k + 1::
#
#     D: int psi : grad grad phi - int psi_nn dphi/dn over the edges of each triangle
#
# Edges are 01, 12, 02 of a triangle, as scikit-fem has them; a and b of an edge are as in the triangle.

EDGES = ((0, 1), (1, 2), (0, 2))


@dataclass(frozen=True, eq=False)
class MomentElements:
    """Elements of T triangles of a thin plate with m bending moments and p deflections as unknowns of each. Moments
    of edges 0, 1, 2 come first, k + 1 on each edge for order k, then inner ones.

    Attributes:
        order: k.
        facets: of the edges, shape (T, 3).
        is_reversed: whether the vertices of the edge descend in the triangle, shape (T, 3).
        outward: 1 where the normal of the facet points out of the triangle, else -1, shape (T, 3).
        lengths: of all facets of the mesh [m].
        normals: of all facets, out of their first triangle, shape (F, 2).
        products: int psi : psi, shape (T, m, m) [m^2].
        traces: int tr psi tr psi, shape (T, m, m) [m^2].
        rates: D, shape (T, m, p).
        on_edge: int of the products of the polynomials of an edge of length 1, shape (k + 1, k + 1).
        tensors: of the moments, shape (T, m, 2, 2).
        powers: of the barycentric coordinates in their polynomials, shape (m, 3).
    """

    order: int
    facets: IntArray
    is_reversed: BoolArray
    outward: IntArray
    lengths: Array
    normals: Array
    products: Array
    traces: Array
    rates: Array
    on_edge: Array
    tensors: Array
    powers: IntArray

    @property
    def moment_indices(self) -> IntArray:
        """Global indices of the m moment unknowns of each of T plate triangles, shape (T, m). First come the
        unknowns on the three edges, which two triangles share, then the inner unknowns of the triangle alone."""
        per_facet, count = self.order + 1, len(self.facets)
        offset = np.where(self.is_reversed[:, :, None], np.arange(per_facet)[::-1], np.arange(per_facet))
        shared = per_facet * self.facets[:, :, None] + offset
        inner = self.products.shape[1] - 3 * per_facet
        inner_indices = per_facet * len(self.lengths) + np.arange(inner * count).reshape(count, inner)
        return np.hstack([shared.reshape(count, -1), inner_indices])

    def compliance(self, poissons_ratio: float | Array) -> Array:
        """Return the compliance matrices int psi : ((1 + nu) psi - nu tr(psi) I) of m bending moments in each of T
        plate triangles, shape (T, m, m). psi are the moment tensors per unit of each unknown, nu is Poisson's
        ratio. The matrices are for unit flexibility; the caller multiplies by it."""
        return np.asarray((1 + poissons_ratio) * self.products - poissons_ratio * self.traces)


def moment_elements(mesh: Any, deflection: Any, order: int) -> MomentElements:
    """Return matrices and geometry of mixed plate elements (Hellan, Herrmann, Johnson) on all T triangles of a
    scikit-fem ``mesh`` with straight edges. Bending moments are tensor polynomials of degree ``order``; their
    normal component is continuous across edges. In the result, ``rates`` integrates moments times curvatures of
    the ``deflection`` element's shape functions, minus normal moments times normal derivatives on edges.
    ``products`` and ``traces`` give the compliance.

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
    values = _polynomial_values(powers, points)
    weights = 2 * np.asarray(weights)  # of a triangle of area 1
    shares = np.einsum("mq,nq,q->mn", values, values, weights)
    slopes, curvatures = _derivative_functions(deflection, order + 1)
    bent = np.einsum("tca,pcdq,tdb->tabpq", inverse, curvatures(points), inverse, optimize=True)
    rates = np.einsum("t,q,mq,tmab,tabpq->tmp", areas, weights, values, S, bent, optimize=True)
    abscissa, share = (np.asarray(each) for each in get_quadrature(RefLine, 2 * order + 2))
    for edge, (a, b) in enumerate(EDGES):
        at = np.zeros((3, abscissa.shape[1]))
        at[a], at[b] = 1 - abscissa[0], abscissa[0]
        rows = slice((order + 1) * edge, (order + 1) * (edge + 1))
        normal_moments = _polynomial_values(powers[rows], at[1:])
        outer = normals[facets[:, edge]] * outward[:, edge, None]
        slopes_n = np.einsum("pcq,tci,ti->tpq", slopes(at[1:]), inverse, outer, optimize=True)
        rates[:, rows] -= np.einsum("t,q,jq,tpq->tjp", lengths[facets[:, edge]], share, normal_moments, slopes_n)
    on_edge = np.einsum("iq,jq,q->ij", normal_moments, normal_moments, share)
    return MomentElements(
        order=order,
        facets=facets,
        is_reversed=np.stack([mesh.t[a] > mesh.t[b] for a, b in EDGES], axis=1),
        outward=outward,
        lengths=lengths,
        normals=normals,
        products=areas[:, None, None] * shares * np.einsum("tmab,tnab->tmn", S, S),
        traces=areas[:, None, None] * shares * np.einsum("tmaa,tnbb->tmn", S, S),
        rates=rates,
        on_edge=on_edge,
        tensors=S,
        powers=powers,
    )


def _polynomials(order: int) -> tuple[IntArray, IntArray]:
    """Return the m polynomials for bending moments of degree ``order`` over a triangular plate element. The first
    array (m,) has the edge (0, 1, 2) whose constant moment tensor each polynomial multiplies. The second (m, 3)
    has the powers of the three barycentric coordinates. Polynomials with a normal moment on an edge come first,
    edge by edge; the others vanish on all edges."""
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


def _polynomial_values(powers: IntArray, points: Array) -> Array:
    """Return the values of m monomials at q points (2, q) of the reference triangle, shape (m, q). A monomial is
    given by its ``powers`` (m, 3) of the barycentric coordinates."""
    barycentric = np.vstack([1 - points[0] - points[1], points])
    return np.asarray(np.prod(barycentric ** powers[:, :, None], axis=1))


def _derivative_functions(element: Any, degree: int) -> tuple[Any, Any]:
    """Return two functions that compute the first and the second derivatives of all p shape functions of a
    scikit-fem element on the reference triangle. Both take q points, shape (2, q); the results have the shapes (p,
    2, q) and (p, 2, 2, q). The shape functions are polynomials of this ``degree``, whose coefficients follow from
    their values at a regular lattice of points."""
    powers = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    lattice = np.array(powers).T / max(degree, 1)
    count = len(powers)
    values = np.array([np.broadcast_to(element.lbasis(lattice, k)[0], count) for k in range(count)])
    coefficients = np.linalg.solve(_monomials(lattice, powers, (0, 0)).T, values.T).T

    def slopes(points: Array) -> Array:
        derivatives = [_monomials(points, powers, orders) for orders in ((1, 0), (0, 1))]
        return np.stack([coefficients @ one for one in derivatives], axis=1)

    def curvatures(points: Array) -> Array:
        xx, xy, yy = (coefficients @ _monomials(points, powers, orders) for orders in ((2, 0), (1, 1), (0, 2)))
        return np.stack([np.stack([xx, xy], axis=1), np.stack([xy, yy], axis=1)], axis=1)

    return slopes, curvatures


def _monomials(points: Array, powers: list[tuple[int, int]], orders: tuple[int, int]) -> Array:
    """Return derivatives of monomials r^i s^j at points (2, q), shape (powers, q). ``powers`` are the pairs (i, j),
    ``orders`` the orders of differentiation with respect to r and s."""
    rows = []
    for power in powers:
        row = np.ones(points.shape[1])
        for x, n, d in zip(points, power, orders, strict=True):
            factor = np.prod([n - k for k in range(d)])  # 0 where n < d
            row = row * factor * x ** max(n - d, 0)
        rows.append(row)
    return np.array(rows)


# Hybridization: each triangle has separate moments, and equal normal components are the equations of one more
# unknown, the rotation alpha = dw/dn of each edge, of order k. Moments are then eliminated triangle by triangle,
# which leaves a stiffness matrix of deflections and edge rotations.


@dataclass(frozen=True, eq=False)
class PlateMatrices:
    """Stiffness matrix of a plate of N nodes with q unknowns, and what follows from the unknowns at nodes.

    Of mixed elements, q are u, v, w of each node, then two rotations about each edge, at its ends. Nodal rotations
    are gradients of w, which follow from the rotations of an edge and from w along it: at its middle, and at
    vertices the mean over the edges there (on the rim over those of the rim).

    Attributes:
        stiffness: shape (q, q); of ``mixed_bending`` without stretching.
        unknowns: node and component of q.
        nodal: unknowns of ``plate_unknowns`` as linear functions of q, shape (5 N, q).
        moments: xx, yy, xy at each node as linear functions of q, the mean of the triangles there, shape (3 N, q)
            [N]; None: of elements with shear.
    """

    stiffness: sparse.csr_array
    unknowns: Unknowns
    nodal: sparse.csr_array
    moments: sparse.csr_array | None = None


def mixed_bending(mesh: ElementMesh, section: PlateSection) -> PlateMatrices:
    """Return stiffness matrix and unknowns of thin-plate bending on straight triangles by mixed elements (Hellan,
    Herrmann, Johnson). Bending moments are eliminated in each element. Unknowns are displacements u, v, w of all
    nodes (u and v without stiffness) and two rotations about each edge. Matrices from them to nodal displacements
    and nodal moments are included. ``section`` has thickness and stiffness."""
    moments = moment_elements(mesh.mesh, mesh.element, 1)
    stretch = section.membrane[:, 0, 0] * section.thickness**2 / 12
    ratio = section.membrane[:, 0, 1] / section.membrane[:, 0, 0]
    flexibility = 1 / (stretch * (1 - ratio**2))
    compliance = flexibility[:, None, None] * moments.compliance(ratio[:, None, None])
    rotations = np.zeros((mesh.cell_count, compliance.shape[1], 6))
    for edge in range(3):
        edge_moments, size = (
            slice(2 * edge, 2 * edge + 2),
            moments.outward[:, edge] * moments.lengths[moments.facets[:, edge]],
        )
        rotations[:, edge_moments, edge_moments] = size[:, None, None] * moments.on_edge
    rates = np.concatenate([moments.rates, rotations], axis=2)
    solution = np.linalg.solve(compliance, rates)
    blocks = rates.transpose(0, 2, 1) @ solution
    nodes, middles = 3 * mesh.node_count, np.zeros(len(moments.lengths), dtype=np.int64)
    middles[moments.facets] = mesh.element_nodes[:, 3:]
    indices = np.hstack([3 * mesh.element_nodes + 2, nodes + moments.moment_indices[:, :6]])
    stiffness = assembled([(indices, blocks)], nodes + 2 * len(middles))
    node = np.concatenate([np.repeat(np.arange(mesh.node_count), 3), np.repeat(middles, 2)])
    component = np.concatenate([np.tile(np.arange(3), mesh.node_count), np.full(2 * len(middles), LOCAL_ROTATION)])
    axes = np.zeros((len(node), 3))
    axes[nodes:, 0] = np.repeat(moments.normals[:, 1], 2)
    axes[nodes:, 1] = -np.repeat(moments.normals[:, 0], 2)
    unknowns = Unknowns(3, node, component, mesh.nodes[node], axes)
    nodal = _unknown_matrix(mesh, moments, middles)
    return PlateMatrices(stiffness, unknowns, nodal, _moment_matrix(mesh, moments, solution, indices, len(node)))


def _moment_matrix(
    mesh: ElementMesh, moments: MomentElements, solution: Array, unknown_indices: IntArray, size: int
) -> sparse.csr_array:
    """Return the sparse matrix (3 N, q) that computes bending moments xx, yy, xy [N] at a plate's N nodes from its
    q unknowns. At a node, the moments of adjacent triangles are averaged with equal weights. ``solution`` has the
    moment coefficients of each triangle per unit of its unknowns, ``unknown_indices`` the global indices of these;
    ``size`` is q."""
    values = _polynomial_values(moments.powers, np.asarray(mesh.element.doflocs).T)  # (m, nodes)
    tensors = moments.tensors[:, :, [0, 1, 0], [0, 1, 1]]  # xx, yy, xy
    share = 1 / np.bincount(mesh.element_nodes.ravel(), minlength=mesh.node_count)[mesh.element_nodes]
    blocks = -np.einsum("mk,tmc,tmp,tk->tkcp", values, tensors, solution, share, optimize=True)
    rows = np.broadcast_to((3 * mesh.element_nodes[:, :, None] + np.arange(3))[..., None], blocks.shape)
    columns = np.broadcast_to(unknown_indices[:, None, None], blocks.shape)
    entries = (blocks.ravel(), (rows.ravel(), columns.ravel()))
    return sparse.coo_array(entries, shape=(3 * mesh.node_count, size)).tocsr()


def _unknown_matrix(mesh: ElementMesh, moments: MomentElements, middles: IntArray) -> sparse.csr_array:
    """Return the sparse matrix that computes displacements u, v, w and rotations dw/dy, -dw/dx of the nodes from
    the unknowns of mixed plate elements. The shape is (5 N, 3 N + 2 edges), node by node. Unknowns are u, v, w of
    N nodes, then two rotations of each edge. Rotations are averaged over the edges at a node, at the rim over rim
    edges only. ``middles`` (edges,) are mid-edge nodes."""
    count, edges = mesh.node_count, len(middles)
    first, last = mesh.vertex_nodes[mesh.mesh.facets]
    sides = (mesh.nodes[last] - mesh.nodes[first])[:, :2] / moments.lengths[:, None] ** 2
    rotation_indices = 3 * count + 2 * np.arange(edges)
    unknowns = (rotation_indices, rotation_indices + 1, 3 * first + 2, 3 * middles + 2, 3 * last + 2)
    entries = []
    for point, shares in enumerate(((1, 0, -3, 4, -1), (0.5, 0.5, -1, 0, 1), (0, 1, 1, -4, 3))):
        for axis in range(2):  # dw/dx_axis = n alpha + t dw/dt at the first end, in the middle and at the last end
            vectors = moments.normals[:, axis], sides[:, axis]
            for number, (column, share) in enumerate(zip(unknowns, shares, strict=True)):
                entries.append((share * vectors[number > 1], 2 * (point * edges + np.arange(edges)) + axis, column))
    values, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
    gradients = sparse.coo_array((values, (rows, columns)), shape=(6 * edges, 3 * count + 2 * edges)).tocsr()
    at = np.concatenate([first, middles, last])
    on_rim, inside = np.zeros(count, dtype=bool), np.tile(mesh.mesh.f2t[1] >= 0, 3)
    on_rim[at[~inside]] = True
    used = np.flatnonzero(~(inside & on_rim[at]))
    means = sparse.coo_array(
        (1 / np.bincount(at[used], minlength=count)[at[used]], (at[used], used)), shape=(count, 3 * edges)
    )
    rotations = sparse.kron(means, sparse.csr_array([[0.0, 1.0], [-1.0, 0.0]])) @ gradients
    displacements = sparse.eye_array(3 * count, 3 * count + 2 * edges)
    all_numbers = np.arange(UNKNOWNS * count).reshape(count, UNKNOWNS)
    order = np.argsort(np.concatenate([all_numbers[:, :3].ravel(), all_numbers[:, 3:].ravel()]))
    return sparse.csr_array(sparse.vstack([displacements, rotations], format="csr")[order])
