"""Display of objects by values in a few characters, small tables as HTML and signatures in ``help``."""

import inspect
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from html import escape
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Values in a few characters: never an array of many numbers, never an address in memory.

MOST_VALUES = 9
LONGEST = 160  # characters of a part inside of another
MOST_BITS = 1023  # of whole numbers that are floats, too
HIDDEN = frozenset({"first", "second", "joint", "name", "attachment", "body"})
"""Parameters that the name of a joint, load or body tells."""


def written(value: Any) -> str:
    """Return a value of any type as a short text for a table or message: six digits of numbers, sizes of long
    arrays, names of functions."""
    match value:
        case None:
            return "None"
        case bool():
            return str(value)
        case str():
            return value
        case Enum():
            return str(value.value)
        case int() if value.bit_length() > MOST_BITS:
            return f"a whole number of {value.bit_length()} bits"
        case int() | float() | complex() | np.number():
            return f"{value:.6g}"
        case np.ndarray() if value.size > MOST_VALUES:
            return f"array {' x '.join(map(str, value.shape))}"
        case np.ndarray():
            return _listed(value)
        case dict():
            return f"{{{', '.join(map(str, value))}}}" if len(value) <= MOST_VALUES else f"{len(value)} entries"
        case tuple() | list():
            if len(value) > MOST_VALUES:
                return f"{len(value)} entries"
            return f"({', '.join(written(each) for each in value)})"
    if is_dataclass(value) and getattr(value, "__dataclass_params__").repr:  # noqa: B009  # all have them
        inside = short_repr(value)
        return inside if len(inside) <= LONGEST else f"{type(value).__name__}(...)"
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    return str(value)


def how_many(count: int, one: str, plural: str | None = None) -> str:
    """Return a count with its noun, such as "1 body" or "2 bodies". ``plural`` is the plural if it is not ``one``
    with an s."""
    return f"{count} {one if count == 1 else plural or f'{one}s'}"


def shortened(names: Sequence[str], most: int = MOST_VALUES) -> str:
    """Return the first few (``most``) of many names as text, separated by commas, followed by "and 7 more"."""
    some = ", ".join(names[:most])
    return some if len(names) <= most else f"{some} and {len(names) - most} more"


def numbered(name: str, taken: Container[str], start: int, separator: str = " ") -> str:
    """Return the name with the lowest number from ``start`` on, such as "beam 3", that is not among the names
    ``taken``. The ``separator`` stands between both."""
    number = start
    while (candidate := f"{name}{separator}{number}") in taken:
        number += 1
    return candidate


def distinct(name: str, taken: Container[str], separator: str = " ") -> str:
    """Return the name unchanged, or numbered from 2 on ("spring 2") if it is among the names ``taken``. The
    ``separator`` stands before the number."""
    return numbered(name, taken, 2, separator) if name in taken else name


def identifier(name: str) -> str:
    """Return the name as an identifier for C and FMUs: each run of other characters than letters, digits and
    underscores becomes one underscore. Underscores at both ends are removed; "m_" is put before a name that
    does not begin with a letter."""
    found = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return found if found[:1].isalpha() else f"m_{found}"


def short_repr(value: Any) -> str:
    """Return the repr of a dataclass instance (``value``) without the contents of large arrays, for use as
    its ``__repr__``."""
    said = [(each.name, getattr(value, each.name)) for each in fields(value) if each.init and each.repr]
    inside = [f"{name}={written(each)}" for name, each in said if each is not None]
    return f"{type(value).__name__}({', '.join(inside)})"


def described(part: Any) -> Iterator[tuple[str, str]]:
    """Yield name and value (as text) of each parameter of a dataclass instance (``part``), for a table in
    notebooks. Parameters that are None, empty tuples, private or listed as hidden are left out. Nothing is yielded
    for other objects."""
    if not is_dataclass(part):
        return
    for field in fields(part):
        value = getattr(part, field.name)
        if field.init and field.name not in HIDDEN and not field.name.startswith("_") and value is not None:
            if not (isinstance(value, tuple) and not value):
                yield field.name, written(value)


def _listed(array: Any) -> str:
    if array.ndim == 0:
        return f"{float(array):.6g}"
    return "(" + ", ".join(_listed(each) if each.ndim else f"{each:.6g}" for each in array) + ")"


# Small tables and pictures as HTML that needs nothing else.

WIDTH, HEIGHT = 160, 26
MOST_POINTS = 160
CELL = "text-align:left;padding:0.05em 1em 0.05em 0"
STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"


@dataclass(frozen=True)
class Html:
    """HTML that goes into a table as it is."""

    text: str


def table(rows: Iterable[Sequence[str | Html]], heads: Sequence[str] = (), title: str = "") -> str:
    """Return an HTML table of ``rows`` as a text. Each row has a name, shown as row head, and values. Optional are
    column heads (``heads``) and a ``title`` as caption. Texts are escaped, unless they are ``Html``."""
    lines = [f"<caption style='text-align:left;font-weight:600'>{escape(title)}</caption>"] if title else []
    if heads:
        cells = "".join(f"<th scope='col' style='{CELL}'>{escape(head)}</th>" for head in heads)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    for name, *values in rows:
        others = "".join(f"<td style='{CELL}'>{_cell(value)}</td>" for value in values)
        lines.append(f"<tr><th scope='row' style='{CELL};font-weight:400'>{_cell(name)}</th>{others}</tr>")
    return f"<table style='{STYLE}'>{''.join(lines)}</table>"


def in_row(*parts: str) -> str:
    """Return HTML that shows several pieces (``parts``) of HTML side by side in a row."""
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return f"<div style='display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start'>{inside}</div>"


def sparkline(values: NDArray[np.float64], label: str) -> Html:
    """Return a small curve of values as an SVG image, as high as a line of text. ``label`` describes it for screen
    readers."""
    picked = values[np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))]
    low, high = float(picked.min()), float(picked.max())
    span = high - low or 1.0
    x = np.linspace(1, WIDTH - 1, len(picked))
    y = HEIGHT - 2 - (picked - low) / span * (HEIGHT - 4)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(label, quote=True)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def _cell(value: str | Html) -> str:
    return value.text if isinstance(value, Html) else escape(value)


# Signatures as ``help`` shows them: names of types as they are written, not what they stand for.

ARRAY_LIKE = frozenset(get_args(ArrayLike))


class _PlainText:
    """Shows itself as a text without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def shorten(public: object) -> None:
    """Set ``__signature__`` of a ``public`` function to a signature with short type names, which ``help`` and
    notebooks show. For a class this is done for ``__init__`` and all public methods, also inherited ones if their
    class belongs to phlexible."""
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
    """Return a function signature with annotations shortened to a few words, and default options of enumerations
    shown by their texts."""
    parameters = [
        each.replace(annotation=_annotation(each.annotation), default=_default(each.default))
        for each in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=_annotation(signature.return_annotation))


def _annotation(annotation: Any) -> Any:
    return annotation if annotation is inspect.Signature.empty else _PlainText(as_text(annotation))


def _default(default: Any) -> Any:
    return default.value if isinstance(default, Enum) else default


def as_text(annotation: Any) -> str:
    """Return a type annotation as a short text, such as "float | None", as signatures in ``help`` show it."""
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
    if origin is Annotated:
        return as_text(given[0])
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
    inside = ", ".join("..." if each is Ellipsis else as_text(each) for each in given if not isinstance(each, list))
    return f"{name}[{inside}]"


def _union(options: tuple[Any, ...]) -> str:
    """Return a union type as text, such as "float | None"; the many members of ArrayLike are shown as one."""
    is_array = ARRAY_LIKE <= set(options)
    own = [each for each in options if not (is_array and each in ARRAY_LIKE)]
    names = [*(["ArrayLike"] if is_array else []), *(as_text(each) for each in own if each is not NoneType)]
    return " | ".join([*dict.fromkeys(names), *(["None"] if NoneType in options else [])])
