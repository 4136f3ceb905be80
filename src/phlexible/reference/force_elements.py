"""Force elements of a mechanism as parts of its port-Hamiltonian model: storages, rows, inputs."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.resisting.contacts import Contacts
from phlexible.system.forces import element_state, prescribed_part
from phlexible.system.instants import Instants
from phlexible.system.system import System

CLOSE = 1e-6


class ElementForms:
    """The scalar forces of a mechanism; each has its coordinate theta as a state.

    Args:
        system: with the elements.

    Attributes:
        prescribed: names of the elements with a prescribed part.
        active: their numbers.
        dampings: of all forces, shape (forces,).

    Raises:
        ModelError: a controller, which is no function of time.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._forces = [force for _, force in system.forces]
        for element in system.mechanism.elements:
            if isinstance(element, Contacts):
                raise ModelError(f"{element} has no force along a coordinate; write a Contact for each pair")
            if isinstance(element.value, Feedback):
                raise ModelError(f"{element} is a controller; the model has its torque as an input instead")
        for element, force in system.forces:
            if force.friction or (force.contact and force.contact.damping):
                raise ModelError(f"{element} loses energy by a law that has no place in R; only dampers do")
        self.prescribed = tuple(str(element) for element in system.mechanism.elements if element.is_active)
        self.dampings = np.array([force.damping for force in self._forces], dtype=np.float64)
        self.active = [k for k, force in enumerate(self._forces) if force.value != 0]

    @property
    def count(self) -> int:
        """Number of scalar forces."""
        return len(self._forces)

    def thetas(self, at: Instants) -> Array:
        """Their coordinates, angles between -pi and pi, shape (forces,)."""
        return element_state(self._system, at).theta if self._forces else np.zeros(0)

    def rates(self, at: Instants) -> tuple[Array, Array]:
        """d theta/d nu of all forces, shape (forces, velocities), and what moving frames add, shape (forces,)."""
        if not self._forces:
            return np.zeros((0, int(self._system.layout.velocity[-1]))), np.zeros(0)
        state = element_state(self._system, at)
        return np.asarray(state.rows.toarray()), state.drifts

    def inputs(self, time: float, drifts: Array) -> Array:
        """The prescribed parts."""
        for force, drift in zip(self._forces, drifts, strict=True):
            if force.damping and drift:
                raise ModelError(f"a damper on a moving frame ({force.coordinate.name}) has no place in R")
        return np.array([prescribed_part(self._forces[k], time) for k in self.active], dtype=np.float64)

    def slopes(self, thetas: Array) -> Array:
        """dU/dtheta of each force."""
        pairs = zip(self._forces, thetas, strict=True)
        return np.array([-force.conservative(float(theta)) for force, theta in pairs], dtype=np.float64)

    def secants(self, before: Array, after: Array) -> Array:
        """(U(after) - U(before)) / (after - before) of each force; dU/dtheta between them where they are close."""
        result = self.slopes((before + after) / 2)
        for k, (force, a, b) in enumerate(zip(self._forces, before, after, strict=True)):
            if abs(b - a) > CLOSE * max(abs(a), abs(b)):
                result[k] = (force.energy(float(b)) - force.energy(float(a))) / (b - a)
        return result

    def energy(self, thetas: Array) -> float:
        """U of all forces [J]."""
        return sum(force.energy(float(theta)) for force, theta in zip(self._forces, thetas, strict=True))
