"""What every joint is: two ports and a list of joint functions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from phlexible.errors import ModelError
from phlexible.joints.attachments import Attachment, Port
from phlexible.joints.bilinear import Row


@dataclass(frozen=True, eq=False, repr=False)
class Joint(ABC):
    """A lossless connection of two ports. Compared by identity.

    Attributes:
        first: the port whose body carries the joint's axes.
        second: the port on which reactions are reported.
    """

    first: Port
    second: Port

    @abstractmethod
    def rows(self, dimension: int) -> tuple[Row, ...]:
        """The joint functions in the plane (dimension 2) or in space (3)."""

    def __post_init__(self) -> None:
        for port in (self.first, self.second):
            if not isinstance(port, Port):
                raise ModelError(
                    f"{type(self).__name__} takes two ports such as beam.end or ground.at(...), got {port!r}"
                )
        moving = [port.placed for port in (self.first, self.second) if isinstance(port, Attachment)]
        if not moving:
            raise ModelError(f"{self} connects the ground with itself; one port must be on a body")
        if len(moving) == 2 and moving[0] is moving[1]:
            raise ModelError(f"{self} connects {moving[0].name} with itself")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.first}, {self.second})"

    def _need_orientation(self) -> None:
        self._need_orientation_of(self.first)
        self._need_orientation_of(self.second)

    def _need_orientation_of(self, port: Port) -> None:
        if not port.has_orientation:
            raise ModelError(
                f"{self}: {port} has no orientation (a point mass, a string);"
                " use Spherical or Slider, or a RigidBody"
            )
