"""Points at which the mouse can drag bodies of a page, by loads that are set from step to step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.soft_mesh import SoftPoints
from phlexible.description.interactions.loads import Force, Load, Torque
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import PhlexibleError

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)

MOST_BODIES, MOST_ON_A_BODY, MOST_IN_ALL = 60, 3, 60
"""Limits on the number of grips; each is a load of the compiled model in all steps."""
ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Grip:
    """Point of a body that can be dragged.

    Attributes:
        port: the point.
        force: a load there.
        torque: of a rigid body, which can be pulled at anywhere; None: of others.
    """

    port: Attachment
    force: Load
    torque: Load | None = None

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return the loads by which the mouse drags a body at this grip: a force, and on rigid bodies also a
        torque."""
        return (self.force,) if self.torque is None else (self.force, self.torque)


def with_grips(model: AnyMechanism) -> tuple[AnyMechanism, tuple[Grip, ...]]:
    """Return a copy of the model with zero loads added, by which the mouse can drag its bodies, and these drag
    points (grips)."""
    pulled = model.shallow_copy()
    found = [
        grip
        for placed, most in _grip_counts(pulled.bodies)
        for port in _ports(placed, most)
        if (grip := _grip(pulled, placed, port)) is not None
    ]
    return pulled, tuple(found)


def _grip_counts(bodies: Sequence[PlacedBody]) -> list[tuple[PlacedBody, int]]:
    """Return the bodies that the mouse can drag, with the number of drag points on each; of more than 60
    bodies only 60, evenly spread. There are at most 3 points on each of several bodies, 10 on a single one,
    and about 60 in all."""
    count = min(len(bodies), MOST_BODIES)
    positions = np.linspace(0, len(bodies) - 1, count).round().astype(int)
    most = int(np.clip(MOST_IN_ALL // max(count, 1), 1, MOST_ON_A_BODY if count > 1 else MOST_IN_ALL // 6))
    return [(bodies[k], most) for k in positions]


def _grip(model: Mechanism, placed: PlacedBody, port: Attachment) -> Grip | None:
    """Return a drag point (grip) at a port of a body (``placed``), or None if the model refuses a force there. A
    force of zero is added to the model, and a torque of zero if the body is rigid and can rotate; a page sets
    them while its user drags the body."""
    try:
        force = model.apply(Force(port, ZERO, name=f"pull at {port}"))
    except PhlexibleError:
        return None
    if not _is_rigid(placed) or not placed.data.rotates:
        return Grip(port, force)
    return Grip(port, force, model.apply(Torque(port, ZERO, name=f"turn about {port}")))


def _is_rigid(placed: PlacedBody) -> bool:
    return placed.nodes is None and not placed.data.elastic_count


def _ports(placed: PlacedBody, most: int) -> list[Attachment]:
    """Return the attachments of a body (``placed``) at which the mouse can drag it: its origin, points along
    its length, nodes or interfaces. ``most`` limits their number."""
    if _is_rigid(placed):
        return [placed.origin]
    along = placed.resolved.contact_positions()
    if along:
        spread = np.linspace(min(along), max(along), most) if most > 1 else [max(along)]
        return [placed.at(float(x)) for x in spread]
    if placed.nodes is not None:
        assert isinstance(placed.data.points, SoftPoints), "strings have positions along them"
        numbers = np.unique(placed.data.points.mesh.cells)
        positions = placed.nodes.positions[placed.data.points.mesh.node_at[numbers]]
        return [placed.node(int(numbers[k])) for k in _farthest_points(positions, max(most, 8))]
    return [Attachment(placed, location) for location in placed.resolved.port_locations().values()]


def _farthest_points(points: Array, count: int) -> list[int]:
    """Return the indices of ``count`` points that are far from each other (farthest-point sampling). The
    first one is the farthest from the centroid. With fewer points than ``count`` it is the indices of all."""
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    found = [int(away.argmax())]
    away = np.linalg.norm(points - points[found[0]], axis=1)
    while len(found) < min(count, len(points)):
        found.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(points - points[found[-1]], axis=1))
    return found
