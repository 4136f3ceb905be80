"""What the port-Hamiltonian forms of one floating body share: states, ports, energies.

(12)-(15), (30), (31) and Remarks 1, 3, 4 of Brugnoli et al. (2020). The paper's states
(r_P, R_v, u_f, v_P, w_P, v_f, Sigma) are the blocks position, rotation_rows, displacement, velocity,
angular_velocity, elastic_velocity, stress. In the plane z components are left out; a rigid body
has no displacement, elastic_velocity and stress, a point mass no rotation either.

Every matrix follows from the invariants m, S, W of the body, its stress space and its points.
"""

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.forms.ports import body_ports, port_columns
from phlexible.bodies.forms.stress_space import StressSpace
from phlexible.bodies.locations import Location
from phlexible.bodies.mechanics.floating import kept_velocities, mass_matrix
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock


@dataclass(frozen=True, eq=False)
class BodyState:
    """One state x of a body, with all components.

    Attributes:
        position: r, world axes, shape (3,) [m].
        rotation: body to world, shape (3, 3).
        displacement: eta of u_f = Phi eta, shape (n,).
        velocity: v_P, body axes, shape (3,) [m/s].
        angular_velocity: w_P, body axes, shape (3,) [rad/s].
        elastic_velocity: coordinates of v_f, shape (n,).
        stress: coordinates of Sigma, shape (s,).
    """

    position: Array
    rotation: Array
    displacement: Array
    velocity: Array
    angular_velocity: Array
    elastic_velocity: Array
    stress: Array


@dataclass(frozen=True, eq=False)
class FloatingBodyForm(PortHamiltonianModel):
    """A body as ``E(x) dx/dt = (J(x) - R(x)) z(x) + B(x) u``; the variants fill in four methods.

    With nu = (v, w, v_f) and deta/dt = L(eta) nu, L = [0, N(eta), I]::

        E = diag(I, M, M_sigma)      z = (dH/dr, dH/dR_v, dH/deta, nu, Sigma)
        J = [[0, K, 0], [-K^T, J_nu, -(B_eps L)^T], [0, B_eps L, 0]]
        K = [[R, 0, 0], [0, [R_v], 0], L]

    Attributes:
        body: invariants and points.
        stress_space: of the stress coordinates.
        gravity: acceleration of gravity, world axes, shape (3,) [m/s^2]; part of H (Remark 1).
        fixed_rotation: body to world of a body that does not rotate (a point mass), shape (3, 3).
        locations: where boundary ports sit, by name.
    """

    body: FloatingBody
    stress_space: StressSpace
    gravity: Array
    fixed_rotation: Array
    locations: dict[str, Location]
    states: tuple[StateBlock, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _kept: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        body, planar = self.body, self.body.dimension == 2
        n, s = body.elastic_count, self.stress_space.size
        axes = len(body.rotation_axes)
        blocks = (
            StateBlock("position", "m", body.dimension),
            StateBlock("rotation_rows", "1", 0 if not axes else (4 if planar else 9)),
            StateBlock("displacement", "", n),
            StateBlock("velocity", "m/s", body.dimension),
            StateBlock("angular_velocity", "rad/s", axes),
            StateBlock("elastic_velocity", "", n),
            StateBlock("stress", "", s),
        )
        rows = [0, 1, 3, 4] if planar else list(range(9))
        kept = [
            *range(body.dimension),
            *(3 + k for k in rows if axes),
            *range(12, 12 + n),
            *(12 + n + k for k in kept_velocities(body)),
            *range(18 + 2 * n, 18 + 2 * n + s),
        ]
        object.__setattr__(self, "states", tuple(block for block in blocks if block.size))
        object.__setattr__(self, "ports", body_ports(body, self.locations))
        object.__setattr__(self, "_kept", np.array(kept, dtype=np.int64))

    @abstractmethod
    def inertia_displacement(self, eta: Array) -> Array:
        """The displacement at which the mass matrix is taken, shape (n,)."""

    @abstractmethod
    def convection(self, eta: Array) -> Array:
        """N(eta) of deta/dt = v_f + N w, shape (n, 3)."""

    @abstractmethod
    def momentum_matrix(self, state: BodyState) -> Array:
        """J_nu with the momenta in it, shape (6 + n, 6 + n)."""

    @abstractmethod
    def kinetic_slope(self, state: BodyState) -> Array:
        """d(nu.M.nu / 2)/deta, shape (n,)."""

    def split(self, x: Array) -> BodyState:
        """The parts of a state x with the components that the body does not keep."""
        n, s = self.body.elastic_count, self.stress_space.size
        full = np.zeros(18 + 2 * n + s)
        full[3:12] = self.fixed_rotation.ravel()
        full[self._kept] = x
        r, rows, eta, v, w, rate, stress = np.split(full, np.cumsum([3, 9, n, 3, 3, n]))
        return BodyState(r, rows.reshape(3, 3), eta, v, w, rate, stress)

    def joined(self, state: BodyState) -> Array:
        """The state x of its parts, shape (state_size,)."""
        parts = (
            state.position,
            state.rotation.ravel(),
            state.displacement,
            state.velocity,
            state.angular_velocity,
            state.elastic_velocity,
            state.stress,
        )
        return np.concatenate(parts)[self._kept]

    def port_displacement(self, eta: Array) -> Array:
        """The displacement at which lever arms are taken, shape (n,)."""
        return eta

    @property
    def kept(self) -> IntArray:
        """Places of the states among those of a body in space, with all components."""
        return self._kept

    @property
    def rest_state(self) -> Array:
        """At the origin, undeformed, not moving."""
        n, s = self.body.elastic_count, self.stress_space.size
        full = np.zeros(18 + 2 * n + s)
        full[3:12] = self.fixed_rotation.ravel()
        return full[self._kept]

    def descriptor_matrix(self, x: Array) -> Array:
        """E = diag(I, M, M_sigma); M is (10) without its last row and column."""
        state = self.split(x)
        mass = mass_matrix(self.body, self.inertia_displacement(state.displacement))
        q = self.state_size - len(mass) - self.stress_space.size
        result = np.eye(self.state_size)
        begin = q + len(mass)
        result[q:begin, q:begin] = mass
        result[begin:, begin:] = self.stress_space.compliance
        return result

    def structure_matrix(self, x: Array) -> Array:
        """J of (12)."""
        state = self.split(x)
        n, s = self.body.elastic_count, self.stress_space.size
        q, nu = 12 + n, 6 + n
        rates = self._elastic_rates(state.displacement)
        kinematic = np.zeros((q, nu))
        kinematic[:3, :3] = state.rotation
        kinematic[3:12, 3:6] = np.concatenate([cross_matrix(row) for row in state.rotation])
        kinematic[12:] = rates
        strain_rate = self.stress_space.strain_rate_matrix(state.displacement) @ rates
        full = np.zeros((q + nu + s, q + nu + s))
        full[:q, q : q + nu], full[q : q + nu, :q] = kinematic, -kinematic.T
        full[q : q + nu, q : q + nu] = self.momentum_matrix(state)
        full[q + nu :, q : q + nu], full[q : q + nu, q + nu :] = strain_rate, -strain_rate.T
        return full[np.ix_(self._kept, self._kept)]

    def dissipation_matrix(self, x: Array) -> Array:
        """R: modal damping C and viscosity tau B_eps^T M_sigma^-1 B_eps, both on deta/dt."""
        result = np.zeros((self.state_size, self.state_size))
        if self.body.viscosity == 0 and not self.body.damping.any():
            return result
        eta = self.split(x).displacement
        rates = self._elastic_rates(eta)
        damping = self.body.damping + self.body.viscosity * self.stress_space.viscous_matrix(eta)
        kept = kept_velocities(self.body)
        begin = self.state_size - self.stress_space.size - len(kept)
        place = slice(begin, begin + len(kept))
        result[place, place] = (rates.T @ damping @ rates)[np.ix_(kept, kept)]
        return result

    def port_matrix(self, x: Array) -> Array:
        """B: boundary ports (15), (35), with lever arms x + u_f, and the distributed port."""
        state = self.split(x)
        eta = state.displacement
        columns = port_columns(self.body, self.locations, self.port_displacement(eta), self.convection(eta))
        kept = kept_velocities(self.body)
        begin = self.state_size - self.stress_space.size - len(kept)
        result = np.zeros((self.state_size, self.port_size))
        result[begin : begin + len(kept)] = columns[kept]
        return result

    def effort(self, x: Array) -> Array:
        """z: co-energy variables are states (31), the others are slopes of H."""
        state = self.split(x)
        s, g = self.body.first_moments, self.gravity
        center = s @ np.concatenate([[1.0], state.displacement])
        weight = s[:, 1:].T @ (state.rotation.T @ g)
        slope = BodyState(
            position=-self.body.mass * g,
            rotation=-np.outer(g, center),
            displacement=self.kinetic_slope(state) - weight,
            velocity=state.velocity,
            angular_velocity=state.angular_velocity,
            elastic_velocity=state.elastic_velocity,
            stress=state.stress,
        )
        return self.joined(slope)

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """z(x0, x1) that takes exactly H(x1) - H(x0): docs/theory.md, 2."""
        middle, n = (x0 + x1) / 2, self.body.elastic_count
        z = self.effort(middle)
        if not n:
            return z
        mean, change = self.split(middle), self.split(x1 - x0)

        def slope(mean_share: float, change_share: float, shift: float) -> Array:
            """The kinetic slope at shares of the mean and of the change."""
            both = zip(_motion(mean), _motion(change), strict=True)
            v, w, rate = (mean_share * m + change_share * c for m, c in both)
            eta = mean.displacement + shift * change.displacement
            return self.kinetic_slope(
                replace(mean, displacement=eta, velocity=v, angular_velocity=w, elastic_velocity=rate)
            )

        bent = slope(1, 1, 1) - slope(1, 1, 0) - slope(1, -1, 1) + slope(1, -1, 0)
        z[self.state_slice("displacement")] += slope(0, 1, 0) / 4 + bent / 16
        return z

    def storage(self, x: Array) -> float:
        """H = nu.M.nu / 2 + Sigma.M_sigma.Sigma / 2 - g.(m r + R S xi) [J]."""
        state = self.split(x)
        nu = np.concatenate([state.velocity, state.angular_velocity, state.elastic_velocity])
        nu = nu[kept_velocities(self.body)]
        kinetic = nu @ mass_matrix(self.body, self.inertia_displacement(state.displacement)) @ nu
        strain = state.stress @ self.stress_space.compliance @ state.stress
        center = self.body.first_moments @ np.concatenate([[1.0], state.displacement])
        fall = self.gravity @ (self.body.mass * state.position + state.rotation @ center)
        return float(kinetic + strain) / 2 - float(fall)

    def _elastic_rates(self, eta: Array) -> Array:
        """L = [0, N, I] of deta/dt = L (v, w, v_f), shape (n, 6 + n)."""
        n = self.body.elastic_count
        return np.hstack([np.zeros((n, 3)), self.convection(eta), np.eye(n)])


def _motion(state: BodyState) -> tuple[Array, Array, Array]:
    return state.velocity, state.angular_velocity, state.elastic_velocity
