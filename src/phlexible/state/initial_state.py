"""State at t = 0: closed joints, consistent velocities, undeformed or quasi-static."""

from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.user_derivatives import function_content
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.description.interactions.feedback import Feedback
from phlexible.errors import LeftOutWarning, warn_user
from phlexible.state.forces import has_laws
from phlexible.state.initial_pose import nearest_closed_pose
from phlexible.state.initial_velocity import (
    ROUND_OFF_GAP,
    check_closure,
    check_drives,
    undeformed,
    with_initial_velocity,
)
from phlexible.state.instants import Instants, PrescribedFunctions, PrescribedMotions
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
    """Return the initial state of a system at t = 0: bodies at the poses that the user gave, velocities that
    satisfy all joints, and elastic deformations that are zero or, if requested by ``kind``, in balance with loads
    and inertia."""
    return initial_instant(system, kind)[0]


def initial_instant(
    system: System, kind: InitialKind, prescribed: PrescribedMotions | None = None
) -> tuple[State, Instants]:
    """Return the initial state at t = 0 as a ``State`` and as ``Instants`` with one instant. Bodies are where the
    user placed them; tiny gaps of joints are closed. Velocities satisfy the joints; deformations are zero or, by
    ``kind``, quasi-static (soft bodies stay undeformed, with a warning). ``prescribed`` are the moving ground
    frames and paths at t = 0, if the caller has computed them. Raise ``JointGapError`` for open joints,
    ``VelocityError`` for contradicting velocities.

    Args:
        system: what moves.
        kind: how it is deformed.
        prescribed: frames and paths at t = 0, where the caller has them.

    Raises:
        JointGapError: joints that do not close.
        VelocityError: given velocities or drives that contradict the joints.
        ModelError: no quasi-static deformation was found.
    """
    pose = undeformed(system)
    at = system.at(pose, prescribed=prescribed)
    check_drives(system, pose)
    check_closure(system, pose, at)
    if system.relative_gaps(system.rows.values(at)[0]).max(initial=0.0) > ROUND_OFF_GAP:
        pose = nearest_closed_pose(system, pose, at.prescribed)
        at = system.at(pose, prescribed=at.prescribed)
    moving = with_initial_velocity(system, pose, at)
    if kind is InitialKind.UNDEFORMED:
        return moving, at.moving(moving.velocity[None])
    motion = quasi_static_motion(system, moving, at.moving(moving.velocity[None]))
    if nodal := [own.name for own in system.bodies if isinstance(own.data, AbsoluteBody) and not own.data.strains]:
        text = f'initial="quasi_static" leaves {", ".join(nodal)} as placed; take initial=model.equilibrium()'
        warn_user(text, LeftOutWarning)
    return motion.state, motion.at


# The start of a system, checked once and kept while what moves by itself, and loads, begin alike.


def function_contents(system: System) -> tuple[object, ...] | None:
    """Return the code and constants of all user functions of time in a ``system`` as a tuple, by which a cache
    sees whether they changed. They belong to moving frames, drives, loads and force elements. Return None if the
    content of any function cannot be determined, since its values may then differ between calls."""
    of_frames = [own for frame in system.moving_frames for own in (frame.path, frame.rotation, frame.velocity)]
    of_paths = [own for path in system.paths for own in (path.function, path.rate)]
    values = [each.value for each in system.loads] + [each.force.value for each in system.forces]
    functions = [*(getattr(own, "function", own) for own in of_frames), *of_paths, *filter(callable, values)]
    contents = [function_content(function) for function in functions if function is not None]
    return None if None in contents else tuple(contents)


class InitialStateCache:
    """Cache of the initial state of the last system that was started.

    Functions of time are asked for their first values each time, unless code and constants tell that they are the
    same. Not kept are starts with redundant joints, of which each run warns, and deformed ones with force elements,
    whose laws may be functions of users.
    """

    def __init__(self) -> None:
        self._system: System | None = None
        self._values: tuple[InitialKind, list[bytes]] | None = None
        self._contents: tuple[InitialKind, tuple[object, ...] | None] | None = None
        self._start: tuple[State, Instants] | None = None

    def of(self, system: System, kind: InitialKind) -> tuple[State, Instants, bool]:
        """Return the initial state of a ``system`` at t = 0, as ``State`` and as ``Instants``, and whether joint
        constraints are redundant. The last result is returned from this cache for the same system, ``kind`` and
        functions of time, or functions with equal first values. Results with redundant constraints are not cached,
        nor deformed ones with force elements or functions of the state.

        Args:
            system: what moves.
            kind: how it is deformed.

        Raises:
            PhlexibleError: as these two.
        """
        contents = kind, function_contents(system)
        if self._start and self._system is system and contents[1] is not None and self._contents == contents:
            return *self._start, False
        prescribed = PrescribedFunctions(system.moving_frames, system.paths, np.zeros(1))
        numbers = None
        if kind is InitialKind.UNDEFORMED or not (system.forces or has_laws(system)):
            numbers = (kind, [array.tobytes() for array in _first_values(system, prescribed, kind)])
        if self._start is not None and self._system is system and numbers is not None and self._values == numbers:
            state, at = self._start
            return state, at.with_prescribed(prescribed), False
        self._start = None
        state, at = initial_instant(system, kind, prescribed)
        is_redundant = check_redundancy(system, state, at)
        if not is_redundant and numbers is not None:
            self._system, self._values, self._start = system, numbers, (state, at)
            self._contents = contents
        return state, at, is_redundant


def _first_values(system: System, prescribed: PrescribedFunctions, kind: InitialKind) -> list[Array]:
    """Return the values at t = 0 of all user functions of time on which the initial state of a system depends.
    They are positions and velocities of frames and drives with ``prescribed`` motion. For a deformed start
    (``kind``) accelerations and all loads that are no controllers are added."""
    if kind is InitialKind.UNDEFORMED:
        return list(prescribed.first_order())
    return [
        *prescribed.second_order(),
        *(x.at_time(0.0) for x in system.loads if not isinstance(x.value, Feedback)),
    ]
