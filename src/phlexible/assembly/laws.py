"""Laws of forces as numbers: coordinates, stored energies, dampers, prescribed parts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.assembly.bands import Tables
from phlexible.bodies.absolute_body import QuadraticStrains
from phlexible.bodies.string.law import LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw
from phlexible.bodies.string.user_law import Law
from phlexible.compilation.user_function import UserFunction, user_function
from phlexible.interactions.coordinates import AngleCoordinate, Coordinate, DistanceCoordinate
from phlexible.interactions.force_elements import CoordinateForce
from phlexible.interactions.resisting.gaps import RoundedCoordinate, RubbingCoordinate, SegmentCoordinate
from phlexible.interactions.resisting.one_sided import Coulomb, OneSided
from phlexible.joints.rolling import RollingCoordinate
from phlexible.tables.declarations import (
    ANGLE,
    CONSTRAINT,
    CONTACT,
    DISTANCE,
    ELASTIC,
    LINEAR,
    LOGARITHMIC,
    POSITION,
    ROLLING,
    ROUNDED,
    SEGMENT,
    SERVO,
    SPRING,
    ST_VENANT_KIRCHHOFF,
    USER_LAW,
)

ENERGIES: dict[type[StringLaw], int] = {
    LogarithmicLaw: LOGARITHMIC,
    LinearLaw: LINEAR,
    StVenantKirchhoffLaw: ST_VENANT_KIRCHHOFF,
    Law: USER_LAW,
}
"""Stored energies of strings by the number that the kernels know them by."""

PLACES = 17


@dataclass(frozen=True)
class ForceData:
    """A law along one coordinate.

    Attributes:
        coordinate: POSITION .. SEGMENT.
        energy: SPRING .. ELASTIC, which is a spring's and counts as strain, or SERVO.
        stiffness, damping, rest: of spring and damper; of a string EA and tau EA / 4.
        modulus: what numerical damping multiplies.
        weight: measure of a string's strain.
        energy_size: of a user's energy, for its round-off.
        functions: users' energy and its slope.
        value: number among the prescribed forces, or -1.
        contact: of a one-sided force.
        friction: along the coordinate, or across the contact.
        row: whose multiplier pulls on the coordinate, or -1.
        factor: of the coordinate in that row.
        radius: of a wheel that rolls.
        slip: how the touching places of a contact slide, where there is friction of this kind.
        bearing: the constraint whose force makes friction, and how many of its rows are of this force; or None.
    """

    coordinate: int
    energy: int
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    modulus: float = 0.0
    weight: float = 1.0
    energy_size: float = 0.0
    functions: tuple[UserFunction, UserFunction] | None = None
    value: int = -1
    contact: OneSided | None = None
    friction: Coulomb | None = None
    row: int = -1
    factor: float = 0.0
    slip: RubbingCoordinate | None = None
    radius: float = 0.0
    bearing: tuple[int, int] | None = None


def coordinate_kind(coordinate: Coordinate) -> int:
    """How the kernels read a coordinate from its functions."""
    match coordinate:
        case RubbingCoordinate():
            return coordinate_kind(coordinate.gap)
        case RoundedCoordinate():
            return ROUNDED
        case SegmentCoordinate():
            return SEGMENT
        case RollingCoordinate():
            return ROLLING
        case AngleCoordinate():
            return ANGLE
        case DistanceCoordinate():
            return DISTANCE
        case _:
            return POSITION


def zones_of(coordinate: Coordinate) -> dict[int, float]:
    """Of the functions of a rounded coordinate, by their numbers [m]."""
    own = coordinate.gap if isinstance(coordinate, RubbingCoordinate) else coordinate
    return dict(enumerate(own.zones)) if isinstance(own, RoundedCoordinate) else {}


def element_law(force: CoordinateForce, value: int, bearing: tuple[int, int] | None = None) -> ForceData:
    """The law of an element's force; ``value``: number of its prescribed part, or -1."""
    functions, size = None, 0.0
    if force.potential is not None:
        places = np.linspace(*force.potential.around, PLACES)
        size = max(abs(force.potential.energy_at(float(place))) for place in places)
        sample = float(np.mean(force.potential.around))
        functions = (
            user_function(force.potential.energy, sample),
            user_function(force.potential.slope, sample),
        )
    return ForceData(
        coordinate_kind(force.coordinate),
        _energy_kind(force),
        force.stiffness if force.contact is None else force.contact.stiffness,
        force.damping,
        force.rest,
        modulus=force.stiffness if force.is_strain else 0.0,
        energy_size=size,
        functions=functions,
        value=value,
        contact=force.contact,
        friction=force.friction,
        slip=force.coordinate if isinstance(force.coordinate, RubbingCoordinate) else None,
        bearing=bearing,
    )


def _energy_kind(force: CoordinateForce) -> int:
    if force.contact is not None:
        return CONTACT
    return SERVO if force.is_servo else ELASTIC if force.is_strain else SPRING


class StrainLaws:
    """Laws of strings, each with its users' functions once."""

    def __init__(self) -> None:
        self._known: dict[StringLaw, tuple[UserFunction, UserFunction]] = {}

    def of(self, group: QuadraticStrains, weight: float) -> ForceData:
        """The law of one strain of a group."""
        law, functions = group.law, None
        if isinstance(law, Law):
            if law not in self._known:
                self._known[law] = (user_function(law.W), user_function(law.dW))
            functions = self._known[law]
        quarter = law.modulus / 4 * weight
        return ForceData(
            POSITION,
            ENERGIES[type(law)],
            law.modulus,
            group.viscosity * quarter,
            modulus=quarter,
            weight=weight,
            energy_size=law.modulus,
            functions=functions,
        )


def law_tables(laws: Sequence[ForceData], constraints: int, loads: int) -> Tables:
    """The tables of all forces; prescribed parts follow the values of ``loads`` loads."""
    coordinates = [CONSTRAINT] * constraints + [law.coordinate for law in laws]
    addresses = [(0, 0) if f is None else (f[0].address, f[1].address) for f in (law.functions for law in laws)]
    table = np.array(addresses, dtype=np.int64).reshape(-1, 2)
    return {
        "coordinate_of": np.array(coordinates, dtype=np.int64),
        "energy_of": np.array([law.energy for law in laws], dtype=np.int64),
        "energy_address": table[:, 0],
        "slope_address": table[:, 1],
        "force_value": np.array([law.value + loads if law.value >= 0 else -1 for law in laws], dtype=np.int64),
        "force_stiffness": np.array([law.stiffness for law in laws], dtype=np.float64),
        "force_damping": np.array([law.damping for law in laws], dtype=np.float64),
        "force_rest": np.array([law.rest for law in laws], dtype=np.float64),
        "force_modulus": np.array([law.modulus for law in laws], dtype=np.float64),
        "force_weight": np.array([law.weight for law in laws], dtype=np.float64),
        "push_side": np.array([law.contact.side if law.contact else 0.0 for law in laws], dtype=np.float64),
        "push_exponent": np.array([law.contact.exponent if law.contact else 1.0 for law in laws], dtype=np.float64),
        "push_damping": np.array([law.contact.damping if law.contact else 0.0 for law in laws], dtype=np.float64),
        "friction": np.array([law.friction.level if law.friction else 0.0 for law in laws], dtype=np.float64),
        "friction_speed": np.array([law.friction.speed if law.friction else 1.0 for law in laws], dtype=np.float64),
        "bearing": np.array([law.bearing[0] if law.bearing else -1 for law in laws], dtype=np.int64),
        "bearing_rows": np.array([law.bearing[1] if law.bearing else 0 for law in laws], dtype=np.int64),
        "bearing_share": np.array([law.friction.share if law.friction else 0.0 for law in laws], dtype=np.float64),
        "slip_points": np.array([law.slip.points if law.slip else 0 for law in laws], dtype=np.int64),
        "slip_turning": np.array([law.slip.turning if law.slip else 0 for law in laws], dtype=np.int64),
        "slip_radius": np.array([law.slip.radius if law.slip else law.radius for law in laws], dtype=np.float64),
        "force_row": np.array([law.row for law in laws], dtype=np.int64),
        "force_factor": np.array([law.factor for law in laws], dtype=np.float64),
        "force_energy": np.array([law.energy_size for law in laws], dtype=np.float64),
    }
