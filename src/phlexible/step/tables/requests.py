"""What Python asks of compiled code beside the tables: one record a call, whose fields have names on both sides."""

from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

NUMBERS = {int: np.int64, float: np.float64, bool: np.bool_}


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
    """Steps that were taken, for their residuals and derivatives (``kernels.differentiation.differentiate``).

    Attributes:
        steps: how many.
        numerical_damping: gamma.
        relaxation: of redundant joints.
        wanted: RESIDUALS, ADJOINT or DIRECT.
        changes: at a time.
        velocity_entries: places of Newton's matrix that are (velocity, velocity).
        auxiliary_entries: those that are (velocity, auxiliary), which follow.
    """

    steps: int
    numerical_damping: float
    relaxation: float
    wanted: int
    changes: int
    velocity_entries: int
    auxiliary_entries: int


def record(kind: Any) -> NDArray[np.void]:
    """Memory of one request, shape (1,): compiled code reads its fields by their names."""
    return np.zeros(1, np.dtype([(name, NUMBERS[hint]) for name, hint in get_type_hints(kind).items()], align=True))
