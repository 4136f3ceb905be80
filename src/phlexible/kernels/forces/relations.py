"""Relations sum_i c_i theta_i = constant of coordinates, such as gears (docs/theory.md, 8).

A relation is a constraint without functions of its own. Each of its coordinates is a law whose force is c_i times
the multiplier, along the discrete derivative (8.16).
"""

from math import floor, pi

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Tables


@compiled
def nearest_turn(measured: float, counted: float) -> float:
    """The angle over full turns that is ``measured`` modulo 2 pi, next to one that was counted."""
    return measured + 2.0 * pi * floor((counted - measured) / (2.0 * pi) + 0.5)


@compiled
def is_held(t: Tables, row: int) -> bool:
    """Whether a constrained function is held; events release and hold some."""
    switch = t.row_switch[row]
    return switch < 0 or t.held[switch] == t.held[switch]


@compiled
def held_at(t: Tables, row: int) -> float:
    """Where it is held; zero where nothing moves that."""
    switch = t.row_switch[row]
    return t.held[switch] if switch >= 0 else 0.0


@compiled
def relation_gap(t: Tables, row: int) -> float:
    """sum of c_i theta_i at the end of the step; zero of a row that is no relation."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += t.force_factor[f] * (t.theta0[f] + t.theta_change[f])
    return total


@compiled
def relation_size(t: Tables, row: int) -> float:
    """What round-off of it is compared with."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += abs(t.force_factor[f]) * (abs(t.theta0[f]) + abs(t.theta_change[f]))
    return total


@compiled
def relate(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """Column of the multiplier of the relation that pulls on force f, and its row, from the law's gradients."""
    factor = t.force_factor[f]
    pulls = t.force_row[f] >= 0 and is_held(t, t.force_row[f])
    for a in range(t.carrier_count[f] if pulls else 0):
        group = t.group_start[f] + a
        upper, lower = t.blocks + t.group_upper[group], t.blocks + t.group_lower[group]
        for r in range(count):
            place = r * numbers + t.group_place[group]
            left, right = t.left_gradient + place, t.right_gradient + place
            force, rate = h * factor * t.along[begin + r], factor * t.slope[begin + r] / h
            for i in range(t.group_width[group]):
                upper[i] -= force * left[i]
                lower[i] += rate * right[i]
