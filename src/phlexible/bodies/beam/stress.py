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

ORDER = (Measure.BEND_Z, Measure.BEND_Y, Measure.TWIST, Measure.SHEAR_Y, Measure.SHEAR_Z, Measure.STRETCH)
SIGN = {Measure.BEND_Y: -1.0}  # its state is E I_y w'', in the plane of w
COUPLED = 1e-12


def discontinuous_stress(forces: ElementForces, strain: Strain) -> StressSpace:
    """The section forces of the elements; eliminated, they give the displacement stiffness exactly.

    Coordinates in the order moment about z, (moment -M_y, torque, shear forces,) normal force, each element after
    element: values at two Gauss points where the force is linear, else one [N m, N].
    """
    elements, count, n = forces.strains.shape
    places = np.arange(elements * count).reshape(elements, count)
    order = np.concatenate([places[:, forces.coefficients_of(kind)].ravel() for kind in ORDER])
    signs = np.tile([SIGN.get(kind, 1.0) for kind in forces.kinds], elements)[order]
    compliance = np.zeros((elements * count,) * 2)
    for own, block in zip(places, forces.compliance, strict=True):
        compliance[np.ix_(own, own)] = block
    squares, factors = np.zeros((0, n)), np.zeros((elements * count, 0))
    if strain is Strain.VON_KARMAN:
        squares = forces.slopes.reshape(-1, n)
        factors = np.zeros((elements * count, len(squares)))
        factors[places[:, 0]] = np.kron(np.eye(elements), forces.factors)
    rows = forces.strains.reshape(-1, n)
    ordered = compliance[np.ix_(order, order)] * np.outer(signs, signs)
    return StressSpace(ordered, rows[order] * signs[:, None], squares, factors[order])


def hermite_stress(
    mesh: BeamMesh, basis: Array, section: AnySection, material: Material | None, strain: Strain
) -> StressSpace:
    """Nodal values and slopes of the moments, nodal values of torque and normal force.

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
        rows.append(SIGN.get(kind, 1.0) * (function.T * weights) @ fields[kind])
    n, count = basis.shape[1], sum(map(len, compliances))
    squares, factors = np.zeros((0, n)), np.zeros((count, 0))
    if strain is Strain.VON_KARMAN:
        at = mesh.fields(x, basis)
        slopes = [at.slope_y] if mesh.dimension == 2 else [at.slope_y, at.slope_z]
        squares = np.concatenate(slopes)
        factors = np.zeros((count, len(squares)))
        factors[count - linear.shape[1] :] = np.tile(linear.T * weights, len(slopes))
    return StressSpace(block_diag(*compliances), np.concatenate(rows), squares, factors)


def _cubics(mesh: BeamMesh, x: Array) -> Array:
    """Hermite functions of all nodes at x, values and slopes in turn, shape (k, 2 nodes)."""
    columns = np.stack([mesh.at_nodes(c) for c in (Component.DEFLECTION_Y, Component.SLOPE_Y)], axis=1)
    return mesh.fields(x, np.eye(mesh.size)).deflection_y[:, columns.ravel()]


def _linears(mesh: BeamMesh, x: Array) -> Array:
    """Continuous linear functions of the nodes at x, shape (k, nodes)."""
    return mesh.fields(x, np.eye(mesh.size)).axial[:, mesh.at_nodes(Component.AXIAL)]
