"""What a step costs that is taken from outside: python benchmarks/live_steps.py [repeats]

For each model the least time of a live step, of a step of ``simulate`` (the compiled step alone, in a long run),
and what lies between: Python around each live step. Processor times of this process.
"""

import sys
from math import sin
from time import process_time

import numpy as np

import phlexible as ph


def forced(function):
    """A pendulum with a force that is a function of time."""
    model = ph.gallery.double_pendulum()
    model.apply(ph.Force(model.bodies[1].origin, lambda t: (function(t), 0.0, 0.0)))
    return model


MODELS = {
    "pendulum": (lambda: ph.gallery.double_pendulum(), 1e-3),
    "pendulum, a force that is np.sin": (lambda: forced(np.sin), 1e-3),
    "pendulum, a force that is math.sin": (lambda: forced(sin), 1e-3),
    "flexible pole": (lambda: ph.gallery.flexible_pole(), 1e-3),
    "crank-slider, 3 modes": (lambda: ph.gallery.crank_slider(modes=3), 2e-5),
    "robot arm, six controllers": (lambda: ph.gallery.robot_arm(), 1e-3),
    "robot arm, 1 element, six controllers": (lambda: ph.gallery.robot_arm(elements=1), 1e-3),
    "robot arm, no controllers": (lambda: ph.gallery.robot_arm(sampled=False), 1e-3),
}
STEPS = 200


def live(model, step, repeats):
    """Least time of a live step [us]."""
    run = model.start(step)
    start = run.save()
    least = float("inf")
    for _ in range(repeats):
        begin = process_time()
        for _ in range(STEPS):
            run.step()
        least = min(least, (process_time() - begin) / STEPS)
        run.restore(start)
    return 1e6 * least


def compiled(model, step, repeats):
    """Least time of a step of a run over the same time, less what a run of one step costs [us]."""
    least = [float("inf")] * 2
    for _ in range(repeats):
        for k, steps in enumerate((1, STEPS)):
            begin = process_time()
            model.simulate(steps * step, step, progress=False)
            least[k] = min(least[k], process_time() - begin)
    return 1e6 * (least[1] - least[0]) / (STEPS - 1)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{'model':40s} {'live':>8s} {'of a run':>9s} {'beyond':>8s}  [us a step]")
    for name, (build, step) in MODELS.items():
        model = build()
        of_live, of_run = live(model, step, repeats), compiled(model, step, max(3, repeats // 4))
        print(f"{name:40s} {of_live:8.1f} {of_run:9.1f} {of_live - of_run:8.1f}")


if __name__ == "__main__":
    main()
