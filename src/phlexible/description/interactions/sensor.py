"""Base class of all sensors; the sensors are in ``measure``, where runs can be read."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from types import UnionType
from typing import Any, ClassVar, TypeAlias

from phlexible.algebra.arrays import Array, convert_fields
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ModelError

Source: TypeAlias = KinematicPair | Attachment
"""What controllers can measure beside sensors."""

LinearReading: TypeAlias = tuple[Source, Array, Array]
"""A source, weights (count, numbers of the source) and offset (count,): ``weights @ numbers - offset``.

The numbers of a joint are each coordinate and its rate, those of an attachment its position and velocity.
"""


class Sensor(ABC):
    """A measurable quantity of a model; ``motion[sensor]`` returns its recorded values.

    A subclass is a frozen dataclass whose first field is the part that the quantity belongs to. It defines
    everything about the quantity: how it is read from states, its rows in a linear model, its share in a
    controller.
    """

    takes: ClassVar[tuple[type | UnionType, str]]
    """Classes of the first field, and the words for them in messages."""
    label: ClassVar[str]
    """The quantity in words."""
    differentiations: ClassVar[int] = 0
    """How often it is differentiated in time: 0 of places, 1 of velocities, 2 of accelerations."""
    is_energy: ClassVar[bool] = False
    """Whether it takes the energies of a state, which are polynomials of degree four in stiff directions."""

    def __post_init__(self) -> None:
        kinds, words = self.takes
        if not isinstance(self._measured_object, kinds):
            name = fields(self)[0].name  # type: ignore[arg-type]  # of dataclasses
            raise ModelError(f"{type(self).__name__}: {name} must be {words}, got {self._measured_object!r}")
        convert_fields(self)

    def __str__(self) -> str:
        subject = self._measured_object
        return f"{self.label} of {subject.name if isinstance(subject, PlacedBody | PlacedWhole) else subject}"

    @property
    @abstractmethod
    def unit(self) -> str:
        """Return the SI unit of a sensor's values as text, "1" for numbers without unit (abstract: each kind of
        sensor defines it)."""

    @abstractmethod
    def read(self, run: Any) -> Array:
        """Return the values of a sensor at all recorded instants of ``run``, a ``RecordedRun``. Their shape is
        (instants,), or (instants, components). The method is abstract: each kind of sensor defines it."""

    def rows(self, point: Any) -> Iterator[tuple[str, str, Array]]:
        """Yield name, unit and linear map of each component of a sensor in a linear model. The map is a row of
        shape (velocities,) that multiplies small motions about the pose ``point``. This default raises ModelError,
        for sensors without a linear map.

        The output is the row times the small motions, differentiated ``differentiations`` times.

        Raises:
            ModelError: a quantity that linear models do not have, or one of another model.
        """
        raise ModelError(f"outputs are sensors such as Velocity(beam.end), got {self!r}")

    @property
    def linear_reading(self) -> LinearReading | None:
        """Return this sensor's value as a linear function of its point or joint, which compiled code can evaluate
        within a time step. The result has the source (a point of a body or a joint), weights of its values and
        rates, and an offset. This default returns None, for sensors that need the whole state."""
        return None

    @property
    def components(self) -> tuple[str, ...]:
        """Return the names of a sensor's components; empty if it measures a single number at each instant."""
        return ()

    @property
    def is_of_motion(self) -> bool:
        """Return whether the values of a sensor are those of a motion only, known after later steps. This holds for
        sensors that differentiate the motion twice (accelerations)."""
        return self.differentiations == 2

    @property
    def count(self) -> int:
        """Return the number of values that a sensor measures at an instant: one, or the number of its
        components."""
        return max(1, len(self.components))

    def unwrapped(self, before: Array, now: Array) -> Array:
        """Return the new values ``now`` of a sensor, shape (count,), without jumps from the values ``before``.
        Sensors of angles add full turns; this default returns ``now`` unchanged."""
        return now

    @property
    def _measured_object(self) -> Any:
        """Return the object that a sensor measures (body, point of a body or joint), which is the value of its
        first dataclass field; None without fields."""
        return next((getattr(self, each.name) for each in fields(self)), None)  # type: ignore[arg-type]
