"""Do the joints close at the initial pose?"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import JointGapError
from phlexible.joints.distance import Distance
from phlexible.system.layout import State
from phlexible.system.system import RowOwner, System

TOLERANCE = 1e-9


def check_closure(system: System, state: State) -> None:
    """Refuses a pose at which a joint is open by more than 1e-9 of the largest length.

    Raises:
        JointGapError: names the joint that is open most, its row and the gap.
    """
    if not system.owners:
        return
    gaps, allowed = system.rows.values(system.at(state))[0], TOLERANCE * system.row_lengths
    worst = int(np.argmax(np.abs(gaps) / allowed))
    if np.abs(gaps[worst]) <= allowed[worst]:
        return
    owner = system.owners[worst]
    raise JointGapError(
        f"{owner.joint} does not close at the initial pose: {owner.row.label} is off by "
        f"{described_gap(owner, gaps[worst])} (at most {allowed[worst]:.2g}); check position= and rotation= "
        "of its bodies, or take the nearest pose that closes: model = model.assemble().model"
    )


def check_drives(system: System, state: State) -> None:
    """Refuses drives that do not start where their coordinates are.

    The function of a driven angle vanishes half a turn away too, so that gaps alone do not show it.

    Raises:
        JointGapError: names the drive, its first value and that of the coordinate.
    """
    at = system.at(state)
    for drive in system.mechanism.drives:
        coordinate = drive.joint.coordinate(system.dimension, drive.coordinate)
        now = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
        start = drive.path(state.time)
        scale = 1.0 if coordinate.is_angle else system.largest_length
        if not abs(start - now) <= TOLERANCE * scale:
            raise JointGapError(
                f"{drive} starts at {start:.6g} {coordinate.unit}, while the {drive.coordinate} at the"
                f" initial pose is {now:.6g} {coordinate.unit} (angles count from there); start the"
                " function there, or place the bodies where it starts"
            )


def described_gap(owner: RowOwner, value: float) -> str:
    """The gap of a row with its unit."""
    return f"{_gap(owner, value):.6g} {'(cosine)' if owner.row.is_angle else 'm'}"


def _gap(owner: RowOwner, value: float) -> float:
    """The gap of a row; that of a distance is measured along the link."""
    if isinstance(owner.joint, Distance):
        length = 2 * owner.row.constant
        return float(np.sqrt(length**2 + 2 * length * value)) - length
    return float(value)


def residual_unit(owner: RowOwner) -> str:
    """Unit of a row's velocity residual."""
    return "rad/s" if owner.row.is_angle else "m/s"


def undeformed(system: System) -> State:
    """The initial pose as given, undeformed and at rest."""
    layout, frames = system.layout, system.bodies[: system.layout.frames]
    centres = [
        placed.position + placed.rotation @ place[:, 0]
        for placed, place in zip(frames, system.centres, strict=True)
    ]
    nodes: list[Array] = [placed.nodes.positions for placed in system.bodies if placed.nodes is not None]
    return State(
        time=0.0,
        position=np.concatenate([np.array(centres).reshape(-1, 3), *nodes]),
        rotation=np.array([placed.rotation for placed in frames]).reshape(-1, 3, 3),
        eta=np.zeros(int(layout.eta[-1])),
        velocity=np.zeros(int(layout.velocity[-1])),
    )
