"""Steps that were taken, and the propagation of small changes through them (docs/theory.md, 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.rotations import cross_matrix
from phlexible.derivatives.variations import (
    pair_order,
    pose_sizes,
    pose_tangents,
    stored_pairs,
    strain_indices,
    where_pairs_are,
)
from phlexible.errors import ModelError
from phlexible.state.system import System
from phlexible.state.vectors import rotation_blocks, split_rigid
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.programs import differentiate
from phlexible.step.tables.declarations import ROLLING
from phlexible.step.tables.memory import Memory
from phlexible.step.tables.requests import (
    ADJOINT,
    DIRECT,
    DerivativeRequest,
    empty_request,
    work_size,
)

NOTHING = np.zeros((0, 3), dtype=np.int64)
"""Empty array of entries of derivatives."""


@dataclass(frozen=True, eq=False)
class Functions:
    """Prescribed vectors at the instants of a run and prescribed load values in its steps.

    Attributes:
        moving: prescribed vectors, shape (steps + 1, 3 * vectors).
        loads: load values at the middles, shape (steps, 3 * values).
    """

    moving: Array
    loads: Array


def functions_of(assembly: Assembly, times: Array) -> Functions:
    """Return the prescribed vectors of a mechanism (moving frames, paths) and its prescribed loads. Vectors are
    those at the given ``times`` [s], loads those in the middle of the time steps between them. ``assembly``
    contains the model's arrays."""
    return Functions(assembly.moving_values(times), assembly.load_values((times[1:] + times[:-1]) / 2, times))


@dataclass(frozen=True, eq=False)
class LoggedSteps:
    """Consecutive steps of a run, of any sizes, with their states and prescribed quantities; residuals and
    derivatives are computed from them.

    Attributes:
        assembly: of the mechanism; long bodies are not in segments.
        times: shape (N + 1,) [s].
        sizes: of the steps, shape (N,) [s]; negative for substeps that go backwards.
        damping: numerical, gamma.
        relaxation: of redundant constraints; 0 without them.
        states: stored states, shape (N + 1, state size); state k + 1 has the multipliers of the step from k to
            k + 1.
        functions: prescribed vectors and loads, with the values of controllers and laws.
    """

    assembly: Assembly
    times: Array
    sizes: Array
    damping: float
    relaxation: float
    states: Array
    functions: Functions

    @property
    def system(self) -> System:
        """Mechanism whose simulation these recorded time steps are, in numerical form."""
        return self.assembly.system

    @property
    def count(self) -> int:
        """Number of time steps in this recorded sequence of consecutive time steps."""
        return len(self.sizes)

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """Recorded states at the ends of these time steps: a dictionary from the name of a state quantity to its
        values, shape (steps + 1, ...). Quantities are position, rotation, velocity and others; the first row is
        the state before the first step."""
        return self.assembly.memory.rows(self.states)

    @cached_property
    def set_by_laws(self) -> Array | float:
        """Part of the recorded load values of these time steps that controllers and state-dependent forces set,
        shape (steps, 3 * values). It is the recorded values minus those that are functions of time, which are
        evaluated again.
        """
        return self.functions.loads - functions_of(self.assembly, self.times).loads

    def functions_of(self, assembly: Assembly) -> Functions:
        """Return the prescribed vectors and loads of another (perturbed) model at the instants of these time
        steps. Values of controllers and state-dependent forces are those recorded here. ``assembly`` contains the
        model's arrays."""
        own = functions_of(assembly, self.times)
        return Functions(own.moving, own.loads + self.set_by_laws) if assembly.controlled else own

    def residuals(self, memory: Memory, functions: Functions, sizes: Array | None = None) -> Array:
        """Return the residuals of the time step equations at the states recorded here, shape (steps, unknowns).
        They are evaluated with ``memory``, the arrays of a model that may be perturbed, and with ``functions``, its
        prescribed vectors and loads. ``sizes`` are the lengths of the steps [s] if they are not the recorded ones.

        Args:
            memory: tables of the model whose equations they are.
            functions: its prescribed vectors and loads.
            sizes: of the steps [s]; None: those of this object.
        """
        lengths, equations = self.sizes if sizes is None else sizes, StepEquations(memory, self.damping)
        return equations.residual(self.states, lengths, functions.moving, functions.loads)[0]

    def load_slopes(self, directions: Array) -> Array:
        """Return the derivatives of the residuals of these time steps along changes of the load values, shape
        (steps, changes, unknowns). ``directions`` has these changes, shape (changes, load values). Each derivative
        is one forward difference at recorded states, which is exact since residuals are linear in loads. Without
        directions no residual is evaluated.

        One difference is exact since the residual is linear in the loads.
        """
        found = np.zeros((self.count, len(directions), self.assembly.memory.counts["unknowns"]))
        if not len(directions):
            return found
        before = self.residuals(self.assembly.memory, self.functions)
        size = max(1.0, float(np.abs(self.functions.loads).max(initial=0.0)))
        for k, direction in enumerate(directions):
            changed = replace(self.functions, loads=self.functions.loads + size * direction)
            found[:, k] = (self.residuals(self.assembly.memory, changed) - before) / size
        return found

    def time_slopes(self, first: int, last: int, rates: Array, short: float) -> Array:
        """Return the derivatives of residuals with respect to a parameter that shifts instants, shape (last -
        first, unknowns). They are the residuals of the time steps between the instants ``first`` and ``last``.
        ``rates`` are the derivatives of these instants with respect to the parameter, shape (last - first + 1,).
        States are constant; loads and prescribed vectors are evaluated at the shifted instants. The increment of
        the central difference is ``short`` times the time between both instants.

        Args:
            first, last: indices of the instants at the ends of the steps.
            rates: derivatives of their instants, shape (last - first + 1,).
            short: step of the difference, relative to the time between the instants.
        """
        times, states = self.times[first : last + 1], self.states[first : last + 1]
        size, sides = short * abs(float(times[-1] - times[0])), []
        for sign in (1, -1):
            moved = times + sign * size * rates
            given = functions_of(self.assembly, moved)
            loads = given.loads + np.broadcast_to(self.set_by_laws, self.functions.loads.shape)[first:last]
            sides.append(self.residuals_between(states, np.diff(moved), given.moving, loads))
        return np.asarray((sides[0] - sides[1]) / (2 * size))

    def strains(self, assembly: Assembly) -> Array:
        """Return the history variables of another (perturbed) model (``assembly``) at the ends of these time
        steps, shape (steps, history variables). The model passes through the states recorded here. Nothing is
        simulated; only internal laws (viscoelastic branches, friction springs, impacts) are evaluated."""
        if not self._has_history:
            return np.zeros((self.count, 0))
        both = self.residuals_and_strains(assembly.memory, self.functions_of(assembly))
        return both[:, assembly.memory.counts["unknowns"] :]

    def residuals_and_strains(self, memory: Memory, functions: Functions) -> Array:
        """Return the residuals of the time step equations and the history variables at the ends of the steps. They
        are side by side, shape (steps, unknowns + history variables), and those of a perturbed model at the states
        recorded here. ``memory`` has its arrays and ``functions`` its prescribed values. Contact pairs of groups
        are in the rows that they have in the states.
        """
        equations = StepEquations(memory, self.damping)
        given = self.states, self.sizes, functions.moving, functions.loads
        missed, ends = equations.residual(*given, with_ends=True)
        return np.hstack([missed, where_pairs_are(memory, ends, self.states[1:])[:, strain_indices(self.assembly)]])

    def single_step(self, number: int) -> Self:
        """Return an object with time step ``number`` of these alone. The history variables (strains of Maxwell
        branches, deflections of friction springs, impact speeds) at its end are replaced by those at its start.
        """
        own, states = slice(number, number + 2), self.states[number : number + 2].copy()
        indices = strain_indices(self.assembly)
        states[1, indices] = states[0, indices]
        functions = Functions(self.functions.moving[own], self.functions.loads[number : number + 1])
        sizes = self.sizes[number : number + 1]
        return replace(self, times=self.times[own], sizes=sizes, states=states, functions=functions)

    def residuals_between(self, states: Array, sizes: Array, moving: Array, loads: Array) -> Array:
        """Return the residuals of the time step equations between given states, shape (steps, unknowns).
        States follow each other or come in pairs; ``sizes`` [s] are time step sizes, ``moving`` and ``loads``
        prescribed vectors and loads."""
        return self._equations.residual(states, sizes, moving, loads)[0]

    def derivative(self, k: int, pair: Array, directions: Array) -> tuple[Array, Array]:
        """Return the derivatives of the residual of time step ``k``, and of the state at its end, along all
        ``directions``. ``pair`` has the states at both ends of the step, shape (2, states); a direction is a change
        of both, so that ``directions`` have the shape (directions, 2, states). Results have the shapes (directions,
        unknowns) and (directions, states).
        """
        own, loads = self.functions.moving[k : k + 2], self.functions.loads[k]
        return self._equations.derivative(pair, float(self.sizes[k]), own, loads, directions)

    def state_with_new_history(self, k: int) -> Array:
        """Return a copy of the initial state of time step ``k`` with the history variables of its end, shape (1,
        states). They are strains of Maxwell branches, deflections of friction springs and impact speeds, computed
        again by the step equations."""
        own = slice(k, k + 2)
        moving, loads = self.functions.moving[own], self.functions.loads[k : k + 1]
        return self._equations.residual(self.states[own], self.sizes[k : k + 1], moving, loads, with_ends=True)[1]

    @cached_property
    def _equations(self) -> StepEquations:
        return StepEquations(self.assembly.memory, self.damping)

    def vjp(
        self, first: int, last: int, pose: Array, velocity: Array, history: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Propagate derivatives of costs backwards from instant ``last`` to ``first`` through the linearized time
        steps. ``pose`` and ``velocity``, both (last - first + 1, costs, velocities), contain derivatives with
        respect to the states at each instant alone, and become total ones in place. ``history`` has those with
        respect to the history variables at the last instant. Return the derivatives with respect to the residuals,
        to the history variables at the end of each step, and to those before the first. Newton's matrix is used
        where it is the exact derivative, else dual numbers.

        Args:
            first, last: indices of the instants.
            pose, velocity: derivatives of the costs with respect to the states at these instants alone, which
                become total derivatives, shape (last - first + 1, costs, velocities).
            history: of a model with history variables; None: it has none.

        Returns:
            mu of dJ = mu . dF for changes of the equations F of a step, shape (last - first, costs, unknowns);
            adjoints of the history variables at the ends of the steps, (last - first, costs, strains), and
            before them.

        Raises:
            ModelError: a step whose matrix is singular.
        """
        unknowns, costs = self.assembly.memory.counts["unknowns"], pose.shape[1]
        history = np.zeros((costs, 0)) if history is None else history
        equations = np.zeros((last - first, costs, unknowns))
        ends = np.zeros((last - first, *history.shape))
        for begin, end in reversed(self._parts(first, last)):
            a, b = begin - first, end - first
            if (step := self._exact_step(begin)) is not None:
                ends[a] = history
                q, v, history, equations[a] = step.vjp(pose[b], velocity[b], history, unknowns)
                pose[a] += q
                velocity[a] += v
                continue
            own = slice(a, b + 1)
            self.vjp_by_matrix(begin, end, pose[own], velocity[own], equations[a:b])
        return equations, ends, history

    def jvp(
        self,
        first: int,
        last: int,
        pose: Array,
        velocity: Array,
        equations: Array,
        history: tuple[Array, Array] | None = None,
    ) -> Array:
        """Propagate changes of the state forwards from instant ``first`` to ``last`` of these time steps. ``pose``
        and ``velocity``, both (last - first + 1, parameters, velocities), are given at the first instant and
        overwritten at later ones. ``equations`` are changes of the step residuals (steps, parameters, unknowns).
        ``history`` has changes of history variables before the steps and at each end (None: none). Return the
        changes of the history at the last instant.

        Args:
            history: changes of the history variables before the steps, shape (parameters, strains), and at the
                end of each step for constant states, shape (steps, parameters, strains); None: the model has none.
        """
        none = np.zeros((last - first, pose.shape[1], 0))
        own, ends = (none[0], none) if history is None else history
        for begin, end in self._parts(first, last):
            a, b = begin - first, end - first
            if (step := self._exact_step(begin)) is not None:
                pose[b], velocity[b], own = step.jvp(pose[a], velocity[a], own, equations[a])
                own = own + ends[a]
            else:
                self.jvp_by_matrix(begin, end, pose[a : b + 1], velocity[a : b + 1], equations[a:b])
        return own

    def _exact_step(self, k: int) -> "StepDerivative | None":
        """Return the exact derivative of time step ``k`` if Newton's matrix is not its exact derivative, else
        None. With history variables it is computed for every time step, otherwise only for some steps with
        contacts, which are cached."""
        return step_derivative(self, k) if self._has_history else self._inexact.get(k)

    @cached_property
    def _has_history(self) -> bool:
        """Whether the model has history variables, which Newton's matrix does not contain; computed once. They are
        strains of Maxwell branches, deflections of friction springs and impact speeds."""
        return len(strain_indices(self.assembly)) > 0

    @cached_property
    def _inexact(self) -> "dict[int, StepDerivative]":
        """Exact derivatives, by index, of all time steps for which Newton's matrix is not the derivative of
        the equations (some time steps with contacts)."""
        return {k: step_derivative(self, k) for k in inexact_steps(self)}

    def _parts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return ranges (begin, end) that divide the time steps from ``first`` to ``last`` - 1, in ascending
        order. Each time step for which Newton's matrix is not the exact derivative (with history variables, some
        with contacts) is a range by itself."""
        own = [k for k in range(first, last) if self._has_history or k in self._inexact]
        return list(pairwise(sorted({first, last, *own, *(k + 1 for k in own)})))

    def vjp_by_matrix(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Propagate adjoints (derivatives of costs) of ``pose`` and ``velocity`` backwards from instant ``last`` to
        ``first``, one linearized time step after the other. Each step is linearized with its Newton matrix, which
        is transposed. Both arrays have the shape (last - first + 1, costs, velocities); the effects of later
        instants are added at each instant in place. The adjoints of the residuals are written to ``equations``,
        shape (last - first, costs, unknowns)."""
        self._differentiated(ADJOINT, first, last, pose, velocity, equations)

    def jvp_by_matrix(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Compute how pose and velocities at instants ``first`` to ``last`` depend on parameters, one linearized
        time step after the other. Each step is linearized with its Newton matrix. ``pose`` and ``velocity``, shape
        (last - first + 1, parameters, velocities), are derivatives with respect to the parameters: those at the
        first instant are given, those at later instants are overwritten by the results. ``equations``, shape (last
        - first, parameters, unknowns), are the derivatives of the residuals at fixed states.

        Args:
            first, last: indices of the instants.
            pose, velocity: values at the first instant are the input, the others are results, shape
                (last - first + 1, parameters, velocities).
            equations: dF/dp at the states, shape (last - first, parameters, unknowns).

        Raises:
            ModelError: a step whose matrix is singular.
        """
        self._differentiated(DIRECT, first, last, pose, velocity, equations)

    def _differentiated(
        self, wanted: int, first: int, last: int, pose: Array, velocity: Array, equations: Array
    ) -> None:
        indices, counts = entries(self.assembly)
        done = differentiate(
            self.assembly.memory.header,
            self._request(wanted, last - first, pose.shape[1], counts),
            indices,
            self.sizes[first:last],
            self.states[first : last + 1],
            self.functions.moving[first : last + 1],
            self.functions.loads[first:last],
            pose,
            velocity,
            equations,
            np.zeros(work_size(self.assembly.memory.counts["unknowns"], len(indices), pose.shape[1])),
        )
        if done < last - first:
            at = self.times[first + done if wanted == DIRECT else last - 1 - done]
            raise ModelError(
                f"the step from t = {at:.9g} s cannot be differentiated: its matrix is singular there (a joint at a"
                " dead point); end the motion before"
            )

    def _request(self, wanted: int, steps: int, changes: int, entry_counts: tuple[int, int]) -> NDArray[np.void]:
        found = empty_request(DerivativeRequest)
        found[0] = DerivativeRequest(steps, self.damping, self.relaxation, wanted, changes, *entry_counts)
        return found


def rolling_rows(assembly: Assembly) -> IntArray:
    """Return the indices, among the equations of a time step, of the constraint equations that make bodies roll
    without slip, as an integer array. They are selected from the equations of all constraints by the coordinate of
    the force element to which each belongs. ``assembly`` contains the model's arrays."""
    memory = assembly.memory
    rolls = np.asarray(memory["coordinate_of"])[memory.counts["constraints"] :] == ROLLING
    return np.asarray(memory["row_unknown"][np.asarray(memory["force_row"])[rolls]])


@cached_on_owner
def entries(assembly: Assembly) -> tuple[IntArray, tuple[int, int]]:
    """Return the entries of Newton's matrix that derivatives of time steps need, as integers (memory index, row,
    column), shape (entries, 3). First come velocity rows with velocity columns, then velocity rows with auxiliary
    columns, then auxiliary rows with velocity columns; rows of rolling constraints count as velocity rows. The
    second result is the numbers of the first two kinds. ``assembly`` has the model's arrays, on which the result is
    cached.
    """
    memory = assembly.memory
    nv = memory.counts["velocities"]
    parts = [np.zeros((0, 3), dtype=np.int64)]
    visits = zip(*(memory[f"visit_{name}"] for name in ("row", "size", "diagonal")), strict=True)
    for (row, size, diagonal), (begin, end) in zip(visits, pairwise(memory["neighbours_begin"]), strict=True):
        parts.append(_block(diagonal, row, row, size, size))
        for i in range(begin, end):
            other, width = memory["neighbour_row"][i], memory["neighbour_size"][i]
            parts.append(_block(memory["upper"][i], row, other, size, width))
            parts.append(_block(memory["lower"][i], other, row, width, size))
    indices = np.concatenate(parts)
    used = nv + memory.counts["dimension"] * memory.counts["auxiliaries"]
    column_is_velocity = indices[:, 2] < nv
    is_of_both_ends = (indices[:, 1] < nv) | np.isin(indices[:, 1], rolling_rows(assembly))
    own = indices[is_of_both_ends & column_is_velocity]
    across = indices[is_of_both_ends & ~column_is_velocity & (indices[:, 2] < used)]
    down = indices[~is_of_both_ends & (indices[:, 1] < used) & column_is_velocity]
    return np.ascontiguousarray(np.concatenate([own, across, down])), (len(own), len(across))


def _block(index: int, row: int, column: int, rows: int, columns: int) -> IntArray:
    i, j = np.divmod(np.arange(rows * columns), columns)
    return np.stack([index + np.arange(rows * columns), row + i, column + j], axis=1)


# Derivatives of steps that Newton's matrix does not contain, by dual numbers (docs/theory.md, 8; (8.28), (8.44)).
#
# Newton's method does without how the place where bodies rub moves (8.28), and without parts of contacts among many
# (8.32). What a bristle keeps from step to step, z and the normal of its surface, are states beside the pose and
# nu, as is the speed that a contact with restitution remembers:
#
#     F(q_n, nu_n, nu_n+1, lambda; z_n) = 0,    z_n+1 = Z(q_n, nu_n, nu_n+1, lambda; z_n)
#
# Whether a bristle slipped in the step before, by which static friction acts, stays as it was. Of pairs among many
# z has the rows of those that touch: which pair is in which row, at both ends, is the step's own.

EXACT = 1e-6
"""Relative tolerance within which Newton's matrix counts as the exact derivative of the equations."""

UNSEEN = 1e-3
"""Least change that is compared, relative to the greatest; below it round-off of stiff forces dominates."""

ASIDE = 1e-9
"""Relative change of bristles to both sides; a bristle that has slipped is at the friction limit, where forces have
a kink.

The mean of both branches is right for changes of the bristle and of its limit together.
"""

ASIDE_OF_REST_LENGTHS = 1e-13
"""Relative change of the rest lengths of tendons to both sides, some round-offs.

A piece that was slack begins a step just taut. Dampers of pieces have a kink where the tension turns around, which
stays close while they slide steadily.
"""


@dataclass(frozen=True, eq=False)
class StepDerivative:
    """Derivatives of the equations of one step, and of the history variables at its end, with respect to unknowns
    and initial state.

    Attributes:
        rows: of the equations that are no definitions of auxiliary vectors, shape (r,).
        known: indices of the strains that exist at one of its ends, shape (strains,); contact pairs come and go.
        equations: derivatives with respect to velocities at the end and multipliers, (r, r), to pose and
            velocities at the start, (r, velocities) each, and to the strains there, (r, strains).
        strains: the same derivatives of the strains at the end.
        pose_map: K (9.2), shape (velocities, velocities).
    """

    rows: IntArray
    known: IntArray
    equations: tuple[Array, ...]
    strains: tuple[Array, ...]
    pose_map: Array

    def vjp(self, pose: Array, velocity: Array, history: Array, unknowns: int) -> tuple[Array, Array, Array, Array]:
        """Propagate adjoints of ``pose``, ``velocity`` and ``history`` variables (a row for each cost) from the
        end of this time step to its start. Return the three adjoints there, and those of the residual, shape
        (costs, ``unknowns``), from a least-squares solution of the transposed equations. History variables are
        strains of Maxwell branches, deflections of friction springs and impact speeds.

        Args:
            pose, velocity, history: adjoints of pose, velocities and strains after the step.
            unknowns: number of unknowns.

        Returns:
            Adjoints of pose, velocities and strains before the step, and mu, shape (costs, unknowns).
        """
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        back, after = pose @ self.pose_map, history[:, self.known]
        felt = after @ end
        felt[:, : pose.shape[1]] += velocity + back
        own = -np.linalg.lstsq(of_end.T, felt.T, rcond=None)[0].T
        mu, before = np.zeros((len(pose), unknowns)), np.zeros_like(history)
        mu[:, self.rows] = own
        before[:, self.known] = own @ of_strains + after @ by_strains
        return pose + own @ of_pose + after @ by_pose, back + own @ of_start + after @ by_start, before, mu

    def jvp(self, pose: Array, velocity: Array, history: Array, equations: Array) -> tuple[Array, Array, Array]:
        """Return the changes of pose, velocities and history variables after this time step, with a row for each
        parameter. ``pose``, ``velocity`` and ``history`` are their changes before it, ``equations`` the change of
        the residual. The linearized equations are solved by least squares for the end velocities and multipliers.
        History variables are strains of Maxwell branches, deflections of friction springs and impact speeds."""
        of_end, of_pose, of_start, of_strains = self.equations
        end, by_pose, by_start, by_strains = self.strains
        before = history[:, self.known]
        missed = equations[:, self.rows] + pose @ of_pose.T + velocity @ of_start.T + before @ of_strains.T
        moved = -np.linalg.lstsq(of_end, missed.T, rcond=None)[0].T
        after = np.asarray(moved[:, : pose.shape[1]])
        strains = np.zeros_like(history)
        strains[:, self.known] = moved @ end.T + pose @ by_pose.T + velocity @ by_start.T + before @ by_strains.T
        return pose + (velocity + after) @ self.pose_map.T, after, strains


def has_contact_history(steps: LoggedSteps) -> bool:
    """Return whether the model of these time steps has contacts or friction with history variables that
    outlive a time step. These are friction springs (friction that sticks), contacts with restitution and
    contact groups."""
    counts = steps.assembly.memory.counts
    return counts["bristles"] + counts["impacts"] + counts["pieces"] + counts["kept_pairs"] > 0


def step_derivative(steps: LoggedSteps, k: int) -> StepDerivative:
    """Return the derivatives of the residual, and of the history variables at the end, of time step ``k``, by dual
    numbers. They are with respect to velocities and multipliers at the end, and pose, velocities and history
    variables at the start. With contacts or friction springs, the mean for slightly smaller and larger deflections
    is returned, so that both sides of a friction limit count. History variables are strains of Maxwell branches,
    deflections of friction springs and impact speeds.
    """
    memory, layout, pair = steps.assembly.memory, steps.system.layout, steps.states[k : k + 2]
    count, rows, indices = int(memory.counts["velocities"]), memory.counts["rows"], strain_indices(steps.assembly)
    touched = np.ones((1, memory.counts["state_size"]))
    own = memory.rows(touched)
    for table in (own["pair_bristle"], own["pair_turn"]):
        if table.size:
            table.reshape(memory.counts["kept_pairs"], -1)[:] = stored_pairs(memory, pair).max(axis=0)[:, None]
    known = np.flatnonzero(touched[0, indices])
    ends = np.cumsum([count, rows, count, count, len(known)])
    directions = np.zeros((ends[-1], *pair.shape))
    starts, stops = memory.rows(directions[:, 0]), memory.rows(directions[:, 1])
    stops["velocity"][: ends[0]] = np.eye(count)
    stops["multiplier"][ends[0] : ends[1]] = np.eye(rows)
    poses = {name: starts[name][ends[1] : ends[2]] for name in ("position", "rotation", "eta")}
    pose_tangents(layout, memory.rows(pair[:1]), poses)
    starts["velocity"][ends[2] : ends[3]] = np.eye(count)
    directions[np.arange(ends[3], ends[4]), 0, indices[known]] = 1.0
    order, sides = pair_order(memory, steps.state_with_new_history(k), pair[1:])[0], []
    rest_lengths = memory.rows(np.arange(pair.shape[1], dtype=np.float64)[None])["flow"].ravel()
    asides = np.where(np.isin(indices, rest_lengths), ASIDE_OF_REST_LENGTHS, ASIDE)
    for side in (-1, 1) if has_contact_history(steps) else (0,):
        aside = pair.copy()
        aside[0, indices] *= 1 + side * asides
        missed, after = steps.derivative(k, aside, directions)
        equations = np.concatenate([np.arange(count), steps.assembly.memory["row_unknown"]])
        sides.append((missed[:, equations], np.where(order >= 0, after[:, order], 0.0)[:, indices[known]]))
    own, strains = (np.mean(each, axis=0).T for each in zip(*sides, strict=True))
    cuts = ends[1:-1]
    return StepDerivative(
        equations, known, tuple(np.split(own, cuts, 1)), tuple(np.split(strains, cuts, 1)), pose_map(steps, k)
    )


def inexact_steps(steps: LoggedSteps) -> set[int]:
    """Return the indices of those time steps of a run for which Newton's matrix is not the exact derivative
    of the equations; these time steps have contacts."""
    has_contacts = steps.assembly.memory.counts["members"] > 0
    return {k for k in range(steps.count) if has_contacts and not _is_exact(steps, k)}


def _is_exact(steps: LoggedSteps, k: int) -> bool:
    """Return whether Newton's matrix is the exact derivative of the equations of time step ``k``, up to a
    tolerance. The solver permits an approximate one, which is faster. Solutions with the matrix are compared with
    derivatives by dual numbers, for one random change of the end velocities and one of the initial pose.
    """
    memory, system, pair = steps.assembly.memory, steps.system, steps.states[k : k + 2]
    count, unknowns = int(memory.counts["velocities"]), int(memory.counts["unknowns"])
    length = pose_sizes(system, system.largest_length, memory["velocity_weight"])
    way = np.random.default_rng(1).choice([-1.0, 1.0], count) * length

    def answer(pose: Array, equations: Array) -> Array:
        """Return the change of the velocities at the end of the time step according to Newton's matrix, shape
        (velocities,). Arguments are changes of the pose at the start and of the residual (``equations``)."""
        both = np.zeros((2, 2, 1, count))
        both[0, 0, 0] = pose
        steps.jvp_by_matrix(k, k + 1, both[0], both[1], equations[None, None])
        return np.asarray(both[1, 1, 0])

    def exact(pose: Array, velocity: Array) -> Array:
        """Return the exact change of the residual, shape (unknowns,), by dual numbers. ``pose`` is the change of
        the pose at the start, ``velocity`` the change of the velocities at the end of the time step, both
        (velocities,)."""
        tangents = np.zeros((count, pair.shape[1]))
        pose_tangents(system.layout, memory.rows(pair[:1]), memory.rows(tangents))
        direction = np.zeros((1, *pair.shape))
        direction[0, 0] = pose @ tangents
        memory.rows(direction[:, 1])["velocity"][0] = velocity
        return np.asarray(steps.derivative(k, pair, direction)[0][0])

    nothing = np.zeros(count)
    after = answer(nothing, exact(nothing, way))
    if np.abs((after + way) / length).max() > EXACT:
        return False
    after = answer(way, np.zeros(unknowns))
    left = answer(nothing, exact(way, after))
    most = float(np.abs(after / length).max())
    return bool((np.abs(left) <= EXACT * (np.abs(after) + UNSEEN * most * length)).all())


def pose_map(steps: LoggedSteps, k: int) -> Array:
    """Return the matrix K of time step ``k``, shape (velocities, velocities), that converts changes of velocities
    to the change of the end pose. That is K times the sum of the changes at both ends of the step, at a constant
    initial pose; rotations are in world axes. See docs/theory.md, 9, (9.2).
    """
    layout, half = steps.system.layout, 0.5 * float(steps.sizes[k])
    a = half * split_rigid(layout, steps.rows["velocity"][k : k + 2].mean(axis=0))[1]
    turns = (np.eye(3) + cross_matrix(a)) / (1 + np.einsum("bi,bi->b", a, a))[:, None, None]
    return half * rotation_blocks(layout, steps.rows["rotation"][k] @ turns)
