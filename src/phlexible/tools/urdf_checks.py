"""What URDF files must have that their reader does not ask for: names, axes, numbers, mimics."""

from collections import Counter
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, finite, unit_vector
from phlexible.errors import ModelError, ParameterError

MOVING = ("revolute", "continuous", "prismatic")
"""Types of joints with one coordinate."""


def check_robot(robot: Any) -> None:
    """Refuses names that come twice, links that two joints carry, and mimics that follow nothing.

    Raises:
        ModelError: names the link or joint.
    """
    for kind, parts in (("link", robot.links), ("joint", robot.joints)):
        _refuse_twice(f"two {kind}s are named", [part.name for part in parts], "rename one of them")
    children = [joint.child for joint in robot.joints]
    _refuse_twice("two joints carry the link", children, "a link has one parent: give one of them another child")
    links = {link.name for link in robot.links}
    for joint in robot.joints:
        for name in (joint.parent, joint.child):
            if name not in links:
                raise ModelError(f"joint {joint.name} names the link {name!r}, which the file does not have")
    joints = {joint.name: joint for joint in robot.joints}
    for joint in robot.joints:
        _check_mimic(joint, joints)


def _refuse_twice(words: str, names: list[str], remedy: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ModelError(f"{words} {name!r}; {remedy}")


def _check_mimic(joint: Any, joints: dict[str, Any]) -> None:
    """Refuses a mimic of no joint, of one without a coordinate, or of itself by way of others."""
    met = [joint.name]
    while joint.mimic is not None:
        leader = joints.get(joint.mimic.joint)
        if leader is None:
            raise ModelError(f"joint {joint.name} mimics {joint.mimic.joint!r}, which the file does not have")
        if joint.type not in MOVING or leader.type not in MOVING:
            raise ModelError(
                f"joint {joint.name} mimics {leader.name}: both must be of the types {', '.join(MOVING)}, they are"
                f" {joint.type} and {leader.type}"
            )
        for word in ("multiplier", "offset"):
            number_of(joint, word, getattr(joint.mimic, word))
        if leader.name in met:
            raise ModelError(f"joints mimic each other in a circle: {' -> '.join([*met, leader.name])}")
        met.append(leader.name)
        joint = leader


def axis_of(joint: Any) -> Array:
    """Direction of a joint in its own axes, shape (3,), of length 1.

    Raises:
        ModelError: not three finite numbers, or zero; names the joint.
    """
    given = np.array([1.0, 0.0, 0.0]) if joint.axis is None else joint.axis
    try:
        return unit_vector("axis", given)
    except ParameterError as error:
        raise ModelError(f"joint {joint.name}: {error}") from error


def number_of(joint: Any, name: str, given: Any) -> float:
    """A number of a joint that the reader may have left as text; 0 where the file has none.

    Raises:
        ModelError: no finite number; names the joint.
    """
    try:
        return finite(name, float(given or 0.0))
    except (ValueError, OverflowError) as error:
        raise ModelError(f"joint {joint.name}: {name} must be a finite number, got {given!r}") from error
