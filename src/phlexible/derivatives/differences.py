"""Two models of parameters to both sides: what may differ between them, and how their starts do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.derivatives.built import Built
from phlexible.derivatives.costs import Cost
from phlexible.derivatives.taken_steps import Functions, functions_of
from phlexible.derivatives.variations import Variation, difference
from phlexible.errors import ModelError, ParameterError
from phlexible.ports.signal import Signal
from phlexible.tables.declarations import TABLES
from phlexible.tables.table import Kind, Writer

SMOOTH = 0.05
"""Of a difference: how much of it may be even in the parameter."""

LOCAL = 1e-4
"""Of the greatest change of the equations: how much samples may change elsewhere than in their own steps."""

NOTICEABLE = 1e-9
"""Parts below this are round-off."""


def start_change(more: Built[Any], less: Built[Any], size: float) -> Variation:
    """d(initial state)/dp from models to both sides, (velocities,) each."""
    rows = [
        {name: getattr(own.start, name) for name in ("position", "rotation", "eta", "velocity")}
        for own in (less, more)
    ]
    change = difference(more.assembly.system.layout, *rows)
    return Variation(change.pose / (2 * size), change.velocity / (2 * size))


def check_same(own: Built[Any], other: Built[Any], label: str) -> None:
    """Refuses models with other unknowns.

    Raises:
        ModelError: names the parameter.
    """
    names = ("velocity_start", "width_of", "elastic_start", "node_row", "node_size", "visit")
    first, second = own.assembly.memory, other.assembly.memory
    if first.state_sizes != second.state_sizes or not all(
        np.array_equal(first[name], second[name]) for name in names
    ):
        raise ModelError(
            f"the model has other parts, coordinates or joints once {label} changes a little; the build function"
            " must make the same ones for all parameters"
        )


def check_smooth(upper: Array, lower: Array, label: str) -> None:
    """Refuses equations that jump with a parameter: a mode that changes its sign, a mesh that changes.

    Raises:
        ModelError: names the parameter.
    """
    odd, even = float(np.abs(upper - lower).max(initial=0.0)), float(np.abs(upper + lower).max(initial=0.0))
    if even > SMOOTH * odd and even > NOTICEABLE:
        raise ModelError(
            f"the equations are no smooth function of {label}: a small change to both sides moves them by"
            f" {even:.2g}, their difference is {odd:.2g}; modes of equal frequencies, or kinks of the build"
            " function, do that"
        )


def check_local(changes: Array, is_acting: NDArray[np.bool_], label: str) -> None:
    """Refuses samples of signals that act in other steps than those beside them.

    Args:
        changes: of the equations of each step, when samples change that are far from each other, (N, unknowns).
        is_acting: whether one of them is near the step, shape (N,).
        label: of the signal.

    Raises:
        ParameterError: names it.
    """
    size = np.abs(changes).max(axis=1, initial=0.0)
    elsewhere = float(size[~is_acting].max(initial=0.0))
    if elsewhere > LOCAL * float(size.max(initial=0.0)) and elsewhere > NOTICEABLE:
        raise ParameterError(
            f"the samples of {label} act at other times than their own (a delay, or an integral of the signal?), so"
            " that they cannot be differentiated together; give them as an array, and make the Signal in the build"
            " function"
        )


@contextmanager
def other_values(signal: Signal, values: Array) -> Iterator[None]:
    """A signal that a model was built with has other values for a while."""
    own = signal.values
    signal.values = values
    try:
        yield
    finally:
        signal.values = own


def is_load_alone(own: Built[Cost], other: Built[Cost], changed: Functions, times: Array) -> bool:
    """Whether samples of a signal change loads and nothing else of a model.

    Args:
        own: the model.
        other: built anew with other samples.
        changed: the functions of the first one, with the same samples put in.
        times: of the instants between steps [s].
    """
    first, second = own.assembly, other.assembly
    if first.memory.counts["moving"] or own.measured.constant != other.measured.constant:
        return False
    if not np.array_equal(functions_of(second, times).loads, changed.loads):
        return False
    names = ("position", "rotation", "eta", "velocity")
    if not all(np.array_equal(getattr(own.start, name), getattr(other.start, name)) for name in names):
        return False
    tables = (table for table in TABLES if table.writer is Writer.SYSTEM and table.kind is not Kind.COUNT)
    return all(np.array_equal(first.memory[table.name], second.memory[table.name]) for table in tables)
