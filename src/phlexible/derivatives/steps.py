"""Steps that were taken, and what they do to small changes (docs/theory.md, 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.contact import Contacts
from phlexible.description.joints.rolling import RollingRow
from phlexible.errors import ConvergenceError, ModelError
from phlexible.state.branches import branch_names
from phlexible.state.layout import Layout, State
from phlexible.state.redundancy import redundancies
from phlexible.state.system import System
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.integration.conserving import ConservingStepper
from phlexible.step.integration.stored_rows import Storage
from phlexible.step.kernels.differentiation import ADJOINT, DIRECT, RESIDUALS, differentiate
from phlexible.step.kernels.loop import RELAXATION
from phlexible.step.tables.declarations import CONTACT, COUNT, DIAGONAL, NEIGHBOURS, ROW, SIZE, VISIT
from phlexible.step.tables.requests import DerivativeRequest, record

# Small changes of states in as many numbers as there are velocities (docs/theory.md, 9).
#
# A change of the pose has the layout of nu: dx of each carrier, the small rotation of each frame in *world* axes
# (dR = [phi] R), deta.


@dataclass(frozen=True, eq=False)
class Variation:
    """Changes of states; pose and velocity each (..., velocities)."""

    pose: Array
    velocity: Array


def moved(layout: Layout, rows: Mapping[str, Array], change: Variation) -> None:
    """Move stored states (T, ...) by changes (T, velocities), in place."""
    d = layout.linear.shape[1]
    rows["position"][..., :d] += change.pose[..., layout.linear]
    rows["eta"][:] += change.pose[..., layout.elastic_rate]
    rows["velocity"][:] += change.velocity
    if len(layout.spin[0]):
        turns = rotation_vectors(layout, change.pose)
        turned = Rotation.from_rotvec(turns.reshape(-1, 3)).as_matrix().reshape(*turns.shape, 3)
        rows["rotation"][:] = turned @ rows["rotation"]


def moved_one(layout: Layout, rows: Mapping[str, Array], number: int, sizes: Array) -> None:
    """Move one number of pose (or of velocity, that plus the count of velocities) of states (T, k, ...), in place.

    Args:
        layout: of the states.
        rows: their tables.
        number: of the pose or the velocity.
        sizes: of the k changes.
    """
    count = int(layout.velocity[-1])
    if number >= count:
        rows["velocity"][..., number - count] += sizes
        return
    frame, axis, place = layout.spin
    if len(turned := np.flatnonzero(place == number)):
        vectors = np.zeros((len(sizes), 3))
        vectors[:, axis[turned[0]]] = sizes
        own = rows["rotation"][..., frame[turned[0]], :, :]
        own[:] = Rotation.from_rotvec(vectors).as_matrix() @ own
    elif len(bent := np.flatnonzero(layout.elastic_rate == number)):
        rows["eta"][..., bent[0]] += sizes
    else:
        carrier, along = np.argwhere(layout.linear == number)[0]
        rows["position"][..., carrier, along] += sizes


def rotation_vectors(layout: Layout, pose: Array) -> Array:
    """phi of all frames, shape (..., frames, 3)."""
    frame, axis, place = layout.spin
    found = np.zeros((*pose.shape[:-1], layout.frames, 3))
    found[..., frame, axis] = pose[..., place]
    return found


def difference(layout: Layout, rows: Mapping[str, Array], others: Mapping[str, Array]) -> Variation:
    """What has to be added to states (T, ...) to come to others near them."""
    d = layout.linear.shape[1]
    pose = np.zeros_like(rows["velocity"])
    pose[..., layout.linear] = (others["position"] - rows["position"])[..., :d]
    pose[..., layout.elastic_rate] = others["eta"] - rows["eta"]
    frame, axis, place = layout.spin
    if len(frame):
        turn = others["rotation"] @ np.swapaxes(rows["rotation"], -1, -2)
        vectors = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape(*turn.shape[:-1])
        pose[..., place] = vectors[..., frame, axis]
    return Variation(pose, others["velocity"] - rows["velocity"])


# Steps that were taken, with what the equations of each need: a run that can be differentiated.

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

    @cached_property
    def places(self) -> tuple[IntArray, tuple[int, int]]:
        """Of entries of Newton's matrix, see ``entries``."""
        return entries(self.assembly)

    @property
    def system(self) -> System:
        """The mechanism that moved, as numbers."""
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
            _request(self, RESIDUALS, 1, (0, 0)),
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
    for name in branch_names(system):
        raise ModelError(
            f"{name.rsplit(':', 1)[0]} creeps (ph.Maxwell), and what it remembers cannot be differentiated yet;"
            " leave relaxation= out, or take viscosity or a damper"
        )
    for controlled in assembly.controlled:
        raise ModelError(
            f"{controlled.name} asks a function of the state in Python, which cannot be differentiated; write a"
            " controller as joint.spring, joint.damper and joint.torque(function of time)"
        )
    for each, law in zip(system.forces, assembly.laws, strict=False):
        if law.energy == CONTACT:
            raise ModelError(NOT_SMOOTH.format(each.element))
    return assembly


def take_steps(
    assembly: Assembly,
    state: State,
    step: float,
    count: int,
    damping: float = 0.0,
    added: Array | None = None,
) -> TakenSteps:
    """So many steps from a state.

    Args:
        added: to the load values of each step, shape (count, 3 values); None: nothing.

    Raises:
        ConvergenceError: a step of this size did not converge.
    """
    is_redundant = bool(redundancies(assembly.system, state))
    times: Array = np.asarray(state.time + step * np.arange(count + 1), dtype=np.float64)
    stepper = ConservingStepper(assembly, 2, damping, is_redundant)
    stepper.begin(state)
    first = stepper.now(state.time)
    if added is not None:
        stepper.give(added)
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
    given = functions_of(assembly, times)
    if added is not None:
        given = replace(given, loads=given.loads + added)
    result = TakenSteps(assembly, times, step, damping, relaxation, states, given)
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


# What steps do to small changes: backwards for all that a cost feels, forwards for a few parameters.


@dataclass(frozen=True, eq=False)
class Adjoint:
    """What a cost feels.

    Attributes:
        start: its derivative to the initial state, shape (velocities,) each.
        steps: mu of each step: dJ = mu . dF where the equations F of the step change, shape (N, unknowns).
    """

    start: Variation
    steps: Array


def adjoint(run: TakenSteps, slopes: Variation) -> Adjoint:
    """Of a cost with derivatives ``slopes`` to the states of all instants, (N + 1, velocities) each."""
    pose, velocity = slopes.pose[:, None].copy(), slopes.velocity[:, None].copy()
    steps = np.zeros((run.count, 1, run.assembly.memory.counts["unknowns"]))
    _differentiated(run, ADJOINT, pose, velocity, steps)
    return Adjoint(Variation(pose[0, 0], velocity[0, 0]), steps[:, 0])


def state_derivatives(run: TakenSteps, start: Variation, equations: Array) -> Variation:
    """d(state)/dp of all instants, each (N + 1, parameters, velocities).

    Args:
        run: the steps.
        start: of the first state, each (parameters, velocities).
        equations: dF/dp of each step at its states, shape (N, parameters, unknowns).
    """
    pose, velocity = np.zeros((2, run.count + 1, *start.pose.shape))
    pose[0], velocity[0] = start.pose, start.velocity
    _differentiated(run, DIRECT, pose, velocity, equations)
    return Variation(pose, velocity)


def step_derivatives(run: TakenSteps, step: int, changes: Variation, equations: Array) -> Variation:
    """What changes of the state before one step, and of its equations, do to the state after it.

    Args:
        run: the steps.
        step: number of the step.
        changes: each (changes, velocities).
        equations: of the step, shape (changes, unknowns).
    """
    pose, velocity = np.zeros((2, 2, *changes.pose.shape))
    pose[0], velocity[0] = changes.pose, changes.velocity
    own = replace(
        run,
        times=run.times[step : step + 2],
        states=run.states[step : step + 2],
        functions=Functions(run.functions.moving[step : step + 2], run.functions.loads[step : step + 1]),
    )
    own.__dict__["places"] = run.places
    _differentiated(own, DIRECT, pose, velocity, equations[None])
    return Variation(pose[1], velocity[1])


def _differentiated(run: TakenSteps, wanted: int, pose: Array, velocity: Array, equations: Array) -> None:
    places, counts = run.places
    done = differentiate(
        run.assembly.memory.header,
        _request(run, wanted, pose.shape[1], counts),
        places,
        run.states,
        run.functions.moving,
        run.functions.loads,
        pose,
        velocity,
        equations,
        np.zeros(4 * run.assembly.memory.counts["unknowns"] + 2 * len(places)),
    )
    if done < run.count:
        at = run.times[done if wanted == DIRECT else run.count - 1 - done]
        raise ModelError(
            f"the step from t = {at:.9g} s cannot be differentiated: its matrix is singular there (a joint at a"
            " dead point); end the motion before"
        )


def _request(run: TakenSteps, wanted: int, changes: int, entry_counts: tuple[int, int]) -> NDArray[np.void]:
    found = record(DerivativeRequest)
    found[0] = DerivativeRequest(run.count, run.step, run.damping, run.relaxation, wanted, changes, *entry_counts)
    return found


def entries(assembly: Assembly) -> tuple[IntArray, tuple[int, int]]:
    """Places of entries of Newton's matrix as ``differentiate`` takes them, and how many each kind has."""
    memory = assembly.memory
    nv = memory.counts["velocities"]
    parts = [np.zeros((0, 3), dtype=np.int64)]
    for at in np.asarray(memory["visit"]).reshape(-1, VISIT):
        row, size = at[ROW], at[SIZE]
        parts.append(_block(at[DIAGONAL], row, row, size, size))
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            other, width = memory["neighbour_row"][i], memory["neighbour_size"][i]
            parts.append(_block(memory["upper"][i], row, other, size, width))
            parts.append(_block(memory["lower"][i], other, row, width, size))
    places = np.concatenate(parts)
    used = nv + memory.counts["dimension"] * memory.counts["auxiliaries"]
    row_is_velocity, column_is_velocity = places[:, 1] < nv, places[:, 2] < nv
    own = places[row_is_velocity & column_is_velocity]
    across = places[row_is_velocity & ~column_is_velocity & (places[:, 2] < used)]
    down = places[~row_is_velocity & (places[:, 1] < used) & column_is_velocity]
    return np.ascontiguousarray(np.concatenate([own, across, down])), (len(own), len(across))


def _block(place: int, row: int, column: int, rows: int, columns: int) -> IntArray:
    i, j = np.divmod(np.arange(rows * columns), columns)
    return np.stack([place + np.arange(rows * columns), row + i, column + j], axis=1)
