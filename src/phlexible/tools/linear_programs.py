"""Least values by a sequence of linear programs: for costs without curvature, whose minima lie in corners.

R. Fletcher, E. Sainz de la Maza, *Nonlinear programming and nonsmooth optimization by successive linear
programming*, Mathematical Programming 43, 1989: each program has the cost and the conditions as they are to first
order, within a box about the last point that grows and shrinks by how well the program foresaw the sum of the cost
and of what conditions miss.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from phlexible.algebra.arrays import Array

BOX = 0.25
"""Half of its first width, of the size of unknowns."""
SMALL = 1e-9
"""Of the same: no program helps within."""
TAKEN, GOOD, POOR = 0.05, 0.75, 0.25
"""Of what was foreseen: from which on a point is taken, the box grows, and up to which it shrinks."""
CORRECTED = 2
"""Times at most that what conditions miss at a new point is brought to what was foreseen, by the least change: else
their curvature keeps boxes small (the effect of Maratos)."""
PRICES = 4
"""How often conditions may become ten times dearer."""
MET = 1e-8
"""Of the size of unknowns: conditions that miss less hold."""


@dataclass(frozen=True, eq=False)
class CornerSearch:
    """Where a sequence of linear programs ended, in the terms of ``scipy.optimize.minimize``."""

    x: Array
    success: bool
    message: str


def least_in_corners(
    values: Callable[[Array], tuple[float, Array]],
    slopes: Callable[[Array], tuple[Array, Array]],
    x: Array,
    low: Array,
    high: Array,
    most: int,
    accuracy: float,
    note: Callable[[float], None],
) -> CornerSearch:
    """The unknowns of the least cost among those that make the conditions zero.

    Args:
        values: cost and conditions, of unknowns of size 1.
        slopes: of both, shapes (n,) and (conditions, n).
        x: the first unknowns, within bounds.
        low: bounds, shape (n,); infinite where there is none.
        high: as low.
        most: programs.
        accuracy: relative, of the least cost.
        note: called with the cost after each program.
    """
    cost, missed = values(x)
    of_cost, of_missed = slopes(x)
    count, size = len(missed), float(np.abs(of_cost).max()) or 1.0
    price, box, raised = 10.0 * size, BOX, 0

    def gained(cost: float, missed: Array) -> float:
        return merit - cost - price * float(np.abs(missed).sum())

    for _ in range(most):
        found = linprog(
            np.concatenate([of_cost, np.full(2 * count, price)]),
            A_eq=np.hstack([of_missed, np.eye(count), -np.eye(count)]) if count else None,
            b_eq=-missed if count else None,
            bounds=np.vstack(
                [
                    np.column_stack([np.maximum(low - x, -box), np.minimum(high - x, box)]),
                    np.tile([0.0, np.inf], (2 * count, 1)),
                ]
            ),
            method="highs",
        )
        if not found.success:
            return CornerSearch(x, False, found.message)
        change, less, more = np.split(found.x, [len(x), len(x) + count])
        merit = cost + price * float(np.abs(missed).sum())
        foreseen = merit - cost - float(found.fun)
        if foreseen <= accuracy * max(abs(cost), size) or box < SMALL:
            if np.abs(missed).max(initial=0.0) <= MET or raised == PRICES:
                note(cost)
                return CornerSearch(x, box >= SMALL, "no program makes it less")
            price, box, raised = 10 * price, BOX, raised + 1
            continue
        other = np.clip(x + change, low, high)
        reached, left = values(other)
        share = gained(reached, left) / foreseen
        for _ in range(CORRECTED):
            if share > GOOD:
                break
            is_inside = (other > low + SMALL) & (other < high - SMALL)
            nearer = other.copy()
            nearer[is_inside] -= np.linalg.lstsq(of_missed[:, is_inside], left - (more - less), rcond=None)[0]
            nearer = np.clip(nearer, low, high)
            cost_there, left_there = values(nearer)
            share_there = gained(cost_there, left_there) / foreseen
            if share_there <= share:
                break
            other, reached, left, share = nearer, cost_there, left_there, share_there
        if share > TAKEN:
            x, cost, missed = other, reached, left
            of_cost, of_missed = slopes(x)
        box = 2 * box if share > GOOD else box / 3 if share < POOR else box
        note(cost)
    return CornerSearch(x, False, "the most programs were taken")
