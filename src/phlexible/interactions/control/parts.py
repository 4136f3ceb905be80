"""One controller that sets several forces: its shares, which are asked together."""

from dataclasses import dataclass, field, replace

from phlexible.algebra.arrays import Array
from phlexible.interactions.feedback import Feedback, size_of
from phlexible.interactions.force_elements import ForceElement, JointElement
from phlexible.interactions.loads import Force, Load, PointLoad
from phlexible.interactions.pair import KinematicPair
from phlexible.ports.attachments import Attachment


@dataclass(frozen=True, eq=False)
class Whole:
    """What the shares of one controller have in common, also after they moved to another model.

    Attributes:
        size: of all values.
    """

    size: int


@dataclass(frozen=True, eq=False)
class FeedbackShare(Feedback):
    """Some of the values of a controller.

    Attributes:
        whole: the same object for all its shares.
        begin: of the share.
        direction: that a single value acts along; None: values act as they are.
    """

    whole: Whole = field(kw_only=True)
    begin: int = field(kw_only=True)
    direction: Array | None = field(default=None, kw_only=True)

    def check_size(self, size: int, name: str) -> None:
        """The whole was checked."""


def feedback_parts(feedback: Feedback) -> tuple[Load | ForceElement, ...]:
    """A force on each attachment, an element in each joint, each load along its direction."""
    sizes = [size_of(item) for item in feedback.on]
    whole, begin = Whole(sum(sizes)), 0
    found: list[Load | ForceElement] = []
    for item, size in zip(feedback.on, sizes, strict=True):
        share = FeedbackShare(
            feedback.controller,
            feedback.measured,
            period=feedback.period,
            delay=feedback.delay,
            target=feedback.target,
            whole=whole,
            begin=begin,
            direction=item.direction if isinstance(item, PointLoad) else None,
        )
        if isinstance(item, PointLoad):
            found.append(replace(item, value=share, name=feedback.name or item.name))
        elif isinstance(item, Attachment):
            found.append(Force(item, share, name=feedback.name))
        elif isinstance(item, KinematicPair):
            found.append(JointElement(item, item.coordinate_name(None), force=share, name=feedback.name))
        begin += size
    return tuple(found)
