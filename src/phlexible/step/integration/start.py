"""Start of a run: checks that prescribed motion is continuous, and a state that the user sets."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.user_derivatives import Jump, as_text, find_jump, run_once
from phlexible.description.ground import CheckedPath, check_velocity, frame_positions, frame_rotations
from phlexible.description.joints.joints import Distance
from phlexible.description.ports import MovingFrame
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.state.branches import history_variable_count
from phlexible.state.initial_velocity import check_closure
from phlexible.state.layout import State
from phlexible.state.recorded_run import RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.reactions import projection
from phlexible.step.integration.recorder import recording_of

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

# What moves by itself in a run: frames and drives must not jump, and their rates must be theirs.

SMALLEST_JUMP = 1e-6  # of the longest length, or in radians
GOLDEN = 0.618033988749895  # the fractional parts of its multiples are spread evenly, in step with no period
CHECKED_SHARES = np.sort(np.arange(16) * GOLDEN % 1.0)  # of a run, at which rates are compared


def check_rates(system: System, begin: float, end: float) -> None:
    """Raise ``ParameterError`` if a rate that the user gave for a prescribed motion is not the derivative of its
    position. Prescribed motions are those of ground points (moving frames) and drives of a ``system``. Rates and
    difference quotients are compared at several times of a run from ``begin`` to ``end`` [s].

    Raises:
        ParameterError: says whose, where, and by how much.
    """
    times = begin + (end - begin) * CHECKED_SHARES
    for frame in system.moving_frames:
        check_velocity(frame, times)
    for path in system.paths:
        path.check_rate(times)


class JumpChecks:
    """Continuity checks of drives, prescribed lengths and moving frames of a system."""

    def __init__(self, system: System) -> None:
        length = SMALLEST_JUMP * system.largest_length + system.round_off
        self._checks: list[tuple[object, float, str, Callable[[Array], None]]] = []
        for drive in system.mechanism.drives:
            path, remedy = drive.path, "prescribe a ramp, or use a torque or force instead"
            smallest = SMALLEST_JUMP if drive.coordinate.endswith("angle") else length
            self._add(path.function, path.name, path.values_as_column, smallest, "a drive", remedy)
        lengths = [
            TimePath(joint.length, None, f"length of {joint}")
            for joint in system.mechanism.joints
            if isinstance(joint, Distance) and callable(joint.length)
        ]
        for path in (*lengths, *(each.element.path for each in system.forces if each.element.path is not None)):
            self._add(path.function, path.name, path.values_as_column, length, "a length")
        for frame in system.moving_frames:
            function = frame.path.function if isinstance(frame.path, CheckedPath) else None
            self._add(function, f"path of {frame}", partial(frame_positions, frame), length, "a moving frame")
            if frame.rotation is not None:
                self._add(None, f"rotation of {frame}", partial(_turns, frame), SMALLEST_JUMP, "a moving frame")

    def _add(
        self,
        function: object,
        name: str,
        values: Callable[[Array], Array],
        smallest: float,
        what: str,
        remedy: str = "prescribe a ramp",
    ) -> None:
        def refuse(instants: Array) -> None:
            if jump := find_jump(values, instants, smallest):
                raise _refusal(name, jump, what, remedy)

        self._checks.append((function, smallest, what, refuse))

    def check(self, instants: Array) -> None:
        """Raise ``ParameterError`` if a prescribed motion (drive, length of a joint, moving frame) jumps between
        the ``instants`` of the next time steps [s]. A check of the same function at the same instants is made only
        once.

        Raises:
            ParameterError: says what jumps, and when.
        """
        for function, smallest, what, refuse in self._checks:
            run_once([function], (smallest, what, instants.tobytes()), partial(refuse, instants))


def _turns(frame: MovingFrame, times: Array) -> Array:
    return frame_rotations(frame, times).reshape(-1, 9)


def _refusal(name: str, jump: Jump, what: str, remedy: str) -> ParameterError:
    values = "" if len(jump.before) == 9 else f" from {as_text(jump.before)} to {as_text(jump.after)}"
    return ParameterError(f"{name} jumps{values} at t = {jump.time:.9g} s; {what} must be continuous ({remedy})")


# Runs that begin with a state instead of the initial pose, and states that need no run.


def checked_initial_state(system: System, state: State) -> State:
    """Return the user's initial state with the nearest velocities, in the metric of kinetic energy, that satisfy
    the joints. Raise an error if the state does not fit the system or does not close the joints. History variables
    without entries become None.

    Raises:
        ModelError: a state of another model.
        JointGapError: joints are open in it.
    """
    layout = system.layout
    shapes = (state.position.shape, state.rotation.shape, state.eta.shape, state.velocity.shape)
    own = ((int(layout.carrier[-1]), 3), (layout.frames, 3, 3), (int(layout.eta[-1]),), (int(layout.velocity[-1]),))
    if shapes != own:
        raise ModelError(
            f"the initial state has {state.velocity.size} velocities and {state.eta.size} elastic coordinates, this"
            f" model {own[3][0]} and {own[2][0]}; take a state of the same model"
        )
    branches = state.branches if state.branches is not None and state.branches.size else None  # none: relaxed
    if branches is not None and len(branches) != history_variable_count(system):
        raise ModelError(
            f"the initial state has {len(branches)} history variables of laws, this model"
            f" {history_variable_count(system)}; take a state of the same model, or replace(state, branches=None)"
        )
    check_closure(system, state)
    return replace(state, velocity=projection(system.whole_phase, state).velocity, branches=branches)


def recorded_state(system: System, stepper: "Stepper", state: State) -> RecordedStates:
    """Start the ``stepper`` in a ``state`` at rest, and return the recorded state of the system as one instant.
    Its multipliers and forces are those at rest, whatever the rates of functions of time. Without a solution they
    are those that the stepper already has."""
    stepper.begin(state)
    rows, still = stepper.now(state.time), system.at_rest(state).prescribed
    recording = recording_of(system, stepper.work_sources, np.array([state.time]), rows, prescribed=still)
    stepper.stop_prescribed_motions(state.time)
    found = stepper.reactions(state.time, np.inf)()
    if found is not None:
        recording.multipliers[0], recording.forces[0] = found
    return recording
