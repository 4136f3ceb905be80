"""Signatures as ``help`` shows them: names of types as they are written, not what they stand for."""

import inspect
from collections.abc import Callable
from enum import Enum
from types import FunctionType, NoneType, UnionType
from typing import Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

ARRAY_LIKE = frozenset(get_args(ArrayLike))


class _Said:
    """Shows itself as a text without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def shorten(public: object) -> None:
    """Gives a function, or a class and what it inherits in this package, signatures that can be read."""
    if not inspect.isclass(public):
        _shorten_function(public)
        return
    for kind in public.__mro__:
        if kind.__module__.startswith("phlexible."):
            for name, member in vars(kind).items():
                if name == "__init__" or not name.startswith("_"):
                    _shorten_function(getattr(member, "__func__", member))


def _shorten_function(function: object) -> None:
    if isinstance(function, FunctionType) and not hasattr(function, "__signature__"):
        function.__signature__ = short(inspect.signature(function))  # type: ignore[attr-defined]


def short(signature: inspect.Signature) -> inspect.Signature:
    """The same with annotations in a few words; options are shown by the texts that stand for them."""
    parameters = [
        each.replace(annotation=_annotation(each.annotation), default=_default(each.default))
        for each in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=_annotation(signature.return_annotation))


def _annotation(given: Any) -> Any:
    return given if given is inspect.Signature.empty else _Said(said(given))


def _default(given: Any) -> Any:
    return given.value if isinstance(given, Enum) else given


def said(annotation: Any) -> str:
    """A type in a few words."""
    match annotation:
        case None:
            return "None"
        case str():
            return annotation
        case ForwardRef():
            return annotation.__forward_arg__
        case TypeVar():
            return annotation.__name__
    origin, given = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return _union(given)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, given))}]"
    if origin is np.ndarray:
        return "Array"
    if origin is None or origin is Callable:
        kind = origin or annotation
        return "None" if kind is NoneType else str(getattr(kind, "__name__", kind)).rpartition(".")[2]
    name = getattr(origin, "__name__", str(origin))
    inside = ", ".join("..." if each is Ellipsis else said(each) for each in given if not isinstance(each, list))
    return f"{name}[{inside}]"


def _union(given: tuple[Any, ...]) -> str:
    """Alternatives; all those of ArrayLike are one."""
    is_array = ARRAY_LIKE <= set(given)
    own = [each for each in given if not (is_array and each in ARRAY_LIKE)]
    names = [*(["ArrayLike"] if is_array else []), *(said(each) for each in own if each is not NoneType)]
    return " | ".join([*dict.fromkeys(names), *(["None"] if NoneType in given else [])])
