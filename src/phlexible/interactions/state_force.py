"""Forces that are functions of the state, evaluated inside of the step (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, IntArray, numbers
from phlexible.algebra.portable import Portable
from phlexible.errors import ParameterError
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load

StateFunction = Callable[[float, Array, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class StateLaw(Feedback):
    """A feedback that is not held: its values are those at the mean state of the step that they act in."""


@dataclass(frozen=True, eq=False)
class ShareOfState(Portable):
    """What a function of the state returns for one port, as a controller.

    Attributes:
        function: (t, x, v) -> all values.
        places, rates: where x and v are among the numbers that are measured.
        begin, end: of the share.
        size: of all values.
        name: for messages.
    """

    function: StateFunction
    places: IntArray
    rates: IntArray
    begin: int
    end: int
    size: int
    name: str

    def __call__(self, time: float, measured: Array) -> Array:
        """The share at a time and state.

        Raises:
            ParameterError: not as many finite numbers as the ports take.
        """
        answer = self.function(time, measured[self.places], measured[self.rates])
        try:
            values = numbers("values", answer, largest=ANY_SIZE).ravel()
        except ParameterError:
            values = np.zeros(0)
        if values.shape != (self.size,) or not np.isfinite(values).all():
            raise ParameterError(
                f"the function of {self.name} must return {self.size} finite numbers (3 of an attachment, 1 of a"
                f" joint), got {answer!r} at t = {time:.9g} s"
            )
        return values[self.begin : self.end]


class CompoundForce(Portable, ABC):
    """What ``Model.apply`` takes apart into loads and force elements."""

    @abstractmethod
    def parts(self) -> tuple[Load | ForceElement, ...]:
        """Those on the single ports."""
