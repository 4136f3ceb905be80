"""Residuals, their derivatives and projections of a port-Hamiltonian model with given inputs, for integrators."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import as_array
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel, slope_by_differences

BoolArray: TypeAlias = NDArray[np.bool_]
BatchedInputs: TypeAlias = Callable[[Array, Array], Array]
"""u of T instants from times (T,) and states (T, n), shape (T, m)."""

TAKEN = 1e-2
SMALL = 1e-3


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
        self._used_states: IntArray | None = None
        descriptor = model.descriptor_matrix(initial)
        size = abs(descriptor)
        total = (np.asarray(size.sum(axis=0)) + np.asarray(size.sum(axis=1))).ravel()
        self.is_algebraic: BoolArray = total == 0
        begins = np.concatenate([[0], np.cumsum([block.size for block in model.states])])
        self.block_begins = np.unique(begins[:-1][np.diff(begins) > 0])

    @property
    def has_constraints(self) -> bool:
        """Whether a port-Hamiltonian model has multipliers: states without a time derivative, whose row and column
        of the descriptor matrix E are zero."""
        return bool(self.is_algebraic.any())

    def inputs_at(self, times: Array, states: Array) -> Array:
        """Return the inputs u of a port-Hamiltonian model at T times (T,) and ``states`` (T, n); shape (T,
        m), by the function that was given for them."""
        return self.inputs(times, states)

    def defects(self, times: Array, states: Array, rates: Array, efforts: Array | None = None) -> Array:
        """Return the residuals E dx/dt - (J - R) z - B u of a port-Hamiltonian model at T instants; shape (T,
        n), for given ``times``, states and ``rates`` dx/dt; the efforts z are those of the ``states`` unless
        ``efforts`` has others."""
        z = self.model.efforts(states) if efforts is None else efforts
        flows = self.model.flows(states, z, self.inputs_at(times, states))
        return self.model.descriptor_products(states, rates) - flows

    def tangent(self, time: float, x: Array, rate: Array, is_careful: bool = True) -> tuple[Matrix, Matrix]:
        """Return the derivative of a port-Hamiltonian model's residual with respect to the state x at one
        ``time`` [s]. The descriptor matrix E, which multiplies dx/dt, comes with it. Inputs that depend on x
        count in the derivative; both matrices have shape (n, n). ``rate`` is dx/dt; slopes of inputs are
        sought along all states if ``is_careful``.

        Args:
            is_careful: inputs are asked for their slopes along all states that they may depend on; False: along
                those that they have depended on so far.
        """
        u = self.inputs(np.array([time]), x[None])[0]
        slope = self.model.defect_slope(x, np.where(self.is_algebraic, 0.0, rate), u)
        if len(self.input_states) and len(u):
            turning = self._input_slope(time, x, is_careful)
            moved = np.flatnonzero(turning.any(axis=1))
            by_inputs = sparse.csr_array(self.model.port_matrix(x))[:, moved] @ sparse.csr_array(turning[moved])
            slope = slope - (by_inputs.toarray() if isinstance(slope, np.ndarray) else by_inputs)
        descriptor = self.model.descriptor_matrix(x)
        return slope, as_array(descriptor) if isinstance(slope, np.ndarray) else descriptor

    def _input_slope(self, time: float, x: Array, is_careful: bool) -> Array:
        """Return the derivative of the inputs u(t, x) of a port-Hamiltonian model with respect to the state x
        at one ``time`` [s], by difference quotients; shape (m, n). All states are tried if ``is_careful``."""
        own = self.input_states if is_careful or self._used_states is None else self._used_states

        def inputs(entries: Array) -> Array:
            states = np.tile(x, (len(entries), 1))
            states[:, own] = entries
            return self.inputs_at(np.full(len(states), time), states)

        slope = slope_by_differences(inputs, x[own], np.maximum(np.abs(x[own]), SMALL))
        result = np.zeros((len(slope), len(x)))
        result[:, own] = slope
        known = np.zeros(0, dtype=np.int64) if self._used_states is None else self._used_states
        self._used_states = np.union1d(known, own[(slope != 0).any(axis=0)])
        return result

    def algebraic_residuals(self, time: float, states: Array) -> Array:
        """Return the residuals of the algebraic equations (constraints) of a port-Hamiltonian model for T states at
        one time, shape (T, algebraic rows): those rows of (J - R) z + B u that have no time derivative."""
        u = self.inputs_at(np.full(len(states), time), states)
        return self.model.flows(states, self.model.efforts(states), u)[:, self.is_algebraic]

    def project(self, time: float, x: Array) -> Array:
        """Return the state x (n,) of a port-Hamiltonian model changed along its constraint forces until its
        velocity constraints hold at this time, shape (n,); of all such states it is the nearest in kinetic energy.

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
        """Return the rates dx/dt = E^-1 times the given right-hand sides ``flows`` (n,) of a port-Hamiltonian
        model; shape (n,), with the descriptor matrix E at its state of rest."""
        return np.asarray(self.model.descriptor_solutions(self.model.rest_state, flows[None])[0])

    def constraint_directions(self, x: Array) -> tuple[Array, Array]:
        """Return two arrays for the velocity constraints of a port-Hamiltonian model at the state x, each of shape
        (constraints, n). They are the generalized forces of unit multipliers, and the rates dx/dt that these forces
        cause."""
        forces = self._multiplier_flows(x)[self.velocity_constraints]
        forces[:, self.is_algebraic] = 0.0
        return forces, self.model.descriptor_solutions(x, forces)

    def _multiplier_flows(self, x: Array) -> Array:
        """Return how unit multipliers (constraint forces) act in the equations of a port-Hamiltonian model at the
        state x: right-hand sides, shape (multipliers, n). One multiplier after the other is 1, all other efforts
        are zero."""
        units = np.eye(len(x))[self.is_algebraic]
        no_inputs = np.zeros((len(units), self.model.port_size))
        return self.model.flows(np.broadcast_to(x, units.shape), units, no_inputs)

    @cached_property
    def velocity_constraints(self) -> IntArray:
        """Indices, among the algebraic equations of a port-Hamiltonian model, of those in which no multiplier
        occurs: constraints on velocities, which make the model one of index 2."""
        flows = self._multiplier_flows(self.model.rest_state)
        return np.flatnonzero(np.abs(flows[:, self.is_algebraic]).max(axis=0, initial=0.0) == 0)
