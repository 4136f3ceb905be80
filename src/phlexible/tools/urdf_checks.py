"""What URDF files must have that their reader does not ask for: names, axes, numbers, mimics."""

from collections import Counter
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, finite, unit_vector
from phlexible.errors import ModelError, ParameterError
from phlexible.extras import optional

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
        if joint.type == "fixed":  # nothing moves, whatever it follows
            return
        leader = joints.get(joint.mimic.joint)
        if leader is None:
            raise ModelError(f"joint {joint.name} mimics {joint.mimic.joint!r}, which the file does not have")
        if joint.type not in MOVING or leader.type not in (*MOVING, "fixed"):
            raise ModelError(
                f"joint {joint.name} mimics {leader.name}: both must be of the types {', '.join(MOVING)}, or the"
                " second one fixed, they are"
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


# What a file has beside that a model does not: macros, loops, elements of other programs, limits without a way.

READ = {
    "robot": ("link", "joint"),
    "link": ("inertial", "visual", "collision"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "dynamics": ("damping", "friction"),
}
HARMLESS = {
    "robot": ("material", "sensor", "mujoco", "version", "xacro:property", "xacro:arg", "xacro:macro"),
    "link": ("contact", "sensor", "material", "type", "self_collision_checking", "selfCollide"),
    "joint": ("safety_controller", "calibration", "hardwareInterface", "safety_limits", "limit_effort", "sensor"),
    "gazebo": (
        *(
            "material",
            "visual",
            "sensor",
            "collision",
            "selfCollide",
            "self_collide",
            "mu1",
            "mu2",
            "kp",
            "kd",
            "mu",
        ),
        *("maxVel", "minDepth", "maxContacts", "fdir1", "dampingFactor", "laserRetro", "implicitSpringDamper"),
        *("preserveFixedJoint", "disableFixedJointLumping", "provideFeedback", "static", "stopCfm", "stopErp"),
        *("fudgeFactor", "cfmDamping", "max_contacts", "laser_retro", "enable_wind"),
    ),
    "dynamics": (),
}
"""Elements without inertia, motion or force: colours, sensors, contact of shapes, which touch nothing here."""


def left_out_of(path: str) -> list[str]:
    """Descriptions of what a URDF file has and models do not take from it."""
    etree = optional("lxml.etree", "urdf")
    root = etree.parse(path, etree.XMLParser(recover=True, remove_comments=True, remove_pis=True)).getroot()
    found: dict[str, list[str]] = {}
    for part in root:
        tag = _tag(part)
        if tag == "gazebo":
            _list_unknown(part, "gazebo", found)
        elif tag not in READ["robot"] + HARMLESS["robot"] and not tag.startswith("drake:proximity"):
            found.setdefault(tag, []).append(part.get("name", ""))
        elif tag in ("link", "joint"):
            _list_unknown(part, tag, found)
            for own in part.findall("dynamics"):
                unknown = [name for name in own.keys() if name not in READ["dynamics"]]
                for name in unknown:
                    found.setdefault(f"dynamics {name}", []).append(part.get("name", ""))
            limit = part.find("limit")
            if limit is not None and part.get("type") in ("revolute", "prismatic"):
                lower, upper = limit.get("lower", "0"), limit.get("upper", "0")
                if {"lower", "upper"} & set(limit.keys()) and not float(lower) < float(upper):
                    found.setdefault(f"limits from {lower} to {upper}", []).append(part.get("name", ""))
    hints = {
        "xacro": ", macros that were not expanded (xacro file > robot.urdf)",
        "loop_joint": ", the loop is open",
    }
    return [
        f"{tag} {', '.join(filter(None, names))}".rstrip() + hints.get(tag.partition(":")[0], "")
        for tag, names in found.items()
    ]


def _list_unknown(part: Any, kind: str, found: dict[str, list[str]]) -> None:
    for child in part:
        tag = _tag(child)
        if tag not in READ.get(kind, ()) + HARMLESS[kind] and not tag.startswith("drake:proximity"):
            name = child.get("name") or part.get("name") or part.get("reference") or ""
            found.setdefault(tag if kind != "gazebo" else f"gazebo {tag}", []).append(name)


def _tag(element: Any) -> str:
    """Name of an element with its prefix, whether the file declares that or not."""
    name = str(element.tag).rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix and ":" not in name else name
