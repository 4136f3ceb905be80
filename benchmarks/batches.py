"""What a step of a mechanism costs alone and in lanes: python benchmarks/batches.py [mechanisms] [rounds] [threads]

Mechanisms of one structure whose parameters differ by up to 14 %, on one thread: alone, one after the other, in
lanes, and in lanes by a program for their structure alone. Times are those of the thread in the compiled loop over
steps, ledger included, over all steps of a run, the least of the rounds: what a run is built, started and read with
is not in them. Ways take turns within a round, so that ratios do not depend on what else the machine does. Beside
them stand iterations of Newton's method a step: of a mechanism alone, and of eight that wait for the one with most.

With ``threads`` the time that passes for steps of 512 live mechanisms in one thread and in so many, in place of
that, on a machine that does nothing else: ``python benchmarks/batches.py 16 7 2``. Beside it stands the share of
the processor time of one thread that is in compiled loops, where other threads of Python go on: it tells on a busy
machine too how much can be shared.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np

import phlexible as ph
from phlexible.step.compilation.number_kinds import lanes_of_processor
from phlexible.step.integration import held_lanes, lane_loop, stepper
from phlexible.step.programs import advance

EIGHT, MANY = 8, 512


def floating_beam(factor):
    """A free beam with 20 modes that turns and bends."""
    steel = ph.Material(youngs_modulus=2.0e11, density=7870.0)
    section = ph.RectangularSection(width=0.02, height=0.01)
    model = ph.Model()
    model.add(
        ph.Beam(1.0, section, steel, elements=10, modes=20), "beam", angular_velocity=(1.0, 2.0, 30.0 * factor)
    )
    return model


MODELS = {
    "double pendulum": (lambda factor: ph.gallery.double_pendulum(length=factor), 1e-3, 10000),
    "crank-slider with 2 modes": (
        lambda factor: ph.gallery.crank_slider(modes=2, diameter=6e-3 * (2 - factor), slider_mass=0.033 * factor),
        2e-5,
        3000,
    ),
    "chain of 10 with 4 elements": (lambda factor: ph.gallery.chain(10, link_length=0.2 * factor), 1e-3, 300),
    "floating body with 20 modes": (floating_beam, 1e-4, 600),
}


class TimedLoop:
    """The compiled loop over steps, of one mechanism or in lanes, with a clock."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Set the clock and the count of steps to zero."""
        self.seconds, self.steps = 0.0, 0

    def __call__(self, *arguments: Any) -> tuple[int, int]:
        return self._timed(advance, *arguments)

    def of(self, kind: Any) -> Any:
        """Return the loop for tables of this kind, as ``EntryPoint.of`` does, with the same clock."""
        entry = advance.of(kind)
        timed = partial(self._timed, entry)
        timed.is_ready = entry.is_ready
        return timed

    def _timed(self, loop: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
        begin = thread_time()
        found = loop(*arguments)
        self.seconds += thread_time() - begin
        self.steps += found[0]
        return found


def place(model):
    """A sensor that takes little time."""
    is_rigid = model.bodies[0].name == "upper"
    return {"place": ph.Position(model.bodies[0].origin if is_rigid else model.bodies[0].start)}


def times_of_a_step(build, step, count, n, rounds):
    """Of a mechanism [s]: alone, in lanes, by a program for the structure; the least share of steps in lanes."""
    loop, rows = TimedLoop(), ph.batch(build, {"factor": 1.0 + 0.14 * np.arange(n) / n})
    stepper.advance = loop
    lane_loop.advance = loop
    ways = {"lanes": False}, {"lanes": True}, {"lanes": True, "specialize": True}
    lanes, least, shares = lanes_of_processor(), [np.inf] * len(ways), []
    for _ in range(rounds):
        for k, way in enumerate(ways):
            loop.begin()
            runs = rows.simulate(count * step, step, place, every=count, threads=1, progress=False, **way)
            together = 1 if k == 0 else min(lanes, n)
            least[k] = min(least[k], loop.seconds / (loop.steps * together))
            shares.append(runs.in_lanes.min() if k else 1.0)
    return least, min(shares)


def iterations(build, step, count, n):
    """Of Newton's method a step: of one alone, and the most of eight in each step."""
    factors = 1.0 + 0.14 * np.arange(n) / n
    runs = [build(factor).simulate(count * step, step, progress=False) for factor in factors[:EIGHT]]
    taken = np.array([np.diff(run.iterations) for run in runs])
    return taken.mean(), taken.max(axis=0).mean()


def time_that_passes(build, step, count, n, threads, rounds):
    """For a step of one of n live mechanisms [s], the least of the rounds: in one thread and in several; the share
    of the one that is in compiled loops."""
    loop, shares = TimedLoop(), []
    held_lanes.advance = loop
    factors = 1.0 + 0.14 * np.arange(n) / n
    ways = [ph.batch(build, {"factor": factors}).start(step, threads=each, lanes=True) for each in (1, threads)]
    steps, least = max(1, count // 30), [np.inf, np.inf]
    saved = []
    for live in ways:
        live.step(steps)
        saved.append(live.save())
    for _ in range(rounds):
        for k, live in enumerate(ways):
            live.restore(saved[k])
            live.step(1)  # runs that were put back go into lanes again
            loop.begin()
            begin, used = perf_counter(), process_time()
            live.step(steps)
            least[k] = min(least[k], (perf_counter() - begin) / (steps * n))
            if k == 0:
                shares.append(loop.seconds / (process_time() - used))
    return *least, np.median(shares)


def main() -> None:
    n, rounds, threads = (int(given) for given in [*sys.argv[1:], *("16", "5", "1")[len(sys.argv) - 1 :]])
    lanes = lanes_of_processor()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {lanes} lanes")
    if threads > 1:
        print(f"{MANY} live mechanisms, us that pass a step and mechanism: 1 thread, {threads} threads, ratio")
        for name, (build, step, count) in MODELS.items():
            one, several, share = time_that_passes(build, step, count, MANY, threads, rounds)
            row = f"{1e6 * one:8.2f} {1e6 * several:8.2f} {one / several:6.2f}"
            print(f"{name:30s} {row}   ({100 * share:.0f} % of one thread in compiled loops)", flush=True)
        return
    print(f"{n} mechanisms, us a step and mechanism; iterations a step")
    print(f"{'':30s}    alone in lanes  ratio specialized iterations alone together")
    for name, (build, step, count) in MODELS.items():
        times, share = times_of_a_step(build, step, count, n, rounds)
        alone, together, own = (1e6 * each for each in times)
        one, most = iterations(build, step, count, n)
        words = "" if share == 1.0 else f"  ({100 * share:.0f} % of the steps in lanes)"
        row = f"{alone:8.2f} {together:8.3f} {alone / together:6.2f} {own:11.3f} {one:16.2f} {most:8.2f}"
        print(f"{name:30s} {row}{words}", flush=True)


if __name__ == "__main__":
    main()
