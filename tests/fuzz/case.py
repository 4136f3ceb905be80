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
    model: ph.Model  # its functions are formulas
    step: float  # [s]
    steps: int  # how many
    options: dict[str, Any] = field(default_factory=dict)  # of ``simulate``; the start may be ``EQUILIBRIUM``
    is_assembled: bool = False  # whether its joints close only after ``assemble``
    is_small: bool = False  # whether it is run once more only, elsewhere or in other units
    end: float | None = None  # time after which a condition ends the run [s]; None: nothing does
    # of the whole scene after which it moves alike, by name; none: drawn
    changes: tuple[tuple[str, Change], ...] = ()

    @cached_property
    def placed(self) -> ph.Model:
        return self.model.assemble().model if self.is_assembled else self.model

    @property
    def stop(self) -> ph.When | None:
        return None if self.end is None else ph.When(formula("lambda time: time"), above=self.end)

    def run(self) -> ph.Motion:
        options = dict(self.options)
        if options.get("initial") == EQUILIBRIUM:
            options["initial"] = self.placed.equilibrium()
        return self.placed.simulate(self.steps * self.step, self.step, stop=self.stop, progress=False, **options)
