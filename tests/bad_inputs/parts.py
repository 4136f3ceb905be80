"""What is placed, connected and applied."""

import phlexible as ph
from bad_inputs.outcomes import NAMED, Call, call_of, calling
from bad_inputs.usual import (
    CALLED_LATER,
    COUNT,
    DESCRIPTION,
    FINITE,
    NAME,
    NON_NEGATIVE,
    NONE,
    NOT_ZERO,
    NUMBER_FUNCTION,
    ON_A_BODY,
    PORT,
    POSITIVE,
    REFUSED,
    VECTOR,
    VECTOR_FUNCTION,
    usual,
)
from bad_inputs.wrong_values import BOB, ROD, ROPE, Empty, Stage


def joint(kind, **takes):
    return call_of(kind.__name__, lambda s: kind, lambda s: dict(first=s.ground, second=s.body.origin), None, takes)


def related(kind, good, **takes):
    """A relation between joints; that a joint is another model's is found where the relation is connected."""
    return call_of(kind.__name__, lambda s: kind, good, None, takes)


def adding(label, description, names=None, /, **takes):
    return call_of(f"add {label}", lambda s: s.model.add, lambda s: dict(body=description), names, takes, Empty)


def of(label, method, good, names=None, /, **takes):
    return call_of(label, method, lambda s: good, names, takes)


# Functions that are first called in a run: what they return is refused there, with the time.

PARTS = [
    calling(ph.Model, lambda s: {}, dimension=COUNT),
    adding("a beam", ROD, body=DESCRIPTION),
    adding("a rigid body", BOB, "position rotation velocity angular_velocity"),
    adding("a point mass", ph.PointMass(1.0), "velocity", angular_velocity=NONE),
    adding(
        "a string",
        ROPE,
        "position rotation",
        shape=NONE | {"3 x 3"},
        velocity=NONE | VECTOR | VECTOR_FUNCTION | {"3 x 3"},
        angular_velocity=NONE,
    ),
    adding("a split beam", ROD.split(2), "name position rotation velocity angular_velocity shape"),
    Call("model[...]", lambda s: lambda name: s.model[name], lambda s: {}, usual(name=REFUSED), words=NAMED),
    Call(
        "model.group",
        lambda s: s.model.group,
        lambda s: dict(name="both", parts=["split part 1", "split part 2"]),
        usual(name=NAME - NONE, parts=REFUSED),
        Stage,
    ),
    Call(
        "model.connect",
        lambda s: s.model.connect,
        lambda s: {},
        usual(joint=REFUSED),
        Stage,
        dict(joint="joint|already connected|of another model"),
    ),
    Call(
        "model.apply",
        lambda s: s.model.apply,
        lambda s: {},
        usual("part"),
        Stage,
        dict(part="part|already applied|not connected|of another model"),
    ),
    of("replace", lambda s: s.model.replace, {}, "bodies bob boom", gravity=NONE | VECTOR, parts=NONE | {"{}"}),
    of("model.copy", lambda s: s.model.copy, {}),
    of("model.joint", lambda s: s.model.joint, {}, name=REFUSED),
    of("model.part", lambda s: s.model.part, {}, name=REFUSED),
    Call(
        "model.remove",
        lambda s: lambda parts: s.model.remove(parts),
        lambda s: {},
        usual(parts=frozenset({"element", "drive", "load"})),
        Stage,
        dict(parts="part|remove"),
    ),
    of("ground.at", lambda s: s.model.ground.at, {}),
    of(
        "ground.moving",
        lambda s: s.model.ground.moving,
        dict(path=lambda t: (0.0, 0.0, 0.0)),
        path=VECTOR_FUNCTION,
        rotation=NONE | {"f -> 1.0", "f -> 3 x 3"},
        velocity=NONE | VECTOR_FUNCTION,
    ),
    Call("beam.at", lambda s: s.beam.at, lambda s: dict(x=0.5), usual("x", v=NONE), words=dict(v=r"\bv\b|at\(")),
    of("beam.point", lambda s: s.beam.point, {}),
    of("body.point", lambda s: s.body.point, {}),
    Call("string.at", lambda s: s.rope.at, lambda s: {}, usual("x"), words=dict(x=r"x|at\(s\)")),
    of("split.at", lambda s: s.split.at, {}),
    of("split.part_at", lambda s: s.split.part_at, {}),
    of("split.point", lambda s: s.split.point, {}),
    joint(ph.Fixed),
    joint(ph.Spherical),
    joint(ph.Revolute),
    joint(ph.Prismatic),
    joint(ph.Cylindrical),
    joint(ph.Planar),
    joint(ph.Slider),
    calling(
        ph.Sliding,
        lambda s: dict(slider=s.body.origin, line=s.model.add(ph.String(1.0, 1.0, 4, ph.LinearLaw(1.0)))),
        slider=PORT | ON_A_BODY,
        line=REFUSED,
    ),
    joint(ph.Universal, axis=REFUSED),
    joint(ph.Distance, length=POSITIVE | NONE | NUMBER_FUNCTION),
    related(ph.Relation, lambda s: dict(terms=[(s.joint, "angle", 1.0), (s.rail, None, 2.0)])),
    related(ph.Gear, lambda s: dict(joint_a=s.joint, joint_b=s.elbow, ratio=2.0)),
    related(ph.Rack, lambda s: dict(pinion=s.joint, rack=s.rail, radius=2.0), radius=NOT_ZERO),
    related(ph.Screw, lambda s: dict(joint=s.joint, lead=2.0, slide=s.rail), lead=NOT_ZERO),
    related(ph.Belt, lambda s: dict(joint_a=s.joint, joint_b=s.elbow, radius_a=1.0, radius_b=2.0)),
    of("joint.coordinate_name", lambda s: s.joint.coordinate_name, {}),
    of("joint.drive", lambda s: s.joint.drive, dict(angle=lambda t: 0.0), position=NONE),
    of("joint.spring", lambda s: s.joint.spring, dict(stiffness=1.0), stiffness=NON_NEGATIVE),
    of(
        "joint.friction",
        lambda s: s.joint.friction,
        dict(coulomb=1.0),
        radius=NONE,
        bristle=NON_NEGATIVE | NONE,
        bristle_damping=NON_NEGATIVE | NONE,
    ),
    of("joint.stop", lambda s: s.joint.stop, dict(stiffness=1.0, lower=-2, upper=2), damping=NON_NEGATIVE | NONE),
    calling(ph.Plane, lambda s: dict(port=s.ground)),
    calling(
        ph.Rolling, lambda s: dict(wheel=s.body.origin, plane=ph.Plane(s.ground), radius=0.1), axis=VECTOR | NONE
    ),
    calling(ph.Surface, lambda s: dict(port=s.ground, shape=ph.Sphere(0.1)), shape=frozenset()),
    calling(
        ph.Capsule,
        lambda s: dict(start=s.model.ground.at((9, 9, 9)), end=s.body.origin, radius=0.1),
        start=PORT - {"foreign attachment"},
        end=PORT | ON_A_BODY,
    ),
    calling(
        ph.Contact,
        lambda s: dict(first=s.body.origin, second=ph.Plane(s.ground), stiffness=1.0),
        first=ON_A_BODY,
        second=frozenset(),
        radius=NON_NEGATIVE,
        damping=NON_NEGATIVE | NONE,
    ),
    calling(ph.hertz_stiffness, lambda s: dict(radius=0.1, material=ph.Material(1e9, 1e3), other_radius=1.0)),
    Call(
        "Contact of many",
        lambda s: ph.Contact,
        lambda s: dict(first=[s.body.origin], second=[s.ground], stiffness=1.0, radius=0.1),
        usual(
            "stiffness radius friction exponent friction_speed bristle bristle_damping"
            " static_friction restitution restitution_speed rolling drilling longest_part name",
            first=ON_A_BODY,
            second=frozenset({"ground", "foreign ground"}),
            damping=NON_NEGATIVE | NONE,
            second_radius=NON_NEGATIVE | NONE,
        ),
    ),
    of(
        "joint.servo",
        lambda s: s.joint.servo,
        dict(kp=1.0, kd=0.1, angle=lambda t: t),
        angle=FINITE | NUMBER_FUNCTION,
        position=NONE,
        rate=NONE | NUMBER_FUNCTION,
    ),
    calling(
        ph.StateForce,
        lambda s: dict(function=lambda t, x, v: -x, of=[s.joint], on=[s.joint]),
        function=CALLED_LATER | {"f(a, b, c)"},
        of=REFUSED,
    ),
    of("joint.damper", lambda s: s.joint.damper, dict(damping=1.0)),
    of("joint.torque", lambda s: s.joint.torque, dict(value=1.0)),
    of("joint.force", lambda s: s.rail.force, dict(value=1.0)),
    of("joint.motor", lambda s: s.joint.motor, dict(controller=lambda t, measured: 0.0)),
    *(
        Call(
            kind.__name__,
            lambda s, kind=kind: kind,
            lambda s: dict(attachment=s.beam.end, value=(0.0, 1.0, 0.0)),
            usual("attachment axes breakpoints name", value=VECTOR | VECTOR_FUNCTION),
        )
        for kind in (ph.Force, ph.Torque)
    ),
    calling(
        ph.DistributedForce,
        lambda s: dict(body=s.beam, value=(0.0, 1.0, 0.0)),
        value=VECTOR | VECTOR_FUNCTION,
        at=NONE,
        start=NONE | {"0", "0.5"},
        end=NONE | {"1", "0.5"},
    ),
    Call(
        "DistributedForce of a table",
        lambda s: ph.DistributedForce,
        lambda s: dict(body=s.beam, value=[(0, 1, 0), (0, 2, 0)], at=(0.0, 0.5)),
        usual("at", value=REFUSED, start=NONE, end=NONE),
    ),
    calling(
        ph.SpringDamper,
        lambda s: dict(first=s.ground, second=s.body.origin, stiffness=1.0),
        stiffness=POSITIVE,
        length=NON_NEGATIVE | NONE,
    ),
    calling(
        ph.Tendon,
        lambda s: dict(guides=[s.ground, s.body.origin], stiffness=1.0),
        "damping friction name",
        guides=REFUSED,
        stiffness=POSITIVE,
        rest_length=POSITIVE | NONE | NUMBER_FUNCTION,
    ),
    calling(
        ph.Bushing,
        lambda s: dict(first=s.ground, second=s.body.origin, stiffness=1.0),
        "first second rotational_stiffness rotational_damping relaxation name",
        stiffness=NON_NEGATIVE | VECTOR,
        damping=NON_NEGATIVE | VECTOR,
    ),
    calling(ph.Feedback, lambda s: dict(controller=lambda t, measured: 0.0), "controller measured"),
]
