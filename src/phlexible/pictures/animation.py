"""Films of a mechanism as .mp4 or .gif."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from phlexible.algebra.arrays import check_callable, file_path, finite, positive, whole
from phlexible.description.ports import Attachment
from phlexible.errors import MissingExtraError, ParameterError, ResultFileError
from phlexible.extras import optional
from phlexible.measure.sensors import Position
from phlexible.pictures.artists import draw_arrows, draw_bodies, draw_surroundings, draw_symbols, draw_touched
from phlexible.pictures.mechanism_plot import figure_height, new_axes, picked_instants, scene_figure
from phlexible.pictures.scenes import scene_of
from phlexible.pictures.style import INK, QUIET, house_style
from phlexible.state.recorded_run import RecordedRun

SECONDS = 8.0
DOTS_PER_INCH = 125
WIDTH = 6.4  # 800 dots; H.264 needs even numbers


def animate(
    run: RecordedRun,
    path: str | PathLike[str],
    *,
    trace: Attachment | None = None,
    scale: float = 1.0,
    seconds: float | None = None,
    frames_per_second: int = 25,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Writes a film of the deformed mechanism.

    Args:
        run: what was recorded.
        path: ends in ``.mp4`` or ``.gif``.
        trace: a point whose path is drawn as it moves.
        scale: factor on the elastic displacements.
        seconds: length of the film; None: 8 s, however long the motion is.
        frames_per_second: of the film.
        progress: is told how many pictures are done and how many there will be.

    Raises:
        ParameterError: another ending, or numbers that are not positive.
        MissingExtraError: matplotlib, or for .mp4 imageio-ffmpeg, is not installed.
        ResultFileError: the film cannot be written.
    """
    length = SECONDS if seconds is None else positive("seconds", seconds)
    scale, frames_per_second = finite("scale", scale), whole("frames_per_second", frames_per_second)
    if progress is not None:
        check_callable("progress", progress, "done", "all")
    track = None if trace is None else Position(run.port_in_run(trace, "trace")).read(run)
    target = Path(file_path("path", path))
    if target.suffix.lower() not in (".mp4", ".gif"):
        raise ParameterError(f"path must end in .mp4 or .gif, got {str(path)!r}")
    count = max(2, round(length * frames_per_second))
    instants = picked_instants(run.recording.time, count)
    drawn = scene_of(run, instants)
    matplotlib = optional("matplotlib", "plot")
    with house_style():
        writer, settings = film_writer(target, frames_per_second)
        height = figure_height(drawn, WIDTH) + 0.2
        figure = scene_figure(drawn, WIDTH, 2 * round(height * DOTS_PER_INCH / 2) / DOTS_PER_INCH)
        axes = new_axes(figure, drawn)
        draw_surroundings(axes, drawn)
        made = draw_bodies(axes, drawn, 0, scale=scale)
        draw_touched(axes, drawn, 0, made)
        draw_symbols(axes, drawn, 0, made, scale)
        draw_arrows(axes, drawn, 0, made, scale)
        axes.set_title(" ", fontsize=10)  # keeps room for the time
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # so that nothing moves but the mechanism
        label = figure.text(0.98, 0.98, "", ha="right", va="top", color=INK, fontsize=10)
        trail = None
        if track is not None:
            (trail,) = axes.plot(*track[:1].T[: drawn.dimension], color=QUIET, lw=0.9, zorder=2)
        digits = max(0, 2 - int(np.floor(np.log10(max(float(drawn.time[-1] - drawn.time[0]), 1e-12)))))
        speed = speed_in_words(float(drawn.time[-1] - drawn.time[0]) * frames_per_second / count)
        try:
            with matplotlib.rc_context(settings), writer.saving(figure, str(target), DOTS_PER_INCH):
                for k in range(count):
                    for update in made.updates:
                        update(k)
                    if trail is not None and track is not None:
                        _place(trail, track[: instants[k] + 1], drawn.dimension)
                    label.set_text(f"t = {drawn.time[k]:.{digits}f} s, {speed}")
                    writer.grab_frame()
                    if progress is not None:
                        progress(k + 1, count)
        except OSError as error:
            raise ResultFileError.of_writing(target, error) from error


def speed_in_words(speed: float) -> str:
    """How fast a film shows what it shows, ``speed`` times as fast as it is."""
    if abs(speed - 1.0) < 0.005:
        return "real time"
    return f"{speed:.3g} times as fast" if speed > 1.0 else f"{1 / max(speed, 1e-12):.3g} times slower"


def _place(artist: Any, points: Any, dimension: int) -> None:
    if dimension == 2:
        artist.set_data(points[:, 0], points[:, 1])
    else:
        artist.set_data_3d(*points.T)


def film_writer(path: Path, frames_per_second: int) -> tuple[Any, dict[str, Any]]:
    """A writer of matplotlib and the settings under which it must run.

    Raises:
        MissingExtraError: a package for this kind of film is not installed.
    """
    writers = optional("matplotlib.animation", "plot")
    if path.suffix.lower() == ".gif":
        return writers.PillowWriter(fps=frames_per_second), {}
    try:
        program = optional("imageio_ffmpeg", "plot").get_ffmpeg_exe()
    except (MissingExtraError, RuntimeError) as error:
        raise MissingExtraError(
            f"an .mp4 needs imageio-ffmpeg (pip install phlexible[plot]); a .gif does not: {error}"
        ) from error
    encoding = ["-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
    writer = writers.FFMpegWriter(fps=frames_per_second, codec="libx264", extra_args=encoding)
    return writer, {"animation.ffmpeg_path": program}
