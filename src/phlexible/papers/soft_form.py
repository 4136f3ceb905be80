"""A soft body as a port-Hamiltonian model in positions and velocities of its nodes (docs/theory.md, 5)."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.absolute import (
    elastic_force,
    elastic_tangent,
    mass_matrix,
    strain_energy,
    viscous_matrix,
)
from phlexible.papers.strain_form import StrainForm
from phlexible.port_hamiltonian.model import Matrix, Port, StateBlock


@dataclass(frozen=True, eq=False)
class SoftForm(StrainForm):
    """A soft body as ``E dx/dt = (J - R(q)) z(x) + B u``, everything sparse::

        x = (q, v)    E = diag(I, M)    z = (dV/dq - F, v)    J = [[0, I], [-I, 0]]    R = diag(0, C(q))

    with the stored energy V, the weight F of the nodes and the viscosity C. Ports are the interfaces: u is the
    force on the mean of their nodes in world axes, y the velocity of that mean, each of shape (d,).

    Attributes:
        body: nodes, masses and elements in dimension d.
        gravity: shape (d,) [m/s^2].
        interfaces: weights of the nodes by name, each of shape (N,).
        start: x at t = 0, shape (2 d N,).
    """

    body: AbsoluteBody
    gravity: Array
    interfaces: dict[str, Array]
    start: Array
    states: tuple[StateBlock, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)

    def __post_init__(self) -> None:
        n, d = self.body.elastic_count, self.body.dimension
        blocks = (StateBlock("position", "m", n), StateBlock("velocity", "m/s", n))
        vars(self).update(states=blocks, ports=tuple(Port(name, "N", "m/s", d) for name in self.interfaces))

    @property
    def initial_state(self) -> Array:
        """x at t = 0, shape (2 d N,)."""
        return self.start

    def _storages(self) -> tuple[Matrix, Matrix]:
        return mass_matrix(self.body), sparse.csr_array((0, 0))

    def _strain_rates(self, x: Array) -> Matrix:
        return sparse.csr_array((0, self.body.elastic_count))

    def _viscosity(self, x: Array) -> Matrix:
        return viscous_matrix(self.body, x[: self.body.elastic_count])

    def _pushes(self, x: Array) -> Matrix:
        """Forces on interfaces, shared by their nodes."""
        return sparse.hstack([sparse.csr_array((self.body.elastic_count, 0)), *self.interface_forces.values()])

    @property
    def interface_forces(self) -> dict[str, sparse.csr_array]:
        """Forces on the nodes of unit forces on each interface, shape (d N, d) each."""
        one = sparse.eye_array(self.body.dimension)
        return {
            name: sparse.csr_array(sparse.kron(weights[:, None], one)) for name, weights in self.interfaces.items()
        }

    def effort(self, x: Array) -> Array:
        """z = (dV/dq - F, v)."""
        n = self.body.elastic_count
        return np.concatenate([elastic_force(self.body, x[:n]) - self.weight, x[n:]])

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """-d((J - R) z)/dx: E and B are constant; how R changes with q is left out."""
        n = self.body.elastic_count
        bent = sparse.block_diag([elastic_tangent(self.body, x[:n]), sparse.eye_array(n)], "csr")
        return sparse.csr_array((self.dissipation_matrix(x) - self.structure_matrix(x)) @ bent)

    def storage(self, x: Array) -> float:
        """H = v M v/2 + V - F q [J]."""
        n = self.body.elastic_count
        kinetic = x[n:] @ (mass_matrix(self.body) @ x[n:]) / 2
        return float(kinetic + strain_energy(self.body, x[:n]) - x[:n] @ self.weight)

    @property
    def weight(self) -> Array:
        """Weights of the nodes, shape (d N,) [N]."""
        return np.outer(self.body.nodal_mass.sum(axis=1), self.gravity).ravel()
