"""Friction of contact pairs, with a bristle between the contact points of each pair (docs/theory.md, 8).

Sliding and its forces are those of (8.28), the law is that of (8.42). Bristles are stored in the list
``pair_bristle``, in the order of the numbers of their pairs: the number, less than zero after a step that slipped,
and z in axes of one of both bodies.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Reals, Tables, Vector, cross, dot, value_of, vector
from phlexible.step.kernels.contact import bristle_force, smooth_friction
from phlexible.step.kernels.floating_bodies import eye
from phlexible.step.kernels.many.members import (
    apply_point_force,
    axis_mean,
    axis_point,
    cache_end_frames,
    clear_end_frames,
    components_in_axes,
    drilling_radius,
    point_displacement,
)
from phlexible.step.kernels.vectors import mean_directions, mean_vector, outer, solve_moment, zero_matrix
from phlexible.step.tables.declarations import DRILLED, INSET, MET, PAIR, RIM, SLIPS, TURN

# Bristles of pairs, merged step by step with the list of the pairs that touch.


@compiled
def reset_pairs(t: Tables) -> None:
    """Set ``t.pair_cursor`` to zero, so that friction histories of contact pairs are looked up and stored from the
    beginning of the list. Rotations that are cached for the ends of contact shapes are cleared too. It is called
    before contact forces are evaluated, with pairs in ascending order. ``t`` contains all arrays of the model and
    its state."""
    clear_end_frames(t)
    t.pair_cursor[0], t.pair_cursor[1] = 0, 0


@compiled
def _bristle_energy_of_pair(t: Tables, index: int) -> float:
    """Return the elastic energy [J] of the friction springs (bristles) of one contact pair at the start of the
    time step. It is the sum of k z^2 / 2 for sliding and, if stored, for rolling and spinning deflections.
    ``index`` is the pair's index in the stored list. ``t`` contains all arrays of the model and its state."""
    number = int(abs(value_of(t.pair_bristle[PAIR * index])) - 1.0)  # first member times their count and second one
    i, j = number // t.members, number % t.members
    c = t.member_contact_group[i]
    bent = t.pair_bristle + (PAIR * index + 1)
    total = 0.5 * t.contact_group_bristle[c] * (bent[0] * bent[0] + bent[1] * bent[1] + bent[2] * bent[2])
    if t.kept_turns > 0:
        z, square = t.pair_turn + TURN * index, 0.0
        for k in range(SLIPS):
            square += z[k] * z[k]
        if square > 0.0:
            total += 0.5 * t.contact_group_turn_stiffness[c] * squared_gyration_radius(t, i, j) * square
    return total


@compiled
def squared_gyration_radius(t: Tables, i: int, j: int) -> float:
    """Return 0.4 r^2 [m2], the scale of the rolling resistance of contact shapes i and j. r is the radius of the
    ball (of i if both are balls). The result is 0 if neither is a ball, or if the other shape is a segment or has
    no rotation. ``t`` contains all arrays of the model and its state.

    The ball has a rotation; the other member has one too or is fixed.
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
def dissipate_pair(t: Tables, index: int) -> None:
    """Move the energy of the friction springs (bristles) of the contact pair at ``index`` of the stored list from
    stored to lost energy. It is subtracted from ``t.contact_group_work[0]`` and added to ``t.contact_group_loss``.
    Nothing is done for index -1. ``t`` contains all arrays of the model and its state."""
    if index < 0:
        return
    energy = _bristle_energy_of_pair(t, index)
    t.contact_group_work[0] -= energy
    t.contact_group_work[1] += energy
    t.contact_group_loss[0] += energy


@compiled
def find_pair_history(t: Tables, i: int, j: int) -> int:
    """Return the index of contact pair (i, j) in the friction histories ``t.pair_bristle`` of the last time step,
    or -1 for a new pair. Pairs must be looked up in ascending order: each search begins at ``t.pair_cursor`` and
    moves it. Stored pairs that are skipped no longer touch; their energy is counted as lost. If the contact group
    of i has neither friction nor restitution, -1 is returned without a search. ``t`` contains all arrays of the
    model and its state.
    """
    c = t.member_contact_group[i]
    if t.contact_group_friction[c] == 0.0 and t.contact_group_impact[c] == 0.0:
        return -1
    place, number = t.pair_cursor[0], pair_number(t, i, j)
    while place < t.kept_pairs:
        known = abs(t.pair_bristle[PAIR * place])
        if known == 0.0 or known >= number:
            break
        dissipate_pair(t, place)
        place += 1
    found = place < t.kept_pairs and abs(t.pair_bristle[PAIR * place]) == number
    t.pair_cursor[0] = place + 1 if found else place
    return place if found else -1


@compiled
def pair_number(t: Tables, i: int, j: int) -> float:
    """Return the number n min(i, j) + max(i, j) + 1 of the pair of contact shapes i and j, of n shapes. It
    identifies the pair in stored lists. Contact shapes are spheres, line segments and solids. ``t`` contains all
    arrays of the model and its state."""
    return float(min(i, j)) * t.members + float(max(i, j)) + 1.0


@compiled
def store_pair_deflection(t: Tables, i: int, j: int, active_pair: int, index: int) -> int:
    """Copy how far the friction springs (bristles) of contact pair (i, j) were deflected in the attempted time
    step to entry ``active_pair`` of ``t.met_bend``. The three values, for sliding, rolling and spinning, are 0 if
    the pair is not in the stored list. The list, in the order of pair numbers, is searched from ``index`` on.
    Return the index at which the search for the next pair begins. ``t`` contains all arrays of the model and its
    state."""
    number = pair_number(t, i, j)
    while index < t.kept_pairs and 0.0 < abs(t.pair_bristle_end[PAIR * index]) < number:
        index += 1
    is_there = index < t.kept_pairs and abs(t.pair_bristle_end[PAIR * index]) == number
    for k in range(3):
        t.met_bend[3 * active_pair + k] = t.pair_bend[3 * index + k] if is_there else 0.0
    return index


@compiled
def dissipate_separated_pairs(t: Tables) -> None:
    """Add the energies of the friction springs (bristles) of contact pairs that no longer touch to the lost energy
    ``t.contact_group_loss``. Set the unused rest of the new list of friction histories to zero. ``t`` contains all
    arrays of the model and its state."""
    place = t.pair_cursor[0]
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        dissipate_pair(t, place)
        place += 1
    place = t.pair_cursor[1]
    while place < t.kept_pairs and t.pair_bristle_end[PAIR * place] != 0.0:  # behind the end there are zeros
        for k in range(PAIR * place, PAIR * place + PAIR):
            t.pair_bristle_end[k] = 0.0
        for k in range(TURN * place, TURN * place + TURN if t.kept_turns > 0 else 0):
            t.pair_turn_end[k] = 0.0
        place += 1


@compiled
def store_contact(t: Tables, i: int, j: int, s: float, z: float, y: Vector, n: Vector, slope: float) -> int:
    """Store the contact of shapes i and j (balls, segments, solids) in the arrays ``touch_...``, for friction and
    Newton's matrix, and return its index there. s and z are parameters on their axes, y is the contact point and n
    the unit normal in world axes. ``slope`` is the derivative of the normal force with respect to the penetration.
    If the arrays are full, the index is ``t.touching_pairs`` and only the vectors from the axes to the contact
    point are stored.

    Without room the index is ``touching_pairs``.
    """
    place = t.touch_count[0]
    cache_end_frames(t, i)
    cache_end_frames(t, j)
    t.touch_arm[2 * place], t.touch_arm[2 * place + 1] = y - axis_point(t, i, s), y - axis_point(t, j, z)
    if place == t.touching_pairs:
        return place
    t.touch_first[place], t.touch_second[place], t.touch_normal[place] = i, j, n
    t.touch_share[2 * place], t.touch_share[2 * place + 1] = s, z
    own, nothing = t.touch_stiffness + 3 * place, vector(0.0, 0.0, 0.0)
    own[0], own[1], own[2] = slope, 0.0, 0.0
    if t.turning_pairs > 0:
        t.touch_twist[place] = zero_matrix()
    t.touch_slip[place], t.touch_level[place] = nothing, nothing
    t.touch_count[0] = place + 1
    return place


@compiled
def apply_pair_friction(
    t: Tables, i: int, j: int, s: float, z: float, n: Vector, normal: float, h: float, touch: int, known: int
) -> None:
    """Add the friction forces of contact shapes i and j over a time step of length h [s] to ``t.pull``. They
    oppose slip, rolling and spinning (drilling), and are limited by friction coefficients times ``normal``, the
    normal force along n. Without friction or normal force the stored friction energy is lost; only an impact speed
    may be stored. s and z are parameters of the contact on both axes. ``touch`` is the contact's index, ``known``
    the pair's in the last step (-1: new).

    Derivatives of the friction (8.44) are added at index ``touch``. History variables of the pair are stored if
    there is room.
    """
    c, remembers = t.member_contact_group[i], t.kept_turns > 0 and t.pair_met[0] > 0.0
    rubs = t.contact_group_friction[c] > 0.0 and normal > 0.0
    if t.contact_group_law[c] >= 0:
        f = t.contact_group_law[c] + t.member_law[i] + t.member_law[j]
        t.scalar_force[f] = t.push_side[f] * normal
    if not rubs:
        dissipate_pair(t, known)
    if not rubs and not (remembers and t.contact_group_impact[c] > 0.0):
        return
    place = t.pair_cursor[1] if t.pair_cursor[1] < t.kept_pairs else -1
    if place >= 0:
        own = t.pair_bristle_end + PAIR * place
        own[0], own[1], own[2], own[3] = pair_number(t, i, j), 0.0, 0.0, 0.0
        for k in range(3):
            t.pair_bend[3 * place + k] = 0.0
        for k in range(TURN if t.kept_turns > 0 else 0):
            t.pair_turn_end[TURN * place + k] = 0.0
        if t.contact_group_impact[c] > 0.0:
            t.pair_turn_end[TURN * place + MET] = t.pair_met[0]
        t.pair_cursor[1] = place + 1
    if rubs:
        _apply_sliding_friction(t, i, j, s, z, n, normal, h, touch, known, place)
        if t.contact_group_rolling[c] > 0.0 or t.contact_group_drilling[c] > 0.0:
            _apply_rolling_resistance(t, i, j, n, normal, h, touch, known, place)


@compiled
def _apply_sliding_friction(
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
    index: int,
) -> None:
    """Add the sliding friction of contact shapes i and j over a time step of length h [s] to ``t.pull``. The force
    on i opposes its slip on j; the opposite force acts on j. It is the force of a friction spring (bristle), or
    regularized Coulomb friction if its stiffness is 0. s and z are parameters of the contact point along the axes
    of i and j, n is the normal, ``normal`` the normal force. Results are stored at ``touch`` and ``index``;
    ``known`` is the pair's last index (-1: none).

    Derivatives go to ``t.touch_slip`` and ``t.touch_level`` at index ``touch``, the deflection at the end to
    ``t.pair_bristle_end`` at ``index``.
    """
    arms, c, carrier = t.touch_arm + 2 * touch, t.member_contact_group[i], _bristle_member(t, i, j)
    hold, share, bent = bristle_share(t, i, j, 0), t.contact_group_friction[c], vector(0.0, 0.0, 0.0)
    k, d = hold * t.contact_group_bristle[c], hold * t.contact_group_bristle_damping[c]
    if known >= 0:
        bent = _bristle_in_world(t, carrier, t.pair_bristle + (PAIR * known + 1), n, t.member_kind[i] == RIM)
    if known < 0 or t.pair_bristle[PAIR * known] > 0.0:
        share *= t.contact_group_grip[c]
    u = point_displacement(t, i, s, arms[0]) - point_displacement(t, j, z, arms[1])
    u -= dot(u, n) * n
    reach = drilling_radius(t, i, n)
    if reach > 0.0:
        turn = mean_rotation(t, t.member_axis + 6 * i) - mean_rotation(t, t.member_axis + 6 * j)
        u += (reach * dot(turn, n)) * n
    if k > 0.0:
        force, to_limit, e, a, steeper, end, slips = bristle_force(k, d, bent, u, share * normal, h)
    else:
        force, to_limit, e, a, steeper = smooth_friction(share * normal, t.contact_group_creep[c], u, h)
        end, slips = bent, normal < 0.0
    work, twist = dot(force, u), dot(force, n)
    if reach > 0.0:
        _apply_couple(t, i, (-reach * twist) * n)
        _apply_couple(t, j, (reach * twist) * n)
        force, e, to_limit = force - twist * n, e - dot(e, n) * n, to_limit - dot(to_limit, n) * n
    if touch < t.touching_pairs:
        own = t.touch_stiffness + 3 * touch
        own[1], own[2], t.touch_slip[touch], t.touch_level[touch] = a, steeper, e, (own[0] * share) * to_limit
    _add_bristle_energies(t, k, bent, end if index >= 0 else vector(0.0, 0.0, 0.0), work)
    if index >= 0:
        own = t.pair_bristle_end + PAIR * index
        if slips:
            own[0] = -own[0]
        _store_bristle(t, carrier, own + 1, end)
        t.pair_bend[3 * index] = sqrt(dot(end - bent, end - bent))
    apply_point_force(t, i, s, arms[0], -1.0 * force)
    apply_point_force(t, j, z, arms[1], force)


@compiled
def bristle_share(t: Tables, i: int, j: int, part: int) -> float:
    """Return the factor by which the stiffness of the friction spring of contact shapes i and j is multiplied. It
    is the product of their entries in ``t.member_hold`` for ``part``: 0 sliding, 1 rolling, 2 drilling. The factor
    is 1 except in linear models of contacts at rest, where springs of friction that slips are made very soft. ``t``
    contains all arrays of the model and its state.
    """
    return t.member_hold[3 * i + part] * t.member_hold[3 * j + part]


@compiled
def _apply_rolling_resistance(
    t: Tables, i: int, j: int, n: Vector, normal: float, h: float, touch: int, known: int, index: int
) -> None:
    """Add the moments that oppose rolling and spinning of ball i on contact shape j to ``t.pull``, as forces, with
    opposite signs on both. They are forces of friction springs, limited in proportion to the normal force
    ``normal`` [N]. Without a ball nothing is done. n is the contact normal, h the length of the time step [s].
    ``known`` is the pair's index in the last step (-1: none), ``touch`` and ``index`` are where results are
    stored. See docs/theory.md, 8, (8.46).

    Derivatives go to ``t.touch_twist`` at index ``touch``, deflections of the friction springs to
    ``t.pair_turn_end`` at ``index``.
    """
    weight = squared_gyration_radius(t, i, j)
    if weight == 0.0:
        return
    c, carrier, nothing = t.member_contact_group[i], _bristle_member(t, i, j), vector(0.0, 0.0, 0.0)
    stiff, slow = weight * t.contact_group_turn_stiffness[c], weight * t.contact_group_turn_damping[c]
    psi = mean_rotation(t, t.member_axis + 6 * i) - mean_rotation(t, t.member_axis + 6 * j)
    twist, before, after = dot(psi, n), t.pair_turn + TURN * known, t.pair_turn_end + TURN * index
    couple, slope = nothing, zero_matrix()
    if t.contact_group_rolling[c] > 0.0:
        bent = _bristle_in_world(t, carrier, before, n, False) if known >= 0 else nothing
        u, hold = psi - twist * n, bristle_share(t, i, j, 1)
        k, d = hold * stiff, hold * slow
        couple, _, e, a, steeper, end, _ = bristle_force(k, d, bent, u, t.contact_group_rolling[c] * normal, h)
        slope = a * (eye() - outer(n, n)) - steeper * outer(e, e)
        _add_bristle_energies(t, k, bent, end if index >= 0 else nothing, dot(couple, u))
        if index >= 0:
            _store_bristle(t, carrier, after, end)
            t.pair_bend[3 * index + 1] = sqrt(dot(end - bent, end - bent))
    if t.contact_group_drilling[c] > 0.0:
        lever = t.contact_group_drilling[c]
        if known < 0 or before[SLIPS] == 0.0:
            lever *= t.contact_group_grip[c]
        bent = vector(before[DRILLED] if known >= 0 else 0.0, 0.0, 0.0)
        u, hold = vector(twist, 0.0, 0.0), bristle_share(t, i, j, 2)
        k, d = hold * stiff, hold * slow
        moment, _, e, a, steeper, end, slips = bristle_force(k, d, bent, u, lever * normal, h)
        couple += moment.x * n
        slope = slope + (a - steeper * e.x * e.x) * outer(n, n)
        _add_bristle_energies(t, k, bent, end if index >= 0 else nothing, dot(moment, u))
        if index >= 0:
            after[DRILLED], after[SLIPS] = end.x, 1.0 if slips else 0.0
            t.pair_bend[3 * index + 2] = abs(end.x - bent.x)
    if touch < t.touching_pairs:
        t.touch_twist[touch] = slope
    _apply_couple(t, i, -1.0 * couple)
    _apply_couple(t, j, couple)


@compiled
def mean_rotation(t: Tables, parts: Integers) -> Vector:
    """Return the rotation vector of a body in the time step from the changes of three body-fixed directions, in
    world axes [rad]. It is the best fit B^-1 sum m x delta(d), where m are the mean directions; ``parts`` contains
    their indices. ``t`` contains all arrays of the model and its state."""
    moment = vector(0.0, 0.0, 0.0)
    for k in range(3):
        moment += cross(mean_vector(t, parts[k]), t.change[parts[k]])
    return solve_moment(mean_directions(t, parts[0], parts[1], parts[2]), moment)


@compiled
def _apply_couple(t: Tables, m: int, couple: Vector) -> None:
    """Apply a moment ``couple`` [N m] in world axes to contact shape m, as forces on three direction vectors of
    its body. These forces, whose cross products with the directions sum to the moment, are added to ``t.pull``.
    ``t`` contains all arrays of the model and its state."""
    axes = t.member_axis + 6 * m
    shared = solve_moment(mean_directions(t, axes[0], axes[1], axes[2]), couple)
    for k in range(3):
        t.pull[axes[k]] += cross(shared, mean_vector(t, axes[k]))


@compiled
def _bristle_member(t: Tables, i: int, j: int) -> int:
    """Return which of contact shapes i and j stores the deflection of their friction bristle in its axes: the
    second, or the first if only that one has a rotation. Contact shapes are spheres, line segments and solids.
    ``t`` contains all arrays of the model and its state."""
    return j if t.member_axis[6 * j] >= 0 else i


@compiled
def _bristle_in_world(t: Tables, m: int, stored: Reals, n: Vector, drills: bool) -> Vector:
    """Return the deflection vector of a friction spring (bristle) in world axes at the middle of the time step. It
    is computed from three components ``stored`` in the axes of contact shape m. The component along the contact
    normal n is removed, and the rest is scaled to the stored length. If ``drills`` (slip combined with spinning),
    the component along n remains. ``t`` contains all arrays of the model and its state."""
    axes = t.member_axis + 6 * m
    bent = stored[0] * axis_mean(t, axes, 0) + stored[1] * axis_mean(t, axes, 1) + stored[2] * axis_mean(t, axes, 2)
    if not drills:
        bent -= dot(bent, n) * n
    length = sqrt(dot(bent, bent))
    size = sqrt(stored[0] * stored[0] + stored[1] * stored[1] + stored[2] * stored[2])
    return (size / length if length > 0.0 else 1.0) * bent


@compiled
def _store_bristle(t: Tables, m: int, stored: Reals, end: Vector) -> None:
    """Store the deflection vector ``end`` of a friction spring (bristle) as three components in the axes of
    contact shape m (sphere, segment or solid). ``end`` is in world axes. The components are scaled by one factor
    so that their norm equals the length of ``end``, and written to ``stored``. ``t`` contains all arrays of the
    model and its state."""
    local, length = components_in_axes(t, m, end), sqrt(dot(end, end))
    size = sqrt(dot(local, local))
    local = (length / size if size > 0.0 else 1.0) * local
    stored[0], stored[1], stored[2] = local.x, local.y, local.z


@compiled
def _add_bristle_energies(t: Tables, k: float, before: Vector, after: Vector, work: float) -> None:
    """Add the change of the energy that a bristle stores in the time step to ``t.contact_group_work``. The rest of
    the work on it is added to the lost energy ``t.contact_group_loss`` [J]. A bristle is a friction spring of
    stiffness k; its deflections are ``before`` and ``after``, and ``work`` is done on it. The first entry of
    ``t.contact_group_work`` sums these changes, the second their absolute values. ``t`` contains all arrays of the
    model and its state."""
    stored = 0.5 * k * (dot(after, after) - dot(before, before))
    t.contact_group_work[0] += stored
    t.contact_group_work[1] += abs(stored)
    t.contact_group_loss[0] += work - stored


@compiled
def pair_bristle_energy(t: Tables) -> float:
    """Return the elastic energy of the friction bristles (friction springs) of all contact pairs at the start of
    the time step [J]. ``t`` contains all arrays of the model and its state."""
    total, place = 0.0, 0
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        total += _bristle_energy_of_pair(t, place)
        place += 1
    return total
