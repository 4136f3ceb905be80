"""Friction of contact pairs, with a bristle between the contact points of each pair (docs/theory.md, 8).

Sliding and its forces are those of (8.28), the law is that of (8.42). Bristles are stored in the list
``pair_bristle``, in the order of the numbers of their pairs: the number, less than zero after a step that slipped,
and z in axes of one of both bodies.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Reals, Tables, Vector, cross, dot, value_of, vector
from phlexible.step.kernels.bristles import crept, held
from phlexible.step.kernels.floating_bodies import one, unit
from phlexible.step.kernels.many.member_ends import (
    forget_ends,
    in_axes,
    know_ends,
    none,
    place_of,
    pull_at,
    slides,
)
from phlexible.step.kernels.many.solids import axis_mean, drilling_radius
from phlexible.step.kernels.vectors import mean_place, outer
from phlexible.step.tables.declarations import DRILLED, INSET, MET, PAIR, RIM, SLIPS, TURN

# Bristles of pairs, merged step by step with the list of the pairs that touch.


@compiled
def begin_pairs(t: Tables) -> None:
    """Reset the lists of pairs and the cached frames of ends, at the start of an evaluation of the forces."""
    forget_ends(t)
    t.pair_cursor[0], t.pair_cursor[1] = 0, 0


@compiled
def _size(t: Tables, place: int) -> float:
    own = t.pair_bristle + PAIR * place
    return own[1] * own[1] + own[2] * own[2] + own[3] * own[3]


@compiled
def _energy(t: Tables, place: int) -> float:
    """Energy that bristles of a pair store at the start of the step [J]."""
    number = int(abs(value_of(t.pair_bristle[PAIR * place])) - 1.0)  # first member times their count and second one
    i, j = number // t.members, number % t.members
    c = t.member_contact_group[i]
    total = 0.5 * t.contact_group_bristle[c] * _size(t, place)
    if t.kept_turns > 0:
        z, square = t.pair_turn + TURN * place, 0.0
        for k in range(SLIPS):
            square += z[k] * z[k]
        if square > 0.0:
            total += 0.5 * t.contact_group_turn_stiffness[c] * gyration(t, i, j) * square
    return total


@compiled
def gyration(t: Tables, i: int, j: int) -> float:
    """Return 0.4 r^2 of the sphere of two members; zero where rotations are not resisted.

    One is a sphere with a rotation, the other has a rotation too or is fixed; the first one counts.
    """
    small = i if _is_ball(t, i) else j
    other = i + j - small
    if not _is_ball(t, small) or t.member_axis[6 * other] < 0 or t.member_start[other] != t.member_end[other]:
        return 0.0
    return 0.4 * t.member_radius[small] * t.member_radius[small]


@compiled
def _is_ball(t: Tables, m: int) -> bool:
    is_round = t.member_kind[m] <= INSET and t.member_radius[m] > 0.0
    return is_round and t.member_axis[6 * m] >= 0 and t.member_start[m] == t.member_end[m]


@compiled
def lose_pair(t: Tables, place: int) -> None:
    """Add the energy of a pair whose bodies have separated to the losses; -1: there is none."""
    if place < 0:
        return
    energy = _energy(t, place)
    t.contact_group_work[0] -= energy
    t.contact_group_work[1] += energy
    t.contact_group_loss[0] += energy


@compiled
def find_pair(t: Tables, i: int, j: int) -> int:
    """Return the index of a pair among those of the last step, or -1; pairs must come in the order of their
    numbers."""
    c = t.member_contact_group[i]
    if t.contact_group_friction[c] == 0.0 and t.contact_group_impact[c] == 0.0:
        return -1
    place, number = t.pair_cursor[0], number_of(t, i, j)
    while place < t.kept_pairs:
        known = abs(t.pair_bristle[PAIR * place])
        if known == 0.0 or known >= number:
            break
        lose_pair(t, place)
        place += 1
    found = place < t.kept_pairs and abs(t.pair_bristle[PAIR * place]) == number
    t.pair_cursor[0] = place + 1 if found else place
    return place if found else -1


@compiled
def number_of(t: Tables, i: int, j: int) -> float:
    """Return the number of a pair, more than zero."""
    return float(min(i, j)) * t.members + float(max(i, j)) + 1.0


@compiled
def bend_of_pair(t: Tables, i: int, j: int, met: int, place: int) -> int:
    """Copy the deflection of a pair's bristles in the step that was tried to ``met_bend``.

    Pairs come in the order of their numbers; returns the index at which to continue in the stored list.
    """
    number = number_of(t, i, j)
    while place < t.kept_pairs and 0.0 < abs(t.pair_bristle_end[PAIR * place]) < number:
        place += 1
    is_there = place < t.kept_pairs and abs(t.pair_bristle_end[PAIR * place]) == number
    for k in range(3):
        t.met_bend[3 * met + k] = t.pair_bend[3 * place + k] if is_there else 0.0
    return place


@compiled
def end_pairs(t: Tables) -> None:
    """Add the energies of pairs that no longer touch to the losses, and clear the rest of the new list."""
    place = t.pair_cursor[0]
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        lose_pair(t, place)
        place += 1
    place = t.pair_cursor[1]
    while place < t.kept_pairs and t.pair_bristle_end[PAIR * place] != 0.0:  # behind the end there are zeros
        for k in range(PAIR * place, PAIR * place + PAIR):
            t.pair_bristle_end[k] = 0.0
        for k in range(TURN * place, TURN * place + TURN if t.kept_turns > 0 else 0):
            t.pair_turn_end[k] = 0.0
        place += 1


@compiled
def note_touch(t: Tables, i: int, j: int, s: float, z: float, y: Vector, n: Vector, slope: float) -> int:
    """Store the contact of two members at y along n, with dN/dx, for friction and Newton's matrix; return its
    index.

    Index ``touching_pairs``: there is no room, and only the arms are stored.
    """
    place = t.touch_count[0]
    know_ends(t, i)
    know_ends(t, j)
    t.touch_arm[2 * place], t.touch_arm[2 * place + 1] = y - place_of(t, i, s), y - place_of(t, j, z)
    if place == t.touching_pairs:
        return place
    t.touch_first[place], t.touch_second[place], t.touch_normal[place] = i, j, n
    t.touch_share[2 * place], t.touch_share[2 * place + 1] = s, z
    own, nothing = t.touch_stiffness + 3 * place, vector(0.0, 0.0, 0.0)
    own[0], own[1], own[2] = slope, 0.0, 0.0
    if t.turning_pairs > 0:
        t.touch_twist[place] = none()
    t.touch_slip[place], t.touch_level[place] = nothing, nothing
    t.touch_count[0] = place + 1
    return place


@compiled
def rub_pair(
    t: Tables, i: int, j: int, s: float, z: float, n: Vector, normal: float, h: float, touch: int, known: int
) -> None:
    """Record the normal force of two members in its direction n, and compute their friction at a contact of
    ``note_touch``.

    Its derivatives (8.44) are added there. History variables of the pair are stored if there is room; ``known``:
    index of the pair in the last step.
    """
    c, remembers = t.member_contact_group[i], t.kept_turns > 0 and t.pair_met[0] > 0.0
    rubs = t.contact_group_friction[c] > 0.0 and normal > 0.0
    if t.contact_group_law[c] >= 0:
        f = t.contact_group_law[c] + t.member_law[i] + t.member_law[j]
        t.scalar_force[f] = t.push_side[f] * normal
    if not rubs:
        lose_pair(t, known)
    if not rubs and not (remembers and t.contact_group_impact[c] > 0.0):
        return
    place = t.pair_cursor[1] if t.pair_cursor[1] < t.kept_pairs else -1
    if place >= 0:
        own = t.pair_bristle_end + PAIR * place
        own[0], own[1], own[2], own[3] = number_of(t, i, j), 0.0, 0.0, 0.0
        for k in range(3):
            t.pair_bend[3 * place + k] = 0.0
        for k in range(TURN if t.kept_turns > 0 else 0):
            t.pair_turn_end[TURN * place + k] = 0.0
        if t.contact_group_impact[c] > 0.0:
            t.pair_turn_end[TURN * place + MET] = t.pair_met[0]
        t.pair_cursor[1] = place + 1
    if rubs:
        _slide(t, i, j, s, z, n, normal, h, touch, known, place)
        if t.contact_group_rolling[c] > 0.0 or t.contact_group_drilling[c] > 0.0:
            _turn(t, i, j, n, normal, h, touch, known, place)


@compiled
def _slide(
    t: Tables,
    i: int,
    j: int,
    s: float,
    z: float,
    n: Vector,
    normal: float,
    h: float,
    touch: int,
    known: int,
    place: int,
) -> None:
    """Compute force, derivatives and end deflection of the bristle along the surface."""
    arms, c, carrier = t.touch_arm + 2 * touch, t.member_contact_group[i], _carrier_of(t, i, j)
    hold, share, bent = hold_of(t, i, j, 0), t.contact_group_friction[c], vector(0.0, 0.0, 0.0)
    k, d = hold * t.contact_group_bristle[c], hold * t.contact_group_bristle_damping[c]
    if known >= 0:
        bent = _carried(t, carrier, t.pair_bristle + (PAIR * known + 1), n, t.member_kind[i] == RIM)
    if known < 0 or t.pair_bristle[PAIR * known] > 0.0:
        share *= t.contact_group_grip[c]
    u = slides(t, i, s, arms[0]) - slides(t, j, z, arms[1])
    u -= dot(u, n) * n
    reach = drilling_radius(t, i, n)
    if reach > 0.0:
        turn = turn_of(t, t.member_axis + 6 * i, 3) - turn_of(t, t.member_axis + 6 * j, 3)
        u += (reach * dot(turn, n)) * n
    if k > 0.0:
        force, to_limit, e, a, steeper, end, slips = held(k, d, bent, u, share * normal, h)
    else:
        force, to_limit, e, a, steeper = crept(share * normal, t.contact_group_creep[c], u, h)
        end, slips = bent, normal < 0.0
    work, twist = dot(force, u), dot(force, n)
    if reach > 0.0:
        _couple(t, i, (-reach * twist) * n)
        _couple(t, j, (reach * twist) * n)
        force, e, to_limit = force - twist * n, e - dot(e, n) * n, to_limit - dot(to_limit, n) * n
    if touch < t.touching_pairs:
        own = t.touch_stiffness + 3 * touch
        own[1], own[2], t.touch_slip[touch], t.touch_level[touch] = a, steeper, e, (own[0] * share) * to_limit
    _book(t, k, bent, end if place >= 0 else vector(0.0, 0.0, 0.0), work)
    if place >= 0:
        own = t.pair_bristle_end + PAIR * place
        if slips:
            own[0] = -own[0]
        _keep(t, carrier, own + 1, end)
        t.pair_bend[3 * place] = sqrt(dot(end - bent, end - bent))
    pull_at(t, i, s, arms[0], -1.0 * force)
    pull_at(t, j, z, arms[1], force)


@compiled
def hold_of(t: Tables, i: int, j: int, part: int) -> float:
    """Share of the bristle of two members that slides, rolls or drills."""
    return t.member_hold[3 * i + part] * t.member_hold[3 * j + part]


@compiled
def _turn(
    t: Tables, i: int, j: int, n: Vector, normal: float, h: float, touch: int, known: int, place: int
) -> None:
    """Compute rolling and drilling resistance of a sphere on the other member (8.46)."""
    weight = gyration(t, i, j)
    if weight == 0.0:
        return
    c, carrier, nothing = t.member_contact_group[i], _carrier_of(t, i, j), vector(0.0, 0.0, 0.0)
    stiff, slow = weight * t.contact_group_turn_stiffness[c], weight * t.contact_group_turn_damping[c]
    psi = turn_of(t, t.member_axis + 6 * i, 3) - turn_of(t, t.member_axis + 6 * j, 3)
    twist, before, after = dot(psi, n), t.pair_turn + TURN * known, t.pair_turn_end + TURN * place
    couple, slope = nothing, none()
    if t.contact_group_rolling[c] > 0.0:
        bent = _carried(t, carrier, before, n, False) if known >= 0 else nothing
        u, hold = psi - twist * n, hold_of(t, i, j, 1)
        k, d = hold * stiff, hold * slow
        couple, _, e, a, steeper, end, _ = held(k, d, bent, u, t.contact_group_rolling[c] * normal, h)
        slope = a * (one() - outer(n, n)) - steeper * outer(e, e)
        _book(t, k, bent, end if place >= 0 else nothing, dot(couple, u))
        if place >= 0:
            _keep(t, carrier, after, end)
            t.pair_bend[3 * place + 1] = sqrt(dot(end - bent, end - bent))
    if t.contact_group_drilling[c] > 0.0:
        lever = t.contact_group_drilling[c]
        if known < 0 or before[SLIPS] == 0.0:
            lever *= t.contact_group_grip[c]
        bent = vector(before[DRILLED] if known >= 0 else 0.0, 0.0, 0.0)
        u, hold = vector(twist, 0.0, 0.0), hold_of(t, i, j, 2)
        k, d = hold * stiff, hold * slow
        moment, _, e, a, steeper, end, slips = held(k, d, bent, u, lever * normal, h)
        couple += moment.x * n
        slope = slope + (a - steeper * e.x * e.x) * outer(n, n)
        _book(t, k, bent, end if place >= 0 else nothing, dot(moment, u))
        if place >= 0:
            after[DRILLED], after[SLIPS] = end.x, 1.0 if slips else 0.0
            t.pair_bend[3 * place + 2] = abs(end.x - bent.x)
    if touch < t.touching_pairs:
        t.touch_twist[touch] = slope
    _couple(t, i, -1.0 * couple)
    _couple(t, j, couple)


@compiled
def turn_of(t: Tables, parts: Integers, count: int) -> Vector:
    """B^-1 sum m x delta(d) over directions of one body, m their means."""
    moment = vector(0.0, 0.0, 0.0)
    for k in range(count):
        moment += cross(mean_place(t, parts[k]), t.change[parts[k]])
    return spread(t, parts, count, moment)


@compiled
def spread(t: Tables, parts: Integers, count: int, moment: Vector) -> Vector:
    """B^-1 of a moment, B = sum |m|^2 I - m m^T."""
    a, b, c = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for k in range(count):
        m = mean_place(t, parts[k])
        square = dot(m, m)
        a += square * unit(0) - m.x * m
        b += square * unit(1) - m.y * m
        c += square * unit(2) - m.z * m
    volume = 1.0 / dot(a, cross(b, c))
    return volume * vector(dot(moment, cross(b, c)), dot(moment, cross(c, a)), dot(moment, cross(a, b)))


@compiled
def _couple(t: Tables, m: int, couple: Vector) -> None:
    """Add a couple to the forces on the directions of a member."""
    axes = t.member_axis + 6 * m
    shared = spread(t, axes, 3, couple)
    for k in range(3):
        t.pull[axes[k]] += cross(shared, mean_place(t, axes[k]))


@compiled
def _carrier_of(t: Tables, i: int, j: int) -> int:
    """Return the member of two in whose axes their bristles are stored: the second, or the first if only that has a
    rotation."""
    return j if t.member_axis[6 * j] >= 0 else i


@compiled
def _carried(t: Tables, m: int, own: Reals, n: Vector, drills: bool) -> Vector:
    """Return z, stored in the axes of member m, in the plane across n with its length.

    With ``drills`` the component along n is kept, for drilling.
    """
    axes = t.member_axis + 6 * m
    bent = own[0] * axis_mean(t, axes, 0) + own[1] * axis_mean(t, axes, 1) + own[2] * axis_mean(t, axes, 2)
    if not drills:
        bent -= dot(bent, n) * n
    length = sqrt(dot(bent, bent))
    size = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
    return (size / length if length > 0.0 else 1.0) * bent


@compiled
def _keep(t: Tables, m: int, own: Reals, end: Vector) -> None:
    """Store z at the end in the axes of member m, with its length."""
    local, length = in_axes(t, m, end), sqrt(dot(end, end))
    size = sqrt(dot(local, local))
    local = (length / size if size > 0.0 else 1.0) * local
    own[0], own[1], own[2] = local.x, local.y, local.z


@compiled
def _book(t: Tables, k: float, before: Vector, after: Vector, work: float) -> None:
    """Add stored and lost energies of a bristle, on which ``work`` is done, to the tables."""
    stored = 0.5 * k * (dot(after, after) - dot(before, before))
    t.contact_group_work[0] += stored
    t.contact_group_work[1] += abs(stored)
    t.contact_group_loss[0] += work - stored


@compiled
def energy_of_pairs(t: Tables) -> float:
    """Energy of all bristles at the start of the step [J]."""
    total, place = 0.0, 0
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        total += _energy(t, place)
        place += 1
    return total
