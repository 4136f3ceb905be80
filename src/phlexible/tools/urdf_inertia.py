"""Inertia of links of URDF files: of links on fixed joints, of links without inertia, and repairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, finite
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.rigid_body import DIGITS
from phlexible.errors import ModelError, ParameterError

SINGULAR, THIN = 1e-10, 1e-11  # eigenvalues of the inertia of coordinates, and of a body, beside what moves
TINY = 1e-7
"""Share of the inertia that a link carries, below which it has too little for steps to be solved to round-off."""
LENGTH = 0.1  # of a link without any size [m]
DENSITY = 1000.0  # of links without inertia, from their shapes [kg/m3]
SMALL = 1e-3, 1e-2  # of links without shape: mass [kg] and radius of gyration [m]


@dataclass(frozen=True)
class LinkInertia:
    """Mass distribution of one or more links.

    Attributes:
        mass: [kg].
        center: of mass, shape (3,) [m].
        spread: second moments of mass about the center, sum of m x x^T, shape (3, 3) [kg m2].
    """

    mass: float
    center: Array
    spread: Array

    @classmethod
    def of_inertia(cls, mass: float, center: Array, inertia: Array) -> Self:
        """Return the mass distribution of a link from its mass [kg], its centre of mass and its inertia tensor
        about that centre. For the tensor J, shape (3, 3) [kg m^2], the second moments of mass about the centre are
        trace(J) / 2 I - J."""
        return cls(mass, center, np.trace(inertia) / 2 * np.eye(3) - inertia)

    @property
    def inertia(self) -> Array:
        """Return the inertia tensor about the centre of mass, computed from the second moments of mass, shape (3,
        3) [kg m^2]."""
        return np.asarray(np.trace(self.spread) * np.eye(3) - self.spread)

    @property
    def is_none(self) -> bool:
        """Return whether links have neither mass nor inertia."""
        return self.mass == 0 and not self.spread.any()

    @property
    def is_physical(self) -> bool:
        """Return whether a physical body can have this inertia, within the digits that files have: mass and second
        moments of mass are not negative."""
        least, *_, most = np.linalg.eigvalsh(self.spread)
        return bool(self.mass >= 0 and least >= -DIGITS * max(most, -least))

    @property
    def is_regular(self) -> bool:
        """Return whether the 6 x 6 mass matrix of the links is regular, so that every rigid motion about the
        origin has kinetic energy. The scaled matrix and the inertia tensor about the centre of mass must have
        eigenvalues above a small limit."""
        matrix = np.zeros((6, 6))
        lever = cross_matrix(self.mass * self.center)
        matrix[:3, :3], matrix[:3, 3:], matrix[3:, :3] = self.mass * np.eye(3), -lever, lever
        matrix[3:, 3:] = np.trace(about := self.moments(np.eye(4))[:3, :3]) * np.eye(3) - about
        scale = np.sqrt(matrix.diagonal())
        if not (scale > 0).all() or np.linalg.eigvalsh(self.inertia)[0] <= THIN * np.trace(self.inertia):
            return False
        return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > THIN)

    def moments(self, pose: Array) -> Array:
        """Return the matrix [[second moments, first moments], [first moments, mass]] of the links, shape (4, 4).
        It is about the origin of other axes, relative to which the links' axes have the ``pose``."""
        moved = self.moved(pose)
        first = moved.mass * moved.center
        whole = np.empty((4, 4))
        whole[:3, :3] = moved.spread + np.outer(first, moved.center)
        whole[:3, 3], whole[3, :3], whole[3, 3] = first, first, moved.mass
        return whole

    def moved(self, pose: Array) -> Self:
        """Return this mass distribution in other axes, relative to which its own axes have the ``pose``, shape (4,
        4)."""
        turn = pose[:3, :3]
        return type(self)(self.mass, turn @ self.center + pose[:3, 3], turn @ self.spread @ turn.T)


NONE = LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))


def inertia_of(link: Any) -> LinkInertia:
    """Return the mass and inertia of a URDF ``link``, converted from the axes of its inertial element to the axes
    of the link. They are zero if the file has no inertial element. ModelError, with the link's name, is raised for
    numbers that are not finite.

    Raises:
        ModelError: numbers that are not finite; names the link.
    """
    own = link.inertial
    if own is None:
        return NONE
    origin = np.eye(4) if own.origin is None else own.origin
    inertia = np.zeros((3, 3)) if own.inertia is None else np.asarray(own.inertia, dtype=np.float64)
    try:
        mass = finite("mass", own.mass or 0.0)
    except ParameterError as error:
        raise ModelError(f"link {link.name}: {error}") from error
    if not (np.isfinite(inertia).all() and np.isfinite(origin).all()):
        raise ModelError(f"link {link.name}: its inertia and origin must be finite, got {inertia.tolist()}")
    return LinkInertia.of_inertia(mass, np.zeros(3), inertia).moved(origin)


def united(parts: Sequence[LinkInertia]) -> LinkInertia:
    """Return the mass distribution of several links (``parts``) that form one body, in their common axes, by the
    parallel axis theorem. Without links of mass or inertia it is zero."""
    parts = [each for each in parts if not each.is_none]
    if len(parts) < 2:
        return parts[0] if parts else NONE
    mass = sum(each.mass for each in parts)
    center = sum((each.mass * each.center for each in parts), np.zeros(3)) / (mass or 1.0)
    spread = np.zeros((3, 3))
    for each in parts:
        spread += each.spread + each.mass * np.outer(each.center - center, each.center - center)
    return LinkInertia(mass, center, spread)


@dataclass(frozen=True, eq=False)
class JointTwist:
    """Coordinate of a joint of a robot at the initial pose.

    Attributes:
        joint: its name.
        twist: velocity field of a unit rate, which takes a world position (x, 1) to a velocity, shape (4, 4).
        pivot: a world point of the joint, shape (3,) [m].
    """

    joint: str
    twist: Array
    pivot: Array


def coordinates_of(joint: str, kind: str, axis: Array, pivot: Array) -> list[JointTwist]:
    """Return the twists (4 by 4 velocity matrices) of the coordinates of a URDF ``joint`` of type ``kind`` at the
    initial pose. They rotate about or translate along ``axis`` through ``pivot``. A planar joint has a rotation
    and two translations normal to the axis, a floating one three rotations, then three translations. The list is
    empty for fixed joints."""
    turns, ways = {
        "revolute": ([axis], []),
        "continuous": ([axis], []),
        "prismatic": ([], [axis]),
        "planar": ([axis], list(np.linalg.svd(axis[None])[2][1:])),
        "floating": (list(np.eye(3)), list(np.eye(3))),
    }.get(kind, ([], []))
    found = []
    for turn, way in [(turn, np.zeros(3)) for turn in turns] + [(np.zeros(3), way) for way in ways]:
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = cross_matrix(turn), way - np.cross(turn, pivot)
        found.append(JointTwist(joint, twist, pivot))
    return found


def joints_without_inertia(bodies: Sequence[tuple[Array, Mapping[JointTwist, Array]]]) -> set[str]:
    """Return the names of joints that can move at the initial pose without kinetic energy, from the null
    space of the robot's mass matrix. ``bodies`` are mass moments with the twists that move them.

    Args:
        bodies: moments of mass in world axes (4, 4), and twists (4, 4) by the coordinates that move the body.
    """
    known = list(dict.fromkeys(each for _, twists in bodies for each in twists))
    number = {each: k for k, each in enumerate(known)}
    inertia, carried = np.zeros((len(known), len(known))), np.zeros(len(known))
    for moments, twists in bodies:
        own, fields = [number[each] for each in twists], np.array(list(twists.values())).reshape(-1, 4, 4)
        inertia[np.ix_(own, own)] += np.einsum("iab,bc,jac->ij", fields, moments, fields)
        for each, twist in twists.items():  # as if it were as far from the axis as from the joint, in any direction
            shift = np.eye(4)
            shift[:3, 3] = -each.pivot
            spin, speed = (twist[:3, :3] ** 2).sum() / 2, ((twist @ np.append(each.pivot, 1.0)) ** 2).sum()
            about = shift @ moments @ shift.T
            carried[number[each]] += 2 * spin * np.trace(about[:3, :3]) + speed * about[3, 3]
    if not known:
        return set()
    scale = np.sqrt(np.where(carried > 0, carried, 1.0))
    values, vectors = np.linalg.eigh(inertia / np.outer(scale, scale))
    shares = (vectors[:, values <= SINGULAR] ** 2).sum(axis=1)
    return {known[k].joint for k in np.flatnonzero(shares > DIGITS)}


def nearest_physical(inertia: LinkInertia) -> LinkInertia:
    """Return the nearest inertia that a physical body can have: negative principal second moments of mass,
    and a negative mass, become zero."""
    values, axes = np.linalg.eigh(inertia.spread)
    return LinkInertia(max(inertia.mass, 0.0), inertia.center, (axes * np.maximum(values, 0.0)) @ axes.T)


def regular_inertia(inertia: LinkInertia, carried: LinkInertia) -> LinkInertia:
    """Return the ``inertia`` of a body with small additions that make its mass matrix regular. The mass is
    increased to at least 1e-7 of the mass of the body and all that it carries (``carried``). If second moments are
    then singular or below 1e-7 of the carried ones, an isotropic amount is added. An inertia that is large enough
    is unchanged.

    Args:
        inertia: of the body, in its axes.
        carried: of the body and all that hangs on it, in its axes.
    """
    whole = float(np.trace(carried.moments(np.eye(4))[:3, :3]))
    mass = carried.mass or whole / LENGTH**2
    found = LinkInertia(max(inertia.mass, TINY * mass), inertia.center, inertia.spread)
    size = float(np.trace(found.moments(np.eye(4))[:3, :3]))
    if found.is_regular and size >= TINY * whole:
        return found
    more = TINY * (size if size > TINY * whole else max(whole, mass * LENGTH**2))
    return LinkInertia(found.mass, found.center, found.spread + more * np.eye(3))


def shape_inertia(surfaces: Sequence[Any], mass: float) -> LinkInertia:
    """Return the inertia of a link from its shapes, filled homogeneously and scaled to a ``mass`` [kg]. Shapes are
    surface meshes of trimesh; meshes with holes are replaced by their convex hull. For mass zero, the density is
    1000 kg/m^3. Without any volume, the inertia is that of a small body with a radius of gyration of 1 cm (for
    mass zero, 1 g)."""
    parts = []
    for each in surfaces:
        solid = each if each.is_watertight else each.convex_hull
        moments = DENSITY * np.asarray(solid.moment_inertia)
        parts.append(LinkInertia.of_inertia(DENSITY * float(solid.volume), np.asarray(solid.center_mass), moments))
    whole = united([each for each in parts if each.mass > 0])
    if whole.is_none:
        least, radius = SMALL
        return LinkInertia(mass or least, np.zeros(3), (mass or least) * radius**2 / 2 * np.eye(3))
    share = mass / whole.mass if mass else 1.0
    return LinkInertia(share * whole.mass, whole.center, share * whole.spread)
