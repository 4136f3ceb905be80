"""Stress spaces of a beam: section moments and forces as states.

Sections 4.3 and 6 of Brugnoli et al. (2020), in the plane and in space. The normal force with von
Karman strain works on ``u' + (v'^2 + w'^2)/2``.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.constitution import Measure, stiffness_at, strain_fields
from phlexible.bodies.beam.mesh import BeamMesh, Component
from phlexible.bodies.beam.resultants import POINTS, ElementForces
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.forms.stress_space import StressSpace
from phlexible.bodies.material import Material
from phlexible.elements.varying_section import AnySection
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import StateBlock

ORDER = (Measure.BEND_Z, Measure.BEND_Y, Measure.TWIST, Measure.SHEAR_Y, Measure.SHEAR_Z, Measure.STRETCH)
SYMBOLS = {
    Measure.BEND_Z: ("M_z", "N m"),
    Measure.BEND_Y: ("M_y", "N m"),
    Measure.TWIST: ("M_x", "N m"),
    Measure.SHEAR_Y: ("Q_y", "N"),
    Measure.SHEAR_Z: ("Q_z", "N"),
    Measure.STRETCH: ("N", "N"),
}
COUPLED = 1e-12


def discontinuous_stress(forces: ElementForces, strain: Strain) -> StressSpace:
    """The section forces of the elements; eliminated, they give the displacement stiffness exactly.

    Coordinates in the order moment about z, (moment about y, torque, shear forces,) normal force, each element
    after element: values at two Gauss points where the force is linear, else one [N m, N]. Signs are those of
    section forces (docs/conventions.md).
    """
    elements, count, n = forces.strains.shape
    places = np.arange(elements * count).reshape(elements, count)
    order = np.concatenate([places[:, forces.coefficients_of(kind)].ravel() for kind in ORDER])
    blocks = [
        StateBlock(f"{symbol} at {'element' if points == 1 else 'Gauss point'} {k}", unit, 1)
        for (symbol, unit), points in ((SYMBOLS[kind], len(forces.coefficients_of(kind))) for kind in ORDER)
        for k in range(elements * points)
    ]
    compliance = np.zeros((elements * count,) * 2)
    for own, block in zip(places, forces.compliance, strict=True):
        compliance[np.ix_(own, own)] = block
    squares, factors = np.zeros((0, n)), np.zeros((elements * count, 0))
    if strain is Strain.VON_KARMAN:
        squares = forces.slopes.reshape(-1, n)
        factors = np.zeros((elements * count, len(squares)))
        factors[places[:, 0]] = np.kron(np.eye(elements), forces.factors)
    rows = forces.strains.reshape(-1, n)
    return StressSpace(compliance[np.ix_(order, order)], rows[order], squares, factors[order], tuple(blocks))


def hermite_stress(
    mesh: BeamMesh, basis: Array, section: AnySection, material: Material | None, strain: Strain
) -> StressSpace:
    """Nodal values [N m] and slopes [N] of the moments, nodal values of torque and normal force.

    Raises:
        ParameterError: a beam with shear, or sections that couple strains.
    """
    from scipy.linalg import block_diag

    if mesh.shears:
        raise ParameterError('stress="hermite" is for beams without shear; take stress="discontinuous"')
    x, weights = mesh.gauss_points(POINTS)
    stiffness = stiffness_at(section, material, mesh.theory, x)
    fields = strain_fields(mesh.fields(x, basis))
    cubic, linear = _cubics(mesh, x), _linears(mesh, x)
    kinds = [Measure.BEND_Z, Measure.STRETCH]
    if mesh.dimension == 3:
        kinds = [Measure.BEND_Z, Measure.BEND_Y, Measure.TWIST, Measure.STRETCH]
    own = stiffness[:, kinds][:, :, kinds]
    if np.abs(own - own * np.eye(len(kinds))).max() > COUPLED * np.abs(own).max():
        raise ParameterError('stress="hermite" is for sections without couplings; take stress="discontinuous"')
    functions = [cubic if kind in (Measure.BEND_Y, Measure.BEND_Z) else linear for kind in kinds]
    compliances, rows = [], []
    for kind, function in zip(kinds, functions, strict=True):
        weighted = (function.T * weights) / stiffness[:, kind, kind]
        compliances.append(weighted @ function)
        rows.append((function.T * weights) @ fields[kind])
    n, count = basis.shape[1], sum(map(len, compliances))
    squares, factors = np.zeros((0, n)), np.zeros((count, 0))
    if strain is Strain.VON_KARMAN:
        at = mesh.fields(x, basis)
        slopes = [at.slope_y] if mesh.dimension == 2 else [at.slope_y, at.slope_z]
        squares = np.concatenate(slopes)
        factors = np.zeros((count, len(squares)))
        factors[count - linear.shape[1] :] = np.tile(linear.T * weights, len(slopes))
    blocks = tuple(block for kind in kinds for block in _nodal_blocks(mesh, kind))
    return StressSpace(block_diag(*compliances), np.concatenate(rows), squares, factors, blocks)


def _nodal_blocks(mesh: BeamMesh, kind: Measure) -> list[StateBlock]:
    """Names and units of the nodal coordinates of one stress, in their order."""
    symbol, unit = SYMBOLS[kind]
    values = [StateBlock(f"{symbol} at node {k}", unit, 1) for k in range(mesh.elements + 1)]
    if kind not in (Measure.BEND_Y, Measure.BEND_Z):
        return values
    slopes = [StateBlock(f"slope of {block.name}", "N", 1) for block in values]
    return [block for pair in zip(values, slopes, strict=True) for block in pair]


def _cubics(mesh: BeamMesh, x: Array) -> Array:
    """Hermite functions of all nodes at x, values and slopes in turn, shape (k, 2 nodes)."""
    columns = np.stack([mesh.at_nodes(c) for c in (Component.DEFLECTION_Y, Component.SLOPE_Y)], axis=1)
    return mesh.fields(x, np.eye(mesh.size)).deflection_y[:, columns.ravel()]


def _linears(mesh: BeamMesh, x: Array) -> Array:
    """Continuous linear functions of the nodes at x, shape (k, nodes)."""
    return mesh.fields(x, np.eye(mesh.size)).axial[:, mesh.at_nodes(Component.AXIAL)]
