"""Linear elastodynamics with velocity and stress as states; 4.1 of Brugnoli et al. (2020).

(24) tested with its own functions, the divergence integrated by parts (26), (27), gives (29)::

    rho int phi phi^T dv/dt = -D^T s + B_d u_d + B_b u_b      y_d = B_d^T v,  y_b = B_b^T v
    int D^-1 psi psi^T ds/dt = D v

with velocities phi continuous and linear or quadratic (bilinear, ... on quadrilaterals and hexahedra), D the
matrix of int psi : Grad(phi), and stresses psi of their own on each element, by their values at its quadrature
points: one on linear triangles and tetrahedra, so many elsewhere that D^T M_sigma^-1 D is the stiffness of the
displacements. Inputs are the body force u_d and the traction u_b in the space of phi and of its
trace; both ports carry their mass matrices (Remark 4). Boundary parts without traction are free.

Stresses in H(div) are those of ``h_div``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, flag, option, positive, whole
from phlexible.algebra.sparse import equal_diagonal, summed_blocks
from phlexible.bodies.flexible.element_mesh import SKFEM_CELLS, ElementMesh, standard_element
from phlexible.bodies.flexible.interfaces import facets_of_group
from phlexible.bodies.flexible.mesh_matrices import PlaneState, assembled, element_materials, mass_matrix
from phlexible.bodies.flexible.moment_elements import moment_elements
from phlexible.bodies.flexible.plate_elements import UNKNOWNS, PlateTheory, plate_quadrature, plate_section
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from phlexible.bodies.material import Material
from phlexible.bodies.skin import SIX
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateGroup

if TYPE_CHECKING:
    from skfem import Mesh, MeshTet1, MeshTri, MeshTri1

DEPENDENT = 1e-10
"""Entry of an equation of symmetry, of the greatest of its vertex, that is round-off."""


@dataclass(frozen=True, eq=False)
class CornerTractions:
    """Stress functions on a mesh of T triangles or tetrahedra in d dimensions. Their unknowns are the tractions s n
    at the corners of its F facets.

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
        """Dimension d of the mesh on which these stress functions are defined: 2 for triangles, 3 for
        tetrahedra."""
        return int(self.directions.shape[2])

    @property
    def count(self) -> int:
        """Number of unknown stress components on the complete mesh: the d components of the traction at each of
        the d corners of each facet."""
        return int(self.dimension**2 * len(self.areas))

    @property
    def indices(self) -> IntArray:
        """Indices of the unknown stress components that belong to each cell of the mesh, shape (T, d (d + 1), d).
        Each stress function of a cell has d components of a traction; T is the number of cells."""
        return np.asarray(self.dimension * self.corners[..., None] + np.arange(self.dimension))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SolidInHDiv(LinearPHDAE):
    """Linear model of an elastic solid with stresses in H(div), as ``solid(..., stress="h_div")`` returns it, from
    which the stress in its cells can be read.

    Attributes:
        corner_matrix: of ``stress``, shape (T (d + 1) d d, states).
        dimension: d, 2 or 3.
    """

    corner_matrix: Matrix
    dimension: int

    def stress(self, x: Array) -> Array:
        """Return the stress tensor at the corners of all T cells of an elastic solid, shape (T, d + 1, d, d) [Pa].
        It is linear within a cell. ``x`` is the state vector of the model.

        Cells and corners are in the order of ``mesh.t``; entries kl and lk differ by what weak symmetry leaves.
        """
        d = self.dimension
        return np.asarray(self.corner_matrix @ x).reshape(-1, d + 1, d, d)


def corner_tractions(mesh: "MeshTri1 | MeshTet1") -> CornerTractions:
    """Return the stress functions of a mixed finite element method on a mesh of straight triangles or tetrahedra.
    Unknowns are traction vectors at the corners of facets, continuous from cell to cell, so that stresses are in
    H(div). The result has, for each cell and each corner of its facets, index, vertex, direction and divergence,
    and volumes and areas."""
    d, nodes = mesh.dim(), mesh.p.T
    cells, facets = mesh.t.T, mesh.facets.T
    corner = nodes[cells]  # (T, d + 1, d)
    arms = corner[:, 1:] - corner[:, :1]
    inner = np.linalg.inv(arms).transpose(0, 2, 1)
    gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)  # of each lambda
    size = np.prod(np.arange(1, d + 1))
    normals, areas = _facet_normals(nodes[facets], corner.mean(axis=1)[mesh.f2t[0]])
    corners, vertices, directions, slopes = [], [], [], []
    for side, on_side in enumerate(mesh.elem.refdom.facets):
        opposite = next(k for k in range(d + 1) if k not in on_side)
        facet = mesh.t2f[side]
        for vertex in on_side:
            index = (facets[facet] == cells[:, vertex, None]).argmax(axis=1)
            along = corner[:, opposite] - corner[:, vertex]
            along = along / np.einsum("td,td->t", along, normals[facet])[:, None]
            corners.append(d * facet + index)
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


def _facet_normals(corners: Array, inside: Array) -> tuple[Array, Array]:
    """Return the unit normals (F, d) and the areas (F,) of F facets of a simplex mesh in d dimensions with the
    given ``corners``. These are positions, shape (F, d, d) for d corners. Facets are triangles for d = 3 and edges
    for d = 2, whose areas are lengths. Normals point away from the points ``inside`` (F, d) of the neighbouring
    cells."""
    edges = corners[:, 1:] - corners[:, :1]
    if corners.shape[2] == 2:
        normals = np.stack([edges[:, 0, 1], -edges[:, 0, 0]], axis=1)
    else:
        normals = np.cross(edges[:, 0], edges[:, 1]) / 2
    areas = np.linalg.norm(normals, axis=1)
    away = np.einsum("fd,fd->f", corners[:, 0] - inside, normals)
    return normals * (np.sign(away) / areas)[:, None], areas


def compliance_matrix(stress: CornerTractions, shear: float, spherical: float, lumped: bool) -> Matrix:
    """Return the sparse compliance matrix of finite element stresses: the integrals ``int t : (s - spherical tr(s)
    I) / (2 shear)`` for all pairs of stress functions s and t. They are exact, or ``lumped`` at the vertices of
    the cells. ``shear`` and ``spherical`` are elastic constants."""
    d, same = stress.dimension, stress.vertices[:, None] == stress.vertices
    share = same / (d + 1) if lumped else (1 + same) / ((d + 1) * (d + 2))  # int lambda_i lambda_j / volume
    t = stress.directions
    blocks = np.einsum("tak,tbk,rs->tarbs", t, t, np.eye(d)) - spherical * np.einsum("tar,tbs->tarbs", t, t)
    blocks *= (stress.volumes[:, None, None] * share / (2 * shear))[:, :, None, :, None]
    numbers = stress.indices.reshape(len(t), -1)
    matrix = summed_blocks(numbers, numbers, blocks, (stress.count, stress.count))
    matrix.eliminate_zeros()
    return matrix


def divergence_matrix(stress: CornerTractions) -> Matrix:
    """Return the sparse matrix, shape (d T, stress unknowns), that gives the divergence of the stress integrated
    over each cell. Multiplied by the vector of stress unknowns it gives d components for each of T cells, cell
    after cell."""
    numbers, d = stress.indices, stress.dimension
    cells = len(numbers)
    rows = np.broadcast_to(np.arange(d * cells).reshape(cells, 1, d), numbers.shape)
    values = np.broadcast_to((stress.volumes[:, None] * stress.slopes)[..., None], numbers.shape)
    return _summed_entries(values, rows, numbers, (d * cells, stress.count))


def corner_matrix(stress: CornerTractions) -> Matrix:
    """Return the sparse matrix that, times the stress unknowns of the mesh, gives the stress tensors at all
    corners of the cells. Its shape is (T (d + 1) d d, stress unknowns) for T simplex cells with d + 1 corners in d
    dimensions; entries of a tensor are consecutive, row by row."""
    numbers, d, t = stress.indices, stress.dimension, stress.directions
    indices = (d + 1) * np.arange(len(t))[:, None] + stress.vertices
    rows = (d * (d * indices[:, :, None] + np.arange(d)))[..., None] + np.arange(d)
    values = np.broadcast_to(t[:, :, None], rows.shape)
    columns = np.broadcast_to(numbers[..., None], rows.shape)
    return _summed_entries(values, rows, columns, ((d + 1) * d * d * len(t), stress.count))


def asymmetry_matrix(stress: CornerTractions, owners: IntArray) -> Matrix:
    """Return the sparse matrix of the integrals ``int q . skew s``, which measure how far stresses s are from
    symmetric tensors. Test functions q are 1 at one vertex or in one cell, given by ``owners``; each has 1
    component in the plane, 3 in space. If the product with the stress unknowns is zero, the stress is weakly
    symmetric.

    Args:
        owners: vertex, or cell, of each function of a cell, shape (T, d (d + 1)).

    Returns:
        Shape (owners, in space 3 owners, stresses), those of an owner one after the other.
    """
    numbers, d, t = stress.indices, stress.dimension, stress.directions
    planes = [(0, 1)] if d == 2 else [(1, 2), (2, 0), (0, 1)]
    values = np.zeros((*numbers.shape, len(planes)))
    for k, (a, b) in enumerate(planes):
        values[:, :, a, k], values[:, :, b, k] = t[:, :, b], -t[:, :, a]
    values *= (stress.volumes / (d + 1))[:, None, None, None]
    rows = np.broadcast_to(len(planes) * owners[:, :, None, None] + np.arange(len(planes)), values.shape)
    columns = np.broadcast_to(numbers[..., None], values.shape)
    return _summed_entries(values, rows, columns, (len(planes) * (int(owners.max()) + 1), stress.count))


def _summed_entries(values: Array, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> Matrix:
    """Return the sparse matrix of the given ``shape`` made of ``values`` with row and column indices; all three
    arrays have one shape. Values with equal indices are added up, and zeros are left out."""
    matrix = sparse.coo_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def symmetric_stresses(asymmetry: Matrix, rotations: int) -> Matrix:
    """Return a sparse matrix N, shape (stresses, independent stresses), with ``asymmetry @ N`` = 0, by which all
    stress unknowns follow from independent ones. It is computed by Gauss-Jordan elimination vertex by vertex,
    since a stress occurs in the equations of one vertex only. ``rotations`` is the number of symmetry equations of
    a vertex, 1 in the plane and 3 in space.

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
    index = np.zeros(len(owner), dtype=np.int64)
    index[owned] = np.arange(len(owned)) - first[owner[owned]]
    equations = np.zeros((len(first) - 1, rotations, int(np.diff(first).max(initial=1))))
    equations[given.row // rotations, given.row % rotations, index[given.col]] = given.data
    pivots = _eliminate(equations)
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


def _eliminate(equations: Array) -> IntArray:
    """Solve blocks of linear equations (V, k, n), k equations for each of V vertices, by Gauss-Jordan elimination
    in place. The pivot is always the largest coefficient of all equations that have none yet. Return the pivots'
    columns (V, k), -1 for equations that depend on others (to 1e-10 of the largest coefficient). Solved equations
    have coefficient 1 at their pivot.

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
    clamped: IntArray,
    lumped: bool,
) -> SolidInHDiv:
    """Return the linear port-Hamiltonian model of an elastic solid by mixed finite elements on ``mesh``.
    Velocities are constant in each cell; tractions are continuous between cells and zero on free boundaries.
    ``clamped`` facets have prescribed velocity as an input. If ``lumped``, stress products are integrated at
    vertices and stresses are symmetric there; else the cells' rotation rates are multipliers that make stresses
    symmetric on average.

    Args:
        shear, spherical: of the strain (s - spherical tr(s) I) / (2 shear).
        depth: of a plane mesh [m], 1 in space.
        clamped: facets whose velocity is given.
        lumped: products of stresses by their values at the vertices.
    """
    stress, d = corner_tractions(mesh), mesh.dim()
    free = np.setdiff1d(mesh.boundary_facets(), clamped)
    present = np.setdiff1d(np.arange(stress.count), _stresses_of_facets(free, d))
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
    areas = sparse.diags_array(depth * stress.areas[clamped])
    boundary = sparse.kron(sparse.kron(areas, on_facet), sparse.eye_array(d), format="csr")
    traction = rows[_stresses_of_facets(clamped, d)]
    corners = corner_matrix(stress) @ rows
    v, s, r = body.shape[0], compliance.shape[0], turning.shape[0]
    ports = [Port("body force", "N/m^3", "m^4/s", v, body)]
    inputs = sparse.vstack([body, sparse.csr_array((s + r, v))])
    if len(clamped):
        b = boundary.shape[0]
        ports.append(Port("boundary velocity", "m/s", "N", b, boundary))
        moved = sparse.vstack([sparse.csr_array((v, b)), traction.T @ boundary, sparse.csr_array((r, b))])
        inputs = sparse.hstack([inputs, moved])
    states = [StateGroup("velocity", "m/s", v), StateGroup("stress", "Pa", s)]
    if r:
        states.append(StateGroup("rotation", "rad/s", r))
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


def _stresses_of_facets(facets: IntArray, dimension: int) -> IntArray:
    """Return the indices of the stress unknowns (tractions at corners) of the given mesh facets as one flat array:
    dimension^2 consecutive indices for each facet."""
    own = dimension**2
    return np.asarray(own * np.asarray(facets)[:, None] + np.arange(own)).ravel()


MIDDLE = {
    2: (np.full((2, 1), 1 / 3), np.array([1 / 2])),
    3: (np.full((3, 1), 1 / 4), np.array([1 / 6])),
}
"""The one point and the weight of a linear triangle and of a linear tetrahedron."""


class StressField(StrEnum):
    """Choice of the space of the stresses in elastodynamics: discontinuous, or with continuous tractions.

    DISCONTINUOUS: in L2, with continuous velocities. H_DIV: with velocities in L2.
    """

    DISCONTINUOUS = "discontinuous"
    H_DIV = "h_div"


def rod(
    length: float,
    elements: int,
    youngs_modulus: float,
    density: float,
    area: float = 1.0,
    is_clamped: bool = False,
) -> LinearPHDAE:
    """Return a linear port-Hamiltonian finite element model of a straight rod in longitudinal (axial) motion. It
    has linear elements of equal size for the velocity and one constant normal force per element. Inputs are body
    force and end forces. ``length`` [m], ``youngs_modulus`` [Pa], ``density`` [kg/m3] and ``area`` [m2] must be
    positive (``ParameterError``). If ``is_clamped``, the start does not move and has no port.

    States: velocity of the nodes [m/s], normal force of the elements [N]. Ports: ``body force`` [N/m]
    and ``boundary force`` [N], of both ends (outward pulling is +x at the end, -x at the start).

    Args:
        is_clamped: the start does not move and has no port.

    Raises:
        ParameterError: a parameter that is not positive.
    """
    elements = whole("elements", elements)
    size = positive("length", length) / elements
    line_density = positive("density", density) * positive("area", area)
    stiffness = positive("youngs_modulus", youngs_modulus) * area
    left, right = (sparse.eye_array(elements, elements + 1, k=k, format="csr") for k in (0, 1))
    body = size / 6 * (2 * (left.T @ left + right.T @ right) + left.T @ right + right.T @ left)
    ends = np.array([elements]) if is_clamped else np.array([0, elements])
    trace = sparse.csr_array(np.eye(elements + 1)[:, ends])
    moving = slice(1 if is_clamped else 0, None)
    body = body[moving, moving]
    return velocity_stress_model(
        mass=line_density * body,
        compliance=size / stiffness * sparse.eye_array(elements),
        rate=(right - left)[:, moving],
        states=(("velocity", "m/s"), ("stress", "N")),
        ports=[
            ("body force", "N/m", "m^2/s", body, body),
            ("boundary force", "N", "m/s", trace[moving], np.eye(len(ends))),
        ],
    )


def solid(
    mesh: "Mesh",
    youngs_modulus: float,
    poissons_ratio: float,
    density: float,
    thickness: float = 1.0,
    clamped: str | None = None,
    *,
    order: int | None = None,
    stress: StressField | str = StressField.DISCONTINUOUS,
    plane: PlaneState | str = PlaneState.STRESS,
    lumped: bool = True,
) -> LinearPHDAE:
    """Return a linear port-Hamiltonian finite element model of an elastic solid on a mesh of scikit-fem, in the
    plane or in space. Its states are velocities and stresses. The boundary ``clamped`` does not move;
    ``thickness`` [m] counts in the plane. ``stress`` selects stresses discontinuous between elements or with
    continuous tractions ("h_div"), for which ``lumped`` applies.

    With ``stress="discontinuous"``, states: velocity of the nodes, component after component at each node [m/s],
    stress at the quadrature points of the elements in Voigt order xx, yy, (zz, yz, xz,) xy [Pa]. Ports: ``body
    force`` [N/m^3] at the nodes and ``boundary traction`` [Pa] at those of the free boundary; a force per volume
    u_d has ``y_d . u_d`` as power.

    With ``stress="h_div"`` ([B] Remark 5; straight triangles or tetrahedra), states: velocity of the cells,
    component after component in each [m/s], and tractions s n at the corners of the facets that are not free [Pa],
    without those that follow from symmetry where lumped; ``model.stress(x)`` is s itself. Stresses balance in each
    cell to round-off, and nothing locks as Poisson's ratio approaches 1/2. Ports: ``body force`` [N/m^3] of the
    cells and ``boundary velocity`` [m/s] of the clamped boundary, linear on each facet: components at each of its
    corners, facet after facet by their numbers; the output has the tractions there. Exchanged (``ph.inverted``,
    not lumped), forces at these corners are the input.

    Args:
        youngs_modulus, density: [Pa], [kg/m^3].
        poissons_ratio: between -1 and 1/2, excluded.
        thickness: of a plate in its plane [m].
        clamped: name of the boundary of the mesh that does not move, with "h_div" but as its port says.
        order: of the velocities, 1 or 2; None: that of the mesh. Elements of order 1 bend too stiffly.
        stress: "discontinuous" or "h_div", whose velocities are of order 0.
        plane: "stress" or "strain", of a plane mesh.
        lumped: of "h_div": products of stresses by their values at the vertices, so that the compliance is made of
            one small block for each vertex; False: exact, with a state more, the rates of ``rotation`` [rad/s] that
            keep s weakly symmetric, one or three multipliers for each cell.

    Raises:
        ParameterError: numbers out of range, another kind of mesh, velocities of order 1 on curved cells (they
            would strain when they turn), no such boundary or, with "h_div", one that is inside of the body.
    """
    from skfem import Basis, ElementVector, FacetBasis

    if not -1 < poissons_ratio < 0.5:
        raise ParameterError(f"poissons_ratio must be between -1 and 0.5, got {poissons_ratio!r}")
    is_strain = option("plane", plane, PlaneState) is PlaneState.STRAIN
    is_lumped = flag("lumped", lumped)
    if option("stress", stress, StressField) is StressField.H_DIV:
        _check_simplices(mesh, order)
        return solid_in_h_div(
            mesh,
            shear=positive("youngs_modulus", youngs_modulus) / 2 / (1 + poissons_ratio),
            spherical=poissons_ratio if mesh.dim() == 2 and is_strain else poissons_ratio / (1 + poissons_ratio),
            density=positive("density", density),
            depth=positive("thickness", thickness) if mesh.dim() == 2 else 1.0,
            clamped=_clamped_facets(mesh, clamped),
            lumped=is_lumped,
        )
    space = _velocity_space(mesh, order)
    depth = positive("thickness", thickness) if mesh.dim() == 2 else 1.0
    element = ElementVector(space.element)
    mass = depth * product_matrix(Basis(mesh, element, intorder=space.mass_degree))
    held = boundary_of("clamped", clamped, mesh.boundaries)
    fixed = Basis(mesh, element, intorder=1).get_dofs(held).flatten()
    free = np.setdiff1d(mesh.boundary_facets(), held)
    if space.strain_degree == 0:  # the tables of scikit-fem have three points for it in a triangle
        basis = Basis(mesh, element, quadrature=MIDDLE[mesh.dim()])
    else:
        basis = Basis(mesh, element, intorder=space.strain_degree)
    touched = np.setdiff1d(basis.get_dofs(free).flatten(), fixed)
    boundary_mass = depth * product_matrix(FacetBasis(mesh, element, facets=free, intorder=space.mass_degree))
    strain, volume = _strain_matrix(basis), depth * np.asarray(basis.dx).ravel()
    components = strain.shape[0] // len(volume)
    compliance = _compliance(components, positive("youngs_modulus", youngs_modulus), poissons_ratio, is_strain)
    moving = np.setdiff1d(np.arange(basis.N), fixed)
    body = mass[moving][:, moving]
    return velocity_stress_model(
        mass=positive("density", density) * body,
        compliance=sparse.kron(sparse.diags_array(volume), compliance),
        rate=(sparse.diags_array(np.repeat(volume, components)) @ strain)[:, moving],
        states=(("velocity", "m/s"), ("stress", "Pa")),
        ports=[
            ("body force", "N/m^3", "m^4/s", body, body),
            (
                "boundary traction",
                "Pa",
                "m^3/s",
                boundary_mass[moving][:, touched],
                boundary_mass[touched][:, touched],
            ),
        ],
    )


def boundary_of(argument: str, name: str | None, groups: Mapping[str, IntArray] | None) -> IntArray:
    """Return the indices of the mesh facets in the boundary called ``name`` (key of ``groups``); an empty array for
    None, ``ParameterError`` for an unknown name. ``argument`` is the name of the user's argument in the message.

    Raises:
        ParameterError: it has none of that name.
    """
    if name is None:
        return np.zeros(0, dtype=np.int32)
    if name not in (groups or {}):
        known = ", ".join(groups or {}) or "none"
        raise ParameterError(f"{argument} must name a boundary of the mesh ({known}), got {name!r}")
    return np.asarray((groups or {})[name])


def _check_simplices(mesh: Any, order: int | None) -> None:
    """Raise ``ParameterError`` unless a scikit-fem ``mesh`` consists of straight triangles or tetrahedra (exactly
    MeshTri1 or MeshTet1) and ``order`` is None. Mixed elements with stresses in H(div) are implemented for these
    meshes alone, with one order."""
    from skfem import MeshTet1, MeshTri1

    if type(mesh) not in (MeshTri1, MeshTet1):
        raise ParameterError(
            f'mesh must be a MeshTri or MeshTet of straight cells with stress="h_div", got {type(mesh).__name__}'
        )
    if order is not None:
        raise ParameterError(f'order must be left out with stress="h_div" (velocities of order 0), got {order!r}')


def _clamped_facets(mesh: Any, clamped: str | None) -> IntArray:
    """Return the sorted indices of the mesh facets in the boundary named ``clamped``; an empty array for None.
    Raise ``ParameterError`` if some of these facets lie inside the mesh."""
    held = np.unique(boundary_of("clamped", clamped, mesh.boundaries))
    inside = np.setdiff1d(held, mesh.boundary_facets())
    if len(inside):
        raise ParameterError(
            f"clamped must name facets on the outside of the mesh, {len(inside)} of {clamped!r} lie inside"
        )
    return held


@dataclass(frozen=True)
class _Space:
    """Scalar element of the velocities, and polynomial degrees that the quadratures of strains and masses integrate
    exactly.
    """

    element: Any
    strain_degree: int
    mass_degree: int


def _velocity_space(mesh: Any, order: int | None) -> _Space:
    """Return the scikit-fem element of the velocities and the polynomial degrees to which quadratures must be
    exact for strain and for mass products. Both follow from the cell type of the ``mesh`` and the polynomial
    ``order`` of the velocities (None: the order of the mesh). Raise ``ParameterError`` for other meshes, orders
    except 1 and 2, and order 1 on curved cells."""
    name = next((each.__name__ for each in type(mesh).__mro__ if each.__name__ in SKFEM_CELLS), None)
    if name is None:
        raise ParameterError(
            "mesh must be a MeshTri, MeshQuad, MeshTet or MeshHex of scikit-fem, of order 1 or 2, got "
            f"{type(mesh).__name__}"
        )
    kind, curved = SKFEM_CELLS[name]
    chosen = curved if order is None else order
    if chosen not in (1, 2) or isinstance(chosen, bool):
        raise ParameterError(f"order must be 1 or 2, got {order!r}")
    if chosen < curved:
        raise ParameterError(
            f"order must be 2 on a {name}: velocities of order 1 would strain curved cells that turn"
        )
    strain = 2 * (chosen - 1) + (2 if curved == 2 else 0) if kind.is_simplex else 2 * chosen
    return _Space(standard_element(kind, chosen), strain, 2 * chosen + (2 if curved == 2 else 0))


def velocity_stress_model(
    mass: Matrix,
    compliance: Matrix,
    rate: Matrix,
    states: tuple[tuple[str, str], tuple[str, str]],
    ports: Sequence[tuple[str, str, str, Matrix, Matrix]],
) -> LinearPHDAE:
    """Return a linear port-Hamiltonian model without dissipation, whose states are velocities v and stresses s.
    The equations are mass dv/dt = -rate^T s + inputs and compliance ds/dt = rate v + inputs. ``states`` has names
    and units of v and s. ``ports`` has tuples of name, units of input and output, columns of the input matrix
    (missing rows are zero), and mass matrix.

    Args:
        rate: D, of the stresses.
        states: name and unit of the velocities and of the stresses.
        ports: name, units of input and output, columns of B (of the velocities, or of both) and mass.
    """
    counts = mass.shape[0], compliance.shape[0]
    size = sum(counts)
    columns = [sparse.vstack([own, sparse.csr_array((size - own.shape[0], own.shape[1]))]) for *_, own, _ in ports]
    return LinearPHDAE(
        descriptor=sparse.block_diag([mass, compliance]),
        structure=sparse.block_array([[None, -rate.T], [rate, None]]),
        dissipation=sparse.csr_array((size, size)),
        port_map=sparse.hstack(columns),
        states=tuple(StateGroup(*state, count) for state, count in zip(states, counts, strict=True)),
        ports=tuple(Port(name, unit, flow, own.shape[1], mass) for name, unit, flow, own, mass in ports),
    )


def product_matrix(basis: Any) -> Matrix:
    """Return the sparse matrix of the integrals of the products of all pairs of functions of a scikit-fem basis:
    its mass matrix for unit density."""
    from skfem import BilinearForm
    from skfem.helpers import inner

    return sparse.csr_array(BilinearForm(lambda u, v, w: inner(u, v)).assemble(basis))


def _strain_matrix(basis: Any) -> Matrix:
    """Return the sparse matrix from the N nodal displacements of a scikit-fem basis to the strains at all
    quadrature points, shape (points * components, N). Components are xx, yy, xy in the plane, xx, yy, zz, yz, xz,
    xy in space; shear strains are twice the tensor components."""
    d = basis.mesh.dim()
    pairs = ((0, 0), (1, 1), (0, 1)) if d == 2 else SIX
    gradient = np.array([np.broadcast_to(each[0].grad, (d, d, *basis.dx.shape)) for each in basis.basis])
    strains = [gradient[:, i, j] + (gradient[:, j, i] if i != j else 0.0) for i, j in pairs]  # (k, e, q) each
    blocks = np.stack(strains, axis=2).transpose(1, 3, 2, 0).reshape(basis.nelems, -1, basis.Nbfun)
    rows = np.arange(blocks.shape[0] * blocks.shape[1]).reshape(basis.nelems, -1)
    matrix = summed_blocks(rows, basis.element_dofs.T, blocks, (rows.size, basis.N))
    matrix.eliminate_zeros()
    return matrix


def _compliance(components: int, youngs_modulus: float, poissons_ratio: float, is_strain: bool) -> Array:
    """Return the elastic compliance matrix of an isotropic material in Voigt order, from stresses to strains,
    shape (components, components) [1/Pa]. There are 6 components in space, 3 in the plane, for plane strain
    (``is_strain``) or plane stress. Shear strains are doubled tensor components. ``youngs_modulus`` is in Pa."""
    if components == 3 and is_strain:
        youngs_modulus = youngs_modulus / (1 - poissons_ratio**2)
        poissons_ratio = poissons_ratio / (1 - poissons_ratio)
    normal = 2 if components == 3 else 3
    result = np.zeros((components, components))
    result[:normal, :normal] = -poissons_ratio
    result[np.arange(normal), np.arange(normal)] = 1.0
    shear = np.arange(normal, components)
    result[shear, shear] = 2 * (1 + poissons_ratio)
    return result / youngs_modulus


# Plates with velocity and resultants as states: thin ones (Hellan, Herrmann, Johnson), and with shear (29).

# Bending of thin plates with velocity and moments as states: the mixed elements of Hellan, Herrmann and Johnson.
#
# Like (29) of Brugnoli et al. (2020), with stresses in H(div div) as its Remark 5 suggests of other spaces::
#
#     rho h int phi phi^T dv/dt = -D^T m + B_d u_d + B_b u_b
#     int psi : C psi^T dm/dt = D v + B_r u_r
#
# where D is the sum over triangles of int psi : grad grad phi - int over their edges of psi_nn dphi/dn, C the
# compliance of bending. The deflection is continuous and of order k + 1, moments are of order k with normal
# components psi_nn that pass from triangle to triangle. Where psi_nn is free on the boundary the plate is clamped,
# or turns as prescribed; it is zero on supported and free edges.


def thin_plate(
    mesh: "MeshTri",
    youngs_modulus: float,
    poissons_ratio: float,
    density: float,
    thickness: float,
    clamped: str | None = None,
    supported: str | None = None,
    *,
    order: int = 1,
) -> LinearPHDAE:
    """Return the linear port-Hamiltonian model of a Kirchhoff plate in bending on a triangle ``mesh``, by mixed
    elements (Hellan, Herrmann, Johnson). States are nodal deflection velocities and bending moments of polynomial
    ``order``. The boundary ``clamped`` neither moves nor rotates (an input prescribes its rotation rate),
    ``supported`` does not move; the rest is free, with a force as input. Raise ``ParameterError`` for other meshes
    and orders.

    States: velocity of the nodes [m/s], coefficients of the bending moments [N]. Ports: ``body force`` [N/m^2] at
    the nodes that move, ``boundary force`` [N/m] at those of free edges (effective shear force with the forces at
    corners), and ``boundary rotation`` [rad/s], the rate of dw/dn of clamped edges in the space of their moments.

    Args:
        mesh: of straight triangles, with names of boundaries.
        youngs_modulus, density, thickness: [Pa], [kg/m^3], [m].
        poissons_ratio: between -1 and 1/2, excluded.
        clamped: name of the boundary that neither moves nor turns, but as its port says; None: there is none.
        supported: name of the boundary that does not move and turns freely; the rest is free.
        order: of the moments, 0, 1 or 2; frequencies converge with the power 2 (order + 1) of the triangles' size.

    Raises:
        ParameterError: numbers out of range, another kind of mesh, no such boundary, or two that share edges.
    """
    import skfem

    if not -1 < poissons_ratio < 0.5:
        raise ParameterError(f"poissons_ratio must be between -1 and 0.5, got {poissons_ratio!r}")
    if type(mesh) is not skfem.MeshTri1:
        raise ParameterError(f"mesh must be a MeshTri of straight triangles, got {type(mesh).__name__}")
    if order not in (0, 1, 2) or isinstance(order, bool):
        raise ParameterError(f"order must be 0, 1 or 2, got {order!r}")
    h = positive("thickness", thickness)
    flexibility = 12 / (positive("youngs_modulus", youngs_modulus) * h**3)
    deflection = (skfem.ElementTriP1, skfem.ElementTriP2, skfem.ElementTriP3)[order]()
    held = boundary_of("clamped", clamped, mesh.boundaries)
    resting = boundary_of("supported", supported, mesh.boundaries)
    if len(np.intersect1d(held, resting)):
        raise ParameterError(f"clamped={clamped!r} and supported={supported!r} share edges")
    loose = np.setdiff1d(mesh.boundary_facets(), np.concatenate([held, resting]))
    v, moments = skfem.Basis(mesh, deflection, intorder=2 * order + 2), moment_elements(mesh, deflection, order)
    moving = np.setdiff1d(np.arange(v.N), _dofs(v, np.concatenate([held, resting])))
    numbers = moments.moment_indices
    turning = _moments_of(held, order)
    hinged = _moments_of(np.setdiff1d(mesh.boundary_facets(), held), order)
    stressed = np.setdiff1d(np.arange(numbers.max() + 1), hinged)
    mass = product_matrix(v)[moving][:, moving]
    blocks = [(numbers, flexibility * moments.compliance(poissons_ratio))]
    compliance = assembled(blocks, numbers.max() + 1)[stressed][:, stressed]
    deflections = np.asarray(v.element_dofs.T, dtype=np.int64)
    rate = summed_blocks(numbers, deflections, moments.rates, (numbers.max() + 1, v.N))[stressed][:, moving]
    ports = [("body force", "N/m^2", "m^3/s", mass, mass)]
    if len(loose):
        edge = product_matrix(skfem.FacetBasis(mesh, deflection, facets=loose, intorder=2 * order + 2))[moving]
        touched = np.intersect1d(_dofs(v, loose), moving)
        ports.append(
            ("boundary force", "N/m", "m^2/s", edge[:, touched], edge[np.isin(moving, touched)][:, touched])
        )
    if len(held):
        own = sparse.kron(sparse.diags_array(moments.lengths[held]), moments.on_edge, format="csr")
        where = sparse.eye_array(len(stressed), format="csc")[:, np.searchsorted(stressed, turning)]
        still = sparse.csr_array((len(moving), own.shape[1]))
        ports.append(("boundary rotation", "rad/s", "N m", sparse.vstack([still, where @ own]), own))
    states = ("velocity", "m/s"), ("moment", "N")
    return velocity_stress_model(positive("density", density) * h * mass, compliance, rate, states, ports)


def _dofs(basis: Any, facets: IntArray) -> IntArray:
    """Return the indices of the unknowns (degrees of freedom) of a scikit-fem basis that lie on the given
    mesh ``facets``."""
    return np.asarray(basis.get_dofs(facets.astype(np.int32)).flatten(), dtype=np.int64)


def _moments_of(facets: IntArray, order: int) -> IntArray:
    """Return the sorted indices of the bending moment unknowns on the given mesh edges (``facets``): order + 1
    consecutive indices for each edge. The unknowns are values of the normal moment; ``order`` is that of the
    moment elements."""
    return np.asarray((order + 1) * np.sort(facets)[:, None] + np.arange(order + 1), dtype=np.int64).ravel()


# Bending of plates with shear in the form (29) of Brugnoli et al. (2020): velocity and resultants as states.
#
# With the elements of ``Plate`` (docs/theory.md, 3)::
#
#     M dv/dt = -D^T s + B_d u_d + B_b u_b,    M_sigma ds/dt = D v
#
# D tests the rates of curvature and shear strain at the quadrature points, where moments and shear forces live.


def bending_plate(
    mesh: Any,
    material: Material,
    thickness: float,
    clamped: str | None = None,
    supported: str | None = None,
    theory: PlateTheory | str = PlateTheory.MINDLIN,
) -> LinearPHDAE:
    """Return the linear port-Hamiltonian finite element model of a plate in bending with shear deformation and
    rotary inertia (Mindlin). States are velocities of nodes, and moments and shear forces at quadrature points.
    The boundary ``clamped`` neither moves nor rotates; the boundary ``supported`` has no deflection. With
    ``theory="kirchhoff"`` a high shear stiffness suppresses shear strain. ParameterError for a solid mesh or an
    unknown boundary.

    States: velocity of the nodes (deflection [m/s], rotations about x and y [rad/s], node after node), moments xx,
    yy, xy [N] and shear forces x, y [N/m] at each quadrature point. Ports: ``body force`` [N/m^2] at nodes whose
    deflection moves, ``boundary force`` [N/m] and ``boundary moment`` [N], about x and y node after node, where the
    boundary is free to follow them.

    Args:
        mesh: plane, of triangles or quadrilaterals, as of ``FlexibleBody.from_mesh``.
        thickness: [m].
        clamped: name of the boundary of the mesh that neither moves nor turns.
        supported: name of the boundary without deflection.
        theory: "mindlin" or "kirchhoff" (shear strain held at zero by a stiffness).

    Raises:
        ParameterError: numbers out of range, a solid mesh, no such boundary.
    """
    given = user_mesh(mesh)
    if given.kind.dimension == 3:
        raise ParameterError("mesh: a plate is made of a plane mesh, this one is solid")
    elements = element_mesh(given, 2)
    materials = element_materials(
        material, {}, elements.cell_count, 2, PlaneState.STRESS, positive("thickness", thickness)
    )
    section = plate_section(elements, materials, option("theory", theory, PlateTheory))
    held = np.zeros((elements.node_count, UNKNOWNS), dtype=bool)
    held[:, :2] = True
    for argument, name, components in (("clamped", clamped, slice(None)), ("supported", supported, slice(2, 3))):
        if len(boundary_of(argument, name, given.facet_groups)) and name is not None:
            held[elements.facet_nodes(facets_of_group(name, given, elements)), components] = True
    moving = np.flatnonzero(~held.ravel())
    turning = section.thickness**2 / 12
    nodal = mass_matrix(elements, materials)
    mass = sparse.csr_array(sparse.kron(nodal, sparse.diags_array([1.0, 1.0, 1.0, turning, turning])))
    rates: list[Matrix] = []
    compliances: list[Matrix] = []
    for part in plate_quadrature(elements, section):
        e, q = part.weights.shape
        rows = part.weights[..., None, None] * part.strains[:, :, 3:]
        numbers = np.arange(e * q * 5).reshape(e, q * 5)
        strains = rows.reshape(e, q * 5, -1)
        rates.append(summed_blocks(numbers, part.unknowns, strains, (numbers.size, held.size)))
        inverse = np.linalg.inv(section.stiffness[part.elements, 3:, 3:])
        blocks = part.weights[..., None, None] * inverse[:, None]
        compliances.append(equal_diagonal(blocks.reshape(-1, 5, 5)))
    return velocity_stress_model(
        mass[moving][:, moving],
        sparse.block_diag(compliances, format="csr"),
        sparse.vstack(rates, "csr")[:, moving],
        (("velocity", "m/s, rad/s"), ("resultant", "N, N/m")),
        _plate_ports(nodal, elements, moving, float(materials.density[0])),
    )


def _plate_ports(
    nodal: Matrix, mesh: ElementMesh, moving: IntArray, density: float
) -> list[tuple[str, str, str, Matrix, Matrix]]:
    """Return the ports of a plate as a list: transverse body force, transverse boundary force and boundary moment.
    Each is a tuple of name, two units (input, conjugate velocity), columns of the input matrix, and mass matrix.
    Ports without free unknowns are left out. ``nodal`` is the mass matrix with one unknown for each node,
    ``density`` the mass per area [kg/m^2], ``moving`` the free unknowns."""
    import skfem

    node, component = np.divmod(moving, UNKNOWNS)
    edges = product_matrix(skfem.FacetBasis(mesh.mesh, mesh.element, intorder=2 * mesh.order + 2))
    on_edge = np.zeros(mesh.node_count, dtype=bool)
    on_edge[mesh.facet_nodes(mesh.mesh.boundary_facets())] = True
    found = []
    for name, units, matrix, chosen in (
        ("body force", ("N/m^2", "m^3/s"), nodal / density, component == 2),
        ("boundary force", ("N/m", "m^2/s"), edges, (component == 2) & on_edge[node]),
        ("boundary moment", ("N", "m/s"), edges, (component > 2) & on_edge[node]),
    ):
        wide = sparse.csr_array(sparse.kron(matrix, sparse.eye_array(UNKNOWNS)))[moving][:, moving]
        if chosen.any():
            found.append((name, *units, wide[:, chosen], wide[chosen][:, chosen]))
    return found
