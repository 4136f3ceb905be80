"""Arrays of a report as one compressed block of text with a table of contents."""

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array

STEPS = 65_000
"""Of a column of numbers that is stored in 16 bits, between its least and its greatest value."""


@dataclass(eq=False)
class Packing:
    """Collects arrays; each is stored once, and named by its number.

    Attributes:
        entries: kind, shape, place and, of 16 bits, scale and shift of each column.
    """

    entries: list[dict[str, Any]] = field(default_factory=list)
    _parts: list[bytes] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)
    _length: int = 0

    def exact(self, values: Any) -> int:
        """Single precision, or whole numbers of 32 bits."""
        array = np.asarray(values)
        kind = "f4" if array.dtype.kind == "f" else "u4"
        return self._add(array.astype(f"<{kind}"), kind, [], [])

    def coarse(self, values: Array) -> int:
        """16 bits for the numbers of each column, the last axes: enough for what eyes see. First axis: time."""
        flat = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        low, high = flat.min(axis=0), flat.max(axis=0)
        scale = np.where(high > low, (high - low) / STEPS, 1.0)
        steps = np.round((flat - low) / scale).astype("<i4") - STEPS // 2
        shift = low + scale * (STEPS // 2)
        return self._add(steps.astype("<i2").reshape(np.shape(values)), "i2", scale.tolist(), shift.tolist())

    def shades(self, values: Array, low: float, high: float) -> int:
        """256 levels between two values."""
        share = (np.asarray(values) - low) / (high - low or 1.0)
        return self._add(np.round(255 * np.clip(share, 0.0, 1.0)).astype(np.uint8), "u1", [], [])

    def text(self) -> str:
        """All arrays, compressed."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")

    def _add(self, array: NDArray[Any], kind: str, scale: list[float], shift: list[float]) -> int:
        content = np.ascontiguousarray(array).tobytes()
        key = repr((kind, array.shape, scale, shift)).encode() + content
        if key in self._known:
            return self._known[key]
        padding = b"\0" * (-len(content) % 4)
        self.entries.append(
            {"kind": kind, "shape": list(array.shape), "start": self._length, "scale": scale, "shift": shift}
        )
        self._parts.append(content + padding)
        self._length += len(content) + len(padding)
        self._known[key] = len(self.entries) - 1
        return self._known[key]


def compressed(content: bytes) -> str:
    """Any bytes, as ``Packing.text`` has them."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")
