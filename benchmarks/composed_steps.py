"""What a step of the papers' form costs, in processor time: the crank-slider of (49), and whole mechanisms."""

import time
from collections.abc import Callable

import numpy as np
from errata import composed

import phlexible as ph
from phlexible.papers.collocation import Equations
from phlexible.papers.integrate import Method, input_function, stage_loop

STEPS, SKIPPED, REPEATS = 15, 3, 3


def crank_slider():
    """The model of (49), its state and its inputs."""
    _, whole, start, crank = composed("full")
    return whole, start, crank


def mechanism(kind: str):
    """A beam of 4 elements on a pin, alone, with a spring, with a rod or with a string of 4 elements at its end."""
    model = ph.Model((0.0, -9.81, 0.0))
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(1e9, 1000.0), elements=4), "beam")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start, axis=(0, 0, 1)))
    if kind == "spring":
        model.apply(ph.SpringDamper(model.ground.at((1.0, 1.0, 0.0)), beam.end, 10.0, 0.1))
    if kind == "rod":
        rod = ph.Rod(1.0, ph.CircularSection(0.02), ph.Material(1e7, 1000.0), elements=4)
        model.connect(ph.Fixed(beam.end, model.add(rod, "rod", position=(1.0, 0.0, 0.0)).start))
    if kind == "string":
        rope = model.add(ph.String(1.0, 0.1, 4, ph.LogarithmicLaw(100.0)), "rope", shape=((1, 0, 0), (2.1, 0, 0)))
        model.connect(ph.Spherical(beam.end, rope.start))
    form = ph.MechanismModel(model)
    return form, form.initial_state, None


def milliseconds(make: Callable[[], tuple], method: Method, step: float) -> float:
    """The least time of each of a dozen steps, so that other programs count little; their mean [ms]."""
    whole, start, inputs = make()
    model, given = whole, input_function(whole, inputs, start)
    equations, times = Equations(model, given.function, start, given.states), []
    for _ in range(REPEATS):
        loop, x, row = stage_loop(method, equations, start), start, []
        for k in range(STEPS):
            begin = time.process_time()
            x = loop.advance(k * step, step, x).end
            row.append(time.process_time() - begin)
        times.append(row[SKIPPED:])
    return 1e3 * float(np.min(times, axis=0).mean())


METHODS = Method.GAUSS2, Method.RADAU3, Method.MIDPOINT, Method.DISCRETE_GRADIENT
KINDS = "beam", "spring", "rod", "string"

if __name__ == "__main__":
    print("| composed crank-slider | step 20 us | step 100 us |\n| --- | --- | --- |")
    for each in METHODS:
        times = [milliseconds(crank_slider, each, step) for step in (2e-5, 1e-4)]
        print(f"| {each.value} | " + " | ".join(f"{time:.2f} ms" for time in times) + " |")
    print("\n| whole mechanism, gauss2, 1 ms | states | a step | over the beam |\n| --- | --- | --- | --- |")
    alone = milliseconds(lambda: mechanism("beam"), Method.GAUSS2, 1e-3)
    for kind in KINDS:
        spent = milliseconds(lambda kind=kind: mechanism(kind), Method.GAUSS2, 1e-3)
        print(f"| {kind} | {mechanism(kind)[0].state_size} | {spent:.2f} ms | {spent / alone:.1f} |")
