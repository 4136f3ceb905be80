"""Joints at interfaces of parts from files, whose positions are as accurate as files are (docs/meshes.md)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.locations import Interface
from phlexible.description.interactions.functions import Bilinear, DirectionOf, PointOf, initial_sum
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, Port

PRECISION = 1e-5
"""Tolerance relative to the size of a part; files of geometry have some six digits, holes are polygons in a
mesh.
"""

ROUND_OFF = 16 * float(np.finfo(float).eps)
"""Gaps below this share of positions are round-off."""


def allowed_gap(joint: object) -> float:
    """Return the largest initial gap [m] of a joint that is tolerated because the joint is at an interface (hole,
    face) of a mesh: 1e-5 of the size of the body, since files are not more accurate. It is 0 for all other
    joints."""
    ports = (joint.first, joint.second) if isinstance(joint, Joint) else ()
    sizes = [port.placed.data.size for port in ports if isinstance(port, Attachment) and _is_interface(port)]
    return PRECISION * max(sizes, default=0.0)


def rows_moved_to_interface(joint: object, rows: Sequence[Bilinear]) -> Sequence[Bilinear]:
    """Return the scalar constraints ``rows`` of a joint at an interface (hole, face) of a mesh, moved to the
    material point that lies exactly there. So the small initial gap vanishes. Constraints with larger gaps,
    and of other joints, are returned unchanged.

    That point moves with the interface: a gap that closed in the first step would be a jolt, and forces at two
    points next to each other would turn what is free.
    """
    limit = allowed_gap(joint)
    if limit == 0.0:
        return rows
    assert isinstance(joint, Joint), "only these have a limit"
    port = joint.second if _is_interface(joint.second) else joint.first
    assert isinstance(port, Attachment), "an interface"
    placed = [k for k, row in enumerate(rows) if _positions_port(row, port)]
    if not placed:
        return rows
    gaps = [rows[k].initial_value() / rows[k].terms[0].coefficient for k in placed]
    axes = [initial_sum(rows[k].terms[0].second) for k in placed]
    offset = np.linalg.lstsq(np.array(axes), np.array(gaps), rcond=None)[0]
    round_off = ROUND_OFF * (port.placed.data.size + np.abs(port.initial_position()).max())
    if not round_off < np.linalg.norm(offset) <= limit:
        return rows
    return [_shifted_row(row, port, offset) if k in placed else row for k, row in enumerate(rows)]


def _positions_port(row: Bilinear, port: Attachment) -> bool:
    """Return whether a scalar constraint (``row``) demands that the distance of an attachment point
    (``port``) from another point, measured along a direction, is zero."""
    if row.is_angle or row.constant != 0.0 or row.offset is not None or len(row.terms) != 1:
        return False
    term = row.terms[0]
    return term.factor is None and term.second.is_direction and len(_weights(row, port)) == 1


def _weights(row: Bilinear, port: Attachment) -> list[float]:
    parts = row.terms[0].first.parts
    return [weight for weight, part in parts if isinstance(part, PointOf) and part.port is port]


def _shifted_row(row: Bilinear, port: Attachment, offset: Array) -> Bilinear:
    """Return a copy of a scalar constraint (``row``) that acts on the material point at ``offset`` from the
    attachment ``port`` instead of the port. The offset is in world axes at the initial pose [m], shape (3,)."""
    term, weight = row.terms[0], _weights(row, port)[0]
    parts = (*term.first.parts, (-weight, DirectionOf(port, offset / weight)))
    return replace(row, terms=(replace(term, first=replace(term.first, parts=parts)),))


def _is_interface(port: Port) -> bool:
    return isinstance(port, Attachment) and isinstance(port.location, Interface) and port.has_orientation
