"""A mechanism as the user writes it: placed bodies, joints and loads, each checked when it is added."""

import copy as copies
import dataclasses
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import flag, mapping, text
from phlexible.algebra.rotations import RotationLike
from phlexible.bodies.absolute_body import Field
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.bodies.sizes import refuse_large
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce, feedback_parts
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Fixed
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.rolling import Rolling
from phlexible.description.mechanism.changes import (
    Removable,
    changed_body,
    check_unique_name,
    free_name,
    label_of_value,
    parts_to_remove,
    replacement_parts,
)
from phlexible.description.mechanism.events import (
    Condition,
    Constraint,
    Event,
    Switch,
    check_not_released,
    check_position_unused,
    event,
    locks_of,
    switches_of,
)
from phlexible.description.mechanism.membership import (
    check_belongs,
    check_nodes,
    check_plane,
    clamped_starts,
    place,
    ports_of,
    single_velocity,
)
from phlexible.description.mechanism.parts import MechanismParts, Named, find_by_name, is_named_part
from phlexible.description.mechanism.wholes import (
    assemble_rod,
    assemble_split_beam,
    handle_of,
    part_poses,
    parts_by_name,
    rod_sections,
)
from phlexible.description.placed_wholes import PlacedRod, PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import ModelPart, PlacedBody
from phlexible.description.references import with_replaced_references
from phlexible.display import distinct, shortened
from phlexible.errors import ModelError, ParameterError, UnusedPartWarning, warn_user

JointType = TypeVar("JointType", bound=Joint | JointRelation | Rolling)
Applied = TypeVar("Applied", bound=Load | ForceElement | Drive | CompoundForce | Feedback)
Part = TypeVar("Part", bound=Load | ForceElement | Drive)


class Mechanism(MechanismParts):
    """Mechanism of bodies, joints between them and loads on them, as the user builds it. World axes, SI units.

    Args:
        gravity: acceleration of gravity, shape (3,) [m/s^2].
        dimension: 3: space; 2: motion in the xy plane; 1: along the x axis, of point masses, strings and rods.

    Attributes:
        ground: makes fixed points and moving frames for joints.

    Raises:
        ParameterError: a dimension other than 1, 2 or 3, or a gravity out of the plane or off the line.
    """

    def set_events(self, events: Sequence[Event], switches: tuple[Switch, ...]) -> Self:
        """Store the ``events`` and ``switches`` (constraints that events lock or release) of a mechanism loaded
        from a file, and return the mechanism itself. They replace earlier events and switches and are not
        checked."""
        self._events, self._switches = list(events), switches
        return self

    def with_locks(self) -> Self:
        """Return a copy of this mechanism for a run, in which the joint coordinates that events will lock have
        constraints from the start. The copy also stores which constraints of events are active at the start. The
        mechanism itself is returned if it has no events or is such a copy."""
        if not self._events or self._switches:
            return self
        copy = copies.copy(self)
        copy._switches = tuple(switches_of(self._events, self.constraints))
        copy._relations = [*self._relations, *locks_of(self._events, self.constraints)]
        return copy

    def shallow_copy(self) -> Self:
        """Return a shallow copy of the mechanism with the same bodies and parts. Parts that are added to one of the
        two, or removed from it, do not affect the other."""
        copy = copies.copy(self)
        vars(copy).update({name: each.copy() for name, each in vars(copy).items() if isinstance(each, list | dict)})
        return copy

    @overload
    def add(
        self,
        body: Body,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: Field | None = None,
        angular_velocity: ArrayLike | None = None,
        shape: Field | None = None,
        *,
        large: bool = False,
    ) -> PlacedBody: ...

    @overload
    def add(
        self,
        body: SplitBeam,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        *,
        large: bool = False,
    ) -> PlacedSplitBeam: ...

    @overload
    def add(
        self,
        body: Rod,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: Field | None = None,
        angular_velocity: ArrayLike | None = None,
        shape: Field | None = None,
        *,
        large: bool = False,
    ) -> PlacedRod: ...

    def add(
        self,
        body: Body | SplitBeam | Rod,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: Field | None = None,
        angular_velocity: ArrayLike | None = None,
        shape: Field | None = None,
        *,
        large: bool = False,
    ) -> PlacedBody | PlacedWhole:
        """Add a body to the model at a ``position`` [m], ``rotation`` and initial ``velocity`` [m/s], and return
        the placed body. Its points are ports for joints and loads. A rod or split beam is added as several bodies.
        ``shape`` is the initial shape of a string, soft body or rod. One description may be added several times.
        Without ``large``, very large bodies raise an error.

        Args:
            body: the description; ``beam.split(n)``: its parts are placed and fixed to each other; a ``Rod``: its
                sections are placed, elastic elements between them.
            name: unique in the model; None: "beam 1", "beam 2", ...
            position: origin of the body frame at t = 0, world axes, shape (3,) [m].
            rotation: body to world at t = 0; a SciPy Rotation, a 3x3 matrix or, in the plane, an
                angle about z [rad].
            velocity: of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from joints, zero without.
            angular_velocity: at t = 0, world axes, shape (3,) [rad/s]; None: solved from joints, zero without.
            shape: of a string or rod at t = 0, then rotated by ``rotation`` and moved by ``position``: a function
                of s [m] that returns a position, its two end points, or its nodes (N, 3); None: straight
                along x. Its ``velocity`` may be a function of s or (N, 3), too.
            large: True: a body of elements that take more than 32 GB of memory is accepted.

        Returns:
            Handle whose ``start``, ``end``, ``at(x)``, ``origin`` and ``point(...)`` are ports.

        Raises:
            ModelError: no body, a name that is taken, an angular velocity of a point mass or string, or a
                shape of a body that is not a string or rod.
            ParameterError: numbers of a wrong shape, not finite, or out of the plane; or so many elements that the
                message says how much memory they take.
            SingularMassError: a motion of the body carries no kinetic energy.

        Example:
            >>> from scipy.spatial.transform import Rotation
            >>> model = ph.Model()
            >>> bar = ph.Beam(0.5, ph.CircularSection(0.01), ph.Material(210e9, 7850.0))
            >>> bar = model.add(bar, "bar", rotation=Rotation.from_euler("z", 90, degrees=True))
            >>> bar.end.initial_position().round(6) + 0.0
            array([0. , 0.5, 0. ])
        """
        if not isinstance(body, Body | SplitBeam | Rod):
            raise ModelError(f"add takes a body such as Beam or RigidBody, got {label_of_value(body)}")
        body = changed_body(body)
        refuse_large(*body.memory(self._dimension), "model.add", flag("large", large))
        taken: Mapping[str, object] = ChainMap[str, Any](self._bodies, self._wholes)
        name = free_name(body, name, taken, self._kinds[type(body)])
        if isinstance(body, Rod):
            where = (position, rotation, velocity, angular_velocity, shape)
            sections = rod_sections(body, name, self._dimension, self._bodies, *where)
            nodes = [self.add(*section, large=True).name for section in sections]
            return self.group_rod(name, body, nodes)
        if isinstance(body, SplitBeam):
            if shape is not None:
                raise ModelError(f"{name} is not a string and has no shape; pass position= and rotation=")
            places = part_poses(body, name, position, rotation, self._dimension, self._bodies)
            speed = None if velocity is None else single_velocity(name, velocity)
            self.add(body.part, *places[0], speed, angular_velocity, large=True)
            for part, (before, here) in zip(body.parts[1:], pairwise(places), strict=True):
                placed = self.add(part, *here, large=True)  # their velocities follow from the joints
                self.connect(Fixed(self._bodies[before[0]].end_cut(at_end=True), placed.end_cut(at_end=False)))
            return self.group(name, [part_name for part_name, _, _ in places])
        equal = self._latest.get(id(body))
        placed = place(body, name, self._dimension, position, rotation, velocity, angular_velocity, shape, equal)
        self._bodies[name], self._ordered, self._latest[id(body)] = placed, None, placed
        self._kinds[type(body)] += 1
        return placed

    def group(self, name: str, parts: Sequence[str]) -> PlacedSplitBeam:
        """Store equal beams that are already in the model, given by their names from start to end, as one long
        beam. Return the object that stands for the whole beam, which is stored under ``name``. No bodies or joints
        are added.

        Raises:
            ModelError: a name that is taken, or bodies that are not in the model or are not equal beams.
            ParameterError: a name that is not a text, or no list of names.
        """
        self._wholes[name] = split = assemble_split_beam(name, self._bodies_named(name, parts))
        self._kinds[type(split.body)] += 1
        return split

    def group_rod(
        self, name: str, rod: Rod, parts: Sequence[str], stress_free: ArrayLike | None = None
    ) -> PlacedRod:
        """Connect rigid sections that are already in the model, given by their names from start to end, by the
        elastic elements of a rod. Return the object that stands for the rod, which is stored under ``name``.
        ``stress_free`` are the strains without stress, or None for the strains of the rod's description.

        Args:
            name: of the rod.
            rod: the description.
            parts: names of the sections.
            stress_free: strains without stress, as of ``RodInModel``; None: as the rod prescribes, at its pose.

        Raises:
            ModelError: a name that is taken, or bodies that are not the sections of this rod.
        """
        natural = None if stress_free is None else np.asarray(stress_free, dtype=np.float64)
        self._wholes[name] = joined_rod = assemble_rod(name, rod, self._bodies_named(name, parts), natural)
        self._kinds[Rod] += 1
        return joined_rod.handle

    def _bodies_named(self, name: str, parts: Sequence[str]) -> list[PlacedBody]:
        if text("name", name) in self._bodies or name in self.wholes:
            raise ModelError(f"a body named {name!r} is already in the model; give another name")
        if not isinstance(parts, list | tuple) or not parts:
            raise ParameterError(f"parts must be a list of names of bodies, got {parts!r}")
        if missing := [part for part in parts if not (isinstance(part, str) and part in self._bodies)]:
            raise ModelError(f"parts: no body is named {missing[0]!r}")
        return [self._bodies[part] for part in parts]

    def connect(self, joint: JointType) -> JointType:
        """Add a joint, or a relation between joints such as ``Gear``, to the model and return the same object. It
        must be new, have a unique name, and lie on bodies of this model and in its plane; else an error is raised.
        A ``Rolling`` joint is added as its conditions. Beams whose start the joint clamps get a clamped floating
        frame.

        Raises:
            ModelError: no joint, one that is already connected, one with a port on a body of another
                model, or one that the model's dimension or its ports do not allow.

        Example:
            >>> model = ph.Model()
            >>> wheel = model.add(ph.RigidBody.cylinder(0.1, 0.02, density=7850.0), "wheel")
            >>> hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin, name="hinge"))
            >>> model.joint("hinge") is hinge
            True
        """
        if isinstance(joint, Rolling):
            rows = joint.connect_rows(self.connect, self._dimension)
            self._compounds.append((joint, rows))
            return joint
        if not isinstance(joint, Joint | JointRelation):
            hint = "; loads, springs and drives go to model.apply" if isinstance(joint, ModelPart) else ""
            raise ModelError(f"connect takes a joint such as Revolute(a, b), got {label_of_value(joint)}{hint}")
        receive(joint, *ports_of(joint))
        if id(joint) in self._joints or any(joint is relation for relation in self._relations):
            raise ModelError(f"{joint} is already connected")
        if joint.name is not None:
            check_unique_name(joint, (*self.joints, *self._relations, *locks_of(self._events, self._relations)))
        check_belongs(joint, self._bodies, self._joints)
        check_nodes(joint)
        check_plane(joint, self._dimension)
        joint.constraints(self._dimension)
        if isinstance(joint, JointRelation):
            self._relations.append(joint)
            return joint
        for port in clamped_starts(joint):
            port.placed.clamp()
        self._joints[id(joint)] = joint
        joint.warn_of_gravity(self.gravity, self._dimension)
        return joint

    def apply(self, part: Applied) -> Applied:
        """Add ``part``, a load, a force element, a drive or a controller, to this model and return it unchanged. A
        part that acts on several objects is stored with its components, which are added one by one. Raise
        ``ModelError`` for other objects, parts already applied, parts of another model, a second drive of one
        coordinate, and a controller without objects.

        If its name is taken, it is renamed ("force on beam.end 2").

        Args:
            part: a load: ``Force``, ``Torque``, ``DistributedForce``, ``Pressure``; a force element:
                ``SpringDamper``, ``Tendon``, ``Bushing``, ``Contact``, ``StateForce``; what the methods of a
                joint make: ``spring``, ``damper``, ``force``, ``torque``, ``motor``, ``servo``, ``drive``,
                ``stop``, ``friction``; those of a tendon, ``drive`` and ``motor``; a ``Feedback`` with ``on``.

        Raises:
            ModelError: something else, a part that is already applied, one on a body or joint of another
                model, or a second drive of one coordinate.
            ParameterError: a value at t = 0 that is not three finite numbers or leaves the plane.

        Example:
            >>> model = ph.Model(dimension=2)
            >>> cart = model.add(ph.RigidBody(2.0, 0.1), "cart")
            >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
            >>> spring = model.apply(rail.spring(50.0, name="spring"))
            >>> push = model.apply(ph.Force(cart.origin, (1.0, 0.0, 0.0)))
            >>> model.equilibrium().position(cart.origin).round(9) + 0.0
            array([0.02, 0.  , 0.  ])
        """
        if isinstance(part, Feedback) and not part.on:
            raise ModelError(
                "a Feedback acts on=[joints and attachments], or is the value of a load: joint.torque(feedback)"
            )
        if isinstance(part, CompoundForce | Feedback):
            receive(part, *ports_of(part))
            parts = part.parts() if isinstance(part, CompoundForce) else feedback_parts(part)
            self._compounds.append((part, tuple(self._apply(component) for component in parts)))
            return part
        if not isinstance(part, Load | ForceElement | Drive):
            raise ModelError(
                "part must be a load such as Force(beam.end, f), a force element such as SpringDamper(a, b, k), or"
                f" the result of joint.spring, motor or drive, got {label_of_value(part)}"
                + ("; joints go to model.connect" if isinstance(part, Joint | JointRelation) else "")
            )
        return self._apply(part)

    def at(
        self,
        when: float | Condition,
        *,
        lock: Joint | JointRelation | None = None,
        release: Constraint | Event | None = None,
    ) -> Event:
        """Schedule an event that locks the joint or relation ``lock``, or removes the joint, drive or relation
        ``release``, and return it. It happens once, at the time ``when`` [s] or when that condition is met; see
        docs/forces_and_drives.md. Raise ``ParameterError`` or ``ModelError`` for unsuitable joints, and for joints
        that an earlier event releases.

        Velocities jump by the impulse of a lock; the energy that is lost counts as dissipated.

        Args:
            when: [s], or ``When(sensor, above=...)``.
            lock: a joint, whose free coordinates are constant from then on; or a relation such as ``Gear``,
                which is active from then on (a clutch).
            release: a joint, drive or relation, which is removed from then on; or the result of
                ``at(..., lock=...)``.

        Raises:
            ParameterError: no time and no condition, or neither or both of ``lock`` and ``release``.
            ModelError: a joint that leaves nothing free, that is driven, or something that is not in this model;
                release of a ``Sliding`` joint of which a drive, relation or lock still has the position.
        """
        locks = [*locks_of(self._events, self._relations)]
        if isinstance(lock, JointRelation):
            check_unique_name(lock, (*self.joints, *self._relations, *locks))
            check_belongs(lock, self._bodies, self._joints)
            check_plane(lock, self._dimension)
            lock.constraints(self._dimension)
        released = [constraint for earlier in self._events for constraint in earlier.released]
        made = event(when, lock, release, (*self.constraints, *locks), released)
        check_position_unused(made, (each for each in (*self.constraints, *locks) if each not in released))
        timed = [(other.when, other) for other in (*self._events, made) if isinstance(other.when, float)]
        for time, locking in timed:
            for earlier_time, releasing in timed:
                if locking.locked and made in (locking, releasing) and earlier_time <= time:
                    check_not_released(locking, releasing.released, f"at t = {earlier_time:g} s")
        self.expect(made)
        return made

    def expect(self, event: Event) -> None:
        """Append an ``event`` to the model's list of events, without a check. Its locked relations are removed
        from the lists of unused parts on their bodies."""
        for lock in event.locked:
            receive(lock, *ports_of(lock))
        self._events.append(event)

    def _apply(self, part: Part) -> Part:
        receive(part, *ports_of(part))
        label = str(part)
        if self._applied.get(label) is part:
            raise ModelError(f"{label} is already applied")
        check_belongs(part, self._bodies, self._joints)
        check_nodes(part)
        check_plane(part, self._dimension)
        if isinstance(part, Drive):
            part.constraints(self._dimension)
            part.check_against(self.drives)
        elif isinstance(part, ForceElement):
            part.forces(self._dimension)
            part.check_against(self._elements)
        if (name := distinct(label, self._applied)) != label:
            renamed: Any = dataclasses.replace(part, name=name)  # type: ignore[arg-type]
            part = renamed
            receive(part, *ports_of(part))
            label = str(part)
        self._applied[label] = part
        match part:
            case Load():
                self._loads.append(part)
            case ForceElement():
                self._elements.append(part)
            case Drive():
                self._drives.append(part)
        return part

    def replace(
        self,
        gravity: ArrayLike | None = None,
        bodies: Mapping[str, Body | SplitBeam | Rod] | None = None,
        parts: Mapping[str, Named] | None = None,
        **named: Body | SplitBeam | Rod | Named,
    ) -> Self:
        """Return a copy of the model with other ``gravity`` [m/s2], ``bodies`` or ``parts``, which are given by
        name in dictionaries or as keywords (``named``). Bodies keep their positions; joints and loads are moved to
        the same locations on the new bodies. Raise ``ModelError`` for unknown names or other kinds of part.

        Args:
            gravity: shape (3,) [m/s^2]; None: as it is.
            bodies: new descriptions by the name of the body that they replace.
            parts: new joints, loads, springs, ..., made on the bodies of this model, by the name of the part that
                they replace, which they inherit.
            named: both as keywords, ``replace(coupler=stiffer, spring=joint.spring(20.0))``.

        Raises:
            ModelError: an unknown name, another kind of part, or whatever the copy's ``add``, ``connect`` or
                ``apply`` refuse.
            AttachmentError: a new body without the location at which a joint or load acts.
        """
        descriptions = {**(mapping("bodies", bodies)), **{k: v for k, v in named.items() if not is_named_part(v)}}
        new = {**(mapping("parts", parts)), **{k: v for k, v in named.items() if is_named_part(v)}}
        copy = type(self)(gravity=(0.0, 0.0, 0.0) if gravity is None else gravity, dimension=self._dimension)
        if gravity is None:
            copy._gravity = self.gravity  # checked, and warned of, where it was given
        copy.ground = self.ground  # and bodies that stay share their data
        copy._latest = {key: placed for key, placed in self._latest.items() if placed.name not in descriptions}
        new_bodies(self, copy, descriptions)
        rods = {name: body for name, body in descriptions.items() if isinstance(body, Rod)}
        copy_parts(self, copy, rods=rods, instead=replacement_parts(self, new))
        return copy

    def copy(self) -> Self:
        """Return a copy of the model with new bodies, joints and loads of the same names and values. Later changes
        of one model do not affect the other."""
        return self.replace()

    def remove(self, *parts: Removable | str) -> Self:
        """Remove ``parts`` (bodies, joints, relations, loads, force elements, drives, events; objects or names)
        from the model, in place, and return the model. ModelError is raised if a remaining part refers to a
        removed part. A beam that no joint clamps any longer gets a free floating frame.

        Handles of other parts stay valid. ``model.copy().remove("motor")`` does not change this model.

        Args:
            parts: handles, results of ``connect``, ``apply`` or ``at``, or names.

        Returns:
            The model.

        Raises:
            ModelError: something that is not in the model, or to which remaining parts refer: remove them, too.
        """
        gone = parts_to_remove(self, parts, self._compounds)
        self._bodies = {name: part for name, part in self._bodies.items() if part not in gone}
        self._latest = {key: part for key, part in self._latest.items() if part not in gone}
        self._wholes = {name: part for name, part in self._wholes.items() if handle_of(part) not in gone}
        self._applied = {name: part for name, part in self._applied.items() if part not in gone}
        self._joints = {key: part for key, part in self._joints.items() if part not in gone}
        lists: tuple[list[Any], ...] = (self._loads, self._elements, self._drives, self._relations, self._events)
        for stored in lists:
            stored[:] = [part for part in stored if part not in gone]
        self._compounds = [(whole, parts) for whole, parts in self._compounds if not gone.issuperset(parts)]
        for port in (port for joint in gone if isinstance(joint, Joint) for port in clamped_starts(joint)):
            others = (start.placed for joint in self.joints for start in clamped_starts(joint))
            port.placed.clamp(is_clamped=port.placed in others)
        self._ordered = None
        return self


# Copies of a mechanism: parts on the bodies of one are made again on those of another.


def copy_parts(
    source: Mechanism,
    copy: Mechanism,
    changed: Callable[[Joint], Joint] = lambda joint: joint,
    rods: Mapping[str, Rod] | None = None,
    instead: Mapping[Any, Any] | None = None,
) -> None:
    """Connect and apply all joints, loads, springs and other parts of a mechanism ``source`` to ``copy``, which
    already has bodies of the same names. ``changed`` is a function, called with each joint, that returns the joint
    to connect. ``rods`` are new descriptions by the names of rods; ``instead`` maps parts to new parts that
    replace them. References between parts are replaced too.

    Args:
        source: is not changed.
        copy: has the bodies and no other parts.
        changed: function that changes each joint before it is connected.
        rods: new descriptions by name; rods keep their stress-free shape.
        instead: new parts by those of ``source`` that they replace, on the bodies of ``source``.

    Raises:
        AttachmentError: a body of the copy does not have a location at which a part acts.
        ModelError: whatever ``connect`` or ``apply`` of the copy refuse.
    """
    bodies = {placed.name: placed for placed in copy.bodies}
    parts: dict[Any, Any] = {placed: bodies[placed.name] for placed in source.bodies}
    new = instead or {}
    for split in source.split_beams:
        parts[split] = copy.group(split.name, [placed.name for placed in split.parts])
    for rod in source.rods:
        handle = rod.handle
        body = (rods or {}).get(handle.name, handle.body)
        names = [placed.name for placed in handle.parts]
        parts[handle] = copy.group_rod(handle.name, body, names, rod.stress_free)
    for joint in source.joints:
        parts[joint] = copy.connect(changed(with_replaced_references(new.get(joint, joint), parts)))
    for relation in source.relations:
        parts[relation] = copy.connect(with_replaced_references(new.get(relation, relation), parts))
    for part in (*source.loads, *source.applied_elements, *source.drives):
        parts[part] = copy.apply(with_replaced_references(new.get(part, part), parts))
    for event_ in source.events:
        parts |= {lock: with_replaced_references(lock, parts) for lock in event_.locked if lock not in parts}
        copy.expect(with_replaced_references(event_, parts))


def new_bodies(source: Mechanism, copy: Mechanism, descriptions: Mapping[str, Body | SplitBeam | Rod]) -> None:
    """Add copies of the bodies of a mechanism ``source`` to ``copy``, with the same names, poses, velocities and
    initial shapes. Bodies named in ``descriptions`` get the descriptions there; for rods and beams of several
    parts these are divided into parts. Raise ``ModelError`` for unknown names and for another kind of body.

    Raises:
        ModelError: an unknown name, or another kind of body.
    """
    existing = {**{placed.name: placed for placed in source.bodies}, **source.wholes}
    for name in descriptions:
        find_by_name("body", name, [*existing])
    new = parts_by_name(descriptions, source.wholes)
    for placed in source.bodies:
        nodes = placed.nodes
        copy.add(
            new.get(placed.name, placed.body),
            placed.name,
            placed.position,
            placed.rotation,
            placed.velocity if nodes is None else nodes.speed,
            placed.angular_velocity,
            None if nodes is None else nodes.shape,
            large=placed.name not in new,
        )


# Parts that were made on the bodies of a mechanism and neither connected nor applied.

MOST_NAMED = 6


def warn_of_unused_parts(mechanism: Mechanism) -> None:
    """Emit one ``UnusedPartWarning`` if the user made joints, force elements, drives, loads or controllers on
    bodies of ``mechanism`` but neither connected nor applied them. Such objects have no effect; the message names
    the first few. Nothing is done if there are none.

    Constant forces of size one are left out: they are directions of inputs for ``Model.linearize``.
    """
    waiting = {id(part): part for placed in mechanism.bodies for part in placed.waiting}
    if not waiting:
        return
    names = [str(part) for part in waiting.values()]
    warn_user(
        f"{shortened(names, MOST_NAMED)} made on bodies of this model and neither connected nor applied, so that"
        " they do nothing: call model.connect(joint), and model.apply(part) for other parts",
        UnusedPartWarning,
    )


# Differences in the parts of two mechanisms, for messages about parameters that change more than numbers.

_PARTS: dict[str, Callable[[Mechanism], Sequence[object]]] = {
    "body": lambda mechanism: mechanism.bodies,
    "joint": lambda mechanism: mechanism.joints,
    "drive": lambda mechanism: mechanism.drives,
    "load": lambda mechanism: mechanism.loads,
    "element": lambda mechanism: mechanism.elements,
    "relation": lambda mechanism: mechanism.relations,
}
"""Parts of a mechanism by the name of their kind."""


def first_difference(usual: Mechanism, other: Mechanism) -> str | None:
    """Return a clause for an error message about the first difference found between two mechanisms, or None
    without difference. Compared are the names of parts, the classes of parts and bodies, and the numbers of
    elastic coordinates of bodies. Values of parameters are not compared."""
    for kind, parts in _PARTS.items():
        before, after = _by_name(parts(usual)), _by_name(parts(other))
        for name in [*after.keys() - before.keys(), *before.keys() - after.keys()]:
            return f"the model has {'a' if name in after else 'no'} {kind} {name!r}"
        for name, part in before.items():
            if type(part) is not type(after[name]):
                return f"the {kind} {name!r} is a {type(after[name]).__name__}, not a {type(part).__name__}"
    for body, changed in zip(usual.bodies, other.bodies, strict=True):
        if type(body.body) is not type(changed.body):
            return f"the body {body.name!r} is a {type(changed.body).__name__}, not a {type(body.body).__name__}"
        count, changed_count = body.data.elastic_count, changed.data.elastic_count
        if count != changed_count:
            difference = f"has {changed_count} elastic coordinates (by elements or modes), not {count}"
            return f"the body {body.name!r} {difference}"
    return None


def _by_name(parts: Sequence[object]) -> dict[str, object]:
    return {getattr(part, "name", None) or str(part): part for part in parts}
