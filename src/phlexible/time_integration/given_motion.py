"""What moves by itself in a run: frames and drives must not jump, and their rates must be theirs."""

from functools import partial

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.given_rates import Jump, find_jump, listed
from phlexible.errors import ParameterError
from phlexible.ports.attachments import MovingFrame
from phlexible.ports.ground import check_velocity, frame_positions, frame_rotations
from phlexible.system.system import System

SMALLEST_JUMP = 1e-6  # of the longest length, or in radians
CHECKED = 16  # times of a run at which rates are compared
GOLDEN = 0.618033988749895  # the fractional parts of its multiples are spread evenly, in step with no period


def check_rates(system: System, begin: float, end: float) -> None:
    """Refuses velocities of moving frames and rates of drives that are not those of their functions.

    Raises:
        ParameterError: says whose, where, and by how much.
    """
    shares = np.concatenate([[0.0], np.sort(np.arange(1, CHECKED) * GOLDEN % 1.0)])
    times = begin + (end - begin) * shares
    for frame in system.moving_frames:
        check_velocity(frame, times)
    for path in system.paths:
        path.check_rate(times)


def check_jumps(system: System, instants: Array) -> None:
    """Refuses drives and moving frames that jump between the instants of steps to come.

    Raises:
        ParameterError: says which, and when.
    """
    length = SMALLEST_JUMP * system.largest_length + system.round_off
    for drive in system.mechanism.drives:
        path = drive.path
        smallest = SMALLEST_JUMP if drive.coordinate.endswith("angle") else length
        if jump := find_jump(path.column_at, instants, smallest):
            raise _refusal(path.name, jump, "a drive", "prescribe a ramp, or use a torque or force instead")
    for frame in system.moving_frames:
        if jump := find_jump(partial(frame_positions, frame), instants, length):
            raise _refusal(f"path of {frame}", jump, "a moving frame", "prescribe a ramp")
        if frame.rotation is not None and (jump := find_jump(partial(_turns, frame), instants, SMALLEST_JUMP)):
            raise _refusal(f"rotation of {frame}", jump, "a moving frame", "prescribe a ramp")


def _turns(frame: MovingFrame, times: Array) -> Array:
    return frame_rotations(frame, times).reshape(-1, 9)


def _refusal(name: str, jump: Jump, what: str, remedy: str) -> ParameterError:
    values = "" if len(jump.before) == 9 else f" from {listed(jump.before)} to {listed(jump.after)}"
    return ParameterError(f"{name} jumps{values} at t = {jump.time:.9g} s; {what} must be continuous ({remedy})")
