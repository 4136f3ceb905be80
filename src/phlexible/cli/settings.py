"""``--set key=value``: values by the types of the model function's parameters."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import get_args, get_type_hints

from phlexible.cli.failures import UsageError


def parse_settings(function: Callable[..., object], settings: Sequence[str]) -> dict[str, object]:
    """The keyword arguments that the settings stand for.

    Args:
        function: with annotated parameters.
        settings: each "key=value"; hyphens in a key count as underscores.

    Raises:
        UsageError: no "=", an unknown key, a key twice or a value of the wrong type.
    """
    hints = get_type_hints(function)
    known = list(inspect.signature(function).parameters)
    values: dict[str, object] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        name = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set takes key=value, got {setting!r}")
        if name not in known:
            raise UsageError(f"--set {key}: there is no such parameter; it is one of {', '.join(known)}")
        if name in values:
            raise UsageError(f"--set {key} is given twice")
        values[name] = _parsed(name, text.strip(), hints[name])
    return values


def parse_sweep(function: Callable[..., object], text: str) -> tuple[str, tuple[float, ...]]:
    """Name and values of "key=start:stop:count", both ends included.

    Raises:
        UsageError: another form, or no parameter of that name that takes numbers.
    """
    key, _, numbers = text.partition("=")
    name = key.strip().replace("-", "_")
    hints = get_type_hints(function)
    able = [parameter for parameter in inspect.signature(function).parameters if hints[parameter] is float]
    if name not in able:
        known = ", ".join(able) or "none"
        raise UsageError(f"--sweep {key}: there is no such parameter with numbers; it is one of {known}")
    try:
        first, last, count = numbers.split(":")
        start, stop, steps = float(first), float(last), int(count)
        if steps < 2:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--sweep takes key=start:stop:count with a count of at least 2, such as {able[0]}=0:1:21, got {text!r}"
        ) from None
    return name, tuple(start + (stop - start) * k / (steps - 1) for k in range(steps))


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Default value of each parameter."""
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def described(parameters: Mapping[str, object]) -> str:
    """``crank_length=0.15 strain=von_karman ...``, values as ``--set`` takes them."""
    return " ".join(f"{name}={_written(value)}" for name, value in parameters.items())


def _parsed(name: str, text: str, kind: object) -> object:
    choices = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if NoneType in choices and text.lower() == "none":
        return None
    choice = next(choice for choice in choices if choice is not NoneType)
    try:
        if choice is int:
            return int(text)
        if choice is float:
            return float(text)
        if items := get_args(choice):
            parts = text.strip("()").split(",")
            if len(parts) != len(items):
                raise ValueError
            return tuple(float(part) for part in parts)
    except ValueError:
        raise UsageError(f"--set {name}={text}: expected {_expectation(choice, choices)}") from None
    return text


def _expectation(choice: object, choices: tuple[object, ...]) -> str:
    items = get_args(choice)
    single = {int: "an integer", float: "a number"}
    words = f"{len(items)} numbers, such as 1,2,3" if items else single[choice]  # type: ignore[index]
    return words + (" or none" if NoneType in choices else "")


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(_written(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
