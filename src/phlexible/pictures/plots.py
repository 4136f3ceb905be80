"""Plots of energies with their balance, displacements and reactions over time."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array, flag
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment
from phlexible.errors import ModelError
from phlexible.measure.energy import Energy, energy_of
from phlexible.measure.sensors import ElasticDisplacement
from phlexible.pictures.style import (
    COLORS,
    INK,
    QUIET,
    check_axes,
    finish,
    finished,
    fitting_legend,
    fold_exponent,
    house_style,
    new_figure,
    picture_path,
    plain_text,
)
from phlexible.state.recorded_run import RecordedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FilePath = str | PathLike[str]

NOISE = 1e-6
"""Of the greatest energy: changes below it are not drawn as large as the picture."""


def plot_energy(run: RecordedRun, path: FilePath | None = None, axes: "Axes | None" = None) -> "Figure | Axes":
    """Plot the energies [J] of the recorded motion ``run`` over time, each relative to its value at the
    start. In a figure of its own the error of the energy balance is shown below. ``path`` is the picture's
    file (None: none); return the figure or the given ``axes``.

    Every curve begins at zero; its value at the start stands in brackets in the legend, so that the choice
    of where gravity has no energy hides nothing. Quantities that are zero throughout are left out.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    check_axes(axes)
    path, energy, time = picture_path(path), energy_of(run.recording), run.recording.time
    with house_style():
        if axes is not None:
            draw_energy(axes, time, energy)
            axes.set_xlabel("time [s]")
            note_below(axes, energy, with_error=True)
            return finished(axes, axes, path)
        figure = new_figure(5.6, 4.2)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        draw_energy(upper, time, energy)
        _draw_balance(lower, time, energy)
        lower.set_xlabel("time [s]")
        note_below(lower, energy, with_error=False)
        figure.align_ylabels()
        return finish(figure, path)


def draw_energy(axes: "Axes", time: Array, energy: Energy, width: float | None = None) -> None:
    """Draw the energies (``energy``) of a motion over time [s] into matplotlib axes, as differences from their
    values at the start [J]. The legend gives names and start values that are not negligible; the total is drawn
    thicker. ``width`` [inch] of the axes limits the legend. If only round-off changes, the vertical axis is not
    enlarged to it."""
    curves = energy_curves(energy)
    largest = max(float(np.abs(values).max()) for values in curves.values())
    for label, values in curves.items():
        start, (color, line) = float(values[0]), LOOKS[label]
        named = label if abs(start) <= NOISE * largest else f"{label} ({start:.4g})"
        axes.plot(time, values - start, line, color=color, label=named, lw=2.0 if label == "total" else 1.3)
    low, high = axes.get_ylim()
    if 0 < high - low < NOISE * largest:  # round-off is no curve
        axes.set_ylim(-NOISE * largest, NOISE * largest)
    axes.set_ylabel("energy since the start [J]")
    fold_exponent(axes)
    fitting_legend(axes, 4, width)


def note_below(axes: "Axes", energy: Energy, with_error: bool) -> None:
    """Add a note in small print below the time axis of an energy plot. It says what brackets in the legend mean,
    if an energy is not zero at the start, and with ``with_error`` the largest absolute error of the energy balance
    [J]."""
    notes = []
    if any(values[0] for values in energy_curves(energy).values()):
        notes.append("in brackets: energy at the start [J]")
    if with_error:
        error = np.abs(energy.balance_error).max()
        notes.append(f"balance off by {error:.0e} J" if error else "balance exact")
    look: dict[str, Any] = dict(xycoords="axes fraction", textcoords="offset points", color=QUIET, fontsize=7)
    axes.annotate(";  ".join(notes), (0.5, 0.0), xytext=(0, -31), ha="center", va="top", **look)


def plot_elastic_displacement(
    run: RecordedRun,
    attachment: Attachment,
    path: FilePath | None = None,
    normalized: bool = False,
    axes: "Axes | None" = None,
) -> "Figure | Axes":
    """Plot the elastic displacement of a point (``attachment``) of a flexible body in body axes over time, one
    curve for each component [m]. ``run`` is the recorded motion; ``normalized`` divides by the size of the body.
    The picture is also written to the file ``path`` unless it is None. Return the new figure, or the given
    ``axes``.

    Args:
        run: what was recorded.
        attachment: on a flexible body.
        path: of the file to write, for example ``.png`` or ``.pdf``; None: none.
        normalized: divided by the size of the body.
        axes: to draw into; None: a new figure.

    Raises:
        ModelError: normalized by a body without size.
        MissingExtraError: matplotlib is not installed.
    """
    check_axes(axes)
    path, values, unit = picture_path(path), ElasticDisplacement(attachment).read(run), "[m]"
    if flag("normalized", normalized):
        size = run.mechanism.bodies[run.body_index(attachment)].data.size
        if size == 0:
            raise ModelError(f"{attachment.placed.name} has no size by which to normalize a displacement")
        values, unit = values / size, "/ length"
    curves = [(f"$u_{'xyz'[k]}$", values[:, k]) for k in range(run.mechanism.dimension)]
    return _plot_curves(run, curves, f"elastic displacement {unit}", str(attachment), path, axes)


def plot_reaction(
    run: RecordedRun,
    joint: Joint,
    force: Array,
    moment: Array,
    path: FilePath | None = None,
    axes: "Axes | None" = None,
) -> "Figure | Axes":
    """Plot the ``force`` (N + 1, 3) [N] and the ``moment`` (N + 1, 3) [N m] that a ``joint`` transmits over
    time. ``run`` is the recorded motion. Components are in world axes, zero ones are left out. ``path`` is
    the picture's file (None: none); return the figure or the given ``axes``.

    Into given axes the force only.
    """
    check_axes(axes)
    path, dimension = picture_path(path), run.mechanism.dimension
    forces = [(f"$F_{'xyz'[k]}$", force[:, k]) for k in range(dimension)]
    moments = [(f"$M_{'xyz'[k]}$", moment[:, k]) for k in (range(3) if dimension == 3 else (2,))]
    size = np.abs(force).max(initial=0.0) * max((body.data.size for body in run.mechanism.bodies), default=0.0)
    if axes is not None or np.abs(moment).max(initial=0.0) <= ROUND_OFF * size:
        return _plot_curves(run, forces, "reaction [N]", str(joint), path, axes)
    with house_style():
        figure = new_figure(5.6, 4.2)
        upper, lower = figure.subplots(2, 1, sharex=True)
        _draw_curves(upper, run.recording.time, forces, "reaction [N]", str(joint))
        _draw_curves(lower, run.recording.time, moments, "moment [N m]", "")
        upper.set_xlabel("")
        figure.align_ylabels()
        return finish(figure, path)


ROUND_OFF = 1e-9  # of the greatest values: a curve below it is one of zeros


def _plot_curves(
    run: RecordedRun, curves: list[tuple[str, Array]], label: str, title: str, path: str | None, axes: Any
) -> "Figure | Axes":
    with house_style():
        panel = new_figure(5.6, 2.8).subplots() if axes is None else axes
        _draw_curves(panel, run.recording.time, curves, label, title)
        return finished(panel, axes, path)


def _draw_curves(axes: "Axes", time: Array, curves: list[tuple[str, Array]], label: str, title: str) -> None:
    sizes = [float(np.abs(values).max(initial=0.0)) for _, values in curves]
    for k, (name, values) in enumerate(curves):
        if sizes[k] > ROUND_OFF * max(sizes) or not max(sizes):
            axes.plot(time, values, color=COLORS[k], label=name)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(label)
    fold_exponent(axes)
    fitting_legend(axes, 3)
    axes.set_title(plain_text(title), loc="right", fontsize=8.5, color=QUIET)


LOOKS = {
    "total": (INK, "-"),
    "kinetic": (COLORS[0], "-"),
    "strain": (COLORS[1], "-"),
    "gravity": (COLORS[2], "-"),
    "spring": (COLORS[3], "-"),
    "supplied": (COLORS[5], "--"),
    "dissipated": (COLORS[6], ":"),
}
"""Color and line style of each energy."""


def energy_curves(energy: Energy) -> dict[str, Array]:
    """Return the energies (``energy``) of a motion over time [J] by name, such as "kinetic", each of shape
    (instants,). Energies that are zero throughout are left out; "total" is always returned."""
    curves = {name: np.asarray(getattr(energy, name)) for name in LOOKS}
    return {name: values for name, values in curves.items() if name == "total" or values.any()}


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
