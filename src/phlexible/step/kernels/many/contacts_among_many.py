"""Contact forces of pairs of spheres, line segments and solids, with friction (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import Integers, Number, Tables, Vector, dot, vector
from phlexible.step.kernels.contact import LEAST, contact_force, impact_damping, penetration_energy
from phlexible.step.kernels.many.line_segments import (
    SHARE_OF_LINES,
    SHORT,
    is_ball_on_line,
    is_line_over,
    is_segment,
    line_distance,
    penetration_on_line,
    segment_distance,
    segment_distance_change,
    vectors_from_ball,
)
from phlexible.step.kernels.many.members import (
    apply_end_moments,
    axis_mean,
    axis_point,
    distance_change,
    distance_over,
    lowest_rim_point,
    moving_frame_work,
)
from phlexible.step.kernels.many.near_pairs import candidate_pair, count_candidates
from phlexible.step.kernels.many.pair_friction import (
    apply_pair_friction,
    dissipate_pair,
    dissipate_separated_pairs,
    find_pair_history,
    pair_bristle_energy,
    reset_pairs,
    store_contact,
    store_pair_deflection,
)
from phlexible.step.kernels.vectors import mean_vector
from phlexible.step.tables.declarations import MET, RIM, TURN

# Contacts among many: spheres and pieces of lines that push each other apart (docs/theory.md, 8).
#
# The work of the force along the discrete derivative of F is exact; of its tangent Newton's matrix has what
# is along and across the normal (``pairs_in_matrix.py``), not how the normal turns: the depth over the radius
# beside it.

BALANCED = 1e-6  # of a force: what is left of forces on both ends of a piece that hold each other
TOGETHER = 1e-9  # of a piece: the force acts where it touches
GRAZE = 1e-8  # of its change in the step, or of what counts as rest: smaller penetrations are round-off


@compiled
def are_balls(t: Tables, i: int, j: int) -> bool:
    """Return whether contact shapes i and j (surfaces of bodies) both consist of a single point, as points and
    spheres do. Their start and end are then the same point. Solids must be excluded before, which is not checked.
    ``t`` contains all arrays of the model and its state."""
    return t.member_start[i] == t.member_end[i] and t.member_start[j] == t.member_end[j]


@compiled
def position_in_step(t: Tables, p: int, share: float) -> Vector:
    """Return the world position [m] of point p after the fraction ``share`` of the time step. It is interpolated
    linearly between the start (0) and the end (1). ``t`` contains all arrays of the model and its state.
    """
    return t.world0[p] + share * t.change[p]


@compiled
def distance_at(t: Tables, i: int, j: int, share: float) -> tuple[float, float, float]:
    """Return the distance [m] of contact shapes i and j after the fraction ``share`` of the time step, and two
    parameters. 0 is the start and 1 the end of the step. Between balls or segments it is the distance of centres or
    axes, without radii; the parameters, from 0 to 1, are those of the nearest points on the axes of i and j (1/2
    for two balls). If one is a solid, it is the signed distance of the other's centre or axis, negative inside, and
    the parameters are 0. ``t`` contains all arrays of the model and its state.
    """
    if t.member_kind[i] > RIM:
        i, j = j, i
    if t.member_kind[j] > RIM:
        return (line_distance(t, i, j, share) if is_line_over(t, i, j) else distance_over(t, i, j, share)), 0.0, 0.0
    x, y = position_in_step(t, t.member_start[i], share), position_in_step(t, t.member_start[j], share)
    if are_balls(t, i, j):
        return sqrt(dot(x - y, x - y)), 0.5, 0.5
    u, v = position_in_step(t, t.member_end[i], share) - x, position_in_step(t, t.member_end[j], share) - y
    return segment_distance(x - y, u, v)


@compiled
def start_penetration(t: Tables, i: int, j: int) -> float:
    """Return the depth [m] by which the surfaces of contact shapes i and j overlap at the start of the time step.
    It is negative if they are apart. For a ball on a segment of a line, it is the penetration attributed to this
    segment, since adjacent segments share one contact. Contact shapes are spheres, line segments and solids. ``t``
    contains all arrays of the model and its state."""
    if is_ball_on_line(t, i, j):
        m, k = (j, i) if t.member_start[i] == t.member_end[i] else (i, j)
        return penetration_on_line(t, m, k, t.contact_group_exponent[t.member_contact_group[m]], 0.0)[0]
    return t.member_radius[i] + t.member_radius[j] - distance_at(t, i, j, 0.0)[0]


@exported
def apply_contact_forces(t: Tables, h: float) -> None:
    """Add the contact and friction forces of all candidate pairs to the forces ``t.pull`` on points of bodies.
    They are means over a time step of length h [s]. Candidate pairs are searched again if a shape has left its
    box. Changes of stored energies are summed in ``t.contact_group_work``, losses in ``t.contact_group_loss`` and
    the work of prescribed motions in ``t.frame_work``, all from zero. ``t`` contains all arrays of the model and
    its state."""
    t.contact_group_work[0], t.contact_group_work[1], t.contact_group_loss[0] = 0.0, 0.0, 0.0
    t.touch_count[0] = 0
    for c in range(t.contact_groups):
        for f in range(t.contact_group_law[c], t.contact_group_law[c] + t.contact_group_laws[c]):
            t.scalar_force[f], t.frame_work[f] = 0.0, 0.0
    reset_pairs(t)
    for n in range(count_candidates(t)):
        i, j = candidate_pair(t, n)
        if i < 0:
            continue
        law = t.contact_group_law[t.member_contact_group[i]] if t.moving > 0 else -1
        if law >= 0:
            t.frame_work[law] += moving_frame_work(t, i) + moving_frame_work(t, j)
        _apply_pair_forces(t, i, j, h)
        if law >= 0:
            t.frame_work[law] -= moving_frame_work(t, i) + moving_frame_work(t, j)
    dissipate_separated_pairs(t)
    apply_end_moments(t)


@compiled
def _apply_pair_forces(t: Tables, i: int, j: int, h: float) -> None:
    """Add the contact and friction forces between shapes i and j to the forces ``t.pull`` on their points. They
    are means over a time step of length h [s]. A function is selected by the kinds of both: solid with any shape,
    two balls, ball on a line, or other segments. Direction vectors of their bodies get forces as well. ``t``
    contains all arrays of the model and its state."""
    if t.member_kind[i] > RIM:
        i, j = j, i
    if t.member_kind[j] > RIM:
        _apply_solid_forces(t, i, j, h)
    elif are_balls(t, i, j):
        _apply_ball_forces(t, i, j, h)
    elif is_ball_on_line(t, i, j):
        _apply_line_forces(t, i, j, h)
    else:
        _apply_segment_forces(t, i, j, h)


@compiled
def _distance_over_solid(t: Tables, i: int, j: int) -> tuple[float, float, float, float, Vector, Vector]:
    """Return the signed distance of contact shape i from solid j at the start of the time step, its change, and
    data of the contact. These are: the derivative of the distance with respect to the tilt n . a of a rim (else 0),
    the parameter s on a segment (else 0), and discrete gradients with respect to the start and the end of i, in the
    solid's axes. Gradients times displacements (for a rim also tilt) sum to the change; the second gradient is zero
    for a ball or rim. ``t`` contains all arrays of the model and its state.

    Gradients are in the axes of the solid; their products with the changes of the ends sum to the change.
    """
    none = vector(0.0, 0.0, 0.0)
    if is_segment(t, i):
        before, change, s, on_a, on_b = segment_distance_change(t, i, j)
        return before, change, 0.0, s, on_a, on_b
    before, change, omega = distance_change(t, i, j)
    if t.member_kind[i] == RIM:
        return before, change, omega.x, 0.0, vector(0.0, 0.0, omega.z), none
    return before, change, 0.0, 0.0, omega, none


@compiled
def _apply_solid_forces(t: Tables, i: int, j: int, h: float) -> None:
    """Add the contact and friction forces between solid j and shape i (ball, point, segment or rim) to ``t.pull``.
    The contact force pushes the shapes apart along the outward normal of the solid. Forces are means over a time
    step of length h [s] and act on points and direction vectors of both bodies. Nothing is added if the shapes are
    apart at its start and end. ``t`` contains all arrays of the model and its state.

    Both ends of a segment transmit some of the force. Ends that penetrate by themselves are excluded, so that the
    rest acts elsewhere than at the contact point: in Newton's matrix it acts there.
    """
    c, radius = t.member_contact_group[i], t.member_radius[i]
    before, change, lever, s, on_a, on_b = _distance_over_solid(t, i, j)
    if before >= radius and before + change >= radius:
        return
    known = find_pair_history(t, i, j)
    normal, slope = _normal_force(t, c, known, radius - before, -change, h)
    axes, p, q, k = t.member_axis + 6 * j, t.member_start[i], t.member_end[i], t.member_start[j]
    n, m = _rotated_to_world(t, axes, on_a), _rotated_to_world(t, axes, on_b)
    a, b = mean_vector(t, p) - mean_vector(t, k), mean_vector(t, q) - mean_vector(t, k)
    t.pull[p] += normal * n
    t.pull[q] += normal * m
    t.pull[k] += -normal * (n + m)
    t.pull[axes[0]] += normal * (on_a.x * a + on_b.x * b)
    t.pull[axes[1]] += normal * (on_a.y * a + on_b.y * b)
    t.pull[axes[2]] += normal * (on_a.z * a + on_b.z * b)
    size = sqrt(dot(n + m, n + m))
    if size <= BALANCED:
        dissipate_pair(t, known)
        return
    is_rim, up = t.member_kind[i] == RIM, n
    n = (1.0 / size) * (n + m)
    share = dot(n, m) / size
    y = _segment_contact_point(t, i, share, n)
    if is_rim:
        axis = axis_mean(t, t.member_axis + 6 * i, 2)
        t.pull[axes[2]] += (normal * lever) * axis
        t.pull[t.member_axis[6 * i + 2]] += (normal * lever) * up
        y = y + lever * axis
    place = store_contact(t, i, j, share, 0.0, y, n, slope * size * size)
    if t.contact_group_friction[c] > 0.0 and (is_rim or abs(share - s) > TOGETHER):
        y = lowest_rim_point(t, i, n) - radius * n if is_rim else _segment_contact_point(t, i, s, n)
        place = store_contact(t, i, j, s, 0.0, y, n, 0.0)
    else:
        s = share
    apply_pair_friction(t, i, j, s, 0.0, n, normal * size, h, place, known)


@compiled
def _segment_contact_point(t: Tables, i: int, s: float, n: Vector) -> Vector:
    """Return the contact point in the world of line segment i at parameter s [m]. It is on the surface of the
    segment along the normal n, or on its axis if it has no rotation. ``t`` contains all arrays of the model and
    its state."""
    y = axis_point(t, i, s)
    return y - t.member_radius[i] * n if t.member_axis[6 * i] >= 0 else y


@compiled
def _rotated_to_world(t: Tables, axes: Integers, w: Vector) -> Vector:
    """Return a vector w, given in the axes of a solid, in world axes at the mean of the time step. ``axes`` are
    the indices of the solid's directions. ``t`` contains all arrays of the model and its state."""
    return w.x * axis_mean(t, axes, 0) + w.y * axis_mean(t, axes, 1) + w.z * axis_mean(t, axes, 2)


@compiled
def _apply_ball_forces(t: Tables, i: int, j: int, h: float) -> None:
    """Compute the contact and friction forces between balls i and j over a time step, and add them to the forces
    ``t.pull`` on their centres. Nothing is added if the balls are apart at its start and end. The contact force
    pushes the centres apart along their mean difference vector. h is the length of the time step [s]. ``t``
    contains all arrays of the model and its state."""
    reach, c = t.member_radius[i] + t.member_radius[j], t.member_contact_group[i]
    p, k = t.member_start[i], t.member_start[j]
    r = t.world0[p] - t.world0[k]
    dr = t.change[p] - t.change[k]
    e, end = r + 0.5 * dr, r + dr
    before, after = dot(r, r), dot(end, end)
    if before >= reach * reach and after >= reach * reach:
        return
    before = sqrt(before)
    both = max(before + sqrt(after), LEAST)
    known = find_pair_history(t, i, j)
    normal, slope = _normal_force(t, c, known, reach - before, -2.0 * dot(e, dr) / both, h)
    f = (2.0 * normal / both) * e
    t.pull[p] += f
    t.pull[k] += -1.0 * f
    _add_round_friction(t, i, j, 0.0, 0.0, e, normal, slope, h, known)


@compiled
def _apply_segment_forces(t: Tables, i: int, j: int, h: float) -> None:
    reach, c = t.member_radius[i] + t.member_radius[j], t.member_contact_group[i]
    F0, s0, t0 = distance_at(t, i, j, 0.0)
    F1, s1, t1 = distance_at(t, i, j, 1.0)
    if F0 >= reach and F1 >= reach:
        return
    p, q, k, l = t.member_start[i], t.member_end[i], t.member_start[j], t.member_end[j]
    s, z, ds, dt = 0.5 * (s0 + s1), 0.5 * (t0 + t1), s1 - s0, t1 - t0
    r, u, v = mean_vector(t, p) - mean_vector(t, k), mean_vector(t, q), mean_vector(t, l) - mean_vector(t, k)
    u = u - mean_vector(t, p)
    dr, du, dv = t.change[p] - t.change[k], t.change[q] - t.change[p], t.change[l] - t.change[k]
    e, de = r + s * u - z * v, dr + s * du - z * dv
    # delta(F^2): at the mean of s and t, where it is a product of means and changes, and the rest
    beside = SHARE_OF_LINES if p != q and k != l else 0.0
    along_u, along_v = 2.0 * beside * (s - 0.5) ** 2, 2.0 * beside * (z - 0.5) ** 2
    change = 2.0 * dot(e, de) + along_u * dot(u, du) + along_v * dot(v, dv)
    rr, ru, rv = 2.0 * dot(r, dr), dot(r, du) + dot(dr, u), dot(r, dv) + dot(dr, v)
    uu, uv, vv = 2.0 * dot(u, du), dot(u, dv) + dot(du, v), 2.0 * dot(v, dv)
    eu, ev = 2.0 * dot(e, u) + 0.5 * dot(de, du), 2.0 * dot(e, v) + 0.5 * dot(de, dv)
    own_u, own_v = 2.0 * dot(u, u) + 0.5 * dot(du, du), 2.0 * dot(v, v) + 0.5 * dot(dv, dv)
    rest = (eu + beside * (s - 0.5) * own_u) * ds - (ev - beside * (z - 0.5) * own_v) * dt
    rest += 0.25 * ((1.0 + beside) * (uu * ds * ds + vv * dt * dt) - 2.0 * uv * ds * dt)
    size = rr * rr + ru * ru + rv * rv + uu * uu + uv * uv + vv * vv
    share = rest / size if size > 0.0 else 0.0
    both = max(F0 + F1, LEAST)
    moved = (change + (rest if size > 0.0 else 0.0)) / both
    known = find_pair_history(t, i, j)
    normal, slope = _normal_force(t, c, known, reach - F0, -moved, h)
    force = normal / both
    on_r = force * (2.0 * e + share * (2.0 * rr * r + ru * u + rv * v))
    on_u = force * ((2.0 * s) * e + along_u * u + share * (ru * r + 2.0 * uu * u + uv * v))
    on_v = force * ((-2.0 * z) * e + along_v * v + share * (rv * r + uv * u + 2.0 * vv * v))
    t.pull[p] += on_r - on_u
    t.pull[q] += on_u
    t.pull[k] += -on_r - on_v
    t.pull[l] += on_v
    _add_round_friction(t, i, j, s, z, e, normal, slope, h, known)


@compiled
def _add_round_friction(
    t: Tables, i: int, j: int, s: float, z: float, e: Vector, normal: float, slope: float, h: float, known: int
) -> None:
    """Add the friction of two round shapes i and j (balls or segments) to ``t.pull``, and store the contact for
    Newton's matrix. The time step has the length h [s]. s and z are parameters of the contact point along their
    axes; e is the vector from the axis of j to that of i, which gives the normal. For e = 0 there is no normal: no
    friction acts, and the friction energy that the pair stored is counted as lost. ``normal`` is the normal force,
    ``slope`` its derivative with respect to the penetration, ``known`` the index of the pair's history (-1: new).
    """
    size = sqrt(dot(e, e))
    if size > 0.0:
        n = (1.0 / size) * e
        place = store_contact(t, i, j, s, z, round_contact_point(t, i, j, s, e), n, slope)
        apply_pair_friction(t, i, j, s, z, n, normal, h, place, known)
    else:
        dissipate_pair(t, known)


@compiled
def _apply_line_forces(t: Tables, i: int, j: int, h: float) -> None:
    """Compute the contact and friction forces over a time step of length h [s] between a ball and a segment of a
    line. One of the contact shapes i and j is the ball; the segment shares its ends with neighbour segments. The
    forces push both apart and are added to ``t.pull`` at the ball, at both ends of the segment and at the far ends
    of its neighbours. Nothing is added without penetration at start and end. ``t`` contains all arrays of the
    model and its state.

    Damping is that of the penetration in the segment, shared among the segments as the energy is.
    """
    m, k = (j, i) if t.member_start[i] == t.member_end[i] else (i, j)
    c, p, q, y = t.member_contact_group[m], t.member_start[m], t.member_end[m], t.member_start[k]
    exponent = t.contact_group_exponent[c]
    z0, x0, s0, own0, before0, after0 = penetration_on_line(t, m, k, exponent, 0.0)
    z1, x1, s1, own1, before1, after1 = penetration_on_line(t, m, k, exponent, 1.0)
    if z0 <= 0.0 and z1 <= 0.0:
        return
    A0, B0, P0, Q0 = vectors_from_ball(t, m, k, 0.0)
    A1, B1, P1, Q1 = vectors_from_ball(t, m, k, 1.0)
    A, B, P, Q = 0.5 * (A0 + A1), 0.5 * (B0 + B1), 0.5 * (P0 + P1), 0.5 * (Q0 + Q1)
    dA, dB, dP, dQ = A1 - A0, B1 - B0, P1 - P0, Q1 - Q0
    own, before, after = 0.5 * (own0 + own1), 0.5 * (before0 + before1), 0.5 * (after0 + after1)
    moved = vector(2.0 * dot(A, dA), dot(A, dB) + dot(B, dA), 2.0 * dot(B, dB))
    moved_before = vector(2.0 * dot(P, dP), dot(P, dA) + dot(A, dP), 0.0)
    moved_after = vector(2.0 * dot(Q, dQ), dot(Q, dB) + dot(B, dQ), 0.0)
    change = dot(own, moved) + dot(before, moved_before) + dot(after, moved_after)
    square = dot(moved, moved) + dot(moved_before, moved_before) + dot(moved_after, moved_after)
    if square > (SHORT * dot(B - A, B - A)) ** 2:
        more = (z1 - z0 - change) / square
        own, before, after = own + more * moved, before + more * moved_before, after + more * moved_after
        change = z1 - z0
    known, deep = find_pair_history(t, i, j), z0 + z1
    dense = max(x0 + x1, deep) / deep if deep > 0.0 else 1.0
    normal, slope = _shared_normal_force(t, c, known, z0, change, h, (x0, x1 - x0, dense))
    on_a = -normal * (2.0 * own.x * A + own.y * B + before.y * P)
    on_b = -normal * (2.0 * own.z * B + own.y * A + after.y * Q)
    on_o = -normal * (2.0 * before.x * P + before.y * A)
    on_w = -normal * (2.0 * after.x * Q + after.y * B)
    o, w = t.member_far[2 * m], t.member_far[2 * m + 1]
    total = on_a + on_b + on_o + on_w
    t.pull[p] += on_a
    t.pull[q] += on_b
    t.pull[o] += on_o
    t.pull[w] += on_w
    t.pull[y] += -1.0 * total
    s, push = 0.5 * (s0 + s1), sqrt(dot(total, total))
    e = A + s * (B - A)
    size = sqrt(dot(e, e))
    if size > 0.0 and normal > 0.0:
        e = e if m == i else -1.0 * e
        n, a, b = (1.0 / size) * e, s if m == i else 0.5, s if m == j else 0.5
        touch = store_contact(t, i, j, a, b, round_contact_point(t, i, j, a, e), n, slope * (push / normal) ** 2)
        apply_pair_friction(t, i, j, a, b, n, push, h, touch, known)
    else:
        dissipate_pair(t, known)


@compiled
def round_contact_point(t: Tables, i: int, j: int, s: float, e: Vector) -> Vector:
    """Return the contact point [m] of two round shapes i and j (balls or segments) in world axes. It divides the
    vector e, from the axis point of j to the axis point of i, in the ratio of the radii. If the body of i has no
    rotation (a node), it is on the axis of i, else if that of j has none on the axis of j. s is the parameter on
    the axis of i. ``t`` contains all arrays of the model and its state."""
    x = axis_point(t, i, s)
    if t.member_axis[6 * i] < 0:
        return x
    if t.member_axis[6 * j] < 0:
        return x - e
    return x - (t.member_radius[i] / (t.member_radius[i] + t.member_radius[j])) * e


@compiled
def contact_normal(t: Tables, i: int, j: int) -> tuple[Vector, float, float]:
    """Return the unit normal of the contact of shapes i and j, from j to i in world axes, and two parameters. The
    parameters are positions of the contact along the axes of both, from 0 to 1. With a solid the normal is normal
    to its surface at the middle of the step, else along the line between nearest points of both axes. It is zero
    if these points coincide. ``t`` contains all arrays of the model and its state."""
    if t.member_kind[j] > RIM:
        n, s = _solid_normal(t, i, j)
        return n, s, 0.0
    if t.member_kind[i] > RIM:
        n, s = _solid_normal(t, j, i)
        return -1.0 * n, 0.0, s
    _, s, z = distance_at(t, i, j, 0.0)
    e = axis_point(t, i, s) - axis_point(t, j, z)
    size = sqrt(dot(e, e))
    return (1.0 / size if size > 0.0 else 1.0) * e, s, z


@compiled
def _solid_normal(t: Tables, i: int, j: int) -> tuple[Vector, float]:
    """Return the outward unit normal of solid j where line segment or sphere i touches it, and a parameter of the
    contact. The parameter is the position along the segment, 0 (start) to 1 (end). The normal is in world axes at
    the middle of the time step. ``t`` contains all arrays of the model and its state."""
    _, _, _, s, omega, on_b = _distance_over_solid(t, i, j)
    n = _rotated_to_world(t, t.member_axis + 6 * j, omega + on_b)
    size = sqrt(dot(n, n))
    return (1.0 / size if size > 0.0 else 1.0) * n, s


@compiled
def _normal_force(t: Tables, c: int, known: int, depth: float, change: float, h: float) -> tuple[float, float]:
    """Return the mean normal force of a pair in contact group c over a time step of length h. Second is its
    derivative with respect to the penetration at the end. The penetration is ``depth`` at the start and grows by
    ``change``. ``known`` is the index of the pair in the list of the last time step, -1 if it is new. Stored and
    lost energies are added to ``t.contact_group_work`` and ``t.contact_group_loss``. See docs/theory.md, 8,
    (8.17)."""
    return _shared_normal_force(t, c, known, depth, change, h, (depth, change, 1.0))


@compiled
def _shared_normal_force(
    t: Tables, c: int, known: int, depth: float, change: float, h: float, whole: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the mean normal force [N] of a ball on one segment of a line in a time step of length h, and its
    derivative. It is with respect to the penetration at the end. The penetration that counts for the segment is
    ``depth`` at the start and grows by ``change``. ``whole`` has the ball's penetration in the whole line and its
    change, from which the impact speed follows, and a factor of the damping. c is the contact group, ``known`` the
    pair's index in the last step (-1: new). Stored and lost energies are added to ``t.contact_group_work`` and
    ``t.contact_group_loss``.
    """
    damping, varies = t.contact_group_damping[c], 1.0
    deep, moved, dense = whole
    if t.contact_group_impact[c] > 0.0:
        speed, slowest = t.pair_turn[TURN * known + MET] if known >= 0 else 0.0, t.contact_group_slowest[c]
        damping, varies, t.pair_met[0] = impact_damping(t.contact_group_impact[c], slowest, speed, deep, moved, h)
    damping *= dense
    k, p = t.contact_group_stiffness[c], t.contact_group_exponent[c]
    stored, force, slope = contact_force(k, p, damping, varies, depth, change, h)
    t.contact_group_work[0] += stored * change
    t.contact_group_work[1] += abs(stored * change)
    t.contact_group_loss[0] += (force - stored) * change
    return force, slope


@exported
def contact_group_energy(t: Tables) -> float:
    """Return the elastic energy of all contact pairs of all contact groups at the start of the time step [J]. It
    includes the energy of their friction springs. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for n in range(count_candidates(t)):
        i, j = candidate_pair(t, n)
        if i >= 0:
            c, depth = t.member_contact_group[i], start_penetration(t, i, j)
            total += penetration_energy(t.contact_group_stiffness[c], t.contact_group_exponent[c], depth)
    return total + pair_bristle_energy(t)


@exported
def find_active_pairs(t: Tables, still: Number) -> bool:
    """Return whether shapes of any candidate pair overlapped noticeably at the start or end of the last attempted
    time step. The depth must exceed a fixed fraction of the change of their distance, or of ``still`` [m] if
    larger. Such pairs are listed in ``t.met_first`` and ``t.met_second``, with changes of penetrations in
    ``t.met_change`` and of friction springs in ``t.met_bend``, until the list is full. ``t`` contains all arrays
    of the model and its state."""
    t.met_count[0] = 0
    place = 0
    for n in range(count_candidates(t)):
        i, j = candidate_pair(t, n)
        if i < 0:
            continue
        before, after = distance_at(t, i, j, 0.0)[0], distance_at(t, i, j, 1.0)[0]
        met, deepest = t.met_count[0], t.member_radius[i] + t.member_radius[j] - min(before, after)
        if deepest > GRAZE * max(abs(before - after), still) and met < t.near_pairs:
            t.met_first[met], t.met_second[met], t.met_change[met] = i, j, before - after
            if t.kept_pairs > 0:
                place = store_pair_deflection(t, i, j, met, place)
            t.met_count[0] = met + 1
    return t.met_count[0] > 0
