"""Arrays and lists that a caller goes on writing to change nothing that was made of them."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import phlexible as ph
from bad_inputs.bodies import BODIES
from bad_inputs.control import CONTROL
from bad_inputs.derived import DERIVED
from bad_inputs.meshed import MESHED
from bad_inputs.outcomes import Call
from bad_inputs.parts import PARTS

LISTS = {"(1, 2)": (1.0, 2.0), "(1, 2, 3)": (1.0, 2.0, 3.0), "3 x 3": np.eye(3)}


def numbers(value: Any) -> bool:
    """Whether it is a list of numbers, or of such lists."""
    if isinstance(value, np.ndarray):
        return bool(value.size) and value.dtype.kind in "if"
    if isinstance(value, tuple | list):
        return bool(value) and all(numbers(each) or type(each) in (int, float) for each in value)
    return False


def leaves(value: Any, place: str = "", depth: int = 4) -> Iterator[tuple[str, str]]:
    """Arrays and numbers of what was made, through fields and lists, as text."""
    if isinstance(value, np.ndarray):
        yield place, repr(value.tolist())
    elif isinstance(value, int | float):
        yield place, repr(value)
    elif isinstance(value, tuple | list):
        for k, each in enumerate(value):
            yield from leaves(each, f"{place}[{k}]", depth)
    elif depth and type(value).__module__.startswith("phlexible."):
        own = {each.name for each in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
        for name in sorted(own | set(getattr(value, "__dict__", ()))):
            yield from leaves(getattr(value, name, None), f"{place}.{name}", depth - 1)


def arguments(call: Call) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Each argument that takes numbers in a list, as an array and as a list that can be written to."""
    here = call.make_stage()
    good = call.good(here)
    for name, labels in call.accepted(here).items():
        found = [each for label, each in LISTS.items() if label in labels]
        found += [good[name]] if numbers(good.get(name)) else []
        for value in found:
            array = np.array(value, dtype=np.float64)
            for given in (array, array.tolist()):
                yield name, {**call.good(call.make_stage()), name: given}, given


def overwritten(given: Any) -> None:
    """Other numbers in its place."""
    if isinstance(given, np.ndarray):
        given *= 0.5
    else:
        for k, each in enumerate(given):
            if isinstance(each, list):
                overwritten(each)
            else:
                given[k] = each * 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [*BODIES, *PARTS, *MESHED, *CONTROL, *DERIVED], ids=lambda call: call.name)
def test_what_was_made_does_not_follow_its_arguments(call: Call, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, values, given in arguments(call):
        try:
            made = call.function(call.make_stage())(**values)
        except ph.PhlexibleError:
            continue
        before = dict(leaves(made))
        overwritten(given)
        after = dict(leaves(made))
        changed = [place for place in before if before[place] != after.get(place)]
        assert (name, type(given).__name__, changed) == (name, type(given).__name__, [])
