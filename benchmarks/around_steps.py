"""What stands around compiled steps, end to end: python benchmarks/around_steps.py [mechanisms] [variants] [rounds]

Batches and studies against a loop of build and simulate in the same process, a gradient in runs, and the split of
the time of one mechanism. Wall and processor times are the least of the rounds, in which all ways take turns. On a
busy machine processor times and their ratios say more than wall times. What is compiled is compiled before.
"""

import os
import sys
from functools import partial
from itertools import count
from time import perf_counter, process_time

import numpy as np

import phlexible as ph

SMALL, LARGE = 2e-5, 1e-3
"""Steps of the crank-sliders and of the others [s]."""


def crank_slider(diameter=6e-3):
    """Crank-slider of 4 elements and 2 modes."""
    return ph.gallery.crank_slider(modes=2, elements=4, diameter=diameter)


def bending(model):
    return {"bending": ph.Displacement(model["coupler"].at(0.15), (0, 1, 0))}


def arm(length=1.0, width=0.02, torque=5.0):
    """Flexible arm with a torque at its joint and a mass at its tip."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    steel = ph.Material(youngs_modulus=2e11, density=7870.0)
    section = ph.RectangularSection(width=width, height=0.01)
    beam = model.add(ph.Beam(length, section, steel, elements=4, modes=2), "arm")
    tip = model.add(ph.PointMass(0.5), "tip", position=(length, 0, 0))
    joint = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start, axis=(0, 0, 1)))
    model.connect(ph.Spherical(beam.end, tip.origin))
    model.apply(joint.torque(torque))
    return model


def tip(model):
    return {"tip": ph.Position(model["tip"].origin)}


def lowest(model):
    """Lowest position of the tip in 1000 steps [m], for a study."""
    motion = model.simulate(1000 * LARGE, LARGE, progress=False)
    return float(motion.position(model["tip"].origin)[:, 1].min())


def chain(parameters):
    """Chain of ten links with ten dampers."""
    model = ph.gallery.chain(10)
    for joint, damping in zip(model.joints, parameters["damping"], strict=True):
        model.apply(joint.damper(damping))
    return model


def swung(model):
    return ph.Cost.integral(ph.Position(model["link 10"].end), lambda x: x[:, 0] ** 2)


def print_times(title, ways, runs, rounds):
    """Print the least times a run of each way [ms], and those of the first way over them."""
    least = dict.fromkeys(ways, (np.inf, np.inf))
    for _ in range(rounds):
        for name, way in ways.items():
            wall, used = perf_counter(), process_time() + sum(os.times()[2:4])  # with processes of studies
            way()
            wall, used = perf_counter() - wall, process_time() + sum(os.times()[2:4]) - used
            least[name] = min(least[name][0], wall), min(least[name][1], used)
    first = next(iter(least.values()))
    print(f"\n{title:34}wall [ms]  processor [ms]  first over it: wall, processor")
    for name, (wall, used) in least.items():
        times = f"{1e3 * wall / runs:11.2f} {1e3 * used / runs:15.2f}"
        print(f"  {name:30}{times} {first[0] / wall:15.2f} {first[1] / used:9.2f}", flush=True)


def print_batch(title, build, rows, sensors, steps, step, rounds, measure=None):
    """Print times of a loop, of batches on one thread and two, and of a study on two processes."""
    batch = ph.batch(build, rows)

    def looped():
        for row in rows:
            model = build(**row)
            motion = model.simulate(steps * step, step, progress=False)
            [motion[sensor] for sensor in sensors(model).values()]

    def batched(threads):
        batch.simulate(steps * step, step, sensors, threads=threads, lanes=True, progress=False)

    ways = {"loop of build and simulate": looped}
    ways |= {f"ph.batch, {threads} thread(s)": partial(batched, threads) for threads in (1, 2)}
    if measure is not None:
        ways["ph.study, two processes"] = lambda: ph.study(build, rows, measure, 2, progress=False)
    print_times(title, ways, len(rows), rounds)


def print_split(name, build, step, rounds=20):
    """Print the parts of the time of one mechanism [ms of the processor], the least of the rounds each."""
    models = [build() for _ in range(rounds + 1)]
    model, fresh = models[0], iter(models[1:])
    model.simulate(4 * step, step, progress=False)
    run = model.start(step)
    saved, times = run.save(), []
    for part in (
        build,
        lambda: next(fresh).simulate(step, step, progress=False),
        lambda: model.simulate(step, step, progress=False),
        lambda: model.start(step),
        lambda: run.restore(saved),
    ):
        times.append(np.inf)
        for _ in range(rounds):
            begin = process_time()
            part()
            times[-1] = min(times[-1], process_time() - begin)
    print(f"  {name:32}" + "".join(f"{1e3 * time:11.3f}" for time in times), flush=True)


def main():
    mechanisms, variants, rounds = (int(own) for own in [*sys.argv[1:], *("256", "500", "3")[len(sys.argv) - 1 :]])
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; one mechanism [ms of the processor]")
    print(f"{'':34}      build  first run  later run      start    restore")
    number = count()
    print_split("crank-slider, each of other beams", lambda: crank_slider(6e-3 + 1e-6 * next(number)), SMALL)
    print_split("crank-slider, all of one beam", crank_slider, SMALL)
    print_split("robot arm", ph.gallery.robot_arm, LARGE)
    print_split("chain of ten", lambda: ph.gallery.chain(10), LARGE)
    one, end = {"damping": np.full(10, 1e-3)}, 100 * LARGE
    gradient = {
        "build and run": lambda: chain(one).simulate(end, LARGE, progress=False),
        "gradient by 10 numbers": lambda: ph.gradient(chain, swung, one, duration=end, step=LARGE),
    }
    print_times("chain of ten, 100 steps", gradient, 1, 3 * rounds)
    rows = [{"diameter": 6e-3 * (1.0 + 0.14 * k / mechanisms)} for k in range(mechanisms)]
    ph.batch(crank_slider, rows[:16]).simulate(10 * SMALL, SMALL, bending, lanes=True, progress=False)
    for steps in (500, 5000):
        print_batch(f"{mechanisms} crank-sliders, {steps} steps", crank_slider, rows, bending, steps, SMALL, rounds)
    drawn = ph.samples(variants, length=(0.8, 1.2), width=(0.015, 0.025), torque=(4.0, 6.0))
    ph.batch(arm, drawn).simulate(10 * LARGE, LARGE, tip, lanes=True, progress=False)
    print_batch(f"{variants} arms, 1000 steps", arm, drawn, tip, 1000, LARGE, rounds, lowest)


if __name__ == "__main__":
    main()
