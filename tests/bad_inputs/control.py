"""Control, robots and uncertain models."""

from functools import cache
from pathlib import Path

import phlexible as ph
from bad_inputs.outcomes import Call, calling
from bad_inputs.usual import CALLED_LATER, EMPTY, FINITE, NONE, POSITIVE, REFUSED, usual
from bad_inputs.wrong_values import Hinged

ROBOT = Path(__file__).parent.parent / "tools" / "ur5.urdf"


@cache
def swung():
    return Hinged(gravity=(0.0, -9.81, 0.0))


@cache
def linear():
    here = swung()
    return here.model.linearize([here.joint], [ph.JointRate(here.joint)], at="unloaded")


@cache
def law():
    import control

    return control.ss([], [], [], [[-1.0]], dt=0.1)


CONTROL = [
    Call(
        "Feedback of a joint",
        lambda s: ph.Feedback,
        lambda s: dict(controller=lambda t, measured: 0.0, measured=[s.joint], period=0.5),
        usual("period delay name vjp jvp", on=EMPTY, target=FINITE | NONE | CALLED_LATER | {"(1, 2)"}),
        swung,
    ),
    calling(
        ph.energy_shaping,
        lambda s: dict(model=s.model, joint=s.joint, target=0.1, stiffness=1.0, damping=0.1),
        model=frozenset({"model"}),
        joint=frozenset({"joint"}),
        target=FINITE,
        stiffness=POSITIVE,
        make_stage=swung,
    ),
    calling(
        ph.shared_energy_shaping,
        lambda s: dict(model=s.model, targets={s.joint: 0.1}, stiffness=30.0, damping=0.1),
        model=frozenset({"model"}),
        stiffness=POSITIVE,
        make_stage=swung,
    ),
    calling(ph.passive_observer, lambda s: dict(linear=linear(), damping=1.0), damping=POSITIVE, make_stage=swung),
    calling(
        ph.damping_injection,
        lambda s: dict(model=s.model, dampings={s.joint: 1.0}),
        model=frozenset({"model"}),
        make_stage=Hinged,
    ),
    calling(ph.from_urdf, lambda s: dict(path=ROBOT), inertia=REFUSED, make_stage=swung),
    Call(
        "interconnect",
        lambda s: linear().interconnect,
        lambda s: dict(controller=law()),
        usual("follows period", controller=REFUSED, measured=NONE, on=NONE),
        swung,
    ),
]
