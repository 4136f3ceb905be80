"""Which order pays at equal cost: python benchmarks/composition.py prints the table of docs/accuracy.md.

Errors of a run are those of positions and projected velocities of a point of each body at its end, over the
greatest of them, against order 6 with twenty times as many solves. Its cost is the number of steps that are solved.
"""

from collections.abc import Callable

import numpy as np

import phlexible as ph
from phlexible.step.integration.composition import SUBSTEPS

SOLVES = (540, 2160, 8640)
FINEST = 172800


def double_pendulum() -> ph.Model:
    """Two bodies on spherical joints."""
    model = ph.Model(gravity=(0, 0, -9.81))
    one = model.add(ph.RigidBody(1.0, (0.02, 0.05, 0.06), center=(0.5, 0.1, 0)), "one")
    two = model.add(ph.RigidBody(0.7, (0.01, 0.03, 0.03), center=(0.3, 0, 0.1)), "two", position=(1, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), one.origin))
    model.connect(ph.Spherical(one.point((1, 0, 0)), two.origin))
    return model


MODELS: dict[str, tuple[Callable[[], ph.Model], float]] = {
    "double pendulum in the plane": (ph.gallery.double_pendulum, 1.0),
    "double pendulum in space": (double_pendulum, 1.0),
    "heavy top": (ph.gallery.heavy_top, 1.0),
    "flexible pendulum": (lambda: ph.gallery.flexible_pendulum(elements=2), 0.5),
}


def end(model: ph.Model, duration: float, solves: int, order: int) -> np.ndarray:
    """Positions and velocities of a point of each body at the end of a run of so many solves."""
    steps = solves // len(SUBSTEPS[order])
    motion = model.simulate(duration, duration / steps, order=order, every=steps, progress=False)
    points = [placed.point((0.1, 0.0, 0.1 * (model.dimension == 3))) for placed in model.bodies]
    return np.array([(motion.position(point)[-1], motion.velocity(point)[-1]) for point in points])


def errors(model: ph.Model, duration: float, order: int, exact: np.ndarray) -> list[float]:
    """One for each number of solves."""
    scale = np.abs(exact).max(axis=(0, 2), keepdims=True)
    return [float((np.abs(end(model, duration, n, order) - exact) / scale).max()) for n in SOLVES]


if __name__ == "__main__":
    print("| model | order |", " | ".join(f"{n} solves" for n in SOLVES), "|")
    print("| --- | --- |" + " --- |" * len(SOLVES))
    for name, (build, duration) in MODELS.items():
        model = build()
        exact = end(model, duration, FINEST, 6)
        for order in SUBSTEPS:
            print(
                f"| {name} | {order} |", " | ".join(f"{e:.1e}" for e in errors(model, duration, order, exact)), "|"
            )
