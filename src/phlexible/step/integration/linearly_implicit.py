"""The linearly implicit step of models with constant masses and quadratic strains (docs/theory.md, 5)."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.conserving import ConservingStepper
from phlexible.step.integration.quadratic_models import MARK
from phlexible.step.programs import advance_linearly, announce
from phlexible.step.tables.iterations import LINEAR, most_iterations


class LinearlyImplicitStepper(ConservingStepper):
    """Takes steps from a state that it holds, with one linear system each: exact in energy and momenta.

    q_n and v_n are all that a step needs to know (5.22). Where the size of the steps changes the strains that they
    keep do, by O(h^2): what these store less is booked as dissipated.

    Args:
        assembly: what moves; its memory holds the state.
        step: size of the first step [s], to which the energy at the start belongs.
        numerical_damping: gamma_num of (5.19).
        is_redundant: joints hold a motion twice.
    """

    _loop: Any = staticmethod(advance_linearly)

    def __init__(self, assembly: Assembly, step: float, numerical_damping: float, is_redundant: bool) -> None:
        announce(advance_linearly)
        super().__init__(assembly, 2, numerical_damping, is_redundant)
        self._size, self.layout = step, MARK + self.layout
        self._gradient_iterations = most_iterations(assembly.memory, LINEAR)

    def begin(self, state: State, at: Instants | None = None) -> None:
        """Start from a state."""
        super().begin(state, at)
        self._memory["step_taken"][0] = self._size

    def failure(self, time: float, is_singular: bool) -> tuple[str, Array]:
        """What the step that failed at a time [s] did, and no updates."""
        words = (
            "the matrix of the step is singular (redundant joints)" if is_singular else "it has no finite solution"
        )
        return words, np.zeros(1)
