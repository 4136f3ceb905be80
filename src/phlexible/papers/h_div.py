"""Elastodynamics with stresses in H(div) and velocities in L2; Remark 5 of Brugnoli et al. (2020).

(24) tested with its own functions, the divergence left on the stress and not on the velocity::

    int rho w . dv/dt = int w . div s + int w . u_d                           y_d = int v . u_d
    int t : D^-1 ds/dt = -int v . div t - int r . skew t + int t n . u_b      y_b = int s n . u_b
    0 = int q . skew s

Rows of the stress are linear on each triangle or tetrahedron, with normal components that pass to the neighbour
(Brezzi, Douglas, Marini; in space Nedelec), velocities v are constant in a cell, and s is symmetric only weakly, by
rates of rotation r. The velocity u_b of the boundary is an input, the traction s n is zero on its other parts.

Lumped, after Ambartsumyan, Khattatov, Nordbotten, Yotov, *A multipoint stress mixed finite element method for
elasticity on simplicial grids* (2020): r is continuous and linear, and products of stresses with stresses and with
r are sums over the vertices of a cell, so that what meets at a vertex is a block by itself. From the last line one
to three stresses of each vertex follow from the others and leave with r: what stays has no multipliers, and every
stress that it holds is weakly symmetric. Not lumped, after Arnold, Falk, Winther, *Mixed finite element methods
for linear elasticity with weakly imposed symmetry* (2007): r is constant in a cell and stays as multipliers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock

if TYPE_CHECKING:
    from skfem import MeshTet1, MeshTri1

DEPENDENT = 1e-10
"""Entry of an equation of symmetry, of the greatest of its vertex, that is round-off."""


@dataclass(frozen=True, eq=False)
class CornerTractions:
    """Stresses of a mesh of triangles or tetrahedra by the tractions s n at the corners of its facets.

    Number (d f + i) d + r is component r of s n at corner i of facet f, with n outward on the boundary. A function
    is p = lambda t: lambda goes from 1 at the corner to 0 at the other vertices of a cell, t lies along the edge
    from the corner to the vertex opposite to the facet, with t . n = 1. So p . n is lambda on the facet, and 0 on
    the other facets of the cell.

    Attributes:
        corners: number of the corner of a facet, d f + i, of each function of a cell, shape (T, d (d + 1)).
        vertices: of the cell, to which these corners belong, shape (d (d + 1),).
        directions: t, shape (T, d (d + 1), d).
        slopes: div p, shape (T, d (d + 1)) [1/m].
        volumes: of the cells [m^3, in the plane m^2], shape (T,).
        areas: of the facets [m^2, in the plane m], shape (F,).
    """

    corners: IntArray
    vertices: IntArray
    directions: Array
    slopes: Array
    volumes: Array
    areas: Array

    @property
    def dimension(self) -> int:
        """Of the mesh, d."""
        return int(self.directions.shape[2])

    @property
    def count(self) -> int:
        """Of stresses."""
        return int(self.dimension**2 * len(self.areas))

    @property
    def numbers(self) -> IntArray:
        """Of the stresses of each cell, shape (T, d (d + 1), d)."""
        return np.asarray(self.dimension * self.corners[..., None] + np.arange(self.dimension))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SolidInHDiv(LinearPHDAE):
    """A model of ``solid(..., stress="h_div")``, which also knows the stress in its cells.

    Attributes:
        corner_matrix: of ``stress``, shape (T (d + 1) d d, states).
        dimension: d, 2 or 3.
    """

    corner_matrix: Matrix
    dimension: int

    def stress(self, x: Array) -> Array:
        """s at the corners of each cell, between which it is linear, shape (T, d + 1, d, d) [Pa].

        Cells and corners are in the order of ``mesh.t``; entries kl and lk differ by what weak symmetry leaves.
        """
        d = self.dimension
        return np.asarray(self.corner_matrix @ x).reshape(-1, d + 1, d, d)


def corner_tractions(mesh: "MeshTri1 | MeshTet1") -> CornerTractions:
    """Of straight triangles or tetrahedra."""
    d, places = mesh.dim(), mesh.p.T
    cells, facets = mesh.t.T, mesh.facets.T
    corner = places[cells]  # (T, d + 1, d)
    arms = corner[:, 1:] - corner[:, :1]
    inner = np.linalg.inv(arms).transpose(0, 2, 1)
    gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)  # of each lambda
    size = np.prod(np.arange(1, d + 1))
    normals, areas = _normals(places[facets], corner.mean(axis=1)[mesh.f2t[0]])
    corners, vertices, directions, slopes = [], [], [], []
    for side, on_side in enumerate(mesh.elem.refdom.facets):
        opposite = next(k for k in range(d + 1) if k not in on_side)
        facet = mesh.t2f[side]
        for vertex in on_side:
            place = (facets[facet] == cells[:, vertex, None]).argmax(axis=1)
            along = corner[:, opposite] - corner[:, vertex]
            along = along / np.einsum("td,td->t", along, normals[facet])[:, None]
            corners.append(d * facet + place)
            vertices.append(vertex)
            directions.append(along)
            slopes.append(np.einsum("td,td->t", gradients[:, vertex], along))
    return CornerTractions(
        corners=np.stack(corners, axis=1).astype(np.int64),
        vertices=np.array(vertices),
        directions=np.stack(directions, axis=1),
        slopes=np.stack(slopes, axis=1),
        volumes=np.abs(np.linalg.det(arms)) / size,
        areas=areas,
    )


def _normals(corners: Array, inside: Array) -> tuple[Array, Array]:
    """Unit normals away from a place inside (F, d), and areas, of facets with these corners (F, d, d)."""
    edges = corners[:, 1:] - corners[:, :1]
    if corners.shape[2] == 2:
        normals = np.stack([edges[:, 0, 1], -edges[:, 0, 0]], axis=1)
    else:
        normals = np.cross(edges[:, 0], edges[:, 1]) / 2
    areas = np.linalg.norm(normals, axis=1)
    away = np.einsum("fd,fd->f", corners[:, 0] - inside, normals)
    return normals * (np.sign(away) / areas)[:, None], areas


def compliance_matrix(stress: CornerTractions, shear: float, spherical: float, lumped: bool) -> Matrix:
    """int t : (s - spherical tr(s) I) / (2 shear), whole or by the values at the vertices."""
    d, same = stress.dimension, stress.vertices[:, None] == stress.vertices
    share = same / (d + 1) if lumped else (1 + same) / ((d + 1) * (d + 2))  # int lambda_i lambda_j / volume
    t = stress.directions
    blocks = np.einsum("tak,tbk,rs->tarbs", t, t, np.eye(d)) - spherical * np.einsum("tar,tbs->tarbs", t, t)
    blocks *= (stress.volumes[:, None, None] * share / (2 * shear))[:, :, None, :, None]
    numbers = stress.numbers.reshape(len(t), -1)
    size = numbers.shape[1]
    rows, columns = np.repeat(numbers, size, axis=1), np.tile(numbers, (1, size))
    return _summed(blocks, rows, columns, (stress.count, stress.count))


def divergence_matrix(stress: CornerTractions) -> Matrix:
    """int w . div s over each cell, component after component, shape (d T, stresses)."""
    numbers, d = stress.numbers, stress.dimension
    cells = len(numbers)
    rows = np.broadcast_to(np.arange(d * cells).reshape(cells, 1, d), numbers.shape)
    values = np.broadcast_to((stress.volumes[:, None] * stress.slopes)[..., None], numbers.shape)
    return _summed(values, rows, numbers, (d * cells, stress.count))


def corner_matrix(stress: CornerTractions) -> Matrix:
    """s at the corners of the cells, shape (T (d + 1) d d, stresses)."""
    numbers, d, t = stress.numbers, stress.dimension, stress.directions
    places = (d + 1) * np.arange(len(t))[:, None] + stress.vertices
    rows = (d * (d * places[:, :, None] + np.arange(d)))[..., None] + np.arange(d)
    values = np.broadcast_to(t[:, :, None], rows.shape)
    columns = np.broadcast_to(numbers[..., None], rows.shape)
    return _summed(values, rows, columns, ((d + 1) * d * d * len(t), stress.count))


def asymmetry_matrix(stress: CornerTractions, owners: IntArray) -> Matrix:
    """int q . skew s for linear s and q that are 1 at one vertex, by values at the vertices, or 1 in one cell.

    Args:
        owners: vertex, or cell, of each function of a cell, shape (T, d (d + 1)).

    Returns:
        Shape (owners, in space 3 owners, stresses), those of an owner one after the other.
    """
    numbers, d, t = stress.numbers, stress.dimension, stress.directions
    planes = [(0, 1)] if d == 2 else [(1, 2), (2, 0), (0, 1)]
    values = np.zeros((*numbers.shape, len(planes)))
    for k, (a, b) in enumerate(planes):
        values[:, :, a, k], values[:, :, b, k] = t[:, :, b], -t[:, :, a]
    values *= (stress.volumes / (d + 1))[:, None, None, None]
    rows = np.broadcast_to(len(planes) * owners[:, :, None, None] + np.arange(len(planes)), values.shape)
    columns = np.broadcast_to(numbers[..., None], values.shape)
    return _summed(values, rows, columns, (len(planes) * (int(owners.max()) + 1), stress.count))


def _summed(values: Array, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> Matrix:
    matrix = sparse.coo_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def symmetric_stresses(asymmetry: Matrix, rotations: int) -> Matrix:
    """N with ``asymmetry @ N = 0``, shape (stresses, independent stresses): all by those that are independent.

    Args:
        asymmetry: rows of a vertex one after the other, shape (vertices * rotations, stresses).
        rotations: of a vertex, 1 or 3.
    """
    given = asymmetry.tocoo()
    owner = np.full(asymmetry.shape[1], -1)  # equations of one vertex have stresses of their own
    owner[given.col] = given.row // rotations
    owned = np.argsort(owner, kind="stable")
    owned = owned[owner[owned] >= 0]
    first = np.searchsorted(owner[owned], np.arange(asymmetry.shape[0] // rotations + 1))
    place = np.zeros(len(owner), dtype=np.int64)
    place[owned] = np.arange(len(owned)) - first[owner[owned]]
    equations = np.zeros((len(first) - 1, rotations, int(np.diff(first).max(initial=1))))
    equations[given.row // rotations, given.row % rotations, place[given.col]] = given.data
    pivots = _solved(equations)
    vertex, row = np.nonzero(pivots >= 0)
    column = pivots[vertex, row]
    leaving = owned[first[vertex] + column]
    kept = np.setdiff1d(np.arange(len(owner)), leaving)
    shares = -equations[vertex, row]
    shares[np.arange(len(vertex)), column] = 0.0
    solved, column = np.nonzero(shares)
    rows = np.concatenate([kept, leaving[solved]])
    others = np.searchsorted(kept, owned[first[vertex[solved]] + column])
    columns = np.concatenate([np.arange(len(kept)), others])
    values = np.concatenate([np.ones(len(kept)), shares[solved, column]])
    return sparse.coo_array((values, (rows, columns)), shape=(len(owner), len(kept))).tocsr()


def _solved(equations: Array) -> IntArray:
    """Solves each block (V, k, n) in place for the unknowns with the greatest coefficients; these, -1: of none.

    At a corner of free facets equations may depend on each other: then there are fewer unknowns to solve for.
    """
    vertices, count, width = equations.shape
    limit = DEPENDENT * np.abs(equations).max(axis=(1, 2))
    pivots = np.full((vertices, count), -1)
    for _ in range(count):
        open_rows = np.where((pivots < 0)[:, :, None], np.abs(equations), 0.0).reshape(vertices, -1)
        found = np.flatnonzero(open_rows.max(axis=1) > limit)
        row, column = np.divmod(open_rows[found].argmax(axis=1), width)
        chosen = equations[found, row] / equations[found, row, column][:, None]
        equations[found] -= equations[found, :, column][:, :, None] * chosen[:, None]
        equations[found, :, column] = 0.0  # without round-off
        equations[found, row] = chosen
        pivots[found, row] = column
    return pivots


def solid_in_h_div(
    mesh: "MeshTri1 | MeshTet1",
    shear: float,
    spherical: float,
    density: float,
    depth: float,
    held: IntArray,
    lumped: bool,
) -> SolidInHDiv:
    """The model of ``solid``.

    Args:
        shear, spherical: of the strain (s - spherical tr(s) I) / (2 shear).
        depth: of a plane mesh [m], 1 in space.
        held: facets whose velocity is given.
        lumped: products of stresses by their values at the vertices.
    """
    stress, d = corner_tractions(mesh), mesh.dim()
    free = np.setdiff1d(mesh.boundary_facets(), held)
    present = np.setdiff1d(np.arange(stress.count), _of_facets(free, d))
    rows = sparse.eye_array(stress.count, format="csr")[:, present]  # all stresses by those of the model
    if lumped:
        asymmetry = asymmetry_matrix(stress, mesh.t.T[:, stress.vertices])
        rows = rows @ symmetric_stresses(asymmetry[:, present], 1 if d == 2 else 3)
        turning = sparse.csr_array((0, rows.shape[1]))
    else:
        each = np.broadcast_to(np.arange(len(stress.volumes))[:, None], stress.corners.shape)
        turning = depth * asymmetry_matrix(stress, each)[:, present]
    compliance = depth * (rows.T @ compliance_matrix(stress, shear, spherical, lumped) @ rows)
    divergence = depth * (divergence_matrix(stress) @ rows)
    body = sparse.diags_array(depth * np.repeat(stress.volumes, d), format="csr")
    on_facet = (1 + np.eye(d)) / (d * (d + 1))  # int lambda_i lambda_j / area
    areas = sparse.diags_array(depth * stress.areas[held])
    boundary = sparse.kron(sparse.kron(areas, on_facet), sparse.eye_array(d), format="csr")
    traction = rows[_of_facets(held, d)]
    corners = corner_matrix(stress) @ rows
    v, s, r = body.shape[0], compliance.shape[0], turning.shape[0]
    ports = [Port("body force", "N/m^3", "m^4/s", v, body)]
    inputs = sparse.vstack([body, sparse.csr_array((s + r, v))])
    if len(held):
        b = boundary.shape[0]
        ports.append(Port("boundary velocity", "m/s", "N", b, boundary))
        moved = sparse.vstack([sparse.csr_array((v, b)), traction.T @ boundary, sparse.csr_array((r, b))])
        inputs = sparse.hstack([inputs, moved])
    states = [StateBlock("velocity", "m/s", v), StateBlock("stress", "Pa", s)]
    if r:
        states.append(StateBlock("rotation", "rad/s", r))
    still = sparse.csr_array((v, r)), sparse.csr_array((r, r))
    return SolidInHDiv(
        descriptor=sparse.block_diag([density * body, compliance, still[1]]),
        structure=sparse.block_array(
            [[None, divergence, still[0]], [-divergence.T, None, -turning.T], [still[0].T, turning, still[1]]]
        ),
        dissipation=sparse.csr_array((v + s + r, v + s + r)),
        port_map=inputs,
        states=tuple(states),
        ports=tuple(ports),
        corner_matrix=sparse.hstack(
            [sparse.csr_array((corners.shape[0], v)), corners, sparse.csr_array((corners.shape[0], r))], "csr"
        ),
        dimension=d,
    )


def _of_facets(facets: IntArray, dimension: int) -> IntArray:
    """Numbers of the stresses of facets."""
    own = dimension**2
    return np.asarray(own * np.asarray(facets)[:, None] + np.arange(own)).ravel()
