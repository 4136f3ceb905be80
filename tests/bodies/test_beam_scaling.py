"""Beams of one structure, whose arrays are scaled, against arrays that are integrated element by element."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.beam import scaling

STEEL = ph.Material(2.1e11, 7850.0, poissons_ratio=0.3)
DIAGONAL = ph.GeneralSection(np.diag([8e6, 3e6, 2e6, 8e3, 7e3, 6e3]), np.diag([3.0, 3.0, 3.0, 5e-3, 2e-3, 3e-3]))
COUPLED = ph.Section(4e-4, 3e-8, 2e-8, 1e-8, 3e-4, shear_center=(0.01, 0.0))
OPTIONS = [*product((2, 3), ("cantilever", "simply_supported"), ("euler_bernoulli", "timoshenko"), (True, False))]


def numbers(body):
    arrays = {"m": np.array(body.mass), "S": body.first_moments, "W": body.second_moments}
    return arrays | {name: value for name, value in vars(body.strain).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(("dimension", "frame", "theory", "rotary_inertia"), OPTIONS)
@pytest.mark.parametrize("strain", ["von_karman", "linear"])
@pytest.mark.parametrize("section", [ph.RectangularSection(0.03, 0.011), DIAGONAL])
def test_scaled_arrays_are_those_of_each_element(dimension, frame, theory, rotary_inertia, strain, section):
    material = None if section is DIAGONAL else STEEL
    options = {"frame": frame, "theory": theory, "strain": strain}
    beam = ph.Beam(0.77, section, material, 3, rotary_inertia=rotary_inertia or theory == "timoshenko", **options)
    mesh, basis = beam._coordinates(dimension)
    found, expected = beam.discretize(dimension), beam._assemble(mesh, basis.columns)
    assert found.elastic_units == expected.elastic_units
    for name, value in numbers(expected).items():
        assert numbers(found)[name] == pytest.approx(
            value, rel=1e-13, abs=1e-14 * np.abs(value).max(initial=0.0)
        ), name


def test_coupled_and_varying_beams_are_not_scaled(monkeypatch):
    beam = ph.Beam(0.77, ph.CircularSection(0.013), STEEL, 3, theory="timoshenko")
    monkeypatch.setattr(scaling, "_unit_beam", lambda *_: pytest.fail("a beam was scaled"))
    cone = ph.VaryingSection([0.0, 0.77], [ph.CircularSection(0.02), ph.CircularSection(0.01)])
    with_mass = {"masses": [ph.LumpedMass(0.3, 0.2)]}
    for change in ({"section": COUPLED}, {"section": cone}, {"frame": "mean_axis"}, {"elements": 40}, with_mass):
        assert replace(beam, **change).discretize(3).elastic_count > 0
