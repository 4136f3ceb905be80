"""A model again: turned and moved as a whole, in other units, with bodies displaced, or with less in it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import phlexible as ph
from formulas import formula
from phlexible.bodies.beam.bases import ReducedBasis
from phlexible.bodies.locations import Along, MaterialPosition
from phlexible.bodies.rod import RodNode
from phlexible.bodies.string_law import TensionOnly
from phlexible.description.interactions.drives import Drive, ServoPush
from phlexible.description.interactions.force_elements import ForceElement, JointElement
from phlexible.description.interactions.joint_limits import JointFriction, JointStop
from phlexible.description.interactions.loads import Axes, Load
from phlexible.description.interactions.state_force import StateLaw, StateValues
from phlexible.description.interactions.tendon import PaidOut, TendonDrive, TendonMotor, Winch
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.rolling import RollingRow
from phlexible.description.mechanism.events import Event
from phlexible.description.mechanism.membership import joints_of, ports_of
from phlexible.description.mechanism.wholes import RodInModel
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.description.references import with_replaced_references
from phlexible.description.time_functions import TimePath

Array = np.ndarray
Part = PlacedBody | Joint | JointRelation | Load | ForceElement | Drive
Powers = tuple[float, float, float]

NUMBER, LENGTH, MASS, TIME = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)  # powers of length, mass and time
INERTIA, DENSITY, LINE_DENSITY, PRESSURE = (2, 1, 0), (-3, 1, 0), (-1, 1, 0), (-1, 1, -2)
VELOCITY, RATE, ACCELERATION = (1, 0, -1), (0, 0, -1), (1, 0, -2)
FORCE, TORQUE, FORCE_PER_LENGTH, ENERGY = (1, 1, -2), (2, 1, -2), (0, 1, -2), (2, 1, -2)
STIFFNESS, DAMPING, ROTATIONAL_DAMPING = (0, 1, -2), (0, 1, -1), (2, 1, -1)


@dataclass(frozen=True, eq=False)
class Change:
    """Of a whole scene: x -> length (rotation x + shift), in other units of mass and time."""

    rotation: Array = field(default_factory=lambda: np.eye(3))
    shift: Array = field(default_factory=lambda: np.zeros(3))  # in lengths of the model
    length: float = 1.0  # what one metre becomes, as below one kilogram and one second
    mass: float = 1.0
    time: float = 1.0

    def unit(self, powers: Powers) -> float:
        return float(self.length ** powers[0] * self.mass ** powers[1] * self.time ** powers[2])

    @property
    def is_none(self) -> bool:
        """Whether all stays as it is, so that functions need not become longer."""
        sizes = self.length, self.mass, self.time
        return sizes == (1, 1, 1) and not self.shift.any() and bool((self.rotation == np.eye(3)).all())

    def point(self, position: Array) -> Array:
        return self.length * (np.asarray(position) @ self.rotation.T + self.shift)

    def arrow(self, vector: Array, powers: Powers) -> Array:
        return self.unit(powers) * (np.asarray(vector, dtype=float) @ self.rotation.T)


def copied(
    model: ph.Model,
    change: Change | None = None,
    without: Collection[Part] = (),
    displaced: Mapping[str, Change] | None = None,
    is_at_rest: bool = False,
    alone: Mapping[Any, Change] | None = None,
) -> ph.Model:
    """The model, whose functions are formulas, after a change of the whole scene, ``without`` parts and whatever
    acts on them, with changes of the positions and rotations of bodies that are ``displaced``, by name, and with
    changes of mass and time of bodies, loads and elements ``alone``, whose places and velocities stay."""
    return _Copy(model, change or Change(), without, displaced or {}, is_at_rest, alone or {}).model


def parts_on(model: ph.Model, part: Part) -> list[Part]:
    """What cannot be there without a body or a joint; a rod is there as a whole."""
    rods = [rod.handle.parts for rod in model.rods if part in rod.handle.parts]
    found: list[Part] = [node for nodes in rods for node in nodes if node is not part]
    for each in (*model.joints, *model.relations, *model.loads, *model.applied_elements, *model.drives):
        bodies = [port.placed for port in ports_of(each) if isinstance(port, Attachment)]
        on = [*bodies, *joints_of(each), getattr(each, "driven", None)]
        if each is not part and part in on:
            found.append(each)
    return found


def parts_of(model: ph.Model, event: Event) -> list[Any]:
    """Joints without which an event cannot be."""
    watched = [event.when.quantity.joint] if isinstance(event.when, ph.When) else []
    return watched + [
        joint
        for each in (*event.locked, *event.released)
        for joint in ([each] if each in model.joints else joints_of(each))
    ]


def _times(factor: float, function: Callable[[float], float], value: float) -> float:
    return factor * function(value)


QUANTITIES: dict[type, dict[str, Powers]] = {
    ph.Material: {"youngs_modulus": PRESSURE, "density": DENSITY, "viscosity": TIME},
    ph.LumpedMass: {"x": LENGTH, "mass": MASS, "inertia": INERTIA, "offset": LENGTH},
    ph.CircularSection: {"diameter": LENGTH},
    ph.RectangularSection: {"width": LENGTH, "height": LENGTH},
    ph.VaryingSection: {"places": LENGTH},
    ph.Section: {
        **dict.fromkeys(("area", "shear_area_y", "shear_area_z"), (2, 0, 0)),
        **dict.fromkeys(("second_moment_y", "second_moment_z", "torsion_constant"), (4, 0, 0)),
        **dict.fromkeys(("shear_center", "mass_center"), LENGTH),
    },
    ph.RigidBody: {"mass": MASS, "inertia": INERTIA, "center": LENGTH},
    ph.PointMass: {"mass": MASS},
    ph.Rod: {"length": LENGTH},
    RodNode: {"weight": LENGTH, "before": LENGTH, "after": LENGTH},
    ph.String: {"length": LENGTH, "line_density": LINE_DENSITY, "viscosity": TIME},
    TensionOnly: {},
    ph.LogarithmicLaw: {"axial_stiffness": FORCE},
    ph.LinearLaw: {"axial_stiffness": FORCE},
    ph.StVenantKirchhoffLaw: {"axial_stiffness": FORCE},
    ph.NeoHookean: {"youngs_modulus": PRESSURE},
    ph.StVenantKirchhoff: {"youngs_modulus": PRESSURE},
    ph.Maxwell: {},
    ph.Box: {"size": LENGTH},
    ph.Cylinder: {"radius": LENGTH, "length": LENGTH},
    ph.Sphere: {"radius": LENGTH},
    ph.Torus: {"radius": LENGTH, "tube_radius": LENGTH},
    ph.TriangleMesh: {"vertices": LENGTH},
}
"""Fields of descriptions that are quantities; others are numbers, or descriptions with quantities of their own."""


class _Copy:
    def __init__(
        self,
        model: ph.Model,
        change: Change,
        without: Collection[Part],
        displaced: Mapping[str, Change],
        is_at_rest: bool,
        alone: Mapping[Any, Change],
    ) -> None:
        self._source, self._change, self._displaced, self._is_at_rest = model, change, displaced, is_at_rest
        self._alone = alone
        gone: set[Any] = set(without)
        while more := {each for part in gone for each in parts_on(model, part)} - gone:
            gone |= more
        self.model = ph.Model(change.arrow(model.gravity, ACCELERATION), model.dimension)
        self._frames: dict[MovingFrame, MovingFrame] = {}
        self._new: dict[Any, Any] = {}
        for placed in model.bodies:
            if placed not in gone:
                self._new[placed] = self._placed(placed)
        for split in model.split_beams:
            if all(part in self._new for part in split.parts):
                self._new[split] = self.model.group(split.name, [part.name for part in split.parts])
        for rod in model.rods:
            if rod.handle.parts[0] in self._new:
                self._add_rod(rod)
        for joint in model.joints:
            if joint not in gone:
                self._new[joint] = self.model.connect(self._joint(joint))
        for relation in model.relations:
            if relation not in gone:
                self.model.connect(self._relation(relation))
        for each in (*model.loads, *model.applied_elements, *model.drives):
            if each not in gone:
                with self._changing(each):
                    self._new[each] = self.model.apply(self._applied(each))
        for event in model.events:
            if not gone & set(parts_of(model, event)):
                self._expect(event)

    @contextmanager
    def _changing(self, part: Any) -> Iterator[None]:
        """With the change of one part, where it has one of its own."""
        whole = self._change
        self._change = self._alone.get(part, whole)
        try:
            yield
        finally:
            self._change = whole

    def _expect(self, event: Event) -> None:
        when = self._condition(event.when) if isinstance(event.when, ph.When) else event.when * self._change.time
        if event.locked:
            self._new[event.locked[0]] = self.model.at(when, lock=self._new[next(joints_of(event.locked[0]))])
        else:
            self.model.at(when, release=self._new[event.released[0]])

    def _condition(self, when: ph.When) -> ph.When:
        sensor = when.quantity
        size = 1.0 if sensor.unit.startswith("rad") else self._change.length
        unit = size / self._change.time**sensor.differentiations
        limits = {k: unit * getattr(when, k) for k in ("above", "below") if getattr(when, k) is not None}
        return ph.When(replace(sensor, joint=self._new[sensor.joint]), **limits)

    def _placed(self, placed: PlacedBody) -> PlacedBody:
        change, own = self._change, self._displaced.get(placed.name, Change())
        with self._changing(placed):
            body = self._changed(placed.body)
        if placed.nodes is not None:
            speeds = placed.nodes.velocities
            speed = None if speeds is None or self._is_at_rest else change.arrow(speeds, VELOCITY)
            places = placed.data.translations[:, None]  # directors of shells do not move along
            nodes = change.arrow(placed.nodes.positions + places * own.shift, LENGTH)
            shape = nodes + places * change.length * change.shift
            return self.model.add(body, placed.name, velocity=speed, shape=shape)
        given = {"velocity": (placed.velocity, VELOCITY), "angular_velocity": (placed.angular_velocity, RATE)}
        moving = {
            k: change.arrow(*each) for k, each in given.items() if each[0] is not None and not self._is_at_rest
        }
        turn = change.rotation @ own.rotation @ placed.rotation if placed.data.rotates else None
        return self.model.add(body, placed.name, change.point(placed.position + own.shift), turn, **moving)

    def _add_rod(self, rod: RodInModel) -> None:
        length, body = self._change.length, rod.handle.body
        changed = self._changed(body)
        strains = rod.stress_free * np.repeat([1.0, 1 / length], 3)
        names = [node.name for node in rod.handle.parts]
        self._new[rod.handle] = self.model.group_rod(rod.handle.name, changed, names, strains)

    def _changed(self, value: Any) -> Any:
        """A description in the new units: its ``QUANTITIES``, and what it is made of."""
        if isinstance(value, tuple):
            return tuple(self._changed(each) for each in value)
        for kind in type(value).__mro__:
            if kind in MADE_ALIKE:
                return MADE_ALIKE[kind](self, value)
            if kind in QUANTITIES:
                made = {each.name: self._changed(getattr(value, each.name)) for each in fields(value) if each.init}
                return replace(value, **(made | self._quantities(value, QUANTITIES[kind])))
        if is_dataclass(value):
            raise NotImplementedError(f"say above how {type(value).__name__} changes with the units")
        return value

    def _quantities(self, value: Any, powers: Mapping[str, Powers]) -> dict[str, Any]:
        given = {name: getattr(value, name) for name in powers}
        return {
            name: self._change.unit(powers[name]) * (np.asarray(each, dtype=float) if np.ndim(each) else each)
            for name, each in given.items()
            if each is not None
        }

    def _beam(self, beam: ph.Beam) -> ph.Beam:
        made = {name: self._changed(getattr(beam, name)) for name in ("section", "material", "masses")}
        return replace(beam, length=self._change.length * beam.length, modes=self._modes(beam), **made)

    def _soft_body(self, body: ph.SoftBody) -> ph.SoftBody:
        mesh = replace(body.mesh, points=self._change.length * body.mesh.points)
        powers = {"density": DENSITY, "thickness": LENGTH, "viscosity": TIME}
        return replace(body, mesh=mesh, law=self._changed(body.law), **self._quantities(body, powers))

    def _shell(self, body: ph.Shell) -> ph.Shell:
        mesh, length = body.mesh, self._change.length
        mesh = replace(mesh, points=length * mesh.points, gyration=length * mesh.gyration)
        powers = {"thickness": LENGTH, "offset": LENGTH}
        return replace(body, mesh=mesh, material=self._changed(body.material), **self._quantities(body, powers))

    def _invariant_law(self, law: ph.InvariantLaw) -> ph.InvariantLaw:
        unit = self._change.unit(PRESSURE)
        if unit == 1:
            return law
        pairs = {name: getattr(law, name) for name in ("first", "second", "third")}
        made = {name: pair and tuple(partial(_times, unit, each) for each in pair) for name, pair in pairs.items()}
        return ph.InvariantLaw(**made)

    def _flexible(self, body: ph.FlexibleBody) -> ph.FlexibleBody:
        """Its coordinates are lengths times the root of a mass."""
        length, mass, time = self._change.length, self._change.mass, self._change.time
        data, points, root = body.data, body.points, self._change.mass**0.5
        scale = np.full(data.elastic_count + 1, root)
        scale[0] = mass * length
        fields = np.full(data.elastic_count + 1, 1 / root)
        fields[0] = length
        strain = replace(
            data.strain,
            stiffness=data.strain.stiffness / time**2,
            rows=data.strain.rows / time,
            factors=data.strain.factors / (root * length * time),
        )
        faces = replace(
            points.interfaces,
            positions=length * points.interfaces.positions,
            shapes=points.interfaces.shapes / root,
            rotations=points.interfaces.rotations / (root * length),
            areas=length**2 * points.interfaces.areas,
        )
        mesh = replace(points.mesh, geometry=length * points.mesh.geometry)
        own = replace(
            data,
            mass=mass * data.mass,
            first_moments=scale * data.first_moments,
            second_moments=mass * np.outer(fields, fields) * data.second_moments,
            strain=strain,
            damping=data.damping / time,
            viscosity=time * data.viscosity,
            points=replace(points, shapes=points.shapes / root, interfaces=faces, mesh=mesh),
            size=length * data.size,
        )
        return ph.FlexibleBody(**(vars(body) | {"data": own, "frequencies": body.frequencies / time}))

    def _general_section(self, section: ph.GeneralSection) -> ph.GeneralSection:
        arms = np.outer(*2 * [np.repeat([1.0, self._change.length], 3)])
        stiffness = self._change.unit((1, 1, -2)) * arms * section.stiffness_matrix
        mass = self._change.unit((-1, 1, 0)) * arms * section.mass_matrix
        return ph.GeneralSection(stiffness, mass, self._change.time * section.viscosity)

    def _modes(self, beam: ph.Beam) -> Any:
        """A basis over the coordinates of the elements, of which some are lengths and some are angles."""
        if not isinstance(beam.modes, ReducedBasis):
            return beam.modes
        units = replace(beam, modes=None).discretize(self._source.dimension).elastic_units
        sizes = np.where(np.array(units) == "m", self._change.length, 1.0)
        return sizes[:, None] * np.asarray(beam.modes.columns)

    def _law(self, law: ph.Law) -> ph.Law:
        if self._change.is_none:
            return law
        text, unit = "lambda C: {unit} * {law}(C)", self._change.unit(FORCE)
        return ph.Law(*(formula(text, unit=unit, law=each) for each in (law.W, law.dW)))

    def _joint(self, joint: Joint) -> Joint:
        if isinstance(joint, ph.Sliding):
            return ph.Sliding(self._port(joint.slider), self._new[joint.line])
        changes: dict[str, Any] = {"first": self._port(joint.first), "second": self._port(joint.second)}
        for name in ("axis", "along", "second_axis"):
            if hasattr(joint, name):
                changes[name] = self._change.rotation @ np.asarray(getattr(joint, name), dtype=float)
        if isinstance(joint, ph.Distance) and joint.length is not None:
            changes["length"] = self._change.length * joint.length
        return replace(joint, **changes)

    def _relation(self, relation: JointRelation) -> JointRelation:
        """The same demand: positions become larger, so their factors become smaller."""
        if isinstance(relation, RollingRow):
            turn = self._change.rotation
            ports = {"first": self._port(relation.first), "second": self._port(relation.second)}
            axis = None if relation.axis is None else turn @ np.asarray(relation.axis)
            radius = self._change.length * relation.radius
            return replace(relation, **ports, normal=turn @ np.asarray(relation.normal), axis=axis, radius=radius)
        assert isinstance(relation, ph.Relation), "say here how others change with the units"
        sizes = [1.0 if name.endswith("angle") else self._change.length for _, name, _ in relation.terms]
        terms = [
            (self._new[joint], name, factor / size)
            for (joint, name, factor), size in zip(relation.terms, sizes, strict=True)
        ]
        return replace(relation, terms=terms)

    def _port(self, port: Port) -> Port:
        if isinstance(port, MovingFrame):
            if port not in self._frames:
                self._frames[port] = self._frame(port)
            return self._frames[port]
        placed: PlacedBody = self._new[port.placed]
        match port.location:
            case Along(x):
                return placed.at(self._change.length * x)
            case MaterialPosition(position):
                return placed.point(self._change.length * np.asarray(position))
        return Attachment(placed, port.location)

    def _frame(self, frame: MovingFrame) -> MovingFrame:
        change, ground = self._change, self.model.ground
        if change.is_none:
            return frame
        if frame.is_fixed:
            return ground.at(change.point(frame.initial_position()))
        values = dict(turn=change.length * change.rotation, unit=change.time, shift=change.length * change.shift)
        path = formula(
            "lambda time: {turn} @ np.asarray({path}(time / {unit})) + {shift}", path=frame.path.function, **values
        )
        if frame.rotation is None:
            return ground.moving(path)
        text = "lambda time: {rotation}(time / {unit})"
        if self._source.dimension == 3:
            text = "lambda time: Rotation.from_matrix({turn}) * {rotation}(time / {unit})"
        values["turn"] = change.rotation
        return ground.moving(path, formula(text, rotation=frame.rotation.function, **values))

    def _applied(self, part: Load | ForceElement | Drive) -> Load | ForceElement | Drive:
        unit = self._change.unit
        if isinstance(part, Winch):
            return self._winch(part)
        if self._change.is_none:
            return with_replaced_references(part, self._new)
        match part:
            case ph.Force(value=StateLaw() as law):
                port, length = self._port(part.attachment), self._change.length
                own = self._law_of_state(law, port, length * self._change.rotation, length * self._change.shift)
                return replace(part, attachment=port, value=own)
            case ph.Force() | ph.Torque():
                powers = FORCE if isinstance(part, ph.Force) else TORQUE
                return replace(part, attachment=self._port(part.attachment), value=self._arrows(part, powers))
            case ph.DistributedForce():
                return replace(part, body=self._new[part.body], value=self._density(part))
            case ph.SpringDamper():
                powers = {"stiffness": STIFFNESS, "damping": DAMPING, "length": LENGTH}
                ports = {"first": self._port(part.first), "second": self._port(part.second)}
                return replace(part, **ports, **self._quantities(part, powers))
            case ph.Tendon():
                powers = {"stiffness": STIFFNESS, "damping": DAMPING}
                rest = part.rest_length
                if part.path is not None:
                    rest = self._of_time(part.path.function.length, self._change.length)
                elif rest is not None:
                    rest = self._change.length * rest
                guides = [self._port(port) for port in part.guides]
                return replace(part, guides=guides, rest_length=rest, **self._quantities(part, powers))
            case ph.Bushing():
                return self._bushing(part)
            case JointElement():
                return self._joint_element(part)
            case ph.Contact():
                return self._contact(part)
            case JointFriction() | JointStop():
                return self._limit(part)
            case Drive():
                factor = 1.0 if part.coordinate.endswith("angle") else self._change.length
                path = self._of_time(part.path.function, factor)
                return replace(part, joint=self._new[part.joint], path=TimePath(path, None, part.path.name))
            case ph.Pressure():
                pressure, factor = part.value, unit((-1, 1, -2))
                changed = self._of_time(pressure, factor) if callable(pressure) else factor * pressure
                face = part.interface
                own = self._new[face] if isinstance(face, PlacedBody) else self._port(face)
                return replace(part, interface=own, value=changed)
        raise NotImplementedError(f"say here how {type(part).__name__} changes with the units")

    def _winch(self, winch: Winch) -> Winch:
        """On the rope of the new model, of which it was already told."""
        rope = self._new[winch.driven]
        if isinstance(winch, TendonMotor):
            return rope.motor(self._force(winch.tension, self._change.length))
        assert isinstance(winch, TendonDrive) and isinstance(winch.path.function, PaidOut)
        return rope.drive(self._of_time(winch.path.function.length, self._change.length))

    def _bushing(self, bushing: ph.Bushing) -> ph.Bushing:
        """Its axes are those of the world: only turns by right angles, which give them another order."""
        order, creep = np.abs(np.rint(self._change.rotation)), bushing.relaxation
        assert np.allclose(order, np.abs(self._change.rotation)), "a bushing has no other axes"
        powers = {"stiffness": STIFFNESS, "damping": DAMPING, "rotational_stiffness": TORQUE}
        sizes = self._quantities(bushing, powers | {"rotational_damping": ROTATIONAL_DAMPING})
        creep = creep and ph.Maxwell([(share, self._change.time * time) for share, time in creep.pairs])
        ports = {"first": self._port(bushing.first), "second": self._port(bushing.second)}
        turned = {name: order @ size for name, size in sizes.items()}
        return replace(bushing, **ports, **turned, relaxation=creep)

    def _contact(self, contact: ph.Contact) -> ph.Contact:
        power = contact.exponent
        powers = {"stiffness": (1 - power, 1, -2), "damping": (-power, 1, -1), "bristle": STIFFNESS}
        powers |= dict.fromkeys(("friction_speed", "restitution_speed"), VELOCITY) | {"bristle_damping": DAMPING}
        powers |= dict.fromkeys(("radius", "second_radius", "rolling", "drilling"), LENGTH)
        sides = {"first": self._touching(contact.first), "second": self._touching(contact.second)}
        return replace(contact, **sides, **self._quantities(contact, powers))

    def _touching(self, value: Any) -> Any:
        match value:
            case None:
                return None
            case tuple():
                return [self._touching(each) for each in value]
            case ph.Plane():
                normal = self._change.rotation @ np.asarray(value.normal, dtype=float)
                return ph.Plane(self._port(value.port), normal)
            case ph.Surface():
                return ph.Surface(self._port(value.port), self._changed(value.shape), value.inside)
            case ph.Capsule():
                radius = self._change.length * value.radius
                return ph.Capsule(self._port(value.start), self._port(value.end), radius)
        return self._new[value] if value in self._new else self._port(value)

    def _limit(self, part: JointFriction | JointStop) -> JointFriction | JointStop:
        is_angle = part.coordinate.endswith("angle")
        stiffness, damping = (TORQUE, ROTATIONAL_DAMPING) if is_angle else (STIFFNESS, DAMPING)
        if isinstance(part, JointFriction):
            powers = {"coulomb": TORQUE if is_angle else FORCE, "viscous": damping, "bristle": stiffness}
            powers |= {"stiction_speed": RATE if is_angle else VELOCITY, "bristle_damping": damping}
            powers |= {"radius": LENGTH}
        else:
            place = NUMBER if is_angle else LENGTH
            of_damping = damping if is_angle else (damping[0] - 1, *damping[1:])
            powers = {"lower": place, "upper": place, "stiffness": stiffness, "damping": of_damping}
        return replace(part, joint=self._new[part.joint], **self._quantities(part, powers))

    def _joint_element(self, element: JointElement) -> JointElement:
        size, powers = self._change.length, {"stiffness": STIFFNESS, "damping": DAMPING, "rest": LENGTH}
        if element.coordinate.endswith("angle"):
            size, powers = 1.0, {"stiffness": TORQUE, "damping": ROTATIONAL_DAMPING}
        sizes = self._quantities(element, powers) | {"force": self._force(element.force, size)}
        sizes["potential"] = None if element.potential is None else self._potential(element.potential, size)
        times = tuple(self._change.time * time for time in element.breakpoints)
        return replace(element, joint=self._new[element.joint], breakpoints=times, **sizes)

    def _law_of_state(self, law: StateLaw, place: Any, turn: Array, shift: Array) -> StateLaw:
        """A function of the state of one place, where x becomes turn x + shift; turn: orthogonal times a length."""
        share, size = law.controller, float(np.linalg.norm(turn[0]))
        assert isinstance(share, StateValues), "a function of the state"
        asked = "{f}(time / {second}, {back} @ (x - {shift}), {back} @ v * {second})"
        text = "lambda time, x, v: {push} @ np.asarray(" + asked + ")"
        values = {"second": self._change.time, "back": turn.T / size**2, "shift": shift}
        push = self._change.unit(ENERGY) / size**2 * turn
        function = formula(text, f=share.function, push=push, **values)
        return replace(law, controller=replace(share, function=function), measured=(place,))

    def _potential(self, potential: ph.Potential, size: float) -> ph.Potential:
        """Of a coordinate that is so many times as large."""
        unit = self._change.unit(ENERGY)
        energy = formula("lambda x: {unit} * {f}(x / {size})", unit=unit, f=potential.energy, size=size)
        slope = formula("lambda x: {unit} * {f}(x / {size})", unit=unit / size, f=potential.slope, size=size)
        low, high = potential.around
        return ph.Potential(energy, slope, (size * low, size * high))

    def _force(self, value: Any, size: float) -> Any:
        """A number or a function of time, of measurements or of a target, along a coordinate so much larger."""
        unit = self._change.unit(ENERGY) / size
        if isinstance(value, StateLaw):
            return self._law_of_state(value, self._new[value.measured[0]], size * np.eye(1), np.zeros(1))
        if isinstance(value, ServoPush):
            path, kp = value.target, unit / size
            rate = None if path.rate is None else self._of_time(path.rate, size / self._change.time)
            target = TimePath(self._of_time(path.function, size), rate, path.name)
            return ServoPush(target, kp * value.kp, kp * self._change.time * value.kd)
        if isinstance(value, ph.Feedback):
            names = [name for joint in value.measured for name in joint.coordinate_names]
            lengths = np.where([name.endswith("angle") for name in names], 1.0, self._change.length)
            units = np.outer(lengths, [1.0, 1 / self._change.time]).ravel()
            text = "lambda time, measured: {unit} * {f}(time / {second}, measured / {units})"
            controller = formula(text, unit=unit, f=value.controller, second=self._change.time, units=units)
            return ph.Feedback(controller, tuple(self._new[joint] for joint in value.measured))
        return self._of_time(value, unit) if callable(value) else unit * value

    def _of_time(self, function: Callable[[float], Any], unit: float) -> Callable[[float], Any]:
        second = self._change.time
        return formula("lambda time: {unit} * {f}(time / {second})", unit=unit, f=function, second=second)

    def _arrows(self, load: ph.Force | ph.Torque, powers: Powers) -> Any:
        turn = self._turn(load.axes, powers)
        if not callable(load.value):
            return turn @ np.asarray(load.value, dtype=float)
        text = "lambda time: {turn} @ np.asarray({f}(time / {second}))"
        return formula(text, turn=turn, f=load.value, second=self._change.time)

    def _density(self, load: ph.DistributedForce) -> Any:
        sizes = {"length": self._change.length, "second": self._change.time}
        text = "lambda x, time: {turn} @ np.asarray({f}(x / {length}, time / {second}))"
        return formula(text, turn=self._turn(load.axes, FORCE_PER_LENGTH), f=load.value, **sizes)

    def _turn(self, axes: Any, powers: Powers) -> Array:
        turn = self._change.rotation if axes is Axes.WORLD else np.eye(3)
        return self._change.unit(powers) * turn


MADE_ALIKE: dict[type, Callable[[_Copy, Any], Any]] = {
    ph.Beam: _Copy._beam,
    ph.FlexibleBody: _Copy._flexible,
    ph.Shell: _Copy._shell,
    ph.SoftBody: _Copy._soft_body,
    ph.GeneralSection: _Copy._general_section,
    ph.InvariantLaw: _Copy._invariant_law,
    ph.Law: _Copy._law,
}
"""Descriptions of which more than quantities changes."""
