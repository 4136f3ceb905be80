"""Linear port-Hamiltonian models: constant sparse matrices (formulation, sections 1 and 6)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError

SKEWNESS = 1e-12
ROUND_OFF = 1e-10
SMALL = 1500  # up to this many states, semi-definiteness is checked with dense eigenvalues


@dataclass(frozen=True, eq=False)
class LinearPHDAE:
    """``E dx/dt = (J - R) Q x + B u``, ``y = B^T Q x``, energy ``x.E^T Q x / 2``.

    ``z = Q x`` is the effort, u.y the power that flows in [W]. E may be singular: algebraic states
    such as multipliers.

    Attributes:
        descriptor_matrix: E, shape (n, n).
        structure_matrix: J = -J^T, shape (n, n).
        dissipation_matrix: R = R^T >= 0, shape (n, n).
        port_matrix: B, shape (n, inputs).
        effort_matrix: Q with E^T Q symmetric, shape (n, n).
        states: a name for each state.
        inputs: a name for each input; output y_i is its power-conjugate velocity or force.

    Raises:
        ParameterError: shapes or numbers of names that do not fit.
    """

    descriptor_matrix: sparse.csr_array
    structure_matrix: sparse.csr_array
    dissipation_matrix: sparse.csr_array
    port_matrix: sparse.csr_array
    effort_matrix: sparse.csr_array
    states: tuple[str, ...]
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        n, ports = len(self.states), len(self.inputs)
        for name, shape in (
            ("descriptor_matrix", (n, n)),
            ("structure_matrix", (n, n)),
            ("dissipation_matrix", (n, n)),
            ("effort_matrix", (n, n)),
            ("port_matrix", (n, ports)),
        ):
            matrix = getattr(self, name)
            if matrix.shape != shape:
                raise ParameterError(f"{name} must have shape {shape}, got {matrix.shape}")
            object.__setattr__(self, name, sparse.csr_array(matrix))

    @property
    def order(self) -> int:
        """Number of states, algebraic ones included."""
        return len(self.states)

    @property
    def system_matrix(self) -> sparse.csr_array:
        """(J - R) Q, shape (n, n)."""
        return sparse.csr_array((self.structure_matrix - self.dissipation_matrix) @ self.effort_matrix)

    @property
    def energy_matrix(self) -> sparse.csr_array:
        """E^T Q, shape (n, n), symmetric."""
        return sparse.csr_array(self.descriptor_matrix.T @ self.effort_matrix)

    def storage(self, x: Array) -> float:
        """The energy of a state (n,) [J]."""
        return float(x @ (self.energy_matrix @ x)) / 2

    def effort(self, x: Array) -> Array:
        """z = Q x, shape (n,)."""
        return np.asarray(self.effort_matrix @ x)

    def structure_errors(self) -> dict[str, float]:
        """How far the laws of the form are missed, each relative to the largest entry of its matrix.

        ``skewness`` of J, ``symmetry`` of R and of E^T Q, and how negative the smallest eigenvalues of
        R and of E^T Q are (``dissipation``, ``storage``; of models with at most 1500 states).
        """
        energy = self.energy_matrix
        errors = {
            "skewness": _relative(self.structure_matrix + self.structure_matrix.T, self.structure_matrix),
            "dissipation symmetry": _relative(
                self.dissipation_matrix - self.dissipation_matrix.T, self.dissipation_matrix
            ),
            "storage symmetry": _relative(energy - energy.T, energy),
        }
        if self.order <= SMALL:
            errors["dissipation"] = _negativity(self.dissipation_matrix)
            errors["storage"] = _negativity(energy)
        return errors

    def check_structure(self) -> dict[str, float]:
        """The figures of ``structure_errors``.

        Raises:
            ParameterError: one is beyond round-off; the message names it.
        """
        errors = self.structure_errors()
        for name, error in errors.items():
            if not error <= (SKEWNESS if name == "skewness" else ROUND_OFF):
                raise ParameterError(f"no port-Hamiltonian model: {name} is missed by {error:.2g}")
        return errors


def _relative(error: sparse.sparray, matrix: sparse.sparray) -> float:
    largest = float(abs(matrix).max()) if matrix.nnz else 0.0
    return float(abs(error).max()) / largest if error.nnz and largest else 0.0


def _negativity(matrix: sparse.csr_array) -> float:
    """-min(smallest eigenvalue, 0) of the matrix scaled to a unit diagonal."""
    if not matrix.nnz:
        return 0.0
    dense = matrix.toarray()
    diagonal = np.abs(np.diag(dense))
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return float(max(0.0, -np.linalg.eigvalsh(scale[:, None] * (dense + dense.T) / 2 * scale)[0]))
