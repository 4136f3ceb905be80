"""Pictures, films and reports of a motion."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Protocol, overload

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, whole
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.measure import section_forces
from phlexible.measure.section_forces import SectionForces
from phlexible.measure.sensors import ambiguous_displacement
from phlexible.pictures import animation, mechanism_plot, plots, section_plot
from phlexible.pictures.live_view import MotionView
from phlexible.pictures.report_page import InlinePage, html_path, write_page
from phlexible.pictures.reports import ReportedMotion, measured, motion_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FilePath = str | PathLike[str]


class Drawn(ReportedMotion, Protocol):
    """What pictures ask of a motion."""

    @property
    def time(self) -> Array: ...
    def reaction(self, joint: Joint) -> Array: ...
    def reaction_moment(self, joint: Joint) -> Array: ...
    def section_forces(self, body: PlacedBody | PlacedWhole, x: ArrayLike | None = None) -> SectionForces: ...


class MotionPictures:
    """The part of ``Motion`` that draws."""

    def report(
        self: Drawn,
        path: FilePath,
        *,
        frames: int | None = None,
        points: Sequence[Attachment] = (),
        sensors: Sequence[Sensor] = (),
        curves: Mapping[str, ArrayLike] | None = None,
        title: str | None = None,
    ) -> None:
        """Writes one HTML file with a 3D view, linked plots, checks and the model; it needs no network.

        Args:
            path: ends in ``.html``.
            frames: instants of the 3D view, evenly spread; None: at most 600, fewer of large models.
            points: whose deflections are plotted.
            sensors: what else is plotted over time.
            curves: likewise numbers, by name: shape (N + 1,), or (N + 1, 3) with the components.
            title: None: "motion".

        Raises:
            ParameterError: another ending, curves of another length.
            ResultFileError: the file cannot be written.
        """
        target = html_path(path)
        write_page(target, motion_page(self, frames, points, measured(sensors, self.run, curves), title))

    def show(
        self: Drawn,
        *,
        height: int = 760,
        frames: int | None = 200,
        points: Sequence[Attachment] = (),
        sensors: Sequence[Sensor] = (),
    ) -> InlinePage:
        """The report inside of a notebook, as the last line of a cell; arguments as of ``report``.

        Args:
            height: of the page [pixels].
        """
        pixels = whole("height", height)
        return InlinePage(motion_page(self, frames, points, measured(sensors, self.run, None), None), pixels)

    def live(self: Drawn, *, port: int = 0, frames: int | None = None) -> MotionView:
        """Shows the report of the motion in a browser on this machine, which follows ``view``, and ``view`` it.

        ``view = motion.live()``, then open ``view.url``; ``view.play()``, ``view.time = 0.2``, ``view.stop()``.

        Args:
            port: of the server, or the next one that is free; 0: any.
            frames: instants of the 3D view, evenly spread; None: at most 600, fewer of large models.

        Raises:
            ParameterError: numbers out of range.
        """
        return MotionView(self, port, frames)

    def plot(self: Drawn, path: FilePath | None = None, points: Sequence[Attachment] = ()) -> "Figure":
        """The run at a glance: the mechanism at some instants, what tells most, the energies since the start.

        Args:
            path: of the file to write, ``.png``, ``.pdf`` or ``.svg``; None: none.
            points: whose deflections are shown beside; none: what moves is chosen.
        """
        return mechanism_plot.plot_overview(self.run, self, points, path)

    @overload
    def plot_energy(self: Drawn, path: FilePath | None = None, *, axes: None = None) -> "Figure": ...

    @overload
    def plot_energy(self: Drawn, path: FilePath | None = None, *, axes: "Axes") -> "Axes": ...

    def plot_energy(self: Drawn, path: FilePath | None = None, *, axes: "Axes | None" = None) -> "Figure | Axes":
        """Energies since the start, supplied and dissipated work, and below them the balance error.

        Args:
            path: of the file to write; None: none.
            axes: to draw the energies into, and to return; None: a new figure, which is returned. So do the
                other ``plot_`` methods.
        """
        return plots.plot_energy(self.run, path, axes)

    @overload
    def plot_elastic_displacement(
        self: Drawn,
        attachment: Attachment,
        path: FilePath | None = None,
        normalized: bool = False,
        *,
        axes: None = None,
    ) -> "Figure": ...

    @overload
    def plot_elastic_displacement(
        self: Drawn, attachment: Attachment, path: FilePath | None = None, normalized: bool = False, *, axes: "Axes"
    ) -> "Axes": ...

    def plot_elastic_displacement(
        self: Drawn,
        attachment: Attachment,
        path: FilePath | None = None,
        normalized: bool = False,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """Elastic displacement over time; ``normalized``: divided by the size of the body."""
        return plots.plot_elastic_displacement(self.run, attachment, path, normalized, axes)

    def plot_displacement(
        self: Drawn,
        attachment: Attachment,
        path: FilePath | None = None,
        normalized: bool = False,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """``plot_elastic_displacement`` by its old name; warns where it could be taken for the one in the world."""
        ambiguous_displacement(self.run, attachment)
        return plots.plot_elastic_displacement(self.run, attachment, path, normalized, axes)

    @overload
    def plot_reaction(
        self: Drawn, joint: Joint, path: FilePath | None = None, *, axes: None = None
    ) -> "Figure": ...

    @overload
    def plot_reaction(self: Drawn, joint: Joint, path: FilePath | None = None, *, axes: "Axes") -> "Axes": ...

    def plot_reaction(
        self: Drawn, joint: Joint, path: FilePath | None = None, *, axes: "Axes | None" = None
    ) -> "Figure | Axes":
        """Force of a joint on its second attachment over time, and in a figure of its own its moment."""
        force, moment = self.reaction(joint), self.reaction_moment(joint)
        return plots.plot_reaction(self.run, joint, force, moment, path, axes)

    def plot_section_forces(
        self: Drawn,
        body: PlacedBody | PlacedWhole,
        times: int | Sequence[float] = 4,
        path: FilePath | None = None,
    ) -> "Figure":
        """Section forces along a beam at some times [s], or at so many, and their range over all times."""
        forces = self.section_forces(body, section_forces.element_ends(self.run, body))
        return section_plot.plot_section_forces(forces, times, path, body.name)

    @overload
    def plot_mechanism(
        self: Drawn,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: None = None,
    ) -> "Figure": ...

    @overload
    def plot_mechanism(
        self: Drawn,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: "Axes",
    ) -> "Axes": ...

    def plot_mechanism(
        self: Drawn,
        times: int | Sequence[float] = 6,
        path: FilePath | None = None,
        scale: float = 1.0,
        *,
        axes: "Axes | None" = None,
    ) -> "Figure | Axes":
        """The deformed mechanism at some times [s], or at so many times; ``scale`` enlarges deformations."""
        return mechanism_plot.plot_mechanism(self.run, times, path, scale, axes)

    def animate(
        self: Drawn,
        path: FilePath,
        *,
        trace: Attachment | None = None,
        scale: float = 1.0,
        seconds: float | None = None,
        frames_per_second: int = 25,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Writes a film (.mp4 or .gif), by default 8 s long; see ``animation.animate``."""
        animation.animate(
            self.run,
            path,
            trace=trace,
            scale=scale,
            seconds=seconds,
            frames_per_second=frames_per_second,
            progress=progress,
        )
