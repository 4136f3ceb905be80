"""Steps that were taken, with what the equations of each need: a run that can be differentiated."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.assembly.assembly import Assembly, assemble
from phlexible.errors import ConvergenceError, ModelError
from phlexible.interactions.resisting.contacts import Contacts
from phlexible.joints.rolling import RollingRow
from phlexible.kernels.differentiation import RESIDUALS, differentiate
from phlexible.kernels.loop import RELAXATION
from phlexible.rank.redundancy import redundancies
from phlexible.system.layout import State
from phlexible.system.system import System
from phlexible.tables.declarations import CONTACT
from phlexible.time_integration.composition import SUBSTEPS
from phlexible.time_integration.conserving import ConservingStepper
from phlexible.time_integration.stepper import Storage

NOTHING = np.zeros((0, 3), dtype=np.int64)
"""No entries of derivatives."""

NOT_SMOOTH = (
    "{} is a contact or stop, whose beginning and end are no smooth functions of parameters: a motion with it"
    " cannot be differentiated; take a smooth spring instead"
)


@dataclass(frozen=True, eq=False)
class Functions:
    """What is given at the instants and in the steps of a run.

    Attributes:
        moving: given vectors, shape (steps + 1, 3 vectors).
        loads: load values at the middles, shape (steps, 3 values).
    """

    moving: Array
    loads: Array


def functions_of(assembly: Assembly, times: Array) -> Functions:
    """Of the steps between these instants [s]."""
    return Functions(assembly.moving_values(times), assembly.load_values((times[1:] + times[:-1]) / 2, times))


@dataclass(frozen=True, eq=False)
class TakenSteps:
    """Conserving steps of one size.

    Attributes:
        assembly: what moved; long bodies are not in segments.
        times: shape (N + 1,) [s].
        step: h [s].
        damping: numerical, gamma.
        relaxation: of joints that hold a motion twice; 0 without them.
        states: stored rows, those of the tables of the state, shape (N + 1, numbers); in row k + 1 the multipliers
            of the step from k to k + 1.
        functions: what was given.
    """

    assembly: Assembly
    times: Array
    step: float
    damping: float
    relaxation: float
    states: Array
    functions: Functions

    @property
    def system(self) -> System:
        """What moved."""
        return self.assembly.system

    @property
    def count(self) -> int:
        """Number of steps N."""
        return len(self.times) - 1

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """The stored tables by name, (N + 1, ...)."""
        return self.assembly.memory.rows(self.states)

    def residuals(self, assembly: Assembly, functions: Functions) -> Array:
        """What the equations of another assembly with the same unknowns miss at these states, (N, unknowns)."""
        missed = np.zeros((self.count, assembly.memory.counts["unknowns"]))
        none = np.zeros((0, 0, 0))
        differentiate(
            assembly.memory.header,
            np.array([self.step, self.damping, 0.0]),
            np.array([self.count, RESIDUALS, 1, 0, 0], dtype=np.int64),
            NOTHING,
            self.states,
            functions.moving,
            functions.loads,
            none,
            none,
            missed[:, None],
            np.zeros(4 * assembly.memory.counts["unknowns"]),
        )
        return missed


def differentiable(system: System) -> Assembly:
    """The tables of a system whose steps can be differentiated.

    Raises:
        ModelError: events, controllers, functions of the state, rolling, contacts and stops, named.
    """
    if system.mechanism.events:
        raise ModelError(
            "events (model.at) lock, release or end a motion, which is no smooth function of parameters: a model"
            " with them cannot be differentiated"
        )
    for constraint in system.constraints:
        if isinstance(constraint, RollingRow):
            raise ModelError(
                f"{constraint} holds what moves in a step, not where bodies are, and cannot be differentiated yet"
            )
    for element in system.mechanism.elements:
        if isinstance(element, Contacts):
            raise ModelError(NOT_SMOOTH.format(element))
    assembly = assemble(system, with_segments=False)
    for controlled in assembly.controlled:
        raise ModelError(
            f"{controlled.name} asks a function of the state in Python, which cannot be differentiated; write a"
            " controller as joint.spring, joint.damper and joint.torque(function of time)"
        )
    for each, law in zip(system.forces, assembly.laws, strict=False):
        if law.energy == CONTACT:
            raise ModelError(NOT_SMOOTH.format(each.element))
    return assembly


def take_steps(assembly: Assembly, state: State, step: float, count: int, damping: float = 0.0) -> TakenSteps:
    """So many steps from a state.

    Raises:
        ConvergenceError: a step of this size did not converge.
    """
    is_redundant = bool(redundancies(assembly.system, state))
    times: Array = np.asarray(state.time + step * np.arange(count + 1), dtype=np.float64)
    stepper = ConservingStepper(assembly, SUBSTEPS[2], 2, damping, is_redundant)
    stepper.begin(state)
    first = stepper.now(state.time)
    taken = stepper.advance(times, step, Storage())
    if taken.steps < count:
        at = float(times[taken.steps])
        words, history = stepper.failure(at, taken.is_singular)
        raise ConvergenceError(
            f"the step from t = {at:.9g} s failed: {words}; derivatives need steps of one size, take a"
            " smaller step",
            at,
            history,
        )
    relaxation = RELAXATION if is_redundant else 0.0
    states = np.concatenate([_flat(first, 1), _flat(taken.rows, count)])
    result = TakenSteps(assembly, times, step, damping, relaxation, states, functions_of(assembly, times))
    _undo_means(result.rows["multiplier"], taken.reactions)
    return result


def _flat(rows: Mapping[str, Array], count: int) -> Array:
    return np.concatenate([array[:count].reshape(count, -1) for array in rows.values()], axis=1)


def _undo_means(multipliers: Array, reactions: Array) -> None:
    """Stored multipliers are means over the steps beside an instant, the last ones those of the last step."""
    if multipliers.shape[1] and len(multipliers) > 2:
        means = multipliers[1:-1].copy()
        multipliers[1] = reactions[: multipliers.shape[1]]
        for k in range(2, len(multipliers)):
            multipliers[k] = 2 * means[k - 2] - multipliers[k - 1]
