"""A floating body with constant E: absolute elastic velocity, after (2) of Brugnoli et al. (note, 2019)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.bodies.forms.full import field_cross, gyroscopic_matrix, skew_moments


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
        mass = np.einsum("aaij->ij", self.body.second_moments)[1:, 1:]
        columns = np.einsum("kij,j->ik", skew_moments(self.body)[:, 1:, 1:], eta)
        return np.asarray(np.linalg.solve(mass, columns)) if len(eta) else np.zeros((0, 3))

    def momentum_matrix(self, state: BodyState) -> Array:
        """[p_t], [p_r] and int p_f x Phi without factors 2."""
        body, v, w = self.body, state.velocity, state.angular_velocity
        first, second, skew = body.first_moments, body.second_moments, skew_moments(body)
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
