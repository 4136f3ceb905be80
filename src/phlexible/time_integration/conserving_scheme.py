"""The conserving scheme: steppers that share the tables of a system."""

from dataclasses import replace

from phlexible.assembly.assembly import assemble
from phlexible.system.system import System
from phlexible.time_integration.composition import SUBSTEPS
from phlexible.time_integration.conserving import ConservingStepper


class ConservingScheme:
    """Makes steppers of a system, each with memory of its own; the tables of the system are made once.

    Args:
        system: what moves.
    """

    def __init__(self, system: System) -> None:
        self._assembly = assemble(system)

    def __call__(self, order: int, numerical_damping: float, is_redundant: bool) -> "ConservingStepper":
        """A stepper of an order; its arguments as there."""
        kept = self._assembly
        own = assemble(kept.system) if kept.has_functions else replace(kept, memory=kept.memory.fresh())
        return ConservingStepper(own, SUBSTEPS[order], order, numerical_damping, is_redundant)
