"""The moving frames of a mechanism, in one order for everybody."""

from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import MovingFrame


def moving_frames(mechanism: Mechanism) -> tuple[MovingFrame, ...]:
    """Frames of joints and force elements that are not fixed, by first appearance."""
    ports = [port for joint in mechanism.joints for port in (joint.first, joint.second)]
    ports += [port for element in mechanism.elements for port in element.ports]
    moving = [port for port in ports if isinstance(port, MovingFrame) and not port.is_fixed]
    return tuple({id(frame): frame for frame in moving}.values())
