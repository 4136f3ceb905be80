"""How easily contacts move bodies, and so how stiff they are beside the masses (docs/theory.md, 8)."""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.dense import copy, fill
from phlexible.compilation.notation import Reals, Tables, Vector, dot
from phlexible.kernels.contacts.crowds import at_end, at_start
from phlexible.kernels.elimination import solve_frame
from phlexible.kernels.vectors import mean_place, moved_by, velocity_of


@compiled
def mobility(t: Tables, b: int, row: Reals, width: int) -> float:
    """g M^-1 g^T of carrier b, whose block is factored, for a row g; zero of one without inertia."""
    solved, total = t.trial_update, 0.0
    if b >= t.frames:
        for i in range(width):
            total += row[i] * row[i]
        return total / t.blocks[t.carrier_block[b]]
    if t.hardness[b] < 0.0:
        return 0.0
    copy(row, solved, width)
    solve_frame(t, b, solved)
    for i in range(width):
        total += row[i] * solved[i]
    return total


@compiled
def steepest(stiffness: float, p: float, depth: float, change: float, total: float, h: float) -> float:
    """dN/dx, for p > 1 at the depth that the speed leads to, with the mobility ``total``."""
    if p > 1.0:
        if total > 0.0:
            deep = (p + 1.0) * (change / h) ** 2 / (2.0 * stiffness * total)
            change = min(change, deep ** (1.0 / (p + 1.0)))
        return stiffness * p * (max(depth, 0.0) + change) ** (p - 1.0)
    return stiffness


@exported
def harden_pair(t: Tables, n: int, h: float) -> None:
    """Add N' g M^-1 g^T of a pair of a crowd to each of its carriers."""
    i, j = t.met_first[n], t.met_second[n]
    F, s, z = at_start(t, i, j)
    p, q, k, l = t.member_start[i], t.member_end[i], t.member_start[j], t.member_end[j]
    e = (1.0 - s) * mean_place(t, p) + s * mean_place(t, q)
    e = e - (1.0 - z) * mean_place(t, k) - z * mean_place(t, l)
    size = dot(e, e) ** 0.5
    n_ = (1.0 / size) * e if size > 0.0 else e
    total = _member(t, i, s, n_, 0.0) + _member(t, j, z, n_, 0.0)
    c, reach = t.member_crowd[i], t.member_radius[i] + t.member_radius[j]
    change = abs(at_end(t, i, j)[0] - F)
    slope = steepest(t.crowd_stiffness[c], t.crowd_exponent[c], reach - F, change, total, h)
    _member(t, i, s, n_, slope)
    _member(t, j, z, n_, slope)


@compiled
def _member(t: Tables, m: int, share: float, normal: Vector, slope: float) -> float:
    """g M^-1 g^T of the place that touches on a member, times the slope added to the hardness of its carriers."""
    p, q = t.member_start[m], t.member_end[m]
    a, b = t.vector_carrier[p], t.vector_carrier[q]
    if a == b:
        return _carrier(t, a, p, q, 1.0 - share, share, normal, slope)
    total = _carrier(t, a, p, p, 1.0 - share, 0.0, normal, slope)
    return total + _carrier(t, b, q, q, share, 0.0, normal, slope)


@compiled
def _carrier(t: Tables, b: int, p: int, q: int, one: float, other: float, normal: Vector, slope: float) -> float:
    if b < 0:
        return 0.0
    fill(t.crowd_row, t.width_of[b], 0.0)
    for i in range(moved_by(t, p)):
        t.crowd_row[velocity_of(t, p, i)] += one * dot((t.lever + t.vector_lever[p])[i], normal)
    for i in range(moved_by(t, q)):
        t.crowd_row[velocity_of(t, q, i)] += other * dot((t.lever + t.vector_lever[q])[i], normal)
    found = mobility(t, b, t.crowd_row, t.width_of[b])
    if t.hardness[b] >= 0.0:
        t.hardness[b] += slope * found
    return found


@exported
def hardness_of_pair(t: Tables, n: int) -> float:
    """Sum over the carriers of both members, each once."""
    i, j = t.met_first[n], t.met_second[n]
    return _hardness(t, i) + _hardness(t, j)


@compiled
def _hardness(t: Tables, m: int) -> float:
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    own = max(t.hardness[a], 0.0) if a >= 0 else 0.0
    return own + max(t.hardness[b], 0.0) if b >= 0 and b != a else own
