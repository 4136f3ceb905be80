"""Strain of a beam: section forces of its elements, strain energy, stresses as states (docs/theory.md, 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import Matrix, as_array, rows_times, scaled_rows, summed_rows, vstack
from phlexible.bodies.beam.mesh import (
    BeamMesh,
    Measure,
    NodeComponent,
    section_strains,
    stiffness_at,
    strain_fields,
)
from phlexible.bodies.floating_body import StrainEnergy
from phlexible.bodies.material import Material
from phlexible.bodies.stress_space import StressSpace
from phlexible.elements.line_functions import gauss
from phlexible.elements.sections import AnySection
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import StateGroup

# Section forces of each element and the strains projected on them (docs/theory.md, 3).
#
# On an element without shear the normal force N and the torque M_x are constant and the bending moments linear;
# with shear Q_y, Q_z and M_x are linear too. Strains of the coordinates have the same degrees (but for the squares
# of the slopes), so that with functions phi of the forces r = phi c::
#
#     e = int phi^T (strains of the coordinates),  c = S e,  S = G^-1 (int phi^T D(x) phi) G^-1,  G = int phi^T phi
#
# c is the projection of D times the strains, and e.S e / 2 the energy of the displacements, also where the
# stiffness D of the sections changes along the element.

POINTS = 4  # of the strains and of the stiffness of the sections
SLOPE_POINTS = 3  # v'^2 is of degree 4


@dataclass(frozen=True, eq=False)
class ElementForces:
    """Section forces of the finite elements of one beam, with s coefficients for each element, as functions of its
    elastic coordinates.

    Attributes:
        mesh: of e elements.
        kinds: the section force that each of the s coefficients of an element belongs to, shape (s,).
        points: point of the element at which the coefficient is the value of the force, shape (s,): -1: everywhere,
            else 0 or 1, the first or the second of two Gauss points.
        stiffness: S of the elements, shape (e, s, s), symmetric, positive definite.
        strains: tested linear strains, s matrices of shape (e, n).
        slopes: v' and in space w' at Gauss points, element after element, shape (e g, n).
        factors: weights of their squares / 2 in the tested stretch, shape (g,) [m].
    """

    mesh: BeamMesh
    kinds: tuple[Measure, ...]
    points: tuple[int, ...]
    stiffness: Array
    strains: tuple[Matrix, ...]
    slopes: Matrix
    factors: Array

    @property
    def compliance(self) -> Array:
        """Compliance matrices of the e finite elements of this beam, shape (e, s, s). They are the symmetrized
        inverses of the elements' stiffness matrices and act on the s coefficients of each element's section
        forces."""
        inverse = np.linalg.inv(self.stiffness)
        return np.asarray((inverse + inverse.transpose(0, 2, 1)) / 2)

    def force_functions(self, s: Array) -> Array:
        """Return the interpolation functions of the m section-force coefficients of one element of this beam,
        shape (k, m). They are evaluated at relative positions ``s`` (k,) from 0 to 1. Each is constant, or linear
        with value 1 at one of two Gauss points and 0 at the other."""
        return _force_functions(self.points, s)

    def forces(
        self,
        x: Array,
        eta: Array,
        rates: Array | None,
        viscosity: float,
        is_quadratic: bool,
        inner: Array | None = None,
    ) -> Array:
        """Return the section forces (N, Q_y, Q_z, M_x, M_y, M_z) of this beam, shape (T, k, 6) [N, N m]. They are
        at k positions x [m] and T instants. Each element's stiffness multiplies its strains of ``eta`` (T, n),
        plus ``viscosity`` times strains of ``rates``. ``is_quadratic`` adds half the squared derivatives of
        deflection to the axial strain. Strains ``inner`` of Maxwell branches (None: none) are added.

        Args:
            rates: deta/dt, shape (T, n), for the viscous part of the stress; None: without.
            inner: shares times strains of branches, of eta and of the stretch of elements (T, n + e); None: none.
        """
        element, share = self.mesh.locate_elements(x * (1 + 1e-12))
        used, index = np.unique(element, return_inverse=True)
        moved = eta if rates is None else eta + viscosity * rates
        tested = np.stack([rows_times(rows[used], moved) for rows in self.strains], axis=2)
        if is_quadratic:
            count = len(self.factors)
            rows = self.slopes[(count * used[:, None] + np.arange(count)).ravel()]
            slopes = rows_times(rows, eta).reshape(len(eta), len(used), count)
            squares = slopes**2 / 2
            if rates is not None:
                squares = squares + viscosity * slopes * rows_times(rows, rates).reshape(slopes.shape)
            tested[:, :, 0] += squares @ self.factors
        if inner is not None:
            along = inner[:, : eta.shape[1]]
            lagging = np.stack([rows_times(rows[used], along) for rows in self.strains], axis=2)
            if is_quadratic:  # the stretch of an element has a strain of its own
                coupling = self.stiffness[used, 0, 1:] / self.stiffness[used, 0, :1]
                lagging[:, :, 0] = inner[:, eta.shape[1] :][:, used] * self.mesh.element_length
                lagging[:, :, 0] -= np.einsum("es,tes->te", coupling, lagging[:, :, 1:])
            tested = tested + lagging
        coefficients = np.einsum("esr,ter->tes", self.stiffness[used], tested, optimize=True)
        values = coefficients[:, index] * self.force_functions(share)
        result = np.zeros((len(eta), len(x), 6), dtype=values.dtype)
        for k, kind in enumerate(self.kinds):
            result[:, :, kind] += values[:, :, k]
        return result

    def coefficients_of(self, kind: Measure) -> IntArray:
        """Return the indices of the section-force coefficients of an element of this beam for one ``kind`` of
        section force. An example is the bending moment about z. There are one or two coefficients for each
        kind."""
        return np.flatnonzero(np.array(self.kinds) == kind)


def element_forces(mesh: BeamMesh, basis: Matrix, section: AnySection, material: Material | None) -> ElementForces:
    """Return the section forces of a beam's finite elements as linear functions of elastic coordinates eta, with
    stiffness matrices (``ElementForces``). Mesh coordinates are ``basis @ eta``, basis (mesh.size, n). Stiffness
    is integrated over each element by Gauss quadrature, from ``section`` and ``material`` (None for sections given
    by matrices)."""
    kinds, points, phi, *fields = _force_fields(mesh, basis)
    present = section_strains(mesh.theory, mesh.dimension)
    sections = stiffness_at(section, material, mesh.theory, mesh.gauss_points(POINTS)[0])
    stiffness = _element_stiffness(mesh, sections[:, present][:, :, present], kinds, phi)
    return ElementForces(mesh, kinds, points, (stiffness + stiffness.transpose(0, 2, 1)) / 2, *fields)


def _force_fields(mesh: BeamMesh, basis: Matrix) -> tuple[Any, ...]:
    """Return six arrays or tuples for the section forces of a beam, computed from mesh and mode ``basis`` by Gauss
    quadrature. First, for each of s force unknowns, its strain measure and Gauss point (-1: constant in an
    element). Third are interpolation functions at Gauss points (k, s), fourth s sparse matrices of integrated
    strains (elements, n). Last are the matrix of the derivatives of deflection, and quadrature weights for their
    squares."""
    present = section_strains(mesh.theory, mesh.dimension)
    constant = (Measure.STRETCH,) if mesh.has_shear else (Measure.STRETCH, Measure.TWIST)
    pairs = [(kind, point) for kind in present for point in ((-1,) if kind in constant else (0, 1))]
    kinds, points = tuple(kind for kind, _ in pairs), tuple(point for _, point in pairs)
    phi = _force_functions(points, np.tile(gauss(POINTS)[0], mesh.elements))
    weighted = phi * mesh.gauss_points(POINTS)[1][:, None]
    fields = strain_fields(mesh.fields_in_elements(mesh.gauss_positions(POINTS), basis))
    strains = tuple(summed_rows(weighted[:, k], fields[kind], POINTS) for k, kind in enumerate(kinds))
    at = mesh.fields_in_elements(mesh.gauss_positions(SLOPE_POINTS), basis)
    planes = [at.slope_y] if mesh.dimension == 2 else [at.slope_y, at.slope_z]
    order = np.arange(len(planes) * SLOPE_POINTS * mesh.elements).reshape(len(planes), mesh.elements, SLOPE_POINTS)
    slopes = vstack(*planes)[order.transpose(1, 0, 2).ravel()]
    factors = mesh.element_length * np.tile(gauss(SLOPE_POINTS)[1], len(planes))
    return kinds, points, phi, strains, slopes, factors


def _element_stiffness(mesh: BeamMesh, sections: Array, kinds: tuple[Measure, ...], phi: Array) -> Array:
    """Return the stiffness matrix of each of e beam elements for its s strain coefficients, shape (e, s, s).
    Section stiffnesses ``sections`` (k, d, d) at k Gauss points are integrated with the interpolation functions
    ``phi`` (k, s). ``kinds`` are the measures of the s strains. An additional axial strain that varies linearly
    along the element is eliminated statically, which softens tapered elements.

    The linear part of the stretch in the element is eliminated, since the constant normal force leaves it free
    (3.12): where bending or twist are coupled with stretch, a constant stretch would be too stiff.
    """
    share, weights = gauss(POINTS)
    strain_of = [list(dict.fromkeys(kinds)).index(kind) for kind in kinds]
    strain_of, count = [*strain_of, 0], len(kinds)
    functions = np.hstack([phi, np.tile(share - 0.5, mesh.elements)[:, None]])
    weighted = functions * np.tile(weights * mesh.element_length, mesh.elements)[:, None]
    entries = sections[:, strain_of][:, :, strain_of] * weighted[:, :, None] * functions[:, None, :]
    inverse = np.linalg.inv(np.equal.outer(strain_of, strain_of) * (weighted[:POINTS].T @ functions[:POINTS]))
    whole = inverse @ entries.reshape(mesh.elements, POINTS, count + 1, count + 1).sum(axis=1) @ inverse
    free = whole[:, :count, count:]
    return np.asarray(whole[:, :count, :count] - free @ free.transpose(0, 2, 1) / whole[:, count:, count:])


def _force_functions(points: tuple[int, ...], s: Array) -> Array:
    """Return the interpolation functions of p section-force coefficients of a beam element at k relative positions
    ``s`` from 0 to 1, shape (k, p). Entry -1 of ``points`` (p,) means the constant 1; 0 or 1 means the linear
    function that is 1 at that one of two Gauss points and 0 at the other."""
    first, second = gauss(2)[0]
    span = second - first
    values = {-1: np.ones_like(s), 0: (second - s) / span, 1: (s - first) / span}
    return np.stack([values[point] for point in points], axis=1)


# Strain energy of a beam: linear, or von Karman with one mean axial strain per element (docs/theory.md, 3).


class Strain(StrEnum):
    """Choice of the axial strain of a beam: linear, or with the squares of the slopes.

    LINEAR: u'. VON_KARMAN: u' + (v'^2 + w'^2)/2, which stiffens a stretched or spinning beam.
    """

    LINEAR = "linear"
    VON_KARMAN = "von_karman"


def beam_strain(forces: ElementForces, strain: Strain) -> StrainEnergy:
    """Return the strain energy of a beam as a function of its elastic coordinates, from strains and stiffnesses of
    its elements (``forces``). If ``strain`` is linear, all energy is in one stiffness matrix. For von Karman
    strain, each element has one scalar strain: axial strain, plus coupled strains, plus half the mean squared
    derivative of deflection. All other energy is in the stiffness matrix.

    Linear: all of it in the stiffness. Von Karman: e_N holds the squares of the slopes, and the energy is
    ``S_NN (e_N + sum S_No e_o / S_NN)^2 / 2 + e_o.(S_oo - S_oN S_No / S_NN) e_o / 2``: one scalar strain an
    element, divided by its length, ``eps = (1/l) int u' + (v'^2 + w'^2)/2`` plus what couples with stretch (3.7);
    pointwise strain would lock.
    """
    length = forces.mesh.element_length
    if strain is Strain.LINEAR:
        empty = forces.slopes[:0]
        stiffness = assembled_stiffness(forces.stiffness, forces.strains)
        return StrainEnergy(stiffness, empty, np.zeros(0), empty, np.zeros(0), np.zeros(0, dtype=np.int64))
    full = forces.stiffness
    stretch = full[:, 0, 0]
    coupling = full[:, 0, 1:] / stretch[:, None]
    rows = forces.strains[0]
    for couplings, other in zip(coupling.T, forces.strains[1:], strict=True):
        rows = rows + scaled_rows(couplings, other) if couplings.any() else rows
    remaining = full[:, 1:, 1:] - coupling[:, :, None] * full[:, 0, None, 1:]
    count = len(forces.factors)
    return StrainEnergy(
        stiffness=assembled_stiffness(remaining, forces.strains[1:]),
        rows=rows / length,
        weights=stretch * length**2,
        squares=forces.slopes,
        factors=np.tile(forces.factors / length, forces.mesh.elements),
        square_strain=np.repeat(np.arange(forces.mesh.elements, dtype=np.int64), count),
    )


def linear_stiffness(strain: StrainEnergy) -> Matrix:
    """Return the stiffness matrix of a strain energy at zero elastic coordinates, shape (n, n): its constant
    stiffness plus the linear parts of its weighted scalar strains."""
    return strain.stiffness + strain.rows.T @ scaled_rows(strain.weights, strain.rows)


def assembled_stiffness(stiffness: Array, strains: Sequence[Matrix]) -> Matrix:
    """Return the stiffness matrix sum_e B_e^T S_e B_e over the elements e of a beam, exactly symmetric, shape (n,
    n). Matrix i of the k ``strains``, shape (elements, n), has row i of each strain matrix B_e. ``stiffness`` has
    the S_e, shape (elements, k, k). The sum is computed as R^T R from their Cholesky factors, so S_e must be
    positive definite."""
    root = np.asarray(np.linalg.cholesky(stiffness), dtype=np.float64)
    blocks: list[Matrix] = []
    for k in range(len(strains)):
        blocks.append(scaled_rows(root[:, k, k], strains[k]))
        for j in range(k + 1, len(strains)):
            if root[:, j, k].any():
                blocks[k] = blocks[k] + scaled_rows(root[:, j, k], strains[j])
    flat = vstack(*blocks)
    return flat.T @ flat


# Stress spaces of a beam: section moments and forces as states.
#
# Sections 4.3 and 6 of Brugnoli et al. (2020), in the plane and in space. The normal force with von
# Karman strain works on ``u' + (v'^2 + w'^2)/2``.

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
    """Return a ``StressSpace`` of a beam: compliance matrix and strain matrix of section-force coefficients that
    are independent between elements. Eliminating the coefficients gives the stiffness of the displacement elements
    exactly. Coefficients are sorted by kind of force, then element. If ``strain`` is von Karman, squared
    derivatives of deflection add to the strain of the normal force. ``forces`` has the elements' matrices.

    Coordinates in the order moment about z, (moment about y, torque, shear forces,) normal force, each element
    after element: values at two Gauss points where the force is linear, else one [N m, N]. Signs are those of
    section forces (docs/conventions.md).
    """
    elements, count, n = forces.mesh.elements, len(forces.strains), forces.slopes.shape[1]
    numbers = np.arange(elements * count).reshape(elements, count)
    order = np.concatenate([numbers[:, forces.coefficients_of(kind)].ravel() for kind in ORDER])
    blocks = [
        StateGroup(f"{symbol} at {'element' if points == 1 else 'Gauss point'} {k}", unit, 1)
        for (symbol, unit), points in ((SYMBOLS[kind], len(forces.coefficients_of(kind))) for kind in ORDER)
        for k in range(elements * points)
    ]
    compliance = np.zeros((elements * count,) * 2)
    for indices, block in zip(numbers, forces.compliance, strict=True):
        compliance[np.ix_(indices, indices)] = block
    squares, factors = np.zeros((0, n)), np.zeros((elements * count, 0))
    if strain is Strain.VON_KARMAN:
        squares = as_array(forces.slopes)
        factors = np.zeros((elements * count, len(squares)))
        factors[numbers[:, 0]] = np.kron(np.eye(elements), forces.factors)
    rows = np.stack([as_array(each) for each in forces.strains], axis=1).reshape(-1, n)
    return StressSpace(compliance[np.ix_(order, order)], rows[order], squares, factors[order], tuple(blocks))


def hermite_stress(
    mesh: BeamMesh, basis: Matrix, section: AnySection, material: Material | None, strain: Strain
) -> StressSpace:
    """Return a ``StressSpace`` of a beam with section forces that are continuous at nodes. Bending moments are
    Hermite cubics (nodal values [N m] and derivatives [N]); torque and normal force are linear between nodal
    values. Compliance and strain matrix are Gauss integrals. If ``strain`` is von Karman, squared derivatives of
    deflection add to the axial strain. Raise ``ParameterError`` for a beam with shear or coupled strains.

    Raises:
        ParameterError: a beam with shear, or sections that couple strains.
    """
    from scipy.linalg import block_diag

    if mesh.has_shear:
        raise ParameterError('stress="hermite" is for beams without shear; take stress="discontinuous"')
    x, weights = mesh.gauss_points(POINTS)
    stiffness = stiffness_at(section, material, mesh.theory, x)
    basis = as_array(basis)
    fields = strain_fields(mesh.fields(x, basis))
    cubic = _hermite_functions(mesh, x)
    linear = mesh.fields(x, np.eye(mesh.size)).axial[:, mesh.at_nodes(NodeComponent.AXIAL)]
    kinds = [Measure.BEND_Z, Measure.STRETCH]
    if mesh.dimension == 3:
        kinds = [Measure.BEND_Z, Measure.BEND_Y, Measure.TWIST, Measure.STRETCH]
    sections = stiffness[:, kinds][:, :, kinds]
    if np.abs(sections - sections * np.eye(len(kinds))).max() > COUPLED * np.abs(sections).max():
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


def _nodal_blocks(mesh: BeamMesh, kind: Measure) -> list[StateGroup]:
    """Return name and unit of each stress state of one section force ``kind`` of a beam, node by node. The list
    has one ``StateGroup`` of size 1 for each state. A bending moment has a value [N m] and a derivative along the
    beam [N] at each node. A normal force, shear force or torque has only a value. ``mesh`` is the finite element
    mesh."""
    symbol, unit = SYMBOLS[kind]
    values = [StateGroup(f"{symbol} at node {k}", unit, 1) for k in range(mesh.elements + 1)]
    if kind not in (Measure.BEND_Y, Measure.BEND_Z):
        return values
    slopes = [StateGroup(f"slope of {block.name}", "N", 1) for block in values]
    return [block for pair in zip(values, slopes, strict=True) for block in pair]


def _hermite_functions(mesh: BeamMesh, x: Array) -> Array:
    """Return the cubic Hermite functions of all nodes of a beam at k positions x [m], shape (k, 2 nodes). For each
    node there are two columns: the function with unit value, then the function with unit derivative. ``mesh`` is
    the finite element mesh."""
    columns = np.stack([mesh.at_nodes(c) for c in (NodeComponent.DEFLECTION_Y, NodeComponent.SLOPE_Y)], axis=1)
    return mesh.fields(x, np.eye(mesh.size)).deflection_y[:, columns.ravel()]
