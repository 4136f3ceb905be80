"""Runs random mechanisms and prints, for each that fails, the smallest program that shows it.

``make fuzz SEEDS=2000 FIRST=0``, or ``python -m fuzz --seeds 2000 --first 0`` in the folder ``tests``.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace

from fuzz.draw import Case
from fuzz.outcomes import LONGEST, Outcome, outcome_of, outcome_of_seed
from fuzz.program import program
from fuzz.shrink import shrunk


def main() -> int:
    """0 where nothing fails."""
    given = argparse.ArgumentParser(prog="fuzz", description="random mechanisms against the laws")
    given.add_argument("--seeds", type=int, default=2000, help="how many")
    given.add_argument("--first", type=int, default=0, help="the first seed")
    given.add_argument("--longest", type=float, default=LONGEST, help="seconds that a run may take")
    given.add_argument("--shrink", type=float, default=120.0, help="seconds to make a failing case smaller")
    options = given.parse_args()
    counts: Counter[str] = Counter()
    slowest, begin, failed = (0.0, -1), time.monotonic(), 0
    with suppress(KeyboardInterrupt):  # what was found until then is told
        for seed in range(options.first, options.first + options.seeds):
            outcome, case = outcome_of_seed(seed, options.longest)
            counts[outcome.kind] += 1
            slowest = max(slowest, (outcome.seconds, seed))
            if outcome.kind != "fine":
                print(f"seed {seed}: {outcome.kind}: {outcome.text}", flush=True)
            if outcome.is_failure:
                failed += 1
                if case is not None:
                    print(smallest(case, outcome, seed, options.shrink), flush=True)
    print(f"{counts.total()} seeds in {time.monotonic() - begin:.0f} s, {failed} failed")
    print(f"slowest run: {slowest[0]:.1f} s of the processor, seed {slowest[1]}")
    for kind, count in counts.most_common():
        print(f"{count:6d}  {kind}")
    return int(failed > 0)


def smallest(case: Case, outcome: Outcome, seed: int, seconds: float) -> str:
    """A program with the smallest case that fails in the same way."""
    limit = min(LONGEST, max(1.0, 2 * outcome.seconds)) if outcome.kind != "too slow" else outcome.seconds

    def fails(other: Case) -> bool:
        return outcome_of(other, seed, limit).kind == outcome.kind

    return program(shrunk(replace(case), fails, seconds))


if __name__ == "__main__":
    sys.exit(main())
