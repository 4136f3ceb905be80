"""What is placed, connected and applied."""

import phlexible as ph
from bad_inputs.outcomes import (
    COUNT,
    FINITE,
    FLAG,
    NAME,
    NAMED,
    NON_NEGATIVE,
    NONE,
    NUMBER_FUNCTION,
    PORT,
    POSITIVE,
    REFUSED,
    TIMES,
    VECTOR,
    VECTOR_FUNCTION,
    Call,
)
from bad_inputs.wrong_values import BOB, FUNCTIONS, ROD, ROPE, Empty, Stage

PLACE = VECTOR
TURN = NONE | {"3 x 3"}
NOT_ZERO = FINITE - {"0"}
TURNING = frozenset({"foreign joint"})
ON_A_BODY = frozenset({"attachment", "foreign attachment"})
CONTROLLER = frozenset({"a class", "f raises", *(label for label in FUNCTIONS if label.startswith("f ->"))})


def joint(kind, **takes):
    return Call(
        kind.__name__,
        lambda s: kind,
        lambda s: {"first": s.ground, "second": s.body.origin},
        {"first": PORT, "second": ON_A_BODY, "name": NAME, **takes},
    )


def related(kind, good, /, **takes):
    """A relation between joints; that a joint is another model's is found where the relation is connected."""
    return Call(kind.__name__, lambda s: kind, good, {**takes, "name": NAME})


def adding(label, description, /, **takes):
    return Call(f"add {label}", lambda s: s.model.add, lambda s: {"body": description}, takes, Empty)


def of(label, method, good, /, **takes):
    """A method of something on the stage that leaves the stage as it is."""
    return Call(label, method, lambda s: good, takes)


# Functions that are first called in a run: what they return is refused there, with the time.

PARTS = [
    Call("Model", lambda s: ph.Model, lambda s: {}, {"gravity": VECTOR, "dimension": COUNT}),
    adding(
        "a beam",
        ROD,
        body=frozenset({"description"}),
        name=NAME,
        position=PLACE,
        rotation=TURN,
        velocity=VECTOR | NONE,
        angular_velocity=VECTOR | NONE,
        shape=NONE,
        large=FLAG,
    ),
    adding(
        "a rigid body", BOB, position=PLACE, rotation=TURN, velocity=VECTOR | NONE, angular_velocity=VECTOR | NONE
    ),
    adding("a point mass", ph.PointMass(1.0), velocity=VECTOR | NONE, angular_velocity=NONE),
    adding(
        "a string",
        ROPE,
        position=PLACE,
        rotation=TURN,
        shape=NONE | {"3 x 3"},
        velocity=NONE | VECTOR | VECTOR_FUNCTION | {"3 x 3"},
        angular_velocity=NONE,
    ),
    adding(
        "a split beam",
        ROD.split(2),
        name=NAME,
        position=PLACE,
        rotation=TURN,
        velocity=VECTOR | NONE,
        angular_velocity=VECTOR | NONE,
        shape=NONE,
    ),
    Call("model[...]", lambda s: lambda name: s.model[name], lambda s: {}, {"name": REFUSED}, words=NAMED),
    Call(
        "model.group",
        lambda s: s.model.group,
        lambda s: {"name": "both", "parts": ["split part 1", "split part 2"]},
        {"name": NAME - NONE, "parts": REFUSED},
        Stage,
    ),
    Call(
        "model.connect",
        lambda s: s.model.connect,
        lambda s: {},
        {"joint": REFUSED},
        Stage,
        {"joint": "joint|already connected|of another model"},
    ),
    Call(
        "model.apply",
        lambda s: s.model.apply,
        lambda s: {},
        {"part": REFUSED},
        Stage,
        {"part": "part|already applied|not connected|of another model"},
    ),
    of(
        "model.replace",
        lambda s: s.model.replace,
        {},
        gravity=NONE | VECTOR,
        bodies=NONE | {"{}"},
        parts=NONE | {"{}"},
        bob=frozenset({"description"}),
        boom=REFUSED,
    ),
    of("model.copy", lambda s: s.model.copy, {}),
    of("model.joint", lambda s: s.model.joint, {}, name=REFUSED),
    of("model.part", lambda s: s.model.part, {}, name=REFUSED),
    Call(
        "model.remove",
        lambda s: lambda parts: s.model.remove(parts),
        lambda s: {},
        {"parts": frozenset({"element", "drive", "load"})},
        Stage,
        {"parts": "part|remove"},
    ),
    of("ground.at", lambda s: s.model.ground.at, {}, position=VECTOR),
    of(
        "ground.moving",
        lambda s: s.model.ground.moving,
        {"path": lambda t: (0.0, 0.0, 0.0)},
        path=VECTOR_FUNCTION,
        rotation=NONE | {"f -> 1.0", "f -> 3 x 3"},
        velocity=NONE | VECTOR_FUNCTION,
    ),
    of("beam.at", lambda s: s.beam.at, {}, x=NON_NEGATIVE),
    of("beam.point", lambda s: s.beam.point, {}, position=VECTOR),
    of("body.point", lambda s: s.body.point, {}, position=VECTOR),
    Call("string.at", lambda s: s.rope.at, lambda s: {}, {"x": NON_NEGATIVE}, words={"x": r"x|at\(s\)"}),
    of("split.at", lambda s: s.split.at, {}, x=NON_NEGATIVE),
    of("split.part_at", lambda s: s.split.part_at, {}, x=NON_NEGATIVE),
    of("split.point", lambda s: s.split.point, {}, position=VECTOR),
    joint(ph.Fixed),
    joint(ph.Spherical),
    joint(ph.Revolute, axis=VECTOR),
    joint(ph.Prismatic, axis=VECTOR),
    joint(ph.Cylindrical, axis=VECTOR),
    joint(ph.Planar, axis=VECTOR, along=NONE),
    joint(ph.Slider, axis=VECTOR),
    joint(ph.Universal, axis=REFUSED, second_axis=REFUSED),
    joint(ph.Distance, length=POSITIVE | NONE),
    related(ph.Relation, lambda s: {"terms": [(s.joint, "angle", 1.0), (s.rail, None, 2.0)]}, terms=REFUSED),
    related(
        ph.Gear,
        lambda s: {"joint_a": s.joint, "joint_b": s.elbow, "ratio": 2.0},
        joint_a=TURNING | {"joint"},
        joint_b=TURNING,
        ratio=NOT_ZERO,
    ),
    related(
        ph.Rack,
        lambda s: {"pinion": s.joint, "rack": s.rail, "radius": 2.0},
        pinion=TURNING | {"joint"},
        rack=REFUSED,
        radius=NOT_ZERO,
    ),
    related(
        ph.Screw,
        lambda s: {"joint": s.joint, "lead": 2.0, "slide": s.rail},
        joint=TURNING | {"joint"},
        lead=NOT_ZERO,
        slide=REFUSED,
    ),
    related(
        ph.Belt,
        lambda s: {"joint_a": s.joint, "joint_b": s.elbow, "radius_a": 1.0, "radius_b": 2.0},
        joint_a=TURNING | {"joint"},
        joint_b=TURNING,
        radius_a=POSITIVE,
        radius_b=POSITIVE,
        is_crossed=frozenset({"True", "False"}),
    ),
    of("joint.coordinate_name", lambda s: s.joint.coordinate_name, {}, of=NONE),
    of(
        "joint.drive",
        lambda s: s.joint.drive,
        {"angle": lambda t: 0.0},
        angle=NUMBER_FUNCTION,
        position=NONE,
        rate=NONE,
        of=NONE,
        name=NAME,
    ),
    of(
        "joint.spring",
        lambda s: s.joint.spring,
        {"stiffness": 1.0},
        stiffness=NON_NEGATIVE,
        rest=NONE | FINITE,
        damping=NON_NEGATIVE,
        potential=NONE,
        relaxation=NONE,
        of=NONE,
        name=NAME,
    ),
    of(
        "joint.friction",
        lambda s: s.joint.friction,
        {"coulomb": 1.0},
        coulomb=POSITIVE,
        viscous=NON_NEGATIVE,
        coefficient=frozenset({"0"}),
        radius=NONE,
        stiction_speed=POSITIVE,
        bristle=POSITIVE | NONE,
        bristle_damping=NONE,
        static=NONE,
        of=NONE,
        name=NAME,
    ),
    of(
        "joint.stop",
        lambda s: s.joint.stop,
        {"stiffness": 1.0, "lower": -2.0, "upper": 2.0},
        stiffness=POSITIVE,
        lower=FINITE | NONE,
        upper=FINITE | NONE,
        damping=NON_NEGATIVE,
        of=NONE,
        name=NAME,
    ),
    Call(
        "Plane",
        lambda s: ph.Plane,
        lambda s: {"port": s.ground},
        {"port": PORT | ON_A_BODY, "normal": VECTOR},
    ),
    Call(
        "Rolling",
        lambda s: ph.Rolling,
        lambda s: {"wheel": s.body.origin, "plane": ph.Plane(s.ground), "radius": 0.1},
        {"wheel": ON_A_BODY, "plane": frozenset(), "radius": POSITIVE, "axis": VECTOR | NONE, "name": NAME},
    ),
    Call(
        "Surface",
        lambda s: ph.Surface,
        lambda s: {"port": s.ground, "shape": ph.Sphere(0.1)},
        {"port": PORT | ON_A_BODY, "shape": frozenset(), "inside": FLAG},
    ),
    Call(
        "Capsule",
        lambda s: ph.Capsule,
        lambda s: {"start": s.model.ground.at((9, 9, 9)), "end": s.body.origin, "radius": 0.1},
        {"start": PORT - {"foreign attachment"}, "end": PORT | ON_A_BODY, "radius": POSITIVE},
    ),
    Call(
        "Contact",
        lambda s: ph.Contact,
        lambda s: {"first": s.body.origin, "second": ph.Plane(s.ground), "stiffness": 1.0},
        {
            "first": ON_A_BODY,
            "second": frozenset(),
            "stiffness": POSITIVE | NONE,
            "radius": NON_NEGATIVE,
            "damping": NON_NEGATIVE,
            "friction": NON_NEGATIVE,
            "exponent": frozenset({"1"}),
            "friction_speed": POSITIVE,
            "bristle": NONE,
            "bristle_damping": NONE,
            "static_friction": NONE,
            "restitution": NON_NEGATIVE | NONE,
            "restitution_speed": POSITIVE,
            "rolling": frozenset({"0"}),
            "drilling": frozenset({"0"}),
            "second_radius": NONE,
            "name": NAME,
        },
    ),
    Call(
        "hertz_stiffness",
        lambda s: ph.hertz_stiffness,
        lambda s: {"radius": 0.1, "material": ph.Material(1e9, 1e3), "other_radius": 1.0},
        {
            "radius": POSITIVE,
            "material": frozenset(),
            "other_radius": NONE | FINITE - {"0"},
            "other_material": NONE,
        },
    ),
    Call(
        "Contact of many",
        lambda s: ph.Contact,
        lambda s: {"first": [s.body.origin], "second": [s.ground], "stiffness": 1.0, "radius": 0.1},
        {
            "first": ON_A_BODY,
            "second": frozenset({"ground", "foreign ground"}),
            "stiffness": POSITIVE | NONE,
            "radius": POSITIVE,
            "damping": NON_NEGATIVE,
            "friction": NON_NEGATIVE,
            "exponent": frozenset({"1"}),
            "friction_speed": POSITIVE,
            "bristle": NONE,
            "bristle_damping": NONE,
            "static_friction": NONE,
            "restitution": NONE | {"0"},
            "restitution_speed": POSITIVE,
            "rolling": frozenset({"0"}),
            "drilling": frozenset({"0"}),
            "second_radius": NON_NEGATIVE | NONE,
            "name": NAME,
        },
    ),
    of(
        "joint.servo",
        lambda s: s.joint.servo,
        {"kp": 1.0, "kd": 0.1, "angle": lambda t: t},
        kp=NON_NEGATIVE,
        kd=NON_NEGATIVE,
        angle=FINITE | NUMBER_FUNCTION,
        position=NONE,
        rate=NONE | NUMBER_FUNCTION,
        breakpoints=TIMES,
        of=NONE,
        name=NAME,
    ),
    Call(
        "StateForce",
        lambda s: ph.StateForce,
        lambda s: {"function": lambda t, x, v: -x, "of": [s.joint], "on": [s.joint]},
        {"function": CONTROLLER | {"f(a, b, c)"}, "of": REFUSED, "on": REFUSED, "name": NAME},
    ),
    of("joint.damper", lambda s: s.joint.damper, {"damping": 1.0}, damping=NON_NEGATIVE, of=NONE, name=NAME),
    of(
        "joint.torque",
        lambda s: s.joint.torque,
        {"value": 1.0},
        value=FINITE | NUMBER_FUNCTION,
        breakpoints=TIMES,
        of=NONE,
        name=NAME,
    ),
    of(
        "joint.force",
        lambda s: s.rail.force,
        {"value": 1.0},
        value=FINITE | NUMBER_FUNCTION,
        breakpoints=TIMES,
        of=NONE,
        name=NAME,
    ),
    of(
        "joint.motor",
        lambda s: s.joint.motor,
        {"controller": lambda t, measured: 0.0},
        controller=CONTROLLER,
        of=NONE,
        name=NAME,
    ),
    *(
        Call(
            kind.__name__,
            lambda s, kind=kind: kind,
            lambda s: {"attachment": s.beam.end, "value": (0.0, 1.0, 0.0)},
            {
                "attachment": ON_A_BODY,
                "value": VECTOR | VECTOR_FUNCTION,
                "axes": REFUSED,
                "breakpoints": TIMES,
                "name": NAME,
            },
        )
        for kind in (ph.Force, ph.Torque)
    ),
    Call(
        "DistributedForce",
        lambda s: ph.DistributedForce,
        lambda s: {"body": s.beam, "value": (0.0, 1.0, 0.0)},
        {
            "body": REFUSED,
            "value": VECTOR | VECTOR_FUNCTION,
            "axes": REFUSED,
            "at": NONE,
            "start": NONE | {"0", "0.5"},
            "end": NONE | {"1", "0.5"},
            "breakpoints": TIMES,
            "name": NAME,
        },
    ),
    Call(
        "DistributedForce of a table",
        lambda s: ph.DistributedForce,
        lambda s: {"body": s.beam, "value": [(0, 1, 0), (0, 2, 0)], "at": (0.0, 0.5)},
        {"value": REFUSED, "at": REFUSED, "start": NONE, "end": NONE},
    ),
    Call(
        "SpringDamper",
        lambda s: ph.SpringDamper,
        lambda s: {"first": s.ground, "second": s.body.origin, "stiffness": 1.0},
        {
            "first": PORT,
            "second": ON_A_BODY,
            "stiffness": POSITIVE,
            "damping": NON_NEGATIVE,
            "length": NON_NEGATIVE | NONE,
            "potential": NONE,
            "relaxation": NONE,
            "name": NAME,
        },
    ),
    Call(
        "Bushing",
        lambda s: ph.Bushing,
        lambda s: {"first": s.ground, "second": s.body.origin, "stiffness": 1.0},
        {
            "first": PORT,
            "second": ON_A_BODY,
            **{
                key: NON_NEGATIVE | VECTOR
                for key in ("stiffness", "damping", "rotational_stiffness", "rotational_damping")
            },
            "relaxation": NONE,
            "name": NAME,
        },
    ),
    Call(
        "Feedback",
        lambda s: ph.Feedback,
        lambda s: {"controller": lambda t, measured: 0.0},
        {"controller": CONTROLLER, "measured": frozenset({"()"})},
    ),
]
