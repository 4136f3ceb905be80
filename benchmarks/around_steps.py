"""What stands around compiled steps, end to end: python benchmarks/around_steps.py [mechanisms] [variants] [rounds]

Batches and studies against a loop of build and simulate in the same process, a gradient in runs, and the split of
the time of one mechanism. Wall and processor times are the least of the rounds, in which all ways take turns. On a
busy machine processor times and their ratios say more than wall times. What is compiled is compiled before.
"""

import os
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

import phlexible as ph

STEP = 2e-5
"""Step of the crank-sliders [s]."""
GRADIENT_STEPS = 100


def crank_slider(diameter: float = 6e-3) -> ph.Model:
    """Crank-slider of 4 elements and 2 modes."""
    return ph.gallery.crank_slider(modes=2, diameter=diameter)


def bending(model: ph.Model) -> dict[str, ph.Displacement]:
    """Displacement of the middle of the coupler [m]."""
    return {"bending": ph.Displacement(model["coupler"].at(0.15), (0, 1, 0))}


def arm(length: float = 1.0, width: float = 0.02, torque: float = 5.0) -> ph.Model:
    """Flexible arm on a motor, with a mass at its tip."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    section, steel = (
        ph.RectangularSection(width=width, height=0.01),
        ph.Material(youngs_modulus=2e11, density=7870.0),
    )
    beam = model.add(ph.Beam(length, section, steel, elements=4, modes=2), "arm")
    tip = model.add(ph.PointMass(0.5), "tip", position=(length, 0, 0))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start, axis=(0, 0, 1)))
    model.connect(ph.Spherical(beam.end, tip.origin))
    model.apply(joint.torque(torque))
    return model


def tip_height(model: ph.Model) -> dict[str, ph.Position]:
    """Position of the tip [m]."""
    return {"tip": ph.Position(model["tip"].origin)}


def lowest(model: ph.Model) -> float:
    """Lowest position of the tip in 1000 steps [m]."""
    motion = model.simulate(1.0, 1e-3, progress=False)
    return float(motion.position(model["tip"].origin)[:, 1].min())


def damped_chain(parameters: dict[str, np.ndarray]) -> ph.Model:
    """Chain of ten links with ten dampers."""
    model = ph.gallery.chain(10)
    for joint, damping in zip(model.joints, parameters["damping"], strict=True):
        model.apply(joint.damper(damping))
    return model


def swung(model: ph.Model) -> ph.Cost:
    """Integral of the square of the position of the last link."""
    return ph.Cost.integral(ph.Position(model["link 10"].end), lambda x: x[:, 0] ** 2)


def used() -> float:
    """Processor time of this process and of those that it waited for [s]."""
    return process_time() + sum(os.times()[2:4])


def least(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Least wall and processor time of each function [s], in rounds in which they take turns."""
    found = dict.fromkeys(ways, (np.inf, np.inf))
    for _ in range(rounds):
        for name, way in ways.items():
            wall, processor = perf_counter(), used()
            way()
            wall, processor = perf_counter() - wall, used() - processor
            found[name] = min(found[name][0], wall), min(found[name][1], processor)
    return found


def print_against_loop(title: str, ways: dict[str, Callable[[], object]], count: int, rounds: int) -> None:
    """Print the times a mechanism of each way, and what the first, a loop, takes over them."""
    print(f"\n{title}{'':8}wall [ms]  processor [ms]  loop over it: wall, processor")
    times = least(ways, rounds)
    loop = next(iter(times.values()))
    for name, (wall, processor) in times.items():
        each = f"{1e3 * wall / count:10.2f} {1e3 * processor / count:14.2f}"
        print(f"  {name:34}{each} {loop[0] / wall:14.2f} {loop[1] / processor:9.2f}", flush=True)


def looped(build: Callable[..., ph.Model], rows: list[dict], sensors, steps: int, step: float) -> list[np.ndarray]:
    """Readings of a loop of build and simulate."""
    found = []
    for row in rows:
        model = build(**row)
        motion = model.simulate(steps * step, step, progress=False)
        found += [motion[sensor] for sensor in sensors(model).values()]
    return found


def print_batch(title, build, rows, sensors, steps, step, rounds, measure=None) -> None:
    """Print times of a loop, of batches on one thread and two, and of a study on two processes."""
    batch = ph.batch(build, rows)
    options = {"lanes": True, "progress": False}
    ways = {
        "loop of build and simulate": lambda: looped(build, rows, sensors, steps, step),
        "ph.batch, one thread": lambda: batch.simulate(steps * step, step, sensors, threads=1, **options),
        "ph.batch, two threads": lambda: batch.simulate(steps * step, step, sensors, threads=2, **options),
    }
    if measure is not None:
        ways["ph.study, two processes"] = lambda: ph.study(build, rows, measure, 2, progress=False)
    print_against_loop(title, ways, len(rows), rounds)


def print_split(name: str, build: Callable[[], ph.Model], step: float, rounds: int = 20) -> None:
    """Print the parts of the time of one mechanism [ms of processor time]."""
    build().simulate(4 * step, step, progress=False)
    models = iter([build() for _ in range(rounds)])
    model = build()
    model.simulate(4 * step, step, progress=False)
    run = model.start(step)
    saved = run.save()
    parts = {
        "build": build,
        "first run": lambda: next(models).simulate(step, step, progress=False),
        "later run": lambda: model.simulate(step, step, progress=False),
        "start": lambda: model.start(step),
        "restore": lambda: run.restore(saved),
    }
    found = []
    for part in parts.values():
        times = []
        for _ in range(rounds):
            begin = process_time()
            part()
            times.append(process_time() - begin)
        found.append(f"{1e3 * min(times):11.3f}")
    print(f"  {name:14}{''.join(found)}", flush=True)


def main() -> None:
    count, variants, rounds = (int(own) for own in [*sys.argv[1:], *("256", "500", "3")[len(sys.argv) - 1 :]])
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"a mechanism [ms of processor time]\n  {'':14}      build  first run  later run      start    restore")
    print_split("crank-slider", crank_slider, STEP)
    print_split("robot arm", ph.gallery.robot_arm, 1e-3)
    print_split("chain of ten", lambda: ph.gallery.chain(10), 1e-3)
    one = {"damping": np.full(10, 1e-3)}
    duration = GRADIENT_STEPS * 1e-3
    gradient = {
        "build and run of 100 steps": lambda: damped_chain(one).simulate(duration, 1e-3, progress=False),
        "gradient by 10 numbers": lambda: ph.gradient(damped_chain, swung, one, duration=duration, step=1e-3),
    }
    least(gradient, 1)
    print_against_loop("chain of ten", gradient, 1, 3 * rounds)
    rows = [{"diameter": 6e-3 * (1.0 + 0.14 * k / count)} for k in range(count)]
    ph.batch(crank_slider, rows[:16]).simulate(1e-3, STEP, bending, lanes=True, progress=False)
    for steps in (500, 5000):
        print_batch(f"{count} crank-sliders, {steps} steps", crank_slider, rows, bending, steps, STEP, rounds)
    drawn = ph.samples(variants, length=(0.8, 1.2), width=(0.015, 0.025), torque=(4.0, 6.0))
    print_batch(f"{variants} arms, 1000 steps", arm, drawn, tip_height, 1000, 1e-3, rounds, lowest)


if __name__ == "__main__":
    main()
