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
    """Return the largest gap [m] up to which a joint is moved to the point of the part that it is attached to. It
    is 0 unless the joint is at an interface of a mesh.
    """
    ports = (joint.first, joint.second) if isinstance(joint, Joint) else ()
    sizes = [port.placed.data.size for port in ports if isinstance(port, Attachment) and _is_interface(port)]
    return PRECISION * max(sizes, default=0.0)


def as_made(joint: object, rows: Sequence[Bilinear]) -> Sequence[Bilinear]:
    """Return the constraint rows of a joint, moved by its small initial gap to the point of the part that lies at
    the joint. Larger gaps, and joints without interface, keep their rows.

    That point moves with the interface: a gap that closed in the first step would be a jolt, and forces at two
    points beside each other would turn what is free.
    """
    limit = allowed_gap(joint)
    if limit == 0.0:
        return rows
    assert isinstance(joint, Joint), "only these have a limit"
    port = joint.second if _is_interface(joint.second) else joint.first
    assert isinstance(port, Attachment), "an interface"
    placed = [k for k, row in enumerate(rows) if _places(row, port)]
    if not placed:
        return rows
    gaps = [rows[k].initial_value() / rows[k].terms[0].coefficient for k in placed]
    axes = [initial_sum(rows[k].terms[0].second) for k in placed]
    beside = np.linalg.lstsq(np.array(axes), np.array(gaps), rcond=None)[0]
    round_off = ROUND_OFF * (port.placed.data.size + np.abs(port.initial_position()).max())
    if not round_off < np.linalg.norm(beside) <= limit:
        return rows
    return [_shifted_row(row, port, beside) if k in placed else row for k, row in enumerate(rows)]


def _places(row: Bilinear, port: Attachment) -> bool:
    """Return whether a constraint row demands that the port has no distance from another point along an axis."""
    if row.is_angle or row.constant != 0.0 or row.offset is not None or len(row.terms) != 1:
        return False
    term = row.terms[0]
    return term.factor is None and term.second.is_direction and len(_weights(row, port)) == 1


def _weights(row: Bilinear, port: Attachment) -> list[float]:
    parts = row.terms[0].first.parts
    return [weight for weight, part in parts if isinstance(part, PointOf) and part.port is port]


def _shifted_row(row: Bilinear, port: Attachment, beside: Array) -> Bilinear:
    """Return the constraint row for the point at the offset ``beside`` [m] from the port, in world axes of the
    initial pose.
    """
    term, weight = row.terms[0], _weights(row, port)[0]
    parts = (*term.first.parts, (-weight, DirectionOf(port, beside / weight)))
    return replace(row, terms=(replace(term, first=replace(term.first, parts=parts)),))


def _is_interface(port: Port) -> bool:
    return isinstance(port, Attachment) and isinstance(port.location, Interface) and port.has_orientation
