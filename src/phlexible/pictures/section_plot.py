"""Section forces along a beam at some instants, over the range that they take in the whole motion."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.measure.section_forces import SectionForces
from phlexible.pictures.mechanism_plot import picked_instants
from phlexible.pictures.style import (
    COLORS,
    FAINT,
    INK,
    QUIET,
    finish,
    house_style,
    new_figure,
    picture_path,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_section_forces(
    forces: SectionForces,
    times: int | Sequence[float] = 4,
    path: str | PathLike[str] | None = None,
    title: str = "",
) -> "Figure":
    """Plot the section ``forces`` and moments along a beam at some instants, one panel for each that is not
    zero throughout. ``times`` is the number of instants or the times [s], ``path`` the picture's file (None:
    none), ``title`` the name of the beam. Ranges over all times are shaded; jumps between elements are shown;
    return the figure.

    Args:
        forces: at stations along the beam.
        times: so many, evenly spread, or the times [s]; the nearest stored instants are drawn.
        path: of the file to write; None: none.
        title: name of the beam.

    Raises:
        ParameterError: no time, or one outside the motion.
        MissingExtraError: matplotlib is not installed.
    """
    path, panels = picture_path(path), _panels(forces)
    instants = picked_instants(forces.time, times)
    with house_style():
        figure = new_figure(5.6, 0.5 + 1.25 * len(panels))
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (label, values) in zip(rows, panels, strict=True):
            low, high = values.min(axis=0), values.max(axis=0)
            axes.fill_between(forces.x, low, high, color=FAINT, lw=0, label="range over all times")
            axes.axhline(0.0, color=QUIET, lw=0.6)
            for k, instant in enumerate(instants):
                name = f"{forces.time[instant]:.4g} s"
                axes.plot(forces.x, values[instant], color=COLORS[k % len(COLORS)], lw=1.2, label=name)
            axes.set_ylabel(label, color=INK)
        rows[-1].set_xlabel("x [m]")
        handles, labels = rows[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=5, columnspacing=1.2)
        rows[0].set_title(plain_text(title), loc="right", fontsize=8.5, color=QUIET)
        figure.align_ylabels()
        return finish(figure, path)


def _panels(forces: SectionForces) -> list[tuple[str, Array]]:
    """Return label and values of the section forces and moments that are not zero throughout; the normal force is
    always there."""
    named = [
        ("$N$ [N]", forces.normal),
        ("$Q_y$ [N]", forces.shear_y),
        ("$Q_z$ [N]", forces.shear_z),
        ("$M_x$ [N m]", forces.torsion),
        ("$M_y$ [N m]", forces.moment_y),
        ("$M_z$ [N m]", forces.moment_z),
    ]
    return [named[0], *(each for each in named[1:] if np.any(each[1]))]
