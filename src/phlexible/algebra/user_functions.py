"""Functions of users: that they can be called, and what a message says where they raise."""

import inspect
from collections.abc import Callable
from typing import Any

from phlexible.errors import FunctionError, ParameterError, PhlexibleError


def called(function: Callable[..., Any], name: str, *arguments: Any, at: str) -> Any:
    """The value of a user's function.

    Raises:
        FunctionError: the function raised; names it and the place, ``__cause__`` is what it raised.
    """
    try:
        return function(*arguments)
    except PhlexibleError:
        raise
    except Exception as error:
        raise FunctionError(f"{name} raised {type(error).__name__} {at}: {error}") from error


def check_callable(name: str, value: object, *arguments: str) -> None:
    """Refuses what is no function, or one that cannot take that many arguments.

    Raises:
        ParameterError: says which arguments it would get.
    """
    expected = f"a function of {arguments[0]}" if len(arguments) == 1 else f"a function of ({', '.join(arguments)})"
    if not callable(value):
        raise ParameterError(f"{name} must be {expected}, got {value!r}")
    try:
        inspect.signature(value).bind(*arguments)
    except ValueError:  # some functions of other languages do not tell
        pass
    except TypeError as error:
        raise ParameterError(f"{name} must be {expected}, got {value!r}: {error}") from None
