"""Sensors in joints: their coordinates, rates, and what they transmit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import option, whole
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.control.measurement import Availability, QuickShare
from phlexible.interactions.drives import Drive
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Axes
from phlexible.joints.joint import Joint
from phlexible.observables import coordinates, reactions
from phlexible.observables.reader import Reader
from phlexible.sensors.points import XYZ
from phlexible.sensors.sensor import Sensor


@dataclass(frozen=True, eq=False)
class JointSensor(Sensor):
    """A motion in a joint, of the second port relative to the first.

    Attributes:
        joint: of the model.
        coordinate: which of its coordinates, from 0; None: all of them. Sliding comes before turning:
            Revolute: angle. Prismatic, Slider: displacement. Cylindrical: displacement, angle. Planar: two
            displacements, angle. Universal: angles about ``axis`` and ``second_axis``. Spherical:
            of linear models small turns about the world axes (in the plane about z). Fixed, Distance: none.

    Raises:
        ModelError: no joint.
        ParameterError: a coordinate that is no number from 0 on.
    """

    joint: Joint
    coordinate: int | None = None

    differentiations: ClassVar[int]
    label: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} sits in a joint, got {self.joint!r}")
        check_coordinate(self.coordinate)

    def __str__(self) -> str:
        number = "" if self.coordinate is None else f" {self.coordinate}"
        return f"{self.label}{number} of {self.joint}"

    @property
    def unit(self) -> str:
        """Of an angle where the coordinate is one, else of a length; "rad or m" of both."""
        names = self.joint.coordinate_names
        own = names if self.coordinate is None else names[self.coordinate : self.coordinate + 1]
        kinds = {"rad" if "angle" in name else "m" for name in own}
        rate = ("", "/s", "/s2")[self.differentiations]
        return " or ".join(sorted(kind + rate for kind in kinds)) or "1"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(self.joint.coordinate_names) if self.coordinate is None else ()

    @property
    def availability(self) -> Availability:
        """Accelerations are differences of a motion."""
        return Availability.LATER if self.differentiations == 2 else Availability.AT_ONCE

    @property
    def quick(self) -> QuickShare | None:
        """Some of what is measured of the joint; coordinates beyond its own are refused when they are read."""
        if self.availability is not Availability.AT_ONCE:
            return None
        total = len(self.joint.coordinate_names)
        chosen = range(total) if self.coordinate is None else [self.coordinate]
        if not total or max(chosen) >= total:
            return None
        weights = np.zeros((len(chosen), 2 * total))
        weights[range(len(chosen)), [2 * k + self.differentiations for k in chosen]] = 1.0
        return QuickShare(self.joint, weights, np.zeros(len(chosen)))

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,) of one coordinate, else (N + 1, coordinates).

        Raises:
            ModelError: a joint of another model, or one without coordinates.
            ParameterError: a number beyond them.
        """
        run = reader.run
        own = run.mechanism.joints[run.joint_index(self.joint)].coordinates(run.system.dimension)
        if not own:
            raise ModelError(f"{self.joint} leaves no coordinate free that could be measured")
        if self.coordinate is not None and self.coordinate >= len(own):
            raise ParameterError(f"coordinate must be below {len(own)} for {self.joint}, got {self.coordinate}")
        chosen = own if self.coordinate is None else [own[self.coordinate]]
        if self.differentiations == 0:
            values = [coordinates.coordinate_values(run, each) for each in chosen]
        else:
            values = [coordinates.coordinate_rates(run, reader.velocities, each) for each in chosen]
        if self.differentiations == 2:
            values = [reader.rate(each) for each in values]
        return values[0] if len(own) == 1 or self.coordinate is not None else np.stack(values, axis=1)


class JointPosition(JointSensor):
    """Angle over full turns [rad] or displacement [m]; of linear models from the operating point."""

    differentiations = 0
    label = "position"


class JointRate(JointSensor):
    """Its rate [rad/s, m/s]."""

    differentiations = 1
    label = "rate"


class JointAcceleration(JointSensor):
    """Its second rate [rad/s^2, m/s^2]; of motions by differences of second order between stored instants."""

    differentiations = 2
    label = "acceleration"


def check_coordinate(coordinate: int | None) -> None:
    """Refuses what is no number of a coordinate.

    Raises:
        ParameterError: naming it.
    """
    if coordinate is not None:
        whole("coordinate", coordinate, least=0)


@dataclass(frozen=True, eq=False)
class Reaction(Sensor):
    """Force of a joint on its second attachment, shape (N + 1, 3) [N].

    Attributes:
        joint: of the model.
        axes: "world", or "body": those of the material at the second attachment.

    Raises:
        ModelError: no joint.
        ParameterError: other axes.
    """

    joint: Joint
    axes: Axes | str = Axes.WORLD

    label: ClassVar[str] = "reaction"

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} takes a joint, got {self.joint!r}")
        object.__setattr__(self, "axes", option("axes", self.axes, Axes))

    def __str__(self) -> str:
        return f"{self.label} of {self.joint}"

    @property
    def unit(self) -> str:
        """Newtons."""
        return "N"

    @property
    def components(self) -> tuple[str, ...]:
        """The axes."""
        return XYZ

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 3)."""
        return self._in_axes(reader, reactions.reaction(reader.run, self.joint, reader.multipliers)[0])

    def _in_axes(self, reader: Reader, vectors: Array) -> Array:
        return reactions.in_axes(reader.run, self.joint, vectors, option("axes", self.axes, Axes))


class ReactionMoment(Reaction):
    """Its moment about the point of the second attachment, shape (N + 1, 3) [N m]."""

    label = "reaction moment"

    @property
    def unit(self) -> str:
        """Newton metres."""
        return "N m"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 3)."""
        return self._in_axes(reader, reactions.reaction(reader.run, self.joint, reader.multipliers)[1])


@dataclass(frozen=True, eq=False)
class ElementForce(Sensor):
    """Force or torque of a spring, damper, motor or drive along its coordinate, shape (N + 1,) [N or N m].

    Attributes:
        element: of the model; of a ``Bushing`` there are several forces.

    Raises:
        ModelError: something else.
    """

    element: ForceElement | Drive

    def __post_init__(self) -> None:
        if not isinstance(self.element, ForceElement | Drive):
            raise ModelError(f"ElementForce takes a spring, damper, motor or drive, got {self.element!r}")

    def __str__(self) -> str:
        return f"force of {self.element}"

    @property
    def unit(self) -> str:
        """Of a force or a moment."""
        return "N or N m"

    @property
    def availability(self) -> Availability:
        """Of a ``Bushing`` there are several."""
        return Availability.NO_FIXED_COUNT

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,), or (N + 1, forces)."""
        return reactions.element_force(reader.run, self.element, lambda: reader.multipliers)
