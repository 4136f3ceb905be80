"""Calls that must raise an error, one a line."""

from collections.abc import Callable

import pytest


def refused(error: type[Exception], message: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=message):
        call()
