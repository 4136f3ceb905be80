"""What inputs and outputs of a linear model are inside: named rows with units."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.loads import PointLoad
from phlexible.port_hamiltonian.model import Port
from phlexible.system.forces import acting
from phlexible.system.instants import Instants
from phlexible.system.state_laws import coordinate_row
from phlexible.system.system import System


@dataclass(frozen=True, eq=False)
class SignalRow:
    """A named linear function of the small motions x or of their rates.

    Attributes:
        name: for state spaces and plots.
        row: shape (sum of velocity counts,); as an input column the unit force in each coordinate.
        is_angular: in rad and N m instead of m and N.
        differentiations: 0: of x, 1: of dx/dt, 2: of d2x/dt2.
    """

    name: str
    row: Array
    is_angular: bool
    differentiations: int = 1

    @property
    def unit(self) -> str:
        """Of the output."""
        return ("rad" if self.is_angular else "m") + ("", "/s", "/s^2")[self.differentiations]

    @property
    def port(self) -> Port:
        """The input with its power-conjugate output."""
        units = ("N m", "rad/s") if self.is_angular else ("N", "m/s")
        return Port(self.name, *units, 1)


@dataclass(frozen=True, eq=False)
class SignalPoint:
    """An operating point, where signals are rows over the small motions.

    Attributes:
        system: what moves.
        at: the state.
        motion: dq of all carriers from x (``small_motions``).
    """

    system: System
    at: Instants
    motion: sparse.csr_array

    def load_row(self, load: PointLoad) -> Array:
        """The generalized forces of a load at rest, shape (velocities,)."""
        total = np.zeros(self.motion.shape[0])
        for entry in load.entries():
            vectors, forces = acting(self.system, self.at, entry, entry.at_time(0.0))
            total += vectors.jacobian(self.at).T @ forces.ravel()
        return np.asarray(self.motion.T @ total)

    def coordinate_row(self, coordinate: Coordinate) -> Array:
        """d theta/dx, shape (velocities,)."""
        return np.asarray(self.motion.T @ coordinate_row(self.system, self.at, coordinate)[0])
