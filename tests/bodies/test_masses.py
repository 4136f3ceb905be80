"""The mass that a description says is that of its equations."""

import numpy as np
import pytest

import phlexible as ph

STEEL = ph.Material(210e9, 7850.0)
TAPER = ph.VaryingSection([0.0, 1.0], [ph.CircularSection(0.04), ph.CircularSection(0.02)])
CELL = ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


@pytest.mark.parametrize(
    ("body", "mass"),
    [
        (ph.Beam(1.0, TAPER, STEEL, masses=[ph.LumpedMass(0.5, 2.0)]), 2.0 + 7850 * np.pi * 7e-4 / 3),
        (ph.Beam(1.0, TAPER, STEEL).split(4), 7850 * np.pi * 7e-4 / 3),
        (ph.String(2.0, 0.3, 5, ph.LinearLaw(1e3)), 0.6),
        (ph.Rod(2.0, ph.CircularSection(0.02), STEEL), 2 * 7850 * np.pi * 1e-4),
        (ph.SoftBody(CELL, law=ph.NeoHookean(1e6, 0.4), density=1000.0, thickness=0.01), 5.0),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, float) else "",
)
def test_the_mass_of_a_description_is_that_of_its_equations(body, mass) -> None:
    assert body.mass == pytest.approx(mass, rel=1e-9)
    model = ph.Model(gravity=(0.0, 0.0, -10.0))
    model.add(body, "body", **({"shape": [(0, 0, 0), (2, 0, 0)]} if isinstance(body, ph.String) else {}))
    motion = model.simulate(0.1, 0.05, progress=False)
    assert motion.momentum.linear[-1, 2] == pytest.approx(-mass, rel=1e-9)
