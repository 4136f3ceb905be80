"""Linear port-Hamiltonian models with constant matrices; (29), (45) of Brugnoli et al. (2020)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, make_arrays_read_only
from phlexible.display import how_many, shortened, table
from phlexible.errors import ModelError, StructureError
from phlexible.port_hamiltonian.model import (
    Matrix,
    Port,
    PortHamiltonianModel,
    PortPart,
    StateGroup,
    check_names,
)
from phlexible.port_hamiltonian.structure_check import structure_errors

ROUND_OFF = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class LinearPHDAE(PortHamiltonianModel):
    """A linear port-Hamiltonian model with n states, possibly algebraic, and m inputs: ``E dx/dt = (J - R) Q x + B
    u, y = B^T Q x``.

    Its equations are ``E dx/dt = (J - R) Q x + B u, y = B^T Q x``, and its energy is ``H = x^T E^T Q x / 2``.
    Matrices are stored as read-only sparse CSR arrays.

    Attributes:
        descriptor: E, shape (n, n); may be singular.
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), symmetric, positive semi-definite.
        port_map: B, shape (n, m).
        states: names of the entries of x.
        ports: names of the columns of B.
        effort_map: Q with E^T Q symmetric, shape (n, n); None: the identity (co-energy variables).
        exchanged: number of the last states that are multipliers of exchanged ports (``inverted``).

    Raises:
        ModelError: a matrix of the wrong shape, or a name twice.
        StructureError: E^T Q is not symmetric.
    """

    descriptor: Matrix
    structure: Matrix
    dissipation: Matrix
    port_map: Matrix
    states: tuple[StateGroup, ...]
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
        make_arrays_read_only(self)
        energy = self.energy_matrix
        gap = abs(energy - energy.T).max() if n else 0.0
        if gap and gap > ROUND_OFF * abs(energy).max():
            raise StructureError(f"E^T Q must be symmetric, but it differs from its transpose by {gap:.3g}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({how_many(self.order, 'state')}, {how_many(self.port_size, 'input')})"

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks that shows the number of states of this linear model and the names of
        its inputs, outputs and states."""
        names = {
            "inputs": self.inputs,
            "outputs": getattr(self, "outputs", ()),
            "names of states": self.state_names,
        }
        rows = [("states", str(self.order)), *((name, shortened(each)) for name, each in names.items() if each)]
        return table(rows, title=type(self).__name__)

    @property
    def effort_matrix(self) -> Matrix:
        """Matrix Q of a linear port-Hamiltonian model, shape (n, n), that gives the efforts z = Q x from the state
        x; it is stored. E^T z is the gradient of the energy."""
        assert self.effort_map is not None, "set by __post_init__"
        return self.effort_map

    @property
    def order(self) -> int:
        """Number n of states of this linear port-Hamiltonian model, algebraic ones (multipliers) included."""
        return self.state_size

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the states of this linear model, one for each entry of the state vector x. Entries of longer
        blocks are numbered: "name 0", "name 1"."""
        return _entry_names(self.states)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of this linear model, one for each column of the input matrix B. Entries of ports
        with several inputs are numbered: "name 0", "name 1". Output y_i is power-conjugate to input u_i."""
        return _entry_names(self.ports)

    @property
    def system_matrix(self) -> Matrix:
        """Sparse matrix (J - R) Q, shape (n, n), of a linear port-Hamiltonian model E dx/dt = (J - R) Q x + B u."""
        return sparse.csr_array((self.structure - self.dissipation) @ self.effort_matrix)

    def structure_errors(self) -> dict[str, float]:
        """Return how far the matrices of this linear model violate the port-Hamiltonian laws, as a dictionary of
        relative errors. Keys are "skewness" (of J), "dissipation symmetry" (of R), "storage symmetry" (of E^T Q)
        and, for at most 1500 states, "dissipation" and "storage": the most negative eigenvalue of R and E^T Q, 0 if
        none is negative. Nothing is raised."""
        return structure_errors(self.structure, self.dissipation, self.energy_matrix)

    @property
    def energy_matrix(self) -> Matrix:
        """Symmetric matrix E^T Q, shape (n, n), of a linear port-Hamiltonian model, whose stored energy is x^T E^T
        Q x / 2."""
        return (self.descriptor.T @ self.effort_map).tocsr()

    def without_multipliers(self, x: Array) -> Array:
        """Return the state x of a linear model without its last ``self.exchanged`` entries, the multipliers of
        exchanged ports, as a shorter array."""
        return x[: len(x) - self.exchanged]

    def descriptor_matrix(self, x: Array) -> Matrix:
        """Return the constant descriptor matrix E of a linear model, shape (n, n), whatever the state x. The
        equations are E dx/dt = (J - R) Q x + B u."""
        return self.descriptor

    def structure_matrix(self, x: Array) -> Matrix:
        """Return the constant skew structure matrix J of a linear model, shape (n, n), whatever the state x. The
        equations are E dx/dt = (J - R) Q x + B u."""
        return self.structure

    def dissipation_matrix(self, x: Array) -> Matrix:
        """Return the constant dissipation matrix R of a linear model, shape (n, n), whatever the state x. The
        equations are E dx/dt = (J - R) Q x + B u."""
        return self.dissipation

    def port_matrix(self, x: Array) -> Matrix:
        """Return the constant input matrix B of a linear model, shape (n, m), whatever the state x. The equations
        are E dx/dt = (J - R) Q x + B u."""
        return self.port_map

    def effort(self, x: Array) -> Array:
        """Return the efforts z = Q x of a linear port-Hamiltonian model at the state x, shape (n,). E^T z is the
        gradient of the energy."""
        assert self.effort_map is not None
        return np.asarray(self.effort_map @ x)

    def storage(self, x: Array) -> float:
        """Return the stored energy x^T E^T Q x / 2 of a linear port-Hamiltonian model in the state x [J]."""
        return float(x @ (self.energy_matrix @ x)) / 2

    def storages(self, x: Array) -> Array:
        """Return the stored energies x^T E^T Q x / 2 of a linear port-Hamiltonian model in T states, shape (T, n).
        The result has the shape (T,) [J]."""
        return np.asarray((x * (self.energy_matrix @ x.T).T).sum(axis=1)) / 2

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the energy of a linear model between the states x0 and x1, shape (n,):
        the efforts Q (x0 + x1) / 2 at their mean. It is exact, since the energy is quadratic."""
        return self.effort((x0 + x1) / 2)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> Matrix:
        """Return the derivative -(J - R) Q of the residual of a linear model with respect to the state x, shape (n,
        n). The residual is E dx/dt - (J - R) Q x - B u. The derivative is constant: the arguments are not used."""
        return -self.system_matrix

    def with_ports(self, **ports: Port | PortPart | Sequence[Port | PortPart]) -> "LinearPHDAE":
        """Return a copy of this linear model with additional ports made of existing ones: selected components of a
        port, several ports joined to one, or a copy of one. Columns of the input matrix B are repeated for them.
        Existing ports remain."""
        added, sources = self._more_ports(ports)
        columns = self.port_map[:, sources]
        return replace(self, port_map=columns, ports=(*self.ports, *added))


def _entry_names(parts: Sequence[StateGroup | Port]) -> tuple[str, ...]:
    """Return one name for each scalar entry of the ``parts`` (state blocks or ports), as a flat tuple. A block or
    port with one entry keeps its name; entries of longer ones are numbered from 0: "name 0", "name 1"."""
    return tuple(part.name if part.size == 1 else f"{part.name} {k}" for part in parts for k in range(part.size))
