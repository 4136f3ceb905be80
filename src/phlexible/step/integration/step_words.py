"""Warnings about the steps of a run: redundant joints, open energy balances, laws that jump."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from phlexible.display import how_many
from phlexible.errors import RedundancyWarning, StepWarning

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

Told = tuple[str, type[Warning]]
"""Words and the category of their warning."""


class StepWarnings:
    """Collects warnings of a run: when joints were first redundant, and when the energy balance was first open.

    Args:
        stepper: stepper whose steps are watched; its counts so far have been reported.

    Attributes:
        has_any: whether there is a warning, reported or not.
    """

    def __init__(self, stepper: "Stepper") -> None:
        self._stepper = stepper
        self._dependent_time: float | None = None
        self._open_time: float | None = None
        self._reported: set[str] = set()
        self.has_any = False
        self.begin()

    def begin(self) -> None:
        """Store the present counts of faulty time steps of the stepper, so that only later ones lead to
        warnings."""
        self._dependent, self._open = self._stepper.dependent_steps, self._stepper.open_steps

    def look(self, time: float) -> bool:
        """Store which problems occurred in the time steps up to a ``time`` [s], and return whether there is any.
        Problems are redundant joints, an open energy balance and user laws that jump. For the first two, the time
        of the first call that found them is stored; only steps since the start of the run count."""
        stepper, is_there = self._stepper, False
        if stepper.dependent_steps > self._dependent:
            is_there, self._dependent_time = True, time if self._dependent_time is None else self._dependent_time
        if stepper.open_steps > self._open:
            is_there, self._open_time = True, time if self._open_time is None else self._open_time
        self.has_any = is_there or stepper.has_jumps
        return self.has_any

    @property
    def of_dependent_steps(self) -> str:
        """Text of the warning that joints passed singular positions in the run, where their forces are not unique;
        empty if they did not."""
        if self._dependent_time is None:
            return ""
        return (
            "the joints passed singular positions, the first one before "
            f"t = {self._dependent_time:.9g} s: in {how_many(self._stepper.dependent_steps, 'step')} their forces "
            "are not unique, and small ones are taken; the motion may branch there"
        )

    @property
    def _of_open_steps(self) -> str:
        """Return the text of the warning that some converged time steps violate the energy balance by more than
        round-off. It says their number and the time of the first, and asks for a report, since this is a numerical
        fault. It is empty if there are none."""
        if self._open_time is None:
            return ""
        return (
            f"in {how_many(self._stepper.open_steps, 'step')}, the first one before t = {self._open_time:.9g} s,"
            " energies miss the work of the forces by more than round-off explains, though Newton's method"
            " converged: see the energy balance of motion.check(), try a shorter step, and please report it"
        )

    def unreported(self) -> Iterator[Told]:
        """Yield text and category of the warnings of the run that have not been reported yet, each kind and each
        law once."""
        found: dict[str, Told] = {
            "dependent": (self.of_dependent_steps, RedundancyWarning),
            "open": (self._of_open_steps, StepWarning),
        }
        for name, steps in self._stepper.jumps.items():
            found[f"law {name}"] = _of_a_jump(name, steps), StepWarning
        for kind, told in found.items():
            if told[0] and kind not in self._reported:
                self._reported.add(kind)
                yield told


def _of_a_jump(name: str, steps: int) -> str:
    """Return the text of a warning that the user law with this ``name`` jumps. It says that in ``steps`` time
    steps no force agreed with the law at the middle of the step, and suggests a steep slope instead."""
    return (
        f"{name} jumps: in {how_many(steps, 'step')} no value was that of its function at the middle of the step,"
        " and one between its sides was taken, which is of first order; energies are exact. A slope in place of"
        " the jump, such as tanh(v / v0), is of second order"
    )
