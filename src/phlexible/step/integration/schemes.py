"""Options of steps, and the data of a model that are cached from run to run."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from phlexible.algebra.arrays import non_negative, positive, whole
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError
from phlexible.state.initial_state import InitialStateCache
from phlexible.state.system import System, SystemCache
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.integration.composition import SUBSTEPS
from phlexible.step.integration.lane_loop import specialized_loop
from phlexible.step.integration.stepper import Stepper

LEAST_TOLERANCE = 1e-16
"""Of the longest body: its places have no more digits."""


class ModelCache:
    """Cache of a model from run to run: its system, the tables of its steps and its start, until it changes."""

    def __init__(self) -> None:
        self._systems, self._lockable_systems = SystemCache(), SystemCache()
        self.start = InitialStateCache()
        self._assembly: Assembly | None = None

    def system(self, mechanism: Mechanism) -> System:
        """Return the system, the numerical description of a mechanism as it is at present, cached until the
        mechanism changes."""
        return self._systems.of(mechanism)

    def whole_system(self, mechanism: Mechanism, at_start: System | None = None) -> System:
        """Return the system, the numerical description of a mechanism, with all constraints that its events can
        lock, cached. It equals ``system`` where there are none; ``at_start`` is that system, if the caller has
        it."""
        whole = mechanism.with_locks()
        return (at_start or self.system(mechanism)) if whole is mechanism else self._lockable_systems.of(whole)

    def stepper(self, system: System, options: "StepOptions", is_redundant: bool) -> Stepper:
        """Return a new ``Stepper`` (time integrator) of a ``system`` with its own memory. The tables of the last
        system are used again if it is the same object and has no functions of the user. ``options`` are the
        options of the run; ``is_redundant`` says whether joint constraints are redundant.

        Args:
            system: what moves.
            options: of the run, checked.
            is_redundant: whether constraints are redundant.
        """
        if self._assembly is None or self._assembly.system is not system or self._assembly.has_functions:
            self._assembly = assemble(system)
        memory, parts = self._assembly.memory, len(SUBSTEPS[options.order])
        tables = replace(self._assembly, memory=memory.fresh() if parts == 1 else memory.for_substeps(parts))
        loop = specialized_loop if options.is_specialized else None
        return Stepper(tables, options.order, options.numerical_damping, is_redundant, loop, options.coarsening)


@dataclass(frozen=True)
class StepOptions:
    """Options of steps and of their storage, as in ``Model.simulate``.

    is_specialized: a program is compiled for the structure of the model; coarsening: how many times longer the
    substeps around contacts are than contacts request.
    """

    order: int = 2
    every: int = 1
    numerical_damping: float = 0.0
    tolerance: float | None = None
    is_specialized: bool = False
    coarsening: int = 1

    def stored_steps(self, steps: int) -> int | None:
        """Return the number of second-order time steps that ``steps`` time steps of the chosen order consist
        of; None unless every time step is stored and all have one size."""
        return steps * len(SUBSTEPS[self.order]) if self.tolerance is None and self.every == 1 else None

    def checked(self) -> Self:
        """Return a copy of the options of a run with checked and normalized values; raise ``ParameterError`` for
        invalid ones. Invalid are an unknown order, a tolerance that is too small or combined with an order above
        2, negative damping, and ``every`` below 1.

        Raises:
            ParameterError: a value out of range, or a tolerance where steps are composed.
        """
        if not isinstance(self.order, int | np.integer) or int(self.order) not in SUBSTEPS:
            raise ParameterError(f"order must be one of {', '.join(map(str, SUBSTEPS))}, got {self.order!r}")
        tolerance = None if self.tolerance is None else positive("tolerance", self.tolerance)
        if tolerance is not None and self.order > 2:
            raise ParameterError("tolerance= needs order=2: the error of composed steps is not estimated")
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
