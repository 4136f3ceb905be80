"""How often steps may be halved, and what is said where they are halved without end."""

from typing import TYPE_CHECKING

import numpy as np

from phlexible.errors import ConvergenceError, ParameterError
from phlexible.step.integration.stored_rows import Advance

if TYPE_CHECKING:
    from phlexible.step.integration.conserving import ConservingStepper

MOST_HALVINGS = 20  # of one step, one inside the other: a step of 1e4 wave times comes down to a hundredth of one
PATIENCE = 4  # pieces of one size that must succeed before pieces of twice the size are tried again
MOST_PIECES = 2**16  # of halved steps, beyond those that each step may have:
PIECES_OF_A_STEP = 256
BETWEEN_LOOKS = 8  # pieces after which bodies are looked at
TRIALS_OF_A_PIECE = 4  # that forces of the state take where they do not jump
ABSURD = 10.0  # elastic displacement over the size of a body


class Pieces:
    """Counts pieces of halved steps, and looks at the bodies now and then.

    Args:
        stepper: takes them.
        most: of them in a single step; None: ``MOST_PIECES`` beyond those that each step may have.
    """

    def __init__(self, stepper: "ConservingStepper", most: int | None = None) -> None:
        self._stepper, self._most = stepper, most
        self._count, self._looked_at = 0, 0

    def step_done(self, count: int = 1) -> None:
        """So many steps of the grid are done: the pieces that they may have had are forgotten."""
        self._count = max(0, self._count - count * PIECES_OF_A_STEP)
        self._looked_at = min(self._looked_at, self._count)

    def add(self, taken: Advance, time: float, pieces: int = 1) -> bool:
        """Pieces that were tried, with all trials of forces of the state; whether bodies were looked at.

        Raises:
            ConvergenceError: there are far too many, or a body is deformed beyond all reason.
        """
        self._count += max(pieces, taken.trials // TRIALS_OF_A_PIECE)
        if self._count < self._looked_at + BETWEEN_LOOKS:
            return False
        self._looked_at = self._count
        self.look(time)
        return True

    def look(self, time: float) -> None:
        """At the bodies, and at the count.

        Raises:
            ConvergenceError: as ``add``.
        """
        words, of_feedback = self._stepper.trouble(ABSURD)
        if self._most is None and self._count >= MOST_PIECES:
            words = words or f"steps are halved into more than {PIECES_OF_A_STEP} pieces again and again"
        if self._most is not None and self._count >= self._most:
            words = words or f"a step is halved into more than {self._most} pieces"
        if words:
            raise ConvergenceError(
                f"the run stops at t = {time:.9g} s: {words}; take a smaller step, check loads and drives there, or"
                f" add viscosity{of_feedback}",
                time,
                np.zeros(0),
            )


def step_failure(
    stepper: "ConservingStepper", start: float, end: float, taken: Advance
) -> ConvergenceError | ParameterError:
    """Error of the step between two times [s] that failed, as short as steps may get.

    Where a function of the state failed, it is that function's error, which names the function and the time.
    """
    stepper.let_interrupt()
    cause = stepper.cause
    if isinstance(cause, ParameterError):
        return cause
    why, history = stepper.failure(start, taken.is_singular)
    error = ConvergenceError(
        f"the step from t = {start:.9g} s failed after {MOST_HALVINGS} halvings (size {end - start:.3g} s): {why};"
        " take a smaller step, check loads and drives there, or add viscosity",
        start,
        history,
    )
    error.__cause__ = cause
    return error
