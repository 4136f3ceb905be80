"""Groups of nodes of a soft body that joints and loads act on by their mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.options import text
from phlexible.bodies.flexible.mesh.given_mesh import GivenMesh
from phlexible.bodies.soft.mesh import SoftMesh
from phlexible.errors import ParameterError


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """A named group of nodes.

    Attributes:
        name: by which users find it.
        points: numbers in the mesh, ascending, shape (k,).
    """

    name: str
    points: IntArray

    def weights(self, mesh: SoftMesh) -> Array:
        """Of all nodes in the mean of the group, shape (N,)."""
        result = np.zeros(len(mesh.nodes))
        result[mesh.number[self.points]] = 1 / len(self.points)
        return result


def node_groups(interfaces: object, mesh: SoftMesh, given: GivenMesh | None) -> tuple[NodeGroup, ...]:
    """The groups that a user named.

    Args:
        interfaces: by name numbers of points, a function of places or the name of a group of the mesh.
        mesh: of the body.
        given: with the named groups; None: there are none.

    Raises:
        ParameterError: no dictionary, no such nodes or none at all.
    """
    if isinstance(interfaces, tuple) and all(isinstance(each, NodeGroup) for each in interfaces):
        return interfaces
    if interfaces is None:
        return ()
    if not isinstance(interfaces, Mapping):
        raise ParameterError(f'interfaces must be a dictionary such as {{"tip": nodes}}, got {interfaces!r}')
    return tuple(
        NodeGroup(text("name of an interface", name), chosen_points(f"interface {name!r}", nodes, mesh, given))
        for name, nodes in interfaces.items()
    )


def chosen_points(name: str, nodes: Any, mesh: SoftMesh, given: GivenMesh | None = None) -> IntArray:
    """Points of the mesh that are nodes of elements, ascending, at least one.

    Raises:
        ParameterError: what chooses is no list of numbers, function of places or name of a group, or chooses none.
    """
    if isinstance(nodes, str):
        points = _group(name, nodes, given)
    elif callable(nodes):
        places = mesh.places.T
        chosen = np.asarray(nodes(places))
        if chosen.shape != places.shape[1:] or chosen.dtype != bool:
            raise ParameterError(
                f"{name}: the function must return True or False for each of the places x (x[0], x[1], x[2] are "
                f"arrays of shape {places.shape[1:]}), got {chosen!r}"
            )
        points = mesh.nodes[chosen]
    else:
        points = np.unique(np.asarray(nodes))
        if points.dtype.kind not in "iu" or np.ndim(nodes) != 1:
            raise ParameterError(f"{name} must be numbers of nodes, a function of places or a name, got {nodes!r}")
        if len(points) and not (0 <= points[0] and points[-1] < len(mesh.number)):
            raise ParameterError(f"{name}: the mesh has nodes 0 .. {len(mesh.number) - 1}, got {points[-1]}")
    points = points[mesh.number[points] >= 0]
    if not len(points):
        raise ParameterError(f"{name}: there is no node in it; the function or the list must choose at least one")
    return np.sort(points).astype(np.int64)


def _group(name: str, group: str, given: GivenMesh | None) -> IntArray:
    found = [] if given is None else [given.node_groups, given.facet_groups]
    for groups in found:
        if group in groups:
            return np.unique(groups[group])
    known = ", ".join(repr(each) for groups in found for each in groups) or "none"
    raise ParameterError(f"{name}: the mesh has no group of nodes or of facets {group!r}; it has {known}")
