"""Pictures and films of mode shapes."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import BodyData
from phlexible.errors import ModelError, ParameterError, ResultFileError
from phlexible.linear_analysis.modes import Modes
from phlexible.results.animation import DOTS_PER_INCH, film_writer
from phlexible.results.extras import optional
from phlexible.results.house_style import COLORS, PALE, finish, house_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTLINE_POINTS = 33
FRAMES_PER_SECOND = 25
RELATIVE_AMPLITUDE = 0.1  # of the extent of the model


class ModeShapes(Modes):
    """``Modes`` that can be drawn."""

    @classmethod
    def of(cls, modes: Modes) -> Self:
        """The same modes with pictures."""
        return cls(modes.eigenvalues, modes.shapes, modes.rigid_modes, modes.linearization)

    def plot(
        self, mode: int | None = None, path: str | PathLike[str] | None = None, amplitude: float | None = None
    ) -> "Figure":
        """The deformed bodies over the undeformed ones, seen in the plane in which the mode moves most.

        Args:
            mode: number of the mode, from 0; None: all of them, side by side.
            path: of the file to write; None: none.
            amplitude: largest displacement in the picture [m]; None: a tenth of the model's extent.

        Raises:
            ParameterError: no such mode.
            ModelError: the modes of a reduced model.
            MissingExtraError: matplotlib is not installed.
        """
        numbers = range(len(self.eigenvalues)) if mode is None else [self._checked(mode)]
        columns = min(3, len(numbers))
        with house_style():
            rows = -(-len(numbers) // columns)
            figure = new_figure(2.4 * columns if mode is None else 4.0, 2.2 * rows if mode is None else 3.0)
            axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
            for axis, number in zip(axes, numbers, strict=False):
                view = self._view(number)
                for still, moved in zip(*self._lines(number, amplitude, 0.0), strict=True):
                    axis.plot(*still[:, view].T, color=PALE, lw=1.0, marker="." if len(still) == 1 else "")
                    axis.plot(
                        *moved[:, view].T,
                        color=COLORS[0],
                        lw=1.4,
                        marker="o" if len(moved) == 1 else "",
                        ms=3,
                    )
                axis.set_aspect("equal", adjustable="datalim")
                axis.margins(0.1)
                axis.grid(False)
                axis.set_xlabel(f"{'xyz'[view[0]]} [m]")
                axis.set_ylabel(f"{'xyz'[view[1]]} [m]")
                axis.set_title(f"{self.frequencies[number]:.5g} rad/s", fontsize=8.5)
            for axis in axes[len(numbers) :]:
                axis.set_visible(False)
            return finish(figure, path)

    def animate(
        self, mode: int, path: str | PathLike[str], amplitude: float | None = None, frames: int = 40
    ) -> None:
        """A film of one period of a mode, ``.mp4`` or ``.gif``.

        Raises:
            ParameterError: no such mode.
            MissingExtraError: matplotlib, or for .mp4 imageio-ffmpeg, is not installed.
            ResultFileError: the film cannot be written.
        """
        target = Path(path)
        if target.suffix.lower() not in (".mp4", ".gif"):
            raise ParameterError(f"path must end in .mp4 or .gif, got {str(path)!r}")
        self._checked(mode)
        matplotlib = optional("matplotlib", "plot")
        view = self._view(mode)
        with house_style():
            figure = new_figure(4.8, 3.6)
            axis = figure.subplots()
            pictures = [self._lines(mode, amplitude, 2 * np.pi * k / frames)[1] for k in range(frames)]
            curves = [
                axis.plot(*line[:, view].T, color=COLORS[0], marker="o" if len(line) == 1 else "")[0]
                for line in pictures[0]
            ]
            everything = np.concatenate([line[:, view] for picture in pictures for line in picture])
            low, high = everything.min(axis=0), everything.max(axis=0)
            margin = 0.05 * float((high - low).max())
            axis.set_xlim(low[0] - margin, high[0] + margin)
            axis.set_ylim(low[1] - margin, high[1] + margin)
            axis.set_aspect("equal", adjustable="box")
            axis.set_title(f"mode {mode}: {self.frequencies[mode]:.5g} rad/s", fontsize=8.5)

            writer, settings = film_writer(target, FRAMES_PER_SECOND)
            try:
                with matplotlib.rc_context(settings), writer.saving(figure, str(target), DOTS_PER_INCH):
                    for picture in pictures:
                        for curve, line in zip(curves, picture, strict=True):
                            curve.set_data(*line[:, view].T)
                        writer.grab_frame()
            except OSError as error:
                raise ResultFileError(f"cannot write {target}: {error}") from error

    def _checked(self, mode: int) -> int:
        if not 0 <= mode < len(self.eigenvalues):
            raise ParameterError(f"mode must be 0 to {len(self.eigenvalues) - 1}, got {mode!r}")
        return mode

    def _view(self, number: int) -> list[int]:
        """The two world axes along which the model extends and moves most."""
        still, moved = self._lines(number, None, 0.0)
        spread = np.ptp(np.concatenate([*still, *moved]), axis=0)
        return sorted(np.argsort(-spread, kind="stable")[:2].tolist())

    def _lines(self, number: int, amplitude: float | None, phase: float) -> tuple[list[Array], list[Array]]:
        """Outlines of the bodies at rest and in the mode at a phase, each (points, 3) [m]."""
        linear = self.linearization
        if linear is None:
            raise ModelError("the shapes of a reduced model cannot be drawn; draw those of the full one")
        shape = np.real(self.shapes[:, number] * np.exp(1j * phase))
        largest_shape = self.shapes[:, number]
        still, motions, sizes = [], [], []
        for index, placed in enumerate(linear.mechanism.bodies):
            begin, end = linear.layout.velocity[index : index + 2]
            place, turn = linear.point.state.position[index], linear.point.state.rotation[index]
            eta = linear.point.state.elastic[linear.layout.elastic[index] : linear.layout.elastic[index + 1]]
            positions, shapes = placed.data.points.outline(OUTLINE_POINTS)
            local = positions + shapes @ eta
            still.append(place + local @ turn.T)
            motions.append(_motion(placed.data, local, shapes, shape[begin:end]) @ turn.T)
            sizes.append(np.abs(_motion(placed.data, local, shapes, largest_shape[begin:end])).max())
        extent = float(np.ptp(np.concatenate(still), axis=0).max()) or 1.0
        wanted = RELATIVE_AMPLITUDE * extent if amplitude is None else amplitude
        factor = wanted / (max(sizes) or 1.0)
        return still, [line + factor * motion for line, motion in zip(still, motions, strict=True)]


def _motion(body: BodyData, local: Array, shapes: Array, x: Any) -> Array:
    """Small displacements of points in body axes, (points, 3)."""
    from phlexible.model.kinematics import kept_columns

    full = np.zeros(6 + body.elastic_count, dtype=x.dtype)
    full[kept_columns(body)] = x
    return np.asarray(full[:3] + np.cross(full[3:6], local) + shapes @ full[6:])
