"""Kills runs at random moments and compares what they leave, and what becomes of it, with runs that went on.

    python tests/faults/kills.py 100       so many kills, then a line of counts

Each run goes on from the file of the one that was killed before it, until one ends.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import phlexible as ph
from faults.models import CASES
from phlexible.results.files import run_output
from phlexible.state.recorded_run import ARRAYS, RecordedStates

STEPS = {"halved": 6000, "controlled": 1600, "driven": 16000, "tolerant": 1600}
LONGEST = 0.7  # [s] that a run is left alone
OPEN = ("multipliers", "forces")  # means with the next step, which the last instant does not have yet


def victim(name: str, path: Path, steps: int) -> None:
    """A run that is to be killed; it writes as often as it can."""
    run_output.SECONDS = 0.0
    print("begun", flush=True)
    if path.exists():
        CASES[name].resume(path, steps)
    else:
        CASES[name].simulate(steps, output=path)


def differences(found: RecordedStates, whole: RecordedStates, is_complete: bool = True) -> list[str]:
    """Arrays that are not the first rows of those of the whole run, bit by bit.

    The forces of the last instant are final in a complete run that is as long.
    """
    count = len(found.time)
    is_end = is_complete and count == len(whole.time)
    rows = {name: count if is_end or name not in OPEN else count - 1 for name in ARRAYS}
    pairs = {name: (getattr(found, name)[:n], getattr(whole, name)[:n]) for name, n in rows.items()}
    return [name for name, (a, b) in pairs.items() if a.shape != b.shape or a.tobytes() != b.tobytes()]


def kill_one(name: str, path: Path, steps: int, delay: float) -> None:
    """Starts a run, or lets it go on, and kills it so long after its first block, or after it went on [s]."""
    command = [sys.executable, __file__, name, str(path), str(steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        while not path.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        process.kill()


def kill_many(
    count: int, folder: Path, names: Sequence[str] = tuple(CASES), share: float = 1.0, seed: int = 0
) -> Counter[str]:
    """Kills so many runs of a share of the steps; how many left files, and were resumed to the end from there.

    Raises:
        AssertionError: a file that differs from the run that was not killed, or that cannot be read.
    """
    draw, found = random.Random(seed), Counter[str]()
    steps = {name: int(share * STEPS[name]) for name in names}
    whole = {name: CASES[name].simulate(steps[name]).recording for name in names}
    for number in range(count):
        name = names[number % len(names)]
        path, copy = folder / f"{name}.h5", folder / f"copy of {name}.h5"
        kill_one(name, path, steps[name], draw.uniform(0.0, share * LONGEST))
        left = ph.Motion.load(path)
        unlike = differences(left.recording, whole[name], left.is_complete)
        assert not unlike, f"{name}, kill {number}: {unlike}"
        found["files"] += 1
        if left.is_complete:
            path.unlink()
            continue
        shutil.copy(path, copy)
        resumed = CASES[name].resume(copy, steps[name])
        for motion in (resumed, ph.Motion.load(copy)):
            assert motion.is_complete and len(motion.time) == len(whole[name].time)
            assert not (unlike := differences(motion.recording, whole[name])), f"{name}, resume {number}: {unlike}"
        found["resumed"] += 1
    return found


if __name__ == "__main__":
    if len(sys.argv) == 4:
        victim(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as place:
            print(dict(kill_many(int(sys.argv[1]), Path(place))))
