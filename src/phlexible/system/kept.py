"""The numbers of a mechanism, made once and kept until the mechanism changes."""

from operator import is_

from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.system import System, moving_frames, system_of


class KeptSystem:
    """The ``System`` of a mechanism: the same one as long as the mechanism has the same parts.

    Parts are immutable. What a system takes from functions of time are the places of moving frames at t = 0: they
    are asked for each time, so that a function that reads a changed variable makes a new system.
    """

    def __init__(self) -> None:
        self._parts: tuple[object, ...] = ()
        self._places: tuple[bytes, ...] = ()
        self._system: System | None = None

    def of(self, mechanism: Mechanism) -> System:
        """The numbers of the mechanism as it is now.

        Raises:
            ModelError: as ``system_of``.
        """
        parts = _parts(mechanism)
        places = tuple(frame.initial_position().tobytes() for frame in moving_frames(mechanism))
        known = self._system
        if known is None or places != self._places or not _are_same(parts, self._parts):
            known = system_of(mechanism)
            self._parts, self._places, self._system = _parts(mechanism), places, known
        return known


def _parts(mechanism: Mechanism) -> tuple[object, ...]:
    """Everything that numbers are made of."""
    bodies = mechanism.bodies
    data = [placed.data for placed in bodies]
    switches = [switch.constraint for switch in mechanism.switches]
    return (
        *bodies,
        *data,
        *mechanism.constraints,
        *mechanism.loads,
        None,
        *mechanism.elements,
        *switches,
        None,
        *mechanism.events,
    )


def _are_same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(map(is_, first, second))
