"""A planar floating body as (32)-(37) of Brugnoli et al. (2020) print it; what is wrong with it: docs/errata.md."""

from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.bodies.forms.full import FullForm, gyroscopic_matrix, momenta


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
