"""What a picture chooses to show of a motion: places that move, named as the user named them."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.results.pictures.telling import telling_panels

RUBBER = ph.Material(1e6, 1000.0, 0.3)
SECTION = ph.RectangularSection(0.02, 0.02)


def falling(body):
    """Clamped at its start, for an instant."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    placed = model.add(body, "thing")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start))
    return model.simulate(0.02, 1e-3, progress=False), placed


@pytest.mark.parametrize("body", [ph.Rod(1.0, SECTION, RUBBER, 6), ph.Beam(1.0, SECTION, RUBBER, 4).split(2)])
def test_rods_and_beams_in_parts_show_their_ends(body) -> None:
    motion, placed = falling(body)
    panel = next(panel for panel in telling_panels(motion, [], most=9) if panel.label == "position [m]")
    curves = dict(panel.curves)
    assert "y of thing, end" in curves and all("node" not in name and "part" not in name for name in curves)
    assert np.array_equal(curves["y of thing, end"], motion.position(placed.end)[:, 1])


def test_a_pinned_beam_shows_its_middle() -> None:
    motion, placed = falling(ph.Beam(1.0, SECTION, RUBBER, 4))
    panel = next(panel for panel in telling_panels(motion, [], most=9) if panel.label == "position [m]")
    assert np.array_equal(dict(panel.curves)["y of thing"], motion.position(placed.at(0.5))[:, 1])
