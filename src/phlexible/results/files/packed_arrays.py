"""Large arrays and whole numbers in descriptions: their bytes as text, to the last digit."""

import base64
from typing import Any

import numpy as np

LARGE = 4096
KINDS = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


def is_packed(tree: Any) -> bool:
    """Whether a tree is an array of ``packed``."""
    return isinstance(tree, dict) and tree.keys() == {"packed", "kind", "shape"}


def packed(values: np.ndarray) -> dict[str, Any]:
    """The array as JSON."""
    kind = "i8" if values.dtype.kind in "iu" else "f8"
    data = np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes()
    return {"packed": base64.b64encode(data).decode("ascii"), "kind": kind, "shape": list(values.shape)}


def unpacked(tree: dict[str, Any]) -> np.ndarray:
    """The array that ``packed`` was given.

    Raises:
        ValueError, KeyError: text of no array of this shape.
    """
    data = np.frombuffer(base64.b64decode(tree["packed"], validate=True), KINDS[tree["kind"]])
    return data.reshape(tree["shape"]).astype(np.int64 if tree["kind"] == "i8" else np.float64)
