"""Pictures of a mechanism before a run and at some instants, beside its energies, and of section forces."""

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, finite, flag, nearest_entries, reals, whole
from phlexible.bodies.flexible.flexible_body import MeshedPoints
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment
from phlexible.errors import ParameterError
from phlexible.measure.energy import energy_of, most_deformed_instant
from phlexible.measure.section_forces import SectionForces
from phlexible.pictures.artists import (
    SceneArtists,
    draw_arrows,
    draw_bodies,
    draw_surroundings,
    draw_symbols,
    draw_touched,
)
from phlexible.pictures.panels import Panel, default_panels
from phlexible.pictures.plots import draw_energy, note_below
from phlexible.pictures.scene import Scene, mesh_fields, scene_at_start, scene_of
from phlexible.pictures.style import (
    AZIMUTH,
    COLORS,
    ELEVATION,
    FAINT,
    INK,
    MAP,
    NO_STRESS,
    QUIET,
    StressColors,
    check_axes,
    finish,
    finished,
    fitting_legend,
    fold_exponent,
    house_style,
    new_figure,
    picture_path,
    plain_text,
    spread_labels,
    upwards,
)
from phlexible.state.recorded_run import RecordedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Pictures of a mechanism: before a run, and at some instants of a motion, the latest darkest.

FAINTEST = 0.22
NARROWEST = np.array([0.5, 0.3, 0.3])
"""The least that is shown across, along and up, of the longest."""
MARGIN, TIGHT = 0.12, 0.05
"""Around what is drawn in the plane and in space, where the box seen from a corner has room inside."""
FOCUS = 2.5  # of a long lens: lines that are parallel look so
SPACE = (0.0, 0.05, 0.9, 0.84)
"""Where axes in space are in their figure: labels reach out to the right, the legend is above."""
LEGEND, FULL = 0.11, 0.98
"""Of the height, what the legend takes; of the rest, what the axes in space take."""
WIDTH = 5.6
MOST_PICTURES = 1_000
MOST_NAMES = 12
MOST_IN_LEGEND = 8
BESIDE = 1.5  # [pixels], around a number
BAR, BELOW = (0.06, 0.075, 0.4, 0.02), 0.11  # of the figure, the bar of stress below axes in space, and its room
FRAME = 0.07  # of the scene, the axes of a body


def plot_mechanism(
    run: RecordedRun,
    times: int | Sequence[float] = 6,
    path: str | PathLike[str] | None = None,
    scale: float = 1.0,
    axes: "Axes | None" = None,
) -> "Figure | Axes":
    """Draw a mechanism in its deformed state at several instants of the recorded motion ``run`` into one picture,
    the last one darkest. ``times`` is their number or the times [s]; the nearest stored instants are drawn.
    ``scale`` enlarges elastic displacements. The picture is also written to the file ``path`` unless it is None.
    Return the given ``axes``, or the new figure.

    Args:
        run: what was recorded.
        times: so many, evenly spread, or the times [s]; the nearest stored instants are drawn.
        path: of the file to write; None: none.
        scale: factor on the elastic displacements.
        axes: to draw into; None: a new figure.

    Returns:
        The axes that were given, or the new figure.

    Raises:
        ParameterError: no time, one outside the motion, or so many that no picture shows them.
        MissingExtraError: matplotlib is not installed.
    """
    check_axes(axes)
    path, scale = picture_path(path), finite("scale", scale)
    instants = picked_instants(run.recording.time, times)
    drawn = scene_of(run, instants)
    with house_style():
        colors = StressColors(mesh_fields(run, drawn.bodies, instants))
        panel = _axes(drawn, axes, BELOW if colors.fields else 0.0)
        draw_instants(panel, drawn, scale, colors)
        legend_of_bodies(panel, drawn)
        color_bar(panel, drawn, colors, axes is None)
        _add_caption(panel, drawn, scale)
        return finished(panel, axes, path)


def plot_model(
    mechanism: Mechanism,
    path: str | PathLike[str] | None = None,
    axes: "Axes | None" = None,
    labels: bool = True,
    frames: bool = False,
) -> "Figure | Axes":
    """Draw a model ``mechanism`` as the user placed its bodies, at t = 0 before any run, with symbols of joints
    and arrows of loads. ``labels`` adds names and a legend, ``frames`` the coordinate axes of the bodies. The
    picture is also written to the file ``path`` unless it is None. Return the given ``axes``, or the new
    figure."""
    check_axes(axes)
    path, labels, frames = picture_path(path), flag("labels", labels), flag("frames", frames)
    drawn = scene_at_start(mechanism)
    with house_style():
        panel = _axes(drawn, axes)
        draw_surroundings(panel, drawn)
        made = draw_bodies(panel, drawn, 0, earlier={})
        draw_touched(panel, drawn, 0, made)
        draw_symbols(panel, drawn, 0, made)
        draw_arrows(panel, drawn, 0, made)
        if frames:
            _draw_frames(panel, drawn)
        names = _draw_names(panel, drawn) if labels else []
        if labels:
            _legend_of_symbols(panel, made)
        if names:
            panel.get_figure(root=True).draw_without_rendering()
            spread_labels(panel, names)
        return finished(panel, axes, path)


def draw_instants(axes: Any, scene: Scene, scale: float = 1.0, colors: StressColors = NO_STRESS) -> None:
    """Draw a mechanism at all instants of a scene into matplotlib ``axes``, the earlier the fainter. Only the last
    instant is drawn in full colour, or in ``colors`` of its stress, and with symbols of joints and arrows of
    loads. ``scale`` enlarges deformations. In the plane bodies get labels for a legend."""
    draw_surroundings(axes, scene)
    count = len(scene.time)
    strengths = np.linspace(FAINTEST, 1.0, count)[:-1].tolist()
    for k, strength in enumerate(strengths):
        draw_bodies(axes, scene, k, strength, scale, earlier=None)
    made = draw_bodies(axes, scene, count - 1, 1.0, scale, colors, dict(enumerate(strengths)))
    draw_touched(axes, scene, count - 1, made)
    draw_symbols(axes, scene, count - 1, made, scale)
    draw_arrows(axes, scene, count - 1, made, scale)
    if scene.dimension == 2:
        for name, artist in made.handles.items():
            artist.set_label(plain_text(name))


def color_bar(axes: Any, scene: Scene, colors: StressColors, is_alone: bool = True) -> None:
    """Add a colour bar of the von Mises stress below a mechanism drawn into ``axes``; nothing is added without
    stresses. ``scene`` is what is drawn, ``colors`` are the stresses and their range. ``is_alone`` says whether
    the axes are the only ones of their figure."""
    if not colors.fields:
        return
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure: Any = axes.get_figure()
    power = int(np.clip(np.floor(np.log10(colors.greatest) / 3), 0, 3))
    unit = ("Pa", "kPa", "MPa", "GPa")[power]
    shades = ScalarMappable(Normalize(0.0, colors.greatest / 1000.0**power), MAP)
    if scene.dimension == 2:
        bar = figure.colorbar(shades, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.02)
    else:
        panel = figure.add_axes(BAR) if is_alone else axes.inset_axes(BAR)
        bar = figure.colorbar(shades, cax=panel, orientation="horizontal")
    bar.ax.set_label("bar of colours")
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7, length=2, width=0.5)
    bar.set_label(f"von Mises stress [{unit}] at t = {scene.time[-1]:.4g} s", fontsize=8)


def legend_of_bodies(axes: Any, scene: Scene, width: float | None = None) -> None:
    """Add a legend with names and colours of the bodies of a ``scene`` to matplotlib ``axes``. It has at most four
    columns, which fit into ``width`` [inch] (None for the whole figure). A body of several parts has one entry.
    Nothing is done for a single body or more than eight."""
    from matplotlib.lines import Line2D

    colors = {body.whole: body.color for body in scene.bodies}
    if 1 < len(colors) <= MOST_IN_LEGEND:
        handles = [Line2D([], [], color=color, lw=3) for color in colors.values()]
        fitting_legend(axes, 4, width, handles=handles, labels=[plain_text(name) for name in colors])


def picked_instants(time: Array, times: int | Sequence[float]) -> IntArray:
    """Return the indices of the stored instants (at ``time``) nearest to the wanted ``times`` [s]. If ``times`` is
    a count, evenly spaced times from start to end are wanted, for a count of one the end. Raise ``ParameterError``
    for no time, times outside the motion, and a count above the limit of pictures.

    Raises:
        ParameterError: no time, one outside the motion, or so many that no picture shows them.
    """
    if isinstance(times, int | np.integer):
        if (count := whole("times", times)) > MOST_PICTURES:
            raise ParameterError(f"times must be at most {MOST_PICTURES} in one picture, got {times!r}")
        wanted = np.linspace(time[0], time[-1], count) if count > 1 else time[-1:]
    else:
        wanted = reals("times", times, "a count of at least 1 or times in seconds").reshape(-1)
    slack = 1e-9 * (time[-1] - time[0])
    if not len(wanted) or not np.all((wanted >= time[0] - slack) & (wanted <= time[-1] + slack)):
        raise ParameterError(f"times must lie in {time[0]:g} .. {time[-1]:g} s, got {times!r}")
    return nearest_entries(time, wanted)


def prepare_axes(axes: Any, scene: Scene) -> None:
    """Set limits, labels and equal scales of matplotlib axes so that all of a scene fits; in space also the view
    direction."""
    low, high = scene.corners
    center, reach = (low + high) / 2, box_of(scene)
    if scene.dimension == 2:
        axes.set_aspect("equal")
        axes.set_xlim(center[0] - reach[0], center[0] + reach[0])
        axes.set_ylim(center[1] - reach[1], center[1] + reach[1])
        axes.set(xlabel="x [m]", ylabel="y [m]")
        return
    from matplotlib.ticker import MaxNLocator

    for k, name in enumerate("xyz"):
        getattr(axes, f"set_{name}lim")(center[k] - reach[k], center[k] + reach[k])
        is_long = reach[k] > 2 * np.median(reach)  # the label stands below the numbers there, not beside them
        getattr(axes, f"set_{name}label")(f"{name} [m]", labelpad=15.0 if is_long else 7.0)
        getattr(axes, f"{name}axis").set_pane_color("white")
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(4 if reach[k] > 0.5 * reach.max() else 2))
    vertical = upwards(scene)
    height = float(reach[vertical] / reach.max())  # of a high box the labels below need room
    axes.set_box_aspect(reach, zoom=1.0 - 0.08 * float(reach.min() / reach.max()) - 0.17 * height)
    axes.set_proj_type("persp", focal_length=FOCUS)
    axes.view_init(elev=ELEVATION, azim=AZIMUTH, vertical_axis="xyz"[vertical])


def _fill(axes: Any, figure: Any, reach: Array, below: float) -> None:
    """Enlarge 3D axes as far as the figure or subfigure allows with all labels inside, by changing the zoom of
    their box twice. Then overlapping tick labels are removed. ``reach`` are half the edges of the shown box [m],
    shape (3,); only their ratios count. ``below`` is the fraction of the figure height that is left free at the
    bottom."""
    from matplotlib.transforms import Bbox

    renderer = axes.get_figure(root=True).canvas.get_renderer()
    room, zoom = figure.bbox, 1.0
    for _ in range(2):  # numbers and labels do not grow
        axes.set_box_aspect(reach, zoom=zoom)
        axes.draw(renderer)  # nothing is in them yet; so labels find their places
        parts = (axes, axes.xaxis, axes.yaxis, axes.zaxis)  # before Matplotlib 3.11.1 axes leave their labels out
        own, square = Bbox.union([part.get_tightbbox(renderer) for part in parts]), axes.bbox
        middle = np.array([square.x0 + square.x1, square.y0 + square.y1]) / 2
        free = min(square.y1, room.y1 - LEGEND * room.height) - middle[1]
        sides = (
            (room.x1 - middle[0], own.x1 - middle[0]),
            (middle[0] - room.x0, middle[0] - own.x0),
            (free, own.y1 - middle[1]),
            (middle[1] - room.y0 - below * room.height, middle[1] - own.y0),
        )
        zoom *= FULL * min(float(given / taken) for given, taken in sides)
    axes.set_box_aspect(reach, zoom=zoom)
    axes.draw(renderer)
    _leave_out_tick_labels(axes, renderer)


def _leave_out_tick_labels(axes: Any, renderer: Any) -> None:
    """Remove tick labels of 3D axes that overlap other labels; the ticks and grid lines stay. For each axis,
    longest first, every first, second, third, ... label is retained, as many as do not overlap each other. Then
    labels that overlap those of an earlier axis are removed. ``renderer`` is matplotlib's, for the sizes of
    texts."""
    shown: dict[Any, list[Any]] = {}  # by axis, (tick, box of its number)
    for axis in sorted((axes.xaxis, axes.yaxis, axes.zaxis), key=lambda axis: -np.ptp(axis.get_view_interval())):
        low, high = np.sort(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = [tick.label1.get_window_extent(renderer).padded(BESIDE) for tick in ticks]
        every = 1
        while any(a.overlaps(b) for a, b in pairwise(boxes[::every])):
            every += 1
        others = [box for numbers in shown.values() for _, box in numbers]
        kept = list(zip(ticks, boxes, strict=True))[(len(ticks) // 2) % every :: every]
        shown[axis] = [(tick, box) for tick, box in kept if not any(box.overlaps(other) for other in others)]
        if len(shown[axis]) < len(ticks):  # ticks and lines behind the scene stay
            told = {id(tick) for tick, _ in shown[axis]}
            words = [tick.label1.get_text() if id(tick) in told else "" for tick in ticks]
            axis.set_ticks([tick.get_loc() for tick in ticks], words)


def box_of(scene: Scene) -> Array:
    """Return half the edge lengths of the box around a scene that a picture shows, with margins, shape (3,) [m]."""
    low, high = scene.corners
    half = scene.size / 2
    margin = MARGIN if scene.dimension == 2 else TIGHT
    return np.asarray(np.maximum((high - low) / 2 + margin * half, half * NARROWEST))


def new_axes(figure: Any, scene: Scene, below: float = 0.0) -> Any:
    """Add axes for a scene, plane or 3D, with limits and labels to a matplotlib figure or subfigure, and return
    the axes. 3D axes are enlarged to fill the figure, except the fraction ``below`` of its height at the bottom;
    plane axes ignore ``below``."""
    left, bottom, width, height = SPACE
    box = left, bottom + below, width, height - below
    axes = figure.subplots() if scene.dimension == 2 else figure.add_axes(box, projection="3d")
    prepare_axes(axes, scene)
    if scene.dimension == 3:
        _fill(axes, figure, box_of(scene), below)
    return axes


def scene_figure(scene: Scene, width: float, height: float) -> "Figure":
    """Return an empty matplotlib figure of the given ``width`` and ``height`` [inch] for the axes of one
    ``scene``; with a layout engine in the plane, without one for 3D axes."""
    return new_figure(width, height, layout="constrained" if scene.dimension == 2 else None)


def figure_height(scene: Scene, width: float) -> float:
    """Return the height [inch] of a figure of the given width [inch] that shows a scene without much empty
    space."""
    if scene.dimension == 3:
        return 0.8 * width
    reach = box_of(scene)
    return float(np.clip((width - 0.8) * reach[1] / reach[0] + 0.9, 0.4 * width, 1.2 * width))


def _axes(scene: Scene, user_axes: Any, below: float = 0.0) -> Any:
    """Return matplotlib axes with limits and labels for a ``scene``: ``user_axes``, prepared in place, if given,
    else the axes of a new figure. Raise ``ParameterError`` if the user's axes are two-dimensional for a model in
    space, or 3D for a planar one. ``below`` is the fraction of the figure height left free below new 3D axes; user
    axes ignore it."""
    if user_axes is None:
        return new_axes(scene_figure(scene, WIDTH, figure_height(scene, WIDTH)), scene, below)
    if (getattr(user_axes, "name", "") == "3d") != (scene.dimension == 3):
        kind = 'figure.add_subplot(projection="3d")' if scene.dimension == 3 else "figure.add_subplot()"
        raise ParameterError(f"axes must be those of {kind}: the model has dimension {scene.dimension}")
    prepare_axes(user_axes, scene)
    return user_axes


def _draw_frames(axes: Any, scene: Scene) -> None:
    """Draw coordinate axes, labelled x, y and z, at the first instant for every floating body of a ``scene`` into
    matplotlib axes. Strings and soft bodies have none. The world axes are drawn at the origin only if the scene is
    near it; planar scenes have x and y."""
    length = FRAME * scene.reach
    low, high = scene.corners
    is_near = bool((np.abs((low + high) / 2) <= box_of(scene)).all())
    frames = [(np.zeros(3), np.eye(3), INK)] if is_near else []
    frames += [(b.origins[0], b.rotations[0], INK) for b in scene.bodies if not b.is_nodal]
    for origin, rotation, color in frames:
        for k in range(scene.dimension):
            ends = np.stack([origin, origin + length * rotation[:, k]])[:, : scene.dimension]
            axes.plot(*ends.T, color=color, lw=0.9, zorder=8)
            axes.text(*(origin + 1.25 * length * rotation[:, k])[: scene.dimension], "xyz"[k], **SMALL)


SMALL: dict[str, Any] = dict(fontsize=7, color=INK, ha="center", va="center", zorder=9, clip_on=False)


def _draw_names(axes: Any, scene: Scene) -> list[Any]:
    """Write the name of each body of a ``scene`` next to its middle into matplotlib axes, and return the texts as
    a list. The scene is drawn at its first instant. A body of several parts has one name, at the middle part. With
    more than twelve bodies only their number is written as title, and the list is empty."""
    from matplotlib.patheffects import withStroke

    names = list(dict.fromkeys(body.whole for body in scene.bodies))
    if len(names) > MOST_NAMES:
        axes.set_title(f"{len(names)} bodies", loc="right", fontsize=8, color=QUIET)
        return []
    texts = []
    for name in names:
        parts = [body for body in scene.bodies if body.whole == name]
        body = parts[len(parts) // 2]
        surface = body.vertices()[0] if body.skin.has_surface else body.nodes()[0]
        position = surface.mean(axis=0) if len(surface) else body.nodes()[0, 0]
        if body.skin.lines and len(parts) == 1:
            line = body.skin.lines[0]
            position = body.nodes()[0, line[len(line) // 2]]
        halo = [withStroke(linewidth=2.5, foreground="white")]
        look: dict[str, Any] = dict(fontsize=8, color=body.color, zorder=1000, path_effects=halo)
        look |= dict(xytext=(5, 5), textcoords="offset points")
        if scene.dimension == 2:
            texts.append(axes.annotate(plain_text(name), position[:2], **look))
        else:
            texts.append(_annotation_in_space(axes, name, position, look))
    return texts


def _annotation_in_space(axes: Any, name: str, position: Array, look: dict[str, Any]) -> Any:
    """Add the text ``name`` to 3D ``axes`` at the projection of a point ``position`` (3,) in the present view,
    and return it. ``look`` are options of matplotlib's ``annotate``."""
    from mpl_toolkits.mplot3d import proj3d

    x, y, _ = proj3d.proj_transform(*position, axes.get_proj())
    return axes.annotate(plain_text(name), (x, y), **look)


def _legend_of_symbols(axes: Any, made: SceneArtists) -> None:
    handles = [*made.symbols.values(), *(made.handles[k] for k in ("force", "torque") if k in made.handles)]
    labels = [*(k.value for k in made.symbols), *(k for k in ("force", "torque") if k in made.handles)]
    if handles:
        fitting_legend(axes, 6, handles=handles, labels=labels)


def _add_caption(axes: Any, scene: Scene, scale: float) -> None:
    """Write a caption into matplotlib ``axes``: the number of drawn instants of a motion (``scene``), the first
    and the last time [s], and the factor ``scale`` on deformations unless it is 1. It stands above 3D axes at the
    right, or below plane axes."""
    time, enlarged = scene.time, "" if scale == 1 else f", deformation x {scale:g}"
    text = f"{len(time)} instants, t = {time[0]:.4g} to {time[-1]:.4g} s{enlarged}"
    if len(time) == 1:
        text = f"t = {time[0]:.4g} s{enlarged}"
    if scene.dimension == 3:
        axes.set_title(text, loc="right", fontsize=8, color=QUIET)
        return
    look: dict[str, Any] = dict(xycoords="axes fraction", textcoords="offset points", color=QUIET, fontsize=8)
    axes.annotate(text, (1.0, 0.0), xytext=(0, -19), ha="right", va="top", **look)


# One picture of a run: the mechanism, what tells most, the energies.

INSTANTS = {1: 1, 2: 9, 3: 4}
TRIED = 8
"""Times as many instants, of which those in space are chosen."""
OVERVIEW_WIDTH = 10.4
WIDE = 2.2
"""Width over height of a mechanism that is drawn above the graphs, not beside them."""
PANEL = 1.8  # [inch], the height of a graph
LOWEST = {2: 4.2, 3: 4.9}  # [inch], of the figure
LEFT = 0.52  # of the width, a mechanism beside its graphs


def plot_overview(
    run: RecordedRun, points: Sequence[Attachment], path: str | PathLike[str] | None = None
) -> "Figure":
    """Draw an overview of a recorded motion ``run`` in one figure and return it: the mechanism at some instants,
    the curves that change most over time, and energies. Deflections of ``points`` are shown if there are any.
    Bodies from meshes are coloured by stress at the most deformed instant. The picture is also written to the file
    ``path`` unless it is None.

    Args:
        run: what was recorded.
        points: whose deflections are shown, if there are any.
        path: of the file to write; None: none.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ResultFileError: the file cannot be written.
    """
    path = picture_path(path)
    instants = _overview_instants(run)
    if any(isinstance(placed.data.points, MeshedPoints) for placed in run.mechanism.bodies):
        instants = np.append(instants, most_deformed_instant(run.recording))  # drawn in the colours of its stress
    drawn = scene_of(run, instants)
    colors = StressColors(mesh_fields(run, drawn.bodies, instants))
    panels = default_panels(run, points)
    count, reach = len(panels) + 1, box_of(drawn)
    with house_style():
        if drawn.dimension == 2 and reach[0] > WIDE * reach[1]:
            upper = float(np.clip((OVERVIEW_WIDTH - 1.0) * reach[1] / reach[0] + 1.0, 1.6, 4.0))
            figure = new_figure(OVERVIEW_WIDTH, upper + PANEL + 0.9)
            top, bottom = np.ravel(figure.subfigures(2, 1, height_ratios=(upper, PANEL + 0.9)))  # type: ignore[arg-type]
            rows = lowest = bottom.subplots(1, count, squeeze=False)[0]
            widths = (OVERVIEW_WIDTH - 0.8, OVERVIEW_WIDTH / count - 0.9)
        else:
            figure = new_figure(OVERVIEW_WIDTH, max(LOWEST[drawn.dimension], PANEL * count + 0.3))
            top, bottom = np.ravel(figure.subfigures(1, 2, width_ratios=(LEFT, 1 - LEFT)))  # type: ignore[arg-type]
            rows = bottom.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
            lowest = rows[-1:]
            widths = (LEFT * OVERVIEW_WIDTH - 0.9, (1 - LEFT) * OVERVIEW_WIDTH - 0.9)
        _draw_mechanism(top, drawn, colors, widths[0])
        for axes, panel in zip(rows, panels, strict=False):
            _draw_panel(axes, run, panel, widths[1])
        _draw_energy(rows[-1], run, widths[1])
        for axes in lowest:
            axes.set_xlabel("time [s]")
        bottom.align_ylabels(rows)
        return finish(figure, path)


def _overview_instants(run: RecordedRun) -> IntArray:
    """Return the indices of the stored instants of a recorded ``run`` at which an overview draws the mechanism: 9
    in the plane, fewer in space. In the plane they are evenly spaced. In space each next instant, from the last
    one on, is the one whose node positions differ most from all chosen ones. Evenly spaced instants are returned
    if their smallest difference is at least half as large."""
    time, count = run.recording.time, INSTANTS[run.mechanism.dimension]
    even = picked_instants(time, count)
    if run.mechanism.dimension == 2:
        return even
    tried = np.union1d(even, picked_instants(time, TRIED * count))
    nodes = np.concatenate([body.nodes() for body in scene_of(run, tried).bodies], axis=1)
    away = np.array([np.linalg.norm(nodes - each, axis=2).max(axis=1) for each in nodes])
    chosen_instants = [len(tried) - 1]
    while len(chosen_instants) < len(even):
        chosen_instants.append(int(np.argmax(away[chosen_instants].min(axis=0))))

    def nearest(instants: IntArray) -> float:
        own = away[np.ix_(instants, instants)]
        return float(own[np.triu_indices(len(own), 1)].min(initial=np.inf))

    picked = np.searchsorted(tried, even)
    return even if nearest(picked) >= nearest(np.array(chosen_instants)) / 2 else tried[np.sort(chosen_instants)]


def _draw_mechanism(figure: Any, drawn: Scene, colors: StressColors, width: float) -> None:
    axes = new_axes(figure, drawn, BELOW if colors.fields else 0.0)
    draw_instants(axes, drawn, colors=colors)
    legend_of_bodies(axes, drawn, width)
    color_bar(axes, drawn, colors)


def _draw_panel(axes: "Axes", run: RecordedRun, panel: Panel, width: float) -> None:
    for k, (name, values) in enumerate(panel.curves):
        axes.plot(run.recording.time, values, color=COLORS[k % len(COLORS)], label=name)
    axes.set_ylabel(panel.label)
    fold_exponent(axes)
    fitting_legend(axes, 3, width)


def _draw_energy(axes: "Axes", run: RecordedRun, width: float) -> None:
    energy = energy_of(run.recording)
    draw_energy(axes, run.recording.time, energy, width)
    note_below(axes, energy, with_error=True)


if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_section_forces(
    forces: SectionForces,
    times: int | Sequence[float] = 4,
    path: str | PathLike[str] | None = None,
    title: str = "",
) -> "Figure":
    """Plot the section ``forces`` and moments along a beam at some instants, one panel for each that is not zero
    throughout, and return the figure. ``times`` is the number of instants or the times [s], ``path`` the picture's
    file (None: none), ``title`` the name of the beam. Ranges over all times are shaded; jumps between elements are
    shown.

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
    """Return pairs (axis label, values) of those section forces [N] and moments [N m] of a beam that are nonzero
    anywhere. Their order is N, Q_y, Q_z, M_x, M_y, M_z. The normal force N is always included."""
    named = [
        ("$N$ [N]", forces.normal),
        ("$Q_y$ [N]", forces.shear_y),
        ("$Q_z$ [N]", forces.shear_z),
        ("$M_x$ [N m]", forces.torsion),
        ("$M_y$ [N m]", forces.moment_y),
        ("$M_z$ [N m]", forces.moment_z),
    ]
    return [named[0], *(each for each in named[1:] if np.any(each[1]))]
