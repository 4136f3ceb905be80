"""Runs that go on after an end, an interruption or a kill; many kills: ``python tests/faults/kills.py 100``."""

import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from faults.kills import differences, kill_many
from faults.models import CASES, STEEL, Case
from phlexible.results.files import journal, run_output
from phlexible.state.recorded_run import RecordedStates
from phlexible.step.integration import simulation

STEPS = 120


@cache
def whole(name: str) -> RecordedStates:
    return CASES[name].simulate(STEPS).recording


def assert_the_same(found: RecordedStates, expected: RecordedStates) -> None:
    assert len(found.time) == len(expected.time)
    assert differences(found, expected) == []


@pytest.mark.parametrize("name", list(CASES))
def test_a_finished_run_goes_on_with_the_same_digits(tmp_path, name):
    path, every = tmp_path / "run.h5", CASES[name].every
    CASES[name].simulate(16 * every, output=path)
    CASES[name].resume(path, 17 * every)
    ph.Motion.load(path).save(path)  # keeps what is needed to go on
    motion = CASES[name].resume(path, STEPS)
    for found in (motion, ph.Motion.load(path)):
        assert found.is_complete
        assert_the_same(found.recording, whole(name))


@pytest.mark.parametrize("name", list(CASES))
def test_a_run_that_is_killed_between_its_last_step_and_its_end_gets_its_end(tmp_path, monkeypatch, name):
    """All instants are in the file, the forces of the last one are not."""
    path, left, steps, end = tmp_path / "run.h5", tmp_path / "left.h5", 63, simulation.Simulation._end

    def copied(run: simulation.Simulation) -> None:
        shutil.copy(path, left)
        end(run)

    monkeypatch.setattr(run_output, "SECONDS", 0.0)
    monkeypatch.setattr(simulation.Simulation, "_end", copied)
    expected = CASES[name].simulate(steps, output=path).recording
    monkeypatch.undo()
    killed = ph.Motion.load(left)
    assert not killed.is_complete and len(killed.time) == len(expected.time)
    for found in (CASES[name].resume(left, steps), ph.Motion.load(left)):
        assert found.is_complete
        assert_the_same(found.recording, expected)
    with pytest.raises(ph.ParameterError, match="duration must be beyond"):
        CASES[name].resume(left, steps)


def test_steps_that_are_halved_stay_so(tmp_path):
    """Stopped after each step that was halved, and after the steps that follow it."""
    path, expected = tmp_path / "run.h5", CASES["halved"].simulate(150).recording
    halved = np.flatnonzero(np.diff(expected.halvings)) + 1
    stops = sorted({int(k) for step in halved[:2] for k in (step, step + 1)})
    assert len(stops) >= 3
    for stop in stops:
        CASES["halved"].simulate(stop, output=path, overwrite=True)
        assert_the_same(CASES["halved"].resume(path, 150).recording, expected)


def test_a_run_that_stops_where_a_contact_ends_goes_on_with_the_same_digits(tmp_path):
    """The number of substeps that a contact asked for last is where the next step begins."""

    def make() -> ph.Model:
        model = ph.Model(gravity=(0, 0, -9.81))
        for k in range(2):
            model.add(ph.RigidBody.sphere(0.1, 500.0), position=(0.3 * k, 0, 0.11 + 0.01 * k))
        floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        model.apply(ph.Contact([*model.bodies, floor], stiffness=1e5, friction=0.3))
        return model

    case, path = Case(make, 2e-3), tmp_path / "run.h5"
    expected = case.simulate(60).recording
    ends = np.flatnonzero(np.diff(expected.contact_steps) > 0)
    assert len(ends) >= 2
    for stop in range(ends[0], ends[0] + 8):
        case.simulate(stop, output=path, overwrite=True)
        assert_the_same(case.resume(path, 60).recording, expected)


def test_an_instant_that_only_the_end_has_stored_stays(tmp_path):
    """Of a run that stores each third step and stops at the 16th."""
    path, case = tmp_path / "run.h5", CASES["controlled"]
    case.simulate(16, output=path)
    found = case.resume(path, STEPS).recording
    assert found.time[5:8] == pytest.approx([0.015, 0.016, 0.018])
    others = found.rows(np.arange(len(found.time)) != 6)
    others.step_error[6] = found.step_error[6:8].max()  # since the instant before
    assert_the_same(others, whole("controlled"))


def test_the_work_of_a_load_on_many_points_has_the_same_digits_in_blocks_of_any_length(tmp_path):
    """Sums over points of one instant alone have the order of those of many."""

    def make() -> ph.Model:
        model = ph.Model(gravity=(0, -9.81, 0))
        beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), STEEL, elements=6), "beam")
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start))
        model.apply(ph.DistributedForce(beam, lambda x, t: (0.0, 100 * np.cos(5 * t) * x, 7.0 * x)))
        return model

    case, path = Case(make, 1e-3), tmp_path / "run.h5"
    expected = case.simulate(20).recording
    for stop in range(1, 8):
        case.simulate(stop, output=path, overwrite=True)
        found = case.resume(path, stop + 1).recording
        assert differences(found, expected.rows(slice(stop + 2)), is_complete=False) == []


def pushed(name: str, push: Callable) -> Case:
    def make() -> ph.Model:
        model = CASES[name].make()
        body = model.bodies[0]
        model.apply(ph.Force(body.origin if name == "controlled" else body.end, push))
        return model

    return replace(CASES[name], make=make)


class Breaking:
    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, t):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("broken table")
        return (0.0 * t, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(8))
def test_an_error_of_a_function_at_any_call_loses_nothing(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(simulation, "FIRST_CHUNK", 5)
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", 0.0)  # chunks do not grow
    name, path, steps, quiet = list(CASES)[seed % 4], tmp_path / "run.h5", 63, Breaking(10**9)
    expected = pushed(name, quiet).simulate(steps).recording
    calls = 10**9 - quiet.left
    call = np.random.default_rng(seed).integers(calls // 4, calls)
    with pytest.raises((RuntimeError, ph.FunctionError), match="broken table") as caught:
        pushed(name, Breaking(call)).simulate(steps, output=path)
    found = caught.value.motion.recording
    assert_the_same(ph.Motion.load(path).recording, found)
    assert differences(found, expected) == [] and len(found.time) < len(expected.time)
    assert_the_same(pushed(name, quiet).resume(path, steps).recording, expected)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("block", [1, 2, 6])
def test_an_interruption_while_a_block_is_written_keeps_file_and_motion_alike(tmp_path, monkeypatch, name, block):
    path, record, written = tmp_path / "run.h5", journal.record_bytes, []

    def interrupted(*arguments):
        written.append(1)
        if len(written) == block:
            signal.raise_signal(signal.SIGINT)
        return record(*arguments)

    monkeypatch.setattr(simulation, "FIRST_CHUNK", 5)
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", 0.0)
    expected = CASES[name].simulate(70).recording
    monkeypatch.setattr(run_output, "SECONDS", 0.0)
    monkeypatch.setattr(journal, "record_bytes", interrupted)
    motion = CASES[name].simulate(70, output=path)
    assert not motion.is_complete and 1 <= len(motion.time) < len(expected.time)
    loaded = ph.Motion.load(path)
    assert not loaded.is_complete
    assert_the_same(loaded.recording, motion.recording)
    assert_the_same(CASES[name].resume(path, 70).recording, expected)


def test_an_interruption_at_the_end_leaves_a_whole_file(tmp_path, monkeypatch):
    path, write = tmp_path / "run.h5", run_output.write_results

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        write(*arguments)

    monkeypatch.setattr(run_output, "write_results", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        CASES["driven"].simulate(STEPS, output=path)
    for motion in (caught.value.motion, ph.Motion.load(path)):
        assert_the_same(motion.recording, whole("driven"))
    assert ph.Motion.load(path).is_complete


def refusals(path: Path) -> dict[str, Callable[[], ph.Motion]]:
    case = CASES["driven"]
    return {
        "exists already; choose another name, go on": lambda: case.simulate(STEPS, output=path),
        "must be beyond": lambda: case.resume(path, 7),
        "of another model": lambda: CASES["halved"].resume(path, STEPS),
        "step must be positive": lambda: case.make().resume(path, 1.0, -1.0),
        "order must be one of 2, 4, 6": lambda: case.make().resume(path, 1.0, 1e-3, order=3),
        "takes .* steps": lambda: case.make().simulate(1.0, 1e-20, output=path, overwrite=True),
        "broken table": lambda: pushed("driven", Breaking(0)).simulate(STEPS, output=path, overwrite=True),
    }


def test_what_is_refused_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "run.h5"
    CASES["driven"].simulate(14, output=path)
    before = path.read_bytes(), path.stat().st_mtime_ns
    for message, call in refusals(path).items():
        with pytest.raises((ph.PhlexibleError, RuntimeError), match=message):
            call()
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before, message
    assert [each.name for each in tmp_path.iterdir()] == ["run.h5"]
    motion = CASES["driven"].simulate(21, output=path, overwrite=True)
    assert_the_same(ph.Motion.load(path).recording, motion.recording)


@pytest.mark.skipif(sys.platform == "win32", reason="kills")
def test_killed_runs_leave_files_that_go_on_with_the_same_digits(tmp_path):
    assert kill_many(2, tmp_path, ("halved", "driven"), share=0.3)["files"] == 2
