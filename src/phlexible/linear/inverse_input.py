"""The input that moves an output as asked, also where the output is beyond a flexible link.

A force at one end of a flexible link moves the other end late, at first the wrong way: its zeros lie on both sides
of the imaginary axis (non-minimum phase), and an inverse that starts with the motion grows without bound. The
bounded inverse begins before the motion does: over all times, u(omega) = a(omega) / G(i omega). See S. Devasia,
D. Chen, B. Paden, *Nonlinear inversion-based output tracking*, IEEE Transactions on Automatic Control 41, 1996, and
E. Bayo, *A finite-element approach to control the end-point motion of a single-link flexible robot*, Journal of
Robotic Systems 4, 1987.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, called, check_callable, finite, non_negative, positive
from phlexible.errors import ModelError, ParameterError
from phlexible.linear.frequency_response import frequency_response
from phlexible.linear.observed import ObservedPHDAE

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
        """Return the computed input force or torque [N or N m] at a time [s] of a run that starts together with the
        input, i.e. ``lead`` before the prescribed motion begins."""
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
    """Compute the force or torque with which the single output of a linear model follows a ``path`` from rest to
    rest. The motion takes ``duration`` [s]; before and after it the path is constant. The function ``path`` is
    called with one time t at a time.

    The frequency response is inverted: the input is bounded, has values every ``step`` [s] and acts from ``lead``
    [s] before the motion to ``lead`` after it.

    Args:
        model: one input, and as output one acceleration that the input can change at frequency zero (a motion that
            no spring holds back): ``model.linearize(inputs=[hinge], outputs=[ph.Acceleration(tip, (0, 1, 0))])``.
        path: p(t) of the displacement that is asked for, 0 <= t <= duration, at rest at both ends [m or rad].
        duration: time that the motion takes [s].
        step: time between instants of the input [s]; the input holds frequencies up to pi / step.
        lead: time before and after the motion [s]; None: one duration.
        accuracy: share of the path that may be left out at its highest frequencies. Where the elements of a string
            or mesh carry no such waves to the output, inputs are great and do nothing: take 1e-5. 0: all above
            round-off.

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
    """Return the second time derivative of a path (function of time) at the given times ``time``, shape (N,),
    by central differences of fourth order. ``step`` is the time between values [s]. Before time 0 and after
    ``duration`` the path is at rest."""
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
    """Check that an input over time, ``force`` of shape (N,), has decayed to zero at both ends of its window,
    and raise a ``ParameterError`` otherwise. ``lead`` [s] is named in the message."""
    edge = max(1, int(EDGE * len(force)))
    greatest = np.abs(force).max()
    left = max(np.abs(force[:edge]).max(), np.abs(force[-edge:]).max()) / (greatest or 1.0)
    if left > LEFT_OVER:
        raise ParameterError(
            f"the input does not die out: {100 * left:.2g} % of it are left {lead:g} s before and after the motion;"
            " give a longer lead=, or, where it rings on however long that is (the output is where the input acts:"
            " zeros on the imaginary axis), let a drive of the joint move it, or give the model damping"
        )
