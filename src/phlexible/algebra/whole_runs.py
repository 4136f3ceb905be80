"""Runs of which an interruption may not leave a part, since something else is computed from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NEEDS_WHOLE_RUNS = ContextVar("NEEDS_WHOLE_RUNS", default=False)
"""Whether ``Model.simulate`` raises ``KeyboardInterrupt`` in place of returning the motion so far."""


@contextmanager
def whole_runs() -> Iterator[None]:
    """Context for what computes results from runs: the result of a part would look like that of the whole."""
    token = NEEDS_WHOLE_RUNS.set(True)
    try:
        yield
    finally:
        NEEDS_WHOLE_RUNS.reset(token)
