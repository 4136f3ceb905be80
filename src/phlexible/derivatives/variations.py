"""Small changes of states, with as many components as there are velocities (docs/theory.md, 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.state.layout import Layout

# A change of the pose has the layout of nu: dx of each carrier, the small rotation of each frame in *world* axes
# (dR = [phi] R), deta.


@dataclass(frozen=True, eq=False)
class Variation:
    """Small change (or derivative, or adjoint) of states: of the pose, of the velocities and of the history
    variables of force laws.

    Attributes:
        pose, velocity: shape (..., velocities) each.
        strains: of history variables (``strain_indices``), shape (..., strains); empty where they are treated
        elsewhere.
    """

    pose: Array
    velocity: Array
    strains: Array = field(default_factory=lambda: np.zeros(0))

    def times(self, other: "Variation") -> float:
        """Return the dot product of this and the ``other`` small change of a state, summed over pose,
        velocities and history variables. An adjoint times a change is the change of a cost. History variables
        are strains of Maxwell branches, deflections of friction springs and impact speeds."""
        found = self.pose @ other.pose + self.velocity @ other.velocity
        return float(found + self.strains @ other.strains)


def move(layout: Layout, rows: Mapping[str, Array], change: Variation) -> None:
    """Add a small ``change`` of pose and velocity, in the layout of the velocities, in place to states. ``rows``
    are their arrays by the names "position", "rotation", "eta" and "velocity". Positions, elastic coordinates and
    velocities are shifted; rotation matrices R become exp([phi]) R with rotation vectors phi in world axes.
    ``layout`` says where the numbers of each body are."""
    d = layout.linear.shape[1]
    rows["position"][..., :d] += change.pose[..., layout.linear]
    rows["eta"][:] += change.pose[..., layout.elastic_rate]
    rows["velocity"][:] += change.velocity
    if len(layout.spin[0]):
        turns = rotation_vectors(layout, change.pose)
        turned = Rotation.from_rotvec(turns.reshape(-1, 3)).as_matrix().reshape(*turns.shape, 3)
        rows["rotation"][:] = turned @ rows["rotation"]


def pose_tangents(layout: Layout, rows: Mapping[str, Array], tangents: Mapping[str, Array]) -> None:
    """Fill the arrays ``tangents`` with the derivatives of a state's position, rotation matrix and elastic
    coordinates with respect to each component of a pose change. They have the names "position", "rotation" and
    "eta" and a first axis (velocities,); ``rows`` are those of the state, with a first axis of length 1.
    ``layout`` says where the numbers of each body are.

    Args:
        layout: of the states.
        rows: tables of one state, (1, ...).
        tangents: tables of zeros that receive the derivatives, (velocities, ...).
    """
    each = np.eye(int(layout.velocity[-1]))
    tangents["position"][..., : layout.linear.shape[1]] = each[:, layout.linear]
    tangents["eta"][:] = each[:, layout.elastic_rate]
    turns = rotation_vectors(layout, each)[..., None]  # dR = phi x R, of each column of R
    tangents["rotation"][:] = np.cross(turns, rows["rotation"], axis=-2)


def rotation_vectors(layout: Layout, pose: Array) -> Array:
    """Return the small rotation vectors of all floating bodies in changes of the pose, shape (..., frames, 3)
    [rad]. ``layout`` says where the numbers of each body are."""
    frame, axis, index = layout.spin
    found = np.zeros((*pose.shape[:-1], layout.frames, 3))
    found[..., frame, axis] = pose[..., index]
    return found


def variation_between(layout: Layout, rows: Mapping[str, Array], ends: Mapping[str, Array]) -> Variation:
    """Return the ``Variation`` from the states ``rows`` to the nearby states ``ends``, both arrays by the names
    "position", "rotation", "eta" and "velocity". It has differences of positions, elastic coordinates and
    velocities, and for rotations the rotation vectors of R_end R_start^T in world axes [rad], in the layout of
    the velocities. ``layout`` says where the numbers of each body are."""
    d = layout.linear.shape[1]
    pose = np.zeros_like(rows["velocity"])
    pose[..., layout.linear] = (ends["position"] - rows["position"])[..., :d]
    pose[..., layout.elastic_rate] = ends["eta"] - rows["eta"]
    frame, axis, index = layout.spin
    if len(frame):
        turn = ends["rotation"] @ np.swapaxes(rows["rotation"], -1, -2)
        vectors = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape(*turn.shape[:-1])
        pose[..., index] = vectors[..., frame, axis]
    return Variation(pose, ends["velocity"] - rows["velocity"])


UNITS = "m", "rad"
"""Units of elastic coordinates that are a displacement or a rotation of one node."""


def pose_sizes(layout: Layout, length: float, weight: Array) -> Array:
    """Return characteristic sizes of the components of a change of the pose, shape (velocities,), from which
    steps of difference quotients are chosen: one radian, or about ``length`` [m]. ``weight`` makes velocities
    comparable, shape (velocities,). ``layout`` says where the numbers of each body are.

    Turns of bodies are one radian, other numbers what moves as much mass as the body by one length. Coordinates
    that carry little mass would move by much more than the rest: those whose unit is known are one length, or one
    radian, at most.

    Args:
        layout: of the state.
        length: that stands for the system [m].
        weight: that makes velocities comparable, shape (velocities,).
    """
    sizes = np.asarray(length / weight)
    sizes[layout.spin[2]] = 1.0
    floating = [placed.data for placed in layout.bodies if isinstance(placed.data, FloatingBody)]
    units = [unit for body in floating for unit in body.coordinate_units]
    for index, unit in zip(layout.elastic_rate.tolist(), units, strict=True):
        if unit in UNITS:
            sizes[index] = min(sizes[index], length if unit == "m" else 1.0)
    return sizes
