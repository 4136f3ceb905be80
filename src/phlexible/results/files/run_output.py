"""Where the blocks of a run go: into memory, and into a results file if one is asked for."""

from os import PathLike

from phlexible.algebra.arrays import Array
from phlexible.results.files.blocks import RecordingWriter
from phlexible.results.files.files import (
    ResumePoint,
    concatenate,
    load,
    read_for_resume,
    resumed_writer,
)
from phlexible.results.motion import Motion
from phlexible.system.recording import Recording
from phlexible.system.system import System


class RunOutput:
    """Collects a run.

    Args:
        system: what moves.
        path: results file, or None.
        resumed: results file that the run goes on with, or None.

    Attributes:
        start: where the resumed run stood, or None.

    Raises:
        ResultFileError: a file that cannot be written, or one of another model.
    """

    def __init__(
        self,
        system: System,
        path: str | PathLike[str] | None,
        resumed: str | PathLike[str] | None,
    ) -> None:
        self._system = system
        self._path = path
        self._blocks: list[Recording] = []
        self._writer: RecordingWriter | None = None
        self.start: ResumePoint | None = None
        if resumed is not None:
            self.start = read_for_resume(resumed, system)
            self._blocks.append(load(resumed).recording)
            self._writer = resumed_writer(resumed, system)

    def take(self, block: Recording) -> None:
        """One more block, safe on disk when this returns."""
        self._blocks.append(block)
        if self._path is None:
            return
        if self._writer is None:
            self._writer = RecordingWriter(self._path, self._system, block)
        else:
            self._writer.append(block)

    def close(self, is_complete: bool) -> None:
        """End the file."""
        if self._writer is not None:
            self._writer.close(is_complete)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been taken yet."""
        return not self._blocks

    @property
    def last_multipliers(self) -> Array:
        """Of the last instant that is known, shape (rows,)."""
        multipliers: Array = self._blocks[-1].multipliers[-1]
        return multipliers

    def motion(self, is_complete: bool) -> Motion:
        """Everything taken so far."""
        return Motion(self._system, concatenate(self._blocks), is_complete)
