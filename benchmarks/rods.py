"""Cost of a step of rods: python benchmarks/rods.py. Processor time, the least of five, without compilation.

A clamped rod of steel, 1 m x 20 mm x 10 mm, under a force of 20 N at its end: it swings, and stretches and shears
far faster than any step; and the flying spaghetti, which folds.
"""

import time

import phlexible as ph

REPEATS, STEPS = 5, 2000


def swinging(dimension: int, elements: int, order: int) -> ph.Model:
    """The clamped rod."""
    steel = ph.Material(youngs_modulus=2e11, density=7800)
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    section = ph.RectangularSection(0.02, 0.01)
    rod = model.add(ph.Rod(1.0, section, steel, elements=elements, order=order), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    model.apply(ph.Force(rod.end, (0, 20.0, 5.0 if dimension == 3 else 0.0)))
    return model


def cost(model: ph.Model, step: float) -> tuple[float, float]:
    """Processor time of a step [s], storing every 100th state, and Newton iterations."""
    model.simulate(20 * step, step)
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        motion = model.simulate(STEPS * step, step, every=100)
        best = min(best, time.process_time() - begin)
    return best / STEPS, motion.iterations[-1] / STEPS


if __name__ == "__main__":
    cases = [
        (f"swinging, {d} dimensions, {n} elements of order {order}, h = {h:g} s", swinging(d, n, order), h)
        for d in (2, 3)
        for n, order in ((30, 1), (15, 2))
        for h in (1e-3, 1e-4, 1e-5)
    ]
    cases.append(("flying spaghetti, 30 elements, h = 0.01 s", ph.gallery.flying_spaghetti(30, order=1), 1e-2))
    cases.append(("flying spaghetti, 30 elements, h = 0.001 s", ph.gallery.flying_spaghetti(30, order=1), 1e-3))
    for name, model, step in cases:
        seconds, iterations = cost(model, step)
        print(f"{name:<66} {1e6 * seconds:7.1f} us a step, {iterations:.1f} Newton iterations")
