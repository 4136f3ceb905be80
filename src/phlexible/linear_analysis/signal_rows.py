"""What inputs and outputs of a linear model are inside: named rows with units."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.bilinear import Vector
from phlexible.interactions.loads import PointLoad
from phlexible.port_hamiltonian.model import Port
from phlexible.system.kinematics import Kinematics
from phlexible.system.load_forces import vector_forces
from phlexible.system.state import Layout


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


def load_row(layout: Layout, kinematics: Kinematics, load: PointLoad) -> Array:
    """The generalized forces of a load at rest, shape (sum of velocity counts,)."""
    return vector_row(layout, kinematics, vector_forces(load, kinematics, 0.0))


def vector_row(layout: Layout, kinematics: Kinematics, forces: Iterable[tuple[Vector, Array]]) -> Array:
    """The generalized forces of forces (3,) on world vectors; those on the ground do nothing."""
    row = np.zeros(int(layout.velocity[-1]))
    for vector, force in forces:
        motion = kinematics.motion(vector)
        if motion.body is not None:
            begin, end = layout.velocity[motion.body : motion.body + 2]
            row[begin:end] += motion.jacobian.T @ force
    return row
