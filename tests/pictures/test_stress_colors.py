"""Pictures of section forces and of stress."""

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
    assert colors.greatest == pytest.approx(motion.mesh_stress(motion["arm"]).von_mises[-1].max())
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


def hanging(dimension: int = 2) -> tuple[ph.Motion, object]:
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7870.0), elements=3), "arm")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    return model.simulate(0.01, 1e-3, initial="quasi_static", progress=False), beam


def test_each_force_has_a_panel_and_each_instant_a_line(tmp_path) -> None:
    motion, beam = hanging()
    figure = motion.plot_section_forces(beam, times=[0.0, 0.01], path=tmp_path / "forces.png")
    assert (tmp_path / "forces.png").stat().st_size > 5000
    assert [axes.get_ylabel() for axes in figure.axes] == ["$N$ [N]", "$Q_y$ [N]", "$M_z$ [N m]"]
    lines = [line for line in figure.axes[1].lines if line.get_label().endswith(" s")]
    assert [line.get_label() for line in lines] == ["0 s", "0.01 s"]
    x, values = lines[0].get_data()
    assert len(x) == 6 and x[[0, -1]] == pytest.approx([0, 1], abs=1e-6)
    weight = 7870 * np.pi * 0.01**2 / 4 * 9.81
    assert values == pytest.approx(-weight * np.repeat([5, 3, 1], 2) / 6, rel=1e-3)
    assert figure.axes[0].get_title(loc="right") == "arm"


def test_forces_out_of_the_plane_have_panels_in_space_where_they_are_not_zero() -> None:
    motion, beam = hanging(3)
    assert len(motion.plot_section_forces(beam, times=1).axes) >= 3
    with pytest.raises(ph.ParameterError, match="times must lie"):
        motion.plot_section_forces(beam, times=[1.0])
