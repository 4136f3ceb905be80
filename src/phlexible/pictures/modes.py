"""Pictures of linear models: mode shapes, frequencies over a parameter, Bode plots."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from phlexible.algebra.arrays import (
    Array,
    IntArray,
    called,
    check_callable,
    field_values,
    finite,
    option,
    positive,
    text,
    whole,
)
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import velocity_components
from phlexible.bodies.skin import Skin
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody
from phlexible.display import in_row, short_repr, table
from phlexible.errors import LeftOutWarning, ModelError, ParameterError, PhlexibleError, warn_user
from phlexible.extras import optional
from phlexible.linear.equilibria import OperatingKind
from phlexible.linear.frequency_response import FrequencyResponse
from phlexible.linear.linearize import Linearization, linearization
from phlexible.linear.modes import Modes, lowest_modes
from phlexible.pictures.animation import film_of, film_path
from phlexible.pictures.reports import MODE_HEADS, mode_rows, report_modes
from phlexible.pictures.scene import RELATIVE_AMPLITUDE, ComplexArray, largest_turn, most_real
from phlexible.pictures.style import (
    COLORS,
    INK,
    PALE,
    check_axes,
    finish,
    finished,
    fitting_legend,
    house_style,
    new_figure,
    picture_html,
    plain_text,
)
from phlexible.shapes.surfaces import merged_vertices, sharp_edges as mesh_edges
from phlexible.state.system import system_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


# The lines that stand for a mechanism in pictures of its modes, at rest and in motion.

OUTLINE_POINTS = 33
UNSEEN = 1e-6


@dataclass(frozen=True, eq=False)
class ModeOutline:
    """Polylines in world axes; a single point is a line of one point.

    Attributes:
        still: each of shape (points, 3) [m].
        motion: small displacements in the mode, of the same shapes, complex.
        ground: points of the ground that joints hold, shape (points, 3) [m].
        turn: largest turn of a body in the mode, in the units of ``motion`` over metres.
    """

    still: list[Array]
    motion: list[ComplexArray]
    ground: Array
    turn: float

    def at_phase(self, phase: float, amplitude: float) -> list[Array]:
        """Return the outlines of all bodies displaced in a mode at a phase [rad] of its motion, as a list of
        polylines (points, 3) [m]. ``amplitude`` is the largest displacement at phase 0 [m]."""
        factor = amplitude / self.greatest * np.exp(1j * phase)
        return [line + (factor * motion).real for line, motion in zip(self.still, self.motion, strict=True)]

    @property
    def greatest(self) -> float:
        """Return the largest displacement of any point of the outlines in this mode at phase 0, or infinity if
        nothing moves visibly. It is the displacement of the mode as computed, before it is scaled for drawing.
        Nothing moves visibly where bodies drawn as lines only rotate about these lines; the drawing scale, an
        amplitude divided by this number, is then zero."""
        size = max(float(np.linalg.norm(line.real, axis=1).max()) for line in self.motion)
        return size if size > UNSEEN * self.turn * self.extent else np.inf

    @property
    def extent(self) -> float:
        """Return the longest edge of the box around the outlines of all bodies at rest [m]; 1 for a single
        point."""
        return float(np.ptp(np.concatenate(self.still), axis=0).max()) or 1.0


def mode_outline(linear: Linearization, shape: Array | ComplexArray) -> ModeOutline:
    """Return the outlines of all bodies at rest and their complex displacements in one mode of a linear model,
    with ground points. ``shape`` (n,) is the mode; it is multiplied by the phase factor that makes it most
    real."""
    turned = most_real(shape)
    still, motion, state = [], [], linear.point.state
    system = linear.system
    for index, placed in enumerate(system.bodies):
        begin, end = system.layout.velocity[index : index + 2]
        eta, has_frame = system.elastic(state, index), index < system.layout.frames
        rotation = state.rotation[index] if has_frame else np.eye(3)
        origin = np.zeros(3)
        if has_frame:
            origin = state.position[index] - rotation @ system.centres[index] @ np.concatenate([[1.0], eta])
        for positions, shapes in _lines(linear, placed):
            local = positions + shapes @ eta
            still.append(origin + local @ rotation.T)
            motion.append(_motion(placed, local, shapes, turned[begin:end]) @ rotation.T)
    ports = [port for joint in linear.system.mechanism.joints for port in (joint.first, joint.second)]
    held = [port.initial_position() for port in ports if isinstance(port, MovingFrame)]
    return ModeOutline(still, motion, np.array(held).reshape(-1, 3), largest_turn(linear, turned))


def _lines(linear: Linearization, placed: PlacedBody) -> list[tuple[Array, Array]]:
    """Return the lines by which pictures of modes show the body ``placed``, each as a pair: undeformed points in
    body axes (points, 3), and shape functions there (points, 3, coordinates). For a mesh they are the sharp edges
    of its surface, for other bodies the outline. A rigid body also has straight lines to its joints."""
    if isinstance(placed.data.points, FlexiblePoints):
        skin = placed.body.skin(placed.data, np.zeros((0, 3)))
        if edges := sharp_edges(skin):
            return [(skin.positions[edge], skin.shapes[edge]) for edge in edges]
    positions, shapes = placed.data.points.outline(OUTLINE_POINTS)
    lines = [(positions, shapes)]
    if placed.data.elastic_count:
        return lines
    for joint in linear.system.mechanism.joints:
        for port in (joint.first, joint.second):
            if isinstance(port, Attachment) and port.placed is placed:
                end = port.point.position
                if np.linalg.norm(end - positions[-1]) > 0:
                    lines.append((np.stack([positions[-1], end]), np.zeros((2, 3, 0))))
    return lines


def sharp_edges(skin: Skin) -> list[IntArray]:
    """Return the sharp edges of a body's drawn surface (``skin``), connected to lines, each an array of node
    indices. An edge is sharp if the surface ends there or the normals of its triangles differ by more than 35
    degrees. Vertices at one position are merged. Lines end where edges branch; a closed line begins and ends at
    one node."""
    vertices, triangles = merged_vertices(skin.positions[skin.vertex_nodes] + skin.offsets, skin.triangles)
    nodes = np.zeros(len(vertices), dtype=np.int64)
    nodes[triangles.ravel()] = skin.vertex_nodes[skin.triangles.ravel()]
    single = np.unique(np.sort(nodes[mesh_edges(vertices, triangles)], axis=1), axis=0)
    left: dict[int, list[int]] = {}
    for first, second in single[single[:, 0] != single[:, 1]].tolist():
        left.setdefault(first, []).append(second)
        left.setdefault(second, []).append(first)
    lines = []
    while left:
        line = [next((node for node, others in left.items() if len(others) != 2), next(iter(left)))]
        while others := left.get(line[-1]):
            here, after = line[-1], others.pop()
            left[after].remove(here)
            line.append(after)
            if len(left[after]) > 1:  # lines meet
                break
        left = {node: others for node, others in left.items() if others}
        lines.append(np.array(line, dtype=np.int64))
    return lines


def _motion(placed: PlacedBody, local: Array, shapes: Array, x: ComplexArray) -> ComplexArray:
    """Return the small displacements of points of the body ``placed`` in a mode, shape (points, 3), complex.
    They are in body axes, of strings and soft bodies in world axes. ``local`` (points, 3) are the points,
    ``shapes`` the shape functions there, ``x`` the body's entries of the mode."""
    if not isinstance(placed.data, FloatingBody):
        return np.asarray(shapes @ x)
    full = np.zeros(6 + placed.data.elastic_count, dtype=np.complex128)
    full[velocity_components(placed.data)] = x
    return np.asarray(full[:3] + np.cross(full[3:6], local) + shapes @ full[6:])


# Pictures and films of mode shapes.

FRAMES_PER_SECOND = 25


class ModeShapes(Modes):
    """``Modes`` that can be drawn."""

    @classmethod
    def from_modes(cls, modes: Modes) -> Self:
        """Return a ``ModeShapes`` with the fields of ``modes``; it can also be plotted, animated and reported."""
        return cls(**field_values(modes, Modes))

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
        self, mode: int, path: str | PathLike[str] | None = None, amplitude: float | None = None, *, axes: "Axes"
    ) -> "Axes": ...

    def plot(
        self,
        mode: int | None = None,
        path: str | PathLike[str] | None = None,
        amplitude: float | None = None,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """Draw the bodies deformed in one ``mode`` (its index from 0), or in all modes side by side, over the
        undeformed bodies. The view is the plane in which the mode moves most. ``amplitude`` is the largest
        displacement [m] (None: a tenth of the extent). The picture is also written to the file ``path`` unless it
        is None. Return the figure or the given ``axes``.

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
        """Draw mode ``number`` of these mode shapes, in colour, over the bodies at rest into matplotlib axes. The
        picture plane is spanned by the two world axes in which the motion is seen best. ``amplitude`` is the
        largest displacement [m], by default a fixed fraction of the model's size. The title is the mode's angular
        frequency [rad/s]."""
        outline = self._outline(number)
        size = self._amplitude(outline, amplitude)
        view = _view(outline, size)
        _draw(axis, outline, outline.at_phase(0.0, size), view, self.frequencies[number])
        axis.set_aspect("equal", adjustable="datalim")
        axis.margins(0.1)

    def animate(
        self, mode: int, path: str | PathLike[str], amplitude: float | None = None, frames: int = 40
    ) -> None:
        """Write a film of one period of vibration in an eigenmode, by its index ``mode`` from 0, to ``path``
        (ending .mp4 or .gif). The film has ``frames`` pictures of the model's outline. Its largest displacement is
        ``amplitude`` [m], or a tenth of the model's extent if that is None.

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
        target = film_path(path)
        outline, frames = self._outline(self._checked(mode)), whole("frames", frames)
        optional("matplotlib", "plot")
        size = self._amplitude(outline, amplitude)
        view = _view(outline, size)
        with house_style():
            figure = new_figure(4.8, 3.6)
            axis = figure.subplots()
            pictures = [outline.at_phase(2 * np.pi * k / frames, size) for k in range(frames)]
            curves = _draw(axis, outline, pictures[0], view, self.frequencies[mode])
            everything = np.concatenate([line[:, view] for picture in pictures for line in picture])
            low, high = everything.min(axis=0), everything.max(axis=0)
            edge = float((high - low).max())
            half = np.maximum((high - low) / 2 + 0.05 * edge, 0.25 * edge)  # no film is a thin strip
            axis.set_xlim(*((low + high)[0] / 2 + half[0] * np.array([-1, 1])))
            axis.set_ylim(*((low + high)[1] / 2 + half[1] * np.array([-1, 1])))
            axis.set_aspect("equal", adjustable="box")
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # the same for all pictures
            with film_of(figure, curves, target, FRAMES_PER_SECOND) as add_picture:
                for picture in pictures:
                    for curve, line in zip(curves, picture, strict=True):
                        curve.set_data(*line[:, view].T)
                    add_picture()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a table of frequencies and damping ratios with pictures of the mode shapes."""
        rows = mode_rows(self)
        text = table(rows, MODE_HEADS)
        if self.linearization is None or not len(rows):
            return text
        return in_row(text, picture_html(self.plot, "shapes of the modes"))

    def report(self, path: str | PathLike[str], title: str | None = None) -> None:
        """Write an HTML file ``path`` in which every mode moves in a 3D view; it needs no network. ``title``
        is the heading (None: "modes").

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
    """Return the ascending indices (0 to 2) of the two world axes that span the picture plane of a mode. They are
    the axis of largest displacement at phase zero, and of the other axes the one of largest extent. Without
    displacement the axis of largest extent comes first. ``outline`` has the lines of the bodies; ``amplitude`` is
    the drawn displacement [m]."""
    moved, still = np.concatenate(outline.at_phase(0.0, amplitude)), np.concatenate(outline.still)
    spread = np.ptp(np.concatenate([still, moved]), axis=0)
    away = np.abs(moved - still).max(axis=0)
    first = int((away if away.any() else spread).argmax())
    spread[first] = np.inf
    return sorted(np.argsort(-spread, kind="stable")[:2].tolist())


def _draw(
    axis: "Axes", outline: ModeOutline, lines: list[Array], view: list[int], frequency: float
) -> "list[Line2D]":
    """Draw the bodies of a mode into matplotlib axes, seen in the plane of the two world axes ``view``. The
    displaced outlines ``lines``, arrays (points, 3) [m], are drawn in colour over the outlines at rest in grey;
    ground points are squares. The title is ``frequency`` [rad/s]. Return only the displaced matplotlib lines,
    which an animation moves."""
    for line in outline.still:
        axis.plot(*line[:, view].T, color=PALE, lw=1.0, marker="." if len(line) == 1 else "")
    axis.plot(*outline.ground[:, view].T, ls="", marker="s", ms=3.5, color=INK)
    axis.grid(False)
    axis.set_xlabel(f"{'xyz'[view[0]]} [m]")
    axis.set_ylabel(f"{'xyz'[view[1]]} [m]")
    axis.set_title(f"{frequency:.5g} rad/s", fontsize=8.5)
    return [
        axis.plot(*line[:, view].T, color=COLORS[0], marker="o" if len(line) == 1 else "", ms=4)[0]
        for line in lines
    ]


# Natural frequencies over a parameter of a model, as in Fig. 6 of Brugnoli et al. (2020).


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
        """Plot the natural frequencies [rad/s] over the parameter of this sweep, one curve for each index in
        ascending order. ``path`` is the picture's file (None: none). Return the figure or the given ``axes``.

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
    """Return the ``count`` lowest natural frequencies and damping ratios of models for all ``values`` of a
    parameter; missing modes are NaN. The function ``build`` is called with each value and returns a model, which
    is linearized at the operating point ``at``, such as "given" or "static". ``parameter`` is the name for plots.
    A warning names forces that the linear model leaves out.

    ``mode_sweep(ph.gallery.four_bar, np.linspace(0, 2 * np.pi, 61), 3).plot("fig_6.png")``

    Args:
        build: the model of a value of the parameter.
        values: of the parameter, shape (k,).
        count: modes, rigid ones included.
        at: what to linearize about, as of ``Model.linearize``; "steady_rotation" for a speed that is swept. One
            warning says what the models leave out.
        parameter: name and unit for plots.

    Raises:
        ParameterError: no values, or one that is not finite; a count or an option out of range.
        PhlexibleError: what ``build`` or ``linearize`` raise, with a note that names the value.

    Example:
        >>> def build(stiffness):
        ...     model = ph.Model(dimension=2)
        ...     cart = model.add(ph.RigidBody(1.0, 0.1), "cart")
        ...     rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        ...     spring = model.apply(rail.spring(stiffness))
        ...     return model
        >>> sweep = ph.mode_sweep(build, [1.0, 4.0, 9.0], count=1, parameter="stiffness [N/m]")
        >>> sweep.frequencies[:, 0].round(6)  # [rad/s]
        array([1., 2., 3.])
    """
    check_callable("build", build, "parameter")
    kind, parameter, count = option("at", at, OperatingKind), text("parameter", parameter), whole("count", count)
    try:
        if isinstance(values, str | bytes | Mapping | Set):
            raise TypeError
        given: list[Any] = list(np.asarray(values)) if hasattr(values, "__array__") else list(values)
    except TypeError:
        raise ParameterError(f"values must be numbers (k,), got {values!r}") from None
    numbers = np.array([finite("values", value) for value in given])
    if not numbers.size:
        raise ParameterError("values must hold at least one number, got none")
    frequencies, ratios, left_out = [], [], ""
    for number in numbers:
        try:
            linear = linearization(system_of(_built(build, float(number), f"at {parameter} = {number:g}")), at=kind)
            modes = lowest_modes(linear.mechanics, count, linear)
        except PhlexibleError as error:
            error.add_note(f"at {parameter} = {number:g}")
            raise
        if linear.left_out:
            left_out = f"the linear model at {parameter} = {number:g} leaves out {'; '.join(linear.left_out)}"
        missing = (0, count - len(modes.eigenvalues))
        frequencies.append(np.pad(modes.frequencies, missing, constant_values=np.nan))
        ratios.append(np.pad(modes.damping_ratios, missing, constant_values=np.nan))
    if left_out:
        warn_user(left_out, LeftOutWarning)
    return ModeSweep(parameter, numbers, np.array(frequencies), np.array(ratios))


def _built(build: Callable[[float], Mechanism], number: float, at: str) -> Mechanism:
    model = called(build, "build", number, at=at)
    if not isinstance(model, Mechanism):
        raise ParameterError(f"build must return a Model, got {model!r}")
    return model


# Bode plots of frequency responses.

NOT_MOVED = 1e-10  # of the greatest response of an output: round-off of one that the input does not move


class BodeResponse(FrequencyResponse):
    """A ``FrequencyResponse`` that can be plotted."""

    @classmethod
    def from_response(cls, response: FrequencyResponse) -> Self:
        """Return the given frequency response as an object that can also be plotted."""
        return cls(**field_values(response, FrequencyResponse))

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot(self, path: str | PathLike[str] | None = None, *, axes: "Sequence[Axes]") -> "Sequence[Axes]": ...

    def plot(
        self, path: str | PathLike[str] | None = None, *, axes: "Sequence[Axes] | None" = None
    ) -> "Figure | Sequence[Axes]":
        """Draw a Bode plot of this response: magnitude and phase over frequency, one curve for each pair of
        an input and an output that it moves. ``path`` is the picture's file (None: none). Return the figure
        or the two given ``axes``.

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
            greatest = self.magnitude.max(axis=0)  # of outputs and inputs
            is_moved = greatest > NOT_MOVED * greatest.max(axis=1, keepdims=True)
            pairs = [(int(i), int(j)) for i, j in np.argwhere(is_moved if is_moved.any() else ~is_moved)]
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
