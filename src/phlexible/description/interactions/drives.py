"""Drives: a coordinate of a joint that follows a function of time (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.algebra.fields import Name, convert_fields
from phlexible.description.interactions.functions import KinematicPair, Row, expect
from phlexible.description.ports import ModelPart, Port
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError


@dataclass(frozen=True, eq=False, repr=False)
class Drive(ModelPart):
    """Holds a coordinate of a joint at p(t), with whatever force or torque that takes.

    Made by ``joint.drive(angle=...)`` or ``joint.drive(position=...)``. Compared by identity.

    Attributes:
        joint: that is driven.
        coordinate: name of its coordinate, "angle", "position", ...
        path: p(t), its first value the coordinate at the initial pose [rad or m].
        name: key of the drive's work in the energy ledger; None: made from the joint.
    """

    joint: KinematicPair
    coordinate: str
    path: TimePath
    name: Name = None

    def __post_init__(self) -> None:
        convert_fields(self)
        expect(self, self.first, self.second)

    @property
    def first(self) -> Port:
        """Port of the joint that carries its axes."""
        return self.joint.first

    @property
    def second(self) -> Port:
        """Port of the joint that is driven."""
        return self.joint.second

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """1 row: the coordinate less p(t), or the sine of that (8.15)."""
        return (self.joint.coordinate(dimension, self.coordinate).driven_row(self.path),)

    def check_against(self, others: tuple["Drive", ...]) -> None:
        """Refuses a second drive of one coordinate.

        Raises:
            ModelError: names the drive that is there.
        """
        for other in others:
            if other.joint is self.joint and other.coordinate == self.coordinate:
                raise ModelError(
                    f"{self.coordinate} of {self.joint} is already driven by {other}; a coordinate takes"
                    " one drive (use a torque, force or spring beside it)"
                )

    def __repr__(self) -> str:
        return self.name or f"drive of {self.coordinate} in {self.joint}"
