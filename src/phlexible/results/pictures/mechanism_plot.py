"""A picture of a mechanism: bodies, joints and ground at some instants, the latest darkest."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, finite, numbers
from phlexible.algebra.options import whole
from phlexible.errors import ParameterError
from phlexible.observables.run import RecordedRun
from phlexible.results.pictures.drawing import Scene, scene
from phlexible.results.pictures.house_style import (
    COLORS,
    INK,
    PALE,
    QUIET,
    finish,
    house_style,
    legend_above,
    new_figure,
    picture_path,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAINTEST = 0.22
MARGIN = 1.12
ZOOM = 1.05
MOST_PICTURES = 10_000
DASHED = (0, (6, 4))


def plot_mechanism(
    run: RecordedRun, times: int | Sequence[float] = 6, path: str | PathLike[str] | None = None, scale: float = 1.0
) -> "Figure":
    """The deformed mechanism at some instants.

    Args:
        run: what was recorded.
        times: so many, evenly spread, or the times [s]; the nearest stored instants are drawn.
        path: of the file to write; None: none.
        scale: factor on the elastic displacements.

    Raises:
        ParameterError: no time, or one outside the motion.
        MissingExtraError: matplotlib is not installed.
    """
    path, scale = picture_path(path), finite("scale", scale)
    drawn = scene(run, picked_instants(run.recording.time, times), scale)
    center, half = drawn.bounds()
    with house_style():
        figure = new_figure(5.6, figure_height(run.mechanism.dimension, drawn, 5.6))
        axes = mechanism_axes(figure, run.mechanism.dimension, drawn)
        draw_fixed_parts(axes, run.mechanism.dimension, drawn, center, half)
        for k, opacity in enumerate(_opacities(len(drawn.time))):
            draw_instant(axes, run.mechanism.dimension, drawn, k, opacity)
        if 1 < len(drawn.bodies) <= len(COLORS):
            legend_above(axes, 4)
        axes.set_title(_caption(drawn.time, scale), loc="right", fontsize=8, color=QUIET)
        return finish(figure, path)


def picked_instants(time: Array, times: int | Sequence[float]) -> IntArray:
    """Indices of the stored instants nearest to the times.

    Raises:
        ParameterError: no time, or one outside the motion.
    """
    if isinstance(times, int | np.integer):
        count = min(whole("times", times), MOST_PICTURES)
        wanted = np.linspace(time[0], time[-1], count) if count > 1 else time[-1:]
    else:
        wanted = numbers("times", times, "a count of at least 1 or times in seconds").reshape(-1)
    slack = 1e-9 * (time[-1] - time[0])
    if not len(wanted) or not np.all((wanted >= time[0] - slack) & (wanted <= time[-1] + slack)):
        raise ParameterError(f"times must lie in {time[0]:g} .. {time[-1]:g} s, got {times!r}")
    right = np.clip(np.searchsorted(time, wanted), 1, max(1, len(time) - 1))
    if len(time) == 1:
        return np.zeros(len(wanted), dtype=np.int64)
    nearer_left = wanted - time[right - 1] <= time[right] - wanted
    return np.asarray(right - nearer_left, dtype=np.int64)


def mechanism_axes(figure: "Figure", dimension: int, drawn: Scene) -> Any:
    """Axes with equal scales around everything that is drawn."""
    center, _ = drawn.bounds()
    reach = _reach(drawn)
    if dimension == 2:
        axes = figure.subplots()
        axes.set_aspect("equal")
        axes.set_xlim(center[0] - reach[0], center[0] + reach[0])
        axes.set_ylim(center[1] - reach[1], center[1] + reach[1])
        axes.set(xlabel="x [m]", ylabel="y [m]")
        return axes
    from matplotlib.ticker import MaxNLocator

    space: Any = figure.add_subplot(projection="3d")
    for k, name in enumerate("xyz"):
        getattr(space, f"set_{name}lim")(center[k] - reach[k], center[k] + reach[k])
        getattr(space, f"set_{name}label")(f"{name} [m]")
        getattr(space, f"{name}axis").set_pane_color("white")
        getattr(space, f"{name}axis").set_major_locator(MaxNLocator(4))
    space.set_box_aspect(reach, zoom=ZOOM)
    space.view_init(elev=22, azim=-58)
    return space


def _reach(drawn: Scene) -> Array:
    """Half the edges of the box that is shown, shape (3,) [m]."""
    low, high = drawn.corners()
    half = drawn.bounds()[1]
    return np.asarray(np.maximum((high - low) / 2 + (MARGIN - 1) * half, 0.3 * half))


def draw_fixed_parts(axes: Any, dimension: int, drawn: Scene, center: Array, half: float) -> None:
    """Ground points, guides of sliders and the paths of moving frames."""
    for point, axis in drawn.guides:
        along = float((center - point) @ axis)
        ends = point + np.outer([along - 3 * half, along + 3 * half], axis)
        if dimension == 3:
            ends = np.clip(ends, center - half, center + half)
        axes.plot(*ends.T[:dimension], color=QUIET, lw=0.8, ls=DASHED, zorder=1, scalex=False, scaley=False)
    for k in range(drawn.paths.shape[1]):
        axes.plot(*drawn.paths[:, k].T[:dimension], color=PALE, lw=1.0, zorder=1)
    if len(drawn.ground):
        axes.plot(
            *drawn.ground.T[:dimension],
            ls="none",
            marker="^",
            ms=9,
            mfc="#c8c8c8",
            mec=INK,
            mew=0.8,
            zorder=2,
        )


def draw_instant(axes: Any, dimension: int, drawn: Scene, k: int, opacity: float) -> list[tuple[Any, Any]]:
    """Bodies, joints and moving frames at one instant.

    Returns:
        Each line of matplotlib with the function of an instant that gives its points, for animations.
    """
    artists: list[tuple[Any, Any]] = []

    def add(points: Array, **look: Any) -> None:
        """Points of shape (instants, m, 3)."""
        (artist,) = axes.plot(*points[k].T[:dimension], alpha=opacity, **look)
        artists.append((artist, points))

    last = k == len(drawn.time) - 1 or len(drawn.time) == 0
    for index, body in enumerate(drawn.bodies):
        color, label = COLORS[index % len(COLORS)], body.name if last else None
        for line in body.lines:
            add(line, color=color, lw=2.2, label=label, zorder=3)
            label = None
        if body.points.shape[1]:
            add(body.points, color=color, ls="none", marker="o", ms=7, label=label, zorder=4)
    if drawn.joints.shape[1]:
        add(drawn.joints, ls="none", marker="o", ms=4.5, mfc="white", mec=INK, mew=0.9, zorder=5)
    if drawn.frames.shape[1]:
        add(drawn.frames, ls="none", marker="s", ms=5, mfc="white", mec=INK, mew=0.9, zorder=5)
    return artists


def figure_height(dimension: int, drawn: Scene, width: float) -> float:
    """Of a figure of that width without empty space [inch]."""
    if dimension == 3:
        return 0.75 * width
    reach = _reach(drawn)
    return float(np.clip((width - 0.8) * reach[1] / reach[0] + 0.9, 0.4 * width, 1.2 * width))


def _opacities(count: int) -> Array:
    return np.linspace(FAINTEST, 1.0, count) if count > 1 else np.ones(1)


def _caption(time: Array, scale: float) -> str:
    enlarged = "" if scale == 1 else f", deformation x {scale:g}"
    if len(time) == 1:
        return f"t = {time[0]:.4g} s{enlarged}"
    return f"{len(time)} instants, t = {time[0]:.4g} to {time[-1]:.4g} s{enlarged}"
