"""Springs, dampers, torques, bushings, one-sided and friction laws, stored energies of users."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log1p, sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    ANY_SIZE,
    Array,
    Finite,
    Flag,
    Name,
    NonNegative,
    Positive,
    Times,
    called,
    check_callable,
    convert_fields,
    finite,
    reals,
    set_fields,
)
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_derivatives import disagreement
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import (
    AXES,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    KinematicPair,
    SineCoordinate,
    check_ports,
    expect,
    position_along,
)
from phlexible.description.ports import ModelPart, Port
from phlexible.description.time_functions import TimePath, number_at
from phlexible.elements.maxwell import Maxwell, Relaxation
from phlexible.errors import ModelError, ParameterError

# Stored energy of a spring as a user's function of one coordinate.

STRETCHES = 16
AGREEMENT = 1e-5
ROUND_OFF = 1e-9
CURVATURE_STEP = 6e-6


def _range(name: str, value: ArrayLike) -> tuple[float, ...]:
    found = reals(name, value, "two numbers (low, high)")
    if found.shape != (2,) or not (np.isfinite(found).all() and found[0] < found[1]):
        raise ParameterError(f"{name} must be two numbers (low, high), got {value!r}")
    return tuple(found.tolist())


@dataclass(frozen=True, eq=False)
class Potential(Portable):
    """Stored energy U(theta) and its derivative dU/dtheta, checked against each other in a range; kinks are fine.

    Write both with ordinary arithmetic and NumPy functions of one number: then they are compiled and
    cost next to nothing in the time step; other functions work too, slower.

    Attributes:
        energy: theta -> U [J].
        slope: theta -> dU/dtheta [N m/rad or N/m].
        around: a range of theta in which both are defined, for the check.

    Raises:
        ParameterError: no function, one that returns no finite number, or the slope is not that of the energy.
        FunctionError: a function raises within the range.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart")
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> hard = ph.Potential(lambda q: 10 * q**2 + 50 * q**4, lambda q: 20 * q + 200 * q**3)  # J, N
        >>> spring = model.apply(rail.spring(potential=hard))
        >>> push = model.apply(rail.force(4.0))
        >>> print(model.equilibrium().position(cart.origin)[0].round(6))
        0.159456
    """

    energy: Callable[[float], float]
    slope: Callable[[float], float]
    around: Annotated[tuple[float, float], _range] = (-0.5, 0.5)

    def __post_init__(self) -> None:
        for name in ("energy", "slope"):
            check_callable(f"{name} of a Potential", getattr(self, name), "theta")
        convert_fields(self)
        low, high = self.around
        positions = np.linspace(low, high, STRETCHES + 1)
        slopes, energies = (np.array([f(x) for x in positions]) for f in (self.slope_at, self.energy_at))
        tolerance = AGREEMENT * np.abs(slopes).max() + ROUND_OFF * np.abs(energies).max() / (high - low)
        if found := disagreement(self.energy_at, self.slope_at, positions, float(tolerance)):
            raise ParameterError(
                f"slope of the Potential is not the derivative of its energy: between {found.begin:.6g} and"
                f" {found.end:.6g} it is {found.mean:.6g} on average, the energy grows by {found.growth:.6g}"
            )

    def energy_at(self, theta: float) -> float:
        """Return the stored energy U(theta) of a user-defined potential at a joint coordinate theta [J], checked to
        be finite.

        Raises:
            ParameterError: no finite number; names theta.
        """
        return self._value("energy", self.energy, theta)

    def slope_at(self, theta: float) -> float:
        """Return the derivative dU/dtheta of the energy of a user-defined potential at a joint coordinate theta [N
        m or N], checked to be finite.

        Raises:
            ParameterError: no finite number; names theta.
        """
        return self._value("slope", self.slope, theta)

    def curvature(self, theta: float) -> float:
        """Return the second derivative d2U/dtheta2 of a user-defined potential at a joint coordinate theta [N m/rad
        or N/m], by central differences of the first derivative."""
        step = CURVATURE_STEP * max(1.0, abs(theta))
        return (self.slope_at(theta + step) - self.slope_at(theta - step)) / (2 * step)

    def _value(self, name: str, function: Callable[[float], float], theta: float) -> float:
        theta = float(theta)
        at = f"at {theta:.6g} (checked within around={self.around})"
        whose = f"{name} of a Potential"
        return finite(f"{whose} {at}", called(function, whose, theta, at=at), ANY_SIZE)


# What pushes on one side only, and what resists motion (docs/theory.md, 8).


def _exponent(name: str, value: float) -> float:
    if finite(name, value) not in (1.0, 1.5):
        raise ParameterError(f"{name} must be 1.0 or 1.5, got {value!r}")
    return float(value)


Exponent = Annotated[float, _exponent]


USUAL_RESTITUTION = 0.3  # of contacts and stops without damping= and restitution=
LEAST_RESTITUTION = 0.01  # less is as good as nothing
LONGEST_PART = 0.1  # step times omega of a contact
LONGEST_OF_MANY = 0.3  # the same of each pair among many that settle: a rebound comes 0.023 / omega late


def _restitution(name: str, value: float | None) -> float | None:
    if value is None or 0 <= finite(name, value) <= 1:
        return None if value is None else float(value)
    raise ParameterError(f"{name} must be between 0 and 1, got {value!r}")


Restitution = Annotated[float | None, _restitution]


def complete_impact_options(owner: Any) -> None:
    """Set the damping and restitution of a contact or joint stop (``owner``) in place where the user omitted them.
    Without both, the restitution is ``USUAL_RESTITUTION``; then an omitted damping is 0. ParameterError is raised
    if both were given.

    Without both the restitution is ``USUAL_RESTITUTION``, by which bodies come to rest.

    Raises:
        ParameterError: both are given.
    """
    if owner.damping and owner.restitution is not None:
        raise ParameterError(f"{owner}: restitution takes the place of damping; give one of them")
    if owner.damping is None and owner.restitution is None:
        set_fields(owner, restitution=USUAL_RESTITUTION)
    set_fields(owner, damping=owner.damping or 0.0)


def damping_of_restitution(restitution: float) -> float:
    """Return the damping coefficient d of Hunt and Crossley's contact law that gives a free impact the
    ``restitution`` e. The force is (1 + d v / v_0) k x^p with the initial speed v_0; d does not depend on
    stiffness k, exponent p and mass. It is found by Brent's root search; 0 for e = 1, and very small e are raised
    to a least value.

    v_0 is the speed of the impact. d - ln(1 + d) = -e d - ln(1 - e d) relates the speeds before and after a free
    impact (8.47).
    """
    e = max(restitution, LEAST_RESTITUTION)
    if e == 1.0:
        return 0.0
    from scipy.optimize import brentq  # here: it takes long to import

    def residual(d: float) -> float:
        return (1 + e) * d - log1p(d) + log1p(-e * d)

    low, high = 0.75 * (1 - e), (1 - 1e-15) / e
    return high if residual(high) > 0 else float(brentq(residual, low, high, xtol=1e-15, rtol=1e-14))


@dataclass(frozen=True)
class OneSided:
    """One-sided force N = max(0, (stiffness + damping dx/dt) x^exponent) at the depth x = side (limit - theta) > 0.

    Attributes:
        stiffness: [N/m] or [N m/rad]; with the exponent 1.5 [N/m^1.5].
        damping: times the depth to the exponent and its rate, after Hunt and Crossley.
        exponent: 1, or 1.5 for round bodies, after Hertz.
        side: 1: it pushes theta up, -1: down.
        restitution: speed after an impact over that before it, in place of damping; None: damping; 1 becomes None,
            as it needs no impact speed.
        slowest: slower impacts are damped as those of this speed [m/s].
        longest_part: largest substep times omega of the contact.
    """

    stiffness: Positive
    damping: NonNegative = 0.0
    exponent: Exponent = 1.0
    side: float = 1.0
    restitution: float | None = None
    slowest: Positive = 1e-2
    longest_part: Positive = LONGEST_PART

    def __post_init__(self) -> None:
        convert_fields(self)
        if self.restitution == 1.0:
            set_fields(self, restitution=None)

    @property
    def substep_factor(self) -> float:
        """Return the factor (0.1 / ``longest_part``)^2 by which the squared frequency omega^2 of a contact is
        multiplied before its substeps are chosen. Its substeps are then at most ``longest_part`` / omega long
        instead of 0.1 / omega."""
        return (LONGEST_PART / self.longest_part) ** 2

    @property
    def impact_damping(self) -> float:
        """Return the damping of an impact times its initial speed, which gives the contact its restitution
        (docs/theory.md, 8, (8.47)). It is the stiffness times ``damping_of_restitution``; zero without a
        restitution."""
        return 0.0 if self.restitution is None else self.stiffness * damping_of_restitution(self.restitution)

    def depth(self, theta: float, limit: float) -> float:
        """Return the penetration x = side (limit - theta) of a one-sided spring at a coordinate ``theta`` [m
        or rad]. It is zero where the contact or stop is open."""
        return max(self.side * (limit - theta), 0.0)

    def energy(self, theta: float, limit: float) -> float:
        """Return the energy stored in a one-sided spring (contact or stop) at a coordinate theta, whose
        contact begins at ``limit`` [J]. It is k depth^(exponent + 1) / (exponent + 1) with the ``stiffness``
        k."""
        return float(self.stiffness * self.depth(theta, limit) ** (self.exponent + 1) / (self.exponent + 1))

    def force(self, theta: float, limit: float) -> float:
        """Return the elastic force of a one-sided spring (contact or stop) along a coordinate ``theta``, without
        damping [N or N m]. It is side k depth^exponent with the ``stiffness`` k, zero where the spring is open;
        contact begins at the ``limit`` of theta."""
        return float(self.side * self.stiffness * self.depth(theta, limit) ** self.exponent)

    def force_derivative(self, theta: float, limit: float) -> float:
        """Return the derivative of the elastic force of a one-sided spring (contact or stop) with respect to its
        coordinate ``theta`` [N/m or N m/rad]. It is not positive, and zero where the spring is open; contact
        begins at the ``limit`` of theta."""
        x = self.depth(theta, limit)
        return -float(self.stiffness * self.exponent * x ** (self.exponent - 1)) if x > 0 else 0.0

    def damping_at(self, theta: float, limit: float) -> float:
        """Return the linear damping coefficient of a one-sided spring (contact or stop) for small motions about a
        coordinate ``theta`` [N s/m or N m s/rad]. It is depth^exponent times ``damping``, or, with a restitution,
        times ``impact_damping / slowest``. It is zero where the spring is open; contact begins at the ``limit`` of
        theta."""
        share = float(self.depth(theta, limit) ** self.exponent)
        return share * (self.damping if self.restitution is None else self.impact_damping / self.slowest)

    def viscous_force(self, theta: float, rate: float, limit: float, damper: float = 0.0) -> float:
        """Return the viscous force of a one-sided spring (contact or stop) at a coordinate theta with the given
        ``rate`` [N or N m]. It is minus rate times ``damping`` times depth^exponent, limited so that the total
        force never pulls; zero where the spring is open. With a restitution, damping is ``impact_damping`` over
        the present speed. Contact begins at the ``limit``; ``damper`` is an additional coefficient while in
        contact."""
        share = float(self.depth(theta, limit) ** self.exponent)
        damping = self.damping + self.impact_damping / max(abs(rate), self.slowest)
        still, total = self.stiffness * share, damping * share + (damper if share > 0 else 0.0)
        return self.side * (max(still - self.side * total * rate, 0.0) - still)


@dataclass(frozen=True)
class Bristle:
    """A friction spring with a parallel damper, which deflects before friction slips (8.41).

    Attributes:
        stiffness: k [N/m or N m/rad].
        damping: d [N s/m or N m s/rad].
        grip: the friction limit while it sticks, over that while it slips.
        lever: rolling-resistance length: moment limit over normal force, where it resists a rotation [m].
    """

    stiffness: float
    damping: float
    grip: float
    lever: float = 1.0


def friction_bristle(
    owner: object,
    stiffness: float | None,
    damping: float | None,
    dynamic: tuple[str, float],
    static: tuple[str, float | None],
    slow: tuple[str, float | None],
    default: Callable[[], float],
    mass: float = 0.0,
) -> Bristle | None:
    """Return the friction spring (bristle) of a contact or joint (``owner``) from the user's options; None without
    friction, or if it is regularized in the speed. ``dynamic``, ``static`` and ``slow`` are pairs of option name
    and coefficient or speed. Without ``stiffness`` (None) ``default()`` is used, without ``damping`` a share of
    critical damping of ``mass``. Raise ``ParameterError`` for options that contradict each other.

    Args:
        owner: name of the element, for messages.
        stiffness: stiffness of the bristle; 0: regularized friction; None: ``default()``.
        damping: coefficient of the damper beside it; None: a tenth of the critical one of ``mass``.
        dynamic, static: names and values of the friction while it slips, and while it sticks; None: the same.
        slow: name and value of the speed below which regularized friction is proportional to the speed.
        default: returns the stiffness if none is given.
        mass: mass that the bristle holds [kg].

    Raises:
        ParameterError: arguments of friction without friction, of a bristle without one, or of regularized friction
            with one; static friction below the other.
    """
    (name, level), (static_name, static_level) = dynamic, static
    of_bristles = (static_name, static_level), ("bristle_damping", damping)
    given = next((each for each, value in of_bristles if value is not None), "bristle" if stiffness else None)
    if not level:
        if given:
            raise ParameterError(f"{owner}: {given} needs friction; give {name}=, too")
        return None
    if stiffness == 0:
        if given:
            raise ParameterError(f"{owner}: {given} needs a bristle; leave it or bristle=0 out")
        return None
    if slow[1] is not None:
        raise ParameterError(f"{owner}: {slow[0]} needs friction without bristle; give bristle=0, too")
    stiffness = default() if stiffness is None else stiffness
    if not stiffness:
        return None
    if static_level is not None and static_level < level:
        raise ParameterError(f"{owner}: {static_name} must be at least {name}={level:g}, got {static_level:g}")
    own = 2 * BRISTLE_DAMPING * sqrt(stiffness * mass) if damping is None else damping
    return Bristle(stiffness, own, 1.0 if static_level is None else static_level / level)


CREEP_SPEED = 1e-3  # below which friction without a bristle falls, where none is given [m/s, rad/s]
BRISTLE_DAMPING = 0.1  # of the critical: undamped, it would break loose early where it vibrates


@dataclass(frozen=True)
class Coulomb:
    """Dry friction level v / max(|v|, speed): below the speed it is regularized; with a bristle it sticks.

    Attributes:
        level: level of the force [N or N m]; across a contact the coefficient, which its normal force multiplies.
        speed: speed below which friction without a bristle is proportional to the rate [m/s or rad/s].
        share: share of the force that ``joint`` transmits, which is added to the level [1 or m].
        joint: joint whose force adds to the level, or None.
        bristle: friction spring that sticks; None: friction is regularized.
        rolling, drilling: friction springs that resist rotations along and about the normal where bodies touch, or
            None.
    """

    level: NonNegative
    speed: Positive
    share: NonNegative = 0.0
    joint: KinematicPair | None = None
    bristle: Bristle | None = None
    rolling: Bristle | None = None
    drilling: Bristle | None = None

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    def bristles(self) -> tuple[Bristle | None, Bristle | None, Bristle | None]:
        """Return the friction springs (bristles) of a dry-friction law for sliding, rolling and drilling, each None
        where there is none."""
        return self.bristle, self.rolling, self.drilling

    @property
    def has_bristle(self) -> bool:
        """Return whether a dry-friction law has a friction spring (bristle), so that it can stick without creep."""
        return any(self.bristles)

    def force(self, rate: float) -> float:
        """Return the dry friction force along a coordinate at a ``rate`` of the coordinate, opposed to it [N or N
        m]. Below the law's speed it is proportional to the rate, above it constant. It is zero if a friction
        spring transmits it. Friction that depends on joint forces is not included."""
        return 0.0 if self.bristle else -self.level * rate / max(abs(rate), self.speed)


# Force elements: springs, dampers, torques and forces along coordinates of joints or between points.

THREE = "one number or three that are not negative"

ForceValue = float | Callable[[float], float] | Feedback


def force_value(name: str, value: ForceValue) -> ForceValue:
    """Return the ``value`` of a prescribed force or torque unchanged after a check. It must be a finite number, a
    function whose value at t = 0 is one, or a controller with one output. Otherwise ParameterError is raised, with
    the argument's ``name`` in the message.

    Raises:
        ParameterError: something else.
    """
    if isinstance(value, Feedback):
        value.check_size(1, name)
    elif callable(value):
        check_callable(name, value, "time")
        number_at(value, name, 0.0)
    else:
        return finite(name, value)
    return value


def _potential(name: str, value: object) -> object:
    if isinstance(value, Potential | None):
        return value
    raise ParameterError(f"{name} must be Potential(energy, slope) or None, got {value!r}")


AnyPotential = Annotated[Potential | None, _potential]


@dataclass(frozen=True, eq=False)
class CoordinateForce(Portable):
    """Force along a coordinate theta, F = value - stiffness (theta - rest) - damping dtheta/dt - dU/dtheta.

    Attributes:
        coordinate: theta [rad or m].
        stiffness: [N m/rad or N/m].
        damping: [N m s/rad or N s/m].
        rest: coordinate at which the spring is at rest [rad or m].
        potential: U(theta), or None [J].
        value: prescribed part, constant, function of time or of measurements [N m or N].
        contact: one-sided law that pushes where theta is beyond ``rest``, in place of the spring; None: nothing.
        friction: dry friction along theta, or across the contact where there is one; None: none.
        is_strain: the energy is that of a deformed body and not of a spring between bodies.
        is_servo: nothing is stored or lost: the work of spring and damper too is supplied from outside.
        relaxation: branches of spring and dashpot in series beside them; None: none.
    """

    coordinate: Coordinate
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    potential: Potential | None = None
    value: ForceValue = 0.0
    contact: OneSided | None = None
    friction: Coulomb | None = None
    is_strain: bool = False
    is_servo: bool = False
    relaxation: Maxwell | None = None

    @property
    def is_lossy(self) -> bool:
        """Return whether a force along a coordinate dissipates energy, by damping, dry friction, viscoelastic
        relaxation or impact damping."""
        impacts = self.contact and (self.contact.damping or self.contact.impact_damping)
        return bool(self.damping or self.friction or self.relaxation or impacts)

    def dissipative_force(self, theta: float, rate: float) -> float:
        """Return the dissipative force [N or N m] at coordinate theta and ``rate``, positive along theta. For a
        contact or stop it is the viscous force, which never pulls and is zero when open, with this damper while
        closed. Otherwise it is minus damping times rate, plus dry friction if any."""
        if self.contact:
            return self.contact.viscous_force(theta, rate, self.rest, self.damping)
        result = -self.damping * rate
        return result + self.friction.force(rate) if self.friction else result

    def conservative_force(self, theta: float) -> float:
        """Return the conservative part of a force along a coordinate theta: spring, user potential and one-sided
        contact [N or N m]."""
        slope = self.potential.slope_at(theta) if self.potential else 0.0
        push = self.contact.force(theta, self.rest) if self.contact else 0.0
        return push - self.stiffness * (theta - self.rest) - slope

    def damping_at(self, theta: float) -> float:
        """Return the damping coefficient of a force along a coordinate for small motions about ``theta``, without
        dry friction [N s/m or N m s/rad]. It is ``damping``. With a one-sided contact it is the contact's
        coefficient plus ``damping`` where the contact is closed, zero where it is open.

        That of a one-sided spring acts only where the depth is positive.
        """
        if self.contact is None:
            return self.damping
        share = self.contact.damping_at(theta, self.rest)
        return share + (self.damping if self.contact.depth(theta, self.rest) > 0 else 0.0)

    def tangent(self, theta: float) -> float:
        """Return the derivative of the conservative force along a coordinate ``theta`` with respect to theta [N/m
        or N m/rad]: minus the stiffness of spring, user potential and one-sided contact together."""
        push = self.contact.force_derivative(theta, self.rest) if self.contact else 0.0
        return push - self.stiffness - (self.potential.curvature(theta) if self.potential else 0.0)

    def energy(self, theta: float) -> float:
        """Return the energy stored at a coordinate theta by spring, user potential and one-sided contact [J]."""
        stored = 0.5 * self.stiffness * (theta - self.rest) ** 2
        stored += self.contact.energy(theta, self.rest) if self.contact else 0.0
        return stored + (self.potential.energy_at(theta) if self.potential else 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ForceElement(ModelPart, Portable, ABC):
    """An element that acts between two ports by force laws along coordinates. Compared by identity."""

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    @abstractmethod
    def ports(self) -> tuple[Port, ...]:
        """Return the ports between which a force element such as a spring acts, mostly two. Each kind of element
        defines it. A port is a point of a body, or of the ground."""

    @abstractmethod
    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force laws along coordinates that a force element (spring, bushing, contact, stop) consists
        of. Each kind of element defines it. ``dimension`` is the number of space dimensions of the model (1, 2 or
        3)."""

    def is_lossy(self, dimension: int) -> bool:
        """Return whether a force element dissipates energy, which it does if any of its force laws does.
        ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        return any(force.is_lossy for force in self.forces(dimension))

    @property
    def value(self) -> ForceValue:
        """Return the prescribed part of a force element's force (a number, function of time or controller). This
        default returns 0, for elements without a prescribed force."""
        return 0.0

    @property
    def is_actuator(self) -> bool:
        """Return whether a force element consists only of a prescribed force, without spring and damper. This
        default returns False."""
        return False

    @property
    def times(self) -> Sequence[float]:
        """Return the times at which the prescribed part of a force element jumps or kinks, where time steps
        must begin [s]; none by default."""
        return ()

    @property
    def path(self) -> TimePath | None:
        """Return the length that a force element prescribes as a function of time [m], such as the rest length set
        by a winch. This default returns None."""
        return None

    @property
    def driven(self) -> "ForceElement | None":
        """Return the other force element that this one replaces while it drives it, as the drive of a tendon does.
        This default returns None."""
        return None

    def check_against(self, elements: Sequence["ForceElement"]) -> None:
        """Raise ModelError if the force element that this one drives (as a motor) is not in the model, or if
        another one drives it already. ``elements`` are the model's force elements, compared by identity. Nothing
        is checked for an element that drives none.

        Raises:
            ModelError: names both.
        """
        if self.driven is None:
            return
        if not any(element is self.driven for element in elements):
            raise ModelError(f"{self}: {self.driven} is not in this model; call model.apply({self.driven}) first")
        if drive := next((element for element in elements if element.driven is self.driven), None):
            raise ModelError(f"{self.driven} is already driven by {drive}")

    @property
    def is_active(self) -> bool:
        """Return whether a force element can supply energy. It can unless its prescribed force is the number 0;
        functions and controllers count as active."""
        return not (isinstance(self.value, int | float) and self.value == 0)


@dataclass(frozen=True, eq=False, repr=False)
class SpringDamper(ForceElement):
    """A spring and damper along the line between two points.

    Attributes:
        first, second: the points; one may be on the ground.
        stiffness: stiffness of the spring [N/m].
        damping: coefficient of the damper [N s/m].
        length: length at rest [m]; None: that of the initial pose.
        potential: energy beyond the linear spring, a function of the distance; None: none.
        relaxation: branches of spring [N/m] and dashpot in series, which follow the distance; None: none.
        name: name for messages and the ledger; None: made from the ports.
        tension_only: whether it is a rope: slack, with neither spring nor damper, where it is shorter than
            ``length``, and never pushing.

    Raises:
        ParameterError: a negative or infinite number, or a rope without stiffness or that has more than stiffness
            and damping.
        ModelError: no ports, or both on one body or on the ground.

    Example:
        >>> model = ph.Model()
        >>> bob = model.add(ph.PointMass(1.0), "bob", position=(1.1, 0, 0))
        >>> wall = model.ground.at((0, 0, 0))
        >>> spring = model.apply(ph.SpringDamper(wall, bob.origin, stiffness=100.0, length=1.0))
        >>> motion = model.simulate(0.1 * np.pi, step=1e-3 * np.pi)  # half a period
        >>> print(round(motion.position(bob.origin)[-1, 0], 3))
        0.9
    """

    first: Port
    second: Port
    stiffness: NonNegative = 0.0
    damping: NonNegative = 0.0
    length: NonNegative | None = None
    potential: AnyPotential = None
    relaxation: Relaxation = field(default=None, kw_only=True)
    name: Name = field(default=None, kw_only=True)
    tension_only: Flag = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_ports(self, first=self.first, second=self.second)
        super().__post_init__()
        if self.tension_only and (not self.stiffness or self.potential or self.relaxation):
            raise ParameterError(
                f"{self}: tension_only needs stiffness= and takes damping= with it, and no potential or relaxation"
            )
        if not (self.stiffness or self.damping or self.potential or self.relaxation):
            raise ParameterError(
                f"{self} has neither stiffness, damping, potential nor relaxation; give one of them"
            )
        expect(self, self.first, self.second)

    @property
    def ports(self) -> tuple[Port, Port]:
        """Return the two ports between which the spring and damper acts. A port is a point of a body, or of the
        ground."""
        return self.first, self.second

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force law of this spring and damper along the distance of its two points, as a tuple of one.
        It pulls the points together beyond the rest length, which is ``length`` or the initial distance, and
        pushes them apart below. With ``tension_only`` the spring never pushes. Raise ``ModelError`` for points
        that coincide initially. ``dimension`` is not used.

        Raises:
            ModelError: the points coincide at the initial pose.
        """
        gap = float(np.linalg.norm(self.second.initial_position() - self.first.initial_position()))
        if gap == 0:
            raise ModelError(
                f"{self}: the points coincide at the initial pose, so that the force has no direction;"
                " use a Bushing"
            )
        rest = gap if self.length is None else self.length
        distance = DistanceCoordinate("distance", self.first, self.second)
        if self.tension_only:
            rope = OneSided(self.stiffness, side=-1.0)
            return (CoordinateForce(distance, damping=self.damping, rest=rest, contact=rope),)
        own = (distance, self.stiffness, self.damping, rest, self.potential)
        return (CoordinateForce(*own, relaxation=self.relaxation),)

    def __repr__(self) -> str:
        return self.name or f"SpringDamper({self.first}, {self.second})"


@dataclass(frozen=True, eq=False, repr=False)
class AlongJoint(ForceElement):
    """An element that acts along a coordinate of a joint.

    Attributes:
        joint, coordinate: the joint, and the name of its coordinate.
    """

    joint: KinematicPair
    coordinate: str

    @property
    def ports(self) -> tuple[Port, Port]:
        """Return the two ports of the joint along whose coordinate an element (spring, motor, stop) acts. A
        port is a point of a body, or of the ground."""
        return self.joint.first, self.joint.second


@dataclass(frozen=True, eq=False, repr=False)
class JointElement(AlongJoint):
    """Spring, damper and prescribed force or torque along a coordinate of a joint.

    Made by ``joint.spring``, ``joint.damper``, ``joint.torque``, ``joint.force`` and ``joint.motor``.

    Attributes:
        joint: whose coordinate it acts on; positive forces enlarge the coordinate.
        coordinate: name of the coordinate.
        stiffness: [N m/rad or N/m].
        damping: [N m s/rad or N s/m].
        rest: [rad or m]; None: the coordinate at the initial pose.
        potential: energy beyond the linear spring, a function of the coordinate; None: none.
        force: prescribed: a number, a function of time, or a ``Feedback`` [N m or N].
        breakpoints: times where the prescribed force jumps or kinks [s].
        name: name for messages and the ledger; None: made from the joint.
        relaxation: branches of spring and dashpot in series, which follow the coordinate; None: none.
    """

    stiffness: NonNegative = 0.0
    damping: NonNegative = 0.0
    rest: Finite | None = None
    potential: AnyPotential = None
    force: ForceValue = 0.0
    breakpoints: Times = ()
    name: Name = None
    relaxation: Relaxation = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, force=force_value(f"value of {self}", self.force))
        expect(self, *self.ports)

    @property
    def value(self) -> ForceValue:
        """Return the prescribed force or torque along the joint coordinate of this element [N or N m]: a number, a
        function of time or a controller."""
        return self.force

    @property
    def is_actuator(self) -> bool:
        """Return whether an element in a joint has only a prescribed force or torque, without spring, damper,
        potential and relaxation."""
        return not (self.stiffness or self.damping or self.potential or self.relaxation)

    @property
    def times(self) -> Sequence[float]:
        """Return the times at which the prescribed force of an element in a joint jumps or kinks, given by the user
        [s]."""
        return self.breakpoints

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force law of a joint element (spring, damper, potential and prescribed force) along its joint
        coordinate, as a tuple of one. The rest value is the coordinate's initial value by default. ``dimension``
        is the number of space dimensions of the model (1, 2 or 3)."""
        coordinate = self.joint.coordinate(dimension, self.coordinate)
        rest = coordinate.initial_value() if self.rest is None else self.rest
        own = (coordinate, self.stiffness, self.damping, rest, self.potential, self.force)
        return (CoordinateForce(*own, relaxation=self.relaxation),)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        coordinate = "" if len(self.joint.coordinate_names) == 1 else f"{self.coordinate} of "
        return f"{' and '.join(self._kinds())} in {coordinate}{self.joint}"

    def _kinds(self) -> list[str]:
        """Return the parts of this force element in a joint as words for messages: "spring", "damper", and last
        "motor" (a controller) or "torque" or "force" (a prescribed value). The last one is listed if the force is
        active or there is neither spring nor damper."""
        parts = {"spring": self.stiffness or self.potential or self.relaxation, "damper": self.damping}
        kinds = [kind for kind, there in parts.items() if there]
        if self.is_active or not kinds:
            prescribed = "torque" if self.coordinate.endswith("angle") else "force"
            kinds.append("motor" if isinstance(self.force, Feedback) else prescribed)
        return kinds


# Bushing: an elastic and viscous connection in all six components.


def three_values(name: str, value: ArrayLike) -> Array:
    """Return ``value``, one non-negative number for all axes or three of them, as an array of shape (3,).
    ParameterError is raised for anything else; ``name`` is the name of the argument, for messages."""
    found = reals(name, value, THREE)
    if found.shape not in ((), (3,)) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError(f"{name} must be {THREE}, got {value!r}")
    return np.array(np.broadcast_to(found, (3,)))


ThreeValues = Annotated[ArrayLike, three_values]


@dataclass(frozen=True, eq=False, repr=False)
class Bushing(ForceElement):
    """Springs and dampers between two ports along and about the axes of the first one.

    The axes are those of the world at the initial pose and turn with the first port. Translations are
    counted from the initial pose. A rotation enters by its sine: about one axis the moment at the angle a is
    k sin(a) cos(a), 1 % below k a at 0.12 rad and never above k/2; for large angles take ``joint.spring``. One axis
    without rotational stiffness and damping may spin: the other two rotations then are tilts of this axis.

    Attributes:
        first, second: the ports; the first needs an orientation, and the second one for rotations.
        stiffness: along x, y, z, one number or three [N/m].
        damping: along x, y, z [N s/m].
        rotational_stiffness: about x, y, z [N m/rad].
        rotational_damping: about x, y, z [N m s/rad].
        name: name for messages; None: made from the ports.
        relaxation: branches of spring and dashpot in series beside each spring, whose stiffnesses are shares of its
            own [-]; None: it does not creep.

    Raises:
        ParameterError: negative or infinite numbers.
        ModelError: no ports, both on one body, or a port without the orientation that it needs.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -10.0))
        >>> engine = model.add(ph.RigidBody(100.0, (5.0, 5.0, 5.0)), "engine")
        >>> floor = model.ground.at((0, 0, 0))
        >>> mount = model.apply(ph.Bushing(floor, engine.origin, stiffness=1e5, rotational_stiffness=1e3))
        >>> print(round(model.equilibrium().position(engine.origin)[2], 9))
        -0.01
    """

    first: Port
    second: Port
    stiffness: ThreeValues = 0.0
    damping: ThreeValues = 0.0
    rotational_stiffness: ThreeValues = 0.0
    rotational_damping: ThreeValues = 0.0
    name: Name = field(default=None, kw_only=True)
    relaxation: Relaxation = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_ports(self, first=self.first, second=self.second)
        super().__post_init__()
        needs = True, np.any(self.rotational_stiffness) or np.any(self.rotational_damping)
        first = "give the other port first" if self.second.has_directions else "use SpringDamper"
        for port, is_needed, remedy in zip(self.ports, needs, (first, "leave out what is rotational"), strict=True):
            if is_needed and not port.has_directions:
                raise ModelError(f"{self}: {port} has no orientation (a point mass); {remedy}")
        expect(self, self.first, self.second)

    @property
    def ports(self) -> tuple[Port, Port]:
        """Return the two ports between which the bushing acts. A port is a point of a body, or of the ground."""
        return self.first, self.second

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force laws of this bushing: three translations and three rotations (sines of angles) in
        space, two and one in the plane, without rotations of a point mass. Translations are along axes that
        rotate with the first point and have their initial values as rest values. Each law has linear stiffness,
        damping and viscoelastic elements. ``dimension`` is the number of space dimensions of the model (1, 2 or
        3)."""
        offset = self.second.initial_position() - self.first.initial_position()
        along, slow = np.asarray(self.stiffness), np.asarray(self.damping)
        about, slow_about = np.asarray(self.rotational_stiffness), np.asarray(self.rotational_damping)
        forces = [
            CoordinateForce(
                position_along(self.first, self.second, AXES[k], f"translation {'xyz'[k]}"),
                float(along[k]),
                float(slow[k]),
                float(offset[k]),
                relaxation=self._creeping(float(along[k])),
            )
            for k in range(dimension)
        ]
        free = np.flatnonzero((about == 0) & (slow_about == 0))
        axes = (2,) if dimension == 2 else (0, 1, 2)
        for k in axes if self.second.has_directions else ():
            creeping = self._creeping(float(about[k]))
            rotation = self._rotation(k, int(free[0]) if len(free) == 1 else k)
            forces.append(CoordinateForce(rotation, float(about[k]), float(slow_about[k]), relaxation=creeping))
        return tuple(forces)

    def _creeping(self, stiffness: float) -> Maxwell | None:
        return self.relaxation.scaled(stiffness) if self.relaxation and stiffness else None

    def _rotation(self, k: int, free: int) -> SineCoordinate:
        """Return the coordinate by which a bushing measures rotation about axis ``k`` (0 to 2): the sine of the
        angle, from dot products of axes of the first and the second point. Two products are possible, and their
        mean is used if ``free`` = k. If ``free`` is another axis (without rotational stiffness and damping), only
        the product that rotation about it leaves unchanged is used."""
        i, j = (k + 1) % 3, (k + 2) % 3
        a1, a2, b1, b2 = (DirectionOf(port, AXES[axis]) for port in self.ports for axis in (i, j))
        shares = {i: (1.0, 0.0), j: (0.0, 1.0)}.get(free, (0.5, 0.5))
        return SineCoordinate(f"rotation {'xyz'[k]}", self.first, self.second, a1, (a1, a2, b1, b2), shares)

    def __repr__(self) -> str:
        return self.name or f"Bushing({self.first}, {self.second})"
