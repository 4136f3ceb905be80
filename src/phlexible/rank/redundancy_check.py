"""Joints that hold a motion twice: named in a warning where they agree, refused where they contradict."""

import warnings

import numpy as np

from phlexible.display.written import shortened
from phlexible.errors import RedundancyError, RedundancyWarning
from phlexible.rank.redundancy import Redundancy, redundancies
from phlexible.system.instants import Instants
from phlexible.system.layout import State
from phlexible.system.system import System

CONTRADICTION = 1e-5
"""Of the scale of accelerations; those of moving frames are differences, good to about 1e-7."""

ROUND_OFF, SHORT = 1e-15, 1e-3  # of places over the size of a body; [s], of the differences of slow functions

MOST_NAMED = 12


def check_redundancy(system: System, state: State, at: Instants | None = None, stacklevel: int = 3) -> bool:
    """Whether some joint holds what others hold; then a ``RedundancyWarning`` names them.

    The motion does not depend on how such joints share their forces; these are then the smallest ones
    (``smallest_multipliers_at``).

    Args:
        at: the pose of the state as an instant, where the caller has it.
        stacklevel: of the warning, seen from the caller: 1 is the caller.

    Raises:
        RedundancyError: joints that agree on positions and velocities of the state, but not on
            accelerations: no motion goes on from it.
    """
    found = redundancies(system, state, at)
    if not found:
        return False
    _refuse_contradiction(system, state, found)
    warnings.warn(_message(system, found), RedundancyWarning, stacklevel=stacklevel + 1)
    return True


def _refuse_contradiction(system: System, state: State, found: list[Redundancy]) -> None:
    """A vanishing combination of the rows of d2g/dt2 = G dnu/dt + c must have a vanishing part c too."""
    size = system.gap_lengths
    change = system.rows.accelerations(system.at(state))[0] / size
    scale = max(float(np.abs(change).max()), _rate(system, state) ** 2)
    is_given = bool(system.moving_frames or system.paths)  # their accelerations are second differences
    noise = (system.round_off / system.body_length + ROUND_OFF) / SHORT**2 if is_given else 0.0
    for redundancy in found:
        rows = np.array(list(redundancy.combination))
        weights = np.array(list(redundancy.combination.values())) * size[rows]
        if abs(weights @ change[rows]) > np.abs(weights).sum() * (CONTRADICTION * scale + noise):
            owner = system.owners[redundancy.row]
            raise RedundancyError(
                f"no motion goes on from t = {state.time:g} s: {owner.joint} ({owner.row.label}) holds what "
                f"is already held, in {_names(system, redundancy.joints)}, and they ask for different "
                "accelerations; check velocities and moving frames, or remove a joint"
            )


def _rate(system: System, state: State) -> float:
    """A rate that stands for the velocities of the state [1/s]."""
    layout = system.layout
    spins = state.velocity[layout.spin[2]]
    linear = state.velocity[layout.linear]
    return max(float(np.abs(linear).max(initial=0.0)) / system.body_length, float(np.abs(spins).max(initial=0.0)))


def _message(system: System, found: list[Redundancy]) -> str:
    owner = system.owners[found[0].row]
    numbers = tuple(sorted({number for redundancy in found for number in redundancy.joints}))
    times = "once" if len(found) == 1 else f"{len(found)} times"
    return (
        f"redundant joints: {times} a joint holds what others hold already, for example {owner.joint} "
        f"({owner.row.label}), in {_names(system, numbers)}; the motion is right, joint forces are not "
        "unique and the smallest ones are taken; joints that leave more freedom make them unique "
        "(Spherical for Revolute, Slider for Prismatic)"
    )


def _names(system: System, numbers: tuple[int, ...]) -> str:
    return shortened([str(system.constraints[number]) for number in numbers], MOST_NAMED)
