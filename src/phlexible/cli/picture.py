"""One picture of a run: the mechanism, the displacements of its plotted points, the energies."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from phlexible.cli.programs import Program
from phlexible.cli.summary import ROUND_OFF, attachment_of, length_of
from phlexible.results.motion import Motion
from phlexible.results.pictures.drawing import scene
from phlexible.results.pictures.house_style import (
    COLORS,
    INK,
    QUIET,
    finish,
    house_style,
    legend_above,
    new_figure,
)
from phlexible.results.pictures.mechanism_plot import (
    draw_fixed_parts,
    draw_instant,
    mechanism_axes,
    picked_instants,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTANTS = 9
FAINTEST = 0.2


def draw(program: Program, motion: Motion, path: Path | None) -> "Figure":
    """The picture, written to the path if there is one.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ResultFileError: the file cannot be written.
    """
    with house_style():
        figure = new_figure(9.6, 4.2)
        left, right = np.ravel(figure.subfigures(1, 2, width_ratios=(1.15, 1)))  # type: ignore[arg-type]
        _draw_mechanism(left, motion)
        axes = right.subplots(2 if program.points else 1, 1, sharex=True, squeeze=False)[:, 0]
        if program.points:
            _draw_displacements(axes[0], program, motion)
        _draw_energy(axes[-1], motion)
        axes[-1].set_xlabel("time [s]")
        return finish(figure, path)


def _draw_mechanism(figure: "Figure", motion: Motion) -> None:
    dimension = motion.mechanism.dimension
    drawn = scene(motion.run, picked_instants(motion.time, INSTANTS))
    axes = mechanism_axes(figure, dimension, drawn)
    draw_fixed_parts(axes, dimension, drawn, *drawn.bounds())
    for k, opacity in enumerate(np.linspace(FAINTEST, 1.0, len(drawn.time))):
        draw_instant(axes, dimension, drawn, k, float(opacity))
    if 1 < len(drawn.bodies) <= len(COLORS):
        legend_above(axes, 4)


def _draw_displacements(axes: "Axes", program: Program, motion: Motion) -> None:
    across = "yz"[: program.model.dimension - 1]
    for k, point in enumerate(program.points):
        attachment = attachment_of(program.model, point)
        percent = 100 * motion.displacement(attachment) / length_of(program.model, point)
        for axis, line in zip(across, ("-", "--"), strict=False):
            values = percent[:, "xyz".index(axis)]
            if axis == "y" or np.abs(values).max() > ROUND_OFF:
                label = f"$u_{axis}$ at {attachment}"
                axes.plot(motion.time, values, line, color=COLORS[k % len(COLORS)], label=label)
    axes.set_ylabel("elastic displacement / L [%]")
    legend_above(axes, 2)


def _draw_energy(axes: "Axes", motion: Motion) -> None:
    energy = motion.energy
    for label, values, color in (
        ("total", energy.total, INK),
        ("kinetic", energy.kinetic, COLORS[0]),
        ("strain", energy.strain, COLORS[1]),
        ("gravity", energy.gravity, COLORS[2]),
        ("supplied", energy.supplied, COLORS[5]),
        ("dissipated", energy.dissipated, COLORS[6]),
    ):
        if label == "total" or np.any(values):
            line = "--" if label in ("supplied", "dissipated") else "-"
            axes.plot(motion.time, values, line, color=color, label=label)
    axes.set_ylabel("energy [J]")
    legend_above(axes, 6)
    error = float(np.abs(energy.balance_error).max())
    axes.annotate(
        f"balance off by {error:.0e} J",
        (1.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -30),
        textcoords="offset points",
        ha="right",
        va="top",
        color=QUIET,
        fontsize=7.5,
    )
