"""Constraint matrices against differences of the joint functions, and what the projection keeps."""

import numpy as np
import pytest
from phlexible.observables.inertia import mass_matrices
from phlexible.observables.vectors import world_rates, world_values
from scipy.spatial.transform import Rotation

from observables.synthetic import recorded, slope, two_beams, wandering, wandering_poses
from phlexible.interactions.functions import DirectionOf, PointOf, Row
from phlexible.joints.cylindrical import Cylindrical
from phlexible.joints.distance import Distance
from phlexible.joints.fixed import Fixed
from phlexible.joints.planar import Planar
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.joints.universal import Universal
from phlexible.mechanism.mechanism import Mechanism
from phlexible.observables import projection
from phlexible.observables.poses import rotation
from phlexible.observables.projection import constraint_blocks, projected_velocities
from phlexible.observables.run import Run

TIMES = np.linspace(0.0, 2.0, 7)
SPATIAL = (Fixed, Revolute, Prismatic, Cylindrical, Universal, Spherical, Planar, Slider, Distance)
IN_THE_PLANE = (Fixed, Revolute, Prismatic, Spherical, Slider, Distance)


def moving_ground(mechanism: Mechanism):
    if mechanism.dimension == 2:
        return mechanism.ground.moving(lambda t: (np.cos(t), np.sin(2 * t), 0), lambda t: np.sin(t))
    turn = Rotation.from_rotvec
    return mechanism.ground.moving(
        lambda t: (np.cos(t), np.sin(2 * t), t), lambda t: turn([0.3 * t, np.sin(t), 0.4])
    )


def jointed(kind, dimension, ground=""):
    mechanism = two_beams(dimension)
    one, two = mechanism.bodies
    first, second = one.end, two.at(0.3)
    if ground == "first":
        first = moving_ground(mechanism)
    if ground == "second":
        second = moving_ground(mechanism)
    mechanism.connect(kind(first, second))
    return mechanism


def rows_of(run: Run) -> list[Row]:
    return [row for joint in run.mechanism.joints for row in joint.rows(run.mechanism.dimension)]


def joint_functions(run: Run) -> np.ndarray:
    def value(row: Row) -> np.ndarray:
        products = [
            term.coefficient * (world_values(run, term.first) * world_values(run, term.second)).sum(axis=1)
            for term in row.terms
        ]
        return np.sum(products, axis=0) - row.constant

    return np.stack([value(row) for row in rows_of(run)], axis=1)


def rates_of_joint_functions(run: Run, velocities: np.ndarray) -> np.ndarray:
    blocks, rates = constraint_blocks(run, rows_of(run))
    for body, own in blocks.items():
        part = slice(*run.layout.velocity[body : body + 2])
        for row, block in own.items():
            rates[:, row] += (block * velocities[:, part]).sum(axis=1)
    return rates


@pytest.mark.parametrize("ground", ["", "first", "second"])
@pytest.mark.parametrize(
    ("kind", "dimension"), [(kind, 3) for kind in SPATIAL] + [(kind, 2) for kind in IN_THE_PLANE]
)
def test_rates_of_joint_functions_are_their_differences(kind, dimension, ground):
    mechanism = jointed(kind, dimension, ground)
    poses = wandering_poses(mechanism)
    run = recorded(mechanism, poses, TIMES)
    expected = [
        slope(lambda t: joint_functions(recorded(mechanism, poses, np.array([t])))[0], time) for time in TIMES
    ]
    assert rates_of_joint_functions(run, run.recording.velocity) == pytest.approx(np.array(expected), abs=2e-9)


def test_values_at_the_initial_pose_are_where_the_joint_was_written_down():
    mechanism = jointed(Revolute, 3)
    initial = [
        lambda t, p=placed: (p.position, p.rotation, np.zeros(p.data.elastic_count)) for placed in mechanism.bodies
    ]
    run = recorded(mechanism, initial, TIMES[:1])
    row = mechanism.joints[0].rows(3)[3]
    for vector in (row.terms[0].first, row.terms[0].second):
        assert world_values(run, vector)[0] == pytest.approx(vector.axis, abs=1e-14)


@pytest.mark.parametrize("make", [PointOf, lambda port: DirectionOf(port, np.array([0.6, 0.0, 0.8]))])
def test_rates_of_vectors_are_their_differences(make):
    mechanism = jointed(Revolute, 3, ground="first")
    poses = wandering_poses(mechanism)
    run = recorded(mechanism, poses, TIMES)
    for port in (mechanism["two"].end, mechanism.joints[0].first):
        vector = make(port)
        expected = [
            slope(lambda t, v=vector: world_values(recorded(mechanism, poses, np.array([t])), v)[0], time)
            for time in TIMES
        ]
        found = world_rates(run, vector, run.recording.velocity)
        assert found == pytest.approx(np.array(expected), abs=2e-9)


def test_directions_turn_with_the_material_to_first_order_in_the_slopes():
    mechanism = two_beams()
    end = mechanism["two"].end
    axis = np.array([0.6, 0.0, 0.8])

    def gap(amplitude):
        poses = [wandering(k, end.placed.data.elastic_count, amplitude=amplitude) for k in range(2)]
        run = recorded(mechanism, poses, TIMES)
        exact = rotation(run, end) @ end.placed.rotation.T @ axis
        rigid = rotation(run, end.placed) @ end.placed.rotation.T @ axis
        assert np.abs(exact - rigid).max() > amplitude / 10
        return np.abs(world_values(run, DirectionOf(end, axis)) - exact).max()

    assert gap(1e-3) < 1e-4
    assert gap(1e-3) / gap(1e-4) == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("dense_rows", [200, 0])
@pytest.mark.parametrize("chunk", [4_000_000, 20_000])
def test_projected_velocities_satisfy_the_joints_and_are_the_nearest(dense_rows, chunk, monkeypatch):
    monkeypatch.setattr(projection, "DENSE_ROWS", dense_rows)
    monkeypatch.setattr(projection, "CHUNK_NUMBERS", chunk)
    mechanism = jointed(Revolute, 3)
    mechanism.connect(Slider(moving_ground(mechanism), mechanism["one"].at(0.1)))
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    before = run.recording.velocity.copy()
    after = projected_velocities(run)
    assert np.abs(rates_of_joint_functions(run, before)).max() > 0.1
    assert np.abs(rates_of_joint_functions(run, after)).max() < 1e-12
    assert np.array_equal(run.recording.velocity, before)
    blocks, _ = constraint_blocks(run, rows_of(run))
    impulse = np.zeros((len(TIMES), after.shape[1]))  # M (after - before) must be a combination of rows
    matrix = np.zeros((len(TIMES), len(rows_of(run)), after.shape[1]))
    for body, placed in enumerate(mechanism.bodies):
        part = slice(*run.layout.velocity[body : body + 2])
        masses = mass_matrices(placed.data, run.elastic(body))
        impulse[:, part] = np.einsum("tij,tj->ti", masses, (after - before)[:, part])
        for row, block in blocks[body].items():
            matrix[:, row, part] = block
    for g, change in zip(matrix, impulse, strict=True):
        rest = change - g.T @ np.linalg.lstsq(g.T, change)[0]
        assert np.abs(rest).max() < 1e-11 * np.abs(change).max()


def test_velocities_that_satisfy_the_joints_stay():
    mechanism = two_beams()
    one, two = mechanism.bodies
    mechanism.connect(Spherical(one.at(0.0), two.at(0.0)))
    poses = wandering_poses(mechanism)
    poses[1] = lambda t, free=poses[1]: (poses[0](t)[0], *free(t)[1:])  # cantilevers: no elastic part there
    run = recorded(mechanism, poses, TIMES)
    assert projected_velocities(run) == pytest.approx(run.recording.velocity, abs=1e-10)


def test_a_singular_position_has_the_smallest_impulses():
    mechanism = two_beams()
    one, two = mechanism.bodies
    for _ in range(2):
        mechanism.connect(Spherical(one.end, two.end))  # the same rows twice
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    after = projected_velocities(run)
    assert np.abs(rates_of_joint_functions(run, after)).max() < 1e-6


def test_without_joints_nothing_is_projected():
    mechanism = two_beams()
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    assert projected_velocities(run) is run.recording.velocity
