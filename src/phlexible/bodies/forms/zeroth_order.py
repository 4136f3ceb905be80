"""A floating body whose inertia forgets the deformation; cf. (32)-(37) of Brugnoli et al. (2020)."""

from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.bodies.forms.full import field_cross, gyroscopic_matrix, momenta, skew_moments


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
