"""Pictures, films and reports of a motion."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import finite, flag, optional_text, positive, whole
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ModelError, ParameterError
from phlexible.measure import reactions, section_forces
from phlexible.measure.sensors import checked_sensors
from phlexible.pictures import animation, mechanism_plot, plots
from phlexible.pictures.live_view import Served, checked_port
from phlexible.pictures.mechanism_plot import plot_section_forces
from phlexible.pictures.reports import (
    InlinePage,
    asset,
    html_path,
    motion_page,
    motion_sections,
    readings,
    write_page,
)
from phlexible.state.recorded_run import RecordedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FilePath = str | PathLike[str]

LivePage = Callable[[str, Mapping[str, Sensor] | None, Sequence[str]], str]
"""Function of a title, sensors by name (None: default ones) and further sections that makes a page stepping
the model.
"""


# A recorded motion in a browser: its report, whose slider of time can be moved from Python.


class MotionView(Served):
    """Motion in a browser, made by ``Motion.live``.

    Attributes:
        url: to open in a browser.
    """

    def __init__(self, motion: "MotionPictures", port: int, frames: int | None) -> None:
        self._frames = None if frames is None else whole("frames", frames, least=2)
        port = checked_port(port)
        page = self._page_of(motion)
        super().__init__(port, page, time=self._span[0], playing=False, version=0)

    @property
    def time(self) -> float:
        """Return the time of the motion that the browser view shows at present [s]; it can be set to values
        between the first and the last instant."""
        return float(self._page_state["time"])

    @time.setter
    def time(self, value: float) -> None:
        low, high = self._span
        self._publish(time=min(max(finite("time", value), low), high))

    @property
    def is_playing(self) -> bool:
        """Return whether the browser view is playing the motion at present."""
        return bool(self._page_state["playing"])

    def play(self, speed: float | None = None) -> None:
        """Let the browser view play the motion, from the start again if it has reached the end. ``speed`` is
        the time of the motion in one second (None: as before).

        Args:
            speed: seconds of the motion in one; None: as before, at first the whole motion in about 8 s.
        """
        self._publish(playing=True, **({} if speed is None else {"speed": positive("speed", speed)}))

    def pause(self) -> None:
        """Pause the motion in the browser view."""
        self._publish(playing=False)

    def replace(self, motion: "MotionPictures") -> None:
        """Show another ``motion`` of the same model in the browser view, such as a continued run. The page is
        built again."""
        self.page = self._page_of(motion)
        self._publish(version=self._page_state["version"] + 1)

    def receive_message(self, message: dict[str, Any]) -> None:
        """Store what a browser page shows of this motion, from a ``message`` of the page: time, whether it plays,
        and speed. Messages with another number than the latest change from Python are ignored. ValueError is
        raised for numbers that are not finite."""
        time, playing, speed = float(message["time"]), bool(message["playing"]), float(message["speed"])
        if not (isfinite(time) and isfinite(speed)):
            raise ValueError
        with self._changed:
            if message["number"] == self._page_state["number"]:
                self._page_state |= {"time": time, "playing": playing, "speed": speed}

    def _page_of(self, motion: "MotionPictures") -> str:
        self._span = float(motion.run.time[0]), float(motion.run.time[-1])
        return motion_page(motion.run, motion.is_complete, self._frames, script=asset("live.js"))


class MotionPictures:
    """Plots, films and reports of a motion; base class of ``Motion``.

    Attributes:
        run: the numbers with the system that they are of.
        is_complete: False if the run stopped before its end.
    """

    run: RecordedRun
    is_complete: bool
    _live_page: LivePage | str

    def report(
        self,
        path: FilePath,
        *,
        live: bool = False,
        frames: int | None = None,
        points: Sequence[Attachment] = (),
        sensors: Sequence[Sensor] = (),
        curves: Mapping[str, ArrayLike] | None = None,
        title: str | None = None,
    ) -> None:
        """Write a report of this motion as one HTML file ``path`` with a 3D view, plots, checks and the model; it
        needs no network. ``frames`` is the number of instants in the view. Deflections of ``points``, values of
        ``sensors`` and ``curves`` (values by name) are plotted; ``title`` is the heading. With ``live`` the page
        itself simulates the model, without ``frames``, ``points`` and ``curves``.

        Args:
            path: ends in ``.html``.
            live: the page steps the model itself, from the start and with the steps of the run, as one of
                ``ph.build`` does: with sliders for inputs, bodies to be pulled at and curves of ``sensors`` as they
                move. It takes ``sensors`` and ``title`` of the following, and what ``ph.build`` takes.
            frames: instants of the 3D view, evenly spread; None: at most 600, fewer of large models.
            points: whose deflections are plotted.
            sensors: what else is plotted over time.
            curves: likewise numbers, by name: shape (N + 1,), or (N + 1, 3) with the components.
            title: None: "motion".

        Raises:
            ParameterError: another ending, curves of another length, or what a live page has not.
            ModelError: ``live`` of a motion whose model cannot be stepped by a page, with the reason.
            MissingExtraError: ``live`` without Zig, ``pip install phlexible[build]``.
            ResultFileError: the file cannot be written.
        """
        target = html_path(path)
        if flag("live", live):
            if frames is not None or len(points) or curves:
                raise ParameterError(
                    "report(live=True) takes sensors= and title=: the page computes what it shows; leave out"
                    " frames=, points= and curves="
                )
            write_page(target, self._stepped_page(sensors, title))
            return
        write_page(
            target,
            motion_page(self.run, self.is_complete, frames, points, readings(sensors, self.run, curves), title),
        )

    def _stepped_page(self, sensors: Sequence[Sensor], title: str | None) -> str:
        if isinstance(self._live_page, str):
            raise ModelError(
                f"report(live=True): {self._live_page}; ph.build(model, step, 'page.html') writes such a page"
            )
        shown = checked_sensors("sensors", sensors)
        words = f"The motion that these are of has {self.run.count} stored instants to t = {self.run.time[-1]:g} s."
        return self._live_page(
            optional_text("title", title) or "motion",
            {str(each): each for each in shown} or None,
            motion_sections(self.run, words),
        )

    def show(
        self,
        *,
        height: int = 760,
        frames: int | None = 200,
        points: Sequence[Attachment] = (),
        sensors: Sequence[Sensor] = (),
    ) -> InlinePage:
        """Return the report of this motion for display inside of a notebook, as the last line of a cell.
        ``height`` is the height of the page [pixels]; ``frames`` is the number of instants in the 3D view;
        deflections of ``points`` and values of ``sensors`` are plotted.

        Args:
            height: of the page [pixels].
        """
        pixels = whole("height", height)
        return InlinePage(
            motion_page(self.run, self.is_complete, frames, points, readings(sensors, self.run, None), None), pixels
        )

    def live(self, *, port: int = 0, frames: int | None = None) -> MotionView:
        """Return a view of this motion's report in a browser on this machine; time and play state of the page
        follow the returned object and conversely. ``port`` is the port of the server (0: any), ``frames`` the
        number of instants in the view.

        ``view = motion.live()``, then open ``view.url``; ``view.play()``, ``view.time = 0.2``, ``view.stop()``.

        Args:
            port: of the server, or the next one that is free; 0: any.
            frames: instants of the 3D view, evenly spread; None: at most 600, fewer of large models.

        Raises:
            ParameterError: numbers out of range.
        """
        return MotionView(self, port, frames)

    def plot(self, path: FilePath | None = None, points: Sequence[Attachment] = ()) -> "Figure":
        """Return a figure with an overview of this motion: the mechanism at some instants, displacements of
        selected ``points`` and energies since the start. It is also written to the file ``path`` unless that is
        None.

        Args:
            path: of the file to write, ``.png``, ``.pdf`` or ``.svg``; None: none.
            points: whose deflections are shown beside; none: what moves is chosen.
        """
        return mechanism_plot.plot_overview(self.run, points, path)

    @overload
    def plot_energy(self, path: FilePath | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot_energy(self, path: FilePath | None = None, *, axes: "Axes") -> "Axes": ...

    def plot_energy(self, path: FilePath | None = None, *, axes: "Axes | None" = None) -> "Figure | Axes":
        """Return a figure of the energies of this motion since the start, supplied and dissipated work, and the
        error of the energy balance below. It is also written to the file ``path`` unless that is None. With
        ``axes`` the curves are drawn into these axes, which are returned.

        Args:
            path: of the file to write; None: none.
            axes: to draw the energies into, and to return; None: a new figure, which is returned. So do the
                other ``plot_`` methods.
        """
        return plots.plot_energy(self.run, path, axes)

    @overload
    def plot_elastic_displacement(
        self,
        attachment: Attachment,
        path: FilePath | None = None,
        normalized: bool = False,
        *,
        axes: None = None,
    ) -> "Figure": ...

    @overload
    def plot_elastic_displacement(
        self, attachment: Attachment, path: FilePath | None = None, normalized: bool = False, *, axes: "Axes"
    ) -> "Axes": ...

    def plot_elastic_displacement(
        self,
        attachment: Attachment,
        path: FilePath | None = None,
        normalized: bool = False,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """Return a figure of the elastic displacement of a point of a body (``attachment``) in body axes over time
        [m]. With ``normalized`` it is divided by the size of the body. It is also written to the file ``path``
        unless that is None. With ``axes`` the curves are drawn into these axes, which are returned."""
        return plots.plot_elastic_displacement(self.run, attachment, path, normalized, axes)

    @overload
    def plot_reaction(self, joint: Joint, path: FilePath | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot_reaction(self, joint: Joint, path: FilePath | None = None, *, axes: "Axes") -> "Axes": ...

    def plot_reaction(
        self, joint: Joint, path: FilePath | None = None, *, axes: "Axes | None" = None
    ) -> "Figure | Axes":
        """Return a figure of the force [N] and the moment [N m] that a joint exerts on the body of its second port
        over time. It is also written to the file ``path`` unless that is None. With ``axes`` only the force is
        drawn, into these axes, which are returned."""
        force, moment = reactions.reaction(self.run, joint)
        return plots.plot_reaction(self.run, joint, force, moment, path, axes)

    def plot_section_forces(
        self,
        body: PlacedBody | PlacedWhole,
        times: int | Sequence[float] = 4,
        path: FilePath | None = None,
    ) -> "Figure":
        """Return a figure of the section forces along a beam ``body`` (normal and shear force, torsion, bending
        moments). It shows them at some ``times`` [s], or at a number of times, and their range over all instants.
        It is also written to the file ``path`` unless that is None."""
        forces = section_forces.section_forces(self.run, body, section_forces.element_ends(self.run, body))
        return plot_section_forces(forces, times, path, body.name)

    @overload
    def plot_mechanism(
        self,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: None = None,
    ) -> "Figure": ...

    @overload
    def plot_mechanism(
        self,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: "Axes",
    ) -> "Axes": ...

    def plot_mechanism(
        self,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """Return a figure of the deformed mechanism at some ``times`` [s], or at a number of times. ``scale``
        multiplies the deformations. It is also written to the file ``path`` unless that is None. With ``axes`` it
        is drawn into these axes, which are returned."""
        return mechanism_plot.plot_mechanism(self.run, times, path, scale, axes)

    def animate(
        self,
        path: FilePath,
        *,
        trace: Attachment | None = None,
        scale: float = 1.0,
        seconds: float | None = None,
        frames_per_second: int = 25,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Write a film of this motion to the .mp4 or .gif file ``path`` with ``frames_per_second`` pictures each
        second. It lasts ``seconds``, by default 8 s, however long the motion is. ``trace`` is a point whose path
        is drawn, ``scale`` multiplies elastic displacements. ``progress`` is a function that is called with the
        numbers of finished and of all pictures."""
        animation.animate(
            self.run,
            path,
            trace=trace,
            scale=scale,
            seconds=seconds,
            frames_per_second=frames_per_second,
            progress=progress,
        )
