"""Answer of the outputs to harmonic inputs, one sparse LU a frequency; the input that moves an output as asked."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, called, check_callable, finite, non_negative, positive, reals
from phlexible.algebra.sparse import SaddlePoint, lu_factors, natural_scale
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
    """Return the frequency response of a linear model at frequencies ``omegas`` >= 0, shape (k,) [rad/s]. It has
    complex outputs for unit harmonic inputs, shape (k, outputs, inputs). Each frequency is one sparse or dense
    solve. Raise ``ParameterError`` without inputs or outputs, ``ModelError`` for more than a million pairs of
    both, ``PoleError`` at an undamped resonance.

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
        """Raise ``PoleError`` if the response x (n, inputs) of a second-order model at ``omega`` [rad/s] shows an
        undamped resonance. It does if x is not finite, or if the work of an input is tiny compared with kinetic
        plus potential energy of its response. For omega other than zero, inertia forces must also be much larger
        than the input force."""
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


# The input that moves an output as asked, also where the output is beyond a flexible link.
#
# A force at one end of a flexible link moves the other end late, at first the wrong way: its zeros lie on both
# sides of the imaginary axis (non-minimum phase), and an inverse that starts with the motion grows without bound.
# The bounded inverse begins before the motion does: over all times, u(omega) = a(omega) / G(i omega). See S.
# Devasia, D. Chen, B. Paden, *Nonlinear inversion-based output tracking*, IEEE Transactions on Automatic Control
# 41, 1996, and E. Bayo, *A finite-element approach to control the end-point motion of a single-link flexible
# robot*, Journal of Robotic Systems 4, 1987.

NEGLIGIBLE = 1e-9  # of the spectrum of the acceleration
ROUGH = 1e-4  # of the same at the highest frequency: the motion is not resolved by the step
LEFT_OVER = 1e-3  # of the input at both ends of the window
EDGE = 0.02  # of the window
COARSEST = 0.1  # share of the path that may be left out
MOST_INSTANTS = 1_000_000


@dataclass(frozen=True, eq=False)
class InverseInput:
    """Force or torque over time that moves an output along a path; zero outside of its window.

    Attributes:
        time: instants from ``-lead`` to ``duration + lead``, shape (N,) [s].
        force: value of the input at each instant, shape (N,) [N or N m].
        lead: time for which the input acts before the motion begins and after it has ended [s].
    """

    time: Array
    force: Array
    lead: float

    def __call__(self, time: float) -> float:
        """Return the computed input force or torque [N or N m] at a time [s] counted from the beginning of the
        prescribed motion, interpolated linearly; zero outside its window."""
        return float(np.interp(time, self.time, self.force, left=0.0, right=0.0))

    def delayed(self, time: float) -> float:
        """Return the computed input force or torque [N or N m] at a ``time`` [s] counted from the start of a run.
        The run begins together with the input, which is ``lead`` [s] before the prescribed motion begins."""
        return self(time - self.lead)


def inverse_input(
    model: ObservedPHDAE,
    path: Callable[[float], float],
    duration: float,
    step: float,
    lead: float | None = None,
    *,
    accuracy: float = 0.0,
) -> InverseInput:
    """Return the force or torque over time with which the single output of a linear model follows a ``path`` from
    rest to rest. The Fourier transform of the path's acceleration is divided by the frequency response; high
    frequencies with less than the share ``accuracy`` are dropped. The motion takes ``duration``; for ``lead``
    before and after (None: as long) the path is constant. Raise ``ParameterError`` if the input does not decay
    there.

    The frequency response is inverted: the input is bounded, has values every ``step`` [s] and acts from ``lead``
    [s] before the motion to ``lead`` after it.

    Args:
        model: one input, and as output one acceleration that the input can change at frequency zero (a motion that
            no spring holds back): ``model.linearize(inputs=[hinge], outputs=[ph.Acceleration(tip, (0, 1, 0))])``.
        path: p(t) of the displacement that is asked for, 0 <= t <= duration, at rest at both ends [m or rad].
        duration: time that the motion takes [s].
        step: time between instants of the input [s]; the input holds frequencies up to pi / step.
        lead: time before and after the motion [s]; None: one duration.
        accuracy: fraction of the path that may be left out at its highest frequencies. Where the elements of a
            string or mesh carry no such waves to the output, inputs are great and do nothing: take 1e-5. 0: all
            above round-off.

    Raises:
        ParameterError: no function, numbers out of range, a path that is too rough for the step, or an input
            that does not die out within the lead: the zeros are then on the imaginary axis or close to it, and a
            drive of the joint is the way.
        FunctionError: the path raised.
        ModelError: another number of inputs or outputs, or an output that is no acceleration.
        PoleError: an undamped pole at one of the frequencies.
    """
    _check_model(model)
    check_callable("path", path, "t")
    last, h = positive("duration", duration), positive("step", step)
    margin = last if lead is None else positive("lead", lead)
    share = non_negative("accuracy", accuracy)
    if share >= COARSEST:
        raise ParameterError(f"accuracy must be below {COARSEST:g}, such as 1e-5, got {accuracy!r}")
    if h > last / 10:
        raise ParameterError(f"step must be at most a tenth of the duration of {last:g} s, got {step!r}")
    if (last + 2 * margin) / h > MOST_INSTANTS:
        raise ParameterError(
            f"duration={last:g} s and twice the lead of {margin:g} s are more than {MOST_INSTANTS} steps of {h:g}"
            " s; take a larger step, or a shorter duration or lead"
        )
    before = int(np.ceil(margin / h))
    time: Array = h * np.arange(-before, int(np.ceil(last / h)) + before + 1).astype(np.float64)
    asked = _accelerations(path, time, last, h)

    spectrum, omega = np.fft.rfft(asked), 2 * np.pi * np.fft.rfftfreq(len(time), h)
    size = np.abs(spectrum)
    if size[len(size) * 9 // 10 :].max() > ROUGH * size.max():
        raise ParameterError(
            f"path is too rough for a step of {h:g} s: its acceleration jumps or changes within few steps; smooth"
            " it at both ends of the duration, or take a smaller step"
        )
    moved = np.zeros(len(size))
    moved[1:] = size[1:] / omega[1:] ** 2  # the spectrum of the path
    above = np.cumsum(moved[::-1])[::-1]
    counts = np.flatnonzero((size > NEGLIGIBLE * size.max()) & (above > share * above[0]))
    counts = counts[counts > 0]
    answers = np.zeros(len(omega), dtype=np.complex128)
    answers[counts] = spectrum[counts] / frequency_response(model, omega[counts]).values[:, 0, 0]
    force = np.fft.irfft(answers, len(time))
    force -= force[0]  # constant forces move a free output without end; at rest there is none
    _check_ends(force, margin)
    return InverseInput(time, force, before * h)


def _check_model(model: object) -> None:
    if not isinstance(model, ObservedPHDAE) or len(model.inputs) != 1 or len(model.outputs) != 1:
        raise ModelError(
            "an inverse input is that of a linear model with one input and one output:"
            f" model.linearize(inputs=[...], outputs=[ph.Acceleration(...)]), got {model!r}"
        )
    if model.differentiations[0] != 1:
        raise ModelError(f"the output must be an acceleration, such as ph.Acceleration, got {model.outputs[0]}")


def _accelerations(path: Callable[[float], float], time: Array, duration: float, step: float) -> Array:
    """Return the second time derivative of a user's ``path`` (scalar function of time) at equally spaced times
    ``time``, shape (N,). Central differences of fourth order with the spacing ``step`` [s] are used. Before
    time 0 and after ``duration``, the path keeps its end values. Raise ``ParameterError`` for values that are
    not finite."""
    further = np.concatenate([time[:2] - 2 * step, time, time[-2:] + 2 * step])
    values = np.array(
        [
            finite(f"path({t:g})", called(path, "path", t, at=f"at t = {t:g} s"))
            for t in np.clip(further, 0.0, duration).tolist()
        ]
    )
    weights = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12 * step**2)
    return np.convolve(values, weights, "valid")


def _check_ends(force: Array, lead: float) -> None:
    """Raise ``ParameterError`` if an input over time, ``force`` (N,), has not decayed at both ends of its window.
    The largest absolute value near the ends may be only a small share of the largest of all. ``lead`` [s] is the
    time before and after the motion, named in the message."""
    edge = max(1, int(EDGE * len(force)))
    greatest = np.abs(force).max()
    left = max(np.abs(force[:edge]).max(), np.abs(force[-edge:]).max()) / (greatest or 1.0)
    if left > LEFT_OVER:
        raise ParameterError(
            f"the input does not die out: {100 * left:.2g} % of it are left {lead:g} s before and after the motion;"
            " give a longer lead=, or, where it rings on however long that is (the output is where the input acts:"
            " zeros on the imaginary axis), let a drive of the joint move it, or give the model damping"
        )
