"""Common base of port-Hamiltonian models of coordinates, velocities and strains (docs/theory.md, 5)."""

from abc import abstractmethod
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.port_hamiltonian.model import Matrix, PortHamiltonianModel


class StrainForm(PortHamiltonianModel):
    """Base class of port-Hamiltonian models with coordinates q, velocities v and strains or stresses s as states,
    whose rates follow from the velocities.

        x = (q, v, s)    E = diag(I, M, C)    J = [[0, A, 0], [-A^T, G, -K^T], [0, K, 0]]    R = diag(0, D, F)

    everything sparse, M and C constant. Multipliers of velocities are strains without compliance. Subclasses give M
    and C, K and D, B below the rows of q, and where they are not the identity and zero A, G and F.
    """

    is_descriptor_constant = True

    @property
    @abstractmethod
    def initial_state(self) -> Array:
        """State vector x of this body at t = 0, from which time integration starts, shape (state_size,)."""

    @property
    def rest_state(self) -> Array:
        """State vector of this body at which the matrices of its model are evaluated first: that at t = 0, shape
        (state_size,)."""
        return self.initial_state

    @abstractmethod
    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix M (velocities, velocities) and the compliance matrix C of the strains or stresses
        (strains, strains) of a body's port-Hamiltonian model; both are constant."""

    @abstractmethod
    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix K in C ds/dt = K v of a body at the state x, shape (strains, velocities): it gives the
        rates of its strains s, times the compliance matrix C, from its velocities v."""

    @abstractmethod
    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity) of the viscous material of a body at the state x, shape
        (velocities, velocities)."""

    @abstractmethod
    def _input_columns(self, x: Array) -> Matrix:
        """Return the rows of the port matrix B of a body that belong to its velocities, shape (velocities,
        inputs), or to velocities and strains: forces that unit inputs cause. x is the state."""

    def _kinematic_matrix(self, x: Array) -> Matrix:
        """Return the matrix A in dq/dt = A v of a body at the state x, shape (coordinates, velocities): it gives
        the rates of the coordinates q from the velocities v; the identity unless a subclass says otherwise."""
        return sparse.eye_array(self._counts[1])

    def _gyroscopic_matrix(self, x: Array) -> Matrix | None:
        """Return None, since this port-Hamiltonian form of a body has no gyroscopic forces. Subclasses that have
        some return their skew matrix at the state x, shape (velocities, velocities)."""
        return None

    def _dashpot_coefficients(self) -> Array:
        """Return the dissipation coefficients of the strain states of a body, diagonal of the dissipation matrix,
        shape (strains,): zero unless viscoelastic branches have dashpots."""
        return np.zeros(self._counts[2])

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """Numbers of coordinates, of velocities and of strains (with multipliers) in the state vector of this
        body."""
        velocities, strains = (matrix.shape[0] for matrix in self._mass_blocks())
        return self.state_size - velocities - strains, velocities, strains

    @cached_property
    def _descriptor(self) -> sparse.csr_array:
        """Constant descriptor matrix E = diag(I, M, C) of this body, which multiplies dx/dt: mass matrix M and
        compliance matrix C, sparse, shape (state_size, state_size)."""
        return sparse.csr_array(sparse.block_diag([sparse.eye_array(self._counts[0]), *self._mass_blocks()], "csr"))

    @property
    def coordinates(self) -> IntArray:
        """Indices of the coordinates q of this body in its state vector; the matrices J, R and B of its model
        depend on them."""
        return np.arange(self._counts[0])

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """Return the constant descriptor matrix E = diag(I, M, C) of a body, which multiplies dx/dt, sparse,
        shape (state_size, state_size). It does not depend on the state x."""
        return self._descriptor

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """Return the skew structure matrix J in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, state_size)."""
        along, rates = self._kinematic_matrix(x), self._strain_rate_matrix(x)
        blocks = [[None, along, None], [-along.T, self._gyroscopic_matrix(x), -rates.T], [None, rates, None]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """Return the dissipation matrix R in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, state_size): material viscosity, and dashpots of viscoelastic branches."""
        still = sparse.csr_array((self._counts[0],) * 2)
        parts = [still, self._viscous_matrix(x), sparse.diags_array(self._dashpot_coefficients())]
        return sparse.csr_array(sparse.block_diag(parts, "csr"))

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """Return the port matrix B in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, inputs): forces on velocities, and prescribed velocities on their multipliers."""
        own = self._input_columns(x)
        above, rows = self._counts[0], own.shape[0]
        rest = self.state_size - above - rows
        parts = [sparse.csr_array((above, own.shape[1])), own, sparse.csr_array((rest, own.shape[1]))]
        return sparse.csr_array(sparse.vstack(parts, "csr"))
