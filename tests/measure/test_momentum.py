"""Momenta against sums over material points of a synthetic motion."""

import numpy as np
import pytest

import phlexible as ph
from measure.synthetic import recorded, wandering_poses
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.measure import energy as chunked
from phlexible.measure.energy import momentum
from phlexible.measure.kinematics import velocity

TIMES = np.linspace(0.0, 2.0, 5)


def test_momentum_of_a_beam_is_the_sum_over_its_material(monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_VALUES", 500)
    mechanism = Mechanism()
    width, height, length = 0.03, 0.02, 0.8
    steel = ph.Material(2e11, 7800.0)
    beam = mechanism.add(ph.Beam(length, ph.RectangularSection(width, height), steel, elements=1), "beam")
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    two_nodes, two_weights = np.polynomial.legendre.leggauss(2)
    linear, angular, moment = np.zeros((3, len(TIMES), 3))
    for x, wx in zip(nodes, weights, strict=True):
        for y, wy in zip(two_nodes, two_weights, strict=True):
            for z, wz in zip(two_nodes, two_weights, strict=True):
                point = beam.point((length * (1 + x) / 2, width * y / 2, height * z / 2))
                mass = steel.density * length * width * height * wx * wy * wz / 8
                v = velocity(run, point)
                linear += mass * v
                moment += mass * ph.Position(point).read(run)
                angular += mass * np.cross(ph.Position(point).read(run), v)
    total = momentum(run)
    assert total.linear == pytest.approx(linear, rel=1e-9)
    assert total.angular == pytest.approx(angular, rel=1e-6, abs=1e-6)
    assert total.center_of_mass == pytest.approx(moment / beam.data.mass, rel=1e-9)


def test_a_string_that_turns_about_its_end_has_the_momentum_of_a_rod():
    """rho A w l^2 / 2 across and rho A w l^3 / 3 about the end."""
    model = ph.Model()
    model.add(ph.String(2.0, 0.3, 4, ph.LinearLaw(50.0)), "rope", velocity=lambda s: (0.0, 1.5 * s, 0.0))
    start = model.simulate(1e-3, 1e-3, progress=False).momentum
    assert start.linear[0] == pytest.approx([0.0, 0.9, 0.0])
    assert start.angular[0] == pytest.approx([0.0, 0.0, 1.2])
