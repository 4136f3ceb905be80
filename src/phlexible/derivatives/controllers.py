"""Derivatives of the values of controllers and of laws of the state with respect to their measurements
(docs/theory.md, 9).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, IntArray, called, reals
from phlexible.derivatives.readings import Jacobian, Reader, Reading, state_jacobian
from phlexible.derivatives.runs import LoggedRun, RunInterval
from phlexible.description.interactions.feedback import Feedback, transition_matrices
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.ports import Attachment
from phlexible.errors import ParameterError
from phlexible.measure import kinematics
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.vectors import VectorSet
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.assembly.interactions import ControlledValue
from phlexible.step.integration.controllers import Controllers, SampledController, checked_values, is_plain

PROBE = 1e-5
"""Relative step of central differences of a controller, compared with its largest measured value."""

OF_PLACES = 1e-6
"""Relative step of central differences of laws of the state, compared with the reach of the model."""


# Laws of users: their derivatives as these give them, or differences of the law alone.


def controller_slopes(feedback: Feedback, time: float, args: Array, sizes: Array, count: int) -> Array:
    """Return the derivatives of the ``count`` output values of a controller with respect to its measurements
    ``args`` at a ``time`` [s], shape (count, arguments). ``feedback`` has the controller and the user's functions
    for derivatives, if any: ``vjp``, called once for each output value, else ``jvp``, called once for each
    argument. Without both, derivatives are central differences with increments of a fixed fraction of ``sizes``.
    Raise ``ParameterError`` for results of another shape.

    Args:
        feedback: with a function as its controller.
        time: [s].
        args: arguments of the controller.
        sizes: of the arguments in the run, for differences.
        count: number of values.

    Raises:
        ParameterError: derivatives of another shape, or that are not finite.
    """
    units = np.eye(count) if feedback.vjp is not None else np.eye(len(args))
    if feedback.vjp is not None:
        return np.array(
            [_checked(_invoke(feedback.vjp, "vjp", time, args.copy(), w), args.shape, "vjp", time) for w in units]
        )
    if feedback.jvp is not None:
        columns = [
            _checked(_invoke(feedback.jvp, "jvp", time, args.copy(), d), (count,), "jvp", time) for d in units
        ]
        return np.array(columns).reshape(len(args), count).T
    found = np.zeros((count, len(args)))
    for k, size in enumerate(sizes):
        change = np.zeros(len(args))
        change[k] = PROBE * size
        more, less = (
            reals(
                "values",
                _invoke(feedback.controller, "the controller", time, args + sign * change),
                largest=ANY_SIZE,
            ).ravel()
            for sign in (1, -1)
        )
        found[:, k] = (more - less) / (2 * change[k])
    return found


def _invoke(function: Callable[..., Any], name: str, time: float, *given: Array) -> Any:
    return called(function, f"{name} of a Feedback", time, *given, at=f"at t = {time:.9g} s")


def _checked(answer: object, shape: tuple[int, ...], name: str, time: float) -> Array:
    found = reals(name, answer, largest=ANY_SIZE)  # type: ignore[arg-type]  # what holds no numbers is refused
    if found.size != int(np.prod(shape)) or not np.isfinite(found).all():
        raise ParameterError(
            f"{name}= of a Feedback must return {shape[0]} finite numbers, got {answer!r} at t = {time:.9g} s"
        )
    return found.reshape(shape)


# Controllers that are asked before steps, and hold their values.


def _measured(items: Sequence[Any], dimension: int) -> Reading:
    """Return one sensor (``Reading``) for all measured values with which a controller is called, concatenated in
    the order of ``items``, shape (instants, values). A point of a body gives position and velocity in world axes
    (six values). A joint gives value and rate of each of its coordinates, a sensor its own value. ``dimension`` (2
    or 3) selects the joint coordinates."""

    def read(run: RecordedRun) -> Array:
        columns = [np.zeros((run.count, 0))]
        for item in items:
            if isinstance(item, Sensor):
                columns.append(item.read(run).reshape(run.count, -1))
            elif isinstance(item, Attachment):
                weights, vectors = run.system.point(item)
                columns.append(np.einsum("k,tki->ti", weights, vectors.values(run.instants)))
                columns.append(kinematics.velocity(run, item))
            else:
                for each in item.coordinates(dimension):
                    columns.append(kinematics.coordinate_values(run, item, each)[:, None])
                    columns.append(kinematics.coordinate_rates(run, each, run.velocities)[:, None])
        return np.concatenate(columns, axis=1)

    return Reading(read, any(isinstance(item, Sensor) and item.is_energy for item in items))


def controller_readings(
    value: ControlledValue, assembly: Assembly, run: LoggedRun
) -> tuple[Reader, Mapping[str, Array], Reading, Array]:
    """Evaluate the measurements of the controller of a load ``value`` at all instants of a run at which
    controllers were called. Return the sensor reader, the states at these instants (arrays by name, with a first
    axis (calls,)), the sensor, and the measurements (calls, components). ``assembly`` contains the model's arrays.

    Returns:
        The reader, the states, the sensor, and its values, shape (K, values).
    """
    reader = Reader(assembly, np.array([each.time for each in run.evaluations]), is_projected=False)
    rows = assembly.memory.rows(np.array([each.state for each in run.evaluations]))
    measured = _measured(value.feedback.measured, assembly.system.dimension)
    return reader, rows, measured, reader.read_all([measured], rows)[0]


class ControllerTape:
    """Derivatives of the values of one sampled controller with respect to its measurements over a run, in forward
    and reverse mode.

    Values change with earlier samples by a delay, and by the states of a linear law.

    Args:
        value: the controller.
        run: in which it was asked.
    """

    def __init__(self, value: ControlledValue, run: LoggedRun) -> None:
        feedback = value.feedback
        self.value, self._feedback, self._law = value, feedback, feedback.law
        reader, rows, measured, self._readings = controller_readings(value, run.assembly, run)
        self._times, self._jacobian = reader.times, state_jacobian(reader, rows, measured)
        self._sign = 1.0 if feedback.target is None else -1.0
        self._sizes = np.abs(self._readings).max(axis=0, initial=0.0)
        self._sizes[self._sizes == 0.0] = 1.0
        self._schedule()
        self._changes: list[Array] = []
        self._state_change: Array | None = None
        self._input_change: Array | None = None

    def _schedule(self) -> None:
        """Determine which calls of this controller sample its inputs, and whose sample's output acts after each
        call. The indices of the sampling calls are stored in ``self._samples``, the inverse in ``self._number``.
        ``self._acting`` has for each call the number of the acting sample: the latest one minus the delay in
        periods, negative before any acts.
        """
        sampled = SampledController(self.value, 0)
        self._samples: list[int] = []
        self._acting = np.full(len(self._times), -1)
        for k, time in enumerate(self._times.tolist()):
            if sampled.is_due(time):
                self._samples.append(k)
            sampled.answer(time, lambda: self._readings[k])  # noqa: B023  # asked at once
            self._acting[k] = len(self._samples) - 1 - self._feedback.delay_periods
        self._number = {k: number for number, k in enumerate(self._samples)}

    def _sample_matrices(self, number: int) -> tuple[Array, Array]:
        """Return the matrices A (order, order) and B (order, inputs) that advance the states of a linear controller
        to sample ``number`` from the one before: x becomes A x + B u for its input u. The interval lasts one
        sampling period, or without a period the time between the samples. For sample 0 the matrices are an identity
        and zero.
        """
        assert self._law is not None, "asked for of linear laws"
        if number == 0:
            return np.eye(self._law.order), np.zeros((self._law.order, self._law.inputs))
        passed = self._times[self._samples[number]] - self._times[self._samples[number - 1]]
        return transition_matrices(self._law, passed if self._feedback.period is None else self._feedback.period)

    def _slopes(self, k: int) -> Array:
        feedback, time = self._feedback, float(self._times[k])
        given = self._readings[k]
        if feedback.target is not None:
            given = feedback.target_at(time) - given
        return controller_slopes(feedback, time, given, self._sizes, self.value.size)

    def begin_backwards(self, costs: int) -> None:
        """Set the adjoints (derivatives of costs) of all samples of this controller to zero before a pass backwards
        in time; ``costs`` is the number of costs."""
        self._adjoints = np.zeros((len(self._samples), costs, self.value.size))
        self._state_adjoint: Array | None = None
        self.direct = np.zeros((len(self._times), costs, self.value.size))

    def vjp(self, k: int, adjoint: Array, pose: Array, velocity: Array) -> None:
        """Propagate adjoints backwards through call ``k`` of this controller, after all later calls. ``adjoint``
        (costs, values) belongs to the output values that act after the call. It is stored, and added to the
        adjoint of the sample that computed them. If the call samples, adjoints of the measured state are added in
        place to ``pose`` and ``velocity`` (costs, velocities)."""
        self.direct[k] = adjoint
        if self._acting[k] >= 0:
            self._adjoints[self._acting[k]] += adjoint
        number = self._number.get(k)
        if number is None:
            return
        own = self._adjoints[number]
        if self._law is None:
            given = own @ self._slopes(k)
        else:
            given, state = own @ self._law.D, own @ self._law.C
            if self._state_adjoint is not None:
                A, B = self._sample_matrices(number + 1)
                given, state = given + self._state_adjoint @ B, state + self._state_adjoint @ A
            self._state_adjoint = state
        self._jacobian.vjp(k, self._sign * given, pose, velocity)

    def jvp(self, k: int, pose: Array, velocity: Array) -> Array:
        """Return the changes of the output values of this controller that act after its call ``k``, shape
        (parameters, values). ``pose`` and ``velocity`` (parameters, velocities) are changes of the state at the
        call. If the call samples, the change of the output (and of a linear controller's state) is computed and
        stored. Before any sample acts the result is zero. Calls must be made in order of time.

        Args:
            k: questions one after the other.
            pose, velocity: changes of the state then, (parameters, velocities).
        """
        number = self._number.get(k)
        if number is not None:
            given = self._sign * self._jacobian.jvp(k, pose, velocity)
            if self._law is None:
                self._changes.append(given @ self._slopes(k).T)
            else:
                state = np.zeros((len(given), self._law.order))
                if self._state_change is not None and self._input_change is not None:
                    A, B = self._sample_matrices(number)
                    state = self._state_change @ A.T + self._input_change @ B.T
                self._state_change, self._input_change = state, given
                self._changes.append(state @ self._law.C.T + given @ self._law.D.T)
        acting = int(self._acting[k])
        return self._changes[acting] if acting >= 0 else np.zeros((len(pose), self.value.size))


def controller_values(value: ControlledValue, assembly: Assembly, run: LoggedRun) -> Array:
    """Return the values of a controller at all its calls in a recorded run, shape (calls, values). Sensors are
    evaluated at the recorded states with ``assembly``, the arrays of a (perturbed) model. The controller is then
    called again with these sensor values, in order of time, with its sampling, delay and memory."""
    reader, _, _, readings = controller_readings(value, assembly, run)
    times = reader.times.tolist()
    if is_plain(value):
        law = value.feedback.controller
        return np.array([checked_values(value, law(t, y.copy()), t) for t, y in zip(times, readings, strict=True)])
    sampled = SampledController(value, 0)
    found = [sampled.answer(t, lambda: y).copy() for t, y in zip(times, readings, strict=True)]  # noqa: B023
    return np.array(found)


def controllers_of(assembly: Assembly) -> list[ControlledValue]:
    """Return those controllers of a model whose values are constant between their calls, as a list. Force laws
    that are Python functions of the state, which are evaluated within time steps, are left out. ``assembly``
    contains the model's arrays."""
    return [each for each in assembly.controlled if not isinstance(each.feedback, StateLaw)]


def directions_of(value: ControlledValue, count: int) -> Array:
    """Return the constant derivative of all ``count`` load values of the model with respect to the outputs of a
    controller, shape (outputs, ``count``). ``value`` describes the controller and the loads that it sets. Entries
    are 1, or direction cosines where an output is the size of a force of fixed direction.
    """
    found = np.zeros((value.size, count))
    for one, row in zip(np.eye(value.size), found, strict=True):
        for target in value.targets:
            target.write(one, row)
    return found


# Laws of the state, whose values are those at the mean state of the step that they act in.


class LawsOfState:
    """Values and derivatives of all force laws that are Python functions of the state, over the steps of a run.
    They act at the mean state of a step.

    Args:
        assembly: whose laws.
        ends: times at both ends of each step, shape (steps, 2) [s].
        states: stored states there, shape (steps, 2, state size).
    """

    def __init__(self, assembly: Assembly, ends: Array, states: Array) -> None:
        self._controllers, self._ends = Controllers(assembly), ends
        self._used: IntArray = self._controllers.measured_vectors
        self._count = len(assembly.vectors)
        self._reach = assembly.system.reach
        self._reader = Reader(assembly, ends.ravel(), is_projected=False)
        self._rows = assembly.memory.rows(states.reshape(2 * len(ends), -1))
        vectors = VectorSet(tuple(assembly.vectors[k] for k in self._used), assembly.system.layout)
        self._sensor = Reading(lambda run: vectors.values(run.instants).reshape(run.count, -1))
        positions = self._reader.read_all([self._sensor], self._rows)[0]
        self._positions = positions.reshape(len(ends), 2, -1)
        changes = np.abs(self._positions[:, 1] - self._positions[:, 0])
        self._largest_change = float(changes.max(initial=0.0)) or OF_PLACES * self._reach
        self._entries = np.flatnonzero(np.arange(positions.shape[1]) % 3 < assembly.system.dimension).tolist()

    @cached_property
    def _jacobian(self) -> Jacobian:
        return state_jacobian(self._reader, self._rows, self._sensor)

    def values(self, k: int, start: Array | None = None, change: Array | None = None) -> Array:
        """Return the mean values over time step ``k`` of all forces that are Python functions of the state, shape
        (values,). The functions are called once, with positions start + change / 2 and rates change / h of the
        points and directions that they measure. ``start`` and ``change``, shape (3 * vectors,), are those of the
        recorded run if they are None.

        Args:
            k: number of the step.
            start, change: positions at its start and their change, shape (3 * used,); None: those of the run.
        """
        start = self._positions[k, 0] if start is None else start
        change = self._positions[k, 1] - self._positions[k, 0] if change is None else change
        whole = np.zeros((2, self._count, 3))
        whole[0, self._used], whole[1, self._used] = start.reshape(-1, 3), change.reshape(-1, 3)
        begin, end = self._ends[k]
        return self._controllers.mean_laws(float((begin + end) / 2), float(end - begin), whole[0], whole[1])

    def slopes(self, k: int) -> tuple[Array, Array]:
        """Return the derivatives of all forces that are Python functions of the state with respect to the vectors
        that they measure. The vectors are points and directions of bodies; k is the number of a time step. The two
        arrays (values, 3 * vectors) are for the vectors at the start and at the end of the step. They combine
        central differences with respect to the mean of both, and to their change, from which measured velocities
        follow.
        """
        first, last = self._positions[k]
        of_mean, of_change = np.zeros((2, len(self.values(k)), len(first)))
        for entry in self._entries:
            move = np.zeros((2, len(first)))
            move[:, entry] = OF_PLACES * self._reach, PROBE * self._largest_change
            sides = [self.values(k, first + sign * move[0], last - first) for sign in (1, -1)]
            of_mean[:, entry] = (sides[0] - sides[1]) / (2 * move[0, entry])
            half = move[1] / 2  # at the same mean
            sides = [self.values(k, first - sign * half, last - first + 2 * sign * half) for sign in (1, -1)]
            of_change[:, entry] = (sides[0] - sides[1]) / (2 * move[1, entry])
        return 0.5 * of_mean - of_change, 0.5 * of_mean + of_change

    def vjp(self, k: int, is_end: bool, adjoint: Array) -> Array:
        """Return the adjoint (derivatives of costs) of the pose at the start of time step ``k``, or at its end if
        ``is_end``, shape (costs, velocities). It is computed from ``adjoint``, the derivatives with respect to the
        vectors (positions, directions) that state-dependent forces measure there, shape (costs, 3 * vectors)."""
        pose, velocity = np.zeros((2, len(adjoint), self._jacobian.velocities))
        self._jacobian.vjp(2 * k + is_end, adjoint, pose, velocity)
        return pose

    def jvp(self, k: int, is_end: bool, pose: Array) -> Array:
        """Return the changes of the vectors (positions, directions) that state-dependent forces measure at an
        instant, for given small motions of all bodies. The instant is the start of time step ``k``, or its end if
        ``is_end``. ``pose``, shape (parameters, velocities), has the motions for each parameter, in the components
        of the velocities. The result has the shape (parameters, 3 * vectors)."""
        return self._jacobian.jvp(2 * k + is_end, pose, np.zeros_like(pose))

    @property
    def directions(self) -> Array:
        """Matrix that says by how much a unit of each state-dependent force value (Python function of the state)
        changes all load values of the model; shape (values, load values)."""
        return self._controllers.law_directions


def implicit_steps(run: LoggedRun) -> tuple[Array, Array]:
    """Select the time steps of a run whose forces are Python functions of the state, evaluated within the step.
    Return the times [s] and the states at both ends of these steps, shapes (steps, 2) and (steps, 2, states)."""
    pieces = [each for each in run.course if isinstance(each, RunInterval) and each.is_implicit]
    rows = [(run.stretches[each.stretch], [each.first, each.last]) for each in pieces]
    return np.array([own.times[at] for own, at in rows]), np.array([own.states[at] for own, at in rows])
