"""Legends that fit, labels that do not cover each other."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.98
"""Of the width of the axes, that a legend may take."""
NARROWEST = 1.5  # inch
TRIES = 40


def fitting_legend(axes: "Axes", columns: int = 8, width: float | None = None, **options: Any) -> None:
    """A legend in rows above the axes, flush with the left side, of as many columns as fit.

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
    """A common power of ten of the numbers goes into the label of the axis, where no legend covers it."""
    formatter: Any = axes.yaxis.get_major_formatter()
    ticks = axes.get_yticks()
    low, high = axes.get_ylim()
    formatter.set_locs([tick for tick in ticks if low <= tick <= high])
    if power := formatter.get_offset():
        axes.set_ylabel(f"{axes.get_ylabel()}  {power}")
    axes.yaxis.get_offset_text().set_visible(False)


def _columns(axes: "Axes", labels: Sequence[str], most: int, room: float) -> int:
    """The most columns whose labels fit into a width [points]."""
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
    """Entries in the order in which a legend of ``count`` columns, filled one by one, reads in rows."""
    return [k for column in range(count) for k in range(column, number, count)]


def _filled(widths: Sequence[float], count: int) -> list[Sequence[float]]:
    """Entries column by column as legends have them: the first columns are longer by one."""
    rows, longer = divmod(len(widths), count)
    starts = [k * rows + min(k, longer) for k in range(count + 1)]
    return [widths[a:b] for a, b in pairwise(starts)]


def spread_labels(axes: "Axes", texts: Sequence[Any]) -> None:
    """Moves annotations down until none covers another; ``figure.draw_without_rendering`` came before."""
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
