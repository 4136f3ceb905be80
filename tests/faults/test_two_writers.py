"""One run a results file: a second writer is refused, in the same process and in another, and readers are not."""

import errno
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

import phlexible as ph
from faults.kills import differences
from faults.models import CASES
from phlexible.results.files import run_output, writing as lock
from phlexible.results.files.writing import FileLock

STEPS = 140
SAVE = """
import sys, phlexible
model = phlexible.Model()
model.add(phlexible.PointMass(1.0), "ball")
model.simulate(1.0, 1.0, output=sys.argv[1], overwrite=True)
"""


def test_who_comes_second_is_refused_and_the_first_loses_nothing(tmp_path, monkeypatch):
    path, case, seen = tmp_path / "run.h5", CASES["driven"], []
    monkeypatch.setattr("phlexible.step.integration.simulation.MOST_GROWTH", 1)  # blocks of a run stay short
    case.simulate(STEPS // 2, output=path)
    (tmp_path / "link.h5").symlink_to(path)

    def meanwhile(done: int, count: int) -> None:
        if done < STEPS * 3 // 4 or seen:
            return
        for second in (
            lambda: case.simulate(7, output=path, overwrite=True),
            lambda: case.resume(path, STEPS),
            lambda: case.resume(tmp_path / "link.h5", STEPS),
            lambda: case.simulate(7).save(path),
        ):
            with pytest.raises(ph.ResultFileError, match="another run or program is writing to"):
                second()
        other = subprocess.run([sys.executable, "-c", SAVE, path], capture_output=True, text=True)
        assert "another run or program is writing to" in other.stderr
        seen.append(len(ph.Motion.load(path).time))

    monkeypatch.setattr(run_output, "SECONDS", 0.0)
    monkeypatch.setattr("phlexible.model.progress_bar", lambda show: nullcontext(meanwhile))
    motion = case.resume(path, STEPS)
    monkeypatch.undo()
    assert len(seen) == 1 and 11 < seen[0] < len(motion.time)
    whole = case.simulate(STEPS).recording
    for found in (motion, ph.Motion.load(path)):
        assert found.is_complete and differences(found.recording, whole) == []
    assert sorted(os.listdir(tmp_path)) == ["link.h5", "run.h5"]


def test_a_folder_that_takes_no_files_is_told_before_anything_is_computed(tmp_path):
    with pytest.raises(ph.ResultFileError, match="cannot write .*no folder/run.h5: there is no folder .*no folder"):
        CASES["driven"].simulate(STEPS, output=tmp_path / "no folder" / "run.h5")


def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch):
    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", refuse)
    with pytest.warns(RuntimeWarning, match="has no locks"):
        FileLock(tmp_path / "run.h5").release()
    assert not os.listdir(tmp_path)
