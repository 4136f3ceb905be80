"""Parameters of gallery models, checked by name and kind before anything is built of them."""

import functools
import inspect
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, ParamSpec, get_args, get_type_hints

from phlexible.algebra.arrays import finite, text, vector, whole
from phlexible.errors import ParameterError
from phlexible.model import Model

P = ParamSpec("P")


def ready_model(function: Callable[P, Model]) -> Callable[P, Model]:
    """The function, which refuses parameters that it does not have, or that are of another kind than annotated."""

    @functools.cache
    def declared() -> tuple[inspect.Signature, dict[str, Any]]:
        return inspect.signature(function), get_type_hints(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Model:
        signature, hints = declared()
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            known = ", ".join(signature.parameters)
            raise ParameterError(f"{function.__name__} {error}; its parameters are {known}") from None
        values: Any = {name: _checked(name, value, hints[name]) for name, value in given.items()}
        return function(**values)  # type: ignore[call-arg]  # they are those of the signature

    return checked


def _checked(name: str, value: object, kind: object) -> object:
    """The value as what the annotation says; kinds beyond numbers and text are checked where they are used."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if value is None and NoneType in kinds:
        return None
    if float in kinds:
        return finite(name, value)  # type: ignore[arg-type]
    if int in kinds:
        return whole(name, value, least=0)
    if str in kinds:
        return text(name, value)
    if any(get_args(each) == (float, float, float) for each in kinds):
        return tuple(vector(name, value).tolist())  # type: ignore[arg-type]
    return value
