"""Linear controllers of a model as data of a library: matrices, samples, delays, targets (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.feedback import Feedback, transition_matrices
from phlexible.errors import ModelError
from phlexible.libraries.outputs import OutputTables
from phlexible.step.assembly.controlled import ControlledValue, Target


@dataclass(frozen=True, eq=False)
class ControllerData:
    """Data of one linear controller.

    Attributes:
        begin, end: range of the numbers of the tape that it measures, of which the last ``count`` are its
            arguments.
        count: number of arguments.
        size: number of values that it returns.
        queue: stored samples, one more than the periods of its delay.
        period: between samples [s]; None: each step.
        A, B, C, D: from sample to sample.
        target_column: first function of time from which arguments are subtracted; -1: none.
        targets: load values that it sets.
    """

    begin: int
    end: int
    count: int
    size: int
    queue: int
    period: float | None
    A: Array
    B: Array
    C: Array
    D: Array
    target_column: int
    targets: tuple[Target, ...]

    @property
    def order(self) -> int:
        """Return the number of states of a linear controller in a compiled library."""
        return len(self.A)

    @property
    def memory(self) -> int:
        """Return the number of values that a linear controller of a library stores between time steps: three
        for its clock, its last inputs, its states, and the outputs that a delay holds back."""
        return 3 + self.count + self.order + self.queue * self.size

    @property
    def constants(self) -> Array:
        """Return the constants of a linear controller as one array for C: its sampling period (0: each time
        step), then the matrices A, B, C and D, each row by row."""
        return np.concatenate([[self.period or 0.0], *(x.ravel() for x in (self.A, self.B, self.C, self.D))])


def check_controllers(controlled: Sequence[ControlledValue]) -> None:
    """Raise ModelError for controllers (``controlled``) that a compiled library cannot contain: Python
    functions, and controllers with states but without a sampling period.

    Raises:
        ModelError: functions of Python, and continuous states without a period.
    """
    functions = [each.name for each in controlled if each.feedback.law is None]
    if functions:
        raise ModelError(
            f"{', '.join(dict.fromkeys(functions))}: controllers and forces of the state are functions of Python,"
            " which a compiled model has not; write a linear controller as a StateSpace or TransferFunction of"
            " python-control, or make the force an input, a constant load, torque or force with a name, and set it"
            " from step to step"
        )
    for each in controlled:
        law = each.feedback.law
        if law is not None and len(law.A) and each.feedback.period is None:
            raise ModelError(
                f"{each.name}: a controller with states is sampled in a compiled model; give Feedback(period=...),"
                " which may be the step"
            )


def controllers_of(controlled: Sequence[ControlledValue], tables: OutputTables) -> tuple[ControllerData, ...]:
    """Return the data of all linear controllers (``controlled``) of a model for a library. Their measurements
    are added to ``tables`` first, before the outputs.

    Raises:
        ModelError: what a controller of a compiled model cannot measure.
    """
    found, column = list[ControllerData](), 0
    for each in controlled:
        feedback, law = each.feedback, each.feedback.law
        assert law is not None, "as was checked"
        begin, end = tables.measured(each.name, feedback.measured)
        A, B = (law.A, law.B) if feedback.period is None else transition_matrices(law, feedback.period)
        target = -1
        if feedback.target is not None:
            target, column = column, column + feedback.count
        sizes = feedback.count, each.size, feedback.delay_periods + 1, feedback.period
        found.append(ControllerData(begin, end, *sizes, A, B, law.C, law.D, target, each.targets))
    return tuple(found)


def targets_at(feedbacks: Sequence[Feedback], times: Array) -> Array:
    """Return the targets (reference values) of all given controllers (``feedbacks``) at many times [s], shape
    (times, targets)."""
    return np.array(
        [
            np.concatenate([np.zeros(0), *(np.broadcast_to(each.target_at(t), each.count) for each in feedbacks)])
            for t in times.tolist()
        ]
    )
