"""Bending of thin plates with velocity and moments as states: the mixed elements of Hellan, Herrmann and Johnson.

Like (29) of Brugnoli et al. (2020), with stresses in H(div div) as its Remark 5 suggests of other spaces::

    rho h int phi phi^T dv/dt = -D^T m + B_d u_d + B_b u_b
    int psi : C psi^T dm/dt = D v + B_r u_r

where D is the sum over triangles of int psi : grad grad phi - int over their edges of psi_nn dphi/dn, C the
compliance of bending. The deflection is continuous and of order k + 1, moments are of order k with normal
components psi_nn that pass from triangle to triangle. Where psi_nn is free on the boundary the plate is clamped, or
turns as prescribed; it is zero on supported and free edges.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, positive
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.elastodynamics import named_boundary
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock

if TYPE_CHECKING:
    from skfem import MeshTri


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
    """A Kirchhoff plate that bends out of its plane (scikit-fem's ``MeshTri``).

    States: velocity of the nodes [m/s], coefficients of the bending moments [N]. Ports: ``body force`` [N/m^2] at
    the nodes that move, ``boundary force`` [N/m] at those of free edges (effective shear force with the forces at
    corners), and ``boundary rotation`` [rad/s], the rate of dw/dn of clamped edges in the space of their moments.

    Args:
        youngs_modulus, density, thickness: [Pa], [kg/m^3], [m].
        poissons_ratio: between -1 and 1/2, excluded.
        clamped: name of the boundary that neither moves nor turns, but as its port says; None: there is none.
        supported: name of the boundary that does not move and turns freely; the rest is free.
        order: of the moments, 0 or 1; frequencies converge with the power 2 (order + 1) of the triangles' size.

    Raises:
        ParameterError: numbers out of range, another kind of mesh, no such boundary, or two that share edges.
    """
    import skfem

    if not -1 < poissons_ratio < 0.5:
        raise ParameterError(f"poissons_ratio must be between -1 and 0.5, got {poissons_ratio!r}")
    if type(mesh) is not skfem.MeshTri1:
        raise ParameterError(f"mesh must be a MeshTri of straight triangles, got {type(mesh).__name__}")
    if order not in (0, 1) or isinstance(order, bool):
        raise ParameterError(f"order must be 0 or 1, got {order!r}")
    h = positive("thickness", thickness)
    flexibility = 12 / (positive("youngs_modulus", youngs_modulus) * h**3)
    deflection = skfem.ElementTriP2() if order else skfem.ElementTriP1()
    moment = skfem.ElementTriHHJ1() if order else skfem.ElementTriHHJ0()
    none = np.zeros(0, dtype=np.int64)
    held = none if clamped is None else named_boundary("clamped", mesh, clamped)
    resting = none if supported is None else named_boundary("supported", mesh, supported)
    if len(np.intersect1d(held, resting)):
        raise ParameterError(f"clamped={clamped!r} and supported={supported!r} share edges")
    loose = np.setdiff1d(mesh.boundary_facets(), np.concatenate([held, resting]))
    v, m = (skfem.Basis(mesh, each, intorder=2 * order + 2) for each in (deflection, moment))
    moving = np.setdiff1d(np.arange(v.N), _dofs(v, np.concatenate([held, resting])))
    turning = _dofs(m, held)
    stressed = np.setdiff1d(np.arange(m.N), np.setdiff1d(_dofs(m, mesh.boundary_facets()), turning))
    mass = _product(v)[moving][:, moving]
    compliance = flexibility * _compliance(m, poissons_ratio)[stressed][:, stressed]
    rate = _rate(mesh, v, m)[stressed][:, moving]
    ports = [("body force", "N/m^2", "m^3/s", mass, mass)]
    if len(loose):
        edge = _product(skfem.FacetBasis(mesh, deflection, facets=loose, intorder=2 * order + 2))[moving]
        touched = np.intersect1d(_dofs(v, loose), moving)
        ports.append(
            ("boundary force", "N/m", "m^2/s", edge[:, touched], edge[np.isin(moving, touched)][:, touched])
        )
    if len(held):
        along = _normal_product(skfem.FacetBasis(mesh, moment, facets=held, intorder=2 * order + 2))
        ports.append(("boundary rotation", "rad/s", "N m", along[stressed][:, turning], along[turning][:, turning]))
    return _model(positive("density", density) * h * mass, compliance, rate, ports)


def _model(
    mass: Matrix, compliance: Matrix, rate: Matrix, ports: list[tuple[str, str, str, Matrix, Matrix]]
) -> LinearPHDAE:
    v, m = mass.shape[0], compliance.shape[0]
    columns = []
    for name, _, _, column, _ in ports:
        empty = sparse.csr_array((m if name != "boundary rotation" else v, column.shape[1]))
        columns.append(sparse.vstack([empty, column] if name == "boundary rotation" else [column, empty]))
    return LinearPHDAE(
        descriptor=sparse.block_diag([mass, compliance]),
        structure=sparse.block_array([[None, -rate.T], [rate, None]]),
        dissipation=sparse.csr_array((v + m, v + m)),
        port_map=sparse.hstack(columns),
        states=(StateBlock("velocity", "m/s", v), StateBlock("moment", "N", m)),
        ports=tuple(Port(name, unit, flow, column.shape[1], own) for name, unit, flow, column, own in ports),
    )


def _dofs(basis: Any, facets: IntArray) -> IntArray:
    return np.asarray(basis.get_dofs(facets.astype(np.int32)).flatten(), dtype=np.int64)


def _product(basis: Any) -> Matrix:
    from skfem import BilinearForm

    return sparse.csr_array(BilinearForm(lambda u, v, w: u * v).assemble(basis))


def _compliance(basis: Any, poissons_ratio: float) -> Matrix:
    """int psi : ((1 + nu) psi - nu tr(psi) I), for a unit of flexibility."""
    from skfem import BilinearForm
    from skfem.helpers import ddot, trace

    def energy(u: Any, v: Any, w: Any) -> Any:
        return (1 + poissons_ratio) * ddot(u, v) - poissons_ratio * trace(u) * trace(v)

    return sparse.csr_array(BilinearForm(energy).assemble(basis))


def _normal_product(basis: Any) -> Matrix:
    """int psi_nn psi_nn over edges."""
    from skfem import BilinearForm
    from skfem.helpers import dot, mul

    def product(u: Any, v: Any, w: Any) -> Any:
        return dot(mul(u, w.n), w.n) * dot(mul(v, w.n), w.n)

    return sparse.csr_array(BilinearForm(product).assemble(basis))


def _rate(mesh: Any, deflection: Any, moment: Any) -> Matrix:
    """D: int psi : grad grad phi over triangles, less int psi_nn dphi/dn over the edges of each."""
    import skfem
    from skfem.helpers import dot, grad, mul

    curvature = _second_gradients(deflection)  # (k, 2, 2, e), constant
    values = np.array([np.asarray(each[0]) for each in moment.basis])  # (m, 2, 2, e, q)
    blocks = np.einsum("mabeq,kabe,eq->mke", values, curvature, moment.dx, optimize=True)
    rows = np.broadcast_to(moment.element_dofs[:, None], blocks.shape)
    columns = np.broadcast_to(deflection.element_dofs[None], blocks.shape)
    entries = (blocks.ravel(), (rows.ravel(), columns.ravel()))
    total = sparse.coo_array(entries, shape=(moment.N, deflection.N)).tocsr()

    def bend(u: Any, t: Any, w: Any) -> Any:
        return dot(mul(t, w.n), w.n) * dot(grad(u), w.n)

    order = deflection.elem.maxdeg + moment.elem.maxdeg
    inner = np.flatnonzero(mesh.f2t[1] >= 0)
    for facets, side, sign in (
        (mesh.boundary_facets(), 0, 1.0),
        (inner, 0, 1.0),
        (inner, 1, -1.0),  # the normal of a facet points out of its first triangle
    ):
        if len(facets):
            pair = [
                skfem.FacetBasis(mesh, each.elem, facets=facets, side=side, intorder=order)
                for each in (deflection, moment)
            ]
            total = total - sign * sparse.csr_array(skfem.BilinearForm(bend).assemble(*pair))
    return sparse.csr_array(total)


def _second_gradients(basis: Any) -> Array:
    """Of shape functions of at most second order on straight triangles, shape (k, 2, 2, e)."""
    import skfem

    corners = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    at = skfem.CellBasis(basis.mesh, basis.elem, quadrature=(corners, np.ones(3)))
    gradients = np.array([np.broadcast_to(each[0].grad, (2, *at.dx.shape)) for each in at.basis])  # (k, 2, e, 3)
    inverse = np.asarray(basis.mesh.mapping().invDF(corners))[..., 0]  # dX_c/dx_b, (2, 2, e)
    along = gradients[..., 1:] - gradients[..., :1]
    return np.asarray(np.einsum("kaec,cbe->kabe", along, inverse))
