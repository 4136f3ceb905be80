"""Runs random mechanisms and prints, for each that fails, the smallest program that shows it.

``make fuzz SEEDS=2000 FIRST=0``, or ``python -m fuzz --seeds 2000 --first 0`` in the folder ``tests``.
"""

import argparse
import sys

from fuzz.contacts import outcome_of_meeting
from fuzz.outcomes import LONGEST, outcome_of_seed
from fuzz.told import tell


def main() -> int:
    given = argparse.ArgumentParser(prog="fuzz", description="random mechanisms against the laws")
    given.add_argument("--seeds", type=int, default=2000, help="how many")
    given.add_argument("--first", type=int, default=0, help="the first seed")
    given.add_argument("--longest", type=float, default=LONGEST, help="seconds that a run may take")
    given.add_argument("--shrink", type=float, default=120.0, help="seconds to make a failing case smaller")
    given.add_argument("--meetings", action="store_true", help="bodies of all kinds that meet in their place")
    options = given.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.meetings:
        return tell(((f"seed {seed}", seed, outcome_of_meeting(seed), None) for seed in seeds), 0.0)
    found = ((f"seed {seed}", seed, *outcome_of_seed(seed, options.longest)) for seed in seeds)
    return tell(found, options.shrink)


if __name__ == "__main__":
    sys.exit(main())
