"""A floating body as the paper has it in full: (12)-(15), (30) of Brugnoli et al. (2020)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm


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
        first, second = body.first_moments, body.second_moments
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
    first, second = body.first_moments, body.second_moments
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
    first, second = body.first_moments, body.second_moments
    along = np.einsum("i,abij,b->aj", xi, second, w)
    across = np.outer(w, np.einsum("i,aaij->j", xi, second))
    return np.asarray((cross_matrix(v) @ first + along - across)[:, 1:])


def skew_moments(body: FloatingBody) -> Array:
    """Z_k = int rho (Psi_i x Psi_j)_k, shape (3, n + 1, n + 1)."""
    w = body.second_moments
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
