"""Stress of meshed bodies over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials
from phlexible.bodies.flexible.plate_body import PlatePoints, plate_stress_shapes
from phlexible.bodies.flexible.plate_elements import PlateSection
from phlexible.bodies.flexible.points import MeshPoints
from phlexible.bodies.flexible.skin import stress_coordinates, stress_shapes, von_mises
from phlexible.bodies.shell.shell import Shell
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError
from phlexible.state.recorded_run import RecordedRun

MeshedPoints = MeshPoints | PlatePoints
"""Of bodies with a mesh."""


@dataclass(frozen=True, eq=False)
class MeshStress:
    """Stress at k nodes of a mesh at all instants; at each node the mean over the adjacent elements.

    Attributes:
        time: instants, shape (T,) [s].
        places: positions of the nodes in the undeformed body, shape (k, 3) [m].
        components: stress components xx, yy, zz, yz, xz, xy in body axes, shape (T, k, 6) [Pa].
    """

    time: Array
    places: Array
    components: Array

    @property
    def von_mises(self) -> Array:
        """Von Mises equivalent stress at the nodes of a mesh at all instants, shape (instants, nodes) [Pa]."""
        return von_mises(self.components)


def mesh_stress(
    run: RecordedRun, target: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1
) -> MeshStress:
    """Return the stress components at nodes of a meshed body (``target``) over time, at every ``every``-th
    recorded instant of a run. Without ``nodes`` they are those of the surface, of a shell ``surface_places``.
    The result has times (T,), positions (k, 3) [m] and components xx, yy, zz, yz, xz, xy (T, k, 6) [Pa]."""
    instants = slice(None, None, every)
    if isinstance(target, PlacedBody) and isinstance(target.body, Shell):
        places, vectors = target.body.surface_places, run.elastic(run.body_index(target))[instants]
        own = np.arange(len(places)) if nodes is None else _checked(nodes, len(places))
        found = target.body.surface_stress(vectors.reshape(len(vectors), -1, 3))[:, own]
        return MeshStress(run.recording.time[instants], places[own], found)
    body, points = meshed_body(target)
    index = run.body_index(target)
    chosen = _surface(points) if nodes is None else _checked(nodes, len(points.nodes))
    components = stress_at(body, points, run.elastic(index)[instants], chosen)
    return MeshStress(run.recording.time[instants], points.nodes[chosen], components)


def stress_at(body: FlexibleBody, points: MeshedPoints, eta: Array, nodes: IntArray) -> Array:
    """Return the stress components xx, yy, zz, yz, xz, xy in body axes at ``nodes`` of a meshed body, shape
    (instants, nodes, 6) [Pa]. ``points`` is the mesh. They are computed from elastic coordinates ``eta``,
    shape (instants, n)."""
    match points, body.materials:
        case PlatePoints(), PlateSection() as section:
            shapes = plate_stress_shapes(points, section, nodes)
        case MeshPoints(mesh=mesh), ElementMaterials() as materials:
            shapes = stress_shapes(mesh, materials, points.shapes[:, : mesh.dimension], nodes)
        case _:
            raise AssertionError("a mesh has materials")
    coordinates = stress_coordinates(body.data, body.frequencies, eta)
    return np.asarray(np.einsum("kcn,tn->tkc", shapes, coordinates, optimize=True))


def meshed_body(target: PlacedBody) -> tuple[FlexibleBody, MeshedPoints]:
    """Return the flexible body with a mesh that a handle of the model (``target``) stands for, and the points
    of its mesh; raise a ``ModelError`` for a body without a mesh.

    Raises:
        ModelError: a body without a mesh.
    """
    body = target.body if isinstance(target, PlacedBody) else None
    if not isinstance(body, FlexibleBody) or not isinstance(body.points, MeshedPoints):
        raise ModelError(f"body must be a FlexibleBody.from_mesh in the model, got {target!r}")
    return body, body.points


def _surface(points: MeshedPoints) -> IntArray:
    """Return the indices of the vertex nodes on the surface of a mesh (``points``): all vertices of a plane
    mesh, those on both surfaces of a plate."""
    mesh = points.mesh
    corners = mesh.cells if mesh.dimension == 2 else mesh.mesh.facets[:, mesh.mesh.boundary_facets()]
    found = np.unique(mesh.vertex_nodes[np.asarray(corners)])
    return np.concatenate([found, found + mesh.node_count]) if isinstance(points, PlatePoints) else found


def _checked(nodes: Sequence[int], count: int) -> IntArray:
    try:
        numbers = np.asarray(nodes)
    except ValueError:  # lists of several lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ParameterError(f"nodes must be numbers of nodes of body.points.nodes, got {nodes!r}")
    if len(np.unique(numbers)) < len(numbers):
        raise ParameterError(f"nodes must differ from each other, got {nodes!r}")
    if numbers.min() < 0 or numbers.max() >= count:
        raise ParameterError(f"nodes must be 0 to {count - 1}, got {numbers.min()} to {numbers.max()}")
    return numbers.astype(np.int64)
