"""Natural modes of a linear model: frequencies, damping ratios, shapes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import whole
from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import without_algebraic_states
from phlexible.linear_analysis.linearize import Linearization
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.complex_modes import lowest_complex_modes
from phlexible.linear_analysis.modes.symmetric_modes import lowest_symmetric_modes
from phlexible.linear_analysis.observed import ObservedPHDAE
from phlexible.ports.attachments import Attachment
from phlexible.system.small_motions import centred_motions, world_motions

ComplexArray = NDArray[np.complex128]

ZERO = 1e-9
LARGEST = 4000
SINGULAR = 1e-14


@dataclass(frozen=True, eq=False)
class Modes:
    """The lowest modes in the order of their frequencies; rigid modes come first, with frequency 0.

    Attributes:
        eigenvalues: s with Im s >= 0, shape (count,) [1/s]; imaginary for a lossless model. Each with
            Im s > 0 stands for itself and its conjugate, a rigid mode for a double zero.
        shapes: motions x of all coordinates with x.M x = 1, shape (n, count); complex with damping or
            gyroscopic terms.
        rigid_modes: number of motions without any stiffness.
        linearization: what they belong to; None for a reduced model.
    """

    eigenvalues: ComplexArray
    shapes: Array | ComplexArray
    rigid_modes: int
    linearization: Linearization | None = None

    @property
    def frequencies(self) -> Array:
        """|s|, shape (count,) [rad/s]."""
        return np.abs(self.eigenvalues)

    @property
    def damping_ratios(self) -> Array:
        """-Re s / |s|, shape (count,); 0 for rigid modes."""
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


def lowest_model_modes(model: ObservedPHDAE, count: int) -> Modes:
    """The lowest modes of a linear model; small ones need no second-order form.

    Raises:
        ParameterError: a count below 1.
    """
    if model.mechanics is not None:
        return lowest_modes(model.mechanics, count, model.linearization)
    whole("count", count)
    values, shapes = _first_order_modes(model)
    largest = float(np.abs(values).max(initial=0.0))
    upper = values.imag > -ZERO * largest
    values, shapes = values[upper], shapes[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    values = values[order]
    values = np.where(np.abs(values) <= ZERO * largest, 0.0, values)
    return Modes(values[:count], shapes[:, order][:, :count], int((values == 0).sum()))


def _first_order_modes(model: ObservedPHDAE) -> tuple[ComplexArray, ComplexArray]:
    """All finite eigenvalues; by a Hermitian problem where the model is lossless with positive energy."""
    if model.order > LARGEST:
        raise ModelError(
            f"modes of {model.order} states without mechanical form need dense matrices (at most {LARGEST}); "
            "take those of the model that linearize returned"
        )
    model = without_algebraic_states(model)
    E, A = model.descriptor.toarray(), model.system_matrix.toarray()
    if not model.dissipation.nnz:
        energy = model.energy_matrix.toarray()
        try:
            lower = linalg.cholesky((energy + energy.T) / 2, lower=True)
        except linalg.LinAlgError:
            pass
        else:
            Q = model.effort_matrix.toarray()
            half = linalg.solve_triangular(lower, Q.T @ A, lower=True)
            skew = linalg.solve_triangular(lower, half.T, lower=True).T
            omega, states = linalg.eigh(-1j * (skew - skew.T) / 2)
            return 1j * omega, linalg.solve_triangular(lower, states, lower=True, trans="T")
    if np.linalg.cond(E / np.abs(E).max(axis=1, keepdims=True)) > 1 / SINGULAR:
        raise ModelError("E is singular: some states have no inertia, and modes need a regular E")
    values, states = linalg.eig(A, E)
    return values, states
