"""Elastic constants, mass, stiffness and geometric stiffness of a mesh (docs/theory.md, 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.material import Material, relative_relaxation
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ParameterError

# Elastic constants of the elements of a mesh (docs/theory.md, 3).


class PlaneState(StrEnum):
    """Choice of the state across the plane of a plane mesh: no stress or no strain.

    STRESS: no stress across it, as in a thin part. STRAIN: no strain across it, as in a part that cannot widen.
    """

    STRESS = "stress"
    STRAIN = "strain"


@dataclass(frozen=True, eq=False)
class ElementMaterials:
    """Elastic constants and density of each of e elements, for stress = lame tr(strain) I + 2 shear strain. In the
    plane they are multiplied by the thickness.

    Attributes:
        lame: shape (e,) [Pa, in the plane times thickness].
        shear: shape (e,), the same unit.
        density: shape (e,) [kg/m3, in the plane times thickness].
        viscosity: Kelvin-Voigt time of all of them [s].
        thickness: of a plane mesh, 1 of a solid one [m].
        is_plane_strain: whether a plane mesh cannot widen, so that there is stress across it.
        relaxation: branches with shares of the elasticity; None: no creep.
    """

    lame: Array
    shear: Array
    density: Array
    viscosity: float
    thickness: float
    is_plane_strain: bool
    relaxation: Maxwell | None = None

    def stress(self, elements: IntArray, gradients: Array) -> Array:
        """Return the linear elastic stress lambda tr(eps) I + 2 mu eps at p points of a mesh of d dimensions,
        shape (p, d, d). The strain eps is the symmetric part of the displacement ``gradients`` du_c/dx_a, shape
        (p, d, d). ``elements`` (p,) are the elements of the points, whose constants lambda and mu are used; both
        include the thickness of a plane mesh."""
        strain = (gradients + gradients.transpose(0, 2, 1)) / 2
        trace = np.trace(strain, axis1=1, axis2=2)
        identity = np.eye(strain.shape[1])
        lame, shear = self.lame[elements], self.shear[elements]
        return np.asarray((lame * trace)[:, None, None] * identity + 2 * shear[:, None, None] * strain)


def element_materials(
    material: Material | Mapping[str, Material],
    groups: Mapping[str, IntArray],
    count: int,
    dimension: int,
    plane: PlaneState,
    thickness: float,
) -> ElementMaterials:
    """Return Lame constant, shear modulus and density of each of ``count`` elements of a mesh, all multiplied by
    ``thickness``. ``material`` is one for all or a dictionary by group (``groups``: element indices by name). A
    plane mesh (``dimension`` 2) is in plane stress or strain (``plane``). Raise ``ParameterError`` unless each
    element has exactly one material, and all have equal viscosity and relaxation.

    Raises:
        ParameterError: no material, a group that the mesh lacks, an element in no or in two groups,
            materials of different viscosity or relaxation, or Poisson's ratio 1/2 where volume cannot change.
    """
    by_group = {"": material} if isinstance(material, Material) else material
    if not isinstance(by_group, Mapping) or not all(isinstance(value, Material) for value in by_group.values()):
        raise ParameterError(f"material must be a Material, or one for each group of elements, got {material!r}")
    owner = np.full(count, -1)
    for number, name in enumerate(by_group):
        if isinstance(material, Material):
            owner[:] = 0
            continue
        if name not in groups:
            known = ", ".join(map(repr, groups)) or "none"
            raise ParameterError(f"material: the mesh has no group of elements {name!r}; it has {known}")
        if (taken := owner[groups[name]] >= 0).any():
            raise ParameterError(f"material: {int(taken.sum())} elements of group {name!r} are in another one too")
        owner[groups[name]] = number
    if (owner < 0).any():
        raise ParameterError(
            f"material: {int((owner < 0).sum())} elements are in none of the groups"
            f" {', '.join(map(repr, by_group))}"
        )
    materials = list(by_group.values())
    relaxations = {relative_relaxation(material, ()) for material in materials}
    if len(relaxations) > 1:
        raise ParameterError(
            "materials of one body must have the same relaxation, in shares of Young's modulus, got"
            f" {[material.relaxation for material in materials]}"
        )
    viscosities = {material.viscosity for material in materials}
    if len(viscosities) > 1:
        raise ParameterError(f"materials of one body must have the same viscosity, got {sorted(viscosities)}")
    is_strained = dimension == 2 and plane is PlaneState.STRAIN
    constants = np.array([_constants(material, dimension, plane) for material in materials])[owner] * thickness
    lame, shear, density = constants.T
    return ElementMaterials(lame, shear, density, viscosities.pop(), thickness, is_strained, relaxations.pop())


def _constants(material: Material, dimension: int, plane: PlaneState) -> tuple[float, float, float]:
    """Return Lame's first constant [Pa], shear modulus [Pa] and density [kg/m3] of an isotropic material. In plane
    stress (``dimension`` 2 only) E nu / (1 - nu^2) replaces Lame's first constant. Except in plane stress, raise
    ``ParameterError`` for Poisson's ratios above 0.4999."""
    modulus, ratio = material.youngs_modulus, material.poissons_ratio
    shear = material.shear_modulus
    if dimension == 2 and plane is PlaneState.STRESS:
        return modulus * ratio / (1 - ratio**2), shear, material.density
    if ratio > 0.4999:
        raise ParameterError(
            f"poissons_ratio must be below 0.4999 in a mesh whose volume can change, got {ratio!r}"
        )
    return modulus * ratio / ((1 + ratio) * (1 - 2 * ratio)), shear, material.density


# Mass and stiffness of a mesh, and the geometric stiffness of its retained shapes (docs/theory.md, 3).


def mass_matrix(mesh: ElementMesh, materials: ElementMaterials) -> sparse.csr_array:
    """Return the consistent mass matrix int rho N_a N_b dV of the N nodes of a finite element mesh, sparse, shape
    (N, N) [kg]. It applies to each component of the displacement. ``materials`` has the density of each element."""
    parts = []
    for part in mesh.quadrature(mesh.mass_degree):
        weighted = part.values * (part.weights * materials.density[part.elements, None])[..., None]
        parts.append((part.nodes, weighted.transpose(0, 2, 1) @ part.values))
    return assembled(parts, mesh.node_count)


def stiffness_matrix(mesh: ElementMesh, materials: ElementMaterials) -> sparse.csr_array:
    """Return the linear elastic stiffness matrix of a finite element mesh with N nodes in d dimensions, sparse,
    shape (N d, N d) [N/m]. Unknowns are ordered node by node, with d components each. ``materials`` has the elastic
    constants of each element."""
    d, parts = mesh.dimension, []
    for part in mesh.quadrature(mesh.stiffness_degree):
        e, q, _, k = part.gradients.shape
        gradients = part.gradients.transpose(0, 1, 3, 2).reshape(e, q, k * d)
        weighted = gradients * part.weights[..., None]
        products = (weighted.transpose(0, 2, 1) @ gradients).reshape(e, k, d, k, d)
        lame = materials.lame[part.elements, None, None, None, None]
        shear = materials.shear[part.elements, None, None, None, None]
        blocks = lame * products + shear * products.transpose(0, 1, 4, 3, 2)
        laplace = shear[..., 0, 0] * np.einsum("eajbj->eab", products)
        for i in range(d):
            blocks[:, :, i, :, i] += laplace
        unknowns = (d * part.nodes[..., None] + np.arange(d)).reshape(e, k * d)
        parts.append((unknowns, blocks.reshape(e, k * d, k * d)))
    return assembled(parts, mesh.node_count * d)


def geometric_stiffness(mesh: ElementMesh, materials: ElementMaterials, shapes: Array) -> Array:
    """Return the geometric stiffness matrices of the linear stresses of n displacement ``shapes`` (N, d, n),
    projected on the shapes, shape (n, n, n). They are H[k, i, j] = int stress_k : (grad phi_i)^T grad phi_j,
    integrated by quadrature over the mesh and made symmetric in i and j. ``materials`` has the elastic constants
    of each element.

    Args:
        shapes: nodal fields, shape (N, d, n).
    """
    n = shapes.shape[2]
    result = np.zeros((n, n, n))
    for part in mesh.quadrature(mesh.stiffness_degree):
        gradients = part.displacement_gradients(shapes)  # (p, c, a, n)
        elements = np.repeat(part.elements, part.weights.shape[1]).astype(np.int64)
        flat = gradients.reshape(-1, n)
        for k in range(n):
            stress = materials.stress(elements, gradients[..., k]) * part.weights.reshape(-1, 1, 1)
            products = (stress[:, None] @ gradients).reshape(-1, n)
            result[k] += flat.T @ products
    return np.asarray((result + result.transpose(0, 2, 1)) / 2)


def quadratic_loads(mesh: ElementMesh, materials: ElementMaterials, shapes: Array) -> Array:
    """Return minus the nodal forces of the stress of the quadratic strain of two shapes i <= j, for all pairs,
    shape (N d, pairs). The strain is (grad_i^T grad_j + grad_j^T grad_i) / 2 for displacement ``shapes`` (N, d,
    n). The stress follows from ``materials``, integrals from quadrature over the mesh. Pairs are ordered 00, 01,
    ..., 11, .... Static responses to these forces are modal derivatives.

    Args:
        shapes: nodal fields, shape (N, d, n).
    """
    d, (first, second) = mesh.dimension, np.triu_indices(shapes.shape[2])
    result = np.zeros((mesh.node_count * d, len(first)))
    for part in mesh.quadrature(mesh.stiffness_degree):
        e, q, _, k = part.gradients.shape
        gradients = part.displacement_gradients(shapes)  # (p, c, a, n)
        elements = np.repeat(part.elements, q).astype(np.int64)
        loads = np.empty((e, k * d, len(first)))
        for number, (i, j) in enumerate(zip(first, second, strict=True)):
            product = gradients[..., i].transpose(0, 2, 1) @ gradients[..., j]  # stress takes the symmetric part
            stress = materials.stress(elements, product) * part.weights.reshape(-1, 1, 1)
            flat = part.gradients.transpose(0, 3, 1, 2).reshape(e, k, q * d)
            loads[:, :, number] = (flat @ stress.reshape(e, q * d, d)).reshape(e, k * d)
        np.subtract.at(result, (d * part.nodes[..., None] + np.arange(d)).reshape(e, k * d), loads)
    return result


def assembled(parts: list[tuple[np.ndarray, Array]], size: int) -> sparse.csr_array:
    """Return the sum of symmetric element matrices as a sparse matrix, exactly symmetric, shape (size, size). Each
    entry of ``parts`` is a pair of arrays: indices (e, k) of unknowns and matrices (e, k, k)."""
    total = sparse.csr_array((size, size))
    for unknowns, blocks in parts:
        total = total + summed_blocks(unknowns, unknowns, blocks, (size, size))
    return sparse.csr_array((total + total.T) / 2)
