"""A scene in the axes of matplotlib: bodies, symbols, arrows; at several instants, or moving."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.pictures.scene import Arrow, DrawnBody, Scene, Symbol, SymbolKind
from phlexible.pictures.style import (
    INK,
    NO_STRESS,
    PALE,
    QUIET,
    StressColors,
    faded_color,
    inner_sides_moved_back,
    lit_colors,
    refined_pieces,
    rgb,
    silhouette,
    towards_viewer,
)

THICK = 0.015
"""Of the scene: line bodies that are thicker are drawn as surfaces in space."""
FLAT = 3.0  # width over height of a section that a line does not show
CAP = 9  # corners of a round end, with its two ends
MOST_TRIANGLES = 4000
LINE = 1.8  # [points], where a line body is thinner than that
BALL = 6.5  # [points]
FEW, SMALLEST = 16, 2.2  # symbols of a kind that are drawn as large as ever; [points]
GLASS = 0.16  # how much of what is behind a surface it hides
ARROW = 0.14  # of the scene, the largest force
COILS = 9
DASHED = (0, (6, 4))
EDGE, DARK = 0.4, 0.45  # [points]; of the colour of the body
NEARER, FARTHER = 0.01, 0.02  # of the scene: edges lie before the triangles that meet in them, far sides behind
APART = 0.02  # of the scene: surfaces that moved less since an earlier instant are not drawn there
NO_EDGES = np.zeros((0, 2), dtype=np.int64)

MARKERS: dict[SymbolKind, dict[str, Any]] = {
    SymbolKind.GROUND: dict(marker="^", ms=8.5, mfc="#c8c8c8", mec=INK, mew=0.8),
    SymbolKind.MOVING_FRAME: dict(marker="s", ms=5, mfc="white", mec=INK, mew=0.9),
    SymbolKind.FIXED: dict(marker="s", ms=3.2, mfc=INK, mec=INK, mew=0.5),
    SymbolKind.PIN: dict(marker="o", ms=4.5, mfc="white", mec=INK, mew=0.9),
    SymbolKind.BALL: dict(marker="o", ms=4.5, mfc=INK, mec=INK, mew=0.9),
    SymbolKind.CROSS: dict(marker="P", ms=5.5, mfc="white", mec=INK, mew=0.8),
    SymbolKind.PLANE: dict(marker="D", ms=4.5, mfc="white", mec=INK, mew=0.9),
    SymbolKind.BUSHING: dict(marker="h", ms=6.5, mfc="#c8c8c8", mec=INK, mew=0.8),
    SymbolKind.MOTOR: dict(marker=r"$\circlearrowleft$", ms=10, mfc=INK, mec=INK, mew=0.2),
    SymbolKind.ACTUATOR: dict(marker=r"$\leftrightarrow$", ms=11, mfc=INK, mec=INK, mew=0.2),
    SymbolKind.TORSION_SPRING: dict(marker=r"$\circledcirc$", ms=10, mfc=QUIET, mec=QUIET, mew=0.2),
}


@dataclass(eq=False)
class SceneArtists:
    """Artists of the scene at one instant.

    Attributes:
        updates: functions of an instant that move what was drawn there, for films.
        handles: one artist for each body, by its name.
        symbols: one artist for each kind of symbol.
    """

    updates: list[Callable[[int], None]] = field(default_factory=list)
    handles: dict[str, Any] = field(default_factory=dict)
    symbols: dict[SymbolKind, Any] = field(default_factory=dict)


def draw_bodies(
    axes: Any,
    scene: Scene,
    instant: int,
    strength: float = 1.0,
    scale: float = 1.0,
    colors: StressColors = NO_STRESS,
    earlier: Mapping[int, float] | None = None,
    edge_length: float = 0.05,
) -> SceneArtists:
    """Draw all bodies of a scene at the instant with this index into matplotlib axes, and return the artists. They
    have functions that redraw them at other instants. ``strength`` below 1 fades the bodies, ``scale`` enlarges
    deformations, ``colors`` are colours of stress. ``earlier`` (index: strength) are instants of 3D surfaces that
    are drawn faded too; None: no 3D surfaces. ``edge_length`` limits triangle edges, relative to the scene.

    Surfaces in space of ``earlier`` instants, with their strengths, are drawn with these: what is nearer hides the
    rest. None: the surfaces are drawn at another instant. Edges of what is sorted by its depth are at most
    ``edge_length`` of the scene long.
    """
    made = SceneArtists()
    solid = [body for body in scene.bodies if _is_solid(scene, body)]
    if scene.dimension == 3 and solid and earlier is not None:
        _surfaces_in_space(axes, scene, solid, instant, earlier, scale, colors, edge_length, made)
    parts = Counter(body.whole for body in scene.bodies)
    for body in scene.bodies:
        color = faded_color(body.color, strength)
        if body in solid:
            if scene.dimension == 2:
                _surface_in_plane(axes, body, instant, strength, scale, made, colors=colors)
            continue
        nodes = body.nodes(scale)
        for line in body.skin.lines:
            positions = nodes[:, line]
            if scene.dimension == 2 and body.skin.width[0] > 0:
                _ribbon(axes, body, positions, instant, color, made, is_part=parts[body.whole] > 1)
            width = LINE if body.is_nodal or body.skin.width[0] else 2.6
            _line(axes, scene.dimension, positions, instant, made, body.whole, color=color, lw=width, zorder=3)
        if len(body.skin.balls):
            look = dict(ls="none", marker="o", ms=BALL, color=color, zorder=4)
            _line(axes, scene.dimension, nodes[:, body.skin.balls], instant, made, body.whole, **look)
    return made


def draw_touched(axes: Any, scene: Scene, instant: int, made: SceneArtists) -> None:
    """Draw the surfaces that bodies may touch (contact planes and shapes), transparent, at one instant of a scene
    into matplotlib axes. Artists are added to ``made``."""
    for surface in scene.surfaces:
        if scene.dimension == 2:
            _surface_in_plane(axes, surface, instant, 1.0, 1.0, made, is_named=False)
        else:
            _transparent_surface(axes, surface, instant, made)


def draw_symbols(axes: Any, scene: Scene, instant: int, made: SceneArtists, scale: float = 1.0) -> None:
    """Draw the symbols of joints, ground, springs, dampers and drives at one instant of a scene into matplotlib
    axes. Markers of one kind are one artist, smaller if there are many. Functions that redraw the artists at
    another instant are added to ``made.updates``, artists to ``made.symbols``. ``scale`` enlarges deformations."""
    marked: dict[SymbolKind, list[Array]] = {}
    for symbol in scene.symbols:
        positions = scene.positions(symbol.anchor, scale)
        if symbol.kind in MARKERS:
            marked.setdefault(symbol.kind, []).append(positions)
        if symbol.other is not None and symbol.kind is not SymbolKind.RAIL:
            _connection(
                axes, scene, symbol, np.stack([positions, scene.positions(symbol.other, scale)], 1), instant, made
            )
    for kind in sorted(marked, key=lambda kind: list(MARKERS).index(kind)):
        many = np.stack(marked[kind], axis=1)
        look = dict(MARKERS[kind], ls="none", color=INK, zorder=6)
        if many.shape[1] > FEW:  # a rim that is held at all its nodes
            look["ms"] = max(look["ms"] * FEW / many.shape[1], SMALLEST)
        artist = _line(axes, scene.dimension, many, instant, made, None, **look)
        made.symbols[kind] = artist


def draw_arrows(axes: Any, scene: Scene, instant: int, made: SceneArtists, scale: float = 1.0) -> None:
    """Draw the forces and torques on a mechanism as arrows at one instant of a scene into matplotlib axes. Forces
    have a length proportional to their size, the largest of the motion a seventh of the scene; torques are round
    arrows of one size. ``scale`` enlarges elastic displacements. The artists are added to ``made``, with functions
    that move them to other instants."""
    force, torque = scene.greatest_load
    for arrow in scene.arrows:
        greatest = torque if arrow.is_torque else force
        positions = scene.positions(arrow.anchor, scale)
        length = ARROW * scene.reach / greatest
        if arrow.is_torque:
            _torque(axes, scene, arrow, positions, instant, made)
            continue
        vectors = length * arrow.values

        def ends(k: int, positions: Array = positions, vectors: Array = vectors) -> Array:
            tip, tail = positions[k], positions[k] - vectors[k]
            side = np.cross(vectors[k], [0.0, 0.0, 1.0]) if scene.dimension == 2 else _across(vectors[k])
            back = tip - 0.28 * vectors[k]
            return np.array([tail, tip, back + 0.1 * side, tip, back - 0.1 * side])

        every = np.stack([ends(k) for k in range(len(positions))])
        artist = _line(axes, scene.dimension, every, instant, made, None, color=INK, lw=1.3, zorder=7)
        made.handles.setdefault("force", artist)


def draw_surroundings(axes: Any, scene: Scene) -> None:
    """Draw into matplotlib axes what does not move in a scene: straight guides of sliders fixed to the ground, as
    dashed lines, and the paths of moving frames. Guides extend beyond the scene; paths are not drawn for a single
    instant."""
    low, high = scene.corners
    center, half = (low + high) / 2, scene.size / 2
    for symbol in scene.symbols:
        if symbol.kind is SymbolKind.RAIL and symbol.anchor.body is None:
            point = scene.positions(symbol.anchor)[0]
            axis = scene.directions(symbol.anchor, symbol.axis)[0]
            along = float((center - point) @ axis)
            ends = point + np.outer([along - 3 * half, along + 3 * half], axis)
            if scene.dimension == 3:
                ends = point + np.outer(along + 1.1 * half * np.array([-1, 1]), axis)
            look = dict(color=QUIET, lw=0.8, ls=DASHED, zorder=1, scalex=False, scaley=False)
            axes.plot(*ends.T[: scene.dimension], **look)
    for k in range(scene.paths.shape[1]):
        if len(scene.paths) > 1:
            axes.plot(*scene.paths[:, k].T[: scene.dimension], color=PALE, lw=1.0, zorder=1)


def _is_solid(scene: Scene, body: DrawnBody) -> bool:
    skin = body.skin
    if not skin.has_surface:
        return False
    if not skin.lines:
        return True
    if scene.dimension == 2:
        return False
    many = sum(len(other.skin.triangles) for other in scene.bodies) > MOST_TRIANGLES
    wide = skin.width[0] > FLAT * skin.width[1] and skin.width[0] > THICK * scene.reach
    return (wide or skin.width[1] > THICK * scene.reach) and not many


def _line(
    axes: Any, dimension: int, positions: Array, instant: int, made: SceneArtists, name: str | None, **look: Any
) -> Any:
    """Draw a line or markers through m points at one instant into matplotlib ``axes`` of a 2D or 3D scene, and
    return the artist. ``positions`` (k, m, 3) are the points at all k instants, ``look`` are options of
    ``Axes.plot``. A function that redraws the artist at another instant is appended to ``made.updates``. The first
    artist with a ``name`` is stored for the legend."""
    (artist,) = axes.plot(*positions[instant].T[:dimension], **look)

    def move(k: int) -> None:
        if dimension == 2:
            artist.set_data(positions[k, :, 0], positions[k, :, 1])
        else:
            artist.set_data_3d(*positions[k].T)

    made.updates.append(move)
    if name is not None:
        made.handles.setdefault(name, artist)
    return artist


def _ribbon(
    axes: Any, body: DrawnBody, positions: Array, instant: int, color: Any, made: SceneArtists, is_part: bool
) -> None:
    """Draw a beam or rod ``body`` at one instant as a filled strip of its width into plane matplotlib ``axes``.
    ``positions`` (k, n, 3) are its n nodes at all k instants, ``color`` fills it. A segment of a divided beam
    (``is_part``) gets round ends, which fill the wedges between segments. A function that redraws the strip is
    appended to ``made.updates``."""
    from matplotlib.patches import Polygon

    width = float(np.ptp(body.skin.offsets[:, 1])) if body.skin.has_surface else body.skin.width[0]

    def edge(k: int) -> Array:
        line = positions[k, :, :2]
        along = np.gradient(line, axis=0)
        along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
        side = width / 2 * np.stack([-along[:, 1], along[:, 0]], axis=1)
        if not is_part:
            return np.concatenate([line + side, (line - side)[::-1]])
        angle = np.linspace(0.0, np.pi, CAP)[1:-1, None]
        end, start = (
            np.cos(angle) * side[n] + np.sin(angle) * sign * width / 2 * along[n] for n, sign in ((-1, 1), (0, -1))
        )
        return np.concatenate([line + side, line[-1] + end, (line - side)[::-1], line[0] + start[::-1]])

    patch = axes.add_patch(Polygon(edge(instant), closed=True, fc=color, ec="none", zorder=2.9))
    made.updates.append(lambda k: patch.set_xy(edge(k)))


def _surface_in_plane(
    axes: Any,
    body: DrawnBody,
    instant: int,
    strength: float,
    scale: float,
    made: SceneArtists,
    is_named: bool = True,
    colors: StressColors = NO_STRESS,
) -> None:
    """Draw the projection of a body's surface along z at one instant into matplotlib ``axes``: an area, light or
    in ``colors`` of its stress, with its outline. ``strength`` below 1 fades both, ``scale`` enlarges
    deformations. With ``is_named`` the body appears in the legend. A function that redraws the body at another
    instant is appended to ``made.updates``."""
    from matplotlib.collections import LineCollection, PolyCollection

    vertices, triangles = body.vertices(scale)[..., :2], body.skin.triangles
    outline = silhouette(body.skin.positions[body.skin.vertex_nodes] + body.skin.offsets, triangles)
    fill, ink = faded_color(body.color, 0.45 * strength), faded_color(body.color, strength)
    is_strained = body.name in colors.fields
    paint: Any = colors.base(body, instant) if is_strained else fill
    area = PolyCollection(vertices[instant][triangles], fc=paint, ec=paint, lw=0.4, zorder=2.5)
    edge = LineCollection(list(vertices[instant][outline]), colors=[ink], linewidths=1.2, zorder=2.6)
    axes.add_collection(area, autolim=False)
    axes.add_collection(edge, autolim=False)

    def move(k: int) -> None:
        area.set_verts(vertices[k][triangles])
        edge.set_segments(list(vertices[k][outline]))
        if is_strained:
            shades: Any = colors.base(body, k)
            area.set_color(shades)

    made.updates.append(move)
    if is_named:
        made.handles.setdefault(body.whole, edge)


def _surfaces_in_space(
    axes: Any,
    scene: Scene,
    bodies: list[DrawnBody],
    instant: int,
    earlier: Mapping[int, float],
    scale: float,
    stress: StressColors,
    edge_length: float,
    made: SceneArtists,
) -> None:
    """Draw the surfaces of all ``bodies`` and their edges into 3D ``axes`` as one matplotlib collection, so that
    near surfaces cover far ones. Surfaces at the ``earlier`` instants (index: strength below 1) are drawn faded.
    ``edge_length`` is the longest triangle edge relative to the scene, ``scale`` enlarges deformations, ``stress``
    has colours. A function that redraws, and legend entries, are added to ``made``."""
    from matplotlib.lines import Line2D
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    every = [body.vertices(scale) for body in bodies]
    edges = [NO_EDGES if body.skin.lines else body.skin.edges() for body in bodies]
    viewer = towards_viewer(scene)
    before, behind, longest = NEARER * scene.reach * viewer, FARTHER * scene.reach, edge_length * scene.reach

    def faces_at(k: int, strength: float, age: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield the corners and colours of the surface triangles of each body at the instant with index ``k``,
        faded by ``strength`` below 1. With ``strength`` 1 the edges follow. Faded bodies that have hardly moved
        are skipped. Surfaces of greater ``age`` (number of later instants drawn) are moved away from the viewer,
        behind later ones in the same plane."""
        for points, body, own in zip(every, bodies, edges, strict=True):
            if strength < 1 and np.linalg.norm(points[k] - points[instant], axis=1).max() < APART * scene.reach:
                continue
            faces = points[k][body.skin.triangles]
            shades = lit_colors(stress.base(body, k) if strength == 1 else rgb(body.color), faces, strength)
            small, of = refined_pieces(faces, longest, MOST_TRIANGLES)
            yield inner_sides_moved_back(small, viewer, behind) - age * behind * viewer, shades[of]
            if strength == 1:
                lines = refined_pieces(points[k][own], longest, MOST_TRIANGLES)[0][:, [0, 1, 1]] + before
                yield lines, np.tile(DARK * rgb(body.color), (len(lines), 1))

    aged = enumerate(reversed(list(earlier.items())), start=1)
    faded_ones = [each for age, (k, strength) in aged for each in faces_at(k, strength, age)]

    def drawn(k: int) -> tuple[Array, Array]:
        parts = [*faded_ones, *faces_at(k, 1.0)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    corners, shades = drawn(instant)
    faces = Poly3DCollection(corners, facecolors=shades, edgecolors=shades, linewidths=EDGE)
    axes.add_collection3d(faces, autolim=False)

    def move(k: int) -> None:
        corners, shades = drawn(k)
        faces.set_verts(corners)
        faces.set_facecolor(shades)
        faces.set_edgecolor(shades)

    made.updates.append(move)
    for body in bodies:
        made.handles.setdefault(body.whole, Line2D([], [], color=tuple(rgb(body.color)), lw=5))


def _transparent_surface(axes: Any, body: DrawnBody, instant: int, made: SceneArtists) -> None:
    """Draw the surface of a body at one instant into 3D matplotlib axes as half transparent triangles, so that
    bodies behind it are seen. A function that redraws the surface at another instant is appended to
    ``made.updates``."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    vertices, triangles = body.vertices(), body.skin.triangles
    faces = Poly3DCollection(vertices[instant][triangles], facecolors=body.color, linewidths=0, alpha=GLASS)
    axes.add_collection3d(faces, autolim=False)
    made.updates.append(lambda k: faces.set_verts(vertices[k][triangles]))


def _connection(axes: Any, scene: Scene, symbol: Symbol, ends: Array, instant: int, made: SceneArtists) -> None:
    """Draw a line between two points at one instant of a scene into matplotlib ``axes``: a zigzag for a spring,
    dotted for a damper, else straight. ``symbol`` says which; ``ends`` (k, 2, 3) are the positions of both points
    at all k instants. A function that redraws the line is appended to ``made.updates``; the artist is stored in
    ``made.symbols`` for the legend."""
    is_spring = symbol.kind is SymbolKind.SPRING
    share = np.linspace(0.0, 1.0, 2 * COILS + 3) if is_spring else np.array([0.0, 1.0])
    swing = np.zeros(len(share))
    if is_spring:
        swing[2:-2:2], swing[3:-2:2] = 1.0, -1.0
    along = ends[:, 1] - ends[:, 0]
    side = np.cross(along, [0.0, 0.0, 1.0]) if scene.dimension == 2 else np.array([_across(a) for a in along])
    length = np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-300)
    side = 0.012 * scene.reach * side / length
    zigzag = ends[:, :1] + share[:, None] * along[:, None] + swing[:, None] * side[:, None]
    look: dict[str, Any] = dict(color=QUIET, lw=1.1, zorder=2.4)
    if symbol.kind is SymbolKind.DAMPER:
        look["ls"] = (0, (1, 1))
    artist = _line(axes, scene.dimension, zigzag, instant, made, None, **look)
    made.symbols[symbol.kind] = artist


def _torque(axes: Any, scene: Scene, arrow: Arrow, positions: Array, instant: int, made: SceneArtists) -> None:
    """Draw a torque on a body as a round arrow symbol at its point of action, at one instant of a scene, into
    matplotlib ``axes``. Its sense is the sign of the sum of the components at that instant. ``positions`` (k, 3)
    are positions of the point at all instants. The artist is added to ``made``."""
    marker = r"$\circlearrowleft$" if arrow.values[instant] @ np.ones(3) >= 0 else r"$\circlearrowright$"
    look = dict(ls="none", marker=marker, ms=14, color=INK, mew=0.2, zorder=7)
    made.handles.setdefault("torque", _line(axes, scene.dimension, positions[:, None], instant, made, None, **look))


def _across(vector: Array) -> Array:
    """Return a vector perpendicular to the given one and of the same length, shape (3,); zero for a zero vector.
    It is the cross product with the world axis of the smallest component."""
    helper = np.eye(3)[int(np.argmin(np.abs(vector)))]
    side = np.cross(vector, helper)
    length = float(np.linalg.norm(side))
    return side * (np.linalg.norm(vector) / length if length else 1.0)
