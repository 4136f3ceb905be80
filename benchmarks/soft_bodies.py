"""Cost of a step of soft bodies of 5000 nodes: python benchmarks/soft_bodies.py. Processor time, compiled before.

A square membrane, a slender bar and a cube, clamped on one side, fall under their weight; a cube of tetrahedra
of the law of St. Venant and Kirchhoff that is sheared, in both schemes.
"""

import time

import numpy as np
from skfem import MeshHex, MeshTet, MeshTri

import phlexible as ph

RUBBER = ph.NeoHookean(1e6, 0.3)
STEPS = 2


def clamped(mesh: object, thickness: float | None = None) -> ph.Model:
    """All nodes at x = 0 are held."""
    body = ph.SoftBody(mesh, RUBBER, 1000.0, thickness, order=1)
    model = ph.Model(gravity=(0, 0, -9.81))
    placed = model.add(body, "body")
    for number in body.points_where(lambda x: x[0] < 1e-9):
        node = placed.node(int(number))
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))
    return model


def bodies() -> dict[str, ph.Model]:
    """By what they are."""
    line, slender = np.linspace(0, 1, 71), (np.linspace(0, 4, 201), *(np.linspace(0, 0.1, 5),) * 2)
    return {
        "membrane": clamped(MeshTri.init_tensor(line, line), 1e-3),
        "bar": clamped(MeshHex.init_tensor(*slender)),
        "cube": clamped(MeshHex.init_tensor(*(np.linspace(0, 1, 17),) * 3)),
    }


def sheared() -> ph.Model:
    """Held at z = 0, moving along x by 10 z [m/s]."""
    line = np.linspace(0, 1, 17)
    law = ph.StVenantKirchhoff(17e6, 0.3)
    body = ph.SoftBody(MeshTet.init_tensor(line, line, line), law, 1100.0, order=1)
    model = ph.Model()
    placed = model.add(body, "cube", velocity=lambda x: (10 * x[2], 0, 0))
    for number in body.points_where(lambda x: x[2] < 1e-9):
        node = placed.node(int(number))
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))
    return model


def cube() -> None:
    """Print processor time of a step of the cube and the error of the balance."""
    model, steps = sheared(), 2
    for step in (1e-3, 2.5e-4):
        model.simulate(step, step, progress=False)
        begin = time.process_time()
        motion = model.simulate(steps * step, step, progress=False)
        cost = (time.process_time() - begin) / steps
        error = np.abs(motion.energy.balance_error).max() / motion.energy.kinetic.max()
        print(f"cube of tetrahedra, {1e3 * step:g} ms: {cost:.3f} s a step, balance {error:.0e}")


def main() -> None:
    """Prints nodes, processor time and energy."""
    cube()
    for name, model in bodies().items():
        model.simulate(1e-4, 1e-4, progress=False)
        begin = time.process_time()
        motion = model.simulate(STEPS * 1e-3, 1e-3, progress=False)
        cost = (time.process_time() - begin) / STEPS
        nodes = model["body"].data.node_count
        error = np.abs(motion.energy.balance_error).max() / motion.energy.kinetic.max()
        iterations = motion.iterations[-1] / STEPS
        print(f"{name}: {nodes} nodes, {cost:.2f} s a step, {iterations:.1f} iterations, balance {error:.0e}")


if __name__ == "__main__":
    main()
