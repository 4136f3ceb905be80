"""Pose in which all forces balance, with the readings of a motion at one instant."""

import warnings
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.mechanism.parts import part_counts
from phlexible.display import in_row, table
from phlexible.errors import SlackStringWarning
from phlexible.linear.equilibria import OperatingPoint
from phlexible.linear.mechanics import linear_mechanics
from phlexible.linear.symmetric_modes import growth_rate
from phlexible.pictures.style import picture_html
from phlexible.results.motion import Motion
from phlexible.results.readings import Readings
from phlexible.state.layout import State
from phlexible.state.recording import RecordedStates
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
        """State (poses, elastic coordinates, zero velocities) of all bodies at this equilibrium."""
        return self._point.state

    @cached_property
    def growth_rate(self) -> float:
        """Greatest rate s at which small undamped motions about this equilibrium grow like exp(s t) [1/s]; 0 where
        the equilibrium is stable."""
        return growth_rate(linear_mechanics(self._system, self._point)[0])

    @property
    def is_stable(self) -> bool:
        """Whether this equilibrium is stable: no small motion that the joints allow grows when damping is left
        out."""
        return self.growth_rate == 0.0

    @property
    def instability(self) -> str:
        """Message that this equilibrium is unstable, with the growth rate and advice; empty text where it is
        stable."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlackStringWarning)
            rate = self.growth_rate
        if not rate:
            return ""
        return (
            f"the equilibrium is unstable: a small motion grows with exp({rate:.4g} t); for a stable one start"
            " beside it (position, rotation, state=), or add a small load that says to which side the model falls"
        )

    @property
    def slipped(self) -> tuple[str, ...]:
        """Names of contacts and joints whose friction is at its limit in this equilibrium, so that they would
        slip."""
        return self._point.slipped

    @property
    def potential_energy(self) -> float:
        """Potential energy of the mechanism at this equilibrium [J]: strain energy of the bodies, energy of springs
        and gravity."""
        return float(self.motion.energy.total[0])

    def plot(self, path: str | PathLike[str] | None = None, scale: float = 1.0) -> "Figure":
        """Return a figure of the deformed mechanism at this equilibrium, also written to ``path`` if one is given;
        ``scale`` enlarges the deformations."""
        return self.motion.plot_mechanism([self.state.time], path, scale)

    @property
    def _stability(self) -> str:
        return f"unstable, grows with exp({self.growth_rate:.3g} t)" if self.growth_rate else "stable"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of this equilibrium beside a table of its stability, potential
        energy and slipping contacts."""
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
