"""Other discretizations of the bodies of a model, which show the error of the chosen one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from phlexible.bodies.beam.bases import Frame
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.rod import Rod

Change = Callable[[Any], Any]

_CHANGE: ContextVar[Change | None] = ContextVar("_CHANGE", default=None)


@contextmanager
def changed_bodies(change: Change) -> Iterator[None]:
    """Context manager in which ``Mechanism.add`` places ``change(body)`` instead of the user's body, for comparing
    discretizations of a model."""
    token = _CHANGE.set(change)
    try:
        yield
    finally:
        _CHANGE.reset(token)


def changed_body(body: Any) -> Any:
    """Return the body that a model places for a user's body: the body itself, or its replacement inside of the
    context ``changed_bodies``."""
    change = _CHANGE.get()
    return body if change is None else change(body)


def with_half_the_elements(body: Any) -> Any:
    """Return a beam or rod with half as many finite elements, rounded down; other bodies, and those with a
    single element, are returned unchanged."""
    is_divisible = isinstance(body, Beam | Rod) and body.elements > 1
    return replace(body, elements=body.elements // 2) if is_divisible else body


def in_another_frame(body: Any) -> Any:
    """Return a beam with another floating frame: simply supported instead of mean axis, mean axis instead of
    any other. Other bodies and beams with a reduced basis (``modes``) are returned unchanged."""
    if not isinstance(body, Beam) or body.modes is not None:
        return body
    return replace(body, frame=Frame.SIMPLY_SUPPORTED if body.frame is Frame.MEAN_AXIS else Frame.MEAN_AXIS)
