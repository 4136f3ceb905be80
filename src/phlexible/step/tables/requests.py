"""What Python gives compiled code beside the tables, and gets from it.

Arrays by their entries and axes, and one record a call, whose fields have names on both sides.
"""

from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from phlexible.step.tables.memory import DIRECTIONS, DUAL

Request = TypeVar("Request")
NUMBERS = {int: np.int64, float: np.float64, bool: np.bool_}


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
    """An array that Python gives an entry point, contiguous.

    Attributes:
        entry: its numbers.
        axes: how many it has; None: any number, they are read as one row.
    """

    entry: ClassVar[Any] = float
    axes: ClassVar[int | None] = None


class Numbers(ArrayHint):
    """Numbers in any shape."""


class Rows1(ArrayHint):
    """Numbers with one axis."""

    axes = 1


class Rows2(ArrayHint):
    """Numbers with two axes."""

    axes = 2


class Rows3(ArrayHint):
    """Numbers with three axes."""

    axes = 3


class IntegerRow(ArrayHint):
    """Integers with one axis."""

    entry, axes = np.int64, 1


class IntegerRows(ArrayHint):
    """Integers with two axes."""

    entry, axes = np.int64, 2


class DualHeader(ArrayHint):
    """The header of tables of dual numbers."""

    entry, axes = np.dtype([(f"{DUAL}{DIRECTIONS}", np.int64)]), 1


class RequestRecord(Generic[Request]):
    """Memory of one request, as ``record`` makes it; entry points read it as ``asked[0]``."""

    def __getitem__(self, place: int) -> Request:  # for type checkers: Numba reads the fields of a record
        raise NotImplementedError


class StepRequest(NamedTuple):
    """Steps of one size for the loop (``kernels.loop.advance``).

    Attributes:
        steps: how many, at most; 0: only the state as it is becomes a row.
        numerical_damping: gamma.
        least_speed: velocities below it count as rest [m/s] (``solve_step``).
        is_redundant: joints hold a motion twice, so that Newton's matrix needs relaxation.
        error_length: what errors of displacement are measured by [m].
        every: store each so many.
        since_stored: steps taken since the last one stored.
        continues: the step before had the same size and ended at this state.
        measures: controllers measure the state after the last step.
        is_around_contacts: the substeps are those of a step around contacts; if not, the loop ends before a step
            that contacts ask to be taken in ``parts``.
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
    """Steps that were taken, for their derivatives (``kernels.differentiation.differentiate``).

    Attributes:
        steps: how many.
        numerical_damping: gamma.
        relaxation: of redundant joints.
        wanted: ADJOINT or DIRECT.
        changes: at a time.
        velocity_entries: places of Newton's matrix that are (velocity, velocity), with rows of rolling.
        auxiliary_entries: those that are (velocity, auxiliary), which follow.
    """

    steps: int
    numerical_damping: float
    relaxation: float
    wanted: int
    changes: int
    velocity_entries: int
    auxiliary_entries: int


def work_numbers(unknowns: int, entries: int, changes: int) -> int:
    """Memory that ``differentiate`` needs for so many unknowns, entries of Newton's matrix, and changes."""
    return 4 * unknowns * max(1, min(COLUMNS, changes)) + unknowns + 2 * entries


def record(kind: Any) -> NDArray[np.void]:
    """Memory of one request, shape (1,): compiled code reads its fields by their names."""
    return np.zeros(1, dtype_of(kind))


@cache
def dtype_of(kind: Any) -> np.dtype[np.void]:
    """The fields of a request as NumPy has them."""
    return np.dtype([(name, NUMBERS[hint]) for name, hint in get_type_hints(kind).items()], align=True)
