"""Poses that a model returns: equilibria with their readings, and closed joints of ``model.assemble``."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.parts import part_counts
from phlexible.display import in_row, short_repr, table
from phlexible.errors import SlackStringWarning
from phlexible.linear.equilibria import OperatingPoint
from phlexible.linear.mechanics import linear_mechanics
from phlexible.linear.symmetric_modes import growth_rate
from phlexible.pictures.style import picture_html
from phlexible.results.motion import Motion
from phlexible.results.readings import Readings
from phlexible.state.layout import State
from phlexible.state.recorded_run import RecordedStates
from phlexible.state.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Equilibrium(Readings):
    """A model at rest under gravity, loads, springs and joints; SI units, world axes.

    What it is asked is what a motion is asked, at one instant: arrays have no axis of time, but those of section
    forces and of stresses have one of length 1. Accelerations are zero.

    Attributes:
        state: for ``simulate(initial=...)`` and ``linearize(about=...)``.
        motion: this one instant as a motion, for all that has no name here.
    """

    def __init__(self, system: System, point: OperatingPoint, recording: RecordedStates) -> None:
        self._system, self._point = system, point
        self.motion = Motion(system, recording, is_at_rest=True)
        self.run = self.motion.run

    @property
    def state(self) -> State:
        """Return the state (poses, elastic coordinates, zero velocities) of all bodies at this equilibrium."""
        return self._point.state

    @cached_property
    def growth_rate(self) -> float:
        """Return the greatest rate s at which small undamped motions about this equilibrium grow like exp(s t)
        [1/s]; 0 if the equilibrium is stable. It is computed from the linearized equations at the first call and
        cached."""
        return growth_rate(linear_mechanics(self._system, self._point)[0])

    @property
    def is_stable(self) -> bool:
        """Return whether this equilibrium is stable: no small motion that the joints allow grows when damping is
        left out."""
        return self.growth_rate == 0.0

    @property
    def instability(self) -> str:
        """Return a message that this equilibrium is unstable, with the exponential growth rate [1/s] of the
        fastest small motion and advice. The text is empty if no small motion grows. Warnings of slack strings are
        suppressed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlackStringWarning)
            rate = self.growth_rate
        if not rate:
            return ""
        return (
            f"the equilibrium is unstable: a small undamped motion grows with exp({rate:.4g} t); for a stable one"
            " start beside it (position, rotation, state=), or add a small load that says to which side it falls"
        )

    @property
    def slipped(self) -> tuple[str, ...]:
        """Return the names of contacts and joints whose friction is at its limit in this equilibrium, so that they
        would slip."""
        return self._point.slipped

    @property
    def potential_energy(self) -> float:
        """Return the potential energy of the mechanism at this equilibrium [J]: strain energy of the bodies,
        energy of springs and gravity."""
        return float(self.motion.energy.total[0])

    def plot(self, path: str | PathLike[str] | None = None, scale: float = 1.0) -> "Figure":
        """Return a figure of the deformed mechanism at this equilibrium, and write it to the file ``path`` unless
        that is None. ``scale`` multiplies the elastic deformations in the picture."""
        return self.motion.plot_mechanism([self.state.time], path, scale)

    @property
    def _stability(self) -> str:
        return f"unstable, grows with exp({self.growth_rate:.3g} t)" if self.growth_rate else "stable"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the mechanism in this equilibrium beside a table. The table has
        the stability, the potential energy [J], and the names of slipping contacts if there are any."""
        rows = [
            ("stability", self._stability),
            ("potential energy", f"{self.potential_energy:.6g} J"),
            *([("slipped", ", ".join(self.slipped))] if self.slipped else []),
        ]
        title = f"Equilibrium of {part_counts(self.motion.mechanism)}"
        return in_row(picture_html(self.plot, "the mechanism at rest"), table(rows, title=title))

    def __repr__(self) -> str:
        slipped = f"; slipped: {', '.join(self.slipped)}" if self.slipped else ""
        return f"Equilibrium({self._stability}{slipped}, {self.motion.mechanism!r})"

    def _shown(self, values: Array) -> Array:
        return np.asarray(values[0])


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
    """Return the result of ``model.assemble``: the model ``after``, whose joints close, and by name the
    displacement [m] and rotation vector [rad] of each body from the model ``before``, in world axes. For a string
    or soft body it is the largest displacement of a node. ``gaps`` are the largest joint gaps before and after,
    relative to the largest body."""
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
