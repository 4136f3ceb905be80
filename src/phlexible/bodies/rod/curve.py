"""Places and orientations of the sections of a rod along a curve."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.initial_nodes import Field, initial_nodes
from phlexible.bodies.rod.rod import Rod, StressFree
from phlexible.errors import ParameterError

STEP = 1e-5  # of the length, for differences along a curve
LENGTH_TOLERANCE = 2e-3
GREATEST_TURN, GREATEST_GOOD_TURN = 0.75, 0.5  # between neighbours [rad]


@dataclass(frozen=True, eq=False)
class RodPose:
    """Sections at t = 0: positions (N, 3) [m], body to world rotations (N, 3, 3)."""

    positions: Array
    rotations: Array


def rod_pose(rod: Rod, name: str, dimension: int, shape: Field | None, position: Array, rotation: Array) -> RodPose:
    """The sections along a curve; their x axes are its tangents, and y and z turn about x no more than they must.

    Args:
        rod: the description.
        name: for messages.
        dimension: 2 or 3.
        shape: a function of s that returns a position, two end points, or nodes (N, 3); None: along x.
        position, rotation: of the whole; where the curve is along x, y and z are those of ``rotation``.

    Raises:
        ParameterError: a shape of a wrong form, out of the plane, of another length than the rod, or that turns
            by more than 0.75 rad between two neighbouring sections.
    """
    places = rod.node_places
    local = initial_nodes(places, dimension, shape, None, np.zeros(3), np.eye(3)).positions
    tangents = _tangents(places, shape, local, dimension)
    stretch = np.linalg.norm(tangents, axis=1)
    if stretch.min() < 1e-3:
        raise ParameterError(f"{name}: shape must not stand still along s; near s = {places[stretch.argmin()]:g} m")
    tangents /= stretch[:, None]
    turns = np.arccos(np.clip((tangents[:-1] * tangents[1:]).sum(axis=1), -1.0, 1.0))
    _check_turns(name, float(turns.max()))
    if rod.stress_free is StressFree.SHAPE:
        chords = np.linalg.norm(np.diff(local, axis=0), axis=1)
        length = float((chords / np.sinc(turns / (2 * np.pi))).sum())  # sinc(t / pi) = sin(t) / t
        if abs(length - rod.length) > LENGTH_TOLERANCE * rod.length:
            raise ParameterError(
                f"{name}: shape is {length:.6g} m long and the rod {rod.length:.6g} m; give"
                f" Rod(length={length:.6g}), or a shape as a function of the length s along it"
            )
    triads = np.empty((len(places), 3, 3))
    triads[0] = _least_turn(np.array([1.0, 0.0, 0.0]), tangents[0])
    for k in range(1, len(places)):
        triads[k] = _least_turn(tangents[k - 1], tangents[k]) @ triads[k - 1]
        triads[k, :, 0] = tangents[k]
        triads[k, :, 1] -= tangents[k] * (tangents[k] @ triads[k, :, 1])
        triads[k, :, 1] /= np.linalg.norm(triads[k, :, 1])
        triads[k, :, 2] = np.cross(triads[k, :, 0], triads[k, :, 1])
    return RodPose(position + local @ rotation.T, rotation @ triads)


def slopes_along(places: Array, values: Array) -> Array:
    """d/ds of values (N, 3) at places (N,), shape (N, 3)."""
    slopes = np.gradient(values, places, axis=0, edge_order=2) if len(places) > 2 else None
    return np.asarray(np.tile(np.diff(values, axis=0) / np.diff(places), (2, 1)) if slopes is None else slopes)


def _check_turns(name: str, turn: float) -> None:
    if turn > GREATEST_TURN:
        raise ParameterError(
            f"{name}: neighbouring sections turn by {turn:.3g} rad against each other, where elements hold up to"
            f" {GREATEST_TURN:g} and are good up to {GREATEST_GOOD_TURN:g}; take more elements, and join two rods"
            " with Fixed at a corner"
        )


def _tangents(places: Array, shape: Field | None, local: Array, dimension: int) -> Array:
    """dx/ds at the nodes, shape (N, 3)."""
    if not callable(shape):
        return slopes_along(places, local)
    step = STEP * places[-1]
    middle = np.clip(places, step, places[-1] - step)

    def at(offset: float) -> Array:
        return initial_nodes(middle + offset, dimension, shape, None, np.zeros(3), np.eye(3)).positions

    before, here, after = at(-step), at(0.0), at(step)
    slope, bend = (after - before) / (2 * step), (after - 2 * here + before) / step**2
    return np.asarray(slope + bend * (places - middle)[:, None])


def _least_turn(a: Array, b: Array) -> Array:
    """The rotation that takes one unit vector to another and turns least; about z where they are opposite."""
    axis, cosine = np.cross(a, b), float(np.dot(a, b))
    if cosine < -1 + 1e-12:
        helper = np.array([0.0, 0.0, 1.0]) if abs(a[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        normal = helper - np.dot(helper, a) * a
        normal /= np.linalg.norm(normal)
        return np.asarray(2 * np.outer(normal, normal) - np.eye(3))
    skew = cross_matrix(axis)
    return np.asarray(np.eye(3) + skew + skew @ skew / (1 + cosine))
