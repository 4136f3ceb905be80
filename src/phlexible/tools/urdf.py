"""``from_urdf``: robots described by URDF files, read by yourdfpy; links of choice may be flexible."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, file_path, finite, flag, non_negative
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.rigid_body import RigidBody
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Fixed, Planar, Prismatic, Revolute
from phlexible.description.joints.relations import Relation
from phlexible.description.ports import Port
from phlexible.errors import ModelError, ParameterError, ResultFileError
from phlexible.extras import optional
from phlexible.model import Model
from phlexible.shapes.solids import TriangleMesh
from phlexible.tools.urdf_checks import MOVING, axis_of, check_robot, number_of

# How links of a URDF file look: boxes, cylinders, spheres and meshes as one surface, made by trimesh.


def visual_shape(link: Any, handler: Any) -> TriangleMesh | None:
    """The surface of all visuals that can be drawn, in the axes of the link; None without any.

    Args:
        link: as yourdfpy read it.
        handler: finds files of meshes by their names; None: no pictures.
    """
    if handler is None or not link.visuals:
        return None
    meshes = optional("trimesh", "urdf")
    found = []
    for visual in link.visuals:
        try:
            part = _surface(meshes, visual.geometry, handler)
            if part is not None and visual.origin is not None:
                part.apply_transform(visual.origin)
        except Exception:  # of files and sizes: a picture less is no reason to refuse a robot
            continue
        if part is not None and np.isfinite(part.vertices).all():
            found.append(part)
    if not found:
        return None
    whole = meshes.util.concatenate(found)
    return TriangleMesh(np.asarray(whole.vertices), np.asarray(whole.faces), center=(0.0, 0.0, 0.0))


def _surface(meshes: Any, geometry: Any, handler: Any) -> Any:
    if geometry.box is not None:
        return meshes.creation.box(extents=geometry.box.size)
    if geometry.cylinder is not None:
        return meshes.creation.cylinder(
            radius=geometry.cylinder.radius, height=geometry.cylinder.length, sections=16
        )
    if geometry.sphere is not None:
        return meshes.creation.icosphere(subdivisions=2, radius=geometry.sphere.radius)
    if geometry.mesh is None:
        return None
    part = meshes.load(handler(fname=geometry.mesh.filename), force="mesh")
    if geometry.mesh.scale is not None:
        part.apply_scale(geometry.mesh.scale)
    return part


SAME = 1e-6  # of the length of a beam
Flexible = Beam | FlexibleBody


class UrdfModel(Model):
    """A ``Model`` whose joints and bodies have the names of a URDF file.

    Attributes:
        starts: coordinate of each moving joint in the file at the initial pose, by name [rad or m]. Angles of
            ``joint(name)`` count from there; positions of prismatic joints are those of the file.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        super().__init__(gravity, dimension)
        self.starts: dict[str, float] = {}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of ``joints``, in their order."""
        return tuple(map(str, self.joints))

    def replace(self, *given: Any, **named: Any) -> Self:
        """A copy with other parameters, as of ``Model``."""
        copy = super().replace(*given, **named)
        copy.starts = dict(self.starts)
        return copy


@dataclass(eq=False)
class _UrdfReader:
    """A tree of links that becomes a model.

    Attributes:
        robot: what yourdfpy read.
        model: that it becomes.
        flexible: bodies by the names of links.
        positions: coordinates of joints at the start.
        handler: finds files of meshes; None: no pictures.
        owners: where a link sits: the handle of the body that carries it, or None of the ground; and its place
            and turn, (4, 4), in world axes.
        made: joints by name.
    """

    robot: Any
    model: UrdfModel
    flexible: Mapping[str, Flexible]
    positions: Mapping[str, float]
    handler: Any
    owners: dict[str, tuple[Any, Array]] = field(default_factory=dict)
    made: dict[str, Joint] = field(default_factory=dict)

    def read(self, stop_stiffness: float, is_free: bool) -> None:
        check_robot(self.robot)
        links = {link.name: link for link in self.robot.links}
        below = {joint.child for joint in self.robot.joints}
        roots = [name for name in links if name not in below]
        if len(roots) != 1:
            raise ModelError(f"the links must be one tree, its roots are {roots}")
        for given, known, kind in ((self.flexible, links, "link"), (self.positions, self._joints, "joint")):
            for name in given:
                if name not in known:
                    raise ModelError(f"no {kind} is named {name!r}; there are {', '.join(known)}")
        root = links[roots[0]]
        own = _moments(root)
        if is_free and own is None:
            raise ModelError(f"the free root {root.name} has no mass")
        self.owners[root.name] = (None, np.eye(4)) if not is_free else (self._add(root, np.eye(4)), np.eye(4))
        waiting = [root.name]
        while waiting:
            parent = waiting.pop(0)
            for joint in [each for each in self.robot.joints if each.parent == parent]:
                self._join(joint, links[joint.child])
                waiting.append(joint.child)
        if missing := links.keys() - self.owners.keys():
            raise ModelError(f"the links must be one tree, joints do not lead to {', '.join(sorted(missing))}")
        for joint in self.robot.joints:
            self._act(joint, stop_stiffness)

    @property
    def _joints(self) -> dict[str, Any]:
        return {joint.name: joint for joint in self.robot.joints}

    def _start(self, joint: Any) -> float:
        """Coordinate at the initial pose; of a mimic joint what it follows from."""
        if joint.mimic is not None:
            leader = self._joints[joint.mimic.joint]
            factor = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
            return float(factor * self._start(leader) + (joint.mimic.offset or 0.0))
        return finite(f"position of {joint.name}", self.positions.get(joint.name, 0.0))

    def _join(self, joint: Any, link: Any) -> None:
        carrier, place = self.owners[joint.parent]
        place = place @ (np.eye(4) if joint.origin is None else joint.origin)
        axis = axis_of(joint) if joint.type in (*MOVING, "planar") else np.zeros(3)  # fixed ones may have any
        pivot = place[:3, 3]
        if joint.type in MOVING:
            start = self.model.starts[joint.name] = self._start(joint)
            place = place @ _moved(joint.type, axis, start)
        parent = self._port(joint.parent, joint.name, carrier, pivot)
        has_mass = link.name in self.flexible or _moments(link) is not None
        if joint.type == "fixed" and not has_mass:  # a frame
            self.owners[link.name] = (carrier, place)
            return
        if not has_mass:
            raise ModelError(f"{link.name} moves on {joint.name} and has no mass: give it an inertial in the file")
        if link.name in self.flexible:
            own = self._add_flexible(link, joint, place)
        else:
            own = self._add(link, place)
        self.owners[link.name] = (own, place)
        child = self._port(link.name, joint.name, own, place[:3, 3])
        world = place[:3, :3] @ axis
        match joint.type:
            case "fixed":
                made: Joint = Fixed(parent, child, name=joint.name)
            case "revolute" | "continuous":
                made = Revolute(parent, child, axis=world, name=joint.name)
            case "prismatic":
                made = Prismatic(parent, child, axis=world, name=joint.name)
            case "planar":
                made = Planar(parent, child, axis=world, name=joint.name)
            case "floating":
                return
            case _:
                raise ModelError(f"{joint.name} is of type {joint.type!r}, which URDF does not have")
        self.made[joint.name] = self.model.connect(made)

    def _port(self, link: str, joint: str, carrier: Any, place: Array) -> Port:
        """Where a joint sits on a link."""
        if carrier is None:
            return self.model.ground.at(place)
        body = self.flexible.get(carrier.name)
        local = carrier.rotation.T @ (place - carrier.position)
        if isinstance(body, FlexibleBody):
            port: Port = carrier[joint]
            if np.linalg.norm(port.initial_position() - place) > SAME * max(float(np.linalg.norm(local)), 1.0):
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
            port = carrier.start if share < SAME else carrier.end if share > 1 - SAME else carrier.at(local[0])
            return port
        port = carrier.point(local)
        return port

    def _add(self, link: Any, place: Array) -> Any:
        found = _moments(link)
        assert found is not None, "links without mass are frames"
        mass, center, inertia = found
        shape = visual_shape(link, self.handler)
        try:
            body = RigidBody(mass, inertia, center=center, shape=shape)
        except ParameterError as error:
            raise ModelError(f"link {link.name}: {error}") from error
        return self.model.add(body, link.name, position=place[:3, 3], rotation=place[:3, :3])

    def _add_flexible(self, link: Any, joint: Any, place: Array) -> Any:
        body = self.flexible[link.name]
        if not isinstance(body, Beam):
            return self.model.add(body, link.name, position=place[:3, 3], rotation=place[:3, :3])
        children = [
            each.origin for each in self.robot.joints if each.parent == link.name and each.origin is not None
        ]
        ends = [origin[:3, 3] for origin in children] or [_center(link)]
        along = max(ends, key=lambda end: float(np.linalg.norm(end)))
        length = float(np.linalg.norm(along))
        if length == 0 or (children and abs(length - body.length) > SAME * body.length):
            raise ModelError(
                f"the beam for {link.name} must be {length:.9g} m long, from {joint.name} to the next joint,"
                f" got length={body.length:.9g}"
            )
        return self.model.add(
            body, link.name, position=place[:3, 3], rotation=place[:3, :3] @ _turned_to(along / length)
        )

    def _act(self, joint: Any, stop_stiffness: float) -> None:
        """Relations, stops, dampers and friction of a joint."""
        if joint.name not in self.made or joint.type not in MOVING:
            return
        made, start = self.made[joint.name], self.model.starts[joint.name]
        word = "position" if joint.type == "prismatic" else "angle"
        if joint.mimic is not None:
            leader = self._joints[joint.mimic.joint]
            other = "position" if leader.type == "prismatic" else "angle"
            factor = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
            self.model.connect(Relation([(made, word, 1.0), (self.made[leader.name], other, -factor)]))
        shift = start if word == "angle" else 0.0
        limit = joint.limit
        if stop_stiffness and joint.type != "continuous" and limit is not None:
            lowest, highest = number_of(joint, "lower", limit.lower), number_of(joint, "upper", limit.upper)
            if lowest < highest:
                stop = made.stop(lower=lowest - shift, upper=highest - shift, stiffness=stop_stiffness)
                self.model.apply(stop)
        dynamics = joint.dynamics
        damping = 0.0 if dynamics is None else number_of(joint, "damping", dynamics.damping)
        friction = 0.0 if dynamics is None else number_of(joint, "friction", dynamics.friction)
        if damping:
            self.model.apply(made.damper(damping))
        if friction:
            self.model.apply(made.friction(coulomb=friction))


def from_urdf(
    path: str | PathLike[str],
    flexible: Mapping[str, Flexible] | None = None,
    *,
    positions: Mapping[str, float] | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    stop_stiffness: float = 1e4,
    free: bool = False,
    visuals: bool = True,
) -> UrdfModel:
    """The model of a robot that a URDF file describes.

    Bodies have the names of links, ``model.joint(name)`` finds joints. The root is ground. Links without mass are
    frames: on a fixed joint they move with what carries them. Mimic joints become ``Relation``, limits
    ``joint.stop``, damping and friction of joints elements; efforts and velocities are not limited.

    Args:
        path: of the file.
        flexible: what takes the place of links, with their masses, by name: a ``Beam`` from the joint that carries
            the link to the farthest joint on it (as long as they are apart; of the last link towards its center of
            mass), or a ``FlexibleBody`` in the axes of the link with interfaces of the names of its joints.
        positions: coordinates of joints at the initial pose by name, of others 0 [rad or m].
        gravity: shape (3,) [m/s^2].
        stop_stiffness: of limits [N m/rad or N/m]; 0: no limits.
        free: whether the root is a body that is free to move, and not ground.
        visuals: whether to read shapes and meshes for pictures; meshes that are not found are left out.

    Raises:
        ResultFileError: the file cannot be read.
        ModelError: links or joints that do not fit, named: names that come twice, mimics of nothing or of each
            other, axes and numbers that are none.
        ParameterError: bodies that are neither beams nor flexible bodies, or numbers out of range.
        MissingExtraError: yourdfpy is not installed.
    """
    place = file_path("path", path)
    reader = optional("yourdfpy", "urdf")
    stiffness, is_free = non_negative("stop_stiffness", stop_stiffness), flag("free", free)
    for word, given in (("flexible", flexible), ("positions", positions)):
        if not isinstance(given, Mapping | None):
            raise ParameterError(f"{word} must be a dictionary by names of links or joints, got {given!r}")
    for name, body in (flexible or {}).items():
        if not isinstance(body, Beam | FlexibleBody):
            raise ParameterError(f"flexible takes Beam and FlexibleBody by names of links, got {name}: {body!r}")
    try:
        robot = reader.URDF.load(
            place, build_scene_graph=False, load_meshes=False, build_collision_scene_graph=False
        )
    except Exception as error:  # whatever parsers raise
        raise ResultFileError(f"{place} is no URDF file that yourdfpy reads: {error}") from error
    model = UrdfModel(gravity=gravity)
    handler = robot._filename_handler if flag("visuals", visuals) else None
    _UrdfReader(robot.robot, model, flexible or {}, positions or {}, handler).read(stiffness, is_free)
    if not model.bodies:
        raise ModelError(f"{place} has no link that moves")
    return model


def _moments(link: Any) -> tuple[float, Array, Array] | None:
    """Mass, center and inertia about it in the axes of the link; None without mass."""
    own = link.inertial
    if own is None or not own.mass:
        return None
    origin = np.eye(4) if own.origin is None else own.origin
    inertia = np.zeros((3, 3)) if own.inertia is None else np.asarray(own.inertia, dtype=np.float64)
    turn = origin[:3, :3]
    return float(own.mass), origin[:3, 3], turn @ inertia @ turn.T


def _center(link: Any) -> Array:
    found = _moments(link)
    return np.zeros(3) if found is None else found[1]


def _moved(kind: str, axis: Array, coordinate: float) -> Array:
    """What a joint adds to the place of its child, (4, 4)."""
    found = np.eye(4)
    unit = axis / np.linalg.norm(axis)
    if kind == "prismatic":
        found[:3, 3] = coordinate * unit
    else:
        found[:3, :3] = Rotation.from_rotvec(coordinate * unit).as_matrix()
    return found


def _turned_to(along: Array) -> Array:
    """Axes of a beam in those of its link: x along it, z as near as can be to the link's z (or y)."""
    up = np.array([0.0, 0.0, 1.0] if abs(along[2]) < 0.9 else [0.0, 1.0, 0.0])
    side = np.cross(up, along)
    side /= np.linalg.norm(side)
    return np.stack([along, side, np.cross(along, side)], axis=1)
