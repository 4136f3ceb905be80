"""Shapes of rigid bodies: box, cylinder, sphere, torus, any closed surface, also from STL files."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    IntArray,
    Positive,
    UnitVector,
    Vector,
    convert_fields,
    make_arrays_read_only,
    reals,
    set_fields,
    vector,
)
from phlexible.display import short_repr
from phlexible.errors import MeshWarning, ParameterError
from phlexible.shapes.surfaces import (
    SolidMoments,
    Triangulation,
    enclosed_moments,
    first_triangles,
    frame_along,
    open_edges,
    revolved,
    shells_in_matter,
)
from phlexible.shapes.triangle_tree import TriangleTree

ROUND = 60
"""Number of vertices of a drawn circle, which looks round on a page."""
BALL = 32
"""Number of vertices of the equator of a drawn ball."""
THIN = 1e-4
"""Smallest thickness of a closed surface that is a solid, relative to its size."""


@dataclass(frozen=True, eq=False)
class Shape(ABC):
    """Surface of a rigid body in body axes, for pictures, contacts and the mass of a homogeneous solid.

    Attributes:
        center: of the shape from the origin of the body, shape (3,) [m]; None: the center of mass.
    """

    center: Vector | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)

    @abstractmethod
    def centred(self) -> Triangulation:
        """Return the surface of this solid shape of a rigid body as triangles, in body axes, with the origin at the
        shape's center. Abstract: each shape implements it."""

    @abstractmethod
    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid from the shape's center [m] and inertia about the centroid [m5] of this
        solid shape of a rigid body. It is filled with density 1. Abstract: each shape implements it."""

    def placed(self, center_of_mass: Array) -> Triangulation:
        """Return the surface of this shape of a rigid body as triangles in body axes, about the body's origin. It
        is translated to the shape's ``center`` or, if the user gave none, to the body's ``center_of_mass``."""
        return self.centred().moved(center_of_mass if self.center is None else np.asarray(self.center))


def _checked_edges(name: str, value: ArrayLike) -> Array:
    """Convert the edge lengths of a box, passed by the user as ``value``, to an array of shape (3,) [m];
    raise ``ParameterError`` unless they are three positive numbers. ``name`` is that of the argument, for
    messages."""
    size = vector(name, value)
    if not (size > 0).all():
        raise ParameterError(f"{name} must be three positive edges, got {value!r}")
    return size


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """Shape of a rigid body: a box with edges along the body axes.

    Attributes:
        size: edges along x, y, z, shape (3,) [m].

    Raises:
        ParameterError: edges that are not three positive numbers.
    """

    size: Annotated[ArrayLike, _checked_edges]

    __repr__ = short_repr

    def centred(self) -> Triangulation:
        """Return the surface of this box as twelve triangles, in body axes, with the origin at the box's center."""
        signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        return Triangulation(signs * np.asarray(self.size) / 2, BOX_TRIANGLES)

    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid (zero, relative to the center) and inertia about the centroid [m5] of this
        box, filled with density 1: m (b^2 + c^2) / 12 about the axis of edge a."""
        size = np.asarray(self.size)
        volume = float(size.prod())
        return SolidMoments(volume, np.zeros(3), np.diag(volume / 12 * ((size**2).sum() - size**2)))


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """Shape of a rigid body: a full circular cylinder.

    Attributes:
        radius: [m].
        length: [m].
        axis: in body axes, shape (3,).

    Raises:
        ParameterError: numbers that are not positive, or an axis that is zero.
    """

    radius: Positive
    length: Positive
    axis: UnitVector = (0.0, 0.0, 1.0)

    __repr__ = short_repr

    def centred(self) -> Triangulation:
        """Return the surface of this cylinder, drawn as a prism of 60 sides, as triangles in body axes, with the
        origin at the cylinder's center."""
        half, r = self.length / 2, self.radius
        profile = np.array([[-half, 0.0], [-half, r], [half, r], [half, 0.0]])
        return revolved(profile, np.asarray(self.axis), ROUND)

    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid (zero, relative to the center) and inertia [m5] in body axes of this
        cylinder, filled with density 1: m r^2 / 2 about the axis, m (3 r^2 + l^2) / 12 across."""
        volume = np.pi * self.radius**2 * self.length
        along, across = self.radius**2 / 2, (3 * self.radius**2 + self.length**2) / 12
        triad = frame_along(np.asarray(self.axis))
        return SolidMoments(volume, np.zeros(3), volume * triad @ np.diag([along, across, across]) @ triad.T)


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """Shape of a rigid body: a ball of a radius [m].

    Raises:
        ParameterError: a radius that is not positive.
    """

    radius: Positive

    __repr__ = short_repr

    def centred(self) -> Triangulation:
        """Return the surface of this ball as triangles in body axes, with the origin at the ball's center. They are
        a grid of 17 circles of latitude with 32 vertices each."""
        polar = np.linspace(0.0, np.pi, BALL // 2 + 1)
        profile = self.radius * np.stack([-np.cos(polar), np.sin(polar)], axis=1)
        profile[[0, -1], 1] = 0.0
        return revolved(profile, np.array([0.0, 0.0, 1.0]), BALL)

    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid (zero, relative to the center) and inertia [m5] of this ball, filled with
        density 1: 2 m r^2 / 5 about each axis."""
        volume = 4 / 3 * np.pi * self.radius**3
        return SolidMoments(volume, np.zeros(3), np.eye(3) * 0.4 * volume * self.radius**2)


@dataclass(frozen=True, eq=False)
class Torus(Shape):
    """Shape of a rigid body: a ring of circular cross-section around an axis.

    Attributes:
        radius: distance of the center line of the tube from the axis [m].
        tube_radius: of the tube, less than ``radius`` [m].
        axis: in body axes, shape (3,).

    Raises:
        ParameterError: numbers that are not positive, a tube that closes the hole, or an axis that is zero.
    """

    radius: Positive
    tube_radius: Positive
    axis: UnitVector = (0.0, 0.0, 1.0)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tube_radius >= self.radius:
            raise ParameterError(f"tube_radius must be less than radius={self.radius:g}, got {self.tube_radius:g}")

    def centred(self) -> Triangulation:
        """Return the surface of this torus as triangles in body axes, with the origin at the torus's center. They
        are a grid of 60 vertices around the axis times 32 around the tube."""
        along, across = np.meshgrid(np.arange(ROUND), np.arange(BALL), indexing="ij")
        a, b = 2 * np.pi / ROUND * along.ravel(), 2 * np.pi / BALL * across.ravel()
        out = self.radius + self.tube_radius * np.cos(b)
        points = np.stack([self.tube_radius * np.sin(b), out * np.cos(a), out * np.sin(a)], axis=1)
        first, second = (along * BALL + across).ravel(), (along * BALL + (across + 1) % BALL).ravel()
        third, fourth = np.roll(first, -BALL), np.roll(second, -BALL)
        triangles = np.concatenate([np.stack([first, third, second], 1), np.stack([second, third, fourth], 1)])
        return Triangulation(points @ frame_along(np.asarray(self.axis)).T, triangles)

    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid (zero, relative to the center) and inertia [m5] in body axes of this torus,
        filled with density 1: m (R^2 + 3 r^2 / 4) about the axis, m (R^2 / 2 + 5 r^2 / 8) across."""
        R, r = self.radius, self.tube_radius
        volume = 2 * np.pi**2 * R * r**2
        along, across = R**2 + 0.75 * r**2, R**2 / 2 + 0.625 * r**2
        triad = frame_along(np.asarray(self.axis))
        return SolidMoments(volume, np.zeros(3), volume * triad @ np.diag([along, across, across]) @ triad.T)


@dataclass(frozen=True, eq=False)
class TriangleMesh(Shape):
    """Shape of a rigid body: a surface of triangles, for example of an STL file, whose origin is at ``center``.

    Contacts need a closed surface.

    Attributes:
        vertices: shape (v, 3) [m].
        triangles: numbers of vertices from 0, counter-clockwise seen from outside, shape (t, 3).

    Raises:
        ParameterError: arrays of other shapes, numbers that are not finite, or numbers of no vertex.
    """

    vertices: ArrayLike
    triangles: ArrayLike

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        vertices = reals("vertices", self.vertices, "points (v, 3)")
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ParameterError(f"vertices must be finite points of shape (v, 3), got shape {vertices.shape}")
        corners = reals("triangles", self.triangles, "numbers of vertices (t, 3)")
        if corners.ndim != 2 or corners.shape[1] != 3 or not len(corners):
            raise ParameterError(f"triangles must be numbers of vertices (t, 3), got shape {corners.shape}")
        if (corners != np.round(corners)).any() or corners.min() < 0 or corners.max() >= len(vertices):
            raise ParameterError(f"triangles must be numbers 0 to {len(vertices) - 1} of vertices")
        center = np.zeros(3) if self.center is None else self.center
        set_fields(self, center=center, vertices=vertices, triangles=corners.astype(np.int64))
        make_arrays_read_only(self)

    def centred(self) -> Triangulation:
        """Return the surface of this triangle mesh with the vertices as the user gave them; ``center`` is not
        added."""
        return Triangulation(
            np.asarray(self.vertices, dtype=np.float64), np.asarray(self.triangles, dtype=np.int64)
        )

    def moments(self) -> SolidMoments:
        """Return volume [m3], centroid [m] and inertia about the centroid [m5] of the solid inside this closed
        triangle mesh, filled with density 1, cached. Positions are relative to the origin of its vertices. Raise
        ``ParameterError`` for an open or inverted surface.

        Raises:
            ParameterError: the surface is not closed, or encloses nothing.
        """
        return self._moments

    def tree(self) -> TriangleTree:
        """Return the tree of bounding boxes of the triangles of this mesh, with which contact detection computes
        signed distances. It is built once and cached; positions are relative to the origin of the vertices. Raise
        ``ParameterError`` for an open surface or too thin a solid.

        Raises:
            ParameterError: the surface is not closed, encloses nothing, or hardly anything.
        """
        return self._tree

    @cached_property
    def _tree(self) -> TriangleTree:
        """Tree of nested bounding boxes of the triangles of this mesh, with which contact detection computes
        signed distances; cached. The first access raises ``ParameterError`` if the surface is not closed or the
        solid is too thin. Too thin is a mean thickness 2 V / A (volume, surface area) below 1e-4 of the diagonal
        of the bounding box."""
        tree = TriangleTree.from_surface(
            self._closed_surface(
                f"{self!r}",
                "contacts need an inside: close it around the matter, or use a Plane or a Box",
            )
        )
        a, b, c = np.moveaxis(tree.corners, 1, 0)
        area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2
        thickness = 2 * self._moments.volume / area
        if thickness < THIN * tree.size:
            raise ParameterError(
                f"{self!r} is {thickness:g} m thin, {thickness / tree.size:.1g} of its size: bodies in contact"
                " would pass through; use a Plane or a Box"
            )
        return tree

    def _closed_surface(self, name: str, advice: str) -> Triangulation:
        """Return the surface of this triangle mesh without repeated triangles. Raise ``ParameterError`` if it has
        open edges; the message begins with ``name``, has the number of open edges, and ends with ``advice``."""
        surface, repeated = self._without_repeats
        if holes := open_edges(surface):
            twice = f"; {repeated} more triangles are listed twice" if repeated else ""
            raise ParameterError(
                f"{name} is not closed: {holes} edges have no triangle on one side{twice}; {advice}"
            )
        return surface

    @cached_property
    def _without_repeats(self) -> tuple[Triangulation, int]:
        """Surface of this triangle mesh without repeated triangles, and the number of triangles left out; cached.
        The first of equal triangles is kept. Vertices are as the user gave them. The first access issues a
        ``MeshWarning`` if triangles are left out."""
        surface = self.centred()
        first = first_triangles(surface)
        repeated = len(surface.triangles) - len(first)
        if repeated:
            warnings.warn(
                f"triangles: {repeated} of {len(surface.triangles)} are listed more than once; each counts once",
                MeshWarning,
                stacklevel=9,
            )
        return Triangulation(surface.vertices, surface.triangles[first]), repeated

    @cached_property
    def _moments(self) -> SolidMoments:
        """Volume [m3], centroid [m] and inertia [m5] of the solid inside this triangle mesh, for density 1;
        cached. The first access raises ``ParameterError`` if the surface is open or its signed volume is not
        positive (triangles oriented inwards). It warns if one closed part of the surface lies inside the matter of
        another, where volume would count twice."""
        advice = "close it, or pass mass= and inertia= with shape=TriangleMesh(...)"
        surface = self._closed_surface("the surface", advice)
        if inner := shells_in_matter(surface):
            warnings.warn(
                f"triangles: {inner} of the closed shells lie in the matter of others, which counts twice there, or"
                " are inside out; the triangles of a cavity are counter-clockwise, seen from inside it",
                MeshWarning,
                stacklevel=6,
            )
        moments = enclosed_moments(surface)
        if not moments.volume > 0:
            raise ParameterError(
                f"the surface encloses a volume of {moments.volume:g} m3; triangles must be counter-clockwise,"
                " seen from outside, and without others of the opposite sense on them"
            )
        return moments


def _box_triangles() -> IntArray:
    """Return the twelve triangles of a box as vertex indices, shape (12, 3), counter-clockwise seen from outside.
    The vertex with the signs x, y, z (0 or 1) has the index 4 x + 2 y + z."""
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))], dtype=np.int64)


BOX_TRIANGLES = _box_triangles()


# Surfaces from STL files, text or binary.

HEADER, FACET = 84, 50  # bytes of a binary file


def read_stl(path: Path, scale: float) -> TriangleMesh:
    """Read a triangle mesh from the STL file ``path``, text or binary, with all positions multiplied by ``scale``.
    Equal vertices are merged, and triangles with a repeated vertex dropped. All triangles are reversed if they
    enclose a negative volume. Raise ``ParameterError`` if the file has no triangles.

    Raises:
        ParameterError: no such file, or no triangles in it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParameterError(f"path: cannot read {path}: {error}") from error
    corners = _read_binary(content)
    if corners is None:
        corners = _read_text(content)
    if corners is None or not len(corners) or not np.isfinite(corners).all():
        raise ParameterError(f"{path} holds no triangles of an STL file")
    vertices, indices = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    triangles = indices.reshape(-1, 3).astype(np.int64)
    flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    triangles = triangles[~flat]
    surface = Triangulation(scale * vertices, triangles)
    if enclosed_moments(surface).volume < 0:
        triangles = triangles[:, ::-1]
    return TriangleMesh(scale * vertices, triangles)


def _read_binary(content: bytes) -> Array | None:
    """Return the vertices of the triangles in the content of a binary STL file, shape (t, 3, 3). None if the length
    of the content does not match the number of triangles in its header, as in text files."""
    if len(content) < HEADER:
        return None
    count = int.from_bytes(content[80:84], "little")
    if len(content) != HEADER + FACET * count:
        return None
    facets = np.frombuffer(content[HEADER:], dtype=np.uint8).reshape(count, FACET)[:, 12:48]
    return np.ascontiguousarray(facets).view("<f4").reshape(count, 3, 3).astype(np.float64)


def _read_text(content: bytes) -> Array | None:
    """Return the vertices of the t triangles of an STL file in text form, shape (t, 3, 3), from the bytes of the
    file. They are read from lines "vertex x y z"; all other lines are ignored. None if a coordinate is no number
    or the number of vertices is no multiple of three."""
    lines = [line.split() for line in content.decode("ascii", errors="replace").splitlines()]
    try:
        vertices = [[float(x) for x in line[1:4]] for line in lines if line[:1] == ["vertex"]]
        return np.array(vertices).reshape(-1, 3, 3)
    except ValueError:
        return None
