"""The look of all figures: style, legends, colours of surfaces."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, file_path
from phlexible.algebra.rotations import cross
from phlexible.errors import MissingExtraError, ParameterError, writing
from phlexible.extras import optional
from phlexible.pictures.scene import PALETTE, DrawnBody, NodeField, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The look of all figures, without touching a backend or any global setting of matplotlib.

NOTEBOOK_DOTS = 80
"""An inch of a picture in a notebook."""

COLORS = PALETTE

INK, QUIET, PALE, FAINT = "#222222", "#8a8a8a", "#bdbdbd", "#e4e4e4"

SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"],
    "font.size": 9.0,
    "mathtext.fontset": "dejavusans",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 1.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Context manager that applies the plot style of the library to matplotlib while a figure is made or written.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = optional("matplotlib", "plot")
    with matplotlib.rc_context(SETTINGS), quiet_fonts():
        yield


@contextmanager
def quiet_fonts() -> Iterator[None]:
    """Context manager that suppresses messages of matplotlib's font manager below the level "error", such as
    warnings of missing fonts. The former level is restored afterwards."""
    import logging

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def new_figure(width: float, height: float, layout: str | None = "constrained") -> "Figure":
    """Return an empty matplotlib figure of the given ``width`` and ``height`` [inch], which can be saved but opens
    no window. ``layout`` is the name of matplotlib's layout engine, None for none. MissingExtraError is raised
    without matplotlib."""
    optional("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)  # type: ignore[arg-type]
    FigureCanvasAgg(figure)
    return figure


def picture_path(path: str | PathLike[str] | None) -> str | None:
    """Return the path of a picture as a string, or None for None; raise ``ParameterError`` for anything that is no
    path.

    Raises:
        ParameterError: names it.
    """
    return None if path is None else file_path("path", path)


def check_axes(axes: object) -> None:
    """Raise ``ParameterError`` unless a user's ``axes`` are axes of matplotlib or None.

    Raises:
        ParameterError: names it.
    """
    if axes is not None and not (hasattr(axes, "get_figure") and hasattr(axes, "plot")):
        raise ParameterError(f"axes must be axes of matplotlib such as figure.add_subplot(), got {axes!r}")


def finish(figure: "Figure", path: str | PathLike[str] | None) -> "Figure":
    """Write a matplotlib ``figure`` to the file ``path`` in the format of its ending, and return the figure. With
    None nothing is written. Unknown formats raise ``ParameterError``; a file that cannot be written raises
    ``ResultFileError``.

    Raises:
        ParameterError: a format that matplotlib does not write.
        ResultFileError: the file cannot be written.
    """
    if (path := picture_path(path)) is not None:
        try:
            with writing(path):
                figure.savefig(path)
        except ValueError as error:
            raise ParameterError(f"cannot write a figure to {path}: {error}") from error
    return figure


def picture_html(draw: "Callable[[], Figure | Axes]", label: str) -> str:
    """Return an HTML image of the figure that ``draw``, called once without arguments, returns; an empty text
    where matplotlib is not installed. ``label`` describes it for readers who do not see it."""
    try:
        figure: Any = draw()
    except MissingExtraError:
        return ""
    stream = BytesIO()
    with house_style():
        figure.savefig(stream, format="png", dpi=NOTEBOOK_DOTS)
    content = b64encode(stream.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{content}" alt="{escape(label, quote=True)}">'


def finished(drawn: "Axes", user_axes: "Axes | None", path: str | PathLike[str] | None) -> "Figure | Axes":
    """Write the figure of ``drawn`` axes to a file if a path is given. Return the axes of the user, or the
    figure where the user gave none.

    Returns:
        The axes of the user, or the figure where there are none.
    """
    figure: Any = drawn.get_figure(root=True)
    finish(figure, path)
    return figure if user_axes is None else user_axes


def plain_text(text: object) -> str:
    """Return a user's text with dollar signs escaped, so that Matplotlib shows it literally and not as a
    formula."""
    return str(text).replace("$", r"\$")


# Legends that fit, labels that do not cover each other.

ROOM = 0.98
"""Of the width of the axes, that a legend may take."""
NARROWEST = 1.5  # inch
TRIES = 40


def fitting_legend(axes: "Axes", columns: int = 8, width: float | None = None, **options: Any) -> None:
    """Add a legend above matplotlib ``axes``, flush left, in as many columns as fit into ``width`` [inch], at most
    ``columns``. With None the width of the figure counts. Entries are ordered along rows. Nothing is added without
    labelled artists. ``options`` are those of ``Axes.legend``.

    Args:
        axes: with labelled artists; none: there is no legend.
        columns: at most.
        width: of the axes [inch]; None: of the whole figure.
        options: of ``Axes.legend``.
    """
    handles, labels = options.pop("handles", None), options.pop("labels", None)
    if handles is None:
        handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    size = axes.get_figure(root=True).get_size_inches()[0] - 0.8 if width is None else width  # type: ignore[union-attr]
    count = _columns(axes, list(labels), columns, max(size, NARROWEST) * 72)
    order = _by_rows(len(labels), count)
    legend = axes.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=count,
        borderaxespad=0.2,
        columnspacing=1.2,
        **options,
    )
    legend.set_in_layout(True)


def fold_exponent(axes: "Axes") -> None:
    """Append the common power of ten of the y tick labels to the y axis label, for ticks inside the present
    limits. Matplotlib's text above the axis, which a legend could cover, is hidden."""
    formatter: Any = axes.yaxis.get_major_formatter()
    ticks = axes.get_yticks()
    low, high = axes.get_ylim()
    formatter.set_locs([tick for tick in ticks if low <= tick <= high])
    if power := formatter.get_offset():
        axes.set_ylabel(f"{axes.get_ylabel()}  {power}")
    axes.yaxis.get_offset_text().set_visible(False)


def _columns(axes: "Axes", labels: Sequence[str], most: int, room: float) -> int:
    """Return the largest number of legend columns, from ``most`` down to 1, for which the ``labels`` fit into the
    width ``room`` [points]. Labels fill the legend row by row. Widths of texts are measured by matplotlib in the
    figure of ``axes``; handles and spaces are added. With one column the width is not checked."""
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.text import Text

    size = FontProperties(size=matplotlib.rcParams["legend.fontsize"]).get_size_in_points()
    figure: Any = axes.get_figure(root=True)
    widths = []
    for label in labels:
        text = Text(0, 0, label, fontsize=size)
        text.set_figure(figure)
        widths.append(text.get_window_extent().width * 72 / figure.dpi)  # as drawn: hints make letters wider
    handle = size * (matplotlib.rcParams["legend.handlelength"] + 0.8)
    for count in range(min(most, len(labels)), 1, -1):
        columns = _filled([widths[k] for k in _by_rows(len(widths), count)], count)
        total = sum(max(column) + handle for column in columns) + 1.2 * size * (len(columns) + 1)
        if total < ROOM * room:
            return count
    return 1


def _by_rows(number: int, count: int) -> list[int]:
    """Return the order of ``number`` legend entries in which a legend that fills its ``count`` columns one by one
    reads in rows."""
    return [k for column in range(count) for k in range(column, number, count)]


def _filled(widths: Sequence[float], count: int) -> list[Sequence[float]]:
    """Split the ``widths`` of legend entries into ``count`` columns of consecutive entries as matplotlib does. If
    the division has a rest, the first columns have one entry more."""
    rows, longer = divmod(len(widths), count)
    starts = [k * rows + min(k, longer) for k in range(count + 1)]
    return [widths[a:b] for a, b in pairwise(starts)]


def spread_labels(axes: "Axes", texts: Sequence[Any]) -> None:
    """Move texts in matplotlib ``axes`` down in small steps until none covers an earlier one. At most a fixed
    number of steps is made for each text. Their offset positions change in place. The figure must have been drawn
    before, which is not checked."""
    renderer: Any = axes.get_figure(root=True).canvas.get_renderer()  # type: ignore[union-attr]
    placed: list[Any] = []
    for text in texts:
        for _ in range(TRIES):
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(other) for other in placed):
                break
            x, y = text.get_position()
            text.set_position((x, y - 0.6 * text.get_fontsize()))
        placed.append(text.get_window_extent(renderer))


# Colours of surfaces: of a body or of its stress, faded towards the paper, lighter where they face the light.

LIGHT = np.array([0.35, -0.6, 0.72]) / np.linalg.norm([0.35, -0.6, 0.72])


@dataclass(frozen=True, eq=False)
class StressColors:
    """Stress of some bodies as colours, from zero to the greatest one at the last instant.

    Attributes:
        fields: by the name of the body.
    """

    fields: Mapping[str, NodeField]

    @property
    def greatest(self) -> float:
        """Return the largest stress of all coloured bodies at the last instant, the upper end of the colour scale
        [Pa]; 1 if there is none or it is zero."""
        return max((float(field.values[-1].max()) for field in self.fields.values()), default=0.0) or 1.0

    def base(self, body: DrawnBody, instant: int) -> Array:
        """Return the RGB colours of the t triangles of a drawn body at an ``instant``, shape (t, 3), by their
        stress. The mean of a triangle's corners is divided by the largest stress of all. A body without stress has
        one colour, shape (3,)."""
        if body.name not in self.fields:
            return rgb(body.color)
        from matplotlib import colormaps

        at_nodes = self.fields[body.name].values[instant]
        share = at_nodes[body.skin.vertex_nodes][body.skin.triangles].mean(axis=1) / self.greatest
        return np.asarray(colormaps[MAP](share)[:, :3])


MAP = "cividis"
"""Also for readers who do not tell red from green."""
NO_STRESS = StressColors({})


def rgb(color: str) -> Array:
    """Return a ``color`` "#rrggbb" as red, green and blue between 0 and 1, shape (3,)."""
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255


def faded_color(color: str, strength: float) -> tuple[float, float, float]:
    """Return a ``color`` "#rrggbb" mixed with white as red, green and blue between 0 and 1; ``strength`` 0 is
    white, 1 the colour itself."""
    red, green, blue = (1 - strength) + strength * rgb(color)
    return float(red), float(green), float(blue)


def lit_colors(base: Array, corners: Array, strength: float = 1.0) -> Array:
    """Return the colours (t, 3) of t triangles with ``corners`` (t, 3, 3), lit from a fixed direction: brighter
    the more the normal points there. ``base`` are their own colours, (3,) or (t, 3); ``strength`` below 1 mixes
    them with white."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    facing = (normals @ LIGHT) / np.where(length > 0, length, 1.0)
    bright = (0.68 + 0.32 * facing)[:, None]
    lit = np.where(bright > 1, base, base * bright) + np.maximum(facing, 0.0)[:, None] * 0.18 * (1 - base)
    return np.asarray(np.clip((1 - strength) + strength * lit, 0.0, 1.0))


def inner_sides_moved_back(corners: Array, viewer: Array, way: float) -> Array:
    """Return the triangles ``corners`` (t, 3, 3), with those that show their inner side to the viewer moved away
    from the viewer, along ``-viewer``. The normal (b - a) x (c - a) of such a triangle points against ``viewer``,
    the unit vector to the viewer. Each moves by ``way`` plus its own extent along ``viewer``.

    By ``way`` and their own depth, so that they are behind the outer side of a thin body, however they are cut.
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    is_inner = cross(b - a, c - a) @ viewer < 0
    back = np.where(is_inner, way + np.ptp(corners @ viewer, axis=1), 0.0)
    return np.asarray(corners - back[:, None, None] * viewer)


def refined_pieces(corners: Array, longest: float, most: int) -> tuple[Array, IntArray]:
    """Return triangles (t, 3, 3) or lines (t, 2, 3), given by ``corners``, halved at their longest edge until no
    edge is longer than ``longest``. The second result is the index of the original of each piece. Halving stops
    once there are ``most`` pieces; the last halving may give up to twice as many.

    What is drawn in the order of mean depths hides what is behind it only where pieces are small.
    """
    own = np.arange(len(corners))
    count = corners.shape[1]
    while len(corners) < most:
        following = np.roll(corners, -1, axis=1)
        lengths = np.linalg.norm(following - corners, axis=2)
        is_long = lengths.max(axis=1, initial=0.0) > longest
        if not is_long.any():
            break
        first = lengths[is_long].argmax(axis=1)[:, None]
        turned = np.take_along_axis(corners[is_long], ((first + np.arange(count)) % count)[..., None], axis=1)
        middle = (turned[:, :1] + turned[:, 1:2]) / 2
        halves = [
            np.concatenate(each, axis=1)
            for each in ((turned[:, :1], middle, turned[:, 2:]), (middle, turned[:, 1:]))
        ]
        corners = np.concatenate([corners[~is_long], *halves])
        own = np.concatenate([own[~is_long], own[is_long], own[is_long]])
    return corners, own


def silhouette(vertices: Array, triangles: IntArray) -> IntArray:
    """Return the outline of ``triangles`` (t, 3) as seen along z, as e edges (e, 2) of indices of ``vertices``.
    Outline edges have a triangle with a normal in positive z direction on one side, and on the other side another
    triangle or none. Vertices at one position (tolerance 1e-7 of the size) count as one.

    Corners at one place count as one vertex, so that flat-shaded triangles are joined.
    """
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    same = np.unique(np.round(vertices / (1e-7 * size)), axis=0, return_inverse=True)[1].reshape(-1)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    is_front = normals[:, 2] > 1e-9 * np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    keys = np.sort(same[edges], axis=1)
    front = np.tile(is_front, 3)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    count = np.bincount(group, minlength=len(first))
    facing = np.bincount(group, weights=front, minlength=len(first))
    return np.asarray(edges[first[(facing > 0) & ((facing < count) | (count == 1))]])


ELEVATION, AZIMUTH = 22.0, -58.0
"""Of who looks at a mechanism in space [degrees]."""


def upwards(scene: Scene) -> int:
    """Return the index of the vertical axis of a ``scene`` (0, 1 or 2): that of the largest component of gravity,
    z without gravity."""
    return int(np.argmax(np.abs(scene.gravity))) if scene.gravity.any() else 2


def towards_viewer(scene: Scene) -> Array:
    """Return the unit vector from a scene in space to the viewer of its pictures, in world axes, shape (3,)."""
    elevation, azimuth = np.radians([ELEVATION, AZIMUTH])
    flat = np.cos(elevation) * np.array([np.cos(azimuth), np.sin(azimuth)])
    return np.roll([*flat, np.sin(elevation)], upwards(scene) - 2)
