"""One run of a study, carried out wherever an executor puts it."""

import pickle
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from phlexible.algebra.arrays import Array, numbers
from phlexible.errors import ParameterError

Values = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one run.

    Attributes:
        values: what was measured, by name; None: the run failed.
        failure: why, in words; empty where it did not.
        warnings: that were given, in words.
        seconds: wall time [s].
        is_lost: it failed because its process ended, and may go well another time.
    """

    values: Values | None
    failure: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    is_lost: bool = False


def packed_task(build: Callable[..., Any], measure: Callable[[Any], Any]) -> bytes:
    """Both functions for another process, also lambdas and functions of a notebook.

    Raises:
        ParameterError: they hold something that cannot be sent.
    """
    from cloudpickle import dumps  # here: few programs need it

    try:
        return bytes(dumps((build, measure)))
    except Exception as error:
        raise ParameterError(
            f"build and measure cannot be sent to other processes: {error}; let them hold numbers and arrays only"
        ) from error


def carry_out(task: bytes, parameters: dict[str, Any]) -> Outcome:
    """Build, measure; errors become failures, so that other runs go on."""
    begin = time.perf_counter()
    caught: list[warnings.WarningMessage] = []
    is_main = threading.current_thread() is threading.main_thread()  # warnings belong to the whole process
    context: AbstractContextManager[Any] = warnings.catch_warnings(record=True) if is_main else nullcontext(caught)
    try:
        with context as caught:
            build, measure = _functions(task)
            values, failure = checked_values(measure(build(**parameters))), ""
    except Exception as error:
        values, failure = None, f"{type(error).__name__}: {error}"
    said = tuple(dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in caught))
    return Outcome(values, failure, said, time.perf_counter() - begin)


def checked_values(found: Any) -> Values:
    """What ``measure`` returned as arrays by name.

    Raises:
        ParameterError: it is neither a number, nor an array, nor such things by name.
    """
    by_name = found if isinstance(found, dict) else {"value": found}
    try:
        return {str(name): numbers(str(name), value) for name, value in by_name.items()}
    except ParameterError as error:
        raise ParameterError(f"measure must return numbers or arrays, or a dict of them by name: {error}") from None


@lru_cache(maxsize=4)
def _functions(task: bytes) -> Any:
    """Build and measure, unpacked once a process."""
    return pickle.loads(task)
