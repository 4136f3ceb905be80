"""Inputs that make outputs of a model follow paths: servo constraints, step by step or over the whole run.

A servo constraint holds an output on a path, as a drive does, by an input that acts elsewhere: its force has the
direction of the input, not that of the constraint (docs/theory.md, 9; W. Blajer, K. Kolodziejczyk, *A geometric
approach to solving problems of control constraints: theory and a DAE framework*, Multibody System Dynamics 11,
2004).
What still moves while outputs are held is the zero dynamics. Where it is stable, inputs follow from step to step.
Where it is not, or where inputs reach outputs through springs or cables alone, the bounded inputs begin before the
motion does: they are those of least size over the whole run (S. Devasia, D. Chen, B. Paden, *Nonlinear
inversion-based output tracking*, IEEE Transactions on Automatic Control 41, 1996; J. Dewey, K. Leang, S. Devasia,
*Experimental and theoretical results in output-trajectory redesign for flexible structures*, Journal of Dynamic
Systems, Measurement, and Control 120, 1998).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, called, check_callable, option, positive, reals, whole_steps
from phlexible.algebra.rotations import nearest_turns
from phlexible.derivatives.runs import StepMatrices
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.time_functions import Signal
from phlexible.display import short_repr
from phlexible.errors import ConvergenceError, ModelError, ParameterError
from phlexible.measure.sensors import Angle, Displacement, JointPosition, Position
from phlexible.model import Model
from phlexible.results.equilibrium import Equilibrium
from phlexible.results.live import LiveRun
from phlexible.results.motion import Motion
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.layout import State
from phlexible.state.system import require_bodies, system_of
from phlexible.state.vectors import rotation_blocks

if TYPE_CHECKING:
    from phlexible.derivatives.steps import LoggedSteps
    from phlexible.step.assembly.assembly import Assembly


def largest_responses(steps: StepMatrices) -> Array:
    """Return for each input the largest absolute change of any output, over all instants of a run, that a constant
    unit input causes, shape (inputs,). It is computed by recursion through the linearized time steps ``steps``,
    starting without change."""
    count, n, inputs = steps.inputs.shape
    x, greatest = np.zeros((n, inputs)), np.zeros(inputs)
    for k in range(count):
        x = steps.states[k] @ x + steps.inputs[k]
        greatest = np.maximum(greatest, np.abs(steps.outputs[k + 1] @ x).max(axis=0))
    return greatest


def least_change(
    steps: StepMatrices, left: Array, used: Array, weight: Array, velocity: Array, rest: Array
) -> Array:
    """Return the change of the inputs over all N time steps, shape (N, inputs), that minimizes a weighted sum of
    squares in the linearized motion. The squares are of output errors ``left``, inputs ``used`` plus change
    (weights ``weight``), and the final ``velocity`` (weights ``rest``). It is computed by a backward recursion
    with QR factors (docs/theory.md, 9, (9.13)). ``steps`` are the matrices of the time steps.

    Backwards in time what is still to come is |R dx - d|^2 with a triangular R, by orthogonal transformations,
    which keep twice the digits of a Riccati equation; forwards each change follows from that of the state (9.14).

    Args:
        steps: their matrices.
        left: of the outputs to their places, shape (N + 1, outputs).
        used: inputs so far, shape (N, inputs).
        weight: of the inputs, shape (inputs,).
        velocity: at the end, shape (velocities,).
        rest: its weights, shape (velocities,).

    Returns:
        Shape (N, inputs).
    """
    count, n, m = steps.inputs.shape
    half = n // 2
    end = np.zeros((half, n + 1))
    end[:, half:n], end[:, n] = np.diag(rest), -rest * velocity
    ahead = _triangular(np.vstack([end, np.column_stack([steps.outputs[-1], left[-1]])]))[:n]
    gains = np.zeros((count, m, m + n + 1))
    for k in range(count - 1, -1, -1):
        R, d = ahead[:, :n], ahead[:, n:]
        own = np.column_stack([np.diag(weight), np.zeros((m, n)), -weight * used[k]])
        both = _triangular(np.vstack([own, np.hstack([R @ steps.inputs[k], R @ steps.states[k], d])]))
        gains[k] = both[:m]
        here = np.column_stack([steps.outputs[k], left[k]])
        ahead = _triangular(np.vstack([both[m : m + n, m:], here]))[:n]
    x, change = np.zeros(n), np.zeros((count, m))
    for k in range(count):
        own = gains[k]
        change[k] = np.linalg.solve(own[:, :m], own[:, -1] - own[:, m:-1] @ x)
        x = steps.states[k] @ x + steps.inputs[k] @ change[k]
    return change


def _triangular(matrix: Array) -> Array:
    return np.asarray(np.linalg.qr(matrix, mode="r"))


Path = Callable[[float], ArrayLike]
ComplexArray = NDArray[np.complex128]

PLACES = (Displacement, Angle, Position, JointPosition)
FEWEST = 10  # steps of a path
MOST_INSTANTS = 100_000
SAME = 1e-6  # of a step
GAP = 1e-6  # of the longest body: how far from their beginning outputs may stand
QUICK = 0.05  # of the mean speed of a path: how much faster it may begin than the outputs move

# Forwards.
GROWTH = 1.0
"""Exponent of growth over the run below which a zero does not count as unstable."""
INFINITE = 1e-2  # of z + 1: zeros of the step that stand for infinity
AT_ZERO = 1e-6  # of z: those of its delay
SHORTER = 1e-5  # of a step, in which inertia alone answers
INDIRECT = 1e-6  # share of the motion by an input in what an output measures
PUSH = 1e-5  # of the longest body, in differences
GOAL = 1e-12  # of the size of paths
ACCEPTABLE = 1e-9
SLOW = 0.2  # contraction from trial to trial
TRIALS = 25  # of a step

# Two-sided.
MOST_STATES = 400
GENTLE = 1e-3  # of an output by an input over the whole run, that counts as much as the input itself: at first,
LEAST = 1e-8  # at last,
EASED = 3.0  # and by which it falls
LEAST_PART = 1e-3  # of a change
STANDS = 1e-6  # of the greatest input, the last change
ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class InputsOfMotion:
    """Inputs of a model that were found; ``found["motor"]`` is a function of time.

    Attributes:
        inputs: by name, functions of time.
        motion: the run with them.
    """

    inputs: Mapping[str, Signal]
    motion: Motion

    __repr__ = short_repr

    def __getitem__(self, name: str) -> Signal:
        """Return the computed input of a name as a function of time (``Signal``).

        Raises:
            ParameterError: there is none.
        """
        if name not in self.inputs:
            raise ParameterError(f"no input is named {name!r}; there are {', '.join(map(repr, self.inputs))}")
        return self.inputs[name]


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(InputsOfMotion):
    """Inputs for which outputs follow their paths; ``result["motor"]`` is a function of time.

    Attributes:
        inputs: by name, functions of the time of ``motion`` [N, N m, or multiples of a load].
        motion: the run with these inputs, constant in each step.
        lead: how long it lasts before the paths begin and after they have ended [s].
        largest_deviation: greatest distance of outputs from their paths at its instants, in their units.
        zeros: of the inputs to the outputs at the start, those that are finite [1/s]; none where inputs do not
            accelerate outputs at once.
    """

    lead: float
    largest_deviation: float
    zeros: ComplexArray


def inverse_dynamics(
    model: Model,
    paths: Mapping[Sensor, Path],
    inputs: Sequence[str],
    duration: float,
    step: float,
    lead: float | None = None,
    *,
    accuracy: float = 1e-6,
    initial: InitialKind | str | State | Equilibrium = InitialKind.UNDEFORMED,
) -> InverseDynamics:
    """Compute the ``inputs`` for which outputs of a model follow prescribed ``paths`` (servo constraints), and
    return them with the motion. The motion lasts ``duration`` in time steps of ``step`` [s]. Without ``lead``,
    inputs are computed step by step by Newton's method. With it, they act from ``lead`` [s] before the motion on,
    by least squares over the whole run; outputs may then deviate by the relative ``accuracy``.

    Forwards, without ``lead``: in each step those constant inputs for which the outputs are on their paths at its
    end, exactly. That needs a stable zero dynamics and inputs that accelerate the outputs at once: the torques of a
    robot whose hand follows a path, a motor that moves something else than it sits on. Else it is refused with the
    zeros, and asks for ``lead``.

    Two-sided, with ``lead``: over the whole run the inputs of least size that bring the outputs onto their paths
    and everything to rest at its end, by Gauss and Newton's method on the steps of the nonlinear model, for tips
    beyond flexible links and loads on cables. Inputs begin before the motion does and end after it.

    Args:
        model: whose constant torques, forces and loads are the inputs.
        paths: by sensor functions of time, 0 where the path begins, up to the duration, of what it shall measure: a
            number, or as many as it has components. Sensors of places: ``Displacement(tip, (1, 0, 0))``, ``Angle``,
            ``JointPosition(hinge)``, ``Position``; as many numbers as inputs.
        inputs: names as of ``model.start``; of a load whose value is a vector the multiple of it.
        duration: of the paths, a multiple of the step [s].
        step: [s].
        lead: [s], a few times the slowest 1 / Re(zero), and a period or two of what swings; None: forwards.
        accuracy: two-sided the fraction of the paths by which outputs may miss them; greater where the inputs grow
            too large.
        initial: as of ``simulate``; two-sided the model has to rest there under its constant inputs.

    Raises:
        ParameterError: numbers out of range, unknown inputs, other sensors, not as many numbers as inputs, paths
            that begin elsewhere than the outputs or with another speed; a two-sided run that does not follow.
        ModelError: a zero dynamics that grows, inputs that do not accelerate the outputs (forwards), more than 400
            states or a stop that is met (two-sided), contacts and stops that touch at the start, or parts that
            cannot be differentiated (as of ``ph.gradient``).
        ConvergenceError: no inputs hold the outputs in a step.
        FunctionError: a path raised.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> hub = model.add(ph.RigidBody(1.0, 0.1), "hub")
        >>> arm = model.add(ph.RigidBody(2.0, 0.3, center=(0.5, 0, 0)), "arm")
        >>> shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
        >>> weld = model.connect(ph.Fixed(hub.origin, arm.origin))
        >>> motor = model.apply(shaft.torque(0.0, name="motor"))
        >>> turned = ph.Angle(arm.origin, (0, 0, 1))
        >>> found = ph.inverse_dynamics(model, {turned: lambda t: 0.1 * t**2}, ["motor"], 1.0, step=1e-2)
        >>> round(found["motor"](0.5), 6)  # 0.2 (J + I + m c^2)
        0.18
    """
    if not isinstance(model, Model):
        raise ModelError(f"model must be a ph.Model, got {model!r}")
    last, h = positive("duration", duration), positive("step", step)
    if h > last / FEWEST * (1 + SAME):
        raise ParameterError(f"step must be at most a tenth of the duration of {last:g} s, got {step!r}")
    count = whole_steps("duration", duration, h)
    before = 0 if lead is None else int(np.ceil(positive("lead", lead) / h - SAME))
    share = positive("accuracy", accuracy)
    if count + 2 * before > MOST_INSTANTS:
        raise ParameterError(
            f"duration={last:g} s and twice the lead are more than {MOST_INSTANTS} steps of {h:g} s; take a larger"
            " step"
        )
    given = initial.state if isinstance(initial, Equilibrium) else initial
    start = given if isinstance(given, State) else _start(model, option("initial", given, InitialKind))
    servo = _Servo(model, _checked(paths), inputs, h, start)
    goals = servo.prescribed_readings(last, count, before)
    servo.check_begin(goals, last)
    return servo.forwards(goals, last) if lead is None else servo.two_sided(goals, before, share)


def _start(model: Model, kind: InitialKind) -> State:
    system = system_of(model)
    require_bodies(system)
    return initial_state(system, kind)


def _checked(paths: object) -> Mapping[Sensor, Path]:
    if not isinstance(paths, Mapping) or not paths:
        raise ParameterError(f"paths must be functions of time by sensors, {{sensor: path}}, got {paths!r}")
    for sensor, path in paths.items():
        if not isinstance(sensor, PLACES):
            raise ParameterError(
                "paths are those of sensors of places and angles, Displacement(tip, (1, 0, 0)), Angle, Position or"
                f" JointPosition(hinge), got {sensor!r}"
            )
        check_callable(f"path of {sensor}", path, "t")
    return paths


def _angles(sensor: Sensor) -> list[bool]:
    """Return for each component of a sensor whether it is an angle, whose full turns are counted."""
    if isinstance(sensor, JointPosition) and sensor.components:
        return ["angle" in name for name in sensor.components]
    return [sensor.unit == "rad"] * sensor.count


class _Servo:
    """Servo problem of a model: outputs that follow paths by inputs.

    Args:
        model: with the inputs as constant loads.
        paths: by sensor.
        names: of the inputs.
        step: h [s].
        start: the first state.
    """

    def __init__(
        self, model: Model, paths: Mapping[Sensor, Path], names: Sequence[str], step: float, start: State
    ) -> None:
        from phlexible.derivatives.runs import equal_steps_alone  # with the compiler

        self._model, self._paths, self._step, self._start = model, paths, step, start
        self._sensors = list(paths)
        self._labels = [str(sensor) for sensor in paths for _ in range(sensor.count)]
        self._are_angles = np.array([angle for sensor in paths for angle in _angles(sensor)])
        self._assembly: Assembly = equal_steps_alone(system_of(model), start)
        if not isinstance(names, list | tuple) or not names or len(set(map(str, names))) < len(names):
            raise ParameterError(f"inputs must be a list of different names such as ['motor'], got {names!r}")
        known = self._assembly.inputs
        for name in names:
            if not isinstance(name, str) or name not in known:
                raise ParameterError(
                    f"no input is named {name!r}; inputs are constant loads, torques and forces of the model:"
                    f" {', '.join(map(repr, known)) or 'none'}"
                )
        if len(self._labels) != len(names):
            raise ParameterError(
                f"{len(names)} inputs hold as many outputs, got paths of {len(self._labels)} numbers; single"
                " components are those of Displacement(port, direction)"
            )
        self._names = list(names)
        self._directions = np.zeros((len(names), 3 * self._assembly.memory.counts["load_values"]))
        self._first = np.zeros(len(names))  # constant inputs as they are in the model
        for k, name in enumerate(names):
            own = known[name]
            if own.load is not None and not own.value.any():
                raise ParameterError(f"the load {name!r} is zero and has no direction; give it one, of size 1")
            self._first[k] = own.value[0] if own.load is None else 1.0
            unit = np.ones(1) if own.load is None else own.value
            self._directions[k, own.first : own.first + len(unit)] = unit

    def prescribed_readings(self, duration: float, count: int, before: int) -> Array:
        """Return the prescribed values of the outputs at all instants, from the user's paths, shape (count + 2 *
        before + 1, outputs). For ``before`` time steps before and after the motion, which takes ``duration`` [s]
        in ``count`` time steps, they are constant. ParameterError is raised unless a path returns finite numbers,
        as many as its sensor has components."""
        times = np.clip(self._step * (np.arange(count + 2 * before + 1) - before), 0.0, duration)
        columns = []
        for sensor, path in self._paths.items():
            name = f"path of {sensor}"
            values = [reals(name, called(path, name, t, at=f"at t = {t:g} s")) for t in times.tolist()]
            if any(value.size != sensor.count or not np.isfinite(value).all() for value in values):
                raise ParameterError(f"{name} must return {sensor.count} finite numbers, it returned {values[0]!r}")
            columns.append(np.array(values, dtype=np.float64).reshape(len(times), sensor.count))
        return np.concatenate(columns, axis=1)

    def check_begin(self, goals: Array, duration: float) -> None:
        """Raise ``ParameterError`` if the prescribed paths of the outputs (``goals``, one row for each instant) do
        not begin at the model's positions and speeds. Positions must agree to a small fraction of the longest
        body, speeds to a few per cent of the mean speed over the ``duration`` [s]. Speeds are not checked in
        models with prescribed motions."""
        here = self._read(self._live())
        gap = np.abs(here - goals[0])
        if gap.max() > GAP * self._length:
            worst = int(gap.argmax())
            raise ParameterError(
                f"the path of {self._labels[worst]} begins {gap[worst]:.3g} away from where the model stands;"
                f" path(0) must be {here[worst]:.9g}"
            )
        if self._assembly.moving:
            return  # rates of given motions are not those of velocities alone
        wanted = (-3 * goals[0] + 4 * goals[1] - goals[2]) / (2 * self._step)
        rates = self._mobility.rows @ self._start.velocity
        mean = np.abs(goals - goals[0]).max() / duration
        if (off := np.abs(wanted - rates)).max() > QUICK * mean + GAP * self._length / duration:
            worst = int(off.argmax())
            raise ParameterError(
                f"the path of {self._labels[worst]} begins with a speed of {wanted[worst]:.3g}, and the model with"
                f" {rates[worst]:.3g}: let it begin smoothly, or give bodies the velocities that fit"
            )

    @property
    def _length(self) -> float:
        return float(self._assembly.system.largest_length)

    def _live(self) -> LiveRun:
        return self._model.start(self._step, initial=self._start)

    def _set_inputs(self, run: LiveRun, values: Array) -> None:
        """Set the inputs of a live ``run`` to ``values``, which act in its next time steps. For an input that is a
        load vector the value is a factor of the model's load."""
        for name, value in zip(self._names, values, strict=True):
            own = self._assembly.inputs[name]
            run.inputs[name] = value if own.load is None else value * own.value

    def _read(self, run: LiveRun, before: Array | None = None) -> Array:
        """Return the present values of all outputs of a live ``run``, concatenated, shape (outputs,). With earlier
        values ``before``, each angle [rad] is shifted by the multiple of 2 pi that brings it nearest to its value
        in ``before``; None leaves angles unchanged."""
        now = np.concatenate([np.atleast_1d(run.read(sensor)) for sensor in self._sensors])
        if before is not None:
            now = np.where(self._are_angles, nearest_turns(now, before), now)
        return now

    def _added(self, used: Array) -> Array:
        """Return the changes of the model's load values in each time step, shape (steps, load values), compared
        with the inputs at the start. ``used`` are the inputs in each time step, shape (steps, inputs)."""
        return np.asarray((used - self._first) @ self._directions)

    def _simulated(self, used: Array, step: float) -> "LoggedSteps":
        from phlexible.derivatives.runs import simulate_steps

        return simulate_steps(self._assembly, self._start, step, len(used), added=self._added(used))

    def _matrices(self, run: "LoggedSteps") -> "StepMatrices":
        from phlexible.derivatives.runs import step_matrices

        return step_matrices(run, run.load_slopes(self._directions), self._sensors)

    def _result(self, used: Array, run: LiveRun, before: int, error: float, zeros: ComplexArray) -> InverseDynamics:
        """Return the result of inverse dynamics: the motion of ``run``, and inputs as linearly interpolated
        signals over its instants. ``used`` has the constant inputs of all time steps. A value between two steps is
        their mean; values at both ends are extrapolated linearly. ``before`` is the number of time steps before
        the prescribed motion, ``error`` the output error, ``zeros`` are the transmission zeros."""
        means, motion = (used[1:] + used[:-1]) / 2, run.motion
        ends = used[[0, -1]]
        if len(means) > 1:
            ends = 2 * means[[0, -1]] - means[[1, -2]]
        values = np.vstack([ends[:1], means, ends[1:]])
        signals = {name: Signal(motion.time, values[:, k]) for k, name in enumerate(self._names)}
        return InverseDynamics(signals, motion, before * self._step, error, zeros)

    # Forwards: from step to step.

    def forwards(self, goals: Array, duration: float) -> InverseDynamics:
        """Compute, step after step, the constant inputs that bring the outputs onto their prescribed paths
        (``goals``) at the end of each time step. Return them with the motion, which lasts ``duration`` [s].
        Newton's method starts at the linear extrapolation of the last inputs. ModelError is raised if inputs do
        not accelerate outputs directly, or if the zero dynamics is unstable."""
        if not self._mobility.is_direct:
            raise ModelError(
                "the inputs do not accelerate the outputs at once, but through springs or cables, or not all of"
                " them (the equations have an index above 3, which steps of second order do not solve): give lead=,"
                " the time that inputs may act before the motion and after it"
            )
        zeros = self._zeros()
        _check_stable(zeros, duration)
        scale = float(np.abs(goals - goals[0]).max()) or self._length
        run, used, missed = self._live(), np.zeros((len(goals) - 1, len(self._names))), 0.0
        step = _ServoStep(self, run, scale)
        for k, goal in enumerate(goals[1:]):
            guess = 2 * used[k - 1] - used[k - 2] if k > 1 else used[0] if k else self._first
            used[k], left = step.take(guess, goal)
            missed = max(missed, left)
        return self._result(used, run, 0, missed, zeros)

    def _zeros(self) -> ComplexArray:
        """Return the finite transmission zeros of the linearized model at the start as continuous-time rates s
        [1/s], sorted by absolute value (docs/theory.md, 9, (9.12)). They are eigenvalues z of one time step with
        outputs prescribed as zero, by the trapezoidal rule s = 2 / step (z - 1) / (z + 1). Values z near -1
        (infinite s) or near zero are left out."""
        run = self._simulated(self._first[None], self._step)
        found = self._matrices(run)
        A, B, C = found.states[0], found.inputs[0], found.outputs[1]
        z = np.linalg.eigvals(A - B @ np.linalg.solve(C @ B, C @ A))
        z = z[(np.abs(z + 1) > INFINITE) & (np.abs(z) > AT_ZERO)]
        s = 2 / self._step * (z - 1) / (z + 1)
        size = np.round(np.log(np.maximum(np.abs(s), 1e-300)), 6)  # of pairs the same
        return np.asarray(s[np.lexsort((-s.imag, -s.real, size))], dtype=np.complex128)

    @cached_property
    def _mobility(self) -> "_Mobility":
        """Return the accelerations of the outputs by unit inputs through inertia alone, as a ``_Mobility`` with
        two more matrices. One is the derivative of the outputs with respect to small motions, the other the
        accelerations scaled by the mobilities of inputs and outputs. All come from one linearized time step so
        short that springs do not matter; the result is cached."""
        from phlexible.derivatives.runs import step_matrices

        short = SHORTER * self._step
        run = self._simulated(self._first[None], short)
        forces = run.load_slopes(self._directions)
        found = step_matrices(run, forces, self._sensors)
        size = found.states.shape[1] // 2
        of_pose = found.outputs[0][:, :size]
        # rates of small turns about world axes are those about axes of the body
        rows = of_pose @ rotation_blocks(run.system.layout, run.rows["rotation"][0])
        pushes = np.zeros((1, len(rows), forces.shape[2]))  # outputs as inputs
        pushes[0, :, :size] = -short * rows
        answers = step_matrices(run, pushes, self._sensors).inputs[0][size:] / short
        moved = found.inputs[0][size:] / short
        accelerations = rows @ moved
        of_inputs = np.abs(np.einsum("ij,ji->i", -forces[0, :, :size] / short, moved))
        of_outputs = np.abs(np.einsum("ij,ji->i", rows, answers))
        scale = np.sqrt(np.outer(of_outputs, of_inputs))
        return _Mobility(rows, accelerations, accelerations / np.where(scale > 0, scale, 1.0))

    def increments(self) -> Array:
        """Return the changes of the inputs for difference quotients, shape (inputs,). Each alone would move the
        most accelerated output by 1e-5 of the longest body within one time step, by inertia."""
        moved = np.abs(self._mobility.accelerations).max(axis=0) * self._step**2 / 2
        return np.asarray(PUSH * self._length / moved)

    # Two-sided: all steps at once.

    def two_sided(self, goals: Array, before: int, accuracy: float) -> InverseDynamics:
        """Compute inputs of least size over the whole run for which outputs follow their prescribed paths
        (``goals``), and return them with the motion. Gauss-Newton steps with line search use smaller and smaller
        weights of the inputs. Inputs act from ``before`` time steps before the motion on. ParameterError is raised
        if the relative ``accuracy`` is not reached, ModelError for too many states or contacts met.

        Gauss and Newton's method on (9.13): outputs are linear in the change of the inputs near those that are
        known. Inputs weigh less from iteration to iteration, until outputs are near enough.
        """
        count, size = len(goals) - 1, int(self._assembly.memory.counts["velocities"])
        if 2 * size > MOST_STATES:
            raise ModelError(
                f"the two-sided inversion takes models of at most {MOST_STATES} states, this one has {2 * size}:"
                " give bodies fewer elements, or beams modes="
            )
        scale = float(np.abs(goals - goals[0]).max()) or self._length
        rest = self._step * count * np.asarray(self._assembly.memory["velocity_weight"])[:size]
        used, share = np.tile(self._first, (count, 1)), GENTLE
        run = self._simulated(used, self._step)
        left = goals - self._outputs(run)
        reach: Array | None = None

        def cost(run: "LoggedSteps", left: Array, used: Array, weight: Array) -> float:
            parts = left, weight * (used - self._first), rest * run.rows["velocity"][-1]
            return float(sum((part**2).sum() for part in parts))

        for _ in range(ITERATIONS):
            found = self._matrices(run)
            reach = self._largest_responses(found) if reach is None else reach
            weight, velocity, part = share * reach, run.rows["velocity"][-1], 1.0
            change, now = least_change(found, left, used - self._first, weight, velocity, rest), np.inf
            known = cost(run, left, used, weight)
            while part > LEAST_PART:
                other = used + part * change
                try:
                    tried = self._simulated(other, self._step)
                    off = goals - self._outputs(tried)
                    now = cost(tried, off, other, weight)
                except ConvergenceError:
                    now = np.inf
                if now < known:
                    run, used, left = tried, other, off
                    break
                part /= 2
            is_near = np.abs(left).max() <= accuracy * scale
            stands = np.abs(change).max() <= STANDS * np.abs(used - self._first).max(initial=0.0)
            if now < known and (part < 1.0 or (is_near and not stands)):
                continue
            if is_near or share <= LEAST:
                break
            share = max(share / EASED, LEAST)
        missed = float(np.abs(left).max())
        if missed > accuracy * scale:
            raise ParameterError(
                f"the outputs still miss their paths by {missed:.2g} of {scale:.2g} under inputs of up to"
                f" {np.abs(used).max():.2g}: give a longer lead=, a smoother or slower path, a smaller step, or as"
                f" accuracy= the share of the path that may be missed ({1.5 * missed / scale:.1g} is reached)"
            )
        live = self._live()
        here, missed = self._read(live), 0.0
        for k in range(count):
            self._set_inputs(live, used[k])
            live.step()
            here = self._read(live, here)
            missed = max(missed, float(np.abs(here - goals[k + 1]).max()))
        if missed > accuracy * scale and live.motion.contact_steps[-1]:
            raise ModelError(
                f"a contact or stop is met on the way, so that outputs miss their paths by {missed:.2g}: give paths"
                " that stay away from it, or leave it out"
            )
        return self._result(used, live, before, missed, self._zeros() if self._mobility.is_direct else NO_ZEROS)

    def _largest_responses(self, steps: "StepMatrices") -> Array:
        """Return, for each input, the largest change of any output during the run if this input alone is constantly
        1, shape (inputs,). If inputs accelerate outputs directly, it is a T^2 / 2 with the largest acceleration a
        per unit of input and the duration T. Otherwise it is computed step by step from ``steps``, the matrices of
        the linearized time steps."""
        if not self._mobility.is_direct:
            return largest_responses(steps)
        duration = self._step * len(steps.states)
        return np.asarray(np.abs(self._mobility.accelerations).max(axis=0) * duration**2 / 2)

    def _outputs(self, run: "LoggedSteps") -> Array:
        """Return the values of all outputs at all instants of a simulated run, shape (N + 1, outputs)."""
        from phlexible.derivatives.readings import Reader

        read = Reader(run.assembly, run.times).read_all(self._sensors, run.rows)
        return np.concatenate([each.reshape(run.count + 1, -1) for each in read], axis=1)


NO_ZEROS = np.zeros(0, dtype=np.complex128)


@dataclass(frozen=True, eq=False)
class _Mobility:
    """Response of outputs to inputs by inertia alone.

    Attributes:
        rows: derivatives of the outputs' rates with respect to velocities, shape (outputs, velocities).
        accelerations: of the outputs by unit inputs, shape (outputs, inputs).
        cosines: cosines between output and input directions in the metric of the kinetic energy, from -1 to 1.
    """

    rows: Array
    accelerations: Array
    cosines: Array

    @property
    def is_direct(self) -> bool:
        """Return whether inputs accelerate all outputs independently through inertia, and not only through
        springs: the least singular value of the scaled matrix is above a limit."""
        return bool(np.linalg.svd(self.cosines, compute_uv=False)[-1] > INDIRECT)


class _ServoStep:
    """Steps with inputs that keep the outputs on their paths, by Newton's method with a reused Jacobian."""

    def __init__(self, servo: _Servo, run: LiveRun, scale: float) -> None:
        self._servo, self._run, self._scale = servo, run, scale
        self._here, self._slopes = servo._read(run), NO_SLOPES

    def take(self, values: Array, goal: Array) -> tuple[Array, float]:
        """Advance the run by one time step with inputs for which the outputs reach their ``goal`` at its end.
        Return these inputs and the largest remaining error. Newton's method starts at ``values`` and repeats the
        time step, with a Jacobian updated where convergence is slow. The error is at most 1e-12 of the size of the
        paths (1e-9 at round-off). Raise ``ConvergenceError`` after 25 trials."""
        saved, best, is_fresh = self._run.save(), np.inf, False

        def tried(inputs: Array) -> Array:
            self._run.restore(saved)
            self._servo._set_inputs(self._run, inputs)
            self._run.step()
            return self._servo._read(self._run, self._here)

        found = tried(values)
        for _ in range(TRIALS):
            left = float(np.abs(found - goal).max())
            is_slow = left > SLOW * best
            if left <= GOAL * self._scale or (is_slow and is_fresh and left <= ACCEPTABLE * self._scale):
                self._here = found
                return values, left
            if is_slow or not self._slopes.size:
                self._slopes, is_fresh = self._differences(tried, values, found), True
            best = left
            try:
                values = values - np.linalg.solve(self._slopes, found - goal)
            except np.linalg.LinAlgError:
                break
            found = tried(values)
        raise ConvergenceError(
            f"no inputs hold the outputs in the step from t = {saved.time:.9g} s, {best:.2g} are left: in this pose"
            " the inputs have no hold on the outputs, or the path is out of reach, such as beyond a stop",
            saved.time,
            np.array([best]),
        )

    def _differences(self, tried: Callable[[Array], Array], values: Array, readings: Array) -> Array:
        """Return the Jacobian of the outputs after one time step with respect to the inputs, by forward
        differences, shape (outputs, inputs). The function ``tried`` is called with inputs (inputs,), repeats the
        time step and returns the outputs (outputs,). ``values`` are the present inputs, ``readings`` the outputs
        for them."""
        columns = [(tried(values + push) - readings) / push.sum() for push in np.diag(self._servo.increments())]
        return np.stack(columns, axis=1)


NO_SLOPES = np.zeros((0, 0))


def _check_stable(zeros: ComplexArray, duration: float) -> None:
    """Raise ``ModelError`` if the zero dynamics (motion with prescribed outputs) grows during a run of
    ``duration`` [s]. It counts as growing if the real part of a transmission zero times the duration is above a
    limit. ``zeros`` are these rates [1/s]; the message lists up to four and proposes a time for inputs to act
    before and after."""
    growing = zeros[(zeros.real * duration > GROWTH) & (zeros.imag >= 0)]
    if not len(growing):
        return
    listed = ", ".join(f"{z.real:.4g} +- {z.imag:.4g} i" if z.imag else f"{z.real:.4g}" for z in growing[:4])
    more = " and more" if len(growing) > 4 else ""
    raise ModelError(
        "the zero dynamics is unstable (non-minimum phase): with the outputs held on their paths, what is left to"
        f" move grows with exp(zero t), zeros {listed}{more} 1/s, and so would the inputs. Give lead=, such as"
        f" {5 / growing.real.min():.2g} s: inputs then act before the motion begins and after it has ended"
    )
