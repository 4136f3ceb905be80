"""Natural modes of a linear model: frequencies, damping ratios, shapes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import whole
from phlexible.display.written import shortened
from phlexible.errors import ModelError
from phlexible.linear_analysis.linearize import Linearization
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.complex_modes import lowest_complex_modes
from phlexible.linear_analysis.modes.symmetric_modes import lowest_symmetric_modes
from phlexible.ports.attachments import Attachment
from phlexible.system.small_motions import centred_motions, world_motions

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Modes:
    """The lowest modes in the order of their frequencies; rigid modes come first, with frequency 0.

    Attributes:
        eigenvalues: s with Im s >= 0, shape (count,) [1/s]; imaginary for a lossless model. Each with
            Im s > 0 stands for itself and its conjugate, a rigid mode for a double zero.
        shapes: motions x of all coordinates with x.M x = 1, shape (n, count); complex with damping or
            gyroscopic terms. Of a model without second-order form: states of energy 1/2.
        rigid_modes: number of motions without any stiffness.
        self_stresses: number of constants of motion that are no motions: stresses in balance with themselves
            and with joints, which nothing that moves can change (docs/theory.md, 7). They are not among the
            eigenvalues.
        linearization: what they belong to; None for a reduced model.
    """

    eigenvalues: ComplexArray
    shapes: Array | ComplexArray
    rigid_modes: int
    linearization: Linearization | None = None
    self_stresses: int = 0

    def __repr__(self) -> str:
        listed = shortened([f"{omega:.5g}" for omega in self.frequencies])
        return f"{type(self).__name__}({listed} rad/s; {self.rigid_modes} rigid)"

    @property
    def frequencies(self) -> Array:
        """``|s|``, shape (count,) [rad/s]."""
        return np.abs(self.eigenvalues)

    @property
    def damping_ratios(self) -> Array:
        """-Re s / ``|s|``, shape (count,); 0 for rigid modes."""
        size = self.frequencies
        return np.asarray(-self.eigenvalues.real / np.where(size > 0, size, 1.0) + 0.0)

    @property
    def elastic_frequencies(self) -> Array:
        """The frequencies without those of rigid modes [rad/s]."""
        return np.asarray(self.frequencies[self.frequencies > 0])

    def displacement(self, attachment: Attachment) -> Array | ComplexArray:
        """Motion of a point in each mode, world axes, shape (count, 3) [m for x.M x = 1].

        Raises:
            ModelError: a body of another model, or the modes of a reduced model.
        """
        if self.linearization is None:
            raise ModelError("the shapes of a reduced model belong to no attachment; take those of the full one")
        return point_motions(self.linearization, attachment, self.shapes)


def point_motions(linear: Linearization, attachment: Attachment, shapes: Array | ComplexArray) -> Array:
    """World displacements of a point for columns of coordinates (n, k), shape (k, 3)."""
    system, state = linear.system, linear.point.state
    if attachment.placed not in system.index:
        raise ModelError(f"{attachment} is on a body of another model")
    weights, vectors = system.point(attachment)
    motion = world_motions(system, state) @ centred_motions(system, state)
    jacobian = sparse.kron(weights[None], sparse.eye_array(3)) @ vectors.jacobian(system.at(state)) @ motion
    return np.asarray((jacobian @ shapes).T)


def lowest_modes(mechanics: LinearMechanics, count: int, linear: Linearization | None = None) -> Modes:
    """The ``count`` lowest modes, rigid ones included; fewer where the model has fewer.

    Raises:
        ParameterError: a count below 1.
    """
    whole("count", count)
    if mechanics.is_gyroscopic or mechanics.is_damped:
        values, shapes, rigid = lowest_complex_modes(mechanics, int(count))
        return Modes(values, shapes, rigid, linear)
    modes = lowest_symmetric_modes(mechanics, int(count))
    roots = np.sqrt(modes.squares.astype(np.complex128))  # of an unstable motion: real
    growing = modes.squares < 0
    return Modes(np.where(growing, roots.imag, 1j * roots.real), modes.shapes, modes.rigid, linear)
