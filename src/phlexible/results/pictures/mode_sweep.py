"""Natural frequencies over a parameter of a model, as in Fig. 6 of Brugnoli et al. (2020)."""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, overload

import numpy as np

from phlexible.algebra.arrays import Array, finite
from phlexible.algebra.options import option, text, whole
from phlexible.algebra.user_functions import called, check_callable
from phlexible.display.written import short_repr
from phlexible.errors import ParameterError, PhlexibleError
from phlexible.linear_analysis.linearize import linearization
from phlexible.linear_analysis.modes.natural_modes import lowest_modes
from phlexible.linear_analysis.operating_points.operating_point import OperatingKind
from phlexible.mechanism.mechanism import Mechanism
from phlexible.results.pictures.house_style import COLORS, check_axes, finished, house_style, new_figure, plain_text
from phlexible.system.system import system_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class ModeSweep:
    """Frequencies in ascending order for each value; curves that cross change places.

    Attributes:
        parameter: name for tables and plots.
        values: of the parameter, shape (k,).
        frequencies: shape (k, count) [rad/s]; NaN where a model has fewer modes.
        damping_ratios: shape (k, count).
    """

    parameter: str
    values: Array
    frequencies: Array
    damping_ratios: Array

    __repr__ = short_repr

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: "Axes") -> "Axes": ...

    def plot(self, path: str | PathLike[str] | None = None, *, axes: "Axes | None" = None) -> "Figure | Axes":
        """One curve for each mode.

        Args:
            path: of the file to write, for example ``.png`` or ``.pdf``; None: none.
            axes: to draw into, and to return; None: a new figure, which is returned.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        check_axes(axes)
        with house_style():
            place = new_figure(5.6, 3.8).subplots() if axes is None else axes
            marker = "." if len(self.values) < 40 else ""
            for k, curve in enumerate(self.frequencies.T):
                place.plot(self.values, curve, color=COLORS[k % len(COLORS)], marker=marker)
                last = np.flatnonzero(np.isfinite(curve))
                if last.size:
                    place.annotate(
                        f"$\\omega_{{{k + 1}}}$",
                        (self.values[last[-1]], curve[last[-1]]),
                        xytext=(4, 0),
                        textcoords="offset points",
                        color=COLORS[k % len(COLORS)],
                        va="center",
                    )
            place.set_ylim(bottom=0.0)
            place.set_xlabel(plain_text(self.parameter))
            place.set_ylabel("frequency [rad/s]")
            return finished(place, axes, path)


def mode_sweep(
    build: Callable[[float], Mechanism],
    values: Iterable[float],
    count: int = 6,
    *,
    at: str = "given",
    parameter: str = "parameter",
) -> ModeSweep:
    """The ``count`` lowest frequencies of the models that a function builds.

    ``mode_sweep(ph.gallery.four_bar, np.linspace(0, 2 * np.pi, 61), 3).plot("fig_6.png")``

    Args:
        build: the model of a value of the parameter.
        values: of the parameter, shape (k,).
        count: modes, rigid ones included.
        at: what to linearize about, as of ``Model.linearize``.
        parameter: name and unit for plots.

    Raises:
        ParameterError: no values, or one that is not finite; a count or an option out of range.
        PhlexibleError: what ``build`` or ``linearize`` raise, with a note that names the value.
    """
    check_callable("build", build, "parameter")
    kind, parameter, count = option("at", at, OperatingKind), text("parameter", parameter), whole("count", count)
    try:
        if isinstance(values, str | bytes | Mapping | Set):
            raise TypeError
        given = list(values)
    except TypeError:
        raise ParameterError(f"values must be numbers (k,), got {values!r}") from None
    numbers = np.array([finite("values", value) for value in given])
    if not numbers.size:
        raise ParameterError("values must hold at least one number, got none")
    frequencies, ratios = [], []
    for number in numbers:
        try:
            linear = linearization(system_of(_built(build, float(number), f"at {parameter} = {number:g}")), at=kind)
            modes = lowest_modes(linear.mechanics, count, linear)
        except PhlexibleError as error:
            error.add_note(f"at {parameter} = {number:g}")
            raise
        missing = (0, count - len(modes.eigenvalues))
        frequencies.append(np.pad(modes.frequencies, missing, constant_values=np.nan))
        ratios.append(np.pad(modes.damping_ratios, missing, constant_values=np.nan))
    return ModeSweep(parameter, numbers, np.array(frequencies), np.array(ratios))


def _built(build: Callable[[float], Mechanism], number: float, at: str) -> Mechanism:
    model = called(build, "build", number, at=at)
    if not isinstance(model, Mechanism):
        raise ParameterError(f"build must return a Model, got {model!r}")
    return model
