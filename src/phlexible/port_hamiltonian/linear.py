"""Linear port-Hamiltonian models with constant matrices; (29), (45) of Brugnoli et al. (2020)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, hold_read_only
from phlexible.display import how_many, shortened, table
from phlexible.errors import ModelError, StructureError
from phlexible.port_hamiltonian.model import (
    Matrix,
    Port,
    PortHamiltonianModel,
    PortPart,
    StateBlock,
    check_names,
)
from phlexible.port_hamiltonian.structure_check import structure_errors

ROUND_OFF = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class LinearPHDAE(PortHamiltonianModel):
    """``E dx/dt = (J - R) Q x + B u, y = B^T Q x, H = x^T E^T Q x / 2``; n states, m inputs.

    Matrices are stored as sparse CSR arrays, whose entries cannot be written to.

    Attributes:
        descriptor: E, shape (n, n); may be singular.
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), symmetric, positive semi-definite.
        port_map: B, shape (n, m).
        states: names of the entries of x.
        ports: names of the columns of B.
        effort_map: Q with E^T Q symmetric, shape (n, n); None: the identity (co-energy variables).
        exchanged: how many of the last states are multipliers of exchanged ports (``inverted``).

    Raises:
        ModelError: a matrix of the wrong shape, or a name twice.
        StructureError: E^T Q is not symmetric.
    """

    descriptor: Matrix
    structure: Matrix
    dissipation: Matrix
    port_map: Matrix
    states: tuple[StateBlock, ...]
    ports: tuple[Port, ...]
    effort_map: Matrix | None = None
    exchanged: int = 0
    is_descriptor_constant = True

    def __post_init__(self) -> None:
        n, m = self.state_size, self.port_size
        check_names(self.states, "state")
        check_names(self.ports, "port")
        if self.effort_map is None:
            object.__setattr__(self, "effort_map", sparse.eye_array(n, format="csr"))
        for name in ("descriptor", "structure", "dissipation", "port_map", "effort_map"):
            matrix = sparse.csr_array(getattr(self, name), dtype=np.float64, copy=True)
            expected = (n, m) if name == "port_map" else (n, n)
            if matrix.shape != expected:
                raise ModelError(f"{name} must have shape {expected} to fit its names, got {matrix.shape}")
            matrix.data.flags.writeable = False
            object.__setattr__(self, name, matrix)
        hold_read_only(self)
        energy = self.energy_matrix
        gap = abs(energy - energy.T).max() if n else 0.0
        if gap and gap > ROUND_OFF * abs(energy).max():
            raise StructureError(f"E^T Q must be symmetric, but it misses its transpose by {gap:.3g}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({how_many(self.order, 'state')}, {how_many(self.port_size, 'input')})"

    def _repr_html_(self) -> str:
        """For notebooks: how large the model is, and what its ports and states are called."""
        names = {
            "inputs": self.inputs,
            "outputs": getattr(self, "outputs", ()),
            "names of states": self.state_names,
        }
        rows = [("states", str(self.order)), *((name, shortened(each)) for name, each in names.items() if each)]
        return table(rows, title=type(self).__name__)

    @property
    def effort_matrix(self) -> Matrix:
        """Q, shape (n, n)."""
        assert self.effort_map is not None, "set by __post_init__"
        return self.effort_map

    @property
    def order(self) -> int:
        """Number n of states, algebraic ones included."""
        return self.state_size

    @property
    def state_names(self) -> tuple[str, ...]:
        """A name for each state."""
        return _entry_names(self.states)

    @property
    def inputs(self) -> tuple[str, ...]:
        """A name for each input; output y_i is its power-conjugate velocity or force."""
        return _entry_names(self.ports)

    @property
    def system_matrix(self) -> Matrix:
        """(J - R) Q, shape (n, n)."""
        return sparse.csr_array((self.structure - self.dissipation) @ self.effort_matrix)

    def structure_errors(self) -> dict[str, float]:
        """How far the laws of the form are missed, see ``structure_errors.structure_errors``."""
        return structure_errors(self.structure, self.dissipation, self.energy_matrix)

    @property
    def energy_matrix(self) -> Matrix:
        """E^T Q of the storage x^T E^T Q x / 2, shape (n, n)."""
        return (self.descriptor.T @ self.effort_map).tocsr()

    def own_state(self, x: Array) -> Array:
        """The state without the multipliers of exchanged ports."""
        return x[: len(x) - self.exchanged]

    def descriptor_matrix(self, x: Array) -> Matrix:
        """E."""
        return self.descriptor

    def structure_matrix(self, x: Array) -> Matrix:
        """J."""
        return self.structure

    def dissipation_matrix(self, x: Array) -> Matrix:
        """R."""
        return self.dissipation

    def port_matrix(self, x: Array) -> Matrix:
        """B."""
        return self.port_map

    def effort(self, x: Array) -> Array:
        """Q x."""
        assert self.effort_map is not None
        return np.asarray(self.effort_map @ x)

    def storage(self, x: Array) -> float:
        """x^T E^T Q x / 2 [J]."""
        return float(x @ (self.energy_matrix @ x)) / 2

    def storages(self, x: Array) -> Array:
        """x^T E^T Q x / 2 of all states."""
        return np.asarray((x * (self.energy_matrix @ x.T).T).sum(axis=1)) / 2

    def efforts(self, x: Array) -> Array:
        """Q x of all states."""
        return np.asarray((self.effort_matrix @ x.T).T)

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """E rate of all rates."""
        return np.asarray((self.descriptor @ rate.T).T)

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """(J - R) z + B u of all efforts."""
        return np.asarray((self._structure_less_dissipation @ z.T + self.port_map @ u.T).T)

    def output_products(self, x: Array, z: Array) -> Array:
        """B^T z of all efforts."""
        return np.asarray((self.port_map.T @ z.T).T)

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Q at the mean, exact: H is quadratic."""
        return self.effort((x0 + x1) / 2)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> Matrix:
        """-(J - R) Q."""
        return -self.system_matrix

    def with_ports(self, **ports: Port | PortPart | Sequence[Port | PortPart]) -> "LinearPHDAE":
        """The same linear model with more ports, see ``PortHamiltonianModel.with_ports``."""
        added, sources = self._more_ports(ports)
        columns = self.port_map[:, sources]
        return replace(self, port_map=columns, ports=(*self.ports, *added))

    @cached_property
    def _structure_less_dissipation(self) -> Matrix:
        return sparse.csr_array(self.structure - self.dissipation)


def _entry_names(parts: Sequence[StateBlock | Port]) -> tuple[str, ...]:
    return tuple(part.name if part.size == 1 else f"{part.name} {k}" for part in parts for k in range(part.size))
