"""Sensors in bodies and of the whole: section forces, stresses, tensions, energies."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array, finite
from phlexible.algebra.options import option
from phlexible.errors import ModelError
from phlexible.interactions.control.measurement import Availability
from phlexible.observables import section_forces, tension
from phlexible.observables.energy import energy_of
from phlexible.observables.reader import Reader
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_whole import PlacedWhole
from phlexible.sensors.sensor import Sensor

FORCES = ("normal", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")


@dataclass(frozen=True, eq=False)
class _Station(Sensor):
    body: PlacedBody | PlacedWhole
    x: float

    def __post_init__(self) -> None:
        if not isinstance(self.body, PlacedBody | PlacedWhole):
            raise ModelError(f"{type(self).__name__} takes a beam of the model, got {self.body!r}")
        object.__setattr__(self, "x", finite("x", self.x))


class SectionForce(_Station):
    """Normal force, shear, torsion and bending moments at one station of a beam, shape (N + 1, 6) [N, N m].

    Attributes:
        body: the beam.
        x: along it [m].
    """

    def __str__(self) -> str:
        return f"section force of {self.body.name} at {self.x:g}"

    @property
    def unit(self) -> str:
        """Forces, then moments."""
        return "N or N m"

    @property
    def components(self) -> tuple[str, ...]:
        """Those of ``SectionForces``."""
        return FORCES

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 6)."""
        found = section_forces.section_forces(reader.run, lambda: reader.velocities, self.body, [self.x])
        return np.stack([getattr(found, name)[:, 0] for name in FORCES], axis=1)


class Stress(_Station):
    """Normal stress of greatest size over the section of a beam at one station, with its sign, shape (N + 1,) [Pa].

    Attributes:
        body: the beam.
        x: along it [m].
    """

    def __str__(self) -> str:
        return f"stress of {self.body.name} at {self.x:g}"

    @property
    def unit(self) -> str:
        """Pascals."""
        return "Pa"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        found = section_forces.stress(reader.run, lambda: reader.velocities, self.body, [self.x], None)
        high, low = found.greatest[:, 0], found.smallest[:, 0]
        return np.where(np.abs(high) >= np.abs(low), high, low)


@dataclass(frozen=True, eq=False)
class Tension(Sensor):
    """Tension at the quadrature points of a string, shape (N + 1, points) [N].

    Attributes:
        string: of the model.
    """

    string: PlacedBody

    def __post_init__(self) -> None:
        if not isinstance(self.string, PlacedBody) or not self.string.is_string:
            raise ModelError(f"Tension takes a string of the model, got {self.string!r}")

    def __str__(self) -> str:
        return f"tension of {self.string.name}"

    @property
    def unit(self) -> str:
        """Newtons."""
        return "N"

    @property
    def availability(self) -> Availability:
        """As many as the string has points."""
        return Availability.NO_FIXED_COUNT

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, points)."""
        return tension.tension(reader.run, self.string)


class EnergyKind(Enum):
    """Parts of the ledger."""

    KINETIC = "kinetic"
    STRAIN = "strain"
    SPRING = "spring"
    GRAVITY = "gravity"
    TOTAL = "total"
    SUPPLIED = "supplied"
    DISSIPATED = "dissipated"


@dataclass(frozen=True, eq=False)
class EnergyOf(Sensor):
    """An energy of the whole model, shape (N + 1,) [J].

    Attributes:
        kind: "kinetic", "strain", "spring", "gravity", "total", "supplied" or "dissipated".

    Raises:
        ParameterError: another word.
    """

    kind: EnergyKind | str = EnergyKind.TOTAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", option("kind", self.kind, EnergyKind))

    def __str__(self) -> str:
        return f"{option('kind', self.kind, EnergyKind).value} energy"

    @property
    def unit(self) -> str:
        """Joules."""
        return "J"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        value: Array = getattr(energy_of(reader.run.recording), option("kind", self.kind, EnergyKind).value)
        return value
