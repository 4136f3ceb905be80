"""Other discretizations of the bodies of a model, to see what a result owes to the one that was chosen."""

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
    """Context in which models place what ``change`` makes of the bodies that are added."""
    token = _CHANGE.set(change)
    try:
        yield
    finally:
        _CHANGE.reset(token)


def changed_body(body: Any) -> Any:
    """The body that a model places for the one that is added: this one, outside of ``changed_bodies``."""
    change = _CHANGE.get()
    return body if change is None else change(body)


def with_half_the_elements(body: Any) -> Any:
    """Beam or rod with half as many elements; other bodies as they are."""
    is_divisible = isinstance(body, Beam | Rod) and body.elements > 1
    return replace(body, elements=body.elements // 2) if is_divisible else body


def in_another_frame(body: Any) -> Any:
    """Beam whose small deflections are measured from another floating frame; other bodies as they are.

    Modes belong to a frame: beams of some modes stay.
    """
    if not isinstance(body, Beam) or body.modes is not None:
        return body
    return replace(body, frame=Frame.SIMPLY_SUPPORTED if body.frame is Frame.MEAN_AXIS else Frame.MEAN_AXIS)
