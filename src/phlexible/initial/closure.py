"""Do the joints close at the initial pose?"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.locations import Interface
from phlexible.errors import JointGapError
from phlexible.joints.distance import Distance
from phlexible.joints.joint import Joint
from phlexible.ports.attachments import Attachment, MovingFrame
from phlexible.system.instants import Instants
from phlexible.system.layout import State
from phlexible.system.parts_as_made import allowed_gap
from phlexible.system.system import RowOwner, System

TOLERANCE = 1e-9


def check_closure(system: System, state: State, at: Instants | None = None) -> None:
    """Refuses a pose at which a joint is open by more than 1e-9 of the largest body, and round-off.

    Args:
        at: the state as an instant, where the caller has it.

    Raises:
        JointGapError: names the joint that is open most, its row and the gap.
    """
    if not system.owners:
        return
    gaps = system.rows.values(system.at(state) if at is None else at)[0]
    relative = system.relative_gaps(gaps)
    worst = int(np.argmax(relative))
    if relative[worst] <= TOLERANCE:
        return
    owner, allowed = system.owners[worst], TOLERANCE * system.gap_lengths[worst]
    if not owner.row.is_angle:
        allowed = max(allowed, allowed_gap(owner.joint))
    raise JointGapError(
        f"{owner.joint} does not close at the initial pose: {owner.row.label} is off by "
        f"{described_gap(owner, gaps[worst])} (at most {allowed:.2g}); check position= and rotation= "
        f"of its bodies{_place_of(owner)}, or take the nearest pose that closes: model = model.assemble().model"
    )


def _place_of(owner: RowOwner) -> str:
    """Where a joint to the ground may be instead: at the part, whose places are those of its file."""
    if not isinstance(owner.joint, Joint):
        return ""
    ports = owner.joint.first, owner.joint.second
    held = [port for port in ports if isinstance(port, Attachment)]
    if len(held) != 1 or not any(isinstance(port, MovingFrame) and port.is_fixed for port in ports):
        return ""
    at = held[0].location
    place = f'{held[0].placed.name}["{at.name}"]' if isinstance(at, Interface) else repr(held[0])
    return f", place the joint where the part is: ground.at({place}.initial_position())"


def check_drives(system: System, state: State, only_angles: bool = False) -> None:
    """Refuses drives that do not start where their coordinates are.

    The function of a driven angle vanishes half a turn away too, so that gaps alone do not show it.

    Args:
        only_angles: bodies may still move to where driven positions start; angles are 0 wherever bodies go.

    Raises:
        JointGapError: names the drive, its first value and that of the coordinate.
    """
    if not system.mechanism.drives:
        return
    at = system.at(state)
    for drive in system.mechanism.drives:
        coordinate = drive.joint.coordinate(system.dimension, drive.coordinate)
        if only_angles and not coordinate.is_angle:
            continue
        now = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
        start = drive.path(state.time)
        allowed = TOLERANCE if coordinate.is_angle else TOLERANCE * system.body_length + system.round_off
        if not abs(start - now) <= allowed:
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
