"""Control, robots and uncertain models."""

from functools import cache
from pathlib import Path

import phlexible as ph
from bad_inputs.outcomes import FINITE, FLAG, NAME, NON_NEGATIVE, NONE, POSITIVE, REFUSED, VECTOR, Call
from bad_inputs.wrong_values import FUNCTIONS

ROBOT = Path(__file__).parent.parent / "tools" / "ur5.urdf"
MAPPING = frozenset({"{}"})
CALLED_LATER = frozenset({"a class", "f raises", *(label for label in FUNCTIONS if label.startswith("f ->"))})


class Swung:
    """A rigid bar on a hinge under gravity; nothing changes it."""

    def __init__(self):
        self.model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
        self.body = self.model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0.0, 0.0)), "bar")
        self.attachment = self.body.origin
        self.ground = self.model.ground.at((0.0, 0.0, 0.0))
        self.joint = self.model.connect(ph.Revolute(self.ground, self.body.origin))


@cache
def swung():
    """One for all calls."""
    return Swung()


@cache
def linear():
    """From the torque in its hinge to its rate."""
    here = swung()
    return here.model.linearize([here.joint], [ph.JointRate(here.joint)], at="unloaded")


@cache
def law():
    """A proportional controller."""
    import control

    return control.ss([], [], [], [[-1.0]], dt=0.1)


CONTROL = [
    Call(
        "Feedback of a joint",
        lambda s: ph.Feedback,
        lambda s: {"controller": lambda t, measured: 0.0, "measured": [s.joint], "period": 0.5},
        {
            "on": frozenset({"()"}),
            "period": POSITIVE | NONE,
            "delay": frozenset({"0", "1", "0.5"}),
            "target": FINITE | NONE | CALLED_LATER | {"(1, 2)"},
            "name": NAME,
            "vjp": NONE | CALLED_LATER | {"f(a, b, c)"},
            "jvp": NONE | CALLED_LATER | {"f(a, b, c)"},
        },
        swung,
    ),
    Call(
        "energy_shaping",
        lambda s: ph.energy_shaping,
        lambda s: {"model": s.model, "joint": s.joint, "target": 0.1, "stiffness": 1.0, "damping": 0.1},
        {
            "model": frozenset({"model"}),
            "joint": frozenset({"joint"}),
            "target": FINITE,
            "stiffness": POSITIVE,
            "damping": NON_NEGATIVE,
            "name": NAME,
        },
        swung,
    ),
    Call(
        "shared_energy_shaping",
        lambda s: ph.shared_energy_shaping,
        lambda s: {"model": s.model, "targets": {s.joint: 0.1}, "stiffness": 30.0, "damping": 0.1},
        {"model": frozenset({"model"}), "targets": REFUSED, "stiffness": POSITIVE, "damping": NON_NEGATIVE},
        swung,
    ),
    Call(
        "passive_observer",
        lambda s: ph.passive_observer,
        lambda s: {"linear": linear(), "damping": 1.0},
        {"linear": REFUSED, "damping": POSITIVE, "injection": POSITIVE},
        swung,
    ),
    Call(
        "damping_injection",
        lambda s: ph.damping_injection,
        lambda s: {"model": s.model, "dampings": {s.joint: 1.0}},
        {"model": frozenset({"model"}), "dampings": MAPPING},
        Swung,
    ),
    Call(
        "from_urdf",
        lambda s: ph.from_urdf,
        lambda s: {"path": ROBOT},
        {
            "path": REFUSED,
            "flexible": MAPPING | NONE,
            "positions": MAPPING | NONE,
            "gravity": VECTOR,
            "stop_stiffness": NON_NEGATIVE | NONE,
            "free": FLAG,
            "visuals": FLAG,
            "inertia": REFUSED,
        },
        swung,
    ),
    Call(
        "interconnect",
        lambda s: linear().interconnect,
        lambda s: {"controller": law()},
        {"controller": REFUSED, "measured": NONE, "on": NONE, "follows": FLAG, "period": POSITIVE | NONE},
        swung,
    ),
]
