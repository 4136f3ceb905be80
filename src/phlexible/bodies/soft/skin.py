"""What a soft body looks like: its surface, or of a sheet all of its elements."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.skin import Skin
from phlexible.bodies.soft.mesh import SoftMesh
from phlexible.bodies.soft.surface import FACES


def soft_skin(mesh: SoftMesh, dimension: int) -> Skin:
    """Triangles on nodes, which are where the body has them."""
    triangles = surface_triangles(mesh)
    used, numbered = np.unique(triangles, return_inverse=True)
    triangles, places = numbered.reshape(-1, 3).astype(np.int64), mesh.places[used]
    nothing = np.zeros((len(used), 3, 0))
    axes = np.arange(3)
    coordinates = np.where(axes < dimension, used[:, None] * dimension + axes, -1)
    return Skin(
        positions=np.zeros((len(used), 3)),
        shapes=nothing,
        turns=nothing,
        vertex_nodes=np.arange(len(used)),
        offsets=np.zeros((len(used), 3)),
        normals=vertex_normals(places, triangles),
        triangles=triangles,
        coordinates=coordinates,
    )


def surface_triangles(mesh: SoftMesh) -> IntArray:
    """Nodes of triangles that cover the surface of a solid, seen counter-clockwise, or a sheet, as it is given."""
    if mesh.is_sheet:
        return _split(mesh.corners)
    places, cells = mesh.places, mesh.corners
    faces = np.concatenate([cells[:, list(face)] for face in FACES[mesh.kind]])
    middles = np.tile(places[cells].mean(axis=1), (len(FACES[mesh.kind]), 1))
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    own = first[count == 1]
    faces, away = faces[own], places[faces[own]].mean(axis=1) - middles[own]
    triangles = _split(faces)
    a, b, c = (places[triangles[:, k]] for k in range(3))
    outward = np.einsum("ti,ti->t", np.cross(b - a, c - a), np.tile(away, (len(triangles) // len(faces), 1))) > 0
    return np.where(outward[:, None], triangles, triangles[:, ::-1])


def vertex_normals(places: Array, triangles: IntArray) -> Array:
    """Mean normals at the nodes, of unit length, shape (N, 3)."""
    a, b, c = (places[triangles[:, k]] for k in range(3))
    normals = np.zeros_like(places)
    np.add.at(normals, triangles.ravel(), np.repeat(np.cross(b - a, c - a), 3, axis=0))
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _split(faces: IntArray) -> IntArray:
    if faces.shape[1] == 3:
        return faces
    return np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
