"""Values of arguments: wrong ones are refused by name, right ones taken, kept apart, and all are in the table."""

import dataclasses
import inspect
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import phlexible as ph
from bad_inputs.bodies import BODIES
from bad_inputs.control import CONTROL
from bad_inputs.derived import DERIVED
from bad_inputs.outcomes import Call, surprises, tried
from bad_inputs.parts import PARTS
from bad_inputs.runs import RUNS
from bad_inputs.stepped import MESHED, STEPPED

CALLS = [*BODIES, *PARTS, *RUNS, *CONTROL, *DERIVED, *STEPPED]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_wrong_values_are_refused_by_name(call, tmp_path, monkeypatch, unpainted):
    monkeypatch.chdir(tmp_path)  # what is taken as the name of a file is written there
    assert surprises(call) == []


class Column:
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
    numbers = NUMBERS if "0.5" in labels else COUNTS
    named = {"'x'": Path("x")} if argument in ("path", "output") else {}
    return {label: value for label, value in {**OTHERS, **numbers, **named}.items() if label in labels}


@pytest.mark.parametrize("call", [each for each in CALLS if "plot" not in each.name], ids=lambda call: call.name)
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


LISTS = {"(1, 2)": (1.0, 2.0), "(1, 2, 3)": (1.0, 2.0, 3.0), "3 x 3": np.eye(3)}


def numbers(value: Any) -> bool:
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


# Made by this package, or made of what it made.
NOT_CALLED_BY_USERS = {
    *("FlexibleBody", "LinearModel", "LinearPHDAE", "Motion", "PortHamiltonianModel", "Study", "Trajectory"),
    *("Batch", "BatchRuns", "LiveBatch", "Fit", "Library", "InverseDynamics", "OptimalInputs"),
    *("Cost", "ModeDerivatives", "ResponseDerivatives", "Sensitivity"),
}
OWNERS = {
    "Mechanism": ph.Model,
    "Model": ph.Model,
    "Motion": ph.Motion,
    "LinearModel": ph.LinearModel,
    "joint": ph.Revolute,
    "Beam": ph.Beam,
    "String": ph.String,
}

# Methods that this package calls: how joints, bodies and models in port-Hamiltonian form are written.
WITHIN = {
    *("constraints", "coordinate", "coordinates", "initial_coordinate", "named_coordinate"),
    *("described_coordinates", "discretize", "resolved", "initial_nodes", "stress_space", "of"),
    *("element_forces", "radii_of_gyration", "sections_at", "group_rod", "with_rotation"),
    *("descriptor_matrix", "structure_matrix", "dissipation_matrix", "port_matrix"),
    *("effort", "forces", "output", "storage", "skin"),
    *("expect", "set_events", "warn_of_gravity", "perpendicular_directions"),
    *("efforts", "descriptor_products", "flows", "output_products", "discrete_effort", "defect_slope"),
    *("without_multipliers", "default_inputs", "storages", "defects", "descriptor_solutions"),
}
PICTURES = {"plot", "plot_reaction", "TriangleMesh"}  # how things look; a wrong value is seen at once

# In signatures: what stands for other names, and what ``output_coordinates`` takes like the methods above.
NO_ARGUMENTS = {
    *("self", "cls", "args", "kwargs", "named", "options"),
    *("x of output_coordinates", "ranges of samples", "dimension of memory", "parameters of load_library"),
}


def argument_names(function):
    return [name for name in inspect.signature(function).parameters if name not in NO_ARGUMENTS]


def covered():
    """Arguments in the table by the last word of what is called: "Beam", "add", "drive"."""
    found: dict[str, set[str]] = {}
    for call in CALLS:
        taken = call.accepted(call.make_stage()) if call.is_whole else call.takes
        found.setdefault(call.name.split(" ")[0].split(".")[-1], set()).update(taken)
    return found


def public_callables():
    """Everything in the package by name, and the methods of what it hands out."""
    for name in ph.__all__:
        each = getattr(ph, name)
        is_error = inspect.isclass(each) and issubclass(each, Exception)
        if callable(each) and not is_error and name not in NOT_CALLED_BY_USERS | PICTURES:
            yield name, each
    for owner in OWNERS.values():
        for name, method in inspect.getmembers(owner, callable):
            if not name.startswith("_") and name not in WITHIN | PICTURES:
                yield name, method


def test_every_argument_is_in_the_table():
    table = covered()
    missing = [
        f"{name}({argument})"
        for name, function in public_callables()
        for argument in argument_names(function)
        if not (argument == "axes" and name.startswith("plot_"))
        and argument not in table.get(name, set())
        and f"{argument} of {name}" not in NO_ARGUMENTS
    ]
    assert sorted(set(missing)) == []
