"""What pushes on one side only, and what resists motion (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.algebra.arrays import finite, non_negative, positive
from phlexible.errors import ParameterError
from phlexible.interactions.pair import KinematicPair


@dataclass(frozen=True)
class OneSided:
    """N = max(0, (stiffness + damping dx/dt) x^exponent) where the depth x = side (limit - theta) is positive.

    Attributes:
        stiffness: [N/m] or [N m/rad]; with the exponent 1.5 [N/m^1.5].
        damping: times the depth to the exponent and its rate, after Hunt and Crossley.
        exponent: 1, or 1.5 for round bodies, after Hertz.
        side: 1: it pushes theta up, -1: down.
    """

    stiffness: float
    damping: float = 0.0
    exponent: float = 1.0
    side: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", positive("stiffness", self.stiffness))
        object.__setattr__(self, "damping", non_negative("damping", self.damping))
        object.__setattr__(self, "exponent", finite("exponent", self.exponent))
        if self.exponent not in (1.0, 1.5):
            raise ParameterError(f"exponent must be 1.0 or 1.5, got {self.exponent!r}")

    def depth(self, theta: float, limit: float) -> float:
        """x, zero outside."""
        return max(self.side * (limit - theta), 0.0)

    def energy(self, theta: float, limit: float) -> float:
        """Stored [J]."""
        return float(self.stiffness * self.depth(theta, limit) ** (self.exponent + 1) / (self.exponent + 1))

    def force(self, theta: float, limit: float) -> float:
        """Along theta, at rest."""
        return float(self.side * self.stiffness * self.depth(theta, limit) ** self.exponent)

    def slope(self, theta: float, limit: float) -> float:
        """Its derivative."""
        x = self.depth(theta, limit)
        return -float(self.stiffness * self.exponent * x ** (self.exponent - 1)) if x > 0 else 0.0

    def viscous(self, theta: float, rate: float, limit: float) -> float:
        """What the motion adds to ``force``."""
        share = float(self.depth(theta, limit) ** self.exponent)
        still = self.stiffness * share
        return self.side * (max(still - self.side * self.damping * share * rate, 0.0) - still)


@dataclass(frozen=True)
class Coulomb:
    """Dry friction level v / max(|v|, speed): below the speed it creeps.

    Attributes:
        level: of the force [N or N m]; across a contact the coefficient, times its normal force.
        speed: [m/s or rad/s].
        share: of the force that ``joint`` transmits, added to the level [1 or m].
        joint: or None.
    """

    level: float
    speed: float
    share: float = 0.0
    joint: KinematicPair | None = None

    def __post_init__(self) -> None:
        for name in ("level", "share"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        object.__setattr__(self, "speed", positive("speed", self.speed))

    def force(self, rate: float) -> float:
        """Along the coordinate, against its rate; without the part that follows a joint's force."""
        return -self.level * rate / max(abs(rate), self.speed)
