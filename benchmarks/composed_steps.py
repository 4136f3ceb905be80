"""What a step of a composed model costs: the crank-slider of (49), 54 states, in processor time."""

import time

import numpy as np
from errata import composed

from phlexible.papers.compiled_bodies import fast
from phlexible.papers.equations import Equations
from phlexible.papers.integrate import Method, asked_inputs, stage_loop

STEPS, SKIPPED, REPEATS = 60, 10, 12


def milliseconds(method: Method, step: float) -> float:
    """The least time of each of fifty steps, so that other programs count little; their mean [ms]."""
    _, whole, start, crank = composed("full")
    model, given = fast(whole), asked_inputs(whole, crank, start)
    equations, times = Equations(model, given.function, start, given.states), []
    for _ in range(REPEATS):
        loop, x, row = stage_loop(method, equations, start), start, []
        for k in range(STEPS):
            begin = time.process_time()
            x = loop.advance(k * step, step, x).end
            row.append(time.process_time() - begin)
        times.append(row[SKIPPED:])
    return 1e3 * float(np.min(times, axis=0).mean())


if __name__ == "__main__":
    print("| method | step 20 us | step 100 us |\n| --- | --- | --- |")
    for each in Method:
        print(
            f"| {each.value} | " + " | ".join(f"{milliseconds(each, step):.1f} ms" for step in (2e-5, 1e-4)) + " |"
        )
