"""Derivatives of runs and of linear models, events, and the end of a run."""

from functools import cache

import numpy as np

import phlexible as ph
from bad_inputs.outcomes import Call, calling
from bad_inputs.usual import CALLED_LATER, COUNT, EMPTY, FINITE, NONE, PAIR, POSITIVE, REFUSED, VECTOR, ZERO, usual
from bad_inputs.wrong_values import Empty, Hinged

SCALES = NONE | {"{}"}


def swung(parameters):
    own = Hinged(parameters["mass"])
    own.model.apply(own.joint.spring(1.0))
    return own.model


def turned(inputs):
    model = swung(dict(mass=1.0))
    model.apply(model.joints[0].torque(inputs["torque"]))
    return model


def cost(model):
    return ph.Cost.final(ph.JointPosition(model.joints[0]))


def linear(parameters):
    model = swung(parameters)
    return model.linearize([model.joints[0]], [ph.JointRate(model.joints[0])])


@cache
def motion():
    return swung(dict(mass=1.0)).simulate(0.02, 0.01, progress=False)


def hinged():
    own = Empty()
    bar = own.model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0.5, 0.0, 0.0)), "bar")
    own.joint = own.model.connect(ph.Revolute(own.model.ground.at((0.0, 0.0, 0.0)), bar.origin, axis=(0, 0, 1)))
    own.angle = ph.JointPosition(own.joint)
    return own


@cache
def hinged_once():
    return hinged()


def angle(model):
    return dict(angle=ph.JointPosition(model.joints[0]))


SWUNG = ph.Recording((0.0, 0.01, 0.02), dict(angle=(0.0, 1e-3, 2e-3)), 1e-3)
GIVEN = dict(parameters=dict(mass=1.0))
RUN = dict(duration=0.02, step=0.01)

DERIVED = [
    calling(ph.Signal, lambda s: dict(times=(0, 1, 2), values=(1, 2, 3)), times=VECTOR, values=VECTOR),
    calling(ph.When, lambda s: dict(quantity=s.angle, above=0.5), of=EMPTY, make_stage=hinged),
    Call("at", lambda s: s.model.at, lambda s: dict(when=0.5, lock=s.joint), usual("when lock release"), hinged),
    Call("simulate until", lambda s: s.model.simulate, lambda s: {**RUN, "progress": False}, usual("stop"), hinged),
    Call(
        "resume until",
        lambda s: s.model.resume,
        lambda s: {"path": "there_is_no_such_file.h5", **RUN, "progress": False},
        usual("stop"),
        hinged,
        ends="there is no file",
    ),
    *(
        Call(
            f"Cost.{name}",
            lambda s, name=name: getattr(ph.Cost, name),
            lambda s: dict(sensor=s.angle),
            {"sensor": REFUSED, **others},
            hinged_once,
        )
        for name, others in (
            ("integral", dict(function=NONE | CALLED_LATER, weight=NONE | CALLED_LATER)),
            ("final", dict(function=NONE | CALLED_LATER)),
            ("peak", dict(p=REFUSED)),
        )
    ),
    calling(ph.gradient, lambda s: {"build": swung, "cost": cost, **GIVEN, **RUN}),
    calling(
        ph.Objective,
        lambda s: {"build": swung, "cost": cost, **GIVEN},
        "",
        build=CALLED_LATER,
        cost=CALLED_LATER,
        parameters=FINITE | {"(1, 2)", "(1, 2, 3)", "2 x 2", "3 x 3"},
    ),
    Call(
        "sensitivity",
        lambda s: motion().sensitivity,
        lambda s: {"build": swung, "sensors": lambda m: [ph.Position(m["bar"].origin)], **GIVEN},
        usual("build parameters initial numerical_damping scales", sensors=REFUSED),
    ),
    calling(ph.mode_derivatives, lambda s: {"build": linear, **GIVEN}),
    calling(
        ph.response_derivatives,
        lambda s: {"build": linear, "frequencies": (0.1, 0.2), **GIVEN},
        frequencies=POSITIVE | EMPTY | PAIR | VECTOR,
    ),
    calling(
        ph.Recording,
        lambda s: dict(time=(0.0, 0.01), outputs=dict(angle=(0.0, 0.1))),
        time=PAIR,
        outputs=REFUSED,
        noise=POSITIVE | NONE | {"{}"},
    ),
    calling(
        ph.RecordedModes, lambda s: dict(frequencies=(1,), noise=1), frequencies=PAIR | VECTOR, first=COUNT | ZERO
    ),
    calling(
        ph.RecordedResponse,
        lambda s: dict(frequencies=(1.0,), values=(1.0,), noise=0.1),
        frequencies=REFUSED,
        values=REFUSED,
    ),
    calling(
        ph.identify,
        lambda s: {"build": swung, **GIVEN, "recordings": SWUNG, "sensors": angle, "step": 0.01, "progress": False},
        sensors=REFUSED,
        linear=NONE | CALLED_LATER,
        delay=SCALES,
    ),
    calling(
        ph.optimal_inputs,
        lambda s: dict(
            build=turned,
            cost=lambda model: ph.Cost.final(ph.JointPosition(model.joints[0]), np.square),
            inputs=dict(torque=ph.Signal((0.0, 0.01), (1.0, 1.0), "constant")),
            duration=0.02,
            step=0.01,
            sensors=angle,
            progress=False,
        ),
        inputs=REFUSED,
        step=REFUSED,
        sensors=CALLED_LATER | NONE,
    ),
    calling(
        ph.batch,
        lambda s: dict(build=lambda mass: swung(dict(mass=mass)), parameters=dict(mass=[1.0])),
        build=frozenset({"a class"}),
    ),
    Call(
        "build",
        lambda s: ph.build,
        lambda s: dict(model=swung(dict(mass=1.0)), step=0.01, path="no_such_folder/compiled.zip"),
        usual(
            "step path fmi initial numerical_damping order",
            model=frozenset({"model", "foreign model"}),
            inputs=NONE | EMPTY,
            outputs=SCALES,
            targets=NONE,
            parameters=NONE,
            duration=NONE | POSITIVE,
        ),
        ends="there is no folder no_such_folder",
    ),
    Call(
        "load_library",
        lambda s: ph.load_library,
        lambda s: dict(path="no_such_folder/compiled.so"),
        usual(path=frozenset({"'x'", "'1'"})),
        ends="there is no file",
    ),
]
