"""What a sensor says of itself agrees: over time, at an instant, in a linear model; by every class of sensors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space

import phlexible as ph
from laws.sensors import SENSOR_CASES, measured_model
from phlexible.libraries.outputs import OutputTables
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.small_motions import centring_matrix, displaced, world_matrix

STEP = 1e-6
RATES = {ph.Acceleration: ph.Velocity, ph.AngularAcceleration: ph.AngularVelocity}
RATES[ph.JointAcceleration] = ph.JointRate


@pytest.fixture(scope="module")
def live():
    run = measured_model().start(step=1e-3)
    run.step(20)
    return run


@pytest.mark.parametrize("kind", SENSOR_CASES, ids=lambda kind: kind.__name__)
def test_readings_over_time_and_at_an_instant(kind, live):
    motion = live.motion
    sensor = SENSOR_CASES[kind](motion.mechanism)
    values = motion[sensor]
    flat = values.reshape(len(motion.time), -1)
    assert np.isfinite(values).all() and np.abs(flat).max() > 0
    assert str(sensor) and sensor.unit
    assert flat.shape[1] == sensor.count and len(sensor.components) in (0, sensor.count)
    if not sensor.is_of_motion:
        size = np.abs(flat).max()
        assert np.ravel(live.read(sensor)) == pytest.approx(flat[-1], rel=1e-6, abs=1e-9 * size)


@pytest.mark.parametrize("kind", SENSOR_CASES, ids=lambda kind: kind.__name__)
def test_libraries_follow_what_a_sensor_reads(kind, live):
    sensor = SENSOR_CASES[kind](live.motion.mechanism)
    (output,) = OutputTables(live).of({"": sensor}).outputs
    assert output.size == sensor.count


@pytest.mark.parametrize("kind", SENSOR_CASES, ids=lambda kind: kind.__name__)
def test_rows_of_linear_models_are_the_changes_of_readings(kind, live):
    """Of positions with small motions, of rates with velocities; of accelerations those of the rates."""
    model = measured_model()
    state = live.motion.at(0.0 if kind is ph.Angle else live.time)  # turns about several axes have no one angle
    sensor = SENSOR_CASES[kind](model)
    try:
        linear = model.linearize([], [sensor], at="unloaded", state=replace(state, velocity=0 * state.velocity))
    except ph.ModelError as error:
        assert "outputs are sensors such as" in str(error)
        return
    origin = linear.linearization
    system, at = origin.system, origin.point.state
    reads = sensor if kind not in RATES else RATES[kind](*vars(sensor).values())
    free = null_space(origin.mechanics.constraint_matrix.toarray())
    change = world_matrix(system, at) @ centring_matrix(system, at) @ free
    along = np.random.default_rng(3).normal(size=change.shape[1])

    def reading(factor):
        moved = replace(at, velocity=factor * change @ along)
        if sensor.differentiations == 0:
            moved = displaced(system, at, factor * change @ along)
        names = ("position", "rotation", "eta", "velocity")
        recording = live.motion.recording.rows(slice(0, 1))
        recording = replace(recording, **{name: getattr(moved, name)[None] for name in names})
        return np.ravel(reads.read(RecordedRun(system, recording, is_projected=False))[0])

    expected = (reading(STEP) - reading(-STEP)) / (2 * STEP)
    assert origin.mechanics.rows @ free @ along == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert origin.mechanics.differentiations == (sensor.differentiations,) * len(expected)
