"""Do the joints close at the initial pose?"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import JointGapError
from phlexible.interactions.bilinear import DirectionOf
from phlexible.joints.distance import Distance
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.membership import ports_of
from phlexible.system.constraints import RowOwner, constraint_values, row_owners
from phlexible.system.element_forces import function_values
from phlexible.system.kinematics import Kinematics
from phlexible.system.state import Layout, State

TOLERANCE = 1e-9


def check_closure(mechanism: Mechanism, layout: Layout, state: State) -> None:
    """Refuses a pose at which a joint is open by more than 1e-9 of the largest length.

    Raises:
        JointGapError: names the joint that is open most, its row and the gap.
    """
    gaps, owners = constraint_values(mechanism, layout, state), row_owners(mechanism)
    if not owners:
        return
    allowed = TOLERANCE * row_lengths(mechanism)
    worst = int(np.argmax(np.abs(gaps) / allowed))
    if np.abs(gaps[worst]) <= allowed[worst]:
        return
    owner = owners[worst]
    raise JointGapError(
        f"{owner.joint} does not close at the initial pose: {owner.row.label} is off by "
        f"{described_gap(owner, gaps[worst])} (at most {allowed[worst]:.2g}); check position= and rotation= "
        "of its bodies, or take the nearest pose that closes: model = model.assemble().model"
    )


def check_drives(mechanism: Mechanism, layout: Layout, state: State) -> None:
    """Refuses drives that do not start where their coordinates are.

    The function of a driven angle vanishes half a turn away too, so that gaps alone do not show it.

    Raises:
        JointGapError: names the drive, its first value and that of the coordinate.
    """
    kinematics = Kinematics(mechanism.bodies, layout, state)
    for drive in mechanism.drives:
        coordinate = drive.joint.coordinate(mechanism.dimension, drive.coordinate)
        now, start = coordinate.value(function_values(kinematics, coordinate)), drive.path(state.time)
        scale = 1.0 if coordinate.is_angle else largest_length(mechanism)
        if not abs(start - now) <= TOLERANCE * scale:
            raise JointGapError(
                f"{drive} starts at {start:.6g} {coordinate.unit}, while the {drive.coordinate} at the"
                f" initial pose is {now:.6g} {coordinate.unit} (angles count from there); start the"
                " function there, or place the bodies where it starts"
            )


def largest_length(mechanism: Mechanism) -> float:
    """Largest body size or distance of a port from the origin [m]; 1 if there is none."""
    ports = [port.initial_position() for joint in mechanism.joints for port in ports_of(joint)]
    sizes = [placed.data.size for placed in mechanism.bodies]
    return max([*sizes, *(float(np.linalg.norm(place)) for place in ports)], default=0.0) or 1.0


def row_lengths(mechanism: Mechanism) -> Array:
    """What g of each row is to be compared with: the largest length [m], 1 for cosines; (rows,)."""
    length = largest_length(mechanism)
    return np.array([1.0 if is_angle(owner) else length for owner in row_owners(mechanism)])


def is_angle(owner: RowOwner) -> bool:
    """True for direction.direction rows, whose g is a cosine and no length."""
    return all(
        isinstance(term.first, DirectionOf) and isinstance(term.second, DirectionOf)
        for term in owner.row.terms
    )


def described_gap(owner: RowOwner, value: float) -> str:
    """The gap of a row with its unit."""
    return f"{_gap(owner, value):.6g} {'(cosine)' if is_angle(owner) else 'm'}"


def _gap(owner: RowOwner, value: float) -> float:
    """The gap of a row; that of a distance is measured along the link."""
    if isinstance(owner.joint, Distance):
        length = 2 * owner.row.constant
        return float(np.sqrt(length**2 + 2 * length * value)) - length
    return float(value)


def residual_unit(owner: RowOwner) -> str:
    """Unit of a row's velocity residual."""
    return "rad/s" if is_angle(owner) else "m/s"


def undeformed(mechanism: Mechanism, layout: Layout) -> State:
    """The initial pose as given, undeformed and at rest."""
    bodies = mechanism.bodies
    has_frame = np.array([placed.curve is None for placed in bodies], dtype=bool)[:, None]
    rotation = np.array([placed.rotation for placed in bodies]).reshape(-1, 3, 3)
    return State(
        time=0.0,
        position=np.array([placed.position for placed in bodies]).reshape(-1, 3) * has_frame,
        rotation=np.where(has_frame[:, :, None], rotation, np.eye(3)),
        elastic=np.concatenate([*(placed.elastic for placed in bodies), np.zeros(0)]),
        velocity=np.zeros(int(layout.velocity[-1])),
    )
