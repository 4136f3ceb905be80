"""Soft body as a port-Hamiltonian model in positions and velocities of its nodes (docs/theory.md, 5)."""

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
from phlexible.port_hamiltonian.model import Matrix, Port, StateGroup


@dataclass(frozen=True, eq=False)
class SoftForm(StrainForm):
    """Port-Hamiltonian model of a soft body with sparse matrices, whose states are positions and velocities of its
    N nodes.

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
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)

    def __post_init__(self) -> None:
        n, d = self.body.elastic_count, self.body.dimension
        blocks = (StateGroup("position", "m", n), StateGroup("velocity", "m/s", n))
        vars(self).update(states=blocks, ports=tuple(Port(name, "N", "m/s", d) for name in self.interfaces))

    @property
    def initial_state(self) -> Array:
        """State vector x = (q, v) of this soft body at t = 0: positions and velocities of its N nodes in d
        dimensions, shape (2 d N,)."""
        return self.start

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix (d N, d N) of a soft body with N nodes and an empty compliance matrix (0, 0). Its
        model has no strain states."""
        return mass_matrix(self.body), sparse.csr_array((0, 0))

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return an empty matrix (0, d N) from nodal velocities to strain rates, since this model of a soft
        body has no strain states. It does not depend on the state x."""
        return sparse.csr_array((0, self.body.elastic_count))

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity of the nodes) of the viscous material of a soft body at the
        state x; shape (d N, d N)."""
        return viscous_matrix(self.body, x[: self.body.elastic_count])

    def _input_columns(self, x: Array) -> Matrix:
        """Return the forces on the nodes of a soft body that unit inputs of its ports cause, shape (d N,
        inputs); the force on an interface is shared by the nodes there. They do not depend on the state x."""
        return sparse.hstack([sparse.csr_array((self.body.elastic_count, 0)), *self.interface_forces.values()])

    @property
    def interface_forces(self) -> dict[str, sparse.csr_array]:
        """Forces on the nodes of this soft body for unit forces on each of its interfaces, by the name of the
        interface; sparse, shape (d N, d) each."""
        one = sparse.eye_array(self.body.dimension)
        return {
            name: sparse.csr_array(sparse.kron(weights[:, None], one)) for name, weights in self.interfaces.items()
        }

    def effort(self, x: Array) -> Array:
        """Return the efforts z = (dV/dq - F, v) of a soft body in the state x = (q, v), shape (2 d N,): elastic
        forces of the nodes minus their weights, and velocities."""
        n = self.body.elastic_count
        return np.concatenate([elastic_force(self.body, x[:n]) - self.weight, x[n:]])

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """Return the derivative of the residual E dx/dt - (J - R) z of a soft body with respect to its state
        x. It is sparse, shape (2 d N, 2 d N), for positions and velocities; the change of the damping matrix
        with the positions is neglected. ``rate`` is dx/dt, u are the inputs."""
        n = self.body.elastic_count
        bent = sparse.block_diag([elastic_tangent(self.body, x[:n]), sparse.eye_array(n)], "csr")
        return sparse.csr_array((self.dissipation_matrix(x) - self.structure_matrix(x)) @ bent)

    def storage(self, x: Array) -> float:
        """Return the stored energy of a soft body in the state x [J]: kinetic plus strain energy minus the work of
        gravity."""
        n = self.body.elastic_count
        kinetic = x[n:] @ (mass_matrix(self.body) @ x[n:]) / 2
        return float(kinetic + strain_energy(self.body, x[:n]) - x[:n] @ self.weight)

    @property
    def weight(self) -> Array:
        """Forces of gravity on the nodes of the body, shape (d N,) [N]."""
        return np.outer(self.body.translational_mass, self.gravity).ravel()
