"""Bending of plates with shear in the form (29) of Brugnoli et al. (2020): velocity and resultants as states.

With the elements of ``Plate`` (docs/theory.md, 3)::

    M dv/dt = -D^T s + B_d u_d + B_b u_b,    M_sigma ds/dt = D v

D tests the rates of curvature and shear strain at the quadrature points, where moments and shear forces live.
"""

from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, positive
from phlexible.algebra.options import option
from phlexible.bodies.flexible.interfaces import facets_of
from phlexible.bodies.flexible.mesh.assembly import assembled, mass_matrix
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.given_mesh import GivenMesh, element_mesh, given_mesh
from phlexible.bodies.flexible.mesh.materials import Plane, element_materials
from phlexible.bodies.flexible.plates.section import PlateTheory, plate_section
from phlexible.bodies.flexible.plates.strains import UNKNOWNS, plate_quadrature
from phlexible.bodies.material import Material
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock


def bending_plate(
    mesh: Any,
    material: Material,
    thickness: float,
    clamped: str | None = None,
    supported: str | None = None,
    theory: PlateTheory | str = PlateTheory.MINDLIN,
) -> LinearPHDAE:
    """A plate that bends and shears out of its plane, with rotary inertia.

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
    given = given_mesh(mesh)
    if given.kind.dimension == 3:
        raise ParameterError("mesh: a plate is made of a plane mesh, this one is solid")
    elements = element_mesh(given, 2)
    materials = element_materials(
        material, {}, elements.cell_count, 2, Plane.STRESS, positive("thickness", thickness)
    )
    section = plate_section(elements, materials, option("theory", theory, PlateTheory))
    held = np.zeros((elements.node_count, UNKNOWNS), dtype=bool)
    held[:, :2] = True
    held[_boundary_nodes("clamped", clamped, given, elements)] = True
    held[_boundary_nodes("supported", supported, given, elements), 2] = True
    moving = np.flatnonzero(~held.ravel())
    turning = section.thickness**2 / 12
    nodal = mass_matrix(elements, materials)
    mass = sparse.csr_array(sparse.kron(nodal, sparse.diags_array([1.0, 1.0, 1.0, turning, turning])))
    rates: list[tuple[Array, tuple[IntArray, IntArray]]] = []
    compliances: list[Matrix] = []
    for part in plate_quadrature(elements, section):
        e, q = part.weights.shape
        rows = part.weights[..., None, None] * part.strains[:, :, 3:]
        numbers = np.arange(e * q * 5).reshape(e, q * 5) + sum(each.shape[0] for each in compliances)
        rates.append(_placed(rows.reshape(e, q * 5, -1), numbers, part.unknowns))
        inverse = np.linalg.inv(section.stiffness[part.elements, 3:, 3:])
        blocks = part.weights[..., None, None] * inverse[:, None]
        each = np.arange(e * q + 1)
        compliances.append(sparse.bsr_array((blocks.reshape(-1, 5, 5), each[:-1], each)))
    count = sum(each.shape[0] for each in compliances)
    rate = sum(sparse.csr_array((v, ij), shape=(count, held.size)) for v, ij in rates)
    return _model(
        mass[moving][:, moving],
        sparse.block_diag(compliances, format="csr"),
        sparse.csr_array(rate)[:, moving],
        _ports(nodal, elements, moving, float(materials.density[0])),
    )


def _boundary_nodes(argument: str, name: str | None, given: GivenMesh, mesh: ElementMesh) -> IntArray:
    if name is None:
        return np.zeros(0, dtype=np.int64)
    if name not in given.facet_groups:
        known = ", ".join(given.facet_groups) or "none"
        raise ParameterError(f"{argument} must name a boundary of the mesh ({known}), got {name!r}")
    return mesh.facet_nodes(facets_of(name, name, given, mesh))


def _placed(blocks: Array, rows: IntArray, unknowns: IntArray) -> tuple[Array, tuple[IntArray, IntArray]]:
    """Entries of blocks (e, r, c) with their rows (e, r) and columns (e, c)."""
    all_rows = np.broadcast_to(rows[:, :, None], blocks.shape)
    columns = np.broadcast_to(unknowns[:, None], blocks.shape)
    return blocks.ravel(), (all_rows.ravel(), columns.ravel())


def _ports(
    nodal: Matrix, mesh: ElementMesh, moving: IntArray, density: float
) -> list[tuple[str, str, str, Matrix, Matrix]]:
    """Name, units, columns and mass of each port."""
    node, component = np.divmod(moving, UNKNOWNS)
    edges = _edge_mass(mesh)
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


def _edge_mass(mesh: ElementMesh) -> Matrix:
    """int N_a N_b over the boundary."""
    import skfem

    basis = skfem.FacetBasis(mesh.mesh, mesh.element, intorder=2 * mesh.order + 2)
    values = np.array([np.broadcast_to(np.asarray(each[0]), basis.dx.shape) for each in basis.basis])
    blocks = np.einsum("aeq,beq,eq->eab", values, values, np.asarray(basis.dx), optimize=True)
    return assembled([(np.asarray(basis.element_dofs.T, dtype=np.int64), blocks)], mesh.node_count)


def _model(
    mass: Matrix, compliance: Matrix, rate: Matrix, ports: list[tuple[str, str, str, Matrix, Matrix]]
) -> LinearPHDAE:
    v, s = mass.shape[0], compliance.shape[0]
    inputs = sparse.hstack([columns for *_, columns, _ in ports])
    return LinearPHDAE(
        descriptor=sparse.block_diag([mass, compliance]),
        structure=sparse.block_array([[None, -rate.T], [rate, None]]),
        dissipation=sparse.csr_array((v + s, v + s)),
        port_map=sparse.vstack([inputs, sparse.csr_array((s, inputs.shape[1]))]),
        states=(StateBlock("velocity", "m/s, rad/s", v), StateBlock("resultant", "N, N/m", s)),
        ports=tuple(Port(name, unit, flow, columns.shape[1], own) for name, unit, flow, columns, own in ports),
    )
