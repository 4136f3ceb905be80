"""What a controller can measure beside whole joints and attachments: sensors, which live above."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import Enum

from phlexible.algebra.arrays import Array
from phlexible.interactions.pair import KinematicPair
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_whole import PlacedWhole

Source = KinematicPair | Attachment


class Availability(Enum):
    """When a measurement has a value: at each instant, of fixed length; or only later, or of another length."""

    AT_ONCE = "at once"
    LATER = "only of a motion"
    NO_FIXED_COUNT = "not of a fixed count of numbers"


@dataclass(frozen=True, eq=False)
class QuickShare:
    """A measurement that is ``weights @ numbers - offset`` of what is measured at a joint or attachment.

    Attributes:
        source: the joint (each coordinate and its rate) or the attachment (place, velocity).
        weights: shape (count, numbers of the source).
        offset: shape (count,).
    """

    source: Source
    weights: Array
    offset: Array


class Measurement(ABC):
    """A quantity that controllers can measure."""

    @property
    @abstractmethod
    def availability(self) -> Availability:
        """Whether controllers can have it."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Of its numbers."""

    @property
    def quick(self) -> QuickShare | None:
        """How compiled code measures it; None: it is read from the whole state."""
        return None

    def continued(self, before: Array, now: Array) -> Array:
        """Values without the jumps that a single instant cannot know of, such as full turns; shape (count,)."""
        return now

    @property
    def places(self) -> tuple[Source | PlacedWhole, ...]:
        """Joints, attachments and bodies that it sits on, for checks."""
        values = [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]
        found: list[Source | PlacedWhole] = []
        for value in values:
            if isinstance(value, PlacedBody):
                found.append(value.origin)
            elif isinstance(value, KinematicPair | Attachment | PlacedWhole):
                found.append(value)
        return tuple(found)
