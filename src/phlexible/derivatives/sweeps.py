"""Propagation of small changes through a whole run: backwards from costs, forwards from a few parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.controllers import (
    ControllerTape,
    LawsOfState,
    controller_values,
    controllers_of,
    directions_of,
    implicit_steps,
)
from phlexible.derivatives.readings import PROJECTED, Jacobian, Readable, Reader, Reading, state_jacobian
from phlexible.derivatives.runs import LoggedRun, RunInterval, VelocityJump
from phlexible.derivatives.steps import LoggedSteps, pose_map
from phlexible.derivatives.variations import Variation, strain_indices
from phlexible.errors import ModelError
from phlexible.measure.when import When
from phlexible.step.assembly.assembly import Assembly

# Derivatives of events, with positions of locks and instants at which conditions are met (docs/theory.md, 9).

SHORT = 1e-4
"""Relative step of central differences in time, compared with the steps at an event."""


def read_at(time: float, state: Array, assembly: Assembly, sensor: Readable) -> Array:
    """Return the value of a sensor in one state of a model at a ``time`` [s]. ``state`` is the flat state vector,
    ``assembly`` contains the model's arrays."""
    found = Reader(assembly, np.array([time])).read_all([sensor], assembly.memory.rows(state[None]))
    return np.asarray(found[0][0])


def slopes_at(time: float, state: Array, assembly: Assembly, sensor: Readable) -> Jacobian:
    """Return the derivative of a sensor's value with respect to pose and velocities in one state of a model at a
    ``time`` [s]. ``state`` is the flat state vector, ``assembly`` contains the model's arrays."""
    return state_jacobian(Reader(assembly, np.array([time])), assembly.memory.rows(state[None]), sensor)


def _lock_reading(jump: VelocityJump, assembly: Assembly) -> Reading:
    """Return a sensor that measures the joint coordinates which an event (``jump``) locks, shape (instants,
    locks). Its values are those of the constraint functions of the locks. ``assembly`` contains the model's
    arrays."""
    switches = assembly.system.row_switches
    rows = np.array([np.flatnonzero(switches == k)[0] for k in jump.locks], dtype=np.int64)
    return Reading(lambda run: run.system.row_values(run.instants, run.recording.theta)[:, rows])


def lock_positions(jump: VelocityJump, assembly: Assembly) -> Array:
    """Return the joint coordinates at which an event (``jump``) locks joints, shape (locks,) [m or rad]. They are
    evaluated at the state before the event; the array is empty if the event locks no joint. ``assembly`` contains
    the model's arrays."""
    if not jump.locks:
        return np.zeros(0)
    return read_at(jump.time, jump.before, assembly, _lock_reading(jump, assembly))


def lock_slopes(jump: VelocityJump, assembly: Assembly) -> Jacobian:
    """Return the derivative of the joint coordinates at which an event locks joints with respect to pose and
    velocities just before the event. A lock keeps a joint coordinate constant from the event on, at its value in
    the state ``jump.before``. That value is differentiated like a sensor value; ``assembly`` contains the model's
    arrays."""
    return slopes_at(jump.time, jump.before, assembly, _lock_reading(jump, assembly))


def velocities_after(jump: VelocityJump, assembly: Assembly) -> Array:
    """Return the velocities after a jump of the velocities (projection onto the constraints, as at events), shape
    (velocities,). They are computed from the recorded state before it with the data of ``assembly``, a (perturbed)
    model."""
    return read_at(jump.time, jump.before, assembly, PROJECTED)


def excess_at(jump: VelocityJump, assembly: Assembly) -> float:
    """Return by how much the condition of an event (``jump``) exceeds its threshold in the recorded state of the
    event: positive where it is met, also for a condition ``below``. For an event at a prescribed time it is the
    time since then [s]. Data are those of a (perturbed) ``assembly``."""
    assert jump.at_event is not None, "of an event"
    return float(read_at(jump.time, jump.at_event, assembly, _condition(jump, assembly)))


def _condition(jump: VelocityJump, assembly: Assembly) -> Reading:
    """Return a sensor whose value is how far the condition of an event exceeds its threshold, so that it is zero
    at the event. For an event at a prescribed time, the value is the time since then [s], negative before.
    ``jump`` is the velocity jump that the event caused."""
    when = assembly.system.mechanism.events[jump.event].when
    if isinstance(when, float):
        return Reading(lambda run: run.time - when)
    assert isinstance(when, When), "of a model that runs"
    is_energy = any(sensor.is_energy for sensor in when.sensors)
    return Reading(lambda run: when.excess(run.time, [sensor.read(run) for sensor in when.sensors]), is_energy)


def slopes_of_locks(stretch: LoggedSteps, first: int, last: int) -> Array:
    """Return the derivatives of time step residuals with respect to the joint coordinates at which events have
    locked joints, shape (steps, switches, unknowns). A switch stands for one lock. Entries are -1 over the length
    of the step in the constraint equation of a lock that is active at the instant ``first``, else zero. The steps
    are those of ``stretch`` between the instants ``first`` and ``last``.
    """
    assembly = stretch.assembly
    switches, rows = assembly.system.row_switches, assembly.memory["row_unknown"]
    held = stretch.rows["locked_at"][first]
    found = np.zeros((last - first, len(held), assembly.memory.counts["unknowns"]))
    for row in np.flatnonzero(switches >= 0):
        if not np.isnan(held[switches[row]]):
            found[:, switches[row], rows[row]] = -1.0 / stretch.sizes[first:last]
    return found


@dataclass(frozen=True, eq=False)
class Crossing:
    """Event that occurs inside of a step, with the derivatives of the motion with respect to its instant. The step
    ends at the event and the next one begins there.

    Attributes:
        run: in which the event occurs.
        jump: of the velocities at the event.
        before, after: stretch, first and last instant of the steps that end and that begin there.
    """

    run: LoggedRun
    jump: VelocityJump
    before: tuple[int, int, int]
    after: tuple[int, int, int]

    @cached_property
    def residual_derivatives(self) -> tuple[Array, Array]:
        """Derivatives of the residuals of the time steps before and after this event with respect to the event's
        instant, at constant states. They are a pair of arrays (steps, unknowns), by central differences. If the
        event comes later, the steps between the last fixed instant and the event become longer in proportion, those
        from the event to the next fixed instant shorter.
        """
        (own, a, b), (other, c, d) = self.before, self.after
        stretches = self.run.stretches
        first, second = stretches[own].times[a : b + 1], stretches[other].times[c : d + 1]
        rise, fall = (first - first[0]) / (first[-1] - first[0]), (second[-1] - second) / (second[-1] - second[0])
        return stretches[own].time_slopes(a, b, rise, SHORT), stretches[other].time_slopes(c, d, fall, SHORT)

    @cached_property
    def pose_derivatives(self) -> tuple[Array, Array]:
        """Derivatives [m/s, rad/s] of the pose change in each time step around this event with respect to its
        instant, at constant velocities. There is an array (steps, velocities) for the steps before and one for
        those after the event. Before it, each step's pose change grows in proportion to its length; after it, each
        shrinks (negative sign)."""
        found = []
        for sign, (number, first, last) in ((1, self.before), (-1, self.after)):
            stretch = self.run.stretches[number]
            velocities = stretch.rows["velocity"]
            ways = [pose_map(stretch, k) @ (velocities[k] + velocities[k + 1]) for k in range(first, last)]
            found.append(sign * np.array(ways) / stretch.sizes[first:last].sum())
        return found[0], found[1]

    @cached_property
    def state(self) -> tuple[Array, Array]:
        """Derivatives of pose and velocities at this event with respect to the event's instant, two arrays
        (velocities,). The time steps from the last fixed instant to the event become longer, while the state before
        the first of them is constant. The changes are propagated forwards through these linearized steps.
        """
        number, first, last = self.before
        both = np.zeros((2, 1, self.run.velocities))
        for k in range(first, last):
            ends = np.zeros((2, 2, 1, self.run.velocities))
            ends[:, 0] = both
            equations = np.ascontiguousarray(self.residual_derivatives[0][k - first][None, None])
            self.run.stretches[number].jvp(k, k + 1, ends[0], ends[1], equations)
            both = ends[:, 1].copy()
            both[0, 0] += self.pose_derivatives[0][k - first]
        return both[0, 0], both[1, 0]

    @cached_property
    def condition(self) -> Jacobian:
        """Derivative of the condition of this event (its quantity minus threshold) with respect to pose and
        velocities at the event."""
        assert self.jump.at_event is not None, "of an event"
        sensor = _condition(self.jump, self.run.assembly)
        return slopes_at(self.jump.time, self.jump.at_event, self.run.assembly, sensor)

    @cached_property
    def rate(self) -> float:
        """Total derivative of this event's condition (quantity minus threshold) with respect to the event's instant
        [unit of the quantity per second]. It counts that the state at the event moves on along the computed motion.
        Minus the change of the condition by a parameter, divided by this rate, is the shift of the instant.
        """
        assert self.jump.at_event is not None, "of an event"
        q, v = self.state
        in_time = self._in_time(_condition(self.jump, self.run.assembly), self.jump.at_event)
        return float(self.condition.jvp(0, q, v)[0] + in_time)

    @cached_property
    def velocity_slope(self) -> Array:
        """Partial derivative of the velocities just after this event with respect to its instant, at a constant
        state before it, shape (velocities,). It is zero unless motions are prescribed as functions of time.
        """
        if not self.run.assembly.moving:
            return np.zeros(self.run.velocities)
        return self._in_time(PROJECTED, self.jump.before)

    def _in_time(self, sensor: Readable, state: Array) -> Array:
        number, first, last = self.before
        times, assembly, time = self.run.stretches[number].times, self.run.assembly, self.jump.time
        size = SHORT * abs(float(times[last] - times[first]))
        return np.asarray(
            (read_at(time + size, state, assembly, sensor) - read_at(time - size, state, assembly, sensor))
            / (2 * size)
        )


def crossings_of(run: LoggedRun) -> dict[int, Crossing]:
    """Return the events of a run that occur inside of a time step, as a dictionary of ``Crossing`` objects by
    their index in ``run.course``. Each has the velocity jump at the event, and the time steps before and after it
    whose lengths change when the event moves in time. ModelError is raised if forces are Python functions of the
    state.

    Raises:
        ModelError: laws of the state act in the steps that end there.
    """
    found: dict[int, Crossing] = {}
    for k, each in enumerate(run.course):
        if not isinstance(each, VelocityJump) or each.span is None:
            continue
        if run.has_laws:
            raise ModelError(
                "a condition that ends a step (model.at(When(...))) and StateForce in one model cannot be"
                " differentiated yet; take springs, dampers or joint.servo instead of the function"
            )
        before = next(own for own in reversed(run.course[:k]) if isinstance(own, RunInterval))
        after = next(own for own in run.course[k:] if isinstance(own, RunInterval))
        ends, begins = each.span
        found[k] = Crossing(
            run,
            each,
            (before.stretch, before.last - ends, before.last),
            (after.stretch, after.first, after.first + begins),
        )
    return found


# What else than states a run is made of: equations of steps, jumps, what controllers and laws say.


@dataclass(frozen=True, eq=False)
class EquationValues:
    """Values, derivatives or adjoints for all parts of a run: step equations, history variables, velocity jumps,
    controllers, laws and events.

    Attributes:
        equations: residuals of the steps of each stretch, shape (N, unknowns) each.
        strains: of branches at the ends of the steps of each stretch, shape (N, branches) each.
        jumps: velocities after each jump, shape (jumps, velocities).
        controllers: values at each evaluation, of each controller, shape (K, size) each.
        laws: values of laws of the state in each step, shape (steps, values).
        locks: positions of the locks of events, one after the other, shape (locks,).
        conditions: of the events inside of steps, shape (conditions,).
    """

    equations: tuple[Array, ...]
    strains: tuple[Array, ...]
    jumps: Array
    controllers: tuple[Array, ...]
    laws: Array
    locks: Array
    conditions: Array

    def minus(self, other: "EquationValues", scale: float) -> "EquationValues":
        """Return the difference of this and the ``other`` set of values for all equations of a simulated run,
        divided by ``scale``: a difference quotient. Sets cover time steps, velocity jumps, controllers and
        events."""

        def less(a: Any, b: Any) -> Any:
            return tuple(map(less, a, b)) if isinstance(a, tuple) else (a - b) / scale

        return EquationValues(*(less(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)))

    def times(self, other: "EquationValues") -> float:
        """Return the dot product of this and the ``other`` set of values for all equations of a simulated run
        (steps, velocity jumps, controllers, events). An adjoint times changes of the equations is the change
        of a cost."""

        def product(a: Any, b: Any) -> float:
            return sum(map(product, a, b)) if isinstance(a, tuple) else float(np.sum(a * b))

        return sum(product(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))


def equation_values(run: LoggedRun, assembly: Assembly) -> EquationValues:
    """Evaluate all equations of a perturbed model at the recorded states of ``run`` and return the values as an
    ``EquationValues``. They are the time step residuals, one array (steps, unknowns) for each sequence of steps
    between velocity jumps, and all that ``values_without_residuals`` returns. ``assembly`` contains the arrays of
    the perturbed model."""
    equations = tuple(own.residuals(assembly.memory, own.functions_of(assembly)) for own in run.stretches)
    return replace(values_without_residuals(run, assembly), equations=equations)


def values_without_residuals(run: LoggedRun, assembly: Assembly) -> EquationValues:
    """Evaluate a perturbed model at the recorded states of ``run`` and return an ``EquationValues`` without step
    residuals. It has history variables (Maxwell strains, friction deflections, impact speeds), velocities after
    jumps, values of controllers and state-dependent forces, positions of locks, and excess of event conditions
    over thresholds. ``assembly`` has the perturbed model's arrays."""
    strains = tuple(own.strains(assembly) for own in run.stretches)
    jumps = [each for each in run.course if isinstance(each, VelocityJump)]
    velocities = np.array([velocities_after(each, assembly) for each in jumps]).reshape(-1, run.velocities)
    locks = np.concatenate([np.zeros(0), *(lock_positions(each, assembly) for each in jumps)])
    conditions = np.array([excess_at(each, assembly) for each in jumps if each.span is not None])
    own = controllers_of(assembly) if run.evaluations else []
    controllers = tuple(controller_values(each, assembly, run) for each in own)
    return EquationValues((), strains, velocities, controllers, _values_of_laws(run, assembly), locks, conditions)


def _values_of_laws(run: LoggedRun, assembly: Assembly) -> Array:
    if not run.has_laws:
        return np.zeros((0, 0))
    ends, states = implicit_steps(run)
    laws = LawsOfState(assembly, ends, states)
    return np.array([laws.values(k) for k in range(len(ends))])


class _Laws:
    """Controllers and state-dependent force laws of a run, with the derivatives of the step equations with respect
    to their values.

    Attributes:
        tapes: of controllers.
        of_state: laws of the state, or None.
    """

    def __init__(self, run: LoggedRun) -> None:
        assembly = run.assembly
        own = controllers_of(assembly) if run.evaluations else []
        self.tapes = [ControllerTape(each, run) for each in own]
        count = 3 * assembly.memory.counts["load_values"]
        self._directions = [directions_of(each, count) for each in own]
        self.of_state: LawsOfState | None = None
        if run.has_laws:
            self.of_state = LawsOfState(assembly, *implicit_steps(run))
            self._directions.append(self.of_state.directions)
        self.sizes = [len(each) for each in self._directions]
        directions = np.concatenate([np.zeros((0, count)), *self._directions])
        self._slopes = [stretch.load_slopes(directions) for stretch in run.stretches]

    @property
    def control_count(self) -> int:
        """Number of values that the sampled controllers of this run set. They come before the values of
        state-dependent forces, which are not counted."""
        return sum(each.value.size for each in self.tapes)

    def slopes(self, interval: RunInterval) -> Array:
        """Return the derivatives of time step residuals with respect to the values of controllers and
        state-dependent forces, shape (steps, values, unknowns). ``interval`` says which consecutive time steps
        of the run."""
        return self._slopes[interval.stretch][interval.first : interval.last]

    def slices(self) -> list[slice]:
        """Return for each sampled controller of a run the slice of its output values among the values of all
        controllers."""
        ends = np.cumsum([0, *(each.value.size for each in self.tapes)]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]


# Backwards.


@dataclass(frozen=True, eq=False)
class Adjoint:
    """Adjoint of a cost: derivatives of the cost with respect to the initial state and to the equations and values
    of all parts of a run.

    Attributes:
        start: with respect to the initial state, shape (velocities,) each, and to strains, (strains,).
        parts: with respect to the equations of steps and the values of jumps, controllers and laws.
        poses: with respect to the poses at the ends of the steps, shape (N, velocities).
    """

    start: Variation
    parts: EquationValues
    poses: Array


def is_plain(run: LoggedRun) -> bool:
    """Return whether a run has nothing but time steps: no velocity jumps, controllers, state-dependent forces,
    locks or history variables. History variables are strains of Maxwell branches, deflections of friction springs
    and impact speeds."""
    interval = run.course[0] if len(run.course) == 1 else None
    if not isinstance(interval, RunInterval) or interval.is_implicit or run.is_controlled:
        return False
    return not run.system.mechanism.switches and not len(strain_indices(run.assembly))


def zero_values(run: LoggedRun) -> EquationValues:
    """Return an ``EquationValues`` for a run of time steps alone, all of whose values are zero. It has empty arrays
    or tuples for jumps, controllers, events and strains. The tuple of time step equations is empty too; the caller
    replaces it."""
    none = np.zeros(0)
    strains = tuple(np.zeros((own.count, 0)) for own in run.stretches)
    return EquationValues((), strains, np.zeros((0, run.velocities)), (), np.zeros((0, 0)), none, none)


def adjoints(run: LoggedRun, slopes: Sequence[Variation], after: Sequence[Variation] | None) -> list[Adjoint]:
    """Return the adjoints of several costs of a run by one pass backwards in time: derivatives with respect to the
    initial state and to all residuals. Residuals are those of time steps, velocity jumps, controllers, locks and
    events. ``slopes`` are derivatives of the costs with respect to the state at each stored instant. ``after`` are
    derivatives with respect to the final state through later time steps (None: none).

    Args:
        run: the run.
        slopes: derivatives of the costs with respect to the states at all stored instants, shape (T, velocities)
            each.
        after: derivatives of the costs with respect to the final state through later steps; None: there are none.
    """
    size, number, laws = run.velocities, len(slopes), _Laws(run)
    branches, switches = len(strain_indices(run.assembly)), len(run.system.mechanism.switches)
    for tape in laws.tapes:
        tape.begin_backwards(number)
    at_rows = [np.zeros((2, own.count + 1, number, size)) for own in run.stretches]
    for k, each in enumerate(slopes):
        for stretch, rows in enumerate(at_rows):
            own = run.indices[:, 0] == stretch
            np.add.at(rows[0, :, k], run.indices[own, 1], each.pose[1:][own])
            np.add.at(rows[1, :, k], run.indices[own, 1], each.velocity[1:][own])
    felt = [np.zeros((own.count, number, own.assembly.memory.counts["unknowns"])) for own in run.stretches]
    grown = [np.zeros((own.count, number, branches)) for own in run.stretches]
    poses: list[Array] = []
    history: Array = np.zeros((number, branches))  # what is felt of strains of branches
    jumps: list[Array] = []
    obeyed: list[Array] = []
    locks: list[Array] = [np.zeros((number, 0))]
    conditions: list[Array] = []
    crossings = crossings_of(run)
    held, locked = np.zeros((number, laws.control_count)), np.zeros((number, switches))
    q, v = np.zeros((2, number, size))
    if after is not None:
        q, v = np.stack([each.pose for each in after]), np.stack([each.velocity for each in after])
    following: Array = np.zeros((0, number, size))  # slopes of the pose in the steps that follow
    for course in range(len(run.course) - 1, -1, -1):
        part = run.course[course]
        if isinstance(part, RunInterval):
            mine = at_rows[part.stretch]
            if part.is_implicit:
                end = mine[:, part.last]
                q, v, found, values = _vjp_implicit(run, part, laws, q + end[0], v + end[1], len(obeyed))
                obeyed.append(values)
            else:
                pose, velocity = mine[:, part.first : part.last + 1].copy()
                pose[-1] += q
                velocity[-1] += v
                pose[0], velocity[0] = 0.0, 0.0
                own_steps = part.first, part.last
                found, ends, history = run.stretches[part.stretch].vjp(*own_steps, pose, velocity, history)
                grown[part.stretch][part.first : part.last] = ends
                q, v, following = pose[0].copy(), velocity[0].copy(), pose
                poses.append(pose[1:])
            felt[part.stretch][part.first : part.last] = found
            if laws.control_count:
                held += np.einsum("kcu,knu->nc", laws.slopes(part)[:, : laws.control_count], found)
            if switches:
                of_locks = slopes_of_locks(run.stretches[part.stretch], part.first, part.last)
                locked += np.einsum("kcu,knu->nc", of_locks, found)
        elif isinstance(part, VelocityJump):
            jumps.append(v)
            end, v = v, np.zeros_like(v)
            slopes_at(part.time, part.before, run.assembly, PROJECTED).vjp(0, end, q, v)
            if part.locks:
                chosen = list(part.locks)
                locks.append(locked[:, chosen])
                lock_slopes(part, run.assembly).vjp(0, locked[:, chosen], q, v)
                locked[:, chosen] = 0.0
            if (crossing := crossings.get(course)) is not None:
                stretch, first, last = crossing.after
                later = end @ crossing.velocity_slope
                later += np.einsum("knu,ku->n", felt[stretch][first:last], crossing.residual_derivatives[1])
                later += np.einsum("knv,kv->n", following[1 : last - first + 1], crossing.pose_derivatives[1])
                conditions.append(-(q @ crossing.state[0] + v @ crossing.state[1] + later) / crossing.rate)
                crossing.condition.vjp(0, conditions[-1][:, None], q, v)
        else:
            for tape, index in zip(laws.tapes, laws.slices(), strict=True):
                tape.vjp(part, held[:, index], q, v)
            held[:] = 0.0
    return [
        Adjoint(
            Variation(q[k] + each.pose[0], v[k] + each.velocity[0], history[k]),
            EquationValues(
                tuple(own[:, k] for own in felt),
                tuple(own[:, k] for own in grown),
                np.array([own[k] for own in jumps[::-1]]).reshape(-1, size),
                tuple(tape.direct[:, k] for tape in laws.tapes),
                np.array([own[k] for own in obeyed[::-1]]) if obeyed else np.zeros((0, 0)),
                np.concatenate([own[k] for own in locks[::-1]]),
                np.array([own[k] for own in conditions[::-1]]),
            ),
            np.concatenate([np.zeros((0, size)), *(own[:, k] for own in poses[::-1])]),
        )
        for k, each in enumerate(slopes)
    ]


def _vjp_implicit(
    run: LoggedRun, interval: RunInterval, laws: _Laws, q: Array, v: Array, from_the_end: int
) -> tuple[Array, Array, Array, Array]:
    """Propagate derivatives of costs backwards through one time step whose forces are Python functions of the
    state, also of that at its end. ``interval`` is the time step in the ``run``, ``laws`` are the functions. q and
    v, shape (costs, velocities), are the derivatives with respect to pose and velocities at its end. Return those
    with respect to pose and velocities at its start, to the residuals of its equations, and to the force values. As
    the forces depend on the state that they cause, a dense linear system is solved for the last. ``from_the_end``
    is the number of such steps that follow this one.
    """
    assert laws.of_state is not None, "the step has some"
    k = run.implicit - 1 - from_the_end
    at_start, at_end = laws.of_state.slopes(k)
    costs, count = len(q), len(at_end)
    pose, velocity = np.zeros((2, interval.last - interval.first + 1, costs + count, run.velocities))
    pose[-1, :costs], velocity[-1, :costs] = q, v
    pose[-1, costs:] = laws.of_state.vjp(k, True, at_end)
    found = run.stretches[interval.stretch].vjp(interval.first, interval.last, pose, velocity)[0]
    share = np.einsum("kvu,kcu->vc", laws.slopes(interval)[:, laws.control_count :], found)
    values = np.linalg.solve(np.eye(count) - share[:, costs:], share[:, :costs]).T
    weights = np.hstack([np.eye(costs), values])
    q = weights @ pose[0] + laws.of_state.vjp(k, False, values @ at_start)
    return q, weights @ velocity[0], np.einsum("nc,kcu->knu", weights, found), values


# Forwards.


def state_derivatives(run: LoggedRun, start: Variation, changes: Sequence[EquationValues]) -> Variation:
    """Return the derivatives of pose and velocities with respect to parameters at all stored instants, both
    (instants, parameters, velocities). Derivatives of the initial state (``start``) are propagated forwards
    through the linearized time steps, velocity jumps, controllers and locks. Instants of conditional events change
    too. ``changes`` has, for each parameter, the derivatives of all residuals at constant states.

    Args:
        run: the run.
        start: derivatives of the first state, (parameters, .) each.
        changes: derivatives of all other parts at constant states, of each parameter.
    """
    laws, number = _Laws(run), len(changes)
    pose, velocity = np.zeros((2, len(run.times), number, run.velocities))
    where = [np.full(own.count + 1, -1) for own in run.stretches]  # instants of rows, where they are stored
    for k, (stretch, row) in enumerate(run.indices.tolist(), start=1):
        where[stretch][row] = k
    pose[0], velocity[0] = start.pose, start.velocity
    q, v, held = start.pose.copy(), start.velocity.copy(), np.zeros((number, laws.control_count))
    history = start.strains  # changes of strains of branches
    jump = obeyed = locks = conditions = 0
    crossings, switches = crossings_of(run), len(run.system.mechanism.switches)
    locked = np.zeros((number, switches))
    begun: tuple[Crossing, Array] | None = None  # where the next steps begin, and how its instant changes
    for course, each in enumerate(run.course):
        if isinstance(each, RunInterval):
            own = slice(each.first, each.last)
            equations = np.stack([change.equations[each.stretch][own] for change in changes], axis=1)
            if switches:
                slopes = slopes_of_locks(run.stretches[each.stretch], each.first, each.last)
                equations = equations + np.einsum("kcu,pc->kpu", slopes, locked)
            if laws.control_count:
                equations = equations + np.einsum("kcu,pc->kpu", laws.slopes(each)[:, : laws.control_count], held)
            if each.is_implicit:
                values = np.array([change.laws[obeyed] for change in changes])
                q, v = _jvp_implicit(run, each, laws, q, v, equations, values, obeyed)
                obeyed += 1
                ends_at, ways = np.array([each.last]), np.stack([q, v])[:, None]
            else:
                ends = np.stack([change.strains[each.stretch][own] for change in changes], axis=1)
                moved, history = _jvp_steps(run, each, (q, v, history), equations, ends, begun)
                begun = None
                q, v = moved[:, -1].copy()
                ends_at, ways = np.arange(each.first + 1, each.last + 1), moved[:, 1:]
            instants = where[each.stretch][ends_at]
            is_stored = instants >= 0
            pose[instants[is_stored]], velocity[instants[is_stored]] = ways[:, is_stored]
        elif isinstance(each, VelocityJump):
            crossing = crossings.get(course)
            later = np.zeros(number)
            if crossing is not None:
                own_changes = np.array([change.conditions[conditions] for change in changes])
                later = -(crossing.condition.jvp(0, q, v)[:, 0] + own_changes) / crossing.rate
                q, v = q + np.outer(later, crossing.state[0]), v + np.outer(later, crossing.state[1])
                begun, conditions = (crossing, later), conditions + 1
            if each.locks:
                chosen, end = list(each.locks), locks + len(each.locks)
                own_changes = np.array([change.locks[locks:end] for change in changes])
                locked[:, chosen] = lock_slopes(each, run.assembly).jvp(0, q, v) + own_changes
                locks = end
            v = slopes_at(each.time, each.before, run.assembly, PROJECTED).jvp(0, q, v)
            v = v + np.array([change.jumps[jump] for change in changes])
            if crossing is not None:
                v += np.outer(later, crossing.velocity_slope)
            jump += 1
        else:
            for number_, (tape, index) in enumerate(zip(laws.tapes, laws.slices(), strict=True)):
                own_changes = np.array([change.controllers[number_][each] for change in changes])
                held[:, index] = tape.jvp(each, q, v) + own_changes
    return Variation(pose, velocity)


def _jvp_steps(
    run: LoggedRun,
    interval: RunInterval,
    before: tuple[Array, Array, Array],
    equations: Array,
    ends: Array,
    begun: tuple[Crossing, Array] | None,
) -> tuple[Array, Array]:
    """Propagate derivatives of the state with respect to parameters forwards through the time steps ``interval`` of
    a run. ``before`` has those of pose, velocities and history variables before the steps. ``equations`` are the
    derivatives of the residuals at constant states, ``ends`` those of the history variables at the end of each
    step. ``begun`` is an event at the beginning, with the derivatives of its instant, which change the lengths of
    the first steps (None: none). Return derivatives of pose and velocities at all instants, (2, instants,
    parameters, velocities), and of the history at the end.

    Args:
        run, interval: the steps.
        before: changes before them, shape (parameters, velocities) twice and (parameters, strains).
        equations: changes of the equations, shape (steps, parameters, unknowns).
        ends: changes of the history variables at the ends for constant states, shape (steps, parameters, strains).
        begun: crossing at their beginning and changes of its instant, (parameters,); None: the instant is constant.
    """
    q, v, history = before
    stretch, moved = run.stretches[interval.stretch], np.zeros((2, interval.last - interval.first + 1, *q.shape))
    moved[:, 0] = q, v
    count = 0 if begun is None else len(begun[0].residual_derivatives[1])
    for k in range(count):
        crossing, later = begun  # type: ignore[misc]  # there is one
        own = equations[k : k + 1] + np.outer(later, crossing.residual_derivatives[1][k])
        pose, velocity = moved[:, k : k + 2].copy()
        stretch.jvp(interval.first + k, interval.first + k + 1, pose, velocity, np.ascontiguousarray(own))
        moved[:, k + 1] = pose[1] + np.outer(later, crossing.pose_derivatives[1][k]), velocity[1]
    pose, velocity = moved[:, count:]  # views, each contiguous
    rest = np.ascontiguousarray(equations[count:])
    history = stretch.jvp(interval.first + count, interval.last, pose, velocity, rest, (history, ends[count:]))
    return moved, history


def _jvp_implicit(
    run: LoggedRun, interval: RunInterval, laws: _Laws, q: Array, v: Array, equations: Array, values: Array, k: int
) -> tuple[Array, Array]:
    """Return the derivatives of pose and velocities with respect to parameters, both (parameters, velocities),
    after a time step with state-dependent forces. ``interval`` is the time step in the ``run``. The forces,
    ``laws``, are Python functions of the state, also of that at the end of the step, so that a dense linear system
    is solved for their derivatives. q and v are the derivatives before the step, ``equations`` those of the
    residual, ``values`` those of the forces, both at constant state. k is the step's index among such steps.

    Args:
        run, interval, laws: the step.
        q, v: changes before it, shape (parameters, velocities).
        equations: changes of its equations, shape (steps, parameters, unknowns).
        values: changes of the values of the laws at constant states, shape (parameters, values).
        k: index of the step among those with laws of the state.
    """
    assert laws.of_state is not None, "the step has some"
    at_start, at_end = laws.of_state.slopes(k)
    number, count, slopes = len(q), len(at_end), laws.slopes(interval)[:, laws.control_count :]
    moved = np.zeros((2, interval.last - interval.first + 1, number + count, run.velocities))
    moved[0, 0, :number], moved[1, 0, :number] = q, v
    both = np.ascontiguousarray(np.concatenate([equations, slopes], axis=1))
    run.stretches[interval.stretch].jvp(interval.first, interval.last, moved[0], moved[1], both)
    ends = moved[:, -1]
    felt = laws.of_state.jvp(k, True, ends[0]) @ at_end.T  # (parameters and values, values)
    known = values + laws.of_state.jvp(k, False, q) @ at_start.T + felt[:number]
    found = np.linalg.solve(np.eye(count) - felt[number:].T, known.T).T
    q, v = ends[:, :number] + np.einsum("pc,scn->spn", found, ends[:, number:])
    return q, v
