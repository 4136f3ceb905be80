"""Base class of port-Hamiltonian descriptor models, with their states and ports (docs/theory.md, 1)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import disjoint_columns, lu_factors
from phlexible.errors import ModelError, SingularMatrixError

Matrix: TypeAlias = Any
"""A NumPy array or a SciPy sparse array of shape (rows, columns)."""

# Derivatives of functions of many states at once, and solutions with E.

STEP = 1e-7
MOST_VALUES = 10**6
"""Largest number of entries of the matrices of all states that are evaluated in one call."""
SMALL = 1e-3
DENSE = 300
OFFSET = 0.1
SINGULAR = "the descriptor matrix is singular beyond its empty rows"


def slope_by_differences(function: Callable[[Array], Array], x: Array, sizes: Array) -> Array:
    """Return the dense derivative df/dx, shape (k, n), of a function at x, shape (n,), by forward differences. The
    step of each entry is 1e-7 of its typical size in ``sizes`` (n,), at least 1e-10. The function takes T states
    (T, n), returns values (T, k), and is called once, or in several batches if x is long.

    Args:
        sizes: typical size of each entry of x, shape (n,).
    """
    steps = STEP * np.maximum(sizes, SMALL)
    states = np.concatenate([x[None], x + np.diag(steps)])
    batch = max(1, MOST_VALUES // max(1, len(x)) ** 2)  # states per call
    values = np.concatenate([function(states[k : k + batch]) for k in range(0, len(states), batch)])
    return np.asarray((values[1:] - values[0]).T / steps)


class SparseDifferences:
    """Derivatives by differences of functions with n arguments and n results, each of which depends on few
    arguments; columns without a common row share one difference.

    After Curtis, Powell and Reid, *On the estimation of sparse Jacobian matrices* (1974): columns without a common
    row need one difference.

    Args:
        pattern: entries of the derivative that may be different from zero, shape (n, n).
    """

    def __init__(self, pattern: sparse.csc_array) -> None:
        self._shape, self._rows = pattern.shape, pattern.indices.astype(np.int64)
        self._columns = np.repeat(np.arange(pattern.shape[1]), np.diff(pattern.indptr))
        groups = disjoint_columns(pattern)
        self._group, self._count = np.zeros(pattern.shape[1], dtype=np.int64), len(groups)
        for number, columns in enumerate(groups):
            self._group[columns] = number

    def slope(self, function: Callable[[Array], Array], x: Array, sizes: Array) -> sparse.csr_array:
        """Return the sparse derivative df/dx, shape (n, n), of a function at x, shape (n,), by forward differences.
        ``sizes`` (n,) are typical sizes of the entries of x. The function is called once with T states (T, n) and
        returns (T, n). Columns without a common row in the sparsity pattern are perturbed in the same state.

        Args:
            sizes: typical size of each entry of x, shape (n,).
        """
        steps = STEP * np.maximum(sizes, SMALL)
        states = np.tile(x, (1 + self._count, 1))
        states[1 + self._group, np.arange(len(x))] += steps
        values = function(states)
        change = values[1 + self._group[self._columns], self._rows] - values[0, self._rows]
        return sparse.coo_array((change / steps[self._columns], (self._rows, self._columns)), self._shape).tocsr()


def descriptor_solver(matrix: Matrix) -> Callable[[Array], Array]:
    """Factor the descriptor matrix E of a port-Hamiltonian model by LU, dense up to 300 states, and return a
    function. The function takes right-hand sides r as rows, shape (k, n), and returns E^-1 r of each row. Empty
    rows of E, those of multipliers, count as identity, so that their entries of r are returned unchanged.

    Raises:
        ModelError: E is singular beyond its empty rows.
    """
    matrix = sparse.csr_array(matrix)
    is_empty = np.asarray(abs(matrix).sum(axis=1)).ravel() == 0
    filled = sparse.csc_array(matrix + sparse.diags_array(is_empty.astype(np.float64)))
    if filled.shape[0] <= DENSE:
        dense, pivots, info = lapack.dgetrf(filled.toarray())
        if info > 0:
            raise ModelError(SINGULAR)
        return lambda rows: np.asarray(lapack.dgetrs(dense, pivots, rows.T)[0].T)
    try:
        factors = lu_factors(filled)
    except SingularMatrixError:
        raise ModelError(SINGULAR) from None
    return lambda rows: np.asarray(factors.solve(rows.T).T)


#     E(x) dx/dt = (J(x) - R(x)) z(x) + B(x) u,   y = B(x)^T z(x),   E(x)^T z(x) = grad H(x)
#     J = -J^T,  R = R^T >= 0    =>   dH/dt = u.y - z^T R z
#
# (16), (30) of Brugnoli et al. (2020), who write **e** for the state x and **z** for the effort. A row of
# E that is zero is an algebraic equation; the state that belongs to it is a multiplier.


@dataclass(frozen=True)
class StateGroup:
    """Named block of consecutive entries of a model's state, with their unit.

    Attributes:
        name: unique in its model.
        unit: of the entries, "" where they differ.
        size: number of entries.
    """

    name: str
    unit: str
    size: int


@dataclass(frozen=True)
class Port:
    """Inputs u of a model and their collocated outputs y, whose product u.y is a power [W].

    Attributes:
        name: unique in its model.
        input_unit: of u, for example "N".
        output_unit: of y, for example "m/s".
        size: number of inputs, and of outputs.
        mass: M_d or M_b of Remark 4, shape (size, size): the outputs are ``y = mass @ coordinates``,
            where the coordinates are those of the output field; None: the identity.
    """

    name: str
    input_unit: str
    output_unit: str
    size: int
    mass: Matrix | None = field(default=None, compare=False, repr=False)

    def select(self, *components: int) -> "PortPart":
        """Return some components of this port (group of inputs and their power-conjugate outputs), in the given
        order, as a ``PortPart``. ``model.with_ports`` makes a new port of it. Components are indices from 0. Raise
        ``ModelError`` for none, a repeated or an unknown one.

        Raises:
            ModelError: no component, one that the port does not have, or one twice.
        """
        if not components or len(set(components)) < len(components):
            raise ModelError(
                f"select needs one or more different components of port {self.name!r}, got {components!r}"
            )
        for index in components:
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < self.size:
                raise ModelError(f"port {self.name!r} has components 0 to {self.size - 1}, got {index!r}")
        return PortPart(self, tuple(map(int, components)))


@dataclass(frozen=True)
class PortPart:
    """Some components of a port, from which ``model.with_ports`` makes a new port.

    Attributes:
        port: to which the components belong.
        components: their indices, in order.
    """

    port: Port
    components: tuple[int, ...]


class PortHamiltonianModel(ABC):
    """Port-Hamiltonian descriptor model E dx/dt = (J - R) z + B u, y = B^T z with energy H(x). Matrices and efforts
    z are functions of its n states x; it has m inputs u.

    Attributes:
        states: the entries of x by name, in order.
        ports: the columns of B by name, in order.
    """

    states: tuple[StateGroup, ...]
    ports: tuple[Port, ...]
    is_descriptor_constant = False
    """Whether E is the same at all states, so that its factors are stored."""
    is_local = False
    """Whether each equation has few states, so that derivatives are differences along many states at once."""

    @abstractmethod
    def descriptor_matrix(self, x: Array) -> Matrix:
        """Return the descriptor matrix E of this port-Hamiltonian model at the state x, shape (n, n). The equations
        are E dx/dt = (J - R) z + B u. Abstract: each kind of model implements it."""

    @abstractmethod
    def structure_matrix(self, x: Array) -> Matrix:
        """Return the skew structure matrix J of this port-Hamiltonian model at the state x, shape (n, n). The
        equations are E dx/dt = (J - R) z + B u. Abstract: each kind of model implements it."""

    @abstractmethod
    def dissipation_matrix(self, x: Array) -> Matrix:
        """Return the symmetric, positive semi-definite dissipation matrix R of this port-Hamiltonian model at the
        state x, shape (n, n). The equations are E dx/dt = (J - R) z + B u. Abstract: each kind of model implements
        it."""

    @abstractmethod
    def port_matrix(self, x: Array) -> Matrix:
        """Return the input matrix B of this port-Hamiltonian model at the state x, shape (n, m) for m inputs. The
        equations are E dx/dt = (J - R) z + B u. Abstract: each kind of model implements it."""

    @abstractmethod
    def effort(self, x: Array) -> Array:
        """Return the efforts z of this port-Hamiltonian model at the state x, shape (n,); E^T z is the gradient of
        the stored energy. Abstract: each kind of model, linear or not, implements it."""

    @abstractmethod
    def storage(self, x: Array) -> float:
        """Return the stored energy (Hamiltonian) H(x) of this port-Hamiltonian model, linear or not, at the state x
        [J]. Abstract, without a formula here: each kind of model implements it."""

    @property
    def flaw(self) -> str:
        """Known violation of the port-Hamiltonian laws by this kind of model, as text that ``check_structure``
        appends to its error message. Empty by default."""
        return ""

    @property
    def rest_state(self) -> Array:
        """State of this port-Hamiltonian model at which all its matrices are defined, shape (n,). Coupling
        functions and a constant descriptor matrix are evaluated there. Zeros by default."""
        return np.zeros(self.state_size)

    @property
    def coordinates(self) -> IntArray:
        """Indices of those entries of the state on which the matrices J, R and B of this port-Hamiltonian model
        depend. Empty by default, which means that all three are constant.

        They serve ``method="linearly_implicit"``, for models with constant E whose efforts are linear in the other
        states and do not depend on q, and whose rates of q are efforts (``phlexible.papers.QuadraticStrainModel``).
        """
        return np.zeros(0, dtype=np.int64)

    def without_multipliers(self, x: Array) -> Array:
        """Return the entries of the state x of a port-Hamiltonian model without multipliers of exchanged ports, as
        user functions for couplings receive them. By default x itself: such a model has none."""
        return x

    def default_inputs(self, times: Array, x: Array) -> Array:
        """Return the inputs of a port-Hamiltonian model, shape (T, m), that apply if the user passes none. They are
        those at T instants ``times`` [s] in states ``x`` (T, n). By default zeros; models with drives override
        this."""
        return np.zeros((len(x), self.port_size))

    @property
    def default_input_states(self) -> IntArray:
        """Indices of the entries of the state on which ``default_inputs`` of this port-Hamiltonian model depends.
        Empty by default; models with drives override this."""
        return np.zeros(0, dtype=np.int64)

    # Products without matrices for integrators, of T states at once. Models with faster formulas override these.

    def efforts(self, x: Array) -> Array:
        """Return the efforts z of a port-Hamiltonian model in T states ``x``, both of shape (T, n), by one call of
        ``effort`` for each state. E^T z is the gradient of the stored energy."""
        return np.array([self.effort(state) for state in x])

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """Return the products E(x) dx/dt of the descriptor matrix of a port-Hamiltonian model for T states ``x``
        and rates dx/dt (``rate``). All have the shape (T, n). A constant E is evaluated once."""
        if self.is_descriptor_constant:
            return np.asarray((self.descriptor_matrix(x[0]) @ rate.T).T)
        return np.array([self.descriptor_matrix(state) @ v for state, v in zip(x, rate, strict=True)])

    def descriptor_solutions(self, x: Array, rows: Array) -> Array:
        """Return E(x)^-1 r for each row r of ``rows``, shape (k, n), with the descriptor matrix E(x) of a
        port-Hamiltonian model at one state x. LU factors of a constant E are cached. Entries of multipliers (empty
        rows of E) are returned unchanged.

        Raises:
            ModelError: E is singular beyond its empty rows.
        """
        if self.is_descriptor_constant:
            return self._rest_solver(rows)
        return descriptor_solver(self.descriptor_matrix(x))(rows)

    @cached_property
    def _rest_solver(self) -> Callable[[Array], Array]:
        """Function that returns E^-1 r for each row r of an array (k, n), with the constant descriptor matrix E of
        this model. E is evaluated at the rest state; its LU factors are computed at the first access and cached."""
        return descriptor_solver(self.descriptor_matrix(self.rest_state))

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R)(x) z + B(x) u of a port-Hamiltonian model, shape (T, n), by a loop
        over T states. States x and efforts z have the shape (T, n), inputs u (T, m)."""
        result = np.empty_like(x)
        for k, state in enumerate(x):
            result[k] = self.structure_matrix(state) @ z[k] - self.dissipation_matrix(state) @ z[k]
            if u[k].any():
                result[k] += self.port_matrix(state) @ u[k]
        return result

    def defects(self, x: Array, rate: Array, u: Array) -> Array:
        """Return the residuals E(x) dx/dt - (J - R)(x) z(x) - B(x) u of a port-Hamiltonian model, shape (T, n).
        States ``x`` and rates dx/dt (``rate``) have the shape (T, n), inputs (T, m)."""
        return self.descriptor_products(x, rate) - self.flows(x, self.efforts(x), u)

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the power-conjugate outputs y = B(x)^T z of a port-Hamiltonian model, shape (T, m), by a loop over
        T states. States x and efforts z have the shape (T, n)."""
        return np.array([self.port_matrix(state).T @ v for state, v in zip(x, z, strict=True)])

    def storages(self, x: Array) -> Array:
        """Return the stored energies H of a port-Hamiltonian model in T states ``x`` (T, n), shape (T,) [J].
        ``storage`` is called once for each state."""
        return np.array([self.storage(state) for state in x])

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient z (Gonzalez) of the energy H of a port-Hamiltonian model between the states
        x0 and x1, shape (n,). It is the effort at their mean m plus a multiple of d = E(m) (x1 - x0). The multiple
        is such that z . d = H(x1) - H(x0); it is omitted if only round-off is missing."""
        middle, change = (x0 + x1) / 2, x1 - x0
        along = np.asarray(self.descriptor_matrix(middle) @ change)
        before, after, z = self.storage(x0), self.storage(x1), self.effort(middle)
        missing = after - before - float(z @ along)
        if abs(missing) <= 4 * np.finfo(float).eps * max(abs(before), abs(after)):
            return z
        return np.asarray(z + missing / float(along @ along) * along)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> Matrix:
        """Return the derivative of the residual of a port-Hamiltonian model with respect to its state x, shape (n,
        n). The residual is E(x) rate - (J - R) z - B u at constant ``rate`` dx/dt and input ``u``. The derivative
        is computed by forward differences. The result is sparse if ``is_local`` (each equation has few states),
        otherwise dense."""
        defects = self._constant_rate_defects(rate, u)
        if self.is_local:
            return self._differences.slope(defects, x, self._sizes(x))
        return slope_by_differences(defects, x, self._sizes(x))

    def _constant_rate_defects(self, rate: Array, u: Array) -> Callable[[Array], Array]:
        """Return a function of T states, shape (T, n), that computes the residuals of this model for one rate
        and one input. The ``rate`` dx/dt has the shape (n,), the input ``u`` (m,)."""
        return lambda x: self.defects(x, np.broadcast_to(rate, x.shape), np.broadcast_to(u, (len(x), len(u))))

    @cached_property
    def _differences(self) -> SparseDifferences:
        """Finite-difference scheme for the sparse derivative of this model's residual with respect to the state,
        cached. Its sparsity pattern are the nonzero entries of dense derivatives at two random states on either
        side of the rest state."""
        random, rest = np.random.default_rng(1), self.rest_state
        rate, shift = random.uniform(0.5, 1.0, (2, self.state_size))
        defects = self._constant_rate_defects(rate, random.uniform(0.5, 1.0, self.port_size))
        ends = [slope_by_differences(defects, rest + s * OFFSET * shift, np.ones(len(rest))) for s in (1, -1)]
        return SparseDifferences(sparse.csc_array((ends[0] != 0) | (ends[1] != 0)))

    def _sizes(self, x: Array) -> Array:
        """Return, for each entry of the state x of this model, the largest absolute entry of the state block to
        which it belongs, shape (n,). Difference steps are scaled with it."""
        begins, sizes = self._filled_blocks
        return np.repeat(np.maximum.reduceat(np.abs(x), begins), sizes) if len(begins) else np.zeros(0)

    @cached_property
    def _filled_blocks(self) -> tuple[IntArray, IntArray]:
        """First index and size of each state block of this model that is not empty, two arrays of shape
        (blocks,)."""
        sizes = np.array([block.size for block in self.states if block.size], dtype=np.int64)
        return np.cumsum(sizes) - sizes, sizes

    def with_ports(self, **ports: "Port | PortPart | Sequence[Port | PortPart]") -> "PortHamiltonianModel":
        """Return a wrapper of this port-Hamiltonian model with additional ports made of existing ones. Each is a
        copy of a port, selected components of one, or several ports joined to one. Existing ports remain. Inputs
        of an old and a new port that share a column of the input matrix B are added. Raise ``ModelError`` for
        ports of other models and repeated names.

        Existing ports remain, so that a slider may belong to two joints: the forces on both are added.

        Args:
            ports: by their new names (``with_ports(**{"a name": ...})`` for names with spaces): a port of this
                model, some components of one (``port.select(0)``), or several of these as one port.

        Raises:
            ModelError: a port that the model does not have, or a name that it has already.
        """
        added, sources = self._more_ports(ports)
        return MorePorts(self, self.states, (*self.ports, *added), sources)

    def _more_ports(
        self, ports: "Mapping[str, Port | PortPart | Sequence[Port | PortPart]]"
    ) -> tuple[tuple[Port, ...], IntArray]:
        """Return the additional ports that the user defines by name as existing ports of this model, some of their
        components, or a list of both. Return also, for each input of old and new ports, the index of its column in
        the input matrix B. A new port has units only if all its sources have the same. Raise ``ModelError`` for
        ports of other models, repeated names, and empty lists."""
        added, sources = [], [np.arange(self.port_size)]
        for name, source in ports.items():
            parts: list[Any] = list(source) if isinstance(source, list | tuple) else [source]
            if not parts or not all(isinstance(part, Port | PortPart) for part in parts):
                raise ModelError(
                    f"port {name!r} must be made of ports of the model or parts of them, got {source!r}"
                )
            columns, units = [], []
            for part in parts:
                port = part.port if isinstance(part, PortPart) else part
                if port not in self.ports:
                    raise ModelError(f"port {name!r} is made of {port.name!r}, which is not a port of this model")
                chosen = list(part.components) if isinstance(part, PortPart) else list(range(port.size))
                columns.append(np.arange(self.port_size)[self.port_slice(port.name)][chosen])
                units.append((port.input_unit, port.output_unit))
            sources.append(np.concatenate(columns))
            same = units[0] if len(set(units)) == 1 else ("", "")
            added.append(Port(name, *same, len(sources[-1])))
        check_names((*self.ports, *added), "port")
        return tuple(added), np.concatenate(sources)

    @cached_property
    def state_size(self) -> int:
        """Number n of entries of the state x of this port-Hamiltonian model."""
        return sum(block.size for block in self.states)

    @cached_property
    def port_size(self) -> int:
        """Number m of inputs of all ports of this port-Hamiltonian model, which equals its number of outputs."""
        return sum(port.size for port in self.ports)

    def output(self, x: Array) -> Array:
        """Return the power-conjugate outputs y = B^T z of a port-Hamiltonian model at the state x, shape (m,)."""
        return np.asarray(self.port_matrix(x).T @ self.effort(x))

    def forces(self, x: Array, u: Array) -> Array:
        """Return the right-hand side (J - R) z + B u of a port-Hamiltonian model, which equals E dx/dt, shape
        (n,). It is evaluated at one state x (n,) and input u (m,); z are the efforts at x."""
        z = self.effort(x)
        structure = self.structure_matrix(x) @ z - self.dissipation_matrix(x) @ z
        return np.asarray(structure + self.port_matrix(x) @ u)

    def state_slice(self, name: str) -> slice:
        """Return the slice of the state vector of a port-Hamiltonian model that belongs to the state block with
        this name; raise ``ModelError`` if there is none.

        Raises:
            ModelError: there is none of that name.
        """
        return slice_of(self.states, name, "state")

    def port_slice(self, name: str) -> slice:
        """Return the slice of inputs (and outputs) of a port-Hamiltonian model that belongs to the port with this
        name; raise ``ModelError`` if there is none.

        Raises:
            ModelError: there is none of that name.
        """
        return slice_of(self.ports, name, "port")

    def port(self, name: str) -> Port:
        """Return the port of a port-Hamiltonian model with this name; raise ``ModelError`` if there is none.

        Raises:
            ModelError: there is none.
        """
        self.port_slice(name)
        return next(port for port in self.ports if port.name == name)

    def output_coordinates(self, x: Array, name: str) -> Array:
        """Return the coefficients M^-1 y of the output field of the port ``name`` at the state x, shape (size,). y
        are the outputs of the port, integrals of the field times shape functions. M is the mass matrix of these,
        solved densely; without one, y is returned."""
        port, output = self.port(name), self.output(x)[self.port_slice(name)]
        if port.mass is None:
            return output
        mass = port.mass if isinstance(port.mass, np.ndarray) else port.mass.toarray()
        return np.asarray(np.linalg.solve(mass, output))


class ComposedModel(PortHamiltonianModel):
    """Base class of port-Hamiltonian models made of others; the state holds those of its ``parts`` one after
    another, then multipliers.

    Subclasses define the connection of the ports of the parts by J, B, flows and outputs.
    """

    @property
    @abstractmethod
    def parts(self) -> tuple[PortHamiltonianModel, ...]:
        """Port-Hamiltonian models of which this connected model consists, in the order of their states. Abstract:
        subclasses implement it."""

    @cached_property
    def part_slices(self) -> tuple[slice, ...]:
        """Slices of the state vector of this connected model that belong to the models it consists of, one for
        each."""
        ends = np.cumsum([0, *(part.state_size for part in self.parts)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def multipliers(self) -> int:
        """Number of multipliers of the connection, the last entries of the state: the length of the state minus
        those of all connected models."""
        return self.state_size - sum(part.state_size for part in self.parts)

    def descriptor_matrix(self, x: Array) -> Matrix:
        """Return the descriptor matrix E of connected port-Hamiltonian models at the state x, shape (n, n). It is
        block-diagonal, with a block for each connected model and zeros for multipliers."""
        return self._block_diagonal([part.descriptor_matrix(x[at]) for part, at in self._pairs()])

    def dissipation_matrix(self, x: Array) -> Matrix:
        """Return the dissipation matrix R of connected port-Hamiltonian models at the state x, shape (n, n). It is
        block-diagonal, with a block for each connected model and zeros for multipliers."""
        return self._block_diagonal([part.dissipation_matrix(x[at]) for part, at in self._pairs()])

    def effort(self, x: Array) -> Array:
        """Return the efforts z of all connected port-Hamiltonian models at the state x, followed by the multipliers
        of the connection, shape (n,)."""
        return np.asarray(self.efforts(x[None])[0])

    def storage(self, x: Array) -> float:
        """Return the stored energy H of all connected port-Hamiltonian models at the state x [J], the sum of their
        energies. Multipliers store no energy."""
        return sum(part.storage(x[at]) for part, at in self._pairs())

    @property
    def flaw(self) -> str:
        """Known violations of the port-Hamiltonian laws in the connected models, different texts joined by "; ".
        Empty if there are none."""
        return "; ".join(dict.fromkeys(part.flaw for part in self.parts if part.flaw))

    @property
    def rest_state(self) -> Array:
        """State of the connected models at which matrices are evaluated first, shape (n,): the rest states of the
        connected models, then zeros for multipliers."""
        return np.concatenate([*(part.rest_state for part in self.parts), np.zeros(self.multipliers)])

    @property
    def coordinates(self) -> IntArray:
        """Indices of the entries of the state on which the matrices J, R and B of the connected port-Hamiltonian
        models depend: those of each model, shifted to its slice of the state."""
        return np.concatenate([part.coordinates + at.start for part, at in self._pairs()])

    def efforts(self, x: Array) -> Array:
        """Return the efforts z of all connected port-Hamiltonian models in T states x (T, n), shape (T, n). With
        the descriptor matrix E, E^T z is the gradient of the stored energy. Each model computes the entries of its
        states. Entries of Lagrange multipliers are copied from x."""
        result = x.copy()
        for part, at in self._pairs():
            result[:, at] = part.efforts(x[:, at])
        return result

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """Return the products E(x) dx/dt of the descriptor matrix of connected models for T states ``x`` and rates
        dx/dt (``rate``), all (T, n). Each model computes its own entries; entries of multipliers are zero."""
        result = np.zeros(x.shape)
        for part, at in self._pairs():
            result[:, at] = part.descriptor_products(x[:, at], rate[:, at])
        return result

    def storages(self, x: Array) -> Array:
        """Return the stored energies H of all connected port-Hamiltonian models in T states x, shape (T, n): sums
        over the models, shape (T,) [J]."""
        return np.asarray(sum(part.storages(x[:, at]) for part, at in self._pairs()))

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the stored energy of all connected models between the n-vectors of
        states x0 and x1, shape (n,). Each model computes the entries of its states. Entries of Lagrange
        multipliers are the means of both values."""
        result = (x0 + x1) / 2
        for part, at in self._pairs():
            result[at] = part.discrete_effort(x0[at], x1[at])
        return result

    def _pairs(self) -> Iterator[tuple[PortHamiltonianModel, slice]]:
        """Yield each of the connected port-Hamiltonian models together with its slice of the state vector."""
        return zip(self.parts, self.part_slices, strict=True)

    def _block_diagonal(self, blocks: list[Matrix]) -> Matrix:
        """Return the block-diagonal matrix of one block for each connected model, shape (n, n), followed by zero
        rows and columns for Lagrange multipliers. It is sparse (CSR). A single block without multipliers is
        returned unchanged."""
        if len(blocks) == 1 and not self.multipliers:
            return blocks[0]
        return sparse.block_diag([*blocks, sparse.csr_array((self.multipliers, self.multipliers))], "csr")


@dataclass(frozen=True, eq=False)
class Renamed(ComposedModel):
    """Port-Hamiltonian model that equals another one but has other names of states and ports."""

    model: PortHamiltonianModel
    states: tuple[StateGroup, ...]
    ports: tuple[Port, ...]

    @property
    def parts(self) -> tuple[PortHamiltonianModel, ...]:
        """Port-Hamiltonian model that is renamed, as a tuple of one model."""
        return (self.model,)

    def without_multipliers(self, x: Array) -> Array:
        """Return the entries of the state x of a renamed port-Hamiltonian model without multipliers of exchanged
        ports, as the original model does."""
        return self.model.without_multipliers(x)

    def structure_matrix(self, x: Array) -> Matrix:
        """Return the skew structure matrix J of a renamed port-Hamiltonian model at the state x, shape (n, n): that
        matrix of the original model, unchanged."""
        return self.model.structure_matrix(x)

    def port_matrix(self, x: Array) -> Matrix:
        """Return the input matrix B of a renamed port-Hamiltonian model at the state x, shape (n, m): that matrix
        of the original model, unchanged."""
        return self.model.port_matrix(x)

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R) z + B u of a renamed port-Hamiltonian model, computed by the original
        model, shape (T, n). There are T states x, efforts z and inputs u."""
        return self.model.flows(x, z, u)

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the power-conjugate outputs y = B^T z of a renamed port-Hamiltonian model for T states x and
        efforts z, shape (T, m). The original model computes them."""
        return self.model.output_products(x, z)


@dataclass(frozen=True, eq=False)
class MorePorts(Renamed):
    """Port-Hamiltonian model with additional ports that are made of its ports, as ``with_ports`` returns it.

    Attributes:
        ports: those of the model, then the new ones.
        sources: index of the input of the model for each input, shape (inputs,).
    """

    sources: IntArray

    def port_matrix(self, x: Array) -> Matrix:
        """Return the input matrix B of a port-Hamiltonian model with additional ports at the state x, shape (n,
        inputs). Columns of the original model are repeated for the additional ports."""
        matrix = self.model.port_matrix(x)
        return (matrix if isinstance(matrix, np.ndarray) else matrix.tocsr())[:, self.sources]

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R) z + B u of a port-Hamiltonian model with additional ports for T
        states, shape (T, n). x are the states, z the efforts, u the inputs. Each input is added to the input of
        the original model whose column of B it shares; then the original model computes the result."""
        inputs = np.zeros((len(u), self.model.port_size))
        np.add.at(inputs.T, self.sources, u.T)
        return self.model.flows(x, z, inputs)

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the outputs y = B^T z of a model with additional ports for T states x and efforts z, shape (T,
        inputs). Outputs of shared columns of B are repeated."""
        return self.model.output_products(x, z)[:, self.sources]


def check_model(name: str, value: object) -> None:
    """Raise a ``ModelError`` unless the value is a port-Hamiltonian model. ``name`` is the user's argument in the
    message.

    Raises:
        ModelError: another type.
    """
    if not isinstance(value, PortHamiltonianModel):
        raise ModelError(
            f"{name} must be a port-Hamiltonian model such as model.linearize() returns, got {value!r}"
        )


def check_names(parts: Iterable[StateGroup | Port], kind: str) -> None:
    """Raise a ``ModelError`` if two of the ``parts`` (state blocks or ports) have the same name. ``kind`` is the
    word for them in the message, "state" or "port".

    Raises:
        ModelError: the message has the name.
    """
    seen: set[str] = set()
    for part in parts:
        if part.name in seen:
            raise ModelError(
                f"two {kind}s are named {part.name!r}; add prefixes first: with_prefix(model, 'crank')"
            )
        seen.add(part.name)


def slice_of(parts: tuple[StateGroup, ...] | tuple[Port, ...], name: str, kind: str) -> slice:
    """Return the slice of the vector of states (or inputs) that belongs to the state block (or port) with the given
    ``name``. Raise ``ModelError`` with all known names if none of the ``parts`` has that name. ``kind`` is the word
    "state" or "port" in the message.

    Raises:
        ModelError: there is none.
    """
    begin = 0
    for part in parts:
        if isinstance(name, str) and part.name == name:
            return slice(begin, begin + part.size)
        begin += part.size
    known = ", ".join(part.name for part in parts) or "none"
    raise ModelError(f"no {kind} is named {name!r}; the model has: {known}")
