"""What becomes of the model of a row."""

from dataclasses import replace

from fuzz.case import Case
from fuzz.outcomes import Outcome, outcome_of
from ordinary.models import case
from ordinary.table import Row


def outcome_of_row(row: Row, number: int) -> tuple[Outcome, Case]:
    """Runs and checks it; whatever is refused fails."""
    made = case(row)
    found = outcome_of(made, number)
    return replace(found, is_failure=found.kind != "fine"), made
