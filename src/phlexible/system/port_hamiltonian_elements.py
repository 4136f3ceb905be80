"""Force elements of a mechanism as parts of its port-Hamiltonian model: storages, rows, inputs."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.time_paths import finite_number
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.element_forces import coordinate_row, scalar_forces
from phlexible.system.kinematics import Kinematics
from phlexible.system.state import Layout


class ElementForms:
    """The scalar forces of a mechanism; each has its coordinate theta as a state.

    Args:
        mechanism: with the elements.
        layout: of its velocities.

    Attributes:
        prescribed: names of the elements with a prescribed part.

    Raises:
        ModelError: a controller, which is no function of time.
    """

    def __init__(self, mechanism: Mechanism, layout: Layout) -> None:
        self._forces = scalar_forces(mechanism)
        self._layout = layout
        for element in mechanism.elements:
            if isinstance(element.value, Feedback):
                raise ModelError(f"{element} is a controller; the model has its torque as an input instead")
        self.prescribed = tuple(str(element) for element in mechanism.elements if element.is_active)
        self._active = [k for k, force in enumerate(self._forces) if force.value != 0]

    @property
    def count(self) -> int:
        """Number of scalar forces."""
        return len(self._forces)

    def rows(self, kinematics: Kinematics) -> Array:
        """d theta/d nu of all forces, shape (forces, velocities)."""
        result = np.zeros((len(self._forces), int(self._layout.velocity[-1])))
        for own, force in zip(result, self._forces, strict=True):
            row = coordinate_row(self._layout, kinematics, force.coordinate)
            np.add.at(own, row.columns, row.values)
        return result

    def prescribed_rows(self, kinematics: Kinematics) -> Array:
        """Those of the forces with a prescribed part."""
        return self.rows(kinematics)[self._active]

    def inputs(self, kinematics: Kinematics) -> tuple[Array, Array]:
        """What moving frames add to d theta/dt, shape (forces,), and the prescribed parts."""
        drifts = [coordinate_row(self._layout, kinematics, force.coordinate).drift for force in self._forces]
        for force, drift in zip(self._forces, drifts, strict=True):
            if force.damping and drift:
                raise ModelError(f"a damper on a moving frame ({force.coordinate.name}) has no place in R")
        values = [self._forces[k].value for k in self._active]
        numbers = [
            finite_number(value(kinematics.time), "force of an element", kinematics.time)
            if callable(value)
            else value
            for value in values
        ]
        return np.array(drifts, dtype=np.float64), np.array(numbers, dtype=np.float64)

    def slopes(self, thetas: Array) -> Array:
        """dU/dtheta of each force."""
        pairs = zip(self._forces, thetas, strict=True)
        return np.array([-force.conservative(float(theta)) for force, theta in pairs], dtype=np.float64)

    def energy(self, thetas: Array) -> float:
        """U of all forces [J]."""
        return sum(force.energy(float(theta)) for force, theta in zip(self._forces, thetas, strict=True))
