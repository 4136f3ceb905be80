"""A rigid body with momenta as states: ``dx/dt = J(x) dH/dx``; Remark 3 of Brugnoli et al. (2020)."""

from dataclasses import dataclass, field, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.forms.floating import FloatingBodyForm
from phlexible.errors import ModelError
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock

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
        raise ModelError(f"with_momenta takes what body.port_hamiltonian() returned, got {form!r}")
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
