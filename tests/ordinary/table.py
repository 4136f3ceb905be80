"""A table of ordinary models: one body as it is held, weighed, placed and started in the first model of a user.

A row says what a model is like in ten respects, ``FACTORS``; ``rows`` gives those first that differ most.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

FACTORS: dict[str, tuple[Any, ...]] = {
    "body": (
        "beam",
        "beam of linear strain",
        "beam on its ends",
        "beam on mean axes",
        "thick beam",
        "beam of two modes",
        "rod",
        "rod of order 2",
        "string",
        "meshed body",
        "plate",
        "soft body",
        "rigid body",
        "point mass",
    ),
    "hold": ("free", "clamped", "pinned", "ball", "both ends", "rail", "slider", "link", "spring"),
    "gravity": ("none", "along", "against", "across", "sideways", "skew"),
    "place": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-0.3, 0.2, 0.7)),
    "axis": ("x", "-x", "y", "-z", "skew"),
    "material": ("steel", "aluminium", "polymer"),
    "step": (1e-5, 1e-4, 1e-3, 1e-2),
    "dimension": (2, 3),
    "start": ("rest", "quasi_static", "equilibrium", "moving", "pulled"),
    "tip": ("nothing", "mass", "pendulum"),
}

CANDIDATES = 40  # from which the next row is chosen
NODAL = "string", "soft body"
POINTS = (*NODAL, "point mass")
"""Bodies without orientation."""


@dataclass(frozen=True)
class Row:
    """What an ordinary model is like; one of the ``FACTORS`` each."""

    body: str
    hold: str
    gravity: str
    place: tuple[float, float, float]
    axis: str
    material: str
    step: float
    dimension: int
    start: str
    tip: str

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in vars(self).items())

    def together(self, count: int) -> set[tuple[tuple[str, Any], ...]]:
        """All that it is like in so many respects at once."""
        return set(combinations(vars(self).items(), count))

    @property
    def is_possible(self) -> bool:
        """Whether there is such a model, and one that a user would make."""
        return not (
            (self.dimension == 2 and (self.body == "plate" or self.axis == "-z" or self.gravity == "sideways"))
            or (self.body == "rigid body" and self.hold == "both ends")
            or (self.body == "point mass" and (self.hold in ("clamped", "pinned", "ball", "both ends")))
            or (self.body == "point mass" and self.tip != "nothing")
            or (self.body in POINTS and self.hold in ("clamped", "pinned", "rail"))  # points are held by balls
            or (self.body in NODAL and self.tip == "pendulum")
            or (self.body == "string" and self.gravity in ("against", "skew") and self.start != "moving")
            or (self.start == "moving" and not self._is_movable)
            or (self.start == "equilibrium" and not self._is_at_rest)
        )

    @property
    def _is_movable(self) -> bool:
        """Whether it can turn or slide as a rigid body."""
        kinds = ("free", "spring", "rail", "slider")
        return self.hold in kinds or (self.hold in ("pinned", "ball", "link") and self.body not in POINTS)

    @property
    def _is_at_rest(self) -> bool:
        """Whether there is an equilibrium from which nothing can drift away, where it is or nearby."""
        if self.hold in ("clamped", "both ends"):
            return True
        is_hanging = self.gravity == "along" and self.tip != "pendulum"
        return is_hanging and self.hold in ("pinned", "ball", "link", "spring") and self.body != "plate"


def rows() -> Iterator[Row]:
    """Without end: of some that are drawn the one with most pairs, and then triples, that none before had."""
    drawn, pairs, triples = drawn_rows(np.random.default_rng(0)), set(), set()
    while True:
        chosen = islice(drawn, CANDIDATES)
        best = max(chosen, key=lambda row: (len(row.together(2) - pairs), len(row.together(3) - triples)))
        pairs |= best.together(2)
        triples |= best.together(3)
        yield best


def drawn_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Possible ones, without end."""
    while True:
        row = Row(**{name: levels[rng.integers(len(levels))] for name, levels in FACTORS.items()})
        if row.is_possible:
            yield row
