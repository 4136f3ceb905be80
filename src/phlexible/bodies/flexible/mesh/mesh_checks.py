"""Meshes that are no body: refused or warned about by name."""

import warnings

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.mesh.element_mesh import CellKind, ElementMesh
from phlexible.bodies.flexible.mesh.given_mesh import GivenMesh
from phlexible.bodies.material import Material
from phlexible.errors import MeshWarning, ParameterError

FLAT = 1e-9
"""Volume of an element, relative to that of a cube of its extent, below which it is degenerate."""
SLOWEST, FASTEST = 1.0, 5e4
"""Speeds of sound sqrt(E / rho) of materials [m/s]: soft rubber 30, diamond 18000."""
LIGHTEST, HEAVIEST = 0.5, 3e4
"""Densities of materials [kg/m3]: aerogels and metals."""


def check_given(given: GivenMesh) -> None:
    """Refuses meshes of several parts; warns of nodes without elements.

    Raises:
        ParameterError: no elements, coordinates that are not finite, or parts that share no nodes.
    """
    if not len(given.cells):
        raise ParameterError("mesh: it has no elements")
    if not np.isfinite(given.points).all():
        raise ParameterError("mesh: coordinates of nodes must be finite")
    used = np.unique(given.cells)
    if left := len(given.points) - len(used):
        spare = np.setdiff1d(np.arange(len(given.points)), used)
        warnings.warn(
            f"mesh: {left} nodes belong to no element and are left out ({_listed(spare)})",
            MeshWarning,
            stacklevel=4,
        )
    e, corners = given.corners.shape
    nodes, numbers = np.unique(given.corners, return_inverse=True)
    pairs = (np.repeat(np.arange(e), corners), e + numbers.ravel())
    size = e + len(nodes)
    graph = sparse.coo_array((np.ones(e * corners), pairs), shape=(size, size))
    count, part = connected_components(graph.tocsr(), directed=False)
    if count > 1:
        sizes = np.bincount(part[:e])
        raise ParameterError(
            f"mesh: it falls into {count} parts that share no nodes (of {_listed(np.sort(sizes)[::-1])} elements): "
            "merge nodes at the same place, or make a body of each part"
        )


def check_elements(mesh: ElementMesh) -> None:
    """Refuses inverted, folded and flat elements, and parts that hinge on each other.

    Raises:
        ParameterError: names elements.
    """
    neighbours = mesh.mesh.f2t[:, mesh.mesh.f2t[1] >= 0]
    graph = sparse.coo_array((np.ones(neighbours.shape[1]), tuple(neighbours)), shape=(mesh.cell_count,) * 2)
    count, part = connected_components(graph.tocsr(), directed=False)
    if count > 1:
        smallest = np.flatnonzero(part == np.bincount(part).argmin())
        raise ParameterError(
            f"mesh: elements {_listed(smallest)} hang on nodes or edges only, a hinge: parts of one body share "
            "sides of elements"
        )
    mapping = mesh.mesh.mapping()
    points = _reference_points(mesh)
    with np.errstate(all="ignore"):  # of flat elements
        determinants = np.asarray(mapping.detDF(points))
    determinants = np.broadcast_to(determinants, (mesh.cell_count, points.shape[1]))
    corners = mesh.geometry[mesh.cells]
    extent = np.ptp(corners, axis=1).max(axis=1) ** mesh.dimension
    least, greatest = determinants.min(axis=1), determinants.max(axis=1)
    if len(flat := np.flatnonzero(np.abs(determinants).min(axis=1) <= FLAT * extent)):
        raise ParameterError(f"mesh: elements {_listed(flat)} are flat, they have no volume")
    if len(folded := np.flatnonzero(least * greatest < 0)):
        raise ParameterError(
            f"mesh: elements {_listed(folded)} are inverted (folded: their volume is negative in places); "
            "move their nodes, above all those in the middle of edges"
        )
    if mesh.kind.is_simplex:
        turned = _overlapping(mesh)
    else:
        negative = least < 0
        turned = np.flatnonzero(negative if 2 * negative.sum() <= len(negative) else ~negative)
    if len(turned):
        raise ParameterError(
            f"mesh: elements {_listed(turned)} are inverted: they lie on top of their neighbours, or list "
            "their nodes the other way round"
        )


def check_units(materials: list[Material]) -> None:
    """Warns of materials that are given in other units than kilograms, metres and seconds."""
    for each in materials:
        speed = float(np.sqrt(each.youngs_modulus / each.density))
        if not LIGHTEST < each.density < HEAVIEST or not SLOWEST < speed < FASTEST:
            _warn(
                f"material: none has a density of {each.density:g} kg/m3 and a speed of sound of {speed:.3g} m/s; "
                "are its units (or those of the mesh) millimetres and tonnes? All are SI here: kg, m, s"
            )


def warn_of_stiff_elements(mesh: ElementMesh) -> None:
    """Elements of order 1 bend too stiffly: said once a body."""
    if mesh.order == 1:
        stiff = "about twice as stiffly as they should" if mesh.kind.is_simplex else "1.4 times too stiffly"
        _warn(
            f"order=1: {mesh.kind.value}s of order 1 lock, they bend {stiff} unless there are many across the "
            "thickness; take order=2"
        )


def _overlapping(mesh: ElementMesh) -> IntArray:
    """Simplices whose neighbour across a facet lies on the same side of it."""
    facets, neighbours = mesh.mesh.facets.T, mesh.mesh.f2t.T
    inner = np.flatnonzero(neighbours[:, 1] >= 0)
    places = mesh.geometry
    corners = places[facets[inner]]
    if mesh.kind is CellKind.TRIANGLE:
        edge = corners[:, 1] - corners[:, 0]
        normals: Array = np.column_stack([-edge[:, 1], edge[:, 0]])
    else:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    centers = places[mesh.cells].mean(axis=1)
    sides = [np.einsum("fi,fi->f", centers[neighbours[inner, k]] - corners[:, 0], normals) for k in (0, 1)]
    wrong = inner[sides[0] * sides[1] > 0]
    counts = np.bincount(neighbours[wrong].ravel(), minlength=mesh.cell_count)
    return np.flatnonzero(counts == counts.max(initial=0)) if len(wrong) else np.zeros(0, dtype=np.int64)


def _reference_points(mesh: ElementMesh) -> Array:
    """Quadrature points of the mass and, on curved cells, the nodes of the geometry."""
    from skfem.quadrature import get_quadrature

    points = np.asarray(get_quadrature(mesh.mesh.elem.refdom, mesh.mass_degree)[0])
    if mesh.kind.is_simplex and mesh.geometry_order == 1:
        return points
    return np.hstack([points, np.asarray(mesh.mesh.elem.doflocs).T])


def _warn(text: str) -> None:
    warnings.warn(text, MeshWarning, stacklevel=4)


def _listed(numbers: IntArray) -> str:
    return ", ".join(map(str, numbers[:8])) + (f", ... ({len(numbers)})" if len(numbers) > 8 else "")
