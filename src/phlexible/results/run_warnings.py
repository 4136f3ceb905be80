"""Warnings at the end of a run: of steps, limits of bodies, and unstable sampled controllers."""

from contextlib import suppress
from dataclasses import replace
from types import FunctionType

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.stress_space import StressContinuity
from phlexible.description.interactions.feedback import Feedback, LinearController
from phlexible.description.interactions.force_elements import JointElement
from phlexible.description.interactions.loads import Force, Torque
from phlexible.description.interactions.state_force import FeedbackPart
from phlexible.description.joints.joint import Joint
from phlexible.errors import EquilibriumError, StepWarning, warn_user
from phlexible.linear.equilibria import OperatingKind
from phlexible.linear.first_order import state_space_matrices
from phlexible.linear.linearize import Form, linearization
from phlexible.linear.observed import observed_linearization
from phlexible.linear.signals import Input, JointForce
from phlexible.measure.quality import findings
from phlexible.measure.sensors import JointPosition, JointRate, JointSensor, PointSensor
from phlexible.results.closed_loop import closed_loop
from phlexible.results.motion import Motion
from phlexible.state.forces import controllers

GROWN = 10.0  # of a small motion over the run, by the poles
MOST_COORDINATES = 300
DIFFERENCE = 1e-4


def unstable_loop_warning(motion: Motion) -> str:
    """Return the text of a warning if the only sampled controller of the motion makes the closed loop unstable
    with its sampling period. The loop is linearized near the start. Return empty text if the loop is stable or
    cannot be linearized."""
    with suppress(Exception):  # no linear model, or a function that raises: nothing is known
        return _unstable_loop(motion)
    return ""


def _unstable_loop(motion: Motion) -> str:
    system = motion.run.system
    acting: list[tuple[int, Input, Feedback, str]] = []
    for part, law in controllers(system):
        along = law.direction if isinstance(law, FeedbackPart) else None
        if isinstance(part, JointElement) and isinstance(part.joint, Joint):
            signal: Input = JointForce(part.joint, part.coordinate)
        elif isinstance(part, Force | Torque) and along is not None:
            signal = replace(part, value=along, name=None)
        else:
            return ""
        acting.append((law.begin if isinstance(law, FeedbackPart) else 0, signal, law, str(part)))
    acting.sort(key=lambda each: each[0])
    if len({id(getattr(each, "whole", each)) for _, _, each, _ in acting}) != 1 or not acting[0][2].period:
        return ""
    feedback = acting[0][2]
    measured = [sensor for item in feedback.measured for sensor in _sensors(item)]
    seen = [sensor for sensor in measured if sensor is not None]
    if int(system.layout.velocity[-1]) > MOST_COORDINATES or not seen or len(seen) < len(measured):
        return ""
    if feedback.law is None:
        gains = _gains(feedback, np.concatenate([np.ravel(motion[each])[:1] for each in seen]))
        if gains is None:
            return ""
        feedback = replace(feedback, controller=gains, vjp=None, jvp=None)
    inputs = [each for _, each, *_ in acting]
    for kind in (OperatingKind.GIVEN, OperatingKind.UNLOADED):
        with suppress(EquilibriumError):
            linear = linearization(system, inputs, seen, kind)
            break
    plant = state_space_matrices(observed_linearization(linear, Form.DISPLACEMENT, StressContinuity.DISCONTINUOUS))
    loop = closed_loop(plant, feedback, None, None, False, None)
    growth, period = float(np.abs(loop.poles).max(initial=0.0)), float(feedback.period or 0.0)
    if growth ** (motion.time[-1] / period) < GROWN:
        return ""
    return (
        f"the loop of {acting[0][3]}, sampled every {period:g} s, is unstable: small motions about the initial pose"
        f" grow {growth:.4g} times from sample to sample, whatever the step; give smaller gains or a shorter period"
        " (linear.interconnect(controller).poles)"
    )


def _sensors(item: object) -> list[PointSensor | JointSensor | None]:
    """Return a list of sensors for the values that a controller measures of ``item``: position and rate of each
    coordinate of a joint, or the sensor itself. The list is [None] if a linear model cannot measure them."""
    if isinstance(item, Joint):
        return [kind(item, k) for k in range(len(item.coordinate_names)) for kind in (JointPosition, JointRate)]
    return [item if isinstance(item, PointSensor | JointSensor) and item.count == 1 else None]


def _gains(feedback: Feedback, measured: Array) -> LinearController | None:
    """Return the gains of the controller function of ``feedback`` as a linear controller without states, by
    central differences. They are taken about the first measured values ``measured``, or the target minus these.
    Return None if the controller is no plain Python function, or if differences with full and half step size
    disagree by more than 1e-6 (relative)."""
    if not isinstance(feedback.controller, FunctionType):
        return None
    given = measured if feedback.target is None else feedback.target_at(0.0) - measured

    def slopes(size: float) -> Array:
        steps = size * np.eye(len(given))
        pairs = [[np.ravel(feedback.controller(0.0, given + sign * each)) for sign in (1, -1)] for each in steps]
        return np.array([(up - down) / (2 * size) for up, down in pairs], dtype=np.float64).T

    D, other = slopes(DIFFERENCE), slopes(DIFFERENCE / 2)
    if not np.allclose(D, other, rtol=1e-6, atol=1e-6 * np.abs(D).max(initial=0.0)):
        return None
    none, n = np.zeros((0, 0)), len(given)
    return LinearController(none, np.zeros((0, n)), np.zeros((len(D), 0)), D, True, feedback.period)


def attach_motion(motion: Motion | None, error: BaseException) -> None:
    """Store the motion that was computed before an error as the attribute ``motion`` of the ``error``, and add
    notes with likely causes to it. The causes are an unstable control loop and all warnings about the motion.
    Nothing is done if ``motion`` is None."""
    if motion is None:
        return
    error.motion = motion  # type: ignore[attr-defined]
    error.add_note("What was computed before is in the attribute .motion of this error.")
    if unstable := unstable_loop_warning(motion):
        error.add_note(unstable)
    with suppress(Exception):  # the first error says more
        for text, _ in findings(motion.run):
            error.add_note(text)


def warn_about_run(motion: Motion, steps: int | None) -> Motion:
    """Warn the user of problems of a run and return its ``motion``, to whose warnings the texts are appended.
    Problems are an interruption, too long time steps and bodies beyond the limits of their models. If there are
    any and a controller makes the loop unstable, only this is reported, since it explains the others."""
    try:
        interrupted = f"the run was interrupted at t = {motion.time[-1]:.9g} s: it ends there"
        found: list[tuple[str, type[Warning]]] = [] if motion.is_complete else [(interrupted, StepWarning)]
        found += findings(motion.run, steps or None)
        if found and (unstable := unstable_loop_warning(motion)):
            found = [(unstable, StepWarning)]  # which explains the others
        motion.run.warnings.extend(text for text, _ in found)
        for text, category in found:
            warn_user(text, category)
    except Exception as error:  # also a warning that the user has made an error
        error.motion = motion  # type: ignore[attr-defined]
        raise
    return motion
