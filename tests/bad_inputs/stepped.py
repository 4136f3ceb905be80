"""Runs that are stepped by hand, environments, equilibria, and bodies from meshes and matrices."""

import warnings
from functools import cache

import numpy as np
import skfem

import phlexible as ph
from bad_inputs.outcomes import NAMED, Call, call_of
from bad_inputs.usual import COUNT, FINITE, NONE, PAIR, POINT, REFUSED, usual
from bad_inputs.wrong_values import STEEL, Hinged, Stage


class Stepped(Hinged):
    def __init__(self):
        super().__init__()
        self.element = self.model.apply(self.joint.spring(1.0))
        self.model.apply(self.joint.torque(0.0, name="motor"))
        self.load = self.model.apply(ph.Force(self.body.origin, (0.0, 1.0, 0.0), name="push"))
        self.run = self.model.start(0.01)
        self.rest = self.model.equilibrium()


class Meshed(Stage):
    """The stage with a plate in its plane, clamped at one edge, and a motion of that."""

    def __init__(self):
        super().__init__()
        plane, edges = ph.Model(dimension=2), {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ph.FlexibleBody.from_mesh(square(), STEEL, interfaces=edges, modes=1, thickness=0.01)
            self.part = plane.add(body, "plate")
            plane.connect(ph.Fixed(plane.ground.at((0.0, 0.1, 0.0)), self.part["root"]))
            self.motion = plane.simulate(2e-4, 1e-4, progress=False)


@cache
def meshed():
    return Meshed()


def of_mesh(label, function, good, names=None, /, **takes):
    return call_of(label, function, good, names, takes, meshed)


@cache
def stepped():
    return Stepped()


def of(label, function, good, names=None, /, **takes):
    return call_of(label, function, lambda s: good, names, takes, stepped)


def at_rest(name, names=None, /, **takes):
    return call_of(f"equilibrium.{name}", lambda s: getattr(s.rest, name), lambda s: {}, names, takes, stepped)


def given(s, name, value):
    s.run.inputs[name] = value


def square():
    return skfem.MeshQuad.init_tensor(np.linspace(0, 1, 3), np.linspace(0, 0.2, 2))


def matrices():
    """Two bars between three masses in the plane, each node with two displacements and a turn."""
    bending = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    stiffness = np.zeros((9, 9))
    for first in (0, 3):
        along, across = [first, first + 3], [first + 1, first + 2, first + 4, first + 5]
        stiffness[np.ix_(along, along)] += [[1e3, -1e3], [-1e3, 1e3]]
        stiffness[np.ix_(across, across)] += bending
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    return dict(mass=np.diag(3 * [1.0, 1.0, 0.1]), stiffness=stiffness, nodes=nodes)


def environment(**given):
    from phlexible.gym import Env

    return Env(**given)


MESHED = [
    of_mesh("MeshSurface", lambda s: ph.MeshSurface, lambda s: dict(body=s.part)),
    of_mesh("Pressure", lambda s: ph.Pressure, lambda s: dict(interface=s.part["tip"], value=1.0)),
    of_mesh("motion.export", lambda s: s.motion.export, lambda s: dict(path="x.pvd"), every=COUNT | NONE),
    of_mesh("motion.mesh_stress", lambda s: s.motion.mesh_stress, lambda s: dict(body=s.part)),
    of_mesh("read_matrices", lambda s: ph.read_matrices, lambda s: {}),
]
STEPPED = [
    *MESHED,
    of("run.advance", lambda s: s.model.start(0.1).advance, dict(to=0.1)),
    of("run.run", lambda s: s.model.start(0.1).run, dict(duration=0.1)),
    of("run.read", lambda s: s.run.read, {}),
    of("run.restore", lambda s: s.run.restore, {}),
    *(
        Call(
            f"run.inputs of {name}",
            lambda s, name=name: lambda value: given(s, name, value),
            lambda s: {},
            usual(value=taken),
            stepped,
            dict(value=name),
        )
        for name, taken in (("motor", FINITE), ("push", REFUSED))
    ),
    Call("inputs", lambda s: lambda name: s.run.inputs[name], lambda s: {}, usual(name=REFUSED), stepped, NAMED),
    at_rest("position", attachment=POINT),
    at_rest("rotation"),
    at_rest("angle", joint=frozenset({"joint"})),
    at_rest("translation", joint=REFUSED),
    at_rest("reaction", "", joint=frozenset({"joint"})),
    at_rest("reaction_moment", "", joint=frozenset({"joint"})),
    at_rest("element_force", element=frozenset({"element"})),
    at_rest("tension"),
    at_rest("section_forces", "body"),
    at_rest("stress", "body"),
    at_rest("plot", "", path=NONE | {"'x'", "'1'"}),
    Call(
        "Env",
        lambda s: environment,
        lambda s: dict(
            build=s.model,
            step=0.01,
            actions=dict(motor=(-1.0, 1.0)),
            observe=[ph.JointPosition(s.joint)],
            reward=lambda seen, torque: 0.0,
        ),
        usual(
            "step actions observe reward interval duration is_over render_mode",
            build=frozenset({"model"}),
            bounds=PAIR,
        ),
        stepped,
    ),
    Call(
        "FlexibleBody.from_matrices",
        lambda s: ph.FlexibleBody.from_matrices,
        lambda s: {**matrices(), "modes": 1, "interfaces": dict(root=[0])},
        usual(
            "interfaces frame geometric_stiffness modal damping_ratio viscosity relaxation moments"
            " inertial_shapes color",
            mass=REFUSED,
            stiffness=REFUSED,
            nodes=REFUSED,
            modes=COUNT | NONE | {"0"},
            damping=NONE,
        ),
        stepped,
    ),
    Call(
        "FlexibleBody.from_mesh",
        lambda s: ph.FlexibleBody.from_mesh,
        lambda s: dict(
            mesh=square(), material=STEEL, interfaces=dict(root=lambda x: x[0] < 1e-9), modes=1, thickness=0.01
        ),
        usual("mesh material interfaces modes frame strain thickness scale damping_ratio color"),
        stepped,
    ),
]
