"""Cost of a step of bodies from meshes and plates with about twenty coordinates: python benchmarks/meshed_steps.py.

Least processor time of some runs, of the whole ``simulate`` call less what a short run takes.
"""

import time
from collections.abc import Callable

import numpy as np
from skfem import MeshHex

import phlexible as ph

STEEL = ph.Material(2.0e11, 7870.0, 0.3)
REPEATS, STEPS, STEP = 10, 2000, 1e-4


def bar() -> ph.FlexibleBody:
    """A straight bar of 12 quadratic hexahedra."""
    lines = (np.linspace(0, 0.3, 13), np.linspace(-0.01, 0.01, 2), np.linspace(-0.005, 0.005, 2))
    interfaces = {"start": (lambda x: x[0] < 1e-9, "rigid"), "end": lambda x: x[0] > 0.3 - 1e-9}
    return ph.FlexibleBody.from_mesh(MeshHex.init_tensor(*lines), STEEL, interfaces, modes=4)


def bow() -> ph.FlexibleBody:
    """A quarter of a ring."""
    lines = (np.linspace(0, np.pi / 2, 13), np.linspace(0.09, 0.11, 2), np.linspace(-0.005, 0.005, 2))
    grid = MeshHex.init_tensor(*lines)
    angle, radius, height = grid.p
    mesh = MeshHex(np.array([radius * np.sin(angle), radius * np.cos(angle) - 0.1, height]), grid.t)
    interfaces = {"start": (lambda x: x[0] < 1e-9, "rigid"), "end": lambda x: x[1] < -0.1 + 1e-9}
    return ph.FlexibleBody.from_mesh(mesh, STEEL, interfaces, modes=4)


def plate() -> ph.FlexibleBody:
    """A plate that is clamped at one edge."""
    edges = {"start": "rigid", "end": "average"}
    return ph.Plate(0.3, 0.2, 0.002, STEEL, elements=(8, 6), interfaces=edges, modes=8)


BODIES: dict[str, Callable[[], ph.FlexibleBody]] = {"bar": bar, "bow": bow, "plate": plate}


def swung(body: ph.FlexibleBody) -> ph.Model:
    """Held by a hinge at its start, pushed to and fro at its end."""
    model = ph.Model(gravity=(0, 0, -9.81))
    part = model.add(body, "part")
    hinge = model.ground.at(part["start"].initial_position())
    model.connect(ph.Revolute(hinge, part["start"], axis=(0, 1, 0)))
    model.apply(ph.Force(part["end"], lambda t: (0, 2 * np.sin(60 * t), 0)))
    return model


def least_time(model: ph.Model, steps: int) -> float:
    """Processor time, of some runs [s]."""
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        model.simulate(steps * STEP, STEP, progress=False, every=100)
        best = min(best, time.process_time() - begin)
    return best


if __name__ == "__main__":
    for name, build in BODIES.items():
        body = build()
        model = swung(body)
        model.simulate(2 * STEP, STEP, progress=False)
        cost = (least_time(model, STEPS) - least_time(model, 100)) / (STEPS - 100)
        strain = body.data.strain
        counts = f"{body.data.elastic_count} coordinates, {len(strain.rows)} strains, {len(strain.squares)} squares"
        print(f"{name:6s} {counts:48s} {1e6 * cost:7.1f} us a step", flush=True)
