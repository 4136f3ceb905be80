"""Rows of constraints that events lock and release: which are active, and at which values."""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Truth


@compiled
def is_active(t: Tables, row: int) -> Truth:
    """Return whether constraint row ``row`` (one scalar equation of a joint or drive) is active. Rows without a
    switch always are. Rows with a switch are locked and released by events during a run; a row is released while
    the entry of its switch in ``t.locked_at`` is NaN. ``t`` contains all arrays of the model and its state."""
    switch = t.row_switch[row]
    if switch < 0:
        return True
    return t.locked_at[switch] == t.locked_at[switch]


@compiled
def locked_value(t: Tables, row: int) -> float:
    """Return the value at which an event has locked constraint row ``row`` (one scalar equation of a joint), as
    value of its function. It is 0 for rows that no event changes. ``t`` contains all arrays of the model and its
    state."""
    switch = t.row_switch[row]
    return t.locked_at[switch] if switch >= 0 else 0.0
