"""The same motion in other ways: from a start that is kicked a little, and there and back."""

import numpy as np

import phlexible as ph
from fuzz.case import Case
from phlexible.state.layout import State
from phlexible.state.redundancy import redundancies
from phlexible.step.assembly.assembly import assemble
from phlexible.step.integration.step_calls import completed
from phlexible.step.integration.stepper import Stepper
from phlexible.step.integration.stored_rows import Storage

Array = np.ndarray
Places = tuple[Array, Array]  # positions of the carriers (times, carriers, 3) [m] and their rotations

KICK = 1e-9


class Twin:
    """Takes the steps of a case again from the start of its motion, without halving any."""

    def __init__(self, case: Case, motion: ph.Motion) -> None:
        system, start = motion.run.system, motion.recording.state(0)
        order = case.options.get("order", 2)
        damping = case.options.get("numerical_damping", 0.0)
        self._stepper = Stepper(assemble(system), order, damping, bool(redundancies(system, start)))
        self._times, self._step, self._start = motion.time, case.step, start
        speed = np.abs(motion.recording.velocity).max(initial=0.0)
        noise = np.random.default_rng(0).normal(size=start.velocity.shape)
        self._kick = KICK * noise * max(speed, system.reach / motion.time[-1])

    def kicked(self) -> Places | None:
        """Where bodies are at the ends of all steps after a kick at the start; None: a step fails."""
        start = self._start
        kicked = State(start.time, start.position, start.rotation, start.eta, start.velocity + self._kick)
        self._stepper.begin(kicked)
        return self._places()

    def there_and_back(self, is_kicked: bool = False) -> Places | None:
        """Where they are at the starts of all steps on the way back, maybe kicked before it; None: as above."""
        self._stepper.begin(self._start)
        if self._places() is None:
            return None
        velocity = self._stepper.memory["velocity"]
        velocity[:] = is_kicked * self._kick - velocity
        found = self._places()
        return None if found is None else (found[0][::-1], found[1][::-1])

    def _places(self) -> Places | None:
        taken = completed(self._stepper.advance(self._times, self._step, Storage()))
        if taken.steps < len(self._times) - 1:
            return None
        return taken.rows["position"], taken.rows["rotation"]
