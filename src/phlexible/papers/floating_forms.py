"""Floating bodies in the forms of Brugnoli et al. (2020): full, reduced, printed, linearized, with momenta."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, option, vector
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Location
from phlexible.bodies.material import refuse_relaxation
from phlexible.bodies.mechanics.floating import elastic_mass, kept_velocities, mass_matrix
from phlexible.bodies.stress_space import StressSpace
from phlexible.errors import ModelError, ParameterError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock

# Boundary and distributed ports of a floating body; (15), (30), (35), Remark 4 of Brugnoli et al. (2020).

DISTRIBUTED = "distributed force"


def body_ports(body: FloatingBody, locations: dict[str, Location]) -> tuple[Port, ...]:
    """Force and moment at each location, body axes, and the distributed force.

    ``<name> force`` [N]: the velocity of the material point. ``<name> moment`` [N m]: the angular
    velocity of the material around it. ``distributed force``: a force per mass [N/kg] in the span of
    uniform fields and of Phi; its outputs are the velocity field against the same functions, which
    ``output_coordinates`` turns into (uniform velocity, coordinates of Phi).
    """
    ports = []
    for name, location in locations.items():
        ports.append(Port(f"{name} force", "N", "m/s", body.dimension))
        if body.rotates and body.points.locate(location).rotations is not None:
            ports.append(Port(f"{name} moment", "N m", "rad/s", len(body.rotation_axes)))
    d, n = body.dimension, body.elastic_count
    s = body.first_moments[:d, 1:]
    mass = np.block([[body.mass * np.eye(d), s], [s.T, elastic_mass(body)]])
    return (*ports, Port(DISTRIBUTED, "N/kg", "kg m/s", d + n, mass))


def port_columns(body: FloatingBody, locations: dict[str, Location], eta: Array, convection: Array) -> Array:
    """Generalized forces on (v, w, v_f) of unit inputs, shape (6 + n, inputs).

    Args:
        eta: displacement, shape (n,); lever arms are x + u_f.
        convection: N of deta/dt = v_f + N w, shape (n, 3).
    """
    d, axes = body.dimension, list(body.rotation_axes)
    columns: list[Array] = []
    for location in locations.values():
        point = body.points.locate(location)
        arm = point.position + point.shapes @ eta
        shapes = point.shapes
        force = np.concatenate([np.eye(3), cross_matrix(arm) + (shapes @ convection).T, shapes.T])
        columns.append(force[:, :d])
        if body.rotates and point.rotations is not None:
            turns = point.rotations
            moment = np.concatenate([np.zeros((3, 3)), np.eye(3) + (turns @ convection).T, turns.T])
            columns.append(moment[:, axes])
    return np.hstack([*columns, _distributed_columns(body, eta, convection)])


def _distributed_columns(body: FloatingBody, eta: Array, convection: Array) -> Array:
    """B_d of (30) from S and W."""
    d, n = body.dimension, body.elastic_count
    xi = np.concatenate([[1.0], eta])
    s, w, mass = body.first_moments, body.all_moments, elastic_mass(body)
    gyro = np.array([(xi @ (w[a, b] - w[b, a]))[1:] for a, b in ((1, 2), (2, 0), (0, 1))]).reshape(3, n)
    uniform = np.concatenate([body.mass * np.eye(3), cross_matrix(s @ xi) + (s[:, 1:] @ convection).T, s[:, 1:].T])
    elastic = np.concatenate([s[:, 1:], gyro + (mass @ convection).T, mass])
    return np.hstack([uniform[:, :d], elastic])


# What the port-Hamiltonian forms of one floating body share: states, ports, energies.
#
# (12)-(15), (30), (31) and Remarks 1, 3, 4 of Brugnoli et al. (2020). The paper's states
# (r_P, R_v, u_f, v_P, w_P, v_f, Sigma) are the blocks position, rotation_rows, displacement, velocity,
# angular_velocity, elastic_velocity, stress. In the plane z components are left out; a rigid body
# has no displacement, elastic_velocity and stress, a point mass no rotation either.
#
# Every matrix follows from the invariants m, S, W of the body, its stress space and its points.


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
        refuse_relaxation(body.relaxation, "the port-Hamiltonian form of a floating body")
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


# A floating body as the paper has it in full: (12)-(15), (30) of Brugnoli et al. (2020).


@dataclass(frozen=True, eq=False)
class FullForm(FloatingBodyForm):
    """Nothing is neglected: E depends on u_f, J on momenta of factor 2 ((13), (14)).

    Keeps energy, linear and angular momentum for any displacement in the span of Phi. For a rigid
    body this is Remark 3. The factors 2 stand for dM/dt and go together with the kinetic part of
    dH/du_f; neither is right without the other.
    """

    def inertia_displacement(self, eta: Array) -> Array:
        """eta: M depends on the deformation."""
        return eta

    def convection(self, eta: Array) -> Array:
        """Zero: v_f is du_f/dt."""
        return np.zeros((len(eta), 3))

    def momentum_matrix(self, state: BodyState) -> Array:
        """[p_t~], [p_r~] of (13) and I_pf of (14)."""
        linear, angular, coupling = momenta(self.body, state, 1.0)
        return gyroscopic_matrix(linear, angular, coupling, -coupling.T)

    def kinetic_slope(self, state: BodyState) -> Array:
        """The discrete [p_f] x w of 3.1: int Phi.(p_f x w)."""
        body, w = self.body, state.angular_velocity
        first, second = body.first_moments, body.all_moments
        xi = np.concatenate([[1.0], state.displacement])
        dxi = np.concatenate([[0.0], state.elastic_velocity])
        spread = np.einsum("a,abij,b,j->i", w, second, w, xi)
        radial = (w @ w) * np.einsum("aaij,j->i", second, xi) - spread
        turning = np.einsum("k,kij,j->i", w, skew_moments(body), dxi)
        return np.asarray((first.T @ np.cross(state.velocity, w) + radial + turning)[1:])


def momenta(body: FloatingBody, state: BodyState, extra: float) -> tuple[Array, Array, Array]:
    """p_t + e int rho v_f, p_r + e int rho X x v_f, both (3,), and int (2 p_f + e rho v_f) x Phi, (3, n).

    p_f = rho (v + w x X + v_f) with X = x + u_f; e = 1 gives (13) and (14).
    """
    first, second = body.first_moments, body.all_moments
    v, w = state.velocity, state.angular_velocity
    xi = np.concatenate([[1.0], state.displacement])
    dxi = np.concatenate([[0.0], state.elastic_velocity])
    skew = skew_moments(body)
    spread = np.einsum("i,abij,j->ab", xi, second, xi)
    turning = np.einsum("i,kij,j->k", xi, skew, dxi)
    linear = body.mass * v + np.cross(w, first @ xi) + (1 + extra) * first @ dxi
    angular = np.cross(first @ xi, v) + (np.trace(spread) * np.eye(3) - spread) @ w + (1 + extra) * turning
    return linear, angular, 2 * field_cross(body, v, w, xi) + (2 + extra) * _rate_cross(skew, dxi)


def field_cross(body: FloatingBody, v: Array, w: Array, xi: Array) -> Array:
    """int rho (v + w x Psi xi) x Phi_j, shape (3, n): (w x X) x Phi = X (w.Phi) - w (X.Phi)."""
    first, second = body.first_moments, body.all_moments
    along = np.einsum("i,abij,b->aj", xi, second, w)
    across = np.outer(w, np.einsum("i,aaij->j", xi, second))
    return np.asarray((cross_matrix(v) @ first + along - across)[:, 1:])


def skew_moments(body: FloatingBody) -> Array:
    """Z_k = int rho (Psi_i x Psi_j)_k, shape (3, n + 1, n + 1)."""
    w = body.all_moments
    return np.array([w[a, b] - w[b, a] for a, b in ((1, 2), (2, 0), (0, 1))])


def gyroscopic_matrix(linear: Array, angular: Array, rigid_elastic: Array, elastic_rigid: Array) -> Array:
    """J_nu with [p_t] in (v, w) and (w, v), [p_r] in (w, w) and the flexible couplings."""
    n = rigid_elastic.shape[1]
    result = np.zeros((6 + n, 6 + n))
    result[:3, 3:6] = result[3:6, :3] = cross_matrix(linear)
    result[3:6, 3:6] = cross_matrix(angular)
    result[3:6, 6:], result[6:, 3:6] = rigid_elastic, elastic_rigid
    return result


def _rate_cross(skew: Array, dxi: Array) -> Array:
    """int rho v_f x Phi_j, shape (3, n)."""
    return np.asarray(np.einsum("i,kij->kj", dxi, skew)[:, 1:])


# A floating body whose inertia forgets the deformation; cf. (32)-(37) of Brugnoli et al. (2020).


@dataclass(frozen=True, eq=False)
class ZerothOrderForm(FloatingBodyForm):
    """E constant, u_f dropped from all momenta; only to reproduce figures of the literature.

    Keeps the equations of motion of the straight body up to O(u_f): J_rf has 2 p_f + rho v_f and J_fr
    has p_f + rho v_f, without the kinetic part of dH/du_f. Loses the power balance (J is not skew:
    ``check_structure`` refuses it), the momenta, and everything that a deflection does to the inertia:
    a shaft that spins about its axis has wrong whirling frequencies. As printed, (34) has the factor 2
    in both and doubles the centrifugal load; no skew J with this E gives Newton's law.
    """

    def inertia_displacement(self, eta: Array) -> Array:
        """Zero: M is that of the undeformed body."""
        return np.zeros_like(eta)

    def convection(self, eta: Array) -> Array:
        """Zero: v_f is du_f/dt."""
        return np.zeros((len(eta), 3))

    def momentum_matrix(self, state: BodyState) -> Array:
        """(13) and (14) without u_f, and p_f + rho v_f in the elastic rows."""
        body = self.body
        straight = replace(state, displacement=np.zeros(body.elastic_count))
        linear, angular, coupling = momenta(body, straight, 1.0)
        rest = np.zeros(body.elastic_count + 1)
        rest[0] = 1.0
        dxi = np.concatenate([[0.0], state.elastic_velocity])
        field = field_cross(body, state.velocity, state.angular_velocity, rest)
        elastic = field + 2 * np.einsum("i,kij->kj", dxi, skew_moments(body))[:, 1:]
        return gyroscopic_matrix(linear, angular, coupling, -elastic.T)

    def kinetic_slope(self, state: BodyState) -> Array:
        """Zero: the kinetic energy does not depend on u_f."""
        return np.zeros(self.body.elastic_count)

    @property
    def flaw(self) -> str:
        """Why ``check_structure`` refuses it."""
        return (
            "zeroth order: the row of w holds 2 p_f + rho v_f, the rows of v_f hold p_f + rho v_f, right to first "
            "order in u_f and not skew"
        )


# A floating body with constant E: absolute elastic velocity, after (2) of Brugnoli et al. (note, 2019).


@dataclass(frozen=True, eq=False)
class ConstantMassForm(FloatingBodyForm):
    """The elastic velocity state is v_a = du_f/dt + w x u_f, so that E is constant for finite u_f.

    Keeps power and linear momentum exactly. Loses: u_f x w is not in the span of Phi; it is projected
    (in the mass metric), ``deta/dt = alpha + N(eta) w``, and the exact dual of that strain rate acts
    on w. So angular momentum holds and the motion agrees with the full form up to this projection
    error. It does not vanish with few modes, nor as elements are added where the functions Phi cannot have the
    slopes of u_f x w: a clamped beam that is stretched at its root needs a slope -u_x' w there that its clamp
    forbids, and dw/dt stays 2 % off with 8, 16 and 32 elements. With u_x' = 0 at the root the error halves with
    their size.

    The structure is the corrected one: w: p_t x v + p_r x w + int p_f x v_a - int u_f x Div Sigma, with
    p_f = rho (v + w x x + v_a), p_r = int x x p_f.
    """

    def inertia_displacement(self, eta: Array) -> Array:
        """Zero: M is that of the undeformed body."""
        return np.zeros_like(eta)

    def convection(self, eta: Array) -> Array:
        """M_ff^-1 int rho Phi.(u_f x w), shape (n, 3)."""
        mass = elastic_mass(self.body)
        columns = np.einsum("kij,j->ik", skew_moments(self.body)[:, 1:, 1:], eta)
        return np.asarray(np.linalg.solve(mass, columns)) if len(eta) else np.zeros((0, 3))

    def momentum_matrix(self, state: BodyState) -> Array:
        """[p_t], [p_r] and int p_f x Phi without factors 2."""
        body, v, w = self.body, state.velocity, state.angular_velocity
        first, second, skew = body.first_moments, body.all_moments, skew_moments(body)
        rest = np.zeros(body.elastic_count + 1)
        rest[0] = 1.0
        alpha = np.concatenate([[0.0], state.elastic_velocity])
        spread = second[:, :, 0, 0]
        linear = body.mass * v + np.cross(w, first[:, 0]) + first @ alpha
        angular = np.cross(first[:, 0], v) + (np.trace(spread) * np.eye(3) - spread) @ w
        angular = angular + skew[:, 0, :] @ alpha
        coupling = field_cross(body, v, w, rest) + np.einsum("i,kij->kj", alpha, skew)[:, 1:]
        return gyroscopic_matrix(linear, angular, coupling, -coupling.T)

    def kinetic_slope(self, state: BodyState) -> Array:
        """Zero: the kinetic energy does not depend on u_f."""
        return np.zeros(self.body.elastic_count)


# A planar floating body as (32)-(37) of Brugnoli et al. (2020) print it; what is wrong with it: docs/errata.md.


@dataclass(frozen=True, eq=False)
class PrintedForm(FloatingBodyForm):
    """E (33), J (34), B (35) and z (36) as printed: only to draw the published Fig. 8 beside the right one.

    u_f is dropped from E, from the momenta in J and from the lever arms of the ports; (34) keeps the factor 2 of
    (14), but the effort of u_f has lost p_f x w, which that factor is there for (2.14 of docs/theory.md, 2). So the
    centrifugal load on the deformation is twice what it should be, the Coriolis load 3 instead of 2 rho v_f x w.
    J is skew, so p.M p / 2 balances, but that is not the energy: ``storage`` is H of (8), and ``check_structure``
    refuses the form because E^T z is not its gradient (16). A rigid body has none of these terms and is right.
    """

    def inertia_displacement(self, eta: Array) -> Array:
        """Zero: M (33) is that of the undeformed body."""
        return np.zeros_like(eta)

    def convection(self, eta: Array) -> Array:
        """Zero: v_f is du_f/dt."""
        return np.zeros((len(eta), 3))

    def port_displacement(self, eta: Array) -> Array:
        """Zero: lever arms (35) are those of the undeformed body."""
        return np.zeros_like(eta)

    def momentum_matrix(self, state: BodyState) -> Array:
        """(34): p_t~, p_r~ and 2 p_f + rho v_f without u_f, in the row and in the column of w."""
        straight = replace(state, displacement=np.zeros_like(state.displacement))
        linear, angular, coupling = momenta(self.body, straight, 1.0)
        return gyroscopic_matrix(linear, angular, coupling, -coupling.T)

    def kinetic_slope(self, state: BodyState) -> Array:
        """Zero: the momenta do not depend on the deformation (4.3)."""
        return np.zeros_like(state.displacement)

    def storage(self, x: Array) -> float:
        """H of (8), with the kinetic energy of the deformed body [J]."""
        return self._full.storage(x)

    @property
    def flaw(self) -> str:
        """Why ``check_structure`` refuses it."""
        return (
            "(32)-(37) as printed: u_f is dropped from the mass operator, so that the effort of u_f lacks p_f x w, "
            "while (34) keeps the factor 2 that stands for it"
        )

    @property
    def _full(self) -> FullForm:
        return FullForm(self.body, self.stress_space, self.gravity, self.fixed_rotation, self.locations)


# Small motions of one body about rest; (45) of Brugnoli et al. (2020).

GENERALIZED_COORDINATES = ("position", "rotation_rows", "displacement")


def linearized(form: FloatingBodyForm) -> LinearPHDAE:
    """The form of a body about rest, undeformed, with constant matrices.

    States: velocity, angular_velocity, elastic_velocity and stress; ports as of the form. Position, rotation and
    displacement are left out, and with them gravity. Everything is in body axes: the transformer of a joint
    takes the rotation between two bodies ((41)).

    Args:
        form: what ``body.port_hamiltonian()`` returned.

    Raises:
        ModelError: something else.
    """
    if not isinstance(form, FloatingBodyForm):
        raise ModelError(f"form must be what body.port_hamiltonian() returned, got {form!r}")
    n, rest = form.body.elastic_count, np.zeros(3)
    still = BodyState(
        rest, form.fixed_rotation, np.zeros(n), rest, rest, np.zeros(n), np.zeros(form.stress_space.size)
    )
    x = form.joined(still)
    blocks = tuple(block for block in form.states if block.name not in GENERALIZED_COORDINATES)
    begin = form.state_slice(blocks[0].name).start
    matrices = (form.descriptor_matrix(x), form.structure_matrix(x), form.dissipation_matrix(x))
    descriptor, structure, dissipation = (matrix[begin:, begin:] for matrix in matrices)
    return LinearPHDAE(descriptor, structure, dissipation, form.port_matrix(x)[begin:], blocks, form.ports)


# A rigid body with momenta as states: ``dx/dt = J(x) dH/dx``; Remark 3 of Brugnoli et al. (2020).

MOMENTA = {
    "velocity": StateBlock("linear_momentum", "kg m/s", 0),
    "angular_velocity": StateBlock("angular_momentum", "kg m^2/s", 0),
}


def with_momenta(form: FloatingBodyForm) -> "MomentumForm":
    """The form of a rigid body or a point mass with states (r, R_v, p_t, p_r), p = M (v, w), and E = I.

    H = p.M^-1 p / 2 - gravity's work is a function of the state, and its gradient holds the velocities. Ports stay
    what they are. Momenta are in body axes, about the origin.

    Args:
        form: what ``body.port_hamiltonian()`` returned.

    Raises:
        ModelError: a body that deforms, whose M depends on the deformation, or something else.
    """
    if not isinstance(form, FloatingBodyForm):
        raise ModelError(f"form must be what body.port_hamiltonian() returned, got {form!r}")
    if form.body.elastic_count:
        raise ModelError(
            "with_momenta is for bodies that do not deform: Remark 3 holds for u_f = 0; take the form as it is"
        )
    return MomentumForm(form)


@dataclass(frozen=True, eq=False)
class MomentumForm(PortHamiltonianModel):
    """``dx/dt = J(x) dH/dx + B(x) u`` of a rigid body; made by ``with_momenta``.

    Attributes:
        form: the same body with velocities as states.
    """

    form: FloatingBodyForm
    states: tuple[StateBlock, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _mass: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        states = tuple(
            replace(MOMENTA[block.name], size=block.size) if block.name in MOMENTA else block
            for block in self.form.states
        )
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "ports", self.form.ports)
        object.__setattr__(self, "_mass", self.form.descriptor_matrix(np.zeros(self.form.state_size)))

    def velocities(self, x: Array) -> Array:
        """The state of ``form``, with velocities M^-1 p in place of momenta p."""
        return np.asarray(np.linalg.solve(self._mass, x))

    def momenta(self, x: Array) -> Array:
        """The state of this form from one of ``form``."""
        return np.asarray(self._mass @ x)

    def descriptor_matrix(self, x: Array) -> Array:
        """I."""
        return np.eye(self.state_size)

    def structure_matrix(self, x: Array) -> Array:
        """J with [p_t] and [p_r]."""
        return self.form.structure_matrix(self.velocities(x))

    def dissipation_matrix(self, x: Array) -> Array:
        """Zero."""
        return np.zeros((self.state_size, self.state_size))

    def port_matrix(self, x: Array) -> Array:
        """B of the form."""
        return self.form.port_matrix(self.velocities(x))

    def effort(self, x: Array) -> Array:
        """dH/dx = (dH/dr, dH/dR_v, v, w)."""
        return self.form.effort(self.velocities(x))

    def storage(self, x: Array) -> float:
        """H [J]."""
        return self.form.storage(self.velocities(x))


# Which port-Hamiltonian form a body is written in, and the one place that makes it.


class Variant(StrEnum):
    """FULL: nothing neglected. CONSTANT_MASS: E constant, absolute elastic velocity. ZEROTH_ORDER:
    the deformation dropped from the inertia, power not kept. PRINTED: a planar body as (32)-(37) have it, wrong.
    See ``FullForm``, ``ConstantMassForm``, ``ZerothOrderForm``, ``PrintedForm``.
    """

    FULL = "full"
    CONSTANT_MASS = "constant_mass"
    ZEROTH_ORDER = "zeroth_order"
    PRINTED = "printed"


FORMS: dict[Variant, type[FloatingBodyForm]] = {
    Variant.FULL: FullForm,
    Variant.CONSTANT_MASS: ConstantMassForm,
    Variant.ZEROTH_ORDER: ZerothOrderForm,
    Variant.PRINTED: PrintedForm,
}


def body_form(
    body: FloatingBody,
    locations: dict[str, Location],
    variant: str,
    gravity: ArrayLike,
    stress: StressSpace,
) -> FloatingBodyForm:
    """The form of a discretized body.

    Args:
        locations: of the boundary ports, by name.
        gravity: acceleration, world axes, shape (3,) [m/s^2].
        stress: the stress states.

    Raises:
        ParameterError: no such variant, "printed" in space, or a gravity out of the plane of a planar body.
    """
    field = vector("gravity", gravity)
    if body.dimension == 2 and field[2] != 0:
        raise ParameterError(f"gravity must have z = 0 in dimension 2, got {field.tolist()}")
    chosen = option("variant", variant, Variant)
    if chosen is Variant.PRINTED and body.dimension != 2:
        raise ParameterError('variant="printed" is of planar bodies, as (32)-(37) are: give dimension=2')
    return FORMS[chosen](body.with_arrays(), stress, field, np.eye(3), locations)
