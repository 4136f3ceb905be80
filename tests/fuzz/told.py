"""Tells of many cases what became of them, and of those that fail the smallest program that shows it."""

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from fuzz.case import Case
from fuzz.outcomes import LONGEST, Outcome, outcome_of
from fuzz.program import program
from fuzz.shrink import shrunk

Found = tuple[str, int, Outcome, Case | None]
"""The name of a case, its seed, what became of it, and the case where it could be drawn."""


def tell(cases: Iterable[Found], shrinking: float) -> int:
    """Prints failures as they come and then how many there are of each kind; 0 where nothing fails. Cases run while
    they are asked for; ``shrinking`` is the time to make one that fails smaller [s]."""
    counts: Counter[str] = Counter()
    slowest, begin, failed = (0.0, ""), time.monotonic(), 0
    with suppress(KeyboardInterrupt):  # what was found until then is told
        for name, seed, outcome, case in cases:
            counts[outcome.kind] += 1
            slowest = max(slowest, (outcome.seconds, name))
            if outcome.kind != "fine":
                print(f"{name}: {outcome.kind}: {outcome.text}", flush=True)
            if outcome.is_failure:
                failed += 1
                if case is not None:
                    print(smallest(case, outcome, seed, shrinking), flush=True)
    print(f"{counts.total()} cases in {time.monotonic() - begin:.0f} s, {failed} failed")
    print(f"slowest run: {slowest[0]:.1f} s of the processor, {slowest[1]}")
    for kind, count in counts.most_common():
        print(f"{count:6d}  {kind}")
    return int(failed > 0)


def smallest(case: Case, outcome: Outcome, seed: int, seconds: float) -> str:
    """A program with the smallest case that fails in the same way."""
    limit = min(LONGEST, max(1.0, 2 * outcome.seconds)) if outcome.kind != "too slow" else outcome.seconds

    def fails(other: Case) -> bool:
        return outcome_of(other, seed, limit).kind == outcome.kind

    return program(shrunk(replace(case), fails, seconds))
