"""One stored instant of a recording as a state."""

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.errors import ParameterError
from phlexible.system.layout import State
from phlexible.system.recording import Recording

SAME = 1e-9  # of the duration


def stored_state(recording: Recording, time: float) -> State:
    """The state at a stored instant.

    Raises:
        ParameterError: no number, or no instant is stored there.
    """
    time, times = finite("time", time), recording.time
    nearest = int(np.argmin(np.abs(times - time)))
    if abs(times[nearest] - time) > SAME * max(float(times[-1] - times[0]), 1e-300):
        around = ", ".join(f"{each:.9g}" for each in times[max(0, nearest - 1) : nearest + 2])
        raise ParameterError(f"no instant is stored at t = {time:g} s; the nearest ones are {around} s")
    return recording.state(nearest)
