"""Friction of a joint by the force that it transmits itself (docs/theory.md, 8)."""

from math import sqrt

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Tables


@compiled
def transmitted(t: Tables, f: int) -> float:
    """|R| of the joint whose force makes friction f: of multipliers along directions at right angles (8.31)."""
    rows, total = t.multiplier1 + t.interaction_start[t.bearing[f]], 0.0
    for r in range(t.bearing_rows[f]):
        total += rows[r] * rows[r]
    return sqrt(total)


@compiled
def bear(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """What its multipliers do to the balances by the friction, into the columns of the joint."""
    node, size, rate = t.constraint_node[t.bearing[f]], transmitted(t, f), t.theta_change[f] / h
    rows = t.multiplier1 + t.interaction_start[t.bearing[f]]
    if size == 0.0:
        return
    slope = h * t.bearing_share[f] * rate / (max(abs(rate), t.friction_speed[f]) * size)
    for a in range(t.carrier_count[f]):
        group = t.group_start[f] + a
        for k in range(count):
            left = t.left_gradient + (k * numbers + t.group_place[group])
            for i in range(t.group_width[group]):
                line, force = t.blocks + (t.group_upper[group] + i * t.node_size[node]), slope * t.along[begin + k]
                for r in range(t.bearing_rows[f]):
                    line[r] += force * rows[r] * left[i]
