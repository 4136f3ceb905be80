"""Answer of the outputs to harmonic inputs: one sparse LU a frequency."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, reals
from phlexible.algebra.saddle import SaddlePoint, natural_scale
from phlexible.algebra.sparse import lu_factors
from phlexible.display import short_repr
from phlexible.errors import ModelError, ParameterError, PoleError, SingularMatrixError
from phlexible.linear.condensed import CondensedModel, condensed
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.observed import ObservedPHDAE

ComplexArray = NDArray[np.complex128]

ON_POLE = 1e-8
ROUND_OFF = 1e-14
AMPLIFIED = 1e-4
MOST = 1_000_000  # pairs of an input and an output


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Frequency response of a linear model: ``y = values[k] u`` for harmonic inputs ``u exp(i omega_k t)``.

    Attributes:
        frequencies: omega, shape (k,) [rad/s].
        values: complex amplitudes of the outputs for unit inputs, shape (k, outputs, inputs).
        inputs: names of the inputs.
        outputs: names of the outputs.
        input_units, output_units: units of the inputs and of the outputs; empty where they are not known.
    """

    frequencies: Array
    values: ComplexArray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...] = ()
    output_units: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def magnitude(self) -> Array:
        """Absolute values of this frequency response, shape (frequencies, outputs, inputs), in units of outputs
        over inputs."""
        return np.abs(self.values)

    @property
    def phase(self) -> Array:
        """Phase angles of this frequency response, unwrapped along the frequencies, shape (frequencies, outputs,
        inputs) [rad]."""
        return np.unwrap(np.angle(self.values), axis=0)


def frequency_response(model: ObservedPHDAE, omegas: ArrayLike) -> FrequencyResponse:
    """Compute the frequency response of a linear model at frequencies omega >= 0, shape (k,) [rad/s].

    Raises:
        ParameterError: frequencies that are negative or not finite, or a model without inputs or outputs.
        ModelError: more than a million pairs of an input and an output.
        PoleError: one of them is an undamped pole, to 1e-8 of itself.
    """
    frequencies = checked_frequencies(omegas)
    if not model.inputs or not model.outputs:
        raise ParameterError("a frequency response needs inputs and outputs: linearize(inputs=[...])")
    answered = len(model.inputs) * len(model.outputs)
    if answered > MOST:
        raise ModelError(
            f"a response of {len(model.outputs)} outputs to {len(model.inputs)} inputs is too large (at most "
            f"{MOST:g} pairs); choose some: frequency_response(frequencies, inputs=[...], outputs=[...])"
        )
    solver = _solver(model)
    values = np.array([solver.response(float(omega)) for omega in frequencies])
    shape = (len(frequencies), len(model.outputs), len(model.inputs))
    units = tuple(port.input_unit for port in model.ports for _ in range(port.size))
    return FrequencyResponse(
        frequencies, values.reshape(shape), model.inputs, model.outputs, units, model.output_units
    )


def _solver(model: ObservedPHDAE) -> "_SecondOrder | _FirstOrder | _Motions":
    if model.mechanics is not None:
        return _SecondOrder(model.mechanics)
    motions = condensed(model)
    return _FirstOrder(model) if motions is None or not motions.is_direct else _Motions(motions)


def checked_frequencies(omegas: ArrayLike) -> Array:
    """Check that the user's frequencies ``omegas`` are finite and not negative, and return them as an array,
    shape (k,) [rad/s]; raise a ``ParameterError`` otherwise.

    Raises:
        ParameterError: frequencies that are negative or not finite.
    """
    frequencies = np.atleast_1d(reals("frequencies", omegas))
    if frequencies.ndim != 1 or not np.isfinite(frequencies).all() or (frequencies < 0).any():
        raise ParameterError(f"frequencies must be finite and not negative, shape (k,), got {omegas!r}")
    return frequencies


def harmonic_responses(mechanics: LinearMechanics, omega: float) -> ComplexArray:
    """Return the complex amplitudes of all coordinates of a second-order model (``mechanics``) for unit
    harmonic inputs of angular frequency ``omega`` [rad/s], shape (n, inputs).

    Raises:
        PoleError: an undamped pole.
    """
    return _SecondOrder(mechanics).answers(omega)


class _SecondOrder:
    """Solver of the frequency response of a second-order mechanical model with constraints. It works in real
    numbers where there is no damping.

    K is complex where laws creep.
    """

    def __init__(self, mechanics: LinearMechanics) -> None:
        self._mechanics = mechanics
        self._scale = scale = natural_scale(mechanics.mass)
        size = sparse.diags_array(scale)
        self._stiffness, self._mass, rates = (
            sparse.csr_array(size @ matrix @ size)
            for matrix in (mechanics.stiffness, mechanics.mass, mechanics.velocity + mechanics.damping)
        )
        self._rates = rates if rates.nnz else None
        self._rough = abs(self._stiffness)
        self._inner = [(each, sparse.csr_array(size @ each.fast_stiffness @ size)) for each in mechanics.inner]
        self._ties = sparse.csr_array(mechanics.constraint_matrix @ size)
        self._forces, self._rows = scale[:, None] * mechanics.forces, mechanics.rows * scale

    def answers(self, omega: float) -> ComplexArray:
        return np.asarray(self._scale[:, None] * self._harmonic(omega))

    def response(self, omega: float) -> ComplexArray:
        factors = (1j * omega) ** np.array(self._mechanics.differentiations)
        return np.asarray(factors[:, None] * (self._rows @ self._harmonic(omega)))

    def _harmonic(self, omega: float) -> ComplexArray:
        dynamic = self._stiffness - omega**2 * self._mass
        if self._rates is not None:
            dynamic = dynamic + 1j * omega * self._rates
        for each, quick in self._inner:
            dynamic = dynamic + each.stiffness_fraction(1j * omega) * quick
        x = self._solve(sparse.csr_array(dynamic), omega)
        self._check_pole(x, omega)
        return x

    def _solve(self, dynamic: sparse.csr_array, omega: float) -> ComplexArray:
        try:
            x, _ = SaddlePoint(dynamic, self._ties, scale=np.ones(len(self._scale))).solve(self._forces)
        except SingularMatrixError:
            raise _pole(omega) from None
        return np.asarray(x)

    def _check_pole(self, x: ComplexArray, omega: float) -> None:
        """Raise a ``PoleError`` if the response x of a second-order model, shape (n, inputs), at angular frequency
        ``omega`` [rad/s] is that of an undamped resonance: the work of the inputs is then tiny compared with the
        energy."""
        if not np.isfinite(x).all():
            raise _pole(omega)
        work = np.abs(np.einsum("ij,ij->j", x.conj(), self._forces))
        kinetic = omega**2 * np.einsum("ij,ij->j", x.conj(), self._mass @ x).real
        size = np.abs(x)
        rough = np.einsum("ij,ij->j", size, self._rough @ size)
        potential = np.abs(np.einsum("ij,ij->j", x.conj(), self._stiffness @ x))
        near = (work < ON_POLE * (kinetic + potential)) | (work < ROUND_OFF * rough)
        if omega:  # at a zero of the response the work vanishes, too, but motions are not large
            force = np.linalg.norm(self._forces, axis=0)
            near &= force < AMPLIFIED * omega**2 * np.linalg.norm(x, axis=0)
        if (near & (size.max(axis=0) > 0) & (work > 0)).any():
            raise _pole(omega)


class _Motions:
    """Solver of the frequency response of a model of velocities and stresses, by its second-order form."""

    def __init__(self, motions: CondensedModel) -> None:
        self._motions = motions
        self._solver = _SecondOrder(replace(motions.mechanics, forces=motions.forces.toarray()))
        self._levels = np.array(motions.model.differentiations)[:, None]

    def response(self, omega: float) -> ComplexArray:
        velocity_rows, stress_rows = self._motions.seen
        x = self._solver.answers(omega)
        return np.asarray((1j * omega) ** self._levels * (1j * omega * (velocity_rows @ x) + stress_rows @ x))


class _FirstOrder:
    """Solver of the frequency response of a first-order port-Hamiltonian model, ``E dx/dt = (J - R) Q x + B u``."""

    def __init__(self, model: ObservedPHDAE) -> None:
        self._model = model
        self._system = model.system_matrix
        self._forces = model.port_map.toarray()
        self._work = (model.effort_matrix.T @ model.port_map).toarray()

    def response(self, omega: float) -> ComplexArray:
        model = self._model
        matrix = sparse.csc_matrix(1j * omega * model.descriptor - self._system)
        try:
            x = lu_factors(matrix).solve(self._forces.astype(np.complex128))
        except SingularMatrixError:
            raise _pole(omega) from None
        work = np.abs(np.einsum("ij,ij->j", x.conj(), self._work))
        energy = omega * np.einsum("ij,ij->j", x.conj(), model.energy_matrix @ x).real
        z = np.abs(model.effort_matrix @ x)
        rough = np.einsum("ij,ij->j", z, abs(model.structure) @ z)
        near = (work < ON_POLE * energy) | (work < ROUND_OFF * rough)
        if omega:
            momentum = np.linalg.norm(model.descriptor @ x, axis=0)
            near &= np.linalg.norm(self._forces, axis=0) < AMPLIFIED * omega * momentum
        if not np.isfinite(x).all() or (near & (work > 0)).any():
            raise _pole(omega)
        factors = (1j * omega) ** np.array(model.differentiations)
        return np.asarray(factors[:, None] * (model.output_matrix @ x))


def _pole(omega: float) -> PoleError:
    return PoleError(
        f"{omega:.10g} rad/s is an undamped pole, where the response is not bounded; leave it out, "
        "or give the model damping (Material(viscosity=...), Beam(damping_ratio=...))"
    )
