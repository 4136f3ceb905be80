"""The undeformed start of a system, checked once and kept while what moves by itself begins alike."""

import numpy as np

from phlexible.initial.initial_state import InitialKind, initial_instant
from phlexible.rank.redundancy_check import check_redundancy
from phlexible.system.instants import GivenFunctions, Instants
from phlexible.system.layout import State
from phlexible.system.system import System


class KeptStart:
    """The start of the system that was asked for last.

    Functions of time are asked for their first values each time. Starts with redundant joints are not kept: each
    run warns of them.
    """

    def __init__(self) -> None:
        self._system: System | None = None
        self._given: tuple[bytes, ...] = ()
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
        if kind is not InitialKind.UNDEFORMED:
            state, at = initial_instant(system, kind)
            return state, at, check_redundancy(system, state, at, stacklevel + 1)
        given = GivenFunctions(system.moving_frames, system.paths, np.zeros(1))
        numbers = tuple(array.tobytes() for array in given.first_order())
        if self._start is not None and self._system is system and self._given == numbers:
            state, at = self._start
            return state, at.with_given(given), False
        self._start = None
        state, at = initial_instant(system, kind, given)
        is_redundant = check_redundancy(system, state, at, stacklevel + 1)
        if not is_redundant:
            self._system, self._given, self._start = system, numbers, (state, at)
        return state, at, is_redundant
