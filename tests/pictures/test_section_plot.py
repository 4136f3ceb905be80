"""The picture of section forces: a panel for each that is there, jumps between elements kept."""

import numpy as np
import pytest

import phlexible as ph


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
    shear = figure.axes[1]
    lines = [line for line in shear.lines if line.get_label().endswith(" s")]
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
