"""Cost of a step and memory a body in chains, trees and nets: python benchmarks/scale.py [chain | tree | net].

Nets of rods in squares are full of loops: their cost a body grows with the side of the net.
"""

import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import phlexible as ph
from phlexible.tools.study import warm_up

SIZES = {"chain": (100, 1000, 10_000), "tree": (500, 2000, 8000), "net": (741, 3081)}
STEP = 1e-3
REPEATS = 3
BODY_STEPS = 20_000  # bodies times steps of a measurement, about


def tree(count: int) -> ph.Model:
    """Rigid rods of 1 m in the plane that hang from each other, two from each end, in all directions."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = ph.RigidBody(1.0, np.diag([1e-3, 1 / 12, 1 / 12]), center=(0.5, 0.0, 0.0))
    ends = [np.zeros(3)]
    ports: list = [model.ground.at((0.0, 0.0, 0.0))]
    for k in range(count):
        parent = (k + 1) // 2
        angle = 2.4 * k % (2 * np.pi)
        body = model.add(rod, f"rod {k}", ends[parent], angle)
        model.connect(ph.Revolute(ports[parent], body.origin))
        ports.append(body.point((1.0, 0.0, 0.0)))
        ends.append(ends[parent] + np.array([np.cos(angle), np.sin(angle), 0.0]))
    return model


def net(count: int) -> ph.Model:
    """Rigid rods of 1 m in squares that hang from the ground in the plane, at least so many of them."""
    side = int(np.ceil(0.75 + np.sqrt(0.5 * count + 0.0625)))
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = ph.RigidBody(1.0, np.diag([1e-3, 1 / 12, 1 / 12]), center=(0.5, 0.0, 0.0))
    ports: dict[tuple[int, int], Any] = {(k, 0): model.ground.at((float(k), 0.0, 0.0)) for k in range(side)}
    for level in range(1, side):
        for k in range(side):
            body = model.add(rod, f"down {k} {level}", (float(k), 1.0 - level, 0.0), -np.pi / 2)
            model.connect(ph.Revolute(ports[k, level - 1], body.origin))
            ports[k, level] = body.point((1.0, 0.0, 0.0))
        for k in range(side - 1):
            body = model.add(rod, f"across {k} {level}", (float(k), -float(level), 0.0))
            model.connect(ph.Revolute(ports[k, level], body.origin))
            model.connect(ph.Revolute(ports[k + 1, level], body.point((1.0, 0.0, 0.0))))
    return model


MODELS = {"chain": lambda count: ph.gallery.chain(count, elements=4), "tree": tree, "net": net}


def memory() -> int:
    """The most that this process has held so far [bytes]."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(kind: str, count: int) -> str:
    """One size, in a process of its own."""
    MODELS[kind](3).simulate(STEP, STEP, progress=False)  # the compiler is loaded
    before, begin = memory(), time.process_time()
    model = MODELS[kind](count)
    build = time.process_time() - begin
    model.simulate(STEP, STEP, progress=False)
    start = time.process_time() - begin - build
    steps, best = max(3, BODY_STEPS // count), np.inf
    for _ in range(REPEATS):
        times = []
        for number in (1, steps + 1):
            begin = time.process_time()
            motion = model.simulate(number * STEP, STEP, every=number, progress=False)
            times.append(time.process_time() - begin)
        best = min(best, (times[1] - times[0]) / steps)
    each = 1e6 * best / count
    iterations, kilobytes = motion.iterations[-1] / (steps + 1), (memory() - before) / count / 1e3
    return (
        f"{kind} of {count:>6}: {each:6.2f} us a body and step, {iterations:.1f} iterations,"
        f" {each / iterations:.2f} us each, {kilobytes:5.1f} kB a body,"
        f" built in {build:.1f} s, first step after {start:.1f} s"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(measured(sys.argv[1], int(sys.argv[2])))
        raise SystemExit
    warm_up()
    for name in sys.argv[1:] or SIZES:
        for size in SIZES[name]:
            subprocess.run([sys.executable, __file__, name, str(size)], check=True)
