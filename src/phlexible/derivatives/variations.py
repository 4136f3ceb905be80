"""Small changes of states and of history variables, with as many components as velocities (docs/theory.md, 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import rotation_vector_matrices
from phlexible.description.interactions.functions import PiecesCoordinate
from phlexible.state.branches import flows, history_variable_count
from phlexible.state.layout import Layout, State
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.stored_rows import set_branches
from phlexible.step.tables.declarations import BRISTLE, PAIR, SLIPS, TURN
from phlexible.step.tables.memory import Memory

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
    """Add a small ``change`` of pose and velocity to states, in place. ``rows`` are the arrays of the states by
    the names "position", "rotation", "eta" and "velocity". Positions, elastic coordinates and velocities are
    shifted; rotation matrices R become exp([phi]) R with rotation vectors phi in world axes. ``layout`` has the
    indices of each body's components in ``change``."""
    d = layout.linear.shape[1]
    rows["position"][..., :d] += change.pose[..., layout.linear]
    rows["eta"][:] += change.pose[..., layout.elastic_rate]
    rows["velocity"][:] += change.velocity
    if len(layout.spin[0]):
        turns = split_rigid(layout, change.pose)[1]
        turned = rotation_vector_matrices(turns.reshape(-1, 3)).reshape(*turns.shape, 3)
        rows["rotation"][:] = turned @ rows["rotation"]


def pose_tangents(layout: Layout, rows: Mapping[str, Array], tangents: Mapping[str, Array]) -> None:
    """Write the derivatives of a state's position, rotation matrix and elastic coordinates with respect to each
    component of a pose change into the arrays ``tangents``. They have the names "position", "rotation" and "eta"
    and a first axis (velocities,); ``rows`` are the same arrays of the state, with a first axis of length 1.
    ``layout`` has the indices of each body's components.

    Args:
        layout: of the states.
        rows: tables of one state, (1, ...).
        tangents: tables of zeros that receive the derivatives, (velocities, ...).
    """
    each = np.eye(int(layout.velocity[-1]))
    tangents["position"][..., : layout.linear.shape[1]] = each[:, layout.linear]
    tangents["eta"][:] = each[:, layout.elastic_rate]
    turns = split_rigid(layout, each)[1][..., None]  # dR = phi x R, of each column of R
    tangents["rotation"][:] = np.cross(turns, rows["rotation"], axis=-2)


def variation_between(layout: Layout, rows: Mapping[str, Array], ends: Mapping[str, Array]) -> Variation:
    """Return the small change from the states ``rows`` to the states ``ends`` as a ``Variation``; both have arrays
    by the names "position", "rotation", "eta" and "velocity". It has differences of positions, elastic coordinates
    and velocities, and rotation vectors of R_end R_start^T in world axes [rad]. Components are in the order of the
    velocities, which ``layout`` describes."""
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


def pose_sizes(system: System, length: float, weight: Array) -> Array:
    """Return characteristic sizes of the components of a pose change, shape (velocities,), for the increments of
    difference quotients. They are 1 rad for rotations of bodies, otherwise ``length`` [m] divided by ``weight``,
    the factors (velocities,) that make velocities comparable by mass. Elastic coordinates in m or rad get at most
    ``length`` or 1 rad.

    Turns of bodies are one radian, other numbers what moves as much mass as the body by one length. Coordinates
    that carry little mass would move by much more than the rest: those whose unit is known are one length, or one
    radian, at most.

    Args:
        system: bodies that move.
        length: that stands for the system [m].
        weight: that makes velocities comparable, shape (velocities,).
    """
    sizes = np.asarray(length / weight)
    sizes[system.layout.spin[2]] = 1.0
    units = [unit for body in system.floating for unit in body.coordinate_units]
    for index, unit in zip(system.layout.elastic_rate.tolist(), units, strict=True):
        if unit in UNITS:
            sizes[index] = min(sizes[index], length if unit == "m" else 1.0)
    return sizes


# History variables of laws (strains) in derivatives of motions (docs/theory.md, 8; (8.39)).

STRAINS = ("branch_strain", "soft_strain", "inner_strain", "impact", "flow")
PAIRS = ("pair_bristle", PAIR), ("pair_turn", TURN)


def strain_indices(assembly: Assembly) -> IntArray:
    """Return the indices of the differentiable history variables of a mechanism in a flat state array. They are
    strains of viscoelastic branches, deflections of friction springs, slid lengths at guides and impact speeds.
    Flags and identification numbers of contact pairs are left out. The array is empty for a model without history.
    ``assembly`` has the model's arrays.

    Contact pairs of groups come last, in the rows that the pairs have at the instant.
    """
    memory = assembly.memory
    sizes = memory.state_sizes
    if not any(sizes[name] for name in (*STRAINS, "bristle", *(pair for pair, _ in PAIRS))):
        return np.zeros(0, dtype=np.int64)
    numbers = memory.rows(np.arange(memory.counts["state_size"], dtype=np.float64)[None])
    bristles = numbers["bristle"].reshape(-1, BRISTLE)[:, :1]
    pairs = numbers["pair_bristle"].reshape(-1, PAIR)[:, 1:]
    turns = np.delete(numbers["pair_turn"].reshape(-1, TURN), SLIPS, axis=1)
    found = [*(numbers[name] for name in STRAINS), bristles, pairs, turns]
    return np.concatenate([each.ravel() for each in found]).astype(np.int64)


def strains_of(assembly: Assembly, state: State, like: State | None = None) -> Array:
    """Return the history variables (of viscoelastic branches, friction springs, impacts) that are stored in a
    ``state``, shape (history variables,), empty if the model has none. Those of contact pairs are in the order of
    the pairs in the state ``like``, if that is given. ``assembly`` has the model's arrays.
    """
    indices, rows = strain_indices(assembly), []
    if not len(indices):
        return np.zeros(0)
    memory = assembly.memory.fresh()
    for each in (state, state if like is None else like):
        set_branches(memory, each.branches)
        rows.append(memory.state[None].copy())
    return np.asarray(where_pairs_are(memory, *rows)[0, indices])


def rest_lengths_as_history(assembly: Assembly, start: State) -> tuple[Assembly, State]:
    """Return arrays and an initial state of the same model in which rest lengths of tendons with friction are
    history variables instead of parameters. A variable is the length that has slid through a guide minus the rest
    lengths of the segments before it. A model without such tendons is returned unchanged. ``assembly`` has the
    model's arrays, ``start`` is its initial state.

    Forces have a kink where a piece that was slack begins a step just taut: equations must not depend on parameters
    that change its rest length, which central differences would take to both sides of the kink.
    """
    system, memory = assembly.system, assembly.memory
    if not memory.counts["pieces"]:
        return assembly, start
    given = np.zeros(history_variable_count(system)) if start.branches is None else start.branches
    branches = np.array(given)
    for own, (_, force) in zip(flows(system, branches), system.forces, strict=True):
        if isinstance(force.coordinate, PiecesCoordinate):
            own -= np.cumsum(force.coordinate.pieces)
    memory = memory.with_changed_tables({"piece_start": np.zeros_like(memory["piece_start"])})
    return replace(assembly, memory=memory), replace(start, branches=branches)


def stored_pairs(memory: Memory, states: Array) -> Array:
    """Return the identification numbers of the contact pairs stored in each of the given states, shape (states,
    pairs). Pairs are those of contact groups (bodies any two of which may touch); zero marks an empty entry.
    ``memory`` contains the model's arrays."""
    return np.asarray(np.abs(memory.rows(states)["pair_bristle"].reshape(len(states), -1, PAIR)[:, :, 0]))


def pair_order(memory: Memory, source: Array, states: Array) -> IntArray:
    """Return for each entry of ``states`` the index of the same quantity in the rows of ``source``, shape (states,
    entries). It is the same index except for contact pairs, which are matched by their identification numbers; -1
    if ``source`` lacks the pair. ``memory`` contains the model's arrays."""
    order = np.tile(np.arange(source.shape[1], dtype=np.float64), (len(source), 1))
    own, wanted = stored_pairs(memory, source), stored_pairs(memory, states)
    tables = [memory.rows(order)[name].reshape(len(source), -1, size) for name, size in PAIRS]
    for k in np.flatnonzero((own != wanted).any(axis=1)):
        where = {number: row for row, number in enumerate(own[k].tolist()) if number}
        rows = np.array([where.get(number, -1) for number in wanted[k].tolist()])
        for table in tables:
            if table.size:
                table[k] = np.where(rows[:, None] >= 0, table[k][rows], -1)
    return order.astype(np.int64)


def where_pairs_are(memory: Memory, source: Array, states: Array) -> Array:
    """Return a copy of the states ``source``, shape (states, entries), in which contact pairs have the order that
    they have in ``states``. Pairs that ``source`` lacks get zeros. If the model has no contact groups, ``source``
    itself is returned. ``memory`` contains the model's arrays."""
    if not memory.counts["kept_pairs"]:
        return source
    order = pair_order(memory, source, states)
    return np.where(order >= 0, np.take_along_axis(source, order, axis=1), 0.0)
