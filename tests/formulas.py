"""Functions that know the Python expression that they are, so that a random model can be printed as a program."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

NAMES = {"np": np, "Rotation": Rotation}


def formula(expression: str, **values: Any) -> Callable[..., Any]:
    """The function of an expression ``lambda time: ...`` of numbers, ``np`` and ``Rotation``, in which values
    (numbers, arrays, or other formulas) stand for names in braces; braces of its own are doubled."""
    source = expression.format(**{name: literal(value) for name, value in values.items()})
    function: Callable[..., Any] = eval(source, dict(NAMES))
    function.source = source  # type: ignore[attr-defined]
    return function


def literal(value: Any) -> str:
    """A number, an array or a formula as Python writes it, with all its digits."""
    if callable(value):
        return f"({value.source})"
    if np.ndim(value):
        return f"np.array({np.asarray(value).tolist()!r})"
    return repr(float(value))
