"""Control, robots and uncertain models."""

from functools import cache
from pathlib import Path

import phlexible as ph
from bad_inputs.outcomes import Call, calling
from bad_inputs.usual import CALLED_LATER, EMPTY, FINITE, NONE, POSITIVE, REFUSED, usual

ROBOT = Path(__file__).parent.parent / "tools" / "ur5.urdf"


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
        usual("period delay name vjp jvp", on=EMPTY, target=FINITE | NONE | CALLED_LATER | {"(1, 2)"}),
        swung,
    ),
    calling(
        ph.energy_shaping,
        lambda s: {"model": s.model, "joint": s.joint, "target": 0.1, "stiffness": 1.0, "damping": 0.1},
        model=frozenset({"model"}),
        joint=frozenset({"joint"}),
        target=FINITE,
        stiffness=POSITIVE,
        make_stage=swung,
    ),
    calling(
        ph.shared_energy_shaping,
        lambda s: {"model": s.model, "targets": {s.joint: 0.1}, "stiffness": 30.0, "damping": 0.1},
        model=frozenset({"model"}),
        stiffness=POSITIVE,
        make_stage=swung,
    ),
    calling(
        ph.passive_observer, lambda s: {"linear": linear(), "damping": 1.0}, damping=POSITIVE, make_stage=swung
    ),
    calling(
        ph.damping_injection,
        lambda s: {"model": s.model, "dampings": {s.joint: 1.0}},
        model=frozenset({"model"}),
        make_stage=Swung,
    ),
    calling(ph.from_urdf, lambda s: {"path": ROBOT}, inertia=REFUSED, make_stage=swung),
    Call(
        "interconnect",
        lambda s: linear().interconnect,
        lambda s: {"controller": law()},
        usual("follows period", controller=REFUSED, measured=NONE, on=NONE),
        swung,
    ),
]
