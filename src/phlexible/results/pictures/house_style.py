"""The look of all figures, without touching a backend or any global setting of matplotlib."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any

from phlexible.algebra.options import file_path
from phlexible.errors import MissingExtraError, ParameterError, ResultFileError
from phlexible.results.extras import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOTEBOOK_DOTS = 80
"""An inch of a picture in a notebook."""

COLORS = ("#0b5394", "#d1541b", "#2f8f5b", "#8e4a9e", "#c9a227", "#3aa5b8", "#b03a5b", "#6b6b6b")
"""Told apart also by readers who do not tell red from green."""

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
    """The settings while a figure is made or written.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = optional("matplotlib", "plot")
    with matplotlib.rc_context(SETTINGS), quiet_fonts():
        yield


@contextmanager
def quiet_fonts() -> Iterator[None]:
    """Keeps matplotlib from logging each font of the list that a machine does not have."""
    import logging

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def new_figure(width: float, height: float, layout: str | None = "constrained") -> "Figure":
    """An empty figure [inch] that belongs to no window."""
    optional("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)  # type: ignore[arg-type]
    FigureCanvasAgg(figure)
    return figure


def picture_path(path: str | PathLike[str] | None) -> str | None:
    """The path of a picture, refused before anything is drawn unless it is a path or None.

    Raises:
        ParameterError: names it.
    """
    return None if path is None else file_path("path", path)


def check_axes(axes: object) -> None:
    """Refuses what is neither axes of matplotlib nor None, before anything is drawn.

    Raises:
        ParameterError: names it.
    """
    if axes is not None and not (hasattr(axes, "get_figure") and hasattr(axes, "plot")):
        raise ParameterError(f"axes must be axes of matplotlib such as figure.add_subplot(), got {axes!r}")


def finish(figure: "Figure", path: str | PathLike[str] | None) -> "Figure":
    """Writes the figure if a path is given; its ending says the format.

    Raises:
        ParameterError: a format that matplotlib does not write.
        ResultFileError: the file cannot be written.
    """
    if (path := picture_path(path)) is not None:
        try:
            figure.savefig(path)
        except ValueError as error:
            raise ParameterError(f"cannot write a figure to {path}: {error}") from error
        except OSError as error:
            raise ResultFileError(f"cannot write {path}: {error}") from error
    return figure


def picture_html(draw: "Callable[[], Figure | Axes]", label: str) -> str:
    """A figure as an image inside of HTML; nothing where matplotlib is not installed."""
    try:
        figure: Any = draw()
    except MissingExtraError:
        return ""
    stream = BytesIO()
    with house_style():
        figure.savefig(stream, format="png", dpi=NOTEBOOK_DOTS)
    content = b64encode(stream.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{content}" alt="{escape(label, quote=True)}">'


def finished(drawn: "Axes", given: "Axes | None", path: str | PathLike[str] | None) -> "Figure | Axes":
    """Writes the figure of the axes that were drawn into if a path is given.

    Returns:
        The axes that somebody gave, or else the figure.
    """
    figure: Any = drawn.get_figure(root=True)
    finish(figure, path)
    return figure if given is None else given


def plain_text(text: object) -> str:
    """A user's name as Matplotlib shows it letter by letter: dollars do not begin a formula."""
    return str(text).replace("$", r"\$")
