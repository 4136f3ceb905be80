"""A rigid body, with six numbers of inertia and no elastic coordinates, and a point mass (docs/theory.md, 2)."""

from dataclasses import dataclass, field
from math import sqrt
from os import PathLike
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Positive,
    Vector,
    file_path,
    line_plane_or_space,
    plane_or_space,
    positive,
    reals,
    vector,
)
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Location, MaterialPoint, MaterialPoints, MaterialPosition, Origin, label_of
from phlexible.bodies.sizes import SCALED, warn_of_size
from phlexible.bodies.skin import Skin, line_skin, solid_skin
from phlexible.display import short_repr
from phlexible.errors import AttachmentError, ParameterError, UnitWarning, warn_user
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere, TriangleMesh, read_stl
from phlexible.shapes.surfaces import Color, Triangulation

# Appearance of a rigid body of unknown shape: a box of its inertia, or rods to its ports.

METALS = (2.6, 2.9), (7.0, 9.0)
"""Densities of aluminium, and of steel, brass and copper, in g/cm3."""
COMPACT = 0.45
"""Largest moment of inertia over m r^2, r from the centre to a port, above which a body is drawn as a box: it is
1/3 of a rod with ports at its ends, 2/3 of a cube with ports on two opposite faces."""
EVEN = 0.6
"""Smallest ratio of the distances of the nearest and the farthest port at which a box is drawn."""
FITTING = 1.3
"""Largest ratio of half the longest edge of a box to the distance of its ports; a larger inertia is that of a
gear."""


def unshaped_skin(mass: float, inertia: Array, center: Array, ports: Array) -> Skin:
    """Return what pictures draw for a rigid body whose shape is unknown: the homogeneous box with its ``mass`` and
    ``inertia``, or lines from ``center`` to the joints. Joints are at ``ports`` (k, 3) [m]. The box is drawn if
    there are none, or if three conditions hold. All joints are similarly far from ``center``, the box fits within
    that distance, and the inertia is large enough.

    Args:
        mass: [kg].
        inertia: about the center of mass, I_zz or shape (3, 3) [kg m2].
        center: of mass, shape (3,) [m].
        ports: positions at which joints act, shape (k, 3) [m].
    """
    away = np.linalg.norm(ports - center, axis=1)
    reach, nearest = float(away.max(initial=0.0)), float(away.min(initial=np.inf))
    size, axes = _equal_box(mass, inertia)
    if reach == 0 and not len(ports):
        return solid_skin(_oriented_box(size, axes, center))
    is_compact = reach > 0 and nearest > EVEN * reach
    moment = float(inertia if inertia.ndim == 0 else np.linalg.eigvalsh(inertia)[-1])
    if is_compact and moment > COMPACT * mass * reach**2 and size.max() / 2 < FITTING * reach:
        return solid_skin(_oriented_box(size, axes, center))
    ends = np.unique(np.round(ports, 12), axis=0)
    ends = ends[np.linalg.norm(ends - center, axis=1) > 1e-9 * max(reach, 1e-300)]
    nodes = np.concatenate([center[None], ends])
    lines = tuple(np.array([0, k + 1]) for k in range(len(ends)))
    return line_skin(nodes, np.zeros((len(nodes), 3, 0)), lines, np.zeros(1, dtype=np.int64))


def _equal_box(mass: float, inertia: Array) -> tuple[Array, Array]:
    """Return the edge lengths (3,) [m] and the axes, as columns (3, 3), of the homogeneous box with the given
    ``mass`` and ``inertia`` matrix. The axes are right-handed principal axes. Edges shorter than a twentieth of
    the longest edge get that length. If ``inertia`` is only I_zz, the box has the edges (a, a, a / 4) along the
    coordinate axes."""
    if inertia.ndim == 0:
        edge = float(np.sqrt(6 * inertia / mass))
        return np.array([edge, edge, edge / 4]), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes = -axes
    squares = 6 / mass * (moments.sum() - 2 * moments)
    edges = np.sqrt(np.maximum(squares, 0.0))
    return np.maximum(edges, 0.05 * edges.max()), axes


def _oriented_box(size: Array, axes: Array, center: Array) -> Triangulation:
    """Return a box as a mesh of triangles: edges of the lengths ``size`` (3,) [m] along the columns of ``axes`` (3,
    3), around the point ``center`` (3,) [m]."""
    box = Box(size).centred()
    return Triangulation(center + box.vertices @ axes.T, box.triangles)


ROUND_OFF = 1e-12
DIGITS = 1e-5
"""Relative error of moments of inertia in files and tables, which have some six digits."""
INERTIA = "I_zz, three numbers or a matrix (3, 3)"


def _checked_inertia(name: str, value: ArrayLike) -> Array:
    """Convert a user's inertia of a rigid body (I_zz, three moments or a matrix) to a read-only array, shape () or
    (3, 3) [kg m2]. Raise ``ParameterError`` if it is not finite, symmetric and positive, or violates the triangle
    inequality of moments. ``name`` is used in messages."""
    inertia = reals(name, value, INERTIA)
    if inertia.shape not in ((), (3,), (3, 3)):
        raise ParameterError(f"inertia must be {INERTIA}, got {value!r}")
    if not np.isfinite(inertia).all():
        raise ParameterError(f"inertia must be finite, got {value!r}")
    if inertia.ndim == 0:
        if inertia <= 0:
            raise ParameterError(f"inertia must be positive, got {value!r}")
    elif inertia.ndim == 1:
        _check_moments(sorted(inertia.tolist()))
        inertia = np.diag(inertia)
    else:
        if np.abs(inertia - inertia.T).max() > ROUND_OFF * np.abs(inertia).max():
            raise ParameterError(f"inertia must be symmetric, got {inertia.tolist()}")
        _check_moments(np.linalg.eigvalsh(inertia).tolist())
    inertia.flags.writeable = False
    return inertia


@dataclass(frozen=True, eq=False)
class RigidBody(Body):
    """A rigid body with mass, inertia and centre of mass, whose body frame has its origin at any point that the
    user chooses.

    Attributes:
        mass: m [kg].
        inertia: about the center of mass, in body axes [kg m2]: a matrix (3, 3), its diagonal (3,)
            or, for motion in the plane only, the single number I_zz. Stored as an array.
        center: center of mass in body axes from the origin, shape (3,) [m].
        shape: its surface, such as a ``Box`` or a ``TriangleMesh``; None: rods to its joints, or a box of its
            inertia, in pictures. It affects the motion only through a ``Contact`` of the body.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: the mass is not positive, or no body has this inertia: not symmetric, not
            positive definite, or one principal moment larger than the sum of the others.

    Example:
        >>> arm = ph.RigidBody(mass=2.0, inertia=(0.01, 0.2, 0.2), center=(0.5, 0.0, 0.0))
        >>> box = ph.RigidBody.box((1.0, 0.1, 0.1), density=1000.0)
        >>> round(box.mass, 9)
        10.0
    """

    mass: Positive
    inertia: Annotated[ArrayLike, _checked_inertia]
    center: Vector = (0.0, 0.0, 0.0)
    shape: Shape | None = field(default=None, kw_only=True)
    color: Color = field(default=None, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, Shape | None):
            raise ParameterError(f"shape must be one such as Box((1, 1, 1)) or Sphere(0.1), got {self.shape!r}")

    @classmethod
    def box(
        cls, size: ArrayLike, density: float, center: ArrayLike = (0.0, 0.0, 0.0), *, color: str | None = None
    ) -> Self:
        """Return a homogeneous rigid box with edges ``size`` (3,) [m] along the body axes and a density [kg/m3].
        Mass and inertia are computed; the middle of the box, its centre of mass, is at ``center`` in body axes.
        ``color`` is for pictures.

        Args:
            size: edges along x, y, z, shape (3,) [m].
            density: [kg/m3].
            center: of the box from the origin of the body, shape (3,) [m].
            color: in pictures.
        """
        return cls._homogeneous(Box(size, center=vector("center", center)), density, color)

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        density: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        color: str | None = None,
    ) -> Self:
        """Return a homogeneous rigid circular cylinder with given ``radius`` and ``length`` [m] and
        ``density`` [kg/m3], around the body axis ``axis``. Its middle is at ``center`` in body axes.
        ``color`` is for pictures.

        Args:
            radius, length: [m].
            density: [kg/m3].
            center: of the cylinder from the origin of the body, shape (3,) [m].
            axis: in body axes, shape (3,).
            color: in pictures.
        """
        return cls._homogeneous(Cylinder(radius, length, axis, center=vector("center", center)), density, color)

    @classmethod
    def sphere(
        cls, radius: float, density: float, center: ArrayLike = (0.0, 0.0, 0.0), *, color: str | None = None
    ) -> Self:
        """Return a homogeneous rigid ball with given ``radius`` [m] and ``density`` [kg/m3] around the point
        ``center``, shape (3,) [m], in body axes. ``color`` is for pictures."""
        return cls._homogeneous(Sphere(radius, center=vector("center", center)), density, color)

    @classmethod
    def from_stl(
        cls, path: str | PathLike[str], density: float, *, scale: float = 1.0, color: str | None = None
    ) -> Self:
        """Return a homogeneous rigid body with a ``density`` [kg/m3] whose closed surface is read from an STL file
        (``path``), text or binary. Positions in the file are multiplied by ``scale`` to get metres. Body axes and
        origin are the same as in the file. Raise ``ParameterError`` for a missing file, a file without triangles,
        or an open surface.

        Args:
            path: of the file.
            density: [kg/m3].
            scale: metres for a unit of length of the file: 1e-3 for millimetres.
            color: in pictures.

        Raises:
            ParameterError: no such file, no triangles in it, or a surface that is not closed.
        """
        density, scale = positive("density", density), positive("scale", scale)
        return cls._homogeneous(read_stl(Path(file_path("path", path)), scale), density, color)

    @classmethod
    def from_mesh(
        cls, vertices: ArrayLike, triangles: ArrayLike, density: float, *, color: str | None = None
    ) -> Self:
        """Return a homogeneous rigid body with a ``density`` [kg/m3] inside the closed surface of ``triangles``
        (t, 3), indices of the ``vertices`` (v, 3) [m]. Vertices are given in body axes. Mass, centre of mass and
        inertia are computed. Raise ``ParameterError`` for an open surface. ``color`` is for pictures.

        Args:
            vertices: shape (v, 3) [m].
            triangles: numbers of vertices from 0, counter-clockwise seen from outside, shape (t, 3).
            density: [kg/m3].
            color: in pictures.

        Raises:
            ParameterError: arrays of other shapes, or a surface that is not closed.
        """
        return cls._homogeneous(TriangleMesh(vertices, triangles), density, color)

    @classmethod
    def _homogeneous(cls, shape: Shape, density: float, color: str | None) -> Self:
        """Return a rigid body that fills a ``shape`` with a ``density`` [kg/m3]; mass, inertia and centre of mass
        are computed from the shape. Warn if the density is typical of a metal in g/cm3. Warn also if a triangle
        mesh is so large or heavy that it is probably in millimetres. ``color`` is for pictures. Raise
        ``ParameterError`` for a density that is not positive."""
        weight, moments = positive("density", density), shape.moments()
        if any(least <= weight <= most for least, most in METALS):
            warn_user(
                f"density = {weight:g} kg/m3 is that of no solid; is it in g/cm3? Then it is {1e3 * weight:g}",
                UnitWarning,
            )
        center = np.asarray(shape.center) + moments.center
        if isinstance(shape, TriangleMesh):
            warn_of_size(weight * moments.volume, shape.centred().vertices, SCALED)
        return cls(weight * moments.volume, weight * moments.inertia, center, shape=shape, color=color)

    def discretize(self, dimension: int) -> FloatingBody:
        """Return this rigid body as a ``FloatingBody``: mass with first and second moments about the origin of the
        body frame. In the plane (``dimension`` 2) only I_zz is used. Raise ``ParameterError`` if only I_zz is
        known in space, the centre of mass is out of the plane, or ``dimension`` is neither 2 nor 3.

        In the plane only W_xx + W_yy = I_zz + m c^2 has a meaning; I_zz is split evenly.

        Raises:
            ParameterError: I_zz alone in space, or a center of mass outside the plane.
        """
        plane_or_space(dimension)
        center = np.asarray(self.center, dtype=np.float64)
        inertia = np.asarray(self.inertia, dtype=np.float64)
        if dimension == 2:
            if center[2] != 0:
                raise ParameterError(f"center must lie in the plane z = 0 in dimension 2, got {center}")
            about_z = float(inertia if inertia.ndim == 0 else inertia[2, 2])
            euler = np.diag([about_z / 2, about_z / 2, 0.0])
        elif inertia.ndim == 0:
            raise ParameterError(
                f"inertia is the single number I_zz = {float(inertia):g}, which is enough in the plane only; "
                "in space give three numbers or a matrix of shape (3, 3)"
            )
        else:
            euler = inertia.trace() / 2 * np.eye(3) - inertia
        second_moments = euler + self.mass * np.outer(center, center)
        return FloatingBody(
            dimension=dimension,
            mass=self.mass,
            first_moments=self.mass * center[:, None],
            second_moments=second_moments[:, :, None, None],
            rotates=True,
            points=RigidPoints(center, dimension),
            size=float(np.linalg.norm(center)) + sqrt(euler.trace() / self.mass),
        )

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface that pictures draw for this rigid body: that of its shape, placed at the body's
        centre of mass unless the shape has a centre of its own. Without a shape, a box with the body's inertia is
        drawn, or lines from the centre of mass to the joints. These are at ``ports`` (k, 3) [m]."""
        center = np.asarray(self.center, dtype=np.float64)
        if self.shape is not None:
            return solid_skin(self.shape.placed(center))
        return unshaped_skin(self.mass, np.asarray(self.inertia), center, ports)


@dataclass(frozen=True, eq=False)
class RigidPoints(MaterialPoints):
    """Material points of a rigid body with centre of mass ``center``, shape (3,) [m], in body axes."""

    center: Array
    dimension: int

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this rigid body at its origin or at given body coordinates; it has no
        elastic displacement. Raise ``AttachmentError`` for locations of other kinds, and for z other than 0 in the
        plane. The point may lie outside of the body's shape.

        Raises:
            AttachmentError: the location belongs to a line body, or is outside the plane.
        """
        match location:
            case Origin():
                position = np.zeros(3)
            case MaterialPosition(coordinates):
                position = vector("position", coordinates)
                if self.dimension == 2 and position[2] != 0:
                    raise AttachmentError(f"position must have z = 0 in dimension 2, got {coordinates}")
            case _:
                raise AttachmentError(
                    f"a RigidBody has no {label_of(location)}; it offers `origin` and `point((x, y, z))`"
                )
        return MaterialPoint(position, np.zeros((3, 0)), np.zeros((3, 0)))

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return the line that pictures draw for this rigid body, from its origin to its centre of mass, shape (2,
        3) [m]; the origin alone if both coincide; ``count`` is not used."""
        positions = [np.zeros(3)] if not self.center.any() else [np.zeros(3), self.center]
        return np.array(positions), np.zeros((len(positions), 3, 0))


def _check_moments(principal: list[float]) -> None:
    """Raise ``ParameterError`` unless the three ``principal`` moments of inertia, ascending, are possible for a
    rigid body. The smallest must be positive, compared with round-off of the largest. The largest must not exceed
    the sum of the two others by more than a relative tolerance for printed digits."""
    shown = ", ".join(f"{moment:g}" for moment in principal)
    if principal[0] <= ROUND_OFF * principal[2]:
        raise ParameterError(f"inertia must be positive definite, got principal moments {shown}")
    if principal[2] > (principal[0] + principal[1]) * (1 + DIGITS):
        raise ParameterError(
            "inertia must obey the triangle inequality (no principal moment larger than the sum of "
            f"the others), got principal moments {shown}"
        )


@dataclass(frozen=True)
class PointMass(Body):
    """A body whose mass is concentrated in one point, without rotation.

    Attributes:
        mass: [kg].
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: the mass is not finite and positive.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(1.0, step=0.1)
        >>> print(round(motion.position(stone.origin)[-1, 2], 9))
        -4.905
    """

    mass: Positive
    color: Color = field(default=None, kw_only=True)

    def discretize(self, dimension: int) -> FloatingBody:
        """Return this point mass as a ``FloatingBody`` with its mass, zero first and second moments, and no
        rotation. ``dimension`` is 1, 2 or 3; others raise ``ParameterError``."""
        line_plane_or_space(dimension)
        return FloatingBody(
            dimension=dimension,
            mass=self.mass,
            first_moments=np.zeros((3, 1)),
            second_moments=np.zeros((3, 3, 1, 1)),
            rotates=False,
            points=SinglePoint(),
            size=0.0,
        )


@dataclass(frozen=True, eq=False)
class SinglePoint(MaterialPoints):
    """The only material point of a point mass, at its origin."""

    def locate(self, location: Location) -> MaterialPoint:
        """Return the only material point of a point mass, at its origin and without orientation. Raise
        ``AttachmentError`` for any other location.

        Raises:
            AttachmentError: any location but the origin.
        """
        if not isinstance(location, Origin):
            raise AttachmentError(f"a PointMass has no {label_of(location)}; it offers `origin`")
        return MaterialPoint(np.zeros(3), np.zeros((3, 0)), None)

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return the single point, the origin, that pictures draw for a point mass, shape (1, 3) [m]; ``count`` is
        not used."""
        return np.zeros((1, 3)), np.zeros((1, 3, 0))
