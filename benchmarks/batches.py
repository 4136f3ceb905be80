"""What a step of a mechanism costs alone and in lanes: python benchmarks/batches.py [mechanisms] [rounds]

Mechanisms of one structure whose parameters differ by up to 14 %, once one by one and once in lanes, on one thread.
Times are processor times of this process, the least of the rounds, of runs of two lengths: building and reading
drop out of their difference. Both in one run, so that the ratio does not depend on what else the machine does.
"""

import os
import sys
from time import process_time

import numpy as np

import phlexible as ph
from phlexible.step.compilation.lanes import lanes_of_processor


def floating_beam(factor):
    """A free beam with 20 modes that turns and bends."""
    steel = ph.Material(youngs_modulus=2.0e11, density=7870.0)
    section = ph.RectangularSection(width=0.02, height=0.01)
    model = ph.Model()
    model.add(
        ph.Beam(1.0, section, steel, elements=10, modes=20), "beam", angular_velocity=(1.0, 2.0, 30.0 * factor)
    )
    return model


MODELS = {
    "double pendulum": (lambda factor: ph.gallery.double_pendulum(length=factor), 1e-3, 10000),
    "crank-slider with 2 modes": (
        lambda factor: ph.gallery.crank_slider(modes=2, diameter=6e-3 * (2 - factor), slider_mass=0.033 * factor),
        2e-5,
        3000,
    ),
    "chain of 10 with 4 elements": (lambda factor: ph.gallery.chain(10, link_length=0.2 * factor), 1e-3, 300),
    "floating body with 20 modes": (floating_beam, 1e-4, 600),
}


def place(model):
    """A sensor that takes little time."""
    is_rigid = model.bodies[0].name == "upper"
    return {"place": ph.Position(model.bodies[0].origin if is_rigid else model.bodies[0].start)}


def time_of_a_step(batch, step, count, lanes, rounds):
    """Of a mechanism [s], from the least times of runs of ``count`` and three times as many; share in lanes."""
    least = [float("inf"), float("inf")]
    for _ in range(rounds):
        for k, steps in enumerate((count, 3 * count)):
            begin = process_time()
            runs = batch.simulate(steps * step, step, place, every=count, threads=1, lanes=lanes, progress=False)
            least[k] = min(least[k], process_time() - begin)
    return (least[1] - least[0]) / (2 * count * len(batch)), runs.in_lanes.min()


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    load, lanes = os.getloadavg()[0], lanes_of_processor()
    print(f"load of the machine: {load:.1f} on {os.cpu_count()} processors; {lanes} lanes")
    print(f"{n} mechanisms, us a step and mechanism {'alone':>9s} {'in lanes':>9s} {'ratio':>6s}")
    for name, (build, step, count) in MODELS.items():
        batch = ph.batch(build, {"factor": 1.0 + 0.14 * np.arange(n) / n})
        alone = time_of_a_step(batch, step, count, False, rounds)[0]
        together, share = time_of_a_step(batch, step, count, True, rounds)
        words = "" if share == 1.0 else f"  ({100 * share:.0f} % of the steps in lanes)"
        print(f"{name:37s} {1e6 * alone:9.2f} {1e6 * together:9.2f} {alone / together:6.2f}{words}", flush=True)


if __name__ == "__main__":
    main()
