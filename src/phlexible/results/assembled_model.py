"""Model at its closed pose, with the moves of its bodies, as returned by ``model.assemble``."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.display import short_repr

ModelType = TypeVar("ModelType", bound=Mechanism)


@dataclass(frozen=True, eq=False)
class Move:
    """Displacement and rotation of one body.

    Attributes:
        shift: of the origin, of a string the node that moved most, world axes, shape (3,) [m].
        turn: rotation vector, world axes, zero for strings, shape (3,) [rad].
    """

    shift: Array
    turn: Array

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class AssembledModel(Generic[ModelType]):
    """A model whose joints close.

    Attributes:
        model: a copy at the nearest closed pose; take handles from it by name, ``model["coupler"]``.
        moves: of every body, by name.
        gap_before: largest gap at the given pose, relative: of lengths over the largest body.
        gap_after: the same at the new pose.
    """

    model: ModelType
    moves: dict[str, Move]
    gap_before: float
    gap_after: float

    __repr__ = short_repr

    def __str__(self) -> str:
        lines = [f"joints closed: largest gap {self.gap_before:.3g} before, {self.gap_after:.1g} after (relative)"]
        for name, move in self.moves.items():
            shift, turn = float(np.linalg.norm(move.shift)), float(np.linalg.norm(move.turn))
            lines.append(f"  {name}: moved {shift:.6g} m, turned {turn:.6g} rad")
        return "\n".join(lines)


def assembled_model(before: ModelType, after: ModelType, gaps: tuple[float, float]) -> AssembledModel[ModelType]:
    """Return the result object of ``model.assemble``: the model whose joints close (``after``), for each body the
    displacement [m] and rotation vector [rad] in world axes by which it moved from ``before``, and the largest
    joint gaps of both models (relative to the largest body)."""
    moved = {placed.name: placed for placed in after.bodies}
    moves = {}
    for old in before.bodies:
        new = moved[old.name]
        if old.nodes is not None and new.nodes is not None:
            shifts = new.nodes.positions - old.nodes.positions
            moves[old.name] = Move(shifts[np.linalg.norm(shifts, axis=1).argmax()], np.zeros(3))
            continue
        turn = Rotation.from_matrix(new.rotation @ old.rotation.T).as_rotvec()
        moves[old.name] = Move(new.position - old.position, turn)
    return AssembledModel(after, moves, *gaps)
