"""Bode plots of frequency responses."""

from collections.abc import Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from phlexible.linear_analysis.frequency_response import FrequencyResponse
from phlexible.results.extras import optional
from phlexible.results.pictures.house_style import COLORS, finish, house_style, new_figure, plain_text
from phlexible.results.pictures.layout import fitting_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class BodeResponse(FrequencyResponse):
    """A ``FrequencyResponse`` that can be plotted."""

    @classmethod
    def of(cls, response: FrequencyResponse) -> Self:
        """The same response with a plot."""
        return cls(**{field.name: getattr(response, field.name) for field in fields(FrequencyResponse)})

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: "Sequence[Axes]") -> "Sequence[Axes]": ...

    def plot(
        self, path: str | PathLike[str] | None = None, *, axes: "Sequence[Axes] | None" = None
    ) -> "Figure | Sequence[Axes]":
        """Magnitude and phase over frequency, one curve for each pair of input and output.

        Args:
            path: of the file to write, for example ``.png`` or ``.pdf``; None: none.
            axes: two, for magnitude and phase; None: a new figure.

        Returns:
            The axes that were given, or the new figure.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        with house_style():
            ticker = optional("matplotlib.ticker", "plot")
            if axes is None:
                figure = new_figure(5.6, 4.2)
                upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
            else:
                upper, lower = axes
                figure = upper.get_figure(root=True)  # type: ignore[assignment]
            pairs = [(i, j) for i in range(len(self.outputs)) for j in range(len(self.inputs))]
            for k, (i, j) in enumerate(pairs):
                color = COLORS[k % len(COLORS)]
                label = f"{_named(self.inputs, self.input_units, j)} → " + _named(
                    self.outputs, self.output_units, i
                )
                upper.loglog(self.frequencies, self.magnitude[:, i, j], color=color, label=plain_text(label))
                lower.semilogx(self.frequencies, np.degrees(self.phase[:, i, j]), color=color)
            upper.set_ylabel("magnitude")
            lower.set_ylabel("phase [deg]")
            turns = float(np.ptp(np.degrees(self.phase))) / 90  # a handful of ticks at quarters of a turn
            lower.yaxis.set_major_locator(ticker.MultipleLocator(90 * max(1, int(np.ceil(turns / 6)))))
            lower.set_xlabel("frequency [rad/s]")
            fitting_legend(upper, 2)
            figure.align_ylabels([upper, lower])
            finish(figure, path)
            return figure if axes is None else axes


def _named(names: tuple[str, ...], units: tuple[str, ...], k: int) -> str:
    unit = units[k] if units else ""
    return f"{names[k]} [{unit}]" if unit else names[k]
