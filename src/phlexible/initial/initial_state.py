"""The state at t = 0: closed joints, velocities that fit them, undeformed or quasi-static."""

from enum import Enum

from phlexible.initial.closure import check_closure, check_drives, undeformed
from phlexible.initial.initial_velocity import with_initial_velocity
from phlexible.initial.quasi_static import quasi_static_motion
from phlexible.system.instants import Given, Instants
from phlexible.system.layout import State
from phlexible.system.system import System


class InitialKind(Enum):
    """How the bodies are deformed at t = 0.

    Attributes:
        UNDEFORMED: eta = 0.
        QUASI_STATIC: the deformation that the initial rigid motion and the loads keep up.
    """

    UNDEFORMED = "undeformed"
    QUASI_STATIC = "quasi_static"


def initial_state(system: System, kind: InitialKind = InitialKind.UNDEFORMED) -> State:
    """Positions as given and consistent velocities at t = 0; see ``initial_instant``."""
    return initial_instant(system, kind)[0]


def initial_instant(system: System, kind: InitialKind, given: Given | None = None) -> tuple[State, Instants]:
    """Positions as given and consistent velocities at t = 0, as a state and as an instant.

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
