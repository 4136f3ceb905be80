"""Floating bodies in the forms of Brugnoli et al. (2020): full, reduced, printed, linearized, with momenta."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, option, set_fields, vector
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Location
from phlexible.bodies.material import refuse_relaxation
from phlexible.bodies.mechanics.floating import (
    cross_products,
    elastic_mass,
    mass_matrix,
    moment_products,
    rigid_rows,
    velocity_components,
)
from phlexible.bodies.stress_space import StressSpace
from phlexible.errors import ModelError, ParameterError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateGroup

# Boundary and distributed ports of a floating body; (15), (30), (35), Remark 4 of Brugnoli et al. (2020).

DISTRIBUTED = "distributed force"


def body_ports(body: FloatingBody, locations: dict[str, Location]) -> tuple[Port, ...]:
    """Return the input-output ports of the port-Hamiltonian model of a floating body. For each named location
    there is a force, then a moment if the body rotates there, both in body axes. Last is a force distributed over
    the body [N/kg], uniform or in the shape functions, with its mass matrix. Outputs are the conjugate velocities.

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


def _prepended(first: float, values: Array) -> Array:
    """Return a copy of ``values`` (..., n) with the number ``first`` inserted before the first entry of the last
    axis, shape (..., n + 1). With ``first=1`` the result has the coefficients of the undeformed shape and of the
    elastic coordinates."""
    return np.concatenate([np.full((*values.shape[:-1], 1), first), values], axis=-1)


# What the port-Hamiltonian forms of one floating body share: states, ports, energies.
#
# (12)-(15), (30), (31) and Remarks 1, 3, 4 of Brugnoli et al. (2020). The paper's states
# (r_P, R_v, u_f, v_P, w_P, v_f, Sigma) are the blocks position, rotation_rows, displacement, velocity,
# angular_velocity, elastic_velocity, stress. In the plane z components are left out; a rigid body
# has no displacement, elastic_velocity and stress, a point mass no rotation either.
#
# Every matrix follows from the invariants m, S, W of the body, its stress space and its points. States of many
# instants, shape (..., n), have matrices of shape (..., n, n): products and differences take them all in one call.


@dataclass(frozen=True, eq=False)
class BodyState:
    """State x of a floating body, of one or many instants, split into its parts with all components of a body in
    space.

    Attributes:
        position: r, world axes, shape (..., 3) [m].
        rotation: body to world, shape (..., 3, 3).
        displacement: eta of u_f = Phi eta, shape (..., n).
        velocity: v_P, body axes, shape (..., 3) [m/s].
        angular_velocity: w_P, body axes, shape (..., 3) [rad/s].
        elastic_velocity: coordinates of v_f, shape (..., n).
        stress: coordinates of Sigma, shape (..., s).
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
    """Port-Hamiltonian model of one floating body, ``E(x) dx/dt = (J(x) - R(x)) z(x) + B(x) u``, whose variants
    differ in their inertia.

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
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _state_indices: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        body, planar = self.body, self.body.dimension == 2
        refuse_relaxation(body.relaxation, "the port-Hamiltonian form of a floating body")
        n, s = body.elastic_count, self.stress_space.size
        axes = len(body.rotation_axes)
        blocks = (
            StateGroup("position", "m", body.dimension),
            StateGroup("rotation_rows", "1", 0 if not axes else (4 if planar else 9)),
            StateGroup("displacement", "", n),
            StateGroup("velocity", "m/s", body.dimension),
            StateGroup("angular_velocity", "rad/s", axes),
            StateGroup("elastic_velocity", "", n),
            StateGroup("stress", "", s),
        )
        rows = [0, 1, 3, 4] if planar else list(range(9))
        kept = [
            *range(body.dimension),
            *(3 + k for k in rows if axes),
            *range(12, 12 + n),
            *(12 + n + k for k in velocity_components(body)),
            *range(18 + 2 * n, 18 + 2 * n + s),
        ]
        states, indices = tuple(block for block in blocks if block.size), np.array(kept, dtype=np.int64)
        set_fields(self, states=states, ports=body_ports(body, self.locations), _state_indices=indices)

    def inertia_displacement(self, eta: Array) -> Array:
        """Return zeros in the shape of ``eta`` (..., n): the elastic coordinates at which the mass matrix of a
        floating body is evaluated. Here the inertia neglects the deformation; subclasses that do not neglect it
        return ``eta``."""
        return np.zeros_like(eta)

    def convection(self, eta: Array) -> Array:
        """Return a zero matrix N, shape (..., n, 3), for elastic coordinates ``eta`` (..., n). In general it
        couples the elastic rates of a floating body with its angular velocity w by deta/dt = v_f + N w. Subclasses
        whose elastic velocity state v_f is not deta/dt return another matrix."""
        return np.zeros((*eta.shape, 3))

    @abstractmethod
    def momentum_matrix(self, state: BodyState) -> Array:
        """Return the block of the structure matrix J of a floating body that couples its velocities through the
        momenta (gyroscopic forces). The velocities are linear, angular and elastic; the shape is (..., 6 + n, 6 +
        n). Abstract: subclasses implement it. ``state`` has deformation and velocities."""

    def kinetic_slope(self, state: BodyState) -> Array:
        """Return zeros, shape (..., n): the derivative of the kinetic energy of a floating body with respect to
        its n elastic coordinates. Here the inertia neglects the deformation; subclasses that do not neglect it
        return another derivative. ``state`` has deformation and velocities."""
        return np.zeros_like(state.displacement)

    def split(self, x: Array) -> BodyState:
        """Split state vectors x (..., states) of a floating body into position, rotation matrix, elastic
        coordinates, linear, angular and elastic velocities, and stresses. Components that the body does not have
        as states (in a plane, or without rotation) are zero; a missing rotation is the fixed rotation matrix."""
        n, s = self.body.elastic_count, self.stress_space.size
        full = np.zeros((*x.shape[:-1], 18 + 2 * n + s))
        full[..., 3:12] = self.fixed_rotation.ravel()
        full[..., self._state_indices] = x
        r, rows, v, w = full[..., :3], full[..., 3:12], full[..., 12 + n : 15 + n], full[..., 15 + n : 18 + n]
        eta, rate, stress = full[..., 12 : 12 + n], full[..., 18 + n : 18 + 2 * n], full[..., 18 + 2 * n :]
        return BodyState(r, rows.reshape(*rows.shape[:-1], 3, 3), eta, v, w, rate, stress)

    def joined(self, state: BodyState) -> Array:
        """Return the state vectors x (..., state_size) of a floating body made of its position, rotation,
        velocities and stresses. The order is position, rotation matrix (row by row), elastic coordinates, linear,
        angular and elastic velocities, stresses. Components that the body does not have are left out."""
        parts = (
            state.position,
            state.rotation.reshape(*state.rotation.shape[:-2], 9),
            state.displacement,
            state.velocity,
            state.angular_velocity,
            state.elastic_velocity,
            state.stress,
        )
        return np.concatenate(parts, axis=-1)[..., self._state_indices]

    def port_displacement(self, eta: Array) -> Array:
        """Return ``eta`` (..., n) unchanged: the elastic coordinates of a floating body at which the moment arms
        of its port forces are evaluated. Subclasses that neglect the deformation there return zeros."""
        return eta

    @property
    def rest_state(self) -> Array:
        """State vector x of this floating body undeformed, at the origin and at rest, shape (state_size,)."""
        n, s = self.body.elastic_count, self.stress_space.size
        full = np.zeros(18 + 2 * n + s)
        full[3:12] = self.fixed_rotation.ravel()
        return full[self._state_indices]

    def descriptor_matrix(self, x: Array) -> Array:
        """Return the descriptor matrix E = diag(I, M, M_sigma), which multiplies dx/dt in the port-Hamiltonian
        model of a floating body, at states x. The shape is (..., state_size, state_size). M is the mass matrix,
        M_sigma the compliance matrix of the stresses."""
        result, index = np.zeros((*x.shape, self.state_size)), self.velocity_slice
        result[...] = np.eye(self.state_size)
        eta = self.inertia_displacement(self.split(x).displacement)
        result[..., index, index] = mass_matrix(self.body, eta)
        result[..., index.stop :, index.stop :] = self.stress_space.compliance
        return result

    def structure_matrix(self, x: Array) -> Array:
        """Return the structure matrix J in E dx/dt = (J - R) z + B u of a floating body at states x. It is
        antisymmetric, shape (..., state_size, state_size). Its blocks are kinematics (rates of pose and elastic
        coordinates from velocities), momenta (gyroscopic terms), and strain rates of the velocities; z are the
        efforts."""
        state = self.split(x)
        n, s = self.body.elastic_count, self.stress_space.size
        q, end = 12 + n, 18 + 2 * n
        rates = self._elastic_rates(state.displacement)
        kinematic = np.zeros((*x.shape[:-1], q, 6 + n))
        kinematic[..., :3, :3] = state.rotation
        for row in range(3):
            kinematic[..., 3 + 3 * row : 6 + 3 * row, 3:6] = cross_matrix(state.rotation[..., row, :])
        kinematic[..., 12:, :] = rates
        strain_rate = self.stress_space.strain_rate_matrix(state.displacement) @ rates
        full = np.zeros((*x.shape[:-1], end + s, end + s))
        full[..., :q, q:end], full[..., q:end, :q] = kinematic, -kinematic.mT
        full[..., q:end, q:end] = self.momentum_matrix(state)
        full[..., end:, q:end], full[..., q:end, end:] = strain_rate, -strain_rate.mT
        return full[..., self._state_indices[:, None], self._state_indices]

    def dissipation_matrix(self, x: Array) -> Array:
        """Return the dissipation matrix R in E dx/dt = (J - R) z + B u of a floating body at states x. The result
        has the shape (..., state_size, state_size). It has modal damping and material viscosity, which act on the
        elastic rates; zero without either."""
        result, index = np.zeros((*x.shape, self.state_size)), self.velocity_slice
        if self.body.viscosity == 0 and not self.body.damping.any():
            return result
        eta = self.split(x).displacement
        rates = self._elastic_rates(eta)[..., velocity_components(self.body)]
        damping = self.body.damping + self.body.viscosity * self.stress_space.viscous_matrix(eta)
        result[..., index, index] = rates.mT @ damping @ rates
        return result

    def port_matrix(self, x: Array) -> Array:
        """Return the port matrix B in E dx/dt = (J - R) z + B u of a floating body at states x. Its shape is (...,
        state_size, inputs). Columns are the generalized forces on the velocities for unit inputs; rows of all
        other states are zero. Inputs u are forces and, where the body rotates, moments at the ports, in body axes,
        and the distributed force."""
        body, state = self.body, self.split(x)
        d, axes, n = body.dimension, list(body.rotation_axes), body.elastic_count
        eta, convection = self.port_displacement(state.displacement), self.convection(state.displacement)
        columns = np.zeros((*x.shape[:-1], 6 + n, self.port_size))  # on (v, w, v_f)
        for name, location in self.locations.items():
            point, own = body.points.locate(location), self.port_slice(f"{name} force")
            arm, shapes = point.position + eta @ point.shapes.T, point.shapes
            columns[..., :d, own] = np.eye(d)
            columns[..., 3:6, own] = (cross_matrix(arm) + (shapes @ convection).mT)[..., :d]
            columns[..., 6:, own] = shapes.T[:, :d]
            if body.rotates and point.rotations is not None:
                turns, own = point.rotations, self.port_slice(f"{name} moment")
                columns[..., 3:6, own] = (np.eye(3) + (turns @ convection).mT)[..., axes]
                columns[..., 6:, own] = turns.T[:, axes]
        columns[..., self.port_slice(DISTRIBUTED)] = self._distributed_columns(_prepended(1.0, eta), convection)
        result = np.zeros((*x.shape, self.port_size))
        result[..., self.velocity_slice, :] = columns[..., velocity_components(body), :]
        return result

    def _distributed_columns(self, xi: Array, convection: Array) -> Array:
        """Return a floating body's generalized forces for unit inputs of its distributed force, shape (..., 6 + n,
        d + n). It has n elastic coordinates in d dimensions. The first d columns are for a constant force, the
        others for forces in the shape functions. Rows are linear, angular and elastic velocities. ``xi`` (..., n +
        1) are 1 and the elastic coordinates; ``convection`` maps angular velocity to elastic rates."""
        body, d, n = self.body, self.body.dimension, self.body.elastic_count
        s, mass, result = body.first_moments, elastic_mass(body), np.zeros((*xi.shape[:-1], 6 + n, d + n))
        deformed = cross_products(moment_products(body, xi))[..., 1:]
        result[..., :d, :d], result[..., :3, d:] = body.mass * np.eye(d), s[:, 1:]
        result[..., 3:6, :d] = (cross_matrix(xi @ s.T) + (s[:, 1:] @ convection).mT)[..., :d]
        result[..., 3:6, d:] = deformed + (mass @ convection).mT
        result[..., 6:, :d], result[..., 6:, d:] = s[:d, 1:].T, mass
        return result

    def effort(self, x: Array) -> Array:
        """Return the efforts z of a floating body at states x, both (..., state_size), in the order of the states.
        For position, rotation and elastic coordinates, efforts are derivatives of kinetic plus gravitational
        energy. For velocities and stresses, they are these states themselves."""
        state = self.split(x)
        s, g = self.body.first_moments, self.gravity
        center = _prepended(1.0, state.displacement) @ s.T
        slope = BodyState(
            position=np.broadcast_to(-self.body.mass * g, state.position.shape),
            rotation=-g[:, None] * center[..., None, :],
            displacement=self.kinetic_slope(state) - (g @ state.rotation) @ s[:, 1:],
            velocity=state.velocity,
            angular_velocity=state.angular_velocity,
            elastic_velocity=state.elastic_velocity,
            stress=state.stress,
        )
        return self.joined(slope)

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient z of the stored energy H of a floating body between the states x0 and x1,
        shape (state_size,). The product z . E (x1 - x0), with E at the mean state, is exactly H(x1) - H(x0). It is
        the gradient at the mean state plus a correction of the elastic coordinates by differences of the kinetic
        energy's derivative."""
        middle, n = (x0 + x1) / 2, self.body.elastic_count
        z = self.effort(middle)
        if not n:
            return z
        mean, change = self.split(middle), self.split(x1 - x0)

        def slope(mean_share: float, change_share: float, shift: float) -> Array:
            """Return the derivative of the kinetic energy with respect to the elastic coordinates. The
            velocities are ``mean_share`` times the mean plus ``change_share`` times the change, the
            deformation is the mean plus ``shift`` times the change."""
            both = zip(_velocities(mean), _velocities(change), strict=True)
            v, w, rate = (mean_share * m + change_share * c for m, c in both)
            eta = mean.displacement + shift * change.displacement
            return self.kinetic_slope(
                replace(mean, displacement=eta, velocity=v, angular_velocity=w, elastic_velocity=rate)
            )

        bent = slope(1, 1, 1) - slope(1, 1, 0) - slope(1, -1, 1) + slope(1, -1, 0)
        z[self.state_slice("displacement")] += slope(0, 1, 0) / 4 + bent / 16
        return z

    def storage(self, x: Array) -> float:
        """Return the stored energy of a floating body in the state x [J]: kinetic energy plus elastic energy of the
        stresses minus the work of gravity."""
        return float(self.storages(x))

    def storages(self, x: Array) -> Array:
        """Return the stored energies of a floating body in many states x (..., state_size), shape (...) [J]:
        kinetic energy plus elastic energy of the stresses minus the work of gravity."""
        state, index = self.split(x), self.velocity_slice
        moving = np.where(np.arange(self.state_size) >= index.start, x, 0.0)
        quadratic = (moving * self.descriptor_products(x, moving)).sum(axis=-1) / 2
        center = _prepended(1.0, state.displacement) @ self.body.first_moments.T
        turned = (state.rotation @ center[..., None])[..., 0]
        return np.asarray(quadratic - (self.body.mass * state.position + turned) @ self.gravity)

    def efforts(self, x: Array) -> Array:
        """Return the efforts z of a floating body in T states x (T, n), shape (T, n): derivatives of the stored
        energy with respect to position, rotation and elastic coordinates, then velocities and stresses
        themselves."""
        return self.effort(x)

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """Return the products E(x) @ ``rate`` of the descriptor matrix of a floating body (masses and
        compliances), shape (T, n). States x and rates of states are those of T instants, both (T, n)."""
        return np.asarray((self.descriptor_matrix(x) @ rate[..., None])[..., 0])

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R) z + B u of the port-Hamiltonian equations of a floating body in T
        states, shape (T, n). States x and efforts z have shape (T, n), inputs u (T, m)."""
        result = (self.structure_matrix(x) - self.dissipation_matrix(x)) @ z[..., None]
        if u.any():
            result += self.port_matrix(x) @ u[..., None]
        return np.asarray(result[..., 0])

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the port outputs B^T z of a floating body for T states x and efforts z (T, n), shape (T, m):
        velocities at its ports."""
        return np.asarray((self.port_matrix(x).mT @ z[..., None])[..., 0])

    @property
    def velocity_slice(self) -> slice:
        """Slice of the state vector x of a floating body with its linear, angular and elastic velocities.
        Coordinates come before them, stresses after them."""
        end = self.state_size - self.stress_space.size
        return slice(end - self.body.velocity_count, end)

    def _elastic_rates(self, eta: Array) -> Array:
        """Return the matrix [0, N, I] of a floating body that gives the rates deta/dt of the elastic coordinates
        ``eta`` from its velocities. The result has the shape (..., n, 6 + n). The velocities are linear, angular
        and elastic; N is the matrix ``convection``."""
        n = self.body.elastic_count
        result = np.zeros((*eta.shape, 6 + n))
        result[..., 3:6], result[..., 6:] = self.convection(eta), np.eye(n)
        return result


def _velocities(state: BodyState) -> tuple[Array, Array, Array]:
    """Return the velocities in the state of a floating body, in body axes: linear (..., 3), angular (..., 3)
    and elastic (..., n)."""
    return state.velocity, state.angular_velocity, state.elastic_velocity


# A floating body as the paper has it in full: (12)-(15), (30) of Brugnoli et al. (2020).


@dataclass(frozen=True, eq=False)
class FullForm(FloatingBodyForm):
    """Port-Hamiltonian form of a floating body without approximations, whose mass matrix depends on the
    deformation; J has the momenta (13) and (14).

    Keeps energy, linear and angular momentum for any displacement in the span of Phi. For a rigid
    body this is Remark 3. The factors 2 stand for dM/dt and go together with the kinetic part of
    dH/du_f; neither is right without the other.
    """

    def inertia_displacement(self, eta: Array) -> Array:
        """Return the elastic coordinates at which the mass matrix of a floating body is evaluated, shape (..., n):
        here the given ``eta`` themselves, since the inertia depends on the deformation."""
        return eta

    def momentum_matrix(self, state: BodyState) -> Array:
        """Return the skew block of the structure matrix J of a floating body that couples its linear, angular and
        elastic velocities (gyroscopic forces). The shape is (..., 6 + n, 6 + n). Its entries are momenta of the
        deformed body. ``state`` has deformation and velocities."""
        linear, angular, coupling = momenta(self.body, state, 1.0)
        return gyroscopic_matrix(linear, angular, coupling, -coupling.mT)

    def kinetic_slope(self, state: BodyState) -> Array:
        """Return the derivative of the kinetic energy of a deformed floating body with respect to its n elastic
        coordinates, shape (..., n) [N]. These are generalized centrifugal and Coriolis forces, positive where they
        increase the coordinate. ``state`` has deformation and velocities in body axes."""
        body, w = self.body, state.angular_velocity
        products = moment_products(body, _prepended(1.0, state.displacement))
        turned = cross_products(moment_products(body, _prepended(0.0, state.elastic_velocity)))
        linear = np.cross(state.velocity, w) @ body.first_moments
        radial = (w * w).sum(axis=-1)[..., None] * np.einsum("...aai->...i", products)
        radial = radial - np.einsum("...a,...b,...abi->...i", w, w, products)
        return np.asarray(linear + radial - np.einsum("...k,...ki->...i", w, turned))[..., 1:]


def momenta(body: FloatingBody, state: BodyState, extra: float) -> tuple[Array, Array, Array]:
    """Return three momenta of a floating body in a state, in body axes, from which its gyroscopic matrix is made.
    They are linear momentum (..., 3), angular momentum (..., 3) and coupling (..., 3, n) for n elastic
    coordinates. The coupling is the integral of the momentum density (rigid part twice) cross the shape functions.
    The share of the elastic velocity is multiplied by 1 + ``extra``, in the coupling by 2 + ``extra``.

    ``p_t + e int rho v_f``, ``p_r + e int rho X x v_f`` and ``int (2 p_f + e rho v_f) x Phi`` with
    ``p_f = rho (v + w x X + v_f)``, ``X = x + u_f``; e = 1 gives (13) and (14).
    """
    v, w, rate = _velocities(state)
    rows = rigid_rows(body, state.displacement)
    moved = np.concatenate([v, w, (1 + extra) * rate], axis=-1)
    both = (rows @ moved[..., None])[..., 0]
    deforming = cross_products(moment_products(body, _prepended(0.0, rate)))[..., 1:]
    return both[..., :3], both[..., 3:], 2 * field_cross(body, v, w, state.displacement) + (2 + extra) * deforming


def field_cross(body: FloatingBody, v: Array, w: Array, eta: Array) -> Array:
    """Return the integrals int rho (v + w x X) x Phi_j over a floating body, shape (..., 3, n). They are density
    times rigid velocity (linear velocity v, angular velocity w) at the displaced position X, cross product with
    shape function j. ``eta`` are the elastic coordinates."""
    products = moment_products(body, _prepended(1.0, eta))
    along = np.einsum("...baj,...b->...aj", products, w)
    across = w[..., None] * np.einsum("...aaj->...j", products)[..., None, :]
    return np.asarray((cross_matrix(v) @ body.first_moments + along - across)[..., 1:])


def gyroscopic_matrix(linear: Array, angular: Array, rigid_elastic: Array, elastic_rigid: Array) -> Array:
    """Return the block of the structure matrix J of a floating body that couples its velocities: linear v, angular
    w and elastic. It has the shape (..., 6 + n, 6 + n) for n elastic coordinates. ``linear`` and ``angular``
    momenta (..., 3) enter as cross product matrices. ``rigid_elastic`` (rows of w) and ``elastic_rigid`` (columns
    of w) are copied; all other entries are zero."""
    n = rigid_elastic.shape[-1]
    result = np.zeros((*linear.shape[:-1], 6 + n, 6 + n))
    result[..., :3, 3:6] = result[..., 3:6, :3] = cross_matrix(linear)
    result[..., 3:6, 3:6] = cross_matrix(angular)
    result[..., 3:6, 6:], result[..., 6:, 3:6] = rigid_elastic, elastic_rigid
    return result


# A floating body whose inertia forgets the deformation; cf. (32)-(37) of Brugnoli et al. (2020).


@dataclass(frozen=True, eq=False)
class ZerothOrderForm(FloatingBodyForm):
    """Port-Hamiltonian form of a floating body with constant E, in which all momenta neglect the deformation; only
    to reproduce figures of the literature.

    Keeps the equations of motion of the straight body up to O(u_f): J_rf has 2 p_f + rho v_f and J_fr
    has p_f + rho v_f, without the kinetic part of dH/du_f. Loses the power balance (J is not skew:
    ``check_structure`` refuses it), the momenta, and everything that a deflection does to the inertia:
    a shaft that spins about its axis has wrong whirling frequencies. As printed, (34) has the factor 2
    in both and doubles the centrifugal load; no skew J with this E gives Newton's law.
    """

    def momentum_matrix(self, state: BodyState) -> Array:
        """Return the block of the structure matrix J of a floating body that couples its velocities, with momenta
        of the undeformed body. The shape is (..., 6 + n, 6 + n). It is not skew: the momentum of elastic
        velocities counts twice in rows of angular velocity, once in rows of elastic velocities. ``state`` has the
        velocities."""
        straight = replace(state, displacement=np.zeros_like(state.displacement))
        linear, angular, coupling = momenta(self.body, straight, 1.0)
        _, _, doubled = momenta(self.body, straight, 2.0)
        return gyroscopic_matrix(linear, angular, coupling, -doubled.mT / 2)

    @property
    def flaw(self) -> str:
        """Reason, as text, why the structure check refuses this port-Hamiltonian model of a floating body: its
        inertia neglects the deformation, and its structure matrix is not skew."""
        return (
            "zeroth order: the row of w holds 2 p_f + rho v_f, the rows of v_f hold p_f + rho v_f, right to first "
            "order in u_f and not skew"
        )


# A floating body with constant E: absolute elastic velocity, after (2) of Brugnoli et al. (note, 2019).


@dataclass(frozen=True, eq=False)
class ConstantMassForm(FloatingBodyForm):
    """Port-Hamiltonian form of a floating body whose elastic velocity is absolute, v_a = du_f/dt + w x u_f, so that
    E is constant.

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

    def convection(self, eta: Array) -> Array:
        """Return the matrix N in deta/dt = v_a + N w of a floating body with elastic coordinates ``eta``, shape
        (..., n, 3). w is the angular velocity. v_a are the absolute elastic velocities: deta/dt plus w x u_f
        projected on the shape functions, where u_f is the elastic displacement. N is linear in ``eta``."""
        columns = cross_products(moment_products(self.body, _prepended(0.0, eta)))[..., 1:].mT
        return np.asarray(-np.linalg.solve(elastic_mass(self.body), columns))

    def momentum_matrix(self, state: BodyState) -> Array:
        """Return the block of the structure matrix J of a floating body that couples its velocities, shape (..., 6
        + n, 6 + n). It is skew and has momenta of the undeformed body; elastic velocities are absolute, so that
        the couplings are half of those of the full model. ``state`` has the velocities."""
        straight = replace(state, displacement=np.zeros_like(state.displacement))
        linear, angular, doubled = momenta(self.body, straight, 0.0)
        return gyroscopic_matrix(linear, angular, doubled / 2, -doubled.mT / 2)


# A planar floating body as (32)-(37) of Brugnoli et al. (2020) print it; what is wrong with it: docs/errata.md.


@dataclass(frozen=True, eq=False)
class PrintedForm(FloatingBodyForm):
    """Port-Hamiltonian form of a planar floating body with E (33), J (34), B (35) and z (36) as printed in the
    paper, errors included.

    u_f is dropped from E, from the momenta in J and from the lever arms of the ports; (34) keeps the factor 2 of
    (14), but the effort of u_f has lost p_f x w, which that factor is there for (2.14 of docs/theory.md, 2). So the
    centrifugal load on the deformation is twice what it should be, the Coriolis load 3 instead of 2 rho v_f x w.
    J is skew, so p.M p / 2 balances, but that is not the energy: ``storage`` is H of (8), and ``check_structure``
    refuses the form because E^T z is not its gradient (16). A rigid body has none of these terms and is right.
    """

    def port_displacement(self, eta: Array) -> Array:
        """Return zeros in the shape of ``eta`` (..., n), the elastic coordinates for the moment arms of port
        forces of a floating body. The equations of the paper that this class follows neglect the deformation
        there."""
        return np.zeros_like(eta)

    def momentum_matrix(self, state: BodyState) -> Array:
        """Return the skew block of the structure matrix J of a planar floating body that couples its velocities,
        by equation (34) of the paper. Its shape is (..., 6 + n, 6 + n); momenta are those of the undeformed body.
        ``state`` has the velocities."""
        straight = replace(state, displacement=np.zeros_like(state.displacement))
        linear, angular, coupling = momenta(self.body, straight, 1.0)
        return gyroscopic_matrix(linear, angular, coupling, -coupling.mT)

    def storages(self, x: Array) -> Array:
        """Return the stored energies of a floating body in many states x, with the kinetic energy of the deformed
        body (equation (8) of the paper); shape (...) [J]."""
        full = FullForm(self.body, self.stress_space, self.gravity, self.fixed_rotation, self.locations)
        return full.storages(x)

    @property
    def flaw(self) -> str:
        """Reason, as text, why the structure check refuses the port-Hamiltonian model of a floating body as printed
        in the paper: its efforts are not derivatives of its energy."""
        return (
            "(32)-(37) as printed: u_f is dropped from the mass operator, so that the effort of u_f lacks p_f x w, "
            "while (34) keeps the factor 2 that stands for it"
        )


# Small motions of one body about rest; (45) of Brugnoli et al. (2020).

GENERALIZED_COORDINATES = ("position", "rotation_rows", "displacement")


def linearized(form: FloatingBodyForm) -> LinearPHDAE:
    """Return the linear port-Hamiltonian model of small motions about the undeformed state at rest, without
    gravity. States are velocities and stresses only. Descriptor, structure, dissipation and port matrix are the
    rows and columns for these states of the matrices of the nonlinear ``form``. Raise ``ModelError`` unless
    ``form`` is a ``FloatingBodyForm``.

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
    "velocity": StateGroup("linear_momentum", "kg m/s", 0),
    "angular_velocity": StateGroup("angular_momentum", "kg m^2/s", 0),
}


def with_momenta(form: FloatingBodyForm) -> "MomentumForm":
    """Return the port-Hamiltonian model of a rigid body with momenta in place of velocities as states. Its E is
    the identity, in dx/dt = J(x) dH/dx + B(x) u. Momenta are in body axes, about the body's origin; ports are
    unchanged. ``form`` is the body's model with velocities. A body with elastic coordinates raises ``ModelError``.

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
    """Port-Hamiltonian form of a rigid body with momenta as states, ``dx/dt = J(x) dH/dx + B(x) u``; made by
    ``with_momenta``.

    Attributes:
        form: the same body with velocities as states.
    """

    form: FloatingBodyForm
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _mass: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        states = tuple(
            replace(MOMENTA[block.name], size=block.size) if block.name in MOMENTA else block
            for block in self.form.states
        )
        mass = self.form.descriptor_matrix(np.zeros(self.form.state_size))
        set_fields(self, states=states, ports=self.form.ports, _mass=mass)

    def velocities(self, x: Array) -> Array:
        """Convert a state vector x of a rigid body with momenta p to the state vector with velocities M^-1 p
        instead, shape (states,). The mass matrix M is constant; position and rotation do not change."""
        return np.asarray(np.linalg.solve(self._mass, x))

    def momenta(self, x: Array) -> Array:
        """Convert a state vector x of a rigid body with velocities v to the state vector with momenta M v in
        their place, shape (states,); position and rotation do not change."""
        return np.asarray(self._mass @ x)

    def descriptor_matrix(self, x: Array) -> Array:
        """Return the descriptor matrix E, which multiplies dx/dt, of a rigid body with momenta as states: the
        identity, shape (n, n). It does not depend on the state x."""
        return np.eye(self.state_size)

    def structure_matrix(self, x: Array) -> Array:
        """Return the skew structure matrix J in dx/dt = J dH/dx + B u of a rigid body, shape (n, n). Its state x
        has momenta in place of velocities."""
        return self.form.structure_matrix(self.velocities(x))

    def dissipation_matrix(self, x: Array) -> Array:
        """Return the dissipation matrix R of a rigid body with momenta as states: zero, since a rigid body
        dissipates nothing, shape (n, n). It does not depend on the state x."""
        return np.zeros((self.state_size, self.state_size))

    def port_matrix(self, x: Array) -> Array:
        """Return the port matrix B in dx/dt = J dH/dx + B u of a rigid body, rates of unit inputs, shape (n, m).
        Its state x has momenta in place of velocities."""
        return self.form.port_matrix(self.velocities(x))

    def effort(self, x: Array) -> Array:
        """Return the gradient dH/dx of the stored energy of a rigid body whose states are position, rotation and
        momenta, shape (n,). It is computed from the velocities that belong to the momenta in x, by the same body's
        model with velocities as states. Its entries for the momenta are the linear and angular velocity."""
        return self.form.effort(self.velocities(x))

    def storage(self, x: Array) -> float:
        """Return the stored energy H of a rigid body whose state x has momenta in place of velocities [J]: kinetic
        energy minus the work of gravity."""
        return self.form.storage(self.velocities(x))


# Which port-Hamiltonian form a body is written in, and the one place that makes it.


class Variant(StrEnum):
    """Choice of the port-Hamiltonian form of a floating body: exact, with constant mass matrix, with undeformed
    inertia, or as printed.

    FULL: nothing neglected. CONSTANT_MASS: E constant, absolute elastic velocity. ZEROTH_ORDER: the deformation
    dropped from the inertia, power not kept. PRINTED: a planar body as printed in (32)-(37), which is wrong. See
    ``FullForm``, ``ConstantMassForm``, ``ZerothOrderForm``, ``PrintedForm``.
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
    """Return the port-Hamiltonian model of a discretized floating body in the chosen ``variant``: "full",
    "constant_mass", "zeroth_order" or "printed" (planar bodies only). Variants differ in how inertia depends on
    deformation. Force and moment ports are at the named ``locations``. ``gravity`` is in m/s^2 and world axes,
    ``stress`` are the stress states.

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
