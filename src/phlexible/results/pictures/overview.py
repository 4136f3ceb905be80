"""One picture of a run: the mechanism, what tells most, the energies."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.observables.energy import busiest, energy_of
from phlexible.observables.mesh_stress import MeshedPoints
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment
from phlexible.results.pictures.house_style import (
    COLORS,
    finish,
    house_style,
    new_figure,
    picture_path,
)
from phlexible.results.pictures.layout import fitting_legend, fold_exponent
from phlexible.results.pictures.mechanism_plot import (
    BELOW,
    box_of,
    color_bar,
    draw_instants,
    legend_of_bodies,
    new_axes,
    picked_instants,
)
from phlexible.results.pictures.plots import draw_energy, note_below
from phlexible.results.pictures.shading import StressColors
from phlexible.results.pictures.telling import Moved, Panel, telling_panels
from phlexible.scene.build import scene_of
from phlexible.scene.fields import mesh_fields
from phlexible.scene.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTANTS = {1: 1, 2: 9, 3: 4}
WIDTH = 10.4
WIDE = 2.2
"""Width over height of a mechanism that is drawn above the graphs, not beside them."""
PANEL = 1.8  # [inch], the height of a graph
LOWEST = {2: 4.2, 3: 4.9}  # [inch], of the figure
LEFT = 0.52  # of the width, a mechanism beside its graphs


def plot_overview(
    run: RecordedRun, motion: Moved, points: Sequence[Attachment], path: str | PathLike[str] | None = None
) -> "Figure":
    """The mechanism at some instants, what tells most about the motion, and the energies since the start.

    Args:
        run: what was recorded.
        motion: the same, to be asked.
        points: whose deflections are shown, if there are any.
        path: of the file to write; None: none.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ResultFileError: the file cannot be written.
    """
    path = picture_path(path)
    instants = picked_instants(run.recording.time, INSTANTS[run.mechanism.dimension])
    if any(isinstance(placed.data.points, MeshedPoints) for placed in run.mechanism.bodies):
        instants = np.append(instants, busiest(run.recording))  # the last is drawn in the colours of its stress
    drawn = scene_of(run, instants)
    colors = StressColors(mesh_fields(run, drawn.bodies, instants))
    panels = telling_panels(motion, points)
    count, reach = len(panels) + 1, box_of(drawn)
    with house_style():
        if drawn.dimension == 2 and reach[0] > WIDE * reach[1]:
            upper = float(np.clip((WIDTH - 1.0) * reach[1] / reach[0] + 1.0, 1.6, 4.0))
            figure = new_figure(WIDTH, upper + PANEL + 0.9)
            top, bottom = np.ravel(figure.subfigures(2, 1, height_ratios=(upper, PANEL + 0.9)))  # type: ignore[arg-type]
            rows = bottom.subplots(1, count, squeeze=False)[0]
            widths = (WIDTH - 0.8, WIDTH / count - 0.9)
        else:
            figure = new_figure(WIDTH, max(LOWEST[drawn.dimension], PANEL * count + 0.3))
            top, bottom = np.ravel(figure.subfigures(1, 2, width_ratios=(LEFT, 1 - LEFT)))  # type: ignore[arg-type]
            rows = bottom.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
            widths = (LEFT * WIDTH - 0.9, (1 - LEFT) * WIDTH - 0.9)
        _draw_mechanism(top, drawn, colors, widths[0])
        for axes, panel in zip(rows, panels, strict=False):
            _draw_panel(axes, run, panel, widths[1])
        _draw_energy(rows[-1], run, widths[1])
        for axes in rows if len(rows) and widths[1] < WIDTH / count else rows[-1:]:
            axes.set_xlabel("time [s]")
        bottom.align_ylabels(rows)
        return finish(figure, path)


def _draw_mechanism(figure: Any, drawn: Scene, colors: StressColors, width: float) -> None:
    axes = new_axes(figure, drawn, BELOW if colors.fields else 0.0)
    draw_instants(axes, drawn, colors=colors)
    legend_of_bodies(axes, drawn, width)
    color_bar(axes, drawn, colors)


def _draw_panel(axes: "Axes", run: RecordedRun, panel: Panel, width: float) -> None:
    for k, (name, values) in enumerate(panel.curves):
        axes.plot(run.recording.time, values, color=COLORS[k % len(COLORS)], label=name)
    axes.set_ylabel(panel.label)
    fold_exponent(axes)
    fitting_legend(axes, 3, width)


def _draw_energy(axes: "Axes", run: RecordedRun, width: float) -> None:
    energy = energy_of(run.recording)
    draw_energy(axes, run.recording.time, energy, width)
    note_below(axes, energy, with_error=True)
