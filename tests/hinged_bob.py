"""A pendulum with a controller and a torque of samples: for programs that differentiate runs."""

import numpy as np

import phlexible as ph

TIMES = np.linspace(0.0, 0.1, 6)


def build(p):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bob = model.add(ph.RigidBody(p["mass"], 0.1), "bob", position=(1, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.point((-1, 0, 0)), name="hinge"))
    model.apply(hinge.motor(lambda t, y: -p["gains"] @ y))
    model.apply(hinge.torque(p["torque"]))
    return model


def sensors(model):
    return {"place": ph.Position(model["bob"].origin), "rate": ph.JointRate(model.joint("hinge"))}
