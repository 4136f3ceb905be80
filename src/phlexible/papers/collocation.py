"""Collocation for port-Hamiltonian descriptor models of index 1 and 2: the papers' equations as they stand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.sparse import as_array, lu_factors
from phlexible.elements.line_functions import gauss
from phlexible.errors import ConvergenceError, ModelError, SingularMatrixError
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel, slope_by_differences

# Residuals, their derivatives and projections of a port-Hamiltonian model with given inputs.

BatchedInputs: TypeAlias = Callable[[Array, Array], Array]
"""u of T instants from times (T,) and states (T, n), shape (T, m)."""

TAKEN = 1e-2
SMALL_STATE = 1e-3


class Equations:
    """Equations of a port-Hamiltonian model whose inputs are functions u(t, x), for integrators: residuals,
    derivatives, projection.

    Args:
        model: of n states.
        inputs: of many instants.
        initial: a state, shape (n,); tells which states are multipliers.
        input_states: entries of x that u may depend on; None: all.

    Attributes:
        is_algebraic: True where row and column of E are zero, shape (n,).
        block_begins: first entry of each block of states that is not empty.
    """

    def __init__(
        self,
        model: PortHamiltonianModel,
        inputs: BatchedInputs,
        initial: Array,
        input_states: IntArray | None = None,
    ) -> None:
        self.model, self.inputs = model, inputs
        self.input_states = np.arange(len(initial)) if input_states is None else input_states
        descriptor = model.descriptor_matrix(initial)
        size = abs(descriptor)
        total = (np.asarray(size.sum(axis=0)) + np.asarray(size.sum(axis=1))).ravel()
        self.is_algebraic: BoolArray = total == 0
        begins = np.concatenate([[0], np.cumsum([block.size for block in model.states])])
        self.block_begins = np.unique(begins[:-1][np.diff(begins) > 0])

    @property
    def has_constraints(self) -> bool:
        """Whether a port-Hamiltonian model has multipliers, that is, states without a time derivative, whose row
        and column of the descriptor matrix E are zero."""
        return bool(self.is_algebraic.any())

    def inputs_at(self, times: Array, states: Array) -> Array:
        """Return the inputs u (T, m) of a port-Hamiltonian model at T ``times`` and ``states`` (T, n). The input
        function given for this integration is called once with all of them."""
        return self.inputs(times, states)

    def defects(self, times: Array, states: Array, rates: Array, efforts: Array | None = None) -> Array:
        """Return the residuals E dx/dt - (J - R) z - B u of a port-Hamiltonian model at T ``times``, shape (T, n).
        ``states`` and ``rates`` dx/dt have the shape (T, n). The efforts z are computed from the states unless
        ``efforts`` are given."""
        z = self.model.efforts(states) if efforts is None else efforts
        flows = self.model.flows(states, z, self.inputs_at(times, states))
        return self.model.descriptor_products(states, rates) - flows

    def tangent(self, time: float, x: Array, rate: Array) -> tuple[Matrix, Matrix]:
        """Return two matrices (n, n) at one ``time`` [s] for Newton's method: the derivative of the residual of a
        port-Hamiltonian model with respect to its state x, and the descriptor matrix E. How inputs depend on x is
        included by finite differences. ``rate`` is dx/dt, with entries of multipliers ignored. Both matrices are
        dense or both sparse."""
        u = self.inputs(np.array([time]), x[None])[0]
        slope = self.model.defect_slope(x, np.where(self.is_algebraic, 0.0, rate), u)
        if len(self.input_states) and len(u):
            turning = self._input_slope(time, x)
            moved = np.flatnonzero(turning.any(axis=1))
            by_inputs = sparse.csr_array(self.model.port_matrix(x))[:, moved] @ sparse.csr_array(turning[moved])
            slope = slope - (by_inputs.toarray() if isinstance(slope, np.ndarray) else by_inputs)
        descriptor = self.model.descriptor_matrix(x)
        return slope, as_array(descriptor) if isinstance(slope, np.ndarray) else descriptor

    def _input_slope(self, time: float, x: Array) -> Array:
        """Return the derivative of the inputs u(t, x) of a port-Hamiltonian model with respect to its state x, at
        one ``time`` [s]. Its shape is (m, n) for m inputs and n states. Difference quotients perturb only the
        states on which inputs depend; all other columns are zero."""
        own = self.input_states

        def inputs(entries: Array) -> Array:
            states = np.tile(x, (len(entries), 1))
            states[:, own] = entries
            return self.inputs_at(np.full(len(states), time), states)

        slope = slope_by_differences(inputs, x[own], np.maximum(np.abs(x[own]), SMALL_STATE))
        result = np.zeros((len(slope), len(x)))
        result[:, own] = slope
        return result

    def algebraic_residuals(self, time: float, states: Array) -> Array:
        """Return the residuals of the algebraic equations (constraints) of a port-Hamiltonian model for T states
        at one time, shape (T, algebraic equations). They are the entries of (J - R) z + B u for the states without
        a time derivative."""
        u = self.inputs_at(np.full(len(states), time), states)
        return self.model.flows(states, self.model.efforts(states), u)[:, self.is_algebraic]

    def project(self, time: float, x: Array) -> Array:
        """Return the state x (n,) of a port-Hamiltonian model, corrected so that its velocity constraints hold at
        this ``time``. The correction is along the rates that constraint forces cause, and the smallest in kinetic
        energy. It is one linear solve and one repetition, with differenced slopes if the first leaves a large
        residual. Without constraints x itself is returned.

        Both are linear in velocities, and J is skew: the gap of a row changes by the force of that row times the
        way. Where inputs depend on velocities it does not, and differences say by how much.
        """
        forces, ways = self.constraint_directions(x)
        if not len(ways):
            return x
        rows = self.velocity_constraints
        inverse, first = np.linalg.inv(forces @ ways.T), self.algebraic_residuals(time, x[None])[0, rows]
        shift = inverse @ first
        moved = x + shift @ ways
        rest = self.algebraic_residuals(time, moved[None])[0, rows]
        if np.abs(rest).max() > TAKEN * np.abs(first).max():
            values = self.algebraic_residuals(time, x + ways)[:, rows]
            slope = (values - first).T
            shift = np.linalg.solve(slope, -first)
            rest = self.algebraic_residuals(time, (x + shift @ ways)[None])[0, rows]
            return np.asarray(x + (shift - np.linalg.solve(slope, rest)) @ ways)
        return np.asarray(moved + inverse @ rest @ ways)

    def state_rates(self, flows: Array) -> Array:
        """Return dx/dt = E^-1 ``flows`` for right-hand sides ``flows`` (n,) of a port-Hamiltonian model, shape
        (n,). The descriptor matrix E is evaluated at the rest state of the model, not at the current state."""
        return np.asarray(self.model.descriptor_solutions(self.model.rest_state, flows[None])[0])

    def constraint_directions(self, x: Array) -> tuple[Array, Array]:
        """Return two arrays for the velocity constraints of a port-Hamiltonian model at the state x, each of shape
        (constraints, n). They are the generalized forces of unit multipliers, and the rates dx/dt that these forces
        cause."""
        forces = self._multiplier_flows(x)[self.velocity_constraints]
        forces[:, self.is_algebraic] = 0.0
        return forces, self.model.descriptor_solutions(x, forces)

    def _multiplier_flows(self, x: Array) -> Array:
        """Return the right-hand sides of a port-Hamiltonian model for unit multipliers (constraint forces) at the
        state x, shape (multipliers, n). In row k only multiplier k is 1; all other efforts and the inputs are
        zero."""
        units = np.eye(len(x))[self.is_algebraic]
        no_inputs = np.zeros((len(units), self.model.port_size))
        return self.model.flows(np.broadcast_to(x, units.shape), units, no_inputs)

    @cached_property
    def velocity_constraints(self) -> IntArray:
        """Indices, among the algebraic equations of a port-Hamiltonian model, of those in which no multiplier
        occurs: constraints on velocities, which make the model one of index 2."""
        flows = self._multiplier_flows(self.model.rest_state)
        return np.flatnonzero(np.abs(flows[:, self.is_algebraic]).max(axis=0, initial=0.0) == 0)


# Coefficients of collocation schemes for port-Hamiltonian descriptor models of index 2.
#
# Hairer, Lubich, Roche, *The numerical solution of differential-algebraic systems by Runge-Kutta
# methods* (1989), for Radau IIA; Ascher, Petzold, *Projected implicit Runge-Kutta methods for
# differential-algebraic equations* (1991), for Gauss with a projection at the end of each step.


@dataclass(frozen=True, eq=False)
class Tableau:
    """Collocation scheme of s stages, an implicit Runge-Kutta method given by its nodes.

    Attributes:
        name: of the scheme.
        nodes: c_i, from 0 at the start to 1 at the end of the step, shape (s,).
    """

    name: str
    nodes: Array

    @property
    def stages(self) -> int:
        """Number s of stages of this collocation scheme (an implicit Runge-Kutta method given by its nodes)."""
        return len(self.nodes)

    @property
    def is_stiffly_accurate(self) -> bool:
        """Whether the last stage of this collocation scheme (implicit Runge-Kutta method) is the end of the
        time step, so that algebraic equations hold there; otherwise the state at the end is projected onto
        them."""
        return bool(self.nodes[-1] == 1.0)

    @property
    def order(self) -> int:
        """Order of convergence of the states with a time derivative for this collocation scheme of s stages: 2 s,
        or 2 s - 1 if the last stage is the end of the time step. It is the same for equations of index 2 as for
        ordinary differential equations; multipliers converge with order s."""
        return 2 * self.stages - self.is_stiffly_accurate

    @cached_property
    def _polynomials(self) -> Array:
        """Coefficients of the Lagrange polynomials of this collocation scheme, shape (powers, nodes): polynomial j
        is 1 at node j and 0 at the other nodes."""
        return np.asarray(np.linalg.inv(np.vander(self.nodes, increasing=True)))

    @cached_property
    def matrix(self) -> Array:
        """Coefficients a_ij of this implicit Runge-Kutta method, shape (s, s): the integral of the Lagrange
        polynomial of node j from 0 to node i. Nodes are fractions of the time step."""
        powers = np.arange(1, self.stages + 1)
        return np.asarray(self.nodes[:, None] ** powers / powers @ self._polynomials)

    @cached_property
    def weights(self) -> Array:
        """Weights b_j of this implicit Runge-Kutta method, shape (s,): integrals of the Lagrange polynomials
        of its nodes over the time step, from 0 to 1."""
        return np.asarray(1 / np.arange(1, self.stages + 1) @ self._polynomials)

    def weights_at(self, node: float) -> Array:
        """Return the values at ``node`` of the Lagrange polynomials of this collocation scheme, shape (s,). They
        are weights with which values at the stages are interpolated there. Node 0 is the start, 1 the end of the
        time step."""
        return np.asarray(node ** np.arange(self.stages) @ self._polynomials)


GAUSS_LEGENDRE_1 = Tableau("Gauss-Legendre 1 (implicit midpoint)", gauss(1)[0])
GAUSS_LEGENDRE_2 = Tableau("Gauss-Legendre 2", gauss(2)[0])
RADAU_IIA_3 = Tableau("Radau IIA 3", np.array([(4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0]))


# Newton's matrix of a collocation step, factored.


class NewtonFactors:
    """Factored Newton matrix of a collocation step with s stages: blocks E delta_ij + h a_ij slope, where columns
    of multipliers have the slope itself.

    Args:
        step: h [s].
        coefficients: a_ij, shape (s, s).
        slope: d(defect)/dx, shape (n, n).
        descriptor: E, shape (n, n).
        is_algebraic: of the n states.

    Raises:
        ModelError: the matrix is singular: constraints depend on each other.
    """

    def __init__(
        self, step: float, coefficients: Array, slope: Matrix, descriptor: Matrix, is_algebraic: BoolArray
    ) -> None:
        self.step, coupling = step, step * coefficients
        slope, descriptor = sparse.csr_array(slope), sparse.csr_array(descriptor)
        differential = sparse.diags_array((~is_algebraic).astype(np.float64), format="csr")
        algebraic = sparse.diags_array(is_algebraic.astype(np.float64), format="csr")
        between = sparse.kron(sparse.csr_array(coupling), slope @ differential)
        own = descriptor @ differential + slope @ algebraic
        matrix = sparse.csr_array(between + sparse.kron(sparse.eye_array(len(coupling)), own))
        largest = abs(matrix).max(axis=1).toarray().ravel()
        if not largest.all():
            raise ModelError(SINGULAR)
        self._scale = 1 / largest
        try:
            self._factors = lu_factors(sparse.diags_array(self._scale) @ matrix)
        except SingularMatrixError:
            raise ModelError(SINGULAR) from None

    def solve(self, defects: Array) -> Array:
        """Solve the linear system of one Newton iteration of an implicit Runge-Kutta time step by the stored LU
        factors. ``defects`` are the residuals of the s stages, shape (s, n). Return the solution without changing
        its sign, shape (s, n)."""
        return np.asarray(self._factors.solve(self._scale * defects.ravel())).reshape(defects.shape)


SINGULAR = "the equations of a step are singular: constraints depend on each other, or a state has no equation"


# A stage i has the state X_i = x_0 + h sum_j a_ij K_j and obeys E(X_i) K_i = (J - R) z(X_i) + B u.
# States whose rows and columns of E are zero are multipliers; their stage values are unknowns themselves,
# so that they need no initial value, and their end value is that of the polynomial through the stages.
# Gauss schemes can be projected at the end of a step along the constraint forces: E dx = J mu.

ITERATIONS = 30
SLOW = 0.2
CLOSE = 1e-7
STUCK = 0.3
FLOOR = 1e-12
DONE = 1e-14
EXPECTED = 1e-13
TRUSTED = 1e-3
ROUND_OFF = 1e-16
SHARE = 1e-3
INTEGRALS = {"velocity": "position", "angular_velocity": "rotation_rows", "elastic_velocity": "displacement"}
ABSURD = 1e30


@dataclass(frozen=True, eq=False)
class Step:
    """One completed time step of a collocation scheme: its s stages and the state at its end.

    Attributes:
        length: h [s].
        end: the state at its end, shape (n,).
        times: of the stages, shape (s,) [s].
        stages: states, shape (s, n).
        rates: dx/dt of the stages, multipliers in place of their rates, shape (s, n).
        efforts: z of the stages, shape (s, n); None: those of their states.
        first_multipliers: at the start of the step, from the polynomial through the stages, shape (multipliers,).
    """

    length: float
    end: Array
    times: Array
    stages: Array
    rates: Array
    efforts: Array | None
    first_multipliers: Array


class StageLoop:
    """Solver of one collocation step after the other by Newton's method, which stores the factored matrix as long
    as it converges fast.

    Args:
        equations: of the model.
        tableau: of the scheme.
        initial: a state, shape (n,).
        is_projected: whether the ends of the steps are moved onto the constraints.
    """

    expected = EXPECTED
    """The next change of Newton's method below which a step is done, relative."""

    def __init__(self, equations: Equations, tableau: Tableau, initial: Array, is_projected: bool) -> None:
        self.equations, self.tableau = equations, tableau
        self.is_projected = is_projected and equations.has_constraints
        self.largest = np.zeros(len(equations.block_begins))
        self._compared = self.largest
        names = [block.name.rpartition(".")[2] for block in equations.model.states if block.size]
        kinds = {name: k for k, name in enumerate(dict.fromkeys(names))}
        self._kinds = np.array([kinds[name] for name in names], dtype=np.int64)
        self._integrals = np.array([kinds.get(INTEGRALS.get(name, ""), -1) for name in names], dtype=np.int64)
        self.rates, self._length = np.zeros((tableau.stages, len(initial))), 0.0
        self.rates[:, equations.is_algebraic] = initial[equations.is_algebraic]
        self._factors: NewtonFactors | None = None
        self._start_weights, self._end_weights = tableau.weights_at(0.0), tableau.weights_at(1.0)

    def advance(self, time: float, step: float, x: Array) -> Step:
        """Solve one time step of an implicit Runge-Kutta method and return its stages and end state. The step has
        the length ``step`` [s] and starts from the state x (n,) at ``time`` [s]. Newton's method starts from the
        last step's stage rates. LU factors are kept from step to step, and renewed for another length or slow
        convergence. Raise ``ConvergenceError`` if the iteration fails."""
        k, times = self._predicted_rates(step), time + step * self.tableau.nodes
        history = list[float]()
        for _ in range(ITERATIONS):
            states = self._stage_states(x, step, k)
            is_fresh = self._factors is None or self._factors.step != step
            if self._factors is None or is_fresh:
                try:
                    self._factors = self._new_factors(times, step, states, k)
                except ModelError:
                    if history:  # lost, at states that make no sense
                        break
                    raise
            change = -self._factors.solve(self.equations.defects(times, states, k, self._efforts(x, step, k)))
            k = k + change
            history.append(self._largest_change(states, step, change, is_first=not history))
            if history[-1] == np.inf:
                break
            if _has_converged(history, self.expected):
                return self._finished_step(time, step, x, k, times)
            if len(history) > 1 and history[-1] > SLOW * history[-2]:
                is_small = history[-1] < (CLOSE if is_fresh else FLOOR)
                if is_small and history[-1] > STUCK * history[-2]:  # round-off
                    return self._finished_step(time, step, x, k, times)
                if not is_fresh and not is_small:
                    self._factors = None
        self._factors = None
        raise ConvergenceError(
            f"{self.tableau.name} does not converge at t = {time:g} s with step {step:g} s; take a smaller step",
            time,
            np.array(history),
        )

    def _predicted_rates(self, step: float) -> Array:
        """Return the first guess of the rates dx/dt at the s stages of the next time step, shape (s, n). It
        extrapolates the polynomial through the stage rates of the last time step; before the first time step, the
        stored initial rates are returned."""
        if not self._length:
            return self.rates
        nodes = 1 + step / self._length * self.tableau.nodes
        return np.array([self.tableau.weights_at(node) for node in nodes]) @ self.rates

    def _efforts(self, x: Array, step: float, k: Array) -> Array | None:
        """Return None, which means that the derivatives of the stored energy are evaluated at the stage states of
        a time step. Subclasses return other energy derivatives (efforts), shape (s, n), instead."""
        return None

    def _stage_states(self, x: Array, step: float, k: Array) -> Array:
        """Return the states at the s stages of a Runge-Kutta time step, x + h sum_j a_ij k_j, shape (s, n). x is
        the state at its start, ``k`` (s, n) are the stage rates. Multipliers, which have no rate, are copied from
        ``k``."""
        return np.where(self.equations.is_algebraic, k, x + step * self.tableau.matrix @ k)

    def _finished_step(self, time: float, step: float, x: Array, k: Array, times: Array) -> Step:
        """Return the completed Runge-Kutta time step (stages and end state) from the state x at ``time`` for
        converged stage rates k. k has the shape (s, n) for s stages and n states. Multipliers at its end are
        weighted sums of the stage values; states are integrated. If ``is_projected``, the end state is projected
        onto the velocity constraints. The rates and step size are stored as next first guess."""
        self.rates, self._length, algebraic = k, step, self.equations.is_algebraic
        states = self._stage_states(x, step, k)
        differential = x + step * self.tableau.weights @ k
        end = np.where(algebraic, self._end_weights @ k, differential)
        if self.is_projected:
            end = self.equations.project(time + step, end)
        first = self._start_weights @ k[:, algebraic]
        return Step(step, np.asarray(end), times, states, k, self._efforts(x, step, k), np.asarray(first))

    def _new_factors(self, times: Array, step: float, states: Array, k: Array) -> NewtonFactors:
        """Compute and return the LU factors of the Newton matrix of a Runge-Kutta time step. The derivative of the
        residual at the middle stage is used for all stages. ``times``, ``states`` and k are times, states and
        rates of the stages."""
        middle = len(k) // 2  # the slope of one stage will do for all, and costs most
        slope, descriptor = self.equations.tangent(float(times[middle]), states[middle], k[middle])
        return NewtonFactors(step, self.tableau.matrix, slope, descriptor, self.equations.is_algebraic)

    def _largest_change(self, states: Array, step: float, change: Array, is_first: bool) -> float:
        """Return the largest relative change of the stage ``states`` in one Newton iteration, by which convergence
        is judged. The ``change`` of the rates, times ``step`` and Runge-Kutta matrix, is divided by the largest
        value so far in its block of states (positions, velocities, ...). Small blocks are compared with related
        blocks; multipliers are ignored. Changes of 1e30 or more give infinity. ``is_first`` marks the first
        iteration.

        A block may hold round-off only, of what does not move: no block is compared with less than a fraction of
        the largest of its kind, of velocities also of those that would move the largest place as far in a step.
        Multipliers are not asked: they are as good as the velocities that they change.
        """
        if not (np.abs(change) < ABSURD).all():
            return np.inf
        moved = np.where(self.equations.is_algebraic, 0.0, step * self.tableau.matrix @ change)
        begins = self.equations.block_begins
        if is_first:  # later changes are small
            sizes = np.abs(states + moved).max(axis=0)
            self.largest = np.maximum(self.largest, np.maximum.reduceat(sizes, begins))
            of_kind = np.zeros(self._kinds.max() + 2)  # the last one of what is no integral
            np.maximum.at(of_kind, self._kinds, self.largest)
            of_kind[-1] = 0.0
            share = SHARE * np.maximum(of_kind[self._kinds], of_kind[self._integrals] / abs(step))
            self._compared = np.maximum(self.largest, share)
        greatest = np.maximum.reduceat(np.abs(moved).max(axis=0), begins)
        counts = (self._compared > 0) & (greatest > ROUND_OFF)
        return float((greatest[counts] / self._compared[counts]).max(initial=0.0))


EQUAL = 1e-6  # lengths of steps


def multipliers_at_ends(time: Array, multipliers: Array) -> Array:
    """Return the multipliers (constraint forces) at the N + 1 ends of N time steps, shape (N + 1, m). They follow
    from the ``multipliers`` of each step (N, m). The mean of two adjacent steps of equal length belongs to the
    instant between them. Other instants follow by linear inter- or extrapolation. With one such mean it is
    repeated; with none, the steps' values are used.

    Velocities meet constraints in the middle of the steps; the part of them along a constraint changes its sign
    from end to end, and its force from step to step. The mean of two equal steps has none of it, and is that of the
    instant in between; other instants are on the line through the two nearest means.

    Args:
        time: ends of the steps, shape (N + 1,).
        multipliers: of the steps, shape (N, m).
    """
    lengths = np.diff(time)
    inner = 1 + np.flatnonzero(np.abs(np.diff(lengths)) <= EQUAL * lengths[1:])
    if not len(inner):
        return np.concatenate([multipliers[:1], multipliers])
    known, means = time[inner], (multipliers[inner - 1] + multipliers[inner]) / 2
    if len(inner) == 1:
        return np.repeat(means, len(time), axis=0)
    index = np.clip(np.searchsorted(known, time) - 1, 0, len(known) - 2)
    share = ((time - known[index]) / (known[index + 1] - known[index]))[:, None]
    found = (1 - share) * means[index] + share * means[index + 1]
    found[inner] = means
    return np.asarray(found)


def _has_converged(history: list[float], expected: float) -> bool:
    """Return whether Newton's method has converged, from the ``history`` of relative changes of its
    iterations. It has if the last change is at most 1e-14. It also has if the last change is below 1e-3 and
    below a fifth of the one before, and the same reduction promises a next change of at most ``expected``."""
    if history[-1] <= DONE or len(history) < 2:
        return history[-1] <= DONE
    speed = history[-1] / history[-2]
    return speed < SLOW and history[-1] < TRUSTED and history[-1] * speed <= expected


class DiscreteGradientLoop(StageLoop):
    """Solver of steps of the implicit midpoint rule in which the discrete gradient replaces the efforts at the
    midpoint, so that energy is balanced exactly.

    Args:
        equations: of the model.
        initial: a state, shape (n,).
    """

    expected = 1e-16

    def __init__(self, equations: Equations, initial: Array) -> None:
        super().__init__(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)

    def _efforts(self, x: Array, step: float, k: Array) -> Array:
        """Return the model's discrete gradient of the stored energy (``discrete_effort``) over a time step, shape
        (1, n). The step goes from x to x + h k, with the stage rates ``k`` (1, n). Used instead of the energy
        derivative at the midpoint, this gradient makes the energy balance exact. At multipliers, start and end
        both take the value in ``k``."""
        algebraic = self.equations.is_algebraic
        start, end = x.copy(), x + step * k[0]
        start[algebraic] = end[algebraic] = k[0, algebraic]
        return self.equations.model.discrete_effort(start, end)[None]


# The linearly implicit scheme of Brugnoli, Matignon, Morlier, Nonlinear Dynamics (2025).
#
# For models ``E dx/dt = (J(q) - R(q)) z + B(q) u`` with constant E, coordinates q whose rates are efforts, and
# efforts that are linear in all other states y, such as velocities and stresses (docs/theory.md, 5)::
#
#     q_+ = q_n + h/2 dq/dt(y_n)
#     E (x_{n+1} - x_n) = h (J - R)(q_+) z(mean(y)) + h B(q_+) u(t_m)
#
# One linear system a step. J is skew, so that the power balance is exact; order 2, symmetric in time.

APART = 0.1  # of the greatest state of a block: how far from x0 the model is tried
EXACT = 1e-9
REMEDY = (
    'method="linearly_implicit" needs constant E, efforts that are linear in velocities and stresses, and J that is'
    " affine in the coordinates: strings of the law of St. Venant and Kirchhoff, soft bodies by"
    " port_hamiltonian(stresses=True), phlexible.papers.QuadraticStrainModel. For others take"
    ' method="discrete_gradient"'
)


class LinearlyImplicitLoop(StageLoop):
    """Solver of steps of the linearly implicit midpoint rule, for models with strains that are quadratic in their
    coordinates. The coordinates are half a step ahead.

    What is left is linear: Newton's method takes one iteration, and another one that finds round-off.

    Args:
        equations: of the model.
        initial: a state, shape (n,).

    Raises:
        ModelError: a model that is no such one; says what of it is not.
    """

    expected = 1e-16

    def __init__(self, equations: Equations, initial: Array) -> None:
        super().__init__(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)
        self._coordinates = equations.model.coordinates
        self._half = np.zeros(len(self._coordinates))
        self._strains = _strain_rows(equations, initial)
        _check_model(equations, initial, self._coordinates, self._strains)

    def advance(self, time: float, step: float, x: Array) -> Step:
        """Solve one time step of the linearly implicit midpoint rule, of length ``step`` [s] from the state x (n,)
        at ``time`` [s], and return it. Coordinates advance explicitly by half a time step and are stored. With
        them, one newly factored linear system gives velocities and stresses."""
        self._half = x[self._coordinates] + step / 2 * self._free_flow(x)[self._coordinates]
        self._factors = None  # J has changed
        return super().advance(time, step, x)

    def conserved_start(self, step: float, x: Array) -> Array:
        """Return the initial state x, shape (n,), with strains or stresses changed to those that the linearly
        implicit time steps conserve. These belong to the polarised strain e(q - h/2 dq/dt, q + h/2 dq/dt) instead
        of e(q), for time steps of length ``step`` h [s].

        Then C s = e(q_-, q_+) holds at all times, and stresses do not drift away from the coordinates.
        """
        ahead, change = x.copy(), np.zeros_like(x)
        ahead[self._coordinates] += step / 2 * self._free_flow(x)[self._coordinates]
        change[self._strains] = (self._free_flow(ahead, x) - self._free_flow(x))[self._strains]
        return np.asarray(x - step / 4 * self.equations.state_rates(change))

    def _free_flow(self, x: Array, efforts_of: Array | None = None) -> Array:
        """Return the right-hand side (J - R)(x) z of a port-Hamiltonian model without inputs at the state x, shape
        (n,). The efforts z are those at x, or at the state ``efforts_of`` if it is given."""
        model = self.equations.model
        z = model.efforts((x if efforts_of is None else efforts_of)[None])
        return np.asarray(model.flows(x[None], z, np.zeros((1, model.port_size)))[0])

    def _stage_states(self, x: Array, step: float, k: Array) -> Array:
        """Return the state in the middle of a time step of length ``step`` from the state x for stage rates k,
        shape (1, n). Its coordinates are the stored ones that were advanced explicitly by half a time step."""
        states = super()._stage_states(x, step, k)
        states[:, self._coordinates] = self._half
        return states

    def _new_factors(self, times: Array, step: float, states: Array, k: Array) -> NewtonFactors:
        """Return the factored matrix of the linear system of one linearly implicit time step. The coordinates
        in it are fixed at their values half a time step ahead. ``states`` and k are states and rates,
        ``times`` are those of the stages."""
        slope, descriptor = self.equations.tangent(float(times[0]), states[0], k[0])
        moves = np.ones(len(states[0]))
        moves[self._coordinates] = 0.0  # the step does not move them
        slope = slope @ sparse.diags_array(moves) if sparse.issparse(slope) else slope * moves
        return NewtonFactors(step, self.tableau.matrix, slope, descriptor, self.equations.is_algebraic)


def _strain_rows(equations: Equations, x: Array) -> IntArray:
    """Return the indices of the strains or stresses among the states of a port-Hamiltonian model
    (``equations``). They are all states but coordinates, algebraic states (multipliers), and states with an
    entry in a row of coordinates in the structure matrix J(x), i.e. velocities."""
    coordinates = equations.model.coordinates
    structure = sparse.csr_array(equations.model.structure_matrix(x))[coordinates]
    is_strain = ~equations.is_algebraic
    is_strain[coordinates], is_strain[structure.nonzero()[1]] = False, False
    return np.flatnonzero(is_strain)


def _check_model(equations: Equations, x: Array, q: IntArray, strains: IntArray) -> None:
    """Raise ``ModelError`` unless a port-Hamiltonian model is simple enough for linearly implicit time steps. E
    must be constant, efforts linear, rates of the coordinates q efforts, and rates of ``strains`` at most
    quadratic in q. J, R and B may depend on q only. All is tested at random states that differ from x by a
    fraction of the greatest state of each block.

    Raises:
        ModelError: says what does not fit.
    """
    model, generator = equations.model, np.random.default_rng(0)
    begins = equations.block_begins
    sizes = np.maximum(np.maximum.reduceat(np.abs(x), begins), SMALL_STATE)
    sizes = np.repeat(sizes, np.diff([*begins, len(x)]))
    first, second, rate, z = generator.uniform(-APART, APART, (4, len(x))) * sizes
    turned, u = np.zeros(len(x)), generator.normal(size=model.port_size)
    turned[q] = first[q]

    def efforts(change: Array) -> Array:
        return np.asarray(model.efforts((x + change)[None])[0])

    def momenta(change: Array) -> Array:
        return np.asarray(model.descriptor_products((x + change)[None], rate[None])[0])

    def flows(change: Array) -> Array:
        return np.asarray(model.flows((x + change)[None], z[None], u[None])[0])

    none = np.zeros(len(x))
    identity = np.asarray(model.descriptor_products(x[None], rate[None])[0][q]) - rate[q]
    bent = flows(2 * turned)[strains] - 2 * flows(turned)[strains] + flows(none)[strains]
    trials = {
        "the rates of its coordinates are no efforts": (identity, rate[q]),
        "E depends on the state": (momenta(first) - momenta(none), momenta(none)),
        "its efforts depend on the coordinates": (efforts(turned) - efforts(none), efforts(none)),
        "its efforts are not linear": (
            efforts(first + second) - efforts(first) - efforts(second) + efforts(none),
            efforts(first),
        ),
        "J, R or B depend on states that are no coordinates": (flows(first) - flows(turned), flows(turned)),
        "its strains are not quadratic in the coordinates": (bent, flows(turned)[strains]),
    }
    for words, (gap, size) in trials.items():
        if not np.abs(gap).max(initial=0.0) <= EXACT * np.abs(size).max(initial=0.0):
            raise ModelError(f"{words}: {REMEDY}")
