"""The mass, or moment of inertia, that a force along a coordinate of two bodies moves at the initial pose."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import rigid_rows, velocity_components
from phlexible.description.interactions.functions import (
    Bilinear,
    Coordinate,
    PointOf,
    VectorSum,
    WorldAxis,
    initial_sum,
    initial_vector,
)
from phlexible.description.ports import Attachment, PlacedBody

ROUND_OFF = 1e-12

# Stiffness of contacts and stops, where it is left out.

SHALLOW = 1e-3  # of the size, or rad: how deep weights go
SIZE = 0.1  # of what has none [m]
GRAVITY = 9.81  # [m/s2]


def weight_stiffness(inertia: float, size: float, exponent: float = 1.0) -> float:
    """Return the stiffness at which a body's weight deflects a contact or stop by a thousandth of the body's
    size [N/m^exponent]. It is m g / (size / 1000)^``exponent``. For a moment of inertia in place of m the
    deflection is 1e-3 rad [N m/rad]. ``inertia`` is m or the moment of inertia [kg or kg m2], ``size`` the
    lever of the weight [m] (0: 0.1 m).

    Args:
        inertia: mass, or moment of inertia, that moves [kg or kg m2].
        size: lever of the weight of what moves [m]; 0: 0.1 m.
        exponent: exponent of the depth in the force.
    """
    return float(inertia * GRAVITY / (SHALLOW * (size or SIZE)) ** exponent)


def effective_mass(coordinate: Coordinate, rows: Sequence[Bilinear] = ()) -> float:
    """Return the effective mass 1 / (g M^-1 g^T) along a coordinate of two bodies at the initial pose [kg or kg
    m^2]. Here g is the derivative of the coordinate with respect to rigid motions, M the mass matrix. Motion that
    violates the constraints ``rows`` is excluded by least squares. The result is 0 if nothing can move along the
    coordinate.

    Args:
        coordinate: along which the force acts.
        rows: constraints between these bodies, such as the joint of the coordinate; others are left out.
    """
    own = coordinate.functions()
    slopes = coordinate.gradient(np.array([row.initial_value() for row in own]))
    found = [_body_forces(own, slopes), *(_body_forces((row,), np.ones(1)) for row in rows)]
    bodies = list(dict.fromkeys(placed for each in found for placed in each))
    if not bodies:
        return 0.0
    blocks = [_mobility(placed, np.array([each.get(placed, np.zeros(6)) for each in found])) for placed in bodies]
    softness = np.sum(blocks, axis=0)
    held = softness[1:, 1:]
    left = softness[0, 0] - softness[0, 1:] @ np.linalg.lstsq(held, softness[1:, 0], rcond=None)[0]
    return float(1 / left) if left > ROUND_OFF * softness[0, 0] else 0.0


def _body_forces(rows: Sequence[Bilinear], slopes: Array) -> dict[PlacedBody, Array]:
    """Return a dictionary from each body to its wrench, shape (6,): force, then moment about its origin, in world
    axes. They are the derivatives of k scalar functions ``rows`` of the poses at the initial pose, each multiplied
    by its force in ``slopes`` (k,), and summed. Points of the ground get nothing."""
    found: dict[PlacedBody, Array] = {}
    for slope, row in zip(slopes, rows, strict=True):
        for term in row.terms:
            for own, other in ((term.first, term.second), (term.second, term.first)):
                _add(found, own, slope * term.coefficient * initial_sum(other))
    return found


def _add(rows: dict[PlacedBody, Array], difference: VectorSum, force: Array) -> None:
    for weight, vector in difference.parts:
        if isinstance(vector, WorldAxis) or not isinstance(vector.port, Attachment):
            continue
        placed, is_point = vector.port.placed, isinstance(vector, PointOf)
        row = rows.setdefault(placed, np.zeros(6))
        row[:3] += is_point * weight * force
        row[3:] += weight * cross(initial_vector(vector) - is_point * placed.origin_position, force)


def _mobility(placed: PlacedBody, rows: Array) -> Array:
    """Return the velocity changes of one body (``placed``) along k directions due to a unit impulse along each,
    shape (k, k). It is G M^-1 G^T with the rigid-body mass matrix M of the undeformed body, by least squares. G
    are the ``rows``, forces and moments in world axes, shape (k, 6). A string or soft body counts as the mean mass
    of one node, without moments."""
    data = placed.data
    if not isinstance(data, FloatingBody):
        return np.asarray(rows[:, :3] @ rows[:, :3].T * data.translations.sum() / data.mass)
    kept = velocity_components(data)[: data.rigid_count]
    own = np.concatenate([rows[:, :3] @ placed.rotation, rows[:, 3:] @ placed.rotation], axis=1)[:, kept]
    mass = rigid_rows(data, np.zeros(data.elastic_count))[kept][:, kept]
    return np.asarray(own @ np.linalg.lstsq(mass, own.T, rcond=None)[0])
