"""Force elements as the arrays of the kernels: laws, numbers, addresses of users' potentials."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.interactions.coordinates import AngleCoordinate, Coordinate, DistanceCoordinate
from phlexible.interactions.force_elements import CoordinateForce, ForceElement, ForceValue
from phlexible.kernels.arrays import ForceArrays
from phlexible.kernels.tables import ANGLE, DISTANCE, POSITION
from phlexible.kernels.user_function import UserFunction, user_function
from phlexible.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class ScalarForce:
    """One scalar force and the element that it belongs to."""

    element: ForceElement
    force: CoordinateForce

    @property
    def is_prescribed(self) -> bool:
        """Whether it has a prescribed part."""
        return not (isinstance(self.force.value, int | float) and self.force.value == 0)


def scalar_forces(mechanism: Mechanism) -> list[ScalarForce]:
    """The scalar forces of all elements, in the order of the links."""
    return [
        ScalarForce(element, force)
        for element in mechanism.elements
        for force in element.forces(mechanism.dimension)
    ]


def law_of(coordinate: Coordinate) -> int:
    """How the kernels read a coordinate from its functions."""
    match coordinate:
        case AngleCoordinate():
            return ANGLE
        case DistanceCoordinate():
            return DISTANCE
        case _:
            return POSITION


@dataclass(frozen=True, eq=False)
class ForceTable:
    """Numbers of scalar forces.

    Attributes:
        arrays: for the kernels.
        values: prescribed parts, in the order of their load values.
        labels: what each prescribed part belongs to, for messages.
        functions: compiled potentials, which must live as long as the addresses are used.
    """

    arrays: ForceArrays
    values: tuple[ForceValue, ...]
    labels: tuple[str, ...]
    functions: tuple[UserFunction, ...]


def force_table(forces: Sequence[ScalarForce], loads: int) -> ForceTable:
    """The table; prescribed parts follow the values of ``loads`` loads."""
    functions: list[UserFunction] = []
    energy, slope, value = (np.zeros(len(forces), dtype=np.int64) for _ in range(3))
    values: list[ForceValue] = []
    labels: list[str] = []
    for k, each in enumerate(forces):
        if (potential := each.force.potential) is not None:
            sample = float(np.mean(potential.around))
            pair = user_function(potential.energy, sample), user_function(potential.slope, sample)
            energy[k], slope[k] = (function.address for function in pair)
            functions += pair
        value[k] = -1
        if each.is_prescribed:
            value[k] = loads + len(values)
            values.append(each.force.value)
            labels.append(str(each.element))
    arrays = ForceArrays(
        np.array([each.force.stiffness for each in forces], dtype=np.float64),
        np.array([each.force.damping for each in forces], dtype=np.float64),
        np.array([each.force.rest for each in forces], dtype=np.float64),
        energy,
        slope,
        value,
    )
    return ForceTable(arrays, tuple(values), tuple(labels), tuple(functions))
