"""Studies: every run once, in any process, whatever dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import phlexible as ph
from phlexible.tools.study import Outcome, StudyJournal

GRID = {"length": [0.5, 1.0], "gravity": [5.0, 9.81, 20.0]}


def pendulum(length, gravity):
    model = ph.Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    bob = model.add(ph.PointMass(1.0), "bob", (length, 0.0, 0.0))
    model.connect(ph.Distance(model.ground.at((0.0, 0.0, 0.0)), bob.origin))
    return model


def fall(model):
    """Height and path after four steps; energy says that v^2 = -2 g y."""
    motion = model.simulate(4e-2, 1e-2, progress=False)
    place, velocity = motion.position(motion["bob"].origin), motion.velocity(motion["bob"].origin)
    return {"height": place[-1, 1], "path": place[:, :2], "speed": np.linalg.norm(velocity[-1])}


def check(study):
    heights = study["height"].ravel()
    for each, height, speed in zip(study.parameters, heights, study["speed"].ravel(), strict=True):
        assert speed**2 == pytest.approx(-2 * each["gravity"] * height, rel=1e-4)
    assert len(np.unique(heights)) == len(heights)


class OnlyMap:
    def map(self, function, *columns):
        return map(function, *columns)


@pytest.mark.parametrize("executor", [None, 1, ThreadPoolExecutor(2), OnlyMap()])
def test_every_executor_gives_the_same_grid(executor):
    study = ph.study(pendulum, GRID, fall, executor)
    assert study["height"].shape == (2, 3) and study["path"].shape == (2, 3, 5, 2)
    assert study.parameters[4] == {"length": 1.0, "gravity": 9.81}
    assert study["height"][1, 1] == fall(pendulum(1.0, 9.81))["height"]
    check(study)
    data = study.to_xarray()
    assert float(data["height"].sel(length=1.0, gravity=9.81)) == study["height"][1, 1]
    assert data["path"].dims == ("length", "gravity", "path_0", "path_1")


def test_failures_stand_beside_their_parameters():
    study = ph.study(pendulum, [{"length": 1.0, "gravity": 9.81}, {"length": 1.0, "gravity": "heavy"}], fall, 2)
    (failure,) = study.failures
    assert failure.parameters["gravity"] == "heavy" and "Error" in failure.reason
    assert np.isnan(study["height"][1]) and study["height"][0] < 0
    assert study.table()[1]["failure"] == failure.reason
    assert "failed: {'length': 1.0, 'gravity': 'heavy'}" in str(study)
    assert study.to_xarray()["failure"].values[1] == failure.reason


def test_random_samples_are_those_of_their_seed():
    from scipy.stats import norm

    given = ph.samples(200, seed=3, length=(0.5, 1.5), gravity=norm(9.8, 0.1))
    assert given == ph.samples(200, seed=3, length=(0.5, 1.5), gravity=norm(9.8, 0.1))
    assert given != ph.samples(200, seed=4, length=(0.5, 1.5), gravity=norm(9.8, 0.1))
    lengths, gravities = (np.array([each[name] for each in given]) for name in ("length", "gravity"))
    assert 0.5 <= lengths.min() < 0.55 and 1.45 < lengths.max() <= 1.5
    assert gravities.mean() == pytest.approx(9.8, abs=0.03) and gravities.std() == pytest.approx(0.1, rel=0.2)
    check(ph.study(pendulum, given[:5], fall, 2))


@pytest.mark.parametrize("workers", [1, 2])  # with 1, the one that kills once has not begun when another kills
def test_a_killed_worker_costs_no_run_and_one_that_kills_is_named(workers, tmp_path):
    parent = os.getpid()

    def build(length, gravity):
        mark = tmp_path / f"{length}-{gravity}"
        is_first = not mark.exists()
        mark.touch()
        if os.getpid() != parent and (gravity == 20.0 if length == 0.5 else is_first and gravity == 5.0):
            os.kill(os.getpid(), signal.SIGKILL)
        return pendulum(length, gravity)

    output = tmp_path / "study.jsonl"
    (failure,) = ph.study(build, GRID, fall, workers, output=output).failures
    assert failure.parameters == {"length": 0.5, "gravity": 20.0} and "WorkerLost" in failure.reason
    again = ph.study(pendulum, GRID, fall, workers, output=output)  # what was lost is tried once more
    assert not again.failures
    check(again)


def test_a_study_goes_on_after_a_kill(tmp_path):
    output, calls = tmp_path / "study.jsonl", tmp_path / "calls"
    calls.mkdir()

    def build(length, gravity):
        (calls / f"{len(list(calls.iterdir()))}").touch()
        return pendulum(length, gravity)

    whole = ph.study(build, GRID, fall, OnlyMap(), output=output)
    assert len(list(calls.iterdir())) == 6
    lines = output.read_bytes().splitlines(keepends=True)
    output.write_bytes(b"".join(lines[:4]) + lines[4][:40])  # three runs, and a part of one
    again = ph.study(build, GRID, fall, OnlyMap(), output=output)
    assert len(list(calls.iterdir())) == 9
    assert np.array_equal(whole["path"], again["path"])
    assert len(output.read_text().splitlines()) == 7 and json.loads(output.read_text().splitlines()[-1])
    with pytest.raises(ph.ResultFileError, match=r"no study of the parameters gravity; name another file"):
        ph.study(lambda gravity: pendulum(1.0, gravity), {"gravity": [1.0]}, fall, OnlyMap(), output=output)
    assert len(ph.study(pendulum, GRID, fall, OnlyMap(), output=output, overwrite=True).outcomes) == 6


ENDLESS = r"""
import os, sys, time
import phlexible as ph

def build(number):
    held = []
    for descriptor in range(3, 256):
        try:
            held.append(os.path.samestat(os.fstat(descriptor), os.stat(".study.jsonl.lock")))
        except OSError:
            pass
    os.write(1, f"{os.getpid()} {any(held)}\n".encode())  # at once, as the other does
    time.sleep(1000)

ph.study(build, {"number": [1, 2, 3]}, lambda model: 0.0, 2, output="study.jsonl", progress=False)
"""


def is_there(process):
    """Whether it is there and no zombie that nobody has asked for."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return bool(told.stdout.strip()) and not told.stdout.startswith("Z")


@pytest.mark.skipif(os.name == "nt", reason="processes of POSIX")
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_workers_hold_no_lock_and_end_with_their_study(tmp_path, kill):
    command = [sys.executable, "-c", ENDLESS]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as program:
        told = [program.stdout.readline() for _ in range(2)]
        program.send_signal(kill)
    workers = [int(line.split()[0]) for line in told]
    assert [line.split()[1] for line in told] == ["False", "False"]
    output, runs = tmp_path / "study.jsonl", {"number": [1, 2, 3]}
    assert not ph.study(lambda number: number, runs, float, OnlyMap(), output=output).failures
    for _ in range(1000):
        if not any(map(is_there, workers)):
            break
        time.sleep(0.02)
    assert not any(map(is_there, workers))


def test_latin_samples_cover_each_interval_once():
    found = ph.samples(20, seed=3, method="latin", low=(10.0, 30.0), bell=stats.norm(1.0, 0.5))
    assert found == ph.samples(20, seed=3, method="latin", low=(10.0, 30.0), bell=stats.norm(1.0, 0.5))
    assert sorted(int(each["low"] - 10.0) for each in found) == list(range(20))
    assert sorted((20 * stats.norm(1.0, 0.5).cdf([each["bell"] for each in found])).astype(int)) == list(range(20))
    with pytest.raises(ph.ParameterError, match="method must be one of 'random', 'latin', got 'sobol'"):
        ph.samples(2, method="sobol", low=(0.0, 1.0))


def test_a_damaged_line_of_a_journal_is_named(tmp_path):
    path = tmp_path / "study.jsonl"
    journal = StudyJournal(str(path), ["length"], overwrite=False)
    with journal:
        for length in (1.0, 2.0):
            journal.write({"length": length}, Outcome({"value": np.array(length)}))
    lines = path.read_text().splitlines()
    for damaged in (lines[1][:9], '{"values": {"value": "text"}}', "3"):
        path.write_text("\n".join([lines[0], damaged, lines[2]]) + "\n")
        with pytest.raises(ph.ResultFileError, match=r"line 2 of .*study.jsonl is damaged"):
            StudyJournal(str(path), ["length"], overwrite=False)


def test_what_cannot_be_a_study_is_refused(tmp_path):
    lock = threading.Lock()
    for given, message in (
        ((pendulum, GRID, lambda model: lock), "cannot be sent to other processes"),
        ((pendulum, {"length": 1.0}, fall), "length must be a list of values"),
        ((pendulum, [{"length": 1.0}, {"gravity": 1.0}], fall), "have the same parameters"),
        ((pendulum, {"mass": [1.0]}, fall), "build must take the parameters mass by name"),
        ((pendulum, GRID, fall, OnlyMap()), "must be finite numbers"),
    ):
        output = tmp_path / "x" if "finite" in message else None
        if output:
            given = (pendulum, {"length": [pendulum], "gravity": [1.0]}, fall, OnlyMap())
        with pytest.raises(ph.ParameterError, match=message):
            ph.study(*given, output=output)
    with pytest.raises(ph.ParameterError, match="'mass' is not there; measured were: height, path, speed"):
        ph.study(pendulum, GRID, fall, OnlyMap())["mass"]
    told = ph.study(pendulum, GRID, lambda model: "much", OnlyMap()).failures[0].reason
    assert "measure must return numbers or arrays" in told


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        study = ph.study(pendulum, GRID, lambda model: {**fall(model), "process": os.getpid()}, client)
    check(study)
    processes = set(study["process"].ravel())
    assert len(processes) == 1 and os.getpid() not in processes
