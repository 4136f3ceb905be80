"""What the projection of recordings on their joints keeps."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from measure.synthetic import recorded, two_beams, wandering_poses
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.description.joints.joints import Revolute, Slider, Spherical
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state import recorded_run as projection
from phlexible.state.recorded_run import RecordedRun

TIMES = np.linspace(0.0, 2.0, 7)


def moving_ground(mechanism: Mechanism):
    turn = Rotation.from_rotvec
    return mechanism.ground.moving(
        lambda t: (np.cos(t), np.sin(2 * t), t), lambda t: turn([0.3 * t, np.sin(t), 0.4])
    )


def jointed():
    mechanism = two_beams()
    one, two = mechanism.bodies
    mechanism.connect(Revolute(one.end, two.at(0.3)))
    mechanism.connect(Slider(moving_ground(mechanism), one.at(0.1)))
    return mechanism


def rates_of_joint_functions(run: RecordedRun, velocities: np.ndarray) -> np.ndarray:
    return run.system.rows.rates(run.instants, velocities)


@pytest.mark.parametrize("dense_rows", [200, 0])
@pytest.mark.parametrize("chunk", [4_000_000, 20_000])
def test_projected_velocities_satisfy_the_joints_and_are_the_nearest(dense_rows, chunk, monkeypatch):
    monkeypatch.setattr(projection, "DENSE_ROWS", dense_rows)
    monkeypatch.setattr(projection, "CHUNK_VALUES", chunk)
    mechanism = jointed()
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    before = run.recording.velocity.copy()
    after = run.velocities
    assert np.abs(rates_of_joint_functions(run, before)).max() > 0.1
    assert np.abs(rates_of_joint_functions(run, after)).max() < 1e-12
    assert np.array_equal(run.recording.velocity, before)
    for k, change in enumerate(after - before):  # M (after - before) must be a combination of rows
        masses = [mass_matrix(data, run.elastic(index)[k]) for index, data in enumerate(run.system.frames)]
        impulse = block_diag(*masses) @ change
        rows = run.system.rows.matrix(run.instants.at(slice(k, k + 1))).toarray()
        rest = impulse - rows.T @ np.linalg.lstsq(rows.T, impulse)[0]
        assert np.abs(rest).max() < 1e-11 * np.abs(impulse).max()


def test_a_singular_position_has_the_smallest_impulses():
    mechanism = two_beams()
    one, two = mechanism.bodies
    for _ in range(2):
        mechanism.connect(Spherical(one.end, two.end))  # the same rows twice
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    assert np.abs(rates_of_joint_functions(run, run.velocities)).max() < 1e-6


def test_without_joints_nothing_is_projected():
    mechanism = two_beams()
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    assert np.shares_memory(run.velocities, run.recording.velocity)


def test_smallest_multipliers_of_many_rows_are_those_of_few(monkeypatch):
    mechanism = jointed()
    one, two = mechanism.bodies
    for _ in range(2):
        mechanism.connect(Spherical(one.end, two.end))  # the same rows twice
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    given = np.random.default_rng(0).normal(size=(len(TIMES), len(run.system.owners)))
    run = replace(run, recording=replace(run.recording, multipliers=given))
    few = run.multipliers
    assert np.abs(few - given).max() > 0.1
    monkeypatch.setattr(projection, "DENSE_ROWS", 0)
    assert replace(run).multipliers == pytest.approx(few, abs=1e-12)
