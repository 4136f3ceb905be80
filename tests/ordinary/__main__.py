"""Runs the models of the table and prints a program for each that fails or is refused.

``make ordinary MODELS=2000``, or ``python -m ordinary --models 2000 --first 0`` in the folder ``tests``.
"""

import argparse
import sys
from itertools import islice

from fuzz.told import tell
from ordinary.outcomes import outcome_of_row
from ordinary.table import rows


def main() -> int:
    """0 where nothing fails."""
    given = argparse.ArgumentParser(prog="ordinary", description="ordinary models against the laws")
    given.add_argument("--models", type=int, default=2000, help="how many")
    given.add_argument("--first", type=int, default=0, help="the first row")
    options = given.parse_args()
    chosen = islice(enumerate(rows()), options.first, options.first + options.models)
    return tell(((f"{number}: {row}", number, *outcome_of_row(row, number)) for number, row in chosen), 0.0)


if __name__ == "__main__":
    sys.exit(main())
