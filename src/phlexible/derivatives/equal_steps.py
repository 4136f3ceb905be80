"""Runs of nothing but steps of one size, with loads that are added from outside."""

from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.runs import RecordingStepper, Stepped, differentiable
from phlexible.derivatives.step_derivatives import DifferentiableSteps
from phlexible.derivatives.steps import Functions, entries
from phlexible.description.interactions.contact import Contact
from phlexible.errors import ConvergenceError, ModelError
from phlexible.state.branches import branch_names
from phlexible.state.layout import State
from phlexible.state.redundancy import redundancies
from phlexible.state.system import System
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.step_calls import completed
from phlexible.step.integration.step_failures import failure_words
from phlexible.step.integration.stored_rows import Storage
from phlexible.step.tables.requests import RELAXATION

NOT_SMOOTH = (
    "{} is a contact or stop that touches, around which steps are taken in parts: a run with it is not made of"
    " equal steps; take a smooth spring instead"
)
CLOSED = 1e-9
"""Depth below which a contact counts as open, relative to the longest body or to a radian."""


def equal_steps_alone(system: System, start: State) -> Assembly:
    """The tables of a system that needs nothing but steps of one size, without stops and contacts that are open.

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
            f"{name.rsplit(':', 1)[0]} creeps (ph.Maxwell): its steps begin with more than places and velocities;"
            " leave relaxation= out, or take viscosity or a damper"
        )
    for element, force in system.forces:
        if force.friction and force.friction.sticks:
            raise ModelError(
                f"{element} sticks by a bristle: its steps begin with more than places and velocities; give"
                " bristle=0, without rolling= and drilling="
            )
    if system.mechanism.events:
        raise ModelError(
            "events (model.at) lock, release or end a motion: a run with them is not made of equal steps"
        )
    for element in system.mechanism.elements:
        if isinstance(element, Contact) and element.is_searched:
            raise ModelError(NOT_SMOOTH.format(element))
    assembly = differentiable(system)
    for controlled in assembly.controlled:
        raise ModelError(
            f"{controlled.name} asks a function of the state in Python; write a controller as joint.spring,"
            " joint.damper and joint.torque(function of time)"
        )
    return assembly


def take_steps(
    assembly: Assembly, state: State, step: float, count: int, added: Array | None = None
) -> DifferentiableSteps:
    """So many steps from a state.

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
        stepper.give(added)
    taken = completed(stepper.advance(times, step, Storage()))
    if taken.steps < count:
        at = float(times[taken.steps])
        words, history = failure_words(stepper, at, taken.is_singular)
        raise ConvergenceError(f"the step from t = {at:.9g} s failed: {words}; take a smaller step", at, history)
    (all_steps,) = stepper.log
    assert isinstance(all_steps, Stepped), "nothing else was done"
    relaxation, given = RELAXATION if is_redundant else 0.0, Functions(all_steps.moving, all_steps.loads)
    sizes = np.full(count, step)
    return DifferentiableSteps(assembly, times, sizes, 0.0, relaxation, all_steps.states, given, entries(assembly))
