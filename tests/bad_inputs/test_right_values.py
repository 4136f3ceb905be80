"""What is taken is taken in each type that means the same: of NumPy, of the standard library, lists for tuples."""

from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from bad_inputs.bodies import BODIES
from bad_inputs.control import CONTROL
from bad_inputs.derived import DERIVED
from bad_inputs.meshed import MESHED
from bad_inputs.outcomes import tried
from bad_inputs.parts import PARTS
from bad_inputs.runs import RUNS
from bad_inputs.stepped import STEPPED


class Column:
    """Numbers of another package, as those of pandas come."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numbers, dtype=dtype)


NUMBERS = {"0": np.int64(0), "1": np.array(1.0), "-1": Fraction(-1), "0.5": np.float32(0.5)}
COUNTS = {"0": np.uint8(0), "1": np.int64(1)}
OTHERS = {
    "True": np.True_,
    "False": np.False_,
    "()": [],
    "(1, 2)": [1, np.float32(2.0)],
    "(1, 2, 3)": Column(1, 2, 3),
    "2 x 2": [[1, 0], [0, 1]],
    "3 x 3": np.eye(3, dtype=np.float32),
    "{}": MappingProxyType({}),
    "'x'": np.str_("x"),
    "f -> 1.0": lambda *_: np.float32(1.0),
    "f -> (0, 0, 0)": lambda *_: [0, np.int8(0), 0.0],
    "f -> 3 x 3": lambda *_: np.eye(3).tolist(),
}


def alike(argument, labels):
    """Values that mean what those with the labels mean."""
    numbers = NUMBERS if "0.5" in labels else COUNTS
    named = {"'x'": Path("x")} if argument in ("path", "output") else {}
    return {label: value for label, value in {**OTHERS, **numbers, **named}.items() if label in labels}


@pytest.mark.parametrize(
    "call",
    [each for each in (*BODIES, *PARTS, *RUNS, *MESHED, *CONTROL, *DERIVED, *STEPPED) if "plot" not in each.name],
    ids=lambda call: call.name,
)
def test_values_of_other_types_are_taken(call, tmp_path, monkeypatch, unpainted):
    monkeypatch.chdir(tmp_path)
    found = []
    for argument, labels in call.accepted(call.make_stage()).items():
        if (call.name, argument) == ("SoftBody", "interfaces"):
            continue  # an empty tuple is what copies of it are made of
        for label, value in alike(argument, labels).items():
            result = tried(call, argument, label, value, call.make_stage())
            if result not in ("accepted", "warned"):
                found.append(f"{call.name}({argument}={value!r}): {result}")
    assert found == []
