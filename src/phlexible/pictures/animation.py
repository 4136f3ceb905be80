"""Films of a mechanism as .mp4 or .gif."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, check_callable, file_path, finite, positive, whole
from phlexible.description.ports import Attachment
from phlexible.errors import MissingExtraError, ParameterError, writing
from phlexible.extras import optional
from phlexible.measure.sensors import Position
from phlexible.pictures.artists import draw_arrows, draw_bodies, draw_surroundings, draw_symbols, draw_touched
from phlexible.pictures.mechanism_plot import figure_height, new_axes, picked_instants, scene_figure
from phlexible.pictures.scene import scene_of
from phlexible.pictures.style import INK, QUIET, house_style
from phlexible.state.recorded_run import RecordedRun

SECONDS = 8.0
DOTS_PER_INCH = 125
PIECE = 0.25  # of the scene: of surfaces in space, coarser than in pictures, so that films take half the time
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
    """Write a film (.mp4 or .gif, by the ending of ``path``) of the deformed mechanism over the recorded motion
    ``run``. It shows stored instants, evenly spaced in time. ``trace`` is a point whose path is drawn, ``scale``
    enlarges elastic displacements. ``seconds`` is the length of the film (None: 8 s). The function ``progress`` is
    called with the numbers of finished and of all pictures.

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
    target = film_path(path)
    count = max(2, round(length * frames_per_second))
    instants = picked_instants(run.recording.time, count)
    drawn = scene_of(run, instants)
    optional("matplotlib", "plot")
    with house_style():
        height = figure_height(drawn, WIDTH) + 0.2
        figure = scene_figure(drawn, WIDTH, 2 * round(height * DOTS_PER_INCH / 2) / DOTS_PER_INCH)
        axes = new_axes(figure, drawn)
        draw_surroundings(axes, drawn)
        still = set(axes.get_children())
        made = draw_bodies(axes, drawn, 0, scale=scale, earlier={}, edge_length=PIECE)
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
        speed = speed_text(float(drawn.time[-1] - drawn.time[0]) * frames_per_second / count)
        moving = [*(artist for artist in axes.get_children() if artist not in still), label]
        with film_of(figure, moving, target, frames_per_second) as add_picture:
            for k in range(count):
                for update in made.updates:
                    update(k)
                if trail is not None and track is not None:
                    _place(trail, track[: instants[k] + 1], drawn.dimension)
                label.set_text(f"t = {drawn.time[k]:.{digits}f} s, {speed}")
                add_picture()
                if progress is not None:
                    progress(k + 1, count)


def film_path(path: str | PathLike[str]) -> Path:
    """Return the path of a film; raise ``ParameterError`` unless it ends in ``.mp4`` or ``.gif``.

    Raises:
        ParameterError: another ending than ``.mp4`` or ``.gif``.
    """
    target = Path(file_path("path", path))
    if target.suffix.lower() not in (".mp4", ".gif"):
        raise ParameterError(f"path must end in .mp4 or .gif, got {str(path)!r}")
    return target


def speed_text(speed: float) -> str:
    """Return a text such as "real time" or "2 times as fast" for the speed of a film relative to real time."""
    if abs(speed - 1.0) < 0.005:
        return "real time"
    return f"{speed:.3g} times as fast" if speed > 1.0 else f"{1 / max(speed, 1e-12):.3g} times slower"


def _place(artist: Any, points: Any, dimension: int) -> None:
    if dimension == 2:
        artist.set_data(points[:, 0], points[:, 1])
    else:
        artist.set_data_3d(*points.T)


Sink = Callable[[Array], None]


@contextmanager
def film_of(figure: Any, moving: Sequence[Any], path: Path, frames_per_second: int) -> Iterator[Callable[[], None]]:
    """Context manager that writes a film of a ``figure`` to the file ``path`` (.gif, otherwise .mp4). It gives a
    function without arguments; each call adds the present figure as the next picture. ``moving`` are the artists
    that change; the rest is drawn once. ``frames_per_second`` is the speed of the film. ResultFileError is raised
    if the film cannot be written.

    What does not move is drawn once, and each picture goes to the encoder as its bytes.

    Args:
        figure: laid out.
        moving: artists that change from picture to picture; in axes in space they hide each other by their depth.
        path: ends in ``.mp4`` or ``.gif``.
        frames_per_second: of the film.

    Raises:
        MissingExtraError: a package for this kind of film is not installed.
        ResultFileError: the film cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    encoder = _gif if path.suffix.lower() == ".gif" else _mp4
    figure.set_dpi(DOTS_PER_INCH)
    canvas: Any = FigureCanvasAgg(figure)
    for artist in moving:
        artist.set_animated(True)
    canvas.draw()
    background, renderer = canvas.copy_from_bbox(figure.bbox), canvas.get_renderer()
    axes: list[Any] = [each for each in figure.axes if hasattr(each, "get_zlim")]
    nearest = max((axis.get_zorder() for each in axes for axis in (each.xaxis, each.yaxis, each.zaxis)), default=0)
    surfaces = [artist for artist in moving if hasattr(artist, "do_3d_projection") and artist.axes in axes]
    height, width = np.asarray(canvas.buffer_rgba()).shape[:2]

    def draw(sink: Sink) -> None:
        canvas.restore_region(background)
        ordered = sorted(surfaces, key=lambda artist: artist.do_3d_projection(), reverse=True)
        for number, artist in enumerate(ordered):
            artist.set_zorder(nearest + 1 + number)
        for artist in sorted(moving, key=lambda artist: artist.get_zorder()):
            artist.draw(renderer)
        sink(np.asarray(canvas.buffer_rgba()))

    with writing(path), encoder(path, width, height, frames_per_second) as sink:
        yield lambda: draw(sink)


@contextmanager
def _gif(path: Path, width: int, height: int, frames_per_second: int) -> Iterator[Sink]:
    image = optional("PIL.Image", "plot")
    pictures: list[Any] = []
    yield lambda pixels: pictures.append(image.fromarray(pixels[..., :3].copy()))
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=round(1000 / frames_per_second), loop=0
    )


@contextmanager
def _mp4(path: Path, width: int, height: int, frames_per_second: int) -> Iterator[Sink]:
    try:
        ffmpeg = optional("imageio_ffmpeg", "plot")
        ffmpeg.get_ffmpeg_exe()
    except (MissingExtraError, RuntimeError) as error:
        raise MissingExtraError(
            f"an .mp4 needs imageio-ffmpeg (pip install phlexible[plot]); a .gif does not: {error}"
        ) from error
    path.touch()  # names the folder that is missing
    encoding = ["-crf", "20", "-preset", "veryfast", "-movflags", "+faststart"]
    look = dict(pix_fmt_in="rgba", fps=frames_per_second, codec="libx264", quality=None, macro_block_size=2)
    writer = ffmpeg.write_frames(str(path), (width, height), output_params=encoding, **look)
    writer.send(None)
    try:
        yield lambda pixels: writer.send(np.ascontiguousarray(pixels))
    finally:
        writer.close()
