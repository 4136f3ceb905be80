"""Numbers, texts and arrays as C source."""

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def real(x: float) -> str:
    """Return a floating-point number x as a C literal with all its digits (hexadecimal), or NAN or INFINITY."""
    if np.isnan(x):
        return "NAN"
    return float(x).hex() if np.isfinite(x) else ("INFINITY" if x > 0 else "-INFINITY")


def quoted(text: str) -> str:
    """Return a text as a C string literal in quotation marks. Characters that cannot be printed become spaces;
    quotation marks and backslashes are escaped."""
    return json.dumps("".join(each if each.isprintable() else " " for each in text), ensure_ascii=False)


def array_of(kind: str, name: str, entries: Sequence[str], nothing: str) -> str:
    """Return the C source line that defines a constant array ``name`` of a type ``kind``. An array without
    entries gets the entry ``nothing``, since C has no empty arrays."""
    return f"static const {kind} {name}[] = {{{', '.join(entries) or nothing}}};"


def integers(name: str, values: Iterable[int], kind: str = "int64_t") -> str:
    """Return the C source line that defines a constant array ``name`` of integers (``values``) of the C type
    ``kind``."""
    return array_of(kind, name, [str(int(x)) for x in values], "0")


def reals(name: str, values: Iterable[float]) -> str:
    """Return the C source line that defines a constant array ``name`` of double-precision numbers."""
    return array_of("double", name, [real(x) for x in values], "0.0")


def records(kind: str, fields: str, arrays: Mapping[str, Iterable[Sequence[str | float]]]) -> Iterable[str]:
    """Yield the C source lines that define a struct type ``kind`` with ``fields``, such as "int begin, count;", and
    constant ``arrays`` of it by name. Each entry has a number, or C source, for each field."""
    yield f"typedef struct {kind} {{ {fields} }} {kind};"
    for name, entries in arrays.items():
        rows = [", ".join(real(x) if isinstance(x, float) else str(x) for x in entry) for entry in entries]
        yield array_of(kind, name, [f"{{{row}}}" for row in rows], "{0}")


def integer_fields(entry: type[tuple[int, ...]]) -> str:
    """Return the fields of a C struct of integers, "int begin, count;", which has those of the named tuple class
    ``entry`` in their order."""
    return f"int {', '.join(entry._fields)};"  # type: ignore[attr-defined]


def bit_patterns(name: str, values: NDArray[np.uint64]) -> str:
    """Return the C source line that defines a constant aligned array ``name`` of 64-bit words (``values``) in
    hexadecimal. The words may stand for integers or floating-point numbers; an empty array gets one zero."""
    entries = ",".join(f"0x{x:x}" if x else "0" for x in values.tolist())
    return f"static const uint64_t {name}[] PH_ALIGNED = {{{entries or '0'}}};"
