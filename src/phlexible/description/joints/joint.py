"""Base class of joints: two ports and a list of joint functions."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from phlexible.algebra.arrays import (
    Array,
    Name,
    check_callable,
    convert_fields,
    finite,
    make_immutable,
    non_negative,
    warn_of_degrees,
)
from phlexible.algebra.user_derivatives import SOON
from phlexible.description.interactions.drives import Drive, Servo, ServoPush
from phlexible.description.interactions.feedback import Controller, Feedback
from phlexible.description.interactions.force_elements import ForceValue, JointElement, Potential
from phlexible.description.interactions.functions import Bilinear, KinematicPair
from phlexible.description.interactions.joint_limits import JointFriction, JointStop
from phlexible.description.ports import Attachment, Port
from phlexible.description.time_functions import ScalarFunction, TimePath
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ModelError, ParameterError

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Joint(KinematicPair):
    """Base class of joints: a lossless connection of two ports. Compared by identity.

    Attributes:
        first: the port whose body carries the joint's axes.
        second: the port on which reactions are reported.
        name: for ``model.joint(name)``, messages and columns of tables; None: made from the ports.
    """

    name: Name = field(default=None, kw_only=True)
    fixes_nodes: ClassVar[bool] = False
    """Whether the joint holds the nodes of rigid edges of shells one by one."""

    def __post_init__(self) -> None:
        convert_fields(self)
        super().__post_init__()
        for port in (self.first, self.second):
            if isinstance(port, Attachment) and port.point.fixed_nodes and not self.fixes_nodes:
                raise ModelError(
                    f"{self}: {port} is a rigid, hinged or symmetric edge, which Fixed holds alone; fix a RigidBody"
                    ' there and join that, or make the interface "average"'
                )
        make_immutable(self)

    def __repr__(self) -> str:
        return self.name if isinstance(self.name, str) else super().__repr__()

    @abstractmethod
    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint functions of a joint, a tuple of sums of dot products of points and directions
        (``Bilinear``). Each is zero while the joint is closed. ``dimension`` is the number of space dimensions of
        the model (1, 2 or 3). It is abstract: each kind of joint defines it."""

    @property
    def path(self) -> TimePath | None:
        """Return the prescribed function of time in the constraints of a joint that moves by itself, such as a
        link of variable length. This default returns None; such joints override it."""
        return None

    def warn_of_gravity(self, gravity: Array, dimension: int) -> None:
        """Warn if the axis of a joint is probably a mistake, because it prevents a body from falling under
        ``gravity``; only ``Revolute`` checks this, other joints do nothing. ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3)."""

    def drive(
        self,
        *,
        angle: ScalarFunction | None = None,
        position: ScalarFunction | None = None,
        rate: ScalarFunction | None = None,
        of: str | None = None,
        name: str | None = None,
    ) -> Drive:
        """Return a drive, to be added by ``model.apply``, with which a coordinate of this joint follows a function
        of time: ``angle`` [rad] or ``position`` [m]. ``rate`` is the function's derivative, by default
        differences; it is compared with the function near t = 0. ``of`` names the coordinate if the joint has
        several, ``name`` the drive. Raise ``ParameterError`` unless exactly one function is given.

        Args:
            angle: t [s] -> angle of the second port relative to the first [rad], 0 at the initial pose.
            position: t -> distance of the points along the axis [m].
            rate: t -> its rate; None: differences, where needed.
            of: name of the coordinate of a joint with several ("second angle", "second position").
            name: key in the energy ledger; None: made from the joint.

        Raises:
            ParameterError: not one function, one that returns no finite number, or a rate that is not its rate.
        """
        kind, coordinate, function = self._target("drive", angle, position, of)
        check_callable(f"{kind} of a drive", function, "time")
        if rate is not None:
            check_callable(f"rate of a drive of {coordinate}", rate, "time")
        path = TimePath(function, rate, f"{coordinate} driven at {self}")
        path(0.0)
        path.rates(0.0)
        path.check_rate(SOON)
        if kind == "angle":
            path.warn_of_degrees()
        return Drive(self, coordinate, path, name)

    def spring(
        self,
        stiffness: float = 0.0,
        *,
        rest: float | None = None,
        damping: float = 0.0,
        potential: Potential | None = None,
        relaxation: Maxwell | None = None,
        of: str | None = None,
        name: str | None = None,
    ) -> JointElement:
        """Make a spring for ``model.apply`` that acts along a coordinate of the joint. It has a ``stiffness`` [N
        m/rad or N/m], a ``rest`` value without force and parallel ``damping``, or a ``potential``; ``relaxation``
        makes it viscoelastic. ``of`` chooses among several coordinates; ``name`` is the name of the spring.

        Args:
            stiffness: stiffness of the spring [N m/rad or N/m].
            rest: coordinate at which it is relaxed [rad or m]; None: that of the initial pose.
            damping: coefficient of a parallel damper [N m s/rad or N s/m].
            potential: any energy of the coordinate, in addition to or instead of the stiffness.
            relaxation: branches of spring [N m/rad or N/m] and dashpot in series, in addition to or instead of it.
            of: name of the coordinate of a joint with several.
            name: name for messages; None: made from the joint.
        """
        arguments = (self, coordinate := self.coordinate_name(of), stiffness, damping, rest, potential)
        if "angle" in coordinate:
            warn_of_degrees(f"rest angle of a spring at {self}", rest)
        return JointElement(*arguments, name=name, relaxation=relaxation)

    def damper(self, damping: float, *, of: str | None = None, name: str | None = None) -> JointElement:
        """Make a damper for ``model.apply`` that acts along a coordinate of the joint. ``damping`` is its
        coefficient [N m s/rad or N s/m], ``of`` chooses among several coordinates, and ``name`` is the name of the
        damper."""
        return JointElement(self, self.coordinate_name(of), damping=damping, name=name)

    def friction(
        self,
        coulomb: float = 0.0,
        *,
        viscous: float = 0.0,
        coefficient: float = 0.0,
        radius: float | None = None,
        stiction_speed: float | None = None,
        bristle: float | None = None,
        bristle_damping: float | None = None,
        static: float | None = None,
        of: str | None = None,
        name: str | None = None,
    ) -> JointFriction:
        """Make friction for ``model.apply`` that acts along a coordinate of the joint. Its limit is ``coulomb +
        coefficient (radius) |R|``, with the force R that the joint transmits; ``viscous`` times the rate is added.
        It sticks by a friction spring of stiffness ``bristle`` with ``bristle_damping``, or (0) creeps below
        ``stiction_speed``. ``static`` is the limit while it sticks; ``of`` chooses among several coordinates,
        ``name`` is the name of the friction.

        R is the force that the joint itself transmits in the same step. Its moments are not counted.

        Args:
            coulomb: friction limit that does not depend on the load [N m or N]: mu times a known normal force.
            viscous: coefficient of viscous friction [N m s/rad or N s/m].
            coefficient: coefficient mu, which multiplies the force that the joint transmits.
            radius: radius of the bearing, for angles [m].
            stiction_speed: with ``bristle=0``: below it dry friction is proportional to the rate, and the joint
                creeps [rad/s or m/s]; None: 1e-3.
            bristle: stiffness of the friction spring, which deflects before the joint slides, so that it sticks
                without creep [N m/rad or N/m]; its deflection is the friction over this stiffness. None: from
                ``coulomb`` and the weight that both bodies move, see ``JointFriction``. 0: no spring, it creeps.
            bristle_damping: of a damper parallel to the spring [N m s/rad or N s/m]; None: a tenth of the critical
                one of the mass that the joint moves, of both bodies without others.
            static: coefficient, or limit where there is none, as long as the joint sticks; None: as while it
                slides.
            of: name of the coordinate of a joint with several.
            name: name for messages; None: made from the joint.

        Raises:
            ParameterError: a negative number, no friction at all, an angle without a radius.
        """
        dry = (coulomb, viscous, stiction_speed, name, coefficient, radius)
        return JointFriction(self, self.coordinate_name(of), *dry, bristle, bristle_damping, static)

    def stop(
        self,
        *,
        lower: float | None = None,
        upper: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        of: str | None = None,
        name: str | None = None,
        restitution: float | None = None,
        restitution_rate: float = 1e-2,
    ) -> JointStop:
        """Make elastic travel limits of a joint coordinate for ``model.apply``, at the values ``lower`` and
        ``upper`` [rad or m]. They have a ``stiffness``, and a ``damping`` or a ``restitution``. Impacts lose
        energy unless ``restitution=1``; impacts slower than ``restitution_rate`` [rad/s or m/s] lose less. ``of``
        chooses among several coordinates, ``name`` is the name of the limits.

        Args:
            lower, upper: coordinates beyond which it pushes back [rad or m]; None: no limit.
            stiffness: stiffness of the limits [N m/rad or N/m]; None: from the weight that both bodies move, see
                ``JointStop``.
            damping: after Hunt and Crossley: times penetration and rate [N m s/rad2 or N s/m2]; None:
                ``restitution``.
            of: name of the coordinate of a joint with several.
            name: name for messages; None: made from the joint.
            restitution: rate after an impact over that before it, 0 to 1, in place of ``damping``; 1: lossless.
                None: 0.3, or ``damping`` if that is set.
            restitution_rate: slower impacts lose less: they are damped like those of this rate [rad/s or m/s].
        """
        coordinate = self.coordinate_name(of)
        for side, end in (("lower", lower), ("upper", upper)):
            if "angle" in coordinate:
                warn_of_degrees(f"{side} end of a stop at {self}", end)
        return JointStop(self, coordinate, lower, upper, stiffness, damping, name, restitution, restitution_rate)

    def torque(
        self,
        value: ForceValue,
        *,
        breakpoints: Sequence[float] = (),
        of: str | None = None,
        name: str | None = None,
    ) -> JointElement:
        """Make a torque for ``model.apply`` between the two ports, positive if it increases the angle. ``value``
        is a constant, a function of time or a controller [N m], with jumps and kinks at the times ``breakpoints``
        [s]. ``of`` chooses among several angles, ``name`` is the name of the torque. A port is a point of a body,
        or of the ground.

        Args:
            value: constant, function of time, or ``Feedback`` [N m].
            breakpoints: times of its jumps and kinks [s].
            of: name of the angle of a joint with several.
            name: key in the energy ledger; None: made from the joint.
        """
        coordinate = self.coordinate_name("angle" if of is None else of)
        return JointElement(self, coordinate, force=value, breakpoints=breakpoints, name=name)

    def force(
        self,
        value: ForceValue,
        *,
        breakpoints: Sequence[float] = (),
        of: str | None = None,
        name: str | None = None,
    ) -> JointElement:
        """Make a force for ``model.apply`` along the joint's axis, positive if it increases the position.
        ``value`` is a constant, a function of time or a controller [N], with jumps and kinks at the times
        ``breakpoints`` [s]. ``of`` chooses among several positions, ``name`` is the name of the force."""
        coordinate = self.coordinate_name("position" if of is None else of)
        return JointElement(self, coordinate, force=value, breakpoints=breakpoints, name=name)

    def motor(self, controller: Controller, *, of: str | None = None, name: str | None = None) -> JointElement:
        """Make a motor for ``model.apply`` whose torque or force is set once a time step by a function,
        ``controller`` (t, measured). ``of`` chooses among several coordinates, ``name`` is the name of the motor.

        ``measured`` has each coordinate of the joint and its rate, whatever ``of`` is: [angle, rate] of a
        ``Revolute``, [position, rate, angle, rate] of a ``Cylindrical``. To measure other quantities pass
        ``joint.torque(Feedback(controller, measured=[...]))``.
        """
        try:
            law = Feedback(controller, (self,))
        except ParameterError as error:
            raise ParameterError(f"{error}; joint.torque and joint.force take functions of time") from None
        return JointElement(self, self.coordinate_name(of), force=law, name=name)

    def servo(
        self,
        kp: float,
        kd: float,
        *,
        angle: float | ScalarFunction | None = None,
        position: float | ScalarFunction | None = None,
        rate: ScalarFunction | None = None,
        breakpoints: Sequence[float] = (),
        of: str | None = None,
        name: str | None = None,
    ) -> JointElement:
        """Return a servo for ``model.apply`` that moves a joint coordinate to a target, an ``angle`` [rad] or
        ``position`` [m]. Its torque or force is kp (target - coordinate) + kd (target rate - coordinate rate),
        evaluated within the time step. ``rate`` is the derivative of a target function, ``breakpoints`` are times
        of its jumps or kinks [s]. ``of`` chooses among several coordinates, ``name`` names the servo.

        It acts like a spring whose rest moves, and a damper, and is as cheap and as stable; its whole power is work
        that it supplies, in ``motion.energy.work``.

        Args:
            kp: gain of the coordinate [N m/rad or N/m].
            kd: gain of the rate [N m s/rad or N s/m].
            angle, position: the target, a number or a function of time [rad or m].
            rate: t -> rate of the target; None: its difference over each step, so that a jump of the target is
                an impulse of kd times the jump; ``lambda t: 0.0``: damping acts on the rate of the coordinate only.
            breakpoints: times of jumps and kinks of the target [s].
            of: name of the coordinate of a joint with several.
            name: key in the energy ledger; None: made from the joint.

        Raises:
            ParameterError: not one target, a target that is no finite number, or gains that are negative.
        """
        target_of: tuple[str, str, float | ScalarFunction] = self._target("servo", angle, position, of)
        kind, coordinate, target = target_of
        gains = non_negative("kp", kp), non_negative("kd", kd)
        if rate is not None:
            check_callable(f"rate of a servo of {coordinate}", rate, "time")
        if not callable(target):
            if rate is not None:
                raise ParameterError(f"rate of a servo needs a target that is a function of time, got {target!r}")
            rest = finite(f"{kind} of a servo", target)
            if kind == "angle":
                warn_of_degrees(f"angle of a servo at {self}", rest)
            return Servo(self, coordinate, *gains, rest=rest, name=name)
        check_callable(f"{kind} of a servo", target, "time")
        push = ServoPush(TimePath(target, rate, f"{coordinate} of a servo at {self}"), *gains)
        push(0.0)
        if kind == "angle":
            push.target.warn_of_degrees()
        return Servo(self, coordinate, *gains, rest=0.0, force=push, breakpoints=breakpoints, name=name)

    def _target(self, caller: str, angle: T | None, position: T | None, of: str | None) -> tuple[str, str, T]:
        """Return what a drive or servo of this joint shall follow: "angle" or "position" (whichever argument is
        not None), the name of the joint coordinate, and the target. The coordinate is ``of``, by default the
        coordinate named as the kind of target. ParameterError, with ``caller`` in its message, is raised unless
        exactly one of ``angle`` and ``position`` is given."""
        targets = {kind: f for kind, f in (("angle", angle), ("position", position)) if f is not None}
        if len(targets) != 1:
            got = list(targets) or "neither"
            raise ParameterError(f"{caller} of {self} takes angle= or position=, one target, got {got}")
        ((kind, target),) = targets.items()
        return kind, self.named_coordinate(kind, kind) if of is None else self.coordinate_name(of), target

    def _need_orientation(self, *ports: Port) -> None:
        for port in ports or (self.first, self.second):
            if not port.has_directions:
                raise ModelError(
                    f"{self}: {port} has no orientation (a point mass, a string, a node); use Spherical, Distance,"
                    " the second port of Slider or, in the plane, Revolute; or make it a RigidBody"
                )
