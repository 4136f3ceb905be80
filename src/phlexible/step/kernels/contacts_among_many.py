"""Contacts among many: which spheres and pieces of lines are near, and how they push (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import Tables, Vector, along, dot, vector
from phlexible.step.kernels.contact import LEAST, clamped, depth_energy, depth_gradient
from phlexible.step.kernels.vectors import mean_place

# Which of a group may touch: a sweep along one axis, kept while nothing leaves its box (docs/theory.md, 8).
#
# A pair that is not listed cannot touch at either end of the step: while all axes stay in their boxes, boxes with
# the radius around them that do not meet keep members apart. The list is looked at in each evaluation of the
# forces.


@compiled
def least(a: Vector, b: Vector) -> Vector:
    """Component by component."""
    return vector(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z))


@compiled
def greatest(a: Vector, b: Vector) -> Vector:
    """Component by component."""
    return vector(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z))


@compiled
def lower_corner(t: Tables, m: int) -> Vector:
    """Of the box around the axis of a member at both ends of the step."""
    p, q = t.member_start[m], t.member_end[m]
    return least(
        least(t.place0[p], t.place0[p] + t.change[p]),
        least(t.place0[q], t.place0[q] + t.change[q]),
    )


@compiled
def upper_corner(t: Tables, m: int) -> Vector:
    """The other one."""
    p, q = t.member_start[m], t.member_end[m]
    return greatest(
        greatest(t.place0[p], t.place0[p] + t.change[p]),
        greatest(t.place0[q], t.place0[q] + t.change[q]),
    )


@compiled
def candidates(t: Tables) -> int:
    """How many ``pair_at`` has, after pairs have been looked for where they may have changed."""
    if t.members == 0:
        return 0
    if t.near_known[0] == 0 or not _stay(t):
        _look(t)
    return t.near_count[0] if t.near_count[0] >= 0 else t.members * t.members


@compiled
def pair_at(t: Tables, n: int) -> tuple[int, int]:
    """Two members, the lower number first; (-1, -1): these are not near."""
    if t.near_count[0] >= 0:
        return t.near_first[n], t.near_second[n]
    i, j = n // t.members, n % t.members
    return (i, j) if j > i and _are_near(t, i, j) else (-1, -1)


@compiled
def _stay(t: Tables) -> bool:
    for m in range(t.members):
        low, high, a, b = lower_corner(t, m), upper_corner(t, m), t.near_low[m], t.near_high[m]
        if not (low.x >= a.x and low.y >= a.y and low.z >= a.z):
            return False
        if not (high.x <= b.x and high.y <= b.y and high.z <= b.z):
            return False
    return True


@compiled
def _are_near(t: Tables, i: int, j: int) -> bool:
    """Whether two members are to meet, and their boxes do."""
    sides = t.member_side[i] | t.member_side[j]
    if t.member_contact_group[i] != t.member_contact_group[j] or t.member_body[i] == t.member_body[j] or sides != 3:
        return False
    reach = t.member_radius[i] + t.member_radius[j]
    low = greatest(t.near_low[i], t.near_low[j])
    high = least(t.near_high[i], t.near_high[j])
    return low.x <= high.x + reach and low.y <= high.y + reach and low.z <= high.z + reach


@compiled
def _look(t: Tables) -> None:
    """New boxes, and the pairs of those that meet, by their numbers."""
    least_all, greatest_all = lower_corner(t, 0), upper_corner(t, 0)
    for m in range(t.members):
        skin = t.contact_group_skin[t.member_contact_group[m]]
        low, high, around = lower_corner(t, m), upper_corner(t, m), vector(skin, skin, skin)
        least_all, greatest_all = least(least_all, low), greatest(greatest_all, high)
        t.near_low[m], t.near_high[m] = low - around, high + around
        if t.near_known[0] == 0:
            t.near_order[m] = m
    extent, axis = greatest_all - least_all, 0
    if extent.y > extent.x:
        axis = 1
    if extent.z > along(extent, axis):
        axis = 2
    t.near_known[0] = 1
    _sort(t, axis)
    count = 0
    for place in range(t.members):
        i = t.near_order[place]
        end = along(t.near_high[i], axis) + t.member_radius[i]
        for other in range(place + 1, t.members):
            j = t.near_order[other]
            if _begin(t, j, axis) > end:
                break
            if _are_near(t, i, j):
                if count == t.near_pairs:
                    t.near_count[0] = -1
                    return
                t.near_found[2 * count], t.near_found[2 * count + 1] = min(i, j), max(i, j)
                count += 1
    t.near_count[0] = count
    _number(t, count)


@compiled
def _begin(t: Tables, m: int, axis: int) -> float:
    return along(t.near_low[m], axis) - t.member_radius[m]


@compiled
def _sort(t: Tables, axis: int) -> None:
    """By insertion: the order changes little from one time to the next."""
    for place in range(1, t.members):
        m = t.near_order[place]
        key, empty = _begin(t, m, axis), place
        while empty > 0 and _begin(t, t.near_order[empty - 1], axis) > key:
            t.near_order[empty] = t.near_order[empty - 1]
            empty -= 1
        t.near_order[empty] = m


@compiled
def _number(t: Tables, count: int) -> None:
    """The pairs by their first and then their second member, so that sums do not depend on how they were found."""
    for key in (1, 0):  # by the second one, then, what is equal in its order, by the first
        for m in range(t.members):
            t.near_place[m] = 0
        for n in range(count):
            t.near_place[t.near_found[2 * n + key]] += 1
        total = 0
        for m in range(t.members):
            own = t.near_place[m]
            t.near_place[m] = total
            total += own
        for n in range(count):
            m = t.near_found[2 * n + key]
            place = t.near_place[m]
            t.near_place[m] += 1
            t.near_first[place], t.near_second[place] = t.near_found[2 * n], t.near_found[2 * n + 1]
        for n in range(count):
            t.near_found[2 * n], t.near_found[2 * n + 1] = t.near_first[n], t.near_second[n]


# Contacts among many: spheres and pieces of lines that push each other apart (docs/theory.md, 8).
#
# Two pieces x_p + s u and x_k + t v, spheres without u or v, are F apart, the least of
#
#     F^2 = |e|^2 + SHARE (u.u (s - 1/2)^2 + v.v (t - 1/2)^2),    e = x_p - x_k + s u - t v
#
# for s, t between 0 and 1. The second part is small and chooses the middle of what is parallel (8.32). The work of
# the force along the discrete derivative of F is exact, its tangent is left out of Newton's matrix: steps around
# contacts are so short that it is small beside the masses.

SHARE = 1e-4


@compiled
def beyond_least(ru: float, rv: float, uu: float, uv: float, vv: float, s: float, t: float) -> float:
    """F^2 less r.r."""
    own = SHARE * (uu * (s - 0.5) ** 2 + vv * (t - 0.5) ** 2)
    return 2.0 * s * ru - 2.0 * t * rv + s * s * uu + t * t * vv - 2.0 * s * t * uv + own


@compiled
def nearest(ru: float, rv: float, uu: float, uv: float, vv: float) -> tuple[float, float]:
    """s and t between 0 and 1 where F^2 is least; 1/2 of a sphere."""
    A, C, p, q = (1.0 + SHARE) * uu, (1.0 + SHARE) * vv, 0.5 * SHARE * uu - ru, 0.5 * SHARE * vv + rv
    if uu == 0.0:
        return 0.5, clamped(q / C) if vv > 0.0 else 0.5
    if vv == 0.0:
        return clamped(p / A), 0.5
    determinant = A * C - uv * uv
    s, t = (C * p + uv * q) / determinant, (A * q + uv * p) / determinant
    if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
        return s, t
    best, least, s, t = 0, 0.0, 0.0, 0.0
    for edge in range(4):
        end = float(edge % 2)
        a, b = (end, clamped((q + uv * end) / C)) if edge < 2 else (clamped((p + uv * end) / A), end)
        value = beyond_least(ru, rv, uu, uv, vv, a, b)
        if best == 0 or value < least:
            best, least, s, t = 1, value, a, b
    return s, t


@compiled
def apart(r: Vector, u: Vector, v: Vector) -> tuple[float, float, float]:
    """F, s and t."""
    ru, rv, uu, uv, vv = dot(r, u), dot(r, v), dot(u, u), dot(u, v), dot(v, v)
    s, t = nearest(ru, rv, uu, uv, vv)
    e = r + s * u - t * v
    return sqrt(dot(e, e) + SHARE * (uu * (s - 0.5) ** 2 + vv * (t - 0.5) ** 2)), s, t


@compiled
def at_start(t: Tables, i: int, j: int) -> tuple[float, float, float]:
    """F, s and t of two members at the start of the step."""
    p, k = t.member_start[i], t.member_start[j]
    return apart(
        t.place0[p] - t.place0[k],
        t.place0[t.member_end[i]] - t.place0[p],
        t.place0[t.member_end[j]] - t.place0[k],
    )


@compiled
def at_end(t: Tables, i: int, j: int) -> tuple[float, float, float]:
    """The same at its end."""
    p, k = t.member_start[i], t.member_start[j]
    x, y = t.place0[p] + t.change[p], t.place0[k] + t.change[k]
    q, l = t.member_end[i], t.member_end[j]
    return apart(x - y, t.place0[q] + t.change[q] - x, t.place0[l] + t.change[l] - y)


@exported
def push_contact_groups(t: Tables, h: float) -> None:
    """Add the forces of all pairs to those on the vectors; what they store and lose."""
    t.contact_group_work[0], t.contact_group_work[1], t.contact_group_loss[0] = 0.0, 0.0, 0.0
    for n in range(candidates(t)):
        i, j = pair_at(t, n)
        if i >= 0:
            _push(t, i, j, h)


@compiled
def _push(t: Tables, i: int, j: int, h: float) -> None:
    reach, c = t.member_radius[i] + t.member_radius[j], t.member_contact_group[i]
    F0, s0, t0 = at_start(t, i, j)
    F1, s1, t1 = at_end(t, i, j)
    if F0 >= reach and F1 >= reach:
        return
    p, q, k, l = t.member_start[i], t.member_end[i], t.member_start[j], t.member_end[j]
    s, z, ds, dt = 0.5 * (s0 + s1), 0.5 * (t0 + t1), s1 - s0, t1 - t0
    r, u, v = mean_place(t, p) - mean_place(t, k), mean_place(t, q), mean_place(t, l) - mean_place(t, k)
    u = u - mean_place(t, p)
    dr, du, dv = t.change[p] - t.change[k], t.change[q] - t.change[p], t.change[l] - t.change[k]
    e, de = r + s * u - z * v, dr + s * du - z * dv
    # delta(F^2): at the mean of s and t, where it is a product of means and changes, and the rest
    along_u, along_v = 2.0 * SHARE * (s - 0.5) ** 2, 2.0 * SHARE * (z - 0.5) ** 2
    change = 2.0 * dot(e, de) + along_u * dot(u, du) + along_v * dot(v, dv)
    rr, ru, rv = 2.0 * dot(r, dr), dot(r, du) + dot(dr, u), dot(r, dv) + dot(dr, v)
    uu, uv, vv = 2.0 * dot(u, du), dot(u, dv) + dot(du, v), 2.0 * dot(v, dv)
    eu, ev = 2.0 * dot(e, u) + 0.5 * dot(de, du), 2.0 * dot(e, v) + 0.5 * dot(de, dv)
    own_u, own_v = 2.0 * dot(u, u) + 0.5 * dot(du, du), 2.0 * dot(v, v) + 0.5 * dot(dv, dv)
    rest = (eu + SHARE * (s - 0.5) * own_u) * ds - (ev - SHARE * (z - 0.5) * own_v) * dt
    rest += 0.25 * ((1.0 + SHARE) * (uu * ds * ds + vv * dt * dt) - 2.0 * uv * ds * dt)
    size = rr * rr + ru * ru + rv * rv + uu * uu + uv * uv + vv * vv
    share = rest / size if size > 0.0 else 0.0
    both = max(F0 + F1, LEAST)
    moved = (change + (rest if size > 0.0 else 0.0)) / both
    normal = _normal(t, c, reach - F0, -moved, h)
    force = normal / both
    on_r = force * (2.0 * e + share * (2.0 * rr * r + ru * u + rv * v))
    on_u = force * ((2.0 * s) * e + along_u * u + share * (ru * r + 2.0 * uu * u + uv * v))
    on_v = force * ((-2.0 * z) * e + along_v * v + share * (rv * r + uv * u + 2.0 * vv * v))
    t.pull[p] += on_r - on_u
    t.pull[q] += on_u
    t.pull[k] += -on_r - on_v
    t.pull[l] += on_v


@compiled
def _normal(t: Tables, c: int, depth: float, change: float, h: float) -> float:
    """N (8.17) of a depth at the start and its change, with what it stores and loses."""
    stored, _ = depth_gradient(t.contact_group_stiffness[c], t.contact_group_exponent[c], depth, depth + change)
    mean, force = depth + 0.5 * change, stored
    if mean > 0.0 and t.contact_group_damping[c] > 0.0:
        force = max(force + t.contact_group_damping[c] * mean ** t.contact_group_exponent[c] * change / h, 0.0)
    t.contact_group_work[0] += stored * change
    t.contact_group_work[1] += abs(stored * change)
    t.contact_group_loss[0] += (force - stored) * change
    return force


@exported
def contact_group_energy(t: Tables) -> float:
    """Of all pairs at the start of the step [J]."""
    total = 0.0
    for n in range(candidates(t)):
        i, j = pair_at(t, n)
        if i >= 0:
            c, depth = t.member_contact_group[i], t.member_radius[i] + t.member_radius[j] - at_start(t, i, j)[0]
            total += depth_energy(t.contact_group_stiffness[c], t.contact_group_exponent[c], depth)
    return total


@exported
def members_push(t: Tables) -> bool:
    """Whether two of a contact group push at either end of the step that was tried last; notes which."""
    t.met_count[0] = 0
    for n in range(candidates(t)):
        i, j = pair_at(t, n)
        if i >= 0 and min(at_start(t, i, j)[0], at_end(t, i, j)[0]) < t.member_radius[i] + t.member_radius[j]:
            if t.met_count[0] < t.near_pairs:
                t.met_first[t.met_count[0]], t.met_second[t.met_count[0]] = i, j
                t.met_count[0] += 1
    return t.met_count[0] > 0
