"""Friction and stops in joints (docs/theory.md, 8)."""

from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from phlexible.algebra.arrays import Finite, Name, NonNegative, Positive, set_fields
from phlexible.description.interactions.contact_members import size_of
from phlexible.description.interactions.effective_mass import SHALLOW, SIZE, effective_mass, weight_stiffness
from phlexible.description.interactions.force_elements import (
    BRISTLE_DAMPING,
    CREEP_SPEED,
    AlongJoint,
    Bristle,
    CoordinateForce,
    Coulomb,
    OneSided,
    Restitution,
    complete_impact_options,
    friction_bristle,
)
from phlexible.description.interactions.functions import Coordinate, expect
from phlexible.description.ports import Attachment
from phlexible.errors import ModelError, ParameterError

ROUND_OFF = 1e-9
"""Of places and angles at the start, as far as joints may be open there."""


def _inertia_along(along: AlongJoint) -> tuple[float, float]:
    """Return the effective mass [kg] or moment of inertia [kg m^2] that a joint coordinate ``along`` moves at the
    initial pose. The joint's own constraints count as active, other joints do not. The second result is the size
    of the smaller of the two bodies [m], 0 if no body has a size. A joint that slides along a line gives both
    values of the sliding body itself."""
    if along.joint.moved is not None:
        return along.joint.moved
    ports = [port for port in along.ports if isinstance(port, Attachment)]
    dimension = max((port.placed.data.dimension for port in ports), default=3)
    coordinate = along.joint.coordinate(dimension, along.coordinate)
    size = min((size for port in ports if (size := size_of(port))), default=0.0)
    return effective_mass(coordinate, along.joint.constraints(dimension)), size


@dataclass(frozen=True, eq=False, repr=False)
class JointFriction(AlongJoint):
    """Dry and viscous friction along a coordinate of a joint. Made by ``joint.friction``.

    Attributes:
        joint, coordinate: joint, and name of its coordinate along which friction acts.
        coulomb: level of the dry friction, whatever the joint transmits [N m or N].
        viscous: coefficient of viscous friction [N m s/rad or N s/m].
        stiction_speed: with ``bristle=0``: the rate below which dry friction falls to zero, so that the joint
            creeps [rad/s or m/s]; None: 1e-3.
        name: name for messages; None: made from the joint.
        coefficient: factor on the force that the joint transmits; the product is added to the level.
        radius: radius of the bearing, for angles only [m].
        bristle: stiffness of what sticks [N m/rad or N/m]. None: the one of a ``JointStop`` there, by which the
            weight of what both bodies move bends it by 1e-3 rad or a thousandth of their size, or more, so that
            ``coulomb`` bends it by no more than that. 0: none.
        bristle_damping: coefficient of the damper beside the bristle [N m s/rad or N s/m]; None: a tenth of the
            critical one of what the joint moves.
        static: coefficient, or level where there is none, while the joint sticks; None: as while it slides.
    """

    coulomb: NonNegative = 0.0
    viscous: NonNegative = 0.0
    stiction_speed: Positive | None = None
    name: Name = None
    coefficient: NonNegative = 0.0
    radius: Positive | None = None
    bristle: NonNegative | None = None
    bristle_damping: NonNegative | None = None
    static: NonNegative | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.coulomb or self.viscous or self.coefficient):
            raise ParameterError(
                f"{self} has neither coulomb nor viscous friction nor a coefficient; give one of them"
            )
        self._check_radius()
        _ = self._sticking
        expect(self, *self.ports)

    def _bristle(self, coordinate: Coordinate, dimension: int) -> Bristle | None:
        found = self._sticking
        if found is None or self.bristle_damping is not None:
            return found
        critical = 2 * sqrt(found.stiffness * effective_mass(coordinate, self.joint.constraints(dimension)))
        return replace(found, damping=BRISTLE_DAMPING * critical)

    @property
    def _sticking(self) -> Bristle | None:
        level = ("coefficient", self.coefficient) if self.coefficient else ("coulomb", self.coulomb)
        slow = "stiction_speed", self.stiction_speed
        return friction_bristle(
            self, self.bristle, self.bristle_damping, level, ("static", self.static), slow, self._default_stiffness
        )

    def _default_stiffness(self) -> float:
        """Return the default stiffness of the friction spring (bristle) in a joint [N m/rad or N/m]; 0 if
        nothing moves. It is the larger of two: the stiffness for the weight of the bodies
        (``weight_stiffness``), and the friction limit over 1e-3 rad or a thousandth of the bodies' size."""
        inertia, size = _inertia_along(self)
        level = max(self.coulomb, 0.0 if self.coefficient else self.static or 0.0)
        bent = SHALLOW * (1.0 if self.coordinate.endswith("angle") else size or SIZE)
        return max(weight_stiffness(inertia, size), level / bent) if inertia else 0.0

    def _check_radius(self) -> None:
        turns = self.coordinate.endswith("angle")
        if turns and self.coefficient and self.radius is None:
            raise ParameterError(
                f"{self}: coefficient= needs the radius of the bearing, at which friction acts; give radius="
            )
        if self.radius is not None and not (turns and self.coefficient):
            where = "with a coefficient" if turns else "of an angle, and not of a position"
            raise ParameterError(f"{self}: radius is of a bearing, {where}, got radius={self.radius:g}")

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the friction law of a joint along its coordinate (docs/theory.md, 8, (8.19), (8.31)), as a tuple
        of one. It has viscous friction and dry friction, with a friction spring (bristle) or regularized in the
        speed. ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        coordinate = self.joint.coordinate(dimension, self.coordinate)
        share = self.coefficient * (self.radius or 1.0)
        joint = self.joint if share else None
        speed = self.stiction_speed or CREEP_SPEED
        dry = Coulomb(self.coulomb, speed, share, joint, self._bristle(coordinate, dimension))
        return (CoordinateForce(coordinate, damping=self.viscous, friction=dry),)

    def __repr__(self) -> str:
        return self.name or f"friction of {self.coordinate} in {self.joint}"


@dataclass(frozen=True, eq=False, repr=False)
class JointStop(AlongJoint):
    """Travel limits of a joint coordinate, beyond which a spring pushes back. Made by ``joint.stop``.

    Attributes:
        joint, coordinate: joint, and name of its coordinate that is limited.
        lower, upper: limits of the coordinate [rad or m]; None: no limit.
        stiffness: [N m/rad or N/m]. None: the weight of both bodies sinks by a thousandth of their size, or 1e-3
            rad (``repr`` has the number); set it for joints that carry more.
        damping: after Hunt and Crossley: times depth and rate [N m s/rad2 or N s/m2]; None: ``restitution``. 0: the
            stop is lossless.
        name: name for messages; None: made from the joint.
        restitution: rate after an impact over that before it, 0 to 1, in place of ``damping``; 1: lossless. None:
            0.3, by which joints come to rest, or ``damping`` if that is set.
        restitution_rate: slower impacts lose less: they are damped as those of this rate [rad/s or m/s].
    """

    lower: Finite | None
    upper: Finite | None
    stiffness: Positive | None = None
    damping: NonNegative | None = None
    name: Name = None
    restitution: Restitution = None
    restitution_rate: Positive = 1e-2
    guessed_depth: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        complete_impact_options(self)
        if self.lower is None and self.upper is None:
            raise ParameterError(f"{self} has no limits; give lower= or upper=")
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise ParameterError(f"lower must be less than upper, got {self.lower:g} and {self.upper:g}")
        if self.stiffness is None:
            self._guess_stiffness()
        expect(self, *self.ports)

    def _guess_stiffness(self) -> None:
        """Set the default stiffness of the stops (travel limits) of a joint coordinate [N m/rad or N/m]. The weight
        of the effective mass deflects it by a thousandth of the smaller body's size, or by 1e-3 rad. ModelError is
        raised if no mass can move along the coordinate."""
        inertia, size = _inertia_along(self)
        if not inertia:
            raise ModelError(f"{self} moves no inertia to choose a stiffness from; give stiffness=")
        depth = SHALLOW * (1.0 if self.coordinate.endswith("angle") else size or SIZE)
        set_fields(self, stiffness=weight_stiffness(inertia, size), guessed_depth=depth)

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the one-sided spring laws of this joint's travel limits, one for each limit that the user gave.
        Beyond a limit, a force pushes the coordinate back, with stiffness, damping and restitution; inside it is
        zero. Raise ``ModelError`` if the initial pose is beyond a limit by more than round-off. ``dimension`` is
        the number of space dimensions of the model (1, 2 or 3).

        Raises:
            ModelError: the initial pose is beyond an end.
        """
        assert self.stiffness is not None, "set where it is made"
        coordinate, found = self.joint.coordinate(dimension, self.coordinate), []
        begin = coordinate.initial_value()
        for limit, side in ((self.lower, 1.0), (self.upper, -1.0)):
            if limit is None:
                continue
            if side * (begin - limit) < -self._round_off(coordinate, limit):
                raise ModelError(f"{self}: the initial pose is at {begin:g}, beyond the stop at {limit:g}")
            impact = self.restitution, self.restitution_rate
            push = OneSided(self.stiffness, self.damping or 0.0, 1.0, side, *impact)
            found.append(CoordinateForce(coordinate, rest=limit, contact=push))
        return tuple(found)

    def _round_off(self, coordinate: Coordinate, limit: float) -> float:
        """Return the distance by which round-off alone may place the initial joint coordinate beyond a travel
        ``limit`` [rad or m]. It is 1e-9 of the ``limit``, at least 1e-9 rad for an angle. For a position, it
        is at least 1e-9 of the largest world coordinate of a port plus its body's size."""
        largest = max(abs(limit), 1.0 if coordinate.is_angle else 0.0)
        if not coordinate.is_angle:
            largest = max(largest, *(np.abs(port.initial_position()).max() + size_of(port) for port in self.ports))
        return ROUND_OFF * float(largest)

    def __repr__(self) -> str:
        guessed = f"; stiffness {self.stiffness:.3g}, guessed" if self.guessed_depth else ""
        return self.name or f"stop of {self.coordinate} in {self.joint}{guessed}"
