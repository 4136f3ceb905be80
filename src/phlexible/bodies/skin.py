"""Surfaces of bodies for pictures, which move with the elastic coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.shapes.surfaces import Outline, Triangulation, merged_vertices, shading_vertices, sharp_edges

NO_LINES: tuple[IntArray, ...] = ()
SIX = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""Rows and columns of the components xx, yy, zz, yz, xz, xy of a symmetric matrix."""


@dataclass(frozen=True, eq=False)
class BodyStress:
    """Stress of a body as a function of its elastic coordinates, at k places in it.

    Attributes:
        positions: undeformed positions, shape (k, 3) [m].
        surface: numbers of the places that are reported unless others are asked for, shape (m,).
        components: function of coordinates (T, n) and numbers of places (m,) with the stress components xx, yy, zz,
            yz, xz, xy in body axes, shape (T, m, 6) [Pa].
        drawn: function of the skin of the body with the numbers of the places at each of its nodes, shape (N, l).
    """

    positions: Array
    surface: IntArray
    components: Callable[[Array, IntArray], Array]
    drawn: "Callable[[Skin], IntArray]"


@dataclass(frozen=True, eq=False)
class Skin:
    """Surface, lines and balls that pictures draw for a body. They are fixed to N nodes, which move with its n
    elastic coordinates eta.

    A node is at ``positions + shapes @ eta`` in the body frame; its vertices rotate with it by the small
    rotation vector ``rotations @ eta``. Lines and balls without a thickness are drawn as thick as a picture allows.

    Attributes:
        positions: undeformed, shape (N, 3) [m].
        shapes: shape (N, 3, n).
        rotations: shape (N, 3, n).
        vertex_nodes: node that carries each vertex, shape (v,).
        offsets: vertex from its node in the undeformed body, shape (v, 3) [m].
        normals: outward unit normals in the undeformed body, shape (v, 3).
        triangles: numbers of vertices, shape (t, 3).
        lines: nodes along the lines that represent the body in line drawings.
        balls: nodes that are drawn as balls.
        width: largest and smallest thickness of the body around the lines [m]; 0: unknown.
        coordinates: of a body in absolute coordinates, indices of the elastic coordinates that are the position of
            each node, -1 where there is none (out of the plane), in place of ``positions`` and ``shapes``, shape
            (N, 3).
    """

    positions: Array
    shapes: Array
    rotations: Array
    vertex_nodes: IntArray
    offsets: Array
    normals: Array
    triangles: IntArray
    lines: tuple[IntArray, ...] = NO_LINES
    balls: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    width: tuple[float, float] = (0.0, 0.0)
    coordinates: IntArray | None = None

    def node_positions(self, eta: Array, scale: float = 1.0) -> Array:
        """Return the positions of the N nodes of this drawn surface in the body frame, shape (k, N, 3) [m]. They
        are for k vectors eta (k, n) of elastic coordinates. Displacements are multiplied by ``scale``. For strings
        and soft bodies, positions are copied from eta itself and not magnified; missing components are zero."""
        if self.coordinates is not None:
            return np.where(self.coordinates >= 0, eta[:, self.coordinates], 0.0)
        return np.asarray(self.positions + scale * np.einsum("pin,tn->tpi", self.shapes, eta))

    @property
    def has_surface(self) -> bool:
        """Whether this skin (what pictures draw for a body) has triangles, and not only lines and balls."""
        return len(self.triangles) > 0

    def edges(self) -> IntArray:
        """Return the sharp edges of the undeformed surface that pictures draw for a body, and its boundary edges,
        as pairs of vertex indices (e, 2). Normals differ by more than 35 degrees at sharp edges."""
        vertices, triangles = merged_vertices(self.positions[self.vertex_nodes] + self.offsets, self.triangles)
        used, first = np.unique(triangles, return_index=True)
        return np.asarray(self.triangles.ravel()[first][np.searchsorted(used, sharp_edges(vertices, triangles))])


def line_skin(positions: Array, shapes: Array, lines: tuple[IntArray, ...], balls: IntArray) -> Skin:
    """Return a ``Skin`` without surface for pictures of a body of unknown thickness: ``lines`` through its nodes
    and ``balls`` at its nodes. Both are given as arrays of node indices. Nodes are at ``positions`` (N, 3) [m] and
    move by ``shapes`` (N, 3, n) per unit of each of n elastic coordinates."""
    nothing = np.zeros((0, 3))
    empty = np.zeros(0, dtype=np.int64)
    return Skin(
        positions, shapes, 0 * shapes, empty, nothing, nothing, np.zeros((0, 3), dtype=np.int64), lines, balls
    )


def tube_skin(positions: Array, shapes: Array, rotations: Array, outlines: Sequence[Outline]) -> Skin:
    """Return the surface that pictures draw for a beam or rod along body x: a tube or prism with a flat cap at
    each end. It joins the outlines of the cross-sections at k ``positions`` (k, 3). ``shapes`` and ``rotations``
    (k, 3, n) are displacement and rotation of the cross-sections per unit of each of n elastic coordinates."""
    stations, rings = len(positions), [_section_ring(outline) for outline in outlines]
    count = len(rings[0][0])
    vertex_nodes = np.repeat(np.arange(stations), count)
    around = np.concatenate([ring for ring, _ in rings])
    normals = np.concatenate([normals for _, normals in rings])
    triangles = side_triangles(stations, count, outlines[0].is_round)
    for station, direction in ((0, -1.0), (stations - 1, 1.0)):
        first, corners = len(vertex_nodes), outlines[station].corners
        middle = corners.mean(axis=0)
        cap = np.concatenate([[middle], corners])
        around = np.concatenate([around, cap])
        normals = np.concatenate([normals, np.tile([direction, 0.0, 0.0], (len(cap), 1))])
        vertex_nodes = np.concatenate([vertex_nodes, np.full(len(cap), station)])
        here = np.arange(len(corners))
        after = (here + 1) % len(corners)
        one, two = (here, after) if direction > 0 else (after, here)
        fan = np.stack([np.zeros_like(here), one + 1, two + 1], axis=1) + first
        triangles = np.concatenate([triangles, fan])
    offsets = np.zeros((len(vertex_nodes), 3))
    offsets[:, 1:] = around
    extent = np.max([np.ptp(outline.corners, axis=0) for outline in outlines], axis=0)
    return Skin(
        positions=positions,
        shapes=shapes,
        rotations=rotations,
        vertex_nodes=vertex_nodes.astype(np.int64),
        offsets=offsets,
        normals=normals,
        triangles=triangles.astype(np.int64),
        lines=(np.arange(stations),),
        width=(float(extent.max()), float(extent.min())),
    )


def solid_skin(surface: Triangulation) -> Skin:
    """Return the surface that pictures draw for a rigid body, made of a mesh of triangles. Vertices are split at
    sharp edges for shading, and all are attached to one node at the body's origin."""
    vertices, triangles = merged_vertices(surface.vertices, surface.triangles)
    vertex_of, normals, faces = shading_vertices(vertices, triangles)
    return Skin(
        positions=np.zeros((1, 3)),
        shapes=np.zeros((1, 3, 0)),
        rotations=np.zeros((1, 3, 0)),
        vertex_nodes=np.zeros(len(vertex_of), dtype=np.int64),
        offsets=vertices[vertex_of],
        normals=normals,
        triangles=faces,
    )


def _section_ring(outline: Outline) -> tuple[Array, Array]:
    """Return vertices (k, 2) [m] and outward unit normals (k, 3) around the outline of one cross-section of a
    drawn tube. A polygon of c corners gives two vertices for each corner, one for each adjacent side, with the
    normal of that side. A round outline gives one vertex for each corner, with a radial normal. Normals have
    component 0 along the tube."""
    corners = outline.corners
    if outline.is_round:
        flat = corners / np.linalg.norm(corners, axis=1, keepdims=True)
        return corners, np.column_stack([np.zeros(len(corners)), flat])
    ahead = np.roll(corners, -1, axis=0)
    side = ahead - corners
    outward = np.stack([side[:, 1], -side[:, 0]], axis=1)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    ring = np.stack([corners, ahead], axis=1).reshape(-1, 2)
    normals = np.column_stack([np.zeros(len(ring)), np.repeat(outward, 2, axis=0)])
    return ring, normals


def side_triangles(stations: int, count: int, is_round: bool) -> IntArray:
    """Return the triangles of the side of a tube as vertex indices, shape (t, 3), two for each face between
    neighbouring rings. Vertex i of ring k, of ``stations`` rings of ``count`` vertices, has the index k ``count``
    + i. With ``is_round``, neighbouring faces share vertices. Otherwise a face joins the vertices 2 i and 2 i + 1
    of a ring."""
    first = np.arange(count) if is_round else np.arange(0, count, 2)
    second = (first + 1) % count
    quads = []
    for k in range(stations - 1):
        a, b = k * count, (k + 1) * count
        quads.append(np.stack([a + first, a + second, b + second], axis=1))
        quads.append(np.stack([a + first, b + second, b + first], axis=1))
    return np.concatenate(quads).astype(np.int64)


def split_faces(faces: IntArray) -> IntArray:
    """Return ``faces`` (f, 4) of vertex indices, quadrilaterals, as triangles, shape (t, 3): each is split into
    two. A face whose last two vertices are equal gives one triangle. Triangles (f, 3) are returned unchanged."""
    if faces.shape[1] == 3:
        return faces
    return np.concatenate([faces[:, [0, 1, 2]], faces[faces[:, 2] != faces[:, 3]][:, [0, 2, 3]]])
