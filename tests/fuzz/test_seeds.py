"""Two hundred small cases of the fuzzer, the same ones each time; ``make fuzz`` runs large ones."""

import pytest

from fuzz.outcomes import outcome_of_seed
from fuzz.told import smallest

SEEDS, BATCH = 200, 25
FINE = 0.8  # of a batch, at least; the others are refused with a reason, most of them loops that cannot close


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_random_mechanisms_obey_the_laws(first):
    """A failure prints its seed and the smallest program that shows it."""
    kinds, programs = [], []
    for seed in range(first, first + BATCH):
        outcome, case = outcome_of_seed(seed, is_small=True)
        kinds.append(outcome.kind)
        if outcome.is_failure:
            programs.append(f"seed {seed}: {outcome.kind}: {outcome.text}")
            programs.append(smallest(case, outcome, seed, 20.0) if case else "")
    assert not programs, "\n".join(programs)
    assert kinds.count("fine") >= FINE * BATCH
