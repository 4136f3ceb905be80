"""One picture of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

from phlexible.cli.programs import Program
from phlexible.cli.summary import attachment_of
from phlexible.results.motion import Motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(program: Program, motion: Motion, path: Path | None) -> "Figure":
    """The picture of what tells most, written to the path if there is one.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ResultFileError: the file cannot be written.
    """
    return motion.plot(path, points=[attachment_of(program.model, point) for point in program.points])
