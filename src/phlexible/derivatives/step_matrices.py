"""Matrices of small changes from step to step: of states, of inputs, of readings (docs/theory.md, 9)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.readings import Reader, state_jacobian
from phlexible.derivatives.runs import RecordingStepper, Stepped, differentiable
from phlexible.derivatives.step_derivatives import DifferentiableSteps
from phlexible.derivatives.steps import Functions, entries
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ConvergenceError, ModelError
from phlexible.state.branches import branch_names
from phlexible.state.layout import State
from phlexible.state.redundancy import redundancies
from phlexible.state.system import System
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.step_calls import completed
from phlexible.step.integration.step_failures import failure_message
from phlexible.step.integration.stored_rows import Storage
from phlexible.step.tables.requests import RELAXATION


@dataclass(frozen=True, eq=False)
class StepMatrices:
    """Linearized steps of a run: state, input and output matrices A, B, C of ``dx_n+1 = A_n dx_n + B_n du_n`` and
    ``dy_n = C_n dx_n``.

    A change dx has the numbers of the pose, then those of the velocities.

    Attributes:
        states: A, shape (N, 2 velocities, 2 velocities).
        inputs: B, shape (N, 2 velocities, inputs).
        outputs: C of all instants, shape (N + 1, outputs, 2 velocities).
    """

    states: Array
    inputs: Array
    outputs: Array


def step_matrices(run: DifferentiableSteps, forces: Array, sensors: Sequence[Sensor]) -> StepMatrices:
    """Return the linearized time steps of a run: matrices A, B, C of ``dx_n+1 = A_n dx_n + B_n du_n``, ``dy_n
    = C_n dx_n``. x are pose and velocities, u inputs, y sensor readings; ``forces`` are derivatives of the
    equations with respect to inputs.

    Args:
        run: the steps.
        forces: dF/du of the equations of each step, shape (N, inputs, unknowns), as of ``TakenSteps.load_slopes``.
        sensors: of one or several numbers each.

    Raises:
        ModelError: a step whose matrix is singular, or sensors that read more than a state.
    """
    size, inputs = run.assembly.memory.counts["velocities"], forces.shape[1]
    A, B = np.zeros((run.count, 2 * size, 2 * size)), np.zeros((run.count, 2 * size, inputs))
    each = np.zeros((2, 2 * size + inputs, size))  # of pose and velocity, each number alone
    each[0, :size], each[1, size : 2 * size] = np.eye(size), np.eye(size)
    equations = np.zeros((2 * size + inputs, forces.shape[2]))
    for k in range(run.count):
        equations[2 * size :] = forces[k]
        pose, velocity = np.zeros((2, 2, *each.shape[1:]))
        pose[0], velocity[0] = each
        run.jvp(k, k + 1, pose, velocity, equations[None].copy())
        both = np.concatenate([pose[1], velocity[1]], axis=1).T
        A[k], B[k] = both[:, : 2 * size], both[:, 2 * size :]
    return StepMatrices(A, B, output_slopes(run, sensors))


def output_slopes(run: DifferentiableSteps, sensors: Sequence[Sensor]) -> Array:
    """Return the derivatives of all readings of ``sensors``, one sensor after the other, at all instants of a
    ``run``. The shape is (instants, readings, 2 * velocities): columns of the pose, then of the velocities."""
    numbers, reader = 2 * run.assembly.memory.counts["velocities"], Reader(run.assembly, run.times)
    found = [np.zeros((run.count + 1, 0, numbers))]
    for sensor in sensors:
        jacobian = state_jacobian(reader, run.rows, sensor)
        rows = np.zeros((*jacobian.values.shape[:2], numbers))
        rows[..., jacobian.directions] = jacobian.values
        found.append(rows)
    return np.concatenate(found, axis=1)


NOT_SMOOTH = (
    "{} is a contact or stop that touches, around which steps are taken in parts: a run with it is not made of"
    " equal steps; take a smooth spring instead"
)
CLOSED = 1e-9
"""Depth below which a contact counts as open, relative to the longest body or to a radian."""


def equal_steps_alone(system: System, start: State) -> Assembly:
    """Return the tables of numbers of a system for equal time steps whose equations depend on pose and
    velocities alone; raise ``ModelError`` if it has parts that do not allow this. Contacts and stops that are
    open in the state ``start`` are left out.

    Args:
        start: the state whose stops and contacts count.

    Raises:
        ModelError: events, controllers, functions of the state, rolling, contacts and stops that touch, laws that
            creep or stick, named.
    """
    at = system.at(start)
    smooth = []
    for each in system.forces:
        if contact := each.force.contact:
            coordinate = each.force.coordinate
            value = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
            length = 1.0 if coordinate.is_angle else system.body_length
            if contact.side * (each.force.rest - value) > CLOSED * length:
                raise ModelError(NOT_SMOOTH.format(each.element))
        else:
            smooth.append(each)
    system = replace(system, forces=tuple(smooth))
    for name in branch_names(system):
        raise ModelError(
            f"{name.rsplit(':', 1)[0]} is viscoelastic (ph.Maxwell): its history variables are not supported here;"
            " leave relaxation= out, or take viscosity or a damper"
        )
    for element, force in system.forces:
        if force.friction and force.friction.has_bristle:
            raise ModelError(
                f"{element} has friction with a bristle, whose history variables are not supported here; give"
                " bristle=0, without rolling= and drilling="
            )
    if system.mechanism.events:
        raise ModelError(
            "events (model.at) are not supported here, since they change the equations of the steps; leave them out"
        )
    for element in system.mechanism.elements:
        if isinstance(element, Contact) and element.is_contact_group:
            raise ModelError(NOT_SMOOTH.format(element))
    assembly = differentiable(system)
    for controlled in assembly.controlled:
        raise ModelError(
            f"{controlled.name} calls a Python function of the state; write the controller as joint.spring,"
            " joint.damper and joint.torque(function of time)"
        )
    return assembly


def take_steps(
    assembly: Assembly, state: State, step: float, count: int, added: Array | None = None
) -> DifferentiableSteps:
    """Simulate ``count`` equal time steps of ``step`` [s] from a state and return them in a form that can be
    differentiated. ``added`` are additional load values for each time step. ``assembly`` holds the tables of
    the model.

    Args:
        assembly: of ``equal_steps_alone``.
        state: to begin with.
        step: [s].
        count: of the steps.
        added: to the load values of each step, shape (count, 3 values); None: nothing.

    Raises:
        ConvergenceError: a step of this size did not converge.
    """
    is_redundant = bool(redundancies(assembly.system, state))
    times: Array = np.asarray(state.time + step * np.arange(count + 1), dtype=np.float64)
    stepper = RecordingStepper(assembly, 2, 0.0, is_redundant)
    stepper.begin(state)
    if added is not None:
        stepper.add_loads(added)
    taken = completed(stepper.advance(times, step, Storage()))
    if taken.steps < count:
        at = float(times[taken.steps])
        words, history = failure_message(stepper, at, taken.is_singular)
        raise ConvergenceError(f"the step from t = {at:.9g} s failed: {words}; take a smaller step", at, history)
    (all_steps,) = stepper.log
    assert isinstance(all_steps, Stepped), "nothing else was done"
    relaxation, given = RELAXATION if is_redundant else 0.0, Functions(all_steps.moving, all_steps.loads)
    sizes = np.full(count, step)
    return DifferentiableSteps(assembly, times, sizes, 0.0, relaxation, all_steps.states, given, entries(assembly))
