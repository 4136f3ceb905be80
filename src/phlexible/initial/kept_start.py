"""The start of a system, checked once and kept while what moves by itself, and loads, begin alike."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.initial.initial_state import InitialKind, initial_instant
from phlexible.interactions.feedback import Feedback
from phlexible.rank.redundancy_check import check_redundancy
from phlexible.system.instants import GivenFunctions, Instants
from phlexible.system.layout import State
from phlexible.system.state_laws import has_laws
from phlexible.system.system import System


class KeptStart:
    """The start of the system that was asked for last.

    Functions of time are asked for their first values each time. Not kept are starts with redundant joints, of
    which each run warns, and deformed ones with force elements, whose laws may be functions of users.
    """

    def __init__(self) -> None:
        self._system: System | None = None
        self._given: tuple[InitialKind, list[bytes]] | None = None
        self._start: tuple[State, Instants] | None = None

    def of(self, system: System, kind: InitialKind, stacklevel: int = 1) -> tuple[State, Instants, bool]:
        """State and instant as ``initial_instant``, and whether joints are redundant, as ``check_redundancy``.

        Args:
            system: what moves.
            kind: how it is deformed.
            stacklevel: of warnings, seen from the caller: 1 is the caller.

        Raises:
            PhlexibleError: as these two.
        """
        given = GivenFunctions(system.moving_frames, system.paths, np.zeros(1))
        numbers = None
        if kind is InitialKind.UNDEFORMED or not (system.forces or has_laws(system)):
            numbers = (kind, [array.tobytes() for array in _first_values(system, given, kind)])
        if self._start is not None and self._system is system and numbers is not None and self._given == numbers:
            state, at = self._start
            return state, at.with_given(given), False
        self._start = None
        state, at = initial_instant(system, kind, given)
        is_redundant = check_redundancy(system, state, at, stacklevel + 1)
        if not is_redundant and numbers is not None:
            self._system, self._given, self._start = system, numbers, (state, at)
        return state, at, is_redundant


def _first_values(system: System, given: GivenFunctions, kind: InitialKind) -> list[Array]:
    """What a start depends on beside the system: frames and paths with their rates, or accelerations and loads."""
    if kind is InitialKind.UNDEFORMED:
        return list(given.first_order())
    loads = [load.at_time(0.0) for load in system.loads if not isinstance(load.value, Feedback)]
    return [*given.second_order(), *loads]
