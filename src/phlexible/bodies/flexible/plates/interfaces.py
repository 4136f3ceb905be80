"""Interfaces of a plate: edges and areas, through the whole thickness (docs/theory.md, 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.interfaces import (
    Interface,
    InterfaceKind,
    InterfaceSpec,
    chosen_nodes,
    facets_of,
    named_specs,
    outward_area,
    refuse_shared_nodes,
    vertices_of,
)
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.given_mesh import GivenMesh
from phlexible.bodies.flexible.plates.strains import UNKNOWNS
from phlexible.errors import ParameterError

ON_A_LINE = 1e-9


def plate_interfaces(
    interfaces: Mapping[str, InterfaceSpec] | None, given: GivenMesh, mesh: ElementMesh, thickness: float
) -> tuple[Interface, ...]:
    """The interfaces that a user named: nodes that cover elements are an area, others edges.

    Raises:
        ParameterError: no such group or nodes, nodes that cover no edge, a hinged interface on one line, or two
            that move as one and share nodes.
    """
    found = tuple(
        _interface(name, nodes, kind, given, mesh, thickness) for name, nodes, kind in named_specs(interfaces)
    )
    refuse_shared_nodes(found)
    return found


def _interface(
    name: str, nodes: Any, kind: InterfaceKind, given: GivenMesh, mesh: ElementMesh, thickness: float
) -> Interface:
    cells = _cells(name, nodes, given, mesh)
    if len(cells):
        members = np.unique(mesh.element_nodes[cells])
        basis = _basis(mesh, cells, None)
        area = np.array([0.0, 0.0, np.asarray(basis.dx).sum()])
    else:
        facets = facets_of(name, nodes, given, mesh)
        members = mesh.facet_nodes(facets)
        basis = _basis(mesh, None, facets)
        area = thickness * outward_area(basis)
    position, rows = _mean_rows(basis, mesh, thickness)
    if kind is InterfaceKind.HINGED and _is_line(mesh.nodes[members]):
        raise ParameterError(
            f"interface {name!r} lies on one line and is hinged, so that it has no rotation; take a Revolute on a "
            '"rigid" one, or hinge more edges together'
        )
    return Interface(name, kind, position, members, area, rows)


def _cells(name: str, nodes: Any, given: GivenMesh, mesh: ElementMesh) -> IntArray:
    """Elements whose corners are all among the nodes, or those of a group of that name."""
    if isinstance(nodes, str) and nodes in given.element_groups:
        return given.element_groups[nodes]
    if isinstance(nodes, str) and nodes in given.facet_groups:
        return np.zeros(0, dtype=np.int64)
    inside = vertices_of(given, chosen_nodes(name, nodes, given))
    return np.flatnonzero(inside[mesh.cells].all(axis=1))


def _basis(mesh: ElementMesh, cells: IntArray | None, facets: IntArray | None) -> Any:
    import skfem

    degree = 2 * mesh.order + 2
    if facets is None:
        return skfem.CellBasis(mesh.mesh, mesh.element, elements=cells, intorder=degree, disable_doflocs=True)
    return skfem.FacetBasis(mesh.mesh, mesh.element, facets=facets.astype(np.int32), intorder=degree)


def _mean_rows(basis: Any, mesh: ElementMesh, thickness: float) -> tuple[Array, Array]:
    """Centroid, and rows of the mean displacement and of the rotation by least squares (3.14), (6, 5 N).

    Over the edge or area times the thickness: points at height z move by u + z d.
    """
    weights = np.asarray(basis.dx)
    x = np.zeros((3, *weights.shape))
    x[:2] = np.asarray(basis.global_coordinates())
    total = weights.sum()
    center = (x * weights).sum(axis=(1, 2)) / total
    arms = x - center[:, None, None]
    values = np.array([np.broadcast_to(np.asarray(each[0]), weights.shape) for each in basis.basis])
    means, moments = np.zeros(mesh.node_count), np.zeros((3, mesh.node_count))
    dofs = np.asarray(basis.element_dofs)
    np.add.at(means, dofs, np.einsum("aeq,eq->ae", values, weights))
    for axis in range(3):
        np.add.at(moments[axis], dofs, np.einsum("aeq,eq,eq->ae", values, weights, arms[axis]))
    euler = np.einsum("ceq,feq,eq->cf", arms, arms, weights)
    euler[2, 2] += total * thickness**2 / 12
    inertia = np.trace(euler) * np.eye(3) - euler
    rows = np.zeros((6, mesh.node_count, UNKNOWNS))
    rows[[0, 1, 2], :, [0, 1, 2]] = means / total
    turning = rows[3:]  # int (x - x_m) x u
    turning[0, :, 2], turning[1, :, 2] = moments[1], -moments[0]
    turning[2, :, 1], turning[2, :, 0] = moments[0], -moments[1]
    turning[0, :, 3] = turning[1, :, 4] = means * thickness**2 / 12
    rows[3:] = np.einsum("ab,bNc->aNc", np.linalg.inv(inertia), turning)
    return center, rows.reshape(6, -1)


def _is_line(places: Array) -> bool:
    arms = places - places.mean(axis=0)
    singular = np.linalg.svd(arms, compute_uv=False)
    return bool(singular[1] <= ON_A_LINE * singular[0])
