"""What a plate looks like: both surfaces and the rim between them."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.plates.points import PlatePoints
from phlexible.bodies.flexible.skin import plane_triangles
from phlexible.bodies.skin import Skin

UP = np.array([0.0, 0.0, 1.0])


def plate_skin(points: PlatePoints) -> Skin:
    """Corners of the mesh on both surfaces; those of the rim twice, for its sharp edges."""
    mesh, up = points.mesh, points.thickness / 2 * UP
    nodes = mesh.vertex_nodes
    count, own = len(nodes), points.middle[nodes]
    positions = mesh.nodes[nodes]
    triangles = plane_triangles(mesh)
    rim, outward = _rim(points)
    quads = 2 * count + np.arange(4 * len(rim)).reshape(-1, 4)
    around = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Skin(
        positions=positions,
        shapes=own,
        turns=points.turns[nodes],
        vertex_nodes=np.concatenate([np.arange(count), np.arange(count), rim[:, [0, 1, 1, 0]].ravel()]),
        offsets=np.concatenate(
            [np.tile(up, (count, 1)), np.tile(-up, (count, 1)), np.tile([-up, -up, up, up], (len(rim), 1))]
        ),
        normals=np.concatenate([np.tile(UP, (count, 1)), np.tile(-UP, (count, 1)), np.repeat(outward, 4, axis=0)]),
        triangles=np.concatenate([triangles, count + triangles[:, ::-1], around]).astype(np.int64),
    )


def _rim(points: PlatePoints) -> tuple[IntArray, Array]:
    """Corners (b, 2) of the edges on the boundary, counter-clockwise, and their outward normals (b, 3)."""
    given = points.mesh.mesh
    facets = given.boundary_facets()
    corners = np.asarray(given.facets.T[facets], dtype=np.int64)
    places = points.mesh.geometry
    inside = places[points.mesh.cells[given.f2t[0, facets]]].mean(axis=1)
    along = places[corners[:, 1]] - places[corners[:, 0]]
    normal = np.column_stack([along[:, 1], -along[:, 0]])
    turned = np.einsum("bi,bi->b", normal, places[corners[:, 0]] - inside) < 0
    normal[turned] *= -1
    corners[turned] = corners[turned, ::-1]
    outward = np.zeros((len(corners), 3))
    outward[:, :2] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return corners, outward
