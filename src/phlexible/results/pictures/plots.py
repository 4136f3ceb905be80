"""Plots over time: energies with their balance, displacements."""

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import flag
from phlexible.errors import ModelError
from phlexible.observables.energy import Energy, energy_of
from phlexible.observables.poses import displacement
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment
from phlexible.results.pictures.house_style import (
    COLORS,
    INK,
    QUIET,
    finish,
    house_style,
    legend_above,
    new_figure,
    picture_path,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_energy(run: RecordedRun, path: str | PathLike[str] | None = None) -> "Figure":
    """Energies over time [J]; below them the size of the balance error on a logarithmic scale.

    Quantities that are zero throughout are left out.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    path, energy, time = picture_path(path), energy_of(run.recording), run.recording.time
    with house_style():
        figure = new_figure(5.6, 4.2)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        curves = _curves(energy)
        for label, values, color, line in curves:
            upper.plot(time, values, line, color=color, label=label, lw=2.0 if label == "total" else 1.3)
        upper.set_ylabel("energy [J]")
        legend_above(upper, 4)
        _draw_balance(lower, time, energy)
        lower.set_xlabel("time [s]")
        figure.align_ylabels()
        return finish(figure, path)


def plot_displacement(
    run: RecordedRun, attachment: Attachment, path: str | PathLike[str] | None = None, normalized: bool = False
) -> "Figure":
    """Components of the elastic displacement in the body frame over time.

    Args:
        run: what was recorded.
        attachment: on a flexible body.
        path: of the file to write, for example ``.png`` or ``.pdf``; None: none.
        normalized: divided by the size of the body.

    Raises:
        ModelError: normalized by a body without size.
        MissingExtraError: matplotlib is not installed.
    """
    path, values, unit = picture_path(path), displacement(run, attachment), "[m]"
    if flag("normalized", normalized):
        size = run.mechanism.bodies[run.body_index(attachment)].data.size
        if size == 0:
            raise ModelError(f"{attachment.placed.name} has no size by which to normalize a displacement")
        values, unit = values / size, "/ length"
    with house_style():
        figure = new_figure(5.6, 2.8)
        axes = figure.subplots()
        for k in range(run.mechanism.dimension):
            axes.plot(run.recording.time, values[:, k], color=COLORS[k], label=f"$u_{'xyz'[k]}$")
        axes.set_xlabel("time [s]")
        axes.set_ylabel(f"displacement {unit}")
        legend_above(axes, 3)
        axes.set_title(str(attachment), loc="right", fontsize=8.5, color=QUIET)
        return finish(figure, path)


def _curves(energy: Energy) -> list[tuple[str, Array, str, str]]:
    """Label, values, color and line style of what is not zero throughout."""
    parts = [
        ("total", energy.total, INK, "-"),
        ("kinetic", energy.kinetic, COLORS[0], "-"),
        ("strain", energy.strain, COLORS[1], "-"),
        ("spring", energy.spring, COLORS[3], "-"),
        ("gravity", energy.gravity, COLORS[2], "-"),
        ("supplied", energy.supplied, COLORS[5], "--"),
        ("dissipated", energy.dissipated, COLORS[6], "--"),
    ]
    return [part for part in parts if part[0] == "total" or np.any(part[1])]


def _draw_balance(axes: "Axes", time: Array, energy: Energy) -> None:
    error = np.abs(energy.balance_error)
    axes.set_ylabel("|error| [J]")
    if not error.any():
        axes.set_yticks([0])
        axes.plot(time, error, color=QUIET)
        return
    floor = error[error > 0].min() / 2
    largest = error.max()
    bottom = max(floor, largest * 1e-6)
    axes.plot(time, np.maximum(error, bottom), color=QUIET, lw=0.8)
    axes.set_yscale("log")
    axes.set_ylim(bottom, largest * 3)
    axes.axhline(largest, color=INK, lw=0.6, ls=":")
    axes.annotate(
        f"largest balance error {largest:.1e} J",
        (1.0, largest),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=7.5,
        color=INK,
    )
