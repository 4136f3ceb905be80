"""How many equal parts a step takes around contacts, so that it sees them (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import (
    Reals,
    Tables,
    Truth,
    Vector,
    all_of,
    along,
    any_of,
    dot,
    of_lane,
    where,
)
from phlexible.step.kernels.elimination import factor_frame, solve_frame
from phlexible.step.kernels.floating_bodies import one
from phlexible.step.kernels.laws_of_functions import gather_gap
from phlexible.step.kernels.many.contacts_among_many import (
    at_end,
    at_start,
    members_push,
    normal_of,
    touched_at,
)
from phlexible.step.kernels.many.pair_friction import coefficients, find_arms, place_of
from phlexible.step.kernels.many.pairs_in_matrix import forget_held_pairs, frequency_of_pairs, hold
from phlexible.step.kernels.many.pieces import is_piece
from phlexible.step.kernels.step import inertia_matrix, motion_and_forces
from phlexible.step.kernels.vectors import mean_place, moved_by, outer, velocity_of
from phlexible.step.tables.declarations import CONTACT, INSET, MOST_PARTS

# How easily contacts move bodies, and so how stiff they are beside the masses (docs/theory.md, 8).


@compiled
def mobility(t: Tables, b: int, row: Reals, width: int) -> float:
    """g M^-1 g^T of carrier b, whose block is factored, for a row g; zero of one without inertia."""
    solved, total = t.trial_update, 0.0
    if b >= t.frames:
        for i in range(width):
            total += row[i] * row[i]
        return total / t.blocks[t.carrier_block[b]]
    lacks_inertia = t.hardness[b] < 0.0
    if all_of(lacks_inertia):
        return 0.0
    copy(row, solved, width)
    solve_frame(t, b, solved)
    for i in range(width):
        total += row[i] * solved[i]
    return where(lacks_inertia, 0.0, total)


@compiled
def steepest(stiffness: float, p: float, depth: float, change: float, total: float, h: float) -> float:
    """dN/dx, for p > 1 at the depth that the speed leads to, with the mobility ``total``."""
    is_steep, moves = p > 1.0, total > 0.0
    if not any_of(is_steep):
        return stiffness
    deep = (p + 1.0) * (change / h) ** 2 / (2.0 * stiffness * where(moves, total, 1.0))
    change = where(moves, min(change, deep ** (1.0 / (p + 1.0))), change)
    return where(is_steep, stiffness * p * (max(depth, 0.0) + change) ** (p - 1.0), stiffness)


@exported
def harden_pair(t: Tables, n: int, h: float) -> float:
    """Add N' g M^-1 g^T of a pair to each of its carriers; its omega^2 without friction or other pairs."""
    i, j = t.met_first[n], t.met_second[n]
    n_, s, z = normal_of(t, i, j)
    solid = j if t.member_kind[j] > INSET else i
    small = i + j - solid
    y = place_of(t, small, s + z) if is_piece(t, small) else mean_place(t, t.member_start[small])
    total = _member(t, i, s, n_, 0.0, y) + _member(t, j, z, n_, 0.0, y)
    rubbed_at = y
    c, reach, F = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j], at_start(t, i, j)[0]
    change = abs(at_end(t, i, j)[0] - F)
    slope = steepest(t.contact_group_stiffness[c], t.contact_group_exponent[c], reach - F, change, total, h)
    slope *= t.contact_group_share[c]
    stiffness, alone = slope * outer(n_, n_), slope * total
    if t.contact_group_friction[c] > 0.0:
        sticks = t.contact_group_share[c] * t.contact_group_bristle[c]
        slope += sticks
        stiffness = stiffness + sticks * (one() - outer(n_, n_))
    if t.member_kind[j] <= INSET and t.member_kind[i] <= INSET:
        rubbed_at = touched_at(t, i, j, s, place_of(t, i, s) - place_of(t, j, z))
    else:
        sign = 1.0 if solid == j else -1.0
        if t.member_axis[6 * small] >= 0:
            rubbed_at = y - (sign * t.member_radius[small]) * n_
    arms = t.touch_arm + 4 * t.touching_pairs
    find_arms(t, i, s, rubbed_at, arms)
    find_arms(t, j, z, rubbed_at, arms + 2)
    hold(t, i, j, s, z, stiffness, n_, arms)
    _member(t, i, s, n_, slope, y)
    _member(t, j, z, n_, slope, y)
    return alone


@compiled
def _member(t: Tables, m: int, share: float, normal: Vector, slope: float, y: Vector) -> float:
    """g M^-1 g^T of the place that touches on a member, times the slope added to the hardness of its carriers.

    ``y``: where something touches a solid.
    """
    p, q = t.member_start[m], t.member_end[m]
    a, b = t.vector_carrier[p], t.vector_carrier[q]
    if t.member_kind[m] > INSET:
        if a < 0:
            return 0.0
        axes, row = t.member_axis + 6 * m, t.contact_group_row
        fill(row, t.width_of[a], 0.0)
        _lever_into(t, p, 1.0, normal)
        arm = coefficients(t, axes, y - mean_place(t, p))
        for k in range(3):
            if t.vector_carrier[axes[k]] >= 0:
                _lever_into(t, axes[k], along(arm, k), normal)
        return _hardened(t, a, slope)
    if a == b:
        return _carrier(t, a, p, q, 1.0 - share, share, normal, slope)
    total = _carrier(t, a, p, p, 1.0 - share, 0.0, normal, slope)
    return total + _carrier(t, b, q, q, share, 0.0, normal, slope)


@compiled
def _carrier(t: Tables, b: int, p: int, q: int, one: float, other: float, normal: Vector, slope: float) -> float:
    if b < 0:
        return 0.0
    fill(t.contact_group_row, t.width_of[b], 0.0)
    _lever_into(t, p, one, normal)
    _lever_into(t, q, other, normal)
    return _hardened(t, b, slope)


@compiled
def _lever_into(t: Tables, k: int, share: float, normal: Vector) -> None:
    """How a normal force on a share of vector k enters the balance of its carrier."""
    for i in range(moved_by(t, k)):
        t.contact_group_row[velocity_of(t, k, i)] += share * dot((t.lever + t.vector_lever[k])[i], normal)


@compiled
def _hardened(t: Tables, b: int, slope: float) -> float:
    found = mobility(t, b, t.contact_group_row, t.width_of[b])
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


# How many equal parts a step takes around contacts, so that it sees them (docs/theory.md, 8).
#
# The frequency of contacts on a body is at most that of all of them together, omega^2 = sum of N' g M^-1 g^T with
# the row g of each gap (8.23); joints, which can only lower it, are left out.

LONGEST = 0.1  # step times frequency: a rebound comes 0.003 / omega late
LONGEST_TOGETHER = 0.3  # the same of all pairs among many together: 0.023 / omega


@exported
def contacts_push(t: Tables) -> Truth:
    """Whether a contact pushes at either end of the step that was tried last; notes which."""
    found = False
    for f in range(t.forces):
        t.touching[f] = 0.0
        if t.energy_of[f] != CONTACT:
            continue
        depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
        pushes = (depth > 0.0) | (depth - t.push_side[f] * t.theta_change[f] > 0.0)
        t.touching[f] = where(pushes, 1.0, 0.0)
        found = found | pushes
    return found | members_push(t)


@exported
def parts_around_contacts(t: Tables, h: float, longest: float, damping: float) -> float:
    """Parts of the steps, the longest of which is ``longest``, for the contacts that were noted in one of length h.

    A power of two, so that it stays the same where the frequency changes little; 1: the steps are short enough.
    Unknowns and forces of the step that was tried are as they were afterwards.
    """
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)  # without a change of the velocities
    inertia_matrix(t, h, 1.0)
    fill(t.hardness, t.carriers, 0.0)
    for b in range(t.frames):
        t.hardness[b] = where(factor_frame(t, b), 0.0, -1.0)
    for f in range(t.forces):
        if any_of(t.touching[f] > 0.0):
            _harden(t, f, h)
    largest = 0.0
    for f in range(t.forces):
        touches = t.touching[f] > 0.0
        if any_of(touches):
            largest = where(touches, max(largest, hardness_of_force(t, f)), largest)
    pairs = of_lane(t.met_count[0], 0)  # among many, which are not in lanes
    if pairs > 0:
        largest = max(largest, hardness_of_pairs(t, pairs, h, largest))
    copy(t.saved_velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)
    parts = where(largest > 0.0, 1.0, 1.0)
    while True:
        are_few = (parts < MOST_PARTS) & (longest * sqrt(largest) > LONGEST * parts)
        if not any_of(are_few):
            return parts
        parts = where(are_few, 2.0 * parts, parts)


@compiled
def hardness_of_pairs(t: Tables, pairs: int, h: float, others: float) -> float:
    """Largest omega^2 of a pair by itself, or a share of that of all pairs and ``others`` together."""
    alone, bound = 0.0, 0.0
    forget_held_pairs(t)
    for n in range(pairs):
        alone = max(alone, harden_pair(t, n, h))
    for n in range(pairs):
        bound = max(bound, hardness_of_pair(t, n))
    together = frequency_of_pairs(t, h)
    if together >= 0.0:
        bound = min(bound, together + others)
    return max(alone, bound * (LONGEST / LONGEST_TOGETHER) ** 2)


@compiled
def hardness_of_force(t: Tables, f: int) -> float:
    """Sum over the carriers of a contact."""
    total = 0.0
    for a in range(t.carrier_count[f]):
        total += max(t.hardness[t.group_node[t.group_start[f] + a]], 0.0)
    return total


@compiled
def _harden(t: Tables, f: int, h: float) -> None:
    """Add N' g M^-1 g^T of a contact to each of its carriers."""
    total = 0.0
    gather_gap(t, f)
    for a in range(t.carrier_count[f]):
        group = t.group_start[f] + a
        t.scratch[a] = mobility(
            t, t.group_node[group], t.left_gradient + t.group_place[group], t.group_width[group]
        )
        total += t.scratch[a]
    depth, change = t.push_side[f] * (t.force_rest[f] - t.theta0[f]), abs(t.theta_change[f])
    slope = steepest(t.force_stiffness[f], t.push_exponent[f], depth, change, total, h)
    slope *= 1.0 + t.push_loss[f] / t.force_stiffness[f]
    touches = t.touching[f] > 0.0
    if t.bristle_of[f] >= 0:
        slope += t.bristle_stiffness[t.bristle_of[f]]
    if t.rolling_of[f] >= 0:  # of a solid ball of this radius, whose centre moves as its surface turns
        slope += t.bristle_stiffness[t.rolling_of[f]] / (0.4 * t.slip_radius[f] * t.slip_radius[f])
    if t.drilling_of[f] >= 0:
        slope += t.bristle_stiffness[t.drilling_of[f]] / (0.4 * t.slip_radius[f] * t.slip_radius[f])
    slope *= t.push_share[f]
    for a in range(t.carrier_count[f]):
        t.hardness[t.group_node[t.group_start[f] + a]] += where(touches, slope * t.scratch[a], 0.0)
