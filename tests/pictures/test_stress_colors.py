"""Bodies from meshes in the colours of their stress, in space and in the plane, with a bar that says how much."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.pictures.scene import mesh_fields, scene_of
from phlexible.pictures.style import StressColors, inner_sides_moved_back

skfem = pytest.importorskip("skfem")
pytest.importorskip("matplotlib")

STEEL = ph.Material(2e11, 7850.0, 0.3)
ENDS = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}
ALONG, ACROSS = np.linspace(0, 1, 9), np.linspace(-0.05, 0.05, 3)


def bent(dimension: int) -> ph.Motion:
    """A cantilever whose tip is pushed across, harder and harder."""
    if dimension == 3:
        mesh = skfem.MeshHex.init_tensor(ALONG, ACROSS, ACROSS)
        part = ph.FlexibleBody.from_mesh(mesh, STEEL, interfaces=ENDS, modes=2, frame="root")
    else:
        mesh = skfem.MeshQuad.init_tensor(ALONG, ACROSS)
        part = ph.FlexibleBody.from_mesh(mesh, STEEL, interfaces=ENDS, modes=2, frame="root", thickness=0.1)
    model = ph.Model(dimension=dimension)
    arm = model.add(part, "arm")
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), "ball", position=(1, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), arm["root"]))
    model.connect(ph.Fixed(arm["tip"], ball.origin))
    model.apply(ph.Force(arm["tip"], lambda t: (0, 2e6 * t, 0)))
    return model.simulate(0.02, 1e-3, progress=False)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_picture_of_a_run_shows_stress_where_it_is_greatest(dimension) -> None:
    motion = bent(dimension)
    instants = np.array([0, 20])
    scene = scene_of(motion.run, instants)
    colors = StressColors(mesh_fields(motion.run, scene.bodies, instants))
    arm, ball = scene.bodies
    stress = motion.mesh_stress(motion["arm"])
    assert colors.greatest == pytest.approx(stress.von_mises[-1].max())
    assert colors.base(ball, 1).shape == (3,)  # its own
    shades = colors.base(arm, 1)
    x = (arm.skin.positions[arm.skin.vertex_nodes] + arm.skin.offsets)[arm.skin.triangles].mean(axis=1)[:, 0]
    at_root, at_tip = shades[x < 0.1], shades[x > 0.9]  # cividis: from blue to yellow, red grows with stress
    assert at_root[:, 0].max() > 0.5 > 0.2 > at_tip[:, 0].max()
    assert np.ptp(colors.base(arm, 0), axis=0).max() == 0.0  # at rest
    for figure in (motion.plot(), motion.plot_mechanism()):
        (bar,) = [axes for axes in figure.axes if axes.get_label() == "bar of colours"]
        assert bar.get_xlabel().startswith("von Mises stress [MPa] at t = 0.0")
        assert bar.get_xlim() == pytest.approx((0.0, colors.greatest / 1e6))
    assert all(axes.get_label() != "bar of colours" for axes in ph.gallery.heavy_top().plot().axes)


def test_sides_that_face_away_are_behind_those_in_sight() -> None:
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0.5]], [[0, 0, 0], [0, 1, 0.5], [1, 0, 0]]])
    moved = inner_sides_moved_back(corners, np.array([0.0, 0.0, 1.0]), 0.1)
    assert np.array_equal(moved[0], corners[0]) and moved[1] == pytest.approx(corners[1] - [0, 0, 0.6])
