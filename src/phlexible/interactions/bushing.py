"""Bushing: an elastic and viscous connection in all six components."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.options import optional_text
from phlexible.errors import ModelError
from phlexible.interactions.coordinates import SineCoordinate, position_along
from phlexible.interactions.force_elements import CoordinateForce, ForceElement, three_numbers
from phlexible.interactions.functions import AXES, DirectionOf
from phlexible.interactions.pair import check_ports, expect
from phlexible.ports.attachments import Port


@dataclass(frozen=True, eq=False, repr=False)
class Bushing(ForceElement):
    """Springs and dampers between two ports along and about the axes of the first one.

    The axes are those of the world at the initial pose and turn with the first port. Translations are
    counted from the initial pose; a rotation enters by its sine, so keep rotations below a right angle.

    Attributes:
        first, second: the ports; both need an orientation.
        stiffness: along x, y, z, one number or three [N/m].
        damping: along x, y, z [N s/m].
        rotational_stiffness: about x, y, z [N m/rad].
        rotational_damping: about x, y, z [N m s/rad].
        name: for messages; None: made from the ports.

    Raises:
        ParameterError: negative or infinite numbers.
        ModelError: no ports, both on one body, or a port without orientation.
    """

    first: Port
    second: Port
    stiffness: ArrayLike = 0.0
    damping: ArrayLike = 0.0
    rotational_stiffness: ArrayLike = 0.0
    rotational_damping: ArrayLike = 0.0
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_ports(self, self.first, self.second)
        for port in (self.first, self.second):
            if not port.has_orientation:
                raise ModelError(f"{self}: {port} has no orientation (a point mass); use SpringDamper")
        for name in ("stiffness", "damping", "rotational_stiffness", "rotational_damping"):
            object.__setattr__(self, name, three_numbers(name, getattr(self, name)))
        object.__setattr__(self, "name", optional_text("name", self.name))
        expect(self, self.first, self.second)

    @property
    def ports(self) -> tuple[Port, Port]:
        """Where it acts."""
        return self.first, self.second

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Three translations and three turns; two and one in the plane."""
        offset = self.second.initial_position() - self.first.initial_position()
        along, slow = np.asarray(self.stiffness), np.asarray(self.damping)
        about, slow_about = np.asarray(self.rotational_stiffness), np.asarray(self.rotational_damping)
        forces = [
            CoordinateForce(
                position_along(self.first, self.second, AXES[k], f"translation {'xyz'[k]}"),
                float(along[k]),
                float(slow[k]),
                float(offset[k]),
            )
            for k in range(dimension)
        ]
        for k in (2,) if dimension == 2 else (0, 1, 2):
            forces.append(CoordinateForce(self._turn(k), float(about[k]), float(slow_about[k])))
        return tuple(forces)

    def _turn(self, k: int) -> SineCoordinate:
        i, j = (k + 1) % 3, (k + 2) % 3
        axes = (
            DirectionOf(self.first, AXES[i]),
            DirectionOf(self.first, AXES[j]),
            DirectionOf(self.second, AXES[i]),
            DirectionOf(self.second, AXES[j]),
        )
        return SineCoordinate(f"rotation {'xyz'[k]}", self.first, self.second, axes[0], axes)

    def __repr__(self) -> str:
        return self.name or f"Bushing({self.first}, {self.second})"
