"""A model and how it is run."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import phlexible as ph
from formulas import formula
from fuzz.copies import Change

EQUILIBRIUM = "equilibrium"
"""The start at ``model.equilibrium()``, besides what ``simulate`` calls by name."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model and how to run it.

    Attributes:
        model: its functions are formulas.
        step: [s].
        steps: how many.
        options: of ``simulate``; the start may be ``EQUILIBRIUM``.
        is_assembled: whether its joints close only after ``assemble``.
        is_small: whether it is run once more only, elsewhere or in other units.
        end: time after which a condition ends the run [s]; None: nothing does.
        changes: of the whole scene after which it moves alike, by name; none: drawn.
    """

    model: ph.Model
    step: float
    steps: int
    options: dict[str, Any] = field(default_factory=dict)
    is_assembled: bool = False
    is_small: bool = False
    end: float | None = None
    changes: tuple[tuple[str, Change], ...] = ()

    @cached_property
    def placed(self) -> ph.Model:
        """The model with closed joints."""
        return self.model.assemble().model if self.is_assembled else self.model

    @property
    def stop(self) -> ph.When | None:
        """What ends the run."""
        return None if self.end is None else ph.When(formula("lambda time: time"), above=self.end)

    def run(self) -> ph.Motion:
        """The motion."""
        options = dict(self.options)
        if options.get("initial") == EQUILIBRIUM:
            options["initial"] = self.placed.equilibrium()
        return self.placed.simulate(self.steps * self.step, self.step, stop=self.stop, progress=False, **options)
