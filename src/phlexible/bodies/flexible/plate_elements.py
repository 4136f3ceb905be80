"""Finite elements of plates: section, strains, mass and stiffness matrices (docs/theory.md, 3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.element_mesh import CellKind, ElementMesh
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials, assembled
from phlexible.bodies.flexible.structure import Unknowns, mesh_unknowns
from phlexible.elements.maxwell import Maxwell

# Stiffness and mass of a plate for each of its area (docs/theory.md, 3).

SHEAR_FACTOR = 5 / 6
NO_SHEAR = 1e5
"""Ratio of the penalty stiffness against shear in a Kirchhoff plate to the bending stiffness of an element."""


class PlateTheory(StrEnum):
    """Choice of the plate theory: normals to the middle surface stay normal, or shear rotates them.

    KIRCHHOFF: they stay normal to it. MINDLIN: shear rotates them.
    """

    KIRCHHOFF = "kirchhoff"
    MINDLIN = "mindlin"


class PlateElement(StrEnum):
    """Choice of the unknowns of plate elements: rotations with interpolated shear strain, or bending moments.

    SHEAR: rotations, and shear strain that is interpolated. HHJ: thin plates of triangles with moments of order 1
    as unknowns, by Hellan, Herrmann and Johnson.
    """

    SHEAR = "shear"
    HHJ = "hhj"


@dataclass(frozen=True, eq=False)
class PlateSection:
    """Thickness, stiffness and mass per area of the e finite elements of a plate.

    Attributes:
        thickness: h [m].
        membrane: stiffness, forces (xx, yy, xy) per strains (shear doubled) in plane stress, shape (e, 3, 3) [N/m].
        shear: shear force per shear strain, shape (e,) [N/m]; zero of elements without shear strain.
        density: mass per area, shape (e,) [kg/m2].
        viscosity: Kelvin-Voigt time [s].
        element: kind of the elements.
        relaxation: branches with shares of the stiffness; None: no creep.
    """

    thickness: float
    membrane: Array
    shear: Array
    density: Array
    viscosity: float
    element: PlateElement = PlateElement.SHEAR
    relaxation: Maxwell | None = None

    @property
    def bending(self) -> Array:
        """Bending stiffness of each element of this plate, moments (xx, yy, xy) per curvatures, shape (e, 3, 3) [N
        m]."""
        return self.membrane * (self.thickness**2 / 12)

    @property
    def stiffness(self) -> Array:
        """Stiffness matrix of each of e elements of this plate for strains per length and area, shape (e, 8, 8).
        The strains are 3 membrane strains, 3 curvatures and 2 transverse shear strains. These three groups are not
        coupled, since the plate is symmetric about its middle surface."""
        result = np.zeros((len(self.shear), 8, 8))
        result[:, :3, :3] = self.membrane
        result[:, 3:6, 3:6] = self.bending
        result[:, 6, 6] = result[:, 7, 7] = self.shear
        return result


def plate_section(
    mesh: ElementMesh,
    materials: ElementMaterials,
    theory: PlateTheory,
    element: PlateElement = PlateElement.SHEAR,
) -> PlateSection:
    """Return thickness, membrane stiffness, transverse shear stiffness and mass per area of the elements of a
    plate. ``materials`` has constants for plane stress, already times the thickness. In Mindlin's ``theory``,
    shear stiffness is shear modulus times thickness and shear factor. In Kirchhoff's it is a large penalty,
    proportional to bending stiffness over element area. It is zero for mixed elements (``element`` "hhj")."""
    lame, shear, h = materials.lame, materials.shear, materials.thickness
    membrane = np.zeros((len(lame), 3, 3))
    membrane[:, 0, 0] = membrane[:, 1, 1] = lame + 2 * shear
    membrane[:, 0, 1] = membrane[:, 1, 0] = lame
    membrane[:, 2, 2] = shear
    if element is PlateElement.HHJ:
        across = np.zeros(len(shear))
    elif theory is PlateTheory.MINDLIN:
        across = SHEAR_FACTOR * shear
    else:
        across = NO_SHEAR * membrane[:, 0, 0] * h**2 / 12 / _element_areas(mesh)
    return PlateSection(h, membrane, across, materials.density, materials.viscosity, element, materials.relaxation)


def _element_areas(mesh: ElementMesh) -> Array:
    """Return the area of each element of a plane mesh, shape (e,) [m2]."""
    areas = np.zeros(mesh.cell_count)
    for part in mesh.quadrature(2):
        areas[part.elements] = part.weights.sum(axis=1)
    return areas


# Transverse shear strain of plate elements, interpolated so that thin plates do not lock (docs/theory.md, 3).

GAUSS = (0.5 - 0.5 / np.sqrt(3.0), 0.5 + 0.5 / np.sqrt(3.0))


@dataclass(frozen=True, eq=False)
class ShearInterpolation:
    """Interpolation of the shear strain on the reference cell by Nedelec's elements of second order: T numbers, the
    values of functionals, determine a field.

    The gradients of the deflections of second order lie in it, so that a plate without shear strain may bend.

    Attributes:
        points: points at which the functionals evaluate fields, shape (2, P).
        functionals: t numbers sum_pa functionals[t, p, a] field_a(points_p) determine a field, shape (T, P, 2).
        is_simplex: whether the cell is the triangle.
        inverse: coefficients of the basis from these numbers, shape (T, T).
    """

    points: Array
    functionals: Array
    is_simplex: bool
    inverse: Array

    def fields(self, points: Array) -> Array:
        """Return the shear strain in a plate element at q points (2, q) of the reference cell, shape (q, 2, T).
        Column j is the strain for a unit value of degree of freedom j of T. Components are along the reference
        axes."""
        basis = _simplex_basis(points) if self.is_simplex else _quadrilateral_basis(points)
        return np.asarray(basis @ self.inverse)


def shear_interpolation(kind: CellKind) -> ShearInterpolation:
    """Return the interpolation of the transverse shear strain in triangular or quadrilateral plate elements
    (``kind``), with which thin plates do not lock. It is defined by functionals, weighted sums of strains at
    points. The result has these points and weights, and the inverse of the matrix of the functionals of the basis
    functions."""
    points, functionals = _triangle_functionals() if kind.is_simplex else _quadrilateral_functionals()
    basis = _simplex_basis(points) if kind.is_simplex else _quadrilateral_basis(points)
    inverse = np.linalg.inv(np.einsum("tpa,pam->tm", functionals, basis))
    return ShearInterpolation(points, functionals, kind.is_simplex, inverse)


def _triangle_functionals() -> tuple[Array, Array]:
    """Return points (2, P) of the reference triangle and weights (8, P, 2) of 8 functionals of the shear strain in
    a plate element. Six are the component along each of three edges at two Gauss points. Two are integrals of each
    component over the element. A functional is the sum over the P points of its weights times the two strain
    components there."""
    from skfem.quadrature import get_quadrature
    from skfem.refdom import RefTri

    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    edges = [(corners[a], corners[b] - corners[a]) for a, b in ((0, 1), (1, 2), (0, 2))]
    on_edges = np.array([first + g * along for first, along in edges for g in GAUSS])
    inner, weights = get_quadrature(RefTri, 3)
    functionals = np.zeros((8, 6 + len(weights), 2))
    for edge, (_, along) in enumerate(edges):
        functionals[2 * edge, 2 * edge] = functionals[2 * edge + 1, 2 * edge + 1] = along
    functionals[6, 6:, 0] = functionals[7, 6:, 1] = weights
    return np.hstack([on_edges.T, inner]), functionals


def _quadrilateral_functionals() -> tuple[Array, Array]:
    """Return points (2, 12) of the reference square and weights (12, 12, 2) of 12 functionals that determine the
    shear strain in a plate element. Functional t is one strain component at point t. For each of two components,
    the points are two Gauss points along its direction, at each of the positions 0, 1/2 and 1 across it."""
    points, directions = [], []
    for g in GAUSS:
        for across in (0.0, 0.5, 1.0):
            points += [(g, across), (across, g)]
            directions += [(1.0, 0.0), (0.0, 1.0)]
    functionals = np.zeros((12, 12, 2))
    functionals[np.arange(12), np.arange(12)] = directions
    return np.array(points).T, functionals


def _simplex_basis(points: Array) -> Array:
    """Return the 8 basis functions of the shear strain in a triangular plate element at q points (r, s), given as
    (2, q); shape (q, 2, 8). They are the 6 linear fields and the vector (-s, r) times r and times s."""
    r, s = points
    one, none = np.ones_like(r), np.zeros_like(r)
    first = [one, r, s, none, none, none, -r * s, -s * s]
    second = [none, none, none, one, r, s, r * r, r * s]
    return np.stack([np.stack(first, axis=1), np.stack(second, axis=1)], axis=1)


def _quadrilateral_basis(points: Array) -> Array:
    """Return the 12 basis functions of the shear strain in a quadrilateral plate element at q points (2, q), shape
    (q, 2, 12). The points are in the reference square. Six functions r^i s^j are for the first component, linear
    in r and quadratic in s. The other six are for the second component, quadratic in r and linear in s."""
    r, s = points
    none = [np.zeros_like(r)] * 6
    first = [r**i * s**j for i in range(2) for j in range(3)]
    second = [r**j * s**i for i in range(2) for j in range(3)]
    return np.stack([np.stack(first + none, axis=1), np.stack(none + second, axis=1)], axis=1)


# Strains of plate elements: membrane, curvature and shear (docs/theory.md, 3).
#
# Unknowns of a node are its displacements u, v, w and its rotations about x and y; points at height z move by
# u + z d with d = (theta_y, -theta_x, 0).

UNKNOWNS = 5
"""Number of unknowns of a node."""
DEGREE = 4
"""Polynomial degree that quadratures of the strain energy integrate exactly on straight cells."""
CHUNK = 4_000_000  # entries of strain matrices that are stored at the same time


@dataclass(frozen=True, eq=False)
class PlateQuadrature:
    """Strains of e plate elements with k nodes each, at their q quadrature points, per unit nodal unknowns.

    Attributes:
        elements: their numbers, shape (e,).
        unknowns: shape (e, 5 k).
        weights: area of each point, shape (e, q) [m2].
        strains: e_xx, e_yy, 2 e_xy, k_xx, k_yy, 2 k_xy, g_x, g_y of the unknowns, shape (e, q, 8, 5 k).
        values: of the shape functions, shape (q, k).
        gradients: shape (e, q, 2, k) [1/m].
    """

    elements: IntArray
    unknowns: IntArray
    weights: Array
    strains: Array
    values: Array
    gradients: Array


def plate_quadrature(mesh: ElementMesh, section: PlateSection) -> Iterator[PlateQuadrature]:
    """Yield strain matrices, shape functions with gradients, and weights of plate elements at their quadrature
    points, as a ``PlateQuadrature`` for each chunk of elements. Chunks are small enough to fit into memory.
    ``section`` has thickness and stiffness of the plate."""
    points, weights = _quadrature(mesh)
    for elements in _element_chunks(mesh):
        jacobians = _jacobians(mesh, points, elements)
        values, gradients = _shape_functions(mesh, points, jacobians)
        nodes = mesh.element_nodes[elements]
        yield PlateQuadrature(
            elements=elements,
            unknowns=(UNKNOWNS * nodes[..., None] + np.arange(UNKNOWNS)).reshape(len(elements), -1),
            weights=np.abs(np.linalg.det(jacobians)) * weights,
            strains=strain_matrices(mesh, section, elements, points),
            values=values,
            gradients=gradients,
        )


def strain_matrices(mesh: ElementMesh, section: PlateSection, elements: IntArray, points: Array) -> Array:
    """Return 3 membrane strains, 3 curvatures and 2 shear strains of plate elements per unit of their 5 k nodal
    unknowns. Their shape is (e, q, 8, 5 k), at q points (2, q) of the reference cell. Inner rotations of triangles
    are eliminated by least strain energy, with the stiffness of ``section``."""
    shear = shear_interpolation(mesh.kind)
    result = _nodal_strains(mesh, shear, elements, points)
    if mesh.kind.is_simplex:
        inner = _bubble_strains(mesh, shear, elements, points)
        result -= np.einsum("eqai,eij->eqaj", inner, _condensation(mesh, section, shear, elements), optimize=True)
    return result


def _quadrature(mesh: ElementMesh) -> tuple[Array, Array]:
    """Return quadrature points (2, q) and weights (q,) of the reference cell for the strain energy of plate
    elements. The rule has degree 4, on curved cells 6."""
    from skfem.quadrature import get_quadrature

    points, weights = get_quadrature(mesh.mesh.elem.refdom, DEGREE + (2 if mesh.geometry_order > 1 else 0))
    return np.asarray(points), np.asarray(weights)


def _element_chunks(mesh: ElementMesh) -> Iterator[IntArray]:
    """Yield the indices of plate elements in chunks whose strain matrices fit into memory. ``mesh`` is the
    finite element mesh."""
    size = max(1, CHUNK // (9 * 8 * UNKNOWNS * mesh.element_nodes.shape[1]))
    for first in range(0, mesh.cell_count, size):
        yield np.arange(first, min(first + size, mesh.cell_count))


def _jacobians(mesh: ElementMesh, points: Array, elements: IntArray) -> Array:
    """Return the Jacobian matrices dx_i/dX_a of e given ``elements`` of a plane mesh at q ``points`` of the
    reference cell, shape (e, q, i, a). X are coordinates of the reference cell, x coordinates of the mesh."""
    jacobians = np.asarray(mesh.mesh.mapping().DF(points, elements.astype(np.int32)))
    jacobians = np.broadcast_to(jacobians, (2, 2, len(elements), points.shape[1]))
    return np.ascontiguousarray(jacobians.transpose(2, 3, 0, 1))


def _shape_functions(mesh: ElementMesh, points: Array, jacobians: Array) -> tuple[Array, Array]:
    """Return the k nodal shape functions of e plate elements at q ``points`` of the reference cell: values (q, k)
    and gradients in mesh axes (e, q, 2, k) [1/m]. ``jacobians`` (e, q, 2, 2) are the Jacobian matrices of the map
    from reference cell to mesh."""
    functions = [mesh.element.lbasis(points, i) for i in range(mesh.element_nodes.shape[1])]
    values = np.array([np.broadcast_to(value, points.shape[1]) for value, _ in functions]).T
    slopes = np.array([np.broadcast_to(slope, points.shape) for _, slope in functions])  # (k, 2, q)
    gradients = np.einsum("eqai,kaq->eqik", np.linalg.inv(jacobians), slopes, optimize=True)
    return values, gradients


def _nodal_strains(mesh: ElementMesh, shear: ShearInterpolation, elements: IntArray, points: Array) -> Array:
    """Return 8 strains of e plate elements of k nodes per unit of their nodal unknowns, shape (e, q, 8, 5 k). They
    are three membrane strains, three curvatures and two transverse shear strains at q points (2, q) of the
    reference cell. The shear strain is interpolated by ``shear`` from functionals of the deflection's gradient and
    rotations. The inner rotations of triangles are not included."""
    jacobians = _jacobians(mesh, points, elements)
    _, gradients = _shape_functions(mesh, points, jacobians)
    strains = np.zeros((*jacobians.shape[:2], 8, UNKNOWNS * gradients.shape[3]))
    _plane_strains(strains[:, :, :3], gradients, (0, 1), (1.0, 1.0))
    _plane_strains(strains[:, :, 3:6], gradients, (4, 3), (1.0, -1.0))
    there = _jacobians(mesh, shear.points, elements)  # (e, P, i, a)
    values, _ = _shape_functions(mesh, shear.points, there)
    slopes = np.array([mesh.element.lbasis(shear.points, i)[1] for i in range(values.shape[1])])
    functionals = np.zeros((len(elements), len(shear.functionals), strains.shape[3]))
    functionals[:, :, 2::UNKNOWNS] = np.einsum("tpa,kap->tk", shear.functionals, slopes)
    rotated = np.einsum("tpa,epia,pk->ietk", shear.functionals, there, values, optimize=True)
    functionals[:, :, 4::UNKNOWNS], functionals[:, :, 3::UNKNOWNS] = rotated[0], -rotated[1]
    strains[:, :, 6:] = _in_mesh_axes(shear, points, jacobians, functionals)
    return strains


def _plane_strains(rows: Array, gradients: Array, components: tuple[int, int], signs: tuple[float, float]) -> None:
    """Write the strains xx, yy, 2 xy of a plane displacement field, per unit of the nodal unknowns of plate
    elements, into ``rows`` in place. The two components of the field are the unknowns numbered ``components`` (of
    five at a node), times ``signs``. ``gradients`` are the gradients of the shape functions [1/m]."""
    (first, second), (one, two) = components, signs
    rows[:, :, 0, first::UNKNOWNS] = one * gradients[:, :, 0]
    rows[:, :, 2, first::UNKNOWNS] = one * gradients[:, :, 1]
    rows[:, :, 1, second::UNKNOWNS] = two * gradients[:, :, 1]
    rows[:, :, 2, second::UNKNOWNS] = two * gradients[:, :, 0]


def _in_mesh_axes(shear: ShearInterpolation, points: Array, jacobians: Array, values: Array) -> Array:
    """Return the shear strains of e plate elements at q points (2, q) of the reference cell, in mesh axes, shape
    (e, q, 2, m). ``values`` (e, T, m) are m sets of the T degrees of freedom of the interpolation ``shear``;
    ``jacobians`` are the Jacobian matrices of the map from the reference cell."""
    reference = np.einsum("qat,etm->eqam", shear.fields(points), values, optimize=True)
    return np.asarray(np.swapaxes(np.linalg.inv(jacobians), 2, 3) @ reference)


def _bubble_strains(mesh: ElementMesh, shear: ShearInterpolation, elements: IntArray, points: Array) -> Array:
    """Return the strains of e triangular plate elements at q points per unit of their two inner rotations, shape
    (e, q, 8, 2). The order is membrane strains (zero), three curvatures, two shear strains. Each rotation is its
    unknown times the bubble function r s (1 - r - s) of the reference coordinates r and s. ``points`` (2, q) are
    these coordinates; ``shear`` interpolates the shear strain."""
    r, s = points
    jacobians, there = (_jacobians(mesh, each, elements) for each in (points, shear.points))
    slopes = np.array([s * (1 - 2 * r - s), r * (1 - r - 2 * s)])
    gradients = np.einsum("eqai,aq->eqi", np.linalg.inv(jacobians), slopes)
    result = np.zeros((len(elements), points.shape[1], 8, 2))
    result[:, :, 3, 1] = gradients[:, :, 0]
    result[:, :, 5, 1] = gradients[:, :, 1]
    result[:, :, 4, 0] = -gradients[:, :, 1]
    result[:, :, 5, 0] = -gradients[:, :, 0]
    r, s = shear.points
    rotated = np.einsum("tpa,epia,p->iet", shear.functionals, there, r * s * (1 - r - s), optimize=True)
    result[:, :, 6:] = _in_mesh_axes(shear, points, jacobians, np.stack([-rotated[1], rotated[0]], axis=2))
    return result


def _condensation(mesh: ElementMesh, section: PlateSection, shear: ShearInterpolation, elements: IntArray) -> Array:
    """Return minus the two inner rotations of plate triangles that minimize the strain energy, per unit of each
    nodal unknown. The shape is (e, 2, 5 k) for e elements of k nodes. The result X solves the 2 x 2 systems inner
    stiffness times X = coupling, both integrated by quadrature. ``section`` has the stiffness; ``shear``
    interpolates the shear strain."""
    points, weights = _quadrature(mesh)
    areas = np.abs(np.linalg.det(_jacobians(mesh, points, elements))) * weights
    inner = _bubble_strains(mesh, shear, elements, points)
    weighted = areas[..., None, None] * (section.stiffness[elements, None] @ inner)
    inner_stiffness = np.einsum("eqai,eqaj->eij", weighted, inner, optimize=True)
    nodal = _nodal_strains(mesh, shear, elements, points)
    mixed = np.einsum("eqai,eqaj->eij", weighted, nodal, optimize=True)
    return np.asarray(np.linalg.solve(inner_stiffness, mixed))


# Mass and stiffness of a plate, and the geometric stiffness of its retained shapes (docs/theory.md, 3).


def plate_unknowns(mesh: ElementMesh) -> Unknowns:
    """Return node, component and position of each of the unknowns of a plate, five for each node of the finite
    element mesh. They are the displacements u, v, w, then the rotations about x and y, node after node."""
    return mesh_unknowns(mesh.nodes, 3, UNKNOWNS)


def plate_mass(nodal_mass: sparse.csr_array, section: PlateSection) -> sparse.csr_array:
    """Return the mass matrix of a plate with rotary inertia over its five unknowns a node, sparse, shape (5 N, 5
    N). ``nodal_mass`` (N, N) [kg] multiplies each displacement, and times thickness^2 / 12 each rotation."""
    turning = section.thickness**2 / 12
    return sparse.csr_array(sparse.kron(nodal_mass, sparse.diags_array([1.0, 1.0, 1.0, turning, turning])))


def plate_stiffness(mesh: ElementMesh, section: PlateSection) -> sparse.csr_array:
    """Return the stiffness matrix of a plate over its five unknowns a node, sparse, shape (5 N, 5 N). It sums
    membrane, bending and shear energy of all elements by quadrature. ``section`` has thickness and stiffness of the
    plate."""
    parts = []
    for part in plate_quadrature(mesh, section):
        e, q, _, k = part.strains.shape
        stress = section.stiffness[part.elements, None] @ part.strains * part.weights[..., None, None]
        flat = [matrix.reshape(e, q * 8, k) for matrix in (part.strains, stress)]
        parts.append((part.unknowns, np.swapaxes(flat[0], 1, 2) @ flat[1]))
    return assembled(parts, UNKNOWNS * mesh.node_count)


def plate_geometric_stiffness(mesh: ElementMesh, section: PlateSection, shapes: Array) -> Array:
    """Return the geometric stiffness matrices H[k, i, j] of n displacement ``shapes`` phi (5 N, n) of a plate,
    shape (n, n, n). H is the integral of the stress resultants of phi_k times the quadratic strains of phi_i and
    phi_j, symmetric in i and j. These are quadratic parts of membrane strain, curvature and shear strain.
    ``section`` has thickness and stiffness.

    Args:
        shapes: shape (5 N, n).
    """
    n = shapes.shape[1]
    result = np.zeros((n, n, n))
    for part in plate_quadrature(mesh, section):
        stress = stress_resultants(part, section, shapes) * part.weights[..., None, None]
        slopes, tilts, director = surface_gradients(part, shapes)
        forces, moments, shears = stress[:, :, :3], stress[:, :, 3:6], stress[:, :, 6:]
        tensors = _symmetric_tensors(forces), _symmetric_tensors(moments)  # (e, q, 2, 2, n)
        for k in range(n):
            force, moment = (tensor[..., k] for tensor in tensors)
            small = _work(slopes, force, slopes) + section.thickness**2 / 12 * _work(tilts, force, tilts)
            mixed = _work(slopes, moment, tilts)
            cut = np.einsum("eqa,eqcai,eqcj->ij", shears[..., k], slopes, director, optimize=True)
            result[k] += small + mixed + mixed.T + cut + cut.T
    return np.asarray((result + result.transpose(0, 2, 1)) / 2)


def stress_resultants(part: PlateQuadrature, section: PlateSection, shapes: Array) -> Array:
    """Return membrane forces, bending moments and shear forces of a plate for n displacement shapes (5 N, n)
    at the quadrature points of ``part``; shape (e, q, 8, n). ``section`` has thickness and stiffness of the
    plate."""
    strains = part.strains @ shapes[part.unknowns][:, None]
    return np.asarray(section.stiffness[part.elements, None] @ strains)


def surface_gradients(part: PlateQuadrature, shapes: Array) -> tuple[Array, Array, Array]:
    """Return gradients of displacement u and director displacement d (change of the normal vector) of n plate
    ``shapes``, each (e, q, 3, 2, n). Return also d itself, shape (e, q, 3, n). All are at the q quadrature points
    of each of e elements in ``part``. The axes are component, then direction x or y; d has no z component."""
    e, n = len(part.elements), shapes.shape[1]
    nodal = shapes[part.unknowns].reshape(e, -1, UNKNOWNS, n)
    across = np.stack([nodal[:, :, 4], -nodal[:, :, 3], np.zeros_like(nodal[:, :, 3])], axis=2)
    slopes = np.einsum("eqak,ekcn->eqcan", part.gradients, nodal[:, :, :3], optimize=True)
    tilts = np.einsum("eqak,ekcn->eqcan", part.gradients, across, optimize=True)
    director = np.einsum("qk,ekcn->eqcn", part.values, across, optimize=True)
    return slopes, tilts, director


def _symmetric_tensors(rows: Array) -> Array:
    """Return symmetric tensors (e, q, 2, 2, n) from ``rows`` (e, q, 3, n) of their components xx, yy, xy."""
    return np.stack([rows[:, :, [0, 2]], rows[:, :, [2, 1]]], axis=2)


def _work(left: Array, stress: Array, right: Array) -> Array:
    """Return the work of a stress on products of two sets of n gradients, summed over all quadrature points,
    shape (n, n). Entry (i, j) is the sum of stress_ab left_ca,i right_cb,j over component c and directions a,
    b. ``left`` and ``right`` have the shape (e, q, 3, 2, n), ``stress`` (e, q, 2, 2) includes the quadrature
    weights."""
    product = np.einsum("eqab,eqcbj->eqcaj", stress, right, optimize=True)
    n = left.shape[-1]
    return np.asarray(left.reshape(-1, n).T @ product.reshape(-1, n))


# Stretch of the middle surface that no displacement relaxes (docs/theory.md, 3).
#
# A plate that curves in two directions must stretch: by the part of its quadratic membrane strain that is no strain
# of any displacement.

SOFT = 0.1
"""Quadratic membrane strain of a shape at unit energy, relative to the largest, below which it is ignored."""
NEGLIGIBLE = 0.1
"""Unrelaxed strain at unit energy, relative to the quadratic strain before relaxation, that is left out."""


def surface_strains(
    mesh: ElementMesh, section: PlateSection, shapes: Array, frequencies: Array, relaxed: Callable[[Array], Array]
) -> Array:
    """Return quadratic membrane strains of a plate that bends in two directions, as matrices C (m, n, n). Strain k
    is eta.C_k eta / 2 for amplitudes eta of n ``shapes``. Energies of the quadratic strains, less those that
    in-plane displacements take off (``relaxed``: static response to loads), are diagonalized. Eigenvectors with
    negligible energy are left out. ``frequencies`` [rad/s] scale the shapes.

    Args:
        shapes: shape (5 N, n).
        frequencies: of the shapes, shape (n,) [rad/s].
        relaxed: function that returns displacements (5 N, k) under loads (5 N, k) without resultant.
    """
    n = shapes.shape[1]
    soft = _strained_shapes(mesh, section, shapes / frequencies)
    pairs = [(i, j) for k, i in enumerate(soft) for j in soft[k:]]
    if not pairs:
        return np.zeros((0, n, n))
    energies, loads = _quadratic_energies(mesh, section, shapes / frequencies, pairs)
    rest = energies - loads.T @ relaxed(loads)
    twice = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in pairs])
    values, vectors = np.linalg.eigh((rest + rest.T) / 2 * np.outer(twice, twice))
    scale = float((np.diag(energies) * twice**2).max())
    matrices = []
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        if value < NEGLIGIBLE**2 * scale:
            break
        matrix = np.zeros((n, n))
        for (i, j), share in zip(pairs, vector, strict=True):
            matrix[i, j] = matrix[j, i] = share if i == j else share / np.sqrt(2.0)
        matrices.append(np.sqrt(value) * frequencies[:, None] * matrix * frequencies)
    return np.array(matrices).reshape(-1, n, n)


def _strained_shapes(mesh: ElementMesh, section: PlateSection, shapes: Array) -> list[int]:
    """Return the ascending indices of those displacement shapes of a plate that have a large quadratic membrane
    strain. The strain of a shape has the products of its own deflection's derivatives, none with other shapes.
    Large means more than a tenth of the largest such strain, in the norm of the membrane energy. ``shapes`` has one
    shape in each column; ``section`` has thickness and stiffness of the plate.
    """
    energies = np.zeros(shapes.shape[1])
    for part in plate_quadrature(mesh, section):
        slopes, _, _ = surface_gradients(part, shapes)
        strain = _product_strains(slopes, slopes)
        stress = np.einsum("eab,eqbn->eqan", section.membrane[part.elements], strain, optimize=True)
        energies += np.einsum("eq,eqan,eqan->n", part.weights, stress, strain, optimize=True)
    return [int(k) for k in np.flatnonzero(np.sqrt(energies) > SOFT * np.sqrt(energies.max(initial=0.0)))]


def _quadratic_energies(
    mesh: ElementMesh, section: PlateSection, shapes: Array, pairs: list[tuple[int, int]]
) -> tuple[Array, Array]:
    """Return the mutual membrane energies [J] of the quadratic strains of all ``pairs`` of plate ``shapes``, shape
    (pairs, pairs). The strain of a pair is the symmetric product of the gradients of both deflections. Each energy
    is the integral of one pair's strain times the other's stress. Return also the nodal forces of the stress of
    each pair, shape (5 N, pairs). ``section`` has the membrane stiffness."""
    first, second = np.array(pairs).T
    energies, loads = np.zeros((len(pairs),) * 2), np.zeros((len(shapes), len(pairs)))
    for part in plate_quadrature(mesh, section):
        slopes, _, _ = surface_gradients(part, shapes)
        strain = _product_strains(slopes[..., first], slopes[..., second])
        stress = np.einsum(
            "eq,eab,eqbp->eqap", part.weights, section.membrane[part.elements], strain, optimize=True
        )
        energies += strain.reshape(-1, len(pairs)).T @ stress.reshape(-1, len(pairs))
        element_loads = np.einsum("eqai,eqap->eip", part.strains[:, :, :3], stress, optimize=True)
        np.add.at(loads, part.unknowns, element_loads)
    return energies, loads


def _product_strains(left: Array, right: Array) -> Array:
    """Return the membrane strain (xx, yy, 2 xy) of (grad a)^T grad b for two displacement fields of a plate. It has
    the shape (e, q, 3, n) at q points of e elements, for n coordinates. The gradients of a and b are ``left`` and
    ``right``, shape (e, q, component, direction, n)."""
    xx, yy = ((left[:, :, :, a] * right[:, :, :, a]).sum(axis=2) for a in (0, 1))
    xy = (left[:, :, :, 0] * right[:, :, :, 1] + left[:, :, :, 1] * right[:, :, :, 0]).sum(axis=2)
    return np.stack([xx, yy, xy], axis=2)
