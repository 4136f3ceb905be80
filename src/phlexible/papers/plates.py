"""Plates with velocity and resultants as states: thin ones (Hellan, Herrmann, Johnson), and with shear (29)."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import IntArray, option, positive
from phlexible.algebra.sparse import equal_diagonal, summed_blocks
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.interfaces import facets_of_group
from phlexible.bodies.flexible.mesh_matrices import PlaneState, assembled, element_materials, mass_matrix
from phlexible.bodies.flexible.moment_elements import moment_elements
from phlexible.bodies.flexible.plate_elements import UNKNOWNS, PlateTheory, plate_quadrature, plate_section
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from phlexible.bodies.material import Material
from phlexible.errors import ParameterError
from phlexible.papers.elastodynamics import boundary_of, product_matrix, velocity_stress_model
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix

if TYPE_CHECKING:
    from skfem import MeshTri


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
    """Return the linear port-Hamiltonian model of a Kirchhoff plate that bends out of its plane, with
    velocities and bending moments as states. ``mesh`` is the finite element mesh. ``youngs_modulus`` [Pa],
    ``poissons_ratio`` and ``density`` [kg/m3] are those of the material. It has a ``thickness`` [m] and
    boundaries that are ``clamped`` or ``supported``; ``order`` is that of the moments.

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
    """Return the sorted indices of the bending moment unknowns on the given mesh edges (``facets``): order +
    1 consecutive unknowns of the normal moment for each edge, where ``order`` is that of the moment elements."""
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
    """Return the linear port-Hamiltonian model of a plate with shear deformation (Mindlin) that bends out of
    its plane, with rotary inertia; states are velocities, and moments and shear forces at quadrature points.
    ``mesh`` is the finite element mesh. It has a ``material``, a ``thickness`` [m] and boundaries that are
    ``clamped`` or ``supported``; ``theory`` says whether shear deforms it.

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
    """Return the name, input unit, output unit, columns of the port matrix B and mass matrix of each port of
    a plate. The ports are body force, boundary force and boundary moment; ``nodal`` is the mass matrix of one
    unknown a node, ``moving`` the unknowns that are free. ``mesh`` is the finite element mesh. ``density`` is
    that per area."""
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
