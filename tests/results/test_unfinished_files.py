"""Files of runs that have not ended: whole prefixes, no damaged one read wrongly; Ctrl-C waits for writing."""

import json
import shutil
import signal
import threading
import zlib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from phlexible.results.files import journal, run_output
from phlexible.results.files.journal import read_unfinished
from phlexible.results.files.writing import uninterrupted
from phlexible.state.recorded_run import ARRAYS, RecordedStates

STEPS = 60


def pendulum() -> ph.Model:
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "rod")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.origin))
    return model


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[bytes, RecordedStates]:
    path = tmp_path_factory.mktemp("files") / "run.h5"
    copy = path.with_name("copy.h5")

    def keep(done: int, count: int) -> None:
        if path.exists():
            shutil.copy(path, copy)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_output, "SECONDS", 0.0)
        patch.setattr("phlexible.step.integration.simulation.FIRST_CHUNK", 4)
        patch.setattr("phlexible.step.integration.simulation.CHUNK_SECONDS", 0.0)
        patch.setattr("phlexible.model.progress_bar", lambda show: nullcontext(keep))
        motion = pendulum().simulate(STEPS * 0.01, 0.01, output=path)
    return copy.read_bytes(), motion.recording


def is_prefix(found: RecordedStates, whole: RecordedStates) -> bool:
    """Whether all but the open multipliers of the last instant are the first rows of the run."""
    count = len(found.time)
    same = [np.array_equal(getattr(found, name)[:-1], getattr(whole, name)[: count - 1]) for name in ARRAYS]
    return all(same) and np.array_equal(found.velocity, whole.velocity[:count])


def read(path: Path, content: bytes) -> RecordedStates | None:
    """What a file holds, or None where it is refused as one that is damaged."""
    path.write_bytes(content)
    try:
        return read_unfinished(path).recording
    except ph.ResultFileError as error:
        assert "is damaged" in str(error) or "holds no instant" in str(error)
        return None


def test_a_file_cut_anywhere_holds_the_run_so_far(tmp_path, run):
    content, whole = run
    counts = []
    for size in [*range(len(journal.TITLE), len(content), 199), len(content)]:
        found = read(tmp_path / "run.h5", content[:size])
        assert found is None or is_prefix(found, whole)
        counts.append(0 if found is None else len(found.time))
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == STEPS + 1
    assert len(set(counts)) == STEPS // 4 + 1


def test_a_changed_bit_is_found(tmp_path, run):
    content, whole = run
    draw, refused = np.random.default_rng(3), 0
    for place in draw.integers(len(journal.TITLE), len(content), 200):
        changed = bytearray(content)
        changed[place] ^= 1 << int(draw.integers(8))
        found = read(tmp_path / "run.h5", bytes(changed))
        assert found is None or is_prefix(found, whole)
        refused += found is None
    assert refused > 150  # the others are in the last block, as if a kill had cut it


def test_motions_are_read_and_resumed_from_such_a_file(tmp_path, run):
    content, whole = run
    (tmp_path / "run.h5").write_bytes(content[:-1000])
    motion = ph.Motion.load(tmp_path / "run.h5")
    assert not motion.is_complete and is_prefix(motion.recording, whole)
    motion.save(tmp_path / "saved.h5")  # a file of HDF5
    for name in ("run.h5", "saved.h5"):
        assert not ph.Motion.load(tmp_path / name).is_complete
        resumed = pendulum().resume(tmp_path / name, STEPS * 0.01, 0.01).recording
        assert all(np.array_equal(getattr(resumed, each), getattr(whole, each)) for each in ARRAYS)


def record(text: dict, arrays: list) -> bytes:
    body = json.dumps({**text, "arrays": arrays}).encode()
    return journal._head(len(body), len(body), zlib.crc32(body)) + body


def test_records_that_no_run_has_written_are_refused(tmp_path):
    path, kind = tmp_path / "run.h5", {"format": "phlexible results", "phlexible_version": "7.0"}
    for content, message in (
        (b"", "holds no instant"),
        (b"no record at all: " * 3, "is damaged at byte"),
        (record({**kind, "format_version": 99}, []), r"format version 99, written by phlexible 7\.0"),
        (
            record({**kind, "format_version": journal.FORMAT_VERSION}, [["time", "<f8", [10**15]]]),
            "or it is damaged: buffer is smaller",
        ),
        (
            record({**kind, "format_version": journal.FORMAT_VERSION}, [["time", "O", [1]]]),
            "time is of the kind 'O'",
        ),
        (record({}, []), "or it is damaged: 'format'"),
    ):
        path.write_bytes(journal.TITLE + content)
        with pytest.raises(ph.ResultFileError, match=message):
            ph.Motion.load(path)


def test_an_interruption_comes_at_the_end():
    done, handler = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all")
        done.append("more")
    assert done == ["all"] and signal.getsignal(signal.SIGINT) is handler


def test_an_interruption_says_more_than_the_error_that_it_meets():
    with pytest.raises(KeyboardInterrupt) as caught:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise OSError("full")
    assert isinstance(caught.value.__context__, OSError)


def test_other_threads_write_as_they_are():
    done = []

    def write():
        with uninterrupted():
            done.append("all")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert done == ["all"]
