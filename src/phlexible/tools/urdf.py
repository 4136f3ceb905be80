"""Models of robots from URDF files, read by yourdfpy, with flexible links (``ph.from_urdf``)."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import (
    Array,
    file_path,
    finite,
    flag,
    non_negative,
    option,
    unit_vector,
    warn_of_degrees,
)
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.rigid_body import RigidBody
from phlexible.description.interactions.effective_mass import weight_stiffness
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Fixed, Planar, Prismatic, Revolute
from phlexible.description.joints.relations import Relation
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import LeftOutWarning, ModelError, ParameterError, ResultFileError
from phlexible.extras import optional
from phlexible.model import Model
from phlexible.shapes.solids import TriangleMesh
from phlexible.tools.urdf_inertia import (
    JointTwist,
    LinkInertia,
    coordinates_of,
    inertia_of,
    joints_without_inertia,
    nearest_physical,
    regular_inertia,
    shape_inertia,
    united,
)

MOVING = ("revolute", "continuous", "prismatic")
"""Types of joints with one coordinate."""


def check_robot(robot: Any) -> None:
    """Raise ModelError for a robot description (URDF) with repeated link or joint names or links of two parent
    joints. It is also raised for a joint whose parent or child link is missing, and for a bad mimic: a missing
    leader, a circle, or a joint type that cannot mimic.

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


def _refuse_twice(message: str, names: list[str], remedy: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ModelError(f"{message} {name!r}; {remedy}")


def _check_mimic(joint: Any, joints: dict[str, Any]) -> None:
    """Raise ModelError if a URDF ``joint`` mimics a missing joint, mimics itself through a chain of joints, or has
    a type that cannot mimic. The whole chain is followed; it ends at a fixed joint. Multiplier and offset must be
    finite numbers. ``joints`` are all joints by name."""
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
    """Return the direction of a URDF joint's axis in the joint's axes as a unit vector, shape (3,).

    Raises:
        ModelError: not three finite numbers, or zero; names the joint.
    """
    given = np.array([1.0, 0.0, 0.0]) if joint.axis is None else joint.axis
    try:
        return unit_vector("axis", given)
    except ParameterError as error:
        raise ModelError(f"joint {joint.name}: {error}") from error


def number_of(joint: Any, name: str, value: Any) -> float:
    """Convert the ``value`` of a URDF joint to a float; None and empty text become 0, other text is parsed. Raise
    ``ModelError`` if it is not a finite number; the message has the ``joint`` and the ``name`` of the value.

    Raises:
        ModelError: no finite number; names the joint.
    """
    try:
        return finite(name, float(value or 0.0))
    except (ValueError, OverflowError) as error:
        raise ModelError(f"joint {joint.name}: {name} must be a finite number, got {value!r}") from error


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
        *("material", "visual", "sensor", "collision", "selfCollide", "self_collide"),
        *("mu1", "mu2", "kp", "kd", "mu"),
        *("maxVel", "minDepth", "maxContacts", "fdir1", "dampingFactor", "laserRetro", "implicitSpringDamper"),
        *("preserveFixedJoint", "disableFixedJointLumping", "provideFeedback", "static", "stopCfm", "stopErp"),
        *("fudgeFactor", "cfmDamping", "max_contacts", "laser_retro", "enable_wind"),
    ),
    "dynamics": (),
}
"""Elements without inertia, motion or force, such as colours, sensors, and contact of shapes, which is not
modelled.
"""


def left_out_of(path: str) -> list[str]:
    """Return descriptions of the elements of a URDF file (``path``) that models ignore, for a warning. A
    description is the tag with the names of the links and joints that have it. Elements that are used or harmless
    (colours, sensors) are not listed. Joint limits whose lower end is not below the upper one are listed."""
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


def _list_unknown(part: Any, kind: str, unknown: dict[str, list[str]]) -> None:
    for child in part:
        tag = _tag(child)
        if tag not in READ.get(kind, ()) + HARMLESS[kind] and not tag.startswith("drake:proximity"):
            name = child.get("name") or part.get("name") or part.get("reference") or ""
            unknown.setdefault(tag if kind != "gazebo" else f"gazebo {tag}", []).append(name)


def _tag(element: Any) -> str:
    """Return the tag name of an XML element with its namespace prefix, whether the file declares that or not."""
    name = str(element.tag).rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix and ":" not in name else name


# How links of a URDF file look: boxes, cylinders, spheres and meshes as one surface, made by trimesh. Cylinders and
# spheres know their exact volume and moments.

Poses = Sequence[tuple[Any, Array]]
"""Links as yourdfpy reads them, with their poses (4, 4) in common axes."""


def surfaces(links: Poses, kind: str, handler: Any, unreadable: list[str]) -> list[Any]:
    """Return the surface meshes (of trimesh) of all shapes of URDF links in common axes, as a list. ``kind`` is
    "visuals" or "collisions"; ``links`` are pairs of link and pose (4 by 4 matrix). Shapes that cannot be read or
    have invalid vertices are left out, and texts with link and file are appended to ``unreadable``. ``handler``
    finds files of meshes.

    Args:
        links: with their poses.
        kind: of the shapes, "visuals" or "collisions".
        handler: finds files of meshes by their names.
        unreadable: gets a description of each shape that cannot be read.
    """
    meshes, found = optional("trimesh", "urdf"), []
    for link, pose in links:
        for shape in getattr(link, kind):
            try:
                part = _surface(meshes, shape.geometry, handler)
                part.apply_transform(pose if shape.origin is None else pose @ shape.origin)
            except Exception:  # of files and sizes: a picture less is no reason to refuse a robot
                part = None
            if part is not None and np.isfinite(part.vertices).all():
                found.append(part)
            else:
                mesh = getattr(shape.geometry, "mesh", None)
                unreadable.append(f"{link.name} ({mesh.filename})" if mesh else link.name)
    return found


def _surface(meshes: Any, geometry: Any, handler: Any) -> Any:
    if geometry.box is not None:
        return meshes.creation.box(extents=geometry.box.size)
    if geometry.cylinder is not None:
        size = geometry.cylinder
        return meshes.primitives.Cylinder(radius=size.radius, height=size.length, sections=16)
    if geometry.sphere is not None:
        return meshes.primitives.Sphere(radius=geometry.sphere.radius, subdivisions=2)
    part = meshes.load(handler(fname=geometry.mesh.filename), force="mesh")
    if geometry.mesh.scale is not None:
        part.apply_scale(geometry.mesh.scale)
    return part


SAME = 1e-6  # of the length of a beam
OUTSIDE = 1e-9  # of a limit [rad, m]
Flexible = Beam | FlexibleBody


class UrdfModel(Model):
    """A ``Model`` whose joints, bodies and frames have the names of a URDF file.

    Attributes:
        starts: coordinate of each moving joint in the file at the initial pose, by name [rad or m]. Angles of
            ``joint(name)`` count from there; positions of prismatic joints are those of the file.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        super().__init__(gravity, dimension)
        self.starts: dict[str, float] = {}
        self._frames: dict[str, Port] = {}

    def set_frame(self, link: str, port: Port) -> None:
        """Store the ``port`` (point or frame) at the origin of a ``link`` of a robot model under the link's name,
        for ``frame`` to return."""
        self._frames[link] = port

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the robot model's joints, in the order of ``joints``."""
        return tuple(map(str, self.joints))

    def frame(self, link: str) -> Port:
        """Return the port (point or frame) at the origin of a link of a robot model. The link may be a body, a
        rigidly attached link of another body or the ground, or an empty frame. Unknown links raise ``ModelError``.

        Raises:
            ModelError: the file has no such link; lists those that it has.
        """
        if link not in self._frames:
            raise ModelError(f"no link is named {link!r}; there are {', '.join(self._frames)}")
        port = self._frames[link]
        return Attachment(self._bodies[port.placed.name], port.location) if isinstance(port, Attachment) else port

    def __getitem__(self, name: str) -> PlacedBody | PlacedWhole:
        """Return the body of the link ``name`` of a robot model. Raise ``ModelError`` if fixed joints make the
        link a part of another body; the message names that body. Unknown names raise the error of ``Model``.

        Raises:
            ModelError: there is none; the message says where the link is, or lists the names.
        """
        if isinstance(name, str) and name in self._frames and name not in self._bodies:
            raise ModelError(
                f"link {name!r} is no body: fixed joints hold it to {self._frames[name]};"
                f" model.frame({name!r}) is the port at its origin"
            )
        return super().__getitem__(name)

    def replace(self, *arguments: Any, **named: Any) -> Self:
        """Return a copy of a robot model with other parameters (``arguments`` and ``named``), as
        ``Model.replace`` does."""
        copy = super().replace(*arguments, **named)
        copy.starts, copy._frames = dict(self.starts), dict(self._frames)
        return copy


@dataclass(eq=False)
class _UrdfReader:
    """Reader that turns a tree of links into a model.

    Attributes:
        robot: what yourdfpy read.
        model: that it becomes.
        flexible: bodies by the names of links.
        positions: coordinates of joints at the start.
        handler: finds files of meshes.
        has_visuals: whether bodies get shapes for pictures.
        repairs: whether to replace inertias that no body has.
        stop_stiffness: of limits; None: from the inertia that the joint moves; 0: no limits.
        poses: of links at the start in world axes, (4, 4).
        heads: for each link the one after which its body is named, which fixed joints hold it to.
        inertias: of bodies in the axes of their heads.
        rates: twists (4, 4) of bodies by the coordinates that move them, world axes.
        changed, left_out: what warnings list.
        carried: bodies that hang on a body, with itself.
        made: joints by name.
    """

    robot: Any
    model: UrdfModel
    flexible: Mapping[str, Flexible]
    positions: Mapping[str, float]
    handler: Any
    has_visuals: bool
    repairs: bool
    stop_stiffness: float | None
    left_out: list[str]
    changed: list[str] = field(default_factory=list)
    poses: dict[str, Array] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    inertias: dict[str, LinkInertia] = field(default_factory=dict)
    rates: dict[str, dict[JointTwist, Array]] = field(default_factory=dict)
    carried: dict[str, list[str]] = field(default_factory=dict)
    made: dict[str, Joint] = field(default_factory=dict)

    def read(self, is_free: bool) -> None:
        check_robot(self.robot)
        below = {joint.child for joint in self.robot.joints}
        roots = [name for name in self._links if name not in below]
        if len(roots) != 1:
            raise ModelError(f"the links must be one tree, its roots are {roots}")
        for given, known, kind in ((self.flexible, self._links, "link"), (self.positions, self._joints, "joint")):
            for name in given:
                if name not in known:
                    raise ModelError(f"no {kind} is named {name!r}; there are {', '.join(known)}")
        for name, position in self.positions.items():
            if self._joints[name].type in ("revolute", "continuous"):
                warn_of_degrees(f"position of {name}", position)
        (root,) = roots
        self.poses[root], self.heads[root] = np.eye(4), root
        tree = self._placed_joints(root)
        if missing := self._links.keys() - self.poses.keys():
            raise ModelError(f"the links must be one tree, joints do not lead to {', '.join(sorted(missing))}")
        self._check_starts()
        self._find_rates(root, tree, is_free)
        self._find_inertias(tree, None if is_free else root)
        unreadable: list[str] = []
        if is_free:
            self._add(root, unreadable)
        self.model.set_frame(root, self._port(root, root, np.zeros(3)))
        for joint in tree:
            self._join(joint, unreadable)
        for joint in self.robot.joints:
            self._act(joint)
        if unreadable:
            self.left_out.append(f"shapes for pictures that cannot be read: {', '.join(unreadable)}")

    @cached_property
    def _links(self) -> dict[str, Any]:
        return {link.name: link for link in self.robot.links}

    @cached_property
    def _joints(self) -> dict[str, Any]:
        return {joint.name: joint for joint in self.robot.joints}

    def _start(self, joint: Any) -> float:
        """Return the initial coordinate of a URDF joint [rad or m], given by the user or 0. For a mimic joint it
        is multiplier times the leader's coordinate plus offset."""
        if joint.mimic is not None and joint.type in MOVING:
            return _factor(joint) * self._start(self._joints[joint.mimic.joint]) + (joint.mimic.offset or 0.0)
        return finite(f"position of {joint.name}", self.positions.get(joint.name, 0.0))

    def _leader(self, joint: Any) -> tuple[Any, float]:
        """Return the joint at the end of the chain of mimic relations of a URDF joint, and the product of their
        multipliers; without a mimic the joint itself and 1."""
        factor = 1.0
        while joint.mimic is not None and joint.type in MOVING:
            factor, joint = factor * _factor(joint), self._joints[joint.mimic.joint]
        return joint, factor

    def _kind(self, joint: Any) -> str:
        """Return the type of a URDF joint, where a joint that mimics a fixed joint counts as fixed."""
        return "fixed" if self._leader(joint)[0].type == "fixed" else str(joint.type)

    def _placed_joints(self, root: str) -> list[Any]:
        """Return the URDF joints from the link ``root`` outwards, breadth-first. The pose of each child link, a 4
        by 4 matrix, is stored in ``self.poses``. The link whose body it belongs to is stored in ``self.heads``,
        since links behind fixed joints join the parent's body. Initial coordinates of moving joints are stored in
        ``self.model.starts``. ModelError for unknown joint types."""
        tree, waiting = [], [root]
        while waiting:
            parent = waiting.pop(0)
            for joint in [each for each in self.robot.joints if each.parent == parent]:
                if joint.type not in (*MOVING, "fixed", "planar", "floating"):
                    raise ModelError(f"{joint.name} is of type {joint.type!r}, which URDF does not have")
                pose = self.poses[parent] @ (np.eye(4) if joint.origin is None else joint.origin)
                if joint.type in MOVING:
                    start = self._start(joint)
                    pose = pose @ _moved(joint.type, axis_of(joint), start)
                    if self._kind(joint) != "fixed":
                        self.model.starts[joint.name] = start
                head = self.heads[parent]
                is_part = self._kind(joint) == "fixed" and not {head, joint.child} & self.flexible.keys()
                self.poses[joint.child], self.heads[joint.child] = pose, head if is_part else joint.child
                tree.append(joint)
                waiting.append(joint.child)
        return tree

    def _check_starts(self) -> None:
        """Raise ``ModelError`` if initial positions of URDF joints lie outside of their limits by more than a
        tolerance. One message names all wrong joints and proposes positions clipped to the limits, converted to
        the leading joint where a joint mimics another. Joints without limits are skipped."""
        wrong, within = [], {}
        for joint in self.robot.joints:
            limits = self._limits(joint)
            if limits is None:
                continue
            start, (lower, upper) = self.model.starts[joint.name], limits
            if not lower - OUTSIDE <= start <= upper + OUTSIDE:
                leader, factor = self._leader(joint)
                wrong.append(f"{joint.name} is at {start:g}, beyond its limits {lower:g} and {upper:g}")
                within[leader.name] = round(
                    self._start(leader) + (float(np.clip(start, lower, upper)) - start) / (factor or 1.0), 9
                )
        if wrong:
            raise ModelError(
                f"at the initial pose {'; '.join(wrong)}: say where the joints are,"
                f" from_urdf(file, positions={within}), or stop_stiffness=0 leaves limits out"
            )

    def _limits(self, joint: Any) -> tuple[float, float] | None:
        """Return the lower and upper limit of a moving URDF ``joint`` [rad or m], or None without limits. Joints
        that do not move or are continuous have none. None is also returned if the lower limit is not below the
        upper one, and if stops are switched off by a stop stiffness of zero."""
        if self.stop_stiffness == 0 or joint.name not in self.model.starts or joint.type == "continuous":
            return None
        if joint.limit is None:
            return None
        lower, upper = (number_of(joint, name, getattr(joint.limit, name)) for name in ("lower", "upper"))
        return (lower, upper) if lower < upper else None

    def _find_rates(self, root: str, tree: Sequence[Any], is_free: bool) -> None:
        known = {}
        for joint in tree:
            axis = axis_of(joint) if joint.type in (*MOVING, "planar") else np.zeros(3)  # others may have any
            pose, kind = self.poses[joint.child], self._kind(joint)
            known[joint.name] = coordinates_of(joint.name, kind, pose[:3, :3] @ axis, pose[:3, 3])
        free = coordinates_of(root, "floating" if is_free else "fixed", np.zeros(3), np.zeros(3))
        self.rates[root] = {each: each.twist for each in free}
        for joint in tree:
            leader, factor = self._leader(joint)
            rates = dict(self.rates[joint.parent])
            for own, each in zip(known[joint.name], known[leader.name], strict=True):
                rates[each] = rates.get(each, np.zeros((4, 4))) + factor * own.twist
            self.rates[joint.child] = rates

    def _find_inertias(self, tree: Sequence[Any], ground: str | None) -> None:
        """Compute the inertias of all bodies of a robot and store them in ``self.inertias``. Unphysical ones are
        refused or repaired. Small additions are made where a mass matrix would be singular; ``ModelError`` is
        raised if a joint moves no inertia. ``self.carried`` stores for each body all bodies that its joints carry.
        ``tree`` has the joints from the root on, ``ground`` names the body that is ground."""
        above = {joint.child: joint.parent for joint in tree}
        found = {head: self._inertia_of(head) for head in dict.fromkeys(self.heads.values())}
        for head in [
            each for each in found if found[each].is_none and self.heads.get(above.get(each, "")) in self.flexible
        ]:
            if self._kind(next(joint for joint in tree if joint.child == head)) == "fixed":
                carrier = self.heads[above[head]]  # frames on a flexible link
                self.heads.update({name: carrier for name, own in self.heads.items() if own == head})
        self.inertias = {head: found[head] for head in found if head in self.heads.values() and head != ground}
        for head, own in self.inertias.items():
            self.inertias[head] = self._physical(head, own)
            if self.repairs:
                self._give_inertia(head, False)
        moves = {joint.child: joint for joint in tree if self._kind(joint) != "fixed"}
        while lost := joints_without_inertia(
            [(own.moments(self.poses[head]), self.rates[head]) for head, own in self.inertias.items()]
        ):
            at = {child: joint for child, joint in moves.items() if self._leader(joint)[0].name in lost}
            empty = [head for head in (*at, *(lost - self._joints.keys())) if not self.inertias[head].is_regular]
            if not (self.repairs and empty):
                which = " and ".join(
                    f"{head} moves on {at[head].name}" if head in at else f"{head} is free" for head in empty or at
                )
                raise ModelError(
                    f"{which} and has no inertia for that: give it an inertial in the file, or take that of its"
                    ' shape by from_urdf(file, inertia="repair")'
                )
            for head in empty:
                self._give_inertia(head, True)
        carriers = {head: self.heads[above[head]] for head in self.inertias if head in above}
        self.carried = {head: [head] for head in self.inertias}
        for head in self.inertias:
            one = head
            while (one := carriers.get(one, "")) in self.carried:
                self.carried[one].append(head)
        self.inertias = {head: regular_inertia(own, self._carried(head)) for head, own in self.inertias.items()}

    def _parts(self, head: str) -> Poses:
        """Return the URDF links that make up one body, with their poses, shape (4, 4). The poses are in the axes
        of the link ``head``, after which the body is named."""
        back = np.linalg.inv(self.poses[head])
        own = [name for name, other in self.heads.items() if other == head]
        return [(self._links[name], np.eye(4) if name == head else back @ self.poses[name]) for name in own]

    def _carried(self, head: str) -> LinkInertia:
        """Return the inertia of a robot's body (``head``) together with all bodies beyond it on its joints, in the
        axes of this body."""
        back = np.linalg.inv(self.poses[head])
        return united([self.inertias[each].moved(back @ self.poses[each]) for each in self.carried[head]])

    def _inertia_of(self, head: str) -> LinkInertia:
        if head not in self.flexible:
            return united([inertia_of(link).moved(pose) for link, pose in self._parts(head)])
        data = self.flexible[head].discretize(3)
        center, turn = data.first_moments[:, 0] / data.mass, np.eye(4)
        turn[:3, :3] = self._flexible_rotation(head)
        spread = data.undeformed_spread - data.mass * np.outer(center, center)
        return LinkInertia(data.mass, center, spread).moved(turn)

    def _physical(self, head: str, raw: LinkInertia) -> LinkInertia:
        """Return the inertia ``raw`` of a robot's body (``head``) if some distribution of mass has it, else the
        nearest that is physical. Physical means a mass and a second-moment matrix without negative eigenvalues. If
        the fault exceeds round-off, the repair is noted in ``self.changed``, or ModelError is raised where repairs
        are off. Flexible bodies are not checked."""
        if head in self.flexible or (raw.mass >= 0 and np.linalg.eigvalsh(raw.spread)[0] >= 0):
            return raw
        if not raw.is_physical:
            moments = ", ".join(f"{each:g}" for each in np.linalg.eigvalsh(raw.inertia))
            if not self.repairs:
                raise ModelError(
                    f"link {head}: no body has a mass of {raw.mass:g} kg with the principal moments {moments} (none"
                    " negative, none above the sum of the others); correct them in the file, or take the nearest by"
                    ' from_urdf(file, inertia="repair")'
                )
            self.changed.append(f"{head} (mass {raw.mass:g}, moments {moments}) to the nearest of a body")
        return nearest_physical(raw)

    def _give_inertia(self, head: str, needs_some: bool) -> None:
        """Replace a singular inertia of a rigid robot body (``head``) by the inertia of its collision shapes, or
        else visual shapes, scaled to its mass. Its centre of mass stays unless the mass is zero. Without shapes a
        radius of gyration of 1 cm is used if ``needs_some``, else nothing changes. Changes are noted in
        ``self.changed``. Flexible bodies are left unchanged."""
        own, parts = self.inertias[head], self._parts(head)
        if own.is_regular or head in self.flexible:
            return
        shapes = surfaces(parts, "collisions", self.handler, []) or surfaces(parts, "visuals", self.handler, [])
        if shapes or needs_some:
            new = shape_inertia(shapes, own.mass)
            self.inertias[head] = LinkInertia(new.mass, own.center if own.mass else new.center, new.spread)
            source = "the moments of its shape" if shapes else "a radius of gyration of 1 cm, it has no shape"
            self.changed.append(f"{head} to {new.mass:.3g} kg with {source}")

    def _join(self, joint: Any, unreadable: list[str]) -> None:
        name, pivot = joint.child, self.poses[joint.child][:3, 3]
        if self.heads[name] != name:
            self.model.set_frame(name, self._port(self.heads[name], joint.name, pivot))
            return
        kind = self._kind(joint)
        origin = np.eye(4) if joint.origin is None else joint.origin
        anchor = (self.poses[joint.parent] @ origin)[:3, 3]
        parent = self._port(self.heads[joint.parent], joint.name, anchor)
        if name in self.flexible:
            self._add_flexible(joint)
        else:
            self._add(name, unreadable)
        child = self._port(name, joint.name, pivot)
        self.model.set_frame(name, child)
        world = self.poses[name][:3, :3] @ (np.zeros(3) if kind in ("fixed", "floating") else axis_of(joint))
        match kind:
            case "fixed":
                made: Joint = Fixed(parent, child, name=joint.name)
            case "revolute" | "continuous":
                made = Revolute(parent, child, axis=world, name=joint.name)
            case "prismatic":
                made = Prismatic(parent, child, axis=world, name=joint.name)
            case "planar":
                made = Planar(parent, child, axis=world, name=joint.name)
            case _:
                return
        self.made[joint.name] = self.model.connect(made)

    def _port(self, head: str, joint: str, position: Array) -> Port:
        """Return the point or frame (``Port``) on the link ``head`` at which a URDF ``joint`` is attached, at a
        world ``position`` [m]. Links without a body stand for the ground. On a flexible body, it is the interface
        with the joint's name; on a beam, the nearest end or axis position. Raise ``ModelError`` if the position is
        not at that interface, or not on that axis."""
        if head not in self.inertias:
            return self.model.ground.at(position)
        carrier, body = self.model[head], self.flexible.get(head)
        assert isinstance(carrier, PlacedBody), "no link is a rod or a beam in parts"
        local = carrier.rotation.T @ (position - carrier.position)
        if isinstance(body, FlexibleBody):
            port = carrier[joint]
            if np.linalg.norm(port.initial_position() - position) > SAME * max(float(np.linalg.norm(local)), 1.0):
                raise ModelError(
                    f"interface {joint!r} of {carrier.name} is not where the joint is, at {local} in it"
                )
            return port
        if isinstance(body, Beam):
            if np.linalg.norm(local[1:]) > SAME * body.length or not -SAME < local[0] / body.length < 1 + SAME:
                raise ModelError(
                    f"{joint} is not on the axis of the beam {carrier.name}, but at {local} in its axes"
                )
            share = local[0] / body.length
            return carrier.start if share < SAME else carrier.end if share > 1 - SAME else carrier.at(local[0])
        return carrier.point(local)

    def _add(self, head: str, unreadable: list[str]) -> None:
        own, pose, shape = self.inertias[head], self.poses[head], None
        if self.has_visuals and (found := surfaces(self._parts(head), "visuals", self.handler, unreadable)):
            whole = optional("trimesh", "urdf").util.concatenate(found)
            shape = TriangleMesh(np.asarray(whole.vertices), np.asarray(whole.faces), center=(0.0, 0.0, 0.0))
        try:
            body = RigidBody(own.mass, own.inertia, center=own.center, shape=shape)
        except ParameterError as error:
            raise ModelError(f"link {head}: {error}") from error
        self.model.add(body, head, position=pose[:3, 3], rotation=pose[:3, :3])

    def _add_flexible(self, joint: Any) -> None:
        name, pose = joint.child, self.poses[joint.child]
        turn = self._flexible_rotation(name)
        self.model.add(self.flexible[name], name, position=pose[:3, 3], rotation=pose[:3, :3] @ turn)

    def _flexible_rotation(self, name: str) -> Array:
        """Return the rotation matrix from the axes of a flexible body to the axes of its URDF link ``name``, shape
        (3, 3). It is the identity except for beams. A beam's x axis points to the farthest child joint, or to the
        centre of mass if the link has none. ModelError is raised if that distance is zero, or the beam's length
        differs from the distance to the joint.

        Raises:
            ModelError: the beam is not as long as the link.
        """
        body = self.flexible[name]
        if not isinstance(body, Beam):
            return np.eye(3)
        children = [each.origin for each in self.robot.joints if each.parent == name and each.origin is not None]
        ends = [origin[:3, 3] for origin in children] or [inertia_of(self._links[name]).center]
        along = max(ends, key=lambda end: float(np.linalg.norm(end)))
        length = float(np.linalg.norm(along))
        if length == 0 or (children and abs(length - body.length) > SAME * body.length):
            carrier = next((each.name for each in self.robot.joints if each.child == name), "its start")
            raise ModelError(
                f"the beam for {name} must be {length:.9g} m long, from {carrier} to the next joint,"
                f" got length={body.length:.9g}"
            )
        return _turned_to(along / length)

    def _act(self, joint: Any) -> None:
        """Add the mimic relation, stops at the limits, viscous damper and Coulomb friction of a URDF ``joint`` to
        the model. Elements that the file does not have, or gives as zero, are left out. Limits of angles are
        shifted by the initial angle, because the model measures angles from its start. Joints that were not made,
        or have no single coordinate, are skipped."""
        if joint.name not in self.made or joint.type not in MOVING:
            return
        made, start = self.made[joint.name], self.model.starts[joint.name]
        word = "position" if joint.type == "prismatic" else "angle"
        if joint.mimic is not None:
            leader = self._joints[joint.mimic.joint]
            other = "position" if leader.type == "prismatic" else "angle"
            self.model.connect(Relation([(made, word, 1.0), (self.made[leader.name], other, -_factor(joint))]))
        shift = start if word == "angle" else 0.0
        if (limits := self._limits(joint)) is not None:
            stiffness = self._stop_stiffness(joint) if self.stop_stiffness is None else self.stop_stiffness
            self.model.apply(made.stop(lower=limits[0] - shift, upper=limits[1] - shift, stiffness=stiffness))
        dynamics = joint.dynamics
        damping = 0.0 if dynamics is None else number_of(joint, "damping", dynamics.damping)
        friction = 0.0 if dynamics is None else number_of(joint, "friction", dynamics.friction)
        if damping:
            self.model.apply(made.damper(damping))
        if friction:
            self.model.apply(made.friction(coulomb=friction, bristle=0.0))  # a law that inverse problems can take

    def _stop_stiffness(self, joint: Any) -> float:
        """Return the stiffness of a URDF joint's stops for the weight of all that the joint carries [N m/rad or
        N/m]."""
        carried, axis = self._carried(joint.child), axis_of(joint)
        spread = carried.moments(np.eye(4))[:3, :3]
        inertia = carried.mass if joint.type == "prismatic" else np.trace(spread) - axis @ spread @ axis
        return weight_stiffness(float(inertia), float(np.sqrt(np.trace(spread) / carried.mass)))


class InertiaSource(Enum):
    """Sources of inertias of links where that of the file is missing or not admissible."""

    FILE = "file"
    REPAIR = "repair"


def _factor(joint: Any) -> float:
    return 1.0 if joint.mimic.multiplier is None else float(joint.mimic.multiplier)


def from_urdf(
    path: str | PathLike[str],
    flexible: Mapping[str, Flexible] | None = None,
    *,
    positions: Mapping[str, float] | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    stop_stiffness: float | None = None,
    free: bool = False,
    visuals: bool = True,
    inertia: InertiaSource | str = InertiaSource.FILE,
) -> UrdfModel:
    """Return the model of the robot that a URDF file (``path``) describes, with links as rigid or ``flexible``
    bodies. ``positions`` are initial joint coordinates, ``gravity`` is in m/s^2, ``stop_stiffness`` belongs to
    joint limits. The root link is ground unless ``free``. ``visuals`` says whether shapes are read, ``inertia``
    whether impossible inertias are refused or repaired. A warning lists what is left out.

    Bodies have the names of links, ``model.joint(name)`` finds joints. The root is ground. Links on fixed joints
    are parts of the body that carries them, with their inertia, or of the ground; ``model.frame(link)`` is the port
    at the origin of any link. Mimic joints become ``Relation``, limits ``joint.stop``, damping and friction
    of joints elements (friction with ``bristle=0``, as ``optimal_inputs`` needs it); efforts and velocities are not
    limited, and shapes touch nothing without a ``Contact``. A warning lists what else is left out, such as macros
    and loops of other programs.

    Links that lack mass or moments get 1e-7 of what they carry, as long as no joint moves without inertia.

    Args:
        path: of the file.
        flexible: what takes the place of links, with their masses, by name: a ``Beam`` from the joint that carries
            the link to the farthest joint on it (as long as they are apart; of the last link towards its center of
            mass), or a ``FlexibleBody`` in the axes of the link with interfaces of the names of its joints.
        positions: coordinates of joints at the initial pose by name, of others 0 [rad or m].
        gravity: shape (3,) [m/s^2].
        stop_stiffness: of limits [N m/rad or N/m]; None: by which the weight of what the joint carries goes a
            thousandth of its size deep, or 1e-3 rad; 0: no limits.
        free: whether the root is a body that is free to move, and not ground.
        visuals: whether to read shapes and meshes for pictures.
        inertia: "file", which refuses links whose inertia is that of no body or is missing where they move, or
            "repair", which takes the nearest one of a body, or that of their shapes at 1000 kg/m3 (exact for boxes,
            cylinders and spheres; without a shape, where they need it, 1 g and 1 cm), and lists in a warning what
            was changed.

    Raises:
        ResultFileError: the file cannot be read.
        ModelError: links or joints that do not fit, named: names that come twice, mimics of nothing or of each
            other, axes and numbers that are none, positions beyond limits, links without the inertia they need.
        ParameterError: bodies that are neither beams nor flexible bodies, or numbers out of range.
        MissingExtraError: yourdfpy is not installed.
    """
    file = file_path("path", path)
    reader = optional("yourdfpy", "urdf")
    stiffness = None if stop_stiffness is None else non_negative("stop_stiffness", stop_stiffness)
    is_free, repairs = flag("free", free), option("inertia", inertia, InertiaSource) is InertiaSource.REPAIR
    for word, given in (("flexible", flexible), ("positions", positions)):
        if not isinstance(given, Mapping | None):
            raise ParameterError(f"{word} must be a dictionary by names of links or joints, got {given!r}")
    for name, body in (flexible or {}).items():
        if not isinstance(body, Beam | FlexibleBody):
            raise ParameterError(f"flexible takes Beam and FlexibleBody by names of links, got {name}: {body!r}")
    try:
        robot = reader.URDF.load(
            file, build_scene_graph=False, load_meshes=False, build_collision_scene_graph=False
        )
        left_out = left_out_of(file)
    except Exception as error:  # whatever parsers raise
        raise ResultFileError(f"{file} is no URDF file that yourdfpy reads: {error}") from error
    model = UrdfModel(gravity=gravity)
    bodies, starts, handler = flexible or {}, positions or {}, robot._filename_handler
    has_visuals = flag("visuals", visuals)
    read = _UrdfReader(robot.robot, model, bodies, starts, handler, has_visuals, repairs, stiffness, left_out)
    read.read(is_free)
    if not model.bodies:
        raise ModelError(f"{file} has no link that moves")
    for what, listed in (("changes", read.changed), ("leaves out", read.left_out)):
        if listed:
            warnings.warn(f"from_urdf {what} of {file}: {'; '.join(listed)}", LeftOutWarning, stacklevel=2)
    return model


def _moved(kind: str, axis: Array, coordinate: float) -> Array:
    """Return the motion of the child link of a URDF joint from coordinate zero to ``coordinate`` [m or rad], as a
    (4, 4) transformation matrix. It is a translation along ``axis`` if ``kind`` is "prismatic", else a
    right-handed rotation about it. The axis is normalized."""
    found = np.eye(4)
    unit = axis / np.linalg.norm(axis)
    if kind == "prismatic":
        found[:3, 3] = coordinate * unit
    else:
        found[:3, :3] = Rotation.from_rotvec(coordinate * unit).as_matrix()
    return found


def _turned_to(along: Array) -> Array:
    """Return the rotation matrix from the axes of a beam to those of its URDF link, shape (3, 3), as columns.
    x is the direction ``along`` the beam, y is perpendicular to it and to the link's z axis; the link's y
    axis replaces z for beams along z."""
    up = np.array([0.0, 0.0, 1.0] if abs(along[2]) < 0.9 else [0.0, 1.0, 0.0])
    side = np.cross(up, along)
    side /= np.linalg.norm(side)
    return np.stack([along, side, np.cross(along, side)], axis=1)
