"""Cost of a step, and of a run of one: python benchmarks/step_cost.py. Compiled code is loaded before."""

import time
from collections.abc import Callable

import numpy as np

import phlexible as ph

REPEATS = 5
STEPS = 5000

MODELS: dict[str, tuple[Callable[[], ph.Model], float]] = {
    "crank-slider, 3 bending modes + axial": (lambda: ph.gallery.crank_slider(modes=3), 2e-5),
    "crank-slider, all coordinates": (ph.gallery.crank_slider, 2e-5),
    "chain of 20 in the plane, 2 elements": (lambda: ph.gallery.chain(links=20, elements=2), 1e-4),
    "chain of 20 in space, 2 elements": (lambda: ph.gallery.chain(20, dimension=3, elements=2), 1e-4),
}


def cost(model: ph.Model, step: float) -> tuple[float, float]:
    """Least wall time of a step over some repeats [s], storing every 100th state, and Newton iterations."""
    model.simulate(duration=200 * step, step=step)
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        motion = model.simulate(duration=STEPS * step, step=step, every=100)
        best = min(best, time.perf_counter() - begin)
    return best / STEPS, motion.iterations[-1] / STEPS


def arm(is_led: bool) -> ph.Model:
    """A beam on a hinge that a servo leads along a path, or a spring and a damper as strong hold."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    steel = ph.Material(2.1e11, 7850.0)
    boom = model.add(ph.Beam(0.8, ph.CircularSection(6e-3), steel, elements=4), "boom")
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), boom.start))
    if is_led:
        model.apply(shoulder.servo(80.0, 4.0, angle=lambda t: 0.5 * np.sin(3 * t)))
    else:
        model.apply(shoulder.spring(80.0, damping=4.0))
    return model


def servo() -> tuple[float, float]:
    """Least time of the processor of a step of the arm held and led, by turns [s]."""
    models = arm(is_led=False), arm(is_led=True)
    best = [float("inf")] * 2
    for _ in range(2 * REPEATS):
        for k, model in enumerate(models):
            begin = time.process_time()
            model.simulate(duration=STEPS * 1e-3, step=1e-3, every=100)
            best[k] = min(best[k], (time.process_time() - begin) / STEPS)
    return best[0], best[1]


def start(model: ph.Model, step: float, initial: str) -> float:
    """Least wall time of a run of one step [s]: what comes before the first step, and after the last."""
    best = float("inf")
    for _ in range(10 * REPEATS):
        begin = time.perf_counter()
        model.simulate(duration=step, step=step, initial=initial)
        best = min(best, time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    for name, (build, step) in MODELS.items():
        seconds, iterations = cost(build(), step)
        print(f"{name:<40} {1e6 * seconds:7.1f} us a step, {iterations:.1f} Newton iterations")
    held, led = servo()
    print(
        f"an arm held by spring and damper: {1e6 * held:.1f} us of the processor a step, by a servo {1e6 * led:.1f}"
    )
    slider = ph.gallery.crank_slider(modes=3)
    for initial in ("undeformed", "quasi_static"):
        print(f"a run of one step, crank-slider, {initial:<12} {1e3 * start(slider, 2e-5, initial):5.2f} ms")
