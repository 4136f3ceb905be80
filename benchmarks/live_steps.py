"""What a step costs that is taken from outside: python benchmarks/live_steps.py [repeats]

For each model the least time of a live step, of a step of ``simulate`` (the compiled step alone, in a long run),
and what lies between: Python around each live step.
"""

import sys
from time import perf_counter

import phlexible as ph

MODELS = {
    "pendulum": (lambda: ph.gallery.double_pendulum(), 1e-3),
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
        begin = perf_counter()
        for _ in range(STEPS):
            run.step()
        least = min(least, (perf_counter() - begin) / STEPS)
        run.restore(start)
    return 1e6 * least


def compiled(model, step, repeats):
    """Least time of a step of a run over the same time, less what a run of one step costs [us]."""
    least = [float("inf")] * 2
    for _ in range(repeats):
        for k, steps in enumerate((1, STEPS)):
            begin = perf_counter()
            model.simulate(steps * step, step, progress=False)
            least[k] = min(least[k], perf_counter() - begin)
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
