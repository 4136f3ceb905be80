"""Examples in docstrings of public names run and print what they say; docstrings and names are in plain English."""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph


def documented() -> Iterator[tuple[str, object]]:
    for name in sorted(set(ph.__all__)):
        value = getattr(ph, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            for method, function in inspect.getmembers(value, inspect.isroutine):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function


EXAMPLES = {name: value for name, value in documented() if ">>>" in (value.__doc__ or "")}


def test_what_is_used_most_has_an_example() -> None:
    """Models, bodies, joints, forces, sensors, studies."""
    most_used = {"Model", "Model.simulate", "Motion", "Beam", "RigidBody", "Revolute", "Force", "Position"}
    assert most_used <= EXAMPLES.keys() and len(EXAMPLES) >= 60


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore::phlexible.errors.StepWarning")
def test_an_example_prints_what_it_says(name: str) -> None:
    variables = {"ph": ph, "np": np, "__name__": "__main__"}
    (example,) = doctest.DocTestFinder(recurse=False).find(EXAMPLES[name], name, module=False, globs=variables)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST)
    runner.run(example, out=told.append)
    assert runner.failures == 0, "".join(told)


def test_docstrings_and_names_are_no_less_plain_than_before(monkeypatch) -> None:
    """Sentences without a subject, of few or many words, and private words in names: their numbers only fall."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / ".ci"))
    language, baseline = map(importlib.import_module, ("language", "baseline"))
    more = baseline.exceeded("language.json", language.counts())
    assert not more, f"{more}; python .ci/language.py --list shows them, CONTRIBUTING.md says how to write"
