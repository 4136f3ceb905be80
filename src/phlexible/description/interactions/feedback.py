"""Controllers, which compute forces from measurements once a step or once a period, and linear laws."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from phlexible.algebra.arrays import (
    ANY_SIZE,
    LARGEST,
    Array,
    Name,
    NonNegative,
    called,
    check_callable,
    convert_fields,
    finite,
    make_immutable,
    positive,
    reals,
    set_fields,
)
from phlexible.algebra.portable import Portable
from phlexible.description.interactions.functions import KinematicPair, expect, receive
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.ports import Attachment
from phlexible.errors import ModelError, ParameterError

# Linear controllers ``dx/dt = A x + B u``, ``y = C x + D u``, continuous or discrete (docs/theory.md, 8).


@dataclass(frozen=True, eq=False)
class LinearController:
    """Matrices of a linear controller dx/dt = A x + B u, y = C x + D u, or of its discrete form.

    Attributes:
        A, B, C, D: shapes (n, n), (n, inputs), (outputs, n), (outputs, inputs).
        is_discrete: whether A and B advance the state from one sample to the next.
        period: time between samples of a discrete controller [s]; None: not specified, or continuous.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    is_discrete: bool = False
    period: float | None = None

    @property
    def order(self) -> int:
        """Return the number of states of a linear controller dx/dt = A x + B u."""
        return len(self.A)

    @property
    def inputs(self) -> int:
        """Return the number of inputs of a linear controller, which are measured values."""
        return int(self.D.shape[1])

    @property
    def outputs(self) -> int:
        """Return the number of outputs of a linear controller, which are forces or torques."""
        return int(self.D.shape[0])


def linear_controller(system: Any) -> LinearController | None:
    """Return a ``LinearController`` with the matrices A, B, C, D of ``system``, a StateSpace or TransferFunction
    of the package python-control. A discrete one has the sampling period. A ``LinearController`` is returned
    unchanged; any other object gives None. Raise ``ParameterError`` for matrices that are not finite and for
    transfer functions that differentiate.

    Raises:
        ParameterError: matrices that are not finite, or a transfer function with more zeros than poles.
    """
    if isinstance(system, LinearController):
        return system
    if not any(kind.__module__.partition(".")[0] == "control" for kind in type(system).__mro__):
        return None
    if all(hasattr(system, name) for name in "ABCD"):
        parts = [np.atleast_2d(np.asarray(getattr(system, name), dtype=np.float64)) for name in "ABCD"]
        outputs, inputs = parts[3].shape
        n = len(parts[0]) if parts[0].size else 0
        A, B, C = (part.reshape(s) for part, s in zip(parts, ((n, n), (n, inputs), (outputs, n)), strict=False))
        D = parts[3]
    elif hasattr(system, "num") and hasattr(system, "den") and hasattr(system, "dt"):
        A, B, C, D = _state_space_realization(system)
    else:
        return None
    for name, matrix in zip("ABCD", (A, B, C, D), strict=True):
        if not np.isfinite(matrix).all():
            raise ParameterError(f"{name} of the controller must be finite, got {matrix.tolist()}")
    is_discrete = system.dt is True or (system.dt is not None and system.dt != 0)
    period = float(system.dt) if is_discrete and system.dt is not True else None
    return LinearController(A, B, C, D, is_discrete, period)


def _state_space_realization(functions: Any) -> tuple[Array, Array, Array, Array]:
    """Return the matrices A, B, C, D of a state-space realization of a matrix of transfer functions of
    python-control, shape (outputs, inputs). Each transfer function becomes a controllable canonical form with
    states of its own, so the realization may not be minimal. ParameterError is raised if a numerator has a higher
    degree than its denominator."""
    outputs, inputs = len(functions.num), len(functions.num[0])
    blocks, columns, rows = [], [], []
    D = np.zeros((outputs, inputs))
    for i in range(outputs):
        for j in range(inputs):
            top, bottom = (np.trim_zeros(np.asarray(each[i][j]), "f") for each in (functions.num, functions.den))
            if len(top) > len(bottom):
                raise ParameterError(f"the controller differentiates its input: {functions}; give it more poles")
            if not len(top):
                continue
            if len(bottom) == 1:
                D[i, j] = top[0] / bottom[0]
                continue
            bottom, top = bottom / bottom[0], np.pad(top, (len(bottom) - len(top), 0)) / bottom[0]
            D[i, j] = top[0]  # the others in the controllable canonical form
            blocks.append(np.vstack([-bottom[1:], np.eye(len(bottom) - 2, len(bottom) - 1)]))
            columns.append((j, np.eye(1, len(bottom) - 1)[0]))
            rows.append((i, top[1:] - top[0] * bottom[1:]))
    n = sum(map(len, blocks))
    A, B, C = np.zeros((n, n)), np.zeros((n, inputs)), np.zeros((outputs, n))
    begin = 0
    for block, (j, b), (i, c) in zip(blocks, columns, rows, strict=True):
        own = slice(begin, begin + len(b))
        A[own, own], B[own, j], C[i, own] = block, b, c
        begin += len(b)
    return A, B, C, D


# Linear laws over a time in which their input is held (docs/theory.md, 8).


def discretized(A: Array, B: Array, duration: float) -> tuple[Array, Array]:
    """Return the discrete-time matrices of a linear system whose input is constant over a duration h [s]
    (zero-order hold): exp(A h), and the integral of exp(A s) from 0 to h times B. Their shapes are those of
    ``A`` (n, n) and ``B`` (n, m)."""
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = A, B
    moved = expm(whole * duration)
    return np.asarray(moved[:n, :n]), np.asarray(moved[:n, n:])


def transition_matrices(law: LinearController, duration: float) -> tuple[Array, Array]:
    """Return the matrices A and B of the state update x -> A x + B u of a linear controller over a duration
    [s]. ``law`` is the controller. The input u is constant; a discrete controller has these matrices already.
    Shapes are (n, n) and (n, m)."""
    return (law.A, law.B) if law.is_discrete else discretized(law.A, law.B, duration)


def sample_controller(law: LinearController, period: float) -> LinearController:
    """Return the discrete-time controller with the sampling ``period`` [s] that equals a continuous linear
    controller (``law``) between two samples. Its input is constant over each period (zero-order hold). The
    matrices of a controller that is discrete already stay as they are."""
    A, B = transition_matrices(law, period)
    return replace(law, A=A, B=B, is_discrete=True, period=period)


# Feedback: forces that a controller computes from measurements, once a step or once a period.

Controller = Callable[[float, Array], ArrayLike]
Derivative = Callable[[float, Array, Array], ArrayLike]


class DirectedLoad(ABC):
    """A load with a constant value, a direction that a controller scales."""

    attachment: Attachment

    @property
    @abstractmethod
    def direction(self) -> Array:
        """Return the constant value of a load, shape (3,), a direction that a controller multiplies by its scalar
        output. It is abstract: each kind of load defines it.

        Raises:
            ModelError: a value that is not constant.
        """


Actuated = KinematicPair | Attachment | DirectedLoad
WHOLE = 1e-9  # of a period
MOST_PERIODS = 10**6  # of a delay


@dataclass(frozen=True, eq=False)
class Feedback(Portable):
    """A controller(t, measured) that is evaluated at the start of each step, with values constant during the step.

    A value for ``joint.torque``, ``joint.force``, ``Force`` and ``Torque``; with ``on=`` it is passed to
    ``model.apply`` itself and sets several forces; ``joint.motor(controller)`` is short for the torque of a joint
    that measures itself. The power that the constant values supply is in the energy ledger exactly.

    Attributes:
        controller: (t [s], measured) -> the value: a number for joints, shape (3,) for loads, with ``on`` all of
            them; or a StateSpace or TransferFunction of python-control from what is measured to the values. A
            continuous one advances exactly with held input, a discrete one has its own period.
        measured: what is measured, in this order, in one flat array: of a joint each coordinate and its
            rate (angle [rad] over full turns, rate [rad/s]; position [m], rate [m/s]), of an attachment
            its world position [m] and velocity [m/s], 3 numbers each; of a sensor what it measures. Rates are
            those of the step, which miss the joints by O(h^2); reactions those of the step before, before the
            first those of the start.
        on: joints with one coordinate, a number each [N m or N]; attachments, a world force each [N]; ``Force`` and
            ``Torque`` with a constant value, the direction that a number scales.
        period: between samples [s], a multiple of the step; None: each step.
        delay: from the sample to when its values act [s], a multiple of the period; until then they are 0.
        target: what the controller gets is target - measured: a number, an array of the shape of what is measured,
            or a function of time; None: it gets what is measured.
        name: of the work in the ledger, with ``on``; None: made from where it acts.
        vjp: vector-Jacobian product, for ``ph.gradient``: (t, given, w) -> w . d(values)/d(given), as many numbers
            as the controller is given (measured, or target - measured), for w of as many numbers as it returns.
            None: differences of the controller, or those of a linear one.
        jvp: Jacobian-vector product (t, given, d) -> d(values)/d(given) d, instead; give one of the two.

    Raises:
        ParameterError: sensors that have no value at an instant, numbers out of range, or a linear controller with
            other inputs than what is measured.
        ModelError: joints without a coordinate, or, in ``on``, with several.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart")
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> position, speed = ph.JointPosition(rail), ph.JointRate(rail)
        >>> law = lambda t, y: -20.0 * (y[0] - 0.3) - 8.0 * y[1]  # N
        >>> controller = model.apply(ph.Feedback(law, measured=[position, speed], on=[rail], period=1e-2))
        >>> round(float(model.simulate(3.0, step=1e-3)[position][-1]), 3)
        0.3
    """

    controller: Controller | Any
    measured: Sequence[KinematicPair | Attachment | Sensor] = ()
    on: Sequence[Actuated] = field(default=(), kw_only=True)
    period: float | None = field(default=None, kw_only=True)
    delay: NonNegative = field(default=0.0, kw_only=True)
    target: ArrayLike | Callable[[float], ArrayLike] | None = field(default=None, kw_only=True)
    name: Name = field(default=None, kw_only=True)
    vjp: Derivative | None = field(default=None, kw_only=True)
    jvp: Derivative | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)
        make_immutable(self)
        law = linear_controller(self.controller)
        self._check_derivatives(law)
        if law is None:
            check_callable("controller", self.controller, "t", "measured")
        if not isinstance(self.measured, list | tuple):
            raise ParameterError(
                "measured must be a list of joints, attachments and sensors such as [joint, tip],"
                f" got {self.measured!r}"
            )
        for item in self.measured:
            _check_measured(item)
        if not isinstance(self.on, list | tuple):
            raise ParameterError(f"on must be a list of joints, attachments and loads, got {self.on!r}")
        for item in self.on:
            if not isinstance(item, Actuated):
                raise ParameterError(f"on takes joints, attachments, Force and Torque, got {item!r}")
            if isinstance(item, DirectedLoad):
                _ = item.direction
                receive(item, item.attachment)
        set_fields(self, period=_period(self.period, law), _law=law)
        self._check_delay()
        self._check_target()
        if law is not None and law.inputs != self.count:
            raise ParameterError(
                f"the controller has {law.inputs} inputs, and {self.count} numbers are measured: a joint gives each"
                " coordinate and its rate, an attachment 6 numbers, a sensor such as JointRate(joint) its own"
            )
        if self.on:
            self.check_size(sum(map(actuated_count, self.on)), str(self))
        expect(self, *(item.attachment if isinstance(item, DirectedLoad) else item for item in self.on))

    @property
    def law(self) -> LinearController | None:
        """Return the matrices of the linear controller of a feedback; None if its controller is a Python
        function."""
        found: LinearController | None = self.__dict__["_law"]
        return found

    @property
    def count(self) -> int:
        """Return the number of measured scalar values that a feedback passes to its controller, summed over all
        measured objects."""
        return sum(measured_count(item) for item in self.measured)

    @property
    def delay_periods(self) -> int:
        """Return the delay of a feedback as a whole number of sampling periods."""
        return round(self.delay / self.period) if self.period else 0

    @property
    def is_plain_function(self) -> bool:
        """Return whether the controller of a feedback is a function that is evaluated at each time step, without a
        sampling period and a target."""
        return self.law is None and self.period is None and self.target is None

    def target_at(self, time: float) -> Array:
        """Return the target of a feedback controller at a time [s], from which measured values are subtracted,
        shape () or (count,). It is 0 without a target. ParameterError is raised unless the user's value or
        function gives one finite number or ``count`` of them.

        Raises:
            ParameterError: other shapes, or numbers that are not finite.
        """
        value, largest = 0.0 if self.target is None else self.target, LARGEST
        if callable(value):
            value, largest = called(value, f"target of {self}", time, at=f"at t = {time:g} s"), ANY_SIZE
        found = reals("target", value, largest=largest)
        if found.shape not in ((), (self.count,)) or not np.isfinite(found).all():
            raise ParameterError(f"target must be a finite number or {self.count} of them, got {value!r}")
        return found

    def check_size(self, size: int, name: str) -> None:
        """Raise ParameterError if the linear controller of a feedback does not have ``size`` outputs; ``name`` is
        the load or element, for the message.

        Raises:
            ParameterError: names the load or element.
        """
        if self.law is not None and self.law.outputs != size:
            raise ParameterError(f"the controller of {name} must have {size} outputs, it has {self.law.outputs}")

    def __str__(self) -> str:
        return self.name or f"feedback on {', '.join(map(str, self.on))}" if self.on else "feedback"

    def _check_derivatives(self, law: LinearController | None) -> None:
        for name, given in (("vjp", self.vjp), ("jvp", self.jvp)):
            if given is None:
                continue
            check_callable(name, given, "t", "given", "w" if name == "vjp" else "d")
            if law is not None:
                raise ParameterError(f"{name}= belongs to a function; those of a linear controller are known")
        if self.vjp is not None and self.jvp is not None:
            raise ParameterError("a Feedback takes vjp= or jvp=, got both")

    def _check_delay(self) -> None:
        if self.delay == 0:
            return
        if self.period is None:
            raise ParameterError(f"a delay is a multiple of the period: give period= beside delay={self.delay!r}")
        if abs(self.delay_periods * self.period - self.delay) > WHOLE * self.period:
            raise ParameterError(f"delay must be a multiple of period = {self.period:g} s, got {self.delay!r}")
        if self.delay_periods > MOST_PERIODS:
            raise ParameterError(
                f"delay must be at most {MOST_PERIODS} periods of {self.period:g} s, whose values are kept, got"
                f" {self.delay!r}"
            )

    def _check_target(self) -> None:
        if callable(self.target):
            check_callable("target", self.target, "time")
        elif self.target is not None:
            self.target_at(0.0)


def _check_measured(item: object) -> None:
    if isinstance(item, Sensor):
        if item.is_of_motion:
            raise ParameterError(f"{item} cannot be measured by a controller: its values are only of a motion")
        return
    if not isinstance(item, KinematicPair | Attachment):
        raise ParameterError(f"measured takes joints, attachments such as beam.end and sensors, got {item!r}")
    if isinstance(item, KinematicPair) and not item.coordinate_names:
        raise ParameterError(f"measured takes joints that leave a coordinate free, {item} leaves none")


def measured_count(item: KinematicPair | Attachment | Sensor) -> int:
    """Return the number of scalar values that a controller measures of ``item``: 2 for each joint coordinate
    (value and rate), 6 for a point of a body (position and velocity), or the components of a sensor."""
    if isinstance(item, Sensor):
        return item.count
    return 6 if isinstance(item, Attachment) else 2 * len(item.coordinate_names)


def actuated_count(item: Actuated) -> int:
    """Return the number of controller outputs that act on ``item``: 3 (a force vector) for a point of a body, 1
    for a joint coordinate or a load with a direction. ModelError is raised for a joint without exactly one
    coordinate.

    Raises:
        ModelError: a joint that does not have one coordinate.
    """
    if isinstance(item, KinematicPair) and len(item.coordinate_names) != 1:
        raise ModelError(f"forces along coordinates need a joint with one, {item} has {len(item.coordinate_names)}")
    return 3 if isinstance(item, Attachment) else 1


def _period(user_period: float | None, law: LinearController | None) -> float | None:
    own = law.period if law is not None else None
    if user_period is None:
        if law is not None and law.is_discrete and own is None:
            raise ParameterError("a discrete controller needs its period: period= [s], or dt= of the system")
        return own
    period = positive("period", finite("period", user_period))
    if own is not None and abs(period - own) > WHOLE * own:
        raise ParameterError(f"period must be that of the controller, dt = {own:g} s, got {user_period!r}")
    return period
