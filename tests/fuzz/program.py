"""A case as a program of plain phlexible calls that does what the case does, digit by digit."""

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

import phlexible as ph
from formulas import literal
from fuzz.case import EQUILIBRIUM, Case
from phlexible.bodies import locations
from phlexible.bodies.beam.bases import ReducedBasis
from phlexible.bodies.string_law import TensionOnly
from phlexible.description.interactions.drives import Drive, Servo, ServoPush
from phlexible.description.interactions.force_elements import JointElement
from phlexible.description.interactions.joint_limits import JointFriction, JointStop
from phlexible.description.interactions.state_force import StateLaw, StateValues
from phlexible.description.interactions.tendon import TendonMotor, Winch
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.rolling import RollingRow
from phlexible.description.mechanism.events import Event
from phlexible.description.mechanism.membership import joints_of
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port

IMPORTS = "import numpy as np\nimport phlexible as ph\n"
IMPORTS += (
    "from phlexible.bodies.string_law import TensionOnly\n"
    "from phlexible.description.joints.rolling import RollingRow\nfrom scipy.spatial.transform import Rotation\n"
)


def program(case: Case) -> str:
    """Its source; the last line makes ``motion``."""
    return IMPORTS + "\n" + "\n".join(_Writer(case.model).lines()) + "\n" + _run(case) + "\n"


def _run(case: Case) -> str:
    first = "model = model.assemble().model\n" if case.is_assembled else ""
    given = {name: repr(value) for name, value in case.options.items()}
    if case.options.get("initial") == EQUILIBRIUM:
        given["initial"] = "model.equilibrium()"
    if case.end is not None:
        given["stop"] = f"ph.When(lambda time: time, above={case.end!r})"
    options = "".join(f", {name}={value}" for name, value in given.items())
    duration = f"{case.steps} * {case.step!r}"
    return f"{first}motion = model.simulate({duration}, {case.step!r}{options}, progress=False)"


class _Writer:
    def __init__(self, model: ph.Model) -> None:
        self._model = model
        self._names: dict[Any, str] = {}
        self._sections: dict[PlacedBody, str] = {}

    def lines(self) -> Iterator[str]:
        model = self._model
        yield f"model = ph.Model(gravity={literal(model.gravity)}, dimension={model.dimension})"
        for number, rod in enumerate(model.rods, start=1):
            yield f"rod_{number} = {self.written(rod.handle.body)}"
            self._sections |= {node: f"rod_{number}.nodes()[{k}]" for k, node in enumerate(rod.handle.parts)}
        for number, placed in enumerate(model.bodies, start=1):
            self._names[placed] = f"body_{number}"
            yield f"body_{number} = model.add({self._placed(placed)})"
        for number, split in enumerate(model.split_beams, start=1):
            self._names[split] = f"split_{number}"
            yield f"split_{number} = model.group({split.name!r}, {[part.name for part in split.parts]})"
        for number, rod in enumerate(model.rods, start=1):
            self._names[rod.handle] = f"whole_rod_{number}"
            given = f"{rod.handle.name!r}, rod_{number}, {[node.name for node in rod.handle.parts]}"
            yield f"whole_rod_{number} = model.group_rod({given}, {literal(rod.stress_free)})"
        for number, joint in enumerate(model.joints, start=1):
            yield from self._new_frames(joint.first, joint.second)
            yield f"joint_{number} = model.connect({self.written(joint)})"
            self._names[joint] = f"joint_{number}"
        for relation in model.relations:
            yield f"model.connect({self.written(relation)})"
        for part in (*model.loads, *model.applied_elements, *model.drives):
            yield from self._new_frames(*(getattr(part, name, None) for name in ("first", "second")))
            applied = f"model.apply({self.written(part)})"
            if isinstance(part, ph.Tendon):
                self._names[part] = f"rope_{len(self._names)}"
                applied = f"{self._names[part]} = {applied}"
            yield applied
        for number, event in enumerate(model.events, start=1):
            when = self.written(event.when)
            yield f"event_{number} = model.at({when}, {self._happens(event)})"
            self._names |= {held: f"event_{number}" for held in event.locked}

    def _happens(self, event: Event) -> str:
        if event.locked:
            return f"lock={self._names[next(joints_of(event.locked[0]))]}"
        return f"release={self._names[event.released[0]]}"

    def _placed(self, placed: PlacedBody) -> str:
        given: dict[str, Any] = {"position": placed.position, "rotation": placed.rotation}
        if placed.nodes is not None:
            given = {"shape": placed.nodes.positions, "velocity": placed.nodes.velocities}
        elif placed.data.rotates:
            given |= {"velocity": placed.velocity, "angular_velocity": placed.angular_velocity}
        else:
            given = {"position": placed.position, "velocity": placed.velocity}
        words = [f"{name}={literal(value)}" for name, value in given.items() if value is not None]
        body = self._sections.get(placed) or self.written(placed.body)
        return ", ".join([body, repr(placed.name), *words])

    def _new_frames(self, *ports: Any) -> Iterator[str]:
        for port in ports:
            if isinstance(port, MovingFrame) and not port.is_fixed and port not in self._names:
                self._names[port] = f"frame_{len(self._names)}"
                functions = [port.path.function, *([port.rotation.function] if port.rotation else [])]
                yield f"{self._names[port]} = model.ground.moving({', '.join(f.source for f in functions)})"

    def written(self, value: Any) -> str:
        match value:
            case PlacedBody() | PlacedWhole() | Joint() | ph.Tendon() if value in self._names:
                return self._names[value]
            case Enum():
                return repr(value.value)
            case None | bool() | str() | int() | float():
                return repr(value)
            case Attachment() | MovingFrame():
                return self._port(value)
            case Servo():
                return self._servo(value)
            case ph.Sliding():
                return f"ph.Sliding({self._port(value.slider)}, {self.written(value.line)})"
            case TendonMotor():
                return f"{self._names[value.tendon]}.motor({self.written(value.tension)})"
            case Winch():
                return f"{self._names[value.tendon]}.drive({value.path.function.length.source})"
            case JointElement():
                return self._joint_element(value)
            case ph.Force(value=StateLaw() as law):
                return self._of_state(law)
            case JointFriction():
                names = "coulomb viscous stiction_speed coefficient radius bristle bristle_damping static".split()
                return self._of(value, "friction", given_fields(value, *names))
            case JointStop():
                return self._of(value, "stop", given_fields(value, "lower", "upper", "stiffness", "damping"))
            case Drive():
                kind = "angle" if value.coordinate.endswith("angle") else "position"
                return self._of(value, "drive", {kind: value.path.function})
            case ReducedBasis(columns=columns):
                return literal(columns)
            case tuple():
                return "(" + "".join(f"{self.written(each)}, " for each in value) + ")"
        if callable(value):
            return str(value.source)
        return self._dataclass(value) if is_dataclass(value) else literal(value)

    def _dataclass(self, value: Any) -> str:
        words = []
        for each in fields(value):
            given = getattr(value, each.name)
            default = each.default if each.default is not MISSING else None
            if each.default is MISSING or not _is_equal(given, default):
                words.append(f"{each.name}={self.written(given)}")
        kind = type(value).__name__
        return f"{kind if isinstance(value, RollingRow | TensionOnly) else 'ph.' + kind}({', '.join(words)})"

    def _port(self, port: Port) -> str:
        if isinstance(port, MovingFrame):
            fixed = f"model.ground.at({literal(port.initial_position())})"
            return fixed if port.is_fixed else self._names[port]
        body = self._names[port.placed]
        match port.location:
            case locations.Start():
                return f"{body}.start"
            case locations.End():
                return f"{body}.end"
            case locations.Origin():
                return f"{body}.origin"
            case locations.Along(x):
                return f"{body}.at({x!r})"
            case locations.Cut(at_end):
                return f"{body}.end_cut(at_end={at_end})"
            case locations.MaterialPosition(position):
                return f"{body}.point({position!r})"
            case locations.Node(number) | locations.SurfaceNode(number):
                return f"{body}.node({number})"
            case locations.Interface(name):
                return f"{body}[{name!r}]"

    def _joint_element(self, element: JointElement) -> str:
        if isinstance(element.force, StateLaw):
            return self._of_state(element.force)
        if isinstance(element.force, ph.Feedback):
            return self._of(element, "motor", {"controller": element.force.controller})
        if element.is_active:
            kind = "torque" if element.coordinate.endswith("angle") else "force"
            return self._of(element, kind, {"value": element.force})
        names = ("stiffness", "rest", "damping", "potential")
        return self._of(element, "spring", {name: getattr(element, name) for name in names})

    def _servo(self, servo: Servo) -> str:
        target: dict[str, Any] = {"kp": servo.stiffness, "kd": servo.damping}
        kind = "angle" if servo.coordinate.endswith("angle") else "position"
        if isinstance(push := servo.force, ServoPush):
            target |= {kind: push.target.function, "rate": push.target.rate}
        else:
            target[kind] = servo.rest
        return self._of(servo, "servo", target)

    def _of_state(self, law: StateLaw) -> str:
        (place,) = law.measured
        share = law.controller
        assert isinstance(share, StateValues), "a function of the state"
        where = self.written(place)
        return f"ph.StateForce({self.written(share.function)}, of=[{where}], on=[{where}])"

    def _of(self, part: Any, method: str, given: dict[str, Any]) -> str:
        words = [f"{name}={self.written(value)}" for name, value in given.items() if value is not None]
        return f"{self._names[part.joint]}.{method}({', '.join(words)}, of={part.coordinate!r})"


def given_fields(part: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(part, name) for name in names}


def _is_equal(one: Any, other: Any) -> bool:
    if callable(one) or is_dataclass(one):
        return one is other
    return bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))
