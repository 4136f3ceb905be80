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
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock


@dataclass(frozen=True, eq=False)
class SoftForm(PortHamiltonianModel):
    """A soft body as ``E dx/dt = (J - R(q)) z(x) + B u``, everything sparse::

        x = (q, v)    E = diag(I, M)    z = (dV/dq - F, v)    J = [[0, I], [-I, 0]]    R = diag(0, C(q))

    with the stored energy V, the weight F of the nodes and the viscosity C. Ports are the interfaces: u is the
    force on the mean of their nodes in world axes, y the velocity of that mean, each of shape (d,).

    Attributes:
        body: nodes, masses and elements in dimension d.
        gravity: shape (d,) [m/s^2].
        interfaces: weights of the nodes by name, each of shape (N,).
        initial_state: x at t = 0, shape (2 d N,).
    """

    body: AbsoluteBody
    gravity: Array
    interfaces: dict[str, Array]
    initial_state: Array
    states: tuple[StateBlock, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    is_descriptor_constant = True

    def __post_init__(self) -> None:
        n, d = self.body.elastic_count, self.body.dimension
        blocks = (StateBlock("position", "m", n), StateBlock("velocity", "m/s", n))
        object.__setattr__(self, "states", blocks)
        object.__setattr__(self, "ports", tuple(Port(name, "N", "m/s", d) for name in self.interfaces))

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """E = diag(I, M), constant."""
        n = self.body.elastic_count
        return sparse.csr_array(sparse.block_diag([sparse.eye_array(n), mass_matrix(self.body)], "csr"))

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """J, constant."""
        one = sparse.eye_array(self.body.elastic_count)
        return sparse.csr_array(sparse.block_array([[None, one], [-one, None]], format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """R: viscosity on v."""
        n = self.body.elastic_count
        return sparse.csr_array(
            sparse.block_diag([sparse.csr_array((n, n)), viscous_matrix(self.body, x[:n])], "csr")
        )

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """B: forces on interfaces, shared by their nodes."""
        n = self.body.elastic_count
        shared = sparse.hstack([sparse.csr_array((n, 0)), *self.interface_forces.values()])
        return sparse.csr_array(sparse.vstack([sparse.csr_array((n, shared.shape[1])), shared], "csr"))

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
    def rest_state(self) -> Array:
        """That of t = 0."""
        return self.initial_state

    @property
    def weight(self) -> Array:
        """Of the nodes, shape (d N,) [N]."""
        return np.outer(self.body.nodal_mass.sum(axis=1), self.gravity).ravel()
