"""What a step costs in threads of a GPU: python benchmarks/graphics.py [mechanisms] [intervals]

Cart-poles of one structure with an input each: a live batch with device="cuda" beside lanes in all cores, in one
run. An interval has ten steps. Times are those of the clock, with inputs, then with sensors too; the least of the
intervals. Then how far both are from single runs.
"""

import os
import sys
from time import perf_counter

import numpy as np

import phlexible as ph


def cart_pole(rigid):
    """A cart on a rail with a pole, rigid or a beam with two modes."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    cart = model.add(ph.RigidBody(1.0, 0.1), "cart")
    if rigid:
        pole = model.add(ph.RigidBody(0.3, 0.025, center=(0.5, 0.0, 0.0)), "pole").origin
    else:
        metal, section = ph.Material(7e10, 2700.0), ph.RectangularSection(width=0.02, height=0.005)
        pole = model.add(ph.Beam(1.0, section, metal, elements=3, modes=2), "pole").start
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
    model.connect(ph.Revolute(cart.origin, pole))
    model.apply(rail.force(0.0, name="push"))
    return model


def sensors(model):
    return {"x": ph.JointPosition(model.joints[0]), "rate": ph.JointRate(model.joints[1])}


def least(run, intervals):
    found = []
    for _ in range(intervals):
        begin = perf_counter()
        run()
        found.append(perf_counter() - begin)
    return min(found)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    intervals = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"{count} mechanisms, {os.cpu_count()} processors; us a step and mechanism, steps alone and with sensors")
    for name, rigid in (("rigid", True), ("with two modes", False)):
        model = cart_pole(rigid)
        batch = ph.batch(lambda number, model=model: model, {"number": np.arange(count)})
        pushes, ends = np.random.default_rng(1).normal(size=(1 + 2 * intervals, count)), {}
        for words, options in (
            (f"lanes, {os.cpu_count()} threads", {"threads": None, "lanes": True}),
            ("cuda", {"device": "cuda"}),
        ):
            begin = perf_counter()
            live = batch.start(1e-3, **options)
            given = iter(pushes)

            def interval(live=live, given=given):
                live.inputs["push"] = next(given)
                live.step(10)

            interval()
            live.read(sensors)
            started = perf_counter() - begin
            alone = least(interval, intervals)
            seen = least(lambda live=live, go=interval: (go(), live.read(sensors)), intervals)
            ends[words] = live.read(sensors)
            costs = [1e6 * each / (10 * count) for each in (alone, seen)]
            print(f"{name:16s} {words:18s} {costs[0]:8.4f} {costs[1]:8.4f}   start {started:.1f} s", flush=True)
        few = ph.batch(lambda number, model=model: model, {"number": np.arange(20)}).start(1e-3, lanes=False)
        for values in pushes:
            few.inputs["push"] = values[:20]
            few.step(10)
        for words, found in ends.items():
            far = [
                abs(found[key][:20] - value).max() / abs(value).max() for key, value in few.read(sensors).items()
            ]
            print(f"{name:16s} {words:18s} differs from single runs by {max(far):.1e} of the greatest", flush=True)


if __name__ == "__main__":
    main()
