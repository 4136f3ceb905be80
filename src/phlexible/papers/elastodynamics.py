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

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, flag, option, positive
from phlexible.bodies.flexible.mesh_matrices import PlaneState
from phlexible.errors import ParameterError
from phlexible.papers.h_div import solid_in_h_div
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock

if TYPE_CHECKING:
    from skfem import Mesh

MIDDLE = {
    2: (np.full((2, 1), 1 / 3), np.array([1 / 2])),
    3: (np.full((3, 1), 1 / 4), np.array([1 / 6])),
}
"""The one point and the weight of a linear triangle and of a linear tetrahedron."""


class StressField(StrEnum):
    """DISCONTINUOUS: in L2, with continuous velocities. H_DIV: with velocities in L2."""

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
    """A rod 0 <= x <= length [m] that moves along its axis.

    States: velocity of the nodes [m/s], normal force of the elements [N]. Ports: ``body force`` [N/m]
    and ``boundary force`` [N], of both ends (outward pulling is +x at the end, -x at the start).

    Args:
        is_clamped: the start does not move and has no port.

    Raises:
        ParameterError: a parameter that is not positive.
    """
    if isinstance(elements, bool) or not isinstance(elements, int) or elements < 1:
        raise ParameterError(f"elements must be a whole number of at least 1, got {elements!r}")
    size = positive("length", length) / elements
    line_density = positive("density", density) * positive("area", area)
    stiffness = positive("youngs_modulus", youngs_modulus) * area
    left, right = (sparse.eye_array(elements, elements + 1, k=k, format="csr") for k in (0, 1))
    mass = size / 6 * (2 * (left.T @ left + right.T @ right) + left.T @ right + right.T @ left)
    moving = np.arange(1 if is_clamped else 0, elements + 1)
    ends = np.array([elements]) if is_clamped else np.array([0, elements])
    trace = sparse.csr_array(np.eye(elements + 1)[:, ends])
    return _model(
        mass=line_density * mass,
        compliance=size / stiffness * sparse.eye_array(elements),
        rate=right - left,
        body=mass,
        trace=trace,
        trace_mass=np.eye(len(ends)),
        moving=moving,
        units=("N/m", "N", "m^2/s", "m/s"),
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
    """A body of triangles or quadrilaterals, tetrahedra or hexahedra (meshes of scikit-fem).

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
            held=_held_facets(mesh, clamped),
            lumped=is_lumped,
        )
    space = _space(mesh, order)
    depth = positive("thickness", thickness) if mesh.dim() == 2 else 1.0
    element = ElementVector(space.element)
    mass = depth * _mass(Basis(mesh, element, intorder=space.mass_degree))
    if clamped is None:
        fixed, free = np.zeros(0, dtype=np.int64), mesh.boundary_facets()
    else:
        held = named_boundary("clamped", mesh, clamped)
        fixed = Basis(mesh, element, intorder=1).get_dofs(held).flatten()
        free = np.setdiff1d(mesh.boundary_facets(), held)
    if space.strain_degree == 0:  # the tables of scikit-fem have three points for it in a triangle
        basis = Basis(mesh, element, quadrature=MIDDLE[mesh.dim()])
    else:
        basis = Basis(mesh, element, intorder=space.strain_degree)
    touched = np.setdiff1d(basis.get_dofs(free).flatten(), fixed)
    boundary_mass = depth * _mass(FacetBasis(mesh, element, facets=free, intorder=space.mass_degree))
    strain, volume = _strain_matrix(basis), depth * np.asarray(basis.dx).ravel()
    components = strain.shape[0] // len(volume)
    compliance = _compliance(components, positive("youngs_modulus", youngs_modulus), poissons_ratio, is_strain)
    return _model(
        mass=positive("density", density) * mass,
        compliance=sparse.kron(sparse.diags_array(volume), compliance),
        rate=sparse.diags_array(np.repeat(volume, components)) @ strain,
        body=mass,
        trace=boundary_mass[:, touched],
        trace_mass=boundary_mass[touched][:, touched],
        moving=np.setdiff1d(np.arange(basis.N), fixed),
        units=("N/m^3", "Pa", "m^4/s", "m^3/s"),
    )


def named_boundary(argument: str, mesh: Any, name: str) -> IntArray:
    """Facets of a boundary of a mesh.

    Raises:
        ParameterError: it has none of that name.
    """
    if name not in (mesh.boundaries or {}):
        known = ", ".join(mesh.boundaries or {}) or "none"
        raise ParameterError(f"{argument} must name a boundary of the mesh ({known}), got {name!r}")
    return np.asarray(mesh.boundaries[name])


def _check_simplices(mesh: Any, order: int | None) -> None:
    from skfem import MeshTet1, MeshTri1

    if type(mesh) not in (MeshTri1, MeshTet1):
        raise ParameterError(
            f'mesh must be a MeshTri or MeshTet of straight cells with stress="h_div", got {type(mesh).__name__}'
        )
    if order is not None:
        raise ParameterError(f'order must be left out with stress="h_div" (velocities of order 0), got {order!r}')


def _held_facets(mesh: Any, clamped: str | None) -> IntArray:
    if clamped is None:
        return np.zeros(0, dtype=np.int64)
    held = np.unique(named_boundary("clamped", mesh, clamped))
    inside = np.setdiff1d(held, mesh.boundary_facets())
    if len(inside):
        raise ParameterError(
            f"clamped must name facets on the outside of the mesh, {len(inside)} of {clamped!r} lie inside"
        )
    return held


@dataclass(frozen=True)
class _Space:
    """Scalar velocities, and degrees that quadratures hold."""

    element: Any
    strain_degree: int
    mass_degree: int


def _space(mesh: Any, order: int | None) -> _Space:
    import skfem

    kinds = {
        "MeshTri1": (1, skfem.ElementTriP1, skfem.ElementTriP2),
        "MeshTri2": (2, skfem.ElementTriP1, skfem.ElementTriP2),
        "MeshQuad1": (1, skfem.ElementQuad1, skfem.ElementQuad2),
        "MeshQuad2": (2, skfem.ElementQuad1, skfem.ElementQuad2),
        "MeshTet1": (1, skfem.ElementTetP1, skfem.ElementTetP2),
        "MeshTet2": (2, skfem.ElementTetP1, skfem.ElementTetP2),
        "MeshHex1": (1, skfem.ElementHex1, skfem.ElementHex2),
        "MeshHex2": (2, skfem.ElementHex1, skfem.ElementHex2),
    }
    name = next((each.__name__ for each in type(mesh).__mro__ if each.__name__ in kinds), None)
    if name is None:
        raise ParameterError(
            "mesh must be a MeshTri, MeshQuad, MeshTet or MeshHex of scikit-fem, of order 1 or 2, got "
            f"{type(mesh).__name__}"
        )
    curved, *elements = kinds[name]
    chosen = curved if order is None else order
    if chosen not in (1, 2) or isinstance(chosen, bool):
        raise ParameterError(f"order must be 1 or 2, got {order!r}")
    if chosen < curved:
        raise ParameterError(
            f"order must be 2 on a {name}: velocities of order 1 would strain curved cells that turn"
        )
    is_simplex = name.startswith(("MeshTri", "MeshTet"))
    strain = (2 * (chosen - 1) if is_simplex else 2 * chosen) + (2 if is_simplex and curved == 2 else 0)
    return _Space(elements[chosen - 1](), strain, 2 * chosen + (2 if curved == 2 else 0))


def _model(
    mass: Matrix,
    compliance: Matrix,
    rate: Matrix,
    body: Matrix,
    trace: Matrix,
    trace_mass: Matrix,
    moving: IntArray,
    units: tuple[str, str, str, str],
) -> LinearPHDAE:
    """(29) on the velocities that move."""
    rate = sparse.csr_array(rate)[:, moving]
    mass = sparse.csr_array(mass)[moving][:, moving]
    body = sparse.csr_array(body)[moving][:, moving]
    inputs = sparse.hstack([body, sparse.csr_array(trace)[moving]])
    v, s = len(moving), rate.shape[0]
    force, traction, volume_flow, surface_flow = units
    return LinearPHDAE(
        descriptor=sparse.block_diag([mass, compliance]),
        structure=sparse.block_array([[None, -rate.T], [rate, None]]),
        dissipation=sparse.csr_array((v + s, v + s)),
        port_map=sparse.vstack([inputs, sparse.csr_array((s, inputs.shape[1]))]),
        states=(StateBlock("velocity", "m/s", v), StateBlock("stress", "N" if traction == "N" else "Pa", s)),
        ports=(
            Port("body force", force, volume_flow, v, body),
            Port(
                "boundary force" if traction == "N" else "boundary traction",
                traction,
                surface_flow,
                inputs.shape[1] - v,
                trace_mass,
            ),
        ),
    )


def _mass(basis: Any) -> Matrix:
    from skfem import BilinearForm
    from skfem.helpers import dot

    return sparse.csr_array(BilinearForm(lambda u, v, w: dot(u, v)).assemble(basis))


def _strain_matrix(basis: Any) -> Matrix:
    """Voigt strain (shear doubled) at each quadrature point, shape (points * components, N)."""
    d = basis.mesh.dim()
    pairs = [(0, 0), (1, 1), (0, 1)] if d == 2 else [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    count = basis.dx.shape[1]
    rows, columns, values = [], [], []
    points = np.arange(basis.nelems * count).reshape(-1, count)
    for k in range(basis.Nbfun):
        gradient = np.broadcast_to(basis.basis[k][0].grad, (d, d, *basis.dx.shape))
        dofs = np.repeat(basis.element_dofs[k], count)
        for place, (i, j) in enumerate(pairs):
            entry = gradient[i, j] if i == j else gradient[i, j] + gradient[j, i]
            rows.append(len(pairs) * points.ravel() + place)
            columns.append(dofs)
            values.append(entry.ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sparse.coo_array(entries, shape=(points.size * len(pairs), basis.N)).tocsr()
    matrix.eliminate_zeros()
    return matrix


def _compliance(components: int, youngs_modulus: float, poissons_ratio: float, is_strain: bool) -> Array:
    """D^-1 in Voigt order, plane stress or strain for 3 components, shape (components, components)."""
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
