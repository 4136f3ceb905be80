"""Cost of a step of square plates of shell elements: python benchmarks/shells.py. Processor time, compiled before.

A plate that is free and bends, and one that falls about a clamped edge; the best of three runs of 100 steps.
"""

import time

import phlexible as ph

STEEL = ph.Material(210e9, 7850.0)
STEP, STEPS = 2e-3, 100


def free(count: int) -> ph.Model:
    """A plate of 1 m and 2 mm that is struck so that it bends."""
    model = ph.Model()
    plate = ph.Shell.plate(1.0, 1.0, 2e-3, STEEL, (count, count))
    model.add(plate, "plate", velocity=lambda x: (0.0, 0.0 * x[0], 3 * (x[0] - 0.5) ** 2))
    return model


def clamped(count: int) -> ph.Model:
    """The plate falls under its weight, held at one edge."""
    model = ph.Model(gravity=(0, 0, -9.81))
    plate = ph.Shell.plate(1.0, 1.0, 2e-3, STEEL, (count, count), {"start": "rigid"})
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), model.add(plate, "plate")["start"]))
    return model


def seconds(model: ph.Model, steps: int) -> tuple[float, float]:
    """Processor time of a run, and its Newton iterations."""
    start = time.process_time()
    motion = model.simulate(steps * STEP, STEP, progress=False)
    return time.process_time() - start, motion.iterations[-1]


def main() -> None:
    for build in (free, clamped):
        for count in (10, 20, 40):
            model = build(count)
            seconds(model, 1)
            first, iterations = min(seconds(model, 1) for _ in range(3))
            whole, all_iterations = min(seconds(model, STEPS) for _ in range(3))
            per_step = (whole - first) / (STEPS - 1)
            taken = (all_iterations - iterations) / (STEPS - 1)
            print(f"{build.__name__}, {count} x {count}: {1e3 * per_step:.2f} ms a step, {taken:.1f} iterations")


if __name__ == "__main__":
    main()
