"""The state at t = 0: closed joints, velocities that fit them, undeformed or quasi-static."""

from phlexible.algebra.differences import remembering
from phlexible.initial.closure import check_closure, check_drives, undeformed
from phlexible.initial.initial_kind import InitialKind
from phlexible.initial.initial_velocity import with_initial_velocity
from phlexible.initial.quasi_static import quasi_static_state
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.constraints import mechanism_layout
from phlexible.system.state import State


def initial_state(mechanism: Mechanism, kind: InitialKind = InitialKind.UNDEFORMED) -> State:
    """Positions as given and consistent velocities at t = 0.

    Raises:
        JointGapError: joints that do not close.
        VelocityError: given velocities or drives that contradict the joints.
        ModelError: no quasi-static deformation was found.
    """
    with remembering():  # all of it is about t = 0
        layout = mechanism_layout(mechanism)
        pose = undeformed(mechanism, layout)
        check_drives(mechanism, layout, pose)
        check_closure(mechanism, layout, pose)
        moving = with_initial_velocity(mechanism, layout, pose)
        if kind is InitialKind.UNDEFORMED:
            return moving
        return quasi_static_state(mechanism, layout, moving)
