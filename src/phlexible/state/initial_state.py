"""State at t = 0: closed joints, consistent velocities, undeformed or quasi-static."""

from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.feedback import Feedback
from phlexible.state.forces import has_laws
from phlexible.state.initial_velocity import check_closure, check_drives, undeformed, with_initial_velocity
from phlexible.state.instants import Given, GivenFunctions, Instants
from phlexible.state.layout import State
from phlexible.state.quasi_static import quasi_static_motion
from phlexible.state.redundancy import check_redundancy
from phlexible.state.system import System


class InitialKind(Enum):
    """Kind of deformation of the bodies at t = 0: undeformed, or in balance with loads and inertia.

    Attributes:
        UNDEFORMED: eta = 0.
        QUASI_STATIC: the deformation that the initial rigid motion and the loads keep up.
    """

    UNDEFORMED = "undeformed"
    QUASI_STATIC = "quasi_static"


def initial_state(system: System, kind: InitialKind = InitialKind.UNDEFORMED) -> State:
    """Return the state at t = 0: the pose as the user gave it, and velocities that satisfy the joints; see
    ``initial_instant``.
    """
    return initial_instant(system, kind)[0]


def initial_instant(system: System, kind: InitialKind, given: Given | None = None) -> tuple[State, Instants]:
    """Return the state at t = 0 and the same as an instant: the pose as the user gave it, and velocities that
    satisfy the joints. Both are checked.

    Args:
        system: what moves.
        kind: how it is deformed.
        given: frames and paths at t = 0, where the caller has them.

    Raises:
        JointGapError: joints that do not close.
        VelocityError: given velocities or drives that contradict the joints.
        ModelError: no quasi-static deformation was found.
    """
    pose = undeformed(system)
    at = system.at(pose, given=given)
    check_drives(system, pose)
    check_closure(system, pose, at)
    moving = with_initial_velocity(system, pose, at)
    if kind is InitialKind.UNDEFORMED:
        return moving, at.moving(moving.velocity[None])
    motion = quasi_static_motion(system, moving, at.moving(moving.velocity[None]))
    return motion.state, motion.at


# The start of a system, checked once and kept while what moves by itself, and loads, begin alike.


class KeptStart:
    """Cache of the initial state of the last system that was started.

    Functions of time are asked for their first values each time. Not kept are starts with redundant joints, of
    which each run warns, and deformed ones with force elements, whose laws may be functions of users.
    """

    def __init__(self) -> None:
        self._system: System | None = None
        self._given: tuple[InitialKind, list[bytes]] | None = None
        self._start: tuple[State, Instants] | None = None

    def of(self, system: System, kind: InitialKind) -> tuple[State, Instants, bool]:
        """Return the initial state of a system, the same as an instant, and whether its joints are redundant; from
        the cache if nothing changed.

        Args:
            system: what moves.
            kind: how it is deformed.

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
        is_redundant = check_redundancy(system, state, at)
        if not is_redundant and numbers is not None:
            self._system, self._given, self._start = system, numbers, (state, at)
        return state, at, is_redundant


def _first_values(system: System, given: GivenFunctions, kind: InitialKind) -> list[Array]:
    """Return the values at t = 0 of all functions of time that the initial state depends on: moving frames, paths
    and, if it is deformed, loads.
    """
    if kind is InitialKind.UNDEFORMED:
        return list(given.first_order())
    loads = [load.at_time(0.0) for load in system.loads if not isinstance(load.value, Feedback)]
    return [*given.second_order(), *loads]
