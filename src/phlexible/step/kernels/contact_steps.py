"""Number of equal substeps of a step around contacts, so that their oscillation is resolved (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import copy, fill, product
from phlexible.step.compilation.notation import (
    Reals,
    Tables,
    Truth,
    Vector,
    along,
    dot,
    of_lane,
    vector,
    where,
)
from phlexible.step.kernels.floating_bodies import one
from phlexible.step.kernels.laws_of_functions import gather_gap
from phlexible.step.kernels.many.contacts_among_many import (
    distance_at,
    members_push,
    normal_of,
    touched_at,
)
from phlexible.step.kernels.many.member_ends import in_axes, know_ends, none, place_of
from phlexible.step.kernels.many.pair_friction import gyration
from phlexible.step.kernels.many.pairs_in_matrix import forget_held_pairs, frequency_of_pairs, hold
from phlexible.step.kernels.many.pieces import is_piece
from phlexible.step.kernels.many.solids import lowest_place
from phlexible.step.kernels.solver.elimination import factor_frame, solve_carrier
from phlexible.step.kernels.step import inertia_matrix, motion_and_forces
from phlexible.step.kernels.vectors import mean_place, moved_by, outer, velocity_of
from phlexible.step.tables.declarations import CONTACT, INSET, MOST_PARTS, MOVING, RIM

FIRM = 1e300  # load of what does not move
LITTLE = 1.0 / 1024.0  # share of a step, in which what goes round goes straight on

# How easily contacts move bodies, and so how stiff they are beside the masses (docs/theory.md, 8).


@compiled
def mobility(t: Tables, b: int, row: Reals, width: int) -> float:
    """Return the mobility g M^-1 g^T of carrier b, whose block is factored, for a row g; zero without inertia."""
    copy(row, t.trial_update, width)
    solve_carrier(t, b, t.trial_update)
    return where(t.hardness[b] < 0.0, 0.0, product(row, t.trial_update, width))


@compiled
def steepest(stiffness: float, p: float, depth: float, change: float, total: float, h: float) -> float:
    """Return dN/dx, for p > 1 at the penetration that the speed leads to, with the mobility ``total``."""
    if p == 1.0:
        return stiffness
    if total > 0.0:
        deep = (p + 1.0) * (change / h) ** 2 / (2.0 * stiffness * total)
        change = min(change, deep ** (1.0 / (p + 1.0)))
    return stiffness * p * (max(depth, 0.0) + change) ** (p - 1.0)


# What rests or rolls on a contact, or slides on it steadily, is resolved by steps of any length: its forces stay
# what they are. So omega counts as far as the force of a contact swings, beside the load of its bodies: the
# greatest F sqrt(g M^-1 g^T) of their contacts at rest, of the body that has less, whose unit is that of forces and
# moments alike. A hit swings by all of it.
# Bristles likewise, beside what friction can hold of that.


@compiled
def resting_force(stiffness: float, p: float, depth: float, change: float) -> float:
    """Contact force at the mean of the penetrations at both ends of a step."""
    rest = 0.5 * (max(depth, 0.0) + max(depth + change, 0.0))
    return stiffness * rest if p == 1.0 else stiffness * rest**p


@compiled
def swing(square: float, h: float, ahead: float, change: float) -> float:
    """Amplitude of a spring's oscillation in a step, from the speeds at its ends and its acceleration.

    Args:
        square: omega^2.
        h: the step [s].
        ahead: change of the spring's length in the step at the speed of its start.
        change: its actual change.
    """
    theta = abs(h) * sqrt(square) if square > 0.0 else 1.0
    far = (0.5 * (abs(ahead) + abs(2.0 * change - ahead)) + 2.0 * abs(change - ahead) / theta) / theta
    return far + 0.5 * abs(change)


@compiled
def beside(force: float, load: float) -> float:
    """Factor of omega^2 for a force and a load: their ratio to the power 4/3, at most 1.

    The error of a force is then 8e-5 of the load over it.
    """
    return (force / load) ** (4.0 / 3.0) if force < load else 1.0


@compiled
def that_swings(stiffness: float, mobility: float, h: float, ahead: float, change: float, load: float) -> float:
    """Return the share of a stiffness that counts for its oscillation in a step (``swing``), compared with a
    load."""
    return stiffness * beside(stiffness * swing(stiffness * mobility, h, ahead, change), load)


@compiled
def load_member(t: Tables, m: int, load: float) -> None:
    """Raise the loads of the carriers of a member to ``load`` where it is larger."""
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    if a >= 0:
        t.loaded[a] = max(t.loaded[a], load)
    if b >= 0:
        t.loaded[b] = max(t.loaded[b], load)


@compiled
def load_of_pair(t: Tables, n: int) -> float:
    """Return the normal force of a pair [N] that equals the smaller load of its two members."""
    least = min(_load_of_member(t, t.met_first[n]), _load_of_member(t, t.met_second[n]))
    return least / sqrt(t.met_mobility[n]) if t.met_mobility[n] > 0.0 else FIRM


@compiled
def _load_of_member(t: Tables, m: int) -> float:
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    if a < 0 and b < 0:
        return FIRM
    return max(t.loaded[a] if a >= 0 else 0.0, t.loaded[b] if b >= 0 else 0.0)


@exported
def load_pairs(t: Tables, pairs: int) -> None:
    """Store the mobilities of pairs, and raise the loads of their bodies to those of their resting forces."""
    for n in range(pairs):
        i, j = t.met_first[n], t.met_second[n]
        normal, s, z, _, y = _touched(t, i, j)
        t.met_mobility[n] = _member(t, i, s, normal, 0.0, y) + _member(t, j, z, normal, 0.0, y)
        c, depth = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j] - distance_at(t, i, j, 0.0)[0]
        k, p = t.contact_group_stiffness[c], t.contact_group_exponent[c]
        load = resting_force(k, p, depth, t.met_change[n]) * sqrt(max(t.met_mobility[n], 0.0))
        load_member(t, i, load)
        load_member(t, j, load)


@compiled
def load_force(t: Tables, f: int) -> None:
    """Store the mobility of a stop, and raise the loads of its bodies to that of its resting force."""
    total = 0.0
    gather_gap(t, f)
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        row = t.left_gradient + t.group_place[group]
        t.group_mobility[group] = mobility(t, t.group_node[group], row, t.group_width[group])
        total += t.group_mobility[group]
    t.mobility[f] = total
    depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
    load = resting_force(t.force_stiffness[f], t.push_exponent[f], depth, t.sunk[f]) * sqrt(max(total, 0.0))
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        b = t.group_node[group]
        t.loaded[b] = max(t.loaded[b], load)


@compiled
def load_of_force(t: Tables, f: int) -> float:
    """Return the force along the coordinate of a stop [N, N m] that equals the smallest load of its bodies."""
    least = FIRM
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        least = min(least, t.loaded[t.group_node[group]])
    return least / sqrt(t.mobility[f]) if t.mobility[f] > 0.0 else FIRM


@compiled
def _touched(t: Tables, i: int, j: int) -> tuple[Vector, float, float, int, Vector]:
    """Return the normal of two members, the parameters of the contact on both axes, the member that is no solid,
    and its contact point."""
    normal, s, z = normal_of(t, i, j)
    solid = j if t.member_kind[j] > RIM else i
    small = i + j - solid
    y = place_of(t, small, s + z) if is_piece(t, small) else mean_place(t, t.member_start[small])
    if t.member_kind[small] == RIM:
        y = lowest_place(t, small, (1.0 if solid == j else -1.0) * normal)
    return normal, s, z, small, y


@exported
def harden_pair(t: Tables, n: int, h: float) -> float:
    """Add N' g M^-1 g^T of a pair to each of its carriers, and return its omega^2 without friction or other
    pairs."""
    i, j = t.met_first[n], t.met_second[n]
    n_, s, z, small, y = _touched(t, i, j)
    rubbed_at, total = y, t.met_mobility[n]
    c, depth = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j] - distance_at(t, i, j, 0.0)[0]
    k, p, load = t.contact_group_stiffness[c], t.contact_group_exponent[c], load_of_pair(t, n)
    slope = steepest(k, p, depth, abs(t.met_ahead[n]), total, h) * (1.0 + t.contact_group_impact[c] / k)
    if t.contact_group_friction[c] == 0.0 or t.contact_group_bristle[c] > 0.0:  # what creeps changes fast
        slope = that_swings(slope, total, h, t.met_ahead[n], t.met_change[n], load)
    slope *= t.contact_group_share[c]
    stiffness, alone = slope * outer(n_, n_), slope * total
    if t.contact_group_bristle[c] > 0.0:
        bend, limit = t.met_bend[3 * n], t.contact_group_friction[c] * load
        sticks = t.contact_group_share[c] * that_swings(t.contact_group_bristle[c], total, h, bend, bend, limit)
        slope += sticks
        stiffness = stiffness + sticks * (one() - outer(n_, n_))
    if t.member_kind[j] <= RIM and t.member_kind[i] <= RIM:
        rubbed_at = touched_at(t, i, j, s, place_of(t, i, s) - place_of(t, j, z))
    else:
        sign = 1.0 if small == i else -1.0
        if t.member_axis[6 * small] >= 0:
            rubbed_at = y - (sign * t.member_radius[small]) * n_
    know_ends(t, i)
    know_ends(t, j)
    twist, weight = none(), gyration(t, i, j) if t.turning_pairs > 0 else 0.0
    if weight > 0.0:
        rolls = _resists(t, c, 3 * n + 1, load * t.contact_group_rolling[c], weight, total, h)
        drills = _resists(t, c, 3 * n + 2, load * t.contact_group_drilling[c], weight, total, h)
        slope += rolls + drills
        twist = weight * (rolls * (one() - outer(n_, n_)) + drills * outer(n_, n_))
    place = hold(t, i, j, s, z, stiffness, n_, rubbed_at - place_of(t, i, s), rubbed_at - place_of(t, j, z))
    if weight > 0.0 and place >= 0:
        t.held_twist[place] = twist
    _member(t, i, s, n_, slope, y)
    _member(t, j, z, n_, slope, y)
    return alone


@compiled
def _resists(t: Tables, c: int, bend: int, limit: float, gyration: float, total: float, h: float) -> float:
    """Rotational stiffness over the squared radius of gyration, as far as it oscillates; zero without
    resistance."""
    if limit == 0.0:
        return 0.0
    k, change = gyration * t.contact_group_turn_stiffness[c], t.met_bend[bend]
    return t.contact_group_share[c] * that_swings(k, total / gyration, h, change, change, limit) / gyration


@compiled
def _member(t: Tables, m: int, share: float, normal: Vector, slope: float, y: Vector) -> float:
    """Return g M^-1 g^T of the contact point on a member, and add it times ``slope`` to the stiffness of its
    carriers.

    ``y``: position of the contact on a solid.
    """
    p, q = t.member_start[m], t.member_end[m]
    a, b = t.vector_carrier[p], t.vector_carrier[q]
    if t.member_kind[m] > INSET:
        if a < 0:
            return 0.0
        axes, row = t.member_axis + 6 * m, t.contact_group_row
        fill(row, t.velocities_count[a], 0.0)
        _lever_into(t, p, 1.0, normal)
        know_ends(t, m)
        arm = in_axes(t, m, y - mean_place(t, p))
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
    fill(t.contact_group_row, t.velocities_count[b], 0.0)
    _lever_into(t, p, one, normal)
    _lever_into(t, q, other, normal)
    return _hardened(t, b, slope)


@compiled
def _lever_into(t: Tables, k: int, share: float, normal: Vector) -> None:
    """Add a share of a normal force on vector k to the row of its carrier."""
    for i in range(moved_by(t, k)):
        t.contact_group_row[velocity_of(t, k, i)] += share * dot((t.lever + t.lever_vectors_begin[k])[i], normal)


@compiled
def _hardened(t: Tables, b: int, slope: float) -> float:
    found = mobility(t, b, t.contact_group_row, t.velocities_count[b])
    if t.hardness[b] >= 0.0:
        t.hardness[b] += slope * found
    return found


@exported
def hardness_of_pair(t: Tables, n: int) -> float:
    """Sum of the contact stiffness over mass of the carriers of both members, each once."""
    i, j = t.met_first[n], t.met_second[n]
    return _hardness(t, i) + _hardness(t, j)


@compiled
def _hardness(t: Tables, m: int) -> float:
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    own = max(t.hardness[a], 0.0) if a >= 0 else 0.0
    return own + max(t.hardness[b], 0.0) if b >= 0 and b != a else own


# The frequency of contacts on a body is at most that of all of them together, omega^2 = sum of N' g M^-1 g^T with
# the row g of each gap (8.23); joints, which can only lower it, are left out.

LONGEST = 0.1  # step times frequency: a rebound comes 0.003 / omega late
LONGEST_TOGETHER = 0.3  # the same of all pairs among many together: 0.023 / omega


@exported
def contacts_push(t: Tables) -> Truth:
    """Whether a contact pushes at either end of the step that was tried last; stores which do, and their motion."""
    found = False
    for f in range(t.forces):
        t.touching[f] = 0.0
        if t.energy_of[f] != CONTACT:
            continue
        depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
        t.sunk[f] = -t.push_side[f] * t.theta_change[f]
        pushes = (depth > 0.0) | (depth + t.sunk[f] > 0.0)
        t.touching[f] = where(pushes, 1.0, 0.0)
        found = found | pushes
    return found | members_push(t)


@exported
def parts_around_contacts(t: Tables, h: float, longest: float, damping: float) -> float:
    """Return the number of substeps for the stored contacts, where the longest step is ``longest`` [s].

    A power of two, so that it stays the same where the frequency changes little; 1: the steps are short enough.
    Unknowns and forces of the step that was tried are restored afterwards.
    """
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    pairs = of_lane(t.met_count[0], 0)  # among many, which are not in lanes
    note_speeds(t, h, damping, pairs)
    motion_and_forces(t, h, damping)  # without a change of the velocities
    for b in range(t.frames):
        t.half_turn[b] = vector(0.0, 0.0, 0.0)
    inertia_matrix(t, h, 0.0, 0.0)
    fill(t.hardness, t.carriers, 0.0)
    fill(t.loaded, t.carriers, 0.0)
    for b in range(t.frames):
        t.hardness[b] = where(factor_frame(t, b), 0.0, -1.0)
    load_pairs(t, pairs)
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            load_force(t, f)
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            _harden(t, f, h)
    largest = 0.0
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            largest = max(largest, hardness_of_force(t, f))
    if pairs > 0:
        largest = max(largest, hardness_of_pairs(t, pairs, h, longest, largest))
    copy(t.saved_velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)
    parts = 1.0
    while parts < MOST_PARTS and longest * sqrt(largest) > LONGEST * parts:
        parts *= 2.0
    return parts


@compiled
def note_speeds(t: Tables, h: float, damping: float, pairs: int) -> None:
    """Store the changes of penetrations in the step at the speeds of its start, along straight paths."""
    slow_given(t, LITTLE)
    motion_and_forces(t, LITTLE * h, damping)
    for f in range(t.forces):
        t.ahead[f] = -t.push_side[f] * t.theta_change[f] / LITTLE
    for n in range(pairs):
        i, j = t.met_first[n], t.met_second[n]
        t.met_ahead[n] = (distance_at(t, i, j, 0.0)[0] - distance_at(t, i, j, 1.0)[0]) / LITTLE
    slow_given(t, 1.0 / LITTLE)


@compiled
def slow_given(t: Tables, share: float) -> None:
    """Scale the changes of prescribed vectors by a share."""
    for k in range(t.vectors):
        if t.vector_carrier[k] == MOVING:
            t.change[k] = share * t.change[k]


@compiled
def hardness_of_pairs(t: Tables, pairs: int, h: float, longest: float, others: float) -> float:
    """Largest omega^2 of a single pair, or a share of that of all pairs and ``others`` combined."""
    alone, bound, share = 0.0, 0.0, (LONGEST / LONGEST_TOGETHER) ** 2
    forget_held_pairs(t)
    for n in range(pairs):
        alone = max(alone, harden_pair(t, n, h))
    for n in range(pairs):
        bound = max(bound, hardness_of_pair(t, n))
    least = max(alone, (LONGEST / longest) ** 2)  # which asks for no parts
    if share * bound > least:
        together = frequency_of_pairs(t, h)
        if together >= 0.0:
            bound = min(bound, together + others)
    return max(alone, share * bound)


@compiled
def hardness_of_force(t: Tables, f: int) -> float:
    """Sum of the contact stiffness over mass of the carriers of a stop."""
    total = 0.0
    for a in range(t.carrier_count[f]):
        total += max(t.hardness[t.group_node[t.groups_begin[f] + a]], 0.0)
    return total


@compiled
def _harden(t: Tables, f: int, h: float) -> None:
    """Add N' g M^-1 g^T of a stop to each of its carriers."""
    total, depth = t.mobility[f], t.push_side[f] * (t.force_rest[f] - t.theta0[f])
    slope = steepest(t.force_stiffness[f], t.push_exponent[f], depth, abs(t.ahead[f]), total, h)
    slope *= 1.0 + t.push_loss[f] / t.force_stiffness[f]
    slope = that_swings(slope, total, h, t.ahead[f], t.sunk[f], load_of_force(t, f))
    slope *= t.push_share[f]
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        t.hardness[t.group_node[group]] += slope * t.group_mobility[group]
