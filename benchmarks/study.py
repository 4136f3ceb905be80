"""A study of 200 crank-sliders on one core and on two: python benchmarks/study.py."""

import time

import numpy as np

import phlexible as ph
from phlexible.tools.study import warm_up

RUNS = 200
REPEATS = 3


def build(crank_speed: float) -> ph.Model:
    """The crank-slider of the paper at another speed."""
    return ph.gallery.crank_slider(crank_speed=crank_speed, modes=2)


def measure(model: ph.Model) -> float:
    """Greatest bending of the coupler's middle over 0.1 s [m]."""
    motion = model.simulate(duration=0.1, step=1e-4, progress=False)
    return float(np.abs(motion.elastic_displacement(model["coupler"].at(0.15))[:, 1]).max())


def wall_time(processes: int) -> float:
    """Of the whole study, with the start of the processes [s]."""
    begin = time.perf_counter()
    study = ph.study(build, {"crank_speed": np.linspace(100.0, 150.0, RUNS)}, measure, processes, progress=False)
    assert not study.failures, study
    return time.perf_counter() - begin


if __name__ == "__main__":
    warm_up()
    pairs = [(wall_time(1), wall_time(2)) for _ in range(REPEATS)]
    one, two = min(pairs, key=lambda pair: pair[0] + pair[1])
    print(f"{RUNS} crank-sliders: {one:.2f} s on one core, {two:.2f} s on two, {two / one:.2f} of one core's time")
