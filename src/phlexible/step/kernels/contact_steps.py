"""Number of equal substeps of a step around contacts, so that their oscillation is resolved (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import copy, fill, product
from phlexible.step.compilation.notation import (
    Number,
    Reals,
    Tables,
    Truth,
    Vector,
    dot,
    lane_value,
    vector,
    where,
)
from phlexible.step.kernels.floating_bodies import eye
from phlexible.step.kernels.laws_of_functions import gather_coordinate_gradient
from phlexible.step.kernels.many.contacts_among_many import (
    GRAZE,
    contact_normal,
    distance_at,
    find_active_pairs,
    round_contact_point,
)
from phlexible.step.kernels.many.line_segments import is_segment
from phlexible.step.kernels.many.members import axis_point, cache_end_frames, lowest_rim_point
from phlexible.step.kernels.many.pair_friction import squared_gyration_radius
from phlexible.step.kernels.many.pairs_in_matrix import (
    ENDS,
    add_pair,
    clear_matrix_pairs,
    coupled_squared_frequency,
    gather_end,
    store_pair,
)
from phlexible.step.kernels.solver.elimination import factor_frame, solve_carrier
from phlexible.step.kernels.step import inertia_matrix, motion_and_forces
from phlexible.step.kernels.vectors import mean_vector, outer
from phlexible.step.tables.declarations import ANGLE, CONTACT, MOST_PARTS, MOVING, RIM

FIRM = 1e300  # load of what does not move
LITTLE = 1.0 / 1024.0  # share of a step, in which what goes round goes straight on

# How easily contacts move bodies, and so how stiff they are beside the masses (docs/theory.md, 8).


@compiled
def mobility(t: Tables, b: int, row: Reals, width: int) -> float:
    """Return the mobility g M^-1 g^T (inverse of the effective mass) of body b, a floating body or a node, along a
    direction. g is ``row``, the derivative of a gap with respect to the ``width`` velocities of the body. Its mass
    matrix M must be factored, which is not checked. The mobility is 0 where the mass matrix is singular, marked by
    ``t.hardness`` < 0. ``t`` contains all arrays of the model and its state."""
    copy(row, t.trial_update, width)
    solve_carrier(t, b, t.trial_update)
    return where(t.hardness[b] < 0.0, 0.0, product(row, t.trial_update, width))


@compiled
def contact_stiffness(stiffness: float, p: float, depth: float, change: float, mobility: float, h: float) -> float:
    """Return the stiffness dN/dx of a contact with the force N = ``stiffness`` x^p, at the deepest penetration x
    that it reaches. For p = 1 it is ``stiffness``. The penetration is ``depth`` at the start and grows by
    ``change`` in a time step of length h [s], or less: by as much as stops the effective mass 1 / ``mobility`` with
    the speed ``change`` / h.
    """
    if p == 1.0:
        return stiffness
    if mobility > 0.0:
        deep = (p + 1.0) * (change / h) ** 2 / (2.0 * stiffness * mobility)
        change = min(change, deep ** (1.0 / (p + 1.0)))
    return stiffness * p * (max(depth, 0.0) + change) ** (p - 1.0)


# What rests or rolls on a contact, or slides on it steadily, is resolved by steps of any length: its forces stay
# what they are. So omega counts as far as the force of a contact swings, beside the load of its bodies: the
# greatest F sqrt(g M^-1 g^T) of their contacts at rest, of the body that has less, whose unit is that of forces and
# moments alike. A hit swings by all of it.
# Bristles likewise, beside what friction can hold of that.


@compiled
def resting_force(stiffness: float, p: float, depth: float, change: float) -> float:
    """Return the elastic force of a contact at the mean of its penetrations at both ends of a time step,
    ``stiffness`` times x^p. The penetrations are ``depth`` and ``depth`` + ``change`` [m]; negative ones count as
    0. It is the force that remains if the contact does not oscillate; p is the exponent of the contact law."""
    rest = 0.5 * (max(depth, 0.0) + max(depth + change, 0.0))
    return stiffness * rest if p == 1.0 else stiffness * rest**p


@compiled
def swing_amplitude(square: float, h: float, ahead: float, change: float) -> float:
    """Return an estimate of the amplitude [m] with which the spring of a contact oscillates in a time step of
    length h [s]. ``square`` is its squared circular frequency [1/s2], ``change`` the change of its length in the
    step. ``ahead`` is the change that the speed at the start alone would give. The amplitude is mean speed /
    frequency, plus acceleration / frequency^2, plus half of ``change``."""
    theta = abs(h) * sqrt(square) if square > 0.0 else 1.0
    far = (0.5 * (abs(ahead) + abs(2.0 * change - ahead)) + 2.0 * abs(change - ahead) / theta) / theta
    return far + 0.5 * abs(change)


@compiled
def load_share(force: float, load: float) -> float:
    """Return the factor from 0 to 1 by which the squared frequency of a contact counts in the choice of substeps.
    It is (force / load)^(4/3) if ``force``, the amplitude with which the contact force oscillates, is below
    ``load``, a contact force at rest on the same bodies, else 1.

    The error of a force is then 8e-5 of the load over it.
    """
    return (force / load) ** (4.0 / 3.0) if force < load else 1.0


@compiled
def swing_stiffness(stiffness: float, mobility: float, h: float, ahead: float, change: float, load: float) -> float:
    """Return the part of a contact's ``stiffness`` [N/m] that counts in the choice of substeps, less if the contact
    oscillates little. It is all of it if the force of the oscillation, amplitude times stiffness, is at least
    ``load``, a contact force at rest on the same bodies (see ``load_share``). ``mobility`` is the inverse effective
    mass, h the length of the time step [s]. The spring's length changes by ``change`` in the step, and would by
    ``ahead`` at its first speed.
    """
    return stiffness * load_share(stiffness * swing_amplitude(stiffness * mobility, h, ahead, change), load)


@compiled
def raise_member_load(t: Tables, m: int, load: float) -> None:
    """Set the loads ``t.loaded`` [N/kg^0.5] of the bodies or nodes of contact shape m to at least ``load``. The
    load of a body is its largest contact force at rest times the root of the mobility there, and is compared with
    oscillations of contact forces. A shape is a ball, a solid, or a line segment, whose two ends may be on
    different bodies; ends on the ground are skipped. ``t`` contains all arrays of the model and its state.
    """
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    if a >= 0:
        t.loaded[a] = max(t.loaded[a], load)
    if b >= 0:
        t.loaded[b] = max(t.loaded[b], load)


@compiled
def pair_reference_force(t: Tables, n: int) -> float:
    """Return the normal force [N] to which oscillations of the contact force of active contact pair n are
    compared. Oscillations below it need no short substeps. It is the smaller load of the two contact shapes
    (balls, segments, solids) over the root of the pair's mobility; very large if nothing can move. ``t`` contains
    all arrays of the model and its state."""
    least = min(_load_of_member(t, t.met_first[n]), _load_of_member(t, t.met_second[n]))
    return least / sqrt(t.met_mobility[n]) if t.met_mobility[n] > 0.0 else FIRM


@compiled
def _load_of_member(t: Tables, m: int) -> float:
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    if a < 0 and b < 0:
        return FIRM
    return max(t.loaded[a] if a >= 0 else 0.0, t.loaded[b] if b >= 0 else 0.0)


@exported
def set_pair_loads(t: Tables, pairs: int) -> None:
    """Store the mobility (inverse effective mass) of the first ``pairs`` active contact pairs in
    ``t.met_mobility``, and raise the loads of their bodies. The loads, ``t.loaded``, used for the choice of
    substeps, become at least the contact forces at rest. ``t`` contains all arrays of the model and its state."""
    for n in range(pairs):
        i, j = t.met_first[n], t.met_second[n]
        normal, s, z, arm, other = _contact_geometry(t, i, j)
        store_pair(t, t.matrix_pairs, i, j, s, z, normal, arm, other, False)
        t.met_mobility[n] = _pair_mobility(t, t.matrix_pairs, normal, 0.0)
        c, depth = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j] - distance_at(t, i, j, 0.0)[0]
        k, p = t.contact_group_stiffness[c], t.contact_group_exponent[c]
        load = resting_force(k, p, depth, t.met_change[n]) * sqrt(max(t.met_mobility[n], 0.0))
        raise_member_load(t, i, load)
        raise_member_load(t, j, load)


@compiled
def set_stop_load(t: Tables, f: int) -> None:
    """Compute the mobility (inverse effective mass) along the coordinate of stop f. The loads of its bodies are set
    to at least its force at rest. The mobilities are stored in ``t.mobility`` and, for each body, in
    ``t.group_mobility``. A load, in ``t.loaded``, is a force times the root of the mobility; oscillations of
    contact forces are compared with it in the choice of substeps. ``t`` contains all arrays of the model and its
    state.
    """
    total = 0.0
    gather_coordinate_gradient(t, f)
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        row = t.left_gradient + t.group_offset[group]
        t.group_mobility[group] = mobility(t, t.group_node[group], row, t.group_width[group])
        total += t.group_mobility[group]
    t.mobility[f] = total
    depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
    load = resting_force(t.force_stiffness[f], t.push_exponent[f], depth, t.sunk[f]) * sqrt(max(total, 0.0))
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        b = t.group_node[group]
        t.loaded[b] = max(t.loaded[b], load)


@compiled
def stop_reference_force(t: Tables, f: int) -> float:
    """Return the force along the coordinate of stop f [N, N m] to which oscillations of the stop's force are
    compared. Oscillations below it need no short substeps. It is the smallest load of the bodies, ``t.loaded``,
    over the root of the mobility along the coordinate; very large if nothing can move. ``t`` contains all arrays
    of the model and its state."""
    least = FIRM
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        least = min(least, t.loaded[t.group_node[group]])
    return least / sqrt(t.mobility[f]) if t.mobility[f] > 0.0 else FIRM


@compiled
def _contact_geometry(t: Tables, i: int, j: int) -> tuple[Vector, float, float, Vector, Vector]:
    """Return where contact shapes i and j (balls, segments, solids) touch, in the world. The results are the unit
    normal from the second to the first, the parameters 0 to 1 of the contact along both axes, and two vectors [m].
    The vectors lead from the points at these parameters on the axes to the contact point. ``t`` contains all
    arrays of the model and its state."""
    normal, s, z = contact_normal(t, i, j)
    if t.member_kind[i] <= RIM and t.member_kind[j] <= RIM:
        y = round_contact_point(t, i, j, s, axis_point(t, i, s) - axis_point(t, j, z))
    else:
        small, sign = (i, 1.0) if t.member_kind[j] > RIM else (j, -1.0)
        y = axis_point(t, small, s + z) if is_segment(t, small) else mean_vector(t, t.member_start[small])
        if t.member_kind[small] == RIM:
            y = lowest_rim_point(t, small, sign * normal)
        if t.member_axis[6 * small] >= 0:
            y = y - (sign * t.member_radius[small]) * normal
    cache_end_frames(t, i)
    cache_end_frames(t, j)
    return normal, s, z, y - axis_point(t, i, s), y - axis_point(t, j, z)


@exported
def add_pair_stiffness(t: Tables, n: int, h: float) -> float:
    """Add the squared frequencies (stiffness times mobility) of active contact pair n to the sums of its bodies,
    ``t.hardness``. The stiffness contains normal, friction and rolling springs, as far as they oscillate in a time
    step of length h [s]. It is also stored in the list of coupled pairs. Return the squared frequency of the
    normal spring alone [1/s2]. ``t`` contains all arrays of the model and its state."""
    i, j, total = t.met_first[n], t.met_second[n], t.met_mobility[n]
    n_, s, z, arm, other = _contact_geometry(t, i, j)
    c, depth = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j] - distance_at(t, i, j, 0.0)[0]
    k, p, load = t.contact_group_stiffness[c], t.contact_group_exponent[c], pair_reference_force(t, n)
    slope = contact_stiffness(k, p, depth, abs(t.met_ahead[n]), total, h) * (1.0 + t.contact_group_impact[c] / k)
    if t.contact_group_friction[c] == 0.0 or t.contact_group_bristle[c] > 0.0:  # what creeps changes fast
        slope = swing_stiffness(slope, total, h, t.met_ahead[n], t.met_change[n], load)
    slope *= t.contact_group_share[c]
    stiffness, alone = slope * outer(n_, n_), slope * total
    if t.contact_group_bristle[c] > 0.0:
        bend, limit = t.met_bend[3 * n], t.contact_group_friction[c] * load
        sticks = t.contact_group_share[c] * swing_stiffness(t.contact_group_bristle[c], total, h, bend, bend, limit)
        slope += sticks
        stiffness = stiffness + sticks * (eye() - outer(n_, n_))
    weight = squared_gyration_radius(t, i, j) if t.turning_pairs > 0 else 0.0
    if weight > 0.0:
        rolls = _roll_stiffness(t, c, 3 * n + 1, load * t.contact_group_rolling[c], weight, total, h)
        drills = _roll_stiffness(t, c, 3 * n + 2, load * t.contact_group_drilling[c], weight, total, h)
        slope += rolls + drills
        twist = weight * (rolls * (eye() - outer(n_, n_)) + drills * outer(n_, n_))
        add_pair(t, i, j, s, z, twist, n_, arm, other, True)
    _pair_mobility(t, add_pair(t, i, j, s, z, stiffness, n_, arm, other, False), n_, slope)
    return alone


@compiled
def _roll_stiffness(t: Tables, c: int, bend: int, limit: float, gyration: float, total: float, h: float) -> float:
    """Return the stiffness [N/m] by which rolling or spinning friction of a contact pair counts in the choice of
    substeps. It is the rotational friction stiffness of contact group c, reduced where the oscillation in a time
    step of length h is small compared to ``limit``; 0 if ``limit`` is 0. ``gyration`` is the squared radius of
    gyration by which it is divided, ``bend`` the index of its deflection change, ``total`` the mobility of the
    pair. ``t`` contains all arrays of the model and its state."""
    if limit == 0.0:
        return 0.0
    k, change = gyration * t.contact_group_turn_stiffness[c], t.met_bend[bend]
    return t.contact_group_share[c] * swing_stiffness(k, total / gyration, h, change, change, limit) / gyration


@compiled
def _pair_mobility(t: Tables, n: int, normal: Vector, slope: float) -> float:
    """Return the mobility (inverse effective mass) of contact pair n along ``normal`` at the contact point, summed
    over the bodies of both shapes. For each body, its mobility times the contact stiffness ``slope`` is added to
    its sum of squared frequencies, ``t.hardness``, in place; bodies with a negative sum, which marks a singular
    mass matrix, are left out. ``t`` contains all arrays of the model and its state.
    """
    total = 0.0
    last = ENDS * n + t.held_ends[n]
    for e in range(ENDS * n, last):
        b = t.held_carrier[e]
        if e > ENDS * n and _is_same_side(t, e - 1):
            continue
        gather_end(t, e, True)
        if e + 1 < last and _is_same_side(t, e):
            gather_end(t, e + 1, False)
        for i in range(t.velocities_count[b]):
            t.contact_group_row[i] = dot(t.pair_lever[i], normal)
        found = mobility(t, b, t.contact_group_row, t.velocities_count[b])
        if t.hardness[b] >= 0.0:
            t.hardness[b] += slope * found
        total += found
    return total


@compiled
def _is_same_side(t: Tables, e: int) -> bool:
    """Return whether ends e and e + 1 of a contact pair in Newton's matrix are on one body and belong to one shape.
    They are then the ends of one line segment. ``t`` contains all arrays of the model and its state.
    """
    return t.held_carrier[e] == t.held_carrier[e + 1] and t.held_weight[e] * t.held_weight[e + 1] > 0.0


@exported
def pair_stiffness_over_mass(t: Tables, n: int) -> float:
    """Return the sum of contact stiffness over mass [1/s2] of the bodies of active contact pair n, each body once.
    It is an upper bound of the squared frequency at this pair, and is read from the sums over all pairs of each
    body. ``t`` contains all arrays of the model and its state."""
    i, j = t.met_first[n], t.met_second[n]
    return _stiffness_over_mass(t, i) + _stiffness_over_mass(t, j)


@compiled
def _stiffness_over_mass(t: Tables, m: int) -> float:
    a, b = t.vector_carrier[t.member_start[m]], t.vector_carrier[t.member_end[m]]
    own = max(t.hardness[a], 0.0) if a >= 0 else 0.0
    return own + max(t.hardness[b], 0.0) if b >= 0 and b != a else own


# The frequency of contacts on a body is at most that of all of them together, omega^2 = sum of N' g M^-1 g^T with
# the row g of each gap (8.23); joints, which can only lower it, are left out.

STILL_ANGLE = 1e-6  # [rad] that counts as rest
LONGEST = 0.1  # step times frequency: a rebound comes 0.003 / omega late
LONGEST_TOGETHER = 0.3  # the same of all pairs among many together: 0.023 / omega


@exported
def find_active_contacts(t: Tables, still: Number) -> Truth:
    """Return whether any stop or contact pair is penetrated noticeably at the start or end of the last attempted
    time step. The depth must exceed a fixed fraction of its change, or of ``still`` [m], so that round-off does
    not decide. Such stops are marked in ``t.touching``, changes of the penetration of all stops are in ``t.sunk``;
    pairs are listed by ``find_active_pairs``. ``t`` contains all arrays of the model and its state.

    Round-off decides whether bodies that start at a contact, such as the ends of a rope of its length, are in it.
    The number of substeps must not depend on that.
    """
    found = False
    for f in range(t.forces):
        t.touching[f] = 0.0
        if t.energy_of[f] != CONTACT:
            continue
        depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
        t.sunk[f] = -t.push_side[f] * t.theta_change[f]
        least = STILL_ANGLE if t.coordinate_of[t.constraints + f] == ANGLE else still
        pushes = max(depth, depth + t.sunk[f]) > GRAZE * max(abs(t.sunk[f]), least)
        t.touching[f] = where(pushes, 1.0, 0.0)
        found = found | pushes
    return found | find_active_pairs(t, still)


@exported
def substeps_around_contacts(t: Tables, h: float, longest: float, damping: float) -> float:
    """Return the number of equal substeps for a time step of length h [s] that resolves oscillations of active
    contacts. It is the least power of two, up to a fixed one, for which the user's step ``longest`` [s] times the
    largest angular frequency is at most 0.1 per substep. Frequencies are estimated from contact stiffness and
    mobility of the bodies. Velocities and forces of the attempted step are restored. ``damping`` is numerical
    damping. ``t`` contains all arrays of the model and its state.

    A power of two stays the same where the frequency changes little; 1: the steps are short enough.
    """
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    pairs = lane_value(t.met_count[0], 0)  # among many, which are not in lanes
    store_penetration_changes(t, h, damping, pairs)
    motion_and_forces(t, h, damping)  # without a change of the velocities
    for b in range(t.frames):
        t.half_turn[b] = vector(0.0, 0.0, 0.0)
    inertia_matrix(t, h, 0.0, 0.0)
    fill(t.hardness, t.carriers, 0.0)
    fill(t.loaded, t.carriers, 0.0)
    for b in range(t.frames):
        t.hardness[b] = where(factor_frame(t, b), 0.0, -1.0)
    set_pair_loads(t, pairs)
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            set_stop_load(t, f)
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            _add_stop_stiffness(t, f, h)
    largest = 0.0
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            largest = max(largest, stop_stiffness_over_mass(t, f))
    if pairs > 0:
        largest = max(largest, largest_squared_frequency(t, pairs, h, longest, largest))
    copy(t.saved_velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)
    parts = 1.0
    while parts < MOST_PARTS and longest * sqrt(largest) > LONGEST * parts:
        parts *= 2.0
    return parts


@compiled
def store_penetration_changes(t: Tables, h: float, damping: float, pairs: int) -> None:
    """Store by how much stops (``t.ahead``) and active contact pairs (``t.met_ahead``) get deeper in a time step.
    It is computed from the velocities at its start [m, rad]. The velocities at its end, ``t.velocity1``, must have
    been set equal to these. Values are extrapolated linearly from a very short step. Pairs are the first ``pairs``
    of the list, h is the length of the time step [s], ``damping`` numerical damping. ``t`` contains all arrays of
    the model and its state.
    """
    scale_prescribed_motion(t, LITTLE)
    motion_and_forces(t, LITTLE * h, damping)
    for f in range(t.forces):
        t.ahead[f] = -t.push_side[f] * t.theta_change[f] / LITTLE
    for n in range(pairs):
        i, j = t.met_first[n], t.met_second[n]
        t.met_ahead[n] = (distance_at(t, i, j, 0.0)[0] - distance_at(t, i, j, 1.0)[0]) / LITTLE
    scale_prescribed_motion(t, 1.0 / LITTLE)


@compiled
def scale_prescribed_motion(t: Tables, share: float) -> None:
    """Multiply the displacements within this time step of all points and directions that are prescribed functions
    of time by the factor ``share``. The time step is then as if it were shorter. ``t`` contains all arrays of the
    model and its state."""
    for k in range(t.vectors):
        if t.vector_carrier[k] == MOVING:
            t.change[k] = share * t.change[k]


@compiled
def largest_squared_frequency(t: Tables, pairs: int, h: float, longest: float, of_stops: float) -> float:
    """Return the squared angular frequency [1/s2] that decides on the number of substeps around the first ``pairs``
    active contact pairs. It is the largest of single pairs, or a fixed fraction of an upper bound for all coupled
    pairs if that is larger. Only where the bound alone would divide the user's step ``longest`` [s], it is replaced
    by a better estimate, if that is smaller: the coupled frequency by power iteration plus ``of_stops``, that of
    stops. h is the length of the time step in which the pairs were evaluated [s].
    """
    alone, bound, share = 0.0, 0.0, (LONGEST / LONGEST_TOGETHER) ** 2
    clear_matrix_pairs(t)
    for n in range(pairs):
        alone = max(alone, add_pair_stiffness(t, n, h))
    for n in range(pairs):
        bound = max(bound, pair_stiffness_over_mass(t, n))
    least = max(alone, (LONGEST / longest) ** 2)  # which asks for no parts
    if share * bound > least:
        together = coupled_squared_frequency(t, h)
        if together >= 0.0:
            bound = min(bound, together + of_stops)
    return max(alone, share * bound)


@compiled
def stop_stiffness_over_mass(t: Tables, f: int) -> float:
    """Return the contact stiffness over effective mass [1/s2] around the stop of force element f, an upper bound
    of a squared frequency. It is the sum of ``t.hardness`` over the bodies of the stop, where each body has summed
    up all its contacts. Negative entries count as zero. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for a in range(t.carrier_count[f]):
        total += max(t.hardness[t.group_node[t.groups_begin[f] + a]], 0.0)
    return total


@compiled
def _add_stop_stiffness(t: Tables, f: int, h: float) -> None:
    """Add the squared frequency [1/s2] (stiffness times mobility) of the stop of force element f to the sums
    ``t.hardness`` of its bodies. The stiffness is the tangent at the penetration, enlarged for damping. It counts
    only as far as the contact oscillates in a time step of length h [s]. ``t`` contains all arrays of the model
    and its state."""
    total, depth = t.mobility[f], t.push_side[f] * (t.force_rest[f] - t.theta0[f])
    slope = contact_stiffness(t.force_stiffness[f], t.push_exponent[f], depth, abs(t.ahead[f]), total, h)
    slope *= 1.0 + t.push_loss[f] / t.force_stiffness[f]
    slope = swing_stiffness(slope, total, h, t.ahead[f], t.sunk[f], stop_reference_force(t, f))
    slope *= t.push_share[f]
    for group in range(t.groups_begin[f], t.groups_begin[f] + t.carrier_count[f]):
        t.hardness[t.group_node[group]] += slope * t.group_mobility[group]
