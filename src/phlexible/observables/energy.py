"""The energy ledger: what is stored, what loads and drives supplied, what was lost."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.system.recording import Recording


@dataclass(frozen=True, eq=False)
class Energy:
    """Energies at the stored instants, each of shape (N + 1,) [J].

    Attributes:
        kinetic: of all bodies.
        strain: elastic energy of all bodies.
        spring: energy of springs between bodies.
        gravity: potential energy of weight, zero for masses at the world origin.
        work: done since t = 0 by each load and drive, by its name.
        dissipated: lost since t = 0 in damping.
    """

    kinetic: Array
    strain: Array
    spring: Array
    gravity: Array
    work: dict[str, Array]
    dissipated: Array

    @property
    def total(self) -> Array:
        """What is stored: kinetic + strain + spring + gravity."""
        return np.asarray(self.kinetic + self.strain + self.spring + self.gravity)

    @property
    def supplied(self) -> Array:
        """Work of all loads and drives since t = 0."""
        return np.asarray(np.sum([np.zeros_like(self.kinetic), *self.work.values()], axis=0))

    @property
    def balance_error(self) -> Array:
        """total - total at t = 0 - supplied + dissipated; zero up to the tolerance of the solver."""
        return np.asarray(self.total - self.total[0] - self.supplied + self.dissipated)


def energy_of(recording: Recording) -> Energy:
    """The ledger of a recording."""
    return Energy(
        recording.kinetic,
        recording.strain,
        recording.spring,
        recording.gravity,
        dict(zip(recording.work_names, recording.work.T, strict=True)),
        recording.dissipated,
    )
