"""A case that fails, with as little in it as possible."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.case import Case
from fuzz.copies import Part, copied

SECONDS = 120.0


def shrunk(case: Case, fails: Callable[[Case], bool], seconds: float = SECONDS) -> Case:
    """The case after whatever can be left out, in so many seconds, so that it still ``fails`` in the same way."""
    end = time.monotonic() + seconds
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(case):
            if time.monotonic() > end:
                return case
            if fails(smaller):
                case, is_smaller = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """The case with one thing less: bodies and joints take along what acts on them, so they come first."""
    model = case.model
    parts: list[Part] = [*reversed(model.bodies), *model.joints, *model.relations]
    parts += [*model.drives, *model.applied_elements, *model.loads]
    for part in parts:
        if part not in model.bodies or len(model.bodies) > 1:
            yield replace(case, model=copied(model, without=[part]))
    for steps in {1, case.steps // 4, case.steps // 2, case.steps - 1} - {0, case.steps}:
        yield replace(case, steps=steps)
    for name in case.options:
        yield replace(case, options={other: case.options[other] for other in case.options if other != name})
    if case.is_assembled:
        yield replace(case, is_assembled=False)
    if model.gravity.any():
        weightless = copied(model)
        weightless._gravity = 0 * weightless.gravity
        yield replace(case, model=weightless)
