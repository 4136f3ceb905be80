"""Stress of meshed bodies over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.nodal_stress import stress_coordinates, stress_shapes, von_mises
from phlexible.bodies.flexible.points import MeshPoints
from phlexible.errors import ModelError, ParameterError
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import PlacedBody


@dataclass(frozen=True, eq=False)
class MeshStress:
    """Stress at k nodes of a mesh, the mean of the elements around each.

    Attributes:
        time: shape (T,) [s].
        places: of the nodes in the undeformed body, shape (k, 3) [m].
        components: xx, yy, zz, yz, xz, xy in body axes, shape (T, k, 6) [Pa].
    """

    time: Array
    places: Array
    components: Array

    @property
    def von_mises(self) -> Array:
        """Equivalent stress, shape (T, k) [Pa]."""
        return von_mises(self.components)


def mesh_stress(
    run: RecordedRun, target: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1
) -> MeshStress:
    """See ``Motion.mesh_stress``."""
    body, points = meshed(target)
    index = run.body_index(target)
    chosen = _surface(points) if nodes is None else _checked(nodes, points)
    instants = slice(None, None, every)
    components = stress_at(body, points, run.elastic(index)[instants], chosen)
    return MeshStress(run.recording.time[instants], points.nodes[chosen], components)


def stress_at(body: FlexibleBody, points: MeshPoints, eta: Array, nodes: IntArray) -> Array:
    """Components at nodes for elastic coordinates (T, n), shape (T, k, 6) [Pa]."""
    assert body.materials is not None
    mesh = points.mesh
    shapes = stress_shapes(mesh, body.materials, points.shapes[:, : mesh.dimension], nodes)
    coordinates = stress_coordinates(body.data, body.frequencies, eta)
    return np.asarray(np.einsum("kcn,tn->tkc", shapes, coordinates, optimize=True))


def meshed(target: PlacedBody) -> tuple[FlexibleBody, MeshPoints]:
    """The body and its mesh.

    Raises:
        ModelError: a body without a mesh.
    """
    body = target.body if isinstance(target, PlacedBody) else None
    if not isinstance(body, FlexibleBody) or not isinstance(body.points, MeshPoints):
        raise ModelError(f"stress in a mesh is that of a FlexibleBody.from_mesh, got {target!r}")
    return body, body.points


def _surface(points: MeshPoints) -> IntArray:
    """Nodes at corners of elements on the boundary; of a plane mesh at all corners."""
    mesh = points.mesh
    corners = mesh.cells if mesh.dimension == 2 else mesh.mesh.facets[:, mesh.mesh.boundary_facets()]
    return np.unique(mesh.vertex_nodes[np.asarray(corners)])


def _checked(nodes: Sequence[int], points: MeshPoints) -> IntArray:
    try:
        numbers = np.asarray(nodes)
    except ValueError:  # lists of several lengths
        numbers = np.zeros((0, 0))
    count = len(points.nodes)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ParameterError(f"nodes must be numbers of nodes of body.points.nodes, got {nodes!r}")
    if len(np.unique(numbers)) < len(numbers):
        raise ParameterError(f"nodes must differ from each other, got {nodes!r}")
    if numbers.min() < 0 or numbers.max() >= count:
        raise ParameterError(f"nodes must be 0 to {count - 1}, got {numbers.min()} to {numbers.max()}")
    return numbers.astype(np.int64)
