"""Mass properties of shapes: closed forms, a published tetrahedron, files."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.shapes.solids import BOX_TRIANGLES, Shape
from phlexible.shapes.surfaces import Triangulation, enclosed_moments, open_edges
from refusals import refused

# F. Tonon, Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of its vertex coordinates,
# Journal of Mathematics and Statistics 1 (2004), section 4: density 1.
CORNERS = np.array([[8.33220, -11.86875, 0.93355], [0.75523, 5, 16.37072], [52.61236, 5, -5.38580], [2, 5, 3]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
CENTROID = CORNERS.mean(axis=0)
INERTIA = [
    [43520.33257, -11996.20119, 46343.16662],
    [-11996.20119, 194711.28938, -4417.66150],
    [46343.16662, -4417.66150, 191168.76173],
]


def facets(mesh: ph.TriangleMesh) -> list[str]:
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.triangles)]
    loops = (["outer loop", *(f"vertex {x!r} {y!r} {z!r}" for x, y, z in c.tolist()), "endloop"] for c in corners)
    return ["solid t", *(row for loop in loops for row in ["facet normal 0 0 0", *loop, "endfacet"]), "endsolid t"]


def test_a_published_tetrahedron():
    body = ph.TriangleMesh(CORNERS, FACES).moments()
    assert body.center == pytest.approx(CENTROID)
    assert body.inertia == pytest.approx(np.array(INERTIA), rel=1e-6)


def test_a_pyramid_whose_corners_are_not_around_its_center():
    """Of edge a and height h: m h / 4 up, m (a^2 / 20 + 3 h^2 / 80) across, m a^2 / 10 about the axis."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 2.0]])
    sides = [[k, (k + 1) % 4, 4] for k in range(4)]
    body = ph.TriangleMesh(corners, np.array([[0, 2, 1], [0, 3, 2], *sides])).moments()
    assert body.volume == pytest.approx(2 / 3)
    assert body.center == pytest.approx(np.array([0.5, 0.5, 0.5]))
    assert body.inertia == pytest.approx(2 / 3 * np.diag([0.2, 0.2, 0.1]), abs=1e-15)


def test_an_stl_file_is_that_solid_also_inside_out_binary_and_in_millimetres(tmp_path):
    mesh = ph.TriangleMesh(CORNERS, FACES)
    text, inverted, binary = (tmp_path / name for name in ("text.stl", "inverted.stl", "binary.stl"))
    text.write_text("\n".join(facets(mesh)))
    inverted.write_text("\n".join(facets(ph.TriangleMesh(CORNERS, FACES[:, ::-1]))))
    record = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["corners"] = CORNERS[FACES]
    binary.write_bytes(b"solid or not".ljust(80) + (4).to_bytes(4, "little") + record.tobytes())
    for path in (text, inverted, binary):
        body = ph.RigidBody.from_stl(path, density=2000.0, scale=1e-3)
        assert body.mass == pytest.approx(2000.0 * 1873.233236e-9, rel=1e-6)
        assert body.inertia == pytest.approx(2000.0 * 1e-15 * np.array(INERTIA), rel=1e-6)
        assert body.center == pytest.approx(1e-3 * CENTROID)
        assert open_edges(body.shape.centred()) == 0


def test_what_is_no_solid_is_refused(tmp_path):
    path = tmp_path / "open.stl"
    path.write_text("\n".join(facets(ph.TriangleMesh(CORNERS, FACES[:3]))))
    refused(ph.ParameterError, "not closed: 3 edges", lambda: ph.RigidBody.from_stl(path, density=1.0))
    path.write_text("hello")
    refused(ph.ParameterError, "no triangles", lambda: ph.RigidBody.from_stl(path, density=1.0))
    refused(ph.ParameterError, "color must be", lambda: ph.PointMass(1.0, color="reddish"))


def test_triangles_that_are_listed_twice_and_shells_in_shells():
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    shells = np.vstack([cube, 0.25 + cube / 2])
    inner = 8 + BOX_TRIANGLES
    hollow = np.vstack([BOX_TRIANGLES, inner[:, ::-1]])
    assert ph.RigidBody.from_mesh(shells, hollow, 8.0).mass == pytest.approx(7.0)
    beside = ph.RigidBody.from_mesh(np.vstack([cube, cube + (1, 0, 0)]), np.vstack([BOX_TRIANGLES, inner]), 8.0)
    assert beside.mass == pytest.approx(16.0)
    for again in (BOX_TRIANGLES[:, [1, 2, 0]], BOX_TRIANGLES[:5], inner):
        with pytest.warns(ph.MeshWarning, match=f"{len(again)} of {12 + len(again)} are listed more than once"):
            body = ph.RigidBody.from_mesh(np.vstack([cube, cube]), np.vstack([BOX_TRIANGLES, again]), 8.0)
        assert body.mass == pytest.approx(8.0)
        with pytest.warns(ph.MeshWarning, match="listed more than once"):
            tree = ph.TriangleMesh(np.vstack([cube, cube]), np.vstack([BOX_TRIANGLES, again])).tree()
        assert len(tree.corners) == 12
    with pytest.warns(ph.MeshWarning, match="1 of the closed shells lie in the matter of others"):
        ph.RigidBody.from_mesh(shells, np.vstack([BOX_TRIANGLES, inner]), 8.0)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_triangles_of_both_senses_enclose_nothing(turn):
    """Round-off of the volume would be divided by; a warning fails the test."""
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    cube = Rotation.from_rotvec((turn, 2 * turn, -turn)).apply(cube) + (0.1, 0.2, 0.3)
    for pair in ([BOX_TRIANGLES, BOX_TRIANGLES[:, ::-1]], [BOX_TRIANGLES[:, ::-1], BOX_TRIANGLES]):
        with pytest.raises(ph.ParameterError, match="encloses a volume of 0 m3.*of the opposite sense"):
            ph.RigidBody.from_mesh(cube, np.vstack(pair), 8.0)


def test_closed_forms():
    box = ph.RigidBody.box((1.0, 2.0, 3.0), 10.0, center=(0.5, 0.0, 0.0))
    assert (box.mass, box.center.tolist()) == (60.0, [0.5, 0.0, 0.0])
    assert np.diag(box.inertia) == pytest.approx([65.0, 50.0, 25.0])
    drum = ph.RigidBody.cylinder(0.5, 2.0, 8.0, axis=(1.0, 0.0, 0.0))
    assert drum.mass == pytest.approx(4 * np.pi)
    assert np.diag(drum.inertia) == pytest.approx(4 * np.pi * np.array([0.125, 4.75 / 12, 4.75 / 12]))
    ball = ph.RigidBody.sphere(0.5, 6.0)
    assert ball.mass == pytest.approx(np.pi)
    assert np.diag(ball.inertia) == pytest.approx(np.full(3, 0.1 * np.pi))


SHAPES = [ph.Box((1.0, 2.0, 3.0)), ph.Cylinder(0.4, 1.0, (1.0, 2.0, 2.0)), ph.Sphere(0.3)]
SHAPES += [ph.Torus(0.4, 0.1, (1.0, 2.0, 2.0)), ph.TriangleMesh(CORNERS, FACES)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_surfaces_are_closed_and_point_outwards(shape):
    surface, exact = shape.centred(), shape.moments()
    found = enclosed_moments(surface)
    assert open_edges(surface) == 0
    assert found.volume == pytest.approx(exact.volume, rel=0.05)  # a polygon in place of a circle
    assert found.inertia == pytest.approx(exact.inertia, rel=0.1, abs=0.01 * np.trace(exact.inertia))


def test_no_shape_is_forgotten():
    assert {type(shape) for shape in SHAPES} == set(Shape.__subclasses__())


def test_a_solid_far_from_the_origin_loses_no_digits():
    far = Triangulation(CORNERS + 1e6, FACES)
    assert enclosed_moments(far).inertia == pytest.approx(np.array(INERTIA), rel=1e-6)
