"""Momenta against sums over material points of a synthetic motion."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from measure.synthetic import recorded, slope, two_beams, wandering, wandering_poses
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.elements.sections import RectangularSection
from phlexible.measure import energy as chunked
from phlexible.measure.energy import momentum
from phlexible.measure.kinematics import velocity
from phlexible.measure.sensors import Position
from phlexible.state.recorded_run import RecordedRun

TIMES = np.linspace(0.0, 2.0, 5)


def test_momentum_of_a_beam_is_the_sum_over_its_material(monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_NUMBERS", 500)
    mechanism = Mechanism()
    width, height, length = 0.03, 0.02, 0.8
    steel = Material(2e11, 7800.0)
    beam = mechanism.add(Beam(length, RectangularSection(width, height), steel, elements=1), "beam")
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
                moment += mass * Position(point).read(run)
                angular += mass * np.cross(Position(point).read(run), v)
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


def test_momenta_of_bodies_add_up():
    mechanism = two_beams()
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    total = momentum(run)
    for sum_of_both, name in ((total.linear, "linear"), (total.angular, "angular")):
        each = []
        for still in (0, 1):
            velocity = run.recording.velocity.copy()
            velocity[:, run.system.layout.place(still)] = 0
            one = RecordedRun(run.system, replace(run.recording, velocity=velocity))
            each.append(getattr(momentum(one), name))
            assert np.abs(each[-1]).max() > 0.1
        assert sum_of_both == pytest.approx(each[0] + each[1], abs=1e-12)


def test_momentum_of_a_rigid_body_away_from_its_center():
    mechanism = Mechanism()
    inertia, center = np.array([1.0, 1.2, 1.5]), np.array([0.1, -0.2, 0.3])
    mechanism.add(RigidBody(2.0, inertia, center), "body")
    pose = wandering(3, 0)
    run = recorded(mechanism, [pose], TIMES)

    def place(time):
        r, turn, _ = pose(time)
        return r + turn @ center

    places, rates = (np.array([each(t) for t in TIMES]) for each in (place, lambda t: slope(place, t)))
    spin = np.einsum("tij,tj->ti", run.recording.rotation[:, 0], inertia * run.recording.velocity[:, 3:])
    total = momentum(run)
    assert total.linear == pytest.approx(2 * rates, abs=1e-12)
    assert total.angular == pytest.approx(np.cross(places, 2 * rates) + spin, abs=1e-12)
    assert total.center_of_mass == pytest.approx(places, abs=1e-14)
