"""Strains of plate elements: membrane, curvature and shear (docs/theory.md, 3).

Unknowns of a node are its displacements u, v, w and its rotations about x and y; points at height z move by
u + z d with d = (theta_y, -theta_x, 0).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.plates.section import PlateSection
from phlexible.bodies.flexible.plates.shear import ShearInterpolation, shear_interpolation

UNKNOWNS = 5
"""Of a node."""
DEGREE = 4
"""That quadratures of the strain energy hold on straight cells."""
CHUNK = 4_000_000  # numbers of strains that are held at once


@dataclass(frozen=True, eq=False)
class PlateQuadrature:
    """Strains of some elements at their quadrature points.

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
    """The elements in parts that memory holds."""
    points, weights = _quadrature(mesh)
    for elements in _parts(mesh):
        jacobians = _jacobians(mesh, points, elements)
        values, gradients = _functions(mesh, points, jacobians)
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
    """Strains of the unknowns at points (2, q) of the reference cell, shape (e, q, 8, 5 k)."""
    shear = shear_interpolation(mesh.kind)
    result = _nodal_strains(mesh, shear, elements, points)
    if mesh.kind.is_simplex:
        inner = _bubble_strains(mesh, shear, elements, points)
        result -= np.einsum("eqai,eij->eqaj", inner, _relaxation(mesh, section, shear, elements), optimize=True)
    return result


def _quadrature(mesh: ElementMesh) -> tuple[Array, Array]:
    from skfem.quadrature import get_quadrature

    points, weights = get_quadrature(mesh.mesh.elem.refdom, DEGREE + (2 if mesh.geometry_order > 1 else 0))
    return np.asarray(points), np.asarray(weights)


def _parts(mesh: ElementMesh) -> Iterator[IntArray]:
    size = max(1, CHUNK // (9 * 8 * UNKNOWNS * mesh.element_nodes.shape[1]))
    for first in range(0, mesh.cell_count, size):
        yield np.arange(first, min(first + size, mesh.cell_count))


def _jacobians(mesh: ElementMesh, points: Array, elements: IntArray) -> Array:
    """dx_i/dX_a at points of the reference cell, shape (e, q, i, a)."""
    found = np.asarray(mesh.mesh.mapping().DF(points, elements.astype(np.int32)))
    found = np.broadcast_to(found, (2, 2, len(elements), points.shape[1]))
    return np.ascontiguousarray(found.transpose(2, 3, 0, 1))


def _functions(mesh: ElementMesh, points: Array, jacobians: Array) -> tuple[Array, Array]:
    """Shape functions (q, k) and their gradients, shape (e, q, 2, k)."""
    found = [mesh.element.lbasis(points, i) for i in range(mesh.element_nodes.shape[1])]
    values = np.array([np.broadcast_to(each[0], points.shape[1]) for each in found]).T
    slopes = np.array([np.broadcast_to(each[1], points.shape) for each in found])  # (k, 2, q)
    gradients = np.einsum("eqai,kaq->eqik", np.linalg.inv(jacobians), slopes, optimize=True)
    return values, gradients


def _nodal_strains(mesh: ElementMesh, shear: ShearInterpolation, elements: IntArray, points: Array) -> Array:
    jacobians = _jacobians(mesh, points, elements)
    _, gradients = _functions(mesh, points, jacobians)
    strains = np.zeros((*jacobians.shape[:2], 8, UNKNOWNS * gradients.shape[3]))
    _plane_strains(strains[:, :, :3], gradients, (0, 1), (1.0, 1.0))
    _plane_strains(strains[:, :, 3:6], gradients, (4, 3), (1.0, -1.0))
    there = _jacobians(mesh, shear.points, elements)  # (e, P, i, a)
    values, _ = _functions(mesh, shear.points, there)
    slopes = np.array([mesh.element.lbasis(shear.points, i)[1] for i in range(values.shape[1])])
    numbers = np.zeros((len(elements), len(shear.functionals), strains.shape[3]))
    numbers[:, :, 2::UNKNOWNS] = np.einsum("tpa,kap->tk", shear.functionals, slopes)
    turned = np.einsum("tpa,epia,pk->ietk", shear.functionals, there, values, optimize=True)
    numbers[:, :, 4::UNKNOWNS], numbers[:, :, 3::UNKNOWNS] = turned[0], -turned[1]
    strains[:, :, 6:] = _pushed(shear, points, jacobians, numbers)
    return strains


def _plane_strains(rows: Array, gradients: Array, components: tuple[int, int], signs: tuple[float, float]) -> None:
    """Strains, shear doubled, of the field that has these unknowns times signs as components."""
    (first, second), (one, two) = components, signs
    rows[:, :, 0, first::UNKNOWNS] = one * gradients[:, :, 0]
    rows[:, :, 2, first::UNKNOWNS] = one * gradients[:, :, 1]
    rows[:, :, 1, second::UNKNOWNS] = two * gradients[:, :, 1]
    rows[:, :, 2, second::UNKNOWNS] = two * gradients[:, :, 0]


def _pushed(shear: ShearInterpolation, points: Array, jacobians: Array, numbers: Array) -> Array:
    """Fields of numbers (e, T, m) in the axes of the mesh, shape (e, q, 2, m)."""
    reference = np.einsum("qat,etm->eqam", shear.fields(points), numbers, optimize=True)
    return np.asarray(np.swapaxes(np.linalg.inv(jacobians), 2, 3) @ reference)


def _bubble_strains(mesh: ElementMesh, shear: ShearInterpolation, elements: IntArray, points: Array) -> Array:
    """Strains of the rotations r s (1 - r - s) that a triangle has inside, shape (e, q, 8, 2)."""
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
    turned = np.einsum("tpa,epia,p->iet", shear.functionals, there, r * s * (1 - r - s), optimize=True)
    result[:, :, 6:] = _pushed(shear, points, jacobians, np.stack([-turned[1], turned[0]], axis=2))
    return result


def _relaxation(mesh: ElementMesh, section: PlateSection, shear: ShearInterpolation, elements: IntArray) -> Array:
    """What the inner rotations undo of the unknowns where the energy of an element is least, (e, 2, 5 k)."""
    points, weights = _quadrature(mesh)
    areas = np.abs(np.linalg.det(_jacobians(mesh, points, elements))) * weights
    inner = _bubble_strains(mesh, shear, elements, points)
    weighted = areas[..., None, None] * (section.stiffness[elements, None] @ inner)
    own = np.einsum("eqai,eqaj->eij", weighted, inner, optimize=True)
    nodal = _nodal_strains(mesh, shear, elements, points)
    mixed = np.einsum("eqai,eqaj->eij", weighted, nodal, optimize=True)
    return np.asarray(np.linalg.solve(own, mixed))
