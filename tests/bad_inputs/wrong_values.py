"""What users hand in by mistake, and a model whose parts stand for the parts they mix up."""

from functools import cache

import numpy as np

import phlexible as ph

STEEL = ph.Material(2e11, 7800.0)
ROD = ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=1, frame="cantilever")
ROPE = ph.String(1.0, 0.1, 2, ph.LinearLaw(20.0))
BOB = ph.RigidBody(1.0, (0.1, 0.2, 0.2), center=(0.1, 0.0, 0.0))


class Stage:
    """A model with a body and a joint of every family; its own parts are ``body``, ``attachment``, ..."""

    def __init__(self):
        self.model = ph.Model(gravity=(0.0, -9.81, 0.0))
        self.beam = self.model.add(ROD, "beam")
        self.body = self.model.add(BOB, "bob", position=(1.0, 0.0, 0.0))
        self.rope = self.model.add(ROPE, "rope", position=(0.0, 1.0, 0.0))
        self.split = self.model.add(ROD.split(2), "split", position=(0.0, 2.0, 0.0))
        self.attachment = self.body.origin
        self.ground = self.model.ground.at((0.0, 0.0, 0.0))
        self.frame = self.model.ground.moving(lambda t: (0.0, 0.0, 0.0))
        self.joint = self.model.connect(ph.Revolute(self.ground, self.beam.start))
        self.elbow = self.model.connect(ph.Revolute(self.beam.end, self.body.origin))
        self.rail = self.model.connect(ph.Prismatic(self.body.origin, self.beam.end))
        self.element = self.model.apply(self.joint.spring(1.0))
        self.drive = self.model.apply(self.elbow.drive(angle=lambda t: 0.0))
        self.load = self.model.apply(ph.Force(self.beam.end, (0.0, 1.0, 0.0)))


class Empty:
    def __init__(self):
        self.model = ph.Model(gravity=(0.0, -9.81, 0.0))


class Hinged:
    def __init__(self, mass=1.0, **options):
        self.model = ph.Model(dimension=2, **options)
        self.body = self.model.add(ph.RigidBody(mass, 0.1, center=(0.5, 0.0, 0.0)), "bar")
        self.attachment = self.body.origin
        self.ground = self.model.ground.at((0.0, 0.0, 0.0))
        self.joint = self.model.connect(ph.Revolute(self.ground, self.body.origin))


@cache
def stage():
    return Stage()


@cache
def foreign():
    return Stage()


def _raises(*arguments):
    raise KeyError("no such place")


def _read(*labels):
    return {label: eval(label, {"nan": np.nan, "inf": np.inf}) for label in labels}


OTHERS = {
    **_read("-1", "0", "1", "0.5", "nan", "inf", "1e200", "10**400", "1j", "True", "False", "None"),
    **_read("'x'", "'1'", "''", "'a\\0b'", "b'1'", "object()", "{}", "{1}", "()", "(1, nan, 3)", "('1', '2', '3')"),
    **_read("(True, 0, 0)", "(1j, 0, 0)", "('x', 0, 0)"),
    "a class": dict,
    "(1, 2)": (1.0, 2.0),
    "(1, 2, 3)": (1.0, 2.0, 3.0),
    "ragged": ((1.0,), (1.0, 2.0)),
    "2 x 2": np.eye(2),
    "3 x 3": np.eye(3),
    "empty": np.zeros((0, 3)),
}
RETURNED = _read("'1'", "1j", "{}", "nan", "True", "1.0", "object()", "('0', 0, 0)", "(1j, 0, 0)") | {
    "nothing": None,
    "(0, 0)": (0.0, 0.0),
    "(0, 0, 0)": (0.0, 0.0, 0.0),
    "3 x 3": np.eye(3),
}
FUNCTIONS = {
    "f()": lambda: 0.0,
    "f(a, b, c)": lambda a, b, c: 0.0,
    "f raises": _raises,
    **{f"f -> {label}": lambda *_, value=value: value for label, value in RETURNED.items()},
}
PARTS = ("model", "body", "attachment", "ground", "frame", "joint", "element", "drive", "load")


@cache
def simple_values():
    return {**OTHERS, **FUNCTIONS, "description": ROD}


def wrong_values(own):
    """All values by their labels, with the parts of a stage, and those of a foreign model."""
    mine = {name: getattr(own, name) for name in PARTS if hasattr(own, name)}
    return {**simple_values(), **mine, **{f"foreign {name}": getattr(foreign(), name) for name in PARTS}}
