"""Requests of Python to compiled code, and statuses that it returns.

Arrays by their entries and axes, and one record a call, whose fields have names on both sides.
"""

from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Request = TypeVar("Request")
TYPES = {int: np.int64, float: np.float64, bool: np.bool_}


CONVERGED, NOT_CONVERGED, SINGULAR, TOUCHING, NEARLY_CONVERGED, UNBALANCED = range(6)
"""How a step ends.

TOUCHING: contacts push, and ask for parts of the step. NEARLY_CONVERGED: updates are small and do not fall any
more; UNBALANCED: and there the energies do not change by the work of the forces, which is no solution.
"""

RELAXATION = 1e-9
"""Of joints that hold a motion twice, in Newton's matrix."""

ADJOINT, DIRECT = range(2)
"""What is wanted of steps that were taken."""

COLUMNS = 16
"""Changes that are solved for at a time."""

POINT = -1
"""The kind of what is measured: the place of a point; others are kinds of coordinates."""

NODE = -1
"""In place of axes of rotation: a vector of a node."""


class ArrayHint(Any):  # type: ignore[misc]  # so that type checkers let kernels do with it what they do
    """Annotation of a contiguous array that Python passes to an entry point.

    Attributes:
        entry: type of its entries.
        axes: number of its axes; None: any number, it is read as one row.
    """

    entry: ClassVar[Any] = float
    axes: ClassVar[int | None] = None


class Floats(ArrayHint):
    """Annotation of an array of floats of any shape."""


class Rows1(ArrayHint):
    """Annotation of an array of floats with one axis."""

    axes = 1


class Rows2(ArrayHint):
    """Annotation of an array of floats with two axes."""

    axes = 2


class Rows3(ArrayHint):
    """Annotation of an array of floats with three axes."""

    axes = 3


class Rows4(ArrayHint):
    """Annotation of an array of floats with four axes."""

    axes = 4


class IntegerRow(ArrayHint):
    """Annotation of an array of integers with one axis."""

    entry, axes = np.int64, 1


class IntegerRows(ArrayHint):
    """Annotation of an array of integers with two axes."""

    entry, axes = np.int64, 2


class RequestRecord(Generic[Request]):
    """Annotation of the memory of one request, as ``empty_request`` makes it; entry points read ``asked[0]``."""

    def __getitem__(self, index: int) -> Request:  # for type checkers: Numba reads the fields of a record
        raise NotImplementedError


class StepRequest(NamedTuple):
    """Request of steps of one size to the loop (``kernels.loop.advance``).

    Attributes:
        steps: how many, at most; 0: only the present state is stored.
        numerical_damping: gamma.
        least_speed: velocities below it count as rest [m/s] (``solve_step``).
        is_redundant: constraints are redundant, so that Newton's matrix needs relaxation.
        error_length: length that errors of displacement are divided by [m].
        every: store every n-th step.
        since_stored: steps computed since the last one stored.
        continues: the step before had the same size and ended at this state.
        measures: controllers measure the state after the last step.
        is_around_contacts: the substeps are those of a step around contacts; if not, the loop ends before a step
            for which contacts request ``parts``.
        is_tried: the first step was just tried with other loads, and Newton's method begins where it ended.
        gradient_iterations: conjugate gradients solve linear systems, with so many at most; 0: elimination does.
    """

    steps: int
    numerical_damping: float
    least_speed: float
    is_redundant: bool
    error_length: float
    every: int
    since_stored: int
    continues: bool
    measures: bool
    is_around_contacts: bool
    is_tried: bool
    gradient_iterations: int


class DerivativeRequest(NamedTuple):
    """Request of derivatives of steps that were computed (``kernels.differentiation.differentiate``).

    Attributes:
        steps: how many.
        numerical_damping: gamma.
        relaxation: of redundant joints.
        wanted: ADJOINT or DIRECT.
        changes: number of changes at a time.
        velocity_entries: count of entries of Newton's matrix that are (velocity, velocity), with rows of rolling.
        auxiliary_entries: count of those that are (velocity, auxiliary), which follow.
    """

    steps: int
    numerical_damping: float
    relaxation: float
    wanted: int
    changes: int
    velocity_entries: int
    auxiliary_entries: int


def work_size(unknowns: int, entries: int, changes: int) -> int:
    """Return how many floats of working memory ``differentiate`` needs, for this number of ``unknowns``, of
    ``entries`` of Newton's matrix and of ``changes`` that are propagated."""
    return 4 * unknowns * max(1, min(COLUMNS, changes)) + unknowns + 2 * entries


def empty_request(kind: Any) -> NDArray[np.void]:
    """Return the memory of one request to compiled code, an array of shape (1,) with zeros, whose fields are those
    of the class ``kind``."""
    return np.zeros(1, dtype_of(kind))


@cache
def dtype_of(kind: Any) -> np.dtype[np.void]:
    """Return the structured NumPy type whose fields are those of the request class ``kind``, as compiled code reads
    them."""
    return np.dtype([(name, TYPES[hint]) for name, hint in get_type_hints(kind).items()], align=True)
