"""Numbers, words and arrays as C has them."""

import json
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def real(x: float) -> str:
    """With all digits."""
    if np.isnan(x):
        return "NAN"
    return float(x).hex() if np.isfinite(x) else ("INFINITY" if x > 0 else "-INFINITY")


def quoted(words: str) -> str:
    """Words in quotation marks: letters of all languages as they are, nothing that C does not print."""
    return json.dumps("".join(each if each.isprintable() else " " for each in words), ensure_ascii=False)


def array_of(kind: str, name: str, entries: Sequence[str], nothing: str) -> str:
    """C has no arrays without entries."""
    return f"static const {kind} {name}[] = {{{', '.join(entries) or nothing}}};"


def integers(name: str, numbers: Iterable[int], kind: str = "int64_t") -> str:
    """An array of whole numbers."""
    return array_of(kind, name, [str(int(x)) for x in numbers], "0")


def reals(name: str, numbers: Iterable[float]) -> str:
    """An array of numbers."""
    return array_of("double", name, [real(x) for x in numbers], "0.0")


def bit_patterns(name: str, words: NDArray[np.uint64]) -> str:
    """Words of tables of both kinds."""
    entries = ",".join(f"0x{x:x}" if x else "0" for x in words.tolist())
    return f"static const uint64_t {name}[] PH_ALIGNED = {{{entries or '0'}}};"
