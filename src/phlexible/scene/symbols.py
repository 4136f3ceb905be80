"""Small symbols for joints, ground, springs and drives."""

from collections.abc import Iterator, Sequence

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.bushing import Bushing
from phlexible.interactions.force_elements import ForceElement, JointElement, SpringDamper
from phlexible.interactions.pair import KinematicPair
from phlexible.joints.axial import AxialJoint
from phlexible.joints.distance import Distance
from phlexible.joints.fixed import Fixed
from phlexible.joints.joint import Joint
from phlexible.joints.planar import Planar
from phlexible.joints.revolute import Revolute
from phlexible.joints.universal import Universal
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import Attachment, MovingFrame
from phlexible.scene.anchors import Places
from phlexible.scene.scene import Symbol, SymbolKind

NO_AXIS = np.zeros(3)


def symbols(mechanism: Mechanism, places: Places, wholes: Sequence[str]) -> Iterator[Symbol]:
    """Those of all joints, elements and drives; cuts of a beam in parts have none."""
    grounded: set[MovingFrame] = set()
    for joint in mechanism.joints:
        if not _is_cut(joint, places, wholes):
            yield from _of_joint(joint, places, grounded)
    for element in mechanism.applied_elements:
        yield from _of_element(element, places)
    for drive in mechanism.drives:
        yield _in_joint(SymbolKind.MOTOR, str(drive), drive.joint, places)


def axis_of(joint: KinematicPair) -> Array:
    """The axis of a joint, world axes at the initial pose, or zero, shape (3,)."""
    match joint:
        case Revolute() | AxialJoint():
            return joint.unit_axis()
        case Universal() | Planar():
            axis = np.asarray(joint.axis, dtype=np.float64)
            return np.asarray(axis / np.linalg.norm(axis))
    return NO_AXIS


def _of_joint(joint: Joint, places: Places, grounded: set[MovingFrame]) -> Iterator[Symbol]:
    kind = _kind(joint)
    for port in (joint.first, joint.second):
        if isinstance(port, MovingFrame) and port not in grounded and kind is not SymbolKind.RAIL:
            grounded.add(port)
            symbol = SymbolKind.GROUND if port.is_fixed else SymbolKind.MOVING_FRAME
            yield Symbol(symbol, str(port), places.anchor(port), NO_AXIS)
    axis = places.direction(joint.first, axis_of(joint))
    other = places.anchor(joint.second) if isinstance(joint, Distance) or kind is SymbolKind.RAIL else None
    yield Symbol(kind, str(joint), places.anchor(joint.first), axis, other)


def _kind(joint: Joint) -> SymbolKind:
    match joint:
        case Fixed():
            return SymbolKind.FIXED
        case Revolute():
            return SymbolKind.PIN
        case AxialJoint():
            return SymbolKind.RAIL
        case Universal():
            return SymbolKind.CROSS
        case Planar():
            return SymbolKind.PLANE
        case Distance():
            return SymbolKind.LINK
    return SymbolKind.BALL


def _of_element(element: ForceElement, places: Places) -> Iterator[Symbol]:
    first, second = (places.anchor(port) for port in element.ports)
    match element:
        case JointElement():
            if element.is_active:
                yield _in_joint(SymbolKind.MOTOR, str(element), element.joint, places)
            elif element.coordinate.endswith("angle"):
                yield _in_joint(SymbolKind.TORSION_SPRING, str(element), element.joint, places)
            else:
                kind = SymbolKind.SPRING if element.stiffness or element.potential else SymbolKind.DAMPER
                yield Symbol(kind, str(element), first, NO_AXIS, second)
        case Bushing():
            yield Symbol(SymbolKind.BUSHING, str(element), first, NO_AXIS)
        case SpringDamper():
            kind = SymbolKind.SPRING if element.stiffness or element.potential else SymbolKind.DAMPER
            yield Symbol(kind, str(element), first, NO_AXIS, second)


def _in_joint(kind: SymbolKind, label: str, joint: KinematicPair, places: Places) -> Symbol:
    axis = places.direction(joint.first, axis_of(joint))
    return Symbol(kind, label, places.anchor(joint.first), axis)


def _is_cut(joint: Joint, places: Places, wholes: Sequence[str]) -> bool:
    """Whether a joint only holds two parts of one beam together."""
    ports = joint.first, joint.second
    bodies = [places.bodies[port.placed] for port in ports if isinstance(port, Attachment)]
    return len(bodies) == 2 and wholes[bodies[0]] == wholes[bodies[1]]
