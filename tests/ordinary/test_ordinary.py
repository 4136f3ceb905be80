"""Ordinary models of one body, and first programs of users, against laws and closed forms."""

from functools import cache
from itertools import islice

import numpy as np
import pytest

from fuzz.program import program
from ordinary.first_programs import PROGRAMS
from ordinary.outcomes import outcome_of_row
from ordinary.table import Row, drawn_rows, rows

ROWS, BATCH = 200, 25
USUAL = 175
"""Rows in which any two properties meet; the last ones have more triples."""


@cache
def first_rows() -> list[Row]:
    """Found once: each is chosen among many, so that it has what none before had."""
    return list(islice(rows(), ROWS))


@pytest.mark.parametrize(
    "first",
    [pytest.param(first, marks=pytest.mark.thorough if first >= USUAL else ()) for first in range(0, ROWS, BATCH)],
)
def test_ordinary_models_run_and_obey_the_laws(first: int) -> None:
    """None is refused; a failure prints its row and its program."""
    failed = []
    for number, row in enumerate(first_rows()[first : first + BATCH], first):
        outcome, case = outcome_of_row(row, number)
        if outcome.is_failure:
            failed.append(f"{number}: {row}: {outcome.kind}: {outcome.text}\n{program(case)}")
    assert not failed, "\n".join(failed)


def test_any_two_properties_that_go_together_meet_in_these_rows() -> None:
    drawn = islice(drawn_rows(np.random.default_rng(1)), 10_000)
    possible = set().union(*(row.together(2) for row in drawn))
    assert not possible - set().union(*(row.together(2) for row in first_rows()[:USUAL]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_obvious_lines_give_the_number_of_the_formula(name):
    program = PROGRAMS[name]
    found, expected = program.run()
    size = np.abs(expected).max() or 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=program.tolerance * size, err_msg=program.source)
