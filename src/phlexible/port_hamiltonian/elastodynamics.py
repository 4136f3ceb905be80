"""Linear elastodynamics with velocity and stress as states; 4.1 of Brugnoli et al. (2020).

(24) tested with its own functions, the divergence integrated by parts (26), (27), gives (29)::

    rho int phi phi^T dv/dt = -D^T s + B_d u_d + B_b u_b      y_d = B_d^T v,  y_b = B_b^T v
    int D^-1 psi psi^T ds/dt = D v

with velocities phi continuous and linear, stresses psi constant on each element and D the matrix of
int psi : Grad(phi). Inputs are the body force u_d and the traction u_b in the space of phi and of its
trace; both ports carry their mass matrices (Remark 4). Boundary parts without traction are free.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, positive
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock

if TYPE_CHECKING:
    from skfem import Mesh


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
) -> LinearPHDAE:
    """A body of triangles (plane stress) or tetrahedra (scikit-fem's ``MeshTri``, ``MeshTet``).

    States: velocity of the vertices, component after component at each vertex [m/s], stress of the
    elements in Voigt order xx, yy, (zz, yz, xz,) xy [Pa]. Ports: ``body force`` [N/m^3] at the vertices
    and ``boundary traction`` [Pa] at those of the free boundary; a force per volume u_d has
    ``y_d . u_d`` as power.

    Args:
        youngs_modulus, density: [Pa], [kg/m^3].
        poissons_ratio: between -1 and 1/2, excluded.
        thickness: of a plate in its plane [m].
        clamped: name of the boundary of the mesh whose vertices do not move.

    Raises:
        ParameterError: numbers out of range, another kind of mesh, or no such boundary.
    """
    from skfem import Basis, ElementTetP1, ElementTriP1, ElementVector, FacetBasis, MeshTet, MeshTri

    if not -1 < poissons_ratio < 0.5:
        raise ParameterError(f"poissons_ratio must be between -1 and 0.5, got {poissons_ratio!r}")
    if not isinstance(mesh, MeshTri | MeshTet):
        raise ParameterError(f"mesh must be a MeshTri or a MeshTet, got {type(mesh).__name__}")
    depth = positive("thickness", thickness) if isinstance(mesh, MeshTri) else 1.0
    element = ElementVector(ElementTriP1() if isinstance(mesh, MeshTri) else ElementTetP1())
    basis = Basis(mesh, element)
    mass = depth * _mass(basis)
    if clamped is None:
        fixed, free = np.zeros(0, dtype=np.int64), mesh.boundary_facets()
    else:
        if clamped not in (mesh.boundaries or {}):
            known = ", ".join(mesh.boundaries or {}) or "none"
            raise ParameterError(f"clamped must name a boundary of the mesh ({known}), got {clamped!r}")
        held = np.asarray(mesh.boundaries[clamped])
        fixed = basis.get_dofs(held).flatten()
        free = np.setdiff1d(mesh.boundary_facets(), held)
    touched = np.setdiff1d(basis.get_dofs(free).flatten(), fixed)
    boundary_mass = depth * _mass(FacetBasis(mesh, element, facets=free))
    strain, volume = _strain_matrix(basis), depth * _volumes(basis)
    components = strain.shape[0] // len(volume)
    compliance = _compliance(components, positive("youngs_modulus", youngs_modulus), poissons_ratio)
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


def _volumes(basis: Any) -> Array:
    return np.asarray(basis.dx.sum(axis=1))


def _strain_matrix(basis: Any) -> Matrix:
    """Voigt strain (shear doubled) of each element, shape (elements * components, N)."""
    d = basis.mesh.dim()
    pairs = [(0, 0), (1, 1), (0, 1)] if d == 2 else [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    elements = basis.nelems
    rows, columns, values = [], [], []
    for k in range(basis.Nbfun):
        gradient = basis.basis[k][0].grad[..., 0]  # (d, d, elements), constant
        dofs = basis.element_dofs[k]
        for place, (i, j) in enumerate(pairs):
            entry = gradient[i, j] if i == j else gradient[i, j] + gradient[j, i]
            rows.append(len(pairs) * np.arange(elements) + place)
            columns.append(dofs)
            values.append(entry)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    shape = (elements * len(pairs), basis.N)
    return sparse.coo_array(entries, shape=shape).tocsr()


def _compliance(components: int, youngs_modulus: float, poissons_ratio: float) -> Array:
    """D^-1 in Voigt order, plane stress for 3 components, shape (components, components)."""
    normal = 2 if components == 3 else 3
    result = np.zeros((components, components))
    result[:normal, :normal] = -poissons_ratio
    result[np.arange(normal), np.arange(normal)] = 1.0
    shear = np.arange(normal, components)
    result[shear, shear] = 2 * (1 + poissons_ratio)
    return result / youngs_modulus
