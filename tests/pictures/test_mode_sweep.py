"""Frequencies over a parameter; outlines of modes."""

import csv
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import STEEL, bar
from phlexible.pictures.modes import mode_outline, sharp_edges

REFERENCE = Path(__file__).parent.parent / "linear" / "four_bar.csv"


def test_sweep_of_the_four_bar_is_figure_6():
    """Pulsations 1 to 3 of exact dynamic stiffness matrices at twelve crank angles."""
    rows = list(csv.DictReader(REFERENCE.read_text().splitlines()))
    angles = np.deg2rad([float(row["crank_angle_deg"]) for row in rows])
    exact = np.array([[float(row[f"omega{k}"]) for k in (1, 2, 3)] for row in rows])
    sweep = ph.mode_sweep(ph.gallery.four_bar, angles, 3, parameter="crank angle [rad]")
    assert sweep.values == pytest.approx(angles)
    assert sweep.frequencies == pytest.approx(exact, rel=1e-5)
    assert not sweep.damping_ratios.any()


def pendulum(length):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    mass = model.add(ph.RigidBody(1.0, 0.5, center=(0, -length, 0)), "body")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), mass.origin))
    return model


def test_a_model_with_fewer_modes_leaves_gaps(tmp_path):
    sweep = ph.mode_sweep(pendulum, [1.0, 2.0, 4.0], 2, at="static", parameter="length [m]")
    lengths = np.array([1.0, 2.0, 4.0])
    assert sweep.frequencies[:, 0] == pytest.approx(np.sqrt(9.81 * lengths / (0.5 + lengths**2)))
    assert np.isnan(sweep.frequencies[:, 1]).all()
    assert sweep.plot(tmp_path / "sweep.png").axes[0].get_xlabel() == "length [m]"
    assert (tmp_path / "sweep.png").stat().st_size > 1000


def test_a_sweep_of_speeds_at_rest_warns_once():
    """Without centrifugal stiffening all speeds have the frequencies of rest; in steady rotation they rise."""

    def blade(speed):
        model = ph.Model(dimension=2)
        hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=lambda t: speed * t)
        body = ph.Beam(0.8, ph.RectangularSection(0.05, 0.01), ph.Material(2.1e11, 7850.0), elements=4)
        model.connect(ph.Fixed(hub, model.add(body, "blade").start))
        return model

    speeds = [0.0, 70.0, 140.0]
    words = "at speed = 140 leaves out the initial rotation of blade"
    with pytest.warns(ph.errors.LeftOutWarning, match=words) as given:
        still = ph.mode_sweep(blade, speeds, 2, parameter="speed").frequencies
    assert len(given) == 1 and np.ptp(still, axis=0) == pytest.approx(0.0, abs=1e-9)
    assert (np.diff(ph.mode_sweep(blade, speeds, 2, at="steady_rotation").frequencies, axis=0) > 1.0).all()


def test_a_value_that_fails_is_named():
    with pytest.raises(ph.ParameterError, match="elements") as refused:
        ph.mode_sweep(lambda n: ph.gallery.four_bar(elements=int(n)), [2, 0], 1, parameter="elements")
    assert refused.value.__notes__ == ["at elements = 0"]


def test_a_damped_shape_shows_at_phase_zero():
    """The phase of a complex shape is arbitrary; its picture is not."""
    modes = ph.gallery.satellite(elements=4).linearize().modes(5)
    linear, shape = modes.linearization, modes.shapes[:, 4]
    first, turned = mode_outline(linear, shape), mode_outline(linear, shape * np.exp(1.3j))
    lines = first.at_phase(0.0, 0.5)
    assert max(np.abs(line - still).max() for line, still in zip(lines, first.still, strict=True)) > 0.499
    for line, other in zip(lines, turned.at_phase(0.0, 0.5), strict=True):
        assert min(np.abs(line - other).max(), np.abs(line + other).max()) < 1e-9
    for line, still in zip(first.at_phase(np.pi / 2, 0.5), first.still, strict=True):
        assert np.abs(line - still).max() < 0.05  # nearly in phase


def test_arms_of_a_hub_reach_its_panels_and_the_ground_is_drawn():
    outline = mode_outline(
        (modes := ph.gallery.satellite(elements=4).linearize().modes(4)).linearization, modes.shapes[:, 3]
    )
    arms = [line for line in outline.still if len(line) == 2]
    assert sorted(arm[1, 0] for arm in arms) == [-0.75, 0.75]
    four_bar = ph.gallery.four_bar().linearize().modes(1)
    held = mode_outline(four_bar.linearization, four_bar.shapes[:, 0]).ground
    assert held == pytest.approx(np.array([[0, 0, 0], [0.254, 0, 0]]))


def test_a_spin_about_the_own_axis_draws_no_noise():
    modes = ph.gallery.spinning_shaft(elements=4).linearize(at="steady_rotation").modes(1)
    outline = mode_outline(modes.linearization, modes.shapes[:, 0])
    for line, still in zip(outline.at_phase(0.0, 0.1), outline.still, strict=True):
        assert np.array_equal(line, still)


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (bar((3, 2, 1), modes=1), 4 * (0.3 + 0.03 + 0.02)),
        (ph.Plate(1.2, 0.8, 0.01, STEEL, elements=(3, 2), interfaces={"start": "rigid"}, modes=1), 2 * (1.2 + 0.8)),
    ],
)
def test_meshes_are_drawn_by_their_sharp_edges(body, length):
    """Of a box its twelve edges, of a plate its rim."""
    skin = body.skin(body.data, np.zeros((0, 3)))
    found = sum(np.linalg.norm(np.diff(skin.positions[edge], axis=0), axis=1).sum() for edge in sharp_edges(skin))
    assert found == pytest.approx(length)
    model = ph.Model()
    part = model.add(body, "body")
    model.connect(ph.Fixed(model.ground.at(part["start"].initial_position()), part["start"]))
    modes = model.linearize().modes(1)
    outline = mode_outline(modes.linearization, modes.shapes[:, 0])
    still, moved = np.concatenate(outline.still), np.concatenate(outline.at_phase(0.0, 0.1))
    far, along = np.linalg.norm(moved - still, axis=1), still[:, 0] / still[:, 0].max()
    inside = (along > 0.01) & (along < 0.99)
    assert (far[inside] < 0.09 * along[inside]).all() and far.max() == pytest.approx(0.1)  # bent, no straight line
    seen = modes.plot(0).axes[0]
    assert {seen.get_xlabel()[0], seen.get_ylabel()[0]} == {"x", "xyz"[np.abs(moved - still).max(0).argmax()]}
