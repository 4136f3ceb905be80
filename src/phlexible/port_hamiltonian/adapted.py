"""One model seen differently: with other names, or with inputs and outputs exchanged ((43))."""

from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import text
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, PortHamiltonianModel, StateBlock, check_model


@overload
def with_prefix(model: LinearPHDAE, prefix: str) -> LinearPHDAE: ...
@overload
def with_prefix(model: PortHamiltonianModel, prefix: str) -> PortHamiltonianModel: ...
def with_prefix(model: PortHamiltonianModel, prefix: str) -> PortHamiltonianModel:
    """The same model with states and ports named ``prefix.name``, so that two can be connected.

    Raises:
        ModelError: no model.
        ParameterError: a prefix that is no text.
    """
    check_model("model", model)
    prefix = text("prefix", prefix)
    states = tuple(replace(block, name=f"{prefix}.{block.name}") for block in model.states)
    ports = tuple(replace(port, name=f"{prefix}.{port.name}") for port in model.ports)
    if isinstance(model, LinearPHDAE):
        return replace(model, states=states, ports=ports)
    return Renamed(model, states, ports)


@overload
def inverted(model: LinearPHDAE, port: str) -> LinearPHDAE: ...
@overload
def inverted(model: PortHamiltonianModel, port: str) -> PortHamiltonianModel: ...
def inverted(model: PortHamiltonianModel, port: str) -> PortHamiltonianModel:
    """Input and output of a port exchanged: its former input becomes a multiplier; (43).

    ``[E 0; 0 0] d(x, lambda)/dt = [J B_p; -B_p^T 0] (z, lambda) + (0, u_p) + (B, 0) u``, y_p = lambda.
    The result is improper (the input acts on an algebraic row) until something proper is connected.
    The port keeps its name and its place.

    Raises:
        ModelError: no model, or there is no port of that name.
    """
    check_model("model", model)
    result = Inverted(model, model.port_slice(port), port)
    if not isinstance(model, LinearPHDAE):
        return result
    rest = np.zeros(result.state_size)
    effort_map = sparse.block_diag([model.effort_map, sparse.eye_array(result.multipliers)], "csr")
    return LinearPHDAE(
        result.descriptor_matrix(rest),
        result.structure_matrix(rest),
        result.dissipation_matrix(rest),
        result.port_matrix(rest),
        result.states,
        result.ports,
        effort_map,
        exchanged=model.exchanged + result.multipliers,
    )


@dataclass(frozen=True, eq=False)
class Renamed(PortHamiltonianModel):
    """A model with other names."""

    model: PortHamiltonianModel
    states: tuple[StateBlock, ...]
    ports: tuple[Port, ...]

    @property
    def flaw(self) -> str:
        """Of the model."""
        return self.model.flaw

    @property
    def rest_state(self) -> Array:
        """Of the model."""
        return self.model.rest_state

    def own_state(self, x: Array) -> Array:
        """Of the model."""
        return self.model.own_state(x)

    def descriptor_matrix(self, x: Array) -> Matrix:
        """E of the model."""
        return self.model.descriptor_matrix(x)

    def structure_matrix(self, x: Array) -> Matrix:
        """J of the model."""
        return self.model.structure_matrix(x)

    def dissipation_matrix(self, x: Array) -> Matrix:
        """R of the model."""
        return self.model.dissipation_matrix(x)

    def port_matrix(self, x: Array) -> Matrix:
        """B of the model."""
        return self.model.port_matrix(x)

    def effort(self, x: Array) -> Array:
        """z of the model."""
        return self.model.effort(x)

    def storage(self, x: Array) -> float:
        """H of the model [J]."""
        return self.model.storage(x)


@dataclass(frozen=True, eq=False)
class Inverted(PortHamiltonianModel):
    """A model one of whose ports has input and output exchanged; see ``inverted``."""

    model: PortHamiltonianModel
    columns: slice
    name: str

    def __post_init__(self) -> None:
        changed = tuple(
            Port(p.name, p.output_unit, p.input_unit, p.size) if p.name == self.name else p
            for p in self.model.ports
        )
        unit = self.model.port(self.name).input_unit
        block = StateBlock(f"multiplier of {self.name}", unit, self.multipliers)
        object.__setattr__(self, "ports", changed)
        object.__setattr__(self, "states", (*self.model.states, block))

    @property
    def multipliers(self) -> int:
        """Number of inputs that became multipliers."""
        return int(self.columns.stop - self.columns.start)

    def descriptor_matrix(self, x: Array) -> Matrix:
        """diag(E, 0)."""
        return self._padded(self.model.descriptor_matrix(self._inner(x)))

    def structure_matrix(self, x: Array) -> Matrix:
        """[[J, B_p], [-B_p^T, 0]]."""
        inner = self._inner(x)
        port = sparse.csr_array(self.model.port_matrix(inner))[:, self.columns]
        return sparse.block_array([[self.model.structure_matrix(inner), port], [-port.T, None]], format="csr")

    def dissipation_matrix(self, x: Array) -> Matrix:
        """diag(R, 0)."""
        return self._padded(self.model.dissipation_matrix(self._inner(x)))

    def port_matrix(self, x: Array) -> Matrix:
        """B with the columns of the port moved to the algebraic rows."""
        kept = sparse.lil_array(self.model.port_matrix(self._inner(x)))
        kept[:, self.columns] = 0.0
        unit = sparse.lil_array((self.multipliers, self.model.port_size))
        unit[:, self.columns] = np.eye(self.multipliers)
        return sparse.vstack([kept, unit], format="csr")

    def effort(self, x: Array) -> Array:
        """(z, multipliers)."""
        return np.concatenate([self.model.effort(self._inner(x)), x[self.model.state_size :]])

    def storage(self, x: Array) -> float:
        """H of the model [J]."""
        return self.model.storage(self._inner(x))

    @property
    def flaw(self) -> str:
        """Of the model."""
        return self.model.flaw

    @property
    def rest_state(self) -> Array:
        """Of the model, with multipliers 0."""
        return np.concatenate([self.model.rest_state, np.zeros(self.multipliers)])

    def own_state(self, x: Array) -> Array:
        """The state of the model as it was before."""
        return self.model.own_state(self._inner(x))

    def _inner(self, x: Array) -> Array:
        return x[: self.model.state_size]

    def _padded(self, matrix: Matrix) -> Matrix:
        return sparse.block_diag([matrix, sparse.csr_array((self.multipliers, self.multipliers))], "csr")
