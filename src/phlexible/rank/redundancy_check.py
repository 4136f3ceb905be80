"""Joints that hold a motion twice: named in a warning where they agree, refused where they contradict."""

import warnings

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import RedundancyError, RedundancyWarning
from phlexible.mechanism.mechanism import Mechanism
from phlexible.rank.multiplier_metric import body_length, gap_lengths
from phlexible.rank.redundancy import Redundancy, redundancies
from phlexible.system.constraints import constraint_acceleration, mechanism_layout, row_owners
from phlexible.system.state import Layout, State

CONTRADICTION = 1e-5
"""Of the scale of accelerations; those of moving frames are differences, good to about 1e-7."""

MOST_NAMED = 12


def check_redundancy(mechanism: Mechanism, state: State) -> bool:
    """Whether some joint holds what others hold; then a ``RedundancyWarning`` names them.

    The motion does not depend on how such joints share their forces; these are then the smallest ones
    (``multiplier_metric``).

    Raises:
        RedundancyError: joints that agree on positions and velocities of the state, but not on
            accelerations: no motion goes on from it.
    """
    found = redundancies(mechanism, state)
    if not found:
        return False
    layout = mechanism_layout(mechanism)
    _refuse_contradiction(mechanism, layout, state, found)
    warnings.warn(_message(mechanism, found), RedundancyWarning, stacklevel=4)
    return True


def _refuse_contradiction(
    mechanism: Mechanism, layout: Layout, state: State, found: list[Redundancy]
) -> None:
    """A vanishing combination of the rows of d2g/dt2 = G dnu/dt + c must have a vanishing part c too."""
    size = gap_lengths(mechanism)
    change = constraint_acceleration(mechanism, layout, state) / size
    scale = max(float(np.abs(change).max()), _rate(mechanism, layout, state) ** 2)
    for redundancy in found:
        rows = np.array(list(redundancy.combination))
        weights = np.array(list(redundancy.combination.values())) * size[rows]
        if abs(weights @ change[rows]) > CONTRADICTION * np.abs(weights).sum() * scale:
            owner = row_owners(mechanism)[redundancy.row]
            raise RedundancyError(
                f"no motion goes on from t = {state.time:g} s: {owner.joint} ({owner.row.label}) holds what "
                f"is already held, in {_names(mechanism, redundancy.joints)}, and they ask for different "
                "accelerations; check velocities and moving frames, or remove a joint"
            )


def _rate(mechanism: Mechanism, layout: Layout, state: State) -> float:
    """A rate that stands for the velocities of the state [1/s]."""
    length, largest = body_length(mechanism), 0.0
    for index, placed in enumerate(mechanism.bodies):
        nu: Array = state.velocity[layout.velocity[index] : layout.velocity[index + 1]]
        d, rigid = placed.data.dimension, placed.data.rigid_count
        largest = max(largest, np.abs(nu[:d]).max(initial=0.0) / length, np.abs(nu[d:rigid]).max(initial=0.0))
    return largest


def _message(mechanism: Mechanism, found: list[Redundancy]) -> str:
    owner = row_owners(mechanism)[found[0].row]
    numbers = tuple(sorted({number for redundancy in found for number in redundancy.joints}))
    times = "once" if len(found) == 1 else f"{len(found)} times"
    return (
        f"redundant joints: {times} a joint holds what others hold already, for example {owner.joint} "
        f"({owner.row.label}), in {_names(mechanism, numbers)}; the motion is right, joint forces are not "
        "unique and the smallest ones are taken; joints that leave more freedom make them unique "
        "(Spherical for Revolute, Slider for Prismatic)"
    )


def _names(mechanism: Mechanism, numbers: tuple[int, ...]) -> str:
    named = ", ".join(str(mechanism.constraints[number]) for number in numbers[:MOST_NAMED])
    rest = len(numbers) - MOST_NAMED
    return f"{named} and {rest} more" if rest > 0 else named
