"""What events did in a run."""

from dataclasses import dataclass

import numpy as np

from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.recording import Recording


@dataclass(frozen=True)
class Happened:
    """An event of a run.

    Attributes:
        time: [s].
        what: in words.
        dissipated: energy that it took, in ``energy.dissipated`` from the next stored instant on [J].
    """

    time: float
    what: str
    dissipated: float

    def __str__(self) -> str:
        return f"t = {self.time:.6g} s: {self.what}, {self.dissipated:.6g} J dissipated"


def happened(recording: Recording, mechanism: Mechanism) -> tuple[Happened, ...]:
    """The events that happened, in their order."""
    times, losses = recording.event_times[-1], recording.event_losses[-1]
    order = sorted(np.flatnonzero(~np.isnan(times)).tolist(), key=lambda k: float(times[k]))
    return tuple(Happened(float(times[k]), str(mechanism.events[k]), float(losses[k])) for k in order)
