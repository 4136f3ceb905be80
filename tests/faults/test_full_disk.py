"""A disk that is full: an error with the motion, no draft left, what was written before can be read, no crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import phlexible as ph
from faults.kills import differences
from faults.models import CASES
from phlexible.results.files import run_output

resource = pytest.importorskip("resource", reason="limits of file sizes")
STEPS = 350


def run_with_limit(limit: int, path: Path) -> ph.Motion | None:
    """The motion that an error brings where no file may be longer than the limit; None if all went well."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        CASES["driven"].simulate(STEPS, output=path)
    except ph.ResultFileError as error:
        assert str(error).startswith(f"cannot write {path}: File too large")
        return error.motion
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    return None


def check_all_limits(folder: Path) -> None:
    """Files of any length, up to those that hold all, for runs that write at the end or all the time."""
    whole = CASES["driven"].simulate(STEPS, output=folder / "whole.h5").recording
    size = (folder / "whole.h5").stat().st_size
    for seconds in (60.0, 0.0):
        run_output.SECONDS = seconds
        refused = 0
        for number, limit in enumerate([0, 100, *range(6000, 2 * size, size // 3)]):
            path = folder / f"{number}.h5"
            motion = run_with_limit(limit, path)
            if motion is not None:
                refused += 1
                assert differences(motion.recording, whole) == []
                assert path.exists() <= (seconds == 0.0)
            if path.exists():
                found = ph.Motion.load(path)
                assert differences(found.recording, whole, found.is_complete) == []
                assert CASES["driven"].resume(path, STEPS + 7).is_complete
                path.unlink()
            assert [each.name for each in folder.iterdir()] == ["whole.h5"], limit
        assert 1 < refused < number
    print("all limits")


def test_no_limit_of_file_sizes_crashes_or_loses_anything(tmp_path):
    """In a process of its own: HDF5 crashes at its end if it could not write."""
    paths = os.pathsep.join(path for path in sys.path if path)
    command, environment = [sys.executable, __file__, tmp_path], {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "all limits\n"), done.stderr


def test_a_full_disk_is_told_and_leaves_what_there_was(tmp_path, monkeypatch):
    monkeypatch.setattr(run_output, "SECONDS", 60.0)
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("may not mount a small disk")
    try:
        with pytest.raises(ph.ResultFileError, match="No space left on device") as caught:
            CASES["driven"].simulate(6 * STEPS, output=disk / "run.h5")
        assert caught.value.motion.is_complete is False and len(caught.value.motion.time) == 301
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    check_all_limits(Path(sys.argv[1]))
