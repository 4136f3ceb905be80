"""What meshed bodies are asked, and files of matrices."""

import warnings
from functools import cache

import numpy as np
import skfem

import phlexible as ph
from bad_inputs.outcomes import call_of
from bad_inputs.usual import COUNT, NONE
from bad_inputs.wrong_values import STEEL, Stage


class Meshed(Stage):
    """The stage with a plate in its plane, clamped at one edge."""

    def __init__(self):
        super().__init__()
        mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 3), np.linspace(0, 0.2, 2))
        edges = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}
        self.plane = ph.Model(dimension=2)
        body = ph.FlexibleBody.from_mesh(mesh, STEEL, interfaces=edges, modes=1, thickness=0.01)
        self.part = self.plane.add(body, "plate")
        self.plane.connect(ph.Fixed(self.plane.ground.at((0.0, 0.1, 0.0)), self.part["root"]))


@cache
def meshed():
    """One for all calls."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Meshed()


@cache
def motion():
    """Of its plate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return meshed().plane.simulate(2e-4, 1e-4, progress=False)


def of(label, function, good, names=None, /, **takes):
    return call_of(label, function, good, names, takes, meshed)


MESHED = [
    of("MeshSurface", lambda s: ph.MeshSurface, lambda s: {"body": s.part}),
    of("Pressure", lambda s: ph.Pressure, lambda s: {"interface": s.part["tip"], "value": 1.0}),
    of("motion.export", lambda s: motion().export, lambda s: {"path": "x.pvd"}, every=COUNT | NONE),
    of("motion.mesh_stress", lambda s: motion().mesh_stress, lambda s: {"body": s.part}),
    of("read_matrices", lambda s: ph.read_matrices, lambda s: {}),
]
