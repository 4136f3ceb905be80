"""Schemes by name: what takes the steps of each, how they are asked to, and what is kept of it from run to run."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

import numpy as np

from phlexible.algebra.arrays import non_negative, positive, whole
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError
from phlexible.state.initial_state import KeptStart
from phlexible.state.system import KeptSystem, System
from phlexible.step.integration.composition import SUBSTEPS
from phlexible.step.integration.stepper import Stepper

LEAST_TOLERANCE = 1e-16
"""Of the longest body: its places have no more digits."""


class Scheme(Enum):
    """How time is integrated."""

    CONSERVING = "conserving"


StepperMaker = Callable[[int, float, bool], Stepper]
"""Makes a stepper of an order, with numerical damping, for joints that are redundant or not."""


def _conserving(system: System) -> StepperMaker:
    from phlexible.step.integration.conserving import ConservingScheme

    return ConservingScheme(system)


STEPPERS = {Scheme.CONSERVING: _conserving}
"""What takes the steps of a scheme, made of a system once."""


class KeptNumbers:
    """What a model keeps from run to run until it changes: its system, the tables of schemes, its start."""

    def __init__(self) -> None:
        self._kept, self._kept_whole = KeptSystem(), KeptSystem()
        self.start = KeptStart()
        self._steppers: dict[Scheme, tuple[System, StepperMaker]] = {}

    def system(self, mechanism: Mechanism) -> System:
        """Of the mechanism as it is now."""
        return self._kept.of(mechanism)

    def whole_system(self, mechanism: Mechanism) -> System:
        """Of the mechanism with what events will lock; the same where there are none."""
        whole = mechanism.with_locks()
        return self.system(mechanism) if whole is mechanism else self._kept_whole.of(whole)

    def stepper_maker(self, system: System, scheme: Scheme) -> StepperMaker:
        """What makes steppers of the system."""
        known = self._steppers.get(scheme)
        if known is None or known[0] is not system:
            known = self._steppers[scheme] = (system, STEPPERS[scheme](system))
        return known[1]


@dataclass(frozen=True)
class StepOptions:
    """How steps are taken and stored, as ``Model.simulate`` is told."""

    scheme: Scheme
    order: int
    every: int
    numerical_damping: float
    tolerance: float | None

    def checked(self) -> Self:
        """With checked numbers.

        Raises:
            ParameterError: a value out of range, or a tolerance where steps are composed.
        """
        if not isinstance(self.order, int | np.integer) or int(self.order) not in SUBSTEPS:
            raise ParameterError(f"order must be 2, 4 or 6, got {self.order!r}")
        tolerance = None if self.tolerance is None else positive("tolerance", self.tolerance)
        if tolerance is not None and self.order > 2:
            raise ParameterError("tolerance= goes with order=2: the error of composed steps is not estimated")
        if tolerance is not None and tolerance < LEAST_TOLERANCE:
            raise ParameterError(
                f"tolerance must be at least {LEAST_TOLERANCE:g}, below which errors are those of rounding, got"
                f" {self.tolerance!r}"
            )
        damping = non_negative("numerical_damping", self.numerical_damping)
        return replace(
            self,
            every=whole("every", self.every),
            order=int(self.order),
            numerical_damping=damping,
            tolerance=tolerance,
        )
