"""Common base of port-Hamiltonian models of coordinates, velocities and strains (docs/theory.md, 5)."""

from abc import abstractmethod
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel


class StrainForm(PortHamiltonianModel):
    """A model whose rates of coordinates q and of strains or stresses s follow from velocities v::

        x = (q, v, s)    E = diag(I, M, C)    J = [[0, A, 0], [-A^T, G, -K^T], [0, K, 0]]    R = diag(0, D, F)

    everything sparse, M and C constant. Multipliers of velocities are strains without compliance. Subclasses give M
    and C, K and D, B below the rows of q, and where they are not the identity and zero A, G and F.
    """

    is_descriptor_constant = True

    @property
    @abstractmethod
    def initial_state(self) -> Array:
        """x at t = 0, shape (state_size,)."""

    @property
    def rest_state(self) -> Array:
        """State at t = 0."""
        return self.initial_state

    @abstractmethod
    def _storages(self) -> tuple[Matrix, Matrix]:
        """M, shape (velocities, velocities), and C, shape (strains, strains)."""

    @abstractmethod
    def _strain_rates(self, x: Array) -> Matrix:
        """K, shape (strains, velocities)."""

    @abstractmethod
    def _viscosity(self, x: Array) -> Matrix:
        """D, shape (velocities, velocities)."""

    @abstractmethod
    def _pushes(self, x: Array) -> Matrix:
        """Rows of B of the velocities, shape (velocities, inputs), or of these and the strains."""

    def _kinematics(self, x: Array) -> Matrix:
        """A, shape (coordinates, velocities)."""
        return sparse.eye_array(self._counts[1])

    def _gyration(self, x: Array) -> Matrix | None:
        """G, shape (velocities, velocities); None: zero."""
        return None

    def _dashpots(self) -> Array:
        """Diagonal of F, shape (strains,)."""
        return np.zeros(self._counts[2])

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """Numbers of coordinates, velocities and strains."""
        velocities, strains = (matrix.shape[0] for matrix in self._storages())
        return self.state_size - velocities - strains, velocities, strains

    @cached_property
    def _descriptor(self) -> sparse.csr_array:
        return sparse.csr_array(sparse.block_diag([sparse.eye_array(self._counts[0]), *self._storages()], "csr"))

    @property
    def coordinates(self) -> IntArray:
        """Indices of the coordinates q among the states."""
        return np.arange(self._counts[0])

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """Descriptor matrix E, constant."""
        return self._descriptor

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """Structure matrix J of a state."""
        along, rates = self._kinematics(x), self._strain_rates(x)
        blocks = [[None, along, None], [-along.T, self._gyration(x), -rates.T], [None, rates, None]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """Dissipation matrix R of a state: viscosity on the velocities, dashpots on their efforts."""
        still = sparse.csr_array((self._counts[0],) * 2)
        parts = [still, self._viscosity(x), sparse.diags_array(self._dashpots())]
        return sparse.csr_array(sparse.block_diag(parts, "csr"))

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """Port matrix B of a state: forces on the velocities, velocities into their multipliers."""
        own = self._pushes(x)
        above, rows = self._counts[0], own.shape[0]
        rest = self.state_size - above - rows
        parts = [sparse.csr_array((above, own.shape[1])), own, sparse.csr_array((rest, own.shape[1]))]
        return sparse.csr_array(sparse.vstack(parts, "csr"))
