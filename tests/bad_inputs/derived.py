"""Derivatives of runs and of linear models, events, and the end of a run."""

from functools import cache

import numpy as np

import phlexible as ph
from bad_inputs.outcomes import Call, calling
from bad_inputs.usual import CALLED_LATER, COUNT, EMPTY, FINITE, MAPPING, NONE, PAIR, POSITIVE, REFUSED, usual
from bad_inputs.wrong_values import Empty

SCALES = NONE | MAPPING


def swung(parameters):
    """A bar on a hinge with a spring."""
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(parameters["mass"], 0.1, center=(0.5, 0.0, 0.0)), "bar")
    hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), bar.origin))
    model.apply(hinge.spring(1.0))
    return model


def turned(inputs):
    """The bar with a torque in its hinge."""
    model = swung({"mass": 1.0})
    model.apply(model.joints[0].torque(inputs["torque"]))
    return model


def cost(model):
    """The angle at the end."""
    return ph.Cost.final(ph.JointPosition(model.joints[0]))


def linear(parameters):
    """From the torque in the hinge to its rate."""
    model = swung(parameters)
    return model.linearize([model.joints[0]], [ph.JointRate(model.joints[0])])


@cache
def motion():
    """Two steps of it."""
    return swung({"mass": 1.0}).simulate(0.02, 0.01, progress=False)


def hinged():
    """A model to which events are added."""
    own = Empty()
    bar = own.model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0.5, 0.0, 0.0)), "bar")
    own.joint = own.model.connect(ph.Revolute(own.model.ground.at((0.0, 0.0, 0.0)), bar.origin, axis=(0, 0, 1)))
    own.angle = ph.JointPosition(own.joint)
    return own


@cache
def hinged_once():
    """One for all calls that leave it as it is."""
    return hinged()


def angle(model):
    """Of the bar, by name."""
    return {"angle": ph.JointPosition(model.joints[0])}


SWUNG = ph.Recording((0.0, 0.01, 0.02), {"angle": (0.0, 1e-3, 2e-3)}, 1e-3)
GIVEN = {"parameters": {"mass": 1.0}}
RUN = {"duration": 0.02, "step": 0.01}

DERIVED = [
    calling(
        ph.Signal,
        lambda s: {"times": (0.0, 1.0, 2.0), "values": (1.0, 2.0, 3.0)},
        times=frozenset({"(1, 2, 3)"}),
        values=frozenset({"(1, 2, 3)"}),
    ),
    calling(ph.When, lambda s: {"quantity": s.angle, "above": 0.5}, of=EMPTY, make_stage=hinged),
    Call("at", lambda s: s.model.at, lambda s: {"when": 0.5, "lock": s.joint}, usual("when lock release"), hinged),
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
            lambda s: {"sensor": s.angle},
            {"sensor": REFUSED, **others},
            hinged_once,
        )
        for name, others in (
            ("integral", {"function": NONE | CALLED_LATER, "weight": NONE | CALLED_LATER}),
            ("final", {"function": NONE | CALLED_LATER}),
            ("peak", {"p": REFUSED}),
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
        frequencies=frozenset({"1", "0.5", "(1, 2)", "(1, 2, 3)", "()"}),
    ),
    calling(
        ph.Recording,
        lambda s: {"time": (0.0, 0.01), "outputs": {"angle": (0.0, 0.1)}},
        time=PAIR,
        outputs=REFUSED,
        noise=POSITIVE | NONE | {"{}"},
    ),
    calling(
        ph.RecordedModes,
        lambda s: {"frequencies": (1.0,), "noise": 0.1},
        frequencies=frozenset({"(1, 2)", "(1, 2, 3)"}),
        first=COUNT | {"0"},
    ),
    calling(
        ph.RecordedResponse,
        lambda s: {"frequencies": (1.0,), "values": (1.0,), "noise": 0.1},
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
        lambda s: {
            "build": turned,
            "cost": lambda model: ph.Cost.final(ph.JointPosition(model.joints[0]), np.square),
            "inputs": {"torque": ph.Signal((0.0, 0.01), (1.0, 1.0), "constant")},
            "duration": 0.02,
            "step": 0.01,
            "sensors": angle,
            "progress": False,
        },
        inputs=REFUSED,
        step=REFUSED,
        sensors=CALLED_LATER | NONE,
    ),
    calling(
        ph.batch,
        lambda s: {"build": lambda mass: swung({"mass": mass}), "parameters": {"mass": [1.0]}},
        build=frozenset({"a class"}),
    ),
    Call(
        "build",
        lambda s: ph.build,
        lambda s: {"model": swung({"mass": 1.0}), "step": 0.01, "path": "no_such_folder/compiled.zip"},
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
        lambda s: {"path": "no_such_folder/compiled.so"},
        usual(path=frozenset({"'x'", "'1'"})),
        ends="there is no file",
    ),
]
