"""Pictures and films of mode shapes."""

from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.algebra.options import file_path, whole
from phlexible.display.html import beside, table
from phlexible.errors import ModelError, ParameterError, ResultFileError
from phlexible.linear_analysis.modes.natural_modes import Modes
from phlexible.results.extras import optional
from phlexible.results.pictures.animation import DOTS_PER_INCH, film_writer
from phlexible.results.pictures.house_style import (
    COLORS,
    INK,
    PALE,
    check_axes,
    finish,
    finished,
    house_style,
    new_figure,
    picture_html,
)
from phlexible.results.pictures.mode_outline import ModeOutline, mode_outline
from phlexible.results.report.modes_report import report_modes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRAMES_PER_SECOND = 25
RELATIVE_AMPLITUDE = 0.1  # of the extent of the model


class ModeShapes(Modes):
    """``Modes`` that can be drawn."""

    @classmethod
    def of(cls, modes: Modes) -> Self:
        """The same modes with pictures."""
        return cls(**{field.name: getattr(modes, field.name) for field in fields(Modes)})

    @overload
    def plot(
        self,
        mode: int | None = None,
        path: str | PathLike[str] | None = None,
        amplitude: float | None = None,
        *,
        axes: None = None,
    ) -> "Figure": ...

    @overload
    def plot(
        self,
        mode: int,
        path: str | PathLike[str] | None = None,
        amplitude: float | None = None,
        *,
        axes: "Axes",
    ) -> "Axes": ...

    def plot(
        self,
        mode: int | None = None,
        path: str | PathLike[str] | None = None,
        amplitude: float | None = None,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """The deformed bodies over the undeformed ones, seen in the plane in which the mode moves most.

        Args:
            mode: number of the mode, from 0; None: all of them, side by side.
            path: of the file to write; None: none.
            amplitude: largest displacement in the picture [m]; None: a tenth of the model's extent.
            axes: to draw one mode into, and to return; None: a new figure, which is returned.

        Raises:
            ParameterError: no such mode, or axes for all of them.
            ModelError: the modes of a reduced model.
            MissingExtraError: matplotlib is not installed.
        """
        check_axes(axes)
        if axes is not None and mode is None:
            raise ParameterError("axes= take one mode; say which with mode=")
        numbers = range(len(self.eigenvalues)) if mode is None else [self._checked(mode)]
        columns = min(3, len(numbers))
        with house_style():
            if axes is not None:
                self._draw(axes, numbers[0], amplitude)
                return finished(axes, axes, path)
            rows = -(-len(numbers) // columns)
            figure = new_figure(2.4 * columns if mode is None else 4.0, 2.2 * rows if mode is None else 3.0)
            places = np.atleast_1d(figure.subplots(rows, columns)).ravel()
            for place, number in zip(places, numbers, strict=False):
                self._draw(place, number, amplitude)
            for place in places[len(numbers) :]:
                place.set_visible(False)
            return finish(figure, path)

    def _draw(self, axis: "Axes", number: int, amplitude: float | None) -> None:
        """One mode over the bodies at rest."""
        outline = self._outline(number)
        size = self._amplitude(outline, amplitude)
        view = _view(outline, size)
        _draw_rest(axis, outline, view)
        for line in outline.at_phase(0.0, size):
            axis.plot(*line[:, view].T, color=COLORS[0], marker="o" if len(line) == 1 else "", ms=4)
        axis.set_aspect("equal", adjustable="datalim")
        axis.margins(0.1)
        _label(axis, view)
        axis.set_title(f"{self.frequencies[number]:.5g} rad/s", fontsize=8.5)

    def animate(
        self, mode: int, path: str | PathLike[str], amplitude: float | None = None, frames: int = 40
    ) -> None:
        """A film of one period of a mode, ``.mp4`` or ``.gif``.

        Args:
            mode: number of the mode, from 0.
            path: of the film.
            amplitude: largest displacement at the first picture [m]; None: a tenth of the model's extent.
            frames: pictures of the period.

        Raises:
            ParameterError: no such mode.
            MissingExtraError: matplotlib, or for .mp4 imageio-ffmpeg, is not installed.
            ResultFileError: the film cannot be written.
        """
        target = Path(file_path("path", path))
        if target.suffix.lower() not in (".mp4", ".gif"):
            raise ParameterError(f"path must end in .mp4 or .gif, got {str(path)!r}")
        outline, frames = self._outline(self._checked(mode)), whole("frames", frames)
        matplotlib = optional("matplotlib", "plot")
        size = self._amplitude(outline, amplitude)
        view = _view(outline, size)
        with house_style():
            figure = new_figure(4.8, 3.6)
            axis = figure.subplots()
            pictures = [outline.at_phase(2 * np.pi * k / frames, size) for k in range(frames)]
            _draw_rest(axis, outline, view)
            curves = [
                axis.plot(*line[:, view].T, color=COLORS[0], marker="o" if len(line) == 1 else "", ms=4)[0]
                for line in pictures[0]
            ]
            everything = np.concatenate([line[:, view] for picture in pictures for line in picture])
            low, high = everything.min(axis=0), everything.max(axis=0)
            edge = float((high - low).max())
            half = np.maximum((high - low) / 2 + 0.05 * edge, 0.25 * edge)  # no film is a thin strip
            axis.set_xlim(*((low + high)[0] / 2 + half[0] * np.array([-1, 1])))
            axis.set_ylim(*((low + high)[1] / 2 + half[1] * np.array([-1, 1])))
            axis.set_aspect("equal", adjustable="box")
            _label(axis, view)
            axis.set_title(f"{self.frequencies[mode]:.5g} rad/s", fontsize=8.5)

            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # the same for all pictures
            writer, settings = film_writer(target, FRAMES_PER_SECOND)
            try:
                with matplotlib.rc_context(settings), writer.saving(figure, str(target), DOTS_PER_INCH):
                    for picture in pictures:
                        for curve, line in zip(curves, picture, strict=True):
                            curve.set_data(*line[:, view].T)
                        writer.grab_frame()
            except OSError as error:
                raise ResultFileError(f"cannot write {target}: {error}") from error

    def _repr_html_(self) -> str:
        """For notebooks: frequencies and shapes."""
        pairs = enumerate(zip(self.frequencies, self.damping_ratios, strict=True))
        rows = [(f"{k + 1}", f"{w:.6g}", f"{w / (2 * np.pi):.6g}", f"{zeta:.3g}") for k, (w, zeta) in pairs]
        text = table(rows, ("mode", "[rad/s]", "[Hz]", "damping ratio"))
        if self.linearization is None or not len(rows):
            return text
        return beside(text, picture_html(self.plot, "shapes of the modes"))

    def report(self, path: str | PathLike[str], title: str | None = None) -> None:
        """Writes one HTML file in which every mode moves in a 3D view; it needs no network.

        Args:
            path: ends in ``.html``.
            title: None: "modes".

        Raises:
            ParameterError: another ending.
            ModelError: the modes of a reduced model.
            ResultFileError: the file cannot be written.
        """
        if self.linearization is None:
            raise ModelError("the shapes of a reduced model cannot be drawn; draw those of the full one")
        report_modes(self, self.linearization, path, title)

    def _checked(self, mode: int) -> int:
        if not whole("mode", mode, least=0) < len(self.eigenvalues):
            raise ParameterError(f"mode must be 0 to {len(self.eigenvalues) - 1}, got {mode!r}")
        return mode

    def _outline(self, number: int) -> ModeOutline:
        if self.linearization is None:
            raise ModelError("the shapes of a reduced model cannot be drawn; draw those of the full one")
        return mode_outline(self.linearization, self.shapes[:, number])

    def _amplitude(self, outline: ModeOutline, wanted: float | None) -> float:
        return RELATIVE_AMPLITUDE * outline.extent if wanted is None else positive("amplitude", wanted)


def _view(outline: ModeOutline, amplitude: float) -> list[int]:
    """The world axis along which the model moves most, and of the others that along which it extends most."""
    moved, still = np.concatenate(outline.at_phase(0.0, amplitude)), np.concatenate(outline.still)
    spread = np.ptp(np.concatenate([still, moved]), axis=0)
    away = np.abs(moved - still).max(axis=0)
    first = int((away if away.any() else spread).argmax())
    spread[first] = np.inf
    return sorted(np.argsort(-spread, kind="stable")[:2].tolist())


def _draw_rest(axis: "Axes", outline: ModeOutline, view: list[int]) -> None:
    for line in outline.still:
        axis.plot(*line[:, view].T, color=PALE, lw=1.0, marker="." if len(line) == 1 else "")
    axis.plot(*outline.ground[:, view].T, ls="", marker="s", ms=3.5, color=INK)


def _label(axis: "Axes", view: list[int]) -> None:
    axis.grid(False)
    axis.set_xlabel(f"{'xyz'[view[0]]} [m]")
    axis.set_ylabel(f"{'xyz'[view[1]]} [m]")
