"""Output of the blocks of a run, into memory and on request into a results file."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any

import numpy as np

from phlexible.errors import ResultFileError
from phlexible.results.files.description import describe_mechanism
from phlexible.results.files.files import SavedRun, load_for_resume, real_path, write_results
from phlexible.results.files.journal import UnfinishedFile
from phlexible.results.files.writing import FileLock, refuse_existing, uninterrupted
from phlexible.results.motion import Motion
from phlexible.state.recorded_run import (
    LateReactions,
    RecordedRun,
    RecordedStates,
    concatenated,
    joined,
    with_late_reactions,
)
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint

SECONDS = 0.25  # between two blocks in the file: what a kill costs at most, apart from the steps under way
MANY_BLOCKS = 4  # from which on those in memory, where there is no file, are joined


class RunOutput(AbstractContextManager["RunOutput"]):
    """Collector of a run; within the context no other process writes to the results file.

    A file is touched once there is something new to write, and is then whole at any time.

    Args:
        system: what moves.
        path: results file, or None.
        overwrite: whether a file of that name may be replaced.
        is_resumed: whether the run in the file goes on.
        warnings: texts of the run, to which others are added until it ends.

    Attributes:
        begun: where the resumed run goes on, or None.
        reached: last instant of the file that is resumed, or 0 [s].
        was_ended: the run in the file had come to its end; one that was killed just before has all its instants.
        late: reactions that are not in the blocks, by instant; none where there is a file.

    Raises:
        ResultFileError: a file that exists, that others write to or that cannot be written; a model that
            files cannot hold; on resuming, a file of another model or one that is damaged.
    """

    def __init__(
        self,
        system: System,
        path: str | PathLike[str] | None,
        overwrite: bool = False,
        is_resumed: bool = False,
        warnings: list[str] | None = None,
    ) -> None:
        self._system, self._warnings = system, warnings
        self._path = None if path is None else real_path(path)
        self._description: dict[str, Any] = {}
        self._chunks: list[RecordedStates] = []
        self._settled = 0  # blocks that are joined, and in the file
        self._last_time = time.monotonic()  # when that was done
        self._checkpoint: Checkpoint | None = None
        self._file: UnfinishedFile | None = None
        self._failure: ResultFileError | None = None
        self._is_closed = False
        self.late: Mapping[int, LateReactions] = {}
        self.begun: Checkpoint | None = None
        self.reached, self.was_ended = 0.0, True
        self._lock = None if self._path is None else FileLock(self._path)
        try:
            if self._path is not None:  # described now: functions that break in the run are asked for values
                self._description = describe_mechanism(system.mechanism)
            if self._path is not None and is_resumed:
                saved, self.begun = load_for_resume(self._path, system)
                recording = saved.run.recording
                self.reached, self.was_ended = float(recording.time[-1]), saved.is_complete
                self._checkpoint = self.begun
                kept = int(np.searchsorted(recording.time, self.begun.time, side="right"))
                self._chunks = [recording.rows(slice(0, kept))]  # see Simulation
            elif self._path is not None:
                refuse_existing(self._path, overwrite)
        except BaseException:
            self._release()
            raise

    @property
    def recording(self) -> RecordedStates:
        """Return the recorded states at all instants of the run so far, including those of a resumed file, as one
        object with concatenated arrays. The stored blocks are replaced by the result, so that memory is not used
        twice."""
        if len(self._chunks) > 1:
            # Those of long runs do not stay in memory twice.
            self._chunks, self._settled = [(concatenated if self._settled else joined)(self._chunks)], 0
        return self._chunks[0]

    def take(self, chunk: RecordedStates, checkpoint: Checkpoint) -> None:
        """Append a ``chunk`` of recorded instants to the run, and store the ``checkpoint`` at its end. The first
        instant of the chunk replaces the last one so far. If some seconds have passed since the last writing, all
        new blocks are also written to the results file.

        Raises:
            ResultFileError: the disk refuses; memory holds the block all the same.
        """
        with uninterrupted(self.is_file):
            before, is_settled = self._chunks[-1:], len(self._chunks) == self._settled
            kept = [each.rows(slice(0, -1)) for each in before if len(each.time) > 1 or is_settled]
            self._chunks[-1:], self._checkpoint = [*kept, chunk], checkpoint  # without a call between both
            is_wanted = self.is_file or len(self._chunks) - self._settled > MANY_BLOCKS
            is_due = is_wanted and time.monotonic() - self._last_time > SECONDS
            if is_due and self._failure is None and self._has_steps:
                self._write_chunks(checkpoint)

    def finish(self, is_complete: bool) -> Motion:
        """Complete the results file, if there is one, and return the motion of the run. An earlier failure of
        writing is raised first. ``is_complete`` says whether the run reached its end.

        Raises:
            ResultFileError: the disk refuses; what it took before can be read.
        """
        with uninterrupted(self.is_file):
            if self._failure is not None:
                raise self._failure
            self._convert_to_hdf5(is_complete)
            return self.motion(is_complete)

    def give_up(self, error: BaseException) -> Motion | None:
        """Complete the results file with the instants before an ``error``, and return the motion up to there; None
        if there is no instant. An interruption (Ctrl-C) has to wait until the file is written. If the file cannot
        be completed, a note is added to the ``error`` and nothing is raised.

        The error gets a note if the file cannot take the rest.
        """
        if not self._chunks:
            return None
        with uninterrupted(self.is_file):
            try:
                self._convert_to_hdf5(is_complete=False)
            except Exception as refused:  # the first error says more
                error.add_note(f"The results file could not be completed: {refused}")
            return self.motion(is_complete=False)

    def motion(self, is_complete: bool) -> Motion:
        """Return the motion of all instants of the run so far, with joint forces at the last instants completed.
        ``is_complete`` says whether the run reached its end."""
        whole = with_late_reactions(self.recording, self.late)
        return Motion(self._system, whole, is_complete, self._checkpoint, warnings=self._warnings)

    @property
    def is_file(self) -> bool:
        """Return whether the run is written to a results file."""
        return self._path is not None

    @property
    def _has_steps(self) -> bool:
        """Return whether the run has taken time steps beyond its start, or beyond the end of the file that it
        resumes."""
        return bool(self._chunks) and self._chunks[-1].time[-1] > self.reached

    def _write_chunks(self, checkpoint: Checkpoint, is_complete: bool = False) -> None:
        """Concatenate the recorded blocks of instants that are not yet written, and append them to the results
        file; without a file they are only concatenated in memory. ``checkpoint`` is the state at their end from
        which the run can continue, ``is_complete`` whether the run has reached its end. The file is created at the
        first call; errors are stored and raised."""
        joined = concatenated(self._chunks[self._settled :])
        self._chunks[self._settled :] = [joined]
        self._settled, self._last_time = self._settled + 1, time.monotonic()
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = UnfinishedFile(self._path, self._description, joined, checkpoint)
            else:
                self._file.append(joined, checkpoint, is_complete)
        except ResultFileError as error:
            self._failure = error
            raise

    def _convert_to_hdf5(self, is_complete: bool) -> None:
        """Write the remaining recorded instants to the results file and replace it by an HDF5 file. Nothing is
        done after the first call, without a file, or after a failure. A run without new time steps is written only
        if it is new and complete. ``is_complete`` says whether the run has reached its end. ``ResultFileError`` is
        stored and raised if writing fails."""
        checkpoint, self._is_closed, was_closed = self._checkpoint, True, self._is_closed
        if was_closed or self._failure is not None or checkpoint is None or self._path is None:
            return
        if not self._has_steps and (self.was_ended or not is_complete):
            return
        if self._file is not None:
            if self._settled == len(self._chunks):  # the end says whether the run is complete
                last = self._chunks[-1]
                self._chunks[-1:] = [last.rows(slice(0, -1)), last.rows(slice(-1, None))]
            self._write_chunks(checkpoint, is_complete)
        try:
            run = RecordedRun(self._system, self.recording)
            write_results(self._path, SavedRun(run, is_complete, checkpoint), self._description)
        except ResultFileError as error:
            self._failure = error
            if self._file is not None:
                self._failure = ResultFileError(f"{error}; Motion.load reads what is there, but it is no HDF5 yet")
            raise self._failure from error

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __exit__(self, *raised: object) -> None:
        self._chunks = []  # arrays of the motion go when it goes
        self._release()
