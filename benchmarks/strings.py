"""Cost of a step of a string of 100 to 10 000 elements: python benchmarks/strings.py."""

import time

import numpy as np

import phlexible as ph

STEP = 2e-4


def swinging(elements: int, dimension: int) -> ph.Model:
    """A taut string that swings between two fixed points."""
    string = ph.String(1.0, 1.0, elements, ph.LogarithmicLaw(2000.0))
    ends = (0.0, 0.0, 0.0), (1.05, 0.0, 0.0)
    model = ph.Model(gravity=(0.0, -1.0, 0.0), dimension=dimension)
    placed = model.add(string, shape=ends, velocity=lambda s: (0.0, 0.2 * np.sin(np.pi * s), 0.0))
    model.connect(ph.Spherical(model.ground.at(ends[0]), placed.start))
    model.connect(ph.Spherical(model.ground.at(ends[1]), placed.end))
    return model


def seconds(model: ph.Model, steps: int) -> tuple[float, ph.Motion]:
    begin = time.process_time()
    motion = model.simulate(steps * STEP, STEP, every=steps, progress=False)
    return time.process_time() - begin, motion


def main() -> None:
    seconds(swinging(3, 2), 2)  # compile
    for dimension in (2, 3):
        for elements, steps in ((100, 4000), (1000, 1000), (10_000, 100)):
            model = swinging(elements, dimension)
            rest = min(seconds(model, 1)[0] for _ in range(3))
            spent, motion = seconds(model, steps + 1)
            cost = (spent - rest) / steps
            print(
                f"{dimension}D, {elements:6d} elements: {1e6 * cost:8.1f} us a step,"
                f" {1 / cost:8.0f} steps a second,"
                f" {1e9 * cost / elements:5.0f} ns a step and element,"
                f" {motion.iterations[-1] / (steps + 1):.2f} Newton iterations"
            )


if __name__ == "__main__":
    main()
