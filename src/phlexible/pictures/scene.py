"""A mechanism to be drawn: skins, poses, elastic coordinates, symbols, arrows, colours."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross
from phlexible.bodies.skin import Skin
from phlexible.description.ports import PlacedBody

# Colours of bodies that have none of their own.

PALETTE = ("#0b5394", "#d1541b", "#2f8f5b", "#8e4a9e", "#c9a227", "#3aa5b8", "#b03a5b", "#6b6b6b")
"""Told apart also by readers who do not tell red from green."""


def body_colors(bodies: Sequence[PlacedBody], wholes: Sequence[str]) -> list[str]:
    """Return a colour "#rrggbb" for each of the ``bodies``: the user's, or one for each of up to eight names;
    of more bodies those of one description share it. ``wholes`` are the names of the divided bodies they are
    parts of; parts share a colour."""
    names = list(dict.fromkeys(wholes))
    if len(names) <= len(PALETTE):
        keys: list[object] = list(wholes)
    else:
        keys = [id(placed.body) for placed in bodies]
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    own = [placed.body.paint for placed in bodies]
    return [
        paint if paint is not None else PALETTE[order[key] % len(PALETTE)]
        for paint, key in zip(own, keys, strict=True)
    ]


class SymbolKind(Enum):
    """Meaning of a small symbol in a picture."""

    GROUND = "ground"
    MOVING_FRAME = "moving frame"
    FIXED = "fixed"
    PIN = "revolute"
    BALL = "spherical"
    CROSS = "universal"
    RAIL = "slider"
    PLANE = "planar"
    LINK = "distance"
    SPRING = "spring"
    DAMPER = "damper"
    BUSHING = "bushing"
    MOTOR = "motor"
    ACTUATOR = "actuator"
    TORSION_SPRING = "torsion spring"


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point of a body, of a moving frame or of the world, with axes.

    Attributes:
        body: its number in the scene; None: not on a body.
        frame: number of the moving frame; None: not on one.
        position: in the undeformed body; from the origin of the frame; in the world, shape (3,) [m].
        shapes: of the body's elastic coordinates there, shape (3, n).
        turns: small rotation there, shape (3, n).
    """

    body: int | None
    frame: int | None
    position: Array
    shapes: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class Symbol:
    """A joint, the ground, a spring, a drive.

    Attributes:
        kind: what it is.
        label: of the part that it stands for.
        anchor: where it is; it turns with it.
        axis: unit vector in the axes of the anchor, shape (3,); zero where it has none.
        other: far end of a link or spring; None: it has none.
    """

    kind: SymbolKind
    label: str
    anchor: Anchor
    axis: Array
    other: Anchor | None = None


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force or a torque at k instants.

    Attributes:
        label: of the load.
        anchor: where it acts.
        is_torque: an arrow around itself.
        values: world axes, shape (k, 3) [N or N m].
    """

    label: str
    anchor: Anchor
    is_torque: bool
    values: Array


@dataclass(frozen=True, eq=False)
class NodeField:
    """Numbers by which a body can be coloured, at k instants.

    Attributes:
        name: of the quantity.
        unit: SI.
        values: at the nodes of its skin, shape (k, N).
    """

    name: str
    unit: str
    values: Array


@dataclass(frozen=True, eq=False)
class DrawnBody:
    """One body at k instants.

    Attributes:
        name: of the body.
        whole: name of the beam that it is a part of, or its own.
        kind: class of its description.
        color: "#rrggbb".
        skin: its surface, lines and balls.
        origins: of the body frame, world axes, shape (k, 3) [m].
        rotations: body to world, shape (k, 3, 3).
        eta: elastic coordinates, shape (k, n); of a body in absolute coordinates the places of its nodes.
        is_nodal: whether it is one, so that deformations cannot be enlarged.
        anchor: that carries it, of what is no body of the model.
        is_rigid: whether it has no elastic coordinates.
    """

    name: str
    whole: str
    kind: str
    color: str
    skin: Skin
    origins: Array
    rotations: Array
    eta: Array
    is_nodal: bool
    anchor: Anchor | None = None

    @property
    def is_rigid(self) -> bool:
        """Whether this body of a drawn scene has no elastic coordinates, so that it does not deform."""
        return not self.eta.shape[1]

    def positions(self, positions: Array, shapes: Array, scale: float = 1.0) -> Array:
        """Return world positions of N material points of this body at all k instants, shape (k, N, 3) [m].
        They are given by undeformed ``positions`` (N, 3) and shape functions (N, 3, n); ``scale`` enlarges
        deformations."""
        factor = 1.0 if self.is_nodal else scale
        local = positions + factor * np.einsum("pin,tn->tpi", shapes, self.eta)
        return np.asarray(np.einsum("tij,tpj->tpi", self.rotations, local) + self.origins[:, None])

    def nodes(self, scale: float = 1.0) -> Array:
        """Return world positions of the nodes of this body's drawn shape at all k instants, shape (k, N, 3) [m];
        ``scale`` enlarges deformations."""
        local = self.skin.node_positions(self.eta, 1.0 if self.is_nodal else scale)
        return np.asarray(np.einsum("tij,tpj->tpi", self.rotations, local) + self.origins[:, None])

    def vertices(self, scale: float = 1.0) -> Array:
        """Return world positions of the vertices of this body's drawn surface at all k instants, shape (k, v, 3)
        [m]; ``scale`` enlarges deformations."""
        skin = self.skin
        if skin.coordinates is not None:
            return self.nodes(scale)[:, skin.vertex_nodes]
        if self.is_rigid:
            carried = skin.offsets @ self.rotations.transpose(0, 2, 1)
        else:
            turns = scale * np.einsum("pin,tn->tpi", skin.rotations, self.eta)[:, skin.vertex_nodes]
            carried = np.einsum("tij,tpj->tpi", self.rotations, skin.offsets + cross(turns, skin.offsets))
        return np.asarray(self.nodes(scale)[:, skin.vertex_nodes] + carried)


@dataclass(eq=False)
class _Box:
    """Around all finite points so far; many bodies at many instants are not kept at once."""

    low: Array = field(default_factory=lambda: np.full(3, np.inf))
    high: Array = field(default_factory=lambda: np.full(3, -np.inf))

    def include(self, points: Array) -> None:
        """Enlarge this bounding box so that it contains the finite ones of the given points (..., 3)."""
        flat = points.reshape(-1, 3)
        flat = flat[np.isfinite(flat).all(axis=1)]
        self.low = np.minimum(self.low, flat.min(axis=0, initial=np.inf))
        self.high = np.maximum(self.high, flat.max(axis=0, initial=-np.inf))


@dataclass(frozen=True, eq=False)
class Scene:
    """A mechanism at k instants, world axes.

    Attributes:
        dimension: 2 in the xy plane and on a line, 3 in space.
        gravity: acceleration, shape (3,) [m/s^2].
        time: shape (k,) [s].
        bodies: those with a frame, then strings.
        frames: origins of moving frames, shape (k, f, 3) [m].
        frame_turns: their turns since t = 0, shape (k, f, 3, 3).
        paths: of the moving frames over the whole motion, shape (points, f, 3) [m].
        symbols: joints, ground, springs, drives.
        arrows: forces and torques.
        surfaces: what bodies touch, where no body shows it.
    """

    dimension: int
    gravity: Array
    time: Array
    bodies: tuple[DrawnBody, ...]
    frames: Array
    frame_turns: Array
    paths: Array
    symbols: tuple[Symbol, ...]
    arrows: tuple[Arrow, ...]
    surfaces: tuple[DrawnBody, ...] = ()

    def positions(self, anchor: Anchor, scale: float = 1.0) -> Array:
        """Return world positions of a point that a body, moving frame or the world carries (``anchor``), at
        all k instants of this scene; shape (k, 3) [m]. ``scale`` enlarges elastic displacements. Moving
        frames are points of the ground with prescribed motion."""
        if anchor.body is not None:
            return self.bodies[anchor.body].positions(anchor.position[None], anchor.shapes[None], scale)[:, 0]
        if anchor.frame is not None:
            turned = np.einsum("tij,j->ti", self.frame_turns[:, anchor.frame], anchor.position)
            return np.asarray(self.frames[:, anchor.frame] + turned)
        return np.tile(anchor.position, (len(self.time), 1))

    def directions(self, anchor: Anchor, axis: Array, scale: float = 1.0) -> Array:
        """Return world components of a direction ``axis`` that turns with the body or moving frame of
        ``anchor``, at all k instants, shape (k, 3). ``scale`` enlarges elastic rotations. Moving frames are
        points of the ground with prescribed motion."""
        if anchor.body is not None:
            body = self.bodies[anchor.body]
            turned = axis + scale * cross(np.einsum("in,tn->ti", anchor.turns, body.eta), axis)
            return np.asarray(np.einsum("tij,tj->ti", body.rotations, turned))
        if anchor.frame is not None:
            return np.asarray(np.einsum("tij,j->ti", self.frame_turns[:, anchor.frame], axis))
        return np.tile(axis, (len(self.time), 1))

    @cached_property
    def corners(self) -> tuple[Array, Array]:
        """Lowest and highest coordinates of everything in this scene over all its instants, shape (3,) each [m]."""
        ends = _Box()
        ends.include(self.paths)
        for body in (*self.bodies, *self.surfaces):
            ends.include(body.nodes())
            if body.skin.has_surface:
                ends.include(body.vertices())
        for symbol in self.symbols:
            if symbol.kind is not SymbolKind.RAIL:
                ends.include(self.positions(symbol.anchor))
        return ends.low, ends.high

    @cached_property
    def size(self) -> float:
        """Longest edge of the box around everything in this scene over all its instants [m]; 1 where all is at one
        point."""
        low, high = self.corners
        return float((high - low).max()) or 1.0

    @cached_property
    def reach(self) -> float:
        """Longest edge of the box around everything in this scene at its first instant [m], to which sizes of
        symbols are relative.

        A mechanism that flies far is not its path.
        """
        first = [body.nodes()[0] for body in self.bodies]
        first += [body.vertices()[0] for body in self.bodies if body.skin.has_surface]
        everything = np.concatenate([*first, *(self.positions(s.anchor)[:1] for s in self.symbols)])
        return float(np.ptp(everything, axis=0).max()) or self.size

    @cached_property
    def greatest_load(self) -> tuple[float, float]:
        """Largest force [N] and largest torque [N m] in this scene over all its instants."""
        largest_loads = [0.0, 0.0]
        for arrow in self.arrows:
            largest = float(np.linalg.norm(arrow.values, axis=1).max(initial=0.0))
            largest_loads[arrow.is_torque] = max(largest_loads[arrow.is_torque], largest)
        return largest_loads[0], largest_loads[1]
