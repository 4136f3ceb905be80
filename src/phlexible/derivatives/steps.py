"""Steps that were taken, and the propagation of small changes through them (docs/theory.md, 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.derivatives.strains import strain_indices, strains_after
from phlexible.errors import ModelError
from phlexible.state.system import System
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
    """Return the prescribed vectors of a mechanism (moving frames, paths) and its prescribed loads. Vectors
    are those at the given ``times`` [s], loads those in the middle of the time steps between them.
    ``assembly`` holds the tables of the model."""
    return Functions(assembly.moving_values(times), assembly.load_values((times[1:] + times[:-1]) / 2, times))


@dataclass(frozen=True, eq=False)
class TakenSteps:
    """Consecutive steps of a run, of any sizes, with their states and prescribed quantities; residuals and
    derivatives are computed from them.

    Attributes:
        assembly: of the mechanism; long bodies are not in segments.
        times: shape (N + 1,) [s].
        sizes: of the steps, shape (N,) [s]; negative for substeps that go backwards.
        damping: numerical, gamma.
        relaxation: of redundant constraints; 0 without them.
        states: stored rows of the tables of the state, shape (N + 1, numbers); row k + 1 has the multipliers of the
        step
            from k to k + 1.
        functions: prescribed vectors and loads, with the values of controllers and laws.
        entries: indices of entries of Newton's matrix for ``differentiate``, and the number of each kind.
    """

    assembly: Assembly
    times: Array
    sizes: Array
    damping: float
    relaxation: float
    states: Array
    functions: Functions
    entries: tuple[IntArray, tuple[int, int]]

    @property
    def system(self) -> System:
        """Mechanism whose simulation these recorded time steps are, as arrays of numbers."""
        return self.assembly.system

    @property
    def count(self) -> int:
        """Number of time steps in this recorded stretch of consecutive time steps."""
        return len(self.sizes)

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """Recorded states at the ends of these time steps: a dictionary from the name of a state table to its
        values, shape (steps + 1, ...). Tables are position, rotation, velocity and others; the first row is
        the state before the first step."""
        return self.assembly.memory.rows(self.states)

    @cached_property
    def set_by_laws(self) -> Array | float:
        """Part of the load values in these time steps that controllers and state-dependent forces have set,
        shape (steps, 3 * values); the rest is prescribed."""
        return self.functions.loads - functions_of(self.assembly, self.times).loads

    def functions_of(self, assembly: Assembly) -> Functions:
        """Return the prescribed vectors and loads of another (perturbed) model at the instants of these time
        steps. Values of controllers and state-dependent forces are those recorded here. ``assembly`` holds
        the tables of the model."""
        own = functions_of(assembly, self.times)
        return Functions(own.moving, own.loads + self.set_by_laws) if assembly.controlled else own

    def residuals(self, memory: Memory, functions: Functions, sizes: Array | None = None) -> Array:
        """Return the residuals of the time step equations at the states recorded here, with other tables of
        numbers (``memory``) and prescribed values (``functions``). The shape is (steps, unknowns).

        Args:
            memory: tables of the model whose equations they are.
            functions: its prescribed vectors and loads.
            sizes: of the steps [s]; None: those of this object.
        """
        lengths, equations = self.sizes if sizes is None else sizes, StepEquations(memory, self.damping)
        return equations.residual(self.states, lengths, functions.moving, functions.loads)[0]

    def load_slopes(self, directions: Array) -> Array:
        """Return the derivatives of the residuals of these time steps along each change of the load values in
        ``directions``, shape (changes, load values). The result has the shape (steps, changes, unknowns). One
        forward difference each is exact, as residuals are linear in loads.

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
        """Return the derivatives of the residuals of time steps ``first`` to ``last`` with respect to a
        parameter that shifts their instants. The shape is (last - first, unknowns). ``rates`` are derivatives
        of the instants; central differences are used, with the increment ``short`` relative to the time
        between the instants.

        Args:
            first, last: rows of the steps.
            rates: derivatives of their instants, shape (last - first + 1,).
            short: step of the difference, relative to the time between the rows.
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
        """Return the history variables (viscoelastic branches, friction springs) that another (perturbed)
        model has at the ends of these time steps, shape (steps, history variables). ``assembly`` holds the
        tables of the model."""
        return strains_after(assembly, self.states, self.sizes, self.functions_of(assembly).moving)

    def single_step(self, number: int) -> Self:
        """Return time step ``number`` of these time steps as an object of a single time step. Its final state
        has the history variables of its initial state. History variables are strains of Maxwell branches,
        deflections of friction springs and impact speeds."""
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
        """Return the derivatives of the residual of time step ``k``, and of the state at its end, along given
        ``directions``. Directions are changes of the ``pair`` of states at both ends of the time step."""
        own, loads = self.functions.moving[k : k + 2], self.functions.loads[k]
        return self._equations.derivative(pair, float(self.sizes[k]), own, loads, directions)

    def state_with_new_history(self, k: int) -> Array:
        """Return the initial state of time step ``k`` with the history variables of its end, shape (1,
        numbers). History variables are strains of Maxwell branches, deflections of friction springs and
        impact speeds."""
        own = slice(k, k + 2)
        moving, loads = self.functions.moving[own], self.functions.loads[k : k + 1]
        return self._equations.residual(self.states[own], self.sizes[k : k + 1], moving, loads, with_ends=True)[1]

    @cached_property
    def _equations(self) -> StepEquations:
        return StepEquations(self.assembly.memory, self.damping)

    def vjp_by_matrix(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Propagate adjoints of ``pose`` and ``velocity``, shape (last - first + 1, costs, velocities),
        backwards from instant ``last`` to ``first`` of these time steps. Each row gets what later rows cause
        added, in place. ``equations``, shape (last - first, costs, unknowns), receives the adjoints of the
        residuals. The transpose of Newton's matrix is used."""
        self._differentiated(ADJOINT, first, last, pose, velocity, equations)

    def jvp_by_matrix(self, first: int, last: int, pose: Array, velocity: Array, equations: Array) -> None:
        """Propagate changes of pose and velocities from instant ``first`` to ``last`` of these time steps
        with Newton's matrix as the derivative. Row 0 of ``pose`` and ``velocity``, shape (last - first + 1,
        parameters, velocities), is given; later rows are overwritten. ``equations`` are changes of the
        residuals, shape (last - first, parameters, unknowns).

        Args:
            first, last: rows.
            pose, velocity: the first row is the input, the others are results, shape
                (last - first + 1, parameters, velocities).
            equations: dF/dp at the states, shape (last - first, parameters, unknowns).

        Raises:
            ModelError: a step whose matrix is singular.
        """
        self._differentiated(DIRECT, first, last, pose, velocity, equations)

    def _differentiated(
        self, wanted: int, first: int, last: int, pose: Array, velocity: Array, equations: Array
    ) -> None:
        indices, counts = self.entries
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


def constraint_rows(assembly: Assembly) -> IntArray:
    """Return for each constraint of a mechanism the index of its equation among the equations of a time step, in
    the order of the multipliers. Shape (constraints,); ``assembly`` has the tables of numbers of the model."""
    memory = assembly.memory
    found = np.zeros(memory.counts["rows"], dtype=np.int64)
    for i in range(memory.counts["constraints"]):
        begin, end = memory["functions_begin"][i : i + 2]
        found[begin:end] = memory["node_row"][memory["constraint_node"][i]] + np.arange(end - begin)
    return found


def rolling_rows(assembly: Assembly) -> IntArray:
    """Return the indices of the equations for rolling without slip among the equations of a time step.
    ``assembly`` has the tables of numbers of the model; these equations act on the displacement over the time
    step."""
    memory = assembly.memory
    rolls = np.asarray(memory["coordinate_of"])[memory.counts["constraints"] :] == ROLLING
    return np.asarray(constraint_rows(assembly)[np.asarray(memory["force_row"])[rolls]])


def entries(assembly: Assembly) -> tuple[IntArray, tuple[int, int]]:
    """Return the entries of Newton's matrix that derivatives of time steps need, as rows (place in memory,
    row, column) of integers. First come entries (velocity row, velocity column), then (velocity, auxiliary
    unknown), then (auxiliary unknown, velocity). The numbers of the first two kinds follow. ``assembly``
    holds the tables of the model."""
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
