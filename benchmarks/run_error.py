"""How well ``motion.run_error`` estimates the error of a run: python benchmarks/run_error.py.

Prints estimate over truth of twenty runs, for all places of the mechanism; the truth is a run with 32 times as
many steps, extrapolated. It says how many are outside of 0.6 to 1.5, and ends with an error where one is below.
"""

import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import phlexible as ph
from phlexible.results.run_error import all_positions, position_error

FINER = 32  # steps of the truth in one step
LEAST, MOST = 0.6, 1.5

Case = tuple[str, Callable[[], ph.Model], float, float, str]
MACHINES: list[Case] = [
    ("crank-slider", ph.gallery.crank_slider, 0.1, 1e-4, "quasi_static"),
    ("crank-slider that rings", ph.gallery.crank_slider, 0.1, 1e-4, "undeformed"),
    ("four-bar in motion", lambda: ph.gallery.four_bar(crank_speed=10.0), 0.6, 2e-3, "quasi_static"),
    ("double pendulum", ph.gallery.double_pendulum, 2.0, 5e-3, "undeformed"),
    ("spin-up", ph.gallery.spinning_beam, 4.0, 2e-2, "undeformed"),
    ("squeezer", ph.gallery.andrews_squeezer, 0.03, 1e-4, "undeformed"),
    ("free flight", ph.gallery.free_pair, 0.2, 2e-3, "undeformed"),
    ("heavy top", ph.gallery.heavy_top, 0.2, 1e-3, "undeformed"),
    ("string pendulum", ph.gallery.string_pendulum, 0.2, 2e-3, "undeformed"),
    ("turning over", ph.gallery.dzhanibekov, 2.0, 1e-2, "undeformed"),
]


def effectivities() -> Iterator[tuple[str, float, float, float, float]]:
    """Name, step [s], true error [m], estimate over truth and ratio of each run."""
    for name, build, duration, longest, initial in MACHINES:
        for step in (longest, longest / 2):
            model = build()
            motion = model.simulate(duration, step, every=4, initial=initial)
            error = position_error(motion.run, motion.repeatable)
            fine, finest = (
                all_positions(model.simulate(duration, step / parts, every=4 * parts, initial=initial).run)
                for parts in (FINER // 2, FINER)
            )
            true = float(np.abs(all_positions(motion.run) - finest - (finest - fine) / 3).max())
            yield name, step, true, error.greatest / true, error.ratio


def main() -> None:
    """Prints a row a run."""
    warnings.simplefilter("ignore")
    print("| run | step [s] | error [m] | estimate / error | ratio r |\n| --- | --- | --- | --- | --- |")
    above, below = 0, 0
    for name, step, true, effectivity, ratio in effectivities():
        print(f"| {name} | {step:g} | {true:.1e} | {effectivity:.2f} | {ratio:.1f} |", flush=True)
        above, below = above + (effectivity > MOST), below + (effectivity < LEAST)
    print(f"{above} above {MOST}, {below} below {LEAST}")
    if below:
        sys.exit("errors are larger than estimated")


if __name__ == "__main__":
    main()
