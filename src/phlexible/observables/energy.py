"""The energy ledger: what is stored, what loads and drives supplied, what was lost."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, hold_read_only
from phlexible.display.html import Html, sparkline, table
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

    def __post_init__(self) -> None:
        hold_read_only(self)

    def __repr__(self) -> str:
        least, most = float(self.total.min()), float(self.total.max())
        return f"Energy({len(self.kinetic)} instants, total {least:.6g} to {most:.6g} J)"

    def _repr_html_(self) -> str:
        """For notebooks: each energy at the start and at the end, its extremes and its curve."""
        parts = {name: getattr(self, name) for name in ("kinetic", "strain", "spring", "gravity", "total")}
        parts |= {f"work of {name}": work for name, work in self.work.items()}
        parts |= {"dissipated": self.dissipated, "balance error": self.balance_error}
        rows: list[tuple[str | Html, ...]] = [
            (name, *(f"{x:.5g}" for x in (e[0], e[-1], e.min(), e.max())), sparkline(e, f"{name} over time"))
            for name, e in parts.items()
            if e.any() or name == "total"
        ]
        return table(rows, ("[J]", "start", "end", "least", "greatest", ""))

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


NEGLIGIBLE = 1e-6
"""Of the greatest energy: a strain energy that changes less says nothing about when a run is worth looking at."""


def busiest(recording: Recording) -> int:
    """Number of the instant of greatest strain energy, or of greatest kinetic energy where little deforms."""
    strain, kinetic = recording.strain, recording.kinetic
    largest = max(float(np.abs(strain).max()), float(kinetic.max()))
    return int(np.argmax(strain if np.ptp(strain) > NEGLIGIBLE * largest else kinetic))
