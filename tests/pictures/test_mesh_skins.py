"""Bodies from meshes look like their surface."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from phlexible.pictures.scene import scene_of
from phlexible.shapes.surfaces import Triangulation, enclosed_moments, open_edges

RUBBER = ph.Material(2e8, 1200.0)
GRIDS = np.linspace(0, 1, 5), np.linspace(-0.05, 0.05, 3), np.linspace(-0.03, 0.03, 3)
BRICK = skfem.MeshHex.init_tensor(*GRIDS)
ENDS = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}


@pytest.mark.parametrize("mesh", [BRICK, skfem.MeshTet.init_tensor(*GRIDS)], ids=["hexahedra", "tetrahedra"])
def test_the_skin_of_a_solid_is_closed_and_moves_with_it(mesh):
    part = ph.FlexibleBody.from_mesh(mesh, RUBBER, interfaces=ENDS, modes=2, frame="root")
    skin = part.skin(part.discretize(3), np.zeros((0, 3)))
    places = skin.positions[skin.vertex_nodes]
    surface = Triangulation(places, skin.triangles)
    assert open_edges(surface) == 0
    assert enclosed_moments(surface).volume == pytest.approx(1.0 * 0.1 * 0.06)
    assert np.einsum("ti,tki->tk", surface.normals(), skin.normals[skin.triangles]).min() > 0.8
    model = ph.Model(gravity=(0, 0, -9.81))
    arm = model.add(part, "arm")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), arm["root"]))
    motion = model.simulate(0.02, 1e-3, progress=False)
    drawn = scene_of(motion.run, np.array([20])).bodies[0]
    corner = int(np.linalg.norm(skin.positions - [1, 0.05, 0.03], axis=1).argmin())
    at = motion.position(arm.point((1.0, 0.05, 0.03)))[20]
    assert drawn.nodes()[0, corner] == pytest.approx(at, abs=1e-12)
    assert at[2] < 0.03 - 1e-4


def test_a_plane_mesh_is_drawn_with_all_of_its_cells():
    disc = skfem.MeshTri.init_circle(3)
    part = ph.FlexibleBody.from_mesh(disc, RUBBER, interfaces={"rim": lambda x: x[0] > 0.9}, modes=1, thickness=0.1)
    skin = part.skin(part.discretize(2), np.zeros((0, 3)))
    a, b, c = (skin.positions[skin.vertex_nodes][skin.triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)[:, 2] / 2
    assert area.min() > 0 and area.sum() == pytest.approx(np.pi, rel=0.03)
